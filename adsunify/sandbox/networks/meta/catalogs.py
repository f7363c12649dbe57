"""Catalogs, searches and the image library: a few plausible rows each."""

import base64
import binascii
import hashlib
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from adsunify.sandbox.checks import Check, array, choice, integer_text, json_text, text
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.meta.errors import build_response, require_account_by_id
from adsunify.sandbox.networks.meta.parameters import OBJECT_CHECK
from adsunify.sandbox.networks.meta.reads import PAGING_CHECKS, build_page_response, parse_query, render_rows
from adsunify.sandbox.networks.meta.targeting import LOCATIONS
from adsunify.sandbox.networks.meta.writes import parse_form
from adsunify.sandbox.parsing import InvalidRequest, make_rows, split_words
from adsunify.sandbox.world import Account

Rows = tuple[dict[str, Any], ...]
SEED_PAGES: Rows = (
    {"id": "9009", "name": "Tea House", "category": "Shopping & Retail", "tasks": ["ADVERTISE", "ANALYZE"]},
    {"id": "9010", "name": "Coffee Corner", "category": "Cafe", "tasks": ["ADVERTISE"]},
)
SEED_IMAGES: Rows = make_rows(
    "id hash name width height status url",
    ("1:0f1e2d", "0f1e2d", "leaves.jpg", 1200, 628, "ACTIVE", "https://scontent.example/0f1e2d.jpg"),
    ("1:c0ffee", "c0ffee", "cup.jpg", 1080, 1080, "ACTIVE", "https://scontent.example/c0ffee.jpg"),
)
# Edge of the account: kind of node, its rows. Empty members are left out, as in every answer.
ROWS_BY_EDGE: Mapping[str, tuple[str, Rows]] = {
    "promote_pages": ("page", SEED_PAGES),
    "adspixels": (
        "pixel",
        (
            {"id": "8001", "name": "Tea pixel", "last_fired_time": "2026-11-20T09:30:00+0000", "is_unavailable": False},
            {"id": "8002", "name": "Unused pixel", "is_unavailable": False},
        ),
    ),
    "customconversions": (
        "conversion",
        (
            {
                "id": "8101",
                "name": "Big basket",
                "custom_event_type": "PURCHASE",
                "is_archived": False,
                "pixel": {"id": "8001", "name": "Tea pixel"},
            },
        ),
    ),
    "adimages": ("image", SEED_IMAGES),
    "advideos": (
        "video",
        (
            {"id": "8201", "title": "Brewing tea", "length": Decimal("14.8"), "status": {"video_status": "ready"}},
            {"id": "8202", "title": "New harvest", "length": Decimal(30), "status": {"video_status": "processing"}},
        ),
    ),
    "instagram_accounts": ("instagram", ({"id": "8301", "username": "teahouse"},)),
    "customaudiences": (
        "audience",
        (
            {"id": "8401", "name": "Newsletter readers", "subtype": "CUSTOM"},
            {"id": "8402", "name": "Visitors, 30 days", "subtype": "WEBSITE"},
        ),
    ),
    "saved_audiences": ("saved_audience", ({"id": "8501", "name": "Norway, 25 to 45"},)),
    "dsa_recommendations": ("dsa_recommendation", ()),
    "minimum_budgets": ("minimum_budget", ()),
}
INTERESTS: Rows = (
    {"id": "6003384248805", "name": "Tea (drink)", "audience_size_lower_bound": 310000000},
    {"id": "6003142974961", "name": "Green tea (drink)", "audience_size_lower_bound": 52000000},
    {"id": "6003626773307", "name": "Coffee (drink)", "audience_size_lower_bound": 640000000},
)
LOCALES: tuple[tuple[int, str], ...] = (
    (6, "English (US)"),
    (24, "English (UK)"),
    (5, "German"),
    (9, "French (France)"),
    (11, "Japanese"),
    (13, "Norwegian (bokmal)"),
)
PLACE_TYPES = split_words("""
    country country_group region city zip geo_market electoral_district neighborhood subcity subneighborhood metro_area
    small_geo_area medium_geo_area large_geo_area
""")
_COUNTRY_NAMES = {key: name for kind, key, name, *_ in LOCATIONS if kind == "country"}
_SEARCH_CHECKS: Mapping[str, Mapping[str, Check]] = {
    "adgeolocation": {"q": text(), "location_types": json_text(array(choice(*PLACE_TYPES), 1))},
    "adinterest": {"q": text()},
    "adlocale": {"q": text()},
}


def list_edge(request: Request) -> Response:
    """GET /act_X/{edge}."""
    account = require_account_by_id(request, request.path_parameters["node"])
    node, rows = ROWS_BY_EDGE[request.path_parameters["edge"]]
    query = parse_query(request, PAGING_CHECKS)
    rows_by_node = {
        "image": [dict(image.data) for image in request.world.list_entities("adimage", account.id)],
        "minimum_budget": _build_minimum_budgets(account),
        # the documentation says "strings" only; that one object lists the strings is our choice
        "dsa_recommendation": [{"recommendations": [account.name, account.extra["native"]["business"]["name"]]}],
    }
    return build_page_response(
        request,
        render_rows(node, [*rows, *rows_by_node.get(node, [])], query or {"fields": _get_default_fields(node)}),
        query,
    )


def list_pages(request: Request) -> Response:
    """GET /me/accounts: the pages of the person."""
    query = parse_query(request, PAGING_CHECKS)
    return build_page_response(request, render_rows("page", SEED_PAGES, query), query)


def search_catalog(request: Request) -> Response:
    """GET /search."""
    kind = dict(request.query_pairs).get("type", "")
    if kind not in _SEARCH_CHECKS:
        raise InvalidRequest("value", "/type", f"must be one of {', '.join(_SEARCH_CHECKS)}")
    parameters = parse_query(request, {"type": choice(kind), "limit": integer_text(1, 1000), **_SEARCH_CHECKS[kind]})
    if kind != "adlocale" and "q" not in parameters:
        raise InvalidRequest("required", "/q", "q is required")
    query = parameters.get("q", "").lower()
    match kind:
        case "adgeolocation":
            types = parameters.get("location_types", PLACE_TYPES)
            rows = [_render_place(*place) for place in LOCATIONS if place[0] in types and query in place[2].lower()]
        case "adinterest":
            rows = [dict(row) for row in INTERESTS if query in row["name"].lower()]
        case _:
            rows = [{"key": key, "name": name} for key, name in LOCALES if query in name.lower()]
    return build_response(request, {"data": rows[: parameters.get("limit", 25)]})


def create_image(request: Request) -> Response:
    """POST /act_X/adimages: adds to the image library."""
    account = require_account_by_id(request, request.path_parameters["node"])
    form = parse_form(request, {"bytes": text(), "copy_from": OBJECT_CHECK})
    try:
        content = base64.b64decode(form.get("bytes", ""), validate=True)
    except binascii.Error as error:
        raise InvalidRequest("value", "/bytes", "must be base64") from error
    if not content:
        raise InvalidRequest("required", "/bytes", "bytes is required (copy_from is not simulated)")
    digest = hashlib.md5(content, usedforsecurity=False).hexdigest()
    image = {"hash": digest, "name": "bytes", "status": "ACTIVE", "url": f"https://scontent.example/{digest}.jpg"}
    node = f"{account.id.removeprefix('act_')}:{digest}"
    if request.world.find("adimage", node) is None:
        request.world.create("adimage", account.id, {"id": node, **image}, id=node)
    return build_response(request, {"images": {"bytes": {"hash": digest, "url": image["url"]}}})


def _build_minimum_budgets(account: Account) -> Rows:
    """Floors in minor units; only min_daily_budget of the account is enforced; the finer floors are our choice."""
    least = account.extra["native"]["min_daily_budget"]
    often = ("min_daily_budget_imp", "min_daily_budget_high_freq", "min_daily_budget_video_views")
    return ({"currency": account.currency, **dict.fromkeys(often, least), "min_daily_budget_low_freq": 40 * least},)


def _get_default_fields(node: str) -> str:
    """The fields of an edge without ids if the request names none."""
    return {"minimum_budget": _MINIMUM_BUDGET_FIELDS, "dsa_recommendation": "recommendations"}.get(node, "id")


_MINIMUM_BUDGET_FIELDS = (
    "currency,min_daily_budget_imp,min_daily_budget_high_freq,min_daily_budget_low_freq,min_daily_budget_video_views"
)


def _render_place(
    kind: str, key: str, name: str, country: str, region: str | None, region_id: str | None
) -> dict[str, Any]:
    place: dict[str, Any] = {"key": key, "name": name, "type": kind}
    if country:
        place |= {"country_code": country, "country_name": _COUNTRY_NAMES[country]}
    if region is not None and region_id is not None:
        place |= {"region": region, "region_id": int(region_id)}
    return {**place, "supports_region": kind == "country", "supports_city": kind in ("country", "region")}
