"""Daily figures of campaigns, ad groups and ads on every network: they add up to those of the account."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from adsunify.adapter.metrics import ReportLevel
from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter

from .served import Caller, Served

pytestmark = pytest.mark.asyncio(loop_scope="module")
ADDITIVE = ("impressions", "clicks", "spend", "conversions", "conversionValue", "videoViews")
LEVELS = [(code, level) for code in ADAPTER_PACKAGES for level in get_adapter(code).network.report_levels]
IDS = [f"{code}-{level.kind}" for code, level in LEVELS]


def days_of(server: Served, count: int = 7) -> dict[str, str]:
    """Days that have ended in each time zone."""
    end = server.hands.now().date() - timedelta(days=2)
    return {"startDate": str(end - timedelta(days=count - 1)), "endDate": str(end)}


async def read_pages(caller: Caller, account: str, **query: str) -> AsyncIterator[dict[str, Any]]:
    """The pages of a report; a pending one is asked for again."""
    cursor: dict[str, str] = {}
    for _ in range(100):
        answer = (await caller.send("GET", f"/accounts/{account}/insights", query={**query, **cursor})).json()
        assert "data" in answer, answer
        if answer["data"]["pending"] is not None:
            assert answer["data"]["rows"] == []
            continue
        yield answer["data"]
        if answer["page"]["nextCursor"] is None:
            return
        cursor = {"cursor": answer["page"]["nextCursor"]}
    raise AssertionError("the report never ends")


async def read_rows(server: Served, account: str, **query: str) -> list[dict[str, Any]]:
    return [row async for page in read_pages(server.admin, account, **query) for row in page["rows"]]


def add_up(rows: Sequence[dict[str, Any]], metric: str) -> Decimal | None:
    values = [row[metric] for row in rows]
    return None if None in values else sum((Decimal(value) for value in values), Decimal(0))


async def read_days(server: Served, account: str, **query: str) -> dict[str, dict[str, Any]]:
    """The account's own row of each day."""
    for _ in range(10):
        report = await server.admin.get(f"/accounts/{account}/insights", **query)
        if report["pending"] is None:
            return {row["date"]: row for row in report["rows"]}
    raise AssertionError("the report never ends")


async def test_every_network_reports_its_campaigns(server: Served, live: dict[str, str]) -> None:
    for code in ADAPTER_PACKAGES:
        network = get_adapter(code).network
        kinds = {level.kind for level in network.report_levels}
        assert "campaign" in kinds and kinds <= {level.kind for level in network.levels}, code
        network_row = await server.admin.get(f"/networks/{code}")
        assert [level_row["level"] for level_row in network_row["reportLevels"]] == [
            level.kind for level in network.report_levels
        ]


@pytest.mark.parametrize(("code", "level"), LEVELS, ids=IDS)
async def test_the_entities_of_a_day_add_up_to_the_account(
    server: Served, live: dict[str, str], code: str, level: ReportLevel
) -> None:
    account, days = live[code], days_of(server)
    whole = await read_days(server, account, **days)
    rows = await read_rows(server, account, **days, level=level.kind)
    assert rows
    keys = [(row["date"], row["entityId"]) for row in rows]
    assert len(keys) == len(set(keys)), "one row for each day and entity"
    for date, expected in whole.items():
        of_day = [row for row in rows if row["date"] == date]
        for metric in ADDITIVE:
            total = add_up(of_day, metric)
            if level.adds_up and total is not None and expected[metric] is not None:
                assert total == Decimal(expected[metric]), (date, metric)
    assert {row["date"] for row in rows if row["spend"] not in (None, "0")} <= {*whole}


@pytest.mark.parametrize(("code", "level"), LEVELS, ids=IDS)
async def test_rows_name_entities_of_the_hierarchy_and_can_be_chosen(
    server: Served, live: dict[str, str], code: str, level: ReportLevel
) -> None:
    account, days = live[code], days_of(server, 3)
    rows = await read_rows(server, account, **days, level=level.kind)
    tree = {(node["kind"], node["id"]): node for node in (await server.admin.get(f"/accounts/{account}/tree"))["nodes"]}
    chosen = rows[0]["entityId"]
    assert (level.kind, chosen) in tree
    for row in rows:
        node = tree.get((level.kind, row["entityId"]))
        if node is not None:
            assert row["entityName"] in (None, node["name"])
            assert row["parentId"] in (None, node["parentId"])
    alone = await read_rows(server, account, **days, level=level.kind, entityIds=chosen)
    expected_rows = [row for row in rows if row["entityId"] == chosen]
    # Snapchat names an entity only if it is read by itself.
    for row, expected in zip(alone, expected_rows, strict=True):
        assert {name: value for name, value in row.items() if expected[name] is not None} == {
            name: value for name, value in expected.items() if value is not None
        }


async def test_the_level_of_the_account_has_its_rows(server: Served, live: dict[str, str]) -> None:
    account, days = live["google"], days_of(server)
    (page,) = [page async for page in read_pages(server.admin, account, **days, level="account")]
    whole = await server.admin.get(f"/accounts/{account}/insights", **days)
    native = (await server.admin.get(f"/accounts/{account}"))["nativeId"]
    assert page["level"] == "account"
    assert {row["entityId"] for row in page["rows"]} == {native}
    assert [{name: row[name] for name in whole["rows"][0]} for row in page["rows"]] == whole["rows"]
    assert page["totals"] == whole["totals"]


async def test_what_is_refused(server: Served, live: dict[str, str]) -> None:
    days = "startDate=2026-11-01&endDate=2026-11-02"

    async def issue(code: str, query: str) -> tuple[str, str]:
        path = f"/accounts/{live[code]}/insights?{days}&{query}"
        (issue_row,) = (await server.admin.problem(422, "GET", path))["issues"]
        return issue_row["path"], issue_row["code"]

    assert await issue("outbrain", "level=adGroup") == ("level", "level_not_supported")
    assert await issue("google", "level=keyword") == ("level", "not_a_choice")
    assert await issue("google", "entityIds=1") == ("entityIds", "not_allowed")
    assert await issue("google", "level=account&cursor=x") == ("cursor", "not_allowed")
    assert await issue("google", "level=campaign&entityIds=1,1") == ("entityIds.1", "duplicate")
    assert await issue("google", "level=campaign&entityIds=1%20OR%201") == ("entityIds.0", "malformed")
    assert await issue("google", f"level=campaign&entityIds={','.join(map(str, range(1, 52)))}") == (
        "entityIds",
        "too_many",
    )
    assert await issue("google", "level=campaign&cursor=x") == ("cursor", "malformed")
    path = f"/accounts/{live['outbrain']}/insights?{days}&level=adGroup"
    (issue_row,) = (await server.admin.problem(422, "GET", path))["issues"]
    assert "account, campaign, ad" in issue_row["message"]


@pytest.mark.parametrize(("code", "level"), LEVELS, ids=IDS)
async def test_a_day_that_has_not_ended_is_provisional(
    server: Served, live: dict[str, str], code: str, level: ReportLevel
) -> None:
    timezone = (await server.admin.get(f"/accounts/{live[code]}"))["timezone"]
    today = server.hands.now().astimezone(ZoneInfo(timezone)).date()
    days = {"startDate": str(today - timedelta(days=1)), "endDate": str(today)}
    pages = [page async for page in read_pages(server.admin, live[code], **days, level=level.kind)]
    for page in pages:
        assert page["coverage"]["provisionalFrom"] in (days["startDate"], days["endDate"])


async def test_levels_that_do_not_add_up_say_why() -> None:
    """Performance Max campaigns have no ad groups; ChatGPT has no conversions of entities without impressions."""
    for code, level in LEVELS:
        assert level.adds_up or level.note, (code, level.kind)
    short = {(code, level.kind) for code, level in LEVELS if not level.adds_up}
    assert short >= {("google", "adGroup"), ("google", "ad"), ("chatgpt", "campaign"), ("chatgpt", "ad")}
    assert ("google", "campaign") not in short
