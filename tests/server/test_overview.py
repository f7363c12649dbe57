"""Daily figures of many accounts in one answer."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from adsunify.networks.registry import ADAPTER_PACKAGES
from adsunify.service.reporting import overview

from .served import Served

pytestmark = pytest.mark.asyncio(loop_scope="module")
ADDITIVE = ("impressions", "clicks", "spend", "videoViews")
ATTRIBUTED = ("conversions", "conversionValue")


@pytest.fixture(autouse=True)
def no_faults_left(server: Served) -> None:
    server.networks.state.faults.pending.clear()


def days_of(server: Served) -> dict[str, str]:
    """A week that ended yesterday in each time zone."""
    end = server.hands.now().date() - timedelta(days=2)
    return {"startDate": str(end - timedelta(days=6)), "endDate": str(end)}


async def read_all(server: Served, **query: str) -> Any:
    """Ask again until no account is pending."""
    for _ in range(10):
        overview = await server.admin.get("/insights", **days_of(server), **query)
        if "pending" not in {account["state"] for account in overview["accounts"]}:
            return overview
    raise AssertionError("a report never ends")


def add_up(values: list[Any]) -> Decimal | None:
    return None if None in values else sum((Decimal(value) for value in values), Decimal(0))


async def test_all_accounts_in_one_answer(server: Served, live: dict[str, str]) -> None:
    overview = await read_all(server)
    assert {account["network"] for account in overview["accounts"]} >= {*ADAPTER_PACKAGES}
    for account in overview["accounts"]:
        assert (account["state"], account["error"], account["nextCursor"]) == ("complete", None, None)
        alone = await server.admin.get(f"/accounts/{account['accountId']}/insights", **days_of(server))
        assert account["rows"] == alone["rows"]
        assert account["coverage"]["missing"] == alone["coverage"]["missing"]
    assert [total["currency"] for total in overview["totals"]] == sorted(
        {total["currency"] for total in overview["totals"]}
    )
    for total in overview["totals"]:
        accounts = [
            account
            for account in overview["accounts"]
            if account["currency"] == total["currency"] and account["totals"]
        ]
        assert total["accounts"] == len(accounts)
        has_one_network = len({account["network"] for account in accounts}) == 1
        for name in (*ADDITIVE, *(ATTRIBUTED if has_one_network else ())):
            expected = add_up([account["totals"][name] for account in accounts])
            assert (None if total[name] is None else Decimal(total[name])) == expected, name
        assert total["reach"] is None or len(accounts) == 1


async def test_conversions_of_two_networks_are_not_added_up(server: Served, live: dict[str, str]) -> None:
    overview = await read_all(server, accountIds=f"{live['amazon']},{live['google']}")
    for account in overview["accounts"]:
        assert account["totals"]["conversions"] is not None and account["totals"]["conversionValue"] is not None
    (total,) = overview["totals"]
    assert total["spend"] is not None
    assert [total[name] for name in ATTRIBUTED] == [None, None]
    (alone,) = (await read_all(server, accountIds=live["google"]))["totals"]
    assert alone["conversions"] is not None


async def test_an_account_that_fails_does_not_hide_the_others(server: Served, live: dict[str, str]) -> None:
    await server.networks.fault("reddit", "status", value=403, times=1000)
    overview = await read_all(server)
    failed = {account["network"]: account for account in overview["accounts"] if account["state"] == "failed"}
    assert {*failed} == {"reddit"}
    assert failed["reddit"]["error"]["network"]["status"] == 403
    assert (failed["reddit"]["rows"], failed["reddit"]["totals"]) == ([], None)
    (total,) = [total for total in overview["totals"] if total["currency"] == failed["reddit"]["currency"]]
    assert total["complete"] is False
    assert total["spend"] is not None


async def test_a_slow_network_holds_nobody_up(
    server: Served, live: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The figures of the others are there; those of the slow network are pending, and come later."""
    await read_all(server)
    monkeypatch.setattr(overview, "READ_SECONDS", 2.0)
    await server.networks.fault("tiktok", "latency", value=600_000, times=1000)
    page = await server.admin.get("/insights", **days_of(server), accountIds=f"{live['tiktok']},{live['google']}")
    slow, quick = page["accounts"]
    assert (slow["network"], slow["state"], slow["rows"]) == ("tiktok", "pending", [])
    assert slow["pending"]["retryAfterMs"] > 0
    assert (quick["network"], quick["state"]) == ("google", "complete")
    server.networks.state.faults.pending.clear()
    assert {account["state"] for account in (await read_all(server, network="tiktok"))["accounts"]} == {"complete"}


async def test_accounts_are_chosen(server: Served, live: dict[str, str]) -> None:
    overview = await read_all(server, network="meta")
    assert {account["network"] for account in overview["accounts"]} == {"meta"}
    ids = [live["x"], live["google"]]
    overview = await read_all(server, accountIds=",".join(ids))
    assert [account["accountId"] for account in overview["accounts"]] == ids, "in the order of the request"
    foreign = f"accountIds={server.foreign['meta']}"
    await server.admin.problem(404, "GET", f"/insights?startDate=2026-01-01&endDate=2026-01-02&{foreign}")
    body = {"name": "bound", "scope": {"networks": ["google"]}}
    key = await server.admin.post("/keys/scoped", body, 201)
    bound = await server.caller(key["secret"]).get("/insights", **days_of(server))
    assert {account["network"] for account in bound["accounts"]} == {"google"}


async def test_what_is_refused(server: Served, live: dict[str, str]) -> None:
    account = live["google"]
    for query, issue in (
        (f"accountIds={account},{account}", "accountIds.1"),
        ("accountIds=", "accountIds"),
        ("level=keyword", "level"),
        ("network=myspace", "network"),
        ("entityIds=1", "entityIds"),
    ):
        path = f"/insights?startDate=2026-01-01&endDate=2026-01-02&{query}"
        problem = await server.admin.problem(422, "GET", path)
        assert re.match(issue, problem["issues"][0]["path"]), (query, problem)
    problem = await server.admin.problem(422, "GET", "/insights?startDate=2026-01-03&endDate=2026-01-02")
    assert problem["issues"][0]["path"] == "endDate"


async def test_a_day_that_has_not_ended_is_provisional(server: Served, live: dict[str, str]) -> None:
    end = server.hands.now().date() + timedelta(days=1)
    query = {"startDate": str(end - timedelta(days=3)), "endDate": str(end), "accountIds": live["google"]}
    (account,) = (await server.admin.get("/insights", **query))["accounts"]
    assert account["coverage"]["provisionalFrom"] <= str(end)
    assert account["totals"] is not None, "of the days that are there"
    assert account["coverage"]["missing"], "what has not begun"


async def test_a_read_that_took_too_long_does_not_delay_the_next(
    server: Served, live: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Meta may answer with a job. The report that was not read in time is requested anew at once."""
    with monkeypatch.context() as patch:
        patch.setattr(overview, "READ_SECONDS", 2.0)
        await server.networks.fault("meta", "latency", value=600_000, times=1000)
        (slow,) = (await server.admin.get("/insights", **days_of(server), accountIds=live["meta"]))["accounts"]
        assert slow["state"] == "pending"
    server.networks.state.faults.pending.clear()
    (quick,) = (await server.admin.get("/insights", **days_of(server), accountIds=live["meta"]))["accounts"]
    assert quick["state"] == "complete"
