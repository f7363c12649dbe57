"""What commands print: tables and lines for people, and JSON documents for programs."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import click
from attrs import evolve, frozen
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from adsunify.review.amounts import find_amounts
from adsunify.review.completion import get_operation_state, read_completion
from adsunify.review.content import Fact, describe_content
from adsunify.review.created_entities import find_created_entities
from adsunify.review.exposure import describe_exposure
from adsunify.review.names import CONTROL_CHARACTERS
from adsunify.values.exact_json import Json, dumps

from .spreadsheets import to_csv_cell

LINE_LABEL = re.compile(r" *(?:[\w: ]{1,16}? {2,}|\w{1,16}: |\d{1,3}\. )?")
"""The indentation and the label of a line. Continuation lines are indented to the column after them."""
COLUMN_GAP = 2
"""The number of spaces between two columns."""
MIN_PROSE_WIDTH = 12
"""The minimum width of a column of prose, even if all its words are shorter."""
ID_LENGTHS = (18, 23, 36)
"""The lengths of shortened UUIDs. The first one covers the time and the counter of a UUIDv7."""
SHORTENED_NOTE = "Ids are shortened; commands accept the beginning of an id."
NO_FIGURE = "-"
"""The cell of a number that is not known."""
CSV_KEY = "adsunify.csv"
"""The member of a command's context that is true if ``--csv`` was given."""
PIPE_WIDTH = 250
"""The width if the output is not a terminal. Lines that programs read are not wrapped."""
RISK_WORDS = {
    "low": "nothing starts to run",
    "spend": "IT MAY SPEND MONEY",
    "destructive": "IT CANNOT BE UNDONE",
}


def make_console(*, stderr: bool = False) -> Console:
    """Make a console for people."""
    console = Console(stderr=stderr, highlight=False)
    return console if console.is_terminal else Console(stderr=stderr, highlight=False, width=PIPE_WIDTH)


def can_encode(screen: Console, text: str) -> bool:
    """Whether the encoding of a terminal has all characters of a text."""
    return escape_text(screen, text) == text


def escape_text(screen: Console, text: str) -> str:
    """Replace characters that the encoding of a terminal lacks with escapes, so that the width is known."""
    return text.encode(screen.encoding, "backslashreplace").decode(screen.encoding)


def to_plain_text(value: Json) -> str:
    """Return a value as one line without control characters."""
    if value is None:
        return ""
    return CONTROL_CHARACTERS.sub("\ufffd", value if isinstance(value, str) else dumps(value))


# -- lines and tables that fit a terminal -------------------------------------------------------------------------


@frozen
class Column:
    """A column of a table.

    Attributes:
        name: the heading.
        rank: columns of rank 0 are always shown. A narrow terminal leaves out the columns of the highest ranks.
        prose: cells wrap between words.
        prose_width: the width up to which prose does not wrap. Columns of higher ranks give way to it.
        number: cells are aligned to the right. Spaces at the end of a cell count.
        shortens: cells are ids that commands accept shortened. A terminal too narrow for them shows their beginnings.
        chart: cells are drawn, and only a terminal shows them.
        style: the style of the cells on a terminal, as rich names it.
    """

    name: str
    rank: int = 0
    prose: bool = False
    prose_width: int = MIN_PROSE_WIDTH
    number: bool = False
    shortens: bool = False
    chart: bool = False
    style: str = ""


@frozen
class TextTable:
    """A table that never breaks a word, and therefore no id, at any width.

    A narrow terminal shows the important columns and lists the names of the others. If not even those fit, ids are
    shortened; if that does not suffice, every row is shown as a list of names and values. ``totals``: how many of the
    last rows are totals. ``hides_empty``: people do not see columns of other ranks than 0 without any value.
    """

    columns: Sequence[Column]
    cells: Sequence[Sequence[str]]
    title: str | None = None
    totals: int = 0
    hides_empty: bool = False

    def escape(self, screen: Console) -> TextTable:
        """Return the table with cells that the terminal can encode."""
        return evolve(self, cells=[[escape_text(screen, cell) for cell in row] for row in self.cells])

    def render(self, screen: Console) -> Iterator[Table | str]:
        """Yield the title, then the table with the names of omitted columns, or the rows as lists."""
        if self.title is not None:
            yield self.title
        all_places = [place for place in range(len(self.columns)) if self._is_shown(place, screen)]
        places = all_places
        if screen.is_terminal and not self._do_columns_fit(places, screen.width):
            places = self._select_columns(all_places, screen.width)
        if not self._do_columns_fit(places, screen.width):
            shorter = self._shorten_ids()
            if shorter._do_columns_fit(shorter._select_columns(all_places, screen.width), screen.width):
                yield from evolve(shorter, title=None).render(screen)
                yield SHORTENED_NOTE
            else:
                yield from self._row_facts(all_places)
            return
        table = Table(box=None, pad_edge=False, padding=(0, COLUMN_GAP, 0, 0))
        widths = self._column_widths(places, screen.width)
        for place, width in widths.items():
            column = self.columns[place]
            head = Text(column.name, justify="right" if column.number else "left")
            table.add_column(head, width=width, style=column.style)
        for number, row in enumerate(self.cells):
            style = "bold" if number >= len(self.cells) - self.totals else None
            table.add_row(*(Text(self._pad_cell(row[place], place, widths[place])) for place in places), style=style)
        yield table
        absent = [self.columns[place].name for place in all_places if place not in places]
        if absent:
            yield f"Not shown in {screen.width} columns: {', '.join(absent)} (see --json)."

    def _is_shown(self, place: int, screen: Console) -> bool:
        column = self.columns[place]
        is_empty = not any(cell.strip(f" {NO_FIGURE}") for cell in self._column_cells(place))
        return (screen.is_terminal or not column.chart) and not (self.hides_empty and column.rank and is_empty)

    def _select_columns(self, places: Sequence[int], width: int) -> list[int]:
        """Select the columns of rank 0, and then others that fit, lowest rank first."""
        chosen: list[int] = []
        for place in sorted(places, key=lambda place: self.columns[place].rank):
            if self.columns[place].rank == 0 or self._do_columns_fit([*chosen, place], width):
                chosen.append(place)
        return sorted(chosen)

    def _do_columns_fit(self, places: Sequence[int], width: int) -> bool:
        return sum(self._min_width(place) + COLUMN_GAP for place in places) - COLUMN_GAP <= width

    def _shorten_ids(self) -> TextTable:
        """Return the table with the beginnings of the ids, which are as long as necessary to tell its rows apart."""
        columns = [*zip(*self.cells, strict=True)]
        for place, column in enumerate(self.columns):
            if column.shortens and columns:
                ids = {*columns[place]}
                length = next(size for size in ID_LENGTHS if len({id_[:size] for id_ in ids}) == len(ids))
                columns[place] = tuple(id_[:length] for id_ in columns[place])
        return evolve(self, cells=[*zip(*columns, strict=True)])

    def format_csv(self) -> str:
        """Return the table as CSV with a line of names: plain numbers, and neither charts nor totals."""
        places = [place for place, column in enumerate(self.columns) if not column.chart]
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns[place].name for place in places)
        for row in self.cells[: len(self.cells) - self.totals]:
            writer.writerow(
                row[place].replace(",", "").strip().removesuffix(NO_FIGURE)
                if self.columns[place].number
                else to_csv_cell(row[place].strip())
                for place in places
            )
        return text.getvalue()

    def _pad_cell(self, cell: str, place: int, width: int) -> str:
        return " " * (width - cell_len(cell)) + cell if self.columns[place].number else cell

    def _column_widths(self, places: Sequence[int], width: int) -> dict[int, int]:
        """Return the width of each column. Spare width goes to the columns whose cells wrap most."""
        widths = {place: self._min_width(place) for place in places}
        full_widths = {place: self._max_width(place) for place in places}
        for _ in range(width + COLUMN_GAP - sum(column_width + COLUMN_GAP for column_width in widths.values())):
            place = max(places, key=lambda place: full_widths[place] / widths[place])
            widths[place] += widths[place] < full_widths[place]
        return widths

    def _max_width(self, place: int) -> int:
        """Return the width at which nothing wraps."""
        return max(map(cell_len, (self.columns[place].name, *self._column_cells(place))))

    def _min_width(self, place: int) -> int:
        """Return the width at which no word breaks. Headings wrap between words, as prose does."""
        column = self.columns[place]
        words = [word for cell in self._column_cells(place) for word in (cell.split() if column.prose else (cell,))]
        minimum = max(map(cell_len, (*column.name.split(), *words)))
        return max(minimum, min(column.prose_width, self._max_width(place))) if column.prose else minimum

    def _column_cells(self, place: int) -> list[str]:
        return [row[place] for row in self.cells]

    def _row_facts(self, places: Sequence[int]) -> Iterator[str]:
        """Yield each row as lines, each with a name and a value."""
        label = max(cell_len(self.columns[place].name) for place in places)
        for number, row in enumerate(self.cells):
            if number:
                yield ""
            for place in places:
                if row[place]:
                    yield f"{self.columns[place].name:{label}}  {row[place]}"


def make_table(
    columns: Sequence[Column],
    rows: Iterable[Sequence[Json]],
    title: str | None = None,
    totals: int = 0,
    hides_empty: bool = False,
) -> TextTable:
    """Make a table. Cells are text, never markup. The last rows may be totals."""
    return TextTable(columns, [[to_plain_text(cell) for cell in row] for row in rows], title, totals, hides_empty)


def print_parts(screen: Console, parts: Iterable[str | TextTable]) -> None:
    """Print lines and tables. A terminal wraps long lines between words."""
    for part in parts:
        for line in part.escape(screen).render(screen) if isinstance(part, TextTable) else part.split("\n"):
            if isinstance(line, str):
                screen.print(Text(_wrap_line(escape_text(screen, line), screen)), soft_wrap=True)
            else:
                screen.print(line)


def print_message(text: str) -> None:
    """Print a sentence for people on stderr. A terminal wraps it between words, so that no id is broken."""
    print_parts(make_console(stderr=True), [to_plain_text(text)])


def _wrap_line(line: str, screen: Console) -> str:
    """Wrap a line between words; continuation lines begin below its first word."""
    if not screen.is_terminal or cell_len(line) <= screen.width:
        return line
    words = LINE_LABEL.sub("", line, count=1)
    start = len(line) - len(words)
    lines = [""]
    for word in words.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if cell_len(longer) <= screen.width - start:
            lines[-1] = longer
        else:
            lines.append(word)
    return line[:start] + f"\n{' ' * start}".join(filter(None, lines))


# -- responses ---------------------------------------------------------------------------------------------------


ACCOUNT_COLUMNS = (
    Column("account", shortens=True),
    Column("network"),
    Column("native id", rank=2),
    Column("name", prose=True),
    Column("currency", rank=1),
    Column("time zone", rank=3),
    Column("status"),
)


def accounts_table(accounts: Sequence[Mapping[str, Json]]) -> TextTable:
    """Make a table of ad accounts."""
    rows = [
        (
            account["accountId"],
            account["network"],
            account["nativeId"],
            account["name"],
            account["currency"],
            account["timezone"],
            account["status"],
        )
        for account in accounts
    ]
    return make_table(ACCOUNT_COLUMNS, rows)


OPERATION_COLUMNS = (
    Column("operation", shortens=True),
    Column("network"),
    Column("action"),
    Column("status"),
    Column("risk", rank=1),
    Column("prepared", rank=2),
    Column("account", rank=3, shortens=True),
)


def operations_table(operations: Sequence[Mapping[str, Json]]) -> TextTable:
    """Make a table of operations."""
    rows = [
        (
            operation["id"],
            operation["network"],
            operation["action"],
            get_operation_state(operation),
            operation["risk"],
            format_minute(operation["createdAt"]),
            operation["accountId"],
        )
        for operation in operations
    ]
    return make_table(OPERATION_COLUMNS, rows)


def format_minute(moment: str) -> str:
    """Format an instant of the API to the minute."""
    return f"{moment[:10]} {moment[11:16]}Z"


def operation_parts(
    operation: Mapping[str, Json],
    account: Mapping[str, Json] | None = None,
    source: Mapping[str, Json] | None = None,
) -> Iterator[str | TextTable]:
    """Yield an operation: its facts, its steps with their money where the account is known, and its receipt.

    ``source``: the operation that created what this one activates.
    """
    yield f"{operation['id']}  {operation['action']} on {operation['network']}, {get_operation_state(operation)}"
    if account is not None:
        name = account["name"] or account["nativeId"]
        currency = account["currency"] or "currency unknown"
        yield f"account  {to_plain_text(name)} ({to_plain_text(account['nativeId'])}, {currency})"
    if (exposure := describe_exposure(operation["plan"])) is not None:
        yield f"spends   {exposure}"
    yield f"risk     {operation['risk']}: {RISK_WORDS.get(operation['risk'], '')}"
    yield f"expires  {operation['expiresAt']}"
    for word, member in (("executed", "executedBy"), ("cancelled", "cancelledBy")):
        if member in operation:
            act = operation[member]
            yield f"{word:8} {act['at']} by user {act['userId']}, credential {to_plain_text(act['credential'])}"
    yield f"review   {operation['reviewUrl']}"
    for warning in operation["warnings"]:
        yield f"warning  {to_plain_text(warning)}"
    if account is not None and source is not None:
        yield ""
        yield activation_table(account, source)
    for subject, facts in describe_content((source or operation)["plan"]).items():
        yield f"{subject.lower():8} {'; '.join(to_plain_text(_describe_fact(fact)) for fact in facts)}"
    yield from step_lines(operation["plan"].get("steps", ()), account)
    yield from outcome_parts(operation)


def _describe_fact(fact: Fact) -> str:
    """Return ``text (member)``; if only the network knows what the value means, ``member: text``."""
    return f"{fact.text} ({fact.member})" if fact.is_plain else f"{fact.member}: {fact.text}"


ACTIVATION_COLUMNS = (
    Column("begins to run"),
    Column("name", prose=True),
    Column("budget"),
    Column("from"),
    Column("to"),
    Column("id"),
)


def activation_table(account: Mapping[str, Json], source: Mapping[str, Json]) -> TextTable:
    """Make a table of what an activation starts, with the names, budgets and times that the creation wrote."""
    rows = [
        (
            entity.kind,
            entity.name,
            f"{entity.budget} {account['currency']} {entity.period}" if entity.budget else None,
            entity.start,
            entity.end,
            entity.ids[0] if entity.ids else None,
        )
        for entity in find_created_entities(account, source)
    ]
    return make_table(ACTIVATION_COLUMNS, rows, f"as operation {source['id']} wrote it")


def validation_parts(validation: Mapping[str, Json]) -> Iterator[str | TextTable]:
    """Yield the result of a valid brief, and the steps of its creation."""
    yield f"valid: {validation['format']} on {validation['network']}; nothing was saved"
    if (exposure := describe_exposure(validation["plan"])) is not None:
        yield f"spends   {exposure}"
    for warning in validation["warnings"]:
        yield f"warning  {to_plain_text(warning)}"
    yield from step_lines(validation["plan"]["steps"], validation["account"])


def step_lines(plan: Iterable[Mapping[str, Json]], account: Mapping[str, Json] | None) -> Iterator[str]:
    """Yield the native writes of a plan in order, each with its money."""
    for number, step in enumerate(plan, 1):
        yield f"\n{number}. {to_plain_text(step['does'])}\n   {step['method']} {to_plain_text(step['path'])}"
        for change in step["changes"]:
            field, before, after = (to_plain_text(change[part]) for part in ("field", "before", "after"))
            yield f"   {field}: {before} -> {after}"
        for amount in find_amounts(account, step) if account is not None else ():
            value = (
                f"{to_plain_text(amount.major_amount)}, sent as {to_plain_text(amount.native_value)}"
                if amount.major_amount
                else to_plain_text(amount.native_value)
            )
            yield f"   money: {to_plain_text(amount.pointer)} = {value}"


def outcome_parts(operation: Mapping[str, Json]) -> Iterator[str | TextTable]:
    """Yield the receipt, and how much of the operation is written."""
    yield from receipt_parts(operation)
    if operation["receipt"]["steps"] or operation["expired"]:
        yield to_plain_text(read_completion(operation).describe())


RECEIPT_COLUMNS = (
    Column("step"),
    Column("attempt", number=True),
    Column("outcome"),
    Column("http", number=True),
    Column("ids", prose=True),
    Column("the network says", prose=True),
)

INSPECTION_COLUMNS = (
    Column("step"),
    Column("receipt"),
    Column("verdict"),
    Column("entity"),
    Column("reason", prose=True),
)


def receipt_parts(operation: Mapping[str, Json]) -> Iterator[str | TextTable]:
    """Yield the outcomes of the steps so far."""
    steps = operation["receipt"]["steps"]
    if steps:
        rows = [
            (
                step["key"],
                step["attempt"],
                step["state"],
                step["httpStatus"],
                _format_ids(step["outputs"]),
                _error_message(step),
            )
            for step in steps
        ]
        yield ""
        yield make_table(RECEIPT_COLUMNS, rows)


def inspection_parts(inspected: Mapping[str, Json]) -> Iterator[str | TextTable]:
    """Yield the verdicts of an inspection, the members that differ, the reads behind them, and what to do now."""
    steps = inspected["steps"]
    rows = [(step["key"], step["state"], step["verdict"], step["entityId"], step["reason"]) for step in steps]
    yield make_table(INSPECTION_COLUMNS, rows)
    for step in steps:
        for row in step["members"]:
            if row["result"] == "different":
                yield f"{step['key']} {row['member']}: sent {dumps(row['planned'])}, now {dumps(row['found'])}"
        for read in step["evidence"]:
            yield f"{step['key']}: {format_minute(read['at'])} read {read['read']}; found {read['found']}"
    yield ""
    yield inspected["advice"]


def _format_ids(outputs: Mapping[str, Json]) -> str:
    return ", ".join(id_ for value in outputs.values() for id_ in ([value] if isinstance(value, str) else value))


def _error_message(step: Mapping[str, Json]) -> Json:
    return None if step["error"] is None else step["error"].get("message")


def is_csv_wanted() -> bool:
    """Whether the command was called with ``--csv``."""
    return bool(click.get_current_context().meta.get(CSV_KEY))


def print_result(data: Json, as_json: bool, parts: Iterable[str | TextTable]) -> None:
    """Print a result: the data as one JSON document, its tables as CSV, or parts for people."""
    if as_json:
        click.echo(dumps(data))
    elif is_csv_wanted():
        click.echo("\n".join(part.format_csv() for part in parts if isinstance(part, TextTable)), nl=False)
    else:
        print_parts(make_console(), parts)
