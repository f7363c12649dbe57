"""Tokens, their refusal to be revoked, and who is logged in."""

from typing import Any

from adsunify.sandbox.framework import (
    InvalidRequest,
    IssuedTokens,
    Request,
    Response,
    check_client,
    choice,
    exchange_code,
    parse_basic_auth,
    record,
    refresh_tokens,
    text,
)
from adsunify.sandbox.networks.pinterest.answers import DIGITS_CHECK, parse_query
from adsunify.sandbox.networks.pinterest.tables import LOGIN, USER

_GRANT_TYPE_CHECK = {"grant_type": choice("authorization_code", "refresh_token")}
_CODE_FORM = record(
    required={**_GRANT_TYPE_CHECK, "code": text(), "redirect_uri": text()},
    # needed by apps of before 2025-09-25; this app is younger, so nothing depends on it
    optional={"continuous_refresh": choice("true", "false")},
)
_REFRESH_FORM = record(required={**_GRANT_TYPE_CHECK, "refresh_token": text()}, optional={"scope": text()})
_REVOKE_FORM = record(required={"token": text()}, optional={"token_type_hint": choice("access_token", "refresh_token")})


def issue_token(request: Request) -> Response:
    """POST /oauth/token: a code, or a refresh token, against new tokens."""
    request.parse_query()
    app = parse_basic_auth(request)
    check_client(request, *app)
    kind = request.parse_form().get("grant_type")
    if kind == "refresh_token":
        given = request.parse_form(_REFRESH_FORM)
        issued = refresh_tokens(request, LOGIN, *app, given["refresh_token"])
        asked_for = {*given.get("scope", "").replace(",", " ").split()}
        if not asked_for <= {*issued.access.scopes}:
            raise InvalidRequest("value", "/scope", "must lie within the scopes that were consented to")
        return Response(200, _build_token_response(request, kind, issued))
    given = request.parse_form(_CODE_FORM)
    issued = exchange_code(request, LOGIN, *app, given["code"], given["redirect_uri"])
    return Response(200, _build_token_response(request, "authorization_code", issued))


def refuse_revocation(request: Request) -> Response:
    """POST /oauth/token/revoke: for tokens of system users only, and there are none here."""
    check_client(request, *parse_basic_auth(request))
    request.parse_form(_REVOKE_FORM)
    raise InvalidRequest("role", "", "only tokens of system users can be revoked")


def get_user_account(request: Request) -> Response:
    """GET /user_account: the acting user, the owner of `ad_account_id` where that is sent."""
    owner = get_acting_user(request, parse_query(request, ad_account_id=DIGITS_CHECK))
    return Response(200, {
        "id": owner["id"], "username": owner["username"], "account_type": "BUSINESS", "about": "Tea and more.",
        "business_name": owner["username"].title(), "profile_image": "https://i.pinimg.example/280x280/tea.jpg",
        "website_url": "tea.example", "board_count": 3, "pin_count": 8, "follower_count": 12, "following_count": 4,
        "monthly_views": 4100,
    })  # fmt: skip


def get_acting_user(request: Request, wanted: dict[str, Any]) -> dict[str, Any]:
    """`id` and `username` of whoever an organic call is made as."""
    if "ad_account_id" not in wanted:
        return dict(USER)
    if (account := request.find_account(wanted["ad_account_id"])) is None:
        raise InvalidRequest("user" if request.path == "/v5/user_account" else "role", "/ad_account_id", "no access")
    owner: dict[str, Any] = account.extra["native"]["owner"]
    return owner


def _build_token_response(request: Request, kind: str, issued: IssuedTokens) -> dict[str, Any]:
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
