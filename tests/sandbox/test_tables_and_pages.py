"""The parts that all simulated networks share: pages, instants, figures, and tables in texts."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adsunify.sandbox.figures import draw_bytes, draw_numbers, get_share, sum_figures
from adsunify.sandbox.instants import InstantFormat, date_check, iterate_days
from adsunify.sandbox.paging import CursorFormat, OffsetPaging, paginate_after, paginate_from
from adsunify.sandbox.parsing import InvalidRequest, fill_keys, make_rows, parse_names, split_words

CURSORS = (
    CursorFormat("/cursor", "after|"),
    CursorFormat("/cursor", '{"row":', "}", is_url_safe=True, is_padded=False),
)
OFFSET = InstantFormat(r"[^ ]+", "milliseconds", "Z", "is no instant", "does not exist", code="rule")


@pytest.mark.parametrize("cursors", CURSORS)
@given(size=st.integers(1, 7))
def test_pages_after_a_row_do_not_shift_when_rows_are_created(cursors: CursorFormat, size: int) -> None:
    rows = [{"id": str(number)} for number in range(100, 110)]
    paged_rows, cursor = list[dict[str, str]](), None
    while True:
        page, cursor = paginate_after(rows, cursor, size, cursors)
        paged_rows += page
        if cursor is None:
            break
        if rows[0]["id"] == "100":
            rows.insert(0, {"id": "new"})
    assert [row["id"] for row in paged_rows] == [str(number) for number in range(100, 110)]


@pytest.mark.parametrize("cursors", CURSORS)
@given(size=st.integers(1, 7))
def test_pages_by_position_hold_every_row_once(cursors: CursorFormat, size: int) -> None:
    paged_rows, cursor = list[int](), None
    while True:
        page, cursor = paginate_from(range(10), cursor, size, cursors)
        paged_rows += page
        if cursor is None:
            break
    assert paged_rows == list(range(10))
    assert OffsetPaging("start", "count").slice(range(10), {"start": 4, "count": size}, 2) == paged_rows[4 : 4 + size]


@pytest.mark.parametrize("cursors", CURSORS)
@pytest.mark.parametrize("cursor", ["", "?", "abc", CursorFormat("", "other ").encode(1), "\u00e9", "YWZ0ZXI="])
def test_a_cursor_of_another_list_is_refused(cursors: CursorFormat, cursor: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        cursors.decode_position(cursor)
    assert (refused.value.where, refused.value.message) == ("/cursor", "is not one of this list")


@given(st.datetimes(), st.integers(-14 * 60, 14 * 60))
def test_an_instant_is_kept_in_utc(local: datetime, minutes: int) -> None:
    local = local.replace(year=max(2, min(local.year, 9998)), microsecond=0)
    aware = local.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    instant = OFFSET.check(aware.isoformat(), "/at")
    assert instant.endswith(".000Z")
    assert datetime.fromisoformat(instant.removesuffix("Z")).replace(tzinfo=UTC) == aware
    assert OFFSET.check(instant, "/at") == instant


@pytest.mark.parametrize(
    ("value", "message"), [("a b", "is no instant"), (7, "is no instant"), ("2026-02-30T00:00:00Z", "does not exist")]
)
def test_what_is_no_instant_is_refused(value: object, message: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        OFFSET.check(value, "/at")
    assert (refused.value.code, refused.value.message) == ("rule", message)
    with pytest.raises(InvalidRequest):
        date_check()("2026-02-30", "/on")


def test_days_include_both_ends() -> None:
    first = date(2026, 2, 28)
    assert list(iterate_days(first, date(2026, 3, 1))) == [first, date(2026, 3, 1)]
    assert list(iterate_days(first, date(2026, 2, 27))) == []


@given(st.dictionaries(st.sampled_from("abc"), st.integers(0, 10**9)), st.integers(1, 50))
def test_shares_add_up_to_the_whole(whole: dict[str, int], parts: int) -> None:
    assert sum_figures(get_share(whole, part, part + 1, parts) for part in range(parts)) == whole
    assert sum_figures([whole], whole) == {name: 2 * value for name, value in whole.items()}


def test_figures_depend_on_the_seed_alone() -> None:
    assert draw_bytes("7", date(2026, 1, 1)) == draw_bytes(7, "2026-01-01") != draw_bytes(7, "2026-01-02")
    assert draw_numbers("x")[0] == int.from_bytes(draw_bytes("x")[:4], "big")


def test_tables_in_texts() -> None:
    assert split_words("\n  A B\n  C\n") == ("A", "B", "C")
    assert fill_keys(1, "a b") == {"a": 1, "b": 1}
    assert parse_names("\n  en English,\n  nb Norwegian bokmal\n") == {"en": "English", "nb": "Norwegian bokmal"}
    assert make_rows("id name", (1, "a")) == ({"id": 1, "name": "a"},)
    with pytest.raises(ValueError, match="shorter"):
        make_rows("id name", (1,))
