"""An agent at the agents' door, and how a person lets it in: registration, PKCE, the consent page, tokens."""

from __future__ import annotations

import json
import secrets
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
from attrs import define, frozen

from adsunify.connecting import challenge
from tests.pages.browsing import PASSWORD, browser, email
from tests.server.served import Served

HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
REDIRECT = "http://127.0.0.1:3333/callback"


@define
class Agent:
    """Someone who speaks MCP with a bearer token."""

    server: Served
    token: str | None
    version: str = "2025-11-25"

    async def post(self, message: Any, **headers: str) -> httpx.Response:
        """One POST; ``headers`` with underscores for hyphens."""
        sent = HEADERS | {"MCP-Protocol-Version": self.version}
        if self.token is not None:
            sent["Authorization"] = f"Bearer {self.token}"
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        content = message if isinstance(message, bytes) else json.dumps(message).encode()
        return await self.server.http.post("/api/mcp", content=content, headers=sent)

    async def tool(self, name: str, **arguments: Any) -> dict[str, Any]:
        """The result of a tool."""
        answer = await self.post(request("tools/call", name=name, arguments=arguments))
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()["result"]
        return found

    async def data(self, name: str, **arguments: Any) -> Any:
        """The data of a tool's good result."""
        found = await self.tool(name, **arguments)
        assert "isError" not in found, found
        return found["structuredContent"]["data"]

    async def created(self, account: str, campaign: Any) -> str:
        """The id of a prepared creation."""
        body = {"accountId": account, "campaign": campaign}
        operation: str = (await self.data("call_tool", operationId="post_create", body=body))["id"]
        return operation

    async def execute(self, operation_id: str) -> dict[str, Any]:
        """The result of ``execute``."""
        return await self.tool("execute", operationId=operation_id, confirmed=True)


def request(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def said(result: dict[str, Any]) -> str:
    """All texts of a tool's result."""
    return "\n".join(one["text"] for one in result["content"])


SESSIONS: dict[tuple[str, str], httpx.Cookies] = {}
"""Who is signed in at a server: a password takes long to check."""


@frozen
class Client:
    """A registered client with what it asked for."""

    server: Served
    client_id: str
    verifier: str
    query: dict[str, str]

    async def code(self, name: str = "admin", workspace: str = "shop", *, write: bool = True) -> str:
        """A person signs in, reads the consent page, and allows; the code that comes back."""
        address = "/oauth/authorize?" + urlencode(self.query)
        session = SESSIONS.setdefault((self.server.base_url, name), httpx.Cookies())
        async with browser(self.server) as person:
            person.http.cookies = session
            await person.open(address)
            if person.path == "/sign-in":
                await person.send({"email": email(name, workspace), "password": PASSWORD})
            assert person.path == "/oauth/authorize", person.at
            sent = {**person.page.forms[-1].fields, "decision": "allow", "access": "write" if write else "read"}
            answer = await person.http.post(person.at, data=sent, follow_redirects=False)
        assert answer.status_code == 303, answer.text
        told = parse_qs(urlsplit(answer.headers["Location"]).query)
        assert told["iss"] == [self.server.base_url] and told["state"] == ["st"]
        return told["code"][0]

    async def ask(self, **form: str) -> httpx.Response:
        """The token endpoint."""
        return await self.server.http.post("/oauth/token", data={"client_id": self.client_id, **form})

    async def redeem(self, code: str, **more: str) -> httpx.Response:
        form = {"redirect_uri": self.query["redirect_uri"], "code_verifier": self.verifier, **more}
        return await self.ask(grant_type="authorization_code", code=code, **form)

    async def refresh(self, token: str) -> httpx.Response:
        return await self.ask(grant_type="refresh_token", refresh_token=token)

    async def tokens(self, name: str = "admin", workspace: str = "shop", *, write: bool = True) -> dict[str, Any]:
        answer = await self.redeem(await self.code(name, workspace, write=write))
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found


async def client(server: Served, **query: str) -> Client:
    """A new client; ``query`` replaces members of its request for consent."""
    made = await server.http.post("/oauth/register", json={"client_name": "Helper", "redirect_uris": [REDIRECT]})
    assert made.status_code == 201, made.text
    verifier = secrets.token_urlsafe(32)
    asked = {
        "client_id": made.json()["client_id"],
        "redirect_uri": REDIRECT,
        "response_type": "code",
        "code_challenge": challenge(verifier),
        "code_challenge_method": "S256",
        "scope": "ads:read ads:write",
        "resource": f"{server.base_url}/api/mcp",
        "state": "st",
    }
    return Client(server, made.json()["client_id"], verifier, asked | query)


async def allowed(server: Served, name: str = "admin", workspace: str = "shop") -> Agent:
    """A new agent that a person let in, with write."""
    return Agent(server, (await (await client(server)).tokens(name, workspace))["access_token"])
