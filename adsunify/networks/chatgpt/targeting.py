"""Targeting of a campaign: its valid native form, and how an edit changes it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from adsunify.adapter.edit_members import apply_targeting
from adsunify.adapter.flows import fetch_rows
from adsunify.adapter.network import Network
from adsunify.errors import Issue, ProviderUnreadable, invalid_input, raise_if_issues
from adsunify.http.messages import Flow
from adsunify.models.brief import CampaignBrief
from adsunify.plans.records import Change, Kind
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_objects, get_text, get_value, require_id

from . import native as openai

WORLDWIDE_WARNING = "The targeting names no location: OpenAI serves in all locations that it has."
TARGETING_FORM = "locations.countries, locations.include[].id, platforms.included, custom_audiences.ids"
_match_country = re.compile("[A-Z]{2}", re.ASCII).fullmatch


# -- what a brief says --------------------------------------------------------------------------------------------


def _is_list(value: Json, good: Callable[[Json], bool]) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(map(good, value))


def _is_id(value: Json) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_country(value: Json) -> bool:
    return isinstance(value, str) and _match_country(value) is not None


def get_location_type(location: str) -> str | None:
    """Return ``country`` for the ID of a country. Other IDs do not show their type of place: None."""
    return "country" if _is_country(location) else None


def _is_location(value: Json) -> bool:
    return isinstance(value, Mapping) and set(value) == {"id"} and _is_id(value["id"])


def _has_only_members(value: Json, *names: str) -> bool:
    """Return whether the value is an object with at least one of these members and no others."""
    return isinstance(value, Mapping) and bool(value) and set(value) <= set(names)


def _find_locations_error(value: Json) -> str | None:
    if not _has_only_members(value, "countries", "include"):
        return "targeting.native.locations has countries or include, and nothing else"
    if "countries" in value and not _is_list(value["countries"], _is_country):
        return "locations.countries is a list of countries in two capital letters"
    if "include" in value and not _is_list(value["include"], _is_location):
        return "locations.include is a list of objects with an id, and nothing else"
    if len(value.get("include", ())) > openai.MAX_LOCATIONS:
        return f"locations.include holds at most {openai.MAX_LOCATIONS} locations"
    return None


def find_native_targeting_error(targeting: Json) -> str | None:
    """Return why ``targeting.native`` is refused; None if it is valid."""
    if not _has_only_members(targeting, *openai.TARGETING_MEMBERS):
        return f"the native targeting has these members only: {', '.join(openai.TARGETING_MEMBERS)}"
    if "locations" in targeting and (wrong := _find_locations_error(targeting["locations"])) is not None:
        return wrong
    if "platforms" in targeting:
        platforms = targeting["platforms"]
        # Ads API: OpenAI refuses an empty list or object
        if not (
            _has_only_members(platforms, "included") and _is_list(platforms["included"], openai.PLATFORMS.__contains__)
        ):
            return f"platforms.included is a list of some of {', '.join(openai.PLATFORMS)}"
    for name in openai.AUDIENCES:
        if name in targeting and not (
            _has_only_members(targeting[name], "ids") and _is_list(targeting[name]["ids"], _is_id)
        ):
            return f"{name} has one member, ids, a list of audiences"
    excluded = targeting.get(openai.EXCLUDED_LOCATIONS)
    if openai.EXCLUDED_LOCATIONS in targeting and not (isinstance(excluded, Mapping) and excluded):
        return f"{openai.EXCLUDED_LOCATIONS} is an object"
    return None


# -- what is looked up --------------------------------------------------------------------------------------------


def fetch_conversion_event(network: Network, brief: CampaignBrief) -> Flow[str]:
    """Check the conversion event of the brief, and return its ID.

    Raises InvalidInput unless it is a standard event that is not archived and has a source.
    """
    path, event_id = "platform.conversionEvent", brief.platform.conversion_event or ""
    request = openai.build_event_settings_request(openai.MAX_PAGE_SIZE)
    rows = yield from fetch_rows(network, request, openai.build_next_request, openai.parse_rows)
    event = next((row for row in rows if get_text(row, "/id") == event_id), None)
    if event is None:
        raise invalid_input(
            path, "not_found", "OpenAI has no such event in the account; see the catalog conversion_events."
        )
    if event.get("archived") is True:
        raise invalid_input(path, "ineligible", "The event is archived.")
    if event.get("custom_event_name") is not None:
        raise invalid_input(path, "ineligible", "A custom event cannot lead a campaign; take a standard one.")
    sources = [require_id(source, "/id", "source") for source in get_objects(event, "/sources", "event setting")]
    if not sources:
        raise invalid_input(path, "ineligible", "The event is linked to no source.")
    if brief.platform.pixel_id not in (None, *sources):
        raise invalid_input("platform.pixelId", "conflict", f"The event's sources are {', '.join(sources)}.")
    return event_id


# -- what an edit says --------------------------------------------------------------------------------------------


def _to_writable_locations(value: Json) -> dict[str, Json]:
    """Return locations in the form of a write, without the names and types that a read adds."""
    writable = _pick_native_members(value, "countries", "include")
    if "include" in writable:
        include = writable["include"]
        if not (isinstance(include, list) and all(_is_id(get_value(location, "/id")) for location in include)):
            raise ProviderUnreadable("OpenAI: a location of the campaign has no id.")
        writable["include"] = [{"id": location["id"]} for location in include]
    return writable


def _pick_native_members(value: Json, *names: str) -> dict[str, Json]:
    """Return the members of these names. Raises ProviderUnreadable for other members, which a write would remove."""
    if not isinstance(value, Mapping) or any(member for name, member in value.items() if name not in names):
        raise ProviderUnreadable("OpenAI: the campaign's targeting is not of a known form.")
    return {name: value[name] for name in names if value.get(name)}


_ID_LIST_MEMBERS: Mapping[str, tuple[str, ...]] = {
    "platforms": ("included",),
    **dict.fromkeys(openai.AUDIENCES, ("ids",)),
}


def to_writable_targeting(targeting: Json) -> dict[str, Json]:
    """Convert a campaign's targeting from the form of a read to the form of a write."""
    if targeting is None:
        return {}
    writable: dict[str, Json] = {}
    for name, value in _pick_native_members(targeting, *openai.TARGETING_MEMBERS).items():
        part = (
            _pick_native_members(value, *_ID_LIST_MEMBERS[name])
            if name in _ID_LIST_MEMBERS
            else _to_writable_locations(value)
        )
        if part:
            writable[name] = part
    return writable


def _build_locations(items: Sequence[Mapping[str, Json]]) -> dict[str, Json]:
    ids = [str(location["id"]) for location in items]
    countries = [location for location in ids if _is_country(location)]
    others = [{"id": location} for location in ids if not _is_country(location)]
    return ({"countries": countries} if countries else {}) | ({"include": others} if others else {})


def _check_wanted(new_members: Mapping[str, Json]) -> Iterator[Issue]:
    for name, value in new_members.items():
        path = f"targeting.{name}"
        if not value:
            yield Issue(path, "required", "Without any, OpenAI would serve everywhere; a native update can clear it.")
        elif name == "devices" and not all(item["id"] in openai.PLATFORMS for item in value):
            yield Issue(path, "choice", f"OpenAI's platforms are {', '.join(openai.PLATFORMS)}.")
        elif name == "locations" and len(value) > openai.MAX_LOCATIONS:
            yield Issue(path, "too_long", f"OpenAI takes at most {openai.MAX_LOCATIONS} locations.")


def merge_targeting(kind: Kind, current: Json, new_members: Mapping[str, Json]) -> tuple[dict[str, Json], list[Change]]:
    """Apply an edit to the targeting. Returns all of it, and each change. Raises InvalidInput with all issues."""
    raise_if_issues(_check_wanted(new_members))
    targeting = to_writable_targeting(current)

    def lay(name: str, native: str, items: Json, path: str) -> Change:
        new = _build_locations(items) if name == "locations" else {"included": [item["id"] for item in items]}
        change = Change(path, targeting.get(native), new)
        targeting[native] = new
        return change

    changes = apply_targeting({"locations": "locations", "devices": "platforms"}, new_members, lay)
    return targeting, changes
