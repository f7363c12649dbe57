"""Consent and the token, which has no end and no refresh token."""

from adsunify.sandbox.framework import (
    Answer,
    Check,
    Login,
    Request,
    boolean,
    client,
    exchange,
    record,
    revoke,
    text,
    valid,
)
from adsunify.sandbox.networks.tiktok.answers import HOSTS, answer

LOGIN = Login(
    pages=((HOSTS[0], "/portal/auth"),),
    client_id_name="app_id",
    response_type=None,
    code_name="auth_code",
    pkce="refused",
    code_seconds=3600,
    access_seconds=None,
    refreshes=False,
)
# Ad account, ads, audience, reporting, measurement, creative, app, pixel: the app's, not asked for in the consent.
SCOPE = [1, 2, 3, 4, 5, 6, 7, 8]
_APP: dict[str, Check] = {"app_id": text(), "secret": text()}


def access_token(request: Request) -> Answer:
    """POST /oauth2/access_token/."""
    request.query()
    shape = record({**_APP, "auth_code": text()}, {"return_advertiser_ids": boolean})
    given = request.json(shape)
    issued = exchange(request, LOGIN, given["app_id"], given["secret"], given["auth_code"], None)
    data = {"access_token": issued.access.text, "scope": SCOPE}
    if given.get("return_advertiser_ids", True):
        data["advertiser_ids"] = [*request.world.accounts]
    return answer(data)


def revoke_token(request: Request) -> Answer:
    """POST /oauth2/revoke_token/: answers the accounts that are out of reach from now on."""
    request.query()
    given = request.json(record({**_APP, "access_token": text()}))
    client(request, given["app_id"], given["secret"])
    valid(request, given["access_token"])
    revoke(request, given["access_token"])
    return answer({"advertiser_ids": [*request.world.accounts]})


def list_advertisers(request: Request) -> Answer:
    """GET /oauth2/advertiser/get/: what the token reaches."""
    given = request.query(_APP)
    client(request, given["app_id"], given["secret"])
    accounts = request.world.accounts.values()
    return answer({"list": [{"advertiser_id": one.id, "advertiser_name": one.name} for one in accounts]})
