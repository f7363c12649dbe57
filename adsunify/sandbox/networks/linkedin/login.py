"""Tokens: exchange, refresh, revocation, introspection. Credentials are sent in the form only."""

from typing import Any

from adsunify.sandbox.checks import Check, choice, text
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.linkedin.answers import build_response
from adsunify.sandbox.networks.linkedin.tables import LOGIN
from adsunify.sandbox.oauth import check_client, redeem_grant
from adsunify.sandbox.parsing import InvalidRequest

_CLIENT_CHECKS: dict[str, Check] = {"client_id": text(), "client_secret": text()}
_TOKEN_CHECKS = {**_CLIENT_CHECKS, "token": text()}


def issue_token(request: Request) -> Response:
    """POST /oauth/v2/accessToken: a code or a refresh token for an access token."""
    from_refresh = b"grant_type=refresh_token" in request.body
    if from_refresh:
        form = _parse_form(request, {**_CLIENT_CHECKS, "grant_type": choice("refresh_token"), "refresh_token": text()})
    else:
        code = {**_CLIENT_CHECKS, "grant_type": choice("authorization_code"), "code": text(), "redirect_uri": text()}
        form = _parse_form(request, code)
    issued = redeem_grant(request, LOGIN, form)
    assert issued.refresh is not None
    assert issued.refresh.expires_at is not None
    # the refresh token ends a year after the consent
    seconds_left = int((issued.refresh.expires_at - request.now).total_seconds())
    return build_response(
        200,
        {
            "access_token": issued.access.text,
            "expires_in": LOGIN.access_seconds,
            "refresh_token": issued.refresh.text,
            "refresh_token_expires_in": seconds_left,
            # LinkedIn authorization code flow: commas or spaces may separate the scopes
            "scope": ("," if from_refresh else " ").join(issued.access.scopes),
        },
    )


def revoke_token(request: Request) -> Response:
    """POST /oauth/v2/revoke: revokes this token only. The other token of the consent stays valid (our choice)."""
    form = _parse_form(request, _TOKEN_CHECKS)
    check_client(request, form["client_id"], form["client_secret"])
    request.world.tokens.pop(form["token"], None)
    return build_response(200)


def introspect_token(request: Request) -> Response:
    """POST /oauth/v2/introspectToken: the scopes and the expiry of a token."""
    form = _parse_form(request, _TOKEN_CHECKS)
    check_client(request, form["client_id"], form["client_secret"])
    token = request.world.tokens.get(form["token"])
    if token is None or token.expires_at is None:
        return build_response(200, {"active": False, "status": "revoked", "auth_type": "3L"})
    active = token.expires_at > request.now
    return build_response(
        200,
        {
            "active": active,
            "status": "active" if active else "expired",
            "client_id": request.world.client_id,
            "scope": ",".join(token.scopes),
            "expires_at": int(token.expires_at.timestamp()),
            "auth_type": "3L",
        },
    )


def _parse_form(request: Request, members: dict[str, Check]) -> dict[str, Any]:
    if "Authorization" in request.headers:
        raise InvalidRequest("invalid_request", "Authorization", "the credentials stand in the form")
    form: dict[str, Any] = request.parse_form()
    for name in members:
        if name not in form:
            raise InvalidRequest("required", name, "is required")
    for name in form:
        if name not in members:
            raise InvalidRequest("unknown", name, "is not known here")
    return {name: members[name](value, name) for name, value in form.items()}
