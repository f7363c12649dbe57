"""Pinterest's ``targeting_spec``: from a brief, and from an edit."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from adsunify.adapter.account import Account
from adsunify.adapter.edit_members import apply_targeting
from adsunify.adapter.flows import fetch_or_none
from adsunify.adapter.network import Network, split_words
from adsunify.errors import Issue, LookupNeeded, PermissionRefused, ProviderUnreadable, invalid_input, raise_if_issues
from adsunify.http.messages import Flow
from adsunify.models.brief import CampaignBrief, Keyword
from adsunify.plans.records import Change, Kind
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_text, get_value

from . import native as pinterest

# Description 5.28: LOCATION holds countries and metro areas, GEO holds regions and postal codes. Its postal codes have
# only digits, like metro areas, so this adapter takes the postal codes of 5.23, which begin with the country.
match_location = re.compile(r"[A-Z]{2}|[0-9]+").fullmatch
match_geo = re.compile(r"[A-Z]{2}-.+").fullmatch
_match_postal_code, _match_region = re.compile(r"US-[0-9]{5}").fullmatch, re.compile(r"US-[A-Z]+").fullmatch


def get_location_type(location: str) -> str | None:
    """Return the type of place in a location ID; None if it is unknown."""
    if match_location(location):
        return "country" if location.isalpha() else "metro"
    return "postal" if _match_postal_code(location) else "region" if _match_region(location) else None


MIN_AGE, MAX_AGE = 18, 65
OPEN_ENDED_MAX_AGE = "65+"  # valid only as MAXIMUM_AGE
GENDERS = ("male", "female", "unknown")
LIST_CHOICES: Mapping[str, tuple[str, ...]] = {
    "AGE_BUCKET": split_words("18-24 25-34 35-44 45-49 50-54 55-64 65+ 19+ 20+ 21+"),
    "APPTYPE": split_words("android_mobile android_tablet ipad iphone web web_mobile"),
    "GENDER": GENDERS,
    "TARGETING_STRATEGY": split_words("CHOOSE_YOUR_OWN FIND_NEW_CUSTOMERS RECONNECT_WITH_USERS"),
    **dict.fromkeys(
        split_words("AUDIENCE_EXCLUDE AUDIENCE_INCLUDE GEO GEO_EXCLUDE INTEREST LOCALE LOCATION LOCATION_EXCLUDE"), ()
    ),
}
"""Members that are lists of texts, with their values; empty where any text is allowed."""
AGE_CHOICES: Mapping[str, tuple[str, ...]] = {
    "MINIMUM_AGE": tuple(str(age) for age in range(MIN_AGE, MAX_AGE + 1)),
    "MAXIMUM_AGE": (*(str(age) for age in range(MIN_AGE, MAX_AGE + 1)), OPEN_ENDED_MAX_AGE),
}
OBJECT_MEMBERS = ("SHOPPING_RETARGETING",)
TARGETING_MEMBERS = (*LIST_CHOICES, *AGE_CHOICES, *OBJECT_MEMBERS)


# -- what a brief says --------------------------------------------------------------------------------------------


def build_places(locations: Iterable[str]) -> dict[str, Json]:
    """Return the native members LOCATION and GEO, in which each distinct location ID is once."""
    places: dict[str, Json] = {}
    for location in dict.fromkeys(locations):
        places.setdefault("LOCATION" if match_location(location) else "GEO", []).append(location)
    return places


def build_targeting(brief: CampaignBrief) -> dict[str, Json]:
    """Return the ad group's targeting. ``targeting.native`` of the brief is used unchanged."""
    targeting = brief.targeting
    if targeting.native is not None:
        return dict(targeting.native)
    return build_places([*(targeting.countries or ()), *(targeting.location_ids or ())])


def find_locations_error(locations: Sequence[str]) -> str | None:
    """Return why location IDs are refused; None if they are valid."""
    if not all(match_location(location) or match_geo(location) for location in locations):
        return "a location is a country (US), the number of a metro area (501), a region (US-CA) or a place in it"
    if any(map(_match_postal_code, locations)) and any(map(_match_region, locations)):
        return "an ad group targets regions or postal codes, not both"
    return None


def find_native_targeting_error(targeting: Mapping[str, Json]) -> str | None:
    """Return why a native targeting is refused; None if it is valid."""
    unknown = sorted(set(targeting) - set(TARGETING_MEMBERS))
    if unknown:
        return f"its targeting has no member {unknown[0][:60]}; it has {', '.join(TARGETING_MEMBERS)}"
    for name, value in targeting.items():
        if wrong := _find_member_error(name, value):
            return wrong
    return _find_ages_error(targeting) or find_geography_error(targeting)


def _find_member_error(name: str, value: Json) -> str | None:
    if name in AGE_CHOICES:
        return None if value in AGE_CHOICES[name] else f'{name} is a text from "{MIN_AGE}" to "{AGE_CHOICES[name][-1]}"'
    if not isinstance(value, list | tuple):
        return f"{name} is a list"
    if name in OBJECT_MEMBERS:
        return None
    if not all(isinstance(item, str) for item in value):
        return f"{name} is a list of texts"
    choices = LIST_CHOICES[name]
    return f"{name} takes {', '.join(choices)}" if choices and not set(value) <= set(choices) else None


def _find_ages_error(targeting: Mapping[str, Json]) -> str | None:
    age_members = [name for name in AGE_CHOICES if name in targeting]
    if not age_members:
        return None
    if len(age_members) < len(AGE_CHOICES):
        return f"{' and '.join(AGE_CHOICES)} are given both or neither"
    if "AGE_BUCKET" in targeting:
        return f"AGE_BUCKET stands for {' and '.join(AGE_CHOICES)}: give one or the others"
    for name in AGE_CHOICES:  # ages from a read were not checked before
        if wrong := _find_member_error(name, targeting[name]):
            return wrong
    positions = [AGE_CHOICES["MAXIMUM_AGE"].index(targeting[name]) for name in AGE_CHOICES]
    return "the least age lies above the greatest" if positions[0] > positions[1] else None


def find_geography_error(targeting: Mapping[str, Json]) -> str | None:
    """Return why a targeting without a geography is refused."""
    if targeting.get("LOCATION") or targeting.get("GEO"):
        return None
    return "the targeting names no geography (LOCATION or GEO)"


def find_keywords_error(keywords: Sequence[Keyword]) -> str | None:
    """Return why the keywords are refused; None if they are valid.

    A response identifies a keyword by match type and text without regard to case, so each pair must be unique.
    """
    unique_keywords = {(keyword.match, keyword.text.casefold()) for keyword in keywords}
    return None if len(unique_keywords) == len(keywords) else "the same keyword is given twice with the same match"


# -- what is looked up --------------------------------------------------------------------------------------------


def fetch_creative_type(network: Network, account: Account, pin_id: str) -> Flow[tuple[str, list[str]]]:
    """Return the creative type of an existing pin, and warnings. A pin that cannot be read counts as a regular one."""
    path = "creative.existingId"
    try:
        response = yield from fetch_or_none(network, pinterest.build_pin_request(account, pin_id))
    except (PermissionRefused, ProviderUnreadable, LookupNeeded):
        return pinterest.REGULAR, [f"The pin {pin_id} could not be read: it is taken for a {pinterest.REGULAR} one."]
    if response is None:
        raise invalid_input(path, "not_found", "Pinterest has no such pin, or does not show it.")
    creative_type = get_text(response.body, "/creative_type") or pinterest.REGULAR
    if creative_type not in pinterest.PROMOTABLE_PIN_TYPES:
        accepted = ", ".join(pinterest.PROMOTABLE_PIN_TYPES)
        message = f"Pinterest: the pin is of the type {creative_type[:40]}; these can be planned: {accepted}."
        raise invalid_input(path, "not_supported", message)
    # unverified: whether a pin of another user may be promoted.
    if get_value(response.body, "/is_owner") is False:
        return creative_type, [f"The pin {pin_id} belongs to another user: whether it may be promoted is not certain."]
    return creative_type, []


# -- what an edit says --------------------------------------------------------------------------------------------

TargetingPartBuilder = Callable[[Json, str], dict[str, Json]]
"""Builds native members from an edit's value and the path for errors. None removes a member."""


def _location_part_builder(suffix: str) -> TargetingPartBuilder:
    def part(items: Json, path: str) -> dict[str, Json]:
        ids = [item["id"] for item in items]
        if wrong := find_locations_error(ids):
            raise invalid_input(path, "invalid", f"Pinterest: {wrong}.")
        places = build_places(ids)
        return {f"{name}{suffix}": places.get(name) for name in ("LOCATION", "GEO")}

    return part


def _ids_builder(member: str) -> TargetingPartBuilder:
    def part(items: Json, path: str) -> dict[str, Json]:
        return {member: [item["id"] for item in items] or None}

    return part


def _build_genders(items: Json, path: str) -> dict[str, Json]:
    if any(gender not in GENDERS for gender in items):
        raise invalid_input(path, "choice", f"Pinterest takes these genders: {', '.join(GENDERS)}.")
    return {"GENDER": list(items) or None}


def _age_builder(name: str) -> TargetingPartBuilder:
    def part(age: Json, path: str) -> dict[str, Json]:
        if not MIN_AGE <= age <= MAX_AGE:
            raise invalid_input(path, "out_of_range", f"Pinterest takes ages from {MIN_AGE} to {MAX_AGE}.")
        native = OPEN_ENDED_MAX_AGE if name == "MAXIMUM_AGE" and age == MAX_AGE else str(age)
        return {name: native, "AGE_BUCKET": None}  # an older native form of the age range

    return part


EDITABLE_TARGETING: Mapping[str, TargetingPartBuilder] = {
    "locations": _location_part_builder(""),
    "excludedLocations": _location_part_builder("_EXCLUDE"),
    "interests": _ids_builder("INTEREST"),
    "languages": _ids_builder("LOCALE"),
    "genders": _build_genders,
    "ageMin": _age_builder("MINIMUM_AGE"),
    "ageMax": _age_builder("MAXIMUM_AGE"),
}


def merge_targeting(kind: Kind, current: Json, new_members: Mapping[str, Json]) -> tuple[dict[str, Json], list[Change]]:
    """Apply an edit to the targeting. Returns all of it, and each change. Raises InvalidInput with all issues."""
    native = {name: value for name, value in current.items() if value is not None}

    def lay(name: str, part: TargetingPartBuilder, value: Json, path: str) -> Change:
        new = part(value, path)
        before = {member: native.pop(member, None) for member in new}
        native.update({member: ids for member, ids in new.items() if ids is not None})
        return Change(name, _display_members(before), _display_members(new))

    changes = apply_targeting(EDITABLE_TARGETING, new_members, lay)
    issues: list[Issue] = []
    if wrong := find_geography_error(native):
        issues.append(Issue("targeting.locations", "required", f"Pinterest: {wrong}."))
    if not issues and {"ageMin", "ageMax"}.intersection(new_members) and (wrong := _find_ages_error(native)):
        missing = next((name for name in ("ageMin", "ageMax") if name not in new_members), "ageMin")
        issues.append(Issue(f"targeting.{missing}", "invalid", f"Pinterest: {wrong}."))
    raise_if_issues(issues)
    return native, changes


def _display_members(members: Mapping[str, Json]) -> Json:
    return {member: value for member, value in members.items() if value is not None} or None
