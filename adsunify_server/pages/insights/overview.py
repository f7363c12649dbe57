"""The page of all accounts: their totals, and the sums of each currency."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from aiohttp import web

from adsunify.contract.requests import MAX_OVERVIEW_ACCOUNTS
from adsunify.errors import AdsunifyError
from adsunify.problem_details import to_problem_details
from adsunify.service.reporting.overview import AccountTotals, sum_currencies
from adsunify_server.pages.request import PageRequest

from .figures import METRICS, format_columns, list_changes
from .periods import Period

MAX_ROUNDS = 4
"""How often the page asks for the accounts that were not read in time. One call reads for 25 seconds at most."""


async def show_overview(visit: PageRequest) -> web.Response:
    """Show the totals of every account, compared with the period before."""
    connected = [one for one in await visit.call_endpoint("get_accounts") if one["status"] != "disconnected"]
    period = Period.read(visit.request.query, visit.service.now(), [one["timezone"] for one in connected])
    before = period.find_before()
    try:
        ids = [one["accountId"] for one in connected]
        now, earlier = await asyncio.gather(_read(visit, ids, period), _read(visit, ids, before))
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


async def _read(visit: PageRequest, account_ids: Sequence[str], period: Period | None) -> Mapping[str, Any]:
    """Return the answer of ``GET /insights`` for any number of accounts.

    A network that has answered for some of its accounts is asked again for those that were not read in time.
    """
    accounts: dict[str, Mapping[str, Any]] = {}
    unread = account_ids if period is not None else ()
    for _ in range(MAX_ROUNDS):
        if period is None or not unread:
            break
        answers = await asyncio.gather(
            *(
                visit.call_endpoint(
                    "get_insights",
                    query={**period.query, "accountIds": ",".join(unread[first : first + MAX_OVERVIEW_ACCOUNTS])},
                )
                for first in range(0, len(unread), MAX_OVERVIEW_ACCOUNTS)
            )
        )
        read = [one for answer in answers for one in answer["accounts"]]
        accounts |= {one["accountId"]: one for one in read}
        unread = _list_unread(read)
    totals = sum_currencies([AccountTotals.from_json(one) for one in accounts.values()])
    return {"accounts": [*accounts.values()], "totals": [*totals]}


def _list_unread(accounts: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the ids of accounts that were not read in time, of networks that have answered for others."""
    networks = {one["network"] for one in accounts if one["state"] == "complete"}
    return [
        one["accountId"]
        for one in accounts
        if one["network"] in networks and one["pending"] is not None and not one["pending"]["job"]
    ]


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
