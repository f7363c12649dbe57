"""Makes a network's response fit for a receipt: bounded, without secrets, and storable in every database.

Responses are hostile input. A receipt stores at most ``MAX_STORED_RESPONSE_BYTES`` of JSON text of a body.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from adsunify.execution.state import MAX_STORED_RESPONSE_BYTES, ItemReceipt
from adsunify.http.messages import Response
from adsunify.http.redaction import REDACTED, SECRET_NAME_PATTERN, UNSTORABLE_PATTERN, redact_text
from adsunify.plans.records import Outputs
from adsunify.values.exact_json import Json, dumps, quote_string

MAX_ID_LENGTH = 1_000
MAX_DEPTH = 32
DEFAULT_RETRY_DELAY_MS = 2_000
MAX_RETRY_DELAY_MS = 24 * 60 * 60 * 1000
"""The wait after a first throttled attempt if the network gives no time, and the longest wait that is accepted.

The first one is doubled for each further attempt, up to a minute.
"""
TRUNCATED = "[cut]"
_BUDGET_RESERVE = 1024


def has_valid_ids(outputs: Outputs, items: Sequence[ItemReceipt]) -> bool:
    """Whether every id is printable text of at most 1,000 characters."""
    ids = [item.id for item in items if item.id is not None]
    for value in outputs.values():
        ids += [value] if isinstance(value, str) else value
    return all(isinstance(id_, str) and len(id_) <= MAX_ID_LENGTH and id_.isprintable() for id_ in ids)


def to_retry_delay_ms(seconds: float | None, attempt: int) -> int:
    """Return the time to wait in milliseconds. ``seconds`` comes from the network: any number, or None."""
    if seconds is None or not 0 <= seconds < float("inf"):
        return min(60_000, DEFAULT_RETRY_DELAY_MS << min(attempt - 1, 5))
    return int(min(seconds * 1000, MAX_RETRY_DELAY_MS))


def redact_response(response: Response) -> Json:
    """Return the body as a receipt stores it.

    Secrets are redacted by member name. The body is cut to ``MAX_STORED_RESPONSE_BYTES`` of JSON text.
    """
    if response.state in ("empty", "bytes"):
        return None
    return _BodyRedactor(MAX_STORED_RESPONSE_BYTES - _BUDGET_RESERVE).redact(response.body, 0)


class _BodyRedactor:
    """Copies a body within a budget of characters. Parts that do not fit are replaced by a marker."""

    def __init__(self, budget: int) -> None:
        self.budget = budget

    def redact(self, value: Json, depth: int) -> Json:
        if isinstance(value, str):
            return self._redact_text(value)
        if isinstance(value, Mapping):
            return self._redact_object(value, depth)
        if isinstance(value, list):
            return self._redact_list(value, depth)
        if value is None or isinstance(value, bool | int | Decimal):
            self.budget -= len(dumps(value)) + 1
            return value
        return TRUNCATED

    def _redact_text(self, value: str) -> str:
        remaining = max(0, self.budget)
        text, cut = redact_text(value, remaining), len(value) > remaining
        if len(quote_string(text)) > remaining:  # JSON may need twelve characters for one
            text, cut = text[: remaining // 12], True
        self.budget -= len(quote_string(text)) + 1
        return text + TRUNCATED if cut else text

    def _redact_object(self, value: Mapping[str, Json], depth: int) -> Json:
        if depth >= MAX_DEPTH:
            self.budget -= 8
            return TRUNCATED
        redacted: dict[str, Json] = {}
        self.budget -= 3
        for name, member in value.items():
            name = UNSTORABLE_PATTERN.sub("\ufffd", name[:MAX_ID_LENGTH])
            self.budget -= len(quote_string(name)) + 2
            if self.budget <= 0:
                redacted[TRUNCATED] = True
                break
            secret = isinstance(member, str | Mapping | list) and SECRET_NAME_PATTERN.search(name) is not None
            self.budget -= len(REDACTED) + 3 if secret else 0
            redacted[name] = REDACTED if secret else self.redact(member, depth + 1)
        return redacted

    def _redact_list(self, value: list[Json], depth: int) -> Json:
        if depth >= MAX_DEPTH:
            self.budget -= 8
            return TRUNCATED
        redacted: list[Json] = []
        self.budget -= 3
        for member in value:
            if self.budget <= 0:
                redacted.append(TRUNCATED)
                break
            redacted.append(self.redact(member, depth + 1))
        return redacted
