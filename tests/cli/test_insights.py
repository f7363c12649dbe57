"""Figures of a level in the terminal and in files: the same rows in each format, and no half file."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import date, datetime, timedelta
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit
from zoneinfo import ZoneInfo

import pytest
from pyarrow import parquet
from pydantic.alias_generators import to_snake
from rich.console import Console

from adsunify.answers.tables import ENTITY_COLUMNS
from adsunify.cli.figures import insights_parts
from adsunify.cli.output import print_parts
from tests.client.test_reports import make_page, make_row

from .conftest import Place
from .running import ROOT
from .test_daily import KEY

DAYS = ("--from", "2026-01-01", "--to", "2026-01-03")
ACCOUNT = "8d7a1f0e-6d7f-4b8e-9a55-0f6f8a4c1f11"
FORMATS = ("csv", "jsonl", "parquet")
NO_TOTALS = dict.fromkeys(("impressions", "clicks", "spend", "conversions", "conversionValue", "videoViews", "reach"))


def read_export(path: Path, format_: str) -> list[dict[str, Any]]:
    """The rows of a file, with text for dates and amounts; empty cells of CSV are None."""
    if format_ == "csv":
        rows: list[dict[str, Any]] = list(csv.DictReader(io.StringIO(path.read_text(), newline="")))
    elif format_ == "jsonl":
        rows = [json.loads(line) for line in path.read_text().splitlines()]
    else:
        rows = parquet.read_table(path).to_pylist()
    return [{name: as_text(cell) for name, cell in row.items()} for row in rows]


def as_text(cell: Any) -> str | None:
    if isinstance(cell, Decimal):
        cell = format(cell, "f").rstrip("0").removesuffix(".") if cell else "0"
    return None if cell in (None, "") else str(cell)


# -- on the simulated networks ------------------------------------------------------------------------------------


@pytest.mark.parametrize("format_", FORMATS)
def test_a_file_has_the_rows_of_the_report(both: Place, format_: str, tmp_path: Path) -> None:
    (account,) = both.ads("connect", "chatgpt", "--json", ADSUNIFY_CHATGPT_API_KEY=KEY).data["accounts"]
    report = both.ads("insights", account, *DAYS, "--level", "account", "--json").data
    file = tmp_path / "figures"
    ran = both.ads("insights", "export", account, *DAYS, "--format", format_, "--output", str(file))
    assert (ran.code, ran.out) == (0, ""), ran.err
    assert f"{len(report['rows'])} rows written to {file}" in ran.lines
    common = {name: report[name] for name in ("accountId", "currency", "level")}
    expected = [{to_snake(name): as_text(value) for name, value in (common | row).items()} for row in report["rows"]]
    assert len(expected) == 3 and read_export(file, format_) == expected
    assert list(tmp_path.iterdir()) == [file]


# -- a server with given pages ------------------------------------------------------------------------------------


Answer = tuple[Any, str | None]
"""The data of a response, None for one that cannot be read, and the cursor of the next page."""


@contextmanager
def serve_answers(respond: Callable[[str, Mapping[str, str]], Answer]) -> Iterator[Place]:
    """A server that answers each path and query with what ``respond`` returns."""

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            address = urlsplit(self.path)
            data, cursor = respond(address.path, {name: values[0] for name, values in parse_qs(address.query).items()})
            body = json.dumps({"data": data, "page": {"nextCursor": cursor}}).encode()
            self.send_response(500 if data is None else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            with suppress(ConnectionError):  # a command that has failed does not wait for other answers
                self.end_headers()
                self.wfile.write(body)

        do_GET = do_POST = do_PATCH = do_DELETE = answer

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        address = f"http://127.0.0.1:{server.server_port}"
        try:
            yield Place("pages", {"ADSUNIFY_SERVER": address, "ADSUNIFY_TOKEN": "adu_test"})
        finally:
            server.shutdown()
            thread.join()


ACCOUNT_FACTS: dict[str, Any] = {
    "accountId": ACCOUNT,
    "network": "meta",
    "nativeId": "1",
    "name": "Shop",
    "currency": "EUR",
    "timezone": "UTC",
    "status": "active",
    "nativeStatus": None,
    "connectionId": None,
    "extras": {},
}


@contextmanager
def serve(*pages: Mapping[str, Any] | None) -> Iterator[Place]:
    """A server that answers with the pages in turn; None is a page that cannot be read."""

    def respond(path: str, query: Mapping[str, str]) -> Answer:
        if path.endswith(f"/accounts/{ACCOUNT}"):
            return ACCOUNT_FACTS, None
        number = int(query.get("cursor", "0"))
        return pages[number], str(number + 1) if number + 1 < len(pages) else None

    with serve_answers(respond) as place:
        yield place


FIRST_PAGE = make_page([make_row("1", spend="1234.5", impressions=2**53 + 1), make_row("2", spend="0.05")])
LAST_PAGE = make_page([make_row("3", spend="7", conversions="0.3333333333333333", entityName=None)])
COMMAND = ("insights", "export", ACCOUNT, "--level", "ad")


def test_each_page_is_a_row_group_and_amounts_stay_exact(tmp_path: Path) -> None:
    """The last page has more digits after the point than the columns of the pages before it."""
    file = tmp_path / "ads.parquet"
    with serve(FIRST_PAGE, make_page([]), LAST_PAGE) as pages:
        assert pages.ads(*COMMAND, "--format", "parquet", "--output", str(file)).code == 0
    with parquet.ParquetFile(file) as parquet_file:
        assert [parquet_file.metadata.row_group(number).num_rows for number in range(parquet_file.num_row_groups)] == [
            2,
            1,
        ]
    table = parquet.read_table(file)
    assert table.column_names == list(ENTITY_COLUMNS)
    assert table.column("spend").to_pylist() == [Decimal("1234.5"), Decimal("0.05"), Decimal("7")]
    assert table.column("conversions").to_pylist() == [None, None, Decimal("0.3333333333333333")]
    assert table.column("impressions").to_pylist() == [2**53 + 1, None, None]


@pytest.mark.parametrize("format_", FORMATS)
def test_a_report_without_rows(format_: str, tmp_path: Path) -> None:
    file = tmp_path / "empty"
    with serve(make_page([])) as pages:
        assert pages.ads(*COMMAND, "--format", format_, "--output", str(file)).code == 0
    assert read_export(file, format_) == []


@pytest.mark.parametrize("format_", FORMATS)
def test_any_name_can_be_written(format_: str, tmp_path: Path) -> None:
    """Half a surrogate pair, which UTF-8 cannot hold, is an escape in JSON lines and a question mark elsewhere."""
    names = ['Chairs, "red"\nand blue', "\u6905\u5b50 \U0001fa91", "cut \ud83e"]
    file = tmp_path / "names"
    with serve(
        make_page([{**make_row(str(number)), "entityName": name} for number, name in enumerate(names)])
    ) as pages:
        assert pages.ads(*COMMAND, "--format", format_, "--output", str(file)).code == 0
    names_in_file = [row["entity_name"] for row in read_export(file, format_)]
    assert names_in_file == [*names[:2], "cut \ud83e" if format_ == "jsonl" else "cut ?"]


@pytest.mark.parametrize("format_", FORMATS)
def test_a_failed_export_leaves_the_file_as_it_was(format_: str, tmp_path: Path) -> None:
    file = tmp_path / "ads"
    with serve(FIRST_PAGE, None) as pages:
        for before in (None, b"of yesterday"):
            if before is not None:
                file.write_bytes(before)
            ran = pages.ads(*COMMAND, "--format", format_, "--output", str(file))
            assert ran.code == 1 and "HTTP 500" in ran.err
            assert [path.read_bytes() for path in tmp_path.iterdir()] == ([] if before is None else [before])


@pytest.mark.parametrize("format_", FORMATS)
def test_standard_output_gets_the_rows(format_: str, tmp_path: Path) -> None:
    with serve(FIRST_PAGE, LAST_PAGE) as pages:
        command = [sys.executable, "-m", "adsunify", *COMMAND, "--format", format_, "--output", "-"]
        ran = subprocess.run(command, env={**os.environ, **pages.environment}, cwd=ROOT, capture_output=True)
    file = tmp_path / "out"
    file.write_bytes(ran.stdout)
    assert [row["entity_id"] for row in read_export(file, format_)] == ["1", "2", "3"], ran.stderr
    assert ran.stderr.decode().splitlines() == [
        "3 rows written to standard output",
        "provisional from 2027-03-07: the network may still change the figures",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*COMMAND, "--format", "csv", "--output", "/dev/null"), "--output: must be a file, or - for standard output."),
        (("insights", ACCOUNT, "--entity", "1"), "--entity: needs the --level of the entities."),
        (("insights", "--level", "ad"), "--level: needs one ACCOUNT; `adsunify accounts` lists them."),
    ],
)
def test_refused_arguments(arguments: tuple[str, ...], message: str) -> None:
    with serve(FIRST_PAGE) as pages:
        ran = pages.ads(*arguments)
    assert (ran.code, ran.lines) == (2, [message])
    assert Path("/dev/null").is_char_device()


def test_without_the_package_of_parquet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with serve(FIRST_PAGE) as pages:
        ran = pages.ads(*COMMAND, "--format", "parquet", "--output", str(tmp_path / "ads.parquet"))
    message = "This needs pyarrow, which is not installed: pip install 'adsunify[arrow]'."
    assert (ran.code, ran.lines, list(tmp_path.iterdir())) == (1, [message], [])


# -- what people see ----------------------------------------------------------------------------------------------


def test_the_table_of_a_level() -> None:
    """Numbers are aligned at the point, provisional days are marked, and totals are those of the rows."""
    rows = [
        {**make_row("11", spend="1234.5", impressions=1200000, reach=7), "entityName": "Chairs"},
        {**make_row("12", spend="0.05", impressions=3), "date": "2027-03-07"},
    ]
    with serve(make_page(rows[:1]), make_page(rows[1:])) as pages:
        lines = pages.ads("insights", ACCOUNT, "--level", "ad").out.splitlines()
        data = pages.ads("insights", ACCOUNT, "--level", "ad", "--json").data
    assert data == make_page(rows)
    head, first, second, total = (line.split() for line in lines[1:5])
    assert head[:5] == ["date", "id", "name", "parent", "impressions"]
    assert first == ["2027-03-01", "11", "Chairs", "1,200,000", "1,234.50", "7"]
    assert second == ["2027-03-07", "*", "12", "3", "0.05"]
    assert total == ["total", "1,200,003", "1,234.55"]
    assert len({line.rindex(".") for line in lines[2:5]}) == 1
    assert lines[5] == "* provisional from 2027-03-07: the network may still change the figures"


def test_names_cannot_steer_the_terminal() -> None:
    screen = Console(width=200, force_terminal=True)
    page = make_page([{**make_row("11"), "entityName": "\x1b[2J[red]x"}])
    with screen.capture() as capture:
        print_parts(screen, insights_parts(page))
    assert "\ufffd[2J[red]x" in capture.get()


@pytest.mark.parametrize("command", [("insights", ACCOUNT), (*COMMAND, "--format", "csv", "--output", "-")])
def test_the_days_end_yesterday_in_the_time_zone_of_the_account(command: tuple[str, ...]) -> None:
    """The two time zones are 26 hours apart, so yesterday is never the same day in both."""
    ends: list[date] = []

    def find_yesterdays() -> list[date]:
        return [datetime.now(ZoneInfo(timezone)).date() - timedelta(days=1) for timezone in timezones]

    def respond(path: str, query: Mapping[str, str]) -> Answer:
        if path.endswith(f"/accounts/{ACCOUNT}"):
            return ACCOUNT_FACTS | {"timezone": timezones[len(ends)]}, None
        ends.append(date.fromisoformat(query["endDate"]))
        return make_page([], totals=NO_TOTALS), None

    timezones = ["Etc/GMT+12", "Etc/GMT-14"]
    before = find_yesterdays()
    with serve_answers(respond) as pages:
        for _ in timezones:
            assert pages.ads(*command).code == 0
    for end, *possible in zip(ends, before, find_yesterdays(), strict=True):
        assert end in possible
