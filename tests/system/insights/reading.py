"""``python -m tests.system.insights.reading NETWORK ROWS``: read reports in a process, and print what it took, as JSON.

Speed is compared with ``json.loads`` of the same bytes, page by page. The time in which a page is made is not counted.
"""

from __future__ import annotations

import json
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from time import perf_counter

from attrs import asdict, frozen

from adsunify.http.messages import Request, Response
from adsunify.values.exact_json import loads

from .pages import Source, make_response, read_pages

MAX_PEAK = 256 * 2**20
"""The most memory, in bytes, that a process may take."""


@frozen
class Measured:
    """What the reports of a network took.

    Attributes:
        rows: the rows that were read.
        spend: the sum of their spend, as text.
        size: the bytes of the responses.
        loads_seconds: the time of ``json.loads`` of the bytes.
        whole_seconds: our time, from bytes to rows.
        convert_seconds: the part of ``whole_seconds`` that is not spent with parsing JSON.
        peak: the peak resident memory of the process in bytes.
    """

    rows: int
    spend: str
    size: int
    loads_seconds: float
    whole_seconds: float
    convert_seconds: float
    peak: int

    @property
    def whole_ratio(self) -> float:
        return self.loads_seconds / self.whole_seconds

    @property
    def convert_ratio(self) -> float:
        return self.loads_seconds / self.convert_seconds


def measure(network: str, rows: int) -> Measured:
    """Read so many rows, and add up their spend."""
    size, count, spend = 0, 0, Decimal(0)
    loads_seconds = parse_seconds = spare_seconds = 0.0
    source = Source(network)

    def respond(request: Request, content: bytes) -> Response:
        nonlocal size, loads_seconds, parse_seconds, spare_seconds
        size += len(content)
        start = perf_counter()
        json.loads(content)
        loaded = perf_counter()
        loads(content)
        parsed = perf_counter()
        loads_seconds += loaded - start
        parse_seconds += parsed - loaded
        spare_seconds += parsed - start
        return make_response(request, content)

    started = perf_counter()
    for page in read_pages(source, rows, respond):
        added = perf_counter()
        count += len(page.rows)
        spend += sum(map(Decimal, page.rows.columns["spend"]), Decimal(0))
        spare_seconds += perf_counter() - added
    whole = perf_counter() - started - source.seconds - spare_seconds
    peak = _read_memory("VmHWM")
    if count != source.count:
        raise RuntimeError(f"{network}: {source.count} native rows became {count} rows")
    return Measured(count, str(spend), size, loads_seconds, whole, whole - parse_seconds, peak)


def _read_memory(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:"))


def measure_in_process(network: str, rows: int) -> Measured:
    """Read so many rows in a process that does nothing else."""
    command = (sys.executable, "-m", __name__, network, str(rows))
    ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return Measured(**json.loads(ran.stdout))


if __name__ == "__main__":
    print(json.dumps(asdict(measure(sys.argv[1], int(sys.argv[2])))))
