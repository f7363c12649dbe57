"""Hostile texts for one expression: what comes before a repeated part, the part many times over, and what fits none."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

_parser: Any = importlib.import_module("re._parser")
ALPHABET = 'aAeE0 .-_"=:/;,(<\n\té'
ENDINGS = ("", "\x00")
TURNS = 3
"""The number of different prefixes that are tried before a repeated part."""
WIDEST = 256
"""A repeat whose bound is larger counts as one without a bound."""
REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")

Nodes = Sequence[tuple[Any, Any]]


def parse_nodes(pattern: str, flags: int) -> Nodes:
    """The parts of a pattern, as the standard library reads them: pairs of an operation and its argument."""
    nodes: Nodes = list(_parser.parse(pattern, flags & ~re.DEBUG))
    return nodes


def children(operation: str, argument: Any) -> Iterator[Nodes]:
    """The sequences of parts inside a part."""
    if operation in REPEATS:
        yield list(argument[2])
    elif operation == "SUBPATTERN":
        yield list(argument[3])
    elif operation == "ATOMIC_GROUP":
        yield list(argument)
    elif operation in ("ASSERT", "ASSERT_NOT"):
        yield list(argument[1])
    elif operation == "BRANCH":
        yield from (list(branch) for branch in argument[1])


def has_long_repeat(nodes: Nodes) -> bool:
    """Whether a part may be repeated more than ``WIDEST`` times: without one, the cost of a position is bounded."""
    return any(
        (str(operation) in REPEATS and argument[1] > WIDEST)
        or any(has_long_repeat(inner) for inner in children(str(operation), argument))
        for operation, argument in nodes
    )


def fits_set(members: Sequence[tuple[Any, Any]], character: str) -> bool:
    """Whether a character is one of a set of the pattern: `[a-z0-9_]`."""
    negated, hit = False, False
    for operation, argument in members:
        match str(operation):
            case "NEGATE":
                negated = True
            case "LITERAL":
                hit |= ord(character) == argument
            case "RANGE":
                hit |= argument[0] <= ord(character) <= argument[1]
            case "CATEGORY":
                hit |= fits_category(str(argument), character)
    return hit is not negated


def fits_category(category: str, character: str) -> bool:
    """Whether a character is in `\\d`, `\\s`, `\\w` or the opposite of one."""
    kind = category.rpartition("_")[2]
    hit = {
        "DIGIT": character.isdecimal(),
        "SPACE": character.isspace(),
        "WORD": character.isalnum() or character == "_",
    }[kind]
    return hit is not ("_NOT_" in category)


def _characters(operation: str, argument: Any) -> list[str]:
    """Some characters that a part of one character takes."""
    if operation == "LITERAL":
        return [chr(argument)]
    if operation == "NOT_LITERAL":
        return [character for character in ALPHABET if ord(character) != argument]
    if operation == "ANY":
        return list(ALPHABET)
    if operation == "IN":
        some = [character for character in ALPHABET if fits_set(argument, character)]
        some += [chr(inner) for kind, inner in argument if str(kind) == "LITERAL" and fits_set(argument, chr(inner))]
        some += [
            chr(inner[0]) for kind, inner in argument if str(kind) == "RANGE" and fits_set(argument, chr(inner[0]))
        ]
        return some or ["\u2603"]
    return []


def example(nodes: Nodes, turn: int) -> str:
    """A short text that the parts take, as far as that is known without trying; each turn takes other characters."""
    return "".join(_example(str(operation), argument, turn) for operation, argument in nodes)


def _example(operation: str, argument: Any, turn: int) -> str:
    if some := _characters(operation, argument):
        return some[turn % len(some)]
    if operation in REPEATS:
        return example(list(argument[2]), turn) * min(argument[0], 40)
    if operation == "BRANCH":
        return example(list(argument[1][turn % len(argument[1])]), turn)
    if operation in ("SUBPATTERN", "ATOMIC_GROUP"):
        return example(next(children(operation, argument)), turn)
    return ""


def _parts(nodes: Nodes) -> Iterator[tuple[str, Any]]:
    """The parts of one character, at any depth."""
    for operation, argument in nodes:
        yield str(operation), argument
        for inner in children(str(operation), argument):
            yield from _parts(inner)


def _unlike(some: Sequence[str], sets: Sequence[frozenset[str]]) -> list[str]:
    """One character of each kind: the pattern tells those of one kind apart nowhere."""
    return list({tuple(character in taken for taken in sets): character for character in reversed(some)}.values())


def _pumps(nodes: Nodes, sets: Sequence[frozenset[str]], before: str, turn: int) -> Iterator[tuple[str, str]]:
    """Return the prefix of each repeated part, and the texts that the part matches."""
    for operation, argument in nodes:
        name = str(operation)
        for inner in children(name, argument):
            if name in REPEATS and argument[1] > WIDEST:
                if len(inner) == 1 and (some := _characters(str(inner[0][0]), inner[0][1])):
                    yield from ((before, pumped) for pumped in _unlike(some, sets))
                else:
                    yield before, example(inner, turn)
            yield from _pumps(inner, sets, before, turn)
        before += _example(name, argument, turn)


def hostile_texts(nodes: Nodes, times: int) -> Iterator[str]:
    """Texts that repeat a part, or all up to a part, so many times; none twice."""
    texts: dict[str, None] = {}
    sets = [frozenset(_characters(name, argument)) for name, argument in _parts(nodes)]
    for turn in range(TURNS):
        for before, pump in _pumps(nodes, sets, "", turn):
            texts |= dict.fromkeys((before + pump * times, before * times, (before + pump) * times))
        texts[example(nodes, turn) * times] = None
    return (text + ending for text, ending in product(texts, ENDINGS))
