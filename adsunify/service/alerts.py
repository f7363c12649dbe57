"""Alerts: reading and changing the rules that watch the synced figures of a workspace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from attrs import evolve
from sqlalchemy import Connection

from adsunify.actor import Actor
from adsunify.adapter.hierarchy import is_valid_id
from adsunify.adapter.network import get_level
from adsunify.alerts.rules import Alert, AlertScope, find_unsupported_reason
from adsunify.errors import Issue, NotFound, raise_if_issues
from adsunify.models.alert import DEFAULT_DAYS, KIND_LEVELS, NewAlert, format_percent
from adsunify.models.parsing import parse_model
from adsunify.networks.registry import get_adapter
from adsunify.plans.exposure import format_amount
from adsunify.store import alerts, connections
from adsunify.store.alerts import EvaluationRecord
from adsunify.store.clock import Clock
from adsunify.store.connections import AccountRecord
from adsunify.values.exact_json import Json
from adsunify.values.money import MICROS, to_units

from .core import Service, format_optional_timestamp
from .guardrails import UNSAVED, find_network_issues

NOT_EVALUATED_YET = "It was not evaluated yet. `adsunify worker` evaluates alerts after a sync of the daily figures."


async def list_alerts(service: Service, actor: Actor) -> list[Json]:
    """List the alerts of the workspace, oldest first, with the data that they could not evaluate.

    ``notEvaluated`` lists this data: accounts that were never synced, days without figures,
    entities whose activation is not known.
    """
    return await service.store.read(_list_alerts, actor)


def _list_alerts(connection: Connection, actor: Actor) -> list[Json]:
    visible_alerts = [
        alert for alert in alerts.list_alerts(connection, actor.workspace_id) if _is_visible(actor, alert)
    ]
    return _alerts_to_json(connection, actor, visible_alerts)


async def create_alert(service: Service, actor: Actor, *, alert: NewAlert) -> Json:
    """Create an alert. The worker evaluates it after each sync of the daily figures.

    A breach is reported once as the event ``rule.triggered`` with ``data.kind`` ``alert``. An alert changes nothing on
    a network.
    """
    return await service.store.write(_create_alert, actor, alert, service.store.clock)


def _create_alert(connection: Connection, actor: Actor, body: NewAlert, clock: Clock) -> Json:
    alert = make_alert(body, actor.workspace_id)
    raise_if_issues(_find_issues(connection, actor, alert))
    return _alerts_to_json(connection, actor, [alerts.create_alert(connection, actor, alert, clock)])[0]


async def update_alert(service: Service, actor: Actor, *, alert_id: str, changes: Mapping[str, Json]) -> Json:
    """Change an alert. Members that are given replace the present ones; ``active`` false pauses it.

    If more than ``name`` or ``active`` changes, its earlier breaches are forgotten and may be reported again.
    """
    return await service.store.write(_update_alert, actor, alert_id, changes, service.store.clock)


def _update_alert(
    connection: Connection, actor: Actor, alert_id: str, changes: Mapping[str, Json], clock: Clock
) -> Json:
    before = _lock_alert(connection, actor, alert_id)
    present = {name: value for name, value in _condition_to_json(before).items() if value is not None}
    after = make_alert(parse_model(NewAlert, {**present, **changes}), actor.workspace_id)
    after = evolve(after, id=before.id, version=before.version, begun_at=before.begun_at)
    if not before.has_same_condition(after):
        raise_if_issues(_find_issues(connection, actor, after))
    return _alerts_to_json(connection, actor, [alerts.update_alert(connection, actor, before, after, clock)])[0]


async def delete_alert(service: Service, actor: Actor, *, alert_id: str) -> Json:
    """Delete an alert. Its past events are not deleted."""
    return await service.store.write(_delete_alert, actor, alert_id, service.store.clock)


def _delete_alert(connection: Connection, actor: Actor, alert_id: str, clock: Clock) -> Json:
    alert = _lock_alert(connection, actor, alert_id)
    (deleted_alert,) = _alerts_to_json(connection, actor, [alert])
    alerts.delete_alert(connection, actor, alert, clock)
    return deleted_alert


def _lock_alert(connection: Connection, actor: Actor, alert_id: str) -> Alert:
    alert = alerts.lock_alert(connection, actor.workspace_id, alert_id)
    if not _is_visible(actor, alert):
        raise NotFound("This workspace has no such alert.")
    return alert


def _is_visible(actor: Actor, alert: Alert) -> bool:
    """Whether all accounts of an alert are in the scope of the actor's credential.

    The actor gets 404 for other alerts.
    """
    return actor.can_reach_scope(alert.scope.accounts)


# -- bodies and answers -------------------------------------------------------------------------------------------


def make_alert(body: NewAlert, workspace_id: str) -> Alert:
    """Make the record of a new alert."""
    scope = body.scope
    return Alert(
        id=UNSAVED,
        workspace_id=workspace_id,
        version=1,
        begun_at=0,
        name=body.name,
        kind=body.kind,
        scope=AlertScope(tuple(scope.networks or ()), tuple(scope.account_ids or ()), tuple(scope.entity_ids or ())),
        level=body.level or KIND_LEVELS[body.kind][0],
        amount=None if body.amount is None else to_units(body.amount, MICROS, ""),
        currency=body.currency,
        days=DEFAULT_DAYS if body.kind == "spendAbove" and body.days is None else body.days,
        hours=body.hours,
        percent=body.percent,
        is_active=body.active,
    )


def _condition_to_json(alert: Alert) -> dict[str, Json]:
    return {
        "name": alert.name,
        "kind": alert.kind,
        "scope": alert.scope.to_json(),
        "level": alert.level,
        "amount": None if alert.amount is None else format_amount(alert.amount, alert.currency),
        "currency": alert.currency,
        "days": alert.days,
        "hours": alert.hours,
        "percent": None if alert.percent is None else format_percent(alert.percent),
        "active": alert.is_active,
    }


def _alerts_to_json(connection: Connection, actor: Actor, visible_alerts: Sequence[Alert]) -> list[Json]:
    """Return alerts as responses show them."""
    if not visible_alerts:
        return []
    evaluations: dict[str, dict[str, EvaluationRecord]] = {}
    for record in alerts.list_evaluations(connection, actor.workspace_id):
        evaluations.setdefault(record.alert_id, {})[record.account_id] = record
    accounts = [account for account in connections.list_accounts(connection, actor) if account.status != "disconnected"]
    return [_alert_to_json(alert, accounts, evaluations.get(alert.id, {})) for alert in visible_alerts]


def _alert_to_json(
    alert: Alert, accounts: Iterable[AccountRecord], evaluations: Mapping[str, EvaluationRecord]
) -> dict[str, Json]:
    gaps: list[Json] = []
    for account in accounts:
        if not alert.scope.accounts.has_account(account.id, account.network):
            continue
        last = evaluations.get(account.id)
        if last is None:
            gaps.append({"accountId": account.id, "reason": NOT_EVALUATED_YET, "entityIds": []})
        else:
            gaps += ({"accountId": account.id, **gap} for gap in last.gaps)
    last_at = max((record.evaluated_at for record in evaluations.values()), default=None)
    return {
        "id": alert.id,
        **_condition_to_json(alert),
        "lastEvaluatedAt": format_optional_timestamp(last_at),
        "notEvaluated": gaps,
    }


# -- what an alert names ------------------------------------------------------------------------------------------


def _find_issues(connection: Connection, actor: Actor, alert: Alert) -> list[Issue]:
    """Find the parts of an alert that could never be evaluated."""
    accounts = {account.id: account for account in connections.list_accounts(connection, actor)}
    issues = find_network_issues(alert.scope.networks)
    message = "must be the id of an account of this workspace."
    issues += [
        Issue(f"scope.accountIds.{index}", "not_found", message)
        for index, id_ in enumerate(alert.scope.account_ids)
        if id_ not in accounts
    ]
    if issues:
        return issues
    named = [accounts[id_] for id_ in alert.scope.account_ids]
    networks = dict.fromkeys([*alert.scope.networks, *(account.network for account in named)])
    for network in networks:
        reason = find_unsupported_reason(get_adapter(network).network, alert.kind, alert.level)
        if reason is not None:
            issues.append(Issue("level", "level_not_supported", reason))
    if alert.scope.entity_ids and not issues:
        network_tables = get_adapter(named[0].network).network
        text = f"is not the id of a {get_level(network_tables, alert.level).label} at {network_tables.title}."
        issues += [
            Issue(f"scope.entityIds.{index}", "malformed", text)
            for index, id_ in enumerate(alert.scope.entity_ids)
            if not is_valid_id(network_tables, alert.level, id_)
        ]
    for index, account in enumerate(named):
        if alert.currency is not None and account.currency not in (None, alert.currency):
            text = f"is an account in {account.currency}, and the alert is in {alert.currency}. Nothing is converted."
            issues.append(Issue(f"scope.accountIds.{index}", "currency_mismatch", text))
        if alert.scope.networks and account.network not in alert.scope.networks:
            text = "is an account of none of the networks of the scope, so the alert would watch nothing."
            issues.append(Issue(f"scope.accountIds.{index}", "conflict", text))
    if not _is_visible(actor, alert):
        text = "must name accounts or networks in the scope of your credential, as `GET /auth/verify` shows it."
        issues.append(Issue("scope", "outside_scope", text))
    return issues
