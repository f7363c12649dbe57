"""The parts of a run that say what happens and what is wrong. The run itself is ``nox -s chaos``."""

from __future__ import annotations

import signal
from itertools import islice
from typing import Any

import pytest

from .fleet import FEWEST_SAMPLES, MORE_BYTES, MORE_FILES, Life, Sample
from .schedule import DATABASE, VICTIMS, plan_kills
from .verification import compare_deliveries, compare_writes

FIRST, SECOND = ("meta", "POST", "/campaigns", b"name=1"), ("meta", "POST", "/campaigns", b"name=2")
APPLIED = {"network": "meta", "operation_id": "1", "key": "campaign", "state": "applied", "has_receipt": True}


def test_a_seed_gives_the_same_kills_again() -> None:
    kills = list(islice(plan_kills(7), 4 * len(VICTIMS)))
    assert kills == list(islice(plan_kills(7), len(kills)))
    assert kills != list(islice(plan_kills(8), len(kills)))
    for first in range(0, len(kills), len(VICTIMS)):
        assert {kill.victim for kill in kills[first : first + len(VICTIMS)]} == set(VICTIMS)
    for victim in VICTIMS:
        polite = signal.SIGINT if victim == DATABASE else signal.SIGTERM
        assert [kill.signal for kill in kills if kill.victim == victim] == [signal.SIGKILL, polite] * 2
    assert all(5 <= kill.pause <= 40 for kill in kills)


@pytest.mark.parametrize(
    ("writes", "changes", "is_fine"),
    [
        pytest.param([FIRST], {}, True, id="with a receipt"),
        pytest.param([FIRST], {"state": "in_flight", "has_receipt": False}, True, id="in doubt, and applied"),
        pytest.param([], {"state": "in_flight", "has_receipt": False}, True, id="in doubt, and not applied"),
        pytest.param([FIRST], {"state": "ambiguous", "verdict": "applied"}, True, id="inspected"),
        pytest.param([FIRST, FIRST], {}, False, id="written twice"),
        pytest.param([FIRST, SECOND], {}, False, id="nobody knows of the second write"),
        pytest.param([], {}, False, id="a receipt of nothing"),
        pytest.param([FIRST], {"has_receipt": False}, False, id="a lost receipt"),
        pytest.param([FIRST], {"state": "ambiguous", "verdict": "not_applied"}, False, id="a wrong verdict"),
    ],
)
def test_writes_are_held_against_the_record(
    writes: list[tuple[Any, ...]], changes: dict[str, Any], is_fine: bool
) -> None:
    _, failures = compare_writes(writes, [{**APPLIED, "verdict": None, **changes}])
    assert (failures == []) == is_fine


@pytest.mark.parametrize(
    ("status", "has_arrived", "is_fine"),
    [
        ("succeeded", True, True),
        ("pending", False, True),
        ("succeeded", False, False),
        ("failed", True, False),
        (None, True, False),
    ],
)
def test_events_are_held_against_the_arrivals(status: str | None, has_arrived: bool, is_fine: bool) -> None:
    known = {} if status is None else {("hook", "event"): status}
    accepted = {("/first", "event")} if has_arrived else set[tuple[str, str]]()
    assert (compare_deliveries(["event"], {"hook": "/first"}, known, accepted) == []) == is_fine


def test_two_quarters_of_a_life_are_compared() -> None:
    life = Life("server 1", [Sample(1, 1)] * (FEWEST_SAMPLES - 1))
    assert life.compare() is None
    life.samples.append(Sample(1, 1))
    assert life.compare() == (Sample(1, 1), Sample(1, 1)) and not life.is_growing
    for grown in (Sample(2 + MORE_BYTES, 1), Sample(1, 2 + MORE_FILES)):
        life.samples[-(FEWEST_SAMPLES // 4) :] = [grown] * (FEWEST_SAMPLES // 4)
        assert life.is_growing
