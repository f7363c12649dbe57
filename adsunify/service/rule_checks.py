"""Checks plans against the guardrails of their workspace, when they are prepared and when they are executed.

A prepare call refuses plans that the rules never allow. An execution evaluates the rules again, and its claim binds the
windows (``SpendBinding``). The rules of a workspace are cached by their version.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from attrs import evolve
from sqlalchemy import Connection

from adsunify.actor import Actor
from adsunify.errors import Forbidden, GuardrailRefused
from adsunify.execution.state import WindowBreach
from adsunify.guardrails.evaluation import (
    LIMIT_NAMES,
    Breach,
    BudgetKey,
    Caller,
    CallPart,
    Evaluation,
    Subject,
    drop_unknown,
    evaluate_rules,
    get_budget_key,
    is_limited,
    sum_known_spend,
)
from adsunify.guardrails.refusals import (
    describe_approval,
    describe_breach,
    hide_rule_name,
    make_refusal,
    make_rule_breach,
)
from adsunify.guardrails.rules import Guardrail
from adsunify.guardrails.windows import MILLISECONDS_PER_HOUR, SpendBinding, WindowUse
from adsunify.plans.exposure import NO_SPEND, BudgetChange, Exposure, Spend
from adsunify.plans.records import Plan
from adsunify.store import change_sets, events, guardrails, windows
from adsunify.store.clock import Clock
from adsunify.store.operations import OperationRecord
from adsunify.values.exact_json import Json
from adsunify.values.money import MAX_NATIVE_UNITS

from .core import Service, format_timestamp
from .workspace_rules import NO_RULES, WorkspaceRules, is_rule_visible, load_workspace_rules

MAX_CACHED_WORKSPACES = 1000
MAX_CACHED_CHANGE_SETS = 100
LOOK_BACK = 24 * MILLISECONDS_PER_HOUR
"""How far back ``maxIncreasePercent`` looks, in milliseconds."""
APPROVAL_ADVICE = "Sign in, read the plan and execute it at {url}. Calling again does not change that."


async def get_workspace_rules(service: Service, workspace_id: str, version: int) -> WorkspaceRules:
    """Return the rules of a workspace in this version or a newer one."""
    if version == 0:
        return NO_RULES
    cached = service.workspace_rules.get(workspace_id)
    if cached is not None and cached.rules.version == version:
        return cached
    loaded = await service.store.read(load_workspace_rules, workspace_id)
    if len(service.workspace_rules) >= MAX_CACHED_WORKSPACES:
        service.workspace_rules.clear()
    service.workspace_rules[workspace_id] = loaded
    return loaded


async def raise_if_credential_is_frozen(service: Service, actor: Actor) -> None:
    """Raise Forbidden ``credential_frozen`` if a rule has frozen the actor's credential."""
    if actor.kind in guardrails.FREEZABLE_ACTORS:
        version = await service.store.run_query(guardrails.find_rules_version(actor.workspace_id))
        _raise_if_frozen(await get_workspace_rules(service, actor.workspace_id, version), actor.credential)


def _raise_if_frozen(rules: WorkspaceRules, credential: str) -> None:
    """Raise Forbidden ``credential_frozen`` if a rule has frozen the credential."""
    freeze = rules.frozen.get(credential)
    if freeze is not None:
        raise Forbidden(
            f"The guardrail {freeze.rule_id} froze this credential at {format_timestamp(freeze.created_at)}. The "
            "credential can still read and cancel. An admin can lift the freeze.",
            code="credential_frozen",
        )


# -- preparing ----------------------------------------------------------------------------------------------------


async def check_plans(
    service: Service,
    actor: Actor,
    account_id: str,
    plans: Sequence[Plan],
    *,
    call: Sequence[CallPart] | None = None,
    is_validation: bool = False,
    chain_id: str | None = None,
) -> list[Plan]:
    """Check the plans of one call, and return them with warnings about rules that would stop their execution.

    Args:
        service: the service.
        actor: the actor that prepares or validates.
        account_id: the account of the plans.
        plans: the plans. For ``perOperation`` they count as one operation.
        call: all plans of the call, if it has plans for other accounts too.
        is_validation: nothing is prepared, so nothing is recorded.
        chain_id: the chain that the plan continues. Windows that already count the chain are not checked.

    Raises:
        GuardrailRefused: rules refuse one of the plans.
    """
    version = await service.store.run_query(guardrails.find_rules_version(actor.workspace_id))
    present = await get_workspace_rules(service, actor.workspace_id, version)
    callers = (Caller(actor.credential, actor.user_id),)
    rules = present.select_rules(callers)
    if not rules:
        return list(plans)
    lowest = await _find_lowest_budgets(service, rules, account_id, plans)
    if call is None and len(plans) > 1:
        call = [make_call_part(account_id, plan) for plan in plans]
    evaluations = [
        evaluate_rules(
            rules,
            Subject(
                account_id=account_id,
                network=plan.network,
                currency=None if plan.exposure is None else plan.exposure.currency,
                action=plan.action,
                callers=callers,
                exposure=plan.exposure,
                lowest=lowest,
                call=call,
            ),
        )
        for plan in plans
    ]
    breaches = [*dict.fromkeys(chain.from_iterable(evaluation.breaches for evaluation in evaluations))]
    if breaches:
        if not is_validation:
            await _record_breaches(service, actor, breaches, account_id, plans[0].network)
        raise make_refusal(_hide_rule_names(actor, breaches), is_bulk=len(plans) > 1)
    others = [part for part in call or () if part.account_id != account_id]
    full = await _find_full_windows(service, actor, rules, evaluations, others, chain_id)
    return [
        _add_warnings(plan, evaluation.needs_person, full) for plan, evaluation in zip(plans, evaluations, strict=True)
    ]


def make_call_part(account_id: str, plan: Plan) -> CallPart:
    """Return the amounts that a plan adds to its call."""
    exposed, planned = sum_known_spend([plan.exposure])
    currency = None if plan.exposure is None else plan.exposure.currency
    return CallPart(account_id, plan.network, currency, exposed, planned)


def _add_warnings(plan: Plan, needs_person: Sequence[Breach], full: Sequence[Breach]) -> Plan:
    """Return the plan with warnings.

    They contain the ids of rules and not the names, because a reader of the plan may have no access to the rules.
    """
    warnings = [
        *plan.warnings,
        *(describe_approval(make_rule_breach(hide_rule_name(breach))) for breach in needs_person),
        *(
            f"{describe_breach(hide_rule_name(breach))} Until there is room, executing it is refused."
            for breach in full
        ),
    ]
    return evolve(plan, warnings=tuple(dict.fromkeys(warnings))) if needs_person or full else plan


def _hide_rule_names(actor: Actor, breaches: Sequence[Breach]) -> list[Breach]:
    """Return breaches as the actor may read them: without the names of rules outside the actor's scope."""
    return [breach if is_rule_visible(actor, breach.rule) else hide_rule_name(breach) for breach in breaches]


async def _find_lowest_budgets(
    service: Service, rules: Sequence[Guardrail], account_id: str, plans: Sequence[Plan]
) -> Mapping[BudgetKey, int]:
    """Return the lowest values of the plans' budgets in the last 24 hours, if a rule compares with them."""
    changes = [change for plan in plans if plan.exposure is not None for change in plan.exposure.budgets]
    if not changes or all(rule.max_increase_percent is None for rule in rules):
        return {}
    since = service.store.clock.now() - LOOK_BACK
    return await service.store.read(guardrails.find_lowest_budgets, account_id, changes, since)


async def _find_full_windows(
    service: Service,
    actor: Actor,
    rules: Sequence[Guardrail],
    evaluations: Sequence[Evaluation],
    others: Sequence[CallPart],
    chain_id: str | None,
) -> list[Breach]:
    """Find the windows that have no room for the operations of a call together.

    ``others``: the operations of other accounts.
    """
    unbounded = [*dict.fromkeys(chain.from_iterable(evaluation.unbounded for evaluation in evaluations))]
    counting = set() if chain_id is None else await service.store.read(windows.list_counting_rules, chain_id)
    needed: dict[str, list[WindowUse]] = {}
    for use in chain.from_iterable(evaluation.uses for evaluation in evaluations):
        if use.rule_id not in counting:
            needed.setdefault(use.rule_id, []).append(use)
    if not needed:
        return unbounded
    usages = await service.store.read(guardrails.read_windows, actor.workspace_id, needed, service.store.clock)
    full = []
    for rule in rules:
        for name in LIMIT_NAMES if rule.id in needed and rule.id in usages else ():
            limit: int | None = getattr(needed[rule.id][0].limits, name)
            used: int = getattr(usages[rule.id], name)
            needed_amount = sum(getattr(use, name) for use in needed[rule.id])
            exposed = [getattr(part.exposed, name) for part in others if is_limited(rule, part)]
            needed_amount += sum(amount for amount in exposed if isinstance(amount, int))
            if limit is not None and needed_amount and used + needed_amount > limit:
                full.append(_make_window_breach(rule, WindowBreach(rule.id, name, limit, used, needed_amount)))
    return [*unbounded, *full]


def _make_window_breach(rule: Guardrail, window: WindowBreach) -> Breach:
    return Breach(rule, f"perWindow.{window.limit}", window.allowed, window.amount, window.room, window.used)


# -- executing ----------------------------------------------------------------------------------------------------


async def bind_spend(
    service: Service, actor: Actor, present: WorkspaceRules, record: OperationRecord, plan: Plan, currency: str | None
) -> SpendBinding:
    """Evaluate an operation that is about to be executed, and return the spend that its claim binds.

    Args:
        service: the service.
        actor: the actor that executes it.
        present: the present rules.
        record: the operation.
        plan: its plan.
        currency: the currency of its account, for plans that have no exposure.

    Raises:
        GuardrailRefused: rules refuse the operation, or demand a person (``approval_required``).
        Forbidden: ``credential_frozen``.
    """
    _raise_if_frozen(present, actor.credential)
    binding = SpendBinding(present.rules.version, record.chain_id)
    if not present.rules.guardrails:
        return binding
    callers = (Caller(record.credential, record.user_id), Caller(actor.credential, actor.user_id))
    rules = present.select_rules(callers)
    currency = currency if plan.exposure is None else plan.exposure.currency
    subject = Subject(
        account_id=record.account_id,
        network=record.network,
        currency=currency,
        action=plan.action,
        callers=callers,
        exposure=plan.exposure,
        lowest=await _find_lowest_budgets(service, rules, record.account_id, [plan]),
        call=await _read_call(service, rules, record, currency),
    )
    evaluation = evaluate_rules(rules, subject)
    breaches = (*evaluation.breaches, *evaluation.unbounded)
    if breaches:
        await _record_breaches(service, actor, breaches, record.account_id, record.network, record.id)
        raise make_refusal(_hide_rule_names(actor, breaches), is_bulk=subject.call is not None)
    if evaluation.needs_person and not actor.can_approve:
        await _record_breaches(
            service, actor, evaluation.needs_person, record.account_id, record.network, record.id, can_freeze=False
        )
        reasons = [*map(make_rule_breach, _hide_rule_names(actor, evaluation.needs_person))]
        url = f"{service.settings.base_url}/review/{record.id}"
        sentences = dict.fromkeys((*map(describe_approval, reasons), APPROVAL_ADVICE.format(url=url)))
        raise GuardrailRefused(" ".join(sentences), breaches=reasons, code="approval_required")
    lowered = list_lowered_budgets(plan.exposure)
    if lowered and any(rule.max_increase_percent is not None for rule in present.rules.guardrails):
        await service.store.write(_record_lowered, actor.workspace_id, record.account_id, lowered, service.store.clock)
    return evolve(binding, uses=evaluation.uses)


async def _read_call(
    service: Service, rules: Sequence[Guardrail], record: OperationRecord, currency: str | None
) -> Sequence[CallPart] | None:
    """Return the operations of the call that prepared an operation, if a rule limits their sum."""
    if not any(rule.per_operation.has_limit for rule in rules):
        return None
    if record.call_spend is not None:
        return [CallPart(record.account_id, record.network, currency, *record.call_spend)]
    call = await service.store.read(change_sets.find_change_set_id, record.chain_id)
    if call is None:
        return None
    if call not in service.change_set_calls:
        members = await service.store.read(change_sets.list_members, call)
        if len(service.change_set_calls) >= MAX_CACHED_CHANGE_SETS:
            service.change_set_calls.clear()
        service.change_set_calls[call] = [
            CallPart(
                member.account_id,
                member.network,
                member.exposure["exposure"]["currency"],
                *_read_spend(member.exposure),
            )
            for member in members
            if member.exposure is not None and member.exposure["exposure"] is not None
        ]
    parts: Sequence[CallPart] = service.change_set_calls[call]
    return parts


def _read_spend(exposure: Mapping[str, Json]) -> Iterator[Spend]:
    """Yield the exposure and the planned budgets of a member of a change set, without unknown parts."""
    for name in ("exposure", "planned"):
        yield NO_SPEND if exposure[name] is None else drop_unknown(Spend.from_json(exposure[name]))


def list_lowered_budgets(exposure: Exposure | None) -> list[BudgetChange]:
    """Return the budgets that a plan lowers, with their new values."""
    return [
        evolve(change, before=change.after)
        for change in (() if exposure is None else exposure.budgets)
        if change.before is not None and change.after is not None and change.after < change.before
    ]


def _record_lowered(
    connection: Connection, workspace_id: str, account_id: str, lowered: Sequence[BudgetChange], clock: Clock
) -> None:
    """Record budgets that are about to be lowered, so that no earlier plan raises them by more than the rules allow.

    They are recorded before the write, so that no crash loses them; a refused write leaves a value that is too low for
    24 hours. The new version of the rules causes executions that have read the higher values to evaluate again.
    """
    now = clock.now()
    lowest = guardrails.find_lowest_budgets(connection, account_id, lowered, now - LOOK_BACK)
    new = [change for change in lowered if change.before is not None and change.before < _get_lowest(lowest, change)]
    if new:
        guardrails.record_budgets(connection, account_id, new, now)
        guardrails.raise_rules_version(connection, workspace_id)


def _get_lowest(lowest: Mapping[BudgetKey, int], change: BudgetChange) -> int:
    return lowest.get(get_budget_key(change), MAX_NATIVE_UNITS)


def make_window_refusal(actor: Actor, present: WorkspaceRules, window: WindowBreach) -> GuardrailRefused:
    """Make the error of an execution for which a window had no room.

    The claim has already recorded the breach and a freeze.
    """
    rule = next(rule for rule in present.rules.guardrails if rule.id == window.rule_id)
    return make_refusal(_hide_rule_names(actor, [_make_window_breach(rule, window)]))


# -- what a breach causes -----------------------------------------------------------------------------------------


async def _record_breaches(
    service: Service,
    actor: Actor,
    breaches: Sequence[Breach],
    account_id: str,
    network: str,
    operation_id: str | None = None,
    can_freeze: bool = True,
) -> None:
    """Record ``rule.triggered`` for each breach. A rule with ``on_breach`` "freeze" also freezes the credential."""
    frozen_by = next((breach for breach in breaches if can_freeze and _can_freeze(actor, breach)), None)
    facts = [{"kind": "guardrail", **_drop_none(make_rule_breach(breach).to_json())} for breach in breaches]
    await service.store.write(
        _store_breaches, actor, facts, frozen_by, account_id, network, operation_id, service.store.clock
    )


def _drop_none(facts: Mapping[str, Json]) -> dict[str, Json]:
    return {name: value for name, value in facts.items() if value is not None}


def _can_freeze(actor: Actor, breach: Breach) -> bool:
    """Whether a breach freezes the actor's credential.

    It never freezes a person, because all people share one credential.
    """
    return breach.rule.on_breach == "freeze" and actor.kind in guardrails.FREEZABLE_ACTORS


def _store_breaches(
    connection: Connection,
    actor: Actor,
    facts: Sequence[Mapping[str, Json]],
    frozen_by: Breach | None,
    account_id: str,
    network: str,
    operation_id: str | None,
    clock: Clock,
) -> None:
    status = "refused" if operation_id is None else "prepared"
    rows = [
        events.make_event_row(
            "rule.triggered",
            actor.workspace_id,
            clock.now(),
            status=status,
            operation_id=operation_id,
            account_id=account_id,
            network=network,
            more=more,
        )
        for more in facts
    ]
    events.record_events(connection, rows)
    if frozen_by is not None:
        guardrails.freeze_credential(
            connection, actor.workspace_id, actor.credential, frozen_by.rule.id, operation_id, clock
        )
