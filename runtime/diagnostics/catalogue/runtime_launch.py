"""Diagnostics of devices and launches (R060 to R099)."""

from fa4dsl.runtime.diagnostics.entry import Entry

_BEFORE = "The numbers are compared before the launch is tried; the driver would say CUDA_ERROR_INVALID_VALUE or launch nothing."

ENTRIES: tuple[Entry, ...] = (
    Entry(
        "R060",
        "The grid is out of range",
        "{kernel}: the grid {grid} is not possible: {problem}",
        "use one to three extents of at least 1, at most 2147483647 x 65535 x 65535 CTAs",
        "The grid counts CTAs in each dimension. " + _BEFORE,
    ),
    Entry(
        "R061",
        "The grid is no multiple of the cluster",
        "{kernel}: the grid has {extent} CTAs in {dimension}, which is no multiple of the cluster's {cluster}",
        "round the grid up to a multiple and let the extra CTAs do nothing",
        "Every cluster of a launch is whole. " + _BEFORE,
    ),
    Entry(
        "R062",
        "The cluster cannot be chosen or is too large",
        "{kernel}: a cluster of {cluster} CTAs is not possible: {problem}",
        "use a smaller cluster; 8 CTAs is the portable limit, some GPUs run up to 16",
        "The limit depends on the GPU and on the kernel's registers and shared memory; runtime.max_cluster(artifact) asks the driver. "
        + _BEFORE,
    ),
    Entry(
        "R063",
        "The kernel needs more shared memory than a CTA can have",
        "{kernel} needs {needed} bytes of shared memory a CTA ({dynamic} dynamic, {static} static); this GPU has {limit}",
        "use smaller tiles or fewer pipeline stages",
        "Dynamic shared memory above 48 KiB is opted into by the launch; the GPU's opt-in limit stays (227 KiB a CTA on sm_90). " + _BEFORE,
    ),
    Entry(
        "R064",
        "The block has more threads than the kernel can run with",
        "{kernel}: a block of {threads} threads needs {registers} registers a thread; this GPU runs at most {limit} threads of it",
        "use fewer threads, compile the kernel for this block, or with fewer registers a thread",
        "The register file of an SM is shared by the block's threads (65536 registers on sm_90), and code that says how many threads it is for (.reqntid, "
        ".maxntid) runs with no more. " + _BEFORE,
    ),
    Entry(
        "R065",
        "No cluster of this shape can be resident",
        "{kernel}: this GPU cannot hold one cluster of {cluster} CTAs with {shared} bytes of shared memory and {threads} threads each",
        "use a smaller cluster, less shared memory or fewer threads",
        "All CTAs of a cluster run at the same time on one GPC, so the GPC must have room for all of them. The driver was asked "
        "(cuOccupancyMaxActiveClusters) and answered 0.",
    ),
    Entry(
        "R066",
        "The cooperative grid cannot be resident at once",
        "{kernel}: a cooperative launch of {ctas} CTAs, but at most {limit} are resident at once ({per_sm} on each of {sms} SMs)",
        "use fewer CTAs and loop over the work in the kernel",
        "A cooperative launch promises that all CTAs run at the same time, so that they may wait for each other. " + _BEFORE,
    ),
    Entry(
        "R067",
        "The launch option is not known",
        "{what} cannot be {got}; it is {words}",
        "use one of the values above",
        "The devices are `cuda` and `simulator`; `auto` takes the GPU when an argument lies there and the simulator otherwise.",
    ),
    Entry(
        "R068",
        "The artifact is for another GPU",
        "{kernel} was compiled for {target}, this GPU ({device}) has compute capability {major}.{minor}",
        "compile the kernel for this GPU's target, or run it on the simulator",
        "Code with the suffix `a` uses instructions of one architecture and runs nowhere else; machine code runs within its major version.",
    ),
    Entry(
        "R069",
        "The driver could not load the kernel",
        "the driver could not load {kernel} ({status}): {log}",
        "assemble the PTX with ptxas to see the line, or update the driver if it does not know the PTX version",
        "Machine code is loaded as it is; without it, the driver assembles the PTX and says here what it does not like.",
    ),
    Entry(
        "R070",
        "There is no CUDA driver",
        "there is no CUDA driver on this machine: {reason}",
        'install the NVIDIA driver, or run on the simulator with device="simulator"',
        "Launches on a GPU go through the driver library, libcuda.so.1, which comes with the NVIDIA driver and with no Python package.",
    ),
    Entry(
        "R071",
        "There is no GPU",
        "the CUDA driver sees no GPU",
        'check nvidia-smi and CUDA_VISIBLE_DEVICES, or run on the simulator with device="simulator"',
        "The driver is there, but lists no device that this process may use.",
    ),
    Entry(
        "R072",
        "The GPU's number is out of range",
        "there is no GPU {device}: the driver lists {count}",
        "use a number below the count; CUDA_VISIBLE_DEVICES renumbers",
        "Devices are numbered from 0 in the order in which the driver lists them for this process.",
    ),
    Entry(
        "R073",
        "cuda-bindings is missing or does not fit",
        "the CUDA bindings cannot be imported: {reason}",
        "pip install 'cuda-bindings>=13,<14'",
        "The runtime talks to the driver through NVIDIA's own Python bindings.",
    ),
    Entry(
        "R074",
        "CUDA does not survive a fork",
        "CUDA was initialised in process {parent} before this process was forked from it",
        'start workers with multiprocessing.get_context("spawn"), or use the GPU only in the workers',
        "The driver's state (contexts, memory, streams) belongs to the process that made it. A forked copy of it is unusable, and every call in it fails "
        "or hangs; the runtime refuses first.",
    ),
    Entry(
        "R075",
        "A kernel failed on the GPU",
        "{status}: {text}. Launched since the last good synchronisation, newest last: {launches}",
        'run the launch on the simulator (device="simulator"), which names the access, or under compute-sanitizer; the process must be restarted to use '
        "this GPU again",
        "Kernels run asynchronously: a fault shows at a later call, and the context is lost from then on. The runtime keeps the last launches so that the "
        "culprit is among those named.",
    ),
    Entry(
        "R076",
        "A driver call failed",
        "{call} failed with {status}: {text}",
        "see the status; out of memory and a lost context are the usual ones",
        "The driver refused a call that the runtime had no reason to expect to fail.",
    ),
    Entry(
        "R077",
        "The kernel did not finish in time",
        "{kernel} did not finish within {seconds} s ({state}). Arguments: {arguments}",
        'run it on the simulator (device="simulator"): it names every waiter with its barrier, phase and counts; or compile it with debug_waits=True, and it tells them here; this process must be ended to free the GPU',
        "The watchdog waits for the launch's end and tells whether it had begun at all. A kernel that spins on a barrier cannot be stopped from outside; the "
        "GPU is free again when its process ends.",
    ),
    Entry(
        "R078",
        "The stream is not one",
        "{type} is not a CUDA stream",
        "pass a torch, cupy, numba or cuda.core stream, anything with __cuda_stream__, or the integer handle",
        "A launch needs the driver's stream handle.",
    ),
    Entry(
        "R079",
        "A copying launch cannot be captured",
        "{kernel}: host arrays cannot be copied in and out while the stream is being captured",
        "put the arrays on the GPU before the capture",
        "Copying from and to pageable host memory and waiting for the result are not operations a CUDA graph can hold.",
    ),
    Entry(
        "R080",
        "The launch was refused",
        "the driver refused the launch of {kernel} over grid {grid} ({status}): {text}",
        "see the status; the limits known before were all kept",
        "Sizes, cluster and shared memory were checked before, so the refusal has another reason, which the driver gives only as a status.",
    ),
    Entry(
        "R090",
        "There is nothing to tune",
        "autotune got no configuration",
        "pass at least one",
        "Autotuning measures each configuration and keeps the fastest.",
        failing="from fa4dsl.runtime.autotune import autotune\nautotune([], lambda config: 1.0)",
        fixed='from fa4dsl.runtime.autotune import autotune\nautotune(["only"], lambda config: 1.0)',
    ),
    Entry(
        "R091",
        "Every configuration failed",
        "none of {count} configurations could be measured: {reasons}",
        "mend the first of these",
        "A configuration that cannot be compiled or launched is left out of the choice; here none was left.",
    ),
    Entry(
        "R092",
        "The measurement is no time",
        "the measurement of {config} returned {got}, not a time in seconds",
        "return a finite number of seconds, at least 0",
        "Configurations are compared by the seconds that the measuring function returns.",
        failing='from fa4dsl.runtime.autotune import autotune\nautotune(["only"], lambda config: float("nan"))',
        fixed='from fa4dsl.runtime.autotune import autotune\nautotune(["only"], lambda config: 1.0)',
    ),
    Entry(
        "R095",
        "torch is not installed",
        "torch cannot be imported: {reason}",
        "pip install torch",
        "fa4dsl.torch registers kernels as torch operators. Nothing else in fa4dsl needs torch.",
    ),
    Entry(
        "R096",
        "The operator's tensors do not fit each other",
        "{operator}: {problem}",
        "see the operator's documentation for shapes, types and devices",
        "The operator's fake function and its kernel rely on the same shapes; they are checked in both, so that tracing tells what running would.",
    ),
)
