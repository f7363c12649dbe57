"""Tokens, and who is logged in. There is no call that revokes a token."""

from adsunify.sandbox.framework import Request, Response, choice, exchange_code, record, refresh_tokens, text
from adsunify.sandbox.networks.snapchat.answers import build_response
from adsunify.sandbox.networks.snapchat.tables import LOGIN, USER

_CLIENT_CHECKS = {
    "grant_type": choice("authorization_code", "refresh_token"),
    "client_id": text(),
    "client_secret": text(),
}
_CODE_FORM = record(required={**_CLIENT_CHECKS, "code": text(), "redirect_uri": text()})
_REFRESH_FORM = record(required={**_CLIENT_CHECKS, "refresh_token": text()})


def issue_token(request: Request) -> Response:
    """POST /login/oauth2/access_token: a code, or a refresh token, against new tokens."""
    request.parse_query()
    if request.parse_form().get("grant_type") == "refresh_token":
        given = request.parse_form(_REFRESH_FORM)
        issued = refresh_tokens(request, LOGIN, given["client_id"], given["client_secret"], given["refresh_token"])
    else:
        given = request.parse_form(_CODE_FORM)
        app = given["client_id"], given["client_secret"]
        issued = exchange_code(request, LOGIN, *app, given["code"], given["redirect_uri"])
    assert issued.refresh is not None
    return Response(200, {
        "access_token": issued.access.text,
        "token_type": "Bearer",
        "expires_in": LOGIN.access_seconds,
        "refresh_token": issued.refresh.text,
        "scope": " ".join(issued.access.scopes),
    })  # fmt: skip


def get_user(request: Request) -> Response:
    """GET /me: the member."""
    request.parse_query()
    return build_response(request, {"me": dict(USER)})
