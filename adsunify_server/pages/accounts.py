"""Ad accounts: the list, one with its hierarchy, and its figures day by day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from aiohttp import web

from adsunify.errors import AdsunifyError
from adsunify.problem_details import described

from .figures import column, money
from .plot import Panel, panel
from .visiting import Door, Visit

DAYS, MOST_DAYS = 30, 400
"""How many days are shown unasked, and how many a plot can show."""
FIGURES, MONEY = ("impressions", "clicks", "spend", "conversions", "conversionValue"), ("spend", "conversionValue")
"""The figures that are shown, and those that are amounts."""


def add_pages(door: Door) -> None:
    """``/accounts``, ``/accounts/<id>``, ``/accounts/<id>/insights``."""
    door.get("/accounts", show_all)
    door.get("/accounts/{accountId}", show)
    door.get("/accounts/{accountId}/insights", insights)


async def show_all(visit: Visit) -> web.Response:
    """Every ad account of the workspace."""
    return visit.page("accounts.html", accounts=await visit.ask("get_accounts"))


async def show(visit: Visit) -> web.Response:
    """One account with its hierarchy; where the network does not tell it, why."""
    id_ = visit.path("accountId")
    account = await visit.ask("get_account", accountId=id_)
    tree, problem = None, None
    try:
        tree = await visit.ask("get_account_tree", accountId=id_)
    except AdsunifyError as error:
        problem = described(error)
    nodes = [] if tree is None else _nested(tree["nodes"])
    return visit.page("account.html", account=account, tree=tree, nodes=nodes, problem=problem)


def _nested(nodes: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The flat hierarchy as branches: each node with its ``children``."""
    made = {(node["kind"], node["id"]): {**node, "children": []} for node in nodes}
    by_id = {id_: node for (_, id_), node in made.items()}
    roots: list[dict[str, Any]] = []
    for node in made.values():
        parent = by_id.get(node["parentId"]) if node["parentId"] is not None else None
        (roots if parent is None or parent is node else parent["children"]).append(node)
    return roots


async def insights(visit: Visit) -> web.Response:
    """Spend and clicks day by day, as a plot and as a table."""
    id_ = visit.path("accountId")
    account = await visit.ask("get_account", accountId=id_)
    today = visit.service.now().date()
    start = visit.request.query.get("startDate") or (today - timedelta(days=DAYS - 1)).isoformat()
    end = visit.request.query.get("endDate") or today.isoformat()
    try:
        found = await visit.ask("get_account_insights", query={"startDate": start, "endDate": end}, accountId=id_)
    except AdsunifyError as error:
        return visit.page(
            "insights.html",
            error.status,
            account=account,
            start=start,
            end=end,
            found=None,
            columns={},
            panels=[],
            problem=described(error),
        )
    return visit.page(
        "insights.html",
        account=account,
        start=start,
        end=end,
        found=found,
        columns=_columns(found),
        panels=_panels(found),
        problem=None,
    )


def _columns(found: Mapping[str, Any]) -> dict[str, list[str]]:
    """The figures by name, the last of each their total; empty where there is none."""
    rows = [*found["rows"], found["totals"]]
    return {name: column([row[name] for row in rows], found["currency"] if name in MONEY else None) for name in FIGURES}


def _panels(found: Mapping[str, Any]) -> list[Panel]:
    """The plots; none where there are no days, or more than a plot can show."""
    rows = {row["date"]: row for row in found["rows"]}
    first, last = (date.fromisoformat(found["coverage"][name]) for name in ("startDate", "endDate"))
    count = (last - first).days + 1
    if not rows or count > MOST_DAYS:
        return []
    days = [(first + timedelta(days=number)).isoformat() for number in range(count)]
    currency = found["currency"]
    spend = {day: money(row["spend"], currency) for day, row in rows.items() if row["spend"] is not None}
    return [
        panel("Spend", currency or "account currency", [(day, spend.get(day)) for day in days], "bars"),
        panel("Clicks", "clicks", [(day, rows[day]["clicks"] if day in rows else None) for day in days], "line"),
    ]
