"""Apps, product pages, eligibility, places and languages. The entries are a sample of real ones."""

from collections.abc import Mapping
from typing import Any

from adsunify.sandbox.checks import any_value, array, boolean, choice, integer, record, text
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.apple.answers import build_response, not_found_error, paginate
from adsunify.sandbox.networks.apple.creatives import make_destination
from adsunify.sandbox.networks.apple.fields import APP_ID_CHECK
from adsunify.sandbox.networks.apple.lists import PAGINATION_CHECK, build_page_response, check_filters
from adsunify.sandbox.networks.apple.tables import DEFAULT_PAGE_SIZE, DEMO_APP, MAX_PAGE_SIZE, STOREFRONTS
from adsunify.sandbox.paging import OffsetPaging
from adsunify.sandbox.parsing import InvalidRequest

_APPS: Mapping[str, str] = {DEMO_APP: "Yoga Timer", "1440000002": "Tea Timer", "1440000003": "Run Timer"}
_PRODUCT_PAGES = ("Winter", "Spring", "Summer", "Autumn")
_LANGUAGES: Mapping[str, tuple[str, ...]] = {
    "AT": ("de-DE",),
    "CA": ("en-CA", "fr-CA"),
    "DE": ("de-DE", "en-GB"),
    "GB": ("en-GB",),
    "JP": ("ja", "en-US"),
    "US": ("en-US", "es-MX"),
}
_ADMIN_AREAS: Mapping[str, tuple[str, ...]] = {
    "DE": ("Bavaria", "Berlin", "Hamburg"),
    "GB": ("England", "Scotland", "Wales"),
    "JP": ("Hokkaido", "Osaka", "Tokyo"),
    "US": ("California", "New York", "Texas"),
}
_FILTER_CHECK = record(
    required={"field": text(), "operator": text(), "value": any_value}, optional={"ignoreCase": boolean}
)
_BODY_CHECK = record(
    optional={
        "filters": array(_FILTER_CHECK),
        "sorting": array(record(required={"field": text(), "order": choice("ASC", "DESC")})),
        "pagination": PAGINATION_CHECK,
    }
)
_PAGING = OffsetPaging("offset", "pageSize")
_PAGING_CHECKS = _PAGING.make_checks(MAX_PAGE_SIZE)


def get_app(request: Request) -> Response:
    """GET /apps/{adamId}: every well-formed id is an app."""
    request.parse_query()
    try:
        return build_response({"result": _render_app(APP_ID_CHECK(request.path_parameters["id"], "adamId"))})
    except InvalidRequest as problem:
        raise not_found_error("app") from problem


def _render_app(adam_id: str) -> dict[str, Any]:
    name = _APPS.get(adam_id, f"App {adam_id}")
    # The documentation does not say which member has the name. The response has the member of v5 and the member of the
    # other objects (our choice).
    return {
        "adamId": int(adam_id),
        "name": name,
        "appName": name,
        "developerName": "Demo Apps",
        "availableStorefronts": list(STOREFRONTS),
        "deviceClasses": ["IPHONE", "IPAD"],
    }


def search_apps(request: Request) -> Response:
    """GET /search/apps?query=...: parameters as in v5 (unverified)."""
    query = request.parse_query({"query": text()}, {**_PAGING_CHECKS, "returnOwnedApps": choice("true", "false")})
    apps = [_render_app(adam_id) for adam_id, name in _APPS.items() if query["query"].lower() in name.lower()]
    rows, pagination = paginate(apps, *_PAGING.get_bounds(query, DEFAULT_PAGE_SIZE))
    return build_response({"result": rows, "pagination": pagination})


def list_product_pages(request: Request) -> Response:
    """POST /product-pages/query: filter adamId EQUALS a number."""
    adam_id, body = _parse_app_query(request)
    rows = [
        {
            "id": make_destination(adam_id, name)["parameters"]["productPageId"],
            "adamId": int(adam_id),
            "name": name,
            "state": "PUBLISHED",
        }
        for name in _PRODUCT_PAGES
    ]
    return build_page_response(rows, body)


def list_eligibility(request: Request) -> Response:
    """POST /eligibilities/apps/query: filter adamId."""
    adam_id, body = _parse_app_query(request)
    rows = [
        {
            "adamId": int(adam_id),
            "countryOrRegion": country,
            "deviceClass": device,
            "supplyPlacement": "APPSTORE_SEARCH_RESULTS",
            "minAge": 18,
            "state": "ELIGIBLE",
        }
        for country in ("DE", "GB", "JP", "US")
        for device in ("IPHONE", "IPAD")
    ]
    return build_page_response(rows, body)


def _parse_app_query(request: Request) -> tuple[str, dict[str, Any]]:
    request.parse_query()
    body: dict[str, Any] = request.parse_json(_BODY_CHECK)
    filters = {"adamId": (integer(1), ("EQUALS",)), "state": (text(), ("EQUALS", "IN"))}
    for condition in check_filters(body.get("filters", []), filters):
        if condition["field"] == "adamId":
            return str(condition["value"]), body
    raise InvalidRequest("required", "/filters", "a filter of adamId is required")


def list_supported_languages(request: Request) -> Response:
    """POST /metadata/apps/supported-languages/query."""
    request.parse_query()
    body = request.parse_json(_BODY_CHECK)
    check_filters(body.get("filters", []), {})
    return build_page_response(
        [{"countryCode": code, "languageCodes": list(some)} for code, some in _LANGUAGES.items()], body
    )


def search_places(request: Request) -> Response:
    """GET /search/geo."""
    query = request.parse_query(
        {"supplySource": choice("APPSTORE", "MAPS")},
        {
            **_PAGING_CHECKS,
            "countrycode": text(2, 2, "[A-Z]{2}"),
            "query": text(1),
            "eligible": choice("true", "false"),
            "entity": choice("Country", "AdminArea", "Locality"),
        },
    )
    search_text = query.get("query", "*")
    if search_text != "*" and len(search_text) < 2:
        raise InvalidRequest("value", "query", "must have two or more characters, or be *")
    places = [
        row
        for row in _list_places()
        if row["countryOrRegion"] == query.get("countrycode", row["countryOrRegion"])
        and row["entity"] == query.get("entity", row["entity"])
        and (search_text == "*" or search_text.lower() in row["displayName"].lower())
        and (query.get("eligible") != "true" or row["eligibility"] == "ELIGIBLE")
    ]
    rows, pagination = paginate(places, *_PAGING.get_bounds(query, DEFAULT_PAGE_SIZE))
    return build_response({"result": rows, "pagination": pagination})


def find_place(native_id: str) -> Mapping[str, Any] | None:
    """The place of this id, or None."""
    return next((place for place in _list_places() if place["id"] == native_id), None)


def _list_places() -> list[dict[str, Any]]:
    places: list[dict[str, Any]] = []
    for number, (country, areas) in enumerate(_ADMIN_AREAS.items()):
        places.append(_make_place(10001 + number, "Country", country, country, None, None))
        for position, area in enumerate(areas):
            at = 10 * number + position
            places.append(_make_place(20030 + at, "AdminArea", f"{area}, {country}", country, area, None))
            places.append(
                _make_place(30030 + at, "Locality", f"{area} City, {area}, {country}", country, area, f"{area} City")
            )
    return places


def _make_place(
    number: int, entity: str, name: str, country: str, area: str | None, locality: str | None
) -> dict[str, Any]:
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
