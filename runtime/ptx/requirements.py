"""What an instruction asks of a file's `.target` and `.version` (the notes at each instruction of the PTX ISA), for targets up to sm_90a.

Every rule whose pattern is found in the mnemonic counts; the greatest demand holds. Versions before 7.8 are not told apart: sm_90 needs that one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

Version = tuple[int, int]

_HALF_MATH = r"^(add|sub|mul|fma|neg|abs|set|setp)\."
_RULES: tuple[tuple[str, int, Version], ...] = (
    # arithmetic
    (r"^(dp4a|dp2a)\.", 61, (0, 0)),
    (r"^(szext|bmsk)\.", 70, (0, 0)),
    (_HALF_MATH + r".*\bf16(x2)?\b", 53, (0, 0)),
    (r"^(neg|abs|fma)\..*\bbf16(x2)?\b", 80, (0, 0)),
    (r"^(add|sub|mul|set|setp)\..*\bbf16(x2)?\b", 90, (7, 8)),
    (r"^fma\..*\brelu\b", 80, (0, 0)),
    (r"^fma\..*\boob\b", 90, (8, 1)),
    (r"^(min|max)\..*(\bNaN\b|f16)", 80, (0, 0)),
    (r"^(min|max)\..*\bxorsign\b", 86, (0, 0)),
    (r"^(min|max)\..*(\brelu\.s|[us]16x2\b)", 90, (8, 0)),
    (r"^add\.[us]16x2$", 90, (8, 0)),
    (r"^ex2\..*\bf16(x2)?$", 75, (0, 0)),
    (r"^ex2\..*\bbf16(x2)?$", 90, (7, 8)),
    (r"^tanh\.", 75, (0, 0)),
    (r"^tanh\..*\bbf16(x2)?$", 90, (7, 8)),
    (r"^lop3\.(and|or)\.", 70, (8, 2)),
    # conversions
    (r"^cvt\.pack\.sat\.[us](8|16)\.", 72, (0, 0)),
    (r"^cvt\.pack\.sat\.[us][24]\.", 75, (0, 0)),
    (r"^cvt\..*(\b(bf16|f16x2|tf32|relu)\b|bf16x2)", 80, (0, 0)),
    (r"^cvt\.(?!(\w+\.)*bf16\.f32$|f32\.bf16$).*\bbf16\b(?!\.f32)", 90, (7, 8)),
    (r"^cvt\.(rm|rp)\..*\bbf16\.f32$", 80, (0, 0)),
    (r"^cvt\..*\bftz\b.*\bbf16\b", 90, (7, 8)),
    (r"^cvt\..*\bsatfinite\b.*\bf16\.f32$", 70, (8, 1)),
    (r"^cvt\..*\bsatfinite\.(bf16|f16x2|bf16x2|tf32)\.f32$", 80, (8, 1)),
    (r"^cvt\.(rn|rz)(\.relu)?\.tf32\.", 90, (7, 8)),
    (r"^cvt\..*\be[45]m[23]x2\b", 89, (7, 8)),
    # loads, stores, hints
    (r"^(ld|ldu|st|mov|atom)\..*\bb128$", 70, (8, 3)),
    (r"^(ld|st)\..*\b(acquire|release)\..*\bb128$", 70, (8, 4)),
    (r"^(ld|st|atom|red)\.(.*\.)?(weak|relaxed|acquire|release|acq_rel)\b", 70, (0, 0)),
    (r"^(ld|st)\.(.*\.)?mmio\b", 70, (8, 2)),
    (r"^(ld|st)\..*\bL1::", 70, (0, 0)),
    (r"^ld\..*\bL2::(64B|128B)", 75, (0, 0)),
    (r"^ld\..*\bL2::256B", 80, (0, 0)),
    (r"\bL2::cache_hint\b", 80, (0, 0)),
    (r"^(ld|st|atom|red|fence|isspacep|cvta)\b.*\.(cluster|shared::cluster)\b", 90, (7, 8)),
    (r"^(isspacep|cvta(\.to)?)\.param\b", 70, (0, 0)),
    (r"\bparam::entry\b", 0, (8, 3)),
    (r"^prefetch\..*\bL2::evict", 80, (0, 0)),
    (r"^prefetch\..*\btensormap$", 90, (8, 0)),
    (r"^(applypriority|discard|createpolicy)\.", 80, (0, 0)),
    (r"^(mapa|getctarank)\b", 90, (7, 8)),
    (r"^(alloca|stacksave|stackrestore)\.", 52, (0, 0)),
    # atomics
    (r"^(atom|red)\..*\badd\.f64$", 60, (0, 0)),
    (r"^(atom|red)\..*\bnoftz\.f16x2$", 60, (0, 0)),
    (r"^(atom|red)\..*\bnoftz\.f16$", 70, (0, 0)),
    (r"^(atom|red)\..*\bnoftz\.bf16(x2)?$", 90, (7, 8)),
    (r"^(atom|red)\..*\bv[248]\b", 90, (8, 1)),
    (r"^atom\..*\bcas\.b16$", 70, (0, 0)),
    (r"^atom\..*\bb128$", 90, (8, 3)),
    # copies
    (r"^cp\.async\b", 80, (0, 0)),
    (r"^cp\.(reduce\.)?async\.bulk\b", 90, (8, 0)),
    (r"^cp\.async\.bulk\.(tensor\.\dd\.)?shared::cta\.global\b", 90, (8, 6)),
    (r"^cp\.async\.bulk\..*\bcp_mask\b", 90, (8, 6)),
    (r"^(st|red)\.async\b", 90, (8, 1)),
    (r"^multimem\.", 90, (8, 1)),
    (r"^multimem\..*\bacc::f32\b", 90, (8, 2)),
    (r"^tensormap\.replace\b", 901, (8, 3)),
    (r"^tensormap\.cp_fenceproxy\b", 90, (8, 3)),
    # synchronisation
    (r"^match\.", 70, (0, 0)),
    (r"^redux\.", 80, (0, 0)),
    (r"^elect\.", 90, (8, 0)),
    (r"^barrier\.cluster\b", 90, (7, 8)),
    (r"^barrier\.cluster\..*\b(release|relaxed|acquire)\b", 90, (8, 0)),
    (r"^membar\.proxy\b", 60, (0, 0)),
    (r"^fence\b", 70, (0, 0)),
    (r"^fence\.mbarrier_init\b", 90, (8, 0)),
    (r"^fence\.proxy\.async\b", 90, (8, 0)),
    (r"^fence\.proxy\.tensormap\b", 90, (8, 3)),
    (r"\bsync_restrict::", 90, (8, 6)),
    (r"^griddepcontrol\.", 90, (7, 8)),
    (r"^nanosleep\.", 70, (0, 0)),
    (r"^mbarrier\.", 80, (0, 0)),
    (r"^mbarrier\.try_wait\b", 90, (7, 8)),
    (r"^mbarrier\.test_wait\.parity\b", 80, (0, 0)),
    (r"^mbarrier\..*\b(expect_tx|complete_tx|cluster|shared::cluster)\b", 90, (8, 0)),
    (r"^mbarrier\.(arrive|arrive_drop|test_wait|try_wait)\b.*\brelaxed\b", 90, (8, 6)),
    (r"^mbarrier\.(arrive|arrive_drop|test_wait|try_wait)\b.*\b(release|acquire)\b", 80, (8, 0)),
    # matrices
    (r"^(ldmatrix|movmatrix)\.", 75, (0, 0)),
    (r"^stmatrix\.", 90, (7, 8)),
    (r"^mma\.", 70, (0, 0)),
    (r"^mma\.sync\.aligned\.(m16n8k8|m8n8k16|m8n8k32|m8n8k128)\.", 75, (0, 0)),
    (r"^mma\.(?!sync\.aligned\.(m8n8k4\..*f16|m16n8k8\..*\bf16\.f16\.f(16|32)$|m8n8k16|m8n8k32|m8n8k128))", 80, (0, 0)),
    (r"^mma\..*\band\.popc$", 80, (0, 0)),
    (r"^mma\.sp::ordered_metadata\b", 80, (8, 5)),
    (r"^mma\..*\be[45]m[23]\b", 89, (8, 4)),
    (r"^mma\.sync\.aligned\.m16n8k16\..*\be[45]m[23]\b|^mma\.sync\..*\.f16\.e[45]m[23]\b", 89, (8, 7)),
    (r"^mma\.sync\.aligned\.m16n8k(4|8|16)\..*\bf64$", 90, (7, 8)),
    (r"^mma\..*\bm8n8k4\b.*\bf64$", 80, (0, 0)),
    (r"^wmma\.", 70, (0, 0)),
    (r"^wmma\..*\b([us]8|s32)\b", 72, (0, 0)),
    (r"^wmma\..*\b(m8n8k32|m8n8k128)\b", 75, (0, 0)),
    (r"^wmma\..*\band\.popc\b", 80, (0, 0)),
    (r"^wmma\..*\b(bf16|tf32|f64|m16n16k8)\b", 80, (0, 0)),
    (r"^(wgmma|setmaxnreg)\.", 901, (8, 0)),
    (r"^wgmma\.mma_async\.sp\b", 901, (8, 2)),
    (r"^wgmma\..*\b(s8\.u8|u8\.s8)\b", 901, (8, 4)),
)
_COMPILED = tuple((re.compile(pattern), target, version) for pattern, target, version in _RULES)

_SPECIALS: tuple[tuple[str, int, Version], ...] = (
    (r"^%(clusterid|nclusterid|cluster_ctaid|cluster_nctaid|cluster_ctarank|cluster_nctarank|is_explicit_cluster)", 90, (7, 8)),
    (r"^%aggr_smem_size$", 90, (8, 1)),
    (r"^%reserved_smem_offset", 80, (7, 6)),
    (r"^%current_graph_exec$", 50, (8, 0)),
)
_SPECIALS_COMPILED = tuple((re.compile(pattern), target, version) for pattern, target, version in _SPECIALS)

_TARGET = re.compile(r"sm_(\d+)([af]?)$")
_TARGET_VERSIONS: tuple[tuple[int, Version], ...] = (
    (90, (7, 8)),
    (89, (7, 8)),
    (87, (7, 4)),
    (86, (7, 1)),
    (80, (7, 0)),
    (75, (6, 3)),
    (70, (6, 0)),
)


@dataclass(frozen=True)
class Requirement:
    """The least target, as ten times the compute capability and whether the suffix `a` is needed, and the least version."""

    target: int
    suffixed: bool
    version: Version

    @property
    def target_name(self) -> str:
        return f"sm_{self.target}{'a' if self.suffixed else ''}"


def _greatest(text: str, rules: tuple[tuple[re.Pattern[str], int, Version], ...]) -> Requirement:
    target, version = 0, (0, 0)
    for pattern, least, since in rules:
        if (least > target or since > version) and pattern.search(text):
            target, version = max(target, least), max(version, since)
    # 901 stands for sm_90a, above sm_90
    return Requirement(90 if target == 901 else target, target == 901, version)


@cache
def requirement(mnemonic: str) -> Requirement:
    """What an instruction needs."""
    return _greatest(mnemonic, _COMPILED)


@cache
def special_requirement(name: str) -> Requirement:
    """What reading a special register needs."""
    return _greatest(name, _SPECIALS_COMPILED)


@cache
def parsed_target(target: str) -> tuple[int, bool] | None:
    """``sm_90a`` as (90, True); None for other names."""
    match = _TARGET.match(target)
    return (int(match[1]), match[2] != "") if match else None


def target_serves(target: str, need: Requirement) -> bool:
    """Whether a file for `target` may use what needs `need`. A name that is not read here serves all; so does a target beyond Hopper, whose rules are not these."""
    found = parsed_target(target)
    if found is None or found[0] > 90:
        return True
    return found[0] >= need.target and (found[1] or not need.suffixed)


def target_version(target: str) -> Version:
    """The least version that a file's own target asks for."""
    found = parsed_target(target)
    if found is None:
        return (0, 0)
    if found == (90, True):
        return (8, 0)
    return next((version for least, version in _TARGET_VERSIONS if found[0] >= least), (0, 0))
