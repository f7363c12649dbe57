"""The ad account, places, event settings, sources and audiences."""

from typing import Any

from adsunify.sandbox.checks import choice, integer_text, text
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.chatgpt import answers
from adsunify.sandbox.networks.chatgpt.tables import AUDIENCES, EVENT_SETTINGS, INTENDED_USES, PLACES
from adsunify.sandbox.world import Account, World

_DEFAULT_PLACES = 20  # the default of `limit` (our choice)


def get_ad_account(request: Request) -> Response:
    """GET /ad_account: the account of the key."""
    request.parse_query()
    return answers.build_response(request, answers.require_account(request).extra["native"])


def search_places(request: Request) -> Response:
    """GET /geo_lookup/search: the places whose name contains the text."""
    query = request.parse_query({"q": text()}, {"limit": integer_text(1, 100)})
    names = ("type", "country_code", "region_code", "parent_id", "name", "canonical_name")
    rows = [
        {"id": native_id, **dict(zip(names, place, strict=True)), "parent_country": place[1] if place[3] else None}
        for native_id, place in PLACES.items()
        if query["q"].lower() in place[5].lower()
    ][: query.get("limit", _DEFAULT_PLACES)]
    return answers.build_response(request, {"query": query["q"], "count": len(rows), "results": rows})


def list_event_settings(request: Request) -> Response:
    """GET /conversions/event_settings."""
    query = answers.parse_query(request, {}, answers.LIST_CHECKS, {})
    return answers.build_page_response(
        request, build_event_settings(request.world, answers.require_account(request)), query
    )


def build_event_settings(world: World, account: Account) -> list[dict[str, Any]]:
    """Every event setting of an account."""
    settings = []
    for first, name, event_type, custom, archived, linked in EVENT_SETTINGS:
        native_id = f"{first}{_get_account_number(account)}"
        used = [
            {"id": campaign.id, "name": campaign.data["name"]}
            for campaign in world.list_entities("campaign", account.id)
            if native_id in campaign.data["conversion_event_setting_ids"]
        ]
        sources = (
            [{"id": campaign["id"], "name": campaign["name"]} for campaign in _list_pixel_sources(account)]
            if linked
            else []
        )
        settings.append(
            {
                "id": native_id,
                "name": name,
                "event_type": event_type,
                "custom_event_name": custom,
                "attribution_window_days": 30,
                "ad_account_id": account.id,
                "source_ids": [campaign["id"] for campaign in sources],
                "sources": sources,
                "campaigns": used,
                "archived": archived,
                "version": 1,
            }
        )
    return settings


def list_pixels(request: Request) -> Response:
    """GET /conversions/pixels: not enabled for every account."""
    query = answers.parse_query(request, {}, answers.LIST_CHECKS, {})
    account = answers.require_account(request)
    if not account.extra["pixels"]:
        raise answers.not_enabled_error(request)
    return answers.build_page_response(request, _list_pixel_sources(account), query)


def list_custom_audiences(request: Request) -> Response:
    """GET /custom_audiences. An audience that is still processing has no uses yet (our choice)."""
    query = answers.parse_query(request, {}, {**answers.LIST_CHECKS, "intended_use": choice(*INTENDED_USES)}, {})
    account = answers.require_account(request)
    created_at = int(request.world.now.timestamp()) // 86400 * 86400
    rows = [
        {
            "id": f"{first}{_get_account_number(account)}",
            "created_at": created_at,
            "updated_at": created_at,
            "name": name,
            "description": None,
            "status": status,
            "hash_spec_version": "v1",
            "uploaded_identifier_count_range": "1000-10000",
            "matched_identifier_count_range": "500-1000",
            "invalid_identifier_count_range": "0-100",
        }
        for first, name, status in AUDIENCES
        if status == "ready" or "intended_use" not in query
    ]
    return answers.build_page_response(request, rows, query)


def _list_pixel_sources(account: Account) -> list[dict[str, str]]:
    number = _get_account_number(account)
    return [{"id": f"cds_{number}", "name": "Web shop", "client_type": "web", "pixel_id": f"pixel-{number}"}]


def _get_account_number(account: Account) -> str:
    return account.id.removeprefix("adacct_")
