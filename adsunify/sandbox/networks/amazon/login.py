"""Login with Amazon and profiles."""

from collections.abc import Mapping
from typing import Any

from adsunify.sandbox.checks import choice, comma_separated
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.amazon.tables import LOGIN, MARKETPLACES, REGION_BY_HOST
from adsunify.sandbox.oauth import redeem_token_form, render_tokens
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import Account

_GRANT_TYPES = ("authorization_code", "refresh_token")
_ACCOUNT_TYPES = ("seller", "vendor", "agency")


def issue_token(request: Request) -> Response:
    """`POST /auth/o2/token` on any of the three hosts: codes and tokens are valid in all regions."""
    grant_type = request.parse_form().get("grant_type")
    if grant_type is None:
        raise InvalidRequest("required", "grant_type", "grant_type is required")
    if grant_type not in _GRANT_TYPES:
        raise InvalidRequest("unsupported_grant_type", "grant_type", f"must be one of {', '.join(_GRANT_TYPES)}")
    _, issued = redeem_token_form(request, LOGIN)
    return Response(200, render_tokens(LOGIN, issued))


def list_profiles(request: Request) -> Response:
    """`GET /v2/profiles`: a plain array of this host's region only."""
    query = request.parse_query(
        optional={
            "apiProgram": choice("billing", "campaign", "paymentMethod", "store", "report", "account", "posts"),
            "accessLevel": choice("edit", "view"),
            "profileTypeFilter": comma_separated(choice(*_ACCOUNT_TYPES)),
            "validPaymentMethodFilter": choice("true", "false"),
        }
    )
    rows = [
        row
        for account in request.world.accounts.values()
        if account.extra["region"] == REGION_BY_HOST[request.host]
        and (row := _render_profile(account))["accountInfo"]["type"] in query.get("profileTypeFilter", _ACCOUNT_TYPES)
    ]
    if (paying := query.get("validPaymentMethodFilter")) is not None:
        rows = [row for row in rows if row["accountInfo"].get("validPaymentMethod", True) is (paying == "true")]
    return Response(200, rows)


def get_profile(request: Request) -> Response:
    """`GET /v2/profiles/{profileId}`: a profile of another region is unknown here."""
    account = request.find_account(request.path_parameters["profile"])
    if account is None or account.extra["region"] != REGION_BY_HOST[request.host]:
        raise InvalidRequest("not_found", "profileId", "no such profile at this host")
    request.parse_query()
    return Response(200, _render_profile(account))


def _render_profile(account: Account) -> Mapping[str, Any]:
    extra = account.extra
    info = {
        "marketplaceStringId": MARKETPLACES[extra["country"]].id,
        "id": extra["native"],
        "type": extra["type"],
        **({"name": account.name} if extra["named"] else {}),
        **({"validPaymentMethod": True} if extra["type"] == "vendor" else {}),  # only present for vendors
    }
    return {
        "profileId": int(account.id),
        "countryCode": extra["country"],
        "currencyCode": account.currency,
        "timezone": account.timezone,
        "accountInfo": info,
    }
