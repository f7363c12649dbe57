"""Log lines: one for each request, with what an operator needs and no secret."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from typing import Any

import pytest

from adsunify_server.logs import REDACTED, JsonFormatter, TextFormatter, configure_logging, redact_secrets

from .served import PREFIX, Served

pytestmark = pytest.mark.asyncio(loop_scope="module")

KEY = "adu_AbCd1234_" + "k" * 43
ACCESS, REFRESH = "ada_" + "a" * 43, "adr_" + "r" * 43
SIGNING = "whsec_" + "S" * 40
CANARY = "canary7f3e91d2"


@contextmanager
def capture_log(formatter: logging.Formatter | None = None, level: int = logging.INFO) -> Iterator[StringIO]:
    """Record the lines that are logged in the block."""
    stream = StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(formatter or JsonFormatter())
    ours = logging.getLogger("adsunify")
    before = ours.level
    ours.addHandler(handler)
    ours.setLevel(level)
    try:
        yield stream
    finally:
        ours.removeHandler(handler)
        ours.setLevel(before)


def parse_lines(stream: StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


# -- the members of a line ----------------------------------------------------------------------------------------


async def test_a_request_is_a_line(empty: Served) -> None:
    with capture_log() as stream:
        answer = await empty.admin.send("GET", "/keys")
    (line,) = parse_lines(stream)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line.pop("time"))
    assert line.pop("durationMs") > 0
    verified = await empty.admin.get("/auth/verify")
    assert line == {
        "level": "info",
        "logger": "adsunify.server",
        "message": "answered",
        "requestId": answer.headers["X-Request-Id"],
        "endpoint": "get_keys",
        "method": "GET",
        "route": f"{PREFIX}/keys",
        "status": 200,
        "credential": verified["credential"],
        "workspaceId": verified["workspaceId"],
    }


@pytest.mark.parametrize(
    ("method", "path", "endpoint", "route", "status"),
    [
        ("DELETE", f"{PREFIX}/keys/{CANARY}", "delete_key", f"{PREFIX}/keys/{{keyId}}", 401),
        ("GET", f"/invitation/{CANARY}", "GET /invitation/{token}", "/invitation/{token}", 404),
        ("GET", f"/connect/{CANARY}", "GET /connect/{token}", "/connect/{token}", 404),
        ("GET", f"/{CANARY}?q={CANARY}", "none", None, 404),
        ("PUT", f"/sign-in?next={CANARY}", "none", None, 405),
    ],
)
async def test_a_line_names_the_route_and_not_the_path(
    empty: Served, method: str, path: str, endpoint: str, route: str | None, status: int
) -> None:
    with capture_log() as stream:
        await empty.http.request(method, path)
    (line,) = parse_lines(stream)
    assert (line["endpoint"], line["route"], line["status"]) == (endpoint, route, status)
    assert line["credential"] is None
    assert CANARY not in stream.getvalue()


async def test_an_id_of_the_callers_own_is_not_believed(empty: Served) -> None:
    with capture_log() as stream:
        answer = await empty.admin.send("GET", "/keys", headers={"X-Request-Id": CANARY})
    assert re.fullmatch("[0-9a-f]{32}", answer.headers["X-Request-Id"])
    assert CANARY not in stream.getvalue()


async def test_nothing_that_was_sent_is_logged(empty: Served) -> None:
    """Bodies, queries, headers and cookies, on the API, the agents' door, the pages and the token endpoint."""
    forms = {"email": f"{CANARY}@x.example", "password": CANARY, "code": CANARY, "client_id": CANARY}
    headers = {"User-Agent": CANARY, "Cookie": f"adsunify_session={CANARY}", "Referer": f"http://x/{CANARY}"}
    with capture_log(level=logging.DEBUG) as stream:
        await empty.admin.send("POST", "/keys", {"name": CANARY}, headers=headers)
        await empty.admin.send("POST", "/keys", {CANARY: CANARY})
        await empty.admin.send("GET", "/accounts", query={"network": CANARY}, headers=headers)
        await empty.caller(CANARY).send("GET", "/keys")
        await empty.caller(KEY).send("GET", "/keys")
        await empty.http.post("/api/mcp", content=CANARY, headers={"Authorization": f"Bearer {CANARY}"})
        await empty.http.post("/sign-in", data=forms, headers=headers)
        await empty.http.post("/oauth/token", data={"grant_type": "authorization_code", **forms})
        await empty.http.post("/oauth/register", json={"client_name": CANARY, "redirect_uris": [CANARY]})
        await empty.http.get("/oauth/authorize", params={"client_id": CANARY, "state": CANARY})
        await empty.http.get("/connect/callback/meta", params={"code": CANARY, "state": CANARY})
    assert len(parse_lines(stream)) == 11
    assert CANARY not in stream.getvalue()
    assert KEY not in stream.getvalue()


async def test_a_defect_is_told_with_its_request(empty: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail_with_secret(*_: object) -> None:
        raise ZeroDivisionError(f"while it looked for Bearer {KEY}")

    monkeypatch.setattr("adsunify.store.keys.list_keys", fail_with_secret)
    with capture_log() as stream:
        answer = await empty.admin.send("GET", "/keys")
    trouble, line = parse_lines(stream)
    assert trouble["requestId"] == line["requestId"] == answer.headers["X-Request-Id"]
    assert (trouble["level"], trouble["error"], line["status"]) == ("error", "ZeroDivisionError", 500)
    assert "Traceback" in trouble["traceback"] and REDACTED in trouble["traceback"]
    assert KEY not in stream.getvalue()


async def test_probes_are_quiet(empty: Served) -> None:
    with capture_log() as stream:
        await empty.http.get("/healthz")
        await empty.http.get("/readyz")
    assert stream.getvalue() == ""
    with capture_log(level=logging.DEBUG) as stream:
        await empty.http.get("/healthz")
    assert parse_lines(stream)[0]["endpoint"] == "GET /healthz"


async def test_lines_for_people(empty: Served) -> None:
    with capture_log(TextFormatter()) as stream:
        answer = await empty.admin.send("GET", "/keys")
    (line,) = stream.getvalue().splitlines()
    assert re.match(r"\d{4}-\S+Z INFO answered endpoint=get_keys method=GET ", line)
    assert f"requestId={answer.headers['X-Request-Id']}" in line


# -- the second line of defence -----------------------------------------------------------------------------------


@pytest.mark.parametrize("secret", [KEY, ACCESS, REFRESH, SIGNING])
@pytest.mark.parametrize("around", ["{}", "x{}", "Authorization: Bearer {}", '{{"token": "{}"}}', "a={}&b=1", "'{}'"])
async def test_our_secrets_are_struck_out(secret: str, around: str) -> None:
    text = redact_secrets(around.format(secret))
    if around == "x{}":  # no word of ours
        assert text == f"x{secret}"
        return
    assert secret not in text and REDACTED in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Authorization: Bearer abc.def-ghi, next", f"Authorization: Bearer {REDACTED}, next"),
        ("authorization: bearer abc", f"authorization: bearer {REDACTED}"),
        ("Basic dXNlcjpwYXNz", f"Basic {REDACTED}"),
        ("Cookie: adsunify_session=abc; adsunify_visit=def", None),
        ("__Host-adsunify_session=abc", f"__Host-adsunify_session={REDACTED}"),
        ("GET /invitation/abc-def HTTP/1.1", f"GET /invitation/{REDACTED} HTTP/1.1"),
        ("/connect/abc?x=1", f"/connect/{REDACTED}?x=1"),
        ("/connect/callback/meta", "/connect/callback/meta"),
        ("https://h/p?access_token=abc&x=1", f"https://h/p?access_token={REDACTED}&x=1"),
        ("client_secret=abc", f"client_secret={REDACTED}"),
        ("code=abc&state=def", f"code={REDACTED}&state={REDACTED}"),
        ("status=200 endpoint=get_keys", "status=200 endpoint=get_keys"),
    ],
)
async def test_what_else_is_struck_out(text: str, expected: str | None) -> None:
    struck = redact_secrets(text)
    if expected is None:
        assert "abc" not in struck and "def" not in struck
    else:
        assert struck == expected


@pytest.mark.parametrize("secret", [KEY, f'code={CANARY}"', f"password={CANARY}\\", f"Bearer {CANARY}\n"])
async def test_a_line_stays_json(secret: str) -> None:
    with capture_log() as stream:
        logging.getLogger("adsunify.server").warning('said "%s" and more', secret)
    (line,) = parse_lines(stream)
    assert REDACTED in line["message"] and "and more" in line["message"]
    assert CANARY not in line["message"] and KEY not in line["message"]


async def test_others_say_only_warnings() -> None:
    """HTTP libraries log addresses with their queries, and headers, at lower levels."""
    root = logging.getLogger()
    before = (root.level, root.handlers[:], logging.getLogger("adsunify").level)
    stream = StringIO()
    try:
        configure_logging("debug", "json", stream)
        logging.getLogger("adsunify.server").debug("ours")
        logging.getLogger("httpcore.http11").debug("theirs")
        logging.getLogger("httpx").info("theirs")
        logging.getLogger("asyncio").warning("trouble")
    finally:
        root.setLevel(before[0])
        root.handlers[:] = before[1]
        logging.getLogger("adsunify").setLevel(before[2])
    assert [line["message"] for line in parse_lines(stream)] == ["ours", "trouble"]
