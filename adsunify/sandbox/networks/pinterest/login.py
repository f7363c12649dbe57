"""Tokens, their refusal to be revoked, and who is logged in."""

from typing import Any

from adsunify.sandbox.framework import (
    Answer,
    Issued,
    Problem,
    Request,
    basic,
    choice,
    client,
    exchange,
    record,
    refresh,
    text,
)
from adsunify.sandbox.networks.pinterest.answers import DIGITS, asked
from adsunify.sandbox.networks.pinterest.tables import LOGIN, USER

_KIND = {"grant_type": choice("authorization_code", "refresh_token")}
_CODE = record(
    required={**_KIND, "code": text(), "redirect_uri": text()},
    # needed by apps of before 2025-09-25; this app is younger, so nothing depends on it
    optional={"continuous_refresh": choice("true", "false")},
)
_REFRESH = record(required={**_KIND, "refresh_token": text()}, optional={"scope": text()})
_REVOKE = record(required={"token": text()}, optional={"token_type_hint": choice("access_token", "refresh_token")})


def token(request: Request) -> Answer:
    """POST /oauth/token: a code, or a refresh token, against new tokens."""
    request.query()
    app = basic(request)
    client(request, *app)
    kind = request.form().get("grant_type")
    if kind == "refresh_token":
        given = request.form(_REFRESH)
        issued = refresh(request, LOGIN, *app, given["refresh_token"])
        asked_for = {*given.get("scope", "").replace(",", " ").split()}
        if not asked_for <= {*issued.access.scopes}:
            raise Problem("value", "/scope", "must lie within the scopes that were consented to")
        return Answer(200, _issued(request, kind, issued))
    given = request.form(_CODE)
    issued = exchange(request, LOGIN, *app, given["code"], given["redirect_uri"])
    return Answer(200, _issued(request, "authorization_code", issued))


def revoke(request: Request) -> Answer:
    """POST /oauth/token/revoke: for tokens of system users only, and there are none here."""
    client(request, *basic(request))
    request.form(_REVOKE)
    raise Problem("role", "", "only tokens of system users can be revoked")


def user_account(request: Request) -> Answer:
    """GET /user_account: the acting user, the owner of `ad_account_id` where that is sent."""
    owner = acting(request, asked(request, ad_account_id=DIGITS))
    return Answer(200, {
        "id": owner["id"], "username": owner["username"], "account_type": "BUSINESS", "about": "Tea and more.",
        "business_name": owner["username"].title(), "profile_image": "https://i.pinimg.example/280x280/tea.jpg",
        "website_url": "tea.example", "board_count": 3, "pin_count": 8, "follower_count": 12, "following_count": 4,
        "monthly_views": 4100,
    })  # fmt: skip


def acting(request: Request, wanted: dict[str, Any]) -> dict[str, Any]:
    """`id` and `username` of whoever an organic call is made as."""
    if "ad_account_id" not in wanted:
        return dict(USER)
    if (account := request.account(wanted["ad_account_id"])) is None:
        raise Problem("user" if request.path == "/v5/user_account" else "role", "/ad_account_id", "no access")
    owner: dict[str, Any] = account.extra["native"]["owner"]
    return owner


def _issued(request: Request, kind: str, issued: Issued) -> dict[str, Any]:
    assert issued.refresh is not None
    assert issued.refresh.expires_at is not None
    assert LOGIN.refresh_seconds is not None
    return {
        "response_type": kind,
        "access_token": issued.access.text,
        "token_type": "bearer",
        "expires_in": LOGIN.access_seconds,
        "scope": " ".join(issued.access.scopes),  # the separator is chosen
        "refresh_token": issued.refresh.text,
        "refresh_token_expires_in": LOGIN.refresh_seconds,
        "refresh_token_expires_at": int(request.now.timestamp()) + LOGIN.refresh_seconds,
    }
