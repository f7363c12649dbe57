"""An agent at the agents' door, and how a person lets it in: registration, PKCE, the consent page, tokens."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

import httpx
from attrs import define, field, frozen

from tests.pages.browsing import PASSWORD, browser, email
from tests.server import oauth
from tests.server.mcp_messages import request, with_metadata
from tests.server.served import Served

__all__ = ["Agent", "Client", "allow_agent", "client", "read_texts", "request"]
HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


@define
class Agent:
    """Someone who speaks MCP with a bearer token."""

    server: Served
    token: str | None
    version: str = "2025-11-25"
    capabilities: dict[str, Any] = field(factory=dict)

    async def post(self, message: Any, **headers: str) -> httpx.Response:
        """One POST; ``headers`` with underscores for hyphens."""
        message, own = with_metadata(message, self.version, self.capabilities)
        sent = HEADERS | own
        if self.token is not None:
            sent["Authorization"] = f"Bearer {self.token}"
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        content = message if isinstance(message, bytes) else json.dumps(message).encode()
        return await self.server.http.post("/api/mcp", content=content, headers=sent)

    async def tool(self, name: str, **arguments: Any) -> dict[str, Any]:
        """The result of a tool."""
        answer = await self.post(request("tools/call", name=name, arguments=arguments))
        assert answer.status_code == 200, answer.text
        result: dict[str, Any] = answer.json()["result"]
        return result

    async def data(self, name: str, **arguments: Any) -> Any:
        """The data of a tool's good result."""
        result = await self.tool(name, **arguments)
        assert "isError" not in result, result
        return result["structuredContent"]["data"]

    async def prepare_campaign(self, account: str, campaign: Any) -> str:
        """The id of a prepared creation."""
        body = {"accountId": account, "campaign": campaign}
        operation: str = (await self.data("call_tool", operationId="post_create", body=body))["id"]
        return operation

    async def execute(self, operation_id: str) -> dict[str, Any]:
        """The result of ``execute``."""
        return await self.tool("execute", operationId=operation_id, confirmed=True)


def read_texts(result: dict[str, Any]) -> str:
    """All texts of a tool's result."""
    return "\n".join(block["text"] for block in result["content"])


SESSIONS: dict[tuple[str, str], httpx.Cookies] = {}
"""Who is signed in at a server: a password takes long to check."""
WORKSPACES = {"stranger": "other"}
"""Whose workspace is another one than ``shop``."""


@frozen
class Client(oauth.Client):
    """A registered client whose person consents on the page."""

    async def grant_consent(self, name: str, write: bool, accounts: Sequence[str] | None = None) -> str:
        """A person signs in, reads the consent page, ticks accounts, and allows."""
        address = "/oauth/authorize?" + urlencode(self.query)
        session = SESSIONS.setdefault((self.server.base_url, name), httpx.Cookies())
        async with browser(self.server) as person:
            person.http.cookies = session
            await person.open(address)
            if person.path == "/sign-in":
                await person.send({"email": email(name, WORKSPACES.get(name, "shop")), "password": PASSWORD})
            assert person.path == "/oauth/authorize", person.at
            sent = {**person.page.forms[-1].fields, "decision": "allow", "access": "write" if write else "read"}
            sent |= {f"account.{account}": "true" for account in accounts or ()}
            answer = await person.http.post(person.at, data=sent, follow_redirects=False)
        assert answer.status_code == 303, answer.text
        return answer.headers["Location"]


async def client(server: Served, **query: str) -> Client:
    """A new client; ``query`` replaces members of its request for consent."""
    return await oauth.register_client(Client, server, **{"resource": f"{server.base_url}/api/mcp", **query})


async def allow_agent(server: Served, name: str = "admin") -> Agent:
    """A new agent that a person let in, with write."""
    return Agent(server, (await (await client(server)).tokens(name))["access_token"])
