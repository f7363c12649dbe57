"""Evaluates the rules of a workspace for one operation. Pure: it reads neither the store nor a clock.

All matching rules apply. A rule limits the operations that it matches in its own currency; nothing is converted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Literal

from attrs import field, frozen

from adsunify.models.guardrail import GuardedAction
from adsunify.plans.exposure import NO_SPEND, UNKNOWN_SPEND, Amount, BudgetChange, Exposure, Spend, exceeds

from .rules import Guardrail, Limits, Scope
from .windows import WindowUse

LIMIT_NAMES: tuple[Literal["daily", "lifetime"], ...] = ("daily", "lifetime")
BudgetKey = tuple[str, str, str]
"""Kind, native id and field of a budget."""


def get_budget_key(change: BudgetChange) -> BudgetKey:
    """Return the key of a budget."""
    return change.kind, change.entity_id, change.field


@frozen
class Caller:
    """Who prepares or executes: the identity of the credential (``Actor.credential``), and its user."""

    credential: str
    user_id: str


@frozen
class Subject:
    """What the rules are evaluated for: one operation.

    Attributes:
        account_id: the account.
        network: the code of its network.
        currency: its currency; None if it is not known.
        action: the action of the plan.
        callers: who prepares it and, once it is executed, who executes it.
        exposure: the exposure of its plan; None if the plan has none, which counts as unknown.
        lowest: the lowest value of each changed budget in the last 24 hours, where one is known.
        call: the exposure and the planned budgets of all operations of the call that prepares it, without unknown
            parts; None if the call prepares this operation alone.
    """

    account_id: str
    network: str
    currency: str | None
    action: GuardedAction
    callers: tuple[Caller, ...]
    exposure: Exposure | None
    lowest: Mapping[BudgetKey, int] = field(factory=dict)
    call: tuple[Spend, Spend] | None = None

    @property
    def exposed(self) -> Spend:
        """What the operation exposes."""
        return UNKNOWN_SPEND if self.exposure is None else self.exposure.exposure

    @property
    def planned(self) -> Spend:
        """The budgets that the operation sets up."""
        return UNKNOWN_SPEND if self.exposure is None else self.exposure.planned

    @property
    def highest_bid(self) -> Amount | None:
        """The highest bid that the operation sets; None if it sets none."""
        return "unknown" if self.exposure is None else self.exposure.highest_bid

    @property
    def has_money(self) -> bool:
        """Whether the operation may spend, or sets up a budget or a bid."""
        return self.exposed != NO_SPEND or self.planned != NO_SPEND or self.highest_bid is not None


@frozen
class Breach:
    """A limit of a rule that an operation exceeds. Amounts are micro-units of the rule's currency.

    Attributes:
        rule: the rule.
        member: the member of the rule, such as ``perOperation.daily``.
        limit: the amount of the limit; None if the member has no amount.
        asked: the amount of the operation.
        fits: the highest amount that the rule allows; None if it depends on what the window counts.
        used: what the window counts already; None for other members.
    """

    rule: Guardrail
    member: str
    limit: int | None = None
    asked: Amount | None = None
    fits: int | None = None
    used: int | None = None


@frozen
class Evaluation:
    """The result of all matching rules.

    Attributes:
        breaches: the limits that the operation exceeds. It must not be prepared or executed.
        needs_person: what only a signed-in person may execute: amounts above ``approvalAbove``, and amounts that are
            not known (``asked`` is ``unknown``).
        unbounded: the windows that cannot hold the operation, because its lifetime amount is unbounded.
        uses: what the operation takes from the windows.
    """

    breaches: tuple[Breach, ...] = ()
    needs_person: tuple[Breach, ...] = ()
    unbounded: tuple[Breach, ...] = ()
    uses: tuple[WindowUse, ...] = ()


def sum_known_spend(exposures: Sequence[Exposure | None]) -> tuple[Spend, Spend]:
    """Return the exposure and the planned budgets of the operations of one call, without unknown parts."""
    known = [exposure for exposure in exposures if exposure is not None]
    return (
        sum((_drop_unknown(exposure.exposure) for exposure in known), NO_SPEND),
        sum((_drop_unknown(exposure.planned) for exposure in known), NO_SPEND),
    )


def _drop_unknown(spend: Spend) -> Spend:
    return Spend(*(0 if amount == "unknown" else amount for amount in (spend.daily, spend.lifetime)))


def evaluate_rules(rules: Sequence[Guardrail], subject: Subject) -> Evaluation:
    """Evaluate all rules that match an operation."""
    matching = [rule for rule in rules if rule.is_active and is_match(rule.scope, subject)]
    if not matching:
        return Evaluation()
    breaches: list[Breach] = [Breach(rule, "blockedActions") for rule in matching if _is_blocked(rule, subject)]
    needs_person: list[Breach] = []
    for rule in matching:
        for breach in _find_raises(rule, subject):
            (needs_person if breach.asked == "unknown" else breaches).append(breach)
    breaches += _find_foreign_currency(matching, subject)
    uses: list[WindowUse] = []
    unbounded: list[Breach] = []
    for rule in matching:
        # where the currency of the account is not known, its amounts may be amounts of the rule
        if not rule.has_amounts or subject.currency not in (rule.currency, None):
            continue
        breaches += _find_operation_breaches(rule, subject)
        needs_person += _find_approvals(rule, subject)
        if rule.per_window is not None:
            unbounded += _find_unbounded(rule, rule.per_window.limits, subject.exposed)
            use = _make_use(rule, subject.exposed)
            uses += [use] if use.is_counted else []
    return Evaluation(tuple(breaches), tuple(needs_person), tuple(unbounded), tuple(uses))


def is_match(scope: Scope, subject: Subject) -> bool:
    """Whether a rule with this scope applies to the operation: to its account, network, and one of its callers."""
    return (
        (not scope.networks or subject.network in scope.networks)
        and (not scope.account_ids or subject.account_id in scope.account_ids)
        and any(_is_caller_match(scope, caller) for caller in subject.callers)
    )


def _is_caller_match(scope: Scope, caller: Caller) -> bool:
    if not scope.key_ids and not scope.clients and not scope.user_ids:
        return True
    return (
        caller.credential in scope.key_ids
        or caller.user_id in scope.user_ids
        or any(caller.credential == client.credential for client in scope.clients)
    )


def _is_blocked(rule: Guardrail, subject: Subject) -> bool:
    return subject.action in rule.blocked_actions


def _find_foreign_currency(matching: Sequence[Guardrail], subject: Subject) -> Iterator[Breach]:
    """Yield the rules that refuse the account's currency.

    They count only if no matching rule has amounts in that currency, and if the operation has amounts.
    """
    with_amounts = [rule for rule in matching if rule.has_amounts]
    if not subject.has_money or any(rule.currency == subject.currency for rule in with_amounts):
        return
    yield from (Breach(rule, "currency") for rule in with_amounts if rule.other_currencies == "refuse")


def _find_operation_breaches(rule: Guardrail, subject: Subject) -> Iterator[Breach]:
    exposed, planned = subject.call or (subject.exposed, subject.planned)
    yield from _find_exceeded(rule, "perOperation", rule.per_operation, (exposed, planned))
    bid = subject.highest_bid
    if bid is not None and exceeds(bid, rule.max_bid):
        yield Breach(rule, "maxBid", rule.max_bid, bid, rule.max_bid)


def _find_approvals(rule: Guardrail, subject: Subject) -> Iterator[Breach]:
    """Yield what needs a person: amounts above ``approvalAbove``, and amounts that are unknown."""
    yield from _find_exceeded(rule, "approvalAbove", rule.approval_above, (subject.exposed, subject.planned))
    looks_at_planned = rule.per_operation.has_limit or rule.approval_above.has_limit
    if subject.exposed.is_unknown or (subject.planned.is_unknown and looks_at_planned):
        yield Breach(rule, "exposure", asked="unknown")
    if subject.highest_bid == "unknown" and rule.max_bid is not None:
        yield Breach(rule, "maxBid", rule.max_bid, "unknown", rule.max_bid)


def _find_exceeded(rule: Guardrail, member: str, limits: Limits, spends: Sequence[Spend]) -> Iterator[Breach]:
    """Yield each limit that one of the amounts exceeds; the larger amount is what the operation asks for."""
    for name in LIMIT_NAMES:
        limit: int | None = getattr(limits, name)
        amounts: list[Amount] = [amount for spend in spends if exceeds(amount := getattr(spend, name), limit)]
        if amounts:
            bounded = [amount for amount in amounts if isinstance(amount, int)]
            asked: Amount = max(bounded) if len(bounded) == len(amounts) else "unbounded"
            yield Breach(rule, f"{member}.{name}", limit, asked, limit)


def _find_raises(rule: Guardrail, subject: Subject) -> Iterator[Breach]:
    """Yield the budgets that grow by more than ``maxIncreasePercent`` over their lowest value.

    What cannot be compared is ``unknown``: an unknown exposure, and a budget without an earlier value.
    """
    percent = rule.max_increase_percent
    if percent is None:
        return
    if subject.exposed.is_unknown:
        yield Breach(rule, "maxIncreasePercent", asked="unknown")
    for change in () if subject.exposure is None else subject.exposure.budgets:
        values = [one for one in (subject.lowest.get(get_budget_key(change)), change.before) if one is not None]
        if change.after is None or (change.before is not None and change.after <= change.before):
            continue
        if not values:
            yield Breach(rule, "maxIncreasePercent", asked="unknown")
            continue
        highest = int(min(values) * (100 + Fraction(percent)) / 100)
        if change.after > highest:
            yield Breach(rule, "maxIncreasePercent", highest, change.after, highest)


def _find_unbounded(rule: Guardrail, limits: Limits, exposed: Spend) -> Iterator[Breach]:
    """Yield the limits of the window that no amount of room can meet."""
    for name in LIMIT_NAMES:
        limit: int | None = getattr(limits, name)
        if limit is not None and getattr(exposed, name) == "unbounded":
            yield Breach(rule, f"perWindow.{name}", limit, "unbounded")


def _make_use(rule: Guardrail, exposed: Spend) -> WindowUse:
    """Make the use of a rule's window. Unknown amounts, and unbounded ones without a limit, count as 0."""
    window = rule.per_window
    assert window is not None
    daily, lifetime = (amount if isinstance(amount, int) else 0 for amount in (exposed.daily, exposed.lifetime))
    return WindowUse(rule.id, rule.version, window.hours, window.limits, daily, lifetime, exposed.is_unknown)
