"""What the client's methods are given, what they return, and servers that do not answer."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Awaitable, Callable
from datetime import date
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import httpx
import pytest
from attrs import evolve
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import adsunify
from adsunify import AsyncAds
from adsunify.client import Account, Connection, Operation
from adsunify.client.http_backend import HttpBackend
from adsunify.errors import EXTRA_BY_PACKAGE, InvalidInput, ProviderThrottled, RateLimited, ServerUnreachable
from adsunify.problem_details import to_problem_details
from tests.server.served import NEVER, Served, brief

from .conftest import DOORS, answering

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
                await ads.execute(NEVER, confirmed=True)
    assert (error.value.code, error.value.outcome) == ("server_unreachable", "unknown")


async def test_something_else_answers_in_place_of_the_server() -> None:
    page = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 15\r\n\r\n<html>no</html>"
    async with answering(page) as url, AsyncAds(url, token="t") as ads:
        with pytest.raises(
            ServerUnreachable, match=r"HTTP 200, text/html\. Check that this is the address of an adsunify server"
        ):
            await ads.networks()


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
    "limit", [RateLimited("Too many.", retry_after=0), ProviderThrottled("Later.")], ids=lambda one: one.code
)
async def test_a_wait_in_every_form(limit: RateLimited | ProviderThrottled, headers: bytes, seconds: float) -> None:
    """A proxy before the server may ask to wait with a date (RFC 9110, 10.2.3)."""
    problem = json.dumps(to_problem_details(limit)).encode()
    head = b"HTTP/1.1 429 Too Many Requests\r\nContent-Type: application/problem+json\r\n"
    answer = head + headers + f"Content-Length: {len(problem)}\r\n\r\n".encode() + problem
    async with answering(answer) as url, AsyncAds(url, token="t", max_retries=0) as ads:
        door = ads.backend
        assert isinstance(door, HttpBackend)
        ads._backend = evolve(door, current_time=lambda: 1893456000.0)  # 2030-01-01T00:00:00Z
        with pytest.raises(type(limit)) as error:
            await ads.networks()
    assert (error.value.retry_after or 0.0) == seconds


# -- what the methods are given -----------------------------------------------------------------------------------

ACCOUNT = Account({"accountId": NEVER, "network": "meta"})
OPERATION = Operation({"id": NEVER})
GIVEN: list[tuple[str, Ask]] = [
    *(("campaign", lambda ads, one=one: ads.create(NEVER, one)) for one in (None, "brief.json", b"{}", [], 5)),
    *(("campaign", lambda ads, one=one: ads.validate(NEVER, one)) for one in (None, "brief.json")),
    *(("accountId", lambda ads, one=one: ads.create(one, {})) for one in (None, 5, b"x", "", OPERATION, {"id": "x"})),
    *(("accountId", lambda ads, one=one: ads.tree(one)) for one in (None, ["x"], OPERATION)),
    ("accountId", lambda ads: ads.account(None)),
    ("accountId", lambda ads: ads.insights(None, "2026-01-01", "2026-01-02")),
    ("accountId", lambda ads: ads.catalog(None, "pages")),
    ("resource", lambda ads: ads.catalog(NEVER, None)),
    ("search", lambda ads: ads.catalog(NEVER, "pages", search=b"tea")),
    *(("operationId", lambda ads, one=one: ads.execute(one, confirmed=True)) for one in (None, 5, b"x", ACCOUNT)),
    *(("operationId", lambda ads, one=one: ads.cancel(one)) for one in (None, "", ACCOUNT)),
    ("operationId", lambda ads: ads.operation(None)),
    ("sourceOperationId", lambda ads: ads.activate(ACCOUNT, None)),
    ("accountId", lambda ads: ads.activate(None, OPERATION)),
    *(
        ("entityIds", lambda ads, one=one: ads.set_status(NEVER, "campaign", one, "paused"))
        for one in ("123", b"123", None, {"123": 1}, 123)
    ),
    ("kind", lambda ads: ads.set_status(NEVER, b"campaign", ["1"], "paused")),
    ("Idempotency-Key", lambda ads: ads.create(NEVER, {}, idempotency_key=5)),
    *(("network", lambda ads, one=one: ads.connect(one)) for one in (None, ["meta"], 5)),
    *(("network", lambda ads, one=one: ads.network(one)) for one in (None, b"meta")),
    ("network", lambda ads: ads.accounts(5)),
    ("apiKey", lambda ads: ads.connect("chatgpt", api_key=b"sk-1")),
    ("connectionId", lambda ads: ads.disconnect(None)),
    ("operationId", lambda ads: ads.call(None)),
    ("accountId", lambda ads: ads.call("get_account")),
    ("accountId", lambda ads: ads.call("get_account", path={"accountId": None})),
    ("path", lambda ads: ads.call("get_account", path="x")),
    ("network", lambda ads: ads.call("get_accounts", query={"network": 5})),
    ("campaign.schedule.startAt", lambda ads: ads.create(NEVER, {"schedule": {"startAt": date(2030, 1, 1)}})),
    ("campaign.targeting.countries", lambda ads: ads.create(NEVER, {"targeting": {"countries": {"US"}}})),
    ("campaign.budget.amount", lambda ads: ads.create(NEVER, {"budget": {"amount": float("nan")}})),
    ("campaign.platform.0", lambda ads: ads.create(NEVER, {"platform": [object()]})),
    ("campaign", lambda ads: ads.create(NEVER, {1: 2})),
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


@pytest.mark.parametrize("door", DOORS)
async def test_a_float_is_no_amount(server: Served, clients: dict[str, AsyncAds], door: str) -> None:
    campaign = brief("meta")
    campaign["budget"] = {**campaign["budget"], "amount": 12.5}
    with pytest.raises(InvalidInput) as error:
        await clients[door].create(server.accounts["meta"], campaign)
    assert [issue.path for issue in error.value.issues] == ["campaign.budget.amount"]


@pytest.mark.parametrize(
    ("given", "path"), [({"url": None}, "server"), ({"url": Path("ads.db")}, "server"), ({"token": 5}, "token")]
)
async def test_what_no_client_is_opened_with(given: dict[str, Any], path: str) -> None:
    with pytest.raises(InvalidInput) as error:
        async with AsyncAds(**{"url": "https://ads.example", "token": "t", **given}):
            pass
    assert [issue.path for issue in error.value.issues] == [path]


async def test_records_can_be_kept_in_sets() -> None:
    again = Account({"network": "meta", "accountId": NEVER})
    assert {ACCOUNT, again, OPERATION} == {ACCOUNT, OPERATION}
    assert Account({"accountId": "other"}) != ACCOUNT
    connection = Connection({"connectionId": NEVER}, (ACCOUNT,))
    assert {connection: 1}[Connection({"connectionId": NEVER}, (again,))] == 1


async def test_the_package_lists_its_names() -> None:
    assert set(adsunify.__all__) <= set(dir(adsunify))
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
        names = {canonicalize_name(Requirement(one).name) for one in requirements} - {"adsunify"}
        return {module for name in names for module in modules[name] if not module.startswith("_")}

    needed = name_packages(project["dependencies"]) | {"httpcore"}  # httpx needs it
    found = {
        module: extra
        for extra, requirements in project["optional-dependencies"].items()
        for module in name_packages(requirements) - needed
    }
    assert found == EXTRA_BY_PACKAGE
