"""Every page in a real browser, at the widths of a desk and of a phone, in light and dark colours.

The pages are those of the server's routes. A picture of each is saved in :data:`PICTURES`.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from attrs import define, field

from adsunify_server.app import make_application
from adsunify_server.pages import rendering
from tests.server.served import Served, given

from .content import LONG_NAME, Content, make_content
from .driver import CONTRAST, CUT, SILENT, Chromium, chromium
from .test_browser import sign_in

pytestmark = pytest.mark.asyncio(loop_scope="module")
ROOT = Path(__file__).parents[2]
PICTURES = ROOT / ".screenshots"
"""The folder of the pictures. Git ignores it."""
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
APPLE = {f"[name='{name}']": value for name, value in given("apple").items() if name != "network"}
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
    "guardrail-met-refused": ("/review/{excessive}", EXECUTE),
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
        part = re.search(r"{(\w+)}", path)
        values = {"": ""} if part is None else content.values.get(path) or content.values.get(part[1])
        assert values, f"{path} is a new page. Give its variable part values in tests/pages/content.py."
        for name, value in values.items():
            for variant, query in {"": "", **VARIANTS.get(path, {})}.items():
                address = path if part is None else path.replace(part[0], value)
                yield "-".join(filter(None, (title, name, variant))), address + query


@define
class Walk:
    """What a walk over all pages has found. ``templates``: those of the pages that were shown."""

    site: Served
    cut: list[object] = field(factory=list)
    illegible: list[object] = field(factory=list)
    silent: list[object] = field(factory=list)
    complaints: list[str] = field(factory=list)
    templates: set[str] = field(factory=set)

    async def look(self, one: Chromium, name: str, widths: Sequence[int] = WIDTHS) -> None:
        """Measure the page that the browser shows, with what it folds away, and save pictures of it."""
        await one.run("window.stop()")  # a page that reloads itself stays
        for width, dark in product(widths, (False, True)):
            await one.width(width)
            await one.scheme(dark)
            await one.picture(PICTURES / f"{name}-{width}-{'dark' if dark else 'light'}.png")
        await one.run("document.querySelectorAll('details').forEach(one => one.open = true)")
        for width in widths:
            await one.width(width)
            self.cut += [(name, width, *flaw) for flaw in await one.run(CUT)]
            self.silent += [(name, width, *flaw) for flaw in await one.run(SILENT)]
        for dark in (False, True):
            await one.scheme(dark)
            self.illegible += [(name, "dark" if dark else "light", *flaw) for flaw in await one.run(CONTRAST)]
        status = await one.run("return performance.getEntriesByType('navigation')[0].responseStatus")
        for complaint in await one.complaints():
            if (
                complaint.startswith(self.site.base_url)
                and f"the server responded with a status of {status}" not in complaint
            ):
                self.complaints.append(f"{name}: {complaint}")
        assert (status >= 400) is name.endswith(("refused", "missing")), (name, status)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def walk(site: Served) -> AsyncIterator[Walk]:
    """A walk over all pages."""
    PICTURES.mkdir(exist_ok=True)
    content = await make_content(site)
    found = Walk(site)
    environment = rendering._make_environment()
    with pytest.MonkeyPatch.context() as patch:
        get_template = environment.get_template

        def note_template(name: str, *more: Any) -> Any:
            found.templates.add(name)
            return get_template(name, *more)

        patch.setattr(environment, "get_template", note_template)
        async with chromium() as one:
            for name, address in [*list_addresses(site, content, signed_in=False), ("missing", "/nothing")]:
                await one.open(site.base_url + address)
                await found.look(one, name)
            await sign_in(one, site)
            for name, address in list_addresses(site, content, signed_in=True):
                if address in list_routes(site):
                    await one.open(site.base_url + address)
                    await found.look(one, f"empty-{name}", WIDTHS[1:])
            for menu, widths in (("person", WIDTHS), ("menu", WIDTHS[1:])):
                await one.run("document.getElementById(arguments[0]).showPopover()", menu)
                await found.look(one, menu, widths)
                await one.run("document.getElementById(arguments[0]).hidePopover()", menu)
            await one.click("button[popovertarget=person]")
            await one.run("document.querySelector('#workspace').selectedIndex ^= 1")
            await one.press("Switch")
            addresses = [*list_addresses(site, content, signed_in=True), ("consent", content.consent)]
            for name, address in addresses:
                await one.open(site.base_url + address)
                await found.look(one, name)
            for name, (address, steps) in VISITS.items():
                await one.open(site.base_url + address.format_map(content.values["operationId"]))
                for step in steps:
                    if isinstance(step, str):
                        await one.press(step)
                    else:
                        for css, text in step.items():
                            await one.type(css, text)
                await found.look(one, name)
    yield found


def format_flaws(flaws: Sequence[object]) -> str:
    return "\n".join(map(str, flaws))


async def test_nothing_is_cut(walk: Walk) -> None:
    assert not walk.cut, format_flaws(walk.cut)


async def test_every_text_is_legible(walk: Walk) -> None:
    assert not walk.illegible, format_flaws(walk.illegible)


async def test_a_plot_shows_the_value_of_a_day_on_focus(walk: Walk) -> None:
    assert not walk.silent, format_flaws(walk.silent)


async def test_the_browser_does_not_complain(walk: Walk) -> None:
    assert not walk.complaints, format_flaws(walk.complaints)


async def test_every_page_is_seen(walk: Walk) -> None:
    folder = ROOT / "adsunify_server" / "templates"
    pages = {path.name for path in folder.glob("*.html") if "block title" in path.read_text()}
    assert pages <= walk.templates
