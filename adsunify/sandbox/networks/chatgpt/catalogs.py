"""The ad account, places, event settings, sources and audiences."""

from typing import Any

from adsunify.sandbox.checks import choice, integer_text, text
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.chatgpt.answers import (
    LIST_CHECKS,
    build_page_response,
    build_response,
    not_enabled_error,
    parse_query,
    require_account,
)
from adsunify.sandbox.networks.chatgpt.tables import AUDIENCES, EVENT_SETTINGS, INTENDED_USES, PLACES
from adsunify.sandbox.world import Account, World

_DEFAULT_PLACES = 20  # without `limit` (chosen)


def get_ad_account(request: Request) -> Response:
    """GET /ad_account: the one that the key belongs to."""
    request.parse_query()
    return build_response(request, require_account(request).extra["native"])


def search_places(request: Request) -> Response:
    """GET /geo_lookup/search: the places whose name holds the text."""
    wanted = request.parse_query({"q": text()}, {"limit": integer_text(1, 100)})
    names = ("type", "country_code", "region_code", "parent_id", "name", "canonical_name")
    rows = [
        {"id": native_id, **dict(zip(names, place, strict=True)), "parent_country": place[1] if place[3] else None}
        for native_id, place in PLACES.items()
        if wanted["q"].lower() in place[5].lower()
    ][: wanted.get("limit", _DEFAULT_PLACES)]
    return build_response(request, {"query": wanted["q"], "count": len(rows), "results": rows})


def list_event_settings(request: Request) -> Response:
    """GET /conversions/event_settings."""
    wanted = parse_query(request, {}, LIST_CHECKS, {})
    return build_page_response(request, build_event_settings(request.world, require_account(request)), wanted)


def build_event_settings(world: World, account: Account) -> list[dict[str, Any]]:
    """Every event setting of an account."""
    found = []
    for first, name, event_type, custom, archived, linked in EVENT_SETTINGS:
        native_id = f"{first}{_get_account_number(account)}"
        used = [
            {"id": one.id, "name": one.data["name"]}
            for one in world.list_entities("campaign", account.id)
            if native_id in one.data["conversion_event_setting_ids"]
        ]
        sources = [{"id": one["id"], "name": one["name"]} for one in _list_pixel_sources(account)] if linked else []
        found.append(
            {
                "id": native_id,
                "name": name,
                "event_type": event_type,
                "custom_event_name": custom,
                "attribution_window_days": 30,
                "ad_account_id": account.id,
                "source_ids": [one["id"] for one in sources],
                "sources": sources,
                "campaigns": used,
                "archived": archived,
                "version": 1,
            }
        )
    return found


def list_pixels(request: Request) -> Response:
    """GET /conversions/pixels: not enabled for every account."""
    wanted = parse_query(request, {}, LIST_CHECKS, {})
    account = require_account(request)
    if not account.extra["pixels"]:
        raise not_enabled_error(request)
    return build_page_response(request, _list_pixel_sources(account), wanted)


def list_custom_audiences(request: Request) -> Response:
    """GET /custom_audiences. What is still processing serves no use yet (chosen)."""
    wanted = parse_query(request, {}, {**LIST_CHECKS, "intended_use": choice(*INTENDED_USES)}, {})
    account = require_account(request)
    made = int(request.world.now.timestamp()) // 86400 * 86400
    rows = [
        {
            "id": f"{first}{_get_account_number(account)}",
            "created_at": made,
            "updated_at": made,
            "name": name,
            "description": None,
            "status": status,
            "hash_spec_version": "v1",
            "uploaded_identifier_count_range": "1000-10000",
            "matched_identifier_count_range": "500-1000",
            "invalid_identifier_count_range": "0-100",
        }
        for first, name, status in AUDIENCES
        if status == "ready" or "intended_use" not in wanted
    ]
    return build_page_response(request, rows, wanted)


def _list_pixel_sources(account: Account) -> list[dict[str, str]]:
    number = _get_account_number(account)
    return [{"id": f"cds_{number}", "name": "Web shop", "client_type": "web", "pixel_id": f"pixel-{number}"}]


def _get_account_number(account: Account) -> str:
    return account.id.removeprefix("adacct_")
