"""How networks write instants: what is written is read again, and what cannot be written is refused."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from adsunify.errors import InvalidInput
from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.values.dates import parse_instant
from adsunify.values.time_formats import UNIX_MILLISECONDS, UNIX_SECONDS, TimeFormat, parse_iso_time

MOMENT = datetime(2027, 3, 1, 8, tzinfo=UTC)
TIMED = [code for code in ADAPTER_PACKAGES if get_adapter(code).network.time is not None]


@pytest.mark.parametrize("code", ADAPTER_PACKAGES)
def test_a_network_with_a_setting_of_an_instant_says_how_it_writes_instants(code: str) -> None:
    network = get_adapter(code).network
    assert (network.time is not None) == any(setting.unit == "instant" for setting in network.settings)


@pytest.mark.parametrize("code", TIMED)
def test_a_network_reads_what_it_writes(code: str) -> None:
    time = get_adapter(code).network.time
    assert time is not None
    assert time.parse(time.format(MOMENT)) == MOMENT
    assert time.format_for_people(time.format(MOMENT)) in ("2027-03-01T08:00:00Z", "2027-03-01T08:00:00.000Z")
    for value in (None, "", "soon", True, {}, -1, 10**30):
        assert time.parse(value) is None and time.format_for_people(value) is None


@pytest.mark.parametrize("code", TIMED)
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("2027-03-01T08:00:00.0001Z", "over_precision"),
        ("2027-03-01", "malformed"),
        ("2027-02-30T00:00:00Z", "no_such_date"),
    ],
)
def test_what_a_network_cannot_hold_is_refused(code: str, text: str, problem: str) -> None:
    time = get_adapter(code).network.time
    assert time is not None
    with pytest.raises(InvalidInput) as refused:
        time.parse_text(text, "fields.startAt", "Network")
    assert [(issue.path, issue.code) for issue in refused.value.issues] == [("fields.startAt", problem)]


@pytest.mark.parametrize(
    ("value", "text"),
    [(1_800_000_000_500, "2027-01-15T08:00:00.500Z"), (1_800_000_000_000, "2027-01-15T08:00:00Z"), (0, None)],
)
def test_milliseconds_are_shown_where_there_are_some(value: Any, text: str | None) -> None:
    assert UNIX_MILLISECONDS.format_for_people(value) == text
    assert UNIX_SECONDS.format(MOMENT) * 1000 == UNIX_MILLISECONDS.format(MOMENT)


def test_an_iso_time_has_any_offset() -> None:
    assert parse_iso_time("2027-03-01T10:00:00+02:00") == MOMENT


@pytest.mark.parametrize(("year", "fits"), [(1999, False), (2000, True), (2099, True), (2101, False)])
def test_an_instant_outside_of_a_networks_years_is_refused(year: int, fits: bool) -> None:
    time = get_adapter("chatgpt").network.time
    assert time is not None
    if fits:
        assert time.parse_text(f"{year}-06-01T00:00:00Z", "startAt", "Network").year == year
        return
    with pytest.raises(InvalidInput) as refused:
        time.parse_text(f"{year}-06-01T00:00:00Z", "startAt", "Network")
    assert [issue.code for issue in refused.value.issues] == ["out_of_range"]


@pytest.mark.parametrize(
    ("text", "time", "fits"),
    [
        ("2027-03-01T08:00:00Z", UNIX_SECONDS, True),
        ("2027-03-01T08:00:00.000000000+01:00", UNIX_SECONDS, True),
        ("2027-03-01T08:00:00.5Z", UNIX_SECONDS, False),
        ("2027-03-01T08:00:00.000000001Z", UNIX_SECONDS, False),
        ("2027-03-01T08:00:00.123Z", UNIX_MILLISECONDS, True),
        ("2027-03-01T08:00:00.12300Z", UNIX_MILLISECONDS, True),
        ("2027-03-01T08:00:00.1230001Z", UNIX_MILLISECONDS, False),
    ],
)
def test_what_a_network_cannot_hold_is_not_cut_off(text: str, time: TimeFormat, fits: bool) -> None:
    if fits:
        assert time.parse_text(text, "startAt", "Network") == parse_instant(text)
        return
    with pytest.raises(InvalidInput) as problem:
        time.parse_text(text, "startAt", "Network")
    assert [(issue.path, issue.code) for issue in problem.value.issues] == [("startAt", "over_precision")]
