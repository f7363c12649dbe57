"""The page of an account: its days, or the entities of one of its levels."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

from aiohttp import web

from adsunify.errors import AdsunifyError
from adsunify.networks.registry import get_adapter
from adsunify.problem_details import to_problem_details
from adsunify_server.pages.chart import Panel, make_panel
from adsunify_server.pages.numbers import pad_money
from adsunify_server.pages.request import PageRequest

from .figures import METRICS, format_columns, list_changes, sum_figures
from .levels import read_level
from .periods import Period

MAX_DAYS = 400
"""The most days of a plot, and of a table that also has the days without a row."""


async def show_account(visit: PageRequest) -> web.Response:
    """Show the figures of each day, or of each entity of a level."""
    account = await visit.call_endpoint("get_account", accountId=visit.path_parameter("accountId"))
    level = visit.request.query.get("level") or "account"
    period = Period.read(visit.request.query, visit.service.now(), [account["timezone"]])
    context = {
        "account": account,
        "period": period,
        "level": level,
        "levels": [
            "account",
            *(report_level.kind for report_level in get_adapter(account["network"]).network.report_levels),
        ],
    }
    try:
        if level != "account":
            return visit.render_page(
                "levels.html", **context, **await read_level(visit, account, level, period), problem=None
            )
        return visit.render_page("insights.html", **context, **await _read_days(visit, account, period), problem=None)
    except AdsunifyError as error:
        template = "insights.html" if level == "account" else "levels.html"
        return visit.render_problem(error, template, **context, insights=None, problem=to_problem_details(error))


async def _read_days(visit: PageRequest, account: Mapping[str, Any], period: Period) -> dict[str, Any]:
    """Read the days of an account, and the totals of the period before them.

    Raises AdsunifyError if the figures of the period cannot be read; figures of the period before may be missing.
    """
    before = period.find_before()
    insights, earlier = await asyncio.gather(
        visit.call_endpoint("get_account_insights", query=period.query, accountId=account["accountId"]),
        _read_totals(visit, account, before),
    )
    totals = sum_figures(insights["rows"])
    rows = [*insights["rows"], totals, earlier or dict.fromkeys(METRICS)]
    return {
        "insights": insights,
        "days": _list_days(insights),
        "columns": format_columns(rows, insights["currency"]),
        "changes": list_changes(totals, earlier),
        "before": before,
        "has_earlier": earlier is not None,
        "panels": _make_panels(insights),
    }


async def _read_totals(
    visit: PageRequest, account: Mapping[str, Any], period: Period | None
) -> Mapping[str, Any] | None:
    """Return the totals of the days with figures; None if no day has figures or the network cannot be read."""
    if period is None:
        return None
    query = {**period.query, "accountIds": account["accountId"]}
    try:
        (account_insights,) = (await visit.call_endpoint("get_insights", query=query))["accounts"]
    except AdsunifyError:
        return None
    totals: Mapping[str, Any] | None = account_insights["totals"]
    return totals


def _list_days(insights: Mapping[str, Any]) -> list[tuple[str, int | None]]:
    """Return the days of the table, each with the number of its row; None if the network gave no row.

    If the range has too many days for a table, only the days with a row are returned.
    """
    numbers = {row["date"]: number for number, row in enumerate(insights["rows"])}
    first, last = (date.fromisoformat(insights["coverage"][name]) for name in ("startDate", "endDate"))
    count = (last - first).days + 1
    days = [(first + timedelta(days=number)).isoformat() for number in range(count if count <= MAX_DAYS else 0)]
    return [(day, numbers.get(day)) for day in sorted({*numbers, *days})]


def _make_panels(insights: Mapping[str, Any]) -> list[Panel]:
    """Make the plots; empty where there are no rows or too many days."""
    rows = {row["date"]: row for row in insights["rows"]}
    first, last = (date.fromisoformat(insights["coverage"][name]) for name in ("startDate", "endDate"))
    count = (last - first).days + 1
    if not rows or count > MAX_DAYS:
        return []
    days = [(first + timedelta(days=number)).isoformat() for number in range(count)]
    currency = insights["currency"]
    spend = {day: pad_money(row["spend"], currency) for day, row in rows.items() if row["spend"] is not None}
    clicks = {day: row["clicks"] for day, row in rows.items()}
    provisional_from = insights["coverage"]["provisionalFrom"]
    return [
        make_panel("Spend", currency or "", [(day, spend.get(day)) for day in days], "bars", provisional_from),
        make_panel("Clicks", "clicks", [(day, clicks.get(day)) for day in days], "line", provisional_from),
    ]
