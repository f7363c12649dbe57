"""Consent, tokens and their end."""

from datetime import timedelta
from typing import Any

from adsunify.sandbox.framework import (
    Answer,
    Check,
    Login,
    Problem,
    Request,
    Token,
    client,
    exchange,
    lengthen,
    revoke,
    text,
    valid,
)
from adsunify.sandbox.networks.meta.errors import CREDENTIALS, answer, guard

SCOPES = (
    "ads_management", "ads_read", "business_management", "pages_show_list", "pages_read_engagement", "pages_manage_ads",
)  # fmt: skip
SHORT, LONG = 5400, 5184000  # Meta access tokens: hours, and about 60 days
LOGIN = Login(
    pages=(("www.facebook.com", "/v26.0/dialog/oauth"),),
    needed=SCOPES,
    scope_separator=",",
    pkce="refused",  # Meta Login with a client secret needs none; whether it is taken is (unverified)
    access_seconds=SHORT,
    refreshes=False,
    access_prefix="EAA",
)
_APP: dict[str, Check] = {"client_id": text(), "client_secret": text()}


def token(request: Request) -> Answer:
    """GET /oauth/access_token: code to token, or a token that still holds to one of about 60 days."""
    if dict(request.pairs).get("grant_type") == "fb_exchange_token":
        given = request.query({**_APP, "grant_type": text(), "fb_exchange_token": text()})
        client(request, given["client_id"], given["client_secret"])
        issued, seconds = lengthen(request, given["fb_exchange_token"], LONG, "EAA"), LONG
    else:
        given = request.query({**_APP, "redirect_uri": text(), "code": text()})
        issued = exchange(
            request, LOGIN, given["client_id"], given["client_secret"], given["code"], given["redirect_uri"]
        ).access
        seconds = SHORT
    return answer(request, {"access_token": issued.text, "token_type": "bearer", "expires_in": seconds})


def revoke_app(request: Request) -> Answer:
    """DELETE /me/permissions: the app is removed from the user."""
    used = guard(request)
    request.query(optional=CREDENTIALS)
    revoke(request, used.text)
    return answer(request, {"success": True})


def revoke_token(request: Request) -> Answer:
    """GET /oauth/revoke: one single token."""
    given = request.query({**_APP, "revoke_token": text(), "access_token": text()})
    client(request, given["client_id"], given["client_secret"])
    _inspector(request, given["access_token"])
    valid(request, given["revoke_token"])
    del request.world.tokens[given["revoke_token"]]
    return answer(request, {"success": "true"})  # a string here, a boolean above


def debug_token(request: Request) -> Answer:
    """GET /debug_token: what a token may do, on which accounts, and until when."""
    given = request.query({"input_token": text(), "access_token": text()})
    _inspector(request, given["access_token"])
    return answer(request, {"data": _inspected(request, given["input_token"])})


def _inspected(request: Request, inspected: str) -> dict[str, Any]:
    try:
        found = valid(request, inspected)
    except Problem as problem:
        error = {"code": 190, "message": problem.message, "subcode": 463 if problem.code == "token_expired" else 467}
        return {"is_valid": False, "scopes": [], "error": error}
    return {
        "app_id": request.world.client_id,
        "type": "USER",
        "application": "adsunify",
        "is_valid": True,
        "expires_at": _seconds(found),  # 0: never
        "data_access_expires_at": int((request.now + timedelta(days=90)).timestamp()),
        "user_id": "100200300",
        "scopes": list(found.scopes),
        "granular_scopes": [_granular(request, scope) for scope in found.scopes],
    }


def _granular(request: Request, scope: str) -> dict[str, Any]:
    """target_ids: the accounts that were really granted, as digits."""
    if scope not in ("ads_management", "ads_read"):
        return {"scope": scope}
    return {"scope": scope, "target_ids": [account.removeprefix("act_") for account in request.world.accounts]}


def _seconds(token: Token) -> int:
    return 0 if token.expires_at is None else int(token.expires_at.timestamp())


def _inspector(request: Request, access_token: str) -> None:
    """The app itself (app id, vertical bar, app secret), or a token of it."""
    app, bar, secret = access_token.partition("|")
    if bar:
        client(request, app, secret)
    else:
        valid(request, access_token)
