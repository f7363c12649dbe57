"""Businesses and ad accounts."""

from typing import Any

from adsunify.sandbox.checks import record
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.reddit import answers
from adsunify.sandbox.networks.reddit.tables import BUSINESSES

_EMPTY_QUERY = record(required={"data": record()})


def list_businesses(request: Request) -> Response:
    """GET /me/businesses."""
    query = request.parse_query({}, answers.PAGING_CHECKS)
    rows = [
        {"id": native_id, "name": name, "country": "US", "industry": "RETAIL_AND_ECOMMERCE"}
        for native_id, name, _, _ in BUSINESSES
    ]
    return answers.build_page_response(request, rows, query)


def list_ad_accounts(request: Request) -> Response:
    """POST /businesses/{business}/ad_accounts/query: owned and shared ones. Filters are not simulated."""
    query = request.parse_query({}, answers.PAGING_CHECKS)
    request.parse_json(_EMPTY_QUERY)
    _, _, owned, shared = _require_business(request)
    return answers.build_page_response(request, _render_accounts(request, owned + shared), query)


def list_owned_ad_accounts(request: Request) -> Response:
    """GET /businesses/{business}/ad_accounts: owned ones."""
    query = request.parse_query({}, answers.PAGING_CHECKS)
    _, _, owned, _ = _require_business(request)
    return answers.build_page_response(request, _render_accounts(request, owned), query)


def get_ad_account(request: Request) -> Response:
    """GET /ad_accounts/{account}."""
    request.parse_query()
    return answers.build_response(answers.require_account(request).extra["native"])


def _require_business(request: Request) -> tuple[str, str, tuple[str, ...], tuple[str, ...]]:
    for business in BUSINESSES:
        if business[0] == request.path_parameters["business"]:
            return business
    raise answers.not_found_error("business")


def _render_accounts(request: Request, ids: tuple[str, ...]) -> list[dict[str, Any]]:
    return [account.extra["native"] for native_id in ids if (account := request.find_account(native_id)) is not None]
