"""Parameters that a launch adds to the landing page address of an ad."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote, unquote_plus


def list_parameter_names(url: str) -> set[str]:
    """Return the decoded names of the parameters in the query of an address."""
    query = url.partition("#")[0].partition("?")[2]
    return {unquote_plus(pair.partition("=")[0]) for pair in query.split("&") if pair}


def add_parameters(url: str, parameters: Mapping[str, str]) -> str:
    """Append parameters to the query of an address, percent-encoded (RFC 3986, section 2.1).

    The rest of the address stays as it is, because networks use braces in it for macros.
    """
    address, mark, fragment = url.partition("#")
    separator = "?" if "?" not in address else "" if address[-1] in "?&" else "&"
    query = "&".join(f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in parameters.items())
    return f"{address}{separator}{query}{mark}{fragment}"
