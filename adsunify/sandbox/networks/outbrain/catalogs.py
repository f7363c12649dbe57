"""What else can be looked up. The entries are a choice of plausible ones."""

from collections.abc import Iterator, Mapping
from typing import Any

from adsunify.sandbox.framework import Answer, Request, integer_text, text
from adsunify.sandbox.networks.outbrain.answers import answered, marketer
from adsunify.sandbox.networks.outbrain.tables import BROWSERS, CURRENCIES, OPERATING_SYSTEMS
from adsunify.sandbox.networks.outbrain.targeting import LANGUAGES

# id, name, whether it can be targeted, what is below it
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


def metadata(request: Request) -> Answer:
    """GET /metadata/{list}: bare arrays."""
    request.query()
    return answered(request, _METADATA[request.slots["list"]])


def currencies(request: Request) -> Answer:
    """GET /currencies."""
    request.query()
    rows = [
        {"name": name, "code": code, "minimumCpc": least, "maximumCpc": most, "minimumCampaignBudget": budget}
        for code, (name, least, most, budget) in CURRENCIES.items()
    ]
    return answered(request, {"count": len(rows), "currencies": rows})


def interests(request: Request) -> Answer:
    """GET /interests/all: a tree."""
    request.query()
    rows = [{**_interest(*above), "subConcepts": [_interest(*one) for one in below]} for *above, below in _INTERESTS]
    return answered(request, {"interests": rows})


def interest_search(request: Request) -> Answer:
    """GET /interests/search: flat."""
    wanted = request.query({"term": text()}, {"limit": integer_text(1)})
    rows = [row for row in _flat() if wanted["term"].casefold() in row["name"].casefold()]
    return answered(request, {"interests": rows[: wanted.get("limit")]})


def _flat() -> Iterator[dict[str, Any]]:
    for *above, below in _INTERESTS:
        yield _interest(*above)
        yield from (_interest(*one) for one in below)


def _interest(native_id: Any, name: Any, targeted: Any) -> dict[str, Any]:
    return {"id": native_id, "name": name, "canBeTargeted": targeted, "subConcepts": []}


def categories(request: Request) -> Answer:
    """GET /iabcategories/all."""
    request.query()
    rows = [{"categoryId": native_id, "categoryName": name} for native_id, name in _CATEGORIES]
    return answered(request, {"categories": rows})


def conversion_events(request: Request) -> Answer:
    """GET /marketers/{marketer}/conversionEvents."""
    return _named(request, "conversionEvents", "05", _CONVERSION_EVENTS)


def segments(request: Request) -> Answer:
    """GET /marketers/{marketer}/segments (the path is unverified)."""
    return _named(request, "segments", "06", _SEGMENTS)


def _named(request: Request, word: str, first: str, names: tuple[str, ...]) -> Answer:
    request.query()
    account = marketer(request, request.slots["marketer"])
    rows = [{"id": f"{first}{account.id[4:]}{position:02}", "name": name} for position, name in enumerate(names, 1)]
    return answered(request, {"count": len(rows), word: rows})
