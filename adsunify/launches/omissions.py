"""Finds the members of the shared brief that a network leaves out.

Only members of ``platform`` and ``creative`` are ever left out, and only those that no format of the network accepts.
Everything else stays, and a network that does not support it refuses the brief.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from adsunify.adapter.account import Account
from adsunify.adapter.brief_checks import OPTIONAL_MEMBERS, select_applicable_inputs
from adsunify.adapter.network import Network
from adsunify.values.exact_json import Json

OMITTABLE_PARTS = ("platform", "creative")
DECLARATION = "platform.euPoliticalAdvertising"
NEVER_OMITTED = frozenset({"platform.specialAdCategories"})
"""The declarations that limit the audience of an ad. ``euPoliticalAdvertising: true`` is one, too."""


def find_omissions(
    network: Network,
    account: Account,
    brief: Mapping[str, Json],
    shared: Mapping[str, Json],
    own_parts: Iterable[Mapping[str, Json]],
) -> tuple[str, ...]:
    """Return the paths of the members of ``brief`` that are left out for an account, in the order of the shared brief.

    Args:
        network: the network of the account.
        account: the account; some rows of a format apply to some accounts only.
        brief: the merged brief. Its goal and period select the rows of the formats.
        shared: the shared brief.
        own_parts: the parts for the network and for the account. Their members are never left out.
    """
    own_paths = {path for part in own_parts for path in _list_paths(part)}
    candidates = [
        path
        for path in _list_paths(shared)
        if path in OPTIONAL_MEMBERS and path not in own_paths and path not in NEVER_OMITTED and _has_value(brief, path)
    ]
    if not candidates:
        return ()
    accepted = _list_accepted_paths(network, account, brief)
    return tuple(path for path in candidates if path not in accepted)


def remove_members(brief: Mapping[str, Json], paths: Sequence[str]) -> dict[str, Any]:
    """Return the brief without the members at ``paths``, such as ``platform.pageId``."""
    remaining: dict[str, Any] = dict(brief)
    for path in paths:
        part, _, name = path.partition(".")
        remaining[part] = {member: value for member, value in remaining[part].items() if member != name}
    return remaining


def _list_paths(brief: Mapping[str, Json]) -> list[str]:
    """Return the paths of the members that a part of a brief gives in ``platform`` and ``creative``."""
    return [
        f"{part}.{name}"
        for part in OMITTABLE_PARTS
        if isinstance(members := brief.get(part), Mapping)
        for name, value in members.items()
        if value is not None
    ]


def _has_value(brief: Mapping[str, Json], path: str) -> bool:
    """Whether the merged brief has the member. A political declaration counts if it is false."""
    part, _, name = path.partition(".")
    members = brief.get(part)
    if not isinstance(members, Mapping) or name not in members:
        return False
    return path != DECLARATION or members[name] is False


def _list_accepted_paths(network: Network, account: Account, brief: Mapping[str, Json]) -> set[str]:
    """Return the paths that a format of the network accepts with the goal and the period of the brief."""
    budget = brief.get("budget")
    goal, period = brief.get("goal"), budget.get("period") if isinstance(budget, Mapping) else None
    return {
        path
        for brief_format in network.formats
        for path, row in select_applicable_inputs(
            brief_format, _read_text(goal), _read_text(period), account
        ).inputs_by_path.items()
        if row.requirement != "refused"
    }


def _read_text(value: Json) -> str:
    return value if isinstance(value, str) else ""
