"""The page of all accounts: their totals, and the sums of each currency."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from adsunify.errors import AdsunifyError
from adsunify.problem_details import to_problem_details
from adsunify_server.pages.request import PageRequest

from .figures import METRICS, format_columns, list_changes
from .periods import Period


async def show_overview(visit: PageRequest) -> web.Response:
    """Show the totals of every account, compared with the period before."""
    connected = [one for one in await visit.call_endpoint("get_accounts") if one["status"] != "disconnected"]
    period = Period.read(visit.request.query, visit.service.now(), [one["timezone"] for one in connected])
    before = period.find_before()
    try:
        now, earlier = await asyncio.gather(_read(visit, period), _read(visit, before))
    except AdsunifyError as error:
        problem = to_problem_details(error)
        return visit.render_page(
            "overview.html", error.status, period=period, accounts=[], totals=[], problem=problem, before=before
        )
    return visit.render_page(
        "overview.html",
        period=period,
        before=before,
        accounts=_add_texts(now["accounts"], earlier["accounts"], "accountId"),
        totals=_add_texts(now["totals"], _list_comparable_totals(now, earlier), "currency"),
        problem=None,
    )


async def _read(visit: PageRequest, period: Period | None) -> Mapping[str, Any]:
    if period is None:
        return {"accounts": [], "totals": []}
    found: Mapping[str, Any] = await visit.call_endpoint("get_insights", query=period.query)
    return found


def _list_comparable_totals(now: Mapping[str, Any], before: Mapping[str, Any]) -> list[Any]:
    """Return the totals of the period before that add up the same accounts as those of the period."""
    counted, counted_before = _list_counted(now), _list_counted(before)
    return [one for one in before["totals"] if counted[one["currency"]] == counted_before[one["currency"]]]


def _list_counted(found: Mapping[str, Any]) -> defaultdict[str | None, set[str]]:
    """Return the ids of the accounts of each currency that have answered."""
    ids: defaultdict[str | None, set[str]] = defaultdict(set)
    for account in found["accounts"]:
        if account["state"] == "complete":
            ids[account["currency"]].add(account["accountId"])
    return ids


def _add_texts(now: list[Any], before: list[Any], key: str) -> list[dict[str, Any]]:
    """Add the figures as text, and their changes, to accounts or to totals."""
    earlier = {one[key]: one for one in before}
    return [
        {
            **one,
            "figures": [column[0] for column in format_columns([_get_totals(one)], one["currency"]).values()],
            "changes": list_changes(_get_totals(one), _get_totals(earlier.get(one[key], {}))),
        }
        for one in now
    ]


def _get_totals(one: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the totals of an account, or the totals that this is."""
    return one.get("totals", one) or dict.fromkeys(METRICS)
