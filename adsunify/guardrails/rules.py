"""The records of a rule. Amounts are micro-units of the rule's currency; None is no limit."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Literal

from attrs import frozen

from adsunify.plans.exposure import Spend, exceeds
from adsunify.values.exact_json import Json

GuardedAction = Literal["create", "activate", "status", "edit", "update", "delete"]
MAX_WINDOW_HOURS = 744
"""The longest window: 31 days."""
MAX_AMOUNT = 10**12
"""The largest limit, in major units."""


@frozen
class Limits:
    """The limits of one day and in all."""

    daily: int | None = None
    lifetime: int | None = None

    @property
    def has_limit(self) -> bool:
        """Whether one of them is a limit."""
        return self.daily is not None or self.lifetime is not None

    def find_exceeded(self, spend: Spend) -> Literal["daily", "lifetime"] | None:
        """Return the limit that an amount exceeds; None if neither. ``unknown`` exceeds no limit."""
        if exceeds(spend.daily, self.daily):
            return "daily"
        return "lifetime" if exceeds(spend.lifetime, self.lifetime) else None

    def to_json(self) -> dict[str, Json]:
        """Return the stored form."""
        return {"daily": self.daily, "lifetime": self.lifetime}

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> Limits:
        """Read what :meth:`to_json` wrote."""
        return cls(value["daily"], value["lifetime"])


@frozen
class ClientIdentity:
    """An agent's client together with the user who gave it access: what a new consent does not change."""

    client_id: str
    user_id: str


@frozen
class Scope:
    """What a rule applies to. An empty member does not restrict; every other member must match.

    ``key_ids``, ``clients`` and ``user_ids`` together are the credentials: one of them must match, for the preparer or
    for the executor.
    """

    networks: tuple[str, ...] = ()
    account_ids: tuple[str, ...] = ()
    key_ids: tuple[str, ...] = ()
    clients: tuple[ClientIdentity, ...] = ()
    user_ids: tuple[str, ...] = ()


@frozen
class Window:
    """The limits of so many whole UTC hours, the current one included."""

    hours: int
    limits: Limits


@frozen
class Guardrail:
    """One rule of a workspace.

    Attributes:
        version: counts the changes of the rule, from 1.
        currency: the ISO 4217 code of its amounts; None if it has no amount.
        per_operation: what one operation may expose or plan.
        per_window: what all operations together may expose in a window; None if the rule has no window.
        approval_above: a person must execute an operation that exposes or plans more.
        max_increase_percent: how much a budget may grow over its lowest value of the last 24 hours.
        max_bid: the highest bid.
        blocked_actions: the actions that are always refused.
        on_breach: ``freeze`` also freezes the credential that broke the rule.
        other_currencies: what happens to accounts in another currency.
    """

    id: str
    workspace_id: str
    version: int
    name: str
    scope: Scope = Scope()
    currency: str | None = None
    per_operation: Limits = Limits()
    per_window: Window | None = None
    approval_above: Limits = Limits()
    max_increase_percent: Decimal | None = None
    max_bid: int | None = None
    blocked_actions: tuple[GuardedAction, ...] = ()
    on_breach: Literal["refuse", "freeze"] = "refuse"
    other_currencies: Literal["refuse", "allow"] = "refuse"
    is_active: bool = True

    @property
    def has_amounts(self) -> bool:
        """Whether the rule limits money, so that unknown exposure needs a person."""
        window = self.per_window is not None and self.per_window.limits.has_limit
        return window or self.per_operation.has_limit or self.approval_above.has_limit or self.max_bid is not None
