"""``python -m tests.system.insights [ROWS]``: read reports of every network, ten million rows, each in a process.

The peak of each process must stay within 256 MiB. The speed is printed beside that of ``json.loads`` of the same bytes.
"""

from __future__ import annotations

import sys

from .pages import list_reporting_networks
from .reading import MAX_PEAK, Measured, measure_in_process

ALL_ROWS = 10_000_000
LEAST_RATIO = 0.6
"""Reading is to be at least so fast, as a part of the speed of ``json.loads``. A miss is printed and fails nothing."""


def print_line(network: str, measured: Measured) -> None:
    seconds = (measured.loads_seconds, measured.whole_seconds, measured.convert_seconds)
    times = "".join(f"{duration / measured.rows * 10**6:12.2f}" for duration in seconds)
    miss = "" if measured.whole_ratio >= LEAST_RATIO else f"  below {LEAST_RATIO}"
    ratios = f"{measured.whole_ratio:12.2f}{measured.convert_ratio:12.2f}"
    print(f"{network:<10}{measured.rows:12,}{measured.peak / 2**20:12.0f}{times}{ratios}{miss}", flush=True)


def main(arguments: list[str]) -> int:
    rows = int(arguments[0]) if arguments else ALL_ROWS
    titles = ("rows", "peak MiB", "json.loads", "whole", "conversion", "ratio", "conversion")
    print("Microseconds a row. whole: from bytes to rows. conversion: whole without the parsing of JSON.")
    print(
        "ratio: json.loads to whole, and to conversion. Each network answers reports of a level in JSON, none in CSV."
    )
    print(f"{'':<10}{''.join(f'{title:>12}' for title in titles)}")
    networks, every = list_reporting_networks(), []
    for network in networks:
        measured = measure_in_process(network, -(-rows // len(networks)))
        print_line(network, measured)
        every.append(measured)
    loads_seconds = sum(measured.loads_seconds for measured in every)
    whole_seconds = sum(measured.whole_seconds for measured in every)
    all_rows = sum(measured.rows for measured in every)
    print(f"{all_rows:,} rows; ratio over all networks: {loads_seconds / whole_seconds:.2f}")
    too_large = [network for network, measured in zip(networks, every, strict=True) if measured.peak > MAX_PEAK]
    if too_large:
        print(f"FAILED: more than {MAX_PEAK // 2**20} MiB: {', '.join(too_large)}")
    return 1 if too_large else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
