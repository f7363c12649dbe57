"""The simulated LinkedIn API: updates, deletes and batches."""

from datetime import timedelta
from typing import Any

import httpx

from tests.sandbox.calls import body, writes
from tests.sandbox.linkedin_calls import (
    CAMPAIGN,
    CREATIVE,
    ENTERPRISE,
    GROUP,
    PARTIAL_UPDATE,
    TARGETING,
    Clock,
    activated,
    address,
    change,
    created,
    done,
    entity,
    example,
    fault,
    post,
    refused,
)

START, END = 1793520000000, 1794729600000
BATCH = {"X-RestLi-Method": "BATCH_PARTIAL_UPDATE"}
DEFAULT_GROUP = "adCampaignGroups/60518121035"


def usd(amount: str) -> dict[str, str]:
    return {"amount": amount, "currencyCode": "USD"}


async def test_a_partial_update_changes_only_what_it_names(web: httpx.AsyncClient) -> None:
    made = await example(web)
    before = await entity(web, made["campaign"])
    done(await change(web, made["campaign"], name="Winter webinar", dailyBudget=usd("45.50")))
    after = await entity(web, made["campaign"])
    assert (after["name"], after["dailyBudget"]) == ("Winter webinar", usd("45.50"))
    own = ("name", "dailyBudget", "changeAuditStamps", "version")
    assert {name: after[name] for name in after if name not in own} == {
        name: before[name] for name in before if name not in own
    }
    assert (await writes(web))[-1] == ("POST", "campaign", "7022")


async def test_the_bidding_is_changed_together(web: httpx.AsyncClient) -> None:
    made = await example(web)
    refused(
        await change(web, made["campaign"], optimizationTargetType="MAX_CLICK"), 400, "INVALID_CAMPAIGN_CONFIGURATION"
    )
    done(await change(
        web, made["campaign"], optimizationTargetType="MAX_CLICK", costType="CPM", unitCost=usd("0"),
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
    made = await example(web)
    for where, to, code in CHANGES_REFUSED:
        refused(await change(web, made[where], **to), 400, code)
    assert len(await writes(web)) == 3


async def test_the_shape_of_a_patch(web: httpx.AsyncClient) -> None:
    made = await example(web)
    path = address(made["campaign"])
    sent = {"patch": {"$set": {"name": "New"}}}
    refused(await web.post(path, json=sent), 400, "INVALID_VALUE_FOR_FIELD")
    refused(await web.post(path, json={"name": "New"}, headers=PARTIAL_UPDATE), 400, "FIELD_NOT_ALLOWED")
    refused(await web.post(path, json={"patch": {}}, headers=PARTIAL_UPDATE), 400, "MISSING_FIELD")
    nested = {"patch": {"runSchedule": {"$set": {"end": END}}}}
    refused(await web.post(path, json=nested, headers=PARTIAL_UPDATE), 400, "FIELD_NOT_ALLOWED")
    refused(await change(web, made["campaign"], delete=["name"]), 400, "MISSING_FIELD")
    refused(await change(web, made["campaign"], delete=["dailyBudget"]), 400, "MISSING_FIELD")
    assert (await web.patch(path, json=sent)).status_code == 405


async def test_keys_of_creatives_are_encoded_urns(web: httpx.AsyncClient) -> None:
    await example(web)
    patch = {"patch": {"$set": {"name": "New"}}}
    for key, status in (
        ("7023", 400),
        ("urn:li:sponsoredCreative:7023", 400),
        ("urn%3Ali%3AsponsoredCreative%3A7023", 204),
        ("urn%3Ali%3AsponsoredCreative%3A7024", 404),
    ):
        answer = await web.post(address(f"creatives/{key}"), json=patch, headers=PARTIAL_UPDATE)
        assert answer.status_code == status, key


async def test_a_member_is_taken_away(web: httpx.AsyncClient) -> None:
    made = await example(web)
    done(await change(web, made["group"], totalBudget=usd("500")))
    done(await change(web, made["group"], delete=["totalBudget"]))
    assert "totalBudget" not in await entity(web, made["group"])
    done(await change(web, made["campaign"], targetingCriteria=TARGETING))


async def test_dates_that_have_passed_stay(web: httpx.AsyncClient, clock: Clock) -> None:
    made = await example(web)
    clock.instant += timedelta(days=3)
    for where in ("group", "campaign"):
        moved = await change(web, made[where], runSchedule={"start": START + 1, "end": END})
        refused(moved, 400, "DATE_IMMUTABLE_WHEN_PASSED")
        early = await change(web, made[where], runSchedule={"start": START, "end": START + 1})
        refused(early, 400, "DATE_TOO_EARLY")
    done(await change(web, made["campaign"], runSchedule={"start": START, "end": END - 1}))
    done(await change(web, made["campaign"], name="The start in the past is no matter"))


async def test_only_drafts_are_deleted(web: httpx.AsyncClient) -> None:
    made = await example(web)
    path = address("creatives/urn%3Ali%3AsponsoredCreative%3A7023")
    assert (await web.delete(path)).status_code == 204
    assert (await web.get(path)).status_code == 404
    refused(await web.delete(address(made["campaign"])), 400, "DELETE_ALLOWED_ONLY_FOR_DRAFT_STATUS")
    done(await change(web, made["campaign"], status="PENDING_DELETION"))
    refused(await change(web, made["campaign"], status="ACTIVE"), 400, "ACTION_NOT_ALLOWED_FOR_CANCELLED_STATUS")
    assert [row[0] for row in await writes(web)] == ["POST", "POST", "POST", "DELETE", "POST"]


async def test_an_active_hierarchy_pauses_and_goes_on(web: httpx.AsyncClient) -> None:
    made = await example(web)
    await activated(web, made)
    done(await change(web, made["group"], status="PAUSED"))
    assert "CAMPAIGN_GROUP_STATUS_HOLD" in (await entity(web, made["campaign"]))["servingStatuses"]
    done(await change(web, made["creative"], intendedStatus="PAUSED"))
    assert "STOPPED" in (await entity(web, made["creative"]))["servingHoldReasons"]
    done(await change(web, made["campaign"], status="PAUSED"))
    await activated(web, made)
    await activated(web, made)  # the same value again is no error


async def test_the_default_group_is_untouchable(web: httpx.AsyncClient) -> None:
    assert (await entity(web, DEFAULT_GROUP))["backfilled"] is True
    code = "CANNOT_UPDATE_BACKFILLED_CAMPAIGN_GROUPS"
    refused(await change(web, DEFAULT_GROUP, name="Mine"), 400, code)
    refused(await web.delete(address(DEFAULT_GROUP)), 400, code)
    parent = "urn:li:sponsoredCampaignGroup:60518121035"
    created(await post(web, "adCampaigns", body(CAMPAIGN, campaignGroup=parent)))


async def test_the_campaign_comes_before_its_creative(web: httpx.AsyncClient) -> None:
    created(await post(web, "adCampaignGroups", body(GROUP)))
    created(await post(web, "adCampaigns", body(CAMPAIGN, status="DRAFT")))
    creative = f"creatives/{created(await post(web, 'creatives', CREATIVE))}"
    refused(await change(web, creative, intendedStatus="ACTIVE"), 400, "STATUS_CHANGE_NOT_ALLOWED")
    done(await change(web, "adCampaigns/7022", status="ACTIVE", locale={"country": "DE", "language": "de"}))
    done(await change(web, creative, intendedStatus="ACTIVE"))


async def test_groups_of_enterprises_are_renamed_and_archived_only(web: httpx.AsyncClient) -> None:
    where = f"adCampaignGroups/61{ENTERPRISE}"
    deleted = await change(web, where, within=ENTERPRISE, status="PENDING_DELETION")
    refused(deleted, 400, "NO_DELETE_ON_LMS_ENTERPRISE_CAMPAIGN_GROUPS")
    moved = await change(web, where, within=ENTERPRISE, runSchedule={"start": 1704067200000, "end": END})
    refused(moved, 400, "FIELD_NOT_ALLOWED_FOR_ENTERPRISE_LMS_ACCOUNTS")
    done(await change(web, where, within=ENTERPRISE, name="Contract", status="ARCHIVED"))


async def test_a_batch_fails_item_by_item(web: httpx.AsyncClient) -> None:
    await example(web)
    second = created(await post(web, "adCampaigns", CAMPAIGN))
    pause = {"patch": {"$set": {"name": "New"}}}
    path = address(f"adCampaigns?ids=List(7022,{second},9)")
    sent = {"entities": {"7022": pause, second: {"patch": {"$set": {"status": "DRAFT"}}}, "9": pause}}
    answer = await web.post(path, json=sent, headers=BATCH)
    results = answer.json()["results"]
    assert (answer.status_code, results["7022"]) == (200, {"status": 204})
    assert (results[second]["status"], results[second]["error"]["code"]) == (400, "STATUS_CHANGE_NOT_ALLOWED")
    assert results["9"]["status"] == 404
    await fault(web, fault="partial")
    both = {"entities": {"7022": pause, second: pause}}
    results = (await web.post(address(f"adCampaigns?ids=List(7022,{second})"), json=both, headers=BATCH)).json()[
        "results"
    ]
    assert [results["7022"]["status"], results[second]["status"]] == [204, 409]
    assert (await entity(web, f"adCampaigns/{second}"))["name"] == CAMPAIGN["name"]
