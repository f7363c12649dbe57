"""Media, audiences, pixels, and what can be targeted. The entries are a choice of the real ones."""

from collections.abc import Mapping
from typing import Any

from adsunify.sandbox.framework import Answer, Entity, Request, choice, text
from adsunify.sandbox.networks.snapchat.answers import PAGING, absent, account_of, answered, listed, paged, permitted
from adsunify.sandbox.networks.snapchat.targeting import AGE_GROUPS

_COUNTRIES: Mapping[str, str] = {
    "ae": "United Arab Emirates", "at": "Austria", "au": "Australia", "be": "Belgium", "br": "Brazil", "ca": "Canada",
    "ch": "Switzerland", "de": "Germany", "dk": "Denmark", "es": "Spain", "fi": "Finland", "fr": "France",
    "gb": "United Kingdom", "ie": "Ireland", "in": "India", "it": "Italy", "jp": "Japan", "mx": "Mexico",
    "nl": "Netherlands", "no": "Norway", "nz": "New Zealand", "pl": "Poland", "sa": "Saudi Arabia", "se": "Sweden",
    "us": "United States",
}  # fmt: skip
# geo kind -> (name of the member that identifies an entry, first numbers, how many)
_PARTS: Mapping[str, tuple[str, int, int]] = {
    "region": ("id", 10150, 60),
    "metro": ("id", 501, 12),
    "postal_code": ("code", 10001, 9),  # an entry without `id`: its `code` identifies it
}
_FLAT: Mapping[tuple[str, str], tuple[str, tuple[tuple[str, str], ...]]] = {
    ("demographics", "languages"): ("languages", (
        ("ar", "Arabic"), ("de", "German"), ("en", "English"), ("es", "Spanish"), ("fr", "French"), ("ja", "Japanese"),
        ("nl", "Dutch"), ("sv", "Swedish"))),
    ("demographics", "age_group"): ("age_group", tuple((one, one) for one in AGE_GROUPS)),
    ("demographics", "gender"): ("gender", (("MALE", "Male"), ("FEMALE", "Female"))),
    ("device", "os_type"): ("os_type", (("iOS", "iOS"), ("ANDROID", "Android"), ("WEB", "Web"))),
    ("device", "connection_type"): ("connection_type", (("CELL", "Cell"), ("WIFI", "Wifi"))),
    ("device", "carrier"): ("carrier", (("US_VERIZON", "Verizon"), ("US_ATT", "AT&T"), ("GB_O2", "O2"))),
}  # fmt: skip
_INTERESTS = (("SLC_1", "Adventure Seekers"), ("SLC_7", "Beauty Mavens"), ("SLC_17", "Foodies"), ("SLC_40", "Gamers"))


def _media(entity: Entity) -> dict[str, Any]:
    return {"id": entity.id, **entity.data}


def media(request: Request) -> Answer:
    """GET /adaccounts/{account}/media."""
    wanted = request.query({}, PAGING)
    rows = [_media(one) for one in request.world.entities("media", account_of(request).id)]
    return listed(request, "media", "media", rows, wanted)


def one_media(request: Request) -> Answer:
    """GET /media/{id}."""
    request.query()
    found = request.world.find("media", request.slots["id"])
    if found is None:
        raise absent(request, "media")
    permitted(request, found.account)
    return answered(request, {"media": [{"sub_request_status": "success", "media": _media(found)}]})


def segments(request: Request) -> Answer:
    """GET /adaccounts/{account}/segments. Their ids are numbers as text."""
    return _of_account(request, "segments", "segment", ("5603670370513719", "5677923948298240"), "Customers")


def pixels(request: Request) -> Answer:
    """GET /adaccounts/{account}/pixels."""
    tail = account_of(request).id[8:]
    return _of_account(request, "pixels", "pixel", (f"66660001{tail}",), "Shop pixel")


def _of_account(request: Request, key: str, word: str, ids: tuple[str, ...], name: str) -> Answer:
    account = account_of(request)
    rows = [
        {"id": native_id, "name": f"{name} {number}", "ad_account_id": account.id, "status": "ACTIVE"}
        for number, native_id in enumerate(ids, 1)
    ]
    return listed(request, key, word, rows, request.query({}, PAGING))


def countries(request: Request) -> Answer:
    """GET /targeting/geo/country."""
    return _targeting(request, "country", [{"id": code, "country": _country(code)} for code in _COUNTRIES])


def parts(request: Request) -> Answer:
    """GET /targeting/geo/{country}/region, /metro, /postal_code. The country is written in lower case."""
    country, kind = request.slots["country"], request.slots["part"]
    if country not in _COUNTRIES:
        raise absent(request, "country")
    member, first, count = _PARTS[kind]
    rows = [
        {"id": number, kind: {member: number, "name": f"{country.upper()} {kind} {number}"},
         "country": _country(country)}
        for number in map(str, range(first, first + count))
    ]  # fmt: skip
    return _targeting(request, kind, rows)


def flat(request: Request) -> Answer:
    """GET /targeting/demographics/..., /targeting/device/...: entries that are not nested."""
    key, entries = _FLAT[request.slots["family"], request.slots["type"]]
    return _targeting(request, key, [{"id": native_id, "name": name} for native_id, name in entries], nested=False)


def interests(request: Request) -> Answer:
    """GET /targeting/interests/scls?country_code=us."""
    request.query({"country_code": choice(*_COUNTRIES)}, {**PAGING, "version": text()})
    rows = [{"id": native_id, "name": name} for native_id, name in _INTERESTS]
    items = [{"sub_request_status": "success", "scls": row} for row in rows]
    return answered(request, {"targeting_dimensions": items})


def _country(code: str) -> dict[str, str]:
    return {"code": code, "name": _COUNTRIES[code]}


def _targeting(request: Request, key: str, rows: list[dict[str, Any]], *, nested: bool = True) -> Answer:
    wanted = request.query({}, PAGING)
    page, paging = paged(request, rows, wanted)
    items = [
        {
            "sub_request_status": "success",
            key: {name: value for name, value in row.items() if name != "id"} if nested else row,
        }
        for row in page
    ]
    return answered(request, {"paging": paging, "targeting_dimensions": items} if paging
                    else {"targeting_dimensions": items})  # fmt: skip
