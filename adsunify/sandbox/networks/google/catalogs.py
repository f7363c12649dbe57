"""What every simulated account has: demo accounts, currencies, languages, places, conversion actions, user lists."""

import re
from collections.abc import Mapping
from typing import Any

from adsunify.sandbox.parsing import parse_names
from adsunify.sandbox.world import Account

MANAGER_ID = "5550001110"


def _make_account(
    number: str,
    name: str,
    currency: str,
    timezone: str,
    manager: str | None = None,
    *,
    clients: bool = False,
    test: bool = False,
    status: str = "ENABLED",
) -> Account:
    extra = {"manager": manager, "clients": clients, "test": test, "status": status}
    return Account(number, name, currency, timezone, extra)


# Two clients of a manager, an account that the user reaches directly, and a closed account, which answers
# CUSTOMER_NOT_ENABLED.
ACCOUNTS = (
    _make_account("5550001111", "Demo United States", "USD", "America/New_York", MANAGER_ID, test=True),
    _make_account("5550001112", "Demo Japan", "JPY", "Asia/Tokyo", MANAGER_ID, test=True),
    _make_account("5550002221", "Demo Germany", "EUR", "Europe/Berlin"),
    _make_account(MANAGER_ID, "Demo Manager", "USD", "America/New_York", clients=True, test=True),
    _make_account("5550003331", "Demo Closed", "GBP", "Europe/London", status="CANCELED"),
)

# code -> name, symbol, billable unit in micros; 10^(6 - ISO exponent), unverified per currency
CURRENCIES: Mapping[str, tuple[str, str, int]] = {
    "AUD": ("Australian Dollar", "A$", 10_000),
    "BRL": ("Brazilian Real", "R$", 10_000),
    "CAD": ("Canadian Dollar", "CA$", 10_000),
    "CHF": ("Swiss Franc", "CHF", 10_000),
    "CZK": ("Czech Koruna", "Kč", 10_000),
    "DKK": ("Danish Krone", "kr", 10_000),
    "EUR": ("Euro", "€", 10_000),
    "GBP": ("British Pound", "£", 10_000),
    "INR": ("Indian Rupee", "₹", 10_000),
    "JPY": ("Japanese Yen", "¥", 1_000_000),
    "KRW": ("South Korean Won", "₩", 1_000_000),
    "MXN": ("Mexican Peso", "MX$", 10_000),
    "NOK": ("Norwegian Krone", "kr", 10_000),
    "NZD": ("New Zealand Dollar", "NZ$", 10_000),
    "PLN": ("Polish Zloty", "zł", 10_000),
    "SEK": ("Swedish Krona", "kr", 10_000),
    "USD": ("US Dollar", "$", 10_000),
    "VND": ("Vietnamese Dong", "₫", 1_000_000),
}
# id -> code, name, targetable
LANGUAGES: Mapping[int, tuple[str, str, bool]] = {
    1000: ("en", "English", True),
    1001: ("de", "German", True),
    1002: ("fr", "French", True),
    1003: ("es", "Spanish", True),
    1004: ("it", "Italian", True),
    1005: ("ja", "Japanese", True),
    1009: ("da", "Danish", True),
    1010: ("nl", "Dutch", True),
    1013: ("no", "Norwegian", True),
    1014: ("pt", "Portuguese", True),
    1015: ("sv", "Swedish", True),
    1999: ("xx", "Untargetable", False),
}

# country code and ISO numeric; the geo target is 2000 more. Google Ads lacks some ISO codes, so four are missing
_COUNTRY_NUMBERS = (
    "AD20 AE784 AF4 AG28 AI660 AL8 AM51 AO24 AQ10 AR32 AS16 AT40 AU36 AW533 AX248 AZ31 BA70 BB52 BD50 BE56 BF854 "
    "BG100 BH48 BI108 BJ204 BL652 BM60 BN96 BO68 BQ535 BR76 BS44 BT64 BV74 BW72 BY112 BZ84 CA124 CC166 CD180 CF140 "
    "CG178 CH756 CI384 CK184 CL152 CM120 CN156 CO170 CR188 CV132 CW531 CX162 CY196 CZ203 DE276 DJ262 DK208 DM212 "
    "DO214 DZ12 EC218 EE233 EG818 EH732 ER232 ES724 ET231 FI246 FJ242 FK238 FM583 FO234 FR250 GA266 GB826 GD308 GE268 "
    "GF254 GG831 GH288 GI292 GL304 GM270 GN324 GP312 GQ226 GR300 GS239 GT320 GU316 GW624 GY328 HK344 HM334 HN340 "
    "HR191 HT332 HU348 ID360 IE372 IL376 IM833 IN356 IO86 IQ368 IS352 IT380 JE832 JM388 JO400 JP392 KE404 KG417 KH116 "
    "KI296 KM174 KN659 KR410 KW414 KY136 KZ398 LA418 LB422 LC662 LI438 LK144 LR430 LS426 LT440 LU442 LV428 LY434 "
    "MA504 MC492 MD498 ME499 MF663 MG450 MH584 MK807 ML466 MM104 MN496 MO446 MP580 MQ474 MR478 MS500 MT470 MU480 "
    "MV462 MW454 MX484 MY458 MZ508 NA516 NC540 NE562 NF574 NG566 NI558 NL528 NO578 NP524 NR520 NU570 NZ554 OM512 "
    "PA591 PE604 PF258 PG598 PH608 PK586 PL616 PM666 PN612 PR630 PS275 PT620 PW585 PY600 QA634 RE638 RO642 RS688 "
    "RU643 RW646 SA682 SB90 SC690 SD729 SE752 SG702 SH654 SI705 SJ744 SK703 SL694 SM674 SN686 SO706 SR740 SS728 ST678 "
    "SV222 SX534 SZ748 TC796 TD148 TF260 TG768 TH764 TJ762 TK772 TL626 TM795 TN788 TO776 TR792 TT780 TV798 TW158 "
    "TZ834 UA804 UG800 UM581 US840 UY858 UZ860 VA336 VC670 VE862 VG92 VI850 VN704 VU548 WF876 WS882 XK900 YE887 YT175 "
    "ZA710 ZM894 ZW716 "
)
COUNTRIES: Mapping[int, str] = {
    2000 + int(number): code for code, number in re.findall("([A-Z]{2})([0-9]+)", _COUNTRY_NUMBERS)
}
_EU_COUNTRIES = set(re.findall("..", "ATBEBGHRCYCZDKEEFIFRDEGRHUIEITLVLTLUMTNLPLPTROSKSIESSE"))
_REGION_COUNTRIES = {"GL", "GI", "HK"}  # ISO calls them countries, Google calls them `Region`
_COUNTRY_NAMES = parse_names("""
    DE Germany, DK Denmark, FR France, GB United Kingdom, JP Japan, NO Norway, SE Sweden, US United States
""")
# id -> name, canonical name, country, type
LOCATIONS: Mapping[int, tuple[str, str, str, str]] = {
    1003854: ("Berlin", "Berlin,Berlin,Germany", "DE", "City"),
    1006886: ("London", "London,England,United Kingdom", "GB", "City"),
    1009248: ("Tokyo", "Tokyo,Tokyo,Japan", "JP", "City"),
    1010826: ("Bergen", "Bergen,Vestland,Norway", "NO", "City"),
    1010850: ("Oslo", "Oslo,Oslo,Norway", "NO", "City"),
    1012511: ("Stockholm", "Stockholm,Stockholm County,Sweden", "SE", "City"),
    1023191: ("New York", "New York,New York,United States", "US", "City"),
    1018127: ("Bergen", "Bergen,New York,United States", "US", "City"),
    21167: ("New York", "New York,United States", "US", "State"),
    21137: ("California", "California,United States", "US", "State"),
}

# name, category, origin, type, status; `rows` numbers them from 7001
CONVERSION_ACTIONS = (
    ("Purchase", "PURCHASE", "WEBSITE", "WEBPAGE", "ENABLED"),
    ("Sign-up", "SIGNUP", "WEBSITE", "WEBPAGE", "ENABLED"),
    ("Call from an ad", "PHONE_CALL_LEAD", "CALL_FROM_ADS", "AD_CALL", "ENABLED"),
    ("Old contact form", "CONTACT", "WEBSITE", "WEBPAGE", "REMOVED"),
)
CONVERSION_GOALS = tuple(
    (category, origin) for _, category, origin, _, status in CONVERSION_ACTIONS if status == "ENABLED"
)
USER_LISTS = (("All visitors", 12_500, "OPEN"), ("Customers", 830, "OPEN"), ("Old list", 0, "CLOSED"))


def get_billable_unit(account: Account) -> int:
    """The billable unit of an account's currency, in micros."""
    return CURRENCIES[account.currency][2]


def find_geo_target(id: int) -> dict[str, Any] | None:  # noqa: A002 - the word of the network
    """The geo target constant of an id: a country, a place of the table, or any other id of seven digits."""
    if id in COUNTRIES:
        code = COUNTRIES[id]
        name = canonical = _COUNTRY_NAMES.get(code, code)
        kind = "Region" if code in _REGION_COUNTRIES else "Country"
    elif id in LOCATIONS:
        name, canonical, code, kind = LOCATIONS[id]
    elif 1_000_000 <= id <= 9_999_999:
        name, canonical, code, kind = f"Place {id}", f"Place {id},United States", "US", "City"
    else:
        return None
    return {
        "resourceName": f"geoTargetConstants/{id}",
        "id": id,
        "name": name,
        "canonicalName": canonical,
        "countryCode": code,
        "targetType": kind,
        "status": "ENABLED",
        "requireEuPoliticalAdvertisingDeclaration": code in _EU_COUNTRIES,
    }
