"""Binds the windows of rules in the commits of an execution.

Claims add amounts to them. An execution that ends without a write releases its amounts. The sum of a window is a column
of its rule, so a conditional UPDATE of the rule's row enforces the limit: of two claims that wait for one row, the
second one sees the amounts that the first one added. If the condition summed other rows, both claims would pass.

Times are whole hours since 1970 (UTC). Amounts are micro-units. All writers lock in one order, which prevents
deadlocks: the operation, the rules by id, the workspace.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Integer,
    and_,
    bindparam,
    case,
    cast,
    delete,
    exists,
    func,
    insert,
    or_,
    select,
    update,
)

from adsunify.guardrails.windows import MAX_WINDOW_TOTAL, SpendBinding, WindowBreach, WindowUse

from . import upsert
from .attempts import StepAttempt, list_attempts_by_operation
from .schema import guardrail_hours, guardrail_uses, guardrails, operations
from .schema.operations import CHAIN_ID
from .statement import Statement, is_one_of
from .verdicts import list_verdicts

BEFORE_CLAIM = "before_claim"
"""The savepoint that a claim sets before it adds to windows."""

# -- statements ---------------------------------------------------------------------------------------------------

CURRENT_HOUR: Any = bindparam("now_hour", type_=Integer)


def _sum_hours(column: ColumnElement[int], hour: ColumnElement[int]) -> ColumnElement[int]:
    """Return the sum of a column of ``guardrail_hours`` over the window that ends with an hour."""
    total = (
        select(cast(func.coalesce(func.sum(column), 0), BigInteger))
        .where(guardrail_hours.c.rule_id == guardrails.c.id, guardrail_hours.c.hour >= hour - guardrails.c.window_hours)
        .correlate(guardrails)
    )
    return total.scalar_subquery()


LATER_HOUR = case((guardrails.c.hour < CURRENT_HOUR, CURRENT_HOUR), else_=guardrails.c.hour)
"""The hour of a rule never goes back, even if the clock of this machine is behind another one's."""
USED_NOW = [
    case(
        (guardrails.c.hour < CURRENT_HOUR, _sum_hours(guardrail_hours.c[name], CURRENT_HOUR)),
        else_=guardrails.c[f"used_{name}"],
    ).label(name)
    for name in ("daily", "lifetime")
]
"""The daily and lifetime sums of the window of a rule in the current hour."""

_IS_COUNTED = exists().where(
    guardrail_uses.c.rule_id == guardrails.c.id, guardrail_uses.c.chain_id == bindparam("of_chain")
)
_LOCK = Statement(
    lambda dialect: (
        select(*(column for column in guardrails.c if column is not guardrails.c.body), _IS_COUNTED.label("counted"))
        .where(guardrails.c.workspace_id == bindparam("of_workspace"), is_one_of(dialect, guardrails.c.id, "rule_ids"))
        .order_by(guardrails.c.id)
        .with_for_update(of=guardrails)
    )
)
_RECOMPUTE = Statement(
    lambda dialect: (
        update(guardrails)
        .where(is_one_of(dialect, guardrails.c.id, "rule_ids"))
        .values(
            hour=LATER_HOUR,
            used_daily=_sum_hours(guardrail_hours.c.daily, LATER_HOUR),
            used_lifetime=_sum_hours(guardrail_hours.c.lifetime, LATER_HOUR),
        )
        .returning(guardrails.c.id, guardrails.c.hour, guardrails.c.used_daily, guardrails.c.used_lifetime)
    )
)
_INSERT_USE = Statement(insert(guardrail_uses))


def _is_new_use(dialect: str) -> ColumnElement[bool]:
    return and_(
        guardrail_uses.c.chain_id == bindparam("of_chain"), is_one_of(dialect, guardrail_uses.c.rule_id, "rule_ids")
    )


def _fits(limit: ColumnElement[Any], used: ColumnElement[int], added: ColumnElement[int]) -> ColumnElement[bool]:
    """Whether a window has room. The difference cannot overflow 64 bits, but the sum could."""
    return or_(added == 0, used <= func.coalesce(limit, MAX_WINDOW_TOTAL) - added)


_TAKE = Statement(
    lambda dialect: (
        update(guardrails)
        .where(
            guardrails.c.id == guardrail_uses.c.rule_id,
            _is_new_use(dialect),
            _fits(guardrails.c.limit_daily, guardrails.c.used_daily, guardrail_uses.c.daily),
            _fits(guardrails.c.limit_lifetime, guardrails.c.used_lifetime, guardrail_uses.c.lifetime),
        )
        .values(
            used_daily=guardrails.c.used_daily + guardrail_uses.c.daily,
            used_lifetime=guardrails.c.used_lifetime + guardrail_uses.c.lifetime,
        )
        .returning(guardrails.c.id)
    )
)


def _add_hour(new: Any) -> Mapping[str, Any]:
    return {
        "daily": guardrail_hours.c.daily + new.daily,
        "lifetime": guardrail_hours.c.lifetime + new.lifetime,
    }


_MERGE_INTO_HOUR = upsert.insert_or_combine(guardrail_hours, ("rule_id", "hour"), _add_hour)
_ADD_TO_HOURS = upsert.insert_or_combine(
    guardrail_hours,
    ("rule_id", "hour"),
    _add_hour,
    source=lambda dialect: select(*(guardrail_uses.c[column.name] for column in guardrail_hours.c)).where(
        _is_new_use(dialect)
    ),
)

_LIST_COUNTING = Statement(select(guardrail_uses.c.rule_id).where(guardrail_uses.c.chain_id == bindparam("of_chain")))
_LIST_USED = Statement(
    lambda dialect: (
        select(guardrail_uses.c.chain_id).where(is_one_of(dialect, guardrail_uses.c.chain_id, "chain_ids")).distinct()
    )
)
_LIST_CHAINS = Statement(
    lambda dialect: select(operations.c.id, CHAIN_ID).where(
        or_(is_one_of(dialect, operations.c.id, "chain_ids"), is_one_of(dialect, operations.c.chain_id, "chain_ids"))
    )
)
_LOCK_USED_RULES = Statement(
    lambda dialect: (
        select(guardrails.c.id)
        .where(
            guardrails.c.id.in_(
                select(guardrail_uses.c.rule_id).where(is_one_of(dialect, guardrail_uses.c.chain_id, "chain_ids"))
            )
        )
        .order_by(guardrails.c.id)
        .with_for_update()
    )
)
_RELEASE = Statement(
    lambda dialect: (
        delete(guardrail_uses)
        .where(is_one_of(dialect, guardrail_uses.c.chain_id, "chain_ids"))
        .returning(guardrail_uses.c.rule_id, guardrail_uses.c.hour, guardrail_uses.c.daily, guardrail_uses.c.lifetime)
    )
)
_SUBTRACT_FROM_HOUR = Statement(
    update(guardrail_hours)
    .where(guardrail_hours.c.rule_id == bindparam("of_rule"), guardrail_hours.c.hour == bindparam("of_hour"))
    .values(
        daily=guardrail_hours.c.daily - bindparam("less_daily", type_=BigInteger),
        lifetime=guardrail_hours.c.lifetime - bindparam("less_lifetime", type_=BigInteger),
    )
)


# -- the claim ----------------------------------------------------------------------------------------------------


def take_from_windows(
    connection: Connection, workspace_id: str, binding: SpendBinding, hour: int
) -> WindowBreach | Literal["rules_changed"] | None:
    """Reserve the amounts of an operation in the windows of its rules, in the transaction of its claim.

    A window that counts the chain already does not change. If the result is not None, the caller must roll back to a
    savepoint from before the claim.

    PostgreSQL runs transactions as READ COMMITTED: a SELECT that waited for a lock shows the locked rows as they are
    now, but all other rows as they were when it began. Therefore the rules are locked in one statement, and the sums of
    their hours, and whether they still count the chain, are read in the next ones.

    Args:
        connection: the connection, in a transaction that has claimed the operation.
        workspace_id: the workspace.
        binding: the amounts of the operation.
        hour: the current hour.

    Returns:
        None if everything is reserved; ``rules_changed`` if a rule has another version than in the binding; otherwise
        the window with the least room.
    """
    uses = {use.rule_id: use for use in binding.uses if use.is_counted}
    key = {"of_workspace": workspace_id, "of_chain": binding.chain_id, "rule_ids": sorted(uses), "now_hour": hour}
    rules = {row.id: row for row in _LOCK.fetch_all(connection, key)} if uses else {}
    if any(id_ not in rules or rules[id_].version != use.version for id_, use in uses.items()):
        return "rules_changed"
    if behind := [id_ for id_, row in rules.items() if row.hour < hour]:
        for row in recompute_windows(connection, behind, hour):
            rules[row.id] = rules[row.id]._replace(**row._asdict())
    # an older operation of the chain may have released its amounts while this call waited for the lock
    counting = list_counting_rules(connection, binding.chain_id) if any(row.counted for row in rules.values()) else ()
    new = {id_: uses[id_] for id_ in rules if id_ not in counting}
    if not new:
        return None
    _INSERT_USE.execute_each(
        connection,
        [
            {
                "rule_id": id_,
                "chain_id": binding.chain_id,
                "hour": rules[id_].hour,
                "daily": min(use.daily, MAX_WINDOW_TOTAL + 1),
                "lifetime": min(use.lifetime, MAX_WINDOW_TOTAL + 1),
                "unknown": use.is_unknown,
            }
            for id_, use in new.items()
        ],
    )
    key["rule_ids"] = list(new)
    admitted_ids = {row.id for row in _TAKE.fetch_all(connection, key)}
    if len(admitted_ids) < len(new):
        full = [_find_breach(rules[id_], use) for id_, use in new.items() if id_ not in admitted_ids]
        return min(full, key=lambda breach: breach.room)
    _ADD_TO_HOURS.fetch_all(connection, key)
    return None


def _find_breach(rule: Any, use: WindowUse) -> WindowBreach:
    """Find the limit that a use exceeds. ``rule`` is its row."""
    limits: Sequence[tuple[Literal["daily", "lifetime"], int | None, int, int]] = (
        ("daily", rule.limit_daily, rule.used_daily, use.daily),
        ("lifetime", rule.limit_lifetime, rule.used_lifetime, use.lifetime),
    )
    breaches = [
        WindowBreach(rule.id, name, MAX_WINDOW_TOTAL if limit is None else limit, used, amount)
        for name, limit, used, amount in limits
    ]
    return next(breach for breach in breaches if breach.amount > max(0, breach.allowed - breach.used))


def recompute_windows(connection: Connection, rule_ids: Collection[str], hour: int) -> list[Any]:
    """Sum the hours of windows again, up to the current hour, and return id, hour and sums of each rule."""
    return _RECOMPUTE.fetch_all(connection, {"rule_ids": sorted(rule_ids), "now_hour": hour})


# -- giving back --------------------------------------------------------------------------------------------------


def release_uses(connection: Connection, chain_ids: Collection[str], hour: int) -> None:
    """Release the amounts of chains of operations, except chains with a write that was or may have been applied.

    Args:
        connection: the connection, in the transaction that has ended the execution of an operation of each chain.
        chain_ids: the first operation of each chain.
        hour: the current hour.
    """
    counted = [row.chain_id for row in _LIST_USED.fetch_all(connection, {"chain_ids": sorted(chain_ids)})]
    if not counted:
        return
    # the rules are locked before the attempts are read, so that the claim of a later operation of the chain, with its
    # intent, cannot come between the two
    rule_ids = [row.id for row in _LOCK_USED_RULES.fetch_all(connection, {"chain_ids": counted})]
    chains = {row.id: row.chain for row in _LIST_CHAINS.fetch_all(connection, {"chain_ids": counted})}
    used = {
        chains[id_]
        for id_, attempts in list_attempts_by_operation(connection, list(chains)).items()
        if any(attempt.may_be_applied for attempt in attempts) and _is_any_applied(connection, id_, attempts)
    }
    unused = sorted(set(counted) - used)
    if not unused:
        return
    released = _RELEASE.fetch_all(connection, {"chain_ids": unused})
    _SUBTRACT_FROM_HOUR.execute_each(
        connection,
        [
            {"of_rule": use.rule_id, "of_hour": use.hour, "less_daily": use.daily, "less_lifetime": use.lifetime}
            for use in released
        ],
    )
    recompute_windows(connection, rule_ids, hour)


def _is_any_applied(connection: Connection, operation_id: str, attempts: Sequence[StepAttempt]) -> bool:
    """Whether an attempt was or may have been applied and no person has decided that it was not."""
    refuted = {
        (verdict.step_key, verdict.attempt)
        for verdict in list_verdicts(connection, operation_id)
        if verdict.settled_by is not None and verdict.verdict == "not_applied"
    }
    return any(
        attempt.may_be_applied and (attempt.is_applied or (attempt.key, attempt.attempt) not in refuted)
        for attempt in attempts
    )


def list_counting_rules(connection: Connection, chain_id: str) -> set[str]:
    """Return the rules whose windows count a chain."""
    return {row.rule_id for row in _LIST_COUNTING.fetch_all(connection, {"of_chain": chain_id})}


# -- wrong clocks -------------------------------------------------------------------------------------------------


def repair_future_hours(connection: Connection, hour: int) -> None:
    """Move everything that windows count in hours after ``hour`` into that hour. A wrong clock has written them."""
    future = connection.execute(select(guardrail_hours).where(guardrail_hours.c.hour > hour)).all()
    connection.execute(delete(guardrail_hours).where(guardrail_hours.c.hour > hour))
    _MERGE_INTO_HOUR.execute_each(connection, [{**row._mapping, "hour": hour} for row in future])
    connection.execute(update(guardrail_uses).where(guardrail_uses.c.hour > hour).values(hour=hour))
    rule_ids = connection.execute(
        update(guardrails).where(guardrails.c.hour > hour).values(hour=hour).returning(guardrails.c.id)
    ).scalars()
    recompute_windows(connection, list(rule_ids), hour)
