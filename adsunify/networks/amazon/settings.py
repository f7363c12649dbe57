"""What an edit may change at Amazon, level by level, and why the rest is locked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from decimal import Decimal

from adsunify.adapter.network import Account, EditMember, Entity, Setting
from adsunify.errors import Issue, refused
from adsunify.execution.status_updates import KINDS
from adsunify.plans.records import Kind
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import read, text

from .native import (
    AD_GROUP_NAME,
    ARCHIVED,
    PLACEMENTS,
    SELLER_NAME,
    STRATEGIES,
    VENDOR,
    VENDOR_NAME,
    daily_budget,
    limit_issues,
)

# -- locks --------------------------------------------------------------------------------------------------------


def _unless_archived(entity: Entity, now: datetime | None) -> str | None:
    # ARCHIVED_ENTITY_CANNOT_BE_MODIFIED
    return "it is archived, which is final" if entity.get("state") == ARCHIVED else None


def _before_start(entity: Entity, now: datetime | None) -> str | None:
    # UPDATING_READ_ONLY_START_DATE. Dates in ISO form sort as text.
    start = entity.get("startDate")
    if now is not None and isinstance(start, str) and start <= now.date().isoformat():
        return "the campaign has started"
    return _unless_archived(entity, now)


# -- values -------------------------------------------------------------------------------------------------------


def _write_budget(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    return {"/budget": daily_budget(value)}


def _write_strategy(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    return {"/dynamicBidding": {"strategy": value, "placementBidding": _placements(entity)}}


def _placements(entity: Entity) -> list[Json]:
    found = read(entity, "/dynamicBidding/placementBidding")
    return list(found) if isinstance(found, list) else []


def _placement(name: str) -> Setting:
    """A placement's adjustment; the strategy has to be sent along."""

    def show(entity: Entity, account: Account) -> Json:
        return next((read(one, "/percentage") for one in _placements(entity) if read(one, "/placement") == name), None)

    def write(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
        strategy = text(entity, "/dynamicBidding/strategy")
        if strategy is None:
            raise refused(f"fields.{name}", "required", "The campaign has no bidStrategy yet; set it in the same edit.")
        if isinstance(value, Decimal):
            raise refused(f"fields.{name}", "type", f"{name} is a whole number of percent.")
        others = [one for one in _placements(entity) if read(one, "/placement") != name]
        own = [] if value is None else [{"placement": name, "percentage": value}]
        return {"/dynamicBidding": {"strategy": strategy, "placementBidding": others + own}}

    return Setting(
        "campaign",
        name,
        "/dynamicBidding/placementBidding",
        "number",
        minimum="0",
        maximum="900",
        clears=True,
        lock=_unless_archived,
        read=show,
        write=write,
        note=f"{name}: bids there are raised by so many percent.",
    )


# -- the table ----------------------------------------------------------------------------------------------------

_DAYS_NOTE = (
    "startAt: a date, or a midnight in the profile's time zone. endAt: a date, or an instant (through its day)."
)
_FINAL = "fixed when it is made; delete it and make another"
SETTINGS = (
    Setting("campaign", "name", "/name", longest=SELLER_NAME, lock=_unless_archived),
    Setting(
        "campaign", "budget", "/budget/budget", "money", period="daily", lock=_unless_archived, write=_write_budget
    ),
    Setting("campaign", "startAt", "/startDate", "day", lock=_before_start, note=_DAYS_NOTE),
    Setting("campaign", "endAt", "/endDate", "day", clears=True, lock=_unless_archived),
    Setting(
        "campaign",
        "bidStrategy",
        "/dynamicBidding/strategy",
        "choice",
        choices=STRATEGIES,
        lock=_unless_archived,
        write=_write_strategy,
    ),
    *(_placement(name) for name in PLACEMENTS),
    Setting("campaign", "portfolio", "/portfolioId", clears=True, lock=_unless_archived),
    Setting("campaign", "targetingType", "/targetingType", lock=_FINAL),  # (unverified)
    Setting("adGroup", "name", "/name", longest=AD_GROUP_NAME, lock=_unless_archived),
    Setting(
        "adGroup", "bid", "/defaultBid", "money", lock=_unless_archived, note="Keywords with a bid keep their own."
    ),
    Setting("adGroup", "campaignId", "/campaignId", lock=_FINAL),
    Setting("ad", "sku", "/sku", lock=_FINAL),
    Setting("ad", "asin", "/asin", lock=_FINAL),
    Setting("ad", "campaignId", "/campaignId", lock=_FINAL),
    Setting("ad", "adGroupId", "/adGroupId", lock=_FINAL),
)
_NO_TARGETING = "keywords are a level of their own, and geography is the profile's marketplace"
EDITS = tuple(
    EditMember(kind, part, reason=reason)
    for kind in KINDS
    for part, reason in (("targeting", _NO_TARGETING), ("creative", "the listing is the creative"))
)


# -- what the changes contradict ----------------------------------------------------------------------------------


def conflicts(
    account: Account, kind: Kind, native: Mapping[str, Json], changed: Mapping[str, Json], now: datetime | None
) -> Iterator[Issue]:
    """What spans fields or depends on the account: dates in order, not past, and the limits of the marketplace."""
    vendors_campaign = kind == "campaign" and account.extras.get("accountType") == VENDOR
    if vendors_campaign and len(str(changed.get("name", ""))) > VENDOR_NAME:
        yield Issue("fields.name", "too_long", f"A vendor's campaign name has at most {VENDOR_NAME} characters.")
    today = now.date().isoformat() if now is not None else ""
    start = changed.get("startDate", text(native, "/startDate"))
    end = changed.get("endDate")
    if "startDate" in changed and changed["startDate"] < today:
        yield Issue("fields.startAt", "past", "The campaign cannot start before today in the profile's time zone.")
    if end is not None and end < today:
        yield Issue("fields.endAt", "past", "The campaign cannot end before today in the profile's time zone.")
    kept_end = changed.get("endDate", text(native, "/endDate"))
    if ("startDate" in changed or end is not None) and start and kept_end and kept_end < start:
        path = "fields.endAt" if end is not None else "fields.startAt"
        yield Issue(path, "order", "The campaign cannot end before it starts.")
    for member, at, path in (("budgets", "/budget/budget", "budget"), ("bids", "/defaultBid", "bid")):
        amount = read(changed, at)
        if amount is not None:
            yield from limit_issues(account, member, f"fields.{path}", Decimal(amount))
