"""JSON pointers (RFC 6901): read, check, write and search values of requests and responses.

Responses of a network are hostile input. Adapters read them only with :func:`get_value`, :func:`require_value`,
:func:`require_id`, :func:`require_object`, :func:`get_text` and :func:`get_objects`. The functions that need a value
raise :class:`~adsunify.errors.ProviderUnreadable`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from operator import itemgetter
from typing import Any, TypeVar

from adsunify.errors import ProviderUnreadable
from adsunify.values.exact_json import Json

ResultT = TypeVar("ResultT")

# -- pointers -----------------------------------------------------------------------------------------------------
# RFC 6901 ("/data/0/id") with one addition, which only outputs use: "*" means every element of a list or object.

MISSING: Any = object()


@lru_cache(4096)
def split_pointer(pointer: str) -> tuple[str, ...]:
    """Return the reference tokens of a pointer, unescaped."""
    if not pointer:
        return ()
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in pointer[1:].split("/"))


def _get_member(value: Json, part: str) -> Json:
    if isinstance(value, Mapping):
        return value.get(part, MISSING)
    if isinstance(value, Sequence) and not isinstance(value, str | bytes) and part.isascii() and part.isdigit():
        return value[int(part)] if len(part) < 9 and int(part) < len(value) else MISSING
    return MISSING


def get_value(value: Json, pointer: str, default: Json = None) -> Json:
    """Return the value at the pointer, or ``default`` if the document has no such place. Never raises."""
    for part in split_pointer(pointer):
        value = value.get(part, MISSING) if type(value) is dict else _get_member(value, part)
        if value is MISSING:
            return default
    return value


def find_object(content: Json, pointer: str) -> Mapping[str, Json] | None:
    """Search JSON level by level for an object that has a string at ``pointer``, and return the first one or None."""
    waiting = deque([content])
    while waiting:
        part = waiting.popleft()
        if isinstance(part, Mapping):
            if isinstance(get_value(part, pointer), str):
                return part
            waiting.extend(part.values())
        elif isinstance(part, list):
            waiting.extend(part)
    return None


def set_value(value: Json, pointer: str, new: Json) -> None:
    """Set the value at the pointer.

    Missing objects on the path are created. A list position must exist or be the next one.
    """
    *way, last = split_pointer(pointer)
    for part in way:
        value = value[int(part)] if isinstance(value, list) else value.setdefault(part, {})
    if isinstance(value, list):
        position = int(last)
        if position == len(value):
            value.append(new)
        else:
            value[position] = new
    else:
        value[last] = new


def require_value(value: Json, pointer: str, label: str = "answer") -> Json:
    """Return the value at the pointer. ``label`` names the JSON in the message.

    Raises:
        ProviderUnreadable: there is no value, or it is null.
    """
    member = get_value(value, pointer)
    if member is None:
        raise ProviderUnreadable(f"The {label} has no {pointer or 'body'}.")
    return member


def require_object(value: Json, pointer: str, label: str = "answer") -> Mapping[str, Json]:
    """Return the object at the pointer.

    Raises:
        ProviderUnreadable: there is no value, or it is not an object.
    """
    member = require_value(value, pointer, label)
    if not isinstance(member, Mapping):
        raise ProviderUnreadable(f"The {label} has no object at {pointer or 'its top'}.")
    return member


def parse_id(value: Json) -> str | None:
    """Return an id as text, or None if the value is not an id.

    An id is an integer, or a non-empty string that can be encoded.
    """
    if isinstance(value, str):
        sendable = value.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in value)
        return value if value and sendable else None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return None


def require_id(value: Json, pointer: str, label: str = "answer") -> str:
    """Return the id at the pointer, as a string.

    Raises:
        ProviderUnreadable: there is no id.
    """
    id_ = parse_id(require_value(value, pointer, label))
    if id_ is None:
        raise ProviderUnreadable(f"The {label} has no id at {pointer}.")
    return id_


def get_text(value: Json, pointer: str, default: str | None = None) -> str | None:
    """Return the string or the text of the number at the pointer; ``default`` for other values."""
    member = get_value(value, pointer)
    if isinstance(member, str):
        return member
    if isinstance(member, int | Decimal) and not isinstance(member, bool):
        return format(member, "f") if isinstance(member, Decimal) else str(member)
    return default


def get_objects(value: Json, pointer: str, label: str = "answer") -> list[Mapping[str, Json]]:
    """Return the list of objects at the pointer; an empty list if there is no value.

    Raises:
        ProviderUnreadable: there is another value.
    """
    rows = get_value(value, pointer)
    if rows is None:
        return []
    if not isinstance(rows, list) or not all(isinstance(row, (dict, Mapping)) for row in rows):
        raise ProviderUnreadable(f"The {label} has no list of objects at {pointer or 'its top'}.")
    return rows


def require_objects(value: Json, pointer: str, label: str = "answer") -> list[Mapping[str, Json]]:
    """Return the list of objects at the pointer.

    Raises:
        ProviderUnreadable: there is no value, or it is not a list of objects.
    """
    require_value(value, pointer, label)
    return get_objects(value, pointer, label)


class Columns:
    """Rows of JSON, read by column: for a pointer, the list of its values in all rows. Columns are cached."""

    def __init__(self, rows: list[Mapping[str, Json]]) -> None:
        self.rows = rows
        self._columns: dict[Any, list[Json]] = {"": rows}

    def get_column(self, pointer: str) -> list[Json]:
        """Return the value at the pointer for each row; None for rows without it."""
        if pointer not in self._columns:
            self._columns[pointer] = self._read_column(pointer)
        return self._columns[pointer]

    def _read_column(self, pointer: str) -> list[Json]:
        above, member = self.get_column(pointer.rpartition("/")[0]), split_pointer(pointer)[-1]
        try:
            return list(map(itemgetter(member), above))
        except (LookupError, TypeError):  # some rows lack the member
            pass
        try:
            return [None if parent_row is None else parent_row.get(member) for parent_row in above]
        except AttributeError:  # some parents are not objects
            return [get_value(row, pointer) for row in self.rows]

    def map_column(self, pointer: str, make: Callable[[Json], Json]) -> list[Json]:
        """Return ``make`` of the value at the pointer for each row."""
        if (pointer, make) not in self._columns:
            self._columns[pointer, make] = list(map(make, self.get_column(pointer)))
        return self._columns[pointer, make]


def map_distinct(make: Callable[[Json], ResultT], values: Sequence[Json]) -> list[ResultT]:
    """Return ``make`` of each value. ``make`` is called once for equal texts and equal integers."""
    if set(map(type, values)) in ({str}, {int}):
        results = {value: make(value) for value in set(values)}
        return list(map(results.__getitem__, values))
    return list(map(make, values))


def find_values(value: Json, pointer: str) -> list[Json]:
    """Return all values that a pointer with ``*`` matches, in order."""
    values = [value]
    for part in split_pointer(pointer):
        if part == "*":
            values = [
                child
                for parent in values
                for child in (
                    parent
                    if isinstance(parent, list)
                    else parent.values()
                    if isinstance(parent, dict | Mapping)
                    else ()
                )
            ]
        else:
            values = [
                child
                for parent in values
                if (child := parent.get(part, MISSING) if type(parent) is dict else _get_member(parent, part))
                is not MISSING
            ]
    return values
