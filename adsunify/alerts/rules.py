"""The records of an alert, of the breaches of an evaluation, and of its gaps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal

from attrs import field, frozen

from adsunify.actor import CredentialScope
from adsunify.adapter.metrics import ReportLevel
from adsunify.adapter.network import Network
from adsunify.models.alert import AlertKind, AlertLevel
from adsunify.values.exact_json import Json

MAX_NAMED_ENTITIES = 20
"""How many entities a gap names."""


@frozen
class AlertScope:
    """The scope of an alert. An empty member does not restrict. ``entity_ids`` belong to the only account."""

    networks: tuple[str, ...] = ()
    account_ids: tuple[str, ...] = ()
    entity_ids: tuple[str, ...] = ()

    @property
    def accounts(self) -> CredentialScope:
        """The accounts, in the form of the scope of a credential."""
        return CredentialScope(self.networks or None, self.account_ids or None)

    def to_json(self) -> dict[str, Json]:
        """Return the stored form, without the members that do not restrict."""
        members = {"networks": self.networks, "accountIds": self.account_ids, "entityIds": self.entity_ids}
        return {name: list(items) for name, items in members.items() if items}

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> AlertScope:
        """Read what :meth:`to_json` wrote."""
        return cls(*(tuple(value.get(name, ())) for name in ("networks", "accountIds", "entityIds")))


@frozen(kw_only=True)
class Alert:
    """An alert of a workspace. Members that its kind does not have are None.

    Attributes:
        version: counts the changes of the alert, from 1.
        begun_at: when it was created or its condition was changed last, in milliseconds since 1970.
        amount: in micro-units of ``currency``.
        days: the length of the window that ends on a day.
        hours: the hours between an activation and the alert.
    """

    id: str
    workspace_id: str
    version: int
    begun_at: int
    name: str
    kind: AlertKind
    scope: AlertScope
    level: AlertLevel
    amount: int | None = None
    currency: str | None = None
    days: int | None = None
    hours: int | None = None
    percent: Decimal | None = None
    is_active: bool = True

    def has_same_condition(self, other: Alert) -> bool:
        """Whether both have the same condition. Name, version, age and being active may differ."""
        return self.to_json() | {"name": other.name, "active": other.is_active} == other.to_json()

    def to_json(self) -> dict[str, Json]:
        """Return the stored form."""
        return {
            "name": self.name,
            "kind": self.kind,
            "scope": self.scope.to_json(),
            "level": self.level,
            "amount": self.amount,
            "currency": self.currency,
            "days": self.days,
            "hours": self.hours,
            "percent": None if self.percent is None else str(self.percent),
            "active": self.is_active,
        }

    @classmethod
    def from_json(cls, id_: str, workspace_id: str, version: int, begun_at: int, value: Mapping[str, Json]) -> Alert:
        """Read what :meth:`to_json` wrote."""
        percent = value["percent"]
        members = {name: value[name] for name in ("name", "kind", "level", "amount", "currency", "days", "hours")}
        return cls(
            id=id_,
            workspace_id=workspace_id,
            version=version,
            begun_at=begun_at,
            scope=AlertScope.from_json(value["scope"]),
            percent=None if percent is None else Decimal(percent),
            is_active=value["active"],
            **members,
        )


# -- what an evaluation found -------------------------------------------------------------------------------------

BreachKey = tuple[str, str]
"""The entity, and the period: a day, the time of an activation or of a start, or empty. Each key gets one event."""


@frozen
class AlertBreach:
    """A breach. ``allowed`` and ``actual`` are texts of the unit of the kind; ``day`` is a day of the account."""

    day: str
    allowed: str | None
    actual: str


@frozen
class Gap:
    """A part that could not be evaluated: some entities, or the whole account without ``entity_ids``."""

    reason: str
    entity_ids: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """Return the stored form."""
        return {"reason": self.reason, "entityIds": list(self.entity_ids)}


def make_entity_gap(reason: str, entity_ids: Iterable[str]) -> list[Gap]:
    """Return the gap of some entities. It names only the first ones. No gap without entities."""
    ids = sorted(entity_ids)
    return [Gap(reason.format(count=len(ids)), tuple(ids[:MAX_NAMED_ENTITIES]))] if ids else []


@frozen
class AlertEvaluation:
    """The result of evaluating an alert for one account.

    Attributes:
        breaches: the breaches to report, unless they were reported.
        unknown_entities: entities that were not evaluated.
        unknown_periods: periods that were not evaluated for all entities.
        gaps: the same for people.
        is_complete: False if nothing was evaluated.
        first_period: earlier periods are not evaluated any more; empty if the kind has no such limit.
    """

    breaches: Mapping[BreachKey, AlertBreach] = field(factory=dict)
    unknown_entities: frozenset[str] = frozenset()
    unknown_periods: frozenset[str] = frozenset()
    gaps: tuple[Gap, ...] = ()
    is_complete: bool = True
    first_period: str = ""

    def is_unknown(self, key: BreachKey) -> bool:
        """Whether an entity and period were not evaluated."""
        return not self.is_complete or key[0] in self.unknown_entities or key[1] in self.unknown_periods


def make_unknown(reason: str) -> AlertEvaluation:
    """Make the evaluation of an account that cannot be evaluated."""
    return AlertEvaluation(gaps=(Gap(reason),), is_complete=False)


# -- what a network can show --------------------------------------------------------------------------------------


def find_unsupported_reason(network: Network, kind: AlertKind, level: AlertLevel) -> str | None:
    """Return why an alert of this kind and level cannot be evaluated on a network; None if it can."""
    if kind == "disapproved":
        reviewed_kinds = [reviewed.kind for reviewed in network.levels if reviewed.review_status]
        if level in reviewed_kinds:
            return None
        if not reviewed_kinds:
            return f"{network.title} does not show the result of its review in the entities that adsunify reads."
        return f"{network.title} shows the result of its review for the level {' and '.join(reviewed_kinds)} only."
    if level == "account" or any(report.kind == level for report in network.report_levels):
        return None
    return f"{network.title} reports no figures of the level {level}. It has {_list_levels(network.report_levels)}."


def _list_levels(levels: Iterable[ReportLevel]) -> str:
    return ", ".join(["account", *(level.kind for level in levels)])
