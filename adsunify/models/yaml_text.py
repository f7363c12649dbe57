"""YAML text to JSON values and back, by the core schema of YAML 1.2.2 (October 2021, section 10.3.2).

PyYAML reads and writes the syntax; the types of plain scalars are decided here, because PyYAML follows the schema of
YAML 1.1: ``NO`` is text, an instant is text, and a number with a fraction is a Decimal.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import yaml
from attrs import define

from adsunify.errors import InvalidInput, invalid_input
from adsunify.models.base import MAX_DEPTH
from adsunify.models.error_messages import FILE
from adsunify.models.parsing import MAX_VALUES
from adsunify.values.exact_json import Json

AMOUNT_MEMBERS = frozenset({"amount", "bid"})
"""Members of a brief whose numbers are read as their text in the file: ``25.00`` is ``"25.00"``."""
NATIVE_MEMBER = "native"
"""The member with native JSON, in which a number stays a number."""

_TAG = "tag:yaml.org,2002:"
_STRUCTURE_TAGS = frozenset({f"{_TAG}str", f"{_TAG}seq", f"{_TAG}map"})
_CONSTANTS: Mapping[str, Json] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FRACTION = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_MAX_NUMBER_LENGTH = 400
_FOLDED_BREAK = re.compile("[\r\x85\u2028\u2029]")


def parse_yaml(text: str) -> Json:
    """Parse one YAML document to JSON values. Numbers with a fraction are Decimal.

    Raises:
        InvalidInput: the text is not YAML, or has constructs that JSON lacks: keys that are not text, repeated keys,
            tags, or numbers that are not finite. The issue names the line and the column.
    """
    try:
        node = yaml.compose(text, Loader=yaml.BaseLoader)
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        raise _make_error(mark, f"must be YAML: {problem.problem or problem.context}.") from None
    except yaml.YAMLError:
        raise invalid_input(FILE, "malformed_yaml", "must be YAML without control characters.") from None
    except RecursionError:
        raise invalid_input(FILE, "too_deep", f"must be nested at most {MAX_DEPTH} deep.") from None
    return None if node is None else _Reader().read_node(node, 0, False)


def format_yaml(value: Json) -> str:
    """Write a JSON value as YAML, which :func:`parse_yaml` reads back. The order of members stays."""
    text: str = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return text


def _make_error(mark: Any, message: str) -> InvalidInput:
    place = "" if mark is None else f"line {mark.line + 1}, column {mark.column + 1}: "
    return invalid_input(FILE, "malformed_yaml", f"{place}{message}")


@define
class _Reader:
    """Reads the nodes of a document. ``values`` counts them, because an alias repeats a node."""

    values: int = 0

    def read_node(self, node: yaml.Node, depth: int, is_native: bool) -> Json:
        self.values += 1
        if self.values > MAX_VALUES:
            raise invalid_input(FILE, "too_many", f"must hold at most {MAX_VALUES:,} values in all.")
        if depth > MAX_DEPTH:
            raise _make_error(node.start_mark, f"must be nested at most {MAX_DEPTH} deep.")
        if node.tag not in _STRUCTURE_TAGS:
            raise _make_error(node.start_mark, "must have no tags; write text in quotes and numbers without.")
        if isinstance(node, yaml.MappingNode):
            return self._read_members(node, depth, is_native)
        if isinstance(node, yaml.SequenceNode):
            return [self.read_node(item, depth + 1, is_native) for item in node.value]
        return _read_scalar(node)

    def _read_members(self, node: yaml.MappingNode, depth: int, is_native: bool) -> dict[str, Json]:
        members: dict[str, Json] = {}
        for key, item in node.value:
            name = _read_scalar(key) if isinstance(key, yaml.ScalarNode) else None
            if not isinstance(name, str):
                raise _make_error(key.start_mark, "must be a name; write a name like this in quotes.")
            if name in members:
                raise _make_error(key.start_mark, "must be given once in its object.")
            value = self.read_node(item, depth + 1, is_native or name == NATIVE_MEMBER)
            is_number = isinstance(value, int | Decimal) and not isinstance(value, bool)
            members[name] = item.value if is_number and name in AMOUNT_MEMBERS and not is_native else value
        return members


def _read_scalar(node: yaml.ScalarNode) -> Json:
    text: str = node.value
    if node.style is not None:  # a quoted text or a block
        return text
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _NOT_FINITE.fullmatch(text):
        raise _make_error(node.start_mark, "must be a finite number; write text in quotes.")
    if len(text) > _MAX_NUMBER_LENGTH:
        return text
    if _INTEGER.fullmatch(text):
        return int(text, 0) if text[:2] in ("0o", "0x") else int(text)
    return Decimal(text) if _FRACTION.fullmatch(text) else text


_Dumper: Any = type(
    "_Dumper", (yaml.SafeDumper,), {"yaml_implicit_resolvers": {}, "ignore_aliases": lambda self, data: True}
)
"""Quotes each text that YAML 1.2, or a reader of YAML 1.1, would read as something else. It writes no aliases."""
_NOT_TEXT: Mapping[str, str] = {
    "null": "|".join(re.escape(word) for word, value in _CONSTANTS.items() if value is None),
    "bool": r"(?i:true|false|yes|no|on|off|y|n)",
    "int": _INTEGER.pattern,
    "float": f"{_FRACTION.pattern}|{_NOT_FINITE.pattern}",
    "timestamp": r"[0-9][-+0-9:._TtZz ]*",
}
for _kind, _pattern in _NOT_TEXT.items():
    _Dumper.add_implicit_resolver(f"{_TAG}{_kind}", re.compile(rf"^(?:{_pattern})$"), None)


def _represent_decimal(dumper: Any, number: Decimal) -> Any:
    text = f"{number:f}"
    return dumper.represent_scalar(f"{_TAG}{'float' if '.' in text else 'int'}", text)


_Dumper.add_representer(Decimal, _represent_decimal)


def _represent_text(dumper: Any, text: str) -> Any:
    """Write text in double quotes, with escapes, if it has a line break that readers of YAML fold into another one."""
    return dumper.represent_scalar(f"{_TAG}str", text, style='"' if _FOLDED_BREAK.search(text) else None)


_Dumper.add_representer(str, _represent_text)
