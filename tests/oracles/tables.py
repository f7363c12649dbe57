"""Networks without a schema: bodies and tables held against published tables of addresses, members and enums."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from adsunify.adapter.network import Network
from adsunify.values.exact_json import Json

_SLOT = re.compile(r":\w+|\{\w+\}").fullmatch

Enums = Mapping[str, Collection[str]]
"""The values of each place: ``targeting/geos/*/operation``, ``*`` being any item of a list."""


def fitting(templates: Iterable[str], path: str) -> str | None:
    """The template that a path is made of (slots are ``{id}`` or ``:id``); one with fewer slots wins."""
    parts = path.split("/")
    found = [
        template
        for template in templates
        if len(template.split("/")) == len(parts)
        and all(_SLOT(slot) or slot == part for slot, part in zip(template.split("/"), parts, strict=True))
    ]
    return min(found, key=lambda template: len([part for part in template.split("/") if _SLOT(part)]), default=None)


def leaves(value: Json, at: str = "") -> Iterator[tuple[str, Json]]:
    """Each value that is no object and no list, with its place."""
    if isinstance(value, Mapping):
        for name, one in value.items():
            yield from leaves(one, f"{at}/{name}" if at else str(name))
    elif isinstance(value, list):
        for one in value:
            yield from leaves(one, f"{at}/*" if at else "*")
    else:
        yield at, value


def wrong_values(body: Json, enums: Enums, free: Collection[str] = ()) -> list[str]:
    """Values that their enum does not have, and members that have no enum and are not ``free`` (``a/**``: all of a)."""
    wrong = []
    for place, value in leaves(body):
        if place in enums:
            if value is not None and value not in enums[place]:
                wrong.append(f"{place}: {value}")
        elif place not in free and not any(place.startswith(one[:-2]) for one in free if one.endswith("/**")):
            wrong.append(f"{place} stands in no table")
    return wrong


def unknown_values(named: Iterable[str], known: Collection[str]) -> list[str]:
    """The values that a table does not know."""
    return sorted(set(named) - set(known))


def statuses(network: Network, kind: str) -> set[str]:
    """Every native status that a level names."""
    one = next(level for level in network.levels if level.kind == kind)
    return {
        *one.unified_statuses,
        *one.writable_statuses.values(),
        *one.status_filters,
        *((one.initial_status,) if one.initial_status else ()),
    }


def choices(network: Network) -> dict[str, tuple[str, ...]]:
    """The choices of each setting that has any: by level and pointer, ``adGroup/bid_strategy``."""
    return {
        f"{one.level}{one.native if isinstance(one.native, str) else '/' + one.field}": one.choices
        for one in network.settings
        if one.choices
    }
