"""Organizations and ad accounts."""

from typing import Any

from adsunify.sandbox.checks import boolean_text
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.snapchat import answers
from adsunify.sandbox.networks.snapchat.tables import ORGANIZATIONS
from adsunify.sandbox.world import Account


def list_organizations(request: Request) -> Response:
    """GET /me/organizations: with the short form of their ad accounts if requested."""
    query = request.parse_query({}, {**answers.PAGING_CHECKS, "with_ad_accounts": boolean_text})
    rows = []
    for native_id, name in ORGANIZATIONS:
        row: dict[str, Any] = {"id": native_id, "name": name, "country": "US", "type": "ENTERPRISE", "state": "ACTIVE"}
        if query.get("with_ad_accounts"):
            short = ("id", "name", "type", "status", "currency", "timezone")
            row["ad_accounts"] = [
                {name: full[name] for name in short} for full in _list_organization_accounts(request, native_id)
            ]
        rows.append(row)
    return answers.build_page_response(request, "organizations", "organization", rows, query)


def list_ad_accounts(request: Request) -> Response:
    """GET /organizations/{organization}/adaccounts: full records."""
    query = request.parse_query({}, answers.PAGING_CHECKS)
    return answers.build_page_response(
        request, "adaccounts", "adaccount", _list_organization_accounts(request, require_organization(request)), query
    )


def get_ad_account(request: Request) -> Response:
    """GET /adaccounts/{account}."""
    request.parse_query()
    native = answers.require_account(request).extra["native"]
    return answers.build_response(request, {"adaccounts": [{"sub_request_status": "success", "adaccount": native}]})


def list_funding_sources(request: Request) -> Response:
    """GET /organizations/{organization}/fundingsources."""
    query = request.parse_query({}, answers.PAGING_CHECKS)
    rows = [
        {
            "id": native_id,
            "type": "CREDIT_CARD",
            "organization_id": full["organization_id"],
            "status": "ACTIVE",
            "currency": full["currency"],
        }
        for full in _list_organization_accounts(request, require_organization(request))
        for native_id in full["funding_source_ids"]
    ]
    return answers.build_page_response(request, "fundingsources", "fundingsource", rows, query)


def require_organization(request: Request) -> str:
    """The organization of the path. Raises InvalidRequest `role` if the member does not belong to it."""
    native_id = request.path_parameters["organization"]
    if native_id not in dict(ORGANIZATIONS):
        raise answers.role_error()
    return native_id


def _list_organization_accounts(request: Request, native_id: str) -> list[dict[str, Any]]:
    every: list[Account] = list(request.world.accounts.values())
    return [account.extra["native"] for account in every if account.extra["native"]["organization_id"] == native_id]
