"""Lists of texts as one parameter, so that a statement with a list is fixed. The parameter is a JSON list."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy import JSON, ColumnElement, Select, any_, bindparam, cast, column, func, select

from .schema import ExactJson


def _expand_sqlite(name: str) -> Select[Any]:
    return select(column("value")).select_from(func.json_each(bindparam(name, type_=ExactJson)))


def _expand_postgresql(name: str) -> Select[Any]:
    return select(func.json_array_elements_text(cast(bindparam(name, type_=ExactJson), JSON)))


EXPAND_LIST_BY_DIALECT: Mapping[str, Callable[[str], Select[Any]]] = {
    "sqlite": _expand_sqlite,
    "postgresql": _expand_postgresql,
}
"""Dialect -> the function that expands the list parameter of this name into rows."""


def match_array(value: ColumnElement[str], rows: Select[Any]) -> ColumnElement[bool]:
    """Compare a value with an array of rows, so that PostgreSQL uses an index even if it expects many rows."""
    return value == any_(func.array(rows.scalar_subquery()))


MATCH_LIST_BY_DIALECT: Mapping[str, Callable[[ColumnElement[str], str], ColumnElement[bool]]] = {
    "sqlite": lambda value, name: value.in_(_expand_sqlite(name)),
    "postgresql": lambda value, name: match_array(value, _expand_postgresql(name)),
}
"""Dialect -> the function that compares a value with the texts of the list parameter of this name."""
