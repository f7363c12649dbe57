"""What the client's methods are given, what they return, and servers that do not answer."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Awaitable, Callable
from datetime import date, datetime
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import httpx
import pytest
from attrs import evolve
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import adsunify
from adsunify import AsyncAds, Budget, CampaignBrief, Schedule, read_brief
from adsunify.answers import Account, Operation
from adsunify.client.http_backend import HttpBackend
from adsunify.errors import EXTRA_BY_PACKAGE, InvalidInput, ProviderThrottled, RateLimited, ServerUnreachable
from adsunify.problem_details import to_problem_details
from tests.server.served import NEVER, Served, brief

from .conftest import DOORS, serve_answer

pytestmark = pytest.mark.asyncio(loop_scope="module")
ROOT = Path(adsunify.__file__).parents[1]
Ask = Callable[[AsyncAds], Awaitable[Any]]


async def test_a_server_that_is_slow() -> None:
    async def keep_silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async with await asyncio.start_server(keep_silent, "127.0.0.1", 0) as listening:
        url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        async with AsyncAds(url, token="t", timeout=httpx.Timeout(30, read=0.1)) as ads:
            with pytest.raises(ServerUnreachable, match="No response in time") as error:
                await ads.operations.execute(NEVER, confirmed=True)
    assert (error.value.code, error.value.outcome) == ("server_unreachable", "unknown")


async def test_something_else_answers_in_place_of_the_server() -> None:
    page = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 15\r\n\r\n<html>no</html>"
    async with serve_answer(page) as url, AsyncAds(url, token="t") as ads:
        with pytest.raises(
            ServerUnreachable, match=r"HTTP 200, text/html\. Check that this is the address of an adsunify server"
        ):
            await ads.networks.list().all()


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        (b"Retry-After: 7\r\n", 7.0),
        (b"Retry-After: Tue, 01 Jan 2030 00:00:30 GMT\r\nDate: Tue, 01 Jan 2030 00:00:00 GMT\r\n", 30.0),
        (b"Retry-After: Tue, 01 Jan 2030 00:01:00 GMT\r\n", 60.0),
        (b"Retry-After: soon\r\n", 0.0),
    ],
)
@pytest.mark.parametrize(
    "limit", [RateLimited("Too many.", retry_after=0), ProviderThrottled("Later.")], ids=lambda limit: limit.code
)
async def test_a_wait_in_every_form(limit: RateLimited | ProviderThrottled, headers: bytes, seconds: float) -> None:
    """A proxy before the server may ask to wait with a date (RFC 9110, 10.2.3)."""
    problem = json.dumps(to_problem_details(limit)).encode()
    head = b"HTTP/1.1 429 Too Many Requests\r\nContent-Type: application/problem+json\r\n"
    answer = head + headers + f"Content-Length: {len(problem)}\r\n\r\n".encode() + problem
    async with serve_answer(answer) as url, AsyncAds(url, token="t", max_retries=0) as ads:
        door = ads.backend
        assert isinstance(door, HttpBackend)
        ads._backend = evolve(door, current_time=lambda: 1893456000.0)  # 2030-01-01T00:00:00Z
        with pytest.raises(type(limit)) as error:
            await ads.networks.list().all()
    assert (error.value.retry_after or 0.0) == seconds


# -- what the methods are given -----------------------------------------------------------------------------------

ACCOUNT = Account.model_validate(
    {"accountId": NEVER, "network": "meta", "nativeId": "1", "name": None, "currency": "USD", "timezone": None}
    | {"status": "active", "nativeStatus": None, "connectionId": NEVER, "extras": {}}
)
OPERATION = Operation.model_validate(
    {"id": NEVER, "status": "prepared", "action": "create", "network": "meta", "accountId": NEVER, "risk": "low"}
    | {"createdBy": {"userId": NEVER, "credential": "local"}, "createdAt": "2030-01-01T00:00:00Z", "warnings": []}
    | {"expiresAt": "2030-01-01T00:30:00Z", "expired": False, "stalled": False, "reviewUrl": "https://ads.example/r"}
    | {"plan": {"version": 1, "digest": "d"}, "receipt": {"steps": []}}
)
BRIEF = read_brief(brief("meta"))
EDIT = {"account": NEVER, "entity": "1"}
BULK = {"account": NEVER, "kind": "campaign", "entities": ["1"]}


async def forget_to_wait(operation: Operation) -> None:
    """A coroutine function, which nobody would await."""


GIVEN: list[tuple[str, Ask]] = [
    *(
        ("campaign", lambda ads, wrong=wrong: ads.campaigns.create(NEVER, wrong))
        for wrong in (None, "brief.json", b"{}", {}, 5)
    ),
    *(("campaign", lambda ads, wrong=wrong: ads.campaigns.validate(NEVER, wrong)) for wrong in (None, "brief.json")),
    *(
        ("accountId", lambda ads, wrong=wrong: ads.campaigns.create(wrong, BRIEF))
        for wrong in (None, 5, b"x", "", OPERATION, {"id": "x"})
    ),
    *(("accountId", lambda ads, wrong=wrong: ads.accounts.tree(wrong)) for wrong in (None, ["x"], OPERATION)),
    *(("accountId", lambda ads, wrong=wrong: ads.accounts.get(wrong)) for wrong in (None, 5)),
    ("accountId", lambda ads: ads.insights.daily(None, date(2026, 1, 1), date(2026, 1, 2))),
    *(
        ("startDate", lambda ads, wrong=wrong: ads.insights.daily(NEVER, wrong, date(2026, 1, 2)))
        for wrong in (None, "2026-01-01", datetime(2026, 1, 1))
    ),
    ("accountId", lambda ads: ads.accounts.catalog(None, "pages").all()),
    ("resource", lambda ads: ads.accounts.catalog(NEVER, None).all()),
    ("search", lambda ads: ads.accounts.catalog(NEVER, "pages", search=b"tea").all()),
    *(
        ("operationId", lambda ads, wrong=wrong: ads.operations.execute(wrong, confirmed=True))
        for wrong in (None, 5, b"x", ACCOUNT)
    ),
    ("confirmed", lambda ads: ads.operations.run(NEVER, confirmed=False)),
    *(
        ("progress", lambda ads, wrong=wrong: ads.operations.run(NEVER, confirmed=True, progress=wrong))
        for wrong in ("x", 5, forget_to_wait)
    ),
    ("progress", lambda ads: ads.operations.run_many([NEVER], confirmed=True, progress="x")),
    ("progress", lambda ads: ads.launches.wait(NEVER, progress="x")),
    *(("operationId", lambda ads, wrong=wrong: ads.operations.cancel(wrong)) for wrong in (None, "", ACCOUNT)),
    ("operationId", lambda ads: ads.operations.get(None)),
    ("operationIds.1", lambda ads: ads.operations.execute_many([NEVER, 5], confirmed=True)),
    ("sourceOperationId", lambda ads: ads.campaigns.activate(ACCOUNT, None)),
    ("accountId", lambda ads: ads.campaigns.activate(None, OPERATION)),
    *(
        ("entityIds", lambda ads, wrong=wrong: ads.bulk.status(**{**BULK, "entities": wrong}, status="paused"))
        for wrong in ("123", b"123", None, {"123": 1}, 123)
    ),
    ("entityIds.0", lambda ads: ads.bulk.status(**{**BULK, "entities": [1]}, status="paused")),
    *(
        ("kind", lambda ads, wrong=wrong: ads.bulk.status(**{**BULK, "kind": wrong}, status="paused"))
        for wrong in (b"campaign", "campain", None)
    ),
    ("value", lambda ads: ads.bulk.edit(**BULK, field="budget", mode="set", value=25.5)),
    ("fields.budget", lambda ads: ads.campaigns.edit(**EDIT, fields={"budget": 25.5})),
    ("targeting", lambda ads: ads.campaigns.edit(**EDIT, targeting={"locations": []})),
    ("expiresAt", lambda ads: ads.keys.create(name="x", expires_at=datetime(2030, 1, 1))),
    ("name", lambda ads: ads.keys.create(name=None)),
    ("Idempotency-Key", lambda ads: ads.campaigns.create(NEVER, BRIEF, idempotency_key=5)),
    *(("network", lambda ads, wrong=wrong: ads.connections.create(wrong)) for wrong in (None, ["meta"], 5, "facebook")),
    *(("network", lambda ads, wrong=wrong: ads.networks.get(wrong)) for wrong in (None, b"meta", "facebook")),
    *(("network", lambda ads, wrong=wrong: ads.accounts.list(network=wrong).all()) for wrong in (5, "facebook")),
    ("apiKey", lambda ads: ads.connections.create("chatgpt", api_key=b"sk-1")),
    ("connectionId", lambda ads: ads.connections.disconnect(None)),
    ("operationId", lambda ads: ads.call(None)),
    ("accountId", lambda ads: ads.call("get_account")),
    ("accountId", lambda ads: ads.call("get_account", path={"accountId": None})),
    ("path", lambda ads: ads.call("get_account", path="x")),
    ("network", lambda ads: ads.call("get_accounts", query={"network": 5})),
    ("network", lambda ads: ads.call("get_accounts", query={"network": "\ud800"})),
    ("accountId", lambda ads: ads.accounts.get("\ud800")),
    ("search", lambda ads: ads.accounts.catalog(NEVER, "pages", search="\ud800").all()),
    ("Idempotency-Key", lambda ads: ads.campaigns.create(NEVER, BRIEF, idempotency_key="\ud800")),
    *(("kind", lambda ads, wrong=wrong: ads.alerts.create(name="Fast", kind=wrong)) for wrong in ([], {}, 5, "fast")),
    ("payload.when", lambda ads: ads.campaigns.create_native(NEVER, payload={"when": date(2030, 1, 1)})),
    ("payload.tags", lambda ads: ads.campaigns.create_native(NEVER, payload={"tags": {"US"}})),
    ("payload.rate", lambda ads: ads.campaigns.create_native(NEVER, payload={"rate": float("nan")})),
    ("payload", lambda ads: ads.campaigns.create_native(NEVER, payload={1: 2})),
]


@pytest.mark.parametrize("door", DOORS)
async def test_what_no_method_takes(server: Served, clients: dict[str, AsyncAds], door: str) -> None:
    """One clear exception of ours, which names the member, through both doors; and nothing is asked of a server."""
    rows = await server.rows()
    for path, ask in GIVEN:
        with pytest.raises(InvalidInput) as error:
            await ask(clients[door])
        assert path in [issue.path for issue in error.value.issues], (path, error.value)
    assert await server.rows() == rows


@pytest.mark.parametrize(
    ("make", "path", "words"),
    [
        (lambda: Budget(amount=12.5, currency="USD", period="daily"), "amount", "A float is not exact."),
        (lambda: Schedule(strat_at="2030-01-01T00:00:00Z"), "strat_at", "Did you mean startAt?"),
        (lambda: CampaignBrief(nmae="Tea"), "nmae", "Did you mean name?"),
        (lambda: CampaignBrief(budget=None), "budget", "must be an object"),
    ],
)
async def test_a_brief_is_made_of_known_members(make: Callable[[], Any], path: str, words: str) -> None:
    with pytest.raises(InvalidInput) as error:
        make()
    (message,) = [issue.message for issue in error.value.issues if issue.path == path]
    assert words in message


@pytest.mark.parametrize(
    ("options", "path"),
    [
        *(({"url": None}, "server"), ({"url": Path("ads.db")}, "server"), ({"token": 5}, "token")),
        ({"workspace": "shop"}, "workspace"),
    ],
)
async def test_what_no_client_is_opened_with(options: dict[str, Any], path: str) -> None:
    with pytest.raises(InvalidInput) as error:
        async with AsyncAds(**{"url": "https://ads.example", "token": "t", **options}):
            pass
    assert [issue.path for issue in error.value.issues] == [path]


async def test_answers_can_be_kept_in_sets() -> None:
    again = Account.model_validate(ACCOUNT.to_dict())
    assert {ACCOUNT, again, OPERATION} == {ACCOUNT, OPERATION}
    assert Account.model_validate({**ACCOUNT.to_dict(), "name": "Shop"}) != ACCOUNT


async def test_answers_of_a_newer_server() -> None:
    """Unknown members and choices are kept; the JSON is as it came."""
    wire = {**ACCOUNT.to_dict(), "status": "frozen", "balance": {"amount": "1.10"}}
    account = Account.model_validate(wire)
    assert (account.status, account.model_extra) == ("frozen", {"balance": {"amount": "1.10"}})
    assert account.to_dict() == wire and list(account.to_dict()) == list(wire)


async def test_the_package_lists_its_names() -> None:
    public = {name for name in dir(adsunify) if not name.startswith("__")}
    assert public == set(adsunify.__all__)
    assert all(hasattr(adsunify, name) for name in dir(adsunify))


async def test_the_package_alone(tmp_path: Path) -> None:
    """Plans, briefs, webhooks and the client of a server need no extra; a store names the one it needs."""
    script = Path(__file__).with_name("alone.py")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(script), "--blocked"]
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (0, "adsunify alone works\n"), ran.stderr


async def test_each_package_of_an_extra_is_known() -> None:
    """Where one is missing, the error names the extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    modules: dict[str, list[str]] = {}
    for module, names in packages_distributions().items():
        for name in names:
            modules.setdefault(canonicalize_name(name), []).append(module)

    def name_packages(requirements: list[str]) -> set[str]:
        names = {canonicalize_name(Requirement(requirement).name) for requirement in requirements} - {"adsunify"}
        return {module for name in names for module in modules[name] if not module.startswith("_")}

    needed = name_packages(project["dependencies"]) | {"httpcore"}  # httpx needs it
    extras = {
        module: extra
        for extra, requirements in project["optional-dependencies"].items()
        for module in name_packages(requirements) - needed
    }
    assert extras == EXTRA_BY_PACKAGE
