"""Reads a network's error responses with its ERRORS table: finds the matching rule, and makes the error to raise."""

from __future__ import annotations

from functools import lru_cache

from adsunify.adapter.network import Blame, ErrorRule, Network, ParsedError, Verdict
from adsunify.errors import (
    NativeErrorDetails,
    PermissionRefused,
    ProviderError,
    ProviderNotFound,
    ProviderThrottled,
    ProviderUnreadable,
    TokenRefused,
)
from adsunify.http.messages import Response
from adsunify.http.redaction import MAX_CODE_LENGTH, redact_error
from adsunify.http.retry_after import parse_retry_after
from adsunify.plans.records import StepAction

_TIMEOUT_STATUSES = (408, 460, 499)
"""Statuses of a server, a load balancer or Google (CANCELLED) that stopped waiting. The write may still be applied."""


def match_error_rule(
    network: Network, parsed: ParsedError | None, status: int, action: StepAction | None
) -> ErrorRule | None:
    """Return the ERRORS row of an error. Its codes are tried first, most specific first; then the HTTP status."""
    for code in parsed.codes if parsed is not None else ():
        for rule in network.errors:
            if (
                len(code) <= MAX_CODE_LENGTH
                and _is_code_covered(rule.codes, code)
                and rule.status in (None, status)
                and is_rule_for_action(rule, action)
            ):
                return rule
    for rule in network.errors:
        if not rule.codes and rule.status == status and is_rule_for_action(rule, action):
            return rule
    return None


def is_rule_for_action(rule: ErrorRule, action: StepAction | None) -> bool:
    """Whether the row applies to this step action. Only rows without actions apply to reads (None)."""
    return not rule.actions or action in rule.actions


@lru_cache(4096)
def _is_code_covered(codes: tuple[str, ...], code: str) -> bool:
    if code in codes:
        return True
    if not (code.isascii() and code.isdigit() and len(code) < 12):
        return False
    ranges = [entry.split("-") for entry in codes if entry.replace("-", "", 1).isdigit() and "-" in entry]
    return any(int(low) <= int(code) <= int(high) for low, high in ranges)


def _get_first_code(parsed: ParsedError | None) -> str | None:
    return parsed.codes[0] if parsed is not None and parsed.codes else None


def make_native_error(response: Response, parsed: ParsedError | None) -> NativeErrorDetails:
    """Make the native error for receipts and problem details: bounded, with secrets redacted."""
    if parsed is None:
        return NativeErrorDetails(status=response.status)
    return redact_error(NativeErrorDetails(_get_first_code(parsed), parsed.message, parsed.request_id, response.status))


def read_retry_delay(network: Network, response: Response) -> float | None:
    """Return the seconds to wait, from the network's own members or from ``Retry-After``; None if neither exists."""
    delay = network.parse_retry_delay(response)
    return parse_retry_after(response.headers) if delay is None else delay


_ERRORS_BY_BLAME: dict[Blame, type[ProviderError]] = {
    "token": TokenRefused,
    "permission": PermissionRefused,
    "not_found": ProviderNotFound,
}


def find_read_error(network: Network, response: Response) -> ProviderError | None:
    """Return the error of the response to a read; None if the response is a success."""
    parsed = network.parse_error(response) if response.state == "json" else None
    if response.status < 300 and parsed is None and response.state != "unreadable":
        return None
    error = make_native_error(response, parsed)
    rule = match_error_rule(network, parsed, response.status, None)
    verdict: Verdict | None = rule.verdict if rule is not None else None
    text = error.message or f"The network answered {response.status}."
    text = f"{network.title}: {text}"
    if response.status == 401 and rule is None:
        return TokenRefused(text, native=error)
    if verdict == "throttled" or (rule is None and response.status == 429):
        return ProviderThrottled(text, native=error, retry_after=read_retry_delay(network, response))
    if rule is not None and rule.verdict == "rejected" and response.status < 500:
        return _ERRORS_BY_BLAME.get(rule.blame, ProviderError)(text, native=error)
    if (
        response.status >= 500
        or response.status in _TIMEOUT_STATUSES
        or response.status < 400
        or verdict == "ambiguous"
    ):
        return ProviderUnreadable(text, native=error)
    blame: Blame = "permission" if response.status == 403 else "not_found" if response.status == 404 else "input"
    return _ERRORS_BY_BLAME.get(blame, ProviderError)(text, native=error)
