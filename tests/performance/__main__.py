"""``python -m tests.performance [--rounds N] [--section 1,2] [--stored N] [--engine E] [--json]``: goals, if met."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TextIO

from .measuring import Result

SECTIONS = {
    1: ("preparing", "a brief becomes a plan"),
    2: ("serving", "requests a second and waits, against the least server"),
    3: ("executing", "executions, against the time the network itself takes"),
    4: ("storing", "the store, against the same statements without it"),
    5: ("delivering", "webhooks: signatures against the HMAC, deliveries against a client that keeps nothing"),
    7: ("importing", "imports, memory and the start of the server"),
    6: ("reporting", "report rows become figures, against loops written by hand"),
    9: ("guarding", "prepare and execute with 100 guardrails, against the same without"),
    10: ("scaling", "requests spread over several server processes, against processes without a server"),
    8: ("growing", "calls with many operations stored, against the same with a thousand"),  # the longest
}
HEADINGS = ("name", "best", "median", "spread", "goal", "met")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.performance", description=__doc__)
    parser.add_argument("--rounds", type=int, default=8, help="rounds that count, after one that does not")
    parser.add_argument("--section", default=",".join(map(str, SECTIONS)), help="sections, comma-separated")
    parser.add_argument("--stored", type=int, default=1_000_000, help="section 8: how many operations are many")
    parser.add_argument("--engine", help="section 8: only this one, sqlite or postgresql")
    parser.add_argument("--json", action="store_true", help="one JSON line for each goal")
    options = parser.parse_args()
    sections = [int(number) for number in options.section.split(",")]
    if unknown := set(sections) - set(SECTIONS):
        parser.error(f"there is no section {min(unknown)}; there are {', '.join(map(str, SECTIONS))}")
    section_options = {8: {"stored": options.stored, "engine": options.engine}}
    missed = [
        result
        for section in sections
        for result in _print_results(section, options.rounds, options.json, section_options.get(section, {}))
    ]
    for result in missed:
        if result.profile is not None:
            print(
                f"\nmissed: {result.name} ({result.limit}); where the time goes:", file=_get_text_stream(options.json)
            )
            print(result.profile, file=_get_text_stream(options.json), flush=True)


def _get_text_stream(as_json: bool) -> TextIO:
    """Where people read: with ``--json`` beside the lines for programs."""
    return sys.stderr if as_json else sys.stdout


def _print_results(section: int, rounds: int, as_json: bool, section_options: Mapping[str, Any]) -> Iterator[Result]:
    """Print the section's results; those that missed their goal."""
    module, title = SECTIONS[section]
    print(f"\n{section}. {title}", file=_get_text_stream(as_json), flush=True)
    if not as_json:
        _print_row(HEADINGS)
    for result in importlib.import_module(f"tests.performance.{module}").results(rounds, **section_options):
        if as_json:
            print(json.dumps(result.to_json()), flush=True)
        else:
            _print_row(_make_cells(result))
        if result.is_met is False:
            yield result


def _make_cells(result: Result) -> Sequence[str]:
    goal = "-" if result.limit is None else str(result.limit)
    if result.missing is not None:
        return (result.name, "-", "-", result.missing, goal, "not measured")
    assert result.spread is not None
    low, high = result.spread
    met = {True: "met", False: "MISSED", None: "-"}[result.is_met]
    return (result.name, f"{result.best_ratio:.2f}", f"{result.paired_median:.2f}", f"{low:.2f}-{high:.2f}", goal, met)


def _print_row(cells: Sequence[str]) -> None:
    name, *rest = cells
    print(f"  {name:<66} " + " ".join(f"{cell:>11}" for cell in rest), flush=True)


if __name__ == "__main__":
    main()
