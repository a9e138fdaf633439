"""lower-roles: neighbouring role regions become one if / else-if chain over the warp index, each with its register budget at its head.

Whether a budget grows or shrinks is decided against the registers that a thread has at launch: `fa4.max_registers` where the
author gave one, else what fits the SM's register file at the launch bounds, floor(registers / (threads * blocks per SM)) rounded
down to a multiple of 8 and capped at 256 (255 usable, allocated as 256). That is also what ptxas compiles the entry for when
setmaxnreg is used, so a kernel with budgets gets `fa4.min_blocks = 1` where it has none: ptxas ignores setmaxnreg without it.

setmaxnreg acts on a whole warpgroup, so all four warps of each warpgroup must run roles of one budget. The sum over all warps
must fit what the launch allocated, or an increase would wait for ever.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fa4dsl.passes.kernel import KernelInfo, kernels, role_of, walk
from fa4dsl.passes.locations import operation_frames
from fa4dsl.passes.rewriting import Rewriter
from fa4dsl.passes.target import Target, target_of
from fa4dsl.runtime.diagnostics import Diagnostic, Fa4dslError, diagnostic
from fa4dsl.runtime.manifest import Role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlir import ir

_BETWEEN = ("arith.constant",)
"""Operations that may stand between two roles of one chain: they are moved before it."""


def lower_roles(module: ir.Module) -> None:
    """Raises C030 to C034 for roles that overlap, leave the CTA, or whose budgets cannot be."""
    target = target_of(module)
    for function in kernels(module):
        regions = [item for item in walk(function) if role_of(item) is not None]
        if not regions:
            continue
        roles = [(item, role) for item in regions if (role := role_of(item)) is not None]
        found = check_roles(function, target, regions)
        if found:
            raise Fa4dslError(*found)
        launch = launch_registers(KernelInfo.of(function), target)
        _write(function, [role for _, role in roles])
        current = dict.fromkeys(range(KernelInfo.of(function).threads // 32), launch)
        for chain in _chains(regions):
            _lower_chain(chain, current)


def launch_registers(info: KernelInfo, target: Target) -> int:
    """Registers allocated to each thread at launch when the kernel uses setmaxnreg."""
    fitting = target.registers_per_sm // (info.threads * max(info.min_blocks, 1))
    fitting -= fitting % target.register_step
    limit = min(fitting, target.maximum_role_registers)
    if info.max_registers:
        wanted = -(-info.max_registers // target.register_step) * target.register_step
        limit = min(limit, wanted)
    return limit


def roles_of(function: ir.Operation) -> tuple[Role, ...]:
    """A kernel's roles, before this pass (from the regions) or after it (from the attribute that it leaves)."""
    from fa4dsl.passes.kernel import plain_value

    if "fa4.roles" in function.attributes:
        return tuple(Role(**item) for item in plain_value(function.attributes["fa4.roles"]))
    found: dict[str, Role] = {}
    for item in walk(function):
        role = role_of(item)
        if role is not None:
            found.setdefault(role.name, role)
    return tuple(found.values())


def _write(function: ir.Operation, roles: list[Role]) -> None:
    from mlir import ir

    unique = {role.name: role for role in roles}
    texts = [
        f'{{name = "{role.name}", first_warp = {role.first_warp}, warps = {role.warps}, registers = {role.registers}}}'
        for role in unique.values()
    ]
    function.attributes["fa4.roles"] = ir.Attribute.parse(f"[{', '.join(texts)}]")
    if any(role.registers for role in roles) and "fa4.min_blocks" not in function.attributes:
        function.attributes["fa4.min_blocks"] = ir.Attribute.parse("1 : i32")


def check_roles(function: ir.Operation, target: Target, regions: Sequence[ir.Operation]) -> list[Diagnostic]:
    """C022, C030 and C031 about the warps of the roles among `regions`; where those are right, C032 to C034 about their register budgets."""
    roles = [(item, role) for item in regions if (role := role_of(item)) is not None]
    if not roles:
        return []
    info = KernelInfo.of(function)
    return _check_warps(info, roles) or _check_budgets(info, roles, target, launch_registers(info, target))


def _check_warps(info: KernelInfo, roles: list[tuple[ir.Operation, Role]]) -> list[Diagnostic]:
    available = info.threads // 32
    if info.threads % 32:
        return [diagnostic("C022", *operation_frames(roles[0][0]), threads=info.threads)]
    found = []
    for operation, role in roles:
        if role.warps < 1 or role.first_warp < 0 or role.first_warp + role.warps > available:
            last = role.first_warp + role.warps - 1
            found.append(
                diagnostic("C030", *operation_frames(operation), role=role.name, first=role.first_warp, last=last, warps=available)
            )
    for chain in _chains([item for item, _ in roles]):
        for i, first in enumerate(chain):
            for second in chain[i + 1 :]:
                a, b = role_of(first), role_of(second)
                assert a is not None and b is not None
                shared = set(_warps(a)) & set(_warps(b))
                if shared:
                    frames = (*operation_frames(first, a.name), *operation_frames(second, b.name))
                    words = ", ".join(map(str, sorted(shared)))
                    found.append(diagnostic("C031", *frames, first=a.name, second=b.name, warps=words))
    return found


def _warps(role: Role) -> range:
    return range(role.first_warp, role.first_warp + role.warps)


def _check_budgets(info: KernelInfo, roles: list[tuple[ir.Operation, Role]], target: Target, launch: int) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    budget: dict[int, tuple[int, ir.Operation, Role]] = {}
    for operation, role in roles:
        for warp in _warps(role):
            budget.setdefault(warp, (role.registers, operation, role))
        low, high, step = target.minimum_role_registers, target.maximum_role_registers, target.register_step
        if role.registers and (not low <= role.registers <= high or role.registers % step):
            words: dict[str, Any] = {"role": role.name, "registers": role.registers, "low": low, "high": high, "step": step}
            found.append(diagnostic("C032", *operation_frames(operation), **words))
    if found or not any(registers for registers, _, _ in budget.values()):
        return found
    told: set[str] = set()
    group_size = target.warpgroup_warps
    for warp, (registers, operation, role) in budget.items():
        if not registers or registers == launch:
            continue
        group = range(warp - warp % group_size, warp - warp % group_size + group_size)
        others = {budget[other][0] if other in budget else 0 for other in group}
        if others != {registers} and role.name not in told:
            told.add(role.name)
            listed = ", ".join(f"warp {other}: {(budget[other][0] if other in budget else 0) or 'none'}" for other in group)
            found.append(diagnostic("C033", *operation_frames(operation), role=role.name, registers=registers, listed=listed))
    total = sum(32 * ((budget[warp][0] if warp in budget else 0) or launch) for warp in range(info.threads // 32))
    pool = launch * info.threads
    if total > pool and not found:
        listed = ", ".join(
            dict.fromkeys(f"{role.name} {role.warps} x 32 x {registers or launch}" for registers, _, role in budget.values())
        )
        first = next(iter(budget.values()))[1]
        words = {"total": f"{total:,}", "pool": f"{pool:,}", "launch": launch, "threads": info.threads, "listed": listed}
        found.append(diagnostic("C034", *operation_frames(first), **words))
    return found


def _chains(regions: list[ir.Operation]) -> list[list[ir.Operation]]:
    """Role regions that follow each other in one block, with nothing but constants between them.

    Of a chain a warp executes one region, so another block of a role that is in it begins the next chain.
    """
    chains: list[list[ir.Operation]] = []
    for operation in regions:
        if chains and _follows(chains[-1][-1], operation) and not any(_same_role(item, operation) for item in chains[-1]):
            chains[-1].append(operation)
        else:
            chains.append([operation])
    return chains


def _same_role(first: ir.Operation, second: ir.Operation) -> bool:
    a, b = role_of(first), role_of(second)
    return a is not None and b is not None and (a.name, a.first_warp, a.warps) == (b.name, b.first_warp, b.warps)


def _follows(first: ir.Operation, second: ir.Operation) -> bool:
    if first.block != second.block:
        return False
    siblings = [item.operation for item in first.block]
    between = siblings[siblings.index(first) + 1 : siblings.index(second)] if second in siblings else []
    return siblings.index(first) < siblings.index(second) and all(item.name in _BETWEEN for item in between)


def _lower_chain(chain: list[ir.Operation], current: dict[int, int]) -> None:
    """`current` is each warp's register count, which the chain's roles change."""
    from mlir import ir

    head = Rewriter(chain[0])
    for operation in chain[1:]:
        siblings = [item.operation for item in operation.block]
        for item in siblings[siblings.index(chain[0]) : siblings.index(operation)]:
            if item.name in _BETWEEN:
                item.move_before(chain[0])
    warp = head.value("fa4.index", [], "i32", what='"warp"')
    for position, operation in enumerate(chain):
        role = role_of(operation)
        assert role is not None
        head.location = operation.location
        inside = _in_role(head, warp, role)
        made = head.create("scf.if", [inside], [], regions=2)
        made.attributes["fa4.role"] = operation.attributes["fa4.role"]
        block = operation.regions[0].blocks[0]
        block.append_to(made.regions[0])
        before = current[role.first_warp]
        if role.registers and role.registers != before:
            begin = Rewriter(operation, ir.InsertionPoint.at_block_begin(made.regions[0].blocks[0]))
            direction = "increase" if role.registers > before else "decrease"
            begin.create("fa4.set_max_registers", count=f"{role.registers} : i64", direction=f'"{direction}"')
            current.update(dict.fromkeys(_warps(role), role.registers))
        if position + 1 < len(chain):
            block = made.regions[1].blocks.append()
            with head.inside(block):
                end = head.create("scf.yield")
            head.ip = ir.InsertionPoint(end)
    for operation in chain:
        operation.erase()


def _in_role(rewriter: Rewriter, warp: ir.Value, role: Role) -> ir.Value:
    """first <= warp < first + warps as one unsigned comparison."""
    if role.warps == 1:
        return rewriter.compare(0, warp, rewriter.constant(role.first_warp))
    offset = warp
    if role.first_warp:
        offset = rewriter.value("arith.subi", [warp, rewriter.constant(role.first_warp)], "i32")
    return rewriter.compare(6, offset, rewriter.constant(role.warps))
