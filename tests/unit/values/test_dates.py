"""Instants name their offset; days are the account's own, whatever the clocks do."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adsunify.errors import InvalidInput
from adsunify.values import dates
from adsunify.values.dates import (
    format_utc,
    get_midnight,
    get_timezone,
    parse_instant,
    split_date_range,
    to_local_days,
)

unhurried = settings(deadline=None)
ZONES = ("UTC", "America/New_York", "Europe/Berlin", "Asia/Kolkata", "Pacific/Apia", "Africa/Cairo", "America/Havana")
OFFSETS = st.integers(-23 * 60 - 59, 23 * 60 + 59).map(lambda minutes: timezone(timedelta(minutes=minutes)))
MOMENTS = st.datetimes(datetime(1970, 1, 2), datetime(2090, 1, 1), timezones=st.just(UTC))


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2027-03-01T08:00:00Z", datetime(2027, 3, 1, 8, tzinfo=UTC)),
        ("2027-03-01T08:00Z", datetime(2027, 3, 1, 8, tzinfo=UTC)),
        ("2027-03-01T08:00:00.25+05:30", datetime(2027, 3, 1, 2, 30, 0, 250_000, tzinfo=UTC)),
        ("2027-03-01T08:00:00-0500", datetime(2027, 3, 1, 13, tzinfo=UTC)),
        ("2028-02-29T23:59:59.999999999Z", datetime(2028, 2, 29, 23, 59, 59, 999_999, tzinfo=UTC)),
    ],
)
def test_instant_is_in_utc(text, moment):
    assert parse_instant(text) == moment
    assert parse_instant(text).tzinfo is UTC


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("2027-02-30T00:00:00Z", "no_such_date"),
        ("2027-02-29T00:00:00Z", "no_such_date"),
        ("2100-02-29T00:00:00Z", "no_such_date"),
        ("2027-13-01T00:00:00Z", "no_such_date"),
        ("2027-04-31T00:00:00Z", "no_such_date"),
        ("0999-01-01T00:00:00Z", "no_such_date"),
        ("9999-12-31T23:59:59Z", "no_such_date"),
        ("2027-03-01T24:00:00Z", "malformed"),
        ("2027-03-01T08:00:60Z", "malformed"),
        ("2031-03-02T08:00:00", "malformed"),
        ("2027-03-01T08:00:00+24:00", "malformed"),
        ("2027-03-01 08:00:00Z", "malformed"),
        ("2027-03-01T08:00:00z", "malformed"),
        ("2027-03-01T08:00:00Z\n", "malformed"),
        ("2031-03-02", "malformed"),
        ("2027-W09-1T08:00:00Z", "malformed"),
        ("٢٠٢٧-03-01T08:00:00Z", "malformed"),
        ("", "malformed"),
    ],
)
def test_instant_refuses(text, code):
    with pytest.raises(InvalidInput) as refused:
        parse_instant(text, "schedule.endAt")
    assert [(issue.path, issue.code) for issue in refused.value.issues] == [("schedule.endAt", code)]
    assert not text or text not in refused.value.issues[0].message


@unhurried
@given(st.datetimes(datetime(1000, 1, 1), datetime(8999, 12, 31), timezones=OFFSETS))
def test_every_instant_of_the_calendar_is_read(moment):
    assert parse_instant(moment.isoformat()) == moment


@unhurried
@given(st.integers(1000, 8999), st.integers(0, 13), st.integers(0, 32))
def test_the_pattern_knows_the_calendar(year, month, day):
    try:
        date(year, month, day)
        exists = True
    except ValueError:
        exists = False
    assert (re.match(dates.INSTANT_REGEX, f"{year:04}-{month:02}-{day:02}T00:00:00Z") is not None) is exists


@pytest.mark.parametrize(
    ("style", "text"),
    [
        ("zulu", "2027-03-01T13:00:00Z"),
        ("milliseconds", "2027-03-01T13:00:00.000Z"),
        ("offset", "2027-03-01T13:00:00+0000"),
        ("space", "2027-03-01 13:00:00"),
    ],
)
def test_utc_text_has_the_style_of_the_network(style, text):
    assert format_utc(datetime(2027, 3, 1, 8, 0, 0, 999_999, ZoneInfo("America/New_York")), style) == text


def test_utc_text_needs_a_zone():
    with pytest.raises(ValueError, match="no time zone"):
        format_utc(datetime(2027, 3, 1))


@pytest.mark.parametrize(
    ("day", "name", "instant_"),
    [
        (date(2027, 3, 1), "America/New_York", datetime(2027, 3, 1, 5, tzinfo=UTC)),
        (date(2027, 3, 1), "Asia/Kathmandu", datetime(2027, 2, 28, 18, 15, tzinfo=UTC)),
        (date(2027, 4, 30), "Africa/Cairo", datetime(2027, 4, 29, 22, tzinfo=UTC)),  # the day begins at 01:00
        (date(2026, 11, 1), "America/Havana", datetime(2026, 11, 1, 4, tzinfo=UTC)),  # it has two midnights
        (date(2018, 11, 4), "America/Sao_Paulo", datetime(2018, 11, 4, 3, tzinfo=UTC)),  # the day begins at 01:00
    ],
)
def test_a_day_begins_at_its_first_instant(day, name, instant_):
    assert get_midnight(day, name) == instant_
    assert instant_.astimezone(ZoneInfo(name)).date() == day
    assert (instant_ - timedelta(microseconds=1)).astimezone(ZoneInfo(name)).date() == day - timedelta(days=1)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "Mars/Olympus",
        "America",
        "../UTC",
        "/etc/localtime",
        "localtime",
        "right/UTC",
        "UTC\0",
        "\ud800",
        "x" * 5000,
    ],
)
def test_zone_refuses_what_is_no_place(name):
    with pytest.raises(InvalidInput) as refused:
        get_timezone(name)
    assert refused.value.issues[0].code == "unknown_timezone"


@pytest.mark.parametrize(
    ("start", "end", "name", "days"),
    [
        # Exactly midnight belongs to the day before.
        ("2027-03-01T05:00:00Z", "2027-04-01T04:00:00Z", "America/New_York", ("2027-03-01", "2027-03-31")),
        ("2027-03-01T05:00:00Z", "2027-04-01T04:00:01Z", "America/New_York", ("2027-03-01", "2027-04-01")),
        ("2027-03-01T04:59:59Z", "2027-04-01T03:59:59Z", "America/New_York", ("2027-02-28", "2027-03-31")),
        # Cairo sets its clocks forward at midnight: that day begins at 01:00.
        ("2025-04-20T10:00:00Z", "2025-04-24T22:00:00Z", "Africa/Cairo", ("2025-04-20", "2025-04-24")),
        # Havana sets them back at 01:00: midnight comes twice, the day begins at the first.
        ("2026-10-31T12:00:00Z", "2026-11-01T04:00:00Z", "America/Havana", ("2026-10-31", "2026-10-31")),
        ("2026-10-31T12:00:00Z", "2026-11-01T05:00:00Z", "America/Havana", ("2026-10-31", "2026-11-01")),
        # Apia skipped 30 December 2011.
        ("2011-12-29T12:00:00Z", "2011-12-30T10:00:00Z", "Pacific/Apia", ("2011-12-29", "2011-12-29")),
        ("2027-03-01T05:00:00Z", None, "UTC", ("2027-03-01", None)),
    ],
)
def test_local_days(start, end, name, days):
    first, last = to_local_days(parse_instant(start), None if end is None else parse_instant(end), name)
    assert (first.isoformat(), last and last.isoformat()) == days


@unhurried
@given(MOMENTS, st.timedeltas(timedelta(microseconds=1), timedelta(days=400)), st.sampled_from(ZONES))
def test_local_days_are_those_touched(start, length, name):
    end = start + length
    first, last = to_local_days(start, end, name)
    assert first <= last
    local = ZoneInfo(name)
    assert start.astimezone(local).date() == first
    assert (end - timedelta(microseconds=1)).astimezone(local).date() == last


@unhurried
@given(st.dates(date(2000, 1, 1), date(2050, 1, 1)), st.integers(-3, 400), st.integers(1, 95))
def test_windows_cover_each_day_once(start, length, days):
    end = start + timedelta(days=length)
    pieces = split_date_range(start, end, days)
    covered = [first + timedelta(days=step) for first, last in pieces for step in range((last - first).days + 1)]
    assert covered == [start + timedelta(days=step) for step in range(length + 1)]
    assert all((last - first).days < days for first, last in pieces)
    assert len(pieces) == -(-max(0, length + 1) // days)
