"""Judges by a read whether an update or a deletion was applied."""

from __future__ import annotations

from attrs import frozen

from adsunify.adapter.account import Account
from adsunify.adapter.hierarchy import ParsedEntity
from adsunify.adapter.network import REMOVED_STATUSES, Level, Network, Setting
from adsunify.adapter.settings import get_display_value
from adsunify.errors import InvalidInput
from adsunify.outcomes.comparison import MemberComparison, compare_members, is_equal
from adsunify.outcomes.planned import PlannedEntity
from adsunify.outcomes.verdicts import VerdictName
from adsunify.plans.records import Change, Plan, Step
from adsunify.values.exact_json import Json

STATUS_ACTIONS = ("status", "activate")


@frozen
class ChangeJudgement:
    """The verdict of a read about an update or a deletion. It has a text about the present values and the reason."""

    verdict: VerdictName
    found: str
    reason: str


def judge_deletion(level: Level, entity: ParsedEntity | None) -> ChangeJudgement:
    """Judge a deletion; ``entity`` is None if the network does not have it any more."""
    if entity is None:
        return ChangeJudgement("applied", "it does not exist", f"The {level.label} is gone.")
    observation = f"its status is {entity.native_status}"
    if entity.status in REMOVED_STATUSES:
        return ChangeJudgement("applied", observation, f"The {level.label} is {entity.status}.")
    if entity.status is None:
        return ChangeJudgement("undecided", observation, "The status that the network shows is not known.")
    return ChangeJudgement("not_applied", observation, f"The {level.label} still exists.")


def judge_update(
    network: Network, account: Account, plan: Plan, step: Step, planned: PlannedEntity, entity: ParsedEntity
) -> ChangeJudgement:
    """Judge an update: the entity has the values after it, the values before it, or neither."""
    assert planned.level is not None
    level = planned.level
    if plan.action in STATUS_ACTIONS:
        return _judge_status(plan, level, entity)
    after = compare_update(network, account, step, planned, entity)
    observation = ", ".join(f"{row.member} {_describe(row)}" for row in after) or "no member that can be compared"
    if after and all(row.result == "same" for row in after):
        return ChangeJudgement("applied", observation, "The values of the plan hold.")
    before = _compare_settings(network, account, step, level, entity, is_before=True)
    if before and all(row.result == "same" for row in before):
        return ChangeJudgement("not_applied", observation, "The values from before the change hold.")
    if all(row.result != "different" for row in after):
        return ChangeJudgement("undecided", observation, "The read does not show all values of the plan.")
    return ChangeJudgement("undecided", observation, "Neither the values of the plan nor those from before it hold.")


def compare_update(
    network: Network, account: Account, step: Step, planned: PlannedEntity, entity: ParsedEntity
) -> list[MemberComparison]:
    """Compare an entity with the values that an update sets: fields of an edit by their names, others natively."""
    assert planned.level is not None
    rows = _compare_settings(network, account, step, planned.level, entity)
    if len(rows) == len(step.changes) and rows:
        return rows
    members = planned.members if step.overlay is None else _nest(step.overlay.changes)
    return [*rows, *compare_members(network, planned.level, members, entity.native)]


def _judge_status(plan: Plan, level: Level, entity: ParsedEntity) -> ChangeJudgement:
    planned = "active" if plan.action == "activate" or plan.risk == "spend" else "paused"
    observation = f"its status is {entity.native_status}"
    if entity.status == planned:
        return ChangeJudgement("applied", observation, f"The {level.label} is {planned}.")
    if entity.status is None:
        return ChangeJudgement("undecided", observation, "The status that the network shows is not known.")
    return ChangeJudgement("not_applied", observation, f"The {level.label} is {entity.status}, not {planned}.")


def _compare_settings(
    network: Network, account: Account, step: Step, level: Level, entity: ParsedEntity, is_before: bool = False
) -> list[MemberComparison]:
    """Compare the fields of an edit with their values after it, or before it."""
    settings = {setting.field: setting for setting in network.settings if setting.level == level.kind}
    return [
        _compare_setting(network, account, settings[change.field], change, entity, is_before)
        for change in step.changes
        if change.field in settings
    ]


def _compare_setting(
    network: Network, account: Account, setting: Setting, change: Change, entity: ParsedEntity, is_before: bool
) -> MemberComparison:
    planned = change.before if is_before else change.after
    try:
        actual = get_display_value(network, account, setting, entity.native)
    except InvalidInput:
        reason = "The account's currency or time zone is not known."
        return MemberComparison(change.field, "unreadable", planned, None, reason)
    return MemberComparison(
        change.field, "same" if is_equal(network, planned, actual) else "different", planned, actual
    )


def _nest(changes: Json) -> dict[str, Json]:
    """Return the object that holds these values at their pointers."""
    whole: dict[str, Json] = {}
    for pointer, value in changes.items():
        *way, last = pointer.removeprefix("/").split("/")
        place = whole
        for part in way:
            place = place.setdefault(part, {})
        place[last] = value
    return whole


def _describe(row: MemberComparison) -> str:
    words = {"same": "as planned", "different": "not as planned", "unreadable": "not readable"}
    return words[row.result]
