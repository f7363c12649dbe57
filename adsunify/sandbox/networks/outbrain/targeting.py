"""The `targeting` of a campaign: what is written, and which parts of it a reader asks for."""

from collections.abc import Collection, Mapping
from typing import Any

from adsunify.sandbox.framework import Check, anything, boolean, choice, foreign, listing, record, text
from adsunify.sandbox.networks.outbrain.answers import refused
from adsunify.sandbox.networks.outbrain.places import ID, KINDS, VERSIONS, location, table
from adsunify.sandbox.networks.outbrain.tables import BROWSERS, OPERATING_SYSTEMS, PLATFORMS

LANGUAGES: Mapping[str, str] = {
    "ar": "Arabic", "da": "Danish", "de": "German", "en": "English", "es": "Spanish", "fr": "French", "he": "Hebrew",
    "it": "Italian", "ja": "Japanese", "ko": "Korean", "nl": "Dutch", "pl": "Polish", "pt": "Portuguese",
    "sv": "Swedish", "tr": "Turkish", "zh": "Chinese",
}  # fmt: skip
_FOREIGN = foreign(r"[0-9A-Za-z_.-]+")
_MOST_ZIPS, _MOST_OTHERS = 7000, 5000
_LOGIC = record(
    required={"op": choice("Or", "And")},
    optional={"ids": listing(_FOREIGN, 1), "terms": listing(anything, 1)},
    exactly_one=(("ids", "terms"),),
)


def _interests(value: Any, where: str) -> Any:
    """Or goes with ids, And with terms."""
    given = _LOGIC(value, where)
    if (given["op"] == "Or") != ("ids" in given):
        raise refused(where, "Or goes with ids and And with terms")
    return given


_SHAPE: Mapping[str, Check] = {
    "platform": listing(choice(*PLATFORMS), 1, len(PLATFORMS)),
    "locations": listing(ID, 0, _MOST_ZIPS + _MOST_OTHERS),
    "excludedLocations": listing(ID, 0, _MOST_ZIPS + _MOST_OTHERS),
    "language": choice(*LANGUAGES),
    "excludeAdBlockUsers": boolean,
    "customAudience": record(
        optional={
            "includedSegments": listing(_FOREIGN),
            "excludedSegments": listing(_FOREIGN),
            "audienceIntelSegments": _interests,
        }
    ),
    "browsers": listing(choice(*BROWSERS), 0, len(BROWSERS)),
    "operatingSystems": listing(choice(*OPERATING_SYSTEMS), 0, len(OPERATING_SYSTEMS)),
    "includeCellularNetwork": boolean,
    "interests": _interests,
    "network": anything,  # its shape is not described
    "nativePlacementsEnabled": boolean,
    "iabCategories": listing(text()),
    "locationsVersion": choice(*VERSIONS),
}
CREATE = record(required={"platform": _SHAPE["platform"]}, optional=_SHAPE)  # chosen: `platform` is mandatory
UPDATE = record(optional=_SHAPE)
_PLACES = ("locations", "excludedLocations")
# The parts that are answered only where `extraFields` asks for them (chosen where the documentation does not tell
# which).
_EXTRA: Mapping[str, Collection[str]] = {
    "Locations": _PLACES,
    "PlatformTargeting": ("browsers", "operatingSystems", "includeCellularNetwork"),
    "InterestsTargeting": ("interests",),
    "CustomAudience": ("customAudience",),
    "IABCategories": ("iabCategories",),
    "NetworkTargeting": ("network",),
}


def whole(given: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Targeting that takes the place of what was there (chosen: nothing survives). Problem.

    An empty array clears. `locationsVersion` left out is V1, as in the search; ids of the other version are refused.
    """
    kept = {name: value for name, value in given.items() if value != []}
    version = kept.setdefault("locationsVersion", VERSIONS[0])
    kept.setdefault("platform", list(PLATFORMS))
    for member in _PLACES:
        ids = kept.get(member, [])
        if len(set(ids)) < len(ids):
            raise refused(f"{where}/{member}", "names a location twice")
        for position, native_id in enumerate(ids):
            if any(native_id in table(other) for other in VERSIONS if other != version):
                raise refused(f"{where}/{member}/{position}", f"is no location of {version}")
        zips = sum(location(native_id)["geoType"] == KINDS[-1] for native_id in ids)
        if zips > _MOST_ZIPS or len(ids) - zips > _MOST_OTHERS:
            raise refused(f"{where}/{member}", f"more than {_MOST_OTHERS} locations and {_MOST_ZIPS} postal codes")
    if set(kept.get(_PLACES[0], [])) & set(kept.get(_PLACES[1], [])):
        raise refused(f"{where}/{_PLACES[1]}", "a location is both targeted and excluded")
    return kept


def view(kept: Mapping[str, Any], extras: Collection[str]) -> dict[str, Any]:
    """Targeting as it is answered: locations as objects."""
    hidden = {name for extra, names in _EXTRA.items() if extra not in extras for name in names}
    shown = {name: value for name, value in kept.items() if name not in hidden}
    return {name: places(value) if name in _PLACES else value for name, value in shown.items()}


def places(ids: Collection[str]) -> list[dict[str, Any]]:
    """Locations as objects."""
    return [location(native_id) for native_id in ids]
