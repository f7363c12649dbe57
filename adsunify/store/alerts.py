"""Alerts, their last evaluations, and the reported breaches.

An evaluation is saved in one transaction with its events, so a breach is reported once even if a process is killed. The
transaction locks the alert: two workers save their evaluations one after another, and the second one finds the breaches
that the first one reported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import asdict, evolve, frozen
from sqlalchemy import Connection, bindparam, delete, insert, select, update

from adsunify.actor import Actor
from adsunify.alerts.rules import Alert, AlertBreach, AlertEvaluation, BreachKey
from adsunify.errors import NotFound
from adsunify.ledger import LedgerEntry
from adsunify.values.exact_json import Json

from . import events, upsert
from .clock import Clock, new_id
from .connections import AccountRecord
from .ledger import record_entry
from .schema import alert_breaches, alert_evaluations, alerts
from .statement import Statement

MAX_TOLD = 100
"""How many events one evaluation records. For more breaches it is repeated at once."""


@frozen
class EvaluationRecord:
    """The last evaluation of an alert for an account. Times are in milliseconds since 1970.

    Attributes:
        version: the version of the alert.
        read_at: when the figures were synced.
        retry_at: when to evaluate again without newer figures; None: only when newer figures are synced.
        gaps: the data that was not evaluated, as ``Gap.to_json`` writes it.
    """

    alert_id: str
    account_id: str
    version: int
    read_at: int
    evaluated_at: int
    retry_at: int | None
    gaps: Sequence[Mapping[str, Json]]


_ALERT = alerts.c.id == bindparam("the_id")
_OF_WORKSPACE = alerts.c.workspace_id == bindparam("of_workspace")
_INSERT = insert(alerts)
_LOCK = Statement(select(alerts).where(_ALERT, _OF_WORKSPACE).with_for_update())
_LIST = Statement(select(alerts).where(_OF_WORKSPACE).order_by(alerts.c.id))
_LIST_ALL = Statement(select(alerts).order_by(alerts.c.id))
_UPDATE = (
    update(alerts)
    .where(_ALERT)
    .values(
        version=bindparam("new_version"),
        begun_at=bindparam("new_begun_at"),
        body=bindparam("new_body", type_=alerts.c.body.type),
    )
)
_DELETE_STATE = [
    delete(table).where(table.c.alert_id == bindparam("the_id")) for table in (alert_breaches, alert_evaluations)
]
_DELETE = delete(alerts).where(_ALERT)
_LIST_EVALUATIONS = Statement(
    select(alert_evaluations)
    .join(alerts, alerts.c.id == alert_evaluations.c.alert_id)
    .where(_OF_WORKSPACE)
    .order_by(alert_evaluations.c.alert_id, alert_evaluations.c.account_id)
)
_LIST_ALL_EVALUATIONS = Statement(select(alert_evaluations))
_GET_EVALUATION = Statement(
    select(alert_evaluations.c.read_at).where(
        alert_evaluations.c.alert_id == bindparam("of_alert"), alert_evaluations.c.account_id == bindparam("of_account")
    )
)
_SAVE_EVALUATION = upsert.insert_or_update(
    alert_evaluations,
    ("alert_id", "account_id"),
    ("version", "read_at", "evaluated_at", "retry_at", "gaps"),
    alert_evaluations.c.alert_id,
)
_OF_PAIR = (
    alert_breaches.c.alert_id == bindparam("of_alert"),
    alert_breaches.c.account_id == bindparam("of_account"),
)
_LIST_BREACHES = Statement(select(alert_breaches).where(*_OF_PAIR))
_SAVE_BREACH = upsert.insert_or_update(
    alert_breaches,
    ("alert_id", "account_id", "entity_id", "period"),
    ("told_on", "open"),
    alert_breaches.c.alert_id,
)
_DELETE_BREACH = delete(alert_breaches).where(
    *_OF_PAIR,
    alert_breaches.c.entity_id == bindparam("of_entity"),
    alert_breaches.c.period == bindparam("of_period"),
)


# -- alerts -------------------------------------------------------------------------------------------------------


def create_alert(connection: Connection, actor: Actor, alert: Alert, clock: Clock) -> Alert:
    """Store a new alert, and return it with its id and its time."""
    at = clock.now()
    created = evolve(alert, id=new_id(at), version=1, begun_at=at)
    row = {
        "id": created.id,
        "workspace_id": created.workspace_id,
        "version": created.version,
        "begun_at": at,
        "body": created.to_json(),
    }
    connection.execute(_INSERT, row)
    _record_change(connection, actor, None, created, clock)
    return created


def lock_alert(connection: Connection, workspace_id: str, alert_id: str) -> Alert:
    """Lock an alert until this transaction ends, and return it. Raises NotFound."""
    return _require_alert(_LOCK.fetch_one_or_none(connection, {"the_id": alert_id, "of_workspace": workspace_id}))


def list_alerts(connection: Connection, workspace_id: str) -> list[Alert]:
    """Return the alerts of a workspace, oldest first."""
    return [_alert_from_row(row) for row in _LIST.fetch_all(connection, {"of_workspace": workspace_id})]


def list_active_alerts(connection: Connection) -> list[Alert]:
    """Return the active alerts of all workspaces."""
    return [alert for row in _LIST_ALL.fetch_all(connection, {}) if (alert := _alert_from_row(row)).is_active]


def update_alert(connection: Connection, actor: Actor, before: Alert, after: Alert, clock: Clock) -> Alert:
    """Replace an alert that :func:`lock_alert` returned.

    If its condition changes, its evaluations and breaches are deleted.
    """
    is_same = before.has_same_condition(after)
    changed = evolve(after, version=before.version + 1, begun_at=before.begun_at if is_same else clock.now())
    if not is_same:
        _delete_state(connection, before.id)
    values = {
        "the_id": before.id,
        "new_version": changed.version,
        "new_begun_at": changed.begun_at,
        "new_body": changed.to_json(),
    }
    connection.execute(_UPDATE, values)
    _record_change(connection, actor, before, changed, clock)
    return changed


def delete_alert(connection: Connection, actor: Actor, alert: Alert, clock: Clock) -> None:
    """Delete an alert that :func:`lock_alert` returned."""
    _delete_state(connection, alert.id)
    connection.execute(_DELETE, {"the_id": alert.id})
    _record_change(connection, actor, alert, None, clock)


def _record_change(
    connection: Connection, actor: Actor, before: Alert | None, after: Alert | None, clock: Clock
) -> None:
    """Record a change of an alert in the ledger."""
    alert = after or before
    assert alert is not None
    states = [None if state is None else {"version": state.version, **state.to_json()} for state in (before, after)]
    entry = LedgerEntry(alert.workspace_id, actor, "alert", alert.id, before=states[0], after=states[1])
    record_entry(connection, entry, clock)


def _delete_state(connection: Connection, alert_id: str) -> None:
    for statement in _DELETE_STATE:
        connection.execute(statement, {"the_id": alert_id})


def _require_alert(row: Any) -> Alert:
    if row is None:
        raise NotFound("This workspace has no such alert.")
    return _alert_from_row(row)


def _alert_from_row(row: Any) -> Alert:
    return Alert.from_json(row.id, row.workspace_id, row.version, row.begun_at, row.body)


# -- evaluations --------------------------------------------------------------------------------------------------


def list_evaluations(connection: Connection, workspace_id: str | None = None) -> list[EvaluationRecord]:
    """Return the last evaluation of each alert and account of a workspace, or of all workspaces."""
    if workspace_id is None:
        rows = _LIST_ALL_EVALUATIONS.fetch_all(connection, {})
    else:
        rows = _LIST_EVALUATIONS.fetch_all(connection, {"of_workspace": workspace_id})
    return [EvaluationRecord(**row._asdict()) for row in rows]


def save_evaluation(
    connection: Connection,
    alert: Alert,
    account: AccountRecord,
    evaluation: AlertEvaluation,
    today: str,
    record: EvaluationRecord,
    as_of: str,
) -> int | None:
    """Save an evaluation, and record an event for each breach that was not reported.

    A breach is reported once. It is reported again if one later evaluation does not find it, and another one finds it
    on a later day.

    Args:
        connection: the connection.
        alert: the alert that was evaluated.
        account: the account that was evaluated.
        evaluation: the result of the evaluation.
        today: the day of the figures in the account's time zone.
        record: the row of the evaluation.
        as_of: when the figures were synced, for the events.

    Returns:
        The number of events. None if the alert was changed or deleted in the meantime, or another worker has evaluated
        newer figures; then nothing is saved.
    """
    current = _LOCK.fetch_one_or_none(connection, {"the_id": alert.id, "of_workspace": alert.workspace_id})
    if current is None or current.version != alert.version:
        return None
    pair = {"of_alert": alert.id, "of_account": account.id}
    last = _GET_EVALUATION.fetch_one_or_none(connection, pair)
    if last is not None and last.read_at > record.read_at:
        return None
    reported = {(row.entity_id, row.period): row for row in _LIST_BREACHES.fetch_all(connection, pair)}
    due = [
        key
        for key in sorted(evaluation.breaches, key=lambda breach_key: (breach_key[1], breach_key[0]))
        if key not in reported or (not reported[key].open and reported[key].told_on < today)
    ]
    _end_breaches(connection, evaluation, reported, pair, today)
    for entity_id, period in due[:MAX_TOLD]:
        _save_breach(connection, pair, (entity_id, period), today, is_open=True)
    rows = [_make_event(alert, account, key[0], evaluation.breaches[key], record, as_of) for key in due[:MAX_TOLD]]
    events.record_events(connection, rows)
    retry_at = record.evaluated_at if len(due) > MAX_TOLD else record.retry_at
    _SAVE_EVALUATION.fetch_all(connection, {**asdict(record), "retry_at": retry_at})
    return len(rows)


def _end_breaches(
    connection: Connection,
    evaluation: AlertEvaluation,
    reported: Mapping[BreachKey, Any],
    pair: Mapping[str, str],
    today: str,
) -> None:
    """Delete the reported breaches that the evaluation does not find, or does not check any more.

    A breach that was reported today stays, so that it is not reported twice on a day.
    """
    for key, row in reported.items():
        is_past = bool(evaluation.first_period) and key[1] < evaluation.first_period
        if not is_past and (key in evaluation.breaches or evaluation.is_unknown(key)):
            continue
        if is_past or row.told_on < today:
            connection.execute(_DELETE_BREACH, {**pair, "of_entity": key[0], "of_period": key[1]})
        elif row.open:
            _save_breach(connection, pair, key, row.told_on, is_open=False)


def _save_breach(
    connection: Connection, pair: Mapping[str, str], key: BreachKey, told_on: str, *, is_open: bool
) -> None:
    values = {
        "alert_id": pair["of_alert"],
        "account_id": pair["of_account"],
        "entity_id": key[0],
        "period": key[1],
        "told_on": told_on,
        "open": is_open,
    }
    _SAVE_BREACH.fetch_all(connection, values)


def _make_event(
    alert: Alert, account: AccountRecord, entity_id: str, breach: AlertBreach, record: EvaluationRecord, as_of: str
) -> dict[str, Any]:
    facts: dict[str, Json] = {
        "kind": "alert",
        "alertId": alert.id,
        "alert": alert.kind,
        "rule": alert.name,
        "level": alert.level,
        "entityId": None if alert.level == "account" else entity_id,
        "currency": alert.currency,
        "allowed": breach.allowed,
        "found": breach.actual,
        "day": breach.day,
        "asOf": as_of,
    }
    return events.make_event_row(
        "rule.triggered",
        account.workspace_id,
        record.evaluated_at,
        status="triggered",
        account_id=account.id,
        network=account.network,
        more={name: value for name, value in facts.items() if value is not None},
    )
