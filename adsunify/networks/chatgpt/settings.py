"""What an edit may change on campaigns, ad groups and ads of ChatGPT, and why the rest is locked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial

from adsunify.adapter.account import Account
from adsunify.adapter.edits import Edit, check_start_end
from adsunify.adapter.formats import Period
from adsunify.adapter.native_money import parse_native_amount
from adsunify.adapter.network import EditMember, NativeEntity, Setting
from adsunify.errors import Issue, invalid_input
from adsunify.models.error_messages import is_web_address
from adsunify.plans.records import Kind
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_value
from adsunify.values.money import from_units

from . import native as openai
from .targeting import get_location_type

NativeValues = Mapping[str, Json]


# -- locks --------------------------------------------------------------------------------------------------------


def _format_fixed_reason(reason: str) -> str:
    return f"fixed when it is made: {reason}"


def is_bid_per_thousand(entity: NativeEntity) -> bool:
    """Return whether edits give the ad group's bid per thousand impressions. The native bid is for one impression."""
    return bool(get_value(entity, "/bidding_config/billing_event_type") == openai.IMPRESSION)


def get_budget_member(entity: NativeEntity) -> str | None:
    """Return the member of ``budget`` that holds the budget; None if the entity has no budget."""
    limits = (openai.LIFETIME_LIMIT_MEMBER, openai.DAILY_LIMIT_MEMBER)
    return next((name for name in limits if get_value(entity, f"/budget/{name}") is not None), None)


def _get_budget_period(entity: NativeEntity) -> Period | None:
    name = get_budget_member(entity)
    return None if name is None else "daily" if name == openai.DAILY_LIMIT_MEMBER else "lifetime"


def _lock_budget(entity: NativeEntity, now: datetime | None) -> str | None:
    return None if get_budget_member(entity) else "no budget of a known kind is set"


def _lock_conversion_events(entity: NativeEntity, now: datetime | None) -> str | None:
    led = entity.get("bidding_type") == openai.CONVERSIONS
    return _format_fixed_reason("the campaign is led by this event") if led else None


def _lock_bid(entity: NativeEntity, now: datetime | None) -> str | None:
    strategy = get_value(entity, "/bidding_config/strategy")
    return f"{strategy} takes no bid" if strategy in openai.AUTOMATIC_STRATEGIES else None


def _lock_creative(entity: NativeEntity, now: datetime | None) -> str | None:
    is_card = get_value(entity, "/creative/type") == openai.CHAT_CARD
    return None if is_card else f"its creative is no {openai.CHAT_CARD}; change it with a native update"


# -- values -------------------------------------------------------------------------------------------------------


def _ensure_length(value: Json, lengths: tuple[int, int], field: str) -> None:
    least, most = lengths
    if not (least <= len(value) <= most and value.strip()):
        message = f"OpenAI takes {least} to {most} characters, one of them no blank."
        raise invalid_input(f"fields.{field}", "length", message)


def get_writable_members(entity: NativeEntity, part: str, members: Sequence[str]) -> dict[str, Json]:
    """Return the writable members of a nested object. An update replaces the object; a read adds read-only members."""
    current = entity.get(part)
    known = current if isinstance(current, Mapping) else {}
    return {name: known[name] for name in members if known.get(name) is not None}


def _write_name(value: Json, entity: NativeEntity, account: Account) -> NativeValues:
    _ensure_length(value, openai.NAME_LENGTH_RANGE, "name")
    return {"/name": value}


def _get_budget_pointer(entity: NativeEntity) -> str:
    return f"/budget/{get_budget_member(entity) or openai.LIFETIME_LIMIT_MEMBER}"


def _write_budget(value: Json, entity: NativeEntity, account: Account) -> NativeValues:
    return {"/budget": {get_budget_member(entity): value}}


def _read_bid(entity: NativeEntity, account: Account) -> Json:
    unit = openai.get_impression_bid_unit(account) if is_bid_per_thousand(entity) else openai.get_money_unit(account)
    count = parse_native_amount(unit, get_value(entity, "/bidding_config/max_bid_micros"))
    return None if count is None else from_units(count, unit.offset)


def _write_bid(value: Json, entity: NativeEntity, account: Account) -> NativeValues:
    return {
        "/bidding_config": {
            **get_writable_members(entity, "bidding_config", openai.BIDDING_MEMBERS),
            "max_bid_micros": value,
        }
    }


def _write_hints(value: Json, entity: NativeEntity, account: Account) -> NativeValues:
    if len(value) > openai.MAX_HINTS:
        raise invalid_input("fields.context_hints", "too_long", f"OpenAI takes at most {openai.MAX_HINTS} hints.")
    return {"/context_hints": value}


def _creative_writer(member: str) -> Callable[..., NativeValues]:
    def write(value: Json, entity: NativeEntity, account: Account) -> NativeValues:
        return {"/creative": {**get_writable_members(entity, "creative", openai.CREATIVE_MEMBERS), member: value}}

    return write


def find_title_error(value: Json) -> str | None:
    """Return why a headline is refused; None if it is valid."""
    least, most = openai.TITLE_LENGTH_RANGE
    good = least <= len(value) <= most and value.strip()
    return None if good else f"a headline has {least} to {most} characters, one of them no blank"


def find_body_error(value: Json) -> str | None:
    """Return why a text is refused; None if it is valid."""
    return None if len(value) <= openai.MAX_BODY_LENGTH else f"a text has at most {openai.MAX_BODY_LENGTH} characters"


def find_url_error(value: Json) -> str | None:
    """Return why a destination is refused; None if it is valid."""
    good = is_web_address(value) and len(value) <= openai.MAX_URL_LENGTH
    return None if good else f"an address begins with http or https and has at most {openai.MAX_URL_LENGTH} characters"


# -- the table ----------------------------------------------------------------------------------------------------

_name_setting = partial(Setting, field="name", native="/name", write=_write_name)


def _creative_setting(field: str, member: str, find_error: Callable[[Json], str | None]) -> Setting:
    """Build the setting of a part of the creative. A write replaces the whole creative."""
    return Setting(
        *("ad", field, f"/creative/{member}"),
        lock=_lock_creative,
        write=_creative_writer(member),
        find_error=find_error,
    )


SETTINGS = (
    _name_setting("campaign"),
    Setting(
        *("campaign", "budget", _get_budget_pointer, "money", _get_budget_period),
        native_names=(openai.DAILY_LIMIT_MEMBER, openai.LIFETIME_LIMIT_MEMBER),
        minimum=openai.MIN_BUDGET,
        lock=_lock_budget,
        write=_write_budget,
        note="A lifetime budget cannot go below what was spent, and its kind stays.",
    ),
    Setting(
        *("campaign", "startAt", "/start_time", "instant"),
        can_clear=True,
        note="Without a start the campaign serves from its activation on.",
    ),
    Setting("campaign", "endAt", "/end_time", "instant", can_clear=True),
    Setting(
        *("campaign", "conversionGoals", "/conversion_event_setting_ids", "list"),
        can_clear=True,
        cleared=[],
        lock=_lock_conversion_events,
    ),
    Setting("campaign", "bid", "", lock="the bid is set on the ad groups", read=lambda entity, account: None),
    Setting("campaign", "bidding_type", "/bidding_type", lock=_format_fixed_reason("it is the campaign's goal")),
    Setting("campaign", "mode", "/mode", lock=_format_fixed_reason("make another campaign")),
    _name_setting("adGroup"),
    Setting(
        *("adGroup", "bid", "/bidding_config/max_bid_micros", "money"),
        lock=_lock_bid,
        read=_read_bid,
        write=_write_bid,
        note="Per thousand impressions, per click, or per conversion, as the campaign bids.",
    ),
    Setting(
        *("adGroup", "context_hints", "/context_hints", "list"),
        can_clear=True,
        cleared=[],
        write=_write_hints,
        note="context_hints: free words on what the ads go with; no keywords.",
    ),
    Setting("adGroup", "campaign_id", "/campaign_id", lock=_format_fixed_reason("make another ad group")),
    Setting(
        *("adGroup", "billing_event_type", "/bidding_config/billing_event_type"),
        lock=_format_fixed_reason("it has to match the campaign's bidding_type"),
    ),
    _name_setting("ad"),
    _creative_setting("headline", "title", find_title_error),
    _creative_setting("body", "body", find_body_error),
    _creative_setting("url", "target_url", find_url_error),
    Setting("ad", "ad_group_id", "/ad_group_id", lock=_format_fixed_reason("make another ad")),
    Setting("ad", "type", "/creative/type", lock=_format_fixed_reason("make another ad")),
)
EDITS = (
    EditMember("campaign", "targeting.locations", parse_type=get_location_type),
    EditMember("campaign", "targeting.devices"),
    EditMember(
        *("campaign", "targeting.excludedLocations"),
        reason=f"{openai.EXCLUDED_LOCATIONS} is described nowhere; give the whole targeting in a native update",
    ),
    *(EditMember("ad", f"creative.{name}", name) for name in ("headline", "body", "url")),
    *(EditMember("ad", f"creative.{name}") for name in ("imageUrl", "existingId")),
)


# -- what the changes contradict ----------------------------------------------------------------------------------


def check_conflicts(
    account: Account, kind: Kind, before: NativeEntity, changed: Mapping[str, Json], edit: Edit, now: datetime | None
) -> Iterator[Issue]:
    """Check the changed members against each other, the entity and the present."""
    yield from check_start_end(openai.TIME, before, changed, ("start_time", "end_time"), now)
