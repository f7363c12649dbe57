"""Geographic locations and their search. The table has a selection of the parts of countries."""

import hashlib
from collections.abc import Mapping
from functools import cache
from typing import Any

from adsunify.sandbox.checks import boolean_text, choice, comma_separated, external_id, integer_text, text
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.outbrain.answers import build_response

LOCATION_TYPES = ("Country", "Region", "SubRegion", "DMA", "PostalCode")
LOCATION_VERSIONS = ("V1", "V2")  # V1 is FIPS and the default of the search; V2 is ISO 3166
ID_CHECK = external_id("[0-9a-f]{32}")

_COUNTRIES = """
AE United Arab Emirates|AF Afghanistan|AL Albania|AM Armenia|AO Angola|AR Argentina|AT Austria|AU Australia
AZ Azerbaijan|BA Bosnia and Herzegovina|BD Bangladesh|BE Belgium|BF Burkina Faso|BG Bulgaria|BH Bahrain|BJ Benin
BO Bolivia|BR Brazil|BS Bahamas|BW Botswana|BY Belarus|BZ Belize|CA Canada|CH Switzerland|CI Ivory Coast|CL Chile
CM Cameroon|CN China|CO Colombia|CR Costa Rica|CU Cuba|CY Cyprus|CZ Czech Republic|DE Germany|DK Denmark
DO Dominican Republic|DZ Algeria|EC Ecuador|EE Estonia|EG Egypt|ES Spain|ET Ethiopia|FI Finland|FJ Fiji|FR France
GA Gabon|GB United Kingdom|GE Georgia|GH Ghana|GR Greece|GT Guatemala|HK Hong Kong|HN Honduras|HR Croatia|HT Haiti
HU Hungary|ID Indonesia|IE Ireland|IL Israel|IN India|IQ Iraq|IS Iceland|IT Italy|JM Jamaica|JO Jordan|JP Japan
KE Kenya|KG Kyrgyzstan|KH Cambodia|KR South Korea|KW Kuwait|KZ Kazakhstan|LA Laos|LB Lebanon|LI Liechtenstein
LK Sri Lanka|LT Lithuania|LU Luxembourg|LV Latvia|LY Libya|MA Morocco|MC Monaco|MD Moldova|ME Montenegro
MG Madagascar|MK North Macedonia|ML Mali|MM Myanmar|MN Mongolia|MT Malta|MU Mauritius|MV Maldives|MX Mexico
MY Malaysia|MZ Mozambique|NA Namibia|NG Nigeria|NI Nicaragua|NL Netherlands|NO Norway|NP Nepal|NZ New Zealand
OM Oman|PA Panama|PE Peru|PG Papua New Guinea|PH Philippines|PK Pakistan|PL Poland|PR Puerto Rico|PT Portugal
PY Paraguay|QA Qatar|RO Romania|RS Serbia|RU Russia|RW Rwanda|SA Saudi Arabia|SE Sweden|SG Singapore|SI Slovenia
SK Slovakia|SN Senegal|SV El Salvador|TH Thailand|TN Tunisia|TR Turkey|TT Trinidad and Tobago|TW Taiwan|TZ Tanzania
UA Ukraine|UG Uganda|US United States|UY Uruguay|UZ Uzbekistan|VE Venezuela|VN Vietnam|ZA South Africa|ZM Zambia
ZW Zimbabwe
"""
COUNTRIES: Mapping[str, str] = {
    entry[:2]: entry[3:] for line in _COUNTRIES.split("\n") for entry in line.split("|") if entry
}
# kind, name, country, code in V1 and in V2
_SUBDIVISIONS = (
    ("Region", "California", "US", "CA", "US-CA"),
    ("Region", "New York", "US", "NY", "US-NY"),
    ("Region", "Georgia", "US", "GA", "US-GA"),
    ("DMA", "New York", "US", "501", "501"),
    ("DMA", "Los Angeles", "US", "803", "803"),
    ("PostalCode", "10001", "US", "10001", "10001"),
    ("Region", "Berlin", "DE", "16", "DE-BE"),
    ("Region", "Bavaria", "DE", "02", "DE-BY"),
    ("SubRegion", "Upper Bavaria", "DE", "091", "DE-BY-091"),
    ("Region", "England", "GB", "ENG", "GB-ENG"),
    ("Region", "Tokyo", "JP", "40", "JP-13"),
)
_QUERY_CHECKS = {
    "limit": integer_text(1, 300),
    "include": comma_separated(choice(*LOCATION_TYPES)),
    "exclude": comma_separated(choice(*LOCATION_TYPES)),
    "exactMatch": boolean_text,
    "country": text(2, 2, "[A-Z]{2}"),
    "locationsVersion": choice(*LOCATION_VERSIONS),
}


@cache
def build_locations(version: str) -> Mapping[str, Mapping[str, Any]]:
    """Every location of a version by its id. Country codes are padded, as on the real network."""
    rows = {code: _make_location(version, "Country", name, code, f"{code}  ", name) for code, name in COUNTRIES.items()}
    rows_by_id = {row["id"]: row for row in rows.values()}
    for kind, name, country, *codes in _SUBDIVISIONS:
        code = codes[LOCATION_VERSIONS.index(version)]
        row = _make_location(version, kind, name, country, code, f"{name}, {COUNTRIES[country]}", rows[country])
        rows_by_id[row["id"]] = row
    return rows_by_id


def _make_location(
    version: str, kind: str, name: str, country: str, code: str, canonical: str, parent: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    native_id = hashlib.sha256(f"{version}/{kind}/{country}/{name}".encode()).hexdigest()[:32]
    row: dict[str, Any] = {"id": native_id, "name": name, "canonicalName": canonical, "geoType": kind, "code": code}
    return {**row, "parent": {key: parent[key] for key in ("id", "name", "geoType", "code")}} if parent else row


def render_location(native_id: str) -> dict[str, Any]:
    """A location as a campaign shows it; a location made elsewhere has few members."""
    for version in LOCATION_VERSIONS:
        if native_id in build_locations(version):
            return dict(build_locations(version)[native_id])
    return {"id": native_id, "name": "Elsewhere", "canonicalName": "Elsewhere", "geoType": "Region", "code": "XX"}


def search_locations(request: Request) -> Response:
    """GET /locations/search: by name, not by code (our choice: undocumented for codes)."""
    query = request.parse_query({"term": text()}, _QUERY_CHECKS)
    term = query["term"].casefold()
    rows = []
    for row in build_locations(query.get("locationsVersion", "V1")).values():
        name = row["name"].casefold()
        country = row.get("parent", row)["code"].strip()
        if (
            (name == term if query.get("exactMatch") else term in name)
            and row["geoType"] in query.get("include", LOCATION_TYPES)
            and row["geoType"] not in query.get("exclude", ())
            and query.get("country", country) == country
        ):
            rows.append(dict(row))
    return build_response(request, {"geoLocations": rows[: query.get("limit", 300)]})
