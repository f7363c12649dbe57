"""Languages, interests, audiences, pixels and apps: a few plausible rows each."""

from typing import Any

from adsunify.sandbox.checks import array, boolean, choice, json_text, one_of, record, text
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.tiktok.answers import build_response, require_account_by_id
from adsunify.sandbox.networks.tiktok.members import INDUSTRIES_CHECK, LANGUAGES
from adsunify.sandbox.networks.tiktok.places import PLACEMENTS
from adsunify.sandbox.networks.tiktok.shapes import ADVERTISER_CHECK, paginate, paging_checks
from adsunify.sandbox.parsing import make_rows

_ADVERTISER_CHECKS = {"advertiser_id": ADVERTISER_CHECK}
_INTERESTS: tuple[tuple[str, str, int, list[str]], ...] = (
    ("15", "Apparel & Accessories", 1, ["15101", "15102"]),
    ("15101", "Shoes", 2, []),
    ("15102", "Bags", 2, []),
    ("21", "Travel", 1, []),
)
_AUDIENCES = make_rows(
    "audience_id name audience_type cover_num is_valid is_expiring shared create_time",
    ("8401", "Newsletter readers", "Customer File", 12000, True, False, False, "2026-10-01 08:00:00"),
    ("8402", "Visitors, 30 days", "Website Traffic", 900, False, False, False, "2026-10-02 08:00:00"),
)
_PIXELS: tuple[dict[str, Any], ...] = (
    {
        "pixel_id": "8001",
        "pixel_code": "C4ABCDEF01",
        "pixel_name": "Shop pixel",
        "pixel_setup_mode": "MANUAL",
        "events": [],
        "create_time": "2026-09-01 08:00:00",
    },
)
_APPS = ({"app_id": "8601", "app_name": "Street Shoes", "platform": "IOS", "package_name": "example.shop"},)


def list_languages(request: Request) -> Response:
    """GET /tool/language/."""
    require_account_by_id(request, request.parse_query(_ADVERTISER_CHECKS)["advertiser_id"])
    return build_response({"languages": [{"code": code, "name": name} for code, name in LANGUAGES.items()]})


def list_interests(request: Request) -> Response:
    """GET /tool/interest_category/."""
    query_checks = {
        "version": choice("1", "2"),
        "language": text(),
        "placements": json_text(array(one_of(PLACEMENTS))),
        "special_industries": json_text(INDUSTRIES_CHECK),
    }
    require_account_by_id(request, request.parse_query(_ADVERTISER_CHECKS, query_checks)["advertiser_id"])
    rows = [
        {
            "interest_category_id": category,
            "interest_category_name": name,
            "level": level,
            "sub_category_ids": below,
            "placements": ["PLACEMENT_TIKTOK"],
            "special_industries": [],
        }
        for category, name, level, below in _INTERESTS
    ]
    return build_response({"interest_categories": rows})


def list_audiences(request: Request) -> Response:
    """GET /dmp/custom_audience/list/."""
    query = request.parse_query(
        _ADVERTISER_CHECKS, {**paging_checks(100), "custom_audience_ids": json_text(array(text(), 1, 100))}
    )
    require_account_by_id(request, query["advertiser_id"])
    ids = query.get("custom_audience_ids")
    return build_response(paginate([row for row in _AUDIENCES if ids is None or row["audience_id"] in ids], query))


def list_pixels(request: Request) -> Response:
    """GET /pixel/list/: 20 in a page at most."""
    query_checks = {
        **paging_checks(20),
        "pixel_id": text(),
        "code": text(),
        "name": text(),
        "order_by": one_of("LATEST_CREATE EARLIEST_CREATE"),
        "filtering": json_text(record(optional={"available_for_catalog_only": boolean})),
    }
    query = request.parse_query(_ADVERTISER_CHECKS, query_checks)
    require_account_by_id(request, query["advertiser_id"])
    rows = [
        row
        for row in _PIXELS
        if query.get("pixel_id", row["pixel_id"]) == row["pixel_id"]
        and query.get("code", row["pixel_code"]) == row["pixel_code"]
        and query.get("name", row["pixel_name"]) in row["pixel_name"]
    ]
    page = paginate(rows, query)
    return build_response({"pixels": page["list"], "page_info": page["page_info"]})


def list_apps(request: Request) -> Response:
    """GET /app/list/."""
    query = request.parse_query(_ADVERTISER_CHECKS, {"app_platform_ids": json_text(array(text()))})
    require_account_by_id(request, query["advertiser_id"])
    return build_response({"apps": list(_APPS)})
