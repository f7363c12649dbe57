"""Compares the members that a step sends with an entity that was read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from types import MappingProxyType
from typing import Literal

from attrs import frozen

from adsunify.adapter.network import Level, Network
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import MISSING, get_value

Agreement = Literal["same", "different", "unreadable"]
NOT_SHOWN = "The read does not show this member."
OTHER_FORM = "The network shows this member in another form."


@frozen
class MemberComparison:
    """One member: a pointer in native names, the value that was sent, and the value that was read."""

    member: str
    result: Agreement
    planned: Json
    found: Json = None
    reason: str | None = None


def compare_members(
    network: Network, level: Level, planned: Mapping[str, Json], actual: Mapping[str, Json]
) -> list[MemberComparison]:
    """Compare every planned member with the entity."""
    places = dict(row.partition("=")[::2] for row in level.compared)
    return compare_parts(network, planned, actual, places)


def compare_parts(
    network: Network,
    planned: Mapping[str, Json],
    actual: Mapping[str, Json],
    places: Mapping[str, str] = MappingProxyType({}),
) -> list[MemberComparison]:
    """Compare every planned member with an object. ``places``: where the object has a member under another name."""
    return [_compare_member(network, places, actual, *member) for member in _list_members(planned)]


def is_match(comparisons: Sequence[MemberComparison]) -> bool:
    """Whether an entity agrees in every planned member that the read shows, and the read shows at least one."""
    results = {comparison.result for comparison in comparisons}
    return "same" in results and "different" not in results


def _list_members(planned: Mapping[str, Json], above: str = "") -> Iterator[tuple[str, Json]]:
    """Yield the pointer and the value of each member.

    Members of objects are visited; lists and empty objects are values.
    """
    for name, value in planned.items():
        pointer = f"{above}/{name.replace('~', '~0').replace('/', '~1')}"
        if isinstance(value, Mapping) and value:
            yield from _list_members(value, pointer)
        else:
            yield pointer, value


def _compare_member(
    network: Network, places: Mapping[str, str], entity: Mapping[str, Json], pointer: str, planned: Json
) -> MemberComparison:
    place = places.get(pointer, pointer)
    if not place:
        return MemberComparison(pointer, "unreadable", planned, None, OTHER_FORM)
    actual = get_value(entity, place, MISSING)
    if actual is MISSING:
        return MemberComparison(pointer, "unreadable", planned, None, NOT_SHOWN)
    if is_equal(network, planned, actual):
        return MemberComparison(pointer, "same", planned, actual)
    return MemberComparison(pointer, "different", planned, actual)


def is_equal(network: Network, planned: Json, actual: Json) -> bool:
    """Whether a planned value and a read value are the same: numbers and instants by value, lists in any order."""
    if isinstance(planned, Mapping):
        return isinstance(actual, Mapping) and all(
            name in actual and is_equal(network, value, actual[name]) for name, value in planned.items()
        )
    if isinstance(actual, list) and not isinstance(planned, list):
        planned = planned.split(",") if isinstance(planned, str) else [planned]
    if isinstance(planned, list):
        return isinstance(actual, list) and _has_same_elements(network, planned, actual)
    if planned == actual and isinstance(planned, bool) is isinstance(actual, bool):
        return True
    if planned in (None, "") and actual in (None, ""):
        return True
    texts = [_to_text(value) for value in (planned, actual)]
    if None in texts:
        return False
    if network.time is not None and isinstance(actual, str):
        instants = [network.time.parse(value) for value in (planned, actual)]
        if None not in instants:
            return instants[0] == instants[1]
    numbers = [_to_number(text) for text in texts]
    if None not in numbers:
        return numbers[0] == numbers[1]
    return str(texts[0]).casefold() == str(texts[1]).casefold()


def _has_same_elements(network: Network, planned: list[Json], actual: list[Json]) -> bool:
    """Whether two lists have the same elements in any order."""
    rest = list(actual)
    for value in planned:
        position = next((index for index, other in enumerate(rest) if is_equal(network, value, other)), None)
        if position is None:
            return False
        del rest[position]
    return not rest


def _to_text(value: Json) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | Decimal) else None


def _to_number(text: str | None) -> Decimal | None:
    if text is None or not text.isascii() or not text.strip("+-").replace(".", "", 1).isdigit():
        return None
    try:
        return Decimal(text)
    except InvalidOperation:
        return None
