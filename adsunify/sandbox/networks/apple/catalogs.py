"""Apps, product pages, eligibility, places and languages. The entries are a choice of real ones."""

from collections.abc import Mapping
from typing import Any

from adsunify.sandbox.framework import (
    Answer,
    Problem,
    Request,
    anything,
    boolean,
    choice,
    integer,
    integer_text,
    listing,
    record,
    text,
)
from adsunify.sandbox.networks.apple.answers import absent, answered, paged
from adsunify.sandbox.networks.apple.creatives import destination
from adsunify.sandbox.networks.apple.fields import APP_ID
from adsunify.sandbox.networks.apple.lists import PAGINATION, checked, page
from adsunify.sandbox.networks.apple.tables import DEMO_APP, LONGEST_PAGE, STOREFRONTS, USUAL_PAGE

_APPS: Mapping[str, str] = {DEMO_APP: "Yoga Timer", "1440000002": "Tea Timer", "1440000003": "Run Timer"}
_PAGES = ("Winter", "Spring", "Summer", "Autumn")
_LANGUAGES: Mapping[str, tuple[str, ...]] = {
    "AT": ("de-DE",), "CA": ("en-CA", "fr-CA"), "DE": ("de-DE", "en-GB"), "GB": ("en-GB",), "JP": ("ja", "en-US"),
    "US": ("en-US", "es-MX"),
}  # fmt: skip
_AREAS: Mapping[str, tuple[str, ...]] = {
    "DE": ("Bavaria", "Berlin", "Hamburg"),
    "GB": ("England", "Scotland", "Wales"),
    "JP": ("Hokkaido", "Osaka", "Tokyo"),
    "US": ("California", "New York", "Texas"),
}
_FILTER = record(required={"field": text(), "operator": text(), "value": anything}, optional={"ignoreCase": boolean})
_BODY = record(
    optional={
        "filters": listing(_FILTER),
        "sorting": listing(record(required={"field": text(), "order": choice("ASC", "DESC")})),
        "pagination": PAGINATION,
    }
)
_PAGING = {"offset": integer_text(0), "pageSize": integer_text(1, LONGEST_PAGE)}


def app(request: Request) -> Answer:
    """GET /apps/{adamId}: every well-formed id is an app."""
    request.query()
    try:
        return answered({"result": _app(APP_ID(request.slots["id"], "adamId"))})
    except Problem as problem:
        raise absent("app") from problem


def _app(adam_id: str) -> dict[str, Any]:
    name = _APPS.get(adam_id, f"App {adam_id}")
    # the documentation does not say under which member the name stands: both words of v5 and of the other objects
    # (chosen)
    return {
        "adamId": int(adam_id),
        "name": name,
        "appName": name,
        "developerName": "Demo Apps",
        "availableStorefronts": list(STOREFRONTS),
        "deviceClasses": ["IPHONE", "IPAD"],
    }


def search_apps(request: Request) -> Answer:
    """GET /search/apps?query=...: parameters as in v5 (unverified)."""
    wanted = request.query({"query": text()}, {**_PAGING, "returnOwnedApps": choice("true", "false")})
    found = [_app(one) for one, name in _APPS.items() if wanted["query"].lower() in name.lower()]
    rows, pagination = paged(found, wanted.get("offset", 0), wanted.get("pageSize", USUAL_PAGE))
    return answered({"result": rows, "pagination": pagination})


def product_pages(request: Request) -> Answer:
    """POST /product-pages/query: filter adamId EQUALS a number."""
    adam_id, asked = _of_app(request)
    rows = [
        {"id": destination(adam_id, name)["parameters"]["productPageId"], "adamId": int(adam_id), "name": name,
         "state": "PUBLISHED"}
        for name in _PAGES
    ]  # fmt: skip
    return page(rows, asked)


def eligibility(request: Request) -> Answer:
    """POST /eligibilities/apps/query: filter adamId."""
    adam_id, asked = _of_app(request)
    rows = [
        {"adamId": int(adam_id), "countryOrRegion": country, "deviceClass": device,
         "supplyPlacement": "APPSTORE_SEARCH_RESULTS", "minAge": 18, "state": "ELIGIBLE"}
        for country in ("DE", "GB", "JP", "US") for device in ("IPHONE", "IPAD")
    ]  # fmt: skip
    return page(rows, asked)


def _of_app(request: Request) -> tuple[str, dict[str, Any]]:
    request.query()
    asked: dict[str, Any] = request.json(_BODY)
    known = {"adamId": (integer(1), ("EQUALS",)), "state": (text(), ("EQUALS", "IN"))}
    for one in checked(asked.get("filters", []), known):
        if one["field"] == "adamId":
            return str(one["value"]), asked
    raise Problem("required", "/filters", "a filter of adamId is required")


def languages(request: Request) -> Answer:
    """POST /metadata/apps/supported-languages/query."""
    request.query()
    asked = request.json(_BODY)
    checked(asked.get("filters", []), {})
    return page([{"countryCode": code, "languageCodes": list(some)} for code, some in _LANGUAGES.items()], asked)


def places(request: Request) -> Answer:
    """GET /search/geo."""
    wanted = request.query(
        {"supplySource": choice("APPSTORE", "MAPS")},
        {**_PAGING, "countrycode": text(2, 2, "[A-Z]{2}"), "query": text(1), "eligible": choice("true", "false"),
         "entity": choice("Country", "AdminArea", "Locality")},
    )  # fmt: skip
    sought = wanted.get("query", "*")
    if sought != "*" and len(sought) < 2:
        raise Problem("value", "query", "must have two or more characters, or be *")
    found = [
        row
        for row in _places()
        if row["countryOrRegion"] == wanted.get("countrycode", row["countryOrRegion"])
        and row["entity"] == wanted.get("entity", row["entity"])
        and (sought == "*" or sought.lower() in row["displayName"].lower())
        and (wanted.get("eligible") != "true" or row["eligibility"] == "ELIGIBLE")
    ]
    rows, pagination = paged(found, wanted.get("offset", 0), wanted.get("pageSize", USUAL_PAGE))
    return answered({"result": rows, "pagination": pagination})


def place_of(native_id: str) -> Mapping[str, Any] | None:
    """The place of this id, None where the search does not know it."""
    return next((one for one in _places() if one["id"] == native_id), None)


def _places() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for number, (country, areas) in enumerate(_AREAS.items()):
        found.append(_place(10001 + number, "Country", country, country, None, None))
        for position, area in enumerate(areas):
            at = 10 * number + position
            found.append(_place(20030 + at, "AdminArea", f"{area}, {country}", country, area, None))
            found.append(
                _place(30030 + at, "Locality", f"{area} City, {area}, {country}", country, area, f"{area} City")
            )
    return found


def _place(number: int, entity: str, name: str, country: str, area: str | None, locality: str | None) -> dict[str, Any]:
    return {
        "id": str(number),
        "legacyId": "|".join(part for part in (country, area, locality) if part),
        "entity": entity,
        "displayName": name,
        "countryOrRegion": country,
        "adminArea": area,
        "locality": locality,
        "eligibility": "INELIGIBLE" if area == "Wales" and locality else "ELIGIBLE",
    }
