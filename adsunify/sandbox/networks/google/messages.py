"""Protobuf JSON by tables of fields: parsing, masks and rendering."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from attrs import field, frozen

from adsunify.sandbox.checks import boolean, integer, integer_text, number, text
from adsunify.sandbox.network import Request
from adsunify.sandbox.parsing import InvalidRequest, serialize_json, split_words

UNSET_ENUM_VALUES = ("UNSPECIFIED", "UNKNOWN")  # part of every enum in reads; a request must not send them
_TEXT_CHECK, _INT64_CHECK, _INT32_CHECK, _DOUBLE_CHECK = (
    text(0),
    integer_text(-(2**63), 2**63 - 1),
    integer(-(2**31), 2**31 - 1),
    number(),
)


@frozen
class FieldType:
    """The type of a field. `integer` is an int64 as a string, `money` an int64 of micros, `whole` an int32."""

    name: Literal["text", "integer", "money", "whole", "number", "boolean", "enum", "message", "list"]
    choices: tuple[str, ...] = ()
    fields: "Mapping[str, MessageField]" = field(factory=dict)
    item: "FieldType | None" = None


@frozen
class MessageField:
    """One field of a message.

    `write`: set by create and update, by create alone (immutable), or never (output only).
    """

    kind: FieldType
    write: Literal["always", "create", "never"] = "always"
    required: bool = False
    default: Any = None
    oneof: str = ""


MessageFields = Mapping[str, MessageField]
TEXT, INT64, MONEY = FieldType("text"), FieldType("integer"), FieldType("money")
INT32, DOUBLE, BOOL = FieldType("whole"), FieldType("number"), FieldType("boolean")


def enum(names: str) -> FieldType:
    """An enum; `names` are its values, separated by blanks."""
    return FieldType("enum", split_words(names))


def message(fields: MessageFields | None = None, /, **more: MessageField) -> FieldType:
    """A message. Its fields come from a table, from the keyword arguments, or from both."""
    return FieldType("message", fields={**(fields or {}), **more})


def list_type(item: FieldType) -> FieldType:
    """A repeated field."""
    return FieldType("list", item=item)


def to_snake_case(name: str) -> str:
    """`adGroupAd` as written in GAQL and error locations: `ad_group_ad`."""
    return re.sub(r"[A-Z]", lambda match: f"_{match[0].lower()}", name)


def to_camel_case(name: str) -> str:
    """`ad_group_ad` as written in JSON and masks: `adGroupAd`."""
    return re.sub(r"_([a-z0-9])", lambda match: match[1].upper(), name)


def parse_message(request: Request, kind: FieldType) -> Any:
    """The JSON body of a request as its message."""

    def check(value: Any, where: str) -> Any:
        try:
            serialize_json(value).encode()
        except UnicodeEncodeError as error:  # protobuf strings are UTF-8, which has no unpaired surrogates
            raise InvalidRequest("unreadable", where, "Invalid JSON payload received.") from error
        return parse_value(kind, value, where)

    return request.parse_json(check)


def parse_value(kind: FieldType, value: Any, where: str) -> Any:
    """Check a value by its type. An int64 must be a string, as in the documentation (protobuf would accept numbers)."""
    match kind.name:
        case "text":
            return _TEXT_CHECK(value, where)
        case "integer" | "money":
            return _INT64_CHECK(value, where)
        case "whole":
            return _INT32_CHECK(value, where)
        case "number":
            return _DOUBLE_CHECK(value, where)
        case "boolean":
            return boolean(value, where)
        case "enum":
            if not isinstance(value, str) or value not in kind.choices:
                raise InvalidRequest(
                    "requestError.INVALID_ENUM_VALUE", where, f"must be one of {', '.join(kind.choices)}"
                )
            return value
        case "list":
            if not isinstance(value, list) or kind.item is None:
                raise InvalidRequest("type", where, "must be an array", value)
            return [parse_value(kind.item, member, f"{where}/{position}") for position, member in enumerate(value)]
        case "message":
            return _parse_object(kind.fields, value, where)


def render_value(kind: FieldType, value: Any) -> Any:
    """A value as a response holds it: int64 as strings, messages without default values."""
    match kind.name:
        case "integer" | "money":
            return str(value)
        case "list":
            return [render_value(kind.item, member) for member in value] if kind.item is not None else []
        case "message":
            return {
                name: render_value(member.kind, value[name]) for name, member in kind.fields.items() if value.get(name)
            }
    return value


def find_field(fields: MessageFields, path: Sequence[str]) -> MessageField | None:
    """The field at a path of JSON names, or None; None inside a repeated field."""
    at = fields.get(path[0])
    return at if at is None or len(path) == 1 else find_field(at.kind.fields, path[1:])


def get_at_path(data: Any, path: Sequence[str]) -> Any:
    """The value at a path, or None."""
    for name in path:
        data = data.get(name) if isinstance(data, Mapping) else None
    return data


def fill_defaults(fields: MessageFields, data: Mapping[str, Any]) -> dict[str, Any]:
    """A created message with the native defaults of absent fields."""
    filled = {
        name: native_field.default for name, native_field in fields.items() if native_field.default is not None
    } | dict(data)
    return {
        name: fill_defaults(fields[name].kind.fields, value) if fields[name].kind.name == "message" else value
        for name, value in filled.items()
    }


def apply_masked_field(
    fields: MessageFields, data: Mapping[str, Any], update: Any, path: Sequence[str]
) -> dict[str, Any]:
    """`data` with the field at `path` taken from `update`; a field that `update` does not have is cleared."""
    name, result, changes = path[0], dict(data), update if isinstance(update, Mapping) else {}
    if len(path) > 1:
        result[name] = apply_masked_field(fields[name].kind.fields, result.get(name, {}), changes.get(name), path[1:])
    elif name in changes:
        result[name] = changes[name]
    else:
        result.pop(name, None)
        return result
    group = fields[name].oneof
    return {
        other: value for other, value in result.items() if other == name or not group or fields[other].oneof != group
    }


def iterate_fields(
    fields: MessageFields, data: Mapping[str, Any], where: str
) -> Iterator[tuple[MessageField, Any, str]]:
    """Every field of `data` with value and place, messages before their members; required fields even if absent."""
    for name, native_field in fields.items():
        at = f"{where}/{name}"
        if name in data or native_field.required:
            yield native_field, data.get(name), at
        if name in data and native_field.kind.name == "message":
            yield from iterate_fields(native_field.kind.fields, data[name], at)
        elif name in data and native_field.kind.item is not None and native_field.kind.item.name == "message":
            for position, item in enumerate(data[name]):
                yield from iterate_fields(native_field.kind.item.fields, item, f"{at}/{position}")


def _parse_object(fields: MessageFields, value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidRequest("type", where, "must be an object", value)
    members: dict[str, str] = {}
    for name in value:
        if name not in fields:
            raise InvalidRequest(
                "unknown", f"{where}/{name}", f"Unknown name {name!r} (or one that is not simulated here)"
            )
        if (group := fields[name].oneof) and members.setdefault(group, name) != name:
            raise InvalidRequest("value", f"{where}/{name}", f"oneof {group!r} is already set by {members[group]!r}")
    return {name: parse_value(fields[name].kind, member, f"{where}/{name}") for name, member in value.items()}
