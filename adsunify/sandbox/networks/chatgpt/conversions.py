"""Conversions by day: a read in spite of POST."""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from adsunify.sandbox.framework import (
    Account,
    Answer,
    Entity,
    Problem,
    Request,
    boolean,
    choice,
    integer,
    json_text,
    listing,
    record,
    text,
)
from adsunify.sandbox.networks.chatgpt import figures
from adsunify.sandbox.networks.chatgpt.answers import absent, account_of, answered, rule
from adsunify.sandbox.networks.chatgpt.entities import line
from adsunify.sandbox.networks.chatgpt.insights import period
from adsunify.sandbox.networks.chatgpt.tables import LEVELS, MICROS

_MOST_ROWS, _MOST_DAYS = 2000, 365
_SECONDS = text(1, 12, "[0-9]+")
_BODY = record(
    required={
        "aggregation_level": choice(*LEVELS),
        "time_ranges": listing(
            json_text(record(required={"type": choice("unix_range"), "start": _SECONDS, "end": _SECONDS})), 1, 1
        ),
    },
    optional={
        "time_granularity": choice("daily"),  # the others are not simulated
        "group_by_entity": boolean,
        "entity_ids": listing(text(), 1),
        "attribution_window_days": integer(1, 30),
        "view_through_attribution_window_days": integer(0, 30),
        "attribution_time_basis": choice("ad_event_time", "conversion_time"),
    },
)


def insights(request: Request) -> Answer:
    """POST /conversions/insights. Days without conversions have their row."""
    request.query()
    given = request.json(_BODY)
    account = account_of(request)
    level, grouped = given["aggregation_level"], given.get("group_by_entity", True)
    if grouped and "entity_ids" not in given:
        raise Problem("required", "/entity_ids", "is required unless group_by_entity is false")
    asked = given["time_ranges"][0]
    if int(asked["end"]) - int(asked["start"]) > _MOST_DAYS * 86400 + 3600:  # an hour more where the clocks go back
        raise rule("/time_ranges", f"must span at most {_MOST_DAYS} days")
    since, until = period(request.world, account, asked)
    groups = _groups(request, account, level, given["entity_ids"] if grouped else None)
    days = list(figures.days(since, until))
    if len(days) * len(groups) > _MOST_ROWS:
        raise Problem("too_large", "/time_ranges", f"The report has more than {_MOST_ROWS} rows.")
    rows = [_row(request, account, native_id, ads, day) for day in days for native_id, ads in groups.items()]
    return answered(request, {"object": "list", "data": rows, "count": len(rows)})


def _groups(request: Request, account: Account, level: str, wanted: list[str] | None) -> Mapping[str, list[Entity]]:
    """The ads of every entity that is asked for; of the account where it is not grouped."""
    ads = request.world.entities("ad", account.id)
    if wanted is None:
        return {account.id: ads}
    found: dict[str, list[Entity]] = {}
    for native_id in wanted:
        if native_id != account.id and (level == "ad_account" or request.world.find(level, native_id) is None):
            raise absent(level)
        found[native_id] = [ad for ad in ads if native_id in {account.id, *(one.id for one in line(request.world, ad))}]
    return found


def _row(request: Request, account: Account, native_id: str, ads: list[Entity], day: date) -> dict[str, Any]:
    did = figures.total(figures.of_ad(request.world, ad, day) for ad in ads)
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
