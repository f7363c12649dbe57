"""What an edit may change at Meta, level by level, why the rest is locked, and what the changes contradict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from decimal import Decimal

from adsunify.adapter.account import Account
from adsunify.adapter.edits import Edit
from adsunify.adapter.formats import Period
from adsunify.adapter.native_money import is_number, parse_native_amount
from adsunify.adapter.network import EditMember, NativeEntity, Setting
from adsunify.adapter.settings import locked_settings, start_lock, targeting_members
from adsunify.errors import Issue, invalid_input
from adsunify.plans.records import Kind
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_text, get_value
from adsunify.values.money import from_units, to_units

from . import native as meta
from .targeting import EDITABLE_TARGETING, get_location_type

# -- locks --------------------------------------------------------------------------------------------------------


def has_amount(entity: NativeEntity, name: str) -> bool:
    """Return whether the entity has this amount. Meta also writes "0" for an amount that is not set."""
    return get_text(entity, f"/{name}") not in (None, "", "0")


def get_budget_period(entity: NativeEntity) -> Period | None:
    """Return the period of the budget that the entity itself holds."""
    return (
        "lifetime" if has_amount(entity, "lifetime_budget") else "daily" if has_amount(entity, "daily_budget") else None
    )


def _get_budget_pointer(entity: NativeEntity) -> str:
    period = get_budget_period(entity) or ("lifetime" if "lifetime_budget" in entity else "daily")
    return f"/{period}_budget"


def _lock_campaign_budget(entity: NativeEntity, now: datetime | None) -> str | None:
    return None if get_budget_period(entity) else "the budget is set on ad sets"


def _lock_ad_set_budget(entity: NativeEntity, now: datetime | None) -> str | None:
    return None if get_budget_period(entity) else "the campaign holds the budget"


_lock_after_start = start_lock(meta.TIME, "start_time")


def _lock_bid(entity: NativeEntity, now: datetime | None) -> str | None:
    if entity.get("bid_strategy") in meta.CAPPED_BID_STRATEGIES:
        return None
    return f"only {' and '.join(meta.CAPPED_BID_STRATEGIES)} take a bid; change bidStrategy too"


def _lock_roas(entity: NativeEntity, now: datetime | None) -> str | None:
    return None if entity.get("bid_strategy") == meta.ROAS_FLOOR else f"only {meta.ROAS_FLOOR} takes one"


def get_minimum_budget(account: Account, period: str | None, start: datetime | None, end: datetime | None) -> int:
    """Return the minimum in native units; 0 if it is unknown.

    Marketing API, "Budgets": the minimum of a lifetime budget is the daily minimum times the days of the run.
    """
    daily = account.extras.get("minDailyBudget", "")
    if not (daily.isascii() and daily.isdigit()):
        return 0
    if period != "lifetime" or start is None or end is None:
        return int(daily)
    return int(daily) * max(1, (end - start).days)


def _get_minimum_budget(entity: NativeEntity, account: Account) -> str:
    start, end = meta.TIME.parse(entity.get("start_time")), meta.TIME.parse(entity.get("end_time"))
    least = get_minimum_budget(account, get_budget_period(entity), start, end)
    return from_units(least, meta.get_money_unit(account).offset) if least else ""


# -- values -------------------------------------------------------------------------------------------------------


def _read_roas(entity: NativeEntity, account: Account) -> Json:
    floor = get_value(entity, "/bid_constraints/roas_average_floor")
    return Decimal(floor) / meta.ROAS_SCALE if is_number(floor) else None


def _write_roas(value: Json, entity: NativeEntity, account: Account) -> dict[str, Json]:
    floor = to_units(format(value, "f"), meta.ROAS_SCALE, "fields.roasFloor") if value > 0 else 0
    if not floor:
        raise invalid_input("fields.roasFloor", "out_of_range", "must be greater than 0.")
    return {"/bid_constraints": {"roas_average_floor": floor}}


# -- the table ----------------------------------------------------------------------------------------------------

FIXED_REASON = "it is fixed after creation"
BUDGET_MEMBERS = ("daily_budget", "lifetime_budget")
SETTINGS = (
    Setting("campaign", "name", "/name", max_length=meta.MAX_NAME_LENGTH),
    Setting(
        "campaign",
        "budget",
        _get_budget_pointer,
        "money",
        get_budget_period,
        native_names=BUDGET_MEMBERS,
        minimum=_get_minimum_budget,
        lock=_lock_campaign_budget,
    ),
    Setting("campaign", "spendCap", "/spend_cap", "money", note="The account has a floor for a campaign's spend cap."),
    Setting(
        "campaign", "bidStrategy", "/bid_strategy", "choice", choices=meta.BID_STRATEGIES, lock=_lock_campaign_budget
    ),
    Setting(
        *("campaign", "specialAdCategories", "/special_ad_categories", "list"),
        choices=meta.SPECIAL_AD_CATEGORIES,
        can_clear=True,
        cleared=[],
        note="A campaign that had none also needs special_ad_category_country: change both with a native update.",
    ),
    *locked_settings("campaign", "objective buying_type", FIXED_REASON),
    Setting("adGroup", "name", "/name", max_length=meta.MAX_NAME_LENGTH),
    Setting(
        "adGroup",
        "budget",
        _get_budget_pointer,
        "money",
        get_budget_period,
        native_names=BUDGET_MEMBERS,
        minimum=_get_minimum_budget,
        lock=_lock_ad_set_budget,
    ),
    Setting("adGroup", "startAt", "/start_time", "instant", lock=_lock_after_start),
    Setting("adGroup", "endAt", "/end_time", "instant", can_clear=True, cleared=meta.NO_END),
    Setting("adGroup", "bidStrategy", "/bid_strategy", "choice", choices=meta.BID_STRATEGIES),
    Setting("adGroup", "bid", "/bid_amount", "money", lock=_lock_bid),
    Setting("adGroup", "roasFloor", "/bid_constraints", "number", lock=_lock_roas, read=_read_roas, write=_write_roas),
    Setting("adGroup", "dsaBeneficiary", "/dsa_beneficiary"),
    Setting("adGroup", "dsaPayor", "/dsa_payor"),
    Setting("adGroup", "frequencyCap", "/frequency_control_specs", "list", lock=FIXED_REASON),
    *locked_settings(
        "adGroup", "optimization_goal billing_event promoted_object destination_type campaign_id", FIXED_REASON
    ),
    Setting("ad", "name", "/name", max_length=meta.MAX_NAME_LENGTH),
    *locked_settings("ad", "adset_id", FIXED_REASON),
)
EDITS = (
    *targeting_members("adGroup", EDITABLE_TARGETING, get_location_type, radius_types=("city",)),
    EditMember("ad", "creative.existingId"),
    EditMember("ad", "creative", reason="a creative's content is fixed: make a new one, and name it existingId"),
)


# -- what the changes contradict ----------------------------------------------------------------------------------


def is_too_short(period: str | None, start: datetime | None, end: datetime | None) -> bool:
    """Return whether the run is too short. Marketing API: a daily budget needs more than 24 hours."""
    return period == "daily" and start is not None and end is not None and end - start <= timedelta(days=1)


def check_conflicts(
    account: Account, kind: Kind, before: NativeEntity, changed: Mapping[str, Json], edit: Edit, now: datetime | None
) -> Iterator[Issue]:
    """Check the changed parameters of an ad set against each other, the ad set and the present."""
    if kind != "adGroup":
        return
    after = {**before, **changed}
    start, end = meta.TIME.parse(after.get("start_time")), meta.TIME.parse(after.get("end_time"))
    if "end_time" in changed and end is None and get_budget_period(after) == "lifetime":
        yield Issue("fields.endAt", "required", "A lifetime budget needs an end.")
    if "end_time" in changed and end is not None and now is not None and end <= now:
        yield Issue("fields.endAt", "past", "The end lies in the past.")
    moved = not {"start_time", "end_time"}.isdisjoint(changed)
    if moved and start is not None and end is not None and end <= start:
        yield Issue("fields.endAt", "order", "The end has to come after the start.")
    elif moved and is_too_short(get_budget_period(after), start, end):
        yield Issue("fields.endAt", "too_short", "Meta takes a daily budget only for more than 24 hours.")
    if (
        "bid_strategy" in changed
        and changed["bid_strategy"] in meta.CAPPED_BID_STRATEGIES
        and not after.get("bid_amount")
    ):
        yield Issue("fields.bid", "required", "This bid strategy needs a bid; change both together.")
    if changed.get("bid_strategy") == meta.ROAS_FLOOR and "bid_constraints" not in after:
        yield Issue("fields.roasFloor", "required", "This bid strategy needs a floor; change both together.")
    unit = meta.get_money_unit(account)
    budget, left = (
        parse_native_amount(unit, before.get("lifetime_budget")),
        parse_native_amount(unit, before.get("budget_remaining")),
    )
    if "lifetime_budget" in changed and budget is not None and left is not None:
        least = -((left - budget) * 110 // 100)  # Marketing API: at least 110 % of the amount spent
        if changed["lifetime_budget"] < least:
            message = f"Meta takes at least 110 % of the amount already spent, {from_units(least, unit.offset)}."
            yield Issue("fields.budget", "too_small", message)
