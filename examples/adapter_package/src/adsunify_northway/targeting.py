"""Northway's ``targeting`` object: made from a brief, and changed by an edit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from adsunify.adapter.edit_members import apply_targeting, list_item_ids
from adsunify.errors import Issue, ProviderUnreadable, invalid_input, raise_if_issues
from adsunify.models.brief import CampaignBrief
from adsunify.plans.records import Change, Kind
from adsunify.values.countries import load_country_codes
from adsunify.values.exact_json import Json

COUNTRIES, AGE, GENDERS = TARGETING_MEMBERS = ("countries", "age", "genders")
MIN_AGE, MAX_AGE = 18, 65  # 65 means 65 and older
MAX_COUNTRIES = 50
NATIVE_GENDERS = ("f", "m", "x")


# -- what a brief says -----------------------------------------------------------------------------------------------


def build_targeting(brief: CampaignBrief) -> dict[str, Json]:
    """Return the targeting of the ad set: the countries of the brief, or its native object."""
    if brief.targeting.native is not None:
        return dict(brief.targeting.native)
    return {COUNTRIES: list(brief.targeting.countries or ())}


def find_native_targeting_error(targeting: Mapping[str, Json]) -> str | None:
    """Return what is wrong with a native targeting; None if it is valid."""
    unknown = sorted(set(targeting) - set(TARGETING_MEMBERS))
    if unknown:
        return f"targeting must not have the member {unknown[0][:60]}; it takes {', '.join(TARGETING_MEMBERS)}"
    return (
        _find_countries_error(targeting.get(COUNTRIES))
        or (_find_age_error(targeting[AGE]) if AGE in targeting else None)
        or (_find_genders_error(targeting[GENDERS]) if GENDERS in targeting else None)
    )


def _is_list_of(value: Json, choices: Sequence[str] | frozenset[str]) -> bool:
    is_list = isinstance(value, list | tuple) and bool(value)
    return is_list and all(isinstance(item, str) and item in choices for item in value)


def _find_countries_error(countries: Json) -> str | None:
    if not _is_list_of(countries, load_country_codes()):
        return f"{COUNTRIES} must be a list of ISO 3166-1 codes"
    return None if len(countries) <= MAX_COUNTRIES else f"{COUNTRIES} must have at most {MAX_COUNTRIES} members"


def _find_age_error(age: Json) -> str | None:
    form = f"{AGE} must be an object with min and max, both from {MIN_AGE} to {MAX_AGE}"
    if not isinstance(age, Mapping) or set(age) != {"min", "max"}:
        return form
    minimum, maximum = age["min"], age["max"]
    if not all(type(number) is int and MIN_AGE <= number <= MAX_AGE for number in (minimum, maximum)):
        return form
    return None if minimum <= maximum else f"min of {AGE} must not be above max"


def _find_genders_error(genders: Json) -> str | None:
    return None if _is_list_of(genders, NATIVE_GENDERS) else f"{GENDERS} must be a list of {', '.join(NATIVE_GENDERS)}"


# -- what an edit says -----------------------------------------------------------------------------------------------

UNIFIED_GENDERS: Mapping[str, str] = {"female": "f", "male": "m"}
Targeting = dict[str, Json]
TargetingSetter = Callable[[Json, Targeting, str], tuple[Json, Json]]
"""Changes the native targeting by one member of an edit; returns the native value before and after."""


def get_location_type(location: str) -> str | None:
    """Return the type of place that a location id names: Northway has countries only."""
    return "country"


def _set_countries(items: Sequence[Mapping[str, Json]], targeting: Targeting, path: str) -> tuple[Json, Json]:
    before, targeting[COUNTRIES] = targeting.get(COUNTRIES), list_item_ids(items)
    if error := _find_countries_error(targeting[COUNTRIES]):
        raise invalid_input(path, "invalid", f"Northway: {error}.")
    return before, targeting[COUNTRIES]


def _set_genders(items: Sequence[str], targeting: Targeting, path: str) -> tuple[Json, Json]:
    """An empty list removes the member, which means all genders. No unified gender corresponds to Northway's x."""
    if any(gender not in UNIFIED_GENDERS for gender in items):
        raise invalid_input(path, "not_supported", f"Northway takes these genders: {', '.join(UNIFIED_GENDERS)}.")
    before = targeting.pop(GENDERS, None)
    if items:
        targeting[GENDERS] = [UNIFIED_GENDERS[gender] for gender in items]
    return before, targeting.get(GENDERS)


def _make_age_setter(bound: str) -> TargetingSetter:
    def set_age(years: Json, targeting: Targeting, path: str) -> tuple[Json, Json]:
        if not MIN_AGE <= years <= MAX_AGE:
            raise invalid_input(path, "out_of_range", f"The age must be from {MIN_AGE} to {MAX_AGE}.")
        age = targeting.get(AGE)
        before = age.get(bound) if isinstance(age, Mapping) else None
        whole = {"min": MIN_AGE, "max": MAX_AGE} if age is None else dict(age)  # absent: all ages
        targeting[AGE] = {**whole, bound: years}
        return before, years

    return set_age


EDITABLE_TARGETING: Mapping[str, TargetingSetter] = {
    "locations": _set_countries,
    "ageMin": _make_age_setter("min"),
    "ageMax": _make_age_setter("max"),
    "genders": _set_genders,
}


def merge_targeting(kind: Kind, current: Json, new_members: Mapping[str, Json]) -> tuple[dict[str, Json], list[Change]]:
    """Return the whole targeting with the edit's members, and each change. Raises InvalidInput with all issues."""
    if not isinstance(current, Mapping) or not isinstance(current.get(AGE), Mapping | None):
        raise ProviderUnreadable("The targeting of the ad set has an unknown form.")
    native = dict(current)

    def build_change(name: str, set_member: TargetingSetter, value: Json, path: str) -> Change:
        return Change(name, *set_member(value, native, path))

    changes = apply_targeting(EDITABLE_TARGETING, new_members, build_change)
    if AGE in native and _find_age_error(native[AGE]):
        raise_if_issues([Issue("targeting.ageMin", "order", "ageMin must not be above ageMax.")])
    return native, changes
