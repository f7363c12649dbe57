"""Media, audiences, pixels, and targeting options. The entries are a sample of the real ones."""

from collections.abc import Mapping
from typing import Any

from adsunify.sandbox.checks import choice, text
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.snapchat import answers
from adsunify.sandbox.networks.snapchat.targeting import AGE_GROUPS
from adsunify.sandbox.parsing import parse_names
from adsunify.sandbox.world import StoredEntity

_COUNTRIES: Mapping[str, str] = parse_names("""
    ae United Arab Emirates, at Austria, au Australia, be Belgium, br Brazil, ca Canada, ch Switzerland, de Germany,
    dk Denmark, es Spain, fi Finland, fr France, gb United Kingdom, ie Ireland, in India, it Italy, jp Japan, mx Mexico,
    nl Netherlands, no Norway, nz New Zealand, pl Poland, sa Saudi Arabia, se Sweden, us United States
""")
# kind of place -> (member that identifies an entry, first number, number of entries)
_COUNTRY_PARTS: Mapping[str, tuple[str, int, int]] = {
    "region": ("id", 10150, 60),
    "metro": ("id", 501, 12),
    "postal_code": ("code", 10001, 9),  # entries without `id`: `code` identifies them
}
_FLAT_CATALOGS: Mapping[tuple[str, str], tuple[str, tuple[tuple[str, str], ...]]] = {
    ("demographics", "languages"): (
        "languages",
        (
            ("ar", "Arabic"),
            ("de", "German"),
            ("en", "English"),
            ("es", "Spanish"),
            ("fr", "French"),
            ("ja", "Japanese"),
            ("nl", "Dutch"),
            ("sv", "Swedish"),
        ),
    ),
    ("demographics", "age_group"): ("age_group", tuple((group, group) for group in AGE_GROUPS)),
    ("demographics", "gender"): ("gender", (("MALE", "Male"), ("FEMALE", "Female"))),
    ("device", "os_type"): ("os_type", (("iOS", "iOS"), ("ANDROID", "Android"), ("WEB", "Web"))),
    ("device", "connection_type"): ("connection_type", (("CELL", "Cell"), ("WIFI", "Wifi"))),
    ("device", "carrier"): ("carrier", (("US_VERIZON", "Verizon"), ("US_ATT", "AT&T"), ("GB_O2", "O2"))),
}
_INTERESTS = (("SLC_1", "Adventure Seekers"), ("SLC_7", "Beauty Mavens"), ("SLC_17", "Foodies"), ("SLC_40", "Gamers"))


def _render_media(entity: StoredEntity) -> dict[str, Any]:
    return {"id": entity.id, **entity.data}


def list_media(request: Request) -> Response:
    """GET /adaccounts/{account}/media."""
    query = request.parse_query({}, answers.PAGING_CHECKS)
    rows = [_render_media(media) for media in request.world.list_entities("media", answers.require_account(request).id)]
    return answers.build_page_response(request, "media", "media", rows, query)


def get_media(request: Request) -> Response:
    """GET /media/{id}."""
    request.parse_query()
    media = request.world.find("media", request.path_parameters["id"])
    if media is None:
        raise answers.not_found_error(request, "media")
    answers.require_permitted_account(request, media.account)
    return answers.build_response(
        request, {"media": [{"sub_request_status": "success", "media": _render_media(media)}]}
    )


def list_segments(request: Request) -> Response:
    """GET /adaccounts/{account}/segments. Their ids are numbers in strings."""
    return _list_account_entries(request, "segments", "segment", ("5603670370513719", "5677923948298240"), "Customers")


def list_pixels(request: Request) -> Response:
    """GET /adaccounts/{account}/pixels."""
    tail = answers.require_account(request).id[8:]
    return _list_account_entries(request, "pixels", "pixel", (f"66660001{tail}",), "Shop pixel")


def _list_account_entries(request: Request, key: str, word: str, ids: tuple[str, ...], name: str) -> Response:
    account = answers.require_account(request)
    rows = [
        {"id": native_id, "name": f"{name} {number}", "ad_account_id": account.id, "status": "ACTIVE"}
        for number, native_id in enumerate(ids, 1)
    ]
    return answers.build_page_response(request, key, word, rows, request.parse_query({}, answers.PAGING_CHECKS))


def list_countries(request: Request) -> Response:
    """GET /targeting/geo/country."""
    return _build_targeting_response(
        request, "country", [{"id": code, "country": _render_country(code)} for code in _COUNTRIES]
    )


def list_country_parts(request: Request) -> Response:
    """GET /targeting/geo/{country}/region, /metro, /postal_code. The country is written in lower case."""
    country, kind = request.path_parameters["country"], request.path_parameters["part"]
    if country not in _COUNTRIES:
        raise answers.not_found_error(request, "country")
    member, first, count = _COUNTRY_PARTS[kind]
    rows = [
        {
            "id": number,
            kind: {member: number, "name": f"{country.upper()} {kind} {number}"},
            "country": _render_country(country),
        }
        for number in map(str, range(first, first + count))
    ]
    return _build_targeting_response(request, kind, rows)


def list_flat_catalog(request: Request) -> Response:
    """GET /targeting/demographics/..., /targeting/device/...: entries that are not nested."""
    key, entries = _FLAT_CATALOGS[request.path_parameters["family"], request.path_parameters["type"]]
    return _build_targeting_response(
        request, key, [{"id": native_id, "name": name} for native_id, name in entries], nested=False
    )


def list_interests(request: Request) -> Response:
    """GET /targeting/interests/scls?country_code=us."""
    request.parse_query({"country_code": choice(*_COUNTRIES)}, {**answers.PAGING_CHECKS, "version": text()})
    rows = [{"id": native_id, "name": name} for native_id, name in _INTERESTS]
    items = [{"sub_request_status": "success", "scls": row} for row in rows]
    return answers.build_response(request, {"targeting_dimensions": items})


def _render_country(code: str) -> dict[str, str]:
    return {"code": code, "name": _COUNTRIES[code]}


def _build_targeting_response(
    request: Request, key: str, rows: list[dict[str, Any]], *, nested: bool = True
) -> Response:
    query = request.parse_query({}, answers.PAGING_CHECKS)
    page, paging = answers.paginate(request, rows, query)
    items = [
        {
            "sub_request_status": "success",
            key: {name: value for name, value in row.items() if name != "id"} if nested else row,
        }
        for row in page
    ]
    return answers.build_response(
        request, {"paging": paging, "targeting_dimensions": items} if paging else {"targeting_dimensions": items}
    )
