"""Briefs for tests: one that is accepted, with changes."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any


def change_brief(brief: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """A copy with members replaced (``targeting__countries`` names a nested one); None takes one away."""
    value = deepcopy(dict(brief))
    for path, new in changes.items():
        *way, last = path.split("__")
        holder = value
        for part in way:
            holder = holder[part]
        if new is None:
            holder.pop(last, None)
        else:
            holder[last] = new
    return value
