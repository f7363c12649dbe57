"""Meta's ``targeting`` object: from a brief, from an edit, and which countries it reaches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime

from adsunify.adapter.account import Account
from adsunify.adapter.edit_members import apply_targeting, to_native_genders
from adsunify.errors import Issue, invalid_input, raise_if_issues
from adsunify.models.brief import CampaignBrief
from adsunify.plans.records import Change, Kind
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import find_values, get_objects, get_value

from .native import (
    CITY_RADIUS,
    DEVICE_PLATFORMS,
    DSA_MEMBERS,
    EU_COUNTRIES,
    EU_TERRITORIES,
    GENDERS,
    NO_AUDIENCE_EXPANSION,
    NO_CATEGORY,
    PUBLISHER_PLATFORMS,
    TARGETING_MEMBERS,
    WORLDWIDE,
)

# Type of place -> member of geo_locations. A key is unique only within its type, so a location ID is <type>:<key>.
PLACE_MEMBERS = {
    "country": "countries",
    "country_group": "country_groups",
    "region": "regions",
    "city": "cities",
    "zip": "zips",
    "geo_market": "geo_markets",
    "neighborhood": "neighborhoods",
    "subcity": "subcities",
    "subneighborhood": "subneighborhoods",
    "metro_area": "metro_areas",
    "small_geo_area": "small_geo_areas",
    "medium_geo_area": "medium_geo_areas",
    "large_geo_area": "large_geo_areas",
    "electoral_district": "electoral_districts",
}
PLAIN_PLACE_TYPES = ("country", "country_group")  # their members list keys; all other members list {"key": ...}


# -- what a brief says --------------------------------------------------------------------------------------------


def build_targeting(brief: CampaignBrief) -> dict[str, Json]:
    """Build the ad set's targeting. Meta must not widen it unless ``targeting.native`` of the brief allows it."""
    brief_targeting = brief.targeting
    if brief_targeting.native is not None:
        targeting = dict(brief_targeting.native)
    else:
        places: dict[str, Json] = {"countries": list(brief_targeting.countries)} if brief_targeting.countries else {}
        for location in brief_targeting.location_ids or ():
            _add_place(places, location)
        targeting = {"geo_locations": places}
    # Marketing API changelog: required for a new ad set since v23.0, in every category since v26.0.
    automation: Mapping[str, Json] = targeting.get("targeting_automation", {})
    return targeting | {"targeting_automation": {"advantage_audience": NO_AUDIENCE_EXPANSION, **automation}}


def _add_place(places: dict[str, Json], location: str, **beside: Json) -> None:
    kind, _, key = location.partition(":")
    places.setdefault(PLACE_MEMBERS[kind], []).append(key if kind in PLAIN_PLACE_TYPES else {"key": key, **beside})


def get_location_type(location: str) -> str | None:
    """Return the type of place in a location ID; None if it is unknown."""
    kind = location.partition(":")[0]
    return kind if kind in PLACE_MEMBERS else None


def find_locations_error(locations: Iterable[str]) -> str | None:
    """Return why location IDs are refused; None if they are valid."""
    if all(kind in PLACE_MEMBERS and key for kind, _, key in (location.partition(":") for location in locations)):
        return None
    return f"a location is <type>:<key>, the type one of {', '.join(PLACE_MEMBERS)}"


def find_native_targeting_error(targeting: Mapping[str, Json]) -> str | None:
    """Return why a native targeting object is refused; None if it is valid."""
    unknown = sorted(set(targeting) - TARGETING_MEMBERS)
    if unknown:
        return f"its targeting has no member {unknown[0][:60]}"
    for name in ("geo_locations", "targeting_automation"):
        if not isinstance(targeting.get(name, {}), Mapping):
            return f"{name} is an object"
    return find_geography_error(targeting)


def find_geography_error(targeting: Mapping[str, Json]) -> str | None:
    """Return why Meta refuses a targeting without a geography."""
    places = targeting.get("geo_locations") or {}
    has_place = isinstance(places, Mapping) and any(value for name, value in places.items() if name != "location_types")
    if has_place or targeting.get("custom_audiences"):
        return None
    return "the targeting names no geography (geo_locations or custom_audiences)"


def get_location_country(location: str) -> str | None:
    """Return the country of a location ID; None if the ID does not contain one."""
    kind, _, key = location.partition(":")
    return key if kind == "country" else key.partition(":")[0] if kind == "zip" else None


def get_targeted_countries(targeting: Json) -> tuple[str, ...]:
    """Return the countries that a native targeting names directly or through a postal code."""
    codes = [
        *find_values(targeting, "/geo_locations/countries/*"),
        *find_values(targeting, "/geo_locations/zips/*/key"),
    ]
    return tuple(dict.fromkeys(code.partition(":")[0] for code in codes if isinstance(code, str)))


def is_in_europe(targeting: Mapping[str, Json]) -> bool | None:
    """Return whether the targeting reaches the EU; None if that is unknown.

    In the EU the Digital Services Act requires the beneficiary and the payer of an ad (Meta's blog, 2023-05-16).
    """
    countries = get_targeted_countries(targeting)
    if not (EU_COUNTRIES.isdisjoint(countries) and EU_TERRITORIES.isdisjoint(countries)):
        return True
    if WORLDWIDE in find_values(targeting, "/geo_locations/country_groups/*"):
        return True
    known_members = {"countries", "zips", "location_types"}
    places = get_value(targeting, "/geo_locations", {})
    return False if countries and known_members.issuperset(places) else None


def check_location_overlap(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    """A rule of the format: the brief names a country, or places inside it, but not both."""
    # Marketing API: geo_locations must not name a place inside another place that it names.
    for index, location in enumerate(brief.targeting.location_ids or ()):
        if get_location_country(location) in (brief.targeting.countries or ()):
            message = "Meta takes a country or places inside it, not both; leave one of them out."
            yield Issue(f"targeting.locationIds.{index}", "conflict", message)


def has_special_category(brief: CampaignBrief) -> bool:
    """Return whether the campaign has a special ad category, for which Meta requires the countries."""
    return brief.platform.special_ad_categories not in (None, (), (NO_CATEGORY,))


def check_category_countries(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    """A rule of the format: a campaign with a special ad category names its countries."""
    if has_special_category(brief) and not get_targeted_countries(build_targeting(brief)):
        message = "Meta wants to know the countries of a special ad category; name them as countries."
        yield Issue("targeting.countries", "required", message)


def check_beneficiary(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    """A rule of the format: in the EU the account names beneficiary and payer. Unread extras are not checked."""
    unset = [extra for extra in DSA_MEMBERS if account.extras.get(extra) == ""]
    for extra in unset if unset and is_in_europe(build_targeting(brief)) else ():
        message = "Ads in the EU name who benefits and who pays; set both defaults in Meta's ad account settings."
        yield Issue(f"account.extras.{extra}", "required", message)


# -- what an edit says --------------------------------------------------------------------------------------------

TargetingPartBuilder = Callable[[Json, Mapping[str, Json], str], Json]
"""Builds the native member from an edit's value, the current targeting, and the path for errors. None removes it."""


def _locations_builder(member: str) -> TargetingPartBuilder:
    def places(items: Json, targeting: Mapping[str, Json], path: str) -> Json:
        current = get_value(targeting, f"/{member}", {})
        kinds = get_value(current, "/location_types")
        native: dict[str, Json] = {} if kinds is None else {"location_types": kinds}
        for index, item in enumerate(items):
            if wrong := find_locations_error([item["id"]]):
                raise invalid_input(f"{path}.{index}.id", "invalid", f"Meta: {wrong}.")
            _add_place(native, item["id"], **_build_radius(item, f"{path}.{index}.radiusKm"))
        return native if items else None

    return places


def _build_radius(item: Mapping[str, Json], path: str) -> dict[str, Json]:
    radius = item.get("radiusKm")
    if radius is None:
        return {}
    least, most = CITY_RADIUS
    if radius != int(radius) or not least <= radius <= most:
        raise invalid_input(path, "out_of_range", f"Meta takes a radius of {least} to {most} whole kilometers.")
    return {"radius": int(radius), "distance_unit": "kilometer"}


def _lay_interests_over(items: Json, targeting: Mapping[str, Json], path: str) -> Json:
    # A person has to match all specs of flexible_spec. Other members of a spec than interests stay unchanged.
    entries = [{"id": item["id"], "name": item["name"]} for item in items]
    specs: list[Json] = []
    for spec in get_objects(targeting, "/flexible_spec", "targeting"):
        rest = {name: value for name, value in spec.items() if name != "interests"}
        if entries and "interests" in spec:
            rest, entries = rest | {"interests": entries}, []
        specs += [rest] if rest else []
    return [*specs, {"interests": entries}] if entries else specs or None


def _build_locales(items: Json, targeting: Mapping[str, Json], path: str) -> Json:
    ids = [item["id"] for item in items]
    if not all(locale.isascii() and locale.isdigit() for locale in ids):
        raise invalid_input(path, "invalid", "Meta's languages are numbers; the catalog locales lists them.")
    return [int(locale) for locale in ids] or None


def _build_gender_codes(items: Json, targeting: Mapping[str, Json], path: str) -> Json:
    return to_native_genders("Meta", GENDERS, items, path) or None


def _build_age(age: Json, targeting: Mapping[str, Json], path: str) -> Json:
    return age


def _choice_builder(choices: tuple[str, ...]) -> TargetingPartBuilder:
    def build_part(items: Json, targeting: Mapping[str, Json], path: str) -> Json:
        ids = [item["id"] for item in items]
        if any(choice not in choices for choice in ids):
            raise invalid_input(path, "choice", f"Meta takes these: {', '.join(choices)}.")
        return ids or None

    return build_part


EDITABLE_TARGETING: Mapping[str, tuple[str, TargetingPartBuilder]] = {
    "locations": ("geo_locations", _locations_builder("geo_locations")),
    "excludedLocations": ("excluded_geo_locations", _locations_builder("excluded_geo_locations")),
    "interests": ("flexible_spec", _lay_interests_over),
    "languages": ("locales", _build_locales),
    "ageMin": ("age_min", _build_age),
    "ageMax": ("age_max", _build_age),
    "genders": ("genders", _build_gender_codes),
    "devices": ("device_platforms", _choice_builder(DEVICE_PLATFORMS)),
    "placements": ("publisher_platforms", _choice_builder(PUBLISHER_PLATFORMS)),
}


IDENTIFYING_MEMBERS = ("id", "key", "radius", "distance_unit")


def _strip_display_names(value: Json) -> Json:
    """Return a native value without the display names that responses add to places and interests."""
    if isinstance(value, Mapping):
        has_id = "id" in value or "key" in value
        return {
            name: _strip_display_names(item)
            for name, item in value.items()
            if not has_id or name in IDENTIFYING_MEMBERS
        }
    return [_strip_display_names(item) for item in value] if isinstance(value, list) else value


def merge_targeting(kind: Kind, current: Json, new_members: Mapping[str, Json]) -> tuple[dict[str, Json], list[Change]]:
    """Apply an edit to the targeting. Returns all of it, and each change. Raises InvalidInput with all issues."""
    native = dict(current)

    def lay(name: str, row: tuple[str, TargetingPartBuilder], value: Json, path: str) -> Change:
        member, part = row
        new = part(value, native, path)
        before = native.pop(member, None)
        if new is not None:
            native[member] = new
        return Change(name, before, new)

    changes = apply_targeting(EDITABLE_TARGETING, new_members, lay, _strip_display_names)
    issues: list[Issue] = []
    least, most = native.get("age_min"), native.get("age_max")
    if isinstance(least, int) and isinstance(most, int) and least > most:
        issues.append(Issue("targeting.ageMin", "order", "The least age lies above the greatest."))
    if not issues and (wrong := find_geography_error(native)):
        issues.append(Issue("targeting.locations", "required", f"Meta: {wrong}."))
    raise_if_issues(issues)
    return native, changes
