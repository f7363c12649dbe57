"""The ad account, places, event settings, sources and audiences."""

from typing import Any

from adsunify.sandbox.framework import Account, Answer, Request, World, choice, integer_text, text
from adsunify.sandbox.networks.chatgpt.answers import LIST, account_of, answered, asked, listed, not_enabled
from adsunify.sandbox.networks.chatgpt.tables import AUDIENCES, EVENT_SETTINGS, INTENDED_USES, PLACES

_MOST_PLACES = 20  # without `limit` (chosen)


def ad_account(request: Request) -> Answer:
    """GET /ad_account: the one that the key belongs to."""
    request.query()
    return answered(request, account_of(request).extra["native"])


def geo_lookup(request: Request) -> Answer:
    """GET /geo_lookup/search: the places whose name holds the text."""
    wanted = request.query({"q": text()}, {"limit": integer_text(1, 100)})
    names = ("type", "country_code", "region_code", "parent_id", "name", "canonical_name")
    rows = [
        {"id": native_id, **dict(zip(names, place, strict=True)), "parent_country": place[1] if place[3] else None}
        for native_id, place in PLACES.items()
        if wanted["q"].lower() in place[5].lower()
    ][: wanted.get("limit", _MOST_PLACES)]
    return answered(request, {"query": wanted["q"], "count": len(rows), "results": rows})


def conversion_events(request: Request) -> Answer:
    """GET /conversions/event_settings."""
    wanted = asked(request, {}, LIST, {})
    return listed(request, event_settings(request.world, account_of(request)), wanted)


def event_settings(world: World, account: Account) -> list[dict[str, Any]]:
    """Every event setting of an account."""
    found = []
    for first, name, event_type, custom, archived, linked in EVENT_SETTINGS:
        native_id = f"{first}{_number(account)}"
        used = [
            {"id": one.id, "name": one.data["name"]}
            for one in world.entities("campaign", account.id)
            if native_id in one.data["conversion_event_setting_ids"]
        ]
        sources = [{"id": one["id"], "name": one["name"]} for one in _sources(account)] if linked else []
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


def pixels(request: Request) -> Answer:
    """GET /conversions/pixels: not enabled for every account."""
    wanted = asked(request, {}, LIST, {})
    account = account_of(request)
    if not account.extra["pixels"]:
        raise not_enabled(request)
    return listed(request, _sources(account), wanted)


def custom_audiences(request: Request) -> Answer:
    """GET /custom_audiences. What is still processing serves no use yet (chosen)."""
    wanted = asked(request, {}, {**LIST, "intended_use": choice(*INTENDED_USES)}, {})
    account = account_of(request)
    made = int(request.world.now.timestamp()) // 86400 * 86400
    rows = [
        {
            "id": f"{first}{_number(account)}",
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
    return listed(request, rows, wanted)


def _sources(account: Account) -> list[dict[str, str]]:
    number = _number(account)
    return [{"id": f"cds_{number}", "name": "Web shop", "client_type": "web", "pixel_id": f"pixel-{number}"}]


def _number(account: Account) -> str:
    return account.id.removeprefix("adacct_")
