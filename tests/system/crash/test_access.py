"""O15: access is lost before each step of each plan: the next native write is not sent, and what was done is kept."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from attrs import define, field
from sqlalchemy import Connection, update

from adsunify.errors import AdsunifyError, Forbidden
from adsunify.execution.state import StateCommit
from adsunify.service import operations
from adsunify.service.core import Service
from adsunify.store import Clock, Store, connections, encrypted_secrets, keys, people
from adsunify.store.schema import accounts, api_keys
from adsunify.store.schema import connections as connection_rows

from .stage import FORMATS, PLANS, Stage, alternate_engines

Change = Callable[[Connection, Stage, str, Clock], None]
"""A change in the database, made for the stage's actor and an account."""


def _revoke(connection: Connection, stage: Stage, account_id: str, clock: Clock) -> None:
    assert stage.actor.key_id is not None
    keys.revoke_key(connection, stage.actor, stage.actor.key_id, clock)


def _expire(connection: Connection, stage: Stage, account_id: str, clock: Clock) -> None:
    connection.execute(update(api_keys).where(api_keys.c.id == stage.actor.key_id).values(expires_at=clock.now()))


def _remove(connection: Connection, stage: Stage, account_id: str, clock: Clock) -> None:
    people.remove_membership(connection, stage.actor.workspace_id, stage.actor.user_id, clock)


def _lower(connection: Connection, stage: Stage, account_id: str, clock: Clock) -> None:
    people.set_membership(connection, stage.actor.workspace_id, stage.actor.user_id, "viewer", clock)


def _disconnect(connection: Connection, stage: Stage, account_id: str, clock: Clock) -> None:
    account = connections.get_account(connection, stage.actor, account_id)
    connections.disconnect(connection, stage.actor, account.connection_id, clock)


LOSSES: dict[str, Change] = {
    "key revoked": _revoke,
    "key expired": _expire,
    "member removed": _remove,
    "role lowered": _lower,
    "account disconnected": _disconnect,
}


def _give_back(
    connection: Connection, stage: Stage, account_id: str, credentials: dict[str, str], clock: Clock
) -> None:
    actor = stage.actor
    connection.execute(update(api_keys).where(api_keys.c.id == actor.key_id).values(revoked_at=None, expires_at=None))
    people.set_membership(connection, actor.workspace_id, actor.user_id, actor.role, clock)
    through = connections.get_account(connection, actor, account_id).connection_id
    for rows, named in ((accounts, accounts.c.connection_id), (connection_rows, connection_rows.c.id)):
        connection.execute(update(rows).where(named == through).values(status="active"))
    encrypted_secrets.save_secrets(
        connection, connections.SECRETS_TABLE, through, actor.workspace_id, credentials, clock
    )


@define
class LosingStore:
    """A store; just before the commit that carries the intent of step ``at`` (from 0), ``lose`` is done elsewhere."""

    whole: Store
    at: int
    lose: Callable[[], Awaitable[None]]
    lost: int = 0
    clock: Any = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.clock = self.whole.clock

    async def write(self, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        change = args[0] if args else None
        if isinstance(change, StateCommit) and change.intent is not None and change.intent.step_index == self.at:
            self.lost += 1
            await self.lose()
        return await self.whole.write(function, *args, **kwargs)

    async def read(self, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        return await self.whole.read(function, *args, **kwargs)

    async def run_query(self, question: Any) -> Any:
        return await self.whole.run_query(question)


async def _execute_refused(stage: Stage, service: Service, operation_id: str) -> AdsunifyError:
    with pytest.raises(AdsunifyError) as refused:
        await operations.execute_operation(service, stage.actor, operation_id=operation_id, confirmed=True)
    return refused.value


async def _lose_before_step(
    stage: Stage, service: Service, other: Service, operation_id: str, name: str, at: int, account_id: str
) -> None:
    """Execute, lose access before step ``at``, execute again: exactly ``at`` writes, and their receipts are kept."""
    case = f"{name} before step {at}"
    lose = LOSSES[name]

    async def lose_access() -> None:
        await other.store.write(lose, stage, account_id, other.store.clock)

    before, whole = len(stage.list_writes()), service.store
    losing = LosingStore(whole, at, lose_access)
    service.store = losing  # type: ignore[assignment]  # what a store does, and no more, is asked of it
    try:
        first = await _execute_refused(stage, service, operation_id)
    finally:
        service.store = whole
    assert losing.lost == 1, f"{case}: the case did not happen"
    assert len(stage.list_writes()) - before == at, f"{case}: written after the access was lost"
    assert isinstance(first, Forbidden) and (first.status, first.code) == (403, "access_lost"), f"{case}: {first.code}"
    operation_data = await stage.read_operation(service, operation_id)
    assert (operation_data["status"], operation_data["stalled"], operation_data.get("nextAction")) == (
        "prepared",
        False,
        None,
    ), case
    assert first.operation_data == operation_data, case
    assert at == 0 or operation_data["error"]["code"] == "access_lost", case
    receipts = [(step["key"], step["state"]) for step in operation_data["receipt"]["steps"]]
    assert receipts == [(step["key"], "applied") for step in operation_data["plan"]["steps"][:at]], case

    again = await _execute_refused(stage, service, operation_id)
    codes = {"access_lost", "account_disconnected"} if name == "account disconnected" else {"access_lost"}
    assert again.code in codes, f"{case}: {again.code}"
    assert len(stage.list_writes()) - before == at, f"{case}: the second execution has written"
    assert await stage.read_operation(service, operation_id) == operation_data, case


@pytest.mark.parametrize(("engine", "name", "action"), alternate_engines(PLANS))
async def test_access_lost_before_each_step(stage: Stage, name: str, action: str) -> None:
    account_id = stage.accounts[name.split("-")[0]]["accountId"]
    async with stage.service() as service, stage.service() as other:
        source = await stage.source(service, FORMATS[name][0], action)
        before = len(stage.list_writes())
        clean_id = await source()
        await stage.execute(service, clean_id)
        clean = [write.what for write in stage.list_writes()[before:]]
        steps = len((await stage.read_operation(service, clean_id))["plan"]["steps"])
        assert len(clean) == steps
        through = (await service.store.read(connections.get_account, stage.actor, account_id)).connection_id
        credentials = await service.store.read(encrypted_secrets.get_secrets, connections.SECRETS_TABLE, through)
        assert credentials
        for loss in LOSSES:
            for at in range(steps):
                before = len(stage.list_writes())
                operation_id = await source()
                await _lose_before_step(stage, service, other, operation_id, loss, at, account_id)
                await other.store.write(_give_back, stage, account_id, credentials, other.store.clock)
                # only the access was missing: with it back, a deliberate execution does the rest and repeats nothing
                assert (await stage.execute(service, operation_id))["status"] == "succeeded"
                assert [write.what for write in stage.list_writes()[before:]] == clean, f"{loss} before step {at}"
