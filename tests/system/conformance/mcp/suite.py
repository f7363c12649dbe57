"""The official conformance suite, stable and newest: what it says of our endpoint and of our authorization server."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Callable, Mapping
from pathlib import Path

from adsunify_mcp.http import MCP_PATH
from tests.server.served import Served

from .scripted import follow_consent

BASELINE = Path(__file__).parents[1] / "mcp-baseline.yml"
LINE = re.compile(r"  - ([a-z0-9-]+):([a-z0-9-]+) # \S.*")
SECONDS = 300
HANDSHAKE_REVISION, STATELESS_REVISION = "2025-11-25", "2026-07-28"
RICH, HEADERS = "json-schema-2020-12", "http-header-validation"
"""Scenarios that the suites leave out of the required sets, and that must pass nevertheless."""


class Failed(Exception):
    """Something of the run did not come out as it must."""


def baseline() -> list[tuple[str, str]]:
    """Scenario and check of every failure that is expected; a line without a reason is refused."""
    lines = [line for line in BASELINE.read_text().splitlines() if line and not line.startswith("#")]
    if lines[:1] != ["server:"]:
        raise Failed("the baseline begins with server:")
    failures = []
    for line in lines[1:]:
        match = LINE.fullmatch(line)
        if match is None:
            raise Failed(f"not a scenario, a check and a reason: {line}")
        failures.append((match[1], match[2]))
    return failures


async def run(environment: Mapping[str, str], *command: str, hears: Callable[[str], None] | None = None) -> str:
    """What a command prints; raises Failed, with its words, where it ends with anything but 0."""
    process = await asyncio.create_subprocess_exec(
        *command, env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    assert process.stdout is not None
    lines = []
    try:
        async with asyncio.timeout(SECONDS):
            async for line in process.stdout:
                lines.append(line.decode("utf-8", "replace"))
                if hears is not None:
                    hears(lines[-1].strip())
            code = await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
    if code != 0:
        raise Failed(f"{' '.join(command)} ended with {code}:\n{''.join(lines)}")
    return "".join(lines)


def _summarize(output: str) -> str:
    """The last lines of a suite's own words."""
    return " ".join(line for line in output.splitlines() if line.startswith(("Total:", "Passed:", "Test Results")))


async def server(environment: Mapping[str, str], node: Path, url: str, folder: Path) -> None:
    """Both suites at the endpoint."""
    known = baseline()
    lists = {
        "newest": [f"{scenario}:{check}" for scenario, check in known],
        "stable": list(dict.fromkeys(scenario for scenario, _ in known)),
    }
    for name, chosen in (("stable", ("--suite", "active")), ("newest", ("--requirements", HANDSHAKE_REVISION))):
        expected = folder / f"{name}.yml"
        expected.write_text("\n".join(["server:", *(f"  - {entry}" for entry in lists[name])]) + "\n")
        suite = ("node", str(_script(node, name)), "server", "--url", url)
        output = await run(environment, *suite, *chosen, "--expected-failures", str(expected))
        print(
            f"conformance {name}, server: {_summarize(output)}, nothing beyond the {len(known)} lines of the baseline"
        )
        output = await run(environment, *suite, "--scenario", RICH)
        print(f"conformance {name}, server, {RICH}: {_summarize(output)}")
    suite = ("node", str(_script(node, "newest")), "server", "--url", url)
    output = await run(environment, *suite, "--requirements", STATELESS_REVISION)
    print(f"conformance newest, server, {STATELESS_REVISION}: every required scenario passed")
    for scenario in (RICH, HEADERS):
        output = await run(environment, *suite, "--spec-version", STATELESS_REVISION, "--scenario", scenario)
        print(f"conformance newest, server, {STATELESS_REVISION}, {scenario}: {_summarize(output)}")


def _script(node: Path, name: str) -> Path:
    return node / "node_modules" / name / "dist" / "index.js"


async def authorization(environment: Mapping[str, str], node: Path, site: Served) -> None:
    """The newest suite at the authorization server; the address it prints is followed through the consent page."""
    port = _find_free_port()
    redirect = f"http://127.0.0.1:{port}/callback"
    client = await site.http.post("/oauth/register", json={"client_name": "Suite", "redirect_uris": [redirect]})
    following: list[asyncio.Task[None]] = []

    async def follow(address: str) -> None:
        back = await follow_consent(site, address)
        assert back.startswith(redirect)
        await site.http.get(back)

    def hear(line: str) -> None:
        if line.startswith(f"{site.base_url}/oauth/authorize?"):
            following.append(asyncio.create_task(follow(line)))

    output = await run(
        environment,
        "node",
        str(_script(node, "newest")),
        "authorization",
        "--url",
        site.base_url,
        "--client-id",
        client.json()["client_id"],
        "--resource",
        site.base_url + MCP_PATH,
        "--port",
        str(port),
        hears=hear,
    )
    await asyncio.gather(*following)
    if not following:
        raise Failed(f"the suite asked for no consent:\n{output}")
    print(f"conformance newest, authorization: {_summarize(output)}")


def _find_free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as reserved:
        port: int = reserved.getsockname()[1]
        return port
