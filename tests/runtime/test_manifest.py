"""Manifests: what is written is read back, and nothing else is read."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fa4dsl.runtime import Manifest
from fa4dsl.runtime.diagnostics import Fa4dslError
from fa4dsl.runtime.dtypes import DTYPES
from fa4dsl.runtime.manifest import Parameter, Role, SharedObject, TensorMapTemplate

names = st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True)
texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
dtypes = st.sampled_from(sorted(DTYPES))


@st.composite
def parameters(draw: st.DrawFn) -> Parameter:
    kind = draw(st.sampled_from(["pointer", "scalar", "tensor_map"]))
    template = None
    if kind == "tensor_map" and draw(st.booleans()):
        rank = draw(st.integers(1, 5))
        box = tuple(draw(st.lists(st.integers(1, 256), min_size=rank, max_size=rank)))
        swizzle = draw(st.sampled_from(["none", "32B", "64B", "128B"]))
        template = TensorMapTemplate(
            draw(dtypes), rank, box, swizzle, draw(st.sampled_from(["zero", "nan"])), draw(st.sampled_from(["tiled", "ragged"]))
        )
    access = draw(st.sampled_from(["in", "out", "inout"]))
    return Parameter(draw(names), kind, draw(dtypes), template, access, draw(st.sampled_from([0, 4, 16, 128])), draw(st.booleans()))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 63), (1 << 63) - 1) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)


@st.composite
def manifests(draw: st.DrawFn) -> Manifest:
    shared = tuple(
        SharedObject(
            name,
            "array",
            64 * index,
            32,
            draw(dtypes),
            (8,),
            16,
            overlay=draw(st.none() | names),
            file=draw(texts),
            line=draw(st.integers(0, 99)),
        )
        for index, name in enumerate(draw(st.lists(names, max_size=3)))
    )
    return Manifest(
        name=draw(names),
        entry=draw(names),
        target=draw(st.sampled_from(["sm_90a", "sm_100a", "sm_90"])),
        parameters=tuple(draw(st.lists(parameters(), max_size=4, unique_by=lambda parameter: parameter.name))),
        block=(draw(st.sampled_from([32, 128, 384])), 1, 1),
        cluster=(draw(st.sampled_from([1, 2, 16])), 1, 1),
        dynamic_shared_bytes=1024,
        shared=shared,
        roles=(Role("all", 0, 1, 40),) if draw(st.booleans()) else (),
        named_barriers=draw(st.dictionaries(st.integers(0, 15), texts, max_size=3)),
        registers=draw(st.integers(0, 255)),
        sources=draw(st.dictionaries(texts, texts, max_size=2)),
        options=draw(st.dictionaries(texts, json_values, max_size=3)),
    )


@given(manifests())
def test_round_trip(manifest: Manifest) -> None:
    text = manifest.to_json()
    assert Manifest.from_json(text) == manifest
    assert Manifest.from_json(text).to_json() == text


GOOD = Manifest("kernel", "kernel", "sm_90a", (Parameter("x", "pointer", "f32"),), (128, 1, 1), dynamic_shared_bytes=256)


def changed(**fields: Any) -> dict[str, Any]:
    return {**json.loads(GOOD.to_json()), **fields}


@pytest.mark.parametrize(
    ("value", "where"),
    [
        ([], "the record"),
        (changed(colour="red"), "colour"),
        ({"name": "k"}, "entry"),
        (changed(name=5), "name"),
        (changed(name=""), "name"),
        (changed(name="a\nb"), "name"),
        (changed(name="a\0b"), "name"),
        (changed(entry="k;ret"), "entry"),
        (changed(entry="../k"), "entry"),
        (changed(target="sm90"), "target"),
        (changed(block=[128, 1]), "block"),
        (changed(block=[128, 1, True]), "block[2]"),
        (changed(block=[128.0, 1, 1]), "block[0]"),
        (changed(block=[0, 1, 1]), "block"),
        (changed(block=[1024, 2, 1]), "block"),
        (changed(cluster=[8, 4, 1]), "cluster"),
        (changed(dynamic_shared_bytes=-1), "dynamic_shared_bytes"),
        (changed(dynamic_shared_bytes=1 << 70), "dynamic_shared_bytes"),
        (changed(named_barriers={"x": "a"}), "named_barriers.x"),
        (changed(named_barriers={"01": "a"}), "named_barriers.01"),
        (changed(named_barriers={"99": "a"}), "named_barriers"),
        (changed(sources=[]), "sources"),
        (changed(sources={"a": 1}), "sources.a"),
        (changed(parameters={}), "parameters"),
        (changed(parameters=[{"name": "x", "kind": "register", "dtype": "f32"}]), "parameters[0].kind"),
        (changed(parameters=[{"name": "x", "kind": "pointer", "dtype": "f33"}]), "parameters[0].dtype"),
        (changed(parameters=[{"name": "x y", "kind": "pointer", "dtype": "f32"}]), "parameters[0].name"),
        (changed(parameters=[{"name": "x", "kind": "pointer", "dtype": "f32"}] * 2), "parameters[1].name"),
        (changed(parameters=[{"name": "x", "kind": "pointer", "dtype": "f32", "alignment": 3}]), "parameters[0].alignment"),
        (
            changed(parameters=[{"name": "x", "kind": "pointer", "dtype": "f32", "tensor_map": {"dtype": "f32", "rank": 1, "box": [4]}}]),
            "parameters[0].tensor_map",
        ),
        (
            changed(
                parameters=[{"name": "x", "kind": "tensor_map", "dtype": "f32", "tensor_map": {"dtype": "f32", "rank": 2, "box": [4]}}]
            ),
            "parameters[0].tensor_map.box",
        ),
        (changed(roles=[{"name": "r", "first_warp": 3, "warps": 2}]), "roles[0]"),
    ],
)
def test_malformed(value: Any, where: str) -> None:
    with pytest.raises(Fa4dslError) as error:
        Manifest.from_json(json.dumps(value))
    assert error.value.code == "R008"
    assert error.value.diagnostic.fields["where"] == where


@pytest.mark.parametrize(
    "text", ["", "{", "nul", '{"name": NaN}', '{"name": "a", "name": "b"}', "[" * 100_000, '{"line": ' + "9" * 10_000 + "}", "\ud800"]
)
def test_not_json(text: str) -> None:
    with pytest.raises(Fa4dslError) as error:
        Manifest.from_json(text)
    assert error.value.code == "R008"


def test_shared_objects_lie_inside() -> None:
    item = SharedObject("tile", "array", 200, 100, "f32", (25,), 16)
    with pytest.raises(Fa4dslError) as error:
        Manifest.from_json(replace(GOOD, shared=(item,)).to_json())
    assert error.value.code == "R008" and "'tile' lies at 200..300" in str(error.value)


def test_options_must_be_json() -> None:
    for value in (object(), float("nan")):
        with pytest.raises(Fa4dslError) as error:
            replace(GOOD, options={"a": value}).to_json()
        assert error.value.code == "R008"
