"""`targeting_spec` of an ad group: its shape and rules."""

import re
from collections.abc import Mapping
from typing import Any

from adsunify.sandbox.checks import Check, array, choice, external_id, integer, nullable, record, text
from adsunify.sandbox.networks.pinterest.tables import COUNTRIES
from adsunify.sandbox.parsing import InvalidRequest, fill_keys, parse_names

AGE_BUCKETS = ("18-24", "19+", "20+", "21+", "25-34", "35-44", "45-49", "50-54", "55-64", "65+")
GENDERS = ("unknown", "male", "female")
APP_TYPES = ("android_mobile", "android_tablet", "ipad", "iphone", "web", "web_mobile")
LOCALES = parse_names("""
    cs Czech, da Danish, de German, el Greek, en English, es Spanish, fi Finnish, fr French, hu Hungarian,
    id Indonesian, it Italian, ja Japanese, ko Korean, nb Norwegian, nl Dutch, pl Polish, pt Portuguese, ro Romanian,
    ru Russian, sk Slovak, sv Swedish, tr Turkish, uk Ukrainian, vi Vietnamese
""")
_COUNTRY_CODES = {code for code, _, _ in COUNTRIES}
_AGES = [str(age) for age in range(18, 66)]


def _check_location(value: Any, where: str) -> str:
    code = str(text(1, 18, r"[A-Z]{2}|\d+")(value, where))
    if code.isalpha() and code not in _COUNTRY_CODES:
        raise InvalidRequest("rule", where, f"ads are not sold in {code}")
    return code


def _check_locale(value: Any, where: str) -> str:
    """A language, perhaps with a country: `en`, `en-US` (the description has both forms)."""
    return str(text(pattern=f"({'|'.join(LOCALES)})(-[A-Z]{{2}})?")(value, where))


def _nullable_array(item: Check) -> Check:
    return nullable(array(item))


_GEO_CHECK = _nullable_array(
    text(pattern=r"[A-Z]{2}-[A-Z0-9 -]+|\d{5}")
)  # a region; a postal code with its country (5.23) or bare (5.28)
_EXTERNAL_ID = external_id(r"\d{1,18}")
TARGETING_CHECK = record(
    optional={
        "AGE_BUCKET": _nullable_array(choice(*AGE_BUCKETS)),
        "APPTYPE": _nullable_array(choice(*APP_TYPES)),
        **fill_keys(_nullable_array(_EXTERNAL_ID), "AUDIENCE_EXCLUDE AUDIENCE_INCLUDE INTEREST"),
        "GENDER": _nullable_array(choice(*GENDERS)),
        "GEO": _GEO_CHECK,
        "GEO_EXCLUDE": _GEO_CHECK,
        "LOCALE": _nullable_array(_check_locale),
        "LOCATION": _nullable_array(_check_location),
        "LOCATION_EXCLUDE": _nullable_array(_check_location),
        "MAXIMUM_AGE": nullable(choice(*_AGES, "65+")),
        "MINIMUM_AGE": nullable(choice(*_AGES)),
        "SHOPPING_RETARGETING": _nullable_array(
            record(
                optional={"lookback_window": integer(0), "exclusion_window": integer(0), "tag_types": array(integer(0))}
            )
        ),
        "TARGETING_STRATEGY": _nullable_array(choice("CHOOSE_YOUR_OWN", "FIND_NEW_CUSTOMERS", "RECONNECT_WITH_USERS")),
    }
)


def check_targeting(spec: Mapping[str, Any], where: str = "/targeting_spec") -> None:
    """Check the rules across members. Raises InvalidRequest `rule`."""
    values_by_type = {name: value for name, value in spec.items() if value}
    if not values_by_type.keys() & {"LOCATION", "GEO"}:
        raise InvalidRequest("rule", where, "specify at least one GEO or LOCATION code")
    for name, values in values_by_type.items():
        if isinstance(values, list) and name != "SHOPPING_RETARGETING" and len({*values}) < len(values):
            raise InvalidRequest("rule", f"{where}/{name}", "holds a value twice")
    ages = values_by_type.keys() & {"MINIMUM_AGE", "MAXIMUM_AGE"}
    if len(ages) == 1:
        raise InvalidRequest("rule", where, "MINIMUM_AGE and MAXIMUM_AGE must be used together")
    if ages and "AGE_BUCKET" in values_by_type:
        raise InvalidRequest("rule", where, "AGE_BUCKET cannot be combined with MINIMUM_AGE and MAXIMUM_AGE")
    if ages and int(values_by_type["MINIMUM_AGE"]) > int(values_by_type["MAXIMUM_AGE"].rstrip("+")):
        raise InvalidRequest("rule", where, "MINIMUM_AGE must not be over MAXIMUM_AGE")
    for name in ("GEO", "GEO_EXCLUDE"):
        if len({_is_postal_code(value) for value in values_by_type.get(name, ())}) > 1:
            raise InvalidRequest("rule", f"{where}/{name}", "region codes and postal codes must not be mixed")
    for name in ("LOCATION", "GEO", "AUDIENCE"):
        included = values_by_type.get(f"{name}_INCLUDE" if name == "AUDIENCE" else name, ())
        if {*included} & {*values_by_type.get(f"{name}_EXCLUDE", ())}:
            raise InvalidRequest("rule", f"{where}/{name}_EXCLUDE", "excludes what is included")


def _is_postal_code(code: str) -> bool:
    """Whether a code is a postal code: four characters or more with a digit after the country.

    Regions like JP-13 and AT-9 are shorter (our choice).
    """
    inner = code.partition("-")[2] or code
    return len(inner) >= 4 and bool(re.search(r"\d", inner))
