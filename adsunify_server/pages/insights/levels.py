"""The figures of each campaign, ad group or ad over a period: searched, sorted, with a link to what is below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from adsunify.networks.registry import get_adapter
from adsunify_server.pages.request import PageRequest

from .figures import METRICS, format_columns, sum_figures
from .periods import Period

MAX_PAGES = 20
"""The most pages of a report that one view of the page reads."""
MAX_ROWS = 500
"""The most entities that the table shows."""
SORT_WORDS = (("-", "highest first"), ("", "lowest first"))
"""The signs of an order of figures, and the words for them."""


async def read_level(visit: PageRequest, account: Mapping[str, Any], level: str, period: Period) -> dict[str, Any]:
    """Read the figures of the entities of a level, and sort them as the address says. Raises AdsunifyError."""
    query = visit.request.query
    insights: Mapping[str, Any] = {}
    rows: list[Mapping[str, Any]] = []
    is_cut = False
    parameters = {**period.query, "level": level}
    async for page in visit.read_pages(
        "get_account_insights", MAX_PAGES, query=parameters, accountId=account["accountId"]
    ):
        insights = page.data
        rows += insights["rows"]
        is_cut = page.next_cursor is not None
    sought, parent = query.get("search", "").casefold(), query.get("parent", "")
    entities = [
        one
        for one in _sum_entities(rows)
        if (not parent or one["parentId"] == parent)
        and (not sought or sought in f"{one['entityName'] or ''} {one['entityId']}".casefold())
    ]
    sort = query.get("sort", "-spend")
    entities.sort(key=lambda one: _sort_key(one, sort.removeprefix("-")), reverse=sort.startswith("-"))
    shown = entities[:MAX_ROWS]
    return {
        "insights": insights,
        "entities": shown,
        "columns": format_columns([*shown, sum_figures(entities)], account["currency"]),
        "count": len(entities),
        "is_cut": is_cut or len(shown) < len(entities),
        "search": query.get("search", ""),
        "parent": parent,
        "sort": sort,
        "sorts": [("name", ""), *((sign + name, f", {words}") for name in METRICS for sign, words in SORT_WORDS)],
        "child": _find_child_level(account["network"], level),
    }


def _sum_entities(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Add up the days of each entity."""
    by_id: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        by_id.setdefault(row["entityId"], []).append(row)
    return [
        {**{name: days[-1][name] for name in ("entityId", "entityName", "parentId")}, **sum_figures(days)}
        for days in by_id.values()
    ]


def _sort_key(one: Mapping[str, Any], name: str) -> tuple[bool, Decimal, str]:
    """Sort figures by value, with missing ones last or first; everything else by name."""
    title = str(one["entityName"] or one["entityId"])
    value = one[name] if name in METRICS else None
    return value is not None, Decimal(value or 0), title.casefold()


def _find_child_level(network: str, level: str) -> str | None:
    """Return the reported level whose entities are below those of a level."""
    tables = get_adapter(network).network
    reported = {one.kind for one in tables.report_levels}
    return next((one.kind for one in tables.levels if one.parent_kind == level and one.kind in reported), None)
