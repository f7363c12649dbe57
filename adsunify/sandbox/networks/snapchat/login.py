"""Tokens, and the logged-in member. No call revokes a token."""

from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.snapchat.answers import build_response
from adsunify.sandbox.networks.snapchat.tables import LOGIN, USER
from adsunify.sandbox.oauth import redeem_token_form, render_tokens


def issue_token(request: Request) -> Response:
    """POST /login/oauth2/access_token: exchanges a code or a refresh token for new tokens."""
    request.parse_query()
    _, issued = redeem_token_form(request, LOGIN)
    return Response(200, render_tokens(LOGIN, issued))


def get_user(request: Request) -> Response:
    """GET /me: the member."""
    request.parse_query()
    return build_response(request, {"me": dict(USER)})
