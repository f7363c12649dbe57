"""What an edit may change at Pinterest, level by level, and why the rest is locked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial

from adsunify.adapter.account import Account
from adsunify.adapter.edits import Edit, check_start_end
from adsunify.adapter.formats import Period
from adsunify.adapter.network import EditMember, NativeEntity, Setting
from adsunify.adapter.settings import (
    first_lock,
    json_setting,
    locked_settings,
    start_lock,
    targeting_members,
)
from adsunify.errors import Issue, invalid_input
from adsunify.models.error_messages import find_web_url_error, is_web_address
from adsunify.plans.records import ENTITY_KINDS, Kind
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_value

from . import native as pinterest
from .targeting import EDITABLE_TARGETING, get_location_type

# -- locks --------------------------------------------------------------------------------------------------------


def get_budget_period(entity: NativeEntity) -> Period | None:
    """Return the period of the campaign's budget; None if its ad groups hold the budgets."""
    if entity.get(pinterest.SPEND_CAP_MEMBERS["lifetime"]):
        return "lifetime"
    return "daily" if entity.get(pinterest.SPEND_CAP_MEMBERS["daily"]) else None


def _get_cap_pointer(campaign: NativeEntity) -> str:
    return f"/{pinterest.SPEND_CAP_MEMBERS[get_budget_period(campaign) or 'daily']}"


def _lock_cap(campaign: NativeEntity, now: datetime | None) -> str | None:
    return None if get_budget_period(campaign) else "its ad groups hold the budgets"


def _get_budget_period(entity: NativeEntity) -> Period | None:
    period = pinterest.AD_GROUP_BUDGET_PERIODS.get(str(entity.get("budget_type")))
    return "daily" if period == "daily" else "lifetime" if period == "lifetime" else None


def _get_counted_period(ad_group: NativeEntity) -> Period | None:
    """Return the period that counts for an exposure. A budget of an unknown type may be spent on one day."""
    is_campaign_budget = ad_group.get("budget_type") == pinterest.CAMPAIGN_BUDGET_TYPE
    return None if is_campaign_budget else _get_budget_period(ad_group) or "daily"


def _lock_budget(entity: NativeEntity, now: datetime | None) -> str | None:
    return None if _get_budget_period(entity) else "budget is held by the campaign"


_lock_after_start = start_lock(pinterest.TIME, "start_time")


def _lock_schedule(ad_group: NativeEntity, now: datetime | None) -> str | None:
    # Under a campaign budget, schedules of ad groups are a closed beta.
    is_campaign_budget = ad_group.get("budget_type") == pinterest.CAMPAIGN_BUDGET_TYPE
    return "schedule is held by the campaign" if is_campaign_budget else None


def _lock_bid(entity: NativeEntity, now: datetime | None) -> str | None:
    takes = entity.get("bid_strategy_type") == pinterest.MAX_BID
    return None if takes else f"only {pinterest.MAX_BID} takes a bid; change bidStrategy too"


def _lock_frequency_cap(entity: NativeEntity, now: datetime | None) -> str | None:
    if entity.get("billable_event") != pinterest.IMPRESSION:
        return "only ad groups that pay for impressions have one"
    return None if pinterest.TIME.parse(entity.get("end_time")) else "it needs an end of the ad group"


# -- values -------------------------------------------------------------------------------------------------------


def _write_strategy(value: Json, entity: NativeEntity, account: Account) -> Mapping[str, Json]:
    # unverified: null clears bid_in_micro_currency.
    bid = {"/bid_in_micro_currency": None} if value == pinterest.AUTOMATIC_BID else {}
    return {"/bid_strategy_type": value, **bid}


def _write_frequency(value: Json, entity: NativeEntity, account: Account) -> Mapping[str, Json]:
    if not isinstance(value, int):
        raise invalid_input("fields.frequencyCap", "type", "frequencyCap is a whole number of impressions.")
    return {"/lifetime_frequency_cap": value}


def _read_order_line(entity: NativeEntity, account: Account) -> Json:
    order_line = get_value(entity, "/order_line_id")
    return None if order_line == pinterest.NO_ORDER_LINE else order_line


def _find_order_line_error(value: Json) -> str | None:
    return None if pinterest.match_digits(value) else "the id of an order line has only digits"


def _is_tracking(tracking: Json) -> bool:
    if not isinstance(tracking, dict) or not tracking or not set(tracking) <= set(pinterest.TRACKED_EVENTS):
        return False
    return all(
        isinstance(urls, list)
        and len(urls) <= pinterest.MAX_TRACKING_URLS
        and all(
            isinstance(url, str) and is_web_address(url) and len(url) <= pinterest.MAX_TRACKING_URL_LENGTH
            for url in urls
        )
        for urls in tracking.values()
    )


# -- the table ----------------------------------------------------------------------------------------------------

PIN_CONTENT_REASON = "content belongs to the Pin"
_tracking_setting = partial(
    json_setting,
    field="trackingUrls",
    native="/tracking_urls",
    is_valid=_is_tracking,
    form=f'an object such as {{"click": ["https://..."]}}, with the members {", ".join(pinterest.TRACKED_EVENTS)}, '
    f"up to {pinterest.MAX_TRACKING_URLS} addresses each, of up to {pinterest.MAX_TRACKING_URL_LENGTH} characters",
    shows_empty=False,
    can_clear=True,
    cleared={},
    note="trackingUrls is the JSON text of an object: event to addresses.",
)
SETTINGS = (
    Setting("campaign", "name", "/name", max_length=pinterest.MAX_NAME_LENGTH),
    Setting(
        *("campaign", "budget", _get_cap_pointer, "money", get_budget_period),
        native_names=("daily_spend_cap", "lifetime_spend_cap"),
        lock=_lock_cap,
        # unverified: a budget keeps its period, and Pinterest refuses to raise a daily one by less than 1.00.
        note="A budget keeps its period; a daily one is raised by 1.00 or more.",
    ),
    Setting("campaign", "startAt", "/start_time", "instant", lock=_lock_after_start),
    Setting(
        *("campaign", "endAt", "/end_time", "instant"),
        can_clear=True,
        cleared=pinterest.NO_END,
        note="Ad groups with an end of their own end with their campaign at the latest.",
    ),
    _tracking_setting("campaign"),
    Setting(
        *("campaign", "orderLineId", "/order_line_id"),
        can_clear=True,
        cleared=pinterest.NO_ORDER_LINE,
        read=_read_order_line,
        find_error=_find_order_line_error,
    ),
    *locked_settings(
        "campaign",
        "objective_type is_campaign_budget_optimization is_performance_plus is_automated_campaign"
        " intended_promotion_type",
        "only draft campaigns",
    ),
    Setting("adGroup", "name", "/name", max_length=pinterest.MAX_NAME_LENGTH),
    Setting(
        *("adGroup", "bidStrategy", "/bid_strategy_type", "choice"),
        choices=pinterest.BID_STRATEGIES,
        write=_write_strategy,
    ),
    Setting("adGroup", "bid", "/bid_in_micro_currency", "money", lock=_lock_bid),
    Setting(
        *("adGroup", "budget", "/budget_in_micro_currency", "money", _get_budget_period),
        counted_period=_get_counted_period,
        lock=_lock_budget,
    ),
    Setting("adGroup", "startAt", "/start_time", "instant", lock=first_lock(_lock_schedule, _lock_after_start)),
    Setting("adGroup", "endAt", "/end_time", "instant", lock=_lock_schedule),
    Setting(
        *("adGroup", "frequencyCap", "/lifetime_frequency_cap", "number"),
        minimum="1",
        lock=_lock_frequency_cap,
        write=_write_frequency,
        note="frequencyCap: impressions per person within 30 days.",
    ),
    Setting(*("adGroup", "placement", "/placement_group", "choice"), choices=pinterest.PLACEMENTS),
    Setting("adGroup", "autoTargeting", "/auto_targeting_enabled", "flag"),
    *locked_settings("adGroup", "billable_event budget_type campaign_id", "only draft ad groups"),
    Setting("ad", "name", "/name", max_length=pinterest.MAX_NAME_LENGTH),
    Setting(
        *("ad", "url", "/destination_url"),
        max_length=pinterest.MAX_URL_LENGTH,
        find_error=find_web_url_error,
    ),
    _tracking_setting("ad"),
    Setting(
        *("ad", "clickTrackingUrl", "/click_tracking_url"),
        max_length=pinterest.MAX_TRACKING_URL_LENGTH,
        can_clear=True,
        find_error=find_web_url_error,
    ),
    *locked_settings("ad", "pin_id creative_type", "only draft ads"),
)
EDITS = (
    *targeting_members("adGroup", EDITABLE_TARGETING, get_location_type),
    *(EditMember(kind, "creative", reason=PIN_CONTENT_REASON) for kind in ENTITY_KINDS),
)


# -- what the changes contradict ----------------------------------------------------------------------------------


def check_conflicts(
    account: Account, kind: Kind, before: NativeEntity, changed: Mapping[str, Json], edit: Edit, now: datetime | None
) -> Iterator[Issue]:
    """Check the changed members against each other, the entity and the present."""
    after = {**before, **changed}
    yield from check_start_end(pinterest.TIME, before, changed, ("start_time", "end_time"), now)
    if changed.get("end_time") == pinterest.NO_END and get_budget_period(after) == "lifetime":
        yield Issue("fields.endAt", "required", "A lifetime budget needs an end.")
    if changed.get("bid_strategy_type") == pinterest.MAX_BID and not after.get("bid_in_micro_currency"):
        yield Issue("fields.bid", "required", f"{pinterest.MAX_BID} needs a bid; change both together.")
