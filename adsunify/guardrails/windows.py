"""Windows: the amounts that an operation adds to the window of a rule, and the answer if a window has no room.

A window is the current UTC hour and ``hours`` whole hours before it. So it lasts between ``hours`` and ``hours`` + 1
hours. Amounts are micro-units of the rule's currency.
"""

from __future__ import annotations

from attrs import field, frozen
from attrs.validators import ge

from adsunify.execution.state import WindowBreach
from adsunify.plans.exposure import format_amount
from adsunify.values.exact_json import Json

from .rules import Guardrail, Limits

__all__ = [
    "MAX_WINDOW_TOTAL",
    "MILLISECONDS_PER_HOUR",
    "SpendBinding",
    "WindowBreach",
    "WindowUse",
    "build_breach_facts",
    "to_hour",
]

MAX_WINDOW_TOTAL = 9 * 10**18
"""The maximum sum of a window without a limit, in micro-units. The sum of a window is a signed 64-bit integer."""
MILLISECONDS_PER_HOUR = 60 * 60 * 1000


def to_hour(at: int) -> int:
    """Return the number of whole hours from 1970 (UTC) to a time in milliseconds."""
    return at // MILLISECONDS_PER_HOUR


@frozen
class WindowUse:
    """The amounts that the execution of an operation adds to the window of one rule.

    Attributes:
        rule_id: the rule.
        version: the version of the rule by which the operation was evaluated.
        hours: the length of the window.
        limits: the limits of the window.
        daily: the exposure of one day. Unknown exposure is 0.
        lifetime: the exposure of the whole lifetime. Unknown exposure is 0, and so is unbounded exposure where the
            window does not limit it.
        is_unknown: whether a part of the exposure is unknown.
    """

    rule_id: str
    version: int
    hours: int
    limits: Limits
    daily: int = field(default=0, validator=ge(0))
    lifetime: int = field(default=0, validator=ge(0))
    is_unknown: bool = False

    @property
    def is_counted(self) -> bool:
        """Whether the window must record it. A window never refuses an operation without exposure."""
        return self.is_unknown or self.daily > 0 or self.lifetime > 0


@frozen
class SpendBinding:
    """The spend that the claim of an operation binds.

    Attributes:
        rules_version: the version of the workspace's rules by which the operation was evaluated.
        chain_id: the operation, or the first operation that it resumes. A window counts a chain once.
        uses: the amounts that the operation adds to the windows of the matching rules.
        allows_stale: whether the values that the plan depends on were not compared with the network; the ledger records
            this.
    """

    rules_version: int
    chain_id: str
    uses: tuple[WindowUse, ...] = ()
    allows_stale: bool = False


def build_breach_facts(rule: Guardrail, breach: WindowBreach) -> dict[str, Json]:
    """Build the members of the event ``rule.triggered`` about a full window. Amounts are in major units."""
    amounts = {"limit": breach.allowed, "used": breach.used, "asked": breach.amount, "fits": breach.room}
    return {
        "kind": "guardrail",
        "guardrailId": rule.id,
        "rule": rule.name,
        "member": f"perWindow.{breach.limit}",
        "currency": rule.currency,
        **{name: format_amount(amount, rule.currency) for name, amount in amounts.items()},
    }
