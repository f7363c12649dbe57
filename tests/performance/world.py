"""What is stored before a benchmark begins: a workspace, an admin's key, a connected account, prepared operations."""

from __future__ import annotations

import os
from collections.abc import Sequence

from attrs import frozen

from adsunify.actor import Actor
from adsunify.adapter.oauth import Credentials
from adsunify.encryption import make_key_ring
from adsunify.http.messages import Request
from adsunify.plans.records import Binding, Output, Plan, Step, make_plan
from adsunify.service import api_keys
from adsunify.service.core import Service
from adsunify.service.factory import READS_VARIABLE, SECRET_KEYS_VARIABLE, WRITES_VARIABLE, open_service
from adsunify.service.network_session import CREDENTIALS_FIELD, encrypt_credentials
from adsunify.service.tokens import hash_token
from adsunify.store import connections, keys, new_id, operations, people
from adsunify.store.connections import AccountRecord, DiscoveredAccountRow
from adsunify.store.operations import OperationDraft

from .preparing import make_account

# set for the processes that this one starts, too: they open the same database
ENVIRONMENT = {
    SECRET_KEYS_VARIABLE: os.environ.setdefault(SECRET_KEYS_VARIABLE, make_key_ring().to_text()),
    READS_VARIABLE: "0",
    WRITES_VARIABLE: "0",
}
NETWORK = "meta"
NATIVE_ACCOUNT_ID = make_account(NETWORK).native_id
STEPS = 5


@frozen
class World:
    """An open service with one workspace and one account on :data:`NETWORK`; ``secret`` is the admin's API key."""

    service: Service
    actor: Actor
    account: AccountRecord
    secret: str

    async def prepare_operations(self, plans: Sequence[Plan]) -> tuple[str, ...]:
        """The ids of operations with these plans."""
        drafts = [OperationDraft(self.account.id, plan) for plan in plans]
        prepared = await self.service.store.write(
            operations.prepare_operations, self.actor, drafts, self.service.store.clock
        )
        return prepared.operation_ids


async def open_bench_service(database: str, sandbox_url: str | None = None) -> Service:
    """The service over a database, as the server opens it."""
    return (await open_service(database, ENVIRONMENT, sandbox_url=sandbox_url)).service


async def make_world(service: Service, name: str = "performance") -> World:
    """A new workspace in an open service."""
    store, clock = service.store, service.store.clock
    home = await store.write(people.ensure_workspace, name, clock)
    person = await store.write(people.ensure_user, "performance@shop.example", clock)
    await store.write(people.set_membership, home.id, person.id, "admin", clock)
    prefix, secret = api_keys.make_api_key()
    key = await store.write(
        keys.create_key, home.id, person.id, "performance", prefix, hash_token(secret), True, None, clock
    )
    actor = Actor(home.id, person.id, key.id, "admin", True, "key", key.id)
    connection_id = new_id(clock.now())
    sealed = encrypt_credentials(service, home.id, connection_id, Credentials("EAAB-token"))
    discovered = DiscoveredAccountRow(NATIVE_ACCOUNT_ID, "Shop", "USD", "America/New_York", "ACTIVE")
    connected = await store.write(
        connections.save_connection,
        actor,
        connection_id,
        NETWORK,
        [discovered],
        {CREDENTIALS_FIELD: sealed},
        None,
        clock,
    )
    return World(service, actor, connected[0], secret)


def chain(steps: int = STEPS) -> Plan:
    """A plan of creates, each of which needs the id that the one before it brings."""
    made_steps = []
    for number in range(steps):
        body = {"name": f"Garden chairs {number}", "status": "PAUSED", "targeting": {"countries": ["US", "CA"]}}
        request = Request(
            "POST",
            "https://graph.facebook.com/v26.0/{account}/things",
            {"account": NATIVE_ACCOUNT_ID},
            body=body,
            encoding="form_json",
            kind="write",
        )
        bindings = (Binding("/body/parent_id", f"step{number - 1}", "id"),) if number else ()
        outputs = (Output("id", ("/body/id",), is_text_only=True),)
        made_steps.append(
            Step(f"step{number}", "campaign", "Create it, paused.", request, bindings=bindings, outputs=outputs)
        )
    return make_plan(NETWORK, "create", NATIVE_ACCOUNT_ID, made_steps)
