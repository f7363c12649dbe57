"""What an edit may change at X, level by level, why the rest is locked, and what the changes contradict."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime

from adsunify.adapter.network import Account, EditMember, Entity, Period, Setting
from adsunify.errors import Issue
from adsunify.execution.status_updates import KINDS
from adsunify.plans.records import Kind
from adsunify.values.dates import instant
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import read, text

from . import native as x
from .targeting import AGE_MEMBERS, PARTS

# -- locks --------------------------------------------------------------------------------------------------------


def _held(entity: Entity, name: str) -> bool:
    return entity.get(name) is not None


def _budget(entity: Entity) -> str:
    return f"/{x.DAILY}" if _held(entity, x.DAILY) or not _held(entity, x.TOTAL) else f"/{x.TOTAL}"


def _period(entity: Entity) -> Period | None:
    if not (_held(entity, x.DAILY) or _held(entity, x.TOTAL)):
        return None
    return "daily" if _held(entity, x.DAILY) else "lifetime"


def _without_budget(entity: Entity, now: datetime | None) -> str | None:
    return f"there is none here yet; set {' or '.join(BUDGETS)}" if _period(entity) is None else None


def _is_budget(name: str) -> Callable[[Entity, datetime | None], str | None]:
    """The lock of the budget of one period: an entity may have a daily budget and a total one beside it."""

    def lock(entity: Entity, now: datetime | None) -> str | None:
        return "it is the budget; edit that" if _held(entity, name) and _budget(entity) == f"/{name}" else None

    return lock


def _automatic(entity: Entity, now: datetime | None) -> str | None:
    return "X bids by itself (AUTO); set bidStrategy too" if entity.get("bid_strategy") == x.AUTO else None


def _uncapped(entity: Entity, now: datetime | None) -> str | None:
    if entity.get("objective") in x.CAPPED_OBJECTIVES:
        return None
    return f"only line items with the objectives {', '.join(x.CAPPED_OBJECTIVES)} have one"


def _strategies(entity: Entity) -> Iterator[str]:
    for strategy in x.STRATEGIES:
        by_impression = strategy == x.TARGET and entity.get("pay_by") == x.PAID_BY_IMPRESSION
        if not by_impression and not (strategy == x.MAX and entity.get("objective") in x.WITHOUT_MAX):
            yield strategy


# -- values -------------------------------------------------------------------------------------------------------


BUDGETS = {"dailyBudget": x.DAILY, "lifetimeBudget": x.TOTAL}
"""An entity may have both: ``budget`` is then the daily one."""


def _budgets(kind: Kind) -> tuple[Setting, ...]:
    return (
        Setting(kind, "budget", _budget, "money", period=_period, lock=_without_budget),
        *(Setting(kind, field, f"/{name}", "money", lock=_is_budget(name)) for field, name in BUDGETS.items()),
    )


def _write_start(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    return {"/start_time": x.native_time(value, "fields.startAt")}


def _write_end(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    return {"/end_time": None if value is None else x.native_time(value, "fields.endAt")}


# -- the table ----------------------------------------------------------------------------------------------------

_ABOVE = "it stands on the line items"
_FINAL = "fixed when it is made"
_FIXED_POST = "a post cannot be swapped or paused: delete it and promote another"
SETTINGS = (
    Setting("campaign", "name", "/name", longest=x.NAME_LENGTH),
    *_budgets("campaign"),
    Setting("campaign", "purchase_order_number", "/purchase_order_number", longest=x.ORDER_NUMBER_LENGTH),
    Setting("campaign", "entity_status", "/entity_status", "choice", choices=(x.ACTIVE, x.PAUSED)),
    Setting("campaign", "startAt", "/start_time", "instant", lock=_ABOVE),
    Setting("campaign", "endAt", "/end_time", "instant", lock=_ABOVE),
    Setting("campaign", "frequencyCap", "/frequency_cap", "number", lock=_ABOVE),
    Setting("campaign", "funding_instrument_id", "/funding_instrument_id", lock=_FINAL),
    Setting("campaign", "currency", "/currency", lock="it is the funding instrument's"),
    Setting("campaign", "budget_optimization", "/budget_optimization", lock="it has one value only"),
    Setting("adGroup", "name", "/name", longest=x.NAME_LENGTH),
    *_budgets("adGroup"),
    Setting("adGroup", "bidStrategy", "/bid_strategy", "choice", choices=x.STRATEGIES, offered=_strategies),
    Setting("adGroup", "bid", f"/{x.BID}", "money", lock=_automatic),
    Setting("adGroup", "startAt", "/start_time", "instant", write=_write_start),
    Setting("adGroup", "endAt", "/end_time", "instant", clears=True, write=_write_end),
    Setting("adGroup", "goal", "/goal", "choice", choices=x.GOALS),
    Setting(
        "adGroup",
        "audience_expansion",
        "/audience_expansion",
        "choice",
        choices=x.EXPANSIONS,
        note="X does not show the audience_expansion that is set.",
    ),
    Setting("adGroup", "frequencyCap", "/frequency_cap", "number", minimum="1", lock=_uncapped),
    Setting(
        "adGroup",
        "duration_in_days",
        "/duration_in_days",
        "choice",
        choices=x.CAP_DAYS,
        lock=_uncapped,
        note="duration_in_days: the days that frequencyCap counts in.",
    ),
    Setting("adGroup", "campaign_id", "/campaign_id", lock=_FINAL),
    Setting("adGroup", "objective", "/objective", lock=_FINAL),
    Setting("adGroup", "product_type", "/product_type", lock=_FINAL),
    Setting("adGroup", "placements", "/placements", lock=_FINAL),
    Setting("adGroup", "pay_by", "/pay_by", lock=_FINAL),
    Setting("ad", "tweet_id", "/tweet_id", lock=_FIXED_POST),
    Setting("ad", "entity_status", "/entity_status", lock=_FIXED_POST),
    Setting("ad", "line_item_id", "/line_item_id", lock=_FIXED_POST),
)
EDITS = (
    *(EditMember("adGroup", f"targeting.{name}") for name in (*PARTS, *AGE_MEMBERS)),
    EditMember("adGroup", "targeting.placements", reason="the placements of a line item are fixed"),
    *(EditMember(kind, "creative", reason=_FIXED_POST) for kind in KINDS),
)


# -- what the changes contradict ----------------------------------------------------------------------------------


def conflicts(entity: Mapping[str, Json], changed: Mapping[str, Json], now: datetime | None) -> Iterator[Issue]:
    """What spans several fields."""
    after = {**entity, **changed}
    start, end = (text(after, at) or "" for at in ("/start_time", "/end_time"))
    if "end_time" in changed and end and now is not None and instant(end) <= now:
        yield Issue("fields.endAt", "past", "The end lies in the past.")
    elif not {"start_time", "end_time"}.isdisjoint(changed) and start and end and _moment(end) <= _moment(start):
        path = "fields.endAt" if "end_time" in changed else "fields.startAt"
        yield Issue(path, "order", "The end has to come after the start.")
    daily, total = (read(after, f"/{name}") for name in (x.DAILY, x.TOTAL))
    if (
        not {x.DAILY, x.TOTAL}.isdisjoint(changed)
        and isinstance(daily, int)
        and isinstance(total, int)
        and daily > total
    ):
        yield Issue("fields.budget", "too_large", "X takes no daily budget above the total one.")
    strategy = after.get("bid_strategy")
    if "bid_strategy" in changed and strategy != x.AUTO and not after.get(x.BID):
        yield Issue("fields.bid", "required", "This bid strategy needs a bid; change both together.")
    if changed.get("bid_strategy") == x.MAX and after.get("objective") in x.WITHOUT_MAX:
        yield Issue("fields.bidStrategy", "not_supported", f"X takes no MAX bid for {' and '.join(x.WITHOUT_MAX)}.")
    if changed.get("bid_strategy") == x.TARGET and after.get("pay_by") == x.PAID_BY_IMPRESSION:
        yield Issue("fields.bidStrategy", "not_supported", "X takes no TARGET bid where it is paid by impression.")
    if "frequency_cap" in changed and after.get("duration_in_days") is None:
        yield Issue("fields.duration_in_days", "required", "Say in how many days the frequency cap counts.")


def _moment(native: str) -> datetime:
    return instant(native, "fields.startAt")
