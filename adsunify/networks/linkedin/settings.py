"""What LinkedIn lets be changed, level by level, and what locks it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial

from adsunify.adapter.edits import Edit
from adsunify.adapter.network import Account, EditMember, Entity, Period, Setting, counted, words
from adsunify.errors import Issue, refused
from adsunify.plans.records import Kind
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import read, text

from . import native as linkedin
from .targeting import AGE_PARTS, urn_type

ACCOUNT_TYPE = "accountType"
"""What :func:`reads.editable` adds to a group: the account's type, on which locks depend."""


# -- locks --------------------------------------------------------------------------------------------------------


def default_group(entity: Entity) -> bool:
    """Whether it is the account's default group."""
    return entity.get("backfilled") is True


def _fixed(entity: Entity, now: datetime | None) -> str | None:
    if default_group(entity):  # CANNOT_UPDATE_BACKFILLED_CAMPAIGN_GROUPS
        return "it is the account's default group"
    # ACTION_NOT_ALLOWED_FOR_CANCELLED_STATUS
    return "it is cancelled" if linkedin.CANCELED in (entity.get("status"), entity.get("intendedStatus")) else None


def _not_enterprise(entity: Entity, now: datetime | None) -> str | None:
    if entity.get(ACCOUNT_TYPE) == linkedin.ENTERPRISE:
        return "an enterprise account's group lets its name be changed only"
    return _fixed(entity, now)


def _passed(member: str, entity: Entity, now: datetime | None) -> str | None:
    found = linkedin.moment(read(entity, f"/runSchedule/{member}"))
    if now is not None and found is not None and found <= now:  # DATE_IMMUTABLE_WHEN_PASSED
        return "it has passed"
    return _not_enterprise(entity, now)


def budget_of(entity: Entity) -> str | None:
    """The budget in use: ``dailyBudget`` or ``totalBudget``; None where it has none of its own."""
    return next((name for name in ("dailyBudget", "totalBudget") if _object(entity, f"/{name}")), None)


def _period(entity: Entity) -> Period | None:
    name = budget_of(entity)
    return None if name is None else "daily" if name == "dailyBudget" else "lifetime"


def _no_budget(entity: Entity, now: datetime | None) -> str | None:
    return _fixed(entity, now) if budget_of(entity) else "it has no budget of its own"


def automated(target: Json) -> bool:
    """Whether LinkedIn bids by itself with this target."""
    return isinstance(target, str) and target.startswith("MAX_")


def _no_bid(entity: Entity, now: datetime | None) -> str | None:
    target = entity.get("optimizationTargetType")
    if automated(target):
        return "automated delivery: change bidStrategy too"
    if target not in linkedin.BIDDING and not str(target).startswith(("TARGET_COST_", "CAP_COST_")):
        return f"no bid is known for {str(target)[:60]}"
    return _fixed(entity, now)


# -- values -------------------------------------------------------------------------------------------------------


def _show_time(member: str, entity: Entity, account: Account) -> Json:
    return linkedin.shown_time(read(entity, f"/runSchedule/{member}"))


def _write_time(member: str, field: str, value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    schedule = {name: one for name, one in _object(entity, "/runSchedule").items() if name != member}
    if value is not None:
        schedule[member] = linkedin.native_time(value, f"fields.{field}")
    return {"/runSchedule": schedule}


def _object(entity: Entity, at: str) -> Mapping[str, Json]:
    found = read(entity, at)
    return found if isinstance(found, Mapping) else {}


def _budget(entity: Entity) -> str:
    return f"/{budget_of(entity) or 'dailyBudget'}/amount"


def _write_budget(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    return {f"/{budget_of(entity)}": linkedin.money(account, value)}


def _write_cap(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    return {"/totalBudget": None if value is None else linkedin.money(account, value)}


def _write_bid(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    # Always the three together: left out, each goes back to a default.
    kept = {f"/{name}": read(entity, f"/{name}") for name in ("costType", "optimizationTargetType")}
    return {"/unitCost": linkedin.money(account, value), **kept}


def objective_of(entity: Entity) -> str:
    """The objective; the documentation's plural words mean the singular ones."""
    said = text(entity, "/objectiveType") or ""
    return said if said in linkedin.TARGETS else said.removesuffix("S")


def _targets(entity: Entity) -> Mapping[str, str]:
    return linkedin.TARGETS.get(objective_of(entity), {})


def _no_strategy(entity: Entity, now: datetime | None) -> str | None:
    return _fixed(entity, now) if _targets(entity) else "none is known for this campaign's objective"


def _write_strategy(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    targets = _targets(entity)
    if value not in targets:  # INVALID_CAMPAIGN_CONFIGURATION
        message = f"LinkedIn takes these with this campaign's objective: {', '.join(targets)}."
        raise refused("fields.bidStrategy", "choice", message)
    cost = linkedin.money(account, "0") if automated(value) else read(entity, "/unitCost")
    return {"/optimizationTargetType": value, "/costType": targets[value], "/unitCost": cost}


def _dates(level: Kind) -> Iterator[Setting]:
    for field, member in (("startAt", "start"), ("endAt", "end")):
        yield Setting(
            level,
            field,
            f"/runSchedule/{member}",
            "instant",
            clears=member == "end",
            lock=partial(_passed, member),
            read=partial(_show_time, member),
            write=partial(_write_time, member, field),
        )


# -- the table ----------------------------------------------------------------------------------------------------


def _locked(level: Kind, names: str, reason: str) -> Iterator[Setting]:
    return (Setting(level, name, f"/{name.replace('.', '/')}", lock=reason) for name in words(names))


_FIXED = "it is fixed after creation"
SETTINGS = (
    Setting("campaign", "name", "/name", longest=linkedin.GROUP_NAME, lock=_fixed),
    *_dates("campaign"),
    Setting(
        "campaign",
        "spendCap",
        "/totalBudget/amount",
        "money",
        spellings=("totalBudget",),
        clears=True,
        lock=_not_enterprise,
        write=_write_cap,
        note="spendCap is the group's total budget; it needs an end and is no campaign's budget.",
    ),
    *_locked("campaign", "account objectiveType budgetOptimization", _FIXED),
    Setting("adGroup", "name", "/name", lock=_fixed),
    Setting(
        *("adGroup", "budget", _budget, "money", _period),
        spellings=("dailyBudget", "totalBudget"),
        lock=_no_budget,
        write=_write_budget,
    ),
    *_dates("adGroup"),
    Setting(
        "adGroup",
        "bidStrategy",
        "/optimizationTargetType",
        "choice",
        choices=linkedin.STRATEGIES,
        offered=_targets,
        lock=_no_strategy,
        write=_write_strategy,
        note="Leaving automated delivery (MAX_...) needs a bid in the same edit.",
    ),
    Setting(
        "adGroup",
        "bid",
        "/unitCost/amount",
        "money",
        zero=True,
        spellings=("unitCost",),
        lock=_no_bid,
        write=_write_bid,
    ),
    Setting(
        "adGroup",
        "creativeSelection",
        "/creativeSelection",
        "choice",
        choices=(linkedin.OPTIMIZED, linkedin.ROUND_ROBIN),
        lock=_fixed,
    ),
    Setting("adGroup", "audienceExpansion", "/audienceExpansionEnabled", "flag", lock=_fixed),
    Setting("adGroup", "audienceNetwork", "/offsiteDeliveryEnabled", "flag", lock=_fixed),
    Setting("adGroup", "frequencyCap", "/optimizationPreference", lock="it is shown only"),  # its shape (unverified)
    *_locked("adGroup", "objectiveType associatedEntity type format locale campaignGroup pacingStrategy", _FIXED),
    Setting("ad", "name", "/name", longest=linkedin.CREATIVE_NAME, lock=_fixed),
    *_locked("ad", "campaign content.reference", "the content belongs to the post; create another ad"),
    Setting("ad", "leadgenCallToAction", "/leadgenCallToAction", lock="it is shown only"),
)
EDITS = (
    *(
        EditMember("adGroup", f"targeting.{name}", type_of=urn_type)
        for name in ("locations", "excludedLocations", "languages", "interests", "excludedInterests")
    ),
    *(EditMember("adGroup", f"targeting.{name}") for name in ("genders", *AGE_PARTS)),
    EditMember("ad", "creative", reason="the content belongs to the post; create another ad"),
)


# -- what the changes contradict ----------------------------------------------------------------------------------


def window_issues(
    start: datetime | None, end: datetime | None, paths: tuple[str, str], now: datetime | None
) -> Iterator[Issue]:
    """What LinkedIn would not take of a start and an end; ``paths`` are theirs."""
    if start is not None and now is not None and start < now:  # DATE_TOO_EARLY
        yield Issue(paths[0], "past", "LinkedIn takes no start in the past.")
    if start is None or end is None:
        return
    if end <= start:  # START_DATE_AFTER_END_DATE
        yield Issue(paths[1], "order", "The end has to come after the start.")
    elif end - start < linkedin.SHORTEST:
        yield Issue(paths[1], "too_short", "LinkedIn wants the end at least 24 hours after the start.")


def conflicts(
    account: Account,
    kind: Kind,
    before: Mapping[str, Json],
    changed: Mapping[str, Json],
    edit: Edit,
    now: datetime | None,
) -> Iterator[Issue]:
    """What the changed members contradict."""
    after = {name: value for name, value in {**before, **changed}.items() if value is not None}
    if kind == "adGroup" and linkedin.bytes_of(after.get("name")) > linkedin.CAMPAIGN_NAME_BYTES:
        yield Issue("fields.name", "too_long", f"A name has at most {linkedin.CAMPAIGN_NAME_BYTES} bytes of UTF-8.")
    start, end = (linkedin.moment(read(after, f"/runSchedule/{name}")) for name in ("start", "end"))
    if "runSchedule" in changed:
        paths = ("fields.startAt", "fields.endAt")
        yield from window_issues(start, end, paths, now if "startAt" in edit.fields else None)
        if "endAt" in edit.fields and end is not None and now is not None and end <= now:
            yield Issue("fields.endAt", "past", "The end lies in the past.")
    if {"runSchedule", "totalBudget"} & set(changed) and "totalBudget" in after and end is None:
        path = "fields.endAt" if "endAt" in edit.fields else "fields.spendCap"
        yield Issue(path, "required", "A total budget needs an end.")
    if "optimizationTargetType" in changed and "bid" not in edit.fields:
        manual = not automated(changed["optimizationTargetType"])
        if manual and automated(before.get("optimizationTargetType")):
            yield Issue("fields.bid", "required", "Leaving automated delivery needs a bid; change both together.")
    if kind == "adGroup" and {"dailyBudget", "totalBudget"} & set(changed):
        unit = linkedin.unit(account)
        daily, total = (counted(unit, read(after, f"/{name}/amount")) for name in ("dailyBudget", "totalBudget"))
        if daily is not None and total is not None and total < daily:  # CONDITIONAL_VALUE_TOO_LOW
            yield Issue("fields.budget", "out_of_range", "LinkedIn takes no total budget below the daily one.")
