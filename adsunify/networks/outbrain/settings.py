"""What an edit may change at Outbrain, level by level, why the rest is locked, and what the changes contradict."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Any

from adsunify.adapter.network import Account, EditMember, Entity, Period, Setting, currency_of, is_number
from adsunify.errors import Issue, refused
from adsunify.http.messages import Response
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import read, text

from . import native as outbrain
from .targeting import BROWSERS, LANGUAGE, PARTS, PLATFORMS, SYSTEMS, ids_of, interests_of

# -- locks --------------------------------------------------------------------------------------------------------


def period_of(entity: Entity) -> Period | None:
    """The period of a campaign's budget; a monthly one is neither."""
    kinds: Mapping[str, Period] = {outbrain.DAILY: "daily", outbrain.WHOLE: "lifetime"}
    return kinds.get(text(entity, "/budget/type") or "")


def _shared(entity: Entity, now: datetime | None) -> str | None:
    return "its budget is used by other campaigns" if read(entity, "/budget/shared") is True else None


def _started(entity: Entity, now: datetime | None) -> str | None:
    # Dates in ISO form sort as text.
    start = text(entity, "/budget/startDate")
    if now is not None and start is not None and start <= now.date().isoformat():
        return "the start date has passed"
    return _shared(entity, now)


def _reviewed(entity: Entity, now: datetime | None) -> str | None:
    editable = read(entity, "/approvalStatus/isEditable")
    return None if editable is True else "it has been reviewed, and only a pending link can be edited; make a new one"


# -- values -------------------------------------------------------------------------------------------------------


def _write_objective(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    kind = read(entity, "/campaignOptimization/optimizationType")
    fitting = outbrain.OPTIMIZATIONS[value]
    return {
        "/objective": value,
        "/campaignOptimization": {"optimizationType": kind if kind in fitting else fitting[0]},
    }


def _write_type(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    # Amplify reference: a DAILY budget supports only SPEND_ASAP.
    pacing = {"/budget/pacing": outbrain.SPEND_ASAP} if value == outbrain.DAILY else {}
    return {"/budget/type": value, **pacing}


def _write_end(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    return {"/budget/endDate": value, "/budget/runForever": value is None}


def _write_suffix(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    return {"/suffixTrackingCode": outbrain.EMPTY_SUFFIX if value is None else value}


def _write_prefix(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    before = read(entity, "/prefixTrackingCode")
    kept = dict(before) if isinstance(before, Mapping) else {}
    return {"/prefixTrackingCode": {**kept, "prefix": outbrain.EMPTY_PREFIX if value is None else value}}


def _ids(member: str) -> Callable[[Entity, Account], Json]:
    return lambda entity, account: ids_of(read(entity, f"/targeting/{member}"))


def _write_language(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    if "," in value:
        raise refused("fields.languages", "choice", "Outbrain targets exactly one language.")
    return {f"/targeting/{LANGUAGE}": value}


def _write_interests(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    return {"/targeting/interests": interests_of(value)}


def _list(member: str, clears: bool = True, **more: Any) -> Setting:
    """A list of the targeting. Amplify reference: an empty one clears it."""
    path = f"/targeting/{member}"
    return Setting(
        *("campaign", member, path, "list"),
        clears=clears,
        write=lambda value, entity, account: {path: value or []},
        **more,
    )


# -- the table ----------------------------------------------------------------------------------------------------

_campaign = partial(Setting, "campaign")


def _paces(entity: Entity) -> tuple[str, ...]:
    # Amplify reference: a DAILY budget supports only SPEND_ASAP.
    return (outbrain.SPEND_ASAP,) if read(entity, "/budget/type") == outbrain.DAILY else outbrain.PACING


_budget = partial(Setting, "campaign", lock=_shared)
_content = partial(Setting, "ad", lock=_reviewed)
_NOT_OFFERED = "Outbrain does not target by it"
SETTINGS = (
    _campaign("name", "/name", longest=outbrain.NAME_LENGTH),
    _campaign(
        *("objective", "/objective", "choice"),
        choices=tuple(outbrain.OPTIMIZATIONS),
        write=_write_objective,
        note="objective: its type of optimization follows, where the one in use does not fit.",
    ),
    _campaign("bid", "/cpc", "money", note="bid: the maximum cost per click, under every objective."),
    _budget(*("budgetType", "/budget/type", "choice"), choices=outbrain.BUDGET_TYPES, write=_write_type),
    _budget("budget", "/budget/amount", "money", period_of),
    _budget("pacing", "/budget/pacing", "choice", choices=outbrain.PACING, offered=_paces),
    _budget("dailyTarget", "/budget/dailyTarget", "money"),
    _campaign(
        *("startAt", "/budget/startDate", "day"),
        lock=_started,
        note="startAt: a date, or a midnight in US Eastern time. endAt: a date, or an instant (through its day).",
    ),
    _budget("endAt", "/budget/endDate", "day", clears=True, write=_write_end),
    _list("locations", clears=False, read=_ids("locations")),  # without any it would serve everywhere
    _list("excludedLocations", read=_ids("excludedLocations")),
    _campaign("languages", f"/targeting/{LANGUAGE}", write=_write_language, note="languages: exactly one."),
    _campaign("interests", "/targeting/interests", "list", write=_write_interests),
    _campaign("platforms", "/targeting/platform", "list", choices=PLATFORMS),
    _list("browsers", choices=BROWSERS),
    _list("operatingSystems", choices=SYSTEMS),
    _campaign("ages", "/targeting/ages", lock=_NOT_OFFERED),
    _campaign("genders", "/targeting/genders", lock=_NOT_OFFERED),
    _campaign("trackingSuffix", "/suffixTrackingCode", clears=True, write=_write_suffix),
    _campaign("trackingPrefix", "/prefixTrackingCode/prefix", clears=True, write=_write_prefix),
    Setting(
        *("ad", "status", "/enabled", "choice"),
        choices=("active", "paused"),
        read=lambda entity, account: outbrain.STATES.get(outbrain.native_status(entity) or ""),
        write=lambda value, entity, account: {"/enabled": value == "active"},
    ),
    _content("headline", "/text"),
    _content("brandName", "/sectionName"),
    _content("description", "/description"),
    _content("image", "/imageMetadata/url", write=lambda value, entity, account: {"/imageMetadata": {"url": value}}),
    _content("logo", "/logoMetadata/url", write=lambda value, entity, account: {"/logoMetadata": {"url": value}}),
    Setting("ad", "url", "/url", lock="a link keeps its address; make a new one"),
    Setting("ad", "bid", "/cpc", lock="the bid is the campaign's; links have cpcAdjustment, to be changed natively"),
)
_CONTENT = {"headline": "headline", "body": "description", "imageUrl": "image"}
EDITS = (
    *(EditMember("campaign", f"targeting.{name}", {"devices": "platforms"}.get(name, name)) for name in PARTS),
    *(EditMember("campaign", f"targeting.{name}", reason=_NOT_OFFERED) for name in ("ageMin", "ageMax", "genders")),
    *(EditMember("ad", f"creative.{name}", field) for name, field in _CONTENT.items()),
)


# -- what the changes contradict ----------------------------------------------------------------------------------


def conflicts(
    account: Account,
    after: Mapping[str, Json],
    native: Mapping[str, Json],
    fields: Mapping[str, Json],
    told: Response | None,
    now: datetime | None,
) -> Iterator[Issue]:
    """What the changed members (``native``) of a campaign and its budget contradict; ``told``: the currencies."""
    budget: Mapping[str, Json] = after.get("budget") or {}
    if any(pointer.startswith("/budget/") for pointer in native):
        yield from _dates(budget, native, now)
        yield from _pacing(budget, fields)
    yield from _amounts(account, after, native, told)


def _dates(budget: Mapping[str, Json], native: Mapping[str, Json], now: datetime | None) -> Iterator[Issue]:
    """What the changed dates of a budget contradict."""
    start, end = text(budget, "/startDate"), text(budget, "/endDate")
    present = "" if now is None else now.date().isoformat()
    changed = [name for name in ("startDate", "endDate") if f"/budget/{name}" in native]
    if "startDate" in changed and start is not None and start < present:
        yield Issue("fields.startAt", "past", "The campaign cannot start before today in US Eastern time.")
    if "endDate" in changed and end is not None and end < present:
        yield Issue("fields.endAt", "past", "The campaign cannot end before today in US Eastern time.")
    if changed and start is not None and end is not None and end < start:
        yield Issue(
            "fields.endAt" if "endDate" in changed else "fields.startAt", "order", "The end lies before the start."
        )


def _pacing(budget: Mapping[str, Json], fields: Mapping[str, Json]) -> Iterator[Issue]:
    """What type, pacing, target and end of a budget contradict."""
    kind, pacing = budget.get("type"), budget.get("pacing")
    at = "fields.pacing" if "pacing" in fields else "fields.budgetType"
    if kind == outbrain.DAILY and pacing != outbrain.SPEND_ASAP:
        yield Issue(at, "conflict", f"A {kind} budget is only paced {outbrain.SPEND_ASAP}.")
    if pacing == outbrain.DAILY_TARGET and budget.get("dailyTarget") is None:
        yield Issue("fields.dailyTarget", "required", f"The pacing {pacing} needs it.")
    if "dailyTarget" in fields and pacing != outbrain.DAILY_TARGET:
        yield Issue("fields.dailyTarget", "conflict", f"Only the pacing {outbrain.DAILY_TARGET} takes one.")
    if kind == outbrain.WHOLE and budget.get("endDate") is None:
        yield Issue("fields.endAt", "required", f"A {kind} budget needs an end.")


def _amounts(
    account: Account, after: Mapping[str, Json], native: Mapping[str, Json], told: Response | None
) -> Iterator[Issue]:
    """What floors and ceilings say of the changed amounts."""
    currency, budget = currency_of(account), after.get("budget") or {}
    row = outbrain.currency_row(told, currency)
    if any(pointer.startswith("/budget/") for pointer in native):
        at = "fields.budget" if "/budget/amount" in native else f"fields.{_first(native)}"
        floors = {**outbrain.floors_of(row), **(outbrain.LEAST_USD if currency == "USD" else {})}
        yield from outbrain.too_small(floors, budget, at, currency)
        amount, most = (budget.get(name) for name in ("amount", "maximumAmount"))
        if is_number(amount) and is_number(most) and Decimal(amount or 0) > Decimal(most or 0):
            yield Issue(at, "too_large", f"Outbrain takes a budget of at most {most} {currency} here.")
    cost = native.get("/cpc")
    if cost is not None:
        least = after.get("minimumCpc")
        bounds = {**(row or {}), **({"minimumCpc": least} if is_number(least) else {})}
        yield from outbrain.cost_issues(bounds, Decimal(cost), "fields.bid", currency)


def _first(native: Mapping[str, Json]) -> str:
    names = {"type": "budgetType", "startDate": "startAt", "endDate": "endAt", "runForever": "endAt"}
    member = next(pointer for pointer in native if pointer.startswith("/budget/")).removeprefix("/budget/")
    return names.get(member, member)
