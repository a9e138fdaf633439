/* DLPack's C exchange table for the stand-ins of torch's tensors: a view is what the object's attribute `_view` points to. Loaded into the interpreter
   (ctypes.PyDLL), whose functions it declares itself, so that it builds without headers and for every version. */
#include <stdint.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

extern void *PyUnicode_InternFromString(const char *), *PyObject_GetAttr(void *, void *), *PyLong_AsVoidPtr(void *);
extern void Py_DecRef(void *), PyErr_SetString(void *, const char *);
extern void *PyExc_RuntimeError;

struct view { void *data; int32_t device_type, device_id, ndim; uint8_t code, bits; uint16_t lanes; int64_t *shape, *strides; uint64_t offset; };

static void *streams[8];

static int lend(void *object, struct view *out) {
    static void *name;
    if (!name) name = PyUnicode_InternFromString("_view");
    void *address = PyObject_GetAttr(object, name);
    if (!address) return -1;
    const struct view *found = PyLong_AsVoidPtr(address);
    Py_DecRef(address);
    if (!found) {
        PyErr_SetString(PyExc_RuntimeError, "this tensor has no storage");
        return -1;
    }
    *out = *found;
    return 0;
}

static int stream(int32_t type, int32_t device, void **out) {
    if (type != 2 || device > 7) return -1;
    *out = streams[device];
    return 0;
}

static struct table { uint32_t major, minor; struct table *previous; void *allocate, *from, *to; int (*lend)(void *, struct view *), (*stream)(int32_t, int32_t, void **); }
    older = {1, 3, 0, 0, 0, 0, lend, stream}, newer = {2, 0, &older, 0, 0, 0, 0, 0};

EXPORT void *exchange_table(void) { return &older; }
/* Of a version that nobody knows yet, with the known one behind it. */
EXPORT void *exchange_newer(void) { return &newer; }
EXPORT void exchange_stream(int device, void *handle) { streams[device] = handle; }
EXPORT int exchange_view_size(void) { return (int)sizeof(struct view); }
EXPORT void exchange_fill(struct view *out, void *data, int device, int ndim, int code, int bits, int64_t *shape, int64_t *strides) {
    memset(out, 0, sizeof *out);
    out->data = data;
    out->device_type = device < 0 ? 1 : 2;
    out->device_id = device < 0 ? 0 : device;
    out->ndim = ndim;
    out->code = (uint8_t)code;
    out->bits = (uint8_t)bits;
    out->lanes = 1;
    out->shape = shape;
    out->strides = strides;
}
EXPORT void exchange_move(struct view *view, long by) { view->data = (char *)view->data + by; }
