"""Refuses requests that repeat a header or parameter: programs disagree about which value counts."""

from __future__ import annotations

from typing import Any

from multidict import MultiMapping

from adsunify.errors import AdsunifyError, InvalidInput, Issue

from .problems import http_problem

SINGLE_HEADERS = ("Authorization", "Content-Type", "Host", "MCP-Protocol-Version", "Origin", "Sec-Fetch-Site")
"""Headers that a request may have only once. ``Idempotency-Key`` is checked with the endpoint's other input."""


def find_repeated_header(headers: MultiMapping[str]) -> AdsunifyError | None:
    """Return the error (400) of a request that repeats a header of :data:`SINGLE_HEADERS`; None for other requests."""
    for name in SINGLE_HEADERS:
        if len(headers.getall(name, ())) > 1:
            error = http_problem(400)
            error.message = f"The header {name} must be given once."
            return error
    return None


def check_not_repeated(members: MultiMapping[Any]) -> None:
    """Raise InvalidInput for every member of a query or form that is given more than once."""
    if len(set(members)) < len(members):
        names = (name for name in dict.fromkeys(members) if len(members.getall(name)) > 1)
        raise InvalidInput([Issue(name, "repeated", "must be given once.") for name in names])
