"""Country codes: the official ISO 3166-1 alpha-2 codes, as the tz database lists them (iso3166.tab, public domain).

User-assigned codes (XX, ZZ) and exceptional reservations (UK, EU) are not official and are refused. There is one
exception: Kosovo has no official code, and some networks accept the user-assigned XK (Google's geo target 2900).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from pkgutil import get_data

from adsunify.errors import invalid_input

KOSOVO = "XK"
COUNTRY_FORM = "an ISO 3166-1 alpha-2 country code in capitals, such as US"

_CORRECTIONS = {
    "AN": "CW", "BU": "MM", "CS": "CZ", "DA": "DK", "DD": "DE", "EL": "GR", "EN": "GB", "FX": "FR", "JA": "JP",
    "KO": "KR", "RC": "TW", "SF": "FI", "SP": "ES", "SU": "RU", "TP": "TL", "UK": "GB", "YU": "RS", "ZH": "CN",
    "ZR": "CD",
}  # fmt: skip
"""Wrong code -> the code that was probably meant: codes of other lists, language codes, former codes."""


@cache
def load_country_names() -> Mapping[str, str]:
    """Return every official code with the country's English name."""
    table = get_data("tzdata", "zoneinfo/iso3166.tab") or b""
    rows = (line.partition("\t") for line in table.decode().splitlines() if not line.startswith("#"))
    return {code: name for code, _, name in rows}


@cache
def load_country_codes() -> frozenset[str]:
    """Return every official code."""
    return frozenset(load_country_names())


def parse_country_code(location: str) -> str:
    """Return the country code of a location id such as US, us or country:US."""
    return location.rpartition(":")[2].upper()


def require_country_code(code: str, path: str, others: Collection[str] = ()) -> str:
    """Return ``code`` if it is an official country code or one of ``others``.

    Raises:
        InvalidInput: ``unknown_country``; the message suggests the code that was probably meant.
    """
    if code in load_country_codes() or code in others:
        return code
    correction = _CORRECTIONS.get(code)
    hint = "" if correction is None else f" Did you mean {correction}?"
    raise invalid_input(path, "unknown_country", f"must be {COUNTRY_FORM}.{hint}")
