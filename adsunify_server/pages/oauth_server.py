"""The OAuth consent page: a person gives an agent access to a workspace, or refuses it."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from aiohttp import web

from adsunify.errors import Forbidden
from adsunify.service import oauth_server
from adsunify.service.accounts import list_accounts
from adsunify.service.authentication import REQUEST_CONTEXT
from adsunify.service.client_metadata import OAuthError
from adsunify.service.frozen_clients import read_consent_notices
from adsunify.service.oauth_server import AuthorizationRequest

from .request import PageRequest, PageRouter, check_storable

MAX_ACCOUNTS = 500
"""How many accounts of a workspace the page lists."""
PLAIN_HOST = re.compile(r"[A-Za-z0-9.-]+(:[0-9]+)?")


def add_pages(router: PageRouter) -> None:
    """Add ``/oauth/authorize``."""
    router.add_get("/oauth/authorize", show_consent)
    router.add_post("/oauth/authorize", decide_consent)


async def show_consent(visit: PageRequest) -> web.Response:
    """Show which application asks for which access."""
    try:
        return await _consent_page(visit, await _read_request(visit))
    except OAuthError as problem:
        return visit.redirect(oauth_server.refusal_url(visit.service, dict(visit.request.query), problem))


async def decide_consent(visit: PageRequest) -> web.Response:
    """Redirect to the client with the person's decision."""
    try:
        request = await _read_request(visit)
        if visit.form.get("decision") != "allow":
            raise OAuthError("access_denied", "The person refused access.")
    except OAuthError as problem:
        return visit.redirect(oauth_server.refusal_url(visit.service, dict(visit.request.query), problem))
    workspace, write = visit.form.get("workspaceId", ""), visit.form.get("access") == "write"
    ticked = visit.list_ticked("account")
    listed_ids = {account["accountId"] for account in (await _list_accounts(visit)).get(workspace, ())}
    chosen = [account_id for account_id in ticked if account_id in listed_ids]
    try:
        if ticked and not chosen:
            raise Forbidden("None of the ticked accounts is connected in the chosen workspace. Tick accounts of it.")
        return visit.redirect(
            await oauth_server.grant_consent(
                visit.service,
                request,
                visit.signed_in_session.user_id,
                workspace,
                write=write,
                account_ids=chosen or None,
            )
        )
    except Forbidden as refusal:
        return await _consent_page(visit, request, refusal.status, refusal.message)


async def _read_request(visit: PageRequest) -> AuthorizationRequest:
    context = REQUEST_CONTEXT.get()
    address = "" if context is None else context.client_ip
    query = check_storable(dict(visit.request.query))
    return await oauth_server.read_authorization_request(visit.service, query, address)


async def _list_accounts(visit: PageRequest) -> dict[str, list[Any]]:
    """Return the connected accounts of each of the person's workspaces."""
    person = visit.signed_in_session
    return {
        home.workspace_id: [
            account
            for account in await list_accounts(visit.service, person.make_actor(home), network=None)
            if account["status"] != "disconnected"
        ][:MAX_ACCOUNTS]
        for home in person.memberships
    }


async def _consent_page(
    visit: PageRequest, request: AuthorizationRequest, status: int = 200, problem: str | None = None
) -> web.Response:
    person = visit.signed_in_session
    notices = await read_consent_notices(
        visit.service, request.client.id, person.user_id, [home.workspace_id for home in person.memberships]
    )
    refused = {workspace_id for workspace_id, notice in notices.items() if notice.is_refused}
    homes = [home for home in person.memberships if home.workspace_id not in refused]
    return visit.render_page(
        "consent.html",
        status,
        targets=f"'self' {_form_target(request.redirect_uri)}",
        authorization=request,
        homes=homes,
        notices=[(home, notices[home.workspace_id]) for home in person.memberships if home.workspace_id in notices],
        accounts=await _list_accounts(visit),
        max_accounts=MAX_ACCOUNTS,
        writes=request.wants_write and any(home.role != "viewer" for home in homes),
        problem=problem,
    )


def _form_target(redirect: str) -> str:
    """Return the client's origin for the Content-Security-Policy of the form. Browsers check redirects against it too.

    A policy cannot name an IPv6 address or an unusual host name. For these the scheme is returned.
    """
    parts = urlsplit(redirect)
    return f"{parts.scheme}://{parts.netloc}" if PLAIN_HOST.fullmatch(parts.netloc) else f"{parts.scheme}:"
