"""POST /reports/apps/{level}/query, synchronous."""

from collections.abc import Mapping
from datetime import date, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from adsunify.sandbox.checks import any_value, array, choice, integer, record, rule_error, text
from adsunify.sandbox.figures import Figures, get_share, sum_figures
from adsunify.sandbox.instants import iterate_days
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.apple import figures, tables
from adsunify.sandbox.networks.apple.answers import build_response, paginate, require_account
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
        "pagination": record(optional={"offset": integer(0), "pageSize": integer(1, tables.MAX_REPORT_PAGE_SIZE)}),
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
    """The rows of the named campaigns, one for each object of the level."""
    request.parse_query()
    account, body = require_account(request), request.parse_json(_BODY_CHECK)
    time_range = body["timeRange"]
    zone = ZoneInfo(account.timezone if time_range["timeZone"] == "ORTZ" else "UTC")
    days = _parse_days(time_range, request.now.astimezone(zone).date())
    campaigns = _parse_campaign_ids(body["filters"])
    options = body.get("options", {}).get("includeRows", [])
    if "EMPTY_METRICS" in options and "groupBy" in body:
        raise rule_error("/options/includeRows", "EMPTY_METRICS cannot be combined with groupBy")
    if "groupBy" in body:
        raise rule_error("/groupBy", "is not simulated")
    rows: list[dict[str, Any]] = []
    all_days: list[Figures] = []
    for entity in request.world.list_entities(_KIND_BY_LEVEL[request.path_parameters["level"]], account.id):
        if str(entity.id if entity.kind == "campaign" else entity.data["campaignId"]) not in campaigns:
            continue
        by_day = {
            day: entity_figures
            for day in days
            if (entity_figures := _get_entity_figures(request, account, entity, day, zone))
        }
        if by_day or "EMPTY_METRICS" in options:
            rows.append(_build_row(request, account, entity, by_day, body))
            all_days += by_day.values()
    paging = body.get("pagination", {})
    page, pagination = paginate(rows, paging.get("offset", 0), paging.get("pageSize", tables.DEFAULT_REPORT_PAGE_SIZE))
    grand = {"grandTotal": _render_metrics(sum_figures(all_days), body, account)} if "GRAND_TOTAL" in options else {}
    return build_response({"result": {"rows": page, "summary": grand}, "pagination": pagination})


def _parse_days(time_range: Mapping[str, str], today: date) -> list[date]:
    """The days of the range. Raises InvalidRequest if the granularity does not allow it."""
    try:
        start, end = date.fromisoformat(time_range["start"]), date.fromisoformat(time_range["end"])
    except ValueError as error:
        raise InvalidRequest("value", "/timeRange/start", "must be yyyy-MM-dd") from error
    if not start <= end:
        raise rule_error("/timeRange/end", "must not be before start")
    if end > today:  # chosen
        raise rule_error("/timeRange/end", "must not be in the future")
    match time_range.get("granularity"):
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
    """The ids of the one filter that is required. IN is unverified in reports; this simulation accepts it."""
    for position, condition in enumerate(filters):
        where = f"/filters/{position}"
        if condition["field"] != "campaignId":
            raise InvalidRequest("value", f"{where}/field", "only campaignId can be filtered")
        if condition["operator"] == "IN":
            return {*array(_ID_TEXT_CHECK, 1)(condition["value"], f"{where}/value")}
        if condition["operator"] == "EQUALS":
            return {_ID_TEXT_CHECK(condition["value"], f"{where}/value")}
        raise InvalidRequest("value", f"{where}/operator", "must be EQUALS or IN")
    raise AssertionError("the filters are checked to be there")


def _get_entity_figures(request: Request, account: Account, entity: StoredEntity, day: date, zone: ZoneInfo) -> Figures:
    """The figures of an object on a day."""
    world = request.world
    if entity.kind == "campaign":
        groups = world.list_entities("adGroup", account.id, entity.id)
        return sum_figures(figures.get_daily_figures(world, group, day, zone) for group in groups)
    if entity.kind == "adGroup":
        return figures.get_daily_figures(world, entity, day, zone)
    group = world.find("adGroup", str(entity.parent))
    assert group is not None
    beside = [
        other.id
        for other in world.list_entities(entity.kind, account.id, group.id)
        if other.data["status"] == "ENABLED"
    ]
    if entity.id not in beside:
        return {}
    return get_share(
        figures.get_daily_figures(world, group, day, zone),
        beside.index(entity.id),
        beside.index(entity.id) + 1,
        len(beside),
    )


def _build_row(
    request: Request, account: Account, entity: StoredEntity, by_day: Mapping[date, Figures], body: Mapping[str, Any]
) -> dict[str, Any]:
    names = ("name", "text", "matchType", "status", "campaignId", "adGroupId")
    metadata = {"id": int(entity.id), **{name: entity.data[name] for name in names if name in entity.data}}
    if request.path_parameters["level"] == "searchterms":
        metadata["searchTermText"] = entity.data["text"]
    row: dict[str, Any] = {
        "metadata": {**metadata, "deleted": "_deleted" in entity.data},
        "totalMetrics": _render_metrics(sum_figures(by_day.values()), body, account),
    }
    if "granularity" in body["timeRange"]:
        row["granularMetrics"] = [
            {"date": day.isoformat(), **_render_metrics(entity_figures, body, account)}
            for day, entity_figures in by_day.items()
        ]
    return row


def _render_metrics(entity_figures: Figures, body: Mapping[str, Any], account: Account) -> dict[str, Any]:
    """The requested fields; a field without a figure is null."""
    names = body.get("fields", REPORT_FIELDS)
    if not entity_figures:
        return dict.fromkeys(names)
    places = 0 if account.currency in tables.ZERO_DECIMAL_CURRENCIES else 2
    spent = Decimal(entity_figures[figures.SPEND_METRIC]).scaleb(-places)

    def money(value: Decimal) -> dict[str, str]:
        return {"amount": str(value.quantize(Decimal(1).scaleb(-places))), "currency": account.currency}

    def each(count: int, of: int = 1) -> dict[str, str] | None:
        return money(spent * of / count) if count else None

    every: dict[str, Any] = {
        **{name: entity_figures[name] for name in figures.COUNT_METRICS},
        "localSpend": money(spent),
        "cpt": each(entity_figures["taps"]),
        "cpm": each(entity_figures["impressions"], 1000),
        "tapInstallCPI": each(entity_figures["tapInstalls"]),
        "ttr": (Decimal(entity_figures["taps"]) / entity_figures["impressions"]).quantize(Decimal("0.0001")),
    }
    return {name: every[name] for name in names}
