"""What ``help()`` and the reference say: nothing public of the clients, the agents' door or an adapter says nothing."""

from __future__ import annotations

import ast
import pkgutil
import re
from collections.abc import Iterator
from inspect import getdoc
from pathlib import Path
from types import ModuleType

import pytest

import adsunify
import adsunify.answers
import adsunify.client
import adsunify.errors
import adsunify.testing
import adsunify.webhooks
from adsunify.client import Ads, AsyncAds
from adsunify.client.resource import Resource

ROOT = Path(__file__).parents[2]
FOLDERS = ("adsunify/client", "adsunify_mcp", "adsunify/networks")
FILES = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]


def list_undocumented(node: ast.AST, name: str) -> Iterator[str]:
    """The module itself and what is public in it, classes with their methods, where it has no docstring."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    if isinstance(node, kinds) and ast.get_docstring(node) is None and not is_empty(node):
        yield name
    if isinstance(node, (ast.Module, ast.ClassDef)):
        for member in node.body:
            if isinstance(member, kinds[1:]) and not member.name.startswith("_"):
                yield from list_undocumented(member, f"{name} {member.name}")


def is_empty(node: ast.AST) -> bool:
    return isinstance(node, ast.Module) and not node.body


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_everything_public_says_what_it_is(path: Path) -> None:
    assert not list(list_undocumented(ast.parse(path.read_text()), path.name))


def test_each_namespace_is_in_the_reference() -> None:
    page = (ROOT / "docs" / "reference.md").read_text()
    for name, namespace in vars(Ads("sqlite:///never.db")).items():
        kind = type(namespace)
        if isinstance(namespace, Resource):
            assert f"### `client.{name}`\n\n```{{eval-rst}}\n.. autoclass:: {kind.__module__}.{kind.__name__}\n" in page


def test_help_says_the_same_of_both_clients() -> None:
    assert getdoc(Ads.call) == getdoc(AsyncAds.call)


def list_directives() -> list[tuple[str, str]]:
    """Return the name that each directive documents, and its members; "*" for all."""
    page = (ROOT / "docs" / "reference.md").read_text()
    pattern = r"^\.\. auto(?:class|function|module|data):: (\S+)\n((?:   .*\n)*)"
    directives = []
    for name, options in re.findall(pattern, page, re.MULTILINE):
        (members,) = re.findall(r":members:(.*)", options) or ["-"]
        directives.append((name, members.replace(",", " ").strip() or "*"))
    return directives


def list_documented() -> Iterator[object]:
    """Yield the objects that the directives document."""
    for name, members in list_directives():
        documented = pkgutil.resolve_name(name)
        yield documented
        if isinstance(documented, ModuleType):
            names = members.split() if members != "*" else getattr(documented, "__all__", vars(documented))
            yield from (getattr(documented, member) for member in names if member != "-")


def test_everything_exported_is_in_the_reference() -> None:
    page = (ROOT / "docs" / "reference.md").read_text()
    documented = list(list_documented())
    assert [name for name in adsunify.__all__ if getattr(adsunify, name) not in documented] == []
    assert [name for name in adsunify.__all__ if f"`{name}`" not in page] == []
    for module in (adsunify.client, adsunify.answers):
        assert [name for name in module.__all__ if getattr(module, name) not in documented] == []


def test_no_two_public_things_have_one_name() -> None:
    """Of the modules that users of the SDK import from."""
    things: dict[str, object] = {}
    for module in (adsunify, adsunify.answers, adsunify.client, adsunify.errors, adsunify.testing, adsunify.webhooks):
        for name in getattr(module, "__all__", None) or list_defined_names(module):
            assert things.setdefault(name, getattr(module, name)) is getattr(module, name), name


def list_defined_names(module: ModuleType) -> list[str]:
    """Return the public classes and functions that the module defines."""
    return [
        name
        for name, member in vars(module).items()
        if not name.startswith("_") and getattr(member, "__module__", "") == module.__name__
    ]


def test_everything_in_the_reference_exists() -> None:
    directives = list_directives()
    assert directives
    for name, members in directives:
        documented = pkgutil.resolve_name(name)
        assert [member for member in members.strip("*-").split() if not hasattr(documented, member)] == [], name
