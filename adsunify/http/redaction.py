"""Removes secrets and characters that databases refuse from texts of a network before they are stored or shown."""

from __future__ import annotations

import re
from collections.abc import Mapping

from adsunify.errors import NativeErrorDetails

MAX_TEXT_LENGTH = 2_000
MAX_CODE_LENGTH = 200

REDACTED = "[redacted]"

SECRET_NAME_PATTERN = re.compile(
    r"token|secret|password|passwd|authorization|api_?-?key|private_?-?key|credential|cookie", re.I
)
"""Matches the name of a member that may hold a secret."""
_SECRET_TEXT_PATTERN = re.compile(
    r"((?:token|secret|password|api_?key|signature|proof)[\w-]{0,40}(?:=|[\"']\s*:\s*[\"']))[^&\s\"'<>]+"
    r"|((?:token|bearer)\W{1,3})(?=[\w.|~+/=-]{0,128}[0-9])[\w.|~+/=-]{16,}",
    re.I,
)
"""Matches ``name=secret``, ``"name": "secret"``, and a token in a sentence (Meta: "Malformed access token EAAB").

A token has a digit among its first 129 characters, which distinguishes it from prose. The bound keeps the search
linear.
"""
UNSTORABLE_PATTERN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
"""Matches the characters that PostgreSQL or UTF-8 cannot hold, and control characters."""

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
"""The headers in which networks return the id of a request; the first one present counts."""


def redact_text(text: object, longest: int = MAX_TEXT_LENGTH) -> str:
    """Return a text that may be stored: cut to ``longest`` characters, with secrets redacted."""
    redacted = _SECRET_TEXT_PATTERN.sub(rf"\1\2{REDACTED}", str(text)[:longest])
    return UNSTORABLE_PATTERN.sub("\ufffd", redacted)


def redact_error(error: NativeErrorDetails) -> NativeErrorDetails:
    """Return a native error whose texts may be stored."""
    return NativeErrorDetails(
        None if error.code is None else redact_text(error.code, MAX_CODE_LENGTH),
        None if error.message is None else redact_text(error.message),
        None if error.request_id is None else redact_text(error.request_id, MAX_CODE_LENGTH),
        error.status,
    )


def find_request_id(headers: Mapping[str, str]) -> str | None:
    """Return the network's id of the request from the headers of the response; None if there is no such header."""
    for name in REQUEST_ID_HEADERS:
        if headers.get(name):
            return redact_text(headers[name], MAX_CODE_LENGTH)
    return None
