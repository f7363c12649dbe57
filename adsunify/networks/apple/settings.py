"""What an edit may change at Apple, level by level, why the rest is locked, and what the changes contradict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial

from adsunify.adapter.account import Account
from adsunify.adapter.edits import Edit, check_start_end
from adsunify.adapter.network import EditMember, NativeEntity, Setting
from adsunify.adapter.settings import locked_settings
from adsunify.errors import Issue, invalid_input
from adsunify.plans.records import ENTITY_KINDS, Kind
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_text, get_value

from . import native as apple
from .targeting import COUNTRY_DIMENSION, INCLUDE, find_native_targeting_error, get_location_type

# -- locks --------------------------------------------------------------------------------------------------------


def _lock_automatic_bid(entity: NativeEntity, now: datetime | None) -> str | None:
    is_automatic = get_value(entity, "/bidStrategy/bidStrategyType") == apple.MAX_CONVERSIONS
    return f"{apple.MAX_CONVERSIONS} bids by itself" if is_automatic else None


# -- values -------------------------------------------------------------------------------------------------------


def _build_bid_strategy(entity: NativeEntity, **more: Json) -> dict[str, Json]:
    """Return the whole bidStrategy with changes, because every update needs its type and goal."""
    current = get_value(entity, "/bidStrategy")
    return {**(current if isinstance(current, Mapping) else {}), **more}


def _write_bid(value: Json, entity: NativeEntity, account: Account) -> Mapping[str, Json]:
    if (
        get_text(entity, "/bidStrategy/bidStrategyType") is None
        or get_text(entity, "/bidStrategy/bidStrategyGoal") is None
    ):
        raise invalid_input(
            "fields.bid", "no_current_value", "Apple Ads: the ad group and its campaign show no bidStrategy."
        )
    return {"/bidStrategy": _build_bid_strategy(entity, bid=apple.build_money(account, value))}


def _write_strategy(value: Json, entity: NativeEntity, account: Account) -> Mapping[str, Json]:
    whole = _build_bid_strategy(entity, bidStrategyType=value, bidStrategyGoal=apple.BID_STRATEGIES[value])
    if value == apple.MAX_CONVERSIONS:
        whole.pop("bid", None)
    return {"/bidStrategy": whole}


def _write_budget(value: Json, entity: NativeEntity, account: Account) -> Mapping[str, Json]:
    return {"/dailyBudget": {"value": apple.build_money(account, value)}}


def _write_countries(value: Json, entity: NativeEntity, account: Account) -> Mapping[str, Json]:
    if wrong := find_native_targeting_error({COUNTRY_DIMENSION: {INCLUDE: value}}):
        raise invalid_input("fields.countries", "invalid", f"Apple Ads: {wrong}.")
    targeting, current = get_value(entity, "/targeting"), get_value(entity, f"/targeting/{COUNTRY_DIMENSION}")
    countries = {**(current if isinstance(current, Mapping) else {}), INCLUDE: list(dict.fromkeys(value))}
    return {"/targeting": {**(targeting if isinstance(targeting, Mapping) else {}), COUNTRY_DIMENSION: countries}}


# -- the table ----------------------------------------------------------------------------------------------------

_name_setting = partial(Setting, field="name", native="/name", max_length=apple.MAX_NAME_LENGTH)
_start_setting = partial(Setting, field="startAt", native="/startTime", unit="instant")
_end_setting = partial(Setting, field="endAt", native="/endTime", unit="instant")
_status_setting = partial(Setting, field="status", native="/status", unit="choice", choices=apple.STATUSES)
AT_CREATION_REASON = "it is set at creation"
SETTINGS = (
    _name_setting("campaign"),
    Setting(
        *("campaign", "budget", "/dailyBudget/value/amount", "money"),
        native_names=("dailyBudget",),
        period="daily",
        write=_write_budget,
    ),
    _start_setting("campaign"),
    _end_setting("campaign"),
    Setting(
        *("campaign", "countries", f"/targeting/{COUNTRY_DIMENSION}/{INCLUDE}", "list"),
        write=_write_countries,
    ),
    Setting(
        *("campaign", "bidStrategy", "/bidStrategy/bidStrategyType", "choice"),
        choices=(apple.MANUAL_CPT, apple.MAX_CONVERSIONS),
        write=_write_strategy,
        note=f"{apple.MAX_CONVERSIONS} needs ad groups made for it (automatedKeywordsRequired).",
    ),
    *locked_settings("campaign", "adAccountId billingEvent promotedObjectType promotedObjectId", AT_CREATION_REASON),
    Setting("campaign", "lifetimeBudget", "/lifetimeBudget", lock="Apple does not offer it"),
    _name_setting("adGroup"),
    _status_setting("adGroup"),
    _start_setting("adGroup"),
    _end_setting("adGroup"),
    Setting(
        *("adGroup", "bid", "/bidStrategy/bid/amount", "money"),
        lock=_lock_automatic_bid,
        write=_write_bid,
        note="Keywords with a bid keep their own.",
    ),
    Setting("adGroup", "searchMatch", "/automatedKeywordsOptIn", "flag"),
    Setting("adGroup", "audience", "/targeting", lock="it has several members: change them with an edit's targeting"),
    *locked_settings("adGroup", "campaignId pricingModel automatedKeywordsRequired", AT_CREATION_REASON),
    _name_setting("ad"),
    _status_setting("ad"),
    *locked_settings("ad", "adGroupId creativeId", "create a new ad"),
)
_FIXED_CREATIVE_REASON = "an ad keeps its creative; create a new ad"
EDITS = (
    EditMember("campaign", "targeting.locations", "countries", parse_type=lambda location: "country"),
    # Without locations, the ad group serves in all countries of its campaign.
    EditMember("adGroup", "targeting.locations", parse_type=get_location_type, can_clear=True),
    EditMember("adGroup", "targeting.excludedLocations", parse_type=get_location_type),
    *(EditMember("adGroup", f"targeting.{name}") for name in ("devices", "genders", "ageMin", "ageMax")),
    *(EditMember(kind, "creative", reason=_FIXED_CREATIVE_REASON) for kind in ENTITY_KINDS),
)


# -- what the changes contradict ----------------------------------------------------------------------------------


def check_conflicts(
    account: Account, kind: Kind, before: NativeEntity, changed: Mapping[str, Json], edit: Edit, now: datetime | None
) -> Iterator[Issue]:
    """Check the changed members against each other, the entity and the present."""
    yield from check_start_end(apple.TIME, before, changed, ("startTime", "endTime"), now)
