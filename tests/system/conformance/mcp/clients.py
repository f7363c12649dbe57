"""The installed official Python client over OAuth, headless: ``python -m tests.system.conformance.mcp.clients``.

The client registers itself, asks with PKCE for the resource's token, and is let in by a person whose browser is a
script. ``mcp`` 1.x is forced to each version with a handshake; 2.x negotiates by itself, from its newest down.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Mapping
from contextlib import AsyncExitStack
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from attrs import define
from mcp.client.auth import OAuthClientProvider  # type: ignore[import-not-found]  # installed by the nox session only
from mcp.shared.auth import OAuthClientMetadata  # type: ignore[import-not-found]  # as above

from adsunify.store import people
from adsunify_mcp.http import MCP_PATH
from adsunify_mcp.versions import HANDSHAKE_VERSIONS, VERSIONS
from tests.server.oauth import REDIRECT
from tests.server.served import Served, brief

from .flow import from_brief_to_live
from .scripted import execute_on_page, follow_consent, site

INSTALLED = version("mcp")


@define
class TokenMemory:
    """What the client wants to remember."""

    tokens: Any = None
    client: Any = None

    async def get_tokens(self) -> Any:
        return self.tokens

    async def set_tokens(self, tokens: Any) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> Any:
        return self.client

    async def set_client_info(self, client: Any) -> None:
        self.client = client


def make_login(server: Served, memory: TokenMemory) -> Any:
    """The client's own login, which sends the scripted browser out."""
    answer_query: dict[str, str] = {}

    async def redirect(address: str) -> None:
        answer_query.update(parse_qsl(urlsplit(await follow_consent(server, address)).query))

    async def back() -> Any:
        if INSTALLED.startswith("1."):
            return answer_query["code"], answer_query["state"]
        from mcp.client.auth.oauth2 import AuthorizationCodeResult  # type: ignore[import-not-found]  # as above

        return AuthorizationCodeResult(code=answer_query["code"], state=answer_query["state"], iss=answer_query["iss"])

    metadata = OAuthClientMetadata(
        redirect_uris=[REDIRECT], client_name="Official client", token_endpoint_auth_method="none"
    )
    return OAuthClientProvider(server.base_url + MCP_PATH, metadata, memory, redirect, back)


async def first_line(server: Served, memory: TokenMemory, version: str) -> None:
    """A session of ``mcp`` 1.x that asks for one version."""
    from mcp import ClientSession  # type: ignore[import-not-found]  # as above
    from mcp.client import session, streamable_http  # type: ignore[import-not-found]  # as above

    session.types.LATEST_PROTOCOL_VERSION = version
    async with AsyncExitStack() as stack:
        http = streamable_http.create_mcp_http_client(auth=make_login(server, memory))
        await stack.enter_async_context(http)
        reading, writing, _ = await stack.enter_async_context(
            streamable_http.streamable_http_client(server.base_url + MCP_PATH, http_client=http)
        )
        client = await stack.enter_async_context(ClientSession(reading, writing))
        assert (await client.initialize()).protocolVersion == version

        async def call(name: str, arguments: Mapping[str, Any]) -> Any:
            result = await client.call_tool(name, dict(arguments))
            assert not result.isError, result
            return result.structuredContent

        tool_names = [tool.name for tool in (await client.list_tools()).tools]
        await from_brief_to_live(server, tool_names, call)


async def second_line(server: Served, memory: TokenMemory, mode: str) -> None:
    """A session of ``mcp`` 2.x; ``auto`` begins with 2026-07-28, and ``legacy`` shakes hands."""
    from mcp import Client
    from mcp.client import streamable_http

    async with AsyncExitStack() as stack:
        http = streamable_http.create_mcp_http_client(auth=make_login(server, memory))
        await stack.enter_async_context(http)
        transport = streamable_http.streamable_http_client(server.base_url + MCP_PATH, http_client=http)
        opened: list[str] = []

        async def open_page(context: Any, elicitation: Any) -> Any:
            from mcp.types import ElicitResult

            opened.append(elicitation.url)
            await execute_on_page(server, elicitation.url)
            return ElicitResult(action="accept")

        client = await stack.enter_async_context(Client(transport, mode=mode, elicitation_callback=open_page))
        expected = HANDSHAKE_VERSIONS[0] if mode == "legacy" else next(iter(VERSIONS))
        assert client.protocol_version == expected, client.protocol_version

        async def call(name: str, arguments: Mapping[str, Any]) -> Any:
            result = await client.call_tool(name, dict(arguments))
            assert not result.is_error, result
            return result.structured_content

        tool_names = [tool.name for tool in (await client.list_tools()).tools]
        await from_brief_to_live(server, tool_names, call)
        assert not opened
        if VERSIONS[expected].is_stateless:
            prompt = await client.get_prompt("launch_campaign", {"network": "meta"})
            assert "post_validate_campaign" in prompt.messages[0].content.text
            (contents,) = (await client.read_resource("adsunify://networks/meta")).contents
            assert json.loads(contents.text)["network"] == "meta"
            await from_brief_to_approval(server, call, opened)


async def from_brief_to_approval(server: Served, call: Any, opened: list[str]) -> None:
    """Where a person must approve, the client opens the review page, and gets the executed operation."""
    account = (await call("account", {"network": "meta"}))["data"][0]["accountId"]
    body = {"accountId": account, "campaign": brief("meta")}
    operation = (await call("call_tool", {"operationId": "post_create", "body": body}))["data"]
    actor, store = server.people["admin"].actor, server.service.store
    writes = server.networks.writes()
    await store.write(people.set_require_approval, actor.workspace_id, True, store.clock)
    done = (await call("execute", {"operationId": operation["id"], "confirmed": True}))["data"]
    await store.write(people.set_require_approval, actor.workspace_id, False, store.clock)
    assert (done["status"], opened) == (
        "succeeded",
        [operation["reviewUrl"]],
    ) and server.networks.writes() == writes + 4


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with site(Path(folder)) as server:
            line, choices = (
                (first_line, [*HANDSHAKE_VERSIONS]) if INSTALLED.startswith("1.") else (second_line, ["auto", "legacy"])
            )
            for choice in choices:
                memory = TokenMemory()
                await line(server, memory, choice)
                await line(server, memory, choice)  # with the tokens of the first
                print(f"mcp {INSTALLED}, {choice}: the whole flow over OAuth, twice")


if __name__ == "__main__":
    asyncio.run(main())
