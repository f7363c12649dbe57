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

from .measuring import Limit, Result, at_most, describe_missing, import_peer, judge_costs, make_unmeasured, take_turns

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


def make_environment() -> dict[str, str]:
    """Every module is compiled in the round that does not count and read from its bytecode in the others."""
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return variables | {"PYTHONPYCACHEPREFIX": _BYTECODE.name}


_BYTECODE = tempfile.TemporaryDirectory(prefix="adsunify-")


def measure_import(statement: str) -> tuple[float, float]:
    """Seconds and resident bytes of a statement in a fresh process."""
    command = [sys.executable, "-c", TIMED.format(statement=statement)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=make_environment())
    seconds, pages = done.stdout.split()
    return float(seconds), float(int(pages) * os.sysconf("SC_PAGE_SIZE"))


def make_explanation(statement: str) -> Callable[[], str]:
    """Which modules take the time, by their own time."""

    def explain() -> str:
        command = [sys.executable, "-X", "importtime", "-c", statement]
        lines = subprocess.run(
            command, capture_output=True, text=True, check=True, env=make_environment()
        ).stderr.splitlines()
        rows = [line.removeprefix("import time:") for line in lines if line.startswith("import time:")][1:]
        rows.sort(key=lambda row: -int(row.split("|")[0]))
        return "\n".join(["   own us | cumulative us | module", *rows[:15]])

    return explain


def results(rounds: int) -> Iterator[Result]:
    yield from _measure_imports(rounds)
    yield from _measure_adapters(rounds)
    yield from _measure_server(rounds)


def _measure_imports(rounds: int) -> Iterator[Result]:
    statements = dict.fromkeys(statement for aim in AIMS for statement in (aim.subject, aim.peer))
    missing = {
        statement: import_peer(statement.split()[1]) is None
        for statement in statements
        if statement in (STRIPE, STANDARD)
    }
    resident: dict[str, list[float]] = {}

    def make_measurement(statement: str) -> Callable[[], float]:
        def measure() -> float:
            seconds, size = measure_import(statement)
            resident.setdefault(statement, []).append(size)
            return seconds

        return measure

    samples = take_turns(
        rounds, {statement: make_measurement(statement) for statement in statements if not missing.get(statement)}
    )
    for aim in AIMS:
        if missing.get(aim.peer):
            yield make_unmeasured(aim.name, aim.subject, aim.peer, aim.limit, describe_missing(aim.peer.split()[1]))
            continue
        explain = make_explanation(aim.subject)
        yield judge_costs(aim.name, aim.subject, aim.peer, samples[aim.subject], samples[aim.peer], aim.limit, explain)
    if not missing.get(STRIPE):
        yield judge_costs(
            "memory after import adsunify", OURS, STRIPE, resident[OURS][-rounds:], resident[STRIPE][-rounds:], None
        )


def _measure_adapters(rounds: int) -> Iterator[Result]:
    from adsunify.networks.registry import ADAPTER_PACKAGES as codes

    others = dict(zip(codes, [*codes][1:] + [*codes][:1], strict=True))
    samples = take_turns(rounds, {code: partial(_measure_adapter, code, others[code]) for code in codes})
    for code in codes:
        yield judge_costs(
            f"one adapter on top, {code}",
            "adapter()",
            f"{ADAPTER_SECONDS * 1000:.0f} ms",
            samples[code],
            [ADAPTER_SECONDS] * rounds,
            at_most(1.0),
            make_explanation(ADAPTER.format(network=code)),
        )


def _measure_adapter(code: str, other: str) -> float:
    """Seconds for an adapter, when what all of them need is there: another adapter has loaded it."""
    return measure_import(f"{ADAPTER.format(network=other)}\nbefore = time.perf_counter()\nget_adapter({code!r})")[0]


# -- the server ---------------------------------------------------------------------------------------------------


def _measure_server(rounds: int) -> Iterator[Result]:
    resident: list[float] = []

    def measure_start() -> float:
        with tempfile.TemporaryDirectory(prefix="adsunify-") as folder:
            database = f"sqlite:///{Path(folder) / 'start.db'}"
            seconds, _ = measure_first_answer(database)
            _, size = measure_first_answer(database)  # what made the database is not there any more
        resident.append(size)
        return seconds

    starts = take_turns(rounds, {"start": measure_start})["start"]
    name, limit = "server: start on a new database to first answer", f"{START_SECONDS:g} s"
    yield judge_costs(name, "adsunify serve", limit, starts, [START_SECONDS] * rounds, at_most(1.0))
    name, limit = "server: resident while idle", f"{IDLE_BYTES // MEGABYTE} MiB"
    explain = make_explanation("import adsunify.cli.serve, adsunify_server.app")
    yield judge_costs(name, "adsunify serve", limit, resident[-rounds:], [IDLE_BYTES] * rounds, at_most(1.0), explain)


def measure_first_answer(database: str) -> tuple[float, float]:
    """Seconds from the start of the process until a request is answered; resident bytes then."""
    command = [sys.executable, "-m", "adsunify", "serve", "--port", "0", "--json", "--database", database]
    began = time.perf_counter()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=make_environment()
    ) as child:
        try:
            assert child.stdout is not None
            ready = json.loads(child.stdout.readline())
            _check_health(ready["baseUrl"])
            return time.perf_counter() - began, _read_resident(child.pid)
        finally:
            child.terminate()
            try:
                child.wait(SECONDS_TO_END)
            except subprocess.TimeoutExpired:
                child.kill()


def _check_health(base_url: str) -> None:
    from urllib.request import ProxyHandler, build_opener

    with build_opener(ProxyHandler({})).open(f"{base_url}/healthz", timeout=5) as answer:
        answer.read()


def _read_resident(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return float(pages * os.sysconf("SC_PAGE_SIZE"))
