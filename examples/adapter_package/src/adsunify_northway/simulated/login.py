"""Tokens. The client's credentials are sent in the Basic header only."""

from adsunify.sandbox.checks import record, text
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.oauth import check_client, parse_basic_auth, redeem_token_form, render_tokens, revoke_grant
from adsunify_northway.simulated.answers import build_response
from adsunify_northway.simulated.tables import LOGIN

_REVOKE_FORM = record(required={"token": text()})


def issue_token(request: Request) -> Response:
    """POST /oauth/token: exchanges a code or a refresh token for new tokens."""
    request.parse_query()
    _, issued = redeem_token_form(request, LOGIN)
    return build_response(request, render_tokens(LOGIN, issued))


def revoke_token(request: Request) -> Response:
    """POST /oauth/revoke: an empty 204, whether the token was known or not."""
    request.parse_query()
    check_client(request, *parse_basic_auth(request))  # chosen: as at the token endpoint
    revoke_grant(request, request.parse_form(_REVOKE_FORM)["token"])
    return Response(204)
