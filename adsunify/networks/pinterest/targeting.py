"""Pinterest's ``targeting_spec``: from a brief, and from an edit."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from adsunify.adapter.edit_members import targeted
from adsunify.adapter.flows import maybe
from adsunify.adapter.network import Account, Network, words
from adsunify.errors import Issue, LookupNeeded, PermissionRefused, ProviderUnreadable, refuse, refused
from adsunify.http.messages import Flow
from adsunify.models.brief import CampaignBrief, Keyword
from adsunify.plans.records import Change
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import read, text

from . import native as pinterest

# Ads description 5.28: LOCATION holds countries and metro areas, GEO regions and postal codes. The bare postal codes
# that it shows cannot be told from metro areas; those of 5.23 begin with the country.
LOCATION = re.compile(r"[A-Z]{2}|[0-9]+").fullmatch
GEO = re.compile(r"[A-Z]{2}-.+").fullmatch
_POSTAL, _REGION = re.compile(r"US-[0-9]{5}").fullmatch, re.compile(r"US-[A-Z]+").fullmatch


def kind_of(location: str) -> str | None:
    """The type of place that a location's id names."""
    if LOCATION(location):
        return "country" if location.isalpha() else "metro"
    return "postal" if _POSTAL(location) else "region" if _REGION(location) else None


YOUNGEST, OLDEST = 18, 65
AND_OLDER = "65+"  # of MAXIMUM_AGE only
GENDERS = ("male", "female", "unknown")
LISTS: Mapping[str, tuple[str, ...]] = {
    "AGE_BUCKET": words("18-24 25-34 35-44 45-49 50-54 55-64 65+ 19+ 20+ 21+"),
    "APPTYPE": words("android_mobile android_tablet ipad iphone web web_mobile"),
    "GENDER": GENDERS,
    "TARGETING_STRATEGY": words("CHOOSE_YOUR_OWN FIND_NEW_CUSTOMERS RECONNECT_WITH_USERS"),
    **dict.fromkeys(
        words("AUDIENCE_EXCLUDE AUDIENCE_INCLUDE GEO GEO_EXCLUDE INTEREST LOCALE LOCATION LOCATION_EXCLUDE"), ()
    ),
}
"""Members that are lists of texts, with their values where there is a table of them."""
AGES: Mapping[str, tuple[str, ...]] = {
    "MINIMUM_AGE": tuple(str(age) for age in range(YOUNGEST, OLDEST + 1)),
    "MAXIMUM_AGE": (*(str(age) for age in range(YOUNGEST, OLDEST + 1)), AND_OLDER),
}
OBJECTS = ("SHOPPING_RETARGETING",)
NAMES = (*LISTS, *AGES, *OBJECTS)


# -- what a brief says --------------------------------------------------------------------------------------------


def places(locations: Iterable[str]) -> dict[str, Json]:
    """Where the ids of locations stand natively: each in LOCATION or GEO, once."""
    found: dict[str, Json] = {}
    for location in dict.fromkeys(locations):
        found.setdefault("LOCATION" if LOCATION(location) else "GEO", []).append(location)
    return found


def targeting_of(brief: CampaignBrief) -> dict[str, Json]:
    """The ad group's targeting; the brief's own native one is taken as it stands."""
    wanted = brief.targeting
    if wanted.native is not None:
        return dict(wanted.native)
    return places([*(wanted.countries or ()), *(wanted.location_ids or ())])


def misplaced(locations: Sequence[str]) -> str | None:
    """What is wrong with location ids; None where nothing is."""
    if not all(LOCATION(location) or GEO(location) for location in locations):
        return "a location is a country (US), the number of a metro area (501), a region (US-CA) or a place in it"
    if any(map(_POSTAL, locations)) and any(map(_REGION, locations)):
        return "an ad group targets regions or postal codes, not both"
    return None


def not_native(targeting: Mapping[str, Json]) -> str | None:
    """What is wrong with a targeting in Pinterest's own names; None where nothing is."""
    unknown = sorted(set(targeting) - set(NAMES))
    if unknown:
        return f"its targeting has no member {unknown[0][:60]}; it has {', '.join(NAMES)}"
    for name, value in targeting.items():
        if wrong := _wrong(name, value):
            return wrong
    return _ages(targeting) or placeless(targeting)


def _wrong(name: str, value: Json) -> str | None:
    if name in AGES:
        return None if value in AGES[name] else f'{name} is a text from "{YOUNGEST}" to "{AGES[name][-1]}"'
    if not isinstance(value, list | tuple):
        return f"{name} is a list"
    if name in OBJECTS:
        return None
    if not all(isinstance(one, str) for one in value):
        return f"{name} is a list of texts"
    choices = LISTS[name]
    return f"{name} takes {', '.join(choices)}" if choices and not set(value) <= set(choices) else None


def _ages(targeting: Mapping[str, Json]) -> str | None:
    given = [name for name in AGES if name in targeting]
    if not given:
        return None
    if len(given) < len(AGES):
        return f"{' and '.join(AGES)} are given both or neither"
    if "AGE_BUCKET" in targeting:
        return f"AGE_BUCKET stands for {' and '.join(AGES)}: give one or the others"
    for name in AGES:  # of an ad group that is read they may be anything
        if wrong := _wrong(name, targeting[name]):
            return wrong
    positions = [AGES["MAXIMUM_AGE"].index(targeting[name]) for name in AGES]
    return "the least age lies above the greatest" if positions[0] > positions[1] else None


def placeless(targeting: Mapping[str, Json]) -> str | None:
    """What is wrong with a targeting without a geography."""
    if targeting.get("LOCATION") or targeting.get("GEO"):
        return None
    return "the targeting names no geography (LOCATION or GEO)"


def wrong_keywords(keywords: Sequence[Keyword]) -> str | None:
    """What Pinterest would not take of the keywords, None where it takes them all.

    Its answer names keywords by their match and words, in any case of letters: two alike could not be told apart.
    """
    seen = {(keyword.match, keyword.text.casefold()) for keyword in keywords}
    return None if len(seen) == len(keywords) else "the same keyword stands there twice with the same match"


# -- what is looked up --------------------------------------------------------------------------------------------


def creative_type(network: Network, account: Account, pin_id: str) -> Flow[tuple[str, list[str]]]:
    """The kind of an existing pin, and what is to be said of it. Without an answer it is taken for a plain one."""
    path = "creative.existingId"
    try:
        response = yield from maybe(network, pinterest.pin(account, pin_id))
    except (PermissionRefused, ProviderUnreadable, LookupNeeded):
        return pinterest.REGULAR, [f"The pin {pin_id} could not be read: it is taken for a {pinterest.REGULAR} one."]
    if response is None:
        raise refused(path, "not_found", "Pinterest has no such pin, or does not show it.")
    found = text(response.body, "/creative_type") or pinterest.REGULAR
    if found not in pinterest.PROMOTABLE:
        message = (
            f"Pinterest: the pin is of the type {found[:40]}; these can be planned: {', '.join(pinterest.PROMOTABLE)}."
        )
        raise refused(path, "not_supported", message)
    if read(response.body, "/is_owner") is False:
        return found, [f"The pin {pin_id} belongs to another user: whether it may be promoted is not certain."]
    return found, []


# -- what an edit says --------------------------------------------------------------------------------------------

Part = Callable[[Json, str], dict[str, Json]]
"""From the wanted value and the path to name, to native members; None takes one away."""


def _places(suffix: str) -> Part:
    def part(items: Json, path: str) -> dict[str, Json]:
        ids = [item["id"] for item in items]
        if wrong := misplaced(ids):
            raise refused(path, "invalid", f"Pinterest: {wrong}.")
        found = places(ids)
        return {f"{name}{suffix}": found.get(name) for name in ("LOCATION", "GEO")}

    return part


def _ids(name: str) -> Part:
    def part(items: Json, path: str) -> dict[str, Json]:
        return {name: [item["id"] for item in items] or None}

    return part


def _genders(items: Json, path: str) -> dict[str, Json]:
    if any(one not in GENDERS for one in items):
        raise refused(path, "choice", f"Pinterest takes these genders: {', '.join(GENDERS)}.")
    return {"GENDER": list(items) or None}


def _age(name: str) -> Part:
    def part(age: Json, path: str) -> dict[str, Json]:
        if not YOUNGEST <= age <= OLDEST:
            raise refused(path, "out_of_range", f"Pinterest takes ages from {YOUNGEST} to {OLDEST}.")
        native = AND_OLDER if name == "MAXIMUM_AGE" and age == OLDEST else str(age)
        return {name: native, "AGE_BUCKET": None}  # the older form of the same

    return part


PARTS: Mapping[str, Part] = {
    "locations": _places(""),
    "excludedLocations": _places("_EXCLUDE"),
    "interests": _ids("INTEREST"),
    "languages": _ids("LOCALE"),
    "genders": _genders,
    "ageMin": _age("MINIMUM_AGE"),
    "ageMax": _age("MAXIMUM_AGE"),
}


def merged(targeting: Mapping[str, Json], wanted: Mapping[str, Json]) -> tuple[dict[str, Json], list[Change]]:
    """The whole targeting with the wanted parts laid over it, and each change. Raises InvalidInput with all issues."""
    native = {name: value for name, value in targeting.items() if value is not None}

    def lay(name: str, part: Part, value: Json, path: str) -> Change:
        new = part(value, path)
        before = {member: native.pop(member, None) for member in new}
        native.update({member: held for member, held in new.items() if held is not None})
        return Change(name, _shown(before), _shown(new))

    changes = targeted(PARTS, wanted, lay)
    issues: list[Issue] = []
    if wrong := placeless(native):
        issues.append(Issue("targeting.locations", "required", f"Pinterest: {wrong}."))
    if not issues and {"ageMin", "ageMax"}.intersection(wanted) and (wrong := _ages(native)):
        missing = next((name for name in ("ageMin", "ageMax") if name not in wanted), "ageMin")
        issues.append(Issue(f"targeting.{missing}", "invalid", f"Pinterest: {wrong}."))
    refuse(issues)
    return native, changes


def _shown(members: Mapping[str, Json]) -> Json:
    return {member: value for member, value in members.items() if value is not None} or None
