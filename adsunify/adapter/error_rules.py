"""Reads a network's error responses with its ERRORS table: the rule that fits, and the error for the caller."""

from __future__ import annotations

from functools import lru_cache

from adsunify.adapter.network import Blame, ErrorRule, Network, ParsedError, Verdict
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
from adsunify.http.redaction import MAX_CODE_LENGTH, redact_error
from adsunify.http.retry_after import parse_retry_after
from adsunify.plans.records import StepAction

_TIMEOUT_STATUSES = (408, 460, 499)
"""Somebody on the way stopped waiting (a server, a load balancer, Google's CANCELLED); the write may go on."""


def match_error_rule(
    network: Network, parsed: ParsedError | None, status: int, action: StepAction | None
) -> ErrorRule | None:
    """The ERRORS row that speaks of an error: by its codes, most specific first; then a row for exactly this status."""
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
    """Whether the row counts for this step action; reads (None) take rows that name no action."""
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


def make_native_error(response: Response, parsed: ParsedError | None) -> NativeError:
    """The network's own error as it goes into receipts and error bodies: bounded, secrets redacted."""
    if parsed is None:
        return NativeError(status=response.status)
    return redact_error(NativeError(_get_first_code(parsed), parsed.message, parsed.request_id, response.status))


def read_retry_delay(network: Network, response: Response) -> float | None:
    """Seconds to wait: what the network's own figures say, else ``Retry-After`` (seconds or a date; never negative)."""
    delay = network.parse_retry_delay(response)
    return parse_retry_after(response.headers) if delay is None else delay


_ERRORS_BY_BLAME: dict[Blame, type[ProviderError]] = {
    "token": TokenRefused,
    "permission": PermissionRefused,
    "not_found": ProviderNotFound,
}


def find_read_error(network: Network, response: Response) -> ProviderError | None:
    """The error to raise for the answer to a READ, None where it is good."""
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
