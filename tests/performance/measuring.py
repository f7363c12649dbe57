"""How a goal is measured: subject and peers in turns within one run, best against best and round against round.

The machine is noisy and its speed drifts, so absolute figures are never compared across rounds. A sample is a cost
(seconds, or bytes, for one unit of work): smaller is better. Goals for rates are ratios of costs turned around.
"""

from __future__ import annotations

import cProfile
import gc
import importlib
import io
import pstats
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any, Literal

from attrs import evolve, frozen

WARM_UP = 1
PROFILE_LINES = 22


@frozen
class Limit:
    """``at_most``: cost of the subject over cost of the peer. ``at_least``: speed of the subject over the peer's."""

    sense: Literal["at_most", "at_least"]
    ratio: float

    def ratio_of(self, subject: float, peer: float) -> float:
        return subject / peer if self.sense == "at_most" else peer / subject

    def holds(self, ratio: float) -> bool:
        return ratio <= self.ratio if self.sense == "at_most" else ratio >= self.ratio

    def __str__(self) -> str:
        return f"{'<=' if self.sense == 'at_most' else '>='} {self.ratio:.2f}"


def at_most(ratio: float) -> Limit:
    return Limit("at_most", ratio)


def at_least(ratio: float) -> Limit:
    return Limit("at_least", ratio)


@frozen
class Result:
    """One goal and what was measured. ``limit`` None: shown without a goal. ``missing``: why it was not measured.

    ``spread``: the smallest and the largest ratio of one round. ``profile``: where the time goes, of a miss.
    """

    name: str
    subject: str
    peer: str
    limit: Limit | None
    best_ratio: float | None = None
    paired_median: float | None = None
    spread: tuple[float, float] | None = None
    missing: str | None = None
    profile: str | None = None

    @property
    def is_met(self) -> bool | None:
        """Whether both ratios meet the goal; None where there is no goal, or nothing was measured."""
        if self.limit is None or self.best_ratio is None or self.paired_median is None:
            return None
        return self.limit.holds(self.best_ratio) and self.limit.holds(self.paired_median)

    def to_json(self) -> dict[str, Any]:
        value: dict[str, Any] = {
            "name": self.name,
            "subject": self.subject,
            "peer": self.peer,
            "best_ratio": _round_ratio(self.best_ratio),
            "paired_median": _round_ratio(self.paired_median),
            "spread": None if self.spread is None else [_round_ratio(ratio) for ratio in self.spread],
            "goal": None if self.limit is None else str(self.limit),
            "met": self.is_met,
        }
        if self.missing is not None:
            value["missing"] = self.missing
        return value


def _round_ratio(ratio: float | None) -> float | None:
    return None if ratio is None else round(ratio, 3)


def judge_costs(
    name: str,
    subject: str,
    peer: str,
    subject_costs: Sequence[float],
    peer_costs: Sequence[float],
    limit: Limit | None,
    explain: Callable[[], str] | None = None,
) -> Result:
    """The result of samples that were taken in turns: the n-th of the subject beside the n-th of the peer.

    ``explain`` is asked for a profile at once where the goal is missed.
    """
    sense = limit or at_most(1.0)
    paired = [
        sense.ratio_of(subject_cost, peer_cost)
        for subject_cost, peer_cost in zip(subject_costs, peer_costs, strict=True)
    ]
    best = sense.ratio_of(min(subject_costs), min(peer_costs))
    result = Result(name, subject, peer, limit, best, statistics.median(paired), (min(paired), max(paired)))
    return evolve(result, profile=explain()) if explain is not None and result.is_met is False else result


def make_unmeasured(name: str, subject: str, peer: str, limit: Limit | None, why: str) -> Result:
    """A goal whose peer is not here."""
    return Result(name, subject, peer, limit, missing=why)


# -- taking turns -------------------------------------------------------------------------------------------------


def take_turns(rounds: int, measured: Mapping[str, Callable[[], float]]) -> dict[str, list[float]]:
    """Samples of each, taken in turns; the order turns round every time, and the first round is dropped."""
    samples: dict[str, list[float]] = {name: [] for name in measured}
    for number in range(WARM_UP + rounds):
        names = list(measured)[:: 1 if number % 2 else -1]
        for name in names:
            cost = measured[name]()
            if number >= WARM_UP:
                samples[name].append(cost)
    return samples


def make_loop(work: Callable[[], object], seconds: float = 0.05) -> Callable[[], float]:
    """A measurement of seconds of this process per call: as many calls as fill ``seconds``, without the collector.

    The time of the process, not of the clock: what else runs on the machine is not counted.
    """
    calls = 1
    while (spent := _time_calls(work, calls)) < seconds / 4:
        calls *= 2
    calls = max(1, int(calls * seconds / spent))
    return lambda: _time_calls(work, calls) / calls


def _time_calls(work: Callable[[], object], calls: int) -> float:
    with _pause_collector():
        before = time.process_time()
        for _ in range(calls):
            work()
        return time.process_time() - before


@contextmanager
def _pause_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


# -- profiles and peers -------------------------------------------------------------------------------------------


def profile_work(work: Callable[[], object], calls: int = 1) -> str:
    """The first lines of a profile of so many calls, by own time: this thread, and those that start during it."""
    here, there = cProfile.Profile(), cProfile.Profile()
    threading.setprofile(lambda *_: there.enable())  # called once in a thread that starts; then ``there`` has its place
    here.enable()
    for _ in range(calls):
        work()
    here.disable()
    threading.setprofile(None)
    stats = pstats.Stats(here)
    there.create_stats()
    if there.stats:
        stats.add(there)
    return _format_stats(stats)


def format_profile(profile: cProfile.Profile) -> str:
    """The first lines of a profile, by own time."""
    return _format_stats(pstats.Stats(profile))


def _format_stats(stats: pstats.Stats) -> str:
    out = io.StringIO()
    stats.stream = out  # type: ignore[attr-defined] # where it prints to
    stats.strip_dirs().sort_stats("tottime").print_stats(PROFILE_LINES)
    lines = [line.rstrip() for line in out.getvalue().splitlines() if line.strip()]
    return "\n".join(line for line in lines if not line.startswith(("   Ordered", "   List")))


def import_peer(name: str) -> ModuleType | None:
    """A peer's module, None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def describe_missing(name: str) -> str:
    return f"{name} is not installed (it belongs to the dependency group bench)"
