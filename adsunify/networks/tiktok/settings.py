"""What an edit may change at TikTok, level by level, why the rest is locked, and what the changes contradict."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial

from adsunify.adapter.account import Account
from adsunify.adapter.edits import Edit
from adsunify.adapter.formats import Period
from adsunify.adapter.native_money import is_number
from adsunify.adapter.network import EditMember, NativeEntity, Setting, split_words
from adsunify.adapter.settings import locked_settings, start_lock
from adsunify.errors import Issue, invalid_input
from adsunify.plans.records import Kind
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_value
from adsunify.values.money import format_decimal

from . import native as tiktok
from .targeting import AGE_MEMBERS, EDITABLE_TARGETING, LOCKED_REASONS

FIXED_REASON = "fixed when it is made"
BID_MEMBERS = ("bid_price", "conversion_bid_price")
SMART_TEXTS_POINTER = "/ad_text_list"


# -- locks --------------------------------------------------------------------------------------------------------


def has_campaign_budget(entity: NativeEntity) -> bool:
    """Whether the campaign holds the ad group's budget (campaign budget optimization)."""
    return entity.get("budget_optimize_on") is True or entity.get("budget_mode") == tiktok.NO_BUDGET


def get_budget_period(entity: NativeEntity) -> Period | None:
    """Return the period of the budget that the entity itself holds."""
    return tiktok.BUDGET_PERIODS.get(str(entity.get("budget_mode")))


def _lock_campaign_budget(entity: NativeEntity, now: datetime | None) -> str | None:
    return None if get_budget_period(entity) else "the budget is set on ad groups"


def _lock_ad_group_budget(entity: NativeEntity, now: datetime | None) -> str | None:
    return "the campaign holds the budget" if has_campaign_budget(entity) else None


_lock_after_start = start_lock(tiktok.TIME, "schedule_start_time")


def _lock_smart_plus_ad(entity: NativeEntity, now: datetime | None) -> str | None:
    is_smart = get_value(entity, SMART_TEXTS_POINTER) is not None
    return "a Smart+ ad has a list of creatives; change it natively (creative_list)" if is_smart else None


# -- values -------------------------------------------------------------------------------------------------------


def _get_pacing_choices(entity: NativeEntity) -> tuple[str, ...]:
    return (tiktok.SMOOTH, tiktok.FAST) if entity.get("bid_type") == tiktok.CUSTOM_BID else (tiktok.SMOOTH,)


def _get_bid_pointer(entity: NativeEntity) -> str:
    return "/conversion_bid_price" if entity.get("billing_event") == tiktok.CONVERSION_BILLING else "/bid_price"


def _write_start(value: Json, entity: NativeEntity, account: Account) -> Mapping[str, Json]:
    return {"/schedule_start_time": value, "/schedule_type": tiktok.START_END_SCHEDULE}


def _write_end(value: Json, entity: NativeEntity, account: Account) -> Mapping[str, Json]:
    return {"/schedule_end_time": value, "/schedule_type": tiktok.START_END_SCHEDULE}


def _write_bid(value: Json, entity: NativeEntity, account: Account) -> Mapping[str, Json]:
    return {_get_bid_pointer(entity): value, "/bid_type": tiktok.CUSTOM_BID}


def _find_name_error(name: Json) -> str | None:
    return tiktok.find_text_error(name, tiktok.MAX_NAME_UNITS)


def _find_body_error(body: Json) -> str | None:
    return tiktok.find_text_error(body, tiktok.MAX_TEXT_UNITS)


_name_setting = partial(Setting, field="name", find_error=_find_name_error)


def _ad_member_pointer(manual: str, smart: str) -> Callable[[NativeEntity], str]:
    """Build the function that returns a member's pointer. Smart+ ads have their texts in lists of one item."""
    return lambda entity: smart if get_value(entity, SMART_TEXTS_POINTER) is not None else manual


_get_text_pointer = _ad_member_pointer("/ad_text", "/ad_text_list/0/ad_text")
_get_url_pointer = _ad_member_pointer("/landing_page_url", "/landing_page_url_list/0/landing_page_url")
_get_call_pointer = _ad_member_pointer("/call_to_action", "/call_to_action_list/0/call_to_action")


def _write_industries(value: Json, entity: NativeEntity, account: Account) -> Mapping[str, Json]:
    if value:
        raise invalid_input("fields.special_industries", "not_supported", "TikTok lets them be cleared only.")
    return {"/special_industries": []}


# -- the table ----------------------------------------------------------------------------------------------------


SETTINGS = (
    _name_setting("campaign", native="/campaign_name"),
    Setting(
        "campaign",
        "budget",
        "/budget",
        "money",
        period=get_budget_period,
        lock=_lock_campaign_budget,
        note="A budget is at least 105 % of what was spent.",
    ),
    Setting("campaign", "objective", "/objective_type", lock=FIXED_REASON),
    *locked_settings("campaign", "budget_mode budget_optimize_on campaign_type", FIXED_REASON),
    Setting(
        "campaign",
        "special_industries",
        "/special_industries",
        "list",
        can_clear=True,
        write=_write_industries,
        note="special_industries can only be cleared.",
    ),
    _name_setting("adGroup", native="/adgroup_name"),
    Setting(
        *("adGroup", "budget", "/budget", "money", get_budget_period),
        counted_period=lambda entity: None if has_campaign_budget(entity) else get_budget_period(entity) or "daily",
        lock=_lock_ad_group_budget,
    ),
    Setting("adGroup", "startAt", "/schedule_start_time", "instant", lock=_lock_after_start, write=_write_start),
    Setting("adGroup", "endAt", "/schedule_end_time", "instant", write=_write_end),
    Setting(
        "adGroup",
        "bidStrategy",
        "/bid_type",
        "choice",
        choices=(tiktok.NO_BID, tiktok.CUSTOM_BID),
        lock=_lock_ad_group_budget,
    ),
    Setting(
        "adGroup",
        "bid",
        _get_bid_pointer,
        "money",
        native_names=BID_MEMBERS,
        lock=_lock_ad_group_budget,
        write=_write_bid,
        note="A bid stays below the budget of a day.",
    ),
    Setting(
        "adGroup",
        "pacing",
        "/pacing",
        "choice",
        choices=(tiktok.SMOOTH, tiktok.FAST),
        list_choices=_get_pacing_choices,
    ),
    # unverified: dayparting is in the time zone of the account.
    Setting(
        "adGroup",
        "dayparting",
        "/dayparting",
        max_length=336,
        note="dayparting: a 0 or 1 for each half hour of the week, from Monday 00:00 in the account's zone.",
    ),
    *locked_settings(
        "adGroup",
        "placement_type placements promotion_type optimization_goal billing_event budget_mode search_result_enabled"
        " click_attribution_window view_attribution_window",
        FIXED_REASON,
    ),
    _name_setting("ad", native="/ad_name"),
    Setting("ad", "body", _get_text_pointer, find_error=_find_body_error),
    Setting("ad", "url", _get_url_pointer),
    Setting("ad", "call_to_action", _get_call_pointer, "choice", choices=tiktok.CALLS_TO_ACTION),
    Setting("ad", "existingId", "/video_id", lock=_lock_smart_plus_ad, note="A new video brings its own first cover."),
    Setting("ad", "identityId", "/identity_id", lock=_lock_smart_plus_ad),
    Setting(
        "ad",
        "identityType",
        "/identity_type",
        "choice",
        choices=(tiktok.USER, tiktok.BUSINESS_CENTER_USER, tiktok.CUSTOM_USER),
        lock=_lock_smart_plus_ad,
    ),
)
EDITS = (
    *(EditMember("adGroup", f"targeting.{name}") for name in (*EDITABLE_TARGETING, *AGE_MEMBERS)),
    *(EditMember("adGroup", f"targeting.{name}", reason=reason) for name, reason in LOCKED_REASONS.items()),
    *(EditMember("ad", f"creative.{name}", name) for name in ("existingId", "body", "url")),
    EditMember("ad", "creative.imageHash"),
)


# -- what the changes contradict ----------------------------------------------------------------------------------

# The members that an update of the Smart+ endpoints takes. The manual endpoints take every field of SETTINGS.
SMART_PLUS_EDITABLE: Mapping[Kind, frozenset[str]] = {
    "campaign": frozenset(split_words("campaign_name budget")),
    "adGroup": frozenset(
        split_words(
            "adgroup_name bid_price budget conversion_bid_price dayparting pacing schedule_end_time"
            " schedule_start_time schedule_type targeting_spec"
        )
    ),
    "ad": frozenset(split_words("ad_name ad_text_list call_to_action_list creative_list landing_page_url_list")),
}


def count_budget_periods(start: datetime, end: datetime) -> int:
    """Return the days that count for the minimum of a lifetime budget: the number of started periods of 24 hours."""
    return max(1, -((start - end) // timedelta(days=1)))


def check_budget(
    account: Account, kind: str, path: str, amount: Decimal, period: str | None, days: int
) -> Iterator[Issue]:
    """Check a budget of the ad group or campaign, if TikTok has limits for the currency."""
    limits = tiktok.get_budget_limits(account, kind, days if period == "lifetime" else 1)
    if limits is None:
        return
    least, most = limits
    over = f" for {days} days" if period == "lifetime" else " a day"
    if amount < least:
        message = f"TikTok takes a budget of at least {format_decimal(least)} {account.currency}{over}."
        yield Issue(path, "too_small", message)
    elif period == "daily" and amount >= most:
        yield Issue(path, "too_large", f"TikTok takes a budget below {format_decimal(most)} {account.currency} a day.")


def check_conflicts(
    account: Account, kind: Kind, before: NativeEntity, changed: Mapping[str, Json], edit: Edit, now: datetime | None
) -> Iterator[Issue]:
    """Check the changed members against each other, the entity and the present."""
    if kind == "ad":
        return
    after = {**before, **changed}
    start, end = (tiktok.TIME.parse(after.get(name)) for name in ("schedule_start_time", "schedule_end_time"))
    if "schedule_end_time" in changed and end is not None and now is not None and end <= now:
        yield Issue("fields.endAt", "past", "The end lies in the past.")
    if "schedule_type" in changed and start is not None and end is not None and end <= start:
        yield Issue("fields.endAt", "order", "The end has to come after the start.")
        return
    native_budget = after.get("budget")
    budget = Decimal(native_budget) if native_budget is not None and is_number(native_budget) else None
    if "budget" in changed and budget is not None:
        days = 1 if start is None or end is None else count_budget_periods(start, end)
        yield from check_budget(account, kind, "fields.budget", budget, get_budget_period(after), days)
    for name in ("bid_price", "conversion_bid_price"):
        bid = changed.get(name)
        if bid is not None and is_number(bid) and budget is not None and get_budget_period(after) and bid >= budget:
            yield Issue("fields.bid", "too_large", "TikTok takes a bid below the budget only.")
    if changed.get("bid_type") == tiktok.CUSTOM_BID and not any(
        after.get(n) for n in ("bid_price", "conversion_bid_price")
    ):
        yield Issue("fields.bid", "required", "This bid strategy needs a bid; change both together.")
    if changed.get("pacing") == tiktok.FAST and after.get("bid_type") != tiktok.CUSTOM_BID:
        yield Issue("fields.pacing", "not_supported", f"{tiktok.FAST} needs the bid strategy {tiktok.CUSTOM_BID}.")


def check_smart_plus_edit(kind: Kind, flow: tiktok.CreateFlow, body: dict[str, Json]) -> Iterator[Issue]:
    """Refuse members that Smart+ does not update. Removes ``bid_type`` from ``body``, since the bid implies it."""
    if flow == tiktok.SMART_PLUS_FLOW:
        if not {"bid_price", "conversion_bid_price"}.isdisjoint(body):
            body.pop("bid_type")
        for name in sorted(set(body) - SMART_PLUS_EDITABLE[kind]):
            yield Issue("fields", "not_supported", f"A Smart+ {tiktok.KIND_NAMES[kind]} lets nobody change {name}.")
