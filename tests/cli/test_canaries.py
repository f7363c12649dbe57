"""Every secret that a server ever holds is planted, and a whole life with its failures is lived. Then nothing of ours
holds a secret in the clear: no database file, no log line, answer or event, no agent's output, no child's environment.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from base64 import b64encode
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from attrs import define, field
from sqlalchemy import Connection, select, text

from adsunify import encryption
from adsunify.contract.requests import get_credential_sets, list_credential_networks
from adsunify.encryption import SecretContext
from adsunify.networks.registry import ADAPTER_PACKAGES
from adsunify.store import Store, encrypted_secrets, open_store
from adsunify.store.schema import metadata, secrets
from adsunify.testing.connecting import get_sandbox_credentials
from tests.databases import LONG_RUN, empty_database
from tests.pages.browsing import Browser
from tests.server.served import brief

from .running import BRIEF, ROOT, run

PREFIX = "/api/v1/ads"
PASSWORD = "canary-password-of-ada"
WRONG = {
    "api_key": "canary-wrong-api-key",
    "password": "canary-wrong-password",
    "bearer": "adu_canary00_" + "w" * 43,
}


@define
class Life:
    """A server process, what it was told to keep secret, and everything it ever said."""

    base_url: str
    networks: str
    token: str
    accounts: Mapping[str, str]
    process: asyncio.subprocess.Process
    http: httpx.AsyncClient
    outputs: list[str] = field(factory=list)
    planted: dict[str, str] = field(factory=dict)

    async def ask(self, method: str, path: str, body: Any = None, *, once: bool = False, token: str = "") -> Any:
        """A request to the REST API. ``once``: the answer shows a secret, as it may this one time."""
        bearer = {"Authorization": f"Bearer {token or self.token}"}
        answer = await self.http.request(method, PREFIX + path, json=body, headers=bearer)
        if not once:
            self.record(answer)
        return answer.json()

    def record(self, answer: httpx.Response) -> None:
        headers = [value for name, value in answer.headers.items() if name != "set-cookie"]
        self.outputs += [answer.text, *headers]

    async def fault(self, network: str, fault: str, **more: Any) -> None:
        async with httpx.AsyncClient(trust_env=False) as client:
            await client.post(f"{self.networks}/_sandbox/faults", json={"network": network, "fault": fault, **more})

    def plant(self, name: str, secret: str) -> None:
        self.planted[name] = secret


@pytest.fixture(params=LONG_RUN)
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return empty_database(request.param, request, tmp_path)


async def run_mcp(stdin: bytes, **environment: str) -> list[str]:
    """``adsunify mcp`` in a process of its own; what it said."""
    pipe = asyncio.subprocess.PIPE
    started = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "adsunify", "mcp",
        env={**os.environ, **environment}, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=pipe,
    )  # fmt: skip
    return [part.decode() for part in await started.communicate(stdin)]


@asynccontextmanager
async def run_server(database: str, ring: encryption.KeyRing, log: Path) -> AsyncIterator[Life]:
    """A server with every network connected, which tells its log everything it can."""
    where = {"ADSUNIFY_DATABASE_URL": database, "ADSUNIFY_SECRET_KEYS": ring.to_text()}
    init = ("admin", "init", "--workspace", "sandbox", "--email", "ada@shop.example", "--json")
    first = (await asyncio.to_thread(run, *init, **where, ADSUNIFY_PASSWORD=PASSWORD)).data
    with log.open("wb") as errors:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "adsunify", "serve", "--sandbox", "--port", "0", "--json",
            "--log-level", "debug", "--webhook-dev-target", "http://127.0.0.1:9/hook",
            env={**os.environ, **where, "ADSUNIFY_READS_PER_MINUTE": "0"}, cwd=ROOT,
            stdout=asyncio.subprocess.PIPE, stderr=errors,
        )  # fmt: skip
    assert process.stdout is not None
    ready = json.loads(await process.stdout.readline())
    accounts = {row["network"]: row["accountId"] for row in ready["accounts"]}
    async with httpx.AsyncClient(base_url=ready["baseUrl"], trust_env=False, timeout=60) as http:
        life = Life(ready["baseUrl"], ready["sandboxUrl"], ready["apiKey"], accounts, process, http)
        life.plant("ada's password", PASSWORD)
        life.plant("ada's key", first["apiKey"])
        life.plant("the server's key", ready["apiKey"])
        for id_, key in ring.keys.items():
            life.plant(f"ring key {id_}", encryption.format_key(id_, key).partition(":")[2])
        try:
            yield life
        finally:
            process.terminate()
            out, _ = await process.communicate()
            life.outputs.append(out.decode())


def _decrypt_secrets(connection: Connection, ring: encryption.KeyRing) -> Iterator[tuple[str, str]]:
    for row in connection.execute(select(secrets)).all():
        place = SecretContext(row.table_name, row.row_id, row.workspace_id, row.field)
        yield f"{row.table_name} {row.row_id} {row.field}", encryption.decrypt(ring, place, row.sealed)


async def read_sealed_secrets(store: Store, ring: encryption.KeyRing) -> dict[str, str]:
    """Every text inside of what the vault keeps."""
    secrets_by_place: dict[str, str] = {}
    for name, plain in await store.read(lambda connection: list(_decrypt_secrets(connection, ring))):
        members = json.loads(plain) if plain.startswith("{") else {"": plain}
        for member, value in _list_texts(members):
            if any(word in member.lower() for word in ("token", "secret", "key", "password")) or not member:
                secrets_by_place[f"{name} {member}"] = value
    return secrets_by_place


def _list_texts(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for member, inner in value.items():
            yield from _list_texts(inner, member)
    elif isinstance(value, str) and len(value) > 7:
        yield name, value


# -- the life -----------------------------------------------------------------------------------------------------


async def use_server(life: Life, store: Store, ring: encryption.KeyRing) -> None:
    """Everything that a server does, with everything that goes wrong."""
    life.planted |= await read_sealed_secrets(store, ring)
    await _use_pages(life)
    await _use_campaigns(life)
    await _cause_errors(life)
    await _use_agents(life)
    await _run_commands(life)
    life.planted |= await read_sealed_secrets(store, ring)  # the commands above refreshed tokens
    await _cause_internal_error(life, store)


async def _use_pages(life: Life) -> None:
    async with httpx.AsyncClient(trust_env=False, timeout=60, follow_redirects=True) as http:
        browser = Browser(http, life.base_url)
        await browser.open("/sign-in")
        await browser.send({"email": "ada@shop.example", "password": "canary-wrong-password"}, expected=401)
        assert browser.answer is not None
        life.record(browser.answer)
        await browser.sign_in("ada@shop.example", PASSWORD)
        for cookie in http.cookies.jar:
            life.plant(f"cookie {cookie.name}", str(cookie.value))
        for path in ("/operations", "/accounts", "/connections", "/keys", "/agents", "/webhooks", "/people"):
            answer = await http.get(life.base_url + path)
            life.record(answer)


async def _use_campaigns(life: Life) -> None:
    key = await life.ask("POST", "/keys", {"name": "canary", "canWrite": True}, once=True)
    life.plant("a key", key["data"]["secret"])
    hook = await life.ask("POST", "/webhooks", {"url": "http://127.0.0.1:9/hook"}, once=True)
    life.plant("a webhook's secret", hook["data"]["secret"])
    await life.ask("POST", f"/webhooks/{hook['data']['webhookId']}/test", {})
    link = await life.ask("POST", "/connections/authorize", {"network": "meta"}, once=True)
    life.plant("a consent link", link["data"]["url"].rpartition("/")[2])
    life.record(await life.http.get("/connect/" + life.planted["a consent link"] + "x"))
    for network in ADAPTER_PACKAGES:
        account = life.accounts[network]
        operation = await life.ask("POST", "/create", {"accountId": account, "campaign": brief(network)})
        await life.ask("POST", f"/operations/{operation['data']['id']}/execute", {"confirmed": True})
        await life.ask("GET", f"/accounts/{account}/tree")
        await life.ask("GET", f"/accounts/{account}/insights?startDate=2026-01-01&endDate=2026-01-02")
    for path in ("/keys", "/webhooks", "/connections", "/operations", "/accounts", "/auth/verify"):
        await life.ask("GET", path)


async def _cause_errors(life: Life) -> None:
    for network in ("meta", "amazon"):
        account = life.accounts[network]
        for fault, more in (
            ("status", {"value": 401, "times": 1}),
            ("status", {"value": 500}),
            ("html", {}),
            ("truncate", {}),
            ("reset_before", {}),
        ):
            await life.fault(network, fault, **more)
            await life.ask("GET", f"/accounts/{account}/tree")
            await life.fault(network, fault, method="POST", **more)
            prepared = await life.ask("POST", "/create", {"accountId": account, "campaign": brief(network)})
            if "data" in prepared:
                await life.ask("POST", f"/operations/{prepared['data']['id']}/execute", {"confirmed": True})
    wrong = {
        "chatgpt": {"apiKey": WRONG["api_key"]},
        "outbrain": {"username": "sandbox-outbrain", "password": WRONG["password"]},
        "apple": {"clientId": "c", "teamId": "t", "keyId": "k", "privateKey": "canary-private-key"},
    }
    for network, credentials in wrong.items():
        await life.ask("POST", "/connections/credentials", {"network": network, **credentials})
    await life.ask("POST", "/connections/credentials", {"network": "chatgpt", "apiKey": "canary-api key", "x": "y"})
    await life.ask("GET", "/accounts", token=WRONG["bearer"])
    await life.ask("GET", f"/accounts?network={WRONG['api_key']}")
    life.record(await life.http.get(f"/connect/callback/meta?state=canary-state-of-nothing&code={WRONG['api_key']}"))
    for name, value in (*WRONG.items(), ("key", "canary-private-key"), ("state", "canary-state-of-nothing")):
        life.plant(f"wrong {name}", value)


async def _use_agents(life: Life) -> None:
    headers = {
        "Authorization": f"Bearer {life.token}",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2025-11-25",
    }
    mcp_requests: list[tuple[str, dict[str, Any]]] = [("tools/list", {})]
    calls = [
        {"name": "call_tool", "arguments": {"operationId": operation, "arguments": {}}}
        for operation in ("get_connections", "get_keys", "get_webhooks", "get_operations")
    ]
    calls.append({"name": "execute", "arguments": {"operationId": "nonsense", "confirmed": True}})
    mcp_requests += [("tools/call", call) for call in calls]
    for number, (method, parameters) in enumerate(mcp_requests):
        body = {"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}
        life.record(await life.http.post("/api/mcp", json=body, headers=headers))
    lines = "".join(
        json.dumps({"jsonrpc": "2.0", "id": n, "method": method, "params": parameters}) + "\n"
        for n, (method, parameters) in enumerate(mcp_requests)
    )
    life.outputs += await run_mcp(lines.encode(), ADSUNIFY_SERVER=life.base_url, ADSUNIFY_TOKEN=life.token)


async def _run_commands(life: Life) -> None:
    key = get_sandbox_credentials("chatgpt")["api_key"]
    where = {"ADSUNIFY_SERVER": life.base_url, "ADSUNIFY_TOKEN": life.token, "ADSUNIFY_CHATGPT_API_KEY": key}
    commands = (
        ("operations", "--json"),
        ("create", life.accounts["chatgpt"], BRIEF),
        ("execute", "nonsense"),
        ("accounts",),
        ("connect", "chatgpt"),
    )
    for arguments in commands:
        ran = await asyncio.to_thread(run, *arguments, **where)
        life.outputs += [ran.out, ran.err]


async def _cause_internal_error(life: Life, store: Store) -> None:
    """An internal error is written to the log with its traceback, and shown to nobody."""
    connections = (await life.ask("GET", "/connections"))["data"]
    broken = next(
        connection
        for connection in connections
        if connection["network"] == "pinterest" and connection["status"] == "active"
    )
    workspace = (await life.ask("GET", "/auth/verify"))["data"]["workspaceId"]
    altered = {"credentials": f"{'k'}.{'A' * 80}"}
    await store.write(
        encrypted_secrets.save_secrets, "connections", broken["connectionId"], workspace, altered, store.clock
    )
    problem = await life.ask("GET", f"/accounts/{life.accounts['pinterest']}/tree")
    assert problem["status"] == 500
    await life.ask("DELETE", f"/connections/{broken['connectionId']}")


# -- the search ---------------------------------------------------------------------------------------------------


def list_spellings(secret: str) -> set[bytes]:
    """How a secret may stand somewhere: as it is, in JSON, in an address, in base64."""
    lines = [line for line in secret.splitlines() if len(line) > 7 and not line.startswith("-----")]
    return {
        spelled
        for line in lines
        for spelled in (
            line.encode(),
            json.dumps(line)[1:-1].encode(),
            quote(line, safe="").encode(),
            b64encode(line.encode()).rstrip(b"="),
        )
    }


def find_hits(planted: Mapping[str, str], where: Mapping[str, bytes]) -> list[str]:
    return [
        f"{name} in {place}"
        for place, content in where.items()
        for name, secret in planted.items()
        if any(spelled in content for spelled in list_spellings(secret))
    ]


def _read_rows(connection: Connection) -> dict[str, bytes]:
    """Every row of every table as text, as a dump holds it."""
    return {
        table.name: "\n".join(
            str(tuple(row)) for row in connection.execute(text(f"SELECT * FROM {table.name}")).all()
        ).encode()
        for table in metadata.sorted_tables
    }


def _read_children(process: int) -> dict[str, bytes]:
    """The environments and command lines of the process's children, and its own command line."""
    contents = {"the command line": Path(f"/proc/{process}/cmdline").read_bytes()}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = stat.read_text().rpartition(")")[2].split()[1]
            if parent == str(process):
                contents[f"child {stat.parent.name}"] = b"".join(
                    (stat.parent / name).read_bytes() for name in ("environ", "cmdline")
                )
        except OSError:  # it ended at this moment
            continue
    return contents


async def test_no_secret_is_found_anywhere(database: str, tmp_path: Path) -> None:
    ring, log = encryption.make_key_ring(), tmp_path / "log"
    where: dict[str, bytes] = {}
    store: Store | None = None
    async with run_server(database, ring, log) as life:
        life.plant("client secret", "sandbox-secret")
        for network in list_credential_networks():
            credentials = get_sandbox_credentials(network)
            for member in chain.from_iterable(get_credential_sets(network)):
                if member.form != "text" and member.name in credentials:
                    life.plant(f"{network} {member.name}", credentials[member.name])
        store = await open_store(database)
        await use_server(life, store, ring)
        where |= _read_children(life.process.pid)
        for path in tmp_path.glob("*.db*"):  # with the WAL as it stands while the server runs
            where[path.name] = path.read_bytes()
        where |= await store.read(_read_rows)
    await store.close()
    for path in tmp_path.glob("*.db*"):
        where[f"{path.name}, closed"] = path.read_bytes()
    where["the log"] = log.read_bytes()
    where |= {f"answer {number}": output.encode() for number, output in enumerate(life.outputs)}
    assert sum(name.startswith("connections ") for name in life.planted) > len(ADAPTER_PACKAGES), (
        "all of them, and refreshed ones"
    )
    assert len(life.planted) > 30 and len(life.outputs) > 150
    assert b"Traceback" in where["the log"] and b"VaultError" in where["the log"]
    assert where["events"].count(b"operation.") > 12
    assert find_hits(life.planted, where) == []
    assert find_hits({"a word that stands everywhere": "operation.prepared"}, where), "the search itself finds"


def test_the_search_finds_what_is_hidden() -> None:
    secret = 'canary "secret" ключ'
    for spelled in (secret, json.dumps({"a": secret}), quote(secret, safe=""), b64encode(secret.encode()).decode()):
        assert find_hits({"it": secret}, {"there": f"x{spelled}y".encode()})
