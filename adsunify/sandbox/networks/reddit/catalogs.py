"""Funding, pixels, profiles, apps and targeting options. The entries are a sample."""

from collections.abc import Mapping
from typing import Any
from zoneinfo import available_timezones

from adsunify.sandbox.checks import choice, text
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.reddit.answers import PAGING_CHECKS, build_page_response, require_account
from adsunify.sandbox.networks.reddit.tables import FUNDING_CURRENCIES, LANGUAGES, MICROS
from adsunify.sandbox.parsing import parse_names
from adsunify.sandbox.world import Account

_MODES = ("ACTIVE", "INACTIVE", "UPCOMING", "SELECTABLE", "ALL")
_COUNTRIES: Mapping[str, str] = parse_names("""
    AU Australia, BR Brazil, CA Canada, DE Germany, FR France, GB United Kingdom, IE Ireland, JP Japan, NZ New Zealand,
    SG Singapore, US United States
""")
# id, name, country, then the kind of place
_PLACES: tuple[tuple[str, str, str, str, str], ...] = (
    ("US-NY", "New York, United States", "US", "region", "New York"),
    ("US-VA", "Virginia, United States", "US", "region", "Virginia"),
    ("US:501", "New York DMA, United States", "US", "dma", "New York"),
    ("CA:6167865", "Toronto, Ontario, Canada", "CA", "city", "Toronto"),
    ("GB:2643743", "London, England, United Kingdom", "GB", "city", "London"),
    ("US:10001", "10001, New York, United States", "US", "postal_code", "10001"),
)
# too many for a list: only a search finds them
_SEARCH_PARAMETERS = {"city": "cities_search", "postal_code": "postal_code"}
_COMMUNITIES = ("homeimprovement", "tea", "teahouse", "cooking", "AskReddit", "de", "newzealand")
_INTERESTS = (("interest_1", "Tea", "Food & Drink"), ("interest_2", "Gardening", "Home & Garden"))
_FLAT_CATALOGS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "languages": tuple(LANGUAGES.items()),
    "carriers": (("ATT_WIRELESS_US", "AT&T"), ("EE_UK", "EE"), ("TELSTRA_INTERNET", "Telstra")),
    "devices": (("DESKTOP", "Desktop"), ("MOBILE", "Mobile")),
}


def list_funding_instruments(request: Request) -> Response:
    """GET /ad_accounts/{account}/funding_instruments. The default mode is SELECTABLE (our choice)."""
    account = require_account(request)
    query = request.parse_query({}, {**PAGING_CHECKS, "mode": choice(*_MODES), "search": text()})
    modes = {"ALL": ("ACTIVE", "INACTIVE"), "INACTIVE": ("INACTIVE",), "UPCOMING": ()}
    states = modes.get(query.get("mode", "SELECTABLE"), ("ACTIVE",))
    rows = [row for state, row in _build_instruments(account) if state in states]
    return build_page_response(
        request, [row for row in rows if query.get("search", "").lower() in row["name"].lower()], query
    )


def _build_instruments(account: Account) -> list[tuple[str, dict[str, Any]]]:
    """4711 can be used, 4712 is used up, 4713 has ended. For currencies without instruments (JPY) they are in USD."""
    currency = account.currency if account.currency in FUNDING_CURRENCIES else "USD"
    states: tuple[tuple[str, str, str, list[str]], ...] = (
        ("4711", "ACTIVE", "Demo card", []),
        ("4712", "ACTIVE", "Demo credit line", ["CREDIT_LIMIT_REACHED"]),
        ("4713", "INACTIVE", "Demo order of last year", ["EXPIRED"]),
    )
    return [
        (
            state,
            {
                "id": native_id,
                "name": name,
                "currency": currency,
                "is_servable": not reasons,
                "reasons_not_servable": reasons,
                "billable_amount": 0,
                "credit_limit": 10_000 * MICROS,
            },
        )
        for native_id, state, name, reasons in states
    ]


def list_pixels(request: Request) -> Response:
    """GET /ad_accounts/{account}/pixels: one pixel often has the id of the account."""
    account = require_account(request)
    query = request.parse_query({}, PAGING_CHECKS)
    return build_page_response(
        request, [{"id": pixel_id, "name": f"Pixel {pixel_id}"} for pixel_id in ("a2_pixel0001", account.id)], query
    )


def list_profiles(request: Request) -> Response:
    """GET /ad_accounts/{account}/profiles."""
    require_account(request)
    return build_page_response(
        request, [{"id": "t2_demotea", "name": "u_demotea"}], request.parse_query({}, PAGING_CHECKS)
    )


def list_apps(request: Request) -> Response:
    """GET /ad_accounts/{account}/apps."""
    require_account(request)
    return build_page_response(request, [{"id": "app_1", "name": "Tea time"}], request.parse_query({}, PAGING_CHECKS))


def list_geolocations(request: Request) -> Response:
    """GET /targeting/geolocations: countries; with `country` its places; cities and postal codes by search."""
    words = {"country": text(2, 2), "cities_search": text(), "postal_code": text()}
    query = request.parse_query({}, {**PAGING_CHECKS, **words})
    rows = [{"id": code, "name": name, "country": code} for code, name in _COUNTRIES.items()]
    rows += [
        {"id": place_id, "name": name, "country": country, kind: word}
        for place_id, name, country, kind, word in _PLACES
    ]
    words_by_kind = {
        kind: query[parameter].lower() for kind, parameter in _SEARCH_PARAMETERS.items() if parameter in query
    }
    if words_by_kind:
        rows = [row for row in rows if any(word in row.get(kind, "").lower() for kind, word in words_by_kind.items())]
    else:
        rows = [row for row in rows if not {*row} & {*_SEARCH_PARAMETERS}]
    return build_page_response(request, [row for row in rows if query.get("country") in (None, row["country"])], query)


def search_communities(request: Request) -> Response:
    """GET /targeting/communities/search?query=."""
    query = request.parse_query({"query": text()}, PAGING_CHECKS)
    return build_page_response(
        request,
        [_render_community(community) for community in _COMMUNITIES if query["query"].lower() in community.lower()],
        query,
    )


def list_communities(request: Request) -> Response:
    """GET /targeting/communities?names=a,b."""
    query = request.parse_query({"names": text()}, PAGING_CHECKS)
    names = query["names"].lower().split(",")
    return build_page_response(
        request, [_render_community(community) for community in _COMMUNITIES if community.lower() in names], query
    )


def _render_community(name: str) -> dict[str, Any]:
    return {"id": f"t5_{name.lower()}", "name": name, "subscriber_count": 1000 * len(name)}


def list_interests(request: Request) -> Response:
    """GET /targeting/interests."""
    rows = [{"id": native_id, "name": name, "category": category} for native_id, name, category in _INTERESTS]
    return build_page_response(request, rows, request.parse_query({}, PAGING_CHECKS))


def list_flat_catalog(request: Request) -> Response:
    """GET /targeting/languages, /targeting/carriers, /targeting/devices. Devices have a `value`, the others an id."""
    kind = request.path_parameters["catalog"]
    member = "value" if kind == "devices" else "id"
    return build_page_response(
        request,
        [{member: native_id, "name": name} for native_id, name in _FLAT_CATALOGS[kind]],
        request.parse_query({}, PAGING_CHECKS),
    )


def list_timezones(request: Request) -> Response:
    """GET /time_zones."""
    rows = [{"id": name, "name": name.replace("_", " ")} for name in sorted(available_timezones()) if "/" in name]
    return build_page_response(request, rows, request.parse_query({}, PAGING_CHECKS))
