"""Every regular expression of the product by the engine itself, on texts that grow: ``python -m tests.system.regexes``.

Prints the slowest expressions. Fails where four times the length takes more than eight times the time, twice in a row.
"""

from __future__ import annotations

import re
import sys
from itertools import pairwise
from time import process_time

from .expressions import Expression, find_expressions
from .hostile import has_long_repeat, hostile_texts, parse_nodes

TIMES = (500, 2_000, 8_000)
GROWTH = 8
NOTICEABLE = 0.002
"""Seconds. What takes less is noise."""
TOO_LONG = 0.5
"""Seconds: no longer text is tried."""


def measure(compiled: re.Pattern[str], searched: bool, text: str) -> float:
    """Seconds that the product's use of an expression takes: the best of two."""
    best = float("inf")
    for _ in range(2):
        start = process_time()
        if searched:
            compiled.sub("", text)
        else:
            compiled.fullmatch(text)
        best = min(best, process_time() - start)
        if best > TOO_LONG:
            break
    return best


def examine(expression: Expression) -> tuple[float, float]:
    """The longest time of any text, and the greatest growth from one length to the next that was noticeable."""
    nodes, compiled = (
        parse_nodes(expression.pattern, expression.flags),
        re.compile(expression.pattern, expression.flags),
    )
    slowest, worst = 0.0, 0.0
    series = [list(hostile_texts(nodes, times)) for times in TIMES]
    for texts in zip(*series, strict=True):
        before, growths = 0.0, [0.0]
        for text in texts:
            taken = measure(compiled, expression.searched, text)
            slowest = max(slowest, taken)
            if taken > NOTICEABLE and before:
                growths.append(taken / before)
            before = taken
            if taken > TOO_LONG:
                growths.append(growths[-1])
                break
        worst = max(worst, *map(min, pairwise(growths)), 0.0)
    return slowest, worst


def main() -> int:
    start, everything = process_time(), find_expressions()
    repeating = [
        expression for expression in everything if has_long_repeat(parse_nodes(expression.pattern, expression.flags))
    ]
    results = sorted(((*examine(expression), expression) for expression in repeating), reverse=True)
    print(
        f"{len(everything)} expressions, {len(repeating)} with an unbounded repeat; the slowest on {TIMES[-1]} repeats:"
    )
    for slowest, growth, expression in results[:8]:
        print(f"{slowest * 1000:8.1f} ms  growth {growth:4.1f}  {expression.place}  {expression.pattern[:60]!r}")
    bad = [expression for _, growth, expression in results if growth > GROWTH]
    for expression in bad:
        print(f"QUADRATIC: {expression.place}: {expression.pattern!r}")
    print(f"{process_time() - start:.0f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
