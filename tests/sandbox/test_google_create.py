"""The simulated Google Ads API: the create and the activation of the documentation, and what is refused."""

import copy
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from tests.sandbox.google_calls import (
    AD,
    ADS,
    BUDGET,
    CAMPAIGN,
    CREATE,
    CRITERION,
    EU,
    GROUP,
    JAPAN,
    KEYWORD,
    US,
    Clock,
    change_example,
    get_ids,
    list_writes,
    log_in,
    make_texts,
    mutate,
    read_refusal,
    read_resource_names,
    search_rows,
    send,
)


async def test_the_create_of_the_documentation(web: httpx.AsyncClient) -> None:
    answer = await send(web, CREATE)
    assert [next(iter(result)) for result in answer.json()["mutateOperationResponses"]] == [
        "campaignBudgetResult", "campaignResult", "campaignCriterionResult", "adGroupResult", "adGroupCriterionResult",
        "adGroupAdResult"]  # fmt: skip
    assert answer.headers["request-id"]
    budget, campaign, criterion, group, keyword, ad = get_ids(read_resource_names(answer))
    assert criterion == f"{campaign}~2578"
    assert keyword.startswith(f"{group}~")
    assert ad.startswith(f"{group}~")
    logged = await list_writes(web)
    assert [(write["kind"], write["id"]) for write in logged] == [
        ("budget", budget), ("campaign", campaign), ("criterion", criterion), ("adGroup", group), ("keyword", keyword),
        ("ad", ad)]  # fmt: skip
    assert {(write["request"], write["method"], write["path"]) for write in logged} == {
        ("1", "POST", f"/v26/customers/{US}/googleAds:mutate")}  # fmt: skip


async def test_activation_of_the_documentation(web: httpx.AsyncClient) -> None:
    _, campaign, _, group, keyword, ad = read_resource_names(await send(web, CREATE))
    body = json.loads(
        """
{"mutateOperations": [
 {"adGroupCriterionOperation": {"updateMask": "status", "update": {"resourceName": "KEYWORD", "status": "ENABLED"}}},
 {"adGroupAdOperation": {"updateMask": "status", "update": {"resourceName": "AD", "status": "ENABLED"}}},
 {"adGroupOperation": {"updateMask": "status", "update": {"resourceName": "GROUP", "status": "ENABLED"}}},
 {"campaignOperation": {"updateMask": "status", "update": {"resourceName": "CAMPAIGN", "status": "ENABLED"}}}]}
""".replace("KEYWORD", keyword)
        .replace("AD", ad)
        .replace("GROUP", group)
        .replace("CAMPAIGN", campaign)
    )
    assert read_resource_names(await send(web, body)) == [keyword, ad, group, campaign]
    query = "SELECT ad_group_criterion.status, ad_group.status, campaign.status, campaign.primary_status"
    assert await search_rows(web, f"{query} FROM ad_group_criterion") == [{
        "adGroupCriterion": {"status": "ENABLED"}, "adGroup": {"status": "ENABLED"},
        "campaign": {"status": "ENABLED", "primaryStatus": "PENDING"}}]  # fmt: skip
    assert {write["kind"] for write in await list_writes(web) if write["request"] == "2"} == {
        "keyword",
        "ad",
        "adGroup",
        "campaign",
    }


async def test_native_defaults(web: httpx.AsyncClient) -> None:
    answer = await mutate(
        web,
        {"campaignBudgetOperation": {"create": {
            "resourceName": f"customers/{US}/campaignBudgets/-1", "name": "Ours", "amountMicros": "10000"}}},
        {"campaignOperation": {"create": {
            "resourceName": f"customers/{US}/campaigns/-2", "name": "Bare", "advertisingChannelType": "SEARCH",
            "campaignBudget": f"customers/{US}/campaignBudgets/-1", "targetSpend": {},
            "containsEuPoliticalAdvertising": EU}}},
        {"adGroupOperation": {"create": {"campaign": f"customers/{US}/campaigns/-2", "name": "Bare"}}},
    )  # fmt: skip
    read_resource_names(answer)
    (row,) = await search_rows(web, """
        SELECT ad_group.status, ad_group.type, campaign.status, campaign.start_date_time, campaign.end_date_time,
          campaign.bidding_strategy_type, campaign.geo_target_type_setting.positive_geo_target_type,
          campaign.network_settings.target_search_network, campaign.network_settings.target_partner_search_network,
          campaign_budget.explicitly_shared, campaign_budget.reference_count, campaign_budget.period
        FROM ad_group""")  # fmt: skip
    assert row == {
        "adGroup": {"status": "ENABLED", "type": "SEARCH_STANDARD"},
        "campaign": {
            "status": "ENABLED", "startDateTime": "2027-02-10 00:00:00", "biddingStrategyType": "TARGET_SPEND",
            "geoTargetTypeSetting": {"positiveGeoTargetType": "PRESENCE_OR_INTEREST"},
            "networkSettings": {"targetSearchNetwork": True}},
        "campaignBudget": {"explicitlyShared": True, "referenceCount": "1", "period": "DAILY"},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("body", "code", "path"),
    [
        # protobuf JSON
        (change_example(CAMPAIGN, startDate="2027-03-01"), "fieldError.INVALID_VALUE", "create.start_date"),
        (change_example(CAMPAIGN, status="ACTIVE"), "requestError.INVALID_ENUM_VALUE", "create.status"),
        (change_example(CAMPAIGN, status=2), "requestError.INVALID_ENUM_VALUE", "create.status"),
        (change_example(CAMPAIGN, targetSpend={}), "fieldError.INVALID_VALUE", "create.target_spend"),
        (change_example(CAMPAIGN, manualCpc=True), "fieldError.INVALID_VALUE", "create.manual_cpc"),
        (change_example(CAMPAIGN, name=["x"]), "fieldError.INVALID_VALUE", "create.name"),
        (change_example(BUDGET, amountMicros=12340000), "fieldError.INVALID_VALUE", "create.amount_micros"),
        (change_example(BUDGET, amountMicros="12.5"), "fieldError.INVALID_VALUE", "create.amount_micros"),
        (
            change_example(BUDGET, amountMicros="9223372036854775808"),
            "fieldError.INVALID_VALUE",
            "create.amount_micros",
        ),
        (change_example(BUDGET, explicitlyShared="false"), "fieldError.INVALID_VALUE", "create.explicitly_shared"),
        (
            change_example(AD, ad={"finalUrls": "https://shop.example"}),
            "fieldError.INVALID_VALUE",
            "create.ad.final_urls",
        ),
        ({"mutateOperations": [{}]}, "requestError.OPERATION_REQUIRED", "mutate_operations"),
        (
            {"mutateOperations": [{"campaignOperation": {}}]},
            "requestError.OPERATION_REQUIRED",
            "mutate_operations.campaign_operation",
        ),
        ({"mutateOperations": []}, "requestError.REQUIRED_FIELD_MISSING", "mutate_operations"),
        ({"customerId": US, **CREATE}, "fieldError.INVALID_VALUE", "customer_id"),
        # required, output only
        (change_example(BUDGET, amountMicros=None), "fieldError.REQUIRED", "create.amount_micros"),
        (change_example(BUDGET, id="5"), "fieldError.VALUE_MUST_BE_UNSET", "create.id"),
        (change_example(BUDGET, explicitlyShared=None), "fieldError.REQUIRED", "create.name"),
        (change_example(CAMPAIGN, name=None), "fieldError.REQUIRED", "create.name"),
        (change_example(CAMPAIGN, name=""), "fieldError.REQUIRED", "create.name"),
        (change_example(CAMPAIGN, campaignBudget=None), "fieldError.REQUIRED", "create.campaign_budget"),
        (
            change_example(CAMPAIGN, advertisingChannelType=None),
            "fieldError.REQUIRED",
            "create.advertising_channel_type",
        ),
        (change_example(CAMPAIGN, manualCpc=None), "fieldError.REQUIRED", "create.campaign_bidding_strategy"),
        (
            change_example(CAMPAIGN, containsEuPoliticalAdvertising=None),
            "fieldError.REQUIRED",
            "create.contains_eu_political_advertising",
        ),
        (change_example(CRITERION, location=None), "campaignCriterionError.CONCRETE_TYPE_REQUIRED", "create.criterion"),
        (change_example(GROUP, campaign=None), "fieldError.REQUIRED", "create.campaign"),
        (change_example(KEYWORD, keyword={"text": "chair"}), "fieldError.REQUIRED", "create.keyword.match_type"),
        (change_example(AD, ad=None), "fieldError.REQUIRED", "create.ad"),
        # money
        (
            change_example(BUDGET, amountMicros="12345000"),
            "campaignBudgetError.NON_MULTIPLE_OF_MINIMUM_CURRENCY_UNIT",
            "create.amount_micros",
        ),
        (
            change_example(BUDGET, amountMicros="-10000"),
            "campaignBudgetError.NEGATIVE_MONEY_AMOUNT",
            "create.amount_micros",
        ),
        (
            change_example(BUDGET, amountMicros="100000000000010000"),
            "campaignBudgetError.MONEY_AMOUNT_TOO_LARGE",
            "create.amount_micros",
        ),
        (
            change_example(BUDGET, totalAmountMicros="10000"),
            "campaignBudgetError.TOTAL_BUDGET_AMOUNT_MUST_BE_UNSET_FOR_BUDGET_PERIOD_DAILY",
            "create.total_amount_micros",
        ),
        (
            change_example(GROUP, cpcBidMicros="855000"),
            "currencyError.VALUE_NOT_MULTIPLE_OF_BILLABLE_UNIT",
            "create.cpc_bid_micros",
        ),
        (change_example(GROUP, cpcBidMicros="0"), "rangeError.TOO_LOW", "create.cpc_bid_micros"),
        (change_example(GROUP, cpcBidMicros="100000000000010000"), "adGroupError.BID_TOO_BIG", "create.cpc_bid_micros"),
        (
            change_example(CAMPAIGN, manualCpc=None, targetSpend={}),
            "adGroupError.BID_TYPE_AND_BIDDING_STRATEGY_MISMATCH",
            "create.cpc_bid_micros",
        ),
        (
            change_example(CAMPAIGN, manualCpc={"enhancedCpcEnabled": True}),
            "fieldError.VALUE_MUST_BE_UNSET",
            "create.manual_cpc.enhanced_cpc_enabled",
        ),
        (
            change_example(CAMPAIGN, manualCpc=None, targetSpend={"targetSpendMicros": "10000"}),
            "fieldError.VALUE_MUST_BE_UNSET",
            "create.target_spend.target_spend_micros",
        ),
        # dates
        (
            change_example(CAMPAIGN, startDateTime="2027-03-01"),
            "dateError.INVALID_STRING_DATE_TIME_SECONDS",
            "create.start_date_time",
        ),
        (
            change_example(CAMPAIGN, startDateTime="2027-02-30 00:00:00"),
            "dateError.INVALID_FIELD_VALUES_IN_DATE_TIME",
            "create.start_date_time",
        ),
        (
            change_example(CAMPAIGN, startDateTime="2027-03-01 08:00:00"),
            "dateError.DATE_RANGE_ERROR_START_TIME_MUST_BE_THE_START_OF_A_DAY",
            "create.start_date_time",
        ),
        (
            change_example(CAMPAIGN, endDateTime="2027-03-31 00:00:00"),
            "dateError.DATE_RANGE_ERROR_END_TIME_MUST_BE_THE_END_OF_A_DAY",
            "create.end_date_time",
        ),
        (
            change_example(CAMPAIGN, startDateTime="2027-02-09 00:00:00"),
            "campaignError.CANNOT_SET_DATE_TO_PAST",
            "create.start_date_time",
        ),
        (
            change_example(CAMPAIGN, endDateTime="2027-02-28 23:59:59"),
            "dateRangeError.START_DATE_AFTER_END_DATE",
            "create.end_date_time",
        ),
        # names and channels
        (change_example(CAMPAIGN, name="Two\nlines"), "campaignError.INVALID_CAMPAIGN_NAME", "create.name"),
        (change_example(CAMPAIGN, name="x" * 256), "stringLengthError.TOO_LONG", "create.name"),
        (change_example(GROUP, name="x" * 255), "stringLengthError.TOO_LONG", "create.name"),
        (
            change_example(CAMPAIGN, status="REMOVED"),
            "operationAccessDeniedError.CREATE_AS_REMOVED_NOT_PERMITTED",
            "create.status",
        ),
        (
            change_example(CAMPAIGN, networkSettings={"targetGoogleSearch": False}),
            "campaignError.CANNOT_TARGET_SEARCH_NETWORK_WITHOUT_GOOGLE_SEARCH",
            "create.network_settings.target_search_network",
        ),
        (
            change_example(GROUP, type="DISPLAY_STANDARD"),
            "adGroupError.AD_GROUP_TYPE_NOT_VALID_FOR_ADVERTISING_CHANNEL_TYPE",
            "create.type",
        ),
        # targeting and keywords
        (
            change_example(CRITERION, location={"geoTargetConstant": "2578"}),
            "requestError.RESOURCE_NAME_MALFORMED",
            "create.location.geo_target_constant",
        ),
        (
            change_example(CRITERION, location={"geoTargetConstant": "geoTargetConstants/2999"}),
            "criterionError.CANNOT_TARGET_CRITERION",
            "create.location.geo_target_constant",
        ),
        (
            change_example(CRITERION, location=None, language={"languageConstant": "languageConstants/1999"}),
            "criterionError.CANNOT_TARGET_LANGUAGE",
            "create.language.language_constant",
        ),
        (
            change_example(KEYWORD, keyword={"text": "x" * 81, "matchType": "EXACT"}),
            "criterionError.KEYWORD_TEXT_TOO_LONG",
            "create.keyword.text",
        ),
        (
            change_example(KEYWORD, keyword={"text": "a b c d e f g h i j k", "matchType": "EXACT"}),
            "criterionError.KEYWORD_HAS_TOO_MANY_WORDS",
            "create.keyword.text",
        ),
        (
            change_example(KEYWORD, keyword={"text": "50% off", "matchType": "EXACT"}),
            "criterionError.KEYWORD_HAS_INVALID_CHARS",
            "create.keyword.text",
        ),
        # names of resources
        (
            change_example(CAMPAIGN, campaignBudget=f"customers/{US}/campaignBudgets/-9"),
            "mutateError.RESOURCE_NOT_FOUND",
            "create.campaign_budget",
        ),
        (
            change_example(CAMPAIGN, campaignBudget=f"customers/{JAPAN}/campaignBudgets/-1"),
            "mutateError.RESOURCE_NOT_FOUND",
            "create.campaign_budget",
        ),
        (
            change_example(CAMPAIGN, campaignBudget="77"),
            "requestError.RESOURCE_NAME_MALFORMED",
            "create.campaign_budget",
        ),
        (
            change_example(CAMPAIGN, resourceName=f"customers/{US}/campaigns/-1"),
            "mutateError.ID_EXISTS_IN_MULTIPLE_MUTATES",
            "create.resource_name",
        ),
        (
            change_example(CAMPAIGN, resourceName=f"customers/{US}/campaigns/5"),
            "requestError.BAD_RESOURCE_ID",
            "create.resource_name",
        ),
    ],
)
async def test_creates_are_refused_and_leave_no_trace(
    web: httpx.AsyncClient, body: dict[str, Any], code: str, path: str
) -> None:
    answer = await send(web, body)
    refusal = read_refusal(answer)
    assert (answer.status_code, refusal["status"]) == (
        (404, "NOT_FOUND") if code == "mutateError.RESOURCE_NOT_FOUND" else (400, "INVALID_ARGUMENT"))  # fmt: skip
    assert refusal["code"] == code
    assert ".".join(element["fieldName"] for element in refusal["location"]["fieldPathElements"]).endswith(path)
    assert await list_writes(web) == []
    assert await search_rows(web, "SELECT campaign.id FROM campaign") == []


def make_ad(**members: Any) -> dict[str, Any]:
    """The documented create with other members in the ad; `finalUrls`, or those of the responsive search ad."""
    body = copy.deepcopy(CREATE)
    ad = body["mutateOperations"][AD]["adGroupAdOperation"]["create"]["ad"]
    for name, value in members.items():
        (ad if name == "finalUrls" else ad["responsiveSearchAd"])[name] = value
    return body


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (make_ad(headlines=make_texts("a", "b")), "collectionSizeError.TOO_FEW"),
        (make_ad(headlines=make_texts(*map(str, range(16)))), "collectionSizeError.TOO_MANY"),
        (make_ad(descriptions=make_texts("a")), "collectionSizeError.TOO_FEW"),
        (make_ad(headlines=make_texts("a", "b", "c" * 31)), "adError.LINE_TOO_WIDE"),
        (make_ad(headlines=make_texts("a", "b", "椅" * 16)), "adError.LINE_TOO_WIDE"),
        (make_ad(descriptions=make_texts("a", "b" * 91)), "adError.LINE_TOO_WIDE"),
        (make_ad(headlines=make_texts("a", "b", "a")), "assetError.DUPLICATE_ASSET"),
        (make_ad(headlines=make_texts("a", "b", " ")), "adError.EMPTY_FIELD"),
        (make_ad(path1="x" * 16), "adError.LINE_TOO_WIDE"),
        (make_ad(path2="x"), "adError.CANNOT_SET_PATH2_WITHOUT_PATH1"),
        (make_ad(finalUrls=[]), "fieldError.REQUIRED_NONEMPTY_LIST"),
        (make_ad(finalUrls=["shop.example"]), "urlFieldError.MISSING_PROTOCOL_IN_FINAL_URL"),
        (make_ad(finalUrls=["ftp://shop.example"]), "urlFieldError.INVALID_PROTOCOL_IN_FINAL_URL"),
        (make_ad(finalUrls=["https:///x"]), "urlFieldError.MISSING_HOST_IN_FINAL_URL"),
        (make_ad(finalUrls=["https://shop.example/" + "x" * 2048]), "urlFieldError.MALFORMED_FINAL_URL"),
        (make_ad(headlines=make_texts("a", "b", "Ineligible")), "policyFindingError.POLICY_FINDING"),
    ],
)
async def test_ads_are_refused(web: httpx.AsyncClient, body: dict[str, Any], code: str) -> None:
    refusal = read_refusal(await send(web, body))
    assert refusal["code"] == code
    assert refusal["location"]["fieldPathElements"][0] == {"fieldName": "mutate_operations", "index": AD}
    if "policy" in code:
        assert refusal["details"]["policyFindingDetails"]["policyTopicEntries"][0]["type"] == "PROHIBITED"
    assert (
        await send(web, make_ad(headlines=make_texts("a", "b", "椅" * 15), path1="x", path2="y"))
    ).status_code == 200


async def test_the_first_index_is_left_out_of_a_location_and_a_trigger_names_the_value(web: httpx.AsyncClient) -> None:
    read_resource_names(await send(web, CREATE))
    refusal = read_refusal(await send(web, CREATE))
    assert {name: refusal[name] for name in ("errorCode", "message", "trigger", "location")} == {
        "errorCode": {"campaignError": "DUPLICATE_CAMPAIGN_NAME"},
        "message": "A campaign with this name already exists.",
        "trigger": {"stringValue": "Garden chairs autumn"},
        "location": {"fieldPathElements": [{"fieldName": "mutate_operations", "index": 1},
                                           {"fieldName": "campaign_operation"}, {"fieldName": "create"},
                                           {"fieldName": "name"}]},
    }  # fmt: skip
    zero = read_refusal(await send(web, change_example(BUDGET, amountMicros="0")))
    assert zero["location"]["fieldPathElements"][0] == {"fieldName": "mutate_operations"}
    assert zero["details"]["budgetPerDayMinimumErrorDetails"]["budgetPerDayMinimumMicros"] == "10000"
    assert zero["code"] == "campaignBudgetError.BUDGET_BELOW_PER_DAY_MINIMUM"


async def test_the_billable_unit_is_the_currencys(web: httpx.AsyncClient) -> None:
    body = json.loads(json.dumps(CREATE).replace(US, JAPAN))
    refused = read_refusal(await send(web, body, JAPAN))
    assert refused["code"] == "campaignBudgetError.NON_MULTIPLE_OF_MINIMUM_CURRENCY_UNIT"
    body = json.loads(json.dumps(body).replace("12340000", "1234000000").replace("850000", "85000000"))
    read_resource_names(await send(web, body, JAPAN))
    query = "SELECT currency_constant.code, currency_constant.billable_unit_micros FROM currency_constant WHERE"
    for code, unit in (("USD", "10000"), ("JPY", "1000000")):
        assert await search_rows(web, f"{query} currency_constant.code = '{code}'") == [
            {"currencyConstant": {"code": code, "billableUnitMicros": unit}}]  # fmt: skip


async def test_today_is_the_accounts_day(web: httpx.AsyncClient, clock: Clock) -> None:
    clock.instant = datetime(2027, 2, 11, 3, tzinfo=UTC)  # the 10th in New York, the 11th in Tokyo
    await log_in(web)
    read_resource_names(await send(web, change_example(CAMPAIGN, startDateTime="2027-02-10 00:00:00")))
    body = json.loads(
        json.dumps(change_example(CAMPAIGN, startDateTime="2027-02-10 00:00:00"))
        .replace(US, JAPAN).replace("12340000", "1000000").replace("850000", "1000000")
    )  # fmt: skip
    assert read_refusal(await send(web, body, JAPAN))["code"] == "campaignError.CANNOT_SET_DATE_TO_PAST"


async def test_temporary_names_are_defined_before_use_and_forgotten_afterwards(web: httpx.AsyncClient) -> None:
    body = copy.deepcopy(CREATE)
    body["mutateOperations"].reverse()
    assert read_refusal(await send(web, body))["code"] == "mutateError.RESOURCE_NOT_FOUND"
    read_resource_names(await send(web, CREATE))
    late = {"adGroupOperation": {"create": {"campaign": f"customers/{US}/campaigns/-2", "name": "Late"}}}
    assert read_refusal(await mutate(web, late))["code"] == "mutateError.RESOURCE_NOT_FOUND"


async def test_duplicates_are_refused(web: httpx.AsyncClient) -> None:
    budget, campaign, _, group, _, _ = read_resource_names(await send(web, CREATE))
    again = [
        ({"campaignCriterionOperation": {"create": {
            "campaign": campaign, "location": {"geoTargetConstant": "geoTargetConstants/2578"}}}},
         "mutateError.RESOURCE_ALREADY_EXISTS"),
        ({"campaignCriterionOperation": {"create": {
            "campaign": campaign, "negative": True, "location": {"geoTargetConstant": "geoTargetConstants/2578"}}}},
         "campaignCriterionError.CANNOT_TARGET_AND_EXCLUDE"),
        ({"adGroupOperation": {"create": {"campaign": campaign, "name": "Garden chairs autumn"}}},
         "adGroupError.DUPLICATE_ADGROUP_NAME"),
        ({"adGroupCriterionOperation": {"create": {
            "adGroup": group, "keyword": {"text": "Folding garden chair", "matchType": "PHRASE"}}}},
         "mutateError.RESOURCE_ALREADY_EXISTS"),
        ({"campaignOperation": {"create": {
            "name": "Other", "advertisingChannelType": "SEARCH", "campaignBudget": budget, "targetSpend": {},
            "containsEuPoliticalAdvertising": EU}}},
         "campaignBudgetError.CANNOT_USE_IMPLICITLY_SHARED_CAMPAIGN_BUDGET_WITH_MULTIPLE_CAMPAIGNS"),
        ({"campaignBudgetOperation": {"remove": budget}}, "campaignBudgetError.CAMPAIGN_BUDGET_IN_USE"),
    ]  # fmt: skip
    for operation, code in again:
        assert read_refusal(await mutate(web, operation))["code"] == code
    other = {"adGroup": group, "keyword": {"text": "folding garden chair", "matchType": "EXACT"}}
    read_resource_names(await mutate(web, {"adGroupCriterionOperation": {"create": other}}))
    read_resource_names(await mutate(web, {"campaignOperation": {"remove": campaign}}))
    read_resource_names(await send(web, CREATE))  # the name of a removed campaign is free


async def test_validate_only_writes_nothing(web: httpx.AsyncClient) -> None:
    answer = await send(web, {**CREATE, "validateOnly": True})
    assert (answer.status_code, answer.json()) == (200, {})
    wrong = {**change_example(CAMPAIGN, name=None), "validateOnly": True}
    assert read_refusal(await send(web, wrong))["code"] == "fieldError.REQUIRED"
    assert await list_writes(web) == []
    read_resource_names(await send(web, CREATE))


async def test_partial_failure(web: httpx.AsyncClient) -> None:
    body = {**change_example(KEYWORD, keyword={"text": "chair!", "matchType": "EXACT"}), "partialFailure": True}
    answer = (await send(web, body)).json()
    assert answer["mutateOperationResponses"][KEYWORD] == {}
    assert [bool(result) for result in answer["mutateOperationResponses"]] == [True, True, True, True, False, True]
    failure = answer["partialFailureError"]
    assert failure["code"] == 3
    (error,) = failure["details"][0]["errors"]
    assert error["errorCode"] == {"criterionError": "KEYWORD_HAS_INVALID_CHARS"}
    assert error["location"]["fieldPathElements"][0] == {"fieldName": "mutate_operations", "index": KEYWORD}
    assert [write["kind"] for write in await list_writes(web)] == ["budget", "campaign", "criterion", "adGroup", "ad"]


async def test_a_request_has_at_most_10_000_operations(web: httpx.AsyncClient) -> None:
    operations = [{"campaignOperation": {"remove": f"customers/{US}/campaigns/1"}}] * 10_001
    assert read_refusal(await mutate(web, *operations))["code"] == "requestError.TOO_MANY_MUTATE_OPERATIONS"


async def test_single_resource_mutates(web: httpx.AsyncClient) -> None:
    operations = {"operations": [{"create": {"amountMicros": "10000", "explicitlyShared": False}}]}
    answer = await web.post(f"{ADS}/customers/{US}/campaignBudgets:mutate", json=operations)
    (result,) = answer.json()["results"]
    assert result["resourceName"].startswith(f"customers/{US}/campaignBudgets/")
    wrong = await web.post(f"{ADS}/customers/{US}/campaigns:mutate", json={"operations": [{"create": {}}]})
    assert read_refusal(wrong)["location"]["fieldPathElements"][0] == {"fieldName": "operations"}


def list_paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of everything inside a JSON value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, member in inside:
        yield (*path, name)
        yield from list_paths(member, (*path, name))


async def test_junk_anywhere_is_refused_in_the_native_shape(web: httpx.AsyncClient) -> None:
    tried = 0
    for path in list_paths(CREATE):
        for junk in (None, -1, 1.5, "", "customers/x", [[]], {"x": {}}):
            body = copy.deepcopy(CREATE)
            at: Any = body
            for step in path[:-1]:
                at = at[step]
            at[path[-1]] = junk
            answer = await web.post(
                f"{ADS}/customers/{US}/googleAds:mutate",
                content=json.dumps({**body, "validateOnly": True}),
                headers={"Content-Type": "application/json"},
            )
            assert answer.status_code in (200, 400, 404), (path, junk, answer.text)
            assert answer.json() == {} or read_refusal(answer)
            tried += answer.status_code != 200
    assert tried > 300
    assert await list_writes(web) == []
