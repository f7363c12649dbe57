"""A workspace as it is after some weeks: accounts, operations in every state, rules, keys, agents, webhooks, people."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from attrs import evolve, frozen
from sqlalchemy import update

from adsunify.service import sessions
from adsunify.service.users import add_member, create_workspace
from adsunify.store.schema import operations
from tests.server.served import Served, brief, connect
from tests.server.test_launches import change, execute, wait

from .browsing import browser, email
from .test_consent import decide, exchange_code, make_consent_address

NETWORKS = ("meta", "google", "apple", "linkedin")
LONG_NAME = "Garden chairs of spring, for terraces and balconies, second attempt (Europe, Middle East and Africa)"
UNBROKEN_NAME = "EMEA_2026-Q4_Prospecting_Lookalike-1pct_GardenChairs_Terraces_v2"
HOOK = "http://127.0.0.1:9/receivers/advertising/operations/0123456789abcdef0123456789abcdef"
"""Nobody listens there."""


@frozen
class Content:
    """What a workspace holds.

    Args:
        values: for each variable part of a page's path, or for a path, the values by name. The values of a path with
            several variable parts are whole addresses.
        consent: the address of a page that asks for consent.
    """

    values: Mapping[str, Mapping[str, str]]
    consent: str


async def make_content(site: Served) -> Content:
    """Fill the workspace ``shop``. The admin has another workspace as well."""
    world = site.networks.state.worlds["meta"]
    names = dict(zip(world.accounts, (LONG_NAME, UNBROKEN_NAME), strict=False))
    world.accounts = {
        id_: evolve(account, name=names.get(id_, account.name)) for id_, account in world.accounts.items()
    }
    accounts = {network: await connect(site, network) for network in NETWORKS}
    await create_workspace(site.service.store, "Winter garden furniture (agency)", email("admin"), None)
    for network, name in (("meta", LONG_NAME), ("meta", UNBROKEN_NAME), ("google", "Autumn sale")):
        await activate(site, await create(site, accounts[network], network, name))
    site.hands.pass_(days=40)
    await make_alerts(site, accounts["meta"])
    consent = await make_access(site, accounts["meta"])
    return Content(
        {
            "accountId": {network: accounts[network] for network in ("meta", "google")},
            "operationId": await make_operations(site, accounts["meta"]),
            "guardrailId": await make_rules(site, accounts["meta"]),
            "network": {"apple": "apple", "outbrain": "outbrain"},
            **await make_launches(site, accounts),
            **await make_deliveries(site),
            **await list_entity_addresses(site, accounts),
            "/invitation/{token}": {"": await make_invitation(site)},
            "/connect/{token}": {"": await make_consent_link(site)},
        },
        consent,
    )


async def prepare(site: Served, account: str, network: str, name: str, daily: str = "20") -> Any:
    """A prepared operation that creates a campaign. ``daily``: its budget in US dollars."""
    campaign = {**brief(network, budget__amount=daily), "name": name}
    return await site.admin.post("/create", {"accountId": account, "campaign": campaign}, 201)


async def create(site: Served, account: str, network: str, name: str, daily: str = "20") -> Any:
    """The executed operation that has created a campaign."""
    return await site.admin.execute((await prepare(site, account, network, name, daily))["id"])


async def activate(site: Served, source: Mapping[str, Any]) -> None:
    body = {"accountId": source["accountId"], "sourceOperationId": source["id"]}
    await site.admin.execute((await site.admin.post("/activate", body, 201))["id"])


async def make_operations(site: Served, account: str) -> dict[str, str]:
    """An operation in each state, and one of each action."""

    async def fail(name: str, fault: str, path: str = "adsets", **more: Any) -> str:
        operation = await prepare(site, account, "meta", name)
        await site.networks.fault("meta", fault, path=f"/v26.0/act_*/{path}", method="POST", **more)
        await site.admin.send("POST", f"/operations/{operation['id']}/execute", {"confirmed": True})
        return str(operation["id"])

    operation_ids = {"expired": (await prepare(site, account, "meta", "Last summer"))["id"]}
    site.hands.pass_(minutes=31)
    source = await create(site, account, "meta", LONG_NAME)
    campaign, group = (step["outputs"]["id"] for step in source["receipt"]["steps"][:2])
    operation_ids["succeeded"] = source["id"]
    activation = {"accountId": account, "sourceOperationId": source["id"]}
    operation_ids["activation"] = (await site.admin.post("/activate", activation, 201))["id"]
    fields = {"budget": "25.50", "name": UNBROKEN_NAME, "endAt": "2030-03-01T09:00:00Z"}
    edit = await site.admin.post(f"/accounts/{account}/ad-groups/{group}/edit", {"fields": fields}, 201)
    operation_ids["edit"] = edit["id"]
    other = await site.admin.post(f"/accounts/{account}/ad-groups/{group}/edit", {"fields": {"budget": "30"}}, 201)
    await site.admin.execute(other["id"])  # the edit before it is stale now
    operation_ids["undone"] = other["id"]
    operation_ids["undo"] = (await site.admin.post(f"/operations/{other['id']}/undo", {}, 201))["id"]
    deletion = (await site.admin.send("DELETE", f"/accounts/{account}/campaigns/{campaign}")).json()["data"]
    operation_ids["deletion"] = deletion["id"]
    operation_ids["prepared"] = (await prepare(site, account, "meta", UNBROKEN_NAME))["id"]
    expensive = await create(site, account, "meta", "More than the guardrail allows", "600")
    activation = {"accountId": account, "sourceOperationId": expensive["id"]}
    operation_ids["excessive"] = (await site.admin.post("/activate", activation, 201))["id"]
    operation_ids["rejected"] = await fail("Refused by the network", "status", "campaigns", value=400)
    operation_ids["partly"] = await fail("Refused in the middle", "status", value=400)
    operation_ids["throttled"] = await fail("Throttled", "status", value=429, retryAfter=300)
    operation_ids["unknown"] = await fail("Cut off", "reset_after")
    cancelled = await prepare(site, account, "meta", "Thought better of it")
    await site.admin.post(f"/operations/{cancelled['id']}/cancel", {})
    operation_ids["cancelled"] = cancelled["id"]
    for name, lease in (("stalled", -1), ("running", 30 * 60_000)):
        operation_ids[name] = (await prepare(site, account, "meta", f"Is {name}"))["id"]
        await interrupt(site, operation_ids[name], lease)
    return operation_ids


async def interrupt(site: Served, operation: str, lease: int) -> None:
    """Leave an operation as its process does during a write. ``lease``: the milliseconds that its lease has left."""
    values = {
        "status": "running",
        "fence": 1,
        "in_flight": True,
        "lease_until": site.service.store.clock.now() + lease,
    }
    statement = update(operations).where(operations.c.id == operation).values(**values).returning(operations.c.id)
    await site.service.store.write(lambda connection: connection.execute(statement).all())


async def make_rules(site: Served, account: str) -> dict[str, str]:
    """Guardrails: one with a window that is partly used, one that is not active, one that has frozen a key."""
    key_id, secret = await site.key("admin", title="Night shift")
    robot = site.caller(secret)
    window = {"hours": 24, "daily": "500", "lifetime": "20000"}
    rules = {
        "window": {"name": LONG_NAME[:90], "currency": "USD", "perWindow": window},
        "approval": {
            "name": UNBROKEN_NAME,
            "currency": "USD",
            "perOperation": {"daily": "1000", "lifetime": None},
            "approvalAbove": {"daily": "100", "lifetime": "5000"},
            "maxIncreasePercent": 50,
            "maxBid": "4.50",
            "scope": {"networks": ["meta", "google"], "accountIds": [account]},
            "active": False,
        },
        "freeze": {
            "name": "Nothing is deleted at night",
            "blockedActions": ["delete"],
            "onBreach": "freeze",
            "scope": {"keyIds": [key_id]},
        },
    }
    rule_ids = {name: (await site.admin.post("/guardrails", rule, 201))["id"] for name, rule in rules.items()}
    created = await create(site, account, "meta", "Terrace furniture")
    await activate(site, created)
    campaign = created["receipt"]["steps"][0]["outputs"]["id"]
    await robot.problem(403, "DELETE", f"/accounts/{account}/campaigns/{campaign}")
    return rule_ids


async def make_alerts(site: Served, account: str) -> None:
    """An alert of each kind; one watches a single account, and one is paused."""
    members: list[dict[str, Any]] = [
        {"kind": "spendAbove", "amount": "250", "currency": "USD", "days": 7, "scope": {"accountIds": [account]}},
        {"kind": "noDeliveryFor", "hours": 48, "scope": {"networks": ["meta", "google"]}},
        {"kind": "disapproved"},
        {"kind": "paceAbove", "percent": 120, "active": False},
    ]
    for name, alert in zip((LONG_NAME[:90], UNBROKEN_NAME, "Disapproved", "Too fast"), members, strict=True):
        await site.admin.post("/alerts", {"name": name, **alert}, 201)


async def make_launches(site: Served, accounts: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Launches whose latest change sets have different statuses, and change sets."""
    networks = ("meta", "google", "linkedin")

    async def make(name: str, **wrong: Any) -> dict[str, Any]:
        cells = [
            {"accountId": accounts[code], "key": code, "campaign": brief(code, name=f"{name} {code}", **wrong)}
            for code in networks
        ]
        body = {
            "name": name,
            "campaign": {},
            "accounts": [*cells, {**cells[0], "key": LONG_NAME[:12].replace(" ", "-")}],
        }
        body["accounts"][-1]["campaign"] = {**cells[0]["campaign"], "name": UNBROKEN_NAME}
        begun = await site.admin.post("/launches", body, 201)
        return await wait(site, f"/launches/{begun['launchId']}")

    invalid = await make("Nothing of it is valid", goal="conversions")
    finished = await make(LONG_NAME[:90])
    created = await execute(site, finished["changeSets"][-1])
    activation = await change(site, finished, "activate")
    prepared = await make("Waits for its review")
    return {
        "launchId": {
            name: launch["launchId"]
            for name, launch in (("invalid", invalid), ("finished", finished), ("prepared", prepared))
        },
        "changeSetId": {
            "invalid": invalid["changeSets"][-1]["id"],
            "created": created["id"],
            "activation": activation["id"],
            "prepared": prepared["changeSets"][-1]["id"],
            "file": await apply_file(site, accounts),
        },
    }


async def apply_file(site: Served, accounts: Mapping[str, str]) -> str:
    """The change set of a file, which waits for its review: it edits a campaign and creates others."""
    (entity, *_) = await site.admin.get(f"/accounts/{accounts['google']}/campaigns")
    edited = {"accountId": accounts["google"], "kind": "campaign", "id": entity["id"], "name": UNBROKEN_NAME}
    cells = [{"accountId": accounts[code], "key": code, "campaign": brief(code)} for code in ("meta", "google")]
    document = {"launches": {f"{LONG_NAME[:70]}, as a file": {"campaign": {}, "accounts": cells}}, "entities": [edited]}
    begun = await site.admin.post("/apply", {"document": document}, 201)
    prepared = await wait(site, f"/change-sets/{begun['id']}")
    assert prepared["status"] == "prepared" and len(prepared["operations"]) == 3, prepared
    return str(prepared["id"])


async def make_deliveries(site: Served) -> dict[str, dict[str, str]]:
    """A webhook with a delivery that failed, and one that is paused."""
    webhook = (await site.admin.get("/webhooks"))[0]["webhookId"]
    paused = await site.admin.post("/webhooks", {"url": HOOK, "events": ["sync.failed"]}, 201)
    await site.admin.send("PATCH", f"/webhooks/{paused['webhookId']}", {"active": False})
    delivery = (await site.admin.post(f"/webhooks/{webhook}/test", {}, 202))["deliveryId"]
    async with asyncio.timeout(60):
        while not await site.admin.get(f"/webhooks/{webhook}/deliveries/{delivery}/attempts"):
            await asyncio.sleep(0.05)
    return {
        "webhookId": {"active": webhook, "paused": paused["webhookId"]},
        "/webhooks/{webhookId}/deliveries/{deliveryId}": {"": f"/webhooks/{webhook}/deliveries/{delivery}"},
    }


async def list_entity_addresses(site: Served, accounts: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """The address of an entity of each level."""
    addresses = {}
    for word in ("campaigns", "ad-groups", "ads"):
        rows = await site.admin.get(f"/accounts/{accounts['meta']}/{word}")
        path = f"/accounts/{{accountId}}/{word}"
        addresses[f"{path}/{{entityId}}"] = {"": f"/accounts/{accounts['meta']}/{word}/{rows[0]['id']}"}
    return addresses


async def make_access(site: Served, account: str) -> str:
    """Keys, an agent, webhooks and people; the address of a page on which another agent asks for consent."""
    await site.key("admin", title="A key with a long name: nightly import of figures into the warehouse (finance)")
    scoped = {"name": "Reporting", "canWrite": False, "scope": {"networks": ["meta"], "accountIds": [account]}}
    await site.admin.post("/keys/scoped", scoped, 201)
    site.service.settings = evolve(site.service.settings, webhook_dev_targets=frozenset({HOOK}))
    await site.admin.post("/webhooks", {"url": HOOK}, 201)
    await add_member(
        site.service.store, "shop", f"{'alexandra.' * 4}papadopoulos@marketing.example.com", "viewer", None
    )
    consent_address = await make_consent_address(site, name="Campaign assistant of the marketing department")
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        await person.open(consent_address)
        answer = await decide(person, "allow", access="write", workspaceId=site.people["admin"].actor.workspace_id)
        await exchange_code(site, consent_address, answer["code"])
    return await make_consent_address(site, name="Another assistant")


async def make_invitation(site: Served) -> str:
    """The token of an invitation."""
    admin = site.people["admin"].actor
    invitation = await sessions.create_invitation(site.service, admin, "new.person@shop.example", "member")
    return str(invitation["url"]).rpartition("/")[2]


async def make_consent_link(site: Served) -> str:
    """The token of a link that connects accounts."""
    link = await site.admin.post("/connections/authorize", {"network": "meta"}, 201)
    return str(link["url"]).rpartition("/")[2]
