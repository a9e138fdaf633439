"""Autotuning: the fastest is chosen, the hopeless given up, failures left out, the choice kept and replayed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from fa4dsl.runtime.autotune import Trial, autotune
from fa4dsl.runtime.cache import Cache
from fa4dsl.runtime.diagnostics import Fa4dslError, fail


@dataclass(frozen=True)
class Config:
    partitions: int


CONFIGS = [Config(2), Config(4), Config(8), Config(16)]
TIMES = {2: 4.0, 4: 2.0, 8: 1.0, 16: 9.0}


def measuring(calls: list[int]) -> Callable[[Config], float]:
    def measure(config: Config) -> float:
        calls.append(config.partitions)
        return TIMES[config.partitions]

    return measure


def test_the_fastest_is_chosen() -> None:
    calls: list[int] = []
    seen: list[tuple[int, int, Trial[Config]]] = []
    tuning = autotune(CONFIGS, measuring(calls), rounds=5, progress=lambda *words: seen.append(words))
    assert tuning.best == Config(8) and not tuning.replayed
    assert [(done, total) for done, total, _ in seen] == [(1, 4), (2, 4), (3, 4), (4, 4)]
    # The last is far slower than the best: two measurements are enough.
    assert calls.count(16) == 2 and calls.count(8) == 5 and tuning.trials[3].stopped


def test_one_slow_first_run_is_no_verdict() -> None:
    times = {2: iter([1.0] * 5), 4: iter([9.0, 0.5, 0.5, 0.5, 0.5])}
    tuning = autotune([Config(2), Config(4)], lambda config: next(times[config.partitions]))
    assert tuning.best == Config(4)


def test_ties_go_to_the_first() -> None:
    assert autotune(CONFIGS, lambda config: 1.0).best == CONFIGS[0]


def test_failures_are_left_out() -> None:
    def measure(config: Config) -> float:
        if config.partitions == 8:
            fail("R065", kernel="k", cluster=8, shared=1, threads=1)
        return TIMES[config.partitions]

    tuning = autotune(CONFIGS, measure)
    assert tuning.best == Config(4) and "R065" in tuning.trials[2].failure


def test_errors() -> None:
    def never_fits(config: Config) -> float:
        fail("R062", kernel="k", cluster=16, problem="too large")

    for code, action in (
        ("R090", lambda: autotune([], lambda config: 1.0)),
        ("R091", lambda: autotune(CONFIGS, never_fits)),
        ("R092", lambda: autotune(CONFIGS, lambda config: float("nan"))),
        ("R092", lambda: autotune(CONFIGS, lambda config: -1.0)),
        ("R092", lambda: autotune(CONFIGS, lambda config: None)),  # type: ignore[arg-type, return-value]
    ):
        with pytest.raises(Fa4dslError) as error:
            action()
        assert error.value.code == code


def test_the_choice_is_kept_for_device_and_shape(tmp_path: Path) -> None:
    calls: list[int] = []
    cache = Cache(tmp_path)
    autotune(CONFIGS, measuring(calls), key=("combine", "H200", 128), cache=cache)
    count = len(calls)
    again = autotune(CONFIGS, measuring(calls), key=("combine", "H200", 128), cache=Cache(tmp_path))
    assert again.best == Config(8) and again.replayed and len(calls) == count
    assert not autotune(CONFIGS, measuring(calls), key=("combine", "H200", 64), cache=cache).replayed
    assert not autotune(CONFIGS[:3], measuring(calls), key=("combine", "H200", 128), cache=cache).replayed


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"config": "Config(partitions=3)"}', '{"config": 5}', "\0"])
def test_damaged_records_are_measured_again(tmp_path: Path, text: str) -> None:
    cache = Cache(tmp_path)
    autotune(CONFIGS, measuring([]), key=("k",), cache=cache)
    (record,) = tmp_path.glob("*.json")
    record.write_text(text)
    tuning = autotune(CONFIGS, measuring([]), key=("k",), cache=cache)
    assert tuning.best == Config(8) and not tuning.replayed
    assert autotune(CONFIGS, measuring([]), key=("k",), cache=cache).replayed


def test_the_default_cache_keeps_it(cache_directory: Path) -> None:
    assert not autotune([{"stages": 2}, {"stages": 3}], lambda config: 1.0 / config["stages"], key=("k",)).replayed
    again = autotune([{"stages": 2}, {"stages": 3}], lambda config: 1.0, key=("k",))
    assert again.replayed and again.best == {"stages": 3}
    assert list(cache_directory.glob("tuning-*.json"))
