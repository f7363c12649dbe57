"""Products: eligibility, metadata, keyword recommendations; and the budget usage of campaigns.

Any well-formed ASIN or SKU exists, unless it contains `missing`. An id that contains `ineligible` or `processing` is
ineligible. An id that contains `warning` is eligible with a warning, so a test can get all three statuses.
"""

import hashlib
import re
from decimal import Decimal
from typing import Any

from adsunify.sandbox.checks import any_value, array, boolean, choice, integer, record, text
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.amazon.answers import require_account
from adsunify.sandbox.networks.amazon.figures import get_spend, is_serving
from adsunify.sandbox.networks.amazon.tables import (
    METADATA_REQUEST_MEDIA_TYPE,
    METADATA_RESPONSE_MEDIA_TYPE,
    RECOMMENDATION_MEDIA_TYPE,
    USAGE_MEDIA_TYPE,
)
from adsunify.sandbox.networks.amazon.writes import parse_body
from adsunify.sandbox.parsing import InvalidRequest, parse_json
from adsunify.sandbox.world import Account

_ELIGIBILITY_CHECK = record(
    required={"productDetailsList": array(record({"asin": text()}, {"sku": text()}), 1, 30)},
    optional={"adType": choice("sp", "sb", "sd"), "locale": text()},
)
_METADATA_CHECK = record(
    required={"pageIndex": integer(0), "pageSize": integer(1, 300)},
    optional={
        "adType": choice("SP", "SB", "SD"),
        "asins": array(text(), 1, 300),
        "skus": array(text(), 1, 300),
        "searchStr": text(0),
        "checkItemDetails": boolean,
        "checkEligibility": boolean,
        "cursorToken": text(0),
        "sortOrder": choice("ASC", "DESC"),
        "sortBy": choice("SUGGESTED", "CREATED_DATE"),
        "locale": text(),
    },
    at_most_one=(("asins", "skus", "searchStr"),),
)
_RECOMMENDATIONS_CHECK = record(
    required={"recommendationType": choice("KEYWORDS_FOR_ASINS"), "asins": array(text(), 1, 50)},
    optional={
        "sortDimension": choice("CLICKS", "CONVERSIONS", "DEFAULT"),
        "maxRecommendations": integer(0, 200),
        "locale": text(),
        "biddingStrategy": any_value,
    },
)
_USAGE_CHECK = record(required={"campaignIds": array(text(), 1, 100)})
_CATALOGUE_SIZE = 45  # the number of products that a search returns
_KEYWORD_IDEAS = ("camping stove", "gas stove", "portable stove", "outdoor kitchen", "hiking cooker", "titanium pot")


def list_eligibility(request: Request) -> Response:
    """`POST /eligibility/product/list`. An unknown product is 404, as the eligibility description says."""
    body = request.parse_json(_ELIGIBILITY_CHECK)
    request.parse_query()
    rows = []
    for position, product in enumerate(body["productDetailsList"]):
        if not _product_exists(product):
            raise InvalidRequest("not_found", f"/productDetailsList/{position}/asin", "Cannot find requested entity")
        status = _get_eligibility(*product.values())
        name = {"INELIGIBLE": "LISTING_SUPRESSED", "ELIGIBLE_WITH_WARNING": "OUT_OF_STOCK"}.get(status)
        reasons = [] if name is None else [{"name": name, "severity": status, "message": f"The product is {status}."}]
        rows.append({"productDetails": product, "overallStatus": status, "eligibilityStatusList": reasons})
    return Response(200, {"productResponseList": rows})


def list_metadata(request: Request) -> Response:
    """`POST /product/metadata`, by asins, skus (sellers) or title; with none of them the whole catalogue."""
    request.require_media_type(METADATA_REQUEST_MEDIA_TYPE)
    request.require_accept(METADATA_RESPONSE_MEDIA_TYPE)
    request.parse_query()
    query, account = _METADATA_CHECK(parse_json(request.body), ""), require_account(request)
    if query.get("checkEligibility") and "adType" not in query:
        raise InvalidRequest("required", "/adType", "adType is required to check eligibility")
    if "skus" in query and (account.extra["type"] != "seller" or query.get("adType", "SP") != "SP"):
        raise InvalidRequest("value", "/skus", "skus are for sellers and adType SP only")
    products = [_render_product(account, query, *product) for product in _select_products(query)]
    cursor = query.get("cursorToken", "")
    if cursor and not (cursor.isascii() and cursor.isdigit()):
        raise InvalidRequest("value", "/cursorToken", "is not a cursor of this list")
    page, size = int(cursor or query["pageIndex"]), query["pageSize"]
    after = str(page + 1) if (page + 1) * size < len(products) else ""  # empty on the last page
    body = {"ProductMetadataList": products[page * size : (page + 1) * size], "cursorToken": after}
    return Response(200, body, media_type=METADATA_RESPONSE_MEDIA_TYPE)


def list_keyword_recommendations(request: Request) -> Response:
    """`POST /sp/targets/keywords/recommendations`.

    The documentation does not say which Accept is needed: the vendor type, JSON and `*/*` are accepted.
    """
    accepted = request.headers.get("Accept", "*/*").lower()
    if accepted not in (RECOMMENDATION_MEDIA_TYPE, "application/json", "*/*"):
        raise InvalidRequest("accept", "Accept", f"must be {RECOMMENDATION_MEDIA_TYPE}")
    body = request.parse_json(_RECOMMENDATIONS_CHECK, RECOMMENDATION_MEDIA_TYPE)
    request.parse_query()
    asins = [asin for asin in body["asins"] if _product_exists({"asin": asin})]
    ideas = list(dict.fromkeys(f"{idea} {asin.lower()[-2:]}" for asin in asins for idea in _KEYWORD_IDEAS))
    rows = [
        {
            "keyword": idea,
            # bids are integers in hundredths (unverified)
            "bidInfo": [
                {"matchType": match, "bid": _derive_number(f"{idea} {match}", 40, 180)}
                for match in ("EXACT", "PHRASE", "BROAD")
            ],
        }
        for idea in ideas[: body.get("maxRecommendations", 200)]
    ]
    return Response(200, {"keywordTargetList": rows}, media_type=RECOMMENDATION_MEDIA_TYPE)


def get_budget_usage(request: Request) -> Response:
    """`POST /sp/campaigns/budget/usage`: 207, `success` and `error` side by side, each with its index."""
    campaign_ids, account = parse_body(request, USAGE_MEDIA_TYPE, _USAGE_CHECK)["campaignIds"], require_account(request)
    success, errors, day = list[dict[str, Any]](), list[dict[str, Any]](), request.get_local_date(account)
    for index, campaign_id in enumerate(campaign_ids):
        campaign = request.world.find("campaign", campaign_id, account.id)
        if campaign is None:
            details = "Campaign not found"
            errors.append({"code": "404", "campaignId": campaign_id, "index": index, "details": details})
            continue
        budget = campaign.data["budget"]["budget"]
        cost = get_spend(account, campaign, day) if is_serving(request.world, campaign, day) else Decimal(0)
        row = {"campaignId": campaign_id, "index": index, "budget": budget}
        percent = (cost * 100 / budget).quantize(Decimal("0.01"))
        success.append({**row, "budgetUsagePercent": percent, "usageUpdatedTimestamp": request.now.isoformat()})
    return Response(207, {"success": success, "error": errors}, media_type=USAGE_MEDIA_TYPE)


def _select_products(query: dict[str, Any]) -> list[tuple[str, str]]:
    """ASIN and SKU of every requested product; unknown ones are left out."""
    if "asins" in query:
        return [(asin, f"SKU-{asin}") for asin in query["asins"] if _product_exists({"asin": asin})]
    if "skus" in query:
        return [(_derive_asin(sku), sku) for sku in query["skus"] if _product_exists({"sku": sku})]
    demo = [(f"B0DEMO{number:04}", f"DEMO-{number:04}") for number in range(1, _CATALOGUE_SIZE + 1)]
    return [product for product in demo if query.get("searchStr", "").casefold() in _make_title(product[1]).casefold()]


def _render_product(account: Account, query: dict[str, Any], asin: str, sku: str) -> dict[str, Any]:
    """One row; details and eligibility only if requested, the SKU for sellers only."""
    row: dict[str, Any] = {"asin": asin, "availability": "IN_STOCK"}
    if account.extra["type"] == "seller":
        row["sku"] = sku
    if query.get("checkItemDetails"):
        price = {"amount": Decimal(_derive_number(sku, 5, 90)), "currency": account.currency}
        row |= {"title": _make_title(sku), "brand": "Demo", "category": "Camping", "priceToPay": price}
    if query.get("checkEligibility"):
        ineligible = _get_eligibility(asin, sku) == "INELIGIBLE"
        row["eligibilityStatus"] = "INELIGIBLE" if ineligible else "ELIGIBLE"
        row["ineligibilityCodes"] = ["LISTING_SUPRESSED"] if ineligible else []
        row["ineligibilityReasons"] = ["The listing is suppressed"] if ineligible else []
    return row


def _make_title(sku: str) -> str:
    return f"Demo product {sku}"


def _product_exists(product: dict[str, str]) -> bool:
    identifiers = " ".join(product.values()).lower()
    well_formed = re.fullmatch("[A-Z0-9]{10}", product.get("asin", "B000000000"))
    return "missing" not in identifiers and (
        well_formed is not None or _get_eligibility(product.get("asin", "")) != "ELIGIBLE"
    )


def _get_eligibility(*ids: str) -> str:
    identifiers = " ".join(ids).lower()
    if "ineligible" in identifiers or "processing" in identifiers:
        return "INELIGIBLE"
    return "ELIGIBLE_WITH_WARNING" if "warning" in identifiers else "ELIGIBLE"


def _derive_number(seed: str, least: int, most: int) -> int:
    return least + int.from_bytes(hashlib.sha256(seed.encode()).digest()[:4], "big") % (most - least + 1)


def _derive_asin(sku: str) -> str:
    """Derive the ASIN of a SKU. A SKU always has the same ASIN."""
    return "B0" + hashlib.sha256(sku.encode()).hexdigest()[:8].upper()
