"""Answers as people read them: tables on standard output. What comes from a network cannot steer the terminal."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from adsunify.amounts import amounts
from adsunify.completion import read_completion
from adsunify.creations import made
from adsunify.wire import Json, dumps

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
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


def table(columns: Sequence[str], rows: Iterable[Sequence[Json]], title: str | None = None) -> Table:
    """A table; its cells are taken as text, never as markup."""
    found = Table(title=title, title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in columns:
        found.add_column(column, overflow="fold")
    for row in rows:
        found.add_row(*(Text(plain(cell)) for cell in row))
    return found


def accounts(found: Sequence[Mapping[str, Json]]) -> Table:
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
    return table(("account", "network", "native id", "name", "currency", "time zone", "status"), rows)


def state(operation: Mapping[str, Json]) -> str:
    """The status, or what stands in its way."""
    if operation["expired"]:
        return "expired"
    return "stalled" if operation["stalled"] else str(operation["status"])


def operations(found: Sequence[Mapping[str, Json]]) -> Table:
    """Operations, a line each."""
    rows = [
        (one["id"], one["network"], one["action"], state(one), one["risk"], one["createdAt"], one["accountId"])
        for one in found
    ]
    return table(("operation", "network", "action", "status", "risk", "prepared", "account"), rows)


def operation(
    shown: Mapping[str, Json],
    account: Mapping[str, Json] | None = None,
    source: Mapping[str, Json] | None = None,
) -> Iterable[Any]:
    """One operation: what it will write, with its money where the account is known, and what became of it.

    ``source``: the operation that created what this one activates.
    """
    yield Text(f"{shown['id']}  {shown['action']} on {shown['network']}, {state(shown)}")
    if account is not None:
        name = account["name"] or account["nativeId"]
        yield Text(
            f"account  {plain(name)} ({plain(account['nativeId'])}, {account['currency'] or 'currency unknown'})"
        )
    yield Text(f"risk     {shown['risk']}: {RISKS.get(shown['risk'], '')}")
    yield Text(f"expires  {shown['expiresAt']}")
    for word, member in (("executed", "executedBy"), ("cancelled", "cancelledBy")):
        if member in shown:
            by = shown[member]
            yield Text(f"{word:9}{by['at']} by user {by['userId']}, credential {plain(by['credential'])}")
    yield Text(f"review   {shown['reviewUrl']}")
    for warning in shown["warnings"]:
        yield Text(f"warning  {plain(warning)}")
    if account is not None and source is not None:
        yield Text("")
        yield begins(account, source)
    yield from steps(shown["plan"].get("steps", ()), account)
    yield from outcome(shown)


def begins(account: Mapping[str, Json], source: Mapping[str, Json]) -> Table:
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
    return table(("begins to run", "name", "budget", "from", "to", "id"), rows, f"as operation {source['id']} wrote it")


def validated(found: Mapping[str, Json]) -> Iterable[Any]:
    """A brief that holds, and what creating it would write."""
    yield Text(f"valid: {found['format']} on {found['network']}; nothing was saved")
    for warning in found["warnings"]:
        yield Text(f"warning  {plain(warning)}")
    yield from steps(found["plan"]["steps"], found["account"])


def steps(plan: Iterable[Mapping[str, Json]], account: Mapping[str, Json] | None) -> Iterable[Text]:
    """The native writes of a plan, in order, each with its money."""
    for number, step in enumerate(plan, 1):
        yield Text(f"\n{number}. {plain(step['does'])}\n   {step['method']} {plain(step['path'])}")
        for change in step["changes"]:
            yield Text(f"   {plain(change['field'])}: {plain(change['before'])} -> {plain(change['after'])}")
        for amount in amounts(account, step) if account is not None else ():
            sent = f"{plain(amount.major)}, sent as {plain(amount.sent)}" if amount.major else plain(amount.sent)
            yield Text(f"   money: {plain(amount.member)} = {sent}")


def outcome(shown: Mapping[str, Json]) -> Iterable[Any]:
    """What became of the steps so far, and how much of the operation is written."""
    yield from receipt(shown)
    if shown["receipt"]["steps"] or shown["expired"]:
        yield Text(plain(read_completion(shown).describe()))


def receipt(shown: Mapping[str, Json]) -> Iterable[Any]:
    """What became of the steps so far."""
    steps = shown["receipt"]["steps"]
    if steps:
        rows = [
            (step["key"], step["attempt"], step["state"], step["httpStatus"], _ids(step["outputs"]), _message(step))
            for step in steps
        ]
        yield Text("")
        yield table(("step", "attempt", "outcome", "http", "ids", "the network says"), rows)


def _ids(outputs: Mapping[str, Json]) -> str:
    return ", ".join(one for value in outputs.values() for one in ([value] if isinstance(value, str) else value))


def _message(step: Mapping[str, Json]) -> Json:
    return None if step["error"] is None else step["error"].get("message")


FIGURES = ("impressions", "clicks", "spend", "conversions", "conversionValue", "videoViews", "reach")


def insights(found: Mapping[str, Json]) -> Iterable[Any]:
    """Daily metrics with their totals, and what is missing."""
    rows = [(row["date"], *(row[name] for name in FIGURES)) for row in found["rows"]]
    rows.append(("total", *(found["totals"][name] for name in FIGURES)))
    yield table(("date", *FIGURES), rows, f"spend in {found['currency']}, days of {found['timezone']}")
    coverage = found["coverage"]
    if not coverage["complete"]:
        yield Text(f"not complete; missing: {plain(coverage['missing'])}")
    if coverage["provisionalFrom"] is not None:
        yield Text(f"provisional from {coverage['provisionalFrom']}: the network still counts")
    for note in coverage["notes"]:
        yield Text(plain(note))


def say(data: Json, as_json: bool, shown: Iterable[Any]) -> None:
    """Print an answer: the data as one JSON document, or as people read it."""
    if as_json:
        click.echo(dumps(data))
        return
    screen = console()
    for one in shown:
        screen.print(one, soft_wrap=isinstance(one, Text))


@contextmanager
def waiting(words: str) -> Iterator[Callable[[str], None]]:
    """Show on stderr that something goes on, while it does; call what it gives with other words."""
    with console(stderr=True).status(Text(words)) as status:
        yield lambda more: status.update(Text(more))
