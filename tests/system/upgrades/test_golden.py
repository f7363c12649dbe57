"""Databases of every release: this version upgrades each, and finishes every operation that the release left half done.

``golden.py`` wrote them. The simulated networks go on from the state that they had then.
"""

from __future__ import annotations

import asyncio
import gzip
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve, frozen
from sqlalchemy import Boolean, Connection, MetaData, create_engine, insert, select

from adsunify.actor import Actor
from adsunify.errors import AdsunifyError, Conflict, InvalidInput
from adsunify.execution.state import REVIEW_MILLISECONDS
from adsunify.sandbox.server import RunningSandbox, sandbox
from adsunify.service import operations
from adsunify.service.core import Service
from adsunify.service.factory import SECRET_KEYS_VARIABLE, open_service
from adsunify.service.outcomes import resumption, settlement
from adsunify.service.sandbox_workspace import create_sandbox_admin
from adsunify.store import Clock, migrate
from adsunify.store.opening import _make_store
from adsunify.values.exact_json import loads
from tests.databases import LONG_RUN, empty_database

from .golden import DATA
from .worlds import load_worlds

RELEASES = sorted(path.name for path in DATA.iterdir())
SOON = 60_000
"""The milliseconds after which every lease of the release has run out, and no review time has."""
CAN_CONTINUE = ("prepared", "handed-back", "terminated", "rejected", "activation", "resumption")
IS_IN_DOUBT = {"lost": "outcome_unknown", "unreceived": "outcome_unknown", "in-flight": "operation_stalled"}
"""The states in which a write may have been applied, and the code with which an execution is refused."""


@frozen
class Golden:
    """The data of a release, and a database that holds it. ``rows``: see :class:`.golden.Writer`."""

    database: str
    at: int
    keys: str
    rows: list[Mapping[str, Any]]
    worlds: dict[str, Any]

    @asynccontextmanager
    async def open(self, later: int) -> AsyncIterator[Hands]:
        """This version on the database, so many milliseconds after the release left it; networks at the same time."""
        ahead = self.at + later - time.time_ns() // 1_000_000

        def now() -> int:
            return time.time_ns() // 1_000_000 + ahead

        async with sandbox(clock=lambda: datetime.fromtimestamp(now() / 1000, UTC)) as simulated:
            load_worlds(simulated.state, self.worlds)
            environment = {SECRET_KEYS_VARIABLE: self.keys}
            opened = await open_service(
                self.database,
                environment,
                sandbox_url=simulated.url,
                clock=Clock(now),
                allow_unsafe_durability=True,
            )
            try:
                actor, _ = await create_sandbox_admin(opened.service)
                yield Hands(opened.service, actor, simulated)
            finally:
                await opened.service.close()


@frozen
class Hands:
    """This version at work."""

    service: Service
    actor: Actor
    networks: RunningSandbox

    @property
    def write_count(self) -> int:
        """How many writes the networks have applied since this version has opened the database."""
        return len(self.networks.state.write_requests)

    async def show(self, operation_id: str) -> Any:
        return await operations.get_operation(self.service, self.actor, operation_id=operation_id)

    async def execute(self, operation_id: str) -> Any:
        """Execute to the end."""
        while True:
            operation = await operations.execute_operation(
                self.service, self.actor, operation_id=operation_id, confirmed=True
            )
            if operation.get("nextAction") != "execute":
                return operation

    async def refuse(self, operation_id: str) -> str:
        """The code with which an execution is refused; nothing is written."""
        before = self.write_count
        with pytest.raises(AdsunifyError) as refused:
            await self.execute(operation_id)
        assert self.write_count == before, f"{operation_id} was refused, and written"
        return refused.value.code

    async def resume(self, row: Mapping[str, Any], landed: bool) -> str:
        """Prepare the rest of an operation. What no inspection decides, a person does, who knows what ``landed``.

        The person removes an entity that adsunify cannot read, as the refusal says, so that it is written again.
        """
        prepare = partial(
            resumption.resume_operation, self.service, self.actor, operation_id=row["id"], idempotency=None
        )
        try:
            return str((await prepare()).data["id"])
        except Conflict as undecided:
            assert undecided.code == "outcome_undecided"
        step = next(step_ for step_ in (await self.show(row["id"]))["receipt"]["steps"] if step_["state"] != "applied")
        person = evolve(self.actor, credential="session", kind="session", key_id=None)
        settle = partial(settlement.settle_step, self.service, person, operation_id=row["id"], step=step["key"])
        try:
            if landed:
                await settle(verdict="applied", entity_id=row["ids"][-1][0])
        except InvalidInput as unreadable:
            assert [issue.code for issue in unreadable.issues] == ["not_settleable"]
            self._remove(row["network"], row["ids"].pop())
            landed = False
        if not landed:
            await settle(verdict="not_applied")
        return str((await prepare()).data["id"])

    def _remove(self, network: str, ids: Sequence[str]) -> None:
        """Remove entities at a network, as a person does there."""
        world = self.networks.state.worlds[network]
        for entity in [stored for stored in world._stored_entities.values() if stored.id in ids]:
            world.remove(entity)
        world.journal.clear()


@pytest.fixture(params=RELEASES)
def release(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=LONG_RUN)
def golden(request: pytest.FixtureRequest, release: str, tmp_path: Path) -> Golden:
    """The database of a release on each engine."""
    folder = DATA / release
    file = tmp_path / "golden.db"
    file.write_bytes(gzip.decompress((folder / "database.sqlite.gz").read_bytes()))
    facts = loads((folder / "operations.json").read_text())
    worlds = loads(gzip.decompress((folder / "networks.json.gz").read_bytes()))
    database = f"sqlite:///{file}"
    if request.param == "postgresql":
        database = empty_database("postgresql", request, tmp_path)
        asyncio.run(_copy_rows(file, database))
    return Golden(database, facts["at"], facts["keys"], facts["operations"], worlds)


async def _copy_rows(file: Path, database: str) -> None:
    """The rows of a SQLite file in PostgreSQL, in the schema of the release."""
    engine = create_engine(f"sqlite:///{file}")
    with engine.connect() as source:
        version = source.exec_driver_sql("SELECT version_num FROM alembic_version").scalar_one()
        tables = MetaData()
        tables.reflect(source)
        rows = {table.name: source.execute(select(table)).mappings().all() for table in tables.sorted_tables}
    engine.dispose()
    store = _make_store(database, Clock())
    until = [migration for migration in migrate.list_migrations() if migration.version <= version]
    await store.upgrade(partial(migrate.run_migrations, before=migrate.SchemaState(None), migrations=until))

    def copy(connection: Connection) -> None:
        schema = MetaData()
        schema.reflect(connection)
        for table in schema.sorted_tables:
            flags = [column.name for column in table.columns if isinstance(column.type, Boolean)]
            values = [
                {**row, **{name: None if row[name] is None else bool(row[name]) for name in flags}}
                for row in rows[table.name]
            ]
            if values and table.name != "alembic_version":
                connection.execute(insert(table), values)

    await store.write(copy)
    await store.close()


def _state(row: Mapping[str, Any]) -> str:
    return str(row["state"]).rstrip("0123456789").rstrip("-")


def _count_in_doubt(row: Mapping[str, Any]) -> int:
    return int(_state(row) in IS_IN_DOUBT and _state(row) != "unreceived")


def test_the_data_hold_every_step_of_every_network(release: str) -> None:
    """Nothing was left out when the data were written, and they stay small."""
    rows = loads((DATA / release / "operations.json").read_text())["operations"]
    networks = {row["network"] for row in rows}
    assert len(networks) >= 6
    for network in networks:
        own = [row for row in rows if row["network"] == network]
        steps = own[0]["steps"]
        applied = {state: {len(row["ids"]) for row in own if _state(row) == state} for state in map(_state, own)}
        assert applied["prepared"] == {0} and applied["succeeded"] == {steps}
        assert applied.get("handed-back", set()) == set(range(1, steps))
        assert applied["rejected"] == applied["unreceived"] == set(range(steps))
        assert applied["lost"] == applied["in-flight"] == set(range(1, steps + 1))
        assert applied["terminated"] == {1}
    assert sum(path.stat().st_size for path in DATA.rglob("*") if path.is_file()) < 1_000_000


async def test_every_operation_is_finished_once(golden: Golden) -> None:
    """What the release has written stays written once, its receipts stay, and the rest of each plan follows."""
    async with golden.open(SOON) as hands:
        for row in golden.rows:
            before = hands.write_count
            receipts = _list_applied(await hands.show(row["id"]))
            assert len(receipts) == len(row["ids"]) - _count_in_doubt(row) or _state(row) == "resumption", row
            await _finish(hands, row)  # may remove the last write from the row
            later_receipts = _list_applied(await hands.show(row["id"]))
            assert later_receipts[: len(receipts)] == receipts, row
            expected = 0 if _state(row) in ("cancelled", "resumed") else _count_missing(golden, row)
            assert hands.write_count - before == expected, row


def _list_applied(operation: Mapping[str, Any]) -> list[Any]:
    return [step for step in operation["receipt"]["steps"] if step["state"] == "applied"]


def _count_missing(golden: Golden, row: Mapping[str, Any]) -> int:
    """How many writes of the plan were not applied yet, by this operation or by the one that it resumes."""
    resumed = (
        other_row
        for other_row in golden.rows
        if _state(other_row) == "resumed" and other_row["network"] == row["network"]
    )
    done = len(next(resumed)["ids"]) if _state(row) == "resumption" else len(row["ids"])
    return int(row["steps"]) - done


async def _finish(hands: Hands, row: Mapping[str, Any]) -> None:
    """Finish an operation in the way that its state permits."""
    state = _state(row)
    if state in CAN_CONTINUE or state == "succeeded":
        done = await hands.execute(row["id"])
        assert done["status"] == "succeeded", (row, done)
        assert await hands.execute(row["id"]) == done
    elif state in IS_IN_DOUBT:
        assert await hands.refuse(row["id"]) == IS_IN_DOUBT[state], row
        landed = state != "unreceived"
        if len(row["ids"]) == row["steps"]:
            with pytest.raises(InvalidInput) as refused:
                await hands.resume(row, landed)
            assert refused.value.code == "nothing_to_resume", row
            return
        rest = await hands.resume(row, landed)
        assert (await hands.execute(rest))["status"] == "succeeded", row
        assert await hands.refuse(row["id"]) == "already_resumed", row
    else:
        expected = {"cancelled": "operation_cancelled", "resumed": "already_resumed"}[state]
        assert await hands.refuse(row["id"]) == expected, row


async def test_what_has_expired_writes_nothing_and_can_be_resumed(golden: Golden) -> None:
    async with golden.open(REVIEW_MILLISECONDS + SOON) as hands:
        for row in golden.rows:
            if _state(row) not in CAN_CONTINUE or len(row["ids"]) == row["steps"]:
                continue
            assert await hands.refuse(row["id"]) == "operation_expired", row
            operation = await hands.show(row["id"])
            assert operation["expired"] and "nextAction" not in operation, row
            if row["ids"]:
                before = hands.write_count
                rest = await hands.resume(row, landed=False)
                assert (await hands.execute(rest))["status"] == "succeeded", row
                assert hands.write_count - before == _count_missing(golden, row), row
            else:
                await operations.cancel_operation(hands.service, hands.actor, operation_id=row["id"])
