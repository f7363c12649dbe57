"""The simulated Amazon Ads network held against the official descriptions, where ADSUNIFY_SPECS names their folder."""

import json
import os
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from adsunify.sandbox.networks.amazon.columns import REPORT_TYPES
from adsunify.sandbox.networks.amazon.tables import MARKETPLACES
from tests.sandbox.amazon_calls import (
    AD_GROUP,
    CAMPAIGN,
    ID,
    KEYWORD,
    PRODUCT_AD,
    Amazon,
    check_eligibility,
    get_metadata,
)

pytestmark = pytest.mark.specs


def load_validator(name: str, schema: str) -> Draft202012Validator:
    """A validator of one schema of an OpenAPI 3.0 file: `nullable` becomes a null type."""

    def translate_schema(node: Any) -> Any:
        if isinstance(node, list):
            return [translate_schema(member) for member in node]
        if not isinstance(node, dict):
            return node
        translated = {
            key: translate_schema(value) for key, value in node.items() if key not in ("nullable", "example", "default")
        }
        if isinstance(translated.get("format"), str):
            del translated["format"]
        return {"anyOf": [translated, {"type": "null"}]} if node.get("nullable") is True else translated

    folder = os.environ.get("ADSUNIFY_SPECS")
    if folder is None:
        pytest.skip("ADSUNIFY_SPECS names no folder of official descriptions")
    document = json.loads((Path(folder) / "amazon" / f"{name}.openapi.json").read_text())
    components = translate_schema(document["components"])
    return Draft202012Validator({"$ref": f"#/components/schemas/{schema}", "components": components})


async def test_answers_hold_against_the_official_descriptions(
    amazon: Amazon, campaign: str, parents: dict[str, str]
) -> None:
    ids = {
        "campaigns": campaign,
        "adGroups": parents["adGroupId"],
        "productAds": await amazon.create_entity("productAds", {**parents, **PRODUCT_AD}),
        "keywords": await amazon.create_entity("keywords", {**parents, **KEYWORD}),
    }
    bad = {
        "campaigns": {**CAMPAIGN, "name": "a_b", "startDate": "x"},
        "adGroups": {**AD_GROUP, "campaignId": "1"},
        "productAds": {**parents, "state": "PAUSED", "sku": "ineligible"},
        "keywords": {**parents, **KEYWORD, "bid": 1001},
    }
    for collection, entity_id in ids.items():
        native = collection[0].upper() + collection[1:]
        states = {"include": ["ENABLED", "PAUSED", "ARCHIVED"]}
        page = await amazon.call_sp(
            "POST", f"/sp/{collection}/list", {"stateFilter": states, "includeExtendedDataFields": True}
        )
        updated = await amazon.call_sp(
            "PUT", f"/sp/{collection}",
            {collection: [{ID[collection]: entity_id, "state": "ENABLED"}, {ID[collection]: "1"}]},
            Prefer="return=representation",
        )  # fmt: skip
        created = await amazon.call_sp("POST", f"/sp/{collection}", {collection: [bad[collection], {}]})
        for verb, answer in (("List", page), ("Update", updated), ("Create", created)):
            schema = f"SponsoredProducts{verb}SponsoredProducts{native}ResponseContent"
            load_validator("sponsored-products-v3", schema).validate(answer.json())
    asins = {"adType": "SP", "skus": ["a"], "checkEligibility": True, "checkItemDetails": True}
    products = await get_metadata(amazon, {**asins, "pageIndex": 0, "pageSize": 1})
    load_validator("product-metadata", "ProductMetadataResponse").validate(products.json())
    load_validator("product-eligibility", "ProductEligibilityResponse").validate(
        (await check_eligibility(amazon, asin="ineligible")).json()
    )
    for profile in (await amazon.call("GET", "/v2/profiles", profile=None)).json():
        load_validator("profiles-v2", "Profile").validate(profile)
    usage = await amazon.call_sp("POST", "/sp/campaigns/budget/usage", {"campaignIds": [campaign, "1"]}, media="usage")
    load_validator("sponsored-products-v3", "BudgetUsageCampaignResponse").validate(usage.json())


def test_columns_are_those_of_the_documentation() -> None:
    folder = os.environ.get("ADSUNIFY_SPECS")
    if folder is None:
        pytest.skip("ADSUNIFY_SPECS names no folder of official descriptions")
    document = json.loads((Path(folder) / "amazon" / "reporting-v3.columns.json").read_text())["reportTypes"]
    assert set(REPORT_TYPES) == set(document)
    for name, documented in document.items():
        assert REPORT_TYPES[name].columns == set(documented["baseColumns"])
        for group, added in documented["groupBy"].items():
            assert REPORT_TYPES[name].groups[group].columns == set(added["additionalColumns"])
            assert REPORT_TYPES[name].groups[group].filters == {
                field: (*values.split(", "),) for field, values in added["filters"]
            }


def test_the_marketplace_limits_are_those_of_the_documentation() -> None:
    folder = os.environ.get("ADSUNIFY_SPECS")
    if folder is None:
        pytest.skip("ADSUNIFY_SPECS names no folder of official descriptions")
    document = json.loads((Path(folder) / "amazon" / "marketplace-limits.json").read_text())
    for country, limits in MARKETPLACES.items():
        for amounts, kind in ((limits.bid_limits, "spBid"), (limits.budget_limits, "spDailyBudget")):
            documented = document[kind][country]
            assert amounts == (Decimal(documented["min"]), Decimal(documented["max"]))
