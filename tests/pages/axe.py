"""axe-core, which tests pages against WCAG, from npm. Pages do not load it: the test runs it in the browser."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from .driver import Chromium

PACKAGE = "axe-core@4.11"
GRAVE = ("serious", "critical")
RUN = """
const describe = node => node.html.slice(0, 160) + " " + (node.failureSummary || "");
return axe.run(document, {resultTypes: ["violations"], ...arguments[0]}).then(
  report => report.violations.map(({impact, id, nodes}) => [impact, id, nodes.slice(0, 3).map(describe)]));
"""


@frozen
class Axe:
    """The source of axe-core."""

    source: str

    async def find_grave(self, driver: Chromium, *rules: str) -> list[Any]:
        """Return the serious and critical violations on the page that the browser shows; by default of all rules."""
        await driver.run(self.source)
        options = {"runOnly": rules} if rules else {}
        return [violation for violation in await driver.run(RUN, options) if violation[0] in GRAVE]


async def load_axe(folder: Path) -> Axe:
    """Install axe-core into a folder. Without npm, the test is skipped, or fails if a browser is required."""
    script = folder / "node_modules" / "axe-core" / "axe.min.js"
    if not script.exists():
        npm = shutil.which("npm")
        if npm is None:
            _give_up("there is no npm on this machine")
        process = await asyncio.create_subprocess_exec(
            str(npm),
            "install",
            "--prefix",
            str(folder),
            "--no-save",
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
            PACKAGE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        if await process.wait() or not script.exists():
            _give_up(f"npm could not install {PACKAGE}")
    return Axe(script.read_text())


def _give_up(reason: str) -> None:
    message = f"{reason}: the pages were NOT tested with axe-core"
    if os.environ.get("ADSUNIFY_BROWSER_REQUIRED"):
        pytest.fail(message)
    pytest.skip(message)
