"""From the rows of a native report to normalized figures, through a network's METRICS."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Mapping
from datetime import date
from decimal import Context, Decimal

from .errors import ProviderUnreadable
from .insights import Figure
from .network import Metric
from .wire import MAX_ANSWER_BYTES, MAX_NUMBER_CHARACTERS, Json, read, text

INFLATED_BYTES = 2 * MAX_ANSWER_BYTES
_GZIP_MAGIC = b"\x1f\x8b"
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?").fullmatch
_WIDE = Context(prec=2 * MAX_NUMBER_CHARACTERS)


def figures(metrics: Iterable[Metric], row: Mapping[str, Json]) -> dict[str, Figure]:
    """The row's figures by metric name. Raises ProviderUnreadable for one that is no number."""
    return {metric.name: figure(metric, row) for metric in metrics}


def figure(metric: Metric, row: Mapping[str, Json]) -> Figure:
    """One figure: a count as int, else an exact Decimal; ``metric.absent`` where the row leaves it out.

    Numbers and their texts are read alike. Raises ProviderUnreadable for anything else.
    """
    value = read(row, metric.native) if metric.read is None else metric.read(row)
    if value is None:
        return metric.absent
    written = text({"value": value}, "/value") or ""
    if len(written) > MAX_NUMBER_CHARACTERS or not _NUMBER(written):
        raise ProviderUnreadable(f"The report says no number for {metric.name}.")
    number = Decimal(written)
    if metric.unit == "micros":
        return number.scaleb(-6, _WIDE)
    if metric.unit != "count":
        return number
    if number != number.to_integral_value():
        raise ProviderUnreadable(f"The report says a fraction for {metric.name}.")
    return int(number)


def day(row: Mapping[str, Json], pointer: str) -> date:
    """The day of a row, as YYYY-MM-DD. Raises ProviderUnreadable."""
    try:
        return date.fromisoformat(text(row, pointer) or "")
    except ValueError:
        raise ProviderUnreadable("A row of the report has no day.") from None


def inflated(content: bytes) -> bytes:
    """The content of a gzip file; as it is where it was inflated on the way. Raises ProviderUnreadable."""
    if not content.startswith(_GZIP_MAGIC):
        return content
    stream = zlib.decompressobj(wbits=31)  # 31: gzip, with its check sum
    try:
        whole = stream.decompress(content, INFLATED_BYTES + 1)
    except zlib.error as problem:
        raise ProviderUnreadable("The report file is damaged.") from problem
    if len(whole) > INFLATED_BYTES or not stream.eof or stream.unused_data:
        raise ProviderUnreadable(f"The report file is cut off, or larger than {INFLATED_BYTES} bytes.")
    return whole
