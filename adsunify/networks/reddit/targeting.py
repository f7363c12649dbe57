"""Reddit's ``targeting`` object: its valid form, and how an edit changes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adsunify.adapter.edit_members import PartBuilder, list_item_ids, replace_members, to_native_genders
from adsunify.adapter.network import split_words
from adsunify.errors import ProviderUnreadable, invalid_input
from adsunify.plans.records import Change, Kind
from adsunify.values.exact_json import Json

GEOLOCATIONS, EXCLUDED_GEOLOCATIONS = "geolocations", "excluded_geolocations"
FEMALE, MALE = "FEMALE", "MALE"
LANGUAGES = split_words("AR CS DA DE EL EN ES FI FR HU IT JA KO NL NO PL PT RO SV VI ZH")

LIST_LIMITS: Mapping[str, int | None] = {
    GEOLOCATIONS: 20_000,
    EXCLUDED_GEOLOCATIONS: 20_000,
    "interests": 200,
    "keywords": 1_000,
    "excluded_keywords": 2_000,
    "platforms": 7,
    "carriers": 100,
    "view_modes": 5,
    **dict.fromkeys(
        split_words(
            "communities excluded_communities excluded_interests custom_audience_ids excluded_custom_audience_ids"
            " locations languages suppression_event_types"
        )
    ),
}
"""The members that are lists of texts, with the maximum length of each list."""
MEMBER_CHOICES: Mapping[str, tuple[str, ...]] = {
    # The documentation lists DESKTOP_LEGACY, but the API does not support it.
    "platforms": split_words("ALL DESKTOP MOBILE_NATIVE MOBILE_WEB MOBILE_WEB_3X SHREDTOP"),
    "locations": split_words("FEED COMMENTS_PAGE"),
    "languages": LANGUAGES,
    "view_modes": split_words("ALL CARD CLASSIC COMPACT IMMERSIVE"),
}
COMMUNITIES = ("communities", "excluded_communities")
DEVICES_MEMBER, MAX_DEVICES = "devices", 100
DEVICE_TYPES, OPERATING_SYSTEMS = ("DESKTOP", "MOBILE"), ("ANDROID", "IOS", None)
DEVICE_MEMBERS = split_words("type os min_version max_version label_map")
# unverified: Reddit still takes age_targeting, which the OpenAPI description of 2026-07 does not have.
OTHER_MEMBERS = split_words("gender expand_targeting age_targeting")
TARGETING_MEMBERS = (*LIST_LIMITS, DEVICES_MEMBER, *OTHER_MEMBERS)


# -- what a brief says --------------------------------------------------------------------------------------------


def find_native_targeting_error(targeting: Mapping[str, Json]) -> str | None:
    """Return why a native targeting is refused; None if it is valid."""
    unknown = sorted(set(targeting) - set(TARGETING_MEMBERS))
    if unknown:
        return f"its targeting has no member {unknown[0][:60]}; it has {', '.join(TARGETING_MEMBERS)}"
    for name, value in targeting.items():
        if value is not None and (wrong := _find_member_error(name, value)):
            return wrong
    return None


def _find_member_error(name: str, value: Json) -> str | None:
    if name in LIST_LIMITS:
        return _find_list_error(name, value)
    if name == DEVICES_MEMBER:
        return _find_devices_error(value)
    if name == "gender":
        return None if value in (FEMALE, MALE) else f"gender is {FEMALE}, {MALE} or null"
    if name == "expand_targeting":
        return None if isinstance(value, bool) else "expand_targeting is true or false"
    return None if isinstance(value, Mapping) else f"{name} is an object"


def _find_list_error(name: str, value: Json) -> str | None:
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) and item for item in value):
        return f"{name} is a list of texts"
    most, choices = LIST_LIMITS[name], MEMBER_CHOICES.get(name)
    if most is not None and len(value) > most:
        return f"{name} has at most {most} members"
    if choices is not None and not set(value) <= set(choices):
        return f"{name} takes {', '.join(choices)}"
    if name in COMMUNITIES and any(item.startswith(("r/", "/r/", "t5_")) for item in value):
        return f"{name} are the names of communities without r/, not ids"
    return None


def _find_devices_error(value: Json) -> str | None:
    if not isinstance(value, list | tuple) or len(value) > MAX_DEVICES:
        return f"devices is a list of at most {MAX_DEVICES} objects"
    for device in value:
        if not isinstance(device, Mapping) or not set(device) <= set(DEVICE_MEMBERS):
            return f"a device is an object of {', '.join(DEVICE_MEMBERS)}"
        if device.get("type") not in DEVICE_TYPES or device.get("os") not in OPERATING_SYSTEMS:
            return f"a device's type is one of {', '.join(DEVICE_TYPES)}, its os ANDROID, IOS or null"
    return None


def is_worldwide(targeting: Mapping[str, Json]) -> bool:
    """Return whether the targeting names no place, so that ads serve worldwide."""
    return not targeting.get(GEOLOCATIONS)


# -- what an edit says --------------------------------------------------------------------------------------------


def _ids_builder(member: str) -> PartBuilder:
    def part(items: Sequence[Json], path: str) -> Json:
        ids = list_item_ids(items)
        if wrong := _find_list_error(member, ids):
            raise invalid_input(path, "invalid", f"Reddit: {wrong}.")
        return ids

    return part


GENDERS = {"female": FEMALE, "male": MALE}


def _build_genders(items: Sequence[Json], path: str) -> Json:
    """Return the native gender; None for both genders, since Reddit takes no list."""
    natives = set(to_native_genders("Reddit", GENDERS, items, path))
    return natives.pop() if len(natives) == 1 else None


EDITABLE_TARGETING: Mapping[str, tuple[str, PartBuilder]] = {
    "locations": (GEOLOCATIONS, _ids_builder(GEOLOCATIONS)),
    "excludedLocations": (EXCLUDED_GEOLOCATIONS, _ids_builder(EXCLUDED_GEOLOCATIONS)),
    "interests": ("interests", _ids_builder("interests")),
    "languages": ("languages", _ids_builder("languages")),
    "genders": ("gender", _build_genders),
}


def merge_targeting(kind: Kind, current: Json, new_members: Mapping[str, Json]) -> tuple[dict[str, Json], list[Change]]:
    """Apply an edit to the targeting. Returns all of it, and each change. Raises InvalidInput with all issues."""
    if not isinstance(current, Mapping | None):
        raise ProviderUnreadable("The ad group's targeting is no object.")
    replaced, changes = replace_members(EDITABLE_TARGETING, current or {}, new_members)
    return {**(current or {}), **replaced}, changes
