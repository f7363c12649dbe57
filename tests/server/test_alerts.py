"""Alerts: what a worker tells about synced figures, once for each breach, and what it says that it does not know."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
import pytest_asyncio
from sqlalchemy import Connection

from adsunify.errors import StoreError
from adsunify.service import alert_job
from adsunify.service.alert_job import AlertJob, evaluate_alert, list_due_evaluations
from adsunify.store import kept_figures
from adsunify.store.kept_figures import DaysRead, FigureRow, FigureSubject

from .served import NEVER, Served

pytestmark = pytest.mark.asyncio(loop_scope="module")

SPEND = {"name": "Too much", "kind": "spendAbove", "amount": "50.5", "currency": "USD"}


async def store_figures(
    server: Served,
    rows: Sequence[FigureRow],
    days: tuple[date, date],
    missing: Sequence[tuple[str, str]] = (),
    **of: str,
) -> None:
    """Keep figures as a sync does, a minute later than whatever was kept before."""
    server.hands.pass_(minutes=1)
    subject = FigureSubject(of.get("account", server.accounts["meta"]), of.get("level", "campaign"))
    store = server.service.store

    def store_rows(connection: Connection) -> None:
        read = kept_figures.begin_read(connection, subject, store.clock)
        kept_figures.stage_rows(connection, read, rows)
        facts = DaysRead((str(days[0]), str(days[1])), missing=missing)
        kept_figures.keep_days(connection, read, facts, store.clock)

    await store.write(store_rows)


def make_figure_row(day: date, spend: str | None, entity: str = "120210000000000777", **more: Any) -> FigureRow:
    return FigureRow(date=str(day), entity_id=entity, spend=spend, **more)


async def evaluate(server: Served) -> list[dict[str, Any]]:
    """Evaluate what is due; the data of the new events."""
    before = len(await server.events("rule.triggered"))
    await AlertJob(server.service).evaluate_due()
    return [dict(event.data) for event in (await server.events("rule.triggered"))[before:]]


def summarize_events(events: Sequence[Mapping[str, Any]]) -> set[tuple[str, str, str]]:
    return {(event["entityId"], event["day"], event["found"]) for event in events}


@pytest_asyncio.fixture(loop_scope="module")
async def shop(both: Served) -> Served:
    """The server around noon in the account's time zone, without alerts."""
    account = (await both.admin.get("/accounts", network="meta"))[0]
    for alert in await both.admin.get("/alerts"):
        await both.admin.delete(f"/alerts/{alert['id']}")
    both.hands.pass_(days=1)
    assert account["timezone"] == "America/New_York", "the hours below are those of this time zone"
    both.hands.pass_(hours=(17 - both.hands.now().hour) % 24)
    return both


def read_today(server: Served) -> date:
    return (server.hands.now() - timedelta(hours=5)).date()


# -- rules --------------------------------------------------------------------------------------------------------


async def test_an_alert_is_made_changed_and_deleted(shop: Served) -> None:
    account = shop.accounts["meta"]
    alert = await shop.admin.post("/alerts", {**SPEND, "scope": {"accountIds": [account]}}, 201)
    gap = {
        "accountId": account,
        "reason": "It was not evaluated yet. `adsunify worker` evaluates alerts after a sync of the daily figures.",
        "entityIds": [],
    }
    assert alert == {
        "id": alert["id"],
        "name": "Too much",
        "kind": "spendAbove",
        "scope": {"accountIds": [account]},
        "level": "account",
        "amount": "50.50",
        "currency": "USD",
        "days": 1,
        "hours": None,
        "percent": None,
        "active": True,
        "lastEvaluatedAt": None,
        "notEvaluated": [gap],
    }
    path = f"/alerts/{alert['id']}"
    changed = (await shop.admin.send("PATCH", path, {"amount": "60", "level": "campaign"})).json()["data"]
    assert changed == {**alert, "amount": "60.00", "level": "campaign"}
    assert await shop.admin.get("/alerts") == [changed]
    assert await shop.admin.read_issues("PATCH", path, {"hours": 5}) == {("hours", "not_allowed")}
    assert await shop.admin.read_issues("PATCH", path, {"kind": "paceAbove"}) == {("kind", "unknown_property")}
    assert await shop.admin.read_issues("PATCH", path, {"amount": None}) == {("amount", "wrong_type")}
    for method, body in (("PATCH", {"active": False}), ("DELETE", None)):
        await shop.person("stranger").problem(404, method, path, body)
        await shop.person("member").problem(403, method, path, body)
    assert await shop.person("viewer").get("/alerts") == [changed]
    assert await shop.person("stranger").get("/alerts") == []
    assert await shop.admin.delete(path) == changed
    assert await shop.admin.get("/alerts") == []
    await shop.admin.problem(404, "DELETE", path)


@pytest.mark.parametrize(
    ("body", "issues"),
    [
        ({"name": "x", "kind": "spendAbove"}, {("amount", "required"), ("currency", "required")}),
        ({**SPEND, "amount": 5}, {("amount", "wrong_type"), ("amount", "required")}),
        ({**SPEND, "amount": "-5"}, {("amount", "malformed")}),
        ({**SPEND, "currency": "usd"}, {("currency", "malformed")}),
        ({**SPEND, "days": 32}, {("days", "out_of_range")}),
        ({**SPEND, "hours": 5}, {("hours", "not_allowed")}),
        ({**SPEND, "percent": 5, "x": 1}, {("percent", "not_allowed"), ("x", "unknown_property")}),
        ({"name": "x", "kind": "noDeliveryFor"}, {("hours", "required")}),
        ({"name": "x", "kind": "noDeliveryFor", "hours": 4, "level": "account"}, {("level", "not_a_choice")}),
        ({"name": "x", "kind": "disapproved", "hours": 4}, {("hours", "not_allowed")}),
        ({"name": "x", "kind": "paceAbove", "percent": 0}, {("percent", "out_of_range")}),
        ({"name": "x", "kind": "paceAbove", "percent": 120, "level": "ad"}, {("level", "not_a_choice")}),
        ({"name": "x", "kind": "spendsAbove"}, {("kind", "not_a_choice")}),
        ({**SPEND, "scope": {"networks": ["mta"]}}, {("scope.networks.0", "not_a_choice")}),
        ({**SPEND, "scope": {"accountIds": [NEVER]}}, {("scope.accountIds.0", "not_found")}),
        ({**SPEND, "level": "ad", "scope": {"entityIds": ["1"]}}, {("scope.accountIds", "required")}),
        (
            {"name": "x", "kind": "disapproved", "scope": {"networks": ["meta", "x"]}},
            {("level", "level_not_supported")},
        ),
        (
            {"name": "x", "kind": "disapproved", "level": "campaign", "scope": {"networks": ["meta"]}},
            {("level", "level_not_supported")},
        ),
    ],
)
async def test_what_is_no_alert_is_refused(shop: Served, body: dict[str, Any], issues: set[tuple[str, str]]) -> None:
    assert await shop.admin.read_issues("POST", "/alerts", body) == issues
    assert await shop.admin.get("/alerts") == []


@pytest.mark.parametrize("id_", ["120210/../120211", "abc", "1?fields=x"])
async def test_what_is_no_id_of_the_network_is_refused(shop: Served, id_: str) -> None:
    scope = {"accountIds": [shop.accounts["meta"]], "entityIds": ["120210000000000777", id_]}
    body = {"name": "x", "kind": "disapproved", "scope": scope}
    assert await shop.admin.read_issues("POST", "/alerts", body) == {("scope.entityIds.1", "malformed")}


async def test_an_account_in_another_currency_is_refused_or_said(shop: Served) -> None:
    in_dollars = shop.accounts["meta"]
    others = [account for account in await shop.admin.get("/accounts") if account["currency"] != "USD"]
    body = {**SPEND, "scope": {"accountIds": [in_dollars, others[0]["accountId"]]}}
    assert await shop.admin.read_issues("POST", "/alerts", body) == {("scope.accountIds.1", "currency_mismatch")}
    await shop.admin.post("/alerts", SPEND, 201)
    await store_figures(shop, [], (read_today(shop), read_today(shop)), account=others[0]["accountId"], level="account")
    assert await evaluate(shop) == []
    (alert,) = await shop.admin.get("/alerts")
    (gap,) = [entry for entry in alert["notEvaluated"] if entry["accountId"] == others[0]["accountId"]]
    assert others[0]["currency"] in gap["reason"]


# -- spendAbove ---------------------------------------------------------------------------------------------------


async def create_alert(server: Served, **members: Any) -> str:
    body = {"level": "campaign", "scope": {"accountIds": [server.accounts["meta"]]}, **members}
    return str((await server.admin.post("/alerts", body, 201))["id"])


async def test_a_breach_is_told_once_for_each_day_and_entity(shop: Served) -> None:
    alert, day = await create_alert(shop, **SPEND), read_today(shop)
    days = day - timedelta(days=3), day
    rows = [
        make_figure_row(day - timedelta(days=1), "500"),
        make_figure_row(day, "50.51"),
        make_figure_row(day, "50.50", "2"),
        make_figure_row(day, "99999", "3"),
    ]
    await store_figures(shop, rows, days)
    first, second = sorted(await evaluate(shop), key=lambda event: event["entityId"])
    as_of = first["asOf"]
    assert first == {
        "operationId": None,
        "accountId": shop.accounts["meta"],
        "network": "meta",
        "status": "triggered",
        "kind": "alert",
        "alertId": alert,
        "alert": "spendAbove",
        "rule": "Too much",
        "level": "campaign",
        "entityId": "120210000000000777",
        "currency": "USD",
        "allowed": "50.50",
        "found": "50.51",
        "day": str(day),
        "asOf": as_of,
    }, "the day before the alert was made is not told"
    assert second["entityId"] == "3"
    assert datetime.fromisoformat(as_of) <= datetime.fromtimestamp(shop.hands.milliseconds() / 1000, UTC)
    (alert_row,) = await shop.admin.get("/alerts")
    assert (alert_row["notEvaluated"], alert_row["lastEvaluatedAt"] >= as_of) == ([], True)
    assert await evaluate(shop) == [], "no newer figures"
    await store_figures(shop, [*rows[:1], make_figure_row(day, "60"), make_figure_row(day, "51", "2")], days)
    assert summarize_events(await evaluate(shop)) == {("2", str(day), "51")}
    await store_figures(shop, [make_figure_row(day, "1")], days)
    assert await evaluate(shop) == []
    await store_figures(shop, [make_figure_row(day, "70"), make_figure_row(day, "71", "4")], days)
    assert summarize_events(await evaluate(shop)) == {("4", str(day), "71")}, "told today already"
    shop.hands.pass_(days=1)
    await store_figures(
        shop, [make_figure_row(day, "1"), make_figure_row(day, "71", "4")], (days[0], day + timedelta(days=1))
    )
    assert await evaluate(shop) == []
    await store_figures(
        shop, [make_figure_row(day, "70"), make_figure_row(day, "71", "4")], (days[0], day + timedelta(days=1))
    )
    assert summarize_events(await evaluate(shop)) == {("120210000000000777", str(day), "70")}, (
        "taken back, and found again later"
    )
    await store_figures(
        shop, [make_figure_row(day, "72"), make_figure_row(day, "71", "4")], (days[0], day + timedelta(days=1))
    )
    assert await evaluate(shop) == []


async def test_a_window_has_several_days(shop: Served) -> None:
    await create_alert(shop, **SPEND, days=3)
    day = read_today(shop)
    shares = ("20", "20.25", "10.25")
    rows = [make_figure_row(day - timedelta(days=number), spend) for number, spend in enumerate(shares)]
    before = make_figure_row(day - timedelta(days=3), "1000")
    days = day - timedelta(days=4), day
    await store_figures(shop, [*rows, before], days)
    assert await evaluate(shop) == []
    await store_figures(shop, [*rows[:2], make_figure_row(day - timedelta(days=2), "10.251"), before], days)
    assert summarize_events(await evaluate(shop)) == {("120210000000000777", str(day), "50.501")}


async def test_null_is_not_zero_and_days_without_figures_are_said(shop: Served) -> None:
    await create_alert(shop, **SPEND, days=3)
    day = read_today(shop)
    days = day - timedelta(days=5), day
    rows = [
        make_figure_row(day, "50"),
        make_figure_row(day - timedelta(days=1), None),
        make_figure_row(day, "51", "2"),
        make_figure_row(day, None, "2"),
    ]
    await store_figures(
        shop,
        [rows[0], rows[1], make_figure_row(day - timedelta(days=1), None, "2"), make_figure_row(day, "51", "2")],
        days,
    )
    assert summarize_events(await evaluate(shop)) == {("2", str(day), "51")}, "what is known suffices"
    (alert,) = await shop.admin.get("/alerts")
    assert [(entry["reason"], entry["entityIds"]) for entry in alert["notEvaluated"]] == [
        ("The network does not report the spend of 1 entities on some days.", ["120210000000000777"])
    ]
    await store_figures(shop, [make_figure_row(day, "52")], days, missing=[(str(day), str(day))])
    assert summarize_events(await evaluate(shop)) == {("120210000000000777", str(day), "52")}
    (alert,) = await shop.admin.get("/alerts")
    (gap,) = alert["notEvaluated"]
    assert (gap["reason"].startswith("Some days were not synced"), str(day) in gap["reason"]) == (True, True)
    await create_alert(shop, **{**SPEND, "days": 31})
    await evaluate(shop)
    assert "were not synced" in (await shop.admin.get("/alerts"))[1]["notEvaluated"][0]["reason"]


async def test_an_alert_watches_what_its_scope_names(shop: Served) -> None:
    day = read_today(shop)
    scope = {"accountIds": [shop.accounts["meta"]], "entityIds": ["2", "4"]}
    alert = await create_alert(shop, **SPEND, scope=scope)
    await create_alert(shop, **{**SPEND, "name": "Google"}, scope={"networks": ["google"]})
    await store_figures(shop, [make_figure_row(day, "100", entity) for entity in "1234"], (day, day))
    events = await evaluate(shop)
    assert {(event["alertId"], event["entityId"]) for event in events} == {(alert, "2"), (alert, "4")}


async def test_pausing_keeps_what_was_told_and_a_changed_alert_begins_anew(shop: Served) -> None:
    alert, day = await create_alert(shop, **SPEND), read_today(shop)
    path, rows = f"/alerts/{alert}", [make_figure_row(day, "100")]
    await store_figures(shop, rows, (day, day))
    assert len(await evaluate(shop)) == 1
    await shop.admin.send("PATCH", path, {"active": False})
    await store_figures(shop, [*rows, make_figure_row(day, "100", "2")], (day, day))
    assert await evaluate(shop) == []
    await shop.admin.send("PATCH", path, {"active": True, "name": "Still too much"})
    assert [(event["entityId"], event["rule"]) for event in await evaluate(shop)] == [("2", "Still too much")]
    await shop.admin.send("PATCH", path, {"amount": "99"})
    assert {event["entityId"] for event in await evaluate(shop)} == {"120210000000000777", "2"}
    await shop.admin.delete(path)
    await store_figures(shop, rows, (day, day))
    assert await evaluate(shop) == []


async def test_workers_that_evaluate_at_once_tell_once(shop: Served) -> None:
    await create_alert(shop, **SPEND)
    day = read_today(shop)
    await store_figures(shop, [make_figure_row(day, "100", str(number)) for number in range(5)], (day, day))
    before = len(await shop.events("rule.triggered"))
    await asyncio.gather(*(AlertJob(shop.service).evaluate_due() for _ in range(4)))
    assert len(await shop.events("rule.triggered")) == before + 5


@pytest.mark.parametrize("name", ["list_due_evaluations", "evaluate_alert"])
async def test_the_job_goes_on_after_a_failure_of_the_database(
    shop: Served, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    alert, day, failures = await create_alert(shop, **SPEND), read_today(shop), 0
    await store_figures(shop, [make_figure_row(day, "100")], (day, day))
    real = getattr(alert_job, name)

    def fail_once(*arguments: Any) -> Any:
        nonlocal failures
        failures += 1
        if failures == 1:
            raise StoreError("The database does not answer.")
        return real(*arguments)

    monkeypatch.setattr(alert_job, name, fail_once)
    monkeypatch.setattr(alert_job, "CHECK_SECONDS", 0.01)
    job = asyncio.create_task(AlertJob(shop.service).run())
    async with asyncio.timeout(20):
        while alert not in {event.data.get("alertId") for event in await shop.events("rule.triggered")}:
            await asyncio.sleep(0.01)
    job.cancel()
    await asyncio.wait((job,))
    assert failures > 1


async def test_an_outdated_evaluation_is_not_saved(shop: Served) -> None:
    alert, day, store = await create_alert(shop, **SPEND), read_today(shop), shop.service.store
    await store_figures(shop, [make_figure_row(day, "100")], (day, day))
    (old,) = await store.read(list_due_evaluations, store.clock.now())
    await store_figures(shop, [make_figure_row(day, "1")], (day, day))
    assert await evaluate(shop) == []
    assert await evaluate_alert(shop.service, old) is None
    await store_figures(shop, [make_figure_row(day, "101")], (day, day))
    (newer,) = await store.read(list_due_evaluations, store.clock.now())
    await shop.admin.send("PATCH", f"/alerts/{alert}", {"amount": "500"})
    assert await evaluate_alert(shop.service, newer) is None
    assert await evaluate(shop) == []


async def test_a_flood_of_breaches_is_told_in_parts(shop: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adsunify.store.alerts.MAX_TOLD", 3)
    monkeypatch.setattr("adsunify.service.alert_job.ROWS_PER_READ", 2)
    await create_alert(shop, **SPEND)
    day = read_today(shop)
    await store_figures(shop, [make_figure_row(day, "100", str(number)) for number in range(7)], (day, day))
    counts = [len(await evaluate(shop)) for _ in range(4)]
    assert counts == [3, 3, 1, 0]
