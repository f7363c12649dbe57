"""Snap's ``targeting`` object: from a brief, and from an edit."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from adsunify.adapter.account import Account
from adsunify.adapter.edit_members import apply_targeting, list_item_ids, to_native_genders
from adsunify.adapter.flows import fetch_or_none
from adsunify.adapter.network import Network
from adsunify.errors import Issue, ProviderThrottled, ProviderUnreadable, invalid_input, raise_if_issues
from adsunify.http.messages import Flow, Request
from adsunify.models.brief import CampaignBrief
from adsunify.plans.records import Change, Kind
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import find_values, get_objects, get_text

from . import native as snap

# Kind of place -> member of geos. IDs of places are unique only within a country, so our IDs contain the country.
# unverified: region_id, metro_id and postal_code take lists.
PLACE_MEMBERS: Mapping[str, str] = {"region": "region_id", "metro": "metro_id", "postal": "postal_code"}
PLACE_FORM = "gb, gb:region:<id>, us:metro:<id> or us:postal:<code>"
INCLUDE, EXCLUDE = "INCLUDE", "EXCLUDE"
GENDERS = {"female": "FEMALE", "male": "MALE"}
_match_place = re.compile(r"([a-z]{2})(?::(region|metro|postal):(\S+))?").fullmatch


# -- what a brief says --------------------------------------------------------------------------------------------


def get_location_type(location: str) -> str | None:
    """Return the type of place in a location ID; None if it is unknown."""
    match = _match_place(location)
    return None if match is None else match[2] or "country"


def find_locations_error(locations: Iterable[str]) -> str | None:
    """Return why location IDs are refused; None if they are valid."""
    return None if all(map(_match_place, locations)) else f"a location is {PLACE_FORM}, the country in small letters"


def get_targeted_countries(targeting: Mapping[str, Json]) -> tuple[str, ...]:
    """Return the distinct countries that ``geos`` includes."""
    included = [geo for geo in find_values(targeting, "/geos/*") if not _is_exclusion(geo)]
    codes = [code for geo in included for code in find_values(geo, "/country_code") if isinstance(code, str)]
    return tuple(dict.fromkeys(codes))


def _is_exclusion(entry: Json) -> bool:
    return isinstance(entry, Mapping) and entry.get("operation") == EXCLUDE


def _build_geos(locations: Iterable[str]) -> list[dict[str, Json]]:
    """Build the entries of ``geos``: one for each whole country, and one for each kind of place in a country."""
    entries: dict[tuple[str, str], dict[str, Json]] = {}
    for location in dict.fromkeys(locations):
        match = _match_place(location)
        if match is None:
            raise ValueError(f"{location} is no location")
        country, kind, native_id = match.groups()
        entry = entries.setdefault((country, kind or ""), {"country_code": country})
        if kind is not None:
            entry.setdefault(PLACE_MEMBERS[kind], []).append(native_id)
    return list(entries.values())


def _get_brief_locations(brief: CampaignBrief) -> list[str]:
    countries = [country.lower() for country in brief.targeting.countries or ()]
    return [*countries, *(brief.targeting.location_ids or ())]


def build_targeting(brief: CampaignBrief) -> dict[str, Json]:
    """Build the ad squad's targeting."""
    if brief.targeting.native is not None:
        return dict(brief.targeting.native)
    geos = _build_geos(_get_brief_locations(brief))
    if len(get_targeted_countries({"geos": geos})) > 1:
        geos = [{**entry, "operation": INCLUDE} for entry in geos]
    targeting: dict[str, Json] = {"geos": geos}
    if brief.platform.locale is not None:
        targeting["demographics"] = [{"languages": [brief.platform.locale.language]}]
    return targeting


def find_native_targeting_error(targeting: Mapping[str, Json]) -> str | None:
    """Return why a native targeting object is refused; None if it is valid."""
    unknown = sorted(set(targeting) - set(snap.TARGETING_MEMBERS))
    if unknown:
        return f"its targeting has no member {unknown[0][:60]}"
    geos = targeting.get("geos")
    if not isinstance(geos, list) or not geos or not all(isinstance(geo, Mapping) for geo in geos):
        return "the targeting names no geography (geos, a list of objects)"
    if not get_targeted_countries(targeting):
        return "geos includes no country (country_code), so that it would not say where to serve"
    return None


def check_location_overlap(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    """A rule of the format: the brief names a country, or places inside it, but not both."""
    whole = {location for location in _get_brief_locations(brief) if ":" not in location}
    inside = [
        location
        for location in brief.targeting.location_ids or ()
        if ":" in location and location.partition(":")[0] in whole
    ]
    if inside:
        message = "Snapchat would serve the whole country: name the country or places inside it, not both."
        yield Issue("targeting.locationIds", "conflict", message)


def check_language(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    """A rule of the format: a brief for several countries names the language, as its locale or natively."""
    # Ads API, "Targeting": several countries require exactly one language, and ads reach only people who use it.
    locale = brief.platform.locale
    if brief.targeting.native is not None:
        if locale is not None:
            message = "targeting.native replaces it: name the languages there, in demographics."
            yield Issue("platform.locale", "conflict", message)
        return
    countries = get_targeted_countries(build_targeting(brief))
    if locale is None and len(countries) > 1:
        message = "Snapchat reaches several countries in exactly one language: name it, or make one brief per country."
        yield Issue("platform.locale", "required", message)
    if locale is not None and locale.country.lower() not in countries:
        message = "The country of the locale is one of those that are targeted."
        yield Issue("platform.locale", "conflict", message)


# -- what is looked up --------------------------------------------------------------------------------------------


def fetch_ad_type(network: Network, account: Account, creative_id: str) -> Flow[tuple[str, list[str]]]:
    """Return the ad type of a creative, and warnings. Raises InvalidInput if it cannot be promoted."""
    path = "creative.existingId"
    url = f"{snap.API_URL}/creatives/{{id}}"
    response = yield from fetch_or_none(network, Request("GET", url, {"id": creative_id}))
    creatives = [] if response is None else snap.parse_wrapped_rows(response, "creatives", "creative")
    if not creatives:
        raise invalid_input(path, "not_found", "Snapchat has no such creative, or does not show it.")
    creative = creatives[0]
    if get_text(creative, "/ad_account_id") != account.native_id:
        raise invalid_input(path, "ineligible", "The creative belongs to another ad account.")
    if creative.get("review_status") == snap.REVIEW_REJECTED:
        raise invalid_input(path, "ineligible", "Snapchat has rejected the creative in its review.")
    packaging = get_text(creative, "/packaging_status")
    if packaging == snap.PACKAGING_PENDING:
        raise ProviderThrottled(
            "Snapchat is still processing the creative; prepare the campaign again later.",
            code="media_processing",
            retry_after=snap.NOT_READY_RETRY_DELAY,
        )
    if packaging is not None and not snap.is_success(packaging):
        raise invalid_input(path, "ineligible", "Snapchat could not process the creative.")
    kind = get_text(creative, "/type") or ""
    if kind not in snap.AD_TYPES:
        reason = snap.UNSUPPORTED_CREATIVE_TYPES.get(kind, "its type cannot be promoted")
        raise invalid_input(path, "ineligible", f"Snapchat: {reason}; take one of {', '.join(snap.AD_TYPES)}.")
    plain = kind in snap.PLAIN_CREATIVE_TYPES
    return snap.AD_TYPES[kind], [] if plain else [f"Snapchat may refuse a creative of the type {kind} for awareness."]


# -- what an edit says --------------------------------------------------------------------------------------------

TargetingPartSetter = Callable[[Sequence[Json], dict[str, Json], str], None]
"""Puts the items of an edit into a copy of the targeting. The path is for error messages."""


def _set_entries(targeting: dict[str, Json], member: str, entries: Sequence[Json]) -> None:
    """Set the member, or remove it if there are no entries."""
    targeting.pop(member, None)
    if entries:
        targeting[member] = list(entries)


def _locations_setter(operation: str) -> TargetingPartSetter:
    def places(items: Sequence[Json], targeting: dict[str, Json], path: str) -> None:
        ids = list_item_ids(items)
        for index, location in enumerate(ids):
            if wrong := find_locations_error([location]):
                raise invalid_input(f"{path}.{index}.id", "invalid", f"Snapchat: {wrong}.")
            if ":" in location and location.partition(":")[0] in ids:
                raise invalid_input(f"{path}.{index}.id", "conflict", "Snapchat: the whole country is named beside it.")
        others = [
            geo for geo in get_objects(targeting, "/geos", "targeting") if _is_exclusion(geo) != (operation == EXCLUDE)
        ]
        chosen = [{**entry, "operation": operation} for entry in _build_geos(ids)]
        _set_entries(targeting, "geos", [*others, *chosen] if operation == EXCLUDE else [*chosen, *others])

    return places


def _interests_setter(operation: str) -> TargetingPartSetter:
    # unverified: category_id of an entry is a list of IDs.
    def interests(items: Sequence[Json], targeting: dict[str, Json], path: str) -> None:
        others = [
            entry
            for entry in get_objects(targeting, "/interests", "targeting")
            if "category_id" not in entry or _is_exclusion(entry) != (operation == EXCLUDE)
        ]
        ids = list_item_ids(items)
        chosen = [{"category_id": ids, "operation": operation}] if ids else []
        _set_entries(targeting, "interests", [*others, *chosen])

    return interests


def _set_devices(items: Sequence[Json], targeting: dict[str, Json], path: str) -> None:
    # The entries of a list are alternatives. If an entry with other members than os_type stayed, it would widen the
    # new targeting.
    if any(set(device) - {"os_type"} for device in get_objects(targeting, "/devices", "targeting")):
        raise invalid_input(
            path, "conflict", "Snapchat: its devices say more than a system; change targeting natively."
        )
    _set_entries(targeting, "devices", [{"os_type": device} for device in list_item_ids(items)])


def _set_demographic(targeting: dict[str, Json], member: str, value: Json) -> None:
    entries = [dict(demographic) for demographic in get_objects(targeting, "/demographics", "targeting")] or [{}]
    entries[0].pop(member, None)
    if value:
        entries[0][member] = value
    _set_entries(targeting, "demographics", [demographic for demographic in entries if demographic])


def _set_languages(items: Sequence[Json], targeting: dict[str, Json], path: str) -> None:
    _set_demographic(targeting, "languages", list_item_ids(items))


def _set_genders(items: Sequence[Json], targeting: dict[str, Json], path: str) -> None:
    natives = set(to_native_genders("Snapchat", GENDERS, items, path))
    _set_demographic(targeting, "gender", natives.pop() if len(natives) == 1 else None)  # both genders: no restriction


def _age_setter(member: str) -> Callable[[Json, dict[str, Json], str], None]:
    def age(years: Json, targeting: dict[str, Json], path: str) -> None:
        _set_demographic(targeting, member, str(years))

    return age


EDITABLE_TARGETING: Mapping[str, tuple[str, TargetingPartSetter]] = {
    "locations": ("geos", _locations_setter(INCLUDE)),
    "excludedLocations": ("geos", _locations_setter(EXCLUDE)),
    "languages": ("demographics", _set_languages),
    "genders": ("demographics", _set_genders),
    "ageMin": ("demographics", _age_setter("min_age")),
    "ageMax": ("demographics", _age_setter("max_age")),
    "interests": ("interests", _interests_setter(INCLUDE)),
    "excludedInterests": ("interests", _interests_setter(EXCLUDE)),
    "devices": ("devices", _set_devices),
}


def _flatten_entries(value: Json) -> Json:
    """Return ``geos`` or ``interests`` with one row for each place or category, so that two lists can be compared."""
    flat: list[Json] = []
    for entry in value if isinstance(value, list) else ():
        members = {"operation": INCLUDE, **entry} if isinstance(entry, Mapping) else {"": entry}
        lists = [name for name, item in members.items() if isinstance(item, list)]
        if len(lists) == 1:
            flat += [{**members, lists[0]: item} for item in members[lists[0]]]
        else:
            flat.append(members)
    return flat


def merge_targeting(kind: Kind, current: Json, new_members: Mapping[str, Json]) -> tuple[dict[str, Json], list[Change]]:
    """Apply an edit to the targeting. Returns all of it, and each change. Raises InvalidInput with all issues."""
    if not isinstance(current, Mapping):
        raise ProviderUnreadable("The ad squad's targeting is no object.")
    native = dict(current)

    def lay(name: str, row: tuple[str, TargetingPartSetter], value: Json, path: str) -> Change:
        member, part = row
        before = native.get(member)
        part(value, native, path)
        return Change(name, before, native.get(member))

    changes = apply_targeting(EDITABLE_TARGETING, new_members, lay, _flatten_entries)
    raise_if_issues(_check_ages(native))
    return native, changes


def _check_ages(targeting: Mapping[str, Json]) -> Iterator[Issue]:
    countries = get_targeted_countries(targeting)
    if not countries:
        yield Issue("targeting.locations", "required", "Snapchat needs a place to serve in.")
    languages = set(map(str, find_values(targeting, "/demographics/*/languages/*")))
    if len(countries) > 1 and len(languages) != 1:
        yield Issue("targeting.languages", "required", "Snapchat reaches several countries in exactly one language.")
    least, most = [_parse_years(get_text(targeting, f"/demographics/0/{member}")) for member in ("min_age", "max_age")]
    if least is not None and most is not None and least > most:
        yield Issue("targeting.ageMin", "order", "The least age lies above the greatest.")


def _parse_years(age: str | None) -> int | None:
    match = re.match("[0-9]{1,3}", age or "")  # Snap also returns "55+"
    return int(match.group()) if match is not None else None
