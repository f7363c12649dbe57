"""Guardrails: reading and changing the rules of a workspace, their usage, and lifting freezes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from attrs import evolve
from sqlalchemy import Connection

from adsunify.actor import Actor
from adsunify.errors import Forbidden, Issue, NotFound, raise_if_issues
from adsunify.guardrails.rules import ClientIdentity, Guardrail, Limits, Scope, Window
from adsunify.guardrails.windows import MILLISECONDS_PER_HOUR
from adsunify.models.error_messages import find_similar
from adsunify.models.guardrail import NewGuardrail, RuleScope, SpendLimits
from adsunify.models.parsing import parse_model
from adsunify.networks.registry import ADAPTER_PACKAGES
from adsunify.plans.exposure import format_amount
from adsunify.store import agents, connections, guardrails, keys, people
from adsunify.store.clock import Clock
from adsunify.store.guardrails import FrozenCredential, Usage
from adsunify.values.exact_json import Json
from adsunify.values.money import MICROS, to_units

from .core import Service, format_timestamp
from .workspace_rules import is_rule_visible

UNSAVED = ""
"""The id of a rule that the store has not saved yet."""


async def list_guardrails(service: Service, actor: Actor) -> list[Json]:
    """List the guardrails of the workspace, oldest first, including inactive ones."""
    rules = await service.store.read(guardrails.list_guardrails, actor.workspace_id)
    return [guardrail_to_json(rule) for rule in rules if is_rule_visible(actor, rule)]


async def get_guardrail(service: Service, actor: Actor, *, guardrail_id: str) -> Json:
    """Return one guardrail."""
    return guardrail_to_json(await service.store.read(_get_guardrail, actor, guardrail_id))


def _get_guardrail(connection: Connection, actor: Actor, guardrail_id: str) -> Guardrail:
    rule = guardrails.get_guardrail(connection, actor.workspace_id, guardrail_id)
    if not is_rule_visible(actor, rule):
        raise NotFound("This workspace has no such guardrail.")
    return rule


async def create_guardrail(service: Service, actor: Actor, *, rule: NewGuardrail) -> Json:
    """Create a guardrail. It applies at once: operations that are prepared already are checked again when executed.

    All matching guardrails apply. A guardrail matches the account, the network, and the credential that prepares or
    executes. ``freeze`` also freezes the credential that breaks the guardrail.
    """
    return guardrail_to_json(await service.store.write(_create_guardrail, actor, rule, service.store.clock))


def _create_guardrail(connection: Connection, actor: Actor, body: NewGuardrail, clock: Clock) -> Guardrail:
    rule = make_guardrail(body, actor.workspace_id)
    raise_if_issues(_find_scope_issues(connection, actor, rule))
    return guardrails.create_guardrail(connection, actor, rule, clock)


async def update_guardrail(service: Service, actor: Actor, *, guardrail_id: str, changes: Mapping[str, Json]) -> Json:
    """Change a guardrail. Members that are given replace the present ones; null removes a limit.

    The window keeps its counts, unless the currency changes: then it begins empty.

    A request that changes the guardrail at the same time gets 409 ``guardrail_changed``.
    """
    return guardrail_to_json(
        await service.store.write(_update_guardrail, actor, guardrail_id, changes, service.store.clock)
    )


def _update_guardrail(
    connection: Connection, actor: Actor, guardrail_id: str, changes: Mapping[str, Json], clock: Clock
) -> Guardrail:
    before = _get_guardrail(connection, actor, guardrail_id)
    present = {name: value for name, value in guardrail_to_json(before).items() if name not in ("id", "version")}
    body = parse_model(NewGuardrail, {**present, **changes})
    after = evolve(make_guardrail(body, actor.workspace_id), id=before.id, version=before.version)
    if "scope" in changes:  # an unchanged scope may name accounts that were removed later
        raise_if_issues(_find_scope_issues(connection, actor, after))
    return guardrails.update_guardrail(connection, actor, after, clock)


async def delete_guardrail(service: Service, actor: Actor, *, guardrail_id: str) -> Json:
    """Delete a guardrail and the counts of its window. Credentials that it has frozen stay frozen."""
    return guardrail_to_json(await service.store.write(_delete_guardrail, actor, guardrail_id, service.store.clock))


def _delete_guardrail(connection: Connection, actor: Actor, guardrail_id: str, clock: Clock) -> Guardrail:
    _get_guardrail(connection, actor, guardrail_id)
    return guardrails.delete_guardrail(connection, actor, guardrail_id, clock)


async def read_usage(service: Service, actor: Actor, *, guardrail_id: str) -> Json:
    """Return how full the window of a guardrail is, and the latest operations in it, newest first.

    An operation stays in the window if its outcome is not known or a step of it was applied.
    """
    return await service.store.read(_read_usage, actor, guardrail_id, service.store.clock)


def _read_usage(connection: Connection, actor: Actor, guardrail_id: str, clock: Clock) -> Json:
    rule = _get_guardrail(connection, actor, guardrail_id)
    return _usage_to_json(rule, guardrails.read_usage(connection, rule.id, clock), clock)


async def list_freezes(service: Service, actor: Actor) -> list[Json]:
    """List the credentials that guardrails have frozen, oldest first."""
    return [_freeze_to_json(freeze) for freeze in await service.store.read(_list_freezes, actor)]


def _list_freezes(connection: Connection, actor: Actor) -> list[FrozenCredential]:
    """Return the freezes by visible rules. Freezes by deleted rules are visible only to credentials without a scope."""
    visible = {
        rule.id for rule in guardrails.list_guardrails(connection, actor.workspace_id) if is_rule_visible(actor, rule)
    }
    return [
        freeze
        for freeze in guardrails.list_frozen(connection, actor.workspace_id)
        if actor.scope is None or freeze.rule_id in visible
    ]


async def lift_freeze(service: Service, actor: Actor, *, credential: str) -> Json:
    """Lift the freeze of a credential, which can then prepare and execute again."""
    return _freeze_to_json(await service.store.write(_lift_freeze, actor, credential, service.store.clock))


def _lift_freeze(connection: Connection, actor: Actor, credential: str, clock: Clock) -> FrozenCredential:
    """Lift a freeze. No credential lifts its own freeze, even if the endpoint allows the call."""
    freeze = next((frozen for frozen in _list_freezes(connection, actor) if frozen.credential == credential), None)
    if freeze is None:
        raise NotFound("This credential is not frozen.")
    if credential == actor.credential:
        raise Forbidden("A credential cannot lift its own freeze. Another admin can.", code="credential_frozen")
    guardrails.lift_freeze(connection, actor, credential, clock)
    return freeze


# -- bodies and answers -------------------------------------------------------------------------------------------


def make_guardrail(body: NewGuardrail, workspace_id: str) -> Guardrail:
    """Make the record of a rule that is not saved yet."""
    window = body.per_window
    return Guardrail(
        id=UNSAVED,
        workspace_id=workspace_id,
        version=1,
        name=body.name,
        scope=_make_scope(body.scope),
        currency=body.currency,
        per_operation=_make_limits(body.per_operation),
        per_window=None if window is None else Window(window.hours, _make_limits(window)),
        approval_above=_make_limits(body.approval_above),
        max_increase_percent=body.max_increase_percent,
        max_bid=_to_micros(body.max_bid),
        blocked_actions=tuple(body.blocked_actions),
        on_breach=body.on_breach,
        other_currencies=body.other_currencies,
        is_active=body.active,
    )


def _make_scope(scope: RuleScope) -> Scope:
    return Scope(
        networks=tuple(scope.networks or ()),
        account_ids=tuple(scope.account_ids or ()),
        key_ids=tuple(scope.key_ids or ()),
        clients=tuple(ClientIdentity(client.client_id, client.user_id) for client in scope.clients or ()),
        user_ids=tuple(scope.user_ids or ()),
    )


def _make_limits(limits: SpendLimits | None) -> Limits:
    return Limits() if limits is None else Limits(_to_micros(limits.daily), _to_micros(limits.lifetime))


def _to_micros(amount: str | None) -> int | None:
    return None if amount is None else to_units(amount, MICROS, "")


def guardrail_to_json(rule: Guardrail) -> dict[str, Json]:
    """Return a rule as responses show it."""
    window, percent = rule.per_window, rule.max_increase_percent
    return {
        "id": rule.id,
        "version": rule.version,
        "name": rule.name,
        "scope": {name: value for name, value in rule.scope.to_json().items() if value},
        "currency": rule.currency,
        "perOperation": _limits_to_json(rule.per_operation, rule.currency),
        "perWindow": None
        if window is None
        else {"hours": window.hours, **_limits_to_json(window.limits, rule.currency)},
        "approvalAbove": _limits_to_json(rule.approval_above, rule.currency),
        "maxIncreasePercent": None if percent is None else _to_number(percent),
        "maxBid": _format_optional(rule.max_bid, rule.currency),
        "blockedActions": list(rule.blocked_actions),
        "onBreach": rule.on_breach,
        "otherCurrencies": rule.other_currencies,
        "active": rule.is_active,
    }


def _limits_to_json(limits: Limits, currency: str | None) -> dict[str, Json]:
    return {
        "daily": _format_optional(limits.daily, currency),
        "lifetime": _format_optional(limits.lifetime, currency),
    }


def _format_optional(amount: int | None, currency: str | None) -> str | None:
    return None if amount is None else format_amount(amount, currency)


def _to_number(percent: Decimal) -> Decimal | int:
    return int(percent) if percent == int(percent) else percent


def _usage_to_json(rule: Guardrail, usage: Usage, clock: Clock) -> dict[str, Json]:
    limits = Limits() if rule.per_window is None else rule.per_window.limits
    now = clock.now()
    since = None if usage.hours is None else now - now % MILLISECONDS_PER_HOUR - usage.hours * MILLISECONDS_PER_HOUR
    return {
        "guardrailId": rule.id,
        "currency": rule.currency,
        "hours": usage.hours,
        "since": None if since is None else format_timestamp(since),
        "daily": _window_amount_to_json(limits.daily, usage.daily, rule.currency),
        "lifetime": _window_amount_to_json(limits.lifetime, usage.lifetime, rule.currency),
        "uses": [
            {
                "operationId": use.operation_id,
                "hour": format_timestamp(use.hour * MILLISECONDS_PER_HOUR),
                "daily": format_amount(use.daily, rule.currency),
                "lifetime": format_amount(use.lifetime, rule.currency),
                "unknown": use.is_unknown,
            }
            for use in usage.uses
        ],
    }


def _window_amount_to_json(limit: int | None, used: int, currency: str | None) -> dict[str, Json]:
    left = None if limit is None else max(0, limit - used)
    return {
        "limit": _format_optional(limit, currency),
        "used": format_amount(used, currency),
        "left": _format_optional(left, currency),
    }


def _freeze_to_json(freeze: FrozenCredential) -> dict[str, Json]:
    return {
        "credential": freeze.credential,
        "guardrailId": freeze.rule_id,
        "operationId": freeze.operation_id,
        "frozenAt": format_timestamp(freeze.created_at),
    }


# -- scopes -------------------------------------------------------------------------------------------------------


def _find_scope_issues(connection: Connection, actor: Actor, rule: Guardrail) -> list[Issue]:
    """Find the parts of a scope that match nothing, because a rule with this scope would protect nothing."""
    scope = rule.scope
    issues = find_network_issues(scope.networks)
    accounts = {account.id for account in connections.list_accounts(connection, actor)}
    key_ids = {key.id for key in keys.list_keys(connection, actor)}
    members = {member.user_id for member in people.list_members(connection, actor.workspace_id)}
    lists = (
        ("accountIds", scope.account_ids, accounts, "an account"),
        ("keyIds", scope.key_ids, key_ids, "an API key"),
        ("userIds", scope.user_ids, members, "a member"),
    )
    for name, ids, known, what in lists:
        message = f"must be the id of {what} of this workspace."
        issues += [Issue(f"scope.{name}.{i}", "not_found", message) for i, id_ in enumerate(ids) if id_ not in known]
    for index, client in enumerate(scope.clients):
        path = f"scope.clients.{index}"
        if agents.find_client(connection, client.client_id) is None:
            issues.append(Issue(f"{path}.clientId", "not_found", "must be the id of an agent's client."))
        if client.user_id not in members:
            issues.append(Issue(f"{path}.userId", "not_found", "must be the id of a member of this workspace."))
    if not issues and not is_rule_visible(actor, rule):
        message = "must name accounts or networks in the scope of your credential, as `GET /auth/verify` shows it."
        issues.append(Issue("scope", "outside_scope", message))
    return issues


def find_network_issues(networks: Sequence[str]) -> list[Issue]:
    """Find the networks of a scope that do not exist."""
    return [
        Issue(f"scope.networks.{index}", "not_a_choice", _describe_networks(network))
        for index, network in enumerate(networks)
        if network not in ADAPTER_PACKAGES
    ]


def _describe_networks(network: str) -> str:
    similar = find_similar(network, ADAPTER_PACKAGES)
    hint = "" if similar is None else f" Did you mean {similar}?"
    return f"must be one of {', '.join(ADAPTER_PACKAGES)}.{hint}"
