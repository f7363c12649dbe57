"""What an edit may change at Outbrain, level by level, why the rest is locked, and what the changes contradict."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Any

from adsunify.adapter.account import Account, require_currency
from adsunify.adapter.edits import Edit
from adsunify.adapter.formats import Period
from adsunify.adapter.native_money import is_number
from adsunify.adapter.network import EditMember, NativeEntity, Setting
from adsunify.adapter.settings import to_account_time
from adsunify.errors import Issue, invalid_input
from adsunify.http.messages import Response
from adsunify.plans.records import Kind
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_text, get_value

from . import native as outbrain
from .targeting import (
    BROWSERS,
    EDITABLE_TARGETING,
    LANGUAGE_MEMBER,
    OPERATING_SYSTEMS,
    PLATFORMS,
    build_interests_member,
    get_ids,
)

# -- locks --------------------------------------------------------------------------------------------------------


def get_budget_period(entity: NativeEntity) -> Period | None:
    """Return the period of a campaign's budget; None for a monthly one."""
    kinds: Mapping[str, Period] = {outbrain.DAILY: "daily", outbrain.LIFETIME: "lifetime"}
    return kinds.get(get_text(entity, "/budget/type") or "")


def _lock_shared_budget(entity: NativeEntity, now: datetime | None) -> str | None:
    return "its budget is used by other campaigns" if get_value(entity, "/budget/shared") is True else None


def _lock_after_start(entity: NativeEntity, now: datetime | None) -> str | None:
    # ISO dates can be compared as text.
    start = get_text(entity, "/budget/startDate")
    if now is not None and start is not None and start <= now.date().isoformat():
        return "the start date has passed"
    return _lock_shared_budget(entity, now)


def _lock_reviewed(entity: NativeEntity, now: datetime | None) -> str | None:
    editable = get_value(entity, "/approvalStatus/isEditable")
    return None if editable is True else "it has been reviewed, and only a pending link can be edited; make a new one"


# -- values -------------------------------------------------------------------------------------------------------


def _write_objective(value: Json, entity: NativeEntity, account: Account) -> Mapping[str, Json]:
    kind = get_value(entity, "/campaignOptimization/optimizationType")
    optimizations = outbrain.OPTIMIZATIONS[value]
    return {
        "/objective": value,
        "/campaignOptimization": {"optimizationType": kind if kind in optimizations else optimizations[0]},
    }


def _write_type(value: Json, entity: NativeEntity, account: Account) -> Mapping[str, Json]:
    # Amplify reference: a DAILY budget supports only SPEND_ASAP.
    pacing = {"/budget/pacing": outbrain.SPEND_ASAP} if value == outbrain.DAILY else {}
    return {"/budget/type": value, **pacing}


def _write_end(value: Json, entity: NativeEntity, account: Account) -> Mapping[str, Json]:
    return {"/budget/endDate": value, "/budget/runForever": value is None}


def _write_suffix(value: Json, entity: NativeEntity, account: Account) -> Mapping[str, Json]:
    return {"/suffixTrackingCode": outbrain.EMPTY_SUFFIX if value is None else value}


def _write_prefix(value: Json, entity: NativeEntity, account: Account) -> Mapping[str, Json]:
    before = get_value(entity, "/prefixTrackingCode")
    tracking = dict(before) if isinstance(before, Mapping) else {}
    return {"/prefixTrackingCode": {**tracking, "prefix": outbrain.EMPTY_PREFIX if value is None else value}}


def _ids_reader(member: str) -> Callable[[NativeEntity, Account], Json]:
    return lambda entity, account: get_ids(get_value(entity, f"/targeting/{member}"))


def _write_language(value: Json, entity: NativeEntity, account: Account) -> Mapping[str, Json]:
    if "," in value:
        raise invalid_input("fields.languages", "choice", "Outbrain targets exactly one language.")
    return {f"/targeting/{LANGUAGE_MEMBER}": value}


def _write_interests(value: Json, entity: NativeEntity, account: Account) -> Mapping[str, Json]:
    return {"/targeting/interests": build_interests_member(value)}


def _list_setting(member: str, can_clear: bool = True, **more: Any) -> Setting:
    """Build the setting of a list in the targeting. Amplify reference: an empty list clears the member."""
    path = f"/targeting/{member}"
    return Setting(
        *("campaign", member, path, "list"),
        can_clear=can_clear,
        write=lambda value, entity, account: {path: value or []},
        **more,
    )


def _tracking_setting(
    field: str, pointer: str, empty: str, write: Callable[[Json, NativeEntity, Account], Mapping[str, Json]]
) -> Setting:
    """Build the setting of a tracking code. The native word ``empty`` clears the code, and is shown as no code."""

    def read(entity: NativeEntity, account: Account) -> Json:
        value = get_value(entity, pointer)
        return None if value == empty else value

    return Setting("campaign", field, pointer, can_clear=True, read=read, write=write)


# -- the table ----------------------------------------------------------------------------------------------------

_campaign_setting = partial(Setting, "campaign")


def _get_pacing_choices(entity: NativeEntity) -> tuple[str, ...]:
    # Amplify reference: a DAILY budget supports only SPEND_ASAP.
    return (outbrain.SPEND_ASAP,) if get_value(entity, "/budget/type") == outbrain.DAILY else outbrain.PACING_TYPES


_budget_setting = partial(Setting, "campaign", lock=_lock_shared_budget)
_content_setting = partial(Setting, "ad", lock=_lock_reviewed)
_NOT_OFFERED_REASON = "Outbrain does not target by it"
SETTINGS = (
    _campaign_setting("name", "/name", max_length=outbrain.MAX_NAME_LENGTH),
    _campaign_setting(
        *("objective", "/objective", "choice"),
        choices=tuple(outbrain.OPTIMIZATIONS),
        write=_write_objective,
        note="objective: its type of optimization follows, where the one in use does not fit.",
    ),
    _campaign_setting("bid", "/cpc", "money", note="bid: the maximum cost per click, under every objective."),
    _budget_setting(*("budgetType", "/budget/type", "choice"), choices=outbrain.BUDGET_TYPES, write=_write_type),
    _budget_setting(
        *("budget", "/budget/amount", "money", get_budget_period),
        counted_period=lambda entity: get_budget_period(entity) or "daily",  # a monthly budget may be spent on one day
    ),
    _budget_setting(
        "pacing", "/budget/pacing", "choice", choices=outbrain.PACING_TYPES, list_choices=_get_pacing_choices
    ),
    _budget_setting("dailyTarget", "/budget/dailyTarget", "money"),
    _campaign_setting(
        *("startAt", "/budget/startDate", "day"),
        lock=_lock_after_start,
        note="startAt: a date, or a midnight in US Eastern time. endAt: a date, or an instant (through its day).",
    ),
    _budget_setting("endAt", "/budget/endDate", "day", can_clear=True, write=_write_end),
    _list_setting("locations", can_clear=False, read=_ids_reader("locations")),  # without any, ads serve everywhere
    _list_setting("excludedLocations", read=_ids_reader("excludedLocations")),
    _campaign_setting(
        "languages", f"/targeting/{LANGUAGE_MEMBER}", write=_write_language, note="languages: exactly one."
    ),
    _campaign_setting("interests", "/targeting/interests", "list", write=_write_interests),
    _campaign_setting("platforms", "/targeting/platform", "list", choices=PLATFORMS),
    _list_setting("browsers", choices=BROWSERS),
    _list_setting("operatingSystems", choices=OPERATING_SYSTEMS),
    _campaign_setting("ages", "/targeting/ages", lock=_NOT_OFFERED_REASON),
    _campaign_setting("genders", "/targeting/genders", lock=_NOT_OFFERED_REASON),
    _tracking_setting("trackingSuffix", "/suffixTrackingCode", outbrain.EMPTY_SUFFIX, _write_suffix),
    _tracking_setting("trackingPrefix", "/prefixTrackingCode/prefix", outbrain.EMPTY_PREFIX, _write_prefix),
    Setting(
        *("ad", "status", "/enabled", "choice"),
        choices=("active", "paused"),
        read=lambda entity, account: outbrain.UNIFIED_STATUSES.get(outbrain.parse_native_status(entity) or ""),
        write=lambda value, entity, account: {"/enabled": value == "active"},
    ),
    _content_setting("headline", "/text"),
    _content_setting("brandName", "/sectionName"),
    _content_setting("description", "/description"),
    _content_setting(
        "image", "/imageMetadata/url", write=lambda value, entity, account: {"/imageMetadata": {"url": value}}
    ),
    _content_setting(
        "logo", "/logoMetadata/url", write=lambda value, entity, account: {"/logoMetadata": {"url": value}}
    ),
    Setting("ad", "url", "/url", lock="a link keeps its address; make a new one"),
    Setting("ad", "bid", "/cpc", lock="the bid is the campaign's; links have cpcAdjustment, to be changed natively"),
)
_CONTENT_MEMBERS = {"headline": "headline", "body": "description", "imageUrl": "image"}
EDITS = (
    *(
        EditMember("campaign", f"targeting.{name}", {"devices": "platforms"}.get(name, name))
        for name in EDITABLE_TARGETING
    ),
    *(
        EditMember("campaign", f"targeting.{name}", reason=_NOT_OFFERED_REASON)
        for name in ("ageMin", "ageMax", "genders")
    ),
    *(EditMember("ad", f"creative.{name}", field) for name, field in _CONTENT_MEMBERS.items()),
)


# -- what the changes contradict ----------------------------------------------------------------------------------


def check_conflicts(
    account: Account, kind: Kind, before: NativeEntity, changed: Mapping[str, Json], edit: Edit, now: datetime | None
) -> Iterator[Issue]:
    """Check dates and pacing of a campaign's changed budget. :func:`check_changed_amounts` checks amounts."""
    if "budget" in changed:
        budget = _merge_budget(before, changed)
        yield from _check_changed_dates(budget, changed["budget"], to_account_time(account, now))
        yield from _check_changed_pacing(budget, edit)


def _merge_budget(before: NativeEntity, changed: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the budget after the change."""
    return {**(before.get("budget") or {}), **changed.get("budget", {})}


def _check_changed_dates(
    budget: Mapping[str, Json], members: Mapping[str, Json], now: datetime | None
) -> Iterator[Issue]:
    """Check the dates of a budget. ``members``: the changed members."""
    start, end = get_text(budget, "/startDate"), get_text(budget, "/endDate")
    present = "" if now is None else now.date().isoformat()
    changed = [name for name in ("startDate", "endDate") if name in members]
    if "startDate" in changed and start is not None and start < present:
        yield Issue("fields.startAt", "past", "The campaign cannot start before today in US Eastern time.")
    if "endDate" in changed and end is not None and end < present:
        yield Issue("fields.endAt", "past", "The campaign cannot end before today in US Eastern time.")
    if changed and start is not None and end is not None and end < start:
        yield Issue(
            "fields.endAt" if "endDate" in changed else "fields.startAt", "order", "The end lies before the start."
        )


def _check_changed_pacing(budget: Mapping[str, Json], edit: Edit) -> Iterator[Issue]:
    """Check type, pacing, target and end of a budget against each other."""
    kind, pacing = budget.get("type"), budget.get("pacing")
    at = "fields.pacing" if "pacing" in edit.fields else "fields.budgetType"
    if kind == outbrain.DAILY and pacing != outbrain.SPEND_ASAP:
        yield Issue(at, "conflict", f"A {kind} budget is only paced {outbrain.SPEND_ASAP}.")
    if pacing == outbrain.DAILY_TARGET and budget.get("dailyTarget") is None:
        yield Issue("fields.dailyTarget", "required", f"The pacing {pacing} needs it.")
    if "dailyTarget" in edit.fields and pacing != outbrain.DAILY_TARGET:
        yield Issue("fields.dailyTarget", "conflict", f"Only the pacing {outbrain.DAILY_TARGET} takes one.")
    if kind == outbrain.LIFETIME and budget.get("endDate") is None:
        yield Issue("fields.endAt", "required", f"A {kind} budget needs an end.")


def check_changed_amounts(
    account: Account, before: NativeEntity, changed: Mapping[str, Json], currencies: Response | None
) -> Iterator[Issue]:
    """Check the changed amounts against minimums and maximums. ``currencies``: Outbrain's currencies, if known."""
    currency = require_currency(account)
    row = outbrain.find_currency_row(currencies, currency)
    if "budget" in changed:
        budget = _merge_budget(before, changed)
        at = "fields.budget" if "amount" in changed["budget"] else f"fields.{_get_first_field(changed['budget'])}"
        floors = {**outbrain.parse_budget_floors(row), **(outbrain.MIN_BUDGETS_USD if currency == "USD" else {})}
        yield from outbrain.check_budget_floor(floors, budget, at, currency)
        amount, most = (budget.get(name) for name in ("amount", "maximumAmount"))
        if is_number(amount) and is_number(most) and Decimal(amount or 0) > Decimal(most or 0):
            yield Issue(at, "too_large", f"Outbrain takes a budget of at most {most} {currency} here.")
    cost = changed.get("cpc")
    if cost is not None:
        least = before.get("minimumCpc")
        bounds = {**(row or {}), **({"minimumCpc": least} if is_number(least) else {})}
        yield from outbrain.check_click_cost(bounds, Decimal(cost), "fields.bid", currency)


def _get_first_field(members: Mapping[str, Json]) -> str:
    names = {"type": "budgetType", "startDate": "startAt", "endDate": "endAt", "runForever": "endAt"}
    member = next(iter(members))
    return names.get(member, member)
