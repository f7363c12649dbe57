"""Counts the steps of a backtracking search, which is what the standard library does, without its shortcuts.

A bound of a repeat up to ``WIDEST`` is counted as a small one: it changes a factor, not how the cost grows.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from attrs import define

from .hostile import REPEATS, WIDEST, Nodes, children, fits_category, fits_set

SMALL = 4
Then = Callable[[int], bool]


class TooMany(Exception):
    """The search takes more steps than it may."""


@define
class Counter:
    """One search in one text."""

    text: str
    flags: int
    most: int
    steps: int = 0

    def search(self, nodes: Nodes, everywhere: bool) -> None:
        """Look for all that fits, as ``sub`` does, or at the start alone. Raises TooMany."""
        start = 0
        while start <= len(self.text):
            ends: list[int] = []
            self._match(nodes, 0, start, lambda end, ends=ends: not ends.append(end))  # type: ignore[misc]
            if not everywhere:
                return
            start = max(start + 1, ends[0] if ends else 0)

    def _match(self, nodes: Nodes, index: int, at: int, then: Then) -> bool:
        self.steps += 1
        if self.steps > self.most:
            raise TooMany
        if index == len(nodes):
            return then(at)
        operation, argument = nodes[index]
        name = str(operation)

        def rest(end: int) -> bool:
            return self._match(nodes, index + 1, end, then)

        if name in REPEATS:
            return self._repeat(name, argument, at, rest)
        if name == "BRANCH":
            return any(self._match(inner, 0, at, rest) for inner in children(name, argument))
        if name == "SUBPATTERN":
            return self._match(next(children(name, argument)), 0, at, rest)
        if name == "ATOMIC_GROUP":
            end = self._end(next(children(name, argument)), at)
            return end is not None and rest(end)
        if name in ("ASSERT", "ASSERT_NOT"):
            inner = next(children(name, argument))
            starts = [at] if argument[0] > 0 else range(max(0, at - 8), at + 1)
            there = any(self._end(inner, start, None if argument[0] > 0 else at) is not None for start in starts)
            return there is (name == "ASSERT") and rest(at)
        if name == "AT":
            return self._stands(str(argument), at) and rest(at)
        return at < len(self.text) and self._fits(name, argument, self.text[at]) and rest(at + 1)

    def _end(self, nodes: Nodes, at: int, expected_end: int | None = None) -> int | None:
        ends: list[int] = []

        def stop(end: int) -> bool:
            if expected_end is None or end == expected_end:
                ends.append(end)
                return True
            return False

        return ends[0] if self._match(nodes, 0, at, stop) else None

    def _repeat(self, name: str, argument: Any, at: int, rest: Then) -> bool:
        least, most, inner = min(argument[0], SMALL), argument[1], list(argument[2])
        most = min(most, 2 * SMALL) if most <= WIDEST else len(self.text) + 1
        single = len(inner) == 1 and str(inner[0][0]) in ("LITERAL", "NOT_LITERAL", "ANY", "IN", "CATEGORY")
        if single:
            kind, operand = str(inner[0][0]), inner[0][1]
            end = at
            while end < len(self.text) and end - at < most and self._fits(kind, operand, self.text[end]):
                end += 1
                self.steps += 1
            ends = range(at + least, end + 1)
            if name == "POSSESSIVE_REPEAT":
                return end in ends and rest(end)
            return any(rest(candidate) for candidate in (ends if name == "MIN_REPEAT" else reversed(ends)))
        if name == "POSSESSIVE_REPEAT":
            count = 0
            while count < most and (following := self._end(inner, at)) is not None and following > at:
                at, count = following, count + 1
            return count >= least and rest(at)
        return self._again(name, inner, least, most, 0, at, rest)

    def _again(self, name: str, inner: Nodes, least: int, most: int, count: int, at: int, rest: Then) -> bool:
        def again() -> bool:
            return count < most and self._match(
                inner, 0, at,
                lambda end: end > at and self._again(name, inner, least, most, count + 1, end, rest),
            )  # fmt: skip

        if count < least:
            return again()
        return rest(at) or again() if name == "MIN_REPEAT" else again() or rest(at)

    def _stands(self, where: str, at: int) -> bool:
        if where == "AT_BEGINNING_STRING" or where == "AT_BEGINNING":
            return at == 0
        if where == "AT_END_STRING" or where == "AT_END":
            return at == len(self.text)
        before = at > 0 and fits_category("CATEGORY_WORD", self.text[at - 1])
        after = at < len(self.text) and fits_category("CATEGORY_WORD", self.text[at])
        return (before is not after) is (where == "AT_BOUNDARY")

    def _fits(self, name: str, argument: Any, character: str) -> bool:
        for variant in {character, character.lower(), character.upper()[:1]} if self.flags & re.I else {character}:
            if (
                (name == "LITERAL" and ord(variant) == argument)
                or (name == "NOT_LITERAL" and ord(variant) != argument)
                or (name == "ANY" and (variant != "\n" or self.flags & re.S))
                or (name == "IN" and fits_set(argument, variant))
            ):
                return True
        return False


def count_steps(nodes: Nodes, flags: int, text: str, everywhere: bool, most: int) -> int:
    """The steps of a search for all that fits; more than ``most`` where there are more."""
    counter = Counter(text, flags, most)
    try:
        counter.search(nodes, everywhere)
    except TooMany:
        return most + 1
    return counter.steps
