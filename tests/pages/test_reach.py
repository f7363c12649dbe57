"""Everybody can use every page: axe-core finds nothing grave, the keyboard reaches all, and no page is a dead end."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import product
from typing import Any

import pytest
import pytest_asyncio
from attrs import define, field

from tests.server.served import Served

from .axe import load_axe
from .content import make_content
from .driver import chromium
from .walking import walk_pages

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.exhaustive, pytest.mark.timeout(1800)]
TAB = "\ue004"
REACHABLE = """
const skipped = element => !element.checkVisibility() || element.closest("[popover]:not(:popover-open)") !== null;
window.left = [...document.querySelectorAll(
  "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']")]
  .filter(element => !skipped(element) && !element.disabled);
const groups = new Set();
for (const element of window.left) if (element.type === "radio") {
  if (groups.has(element.name)) window.left = window.left.filter(other => other !== element);
  groups.add(element.name);
}
window.invisible = [];
document.addEventListener("focusin", ({target}) => {
  const isSame = element => element === target || (element.type === "radio" && element.name === target.name);
  window.left = window.left.filter(element => !isSame(element));
  const style = getComputedStyle(target), ring = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
  if (!ring && target.closest("svg") === null) window.invisible.push(target.outerHTML.slice(0, 160));
});
document.activeElement.blur();
window.scrollTo(0, 0);
return window.left.length + 4 * document.querySelectorAll("input[type=date]").length;
"""
"""Notes what the keyboard must reach, and returns how often Tab is to be pressed. A group of radio buttons is one.

Each focus strikes its element off, and is noted if it cannot be seen. Days of plots show their value instead of a ring.
"""
MISSED = "return [window.left.map(element => element.outerHTML.slice(0, 160)), window.invisible];"
LEADS_ON = """
return [...document.querySelectorAll("main a[href], main form button")].filter(link => link.checkVisibility()
  || link.closest("details") !== null).length;
"""
"""How many links and buttons lead on from the page, besides the menu that every page has."""


@define
class Findings:
    """What is wrong with the pages, by test."""

    grave: list[Any] = field(factory=list)
    unreachable: list[Any] = field(factory=list)
    invisible: list[Any] = field(factory=list)
    dead_ends: list[str] = field(factory=list)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def findings(site: Served, request: pytest.FixtureRequest) -> AsyncIterator[Findings]:
    """What a walk over all pages finds."""
    axe = await load_axe(request.config.cache.mkdir("axe"))
    findings = Findings()
    content = await make_content(site)
    async with chromium() as driver:
        async for name, widths in walk_pages(driver, site, content):
            if not await driver.run(LEADS_ON):
                findings.dead_ends.append(name)
            await driver.set_width(widths[-1])
            if name != "menu":  # an open popover keeps the focus in front of what is behind it
                await driver.press_keys(TAB * (await driver.run(REACHABLE) + 2))
                missed, invisible = await driver.run(MISSED)
                findings.unreachable += [(name, element) for element in missed]
                findings.invisible += [(name, element) for element in invisible]
            await driver.run("document.querySelectorAll('details').forEach(details => details.open = true)")
            for width, dark in product(widths, (False, True)):
                await driver.set_width(width)
                await driver.set_colour_scheme(dark)
                rules = ("color-contrast",) if dark else ()  # the others do not depend on colours
                grave = await axe.find_grave(driver, *rules)
                findings.grave += [(name, width, "dark" if dark else "light", *violation) for violation in grave]
    yield findings


def format_flaws(flaws: list[Any]) -> str:
    return "\n".join(map(str, flaws))


async def test_axe_finds_nothing_grave(findings: Findings) -> None:
    assert not findings.grave, format_flaws(findings.grave)


async def test_the_keyboard_reaches_everything(findings: Findings) -> None:
    assert not findings.unreachable, format_flaws(findings.unreachable)


async def test_the_focus_can_be_seen(findings: Findings) -> None:
    assert not findings.invisible, format_flaws(findings.invisible)


async def test_no_page_is_a_dead_end(findings: Findings) -> None:
    assert not findings.dead_ends, findings.dead_ends
