"""What an edit may change at Reddit, level by level, and why the rest is locked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import partial

from adsunify.adapter.edits import misplaced_end
from adsunify.adapter.network import Account, EditMember, Entity, Period, Setting
from adsunify.adapter.settings import Lock, started
from adsunify.errors import Issue, refused
from adsunify.values.exact_json import Json, dumps, loads
from adsunify.values.json_pointer import read

from . import native as reddit
from .targeting import PARTS

Write = Callable[[Json, Entity, Account], Mapping[str, Json]]

# -- locks --------------------------------------------------------------------------------------------------------


def closed(entity: Entity) -> str | None:
    """Why nothing of the entity can be changed."""
    status = entity.get("configured_status")
    return f"it is {str(status).lower()}" if status in reddit.CLOSED else None


def _closed(entity: Entity, now: datetime | None) -> str | None:
    return closed(entity)


def _or_closed(lock: Lock) -> Lock:
    """An archived or deleted entity is locked whatever else is true of it."""
    return lambda entity, now: closed(entity) or lock(entity, now)


def by_campaign(entity: Entity) -> bool:
    """Whether the campaign holds budget, bid, schedule and pixel."""
    return entity.get(reddit.CAMPAIGN_BUDGET) is True


def _held_by_campaign(ad_group: Entity, now: datetime | None) -> str | None:
    return "the campaign holds it (campaign budget optimization)" if by_campaign(ad_group) else None


def period_of(entity: Entity) -> Period | None:
    """The period of the budget that the entity has."""
    periods: Mapping[Json, Period] = {reddit.DAILY_SPEND: "daily", reddit.LIFETIME_SPEND: "lifetime"}
    return periods.get(str(entity.get("goal_type")))


def _no_campaign_budget(campaign: Entity, now: datetime | None) -> str | None:
    if not by_campaign(campaign):
        return "its ad groups hold the budgets (no campaign budget optimization)"
    return _no_period(campaign)


def _no_budget(ad_group: Entity, now: datetime | None) -> str | None:
    return _held_by_campaign(ad_group, now) or _no_period(ad_group)


def _no_period(entity: Entity) -> str | None:
    return None if period_of(entity) else "it does not say whether its budget is daily or lifetime (goal_type)"


def _no_bid(ad_group: Entity, now: datetime | None) -> str | None:
    if ad_group.get("bid_strategy") in reddit.STRATEGIES:
        return _held_by_campaign(ad_group, now)
    return _held_by_campaign(ad_group, now) or f"only {', '.join(reddit.STRATEGIES)} take a bid; change bidStrategy too"


_started = started(reddit.moment, "start_time")  # (unverified)


def _no_start(ad_group: Entity, now: datetime | None) -> str | None:
    return _held_by_campaign(ad_group, now) or _started(ad_group, now)


# -- values -------------------------------------------------------------------------------------------------------


def _name(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    if not reddit.SHORTEST_NAME <= len(value or "") <= reddit.LONGEST_NAME:
        message = f"A name of Reddit has {reddit.SHORTEST_NAME} to {reddit.LONGEST_NAME} characters."
        raise refused("fields.name", "length", message)
    return {"/name": value}


def _instant(field: str, member: str) -> Write:
    def write(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
        return {f"/{member}": None if value is None else reddit.native_time(value, f"fields.{field}")}

    return write


def _post(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    if wrong := reddit.not_a_post(value):
        raise refused("fields.existingId", "invalid", f"Reddit: {wrong}.")
    return {"/post_id": value}


def _url(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    if not _is_address(value):
        raise refused("fields.url", "invalid", "An address begins with http:// or https://.")
    return {"/click_url": value}


def _shown_json(member: str) -> Callable[[Entity, Account], Json]:
    def shown(entity: Entity, account: Account) -> Json:
        found = read(entity, f"/{member}")
        return None if found is None else dumps(found)

    return shown


def _json(field: str, member: str, fits: Callable[[Json], bool], form: str) -> Write:
    """A list that is written as JSON text; ``fits`` says of each member of it whether Reddit takes it."""

    def write(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
        try:
            found = loads(value)
        except ValueError:
            found = None
        if not isinstance(found, list) or not all(isinstance(one, dict) and fits(one) for one in found):
            raise refused(f"fields.{field}", "invalid", f"{field} is the JSON text of {form}.")
        return {f"/{member}": found}

    return write


HOURS, DAYS = (0, 24), (0, 6)
WINDOW = {"start_day": DAYS, "start_hour": HOURS, "end_day": DAYS, "end_hour": HOURS}


def _is_window(one: Json) -> bool:
    return set(one) == set(WINDOW) and all(
        type(one[name]) is int and least <= one[name] <= most for name, (least, most) in WINDOW.items()
    )


def _is_parameter(one: Json) -> bool:
    return set(one) == {"name", "value"} and all(isinstance(value, str) for value in one.values())


def _is_tracker(one: Json) -> bool:
    return set(one) == {"type", "url"} and one["type"] in reddit.TRACKED and _is_address(one["url"])


def _is_address(value: Json) -> bool:
    return isinstance(value, str) and value.startswith(("http://", "https://"))


_write_windows = _json(
    *("dayparting", "schedule", _is_window),
    'weekly windows such as [{"start_day": 1, "start_hour": 8, "end_day": 1, "end_hour": 20}]; day 0 is Sunday',
)
_write_trackers = _json(
    *("eventTrackers", "event_trackers", _is_tracker),
    'a list such as [{"type": "CLICK", "url": "https://..."}], of the types CLICK and VIEW',
)
_write_pairs = _json(
    *("clickUrlQueryParameters", "click_url_query_parameters", _is_parameter),
    f'at most {reddit.MOST_PARAMETERS} pairs such as [{{"name": "utm_source", "value": "reddit"}}]',
)


def _write_windows_or_none(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    return {"/schedule": None} if value is None else _write_windows(value, entity, account)


def _write_parameters(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    written = _write_pairs(value, entity, account)
    if len(written["/click_url_query_parameters"]) > reddit.MOST_PARAMETERS:
        message = f"Reddit takes at most {reddit.MOST_PARAMETERS} query parameters."
        raise refused("fields.clickUrlQueryParameters", "too_long", message)
    return written


# -- the table ----------------------------------------------------------------------------------------------------

FIXED = "Reddit does not let it be changed once published"
READ_ONLY = "Reddit lets it be read only"
_named = partial(Setting, field="name", native="/name", lock=_closed, write=_name)


SETTINGS = (
    _named("campaign"),
    Setting(
        *("campaign", "budget", "/goal_value", "money", period_of),
        lock=_or_closed(_no_campaign_budget),
        note="A campaign has a budget only under campaign budget optimization; it keeps its period.",
    ),
    Setting("campaign", "spendCap", "/spend_cap", "money", clears=True, lock=_closed),
    Setting("campaign", "fundingInstrumentId", "/funding_instrument_id", lock=_closed),
    *(
        Setting("campaign", name, f"/{name}", lock=FIXED)
        for name in ("objective", reddit.CAMPAIGN_BUDGET, "goal_type", "view_through_conversion_type")
    ),
    Setting("campaign", "special_ad_categories", "/special_ad_categories", lock=READ_ONLY),
    _named("adGroup"),
    Setting(
        *("adGroup", "budget", "/goal_value", "money", period_of),
        lock=_or_closed(_no_budget),
        note="A daily budget stays daily, a lifetime budget lifetime.",
    ),
    Setting(
        *("adGroup", "bidStrategy", "/bid_strategy", "choice"),
        choices=reddit.STRATEGIES,
        lock=_or_closed(_held_by_campaign),
        note=f"{' and '.join(reddit.NEEDS_BID)} need a bid.",
    ),
    Setting("adGroup", "bid", "/bid_value", "money", lock=_or_closed(_no_bid)),
    Setting(
        *("adGroup", "startAt", "/start_time", "instant"),
        lock=_or_closed(_no_start),
        write=_instant("startAt", "start_time"),
    ),
    Setting(
        *("adGroup", "endAt", "/end_time", "instant"),
        clears=True,
        lock=_or_closed(_held_by_campaign),
        write=_instant("endAt", "end_time"),
    ),
    Setting(
        *("adGroup", "dayparting", "/schedule"),
        clears=True,
        lock=_or_closed(_held_by_campaign),
        read=_shown_json("schedule"),
        write=_write_windows_or_none,
        note="dayparting is the JSON text of weekly windows; day 0 is Sunday.",
    ),
    Setting("adGroup", "pixelId", "/conversion_pixel_id", lock=_or_closed(_held_by_campaign)),
    *(
        Setting("adGroup", name, f"/{name}", lock=FIXED)
        for name in ("optimization_goal", "goal_type", "view_through_conversion_type")
    ),
    *(
        Setting("adGroup", name, f"/{name}", lock=READ_ONLY)
        for name in ("campaign_id", "campaign_objective_type", reddit.CAMPAIGN_BUDGET)
    ),
    _named("ad"),
    Setting(
        *("ad", "url", "/click_url"),
        longest=reddit.LONGEST_URL,
        lock=_closed,
        write=_url,
        note="An ad over a post of the type TEXT cannot have a url.",
    ),
    Setting(
        *("ad", "clickUrlQueryParameters", "/click_url_query_parameters"),
        lock=_closed,
        read=_shown_json("click_url_query_parameters"),
        write=_write_parameters,
        note="clickUrlQueryParameters is the JSON text of a list of names and values.",
    ),
    Setting(
        *("ad", "eventTrackers", "/event_trackers"),
        lock=_closed,
        read=_shown_json("event_trackers"),
        write=_write_trackers,
        note="eventTrackers is the JSON text of a list; Reddit takes approved measurement providers only.",
    ),
    Setting(
        *("ad", "previewExpiry", "/preview_expiry", "instant"),
        lock=_closed,
        write=_instant("previewExpiry", "preview_expiry"),
    ),
    Setting(
        *("ad", "existingId", "/post_id"),
        lock=_closed,
        write=_post,
        note="The ad goes to review again with another post.",
    ),
    *(Setting("ad", name, f"/{name}", lock=READ_ONLY) for name in ("ad_group_id", "campaign_id")),
)
EDITS = (
    *(EditMember("adGroup", f"targeting.{name}") for name in PARTS),
    *(EditMember("ad", f"creative.{name}", name) for name in ("existingId", "url")),
    EditMember("ad", "creative", reason="what the post says is fixed; name another post (existingId), or the url"),
)


# -- what the changes contradict ----------------------------------------------------------------------------------


def conflicts(entity: Mapping[str, Json], body: Mapping[str, Json], now: datetime | None) -> Iterator[Issue]:
    """What the changed members contradict."""
    after = {**entity, **body}
    start, end = reddit.moment(after.get("start_time")), reddit.moment(after.get("end_time"))
    moved = {"startAt": "start_time" in body, "endAt": "end_time" in body}
    yield from misplaced_end(start, end, moved, now)
    if body.get("bid_strategy") in reddit.NEEDS_BID and after.get("bid_value") is None:
        yield Issue("fields.bid", "required", "This bid strategy needs a bid; change both together.")
