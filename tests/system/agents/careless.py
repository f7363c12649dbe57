"""A careless agent, several of them: a script of calls from a seed, and what must hold of every answer and at the end.

They drop connections, repeat calls, execute twice and at once, reuse and forget idempotency keys, send arguments that
there are not, take others' operations, and use tokens for other resources, while the network fails now and then. Seed
and number of an act decide what it does, so a seed gives the same script again, however the calls of one act race.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from itertools import count
from random import Random
from typing import Any

import httpx
from attrs import define, evolve, field

from adsunify.execution.executor import ExecutionLimits
from adsunify.review.completion import ALL_WRITTEN_TEXT, NOTHING_WRITTEN_TEXT
from adsunify.service import oauth_server as grants
from adsunify.store import attempts, operations
from adsunify_mcp.results import OUTCOME_TEXTS
from tests.server.served import Served, brief

from .agent import HEADERS, Agent, Client, client, request

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
INVITING = re.compile(r"\btry\b|\bretry|\bonce more\b|\bagain later\b", re.IGNORECASE)
SAYS = (*OUTCOME_TEXTS.values(), NOTHING_WRITTEN_TEXT, ALL_WRITTEN_TEXT, "Written: ")
FAULTS: tuple[tuple[str, Mapping[str, int]], ...] = (
    ("reset_before", {}),
    ("reset_after", {}),
    ("status", {"value": 429}),
    ("status", {"value": 500}),
    ("status", {"value": 400}),
    ("truncate", {}),
    ("html", {}),
    ("empty", {}),
    ("latency", {"value": 60}),
)
CONFIRMED = {"confirmed": True}
MINUTES = 31
"""Now and then this long passes: what was prepared before is over then."""


@define(eq=False)
class Careless:
    """One agent, what it remembers, and who may see what is its own."""

    name: str
    workspace: str
    agent: Agent
    accounts: Mapping[str, str]
    seen_by: tuple[str, ...]
    client: Client | None = None
    refresh: str = ""
    operations: list[str] = field(factory=list)
    entities: list[tuple[str, str]] = field(factory=list)
    keyed: list[tuple[str, dict[str, Any]]] = field(factory=list)


@define(eq=False)
class Run:
    """The script as it is played. ``owners``: whose an operation is; ``homes``: the workspace of an account."""

    server: Served
    seed: int
    everybody: list[Careless]
    strange: list[str]
    random: Random = field(factory=Random)
    calls: int = 0
    dropped: int = 0
    errors: dict[str, int] = field(factory=dict)
    owners: dict[str, Careless] = field(factory=dict)
    homes: dict[str, str] = field(factory=dict)

    # -- one call ---------------------------------------------------------------------------------------------

    async def tool(self, who: Careless, name: str, arguments: Mapping[str, Any], *, alone: bool = True) -> Any:
        """A tool's result, held against all that every result must be. ``alone``: no other call is under way."""
        self.calls += 1
        await self._idle(alone)
        before = self.server.networks.writes()
        answer = await who.agent.post(request("tools/call", name=name, arguments=arguments))
        assert answer.status_code == 200, answer.text
        self._nothing_foreign(who, answer.text, json.dumps(arguments))
        result = answer.json()["result"]
        text = "\n".join(block["text"] for block in result["content"])
        if result.get("isError"):
            error = result["structuredContent"]["error"]
            self.errors[error["code"]] = self.errors.get(error["code"], 0) + 1
            assert any(phrase in text for phrase in SAYS), text
            assert not INVITING.search(text.replace(json.dumps(error), "")), text
            if error["outcome"] == "unknown":
                assert "Do not repeat the change" in text
        if alone and OUTCOME_TEXTS["not_applied"] in text:
            assert self.server.networks.writes() == before, text
        return result

    async def together(self, *calls: Awaitable[Any]) -> list[Any]:
        """Several calls at once."""
        await self._idle(True)
        return list(await asyncio.gather(*calls))

    async def drop(self, who: Careless, name: str, arguments: Mapping[str, Any]) -> None:
        """Send a call, and hang up before its answer can be there, or in the middle of it."""
        self.calls += 1
        self.dropped += 1
        await self._idle(True)
        body = json.dumps(request("tools/call", name=name, arguments=arguments)).encode()
        headers = {**HEADERS, "Authorization": f"Bearer {who.agent.token}", "Content-Length": str(len(body))}
        head = "".join(f"{key}: {value}\r\n" for key, value in {"Host": self._host, **headers}.items())
        _, writer = await asyncio.open_connection(*self._host.split(":"))
        whole = f"POST /api/mcp HTTP/1.1\r\n{head}\r\n".encode() + body
        writer.write(whole if self.random.random() < 0.8 else whole[: self.random.randrange(len(whole))])
        await writer.drain()
        await asyncio.sleep(self.random.choice((0, 0.002, 0.01, 0.03)))
        writer.transport.abort()

    async def stranger(self, headers: Mapping[str, str], query: str = "") -> None:
        """A call with a token that is not for this door: 401, and the way to one that is."""
        self.calls += 1
        message = json.dumps(request("tools/call", name="account", arguments={})).encode()
        answer = await self.server.http.post(f"/api/mcp{query}", content=message, headers={**HEADERS, **headers})
        assert answer.status_code == 401 and "resource_metadata=" in answer.headers["WWW-Authenticate"], answer.text
        assert not UUID.search(answer.text)

    async def garbage(self, who: Careless, body: bytes, statuses: tuple[int, ...], **headers: str) -> None:
        """A body that is no call."""
        self.calls += 1
        answer = await who.agent.post(body, **headers)
        assert answer.status_code in statuses, answer.text

    @property
    def _host(self) -> str:
        return self.server.base_url.removeprefix("http://")

    async def _idle(self, waits: bool) -> None:
        """Wait for executions whose callers have gone."""
        while waits and self.server.service.shielded_tasks:
            await asyncio.wait(self.server.service.shielded_tasks)

    def _nothing_foreign(self, who: Careless, text: str, arguments: str) -> None:
        """No id of an operation or account that the caller may not see, but those that it named itself."""
        for id_ in set(UUID.findall(text)) - set(UUID.findall(arguments)):
            owner = self.owners.get(id_)
            assert owner is None or who.name in owner.seen_by, f"{who.name} sees {id_} of {owner.name}"
            assert self.homes.get(id_, who.workspace) == who.workspace, f"{who.name} sees the account {id_}"

    # -- what they do -----------------------------------------------------------------------------------------

    def remember(self, who: Careless, result: Any) -> None:
        """The operations that a call prepared."""
        data = result["structuredContent"].get("data")
        if isinstance(data, Mapping):
            for operation in data.get("operations", (data,)):
                if "plan" in operation and operation["id"] not in self.owners:
                    self.owners[operation["id"]] = who
                    who.operations.append(operation["id"])
                if operation.get("status") == "succeeded" and operation.get("action") == "create":
                    who.entities += [
                        (operation["accountId"], step["outputs"]["id"])
                        for step in operation["receipt"]["steps"]
                        if step["key"] == "campaign" and "id" in step["outputs"]
                    ]

    def some(self, who: Careless) -> str:
        """An operation of its own, mostly a late one; or one that there is not."""
        if not who.operations or self.random.random() < 0.03:
            return "00000000-0000-7000-8000-000000000000"
        return self.random.choice(who.operations[-8:] if self.random.random() < 0.8 else who.operations)

    async def create(self, who: Careless) -> None:
        """With a key, without one, with an old key and the same body, or with an old key and another body."""
        network = self.random.choice(list(who.accounts))
        body = {"accountId": who.accounts[network], "campaign": brief(network)}
        arguments = {"operationId": "post_create", "body": body}
        how = self.random.choice(("new", "new", "forgotten", "same", "other"))
        if how in ("same", "other") and who.keyed:
            key, first = self.random.choice(who.keyed)
            arguments |= {"idempotencyKey": key} | ({"body": first} if how == "same" else {})
        elif how != "forgotten":
            key = f"key {self.random.random()}"
            who.keyed.append((key, body))
            arguments |= {"idempotencyKey": key}
        if self.random.random() < 0.15:
            return await self.drop(who, "call_tool", arguments)
        if self.random.random() < 0.2:
            for result in await self.together(*(self.tool(who, "call_tool", arguments, alone=False) for _ in range(3))):
                self.remember(who, result)
            return None
        return self.remember(who, await self.tool(who, "call_tool", arguments))

    async def execute(self, who: Careless) -> None:
        """Once, twice, three times at once, or without waiting for the answer; the network may fail at any time."""
        operation = self.some(who)
        arguments = {"operationId": operation, **CONFIRMED}
        if self.random.random() < 0.2:
            fault, more = self.random.choice(FAULTS)
            network = self.random.choice(list(who.accounts))
            await self.server.networks.fault(
                network, fault, **more, **({} if fault == "latency" else {"method": "POST"})
            )
        how = self.random.choice(("once", "twice", "at once", "dropped"))
        if how == "at once":
            three = (self.tool(who, "execute", arguments, alone=False) for _ in range(3))
            results = await self.together(*three)
        elif how == "dropped":
            await self.drop(who, "execute", arguments)
            results = [await self.tool(who, "execute", arguments, alone=self.random.random() < 0.5)]
        else:
            results = [await self.tool(who, "execute", arguments) for _ in range(2 if how == "twice" else 1)]
        for result in results:
            self.remember(who, result)
        self.server.networks.state.faults.pending.clear()

    async def batch(self, who: Careless) -> None:
        """Several operations, some of them others', one perhaps twice."""
        own = [self.some(who) for _ in range(3)]
        chosen = [*dict.fromkeys(own), *([self.random.choice(list(self.owners))] if self.owners else [])]
        arguments = {"operationId": "post_operations_execute", "body": {"operationIds": chosen, **CONFIRMED}}
        await self.tool(who, "call_tool", arguments, alone=False)

    async def activate(self, who: Careless) -> None:
        body = {"accountId": self.random.choice(list(who.accounts.values())), "sourceOperationId": self.some(who)}
        self.remember(who, await self.tool(who, "call_tool", {"operationId": "post_activate", "body": body}))

    async def change(self, who: Careless) -> None:
        """A native change of something of its own."""
        account, entity = self.random.choice(who.entities) if who.entities else (who.accounts["meta"], "1")
        if self.random.random() < 0.5:
            status = self.random.choice(("paused", "active"))
            arguments = {"accountId": account, "kind": "campaign", "entityIds": [entity], "status": status}
            self.remember(who, await self.tool(who, "set_status", arguments))
        else:
            edit = {"fields": {"name": f"Chairs {self.random.random()}"}}
            mutation = {"action": "edit", "kind": "campaign", "entityId": entity, "edit": edit}
            self.remember(who, await self.tool(who, "prepare", {"accountId": account, "mutation": mutation}))

    async def steal(self, who: Careless) -> None:
        """Look at, execute or cancel what is somebody else's; use somebody else's account."""
        other = self.random.choice([careless for careless in self.everybody if careless is not who])
        if not other.operations:
            return await self.look(who)
        operation = self.random.choice(other.operations)
        path = {"operationId": operation}
        may = who.name in other.seen_by
        how = self.random.choice(("look", "execute", "cancel", "account"))
        if how == "look":
            result = await self.tool(who, "operation", path)
        elif how == "execute":
            result = await self.tool(who, "execute", {**path, **CONFIRMED})
        elif how == "cancel":
            arguments = {"operationId": "post_operation_cancel", "path": path, "body": {}}
            result = await self.tool(who, "call_tool", arguments)
        else:
            may = who.workspace == other.workspace
            account = self.random.choice(list(other.accounts.values()))
            result = await self.tool(who, "account", {"accountId": account})
        if not may:
            assert result["structuredContent"]["error"]["code"] == "not_found", result
        return None

    async def mistake(self, who: Careless) -> None:
        """Arguments that there are not, or that are of another form: refused, not ignored."""
        operation = self.some(who)
        wrong: tuple[tuple[str, dict[str, Any]], ...] = (
            ("execute", {"operationId": operation, **CONFIRMED, "force": True}),
            ("execute", {"operationId": operation, "confirmed": "yes"}),
            ("execute", {"operationId": operation}),
            ("operation", {"id": operation}),
            ("account", {"accountId": "1"}),
            (
                "set_status",
                {"accountId": who.accounts["meta"], "kind": "campaign", "entityIds": [], "status": "paused"},
            ),
            ("call_tool", {"operationId": "post_create", "body": {"accountId": who.accounts["meta"]}, "dryRun": True}),
            ("call_tool", {"operationId": "post_create", "body": {**self._body(who), "dryRun": True}}),
            ("call_tool", {"operationId": "post_operation_execute", "path": {"operationId": operation}, "body": {}}),
            ("call_tool", {"operationId": "post_everything"}),
            ("call_tool", {"operationId": "post_keys", "body": {"name": "mine", "canWrite": True}}),
            ("prepare", {"accountId": who.accounts["meta"], "mutation": {"action": "launch", "kind": "campaign"}}),
        )
        name, arguments = self.random.choice(wrong)
        result = await self.tool(who, name, arguments)
        if arguments.get("operationId") != "post_keys":
            assert result["isError"] is True, result

    def _body(self, who: Careless) -> dict[str, Any]:
        return {"accountId": who.accounts["meta"], "campaign": brief("meta")}

    async def look(self, who: Careless) -> None:
        """What an agent that has forgotten everything asks."""
        self.remember(who, await self.tool(who, "operation", {"operationId": self.some(who)}))
        for name, arguments in (
            ("account", {}),
            ("call_tool", {"operationId": "get_operations"}),
            ("search_tools", {"query": self.random.choice(("pause it", "execute again", "undo", "what did I spend"))}),
        ):
            await self.tool(who, name, arguments)

    async def strangers(self, who: Careless) -> None:
        """Tokens for another resource, of another kind, in another place, or none."""
        token = self.random.choice((*self.strange, who.refresh or "adr_x", "adu_12345678_" + "x" * 43))
        await self.stranger({"Authorization": f"Bearer {token}"})
        await self.stranger({}, f"?access_token={who.agent.token}")
        await self.stranger({"Authorization": f"Basic {who.agent.token}"})

    async def noise(self, who: Careless) -> None:
        """What is no message of the protocol, or not of this revision."""
        call = request("tools/call", name="execute", arguments={"operationId": self.some(who), **CONFIRMED})
        bodies: tuple[tuple[bytes, tuple[int, ...], dict[str, str]], ...] = (
            (b"{", (400,), {}),
            (json.dumps(call).encode()[:-7], (400,), {}),
            (json.dumps([call, call]).encode(), (400,), {}),
            (json.dumps({**call, "id": None}).encode(), (400,), {}),
            (json.dumps({**call, "jsonrpc": "1.0"}).encode(), (400,), {}),
            (json.dumps(call).encode(), (400,), {"MCP_Protocol_Version": "2024-11-05"}),
            (json.dumps(call).encode(), (403,), {"Origin": "https://evil.example"}),
            (json.dumps(call).encode(), (406,), {"Accept": "application/json"}),
            (json.dumps({name: value for name, value in call.items() if name != "id"}).encode(), (202,), {}),
            (json.dumps(request("tools/run", name="execute")).encode(), (200,), {}),
        )
        body, statuses, headers = self.random.choice(bodies)
        await self._idle(True)
        before = self.server.networks.writes()
        await self.garbage(who, body, statuses, **headers)
        assert self.server.networks.writes() == before, "something was written by what is no call"

    async def wait(self, who: Careless) -> None:
        """Time passes: reviews end, tokens are renewed."""
        if self.random.random() < 0.1:
            await self._idle(True)
            self.server.hands.pass_(minutes=MINUTES)
            for careless in self.everybody:
                await renew(careless)

    async def play(self, calls: int) -> None:
        """The script, for so many calls."""
        names = [name for name, _ in SCRIPT]
        weights = [weight for _, weight in SCRIPT]
        before = self.server.service.settings
        self.server.service.settings = evolve(
            before, limits=ExecutionLimits(max_steps=3)
        )  # so that executions are handed back
        try:
            for number in count():
                if self.calls >= calls:
                    break
                self.random = Random(f"{self.seed}/{number}")
                act = self.random.choices(names, weights)[0]
                await act(self, self.random.choice(self.everybody))
            await self._idle(True)
        finally:
            self.server.service.settings = before


SCRIPT: tuple[tuple[Callable[[Run, Careless], Awaitable[None]], int], ...] = (
    (Run.create, 14),
    (Run.execute, 30),
    (Run.batch, 4),
    (Run.activate, 5),
    (Run.change, 6),
    (Run.steal, 14),
    (Run.mistake, 10),
    (Run.look, 3),
    (Run.strangers, 3),
    (Run.noise, 8),
    (Run.wait, 1),
)
"""What they do, and how often."""


async def start_run(server: Served, seed: int) -> Run:
    """Three agents that people let in (two of one workspace), and one with a key of a member."""
    shop, other = server.accounts, server.foreign
    everybody = [
        await _let_in(server, "admin's agent", "admin", "shop", shop, ("admin's agent",)),
        await _let_in(server, "member's agent", "member", "shop", shop, ("member's agent", "member's key")),
        await _let_in(server, "stranger's agent", "stranger", "other", other, ("stranger's agent",)),
        Careless(
            "member's key", "shop", Agent(server, server.people["member"].tokens["write"]), shop, ("member's key",)
        ),
    ]
    run = Run(server, seed, everybody, [await for_elsewhere(server)])
    run.homes = dict.fromkeys(shop.values(), "shop") | dict.fromkeys(other.values(), "other")
    return run


async def _let_in(
    server: Served, name: str, person: str, workspace: str, accounts: Mapping[str, str], seen_by: tuple[str, ...]
) -> Careless:
    oauth_client = await client(server)
    tokens = await oauth_client.tokens(person)
    agent = Agent(server, tokens["access_token"])
    return Careless(name, workspace, agent, accounts, seen_by, oauth_client, tokens["refresh_token"])


async def for_elsewhere(server: Served) -> str:
    """A token that a person allowed for another resource."""
    oauth_client = await client(server)
    consent_request = evolve(
        await grants.read_authorization_request(server.service, oauth_client.query),
        resource="https://elsewhere.example/api/mcp",
    )
    actor = server.people["admin"].actor
    url = await grants.grant_consent(server.service, consent_request, actor.user_id, actor.workspace_id, write=True)
    token: str = (await oauth_client.redeem(httpx.URL(url).params["code"])).json()["access_token"]
    return token


async def renew(careless: Careless) -> None:
    """New tokens for old ones."""
    if careless.client is not None:
        tokens = (await careless.client.refresh(careless.refresh)).json()
        careless.agent.token, careless.refresh = tokens["access_token"], tokens["refresh_token"]


# -- at the end -----------------------------------------------------------------------------------------------------


@define
class Books:
    """What the operations say was written, beside what the networks say. Counts of native writes."""

    operations: int = 0
    applied: int = 0
    doubtful: int = 0
    written: int = 0
    created: set[str] = field(factory=set)


async def audit_books(server: Served, before: int) -> Books:
    """Hold every operation against the networks' log since row ``before``: nothing twice, nothing unknown."""
    store, books = server.service.store, Books()
    for person in ("admin", "stranger"):
        actor = server.people[person].actor
        for record in await store.read(operations.list_operations, actor, store.clock, 1_000_000):
            books.operations += 1
            tried = (await store.read(attempts.list_attempts_by_operation, [record.id])).get(record.id, [])
            _nothing_twice(tried)
            for attempt in tried:
                state = "ambiguous" if attempt.receipt is None else attempt.receipt.state
                books.applied += state == "applied"
                books.doubtful += state == "ambiguous"
                if attempt.receipt is not None and state == "applied" and record.action == "create":
                    ids = {value for value in attempt.receipt.outputs.values() if isinstance(value, str)}
                    assert not ids & books.created, "two operations say they created one thing"
                    books.created |= ids
    rows = server.networks.state.writes[before:]
    requests = {(row["network"], row["request"]) for row in rows}
    books.written = len(requests)
    assert books.applied <= books.written <= books.applied + books.doubtful, books
    assert books.created <= {row["id"] for row in rows}, "a receipt names what no network made"
    return books


def _nothing_twice(tried: list[attempts.StepAttempt]) -> None:
    """Of each step, one attempt was applied at most, and none followed one of which nobody knows."""
    done: set[str] = set()
    for attempt in sorted(tried, key=lambda attempt: (attempt.n, attempt.attempt)):
        assert attempt.key not in done, f"{attempt.operation_id} sent {attempt.key} again"
        if attempt.receipt is None or attempt.receipt.state in ("applied", "ambiguous"):
            done.add(attempt.key)
