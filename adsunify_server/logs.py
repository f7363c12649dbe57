"""Log lines in JSON or text. Each names its request, operation and trace; none holds a secret.

The code never logs a body, a query, a header or a requested path. As a second defence, this module redacts whatever
looks like a secret of ours in every line and traceback.
"""

from __future__ import annotations

import json
import logging
import re
import sys
from datetime import UTC, datetime
from typing import Literal, TextIO

from adsunify.service.authentication import REQUEST_CONTEXT, RequestContext
from adsunify.telemetry.tracing import OPERATION_ID, TRACE_ID

LogFormat = Literal["text", "json"]
LEVELS = ("debug", "info", "warning", "error")
LOG_MEMBERS = "members"
"""The attribute of a log record that holds the members of its line."""
REDACTED = "[redacted]"
_VALUE = r"[^\s\"'&,;\\]+"
_SECRET_PATTERNS = tuple(
    (marks.split(), re.compile(pattern, re.IGNORECASE))
    for marks, pattern in {
        "adu_": r"()\badu_[a-z0-9]{8}_[a-z0-9_-]{8,}",
        "ada_ adr_": r"()\bad[ar]_[a-z0-9_-]{16,}",
        "whsec_": r"()\bwhsec_[a-z0-9+/=_-]{8,}",
        "bearer basic": rf"(\b(?:bearer|basic) ){_VALUE}",
        "adsunify_": rf"(\badsunify_(?:session|visit|connect)=){_VALUE}",
        "/invitation/": r"(/invitation/)[a-z0-9_-]+",
        "/connect/": r"(/connect/(?!callback\b))[a-z0-9_-]+",
        "token= secret= password= code= verifier= key= state=": (
            rf"(\b(?:access_token|refresh_token|client_secret|password|code|code_verifier|api_key|state)=){_VALUE}"
        ),
    }.items()
)
"""The pattern of each kind of secret, with marks.

Every match contains one of the marks, so a search for the marks first is quick. The group of the pattern is the text
before the secret, which stays in the line.
"""


def redact_secrets(text: str) -> str:
    """Replace whatever looks like a secret; JSON stays JSON."""
    lower = text.lower()
    for marks, secret in _SECRET_PATTERNS:
        if any(mark in lower for mark in marks):
            text = secret.sub(rf"\1{REDACTED}", text)
    return text


class TextFormatter(logging.Formatter):
    """Formats a line for people: time, level, message, members, and the request's id."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record; a traceback follows on separate lines."""
        members = dict(getattr(record, LOG_MEMBERS, {}))
        for name, value in _list_ids(REQUEST_CONTEXT.get()).items():
            members.setdefault(name, value)
        words = [_format_time(record), record.levelname, record.getMessage()]
        words += [f"{name}={value}" for name, value in members.items() if value is not None]
        trouble = f"\n{self.formatException(record.exc_info)}" if record.exc_info else ""
        return redact_secrets(" ".join(words) + trouble)


class JsonFormatter(logging.Formatter):
    """Formats a line for machines: one JSON object."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the JSON object of a record."""
        members: dict[str, object] = {
            "time": _format_time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        members |= _list_ids(REQUEST_CONTEXT.get())
        members |= getattr(record, LOG_MEMBERS, {})
        if record.exc_info and record.exc_info[0] is not None:
            members["error"] = record.exc_info[0].__name__
            members["traceback"] = self.formatException(record.exc_info)
        return redact_secrets(json.dumps(members))


def _list_ids(context: RequestContext | None) -> dict[str, object]:
    """The ids of the request, the operation and the trace that a line belongs to, where there are any."""
    operation_id = OPERATION_ID.get() or (context.operation_id if context is not None else None)
    ids = {
        "requestId": None if context is None else context.request_id,
        "operationId": operation_id,
        "traceId": TRACE_ID.get(),
    }
    return {name: value for name, value in ids.items() if value is not None}


def _format_time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def configure_logging(level: str, form: LogFormat, stream: TextIO = sys.stderr) -> None:
    """Send our log lines of this level and above to a stream, and only warnings of other libraries.

    At lower levels HTTP libraries log queries and headers.
    """
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter() if form == "json" else TextFormatter())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("adsunify").setLevel(level.upper())
