"""Meta's ``targeting`` object: from a brief, from an edit, and which countries it reaches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime

from adsunify.adapter.edit_members import targeted
from adsunify.adapter.network import Account
from adsunify.errors import Issue, refuse, refused
from adsunify.models.brief import CampaignBrief
from adsunify.plans.records import Change
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import found_at, read, rows

from .native import (
    CITY_RADIUS,
    DEVICES,
    DSA,
    EU,
    EU_TERRITORIES,
    GENDERS,
    KEEP_AUDIENCE,
    NO_CATEGORY,
    PLACEMENTS,
    TARGETING_NAMES,
    WORLDWIDE,
)

# Key spaces overlap by type, so a location's id is <type>:<key>. Type to its member of geo_locations.
PLACES = {
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
PLAIN_PLACES = ("country", "country_group")  # their keys stand alone, the others' in {"key": ...}


# -- what a brief says --------------------------------------------------------------------------------------------


def targeting_of(brief: CampaignBrief) -> dict[str, Json]:
    """The ad set's targeting. Meta may not widen it, unless the brief's own targeting says so."""
    wanted = brief.targeting
    if wanted.native is not None:
        targeting = dict(wanted.native)
    else:
        places: dict[str, Json] = {"countries": list(wanted.countries)} if wanted.countries else {}
        for location in wanted.location_ids or ():
            _add(places, location)
        targeting = {"geo_locations": places}
    # Marketing API: required on a new ad set since v23.0, in every category since v26.0.
    automation: Mapping[str, Json] = targeting.get("targeting_automation", {})
    return targeting | {"targeting_automation": {"advantage_audience": KEEP_AUDIENCE, **automation}}


def _add(places: dict[str, Json], location: str, **beside: Json) -> None:
    kind, _, key = location.partition(":")
    places.setdefault(PLACES[kind], []).append(key if kind in PLAIN_PLACES else {"key": key, **beside})


def kind_of(location: str) -> str | None:
    """The type of place that a location's id names."""
    kind = location.partition(":")[0]
    return kind if kind in PLACES else None


def misplaced(locations: Iterable[str]) -> str | None:
    """What is wrong with location ids; None where nothing is."""
    if all(kind in PLACES and key for kind, _, key in (location.partition(":") for location in locations)):
        return None
    return f"a location is <type>:<key>, the type one of {', '.join(PLACES)}"


def not_native(targeting: Mapping[str, Json]) -> str | None:
    """What is wrong with a targeting object in Meta's own names; None where nothing is."""
    unknown = sorted(set(targeting) - TARGETING_NAMES)
    if unknown:
        return f"its targeting has no member {unknown[0][:60]}"
    for name in ("geo_locations", "targeting_automation"):
        if not isinstance(targeting.get(name, {}), Mapping):
            return f"{name} is an object"
    return placeless(targeting)


def placeless(targeting: Mapping[str, Json]) -> str | None:
    """What is wrong with a targeting that Meta would not accept for lack of a geography."""
    places = targeting.get("geo_locations") or {}
    named = isinstance(places, Mapping) and any(value for name, value in places.items() if name != "location_types")
    if named or targeting.get("custom_audiences"):
        return None
    return "the targeting names no geography (geo_locations or custom_audiences)"


def country_of(location: str) -> str | None:
    """The country that a location is or lies in, where its id tells."""
    kind, _, key = location.partition(":")
    return key if kind == "country" else key.partition(":")[0] if kind == "zip" else None


def countries_of(targeting: Json) -> tuple[str, ...]:
    """The countries that a native targeting names, or names a part of."""
    named = [*found_at(targeting, "/geo_locations/countries/*"), *found_at(targeting, "/geo_locations/zips/*/key")]
    return tuple(dict.fromkeys(one.partition(":")[0] for one in named if isinstance(one, str)))


def in_europe(targeting: Mapping[str, Json]) -> bool | None:
    """Whether the EU's Digital Services Act asks who benefits and who pays; None where the targeting does not tell."""
    countries = countries_of(targeting)
    if not (EU.isdisjoint(countries) and EU_TERRITORIES.isdisjoint(countries)):
        return True
    if WORLDWIDE in found_at(targeting, "/geo_locations/country_groups/*"):
        return True
    told = {"countries", "zips", "location_types"}
    places = read(targeting, "/geo_locations", {})
    return False if countries and told.issuperset(places) else None


def no_overlap(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    """A rule: no place inside a country that the brief names as well."""
    # Marketing API: geo_locations may not name a place inside another that it names.
    for index, location in enumerate(brief.targeting.location_ids or ()):
        if country_of(location) in (brief.targeting.countries or ()):
            message = "Meta takes a country or places inside it, not both; leave one of them out."
            yield Issue(f"targeting.locationIds.{index}", "conflict", message)


def special(brief: CampaignBrief) -> bool:
    """Whether the campaign is of a special ad category: then Meta wants to know the countries."""
    return brief.platform.special_ad_categories not in (None, (), (NO_CATEGORY,))


def category_countries(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    """A rule: a special ad category names its countries."""
    if special(brief) and not countries_of(targeting_of(brief)):
        message = "Meta wants to know the countries of a special ad category; name them as countries."
        yield Issue("targeting.countries", "required", message)


def beneficiary(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    """A rule: in the EU the account says who benefits and who pays; an extra that was not read refuses nothing."""
    unset = [extra for extra in DSA if account.extras.get(extra) == ""]
    for extra in unset if unset and in_europe(targeting_of(brief)) else ():
        message = "Ads in the EU name who benefits and who pays; set both defaults in Meta's ad account settings."
        yield Issue(f"account.extras.{extra}", "required", message)


# -- what an edit says --------------------------------------------------------------------------------------------

Part = Callable[[Json, Mapping[str, Json], str], Json]
"""From the wanted value, the targeting as it is, and the path to name, to the native member; None takes it away."""


def _places(member: str) -> Part:
    def places(items: Json, targeting: Mapping[str, Json], path: str) -> Json:
        current = read(targeting, f"/{member}", {})
        kinds = read(current, "/location_types")
        native: dict[str, Json] = {} if kinds is None else {"location_types": kinds}
        for index, item in enumerate(items):
            if wrong := misplaced([item["id"]]):
                raise refused(f"{path}.{index}.id", "invalid", f"Meta: {wrong}.")
            _add(native, item["id"], **_radius(item, f"{path}.{index}.radiusKm"))
        return native if items else None

    return places


def _radius(item: Mapping[str, Json], path: str) -> dict[str, Json]:
    radius = item.get("radiusKm")
    if radius is None:
        return {}
    least, most = CITY_RADIUS
    if radius != int(radius) or not least <= radius <= most:
        raise refused(path, "out_of_range", f"Meta takes a radius of {least} to {most} whole kilometers.")
    return {"radius": int(radius), "distance_unit": "kilometer"}


def _interests(items: Json, targeting: Mapping[str, Json], path: str) -> Json:
    # The specs of flexible_spec are all required of a person; whatever else they name stays.
    chosen = [{"id": item["id"], "name": item["name"]} for item in items]
    specs: list[Json] = []
    for spec in rows(targeting, "/flexible_spec", "targeting"):
        rest = {name: value for name, value in spec.items() if name != "interests"}
        if chosen and "interests" in spec:
            rest, chosen = rest | {"interests": chosen}, []
        specs += [rest] if rest else []
    return [*specs, {"interests": chosen}] if chosen else specs or None


def _locales(items: Json, targeting: Mapping[str, Json], path: str) -> Json:
    ids = [item["id"] for item in items]
    if not all(one.isascii() and one.isdigit() for one in ids):
        raise refused(path, "invalid", "Meta's languages are numbers; the catalog locales lists them.")
    return [int(one) for one in ids] or None


def _genders(items: Json, targeting: Mapping[str, Json], path: str) -> Json:
    if any(one not in GENDERS for one in items):
        raise refused(path, "not_supported", f"Meta takes these genders: {', '.join(GENDERS)}.")
    return [GENDERS[one] for one in items] or None


def _age(age: Json, targeting: Mapping[str, Json], path: str) -> Json:
    return age


def _among(choices: tuple[str, ...]) -> Part:
    def chosen(items: Json, targeting: Mapping[str, Json], path: str) -> Json:
        ids = [item["id"] for item in items]
        if any(one not in choices for one in ids):
            raise refused(path, "choice", f"Meta takes these: {', '.join(choices)}.")
        return ids or None

    return chosen


PARTS: Mapping[str, tuple[str, Part]] = {
    "locations": ("geo_locations", _places("geo_locations")),
    "excludedLocations": ("excluded_geo_locations", _places("excluded_geo_locations")),
    "interests": ("flexible_spec", _interests),
    "languages": ("locales", _locales),
    "ageMin": ("age_min", _age),
    "ageMax": ("age_max", _age),
    "genders": ("genders", _genders),
    "devices": ("device_platforms", _among(DEVICES)),
    "placements": ("publisher_platforms", _among(PLACEMENTS)),
}


IDENTIFYING = ("id", "key", "radius", "distance_unit")


def _identifying(value: Json) -> Json:
    """A native value without the names that Meta adds to places and interests when it is read."""
    if isinstance(value, Mapping):
        named = "id" in value or "key" in value
        return {name: _identifying(one) for name, one in value.items() if not named or name in IDENTIFYING}
    return [_identifying(one) for one in value] if isinstance(value, list) else value


def merged(targeting: Mapping[str, Json], wanted: Mapping[str, Json]) -> tuple[dict[str, Json], list[Change]]:
    """The whole targeting with the wanted parts laid over it, and each change. Raises InvalidInput with all issues."""
    native = dict(targeting)

    def lay(name: str, row: tuple[str, Part], value: Json, path: str) -> Change:
        member, part = row
        new = part(value, native, path)
        before = native.pop(member, None)
        if new is not None:
            native[member] = new
        return Change(name, before, new)

    changes = targeted(PARTS, wanted, lay, _identifying)
    issues: list[Issue] = []
    least, most = native.get("age_min"), native.get("age_max")
    if isinstance(least, int) and isinstance(most, int) and least > most:
        issues.append(Issue("targeting.ageMin", "order", "The least age lies above the greatest."))
    if not issues and (wrong := placeless(native)):
        issues.append(Issue("targeting.locations", "required", f"Meta: {wrong}."))
    refuse(issues)
    return native, changes
