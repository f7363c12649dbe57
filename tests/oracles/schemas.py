"""Values held against the schemas of OpenAPI descriptions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema

from adsunify.values.exact_json import Json, dumps, loads


def media(content: Mapping[str, Any], media_type: str | None) -> Mapping[str, Any]:
    """The schema of a media type; the one there is where none is named."""
    if media_type is not None and media_type in content:
        return dict(content[media_type]["schema"])
    assert media_type is None or len(content) == 1, (media_type, list(content))
    return dict(next(iter(content.values()))["schema"])


def problems(
    schema: Mapping[str, Any], components: Json, value: Json, draft: Any = jsonschema.Draft4Validator
) -> list[str]:
    """What is wrong with a value: by the schema, and members that no schema names."""
    whole = {**schema, "components": components}
    errors = [
        f"{'/'.join(map(str, error.absolute_path))}: {error.message}"[:200] for error in draft(whole).iter_errors(value)
    ]
    return errors + [f"{place} is not in the schema" for place in unknown(schema, components, value)]


def unknown(schema: Json, components: Json, value: Json, at: str = "") -> Iterator[str]:
    """Members that the schema has no name for: the descriptions do not close their objects."""
    schema = resolve_reference(schema, components)
    if isinstance(value, list):
        for index, element in enumerate(value):
            yield from unknown(schema.get("items", {}), components, element, f"{at}/{index}")
    if isinstance(value, Mapping):
        members = schema.get("properties", {})
        if not members and (schema.get("additionalProperties") or not schema.get("type")):
            return
        for name, member in value.items():
            if name not in members:
                yield f"{at}/{name}"
            else:
                yield from unknown(members[name], components, member, f"{at}/{name}")


def resolve_reference(schema: Json, components: Json) -> Json:
    """The schema behind references, with the members of all its parts."""
    while "$ref" in schema:
        schema = components["schemas"][schema["$ref"].rpartition("/")[2]]
    parts = [part for name in ("allOf", "anyOf", "oneOf") for part in schema.get(name, ())]
    if not parts:
        return schema
    merged = {**schema, "properties": dict(schema.get("properties", {}))}
    for part in parts:
        inner = resolve_reference(part, components)
        merged["properties"] |= inner.get("properties", {})
        merged |= {name: inner[name] for name in ("type", "items") if name in inner and name not in merged}
    return merged


def exact(value: Json) -> Json:
    """As sent and read again, so that equal amounts are equal numbers."""
    return loads(dumps(value))
