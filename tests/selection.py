"""Which tests are about a network: those of ``--network CODE``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Set
from functools import cache
from pathlib import Path

import pytest

from adsunify.networks.registry import ADAPTER_PACKAGES

NETWORK_LISTS = frozenset(
    {"ADAPTER_PACKAGES", "PUBLISHED_ORDER", "list_case_folders", "list_own_cases", "load_networks"}
)
"""The names from which a test takes the networks."""


def is_about(item: pytest.Item, code: str) -> bool:
    """Whether a test stands in the network's folder or file, names it in its id, or takes all networks at once."""
    own = item.path.parent.name == code or re.fullmatch(rf"test_{code}(_\w+)?", item.path.stem)
    _, _, parameters = item.name.partition("[")
    words = set(re.findall(r"[a-z]+", parameters))
    return bool(own) or code in words or (words.isdisjoint(ADAPTER_PACKAGES) and takes_every_network(item))


def takes_every_network(item: pytest.Item) -> bool:
    """Whether a test, or what it uses of its module, names one of :data:`NETWORK_LISTS`."""
    names = read_names(item.path)
    pending, visited = [item.name.partition("[")[0]], set[str]()
    while pending:
        name = pending.pop()
        if name in NETWORK_LISTS:
            return True
        if name not in visited:
            visited.add(name)
            pending += names.get(name, ())
    return False


@cache
def read_names(path: Path) -> Mapping[str, Set[str]]:
    """The names that each function and each constant of a module uses; parameters are names of fixtures."""
    names: dict[str, set[str]] = {}
    for statement in ast.parse(path.read_text()).body:
        used = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
        used |= {node.arg for node in ast.walk(statement) if isinstance(node, ast.arg)}
        for name in list_defined(statement):
            names.setdefault(name, set()).update(used - {name})
    return names


def list_defined(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement of a module defines."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Assign | ast.AnnAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        yield from (node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name))
