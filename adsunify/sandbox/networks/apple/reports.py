"""POST /reports/apps/{level}/query, answered at once."""

from collections.abc import Mapping
from datetime import date, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from adsunify.sandbox.checks import any_value, array, choice, integer, record, rule_error, text
from adsunify.sandbox.figures import Figures, get_share, sum_figures
from adsunify.sandbox.instants import iterate_days
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.apple import figures
from adsunify.sandbox.networks.apple.answers import build_response, paginate, require_account
from adsunify.sandbox.networks.apple.tables import (
    DEFAULT_REPORT_PAGE_SIZE,
    MAX_REPORT_PAGE_SIZE,
    ZERO_DECIMAL_CURRENCIES,
)
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import Account, StoredEntity

_MONEY_FIELDS = ("localSpend", "cpt", "cpm", "tapInstallCPI")
REPORT_FIELDS = (*figures.COUNT_METRICS, *_MONEY_FIELDS, "ttr")
_BODY_CHECK = record(
    required={
        "timeRange": record(
            required={"start": text(10, 10), "end": text(10, 10), "timeZone": choice("ORTZ", "UTC")},
            optional={"granularity": choice("HOURLY", "DAILY", "WEEKLY", "MONTHLY")},
        ),
        "filters": array(record(required={"field": text(), "operator": text(), "value": any_value}), 1),
    },
    optional={
        "fields": array(choice(*REPORT_FIELDS), 1),
        "pagination": record(optional={"offset": integer(0), "pageSize": integer(1, MAX_REPORT_PAGE_SIZE)}),
        "groupBy": array(choice("countryOrRegion", "deviceClass"), 1),
        "options": record(required={"includeRows": array(choice("GRAND_TOTAL", "EMPTY_METRICS"))}),
    },
)
_ID_TEXT_CHECK = text(1, 19, "[1-9][0-9]*")  # strings, as in the examples
_REPORT_RETENTION = timedelta(days=90)
_KIND_BY_LEVEL = {
    "campaigns": "campaign",
    "adgroups": "adGroup",
    "ads": "ad",
    "keywords": "keyword",
    "searchterms": "keyword",
}


def query_report(request: Request) -> Response:
    """The rows of the campaigns that are named, one for each object of the level."""
    request.parse_query()
    account, asked = require_account(request), request.parse_json(_BODY_CHECK)
    wanted = asked["timeRange"]
    zone = ZoneInfo(account.timezone if wanted["timeZone"] == "ORTZ" else "UTC")
    days = _parse_days(wanted, request.now.astimezone(zone).date())
    campaigns = _parse_campaign_ids(asked["filters"])
    options = asked.get("options", {}).get("includeRows", [])
    if "EMPTY_METRICS" in options and "groupBy" in asked:
        raise rule_error("/options/includeRows", "EMPTY_METRICS cannot be combined with groupBy")
    if "groupBy" in asked:
        raise rule_error("/groupBy", "is not simulated")
    rows: list[dict[str, Any]] = []
    all_days: list[Figures] = []
    for one in request.world.list_entities(_KIND_BY_LEVEL[request.path_parameters["level"]], account.id):
        if str(one.id if one.kind == "campaign" else one.data["campaignId"]) not in campaigns:
            continue
        by_day = {day: found for day in days if (found := _get_entity_figures(request, account, one, day, zone))}
        if by_day or "EMPTY_METRICS" in options:
            rows.append(_build_row(request, account, one, by_day, asked))
            all_days += by_day.values()
    paging = asked.get("pagination", {})
    page, pagination = paginate(rows, paging.get("offset", 0), paging.get("pageSize", DEFAULT_REPORT_PAGE_SIZE))
    grand = {"grandTotal": _render_metrics(sum_figures(all_days), asked, account)} if "GRAND_TOTAL" in options else {}
    return build_response({"result": {"rows": page, "summary": grand}, "pagination": pagination})


def _parse_days(wanted: Mapping[str, str], today: date) -> list[date]:
    """The days of the range. Problem where the granularity does not admit it."""
    try:
        start, end = date.fromisoformat(wanted["start"]), date.fromisoformat(wanted["end"])
    except ValueError as error:
        raise InvalidRequest("value", "/timeRange/start", "must be yyyy-MM-dd") from error
    if not start <= end:
        raise rule_error("/timeRange/end", "must not be before start")
    if end > today:  # chosen
        raise rule_error("/timeRange/end", "must not be in the future")
    match wanted.get("granularity"):
        case "DAILY":
            if start == end:
                raise rule_error("/timeRange/granularity", "must be left out for a single day")
            if start < today - _REPORT_RETENTION:
                raise rule_error("/timeRange/start", "must be within the last 90 days with DAILY")
        case None:
            pass
        case _:
            raise rule_error("/timeRange/granularity", "is not simulated: DAILY, or none")
    return list(iterate_days(start, end))


def _parse_campaign_ids(filters: list[dict[str, Any]]) -> set[str]:
    """The ids of the one filter that is required. IN is unverified in reports: here it works."""
    for position, one in enumerate(filters):
        where = f"/filters/{position}"
        if one["field"] != "campaignId":
            raise InvalidRequest("value", f"{where}/field", "only campaignId can be filtered")
        if one["operator"] == "IN":
            return {*array(_ID_TEXT_CHECK, 1)(one["value"], f"{where}/value")}
        if one["operator"] == "EQUALS":
            return {_ID_TEXT_CHECK(one["value"], f"{where}/value")}
        raise InvalidRequest("value", f"{where}/operator", "must be EQUALS or IN")
    raise AssertionError("the filters are checked to be there")


def _get_entity_figures(request: Request, account: Account, one: StoredEntity, day: date, zone: ZoneInfo) -> Figures:
    """The figures of an object on a day."""
    world = request.world
    if one.kind == "campaign":
        groups = world.list_entities("adGroup", account.id, one.id)
        return sum_figures(figures.get_daily_figures(world, group, day, zone) for group in groups)
    if one.kind == "adGroup":
        return figures.get_daily_figures(world, one, day, zone)
    group = world.find("adGroup", str(one.parent))
    assert group is not None
    beside = [
        other.id for other in world.list_entities(one.kind, account.id, group.id) if other.data["status"] == "ENABLED"
    ]
    if one.id not in beside:
        return {}
    return get_share(
        figures.get_daily_figures(world, group, day, zone), beside.index(one.id), beside.index(one.id) + 1, len(beside)
    )


def _build_row(
    request: Request,
    account: Account,
    one: StoredEntity,
    by_day: Mapping[date, Figures],
    asked: Mapping[str, Any],
) -> dict[str, Any]:
    names = ("name", "text", "matchType", "status", "campaignId", "adGroupId")
    metadata = {"id": int(one.id), **{name: one.data[name] for name in names if name in one.data}}
    if request.path_parameters["level"] == "searchterms":
        metadata["searchTermText"] = one.data["text"]
    row: dict[str, Any] = {
        "metadata": {**metadata, "deleted": "_deleted" in one.data},
        "totalMetrics": _render_metrics(sum_figures(by_day.values()), asked, account),
    }
    if "granularity" in asked["timeRange"]:
        row["granularMetrics"] = [
            {"date": day.isoformat(), **_render_metrics(found, asked, account)} for day, found in by_day.items()
        ]
    return row


def _render_metrics(found: Figures, asked: Mapping[str, Any], account: Account) -> dict[str, Any]:
    """The fields that were asked for; what has no figure is null."""
    wanted = asked.get("fields", REPORT_FIELDS)
    if not found:
        return dict.fromkeys(wanted)
    places = 0 if account.currency in ZERO_DECIMAL_CURRENCIES else 2
    spent = Decimal(found[figures.SPEND_METRIC]).scaleb(-places)

    def money(value: Decimal) -> dict[str, str]:
        return {"amount": str(value.quantize(Decimal(1).scaleb(-places))), "currency": account.currency}

    def each(count: int, of: int = 1) -> dict[str, str] | None:
        return money(spent * of / count) if count else None

    every: dict[str, Any] = {
        **{name: found[name] for name in figures.COUNT_METRICS},
        "localSpend": money(spent),
        "cpt": each(found["taps"]),
        "cpm": each(found["impressions"], 1000),
        "tapInstallCPI": each(found["tapInstalls"]),
        "ttr": (Decimal(found["taps"]) / found["impressions"]).quantize(Decimal("0.0001")),
    }
    return {name: every[name] for name in wanted}
