"""Marks: the places of a request whose value follows from the operation's id, so that a repeat can be known as one.

A stored plan and its digest name the places and leave the values out, so a preview and the prepared plan are equal.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Literal

from attrs import frozen

from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import split_pointer


@frozen
class IdempotencyMark:
    """A place of the request that tells the operation apart from all others.

    ``to``: a pointer that leads through objects, below ``/body`` or ``/headers``.
    ``number``: the first 63 bits of SHA-256 over ``<operation id>:<step key>``, as decimal text (TikTok's request_id).
    ``key``: ``<operation id>-<step key>`` (an idempotency key). ``short``: 8 hexadecimal digits (for a unique name).
    ``prefix`` stands before it.
    """

    to: str
    form: Literal["number", "key", "short"] = "number"
    prefix: str = ""


def add_marks(
    target: Mapping[str, Json], marks: Sequence[IdempotencyMark], operation_id: str, step_key: str
) -> Mapping[str, Json]:
    """A copy of a request's ``body`` and ``headers`` with the marks of this operation; what has no mark is shared."""
    for mark in marks:
        target = _set_at_path(
            target, split_pointer(mark.to), mark.prefix + _make_mark_value(mark, operation_id, step_key)
        )
    return target


def remove_marks(target: Mapping[str, Json], marks: Sequence[IdempotencyMark]) -> Mapping[str, Json]:
    """A copy of a request's ``body`` and ``headers`` without the values of its marks; what has no mark is shared."""
    for mark in marks:
        target = _remove_at_path(target, split_pointer(mark.to))
    return target


def _make_mark_value(mark: IdempotencyMark, operation_id: str, key: str) -> str:
    if mark.form == "key":
        return f"{operation_id}-{key}"
    if mark.form == "short":
        return hashlib.sha256(operation_id.encode()).hexdigest()[:8]
    hashed = hashlib.sha256(f"{operation_id}:{key}".encode()).digest()
    return str(int.from_bytes(hashed[:8], "big") >> 1)


def _set_at_path(value: Mapping[str, Json], way: tuple[str, ...], new: Json) -> dict[str, Json]:
    part, rest = way[0], way[1:]
    return {**value, part: _set_at_path(value.get(part, {}), rest, new) if rest else new}


def _remove_at_path(value: Mapping[str, Json], way: tuple[str, ...]) -> dict[str, Json]:
    part, rest = way[0], way[1:]
    if part not in value:
        return dict(value)
    return {name: member for name, member in value.items() if name != part} | (
        {part: _remove_at_path(value[part], rest)} if rest else {}
    )
