"""What an edit may change at X, level by level, why the rest is locked, and what the changes contradict."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime

from adsunify.adapter.account import Account
from adsunify.adapter.edits import Edit, check_start_end
from adsunify.adapter.formats import Period
from adsunify.adapter.network import EditMember, NativeEntity, Setting
from adsunify.adapter.settings import locked_settings
from adsunify.errors import Issue
from adsunify.plans.records import ENTITY_KINDS, Kind
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_value

from . import native as x
from .targeting import AGE_MEMBERS, EDITABLE_TARGETING

# -- locks --------------------------------------------------------------------------------------------------------


def _has_amount(entity: NativeEntity, name: str) -> bool:
    return entity.get(name) is not None


def _get_budget_pointer(entity: NativeEntity) -> str:
    return (
        f"/{x.DAILY_BUDGET_MEMBER}"
        if _has_amount(entity, x.DAILY_BUDGET_MEMBER) or not _has_amount(entity, x.TOTAL_BUDGET_MEMBER)
        else f"/{x.TOTAL_BUDGET_MEMBER}"
    )


def _get_budget_period(entity: NativeEntity) -> Period | None:
    if not (_has_amount(entity, x.DAILY_BUDGET_MEMBER) or _has_amount(entity, x.TOTAL_BUDGET_MEMBER)):
        return None
    return "daily" if _has_amount(entity, x.DAILY_BUDGET_MEMBER) else "lifetime"


def _lock_budget(entity: NativeEntity, now: datetime | None) -> str | None:
    return (
        f"the campaign has no budget here yet; set {' or '.join(BUDGET_MEMBERS)}"
        if _get_budget_period(entity) is None
        else None
    )


def _budget_lock(name: str) -> Callable[[NativeEntity, datetime | None], str | None]:
    """Build the lock of the budget of one period. An entity may have a daily and a total budget."""

    def lock(entity: NativeEntity, now: datetime | None) -> str | None:
        return (
            "it is the budget; edit that"
            if _has_amount(entity, name) and _get_budget_pointer(entity) == f"/{name}"
            else None
        )

    return lock


def _lock_automatic_bid(entity: NativeEntity, now: datetime | None) -> str | None:
    return "X bids by itself (AUTO); set bidStrategy too" if entity.get("bid_strategy") == x.AUTO_BID else None


def _lock_frequency_cap(entity: NativeEntity, now: datetime | None) -> str | None:
    if entity.get("objective") in x.CAPPED_OBJECTIVES:
        return None
    return f"only line items with the objectives {', '.join(x.CAPPED_OBJECTIVES)} have one"


def _get_strategy_choices(entity: NativeEntity) -> Iterator[str]:
    for strategy in x.BID_STRATEGIES:
        by_impression = strategy == x.TARGET_BID and entity.get("pay_by") == x.PAID_BY_IMPRESSION
        if not by_impression and not (
            strategy == x.MAX_BID and entity.get("objective") in x.OBJECTIVES_WITHOUT_MAX_BID
        ):
            yield strategy


# -- values -------------------------------------------------------------------------------------------------------


BUDGET_MEMBERS = {"dailyBudget": x.DAILY_BUDGET_MEMBER, "lifetimeBudget": x.TOTAL_BUDGET_MEMBER}
"""Field -> native member. If an entity has both budgets, ``budget`` is the daily budget."""


def _budget_settings(kind: Kind) -> tuple[Setting, ...]:
    return (
        Setting(kind, "budget", _get_budget_pointer, "money", period=_get_budget_period, lock=_lock_budget),
        *(Setting(kind, field, f"/{name}", "money", lock=_budget_lock(name)) for field, name in BUDGET_MEMBERS.items()),
    )


# -- the table ----------------------------------------------------------------------------------------------------

_LINE_ITEM_REASON = "it is set on the line items"
_FIXED_REASON = "fixed when it is made"
_FIXED_POST_REASON = "a post cannot be swapped or paused: delete it and promote another"
SETTINGS = (
    Setting("campaign", "name", "/name", max_length=x.MAX_NAME_LENGTH),
    *_budget_settings("campaign"),
    Setting("campaign", "purchase_order_number", "/purchase_order_number", max_length=x.MAX_ORDER_NUMBER_LENGTH),
    Setting("campaign", "entity_status", "/entity_status", "choice", choices=(x.ACTIVE, x.PAUSED)),
    Setting("campaign", "startAt", "/start_time", "instant", lock=_LINE_ITEM_REASON),
    Setting("campaign", "endAt", "/end_time", "instant", lock=_LINE_ITEM_REASON),
    Setting("campaign", "frequencyCap", "/frequency_cap", "number", lock=_LINE_ITEM_REASON),
    *locked_settings("campaign", "funding_instrument_id", _FIXED_REASON),
    *locked_settings("campaign", "currency", "it is the funding instrument's"),
    *locked_settings("campaign", "budget_optimization", "it has one value only"),
    Setting("adGroup", "name", "/name", max_length=x.MAX_NAME_LENGTH),
    *_budget_settings("adGroup"),
    Setting(
        "adGroup",
        "bidStrategy",
        "/bid_strategy",
        "choice",
        choices=x.BID_STRATEGIES,
        list_choices=_get_strategy_choices,
    ),
    Setting("adGroup", "bid", f"/{x.BID_MEMBER}", "money", lock=_lock_automatic_bid),
    Setting("adGroup", "startAt", "/start_time", "instant"),
    Setting("adGroup", "endAt", "/end_time", "instant", can_clear=True),
    Setting("adGroup", "goal", "/goal", "choice", choices=x.LINE_ITEM_GOALS),
    Setting(
        "adGroup",
        "audience_expansion",
        "/audience_expansion",
        "choice",
        choices=x.AUDIENCE_EXPANSIONS,
        note="X does not show the audience_expansion that is set.",
    ),
    Setting("adGroup", "frequencyCap", "/frequency_cap", "number", minimum="1", lock=_lock_frequency_cap),
    Setting(
        "adGroup",
        "duration_in_days",
        "/duration_in_days",
        "choice",
        choices=x.FREQUENCY_CAP_DAYS,
        lock=_lock_frequency_cap,
        note="duration_in_days: the days that frequencyCap counts in.",
    ),
    *locked_settings("adGroup", "campaign_id objective product_type placements pay_by", _FIXED_REASON),
    *locked_settings("ad", "tweet_id entity_status line_item_id", _FIXED_POST_REASON),
)
EDITS = (
    *(EditMember("adGroup", f"targeting.{name}") for name in (*EDITABLE_TARGETING, *AGE_MEMBERS)),
    EditMember("adGroup", "targeting.placements", reason="the placements of a line item are fixed"),
    *(EditMember(kind, "creative", reason=_FIXED_POST_REASON) for kind in ENTITY_KINDS),
)


# -- what the changes contradict ----------------------------------------------------------------------------------


def check_conflicts(
    account: Account, kind: Kind, before: NativeEntity, changed: Mapping[str, Json], edit: Edit, now: datetime | None
) -> Iterator[Issue]:
    """Check the rules that concern several fields."""
    after = {**before, **changed}
    yield from check_start_end(x.TIME, before, changed, ("start_time", "end_time"), now)
    daily, total = (get_value(after, f"/{name}") for name in (x.DAILY_BUDGET_MEMBER, x.TOTAL_BUDGET_MEMBER))
    if (
        not {x.DAILY_BUDGET_MEMBER, x.TOTAL_BUDGET_MEMBER}.isdisjoint(changed)
        and isinstance(daily, int)
        and isinstance(total, int)
        and daily > total
    ):
        yield Issue("fields.budget", "too_large", "X takes no daily budget above the total one.")
    strategy = after.get("bid_strategy")
    if "bid_strategy" in changed and strategy != x.AUTO_BID and not after.get(x.BID_MEMBER):
        yield Issue("fields.bid", "required", "This bid strategy needs a bid; change both together.")
    if changed.get("bid_strategy") == x.MAX_BID and after.get("objective") in x.OBJECTIVES_WITHOUT_MAX_BID:
        yield Issue(
            "fields.bidStrategy",
            "not_supported",
            f"X takes no MAX bid for {' and '.join(x.OBJECTIVES_WITHOUT_MAX_BID)}.",
        )
    if changed.get("bid_strategy") == x.TARGET_BID and after.get("pay_by") == x.PAID_BY_IMPRESSION:
        yield Issue("fields.bidStrategy", "not_supported", "X takes no TARGET bid where it is paid by impression.")
    if "frequency_cap" in changed and after.get("duration_in_days") is None:
        yield Issue("fields.duration_in_days", "required", "Say in how many days the frequency cap counts.")
