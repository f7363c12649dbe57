"""Reddit's ``targeting`` object: what it may look like, and an edit laid over it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from adsunify.adapter.edit_members import identities, targeted
from adsunify.adapter.network import words
from adsunify.errors import ProviderUnreadable, refused
from adsunify.plans.records import Change
from adsunify.values.exact_json import Json

GEOLOCATIONS, EXCLUDED = "geolocations", "excluded_geolocations"
FEMALE, MALE = "FEMALE", "MALE"
LANGUAGES = words("AR CS DA DE EL EN ES FI FR HU IT JA KO NL NO PL PT RO SV VI ZH")

LISTS: Mapping[str, int | None] = {
    GEOLOCATIONS: 20_000,
    EXCLUDED: 20_000,
    "interests": 200,
    "keywords": 1_000,
    "excluded_keywords": 2_000,
    "platforms": 7,
    "carriers": 100,
    "view_modes": 5,
    **dict.fromkeys(
        words(
            "communities excluded_communities excluded_interests custom_audience_ids excluded_custom_audience_ids"
            " locations languages suppression_event_types"
        )
    ),
}
"""Members that are lists of texts, and how long they may be."""
CHOICES: Mapping[str, tuple[str, ...]] = {
    # DESKTOP_LEGACY is in the list of values, and not supported.
    "platforms": words("ALL DESKTOP MOBILE_NATIVE MOBILE_WEB MOBILE_WEB_3X SHREDTOP"),
    "locations": words("FEED COMMENTS_PAGE"),
    "languages": LANGUAGES,
    "view_modes": words("ALL CARD CLASSIC COMPACT IMMERSIVE"),
}
COMMUNITIES = ("communities", "excluded_communities")
DEVICES, MOST_DEVICES = "devices", 100
DEVICE_TYPES, SYSTEMS = ("DESKTOP", "MOBILE"), ("ANDROID", "IOS", None)
DEVICE_MEMBERS = words("type os min_version max_version label_map")
# age_targeting has gone from the description of 2026-07, whether it is still taken is (unverified): Reddit decides.
OTHERS = words("gender expand_targeting age_targeting")
NAMES = (*LISTS, DEVICES, *OTHERS)


# -- what a brief says --------------------------------------------------------------------------------------------


def not_native(targeting: Mapping[str, Json]) -> str | None:
    """What is wrong with a targeting in Reddit's own names; None where nothing is."""
    unknown = sorted(set(targeting) - set(NAMES))
    if unknown:
        return f"its targeting has no member {unknown[0][:60]}; it has {', '.join(NAMES)}"
    for name, value in targeting.items():
        if value is not None and (wrong := _wrong(name, value)):
            return wrong
    return None


def _wrong(name: str, value: Json) -> str | None:
    if name in LISTS:
        return _wrong_list(name, value)
    if name == DEVICES:
        return _wrong_devices(value)
    if name == "gender":
        return None if value in (FEMALE, MALE) else f"gender is {FEMALE}, {MALE} or null"
    if name == "expand_targeting":
        return None if isinstance(value, bool) else "expand_targeting is true or false"
    return None if isinstance(value, Mapping) else f"{name} is an object"


def _wrong_list(name: str, value: Json) -> str | None:
    if not isinstance(value, list | tuple) or not all(isinstance(one, str) and one for one in value):
        return f"{name} is a list of texts"
    most, choices = LISTS[name], CHOICES.get(name)
    if most is not None and len(value) > most:
        return f"{name} has at most {most} members"
    if choices is not None and not set(value) <= set(choices):
        return f"{name} takes {', '.join(choices)}"
    if name in COMMUNITIES and any(one.startswith(("r/", "/r/", "t5_")) for one in value):
        return f"{name} are the names of communities without r/, not ids"
    return None


def _wrong_devices(value: Json) -> str | None:
    if not isinstance(value, list | tuple) or len(value) > MOST_DEVICES:
        return f"devices is a list of at most {MOST_DEVICES} objects"
    for one in value:
        if not isinstance(one, Mapping) or not set(one) <= set(DEVICE_MEMBERS):
            return f"a device is an object of {', '.join(DEVICE_MEMBERS)}"
        if one.get("type") not in DEVICE_TYPES or one.get("os") not in SYSTEMS:
            return f"a device's type is one of {', '.join(DEVICE_TYPES)}, its os ANDROID, IOS or null"
    return None


def everywhere(targeting: Mapping[str, Json]) -> bool:
    """Whether the targeting names no place, and so takes in the whole world."""
    return not targeting.get(GEOLOCATIONS)


# -- what an edit says --------------------------------------------------------------------------------------------

Part = Callable[[Json, str], Json]
"""From the wanted value and the path to name, to the member's native value."""


def _ids(member: str) -> Part:
    def part(items: Sequence[Json], path: str) -> Json:
        found = identities(items)
        if wrong := _wrong_list(member, found):
            raise refused(path, "invalid", f"Reddit: {wrong}.")
        return found

    return part


GENDERS = {"female": FEMALE, "male": MALE}


def _genders(items: Sequence[Json], path: str) -> Json:
    """One gender, or null for both: there is no list."""
    if any(one not in GENDERS for one in items):
        raise refused(path, "not_supported", f"Reddit takes these genders: {', '.join(GENDERS)}.")
    chosen = {GENDERS[one] for one in items}
    return chosen.pop() if len(chosen) == 1 else None


PARTS: Mapping[str, tuple[str, Part]] = {
    "locations": (GEOLOCATIONS, _ids(GEOLOCATIONS)),
    "excludedLocations": (EXCLUDED, _ids(EXCLUDED)),
    "interests": ("interests", _ids("interests")),
    "languages": ("languages", _ids("languages")),
    "genders": ("gender", _genders),
}


def merged(targeting: Json, wanted: Mapping[str, Json]) -> tuple[dict[str, Json], list[Change]]:
    """The whole targeting with the wanted parts laid over it, and each change. Raises InvalidInput with all issues."""
    if not isinstance(targeting, Mapping | None):
        raise ProviderUnreadable("The ad group's targeting is no object.")
    native = dict(targeting or {})

    def lay(name: str, row: tuple[str, Part], value: Json, path: str) -> Change:
        member, part = row
        before, native[member] = native.get(member), part(value, path)
        return Change(name, before, native[member])

    return native, targeted(PARTS, wanted, lay)
