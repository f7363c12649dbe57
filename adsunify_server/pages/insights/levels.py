"""The figures of each campaign, ad group or ad over a period: searched, sorted, with a link to what is below."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from attrs import frozen

from adsunify.errors import AdsunifyError
from adsunify.networks.registry import get_adapter
from adsunify_server.pages.request import PageRequest

from .figures import METRICS, format_columns, list_changes, sum_figures
from .periods import Period

MAX_PAGES = 1_000
READ_SECONDS = 25.0
"""How much of a report one request reads, in pages and in seconds. If the report is longer, totals are not shown."""
MAX_ROWS = 500
"""The most entities that the table shows."""
SORT_WORDS = (("-", "highest first"), ("", "lowest first"))
"""The prefix of ``sort`` for each order of figures, and the label of the order."""


Entity = dict[str, Any]
"""The id, the name and the parent of an entity, and the sums of its days."""


@frozen
class _LevelSums:
    """The sums of entities. ``insights``: the last response that was read; ``is_cut``: whether rows are left out."""

    insights: Mapping[str, Any]
    entities: Sequence[Entity]
    is_cut: bool


async def read_level(visit: PageRequest, account: Mapping[str, Any], level: str, period: Period) -> dict[str, Any]:
    """Read the figures of the entities of a level, and sort them as the address says.

    Raises AdsunifyError if the figures of the period cannot be read; figures of the period before may be missing.
    """
    query = visit.request.query
    before = period.find_before()
    now, earlier = await asyncio.gather(
        _read_sums(visit, account, level, period), _read_earlier(visit, account, level, before)
    )
    if now.is_cut:  # incomplete sums cannot be compared with complete ones
        earlier = []
    entities = _select_entities(now.entities, query)
    sort = query.get("sort", "-spend")
    entities.sort(key=lambda entity: _sort_key(entity, sort.removeprefix("-")), reverse=sort.startswith("-"))
    entities_before = {entity["entityId"]: entity for entity in _select_entities(earlier, query)}
    rows, total = entities[:MAX_ROWS], sum_figures(() if now.is_cut else entities)
    return {
        "insights": now.insights,
        "entities": rows,
        "columns": format_columns([*rows, total], account["currency"]),
        "changes": [
            *(list_changes(row, entities_before.get(row["entityId"])) for row in rows),
            list_changes(total, sum_figures([*entities_before.values()])),
        ],
        "before": before if entities_before else None,
        "count": len(entities),
        "is_cut": now.is_cut,
        "has_more": len(rows) < len(entities),
        "search": query.get("search", ""),
        "parent": query.get("parent", ""),
        "sort": sort,
        "sorts": [("name", ""), *((sign + name, f", {words}") for name in METRICS for sign, words in SORT_WORDS)],
        "child": _find_child_level(account["network"], level),
    }


async def _read_sums(visit: PageRequest, account: Mapping[str, Any], level: str, period: Period) -> _LevelSums:
    insights: Mapping[str, Any] = {}
    sums: dict[str, Entity] = {}
    is_cut = False
    parameters = {**period.query, "level": level}
    clock = asyncio.get_running_loop().time
    ends = clock() + READ_SECONDS
    async for page in visit.read_pages(
        "get_account_insights", MAX_PAGES, query=parameters, accountId=account["accountId"]
    ):
        insights = page.data
        _add_rows(sums, insights["rows"])
        is_cut = page.next_cursor is not None
        if clock() > ends:
            break
    return _LevelSums(insights, [*sums.values()], is_cut)


async def _read_earlier(
    visit: PageRequest, account: Mapping[str, Any], level: str, before: Period | None
) -> Sequence[Entity]:
    """Return the sums of the period before; empty if they are not complete, because then nothing can be compared."""
    if before is None:
        return []
    try:
        earlier = await _read_sums(visit, account, level, before)
    except AdsunifyError:
        return []
    return [] if earlier.is_cut or earlier.insights["pending"] else earlier.entities


def _select_entities(entities: Sequence[Entity], query: Mapping[str, str]) -> list[Entity]:
    """Return the entities that match the search and the parent in the address."""
    search_text, parent = query.get("search", "").casefold(), query.get("parent", "")
    return [
        entity
        for entity in entities
        if (not parent or entity["parentId"] == parent)
        and (not search_text or search_text in f"{entity['entityName'] or ''} {entity['entityId']}".casefold())
    ]


def _add_rows(sums: dict[str, Entity], rows: Sequence[Mapping[str, Any]]) -> None:
    """Add the rows of a page to the sums of their entities, so that only one page is in memory."""
    by_id: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        by_id.setdefault(row["entityId"], [sums[row["entityId"]]] if row["entityId"] in sums else []).append(row)
    for entity_id, days in by_id.items():
        facts = {name: days[-1][name] for name in ("entityId", "entityName", "parentId")}
        sums[entity_id] = {**facts, **sum_figures(days)}


def _sort_key(entity: Mapping[str, Any], name: str) -> tuple[bool, Decimal, str]:
    """Return the sort key: a figure by value, a missing figure before all values; everything else by name."""
    title = str(entity["entityName"] or entity["entityId"])
    value = entity[name] if name in METRICS else None
    return value is not None, Decimal(value or 0), title.casefold()


def _find_child_level(network: str, level: str) -> str | None:
    """Return the level directly below a level, if the network reports it; otherwise None."""
    tables = get_adapter(network).network
    reported = {report_level.kind for report_level in tables.report_levels}
    return next((child.kind for child in tables.levels if child.parent_kind == level and child.kind in reported), None)
