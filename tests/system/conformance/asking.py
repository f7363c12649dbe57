"""How a row of the contract is asked: the address and body of a call, and something real for each id it takes."""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from attrs import define, evolve, field

from adsunify.contract import ENDPOINTS
from tests.networks.samples import get_samples
from tests.server.served import NEVER, Caller, Served, brief, connect
from tests.server.test_oauth import agent

from .spec import KINDS, Row

OPERATION_IDS = {f"{endpoint.method} {endpoint.path}": endpoint.operation_id for endpoint in ENDPOINTS}
_numbers = itertools.count(1)


def address(row: Row, ids: Mapping[str, str]) -> str:
    """The path with these ids, and with ids of nothing in the other places."""
    values = {"network": "meta", "resource": "pages", "entityId": "1"} | dict(ids)
    return re.sub(r"\{(\w+)\}", lambda match: values.get(match[1], NEVER), row.path)


def example(row: Row) -> dict[str, Any] | None:
    """A body that is accepted, with ids of nothing."""
    return None if row.body is None else dict(row.body.example)


def make_query(row: Row) -> dict[str, Any]:
    """The query that has to be there."""
    return {} if row.query is None else dict(row.query.example)


async def ask(caller: Caller, row: Row, ids: Mapping[str, str], **changes: Any) -> tuple[int, dict[str, Any]]:
    """Status and body of the answer to the row's example with these ids, in the path and in the body."""
    body = example(row)
    if body is not None and row.body is not None:
        body |= {name: value for name, value in ids.items() if name in row.body.members and name != "entityId"}
        if "operationIds" in body and "operationId" in ids:
            body["operationIds"] = [ids["operationId"]]
        if "scope" in row.body.members and "accountId" in ids:
            body["scope"] = {"accountIds": [ids["accountId"]]}
        if "accounts" in body and "accountId" in ids:
            body["accounts"] = [{"accountId": ids["accountId"]}]
        body |= changes
    in_query = {name: value for name, value in ids.items() if row.query is not None and name in row.query.members}
    answer = await caller.send(row.method, address(row, ids), body, query=make_query(row) | in_query)
    body_of_answer: dict[str, Any] = answer.json()
    return answer.status_code, body_of_answer


ID_LISTS = {"accounts": "accountId", "operationIds": "operationId", "scope": "accountId"}
"""Members of a body that hold several ids."""


@define
class Inventory:
    """What one person's workspace has of everything that has an id; what a call uses up is made anew.

    ``network``: that of the account. ``scope``: the accounts to which the person's keys and agents are bound.
    """

    server: Served
    person: str = "admin"
    account: str = ""
    network: str = "meta"
    scope: tuple[str, ...] | None = None
    created: dict[str, str] = field(factory=dict)

    @property
    def caller(self) -> Caller:
        return self.server.person(self.person)

    async def ids(self, row: Row) -> dict[str, str]:
        """Real ids for the row's path and body."""
        required_names = {*row.parameters, *(ID_LISTS.get(name, name) for name in row.members)}
        ids: dict[str, str] = {}
        for name, make in MAKERS.items():
            if name in required_names:
                ids[name] = await make(self, row)
        if "digest" in row.members:
            ids["digest"] = self.created["digest"]
        if "deliveryId" in ids:
            ids["webhookId"] = self.created["webhook of the delivery"]
        return ids

    async def prepare_operation(self) -> str:
        """A prepared operation."""
        body = {"accountId": self.account, "campaign": brief(self.network)}
        return str((await self.caller.post("/create", body, 201))["id"])

    async def make_once(self, name: str, make: Callable[[], Awaitable[str]]) -> str:
        """What is made once and not used up."""
        if name not in self.created:
            self.created[name] = await make()
        return self.created[name]


async def make_inventory(server: Served, person: str = "admin") -> Inventory:
    """Everything of a person, in whose workspace meta is connected."""
    home = server.accounts if person != "stranger" else server.foreign
    if "meta" not in home:
        await connect(server, "meta", person)
    target = f"{server.base_url}/healthz"  # it refuses what is delivered to it, for good
    server.service.settings = evolve(server.service.settings, webhook_dev_targets=frozenset({target}))
    server.service.resolve_host = _resolve_publicly
    return Inventory(server, person, home["meta"])


async def _resolve_publicly(host: str) -> list[str]:
    return ["93.184.216.34"]


async def _account(inventory: Inventory, row: Row) -> str:
    return inventory.account


async def _source(inventory: Inventory, row: Row) -> str:
    async def make() -> str:
        operation_id = await inventory.prepare_operation()
        await inventory.caller.execute(operation_id)
        return operation_id

    return await inventory.make_once("source", make)


async def _operation(inventory: Inventory, row: Row) -> str:
    """One that the endpoint accepts: prepared, written, or without the answer to its first write."""
    if row.path.endswith("/undo"):
        operation_id = await inventory.prepare_operation()
        await inventory.caller.execute(operation_id)
        return operation_id
    if row.path.endswith(("/inspect", "/resume", "/settle")):
        operation_id = await inventory.prepare_operation()
        first = get_samples(inventory.network).first_write_path
        await inventory.server.networks.fault(inventory.network, "reset_after", method="POST", path=first)
        await inventory.caller.problem(400, "POST", f"/operations/{operation_id}/execute", {"confirmed": True})
        return operation_id
    return await inventory.prepare_operation()


async def _launch(inventory: Inventory, row: Row) -> str:
    """One that the endpoint accepts: prepared, written, or cancelled."""
    accounts = [{"accountId": inventory.account, "campaign": brief(inventory.network)}]
    body = {"name": "Spring", "campaign": {}, "accounts": accounts}
    launch = f"/launches/{(await inventory.caller.post('/launches', body, 201))['launchId']}"
    launch_data = await _follow(inventory, launch)
    inventory.created["change set"], inventory.created["digest"] = (
        launch_data["changeSets"][-1]["id"],
        launch_data["changeSets"][-1]["digest"],
    )
    if row.path.endswith(("/activate", "/pause", "/undo")):
        await inventory.caller.post(
            f"{launch}/execute", {"confirmed": True, "digest": inventory.created["digest"]}, 202
        )
        await _follow(inventory, launch)
    if row.path.endswith("/prepare"):
        await inventory.caller.post(f"{launch}/cancel", {})
    return str(launch_data["launchId"])


async def _follow(inventory: Inventory, path: str) -> dict[str, Any]:
    """A launch that is neither prepared nor executed in the background."""
    async with asyncio.timeout(60):
        while True:
            launch_data: dict[str, Any] = await inventory.caller.get(path)
            if launch_data["status"] not in ("preparing", "running"):
                return launch_data
            await asyncio.sleep(0.02)


async def _change_set(inventory: Inventory, row: Row) -> str:
    await _launch(inventory, row)
    return inventory.created["change set"]


async def _key(inventory: Inventory, row: Row) -> str:
    return str((await inventory.caller.post("/keys", {"name": "spare"}, 201))["keyId"])


async def _connection(inventory: Inventory, row: Row) -> str:
    """One that no account of the tests hangs on; with a scope, that of the account."""
    if inventory.scope is not None:
        return str((await inventory.caller.get(f"/accounts/{inventory.account}"))["connectionId"])
    await connect(inventory.server, "pinterest", inventory.person)
    connections = await inventory.caller.get("/connections")
    return next(
        str(connection["connectionId"])
        for connection in connections
        if connection["network"] == "pinterest" and connection["accounts"]
    )


async def _grant(inventory: Inventory, row: Row) -> str:
    await (await agent(inventory.server)).tokens(inventory.person, accounts=inventory.scope)
    grants = await inventory.caller.get("/connected-agents")
    scope = None if inventory.scope is None else {"accountIds": [*inventory.scope]}
    return next(str(grant["grantId"]) for grant in grants if grant["revokedAt"] is None and grant["scope"] == scope)


async def _guardrail(inventory: Inventory, row: Row) -> str:
    """A rule that is not active."""
    scope = {} if inventory.scope is None else {"accountIds": [*inventory.scope]}
    body = {"name": "spare", "blockedActions": ["delete"], "active": False, "scope": scope}
    return str((await inventory.caller.post("/guardrails", body, 201))["id"])


async def _alert(inventory: Inventory, row: Row) -> str:
    """An alert that is not active."""
    scope = {} if inventory.scope is None else {"accountIds": [*inventory.scope]}
    body = {"name": "spare", "kind": "disapproved", "active": False, "scope": scope}
    return str((await inventory.caller.post("/alerts", body, 201))["id"])


async def _frozen_key(inventory: Inventory, row: Row) -> str:
    """A key that a rule has frozen. Without a scope the freeze shows also when the rule is deleted."""
    key = await inventory.caller.post("/keys", {"name": "careless", "canWrite": True}, 201)
    scope = {"keyIds": [key["keyId"]]} | ({} if inventory.scope is None else {"accountIds": [*inventory.scope]})
    rule = {"name": "freezing", "blockedActions": ["create"], "onBreach": "freeze", "scope": scope}
    rule_id = (await inventory.caller.post("/guardrails", rule, 201))["id"]
    body = {"accountId": inventory.account, "campaign": brief(inventory.network)}
    await inventory.server.caller(key["secret"]).problem(403, "POST", "/create", body)
    if inventory.scope is None:
        await inventory.caller.delete(f"/guardrails/{rule_id}")
    return str(key["keyId"])


async def _webhook(inventory: Inventory, row: Row) -> str:
    body = {"url": f"{inventory.server.base_url}/healthz", "events": ["rule.triggered"]}
    return str((await inventory.caller.post("/webhooks", body, 201))["webhookId"])


async def _delivery(inventory: Inventory, row: Row) -> str:
    """One that has failed for good."""
    webhook = await _webhook(inventory, row)
    inventory.created["webhook of the delivery"] = webhook
    delivery = await inventory.caller.post(f"/webhooks/{webhook}/test", {}, 202)
    async with asyncio.timeout(30):
        while (await inventory.caller.get(f"/webhooks/{webhook}/deliveries"))[0]["status"] != "failed":
            await asyncio.sleep(0.02)
    return str(delivery["deliveryId"])


async def _entity(inventory: Inventory, row: Row) -> str:
    await _source(inventory, row)

    async def make() -> str:
        nodes = (await inventory.caller.get(f"/accounts/{inventory.account}/tree"))["nodes"]
        return next(str(node["id"]) for node in nodes if node["kind"] == row.kind)

    return await inventory.make_once(f"entity {row.kind}", make)


MAKERS: Mapping[str, Callable[[Inventory, Row], Awaitable[str]]] = {
    "accountId": _account,
    "sourceOperationId": _source,
    "operationId": _operation,
    "launchId": _launch,
    "changeSetId": _change_set,
    "keyId": _key,
    "connectionId": _connection,
    "grantId": _grant,
    "guardrailId": _guardrail,
    "alertId": _alert,
    "credential": _frozen_key,
    "webhookId": _webhook,
    "deliveryId": _delivery,
    "entityId": _entity,
}
"""Everything that has an id, and how one is had."""
EVERY_ID = {*MAKERS, "network", "resource"}
assert set(KINDS) == {"campaign", "adGroup", "ad"}
