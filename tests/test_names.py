"""Names: a variable says what it holds, and a function says what it does. The same rules hold everywhere."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PARTS = ("adsunify", "adsunify_server", "adsunify_mcp", "examples", "tests", "noxfile.py")
VAGUE = {
    *("asked", "found", "given", "got", "held", "kept", "listed", "made"),
    *("one", "said", "seen", "shown", "told", "wanted", "written"),
}
"""Variables, parameters and functions with these names say nothing about what they hold or do."""
PARTICIPLE = re.compile(
    r"_*([a-z]+[^e]ed|built|bound|begun|broken|chosen|drawn|gone|grown|known|left|lost|met|paid|sent|spent|spoken|taken)"
)
"""A name that is a participle, together with :data:`VAGUE`."""


def find_vague_names(source: str) -> Iterator[str]:
    """The names that a module gives and that do not say what they name, each with its line.

    Fields of records are left out: JSON names many of them.
    """
    module = ast.parse(source)
    classes = (node for node in ast.walk(module) if isinstance(node, ast.ClassDef))
    fields = {id(part.target) for class_ in classes for part in class_.body if isinstance(part, ast.AnnAssign)}
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            name, is_vague = node.name, node.name.strip("_") in VAGUE or PARTICIPLE.fullmatch(node.name)
        elif isinstance(node, ast.arg):
            name, is_vague = node.arg, node.arg in VAGUE
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            name, is_vague = node.id, node.id in VAGUE and id(node) not in fields
        else:
            continue
        if is_vague:
            yield f"{node.lineno}: {name}"


@pytest.mark.parametrize("part", PARTS)
def test_names_say_what_they_name(part: str) -> None:
    whole = ROOT / part
    paths = whole.rglob("*.py") if whole.is_dir() else [whole]
    vague = {str(path.relative_to(ROOT)): [*find_vague_names(path.read_text("utf-8"))] for path in paths}
    assert {path: names for path, names in vague.items() if names} == {}


@pytest.mark.parametrize(
    "source",
    [
        "for one in rows: pass",
        "found = search()",
        "def read(asked: str) -> str: ...",
        "def listed(): ...",
        "async def _opened(): ...",
        "class Server:\n    def served(self): ...",
    ],
)
def test_a_vague_name_is_found(source: str) -> None:
    assert len([*find_vague_names(source)]) == 1


@pytest.mark.parametrize(
    "source",
    ["def feed(): ...", "def is_listed(ids): ...", "from hypothesis import given", "class Row:\n    found: str"],
)
def test_a_name_that_says_what_it_names_is_kept(source: str) -> None:
    assert [*find_vague_names(source)] == []
