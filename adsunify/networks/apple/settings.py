"""What an edit may change at Apple, level by level, why the rest is locked, and what the changes contradict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial

from adsunify.adapter.edits import misplaced_end
from adsunify.adapter.network import Account, EditMember, Entity, Setting, words
from adsunify.errors import Issue, refused
from adsunify.execution.status_updates import KINDS
from adsunify.plans.records import Kind
from adsunify.values.dates import held
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import read, text

from . import native as apple
from .targeting import COUNTRIES, INCLUDE, kind_of, not_native

# -- locks --------------------------------------------------------------------------------------------------------


def _gone(entity: Entity, now: datetime | None) -> str | None:
    return "it is deleted" if entity.get("deleted") is True else None


def _automatic(entity: Entity, now: datetime | None) -> str | None:
    if read(entity, "/bidStrategy/bidStrategyType") == apple.MAX_CONVERSIONS:
        return f"{apple.MAX_CONVERSIONS} bids by itself"
    return _gone(entity, now)


# -- values -------------------------------------------------------------------------------------------------------


def _strategy(entity: Entity, **more: Json) -> dict[str, Json]:
    """A whole bidStrategy: its pair, which is always sent, the bid that it holds, and changes."""
    held = read(entity, "/bidStrategy")
    return {**(held if isinstance(held, Mapping) else {}), **more}


def _write_bid(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    if text(entity, "/bidStrategy/bidStrategyType") is None or text(entity, "/bidStrategy/bidStrategyGoal") is None:
        raise refused("fields.bid", "no_current_value", "Apple Ads: the ad group and its campaign show no bidStrategy.")
    return {"/bidStrategy": _strategy(entity, bid=apple.money(account, value))}


def _write_strategy(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    whole = _strategy(entity, bidStrategyType=value, bidStrategyGoal=apple.STRATEGIES[value])
    if value == apple.MAX_CONVERSIONS:
        whole.pop("bid", None)
    return {"/bidStrategy": whole}


def _write_budget(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    return {"/dailyBudget": {"value": apple.money(account, value)}}


def _write_time(member: str, path: str, value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    return {f"/{member}": apple.native_time(held(value, path, "Apple Ads", 3))}


def _write_countries(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    if wrong := not_native({COUNTRIES: {INCLUDE: value}}):
        raise refused("fields.countries", "invalid", f"Apple Ads: {wrong}.")
    targeting, held = read(entity, "/targeting"), read(entity, f"/targeting/{COUNTRIES}")
    countries = {**(held if isinstance(held, Mapping) else {}), INCLUDE: list(dict.fromkeys(value))}
    return {"/targeting": {**(targeting if isinstance(targeting, Mapping) else {}), COUNTRIES: countries}}


def _show_time(member: str, entity: Entity, account: Account) -> Json:
    found = apple.moment(entity.get(member))
    return entity.get(member) if found is None else f"{apple.native_time(found)}Z"


def _time(kind: Kind, field: str, member: str) -> Setting:
    show, write = partial(_show_time, member), partial(_write_time, member, f"fields.{field}")
    return Setting(kind, field, f"/{member}", "instant", lock=_gone, read=show, write=write)


# -- the table ----------------------------------------------------------------------------------------------------

_name = partial(Setting, field="name", native="/name", longest=apple.NAME_LENGTH, lock=_gone)
_status = partial(Setting, field="status", native="/status", unit="choice", choices=apple.STATUSES, lock=_gone)
AT_CREATION = "it is set at creation"
ANOTHER_AD = "create a new ad"
SETTINGS = (
    _name("campaign"),
    Setting(
        *("campaign", "budget", "/dailyBudget/value/amount", "money"),
        spellings=("dailyBudget",),
        period="daily",
        lock=_gone,
        write=_write_budget,
    ),
    _time("campaign", "startAt", "startTime"),
    _time("campaign", "endAt", "endTime"),
    Setting(
        *("campaign", "countries", f"/targeting/{COUNTRIES}/{INCLUDE}", "list"), lock=_gone, write=_write_countries
    ),
    Setting(
        *("campaign", "bidStrategy", "/bidStrategy/bidStrategyType", "choice"),
        choices=(apple.MANUAL_CPT, apple.MAX_CONVERSIONS),
        lock=_gone,
        write=_write_strategy,
        note=f"{apple.MAX_CONVERSIONS} needs ad groups made for it (automatedKeywordsRequired).",
    ),
    *(
        Setting("campaign", name, f"/{name}", lock=AT_CREATION)
        for name in words("adAccountId billingEvent promotedObjectType promotedObjectId")
    ),
    Setting("campaign", "lifetimeBudget", "/lifetimeBudget", lock="Apple does not offer it"),
    _name("adGroup"),
    _status("adGroup"),
    _time("adGroup", "startAt", "startTime"),
    _time("adGroup", "endAt", "endTime"),
    Setting(
        *("adGroup", "bid", "/bidStrategy/bid/amount", "money"),
        lock=_automatic,
        write=_write_bid,
        note="Keywords with a bid keep their own.",
    ),
    Setting("adGroup", "searchMatch", "/automatedKeywordsOptIn", "flag", lock=_gone),
    Setting("adGroup", "audience", "/targeting", lock="it has several members: change them with an edit's targeting"),
    *(
        Setting("adGroup", name, f"/{name}", lock=AT_CREATION)
        for name in words("campaignId pricingModel automatedKeywordsRequired")
    ),
    _name("ad"),
    _status("ad"),
    *(Setting("ad", name, f"/{name}", lock=ANOTHER_AD) for name in words("adGroupId creativeId")),
)
_KEEPS = "an ad keeps its creative; create a new ad"
EDITS = (
    EditMember("campaign", "targeting.locations", "countries", type_of=lambda location: "country"),
    EditMember("adGroup", "targeting.locations", type_of=kind_of, clears=True),  # the campaign's countries stay
    EditMember("adGroup", "targeting.excludedLocations", type_of=kind_of),
    *(EditMember("adGroup", f"targeting.{name}") for name in ("devices", "genders", "ageMin", "ageMax")),
    *(EditMember(kind, "creative", reason=_KEEPS) for kind in KINDS),
)


# -- what the changes contradict ----------------------------------------------------------------------------------


def conflicts(before: Mapping[str, Json], changed: Mapping[str, Json], now: datetime | None) -> Iterator[Issue]:
    """What the changed members contradict."""
    after = {**before, **changed}
    start, end = apple.moment(after.get("startTime")), apple.moment(after.get("endTime"))
    moved = {"startAt": "startTime" in changed, "endAt": "endTime" in changed}
    yield from misplaced_end(start, end, moved, now)
