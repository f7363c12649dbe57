"""POST /reports/apps/{level}/query, synchronous."""

from collections import defaultdict
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
from adsunify.sandbox.parsing import InvalidRequest, split_words
from adsunify.sandbox.world import Account, StoredEntity, World

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
_ID_TEXT_CHECK = text(1, 19, "[1-9][0-9]*")  # ids are strings, as in the documented examples
_REPORT_RETENTION = timedelta(days=90)
_KIND_BY_LEVEL = {
    "campaigns": "campaign",
    "adgroups": "adGroup",
    "ads": "ad",
    "keywords": "keyword",
    "searchterms": "keyword",
}

_METADATA_NAMES = split_words("""
    name text matchType status campaignId adGroupId pricingModel promotedObjectType promotedObjectId
""")


def query_report(request: Request) -> Response:
    """The rows of the named campaigns, one for each object of the level."""
    request.parse_query()
    account, body = require_account(request), request.parse_json(_BODY_CHECK)
    time_range = body["timeRange"]
    zone = ZoneInfo(account.timezone if time_range["timeZone"] == "ORTZ" else "UTC")
    days = _parse_days(time_range, request.now.astimezone(zone).date())
    ids_by_field = _parse_filters(request.path_parameters["level"], body["filters"])
    options = body.get("options", {}).get("includeRows", [])
    if "EMPTY_METRICS" in options and "groupBy" in body:
        raise rule_error("/options/includeRows", "EMPTY_METRICS cannot be combined with groupBy")
    if "groupBy" in body:
        raise rule_error("/groupBy", "is not simulated")
    rows: list[dict[str, Any]] = []
    all_days: list[Figures] = []
    kind = _KIND_BY_LEVEL[request.path_parameters["level"]]
    siblings: dict[str, list[StoredEntity]] = defaultdict(list)
    for entity in request.world.list_entities("adGroup" if kind == "campaign" else kind, account.id):
        siblings[str(entity.parent)].append(entity)
    for entity in request.world.list_entities(kind, account.id):
        if not _matches_filters(entity, ids_by_field):
            continue
        by_day = {
            day: entity_figures
            for day in days
            if (entity_figures := _get_entity_figures(request.world, entity, siblings, day, zone))
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
    if end > today:  # our choice: undocumented
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


def _parse_filters(level: str, filters: list[dict[str, Any]]) -> dict[str, set[str]]:
    """The ids by field. `campaignId` is required; `adGroupId` is a further filter of the levels below the campaign.

    IN is unverified in reports; this simulation accepts it for campaigns. A filter of `id` is unverified, and refused.
    """
    operators_by_field: dict[str, tuple[str, ...]] = {"campaignId": ("EQUALS", "IN")}
    if level != "campaigns":
        operators_by_field["adGroupId"] = ("EQUALS",)
    ids_by_field: dict[str, set[str]] = {}
    for position, condition in enumerate(filters):
        where, field, operator = f"/filters/{position}", condition["field"], condition["operator"]
        if field not in operators_by_field:
            raise InvalidRequest("value", f"{where}/field", f"must be {' or '.join(operators_by_field)}")
        if field in ids_by_field:
            raise InvalidRequest("value", f"{where}/field", f"{field} appears twice")
        if operator not in operators_by_field[field]:
            raise InvalidRequest("value", f"{where}/operator", f"must be {' or '.join(operators_by_field[field])}")
        ids_by_field[field] = _parse_ids(condition["value"], f"{where}/value", 1 if operator == "EQUALS" else None)
    if "campaignId" not in ids_by_field:
        raise InvalidRequest("required", "/filters", "a filter of campaignId is required")
    return ids_by_field


def _parse_ids(value: Any, where: str, most: int | None) -> set[str]:
    """The ids of a filter. The examples of EQUALS have a text, a list of one text, or a number."""
    if most is not None and not isinstance(value, list):
        value = [value]
    return {str(native_id) for native_id in array(_check_id, 1, most)(value, where)}


def _check_id(value: Any, where: str) -> Any:
    return integer(1)(value, where) if isinstance(value, int) else _ID_TEXT_CHECK(value, where)


def _matches_filters(entity: StoredEntity, ids_by_field: Mapping[str, set[str]]) -> bool:
    """Whether all filters match the object.

    A filter by the object's own kind compares the id of the object; any other filter compares the id of an ancestor.
    """
    own_field = f"{entity.kind}Id"
    return all(
        (entity.id if field == own_field else str(entity.data[field])) in ids for field, ids in ids_by_field.items()
    )


def _get_entity_figures(
    world: World, entity: StoredEntity, siblings: Mapping[str, list[StoredEntity]], day: date, zone: ZoneInfo
) -> Figures:
    """The figures of an object on a day. A campaign has the sums of its ad groups, an ad or a keyword has a share."""
    if entity.kind == "campaign":
        return sum_figures(figures.get_daily_figures(world, group, day, zone) for group in siblings.get(entity.id, ()))
    if entity.kind == "adGroup":
        return figures.get_daily_figures(world, entity, day, zone)
    group = world.find("adGroup", str(entity.parent))
    assert group is not None
    children = figures.list_serving_children(siblings[group.id], day, zone)
    if entity not in children:
        return {}
    position = children.index(entity)
    return get_share(figures.get_daily_figures(world, group, day, zone), position, position + 1, len(children))


def _build_row(
    request: Request, account: Account, entity: StoredEntity, by_day: Mapping[date, Figures], body: Mapping[str, Any]
) -> dict[str, Any]:
    metadata = {
        "id": int(entity.id),
        "adAccountId": int(account.id),
        **{name: entity.data[name] for name in _METADATA_NAMES if name in entity.data},
    }
    if entity.kind == "ad":
        creative = request.world.find("creative", str(entity.data["creativeId"]))
        metadata["creative"] = {"id": entity.data["creativeId"]}
        if creative is not None:  # the sandbox does not know a creative that was made elsewhere
            metadata["creative"] |= {name: creative.data[name] for name in ("creativeType", "systemStatus")}
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
