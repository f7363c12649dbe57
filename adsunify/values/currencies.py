"""Currencies: every current ISO 4217 code with its minor-unit exponent, as published on 2026-01-01.

The table follows ISO 4217 and not CLDR, whose customary digits differ from the standard for 13 currencies.
"""

from __future__ import annotations

from adsunify.errors import invalid_input

_CODES_BY_EXPONENT: dict[int | None, str] = {
    0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
    2: """
        AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW CNY
        COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS
        INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR
        MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP
        STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XAD XCD XCG YER ZAR ZMW ZWG
    """,
    3: "BHD IQD JOD KWD LYD OMR TND",
    4: "CLF UYW",
    # Metals, units of account and test codes have no minor unit, so amounts in them are refused.
    None: "XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XTS XUA XXX",
}

EXPONENTS: dict[str, int | None] = {
    code: exponent for exponent, codes in _CODES_BY_EXPONENT.items() for code in codes.split()
}
"""Code -> fraction digits of its minor unit; None if ISO 4217 says "not applicable"."""


def get_exponent(currency: str, path: str = "budget.currency") -> int:
    """Return the number of fraction digits of the currency's minor unit (USD 2, JPY 0, KWD 3).

    Raises:
        InvalidInput: ``unknown_currency``; the code is not a current ISO 4217 code of a currency with a minor unit.
    """
    digits = EXPONENTS.get(currency)
    if digits is None:
        raise invalid_input(path, "unknown_currency", "must be a current ISO 4217 currency code, such as EUR.")
    return digits
