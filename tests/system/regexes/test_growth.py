"""What a regular expression costs grows with the length of a text, not with its square: counted in steps."""

import sys
from collections.abc import Iterator

import pytest

from .counting import count_steps
from .expressions import find_expressions
from .hostile import has_long_repeat, hostile_texts, parse_nodes

SHORT, LONG = 12, 48
MOST = 6
"""Four times the length may take six times the steps; a quadratic search takes sixteen times as many."""
FREE = 400
"""So few steps in the long text prove nothing."""
ALARM = 20_000
"""So many steps in the short text are exponential."""


def grows(pattern: str, flags: int, searched: bool) -> str | None:
    """A text whose steps grow faster than its length, or None."""
    nodes = parse_nodes(pattern, flags)
    if not has_long_repeat(nodes):
        return None
    for short, long in zip(hostile_texts(nodes, SHORT), hostile_texts(nodes, LONG), strict=True):
        few = count_steps(nodes, flags, short, searched, ALARM)
        most = max(FREE, few * MOST)
        if few > ALARM or count_steps(nodes, flags, long, searched, most) > most:
            return long
    return None


@pytest.fixture(autouse=True)
def deep() -> Iterator[None]:
    """The matcher calls itself for every step."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.exhaustive  # the session ``regexes`` tries the same expressions by the engine itself
@pytest.mark.timeout(900)  # many expressions, one after the other
def test_no_expression_of_the_product_is_quadratic() -> None:
    assert [
        expression
        for expression in find_expressions()
        if grows(expression.pattern, expression.flags, expression.searched) is not None
    ] == []


@pytest.mark.parametrize(
    ("pattern", "searched"),
    [
        (r"(a+)+b", False),
        (r"(a|a)*b", False),
        (r"a*a*b", False),
        (r"[0-9]+x", True),
        (r"\s+$", True),
        (r"nonexisting field \(.*\) on node type \((\w+)\)", True),
        (r"((?:token|bearer)\W{1,3})(?=[\w.|~+/=-]*[0-9])[\w.|~+/=-]{16,}", True),
        (r"x(?:.*?;)?y", True),
    ],
)
def test_what_is_quadratic_is_seen(pattern: str, searched: bool) -> None:
    assert grows(pattern, 0, searched) is not None


@pytest.mark.exhaustive
def test_the_expressions_are_found() -> None:
    places = {expression.place.partition(":")[0] for expression in find_expressions()}
    assert len(find_expressions()) > 100
    assert {"adsunify.http.redaction", "adsunify.networks.meta.native", "adsunify_server.logs"} <= places
