"""Outbrain's ``targeting`` object: from a brief, and from an edit. Without locations a campaign serves everywhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from adsunify.adapter.edit_members import PartBuilder, list_item_ids, replace_members
from adsunify.adapter.flows import fetch_response
from adsunify.adapter.network import Network, split_words
from adsunify.errors import ProviderUnreadable, invalid_input
from adsunify.http.messages import Flow
from adsunify.models.brief import CampaignBrief
from adsunify.plans.records import Change, Kind
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import find_values, get_objects, get_text, get_value, parse_id

from . import native as outbrain

PLATFORMS = ("DESKTOP", "MOBILE", "TABLET")
OPERATING_SYSTEMS = ("Ios", "MacOs", "Android", "Windows")
BROWSERS = split_words("Safari Opera Chrome UCBrowser InApp Samsung Firefox InternetExplorer Edge Other")
LOCATIONS_VERSION = "V2"  # the default version, V1, has the regions of FIPS
LOCATION_MEMBERS = ("locations", "excludedLocations")
# unverified: the member is language, as in the table of attributes, and not languages, as in a sample.
LANGUAGE_MEMBER = "language"
TARGETING_MEMBERS = split_words(
    f"platform locations excludedLocations {LANGUAGE_MEMBER} excludeAdBlockUsers customAudience browsers"
    " operatingSystems includeCellularNetwork interests network nativePlacementsEnabled iabCategories locationsVersion"
)
MEMBER_CHOICES: Mapping[str, tuple[str, ...]] = {
    "platform": PLATFORMS,
    "operatingSystems": OPERATING_SYSTEMS,
    "browsers": BROWSERS,
}
WORLDWIDE_WARNING = "There is no targeting: all locations that Outbrain sells are served."


# -- what a brief says --------------------------------------------------------------------------------------------


def find_native_targeting_error(targeting: Mapping[str, Json]) -> str | None:
    """Return why a native targeting object is refused; None if it is valid."""
    unknown = sorted(set(targeting) - set(TARGETING_MEMBERS))
    if unknown:
        return f"its targeting has no member {unknown[0][:60]}"
    for name, choices in MEMBER_CHOICES.items():
        value = targeting.get(name, [])
        if not isinstance(value, list) or any(item not in choices for item in value):
            return f"{name} is a list of {', '.join(choices)}"
    for name in LOCATION_MEMBERS:
        value = targeting.get(name, [])
        if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
            return f"{name} is a list of ids of the catalog locations"
    return None


# unverified: Outbrain has these English names of countries.
_COUNTRY_NAMES_TEXT = """
AD Andorra|AE United Arab Emirates|AF Afghanistan|AG Antigua and Barbuda|AI Anguilla|AL Albania|AM Armenia|AO Angola
AQ Antarctica|AR Argentina|AS American Samoa|AT Austria|AU Australia|AW Aruba|AX Aland Islands|AZ Azerbaijan
BA Bosnia and Herzegovina|BB Barbados|BD Bangladesh|BE Belgium|BF Burkina Faso|BG Bulgaria|BH Bahrain|BI Burundi
BJ Benin|BL Saint Barthelemy|BM Bermuda|BN Brunei|BO Bolivia|BQ Bonaire, Sint Eustatius and Saba|BR Brazil|BS Bahamas
BT Bhutan|BV Bouvet Island|BW Botswana|BY Belarus|BZ Belize|CA Canada|CC Cocos Islands
CD Democratic Republic of the Congo|CF Central African Republic|CG Republic of the Congo|CH Switzerland
CI Ivory Coast|CK Cook Islands|CL Chile|CM Cameroon|CN China|CO Colombia|CR Costa Rica|CU Cuba|CV Cape Verde
CW Curacao|CX Christmas Island|CY Cyprus|CZ Czech Republic|DE Germany|DJ Djibouti|DK Denmark|DM Dominica
DO Dominican Republic|DZ Algeria|EC Ecuador|EE Estonia|EG Egypt|EH Western Sahara|ER Eritrea|ES Spain|ET Ethiopia
FI Finland|FJ Fiji|FK Falkland Islands|FM Micronesia|FO Faroe Islands|FR France|GA Gabon|GB United Kingdom|GD Grenada
GE Georgia|GF French Guiana|GG Guernsey|GH Ghana|GI Gibraltar|GL Greenland|GM Gambia|GN Guinea|GP Guadeloupe
GQ Equatorial Guinea|GR Greece|GS South Georgia and the South Sandwich Islands|GT Guatemala|GU Guam
GW Guinea-Bissau|GY Guyana|HK Hong Kong|HM Heard Island and McDonald Islands|HN Honduras|HR Croatia|HT Haiti
HU Hungary|ID Indonesia|IE Ireland|IL Israel|IM Isle of Man|IN India|IO British Indian Ocean Territory|IQ Iraq
IR Iran|IS Iceland|IT Italy|JE Jersey|JM Jamaica|JO Jordan|JP Japan|KE Kenya|KG Kyrgyzstan|KH Cambodia|KI Kiribati
KM Comoros|KN Saint Kitts and Nevis|KP North Korea|KR South Korea|KW Kuwait|KY Cayman Islands|KZ Kazakhstan|LA Laos
LB Lebanon|LC Saint Lucia|LI Liechtenstein|LK Sri Lanka|LR Liberia|LS Lesotho|LT Lithuania|LU Luxembourg|LV Latvia
LY Libya|MA Morocco|MC Monaco|MD Moldova|ME Montenegro|MF Saint Martin|MG Madagascar|MH Marshall Islands
MK North Macedonia|ML Mali|MM Myanmar|MN Mongolia|MO Macao|MP Northern Mariana Islands|MQ Martinique|MR Mauritania
MS Montserrat|MT Malta|MU Mauritius|MV Maldives|MW Malawi|MX Mexico|MY Malaysia|MZ Mozambique|NA Namibia
NC New Caledonia|NE Niger|NF Norfolk Island|NG Nigeria|NI Nicaragua|NL Netherlands|NO Norway|NP Nepal|NR Nauru
NU Niue|NZ New Zealand|OM Oman|PA Panama|PE Peru|PF French Polynesia|PG Papua New Guinea|PH Philippines|PK Pakistan
PL Poland|PM Saint Pierre and Miquelon|PN Pitcairn|PR Puerto Rico|PS Palestine|PT Portugal|PW Palau|PY Paraguay
QA Qatar|RE Reunion|RO Romania|RS Serbia|RU Russia|RW Rwanda|SA Saudi Arabia|SB Solomon Islands|SC Seychelles
SD Sudan|SE Sweden|SG Singapore|SH Saint Helena|SI Slovenia|SJ Svalbard and Jan Mayen|SK Slovakia|SL Sierra Leone
SM San Marino|SN Senegal|SO Somalia|SR Suriname|SS South Sudan|ST Sao Tome and Principe|SV El Salvador
SX Sint Maarten|SY Syria|SZ Eswatini|TC Turks and Caicos Islands|TD Chad|TF French Southern Territories|TG Togo
TH Thailand|TJ Tajikistan|TK Tokelau|TL Timor-Leste|TM Turkmenistan|TN Tunisia|TO Tonga|TR Turkey
TT Trinidad and Tobago|TV Tuvalu|TW Taiwan|TZ Tanzania|UA Ukraine|UG Uganda
UM United States Minor Outlying Islands|US United States|UY Uruguay|UZ Uzbekistan|VA Vatican
VC Saint Vincent and the Grenadines|VE Venezuela|VG British Virgin Islands|VI U.S. Virgin Islands|VN Vietnam
VU Vanuatu|WF Wallis and Futuna|WS Samoa|XK Kosovo|YE Yemen|YT Mayotte|ZA South Africa|ZM Zambia|ZW Zimbabwe
"""
COUNTRY_NAMES: Mapping[str, str] = {
    entry[:2]: entry[3:] for line in _COUNTRY_NAMES_TEXT.strip().splitlines() for entry in line.split("|")
}
"""ISO 3166-1 alpha-2 code -> English name. Outbrain finds countries only by name."""


def find_countries_error(countries: Iterable[str]) -> str | None:
    """Return why country codes are refused; None if they are valid."""
    strange = [country for country in countries if country not in COUNTRY_NAMES]
    return f"{', '.join(strange)} is no country" if strange else None


def build_placed_targeting(brief: CampaignBrief, places: Sequence[str]) -> dict[str, Json]:
    """Build the campaign's targeting. ``places``: the location IDs of its countries."""
    if brief.targeting.native is not None:
        return with_default_members(brief.targeting.native)
    ids = list(dict.fromkeys((*places, *(brief.targeting.location_ids or ()))))
    return with_default_members({"platform": list(PLATFORMS)} | ({"locations": ids} if ids else {}))


def with_default_members(targeting: Mapping[str, Json]) -> dict[str, Json]:
    """Return the targeting with default platforms, and with the version of its locations."""
    whole: dict[str, Json] = {"platform": list(PLATFORMS), **targeting}
    if any(name in whole for name in LOCATION_MEMBERS):
        whole.setdefault("locationsVersion", LOCATIONS_VERSION)
    return whole


# -- what is looked up --------------------------------------------------------------------------------------------


def fetch_country_id(network: Network, code: str) -> Flow[str]:
    """Return the location ID of a country. The search uses the country's English name."""
    query = {
        "term": COUNTRY_NAMES[code],
        "include": "Country",
        "exactMatch": "true",
        "locationsVersion": LOCATIONS_VERSION,
        "limit": "10",
    }
    response = yield from fetch_response(network, outbrain.build_get_request("locations/search", query))
    for row in get_objects(response.body, "/geoLocations", "list of locations"):
        country_id = parse_id(get_value(row, "/id"))
        if (
            row.get("geoType") == "Country"
            and (get_text(row, "/code") or "").strip() == code
            and country_id is not None
        ):
            return country_id
    raise invalid_input("targeting.countries", "not_found", f"Outbrain has no location {COUNTRY_NAMES[code]} ({code}).")


# -- what an edit says --------------------------------------------------------------------------------------------


def get_ids(items: Json) -> list[str]:
    """Return the IDs of a native list, whose entries are IDs or objects with an ID."""
    ids = [parse_id(get_value(item, "/id") if isinstance(item, Mapping) else item) for item in find_values(items, "/*")]
    if None in ids:
        raise ProviderUnreadable("A location of the campaign has no id.")
    return [item for item in ids if item is not None]


def to_writable_targeting(targeting: Json) -> dict[str, Json]:
    """Convert a targeting from the form of a read to the form of a write: IDs of locations, no read-only members."""
    if not isinstance(targeting, Mapping):
        raise ProviderUnreadable("The campaign's targeting is no object.")
    writable = {name: value for name, value in targeting.items() if name in TARGETING_MEMBERS and value is not None}
    return writable | {name: get_ids(writable[name]) for name in LOCATION_MEMBERS if name in writable}


def _build_ids(items: Json, path: str) -> Json:
    return list_item_ids(items)


def _build_language(items: Json, path: str) -> Json:
    if len(items) != 1:
        raise invalid_input(path, "choice", "Outbrain targets exactly one language.")
    return list_item_ids(items)[0]


def build_interests_member(ids: list[str]) -> dict[str, Json]:
    """Build the native member that targets people with any of these interests."""
    return {"op": "Or", "ids": ids}


def _build_interests(items: Json, path: str) -> Json:
    if not items:
        raise invalid_input(
            path, "required", "Outbrain documents no way to take all interests away; name at least one."
        )
    return build_interests_member(list_item_ids(items))


def _build_platforms(items: Json, path: str) -> Json:
    names = list_item_ids(items)
    if not names or any(name not in PLATFORMS for name in names):
        raise invalid_input(path, "choice", f"Outbrain takes these devices: {', '.join(PLATFORMS)}.")
    return names


EDITABLE_TARGETING: Mapping[str, tuple[str, PartBuilder]] = {
    "locations": ("locations", _build_ids),
    "excludedLocations": ("excludedLocations", _build_ids),
    "languages": (LANGUAGE_MEMBER, _build_language),
    "interests": ("interests", _build_interests),
    "devices": ("platform", _build_platforms),
}
"""Member of an edit's targeting -> its native member, and the function that builds the native value."""


def merge_targeting(kind: Kind, current: Json, new_members: Mapping[str, Json]) -> tuple[dict[str, Json], list[Change]]:
    """Apply an edit to the targeting. Returns changed members, and each change. Raises InvalidInput with all issues."""
    return replace_members(EDITABLE_TARGETING, current, new_members)
