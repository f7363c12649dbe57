"""Idempotency marks: values of a request that are derived from the operation's id, such as idempotency keys.

With them a network can recognise a repeated request. A stored plan and its digest contain the places of marks without
their values, so a preview equals the prepared plan.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Literal

from attrs import frozen

from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import MISSING, get_value, split_pointer


@frozen
class IdempotencyMark:
    """A member of the request whose value identifies the operation.

    Attributes:
        to: a pointer through objects, below ``/body`` or ``/headers``.
        form: ``number`` is the first 63 bits of SHA-256 over ``<operation id>:<step key>``, as decimal text (TikTok's
            request_id). ``key`` is ``<operation id>-<step key>``, an idempotency key. ``short`` is 8 hexadecimal
            digits, for a unique name.
        prefix: put before the value.
    """

    to: str
    form: Literal["number", "key", "short"] = "number"
    prefix: str = ""


def add_marks(
    target: Mapping[str, Json], marks: Sequence[IdempotencyMark], operation_id: str, step_key: str
) -> Mapping[str, Json]:
    """Return ``body`` and ``headers`` with the mark values of this operation. Parts without marks are not copied."""
    for mark in marks:
        target = _set_at_path(
            target, split_pointer(mark.to), mark.prefix + _make_mark_value(mark, operation_id, step_key)
        )
    return target


def remove_marks(target: Mapping[str, Json], marks: Sequence[IdempotencyMark]) -> Mapping[str, Json]:
    """Return ``body`` and ``headers`` without the values of the marks; ``target`` itself if it has none."""
    for mark in marks:
        if get_value(target, mark.to, MISSING) is not MISSING:
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
    return {name: member for name, member in value.items() if name != part} | (
        {part: _remove_at_path(value[part], rest)} if rest else {}
    )
