"""A walk over all pages in a real browser: those of the server's routes, and those that forms lead to."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence

from adsunify_server.app import make_application
from tests.server.served import Served, make_credentials

from .content import LONG_NAME, Content
from .driver import Chromium
from .test_browser import sign_in

WIDTHS = (1280, 390)
SIGNED_OUT = ("/sign-in", "/invitation/{token}", "/connect/{token}")
"""Pages that are shown to people who are not signed in."""
FOR_PROGRAMS = re.compile(r"/api/.*|/\..*|/.+-[0-9a-f]{12}\.\w+|/openapi\.json|/healthz|/readyz|/metrics")
"""Matches the routes whose responses are not pages."""
ELSEWHERE = ("/", "/oauth/authorize", "/connect/callback/{network}")
"""Routes that redirect or need a query. :data:`VISITS` has the pages of the last two."""
VARIANTS: Mapping[str, Mapping[str, str]] = {
    "/insights": {"refused": "?startDate=2026-02-02&endDate=2026-02-01"},
    "/accounts/{accountId}/insights": {
        "campaigns": "?level=campaign",
        "ads": "?level=ad",
        "nothing": "?level=campaign&search=nothing-has-this-name",
        "refused": "?level=keyword",
    },
}
"""Further views of a page: their names and queries."""
APPLE = {f"[name='{name}']": value for name, value in make_credentials("apple").items() if name != "network"}
EXECUTE: tuple[Mapping[str, str] | str, ...] = ({"input[name=confirmed]": " "}, "Execute")
VISITS: Mapping[str, tuple[str, tuple[Mapping[str, str] | str, ...]]] = {
    "link": ("/connections", ("Connect Google",)),
    "callback": ("/connections", ("Connect Google", "Continue", "Continue to Google", "Allow")),
    "connected": ("/connections/credentials/apple", (APPLE, "Connect Apple")),
    "credentials-refused": (
        "/connections/credentials/outbrain",
        ({"main input:not([type=hidden])": "x"}, "Connect Outbrain"),
    ),
    "key-created": ("/keys", ({"#name": LONG_NAME[:70]}, "Create key")),
    "invited": ("/people", ({"#email": "somebody.else@shop.example"}, "Create invitation link")),
    "password-refused": ("/password", ({"#password": "wrong password", "#new": "a good password"}, "Change password")),
    "alert-refused": ("/alerts", ({"#name": "x", "#amount": "ten", "#hours": "5"}, "Create the alert")),
    "inspected-unknown": ("/review/{unknown}", ("Inspect",)),
    "inspected-changed": ("/review/{succeeded}", ("Inspect",)),
    "stale-refused": ("/review/{edit}", EXECUTE),
    "several": ("/reviews?operations={prepared},{edit},{rejected},{unknown}", ()),
    "guardrail-met-refused": ("/review/{excessive}", EXECUTE),
    "webhook-refused": ("/webhooks", ({"#url": "http://example.com"}, "Create the webhook")),
    "edit-refused": ("/accounts/{account}/campaigns/{campaign}", ("Prepare the change",)),
    "launch-form": ("/launches/new", ({"[name='account.{account}']": " "}, "Continue")),
    "launch-form-refused": ("/launches/new", ({"[name='account.{account}']": " "}, "Continue", "Check")),
    "launch-file-refused": ("/launches/new", ({"#document": "name: x"}, "Check")),
    "guardrail-refused": (
        "/guardrails/new",
        ({"#name": "x", "#currency": "USS", "#maxBid": "ten", "[id='perWindow.daily']": "x"}, "Create the guardrail"),
    ),
}
"""Pages that a form leads to, by name: where to begin, then fields with their texts, and buttons or links.

``{name}`` in an address is the id of an operation of :mod:`content`.
"""


def list_routes(site: Served) -> list[str]:
    """List the paths of all pages of the server."""
    routes = make_application(site.service, delivers=False).router.routes()
    paths = {route.resource.canonical for route in routes if route.method == "GET" and route.resource is not None}
    return sorted(path for path in paths if not FOR_PROGRAMS.fullmatch(path) and path not in ELSEWHERE)


def list_addresses(site: Served, content: Content, *, signed_in: bool) -> Iterator[tuple[str, str]]:
    """Yield the name and the address of each page. A path with a variable part has a page for each of its values."""
    for path in list_routes(site):
        if signed_in is (path in SIGNED_OUT):
            continue
        title = "-".join(part for part in path.split("/") if "{" not in part).strip("-")
        parts = re.findall(r"{\w+}", path)
        values = {"": ""} if not parts else content.values.get(path) or content.values.get(parts[0].strip("{}"))
        assert values, f"{path} is a new page. Give its variable part values in tests/pages/content.py."
        for name, value in values.items():
            for variant, query in {"": "", **VARIANTS.get(path, {})}.items():
                address = value if len(parts) > 1 else path.replace(parts[0], value) if parts else path
                yield "-".join(filter(None, (title, name, variant))), address + query


async def walk_pages(driver: Chromium, site: Served, content: Content) -> AsyncIterator[tuple[str, Sequence[int]]]:
    """Show one page after another, and yield its name with the widths at which it is looked at."""
    for name, address in [*list_addresses(site, content, signed_in=False), ("missing", "/nothing")]:
        await driver.open(site.base_url + address)
        yield name, WIDTHS
    await sign_in(driver, site)
    for name, address in list_addresses(site, content, signed_in=True):
        if address in list_routes(site):
            await driver.open(site.base_url + address)
            yield f"empty-{name}", WIDTHS[1:]
    for menu, widths in (("person", WIDTHS), ("menu", WIDTHS[1:])):
        await driver.run("document.getElementById(arguments[0]).showPopover()", menu)
        yield menu, widths
        await driver.run("document.getElementById(arguments[0]).hidePopover()", menu)
    await driver.click("button[popovertarget=person]")
    await driver.run("document.querySelector('#workspace').selectedIndex ^= 1")
    await driver.press("Switch")
    for name, address in [*list_addresses(site, content, signed_in=True), ("consent", content.consent)]:
        await driver.open(site.base_url + address)
        yield name, WIDTHS
    campaign = content.values["/accounts/{accountId}/campaigns/{entityId}"][""].rpartition("/")[2]
    names = {"account": content.values["accountId"]["meta"], "campaign": campaign}
    names |= content.values["operationId"]
    for name, (address, steps) in VISITS.items():
        await driver.open(site.base_url + address.format_map(names))
        for step in steps:
            if isinstance(step, str):
                await driver.press(step)
            else:
                for css, text in step.items():
                    await driver.type(css.format_map(names), text)
        yield name, WIDTHS
