"""``adsunify ledger``: the export, and a verification that finds what was changed."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from adsunify.cli.ledger import CSV_COLUMNS

from .conftest import Place


@pytest.fixture
def shop(place: Callable[[str], Place], tmp_path: Path) -> Place:
    """A store with a workspace, its admin, and some rows in its ledger."""
    store = place(tmp_path.name)
    assert store.ads("admin", "init", "--workspace", "shop", "--email", "ada@shop.example", "--json").data
    for address in ("bo@shop.example", "=cy@shop.example"):
        assert store.ads("admin", "user", "--workspace", "shop", "--email", address, "--json").data
    return store


def change(store: Place, statement: str) -> None:
    """Change the database behind the back of adsunify."""
    path = store.environment["ADSUNIFY_DATABASE_URL"].removeprefix("sqlite:///")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
        connection.commit()


def test_all_rows_are_exported_in_their_order(shop: Place, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in shop.ads("ledger", "export").out.splitlines()]
    assert [row["seq"] for row in rows] == list(range(1, len(rows) + 1))
    assert [row["kind"] for row in rows] == ["workspace", *["membership", "key"] * 3]
    assert {row["actor"]["credential"] for row in rows} == {"local"}
    path = tmp_path / "ledger.csv"
    assert shop.ads("ledger", "export", "--format", "csv", "--output", str(path), "--kind", "key").code == 0
    table = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))
    keys = [row for row in rows if row["kind"] == "key"]
    for cells, row in zip(table, keys, strict=True):
        assert cells == {name: "" if (cell := read(row)) is None else str(cell) for name, read in CSV_COLUMNS}
        assert json.loads(cells["after"]) == row["after"]


def test_a_verification_names_the_first_row_that_was_changed(shop: Place) -> None:
    verification = shop.ads("ledger", "verify")
    assert verification.code == 0 and "The ledger is intact: 7 rows." in verification.out
    head = verification.out.split("Head: ")[1].strip()
    assert shop.ads("ledger", "verify", "--head", head).code == 0
    intact: dict[str, Any] = shop.ads("ledger", "verify", "--json").data
    assert intact == {
        "isIntact": True,
        "rows": 7,
        "chainHash": head.partition(":")[2],
        "sealed": 0,
        "unsealed": 0,
        "problem": None,
    }
    change(shop, "UPDATE ledger SET after = replace(after, 'member', 'viewer') WHERE seq = 4")
    verification = shop.ads("ledger", "verify")
    assert (
        verification.code == 1
        and verification.lines[0].startswith("Row 4 (")
        and "content of the row was changed" in verification.err
    )
    assert "The 3 rows before it are intact." in verification.err
    verdict = json.loads(shop.ads("ledger", "verify", "--json").out)
    assert (verdict["isIntact"], verdict["problem"]["seq"], verdict["rows"]) == (False, 4, 3)
    assert shop.ads("ledger", "verify", "--head", "x").code == 2


def test_a_workspace_is_named_where_there_are_several(shop: Place) -> None:
    assert shop.ads("admin", "init", "--workspace", "other", "--email", "eve@other.example", "--json").data
    refused = shop.ads("ledger", "verify")
    assert refused.code == 2 and "workspaces: other, shop." in refused.err
    assert "intact: 3 rows" in shop.ads("ledger", "verify", "--workspace", "other").out
