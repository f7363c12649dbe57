"""Other catalogs. The entries are plausible samples."""

from collections.abc import Iterator, Mapping
from typing import Any

from adsunify.sandbox.checks import integer_text, text
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.outbrain.answers import build_response, require_account_by_id
from adsunify.sandbox.networks.outbrain.tables import BROWSERS, CURRENCIES, OPERATING_SYSTEMS
from adsunify.sandbox.networks.outbrain.targeting import LANGUAGES

# id, name, whether it can be targeted, its children
_INTERESTS: tuple[tuple[str, str, bool, tuple[tuple[str, str, bool], ...]], ...] = (
    ("3001", "Health", True, (("3011", "Sleep", True), ("3012", "Nutrition", True))),
    ("3002", "Sports", False, (("3021", "Football", True), ("3022", "Betting", False))),
    ("3003", "Travel", True, ()),
)
_CATEGORIES = (("IAB7", "Health & Fitness"), ("IAB17", "Sports"), ("IAB20", "Travel"))
_CONVERSION_EVENTS = ("Purchase", "Sign up")
_SEGMENTS = ("Visitors of 30 days", "Buyers")
_METADATA: Mapping[str, Any] = {
    "supportedLanguages": [{"code": code, "name": name} for code, name in LANGUAGES.items()],
    "browsers": list(BROWSERS),
    "operatingSystems": list(OPERATING_SYSTEMS),
}


def list_metadata(request: Request) -> Response:
    """GET /metadata/{list}: bare arrays."""
    request.parse_query()
    return build_response(request, _METADATA[request.path_parameters["list"]])


def list_currencies(request: Request) -> Response:
    """GET /currencies."""
    request.parse_query()
    rows = [
        {"name": name, "code": code, "minimumCpc": least, "maximumCpc": most, "minimumCampaignBudget": budget}
        for code, (name, least, most, budget) in CURRENCIES.items()
    ]
    return build_response(request, {"count": len(rows), "currencies": rows})


def list_interests(request: Request) -> Response:
    """GET /interests/all: a tree."""
    request.parse_query()
    rows = [
        {**_render_interest(*above), "subConcepts": [_render_interest(*interest) for interest in below]}
        for *above, below in _INTERESTS
    ]
    return build_response(request, {"interests": rows})


def search_interests(request: Request) -> Response:
    """GET /interests/search: flat."""
    query = request.parse_query({"term": text()}, {"limit": integer_text(1)})
    rows = [row for row in _iterate_interests() if query["term"].casefold() in row["name"].casefold()]
    return build_response(request, {"interests": rows[: query.get("limit")]})


def _iterate_interests() -> Iterator[dict[str, Any]]:
    for *above, below in _INTERESTS:
        yield _render_interest(*above)
        yield from (_render_interest(*interest) for interest in below)


def _render_interest(native_id: Any, name: Any, targeted: Any) -> dict[str, Any]:
    return {"id": native_id, "name": name, "canBeTargeted": targeted, "subConcepts": []}


def list_categories(request: Request) -> Response:
    """GET /iabcategories/all."""
    request.parse_query()
    rows = [{"categoryId": native_id, "categoryName": name} for native_id, name in _CATEGORIES]
    return build_response(request, {"categories": rows})


def list_conversion_events(request: Request) -> Response:
    """GET /marketers/{marketer}/conversionEvents."""
    return _list_named_entries(request, "conversionEvents", "05", _CONVERSION_EVENTS)


def list_segments(request: Request) -> Response:
    """GET /marketers/{marketer}/segments (the path is unverified)."""
    return _list_named_entries(request, "segments", "06", _SEGMENTS)


def _list_named_entries(request: Request, word: str, first: str, names: tuple[str, ...]) -> Response:
    request.parse_query()
    account = require_account_by_id(request, request.path_parameters["marketer"])
    rows = [{"id": f"{first}{account.id[4:]}{position:02}", "name": name} for position, name in enumerate(names, 1)]
    return build_response(request, {"count": len(rows), word: rows})
