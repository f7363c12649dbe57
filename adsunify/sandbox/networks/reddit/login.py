"""Tokens. The client's credentials stand in the Basic header and nowhere else."""

from adsunify.sandbox.framework import (
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
from adsunify.sandbox.framework import revoke_grant as kill
from adsunify.sandbox.networks.reddit.answers import check_user_agent
from adsunify.sandbox.networks.reddit.tables import LOGIN

_CODE_FORM = record(required={"grant_type": choice("authorization_code"), "code": text(), "redirect_uri": text()})
_REFRESH_FORM = record(required={"grant_type": choice("refresh_token"), "refresh_token": text()})
_REVOKE_FORM = record(required={"token": text()}, optional={"token_type_hint": choice("refresh_token", "access_token")})


def issue_token(request: Request) -> Response:
    """POST /api/v1/access_token: a code, or a refresh token, against new tokens."""
    check_user_agent(request)
    request.parse_query()
    app = parse_basic_auth(request)
    if request.parse_form().get("grant_type") == "refresh_token":
        return _build_token_response(
            refresh_tokens(request, LOGIN, *app, request.parse_form(_REFRESH_FORM)["refresh_token"])
        )
    given = request.parse_form(_CODE_FORM)
    return _build_token_response(exchange_code(request, LOGIN, *app, given["code"], given["redirect_uri"]))


def revoke_token(request: Request) -> Response:
    """POST /api/v1/revoke_token: an empty 204, whether the token was known or not."""
    check_user_agent(request)
    request.parse_query()
    check_client(request, *parse_basic_auth(request))
    kill(request, request.parse_form(_REVOKE_FORM)["token"])
    return Response(204)


def _build_token_response(issued: IssuedTokens) -> Response:
    assert issued.refresh is not None, "duration=permanent"
    return Response(200, {
        "access_token": issued.access.text,
        "token_type": "bearer",
        "expires_in": LOGIN.access_seconds,
        "scope": " ".join(issued.access.scopes),
        "refresh_token": issued.refresh.text,
    })  # fmt: skip
