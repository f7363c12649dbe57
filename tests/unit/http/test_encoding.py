"""The bytes of requests, read by independent parsers."""

from __future__ import annotations

from decimal import Decimal
from email.parser import BytesParser
from email.policy import HTTP
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adsunify.http.encoding import encode_body
from adsunify.http.messages import BodyEncoding, Request
from adsunify.http.transport import HttpTransport

from .server import HOST, OK, answer, answer_in_turn, serve_script

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
names = st.from_regex(r"[a-z_.\[\]-]{1,10}", fullmatch=True)


@given(st.dictionaries(text, text, max_size=5))
def test_a_form_is_read_back(fields: dict[str, str]) -> None:
    content, content_type = encode_body("form", fields)
    assert content_type == "application/x-www-form-urlencoded"
    assert content is not None
    assert dict(parse_qsl(content.decode("ascii"), keep_blank_values=True)) == fields


def test_a_form_of_json_writes_only_objects_lists_and_flags_as_json() -> None:
    body = {
        "name": "a & b",
        "budget": 5000,
        "rate": Decimal("0.10"),
        "paused": True,
        "targeting": {"geo": ["US"], "x": Decimal("1.50")},
        "list": [1, "a"],
    }
    content, _ = encode_body("form_json", body)
    assert content is not None
    assert dict(parse_qsl(content.decode("ascii"))) == {
        "name": "a & b",
        "budget": "5000",
        "rate": "0.10",
        "paused": "true",
        "targeting": '{"geo":["US"],"x":1.50}',
        "list": '[1,"a"]',
    }


@pytest.mark.parametrize("value", [{"a": 1}, [1], True, None, 1.5])
def test_a_plain_form_and_multipart_hold_text_only(value: object) -> None:
    with pytest.raises(TypeError):
        encode_body("form", {"x": value})
    with pytest.raises(TypeError):
        encode_body("multipart", {"x": value})


def test_json_keeps_exact_numbers_and_order() -> None:
    content, content_type = encode_body("json", {"b": Decimal("1.10"), "a": [10**30]})
    assert (content, content_type) == (b'{"b":1.10,"a":[1000000000000000000000000000000]}', "application/json")


def test_no_body_is_no_body() -> None:
    assert encode_body("none", {"ignored": 1}) == (None, None)


@given(st.dictionaries(names, text, min_size=1, max_size=4))
def test_multipart_is_read_back(fields: dict[str, str]) -> None:
    content, content_type = encode_body("multipart", fields)
    assert content is not None
    assert content_type is not None
    assert encode_body("multipart", fields) == (content, content_type)
    boundary = content_type.split("boundary=")[1]
    assert content.endswith(f"--{boundary}--\r\n".encode())
    decoded_fields = {}
    for part in content.split(f"--{boundary}".encode())[1:-1]:
        head, _, rest = part.partition(b"\r\n\r\n")
        message = BytesParser(policy=HTTP).parsebytes(head.removeprefix(b"\r\n") + b"\r\n\r\n")
        assert message.get_content_disposition() == "form-data"
        name = head.split(b'name="')[1].rsplit(b'"', 1)[0].decode()
        decoded_fields[name] = rest.removesuffix(b"\r\n").decode()
    assert decoded_fields == fields


@pytest.mark.parametrize("name", ['a"', "a\r\nb", "", "\u00e9"])
def test_a_field_name_that_cannot_be_written_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="field name"):
        encode_body("multipart", {name: "x"})


async def _read_sent_request(request: Request) -> bytes:
    async with serve_script(answer_in_turn(OK)) as server:
        sending = HttpTransport(server.url)
        await sending.send(request, hosts=(HOST,))
        return server.requests[0]


async def test_an_encoded_query_is_sent_untouched() -> None:
    raw = "q=search&search=(status:(values:List(ACTIVE)),x:List(urn%3Ali%3Ageo%3A1))&fields=a,b'%c3%a9"
    sent = await _read_sent_request(Request("GET", f"https://{HOST}/rest/adAccounts", query_raw=raw))
    assert sent.startswith(f"GET /{HOST}/rest/adAccounts?{raw} HTTP/1.1\r\n".encode())


async def test_path_slots_and_query_values_are_encoded_once() -> None:
    request = Request(
        "GET", f"https://{HOST}/v1/{{id}}/x", path={"id": "urn:li:a/b c%2F\u00e9"}, query={"a": "b c&d", "e": "%2F"}
    )
    sent = await _read_sent_request(request)
    target = sent.split(b" ")[1].decode()
    assert target == f"/{HOST}/v1/urn%3Ali%3Aa%2Fb%20c%252F%C3%A9/x?a=b%20c%26d&e=%252F"


async def test_dots_in_a_path_that_a_network_wants_are_sent_as_they_are() -> None:
    sent = await _read_sent_request(Request("GET", f"https://{HOST}/v1/a.b/..c/%2e"))
    assert sent.split(b" ")[1].decode() == f"/{HOST}/v1/a.b/..c/%2e"


@pytest.mark.parametrize(
    ("encoding", "body", "headers", "content_type"),
    [
        ("json", {"a": 1}, {}, "application/json"),
        ("json", {"a": 1}, {"Content-Type": "application/vnd.x.v3+json"}, "application/vnd.x.v3+json"),
        ("form", {"a": "1"}, {}, "application/x-www-form-urlencoded"),
        ("none", None, {}, None),
    ],
)
async def test_headers_are_the_requests_over_our_own(
    encoding: BodyEncoding, body: dict[str, object], headers: dict[str, str], content_type: str | None
) -> None:
    request = Request("POST", f"https://{HOST}/x", headers={"X-Own": "1", **headers}, body=body, encoding=encoding)
    head = (await _read_sent_request(request)).split(b"\r\n\r\n")[0].decode().lower().split("\r\n")[1:]
    sent_headers = dict(line.split(": ", 1) for line in head)
    assert len(sent_headers) == len(head)
    assert sent_headers["x-own"] == "1"
    assert sent_headers.get("content-type") == content_type
    assert sent_headers["accept-encoding"] == "gzip"


async def test_a_download_brings_bytes_and_its_error_json() -> None:
    request = Request("GET", f"https://{HOST}/r.csv", response_format="bytes")
    script = answer_in_turn(answer(200, b"a,b\n"), answer(404, b'{"e":1}'))
    async with serve_script(script) as server:
        sending = HttpTransport(server.url)
        download = await sending.send(request, hosts=(HOST,))
        problem = await sending.send(request, hosts=(HOST,))
    assert (download.state, download.body) == ("bytes", b"a,b\n")
    assert (problem.state, problem.body) == ("json", {"e": 1})
