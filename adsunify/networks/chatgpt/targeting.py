"""Targeting of a campaign: what a brief gives natively, and what an edit makes of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from adsunify.adapter.edit_members import targeted
from adsunify.adapter.flows import pages
from adsunify.adapter.network import Network
from adsunify.errors import Issue, ProviderUnreadable, refuse, refused
from adsunify.http.messages import Flow
from adsunify.models.brief import CampaignBrief
from adsunify.plans.records import Change
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import ident, read, rows, text

from . import native as openai

EVERYWHERE = "The targeting names no location: OpenAI serves in all locations that it has."
FORM = "locations.countries, locations.include[].id, platforms.included, custom_audiences.ids"
_COUNTRY = re.compile("[A-Z]{2}", re.ASCII).fullmatch


# -- what a brief says --------------------------------------------------------------------------------------------


def _is_list(value: Json, good: Callable[[Json], bool]) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(map(good, value))


def _is_id(value: Json) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_country(value: Json) -> bool:
    return isinstance(value, str) and _COUNTRY(value) is not None


def kind_of(location: str) -> str | None:
    """The type of place that a location's id names: only a country's does."""
    return "country" if _is_country(location) else None


def _is_location(value: Json) -> bool:
    return isinstance(value, Mapping) and set(value) == {"id"} and _is_id(value["id"])


def _has(value: Json, *names: str) -> bool:
    """Whether it is an object with some of these members, and no other."""
    return isinstance(value, Mapping) and bool(value) and set(value) <= set(names)


def _wrong_locations(value: Json) -> str | None:
    if not _has(value, "countries", "include"):
        return "targeting.native.locations has countries or include, and nothing else"
    if "countries" in value and not _is_list(value["countries"], _is_country):
        return "locations.countries is a list of countries in two capital letters"
    if "include" in value and not _is_list(value["include"], _is_location):
        return "locations.include is a list of objects with an id, and nothing else"
    if len(value.get("include", ())) > openai.MOST_LOCATIONS:
        return f"locations.include holds at most {openai.MOST_LOCATIONS} locations"
    return None


def wrong_targeting(native: Json) -> str | None:
    """What is wrong with ``targeting.native``; None where nothing is."""
    if not _has(native, *openai.TARGETING):
        return f"the native targeting has these members only: {', '.join(openai.TARGETING)}"
    if "locations" in native and (wrong := _wrong_locations(native["locations"])) is not None:
        return wrong
    if "platforms" in native:
        platforms = native["platforms"]
        # Ads API: an empty list or object is refused
        if not (_has(platforms, "included") and _is_list(platforms["included"], openai.PLATFORMS.__contains__)):
            return f"platforms.included is a list of some of {', '.join(openai.PLATFORMS)}"
    for name in openai.AUDIENCES:
        if name in native and not (_has(native[name], "ids") and _is_list(native[name]["ids"], _is_id)):
            return f"{name} has one member, ids, a list of audiences"
    excluded = native.get(openai.EXCLUDED_LOCATIONS)
    if openai.EXCLUDED_LOCATIONS in native and not (isinstance(excluded, Mapping) and excluded):
        return f"{openai.EXCLUDED_LOCATIONS} is an object"
    return None


# -- what is looked up --------------------------------------------------------------------------------------------


def event_of(network: Network, brief: CampaignBrief) -> Flow[str]:
    """The event that leads the campaign: a standard one, not archived, with a source."""
    path, wanted = "platform.conversionEvent", brief.platform.conversion_event or ""
    asked = openai.event_settings(openai.LARGEST_PAGE)
    found = None
    for answer in (yield from pages(network, asked, openai.following)):
        found = next((one for one in openai.data(answer) if text(one, "/id") == wanted), found)
    if found is None:
        raise refused(path, "not_found", "OpenAI has no such event in the account; see the catalog conversion_events.")
    if found.get("archived") is True:
        raise refused(path, "ineligible", "The event is archived.")
    if found.get("custom_event_name") is not None:
        raise refused(path, "ineligible", "A custom event cannot lead a campaign; take a standard one.")
    sources = [ident(source, "/id", "source") for source in rows(found, "/sources", "event setting")]
    if not sources:
        raise refused(path, "ineligible", "The event is linked to no source.")
    if brief.platform.pixel_id not in (None, *sources):
        raise refused("platform.pixelId", "conflict", f"The event's sources are {', '.join(sources)}.")
    return wanted


# -- what an edit says --------------------------------------------------------------------------------------------


def _places(value: Json) -> dict[str, Json]:
    """Locations as they are written: what was read is expanded by names and types."""
    kept = _part(value, "countries", "include")
    if "include" in kept:
        include = kept["include"]
        if not (isinstance(include, list) and all(_is_id(read(one, "/id")) for one in include)):
            raise ProviderUnreadable("OpenAI: a location of the campaign has no id.")
        kept["include"] = [{"id": one["id"]} for one in include]
    return kept


def _part(value: Json, *names: str) -> dict[str, Json]:
    """The members of these names; others would be lost, and with them what they keep out."""
    if not isinstance(value, Mapping) or any(one for name, one in value.items() if name not in names):
        raise ProviderUnreadable("OpenAI: the campaign's targeting is not of a known form.")
    return {name: value[name] for name in names if value.get(name)}


_MEMBERS: Mapping[str, tuple[str, ...]] = {"platforms": ("included",), **dict.fromkeys(openai.AUDIENCES, ("ids",))}


def written(current: Json) -> dict[str, Json]:
    """A campaign's targeting as it can be written again, from a fresh read."""
    if current is None:
        return {}
    kept: dict[str, Json] = {}
    for name, value in _part(current, *openai.TARGETING).items():
        part = _part(value, *_MEMBERS[name]) if name in _MEMBERS else _places(value)
        if part:
            kept[name] = part
    return kept


def _wanted_places(items: Sequence[Mapping[str, Json]]) -> dict[str, Json]:
    ids = [str(one["id"]) for one in items]
    countries = [one for one in ids if _is_country(one)]
    others = [{"id": one} for one in ids if not _is_country(one)]
    return ({"countries": countries} if countries else {}) | ({"include": others} if others else {})


def _issues(wanted: Mapping[str, Json]) -> Iterator[Issue]:
    for name, value in wanted.items():
        path = f"targeting.{name}"
        if not value:
            yield Issue(path, "required", "Without any, OpenAI would serve everywhere; a native update can clear it.")
        elif name == "devices" and not all(one["id"] in openai.PLATFORMS for one in value):
            yield Issue(path, "choice", f"OpenAI's platforms are {', '.join(openai.PLATFORMS)}.")
        elif name == "locations" and len(value) > openai.MOST_LOCATIONS:
            yield Issue(path, "too_long", f"OpenAI takes at most {openai.MOST_LOCATIONS} locations.")


def merged(current: Json, wanted: Mapping[str, Json]) -> tuple[dict[str, Json], list[Change]]:
    """The whole targeting with the lists of an edit in place of those that stood there, and the changes in words."""
    refuse(_issues(wanted))
    targeting = written(current)

    def lay(name: str, native: str, items: Json, path: str) -> Change:
        new = _wanted_places(items) if name == "locations" else {"included": [one["id"] for one in items]}
        change = Change(path, targeting.get(native), new)
        targeting[native] = new
        return change

    changes = targeted({"locations": "locations", "devices": "platforms"}, wanted, lay)
    return targeting, changes
