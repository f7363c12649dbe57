"""Changes of existing entities: an edit in unified terms, or one native mutation.

docs/spec.md defines them under "Edit body" and "Mutation".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema
from pydantic.alias_generators import to_camel

from adsunify.models.base import (
    ApiModel,
    CrossFieldModel,
    EntityId,
    FreeForm,
    Items,
    Number,
    Omittable,
    find_duplicates,
    number_schema,
    validation_error,
)
from adsunify.models.brief import Creative
from adsunify.models.error_messages import Violation

MAX_FIELD_NAME_LENGTH, MAX_FIELD_VALUE_LENGTH = 60, 5000
MAX_FIELDS = 100
Label = Annotated[str, Field(min_length=1, max_length=300)]
Radius = Annotated[Number, Field(gt=0, le=1000), number_schema(exclusiveMinimum=0, maximum=1000)]


class Item(ApiModel):
    """An entry of a targeting list: a row of a catalog, with an optional radius in kilometres."""

    id: Label
    name: Label
    type: Omittable[Annotated[str, Field(max_length=60)]] = None
    radius_km: Omittable[Radius] = None
    meta: Omittable[FreeForm] = None


TargetingItems = Omittable[Annotated[Items[Item], Field(max_length=500)]]


def convert_integral(value: Any) -> Any:
    """Convert a small number with an integral value (20.0) to int; return other values unchanged."""
    if isinstance(value, Decimal) and not value.is_finite():
        return value
    return int(value) if isinstance(value, float | Decimal) and -999 < value < 999 and value == int(value) else value


Age = Omittable[Annotated[int, Field(ge=13, le=65), BeforeValidator(convert_integral)]]


class EditTargeting(CrossFieldModel):
    """The targeting of an edit. A list replaces the present list; omitted members stay unchanged."""

    locations: TargetingItems = None
    excluded_locations: TargetingItems = None
    languages: TargetingItems = None
    interests: TargetingItems = None
    excluded_interests: TargetingItems = None
    devices: TargetingItems = None
    placements: TargetingItems = None
    age_min: Age = None
    age_max: Age = None
    genders: Omittable[Annotated[Items[Literal["female", "male", "unknown"]], Field(max_length=3)]] = None

    @classmethod
    def check_rules(cls, members: Any) -> list[Violation]:
        """Check the range of ages, duplicates, and items that are both included and excluded."""
        low, high = members.age_min, members.age_max
        problems = [*find_duplicates(("genders",), members.genders)]
        if isinstance(low, int) and isinstance(high, int) and low > high:
            problems.append(Violation(("ageMax",), "out_of_range", "must be at least ageMin."))
        for included, excluded in (("locations", "excluded_locations"), ("interests", "excluded_interests")):
            included_ids = {id_ for id_ in _list_item_ids(getattr(members, included)) if isinstance(id_, str)}
            for index, id_ in enumerate(_list_item_ids(getattr(members, excluded))):
                if isinstance(id_, str) and id_ in included_ids:
                    problems.append(Violation((to_camel(excluded), index), "conflict", f"is in {included} as well."))
        return problems


def _list_item_ids(items: Any) -> list[Any]:
    """Return the ids of a targeting list of items or of unchecked values; None for a value without an id."""
    members = items if isinstance(items, list | tuple) else ()
    return [
        item.id if isinstance(item, Item) else item.get("id") if isinstance(item, dict) else None for item in members
    ]


def _validate_fields(value: dict[str, Any]) -> dict[str, Any]:
    """Check number, names and values of the fields (docs/spec.md, "Limits")."""
    if len(value) > MAX_FIELDS:
        raise validation_error(value, [Violation((), "too_many", f"must have {MAX_FIELDS} or fewer members.")])
    problems = list(_find_field_violations(value))
    if problems:
        raise validation_error(value, problems)
    return value


def _find_field_violations(value: Mapping[str, Any]) -> Iterator[Violation]:
    for name, field_value in value.items():
        if not 1 <= len(name) <= MAX_FIELD_NAME_LENGTH:
            yield Violation((name,), "length", f"must have a name of 1 to {MAX_FIELD_NAME_LENGTH} characters.")
        if isinstance(field_value, bool) or field_value is None or isinstance(field_value, list | dict):
            yield Violation((name,), "wrong_type", "must be a string or a number.")
        elif isinstance(field_value, str) and len(field_value) > MAX_FIELD_VALUE_LENGTH:
            yield Violation((name,), "length", f"must have {MAX_FIELD_VALUE_LENGTH} or fewer characters.")


FieldValues = Annotated[
    FreeForm,
    AfterValidator(_validate_fields),
    WithJsonSchema(
        {
            "type": "object",
            "maxProperties": MAX_FIELDS,
            "propertyNames": {"minLength": 1, "maxLength": MAX_FIELD_NAME_LENGTH},
            "additionalProperties": {
                "anyOf": [{"type": "string", "maxLength": MAX_FIELD_VALUE_LENGTH}, {"type": "number"}]
            },
        }
    ),
]


class EditBody(CrossFieldModel):
    """An edit in unified terms. Money is in major units of the account's currency; instants are as in a brief."""

    fields: FieldValues = Field(default={})
    targeting: Omittable[EditTargeting] = None
    creative: Omittable[Creative] = None

    @classmethod
    def check_rules(cls, members: Any) -> list[Violation]:
        """Check that the edit changes something."""
        if members.fields or members.targeting is not None or members.creative is not None:
            return []
        return [Violation((), "required", "must change something: fields, targeting or creative.")]


class Mutation(CrossFieldModel):
    """One native change: the argument of the MCP tool ``prepare``."""

    action: Literal["create", "update", "delete", "status", "edit"]
    kind: Literal["campaign", "adGroup", "ad"]
    entity_id: Omittable[EntityId] = None
    parent_id: Omittable[EntityId] = None
    payload: Omittable[FreeForm] = None
    status: Omittable[Literal["active", "paused"]] = None
    edit: Omittable[EditBody] = None

    @classmethod
    def check_rules(cls, members: Any) -> list[Violation]:
        """Check that the members are those of the action."""
        accepted = MEMBERS_BY_ACTION.get(members.action if isinstance(members.action, str) else "")
        if accepted is None:
            return []
        required, optional = accepted
        given_names = {name for name in cls.model_fields if getattr(members, name) is not None} - {"action", "kind"}
        missing = [name for name in required if name not in given_names]
        strange = sorted(given_names.difference(required, optional))
        return [
            *(Violation((to_camel(name),), "required", f"is required to {members.action}.") for name in missing),
            *(Violation((to_camel(name),), "conflict", f"is not allowed with {members.action}.") for name in strange),
        ]


MEMBERS_BY_ACTION: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "create": (("payload",), ("parent_id",)),
    "update": (("entity_id", "payload"), ("parent_id",)),
    "delete": (("entity_id",), ()),
    "status": (("entity_id", "status"), ()),
    "edit": (("entity_id", "edit"), ()),
}
"""Action -> the members that it requires, and the optional ones."""
