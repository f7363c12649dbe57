"""What goes wrong, for a person in a browser: a page in the pages' design; for everybody else a problem."""

from __future__ import annotations

import re

import httpx
import pytest

from adsunify.service.rate_limits import RateLimiter, RateLimits
from tests.server.served import PREFIX, Served

from .browsing import Page, browser, email

pytestmark = pytest.mark.asyncio(loop_scope="module")
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"
SECRET = "canary7f3e91d2"


def read_error_page(answer: httpx.Response, status: int) -> Page:
    """The page that an error is, with all that every page has."""
    assert (answer.status_code, answer.headers["Content-Type"]) == (status, "text/html; charset=utf-8")
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert answer.headers["Cache-Control"] == "no-store" and answer.headers["X-Frame-Options"] == "DENY"
    request_id = answer.headers["X-Request-Id"]
    assert re.fullmatch("[0-9a-f]{32}", request_id)
    page = Page(answer.text)
    assert page.open == []
    assert [tag for tag, _ in page.elements].count("h1") == 1
    assert request_id in page.text
    assert {"/operations", "/docs"} <= set(page.links.values())
    return page


@pytest.mark.parametrize(
    ("method", "path", "status", "text"),
    [
        ("GET", "/nothing", 404, "No page or endpoint has this address."),
        ("GET", f"/{SECRET}?q={SECRET}", 404, "No page or endpoint has this address."),
        ("DELETE", "/sign-in", 405, "This address does not accept this method."),
        ("GET", "/oauth/token", 405, "This address does not accept this method."),
    ],
)
async def test_a_browser_gets_a_page(site: Served, method: str, path: str, status: int, text: str) -> None:
    answer = await site.http.request(method, path, headers={"Accept": BROWSER})
    assert text in read_error_page(answer, status).text
    assert SECRET not in answer.text
    assert ("Allow" in answer.headers) == (status == 405)


async def test_a_form_that_is_too_large(site: Served) -> None:
    answer = await site.http.post("/sign-in", data={"email": "x" * 2_000_000}, headers={"Accept": BROWSER})
    assert "larger than 1 MiB" in read_error_page(answer, 413).text


async def test_a_defect(site: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    def raise_defect(*_: object, **__: object) -> None:
        raise ZeroDivisionError(SECRET)

    monkeypatch.setattr("adsunify_server.pages.request.PageRequest.render_page", raise_defect)
    answer = await site.http.get("/sign-in", headers={"Accept": BROWSER})
    assert "the reason is in the log" in read_error_page(answer, 500).text
    assert SECRET not in answer.text


@pytest.mark.parametrize(
    "accept",
    [
        "",
        "*/*",
        "application/json",
        "text/html;q=0.5, application/json",
        "text/html, application/json",
        "text/html;q=x",
    ],
)
async def test_others_get_a_problem(site: Served, accept: str) -> None:
    answer = await site.http.get("/nothing", headers={"Accept": accept})
    assert (answer.status_code, answer.headers["Content-Type"]) == (404, "application/problem+json")
    assert answer.json()["requestId"] == answer.headers["X-Request-Id"]


@pytest.mark.parametrize("path", [f"{PREFIX}/nothing", "/api/v2/ads/keys", "/api/mcp"])
async def test_the_api_is_never_a_page(site: Served, path: str) -> None:
    answer = await site.http.get(path, headers={"Accept": BROWSER})
    assert answer.status_code in (404, 405)
    assert answer.headers["Content-Type"] == "application/problem+json"


async def test_who_is_signed_in_is_limited_by_himself(site: Served) -> None:
    """Each person has his own bucket, whatever the browser; who is not signed in has none."""
    service, before = site.service, site.service.rate_limiter
    async with browser(site) as person, browser(site) as other:
        await person.sign_in(email("admin"))
        await other.sign_in(email("member"))
        service.rate_limiter = RateLimiter(RateLimits(reads=1), service.counters, service.store.clock.wall)
        try:
            await person.open("/operations")
            await person.open("/operations", expected=429)
            assert "Too many requests" in person.text and person.answer is not None
            assert person.answer.headers["Retry-After"] == "60"
            await other.open("/operations")
            for _ in range(3):
                assert (await site.http.get("/sign-in")).status_code == 200
        finally:
            service.rate_limiter = before
