"""Consent and the token, which does not expire and has no refresh token."""

from adsunify.sandbox.checks import Check, boolean, record, text
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.tiktok.answers import HOSTS, build_response
from adsunify.sandbox.oauth import OAuthConfig, check_client, redeem_grant, require_access_token, revoke_grant

LOGIN = OAuthConfig(
    consent_pages=((HOSTS[0], "/portal/auth"),),
    client_id_name="app_id",
    client_secret_name="secret",
    response_type=None,
    code_name="auth_code",
    pkce="refused",
    code_seconds=3600,
    access_seconds=None,
    issues_refresh_tokens=False,
)
# Ad account, ads, audience, reporting, measurement, creative, app, pixel: set for the app, not requested in the
# consent.
SCOPE_IDS = [1, 2, 3, 4, 5, 6, 7, 8]
_CLIENT_CHECKS: dict[str, Check] = {"app_id": text(), "secret": text()}


def issue_access_token(request: Request) -> Response:
    """POST /oauth2/access_token/."""
    request.parse_query()
    shape = record({**_CLIENT_CHECKS, "auth_code": text()}, {"return_advertiser_ids": boolean})
    body = request.parse_json(shape)
    issued = redeem_grant(request, LOGIN, body)
    data = {"access_token": issued.access.text, "scope": SCOPE_IDS}
    if body.get("return_advertiser_ids", True):
        data["advertiser_ids"] = [*request.world.accounts]
    return build_response(data)


def revoke_token(request: Request) -> Response:
    """POST /oauth2/revoke_token/: returns the accounts that the token reached."""
    request.parse_query()
    body = request.parse_json(record({**_CLIENT_CHECKS, "access_token": text()}))
    check_client(request, body["app_id"], body["secret"])
    require_access_token(request, body["access_token"])
    revoke_grant(request, body["access_token"])
    return build_response({"advertiser_ids": [*request.world.accounts]})


def list_advertisers(request: Request) -> Response:
    """GET /oauth2/advertiser/get/: the accounts of the token."""
    query = request.parse_query(_CLIENT_CHECKS)
    check_client(request, query["app_id"], query["secret"])
    accounts = request.world.accounts.values()
    return build_response(
        {"list": [{"advertiser_id": account.id, "advertiser_name": account.name} for account in accounts]}
    )
