"""Tokens, and who is logged in. There is no call that revokes a token."""

from adsunify.sandbox.framework import Answer, Request, choice, exchange, record, refresh, text
from adsunify.sandbox.networks.snapchat.answers import answered
from adsunify.sandbox.networks.snapchat.tables import LOGIN, USER

_APP = {"grant_type": choice("authorization_code", "refresh_token"), "client_id": text(), "client_secret": text()}
_CODE = record(required={**_APP, "code": text(), "redirect_uri": text()})
_REFRESH = record(required={**_APP, "refresh_token": text()})


def token(request: Request) -> Answer:
    """POST /login/oauth2/access_token: a code, or a refresh token, against new tokens."""
    request.query()
    if request.form().get("grant_type") == "refresh_token":
        given = request.form(_REFRESH)
        issued = refresh(request, LOGIN, given["client_id"], given["client_secret"], given["refresh_token"])
    else:
        given = request.form(_CODE)
        app = given["client_id"], given["client_secret"]
        issued = exchange(request, LOGIN, *app, given["code"], given["redirect_uri"])
    assert issued.refresh is not None
    return Answer(200, {
        "access_token": issued.access.text,
        "token_type": "Bearer",
        "expires_in": LOGIN.access_seconds,
        "refresh_token": issued.refresh.text,
        "scope": " ".join(issued.access.scopes),
    })  # fmt: skip


def me(request: Request) -> Answer:
    """GET /me: the member."""
    request.query()
    return answered(request, {"me": dict(USER)})
