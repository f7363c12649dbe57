"""Daily figures of the entities of a level: reports that read the next page when they get to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from decimal import Context, Decimal, Inexact, InvalidOperation, Overflow
from typing import TYPE_CHECKING, ClassVar, NamedTuple, get_args

from pydantic.alias_generators import to_camel

from adsunify.answers import Coverage, EntityDay, EntityInsights, Figures
from adsunify.answers.tables import (
    ENTITY_COLUMNS,
    FIGURE_COLUMNS,
    Cell,
    ColumnKind,
    FiguresTable,
    convert_to_pandas,
    convert_to_polars,
    join_arrow_tables,
)
from adsunify.contract.requests import ReportedLevel
from adsunify.errors import ServerUnreachable, invalid_input
from adsunify.values.exact_json import MAX_NUMBER_CHARACTERS
from adsunify.values.money import format_decimal

from .inputs import make_request
from .resource import AsyncRequests, Requests

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

OPERATION_ID = "get_account_insights"
LEVELS: tuple[str, ...] = get_args(ReportedLevel)
NON_ADDITIVE_FIGURES = ("reach",)
"""Figures without a sum: two days, or two campaigns, may reach the same people."""
NO_PAGE_MESSAGE = "This is known after the first page: read a row or a page of the report first."
TWO_CURRENCIES_MESSAGE = "Two pages of the report have different currencies. Read the report again."
_EXACT = Context(prec=4 * MAX_NUMBER_CHARACTERS, traps=[Inexact, InvalidOperation, Overflow])
"""Numbers of a response have a bounded length, so sums fit. The context raises if they do not."""


class FigureSums:
    """Exact sums of figures. A sum is None without rows, or if any row lacks the figure; reach has no sum."""

    def __init__(self) -> None:
        self._sums: dict[str, int | Decimal | None] = {}

    def add_rows(self, rows: Iterable[Figures]) -> None:
        """Add rows, all of one currency."""
        for row in rows:
            for name in FIGURE_COLUMNS:
                value: int | Decimal | None = None if name in NON_ADDITIVE_FIGURES else getattr(row, name)
                sum_before = self._sums.get(name, 0)
                self._sums[name] = None if value is None or sum_before is None else _add(sum_before, value)

    def make_figures(self) -> Figures:
        """Return the sums."""
        wire = {name: format_decimal(sum_) if isinstance(sum_, Decimal) else sum_ for name, sum_ in self._sums.items()}
        return Figures.model_validate({to_camel(name): wire.get(name) for name in FIGURE_COLUMNS})


def _add(left: int | Decimal, right: int | Decimal) -> int | Decimal:
    return left + right if isinstance(left, int) and isinstance(right, int) else _EXACT.add(left, right)


class _PageFacts(NamedTuple):
    currency: str | None
    timezone: str | None
    coverage: Coverage


class _ReportFacts:
    """The facts of a report other than its rows: level, currency, time zone and coverage."""

    def __init__(self, arguments: Mapping[str, object]) -> None:
        if arguments["level"] not in LEVELS:
            raise invalid_input("level", "choice", f"must be one of {', '.join(LEVELS)}.")
        make_request(OPERATION_ID, arguments)  # refuses the arguments here, not at the first page
        self._arguments = arguments
        self._latest: _PageFacts | None = None

    @property
    def level(self) -> str:
        """The level: ``account``, ``campaign``, ``adGroup`` or ``ad``."""
        return str(self._arguments["level"])

    @property
    def currency(self) -> str | None:
        """The currency of the amounts. Raises RuntimeError before the first page."""
        return self._get_facts().currency

    @property
    def timezone(self) -> str | None:
        """The time zone of the days. Raises RuntimeError before the first page."""
        return self._get_facts().timezone

    @property
    def coverage(self) -> Coverage:
        """The days that the whole report covers, as the latest page says. Raises RuntimeError before the first page."""
        return self._get_facts().coverage

    def _get_facts(self) -> _PageFacts:
        if self._latest is None:
            raise RuntimeError(NO_PAGE_MESSAGE)
        return self._latest

    def _add_page(self, page: EntityInsights, before: _PageFacts | None) -> _PageFacts:
        """Store the facts of a page. ``before``: the facts of the previous page."""
        if before is not None and page.currency != before.currency:
            raise ServerUnreachable(TWO_CURRENCIES_MESSAGE)
        self._latest = _PageFacts(page.currency, page.timezone, page.coverage)
        return self._latest


class Report(_ReportFacts, FiguresTable):
    """Daily figures of the entities of a level. It holds one page at a time; each iteration reads the report anew.

    It waits where the network prepares a report first. ``for row in report`` reads :attr:`rows`.
    """

    table_columns: ClassVar[Mapping[str, ColumnKind]] = ENTITY_COLUMNS

    def __init__(self, client: Requests, arguments: Mapping[str, object]) -> None:
        super().__init__(arguments)
        self._client = client

    @property
    def pages(self) -> Iterator[EntityInsights]:
        """The pages. ``native_rows`` of a page are its rows as the network wrote them."""
        cursor, facts = None, None
        while True:
            page, cursor = self._client._read_report(EntityInsights, OPERATION_ID, self._arguments, cursor)
            facts = self._add_page(page, facts)
            yield page
            if cursor is None:
                return

    @property
    def rows(self) -> Iterator[EntityDay]:
        """The rows of all pages: one for each day and entity with figures."""
        for page in self.pages:
            yield from page.rows

    def __iter__(self) -> Iterator[EntityDay]:
        return self.rows

    def sum_totals(self) -> Figures:
        """Read the report and add up its rows exactly.

        A sum is None without rows, or if any row lacks the figure. Reach is None: two days, or two entities, may reach
        the same people. :attr:`coverage` says which days are missing from the sums.
        """
        sums = FigureSums()
        sums.add_rows(self.rows)
        return sums.make_figures()

    def to_dicts(self) -> list[dict[str, Cell]]:
        """Read all rows, each as a dictionary by the name of the attribute, with dates, ints and Decimals."""
        return [row for page in self.pages for row in page.to_dicts()]

    def to_arrow(self) -> pyarrow.Table:
        """Read all rows as a table of Arrow: date32, utf8, int64 and decimal128. None is null.

        Decimals are ``decimal128(38, 12)``. If a value has more than 12 digits after the point, its column has as many
        as are needed; nothing is rounded.

        Raises:
            MissingExtra: the extra ``arrow`` is not installed.
            InvalidInput: a number has too many digits for its column.
        """
        return join_arrow_tables([page.to_arrow() for page in self.pages])


class AsyncReport(_ReportFacts):
    """Daily figures of the entities of a level. It holds one page at a time; each iteration reads the report anew.

    It waits where the network prepares a report first. ``async for row in report`` reads :attr:`rows`. The methods are
    those of :class:`Report`, awaited.
    """

    def __init__(self, client: AsyncRequests, arguments: Mapping[str, object]) -> None:
        super().__init__(arguments)
        self._client = client

    @property
    async def pages(self) -> AsyncIterator[EntityInsights]:
        """The pages. ``native_rows`` of a page are its rows as the network wrote them."""
        cursor, facts = None, None
        while True:
            page, cursor = await self._client._read_report(EntityInsights, OPERATION_ID, self._arguments, cursor)
            facts = self._add_page(page, facts)
            yield page
            if cursor is None:
                return

    @property
    async def rows(self) -> AsyncIterator[EntityDay]:
        """The rows of all pages: one for each day and entity with figures."""
        async for page in self.pages:
            for row in page.rows:
                yield row

    def __aiter__(self) -> AsyncIterator[EntityDay]:
        return self.rows

    async def sum_totals(self) -> Figures:
        """Read the report and add up its rows exactly, as :meth:`Report.sum_totals`."""
        sums = FigureSums()
        async for page in self.pages:
            sums.add_rows(page.rows)
        return sums.make_figures()

    async def to_dicts(self) -> list[dict[str, Cell]]:
        """Read all rows as dictionaries, as :meth:`Report.to_dicts`."""
        return [row async for page in self.pages for row in page.to_dicts()]

    async def to_arrow(self) -> pyarrow.Table:
        """Read all rows as a table of Arrow, as :meth:`Report.to_arrow`."""
        return join_arrow_tables([page.to_arrow() async for page in self.pages])

    async def to_pandas(self) -> pandas.DataFrame:
        """Read all rows as a DataFrame of pandas, as :meth:`Report.to_pandas`."""
        return convert_to_pandas(await self.to_arrow())

    async def to_polars(self) -> polars.DataFrame:
        """Read all rows as a DataFrame of Polars, as :meth:`Report.to_polars`."""
        return convert_to_polars(await self.to_arrow())
