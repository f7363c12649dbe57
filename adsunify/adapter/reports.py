"""From the rows of a native report to normalized figures, through a network's METRICS."""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Context, Decimal, localcontext
from itertools import islice
from types import NoneType

from adsunify.adapter.insights import Days, Figure
from adsunify.adapter.network import Account, Metric, Network
from adsunify.errors import ProviderUnreadable, refused
from adsunify.http.messages import MAX_ANSWER_BYTES, Flow, Request
from adsunify.values.dates import months_before, zone
from adsunify.values.exact_json import MAX_NUMBER_CHARACTERS, Json, canonical, loads
from adsunify.values.json_pointer import Columns, need, text

ROWS_AT_ONCE = 500
INFLATED_BYTES = 2 * MAX_ANSWER_BYTES
_GZIP_MAGIC = b"\x1f\x8b"
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?").fullmatch
_LINES = re.compile(r"(?:-?[0-9]++(?:\.[0-9]++)?+\n)*+").fullmatch  # possessive: four times as fast
_WIDE = Context(prec=2 * MAX_NUMBER_CHARACTERS)
_COUNTS = ("count", "whole")
_PARTS = {"micros": Decimal("0.000001"), "cents": Decimal("0.01")}

Row = Mapping[str, Json]


def earliest_day(network: Network, account: Account, now: datetime) -> date | None:
    """The first day that the network can still report, None where it documents no end of its history."""
    history = network.history
    if history is None:
        return None
    timezone = history.timezone or account.timezone
    today = (now if timezone is None else now.astimezone(zone(timezone))).date()
    return months_before(today, history.months) - timedelta(days=history.days)


def require_history(network: Network, account: Account, start: date, now: datetime) -> None:
    """Refuse a range that begins before the network's history. Raises InvalidInput."""
    first, history = earliest_day(network, account, now), network.history
    if history is not None and first is not None and start < first:
        kept = f"{history.days} days" if history.days else f"{history.months} months"
        message = f"cannot be before {first}: {network.title} keeps daily figures for {kept}."
        raise refused("startDate", "too_early", message)


def days(metrics: Sequence[Metric], native: Iterable[Row], at: str, told: Callable[[Json], date] | None = None) -> Days:
    """The day of each row and its figures by metric name, for :func:`adsunify.adapter.insights.daily`.

    ``at`` points at what a row says of its day, and ``told`` makes a day of that; without it, it is YYYY-MM-DD. Some
    rows are taken at a time, and one metric of all of them before the next: faster than row by row, and none is kept.
    Raises ProviderUnreadable for a figure that is no number, and for a row without a day.
    """
    rest = iter(native)
    while some := list(islice(rest, ROWS_AT_ONCE)):
        columns = Columns(some)
        found: list[dict[str, Figure]] = [{} for _ in some]
        for metric in metrics:
            name = metric.name
            for one, value in zip(found, _figures(metric, columns), strict=True):
                one[name] = value
        yield from zip(_dates(columns.at(at)) if told is None else map(told, columns.at(at)), found, strict=True)


def _figures(metric: Metric, columns: Columns) -> list[Figure]:
    """The figures of one metric: of values that are all alike at once, of any others one by one."""
    values = columns.at(metric.native) if metric.read is None else metric.read(columns)
    if any(silent in values for silent in metric.silent):
        values = [None if value in metric.silent else value for value in values]
    kinds = set(map(type, values))
    known = values
    if NoneType in kinds:
        kinds.remove(NoneType)
        known = [value for value in values if value is not None]
    numbers = _numbers(metric.unit, known, kinds)
    if numbers is None:
        return [figure(metric, value) for value in values]
    if known is values:
        return numbers
    following = iter(numbers)
    return [metric.absent if value is None else next(following) for value in values]


def _numbers(unit: str, known: list[Json], kinds: set[type]) -> list[Figure] | None:
    """As :func:`figure` reads each, where all are texts of numbers, or all are integers or decimals; else None."""
    whole = unit in _COUNTS
    if kinds == {str}:
        lines = "\n".join([*known, ""])
        if not _LINES(lines) or lines.count("\n") != len(known) or max(map(len, known)) > MAX_NUMBER_CHARACTERS:
            return None
        if whole and "." in lines:
            return None
        numbers: list[Json] = list(map(int if whole else Decimal, known))
    elif not kinds <= {int, Decimal}:
        return None
    elif whole:
        if Decimal not in kinds:
            return known
        numbers = list(map(int, known))
        return numbers if numbers == known else None
    else:
        numbers = known if int not in kinds else list(map(Decimal, known))
    part = _PARTS.get(unit)
    if part is None:
        return numbers
    with localcontext(_WIDE):
        return [number * part for number in numbers]


def figure(metric: Metric, value: Json) -> Figure:
    """One figure: a count as int, else an exact Decimal; ``metric.absent`` where the row leaves it out.

    Numbers and their texts are read alike. Raises ProviderUnreadable for anything else.
    """
    if value is None:
        return metric.absent
    written = text({"value": value}, "/value") or ""
    if len(written) > MAX_NUMBER_CHARACTERS or not _NUMBER(written):
        raise ProviderUnreadable(f"The report says no number for {metric.name}.")
    number = Decimal(written)
    if metric.unit in _PARTS:
        return _WIDE.multiply(number, _PARTS[metric.unit])
    if metric.unit not in _COUNTS:
        return number
    if number != number.to_integral_value():
        if metric.unit == "whole":
            return metric.absent
        raise ProviderUnreadable(f"The report says a fraction for {metric.name}.")
    return int(number)


def day(written: Json) -> date:
    """The day that is written YYYY-MM-DD. Raises ProviderUnreadable."""
    return _dates([written])[0]


def _dates(written: Sequence[Json]) -> list[date]:
    try:
        return list(map(date.fromisoformat, written))
    except (TypeError, ValueError):
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


def downloaded(url: str | None) -> Flow[Json]:
    """The JSON of a finished report's file. It lies on a foreign host, which gets no credentials."""
    if url is None or not url.lower().startswith("https://"):
        raise ProviderUnreadable("The finished report has no https address.")
    response = yield Request("GET", url, answer="bytes", signed=False)
    if not response.ok:
        raise ProviderUnreadable(f"The report file could not be fetched ({response.status}).")
    content = response.body
    if isinstance(content, bytes):
        try:
            content = loads(inflated(content))
        except ValueError as problem:
            raise ProviderUnreadable("The report file is not JSON.") from problem
    return need(content, "", "report file")


def joint(reports: Sequence[str]) -> str:
    """One job for all reports of a range: the one's id, or base64url of the list of several."""
    if len(reports) == 1:
        return reports[0]
    return base64.urlsafe_b64encode(canonical(list(reports))).rstrip(b"=").decode("ascii")


def separate(job: str) -> list[str]:
    """The ids of the reports in a job of :func:`joint`."""
    try:
        ids = loads(base64.urlsafe_b64decode(job + "=" * (-len(job) % 4)))
    except ValueError:
        return [job]
    return ids if isinstance(ids, list) and ids and all(isinstance(one, str) and one for one in ids) else [job]
