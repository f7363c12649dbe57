"""The records of a rule. Amounts are micro-units of the rule's currency; None is no limit."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Literal

from attrs import frozen

from adsunify.actor import make_agent_credential
from adsunify.models.guardrail import GuardedAction
from adsunify.values.exact_json import Json


@frozen
class Limits:
    """The limits of one day and of the whole lifetime."""

    daily: int | None = None
    lifetime: int | None = None

    @property
    def has_limit(self) -> bool:
        """Whether one of them is a limit."""
        return self.daily is not None or self.lifetime is not None

    def to_json(self) -> dict[str, Json]:
        """Return the stored form."""
        return {"daily": self.daily, "lifetime": self.lifetime}

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> Limits:
        """Read what :meth:`to_json` wrote."""
        return cls(value["daily"], value["lifetime"])


@frozen
class ClientIdentity:
    """An agent's client together with the user who gave it access. A new consent does not change them."""

    client_id: str
    user_id: str

    @property
    def credential(self) -> str:
        """The identity of the agent's credential, as ``Actor.credential`` has it."""
        return make_agent_credential(self.client_id, self.user_id)


@frozen
class Scope:
    """The scope of a rule. An empty member does not restrict; every other member must match.

    ``key_ids``, ``clients`` and ``user_ids`` together are the credentials: one of them must match, for the preparer or
    for the executor.
    """

    networks: tuple[str, ...] = ()
    account_ids: tuple[str, ...] = ()
    key_ids: tuple[str, ...] = ()
    clients: tuple[ClientIdentity, ...] = ()
    user_ids: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """Return the stored form."""
        return {
            "networks": list(self.networks),
            "accountIds": list(self.account_ids),
            "keyIds": list(self.key_ids),
            "clients": [{"clientId": client.client_id, "userId": client.user_id} for client in self.clients],
            "userIds": list(self.user_ids),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> Scope:
        """Read what :meth:`to_json` wrote."""
        return cls(
            tuple(value["networks"]),
            tuple(value["accountIds"]),
            tuple(value["keyIds"]),
            tuple(ClientIdentity(client["clientId"], client["userId"]) for client in value["clients"]),
            tuple(value["userIds"]),
        )


@frozen
class Window:
    """The limits of a number of whole UTC hours, including the current hour."""

    hours: int
    limits: Limits


@frozen
class Guardrail:
    """One rule of a workspace.

    Attributes:
        version: counts the changes of the rule, from 1.
        currency: the ISO 4217 code of its amounts; None if it has no amount.
        per_operation: the limits of the exposure and of the planned budgets of one operation.
        per_window: the limits of the exposure of all operations together in a window; None if the rule has no window.
        approval_above: a person must execute an operation with a larger exposure or larger planned budgets.
        max_increase_percent: how much a budget may grow over its lowest value of the last 24 hours.
        max_bid: the highest bid.
        blocked_actions: the actions that are always refused.
        on_breach: ``freeze`` also freezes the credential that broke the rule.
        other_currencies: how the rule treats accounts in another currency.
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
        return any(has_limit for _, has_limit in self._list_limits())

    @property
    def limit_names(self) -> frozenset[str]:
        """The members of the rule that have an amount."""
        return frozenset(name for name, has_limit in self._list_limits() if has_limit)

    def _list_limits(self) -> tuple[tuple[str, bool], ...]:
        """Return each member with amounts, and whether it has one."""
        return (
            ("perOperation", self.per_operation.has_limit),
            ("perWindow", self.per_window is not None and self.per_window.limits.has_limit),
            ("approvalAbove", self.approval_above.has_limit),
            ("maxBid", self.max_bid is not None),
        )

    def to_json(self) -> dict[str, Json]:
        """Return the stored form. The id, the workspace and the version are stored in other columns."""
        window, percent = self.per_window, self.max_increase_percent
        return {
            "name": self.name,
            "scope": self.scope.to_json(),
            "currency": self.currency,
            "perOperation": self.per_operation.to_json(),
            "perWindow": None if window is None else {"hours": window.hours, **window.limits.to_json()},
            "approvalAbove": self.approval_above.to_json(),
            "maxIncreasePercent": None if percent is None else str(percent),
            "maxBid": self.max_bid,
            "blockedActions": list(self.blocked_actions),
            "onBreach": self.on_breach,
            "otherCurrencies": self.other_currencies,
            "active": self.is_active,
        }

    @classmethod
    def from_json(cls, id_: str, workspace_id: str, version: int, value: Mapping[str, Json]) -> Guardrail:
        """Read what :meth:`to_json` wrote."""
        window, percent = value["perWindow"], value["maxIncreasePercent"]
        return cls(
            id=id_,
            workspace_id=workspace_id,
            version=version,
            name=value["name"],
            scope=Scope.from_json(value["scope"]),
            currency=value["currency"],
            per_operation=Limits.from_json(value["perOperation"]),
            per_window=None if window is None else Window(window["hours"], Limits.from_json(window)),
            approval_above=Limits.from_json(value["approvalAbove"]),
            max_increase_percent=None if percent is None else Decimal(percent),
            max_bid=value["maxBid"],
            blocked_actions=tuple(value["blockedActions"]),
            on_breach=value["onBreach"],
            other_currencies=value["otherCurrencies"],
            is_active=value["active"],
        )


@frozen
class RuleSet:
    """The rules of a workspace, oldest first, also those that are not active.

    ``version`` counts the changes of the rules and of the frozen credentials. A claim is refused if the version has
    changed since the operation was evaluated.
    """

    version: int
    guardrails: tuple[Guardrail, ...] = ()
