"""Daily figures of many accounts in one answer. The accounts are read in parallel, and each has its own state."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from functools import partial
from typing import Any

from attrs import evolve, frozen
from pydantic.alias_generators import to_snake

from adsunify.actor import Actor
from adsunify.adapter.insights import METRIC_NAMES, MetricValues, sum_metrics
from adsunify.contract.requests import MAX_OVERVIEW_ACCOUNTS, ReportedLevel
from adsunify.errors import AdsunifyError, NotFound, invalid_input
from adsunify.problem_details import to_problem_details
from adsunify.service.core import Service
from adsunify.service.network_session import NetworkSession
from adsunify.store import connections
from adsunify.store.connections import AccountRecord
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_value

from .accounts import check_days, list_account_rows, read_insights, read_level
from .entities import get_account_today
from .jobs import STARTING_REPORT
from .known import parse_as_of

READS_PER_NETWORK = 4
"""How many accounts of one network are read at the same time."""
READ_SECONDS = 25.0
"""An account whose figures have not arrived after so many seconds is ``pending``, so that no network delays the answer
for longer."""


@frozen
class AccountTotals:
    """The figures of an account that the totals of its currency add up. ``totals``: None without figures."""

    network: str
    currency: str | None
    totals: MetricValues | None
    is_complete: bool

    @classmethod
    def from_json(cls, account: Mapping[str, Any]) -> AccountTotals:
        """Read an account of the response."""
        totals, coverage = account["totals"], account["coverage"]
        values = None if totals is None else MetricValues(**{to_snake(name): totals[name] for name in METRIC_NAMES})
        return cls(account["network"], account["currency"], values, coverage is not None and coverage["complete"])


@frozen
class AccountFigures:
    """The result for one account: figures, an error, or neither if the account was not read in time."""

    account: AccountRecord
    figures: Mapping[str, Json] | None = None
    totals: MetricValues | None = None
    error: AdsunifyError | None = None

    @property
    def state(self) -> str:
        """The state of the account in the answer."""
        if self.error is not None:
            return "failed"
        return "pending" if self.figures is None or self.figures["pending"] is not None else "complete"

    @property
    def is_complete(self) -> bool:
        """Whether the network has reported all days."""
        return self.figures is not None and bool(get_value(self.figures, "/coverage/complete"))

    def to_totals(self) -> AccountTotals:
        """Return the part that the totals of the account's currency add up."""
        return AccountTotals(self.account.network, self.account.currency, self.totals, self.is_complete)

    def to_json(self) -> dict[str, Json]:
        """Return the account as the response shows it."""
        account, figures = self.account, self.figures or {}
        waits = self.state == "pending" and not figures
        return {
            "accountId": account.id,
            "network": account.network,
            "name": account.name,
            "currency": account.currency,
            "timezone": account.timezone,
            "state": self.state,
            "rows": figures.get("rows", []),
            "totals": None if self.totals is None else self.totals.to_json(),
            "coverage": figures.get("coverage"),
            "pending": STARTING_REPORT.to_json() if waits else figures.get("pending"),
            "nextCursor": figures.get("nextCursor"),
            "error": None if self.error is None else to_problem_details(self.error),
        }


async def read_overview(
    service: Service,
    actor: Actor,
    *,
    start_date: date,
    end_date: date,
    account_ids: Sequence[str] | None = None,
    network: str | None = None,
    level: ReportedLevel | None = None,
    as_of: str | None = None,
) -> Json:
    """Read normalized daily metrics of many accounts, each in its own currency and time zone.

    Without ``accountIds`` and ``network``, these are all connected accounts that the credential reaches, at most 200.
    The state of an account is ``complete`` (the network has answered), ``pending`` (its report is not ready: call
    again) or ``failed`` (with the error). ``totals`` has one entry for each currency and adds up the days with figures;
    amounts of two currencies are never added, and neither are conversions of two networks, which count them in
    different ways. From ``provisionalFrom`` on figures may change; a day that has not ended in the account's time zone
    is provisional.

    With ``level``, ``rows`` is the first page of the account's report, which has no totals. ``nextCursor`` leads to the
    next page in ``GET /accounts/{accountId}/insights``.

    With ``asOf``, the answer has the figures that syncs had stored at that time. An account is ``failed`` if one of its
    days was not synced before.
    """
    check_days(start_date, end_date)
    if as_of is not None:
        parse_as_of(service, as_of)
    accounts = await _list_accounts(service, actor, account_ids, network)
    slots: defaultdict[str, asyncio.Semaphore] = defaultdict(partial(asyncio.Semaphore, READS_PER_NETWORK))
    deadline = asyncio.get_running_loop().time() + READ_SECONDS

    async def read(account: AccountRecord) -> AccountFigures:
        try:
            async with asyncio.timeout_at(deadline), slots[account.network]:
                return await _read_account(service, account, start_date, end_date, level, as_of)
        except TimeoutError:
            return AccountFigures(account)
        except AdsunifyError as error:
            return AccountFigures(account, error=error)

    figures = await asyncio.gather(*map(read, accounts))
    return {
        "startDate": start_date.isoformat(),
        "endDate": end_date.isoformat(),
        "level": level or "account",
        "accounts": [account_figures.to_json() for account_figures in figures],
        "totals": list(sum_currencies([account_figures.to_totals() for account_figures in figures])),
    }


async def _list_accounts(
    service: Service, actor: Actor, account_ids: Sequence[str] | None, network: str | None
) -> list[AccountRecord]:
    """Return the accounts of a call. Raises NotFound for a named account that the actor does not reach."""
    accounts = await service.store.read(connections.list_accounts, actor, network)
    if account_ids is not None:
        by_id = {account.id: account for account in accounts}
        if not by_id.keys() >= {*account_ids}:
            raise NotFound("An account of accountIds is not in this workspace, or not on this network.")
        accounts = [by_id[account_id] for account_id in account_ids]
    else:
        accounts = [account for account in accounts if account.status != "disconnected"]
    if len(accounts) > MAX_OVERVIEW_ACCOUNTS:
        message = (
            f"is required, because these are {len(accounts)} accounts: name at most {MAX_OVERVIEW_ACCOUNTS} of them."
        )
        raise invalid_input("accountIds", "too_long", message)
    return accounts


async def _read_account(
    service: Service, account: AccountRecord, start: date, end: date, level: ReportedLevel | None, as_of: str | None
) -> AccountFigures:
    session = NetworkSession(service, account)
    if level in ("campaign", "adGroup", "ad"):
        page = await read_level(service, session, start, end, level, as_of=as_of)
        return AccountFigures(account, {**page.data, "nextCursor": page.next_cursor})
    insights = await read_insights(service, session, start, end, as_of)
    insights = evolve(insights, coverage=insights.coverage.limit_final_days(get_account_today(service, session)))
    answer = insights.to_json()
    if level is not None:
        answer["rows"] = list_account_rows(session, insights)
    return AccountFigures(account, answer, sum_metrics(insights.rows) if insights.rows else None)


def sum_currencies(accounts: Sequence[AccountTotals]) -> Iterator[dict[str, Json]]:
    """Yield the totals of each currency. They leave out accounts without figures; then ``complete`` is false.

    Networks count conversions in different ways. If the accounts are of several networks, conversions and their value
    are None.
    """
    for currency in sorted({account.currency for account in accounts if account.currency is not None}):
        of_currency = [account for account in accounts if account.currency == currency]
        totals = [account.totals for account in of_currency if account.totals is not None]
        if not totals:
            continue
        sums = sum_metrics(totals)
        if len({account.network for account in of_currency if account.totals is not None}) > 1:
            sums = evolve(sums, conversions=None, conversion_value=None)
        complete = all(account.is_complete for account in of_currency)
        yield {"currency": currency, "accounts": len(totals), "complete": complete, **sums.to_json()}
