"""Converts the rows of native reports to normalized figures with a network's METRICS table."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Context, Decimal, localcontext
from itertools import islice
from types import NoneType

from adsunify.adapter.account import Account
from adsunify.adapter.insights import DatedValues, MetricValue
from adsunify.adapter.metrics import History, Metric, ReportLevel
from adsunify.adapter.native_money import MoneyUnit
from adsunify.adapter.network import Network
from adsunify.errors import ProviderUnreadable, invalid_input
from adsunify.http.messages import MAX_RESPONSE_BYTES, Flow, Request
from adsunify.values.base64url import decode_base64url, encode_base64url
from adsunify.values.dates import get_timezone, subtract_months
from adsunify.values.exact_json import MAX_NUMBER_CHARACTERS, Json, dumps_canonical, loads
from adsunify.values.json_pointer import Columns, get_text, map_distinct, require_value

ROW_BATCH_SIZE = 500
MAX_REPORT_BYTES = 2 * MAX_RESPONSE_BYTES
_GZIP_MAGIC = b"\x1f\x8b"
_match_number = re.compile(r"-?[0-9]+(\.[0-9]+)?").fullmatch
# The quantifiers are possessive, which makes the match four times as fast.
_match_number_lines = re.compile(r"(?:-?[0-9]++(?:\.[0-9]++)?+\n)*+").fullmatch
_DECIMAL_CONTEXT = Context(prec=2 * MAX_NUMBER_CHARACTERS)
_COUNT_UNITS = ("count", "whole")
_UNITS_PER_MAJOR_UNIT = {"micros": 1_000_000, "cents": 100}

ReportRow = Mapping[str, Json]


def find_earliest_day(history: History | None, account: Account, now: datetime) -> date | None:
    """Return the first day of a history; None if the network documents no limit."""
    if history is None:
        return None
    timezone = history.timezone or account.timezone
    today = (now if timezone is None else now.astimezone(get_timezone(timezone))).date()
    return subtract_months(today, history.months) - timedelta(days=history.days)


def require_history(
    network: Network, account: Account, start: date, now: datetime, level: ReportLevel | None = None
) -> None:
    """Raise InvalidInput if the range begins before the network's history, or before the history of ``level``."""
    history = network.history if level is None or level.history is None else level.history
    first = find_earliest_day(history, account, now)
    if history is not None and first is not None and start < first:
        length = f"{history.days} days" if history.days else f"{history.months} months"
        message = f"cannot be before {first}: {network.title} keeps daily figures for {length}."
        raise invalid_input("startDate", "too_early", message)


def parse_report_rows(
    metrics: Sequence[Metric],
    native: Iterable[ReportRow],
    at: str,
    read_date: Callable[[Json], date] | None = None,
    money_unit: MoneyUnit | None = None,
) -> DatedValues:
    """Yield the day and the figures of each row, for :func:`adsunify.adapter.insights.sum_by_day`.

    Args:
        metrics: the network's METRICS.
        native: the native rows.
        at: the pointer to the day in a row.
        read_date: converts the value at ``at`` to a date; None means text of the form YYYY-MM-DD.
        money_unit: the unit of the account's amounts, for metrics of the unit ``minor``.

    Raises:
        ProviderUnreadable: a figure is not a number, or a row has no day.
    """
    rest = iter(native)
    while some := list(islice(rest, ROW_BATCH_SIZE)):
        columns = Columns(some)
        figures = parse_metric_columns(metrics, columns, money_unit)
        values_by_row = (dict(zip(figures, values, strict=True)) for values in zip(*figures.values(), strict=True))
        yield from zip(parse_dates(columns.get_column(at), read_date), values_by_row, strict=True)


def parse_metric_columns(
    metrics: Sequence[Metric], columns: Columns, money_unit: MoneyUnit | None = None
) -> dict[str, list[MetricValue]]:
    """Parse the figures of all rows: a column for each metric, which is faster than row by row.

    Counts are int. Other figures are int or Decimal, in major units.

    Raises:
        ProviderUnreadable: a figure is not a number, or a count has a fraction.
    """
    return {metric.name: _parse_metric_column(metric, columns, _get_part(metric, money_unit)) for metric in metrics}


def parse_dates(values: Sequence[Json], read_date: Callable[[Json], date] | None = None) -> list[date]:
    """Parse a column of days. ``read_date``: as in :func:`parse_report_rows`. Raises ProviderUnreadable."""
    return map_distinct(read_date or parse_date, values)


def _get_part(metric: Metric, money_unit: MoneyUnit | None) -> Decimal | None:
    """Return the part of a major unit that one unit of a metric is; None for metrics that need no conversion."""
    offset = _UNITS_PER_MAJOR_UNIT.get(metric.unit)
    if metric.unit == "minor":
        if money_unit is None:
            raise TypeError(f"the unit of {metric.name} is minor: parse_report_rows needs money_unit")
        offset = money_unit.offset
    return None if offset is None else _DECIMAL_CONTEXT.divide(Decimal(1), Decimal(offset))


def _parse_metric_column(metric: Metric, columns: Columns, part: Decimal | None) -> list[MetricValue]:
    """Parse the figures of one metric: all at once if the values have the same type, else one by one."""
    values = columns.get_column(metric.native) if metric.read is None else metric.read(columns)
    if any(silent in values for silent in metric.absent_texts):
        values = [None if value in metric.absent_texts else value for value in values]
    kinds = set(map(type, values))
    present = values
    if NoneType in kinds:
        kinds.remove(NoneType)
        present = [value for value in values if value is not None]
    numbers = _parse_uniform_numbers(metric.unit, present, kinds, part)
    if numbers is None:
        return [_parse_metric(metric, value, part) for value in values]
    if present is values:
        return numbers
    following = iter(numbers)
    return [metric.absent_value if value is None else next(following) for value in values]


def _parse_uniform_numbers(
    unit: str, present: list[Json], kinds: set[type], part: Decimal | None
) -> list[MetricValue] | None:
    """Parse a column as :func:`_parse_metric` does, if all values are texts of numbers or all numbers; else None."""
    whole = unit in _COUNT_UNITS
    if kinds == {str}:
        lines = "\n".join([*present, ""])
        if (
            not _match_number_lines(lines)
            or lines.count("\n") != len(present)
            or max(map(len, present)) > MAX_NUMBER_CHARACTERS
        ):
            return None
        if whole and "." in lines:
            return None
        numbers: list[Json] = list(map(int if whole else Decimal, present))
    elif not kinds <= {int, Decimal}:
        return None
    elif whole:
        if Decimal not in kinds:
            return present
        numbers = list(map(int, present))
        return numbers if numbers == present else None
    else:
        numbers = present
    if part is None:
        return numbers
    with localcontext(_DECIMAL_CONTEXT):
        return [number * part for number in numbers]


def _parse_metric(metric: Metric, value: Json, part: Decimal | None) -> MetricValue:
    """Parse one figure, a number or its text: a count as int, another metric as an exact Decimal.

    A missing figure is ``metric.absent_value``.

    Raises:
        ProviderUnreadable: the value is not a number, or a count has a fraction.
    """
    if value is None:
        return metric.absent_value
    text = get_text({"value": value}, "/value") or ""
    if len(text) > MAX_NUMBER_CHARACTERS or not _match_number(text):
        raise ProviderUnreadable(f"The report's {metric.name} is not a number.")
    number = Decimal(text)
    if part is not None:
        return _DECIMAL_CONTEXT.multiply(number, part)
    if metric.unit not in _COUNT_UNITS:
        return number
    if number != number.to_integral_value():
        if metric.unit == "whole":
            return metric.absent_value
        raise ProviderUnreadable(f"The report's {metric.name} has a fraction.")
    return int(number)


def parse_date(text: Json) -> date:
    """Parse a day of the form YYYY-MM-DD. Raises ProviderUnreadable."""
    try:
        return date.fromisoformat(text)
    except (TypeError, ValueError):
        raise ProviderUnreadable("A row of the report has no day.") from None


def gunzip(content: bytes) -> bytes:
    """Decompress a gzip file. Content that is not gzip is returned unchanged. Raises ProviderUnreadable."""
    if not content.startswith(_GZIP_MAGIC):
        return content
    stream = zlib.decompressobj(wbits=31)  # 31: the gzip format, with a check of its checksum
    try:
        whole = stream.decompress(content, MAX_REPORT_BYTES + 1)
    except zlib.error as problem:
        raise ProviderUnreadable("The report file is damaged.") from problem
    if len(whole) > MAX_REPORT_BYTES or not stream.eof or stream.unused_data:
        raise ProviderUnreadable(f"The report file is cut off, or larger than {MAX_REPORT_BYTES} bytes.")
    return whole


def download_report(url: str | None) -> Flow[Json]:
    """Download and parse the JSON file of a finished report from a foreign host, which gets no credentials."""
    if url is None or not url.lower().startswith("https://"):
        raise ProviderUnreadable("The finished report has no https address.")
    response = yield Request("GET", url, response_format="bytes", is_signed=False)
    if not response.is_ok:
        raise ProviderUnreadable(f"The report file could not be fetched ({response.status}).")
    content = response.body
    if isinstance(content, bytes):
        try:
            content = loads(gunzip(content))
        except ValueError as problem:
            raise ProviderUnreadable("The report file is not JSON.") from problem
    return require_value(content, "", "report file")


def join_job_ids(reports: Sequence[str]) -> str:
    """Return one job for all reports of a range: the id of a single report, or base64url of the JSON list of ids."""
    if len(reports) == 1:
        return reports[0]
    return encode_base64url(dumps_canonical(list(reports)))


def split_job_id(job: str) -> list[str]:
    """Return the ids of the reports in a job of :func:`join_job_ids`."""
    try:
        ids = loads(decode_base64url(job))
    except ValueError:
        return [job]
    return ids if isinstance(ids, list) and ids and all(isinstance(id_, str) and id_ for id_ in ids) else [job]
