"""Login with Amazon and profiles."""

from collections.abc import Mapping
from typing import Any

from adsunify.sandbox.framework import (
    Account,
    Answer,
    Problem,
    Request,
    choice,
    exchange,
    record,
    refresh,
    text,
)
from adsunify.sandbox.networks.amazon.tables import LOGIN, MARKETPLACES, REGION

_APP = {"grant_type": text(), "client_id": text(), "client_secret": text()}
_FORMS = {
    "authorization_code": record({**_APP, "code": text(), "redirect_uri": text()}, {"code_verifier": text(43, 128)}),
    "refresh_token": record({**_APP, "refresh_token": text()}),
}
_TYPES = ("seller", "vendor", "agency")


def token(request: Request) -> Answer:
    """`POST /auth/o2/token` on any of the three hosts: codes and tokens hold in all regions."""
    form = request.form()
    if "grant_type" not in form:
        raise Problem("required", "grant_type", "grant_type is required")
    if form["grant_type"] not in _FORMS:
        raise Problem("unsupported_grant_type", "grant_type", f"must be one of {', '.join(_FORMS)}")
    given = _FORMS[form["grant_type"]](form, "")
    app = (given["client_id"], given["client_secret"])
    if given["grant_type"] == "refresh_token":
        issued = refresh(request, LOGIN, *app, given["refresh_token"])
    else:
        issued = exchange(request, LOGIN, *app, given["code"], given["redirect_uri"], given.get("code_verifier"))
    assert issued.refresh is not None
    body = {"access_token": issued.access.text, "token_type": "bearer", "expires_in": LOGIN.access_seconds}
    return Answer(200, {**body, "refresh_token": issued.refresh.text})


def profiles(request: Request) -> Answer:
    """`GET /v2/profiles`: a plain array of this host's region only."""
    asked = request.query(
        optional={
            "apiProgram": choice("billing", "campaign", "paymentMethod", "store", "report", "account", "posts"),
            "accessLevel": choice("edit", "view"),
            "profileTypeFilter": _types,
            "validPaymentMethodFilter": choice("true", "false"),
        }
    )
    found = [
        row
        for account in request.world.accounts.values()
        if account.extra["region"] == REGION[request.host]
        and (row := _profile(account))["accountInfo"]["type"] in asked.get("profileTypeFilter", _TYPES)
    ]
    if (paying := asked.get("validPaymentMethodFilter")) is not None:
        found = [row for row in found if row["accountInfo"].get("validPaymentMethod", True) is (paying == "true")]
    return Answer(200, found)


def one_profile(request: Request) -> Answer:
    """`GET /v2/profiles/{profileId}`: a profile of another region is unknown here."""
    account = request.account(request.slots["profile"])
    if account is None or account.extra["region"] != REGION[request.host]:
        raise Problem("not_found", "profileId", "no such profile at this host")
    request.query()
    return Answer(200, _profile(account))


def _profile(account: Account) -> Mapping[str, Any]:
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


def _types(value: str, where: str) -> list[str]:
    """A comma-separated list of account types."""
    return [choice(*_TYPES)(one, where) for one in value.split(",")]
