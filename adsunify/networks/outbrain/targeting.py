"""Outbrain's ``targeting`` object: from a brief, and from an edit. Without locations a campaign serves everywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from adsunify.brief import CampaignBrief
from adsunify.errors import InvalidInput, Issue, ProviderUnreadable, refused
from adsunify.network import words
from adsunify.steps import Change
from adsunify.wire import Json, found_at, identifier, read, text

from .countries import COUNTRIES

PLATFORMS = ("DESKTOP", "MOBILE", "TABLET")
SYSTEMS = ("Ios", "MacOs", "Android", "Windows")
BROWSERS = words("Safari Opera Chrome UCBrowser InApp Samsung Firefox InternetExplorer Edge Other")
ISO_VERSION = "V2"  # V1, the default of the search, divides countries by FIPS regions
PLACES = ("locations", "excludedLocations")
# The reference writes language in the table of attributes, languages in a sample: the table counts (unverified).
LANGUAGE = "language"
MEMBERS = words(
    f"platform locations excludedLocations {LANGUAGE} excludeAdBlockUsers customAudience browsers operatingSystems"
    " includeCellularNetwork interests network nativePlacementsEnabled iabCategories locationsVersion"
)
CHOICES: Mapping[str, tuple[str, ...]] = {"platform": PLATFORMS, "operatingSystems": SYSTEMS, "browsers": BROWSERS}
EVERYWHERE = "There is no targeting: all locations that Outbrain sells are served."


# -- what a brief says --------------------------------------------------------------------------------------------


def wrong_native(targeting: Mapping[str, Json]) -> str | None:
    """What is wrong with a targeting object in Outbrain's own names; None where nothing is."""
    unknown = sorted(set(targeting) - set(MEMBERS))
    if unknown:
        return f"its targeting has no member {unknown[0][:60]}"
    for name, choices in CHOICES.items():
        value = targeting.get(name, [])
        if not isinstance(value, list) or any(one not in choices for one in value):
            return f"{name} is a list of {', '.join(choices)}"
    for name in PLACES:
        value = targeting.get(name, [])
        if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
            return f"{name} is a list of ids of the catalog locations"
    return None


def unknown_countries(countries: Iterable[str]) -> str | None:
    """What is wrong with country codes; None where nothing is."""
    strange = [one for one in countries if one not in COUNTRIES]
    return f"{', '.join(strange)} is no country" if strange else None


def targeting_of(brief: CampaignBrief, places: Sequence[str]) -> dict[str, Json]:
    """The campaign's targeting, its countries found out (``places``)."""
    if brief.targeting.native is not None:
        return completed(brief.targeting.native)
    found = list(dict.fromkeys((*places, *(brief.targeting.location_ids or ()))))
    return completed({"platform": list(PLATFORMS)} | ({"locations": found} if found else {}))


def completed(targeting: Mapping[str, Json]) -> dict[str, Json]:
    """With the platforms and the version of the locations, where they are not said."""
    whole: dict[str, Json] = {"platform": list(PLATFORMS), **targeting}
    if any(name in whole for name in PLACES):
        whole.setdefault("locationsVersion", ISO_VERSION)
    return whole


# -- what stands there --------------------------------------------------------------------------------------------


def ids_of(listed: Json) -> list[str]:
    """Ids of a list as it is read: of objects, or of the ids themselves."""
    found = [identifier(read(one, "/id") if isinstance(one, Mapping) else one) for one in found_at(listed, "/*")]
    if None in found:
        raise ProviderUnreadable("A location of the campaign has no id.")
    return [one for one in found if one is not None]


def as_written(targeting: Json) -> dict[str, Json]:
    """A targeting as it is read in the form that a write takes: locations as ids, without what is only shown."""
    if not isinstance(targeting, Mapping):
        raise ProviderUnreadable("The campaign's targeting is no object.")
    kept = {name: value for name, value in targeting.items() if name in MEMBERS and value is not None}
    return kept | {name: ids_of(kept[name]) for name in PLACES if name in kept}


# -- what an edit says --------------------------------------------------------------------------------------------

Part = Callable[[list[str], str], Json]
"""From the wanted ids, and the path to name in a refusal, to the member's value."""


def _ids(found: list[str], path: str) -> Json:
    return found


def _one(found: list[str], path: str) -> Json:
    if len(found) != 1:
        raise refused(path, "choice", "Outbrain targets exactly one language.")
    return found[0]


def interests_of(found: list[str]) -> dict[str, Json]:
    """Any of these interests."""
    return {"op": "Or", "ids": found}


def _interests(found: list[str], path: str) -> Json:
    return interests_of(found)


def _platforms(found: list[str], path: str) -> Json:
    if not found or any(one not in PLATFORMS for one in found):
        raise refused(path, "choice", f"Outbrain takes these devices: {', '.join(PLATFORMS)}.")
    return found


PARTS: Mapping[str, tuple[str, Part]] = {
    "locations": ("locations", _ids),
    "excludedLocations": ("excludedLocations", _ids),
    "languages": (LANGUAGE, _one),
    "interests": ("interests", _interests),
    "devices": ("platform", _platforms),
}
"""An edit's part to its native member and how it is written."""


def _identities(items: Sequence[Json], path: str) -> list[str]:
    for index, item in enumerate(items):
        if item.get("radiusKm") is not None:
            raise refused(f"{path}/{index}.radiusKm", "not_supported", "Outbrain takes no radius around a place.")
    return list(dict.fromkeys(text(item, "/id") or "" for item in items))


def merged(current: Mapping[str, Json], wanted: Mapping[str, Json]) -> tuple[dict[str, Json], list[Change]]:
    """The members that the wanted parts become, and each change. Raises InvalidInput with all issues."""
    changed: dict[str, Json] = {}
    changes: list[Change] = []
    issues: list[Issue] = []
    for name, value in wanted.items():
        path = f"targeting.{name}"
        if name not in PARTS:
            issues.append(Issue(path, "not_supported", f"Outbrain takes these: {', '.join(PARTS)}."))
            continue
        member, part = PARTS[name]
        try:
            changed[member] = part(_identities(value, path), path)
        except InvalidInput as problem:
            issues.extend(problem.issues)
            continue
        changes.append(Change(name, current.get(member), changed[member]))
    if issues:
        raise InvalidInput(issues)
    return changed, changes
