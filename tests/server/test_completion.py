"""What is said of an operation of which some steps were written: every code, through every door, on every network."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
import pytest_asyncio
from attrs import evolve, frozen
from sqlalchemy import update

from adsunify.client import AsyncAds
from adsunify.errors import AdsunifyError
from adsunify.execution.executor import ExecutionLimits
from adsunify.networks.registry import ADAPTER_PACKAGES
from adsunify.store import connections, encrypted_secrets, people
from adsunify.store.schema import operations
from tests.cli.running import run
from tests.networks.samples import get_samples
from tests.pages.browsing import browser, email, set_passwords
from tests.system.agents.agent import Agent, read_texts

from .served import Served, brief, connect

pytestmark = pytest.mark.asyncio(loop_scope="module")
CONFIRMED = {"confirmed": True}
ADVICE_TO_REPEAT = re.compile(r"prepare[^.;]*\b(again|anew)\b", re.IGNORECASE)
AD_SETS = "/v26.0/act_1001/adsets"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site(server: Served) -> Served:
    """The server, and people who can sign in."""
    await set_passwords(server)
    return server


@pytest_asyncio.fixture(autouse=True, loop_scope="module")
async def clean(site: Served) -> AsyncIterator[None]:
    """No fault and no rule is left from the test before, and every connection works."""
    settings = site.service.settings
    yield
    site.service.settings = settings
    site.networks.state.faults.pending.clear()
    await site.service.store.write(
        people.set_require_approval, site.people["admin"].actor.workspace_id, False, site.service.store.clock
    )
    for network in ("meta",):
        if (await site.admin.get(f"/accounts/{site.accounts[network]}"))["status"] != "active":
            await connect(site, network)


async def start_consent(site: Served, network: str = "meta") -> str:
    """An operation whose first step is written; the rest is to be executed."""
    body = {"accountId": site.accounts[network], "campaign": brief(network)}
    operation: str = (await site.admin.post("/create", body, 201))["id"]
    settings = site.service.settings
    site.service.settings = evolve(settings, limits=ExecutionLimits(max_steps=1))
    await site.admin.execute(operation)
    site.service.settings = settings
    return operation


# -- the ways to stop ---------------------------------------------------------------------------------------------


async def reject(site: Served, operation: str) -> None:
    await site.networks.fault("meta", "status", path=AD_SETS, value=400, times=100)


async def reject_and_expire(site: Served, operation: str) -> None:
    await site.networks.fault("meta", "status", path=AD_SETS, value=400)
    await site.admin.problem(400, "POST", f"/operations/{operation}/execute", CONFIRMED)
    site.hands.pass_(minutes=30)


async def throttle_and_expire(site: Served, operation: str) -> None:
    await site.networks.fault("meta", "status", path=AD_SETS, value=429)
    assert (await site.admin.execute(operation))["retryAfterMs"] > 0
    site.hands.pass_(minutes=30)


async def expire(site: Served, operation: str) -> None:
    site.hands.pass_(minutes=30)


async def cancel(site: Served, operation: str) -> None:
    await site.admin.post(f"/operations/{operation}/cancel", {})


async def need_reauth(site: Served, operation: str) -> None:
    account = await site.admin.get(f"/accounts/{site.accounts['meta']}")
    store = site.service.store
    await store.write(connections.mark_needs_reauth, account["connectionId"], store.clock)


async def need_approval(site: Served, operation: str) -> None:
    workspace = site.people["admin"].actor.workspace_id
    await site.service.store.write(people.set_require_approval, workspace, True, site.service.store.clock)


async def refuse_token(site: Served, operation: str) -> None:
    await site.networks.fault("meta", "status", path=AD_SETS, value=401, times=100)
    assert (await site.admin.execute(operation))["nextAction"] == "execute"


async def lose_answer(site: Served, operation: str) -> None:
    await site.networks.fault("meta", "status", path=AD_SETS, value=502)


async def stall(site: Served, operation: str) -> None:
    values = {"status": "running", "in_flight": True, "lease_until": site.service.store.clock.now() - 1}
    statement = update(operations).where(operations.c.id == operation).values(**values).returning(operations.c.id)
    await site.service.store.write(lambda connection: connection.execute(statement).all())


async def forget_credentials(site: Served, operation: str) -> None:
    connection_id = (await site.admin.get(f"/accounts/{site.accounts['meta']}"))["connectionId"]
    await site.service.store.write(encrypted_secrets.delete_secrets, connections.SECRETS_TABLE, connection_id)


async def break_application(site: Served, operation: str) -> None:
    site.service.settings = evolve(site.service.settings, apps={})


@frozen
class Stop:
    """A way to stop, and how an execute call answers after it."""

    way: Callable[[Served, str], Awaitable[None]]
    status: int
    code: str
    outcome: str = "partly_applied"


STOPS = [
    Stop(reject, 400, "provider_rejected"),
    Stop(reject_and_expire, 400, "operation_expired"),
    Stop(throttle_and_expire, 400, "operation_expired"),
    Stop(expire, 400, "operation_expired"),
    Stop(cancel, 400, "operation_cancelled"),
    Stop(need_reauth, 403, "access_lost"),
    Stop(need_approval, 403, "approval_required"),
    Stop(refuse_token, 400, "provider_token_refused"),
    Stop(lose_answer, 400, "outcome_unknown", "unknown"),
    Stop(stall, 400, "operation_stalled", "unknown"),
]


@pytest.mark.parametrize("stop", STOPS, ids=lambda stop: stop.way.__name__)
async def test_every_door_names_what_is_written(site: Served, stop: Stop) -> None:
    operation = await start_consent(site)
    await stop.way(site, operation)
    path, token = f"/operations/{operation}", site.people["admin"].tokens["write"]
    texts: dict[str, str] = {}

    problem = await site.admin.problem(stop.status, "POST", f"{path}/execute", CONFIRMED)
    assert (problem["code"], problem["outcome"], problem["operationId"]) == (stop.code, stop.outcome, operation)
    assert problem["appliedSteps"] == ["campaign"]
    texts["REST"] = problem["detail"]

    record = await site.admin.get(path)
    assert record == problem["operation"]
    if "error" in record:
        assert (record["error"]["outcome"], record["error"]["appliedSteps"]) == (stop.outcome, ["campaign"])
    if record["expired"] or record["status"] != "prepared":
        assert "nextAction" not in record and "retryAfterMs" not in record

    batch = await site.admin.post("/operations/execute", {"operationIds": [operation], **CONFIRMED})
    error = batch["results"][0]["error"]
    assert (error["code"], error["outcome"], error["appliedSteps"]) == (stop.code, stop.outcome, ["campaign"])
    texts["batch"] = error["detail"]

    agent = Agent(site, token)
    executed = await agent.execute(operation)
    texts["MCP execute"] = read_texts(executed)
    if stop.code != "approval_required":  # for agents that is a good result
        assert executed["structuredContent"]["error"]["outcome"] == stop.outcome
    texts["MCP operation"] = read_texts(await agent.tool("operation", operationId=operation))
    texts["MCP batch"] = read_texts(
        await agent.tool(
            "call_tool", operationId="post_operations_execute", body={"operationIds": [operation], **CONFIRMED}
        )
    )

    async with AsyncAds(site.base_url, token=token) as ads:
        with pytest.raises(AdsunifyError) as raised:
            await ads.operations.run(operation, confirmed=True)
    assert (raised.value.code, raised.value.outcome) == (stop.code, stop.outcome)
    assert raised.value.applied_steps == ("campaign",)
    texts["SDK"] = str(raised.value)

    where = ("--server", site.base_url)
    ran = await asyncio.to_thread(run, "execute", operation, "--confirmed", *where, ADSUNIFY_TOKEN=token)
    assert ran.code == 1
    texts["shell execute"] = ran.err
    texts["shell operations"] = (
        await asyncio.to_thread(run, "operations", operation, *where, ADSUNIFY_TOKEN=token)
    ).out

    async with browser(site) as person:
        await person.sign_in(email("admin"))
        texts["page"] = (await person.open(f"/review/{operation}")).text

    continues = "nextAction" in record  # then the page offers to continue, beside the steps that are written
    if continues:
        assert "campaign written" in texts.pop("page").lower()
    for door, text in texts.items():
        assert not ADVICE_TO_REPEAT.search(text), (door, text)
        assert "Written: campaign." in text, (door, text)
        rest = "Not written: adGroup, creative, ad." if stop.outcome == "partly_applied" else "adGroup"
        assert rest in text, (door, text)


@pytest.mark.parametrize("way", [forget_credentials, break_application])
async def test_an_error_before_the_next_write_names_what_is_written(
    site: Served, way: Callable[[Served, str], Awaitable[None]]
) -> None:
    """What stops an execution before its claim is an error of the operation, too."""
    operation, settings = await start_consent(site), site.service.settings
    await way(site, operation)
    problem = (await site.admin.send("POST", f"/operations/{operation}/execute", CONFIRMED)).json()
    site.service.settings = settings
    await connect(site, "meta")
    assert (problem["outcome"], problem["appliedSteps"]) == ("partly_applied", ["campaign"])
    assert "Written: campaign. Not written: adGroup, creative, ad." in problem["detail"]


async def test_a_refresh_that_is_refused_between_two_writes(site: Served) -> None:
    await connect(site, "amazon")
    site.hands.pass_(minutes=40)
    operation = await start_consent(site, "amazon")
    site.hands.pass_(minutes=21)
    site.networks.state.worlds["amazon"].tokens = {}
    problem = await site.admin.problem(400, "POST", f"/operations/{operation}/execute", CONFIRMED)
    assert (problem["code"], problem["outcome"]) == ("provider_token_refused", "partly_applied")
    first, *rest = (step["key"] for step in problem["operation"]["plan"]["steps"])
    assert problem["appliedSteps"] == [first]
    assert f"Written: {first}. Not written: {', '.join(rest)}." in problem["detail"]
    assert problem["network"]["status"] == 400
    await connect(site, "amazon")


@pytest.mark.parametrize("network", [code for code in ADAPTER_PACKAGES if not get_samples(code).creates_in_one_write])
async def test_a_part_of_a_creation_that_expires(site: Served, network: str) -> None:
    """On every network that creates in several writes: refused at the second, and the time is over."""
    operation = await start_consent(site, network)
    await site.networks.fault(network, "status", method="POST", value=400)
    refused = await site.admin.problem(400, "POST", f"/operations/{operation}/execute", CONFIRMED)
    assert (refused["code"], refused["outcome"]) == ("provider_rejected", "partly_applied")
    site.hands.pass_(minutes=30)
    problem = await site.admin.problem(400, "POST", f"/operations/{operation}/execute", CONFIRMED)
    first, *rest = (step["key"] for step in problem["operation"]["plan"]["steps"])
    assert (problem["code"], problem["outcome"]) == ("operation_expired", "partly_applied")
    assert problem["appliedSteps"] == [first]
    assert f"Written: {first}. Not written: {', '.join(rest)}." in problem["detail"]
    assert not ADVICE_TO_REPEAT.search(json.dumps(problem))
    assert not {"nextAction", "retryAfterMs"} & set(problem["operation"])


@pytest.mark.parametrize("network", list(ADAPTER_PACKAGES))
async def test_nothing_of_a_creation_is_written_when_it_expires(site: Served, network: str) -> None:
    body = {"accountId": site.accounts[network], "campaign": brief(network)}
    operation = (await site.admin.post("/create", body, 201))["id"]
    site.hands.pass_(minutes=30)
    problem = await site.admin.problem(400, "POST", f"/operations/{operation}/execute", CONFIRMED)
    assert (problem["code"], problem["outcome"], problem["appliedSteps"]) == ("operation_expired", "not_applied", [])
    assert problem["detail"].endswith("Nothing of this operation is written. Prepare the change again.")


async def test_some_items_of_a_step_are_written(site: Served) -> None:
    """A step of which only some items were written counts as written and as remaining."""
    body = {"accountId": site.accounts["amazon"], "campaign": brief("amazon")}
    operation = (await site.admin.post("/create", body, 201))["id"]
    await site.networks.fault("amazon", "partial", path="/sp/keywords")
    problem = await site.admin.problem(400, "POST", f"/operations/{operation}/execute", CONFIRMED)
    keys = [step["key"] for step in problem["operation"]["plan"]["steps"]]
    assert (problem["outcome"], problem["appliedSteps"]) == ("partly_applied", keys)
    assert f"Not written: {keys[-1]} (1 of 2 items)." in problem["detail"]
