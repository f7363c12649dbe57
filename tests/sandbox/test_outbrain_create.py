"""What the simulated Amplify API refuses, and what it changes."""

from datetime import timedelta
from typing import Any

import httpx
import pytest

from tests.sandbox.calls import NOTHING, list_writes, make_body
from tests.sandbox.outbrain_calls import (
    BASE,
    BERLIN,
    CAMPAIGN,
    DAILY,
    LIFETIME,
    LINK,
    NEW_YORK,
    TOKYO,
    Clock,
    create_budget,
    create_campaign,
    create_example,
    create_link,
    inject_fault,
    log_in,
    read,
    read_data,
    read_refusal,
    send,
)

# Budgets


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"name": ""}, "name"),
        ({"name": "n" * 101}, "name"),
        ({"name": "EVERGREEN"}, "name"),
        ({"amount": NOTHING}, "amount"),
        ({"amount": "60.50"}, "amount"),
        ({"amount": 60.505}, "amount"),
        ({"amount": 24.99}, "amount"),
        ({"startDate": "2026-11-20"}, "startDate"),
        ({"startDate": "2027-05-03T00:00:00Z"}, "startDate"),
        ({"startDate": "2027-02-30"}, "startDate"),
        ({"endDate": "2027-05-31"}, "endDate"),
        ({"runForever": False}, "endDate"),
        ({"runForever": "true"}, "runForever"),
        ({"type": "LIFETIME"}, "type"),
        ({"pacing": "AUTOMATIC"}, "pacing"),
        ({"dailyTarget": 30}, "dailyTarget"),
        ({"type": "MONTHLY", "amount": 749.99}, "amount"),
        ({"type": "MONTHLY", "amount": 750, "pacing": "DAILY_TARGET"}, "dailyTarget"),
        ({"type": "CAMPAIGN"}, "endDate"),
        ({"currency": "USD"}, "currency"),
    ],
)
async def test_daily_budgets_that_are_refused(web: httpx.AsyncClient, change: dict[str, Any], place: str) -> None:
    answer = await send(web, "POST", f"marketers/{NEW_YORK}/budgets", make_body(DAILY, **change))
    assert read_refusal(answer).startswith(f"{place}: ")
    assert await list_writes(web) == []


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"amount": 724.99}, "amount"),  # 29 days of 25
        ({"endDate": "2027-05-02"}, "endDate"),
        ({"endDate": NOTHING}, "endDate"),
        ({"runForever": True}, "endDate"),
    ],
)
async def test_lifetime_budgets_that_are_refused(web: httpx.AsyncClient, change: dict[str, Any], place: str) -> None:
    answer = await send(web, "POST", f"marketers/{NEW_YORK}/budgets", make_body(LIFETIME, **change))
    assert read_refusal(answer).startswith(f"{place}: ")


@pytest.mark.parametrize(
    "change",
    [
        {"amount": 25},
        {"startDate": "2026-11-21"},
        {"type": "MONTHLY", "amount": 750, "pacing": "AUTOMATIC"},
        {"type": "MONTHLY", "amount": 750, "pacing": "DAILY_TARGET", "dailyTarget": 30},
        {"runForever": False, "endDate": "2027-05-03"},
        {"name": "n" * 100},
    ],
)
async def test_budgets_on_the_border(web: httpx.AsyncClient, change: dict[str, Any]) -> None:
    await create_budget(web, **change)


async def test_budgets_of_other_currencies(web: httpx.AsyncClient) -> None:
    await create_budget(web, TOKYO, amount=2500)
    assert "2500 JPY" in read_refusal(await send(web, "POST", f"marketers/{TOKYO}/budgets",
                                            make_body(DAILY, name="Low", amount=2499)))  # fmt: skip
    read_refusal(await send(web, "POST", f"marketers/{TOKYO}/budgets", make_body(DAILY, name="Broken", amount=2500.5)))
    await create_budget(web, BERLIN, amount=22)
    read_refusal(await send(web, "POST", f"marketers/{BERLIN}/budgets", make_body(DAILY, name="Low", amount=21.99)))


async def test_a_budget_of_somebody_else(web: httpx.AsyncClient) -> None:
    read_refusal(await send(web, "POST", f"marketers/{'0' * 34}/budgets", DAILY), 403)


async def test_the_media_type_is_demanded(web: httpx.AsyncClient) -> None:
    read_refusal(await web.post(f"{BASE}/marketers/{NEW_YORK}/budgets", content=b"{}"), 415)


async def test_a_budget_changes_by_parts(web: httpx.AsyncClient) -> None:
    native_id = await create_budget(web)
    assert read_data(await send(web, "PUT", f"budgets/{native_id}", {"amount": 70}))["startDate"] == "2027-05-03"
    read_refusal(await send(web, "PUT", f"budgets/{native_id}", {"runForever": False}))
    ended = read_data(await send(web, "PUT", f"budgets/{native_id}", {"runForever": False, "endDate": "2027-06-01"}))
    assert (ended["runForever"], ended["endDate"]) == (False, "2027-06-01")
    assert "endDate" not in read_data(await send(web, "PUT", f"budgets/{native_id}", {"runForever": True}))
    for change in ({"name": "Other"}, {"currency": "EUR"}, {"amount": 24}, {"pacing": "AUTOMATIC"},
                   {"startDate": "2026-11-20"}):  # fmt: skip
        read_refusal(await send(web, "PUT", f"budgets/{native_id}", change))


async def test_the_start_of_a_budget_that_runs(web: httpx.AsyncClient, clock: Clock) -> None:
    native_id = await create_budget(web)
    clock.instant += timedelta(days=200)
    await log_in(web)
    answer = await send(web, "PUT", f"budgets/{native_id}", {"startDate": "2027-12-01"})
    assert read_refusal(answer) == "startDate: cannot be changed once it has passed"
    read_data(await send(web, "PUT", f"budgets/{native_id}", {"startDate": "2027-05-03", "amount": 80}))
    ended = {"runForever": False, "endDate": "2027-06-01"}
    assert read_refusal(await send(web, "PUT", f"budgets/{native_id}", ended)) == "endDate: lies in the past"


async def test_deleting_a_budget(web: httpx.AsyncClient) -> None:
    example = await create_example(web)
    read_refusal(await web.delete(f"{BASE}/budgets/{example['budget']}"))
    alone = await create_budget(web, name="Alone")
    assert (await web.delete(f"{BASE}/budgets/{alone}")).status_code == 200
    read_refusal(await web.get(f"{BASE}/budgets/{alone}"), 404)


# Campaigns


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"name": "n" * 101}, "name"),
        ({"name": "evergreen"}, "name"),
        ({"budgetId": "0" * 34}, "budgetId"),
        ({"budgetId": NOTHING}, "budgetId"),
        ({"marketerId": NEW_YORK}, "marketerId"),
        ({"startDate": "2027-05-03"}, "startDate"),
        ({"enabled": "false"}, "enabled"),
        ({"cpc": 0.425}, "cpc"),
        ({"cpc": 0.02}, "cpc"),
        ({"cpc": 10.01}, "cpc"),
        ({"cpc": "0.42"}, "cpc"),
        ({"objective": "traffic"}, "objective"),
        ({"objective": "Conversions"}, "campaignOptimization.optimizationType"),
        ({"campaignOptimization": {"optimizationType": "CPC"}}, "campaignOptimization.optimizationType"),
        ({"creativeFormat": "Video"}, "creativeFormat"),
        ({"targeting": NOTHING}, "targeting"),
        ({"targeting": {}}, "targeting.platform"),
        ({"targeting": {"platform": ["PHONE"]}}, "targeting.platform.0"),
        ({"targeting": {"platform": ["MOBILE"], "locations": ["US"]}}, "targeting.locations.0"),
        ({"targeting": {"platform": ["MOBILE"], "locations": [{"id": "0" * 32}]}}, "targeting.locations.0"),
        ({"targeting": {"platform": ["MOBILE"], "locations": ["0" * 32] * 2}}, "targeting.locations"),
        ({"targeting": {"platform": ["MOBILE"], "locationsVersion": "V3"}}, "targeting.locationsVersion"),
        ({"targeting": {"platform": ["MOBILE"], "languages": ["en"]}}, "targeting.languages"),
        ({"targeting": {"platform": ["MOBILE"], "keywords": ["tea"]}}, "targeting.keywords"),
        ({"targeting": {"platform": ["MOBILE"], "interests": {"op": "Or", "terms": []}}}, "targeting.interests.terms"),
        ({"targeting": {"platform": ["MOBILE"], "interests": {"op": "And", "ids": ["1"]}}}, "targeting.interests"),
        ({"targeting": {"platform": ["MOBILE"], "browsers": ["Netscape"]}}, "targeting.browsers.0"),
        ({"onAirType": "Scheduled"}, "scheduling"),
    ],
)
async def test_campaigns_that_are_refused(web: httpx.AsyncClient, change: dict[str, Any], place: str) -> None:
    body = make_body(CAMPAIGN, **{"budgetId": await create_budget(web), **change})
    assert read_refusal(await send(web, "POST", "campaigns", body)).startswith(f"{place}: ")
    assert len(await list_writes(web)) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"objective": "Awareness"},
        {"objective": "Conversions", "campaignOptimization": {"optimizationType": "CPC"}},
        {"objective": "AppInstalls", "campaignOptimization": {"optimizationType": "MAX_CONVERSION_FULLY_AUTOMATED"}},
        {"cpc": 0.03, "suffixTrackingCode": "utm_source=x", "startHour": "09:30 AM"},
        {"targeting": {"platform": ["MOBILE"], "language": "en", "interests": {"op": "Or", "ids": ["3001"]},
                       "customAudience": {"includedSegments": ["a1"]}, "operatingSystems": ["Ios"]}},
    ],
)  # fmt: skip
async def test_campaigns_that_are_made(web: httpx.AsyncClient, change: dict[str, Any]) -> None:
    await create_campaign(web, **change)


async def test_yen_have_no_fractions(web: httpx.AsyncClient) -> None:
    budget_id = await create_budget(web, TOKYO, amount=2500)
    await create_campaign(web, budget_id, cpc=42)
    read_refusal(await send(web, "POST", "campaigns", make_body(CAMPAIGN, name="Other", budgetId=budget_id, cpc=42.5)))


async def test_targeting_is_replaced_as_a_whole(web: httpx.AsyncClient) -> None:
    native_id = await create_campaign(web)
    change = {"targeting": {"platform": ["MOBILE"], "excludedLocations": []}}
    read_data(await send(web, "PUT", f"campaigns/{native_id}", change))
    campaign = await read(web, f"campaigns/{native_id}", extraFields="Locations,PlatformTargeting")
    assert campaign["targeting"] == {"platform": ["MOBILE"], "locationsVersion": "V1"}
    assert (campaign["name"], campaign["cpc"]) == ("Brief name", 0.42)


async def test_a_campaign_changes_by_parts(web: httpx.AsyncClient) -> None:
    native_id = await create_campaign(web, suffixTrackingCode="utm_source=x")
    path = f"campaigns/{native_id}"
    assert read_data(await send(web, "PUT", path, {"cpc": 0.5}))["suffixTrackingCode"] == "utm_source=x"
    assert "suffixTrackingCode" not in read_data(await send(web, "PUT", path, {"suffixTrackingCode": "EMPTY_SUFFIX"}))
    for change in ({"budgetId": "1"}, {"creativeFormat": "Clip"}, {"marketerId": NEW_YORK}, {"cpc": 11},
                   {"objective": "Conversions"}, {"name": "Evergreen"}):  # fmt: skip
        read_refusal(await send(web, "PUT", path, change))
    moved = {"objective": "Conversions", "campaignOptimization": {"optimizationType": "CPC"}}
    assert read_data(await send(web, "PUT", path, moved))["objective"] == "Conversions"
    read_refusal(await web.delete(f"{BASE}/{path}"), 405)
    read_refusal(await send(web, "PUT", f"campaigns/{'0' * 34}", {"cpc": 0.5}), 404)


# Promoted links


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"url": NOTHING}, "url"),
        ({"url": "shop.example"}, "url"),
        ({"url": "https://shop.example/missing"}, "url"),
        ({"enabled": NOTHING}, "enabled"),
        ({"title": "Other"}, "title"),
        ({"imageMetadata": {}}, "imageMetadata.id"),
        ({"imageMetadata": {"id": "a1", "url": "https://shop.example/sleep.jpg"}}, "imageMetadata.url"),
        ({"imageMetadata": {"id": "missing"}}, "imageMetadata.id"),
        ({"imageUrl": "https://shop.example/sleep.jpg"}, "imageUrl"),
        ({"cpcAdjustment": 10.5}, "cpcAdjustment"),
        ({"cpcAdjustment": 0.1234}, "cpcAdjustment"),
        ({"cpc": 0.5}, "cpc"),
    ],
)
async def test_links_that_are_refused(web: httpx.AsyncClient, change: dict[str, Any], place: str) -> None:
    campaign_id = await create_campaign(web)
    answer = await send(web, "POST", f"campaigns/{campaign_id}/promotedLinks", make_body(LINK, **change))
    assert read_refusal(answer).startswith(f"{place}: ")


async def test_a_link_below_nothing(web: httpx.AsyncClient) -> None:
    read_refusal(await send(web, "POST", f"campaigns/{'0' * 34}/promotedLinks", LINK), 404)


async def test_content_is_edited_while_pending(web: httpx.AsyncClient, clock: Clock) -> None:
    example = await create_example(web)
    path = f"campaigns/{example['campaign']}/promotedLinks/"
    change = {"id": example["promotedLink"], "title": "Better sleep", "sectionName": "Shop",
              "imageMetadata": {"id": "a1"}}  # fmt: skip
    (row,) = read_data(await send(web, "PUT", path, [change]))
    assert (row["operationStatus"]["status"], row["text"]) == ("Success", "Better sleep")
    for wrong in ({"text": "Other"}, {"url": "https://other.example/"}, {"cpc": 1}):
        (row,) = read_data(await send(web, "PUT", path, [{"id": example["promotedLink"], **wrong}]))
        assert row["operationStatus"]["status"] == "Failure"
    clock.instant += timedelta(hours=1)
    (row,) = read_data(await send(web, "PUT", path, [change]))
    assert row["operationStatus"] == {
        "status": "Failure", "reason": ["only a pending promoted link can be edited"],
    }  # fmt: skip
    (row,) = read_data(await send(web, "PUT", path, [{"id": example["promotedLink"], "enabled": True}]))
    assert row["enabled"] is True
    read_refusal(await send(web, "PUT", path[:-1], [change]), 405)


async def test_several_links_are_enabled_at_once(web: httpx.AsyncClient) -> None:
    campaign_id = await create_campaign(web)
    first, other = await create_link(web, campaign_id), await create_link(web, campaign_id)
    read_refusal(await send(web, "PUT", f"promotedLinks/{first},{'0' * 34}", {"enabled": True}), 404)
    assert (await read(web, f"promotedLinks/{first}"))["enabled"] is False
    answer = await send(web, "PUT", f"promotedLinks/{first},{other}", {"enabled": True})
    assert (answer.status_code, answer.content) == (200, b"")
    assert (await read(web, f"promotedLinks/{other}"))["enabled"] is True
    read_refusal(await send(web, "PUT", f"promotedLinks/{first}", {"enabled": True, "text": "Other"}))
    read_refusal(await web.delete(f"{BASE}/promotedLinks/{first}"), 405)


# Several at once


async def test_items_fail_alone(web: httpx.AsyncClient) -> None:
    campaign_id = await create_campaign(web)
    path = f"campaigns/{campaign_id}/multiplePromotedLinks"
    rows = read_data(await send(web, "POST", path, [LINK, {**LINK, "url": "nowhere"}]))
    assert [row["operationStatus"]["status"] for row in rows] == ["Success", "Failure"]
    assert (await read(web, f"campaigns/{campaign_id}/promotedLinks"))["totalCount"] == 1


@pytest.mark.parametrize(("fault", "applied"), [("partial", 1), ("error_in_200", 0)])
async def test_told_failures_inside_a_200(web: httpx.AsyncClient, fault: str, applied: int) -> None:
    first, other = (
        await create_campaign(web),
        await create_campaign(web, await create_budget(web, name="Other"), name="Other"),
    )
    before = len(await list_writes(web))
    await inject_fault(web, fault)
    rows = read_data(
        await send(web, "PUT", "campaigns", [{"id": first, "enabled": True}, {"id": other, "enabled": True}])
    )
    assert [row["operationStatus"]["status"] for row in rows] == ["Success"] * applied + ["Failure"] * (2 - applied)
    assert len(await list_writes(web)) - before == applied


async def test_too_many_at_once(web: httpx.AsyncClient) -> None:
    read_refusal(await send(web, "PUT", "campaigns", [{"id": "1", "cpc": 1}] * 26))
    read_refusal(await send(web, "PUT", "campaigns", []))
