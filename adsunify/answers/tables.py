"""Daily figures as tables: dictionaries, and tables of Arrow, pandas and Polars.

The packages are those of the extras ``arrow``, ``pandas`` and ``polars``; each is imported when it is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from functools import reduce
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from adsunify.errors import InvalidInput, explain_missing_packages, invalid_input

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

Cell: TypeAlias = date | str | int | Decimal | None
ColumnKind = Literal["day", "text", "count", "decimal"]
REPORT_COLUMNS: Mapping[str, ColumnKind] = {"account_id": "text", "currency": "text", "level": "text"}
"""The columns whose value is the same in all rows of a report."""
FIGURE_COLUMNS: Mapping[str, ColumnKind] = {
    "impressions": "count",
    "clicks": "count",
    "spend": "decimal",
    "conversions": "decimal",
    "conversion_value": "decimal",
    "video_views": "count",
    "reach": "count",
}
DAILY_COLUMNS: Mapping[str, ColumnKind] = {"date": "day", "account_id": "text", "currency": "text", **FIGURE_COLUMNS}
"""The columns of the figures of an account: their names, and the kind of their cells."""
ENTITY_COLUMNS: Mapping[str, ColumnKind] = {
    "date": "day",
    **REPORT_COLUMNS,
    "entity_id": "text",
    "entity_name": "text",
    "parent_id": "text",
    **FIGURE_COLUMNS,
}
"""The columns of the figures of a level."""
DECIMAL_DIGITS, DECIMAL_SCALE = 38, 12
"""The digits of a column of decimals. At least 12 of them come after the point."""
MAX_COUNT = 2**63 - 1


class FiguresTable:
    """Daily figures that can be read as a table. Each row also has the account and the currency of its amounts."""

    table_columns: ClassVar[Mapping[str, ColumnKind]]

    def to_dicts(self) -> list[dict[str, Cell]]:
        """Return each row as a dictionary by the name of the attribute, with dates, ints and Decimals."""
        return list(make_dicts(self))

    def to_arrow(self) -> pyarrow.Table:
        """Return a table of Arrow: date32, utf8, int64 and decimal128. None is null.

        Decimals are ``decimal128(38, 12)``. If a value has more than 12 digits after the point, its column has as many
        as are needed; nothing is rounded.

        Raises:
            MissingExtra: the extra ``arrow`` is not installed.
            InvalidInput: a number has too many digits for its column.
        """
        return make_arrow_table(self)

    def to_pandas(self) -> pandas.DataFrame:
        """Return a DataFrame of pandas. Its columns have the types of :meth:`to_arrow`, so that numbers stay exact.

        Raises:
            MissingExtra: the extra ``pandas`` is not installed.
            InvalidInput: a number has too many digits for its column.
        """
        return convert_to_pandas(self.to_arrow())

    def to_polars(self) -> polars.DataFrame:
        """Return a DataFrame of Polars: Date, String, Int64, and Decimal with the digits of :meth:`to_arrow`.

        Raises:
            MissingExtra: the extra ``polars`` is not installed.
            InvalidInput: a number has too many digits for its column.
        """
        return convert_to_polars(self.to_arrow())


def make_dicts(report: Any) -> Iterator[dict[str, Cell]]:
    """Yield each row of an answer with ``table_columns`` as a dictionary by column."""
    common = {name: getattr(report, name) for name in REPORT_COLUMNS if name in report.table_columns}
    for row in report.rows:
        yield {name: common[name] if name in common else getattr(row, name) for name in report.table_columns}


# -- Arrow --------------------------------------------------------------------------------------------------------


def make_arrow_table(report: Any) -> pyarrow.Table:
    """Make a table of Arrow of an answer with ``table_columns``, as :meth:`FiguresTable.to_arrow` describes it."""
    with explain_missing_packages():
        import pyarrow
    rows = list(make_dicts(report))
    fields, arrays = [], []
    for name, kind in report.table_columns.items():
        values = [_to_utf8(row[name]) if kind == "text" else row[name] for row in rows]
        fields.append(pyarrow.field(name, _choose_type(pyarrow, name, kind, values)))
        arrays.append(pyarrow.array(values, fields[-1].type))
    return pyarrow.table(arrays, schema=pyarrow.schema(fields))


def _to_utf8(text: Any) -> str | None:
    """Return a text with a question mark for each half of a surrogate pair, which UTF-8 cannot hold."""
    return None if text is None else text.encode("utf-8", "replace").decode()


def _choose_type(pyarrow: Any, name: str, kind: ColumnKind, values: Sequence[Any]) -> pyarrow.DataType:
    """Return the type of a column. Raises InvalidInput if a number has too many digits for it."""
    numbers = [value for value in values if value is not None]
    if kind == "day":
        return pyarrow.date32()
    if kind == "text":
        return pyarrow.utf8()
    if kind == "count":
        if any(abs(number) > MAX_COUNT for number in numbers):
            raise _too_long(name)
        return pyarrow.int64()
    scale = max([DECIMAL_SCALE, *(-number.as_tuple().exponent for number in numbers)])
    if any(number.adjusted() >= DECIMAL_DIGITS - scale for number in numbers if number):
        raise _too_long(name)
    return pyarrow.decimal128(DECIMAL_DIGITS, scale)


def _too_long(name: str) -> InvalidInput:
    message = "has a number with too many digits for a column of Arrow. Use to_dicts(), or a file of CSV or JSON lines."
    return invalid_input(name, "out_of_range", message)


def join_schemas(first: pyarrow.Schema, second: pyarrow.Schema) -> pyarrow.Schema:
    """Return a schema for two tables of a report: each decimal has as many digits after the point as both need."""
    import pyarrow

    pairs = [(field, other_field) for field, other_field in zip(first, second, strict=True)]
    return pyarrow.schema(
        [
            other_field
            if pyarrow.types.is_decimal(other_field.type) and other_field.type.scale > field.type.scale
            else field
            for field, other_field in pairs
        ]
    )


def cast_table(table: pyarrow.Table, schema: pyarrow.Schema) -> pyarrow.Table:
    """Return a table with the schema of :func:`join_schemas`. Raises InvalidInput if a number does not fit."""
    import pyarrow

    columns = []
    for field in schema:
        try:
            columns.append(table.column(field.name).cast(field.type))
        except pyarrow.ArrowInvalid:
            raise _too_long(field.name) from None
    return pyarrow.table(columns, schema=schema)


def join_arrow_tables(tables: Sequence[pyarrow.Table]) -> pyarrow.Table:
    """Join the tables of the pages of a report into one. Raises InvalidInput if a number does not fit."""
    import pyarrow

    schema = reduce(join_schemas, (table.schema for table in tables))
    return pyarrow.concat_tables([cast_table(table, schema) for table in tables])


# -- pandas and Polars --------------------------------------------------------------------------------------------


def convert_to_pandas(table: pyarrow.Table) -> pandas.DataFrame:
    """Convert a table. Raises MissingExtra without pandas."""
    with explain_missing_packages():
        import pandas
    return table.to_pandas(types_mapper=pandas.ArrowDtype)


def convert_to_polars(table: pyarrow.Table) -> polars.DataFrame:
    """Convert a table. Raises MissingExtra without Polars."""
    with explain_missing_packages():
        import polars
    frame = polars.from_arrow(table)
    assert isinstance(frame, polars.DataFrame)
    return frame
