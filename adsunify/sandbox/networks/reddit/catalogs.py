"""Funding, pixels, profiles, apps and what can be targeted. The entries are a choice."""

from collections.abc import Mapping
from typing import Any
from zoneinfo import available_timezones

from adsunify.sandbox.framework import Account, Answer, Request, choice, text
from adsunify.sandbox.networks.reddit.answers import PAGING, account_of, listed
from adsunify.sandbox.networks.reddit.tables import FUNDING_CURRENCIES, LANGUAGES, MICROS

_MODES = ("ACTIVE", "INACTIVE", "UPCOMING", "SELECTABLE", "ALL")
_COUNTRIES: Mapping[str, str] = {
    "AU": "Australia", "BR": "Brazil", "CA": "Canada", "DE": "Germany", "FR": "France", "GB": "United Kingdom",
    "IE": "Ireland", "JP": "Japan", "NZ": "New Zealand", "SG": "Singapore", "US": "United States",
}  # fmt: skip
# id, name, country, then what kind of place it is, with its name
_PLACES: tuple[tuple[str, str, str, str, str], ...] = (
    ("US-NY", "New York, United States", "US", "region", "New York"),
    ("US-VA", "Virginia, United States", "US", "region", "Virginia"),
    ("US:501", "New York DMA, United States", "US", "dma", "New York"),
    ("CA:6167865", "Toronto, Ontario, Canada", "CA", "city", "Toronto"),
    ("GB:2643743", "London, England, United Kingdom", "GB", "city", "London"),
    ("US:10001", "10001, New York, United States", "US", "postal_code", "10001"),
)
# too many to be listed: found by their words
_SOUGHT = {"city": "cities_search", "postal_code": "postal_code"}
_COMMUNITIES = ("homeimprovement", "tea", "teahouse", "cooking", "AskReddit", "de", "newzealand")
_INTERESTS = (("interest_1", "Tea", "Food & Drink"), ("interest_2", "Gardening", "Home & Garden"))
_FLAT: Mapping[str, tuple[tuple[str, str], ...]] = {
    "languages": tuple(LANGUAGES.items()),
    "carriers": (("ATT_WIRELESS_US", "AT&T"), ("EE_UK", "EE"), ("TELSTRA_INTERNET", "Telstra")),
    "devices": (("DESKTOP", "Desktop"), ("MOBILE", "Mobile")),
}


def funding_instruments(request: Request) -> Answer:
    """GET /ad_accounts/{account}/funding_instruments. Without a mode: SELECTABLE ones (chosen)."""
    account = account_of(request)
    wanted = request.query({}, {**PAGING, "mode": choice(*_MODES), "search": text()})
    modes = {"ALL": ("ACTIVE", "INACTIVE"), "INACTIVE": ("INACTIVE",), "UPCOMING": ()}
    states = modes.get(wanted.get("mode", "SELECTABLE"), ("ACTIVE",))
    rows = [row for state, row in _instruments(account) if state in states]
    return listed(request, [row for row in rows if wanted.get("search", "").lower() in row["name"].lower()], wanted)


def _instruments(account: Account) -> list[tuple[str, dict[str, Any]]]:
    """4711 pays, 4712 is used up, 4713 is over. No instrument is in a currency like JPY: then in USD."""
    currency = account.currency if account.currency in FUNDING_CURRENCIES else "USD"
    states: tuple[tuple[str, str, str, list[str]], ...] = (
        ("4711", "ACTIVE", "Demo card", []),
        ("4712", "ACTIVE", "Demo credit line", ["CREDIT_LIMIT_REACHED"]),
        ("4713", "INACTIVE", "Demo order of last year", ["EXPIRED"]),
    )
    return [
        (state, {
            "id": native_id, "name": name, "currency": currency, "is_servable": not reasons,
            "reasons_not_servable": reasons, "billable_amount": 0, "credit_limit": 10_000 * MICROS,
        })
        for native_id, state, name, reasons in states
    ]  # fmt: skip


def pixels(request: Request) -> Answer:
    """GET /ad_accounts/{account}/pixels: one often has the id of the account."""
    account = account_of(request)
    wanted = request.query({}, PAGING)
    return listed(request, [{"id": one, "name": f"Pixel {one}"} for one in ("a2_pixel0001", account.id)], wanted)


def profiles(request: Request) -> Answer:
    """GET /ad_accounts/{account}/profiles."""
    account_of(request)
    return listed(request, [{"id": "t2_demotea", "name": "u_demotea"}], request.query({}, PAGING))


def apps(request: Request) -> Answer:
    """GET /ad_accounts/{account}/apps."""
    account_of(request)
    return listed(request, [{"id": "app_1", "name": "Tea time"}], request.query({}, PAGING))


def geolocations(request: Request) -> Answer:
    """GET /targeting/geolocations: countries; with `country` what lies in it; cities and codes by their words."""
    words = {"country": text(2, 2), "cities_search": text(), "postal_code": text()}
    wanted = request.query({}, {**PAGING, **words})
    rows = [{"id": code, "name": name, "country": code} for code, name in _COUNTRIES.items()]
    rows += [{"id": one, "name": name, "country": country, kind: word} for one, name, country, kind, word in _PLACES]
    sought = {kind: wanted[asked].lower() for kind, asked in _SOUGHT.items() if asked in wanted}
    if sought:
        rows = [row for row in rows if any(word in row.get(kind, "").lower() for kind, word in sought.items())]
    else:
        rows = [row for row in rows if not {*row} & {*_SOUGHT}]
    return listed(request, [row for row in rows if wanted.get("country") in (None, row["country"])], wanted)


def search_communities(request: Request) -> Answer:
    """GET /targeting/communities/search?query=."""
    wanted = request.query({"query": text()}, PAGING)
    return listed(request, [_community(one) for one in _COMMUNITIES if wanted["query"].lower() in one.lower()], wanted)


def communities(request: Request) -> Answer:
    """GET /targeting/communities?names=a,b."""
    wanted = request.query({"names": text()}, PAGING)
    names = wanted["names"].lower().split(",")
    return listed(request, [_community(one) for one in _COMMUNITIES if one.lower() in names], wanted)


def _community(name: str) -> dict[str, Any]:
    return {"id": f"t5_{name.lower()}", "name": name, "subscriber_count": 1000 * len(name)}


def interests(request: Request) -> Answer:
    """GET /targeting/interests."""
    rows = [{"id": native_id, "name": name, "category": category} for native_id, name, category in _INTERESTS]
    return listed(request, rows, request.query({}, PAGING))


def flat(request: Request) -> Answer:
    """GET /targeting/languages, /targeting/carriers, /targeting/devices. Devices have a `value`, the others an id."""
    kind = request.slots["catalog"]
    member = "value" if kind == "devices" else "id"
    return listed(request, [{member: one, "name": name} for one, name in _FLAT[kind]], request.query({}, PAGING))


def time_zones(request: Request) -> Answer:
    """GET /time_zones."""
    rows = [{"id": name, "name": name.replace("_", " ")} for name in sorted(available_timezones()) if "/" in name]
    return listed(request, rows, request.query({}, PAGING))
