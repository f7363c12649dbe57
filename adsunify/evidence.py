"""What is kept of a network's answer: bounded, without secrets, and such that every database takes it.

Answers are hostile input. Text that is kept loses lone surrogates and control characters (a database refuses them, and
the receipt would be lost with them); what is kept of a body is at most ``RESPONSE_BYTES`` of JSON text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal

from .errors import NativeError
from .operation import RESPONSE_BYTES, ItemReceipt
from .steps import Outputs
from .wire import Json, Response, dumps, quoted

LONGEST_ID = 1_000
LONGEST_TEXT = 2_000
LONGEST_CODE = 200
DEEPEST = 32
FIRST_WAIT = 2_000
LONGEST_WAIT = 24 * 60 * 60 * 1000
"""Milliseconds: the wait after a first throttled attempt where the network does not say (doubled for each further one,
up to a minute), and the longest wait that is believed."""

REDACTED = "[redacted]"
CUT = "[cut]"
_RESERVE = 1024

_SECRET_NAME = re.compile(
    r"token|secret|password|passwd|authorization|api_?-?key|private_?-?key|credential|cookie", re.I
)
_SECRET_IN_TEXT = re.compile(
    r"((?:token|secret|password|api_?key|signature|proof)[\w-]{0,40}(?:=|[\"']\s*:\s*[\"']))[^&\s\"'<>]+"
    r"|((?:token|bearer)\W{1,3})(?=[\w.|~+/=-]{0,128}[0-9])[\w.|~+/=-]{16,}",
    re.I,
)
"""``name=secret``, ``"name": "secret"``, and a token that a sentence repeats (Meta: "Malformed access token EAAB").

A token has a digit among its first 129 characters, which tells it from prose. The bound keeps the search linear.
"""
_UNKEPT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")

REQUEST_ID_HEADERS = (
    "x-request-id",
    "request-id",
    "x-amzn-requestid",
    "x-amz-request-id",
    "x-fb-request-id",
    "x-fb-trace-id",
    "x-li-uuid",
    "x-tt-logid",
    "x-transaction-id",
)
"""Where networks name the request, the first that is there."""


def text_kept(text: object, longest: int = LONGEST_TEXT) -> str:
    """Text as it may be kept: bounded, storable, secrets redacted."""
    kept = _SECRET_IN_TEXT.sub(rf"\1\2{REDACTED}", str(text)[:longest])
    return _UNKEPT.sub("\ufffd", kept)


def error_kept(error: NativeError) -> NativeError:
    """A native error as it may be kept."""
    return NativeError(
        None if error.code is None else text_kept(error.code, LONGEST_CODE),
        None if error.message is None else text_kept(error.message),
        None if error.request_id is None else text_kept(error.request_id, LONGEST_CODE),
        error.status,
    )


def request_id(headers: Mapping[str, str]) -> str | None:
    """The network's name of the request, from the headers of its answer."""
    for name in REQUEST_ID_HEADERS:
        if headers.get(name):
            return text_kept(headers[name], LONGEST_CODE)
    return None


def sound(outputs: Outputs, items: Sequence[ItemReceipt]) -> bool:
    """Whether every id is one: printable text of at most 1,000 characters."""
    ids = [item.id for item in items if item.id is not None]
    for value in outputs.values():
        ids += [value] if isinstance(value, str) else value
    return all(isinstance(one, str) and len(one) <= LONGEST_ID and one.isprintable() for one in ids)


def milliseconds(seconds: float | None, attempt: int) -> int:
    """How long to wait, from what a network said (hostile: anything) or did not say."""
    if seconds is None or not 0 <= seconds < float("inf"):
        return min(60_000, FIRST_WAIT << min(attempt - 1, 5))
    return int(min(seconds * 1000, LONGEST_WAIT))


def response_kept(response: Response) -> Json:
    """What a receipt keeps of the body: secrets redacted by member name, cut to ``RESPONSE_BYTES`` of JSON text."""
    if response.state in ("empty", "bytes"):
        return None
    return _Keeping(RESPONSE_BYTES - _RESERVE).kept(response.body, 0)


class _Keeping:
    """One walk over a body with a budget of characters: whatever does not fit is left out, and says so."""

    def __init__(self, budget: int) -> None:
        self.budget = budget

    def kept(self, value: Json, depth: int) -> Json:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, Mapping):
            return self._object(value, depth)
        if isinstance(value, list):
            return self._list(value, depth)
        if value is None or isinstance(value, bool | int | Decimal):
            self.budget -= len(dumps(value)) + 1
            return value
        return CUT

    def _text(self, value: str) -> str:
        left = max(0, self.budget)
        text, cut = text_kept(value, left), len(value) > left
        if len(quoted(text)) > left:  # one character may be written as twelve
            text, cut = text[: left // 12], True
        self.budget -= len(quoted(text)) + 1
        return text + CUT if cut else text

    def _object(self, value: Mapping[str, Json], depth: int) -> Json:
        if depth >= DEEPEST:
            self.budget -= 8
            return CUT
        kept: dict[str, Json] = {}
        self.budget -= 3
        for name, member in value.items():
            name = _UNKEPT.sub("\ufffd", name[:LONGEST_ID])
            self.budget -= len(quoted(name)) + 2
            if self.budget <= 0:
                kept[CUT] = True
                break
            secret = isinstance(member, str | Mapping | list) and _SECRET_NAME.search(name) is not None
            self.budget -= len(REDACTED) + 3 if secret else 0
            kept[name] = REDACTED if secret else self.kept(member, depth + 1)
        return kept

    def _list(self, value: list[Json], depth: int) -> Json:
        if depth >= DEEPEST:
            self.budget -= 8
            return CUT
        kept: list[Json] = []
        self.budget -= 3
        for member in value:
            if self.budget <= 0:
                kept.append(CUT)
                break
            kept.append(self.kept(member, depth + 1))
        return kept
