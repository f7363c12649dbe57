"""Organizations and ad accounts."""

from typing import Any

from adsunify.sandbox.framework import Account, Answer, Request
from adsunify.sandbox.networks.snapchat.answers import PAGING, account_of, answered, listed, refused_role, truth
from adsunify.sandbox.networks.snapchat.tables import ORGANIZATIONS


def organizations(request: Request) -> Answer:
    """GET /me/organizations: with the short form of their ad accounts where it is asked for."""
    wanted = request.query({}, {**PAGING, "with_ad_accounts": truth})
    rows = []
    for native_id, name in ORGANIZATIONS:
        row: dict[str, Any] = {"id": native_id, "name": name, "country": "US", "type": "ENTERPRISE", "state": "ACTIVE"}
        if wanted.get("with_ad_accounts"):
            short = ("id", "name", "type", "status", "currency", "timezone")
            row["ad_accounts"] = [{name: full[name] for name in short} for full in _of(request, native_id)]
        rows.append(row)
    return listed(request, "organizations", "organization", rows, wanted)


def ad_accounts(request: Request) -> Answer:
    """GET /organizations/{organization}/adaccounts: full records."""
    wanted = request.query({}, PAGING)
    return listed(request, "adaccounts", "adaccount", _of(request, organization(request)), wanted)


def ad_account(request: Request) -> Answer:
    """GET /adaccounts/{account}."""
    request.query()
    native = account_of(request).extra["native"]
    return answered(request, {"adaccounts": [{"sub_request_status": "success", "adaccount": native}]})


def funding_sources(request: Request) -> Answer:
    """GET /organizations/{organization}/fundingsources."""
    wanted = request.query({}, PAGING)
    rows = [
        {"id": native_id, "type": "CREDIT_CARD", "organization_id": full["organization_id"], "status": "ACTIVE",
         "currency": full["currency"]}
        for full in _of(request, organization(request))
        for native_id in full["funding_source_ids"]
    ]  # fmt: skip
    return listed(request, "fundingsources", "fundingsource", rows, wanted)


def organization(request: Request) -> str:
    """The organization of the path. Problem `role` where the member is not of it."""
    native_id = request.slots["organization"]
    if native_id not in dict(ORGANIZATIONS):
        raise refused_role()
    return native_id


def _of(request: Request, native_id: str) -> list[dict[str, Any]]:
    every: list[Account] = list(request.world.accounts.values())
    return [one.extra["native"] for one in every if one.extra["native"]["organization_id"] == native_id]
