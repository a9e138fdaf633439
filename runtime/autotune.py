"""Autotuning: the fastest of several configurations, measured once for each device and shape.

The measuring function is the caller's: CUDA events, a graph replay, or the simulator's modelled time. What is kept is small JSON beside the compiled
kernels, so a second process finds the choice; a kept record can be replayed instead of measured, which makes a run deterministic.
"""

from __future__ import annotations

import hashlib
import json
import math
import statistics
from collections.abc import Callable, Hashable, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from fa4dsl.runtime.diagnostics import Fa4dslError, fail

if TYPE_CHECKING:
    from fa4dsl.runtime.cache import Cache

Config = TypeVar("Config")

ROUNDS = 5
STOP_FACTOR = 1.5


@dataclass(frozen=True)
class Trial(Generic[Config]):
    """One configuration's measurements in seconds; `failure` where it could not be measured; `stopped` where it was given up as clearly slower."""

    config: Config
    seconds: tuple[float, ...]
    failure: str = ""
    stopped: bool = False

    @property
    def median(self) -> float:
        return statistics.median(self.seconds) if self.seconds else math.inf


@dataclass(frozen=True)
class Tuning(Generic[Config]):
    """The choice and what it rests on. `replayed`: taken from a kept record, nothing was measured."""

    best: Config
    trials: tuple[Trial[Config], ...]
    replayed: bool = False


def autotune(
    configs: Sequence[Config],
    measure: Callable[[Config], float],
    *,
    rounds: int = ROUNDS,
    stop_factor: float = STOP_FACTOR,
    key: Sequence[Hashable] | None = None,
    cache: Cache | None = None,
    progress: Callable[[int, int, Trial[Config]], None] | None = None,
) -> Tuning[Config]:
    """Measures each configuration `rounds` times and returns the one with the least median.

    `measure(config)` returns seconds; a catalogued error in it (too much shared memory, a cluster that does not fit) leaves the configuration out.
    A configuration whose first measurements are `stop_factor` times the best median so far is given up. `key`: what the choice depends on, such as
    kernel, device name and shape; with it the choice is kept in `cache` (by default the one on disk) and found again. `progress(done, total, trial)`
    is called after each configuration. Ties go to the earlier configuration, so equal measurements give equal choices.

    Raises R090 without configurations, R091 if all failed, R092 if a measurement is no time.
    """
    if not configs:
        fail("R090")
    texts = [_text(config) for config in configs]
    name = _record_name(key, texts) if key is not None else None
    if name is not None:
        if cache is None:
            from fa4dsl.runtime.cache import default_cache

            cache = default_cache()
        kept = _kept(cache.read_record(name), texts)
        if kept is not None:
            return Tuning(configs[kept], (), replayed=True)
    trials: list[Trial[Config]] = []
    best = math.inf
    for number, config in enumerate(configs, 1):
        trial = _try(config, measure, rounds, best * stop_factor)
        if not trial.stopped:
            best = min(best, trial.median)
        trials.append(trial)
        if progress is not None:
            progress(number, len(configs), trial)
    measured = [trial for trial in trials if trial.seconds and not trial.stopped]
    if not measured:
        reasons = "; ".join(f"{_text(trial.config)}: {trial.failure.splitlines()[0]}" for trial in trials)
        fail("R091", count=len(configs), reasons=reasons)
    chosen = min(measured, key=lambda trial: trial.median)
    if name is not None and cache is not None:
        record = {"config": _text(chosen.config), "seconds": chosen.median, "configs": texts}
        cache.write_record(name, json.dumps(record, sort_keys=True))
    return Tuning(chosen.config, tuple(trials))


def _try(config: Config, measure: Callable[[Config], float], rounds: int, limit: float) -> Trial[Config]:
    seconds: list[float] = []
    for number in range(max(rounds, 1)):
        try:
            value = measure(config)
        except Fa4dslError as error:
            return Trial(config, tuple(seconds[:0]), failure=str(error))
        if not isinstance(value, (int, float)) or not math.isfinite(value) or value < 0:
            fail("R092", config=_text(config), got=repr(value))
        seconds.append(float(value))
        # The first run of a kernel may be cold; two in a row beyond the limit are no accident.
        if number >= 1 and min(seconds) > limit:
            return Trial(config, tuple(seconds), stopped=True)
    return Trial(config, tuple(seconds))


def _text(config: Any) -> str:
    """A configuration as text that is equal for equal ones, in every process."""
    if is_dataclass(config) and not isinstance(config, type):
        return f"{type(config).__name__}({', '.join(f'{name}={value!r}' for name, value in asdict(config).items())})"
    if isinstance(config, dict):
        return json.dumps(config, sort_keys=True, default=repr)
    return repr(config)


def _record_name(key: Sequence[Hashable], texts: Sequence[str]) -> str:
    from fa4dsl.runtime.version import version

    return "tuning-" + hashlib.sha256("\0".join([version(), *map(repr, key), "", *texts]).encode()).hexdigest()


def _kept(record: str | None, texts: Sequence[str]) -> int | None:
    """The configuration that a kept record names; None where there is none or it does not fit, and measuring starts anew."""
    if record is None:
        return None
    try:
        value = json.loads(record)
        return texts.index(value["config"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
