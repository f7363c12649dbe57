"""A server as it is served: real HTTP on 127.0.0.1, a real database, and the simulated networks beside it.

Every answer that :class:`Caller` receives is held against the server's own OpenAPI document.
"""

from __future__ import annotations

import asyncio
import itertools
import socket
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urljoin

import httpx
from aiohttp import web
from attrs import define, evolve, field, frozen
from pydantic.alias_generators import to_camel
from sqlalchemy import Connection, func, literal, select, union_all

from adsunify.actor import Actor, Role
from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.networks.samples import load_sample
from adsunify.sandbox.server import Sandbox, sandbox
from adsunify.service import api_keys
from adsunify.service.core import Service
from adsunify.service.factory import SECRET_KEYS_VARIABLE, open_service
from adsunify.service.tokens import hash_token
from adsunify.store import Clock, keys, people
from adsunify.store.events import EventRecord, list_events
from adsunify.store.schema import deliveries, ledger_heads, metadata
from adsunify.testing.connecting import FormParser, get_sandbox_credentials
from adsunify_server.app import make_application
from adsunify_server.metrics import REQUESTS, RequestMetrics
from adsunify_server.runner import ServerRunner
from tests.briefs import change_brief
from tests.networks.samples import get_samples

from .schemas import Schemas, get_schemas

PREFIX = "/api/v1/ads"
RING = {SECRET_KEYS_VARIABLE: "test:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"}
_numbers = itertools.count(1)
NEVER = "00000000-0000-7000-8000-000000000000"
"""A well-formed id of nothing."""
ROWS = union_all(
    *(
        select(literal(table.name), func.count()).select_from(table)
        for table in metadata.sorted_tables
        if table is not ledger_heads
    )
)
"""The name of each table, and how many rows it holds. A worker makes the heads of ledgers at a time of its choice."""


@define
class Hands:
    """How far the clocks of server and networks are ahead of the wall."""

    ahead: timedelta = timedelta()

    def now(self) -> datetime:
        return datetime.now(UTC) + self.ahead

    def milliseconds(self) -> int:
        return time.time_ns() // 1_000_000 + int(self.ahead.total_seconds() * 1000)

    def pass_(self, **more: float) -> None:
        self.ahead += timedelta(**more)


@frozen
class Simulation:
    """The simulated networks; ``requests``: method, host and path of every request at their door, in order."""

    url: str
    state: Sandbox
    requests: list[tuple[str, str, str]]

    def count(self, method: str, host: str, path: str = "") -> int:
        """How many requests so far had this method, and host and path that contain these words."""
        return sum(request[0] == method and host in request[1] and path in request[2] for request in self.requests)

    def writes(self) -> int:
        """How many entities native writes have touched so far."""
        return len(self.state.writes)

    async def fault(self, network: str, fault: str, **more: Any) -> None:
        """Tell the networks to fail."""
        await self._tell("faults", {"network": network, "fault": fault, **more})

    async def clear_faults(self) -> None:
        """Take back all faults."""
        async with httpx.AsyncClient(trust_env=False) as client:
            assert (await client.delete(f"{self.url}/_sandbox/faults")).status_code == 200

    async def quiet(self, network: str, *days: str) -> None:
        """Tell a network the days on which nothing is delivered; the days told before are forgotten."""
        await self._tell("quiet", {"network": network, "days": list(days)})

    async def refuse(self, network: str, *ids: str) -> None:
        """Tell a network the ads that its review refuses; those told before are forgotten."""
        await self._tell("refuse", {"network": network, "ids": list(ids)})

    async def _tell(self, door: str, body: dict[str, Any]) -> None:
        async with httpx.AsyncClient(trust_env=False) as client:
            answer = await client.post(f"{self.url}/_sandbox/{door}", json=body)
            assert answer.status_code == 200, answer.text


@asynccontextmanager
async def simulate_networks(hands: Hands) -> AsyncIterator[Simulation]:
    """The simulated networks, with a list of what they were asked."""
    requests: list[tuple[str, str, str]] = []
    async with sandbox(clock=hands.now, on_request=lambda *request: requests.append(request)) as running:
        yield Simulation(running.url, running.state, requests)


@define
class Caller:
    """Someone with a token (or none). Every answer is checked against the documented contract."""

    http: httpx.AsyncClient
    schemas: Schemas
    token: str | None

    async def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: Any = None,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
    ) -> httpx.Response:
        """A request below the prefix; ``body`` is sent as JSON."""
        sent = {} if self.token is None else {"Authorization": f"Bearer {self.token}"}
        if content is not None:
            sent["Content-Type"] = "application/json"
        answer = await self.http.request(
            method,
            PREFIX + path,
            json=body if content is None else None,
            content=content,
            params=query,
            headers={name.encode(): value.encode() for name, value in (sent | dict(headers or {})).items()},
        )
        self.schemas.check(method, path, answer)
        return answer

    async def get(self, path: str, **query: Any) -> Any:
        """The data of a good answer to a GET."""
        return data(await self.send("GET", path, query=query), 200)

    async def post(self, path: str, body: Any, status: int = 200, **headers: str) -> Any:
        """The data of an answer to a POST with this status."""
        return data(await self.send("POST", path, body, headers=headers), status)

    async def delete(self, path: str) -> Any:
        """The data of a good answer to a DELETE."""
        return data(await self.send("DELETE", path), 200)

    async def problem(self, status: int, method: str, path: str, body: Any = None, **more: Any) -> dict[str, Any]:
        """The problem that a request is answered with."""
        answer = await self.send(method, path, body, **more)
        assert answer.status_code == status, answer.text
        problem_document: dict[str, Any] = answer.json()
        return problem_document

    async def read_issues(self, method: str, path: str, body: Any = None, **more: Any) -> set[tuple[str, str]]:
        """Path and code of every issue of a 422."""
        problem = await self.problem(422, method, path, body, **more)
        assert problem["issues"] and problem["outcome"] == "not_applied", problem
        return {(issue["path"], issue["code"]) for issue in problem["issues"]}

    async def execute(self, operation_id: str) -> Any:
        """The data of a good answer to an execute call."""
        return await self.post(f"/operations/{operation_id}/execute", {"confirmed": True})


def data(answer: httpx.Response, status: int) -> Any:
    """The envelope's data."""
    assert answer.status_code == status, answer.text
    return answer.json()["data"]


@frozen
class Person:
    """A member of a workspace with a session of his own inside the process, and his keys' secrets by name."""

    actor: Actor
    tokens: dict[str, str] = field(factory=dict)


@define
class Served:
    """A server that answers, with two workspaces: ``shop`` (an admin, a member, a viewer) and ``other`` (an admin)."""

    service: Service
    database: str
    base_url: str
    networks: Simulation
    hands: Hands
    http: httpx.AsyncClient
    schemas: Schemas
    requests: RequestMetrics
    people: dict[str, Person] = field(factory=dict)
    accounts: dict[str, str] = field(factory=dict)
    foreign: dict[str, str] = field(factory=dict)
    campaigns: dict[tuple[str, str], dict[str, dict[str, Any]]] = field(factory=dict)
    """The nodes of a campaign that no test changes, by network and goal."""

    def caller(self, token: str | None) -> Caller:
        """A caller with this bearer token."""
        return Caller(self.http, self.schemas, token)

    def person(self, name: str, key: str = "write") -> Caller:
        """A caller with a key of this person."""
        return self.caller(self.people[name].tokens[key])

    @property
    def admin(self) -> Caller:
        """The admin of ``shop`` with a write-enabled key."""
        return self.person("admin")

    async def key(
        self, name: str, *, can_write: bool = True, expires_in: int | None = None, title: str = "key"
    ) -> tuple[str, str]:
        """A new key of a person, made behind the API; its id and secret. ``expires_in``: milliseconds."""
        actor, clock = self.people[name].actor, self.service.store.clock
        prefix, secret = api_keys.make_api_key()
        expires_at = None if expires_in is None else clock.now() + expires_in
        key = await self.service.store.write(
            keys.create_key,
            actor.workspace_id,
            actor.user_id,
            title,
            prefix,
            hash_token(secret),
            can_write,
            expires_at,
            clock,
        )
        return key.id, secret

    async def add(self, name: str, workspace: str, role: Role) -> None:
        """A person with a write-enabled and a read-only key."""
        store = self.service.store
        home = await store.write(people.ensure_workspace, workspace, store.clock)
        user = await store.write(people.ensure_user, f"{name}@{workspace}.example", store.clock)
        await store.write(people.set_membership, home.id, user.id, role, store.clock)
        self.people[name] = Person(Actor(home.id, user.id, "session", role, True, "session"))
        for kind in ("write", "read"):
            _, secret = await self.key(name, can_write=kind == "write", title=kind)
            self.people[name].tokens[kind] = secret

    async def events(self, kind: str | None = None, name: str = "admin") -> list[EventRecord]:
        """The events of the person's workspace, oldest first."""
        newest_first = await self.service.store.read(list_events, self.people[name].actor.workspace_id, 10_000)
        return [event for event in reversed(newest_first) if kind is None or event.type == kind]

    async def rows(self) -> dict[str, int]:
        """How many rows each table holds."""
        counted: dict[str, int] = await self.service.store.read(_count_rows)
        return counted

    async def wait_for_background_tasks(self) -> None:
        """Wait for what runs beside the requests."""
        while self.service.background_tasks:
            await asyncio.wait(self.service.background_tasks)

    async def wait_for_deliveries(self) -> None:
        """Wait until no notification is due or under way."""
        async with asyncio.timeout(30):
            while await self.service.store.read(_has_due_deliveries):
                await asyncio.sleep(0.01)


def _has_due_deliveries(connection: Connection) -> bool:
    waiting = select(func.count()).where(deliveries.c.next_attempt_at.is_not(None))
    return bool(connection.execute(waiting).scalar_one())


def _count_rows(connection: Connection) -> dict[str, int]:
    return dict(connection.execute(ROWS).all())


@asynccontextmanager
async def serve_api(
    database: str, settings: Mapping[str, str] | None = None, copied: Served | None = None
) -> AsyncIterator[Served]:
    """Serve a database; ``settings``: more of the environment.

    ``copied``: an ended environment, of which ``database`` is a copy. Its people and what it has connected go on.
    """
    hands = Hands()
    async with simulate_networks(hands) as networks:
        if copied is not None:
            networks.state.worlds = {
                code: evolve(
                    world,
                    clock=hands.now,
                    stored_entities=dict(world._stored_entities),
                    codes=dict(world.codes),
                    tokens=dict(world.tokens),
                )
                for code, world in copied.networks.state.worlds.items()
            }
        listening = socket.create_server(("127.0.0.1", 0))
        base_url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        clock = Clock(hands.milliseconds, lambda: 0)
        environment = RING | dict(settings or {})
        opened = await open_service(database, environment, base_url=base_url, sandbox_url=networks.url, clock=clock)
        app = make_application(opened.service)
        runner = ServerRunner(app, 5)
        await runner.setup()
        await web.SockSite(runner, listening).start()
        client = httpx.AsyncClient(base_url=base_url, trust_env=False, timeout=60)
        try:
            server = Served(opened.service, database, base_url, networks, hands, client, get_schemas(), app[REQUESTS])
            if copied is not None:
                server.people = {
                    name: evolve(person, tokens=dict(person.tokens)) for name, person in copied.people.items()
                }
                server.accounts, server.foreign = dict(copied.accounts), dict(copied.foreign)
            else:
                await server.add("admin", "shop", "admin")
                await server.add("member", "shop", "member")
                await server.add("viewer", "shop", "viewer")
                await server.add("stranger", "other", "admin")
            yield server
        finally:
            await client.aclose()
            await runner.cleanup()
            await opened.service.close()


# -- connecting as a person does ----------------------------------------------------------------------------------


async def serve_connected(database: str) -> Served:
    """Connect every network, and meta in the other workspace as well; the environment, which is ended."""
    async with serve_api(database) as server:
        for network in ADAPTER_PACKAGES:
            await connect(server, network)
        await connect(server, "meta", "stranger")
    return server


async def consent(server: Served, network: str, name: str = "admin") -> httpx.Response:
    """Ask for a link, open it in a browser of its own, and press the button; the last page."""
    link = await server.person(name).post("/connections/authorize", {"network": network}, 201)
    async with httpx.AsyncClient(follow_redirects=True, trust_env=False, timeout=30) as browser:
        page = await press(browser, await browser.get(link["url"]))  # our own page, then the network's
        return await press(browser, page)


async def press(browser: httpx.AsyncClient, page: httpx.Response, follow: bool = True) -> httpx.Response:
    """Press the one button of a page."""
    form = FormParser()
    form.feed(page.text)
    assert page.status_code == 200 and form.action is not None, page.text
    address = urljoin(str(page.url), form.action)
    return await browser.request(form.method.upper(), address, data=form.fields, follow_redirects=follow)


def make_credentials(network: str, **changes: str) -> dict[str, str]:
    """What a person gives to connect a network without consent page."""
    own = {to_camel(name): value for name, value in get_sandbox_credentials(network).items()}
    return {"network": network, **own, **changes}


async def connect(server: Served, network: str, name: str = "admin") -> str:
    """Connect a network; returns the account id of its account in US dollars."""
    if get_adapter(network).network.login.kind == "credentials":
        await server.person(name).post("/connections/credentials", make_credentials(network), 201)
    else:
        page = await consent(server, network, name)
        assert page.status_code == 200, page.text
    await server.wait_for_background_tasks()
    accounts = await server.person(name).get("/accounts", network=network)
    in_dollars = [account["accountId"] for account in accounts if account["currency"] == "USD"]
    assert in_dollars, f"the simulated network {network} needs an account in USD"
    account_id: str = in_dollars[0]
    (server.accounts if server.people[name].actor.workspace_id == _home(server) else server.foreign)[network] = (
        account_id
    )
    return account_id


def _home(server: Served) -> str:
    return server.people["admin"].actor.workspace_id


# -- briefs -------------------------------------------------------------------------------------------------------


def brief(network: str, **changes: Any) -> dict[str, Any]:
    """A brief that the network accepts, each with a name of its own (some networks demand that).

    ``changes`` replace members (``targeting__countries=[...]`` a nested one); None leaves one out.
    """
    samples = get_samples(network)
    campaign: dict[str, Any] = {
        **load_sample(network),
        "name": f"Garden chairs {next(_numbers)}",
        "budget": {"amount": "20", "currency": "USD", "period": "daily"},
        "schedule": {"startAt": "2030-01-15T09:00:00Z", "endAt": "2030-02-15T09:00:00Z"},
        **samples.brief_members,
    }
    if samples.make_creative is not None:
        campaign["creative"] = samples.make_creative()
    return change_brief(campaign, changes)


async def stock_entities(server: Served, kind: str, count: int) -> list[str]:
    """So many more of a kind of Meta's in the account in dollars, each as the one that is made first; their ids."""
    body = {"accountId": server.accounts["meta"], "campaign": brief("meta")}
    operation = await server.admin.execute((await server.admin.post("/create", body, 201))["id"])
    outputs = {step["key"]: step["outputs"] for step in operation["receipt"]["steps"]}
    world = server.networks.state.worlds["meta"]
    first = world.find(kind, outputs[kind]["id"])
    assert first is not None
    return [world.create(kind, first.account, first.data, parent=first.parent, logged=False).id for _ in range(count)]
