"""The simulated LinkedIn API: what creation refuses."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from tests.sandbox.calls import NOTHING, list_writes, make_body
from tests.sandbox.linkedin_calls import (
    CAMPAIGN,
    CREATIVE,
    ENTERPRISE,
    GROUP,
    LOCATIONS,
    TOKYO,
    VIEWED,
    Clock,
    create_example,
    post,
    read_created_id,
    read_entity,
    read_refusal,
)

START, END = 1793520000000, 1794729600000
FACET = "urn:li:adTargetingFacet:"
TITLE = {"or": {FACET + "titles": ["urn:li:title:9"]}}
PLACE = {"or": {LOCATIONS: ["urn:li:geo:103644278"]}}


def make_amount(amount: str, currency: str = "USD") -> dict[str, str]:
    return {"amount": amount, "currencyCode": currency}


def make_targeting(*clauses: Any, **more: Any) -> dict[str, Any]:
    return {"include": {"and": [PLACE, *clauses]}, **more}


GROUPS_REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"account": NOTHING}, "MISSING_FIELD"),
    ({"name": NOTHING}, "MISSING_FIELD"),
    ({"status": NOTHING}, "MISSING_FIELD"),
    ({"runSchedule": NOTHING}, "MISSING_FIELD"),
    ({"runSchedule": {"end": END}}, "MISSING_FIELD"),
    ({"status": "PAUSED"}, "STATUS_CHANGE_NOT_ALLOWED"),
    ({"account": "518121035"}, "INVALID_VALUE_FOR_FIELD"),
    ({"account": "urn:li:sponsoredAccount:518121036"}, "ACCOUNT_ID_MISMATCH_IN_PARAM_AND_BODY"),
    ({"name": "n" * 101}, "FIELD_LENGTH_TOO_LONG"),
    ({"name": " "}, "INVALID_VALUE_BLANK_FIELD"),
    ({"id": 1}, "FIELD_NOT_ALLOWED"),
    ({"test": False}, "FIELD_NOT_ALLOWED"),
    ({"servingStatuses": []}, "FIELD_NOT_ALLOWED"),
    ({"objectiveType": "WEBSITE_VISITS"}, "INVALID_VALUE_FOR_FIELD"),
    ({"runSchedule": {"start": START // 1000}}, "INVALID_VALUE_FOR_FIELD"),
    ({"runSchedule": {"start": str(START)}}, "INVALID_VALUE_FOR_FIELD"),
    ({"runSchedule": {"start": 1793448000000 - 1}}, "DATE_TOO_EARLY"),
    ({"runSchedule": {"start": START, "end": START}}, "START_DATE_AFTER_END_DATE"),
    ({"runSchedule": {"start": START}, "totalBudget": make_amount("100")}, "CONDITIONAL_MISSING_FIELD"),
    ({"totalBudget": make_amount("100", "EUR")}, "CURRENCY_MISMATCH"),
]


async def test_campaign_groups_that_are_refused(web: httpx.AsyncClient) -> None:
    for change, code in GROUPS_REFUSED:
        read_refusal(await post(web, "adCampaignGroups", make_body(GROUP, **change)), 400, code)
    assert await list_writes(web) == []


CAMPAIGNS_REFUSED: list[tuple[dict[str, Any], str]] = [
    *(({name: NOTHING}, "MISSING_FIELD") for name in (
        "campaignGroup", "name", "type", "status", "objectiveType", "optimizationTargetType", "costType",
        "unitCost", "locale", "runSchedule", "offsiteDeliveryEnabled", "politicalIntent", "targetingCriteria",
        "dailyBudget",
    )),
    ({"associatedEntity": NOTHING}, "CONDITIONAL_MISSING_FIELD"),
    ({"campaignGroup": "7021"}, "INVALID_VALUE_FOR_FIELD"),
    ({"campaignGroup": "urn:li:sponsoredCampaignGroup:9"}, "FIELD_VALUE_DOES_NOT_EXIST"),
    ({"account": "urn:li:sponsoredAccount:518121036"}, "ACCOUNT_ID_MISMATCH_IN_PARAM_AND_BODY"),
    ({"status": "ARCHIVED"}, "STATUS_CHANGE_NOT_ALLOWED"),
    ({"status": "ENABLED"}, "INVALID_VALUE_FOR_FIELD"),
    ({"objectiveType": "WEBSITE_VISITS"}, "INVALID_VALUE_FOR_FIELD"),
    ({"name": "ü" * 101}, "FIELD_LENGTH_TOO_LONG"),
    ({"version": {"versionTag": "1"}}, "FIELD_NOT_ALLOWED"),
    ({"targeting": {}}, "TARGETING_FIELD_DEPRECATED"),
    # bidding
    ({"costType": "CPM", "optimizationTargetType": "MAX_IMPRESSION"}, "INVALID_CAMPAIGN_CONFIGURATION"),
    ({"costType": "CPC", "optimizationTargetType": "MAX_CLICK"}, "INVALID_CAMPAIGN_CONFIGURATION"),
    ({"costType": "CPV"}, "INVALID_CAMPAIGN_CONFIGURATION"),
    ({"objectiveType": "BRAND_AWARENESS"}, "INVALID_CAMPAIGN_CONFIGURATION"),
    ({"objectiveType": "BRAND_AWARENESS", "optimizationTargetType": "MAX_CLICK", "costType": "CPM"},
     "INVALID_CAMPAIGN_CONFIGURATION"),
    ({"optimizationTargetType": "TARGET_COST_PER_CLICK", "unitCost": make_amount("0")}, "FIELD_VALUE_TOO_LOW"),
    # money
    ({"dailyBudget": make_amount("40", "EUR")}, "CURRENCY_MISMATCH"),
    ({"unitCost": make_amount("4.50", "EUR")}, "CURRENCY_MISMATCH"),
    ({"dailyBudget": {"amount": 40, "currencyCode": "USD"}}, "INVALID_VALUE_FOR_FIELD"),
    ({"dailyBudget": make_amount("040")}, "INVALID_VALUE_FOR_FIELD"),
    ({"dailyBudget": make_amount("4e1")}, "INVALID_VALUE_FOR_FIELD"),
    ({"dailyBudget": make_amount("1,000")}, "INVALID_VALUE_FOR_FIELD"),
    ({"dailyBudget": make_amount("40.001")}, "INVALID_VALUE_FOR_FIELD"),
    ({"dailyBudget": make_amount("0")}, "FIELD_VALUE_TOO_LOW"),
    ({"totalBudget": make_amount("39")}, "CONDITIONAL_VALUE_TOO_LOW"),
    ({"pacingStrategy": "LIFETIME"}, "CONDITIONAL_FIELD_NOT_ALLOWED"),
    ({"dailyBudget": NOTHING, "totalBudget": make_amount("500")}, "CONDITIONAL_MISSING_FIELD"),
    ({"dailyBudget": NOTHING, "totalBudget": make_amount("500"), "pacingStrategy": "LIFETIME",
      "runSchedule": {"start": START}}, "CONDITIONAL_MISSING_FIELD"),
    # dates
    ({"runSchedule": {"start": START - 1, "end": END}}, "CONDITIONAL_VALUE_TOO_LOW"),
    ({"runSchedule": {"start": START, "end": END + 1}}, "CONDITIONAL_VALUE_TOO_HIGH"),
    ({"runSchedule": {"start": START}}, "CONDITIONAL_VALUE_TOO_HIGH"),
    ({"locale": {"country": "us", "language": "EN"}}, "INVALID_VALUE_FOR_FIELD"),
    ({"locale": {"country": "JP", "language": "en"}}, "INVALID_VALUE_FOR_FIELD"),
    ({"associatedEntity": "urn:li:organization:missing"}, "FIELD_VALUE_DOES_NOT_EXIST"),
]  # fmt: skip


async def test_campaigns_that_are_refused(web: httpx.AsyncClient) -> None:
    group = read_created_id(await post(web, "adCampaignGroups", GROUP))
    assert group == "7021"
    for change, code in CAMPAIGNS_REFUSED:
        read_refusal(await post(web, "adCampaigns", make_body(CAMPAIGN, **change)), 400, code)
    assert len(await list_writes(web)) == 1


TARGETING_REFUSED: list[tuple[Any, str]] = [
    ({"include": {"and": []}}, "INVALID_VALUE_FOR_FIELD"),
    ({"include": {"or": {}}}, "FIELD_NOT_ALLOWED"),
    ({"exclude": {"or": {}}}, "MISSING_FIELD"),
    ({"include": {"and": [{"or": {FACET + "titles": ["urn:li:title:9"]}}]}}, "MISSING_FIELD"),
    ({"include": {"and": [{"and": {}}]}}, "FIELD_NOT_ALLOWED"),
    ({"include": {"and": [{"or": {LOCATIONS: []}}]}}, "INVALID_VALUE_FOR_FIELD"),
    ({"include": {"and": [{"or": {LOCATIONS: ["US"]}}]}}, "INVALID_VALUE_FOR_FIELD"),
    ({"include": {"and": [{"or": {LOCATIONS: ["urn:li:geo:missing"]}}]}}, "FIELD_VALUE_DOES_NOT_EXIST"),
    (make_targeting({"or": {"locations": ["urn:li:geo:1"]}}), "FIELD_VALUE_DOES_NOT_EXIST"),
    (make_targeting({"or": {FACET + "countries": ["urn:li:country:us"]}}), "FIELD_VALUE_DOES_NOT_EXIST"),
    (make_targeting(exclude={"and": []}), "FIELD_NOT_ALLOWED"),
    (make_targeting(exclude={"or": {FACET + "genders": ["urn:li:gender:FEMALE"]}}), "FIELD_NOT_ALLOWED"),
    (make_targeting(exclude=PLACE), "FIELD_CANNOT_BE_BOTH_IN_INCLUDED_AND_EXCLUDED_TARGETING"),
    (make_targeting(TITLE, {"or": {FACET + "jobFunctions": ["urn:li:function:8"]}}),
     "INCOMPATIBLE_TARGETING_COMBINATION"),
    (make_targeting(keywords=["tea"]), "FIELD_NOT_ALLOWED"),
]  # fmt: skip


async def test_targeting_that_is_refused(web: httpx.AsyncClient) -> None:
    read_created_id(await post(web, "adCampaignGroups", GROUP))
    for criteria, code in TARGETING_REFUSED:
        read_refusal(await post(web, "adCampaigns", make_body(CAMPAIGN, targetingCriteria=criteria)), 400, code)


CREATIVES_REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"campaign": NOTHING}, "MISSING_FIELD"),
    ({"content": NOTHING}, "MISSING_FIELD"),
    ({"intendedStatus": NOTHING}, "MISSING_FIELD"),
    ({"intendedStatus": "PAUSED"}, "STATUS_CHANGE_NOT_ALLOWED"),
    ({"status": "DRAFT"}, "FIELD_NOT_ALLOWED"),
    ({"campaign": "7022"}, "INVALID_VALUE_FOR_FIELD"),
    ({"campaign": "urn:li:sponsoredCampaign:9"}, "FIELD_VALUE_DOES_NOT_EXIST"),
    ({"inlineContent": {"post": {}}}, "INVALID_VALUE_FOR_FIELD"),
    ({"content": {"reference": "6850000000000000001"}}, "INVALID_VALUE_FOR_FIELD"),
    ({"content": {"reference": "urn:li:post:6850000000000000001"}}, "INVALID_VALUE_FOR_FIELD"),
    ({"content": {"reference": "urn:li:share:missing"}}, "FIELD_VALUE_DOES_NOT_EXIST"),
    ({"content": {"reference": "urn:li:share:ineligible"}}, "FIELD_VALUE_NOT_ACTIVE"),
    ({"content": {"reference": "urn:li:ugcPost:processing"}}, "FIELD_VALUE_NOT_ACTIVE"),
    ({"content": {"reference": "urn:li:ugcPost:6850000000000000002"}}, "INVALID_CAMPAIGN_CONFIGURATION"),
    ({"content": {"reference": "urn:li:share:6850000000000000003"}}, "INVALID_CAMPAIGN_CONFIGURATION"),
    ({"content": {"reference": "urn:li:share:6850000000000000004"}}, "FIELD_VALUE_NOT_ACTIVE"),
    ({"content": {"reference": "urn:li:share:6850000000000000005"}}, "MISMATCH_FIELDS"),
]


async def test_creatives_that_are_refused(web: httpx.AsyncClient) -> None:
    read_created_id(await post(web, "adCampaignGroups", GROUP))
    read_created_id(await post(web, "adCampaigns", CAMPAIGN))
    for change, code in CREATIVES_REFUSED:
        answer = await post(web, "creatives", make_body(CREATIVE, **change))
        read_refusal(answer, 400, code)
        assert answer.json()["serviceErrorCode"] == 100


async def test_formats_go_with_the_post(web: httpx.AsyncClient) -> None:
    read_created_id(await post(web, "adCampaignGroups", GROUP))
    film, processing, card = (
        {"reference": f"urn:li:{post}"}
        for post in (
            "ugcPost:6850000000000000002", "ugcPost:6850000000000000006", "share:6850000000000000003",
        )
    )  # fmt: skip
    read_created_id(await post(web, "adCampaigns", make_body(CAMPAIGN, format="SINGLE_VIDEO")))
    read_created_id(await post(web, "creatives", make_body(CREATIVE, content=film)))
    read_refusal(await post(web, "creatives", make_body(CREATIVE, content=processing)), 400, "FIELD_VALUE_NOT_ACTIVE")
    read_refusal(await post(web, "creatives", CREATIVE), 400, "INVALID_CAMPAIGN_CONFIGURATION")
    carousel = read_created_id(await post(web, "adCampaigns", make_body(CAMPAIGN, format="CAROUSEL")))
    read_created_id(
        await post(web, "creatives", make_body(CREATIVE, campaign=f"urn:li:sponsoredCampaign:{carousel}", content=card))
    )


async def test_automated_delivery_and_lifetime_budgets(web: httpx.AsyncClient) -> None:
    example = await create_example(
        web, dailyBudget=NOTHING, totalBudget=make_amount("500"), pacingStrategy="LIFETIME", costType="CPM",
        optimizationTargetType="MAX_CLICK", unitCost=make_amount("0"),
    )  # fmt: skip
    assert (await read_entity(web, example["campaign"]))["totalBudget"] == make_amount("500")
    for target in ("MAX_IMPRESSION", "MAX_REACH", "NONE"):
        await create_example(
            web,
            objectiveType="BRAND_AWARENESS",
            optimizationTargetType=target,
            costType="CPM",
            unitCost=make_amount("9"),
        )


async def test_drafts_admit_drafts_only(web: httpx.AsyncClient) -> None:
    read_created_id(await post(web, "adCampaignGroups", make_body(GROUP, status="DRAFT")))
    code = "ONLY_DRAFT_CAMPAIGNS_ALLOWED_IN_DRAFT_CAMPAIGN_GROUPS"
    read_refusal(await post(web, "adCampaigns", CAMPAIGN), 400, code)
    read_created_id(await post(web, "adCampaigns", make_body(CAMPAIGN, status="DRAFT")))
    active = make_body(CREATIVE, intendedStatus="ACTIVE")
    read_refusal(await post(web, "creatives", active), 400, "STATUS_CHANGE_NOT_ALLOWED")


async def test_a_group_hands_its_objective_down(web: httpx.AsyncClient) -> None:
    read_created_id(await post(web, "adCampaignGroups", make_body(GROUP, objectiveType="BRAND_AWARENESS")))
    read_refusal(await post(web, "adCampaigns", CAMPAIGN), 400, "IMMUTABLE_CAMPAIGN_OBJECTIVE_TYPE")


async def test_yen_have_no_decimals(web: httpx.AsyncClient) -> None:
    group = make_body(GROUP, account=f"urn:li:sponsoredAccount:{TOKYO}")
    parent = f"urn:li:sponsoredCampaignGroup:{read_created_id(await post(web, 'adCampaignGroups', group, TOKYO))}"
    yen = {"unitCost": make_amount("450", "JPY"), "account": NOTHING, "campaignGroup": parent}
    body = make_body(CAMPAIGN, dailyBudget=make_amount("4000.5", "JPY"), **yen)
    read_refusal(await post(web, "adCampaigns", body, TOKYO), 400, "INVALID_VALUE_FOR_FIELD")
    read_created_id(
        await post(web, "adCampaigns", make_body(CAMPAIGN, dailyBudget=make_amount("4000", "JPY"), **yen), TOKYO)
    )
    foreign = make_body(CAMPAIGN, campaignGroup=parent)
    read_refusal(await post(web, "adCampaigns", foreign), 400, "FIELD_VALUE_DOES_NOT_EXIST")


async def test_accounts_that_create_nothing(web: httpx.AsyncClient) -> None:
    group = make_body(GROUP, account=f"urn:li:sponsoredAccount:{ENTERPRISE}")
    read_refusal(await post(web, "adCampaignGroups", group, ENTERPRISE), 400, "CAMPAIGN_GROUP_CREATION_NOT_ALLOWED")
    viewed = make_body(GROUP, account=f"urn:li:sponsoredAccount:{VIEWED}")
    read_refusal(await post(web, "adCampaignGroups", viewed, VIEWED), 403, "NO_PERMISSION_ON_ENTITY")
    read_refusal(await post(web, "adCampaignGroups", GROUP, "9"), 404, "NOT_FOUND")


async def test_an_inline_post_and_a_review_at_once(web: httpx.AsyncClient) -> None:
    example = await create_example(web)
    body = make_body(
        CREATIVE, content=NOTHING, inlineContent={"post": {"commentary": "Hello"}}, intendedStatus="ACTIVE"
    )
    creative = await read_entity(web, f"creatives/{read_created_id(await post(web, 'creatives', body))}")
    assert creative["content"]["reference"].startswith("urn:li:share:")
    assert creative["review"] == {"status": "PENDING"}
    assert (await read_entity(web, example["creative"])).get("review") is None


@pytest.mark.parametrize(
    ("content", "media_type", "status"),
    [(b"{", "application/json", 400), (b"{}", "text/plain", 415), (b"[]", "application/json", 400)],
)
async def test_bodies_that_are_none(web: httpx.AsyncClient, content: bytes, media_type: str, status: int) -> None:
    answer = await web.post(
        "/api.linkedin.com/rest/adAccounts/518121035/adCampaignGroups",
        content=content,
        headers={"Content-Type": media_type},
    )
    assert answer.status_code == status


async def test_a_start_at_the_present_is_not_too_early(web: httpx.AsyncClient, clock: Clock) -> None:
    clock.instant = datetime.fromtimestamp(START / 1000, UTC)
    read_created_id(await post(web, "adCampaignGroups", GROUP))
    clock.instant += timedelta(milliseconds=1)
    read_refusal(await post(web, "adCampaignGroups", GROUP), 400, "DATE_TOO_EARLY")
