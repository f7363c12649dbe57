"""Tokens. The client's credentials stand in the Basic header and nowhere else."""

from adsunify.sandbox.framework import Answer, Issued, Request, basic, choice, client, exchange, record, refresh, text
from adsunify.sandbox.framework import revoke as kill
from adsunify.sandbox.networks.reddit.answers import named_agent
from adsunify.sandbox.networks.reddit.tables import LOGIN

_CODE = record(required={"grant_type": choice("authorization_code"), "code": text(), "redirect_uri": text()})
_REFRESH = record(required={"grant_type": choice("refresh_token"), "refresh_token": text()})
_REVOKE = record(required={"token": text()}, optional={"token_type_hint": choice("refresh_token", "access_token")})


def token(request: Request) -> Answer:
    """POST /api/v1/access_token: a code, or a refresh token, against new tokens."""
    named_agent(request)
    request.query()
    app = basic(request)
    if request.form().get("grant_type") == "refresh_token":
        return _issued(refresh(request, LOGIN, *app, request.form(_REFRESH)["refresh_token"]))
    given = request.form(_CODE)
    return _issued(exchange(request, LOGIN, *app, given["code"], given["redirect_uri"]))


def revoke(request: Request) -> Answer:
    """POST /api/v1/revoke_token: an empty 204, whether the token was known or not."""
    named_agent(request)
    request.query()
    client(request, *basic(request))
    kill(request, request.form(_REVOKE)["token"])
    return Answer(204)


def _issued(issued: Issued) -> Answer:
    assert issued.refresh is not None, "duration=permanent"
    return Answer(200, {
        "access_token": issued.access.text,
        "token_type": "bearer",
        "expires_in": LOGIN.access_seconds,
        "scope": " ".join(issued.access.scopes),
        "refresh_token": issued.refresh.text,
    })  # fmt: skip
