"""Daily figures that a sync keeps: ``asOf`` answers what was known then, and re-syncs add what has changed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
import pytest_asyncio
from attrs import evolve
from sqlalchemy import select

from adsunify.errors import ProviderUnreadable
from adsunify.networks.registry import ADAPTER_PACKAGES
from adsunify.service.core import format_timestamp
from adsunify.service.reporting import keeping, known, scheduled_sync
from adsunify.service.reporting.keeping import SyncResult
from adsunify.service.reporting.scheduled_sync import HOUR_MILLISECONDS, ScheduledSync
from adsunify.store.connections import AccountRecord
from adsunify.store.schema import figures

from .served import Served, brief
from .test_insights import read_today
from .test_levels import read_pages

pytestmark = pytest.mark.asyncio(loop_scope="module")
META_LEVELS = ("account", "campaign", "adGroup", "ad")


@pytest.fixture(autouse=True)
def _clear_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "MAX_PAUSE_SECONDS", 0.05)


async def sync(
    server: Served, account_ids: Sequence[str], levels: Sequence[str] = (), days: int = 9
) -> list[SyncResult]:
    """Sync a minute later than whatever was synced before, around noon, so that no day ends between two syncs."""
    server.hands.pass_(minutes=1)
    if (hour := server.hands.now().hour) not in range(10, 16):
        server.hands.pass_(hours=(36 - hour) % 24)
    accounts = await keeping.list_accounts(server.service, account_ids)
    subjects = [(account, levels or keeping.list_levels(account)) for account in accounts]
    return [result async for result in keeping.sync_accounts(server.service, subjects, days)]


def now(server: Served) -> str:
    return format_timestamp(server.hands.milliseconds())


def days_of(server: Served) -> dict[str, str]:
    """A week that has ended in each time zone."""
    end = server.hands.now().date() - timedelta(days=2)
    return {"startDate": str(end - timedelta(days=5)), "endDate": str(end)}


async def read(server: Served, account: str, **query: str) -> dict[str, Any]:
    """All pages of an answer as one; without what a sync does not keep."""
    pages = [page async for page in read_pages(server.admin, account, **days_of(server), **query)]
    rows = [row for page in pages for row in page["rows"]]
    order = sorted(rows, key=lambda row: (row["date"], row.get("entityId", "")))
    return {**pages[-1], "rows": order, "nativeRows": []}


async def count_figures(server: Served) -> dict[str, int]:
    return {name: count for name, count in (await server.rows()).items() if "figure" in name}


@pytest.mark.parametrize("network", list(ADAPTER_PACKAGES))
async def test_what_is_kept_is_what_the_network_reports(server: Served, live: dict[str, str], network: str) -> None:
    account = live[network]
    results = await sync(server, [account])
    assert {(result.state, result.error) for result in results} == {("synced", None)}
    assert all(result.rows == result.versions for result in results)
    for result in results:
        reported = await read(server, account, level=result.level)
        request_count = len(server.networks.requests)
        stored_figures = await read(server, account, level=result.level, asOf=now(server))
        assert len(server.networks.requests) == request_count, "the network is not asked"
        assert stored_figures == {**reported, "coverage": stored_figures["coverage"]}
        assert stored_figures["coverage"]["missing"] == reported["coverage"]["missing"]
    await sync(server, [account])
    changed = select(figures.c.date).where(figures.c.account_id == account, figures.c.number > 1)
    days = await server.service.store.read(lambda connection: connection.execute(changed).scalars().all())
    assert set(days) <= {str(await read_today(server, account))}, "only the day that has not ended has other figures"


async def test_a_report_that_is_not_ready_is_resumed(server: Served, live: dict[str, str]) -> None:
    (account,) = await keeping.list_accounts(server.service, [live["amazon"]])
    server.hands.pass_(hours=2)
    request_count = server.networks.count("POST", "advertising-api.amazon.com", "/reporting/reports")
    result = await keeping.sync_level(server.service, account, "campaign", days=5, patience=0)
    assert (result.state, result.rows, result.versions) == ("pending", 0, 0)
    result = await keeping.sync_level(server.service, account, "campaign", days=5)
    assert result.state == "synced"
    assert server.networks.count("POST", "advertising-api.amazon.com", "/reporting/reports") == request_count + 1


# -- on both engines ----------------------------------------------------------------------------------------------


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def active(both: Served) -> Served:
    """A server on each engine, whose account has had active ads for some days."""
    account = both.accounts["meta"]
    created = await both.admin.post("/create", {"accountId": account, "campaign": brief("meta")}, 201)
    await both.admin.execute(created["id"])
    body = {"accountId": account, "sourceOperationId": created["id"]}
    activation = await both.admin.post("/activate", body, 201)
    assert (await both.admin.execute(activation["id"]))["status"] == "succeeded"
    both.hands.pass_(days=8)
    return both


async def test_never_synced_is_not_found(active: Served) -> None:
    account = active.accounts["meta"]
    before = now(active)
    await sync(active, [account], ["campaign"], days=4)
    path, days = f"/accounts/{account}/insights", days_of(active)
    end = days["endDate"]
    for query in (
        {**days, "level": "campaign", "asOf": now(active)},
        {"startDate": end, "endDate": end, "level": "campaign", "asOf": before},
        {"startDate": end, "endDate": end, "level": "ad", "asOf": now(active)},
        {"startDate": end, "endDate": end, "asOf": now(active)},
    ):
        problem = await active.admin.problem(404, "GET", path, query=query)
        assert "not synced" in problem["detail"]
    report = await active.admin.get(path, startDate=end, endDate=end, level="campaign", asOf=now(active))
    assert report["rows"] and report["nativeRows"] == []
    later = format_timestamp(active.hands.milliseconds() + 3_600_000)
    assert await active.admin.read_issues("GET", path, query={**days, "asOf": later}) == {("asOf", "future")}
    assert await active.admin.read_issues("GET", path, query={**days, "asOf": "yesterday"}) == {("asOf", "malformed")}
    stranger = active.person("stranger")
    await stranger.problem(404, "GET", path, query={"startDate": end, "endDate": end, "asOf": now(active)})


async def test_what_vanishes_and_returns(active: Served) -> None:
    account = active.accounts["meta"]
    await sync(active, [account])
    first = now(active)
    before = {level: await read(active, account, level=level, asOf=first) for level in META_LEVELS}
    quiet = days_of(active)["endDate"]
    await active.networks.quiet("meta", quiet)
    vanished = {result.level: result.versions for result in await sync(active, [account])}
    second = now(active)
    for level in META_LEVELS:
        rows = before[level]["rows"]
        lost = [row for row in rows if row["date"] == quiet]
        assert vanished[level] == len(lost) > 0
        assert (await read(active, account, level=level, asOf=second))["rows"] == [
            row for row in rows if row not in lost
        ]
    await active.networks.quiet("meta")
    assert {result.level: result.versions for result in await sync(active, [account])} == vanished
    for level in META_LEVELS:
        assert (await read(active, account, level=level, asOf=now(active)))["rows"] == before[level]["rows"]
        assert (await read(active, account, level=level, asOf=first)) == before[level]


async def test_provisional_days_are_those_of_that_time(active: Served) -> None:
    account = active.accounts["meta"]
    await sync(active, [account], ["account"])
    last = await read_today(active, account)
    then = now(active)
    query = {"startDate": str(last - timedelta(days=3)), "endDate": str(last)}
    path = f"/accounts/{account}/insights"
    report = await active.admin.get(path, **query, asOf=then)
    assert report["coverage"]["provisionalFrom"] is not None
    assert report["coverage"]["provisionalFrom"] <= str(last)
    active.hands.pass_(days=40)
    assert await active.admin.get(path, **query, asOf=then) == report


async def test_pages_and_entities(active: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    account = active.accounts["meta"]
    await sync(active, [account], ["ad"])
    whole = await read(active, account, level="ad", asOf=now(active))
    monkeypatch.setattr(known, "PAGE_ROWS", 2)
    as_of = now(active)
    pages = [page async for page in read_pages(active.admin, account, **days_of(active), level="ad", asOf=as_of)]
    assert [len(page["rows"]) for page in pages[:-1]] == [2] * (len(pages) - 1) and len(pages) > 1
    assert [row for page in pages for row in page["rows"]] == whole["rows"]
    chosen = whole["rows"][0]["entityId"]
    some = await read(active, account, level="ad", asOf=as_of, entityIds=chosen)
    assert some["rows"] == [row for row in whole["rows"] if row["entityId"] == chosen]
    query = {**days_of(active), "level": "ad"}
    answer = await active.admin.send("GET", f"/accounts/{account}/insights", query={**query, "asOf": as_of})
    cursor = answer.json()["page"]["nextCursor"]
    for wrong in ({}, {"asOf": format_timestamp(active.hands.milliseconds() - 1)}):
        refused = await active.admin.read_issues(
            "GET", f"/accounts/{account}/insights", query={**query, **wrong, "cursor": cursor}
        )
        assert refused == {("cursor", "malformed")}


async def test_the_overview_of_a_time(active: Served) -> None:
    account = active.accounts["meta"]
    others = {account_row["accountId"] for account_row in await active.admin.get("/accounts")} - {account}
    await sync(active, [account], ["account"])
    as_of = now(active)
    overview = await active.admin.get("/insights", **days_of(active), asOf=as_of)
    states = {account_row["accountId"]: account_row["state"] for account_row in overview["accounts"]}
    assert states == {account: "complete", **dict.fromkeys(others, "failed")}
    account_row = next(account_row for account_row in overview["accounts"] if account_row["accountId"] == account)
    alone = await active.admin.get(f"/accounts/{account}/insights", **days_of(active), asOf=as_of)
    assert (account_row["rows"], account_row["totals"]) == (alone["rows"], alone["totals"])
    later = format_timestamp(active.hands.milliseconds() + 3_600_000)
    assert await active.admin.read_issues("GET", "/insights", query={**days_of(active), "asOf": later}) == {
        ("asOf", "future")
    }


async def test_a_report_that_ends_half_way_keeps_nothing(active: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page is staged, then the network fails: nothing is synced, no row vanishes, and nothing stays staged."""
    account = active.accounts["meta"]
    await sync(active, [account], ["ad"])
    before, counts = await read(active, account, level="ad", asOf=now(active)), await count_figures(active)
    await active.networks.quiet("meta", days_of(active)["endDate"])
    real = keeping.read_report_page
    pages = 0

    async def fail_later(*arguments: Any) -> Any:
        nonlocal pages
        pages += 1
        if pages > 1:
            raise ProviderUnreadable("The second page is not there.")
        return evolve(await real(*arguments), cursor="more")

    monkeypatch.setattr(keeping, "read_report_page", fail_later)
    (result,) = await sync(active, [account], ["ad"])
    await active.networks.quiet("meta")
    assert (result.state, pages) == ("failed", 2)
    assert await count_figures(active) == counts
    assert await read(active, account, level="ad", asOf=now(active)) == before


async def test_rows_of_a_report_that_was_cut_have_not_vanished(active: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    account = active.accounts["meta"]
    await sync(active, [account], ["ad"])
    before = await read(active, account, level="ad", asOf=now(active))
    real = keeping.read_report_page

    async def cut_page(*arguments: Any) -> Any:
        page = await real(*arguments)
        return evolve(page, rows=(), coverage=evolve(page.coverage, is_complete=False))

    monkeypatch.setattr(keeping, "read_report_page", cut_page)
    (result,) = await sync(active, [account], ["ad"])
    assert (result.state, result.versions) == ("synced", 0)
    after = await read(active, account, level="ad", asOf=now(active))
    days = days_of(active)
    assert after["rows"] == before["rows"] != []
    assert (after["coverage"]["complete"], after["coverage"]["missing"]) == (False, [days])


async def test_a_worker_deletes_old_versions_once_a_day(active: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = evolve(active.service.settings, insights_sync_hours=0, insights_retention_days=1)
    monkeypatch.setattr(active.service, "settings", settings)
    monkeypatch.setattr(scheduled_sync, "CHECK_SECONDS", 0.0)
    deletions: list[int] = []
    job = ScheduledSync(active.service)

    async def count(_: ScheduledSync) -> None:
        deletions.append(active.hands.milliseconds())
        if len(deletions) == 3:
            raise RuntimeError("three deletions")

    async def check(_: ScheduledSync) -> None:
        active.hands.pass_(hours=5)

    monkeypatch.setattr(ScheduledSync, "delete_old_versions", count)
    monkeypatch.setattr(ScheduledSync, "sync_due", check)
    with pytest.raises(RuntimeError, match="three deletions"):
        await job.run()
    assert [(later - earlier) // HOUR_MILLISECONDS for earlier, later in pairwise(deletions)] == [25, 25]


async def test_a_worker_syncs_what_is_due(active: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = evolve(active.service.settings, insights_sync_hours=24, insights_retention_days=1)
    monkeypatch.setattr(active.service, "settings", settings)
    synced: list[AccountRecord] = []
    real = keeping.sync_level

    async def count(service: Any, account: AccountRecord, *more: Any) -> SyncResult:
        synced.append(account)
        return await real(service, account, *more)

    monkeypatch.setattr(keeping, "sync_level", count)
    active.hands.pass_(days=1)
    job = ScheduledSync(active.service)
    await job.sync_due()
    accounts = await keeping.list_accounts(active.service)
    assert len(synced) == 4 * len(accounts) > 4
    await job.sync_due()
    assert len(synced) == 4 * len(accounts)
    as_of, account = now(active), active.accounts["meta"]
    report = await read(active, account, level="campaign", asOf=as_of)
    active.hands.pass_(days=1)
    await job.sync_due()
    assert len(synced) == 8 * len(accounts)
    active.hands.pass_(hours=20)
    await job.delete_old_versions()
    path, query = f"/accounts/{account}/insights", days_of(active)
    await active.admin.problem(404, "GET", path, query={**query, "level": "campaign", "asOf": as_of})
    assert report["rows"]
    await active.admin.get(path, **query, level="campaign", asOf=now(active))
