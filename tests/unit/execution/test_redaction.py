"""What is kept of an answer: bounded, storable, without secrets."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from adsunify.adapter.error_rules import find_read_error
from adsunify.errors import NativeErrorDetails
from adsunify.execution.redaction import redact_response, to_retry_delay_ms
from adsunify.execution.state import MAX_STORED_RESPONSE_BYTES
from adsunify.http.messages import Response
from adsunify.http.redaction import find_request_id, redact_error, redact_text
from adsunify.networks.registry import get_adapter
from adsunify.values.exact_json import Json, dumps


def redact_body(body: Json) -> Json:
    return redact_response(Response(200, {}, body))


def test_a_small_answer_is_kept_as_it_is() -> None:
    body = {"id": "1", "amount": Decimal("1.50"), "list": [1, None, True, {"a": "b"}], "empty": [], "note": "a=b"}
    assert redact_body(body) == body


def test_secrets_are_redacted_by_name_at_any_depth() -> None:
    body = {"data": [{"access_token": "s3cret", "clientSecret": "s3cret", "API-Key": "s3cret", "tokens": ["s3cret"]}]}
    assert "s3cret" not in dumps(redact_body(body))
    assert redact_body({"token_count": 7, "password": None}) == {"token_count": 7, "password": None}


def test_secrets_in_addresses_are_redacted() -> None:
    following = "https://graph.example/v1/me?limit=5&access_token=s3cret&after=x"
    assert redact_body({"next": following}) == {"next": following.replace("s3cret", "[redacted]")}
    assert "s3cret" not in redact_text("appsecret_proof=s3cret")


def test_what_a_database_refuses_is_replaced() -> None:
    assert redact_body({"a\x00": "b\ud800c\x00\nd"}) == {"a\ufffd": "b\ufffdc\ufffd\nd"}
    assert redact_error(NativeErrorDetails("\x00", "m" * 9_000, "\udfff", 400)) == NativeErrorDetails(
        "\ufffd", "m" * 2_000, "\ufffd", 400
    )
    assert find_request_id({"x-request-id": "a\x00"}) == "a\ufffd"


def test_a_message_is_cut_before_anything_searches_in_it() -> None:
    body: Json = {"error": {"code": 100, "message": "nonexisting field (" * 20_000}}
    problem = find_read_error(get_adapter("meta").network, Response(400, {}, body))
    assert problem is not None
    assert len(problem.native.message or "") <= 10_000
    assert len(str(problem)) <= 10_100


def test_no_body_is_kept_as_none() -> None:
    assert redact_response(Response(204, {}, None, "empty")) is None
    assert redact_response(Response(200, {}, b"x", "bytes")) is None
    assert redact_response(Response(502, {}, "not JSON", "unreadable")) == "not JSON"


def _nest_lists(depth: int) -> Json:
    value: Json = 1
    for _ in range(depth):
        value = [value]
    return value


def test_a_large_answer_is_cut_and_says_so() -> None:
    bodies: tuple[Json, ...] = (
        "x" * 10_000_000,
        "\U0001f600" * 1_000_000,
        '\x7f"' * 1_000_000,
        ["x" * 100] * 1_000_000,
        [[]] * 1_000_000,
        [10**399] * 100_000,
        {str(index): None for index in range(1_000_000)},
        {"n" * 1_000_000: 1, "m": ["x" * 70_000]},
        [{"access_token": "x"}] * 1_000_000,
        {"\x7f" * 200 + str(index): 1 for index in range(10_000)},
        "a-" * 1_000_000 + "=",
        "token" * 1_000_000 + "=",
        "token=x&" * 1_000_000,
        _nest_lists(900),
    )
    for body in bodies:
        text = dumps(redact_body(body))
        assert len(text) <= MAX_STORED_RESPONSE_BYTES
        assert "[cut]" in text


_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.decimals(allow_nan=False, allow_infinity=False, places=2),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(_json, st.integers(1, 400))
def test_it_never_exceeds_its_bound(body: Json, times: int) -> None:
    text = dumps(redact_body([body] * times))
    assert len(text) <= MAX_STORED_RESPONSE_BYTES
    text.encode("utf-8")
    assert "\x00" not in text


def test_waits_are_believed_within_reason() -> None:
    assert to_retry_delay_ms(1.5, 1) == 1_500
    assert to_retry_delay_ms(0, 1) == 0
    assert to_retry_delay_ms(1e9, 1) == 86_400_000
    for silly in (None, -1.0, float("nan"), float("inf")):
        assert to_retry_delay_ms(silly, 1) == 2_000
    assert [to_retry_delay_ms(None, attempt) for attempt in (1, 2, 3, 6, 99)] == [2_000, 4_000, 8_000, 60_000, 60_000]
