"""Tokens: exchange, refresh, revocation, introspection. Credentials stand in the form alone."""

from typing import Any

from adsunify.sandbox.framework import Answer, Check, Problem, Request, choice, client, exchange, refresh, text
from adsunify.sandbox.networks.linkedin.answers import answer
from adsunify.sandbox.networks.linkedin.tables import LOGIN

_APP: dict[str, Check] = {"client_id": text(), "client_secret": text()}
_TOKEN = {**_APP, "token": text()}


def token(request: Request) -> Answer:
    """POST /oauth/v2/accessToken: a code or a refresh token for an access token."""
    from_refresh = b"grant_type=refresh_token" in request.body
    if from_refresh:
        given = _form(request, {**_APP, "grant_type": choice("refresh_token"), "refresh_token": text()})
        issued = refresh(request, LOGIN, given["client_id"], given["client_secret"], given["refresh_token"])
    else:
        code = {**_APP, "grant_type": choice("authorization_code"), "code": text(), "redirect_uri": text()}
        given = _form(request, code)
        issued = exchange(
            request, LOGIN, given["client_id"], given["client_secret"], given["code"], given["redirect_uri"]
        )
    assert issued.refresh is not None
    assert issued.refresh.expires_at is not None
    left = int((issued.refresh.expires_at - request.now).total_seconds())  # it dies a year after the consent
    return answer(200, {
        "access_token": issued.access.text,
        "expires_in": LOGIN.access_seconds,
        "refresh_token": issued.refresh.text,
        "refresh_token_expires_in": left,
        # LinkedIn authorization code flow: they may be separated by commas or spaces
        "scope": ("," if from_refresh else " ").join(issued.access.scopes),
    })  # fmt: skip


def revoke(request: Request) -> Answer:
    """POST /oauth/v2/revoke: this one token (that the other of the consent lives on is chosen)."""
    given = _form(request, _TOKEN)
    client(request, given["client_id"], given["client_secret"])
    request.world.tokens.pop(given["token"], None)
    return answer(200)


def introspect(request: Request) -> Answer:
    """POST /oauth/v2/introspectToken: what a token may do, and until when."""
    given = _form(request, _TOKEN)
    client(request, given["client_id"], given["client_secret"])
    kept = request.world.tokens.get(given["token"])
    if kept is None or kept.expires_at is None:
        return answer(200, {"active": False, "status": "revoked", "auth_type": "3L"})
    active = kept.expires_at > request.now
    return answer(200, {
        "active": active,
        "status": "active" if active else "expired",
        "client_id": request.world.client_id,
        "scope": ",".join(kept.scopes),
        "expires_at": int(kept.expires_at.timestamp()),
        "auth_type": "3L",
    })  # fmt: skip


def _form(request: Request, members: dict[str, Check]) -> dict[str, Any]:
    if "Authorization" in request.headers:
        raise Problem("invalid_request", "Authorization", "the credentials stand in the form")
    form: dict[str, Any] = request.form()
    for name in members:
        if name not in form:
            raise Problem("required", name, "is required")
    for name in form:
        if name not in members:
            raise Problem("unknown", name, "is not known here")
    return {name: members[name](value, name) for name, value in form.items()}
