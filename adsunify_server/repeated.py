"""Refuses what a request may say once and says twice: readers disagree about which one counts."""

from __future__ import annotations

from typing import Any

from multidict import MultiMapping

from adsunify.errors import AdsunifyError, InvalidInput, Issue

from .problems import http_problem

SINGLE_HEADERS = ("Authorization", "Content-Type", "Host", "MCP-Protocol-Version", "Origin", "Sec-Fetch-Site")
"""Headers that stand once in a request. ``Idempotency-Key`` is checked with the other input of its endpoint."""


def find_repeated_header(headers: MultiMapping[str]) -> AdsunifyError | None:
    """The refusal (400) of a request that has a header of :data:`SINGLE_HEADERS` twice; None where it has none."""
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
