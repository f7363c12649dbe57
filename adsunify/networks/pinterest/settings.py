"""What an edit may change at Pinterest, level by level, and why the rest is locked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import partial

from adsunify.adapter.edits import misplaced_end
from adsunify.adapter.network import Account, EditMember, Entity, Period, Setting, words
from adsunify.adapter.settings import Lock, shown_instant, started
from adsunify.errors import Issue, refused
from adsunify.execution.status_updates import KINDS
from adsunify.models.error_messages import is_web_address, not_web
from adsunify.values.exact_json import Json, dumps, loads
from adsunify.values.json_pointer import read

from . import native as pinterest
from .targeting import PARTS, kind_of

# -- locks --------------------------------------------------------------------------------------------------------


def _archived(entity: Entity, now: datetime | None) -> str | None:
    return "it is archived" if entity.get("status") == pinterest.ARCHIVED else None


def _or_archived(lock: Lock) -> Lock:
    """An archived entity is locked whatever else is true of it."""
    return lambda entity, now: _archived(entity, now) or lock(entity, now)


def period_of(campaign: Entity) -> Period | None:
    """The period of the budget that the campaign holds, None where its ad groups hold theirs."""
    if campaign.get(pinterest.CAPS["lifetime"]):
        return "lifetime"
    return "daily" if campaign.get(pinterest.CAPS["daily"]) else None


def _cap(campaign: Entity) -> str:
    return f"/{pinterest.CAPS[period_of(campaign) or 'daily']}"


def _no_cap(campaign: Entity, now: datetime | None) -> str | None:
    return None if period_of(campaign) else "its ad groups hold the budgets"


def _own_period(ad_group: Entity) -> Period | None:
    found = pinterest.AD_GROUP_PERIODS.get(str(ad_group.get("budget_type")))
    return "daily" if found == "daily" else "lifetime" if found == "lifetime" else None


def _no_budget(ad_group: Entity, now: datetime | None) -> str | None:
    return None if _own_period(ad_group) else "budget is held by the campaign"


_started = started(pinterest.moment, "start_time")


def _no_start(ad_group: Entity, now: datetime | None) -> str | None:
    return _no_schedule(ad_group, now) or _started(ad_group, now)


def _no_schedule(ad_group: Entity, now: datetime | None) -> str | None:
    # Under a campaign budget it is a closed beta.
    held = ad_group.get("budget_type") == pinterest.UNDER_CAMPAIGN
    return "schedule is held by the campaign" if held else None


def _no_bid(ad_group: Entity, now: datetime | None) -> str | None:
    takes = ad_group.get("bid_strategy_type") == pinterest.MAX_BID
    return None if takes else f"only {pinterest.MAX_BID} takes a bid; change bidStrategy too"


def _no_frequency(ad_group: Entity, now: datetime | None) -> str | None:
    if ad_group.get("billable_event") != pinterest.IMPRESSION:
        return "only ad groups that pay for impressions have one"
    return None if pinterest.moment(ad_group.get("end_time")) else "it needs an end of the ad group"


# -- values -------------------------------------------------------------------------------------------------------


_start, _end = shown_instant(pinterest.moment, "start_time"), shown_instant(pinterest.moment, "end_time")


def _write_start(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    return {"/start_time": pinterest.native_time(value, "fields.startAt")}


def _write_end(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    return {"/end_time": pinterest.NO_END if value is None else pinterest.native_time(value, "fields.endAt")}


def _write_strategy(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    bid = {"/bid_in_micro_currency": None} if value == pinterest.AUTOMATIC_BID else {}  # (unverified) null clears it
    return {"/bid_strategy_type": value, **bid}


def _write_frequency(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    if not isinstance(value, int):
        raise refused("fields.frequencyCap", "type", "frequencyCap is a whole number of impressions.")
    return {"/lifetime_frequency_cap": value}


def _shown_order_line(entity: Entity, account: Account) -> Json:
    found = read(entity, "/order_line_id")
    return None if found == pinterest.NO_ORDER_LINE else found


def _write_order_line(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    if value is not None and not pinterest.DIGITS(value):
        raise refused("fields.orderLineId", "invalid", "An order line's id is digits.")
    return {"/order_line_id": pinterest.NO_ORDER_LINE if value is None else value}


def _shown_tracking(entity: Entity, account: Account) -> Json:
    found = read(entity, "/tracking_urls")
    return dumps(found) if found else None


def _write_tracking(cleared: Json) -> Callable[[Json, Entity, Account], Mapping[str, Json]]:
    def write(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
        if value is None:
            return {"/tracking_urls": cleared}
        try:
            found = loads(value)
        except ValueError:
            found = None
        if not _tracks(found):
            message = (
                f'trackingUrls is the JSON text of an object such as {{"click": ["https://..."]}}, with the members '
                f"{', '.join(pinterest.TRACKED)}, up to {pinterest.TRACKING_URLS} addresses each, of up to "
                f"{pinterest.TRACKING_LENGTH} characters."
            )
            raise refused("fields.trackingUrls", "invalid", message)
        return {"/tracking_urls": found}

    return write


def _tracks(found: Json) -> bool:
    if not isinstance(found, dict) or not found or not set(found) <= set(pinterest.TRACKED):
        return False
    return all(
        isinstance(urls, list)
        and len(urls) <= pinterest.TRACKING_URLS
        and all(isinstance(url, str) and is_web_address(url) and len(url) <= pinterest.TRACKING_LENGTH for url in urls)
        for urls in found.values()
    )


def _write_address(field: str, member: str) -> Callable[[Json, Entity, Account], Mapping[str, Json]]:
    def write(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
        if value is not None and (wrong := not_web(value)):
            raise refused(f"fields.{field}", "invalid", f"Pinterest: {wrong}.")
        return {f"/{member}": value}

    return write


# -- the table ----------------------------------------------------------------------------------------------------

ONLY_PIN = "content belongs to the Pin"
TRACKING_NOTE = "trackingUrls is the JSON text of an object: event to addresses."
_tracking = partial(
    Setting, field="trackingUrls", native="/tracking_urls", clears=True, lock=_archived, read=_shown_tracking
)
SETTINGS = (
    Setting("campaign", "name", "/name", longest=pinterest.NAME_LENGTH, lock=_archived),
    Setting(
        *("campaign", "budget", _cap, "money", period_of),
        spellings=("daily_spend_cap", "lifetime_spend_cap"),
        lock=_or_archived(_no_cap),
        note="A budget keeps its period; a daily one is raised by 1.00 or more.",  # (unverified) both
    ),
    Setting(
        *("campaign", "startAt", "/start_time", "instant"),
        lock=_or_archived(_started),
        read=_start,
        write=_write_start,
    ),
    Setting(
        *("campaign", "endAt", "/end_time", "instant"),
        clears=True,
        lock=_archived,
        read=_end,
        write=_write_end,
        note="Ad groups with an end of their own end with their campaign at the latest.",
    ),
    _tracking("campaign", write=_write_tracking({}), note=TRACKING_NOTE),
    Setting(
        *("campaign", "orderLineId", "/order_line_id"),
        clears=True,
        lock=_archived,
        read=_shown_order_line,
        write=_write_order_line,
    ),
    *(
        Setting("campaign", name, f"/{name}", lock="only draft campaigns")
        for name in words(
            "objective_type is_campaign_budget_optimization is_performance_plus is_automated_campaign"
            " intended_promotion_type"
        )
    ),
    Setting("adGroup", "name", "/name", longest=pinterest.NAME_LENGTH, lock=_archived),
    Setting(
        *("adGroup", "bidStrategy", "/bid_strategy_type", "choice"),
        choices=pinterest.STRATEGIES,
        lock=_archived,
        write=_write_strategy,
    ),
    Setting("adGroup", "bid", "/bid_in_micro_currency", "money", lock=_or_archived(_no_bid)),
    Setting(
        *("adGroup", "budget", "/budget_in_micro_currency", "money", _own_period),
        lock=_or_archived(_no_budget),
    ),
    Setting(
        *("adGroup", "startAt", "/start_time", "instant"),
        lock=_or_archived(_no_start),
        read=_start,
        write=_write_start,
    ),
    Setting(
        *("adGroup", "endAt", "/end_time", "instant"),
        lock=_or_archived(_no_schedule),
        read=_end,
        write=_write_end,
    ),
    Setting(
        *("adGroup", "frequencyCap", "/lifetime_frequency_cap", "number"),
        minimum="1",
        lock=_or_archived(_no_frequency),
        write=_write_frequency,
        note="frequencyCap: impressions per person within 30 days.",
    ),
    Setting(*("adGroup", "placement", "/placement_group", "choice"), choices=pinterest.PLACEMENTS, lock=_archived),
    Setting("adGroup", "autoTargeting", "/auto_targeting_enabled", "flag", lock=_archived),
    *(
        Setting("adGroup", name, f"/{name}", lock="only draft ad groups")
        for name in words("billable_event budget_type campaign_id")
    ),
    Setting("ad", "name", "/name", longest=pinterest.NAME_LENGTH, lock=_archived),
    Setting(
        *("ad", "url", "/destination_url"),
        longest=pinterest.LINK,
        lock=_archived,
        write=_write_address("url", "destination_url"),
    ),
    _tracking("ad", write=_write_tracking({}), note=TRACKING_NOTE),
    Setting(
        *("ad", "clickTrackingUrl", "/click_tracking_url"),
        longest=pinterest.TRACKING_LENGTH,
        clears=True,
        lock=_archived,
        write=_write_address("clickTrackingUrl", "click_tracking_url"),
    ),
    *(Setting("ad", name, f"/{name}", lock="only draft ads") for name in words("pin_id creative_type")),
)
EDITS = (
    *(EditMember("adGroup", f"targeting.{name}", type_of=kind_of) for name in ("locations", "excludedLocations")),
    *(EditMember("adGroup", f"targeting.{name}") for name in PARTS if not name.lower().endswith("locations")),
    *(EditMember(kind, "creative", reason=ONLY_PIN) for kind in KINDS),
)


# -- what the changes contradict ----------------------------------------------------------------------------------


def conflicts(entity: Mapping[str, Json], body: Mapping[str, Json], now: datetime | None) -> Iterator[Issue]:
    """What the changed members contradict."""
    after = {**entity, **body}
    start, end = pinterest.moment(after.get("start_time")), pinterest.moment(after.get("end_time"))
    if "end_time" in body and end is None and period_of(after) == "lifetime":
        yield Issue("fields.endAt", "required", "A lifetime budget needs an end.")
    moved = {"startAt": "start_time" in body, "endAt": "end_time" in body}
    yield from misplaced_end(start, end, moved, now)
    if body.get("bid_strategy_type") == pinterest.MAX_BID and not after.get("bid_in_micro_currency"):
        yield Issue("fields.bid", "required", f"{pinterest.MAX_BID} needs a bid; change both together.")
