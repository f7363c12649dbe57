"""Every page in a real browser, at the widths of a desk and of a phone, in light and dark colours.

The pages are those of the server's routes. A picture of each is saved in :data:`PICTURES`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from attrs import define, field

from adsunify_server.pages import rendering
from tests.server.served import Served

from .content import make_content
from .driver import CONTRAST, CUT, SILENT, Chromium, chromium
from .walking import WIDTHS, walk_pages

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.exhaustive, pytest.mark.timeout(900)]
ROOT = Path(__file__).parents[2]
PICTURES = ROOT / ".screenshots"
"""The folder of the pictures. Git ignores it."""


@define
class Walk:
    """What a walk over all pages has found. ``templates``: those of the pages that were shown."""

    site: Served
    cut: list[object] = field(factory=list)
    illegible: list[object] = field(factory=list)
    silent: list[object] = field(factory=list)
    complaints: list[str] = field(factory=list)
    templates: set[str] = field(factory=set)

    async def look(self, driver: Chromium, name: str, widths: Sequence[int] = WIDTHS) -> None:
        """Measure the page that the browser shows, with what it folds away, and save pictures of it."""
        for width, dark in product(widths, (False, True)):
            await driver.set_width(width)
            await driver.set_colour_scheme(dark)
            await driver.save_picture(PICTURES / f"{name}-{width}-{'dark' if dark else 'light'}.png")
        await driver.run("document.querySelectorAll('details').forEach(details => details.open = true)")
        for width in widths:
            await driver.set_width(width)
            self.cut += [(name, width, *flaw) for flaw in await driver.run(CUT)]
            self.silent += [(name, width, *flaw) for flaw in await driver.run(SILENT)]
        for dark in (False, True):
            await driver.set_colour_scheme(dark)
            self.illegible += [(name, "dark" if dark else "light", *flaw) for flaw in await driver.run(CONTRAST)]
        status = await driver.run("return performance.getEntriesByType('navigation')[0].responseStatus")
        for complaint in await driver.read_log():
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
    walk = Walk(site)
    environment = rendering._make_environment()
    with pytest.MonkeyPatch.context() as patch:
        get_template = environment.get_template

        def note_template(name: str, *more: Any) -> Any:
            walk.templates.add(name)
            return get_template(name, *more)

        patch.setattr(environment, "get_template", note_template)
        async with chromium() as driver:
            async for name, widths in walk_pages(driver, site, content):
                await walk.look(driver, name, widths)
    yield walk


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
