"""Reads ISO 8601 instants, keeps them in UTC, and converts them to the local days of an ad account.

An instant names its offset from UTC, so it does not depend on the machine's time zone. A day is a calendar date in the
account's time zone. When clocks change a day does not have 24 hours, so no function counts days in hours.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

from adsunify.errors import invalid_input

# The pattern contains the calendar, so pydantic's core checks the date. Years before 1000 and after 8999 are refused:
# they are typing errors, and near the ends of Python's calendar some time zones cannot show an instant.
_DAY_OF_ANY_YEAR = (
    "((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))"
)
_LEAP_YEAR = "([1-8][0-9](0[48]|[2468][048]|[13579][26])|([2468][048]|[1357][26])00)"
_TIME_PATTERN = r"([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,9})?)?"
_OFFSET_PATTERN = "(Z|[+-]([01][0-9]|2[0-3]):?[0-5][0-9])"
INSTANT_REGEX = f"^([1-8][0-9]{{3}}-{_DAY_OF_ANY_YEAR}|{_LEAP_YEAR}-02-29)T{_TIME_PATTERN}{_OFFSET_PATTERN}$"
"""The pattern of an instant, for models and schemas."""
INSTANT_FORM = "an ISO 8601 instant with Z or an offset, such as 2027-03-01T08:00:00Z"
"""The form of an instant, in words."""

InstantStyle = Literal["zulu", "milliseconds", "offset", "space"]

_STYLE_PARTS: dict[InstantStyle, tuple[str, str]] = {  # the separator of date and time, and the suffix
    "zulu": ("T", "Z"),
    "milliseconds": ("T", ".000Z"),
    "offset": ("T", "+0000"),  # Meta
    "space": (" ", ""),  # TikTok: UTC, without a marker
}

FractionDigits = Literal[0, 3]
_FINER_SEARCHES = {0: re.compile(r"\.0*[1-9]").search, 3: re.compile(r"\.[0-9]{3}0*[1-9]").search}

# Names in the machine's tz database that are not places: the machine's zone, no zone, and zones with leap seconds.
_NON_GEOGRAPHIC_ZONES = ("localtime", "posixrules", "Factory", "posix/", "right/")

_match_instant = re.compile(INSTANT_REGEX).fullmatch
_match_any_date = re.compile(f"[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}T{_TIME_PATTERN}{_OFFSET_PATTERN}").fullmatch
_ONE_DAY = timedelta(days=1)


def parse_instant(text: str, path: str = "startAt") -> datetime:
    """Parse an ISO 8601 instant and return it in UTC, with microseconds.

    ``path`` is the member that an issue names.

    Raises:
        InvalidInput: ``no_such_date`` (2027-02-30, or a year outside 1000 to 8999), or ``malformed`` (the text is not
            an instant with ``Z`` or a numeric offset).
    """
    if _match_instant(text):
        return datetime.fromisoformat(text).astimezone(UTC)
    if _match_any_date(text):
        raise invalid_input(path, "no_such_date", "must be a date that the calendar has, in the years 1000 to 8999.")
    raise invalid_input(path, "malformed", f"must be {INSTANT_FORM}.")


def format_utc(moment: datetime, style: InstantStyle = "zulu") -> str:
    """Format an instant in UTC as networks write it, in whole seconds; fractions are dropped.

    The styles are ``zulu`` 2027-03-01T08:00:00Z, ``milliseconds`` 2027-03-01T08:00:00.000Z, ``offset``
    2027-03-01T08:00:00+0000 and ``space`` 2027-03-01 08:00:00.

    Raises:
        ValueError: the datetime has no time zone.
    """
    if moment.tzinfo is None:
        raise ValueError("the datetime has no time zone")
    between, after = _STYLE_PARTS[style]
    return moment.astimezone(UTC).isoformat(between, "seconds").removesuffix("+00:00") + after


def get_timezone(name: str, path: str = "account.timezone") -> ZoneInfo:
    """Return the time zone of an IANA name.

    Raises:
        InvalidInput: ``unknown_timezone``.
    """
    try:
        if name.startswith(_NON_GEOGRAPHIC_ZONES):
            raise LookupError
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError):  # unknown; an absolute path; a folder, or too long
        raise invalid_input(
            path, "unknown_timezone", "must be an IANA time zone name, such as Europe/Berlin."
        ) from None


def to_local_days(start: datetime, end: datetime | None, timezone: str) -> tuple[date, date | None]:
    """Return the first and the last local day of the time from ``start`` to ``end``, both inclusive.

    ``end`` is exclusive: an end at local midnight means through the day before, an end inside a day means through that
    day. If ``end`` is None there is no last day.

    Raises:
        InvalidInput: ``unknown_timezone``.
    """
    local = get_timezone(timezone)
    last = None if end is None else (end.astimezone(UTC) - datetime.resolution).astimezone(local).date()
    return start.astimezone(local).date(), last


def get_midnight(day: date, timezone: str) -> datetime:
    """Return the first instant of a local day, in UTC.

    It is 00:00. Where the clocks skip 00:00, it is the moment of the change.

    Raises:
        InvalidInput: ``unknown_timezone``.
    """
    # If a day has two midnights, the first one counts. A skipped midnight is computed with the offset before the
    # change. That is the moment of the change in every zone (checked for 1990 to 2040, tz database 2026).
    return datetime.combine(day, time(), get_timezone(timezone)).astimezone(UTC)


def parse_start_day(text: str, path: str, network: str, timezone: str) -> date:
    """Return the local day that starts at an instant, for networks that store whole days.

    An instant inside a day is refused. Rounding it down would spend money earlier than the caller asked for.

    Raises:
        InvalidInput: as :func:`parse_instant`; ``unknown_timezone``; ``over_precision`` if the instant is not the first
            one of a local day.
    """
    local, moment = get_timezone(timezone), parse_instant(text, path)
    day = moment.astimezone(local).date()
    if moment != get_midnight(day, timezone) or is_finer(text):
        both = " or ".join(
            get_midnight(midnight_day, timezone).astimezone(local).isoformat() for midnight_day in (day, day + _ONE_DAY)
        )
        message = f"{network} stores whole days in {timezone} time. A start must be a midnight there: {both}."
        raise invalid_input(path, "over_precision", message)
    return day


def is_finer(text: str, digits: FractionDigits = 0) -> bool:
    """Whether the text of an instant has nonzero digits after ``digits`` fraction digits of a second."""
    return _FINER_SEARCHES[digits](text) is not None


def split_date_range(start: date, end: date, days: int) -> list[tuple[date, date]]:
    """Split the days from ``start`` to ``end``, both inclusive, into ranges of at most ``days`` days, in order."""
    pieces = []
    while start <= end:
        last = min(end, start + timedelta(days=days - 1))
        pieces.append((start, last))
        start = last + _ONE_DAY
    return pieces


def subtract_months(day: date, months: int) -> date:
    """Return the same day of the month ``months`` months earlier.

    If that month is too short, the missing days are counted into the next month: 31 March minus 1 is 3 March (2027).
    """
    year, month = divmod(day.year * 12 + day.month - 1 - months, 12)
    return date(year, month + 1, 1) + timedelta(days=day.day - 1)


def find_last_ended_day(now: datetime, timezones: Iterable[str | None]) -> date:
    """Return the last day that has ended in each time zone. None means UTC, and so does an empty list."""
    todays = (now.astimezone(get_timezone(timezone or "UTC")).date() for timezone in timezones)
    return min(todays, default=now.astimezone(UTC).date()) - timedelta(days=1)
