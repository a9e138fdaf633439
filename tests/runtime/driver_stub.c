/* A stand-in for NVIDIA's driver library, for machines without one: it runs nothing. It shows what the runtime hands to the driver, read through
   NVIDIA's own header, and answers as a test tells it to. What a real driver does with it is the business of tests/gpu. */
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#undef cuGetProcAddress
#define EXPORT __attribute__((visibility("default")))

static __thread CUcontext current;
static int launch_status, launches, modules, stale, wait_record, host_memory, sync_status, pending, resident = 7, encode_status, capturing, dynamic_limit = 49152, need_context;
/* What this GPU and its kernels are like, for the catalogue's examples: launches above so many CTAs fault, or never end; threads a block may have;
   CTAs that a GPC holds; rows of a box; bytes of memory (0: as much as there is). */
static int fault_above, hang_above, max_threads = 1024, gpc_ctas = 16, box_rows = 256, memory_bytes;
#define STREAMS 64
static int streams, stream_ended[STREAMS];

EXPORT void stub_set(const char *what, int value) {
    if (!strcmp(what, "launch")) launch_status = value;
    if (!strcmp(what, "sync")) sync_status = value;
    if (!strcmp(what, "pending")) pending = value;
    if (!strcmp(what, "resident")) resident = value;
    if (!strcmp(what, "encode")) encode_status = value;
    if (!strcmp(what, "capturing")) capturing = value;
    if (!strcmp(what, "wait_record")) wait_record = value;
    if (!strcmp(what, "need_context")) need_context = value;
    if (!strcmp(what, "fault_above")) fault_above = value;
    if (!strcmp(what, "hang_above")) hang_above = value;
    if (!strcmp(what, "max_threads")) max_threads = value;
    if (!strcmp(what, "gpc_ctas")) gpc_ctas = value;
    if (!strcmp(what, "box_rows")) box_rows = value;
    if (!strcmp(what, "memory")) memory_bytes = value;
}
EXPORT int stub_launches(void) { return launches; }
EXPORT int stub_dynamic_limit(void) { return dynamic_limit; }

EXPORT CUresult cuGetProcAddress_v2(const char *symbol, void **found, int version, cuuint64_t flags, CUdriverProcAddressQueryResult *result) {
    static const char *suffixes[] = {"_v4", "_v3", "_v2", ""};
    void *self = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY);
    char name[256];
    *found = 0;
    for (int i = 0; self && !*found && i < 4; i++) {
        snprintf(name, sizeof name, "%s%s", symbol, suffixes[i]);
        *found = dlsym(self, name);
    }
    if (result) *result = *found ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return *found ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
EXPORT CUresult cuGetProcAddress(const char *symbol, void **found, int version, cuuint64_t flags) {
    return cuGetProcAddress_v2(symbol, found, version, flags, 0);
}
/* As the real one: an empty CUDA_VISIBLE_DEVICES hides every GPU. */
EXPORT CUresult cuInit(unsigned flags) {
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    return visible && !*visible ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS;
}
EXPORT CUresult cuDriverGetVersion(int *version) { *version = 13000; return CUDA_SUCCESS; }
EXPORT CUresult cuDeviceGetCount(int *count) { *count = 2; return CUDA_SUCCESS; }
EXPORT CUresult cuDeviceGet(CUdevice *device, int ordinal) { *device = ordinal; return CUDA_SUCCESS; }
EXPORT CUresult cuDeviceGetName(char *name, int size, CUdevice device) { snprintf(name, size, "stand-in %d", device); return CUDA_SUCCESS; }
EXPORT CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
    *value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? 9
           : attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT ? 132
           : attribute == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN ? 232448 : 0;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) { *context = (CUcontext)(0x1000l + device); return CUDA_SUCCESS; }
EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) { return CUDA_SUCCESS; }
EXPORT CUresult cuCtxPushCurrent_v2(CUcontext context) { current = context; return CUDA_SUCCESS; }
EXPORT CUresult cuCtxPopCurrent_v2(CUcontext *context) { if (context) *context = current; current = 0; return CUDA_SUCCESS; }
EXPORT CUresult cuCtxGetCurrent(CUcontext *context) { *context = current; return CUDA_SUCCESS; }
EXPORT CUresult cuCtxSetCurrent(CUcontext context) { current = context; return CUDA_SUCCESS; }
EXPORT CUresult cuCtxGetDevice(CUdevice *device) {
    if (!current) return CUDA_ERROR_INVALID_CONTEXT;
    *device = (int)((long)current - 0x1000);
    return CUDA_SUCCESS;
}
EXPORT CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) { return CUDA_SUCCESS; }
/* A module, which is its function too. Unloaded ones are kept, so that a launch of one is seen. */
static struct module { int narrow, unloaded; } library = {0, 0};
static CUmodule new_module(int narrow) {
    struct module *made = calloc(1, sizeof *made);
    made->narrow = narrow;
    modules++;
    return (CUmodule)made;
}
EXPORT int stub_modules(void) { return modules; }
EXPORT int stub_stale(void) { return stale; }
EXPORT CUresult cuModuleUnload(CUmodule module) {
    modules--;
    ((struct module *)module)->unloaded = 1;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuCtxSynchronize(void) { return sync_status ? sync_status : capturing ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS; }
EXPORT CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count, CUjit_option *options, void **values) {
    const char *text = image;
    if (strstr(text, ".version 9.9")) {
        snprintf(values[0], 100, "ptxas application ptx input, line 5; fatal   : Unsupported .version 9.9; current version is '9.0'");
        return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    }
    if (strstr(text, "add.u33") || strstr(text, ", debug")) {
        snprintf(values[0], 100, "line 9; error: not an instruction");
        return CUDA_ERROR_INVALID_PTX;
    }
    *module = new_module(strstr(text, ".maxntid 64") != 0);
    return CUDA_SUCCESS;
}
/* Machine code: an ELF image, here with a word that says whether this driver takes it. */
EXPORT CUresult cuModuleLoadData(CUmodule *module, const void *image) {
    *module = new_module(0);
    return strstr(image, "from the future") ? CUDA_ERROR_NO_BINARY_FOR_GPU : CUDA_SUCCESS;
}
/* cuda-core's way to a kernel, for launches beside ours. */
EXPORT CUresult cuLibraryLoadData(CUlibrary *found, const void *code, CUjit_option *options, void **values, unsigned count, CUlibraryOption *library_options,
                                  void **library_values, unsigned library_count) {
    *found = (CUlibrary)&library;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuLibraryUnload(CUlibrary library) { return CUDA_SUCCESS; }
EXPORT CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name) { *kernel = (CUkernel)library; return CUDA_SUCCESS; }
EXPORT CUresult cuKernelGetLibrary(CUlibrary *library, CUkernel kernel) { *library = (CUlibrary)kernel; return CUDA_SUCCESS; }
EXPORT CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *offset, size_t *size) { return CUDA_ERROR_INVALID_VALUE; }
EXPORT CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) { *function = (CUfunction)module; return CUDA_SUCCESS; }
EXPORT CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function) {
    *value = attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? (((struct module *)function)->narrow ? 64 : max_threads)
           : attribute == CU_FUNC_ATTRIBUTE_NUM_REGS ? 32
           : attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ? dynamic_limit : 0;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
    if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) dynamic_limit = value;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuOccupancyMaxActiveClusters(int *clusters, CUfunction function, const CUlaunchConfig *config) {
    unsigned size = config->numAttrs ? config->attrs[0].value.clusterDim.x : 1;
    *clusters = size > (unsigned)gpc_ctas ? 0 : resident;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuOccupancyMaxPotentialClusterSize(int *size, CUfunction function, const CUlaunchConfig *config) { *size = 12; return CUDA_SUCCESS; }
EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads, size_t dynamic) { *blocks = 2; return CUDA_SUCCESS; }
EXPORT CUresult cuGetErrorName(CUresult status, const char **text) {
    *text = status == CUDA_ERROR_ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : status == CUDA_ERROR_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY"
          : status == CUDA_ERROR_INVALID_HANDLE ? "CUDA_ERROR_INVALID_HANDLE"
          : status == CUDA_ERROR_INVALID_VALUE ? "CUDA_ERROR_INVALID_VALUE"
          : status == CUDA_ERROR_UNSUPPORTED_PTX_VERSION ? "CUDA_ERROR_UNSUPPORTED_PTX_VERSION" : "CUDA_ERROR_OTHER";
    return CUDA_SUCCESS;
}
EXPORT CUresult cuGetErrorString(CUresult status, const char **text) { *text = "words of the driver"; return CUDA_SUCCESS; }

/* The last launch's stream and parameters, of so many bytes each as a test has said. */
static int last_count, last_sizes[16];
static char last_bytes[16 * 128];
static void *last_stream;
EXPORT void stub_sizes(int count, const int *sizes) { last_count = count; memcpy(last_sizes, sizes, count * sizeof *sizes); }
EXPORT const char *stub_last(void) { return last_bytes; }
EXPORT long stub_last_stream(void) { return (long)last_stream; }

/* Prints the launch as NVIDIA's header lays it out; the parameters as 64-bit words, for the tests' kernels have (pointer, pointer or map, 4 bytes). */
EXPORT CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters, void **extra) {
    if (need_context && !current) return CUDA_ERROR_INVALID_CONTEXT;
    long stream = (long)config->hStream - 0x5000;
    if (stream >= 0 && stream < STREAMS && stream_ended[stream]) return CUDA_ERROR_INVALID_HANDLE;
    if (fault_above && config->gridDimX > (unsigned)fault_above) sync_status = CUDA_ERROR_ILLEGAL_ADDRESS;
    if (hang_above && config->gridDimX > (unsigned)hang_above) pending = 2;
    if (launch_status) { int status = launch_status; launch_status = 0; return status; }
    if (((struct module *)function)->unloaded) stale++;
    launches++;
    last_stream = config->hStream;
    for (int i = 0, at = 0; i < last_count; at += last_sizes[i++]) memcpy(last_bytes + at, parameters[i], last_sizes[i]);
    if (wait_record) {
        /* A kernel whose third parameter holds records of waits: thread 5 waits at this number, parity 1, barrier 2, with 1 of 3 arrivals pending. */
        unsigned *records = *(unsigned **)parameters[2];
        unsigned long state = ((1ul << 20) - 3) << 1 | ((1ul << 20) - 1) << 43;
        records[20] = wait_record | 1u << 31;
        records[21] = 2;
        memcpy(records + 22, &state, 8);
    }
    static int quiet = -1;
    if (quiet < 0) quiet = getenv("STUB_QUIET") != 0;
    if (quiet) return CUDA_SUCCESS;
    printf("grid %u %u %u block %u %u %u dynamic %u stream %ld", config->gridDimX, config->gridDimY, config->gridDimZ, config->blockDimX,
           config->blockDimY, config->blockDimZ, config->sharedMemBytes, (long)config->hStream);
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const CUlaunchAttribute *attribute = &config->attrs[i];
        if (attribute->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            printf(" cluster %u %u %u", attribute->value.clusterDim.x, attribute->value.clusterDim.y, attribute->value.clusterDim.z);
        else if (attribute->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
            printf(" cooperative %d", attribute->value.cooperative);
        else if (attribute->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
            printf(" programmatic %d", attribute->value.programmaticStreamSerializationAllowed);
        else
            printf(" unknown %d", (int)attribute->id);
    }
    /* So many words of the first parameter, a tensor map's say. */
    for (int i = 0; getenv("STUB_FIRST_WORDS") && i < atoi(getenv("STUB_FIRST_WORDS")); i++) printf(" %llx", ((unsigned long long *)parameters[0])[i]);
    printf(" arguments %llx %llx %x aligned %d\n", *(unsigned long long *)parameters[0], *(unsigned long long *)parameters[1],
           *(unsigned *)parameters[2], (int)((unsigned long)parameters[1] % 64));
    fflush(stdout);
    return CUDA_SUCCESS;
}
EXPORT CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
    *stream = (CUstream)(0x5000l + streams);
    streams = (streams + 1) % STREAMS;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuStreamDestroy_v2(CUstream stream) { stream_ended[(long)stream - 0x5000] = 1; return CUDA_SUCCESS; }
EXPORT CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) { capturing = 1; return CUDA_SUCCESS; }
EXPORT CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph) { capturing = 0; *graph = (CUgraph)0x6000l; return CUDA_SUCCESS; }
EXPORT CUresult cuStreamSynchronize(CUstream stream) { return sync_status; }
EXPORT CUresult cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph, const CUgraphNode **nodes,
                                          const CUgraphEdgeData **edges, size_t *count) {
    *status = capturing;
    if (id) *id = 0;
    if (graph) *graph = 0;
    if (nodes) *nodes = 0;
    if (edges) *edges = 0;
    if (count) *count = 0;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t size) {
    void *memory = 0;
    if (size > (memory_bytes ? (size_t)memory_bytes : 1ul << 40) || posix_memalign(&memory, 256, size)) return CUDA_ERROR_OUT_OF_MEMORY;
    *address = (CUdeviceptr)memory;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuMemFree_v2(CUdeviceptr address) { free((void *)address); return CUDA_SUCCESS; }
EXPORT CUresult cuMemHostAlloc(void **memory, size_t size, unsigned flags) {
    host_memory++;
    return posix_memalign(memory, 4096, size) ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}
EXPORT CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *address, void *memory, unsigned flags) { *address = (CUdeviceptr)memory; return CUDA_SUCCESS; }
EXPORT CUresult cuMemFreeHost(void *memory) { host_memory--; free(memory); return CUDA_SUCCESS; }
EXPORT int stub_host_memory(void) { return host_memory; }
EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t size, CUstream stream) { memcpy((void *)to, from, size); return CUDA_SUCCESS; }
EXPORT CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t size) { memcpy(to, (void *)from, size); return CUDA_SUCCESS; }
/* pending 1 holds all events back, 2 those that were made before a launch and recorded behind it. */
struct event { int launches, behind; };
EXPORT CUresult cuEventCreate(CUevent *event, unsigned flags) {
    struct event *made = calloc(1, sizeof *made);
    made->launches = launches;
    *event = (CUevent)made;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuEventRecord(CUevent event, CUstream stream) {
    struct event *it = (struct event *)event;
    it->behind = launches > it->launches;
    return CUDA_SUCCESS;
}
EXPORT CUresult cuEventQuery(CUevent event) {
    return pending == 1 || (pending == 2 && ((struct event *)event)->behind) ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}
EXPORT CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent from, CUevent to) { *milliseconds = 1.5f; return CUDA_SUCCESS; }
EXPORT CUresult cuEventDestroy_v2(CUevent event) { free(event); return CUDA_SUCCESS; }
/* All memory belongs to GPU 0, but for one address that a test gives to another. */
static CUdeviceptr moved;
static int moved_to;
EXPORT void stub_place(CUdeviceptr address, int device) { moved = address; moved_to = device; }
EXPORT CUresult cuPointerGetAttribute(void *value, CUpointer_attribute attribute, CUdeviceptr address) {
    *(int *)value = address == moved ? moved_to : 0;
    return CUDA_SUCCESS;
}
/* The descriptor's words: address, rank, type, first size, first stride, first box extent, swizzle, fill. */
EXPORT CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address, const cuuint64_t *sizes,
                                       const cuuint64_t *strides, const cuuint32_t *box, const cuuint32_t *element_strides,
                                       CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                       CUtensorMapFloatOOBfill fill) {
    if (encode_status) return encode_status;
    if (rank > 1 && box[1] > (cuuint32_t)box_rows) return CUDA_ERROR_INVALID_VALUE;
    cuuint64_t words[16] = {(cuuint64_t)address, rank, type, sizes[0], strides[0], box[0], swizzle, fill, rank > 1 ? sizes[1] : 0};
    memcpy(map, words, 128);
    return CUDA_SUCCESS;
}
