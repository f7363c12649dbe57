"""Spans as the product makes them. Without a collector they record nothing and cost nothing.

Names and attributes of spans are fixed words, ids and numbers. They never hold a body, a query, a header, a token or a
text that a caller or a network wrote, except the network's id of a request.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from types import TracebackType
from typing import Literal, Self

SpanKind = Literal["server", "client", "internal"]
Attributes = Mapping[str, str | int | None]
"""Attributes by name; attributes that are None are left out."""

OPERATION_ID: ContextVar[str | None] = ContextVar("operation_id", default=None)
"""The operation that this task executes."""
STEP_KEY: ContextVar[str | None] = ContextVar("step_key", default=None)
"""The step that this task writes."""
TRACE_ID: ContextVar[str | None] = ContextVar("trace_id", default=None)
"""The id of the trace that this task belongs to, as 32 hexadecimal digits."""


class Span:
    """A part of a trace that records nothing. It lasts as long as its ``with`` block.

    Attributes:
        is_recording: whether attributes are recorded; if not, the caller need not compute them.
    """

    is_recording = False

    def set_attributes(self, attributes: Attributes) -> None:
        """Set attributes of the span."""

    def set_error(self, kind: str) -> None:
        """Mark the span as failed. ``kind`` is a fixed word, such as a status or the code of an error."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, type_: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


NO_SPAN = Span()


class Tracer:
    """Makes spans that record nothing."""

    def start_span(self, name: str, kind: SpanKind = "internal", traceparent: str | None = None) -> Span:
        """Start a span within the span of the task: ``with tracer.start_span(...) as span``.

        ``traceparent``: the header of a caller (W3C Trace Context), whose span is the parent if it is valid.
        """
        return NO_SPAN

    async def close(self) -> None:
        """Send the spans that have ended, and stop."""


NO_TRACER = Tracer()
