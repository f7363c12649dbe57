"""Snap's ``targeting`` object: from a brief, and from an edit."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from adsunify.adapter.edit_members import identities, targeted
from adsunify.adapter.flows import maybe
from adsunify.adapter.network import Account, Network
from adsunify.errors import Issue, ProviderThrottled, ProviderUnreadable, refuse, refused
from adsunify.http.messages import Flow, Request
from adsunify.models.brief import CampaignBrief
from adsunify.plans.records import Change
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import found_at, rows, text

from . import native as snap

# A region's id means something only beside its country, so ours name both. Kind to its member of a geos entry, which
# takes a list (unverified).
PLACES: Mapping[str, str] = {"region": "region_id", "metro": "metro_id", "postal": "postal_code"}
PLACE_FORMS = "gb, gb:region:<id>, us:metro:<id> or us:postal:<code>"
INCLUDE, EXCLUDE = "INCLUDE", "EXCLUDE"
GENDERS = {"female": "FEMALE", "male": "MALE"}
_PLACE = re.compile(r"([a-z]{2})(?::(region|metro|postal):(\S+))?").fullmatch


# -- what a brief says --------------------------------------------------------------------------------------------


def kind_of(location: str) -> str | None:
    """The type of place that a location's id names."""
    found = _PLACE(location)
    return None if found is None else found[2] or "country"


def misplaced(locations: Iterable[str]) -> str | None:
    """What is wrong with location ids; None where nothing is."""
    return None if all(map(_PLACE, locations)) else f"a location is {PLACE_FORMS}, the country in small letters"


def countries_of(targeting: Mapping[str, Json]) -> tuple[str, ...]:
    """The countries that ``geos`` includes, each once."""
    included = [one for one in found_at(targeting, "/geos/*") if not _excludes(one)]
    codes = [code for one in included for code in found_at(one, "/country_code") if isinstance(code, str)]
    return tuple(dict.fromkeys(codes))


def _excludes(entry: Json) -> bool:
    return isinstance(entry, Mapping) and entry.get("operation") == EXCLUDE


def _geos(locations: Iterable[str]) -> list[dict[str, Json]]:
    """Entries of ``geos``: one for a country, and one for the places of each kind in a country."""
    entries: dict[tuple[str, str], dict[str, Json]] = {}
    for location in dict.fromkeys(locations):
        found = _PLACE(location)
        if found is None:
            raise ValueError(f"{location} is no location")
        country, kind, native_id = found.groups()
        entry = entries.setdefault((country, kind or ""), {"country_code": country})
        if kind is not None:
            entry.setdefault(PLACES[kind], []).append(native_id)
    return list(entries.values())


def _locations(brief: CampaignBrief) -> list[str]:
    countries = [country.lower() for country in brief.targeting.countries or ()]
    return [*countries, *(brief.targeting.location_ids or ())]


def targeting_of(brief: CampaignBrief) -> dict[str, Json]:
    """The ad squad's targeting."""
    if brief.targeting.native is not None:
        return dict(brief.targeting.native)
    geos = _geos(_locations(brief))
    if len(countries_of({"geos": geos})) > 1:
        geos = [{**entry, "operation": INCLUDE} for entry in geos]
    targeting: dict[str, Json] = {"geos": geos}
    if brief.platform.locale is not None:
        targeting["demographics"] = [{"languages": [brief.platform.locale.language]}]
    return targeting


def not_native(targeting: Mapping[str, Json]) -> str | None:
    """What is wrong with a targeting object in Snap's own names; None where nothing is."""
    unknown = sorted(set(targeting) - set(snap.TARGETING_NAMES))
    if unknown:
        return f"its targeting has no member {unknown[0][:60]}"
    geos = targeting.get("geos")
    if not isinstance(geos, list) or not geos or not all(isinstance(one, Mapping) for one in geos):
        return "the targeting names no geography (geos, a list of objects)"
    if not countries_of(targeting):
        return "geos includes no country (country_code), so that it would not say where to serve"
    return None


def no_overlap(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    """A rule: no place inside a country that the brief names as well."""
    whole = {one for one in _locations(brief) if ":" not in one}
    inside = [one for one in brief.targeting.location_ids or () if ":" in one and one.partition(":")[0] in whole]
    if inside:
        message = "Snapchat would serve the whole country: name the country or places inside it, not both."
        yield Issue("targeting.locationIds", "conflict", message)


def one_language(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    """A rule: where a language is wanted, it is named in the one place that counts."""
    # Ads API "Targeting": several countries take exactly one language, which narrows who is reached.
    locale = brief.platform.locale
    if brief.targeting.native is not None:
        if locale is not None:
            message = "targeting.native replaces it: name the languages there, in demographics."
            yield Issue("platform.locale", "conflict", message)
        return
    countries = countries_of(targeting_of(brief))
    if locale is None and len(countries) > 1:
        message = "Snapchat reaches several countries in exactly one language: name it, or make one brief per country."
        yield Issue("platform.locale", "required", message)
    if locale is not None and locale.country.lower() not in countries:
        message = "The country of the locale is one of those that are targeted."
        yield Issue("platform.locale", "conflict", message)


# -- what is looked up --------------------------------------------------------------------------------------------


def ad_type(network: Network, account: Account, creative_id: str) -> Flow[tuple[str, list[str]]]:
    """What the ad over the creative is called, and warnings; refuses a creative that cannot be promoted."""
    path = "creative.existingId"
    url = f"{snap.API}/creatives/{{id}}"
    response = yield from maybe(network, Request("GET", url, {"id": creative_id}))
    found = [] if response is None else snap.unwrapped(response, "creatives", "creative")
    if not found:
        raise refused(path, "not_found", "Snapchat has no such creative, or does not show it.")
    creative = found[0]
    if text(creative, "/ad_account_id") != account.native_id:
        raise refused(path, "ineligible", "The creative belongs to another ad account.")
    if creative.get("review_status") == snap.REVIEW_REJECTED:
        raise refused(path, "ineligible", "Snapchat has rejected the creative in its review.")
    packaging = text(creative, "/packaging_status")
    if packaging == snap.PACKAGING:
        raise ProviderThrottled(
            "Snapchat is still processing the creative; prepare the campaign again later.",
            code="media_processing",
            retry_after=snap.NOT_READY_WAIT,
        )
    if packaging is not None and not snap.succeeded(packaging):
        raise refused(path, "ineligible", "Snapchat could not process the creative.")
    kind = text(creative, "/type") or ""
    if kind not in snap.AD_TYPES:
        reason = snap.UNFIT_CREATIVES.get(kind, "its type cannot be promoted")
        raise refused(path, "ineligible", f"Snapchat: {reason}; take one of {', '.join(snap.AD_TYPES)}.")
    plain = kind in snap.PLAIN_CREATIVES
    return snap.AD_TYPES[kind], [] if plain else [f"Snapchat may refuse a creative of the type {kind} for awareness."]


# -- what an edit says --------------------------------------------------------------------------------------------

Part = Callable[[Sequence[Json], dict[str, Json], str], None]
"""Lays the wanted items over the targeting, which is a copy; the path is the one to name in a refusal."""


def _put(targeting: dict[str, Json], member: str, entries: Sequence[Json]) -> None:
    """The member as it is to be: none without entries."""
    targeting.pop(member, None)
    if entries:
        targeting[member] = list(entries)


def _places(operation: str) -> Part:
    def places(items: Sequence[Json], targeting: dict[str, Json], path: str) -> None:
        found = identities(items)
        for index, location in enumerate(found):
            if wrong := misplaced([location]):
                raise refused(f"{path}.{index}.id", "invalid", f"Snapchat: {wrong}.")
            if ":" in location and location.partition(":")[0] in found:
                raise refused(f"{path}.{index}.id", "conflict", "Snapchat: the whole country is named beside it.")
        others = [one for one in rows(targeting, "/geos", "targeting") if _excludes(one) != (operation == EXCLUDE)]
        chosen = [{**entry, "operation": operation} for entry in _geos(found)]
        _put(targeting, "geos", [*others, *chosen] if operation == EXCLUDE else [*chosen, *others])

    return places


def _interests(operation: str) -> Part:
    # The shape is (unverified): a list of category ids per entry.
    def interests(items: Sequence[Json], targeting: dict[str, Json], path: str) -> None:
        others = [
            one
            for one in rows(targeting, "/interests", "targeting")
            if "category_id" not in one or _excludes(one) != (operation == EXCLUDE)
        ]
        found = identities(items)
        chosen = [{"category_id": found, "operation": operation}] if found else []
        _put(targeting, "interests", [*others, *chosen])

    return interests


def _devices(items: Sequence[Json], targeting: dict[str, Json], path: str) -> None:
    # Entries are alternatives: one that says more than a system cannot be kept beside new ones without widening.
    if any(set(one) - {"os_type"} for one in rows(targeting, "/devices", "targeting")):
        raise refused(path, "conflict", "Snapchat: its devices say more than a system; change targeting natively.")
    _put(targeting, "devices", [{"os_type": one} for one in identities(items)])


def _demographic(targeting: dict[str, Json], member: str, value: Json) -> None:
    entries = [dict(one) for one in rows(targeting, "/demographics", "targeting")] or [{}]
    entries[0].pop(member, None)
    if value:
        entries[0][member] = value
    _put(targeting, "demographics", [one for one in entries if one])


def _languages(items: Sequence[Json], targeting: dict[str, Json], path: str) -> None:
    _demographic(targeting, "languages", identities(items))


def _genders(items: Sequence[Json], targeting: dict[str, Json], path: str) -> None:
    if any(one not in GENDERS for one in items):
        raise refused(path, "not_supported", f"Snapchat takes these genders: {', '.join(GENDERS)}.")
    chosen = {GENDERS[one] for one in items}
    _demographic(targeting, "gender", chosen.pop() if len(chosen) == 1 else None)  # both is no choice


def _age(member: str) -> Callable[[Json, dict[str, Json], str], None]:
    def age(years: Json, targeting: dict[str, Json], path: str) -> None:
        _demographic(targeting, member, str(years))

    return age


PARTS: Mapping[str, tuple[str, Part]] = {
    "locations": ("geos", _places(INCLUDE)),
    "excludedLocations": ("geos", _places(EXCLUDE)),
    "languages": ("demographics", _languages),
    "genders": ("demographics", _genders),
    "ageMin": ("demographics", _age("min_age")),
    "ageMax": ("demographics", _age("max_age")),
    "interests": ("interests", _interests(INCLUDE)),
    "excludedInterests": ("interests", _interests(EXCLUDE)),
    "devices": ("devices", _devices),
}


def _flat(value: Json) -> Json:
    """Entries of ``geos`` and ``interests`` as one row for each place or category, so that two can be compared."""
    flat: list[Json] = []
    for entry in value if isinstance(value, list) else ():
        members = {"operation": INCLUDE, **entry} if isinstance(entry, Mapping) else {"": entry}
        lists = [name for name, one in members.items() if isinstance(one, list)]
        if len(lists) == 1:
            flat += [{**members, lists[0]: one} for one in members[lists[0]]]
        else:
            flat.append(members)
    return flat


def merged(targeting: Json, wanted: Mapping[str, Json]) -> tuple[dict[str, Json], list[Change]]:
    """The whole targeting with the wanted parts laid over it, and each change. Raises InvalidInput with all issues."""
    if not isinstance(targeting, Mapping):
        raise ProviderUnreadable("The ad squad's targeting is no object.")
    native = dict(targeting)

    def lay(name: str, row: tuple[str, Part], value: Json, path: str) -> Change:
        member, part = row
        before = native.get(member)
        part(value, native, path)
        return Change(name, before, native.get(member))

    changes = targeted(PARTS, wanted, lay, _flat)
    refuse(_contradictions(native))
    return native, changes


def _contradictions(targeting: Mapping[str, Json]) -> Iterator[Issue]:
    countries = countries_of(targeting)
    if not countries:
        yield Issue("targeting.locations", "required", "Snapchat needs a place to serve in.")
    languages = set(map(str, found_at(targeting, "/demographics/*/languages/*")))
    if len(countries) > 1 and len(languages) != 1:
        yield Issue("targeting.languages", "required", "Snapchat reaches several countries in exactly one language.")
    least, most = [_years(text(targeting, f"/demographics/0/{member}")) for member in ("min_age", "max_age")]
    if least is not None and most is not None and least > most:
        yield Issue("targeting.ageMin", "order", "The least age lies above the greatest.")


def _years(age: str | None) -> int | None:
    found = re.match("[0-9]{1,3}", age or "")  # 55+ is one too
    return int(found.group()) if found is not None else None
