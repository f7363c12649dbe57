"""What an edit may change at Meta, level by level, why the rest is locked, and what the changes contradict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from decimal import Decimal

from adsunify.adapter.network import Account, EditMember, Entity, Period, Setting, counted, is_number
from adsunify.adapter.settings import shown_instant, started
from adsunify.errors import Issue, refused
from adsunify.values.dates import held
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import read, text
from adsunify.values.money import major, units

from . import native as meta
from .targeting import PARTS, kind_of

# -- locks --------------------------------------------------------------------------------------------------------


def has(entity: Entity, name: str) -> bool:
    """Whether the entity has this amount; Meta also writes "0" for one that it has not."""
    return text(entity, f"/{name}") not in (None, "", "0")


def period_of(entity: Entity) -> Period | None:
    """The period of the budget that the entity itself holds."""
    return "lifetime" if has(entity, "lifetime_budget") else "daily" if has(entity, "daily_budget") else None


def _budget(entity: Entity) -> str:
    held = period_of(entity) or ("lifetime" if "lifetime_budget" in entity else "daily")
    return f"/{held}_budget"


def _gone(entity: Entity, now: datetime | None) -> str | None:
    return "it is archived or deleted" if entity.get("status") in (meta.ARCHIVED, meta.DELETED) else None


def _on_ad_sets(entity: Entity, now: datetime | None) -> str | None:
    return None if period_of(entity) else "the budget is set on ad sets"


def _on_campaign(entity: Entity, now: datetime | None) -> str | None:
    return None if period_of(entity) else "the campaign holds the budget"


_started = started(meta.moment, "start_time")


def _no_bid(entity: Entity, now: datetime | None) -> str | None:
    if entity.get("bid_strategy") in meta.CAPPED:
        return None
    return f"only {' and '.join(meta.CAPPED)} take a bid; change bidStrategy too"


def _no_roas(entity: Entity, now: datetime | None) -> str | None:
    return None if entity.get("bid_strategy") == meta.ROAS_FLOOR else f"only {meta.ROAS_FLOOR} takes one"


def least_budget(account: Account, period: str | None, start: datetime | None, end: datetime | None) -> int:
    """In native units; of a lifetime budget the least of a day times the days (Marketing API). 0: it is not known."""
    daily = account.extras.get("minDailyBudget", "")
    if not (daily.isascii() and daily.isdigit()):
        return 0
    if period != "lifetime" or start is None or end is None:
        return int(daily)
    return int(daily) * max(1, (end - start).days)


def _least(entity: Entity, account: Account) -> str:
    start, end = meta.moment(entity.get("start_time")), meta.moment(entity.get("end_time"))
    least = least_budget(account, period_of(entity), start, end)
    return major(least, meta.unit(account).offset) if least else ""


# -- values -------------------------------------------------------------------------------------------------------


def _roas(entity: Entity, account: Account) -> Json:
    floor = read(entity, "/bid_constraints/roas_average_floor")
    return Decimal(floor) / meta.ROAS_SCALE if is_number(floor) else None


def _write_roas(value: Json, entity: Entity, account: Account) -> dict[str, Json]:
    floor = units(format(value, "f"), meta.ROAS_SCALE, "fields.roasFloor") if value > 0 else 0
    if not floor:
        raise refused("fields.roasFloor", "out_of_range", "must be greater than 0.")
    return {"/bid_constraints": {"roas_average_floor": floor}}


_start, _end = shown_instant(meta.moment, "start_time"), shown_instant(meta.moment, "end_time")


def _write_start(value: Json, entity: Entity, account: Account) -> dict[str, Json]:
    return {"/start_time": meta.native_time(held(value, "fields.startAt", "Meta"))}


def _write_end(value: Json, entity: Entity, account: Account) -> dict[str, Json]:
    return {"/end_time": meta.NO_END if value is None else meta.native_time(held(value, "fields.endAt", "Meta"))}


def _write_categories(value: Json, entity: Entity, account: Account) -> dict[str, Json]:
    return {"/special_ad_categories": value or []}


# -- the table ----------------------------------------------------------------------------------------------------

FIXED = "it is fixed after creation"
BUDGETS = ("daily_budget", "lifetime_budget")
SETTINGS = (
    Setting("campaign", "name", "/name", longest=meta.NAME_LENGTH, lock=_gone),
    Setting("campaign", "budget", _budget, "money", period_of, spellings=BUDGETS, minimum=_least, lock=_on_ad_sets),
    Setting("campaign", "spendCap", "/spend_cap", "money", note="The account has a floor for a campaign's spend cap."),
    Setting("campaign", "bidStrategy", "/bid_strategy", "choice", choices=meta.STRATEGIES, lock=_on_ad_sets),
    Setting(
        *("campaign", "specialAdCategories", "/special_ad_categories", "list"),
        choices=meta.SPECIAL_AD_CATEGORIES,
        clears=True,
        write=_write_categories,
        note="A campaign that had none also needs special_ad_category_country: change both with a native update.",
    ),
    Setting("campaign", "objective", "/objective", lock=FIXED),
    Setting("campaign", "buying_type", "/buying_type", lock=FIXED),
    Setting("adGroup", "name", "/name", longest=meta.NAME_LENGTH, lock=_gone),
    Setting("adGroup", "budget", _budget, "money", period_of, spellings=BUDGETS, minimum=_least, lock=_on_campaign),
    Setting("adGroup", "startAt", "/start_time", "instant", lock=_started, read=_start, write=_write_start),
    Setting("adGroup", "endAt", "/end_time", "instant", clears=True, read=_end, write=_write_end),
    Setting("adGroup", "bidStrategy", "/bid_strategy", "choice", choices=meta.STRATEGIES),
    Setting("adGroup", "bid", "/bid_amount", "money", lock=_no_bid),
    Setting("adGroup", "roasFloor", "/bid_constraints", "number", lock=_no_roas, read=_roas, write=_write_roas),
    Setting("adGroup", "dsaBeneficiary", "/dsa_beneficiary"),
    Setting("adGroup", "dsaPayor", "/dsa_payor"),
    Setting("adGroup", "frequencyCap", "/frequency_control_specs", "list", lock=FIXED),
    Setting("adGroup", "optimization_goal", "/optimization_goal", lock=FIXED),
    Setting("adGroup", "billing_event", "/billing_event", lock=FIXED),
    Setting("adGroup", "promoted_object", "/promoted_object", lock=FIXED),
    Setting("adGroup", "destination_type", "/destination_type", lock=FIXED),
    Setting("adGroup", "campaign_id", "/campaign_id", lock=FIXED),
    Setting("ad", "name", "/name", longest=meta.NAME_LENGTH, lock=_gone),
    Setting("ad", "adset_id", "/adset_id", lock=FIXED),
)
EDITS = (
    *(
        EditMember("adGroup", f"targeting.{name}", type_of=kind_of, radius=("city",))
        for name in ("locations", "excludedLocations")
    ),
    *(EditMember("adGroup", f"targeting.{name}") for name in PARTS if not name.lower().endswith("locations")),
    EditMember("ad", "creative.existingId"),
    EditMember("ad", "creative", reason="a creative's content is fixed: make a new one, and name it existingId"),
)


# -- what the changes contradict ----------------------------------------------------------------------------------


def too_short(period: str | None, start: datetime | None, end: datetime | None) -> bool:
    """Marketing API: an ad set with a daily budget runs for more than 24 hours."""
    return period == "daily" and start is not None and end is not None and end - start <= timedelta(days=1)


def conflicts(
    account: Account, entity: Mapping[str, Json], body: Mapping[str, Json], now: datetime | None
) -> Iterator[Issue]:
    """What the changed parameters of an ad set contradict."""
    after = {**entity, **body}
    start, end = meta.moment(after.get("start_time")), meta.moment(after.get("end_time"))
    if "end_time" in body and end is None and period_of(after) == "lifetime":
        yield Issue("fields.endAt", "required", "A lifetime budget needs an end.")
    if "end_time" in body and end is not None and now is not None and end <= now:
        yield Issue("fields.endAt", "past", "The end lies in the past.")
    moved = not {"start_time", "end_time"}.isdisjoint(body)
    if moved and start is not None and end is not None and end <= start:
        yield Issue("fields.endAt", "order", "The end has to come after the start.")
    elif moved and too_short(period_of(after), start, end):
        yield Issue("fields.endAt", "too_short", "Meta takes a daily budget only for more than 24 hours.")
    if "bid_strategy" in body and body["bid_strategy"] in meta.CAPPED and not after.get("bid_amount"):
        yield Issue("fields.bid", "required", "This bid strategy needs a bid; change both together.")
    if body.get("bid_strategy") == meta.ROAS_FLOOR and "bid_constraints" not in after:
        yield Issue("fields.roasFloor", "required", "This bid strategy needs a floor; change both together.")
    unit = meta.unit(account)
    held, left = counted(unit, entity.get("lifetime_budget")), counted(unit, entity.get("budget_remaining"))
    if "lifetime_budget" in body and held is not None and left is not None:
        least = -((left - held) * 110 // 100)  # Marketing API: at least 110 % of what was spent
        if body["lifetime_budget"] < least:
            message = f"Meta takes at least 110 % of the amount already spent, {major(least, unit.offset)}."
            yield Issue("fields.budget", "too_small", message)
