"""JSON is written by an encoder in Rust where it can, and nobody can tell: the reference here is Python's own."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adsunify.values.exact_json import dumps, dumps_bytes, dumps_canonical

TEXT = st.text(st.characters(exclude_categories=()))  # halves of characters too
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(1 << 70), 1 << 70)
    | st.decimals(allow_nan=False, allow_infinity=False).filter(lambda number: abs(number.adjusted()) < 100)
    | TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner),
    max_leaves=20,
)


def reference(value: Any, sort_keys: bool = False) -> str:
    """Compact ASCII, decimals as they are."""
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, dict):
        names = sorted(value) if sort_keys else value
        return "{" + ",".join(f"{json.dumps(name)}:{reference(value[name], sort_keys)}" for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(reference(element, sort_keys) for element in value) + "]"
    return json.dumps(value)


@given(VALUES)
def test_byte_for_byte(value: Any) -> None:
    assert dumps(value) == reference(value)
    assert dumps_bytes(value) == reference(value).encode()
    assert dumps_canonical(value) == reference(value, sort_keys=True).encode()


@pytest.mark.parametrize(
    "value",
    [
        '\x00\x1f\x7f\x80\u2028 /"\\<é€😀',
        {"ä": ["ö\x7f", Decimal("0.10")], "Z": 1, "a": 2, "\U00010000": 3, "\uffff": 4},
        {"\ud800": 1, "\x7f": Decimal(2), "a": {"c": 1, "b": 2}},
        1 << 64,
        -(1 << 63) - 1,
        "\ud800",
    ],
    ids=ascii,
)
def test_what_is_not_plain(value: Any) -> None:
    assert dumps(value) == reference(value)
    assert dumps_canonical(value) == reference(value, sort_keys=True).encode()


def test_deep_nesting_is_written() -> None:
    value: Any = "leaf"
    for _ in range(400):
        value = [value]
    assert dumps(value) == "[" * 400 + '"leaf"' + "]" * 400


NO_JSON: list[object] = [object(), datetime.now(UTC), {1: 2}.keys(), b"bytes"]


@pytest.mark.parametrize("value", NO_JSON, ids=lambda value: type(value).__name__)
def test_what_is_no_json_is_a_defect(value: object) -> None:
    with pytest.raises(TypeError):
        dumps({"value": value})


@pytest.mark.parametrize("write", [dumps, dumps_canonical])
def test_a_number_that_is_none_is_a_defect(write: Any) -> None:
    with pytest.raises(ValueError, match="finite"):
        write([Decimal("NaN")])


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
@pytest.mark.parametrize("write", [dumps, dumps_canonical])
def test_a_float_that_is_no_number_is_a_defect_wherever_it_stands(write: Any, number: float) -> None:
    with pytest.raises(ValueError):
        write({"a": [None, 1, (2, {"b": number})]})
