"""Writes the tables of ``docs/errors.md``: every code of an error and of an issue, from the code.

The last cells of a row are written by hand and stay; they are empty in a new row.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path

from adsunify import errors
from adsunify.errors import MORE_ISSUES_CODE, AdsunifyError, OperationError
from adsunify.models.error_messages import _MESSAGE_BY_TYPE
from adsunify.problem_details import PROBLEM_CODES, from_problem_details
from adsunify.review.capabilities import render_markdown_table
from adsunify.service.network_session import INACTIVE_MESSAGES

ROOT = Path(__file__).parents[2]
PACKAGES = ("adsunify", "adsunify_server", "adsunify_mcp")
OUTCOMES = ("not_applied", "partly_applied", "applied", "unknown")
HANDWRITTEN_CELLS = 2
NATIVE_CODES = re.compile(r"provider_\w+|media_processing|connection_lost|not_sent").fullmatch
"""Codes of errors that carry the error of the network."""
MAKERS = {"Issue": 1, "Violation": 1, "invalid_input": 1, "PydanticCustomError": 0}
"""What makes an issue, and the position of its code in the call."""
PREFIXED_CODES: Mapping[str, Sequence[str]] = {"account_": tuple(INACTIVE_MESSAGES)}
"""The codes that code joins from a prefix and a value: the prefix, and the values."""
_search_maker = re.compile(rf'({"|".join(MAKERS)})\(|code="').search
_match_message = re.compile(r"(must|is|has) .+").match
_match_code = re.compile(r"[a-z_]+").fullmatch


def write_errors(text: str) -> str:
    """The page, with its tables written again."""
    by_hand = read_handwritten_cells(text)
    problems = [
        (f"`{code}`", str(status), f"`{get_error_class(code, status)}`", meaning, *by_hand.get(code, ("", "")))
        for code, (status, meaning) in PROBLEM_CODES.items()
    ]
    local = [(f"`{code}`", f"`{name}`", *by_hand.get(code, ("", ""))) for code, name in sorted(list_local_codes())]
    issues = [(f"`{code}`", *by_hand.get(f"issue {code}", ("", ""))) for code in sorted(set(list_issue_codes()))]
    for first, heads, rows in (
        ("code", ("code", "status", "class", "meaning", "outcome", "what to do"), problems),
        ("code of Python", ("code of Python", "class", "meaning", "what to do"), local),
        ("code of an issue", ("code of an issue", "meaning", "what to do"), issues),
    ):
        table = "\n".join(render_markdown_table(heads, rows)) + "\n"
        text = re.sub(rf"^\| {first} \|.*\n(\|.*\n)*", lambda match, table=table: table, text, count=1, flags=re.M)
    return text


def read_handwritten_cells(text: str) -> dict[str, tuple[str, ...]]:
    """Return the last cells of each row by its code; a code of an issue has the prefix ``issue``."""
    before, _, after = text.partition("| code of an issue |")
    cells = {}
    for prefix, part in (("", before), ("issue ", after)):
        for line in part.splitlines():
            if line.startswith("| `"):
                row = [cell.strip() for cell in line.strip("|").split(" | ")]
                cells[prefix + row[0].strip("`")] = tuple(cell.strip("| ") for cell in row[-HANDWRITTEN_CELLS:])
    return cells


# -- errors -------------------------------------------------------------------------------------------------------


def get_error_class(code: str, status: int) -> str:
    """Return the name of the class that a client raises for an error of a server."""
    native = {"network": {}} if NATIVE_CODES(code) else {}
    problem = {"code": code, "status": status, "detail": "", "outcome": "not_applied", **native}
    return type(from_problem_details(problem)).__name__


def list_local_codes() -> Iterator[tuple[str, str]]:
    """Yield the codes that only Python shows, with their classes: defaults of classes, and codes given in a raise."""
    for name, kind in vars(errors).items():
        is_error = isinstance(kind, type) and issubclass(kind, AdsunifyError) and kind is not OperationError
        if is_error and kind.default_code not in PROBLEM_CODES:
            yield kind.default_code, name
    for call, _ in load_nodes():
        name = get_name(call.func) if isinstance(call, ast.Call) else ""
        if isinstance(call, ast.Call) and isinstance(getattr(errors, name, None), type):
            values = (keyword.value for keyword in call.keywords if keyword.arg == "code")
            yield from (
                (str(value.value), name)
                for value in values
                if isinstance(value, ast.Constant) and value.value not in PROBLEM_CODES
            )


# -- issues -------------------------------------------------------------------------------------------------------


def list_issue_codes() -> Iterator[str]:
    """Yield the code of each issue that the packages can make. Raises ValueError for a code that cannot be read."""
    yield MORE_ISSUES_CODE
    yield from (code for code, _ in _MESSAGE_BY_TYPE.values())
    makers = MAKERS | find_helpers()
    for node, function in load_nodes():
        if isinstance(node, ast.Tuple):
            yield from read_message(node)
        elif (position := makers.get(get_name(node.func))) is not None:
            yield from read_codes(node, position, function)


def find_helpers() -> dict[str, int]:
    """Return the functions that pass their parameter ``code`` to a maker, with the position of that parameter."""
    helpers = {}
    for call, function in load_nodes():
        if isinstance(call, ast.Call) and isinstance(function, ast.FunctionDef):
            position = MAKERS.get(get_name(call.func), len(call.args))
            parameters = [parameter.arg for parameter in function.args.args]
            if "code" in parameters and "code" in map(get_name, call.args[position : position + 1]):
                helpers[function.name] = parameters.index("code")
    return helpers


def read_codes(call: ast.Call, position: int, function: ast.AST) -> Iterator[str]:
    """Yield the codes that an argument can be: a text, one of two texts, or a variable with such a text."""
    if any(isinstance(argument, ast.Starred) for argument in call.args[: position + 1]):
        return
    pending: list[ast.AST] = call.args[position : position + 1] or [
        keyword.value for keyword in call.keywords if keyword.arg == "code"
    ]
    assigned = [node for node in ast.walk(function) if isinstance(node, ast.Assign)]
    for value in pending:
        if isinstance(value, ast.Constant):
            yield str(value.value)
        elif isinstance(value, ast.IfExp):
            pending += [value.body, value.orelse]
        elif isinstance(value, ast.JoinedStr) and isinstance(value.values[0], ast.Constant):
            prefix = str(value.values[0].value)
            yield from (prefix + rest for rest in PREFIXED_CODES[prefix])
        elif isinstance(value, ast.Name):
            pending += [
                node.value
                for node in assigned
                if get_name(node.targets[0]) == value.id and not isinstance(node.value, ast.Name)
            ]


def read_message(node: ast.Tuple) -> Iterator[str]:
    """Yield the code of a pair of a code and the beginning of a message, such as ``("blank", "must have ...")``."""
    values = [part.value for part in node.elts if isinstance(part, ast.Constant)]
    if len(values) == len(node.elts) == 2 and all(isinstance(value, str) for value in values):
        code, message = map(str, values)
        if _match_code(code) and _match_message(message):
            yield code


# -- source -------------------------------------------------------------------------------------------------------


@cache
def load_nodes() -> tuple[tuple[ast.Call | ast.Tuple, ast.AST], ...]:
    """Return the calls and tuples of the packages, each with the function or module that it is in.

    The simulated networks are left out: their errors are the networks'.
    """
    nodes: list[tuple[ast.Call | ast.Tuple, ast.AST]] = []
    for path in chain.from_iterable(sorted((ROOT / package).rglob("*.py")) for package in PACKAGES):
        text = path.read_text()
        if "sandbox" in path.relative_to(ROOT).parts or not _search_maker(text):
            continue
        module = ast.parse(text)
        pending: list[tuple[ast.AST, ast.AST]] = [(module, module)]
        while pending:
            node, function = pending.pop()
            if isinstance(node, ast.Call | ast.Tuple):
                nodes.append((node, function))
            inner = node if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else function
            pending += [(child, inner) for child in ast.iter_child_nodes(node)]
    return tuple(nodes)


def get_name(node: ast.AST) -> str:
    """Return the last name of an expression such as ``errors.Issue``; empty for others."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
