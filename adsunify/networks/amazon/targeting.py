"""Targeting of a brief: its keywords, and the listing that it advertises. The marketplace is the geography."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from adsunify.adapter.account import Account
from adsunify.http.messages import Request, Response
from adsunify.models.brief import Keyword
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_objects

from .native import build_post_read_request

MAX_KEYWORD_WORDS = 10
PRODUCTS_PATH = "/product/metadata"
PRODUCT_MEDIA_TYPES = (
    "application/vnd.productmetadatarequest.v1+json",
    "application/vnd.productmetadataresponse.v1+json",
)
ELIGIBILITY_PATH = "/eligibility/product/list"
match_asin = re.compile(r"[A-Z0-9]{10}").fullmatch
JSON_MEDIA_TYPES = ("application/json", "application/json")


# -- what a brief says --------------------------------------------------------------------------------------------


def find_keywords_error(keywords: Sequence[Keyword]) -> str | None:
    """Return why the keywords are refused; None if they are valid."""
    seen_keywords: set[tuple[str, str]] = set()
    for keyword in keywords:
        if (keyword.text, keyword.match) in seen_keywords:
            return "the same keyword is given twice with the same match"
        seen_keywords.add((keyword.text, keyword.match))
        wrong = _find_keyword_error(keyword.text)
        if wrong is not None:
            return f"keyword {len(seen_keywords)} {wrong}"
    return None


def _find_keyword_error(words: str) -> str | None:
    if words != words.strip():
        return "begins or ends with a blank"
    parts = words.split()
    if len(parts) > MAX_KEYWORD_WORDS:
        return f"has more than {MAX_KEYWORD_WORDS} words"
    if any(part[0] in "-+" or part[-1] in "-+" for part in parts):
        return "has a - or + that does not stand inside a word"
    if words.startswith(".") or words.endswith("."):
        return "has a full stop at an end"
    return "has a double quote without its partner" if words.count('"') % 2 else None


# -- what is looked up --------------------------------------------------------------------------------------------


def build_products_request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    """Build the request for products of the inventory: with an ASIN, with words in the title, or all products."""
    body: dict[str, Json] = {"adType": "SP", "checkEligibility": True, "checkItemDetails": True, "pageIndex": 0}
    body["pageSize"] = min(limit, 300)
    if suffix:
        body |= {"asins": [suffix]} if match_asin(suffix) else {"searchStr": suffix}
    return build_post_read_request(
        account, PRODUCTS_PATH, PRODUCT_MEDIA_TYPES, body | ({"cursorToken": cursor} if cursor else {})
    )


def build_sku_products_request(account: Account, sku: str) -> Request:
    """Build the request for the product of a SKU in the seller's inventory."""
    body = {"adType": "SP", "skus": [sku], "checkEligibility": True, "pageIndex": 0, "pageSize": 1}
    return build_post_read_request(account, PRODUCTS_PATH, PRODUCT_MEDIA_TYPES, body)


def parse_products(response: Response) -> list[Mapping[str, Json]]:
    """Return the products in a response; older responses have the list under another name."""
    return get_objects(response.body, "/ProductMetadataList") or get_objects(response.body, "/ProductInfoList")


def build_eligibility_request(account: Account, product: Mapping[str, Json]) -> Request:
    """Build the request that checks whether a product (``asin`` and, if known, ``sku``) may be advertised."""
    return build_post_read_request(
        account, ELIGIBILITY_PATH, JSON_MEDIA_TYPES, {"adType": "sp", "productDetailsList": [dict(product)]}
    )
