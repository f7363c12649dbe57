"""Businesses and ad accounts."""

from typing import Any

from adsunify.sandbox.framework import Answer, Request, record
from adsunify.sandbox.networks.reddit.answers import PAGING, absent, account_of, answered, listed
from adsunify.sandbox.networks.reddit.tables import BUSINESSES

_NOTHING = record(required={"data": record()})


def businesses(request: Request) -> Answer:
    """GET /me/businesses."""
    wanted = request.query({}, PAGING)
    rows = [
        {"id": native_id, "name": name, "country": "US", "industry": "RETAIL_AND_ECOMMERCE"}
        for native_id, name, _, _ in BUSINESSES
    ]
    return listed(request, rows, wanted)


def every_ad_account(request: Request) -> Answer:
    """POST /businesses/{business}/ad_accounts/query: owned and shared ones. Filters are not known here."""
    wanted = request.query({}, PAGING)
    request.json(_NOTHING)
    _, _, owned, shared = _business(request)
    return listed(request, _natives(request, owned + shared), wanted)


def owned_ad_accounts(request: Request) -> Answer:
    """GET /businesses/{business}/ad_accounts: owned ones."""
    wanted = request.query({}, PAGING)
    _, _, owned, _ = _business(request)
    return listed(request, _natives(request, owned), wanted)


def ad_account(request: Request) -> Answer:
    """GET /ad_accounts/{account}."""
    request.query()
    return answered(account_of(request).extra["native"])


def _business(request: Request) -> tuple[str, str, tuple[str, ...], tuple[str, ...]]:
    for business in BUSINESSES:
        if business[0] == request.slots["business"]:
            return business
    raise absent("business")


def _natives(request: Request, ids: tuple[str, ...]) -> list[dict[str, Any]]:
    return [account.extra["native"] for native_id in ids if (account := request.account(native_id)) is not None]
