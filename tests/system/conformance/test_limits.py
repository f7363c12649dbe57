"""docs/spec.md, "Limits", row by row and by its words: each at its edge is accepted, and one beyond it refused."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from aiohttp import web
from attrs import evolve, frozen

from adsunify.service.webhook_worker import WebhookWorker
from adsunify.store import deliveries
from adsunify.webhooks import WebhookVerificationError, sign, verify
from tests.server.served import NEVER, brief
from tests.server.test_webhooks import run_receiver

from .asking import Inventory, example
from .spec import COUNTRIES, EVENTS, KINDS, ROWS, UUID, WEBHOOK_URL

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.usefixtures("no_webhooks_left")]
ROW = {row.name: row for row in ROWS}
BULK = ("POST /bulk-status", "POST /bulk-edit")
BRIEFS = ("POST /create", "POST /validate-campaign")
EDITS = tuple(f"POST /accounts/{{accountId}}/{words}/{{entityId}}/edit" for words in KINDS.values())
ITEM = {"id": "1", "name": "Austin"}
LISTS = ("locations", "excludedLocations", "languages", "interests", "excludedInterests", "devices", "placements")


def number_items(count: int, form: str = "{}") -> list[str]:
    return [form.format(number) for number in range(count)]


@frozen
class Limit:
    """What the contract calls it, the rows it is for, the member by dots, values at its edges, and beyond them."""

    item: str
    rows: tuple[str, ...]
    member: str
    good: tuple[Any, ...]
    bad: tuple[Any, ...]


def limit_length(item: str, rows: tuple[str, ...], member: str, least: int, most: int, each: Any = None) -> Limit:
    """A length: of a text, of a list of ``each``, or of the beginning of that list."""

    def of(count: int) -> Any:
        if isinstance(each, list):
            return each[:count]
        return "x" * count if each is None else [each] * count

    beyond = [of(most + 1), *([of(least - 1)] if least else [])]
    return Limit(item, rows, member, (of(least), of(most)), tuple(beyond))


PLACES = [str(number) for number in range(51)]
LIMITS = (
    Limit(
        "Entities per bulk status or bulk edit",
        BULK,
        "entityIds",
        (number_items(1), number_items(50)),
        ([], number_items(51)),
    ),
    Limit(
        "Operations per batch execute",
        ("POST /operations/execute",),
        "operationIds",
        (number_items(1, UUID[:-2] + "{:02}"), number_items(50, UUID[:-2] + "{:02}")),
        ([], number_items(51, UUID[:-2] + "{:02}")),
    ),
    Limit("Entity ID length in bulk bodies", BULK, "entityIds", (["x"], ["x" * 250]), ([""], ["x" * 251])),
    limit_length("field length (bulk-edit)", BULK[1:], "field", 1, 60),
    Limit("value (bulk-edit)", BULK[1:], "value", (0.000001, 1_000_000_000), (0, -0.5, 1_000_000_000.5)),
    limit_length("API key name", ("POST /keys",), "name", 1, 80),
    *(
        Limit(
            "Webhook url",
            (row,),
            "url",
            (WEBHOOK_URL.ljust(2000, "x"),),
            (WEBHOOK_URL.ljust(2001, "x"),),
        )
        for row in ("POST /webhooks", "PATCH /webhooks/{webhookId}")
    ),
    *(
        Limit("Webhook events", (row,), "events", (EVENTS[:1], EVENTS), ([], [*EVENTS, EVENTS[0]]))
        for row in ("POST /webhooks", "PATCH /webhooks/{webhookId}")
    ),
    limit_length("Brief fields: name", BRIEFS, "campaign.name", 3, 100),
    limit_length("Brief fields: countries", BRIEFS, "campaign.targeting.countries", 1, 50, list(COUNTRIES)),
    limit_length("Brief fields: locationIds", BRIEFS, "campaign.targeting.locationIds", 1, 50, PLACES),
    limit_length("Brief fields: keywords", BRIEFS, "campaign.targeting.keywords", 0, 50, {"text": "chair"}),
    Limit(
        "Brief fields: keyword text",
        BRIEFS,
        "campaign.targeting.keywords",
        ([{"text": "x"}], [{"text": "x" * 80}]),
        ([{"text": ""}], [{"text": "x" * 81}]),
    ),
    limit_length("Brief fields: headline", BRIEFS, "campaign.creative.headline", 1, 300),
    limit_length("Brief fields: body", BRIEFS, "campaign.creative.body", 1, 3000),
    limit_length("Brief fields: headlines", BRIEFS, "campaign.creative.headlines", 3, 15, "x" * 30),
    Limit(
        "Brief fields: headlines, each",
        BRIEFS,
        "campaign.creative.headlines",
        (["x"] * 3, ["x" * 30] * 3),
        (["x", "x", ""], ["x", "x", "x" * 31]),
    ),
    limit_length("Brief fields: descriptions", BRIEFS, "campaign.creative.descriptions", 2, 4, "x" * 90),
    Limit(
        "Brief fields: descriptions, each",
        BRIEFS,
        "campaign.creative.descriptions",
        (["x"] * 2, ["x" * 90] * 2),
        (["x", ""], ["x", "x" * 91]),
    ),
    limit_length("Brief fields: specialAdCategories", BRIEFS, "campaign.platform.specialAdCategories", 0, 10, "x"),
    Limit("Brief fields: amount fraction", BRIEFS, "campaign.budget.amount", ("0.000001",), ("0.0000001", "1.1234567")),
    Limit("Brief fields: amount fraction", BRIEFS, "campaign.bid", ("0.000001",), ("0.0000001", "1.1234567")),
    Limit("Edit fields: key", EDITS, "fields", ({"x": "1"}, {"x" * 60: "1"}), ({"": "1"}, {"x" * 61: "1"})),
    Limit("Edit fields: string value", EDITS, "fields", ({"x": ""}, {"x": "x" * 5000}), ({"x": "x" * 5001},)),
    *(limit_length(f"Edit fields: lists, {name}", EDITS, f"targeting.{name}", 0, 500, ITEM) for name in LISTS),
    *(
        Limit(f"Edit fields: ages, {age}", EDITS, f"targeting.{age}", (13, 65), (12, 66))
        for age in ("ageMin", "ageMax")
    ),
    limit_length("Edit fields: genders", EDITS, "targeting.genders", 0, 3, ["female", "male", "unknown", "female"]),
    Limit(
        "Edit fields: radiusKm",
        EDITS,
        "targeting.locations",
        ([{**ITEM, "radiusKm": 0.001}], [{**ITEM, "radiusKm": 1000}]),
        ([{**ITEM, "radiusKm": 0}], [{**ITEM, "radiusKm": 1000.5}]),
    ),
)


def change_member(body: dict[str, Any], member: str, value: Any) -> dict[str, Any]:
    first, _, rest = member.partition(".")
    return {**body, first: change_member(body.get(first, {}), rest, value) if rest else value}


@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: f"{limit.item} ({limit.rows[0]})")
async def test_at_its_edge_and_beyond(own: Inventory, limit: Limit) -> None:
    for name in limit.rows:
        row = ROW[name]
        path = row.path.replace("{entityId}", "1").replace("{accountId}", NEVER).replace("{webhookId}", NEVER)
        body = example(row)
        assert body is not None
        for value in limit.good:
            answer = await own.caller.send(row.method, path, change_member(body, limit.member, value))
            assert answer.status_code in (row.status, 404), (name, answer.text)
        for value in limit.bad:
            issues = await own.caller.read_issues(row.method, path, change_member(body, limit.member, value))
            assert {path_.replace("/", ".").startswith(limit.member) for path_, _ in issues} == {True}, issues


@pytest.mark.parametrize("words", KINDS.values())
async def test_limit_on_a_list(own: Inventory, words: str) -> None:
    """1 to 100."""
    path = f"/accounts/{NEVER}/{words}"
    for good in ("1", "100"):
        await own.caller.problem(404, "GET", path, query={"limit": good})
    for bad in ("0", "101"):
        assert await own.caller.read_issues("GET", path, query={"limit": bad}) == {("limit", "out_of_range")}


async def test_idempotency_key_length(own: Inventory) -> None:
    """1 to 200 characters, really bound."""
    for number, key in enumerate(("k", "🗝" * 200)):
        body = {"accountId": own.account, "campaign": brief("meta")}
        operations = [await own.caller.post("/create", body, 201, **{"Idempotency-Key": key}) for _ in range(2)]
        assert operations[0]["id"] == operations[1]["id"], number
    for key in ("", "k" * 201):
        issues = await own.caller.read_issues("POST", "/create", body, headers={"Idempotency-Key": key})
        assert issues == {("Idempotency-Key", "length")}


# -- lists --------------------------------------------------------------------------------------------------------


async def test_batches_of_50_and_pages_of_50(own: Inventory) -> None:
    """51 operations: 50 execute at once, the latest 50 are listed; of the 51 campaigns a page shows 50 by default."""
    path = f"/accounts/{own.account}/campaigns"
    payload = {"objective": "OUTCOME_TRAFFIC", "special_ad_categories": [], "is_adset_budget_sharing_enabled": False}
    operation_ids = [
        (await own.caller.post(path, {"payload": payload | {"name": f"C{n}"}}, 201))["id"] for n in range(51)
    ]
    listed_ids = [operation["id"] for operation in await own.caller.get("/operations")]
    assert listed_ids == operation_ids[:0:-1]
    for some in (operation_ids[:50], operation_ids[50:]):
        batch = await own.caller.post("/operations/execute", {"operationIds": some, "confirmed": True})
        assert [result["operationId"] for result in batch["results"]] == some
        assert {result.get("status", str(result)) for result in batch["results"]} == {"succeeded"}
    for query, count in (({}, 50), ({"limit": "50"}, 50), ({"limit": "1"}, 1), ({"limit": "100"}, 51)):
        answer = await own.caller.send("GET", path, query=query)
        assert len(answer.json()["data"]) == count
        assert (answer.json()["page"]["nextCursor"] is None) is (count == 51)


async def test_the_latest_100_deliveries(own: Inventory) -> None:
    webhook_id = (await own.caller.post("/webhooks", {"url": WEBHOOK_URL}, 201))["webhookId"]
    await own.caller.send("PATCH", f"/webhooks/{webhook_id}", {"active": False})
    queued = [(await own.caller.post(f"/webhooks/{webhook_id}/test", {}, 202))["deliveryId"] for _ in range(101)]
    delivery_ids = [delivery["deliveryId"] for delivery in await own.caller.get(f"/webhooks/{webhook_id}/deliveries")]
    assert delivery_ids == queued[:0:-1]


# -- deliveries ---------------------------------------------------------------------------------------------------


def allow(own: Inventory, url: str) -> None:
    """Let this address on loopback be a receiver."""
    service = own.server.service
    targets = service.settings.webhook_dev_targets | {url}
    service.settings = evolve(service.settings, webhook_dev_targets=targets)


async def test_webhook_deliveries_are_claimed_by_ten(own: Inventory, monkeypatch: pytest.MonkeyPatch) -> None:
    """10 due deliveries per worker run, leased for 5 minutes."""
    claims: list[tuple[int, int]] = []
    claim = deliveries.claim_deliveries

    def count_claim(connection: Any, clock: Any, limit: int, *more: Any) -> Any:
        claimed = claim(connection, clock, limit, *more)
        claims.append((limit, len(claimed)))
        return claimed

    monkeypatch.setattr(deliveries, "claim_deliveries", count_claim)
    async with run_receiver() as receiver:
        allow(own, receiver.url)
        webhook_id = (await own.caller.post("/webhooks", {"url": receiver.url}, 201))["webhookId"]
        await own.caller.send("PATCH", f"/webhooks/{webhook_id}", {"active": False})
        for _ in range(12):
            await own.caller.post(f"/webhooks/{webhook_id}/test", {}, 202)
        claims.clear()
        await own.caller.send("PATCH", f"/webhooks/{webhook_id}", {"active": True})
        await receiver.count(12)
        await own.caller.delete(f"/webhooks/{webhook_id}")
    assert sum(count for _, count in claims) == 12
    assert all(count <= limit <= 10 for limit, count in claims)
    assert WebhookWorker(own.server.service).lease == 5 * 60 * 1000


@pytest.mark.parametrize(("skew", "good"), [(0, True), (300, True), (-300, True), (301, False), (-301, False)])
async def test_signatures_may_be_5_minutes_off(skew: int, good: bool) -> None:
    at = 1_800_000_000
    headers = {"Service-Event-Id": "event", "Service-Signature": sign(b"{}", "event", "whsec_x", at)}
    if good:
        assert verify(b"{}", headers, "whsec_x", at + skew) == "event"
    else:
        with pytest.raises(WebhookVerificationError, match="5 minutes"):
            verify(b"{}", headers, "whsec_x", at + skew)


async def test_a_delivery_is_attempted_8_times(own: Inventory) -> None:
    async with run_receiver() as receiver:
        receiver.answer = lambda: web.Response(status=500)
        allow(own, receiver.url)
        webhook_id = (await own.caller.post("/webhooks", {"url": receiver.url}, 201))["webhookId"]
        await own.caller.post(f"/webhooks/{webhook_id}/test", {}, 202)
        waited = 0
        async with asyncio.timeout(60):
            while (delivery := (await own.caller.get(f"/webhooks/{webhook_id}/deliveries"))[0])["status"] != "failed":
                if (
                    delivery["status"] == "pending" and delivery["attempts"] > waited
                ):  # once for each: the next has its lease
                    waited = delivery["attempts"]
                    own.server.hands.pass_(hours=13)
                    await own.caller.send(
                        "PATCH", f"/webhooks/{webhook_id}", {"active": True}
                    )  # the worker looks again
                await asyncio.sleep(0.01)
        assert delivery["attempts"] == len(receiver.got) == 8
