"""Small kernels in PTX, each with its manifest, for the tests of launches on both devices."""

from __future__ import annotations

from fa4dsl.runtime import Artifact, Manifest
from fa4dsl.runtime.manifest import Parameter, TensorMapTemplate

HEADER = ".version 8.6\n.target sm_90a\n.address_size 64\n"


def artifact(
    name: str,
    parameters: tuple[Parameter, ...],
    body: str,
    block: tuple[int, int, int] = (128, 1, 1),
    cluster: tuple[int, int, int] = (1, 1, 1),
    dynamic: int = 0,
    directives: str = "",
) -> Artifact:
    """One kernel whose PTX parameters p0, p1, ... have the manifest's kinds."""
    types = {
        "i8": ".u8",
        "u8": ".u8",
        "i16": ".u16",
        "u16": ".u16",
        "f16": ".b16",
        "bf16": ".b16",
        "i32": ".u32",
        "u32": ".u32",
        "f32": ".f32",
    }
    types |= {"i64": ".u64", "u64": ".u64", "f64": ".f64", "bool": ".u8", "e4m3": ".u8", "e5m2": ".u8"}
    declared = []
    for number, parameter in enumerate(parameters):
        if parameter.kind == "tensor_map":
            declared.append(f".param .align 64 .b8 p{number}[128]")
        else:
            declared.append(f".param {'.u64' if parameter.kind == 'pointer' else types[parameter.dtype]} p{number}")
    shared = ".extern .shared .align 1024 .b8 smem[];\n" if dynamic else ""
    ptx = f"{HEADER}{shared}.visible .entry {name}({', '.join(declared)}) {directives}\n{{\n{body}\n}}\n"
    manifest = Manifest(name, name, "sm_90a", parameters, block, cluster, dynamic)
    return Artifact(manifest, ptx)


def pointer(name: str, dtype: str = "f32", **fields: object) -> Parameter:
    return Parameter(name, "pointer", dtype, **fields)  # type: ignore[arg-type]


def scalar(name: str, dtype: str) -> Parameter:
    return Parameter(name, "scalar", dtype)


INDEX = """
.reg .pred %p<8>; .reg .b16 %h<16>; .reg .b32 %r<32>; .reg .f32 %f<8>; .reg .b64 %d<32>;
mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r0, %r2, %r3, %r1;
"""


def scale(**launch: object) -> Artifact:
    """out[i] = x[i] * factor for every thread i of the grid."""
    body = """
ld.param.u64 %d1, [p0]; ld.param.u64 %d2, [p1]; ld.param.f32 %f1, [p2];
cvta.to.global.u64 %d1, %d1; cvta.to.global.u64 %d2, %d2;
mul.wide.u32 %d3, %r0, 4; add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3;
ld.global.f32 %f2, [%d1]; mul.f32 %f2, %f2, %f1; st.global.f32 [%d2], %f2; ret;"""
    parameters = (pointer("x", access="in"), pointer("out"), scalar("factor", "f32"))
    return artifact("scale", parameters, INDEX + body, **launch)  # type: ignore[arg-type]


def increment() -> Artifact:
    """x[i] += n, in place: repeated launches show in the numbers."""
    body = """
ld.param.u64 %d1, [p0]; ld.param.u32 %r4, [p1]; cvta.to.global.u64 %d1, %d1;
mul.wide.u32 %d3, %r0, 4; add.u64 %d1, %d1, %d3;
ld.global.u32 %r5, [%d1]; add.u32 %r5, %r5, %r4; st.global.u32 [%d1], %r5; ret;"""
    return artifact("increment", (pointer("x", "i32"), scalar("n", "i32")), INDEX + body)


def cluster_ranks() -> Artifact:
    """out[cta] = cluster size * 100 + rank in the cluster; its cluster is chosen at launch."""
    body = """
ld.param.u64 %d1, [p0]; cvta.to.global.u64 %d1, %d1;
mul.wide.u32 %d3, %r2, 4; add.u64 %d1, %d1, %d3;
mov.u32 %r4, %cluster_ctarank; mov.u32 %r5, %cluster_nctarank; mad.lo.u32 %r4, %r5, 100, %r4;
st.global.u32 [%d1], %r4; ret;"""
    return artifact("cluster_ranks", (pointer("out", "i32"),), INDEX + body, block=(32, 1, 1))


def large_shared(dynamic: int = 100 << 10) -> Artifact:
    """out[cta] = the word the CTA wrote to the last four bytes of its dynamic shared memory."""
    body = f"""
ld.param.u64 %d1, [p0]; cvta.to.global.u64 %d1, %d1;
mul.wide.u32 %d3, %r2, 4; add.u64 %d1, %d1, %d3;
mov.u32 %r4, smem; add.u32 %r4, %r4, {dynamic - 4}; add.u32 %r5, %r2, 7; st.shared.u32 [%r4], %r5;
bar.sync 0; ld.shared.u32 %r6, [%r4]; st.global.u32 [%d1], %r6; ret;"""
    return artifact("large_shared", (pointer("out", "i32"),), INDEX + body, dynamic=dynamic)


def scalars() -> Artifact:
    """Every scalar type as its bits, one 64-bit word each, so that alignment and conversion of the argument buffer show."""
    kinds = ("bool", "i8", "u16", "f16", "bf16", "e4m3", "i32", "f32", "u8", "i64", "f64", "u32", "u64", "i16", "e5m2")
    lines = ["ld.param.u64 %d1, [p0]; cvta.to.global.u64 %d1, %d1;"]
    for number, kind in enumerate(kinds, 1):
        size = {
            "bool": 8,
            "i8": 8,
            "u8": 8,
            "e4m3": 8,
            "e5m2": 8,
            "i16": 16,
            "u16": 16,
            "f16": 16,
            "bf16": 16,
            "i32": 32,
            "u32": 32,
            "f32": 32,
        }.get(kind, 64)
        if size == 8:
            lines.append(f"ld.param.u8 %h1, [p{number}]; cvt.u64.u16 %d2, %h1;")
        elif size == 16:
            lines.append(f"ld.param.b16 %h1, [p{number}]; cvt.u64.u16 %d2, %h1;")
        elif size == 32:
            lines.append(f"ld.param.b32 %r4, [p{number}]; cvt.u64.u32 %d2, %r4;")
        else:
            lines.append(f"ld.param.b64 %d2, [p{number}];")
        lines.append(f"st.global.u64 [%d1+{8 * (number - 1)}], %d2;")
    parameters = (pointer("out", "u64"), *(scalar(f"s_{kind}", kind) for kind in kinds))
    return artifact("scalars", parameters, INDEX + "\n".join([*lines, "ret;"]), block=(1, 1, 1))


def spin() -> Artifact:
    """Runs for `nanoseconds` and then stores 1: a kernel that looks hung for a while, and ends by itself."""
    body = """
ld.param.u64 %d1, [p0]; ld.param.u64 %d4, [p1]; cvta.to.global.u64 %d1, %d1; mov.u64 %d2, %globaltimer;
again: nanosleep.u32 1000; mov.u64 %d3, %globaltimer; sub.u64 %d3, %d3, %d2; setp.lt.u64 %p1, %d3, %d4; @%p1 bra again;
mov.u32 %r4, 1; st.global.u32 [%d1], %r4; ret;"""
    return artifact("spin", (pointer("flag", "i32"), scalar("nanoseconds", "u64")), INDEX + body, block=(1, 1, 1))


def dependent() -> Artifact:
    """Writes when it began and ended (ns of the GPU's clock) to out[2 * slot] and out[2 * slot + 1].

    It lets a dependent launch begin at once, then works for `nanoseconds`, then waits for the kernel ahead and adds 1 to count[0].
    """
    body = """
ld.param.u64 %d1, [p0]; ld.param.u64 %d2, [p1]; ld.param.u32 %r4, [p2]; ld.param.u64 %d4, [p3];
mov.u64 %d5, %globaltimer; griddepcontrol.launch_dependents;
again: nanosleep.u32 1000; mov.u64 %d3, %globaltimer; sub.u64 %d3, %d3, %d5; setp.lt.u64 %p1, %d3, %d4; @%p1 bra again;
griddepcontrol.wait; ld.global.u32 %r5, [%d2]; add.u32 %r5, %r5, 1; st.global.u32 [%d2], %r5;
mov.u64 %d3, %globaltimer; mul.wide.u32 %d6, %r4, 16; add.u64 %d1, %d1, %d6; st.global.u64 [%d1], %d5; st.global.u64 [%d1+8], %d3; ret;"""
    parameters = (pointer("out", "i64"), pointer("count", "i32"), scalar("slot", "i32"), scalar("nanoseconds", "u64"))
    return artifact("dependent", parameters, INDEX + body, block=(1, 1, 1))


def meeting() -> Artifact:
    """Every CTA arrives at count[0] and waits up to a second until all have; met[cta] = 1 if they did. Needs all resident at once."""
    body = """
ld.param.u64 %d1, [p0]; ld.param.u64 %d2, [p1]; mov.u32 %r4, %nctaid.x; mul.wide.u32 %d3, %r2, 4; add.u64 %d2, %d2, %d3;
mov.u64 %d4, %globaltimer; red.release.gpu.global.add.u32 [%d1], 1;
again: ld.acquire.gpu.global.u32 %r5, [%d1]; setp.ge.u32 %p1, %r5, %r4; @%p1 bra met;
mov.u64 %d5, %globaltimer; sub.u64 %d5, %d5, %d4; setp.lt.u64 %p2, %d5, 1000000000; @%p2 bra again; ret;
met: mov.u32 %r6, 1; st.global.u32 [%d2], %r6; ret;"""
    return artifact("meeting", (pointer("count", "i32"), pointer("met", "i32")), INDEX + body, block=(1, 1, 1), dynamic=200 << 10)


def fault() -> Artifact:
    """Stores far outside any allocation when `go` is 1."""
    body = """
ld.param.u64 %d1, [p0]; ld.param.u32 %r4, [p1]; cvta.to.global.u64 %d1, %d1;
setp.ne.u32 %p1, %r4, 1; @%p1 ret; mov.u64 %d2, 0x7000000000; add.u64 %d1, %d1, %d2; st.global.u32 [%d1], %r4; ret;"""
    return artifact("fault", (pointer("out", "i32"), scalar("go", "i32")), INDEX + body, block=(1, 1, 1))


def tile_copy(rows: int = 16, columns: int = 32, swizzle: str = "none") -> Artifact:
    """Loads the box at (column, row) through `source` and stores it through `target` at the same place; f32."""
    body = f"""
.shared .align 8 .b64 barrier;
setp.ne.u32 %p1, %r1, 0; @%p1 ret;
mov.u64 %d1, p0; mov.u64 %d2, p1; cvta.param.u64 %d1, %d1; cvta.param.u64 %d2, %d2; ld.param.u32 %r4, [p2]; ld.param.u32 %r5, [p3];
mov.u32 %r6, smem; mov.u32 %r7, barrier;
mbarrier.init.shared.b64 [%r7], 1; fence.mbarrier_init.release.cluster; fence.proxy.async;
mbarrier.arrive.expect_tx.shared.b64 _, [%r7], {rows * columns * 4};
cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r6], [%d1, {{%r4, %r5}}], [%r7];
again: mbarrier.try_wait.parity.shared.b64 %p2, [%r7], 0; @!%p2 bra again;
cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%d2, {{%r4, %r5}}], [%r6];
cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret;"""
    template = TensorMapTemplate("f32", 2, (columns, rows), swizzle)  # type: ignore[arg-type]
    maps = tuple(Parameter(name, "tensor_map", "f32", template, access=access) for name, access in (("source", "in"), ("target", "inout")))  # type: ignore[arg-type]
    parameters = (*maps, scalar("column", "i32"), scalar("row", "i32"))
    return artifact("tile_copy", parameters, INDEX + body, block=(32, 1, 1), dynamic=rows * columns * 4)


def ragged_store(rows: int, columns: int, group: int = 1) -> Artifact:
    """Fills a tile of `rows` x `columns` with `row * 1000 + column` and stores `valid` positions of it at sequence row `at`, head `head`."""
    positions = rows // group
    coordinates = "{%r10, %r8, %r9}" if group == 1 else "{%r10, %r10, %r8, %r9}"
    rank, box = (3, (columns, rows, 1)) if group == 1 else (4, (columns, group, positions, 1))
    body = f"""
ld.param.u32 %r4, [p1]; ld.param.u32 %r5, [p2]; ld.param.u32 %r6, [p3]; ld.param.u32 %r7, [p4];
mov.u32 %r11, smem; mov.u32 %r12, %r1;
fill: setp.ge.u32 %p2, %r12, {rows * columns}; @%p2 bra filled;
div.u32 %r13, %r12, {columns}; rem.u32 %r14, %r12, {columns}; mad.lo.u32 %r13, %r13, 1000, %r14; cvt.rn.f32.u32 %f1, %r13;
shl.b32 %r15, %r12, 2; add.u32 %r15, %r15, %r11; st.shared.f32 [%r15], %f1;
add.u32 %r12, %r12, 128; bra fill; filled:
fence.proxy.async; bar.sync 0; setp.ne.u32 %p1, %r1, 0; @%p1 ret;
mov.u64 %d1, p0; cvta.param.u64 %d1, %d1; mov.u32 %r10, 0; mov.u32 %r8, {positions}; sub.u32 %r8, %r8, %r4;
add.u32 %r9, %r5, %r4; mad.lo.u32 %r9, %r9, %r7, %r6;
cp.async.bulk.tensor.{rank}d.global.shared::cta.tile.bulk_group [%d1, {coordinates}], [%r11];
cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret;"""
    template = TensorMapTemplate("f32", rank, box, form="ragged")
    output = Parameter("output", "tensor_map", "f32", template)
    parameters = (output, scalar("valid", "i32"), scalar("at", "i32"), scalar("head", "i32"), scalar("heads", "i32"))
    return artifact("ragged_store", parameters, INDEX + body, dynamic=rows * columns * 4)
