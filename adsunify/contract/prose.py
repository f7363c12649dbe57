"""Converts docstrings to descriptions, which OpenAPI, the reference page and the MCP tools show."""

from __future__ import annotations

import inspect
import re
from typing import Any

_ROLE = re.compile(r":[a-z]{1,9}:`[.~]*([^`.~][^`]*)`")


def docstring_to_markdown(docstring: str) -> str:
    """Convert a docstring to CommonMark. Roles become plain code; sentences about Python exceptions are removed."""
    text = _ROLE.sub(r"`\1`", inspect.cleandoc(docstring)).replace("``", "`")
    before, raises, after = text.partition("Raises ")
    return f"{before.rstrip()}{after.partition('.')[2]}".strip() if raises else text


def convert_descriptions(part: Any) -> Any:
    """Copy a JSON document and convert its descriptions with :func:`docstring_to_markdown`."""
    if isinstance(part, list):
        return [convert_descriptions(member) for member in part]
    if not isinstance(part, dict):
        return part
    return {
        name: docstring_to_markdown(member)
        if name == "description" and isinstance(member, str)
        else convert_descriptions(member)
        for name, member in part.items()
    }
