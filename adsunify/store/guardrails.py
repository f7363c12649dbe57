"""Guardrails: the rules of a workspace, the usage of their windows, frozen credentials, and budgets as they were read.

:mod:`.windows` binds the windows in the commits of an execution. Each commit that changes a rule or a frozen credential
raises the ``guardrails_version`` of the workspace. It locks the workspace last.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from attrs import evolve, frozen
from sqlalchemy import Connection, and_, bindparam, case, delete, func, insert, select, update

from adsunify.actor import Actor
from adsunify.errors import Conflict, NotFound
from adsunify.guardrails.rules import Guardrail, RuleSet
from adsunify.guardrails.windows import SpendBinding, WindowBreach, build_breach_facts, to_hour
from adsunify.ledger import SYSTEM_AUTHOR, LedgerEntry
from adsunify.plans.exposure import BudgetChange

from . import upsert
from .clock import Clock, new_id
from .ledger import record_entry
from .operations import record_rule_event
from .schema import budgets, frozen_credentials, guardrail_hours, guardrail_uses, guardrails, workspaces
from .statement import Query, Statement, is_one_of, roll_back_to_savepoint
from .windows import BEFORE_CLAIM, LATER_HOUR, USED_NOW, recompute_windows, take_from_windows


@frozen
class RuleUse:
    """The amounts of one operation in a window. ``hour`` is the hour since 1970 (UTC) in which it was claimed."""

    operation_id: str
    hour: int
    daily: int
    lifetime: int
    is_unknown: bool


@frozen
class Usage:
    """The present usage of a window.

    Attributes:
        hours: the length of the window; None if the rule has no window.
        daily: the sum of the daily exposure.
        lifetime: the sum of the lifetime exposure.
        uses: the operations that it counts, newest first, at most :data:`MAX_LISTED_USES`.
    """

    hours: int | None
    daily: int
    lifetime: int
    uses: tuple[RuleUse, ...] = ()


@frozen
class FrozenCredential:
    """A credential that a rule has frozen.

    ``operation_id`` is None if the breach was found before an operation was prepared.
    """

    credential: str
    rule_id: str
    operation_id: str | None
    created_at: int


BudgetKey = tuple[str, str, str]
"""The kind of the entity, its native id, and the field."""

MAX_LISTED_USES = 200
FREEZABLE_ACTORS = ("key", "agent")
"""The kinds of actors whose credential can be frozen. All browsers of a workspace share one credential."""

# -- statements ---------------------------------------------------------------------------------------------------

_RULE = guardrails.c.id == bindparam("the_id")
_OF_WORKSPACE = guardrails.c.workspace_id == bindparam("of_workspace")


_INSERT = Statement(insert(guardrails))
_UPDATE = Statement(
    update(guardrails)
    .where(_RULE, _OF_WORKSPACE, guardrails.c.version == bindparam("old_version"))
    .values(
        {
            name: bindparam(f"new_{name}", type_=guardrails.c[name].type)
            for name in ("version", "body", "window_hours", "limit_daily", "limit_lifetime")
        }
    )
    .returning(guardrails.c.id)
)
_LOCK_ONE = Statement(select(guardrails).where(_RULE, _OF_WORKSPACE).with_for_update())
_GET = Statement(select(guardrails).where(_RULE, _OF_WORKSPACE))
_LIST = Statement(
    select(workspaces.c.guardrails_version, guardrails.c.id, guardrails.c.version, guardrails.c.body)
    .join(guardrails, guardrails.c.workspace_id == workspaces.c.id, isouter=True)
    .where(workspaces.c.id == bindparam("of_workspace"))
    .order_by(guardrails.c.id)
)
_VERSION = Statement(select(workspaces.c.guardrails_version).where(workspaces.c.id == bindparam("of_workspace")))
_DELETE = [
    Statement(delete(table).where(column == bindparam("the_id")))
    for table, column in (
        (guardrail_uses, guardrail_uses.c.rule_id),
        (guardrail_hours, guardrail_hours.c.rule_id),
        (guardrails, guardrails.c.id),
    )
]
_RAISE_VERSION = Statement(
    update(workspaces)
    .where(workspaces.c.id == bindparam("of_workspace"))
    .values(guardrails_version=workspaces.c.guardrails_version + 1)
)

_READ_WINDOWS = Statement(
    lambda dialect: select(guardrails.c.id, guardrails.c.window_hours, *USED_NOW).where(
        _OF_WORKSPACE, is_one_of(dialect, guardrails.c.id, "rule_ids"), guardrails.c.window_hours.is_not(None)
    )
)
_READ_WINDOW = Statement(select(guardrails.c.window_hours, LATER_HOUR.label("hour"), *USED_NOW).where(_RULE))
_LIST_USES = Statement(
    select(guardrail_uses)
    .where(guardrail_uses.c.rule_id == bindparam("the_id"), guardrail_uses.c.hour >= bindparam("first_hour"))
    .order_by(guardrail_uses.c.hour.desc(), guardrail_uses.c.chain_id.desc())
    .limit(bindparam("at_most"))
)

_IS_CREDENTIAL = and_(
    frozen_credentials.c.workspace_id == bindparam("of_workspace"),
    frozen_credentials.c.credential == bindparam("the_credential"),
)
_FREEZE = upsert.insert_or_ignore(frozen_credentials, ("workspace_id", "credential"))
_LIST_FROZEN = Statement(
    select(frozen_credentials)
    .where(frozen_credentials.c.workspace_id == bindparam("of_workspace"))
    .order_by(frozen_credentials.c.created_at, frozen_credentials.c.credential)
)
_FIND_FREEZE = Statement(select(frozen_credentials).where(_IS_CREDENTIAL))
_LIFT = Statement(delete(frozen_credentials).where(_IS_CREDENTIAL).returning(frozen_credentials))

_RECORD_BUDGET = upsert.insert_or_combine(
    budgets,
    ("account_id", "kind", "native_id", "field", "hour"),
    lambda new: {
        "lowest": case((new.lowest < budgets.c.lowest, new.lowest), else_=budgets.c.lowest),
        "highest": case((new.highest > budgets.c.highest, new.highest), else_=budgets.c.highest),
    },
)
_FIND_LOWEST = Statement(
    lambda dialect: (
        select(budgets.c.kind, budgets.c.native_id, budgets.c.field, func.min(budgets.c.lowest).label("lowest"))
        .where(
            budgets.c.account_id == bindparam("of_account"),
            is_one_of(dialect, budgets.c.kind, "kinds"),
            is_one_of(dialect, budgets.c.native_id, "native_ids"),
            budgets.c.hour >= bindparam("from_hour"),
        )
        .group_by(budgets.c.kind, budgets.c.native_id, budgets.c.field)
    )
)
_FIND_LARGEST = Statement(
    select(func.max(budgets.c.highest).label("highest")).where(budgets.c.account_id == bindparam("of_account"))
)


# -- rules --------------------------------------------------------------------------------------------------------


def create_guardrail(connection: Connection, actor: Actor, guardrail: Guardrail, clock: Clock) -> Guardrail:
    """Store a new rule of the actor's workspace, and return it with its id. Its window is empty."""
    at = clock.now()
    created = evolve(guardrail, id=new_id(at), workspace_id=actor.workspace_id, version=1)
    row = {
        "id": created.id,
        "workspace_id": created.workspace_id,
        "hour": to_hour(at),
        "used_daily": 0,
        "used_lifetime": 0,
    }
    _INSERT.fetch_all(connection, row | _guardrail_columns(created))
    raise_rules_version(connection, actor.workspace_id)
    _record_change(connection, actor, None, created, clock)
    return created


def update_guardrail(connection: Connection, actor: Actor, guardrail: Guardrail, clock: Clock) -> Guardrail:
    """Replace a rule, and return it with its new version.

    Its window keeps its counts. If the currency changes, the window starts empty, because amounts are not converted.

    Args:
        connection: the connection.
        actor: the actor that changes the rule.
        guardrail: the new rule, with the version that it replaces.
        clock: the clock.

    Raises:
        NotFound: the workspace has no such rule.
        Conflict: the rule was changed after it was read.
    """
    key = {"the_id": guardrail.id, "of_workspace": actor.workspace_id}
    row = _LOCK_ONE.fetch_one_or_none(connection, key)
    before = _require_guardrail(row)
    changed = evolve(guardrail, workspace_id=actor.workspace_id, version=guardrail.version + 1)
    values = {f"new_{name}": value for name, value in _guardrail_columns(changed).items()}
    if not _UPDATE.fetch_all(connection, key | values | {"old_version": guardrail.version}):
        raise Conflict("The guardrail was changed in the meantime. Read it again.", code="guardrail_changed")
    if changed.currency != before.currency:
        for statement in _DELETE[:-1]:
            statement.fetch_all(connection, key)
    recompute_windows(connection, [changed.id], to_hour(clock.now()))
    raise_rules_version(connection, actor.workspace_id)
    _record_change(connection, actor, before, changed, clock)
    return changed


def delete_guardrail(connection: Connection, actor: Actor, guardrail_id: str, clock: Clock) -> Guardrail:
    """Delete a rule with the counts of its window, and return it. Credentials that it froze stay frozen.

    Raises:
        NotFound: the workspace has no such rule.
    """
    key = {"the_id": guardrail_id, "of_workspace": actor.workspace_id}
    deleted = _require_guardrail(_LOCK_ONE.fetch_one_or_none(connection, key))
    for statement in _DELETE:
        statement.fetch_all(connection, key)
    raise_rules_version(connection, actor.workspace_id)
    _record_change(connection, actor, deleted, None, clock)
    return deleted


def _record_change(
    connection: Connection, actor: Actor, before: Guardrail | None, after: Guardrail | None, clock: Clock
) -> None:
    """Record a change of a rule in the ledger."""
    rule = after or before
    assert rule is not None
    states = [None if state is None else {"version": state.version, **state.to_json()} for state in (before, after)]
    entry = LedgerEntry(actor.workspace_id, actor, "guardrail", rule.id, before=states[0], after=states[1])
    record_entry(connection, entry, clock)


def get_guardrail(connection: Connection, workspace_id: str, guardrail_id: str) -> Guardrail:
    """Return a rule. Raises NotFound if the workspace has no such rule."""
    key = {"the_id": guardrail_id, "of_workspace": workspace_id}
    return _require_guardrail(_GET.fetch_one_or_none(connection, key))


def list_guardrails(connection: Connection, workspace_id: str) -> list[Guardrail]:
    """Return the rules of a workspace, oldest first."""
    return list(load_rules(connection, workspace_id).guardrails)


def find_rules(workspace_id: str) -> Query[RuleSet]:
    """Query the rules of a workspace. One statement reads both, so the version matches the rules.

    The query raises NotFound if the workspace does not exist.
    """

    def make_result(rows: Sequence[Any]) -> RuleSet:
        if not rows:
            raise NotFound("The workspace does not exist.")
        guardrails_ = (
            Guardrail.from_json(row.id, workspace_id, row.version, row.body) for row in rows if row.id is not None
        )
        return RuleSet(rows[0].guardrails_version, tuple(guardrails_))

    return Query(_LIST, {"of_workspace": workspace_id}, make_result)


def find_rules_version(workspace_id: str) -> Query[int]:
    """Query the version of a workspace's rules; 0 if it never had a rule. The query raises NotFound."""

    def make_result(rows: Sequence[Any]) -> int:
        if not rows:
            raise NotFound("The workspace does not exist.")
        version: int = rows[0].guardrails_version
        return version

    return Query(_VERSION, {"of_workspace": workspace_id}, make_result)


def load_rules(connection: Connection, workspace_id: str) -> RuleSet:
    """Return the result of :func:`find_rules`."""
    return find_rules(workspace_id).run(connection)


def _guardrail_columns(guardrail: Guardrail) -> dict[str, Any]:
    """Return the columns that a change of a rule sets."""
    window = guardrail.per_window
    return {
        "version": guardrail.version,
        "body": guardrail.to_json(),
        "window_hours": None if window is None else window.hours,
        "limit_daily": None if window is None else window.limits.daily,
        "limit_lifetime": None if window is None else window.limits.lifetime,
    }


def _require_guardrail(row: Any) -> Guardrail:
    if row is None:
        raise NotFound("This workspace has no such guardrail.")
    return Guardrail.from_json(row.id, row.workspace_id, row.version, row.body)


def raise_rules_version(connection: Connection, workspace_id: str) -> None:
    """Raise the version of the workspace's rules, so that all evaluations of its operations are outdated."""
    _RAISE_VERSION.fetch_all(connection, {"of_workspace": workspace_id})


# -- windows ------------------------------------------------------------------------------------------------------


def read_windows(connection: Connection, workspace_id: str, rule_ids: Iterable[str], clock: Clock) -> dict[str, Usage]:
    """Return the present usage of the windows of these rules, by rule id, without the operations.

    Rules without a window, and rules of other workspaces, are left out.
    """
    key = {"of_workspace": workspace_id, "rule_ids": [*rule_ids], "now_hour": to_hour(clock.now())}
    return {
        row.id: Usage(row.window_hours, row.daily, row.lifetime) for row in _READ_WINDOWS.fetch_all(connection, key)
    }


def read_usage(connection: Connection, rule_id: str, clock: Clock) -> Usage:
    """Return the present usage of the window of a rule. The caller must check that the rule is of its workspace.

    Raises:
        NotFound: the rule does not exist.
    """
    row = _READ_WINDOW.fetch_one_or_none(connection, {"the_id": rule_id, "now_hour": to_hour(clock.now())})
    if row is None:
        raise NotFound("The guardrail does not exist.")
    if row.window_hours is None:
        return Usage(None, 0, 0)
    values = {"the_id": rule_id, "first_hour": row.hour - row.window_hours, "at_most": MAX_LISTED_USES}
    uses = (
        RuleUse(use.chain_id, use.hour, use.daily, use.lifetime, use.unknown)
        for use in _LIST_USES.fetch_all(connection, values)
    )
    return Usage(row.window_hours, row.daily, row.lifetime, tuple(uses))


def bind_windows(
    connection: Connection, actor: Actor, operation_id: str, binding: SpendBinding, now: int, clock: Clock
) -> WindowBreach | Literal["rules_changed"] | None:
    """Add the exposure of a claimed operation to the windows of its rules, or undo the claim.

    If a window has no room, the event ``rule.triggered`` is recorded. A rule with
    ``on_breach`` "freeze" also freezes the credential of a key or an agent.

    Args:
        connection: the connection. The savepoint :data:`.windows.BEFORE_CLAIM` is set in its transaction.
        actor: the actor that executes the operation.
        operation_id: the operation.
        binding: the amounts to add to the windows.
        now: the time of the claim in milliseconds.
        clock: the clock.

    Returns:
        None if all windows have room. Otherwise the claim is undone, and the result is the window with the least room,
        or ``rules_changed``.
    """
    refusal = take_from_windows(connection, actor.workspace_id, binding, to_hour(now))
    if refusal is None:
        return None
    if refusal == "rules_changed":
        roll_back_to_savepoint(connection, BEFORE_CLAIM)
        return refusal
    rule = get_guardrail(connection, actor.workspace_id, refusal.rule_id)  # before the lock of the rule is released
    roll_back_to_savepoint(connection, BEFORE_CLAIM)
    record_rule_event(connection, operation_id, clock, build_breach_facts(rule, refusal))
    if rule.on_breach == "freeze" and actor.kind in FREEZABLE_ACTORS:
        freeze_credential(connection, actor.workspace_id, actor.credential, rule.id, operation_id, clock)
    return refusal


# -- frozen credentials -------------------------------------------------------------------------------------------


def freeze_credential(
    connection: Connection, workspace_id: str, credential: str, rule_id: str, operation_id: str | None, clock: Clock
) -> None:
    """Freeze a credential (of :data:`FREEZABLE_ACTORS`) until an admin lifts it.

    If it is frozen already, nothing changes.
    """
    row = {
        "workspace_id": workspace_id,
        "credential": credential,
        "rule_id": rule_id,
        "operation_id": operation_id,
        "created_at": clock.now(),
    }
    if _FREEZE.fetch_all(connection, row):
        raise_rules_version(connection, workspace_id)
        after = {"guardrailId": rule_id, "operationId": operation_id}
        record_entry(connection, LedgerEntry(workspace_id, SYSTEM_AUTHOR, "freeze", credential, after=after), clock)


def list_frozen(connection: Connection, workspace_id: str) -> list[FrozenCredential]:
    """Return the frozen credentials of a workspace, oldest first."""
    return [_freeze_from_row(row) for row in _LIST_FROZEN.fetch_all(connection, {"of_workspace": workspace_id})]


def find_freeze(connection: Connection, workspace_id: str, credential: str) -> FrozenCredential | None:
    """Return the freeze of a credential; None if it is not frozen."""
    key = {"of_workspace": workspace_id, "the_credential": credential}
    row = _FIND_FREEZE.fetch_one_or_none(connection, key)
    return None if row is None else _freeze_from_row(row)


def lift_freeze(connection: Connection, actor: Actor, credential: str, clock: Clock) -> None:
    """Lift the freeze of a credential of the actor's workspace.

    Raises:
        NotFound: the credential is not frozen.
    """
    lifted = _LIFT.fetch_one_or_none(connection, {"of_workspace": actor.workspace_id, "the_credential": credential})
    if lifted is None:
        raise NotFound("This credential is not frozen.")
    raise_rules_version(connection, actor.workspace_id)
    before = {"guardrailId": lifted.rule_id, "operationId": lifted.operation_id}
    record_entry(connection, LedgerEntry(actor.workspace_id, actor, "lift", credential, before=before), clock)


def _freeze_from_row(row: Any) -> FrozenCredential:
    return FrozenCredential(row.credential, row.rule_id, row.operation_id, row.created_at)


# -- budgets ------------------------------------------------------------------------------------------------------


def record_budgets(connection: Connection, account_id: str, changes: Iterable[BudgetChange], at: int) -> None:
    """Record the budgets of an account as they were read: the value ``before`` of each change, if it has one.

    Args:
        connection: the connection.
        account_id: the account.
        changes: the changes, or the budgets that a plan does not change.
        at: when they were read, in milliseconds since 1970.
    """
    rows = {
        (change.kind, change.entity_id, change.field): {
            "account_id": account_id,
            "kind": change.kind,
            "native_id": change.entity_id,
            "field": change.field,
            "hour": to_hour(at),
            "lowest": change.before,
            "highest": change.before,
        }
        for change in changes
        if change.before is not None
    }
    _RECORD_BUDGET.execute_each(connection, [rows[key] for key in sorted(rows)])  # this order prevents deadlocks


def find_lowest_budgets(
    connection: Connection, account_id: str, changes: Iterable[BudgetChange], since: int
) -> dict[BudgetKey, int]:
    """Return the lowest recorded value of each budget since a time, in milliseconds since 1970.

    The whole hour of that time is included. Budgets without a record are left out.
    """
    keys = {(change.kind, change.entity_id, change.field) for change in changes}
    values = {
        "of_account": account_id,
        "kinds": sorted({kind for kind, _, _ in keys}),
        "native_ids": sorted({native_id for _, native_id, _ in keys}),
        "from_hour": to_hour(since),
    }
    rows = _FIND_LOWEST.fetch_all(connection, values) if keys else []
    return {key: row.lowest for row in rows if (key := (row.kind, row.native_id, row.field)) in keys}


def find_largest_budget(account_id: str) -> Query[int | None]:
    """Query the largest budget that was ever recorded for an account; None if there is no record."""
    return Query(_FIND_LARGEST, {"of_account": account_id}, lambda rows: rows[0].highest)


def repair_future_budgets(connection: Connection, hour: int) -> None:
    """Move the budgets recorded in hours after ``hour`` into that hour. A wrong clock has written them."""
    future = connection.execute(select(budgets).where(budgets.c.hour > hour)).all()
    connection.execute(delete(budgets).where(budgets.c.hour > hour))
    _RECORD_BUDGET.execute_each(connection, [{**row._mapping, "hour": hour} for row in future])
