"""Tokens. The client's credentials are sent in the Basic header only."""

from adsunify.sandbox.checks import choice, record, text
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.reddit.answers import check_user_agent
from adsunify.sandbox.networks.reddit.tables import LOGIN
from adsunify.sandbox.oauth import check_client, parse_basic_auth, redeem_token_form, render_tokens, revoke_grant

_REVOKE_FORM = record(required={"token": text()}, optional={"token_type_hint": choice("refresh_token", "access_token")})


def issue_token(request: Request) -> Response:
    """POST /api/v1/access_token: exchanges a code or a refresh token for new tokens."""
    check_user_agent(request)
    request.parse_query()
    _, issued = redeem_token_form(request, LOGIN)
    return Response(200, render_tokens(LOGIN, issued))


def revoke_token(request: Request) -> Response:
    """POST /api/v1/revoke_token: an empty 204, whether the token was known or not."""
    check_user_agent(request)
    request.parse_query()
    check_client(request, *parse_basic_auth(request))
    revoke_grant(request, request.parse_form(_REVOKE_FORM)["token"])
    return Response(204)
