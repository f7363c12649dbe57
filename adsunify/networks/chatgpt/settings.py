"""What can be changed on campaigns, ad groups and ads of ChatGPT."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial

from adsunify.adapter.edits import Edit, misplaced_end
from adsunify.adapter.network import Account, EditMember, Entity, Period, Setting, counted
from adsunify.errors import Issue, refused
from adsunify.models.error_messages import is_web_address
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import read
from adsunify.values.money import major

from . import native as openai
from .targeting import kind_of

Written = Mapping[str, Json]


# -- locks --------------------------------------------------------------------------------------------------------


def _alive(entity: Entity, now: datetime | None) -> str | None:
    return "it is archived, which is final" if entity.get("status") == openai.ARCHIVED else None


def _fixed(reason: str) -> str:
    return f"fixed when it is made: {reason}"


def per_thousand(entity: Entity) -> bool:
    """Whether people count the ad group's bid per thousand impressions; natively it is per impression."""
    return bool(read(entity, "/bidding_config/billing_event_type") == openai.IMPRESSION)


def limit_of(entity: Entity) -> str | None:
    """The kind of budget in use: the member of ``budget`` that holds it."""
    limits = (openai.LIFETIME_LIMIT, openai.DAILY_LIMIT)
    return next((name for name in limits if read(entity, f"/budget/{name}") is not None), None)


def _period(entity: Entity) -> Period | None:
    name = limit_of(entity)
    return None if name is None else "daily" if name == openai.DAILY_LIMIT else "lifetime"


def _no_budget(entity: Entity, now: datetime | None) -> str | None:
    return _alive(entity, now) if limit_of(entity) else "no budget of a known kind is set"


def _led(entity: Entity, now: datetime | None) -> str | None:
    led = entity.get("bidding_type") == openai.CONVERSIONS
    return _fixed("the campaign is led by this event") if led else _alive(entity, now)


def _no_bid(entity: Entity, now: datetime | None) -> str | None:
    strategy = read(entity, "/bidding_config/strategy")
    return f"{strategy} takes no bid" if strategy in openai.AUTOMATIC else _alive(entity, now)


def _not_a_card(entity: Entity, now: datetime | None) -> str | None:
    kind = read(entity, "/creative/type")
    card = kind == openai.CHAT_CARD
    return _alive(entity, now) if card else f"its creative is no {openai.CHAT_CARD}; change it with a native update"


# -- values -------------------------------------------------------------------------------------------------------


def _between(value: Json, lengths: tuple[int, int], field: str) -> None:
    least, most = lengths
    if not (least <= len(value) <= most and value.strip()):
        message = f"OpenAI takes {least} to {most} characters, one of them no blank."
        raise refused(f"fields.{field}", "length", message)


def kept(entity: Entity, part: str, members: Sequence[str]) -> dict[str, Json]:
    """A nested object as it can be written again: updates replace it whole, reads add to it."""
    found = entity.get(part)
    known = found if isinstance(found, Mapping) else {}
    return {name: known[name] for name in members if known.get(name) is not None}


def _write_name(value: Json, entity: Entity, account: Account) -> Written:
    _between(value, openai.NAME_LENGTHS, "name")
    return {"/name": value}


def _budget(entity: Entity) -> str:
    return f"/budget/{limit_of(entity) or openai.LIFETIME_LIMIT}"


def _write_budget(value: Json, entity: Entity, account: Account) -> Written:
    return {"/budget": {limit_of(entity): value}}


def _instant(field: str, member: str, note: str) -> Setting:
    def show(entity: Entity, account: Account) -> Json:
        return openai.shown_time(entity.get(member))

    def write(value: Json, entity: Entity, account: Account) -> Written:
        return {f"/{member}": None if value is None else openai.seconds(value, f"fields.{field}")}

    return Setting(
        *("campaign", field, f"/{member}", "instant"), clears=True, lock=_alive, read=show, write=write, note=note
    )


def _write_events(value: Json, entity: Entity, account: Account) -> Written:
    return {"/conversion_event_setting_ids": value or []}


def _show_bid(entity: Entity, account: Account) -> Json:
    unit = openai.unit_of_impressions(account) if per_thousand(entity) else openai.unit(account)
    count = counted(unit, read(entity, "/bidding_config/max_bid_micros"))
    return None if count is None else major(count, unit.offset)


def _write_bid(value: Json, entity: Entity, account: Account) -> Written:
    return {"/bidding_config": {**kept(entity, "bidding_config", openai.BIDDING), "max_bid_micros": value}}


def _write_hints(value: Json, entity: Entity, account: Account) -> Written:
    if value and len(value) > openai.MOST_HINTS:
        raise refused("fields.context_hints", "too_long", f"OpenAI takes at most {openai.MOST_HINTS} hints.")
    return {"/context_hints": value or []}


def _write_part(member: str, wrong: Callable[[Json], str | None], field: str) -> Callable[..., Written]:
    def write(value: Json, entity: Entity, account: Account) -> Written:
        found = wrong(value)
        if found is not None:
            raise refused(f"fields.{field}", "invalid", f"OpenAI: {found}.")
        return {"/creative": {**kept(entity, "creative", openai.CREATIVE), member: value}}

    return write


def wrong_title(value: Json) -> str | None:
    """What is wrong with a headline."""
    least, most = openai.TITLE_LENGTHS
    good = least <= len(value) <= most and value.strip()
    return None if good else f"a headline has {least} to {most} characters, one of them no blank"


def wrong_body(value: Json) -> str | None:
    """What is wrong with a text."""
    return None if len(value) <= openai.BODY_LENGTH else f"a text has at most {openai.BODY_LENGTH} characters"


def wrong_url(value: Json) -> str | None:
    """What is wrong with a destination."""
    good = is_web_address(value) and len(value) <= openai.URL_LENGTH
    return None if good else f"an address begins with http or https and has at most {openai.URL_LENGTH} characters"


# -- the table ----------------------------------------------------------------------------------------------------

_name = partial(Setting, field="name", native="/name", lock=_alive, write=_write_name)


def _part(field: str, member: str, wrong: Callable[[Json], str | None]) -> Setting:
    """A part of the creative; it is always written whole."""
    return Setting("ad", field, f"/creative/{member}", lock=_not_a_card, write=_write_part(member, wrong, field))


SETTINGS = (
    _name("campaign"),
    Setting(
        *("campaign", "budget", _budget, "money", _period),
        spellings=(openai.DAILY_LIMIT, openai.LIFETIME_LIMIT),
        minimum=openai.LEAST_BUDGET,
        lock=_no_budget,
        write=_write_budget,
        note="A lifetime budget cannot go below what was spent, and its kind stays.",
    ),
    _instant("startAt", "start_time", "Without a start the campaign serves from its activation on."),
    _instant("endAt", "end_time", ""),
    Setting(
        *("campaign", "conversionGoals", "/conversion_event_setting_ids", "list"),
        clears=True,
        lock=_led,
        write=_write_events,
    ),
    Setting("campaign", "bid", "", lock="the bid stands on the ad groups", read=lambda entity, account: None),
    Setting("campaign", "bidding_type", "/bidding_type", lock=_fixed("it is the campaign's goal")),
    Setting("campaign", "mode", "/mode", lock=_fixed("make another campaign")),
    _name("adGroup"),
    Setting(
        *("adGroup", "bid", "/bidding_config/max_bid_micros", "money"),
        lock=_no_bid,
        read=_show_bid,
        write=_write_bid,
        note="Per thousand impressions, per click, or per conversion, as the campaign bids.",
    ),
    Setting(
        *("adGroup", "context_hints", "/context_hints", "list"),
        clears=True,
        lock=_alive,
        write=_write_hints,
        note="context_hints: free words on what the ads go with; no keywords.",
    ),
    Setting("adGroup", "campaign_id", "/campaign_id", lock=_fixed("make another ad group")),
    Setting(
        *("adGroup", "billing_event_type", "/bidding_config/billing_event_type"),
        lock=_fixed("it has to match the campaign's bidding_type"),
    ),
    _name("ad"),
    _part("headline", "title", wrong_title),
    _part("body", "body", wrong_body),
    _part("url", "target_url", wrong_url),
    Setting("ad", "ad_group_id", "/ad_group_id", lock=_fixed("make another ad")),
    Setting("ad", "type", "/creative/type", lock=_fixed("make another ad")),
)
EDITS = (
    EditMember("campaign", "targeting.locations", type_of=kind_of),
    EditMember("campaign", "targeting.devices"),
    EditMember(
        *("campaign", "targeting.excludedLocations"),
        reason=f"{openai.EXCLUDED_LOCATIONS} is described nowhere; give the whole targeting in a native update",
    ),
    *(EditMember("ad", f"creative.{name}", name) for name in ("headline", "body", "url")),
    *(EditMember("ad", f"creative.{name}") for name in ("imageUrl", "existingId")),
)


# -- what the changes contradict ----------------------------------------------------------------------------------


def conflicts(
    edit: Edit, before: Mapping[str, Json], changed: Mapping[str, Json], now: datetime | None
) -> Iterator[Issue]:
    """What the changed members contradict."""
    if {"start_time", "end_time"}.isdisjoint(changed):
        return
    after = {**before, **changed}
    start, end = openai.moment(after.get("start_time")), openai.moment(after.get("end_time"))
    yield from misplaced_end(start, end, {name: name in edit.fields for name in ("startAt", "endAt")}, now)
