"""Section 7: what an import costs, what a server costs while nobody calls, and how soon it answers.

Every sample is a fresh process; subject and peers take turns.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from attrs import frozen

from .measuring import Limit, Result, at_most, in_turns, judged, not_installed, peer, unmeasured

SECTION = 7
MEGABYTE = 1024 * 1024
ADAPTER_SECONDS = 0.015
START_SECONDS = 1.5
IDLE_BYTES = 80 * MEGABYTE
SECONDS_TO_END = 20

# Prints the seconds that a statement took, and the resident pages after it.
TIMED = """
import time
before = time.perf_counter()
{statement}
spent = time.perf_counter() - before
print(spent, open("/proc/self/statm").read().split()[1])
"""

OURS = "import adsunify"
BRIEF = "from adsunify import CampaignBrief"
WEBHOOKS = "import adsunify.webhooks"
STRIPE = "import stripe"
STANDARD = "import standardwebhooks"
MODELS = "from tests.performance.floor import Brief"


@frozen
class Aim:
    """A statement of ours against one of a peer."""

    name: str
    subject: str
    peer: str
    limit: Limit


AIMS = (
    Aim("import adsunify", OURS, STRIPE, at_most(0.5)),
    Aim("CampaignBrief against stripe", BRIEF, STRIPE, at_most(1.0)),
    Aim("CampaignBrief against bare models", BRIEF, MODELS, at_most(1.1)),
    Aim("import adsunify.webhooks", WEBHOOKS, STANDARD, at_most(1.3)),
)
ADAPTER = "from adsunify.networks.registry import get_adapter; get_adapter({network!r})"


def environment() -> dict[str, str]:
    """Every module is compiled in the round that does not count and read from its bytecode in the others."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"PYTHONPYCACHEPREFIX": _BYTECODE.name}


_BYTECODE = tempfile.TemporaryDirectory(prefix="adsunify-")


def imported(statement: str) -> tuple[float, float]:
    """Seconds and resident bytes of a statement in a fresh process."""
    command = [sys.executable, "-c", TIMED.format(statement=statement)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment())
    seconds, pages = done.stdout.split()
    return float(seconds), float(int(pages) * os.sysconf("SC_PAGE_SIZE"))


def explained(statement: str) -> Callable[[], str]:
    """Which modules take the time, by their own time."""

    def explain() -> str:
        command = [sys.executable, "-X", "importtime", "-c", statement]
        lines = subprocess.run(
            command, capture_output=True, text=True, check=True, env=environment()
        ).stderr.splitlines()
        rows = [line.removeprefix("import time:") for line in lines if line.startswith("import time:")][1:]
        rows.sort(key=lambda row: -int(row.split("|")[0]))
        return "\n".join(["   own us | cumulative us | module", *rows[:15]])

    return explain


def results(rounds: int) -> Iterator[Result]:
    yield from _imports(rounds)
    yield from _adapters(rounds)
    yield from _server(rounds)


def _imports(rounds: int) -> Iterator[Result]:
    statements = dict.fromkeys(one for aim in AIMS for one in (aim.subject, aim.peer))
    missing = {one: peer(one.split()[1]) is None for one in statements if one in (STRIPE, STANDARD)}
    resident: dict[str, list[float]] = {}

    def measured(statement: str) -> Callable[[], float]:
        def measure() -> float:
            seconds, size = imported(statement)
            resident.setdefault(statement, []).append(size)
            return seconds

        return measure

    samples = in_turns(rounds, {one: measured(one) for one in statements if not missing.get(one)})
    for aim in AIMS:
        if missing.get(aim.peer):
            yield unmeasured(aim.name, aim.subject, aim.peer, aim.limit, not_installed(aim.peer.split()[1]))
            continue
        explain = explained(aim.subject)
        yield judged(aim.name, aim.subject, aim.peer, samples[aim.subject], samples[aim.peer], aim.limit, explain)
    if not missing.get(STRIPE):
        yield judged(
            "memory after import adsunify", OURS, STRIPE, resident[OURS][-rounds:], resident[STRIPE][-rounds:], None
        )


def _adapters(rounds: int) -> Iterator[Result]:
    from adsunify.networks.registry import ADAPTER_PACKAGES as codes

    others = dict(zip(codes, [*codes][1:] + [*codes][:1], strict=True))
    samples = in_turns(rounds, {code: partial(_adapter, code, others[code]) for code in codes})
    for code in codes:
        yield judged(
            f"one adapter on top, {code}",
            "adapter()",
            f"{ADAPTER_SECONDS * 1000:.0f} ms",
            samples[code],
            [ADAPTER_SECONDS] * rounds,
            at_most(1.0),
            explained(ADAPTER.format(network=code)),
        )


def _adapter(code: str, other: str) -> float:
    """Seconds for an adapter, when what all of them need is there: another adapter has loaded it."""
    return imported(f"{ADAPTER.format(network=other)}\nbefore = time.perf_counter()\nget_adapter({code!r})")[0]


# -- the server ---------------------------------------------------------------------------------------------------


def _server(rounds: int) -> Iterator[Result]:
    resident: list[float] = []

    def started() -> float:
        with tempfile.TemporaryDirectory(prefix="adsunify-") as folder:
            database = f"sqlite:///{Path(folder) / 'start.db'}"
            seconds, _ = first_answer(database)
            _, size = first_answer(database)  # what made the database is not there any more
        resident.append(size)
        return seconds

    starts = in_turns(rounds, {"start": started})["start"]
    name, limit = "server: start on a new database to first answer", f"{START_SECONDS:g} s"
    yield judged(name, "adsunify serve", limit, starts, [START_SECONDS] * rounds, at_most(1.0))
    name, limit = "server: resident while idle", f"{IDLE_BYTES // MEGABYTE} MiB"
    explain = explained("import adsunify.cli.serve, adsunify_server.app")
    yield judged(name, "adsunify serve", limit, resident[-rounds:], [IDLE_BYTES] * rounds, at_most(1.0), explain)


def first_answer(database: str) -> tuple[float, float]:
    """Seconds from the start of the process until a request is answered; resident bytes then."""
    command = [sys.executable, "-m", "adsunify", "serve", "--port", "0", "--json", "--database", database]
    began = time.perf_counter()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment()
    ) as child:
        try:
            assert child.stdout is not None
            ready = json.loads(child.stdout.readline())
            _asked(ready["baseUrl"])
            return time.perf_counter() - began, _resident(child.pid)
        finally:
            child.terminate()
            try:
                child.wait(SECONDS_TO_END)
            except subprocess.TimeoutExpired:
                child.kill()


def _asked(base_url: str) -> None:
    from urllib.request import ProxyHandler, build_opener

    with build_opener(ProxyHandler({})).open(f"{base_url}/healthz", timeout=5) as answer:
        answer.read()


def _resident(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return float(pages * os.sysconf("SC_PAGE_SIZE"))
