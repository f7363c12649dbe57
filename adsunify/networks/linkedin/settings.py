"""What an edit may change at LinkedIn, level by level, and why the rest is locked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial

from adsunify.adapter.account import Account
from adsunify.adapter.edits import Edit
from adsunify.adapter.formats import Period
from adsunify.adapter.native_money import parse_native_amount
from adsunify.adapter.network import EditMember, NativeEntity, Setting
from adsunify.adapter.settings import add_common_lock, first_lock, locked_settings
from adsunify.errors import Issue, invalid_input
from adsunify.plans.records import Kind
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_text, get_value

from . import native as linkedin
from .targeting import AGE_MEMBERS, get_urn_type

ACCOUNT_TYPE_MEMBER = "accountType"
"""The member that :func:`reads.fetch_editable_entity` adds to a group: the account's type, on which locks depend."""


# -- locks --------------------------------------------------------------------------------------------------------


def is_default_group(entity: NativeEntity) -> bool:
    """Return whether it is the account's default group."""
    return entity.get("backfilled") is True


def _lock_if_fixed(entity: NativeEntity, now: datetime | None) -> str | None:
    if is_default_group(entity):  # LinkedIn's error CANNOT_UPDATE_BACKFILLED_CAMPAIGN_GROUPS
        return "it is the account's default group"
    # LinkedIn's error ACTION_NOT_ALLOWED_FOR_CANCELLED_STATUS
    return "it is cancelled" if linkedin.CANCELED in (entity.get("status"), entity.get("intendedStatus")) else None


def _lock_enterprise_group(entity: NativeEntity, now: datetime | None) -> str | None:
    is_enterprise = entity.get(ACCOUNT_TYPE_MEMBER) == linkedin.ENTERPRISE
    return "an enterprise account's group lets its name be changed only" if is_enterprise else None


def _lock_if_passed(member: str, entity: NativeEntity, now: datetime | None) -> str | None:
    moment = linkedin.TIME.parse(get_value(entity, f"/runSchedule/{member}"))
    is_passed = now is not None and moment is not None and moment <= now  # LinkedIn's error DATE_IMMUTABLE_WHEN_PASSED
    return "it has passed" if is_passed else None


def get_budget_member(entity: NativeEntity) -> str | None:
    """Return the budget in use, ``dailyBudget`` or ``totalBudget``; None if the entity has no budget."""
    return next((name for name in ("dailyBudget", "totalBudget") if _get_object(entity, f"/{name}")), None)


def _get_budget_period(entity: NativeEntity) -> Period | None:
    name = get_budget_member(entity)
    return None if name is None else "daily" if name == "dailyBudget" else "lifetime"


def _lock_budget(entity: NativeEntity, now: datetime | None) -> str | None:
    return None if get_budget_member(entity) else "it has no budget of its own"


def is_automated(target: Json) -> bool:
    """Return whether LinkedIn chooses the bids for this target."""
    return isinstance(target, str) and target.startswith("MAX_")


def _lock_bid(entity: NativeEntity, now: datetime | None) -> str | None:
    target = entity.get("optimizationTargetType")
    if is_automated(target):
        return "automated delivery: change bidStrategy too"
    is_known = target in linkedin.BID_TARGETS or str(target).startswith(("TARGET_COST_", "CAP_COST_"))
    return None if is_known else f"no bid is known for {str(target)[:60]}"


# -- values -------------------------------------------------------------------------------------------------------


def _write_schedule(member: str, value: Json, entity: NativeEntity, account: Account) -> Mapping[str, Json]:
    others = {name: time for name, time in _get_object(entity, "/runSchedule").items() if name != member}
    return {"/runSchedule": others if value is None else {**others, member: value}}


def _get_object(entity: NativeEntity, at: str) -> Mapping[str, Json]:
    value = get_value(entity, at)
    return value if isinstance(value, Mapping) else {}


def _get_budget_pointer(entity: NativeEntity) -> str:
    return f"/{get_budget_member(entity) or 'dailyBudget'}/amount"


def _write_budget(value: Json, entity: NativeEntity, account: Account) -> Mapping[str, Json]:
    return {f"/{get_budget_member(entity)}": linkedin.build_money_amount(account, value)}


def _write_cap(value: Json, entity: NativeEntity, account: Account) -> Mapping[str, Json]:
    return {"/totalBudget": None if value is None else linkedin.build_money_amount(account, value)}


def _write_bid(value: Json, entity: NativeEntity, account: Account) -> Mapping[str, Json]:
    # If a write lacks one of these three members, LinkedIn resets the member to its default.
    unchanged = {f"/{name}": get_value(entity, f"/{name}") for name in ("costType", "optimizationTargetType")}
    return {"/unitCost": linkedin.build_money_amount(account, value), **unchanged}


def get_objective(entity: NativeEntity) -> str:
    """Return the objective in the singular. The documentation has some objectives in the plural."""
    objective = get_text(entity, "/objectiveType") or ""
    return objective if objective in linkedin.OPTIMIZATION_TARGETS else objective.removesuffix("S")


def _get_optimization_targets(entity: NativeEntity) -> Mapping[str, str]:
    return linkedin.OPTIMIZATION_TARGETS.get(get_objective(entity), {})


def _lock_strategy(entity: NativeEntity, now: datetime | None) -> str | None:
    return None if _get_optimization_targets(entity) else "none is known for this campaign's objective"


def _write_strategy(value: Json, entity: NativeEntity, account: Account) -> Mapping[str, Json]:
    targets = _get_optimization_targets(entity)
    if value not in targets:  # LinkedIn's error INVALID_CAMPAIGN_CONFIGURATION
        message = f"LinkedIn takes these with this campaign's objective: {', '.join(targets)}."
        raise invalid_input("fields.bidStrategy", "choice", message)
    cost = linkedin.build_money_amount(account, "0") if is_automated(value) else get_value(entity, "/unitCost")
    return {"/optimizationTargetType": value, "/costType": targets[value], "/unitCost": cost}


def _date_settings(level: Kind) -> Iterator[Setting]:
    for field, member in (("startAt", "start"), ("endAt", "end")):
        yield Setting(
            level,
            field,
            f"/runSchedule/{member}",
            "instant",
            can_clear=member == "end",
            lock=first_lock(partial(_lock_if_passed, member), _lock_enterprise_group),
            write=partial(_write_schedule, member),
        )


# -- the table ----------------------------------------------------------------------------------------------------

_FIXED_REASON = "it is fixed after creation"
SETTINGS = add_common_lock(
    _lock_if_fixed,
    Setting("campaign", "name", "/name", max_length=linkedin.MAX_GROUP_NAME_LENGTH),
    *_date_settings("campaign"),
    Setting(
        "campaign",
        "spendCap",
        "/totalBudget/amount",
        "money",
        native_names=("totalBudget",),
        can_clear=True,
        lock=_lock_enterprise_group,
        write=_write_cap,
        note="spendCap is the group's total budget; it needs an end and is no campaign's budget.",
    ),
    *locked_settings("campaign", "account objectiveType budgetOptimization", _FIXED_REASON),
    Setting("adGroup", "name", "/name"),
    Setting(
        *("adGroup", "budget", _get_budget_pointer, "money", _get_budget_period),
        native_names=("dailyBudget", "totalBudget"),
        lock=_lock_budget,
        write=_write_budget,
    ),
    *_date_settings("adGroup"),
    Setting(
        "adGroup",
        "bidStrategy",
        "/optimizationTargetType",
        "choice",
        choices=linkedin.BID_STRATEGIES,
        list_choices=_get_optimization_targets,
        lock=_lock_strategy,
        write=_write_strategy,
        note="Leaving automated delivery (MAX_...) needs a bid in the same edit.",
    ),
    Setting(
        "adGroup",
        "bid",
        "/unitCost/amount",
        "money",
        is_zero_unset=True,
        native_names=("unitCost",),
        lock=_lock_bid,
        write=_write_bid,
    ),
    Setting(
        "adGroup",
        "creativeSelection",
        "/creativeSelection",
        "choice",
        choices=(linkedin.OPTIMIZED, linkedin.ROUND_ROBIN),
    ),
    Setting("adGroup", "audienceExpansion", "/audienceExpansionEnabled", "flag"),
    Setting("adGroup", "audienceNetwork", "/offsiteDeliveryEnabled", "flag"),
    Setting(
        "adGroup", "frequencyCap", "/optimizationPreference", lock="it is shown only"
    ),  # unverified: the form of optimizationPreference
    *locked_settings(
        "adGroup", "objectiveType associatedEntity type format locale campaignGroup pacingStrategy", _FIXED_REASON
    ),
    Setting("ad", "name", "/name", max_length=linkedin.MAX_CREATIVE_NAME_LENGTH),
    *locked_settings("ad", "campaign content.reference", "the content belongs to the post; create another ad"),
    *locked_settings("ad", "leadgenCallToAction", "it is shown only"),
)
EDITS = (
    *(
        EditMember("adGroup", f"targeting.{name}", parse_type=get_urn_type)
        for name in ("locations", "excludedLocations", "languages", "interests", "excludedInterests")
    ),
    *(EditMember("adGroup", f"targeting.{name}") for name in ("genders", *AGE_MEMBERS)),
    EditMember("ad", "creative", reason="the content belongs to the post; create another ad"),
)


# -- what the changes contradict ----------------------------------------------------------------------------------


def check_window(
    start: datetime | None, end: datetime | None, paths: tuple[str, str], now: datetime | None
) -> Iterator[Issue]:
    """Check a start and an end against LinkedIn's rules. ``paths``: the paths of start and end in issues."""
    if start is not None and now is not None and start < now:  # LinkedIn's error DATE_TOO_EARLY
        yield Issue(paths[0], "past", "LinkedIn takes no start in the past.")
    if start is None or end is None:
        return
    if end <= start:  # LinkedIn's error START_DATE_AFTER_END_DATE
        yield Issue(paths[1], "order", "The end has to come after the start.")
    elif end - start < linkedin.MIN_RUN_TIME:
        yield Issue(paths[1], "too_short", "LinkedIn wants the end at least 24 hours after the start.")


def check_conflicts(
    account: Account, kind: Kind, before: NativeEntity, changed: Mapping[str, Json], edit: Edit, now: datetime | None
) -> Iterator[Issue]:
    """Check the changed members against each other, the entity and the present."""
    after = {name: value for name, value in {**before, **changed}.items() if value is not None}
    if kind == "adGroup" and linkedin.count_utf8_bytes(after.get("name")) > linkedin.MAX_CAMPAIGN_NAME_BYTES:
        yield Issue("fields.name", "too_long", f"A name has at most {linkedin.MAX_CAMPAIGN_NAME_BYTES} bytes of UTF-8.")
    start, end = (linkedin.TIME.parse(get_value(after, f"/runSchedule/{name}")) for name in ("start", "end"))
    if "runSchedule" in changed:
        paths = ("fields.startAt", "fields.endAt")
        yield from check_window(start, end, paths, now if "startAt" in edit.fields else None)
        if "endAt" in edit.fields and end is not None and now is not None and end <= now:
            yield Issue("fields.endAt", "past", "The end lies in the past.")
    if {"runSchedule", "totalBudget"} & set(changed) and "totalBudget" in after and end is None:
        path = "fields.endAt" if "endAt" in edit.fields else "fields.spendCap"
        yield Issue(path, "required", "A total budget needs an end.")
    if "optimizationTargetType" in changed and "bid" not in edit.fields:
        manual = not is_automated(changed["optimizationTargetType"])
        if manual and is_automated(before.get("optimizationTargetType")):
            yield Issue("fields.bid", "required", "Leaving automated delivery needs a bid; change both together.")
    if kind == "adGroup" and {"dailyBudget", "totalBudget"} & set(changed):
        unit = linkedin.get_money_unit(account)
        daily, total = (
            parse_native_amount(unit, get_value(after, f"/{name}/amount")) for name in ("dailyBudget", "totalBudget")
        )
        if daily is not None and total is not None and total < daily:  # LinkedIn's error CONDITIONAL_VALUE_TOO_LOW
            yield Issue("fields.budget", "out_of_range", "LinkedIn takes no total budget below the daily one.")
