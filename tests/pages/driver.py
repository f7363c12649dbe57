"""A real Chromium, headless, driven over the W3C WebDriver protocol by Debian's chromedriver."""

from __future__ import annotations

import asyncio
import base64
import os
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from attrs import define

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--no-proxy-server",
    "--window-size=1280,1000",
)
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
"""The member by which the protocol names an element."""
PICTURE_HEIGHT = 6000
CONTRAST = """
const channels = text => {
  const found = text.match(/[\\d.]+/g).map(Number);
  return found.length < 4 ? [...found, 1] : found;
};
const light = ([r, g, b]) => {
  const [x, y, z] = [r, g, b].map(c => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  return 0.2126 * x + 0.7152 * y + 0.0722 * z;
};
const ground = element => {
  for (let at = element; at; at = at.parentElement) {
    const color = channels(getComputedStyle(at).backgroundColor);
    if (color[3] === 1) return color;
  }
  return [255, 255, 255, 1];
};
const poor = [];
for (const element of document.body.querySelectorAll("*")) {
  const own = [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim());
  if (!own || !element.getClientRects().length) continue;
  const style = getComputedStyle(element), drawn = element instanceof SVGElement;
  const ink = light(channels(drawn ? style.fill : style.color)), back = light(ground(element));
  const ratio = (Math.max(ink, back) + 0.05) / (Math.min(ink, back) + 0.05);
  if (ratio < 4.5) poor.push([element.outerHTML.slice(0, 120), Math.round(ratio * 100) / 100]);
}
return poor;
"""
"""Texts whose contrast is below 4.5 (WCAG 2.2, 1.4.3)."""


CUT = """
const cut = [], flagged = new Set(), page = document.documentElement;
if (page.scrollWidth > innerWidth) cut.push(["the page", page.scrollWidth, innerWidth]);
const flag = (element, content, room) => {
  flagged.add(element);
  cut.push([element.outerHTML.slice(0, 120), Math.round(content), Math.round(room)]);
};
for (const element of document.body.querySelectorAll("*")) {
  if (flagged.has(element.parentElement)) flagged.add(element);
  if (flagged.has(element) || !element.getClientRects().length || !element.checkVisibility()) continue;
  if (element.closest(".hidden, .skip, thead, select, input, textarea")) continue;
  const box = element.getBoundingClientRect(), style = getComputedStyle(element);
  if (box.left < -1 || box.right > innerWidth + 1) flag(element, box.right, innerWidth);
  else if (element instanceof SVGElement || style.display === "inline") continue;
  else if (style.textOverflow === "ellipsis" && element.title) continue;
  else if (element.scrollWidth > element.clientWidth + 1) flag(element, element.scrollWidth, element.clientWidth);
  else if (style.overflowY !== "visible" && element.scrollHeight > element.clientHeight + 1)
    flag(element, element.scrollHeight, element.clientHeight);
}
return cut;
"""
"""Elements that reach out of the window, or whose content does not fit in them."""

SILENT = """
return [...document.querySelectorAll(".plot .day")].filter(day => {
  day.focus({focusVisible: true});
  const text = day.querySelector("text"), box = text.getBoundingClientRect();
  return document.activeElement !== day || getComputedStyle(text).visibility !== "visible"
    || box.left < 0 || box.right > innerWidth || !text.textContent.includes(":");
}).map(day => [day.outerHTML.slice(0, 120)]);
"""
"""Days of plots whose value is not shown when the keyboard reaches them."""


@define
class Chromium:
    """One browser with a profile of its own."""

    http: httpx.AsyncClient
    session: str

    async def _call(self, method: str, path: str, **body: Any) -> Any:
        answer = await self.http.request(
            method, f"/session/{self.session}{path}", json=body if method == "POST" else None
        )
        assert answer.status_code == 200, answer.text
        return answer.json()["value"]

    async def open(self, address: str) -> None:
        """Open an address, and wait until it is there."""
        await self._call("POST", "/url", url=address)

    async def get_address(self) -> str:
        """The address of the page."""
        return str(await self._call("GET", "/url"))

    async def find(self, css: str) -> str:
        """The first element that a selector finds."""
        return str((await self._call("POST", "/element", using="css selector", value=css))[ELEMENT])

    async def count(self, css: str) -> int:
        """How many elements a selector finds."""
        return len(await self._call("POST", "/elements", using="css selector", value=css))

    async def click(self, css: str) -> None:
        """Click the first element that a selector finds; the page stays."""
        await self._call("POST", f"/element/{await self.find(css)}/click")

    async def go(self, css: str) -> None:
        """Click the first element that a selector finds, and wait for the page that it leads to."""
        await self._click_and_wait(await self.find(css))

    async def unfold(self, text: str) -> None:
        """Click the summary with this text."""
        await self._call("POST", f"/element/{await self._find_by_text('self::summary', text)}/click")

    async def press(self, text: str) -> None:
        """Click the button or link with this text, and wait for the page that it leads to."""
        await self._click_and_wait(await self._find_by_text("self::button or self::a", text))

    async def _find_by_text(self, kind: str, text: str) -> str:
        path = f"//*[({kind}) and contains(normalize-space(.), '{text}')]"
        return str((await self._call("POST", "/element", using="xpath", value=path))[ELEMENT])

    async def _click_and_wait(self, element: str) -> None:
        await self.run("window.left = true")
        await self._call("POST", f"/element/{element}/click")
        script = {"script": "return window.left !== true && document.readyState === 'complete'", "args": []}
        for _ in range(200):  # between two pages there is nothing to ask
            answer = await self.http.post(f"/session/{self.session}/execute/sync", json=script)
            if answer.status_code == 200 and answer.json()["value"]:
                return
            await asyncio.sleep(0.05)
        raise AssertionError(f"the click led nowhere: {await self.read_text()}")

    async def type(self, css: str, text: str) -> None:
        """Type into the first element that a selector finds."""
        await self._call("POST", f"/element/{await self.find(css)}/value", text=text)

    async def press_keys(self, text: str) -> None:
        """Press keys, wherever the focus is."""
        keys = [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        await self._call("POST", "/actions", actions=[{"type": "key", "id": "keyboard", "actions": keys}])

    async def read_text(self) -> str:
        """What can be read on the page."""
        return str(await self._call("GET", f"/element/{await self.find('body')}/text"))

    async def run(self, script: str, *arguments: Any) -> Any:
        """What a script of the test (not of the page) returns."""
        return await self._call("POST", "/execute/sync", script=script, args=arguments)

    async def enter_frame(self, css: str | None) -> None:
        """Look into a frame; None: back at the page."""
        await self._call("POST", "/frame", id=None if css is None else {ELEMENT: await self.find(css)})

    async def get_cookies(self) -> list[dict[str, Any]]:
        """The cookies that the page's server gets."""
        cookies: list[dict[str, Any]] = await self._call("GET", "/cookie")
        return cookies

    async def read_log(self) -> list[str]:
        """What the browser wrote to its console since it was last asked."""
        entries = await self._call("POST", "/se/log", type="browser")
        return [entry["message"] for entry in entries if entry["level"] in ("SEVERE", "WARNING")]

    async def set_colour_scheme(self, dark: bool) -> None:
        """Ask pages for their light or dark colours."""
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        await self._send_command("Emulation.setEmulatedMedia", features=features)

    async def set_width(self, pixels: int) -> None:
        """Make the page as wide as a telephone, or a desk."""
        size = {"width": pixels, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
        await self._send_command("Emulation.setDeviceMetricsOverride", **size)

    async def save_picture(self, file: Path) -> None:
        """Save the page, also what the window does not show: at most :data:`PICTURE_HEIGHT` pixels of it."""
        width, height = await self.run("return [innerWidth, document.documentElement.scrollHeight]")
        clip = {"x": 0, "y": 0, "width": width, "height": min(height, PICTURE_HEIGHT), "scale": 1}
        shot = await self._send_command(
            "Page.captureScreenshot", clip=clip, captureBeyondViewport=True, optimizeForSpeed=True
        )
        file.write_bytes(base64.b64decode(shot["data"]))

    async def _send_command(self, name: str, **parameters: Any) -> Any:
        """A command of the browser's own protocol."""
        return await self._call("POST", "/goog/cdp/execute", cmd=name, params=parameters)

    async def check_contrast(self) -> None:
        """Hold every text of the page against WCAG's contrast, in both colour schemes."""
        for dark in (True, False):
            await self.set_colour_scheme(dark)
            assert await self.run(CONTRAST) == [], ("dark" if dark else "light", await self.get_address())


@asynccontextmanager
async def chromium() -> AsyncIterator[Chromium]:
    """A new browser; without one, the test is skipped, and fails where ``ADSUNIFY_BROWSER_REQUIRED`` is set."""
    if CHROMIUM is None or DRIVER is None:
        message = "no chromium and chromedriver on this machine: the pages were NOT tried in a real browser"
        if os.environ.get("ADSUNIFY_BROWSER_REQUIRED"):
            pytest.fail(message)
        pytest.skip(message)
    with tempfile.TemporaryDirectory(prefix="adsunify-browser-", ignore_cleanup_errors=True) as folder:
        process = await asyncio.create_subprocess_exec(
            DRIVER, "--port=0", stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
        )
        try:
            port = await asyncio.wait_for(_read_port(process), 30)
            async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=600) as http:
                session = await _start_session(http, folder)
                try:
                    yield Chromium(http, session)
                finally:
                    await http.delete(f"/session/{session}")
        finally:
            process.terminate()
            await process.wait()


async def _read_port(process: asyncio.subprocess.Process) -> int:
    """The port that the driver chose and says."""
    assert process.stdout is not None
    async for line in process.stdout:
        if b"started successfully on port" in line:
            return int(line.rstrip(b".\n").rsplit(b" ", 1)[1])
    raise AssertionError("chromedriver did not start")


async def _start_session(http: httpx.AsyncClient, folder: str) -> str:
    options = {"binary": CHROMIUM, "args": [*FLAGS, f"--user-data-dir={folder}"]}
    limits = {"script": 600_000}
    capabilities = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}, "timeouts": limits}
    answer = await http.post("/session", json={"capabilities": {"alwaysMatch": capabilities}})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["value"]["sessionId"])
