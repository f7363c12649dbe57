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
    return re.sub(r"\{(\w+)\}", lambda found: values.get(found[1], NEVER), row.path)


def example(row: Row) -> dict[str, Any] | None:
    """A body that is accepted, with ids of nothing."""
    return None if row.body is None else dict(row.body.example)


def queried(row: Row) -> dict[str, Any]:
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
    answer = await caller.send(row.method, address(row, ids), body, query=queried(row) | in_query)
    found: dict[str, Any] = answer.json()
    return answer.status_code, found


LISTED = {"accounts": "accountId", "operationIds": "operationId", "scope": "accountId"}
"""Members of a body that hold several ids."""


@define
class Things:
    """What one person's workspace has of everything that has an id; what a call uses up is made anew.

    ``network``: that of the account. ``scope``: the accounts to which the person's keys and agents are bound.
    """

    server: Served
    person: str = "admin"
    account: str = ""
    network: str = "meta"
    scope: tuple[str, ...] | None = None
    made: dict[str, str] = field(factory=dict)

    @property
    def caller(self) -> Caller:
        return self.server.person(self.person)

    async def ids(self, row: Row) -> dict[str, str]:
        """Real ids for the row's path and body."""
        wanted = {*row.parameters, *(LISTED.get(name, name) for name in row.members)}
        found: dict[str, str] = {}
        for name, make in MAKERS.items():
            if name in wanted:
                found[name] = await make(self, row)
        if "digest" in row.members:
            found["digest"] = self.made["digest"]
        if "deliveryId" in found:
            found["webhookId"] = self.made["webhook of the delivery"]
        return found

    async def prepared(self) -> str:
        """A prepared operation."""
        body = {"accountId": self.account, "campaign": brief(self.network)}
        return str((await self.caller.post("/create", body, 201))["id"])

    async def kept(self, name: str, make: Callable[[], Awaitable[str]]) -> str:
        """What is made once and not used up."""
        if name not in self.made:
            self.made[name] = await make()
        return self.made[name]


async def things(server: Served, person: str = "admin") -> Things:
    """Everything of a person, in whose workspace meta is connected."""
    home = server.accounts if person != "stranger" else server.foreign
    if "meta" not in home:
        await connect(server, "meta", person)
    target = f"{server.base_url}/healthz"  # it refuses what is delivered to it, for good
    server.service.settings = evolve(server.service.settings, webhook_dev_targets=frozenset({target}))
    server.service.resolve_host = _public
    return Things(server, person, home["meta"])


async def _public(host: str) -> list[str]:
    return ["93.184.216.34"]


async def _account(one: Things, row: Row) -> str:
    return one.account


async def _source(one: Things, row: Row) -> str:
    async def make() -> str:
        made = await one.prepared()
        await one.caller.execute(made)
        return made

    return await one.kept("source", make)


async def _operation(one: Things, row: Row) -> str:
    """One that the endpoint accepts: prepared, written, or without the answer to its first write."""
    if row.path.endswith("/undo"):
        made = await one.prepared()
        await one.caller.execute(made)
        return made
    if row.path.endswith(("/inspect", "/resume", "/settle")):
        made = await one.prepared()
        first = get_samples(one.network).first_write_path
        await one.server.networks.fault(one.network, "reset_after", method="POST", path=first)
        await one.caller.problem(400, "POST", f"/operations/{made}/execute", {"confirmed": True})
        return made
    return await one.prepared()


async def _launch(one: Things, row: Row) -> str:
    """One that the endpoint accepts: prepared, written, or cancelled."""
    accounts = [{"accountId": one.account, "campaign": brief(one.network)}]
    body = {"name": "Spring", "campaign": {}, "accounts": accounts}
    launch = f"/launches/{(await one.caller.post('/launches', body, 201))['launchId']}"
    made = await _follow(one, launch)
    one.made["change set"], one.made["digest"] = made["changeSets"][-1]["id"], made["changeSets"][-1]["digest"]
    if row.path.endswith(("/activate", "/pause", "/undo")):
        await one.caller.post(f"{launch}/execute", {"confirmed": True, "digest": one.made["digest"]}, 202)
        await _follow(one, launch)
    if row.path.endswith("/prepare"):
        await one.caller.post(f"{launch}/cancel", {})
    return str(made["launchId"])


async def _follow(one: Things, path: str) -> dict[str, Any]:
    """A launch that is neither prepared nor executed in the background."""
    async with asyncio.timeout(60):
        while True:
            found: dict[str, Any] = await one.caller.get(path)
            if found["status"] not in ("preparing", "running"):
                return found
            await asyncio.sleep(0.02)


async def _change_set(one: Things, row: Row) -> str:
    await _launch(one, row)
    return one.made["change set"]


async def _key(one: Things, row: Row) -> str:
    return str((await one.caller.post("/keys", {"name": "spare"}, 201))["keyId"])


async def _connection(one: Things, row: Row) -> str:
    """One that no account of the tests hangs on; with a scope, that of the account."""
    if one.scope is not None:
        return str((await one.caller.get(f"/accounts/{one.account}"))["connectionId"])
    await connect(one.server, "pinterest", one.person)
    found = await one.caller.get("/connections")
    return next(str(each["connectionId"]) for each in found if each["network"] == "pinterest" and each["accounts"])


async def _grant(one: Things, row: Row) -> str:
    await (await agent(one.server)).tokens(one.person, accounts=one.scope)
    found = await one.caller.get("/connected-agents")
    scope = None if one.scope is None else {"accountIds": [*one.scope]}
    return next(str(each["grantId"]) for each in found if each["revokedAt"] is None and each["scope"] == scope)


async def _guardrail(one: Things, row: Row) -> str:
    """A rule that is not active."""
    scope = {} if one.scope is None else {"accountIds": [*one.scope]}
    body = {"name": "spare", "blockedActions": ["delete"], "active": False, "scope": scope}
    return str((await one.caller.post("/guardrails", body, 201))["id"])


async def _alert(one: Things, row: Row) -> str:
    """An alert that is not active."""
    scope = {} if one.scope is None else {"accountIds": [*one.scope]}
    body = {"name": "spare", "kind": "disapproved", "active": False, "scope": scope}
    return str((await one.caller.post("/alerts", body, 201))["id"])


async def _frozen(one: Things, row: Row) -> str:
    """A key that a rule has frozen. Without a scope the freeze shows also when the rule is deleted."""
    key = await one.caller.post("/keys", {"name": "careless", "canWrite": True}, 201)
    scope = {"keyIds": [key["keyId"]]} | ({} if one.scope is None else {"accountIds": [*one.scope]})
    rule = {"name": "freezing", "blockedActions": ["create"], "onBreach": "freeze", "scope": scope}
    made = (await one.caller.post("/guardrails", rule, 201))["id"]
    body = {"accountId": one.account, "campaign": brief(one.network)}
    await one.server.caller(key["secret"]).problem(403, "POST", "/create", body)
    if one.scope is None:
        await one.caller.delete(f"/guardrails/{made}")
    return str(key["keyId"])


async def _webhook(one: Things, row: Row) -> str:
    body = {"url": f"{one.server.base_url}/healthz", "events": ["rule.triggered"]}
    return str((await one.caller.post("/webhooks", body, 201))["webhookId"])


async def _delivery(one: Things, row: Row) -> str:
    """One that has failed for good."""
    webhook = await _webhook(one, row)
    one.made["webhook of the delivery"] = webhook
    made = await one.caller.post(f"/webhooks/{webhook}/test", {}, 202)
    async with asyncio.timeout(30):
        while (await one.caller.get(f"/webhooks/{webhook}/deliveries"))[0]["status"] != "failed":
            await asyncio.sleep(0.02)
    return str(made["deliveryId"])


async def _entity(one: Things, row: Row) -> str:
    await _source(one, row)

    async def make() -> str:
        nodes = (await one.caller.get(f"/accounts/{one.account}/tree"))["nodes"]
        return next(str(node["id"]) for node in nodes if node["kind"] == row.kind)

    return await one.kept(f"entity {row.kind}", make)


MAKERS: Mapping[str, Callable[[Things, Row], Awaitable[str]]] = {
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
    "credential": _frozen,
    "webhookId": _webhook,
    "deliveryId": _delivery,
    "entityId": _entity,
}
"""Everything that has an id, and how one is had."""
EVERY_ID = {*MAKERS, "network", "resource"}
assert set(KINDS) == {"campaign", "adGroup", "ad"}
