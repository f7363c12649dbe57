"""Answers are written by another encoder than all other JSON, and nobody can tell."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adsunify.wire import dumps
from adsunify_server.writing import written

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(1 << 70), 1 << 70)
    | st.decimals(allow_nan=False, allow_infinity=False).filter(lambda one: abs(one.adjusted()) < 100)
    | st.text(st.characters(exclude_categories=())),  # halves of characters too
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=())), inner),
    max_leaves=20,
)


@given(VALUES)
def test_byte_for_byte(value: Any) -> None:
    assert written(value) == dumps(value).encode("ascii")


@pytest.mark.parametrize(
    "value",
    ['\x00\x1f\x7f\x80\u2028 /"\\<é€😀', {"ä": ["ö\x7f", Decimal("0.10")]}, 1 << 64, -(1 << 63) - 1, "\ud800"],
    ids=ascii,
)
def test_what_is_not_plain(value: Any) -> None:
    assert written(value) == dumps(value).encode("ascii")


def test_deep_nesting_is_written() -> None:
    value: Any = "leaf"
    for _ in range(400):
        value = [value]
    assert written(value) == dumps(value).encode("ascii")


NO_JSON: list[object] = [object(), datetime.now(UTC), {1: 2}.keys(), b"bytes"]


@pytest.mark.parametrize("value", NO_JSON, ids=lambda one: type(one).__name__)
def test_what_is_no_json_is_a_defect(value: object) -> None:
    with pytest.raises(TypeError):
        written({"value": value})


def test_a_number_that_is_none_is_a_defect() -> None:
    with pytest.raises(ValueError, match="finite"):
        written([Decimal("NaN")])
