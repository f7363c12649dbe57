"""The `targeting` of a campaign: its members in writes, and the parts that a read must request."""

from collections.abc import Collection, Mapping
from typing import Any

from adsunify.sandbox.checks import Check, any_value, array, boolean, choice, external_id, record, rule_error, text
from adsunify.sandbox.networks.outbrain import places
from adsunify.sandbox.networks.outbrain.tables import BROWSERS, OPERATING_SYSTEMS, PLATFORMS
from adsunify.sandbox.parsing import parse_names

LANGUAGES: Mapping[str, str] = parse_names("""
    ar Arabic, da Danish, de German, en English, es Spanish, fr French, he Hebrew, it Italian, ja Japanese, ko Korean,
    nl Dutch, pl Polish, pt Portuguese, sv Swedish, tr Turkish, zh Chinese
""")
_EXTERNAL_ID = external_id(r"[0-9A-Za-z_.-]+")
_MAX_POSTAL_CODES, _MAX_OTHER_LOCATIONS = 7000, 5000
_LOGIC_CHECK = record(
    required={"op": choice("Or", "And")},
    optional={"ids": array(_EXTERNAL_ID, 1), "terms": array(any_value, 1)},
    exactly_one=(("ids", "terms"),),
)


def _check_interests(value: Any, where: str) -> Any:
    """Check interests: `Or` requires ids, `And` requires terms."""
    logic = _LOGIC_CHECK(value, where)
    if (logic["op"] == "Or") != ("ids" in logic):
        raise rule_error(where, "Or goes with ids and And with terms")
    return logic


_MEMBERS: Mapping[str, Check] = {
    "platform": array(choice(*PLATFORMS), 1, len(PLATFORMS)),
    "locations": array(places.ID_CHECK, 0, _MAX_POSTAL_CODES + _MAX_OTHER_LOCATIONS),
    "excludedLocations": array(places.ID_CHECK, 0, _MAX_POSTAL_CODES + _MAX_OTHER_LOCATIONS),
    "language": choice(*LANGUAGES),
    "excludeAdBlockUsers": boolean,
    "customAudience": record(
        optional={
            "includedSegments": array(_EXTERNAL_ID),
            "excludedSegments": array(_EXTERNAL_ID),
            "audienceIntelSegments": _check_interests,
        }
    ),
    "browsers": array(choice(*BROWSERS), 0, len(BROWSERS)),
    "operatingSystems": array(choice(*OPERATING_SYSTEMS), 0, len(OPERATING_SYSTEMS)),
    "includeCellularNetwork": boolean,
    "interests": _check_interests,
    "network": any_value,  # its shape is not documented
    "nativePlacementsEnabled": boolean,
    "iabCategories": array(text()),
    "locationsVersion": choice(*places.LOCATION_VERSIONS),
}
# our choice: `platform` is mandatory
CREATE_CHECK = record(required={"platform": _MEMBERS["platform"]}, optional=_MEMBERS)
UPDATE_CHECK = record(optional=_MEMBERS)
_LOCATION_MEMBERS = ("locations", "excludedLocations")
# Members that a response has only if `extraFields` names them (our choice where the documentation does not say).
_MEMBERS_BY_EXTRA_FIELD: Mapping[str, Collection[str]] = {
    "Locations": _LOCATION_MEMBERS,
    "PlatformTargeting": ("browsers", "operatingSystems", "includeCellularNetwork"),
    "InterestsTargeting": ("interests",),
    "CustomAudience": ("customAudience",),
    "IABCategories": ("iabCategories",),
    "NetworkTargeting": ("network",),
}


def complete_targeting(targeting: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Targeting that replaces the old one completely (our choice). Raises InvalidRequest.

    An empty array clears a member. `locationsVersion` left out is V1, as in the search; ids of the other version are
    refused.
    """
    members = {name: value for name, value in targeting.items() if value != []}
    version = members.setdefault("locationsVersion", places.LOCATION_VERSIONS[0])
    members.setdefault("platform", list(PLATFORMS))
    for member in _LOCATION_MEMBERS:
        ids = members.get(member, [])
        if len(set(ids)) < len(ids):
            raise rule_error(f"{where}/{member}", "names a location twice")
        for position, native_id in enumerate(ids):
            if any(
                native_id in places.build_locations(other) for other in places.LOCATION_VERSIONS if other != version
            ):
                raise rule_error(f"{where}/{member}/{position}", f"is no location of {version}")
        zips = sum(places.render_location(native_id)["geoType"] == places.LOCATION_TYPES[-1] for native_id in ids)
        if zips > _MAX_POSTAL_CODES or len(ids) - zips > _MAX_OTHER_LOCATIONS:
            raise rule_error(
                f"{where}/{member}", f"more than {_MAX_OTHER_LOCATIONS} locations and {_MAX_POSTAL_CODES} postal codes"
            )
    if set(members.get(_LOCATION_MEMBERS[0], [])) & set(members.get(_LOCATION_MEMBERS[1], [])):
        raise rule_error(f"{where}/{_LOCATION_MEMBERS[1]}", "a location is both targeted and excluded")
    return members


def render_targeting(stored_targeting: Mapping[str, Any], extras: Collection[str]) -> dict[str, Any]:
    """Targeting in a response: locations are objects."""
    hidden = {name for extra, names in _MEMBERS_BY_EXTRA_FIELD.items() if extra not in extras for name in names}
    members = {name: value for name, value in stored_targeting.items() if name not in hidden}
    return {name: render_locations(value) if name in _LOCATION_MEMBERS else value for name, value in members.items()}


def render_locations(ids: Collection[str]) -> list[dict[str, Any]]:
    """Locations as objects."""
    return [places.render_location(native_id) for native_id in ids]
