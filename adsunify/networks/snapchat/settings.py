"""What an edit may change at Snapchat, level by level, why the rest is locked, and what the changes contradict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial

from adsunify.adapter.account import Account
from adsunify.adapter.edits import Edit, check_start_end
from adsunify.adapter.formats import Period
from adsunify.adapter.network import EditMember, NativeEntity, Setting
from adsunify.adapter.settings import locked_settings, start_lock, targeting_members
from adsunify.errors import Issue
from adsunify.plans.records import Kind
from adsunify.values.exact_json import Json

from . import native as snap
from .targeting import EDITABLE_TARGETING, get_location_type

# -- locks --------------------------------------------------------------------------------------------------------

PACING_LEVEL_MEMBER = "campaign_pacing_level"
"""The member that :func:`reads.fetch_editable_entity` adds to an ad squad: the pacing level of its campaign."""


def get_budget_period(entity: NativeEntity) -> Period | None:
    """Return the period of an ad squad's budget."""
    if entity.get("lifetime_budget_micro") is not None:
        return "lifetime"
    return "daily" if entity.get("daily_budget_micro") is not None else None


def _get_budget_pointer(entity: NativeEntity) -> str:
    return f"/{get_budget_period(entity) or 'daily'}_budget_micro"


def _lock_campaign_budget(entity: NativeEntity, now: datetime | None) -> str | None:
    smart = entity.get("pacing_level") == snap.SMART_BUDGETS
    return None if smart else "the budget is set on ad squads; a campaign has dailyCap and spendCap"


def _lock_ad_squad_budget(entity: NativeEntity, now: datetime | None) -> str | None:
    return (
        "the campaign holds the budget (Smart Budgets)"
        if entity.get(PACING_LEVEL_MEMBER) == snap.SMART_BUDGETS
        else None
    )


_lock_after_start = start_lock(snap.TIME, "start_time")  # unverified: a start that has passed is fixed


def _lock_automatic_bid(entity: NativeEntity, now: datetime | None) -> str | None:
    # Ads API: Snap refuses a bid with AUTO_BID.
    automatic = entity.get("bid_strategy") == snap.AUTO_BID
    return f"{snap.AUTO_BID} takes no bid; change bidStrategy too" if automatic else None


# -- values -------------------------------------------------------------------------------------------------------


def _write_strategy(value: Json, entity: NativeEntity, account: Account) -> dict[str, Json]:
    return {"/bid_strategy": value} | ({"/bid_micro": None} if value == snap.AUTO_BID else {})


# -- the table ----------------------------------------------------------------------------------------------------

FIXED_REASON = "Snap does not let it be changed once set"
_cap_setting = partial(Setting, "campaign", unit="money", minimum=snap.MIN_CAP)
_status_setting = partial(Setting, field="status", native="/status", unit="choice", choices=snap.STATUSES)
_name_setting = partial(Setting, field="name", native="/name", max_length=snap.MAX_NAME_LENGTH)
_start_setting = partial(Setting, field="startAt", native="/start_time", unit="instant")
_end_setting = partial(Setting, field="endAt", native="/end_time", unit="instant", can_clear=True)
SETTINGS = (
    _name_setting("campaign"),
    _status_setting("campaign"),
    _start_setting("campaign", lock=_lock_after_start),
    _end_setting("campaign"),
    _cap_setting(
        *("budget", "/daily_budget_micro"),
        period="daily",
        counted_period=lambda entity: "daily" if entity.get("pacing_level") == snap.SMART_BUDGETS else None,
        lock=_lock_campaign_budget,
    ),
    _cap_setting(
        *("dailyCap", "/daily_budget_micro"),
        period="daily",
        can_clear=True,
        note="dailyCap: a cap; under Smart Budgets it is the campaign's budget itself.",
    ),
    _cap_setting("spendCap", "/lifetime_spend_cap_micro", can_clear=True),
    *locked_settings("campaign", "objective_v2_properties buy_model ad_account_id", FIXED_REASON),
    _name_setting("adGroup"),
    _status_setting("adGroup"),
    _start_setting("adGroup"),
    _end_setting("adGroup"),
    Setting(
        *("adGroup", "budget", _get_budget_pointer, "money", get_budget_period),
        native_names=("daily_budget_micro", "lifetime_budget_micro"),
        minimum=snap.MIN_BUDGET,
        lock=_lock_ad_squad_budget,
        note="A daily budget stays daily, a lifetime budget lifetime.",
    ),
    Setting(
        *("adGroup", "bidStrategy", "/bid_strategy", "choice"),
        choices=snap.BID_STRATEGIES,
        write=_write_strategy,
        note=f"{snap.AUTO_BID} drops the bid; the others need one.",
    ),
    Setting("adGroup", "bid", "/bid_micro", "money", lock=_lock_automatic_bid),
    Setting("adGroup", "pacing", "/pacing_type", "choice", choices=snap.PACING_TYPES),
    Setting(
        *("adGroup", "frequencyCap", "/cap_and_exclusion_config"),
        lock="it is an object of several members: change cap_and_exclusion_config with a native update",
    ),
    *locked_settings("adGroup", "optimization_goal type billing_event child_ad_type campaign_id", FIXED_REASON),
    _name_setting("ad"),
    _status_setting("ad"),
    # unverified: the creative of an ad is fixed.
    *locked_settings("ad", "creative_id type ad_squad_id", f"{FIXED_REASON}; make a new ad"),
)
EDITS = (
    *targeting_members("adGroup", EDITABLE_TARGETING, get_location_type),
    EditMember("ad", "creative", reason="an ad keeps its creative; make a new ad"),
)


# -- what the changes contradict ----------------------------------------------------------------------------------


def check_conflicts(
    account: Account, kind: Kind, before: NativeEntity, changed: Mapping[str, Json], edit: Edit, now: datetime | None
) -> Iterator[Issue]:
    """Check the changed members against each other, the entity and the present."""
    after = {**before, **changed}
    yield from check_start_end(snap.TIME, before, changed, ("start_time", "end_time"), now)
    if "end_time" in changed and after.get("end_time") is None and get_budget_period(after) == "lifetime":
        yield Issue("fields.endAt", "required", "A lifetime budget needs an end.")
    if changed.get("bid_strategy", snap.AUTO_BID) != snap.AUTO_BID and after.get("bid_micro") is None:
        yield Issue("fields.bid", "required", "This bid strategy needs a bid; change both together.")
