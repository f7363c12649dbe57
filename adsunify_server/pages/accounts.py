"""Pages of ad accounts: the list, an account with its hierarchy, and its daily figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from aiohttp import web

from adsunify.errors import AdsunifyError
from adsunify.problem_details import to_problem_details

from .chart import Panel, make_panel
from .numbers import format_column, format_money
from .request import PageRequest, PageRouter

DEFAULT_DAYS, MAX_DAYS = 30, 400
"""Days shown by default, and the most days of a plot."""
METRICS, AMOUNT_METRICS = (
    ("impressions", "clicks", "spend", "conversions", "conversionValue"),
    ("spend", "conversionValue"),
)
"""The figures of the table, and those of them that are amounts."""


def add_pages(router: PageRouter) -> None:
    """Add ``/accounts``, ``/accounts/<id>`` and ``/accounts/<id>/insights``."""
    router.add_get("/accounts", show_accounts)
    router.add_get("/accounts/{accountId}", show_account)
    router.add_get("/accounts/{accountId}/insights", show_insights)


async def show_accounts(visit: PageRequest) -> web.Response:
    """Show every ad account of the workspace."""
    return visit.render_page("accounts.html", accounts=await visit.call_endpoint("get_accounts"))


async def show_account(visit: PageRequest) -> web.Response:
    """Show an account with its hierarchy, or the error of the network."""
    id_ = visit.path_parameter("accountId")
    account = await visit.call_endpoint("get_account", accountId=id_)
    tree, problem = None, None
    try:
        tree = await visit.call_endpoint("get_account_tree", accountId=id_)
    except AdsunifyError as error:
        problem = to_problem_details(error)
    nodes = [] if tree is None else _nest_nodes(tree["nodes"])
    return visit.render_page("account.html", account=account, tree=tree, nodes=nodes, problem=problem)


def _nest_nodes(nodes: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Turn the flat hierarchy into branches: each node with its ``children``."""
    branches = {(node["kind"], node["id"]): {**node, "children": []} for node in nodes}
    by_id = {id_: node for (_, id_), node in branches.items()}
    roots: list[dict[str, Any]] = []
    for node in branches.values():
        parent = by_id.get(node["parentId"]) if node["parentId"] is not None else None
        (roots if parent is None or parent is node else parent["children"]).append(node)
    return roots


async def show_insights(visit: PageRequest) -> web.Response:
    """Show spend and clicks per day, as plots and as a table."""
    id_ = visit.path_parameter("accountId")
    account = await visit.call_endpoint("get_account", accountId=id_)
    today = visit.service.now().date()
    start = visit.request.query.get("startDate") or (today - timedelta(days=DEFAULT_DAYS - 1)).isoformat()
    end = visit.request.query.get("endDate") or today.isoformat()
    try:
        insights = await visit.call_endpoint(
            "get_account_insights", query={"startDate": start, "endDate": end}, accountId=id_
        )
    except AdsunifyError as error:
        return visit.render_page(
            "insights.html",
            error.status,
            account=account,
            start=start,
            end=end,
            insights=None,
            columns={},
            panels=[],
            problem=to_problem_details(error),
        )
    return visit.render_page(
        "insights.html",
        account=account,
        start=start,
        end=end,
        insights=insights,
        columns=_metric_columns(insights),
        panels=_make_panels(insights),
        problem=None,
    )


def _metric_columns(insights: Mapping[str, Any]) -> dict[str, list[str]]:
    """The figures of each metric as text, then its total; a missing figure is empty."""
    rows = [*insights["rows"], insights["totals"]]
    return {
        name: format_column([row[name] for row in rows], insights["currency"] if name in AMOUNT_METRICS else None)
        for name in METRICS
    }


def _make_panels(insights: Mapping[str, Any]) -> list[Panel]:
    """Make the plots; empty where there are no rows or too many days."""
    rows = {row["date"]: row for row in insights["rows"]}
    first, last = (date.fromisoformat(insights["coverage"][name]) for name in ("startDate", "endDate"))
    count = (last - first).days + 1
    if not rows or count > MAX_DAYS:
        return []
    days = [(first + timedelta(days=number)).isoformat() for number in range(count)]
    currency = insights["currency"]
    spend = {day: format_money(row["spend"], currency) for day, row in rows.items() if row["spend"] is not None}
    return [
        make_panel("Spend", currency or "account currency", [(day, spend.get(day)) for day in days], "bars"),
        make_panel("Clicks", "clicks", [(day, rows[day]["clicks"] if day in rows else None) for day in days], "line"),
    ]
