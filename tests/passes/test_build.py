"""The builder makes what the table says, and refuses everything else with the author's line."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

mlir = pytest.importorskip("mlir.ir")

from fa4dsl.passes.dialect.build import op  # noqa: E402
from fa4dsl.passes.dialect.definition import load, new_context  # noqa: E402
from fa4dsl.runtime.diagnostics import Fa4dslError  # noqa: E402


@pytest.fixture
def values() -> Iterator[dict[str, object]]:
    """An insertion point at kernel.py:7:5, an array, a barrier and an i32."""
    context = new_context()
    with context, mlir.Location.file("kernel.py", 7, 5):
        module = mlir.Module.create()
        with mlir.InsertionPoint(module.body):
            array = op("shared_alloc", [], {"name": "a", "dtype": "f32", "shape": [4], "alignment": 16, "swizzle": "none"})
            barrier = op("mbarrier_alloc", [], {"name": "b", "count": 1, "arrivals": 1, "scope": "cta"})
            rank = op("index", [], {"what": "cluster.rank"})
            yield {"array": array, "barrier": barrier, "i": rank, "module": module}


def test_infers_results_and_converts_attributes(values: dict[str, object]) -> None:
    address = op("shared_address", [values["array"], values["i"]])
    assert str(address.result.type) == "!llvm.ptr<3>"
    loaded = op("load", [address], {"order": "acquire", "scope": "cta"}, ["vector<4xf32>"])
    assert str(loaded.result.type) == "vector<4xf32>"
    assert str(values["array"].attributes["shape"]) == "array<i64: 4>"
    assert values["module"].operation.verify()


def test_mixed_operands_of_inline_ptx(values: dict[str, object]) -> None:
    address = op("shared_address", [values["array"], values["i"]])
    made = op("inline_ptx", [address, values["i"]], {"text": "nop;", "constraints": "=r,=f,r,r", "pure": True}, ["i32", "f32"])
    assert [str(result.type) for result in made.results] == ["i32", "f32"]
    assert values["module"].operation.verify()


@pytest.mark.parametrize(
    ("code", "arguments"),
    [
        ("C003", ("mbarier_arrive", [], {})),
        ("C004", ("mbarrier_arrive", ["barrier", "i"], {"count": 1, "order": "release"})),
        ("C004", ("mbarrier_arrive", ["barrier", "i"], {"count": 1, "order": "release", "scope": "cta", "scop": "cta"})),
        ("C005", ("mbarrier_arrive", ["barrier", "i"], {"count": True, "order": "release", "scope": "cta"})),
        ("C005", ("bulk_wait", [], {"pending": 0, "read": 1})),
        ("C006", ("mbarrier_arrive", ["barrier"], {"count": 1, "order": "release", "scope": "cta"})),
        ("C006", ("shuffle", ["i", "i"], {"mode": "idx", "width": 32})),
        ("C007", ("mbarrier_arrive", ["i", "i"], {"count": 1, "order": "release", "scope": "cta"})),
        ("C008", ("mbarrier_arrive", ["barrier", "i"], {"count": 0, "order": "release", "scope": "cta"})),
        ("C008", ("index", [], {"what": "thread.w"})),
    ],
)
def test_refuses(values: dict[str, object], code: str, arguments: tuple[str, list[str], dict[str, object]]) -> None:
    name, operands, attributes = arguments
    with pytest.raises(Fa4dslError) as caught:
        op(name, [values[operand] for operand in operands], attributes)
    assert caught.value.code == code
    place = caught.value.diagnostic.frames[0].location
    assert (place.file, place.line, place.column) == ("kernel.py", 7, 5)


def test_suggests_the_right_name(values: dict[str, object]) -> None:
    with pytest.raises(Fa4dslError, match=r"did you mean fa4\.mbarrier_arrive"):
        op("mbarier_arrive")


def test_too_many_mixed_operands(values: dict[str, object]) -> None:
    with pytest.raises(Fa4dslError, match="at most 24"):
        op("inline_ptx", [values["i"]] * 25, {"text": "", "constraints": "", "pure": True}, [])


def test_loading_twice_does_no_harm() -> None:
    context = new_context()
    load(context)
    with context:
        assert str(mlir.Type.parse("!fa4.shared")) == "!fa4.shared"
