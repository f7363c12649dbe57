"""The clock never runs back, and ids are RFC 9562 version 7 in the order they were made."""

from __future__ import annotations

import asyncio
import os
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adsunify.store import Clock, new_id
from adsunify.store import clock as clock_module
from adsunify.store.clock import MAX_AHEAD_MILLISECONDS

from .world import START, Hands

FAR = 400 * 24 * 60 * 60 * 1000
MOVES = st.lists(st.tuples(st.integers(-(10**7), 10**7), st.integers(0, 10**6)), max_size=30)


@given(MOVES)
def test_the_clock_turns_back_only_from_times_far_ahead_of_the_wall(moves: list[tuple[int, int]]) -> None:
    hands = Hands()
    clock = Clock(lambda: hands.wall, lambda: hands.monotonic)
    before = clock.now()
    for wall, monotonic in moves:
        hands.wall += wall
        hands.monotonic += monotonic
        now = clock.now()
        assert hands.wall <= now <= hands.wall + MAX_AHEAD_MILLISECONDS
        assert now >= before or before > hands.wall + MAX_AHEAD_MILLISECONDS
        assert clock.wall() == hands.wall
        before = now


def test_the_clock_goes_on_while_the_wall_is_set_back_a_little() -> None:
    hands = Hands()
    clock = Clock(lambda: hands.wall, lambda: hands.monotonic)
    hands.pass_(60_000)
    hands.wall -= MAX_AHEAD_MILLISECONDS
    assert clock.now() == START + 60_000
    hands.pass_(1_000)
    assert clock.now() == START + 61_000


@pytest.mark.parametrize("how", ["the wall", "the wall at the start", "a stored time"])
def test_a_time_far_ahead_of_the_wall_is_forgotten(how: str) -> None:
    hands = Hands()
    right = Clock(lambda: hands.wall, lambda: hands.monotonic)
    hands.wall += FAR
    clock = right if how == "the wall" else Clock(lambda: hands.wall, lambda: hands.monotonic)
    assert clock.now() == START + FAR
    hands.wall -= FAR
    if how == "a stored time":
        clock = Clock(lambda: hands.wall, lambda: hands.monotonic)
        clock.observe(START + FAR)
        assert clock.is_ahead(START + FAR) and not clock.is_ahead(START + MAX_AHEAD_MILLISECONDS)
    assert clock.now() == START
    hands.pass_(1)
    assert clock.now() == START + 1


def test_the_clock_is_not_before_what_was_stored() -> None:
    hands = Hands()
    clock = Clock(lambda: hands.wall, lambda: hands.monotonic)
    clock.observe(START + 1_000)
    clock.observe(None)
    assert clock.now() == START + 1_000
    hands.pass_(1)
    assert clock.now() == START + 1_001


def test_the_machine_has_a_clock() -> None:
    clock = Clock()
    first = clock.now()
    assert first > START - 10 * 365 * 86_400_000
    assert first <= clock.now() < first + 60_000


@given(st.lists(st.integers(0, 2**44), min_size=1, max_size=50))
def test_ids_are_uuid_version_7_in_order(times: list[int]) -> None:
    ids = [new_id(at) for at in times]
    assert ids == sorted(set(ids))
    for id_, at in zip(ids, times, strict=True):
        parsed = uuid.UUID(id_)
        assert str(parsed) == id_
        assert (parsed.version, parsed.variant) == (7, uuid.RFC_4122)
        assert parsed.int >> 80 >= at


def test_an_id_tells_its_time() -> None:
    at = uuid.UUID(new_id(2**45)).int >> 80  # later than any id before
    assert uuid.UUID(new_id(at + 5)).int >> 80 == at + 5


def test_many_ids_of_one_moment_stay_ordered_and_differ() -> None:
    ids = [new_id(2**46) for _ in range(20_000)]
    assert ids == sorted(set(ids))


def test_ids_of_threads_differ() -> None:
    async def make_many_ids() -> list[list[str]]:
        return await asyncio.gather(
            *(asyncio.to_thread(lambda: [new_id(2**46) for _ in range(5_000)]) for _ in range(4))
        )

    ids = [id_ for part in asyncio.run(make_many_ids()) for id_ in part]
    assert len(set(ids)) == len(ids)


def test_time_goes_on_after_a_restart_with_the_wall_set_back() -> None:
    """A lease that was taken before the restart runs out although the wall is behind."""
    elapsed = 0
    clock = Clock(wall=lambda: START - MAX_AHEAD_MILLISECONDS + elapsed, monotonic=lambda: elapsed)
    clock.observe(START)
    assert clock.now() == START
    elapsed = 30_000
    assert clock.now() == START + 30_000


def test_a_forked_process_makes_ids_of_its_own() -> None:
    clock_module.get_random_bytes()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, clock_module.get_random_bytes())
        os._exit(0)
    os.waitpid(child, 0)
    theirs = os.read(reading, clock_module.RANDOM_BYTES)
    ours = {clock_module.get_random_bytes() for _ in range(1000)}
    assert len(ours) == 1000
    assert theirs not in ours
