"""Compares JSON values by their meaning to networks."""

from __future__ import annotations

from collections.abc import Mapping

from adsunify.errors import InvalidInput
from adsunify.values.dates import parse_instant
from adsunify.values.exact_json import Json


def to_comparable(value: Json) -> object:
    """Return a value for comparison, without the order of lists, repeated items, empty members and time zones."""
    if isinstance(value, Mapping):
        members = {name: to_comparable(member) for name, member in value.items()}
        return frozenset((name, member) for name, member in members.items() if member is not None) or None
    if isinstance(value, list | tuple):
        return frozenset(map(to_comparable, value)) or None
    if isinstance(value, str) and value:
        try:
            return parse_instant(value) if "T" in value else value
        except InvalidInput:
            return value
    return None if value == "" else value
