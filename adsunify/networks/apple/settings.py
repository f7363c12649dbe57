"""What an edit may change at Apple, level by level, why the rest is locked, and what the changes contradict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial

from adsunify.adapter.edits import Edit, check_start_end
from adsunify.adapter.network import Account, EditMember, NativeEntity, Setting, split_words
from adsunify.errors import Issue, invalid_input
from adsunify.plans.records import ENTITY_KINDS, Kind
from adsunify.values.dates import parse_instant_exact
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_text, get_value

from . import native as apple
from .targeting import COUNTRY_DIMENSION, INCLUDE, find_native_targeting_error, get_location_type

# -- locks --------------------------------------------------------------------------------------------------------


def _lock_if_deleted(entity: NativeEntity, now: datetime | None) -> str | None:
    return "it is deleted" if entity.get("deleted") is True else None


def _lock_automatic_bid(entity: NativeEntity, now: datetime | None) -> str | None:
    if get_value(entity, "/bidStrategy/bidStrategyType") == apple.MAX_CONVERSIONS:
        return f"{apple.MAX_CONVERSIONS} bids by itself"
    return _lock_if_deleted(entity, now)


# -- values -------------------------------------------------------------------------------------------------------


def _build_bid_strategy(entity: NativeEntity, **more: Json) -> dict[str, Json]:
    """A whole bidStrategy: its pair, which is always sent, the bid that it holds, and changes."""
    held = get_value(entity, "/bidStrategy")
    return {**(held if isinstance(held, Mapping) else {}), **more}


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


def _write_instant(member: str, path: str, value: Json, entity: NativeEntity, account: Account) -> Mapping[str, Json]:
    return {f"/{member}": apple.write_time(parse_instant_exact(value, path, "Apple Ads", 3))}


def _write_countries(value: Json, entity: NativeEntity, account: Account) -> Mapping[str, Json]:
    if wrong := find_native_targeting_error({COUNTRY_DIMENSION: {INCLUDE: value}}):
        raise invalid_input("fields.countries", "invalid", f"Apple Ads: {wrong}.")
    targeting, held = get_value(entity, "/targeting"), get_value(entity, f"/targeting/{COUNTRY_DIMENSION}")
    countries = {**(held if isinstance(held, Mapping) else {}), INCLUDE: list(dict.fromkeys(value))}
    return {"/targeting": {**(targeting if isinstance(targeting, Mapping) else {}), COUNTRY_DIMENSION: countries}}


def _read_instant(member: str, entity: NativeEntity, account: Account) -> Json:
    found = apple.read_time(entity.get(member))
    return entity.get(member) if found is None else f"{apple.write_time(found)}Z"


def _instant_setting(kind: Kind, field: str, member: str) -> Setting:
    show, write = partial(_read_instant, member), partial(_write_instant, member, f"fields.{field}")
    return Setting(kind, field, f"/{member}", "instant", lock=_lock_if_deleted, read=show, write=write)


# -- the table ----------------------------------------------------------------------------------------------------

_name_setting = partial(Setting, field="name", native="/name", max_length=apple.MAX_NAME_LENGTH, lock=_lock_if_deleted)
_status_setting = partial(
    Setting, field="status", native="/status", unit="choice", choices=apple.STATUSES, lock=_lock_if_deleted
)
AT_CREATION_REASON = "it is set at creation"
NEW_AD_REASON = "create a new ad"
SETTINGS = (
    _name_setting("campaign"),
    Setting(
        *("campaign", "budget", "/dailyBudget/value/amount", "money"),
        native_names=("dailyBudget",),
        period="daily",
        lock=_lock_if_deleted,
        write=_write_budget,
    ),
    _instant_setting("campaign", "startAt", "startTime"),
    _instant_setting("campaign", "endAt", "endTime"),
    Setting(
        *("campaign", "countries", f"/targeting/{COUNTRY_DIMENSION}/{INCLUDE}", "list"),
        lock=_lock_if_deleted,
        write=_write_countries,
    ),
    Setting(
        *("campaign", "bidStrategy", "/bidStrategy/bidStrategyType", "choice"),
        choices=(apple.MANUAL_CPT, apple.MAX_CONVERSIONS),
        lock=_lock_if_deleted,
        write=_write_strategy,
        note=f"{apple.MAX_CONVERSIONS} needs ad groups made for it (automatedKeywordsRequired).",
    ),
    *(
        Setting("campaign", name, f"/{name}", lock=AT_CREATION_REASON)
        for name in split_words("adAccountId billingEvent promotedObjectType promotedObjectId")
    ),
    Setting("campaign", "lifetimeBudget", "/lifetimeBudget", lock="Apple does not offer it"),
    _name_setting("adGroup"),
    _status_setting("adGroup"),
    _instant_setting("adGroup", "startAt", "startTime"),
    _instant_setting("adGroup", "endAt", "endTime"),
    Setting(
        *("adGroup", "bid", "/bidStrategy/bid/amount", "money"),
        lock=_lock_automatic_bid,
        write=_write_bid,
        note="Keywords with a bid keep their own.",
    ),
    Setting("adGroup", "searchMatch", "/automatedKeywordsOptIn", "flag", lock=_lock_if_deleted),
    Setting("adGroup", "audience", "/targeting", lock="it has several members: change them with an edit's targeting"),
    *(
        Setting("adGroup", name, f"/{name}", lock=AT_CREATION_REASON)
        for name in split_words("campaignId pricingModel automatedKeywordsRequired")
    ),
    _name_setting("ad"),
    _status_setting("ad"),
    *(Setting("ad", name, f"/{name}", lock=NEW_AD_REASON) for name in split_words("adGroupId creativeId")),
)
_FIXED_CREATIVE_REASON = "an ad keeps its creative; create a new ad"
EDITS = (
    EditMember("campaign", "targeting.locations", "countries", parse_type=lambda location: "country"),
    EditMember(
        "adGroup", "targeting.locations", parse_type=get_location_type, can_clear=True
    ),  # the campaign's countries stay
    EditMember("adGroup", "targeting.excludedLocations", parse_type=get_location_type),
    *(EditMember("adGroup", f"targeting.{name}") for name in ("devices", "genders", "ageMin", "ageMax")),
    *(EditMember(kind, "creative", reason=_FIXED_CREATIVE_REASON) for kind in ENTITY_KINDS),
)


# -- what the changes contradict ----------------------------------------------------------------------------------


def check_conflicts(
    account: Account, kind: Kind, before: NativeEntity, changed: Mapping[str, Json], edit: Edit, now: datetime | None
) -> Iterator[Issue]:
    """What the changed members contradict."""
    after = {**before, **changed}
    start, end = apple.read_time(after.get("startTime")), apple.read_time(after.get("endTime"))
    moved = {"startAt": "startTime" in changed, "endAt": "endTime" in changed}
    yield from check_start_end(start, end, moved, now)
