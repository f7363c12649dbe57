"""Evaluates the rules of a workspace for one operation. Pure: it reads neither the store nor a clock.

All matching rules apply. A rule limits the operations that it matches in its own currency; nothing is converted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Literal

from attrs import field, frozen

from adsunify.models.guardrail import GuardedAction
from adsunify.plans.exposure import NO_SPEND, UNKNOWN_SPEND, Amount, BudgetChange, Exposure, Spend

from .rules import Guardrail, Limits, Scope, Window
from .windows import WindowUse

LIMIT_NAMES: tuple[Literal["daily", "lifetime"], ...] = ("daily", "lifetime")
BudgetKey = tuple[str, str, str]
"""Kind, native id and field of a budget."""


def get_budget_key(change: BudgetChange) -> BudgetKey:
    """Return the key of a budget."""
    return change.kind, change.entity_id, change.field


@frozen
class Caller:
    """The caller that prepares or executes: the identity of the credential (``Actor.credential``), and its user."""

    credential: str
    user_id: str


@frozen
class CallPart:
    """The exposure and the planned budgets of a call's operations in one account, without unknown parts."""

    account_id: str
    network: str
    currency: str | None
    exposed: Spend
    planned: Spend


@frozen
class Subject:
    """The subject of an evaluation: one operation.

    Attributes:
        account_id: the account.
        network: the code of its network.
        currency: its currency; None if it is not known.
        action: the action of the plan.
        callers: the caller that prepares it and, at its execution, the caller that executes it.
        exposure: the exposure of its plan; None if the plan has none, which counts as unknown.
        lowest: the lowest value of each changed budget in the last 24 hours, where one is known.
        call: all operations of the call that prepares it, this one included; None if the call prepares it alone.
    """

    account_id: str
    network: str
    currency: str | None
    action: GuardedAction
    callers: tuple[Caller, ...]
    exposure: Exposure | None
    lowest: Mapping[BudgetKey, int] = field(factory=dict)
    call: Sequence[CallPart] | None = None

    @property
    def exposed_spend(self) -> Spend:
        """The exposure of the operation."""
        return UNKNOWN_SPEND if self.exposure is None else self.exposure.exposure

    @property
    def planned_spend(self) -> Spend:
        """The budgets that the operation sets up."""
        return UNKNOWN_SPEND if self.exposure is None else self.exposure.planned

    @property
    def highest_bid(self) -> Amount | None:
        """The highest bid that the operation sets; None if it sets none."""
        return "unknown" if self.exposure is None else self.exposure.highest_bid

    @property
    def actions(self) -> frozenset[GuardedAction]:
        """The action of the operation, and ``activate`` if it sets an entity to active by another action."""
        activates = self.exposure is not None and self.exposure.activates
        return frozenset((self.action, "activate") if activates else (self.action,))

    @property
    def has_money(self) -> bool:
        """Whether the operation may spend, or sets up a budget or a bid."""
        return self.exposed_spend != NO_SPEND or self.planned_spend != NO_SPEND or self.highest_bid is not None


@frozen
class Breach:
    """A limit of a rule that an operation exceeds. Amounts are micro-units of the rule's currency.

    Attributes:
        rule: the rule.
        member: the member of the rule, such as ``perOperation.daily``.
        limit: the amount of the limit; None if the member has no amount.
        amount: the amount of the operation.
        fits: the highest amount that the rule allows; None if it depends on the usage of the window.
        used: the amount that the window counts already; None for other members.
        account_currency: the currency of the amounts, if it is the account's: a percentage needs no currency.
    """

    rule: Guardrail
    member: str
    limit: int | None = None
    amount: Amount | None = None
    fits: int | None = None
    used: int | None = None
    account_currency: str | None = None

    @property
    def currency(self) -> str | None:
        """The currency of the amounts."""
        return self.account_currency or self.rule.currency


@frozen
class Evaluation:
    """The result of all matching rules.

    Attributes:
        breaches: the limits that the operation exceeds. It must not be prepared or executed.
        needs_person: the breaches for which a signed-in person must execute the operation: amounts above
            ``approvalAbove``, and unknown amounts (``amount`` is ``unknown``).
        unbounded: the windows that cannot hold the operation, because its lifetime amount is unbounded.
        uses: the amounts that the operation adds to the windows.
    """

    breaches: tuple[Breach, ...] = ()
    needs_person: tuple[Breach, ...] = ()
    unbounded: tuple[Breach, ...] = ()
    uses: tuple[WindowUse, ...] = ()


def sum_known_spend(exposures: Sequence[Exposure | None]) -> tuple[Spend, Spend]:
    """Return the exposure and the planned budgets of the operations of one call, without unknown parts."""
    known = [exposure for exposure in exposures if exposure is not None]
    return (
        sum((drop_unknown(exposure.exposure) for exposure in known), NO_SPEND),
        sum((drop_unknown(exposure.planned) for exposure in known), NO_SPEND),
    )


def drop_unknown(spend: Spend) -> Spend:
    """Return a spend with 0 in place of unknown parts."""
    return Spend(*(0 if amount == "unknown" else amount for amount in (spend.daily, spend.lifetime)))


def evaluate_rules(rules: Sequence[Guardrail], subject: Subject) -> Evaluation:
    """Evaluate all rules that match an operation."""
    matching = [rule for rule in rules if rule.is_active and is_match(rule.scope, subject)]
    if not matching:
        return Evaluation()
    amounts = _Amounts.from_subject(subject)
    actions = subject.actions
    breaches = [Breach(rule, "blockedActions") for rule in matching if not actions.isdisjoint(rule.blocked_actions)]
    needs_person: list[Breach] = []
    for rule in matching:
        if rule.max_increase_percent is not None:
            for breach in _find_raises(rule, rule.max_increase_percent, amounts, subject.currency):
                (needs_person if breach.amount == "unknown" else breaches).append(breach)
    breaches += _find_foreign_currency(matching, subject)
    uses: list[WindowUse] = []
    unbounded: list[Breach] = []
    for rule in matching:
        # if the currency of the account is not known, it may be the currency of the rule
        if subject.currency not in (rule.currency, None) or not rule.has_amounts:
            continue
        breaches += _find_exceeded(rule, "perOperation", rule.per_operation, _sum_call(rule, subject, amounts))
        if rule.max_bid is not None and amounts.bid > rule.max_bid:
            breaches.append(Breach(rule, "maxBid", rule.max_bid, subject.highest_bid, rule.max_bid))
        needs_person += _find_exceeded(rule, "approvalAbove", rule.approval_above, amounts.of_operation)
        if amounts.has_unknown:
            needs_person += _find_unknown(rule, subject)
        window = rule.per_window
        if window is not None and amounts.has_exposure:
            unbounded += _find_unbounded(rule, window.limits, subject.exposed_spend)
            uses.append(_make_use(rule, window, subject.exposed_spend))
    return Evaluation(tuple(breaches), tuple(needs_person), tuple(unbounded), tuple(uses))


def is_match(scope: Scope, subject: Subject) -> bool:
    """Whether a rule with this scope applies to the operation: to its account, network, and one of its callers."""
    return _has_account(scope, subject.network, subject.account_id) and has_caller(scope, subject.callers)


def _has_account(scope: Scope, network: str, account_id: str) -> bool:
    return (not scope.networks or network in scope.networks) and (
        not scope.account_ids or account_id in scope.account_ids
    )


def has_caller(scope: Scope, callers: Sequence[Caller]) -> bool:
    """Whether one of the callers is in the scope."""
    if not scope.key_ids and not scope.clients and not scope.user_ids:
        return True
    credentials = {*scope.key_ids, *(client.credential for client in scope.clients)}
    return any(caller.credential in credentials or caller.user_id in scope.user_ids for caller in callers)


_UNBOUNDED = 10**40
"""The number for an unbounded amount in comparisons. It is above each limit."""


def _to_comparable(amount: Amount | None) -> int:
    """Return an amount as a number; 0 if it is unknown, because an unknown amount does not surely exceed a limit."""
    if isinstance(amount, int):
        return amount
    return _UNBOUNDED if amount == "unbounded" else 0


@frozen
class _Amounts:
    """The amounts of an operation as all rules compare them.

    Attributes:
        of_operation: the larger of exposure and plan, daily and lifetime.
        bid: the highest bid.
        raises: for each budget that grows, its new value and its lowest value; None if the lowest value is not known.
            An unknown exposure counts as a budget that grows.
        has_exposure: whether the operation adds an amount to a window.
        has_unknown: whether one of the amounts is unknown.
    """

    of_operation: tuple[int, int]
    bid: int
    raises: tuple[tuple[int, int | None], ...]
    has_exposure: bool
    has_unknown: bool

    @classmethod
    def from_subject(cls, subject: Subject) -> _Amounts:
        """Return the amounts of an operation."""
        exposed, planned, bid = subject.exposed_spend, subject.planned_spend, subject.highest_bid
        budgets = () if subject.exposure is None else subject.exposure.budgets
        raises = [*_list_raises(budgets, subject.lowest)] + [(0, None)] * exposed.is_unknown
        return cls(
            of_operation=_find_larger(exposed, planned),
            bid=_to_comparable(bid),
            raises=tuple(raises),
            has_exposure=exposed != NO_SPEND,
            has_unknown=exposed.is_unknown or planned.is_unknown or bid == "unknown",
        )


def is_limited(rule: Guardrail, part: CallPart) -> bool:
    """Whether a rule limits a part of a call: its account, its network and its currency. Callers are not compared."""
    return part.currency in (rule.currency, None) and _has_account(rule.scope, part.network, part.account_id)


def _sum_call(rule: Guardrail, subject: Subject, amounts: _Amounts) -> tuple[int, int]:
    """Return the larger of exposure and plan, daily and lifetime, of the operations of the call that a rule limits.

    They may be of several accounts. Amounts of another currency than the rule's are not added.
    """
    if subject.call is None or not rule.per_operation.has_limit:
        return amounts.of_operation
    parts = [part for part in subject.call if is_limited(rule, part)]
    return _find_larger(
        sum((part.exposed for part in parts), NO_SPEND), sum((part.planned for part in parts), NO_SPEND)
    )


def _find_larger(exposed: Spend, planned: Spend) -> tuple[int, int]:
    return (
        max(_to_comparable(exposed.daily), _to_comparable(planned.daily)),
        max(_to_comparable(exposed.lifetime), _to_comparable(planned.lifetime)),
    )


def _list_raises(budgets: Sequence[BudgetChange], lowest: Mapping[BudgetKey, int]) -> Iterator[tuple[int, int | None]]:
    for change in budgets:
        if change.after is None or (change.before is not None and change.after <= change.before):
            continue
        values = [value for value in (lowest.get(get_budget_key(change)), change.before) if value is not None]
        yield change.after, min(values) if values else None


def _find_foreign_currency(matching: Sequence[Guardrail], subject: Subject) -> Iterator[Breach]:
    """Yield the rules that refuse the account's currency.

    Each of these rules has a limit that no rule in that currency has. An operation without an amount is not refused,
    and ``maxBid`` refuses none without a bid.
    """
    refusing = [
        rule
        for rule in matching
        if rule.currency != subject.currency and rule.other_currencies == "refuse" and rule.has_amounts
    ]
    if refusing and subject.has_money:
        covered = {name for rule in matching if rule.currency == subject.currency for name in rule.limit_names}
        if subject.highest_bid is None:
            covered.add("maxBid")
        yield from (Breach(rule, "currency") for rule in refusing if not rule.limit_names <= covered)


def _find_exceeded(rule: Guardrail, member: str, limits: Limits, amounts: tuple[int, int]) -> Sequence[Breach]:
    """Return the limits that the amounts, daily and lifetime, exceed."""
    daily, lifetime = limits.daily, limits.lifetime
    if (daily is None or amounts[0] <= daily) and (lifetime is None or amounts[1] <= lifetime):
        return ()
    return [
        Breach(rule, f"{member}.{name}", limit, "unbounded" if amount == _UNBOUNDED else amount, limit)
        for name, limit, amount in (("daily", daily, amounts[0]), ("lifetime", lifetime, amounts[1]))
        if limit is not None and amount > limit
    ]


def _find_unknown(rule: Guardrail, subject: Subject) -> Iterator[Breach]:
    """Yield the unknown amounts that the rule would compare."""
    looks_at_planned = rule.per_operation.has_limit or rule.approval_above.has_limit
    if subject.exposed_spend.is_unknown or (subject.planned_spend.is_unknown and looks_at_planned):
        yield Breach(rule, "exposure", amount="unknown")
    if subject.highest_bid == "unknown" and rule.max_bid is not None:
        yield Breach(rule, "maxBid", rule.max_bid, "unknown", rule.max_bid)


def _find_raises(rule: Guardrail, percent: Decimal, amounts: _Amounts, currency: str | None) -> Iterator[Breach]:
    """Yield the budgets that grow by more than a percentage over their lowest value.

    An unknown exposure and a budget without an earlier value cannot be compared, so their amount is ``unknown``.
    """
    if not amounts.raises:
        return
    numerator, denominator = percent.as_integer_ratio()
    for after, lowest in amounts.raises:
        if lowest is None:
            yield Breach(rule, "maxIncreasePercent", amount="unknown")
            continue
        highest = lowest * (100 * denominator + numerator) // (100 * denominator)
        if after > highest:
            yield Breach(rule, "maxIncreasePercent", highest, after, highest, account_currency=currency)


def _find_unbounded(rule: Guardrail, limits: Limits, exposed: Spend) -> Sequence[Breach]:
    """Return the limits of the window that the operation exceeds even if the window is empty."""
    if exposed.daily != "unbounded" != exposed.lifetime:
        return ()
    return [
        Breach(rule, f"perWindow.{name}", limit, "unbounded")
        for name, limit, amount in (
            ("daily", limits.daily, exposed.daily),
            ("lifetime", limits.lifetime, exposed.lifetime),
        )
        if limit is not None and amount == "unbounded"
    ]


def _make_use(rule: Guardrail, window: Window, exposed: Spend) -> WindowUse:
    """Make the use of a rule's window. Unknown amounts, and unbounded ones without a limit, count as 0."""
    daily = exposed.daily if isinstance(exposed.daily, int) else 0
    lifetime = exposed.lifetime if isinstance(exposed.lifetime, int) else 0
    return WindowUse(rule.id, rule.version, window.hours, window.limits, daily, lifetime, exposed.is_unknown)
