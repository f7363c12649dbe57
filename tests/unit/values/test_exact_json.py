"""Exact JSON and pointers."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adsunify.errors import ProviderUnreadable
from adsunify.http.messages import Request, Response, build_request_url
from adsunify.values.exact_json import RepeatedMembers, dumps, dumps_canonical, loads
from adsunify.values.json_pointer import (
    find_values,
    get_objects,
    get_text,
    get_value,
    require_id,
    require_value,
    set_value,
)

NUMBERS = st.integers(-(10**30), 10**30) | st.decimals(allow_nan=False, allow_infinity=False, places=6)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(), children, max_size=4),
    max_leaves=20,
)


@given(JSON)
def test_json_comes_back_exactly(value: object) -> None:
    assert loads(dumps(value)) == value
    assert loads(dumps_canonical(value)) == value


@given(
    JSON, st.sampled_from(["{0}", '{{"a":{0},"b":1}}', '{{"a:b":[{0}],"c":"a:b"}}', '{{"\\u0061":{0}}}', "\ufeff{0}"])
)
def test_bytes_are_read_exactly(value: object, form: str) -> None:
    text = form.format(dumps(value))
    expected = json.loads(text.removeprefix("\ufeff"), parse_float=Decimal)
    assert repr(loads(text.encode())) == repr(expected)


@pytest.mark.parametrize(
    "text",
    ['{"a":1,"a":2}', '[{"a":"b:c","\\u0061":2}]', '{"a":"\\u003a","a":1}', '{"a":{"b":1},"a":":"}', '{"":0.5,"":1}'],
)
def test_members_that_repeat_are_refused(text: str) -> None:
    for form in (text, text.encode(), "[" * 300 + text + "]" * 300):
        with pytest.raises(RepeatedMembers):
            loads(form)


def test_deep_and_long_responses_are_unreadable() -> None:
    for depth, state in ((100, "json"), (101, "unreadable"), (300, "unreadable"), (100_000, "unreadable")):
        content = b'{"a":' * depth + b"0.5" + b"}" * depth
        assert Response.from_bytes(200, {}, content).state == state


@given(JSON)
def test_canonical_bytes_do_not_depend_on_the_order_of_members(value: object) -> None:
    def reverse_members(node: object) -> object:
        if isinstance(node, dict):
            return {name: reverse_members(node[name]) for name in reversed(list(node))}
        return [reverse_members(child) for child in node] if isinstance(node, list) else node

    assert dumps_canonical(reverse_members(value)) == dumps_canonical(value)
    dumps_canonical(value).decode("ascii")


@pytest.mark.parametrize("literal", ["0.1", "35.50", "0.000001", "-2.5", "123456789012345678901234567890.123456789"])
def test_a_fraction_keeps_its_digits(literal: str) -> None:
    assert isinstance(loads(literal), Decimal)
    assert dumps(loads(literal)) == literal


@pytest.mark.parametrize(
    "hostile",
    [
        "NaN",
        "Infinity",
        "-Infinity",
        "1" * 5000,
        "1e999999999",
        "1e400",
        "1e-400",
        "123456789e-400",
        "0." + "1" * 5000,
        "[" * 100_000,
        '{"a":' * 100_000,
        "",
        "{",
        '{"a":1}}',
        b"\xff\xfe",
    ],
)
def test_hostile_json_is_refused_as_a_value_error(hostile: str | bytes) -> None:
    with pytest.raises(ValueError):
        loads(hostile)
    content = hostile if isinstance(hostile, bytes) else hostile.encode()
    assert Response.from_bytes(200, {}, content).state in ("unreadable", "empty")


@pytest.mark.parametrize("literal", ["1e396", "1e-396", "-1.5e-395", "123456789e-396", "-123456789.5e300"])
def test_an_extreme_number_can_be_read_again(literal: str) -> None:
    """It is written in plain notation, which is longer."""
    assert loads(dumps(loads(literal))) == Decimal(literal)


def test_a_float_cannot_be_written_as_nan() -> None:
    with pytest.raises(ValueError):
        dumps(float("nan"))
    with pytest.raises(ValueError):
        dumps(Decimal("NaN"))


def test_the_mark_of_decimals_cannot_be_forged() -> None:
    value = {"text": "35.5", "number": Decimal("35.5"), "quoted": '"35.5"'}
    assert json.loads(dumps(value), parse_float=Decimal) == value


@given(JSON, st.text(max_size=20))
def test_reading_never_raises(value: object, pointer: str) -> None:
    get_value(value, "/" + pointer)
    find_values(value, "/" + pointer)
    get_text(value, "/" + pointer)


@given(st.dictionaries(st.text(min_size=1), st.text()))
def test_pointers_reach_every_member(value: dict[str, str]) -> None:
    for name, member in value.items():
        pointer = "/" + name.replace("~", "~0").replace("/", "~1")
        assert get_value(value, pointer) == member
        changed = dict(value)
        set_value(changed, pointer, "new")
        assert get_value(changed, pointer) == "new"


def test_what_is_needed_and_missing_is_unreadable() -> None:
    with pytest.raises(ProviderUnreadable):
        require_value({}, "/id")
    with pytest.raises(ProviderUnreadable):
        require_id({"id": True}, "/id")
    with pytest.raises(ProviderUnreadable):
        get_objects({"data": [1]}, "/data")
    assert require_id({"id": 2**70}, "/id") == str(2**70)
    assert get_objects({}, "/data") == []


def test_star_finds_every_child() -> None:
    body = {"images": {"a": {"hash": "x"}, "b": {"hash": "y"}}, "list": [{"id": "1"}, {"id": "2"}, {}]}
    assert find_values(body, "/images/*/hash") == ["x", "y"]
    assert find_values(body, "/list/*/id") == ["1", "2"]


def test_paths_and_queries_are_encoded_once() -> None:
    request = Request("GET", "https://h/v1/{id}", path={"id": "a/b c~d"}, query={"q": "a&b=c d"})
    assert build_request_url(request) == "https://h/v1/a%2Fb%20c~d?q=a%26b%3Dc%20d"
    raw = Request("GET", "https://h/x", query_raw="q=List(urn%3Ali%3A1)")
    assert build_request_url(raw) == "https://h/x?q=List(urn%3Ali%3A1)"


@pytest.mark.exhaustive
@given(st.text(min_size=1), st.text())
def test_a_caller_cannot_leave_his_slot(slot: str, query: str) -> None:
    if any(0xD800 <= ord(character) <= 0xDFFF for character in slot + query):
        return
    url = build_request_url(Request("GET", "https://h/a/{id}/b", path={"id": slot}, query={"q": query}))
    path, _, rest = url.removeprefix("https://h").partition("?")
    assert path.count("/") == 3
    assert rest.count("&") == 0
    assert "#" not in url
