"""Reports of a level: read page by page, added up exactly, and as tables in which no figure changes."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, timedelta
from decimal import Decimal, localcontext
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic.alias_generators import to_camel

from adsunify import Ads, AsyncAds
from adsunify.answers.tables import DECIMAL_DIGITS, DECIMAL_SCALE, ENTITY_COLUMNS, FIGURE_COLUMNS
from adsunify.errors import InvalidInput, MissingExtra, ServerUnreachable
from tests.server.served import Served

from .conftest import DOORS

pytestmark = pytest.mark.asyncio(loop_scope="module")
ACCOUNT = "8d7a1f0e-6d7f-4b8e-9a55-0f6f8a4c1f11"
FIRST, LAST = date(2027, 3, 1), date(2027, 3, 7)
DECIMALS = [name for name, kind in FIGURE_COLUMNS.items() if kind == "decimal"]
COUNTS = [name for name, kind in FIGURE_COLUMNS.items() if kind == "count"]


# -- a server that answers with given pages -----------------------------------------------------------------------


def make_row(entity_id: str = "11", day: date = FIRST, **figures: Any) -> dict[str, Any]:
    entity = {"entityId": entity_id, "entityName": None, "parentId": None, "date": day.isoformat()}
    return {**entity, **{to_camel(name): figures.get(name) for name in FIGURE_COLUMNS}}


def make_page(rows: Sequence[Mapping[str, Any]], **change: Any) -> dict[str, Any]:
    coverage = {"startDate": str(FIRST), "endDate": str(LAST), "timezone": "UTC", "complete": True}
    coverage |= {"provisionalFrom": str(LAST), "missing": [], "notes": []}
    page = {"accountId": ACCOUNT, "currency": "EUR", "timezone": "UTC", "level": "ad", "rows": rows, "totals": None}
    return {**page, "nativeRows": [], "coverage": coverage, "pending": None, **change}


PENDING = make_page([], pending={"job": "j1", "status": "running", "retryAfterMs": 1})


class Server:
    """Answers with the pages in turn; the cursor of each is its number. ``pending``: answers before each page."""

    def __init__(self, pages: Sequence[Mapping[str, Any]], pending: int = 0) -> None:
        self.pages, self.pending, self.queries = pages, pending, list[dict[str, str]]()

    def answer(self, request: httpx.Request) -> httpx.Response:
        query = dict(request.url.params)
        number = int(query.pop("cursor", 0))
        self.queries.append(query)
        if [*self.queries].count(query) % (self.pending + 1):
            return httpx.Response(200, json={"data": PENDING})
        last = number + 1 == len(self.pages)
        envelope = {"data": self.pages[number], "page": {"nextCursor": None if last else str(number + 1)}}
        return httpx.Response(200, json=envelope)

    @contextmanager
    def client(self) -> Iterator[Ads]:
        http_client = httpx.AsyncClient(transport=httpx.MockTransport(self.answer))
        with Ads("http://127.0.0.1:9", token="adu_test", http_client=http_client) as client:
            yield client


# -- on the simulated networks ------------------------------------------------------------------------------------


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("network", ["amazon", "meta"])
async def test_a_report_of_the_account_has_the_days_of_the_account(
    server: Served, clients: dict[str, AsyncAds], network: str, door: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Amazon prepares a report first, and the report waits for it."""
    waits: list[float] = []

    async def wait(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr(clients[door], "_wait", wait)
    account = await clients[door].accounts.get(server.accounts[network])
    end = server.hands.now().date() - timedelta(days=3 if door == "local" else 4)
    report = clients[door].insights.report(account, end - timedelta(days=4), end, level="account")
    rows = [row async for row in report]
    assert bool(waits) == (network == "amazon")
    daily = await clients[door].insights.daily(account, end - timedelta(days=4), end)
    figures = [{name: getattr(row, name) for name in ("date", *FIGURE_COLUMNS)} for row in rows]
    assert figures == [{name: getattr(row, name) for name in ("date", *FIGURE_COLUMNS)} for row in daily.rows]
    assert {row.entity_id for row in rows} <= {account.native_id}
    assert (report.level, report.currency, report.coverage) == ("account", account.currency, daily.coverage)
    assert (await report.to_arrow()).num_rows == daily.to_arrow().num_rows == len(rows)
    assert daily.to_dicts() == [
        {name: row[name] for name in daily.to_arrow().column_names} for row in await report.to_dicts()
    ]
    totals = await report.sum_totals()
    assert totals.spend == (sum((row.spend or Decimal(0) for row in rows), Decimal(0)) if rows else None)


@pytest.mark.parametrize("door", DOORS)
async def test_days_that_no_network_has_are_refused(server: Served, clients: dict[str, AsyncAds], door: str) -> None:
    day = date(1999, 12, 31)
    with pytest.raises(InvalidInput) as error:
        await clients[door].insights.report(server.accounts["meta"], day, day, level="account").to_dicts()
    assert [issue.code for issue in error.value.issues] == ["too_early"]


# -- pages --------------------------------------------------------------------------------------------------------


async def test_pages_are_read_when_the_rows_get_to_them() -> None:
    server = Server([make_page([make_row("1"), make_row("2")]), make_page([]), make_page([make_row("3")])], pending=2)
    with server.client() as client:
        report = client.insights.report(ACCOUNT, FIRST, LAST, level="ad", entity_ids=["1", "2", "3"])
        assert (server.queries, report.level) == ([], "ad")
        with pytest.raises(RuntimeError, match="after the first page"):
            print(report.coverage)
        rows = iter(report.rows)
        assert [next(rows).entity_id, next(rows).entity_id] == ["1", "2"]
        assert len(server.queries) == 3, "two answers without the report, and its first page"
        assert (report.currency, report.timezone, report.coverage.provisional_from) == ("EUR", "UTC", LAST)
        assert [row.entity_id for row in rows] == ["3"]
    query = {"startDate": str(FIRST), "endDate": str(LAST), "level": "ad", "entityIds": "1,2,3"}
    assert server.queries == [query] * 9


async def test_arguments_are_refused_before_the_first_page() -> None:
    with Server([]).client() as client:
        for arguments in ({"level": "adset"}, {"level": None}, {"level": "ad", "entity_ids": "11"}):
            with pytest.raises(InvalidInput):
                client.insights.report(ACCOUNT, FIRST, LAST, **arguments)


async def test_two_currencies_are_not_added_up() -> None:
    server = Server([make_page([make_row(spend="1")]), make_page([make_row(spend="1")], currency="USD")])
    with server.client() as client, pytest.raises(ServerUnreachable, match="different currencies"):
        client.insights.report(ACCOUNT, FIRST, LAST, level="ad").sum_totals()


# -- sums and tables ----------------------------------------------------------------------------------------------


def decimals(integer_digits: int, scale: int) -> st.SearchStrategy[Decimal]:
    coefficients = st.integers(-(10 ** (integer_digits + scale)) + 1, 10 ** (integer_digits + scale) - 1)

    def make(coefficient: int, places: int) -> Decimal:
        number = Decimal(coefficient).as_tuple()
        return Decimal((number.sign, number.digits[: integer_digits + places], -places))

    return st.builds(make, coefficients, st.integers(0, scale))


AMOUNTS = decimals(DECIMAL_DIGITS - DECIMAL_SCALE - 8, DECIMAL_SCALE) | decimals(3, 20)
ROWS = st.fixed_dictionaries(
    {
        **dict.fromkeys(DECIMALS, st.none() | AMOUNTS.map(lambda number: format(number, "f"))),
        **dict.fromkeys(COUNTS, st.none() | st.integers(0, 2**63 - 1)),
    }
)


@settings(max_examples=40, deadline=None)
@given(pages=st.lists(st.lists(ROWS, max_size=4), min_size=1, max_size=3))
async def test_no_figure_changes_on_the_way(pages: list[list[dict[str, Any]]]) -> None:
    """The sums are exact, and a table has the same numbers as the rows."""
    server = Server([make_page([make_row(**row) for row in page]) for page in pages])
    rows = [row for page in pages for row in page]
    with server.client() as client:
        report = client.insights.report(ACCOUNT, FIRST, LAST, level="ad")
        totals, dicts, table = report.sum_totals(), report.to_dicts(), report.to_arrow()
    for name in FIGURE_COLUMNS:
        values = [row[name] for row in rows]
        is_summed = bool(values) and None not in values and name != "reach"
        with localcontext(prec=200):
            expected = sum(map(Decimal, values)) if is_summed else None
        assert getattr(totals, name) == expected, name
        numbers = [value if value is None else Decimal(value) for value in values]
        assert [row[name] for row in dicts] == numbers == table.column(name).to_pylist(), name
    assert table.column_names == list(ENTITY_COLUMNS)
    assert set(table.column("currency").to_pylist()) <= {"EUR"}


async def test_the_types_of_the_columns() -> None:
    row = make_row(spend="0.10", conversions="0.3333333333333333", impressions=2**53 + 1)
    pages = [make_page([make_row(spend="12.5", impressions=3)]), make_page([{**row, "entityName": "Chairs"}])]
    with Server(pages).client() as client:
        report = client.insights.report(ACCOUNT, FIRST, LAST, level="ad")
        table, panda, polar = report.to_arrow(), report.to_pandas(), report.to_polars()
    types = {field.name: str(field.type) for field in table.schema}
    assert (types["date"], types["entity_name"], types["impressions"]) == ("date32[day]", "string", "int64")
    assert (types["spend"], types["conversions"]) == ("decimal128(38, 12)", "decimal128(38, 16)")
    assert table.column("entity_name").to_pylist() == [None, "Chairs"]
    exact = {"spend": [Decimal("12.5"), Decimal("0.1")], "impressions": [3, 2**53 + 1], "date": [FIRST, FIRST]}
    for name, values in exact.items():
        assert [*panda[name]] == polar[name].to_list() == table.column(name).to_pylist() == values, name
    assert panda["conversions"].isna().tolist() == polar["conversions"].is_null().to_list() == [True, False]
    assert panda["reach"].isna().all() and polar["reach"].is_null().all()


@pytest.mark.parametrize(
    "rows",
    [
        [{"spend": "1" + 26 * "0"}],
        [{"impressions": 2**63}],
        [{"spend": "1" + 25 * "0"}, {"spend": "0." + 12 * "0" + "1"}],
    ],
)
async def test_a_number_that_does_not_fit_is_refused(rows: list[dict[str, Any]]) -> None:
    """In one page, or where a later page needs digits after the point that leave too few before it."""
    with Server([make_page([make_row(**row)]) for row in rows]).client() as client:
        report = client.insights.report(ACCOUNT, FIRST, LAST, level="ad")
        with pytest.raises(InvalidInput, match="too many digits") as error:
            report.to_arrow()
        assert [issue.path for issue in error.value.issues] == [*rows[0]]
        assert [row[next(iter(rows[0]))] for row in report.to_dicts()] == [
            Decimal(value) for row in rows for value in row.values()
        ]


@pytest.mark.parametrize(("method", "package"), [("arrow", "pyarrow"), ("pandas", "pandas"), ("polars", "polars")])
async def test_a_missing_package_is_named(method: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Server([make_page([])]).client() as client:
        report = client.insights.report(ACCOUNT, FIRST, LAST, level="ad")
        report.to_arrow()  # pyarrow looks for pandas once
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(MissingExtra, match=rf"This needs {package}, .*'adsunify\[{method}\]'"):
            getattr(report, f"to_{method}")()
