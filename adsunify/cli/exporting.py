"""Files of daily figures, written page by page: CSV, JSON lines and Parquet. Amounts stay exact."""

from __future__ import annotations

import csv
import io
import os
import secrets
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, BinaryIO, Protocol

from adsunify.answers import EntityInsights
from adsunify.answers.tables import ENTITY_COLUMNS, Cell, cast_table, join_schemas
from adsunify.errors import explain_missing_packages, invalid_input
from adsunify.values.exact_json import Json, dumps_bytes
from adsunify.values.money import format_decimal

from .spreadsheets import to_csv_cell

if TYPE_CHECKING:
    import pyarrow

STDOUT = Path("-")


class PageWriter(Protocol):
    """Writes the pages of a report to a file."""

    def write_page(self, page: EntityInsights) -> None:
        """Write the rows of a page."""
        ...

    def close(self) -> None:
        """Write the end of the content."""
        ...


class CsvWriter:
    """Writes CSV in UTF-8 with a header line. None is an empty cell. No text can act as a formula."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._write_rows([dict(zip(ENTITY_COLUMNS, ENTITY_COLUMNS, strict=True))])

    def write_page(self, page: EntityInsights) -> None:
        """Write a line for each row."""
        self._write_rows(page.to_dicts())

    def _write_rows(self, rows: list[dict[str, Cell]]) -> None:
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerows([to_csv_cell(_to_json(cell)) for cell in row.values()] for row in rows)
        self._file.write(text.getvalue().encode("utf-8", "replace"))  # UTF-8 cannot hold half a surrogate pair

    def close(self) -> None:
        """Do nothing: CSV has no content after the last row."""


class JsonLinesWriter:
    """Writes one line in UTF-8 for each row, with a JSON object. Amounts are text, and None is null."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def write_page(self, page: EntityInsights) -> None:
        """Write a line for each row."""
        for row in page.to_dicts():
            self._file.write(dumps_bytes({name: _to_json(cell) for name, cell in row.items()}) + b"\n")

    def close(self) -> None:
        """Do nothing: JSON lines have no content after the last row."""


def _to_json(cell: Cell) -> Json:
    if isinstance(cell, Decimal):
        return format_decimal(cell)
    return cell.isoformat() if isinstance(cell, date) else cell


class ParquetWriter:
    """Writes Parquet with a row group for each page. The decimals of a column have as many digits as its rows need."""

    def __init__(self, file: BinaryIO) -> None:
        with explain_missing_packages():
            import pyarrow.parquet
        self._parquet, self._file = pyarrow.parquet, file
        self._writer: pyarrow.parquet.ParquetWriter | None = None

    def write_page(self, page: EntityInsights) -> None:
        """Write a row group. Raises InvalidInput if a number has too many digits for its column."""
        table = page.to_arrow()
        if self._writer is None:
            self._writer = self._parquet.ParquetWriter(self._file, table.schema)
        schema = join_schemas(self._writer.schema, table.schema)
        if schema != self._writer.schema:
            self._rewrite(schema)
        if table.num_rows:
            self._writer.write_table(cast_table(table, schema), row_group_size=table.num_rows)

    def _rewrite(self, schema: pyarrow.Schema) -> None:
        """Write the present row groups again, with more digits after the point."""
        self.close()
        with TemporaryDirectory() as folder:
            before = Path(folder) / "before.parquet"
            self._file.seek(0)
            with before.open("wb") as copy:
                shutil.copyfileobj(self._file, copy)
            self._file.seek(0)
            self._file.truncate()
            self._writer = self._parquet.ParquetWriter(self._file, schema)
            with self._parquet.ParquetFile(before) as earlier:
                for number in range(earlier.num_row_groups):
                    table = cast_table(earlier.read_row_group(number), schema)
                    self._writer.write_table(table, row_group_size=table.num_rows)

    def close(self) -> None:
        """Write the end of the file, which describes the row groups."""
        if self._writer is not None:
            self._writer.close()


WRITERS: Mapping[str, Callable[[BinaryIO], PageWriter]] = {
    "csv": CsvWriter,
    "jsonl": JsonLinesWriter,
    "parquet": ParquetWriter,
}
"""Format -> its writer. The writer of Parquet also reads its file and writes it again."""


@contextmanager
def open_export(path: Path, format_: str) -> Iterator[PageWriter]:
    """Open a file for the pages of a report; ``-`` is standard output.

    The pages go to a temporary file, which gets the name ``path`` when the block ends without an error. A failed export
    changes nothing. Parquet for standard output goes through a temporary file, too.
    """
    if path == STDOUT and format_ != "parquet":
        writer = WRITERS[format_](sys.stdout.buffer)
        yield writer
        sys.stdout.buffer.flush()
        return
    with TemporaryDirectory() as folder:
        part = Path(folder) / "part" if path == STDOUT else _name_part(path)
        try:
            with part.open("xb+") as file:
                writer = WRITERS[format_](file)
                try:
                    yield writer
                finally:
                    writer.close()
                file.flush()
                os.fsync(file.fileno())
                if path == STDOUT:
                    file.seek(0)
                    shutil.copyfileobj(file, sys.stdout.buffer)
                    sys.stdout.buffer.flush()
            if path != STDOUT:
                part.replace(path.resolve())
        finally:
            part.unlink(missing_ok=True)


def _name_part(path: Path) -> Path:
    """Return the path of the temporary file. Raises InvalidInput if ``path`` exists and is not a file."""
    target = path.resolve()
    if target.exists() and not target.is_file():
        raise invalid_input("--output", "not_supported", "must be a file, or - for standard output.")
    return target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
