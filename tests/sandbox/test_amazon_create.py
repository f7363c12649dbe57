"""The simulated Amazon Ads network: the four documented steps, and what is refused in them."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from tests.sandbox.amazon_calls import (
    AD_GROUP,
    CAMPAIGN,
    EU,
    FE,
    ID,
    KEYWORD,
    MEDIA,
    PRODUCT_AD,
    VENDOR,
    YEN,
    Amazon,
    Clock,
    log_in,
    make_budget,
    read_reason,
)


async def test_the_four_steps_of_the_documentation(amazon: Amazon, campaign: str, parents: dict[str, str]) -> None:
    ad = await amazon.create_entity("productAds", {**parents, **PRODUCT_AD})
    keyword = await amazon.create_entity("keywords", {**parents, **KEYWORD})
    assert await amazon.list_writes() == [
        ("POST", "campaign", campaign),
        ("POST", "adGroup", parents["adGroupId"]),
        ("POST", "productAd", ad),
        ("POST", "keyword", keyword),
    ]
    numbers = {"budget": {"budgetType": "DAILY", "budget": Decimal("35.5")}}
    assert await amazon.read_entity("campaigns", campaign) == {"campaignId": campaign, **CAMPAIGN, **numbers}
    group = {**AD_GROUP, "adGroupId": parents["adGroupId"], "campaignId": campaign, "defaultBid": Decimal("0.75")}
    assert await amazon.read_entity("adGroups", parents["adGroupId"]) == group
    assert await amazon.read_entity("productAds", ad) == {"adId": ad, **parents, **PRODUCT_AD}
    expected = {"keywordId": keyword, **parents, **KEYWORD, "bid": Decimal("0.75")}
    assert await amazon.read_entity("keywords", keyword) == expected


async def test_the_activation_of_the_documentation(amazon: Amazon, campaign: str, parents: dict[str, str]) -> None:
    ids = {
        "keywords": await amazon.create_entity("keywords", {**parents, **KEYWORD}),
        "productAds": await amazon.create_entity("productAds", {**parents, **PRODUCT_AD}),
        "adGroups": parents["adGroupId"],
        "campaigns": campaign,
    }
    for collection, entity_id in ids.items():
        outcome = await amazon.write("PUT", collection, {ID[collection]: entity_id, "state": "ENABLED"})
        assert outcome == {"success": [{ID[collection]: entity_id, "index": 0}], "error": []}
        assert (await amazon.read_entity(collection, entity_id))["state"] == "ENABLED"


async def test_native_defaults(amazon: Amazon) -> None:
    least = {name: CAMPAIGN[name] for name in ("name", "targetingType", "state", "budget")}
    stored = await amazon.read_entity(
        "campaigns", await amazon.create_entity("campaigns", {**least, "state": "ENABLED", "endDate": None})
    )
    assert stored["startDate"] == "2026-11-20"
    assert stored["dynamicBidding"]["strategy"] == "LEGACY_FOR_SALES"
    assert (stored["state"], "endDate" in stored) == ("ENABLED", False)
    parents = {"campaignId": stored["campaignId"]}
    parents["adGroupId"] = await amazon.create_entity("adGroups", {**AD_GROUP, **parents})
    inherits = await amazon.create_entity("keywords", {**parents, **KEYWORD, "bid": None})
    assert "bid" not in await amazon.read_entity("keywords", inherits)


async def test_the_whole_entity_on_request(amazon: Amazon) -> None:
    outcome = await amazon.write("POST", "campaigns", CAMPAIGN, Prefer="return=representation")
    [row] = outcome["success"]
    assert row["campaign"] == {"campaignId": row["campaignId"], **CAMPAIGN}


async def test_numbers_are_exact(amazon: Amazon) -> None:
    kind = MEDIA["campaigns"]
    body = json.dumps({"campaigns": [CAMPAIGN]}).replace("35.5", "35.10")
    answer = await amazon.call("POST", "/sp/campaigns", body, Content_Type=kind, Accept=kind)
    stored = await amazon.read_entity("campaigns", answer.json()["campaigns"]["success"][0]["campaignId"])
    assert stored["budget"]["budget"] == Decimal("35.1")
    binary = json.dumps({"campaigns": [CAMPAIGN]}).replace("35.5", "35.100000000000001")
    refused = await amazon.call("POST", "/sp/campaigns", binary, Content_Type=kind, Accept=kind)
    assert read_reason(refused.json()["campaigns"]["error"][0])[1] == "PATTERN_NOT_MATCHED"


@pytest.mark.parametrize(
    ("change", "type_", "reason", "place"),
    [
        ({"name": None}, "missingValueError", "MISSING_VALUE", "name"),
        ({"state": None}, "missingValueError", "MISSING_VALUE", "state"),
        ({"budget": None}, "missingValueError", "MISSING_VALUE", "budget"),
        ({"targetingType": None}, "missingValueError", "MISSING_VALUE", "targetingType"),
        ({"budget": {"budget": 5}}, "missingValueError", "MISSING_VALUE", "budget.budgetType"),
        ({"budget": {"budgetType": "DAILY"}}, "missingValueError", "MISSING_VALUE", "budget.budget"),
        ({"dynamicBidding": {}}, "missingValueError", "MISSING_VALUE", "dynamicBidding.strategy"),
        ({"state": "ARCHIVED"}, "rangeError", "INVALID_ENUM_VALUE", "state"),
        ({"state": "paused"}, "rangeError", "INVALID_ENUM_VALUE", "state"),
        ({"targetingType": "KEYWORD"}, "rangeError", "INVALID_ENUM_VALUE", "targetingType"),
        (make_budget(5, budgetType="LIFETIME"), "rangeError", "INVALID_ENUM_VALUE", "budget.budgetType"),
        (make_budget(0.99), "budgetError", "BUDGET_OUT_OF_MARKET_PLACE_RANGE", "budget.budget"),
        (make_budget(1000000.01), "budgetError", "BUDGET_OUT_OF_MARKET_PLACE_RANGE", "budget.budget"),
        (make_budget(35.505), "malformedValueError", "PATTERN_NOT_MATCHED", "budget.budget"),
        ({"name": "x" * 129}, "malformedValueError", "TOO_LONG", "name"),
        ({"name": ""}, "malformedValueError", "BLANK", "name"),
        ({"name": " x"}, "malformedValueError", "LEADING_OR_TRAILING_WHITESPACE", "name"),
        ({"name": "x "}, "malformedValueError", "LEADING_OR_TRAILING_WHITESPACE", "name"),
        ({"name": "a_b"}, "malformedValueError", "FORBIDDEN_CHARS", "name"),
        ({"name": "50% off!"}, "malformedValueError", "FORBIDDEN_CHARS", "name"),
        ({"name": "Evergreen US"}, "duplicateValueError", "NAME_NOT_UNIQUE", "name"),
        ({"startDate": "2026-11-19"}, "dateError", "START_DATE_EARLIER_THAN_TODAY", "startDate"),
        ({"startDate": "2026-02-30"}, "dateError", "INVALID_DATE", "startDate"),
        ({"startDate": "20261201"}, "dateError", "INVALID_DATE", "startDate"),
        ({"startDate": "2026-12-01T08:00:00Z"}, "dateError", "INVALID_DATE", "startDate"),
        ({"endDate": "2026-11-30"}, "dateError", "START_DATE_AFTER_END_DATE", "endDate"),
        ({"endDate": "2026-11-01"}, "dateError", "END_DATE_EARLIER_THAN_TODAY", "endDate"),
        ({"dynamicBidding": {"strategy": "AUTO"}}, "rangeError", "INVALID_ENUM_VALUE", "dynamicBidding.strategy"),
        ({"portfolioId": "missing"}, "parentEntityError", "PARENT_ENTITY_NOT_FOUND", "portfolioId"),
    ],
)
async def test_refused_campaigns(amazon: Amazon, change: dict[str, Any], type_: str, reason: str, place: str) -> None:
    item = {name: value for name, value in {**CAMPAIGN, **change}.items() if value is not None}
    assert await amazon.get_refusal("POST", "campaigns", item) == (type_, reason, f"$.campaigns[0].{place}")
    assert await amazon.list_writes() == []


@pytest.mark.parametrize(
    ("adjustment", "type_", "reason"),
    [
        ({"placement": "PLACEMENT_TOP", "percentage": 901}, "rangeError", "TOO_HIGH"),
        ({"placement": "PLACEMENT_TOP", "percentage": -1}, "rangeError", "TOO_LOW"),
        ({"placement": "TOP", "percentage": 1}, "rangeError", "INVALID_ENUM_VALUE"),
        ({"placement": "PLACEMENT_TOP"}, "missingValueError", "MISSING_VALUE"),
        ({"placement": "PLACEMENT_PRODUCT_PAGE", "percentage": 1}, "duplicateValueError", "DUPLICATE_VALUE"),
    ],
)
async def test_refused_placements(amazon: Amazon, adjustment: dict[str, Any], type_: str, reason: str) -> None:
    first = {"placement": "PLACEMENT_PRODUCT_PAGE", "percentage": 900}
    bidding = {"strategy": "LEGACY_FOR_SALES", "placementBidding": [first, adjustment]}
    refusal = await amazon.get_refusal("POST", "campaigns", {**CAMPAIGN, "dynamicBidding": bidding})
    assert refusal[:2] == (type_, reason)
    assert refusal[2].startswith("$.campaigns[0].dynamicBidding.placementBidding[1].")


async def test_today_is_the_profiles_today(amazon: Amazon, clock: Clock) -> None:
    clock.instant = datetime(2026, 11, 20, 23, 30, tzinfo=UTC)  # the 21st in Tokyo, still the 20th in Los Angeles
    await log_in(amazon)
    assert await amazon.create_entity("campaigns", {**CAMPAIGN, "startDate": "2026-11-20"})
    late = {**CAMPAIGN, **make_budget(5000), "startDate": "2026-11-20"}
    refused = await amazon.get_refusal("POST", "campaigns", late, host=FE, profile=YEN)
    assert refused[1] == "START_DATE_EARLIER_THAN_TODAY"
    assert await amazon.create_entity("campaigns", {**late, "startDate": "2026-11-21"}, host=FE, profile=YEN)


async def test_limits_of_the_marketplace_and_account_type(amazon: Amazon) -> None:
    long = {**CAMPAIGN, "name": "x" * 117}
    assert (await amazon.get_refusal("POST", "campaigns", long, host=EU, profile=VENDOR))[1] == "TOO_LONG"
    first = await amazon.create_entity("campaigns", {**CAMPAIGN, "name": "y" * 116}, host=EU, profile=VENDOR)
    second = await amazon.create_entity("campaigns", {**CAMPAIGN, "name": "y" * 116}, host=EU, profile=VENDOR)
    assert first != second  # vendors may repeat a name
    await amazon.create_entity("campaigns", {**CAMPAIGN, "name": "x" * 128})
    japanese: dict[str, str] = {"host": FE, "profile": YEN}
    for amount, reason in ((99, "BUDGET_OUT_OF_MARKET_PLACE_RANGE"), (100.5, "PATTERN_NOT_MATCHED")):
        assert (await amazon.get_refusal("POST", "campaigns", {**CAMPAIGN, **make_budget(amount)}, **japanese))[
            1
        ] == reason
    yen = await amazon.create_entity(
        "campaigns", {**CAMPAIGN, "name": "キャンプ用品", **make_budget(21000000)}, **japanese
    )
    group = {**AD_GROUP, "campaignId": yen}
    assert (await amazon.get_refusal("POST", "adGroups", {**group, "defaultBid": 1}, **japanese))[1] == "TOO_LOW"
    assert (await amazon.get_refusal("POST", "adGroups", {**group, "defaultBid": 100001}, **japanese))[1] == "TOO_HIGH"
    assert (await amazon.get_refusal("POST", "adGroups", {**group, "defaultBid": 2.5}, **japanese))[
        1
    ] == "PATTERN_NOT_MATCHED"
    assert await amazon.create_entity("adGroups", {**group, "defaultBid": 100000}, **japanese)


async def test_the_item_error_of_the_documentation(amazon: Amazon, campaign: str) -> None:
    outcome = await amazon.write("POST", "adGroups", {**AD_GROUP, "campaignId": campaign, "defaultBid": 0.001})
    [item] = outcome["error"]
    value = item["errors"][0]["errorValue"]["rangeError"]
    assert value.pop("message")
    assert item == {
        "index": 0,
        "errors": [
            {
                "errorType": "rangeError",
                "errorValue": {
                    "rangeError": {
                        "reason": "TOO_LOW",
                        "cause": {"location": "$.adGroups[0].defaultBid", "trigger": "0.001"},
                        "lowerLimit": "0.02",
                        "upperLimit": "1000",
                    }
                },
            }
        ],
    }


@pytest.mark.parametrize(
    ("change", "type_", "reason"),
    [
        ({"campaignId": None}, "missingValueError", "MISSING_VALUE"),
        ({"name": None}, "missingValueError", "MISSING_VALUE"),
        ({"state": None}, "missingValueError", "MISSING_VALUE"),
        ({"defaultBid": None}, "missingValueError", "MISSING_VALUE"),
        ({"campaignId": "1"}, "parentEntityError", "PARENT_ENTITY_NOT_FOUND"),
        ({"name": "x" * 256}, "malformedValueError", "TOO_LONG"),
        ({"name": "Taken"}, "duplicateValueError", "NAME_NOT_UNIQUE"),
        ({"defaultBid": 1000.01}, "rangeError", "TOO_HIGH"),
        ({"defaultBid": 0.755}, "malformedValueError", "PATTERN_NOT_MATCHED"),
        ({"defaultBid": 35.51}, "biddingError", "BID_GT_BUDGET"),
    ],
)
async def test_refused_ad_groups(
    amazon: Amazon, campaign: str, change: dict[str, Any], type_: str, reason: str
) -> None:
    await amazon.create_entity("adGroups", {**AD_GROUP, "campaignId": campaign, "name": "Taken"})
    ad_group = {**AD_GROUP, "campaignId": campaign, **change}
    item = {name: value for name, value in ad_group.items() if value is not None}
    assert (await amazon.get_refusal("POST", "adGroups", item))[:2] == (type_, reason)
    assert await amazon.create_entity(
        "adGroups", {**AD_GROUP, "campaignId": campaign, "name": "x" * 255, "defaultBid": 35.5}
    )


@pytest.mark.parametrize(
    ("change", "type_", "reason"),
    [
        ({"adGroupId": None}, "missingValueError", "MISSING_VALUE"),
        ({"campaignId": None}, "missingValueError", "MISSING_VALUE"),
        ({"state": None}, "missingValueError", "MISSING_VALUE"),
        ({"sku": None}, "missingValueError", "MISSING_VALUE"),
        ({"sku": None, "asin": "B000000001"}, "productIdentifierError", "INVALID_ASIN"),
        ({"asin": "B000000001"}, "productIdentifierError", "INVALID_ASIN"),
        ({"sku": "SKU-missing"}, "productIdentifierError", "INVALID_SKU"),
        ({"sku": " SKU"}, "productIdentifierError", "INVALID_SKU"),
        ({"sku": "SKU-ineligible"}, "adEligibilityError", "AD_INELIGIBLE"),
        ({"sku": "SKU-processing"}, "adEligibilityError", "AD_INELIGIBLE"),
        ({"sku": "TAKEN"}, "duplicateValueError", "DUPLICATE_VALUE"),
        ({"adGroupId": "1"}, "parentEntityError", "PARENT_ENTITY_NOT_FOUND"),
        ({"campaignId": "other"}, "parentEntityError", "PARENT_ENTITY_NOT_FOUND"),
        ({"customText": "X" * 50}, "unsupportedOperationError", "UNSUPPORTED_OPERATION"),
    ],
)
async def test_refused_product_ads(
    amazon: Amazon, parents: dict[str, str], change: dict[str, Any], type_: str, reason: str
) -> None:
    await amazon.create_entity("productAds", {**parents, **PRODUCT_AD, "sku": "TAKEN"})
    other = await amazon.create_entity("campaigns", {**CAMPAIGN, "name": "Another"})
    product_ad = {**parents, **PRODUCT_AD, **change}
    if product_ad["campaignId"] == "other":  # exists, but the ad group is not in it
        product_ad["campaignId"] = other
    item = {name: value for name, value in product_ad.items() if value is not None}
    assert (await amazon.get_refusal("POST", "productAds", item))[:2] == (type_, reason)


async def test_vendors_advertise_asins(amazon: Amazon) -> None:
    vendor = {"host": EU, "profile": VENDOR}
    parents = {"campaignId": await amazon.create_entity("campaigns", CAMPAIGN, **vendor)}
    parents["adGroupId"] = await amazon.create_entity("adGroups", {**AD_GROUP, **parents}, **vendor)
    item = {**parents, "state": "PAUSED"}
    assert (await amazon.get_refusal("POST", "productAds", {**item, "sku": "X"}, **vendor))[1] == "INVALID_SKU"
    assert (await amazon.get_refusal("POST", "productAds", {**item, "asin": "B01"}, **vendor))[1] == "INVALID_ASIN"
    assert (await amazon.get_refusal("POST", "productAds", {**item, "asin": "missing"}, **vendor))[1] == "INVALID_ASIN"
    assert (await amazon.get_refusal("POST", "productAds", {**item, "asin": "ineligible"}, **vendor))[
        1
    ] == "AD_INELIGIBLE"
    assert await amazon.create_entity("productAds", {**item, "asin": "B000000001"}, **vendor)


@pytest.mark.parametrize(
    ("change", "type_", "reason"),
    [
        ({"keywordText": None}, "missingValueError", "MISSING_VALUE"),
        ({"matchType": None}, "missingValueError", "MISSING_VALUE"),
        ({"state": None}, "missingValueError", "MISSING_VALUE"),
        ({"campaignId": None}, "missingValueError", "MISSING_VALUE"),
        ({"matchType": "exact"}, "rangeError", "INVALID_ENUM_VALUE"),
        ({"keywordText": ""}, "malformedValueError", "TOO_SHORT"),
        ({"keywordText": "x" * 81}, "malformedValueError", "TOO_LONG"),
        ({"keywordText": "a b c d e f g h i j k"}, "malformedValueError", "TOO_LONG"),
        ({"keywordText": " stove"}, "malformedValueError", "LEADING_OR_TRAILING_WHITESPACE"),
        ({"keywordText": "-stove"}, "malformedValueError", "PATTERN_NOT_MATCHED"),
        ({"keywordText": "stove +gas"}, "malformedValueError", "PATTERN_NOT_MATCHED"),
        ({"keywordText": "stove."}, "malformedValueError", "PATTERN_NOT_MATCHED"),
        ({"keywordText": 'a "stove'}, "malformedValueError", "PATTERN_NOT_MATCHED"),
        ({"keywordText": "stove!"}, "malformedValueError", "FORBIDDEN_CHARS"),
        ({"keywordText": "taken"}, "duplicateValueError", "DUPLICATE_VALUE"),
        ({"bid": 0.01}, "rangeError", "TOO_LOW"),
        ({"bid": 1000.5}, "biddingError", "BID_OUT_OF_MARKET_PLACE_RANGE"),
        ({"bid": 36}, "biddingError", "BID_GT_BUDGET"),
        ({"bid": 0.755}, "malformedValueError", "PATTERN_NOT_MATCHED"),
        ({"nativeLanguageLocale": "fr_FR"}, "localeError", "INVALID_LOCALE"),
    ],
)
async def test_refused_keywords(
    amazon: Amazon, parents: dict[str, str], change: dict[str, Any], type_: str, reason: str
) -> None:
    await amazon.create_entity("keywords", {**parents, **KEYWORD, "keywordText": "taken"})
    keyword = {**parents, **KEYWORD, **change}
    item = {name: value for name, value in keyword.items() if value is not None}
    assert (await amazon.get_refusal("POST", "keywords", item))[:2] == (type_, reason)


async def test_accepted_keywords(amazon: Amazon, parents: dict[str, str]) -> None:
    texts = [
        "x" * 80,
        "a b c d e f g h i j",
        "t-shirt",
        '"gas stove"',
        "3.5 liter",
        "men's c++x",
        "キャンプ",
        "Zelt für 2",
    ]
    outcome = await amazon.write("POST", "keywords", *({**parents, **KEYWORD, "keywordText": text} for text in texts))
    assert [row["index"] for row in outcome["success"]] == [0, 1, 2, 3, 4, 6, 7]  # "c++": a plus beside a plus
    again = [{**parents, **KEYWORD, "keywordText": "t-shirt", "matchType": match} for match in ("PHRASE", "BROAD")]
    assert (await amazon.write("POST", "keywords", *again))["error"] == []


async def test_keywords_do_not_go_with_automatic_targeting(amazon: Amazon) -> None:
    parents = {"campaignId": await amazon.create_entity("campaigns", {**CAMPAIGN, "targetingType": "AUTO"})}
    parents["adGroupId"] = await amazon.create_entity("adGroups", {**AD_GROUP, **parents})
    refused = await amazon.get_refusal("POST", "keywords", {**parents, **KEYWORD})
    assert refused[:2] == ("targetingClauseSetupError", "TARGETING_TYPE_NOT_ALLOWED_FOR_AUTO_TARGETING_CAMPAIGN")


async def test_batches_are_judged_item_by_item(amazon: Amazon, parents: dict[str, str]) -> None:
    """`index` is the position in the array as sent; duplicates inside a request count too."""
    texts = ["gas stove", "bad!", "pot", "gas stove", "pan"]
    items = [{**parents, **KEYWORD, "keywordText": text} for text in texts]
    outcome = await amazon.write("POST", "keywords", *items)
    assert [row["index"] for row in outcome["success"]] == [0, 2, 4]
    assert [(row["index"], read_reason(row)) for row in outcome["error"]] == [
        (1, ("malformedValueError", "FORBIDDEN_CHARS", "$.keywords[1].keywordText")),
        (3, ("duplicateValueError", "DUPLICATE_VALUE", "$.keywords[3].keywordText")),
    ]
    assert [kind for _, kind, _ in await amazon.list_writes()].count("keyword") == 3
    again = await amazon.write("POST", "keywords", {**items[1], "keywordText": "mug"})  # only what was not applied
    assert [row["index"] for row in again["success"]] == [0]


async def test_profiles_do_not_see_each_other(amazon: Amazon, campaign: str) -> None:
    vendor = {"host": EU, "profile": VENDOR}
    assert (await amazon.get_refusal("POST", "adGroups", {**AD_GROUP, "campaignId": campaign}, **vendor))[1] == (
        "PARENT_ENTITY_NOT_FOUND"
    )
    gone = await amazon.get_refusal("PUT", "campaigns", {"campaignId": campaign, "state": "ENABLED"}, **vendor)
    assert gone == ("entityNotFoundError", "ENTITY_NOT_FOUND", "$.campaigns[0].campaignId")
    names = [row["name"] for row in (await amazon.list_entities("campaigns", {}, **vendor))["campaigns"]]
    assert names == ["Evergreen DE"]
