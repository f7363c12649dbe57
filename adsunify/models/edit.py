"""A change of something that exists, as a caller writes it: an edit in unified words, or one native mutation.

Names are those of the contract ("Edit body", "Mutation").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema
from pydantic.alias_generators import to_camel

from adsunify.models.base import EntityId, FreeForm, Maybe, Number, RuledModel, WireModel, in_numbers, invalid, repeated
from adsunify.models.brief import Creative
from adsunify.models.error_messages import Problem

NAME_LENGTH, VALUE_LENGTH = 60, 5000
MAX_FIELDS = 100
Label = Annotated[str, Field(min_length=1, max_length=300)]
Radius = Annotated[Number, Field(gt=0, le=1000), in_numbers(exclusiveMinimum=0, maximum=1000)]


class Item(WireModel):
    """One entry of a targeting list: a row of a catalog, perhaps with a radius around it."""

    id: Label
    name: Label
    type: Maybe[Annotated[str, Field(max_length=60)]] = None
    radius_km: Maybe[Radius] = None
    meta: Maybe[FreeForm] = None


Items = Maybe[Annotated[tuple[Item, ...], Field(strict=False, max_length=500)]]


def _integral(value: Any) -> Any:
    """To JSON, 20.0 is an integer, whichever way its digits were read."""
    return int(value) if isinstance(value, float | Decimal) and -999 < value < 999 and value == int(value) else value


Age = Maybe[Annotated[int, Field(ge=13, le=65), BeforeValidator(_integral)]]


class EditTargeting(RuledModel):
    """Lists replace what stands there; what is left out stays as it is."""

    locations: Items = None
    excluded_locations: Items = None
    languages: Items = None
    interests: Items = None
    excluded_interests: Items = None
    devices: Items = None
    placements: Items = None
    age_min: Age = None
    age_max: Age = None
    genders: Maybe[Annotated[tuple[Literal["female", "male", "unknown"], ...], Field(strict=False, max_length=3)]] = (
        None
    )

    @classmethod
    def broken(cls, members: Any) -> list[Problem]:
        low, high = members.age_min, members.age_max
        problems = [*repeated(("genders",), members.genders)]
        if isinstance(low, int) and isinstance(high, int) and low > high:
            problems.append(Problem(("ageMax",), "out_of_range", "must be at least ageMin."))
        for wanted, excluded in (("locations", "excluded_locations"), ("interests", "excluded_interests")):
            there = {one for one in _ids(getattr(members, wanted)) if isinstance(one, str)}
            for index, one in enumerate(_ids(getattr(members, excluded))):
                if isinstance(one, str) and one in there:
                    problems.append(Problem((to_camel(excluded), index), "conflict", f"stands in {wanted}, too."))
        return problems


def _ids(items: Any) -> list[Any]:
    """The ids of a targeting list, of items or of what came in their place."""
    found = items if isinstance(items, list | tuple) else ()
    return [one.id if isinstance(one, Item) else one.get("id") if isinstance(one, dict) else None for one in found]


def _fields(value: dict[str, Any]) -> dict[str, Any]:
    """Names and values as the contract limits them; numbers are exact."""
    if len(value) > MAX_FIELDS:
        raise invalid(value, [Problem((), "too_many", f"must have {MAX_FIELDS} or fewer members.")])
    problems = list(_field_problems(value))
    if problems:
        raise invalid(value, problems)
    return value


def _field_problems(value: Mapping[str, Any]) -> Iterator[Problem]:
    for name, one in value.items():
        if not 1 <= len(name) <= NAME_LENGTH:
            yield Problem((name,), "length", f"must have a name of 1 to {NAME_LENGTH} characters.")
        if isinstance(one, bool) or one is None or isinstance(one, list | dict):
            yield Problem((name,), "wrong_type", "must be a string or a number.")
        elif isinstance(one, str) and len(one) > VALUE_LENGTH:
            yield Problem((name,), "length", f"must have {VALUE_LENGTH} or fewer characters.")


FieldValues = Annotated[
    FreeForm,
    AfterValidator(_fields),
    WithJsonSchema(
        {
            "type": "object",
            "maxProperties": MAX_FIELDS,
            "propertyNames": {"minLength": 1, "maxLength": NAME_LENGTH},
            "additionalProperties": {"anyOf": [{"type": "string", "maxLength": VALUE_LENGTH}, {"type": "number"}]},
        }
    ),
]


class EditBody(RuledModel):
    """An edit in unified words: money in major units of the account's currency, instants as in a brief."""

    fields: FieldValues = Field({})
    targeting: Maybe[EditTargeting] = None
    creative: Maybe[Creative] = None

    @classmethod
    def broken(cls, members: Any) -> list[Problem]:
        if members.fields or members.targeting is not None or members.creative is not None:
            return []
        return [Problem((), "required", "must change something: fields, targeting or creative.")]


class Mutation(RuledModel):
    """One native change, whole: what ``prepare`` of the agents takes."""

    action: Literal["create", "update", "delete", "status", "edit"]
    kind: Literal["campaign", "adGroup", "ad"]
    entity_id: Maybe[EntityId] = None
    parent_id: Maybe[EntityId] = None
    payload: Maybe[FreeForm] = None
    status: Maybe[Literal["active", "paused"]] = None
    edit: Maybe[EditBody] = None

    @classmethod
    def broken(cls, members: Any) -> list[Problem]:
        known = MEMBERS.get(members.action if isinstance(members.action, str) else "")
        if known is None:
            return []
        required, optional = known
        given = {name for name in cls.model_fields if getattr(members, name) is not None} - {"action", "kind"}
        missing = [name for name in required if name not in given]
        strange = sorted(given.difference(required, optional))
        return [
            *(Problem((to_camel(name),), "required", f"is required to {members.action}.") for name in missing),
            *(Problem((to_camel(name),), "conflict", f"has no meaning to {members.action}.") for name in strange),
        ]


MEMBERS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "create": (("payload",), ("parent_id",)),
    "update": (("entity_id", "payload"), ("parent_id",)),
    "delete": (("entity_id",), ()),
    "status": (("entity_id", "status"), ()),
    "edit": (("entity_id", "edit"), ()),
}
"""Which members an action requires, and which it takes besides."""
