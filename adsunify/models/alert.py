"""Alerts as callers write them: conditions on synced figures that cause an event (docs/alerts.md)."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from adsunify.models.base import (
    ApiModel,
    CrossFieldModel,
    EntityId,
    Items,
    Number,
    Omittable,
    find_duplicates,
    number_schema,
    remove_null_defaults,
)
from adsunify.models.brief import Uuid
from adsunify.models.edit import convert_integral
from adsunify.models.error_messages import Violation
from adsunify.models.guardrail import MAX_SCOPE_ITEMS, Code, Currency, LimitAmount, Name

AlertKind = Literal["spendAbove", "noDeliveryFor", "disapproved", "paceAbove"]
"""The kind of condition of an alert."""
AlertLevel = Literal["account", "campaign", "adGroup", "ad"]
MAX_ALERT_DAYS = 31
"""The longest window of ``spendAbove``."""
MAX_ALERT_HOURS = 336
"""The longest wait of ``noDeliveryFor``: 14 days."""
MAX_ALERT_PERCENT = 10_000
MAX_ENTITIES = 50

KIND_MEMBERS: Mapping[AlertKind, tuple[str, ...]] = {
    "spendAbove": ("amount", "currency", "days"),
    "noDeliveryFor": ("hours",),
    "disapproved": (),
    "paceAbove": ("percent",),
}
"""The members that an alert of a kind has. All of them are required, except ``days``."""
KIND_LEVELS: Mapping[AlertKind, tuple[AlertLevel, ...]] = {
    "spendAbove": ("account", "campaign", "adGroup", "ad"),
    "noDeliveryFor": ("ad", "adGroup", "campaign"),
    "disapproved": ("ad", "adGroup", "campaign"),
    "paceAbove": ("campaign", "adGroup"),
}
"""The levels of each kind, its default first."""
DEFAULT_DAYS = 1

AlertDays = Annotated[int, Field(ge=1, le=MAX_ALERT_DAYS), BeforeValidator(convert_integral)]
AlertHours = Annotated[int, Field(ge=1, le=MAX_ALERT_HOURS), BeforeValidator(convert_integral)]
AlertPercent = Annotated[Number, Field(ge=1, le=MAX_ALERT_PERCENT), number_schema(minimum=1, maximum=MAX_ALERT_PERCENT)]


def _describe_kinds(schema: dict[str, Any]) -> None:
    """Replace the schema by one schema per kind, with the members of that kind only."""
    remove_null_defaults(schema)
    members = schema["properties"]
    for name in ("type", "properties", "required", "additionalProperties"):
        del schema[name]
    members["days"]["default"] = DEFAULT_DAYS
    schema["oneOf"] = [
        {
            "type": "object",
            "properties": {
                "name": members["name"],
                "kind": {"const": kind, "type": "string"},
                "scope": members["scope"],
                "level": {"enum": [*KIND_LEVELS[kind]], "type": "string", "default": KIND_LEVELS[kind][0]},
                **{name: members[name] for name in names},
                "active": members["active"],
            },
            "required": ["name", "kind", *(name for name in names if name != "days")],
            "additionalProperties": False,
        }
        for kind, names in KIND_MEMBERS.items()
    ]


class AlertScope(CrossFieldModel):
    """The scope of an alert. A member that is left out does not restrict.

    ``entityIds`` are native ids of the alert's level, in the one account that ``accountIds`` names.
    """

    networks: Omittable[Annotated[Items[Code], Field(min_length=1, max_length=MAX_SCOPE_ITEMS)]] = None
    account_ids: Omittable[Annotated[Items[Uuid], Field(min_length=1, max_length=MAX_SCOPE_ITEMS)]] = None
    entity_ids: Omittable[Annotated[Items[EntityId], Field(min_length=1, max_length=MAX_ENTITIES)]] = None

    @classmethod
    def check_rules(cls, members: Any) -> list[Violation]:
        """Check that no list has an item twice, and that entities are of one account."""
        problems = [
            violation
            for name in cls.model_fields
            for violation in find_duplicates((to_camel(name),), getattr(members, name))
        ]
        if members.entity_ids is not None and len(members.account_ids or ()) != 1:
            problems.append(Violation(("accountIds",), "required", "must name one account if entityIds is given."))
        return problems


class NewAlert(CrossFieldModel):
    """An alert: a condition that causes the event ``rule.triggered``. It changes nothing on a network.

    ``spendAbove``: an entity spends more than ``amount`` within ``days`` days. ``noDeliveryFor``: an entity has no
    impression ``hours`` hours after its activation. ``disapproved``: the network's review has refused an entity.
    ``paceAbove``: an entity has spent more than ``percent`` percent of the share of its budget for the elapsed time.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(json_schema_extra=_describe_kinds)

    name: Name
    kind: AlertKind
    scope: AlertScope = AlertScope()
    level: Omittable[AlertLevel] = None
    amount: Omittable[LimitAmount] = None
    currency: Omittable[Currency] = None
    days: Omittable[AlertDays] = None
    hours: Omittable[AlertHours] = None
    percent: Omittable[AlertPercent] = None
    active: bool = True

    @classmethod
    def check_rules(cls, members: Any) -> list[Violation]:
        """Check that the members are those of the kind."""
        if members.kind not in tuple(KIND_MEMBERS):  # a refused kind may be unhashable
            return []
        accepted = KIND_MEMBERS[members.kind]
        problems = [
            Violation((name,), "not_allowed", f"is not a member of {members.kind}, which has {_join(accepted)}.")
            for name in dict.fromkeys(name for names in KIND_MEMBERS.values() for name in names)
            if name not in accepted and getattr(members, name) is not None
        ]
        problems += [
            Violation((name,), "required", f"is required for {members.kind}.")
            for name in accepted
            if name != "days" and getattr(members, name) is None
        ]
        levels = KIND_LEVELS[members.kind]
        if members.level is not None and members.level not in levels:
            problems.append(Violation(("level",), "not_a_choice", f"must be {' or '.join(levels)} for {members.kind}."))
        is_account = (members.level or levels[0]) == "account"
        if is_account and getattr(members.scope, "entity_ids", None) is not None:
            message = "needs the level campaign, adGroup or ad."
            problems.append(Violation(("scope", "entityIds"), "not_allowed", message))
        return problems

    def to_arguments(self) -> dict[str, Any]:
        """Return the alert as one argument."""
        return {"alert": self}


def _join(names: tuple[str, ...]) -> str:
    return ", ".join(names) or "no further members"


class AlertChange(ApiModel):
    """Changes of an alert. Each member that is given replaces the present one. The kind cannot be changed.

    The changed alert must be valid. Its earlier breaches are forgotten, unless only ``name`` or ``active`` change.
    """

    name: Omittable[Name] = None
    scope: Omittable[AlertScope] = None
    level: Omittable[AlertLevel] = None
    amount: Omittable[LimitAmount] = None
    currency: Omittable[Currency] = None
    days: Omittable[AlertDays] = None
    hours: Omittable[AlertHours] = None
    percent: Omittable[AlertPercent] = None
    active: Omittable[bool] = None

    def to_arguments(self) -> dict[str, Any]:
        """Return the changes as one argument: the members that are given, by their JSON names."""
        members = {to_camel(name): getattr(self, name) for name in self.model_fields_set}
        return {
            "changes": {
                name: value.to_json() if isinstance(value, ApiModel) else value for name, value in members.items()
            }
        }


def format_percent(percent: Decimal) -> Decimal | int:
    """Return a percentage as JSON shows it: without a fraction if it is whole."""
    return int(percent) if percent == int(percent) else percent
