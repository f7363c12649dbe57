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
"""How many times the page requests accounts that were not read in time. One call reads for at most 25 seconds."""


async def show_overview(visit: PageRequest) -> web.Response:
    """Show the totals of every account, compared with the period before."""
    connected = [
        account for account in await visit.call_endpoint("get_accounts") if account["status"] != "disconnected"
    ]
    period = Period.read(visit.request.query, visit.service.now(), [account["timezone"] for account in connected])
    before = period.find_before()
    try:
        ids = [account["accountId"] for account in connected]
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

    If a network has answered for some of its accounts, the accounts that were not read in time are requested again.
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
        read = [account for answer in answers for account in answer["accounts"]]
        accounts |= {account["accountId"]: account for account in read}
        unread = _list_unread(read)
    totals = sum_currencies([AccountTotals.from_json(account) for account in accounts.values()])
    return {"accounts": [*accounts.values()], "totals": [*totals]}


def _list_unread(accounts: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the ids of accounts that were not read in time, if their network has answered for another account."""
    networks = {account["network"] for account in accounts if account["state"] == "complete"}
    return [
        account["accountId"]
        for account in accounts
        if account["network"] in networks and account["pending"] is not None and not account["pending"]["job"]
    ]


def _list_comparable_totals(now: Mapping[str, Any], before: Mapping[str, Any]) -> list[Any]:
    """Return the totals of the period before whose accounts are the same as in the present period."""
    counted, counted_before = _list_counted(now), _list_counted(before)
    return [totals for totals in before["totals"] if counted[totals["currency"]] == counted_before[totals["currency"]]]


def _list_counted(figures: Mapping[str, Any]) -> defaultdict[str | None, set[str]]:
    """Return the ids of the accounts of each currency that have answered."""
    ids: defaultdict[str | None, set[str]] = defaultdict(set)
    for account in figures["accounts"]:
        if account["state"] == "complete":
            ids[account["currency"]].add(account["accountId"])
    return ids


def _add_texts(now: list[Any], before: list[Any], key: str) -> list[dict[str, Any]]:
    """Add the figures as text, and their changes, to accounts or to totals."""
    earlier = {row[key]: row for row in before}
    return [
        {
            **row,
            "figures": [column[0] for column in format_columns([_get_totals(row)], row["currency"]).values()],
            "changes": list_changes(_get_totals(row), _get_totals(earlier.get(row[key], {}))),
        }
        for row in now
    ]


def _get_totals(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the totals of an account. A row of totals is returned as it is."""
    return row.get("totals", row) or dict.fromkeys(METRICS)
