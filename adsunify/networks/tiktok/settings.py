"""What an edit may change at TikTok, level by level, why the rest is locked, and what the changes contradict."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from decimal import Decimal

from adsunify.adapter.network import Account, EditMember, Entity, Period, Setting, is_number, words
from adsunify.adapter.settings import shown_instant, started
from adsunify.errors import Issue, refused
from adsunify.plans.records import Kind
from adsunify.values.dates import held
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import read, text
from adsunify.values.money import written

from . import native as tiktok
from .targeting import AGE, LOCKED, PARTS

FINAL = "fixed when it is made"
BIDS = ("bid_price", "conversion_bid_price")
GONE = "it is deleted"
SMART = "/ad_text_list"


# -- locks --------------------------------------------------------------------------------------------------------


def _deleted(entity: Entity) -> bool:
    status = text(entity, "/secondary_status") or ""
    return entity.get("operation_status") == tiktok.DELETE or status.endswith("_STATUS_DELETE")


def alive(entity: Entity, now: datetime | None) -> str | None:
    """The lock of every setting of what is deleted."""
    return GONE if _deleted(entity) else None


def budget_on_campaign(entity: Entity) -> bool:
    """Whether the campaign holds the ad group's budget (campaign budget optimization)."""
    return entity.get("budget_optimize_on") is True or entity.get("budget_mode") == tiktok.NO_BUDGET


def period_of(entity: Entity) -> Period | None:
    """The period of the budget that the entity itself holds."""
    return tiktok.PERIODS.get(str(entity.get("budget_mode")))


def _held(entity: Entity, now: datetime | None) -> str | None:
    if period_of(entity) is None:
        return "the budget is set on ad groups"
    return alive(entity, now)


def _own(entity: Entity, now: datetime | None) -> str | None:
    return "the campaign holds the budget" if budget_on_campaign(entity) else alive(entity, now)


_started = started(tiktok.moment, "schedule_start_time")


def _not_started(entity: Entity, now: datetime | None) -> str | None:
    return _started(entity, now) or alive(entity, now)


def _manual_ad(entity: Entity, now: datetime | None) -> str | None:
    if read(entity, SMART) is not None:
        return "a Smart+ ad has a list of creatives; change it natively (creative_list)"
    return alive(entity, now)


# -- values -------------------------------------------------------------------------------------------------------


def _paces(entity: Entity) -> tuple[str, ...]:
    return (tiktok.SMOOTH, tiktok.FAST) if entity.get("bid_type") == tiktok.CUSTOM_BID else (tiktok.SMOOTH,)


def _bid(entity: Entity) -> str:
    return "/conversion_bid_price" if entity.get("billing_event") == tiktok.CONVERSION_BILLING else "/bid_price"


def _written(member: str, path: str) -> Callable[[Json, Entity, Account], Mapping[str, Json]]:
    def written(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
        return {f"/{member}": tiktok.native_time(held(value, path, tiktok.TITLE)), "/schedule_type": tiktok.START_END}

    return written


def _write_bid(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    return {_bid(entity): value, "/bid_type": tiktok.CUSTOM_BID}


def _words(place: Callable[[Entity], str], longest: int, path: str) -> Callable[..., Mapping[str, Json]]:
    def write(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
        wrong = tiktok.wrong_words(value, longest)
        if wrong is not None:
            raise refused(path, "invalid", f"TikTok: {wrong}.")
        return {place(entity): value}

    return write


def _name(kind: Kind, member: str) -> Setting:
    write = _words(lambda entity: f"/{member}", tiktok.NAME_UNITS, "fields.name")
    return Setting(kind, "name", f"/{member}", lock=alive, write=write)


def _either(manual: str, smart: str) -> Callable[[Entity], str]:
    """Where a member of an ad stands: Smart+ ads keep lists of one."""
    return lambda entity: smart if read(entity, SMART) is not None else manual


_text = _either("/ad_text", "/ad_text_list/0/ad_text")
_url = _either("/landing_page_url", "/landing_page_url_list/0/landing_page_url")
_call = _either("/call_to_action", "/call_to_action_list/0/call_to_action")


def _clear_industries(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    if value:
        raise refused("fields.special_industries", "not_supported", "TikTok lets them be cleared only.")
    return {"/special_industries": []}


# -- the table ----------------------------------------------------------------------------------------------------


def _locked(kind: Kind, *members: str) -> tuple[Setting, ...]:
    return tuple(Setting(kind, member, f"/{member}", lock=FINAL) for member in members)


SETTINGS = (
    _name("campaign", "campaign_name"),
    Setting(
        "campaign",
        "budget",
        "/budget",
        "money",
        period=period_of,
        lock=_held,
        note="A budget is at least 105 % of what was spent.",
    ),
    Setting("campaign", "objective", "/objective_type", lock=FINAL),
    *_locked("campaign", "budget_mode", "budget_optimize_on", "campaign_type"),
    Setting(
        "campaign",
        "special_industries",
        "/special_industries",
        "list",
        clears=True,
        lock=alive,
        write=_clear_industries,
        note="special_industries can only be cleared.",
    ),
    _name("adGroup", "adgroup_name"),
    Setting("adGroup", "budget", "/budget", "money", period=period_of, lock=_own),
    Setting(
        "adGroup",
        "startAt",
        "/schedule_start_time",
        "instant",
        lock=_not_started,
        read=shown_instant(tiktok.moment, "schedule_start_time"),
        write=_written("schedule_start_time", "fields.startAt"),
    ),
    Setting(
        "adGroup",
        "endAt",
        "/schedule_end_time",
        "instant",
        lock=alive,
        read=shown_instant(tiktok.moment, "schedule_end_time"),
        write=_written("schedule_end_time", "fields.endAt"),
    ),
    Setting("adGroup", "bidStrategy", "/bid_type", "choice", choices=(tiktok.NO_BID, tiktok.CUSTOM_BID), lock=_own),
    Setting(
        "adGroup",
        "bid",
        _bid,
        "money",
        spellings=BIDS,
        lock=_own,
        write=_write_bid,
        note="A bid stays below the budget of a day.",
    ),
    Setting("adGroup", "pacing", "/pacing", "choice", choices=(tiktok.SMOOTH, tiktok.FAST), offered=_paces, lock=alive),
    # The zone of dayparting is (unverified).
    Setting(
        "adGroup",
        "dayparting",
        "/dayparting",
        longest=336,
        lock=alive,
        note="dayparting: a 0 or 1 for each half hour of the week, from Monday 00:00 in the account's zone.",
    ),
    *_locked(
        "adGroup",
        *("placement_type", "placements", "promotion_type", "optimization_goal", "billing_event", "budget_mode"),
        *("search_result_enabled", "click_attribution_window", "view_attribution_window"),
    ),
    _name("ad", "ad_name"),
    Setting("ad", "body", _text, lock=alive, write=_words(_text, tiktok.TEXT_UNITS, "fields.body")),
    Setting("ad", "url", _url, lock=alive),
    Setting("ad", "call_to_action", _call, "choice", choices=tiktok.CALLS_TO_ACTION, lock=alive),
    Setting("ad", "existingId", "/video_id", lock=_manual_ad, note="A new video brings its own first cover."),
    Setting("ad", "identityId", "/identity_id", lock=_manual_ad),
    Setting(
        "ad",
        "identityType",
        "/identity_type",
        "choice",
        choices=(tiktok.USER, tiktok.CENTRE_USER, tiktok.CUSTOM_USER),
        lock=_manual_ad,
    ),
)
EDITS = (
    *(EditMember("adGroup", f"targeting.{name}") for name in (*PARTS, *AGE)),
    *(EditMember("adGroup", f"targeting.{name}", reason=reason) for name, reason in LOCKED.items()),
    *(EditMember("ad", f"creative.{name}", name) for name in ("existingId", "body", "url")),
    EditMember("ad", "creative.imageHash"),
)


# -- what the changes contradict ----------------------------------------------------------------------------------

# What the Smart+ endpoints let an update change; the manual ones take every field of SETTINGS.
SMART_NAMES: Mapping[Kind, frozenset[str]] = {
    "campaign": frozenset(words("campaign_name budget")),
    "adGroup": frozenset(
        words(
            "adgroup_name bid_price budget conversion_bid_price dayparting pacing schedule_end_time"
            " schedule_start_time schedule_type targeting_spec"
        )
    ),
    "ad": frozenset(words("ad_name ad_text_list call_to_action_list creative_list landing_page_url_list")),
}


def days_of(start: datetime, end: datetime) -> int:
    """The days that a lifetime budget is held against: those begun."""
    return max(1, -((start - end) // timedelta(days=1)))


def budget_issues(
    account: Account, kind: str, path: str, amount: Decimal, period: str | None, days: int
) -> Iterator[Issue]:
    """What TikTok says of a budget of the ad group or campaign, where it has limits for the currency."""
    found = tiktok.limits(account, kind, days if period == "lifetime" else 1)
    if found is None:
        return
    least, most = found
    over = f" for {days} days" if period == "lifetime" else " a day"
    if amount < least:
        message = f"TikTok takes a budget of at least {written(least)} {account.currency}{over}."
        yield Issue(path, "too_small", message)
    elif period == "daily" and amount >= most:
        yield Issue(path, "too_large", f"TikTok takes a budget below {written(most)} {account.currency} a day.")


def conflicts(
    account: Account, kind: Kind, after: Mapping[str, Json], body: dict[str, Json], now: datetime | None
) -> Iterator[Issue]:
    """What the changed members contradict."""
    if kind == "ad":
        return
    start, end = (tiktok.moment(after.get(name)) for name in ("schedule_start_time", "schedule_end_time"))
    if "schedule_end_time" in body and end is not None and now is not None and end <= now:
        yield Issue("fields.endAt", "past", "The end lies in the past.")
    if "schedule_type" in body and start is not None and end is not None and end <= start:
        yield Issue("fields.endAt", "order", "The end has to come after the start.")
        return
    held = after.get("budget")
    budget = Decimal(held) if held is not None and is_number(held) else None
    if "budget" in body and budget is not None:
        days = 1 if start is None or end is None else days_of(start, end)
        yield from budget_issues(account, kind, "fields.budget", budget, period_of(after), days)
    for name in ("bid_price", "conversion_bid_price"):
        bid = body.get(name)
        if bid is not None and is_number(bid) and budget is not None and period_of(after) and bid >= budget:
            yield Issue("fields.bid", "too_large", "TikTok takes a bid below the budget only.")
    if body.get("bid_type") == tiktok.CUSTOM_BID and not any(
        after.get(n) for n in ("bid_price", "conversion_bid_price")
    ):
        yield Issue("fields.bid", "required", "This bid strategy needs a bid; change both together.")
    if body.get("pacing") == tiktok.FAST and after.get("bid_type") != tiktok.CUSTOM_BID:
        yield Issue("fields.pacing", "not_supported", f"{tiktok.FAST} needs the bid strategy {tiktok.CUSTOM_BID}.")


def beyond_smart(kind: Kind, flow: tiktok.Create, body: dict[str, Json]) -> Iterator[Issue]:
    """What Smart+ lets nobody change; its ``bid_type``, which the bid says already, is taken out of ``body``."""
    if flow == tiktok.SMART_PLUS:
        if not {"bid_price", "conversion_bid_price"}.isdisjoint(body):
            body.pop("bid_type")  # a bid says it already
        for name in sorted(set(body) - SMART_NAMES[kind]):
            yield Issue("fields", "not_supported", f"A Smart+ {tiktok.CALLED[kind]} lets nobody change {name}.")
