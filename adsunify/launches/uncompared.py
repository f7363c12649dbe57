"""The members of a brief whose values at the network no read shows. The module reads nothing."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from adsunify.adapter.network import Network
from adsunify.values.exact_json import Json

FIELDS_BY_MEMBER: Mapping[str, tuple[str, ...]] = {
    "name": ("name",),
    "budget.amount": ("budget", "dailyBudget", "lifetimeBudget"),
    "bid": ("bid", "targetCpa", "bidCeiling"),
    "schedule.startAt": ("startAt",),
    "schedule.endAt": ("endAt",),
    "creative.url": ("url",),
}
"""Member of a brief -> the fields of settings that show it. For other texts, the EDITS tables name the fields."""


FIXED_MEMBERS = ("goal", "budget.period", "budget.currency")
"""The members that no edit changes, and that give the amounts of a brief their meaning."""


def list_members(brief: Mapping[str, Json]) -> dict[str, Json]:
    """Return the members of a brief by their paths, such as ``budget.amount``."""
    members: dict[str, Json] = {}
    for name, value in brief.items():
        if isinstance(value, Mapping):
            members |= {f"{name}.{inner}": part for inner, part in value.items()}
        else:
            members[name] = value
    return members


def find_uncompared_members(network: Network, brief: Mapping[str, Json], compared: Collection[str]) -> list[str]:
    """Return the members of a brief that no field shows. ``compared``: the fields that are compared."""
    by_member = {row.path: (row.field,) for row in network.edits if row.path.startswith("creative.") and row.field}
    fields_by_member = {**by_member, **FIELDS_BY_MEMBER}
    return [
        path for path in list_members(brief) if not any(name in compared for name in fields_by_member.get(path, ()))
    ]


def find_changed_members(launched: Mapping[str, Json], brief: Mapping[str, Json]) -> list[str]:
    """Return the members in which two briefs differ."""
    before, after = list_members(launched), list_members(brief)
    return [path for path in dict.fromkeys((*before, *after)) if before.get(path) != after.get(path)]
