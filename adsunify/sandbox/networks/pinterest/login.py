"""Tokens, the refused revocation, and the acting user."""

from typing import Any

from adsunify.sandbox.checks import choice, record, text
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.pinterest.answers import DIGITS_CHECK, parse_query
from adsunify.sandbox.networks.pinterest.tables import LOGIN, USER
from adsunify.sandbox.oauth import check_client, parse_basic_auth, redeem_token_form, render_tokens
from adsunify.sandbox.parsing import InvalidRequest

_REVOKE_FORM = record(required={"token": text()}, optional={"token_type_hint": choice("access_token", "refresh_token")})


def issue_token(request: Request) -> Response:
    """POST /oauth/token: exchanges a code or a refresh token for new tokens."""
    request.parse_query()
    form, issued = redeem_token_form(request, LOGIN)
    scopes = {*form.get("scope", "").replace(",", " ").split()}
    if not scopes <= {*issued.access.scopes}:
        raise InvalidRequest("value", "/scope", "must lie within the scopes that were consented to")
    assert LOGIN.refresh_seconds is not None
    return Response(
        200,
        {
            "response_type": form["grant_type"],
            **render_tokens(LOGIN, issued),
            "refresh_token_expires_in": LOGIN.refresh_seconds,
            "refresh_token_expires_at": int(request.now.timestamp()) + LOGIN.refresh_seconds,
        },
    )


def refuse_revocation(request: Request) -> Response:
    """POST /oauth/token/revoke: only tokens of system users can be revoked, and the sandbox has none."""
    check_client(request, *parse_basic_auth(request))
    request.parse_form(_REVOKE_FORM)
    raise InvalidRequest("role", "", "only tokens of system users can be revoked")


def get_user_account(request: Request) -> Response:
    """GET /user_account: the acting user, or the owner of `ad_account_id` if that is sent."""
    owner = get_acting_user(request, parse_query(request, ad_account_id=DIGITS_CHECK))
    return Response(
        200,
        {
            "id": owner["id"],
            "username": owner["username"],
            "account_type": "BUSINESS",
            "about": "Tea and more.",
            "business_name": owner["username"].title(),
            "profile_image": "https://i.pinimg.example/280x280/tea.jpg",
            "website_url": "tea.example",
            "board_count": 3,
            "pin_count": 8,
            "follower_count": 12,
            "following_count": 4,
            "monthly_views": 4100,
        },
    )


def get_acting_user(request: Request, query: dict[str, Any]) -> dict[str, Any]:
    """`id` and `username` of the acting user of an organic call."""
    if "ad_account_id" not in query:
        return dict(USER)
    if (account := request.find_account(query["ad_account_id"])) is None:
        raise InvalidRequest("user" if request.path == "/v5/user_account" else "role", "/ad_account_id", "no access")
    owner: dict[str, Any] = account.extra["native"]["owner"]
    return owner
