"""What an edit may change at Snapchat, level by level, why the rest is locked, and what the changes contradict."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import partial

from adsunify.adapter.edits import misplaced_end
from adsunify.adapter.network import Account, EditMember, Entity, Period, Setting, words
from adsunify.adapter.settings import started
from adsunify.errors import Issue
from adsunify.plans.records import Kind
from adsunify.values.dates import held
from adsunify.values.exact_json import Json

from . import native as snap
from .targeting import PARTS, kind_of

# -- locks --------------------------------------------------------------------------------------------------------

PACING_LEVEL = "campaign_pacing_level"
"""What :func:`reads.editable` puts beside an ad squad: the pacing level of its campaign."""


def period_of(entity: Entity) -> Period | None:
    """The period of an ad squad's budget."""
    if entity.get("lifetime_budget_micro") is not None:
        return "lifetime"
    return "daily" if entity.get("daily_budget_micro") is not None else None


def _budget(entity: Entity) -> str:
    return f"/{period_of(entity) or 'daily'}_budget_micro"


def _not_smart(entity: Entity, now: datetime | None) -> str | None:
    smart = entity.get("pacing_level") == snap.SMART_BUDGETS
    return None if smart else "the budget is set on ad squads; a campaign has dailyCap and spendCap"


def _on_campaign(entity: Entity, now: datetime | None) -> str | None:
    return "the campaign holds the budget (Smart Budgets)" if entity.get(PACING_LEVEL) == snap.SMART_BUDGETS else None


_started = started(snap.moment, "start_time")  # (unverified)


def _automatic(entity: Entity, now: datetime | None) -> str | None:
    # Ads API: a bid together with AUTO_BID is refused.
    automatic = entity.get("bid_strategy") == snap.AUTO_BID
    return f"{snap.AUTO_BID} takes no bid; change bidStrategy too" if automatic else None


# -- values -------------------------------------------------------------------------------------------------------


def _instant(member: str, path: str) -> Callable[[Json, Entity, Account], dict[str, Json]]:
    def write(value: Json, entity: Entity, account: Account) -> dict[str, Json]:
        return {f"/{member}": None if value is None else snap.native_time(held(value, path, "Snapchat"))}

    return write


def _strategy(value: Json, entity: Entity, account: Account) -> dict[str, Json]:
    return {"/bid_strategy": value} | ({"/bid_micro": None} if value == snap.AUTO_BID else {})


# -- the table ----------------------------------------------------------------------------------------------------

FIXED = "Snap does not let it be changed once set"
_cap = partial(Setting, "campaign", unit="money", minimum=snap.LEAST_CAP)
_status = partial(Setting, field="status", native="/status", unit="choice", choices=snap.STATUSES)
_name = partial(Setting, field="name", native="/name", longest=snap.NAME_LENGTH)
_start = partial(
    Setting, field="startAt", native="/start_time", unit="instant", write=_instant("start_time", "fields.startAt")
)
_end = partial(
    Setting, field="endAt", native="/end_time", unit="instant", clears=True, write=_instant("end_time", "fields.endAt")
)
SETTINGS = (
    _name("campaign"),
    _status("campaign"),
    _start("campaign", lock=_started),
    _end("campaign"),
    _cap("budget", "/daily_budget_micro", period="daily", lock=_not_smart),
    _cap(
        *("dailyCap", "/daily_budget_micro"),
        period="daily",
        clears=True,
        note="dailyCap: a cap; under Smart Budgets it is the campaign's budget itself.",
    ),
    _cap("spendCap", "/lifetime_spend_cap_micro", clears=True),
    *(Setting("campaign", name, f"/{name}", lock=FIXED) for name in words("objective_v2_properties buy_model")),
    Setting("campaign", "ad_account_id", "/ad_account_id", lock=FIXED),
    _name("adGroup"),
    _status("adGroup"),
    _start("adGroup"),
    _end("adGroup"),
    Setting(
        *("adGroup", "budget", _budget, "money", period_of),
        spellings=("daily_budget_micro", "lifetime_budget_micro"),
        minimum=snap.LEAST_BUDGET,
        lock=_on_campaign,
        note="A daily budget stays daily, a lifetime budget lifetime.",
    ),
    Setting(
        *("adGroup", "bidStrategy", "/bid_strategy", "choice"),
        choices=snap.STRATEGIES,
        write=_strategy,
        note=f"{snap.AUTO_BID} drops the bid; the others need one.",
    ),
    Setting("adGroup", "bid", "/bid_micro", "money", lock=_automatic),
    Setting("adGroup", "pacing", "/pacing_type", "choice", choices=snap.PACING),
    Setting(
        *("adGroup", "frequencyCap", "/cap_and_exclusion_config"),
        lock="it is an object of several members: change cap_and_exclusion_config with a native update",
    ),
    *(
        Setting("adGroup", name, f"/{name}", lock=FIXED)
        for name in words("optimization_goal type billing_event child_ad_type campaign_id")
    ),
    _name("ad"),
    _status("ad"),
    # That an ad's creative is fixed is (unverified).
    *(
        Setting("ad", name, f"/{name}", lock=f"{FIXED}; make a new ad")
        for name in words("creative_id type ad_squad_id")
    ),
)
EDITS = (
    *(EditMember("adGroup", f"targeting.{name}", type_of=kind_of) for name in ("locations", "excludedLocations")),
    *(EditMember("adGroup", f"targeting.{name}") for name in PARTS if not name.lower().endswith("locations")),
    EditMember("ad", "creative", reason="an ad keeps its creative; make a new ad"),
)


# -- what the changes contradict ----------------------------------------------------------------------------------


def conflicts(
    kind: Kind, before: Mapping[str, Json], changed: Mapping[str, Json], now: datetime | None
) -> Iterator[Issue]:
    """What the changed members contradict."""
    after = {**before, **changed}
    start, end = snap.moment(after.get("start_time")), snap.moment(after.get("end_time"))
    if "end_time" in changed and end is None and period_of(after) == "lifetime":
        yield Issue("fields.endAt", "required", "A lifetime budget needs an end.")
    moved = {"startAt": "start_time" in changed, "endAt": "end_time" in changed}
    yield from misplaced_end(start, end, moved, now)
    if changed.get("bid_strategy", snap.AUTO_BID) != snap.AUTO_BID and after.get("bid_micro") is None:
        yield Issue("fields.bid", "required", "This bid strategy needs a bid; change both together.")
