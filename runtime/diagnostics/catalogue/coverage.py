"""Diagnostics of instructions that compilers emit rarely: sparse products, targets and versions, the stack, the device heap, multicast memory."""

from fa4dsl.runtime.diagnostics.entry import Entry

COVERAGE: tuple[Entry, ...] = (
    Entry(
        "S060",
        "sparse metadata that means nothing",
        "{mnemonic} by {thread}: the metadata of row {row}, chunk {chunk} is 0b{bits}",
        "make the metadata with the packed matrix; two indices of a chunk must differ (with .ordered_metadata the first is the smaller), and tf32 takes 0b0100 or 0b1110",
        "Four bits of metadata say which elements of a chunk the packed matrix A holds. Other values than the meaningful ones make the product undefined (PTX ISA, sparse matrix storage). "
        "A wrong sparsity selector looks the same: it takes the metadata from other lanes.",
    ),
    Entry(
        "S061",
        "an instruction that the file's target does not have",
        "PTX line {line}: {mnemonic} needs {needed}, the file says .target {target}",
        "write .target {needed} (nvcc -arch={needed}), or use instructions that the target has",
        "A PTX file names the oldest GPU that it is for, and ptxas refuses instructions that this one lacks, whatever GPU it assembles for. wgmma, setmaxnreg and tensormap.replace need "
        "the suffix: .target sm_90a.",
    ),
    Entry(
        "S062",
        "an instruction that the file's PTX version does not have",
        "PTX line {line}: {mnemonic} needs PTX ISA {needed}, the file says .version {version}",
        "write .version {needed} or a later one",
        "The version in the first line says which PTX ISA the text follows; ptxas refuses instructions and qualifiers that came later.",
    ),
    Entry(
        "S063",
        "stack memory that is not there",
        "{mnemonic} by {thread}: {what}",
        "{how}",
        "alloca takes memory of the thread's own stack until the function returns or stackrestore gives it back. The driver sets the stack's size (cuCtxSetLimit, CU_LIMIT_STACK_SIZE); a GPU faults "
        "or corrupts other memory beyond it.",
    ),
    Entry(
        "S064",
        "a multicast access to ordinary memory",
        "{mnemonic} by {thread}: address {address} is not multicast memory",
        "give an address of a buffer that the launch calls multicast, or use ld, st or red",
        "multimem instructions take addresses of a multicast object only (cuMulticastCreate), which stands for the same memory of several GPUs; with any other address they are undefined, as are ordinary accesses to "
        "a multicast address (PTX ISA, multimem).",
    ),
    Entry(
        "S065",
        "a wrong free",
        "{mnemonic} by {thread}: {what}",
        "free what malloc gave, once",
        "The device's heap takes back only whole allocations of its own.",
    ),
    Entry(
        "S066",
        "a read-only load of memory that the kernel writes",
        "{mnemonic} on {use} reads {where} through the read-only path, but the kernel has written it on {store}",
        "load with a plain ld.global on {use}: in CUDA, without __ldg, and without const and __restrict__ both on a pointer whose memory the kernel writes",
        "ld.global.nc takes the value from a cache that is not coherent: it is for memory that nobody writes while the kernel runs, and no barrier or fence makes a write of this launch visible to it "
        "(PTX ISA 9.7.9.9). The compiler chooses it for __ldg, and for pointers declared const ... __restrict__.",
    ),
)
