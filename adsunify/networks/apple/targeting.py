"""Apple's targeting from a brief and from an edit: a campaign has countries, an ad group has all else."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from adsunify.adapter.edit_members import apply_targeting, list_item_ids
from adsunify.adapter.network import split_words
from adsunify.errors import invalid_input
from adsunify.models.brief import CampaignBrief, Keyword
from adsunify.plans.records import Change, Kind
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_value

from .native import SUPPLY_TARGETING

INCLUDE, EXCLUDE = "include", "exclude"
COUNTRY_DIMENSION = "countryOrRegion"
PLACE_DIMENSIONS: Mapping[str, str] = {"AdminArea": "adminArea", "Locality": "locality"}
"""The prefix of a location's ID -> its dimension."""
PLACE_FORM = "AdminArea:20039 or Locality:20041, as the catalog locations gives them"
MIN_AGE, MAX_AGE = 18, 64
HOURS_PER_WEEK = 7 * 24

_match_place = re.compile(rf"({'|'.join(PLACE_DIMENSIONS)}):([0-9]{{1,18}})").fullmatch
_match_country = re.compile(r"[A-Z]{2}").fullmatch
_match_digits = re.compile(r"[0-9]{1,19}").fullmatch


def get_location_type(location: str) -> str | None:
    """Return the type of place in a location ID, in the spelling of the catalog; None if it is unknown."""
    match = _match_place(location)
    return None if match is None else match[1]


def _number_test(lowest: int, highest: int) -> Callable[[str], object]:
    """Build the test that a text is a whole number in a range, without leading zeros."""
    return frozenset(map(str, range(lowest, highest + 1))).__contains__


DEVICES = split_words("IPHONE IPAD")
GENDERS: Mapping[str, str] = {"male": "M", "female": "F"}
DIMENSIONS: Mapping[str, tuple[Callable[[str], object], str]] = {
    COUNTRY_DIMENSION: (_match_country, "two capital letters (US)"),
    "country": (_match_country, "two capital letters (US)"),
    "adminArea": (_match_digits, "digits"),
    "locality": (_match_digits, "digits"),
    "deviceClass": (DEVICES.__contains__, " or ".join(DEVICES)),
    "minAge": (_number_test(MIN_AGE, MAX_AGE), f"texts from {MIN_AGE} to {MAX_AGE}"),
    "maxAge": (_number_test(MIN_AGE, MAX_AGE), f"texts from {MIN_AGE} to {MAX_AGE}, none for older people too"),
    "gender": (tuple(GENDERS.values()).__contains__, " or ".join(GENDERS.values())),
    "appCategory": (_match_digits, "digits (100: the app's own category)"),
    "appDownloader": (_match_digits, "the App Store ids of apps, in digits"),
    "daypart": (
        _number_test(0, HOURS_PER_WEEK - 1),
        f"hours of the week as texts, 0 (Sunday 00:00) to {HOURS_PER_WEEK - 1}",
    ),
}
"""Dimension -> the test of its values, and a description of their form. Apple Maps' dimensions are not included."""


# -- what a brief says --------------------------------------------------------------------------------------------


def get_brief_countries(brief: CampaignBrief) -> list[str]:
    """Return the distinct countries of the brief."""
    countries = (
        brief.targeting.countries or get_value(brief.targeting.native or {}, f"/{COUNTRY_DIMENSION}/{INCLUDE}") or ()
    )
    return list(dict.fromkeys(countries))


def build_campaign_targeting(brief: CampaignBrief) -> dict[str, Json]:
    """Build the campaign's targeting: the supply of the format, and the countries."""
    own = (brief.targeting.native or {}).get(COUNTRY_DIMENSION) or {INCLUDE: get_brief_countries(brief)}
    supply = {name: {INCLUDE: list(value[INCLUDE])} for name, value in SUPPLY_TARGETING.items()}
    return {**supply, COUNTRY_DIMENSION: own}


def build_ad_group_targeting(brief: CampaignBrief) -> dict[str, Json]:
    """Return the targeting of the ad group; empty if the brief names no restriction."""
    native = brief.targeting.native or {}
    own_members = {
        name: value for name, value in native.items() if name != COUNTRY_DIMENSION and name not in SUPPLY_TARGETING
    }
    return {**own_members, **_group_places(brief.targeting.location_ids or (), INCLUDE)}


def _group_places(ids: Sequence[str], part: str) -> dict[str, Json]:
    places: dict[str, Json] = {}
    for match in map(_match_place, dict.fromkeys(ids)):
        if match is not None:
            places.setdefault(PLACE_DIMENSIONS[match[1]], {part: []})[part].append(match[2])
    return places


def find_locations_error(locations: Sequence[str]) -> str | None:
    """Return why location IDs are refused; None if they are valid."""
    return None if all(map(_match_place, locations)) else f"a location is written {PLACE_FORM}"


def find_native_targeting_error(targeting: Mapping[str, Json]) -> str | None:
    """Return why a native targeting is refused; None if it is valid."""
    for name, value in targeting.items():
        if name in SUPPLY_TARGETING and value != SUPPLY_TARGETING[name]:
            return f"{name} is {', '.join(SUPPLY_TARGETING[name][INCLUDE])} in this format"
        if name not in SUPPLY_TARGETING and (wrong := _find_dimension_error(name, value)):
            return wrong
    if not get_value(targeting, f"/{COUNTRY_DIMENSION}/{INCLUDE}"):
        return f"the targeting names no country ({COUNTRY_DIMENSION}.{INCLUDE})"
    return _find_ages_error(targeting)


def _find_dimension_error(name: str, value: Json) -> str | None:
    if name not in DIMENSIONS:
        return f"its targeting has no member {name[:60]}; it has {', '.join(DIMENSIONS)}"
    if not isinstance(value, dict) or not value or not value.keys() <= {INCLUDE, EXCLUDE}:
        return f"{name} is an object of the lists {INCLUDE} and {EXCLUDE}"
    fits, form = DIMENSIONS[name]
    for values in value.values():
        if not isinstance(values, list) or not {str}.issuperset(map(type, values)) or not all(map(fits, values)):
            return f"{name} lists {form}"
    if name == "daypart" and EXCLUDE in value:
        return f"daypart takes {INCLUDE} only"
    return None


def _find_ages_error(targeting: Mapping[str, Json]) -> str | None:
    lowest, highest = (get_value(targeting, f"/{name}/{INCLUDE}/0") for name in ("minAge", "maxAge"))
    known = all(isinstance(age, str) and _match_digits(age) for age in (lowest, highest))
    return "the least age lies above the greatest" if known and int(lowest) > int(highest) else None


def find_keywords_error(keywords: Sequence[Keyword]) -> str | None:
    """Return why the keywords are refused; None if they are valid."""
    phrase = any(keyword.match == "phrase" for keyword in keywords)
    return "the App Store has no phrase match, only Apple Maps has" if phrase else None


# -- what an edit says --------------------------------------------------------------------------------------------

TargetingPartBuilder = Callable[[Json, str], dict[str, dict[str, Json]]]
"""Builds the native dimensions from an edit's value and the path for errors. An empty list removes a dimension."""


def _get_valid_ids(items: Json, path: str, fits: Callable[[str], object], form: str) -> list[str]:
    for index, item in enumerate(items):
        if not fits(item["id"]):
            raise invalid_input(f"{path}.{index}.id", "invalid", f"Apple Ads: this is written {form}.")
    return list_item_ids(items)


def _build_countries(items: Json, path: str) -> dict[str, dict[str, Json]]:
    return {COUNTRY_DIMENSION: {INCLUDE: _get_valid_ids(items, path, *DIMENSIONS[COUNTRY_DIMENSION])}}


def _places_builder(part: str) -> TargetingPartBuilder:
    def build_part(items: Json, path: str) -> dict[str, dict[str, Json]]:
        match = _group_places(_get_valid_ids(items, path, _match_place, PLACE_FORM), part)
        return {name: {part: get_value(match, f"/{name}/{part}", [])} for name in PLACE_DIMENSIONS.values()}

    return build_part


def _build_devices(items: Json, path: str) -> dict[str, dict[str, Json]]:
    return {"deviceClass": {INCLUDE: _get_valid_ids(items, path, *DIMENSIONS["deviceClass"])}}


def _build_genders(items: Json, path: str) -> dict[str, dict[str, Json]]:
    if any(gender not in GENDERS for gender in items):
        raise invalid_input(path, "choice", f"Apple Ads takes these genders: {', '.join(GENDERS)}.")
    return {"gender": {INCLUDE: [GENDERS[gender] for gender in dict.fromkeys(items)]}}


def _age_builder(name: str) -> TargetingPartBuilder:
    def build_part(age: Json, path: str) -> dict[str, dict[str, Json]]:
        if name == "maxAge" and age == MAX_AGE + 1:  # this age means no upper limit
            return {name: {INCLUDE: []}}
        if not MIN_AGE <= age <= MAX_AGE:
            raise invalid_input(
                path,
                "out_of_range",
                f"Apple Ads takes ages from {MIN_AGE} to {MAX_AGE}; leave ageMax at 65 for no upper limit.",
            )
        return {name: {INCLUDE: [str(age)]}}

    return build_part


EDITABLE_TARGETING: Mapping[Kind, Mapping[str, TargetingPartBuilder]] = {
    "campaign": {"locations": _build_countries},
    "adGroup": {
        "locations": _places_builder(INCLUDE),
        "excludedLocations": _places_builder(EXCLUDE),
        "devices": _build_devices,
        "genders": _build_genders,
        "ageMin": _age_builder("minAge"),
        "ageMax": _age_builder("maxAge"),
    },
}
"""The members that an edit's targeting may have, by level."""


def merge_targeting(kind: Kind, current: Json, new_members: Mapping[str, Json]) -> tuple[dict[str, Json], list[Change]]:
    """Apply an edit to the targeting. Returns the whole targeting and each change. Raises InvalidInput with all issues.

    The whole targeting is sent. A removed member is sent as an empty list, which certainly replaces the present list.
    """
    # unverified: whether Apple keeps members that a write leaves out.
    native: dict[str, Json] = dict(current) if isinstance(current, Mapping) else {}

    def lay(name: str, part: TargetingPartBuilder, value: Json, path: str) -> Change:
        new = part(value, path)
        before = {dimension: native.get(dimension) for dimension in new if native.get(dimension) is not None}
        for dimension, lists in new.items():
            current_value = native.get(dimension)
            current_value = dict(current_value) if isinstance(current_value, Mapping) else {}
            if current_value or any(lists.values()):
                native[dimension] = {**current_value, **lists}
        after = {dimension: native[dimension] for dimension in new if dimension in native}
        return Change(name, before or None, after or None)

    changes = apply_targeting(EDITABLE_TARGETING.get(kind, {}), new_members, lay)
    if {"ageMin", "ageMax"}.intersection(new_members) and (wrong := _find_ages_error(native)):
        raise invalid_input("targeting.ageMin", "invalid", f"Apple Ads: {wrong}.")
    return native, changes
