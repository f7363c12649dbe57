"""Applications whose id is the address of a document: what is fetched for a person, what is shown, what is refused.

The documents come from a server with a certificate on this machine, through all guards but two: here this machine
counts as public, and the port is not 443.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
import pytest_asyncio
from attrs import evolve

from adsunify.adapter.oauth import make_code_challenge
from adsunify.http import safe_fetch
from adsunify.http.egress import Egress
from adsunify.http.safe_fetch import FetchUrl
from adsunify.service import client_documents, kept_documents
from adsunify.service.client_documents import MAX_DOCUMENT_BYTES
from adsunify.service.kept_documents import ClientDocuments
from adsunify.service.rate_limits import RateLimiter, RateLimits
from adsunify.store.guardrails import freeze_credential
from tests.server.served import Served
from tests.unit.http.certificates import Authority

from .browsing import Browser, browser, email

pytestmark = pytest.mark.asyncio(loop_scope="module")
HOST = "app.agent-maker.example"
URL = f"https://{HOST}/oauth/client.json"
REDIRECT = "https://agent-maker.example/callback"
VERIFIER = "v" * 50
RULE = "cannot be used"


class Publisher:
    """The server of the documents. ``responses``: what it answers, by path; ``seen``: the heads of its requests."""

    def __init__(self) -> None:
        self.responses: dict[str, bytes] = {}
        self.requests: list[str] = []

    def publish(self, url: str = URL, headers: str = "", status: str = "200 OK", **changes: Any) -> None:
        """Publish a good document; ``changes`` replaces members, and None removes one."""
        document = {
            "client_id": url,
            "client_name": "Campaign helper",
            "client_uri": "https://agent-maker.example",
            "redirect_uris": [REDIRECT],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
            **changes,
        }
        members = {name: value for name, value in document.items() if value is not None}
        self.answer(url, json.dumps(members).encode(), headers, status)

    def answer(self, url: str, body: bytes, headers: str = "", status: str = "200 OK") -> None:
        kind = "" if "content-type" in headers.lower() else "Content-Type: application/json\r\n"
        head = f"HTTP/1.1 {status}\r\n{kind}{headers}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        self.responses[urlsplit(url).path] = head.encode() + body

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            self.requests.append(head)
            writer.write(self.responses.get(head.split(" ")[1], b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"))
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@pytest_asyncio.fixture(loop_scope="module")
async def publisher(site: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Publisher]:
    """The server of the documents, which our server reaches by its name."""
    authority, publisher = Authority(tmp_path), Publisher()
    listener = await asyncio.start_server(publisher.serve, "127.0.0.1", 0, ssl=authority.server(HOST))
    port = listener.sockets[0].getsockname()[1]
    check = safe_fetch.parse_public_url

    def parse_with_port(url: str, *rest: Any, **more: Any) -> FetchUrl:
        return evolve(check(url, *rest, **more), port=port)

    async def resolve(host: str) -> Sequence[str]:
        return ["127.0.0.1"]

    monkeypatch.setattr(safe_fetch, "parse_public_url", parse_with_port)
    monkeypatch.setattr(safe_fetch, "is_public_ipv4", lambda address: address == "127.0.0.1")
    service = site.service
    monkeypatch.setattr(service, "resolve_host", resolve)
    monkeypatch.setattr(service.transport, "egress", Egress(authority.make_client_context()))
    monkeypatch.setattr(service, "client_documents", ClientDocuments())
    limiter = RateLimiter(RateLimits(0, 0, 0, 0), service.counters, service.store.clock.wall)
    monkeypatch.setattr(service, "rate_limiter", limiter)
    yield publisher
    listener.close()


def make_consent_path(client_id: str = URL, redirect: str = REDIRECT) -> str:
    query = {
        "response_type": "code",
        "client_id": client_id,
        "redirect_uri": redirect,
        "code_challenge": make_code_challenge(VERIFIER),
        "code_challenge_method": "S256",
        "scope": "ads:read ads:write",
        "state": "st",
    }
    return "/oauth/authorize?" + urlencode(query)


async def read_refusal(site: Served, client_id: str = URL, redirect: str = REDIRECT) -> str:
    """What a person reads where there is nothing to allow; the browser is sent nowhere."""
    async with browser(site) as person:
        await person.sign_in(email("member"))
        await person.open(make_consent_path(client_id, redirect), 404)
        assert person.path == "/oauth/authorize"
        return person.text


async def allow(person: Browser) -> str:
    """Allow with write access; the code."""
    sent = {**person.page.forms[-1].fields, "decision": "allow", "access": "write"}
    answer = await person.http.post(person.at, data=sent, follow_redirects=False)
    assert answer.status_code == 303, answer.text
    assert answer.headers["Location"].startswith(f"{REDIRECT}?")
    return parse_qs(urlsplit(answer.headers["Location"]).query)["code"][0]


async def test_the_metadata_says_so(site: Served) -> None:
    metadata = (await site.http.get("/.well-known/oauth-authorization-server")).json()
    assert metadata["client_id_metadata_document_supported"] is True and "registration_endpoint" in metadata


async def test_from_the_document_to_a_token(site: Served, publisher: Publisher) -> None:
    """The document is fetched once, for a person who is signed in; the page shows who publishes it."""
    publisher.publish()
    async with browser(site) as person:
        await person.open(make_consent_path())
        assert person.path == "/sign-in" and publisher.requests == []
        await person.send({"email": email("member"), "password": "correct horse"})
        assert "Campaign helper" in person.text and f"published by {HOST}" in person.text
        assert REDIRECT in person.text and "on your own computer" not in person.text
        code = await allow(person)
    (head,) = publisher.requests
    assert head.startswith("GET /oauth/client.json HTTP/1.1\r\n") and "authorization" not in head.lower()
    form = {"code": code, "redirect_uri": REDIRECT, "client_id": URL, "code_verifier": VERIFIER}
    wrong = await site.http.post(
        "/oauth/token", data={**form, "grant_type": "authorization_code", "client_id": URL + "x"}
    )
    assert wrong.status_code == 400
    tokens = (await site.http.post("/oauth/token", data={**form, "grant_type": "authorization_code"})).json()
    renewed = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"], "client_id": URL}
    tokens = (await site.http.post("/oauth/token", data=renewed)).json()
    verified = await site.caller(tokens["access_token"]).get("/auth/verify")
    assert (verified["clientId"], verified["clientName"]) == (URL, "Campaign helper")
    assert len(publisher.requests) == 1
    # a new consent shows what the document says now, and replaces the grant
    site.service.client_documents = ClientDocuments()
    publisher.publish(client_name="Campaign helper 2")
    async with browser(site) as person:
        await person.sign_in(email("member"))
        await person.open(make_consent_path())
        await allow(person)
    grants = await site.person("member").get("/connected-agents")
    assert [grant["clientName"] for grant in grants if grant["clientId"] == URL] == ["Campaign helper 2"]
    old = await site.http.post("/oauth/token", data={**renewed, "refresh_token": tokens["refresh_token"]})
    assert (old.status_code, old.json()["error"]) == (400, "invalid_grant")


async def test_a_guardrail_binds_such_an_application(site: Served, publisher: Publisher) -> None:
    """The pages name it by its address, keep it in a guardrail that is saved again, and lift its freeze."""
    publisher.publish()
    actor, clock = site.people["admin"].actor, site.service.store.clock
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        await person.open(make_consent_path())
        await allow(person)
        scope = {"clients": [{"clientId": URL, "userId": actor.user_id}]}
        members = {"name": "Nothing is deleted", "blockedActions": ["delete"], "onBreach": "freeze"}
        rule = await site.admin.post("/guardrails", {**members, "scope": scope}, 201)
        credential = f"{URL}:{actor.user_id}"
        await site.service.store.write(freeze_credential, actor.workspace_id, credential, rule["id"], None, clock)
        await person.open(f"/guardrails/{rule['id']}")
        await person.send({}, button="Save")
        assert (await site.admin.get(f"/guardrails/{rule['id']}"))["scope"] == scope
        assert f"with agent {URL}" in person.text
        await person.send({"confirmed": "true"}, button="Lift the freeze")
        assert await site.admin.get("/guardrails/freezes") == []
    await site.admin.delete(f"/guardrails/{rule['id']}")


async def test_an_answer_to_this_computer_is_warned_of(site: Served, publisher: Publisher) -> None:
    publisher.publish(redirect_uris=["http://localhost:3000/callback", "http://127.0.0.1/callback"])
    for redirect in ("http://localhost:3000/callback", "http://localhost:4711/callback", "http://127.0.0.1:9/callback"):
        async with browser(site) as person:
            await person.sign_in(email("member"))
            await person.open(make_consent_path(redirect=redirect))
            assert "on your own computer" in person.text and redirect in person.text
    for redirect in ("http://localhost:3000/other", "http://[::1]/callback", REDIRECT):
        assert "not registered" in await read_refusal(site, redirect=redirect)


@pytest.mark.parametrize(
    "client_id",
    [
        *("https://127.0.0.1/client.json", "https://2130706433/c", "https://0x7f.1/c", "https://[::1]/c"),
        *("https://localhost/client.json", "https://app.example:8443/c", "https://user@app.example/c"),
        *("https://app.example", "https://app.example/", "https://app.example/c#f", "https://app.example/c?x=1"),
        *("https://app.example/a/../c", "https://app.example/./c", "https://app.example/a/%2e%2E/c"),
        *("https://app.example/\\c", "https://app.example/a b", "https://app.example/" + "x" * 481),
    ],
)
async def test_an_address_that_is_no_id(site: Served, publisher: Publisher, client_id: str) -> None:
    assert RULE in await read_refusal(site, client_id) and publisher.requests == []


@pytest.mark.parametrize(
    "client_id", ["http://app.example/c.json", "HTTPS://app.example/c.json", "ftp://app.example/c"]
)
async def test_other_schemes_are_no_documents(site: Served, publisher: Publisher, client_id: str) -> None:
    assert "not registered" in await read_refusal(site, client_id) and publisher.requests == []


@pytest.mark.parametrize(
    "addresses", [["10.0.0.1"], ["169.254.169.254"], ["8.8.8.8", "192.168.0.1"], ["::1"], ["8.8.8.8", "127.0.0.1"], []]
)
async def test_a_name_with_a_private_address_is_not_fetched(
    site: Served, publisher: Publisher, monkeypatch: pytest.MonkeyPatch, addresses: list[str]
) -> None:
    monkeypatch.setattr(safe_fetch, "is_public_ipv4", lambda address: address == "8.8.8.8")
    looked_up: list[str] = []

    async def resolve(host: str) -> Sequence[str]:
        looked_up.append(host)
        return addresses

    monkeypatch.setattr(site.service, "resolve_host", resolve)
    assert RULE in await read_refusal(site)
    assert looked_up == [HOST] and publisher.requests == []


async def test_a_name_is_looked_up_once(site: Served, publisher: Publisher, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that answers another address the second time leads nowhere else."""
    publisher.publish()
    answers = iter((["127.0.0.1"], ["10.0.0.1"]))

    async def resolve(host: str) -> Sequence[str]:
        return next(answers)

    monkeypatch.setattr(site.service, "resolve_host", resolve)
    async with browser(site) as person:
        await person.sign_in(email("member"))
        await person.open(make_consent_path())
        assert "Campaign helper" in person.text
    assert next(answers) == ["10.0.0.1"] and len(publisher.requests) == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"client_id": None},
        {"client_id": URL + "/"},
        {"client_id": URL.replace("app", "APP")},
        {"client_id": [URL]},
        {"client_name": None},
        {"client_name": ""},
        {"client_name": "Safe\u202eevil"},
        {"redirect_uris": None},
        {"redirect_uris": []},
        {"redirect_uris": REDIRECT},
        {"redirect_uris": ["http://agent-maker.example/callback"]},
        {"redirect_uris": ["javascript:alert(1)"]},
        {"redirect_uris": [REDIRECT + "#f"]},
        {"redirect_uris": [REDIRECT] * 11},
        {"token_endpoint_auth_method": "client_secret_basic"},
        {"token_endpoint_auth_method": "private_key_jwt"},
        {"client_secret": "s"},
        {"client_secret_expires_at": 0},
        {"padding": "x" * MAX_DOCUMENT_BYTES},
    ],
)
async def test_a_document_that_says_something_else(site: Served, publisher: Publisher, changes: Any) -> None:
    publisher.publish(**changes)
    assert RULE in await read_refusal(site)
    assert len(publisher.requests) == 1


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"{", "", "200 OK"),
        (b"[]", "", "200 OK"),
        (b'"text"', "", "200 OK"),
        (b'{"client_id": "a", "client_id": "b"}', "", "200 OK"),
        (b"[" * 5_000, "", "200 OK"),
        (b"\xff\xfe", "", "200 OK"),
        (b"{}", "Content-Type: text/html\r\n", "200 OK"),
        (b"{}", "Content-Type: application/jsonp\r\n", "200 OK"),
        (b"{}", f"Location: {URL}2\r\n", "302 Found"),
        (b"{}", "Location: http://127.0.0.1/\r\n", "307 Temporary Redirect"),
        (b"{}", "", "404 Not Found"),
        (b"{}", "", "201 Created"),
        (b"", "", "204 No Content"),
        (b"{}", "", "500 Internal Server Error"),
        (b"{}", "Content-Encoding: gzip\r\n", "200 OK"),
    ],
)
async def test_an_answer_that_is_no_document(
    site: Served, publisher: Publisher, body: bytes, headers: str, status: str
) -> None:
    publisher.publish(URL + "2")
    publisher.answer(URL, body, headers, status)
    assert RULE in await read_refusal(site)
    assert [head.split(" ")[1] for head in publisher.requests] == ["/oauth/client.json"]


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "application/oauth-client+json"])
async def test_other_types_of_json(site: Served, publisher: Publisher, kind: str) -> None:
    publisher.publish(headers=f"Content-Type: {kind}\r\n")
    async with browser(site) as person:
        await person.sign_in(email("member"))
        await person.open(make_consent_path())
        assert "Campaign helper" in person.text


async def test_a_server_that_does_not_answer(
    site: Served, publisher: Publisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_documents, "TIMEOUT_SECONDS", 0.2)
    release = asyncio.Event()

    async def wait(host: str) -> Sequence[str]:
        await release.wait()
        return []

    monkeypatch.setattr(site.service, "resolve_host", wait)
    assert "did not answer" in await read_refusal(site)
    release.set()


@pytest.mark.parametrize(
    ("headers", "minutes", "fetches"),
    [
        ("", 4, 1),
        ("", 6, 2),
        ("Cache-Control: no-store\r\n", 4, 1),
        ("Cache-Control: max-age=0\r\n", 6, 2),
        ("Cache-Control: public, max-age=3600\r\n", 59, 1),
        ("Cache-Control: public, max-age=3600\r\n", 61, 2),
        ("Cache-Control: max-age=999999999\r\n", 24 * 60 - 1, 1),
        ("Cache-Control: max-age=999999999\r\n", 24 * 60 + 1, 2),
    ],
)
async def test_how_long_a_document_is_kept(
    site: Served, publisher: Publisher, monkeypatch: pytest.MonkeyPatch, headers: str, minutes: int, fetches: int
) -> None:
    publisher.publish(headers=headers)
    service = site.service
    await client_documents.read_client_document(service, URL, "")
    before = site.hands.ahead
    site.hands.pass_(minutes=minutes)
    try:
        await client_documents.read_client_document(service, URL, "")
    finally:
        site.hands.ahead = before
    assert len(publisher.requests) == fetches


async def test_what_is_kept_is_bounded_and_fetched_once(
    site: Served, publisher: Publisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_documents, "MAX_KEPT_DOCUMENTS", 2)
    urls = [f"https://{HOST}/{number}.json" for number in range(3)]
    for url in urls:
        publisher.publish(url)
    reads = [client_documents.read_client_document(site.service, url, "") for url in urls[:1] * 5]
    assert {client.id for client in await asyncio.gather(*reads)} == {urls[0]} and len(publisher.requests) == 1
    for url in urls[1:]:
        await client_documents.read_client_document(site.service, url, "")
    await client_documents.read_client_document(site.service, urls[2], "")
    assert len(publisher.requests) == 3
    await client_documents.read_client_document(site.service, urls[0], "")  # the oldest was dropped
    assert len(publisher.requests) == 4


async def test_fetches_are_limited_like_registrations(
    site: Served, publisher: Publisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A document that is kept, and an error, count as well as their requests do."""
    service = site.service
    limiter = RateLimiter(RateLimits(0, 0, 0, 2), service.counters, service.store.clock.wall)
    monkeypatch.setattr(service, "rate_limiter", limiter)
    publisher.publish()
    async with browser(site) as person:
        await person.sign_in(email("member"))
        for address, status in ((URL, 200), (URL, 200), (URL + "2", 404), (URL + "3", 429), (URL, 200)):
            await person.open(make_consent_path(address), status)
    assert len(publisher.requests) == 2
