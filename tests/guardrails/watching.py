"""Rules, and what a simulated network may hold after an operation under them."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from attrs import define, field, frozen

from .holdings import MICROS, NOTHING, Amounts, Holdings, count_raises, get_highest
from .hostile_values import get_hostile_values


@frozen
class Rule:
    """A rule, and what it allows: of one operation, of all together, and for one budget of its first amount."""

    body: Mapping[str, Any]
    per_operation: tuple[Decimal, Decimal] | None = None
    per_window: tuple[Decimal, Decimal] | None = None
    factor: Decimal | None = None
    counts_calls: bool = True
    """Whether the operations that one call prepares count as one."""


def make_rules(network: str, account: str, key_id: str) -> list[Rule]:
    """Return rules under which the campaign of a round can just be activated, once: for an account, and for a key."""
    values = get_hostile_values(network)
    amount = Decimal(values.amount)
    days = 1 if values.period == "lifetime" else 10
    limits = {"daily": str(amount * 5 / 4), "lifetime": str(amount * days * 5 / 4)}
    allowed = (amount * MICROS * 5 / 4, amount * days * MICROS * 5 / 4)
    common = {"name": "Hostile", "currency": "USD", "scope": {"accountIds": [account]}}
    of_key = {**common, "scope": {"keyIds": [key_id]}}
    return [
        Rule({**common, "perOperation": limits}, per_operation=allowed),
        Rule({**common, "perWindow": {"hours": 24, **limits}}, per_window=allowed),
        Rule({**common, "approvalAbove": limits}, per_operation=allowed, counts_calls=False),
        Rule({**common, "maxIncreasePercent": 50}, factor=Decimal("1.5")),
        Rule(
            {**of_key, "perOperation": limits, "perWindow": {"hours": 24, **limits}, "maxIncreasePercent": 50},
            allowed,
            allowed,
            Decimal("1.5"),
        ),
    ]


@define
class Call:
    """A prepared operation: the number of the call that prepared it, perhaps with others, and what was held then."""

    number: int
    operation: Mapping[str, Any]
    words: str
    holdings: Holdings


@define
class Watch:
    """Compares what the network holds after each operation with what a rule allows.

    A decrease gives nothing back, and takes nothing away from what was prepared before it: an operation is compared
    with the higher of what was held when it was prepared and before it was executed, a window with its beginning.
    """

    limits: Rule
    before: Holdings
    first: Holdings = field(init=False)
    rise: tuple[Amounts, Amounts] = (NOTHING, NOTHING)
    """By how much the last operation raised what the network holds, and what can be spent of it."""
    used_by_call: dict[int, list[Decimal]] = field(factory=dict)
    lowest: dict[tuple[str, str], Decimal] = field(factory=dict)

    @first.default
    def _begin(self) -> Holdings:
        return self.before

    @property
    def has_raised(self) -> bool:
        """Whether the last operation raised anything."""
        return any(amount > 0 for amounts in self.rise for amount in amounts)

    def compare(self, after: Holdings, call: Call) -> list[str]:
        """Return in words what the rule forbids and the last operation did."""
        faults = []
        of_call = [Decimal(0), Decimal(0)]
        if self.limits.counts_calls:
            of_call = self.used_by_call.setdefault(call.number, of_call)
        rise = count_raises(get_highest(call.holdings.held, self.before.held), after.held)
        live = count_raises(get_highest(call.holdings.live, self.before.live), after.live)
        in_window = count_raises(self.first.live, after.live)
        self.rise = rise, live
        # An activation guards the budgets that it counts. An end that was moved since is a raise of another operation.
        ended = {
            entity: (amounts[0], min(amounts[1], call.holdings.held.get(entity, amounts)[1]))
            for entity, amounts in after.live.items()
        }
        live = live[0], count_raises(get_highest(call.holdings.live, self.before.live), ended)[1]
        for position, name in enumerate(("daily", "lifetime")):
            of_call[position] += max(rise[position], live[position])
            allowed, window = self.limits.per_operation, self.limits.per_window
            if allowed is not None and self.has_raised and of_call[position] > allowed[position]:
                faults.append(f"{name} of one call rose by {of_call[position] / MICROS}")
            if window is not None and live[position] and in_window[position] > window[position]:
                faults.append(f"{name} of all operations rose by {in_window[position] / MICROS}")
        for key, amount in after.budgets.items():
            if self.limits.factor is not None and (former := self.before.budgets.get(key)) is not None:
                lowest = self.lowest[key] = min(self.lowest.get(key, amount), former, amount)
                if amount > former and amount > lowest * self.limits.factor:
                    faults.append(f"a budget rose from {lowest / MICROS} to {amount / MICROS}")
        self.before = after
        return faults

    def list_understated(self, plan: Mapping[str, Any]) -> list[str]:
        """Return in words which amounts of a plan are less than what its operation did.

        What can be spent is the exposure; what is set up is the exposure or what is planned.
        """
        faults = []
        for position, name in enumerate(("daily", "lifetime")):
            exposure, planned = _read_amount(plan["exposure"][name]), _read_amount(plan["planned"][name])
            rise, live = self.rise[0][position], self.rise[1][position]
            if live > exposure or rise > max(exposure, planned):
                rose = f"live {live / MICROS}, held {rise / MICROS}"
                faults.append(f"{name} rose ({rose}), exposure {exposure / MICROS}, planned {planned / MICROS}")
        return faults


def _read_amount(amount: str) -> Decimal:
    """Return an amount of a plan in micro-units. An unknown one covers everything: only a person executes it."""
    return Decimal("Infinity") if amount in ("unknown", "unbounded") else Decimal(amount) * MICROS
