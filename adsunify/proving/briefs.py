"""Adapts an example brief to an account: ids in it are replaced by ids of the account's catalogs."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy

from adsunify.adapter.network import Network
from adsunify.values.exact_json import Json, dumps, loads


def adapt_brief(network: Network, brief: Mapping[str, Json], catalogs: Mapping[str, list[str]]) -> dict[str, Json]:
    """Return a copy of a brief with ids of the account.

    Args:
        network: its ``brief_catalogs`` say which catalog lists the ids of which member.
        brief: the brief.
        catalogs: the ids of the rows of each catalog that was read. A catalog without rows changes nothing.
    """
    adapted: dict[str, Json] = deepcopy(loads(dumps(brief)))
    for path, resource in network.brief_catalogs.items():
        part, _, name = path.partition(".")
        ids = catalogs.get(resource) or []
        if ids and name in adapted.get(part, {}) and adapted[part][name] not in ids:
            adapted[part][name] = ids[0]
    return adapted
