"""What a migration does to a schema that servers of the version before it would not survive."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from attrs import frozen
from sqlalchemy import Connection, MetaData, Table, UniqueConstraint

from adsunify import store

UNDONE_WITH_PARENT = ("CASCADE", "SET NULL")


def find_emptied_tables() -> frozenset[str]:
    """The tables from which the store deletes rows."""
    folder = Path(store.__file__).parent
    return frozenset(
        name for path in folder.glob("*.py") for name in re.findall(r"\bdelete\((\w+)\)", path.read_text())
    )


@frozen
class Column:
    """A column of a table; ``default``: whether the database fills it in."""

    type: str
    nullable: bool
    default: bool


@frozen
class TableShape:
    """What statements of older versions depend on. ``uniques``: columns and the condition of a partial index."""

    columns: dict[str, Column]
    key: tuple[str, ...]
    uniques: frozenset[tuple[frozenset[str], str]]
    indexes: frozenset[str]
    checks: frozenset[str]
    parents: frozenset[tuple[tuple[str, ...], str, str]]


Schema = dict[str, TableShape]


def read_schema(connection: Connection) -> Schema:
    """The tables of a database, as it describes them itself."""
    metadata = MetaData()
    metadata.reflect(connection)
    return {
        table.name: _read_table(table, connection)
        for table in metadata.sorted_tables
        if table.name != "alembic_version"
    }


def _read_table(table: Table, connection: Connection) -> TableShape:
    where = f"{connection.dialect.name}_where"
    conditions = {index: str(index.dialect_kwargs.get(where, "")) for index in table.indexes}
    uniques = [
        (frozenset(constraint.columns.keys()), "")
        for constraint in table.constraints
        if isinstance(constraint, UniqueConstraint)
    ]
    uniques += [(frozenset(index.columns.keys()), conditions[index]) for index in table.indexes if index.unique]
    return TableShape(
        columns={
            column.name: Column(
                column.type.compile(connection.dialect), bool(column.nullable), column.server_default is not None
            )
            for column in table.columns
        },
        key=tuple(table.primary_key.columns.keys()),
        uniques=frozenset(uniques),
        indexes=frozenset(str(index.name) for index in table.indexes),
        checks=frozenset(str(constraint.sqltext) for constraint in table.constraints if hasattr(constraint, "sqltext")),
        parents=frozenset(
            (tuple(foreign_key.column_keys), foreign_key.referred_table.name, (foreign_key.ondelete or "").upper())
            for foreign_key in table.foreign_key_constraints
        ),
    )


def find_breaks(before: Schema, after: Schema, emptied: frozenset[str]) -> list[str]:
    """What older versions do not survive, one sentence each. ``emptied``: the tables from which they delete rows."""
    breaks = [f"drops the table {name}" for name in before.keys() - after.keys()]
    for name in after.keys() - before.keys():
        breaks += [
            f"keeps an older version from deleting rows of {parent}, because {name} references it"
            for _, parent, at_deletion in after[name].parents
            if parent in emptied and parent in before and at_deletion not in UNDONE_WITH_PARENT
        ]
    for name in before.keys() & after.keys():
        breaks += [f"{what} ({name})" for what in _find_table_breaks(before[name], after[name])]
    return sorted(breaks)


def _find_table_breaks(before: TableShape, after: TableShape) -> Iterator[str]:
    for name, old in before.columns.items():
        new = after.columns.get(name)
        if new is None:
            yield f"drops or renames the column {name}"
        else:
            if new.type != old.type:
                yield f"changes the type of {name} from {old.type} to {new.type}"
            if old.nullable and not new.nullable:
                yield f"forbids NULL in {name}"
            if old.default and not new.default and not new.nullable:
                yield f"drops the default of {name}"
    free = {name for name in after.columns.keys() - before.columns.keys() if after.columns[name].nullable}
    free -= {name for name in free if after.columns[name].default}
    for name in after.columns.keys() - before.columns.keys():
        if not after.columns[name].nullable and not after.columns[name].default:
            yield f"adds the column {name}, which is NOT NULL and has no default"
    if after.key != before.key:
        yield "changes the primary key"
    for columns, condition in before.uniques - after.uniques:
        yield f"drops the uniqueness of {sorted(columns)} {condition}, on which ON CONFLICT depends"
    for columns, _ in after.uniques - before.uniques:
        if not columns & free:
            yield f"makes {sorted(columns)} unique"
    if after.checks - before.checks:
        yield "adds a CHECK"
    for columns, parent, _ in after.parents - before.parents:
        if not set(columns) <= free:
            yield f"makes {columns} reference {parent}"


def find_new_indexes(before: Schema, after: Schema) -> list[str]:
    """The indexes that were built on tables which may have many rows."""
    return sorted(
        name for table in before.keys() & after.keys() for name in after[table].indexes - before[table].indexes
    )
