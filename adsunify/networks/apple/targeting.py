"""Apple's targeting: of a campaign (countries) and of an ad group (all else), from a brief and from an edit."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from adsunify.adapter.edit_members import identities, targeted
from adsunify.adapter.network import words
from adsunify.errors import refused
from adsunify.models.brief import CampaignBrief, Keyword
from adsunify.plans.records import Change, Kind
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import read

from .native import SUPPLY

INCLUDE, EXCLUDE = "include", "exclude"
COUNTRIES = "countryOrRegion"
PLACES: Mapping[str, str] = {"AdminArea": "adminArea", "Locality": "locality"}
"""What stands before the colon of a location's id, and the dimension that it is of."""
PLACE_FORM = "AdminArea:20039 or Locality:20041, as the catalog locations gives them"
YOUNGEST, OLDEST = 18, 64
HOURS = 7 * 24

_PLACE = re.compile(rf"({'|'.join(PLACES)}):([0-9]{{1,18}})").fullmatch
_COUNTRY = re.compile(r"[A-Z]{2}").fullmatch
_DIGITS = re.compile(r"[0-9]{1,19}").fullmatch


def kind_of(location: str) -> str | None:
    """The type of place that a location's id names, as the catalog spells it."""
    found = _PLACE(location)
    return None if found is None else found[1]


def _number(lowest: int, highest: int) -> Callable[[str], object]:
    """Whole numbers in their one written form."""
    return frozenset(map(str, range(lowest, highest + 1))).__contains__


DEVICES = words("IPHONE IPAD")
GENDERS: Mapping[str, str] = {"male": "M", "female": "F"}
DIMENSIONS: Mapping[str, tuple[Callable[[str], object], str]] = {
    COUNTRIES: (_COUNTRY, "two capital letters (US)"),
    "country": (_COUNTRY, "two capital letters (US)"),
    "adminArea": (_DIGITS, "digits"),
    "locality": (_DIGITS, "digits"),
    "deviceClass": (DEVICES.__contains__, " or ".join(DEVICES)),
    "minAge": (_number(YOUNGEST, OLDEST), f"texts from {YOUNGEST} to {OLDEST}"),
    "maxAge": (_number(YOUNGEST, OLDEST), f"texts from {YOUNGEST} to {OLDEST}, none for older people too"),
    "gender": (tuple(GENDERS.values()).__contains__, " or ".join(GENDERS.values())),
    "appCategory": (_DIGITS, "digits (100: the app's own category)"),
    "appDownloader": (_DIGITS, "the App Store ids of apps, in digits"),
    "daypart": (_number(0, HOURS - 1), f"hours of the week as texts, 0 (Sunday 00:00) to {HOURS - 1}"),
}
"""Dimension to a test of its values, and what they are. Those of Apple Maps are not among them."""


# -- what a brief says --------------------------------------------------------------------------------------------


def countries_of(brief: CampaignBrief) -> list[str]:
    """The countries that the brief names, each once."""
    listed = brief.targeting.countries or read(brief.targeting.native or {}, f"/{COUNTRIES}/{INCLUDE}") or ()
    return list(dict.fromkeys(listed))


def campaign_targeting(brief: CampaignBrief) -> dict[str, Json]:
    """The supply of the format, and the countries."""
    own = (brief.targeting.native or {}).get(COUNTRIES) or {INCLUDE: countries_of(brief)}
    supply = {name: {INCLUDE: list(value[INCLUDE])} for name, value in SUPPLY.items()}
    return {**supply, COUNTRIES: own}


def group_targeting(brief: CampaignBrief) -> dict[str, Json]:
    """What the ad group narrows down; empty where nothing is."""
    native = brief.targeting.native or {}
    kept = {name: value for name, value in native.items() if name != COUNTRIES and name not in SUPPLY}
    return {**kept, **_places(brief.targeting.location_ids or (), INCLUDE)}


def _places(ids: Sequence[str], part: str) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for match in map(_PLACE, dict.fromkeys(ids)):
        if match is not None:
            found.setdefault(PLACES[match[1]], {part: []})[part].append(match[2])
    return found


def misplaced(ids: Sequence[str]) -> str | None:
    """What is wrong with location ids; None where nothing is."""
    return None if all(map(_PLACE, ids)) else f"a location is written {PLACE_FORM}"


def not_native(targeting: Mapping[str, Json]) -> str | None:
    """What is wrong with a targeting in Apple's own names; None where nothing is."""
    for name, value in targeting.items():
        if name in SUPPLY and value != SUPPLY[name]:
            return f"{name} is {', '.join(SUPPLY[name][INCLUDE])} in this format"
        if name not in SUPPLY and (wrong := _wrong(name, value)):
            return wrong
    if not read(targeting, f"/{COUNTRIES}/{INCLUDE}"):
        return f"the targeting names no country ({COUNTRIES}.{INCLUDE})"
    return _ages(targeting)


def _wrong(name: str, value: Json) -> str | None:
    if name not in DIMENSIONS:
        return f"its targeting has no member {name[:60]}; it has {', '.join(DIMENSIONS)}"
    if not isinstance(value, Mapping) or not value or not set(value) <= {INCLUDE, EXCLUDE}:
        return f"{name} is an object of the lists {INCLUDE} and {EXCLUDE}"
    fits, form = DIMENSIONS[name]
    for listed in value.values():
        if not isinstance(listed, list) or not all(isinstance(one, str) and fits(one) for one in listed):
            return f"{name} lists {form}"
    if name == "daypart" and EXCLUDE in value:
        return f"daypart takes {INCLUDE} only"
    return None


def _ages(targeting: Mapping[str, Json]) -> str | None:
    lowest, highest = (read(targeting, f"/{name}/{INCLUDE}/0") for name in ("minAge", "maxAge"))
    known = all(isinstance(one, str) and _DIGITS(one) for one in (lowest, highest))
    return "the least age lies above the greatest" if known and int(lowest) > int(highest) else None


def wrong_keywords(keywords: Sequence[Keyword]) -> str | None:
    """What Apple would not take of the keywords, None where it takes them all."""
    phrase = any(keyword.match == "phrase" for keyword in keywords)
    return "the App Store has no phrase match, only Apple Maps has" if phrase else None


# -- what an edit says --------------------------------------------------------------------------------------------

Part = Callable[[Json, str], dict[str, dict[str, Json]]]
"""From the wanted value and the path to name, to the lists of dimensions; an empty list takes away."""


def _ids(items: Json, path: str, fits: Callable[[str], object], form: str) -> list[str]:
    for index, item in enumerate(items):
        if not fits(item["id"]):
            raise refused(f"{path}.{index}.id", "invalid", f"Apple Ads: this is written {form}.")
    return identities(items)


def _countries(items: Json, path: str) -> dict[str, dict[str, Json]]:
    return {COUNTRIES: {INCLUDE: _ids(items, path, *DIMENSIONS[COUNTRIES])}}


def _located(part: str) -> Part:
    def located(items: Json, path: str) -> dict[str, dict[str, Json]]:
        found = _places(_ids(items, path, _PLACE, PLACE_FORM), part)
        return {name: {part: read(found, f"/{name}/{part}", [])} for name in PLACES.values()}

    return located


def _devices(items: Json, path: str) -> dict[str, dict[str, Json]]:
    return {"deviceClass": {INCLUDE: _ids(items, path, *DIMENSIONS["deviceClass"])}}


def _genders(values: Json, path: str) -> dict[str, dict[str, Json]]:
    if any(one not in GENDERS for one in values):
        raise refused(path, "choice", f"Apple Ads takes these genders: {', '.join(GENDERS)}.")
    return {"gender": {INCLUDE: [GENDERS[one] for one in dict.fromkeys(values)]}}


def _age(name: str) -> Part:
    def aged(age: Json, path: str) -> dict[str, dict[str, Json]]:
        if name == "maxAge" and age == OLDEST + 1:  # everybody from the least age on
            return {name: {INCLUDE: []}}
        if not YOUNGEST <= age <= OLDEST:
            raise refused(path, "out_of_range", f"Apple Ads takes ages from {YOUNGEST} to {OLDEST}; ageMax 65 is none.")
        return {name: {INCLUDE: [str(age)]}}

    return aged


PARTS: Mapping[Kind, Mapping[str, Part]] = {
    "campaign": {"locations": _countries},
    "adGroup": {
        "locations": _located(INCLUDE),
        "excludedLocations": _located(EXCLUDE),
        "devices": _devices,
        "genders": _genders,
        "ageMin": _age("minAge"),
        "ageMax": _age("maxAge"),
    },
}
"""What an edit's targeting may name, by level."""


def merged(kind: Kind, targeting: Json, wanted: Mapping[str, Json]) -> tuple[dict[str, Json], list[Change]]:
    """The whole targeting with the wanted parts laid over it, and each change. Raises InvalidInput with all issues.

    Whether members that are left out would stay is (unverified), so the whole is sent; what is taken away is an empty
    list, which replaces the list there in any case.
    """
    native: dict[str, Json] = dict(targeting) if isinstance(targeting, Mapping) else {}

    def lay(name: str, part: Part, value: Json, path: str) -> Change:
        new = part(value, path)
        before = {dimension: native.get(dimension) for dimension in new if native.get(dimension) is not None}
        for dimension, lists in new.items():
            held = native.get(dimension)
            held = dict(held) if isinstance(held, Mapping) else {}
            if held or any(lists.values()):
                native[dimension] = {**held, **lists}
        after = {dimension: native[dimension] for dimension in new if dimension in native}
        return Change(name, before or None, after or None)

    changes = targeted(PARTS.get(kind, {}), wanted, lay)
    if {"ageMin", "ageMax"}.intersection(wanted) and (wrong := _ages(native)):
        raise refused("targeting.ageMin", "invalid", f"Apple Ads: {wrong}.")
    return native, changes
