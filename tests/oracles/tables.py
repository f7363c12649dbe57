"""Networks without a schema: bodies and tables held against published tables of addresses, members and enums."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from adsunify.adapter.network import Network
from adsunify.values.exact_json import Json

_SLOT = re.compile(r":\w+|\{\w+\}").fullmatch

Enums = Mapping[str, Collection[str]]
"""The values of each place: ``targeting/geos/*/operation``, ``*`` being any item of a list."""


def find_template(templates: Iterable[str], path: str) -> str | None:
    """The template that a path is made of (slots are ``{id}`` or ``:id``); one with fewer slots wins."""
    parts = path.split("/")
    matches = [
        template
        for template in templates
        if len(template.split("/")) == len(parts)
        and all(_SLOT(slot) or slot == part for slot, part in zip(template.split("/"), parts, strict=True))
    ]
    return min(matches, key=lambda template: len([part for part in template.split("/") if _SLOT(part)]), default=None)


def leaves(value: Json, at: str = "") -> Iterator[tuple[str, Json]]:
    """Each value that is no object and no list, with its place."""
    if isinstance(value, Mapping):
        for name, member in value.items():
            yield from leaves(member, f"{at}/{name}" if at else str(name))
    elif isinstance(value, list):
        for element in value:
            yield from leaves(element, f"{at}/*" if at else "*")
    else:
        yield at, value


def wrong_values(body: Json, enums: Enums, free: Collection[str] = ()) -> list[str]:
    """Values that their enum does not have, and members that have no enum and are not ``free`` (``a/**``: all of a)."""
    wrong = []
    for place, value in leaves(body):
        if place in enums:
            if value is not None and value not in enums[place]:
                wrong.append(f"{place}: {value}")
        elif place not in free and not any(
            place.startswith(pattern[:-2]) for pattern in free if pattern.endswith("/**")
        ):
            wrong.append(f"{place} stands in no table")
    return wrong


def unknown_values(named: Iterable[str], known: Collection[str]) -> list[str]:
    """The values that a table does not know."""
    return sorted(set(named) - set(known))


def statuses(network: Network, kind: str) -> set[str]:
    """Every native status that a level names."""
    level = next(level for level in network.levels if level.kind == kind)
    return {
        *level.unified_statuses,
        *level.writable_statuses.values(),
        *level.status_filters,
        *((level.initial_status,) if level.initial_status else ()),
    }


def choices(network: Network) -> dict[str, tuple[str, ...]]:
    """The choices of each setting that has any: by level and pointer, ``adGroup/bid_strategy``."""
    return {
        f"{setting.level}{setting.native if isinstance(setting.native, str) else '/' + setting.field}": setting.choices
        for setting in network.settings
        if setting.choices
    }
