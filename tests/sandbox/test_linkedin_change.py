"""The simulated LinkedIn API: updates, deletes and batches."""

from datetime import timedelta
from typing import Any

import httpx

from tests.sandbox.calls import list_writes, make_body
from tests.sandbox.linkedin_calls import (
    CAMPAIGN,
    CREATIVE,
    ENTERPRISE,
    GROUP,
    PARTIAL_UPDATE,
    TARGETING,
    Clock,
    activate_example,
    build_url,
    change,
    check_success,
    create_example,
    inject_fault,
    post,
    read_created_id,
    read_entity,
    read_refusal,
)

START, END = 1793520000000, 1794729600000
BATCH = {"X-RestLi-Method": "BATCH_PARTIAL_UPDATE"}
DEFAULT_GROUP = "adCampaignGroups/60518121035"


def make_amount(amount: str) -> dict[str, str]:
    return {"amount": amount, "currencyCode": "USD"}


async def test_a_partial_update_changes_only_what_it_names(web: httpx.AsyncClient) -> None:
    example = await create_example(web)
    before = await read_entity(web, example["campaign"])
    check_success(await change(web, example["campaign"], name="Winter webinar", dailyBudget=make_amount("45.50")))
    after = await read_entity(web, example["campaign"])
    assert (after["name"], after["dailyBudget"]) == ("Winter webinar", make_amount("45.50"))
    own = ("name", "dailyBudget", "changeAuditStamps", "version")
    assert {name: after[name] for name in after if name not in own} == {
        name: before[name] for name in before if name not in own
    }
    assert (await list_writes(web))[-1] == ("POST", "campaign", "7022")


async def test_the_bidding_is_changed_together(web: httpx.AsyncClient) -> None:
    example = await create_example(web)
    read_refusal(
        await change(web, example["campaign"], optimizationTargetType="MAX_CLICK"),
        400,
        "INVALID_CAMPAIGN_CONFIGURATION",
    )
    check_success(await change(
        web, example["campaign"], optimizationTargetType="MAX_CLICK", costType="CPM", unitCost=make_amount("0"),
    ))  # fmt: skip


CHANGES_REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("campaign", {"objectiveType": "BRAND_AWARENESS"}, "IMMUTABLE_CAMPAIGN_OBJECTIVE_TYPE"),
    ("campaign", {"associatedEntity": "urn:li:organization:1"}, "IMMUTABLE_ASSOCIATED_ENTITY"),
    ("campaign", {"type": "TEXT_AD"}, "FIELD_IMMUTABLE_FOR_NON_DRAFT_CAMPAIGNS"),
    ("campaign", {"locale": {"country": "DE", "language": "de"}}, "FIELD_IMMUTABLE_FOR_NON_DRAFT_CAMPAIGNS"),
    ("campaign", {"format": "CAROUSEL"}, "FIELD_IMMUTABLE_FOR_NON_DRAFT_CAMPAIGNS"),
    ("campaign", {"campaignGroup": "urn:li:sponsoredCampaignGroup:1"}, "FIELD_IMMUTABLE_FOR_NON_DRAFT_CAMPAIGNS"),
    ("campaign", {"pacingStrategy": "LIFETIME"}, "FIELD_NOT_ALLOWED"),
    ("campaign", {"id": 1}, "FIELD_NOT_ALLOWED"),
    ("campaign", {"status": "DRAFT"}, "STATUS_CHANGE_NOT_ALLOWED"),
    ("campaign", {"status": "COMPLETED"}, "STATUS_CHANGE_NOT_ALLOWED"),
    ("campaign", {"dailyBudget": {"amount": "9.99", "currencyCode": "EUR"}}, "CURRENCY_MISMATCH"),
    ("campaign", {"runSchedule": {"start": START, "end": END + 1}}, "CONDITIONAL_VALUE_TOO_HIGH"),
    ("campaign", {"unitCost": {"amount": "5"}}, "MISSING_FIELD"),
    ("group", {"runSchedule": {"start": START, "end": END - 1}}, "CONDITIONAL_VALUE_TOO_HIGH"),
    ("group", {"account": "urn:li:sponsoredAccount:518121036"}, "FIELD_NOT_ALLOWED"),
    ("group", {"name": "n" * 101}, "FIELD_LENGTH_TOO_LONG"),
    ("creative", {"campaign": "urn:li:sponsoredCampaign:1"}, "FIELD_NOT_ALLOWED"),
    ("creative", {"content": {"reference": "urn:li:share:1"}}, "FIELD_NOT_ALLOWED"),
    ("creative", {"status": "ACTIVE"}, "FIELD_NOT_ALLOWED"),
    ("creative", {"intendedStatus": "PENDING_DELETION"}, "STATUS_CHANGE_NOT_ALLOWED"),
]


async def test_changes_that_are_refused(web: httpx.AsyncClient) -> None:
    example = await create_example(web)
    for where, to, code in CHANGES_REFUSED:
        read_refusal(await change(web, example[where], **to), 400, code)
    assert len(await list_writes(web)) == 3


async def test_the_shape_of_a_patch(web: httpx.AsyncClient) -> None:
    example = await create_example(web)
    path = build_url(example["campaign"])
    body = {"patch": {"$set": {"name": "New"}}}
    read_refusal(await web.post(path, json=body), 400, "INVALID_VALUE_FOR_FIELD")
    read_refusal(await web.post(path, json={"name": "New"}, headers=PARTIAL_UPDATE), 400, "FIELD_NOT_ALLOWED")
    read_refusal(await web.post(path, json={"patch": {}}, headers=PARTIAL_UPDATE), 400, "MISSING_FIELD")
    nested = {"patch": {"runSchedule": {"$set": {"end": END}}}}
    read_refusal(await web.post(path, json=nested, headers=PARTIAL_UPDATE), 400, "FIELD_NOT_ALLOWED")
    read_refusal(await change(web, example["campaign"], delete=["name"]), 400, "MISSING_FIELD")
    read_refusal(await change(web, example["campaign"], delete=["dailyBudget"]), 400, "MISSING_FIELD")
    assert (await web.patch(path, json=body)).status_code == 405


async def test_keys_of_creatives_are_encoded_urns(web: httpx.AsyncClient) -> None:
    await create_example(web)
    patch = {"patch": {"$set": {"name": "New"}}}
    for key, status in (
        ("7023", 400),
        ("urn:li:sponsoredCreative:7023", 400),
        ("urn%3Ali%3AsponsoredCreative%3A7023", 204),
        ("urn%3Ali%3AsponsoredCreative%3A7024", 404),
    ):
        answer = await web.post(build_url(f"creatives/{key}"), json=patch, headers=PARTIAL_UPDATE)
        assert answer.status_code == status, key


async def test_a_member_is_taken_away(web: httpx.AsyncClient) -> None:
    example = await create_example(web)
    check_success(await change(web, example["group"], totalBudget=make_amount("500")))
    check_success(await change(web, example["group"], delete=["totalBudget"]))
    assert "totalBudget" not in await read_entity(web, example["group"])
    check_success(await change(web, example["campaign"], targetingCriteria=TARGETING))


async def test_dates_that_have_passed_stay(web: httpx.AsyncClient, clock: Clock) -> None:
    example = await create_example(web)
    clock.instant += timedelta(days=3)
    for where in ("group", "campaign"):
        moved = await change(web, example[where], runSchedule={"start": START + 1, "end": END})
        read_refusal(moved, 400, "DATE_IMMUTABLE_WHEN_PASSED")
        early = await change(web, example[where], runSchedule={"start": START, "end": START + 1})
        read_refusal(early, 400, "DATE_TOO_EARLY")
    check_success(await change(web, example["campaign"], runSchedule={"start": START, "end": END - 1}))
    check_success(await change(web, example["campaign"], name="The start in the past is no matter"))


async def test_only_drafts_are_deleted(web: httpx.AsyncClient) -> None:
    example = await create_example(web)
    path = build_url("creatives/urn%3Ali%3AsponsoredCreative%3A7023")
    assert (await web.delete(path)).status_code == 204
    assert (await web.get(path)).status_code == 404
    read_refusal(await web.delete(build_url(example["campaign"])), 400, "DELETE_ALLOWED_ONLY_FOR_DRAFT_STATUS")
    check_success(await change(web, example["campaign"], status="PENDING_DELETION"))
    read_refusal(
        await change(web, example["campaign"], status="ACTIVE"), 400, "ACTION_NOT_ALLOWED_FOR_CANCELLED_STATUS"
    )
    assert [row[0] for row in await list_writes(web)] == ["POST", "POST", "POST", "DELETE", "POST"]


async def test_an_active_hierarchy_pauses_and_goes_on(web: httpx.AsyncClient) -> None:
    example = await create_example(web)
    await activate_example(web, example)
    check_success(await change(web, example["group"], status="PAUSED"))
    assert "CAMPAIGN_GROUP_STATUS_HOLD" in (await read_entity(web, example["campaign"]))["servingStatuses"]
    check_success(await change(web, example["creative"], intendedStatus="PAUSED"))
    assert "STOPPED" in (await read_entity(web, example["creative"]))["servingHoldReasons"]
    check_success(await change(web, example["campaign"], status="PAUSED"))
    await activate_example(web, example)
    await activate_example(web, example)  # the same value again is no error


async def test_the_default_group_is_untouchable(web: httpx.AsyncClient) -> None:
    assert (await read_entity(web, DEFAULT_GROUP))["backfilled"] is True
    code = "CANNOT_UPDATE_BACKFILLED_CAMPAIGN_GROUPS"
    read_refusal(await change(web, DEFAULT_GROUP, name="Mine"), 400, code)
    read_refusal(await web.delete(build_url(DEFAULT_GROUP)), 400, code)
    parent = "urn:li:sponsoredCampaignGroup:60518121035"
    read_created_id(await post(web, "adCampaigns", make_body(CAMPAIGN, campaignGroup=parent)))


async def test_the_campaign_comes_before_its_creative(web: httpx.AsyncClient) -> None:
    read_created_id(await post(web, "adCampaignGroups", make_body(GROUP)))
    read_created_id(await post(web, "adCampaigns", make_body(CAMPAIGN, status="DRAFT")))
    creative = f"creatives/{read_created_id(await post(web, 'creatives', CREATIVE))}"
    read_refusal(await change(web, creative, intendedStatus="ACTIVE"), 400, "STATUS_CHANGE_NOT_ALLOWED")
    check_success(await change(web, "adCampaigns/7022", status="ACTIVE", locale={"country": "DE", "language": "de"}))
    check_success(await change(web, creative, intendedStatus="ACTIVE"))


async def test_groups_of_enterprises_are_renamed_and_archived_only(web: httpx.AsyncClient) -> None:
    where = f"adCampaignGroups/61{ENTERPRISE}"
    deleted = await change(web, where, within=ENTERPRISE, status="PENDING_DELETION")
    read_refusal(deleted, 400, "NO_DELETE_ON_LMS_ENTERPRISE_CAMPAIGN_GROUPS")
    moved = await change(web, where, within=ENTERPRISE, runSchedule={"start": 1704067200000, "end": END})
    read_refusal(moved, 400, "FIELD_NOT_ALLOWED_FOR_ENTERPRISE_LMS_ACCOUNTS")
    check_success(await change(web, where, within=ENTERPRISE, name="Contract", status="ARCHIVED"))


async def test_a_batch_fails_item_by_item(web: httpx.AsyncClient) -> None:
    await create_example(web)
    second = read_created_id(await post(web, "adCampaigns", CAMPAIGN))
    pause = {"patch": {"$set": {"name": "New"}}}
    path = build_url(f"adCampaigns?ids=List(7022,{second},9)")
    body = {"entities": {"7022": pause, second: {"patch": {"$set": {"status": "DRAFT"}}}, "9": pause}}
    answer = await web.post(path, json=body, headers=BATCH)
    results = answer.json()["results"]
    assert (answer.status_code, results["7022"]) == (200, {"status": 204})
    assert (results[second]["status"], results[second]["error"]["code"]) == (400, "STATUS_CHANGE_NOT_ALLOWED")
    assert results["9"]["status"] == 404
    await inject_fault(web, fault="partial")
    both = {"entities": {"7022": pause, second: pause}}
    results = (await web.post(build_url(f"adCampaigns?ids=List(7022,{second})"), json=both, headers=BATCH)).json()[
        "results"
    ]
    assert [results["7022"]["status"], results[second]["status"]] == [204, 409]
    assert (await read_entity(web, f"adCampaigns/{second}"))["name"] == CAMPAIGN["name"]
