"""The `targeting` of an ad squad."""

from typing import Any

from adsunify.sandbox.framework import Check, anything, boolean, choice, country_code, listing, record, text
from adsunify.sandbox.networks.snapchat.answers import refused

# Snap Marketing API: objects inside one entry are ANDed; which may be excluded is not said: here all kinds may.
_OPERATION = choice("INCLUDE", "EXCLUDE")
AGE_GROUPS = ("13-17", "18-20", "21-24", "25-34", "35-44", "45-54", "55+")
_WORDS = listing(text(), 1)
_AGE = text(2, 3, r"1[3-9]|[2-4]\d|5[0-5]|55\+")  # years as text; the bounds are chosen
GEO = record(
    required={"country_code": text(2, 2)},
    optional={"operation": _OPERATION, "region_id": _WORDS, "metro_id": _WORDS, "postal_code": _WORDS},
    at_most_one=(("region_id", "metro_id", "postal_code"),),
)
DEMOGRAPHICS = record(
    optional={
        "operation": _OPERATION,
        "gender": choice("MALE", "FEMALE"),
        "languages": listing(text(2, 2, "[a-z]{2}"), 1),
        "age_groups": listing(choice(*AGE_GROUPS), 1),
        "min_age": _AGE,
        "max_age": _AGE,
        "advanced_demographics": listing(text(), 1),
    },
)
_ENTRIES: Check = listing(
    record(
        optional={
            "operation": _OPERATION,
            "category_id": _WORDS,
            "segment_id": _WORDS,
            "os_type": text(),
            "os_version_min": text(),
            "os_version_max": text(),
            "connection_type": text(),
            "carrier_id": _WORDS,
            "marketing_name": _WORDS,
        }
    ),
    1,
)
_SHAPE = record(
    required={"geos": listing(GEO, 1)},
    optional={
        "demographics": listing(DEMOGRAPHICS),
        "devices": _ENTRIES,
        "interests": _ENTRIES,
        "segments": _ENTRIES,
        "locations": listing(anything, 1),
        "regulated_content": boolean,
        "app_install_states": listing(anything, 1),
        "auto_expansion_options": anything,
        "enable_targeting_expansion": boolean,
        "reserved_segments": listing(anything, 1),
    },
)
_EXPANSION = {
    "interest_expansion_option": {"enabled": True},
    "custom_audience_expansion_option": {"enabled": True},
}


def targeting(value: Any, where: str) -> dict[str, Any]:
    """The checked targeting of an ad squad. Problem."""
    given: dict[str, Any] = _SHAPE(value, where)
    for position, geo in enumerate(given["geos"]):
        if not geo["country_code"].isascii() or not geo["country_code"].islower():
            raise refused(f"{where}/geos/{position}/country_code", "must be a lower-case two-letter country code")
        country_code(geo["country_code"].upper(), f"{where}/geos/{position}/country_code")
    included = [geo for geo in given["geos"] if geo.get("operation", "INCLUDE") == "INCLUDE"]
    if not included:
        raise refused(f"{where}/geos", "nothing is included")
    if len({geo["country_code"] for geo in included}) > 1:
        _several_countries(given, where)
    whole = {geo["country_code"] for geo in included if not {*geo} - {"operation", "country_code"}}
    if any(geo["country_code"] in whole and {*geo} - {"operation", "country_code"} for geo in included):
        raise refused(f"{where}/geos", "a whole country beside a part of it")  # chosen: the part would mean nothing
    return given


def born(value: dict[str, Any]) -> dict[str, Any]:
    """What creation adds: expansion is on unless it is told otherwise."""
    return {"regulated_content": False, "auto_expansion_options": _EXPANSION, **value}


def _several_countries(given: dict[str, Any], where: str) -> None:
    """Every entry says INCLUDE, and exactly one language is mandatory."""
    for position, geo in enumerate(given["geos"]):
        if "operation" not in geo:
            raise refused(f"{where}/geos/{position}/operation", "is required with several countries")
    languages = [language for one in given.get("demographics", []) for language in one.get("languages", [])]
    if len(languages) != 1:
        raise refused(f"{where}/demographics", "several countries need exactly one language")
