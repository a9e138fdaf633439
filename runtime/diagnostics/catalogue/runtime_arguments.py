"""Diagnostics of a launch's arguments (R040 to R054)."""

from fa4dsl.runtime.diagnostics.entry import Entry

ENTRIES: tuple[Entry, ...] = (
    Entry(
        "R040",
        "The arguments do not fit the kernel's parameters",
        "{kernel} takes {expected} arguments ({names}), {problem}",
        "pass one argument for each parameter, by position in this order or by name",
        "The kernel reads its parameters by position from the launch's argument buffer, so each must be there exactly once.",
    ),
    Entry(
        "R041",
        "The argument is not an array",
        "{name}: expected an array, got {type}",
        "pass a numpy, torch, cupy, jax or numba array, or anything with DLPack or __cuda_array_interface__",
        "A pointer or tensor-map parameter needs memory whose address, shape, strides and type can be read.",
        failing="from fa4dsl.runtime import tiled\ntiled([1.0, 2.0], (2,))",
        fixed="from fa4dsl.runtime import tiled\nimport numpy as np\ntiled(np.zeros(8, np.float32), (4,))",
    ),
    Entry(
        "R042",
        "The argument's element type is wrong",
        "{name}: expected {expected}, got {got}",
        "convert the array; for one that holds the right bits under another name (bf16 in uint16) use runtime.reinterpreted(array, dtype)",
        "The kernel was compiled for one element type and would read the bytes of another as garbage. Nothing is converted silently.",
        failing='from fa4dsl.runtime import tiled\nimport numpy as np\ntiled(np.zeros(8, ">f4"), (4,))',
        fixed='from fa4dsl.runtime import tiled\nimport numpy as np\ntiled(np.zeros(8, "f4"), (4,))',
    ),
    Entry(
        "R043",
        "The argument lies on the wrong device",
        "{name} lies on {place}, the launch needs {wanted}",
        "move the array there first (torch: .to(device); cupy: cupy.asarray or .get(); jax: jax.device_put)",
        "A kernel reaches the memory of the device it runs on. Copies between devices are the caller's decision, for they cost more than most launches.",
    ),
    Entry(
        "R044",
        "The argument is not contiguous",
        "{name}: the kernel expects a C-contiguous array, got shape {shape} with strides of {strides} bytes",
        "pass array.contiguous() or numpy.ascontiguousarray(array); mind that writing to a copy does not change the original",
        "The parameter is a plain pointer, and the kernel computes addresses as if there were no gaps.",
    ),
    Entry(
        "R045",
        "The argument is misaligned",
        "{name}: the address {address} must be a multiple of {alignment} bytes",
        "start the array there: slice by whole rows, or copy the slice",
        "Vector loads and stores and bulk copies need their addresses aligned to their width; the hardware stops the kernel otherwise.",
    ),
    Entry(
        "R046",
        "The argument's type is not the scalar's",
        "{name}: expected {expected} for {dtype}, got {type}",
        "pass int(x) or float(x)",
        "Scalars are not converted silently: an integer parameter takes an integer (a Python int or numpy integer), a floating-point one a number.",
    ),
    Entry(
        "R047",
        "The scalar is out of its type's range",
        "{name}: {value} does not fit {dtype}, which holds {low} to {high}",
        "check where the value comes from, or compile the kernel with a wider parameter",
        "The value would arrive changed, because its upper bits do not fit.",
    ),
    Entry(
        "R048",
        "A read-only array would be written",
        "{name} is read-only, and the kernel wrote to it",
        "pass a writable array (numpy: array.copy()), or have the parameter declared as an input if the kernel should not write",
        "The simulator and copied launches write results back into the arrays they came from.",
    ),
    Entry(
        "R049",
        "The framework refused to share the array",
        "{name}: {type} refused to share its memory: {reason}",
        "see the framework's words; torch tensors that require gradients need .detach(), jax arrays must be on one device",
        "Arrays are taken over without copying, through the protocol that their framework offers. It may refuse.",
    ),
    Entry(
        "R050",
        "Copied arrays cannot overlap in a launch on the GPU",
        "{name} and {other} share memory without being the same bytes",
        "copy one of them, or put both on the GPU yourself",
        "Each host array is copied to the GPU and back. Two that overlap would be written back one over the other.",
    ),
    Entry(
        "R051",
        "numpy arrays go to the GPU by explicit choice only",
        "{name} lies on the CPU and the launch is on cuda:{device}",
        'pass copy=True to have host arrays copied in and out, use GPU arrays, or device="simulator"',
        "A hidden copy in and out costs more than most kernels, and a launch that synchronises cannot be captured into a graph.",
    ),
)
