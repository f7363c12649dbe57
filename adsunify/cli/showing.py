import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Literal

import click
from attrs import frozen
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from adsunify.review.amounts import amounts
from adsunify.review.completion import read_completion
from adsunify.review.created_entities import made
from adsunify.values.exact_json import Json, dumps

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
LABEL = re.compile(r" *(?:[\w: ]{1,16}? {2,}|\w{1,16}: |\d{1,3}\. )?")
"""The start of a line that stays free where the line goes on below: its indentation and its label."""
GAP = 2
"""Blanks between two columns."""
PROSE_COLUMNS = 12
"""The least width of a column of words, where its longest word is shorter."""
PIPE_COLUMNS = 250
"""The width where there is no terminal: nothing is folded that a program may want to read."""
RISKS = {
    "low": "nothing that is written serves by itself",
    "spend": "IT MAY SPEND MONEY",
    "destructive": "IT CANNOT BE UNDONE",
}


def console(*, stderr: bool = False) -> Console:
    """Where people read."""
    found = Console(stderr=stderr, highlight=False)
    return found if found.is_terminal else Console(stderr=stderr, highlight=False, width=PIPE_COLUMNS)


def plain(value: Json) -> str:
    """A value as one line without control characters."""
    if value is None:
        return ""
    return CONTROL.sub("\ufffd", value if isinstance(value, str) else dumps(value))


# -- lines and tables that fit a terminal -------------------------------------------------------------------------


@frozen
class Column:
    """A column of a table.

    ``rank``: 0 is always shown; of the others a narrow terminal shows the lowest ranks that fit. ``prose``: its cells
    may be broken between words. ``number``: its cells end at the right.
    """

    name: str
    rank: int = 0
    prose: bool = False
    number: bool = False


@frozen
class Rows:
    """A table that never breaks a word, and so no id, at any width.

    A terminal that is too narrow for all columns shows the important ones and names the others. Where these do not fit
    either, every row becomes a list of facts.
    """

    columns: Sequence[Column]
    cells: Sequence[Sequence[str]]
    title: str | None = None

    def laid_out(self, screen: Console) -> Iterator[Table | str]:
        """The title, then the table with the columns left out, or the facts: what fits the screen."""
        if self.title is not None:
            yield self.title
        places = list(range(len(self.columns)))
        if screen.is_terminal and not self._fits(places, screen.width):
            places = self._important(screen.width)
        if not self._fits(places, screen.width):
            yield from self._facts()
            return
        table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0))
        for place, width in zip(places, self._widths(places, screen.width), strict=True):
            justify: Literal["left", "right"] = "right" if self.columns[place].number else "left"
            table.add_column(Text(self.columns[place].name), width=width, justify=justify)
        for row in self.cells:
            table.add_row(*(Text(row[place]) for place in places))
        yield table
        absent = [column.name for place, column in enumerate(self.columns) if place not in places]
        if absent:
            yield f"Not shown in {screen.width} columns: {', '.join(absent)} (see --json)."

    def _important(self, width: int) -> list[int]:
        """The columns of rank 0, and of the others those that fit, the lowest rank first."""
        chosen: list[int] = []
        for place in sorted(range(len(self.columns)), key=lambda place: self.columns[place].rank):
            if self.columns[place].rank == 0 or self._fits([*chosen, place], width):
                chosen.append(place)
        return sorted(chosen)

    def _fits(self, places: Sequence[int], width: int) -> bool:
        return sum(self._least(place) + GAP for place in places) - GAP <= width

    def _widths(self, places: Sequence[int], width: int) -> list[int]:
        """The width of each column. What is left over goes to those whose cells are broken most."""
        widths = {place: self._least(place) for place in places}
        most = {place: self._most(place) for place in places}
        for _ in range(width + GAP - sum(one + GAP for one in widths.values())):
            place = max(places, key=lambda place: most[place] / widths[place])
            widths[place] += widths[place] < most[place]
        return list(widths.values())

    def _most(self, place: int) -> int:
        """The width that breaks nothing."""
        return max(map(cell_len, (self.columns[place].name, *self._of(place))))

    def _least(self, place: int) -> int:
        """The width that breaks no word; a heading is broken between its words, as prose is."""
        column = self.columns[place]
        words = [word for one in self._of(place) for word in (one.split() if column.prose else (one,))]
        least = max(map(cell_len, (*column.name.split(), *words)))
        return max(least, min(PROSE_COLUMNS, self._most(place))) if column.prose else least

    def _of(self, place: int) -> list[str]:
        return [row[place] for row in self.cells]

    def _facts(self) -> Iterator[str]:
        """Each row as lines of a name and a value."""
        label = max(cell_len(column.name) for column in self.columns)
        for number, row in enumerate(self.cells):
            if number:
                yield ""
            for column, cell in zip(self.columns, row, strict=True):
                if cell:
                    yield f"{column.name:{label}}  {cell}"


def table(columns: Sequence[Column], rows: Iterable[Sequence[Json]], title: str | None = None) -> Rows:
    """A table; its cells are taken as text, never as markup."""
    return Rows(columns, [[plain(cell) for cell in row] for row in rows], title)


def show(screen: Console, shown: Iterable[str | Rows]) -> None:
    """Print lines and tables. At a terminal a line that is too long goes on below, broken between its words."""
    for one in shown:
        for part in one.laid_out(screen) if isinstance(one, Rows) else one.split("\n"):
            screen.print(
                Text(_folded(part, screen)) if isinstance(part, str) else part, soft_wrap=isinstance(part, str)
            )


def _folded(line: str, screen: Console) -> str:
    """A line as a terminal shows it without breaking a word: what goes on below begins under the line's own words."""
    if not screen.is_terminal or cell_len(line) <= screen.width:
        return line
    words = LABEL.sub("", line, count=1)
    start = len(line) - len(words)
    lines = [""]
    for word in words.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if cell_len(longer) <= screen.width - start:
            lines[-1] = longer
        else:
            lines.append(word)
    return line[:start] + f"\n{' ' * start}".join(filter(None, lines))


# -- what the answers hold ----------------------------------------------------------------------------------------


ACCOUNTS = (
    Column("account"),
    Column("network"),
    Column("native id", rank=2),
    Column("name", prose=True),
    Column("currency", rank=1),
    Column("time zone", rank=3),
    Column("status"),
)


def accounts(found: Sequence[Mapping[str, Json]]) -> Rows:
    """Ad accounts."""
    rows = [
        (
            one["accountId"],
            one["network"],
            one["nativeId"],
            one["name"],
            one["currency"],
            one["timezone"],
            one["status"],
        )
        for one in found
    ]
    return table(ACCOUNTS, rows)


def state(operation: Mapping[str, Json]) -> str:
    """The status, or what stands in its way."""
    if operation["expired"]:
        return "expired"
    return "stalled" if operation["stalled"] else str(operation["status"])


OPERATIONS = (
    Column("operation"),
    Column("network"),
    Column("action"),
    Column("status"),
    Column("risk", rank=1),
    Column("prepared", rank=2),
    Column("account", rank=3),
)


def operations(found: Sequence[Mapping[str, Json]]) -> Rows:
    """Operations, a line each."""
    rows = [
        (one["id"], one["network"], one["action"], state(one), one["risk"], _minute(one["createdAt"]), one["accountId"])
        for one in found
    ]
    return table(OPERATIONS, rows)


def _minute(moment: str) -> str:
    """A moment of the wire, to the minute."""
    return f"{moment[:10]} {moment[11:16]}Z"


def operation(
    shown: Mapping[str, Json],
    account: Mapping[str, Json] | None = None,
    source: Mapping[str, Json] | None = None,
) -> Iterator[str | Rows]:
    """One operation: what it will write, with its money where the account is known, and what became of it.

    ``source``: the operation that created what this one activates.
    """
    yield f"{shown['id']}  {shown['action']} on {shown['network']}, {state(shown)}"
    if account is not None:
        name = account["name"] or account["nativeId"]
        yield f"account  {plain(name)} ({plain(account['nativeId'])}, {account['currency'] or 'currency unknown'})"
    yield f"risk     {shown['risk']}: {RISKS.get(shown['risk'], '')}"
    yield f"expires  {shown['expiresAt']}"
    for word, member in (("executed", "executedBy"), ("cancelled", "cancelledBy")):
        if member in shown:
            by = shown[member]
            yield f"{word:8} {by['at']} by user {by['userId']}, credential {plain(by['credential'])}"
    yield f"review   {shown['reviewUrl']}"
    for warning in shown["warnings"]:
        yield f"warning  {plain(warning)}"
    if account is not None and source is not None:
        yield ""
        yield begins(account, source)
    yield from steps(shown["plan"].get("steps", ()), account)
    yield from outcome(shown)


BEGINS = (
    Column("begins to run"),
    Column("name", prose=True),
    Column("budget"),
    Column("from"),
    Column("to"),
    Column("id"),
)


def begins(account: Mapping[str, Json], source: Mapping[str, Json]) -> Rows:
    """What an activation sets running, as its creation wrote it: names, budgets and times."""
    rows = [
        (
            one.kind,
            one.name,
            f"{one.budget} {account['currency']} {one.period}" if one.budget else None,
            one.start,
            one.end,
            one.ids[0] if one.ids else None,
        )
        for one in made(account, source)
    ]
    return table(BEGINS, rows, f"as operation {source['id']} wrote it")


def validated(found: Mapping[str, Json]) -> Iterator[str | Rows]:
    """A brief that holds, and what creating it would write."""
    yield f"valid: {found['format']} on {found['network']}; nothing was saved"
    for warning in found["warnings"]:
        yield f"warning  {plain(warning)}"
    yield from steps(found["plan"]["steps"], found["account"])


def steps(plan: Iterable[Mapping[str, Json]], account: Mapping[str, Json] | None) -> Iterator[str]:
    """The native writes of a plan, in order, each with its money."""
    for number, step in enumerate(plan, 1):
        yield f"\n{number}. {plain(step['does'])}\n   {step['method']} {plain(step['path'])}"
        for change in step["changes"]:
            yield f"   {plain(change['field'])}: {plain(change['before'])} -> {plain(change['after'])}"
        for amount in amounts(account, step) if account is not None else ():
            sent = f"{plain(amount.major)}, sent as {plain(amount.sent)}" if amount.major else plain(amount.sent)
            yield f"   money: {plain(amount.member)} = {sent}"


def outcome(shown: Mapping[str, Json]) -> Iterator[str | Rows]:
    """What became of the steps so far, and how much of the operation is written."""
    yield from receipt(shown)
    if shown["receipt"]["steps"] or shown["expired"]:
        yield plain(read_completion(shown).describe())


RECEIPT = (
    Column("step"),
    Column("attempt", number=True),
    Column("outcome"),
    Column("http", number=True),
    Column("ids", prose=True),
    Column("the network says", prose=True),
)


def receipt(shown: Mapping[str, Json]) -> Iterator[str | Rows]:
    """What became of the steps so far."""
    steps = shown["receipt"]["steps"]
    if steps:
        rows = [
            (step["key"], step["attempt"], step["state"], step["httpStatus"], _ids(step["outputs"]), _message(step))
            for step in steps
        ]
        yield ""
        yield table(RECEIPT, rows)


def _ids(outputs: Mapping[str, Json]) -> str:
    return ", ".join(one for value in outputs.values() for one in ([value] if isinstance(value, str) else value))


def _message(step: Mapping[str, Json]) -> Json:
    return None if step["error"] is None else step["error"].get("message")


FIGURES = {
    "impressions": Column("impressions", number=True),
    "clicks": Column("clicks", number=True),
    "spend": Column("spend", number=True),
    "conversions": Column("conversions", number=True, rank=1),
    "conversionValue": Column("conversion value", number=True, rank=2),
    "videoViews": Column("video views", number=True, rank=4),
    "reach": Column("reach", number=True, rank=3),
}


def insights(found: Mapping[str, Json]) -> Iterator[str | Rows]:
    """Daily metrics with their totals, and what is missing."""
    rows = [(row["date"], *(row[name] for name in FIGURES)) for row in found["rows"]]
    rows.append(("total", *(found["totals"][name] for name in FIGURES)))
    title = f"spend in {found['currency']}, days of {found['timezone']}"
    yield table((Column("date"), *FIGURES.values()), rows, title)
    coverage = found["coverage"]
    if not coverage["complete"]:
        yield "The figures are not complete."
    for gap in coverage["missing"]:
        first, last = gap["startDate"], gap["endDate"]
        yield f"{first}: no figures" if first == last else f"{first} to {last}: no figures"
    if coverage["provisionalFrom"] is not None:
        yield f"provisional from {coverage['provisionalFrom']}: the network still counts"
    for note in coverage["notes"]:
        yield plain(note)


def say(data: Json, as_json: bool, shown: Iterable[str | Rows]) -> None:
    """Print an answer: the data as one JSON document, or as people read it."""
    if as_json:
        click.echo(dumps(data))
    else:
        show(console(), shown)


@contextmanager
def waiting(words: str) -> Iterator[Callable[[str], None]]:
    """Show on stderr that something goes on, while it does; call what it gives with other words."""
    with console(stderr=True).status(Text(words)) as status:
        yield lambda more: status.update(Text(more))
