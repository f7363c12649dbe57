"""Instants and days: ISO 8601 in, UTC inside, an account's whole local days out.

An instant names its offset from UTC, so it never depends on the machine. A day is a calendar date in the account's
time zone; days differ in length where the clocks change, so days are never counted in hours.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

from adsunify.errors import invalid_input

# The calendar stands in the pattern, so that the core of the models checks it. Years below 1000 and above 8999 are
# typing errors, and near either end of the calendar not every zone could show the instant.
_DAY_OF_ANY_YEAR = (
    "((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))"
)
_LEAP_YEAR = "([1-8][0-9](0[48]|[2468][048]|[13579][26])|([2468][048]|[1357][26])00)"
_TIME_PATTERN = r"([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,9})?)?"
_OFFSET_PATTERN = "(Z|[+-]([01][0-9]|2[0-3]):?[0-5][0-9])"
INSTANT_REGEX = f"^([1-8][0-9]{{3}}-{_DAY_OF_ANY_YEAR}|{_LEAP_YEAR}-02-29)T{_TIME_PATTERN}{_OFFSET_PATTERN}$"
"""The form of an instant, for models and schemas."""
INSTANT_FORM = "an ISO 8601 instant with Z or an offset, such as 2027-03-01T08:00:00Z"
"""The same in words."""

InstantStyle = Literal["zulu", "milliseconds", "offset", "space"]

_STYLE_PARTS: dict[InstantStyle, tuple[str, str]] = {  # what stands between date and time, and after them
    "zulu": ("T", "Z"),
    "milliseconds": ("T", ".000Z"),
    "offset": ("T", "+0000"),  # Meta
    "space": (" ", ""),  # TikTok: UTC without saying so
}

FractionDigits = Literal[0, 3]
_FINER_SEARCHES = {0: re.compile(r"\.0*[1-9]").search, 3: re.compile(r"\.[0-9]{3}0*[1-9]").search}
_PRECISION_NAMES = {0: "whole seconds", 3: "whole milliseconds"}

# What the machine's database also holds: its own zone, no zone, and variants that count leap seconds.
_NON_GEOGRAPHIC_ZONES = ("localtime", "posixrules", "Factory", "posix/", "right/")

_match_instant = re.compile(INSTANT_REGEX).fullmatch
_match_any_date = re.compile(f"[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}T{_TIME_PATTERN}{_OFFSET_PATTERN}").fullmatch
_ONE_DAY = timedelta(days=1)


def parse_instant(text: str, path: str = "startAt") -> datetime:
    """The instant in UTC, to the microsecond.

    Raises InvalidInput: ``no_such_date`` (2027-02-30, or a year outside 1000 to 8999), ``malformed`` (anything else
    that is no instant with ``Z`` or a numeric offset).
    """
    if _match_instant(text):
        return datetime.fromisoformat(text).astimezone(UTC)
    if _match_any_date(text):
        raise invalid_input(path, "no_such_date", "must be a date that the calendar has, in the years 1000 to 8999.")
    raise invalid_input(path, "malformed", f"must be {INSTANT_FORM}.")


def parse_instant_exact(text: str, path: str, network: str, digits: FractionDigits = 0) -> datetime:
    """The instant in UTC, which a network holds to so many digits of a second.

    Raises InvalidInput as :func:`parse_instant`, and ``over_precision`` for one that is finer: nothing is cut off.
    """
    moment = parse_instant(text, path)
    if is_finer(text, digits):
        raise invalid_input(path, "over_precision", f"{network} counts {_PRECISION_NAMES[digits]}; nothing is rounded.")
    return moment


def format_utc(moment: datetime, style: InstantStyle = "zulu") -> str:
    """The instant in UTC as networks write it, in whole seconds (a fraction is cut off).

    ``zulu`` 2027-03-01T08:00:00Z, ``milliseconds`` 2027-03-01T08:00:00.000Z, ``offset`` 2027-03-01T08:00:00+0000,
    ``space`` 2027-03-01 08:00:00. Raises ValueError for a datetime without zone.
    """
    if moment.tzinfo is None:
        raise ValueError("a datetime without zone names no instant")
    between, after = _STYLE_PARTS[style]
    return moment.astimezone(UTC).isoformat(between, "seconds").removesuffix("+00:00") + after


def get_timezone(name: str, path: str = "account.timezone") -> ZoneInfo:
    """The time zone of an IANA name. Raises InvalidInput ``unknown_timezone``."""
    try:
        if name.startswith(_NON_GEOGRAPHIC_ZONES):
            raise LookupError
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError):  # unknown; not a relative name; a folder of names, or over-long
        raise invalid_input(
            path, "unknown_timezone", "must be an IANA time zone name, such as Europe/Berlin."
        ) from None


def to_local_days(start: datetime, end: datetime | None, timezone: str) -> tuple[date, date | None]:
    """The first and last account-local day that the time from ``start`` up to ``end`` touches, both inclusive.

    ``end`` is exclusive: at exactly local midnight it means through the day before, inside a day through that day. None
    runs on. Raises InvalidInput ``unknown_timezone``.
    """
    local = get_timezone(timezone)
    last = None if end is None else (end.astimezone(UTC) - datetime.resolution).astimezone(local).date()
    return start.astimezone(local).date(), last


def get_midnight(day: date, timezone: str) -> datetime:
    """The first instant of a local day, in UTC: 00:00, or the moment to which the clocks are put forward from 00:00.

    Raises InvalidInput ``unknown_timezone``.
    """
    # Of two midnights the first is taken. One that is skipped counts with the offset before the change, which is the
    # instant of the change: no zone skips 00:00 in any other way (checked for 1990 to 2040, tz database 2026).
    return datetime.combine(day, time(), get_timezone(timezone)).astimezone(UTC)


def parse_start_day(text: str, path: str, network: str, timezone: str) -> date:
    """The local day that starts at an instant, where a network keeps whole days. An earlier start spends money early.

    Raises InvalidInput as :func:`parse_instant`, ``unknown_timezone``, and ``over_precision`` for an instant that is
    not the first one of a day.
    """
    local, moment = get_timezone(timezone), parse_instant(text, path)
    day = moment.astimezone(local).date()
    if moment != get_midnight(day, timezone) or is_finer(text):
        both = " or ".join(
            get_midnight(midnight_day, timezone).astimezone(local).isoformat() for midnight_day in (day, day + _ONE_DAY)
        )
        message = f"{network} keeps whole days of {timezone} time, so a start is a midnight there: {both}."
        raise invalid_input(path, "over_precision", message)
    return day


def is_finer(text: str, digits: FractionDigits = 0) -> bool:
    """Whether an instant has more than so many digits of a second that are not 0."""
    return _FINER_SEARCHES[digits](text) is not None


def split_date_range(start: date, end: date, days: int) -> list[tuple[date, date]]:
    """The days from ``start`` to ``end``, both inclusive, in order, in pieces of at most ``days`` days."""
    pieces = []
    while start <= end:
        last = min(end, start + timedelta(days=days - 1))
        pieces.append((start, last))
        start = last + _ONE_DAY
    return pieces


def subtract_months(day: date, months: int) -> date:
    """The same day of the month so many months earlier; where that month is shorter, as many days into the next."""
    year, month = divmod(day.year * 12 + day.month - 1 - months, 12)
    return date(year, month + 1, 1) + timedelta(days=day.day - 1)
