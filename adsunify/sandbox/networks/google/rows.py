"""The rows of a query: for each FROM resource every row with its joined resources."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import timedelta

from adsunify.sandbox.network import Request
from adsunify.sandbox.networks.google import catalogs
from adsunify.sandbox.networks.google.connect import render_customer
from adsunify.sandbox.networks.google.gaql import Query
from adsunify.sandbox.networks.google.messages import to_snake_case
from adsunify.sandbox.networks.google.operations import build_resource_name
from adsunify.sandbox.networks.google.reports import Row, RowBuilder, make_report_rows
from adsunify.sandbox.networks.google.rules import get_bidding_strategy
from adsunify.sandbox.networks.google.tables import RESOURCE_BY_KIND
from adsunify.sandbox.world import Account, StoredEntity

_REVIEW_TIME = timedelta(minutes=1)


def make_entity_rows(kind: str) -> RowBuilder:
    """The rows of created entities: the entity, its parents, the campaign's budget and the customer."""

    def rows(request: Request, account: Account, query: Query) -> Iterable[Row]:
        world = request.world
        users = Counter(
            campaign.data["campaignBudget"]
            for campaign in world.list_entities("campaign", account.id)
            if campaign.data["status"] != "REMOVED"
        )
        for entity in world.list_entities(kind, account.id):
            row, at = {"customer": render_customer(account)}, entity
            while True:
                row[to_snake_case(RESOURCE_BY_KIND[at.kind].name)] = _render_entity(request, account, at, users)
                if at.kind == "campaign":
                    parent = world.find("budget", at.data["campaignBudget"].rpartition("/")[2])
                else:
                    above = RESOURCE_BY_KIND[at.kind].parent or ("", "campaign")
                    parent = None if at.parent is None else world.find(above[1], at.parent)
                if parent is None:
                    break
                at = parent
            yield row

    return rows


def build_customer_rows(request: Request, account: Account, query: Query) -> Iterable[Row]:
    """The customer."""
    return [{"customer": render_customer(account)}]


def build_client_rows(request: Request, account: Account, query: Query) -> Iterable[Row]:
    """The account itself (level 0), and the clients of a manager (level 1)."""
    for customer in request.world.accounts.values():
        if customer.id == account.id or customer.extra["manager"] == account.id:
            name = f"customers/{account.id}/customerClients/{customer.id}"
            client = {
                "resourceName": name,
                "clientCustomer": f"customers/{customer.id}",
                "level": int(customer.id != account.id),
            }
            yield {"customer": render_customer(account), "customer_client": {**render_customer(customer), **client}}


def build_geo_target_rows(request: Request, account: Account, query: Query) -> Iterable[Row]:
    """The known places, and the places that the query names."""
    ids = dict.fromkeys((*catalogs.COUNTRIES, *catalogs.LOCATIONS))
    for condition in query.conditions:
        texts = (str(value).removeprefix("geoTargetConstants/") for value in condition.values)
        ids |= dict.fromkeys(int(text) for text in texts if text.isdecimal())
    return [
        {"geo_target_constant": place} for place_id in ids if (place := catalogs.find_geo_target(place_id)) is not None
    ]


def build_language_rows(request: Request, account: Account, query: Query) -> Iterable[Row]:
    """Every language."""
    return [
        {
            "language_constant": {
                "resourceName": f"languageConstants/{language_id}",
                "id": language_id,
                "code": code,
                "name": name,
                "targetable": targetable,
            }
        }
        for language_id, (code, name, targetable) in catalogs.LANGUAGES.items()
    ]


def build_currency_rows(request: Request, account: Account, query: Query) -> Iterable[Row]:
    """Every currency."""
    return [
        {
            "currency_constant": {
                "resourceName": f"currencyConstants/{code}",
                "code": code,
                "name": name,
                "symbol": symbol,
                "billableUnitMicros": unit,
            }
        }
        for code, (name, symbol, unit) in catalogs.CURRENCIES.items()
    ]


def build_conversion_action_rows(request: Request, account: Account, query: Query) -> Iterable[Row]:
    """The conversion actions that every account has."""
    for number, (name, category, origin, kind, status) in enumerate(catalogs.CONVERSION_ACTIONS, 7001):
        action = {
            "resourceName": f"customers/{account.id}/conversionActions/{number}",
            "id": number,
            "name": name,
            "category": category,
            "origin": origin,
            "type": kind,
            "status": status,
        }
        yield {"customer": render_customer(account), "conversion_action": action}


def build_user_list_rows(request: Request, account: Account, query: Query) -> Iterable[Row]:
    """The user lists that every account has."""
    for number, (name, size, status) in enumerate(catalogs.USER_LISTS, 8001):
        user_list = {
            "resourceName": f"customers/{account.id}/userLists/{number}",
            "id": number,
            "name": name,
            "sizeForSearch": size,
            "membershipStatus": status,
        }
        yield {"customer": render_customer(account), "user_list": user_list}


ROWS_BY_SOURCE: Mapping[str, RowBuilder] = {
    "campaign_budget": make_entity_rows("budget"),
    "campaign": make_report_rows("campaign", make_entity_rows("campaign")),
    "campaign_criterion": make_entity_rows("criterion"),
    "ad_group": make_report_rows("adGroup", make_entity_rows("adGroup")),
    "ad_group_criterion": make_entity_rows("keyword"),
    "ad_group_ad": make_report_rows("ad", make_entity_rows("ad")),
    "campaign_conversion_goal": make_entity_rows("conversionGoal"),
    "customer": make_report_rows("customer", build_customer_rows),
    "customer_client": build_client_rows,
    "geo_target_constant": build_geo_target_rows,
    "language_constant": build_language_rows,
    "currency_constant": build_currency_rows,
    "conversion_action": build_conversion_action_rows,
    "user_list": build_user_list_rows,
}


def _render_entity(request: Request, account: Account, entity: StoredEntity, users: Counter[str]) -> Row:
    """An entity with the fields that Google derives."""
    name, data, own = build_resource_name(entity), entity.data, entity.id.rpartition("~")[2]
    match entity.kind:
        case "campaign":
            kind = to_snake_case(get_bidding_strategy(data) or "").upper()
            derived = {
                "id": int(own),
                "primaryStatus": _get_primary_status(request, account, entity),
                "biddingStrategyType": "TARGET_SPEND" if kind == "BIDDING_STRATEGY" else kind,
            }
        case "budget":
            derived = {"id": int(own), "referenceCount": users[name]}
        case "adGroup":
            derived = {"id": int(own)}
        case "keyword" | "criterion":
            derived = {"criterionId": int(own)}
        case "ad":
            ad = {**data["ad"], "id": int(own), "resourceName": f"customers/{account.id}/ads/{own}"}
            reviewed = request.now - entity.updated_at >= _REVIEW_TIME
            is_refused = request.world.is_refused(entity)
            policy = (
                {"reviewStatus": "REVIEWED", "approvalStatus": "DISAPPROVED" if is_refused else "APPROVED"}
                if reviewed or is_refused
                else {"reviewStatus": "REVIEW_IN_PROGRESS"}
            )
            derived = {"ad": ad, "policySummary": policy}
        case _:
            derived = {}
    return {**data, **derived, "resourceName": name}


def _get_primary_status(request: Request, account: Account, campaign: StoredEntity) -> str:
    """The primary status: ELIGIBLE needs an enabled ad group."""
    data, now = campaign.data, str(request.get_local_date(account))
    if data["status"] != "ENABLED":
        return str(data["status"])
    if data.get("endDateTime", "9999")[:10] < now:
        return "ENDED"
    if data["startDateTime"][:10] > now:
        return "PENDING"
    groups = request.world.list_entities("adGroup", account.id, campaign.id)
    return "ELIGIBLE" if any(group.data["status"] == "ENABLED" for group in groups) else "NOT_ELIGIBLE"
