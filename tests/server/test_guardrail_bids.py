"""``maxBid`` over REST: bids that are set, raised, lowered and removed, on every network that has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from adsunify.networks.registry import ADAPTER_PACKAGES
from tests.networks.samples import get_samples

from .served import Served, brief
from .test_guardrails import CONFIRMED, apply_rule, approve, make_limits, require_refusal
from .test_native import build_path

pytestmark = pytest.mark.asyncio(loop_scope="module")
SAMPLES = {network: get_samples(network) for network in ADAPTER_PACKAGES}
WITH_BIDS = [network for network, samples in SAMPLES.items() if samples.bid_removal is not None]
BID = "6.00"


async def find_campaign(server: Served, network: str) -> dict[str, str]:
    """The ids of a campaign with a bid, by kind, for tests that change nothing at the network."""
    if (network, "bids") not in server.campaigns:
        server.campaigns[network, "bids"] = await create_campaign(server, network)
    return server.campaigns[network, "bids"]


async def create_campaign(server: Served, network: str) -> dict[str, Any]:
    body = {"accountId": server.accounts[network], "campaign": brief(network, bid=BID)}
    done = await server.admin.execute((await server.admin.post("/create", body, 201))["id"])
    return {entity["kind"]: entity["entityId"] for entity in done["created"]}


async def require_person_for_bid(server: Served, operation: Any) -> None:
    """Only a person executes the operation, because of its bid alone."""
    assert operation["plan"]["exposure"]["daily"] == "0"
    (warning,) = [text for text in operation["warnings"] if "signed-in person" in text]
    assert "what it bids is not known" in warning
    (reason,) = await require_refusal(server, operation, "approval_required")
    assert (reason["member"], reason["asked"]) == ("maxBid", "unknown")


@pytest.mark.parametrize("network", [network for network in WITH_BIDS if SAMPLES[network].bid_strategy_without_limit])
async def test_a_strategy_that_removes_the_bid_needs_a_person(server: Served, network: str) -> None:
    kind, strategy = SAMPLES[network].bid_strategy_without_limit or ("", "")
    path = build_path(server, network, kind, (await find_campaign(server, network))[kind], "edit")
    edit = {"fields": {"bidStrategy": strategy}}
    async with apply_rule(server, currency="USD", maxBid="1000"):
        await require_person_for_bid(server, await server.admin.post(path, edit, 201))
    async with apply_rule(server, currency="USD", perOperation=make_limits("1"), approvalAbove=make_limits("0")):
        operation = await server.admin.post(path, edit, 201)
        assert not [text for text in operation["warnings"] if "signed-in person" in text]


@pytest.mark.parametrize(
    ("network", "kind", "payload"),
    [
        *((network, *(SAMPLES[network].bid_removal or ())) for network in WITH_BIDS),
        ("meta", "adGroup", {"bid_strategy": "LOWEST_COST_WITHOUT_CAP"}),
        ("meta", "adGroup", {"bid_amount": None}),
        ("outbrain", "campaign", {"cpc": None}),
    ],
)
async def test_a_native_update_that_removes_the_bid_needs_a_person(
    server: Served, network: str, kind: str, payload: Mapping[str, Any]
) -> None:
    path = build_path(server, network, kind, (await find_campaign(server, network))[kind])
    async with apply_rule(server, currency="USD", maxBid="1000"):
        answer = await server.admin.send("PATCH", path, {"payload": payload})
        assert answer.status_code == 201, answer.text
        await require_person_for_bid(server, answer.json()["data"])


@pytest.mark.parametrize("network", WITH_BIDS)
async def test_a_bid_may_fall_and_not_rise(server: Served, network: str) -> None:
    """Both bids are above the limit. The lower one is no breach."""
    kind = SAMPLES[network].bid_kind
    path = build_path(server, network, kind, (await find_campaign(server, network))[kind], "edit")
    async with apply_rule(server, currency="USD", maxBid="0.50"):
        lower = await server.admin.post(path, {"fields": {"bid": "4.50"}}, 201)
        assert lower["plan"]["exposure"]["daily"] == "0" and not any("guardrail" in text for text in lower["warnings"])
        problem = await server.admin.problem(403, "POST", path, {"fields": {"bid": "7.00"}})
        (breach,) = problem["guardrails"]
        assert (breach["member"], breach["asked"]) == ("maxBid", "7.00")


async def test_a_bulk_edit_lowers_bids(server: Served) -> None:
    ids = [(await create_campaign(server, "meta"))["adGroup"] for _ in range(2)]
    body = {"accountId": server.accounts["meta"], "kind": "adGroup", "entityIds": ids, "field": "bid", "value": 10}
    async with apply_rule(server, currency="USD", maxBid="0.50"):
        operations = (await server.admin.post("/bulk-edit", body | {"mode": "decrease"}, 201))["operations"]
        assert (await server.admin.execute(operations[0]["id"]))["status"] == "succeeded"
        problem = await server.admin.problem(403, "POST", "/bulk-edit", body | {"mode": "increase"})
        assert [breach["member"] for breach in problem["guardrails"]] == ["maxBid"] * 2


@pytest.mark.parametrize(
    ("method", "body"),
    [("edit", {"fields": {"bid": "4.50"}}), ("native", {"payload": {"bid_amount": 450}})],
)
async def test_a_lower_bid_never_raises_what_somebody_has_lowered(
    server: Served, method: str, body: dict[str, Any]
) -> None:
    group = (await create_campaign(server, "meta"))["adGroup"]
    path = build_path(server, "meta", "adGroup", group)
    async with apply_rule(server, currency="USD", maxBid="0.50"):
        if method == "edit":
            stale = await server.admin.post(f"{path}/edit", body, 201)
        else:
            stale = (await server.admin.send("PATCH", path, body)).json()["data"]
        emergency = await server.admin.post(f"{path}/edit", {"fields": {"bid": "0.10"}}, 201)
        assert (await server.admin.execute(emergency["id"]))["status"] == "succeeded"
        problem = await server.admin.problem(400, "POST", f"/operations/{stale['id']}/execute", CONFIRMED)
        assert problem["code"] == "plan_stale" and "bid of the adGroup" in problem["detail"]


async def test_a_bid_of_an_earlier_strategy_counts_when_it_is_a_limit_again(server: Served) -> None:
    group = (await create_campaign(server, "tiktok"))["adGroup"]
    path = build_path(server, "tiktok", "adGroup", group)
    removal = (await server.admin.send("PATCH", path, {"payload": {"bid_type": "BID_TYPE_NO_BID"}})).json()["data"]
    assert await approve(server, removal) == "succeeded"
    async with apply_rule(server, currency="USD", maxBid="0.50"):
        answer = await server.admin.send("PATCH", path, {"payload": {"bid_type": "BID_TYPE_CUSTOM", "bid_price": 2}})
        assert (answer.status_code, answer.json()["code"]) == (403, "guardrail_exceeded")


async def test_google_limits_bids_by_the_amount_of_a_strategy(server: Served) -> None:
    campaign = (await find_campaign(server, "google"))["campaign"]
    path = build_path(server, "google", "campaign", campaign)
    async with apply_rule(server, currency="USD", maxBid="1.00"):
        for body in (
            {"payload": {"targetSpend": {"cpcBidCeilingMicros": "900000"}}},
            {"payload": {"maximizeConversions": {"targetCpaMicros": "900000"}}},
        ):
            answer = await server.admin.send("PATCH", path, body)
            assert answer.status_code == 201, answer.text
            assert not any("signed-in person" in text for text in answer.json()["data"]["warnings"])
        edit = {"bidStrategy": "targetSpend", "bidCeiling": "0.90"}
        operation = await server.admin.post(f"{path}/edit", {"fields": edit}, 201)
        assert not any("signed-in person" in text for text in operation["warnings"])
        edit["bidCeiling"] = "1.10"
        await server.admin.problem(403, "POST", f"{path}/edit", {"fields": edit})
