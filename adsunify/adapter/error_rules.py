"""Reads a network's error responses with its ERRORS table: the rule that fits, and the error for the caller."""

from __future__ import annotations

from functools import lru_cache

from adsunify.adapter.network import Blame, ErrorRule, Found, Network, Verdict
from adsunify.errors import (
    NativeError,
    PermissionRefused,
    ProviderError,
    ProviderNotFound,
    ProviderThrottled,
    ProviderUnreadable,
    TokenRefused,
)
from adsunify.http.messages import Response
from adsunify.http.redaction import error_kept
from adsunify.http.retry_after import parse_retry_after
from adsunify.plans.records import StepAction

_GIVEN_UP = (408, 460, 499)
"""Somebody on the way stopped waiting (a server, a load balancer, Google's CANCELLED); the write may go on."""


LONGEST_CODE = 200
"""Characters of an error code that a rule can name; a longer one is not remembered."""


def rule_for(network: Network, found: Found | None, status: int, action: StepAction | None) -> ErrorRule | None:
    """The ERRORS row that speaks of an error: by its codes, most specific first; then a row for exactly this status."""
    for code in found.codes if found is not None else ():
        for rule in network.errors:
            if (
                len(code) <= LONGEST_CODE
                and _covers(rule.codes, code)
                and rule.status in (None, status)
                and action_fits(rule, action)
            ):
                return rule
    for rule in network.errors:
        if not rule.codes and rule.status == status and action_fits(rule, action):
            return rule
    return None


def action_fits(rule: ErrorRule, action: StepAction | None) -> bool:
    """Whether the row counts for this step action; reads (None) take rows that name no action."""
    return not rule.actions or action in rule.actions


@lru_cache(4096)
def _covers(codes: tuple[str, ...], code: str) -> bool:
    if code in codes:
        return True
    if not (code.isascii() and code.isdigit() and len(code) < 12):
        return False
    ranges = [one.split("-") for one in codes if one.replace("-", "", 1).isdigit() and "-" in one]
    return any(int(low) <= int(code) <= int(high) for low, high in ranges)


def _code(found: Found | None) -> str | None:
    return found.codes[0] if found is not None and found.codes else None


def native(response: Response, found: Found | None) -> NativeError:
    """The network's own error as it goes into receipts and error bodies: bounded, secrets redacted."""
    if found is None:
        return NativeError(status=response.status)
    return error_kept(NativeError(_code(found), found.message, found.request_id, response.status))


def wait(network: Network, response: Response) -> float | None:
    """Seconds to wait: what the network's own figures say, else ``Retry-After`` (seconds or a date; never negative)."""
    asked = network.wait(response)
    return parse_retry_after(response.headers) if asked is None else asked


_FAILURES: dict[Blame, type[ProviderError]] = {
    "token": TokenRefused,
    "permission": PermissionRefused,
    "not_found": ProviderNotFound,
}


def failure(network: Network, response: Response) -> ProviderError | None:
    """The error to raise for the answer to a READ, None where it is good."""
    found = network.error(response) if response.state == "json" else None
    if response.status < 300 and found is None and response.state != "unreadable":
        return None
    error = native(response, found)
    rule = rule_for(network, found, response.status, None)
    verdict: Verdict | None = rule.verdict if rule is not None else None
    text = error.message or f"The network answered {response.status}."
    text = f"{network.title}: {text}"
    if response.status == 401 and rule is None:
        return TokenRefused(text, native=error)
    if verdict == "throttled" or (rule is None and response.status == 429):
        return ProviderThrottled(text, native=error, retry_after=wait(network, response))
    if rule is not None and rule.verdict == "rejected" and response.status < 500:
        return _FAILURES.get(rule.blame, ProviderError)(text, native=error)
    if response.status >= 500 or response.status in _GIVEN_UP or response.status < 400 or verdict == "ambiguous":
        return ProviderUnreadable(text, native=error)
    blame: Blame = "permission" if response.status == 403 else "not_found" if response.status == 404 else "input"
    return _FAILURES.get(blame, ProviderError)(text, native=error)
