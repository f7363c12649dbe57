"""Conversions by day: a read, although sent by POST."""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from adsunify.sandbox.checks import array, boolean, choice, integer, json_text, record, rule_error, text
from adsunify.sandbox.figures import sum_figures
from adsunify.sandbox.instants import iterate_days
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.chatgpt import figures
from adsunify.sandbox.networks.chatgpt.answers import build_response, not_found_error, require_account
from adsunify.sandbox.networks.chatgpt.entities import get_ancestry
from adsunify.sandbox.networks.chatgpt.insights import parse_period
from adsunify.sandbox.networks.chatgpt.tables import LEVELS, MICROS
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import Account, StoredEntity

_MAX_ROWS, _MAX_DAYS = 2000, 365
_SECONDS_CHECK = text(1, 12, "[0-9]+")
_BODY_CHECK = record(
    required={
        "aggregation_level": choice(*LEVELS),
        "time_ranges": array(
            json_text(record(required={"type": choice("unix_range"), "start": _SECONDS_CHECK, "end": _SECONDS_CHECK})),
            1,
            1,
        ),
    },
    optional={
        "time_granularity": choice("daily"),  # the other values are not simulated
        "group_by_entity": boolean,
        "entity_ids": array(text(), 1),
        "include_zero_rows": boolean,
        "attribution_window_days": integer(1, 30),
        "view_through_attribution_window_days": integer(0, 30),
        "attribution_time_basis": choice("ad_event_time", "conversion_time"),
    },
)


def get_conversion_insights(request: Request) -> Response:
    """POST /conversions/insights. Days without conversions have a row, unless `include_zero_rows` is false."""
    request.parse_query()
    body = request.parse_json(_BODY_CHECK)
    account = require_account(request)
    level, grouped = body["aggregation_level"], body.get("group_by_entity", True)
    if grouped and "entity_ids" not in body:
        raise InvalidRequest("required", "/entity_ids", "is required unless group_by_entity is false")
    time_range = body["time_ranges"][0]
    if (
        int(time_range["end"]) - int(time_range["start"]) > _MAX_DAYS * 86400 + 3600
    ):  # the extra hour is for the day on which the clocks go back
        raise rule_error("/time_ranges", f"must span at most {_MAX_DAYS} days")
    since, until = parse_period(request.world, account, time_range)
    groups = _group_ads(request, account, level, body["entity_ids"] if grouped else None)
    days = list(iterate_days(since, until))
    rows = [_build_row(request, account, native_id, ads, day) for day in days for native_id, ads in groups.items()]
    if not body.get("include_zero_rows", True):
        rows = [row for row in rows if row["conversions"]]
    if len(rows) > _MAX_ROWS:
        raise InvalidRequest("too_large", "/time_ranges", f"The report has more than {_MAX_ROWS} rows.")
    return build_response(
        request, {"object": "list", "account_currency": account.currency, "data": rows, "count": len(rows)}
    )


def _group_ads(
    request: Request, account: Account, level: str, entity_ids: list[str] | None
) -> Mapping[str, list[StoredEntity]]:
    """The ads of every requested entity, or of the account if the result is not grouped."""
    ads = request.world.list_entities("ad", account.id)
    if entity_ids is None:
        return {account.id: ads}
    ads_by_id: dict[str, list[StoredEntity]] = {}
    for native_id in entity_ids:
        if native_id != account.id and (
            level == "ad_account" or request.world.find(level, native_id, account.id) is None
        ):
            raise not_found_error(level)
        ads_by_id[native_id] = [
            ad for ad in ads if native_id in {account.id, *(entity.id for entity in get_ancestry(request.world, ad))}
        ]
    return ads_by_id


def _build_row(
    request: Request, account: Account, native_id: str, ads: list[StoredEntity], day: date
) -> dict[str, Any]:
    did = sum_figures((figures.get_ad_figures(request.world, ad, day) for ad in ads), figures.NO_FIGURES)
    bought, worth = did["conversions"], did["order_created_attributed_sales"]
    return {
        "date": day.isoformat(),
        "entity_id": native_id,
        "conversions": bought,
        "click_through_conversions": bought - bought // 4,
        "view_through_conversions": bought // 4,
        "order_created_attributed_sales": format(Decimal(worth) / MICROS, "f") if bought else None,
        "order_created_attributed_sales_currency": account.currency if bought else None,
    }
