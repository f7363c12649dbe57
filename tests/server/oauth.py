"""An agent's client at the OAuth endpoints: registered, with PKCE, and let in by a person behind the consent page."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlsplit

import httpx
from attrs import frozen

from adsunify.adapter.oauth import make_code_challenge
from adsunify.service import oauth_server

from .served import Served

REDIRECT = "http://127.0.0.1:3333/callback"


@frozen
class Client:
    """A registered client with what it asked for."""

    server: Served
    client_id: str
    verifier: str
    query: dict[str, str]

    async def grant_consent(self, name: str, write: bool, accounts: Sequence[str] | None = None) -> str:
        """Where a person who consents, perhaps for some accounts only, is sent back to."""
        actor = self.server.people[name].actor
        authorization = await oauth_server.read_authorization_request(self.server.service, self.query)
        return await oauth_server.grant_consent(
            self.server.service, authorization, actor.user_id, actor.workspace_id, write=write, account_ids=accounts
        )

    async def code(self, name: str = "admin", *, write: bool = True, accounts: Sequence[str] | None = None) -> str:
        """A person consents; the code that comes back."""
        redirect_query = parse_qs(urlsplit(await self.grant_consent(name, write, accounts)).query)
        assert redirect_query["iss"] == [self.server.base_url] and redirect_query["state"] == ["st"]
        return redirect_query["code"][0]

    async def ask(self, **form: str) -> httpx.Response:
        """The token endpoint."""
        return await self.server.http.post("/oauth/token", data={"client_id": self.client_id, **form})

    async def redeem(self, code: str, **more: str) -> httpx.Response:
        form = {"redirect_uri": self.query["redirect_uri"], "code_verifier": self.verifier, **more}
        return await self.ask(grant_type="authorization_code", code=code, **form)

    async def refresh(self, token: str) -> httpx.Response:
        return await self.ask(grant_type="refresh_token", refresh_token=token)

    async def tokens(
        self, name: str = "admin", *, write: bool = True, accounts: Sequence[str] | None = None
    ) -> dict[str, Any]:
        answer = await self.redeem(await self.code(name, write=write, accounts=accounts))
        assert answer.status_code == 200, answer.text
        token_set: dict[str, Any] = answer.json()
        return token_set


Kind = TypeVar("Kind", bound=Client)


async def register_client(kind: type[Kind], server: Served, **query: str) -> Kind:
    """A new client; ``query`` adds to its request for consent, and replaces members."""
    registration = await server.http.post(
        "/oauth/register", json={"client_name": "Helper", "redirect_uris": [REDIRECT]}
    )
    assert registration.status_code == 201, registration.text
    verifier = secrets.token_urlsafe(32)
    consent_query = {
        "client_id": registration.json()["client_id"],
        "redirect_uri": REDIRECT,
        "response_type": "code",
        "code_challenge": make_code_challenge(verifier),
        "code_challenge_method": "S256",
        "scope": "ads:read ads:write",
        "state": "st",
    }
    return kind(server, registration.json()["client_id"], verifier, consent_query | query)


async def agent(server: Served, **query: str) -> Client:
    """A new client whose person consents behind the page."""
    return await register_client(Client, server, **query)
