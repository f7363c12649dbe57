"""The simulated Google Ads API: updates by mask, removal, criteria, goals."""

import copy
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from tests.sandbox.google_calls import (
    AD,
    BUDGET,
    CAMPAIGN,
    CREATE,
    DIRECT,
    EU,
    US,
    Clock,
    change_example,
    list_writes,
    log_in,
    make_texts,
    make_update,
    mutate,
    read_refusal,
    read_resource_names,
    search_rows,
    send,
)


async def test_masks(web: httpx.AsyncClient) -> None:
    _, campaign, criterion, group, _, _ = read_resource_names(await send(web, CREATE))
    wrong = [
        (make_update("campaign", campaign, None, name="New"), "fieldMaskError.FIELD_MASK_MISSING"),
        (make_update("campaign", campaign, "", name="New"), "fieldMaskError.FIELD_MASK_MISSING"),
        (make_update("campaign", campaign, "startDate", name="New"), "fieldMaskError.FIELD_NOT_FOUND"),
        (
            make_update("campaign", campaign, "networkSettings", networkSettings={}),
            "fieldMaskError.FIELD_HAS_SUBFIELDS",
        ),
        (make_update("campaign", campaign, "end_date_time"), "fieldError.INVALID_VALUE"),
        (make_update("campaign", campaign, "advertisingChannelType"), "fieldError.IMMUTABLE_FIELD"),
        (make_update("campaign", campaign, "resourceName"), "fieldError.IMMUTABLE_FIELD"),
        (make_update("campaign", campaign, "name,status", status="ENABLED"), "fieldError.FIELD_CANNOT_BE_CLEARED"),
        (make_update("campaign", campaign, "manualCpc"), "fieldError.REQUIRED"),
        (make_update("campaign", campaign, "status", status="REMOVED"), "fieldError.INVALID_VALUE"),
        (make_update("adGroup", group, "type", type="SEARCH_STANDARD"), "fieldError.IMMUTABLE_FIELD"),
        (make_update("campaignCriterion", criterion, "location.geoTargetConstant"), "fieldError.IMMUTABLE_FIELD"),
        (make_update("campaign", "", "name", name="New"), "requestError.RESOURCE_NAME_MALFORMED"),
        ({"campaignOperation": {"updateMask": "name", "update": {"name": "x"}}}, "requestError.RESOURCE_NAME_MISSING"),
        ({"campaignOperation": {"updateMask": "name", "create": {}}}, "fieldMaskError.FIELD_MASK_NOT_ALLOWED"),
    ]
    for operation, code in wrong:
        assert read_refusal(await mutate(web, operation))["code"] == code, operation
    masked = make_update(
        "campaign", campaign, "name,endDateTime,networkSettings.targetGoogleSearch,networkSettings.targetSearchNetwork",
        name="New", networkSettings={"targetGoogleSearch": True, "targetSearchNetwork": True},
        status="ENABLED")  # fmt: skip
    read_resource_names(await mutate(web, masked))
    query = """SELECT campaign.name, campaign.status, campaign.end_date_time,
        campaign.network_settings.target_search_network FROM campaign"""
    campaign_members = {"name": "New", "status": "PAUSED"}  # endDateTime is cleared, status was not masked
    assert await search_rows(web, query) == [
        {"campaign": {**campaign_members, "networkSettings": {"targetSearchNetwork": True}}}
    ]
    read_resource_names(await mutate(web, make_update("campaign", campaign, "networkSettings.targetSearchNetwork")))
    assert await search_rows(web, query) == [{"campaign": campaign_members}]


async def test_bidding_changes_by_the_chosen_member(web: httpx.AsyncClient) -> None:
    _, campaign, _, group, keyword, _ = read_resource_names(await send(web, CREATE))
    query = "SELECT campaign.bidding_strategy_type, campaign.target_spend.cpc_bid_ceiling_micros FROM campaign"
    assert await search_rows(web, query) == [{"campaign": {"biddingStrategyType": "MANUAL_CPC"}}]
    read_resource_names(await mutate(web, make_update("adGroup", group, "cpcBidMicros", cpcBidMicros="900000")))
    read_resource_names(
        await mutate(web, make_update("adGroupCriterion", keyword, "cpcBidMicros", cpcBidMicros="910000"))
    )
    read_resource_names(await mutate(web, make_update("campaign", campaign, "targetSpend", targetSpend={})))
    assert await search_rows(web, query) == [{"campaign": {"biddingStrategyType": "TARGET_SPEND"}}]
    ceiling = make_update(
        "campaign", campaign, "targetSpend.cpcBidCeilingMicros", targetSpend={"cpcBidCeilingMicros": "990000"}
    )
    read_resource_names(await mutate(web, ceiling))
    assert await search_rows(web, query) == [
        {"campaign": {"biddingStrategyType": "TARGET_SPEND", "targetSpend": {"cpcBidCeilingMicros": "990000"}}}
    ]
    for operation, code in (
        (make_update("adGroup", group, "cpcBidMicros", cpcBidMicros="920000"),
         "adGroupError.BID_TYPE_AND_BIDDING_STRATEGY_MISMATCH"),
        (make_update("adGroupCriterion", keyword, "cpcBidMicros", cpcBidMicros="920000"),
         "adGroupCriterionError.BID_INCOMPATIBLE_WITH_ADGROUP"),
    ):  # fmt: skip
        assert read_refusal(await mutate(web, operation))["code"] == code
    roas = make_update(
        "campaign", campaign, "maximizeConversionValue.targetRoas", maximizeConversionValue={"targetRoas": 2.5}
    )
    read_resource_names(await mutate(web, roas))
    assert await search_rows(web, "SELECT campaign.maximize_conversion_value.target_roas FROM campaign") == [
        {"campaign": {"maximizeConversionValue": {"targetRoas": 2.5}}}]  # fmt: skip


async def test_budgets_and_dates_change(web: httpx.AsyncClient, clock: Clock) -> None:
    budget, campaign, *_ = read_resource_names(await send(web, CREATE))
    read_resource_names(
        await mutate(web, make_update("campaignBudget", budget, "amountMicros", amountMicros="20000000"))
    )
    refused = read_refusal(
        await mutate(web, make_update("campaignBudget", budget, "amountMicros", amountMicros="20000001"))
    )
    assert refused["code"] == "campaignBudgetError.NON_MULTIPLE_OF_MINIMUM_CURRENCY_UNIT"
    later = make_update("campaign", campaign, "startDateTime", startDateTime="2027-03-05 00:00:00")
    read_resource_names(await mutate(web, later))
    clock.instant = datetime(2027, 3, 6, 12, tzinfo=UTC)
    await log_in(web)
    started = make_update("campaign", campaign, "startDateTime", startDateTime="2027-03-09 00:00:00")
    assert (
        read_refusal(await mutate(web, started))["code"] == "campaignError.CANNOT_MODIFY_START_DATE_IF_ALREADY_STARTED"
    )
    past = make_update("campaign", campaign, "endDateTime", endDateTime="2027-03-05 23:59:59")
    assert read_refusal(await mutate(web, past))["code"] == "campaignError.CANNOT_SET_DATE_TO_PAST"
    read_resource_names(
        await mutate(web, make_update("campaign", campaign, "endDateTime", endDateTime="2027-03-06 23:59:59"))
    )
    query = "SELECT campaign_budget.amount_micros, campaign.start_date_time, campaign.end_date_time FROM campaign"
    assert await search_rows(web, query) == [{
        "campaignBudget": {"amountMicros": "20000000"},
        "campaign": {"startDateTime": "2027-03-05 00:00:00", "endDateTime": "2027-03-06 23:59:59"}}]  # fmt: skip


async def test_an_ad_is_edited_as_an_ad_and_reviewed_again(web: httpx.AsyncClient, clock: Clock) -> None:
    *_, ad = read_resource_names(await send(web, CREATE))
    name = f"customers/{US}/ads/{ad.rpartition('~')[2]}"
    query = """SELECT ad_group_ad.ad.responsive_search_ad.headlines, ad_group_ad.policy_summary.review_status
        FROM ad_group_ad"""
    clock.instant += timedelta(minutes=5)
    (row,) = await search_rows(web, query)
    assert row["adGroupAd"]["policySummary"] == {"reviewStatus": "REVIEWED"}
    headlines = make_texts("One", "Two", "Three")
    edit = make_update("ad", name, "responsiveSearchAd.headlines", responsiveSearchAd={"headlines": headlines})
    assert (await mutate(web, edit)).json()["mutateOperationResponses"][0].keys() == {"adResult"}
    assert await search_rows(web, query) == [{"adGroupAd": {
        "ad": {"responsiveSearchAd": {"headlines": headlines}},
        "policySummary": {"reviewStatus": "REVIEW_IN_PROGRESS"}}}]  # fmt: skip
    for operation, code in (
        (make_update("ad", name, "responsiveSearchAd.headlines"), "fieldError.FIELD_CANNOT_BE_CLEARED"),
        (make_update("ad", name, "finalUrls", finalUrls=["x"]), "urlFieldError.MISSING_PROTOCOL_IN_FINAL_URL"),
        (
            make_update("adGroupAd", ad, "ad.finalUrls", ad={"finalUrls": ["https://x.test"]}),
            "fieldError.IMMUTABLE_FIELD",
        ),
    ):
        assert read_refusal(await mutate(web, operation))["code"] == code
    assert [write["kind"] for write in await list_writes(web)][-1] == "ad"


async def test_conversion_goals(web: httpx.AsyncClient) -> None:
    _, campaign, *_ = read_resource_names(await send(web, CREATE))
    number = campaign.rpartition("/")[2]
    query = f"""SELECT campaign_conversion_goal.resource_name, campaign_conversion_goal.category,
        campaign_conversion_goal.origin, campaign_conversion_goal.biddable
        FROM campaign_conversion_goal WHERE campaign.id = {number}"""
    goals = {
        row["campaignConversionGoal"]["resourceName"].rpartition("/")[2]: row for row in await search_rows(web, query)
    }
    assert goals.keys() == {f"{number}~PURCHASE~WEBSITE", f"{number}~SIGNUP~WEBSITE",
                            f"{number}~PHONE_CALL_LEAD~CALL_FROM_ADS"}  # fmt: skip
    name = f"customers/{US}/campaignConversionGoals/{number}~SIGNUP~WEBSITE"
    read_resource_names(await mutate(web, make_update("campaignConversionGoal", name, "biddable", biddable=False)))
    biddable_goals = [row["campaignConversionGoal"].get("biddable", False) for row in await search_rows(web, query)]
    assert sorted(biddable_goals) == [False, True, True]
    unknown = make_update("campaignConversionGoal", name.replace("SIGNUP", "CONTACT"), "biddable", biddable=False)
    assert read_refusal(await mutate(web, unknown))["code"] == "mutateError.RESOURCE_NOT_FOUND"


async def test_an_undeclared_campaign_takes_no_locations(web: httpx.AsyncClient) -> None:
    web.headers["login-customer-id"] = DIRECT
    (row,) = await search_rows(
        web, "SELECT campaign.resource_name, campaign.contains_eu_political_advertising FROM campaign", DIRECT
    )
    campaign = row["campaign"].pop("resourceName")
    assert row == {"campaign": {}}
    place = {"campaignCriterionOperation": {"create": {
        "campaign": campaign, "location": {"geoTargetConstant": "geoTargetConstants/2578"}}}}  # fmt: skip
    refused = read_refusal(await mutate(web, place, customer=DIRECT))
    assert refused["code"] == "criterionError.MISSING_EU_POLITICAL_ADVERTISING_SELF_DECLARATION"
    declared = make_update("campaign", campaign, "containsEuPoliticalAdvertising", containsEuPoliticalAdvertising=EU)
    read_resource_names(await mutate(web, declared, place, customer=DIRECT))


async def test_removal_is_final(web: httpx.AsyncClient) -> None:
    budget, campaign, criterion, group, keyword, ad = read_resource_names(await send(web, CREATE))
    read_resource_names(await mutate(web, {"campaignCriterionOperation": {"remove": criterion}}))
    assert await search_rows(web, "SELECT campaign_criterion.resource_name FROM campaign_criterion") == []
    read_resource_names(
        await mutate(web, {"adGroupCriterionOperation": {"remove": keyword}}, {"adGroupAdOperation": {"remove": ad}})
    )
    read_resource_names(await mutate(web, {"campaignOperation": {"remove": campaign}}))
    query = "SELECT campaign.status, campaign_budget.status, campaign_budget.reference_count FROM campaign"
    assert await search_rows(web, query) == [
        {"campaign": {"status": "REMOVED"}, "campaignBudget": {"status": "REMOVED"}}]  # fmt: skip
    denied = "operationAccessDeniedError.OPERATION_NOT_PERMITTED_FOR_REMOVED_RESOURCE"
    for operation in (
        make_update("campaign", campaign, "status", status="ENABLED"),
        {"campaignOperation": {"remove": campaign}},
        {"adGroupOperation": {"create": {"campaign": campaign, "name": "Late"}}},
        {"campaignBudgetOperation": {"remove": budget}},
    ):
        assert read_refusal(await mutate(web, operation))["code"] == denied
    assert read_refusal(await mutate(web, {"campaignCriterionOperation": {"remove": criterion}}))["code"] == (
        "mutateError.RESOURCE_NOT_FOUND")  # fmt: skip
    assert (await search_rows(web, "SELECT ad_group.resource_name, ad_group.status FROM ad_group")) == [
        {"adGroup": {"resourceName": group, "status": "PAUSED"}}]  # fmt: skip


async def test_the_same_resource_stands_once_in_a_request(web: httpx.AsyncClient) -> None:
    _, campaign, *_ = read_resource_names(await send(web, CREATE))
    twice = [make_update("campaign", campaign, "status", status=status) for status in ("ENABLED", "PAUSED")]
    assert read_refusal(await mutate(web, *twice))["code"] == "mutateError.ID_EXISTS_IN_MULTIPLE_MUTATES"
    assert await search_rows(web, "SELECT campaign.status FROM campaign") == [{"campaign": {"status": "PAUSED"}}]


async def test_an_ad_group_has_three_enabled_ads_at_most(web: httpx.AsyncClient) -> None:
    *_, group, _, ad = read_resource_names(await send(web, CREATE))
    create = copy.deepcopy(CREATE["mutateOperations"][AD])
    create["adGroupAdOperation"]["create"] |= {"adGroup": group, "status": "ENABLED"}
    read_resource_names(await mutate(web, create, create, create))
    refused = read_refusal(await mutate(web, make_update("adGroupAd", ad, "status", status="ENABLED")))
    assert refused["code"] == "resourceCountLimitExceededError.AD_GROUP_AD_LIMIT"


async def test_native_criteria_of_every_allowed_kind(web: httpx.AsyncClient) -> None:
    _, campaign, *_ = read_resource_names(await send(web, CREATE))
    point = {"longitudeInMicroDegrees": 5322054, "latitudeInMicroDegrees": 60391263}
    kinds: list[tuple[dict[str, Any], str]] = [
        ({"location": {"geoTargetConstant": "geoTargetConstants/1010826"}, "negative": True}, "LOCATION"),
        ({"language": {"languageConstant": "languageConstants/1013"}}, "LANGUAGE"),
        ({"proximity": {"geoPoint": point, "radius": 12.5, "radiusUnits": "KILOMETERS"}}, "PROXIMITY"),
        ({"device": {"type": "MOBILE"}, "bidModifier": 1.2}, "DEVICE"),
        ({"adSchedule": {"startMinute": "ZERO", "endMinute": "ZERO", "startHour": 8, "endHour": 18,
                         "dayOfWeek": "MONDAY"}}, "AD_SCHEDULE"),
        ({"ageRange": {"type": "AGE_RANGE_25_34"}}, "AGE_RANGE"),
        ({"gender": {"type": "FEMALE"}, "negative": True}, "GENDER"),
        ({"ipBlock": {"ipAddress": "192.0.2.0/24"}, "negative": True}, "IP_BLOCK"),
    ]  # fmt: skip
    operations = [
        {"campaignCriterionOperation": {"create": {"campaign": campaign, **criterion}}} for criterion, _ in kinds
    ]
    read_resource_names(await mutate(web, *operations))
    query = "SELECT campaign_criterion.type FROM campaign_criterion WHERE campaign_criterion.criterion_id != 2578"
    assert [row["campaignCriterion"]["type"] for row in await search_rows(web, query)] == [kind for _, kind in kinds]
    for wrong, code in (
        ({"proximity": {"geoPoint": point, "radius": 0}}, "criterionError.INVALID_PROXIMITY_RADIUS"),
        ({"ipBlock": {"ipAddress": "nowhere"}}, "criterionError.INVALID_IP_ADDRESS"),
        ({"language": {"languageConstant": "languageConstants/1000"}, "negative": True},
         "campaignCriterionError.CANNOT_EXCLUDE_CRITERIA_TYPE"),
        ({"location": {"geoTargetConstant": "geoTargetConstants/2840"}, "gender": {"type": "MALE"}},
         "fieldError.INVALID_VALUE"),
    ):  # fmt: skip
        operation = {"campaignCriterionOperation": {"create": {"campaign": campaign, **wrong}}}
        assert read_refusal(await mutate(web, operation))["code"] == code


async def test_total_budgets_need_an_end(web: httpx.AsyncClient) -> None:
    total = change_example(BUDGET, period="CUSTOM_PERIOD", totalAmountMicros="90000000")
    wrong = "campaignBudgetError.BUDGET_AMOUNT_MUST_BE_UNSET_FOR_CUSTOM_BUDGET_PERIOD"
    assert read_refusal(await send(web, total))["code"] == wrong
    del total["mutateOperations"][BUDGET]["campaignBudgetOperation"]["create"]["amountMicros"]
    endless = copy.deepcopy(total)
    del endless["mutateOperations"][CAMPAIGN]["campaignOperation"]["create"]["endDateTime"]
    assert read_refusal(await send(web, endless))["code"] == "campaignError.END_DATE_TIME_REQUIRED_FOR_TOTAL_BUDGET"
    read_resource_names(await send(web, total))
    query = "SELECT campaign_budget.period, campaign_budget.total_amount_micros FROM campaign"
    assert await search_rows(web, query) == [
        {"campaignBudget": {"period": "CUSTOM_PERIOD", "totalAmountMicros": "90000000"}}
    ]


async def test_a_portfolio_strategy_exists_unless_its_name_is_malformed(web: httpx.AsyncClient) -> None:
    _, campaign, *_ = read_resource_names(await send(web, CREATE))
    portfolio = f"customers/{US}/biddingStrategies/55"
    read_resource_names(
        await mutate(web, make_update("campaign", campaign, "biddingStrategy", biddingStrategy=portfolio))
    )
    query = "SELECT campaign.bidding_strategy, campaign.bidding_strategy_type FROM campaign"
    assert await search_rows(web, query) == [
        {"campaign": {"biddingStrategy": portfolio, "biddingStrategyType": "TARGET_SPEND"}}
    ]
    wrong = make_update("campaign", campaign, "biddingStrategy", biddingStrategy="55")
    assert read_refusal(await mutate(web, wrong))["code"] == "fieldError.INVALID_VALUE"


async def test_primary_status(web: httpx.AsyncClient, clock: Clock) -> None:
    _, campaign, _, group, _, _ = read_resource_names(await send(web, CREATE))

    async def read_primary_status() -> str:
        (row,) = await search_rows(web, "SELECT campaign.primary_status FROM campaign")
        return str(row["campaign"]["primaryStatus"])

    assert await read_primary_status() == "PAUSED"
    read_resource_names(await mutate(web, make_update("campaign", campaign, "status", status="ENABLED")))
    assert await read_primary_status() == "PENDING"
    clock.instant = datetime(2027, 3, 2, tzinfo=UTC)
    await log_in(web)
    assert await read_primary_status() == "NOT_ELIGIBLE"
    read_resource_names(await mutate(web, make_update("adGroup", group, "status", status="ENABLED")))
    assert await read_primary_status() == "ELIGIBLE"
    clock.instant = datetime(2027, 4, 2, tzinfo=UTC)
    await log_in(web)
    assert await read_primary_status() == "ENDED"
