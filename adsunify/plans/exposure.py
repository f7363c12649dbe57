"""The spend that a plan allows: the records, their arithmetic and their JSON.

Amounts are counts of micro-units. A million micro-units are one major unit of the account's currency. An amount without
an end is ``unbounded``. An amount that no table can compute is ``unknown``; it is never treated as zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from attrs import evolve, frozen

from adsunify.values.currencies import EXPONENTS
from adsunify.values.exact_json import Json
from adsunify.values.money import MICROS, from_units, to_units

Amount = int | Literal["unbounded", "unknown"]
"""Micro-units, from 0; or ``unbounded``; or ``unknown``."""


def add_amounts(first: Amount, second: Amount) -> Amount:
    """Return the sum of two amounts. An unknown part makes the sum unknown, then an unbounded part unbounded."""
    if isinstance(first, int) and isinstance(second, int):
        return first + second
    return "unknown" if "unknown" in (first, second) else "unbounded"


def subtract_amounts(after: Amount, before: Amount) -> Amount:
    """Return how much ``after`` exceeds ``before``; 0 if it does not."""
    if isinstance(after, int) and isinstance(before, int):
        return max(0, after - before)
    if "unknown" in (after, before):
        return "unknown"
    return "unbounded" if before != "unbounded" else 0


@frozen
class Spend:
    """The amounts that may be spent on one day, and in total."""

    daily: Amount = 0
    lifetime: Amount = 0

    def __add__(self, other: Spend) -> Spend:
        return Spend(add_amounts(self.daily, other.daily), add_amounts(self.lifetime, other.lifetime))

    def __sub__(self, before: Spend) -> Spend:
        """Return how much this exceeds ``before``.

        If the daily amount rises and there is no end, the total is unbounded.
        """
        daily, lifetime = subtract_amounts(self.daily, before.daily), subtract_amounts(self.lifetime, before.lifetime)
        is_endless = daily != 0 and lifetime != "unknown" and self.lifetime == "unbounded"
        return Spend(daily, "unbounded" if is_endless else lifetime)

    @property
    def is_unknown(self) -> bool:
        """Whether the daily or the lifetime amount is unknown."""
        return "unknown" in (self.daily, self.lifetime)

    def to_json(self, currency: str | None) -> dict[str, Json]:
        """Return the form of the API: ``{"currency": "USD", "daily": "25.00", "lifetime": "unbounded"}``."""
        return {
            "currency": currency,
            "daily": format_amount(self.daily, currency),
            "lifetime": format_amount(self.lifetime, currency),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> Spend:
        """Read the form of the API."""
        return cls(parse_amount(value["daily"]), parse_amount(value["lifetime"]))


NO_SPEND = Spend()
UNKNOWN_SPEND = Spend("unknown", "unknown")


def format_amount(amount: Amount, currency: str | None) -> str:
    """Format an amount in major units with at least the fraction digits of its currency; zero is "0"."""
    if not isinstance(amount, int):
        return amount
    if not amount:
        return "0"
    whole, _, fraction = from_units(amount, MICROS).partition(".")
    digits = (EXPONENTS.get(currency) or 0) if currency is not None else 0
    fraction = fraction.ljust(digits, "0")
    return f"{whole}.{fraction}" if fraction else whole


def parse_amount(text: str) -> Amount:
    """Parse a text of :func:`format_amount`. Raises InvalidInput for every other text."""
    if text == "unbounded":
        return "unbounded"
    return "unknown" if text == "unknown" else to_units(text, MICROS, "amount")


@frozen
class BudgetChange:
    """A budget that a plan changes: ``before`` as it was read, ``after`` as planned.

    None is "no such budget". ``kind`` is the kind of the entity; ``field`` is the name of its setting, such as
    ``budget`` or ``dailyBudget``.
    """

    kind: str
    entity_id: str
    field: str
    before: int | None
    after: int | None

    def to_json(self) -> dict[str, Json]:
        """Return the stored form."""
        return {
            "kind": self.kind,
            "entityId": self.entity_id,
            "field": self.field,
            "before": self.before,
            "after": self.after,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> BudgetChange:
        """Read what :meth:`to_json` wrote."""
        return cls(value["kind"], value["entityId"], value["field"], value["before"], value["after"])


PERIOD_FIELD = "budgetType"
"""The name of the period of ``budget`` among the values of an entity. The amount has no meaning without its period."""
CHILDREN_FIELDS: Mapping[str, str] = {"adGroup": "adGroups", "ad": "ads"}
"""The names of the numbers of children among the guarded values of an entity, by the kind of the children."""
GUARD_MEMBERS = ("guards", "laterGuards")
"""The members of the stored form with guards.

The second member has the guards that servers of version 0.1 do not know.
"""
LATER_FIELDS = (PERIOD_FIELD, *CHILDREN_FIELDS.values())
"""The fields of the guards in the second member."""


@frozen
class Guard:
    """A value that the exposure of a plan depends on. It must be the same when the plan is executed.

    Attributes:
        kind: the kind of the entity.
        field: the name of the setting.
        value: the value as it was read: an amount in micro-units, a period, an instant, a day or a number of entities
            as text, None if it is not set, or ``unknown``.
        planned: the amount that the plan sets, in micro-units. A present value that is not lower than this amount is
            accepted as well, because the plan only lowers it.
    """

    kind: str
    entity_id: str
    field: str
    value: str | int | None
    planned: int | None = None

    def to_json(self) -> dict[str, Json]:
        """Return the stored form."""
        value: dict[str, Json] = {
            "kind": self.kind,
            "entityId": self.entity_id,
            "field": self.field,
            "value": self.value,
        }
        return value if self.planned is None else value | {"planned": self.planned}

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> Guard:
        """Read what :meth:`to_json` wrote."""
        return cls(value["kind"], value["entityId"], value["field"], value["value"], value.get("planned"))

    def is_kept(self, present: str | int | None) -> bool:
        """Whether the plan may be executed with this present value."""
        if present == self.value:
            return True
        return self.planned is not None and isinstance(present, int) and self.planned <= present


@frozen
class Exposure:
    """The facts of a plan that guardrails check. Amounts are in the account's currency.

    Attributes:
        currency: the ISO 4217 code; None if the account's currency is not known, and then every amount but 0 is
            unknown.
        exposure: the additional amount that can be spent after the plan is executed.
        planned: the budgets that the plan creates, also if all entities stay paused.
        highest_bid: the highest bid that the plan sets; None if it sets none; ``unknown`` if no table can compute it.
        budgets: the budgets of existing entities that the plan changes.
        guards: the values that ``exposure`` depends on. They are read again before the first write.
        activates: whether the plan sets an entity to active, or to a status that no table knows.
        reduces: whether the plan only reduces the possible spend, even if other values have changed.
    """

    currency: str | None
    exposure: Spend = NO_SPEND
    planned: Spend = NO_SPEND
    highest_bid: Amount | None = None
    budgets: tuple[BudgetChange, ...] = ()
    guards: tuple[Guard, ...] = ()
    activates: bool = False
    reduces: bool = False

    def without_guards(self) -> Exposure:
        """Return the exposure for a call without comparison of the guarded values: dependent amounts are unknown."""
        return evolve(self, exposure=UNKNOWN_SPEND, highest_bid="unknown", guards=()) if self.guards else self

    def to_json(self) -> dict[str, Json]:
        """Return the stored form. Empty parts of the exposure have no member."""
        value: dict[str, Json] = {
            "exposure": self.exposure.to_json(self.currency),
            "planned": self.planned.to_json(self.currency),
        }
        if self.highest_bid is not None:
            value["highestBid"] = format_amount(self.highest_bid, self.currency)
        if self.budgets:
            value["budgets"] = [change.to_json() for change in self.budgets]
        for member, guards in self._group_guards():
            value[member] = [guard.to_json() for guard in guards]
        for member in ("activates", "reduces"):
            if getattr(self, member):
                value[member] = True
        return value

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> Exposure:
        """Read the stored form."""
        bid = value.get("highestBid")
        return cls(
            value["exposure"]["currency"],
            Spend.from_json(value["exposure"]),
            Spend.from_json(value["planned"]),
            None if bid is None else parse_amount(bid),
            tuple(map(BudgetChange.from_json, value.get("budgets", ()))),
            tuple(Guard.from_json(guard) for member in GUARD_MEMBERS for guard in value.get(member, ())),
            value.get("activates", False),
            value.get("reduces", False),
        )

    def _group_guards(self) -> Iterator[tuple[str, Sequence[Guard]]]:
        """Yield each member of the stored form that has guards, with its guards."""
        for member, is_later in zip(GUARD_MEMBERS, (False, True), strict=True):
            guards = [guard for guard in self.guards if (guard.field in LATER_FIELDS) is is_later]
            if guards:
                yield member, guards
