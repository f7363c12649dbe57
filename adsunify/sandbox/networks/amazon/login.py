"""Login with Amazon and profiles."""

from collections.abc import Mapping
from typing import Any

from adsunify.sandbox.framework import (
    Account,
    InvalidRequest,
    Request,
    Response,
    choice,
    exchange_code,
    record,
    refresh_tokens,
    text,
)
from adsunify.sandbox.networks.amazon.tables import LOGIN, MARKETPLACES, REGION_BY_HOST

_CLIENT_CHECKS = {"grant_type": text(), "client_id": text(), "client_secret": text()}
_FORM_BY_GRANT_TYPE = {
    "authorization_code": record(
        {**_CLIENT_CHECKS, "code": text(), "redirect_uri": text()}, {"code_verifier": text(43, 128)}
    ),
    "refresh_token": record({**_CLIENT_CHECKS, "refresh_token": text()}),
}
_ACCOUNT_TYPES = ("seller", "vendor", "agency")


def issue_token(request: Request) -> Response:
    """`POST /auth/o2/token` on any of the three hosts: codes and tokens hold in all regions."""
    form = request.parse_form()
    if "grant_type" not in form:
        raise InvalidRequest("required", "grant_type", "grant_type is required")
    if form["grant_type"] not in _FORM_BY_GRANT_TYPE:
        raise InvalidRequest("unsupported_grant_type", "grant_type", f"must be one of {', '.join(_FORM_BY_GRANT_TYPE)}")
    given = _FORM_BY_GRANT_TYPE[form["grant_type"]](form, "")
    app = (given["client_id"], given["client_secret"])
    if given["grant_type"] == "refresh_token":
        issued = refresh_tokens(request, LOGIN, *app, given["refresh_token"])
    else:
        issued = exchange_code(request, LOGIN, *app, given["code"], given["redirect_uri"], given.get("code_verifier"))
    assert issued.refresh is not None
    body = {"access_token": issued.access.text, "token_type": "bearer", "expires_in": LOGIN.access_seconds}
    return Response(200, {**body, "refresh_token": issued.refresh.text})


def list_profiles(request: Request) -> Response:
    """`GET /v2/profiles`: a plain array of this host's region only."""
    asked = request.parse_query(
        optional={
            "apiProgram": choice("billing", "campaign", "paymentMethod", "store", "report", "account", "posts"),
            "accessLevel": choice("edit", "view"),
            "profileTypeFilter": _check_account_types,
            "validPaymentMethodFilter": choice("true", "false"),
        }
    )
    found = [
        row
        for account in request.world.accounts.values()
        if account.extra["region"] == REGION_BY_HOST[request.host]
        and (row := _render_profile(account))["accountInfo"]["type"] in asked.get("profileTypeFilter", _ACCOUNT_TYPES)
    ]
    if (paying := asked.get("validPaymentMethodFilter")) is not None:
        found = [row for row in found if row["accountInfo"].get("validPaymentMethod", True) is (paying == "true")]
    return Response(200, found)


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


def _check_account_types(value: str, where: str) -> list[str]:
    """A comma-separated list of account types."""
    return [choice(*_ACCOUNT_TYPES)(one, where) for one in value.split(",")]
