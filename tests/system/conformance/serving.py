"""A server in a process of its own, as people start it, with something of everything in it."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
from attrs import define, field

from adsunify.adapter.oauth import make_code_challenge
from adsunify.service.factory import BAD_TOKENS_VARIABLE, READS_VARIABLE, REGISTRATIONS_VARIABLE, WRITES_VARIABLE
from adsunify.service.sandbox_workspace import SANDBOX_WORKSPACE
from tests.pages.browsing import PASSWORD, Browser
from tests.server.served import PREFIX, RING, brief

UNLIMITED = dict.fromkeys((READS_VARIABLE, WRITES_VARIABLE, BAD_TOKENS_VARIABLE, REGISTRATIONS_VARIABLE), "0")
"""Settings that lift the rate limits."""
PATHS = {"campaign": "campaigns", "adGroup": "ad-groups", "ad": "ads"}
AGENTS = ("Helper", "Reporter", "Planner")


@define
class World:
    """What the server holds, by the names of the parameters that ask for it."""

    base_url: str
    api_key: str
    key_id: str
    target: str
    http: httpx.Client
    database: str
    accounts: list[dict[str, str]]
    briefs: dict[str, Any] = field(factory=dict)
    entities: dict[str, dict[str, list[str]]] = field(factory=dict)
    resources: dict[str, list[str]] = field(factory=dict)
    ids: dict[str, list[str]] = field(factory=dict)
    every_account: list[str] = field(factory=list)

    def ask(self, method: str, path: str, body: Any = None, status: int = 200) -> Any:
        """The data of a good answer."""
        answer = self.http.request(method, PREFIX + path, json=body)
        if answer.status_code != status:
            raise RuntimeError(f"{method} {path}: {answer.status_code} {answer.text[:500]}")
        return answer.json()["data"]

    def to_json(self) -> dict[str, Any]:
        return {
            "apiKey": self.api_key,
            "keyId": self.key_id,
            "target": self.target,
            "accounts": self.every_account,
            "briefs": self.briefs,
            "entities": self.entities,
            "resources": self.resources,
            "networks": [account["network"] for account in self.accounts],
            "ids": self.ids,
        }


@contextmanager
def run_server(folder: Path, database: str) -> Iterator[World]:
    """Serve the database with simulated networks behind it; the server is ended and must have ended well."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    target = f"http://127.0.0.1:{port}/healthz"  # it answers 405: an end, and no retry
    command = [sys.executable, "-m", "adsunify", "serve", "--sandbox", "--json", "--port", str(port)]
    command += ["--database", database, "--webhook-dev-target", target, "--log-level", "error"]
    with (folder / "server.log").open("w") as log:
        server = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=log, text=True, env=os.environ | RING | UNLIMITED
        )
        assert server.stdout is not None
        try:
            line = server.stdout.readline()
            if not line:
                raise RuntimeError(f"The server did not start.\n{(folder / 'server.log').read_text()}")
            ready = json.loads(line)
            with httpx.Client(
                base_url=ready["baseUrl"],
                headers={"Authorization": f"Bearer {ready['apiKey']}"},
                trust_env=False,
                timeout=120,
            ) as http:
                key_id = http.get(f"{PREFIX}/auth/verify").json()["data"]["credential"]
                yield World(ready["baseUrl"], ready["apiKey"], key_id, target, http, database, ready["accounts"])
        finally:
            server.terminate()
            ended = server.wait(120)
    if ended != 0:
        raise RuntimeError(f"The server ended with {ended}.\n{(folder / 'server.log').read_text()[-10_000:]}")


def fill(world: World) -> None:
    """A campaign on every network, operations in several states, keys, agents, webhooks with deliveries."""
    operations, sources = [], []
    rule = {"name": "spare", "blockedActions": ["delete"], "active": False}
    guardrails = [world.ask("POST", "/guardrails", rule, 201)["id"] for _ in range(5)]
    alert = {"name": "spare", "kind": "spendAbove", "amount": "20", "currency": "USD", "active": False}
    alerts = [world.ask("POST", "/alerts", alert, 201)["id"] for _ in range(5)]
    for account in world.accounts:
        account_id, network = account["accountId"], account["network"]
        world.briefs[account_id] = brief(network)
        body = {"accountId": account_id, "campaign": world.briefs[account_id]}
        operation_id = world.ask("POST", "/create", body, 201)["id"]
        world.ask("POST", f"/operations/{operation_id}/execute", {"confirmed": True})
        sources.append(operation_id)
        operations.append(world.ask("POST", "/create", body | {"campaign": brief(network)}, 201)["id"])
        catalogs = world.ask("GET", f"/networks/{network}")["catalogs"]
        world.resources[account_id] = [catalog["resource"] for catalog in catalogs]
        nodes = world.ask("GET", f"/accounts/{account_id}/tree")["nodes"]
        world.entities[account_id] = {kind: [node["id"] for node in nodes if node["kind"] == kind] for kind in PATHS}
    cancelled = world.ask("POST", "/create", body | {"campaign": brief(network)}, 201)["id"]
    world.ask("POST", f"/operations/{cancelled}/cancel", {})
    webhooks = [world.ask("POST", "/webhooks", {"url": world.target}, 201)["webhookId"] for _ in range(3)]
    deliveries = [world.ask("POST", f"/webhooks/{webhook_id}/test", {}, 202)["deliveryId"] for webhook_id in webhooks]
    for webhook_id in webhooks:  # what the suite prepares shall not become millions of deliveries
        world.ask("PATCH", f"/webhooks/{webhook_id}", {"events": ["rule.triggered"]})
    time.sleep(1)  # for an attempt of each
    world.every_account = [listed_account["accountId"] for listed_account in world.ask("GET", "/accounts")]
    world.ids = {
        "accountId": [listed_account["accountId"] for listed_account in world.accounts],
        "operationId": [*operations, *sources, cancelled],
        "sourceOperationId": sources,
        "connectionId": [connection["connectionId"] for connection in world.ask("GET", "/connections")],
        "keyId": [world.ask("POST", "/keys", {"name": "spare"}, 201)["keyId"] for _ in range(5)],
        "grantId": grants(world),
        "guardrailId": guardrails,
        "alertId": alerts,
        "webhookId": webhooks,
        "deliveryId": deliveries,
    }


def grants(world: World) -> list[str]:
    """Agents that the sandbox's admin has let in."""
    admin = [sys.executable, "-m", "adsunify", "admin", "user", "password", "--database", world.database]
    named = ["--workspace", SANDBOX_WORKSPACE, "--email", SANDBOX_WORKSPACE, "--password", PASSWORD]
    subprocess.run([*admin, *named], check=True, stdout=subprocess.DEVNULL)
    asyncio.run(_let_in(world.base_url))
    return [agent["grantId"] for agent in world.ask("GET", "/connected-agents")]


async def _let_in(base_url: str) -> None:
    """The consent page, pressed once for each agent, and the code that comes back, redeemed."""
    redirect = f"{base_url}/healthz"  # a page that answers, for the browser to end at
    async with httpx.AsyncClient(base_url=base_url, trust_env=False, timeout=60, follow_redirects=True) as http:
        person = Browser(http, base_url)
        await person.sign_in(SANDBOX_WORKSPACE)
        for name in AGENTS:
            registration = await http.post("/oauth/register", json={"client_name": name, "redirect_uris": [redirect]})
            client, verifier = {"client_id": registration.json()["client_id"]}, secrets.token_urlsafe(32)
            proof = {"code_challenge": make_code_challenge(verifier), "code_challenge_method": "S256"}
            consent_query = (
                client | {"redirect_uri": redirect, "response_type": "code", "scope": "ads:read ads:write"} | proof
            )
            await person.open(f"/oauth/authorize?{urlencode(consent_query)}")
            await person.send({"access": "write"}, button="Allow")
            code = parse_qs(urlsplit(person.at).query)["code"][0]
            form = {"grant_type": "authorization_code", "redirect_uri": redirect, "code_verifier": verifier}
            (await http.post("/oauth/token", data=client | form | {"code": code})).raise_for_status()
