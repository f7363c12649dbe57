"""Finds every regular expression of the product: in the source, by its syntax tree, and in the loaded modules."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import BuiltinMethodType, MappingProxyType, ModuleType
from typing import Any

from attrs import frozen

from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.sandbox.instants import InstantFormat

PACKAGES = ("adsunify", "adsunify_server", "adsunify_mcp")
ANCHORED = frozenset({"match", "fullmatch"})
METHODS = ANCHORED | {"search", "sub", "subn", "split", "findall", "finditer"}
UNKNOWN = (NameError, AttributeError, TypeError)
ROUTES = "adsunify.sandbox.networks."
"""Modules whose objects are the routes of the sandbox: hundreds of expressions of one form."""
TAKING_A_PATTERN = "foreign"
"""The check of the sandbox whose first argument is a pattern; every other function takes it as ``pattern=``."""


@frozen(order=True)
class Expression:
    """A pattern, where it stands, and whether the product searches for it at every position of a text."""

    pattern: str
    flags: int
    searched: bool
    place: str


def _as_objects() -> Iterable[str]:
    """For a pattern that is compiled into an object of its module: there it is found."""
    return ()


def _by_pydantic() -> Iterable[str]:
    """For a pattern with classes that only pydantic's engine has, whose time is linear."""
    return ()


def _level_ids() -> Iterable[str]:
    return {level.id_pattern for code in ADAPTER_PACKAGES for level in get_adapter(code).network.levels}


def _instants() -> Iterable[str]:
    formats = (value for module in _modules() for value in vars(module).values() if isinstance(value, InstantFormat))
    return {instant_format.pattern for instant_format in formats}


def _segments() -> Iterable[str]:
    return ("/(?P<name>[^/]+)/more",)  # how the sandbox writes the parameter of a path


DYNAMIC: Mapping[tuple[str, str], Callable[[], Iterable[str]]] = {
    ("adsunify.adapter.hierarchy", "get_level(network, kind).id_pattern"): _level_ids,
    ("adsunify.contract.endpoint", "self.pattern"): _as_objects,
    ("adsunify.models.base", "VISIBLE_REGEX"): _by_pydantic,
    ("adsunify_server.logs", "pattern"): _as_objects,
    ("adsunify.sandbox.instants", "self.pattern"): _instants,
    ("adsunify.sandbox.network", "expression"): _segments,
    ("adsunify.sandbox.checks", "pattern"): _as_objects,  # the callers' arguments are found where they stand
    ("adsunify.sandbox.networks.google.gaql", "regex"): _as_objects,
}
"""Patterns that are known only while the product runs, by module and source text, and what they can be."""


@cache
def find_expressions() -> tuple[Expression, ...]:
    """Every expression once. Raises LookupError for a pattern that cannot be evaluated and is not in ``DYNAMIC``."""
    modules = list(_modules())
    trees = {module.__name__: _parse(module) for module in modules}
    uses = _uses(trees.values())
    expressions = [expression for module in modules for expression in _in_source(module, trees[module.__name__], uses)]
    source_keys = {(expression.pattern, expression.flags) for expression in expressions}
    expressions += [
        expression for expression in _in_objects(modules) if (expression.pattern, expression.flags) not in source_keys
    ]
    worst: dict[tuple[str, int], Expression] = {}
    for expression in sorted(expressions):  # False before True: the last one is searched for, if any is
        worst[expression.pattern, expression.flags] = expression
    return tuple(worst.values())


def _modules() -> Iterator[ModuleType]:
    for package in PACKAGES:
        root = importlib.import_module(package)
        yield root
        for module_info in pkgutil.walk_packages(root.__path__, f"{package}."):
            if not module_info.name.endswith(".__main__"):
                yield importlib.import_module(module_info.name)


def _parse(module: ModuleType) -> ast.Module:
    assert module.__file__ is not None
    return ast.parse(Path(module.__file__).read_text(encoding="utf-8"))


def _uses(trees: Iterable[ast.Module]) -> Mapping[str, set[str]]:
    """The methods of expressions that are called on each name, anywhere in the product."""
    uses: dict[str, set[str]] = {}
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in METHODS:
                owner = node.value
                name = owner.id if isinstance(owner, ast.Name) else getattr(owner, "attr", None)
                if name is not None:
                    uses.setdefault(name, set()).add(node.attr)
    return uses


def _in_source(module: ModuleType, tree: ast.Module, uses: Mapping[str, set[str]]) -> Iterator[Expression]:
    chained = {id(node.value): node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    names = {
        id(node.value): [target.id for target in node.targets if isinstance(target, ast.Name)]
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        place = f"{module.__name__}:{node.lineno}"
        for keyword in node.keywords:
            if keyword.arg == "pattern":
                yield from _expressions(module, tree, keyword.value, 0, False, place)
        function = node.func
        if isinstance(function, ast.Name) and function.id == TAKING_A_PATTERN and node.args:
            yield from _expressions(module, tree, node.args[0], 0, False, place)
        if not (isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name)):
            continue
        if function.value.id != "re" or not node.args or function.attr not in METHODS | {"compile"}:
            continue
        methods = {function.attr}
        if function.attr == "compile":
            chain = chained.get(id(node))
            methods = {chain} if chain else set[str]().union(*(uses.get(name, ()) for name in names.get(id(node), ())))
        flags = _flags(module, node) if function.attr == "compile" else 0
        yield from _expressions(module, tree, node.args[0], flags, not methods or not methods <= ANCHORED, place)


def _flags(module: ModuleType, call: ast.Call) -> int:
    flag_nodes = call.args[1:] or [keyword.value for keyword in call.keywords if keyword.arg == "flags"]
    return int(_value(module, flag_nodes[0])) if flag_nodes else 0


def _expressions(
    module: ModuleType, tree: ast.Module, pattern_node: ast.expr, flags: int, searched: bool, place: str
) -> Iterator[Expression]:
    source = ast.unparse(pattern_node)
    if (module.__name__, source) in DYNAMIC:
        patterns: Iterable[Any] = DYNAMIC[module.__name__, source]()
    else:
        patterns = _patterns(module, tree, pattern_node)
        if not patterns:
            raise LookupError(f"{place}: what is {source}? Name it in DYNAMIC.")
    for pattern in patterns:
        if isinstance(pattern, str):
            compiled = re.compile(pattern, flags)
            yield Expression(pattern, compiled.flags, searched, place)


def _patterns(module: ModuleType, tree: ast.Module, pattern_node: ast.expr) -> list[Any]:
    """What an expression can be; a name inside a function is what the module's functions assign to it."""
    if isinstance(pattern_node, ast.IfExp):
        return [*_patterns(module, tree, pattern_node.body), *_patterns(module, tree, pattern_node.orelse)]
    try:
        return [_value(module, pattern_node)]
    except UNKNOWN:
        return [
            pattern
            for node in ast.walk(tree)
            if isinstance(pattern_node, ast.Name) and isinstance(node, ast.Assign)
            if any(isinstance(target, ast.Name) and target.id == pattern_node.id for target in node.targets)
            for pattern in _patterns(module, tree, node.value)
        ]


def _value(module: ModuleType, expression: ast.expr) -> Any:
    """What a module's expression is; a value of one call inside a text counts as the digit 0."""
    if isinstance(expression, ast.JoinedStr):
        return "".join(str(_part(module, part)) for part in expression.values)
    if isinstance(expression, ast.BinOp) and isinstance(expression.op, ast.Add):
        return f"{_part(module, expression.left)}{_part(module, expression.right)}"
    return eval(compile(ast.Expression(expression), "<pattern>", "eval"), vars(module))


def _part(module: ModuleType, part: ast.expr) -> Any:
    try:
        return _value(module, part.value if isinstance(part, ast.FormattedValue) else part)
    except UNKNOWN:
        return "0"


def _in_objects(modules: Iterable[ModuleType]) -> Iterator[Expression]:
    """The compiled expressions among the modules' globals, and in their tables and values."""
    waiting = [
        (module.__name__, value)
        for module in modules
        if not module.__name__.startswith(ROUTES)
        for value in vars(module).values()
    ]
    seen_ids: set[int] = set()
    while waiting:
        place, value = waiting.pop()
        if id(value) in seen_ids:
            continue
        seen_ids.add(id(value))
        owner = value.__self__ if isinstance(value, BuiltinMethodType) else value
        inner: Iterable[Any] = ()
        if isinstance(owner, re.Pattern) and isinstance(owner.pattern, str):
            yield Expression(owner.pattern, owner.flags, value is owner or value.__name__ not in ANCHORED, place)
        elif isinstance(value, dict | MappingProxyType):
            inner = value.values()
        elif isinstance(value, list | tuple | set | frozenset):
            inner = value
        elif type(value).__module__.partition(".")[0] in PACKAGES:
            inner = [getattr(value, attribute.name, None) for attribute in getattr(type(value), "__attrs_attrs__", ())]
        waiting += [(place, member) for member in inner if not isinstance(member, str | int)]
