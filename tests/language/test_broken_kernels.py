"""Kernels broken at random: whatever is changed, the outcome is valid IR or an error of the catalogue, never anything else."""

from __future__ import annotations

import ast
import copy
import random
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from language_running import load_text

from fa4dsl.runtime.diagnostics import Fa4dslError

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"
SUBJECTS = {
    "vector_add": "vector_add.bind()",
    "dsmem_rotate": "rotate.bind()",
    "warp_reduction": "row_sums.bind()",
    "tma_ring": "column_sums.bind()",
    "wgmma_gemm": "gemm.bind(n=16)",
}
MUTANTS = 40


def expressions_of(function: ast.FunctionDef) -> list[ast.expr]:
    return [node for statement in function.body for node in ast.walk(statement) if isinstance(node, ast.expr) and hasattr(node, "lineno")]


def replace_node(function: ast.FunctionDef, old: ast.AST, new: ast.AST) -> None:
    class Replacer(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            return new if node is old else super().generic_visit(node)

    function.body = [Replacer().visit(statement) for statement in function.body]


def exchange_expressions(function: ast.FunctionDef, chance: random.Random) -> None:
    found = [node for node in expressions_of(function) if isinstance(getattr(node, "ctx", ast.Load()), ast.Load)]
    old, new = chance.choice(found), copy.deepcopy(chance.choice(found))
    replace_node(function, old, new)


def change_constant(function: ast.FunctionDef, chance: random.Random) -> None:
    found = [node for node in expressions_of(function) if isinstance(node, ast.Constant)]
    if found:
        chance.choice(found).value = chance.choice([0, -1, 1.5, "x", None, True, 10**12, (), 7])


def rename(function: ast.FunctionDef, chance: random.Random) -> None:
    found = [node for node in expressions_of(function) if isinstance(node, ast.Name)]
    chance.choice(found).id = chance.choice([chance.choice(found).id, "nothing", "f32", "len", "block"])


def drop_statement(function: ast.FunctionDef, chance: random.Random) -> None:
    lists = [node.body for node in ast.walk(function) if isinstance(getattr(node, "body", None), list)]
    chosen = chance.choice(lists)
    del chosen[chance.randrange(len(chosen))]
    if not chosen:
        chosen.append(ast.Pass())


def drop_argument(function: ast.FunctionDef, chance: random.Random) -> None:
    found = [node for node in expressions_of(function) if isinstance(node, ast.Call) and node.args]
    if found:
        call = chance.choice(found)
        del call.args[chance.randrange(len(call.args))]


def rename_attribute(function: ast.FunctionDef, chance: random.Random) -> None:
    found = [node for node in expressions_of(function) if isinstance(node, ast.Attribute)]
    if found:
        chance.choice(found).attr = chance.choice(
            ["T", "load", "store", "index", "shape", "on", "wait", "dtype", "type", "elements", "arrive"]
        )


def change_operator(function: ast.FunctionDef, chance: random.Random) -> None:
    found = [node for node in expressions_of(function) if isinstance(node, ast.BinOp)]
    if found:
        chance.choice(found).op = chance.choice(
            [ast.Div(), ast.Mod(), ast.Pow(), ast.LShift(), ast.BitAnd(), ast.MatMult(), ast.FloorDiv()]
        )


def move_statement(function: ast.FunctionDef, chance: random.Random) -> None:
    lists = [node.body for node in ast.walk(function) if isinstance(getattr(node, "body", None), list)]
    source, target = chance.choice(lists), chance.choice(lists)
    statement = copy.deepcopy(chance.choice(source))
    target.insert(chance.randrange(len(target) + 1), statement)


MUTATIONS: tuple[Callable[[ast.FunctionDef, random.Random], None], ...] = (
    exchange_expressions,
    change_constant,
    rename,
    drop_statement,
    drop_argument,
    rename_attribute,
    change_operator,
    move_statement,
)


@pytest.mark.parametrize("name", SUBJECTS)
def test_no_mutant_escapes_the_catalogue(name: str, tmp_path: Path) -> None:
    original = ast.parse((EXAMPLES / f"{name}.py").read_text(encoding="utf-8"))
    outcomes = {"valid": 0, "refused": 0}
    for seed in range(MUTANTS):
        chance = random.Random(f"{name} {seed}")
        tree = copy.deepcopy(original)
        function = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name != "main")
        for _ in range(chance.randint(1, 2)):
            chance.choice(MUTATIONS)(function, chance)
        text = ast.unparse(ast.fix_missing_locations(tree))
        try:
            warnings.simplefilter("ignore", SyntaxWarning)  # Python's own, about calls of numbers and the like
            module = load_text(tmp_path, text)
            traced = eval(SUBJECTS[name], module.__dict__).trace()
            assert traced.module.operation.verify(), text
            outcomes["valid"] += 1
        except Fa4dslError as error:
            assert error.code != "L099", f"{error}\n\n{ast.unparse(function)}"
            assert error.code.startswith(("L", "C")), f"{error}\n\n{ast.unparse(function)}"
            outcomes["refused"] += 1
        except Exception as error:
            raise AssertionError(f"{type(error).__name__}: {error}\n\n{ast.unparse(function)}") from error
    assert outcomes["valid"] > 0, outcomes
    assert outcomes["refused"] > MUTANTS // 4, outcomes
