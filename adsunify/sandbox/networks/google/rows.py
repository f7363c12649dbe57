"""The rows that a query is asked of: per FROM resource, every row with what may be joined to it."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from adsunify.sandbox.framework import Account, Entity, Request
from adsunify.sandbox.networks.google import catalogs
from adsunify.sandbox.networks.google.connect import resource
from adsunify.sandbox.networks.google.gaql import Query, refused
from adsunify.sandbox.networks.google.messages import snake
from adsunify.sandbox.networks.google.operations import resource_name
from adsunify.sandbox.networks.google.rules import strategy, today
from adsunify.sandbox.networks.google.tables import BY_KIND

Row = dict[str, Any]
_REVIEW = timedelta(minutes=1)
_MONTHS = 37  # older days are not available


def entities(kind: str) -> Callable[[Request, Account, Query], Iterable[Row]]:
    """The rows of what was created: the entity, its parents, the campaign's budget and the customer."""

    def rows(request: Request, account: Account, query: Query) -> Iterable[Row]:
        world = request.world
        users = Counter(
            one.data["campaignBudget"]
            for one in world.entities("campaign", account.id)
            if one.data["status"] != "REMOVED"
        )
        for entity in world.entities(kind, account.id):
            row, at = {"customer": resource(account)}, entity
            while True:
                row[snake(BY_KIND[at.kind].name)] = _seen(request, account, at, users)
                if at.kind == "campaign":
                    parent = world.find("budget", at.data["campaignBudget"].rpartition("/")[2])
                else:
                    above = BY_KIND[at.kind].parent or ("", "campaign")
                    parent = None if at.parent is None else world.find(above[1], at.parent)
                if parent is None:
                    break
                at = parent
            yield row

    return rows


def customers(request: Request, account: Account, query: Query) -> Iterable[Row]:
    """The customer; with metrics one row for each day of the range, or their sum where the day is not selected.

    A day without delivery has no row.
    """
    row: Row = {"customer": resource(account)}
    asked = {name.partition(".")[0] for name in query.select} | {
        one.field.partition(".")[0] for one in query.conditions
    }
    if not asked & {"metrics", "segments"}:
        return [row]
    if account.extra["clients"]:
        raise refused("REQUESTED_METRICS_FOR_MANAGER", "metrics cannot be requested for a manager account")
    first, last = _range(query)
    now = today(request, account)
    months = now.year * 12 + now.month - 1 - _MONTHS
    first = max(first, date(months // 12, months % 12 + 1, min(now.day, 28)))
    every_day = (first + timedelta(days=one) for one in range((min(last, now) - first).days + 1))
    days = [day for day in every_day if request.world.delivers(day)]
    if "segments.date" in query.select:
        return [{**row, "segments": {"date": str(day)}, "metrics": metrics(account, day)} for day in days]
    total: dict[str, Any] = {}
    for day in days:
        for name, value in metrics(account, day).items():
            total[name] = total.get(name, 0) + value
    return [{**row, "segments": {"date": str(last)}, "metrics": total}]


def metrics(account: Account, day: date) -> dict[str, Any]:
    """What an account did on a day: made up, the same every time, on some days without a conversion.

    Costs are multiples of the billable unit: a click costs 40 to 160 units ($0.40 to $1.60, or ¥40 to ¥160).
    """
    noise = hashlib.sha256(f"{account.id} {day}".encode()).digest()
    impressions = (2000 if day.weekday() < 5 else 1200) + noise[0] * 12
    clicks = impressions * (20 + noise[1] % 40) // 1000
    conversions = Decimal(noise[2] % 40) / 4 if noise[2] % 8 else Decimal(0)
    return {
        "impressions": impressions,
        "clicks": clicks,
        "costMicros": clicks * (40 + noise[3] % 121) * catalogs.unit(account),
        "conversions": conversions,
        "conversionsValue": conversions * (20 + noise[4] % 60),
        "videoTrueviewViews": 0,
    }


def clients(request: Request, account: Account, query: Query) -> Iterable[Row]:
    """The account itself (level 0), and the clients of a manager (level 1)."""
    for one in request.world.accounts.values():
        if one.id == account.id or one.extra["manager"] == account.id:
            name = f"customers/{account.id}/customerClients/{one.id}"
            client = {"resourceName": name, "clientCustomer": f"customers/{one.id}", "level": int(one.id != account.id)}
            yield {"customer": resource(account), "customer_client": {**resource(one), **client}}


def geo_targets(request: Request, account: Account, query: Query) -> Iterable[Row]:
    """The known places, and those that the query names."""
    ids = dict.fromkeys((*catalogs.COUNTRIES, *catalogs.PLACES))
    for condition in query.conditions:
        texts = (str(value).removeprefix("geoTargetConstants/") for value in condition.values)
        ids |= dict.fromkeys(int(text) for text in texts if text.isdecimal())
    return [{"geo_target_constant": found} for one in ids if (found := catalogs.geo_target(one)) is not None]


def languages(request: Request, account: Account, query: Query) -> Iterable[Row]:
    """Every language."""
    return [
        {"language_constant": {"resourceName": f"languageConstants/{id}", "id": id, "code": code, "name": name,
                               "targetable": targetable}}
        for id, (code, name, targetable) in catalogs.LANGUAGES.items()  # noqa: A001 - the word of the network
    ]  # fmt: skip


def currencies(request: Request, account: Account, query: Query) -> Iterable[Row]:
    """Every currency."""
    return [
        {"currency_constant": {"resourceName": f"currencyConstants/{code}", "code": code, "name": name,
                               "symbol": symbol, "billableUnitMicros": unit}}
        for code, (name, symbol, unit) in catalogs.CURRENCIES.items()
    ]  # fmt: skip


def conversion_actions(request: Request, account: Account, query: Query) -> Iterable[Row]:
    """The conversion actions that every account has."""
    for number, (name, category, origin, kind, status) in enumerate(catalogs.CONVERSION_ACTIONS, 7001):
        held = {"resourceName": f"customers/{account.id}/conversionActions/{number}", "id": number, "name": name,
                "category": category, "origin": origin, "type": kind, "status": status}  # fmt: skip
        yield {"customer": resource(account), "conversion_action": held}


def user_lists(request: Request, account: Account, query: Query) -> Iterable[Row]:
    """The user lists that every account has."""
    for number, (name, size, status) in enumerate(catalogs.USER_LISTS, 8001):
        held = {"resourceName": f"customers/{account.id}/userLists/{number}", "id": number, "name": name,
                "sizeForSearch": size, "membershipStatus": status}  # fmt: skip
        yield {"customer": resource(account), "user_list": held}


SOURCES: Mapping[str, Callable[[Request, Account, Query], Iterable[Row]]] = {
    "campaign_budget": entities("budget"),
    "campaign": entities("campaign"),
    "campaign_criterion": entities("criterion"),
    "ad_group": entities("adGroup"),
    "ad_group_criterion": entities("keyword"),
    "ad_group_ad": entities("ad"),
    "campaign_conversion_goal": entities("conversionGoal"),
    "customer": customers,
    "customer_client": clients,
    "geo_target_constant": geo_targets,
    "language_constant": languages,
    "currency_constant": currencies,
    "conversion_action": conversion_actions,
    "user_list": user_lists,
}


def _seen(request: Request, account: Account, entity: Entity, users: Counter[str]) -> Row:
    """An entity with what Google derives."""
    name, data, own = resource_name(entity), entity.data, entity.id.rpartition("~")[2]
    match entity.kind:
        case "campaign":
            kind = snake(strategy(data) or "").upper()
            derived = {"id": int(own), "primaryStatus": _serving(request, account, entity),
                       "biddingStrategyType": "TARGET_SPEND" if kind == "BIDDING_STRATEGY" else kind}  # fmt: skip
        case "budget":
            derived = {"id": int(own), "referenceCount": users[name]}
        case "adGroup":
            derived = {"id": int(own)}
        case "keyword" | "criterion":
            derived = {"criterionId": int(own)}
        case "ad":
            ad = {**data["ad"], "id": int(own), "resourceName": f"customers/{account.id}/ads/{own}"}
            reviewed = request.now - entity.updated_at >= _REVIEW
            policy = {"reviewStatus": "REVIEWED", "approvalStatus": "APPROVED"} if reviewed else {
                "reviewStatus": "REVIEW_IN_PROGRESS"}  # fmt: skip
            derived = {"ad": ad, "policySummary": policy}
        case _:
            derived = {}
    return {**data, **derived, "resourceName": name}


def _serving(request: Request, account: Account, campaign: Entity) -> str:
    """The primary status: ELIGIBLE needs an enabled ad group."""
    data, now = campaign.data, str(today(request, account))
    if data["status"] != "ENABLED":
        return str(data["status"])
    if data.get("endDateTime", "9999")[:10] < now:
        return "ENDED"
    if data["startDateTime"][:10] > now:
        return "PENDING"
    groups = request.world.entities("adGroup", account.id, campaign.id)
    return "ELIGIBLE" if any(one.data["status"] == "ENABLED" for one in groups) else "NOT_ELIGIBLE"


def _range(query: Query) -> tuple[date, date]:
    """Both bounds of `segments.date`, which must be finite."""
    bounds: dict[str, date] = {}
    for one in query.conditions:
        if one.field == "segments.date":
            try:
                values = [date.fromisoformat(str(value)) for value in one.values]
            except ValueError as error:
                raise refused("INVALID_DATE_FORMAT", "a date is yyyy-MM-dd") from error
            if one.operator in ("=", "BETWEEN", ">="):
                bounds["first"] = values[0]
            if one.operator in ("=", "BETWEEN", "<="):
                bounds["last"] = values[-1]
    if len(bounds) < 2:
        raise refused("EXPECTED_FILTERS_ON_DATE_RANGE", "segments.date needs a first and a last day")
    if bounds["first"] > bounds["last"]:
        raise refused("INVALID_VALUE_WITH_BETWEEN_OPERATOR", "the first day is after the last")
    return bounds["first"], bounds["last"]
