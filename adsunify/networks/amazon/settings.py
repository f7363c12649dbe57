"""What an edit may change at Amazon, level by level, and why the rest is locked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from decimal import Decimal

from adsunify.adapter.account import Account
from adsunify.adapter.edits import Edit
from adsunify.adapter.network import EditMember, NativeEntity, Setting
from adsunify.adapter.settings import locked_settings, to_account_time
from adsunify.errors import Issue, invalid_input
from adsunify.plans.records import ENTITY_KINDS, Kind
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_text, get_value

from .native import (
    BID_STRATEGIES,
    MAX_AD_GROUP_NAME_LENGTH,
    MAX_SELLER_NAME_LENGTH,
    MAX_VENDOR_NAME_LENGTH,
    PLACEMENTS,
    VENDOR,
    build_daily_budget,
    check_amount_limits,
)

# -- locks --------------------------------------------------------------------------------------------------------


def _lock_after_start(entity: NativeEntity, now: datetime | None) -> str | None:
    # Amazon's error UPDATING_READ_ONLY_START_DATE. ISO dates can be compared as text.
    start = entity.get("startDate")
    is_started = now is not None and isinstance(start, str) and start <= now.date().isoformat()
    return "the campaign has started" if is_started else None


# -- values -------------------------------------------------------------------------------------------------------


def _write_budget(value: Json, entity: NativeEntity, account: Account) -> Mapping[str, Json]:
    return {"/budget": build_daily_budget(value)}


def _write_strategy(value: Json, entity: NativeEntity, account: Account) -> Mapping[str, Json]:
    return {"/dynamicBidding": {"strategy": value, "placementBidding": _get_placements(entity)}}


def _get_placements(entity: NativeEntity) -> list[Json]:
    placements = get_value(entity, "/dynamicBidding/placementBidding")
    return list(placements) if isinstance(placements, list) else []


def _placement_setting(name: str) -> Setting:
    """Build the setting of a placement's bid adjustment. A write also has to send the strategy."""

    def show(entity: NativeEntity, account: Account) -> Json:
        return next(
            (
                get_value(placement, "/percentage")
                for placement in _get_placements(entity)
                if get_value(placement, "/placement") == name
            ),
            None,
        )

    def write(value: Json, entity: NativeEntity, account: Account) -> Mapping[str, Json]:
        strategy = get_text(entity, "/dynamicBidding/strategy")
        if strategy is None:
            raise invalid_input(
                f"fields.{name}", "required", "The campaign has no bidStrategy yet; set it in the same edit."
            )
        if isinstance(value, Decimal):
            raise invalid_input(f"fields.{name}", "type", f"{name} is a whole number of percent.")
        others = [placement for placement in _get_placements(entity) if get_value(placement, "/placement") != name]
        own = [] if value is None else [{"placement": name, "percentage": value}]
        return {"/dynamicBidding": {"strategy": strategy, "placementBidding": others + own}}

    return Setting(
        "campaign",
        name,
        "/dynamicBidding/placementBidding",
        "number",
        minimum="0",
        maximum="900",
        can_clear=True,
        read=show,
        write=write,
        note=f"{name}: bids there are raised by so many percent.",
    )


# -- the table ----------------------------------------------------------------------------------------------------

_DAYS_NOTE = (
    "startAt: a date, or a midnight in the profile's time zone. endAt: a date, or an instant (through its day)."
)
_FIXED_REASON = "fixed when it is made; delete it and make another"
SETTINGS = (
    Setting("campaign", "name", "/name", max_length=MAX_SELLER_NAME_LENGTH),
    Setting("campaign", "budget", "/budget/budget", "money", period="daily", write=_write_budget),
    Setting("campaign", "startAt", "/startDate", "day", lock=_lock_after_start, note=_DAYS_NOTE),
    Setting("campaign", "endAt", "/endDate", "day", can_clear=True),
    Setting(
        "campaign",
        "bidStrategy",
        "/dynamicBidding/strategy",
        "choice",
        choices=BID_STRATEGIES,
        write=_write_strategy,
    ),
    *(_placement_setting(name) for name in PLACEMENTS),
    Setting("campaign", "portfolio", "/portfolioId", can_clear=True),
    Setting("campaign", "targetingType", "/targetingType", lock=_FIXED_REASON),  # unverified: targetingType is fixed
    Setting("adGroup", "name", "/name", max_length=MAX_AD_GROUP_NAME_LENGTH),
    Setting("adGroup", "bid", "/defaultBid", "money", note="Keywords with a bid keep their own."),
    *locked_settings("adGroup", "campaignId", _FIXED_REASON),
    *locked_settings("ad", "sku asin campaignId adGroupId", _FIXED_REASON),
)
_NO_TARGETING_REASON = "keywords are a level of their own, and geography is the profile's marketplace"
EDITS = tuple(
    EditMember(kind, part, reason=reason)
    for kind in ENTITY_KINDS
    for part, reason in (("targeting", _NO_TARGETING_REASON), ("creative", "the listing is the creative"))
)


# -- what the changes contradict ----------------------------------------------------------------------------------


def check_conflicts(
    account: Account, kind: Kind, before: NativeEntity, changed: Mapping[str, Json], edit: Edit, now: datetime | None
) -> Iterator[Issue]:
    """Check dates (in order and not past) and the limits of the marketplace."""
    vendors_campaign = kind == "campaign" and account.extras.get("accountType") == VENDOR
    if vendors_campaign and len(str(changed.get("name", ""))) > MAX_VENDOR_NAME_LENGTH:
        yield Issue(
            "fields.name", "too_long", f"A vendor's campaign name has at most {MAX_VENDOR_NAME_LENGTH} characters."
        )
    local = to_account_time(account, now)
    today = local.date().isoformat() if local is not None else ""
    start = changed.get("startDate", get_text(before, "/startDate"))
    end = changed.get("endDate")
    if "startDate" in changed and changed["startDate"] < today:
        yield Issue("fields.startAt", "past", "The campaign cannot start before today in the profile's time zone.")
    if end is not None and end < today:
        yield Issue("fields.endAt", "past", "The campaign cannot end before today in the profile's time zone.")
    kept_end = changed.get("endDate", get_text(before, "/endDate"))
    if ("startDate" in changed or end is not None) and start and kept_end and kept_end < start:
        path = "fields.endAt" if end is not None else "fields.startAt"
        yield Issue(path, "order", "The campaign cannot end before it starts.")
    for member, at, path in (("budgets", "/budget/budget", "budget"), ("bids", "/defaultBid", "bid")):
        amount = get_value(changed, at)
        if amount is not None:
            yield from check_amount_limits(account, member, f"fields.{path}", Decimal(amount))
