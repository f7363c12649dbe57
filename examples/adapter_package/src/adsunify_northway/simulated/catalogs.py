"""Advertisers, pixels and countries."""

from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.parsing import parse_names
from adsunify_northway.simulated import answers

_COUNTRIES = parse_names("""
    AT Austria, CA Canada, CH Switzerland, DE Germany, FR France, GB United Kingdom, JP Japan, US United States
""")
PIXELS = (("px_3", "Shop"), ("px_4", "Newsletter"))


def list_advertisers(request: Request) -> Response:
    """GET /advertisers."""
    query = request.parse_query({}, answers.PAGING_CHECKS)
    rows = [
        {"id": row.id, "name": row.name, "currency": row.currency, "tz": row.timezone, "state": row.extra["state"]}
        for row in request.world.accounts.values()
    ]
    return answers.build_page(request, rows, query)


def list_pixels(request: Request) -> Response:
    """GET /advertisers/{advertiser}/pixels."""
    answers.require_advertiser(request)
    query = request.parse_query({}, answers.PAGING_CHECKS)
    return answers.build_page(request, [{"id": pixel_id, "name": name} for pixel_id, name in PIXELS], query)


def list_countries(request: Request) -> Response:
    """GET /geo/countries. The entries are a sample."""
    query = request.parse_query({}, answers.PAGING_CHECKS)
    rows = [{"code": code, "name": name} for code, name in _COUNTRIES.items()]
    return answers.build_page(request, rows, query, "code")
