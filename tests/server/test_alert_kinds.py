"""Each kind of alert on networks: figures are synced, the worker evaluates them, and a receiver gets the event."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from attrs import evolve

from adsunify.adapter.network import Level, Network
from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.service.reporting import keeping
from adsunify.webhooks import verify
from tests.system.webhooks.receiving import run_receiver

from .served import Served, brief
from .test_alerts import evaluate
from .test_insights import read_today
from .test_kept_figures import sync

pytestmark = pytest.mark.asyncio(loop_scope="module")

REVIEWS = [
    pytest.param(code, level, id=f"{code}-{level.kind}")
    for code in ADAPTER_PACKAGES
    for level in get_adapter(code).network.levels
    if level.review_status
]


@pytest.fixture(autouse=True)
def _clear_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "MAX_PAUSE_SECONDS", 0.05)


@pytest.fixture(autouse=True)
def _around_noon(server: Served) -> None:
    """No day of an account ends during a test, unless the test lets it."""
    if (hour := server.hands.now().hour) not in range(10, 14):
        server.hands.pass_(hours=(36 - hour) % 24)


def get_network(code: str) -> Network:
    return get_adapter(code).network


async def create_alert(server: Served, network: str, **members: Any) -> str:
    body = {"name": f"For {network}", "scope": {"accountIds": [server.accounts[network]]}, **members}
    return str((await server.admin.post("/alerts", body, 201))["id"])


async def read_alert(server: Served, alert: str) -> Any:
    return next(row for row in await server.admin.get("/alerts") if row["id"] == alert)


async def list_rows(server: Served, account: str, level: str, day: date) -> list[Any]:
    """The kept rows of a day."""
    insights = await server.admin.get(
        f"/accounts/{account}/insights", startDate=str(day), endDate=str(day), level=level, asOf=format_now(server)
    )
    rows: list[Any] = insights["rows"]
    return rows


def format_now(server: Served) -> str:
    return server.hands.now().isoformat(timespec="milliseconds").replace("+00:00", "Z")


def select_alert_events(events: list[dict[str, Any]], alert: str) -> list[dict[str, Any]]:
    return [event for event in events if event["alertId"] == alert]


@pytest.mark.parametrize("network", list(ADAPTER_PACKAGES))
async def test_spend_and_pace_on_each_network(server: Served, live: dict[str, str], network: str) -> None:
    """Every breach is one that the kept rows show, counted by hand, and none is missing."""
    account = live[network]
    levels = {level.kind for level in get_network(network).report_levels}
    level = "adGroup" if "adGroup" in levels else "campaign"
    await sync(server, [account], ["account", level], days=3)
    zone = ZoneInfo((await server.admin.get(f"/accounts/{account}"))["timezone"])
    spend = await create_alert(server, network, kind="spendAbove", level=level, amount="0.01", currency="USD")
    whole = await create_alert(server, network, kind="spendAbove", amount="0.01", currency="USD")
    paces = {
        kind: await create_alert(server, network, kind="paceAbove", level=kind, percent=1)
        for kind in ("campaign", "adGroup")
        if kind in levels
    }
    if "campaign" in paces and level == "adGroup":
        await sync(server, [account], ["campaign"], days=3)
    day = await read_today(server, account)
    events = await evaluate(server)
    rows = await list_rows(server, account, level, day)
    expected = {(row["entityId"], row["spend"]) for row in rows if row["spend"] and Decimal(row["spend"]) > 0}
    assert {(event["entityId"], event["found"]) for event in select_alert_events(events, spend)} == expected
    (row,) = await list_rows(server, account, "account", day)
    assert [(event["found"], "entityId" in event) for event in select_alert_events(events, whole)] == [
        (row["spend"], False)
    ]
    events_by_entity = {
        (kind, event["entityId"]): event
        for kind, alert in paces.items()
        for event in select_alert_events(events, alert)
    }
    gaps = [gap for alert in paces.values() for gap in (await read_alert(server, alert))["notEvaluated"]]
    assert events_by_entity or gaps, "what cannot be compared is said"
    for (kind, entity_id), event in events_by_entity.items():
        path = {"campaign": "campaigns", "adGroup": "ad-groups"}[kind]
        fields = (await server.admin.get(f"/accounts/{account}/{path}/{entity_id}/settings"))["fields"]
        budget = next(field for field in fields if field["field"] in ("budget", "dailyBudget") and field["value"])
        if budget.get("period") == "daily":
            spent = next(
                Fraction(row["spend"])
                for row in await list_rows(server, account, kind, day)
                if row["entityId"] == entity_id
            )
            began = datetime.combine(day, time(), zone)
            share = Fraction(
                (datetime.fromisoformat(event["asOf"]) - began) // timedelta(milliseconds=1),
                (datetime.combine(day + timedelta(days=1), time(), zone) - began) // timedelta(milliseconds=1),
            )
            percent = spent * 100 / (Fraction(budget["value"]) * share)
            assert percent <= Fraction(event["found"]) < percent + Fraction(1, 10)
    assert await evaluate(server) == []


@pytest.mark.parametrize(("network", "level"), REVIEWS)
async def test_a_refused_ad_is_told(server: Served, live: dict[str, str], network: str, level: Level) -> None:
    account = live[network]
    alert = await create_alert(server, network, kind="disapproved", level=level.kind)
    await sync(server, [account], ["account"], days=2)
    assert select_alert_events(await evaluate(server), alert) == []
    nodes = (await server.admin.get(f"/accounts/{account}/tree"))["nodes"]
    active = {node["id"] for node in nodes if node["kind"] == level.kind and node["status"] == "active"}
    world = server.networks.state.worlds[network]
    await server.networks.refuse(network, *(id_ for _, id_ in world._stored_entities))
    await sync(server, [account], ["account"], days=2)
    events = select_alert_events(await evaluate(server), alert)
    assert active and {event["entityId"] for event in events} >= active
    assert {event["found"] for event in events} <= {*level.disapproved_statuses}
    await sync(server, [account], ["account"], days=2)
    assert select_alert_events(await evaluate(server), alert) == []
    await server.networks.refuse(network)


async def test_an_ad_that_is_refused_again_is_told_again_on_another_day(server: Served, live: dict[str, str]) -> None:
    account = live["meta"]
    nodes = (await server.admin.get(f"/accounts/{account}/tree"))["nodes"]
    ad = next(node["id"] for node in nodes if node["kind"] == "ad" and node["status"] == "active")
    alert = await create_alert(server, "meta", kind="disapproved", scope={"accountIds": [account], "entityIds": [ad]})
    counts = []
    for refused, days in (((ad,), 0), ((), 0), ((ad,), 0), ((ad,), 1), ((ad,), 0)):
        server.hands.pass_(days=days)
        await server.networks.refuse("meta", *refused)
        await sync(server, [account], ["account"], days=2)
        counts.append(len(select_alert_events(await evaluate(server), alert)))
    assert counts == [1, 0, 0, 1, 0]
    await server.networks.refuse("meta")
    gone = {"accountIds": [account], "entityIds": [ad, "999999999999"]}
    await server.admin.send("PATCH", f"/alerts/{alert}", {"scope": gone})
    await evaluate(server)
    (gap,) = (await read_alert(server, alert))["notEvaluated"]
    assert gap["entityIds"] == ["999999999999"]


async def activate(server: Served, network: str) -> Any:
    """Create and activate a campaign; the operation that created it."""
    account = server.accounts[network]
    created = await server.admin.post("/create", {"accountId": account, "campaign": brief(network)}, 201)
    execution = await server.admin.execute(created["id"])
    activation = await server.admin.post("/activate", {"accountId": account, "sourceOperationId": created["id"]}, 201)
    assert (await server.admin.execute(activation["id"]))["status"] == "succeeded"
    return execution


@pytest.mark.parametrize("network", ["outbrain", "x", "linkedin", "google", "meta"])
async def test_an_ad_without_delivery_is_told_once(server: Served, network: str) -> None:
    account = server.accounts[network]
    first = await read_today(server, account)
    days = [str(first + timedelta(days=number)) for number in range(-2, 5)]
    await server.networks.quiet(network, *days)
    await activate(server, network)
    alert = await create_alert(server, network, kind="noDeliveryFor", hours=30)
    nodes = (await server.admin.get(f"/accounts/{account}/tree"))["nodes"]
    await sync(server, [account], ["ad"], days=3)
    assert select_alert_events(await evaluate(server), alert) == [], "the hours are not over"
    server.hands.pass_(hours=31)
    await sync(server, [account], ["ad"], days=5)
    events = select_alert_events(await evaluate(server), alert)
    ads = {node["id"] for node in nodes if node["kind"] == "ad" and node["status"] == "active"}
    assert events and {event["entityId"] for event in events} <= ads
    assert {(event["allowed"], int(event["found"]) >= 30) for event in events} == {("30", True)}
    untimed = [gap for gap in (await read_alert(server, alert))["notEvaluated"] if "known time" in gap["reason"]]
    assert all(set(gap["entityIds"]).isdisjoint(event["entityId"] for event in events) for gap in untimed)
    await sync(server, [account], ["ad"], days=5)
    assert select_alert_events(await evaluate(server), alert) == []
    await server.networks.quiet(network)
    await sync(server, [account], ["ad"], days=5)
    assert select_alert_events(await evaluate(server), alert) == []


async def test_an_ad_that_was_paused_elsewhere_is_not_told(server: Served) -> None:
    account = server.accounts["meta"]
    first = await read_today(server, account)
    await server.networks.quiet("meta", *(str(first + timedelta(days=number)) for number in range(-1, 5)))
    creation = await activate(server, "meta")
    ad = next(step["outputs"]["id"] for step in creation["receipt"]["steps"] if step["key"] == "ad")
    scope = {"accountIds": [account], "entityIds": [ad]}
    alert = await create_alert(server, "meta", kind="noDeliveryFor", hours=24, scope=scope)
    world = server.networks.state.worlds["meta"]
    stored = world.find("ad", ad)
    assert stored is not None
    world.replace(stored, {**stored.data, "status": "PAUSED"}, logged=False)
    server.hands.pass_(hours=25)
    await sync(server, [account], ["ad"], days=5)
    assert select_alert_events(await evaluate(server), alert) == []
    world.replace(stored, {**stored.data, "status": "ACTIVE"}, logged=False)
    await sync(server, [account], ["ad"], days=5)
    assert select_alert_events(await evaluate(server), alert) == [], (
        "somebody else has activated it, at an unknown time"
    )
    (gap,) = (await read_alert(server, alert))["notEvaluated"]
    assert gap["entityIds"] == [ad]
    await server.networks.quiet("meta")


async def set_status(server: Served, account: str, campaign: str, status: str) -> None:
    body = {"accountId": account, "kind": "campaign", "entityIds": [campaign], "status": status}
    (operation,) = (await server.admin.post("/bulk-status", body, 201))["operations"]
    assert (await server.admin.execute(operation["id"]))["status"] == "succeeded"


async def test_the_hours_count_from_the_last_activation_above(server: Served) -> None:
    account = server.accounts["meta"]
    first = await read_today(server, account)
    await server.networks.quiet("meta", *(str(first + timedelta(days=number)) for number in range(-1, 6)))
    steps = {step["key"]: step["outputs"] for step in (await activate(server, "meta"))["receipt"]["steps"]}
    await set_status(server, account, steps["campaign"]["id"], "paused")
    scope = {"accountIds": [account], "entityIds": [steps["ad"]["id"]]}
    alert = await create_alert(server, "meta", kind="noDeliveryFor", hours=30, scope=scope)
    server.hands.pass_(hours=31)
    await sync(server, [account], ["ad"], days=5)
    assert select_alert_events(await evaluate(server), alert) == [], "it cannot deliver while its campaign is paused"
    await set_status(server, account, steps["campaign"]["id"], "active")
    await sync(server, [account], ["ad"], days=5)
    assert select_alert_events(await evaluate(server), alert) == []
    server.hands.pass_(hours=31)
    await sync(server, [account], ["ad"], days=6)
    (event,) = select_alert_events(await evaluate(server), alert)
    assert 30 <= int(event["found"]) < 60
    await sync(server, [account], ["ad"], days=6)
    assert select_alert_events(await evaluate(server), alert) == []
    await server.networks.quiet("meta")


async def test_more_entities_than_are_read(
    server: Served, live: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adsunify.service.alert_job.ENTITIES_PER_PAGE", 1)
    monkeypatch.setattr("adsunify.service.alert_job.MAX_READ_PAGES", 1)
    world = server.networks.state.worlds["meta"]
    alert = await create_alert(server, "meta", kind="disapproved")
    await server.networks.refuse("meta", *(id_ for _, id_ in world._stored_entities))
    await sync(server, [live["meta"]], ["account"], days=2)
    assert len(select_alert_events(await evaluate(server), alert)) <= 1
    (gap,) = (await read_alert(server, alert))["notEvaluated"]
    assert gap["reason"].startswith("The level has more entities")
    await server.networks.refuse("meta")


async def test_a_network_that_fails_is_said_and_asked_again_later(server: Served) -> None:
    account = server.accounts["meta"]
    alert = await create_alert(server, "meta", kind="disapproved")
    await sync(server, [account], ["account"], days=2)
    await server.networks.fault("meta", "status", value=500, times=20)
    await evaluate(server)
    (gap,) = (await read_alert(server, alert))["notEvaluated"]
    assert gap["reason"].startswith("The entities could not be read")
    await server.networks.clear_faults()
    request_count = len(server.networks.requests)
    await evaluate(server)
    assert len(server.networks.requests) == request_count
    server.hands.pass_(minutes=16)
    await evaluate(server)
    assert (await read_alert(server, alert))["notEvaluated"] == []


async def test_a_receiver_gets_a_signed_event(server: Served, live: dict[str, str]) -> None:
    for old_alert in await server.admin.get("/alerts"):
        await server.admin.delete(f"/alerts/{old_alert['id']}")
    async with run_receiver() as receiver:
        server.service.settings = evolve(server.service.settings, webhook_dev_targets=frozenset({receiver.url}))
        hook = {"url": receiver.url, "events": ["rule.triggered"], "accountId": live["meta"]}
        webhook = await server.admin.post("/webhooks", hook, 201)
        key = await server.admin.post(
            "/keys/scoped", {"name": "shop", "canWrite": True, "scope": {"accountIds": [live["meta"]]}}, 201
        )
        bound = await server.caller(key["secret"]).post("/webhooks", {**hook, "url": receiver.url}, 201)
        await sync(server, [live["meta"]], ["account"], days=2)  # it is noon now, so that the day does not end
        alert = await create_alert(server, "meta", kind="spendAbove", amount="0", currency="USD", scope={})
        await sync(server, [live["meta"]], ["account"], days=2)
        events = select_alert_events(await evaluate(server), alert)
        assert [event["accountId"] for event in events].count(live["meta"]) == 1
        deliveries = await receiver.count(2)
        for sent in deliveries:
            secret = webhook["secret"] if sent.event["data"]["rule"] != alert else bound["secret"]
            verify(sent.body, sent.headers, secret, now=server.hands.now().timestamp())
            assert (sent.event["type"], sent.event["data"]["kind"]) == ("rule.triggered", "alert")
        assert {sent.event["data"]["rule"] for sent in deliveries} == {"For meta", alert}, (
            "a scope may not have the alert"
        )
        caller = server.caller(key["secret"])
        own = await caller.post(
            "/alerts", {"name": "x", "kind": "disapproved", "scope": {"accountIds": [live["meta"]]}}, 201
        )
        visible_ids = {row["id"] for row in await caller.get("/alerts")}
        assert own["id"] in visible_ids and alert not in visible_ids
        await caller.problem(404, "PATCH", f"/alerts/{alert}", {"active": False})
        refused = await caller.read_issues("POST", "/alerts", {"name": "x", "kind": "disapproved"})
        assert refused == {("scope", "outside_scope")}
