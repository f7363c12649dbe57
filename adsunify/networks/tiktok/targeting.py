"""Whom TikTok shows ads to: from a brief, from the region list, and from an edit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from adsunify.brief import CampaignBrief
from adsunify.errors import InvalidInput, Issue
from adsunify.network import words
from adsunify.steps import Change
from adsunify.wire import Json, identifier, read, text

from .native import LOCATIONS

GEOGRAPHY = ("location_ids", "zipcode_ids")
NATIVE = words(
    "location_ids zipcode_ids languages gender age_groups spending_power household_income audience_ids"
    " excluded_audience_ids interest_category_ids interest_keyword_ids purchase_intention_keyword_ids actions"
    " operating_systems min_android_version min_ios_version device_model_ids device_price_ranges network_types"
    " carrier_ids isp_ids saved_audience_id smart_audience_enabled smart_interest_behavior_enabled brand_safety_type"
    " category_exclusion_ids contextual_tag_ids"
)
MANUAL_ONLY = ("brand_safety_type", "category_exclusion_ids", "contextual_tag_ids")  # not in a Smart+ targeting_spec
UNLIMITED = "GENDER_UNLIMITED"
GENDERS = {"male": "GENDER_MALE", "female": "GENDER_FEMALE"}
SYSTEMS = ("ANDROID", "IOS")
# From and to, in years; the last group is open, and 100 stands for that.
OLDEST = 65  # what an edit can say at most, and means: no upper end
AGES = {
    "AGE_13_17": (13, 17),
    "AGE_18_24": (18, 24),
    "AGE_25_34": (25, 34),
    "AGE_35_44": (35, 44),
    "AGE_45_54": (45, 54),
    "AGE_55_100": (55, 100),
}


def wrong_native(targeting: Mapping[str, Json]) -> str | None:
    """What is wrong with a targeting in TikTok's own names; None where nothing is."""
    unknown = sorted(set(targeting) - set(NATIVE))
    if unknown:
        return f"its targeting has no member {unknown[0][:60]}; it takes {', '.join(NATIVE)}"
    ids: list[Json] = []
    for name in GEOGRAPHY:
        found = targeting.get(name, [])
        if not isinstance(found, list) or not all(isinstance(one, str) and one for one in found):
            return f"{name} is a list of ids, as text"
        ids += found
    if not ids:
        return "the targeting names no geography (location_ids or zipcode_ids)"
    return f"it takes at most {LOCATIONS} locations" if len(ids) > LOCATIONS else None


# -- countries and locations --------------------------------------------------------------------------------------


def resolved(brief: CampaignBrief, regions: Sequence[Mapping[str, Json]]) -> list[str]:
    """The location ids of the brief's countries and locations. Raises InvalidInput with all issues."""
    countries = {text(one, "/region_code"): one for one in regions if read(one, "/level") == "COUNTRY"}
    known = {identifier(read(one, "/location_id")): one for one in regions}
    issues: list[Issue] = []
    chosen: dict[str, str] = {}
    for index, country in enumerate(brief.targeting.countries or ()):
        place = f"targeting.countries/{index}"
        found = identifier(read(countries.get(country), "/location_id"))
        if found is None:
            issues.append(Issue(place, "not_deliverable", f"TikTok does not deliver to {country} for this account."))
        else:
            chosen.setdefault(found, place)
    for index, location in enumerate(brief.targeting.location_ids or ()):
        place = f"targeting.locationIds/{index}"
        if location not in known:
            issues.append(Issue(place, "not_found", "TikTok has no such location, or does not deliver to it."))
        elif location in chosen:
            issues.append(Issue(place, "conflict", "TikTok takes each location once."))
        else:
            chosen[location] = place
    for location, place in chosen.items():
        if chosen.keys() & _around(location, known):
            message = "It lies inside another location of the brief; TikTok takes one of the two."
            issues.append(Issue(place, "conflict", message))
    if issues:
        raise InvalidInput(issues)
    return list(chosen)


def _around(location: str, known: Mapping[str | None, Mapping[str, Json]]) -> set[str]:
    """The locations that contain this one."""
    found: set[str] = set()
    parent = identifier(read(known.get(location), "/parent_id"))
    while parent is not None and parent not in found and parent != location:
        found.add(parent)
        parent = identifier(read(known.get(parent), "/parent_id"))
    return found


# -- what an edit says --------------------------------------------------------------------------------------------

Part = Callable[[Json, str], Json]
"""From the wanted value and the path to name, to the native value."""


def _refuse(path: str, code: str, message: str) -> InvalidInput:
    return InvalidInput((Issue(path, code, f"TikTok: {message}"),))


def _locations(items: Json, path: str) -> Json:
    for index, item in enumerate(items):
        if item.get("radiusKm") is not None:
            raise _refuse(f"{path}/{index}.radiusKm", "not_supported", "a location has no radius.")
    if not items:
        raise _refuse(path, "required", "an ad group has at least one location.")
    return [item["id"] for item in items]


def _ids(items: Json, path: str) -> Json:
    return [item["id"] for item in items]


def _genders(items: Json, path: str) -> Json:
    if any(one not in GENDERS for one in items):
        raise _refuse(path, "not_supported", f"takes these genders: {', '.join(GENDERS)}.")
    return GENDERS[items[0]] if len(set(items)) == 1 else UNLIMITED


def _systems(items: Json, path: str) -> Json:
    found = [item["id"] for item in items]
    if any(one not in SYSTEMS for one in found):
        raise _refuse(path, "choice", f"takes these: {', '.join(SYSTEMS)}.")
    return found


PARTS: Mapping[str, tuple[str, Part]] = {
    "locations": ("location_ids", _locations),
    "genders": ("gender", _genders),
    "languages": ("languages", _ids),
    "interests": ("interest_category_ids", _ids),
    "devices": ("operating_systems", _systems),
}
LOCKED = {
    "excludedLocations": "it excludes no locations",
    "excludedInterests": "it excludes no interests",
    "placements": "they are fixed when the ad group is made",
}
AGE = ("ageMin", "ageMax")


def retargeted(current: Mapping[str, Json], wanted: Mapping[str, Json]) -> tuple[dict[str, Json], list[Change]]:
    """The changed members, and each change in words. Raises InvalidInput with all issues."""
    members: dict[str, Json] = {}
    changes: list[Change] = []
    issues: list[Issue] = []
    for name, value in wanted.items():
        path = f"targeting.{name}"
        if name in AGE:
            continue
        if name not in PARTS:
            reason = LOCKED.get(name, f"it takes {', '.join([*PARTS, *AGE])}")
            issues.append(Issue(path, "not_supported", f"TikTok does not take {name}: {reason}."))
            continue
        member, part = PARTS[name]
        try:
            members[member] = part(value, path)
        except InvalidInput as problem:
            issues.extend(problem.issues)
            continue
        changes.append(Change(name, current.get(member), members[member]))
    if not wanted.keys().isdisjoint(AGE):
        try:
            members["age_groups"] = _ages(current, wanted)
            changes.append(Change("age", current.get("age_groups"), members["age_groups"]))
        except InvalidInput as problem:
            issues.extend(problem.issues)
    if issues:
        raise InvalidInput(issues)
    return members, changes


def _ages(current: Mapping[str, Json], wanted: Mapping[str, Json]) -> list[str]:
    """The age groups from ``ageMin`` to ``ageMax``; what is not named stays at the border that it has."""
    groups = current.get("age_groups")
    had = [AGES[one] for one in groups if isinstance(one, str) and one in AGES] if isinstance(groups, list) else []
    least = wanted.get("ageMin", min((low for low, _ in had), default=18))
    most = wanted.get("ageMax", max((high for _, high in had), default=100))
    most = 100 if most == OLDEST else most
    if least not in [low for low, _ in AGES.values()]:
        borders = ", ".join(str(low) for low, _ in AGES.values())
        raise _refuse("targeting.ageMin", "choice", f"ages begin at one of {borders}.")
    if most not in [high for _, high in AGES.values()]:
        borders = ", ".join(str(high) for _, high in AGES.values() if high < OLDEST)
        raise _refuse("targeting.ageMax", "choice", f"ages end at one of {borders}, or {OLDEST} for no end.")
    if most < least:
        raise _refuse("targeting.ageMin", "order", "the least age lies above the greatest.")
    return [name for name, (low, high) in AGES.items() if least <= low and high <= most]
