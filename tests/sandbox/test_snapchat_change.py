"""The simulated Snap Marketing API over real HTTP: PUT replaces the whole object, DELETE only marks."""

from datetime import timedelta
from typing import Any

import httpx
import pytest

from tests.sandbox.calls import NOTHING, list_writes, make_body
from tests.sandbox.snapchat_calls import (
    NEW_YORK,
    TOKYO,
    V1,
    Clock,
    create_ad_squad,
    create_campaign,
    create_example,
    inject_fault,
    read,
    read_data,
    read_entity,
    read_failure,
    read_refusal,
    read_writable_members,
    write,
)


async def put_entity(web: httpx.AsyncClient, word: str, native_id: str, **change: Any) -> httpx.Response:
    """PUT of the object as it was read, with changes."""
    body = await read_writable_members(web, word, native_id)
    parents = {
        "campaigns": f"adaccounts/{body.get('ad_account_id')}",
        "creatives": f"adaccounts/{body.get('ad_account_id')}",
        "adsquads": f"campaigns/{body.get('campaign_id')}",
        "ads": f"adsquads/{body.get('ad_squad_id')}",
    }
    return await write(web, "PUT", parents[word], word, make_body(body, **change))


async def test_what_a_put_leaves_out_is_lost(web: httpx.AsyncClient) -> None:
    native_id = await create_campaign(web, daily_budget_micro=20000000)
    read_data(await put_entity(web, "campaigns", native_id, daily_budget_micro=NOTHING, end_time=NOTHING, name="Other"))
    campaign = await read_entity(web, "campaigns", native_id)
    assert campaign["name"] == "Other"
    assert not {"daily_budget_micro", "end_time"} & {*campaign}


async def test_a_put_of_the_change_alone_is_refused(web: httpx.AsyncClient) -> None:
    native_id = await create_campaign(web)
    body = {"id": native_id, "status": "ACTIVE"}
    assert "is required" in read_failure(await write(web, "PUT", f"adaccounts/{NEW_YORK}", "campaigns", body))
    assert (await read_entity(web, "campaigns", native_id))["status"] == "PAUSED"


async def test_an_ad_squad_read_without_its_placement(web: httpx.AsyncClient) -> None:
    native_id = await create_ad_squad(web)
    squad = await read_entity(web, "adsquads", native_id)
    assert "placement_v2" not in squad
    assert "placement_v2: 'placement_v2' is required" in read_failure(
        await put_entity(web, "adsquads", native_id, placement_v2=NOTHING)
    )


@pytest.mark.parametrize(
    ("word", "change", "name"),
    [
        ("campaigns", {"objective_v2_properties": {"objective_v2_type": "TRAFFIC"}}, "objective_v2_properties"),
        ("campaigns", {"buy_model": "RESERVED"}, "buy_model"),
        ("adsquads", {"optimization_goal": "SWIPES"}, "optimization_goal"),
        ("adsquads", {"type": "LENS"}, "type"),
        ("adsquads", {"child_ad_type": "STORY"}, "child_ad_type"),
        ("adsquads", {"delivery_constraint": "DAILY_BUDGET"}, "delivery_constraint"),
        (
            "adsquads",
            {"delivery_constraint": NOTHING, "lifetime_budget_micro": NOTHING, "daily_budget_micro": 5000000},
            "kind of budget",
        ),
        ("ads", {"creative_id": "44440002-aaaa-4bbb-8ccc-000000000001"}, "creative_id"),
        ("ads", {"type": "SNAP_AD"}, "type"),
    ],
)
async def test_what_is_locked(web: httpx.AsyncClient, word: str, change: dict[str, Any], name: str) -> None:
    example = await create_example(web)
    reason = read_failure(await put_entity(web, word, example[word], **change), "E2023")
    assert name in reason
    assert reason.endswith("cannot be changed once set")


async def test_a_start_that_is_past_is_locked(web: httpx.AsyncClient, clock: Clock) -> None:
    native_id = await create_campaign(web)
    read_data(await put_entity(web, "campaigns", native_id, start_time="2026-12-02T08:00:00.000Z"))
    clock.instant += timedelta(minutes=50)
    past = await create_campaign(web, start_time="2026-11-21T12:00:00.000Z")
    reason = read_failure(await put_entity(web, "campaigns", past, start_time="2026-12-02T08:00:00.000Z"), "E2023")
    assert "start_time" in reason
    read_data(await put_entity(web, "campaigns", past, status="ACTIVE"))


@pytest.mark.parametrize(
    ("word", "change", "reason"),
    [
        ("campaigns", {"created_at": "2026-12-02T08:00:00.000Z"}, "created_at: is read-only"),
        ("ads", {"review_status": "APPROVED"}, "review_status: is read-only"),
        ("adsquads", {"bid_strategy": "AUTO_BID"}, "bid_micro: must not be given with AUTO_BID"),
        (
            "adsquads",
            {"end_time": "2026-11-01T00:00:00.000Z", "start_time": NOTHING},
            "end_time: must be in the future",
        ),
        ("adsquads", {"lifetime_budget_micro": 1000000}, "lifetime_budget_micro: must be 5000000 or more"),
    ],
)
async def test_puts_that_are_refused(web: httpx.AsyncClient, word: str, change: dict[str, Any], reason: str) -> None:
    example = await create_example(web)
    assert reason in read_failure(await put_entity(web, word, example[word], **change))
    assert len(await list_writes(web)) == 3


async def test_bidding_can_change_together(web: httpx.AsyncClient) -> None:
    native_id = await create_ad_squad(web)
    squad = read_data(await put_entity(web, "adsquads", native_id, bid_strategy="AUTO_BID", bid_micro=NOTHING))
    assert "bid_micro" not in squad
    squad = read_data(await put_entity(web, "adsquads", native_id, bid_strategy="TARGET_COST", bid_micro=3000000))
    assert (squad["bid_strategy"], squad["bid_micro"]) == ("TARGET_COST", 3000000)


async def test_the_path_names_the_parent(web: httpx.AsyncClient) -> None:
    native_id = await create_campaign(web)
    body = await read_writable_members(web, "campaigns", native_id)
    assert "no such campaign" in read_failure(
        await write(web, "PUT", f"adaccounts/{TOKYO}", "campaigns", body), "E1103"
    )
    unknown = {**body, "id": "22222222-aaaa-4bbb-8ccc-000000000002"}
    assert "no such campaign" in read_failure(
        await write(web, "PUT", f"adaccounts/{NEW_YORK}", "campaigns", unknown), "E1103"
    )


async def test_a_creative_can_be_renamed(web: httpx.AsyncClient) -> None:
    body = await read_entity(web, "creatives", "44440001-aaaa-4bbb-8ccc-000000000001")
    for name in ("created_at", "updated_at", "review_status", "packaging_status"):
        del body[name]
    answer = await write(web, "PUT", f"adaccounts/{NEW_YORK}", "creatives", {**body, "name": "Tea"})
    assert read_data(answer)["name"] == "Tea"


async def test_deleting_marks(web: httpx.AsyncClient) -> None:
    example = await create_example(web)
    answer = await web.delete(f"{V1}/adsquads/{example['adsquads']}")
    assert answer.status_code == 200
    assert sorted(answer.json()) == ["request_id", "request_status"]
    read_refusal(await web.get(f"{V1}/adsquads/{example['adsquads']}"), 404, "E1103")
    squad = await read_entity(web, "adsquads", example["adsquads"], read_deleted_entities="true")
    assert squad["deleted"] is True
    assert "INVALID_EFFECTIVE_DELETED" in (await read_entity(web, "ads", example["ads"]))["delivery_status"]
    path = f"campaigns/{example['campaigns']}/adsquads"
    assert (await read(web, path))["adsquads"] == []
    assert len((await read(web, path, read_deleted_entities="true"))["adsquads"]) == 1
    read_refusal(await web.delete(f"{V1}/adsquads/{example['adsquads']}"), 404, "E1103")


async def test_a_delete_that_fails_inside_a_200(web: httpx.AsyncClient) -> None:
    native_id = await create_campaign(web)
    await inject_fault(web, "error_in_200", method="DELETE")
    read_failure(await web.delete(f"{V1}/campaigns/{native_id}"))
    assert (await read_entity(web, "campaigns", native_id))["status"] == "PAUSED"
