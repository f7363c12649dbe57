"""The `targeting` of an ad squad."""

from typing import Any

from adsunify.sandbox.checks import Check, any_value, array, boolean, choice, country_code, record, rule_error, text
from adsunify.sandbox.parsing import fill_keys

# Snap Marketing API: objects inside one entry are ANDed. The documentation does not say which kinds may be excluded:
# here all kinds may.
_OPERATION_CHECK = choice("INCLUDE", "EXCLUDE")
AGE_GROUPS = ("13-17", "18-20", "21-24", "25-34", "35-44", "45-54", "55+")
_WORDS_CHECK = array(text(), 1)
_AGE_CHECK = text(2, 3, r"1[3-9]|[2-4]\d|5[0-5]|55\+")  # years as text; the bounds are our choice
GEO_CHECK = record(
    required={"country_code": text(2, 2)},
    optional={
        "operation": _OPERATION_CHECK,
        **fill_keys(_WORDS_CHECK, "region_id metro_id postal_code"),
    },
    at_most_one=(("region_id", "metro_id", "postal_code"),),
)
DEMOGRAPHICS_CHECK = record(
    optional={
        "operation": _OPERATION_CHECK,
        "gender": choice("MALE", "FEMALE"),
        "languages": array(text(2, 2, "[a-z]{2}"), 1),
        "age_groups": array(choice(*AGE_GROUPS), 1),
        "min_age": _AGE_CHECK,
        "max_age": _AGE_CHECK,
        "advanced_demographics": array(text(), 1),
    }
)
_ENTRIES_CHECK: Check = array(
    record(
        optional={
            "operation": _OPERATION_CHECK,
            **fill_keys(_WORDS_CHECK, "category_id segment_id carrier_id marketing_name"),
            **fill_keys(text(), "os_type os_version_min os_version_max connection_type"),
        }
    ),
    1,
)
_TARGETING_CHECK = record(
    required={"geos": array(GEO_CHECK, 1)},
    optional={
        "demographics": array(DEMOGRAPHICS_CHECK),
        **fill_keys(_ENTRIES_CHECK, "devices interests segments"),
        **fill_keys(array(any_value, 1), "locations app_install_states reserved_segments"),
        "regulated_content": boolean,
        "auto_expansion_options": any_value,
        "enable_targeting_expansion": boolean,
    },
)
_DEFAULT_EXPANSION = {
    "interest_expansion_option": {"enabled": True},
    "custom_audience_expansion_option": {"enabled": True},
}


def check_targeting(value: Any, where: str) -> dict[str, Any]:
    """The checked targeting of an ad squad. Raises InvalidRequest."""
    targeting: dict[str, Any] = _TARGETING_CHECK(value, where)
    for position, geo in enumerate(targeting["geos"]):
        if not geo["country_code"].isascii() or not geo["country_code"].islower():
            raise rule_error(f"{where}/geos/{position}/country_code", "must be a lower-case two-letter country code")
        country_code(geo["country_code"].upper(), f"{where}/geos/{position}/country_code")
    included = [geo for geo in targeting["geos"] if geo.get("operation", "INCLUDE") == "INCLUDE"]
    if not included:
        raise rule_error(f"{where}/geos", "nothing is included")
    if len({geo["country_code"] for geo in included}) > 1:
        _check_several_countries(targeting, where)
    whole = {geo["country_code"] for geo in included if not {*geo} - {"operation", "country_code"}}
    if any(geo["country_code"] in whole and {*geo} - {"operation", "country_code"} for geo in included):
        raise rule_error(
            f"{where}/geos", "a whole country beside a part of it"
        )  # our choice: the part would have no effect
    return targeting


def add_defaults(value: dict[str, Any]) -> dict[str, Any]:
    """The defaults of creation: expansion is on."""
    return {"regulated_content": False, "auto_expansion_options": _DEFAULT_EXPANSION, **value}


def _check_several_countries(targeting: dict[str, Any], where: str) -> None:
    """Check that every entry is an INCLUDE, and that there is exactly one language."""
    for position, geo in enumerate(targeting["geos"]):
        if "operation" not in geo:
            raise rule_error(f"{where}/geos/{position}/operation", "is required with several countries")
    languages = [
        language for demographic in targeting.get("demographics", []) for language in demographic.get("languages", [])
    ]
    if len(languages) != 1:
        raise rule_error(f"{where}/demographics", "several countries need exactly one language")
