"""Section 6: the rows of a report become figures by day, against a loop written by hand for each network."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from adsunify.adapter.account import Account
from adsunify.adapter.insights import DatedValues, sum_by_day
from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter

from .loops import DAYS, FIRST, ZONE, load_loop, rows
from .measuring import Result, at_least, at_most, judge_costs, make_loop, profile_work, take_turns
from .processes import process

SECTION = 6
ROWS_TIMED = 5_000
ROWS_STREAMED = 1_000_000
BEARABLE = 64 * 1024  # KiB


def _map(network: str, native: Iterable[Any]) -> DatedValues:
    """The days of figures that the adapter makes of the rows of a report."""
    account = Account(network, "1", "EUR", ZONE)
    paginate = getattr(load_loop(network), "paginate", iter)
    return get_adapter(network).reads.parse_daily_metrics(account, paginate(native), FIRST, FIRST + timedelta(1))


MAPPINGS: dict[str, Callable[[Iterable[Any]], DatedValues]] = {code: partial(_map, code) for code in ADAPTER_PACKAGES}
"""What each adapter makes days of figures with."""


def results(rounds: int) -> Iterator[Result]:
    for network, mapping in MAPPINGS.items():
        yield _measure_mapping(rounds, network, mapping)
    for network in MAPPINGS:
        yield _measure_streaming(network)


def _measure_mapping(rounds: int, network: str, mapping: Callable[[Iterable[Any]], DatedValues]) -> Result:
    native, loop = list(rows(network, ROWS_TIMED)), load_loop(network).parse_days
    if sum_by_day(mapping(native)) != sum_by_day(loop(native)):
        raise RuntimeError(f"the loop for {network} does not say what the adapter says")

    def ours() -> None:
        deque(mapping(native), maxlen=0)

    def by_hand() -> None:
        deque(loop(native), maxlen=0)

    samples = take_turns(rounds, {"ours": make_loop(ours), "loop": make_loop(by_hand)})
    return judge_costs(
        f"insights mapping, {network}",
        "the adapter's mapping, from its tables",
        "a loop written for the network alone",
        samples["ours"],
        samples["loop"],
        at_least(0.85),
        partial(profile_work, ours, 20),
    )


def _measure_streaming(network: str) -> Result:
    """In a process of its own: what its memory grew by at most."""
    with process("reporting", network, core=None) as running:
        grown = running.ready["grown"]
    return judge_costs(
        f"{ROWS_STREAMED:,} report rows streamed, memory, {network}",
        "the most that was held above the base, while rows became the rows of days",
        f"{BEARABLE // 1024} MiB",
        [grown],
        [BEARABLE],
        at_most(1.0),
    )


def stream(network: str, count: int) -> int:
    """So many rows, made one by one, become rows of days; KiB by which the most memory ever held has grown."""
    sum_by_day(MAPPINGS[network](rows(network, 2 * DAYS)))
    Path("/proc/self/clear_refs").write_text("5")  # the peak is counted from now on
    before = _memory("VmRSS")
    figures_by_day = sum_by_day(MAPPINGS[network](rows(network, count)))
    if len(figures_by_day) < DAYS:
        raise RuntimeError(f"{len(figures_by_day)} days of {DAYS}")
    return _memory("VmHWM") - before


def _memory(name: str) -> int:
    """KiB. Linux's own figure: that of ``getrusage`` begins with the peak of the process that started this one."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


if __name__ == "__main__":
    print(f'{{"grown": {stream(sys.argv[1], ROWS_STREAMED)}}}', flush=True)
