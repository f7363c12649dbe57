"""Consent, tokens and revocation."""

from datetime import timedelta
from typing import Any

from adsunify.sandbox.checks import Check, text
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.meta.errors import CREDENTIAL_CHECKS, authorize_request, build_response
from adsunify.sandbox.oauth import (
    OAuthConfig,
    check_client,
    extend_token,
    redeem_grant,
    require_access_token,
    revoke_grant,
)
from adsunify.sandbox.parsing import InvalidRequest, split_words
from adsunify.sandbox.world import Token

SCOPES = split_words("""
    ads_management ads_read business_management pages_show_list pages_read_engagement pages_manage_ads
""")
# a short token is valid for hours, a long one for about 60 days
SHORT_TOKEN_SECONDS, LONG_TOKEN_SECONDS = 5400, 5184000
LOGIN = OAuthConfig(
    consent_pages=(("www.facebook.com", "/v26.0/dialog/oauth"),),
    required_scopes=SCOPES,
    scope_separator=",",
    pkce="refused",  # Meta Login with a client secret needs no PKCE; whether Meta accepts PKCE is unverified
    access_seconds=SHORT_TOKEN_SECONDS,
    issues_refresh_tokens=False,
    access_prefix="EAA",
)
_CLIENT_CHECKS: dict[str, Check] = {"client_id": text(), "client_secret": text()}


def issue_token(request: Request) -> Response:
    """GET /oauth/access_token: exchanges a code, or a valid token for one of about 60 days."""
    if dict(request.query_pairs).get("grant_type") == "fb_exchange_token":
        query = request.parse_query({**_CLIENT_CHECKS, "grant_type": text(), "fb_exchange_token": text()})
        check_client(request, query["client_id"], query["client_secret"])
        issued, seconds = (
            extend_token(request, query["fb_exchange_token"], LONG_TOKEN_SECONDS, "EAA"),
            LONG_TOKEN_SECONDS,
        )
    else:
        query = request.parse_query({**_CLIENT_CHECKS, "redirect_uri": text(), "code": text()})
        issued = redeem_grant(request, LOGIN, query).access
        seconds = SHORT_TOKEN_SECONDS
    return build_response(request, {"access_token": issued.text, "token_type": "bearer", "expires_in": seconds})


def revoke_permissions(request: Request) -> Response:
    """DELETE /me/permissions: the app is removed from the user."""
    used = authorize_request(request)
    request.parse_query(optional=CREDENTIAL_CHECKS)
    revoke_grant(request, used.text)
    return build_response(request, {"success": True})


def revoke_token(request: Request) -> Response:
    """GET /oauth/revoke: revokes a single token."""
    query = request.parse_query({**_CLIENT_CHECKS, "revoke_token": text(), "access_token": text()})
    check_client(request, query["client_id"], query["client_secret"])
    _check_inspector(request, query["access_token"])
    require_access_token(request, query["revoke_token"])
    del request.world.tokens[query["revoke_token"]]
    return build_response(request, {"success": "true"})  # a string; the other call has a boolean


def inspect_token(request: Request) -> Response:
    """GET /debug_token: the scopes, accounts and expiry of a token."""
    query = request.parse_query({"input_token": text(), "access_token": text()})
    _check_inspector(request, query["access_token"])
    return build_response(request, {"data": _render_token(request, query["input_token"])})


def _render_token(request: Request, inspected: str) -> dict[str, Any]:
    try:
        token = require_access_token(request, inspected)
    except InvalidRequest as problem:
        error = {"code": 190, "message": problem.message, "subcode": 463 if problem.code == "token_expired" else 467}
        return {"is_valid": False, "scopes": [], "error": error}
    return {
        "app_id": request.world.client_id,
        "type": "USER",
        "application": "adsunify",
        "is_valid": True,
        "expires_at": _get_expiry_seconds(token),  # 0: never
        "data_access_expires_at": int((request.now + timedelta(days=90)).timestamp()),
        "user_id": "100200300",
        "scopes": list(token.scopes),
        "granular_scopes": [_render_granular_scope(request, scope) for scope in token.scopes],
    }


def _render_granular_scope(request: Request, scope: str) -> dict[str, Any]:
    """`target_ids`: the granted accounts, as digits."""
    if scope not in ("ads_management", "ads_read"):
        return {"scope": scope}
    return {"scope": scope, "target_ids": [account.removeprefix("act_") for account in request.world.accounts]}


def _get_expiry_seconds(token: Token) -> int:
    return 0 if token.expires_at is None else int(token.expires_at.timestamp())


def _check_inspector(request: Request, access_token: str) -> None:
    """Check the inspecting token: the app itself (app id, vertical bar, app secret), or a token of the app."""
    app, bar, secret = access_token.partition("|")
    if bar:
        check_client(request, app, secret)
    else:
        require_access_token(request, access_token)
