"""Progress on a terminal: nothing for two seconds, then what a command does, the elapsed time and each account."""

from __future__ import annotations

import os
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import click
import pytest
from attrs import define
from rich.cells import cell_len
from rich.console import Console

from adsunify.cli import progress
from adsunify.cli.progress import Progress

from .running import BRIEF
from .test_help import ANYWHERE, LEAVES
from .test_insights import Answer, serve_answers
from .test_terminal import STEERING, WIDTHS, at_terminal, read_until


@define
class ManualClock:
    """A clock that a test sets."""

    now: float = 100.0

    def __call__(self) -> float:
        return self.now


class Screen:
    """A terminal that shows progress."""

    def __init__(self, clock: ManualClock, width: int = 80, height: int = 25, encoding: str = "utf-8") -> None:
        self._bytes = BytesIO()
        self._file = TextIOWrapper(self._bytes, encoding)
        console = Console(file=self._file, force_terminal=True, width=width, height=height, _environ={"TERM": "xterm"})
        self.progress = Progress("Reading [days]", console, clock)

    def draw(self) -> list[str]:
        """Draw the progress and return its lines."""
        self._bytes.seek(0)
        self._bytes.truncate()
        self.progress.draw()
        self._file.flush()
        return STEERING.sub("", self._bytes.getvalue().decode(self._file.encoding)).replace("\r", "").splitlines()


def test_nothing_is_shown_for_two_seconds() -> None:
    clock = ManualClock()
    screen = Screen(clock)
    clock.now += 1.9
    assert screen.draw() == []
    clock.now += 0.1
    assert screen.draw() == ["⠋ Reading [days]  0:00:02"]
    screen.progress.describe("Reading [days]: 12 rows")
    clock.now += 3723
    assert screen.draw() == ["⠋ Reading [days]: 12 rows  1:02:05"]


def test_each_account_has_its_state_and_its_time() -> None:
    clock = ManualClock()
    screen = Screen(clock)
    google, meta, x = (screen.progress.add_subject(label) for label in ("google Shop", "meta \x1b[2JShop", "x Shop"))
    google.update("reading")
    clock.now += 4
    meta.update("reading")
    google.add_result("complete")
    clock.now += 1
    x.steps = 2
    x.update("reading ad")
    x.add_result("synced")
    first, *lines = screen.draw()
    assert first.endswith("Reading [days] (1 of 3 done)  0:00:05")
    assert lines == [
        "  0:00:01  meta \ufffd[2JShop  reading",
        "  0:00:00  x Shop         reading ad; 1 synced",
        "  0:00:04  google Shop    complete",
    ]
    x.add_result("failed")
    assert screen.draw()[0].endswith("(2 of 3 done)  0:00:05")
    assert screen.draw()[2:] == [
        "  0:00:04  google Shop    complete",
        "  0:00:00  x Shop         1 synced, 1 failed",
    ]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_many_accounts_with_long_names_fit(width: int, encoding: str) -> None:
    clock = ManualClock()
    screen = Screen(clock, width, height=10, encoding=encoding)
    for number in range(46):
        subject = screen.progress.add_subject(f"google {number} " + "long name " * 20)
        subject.update("reading")
    subject.add_result("complete")
    clock.now += 60
    lines = screen.draw()
    assert len(lines) == 9 and max(map(cell_len, lines)) < width
    assert lines[0].endswith("(1 of 46 done)  0:01:00") and lines[-1] == "  and 39 more"
    assert ("…" in lines[1]) is (encoding == "utf-8")


def test_what_is_printed_in_between_stays() -> None:
    clock = ManualClock()
    screen = Screen(clock)
    clock.now += 2
    screen.draw()
    with screen.progress.hide_line():
        screen._file.write("a line\n")
    assert screen.draw()[-2:] == ["a line", "⠋ Reading [days]  0:00:02"]


PROGRAM = """
import sys
from adsunify.cli.progress import show_progress
times = iter([0.0])
with show_progress("Reading [days]", lambda: next(times, float(sys.argv[1]))) as progress:
    progress.describe("Reading [days]: 12 rows")
    sys.stdin.readline()
print("the end")
"""


@pytest.mark.parametrize(("seconds", "is_shown"), [("1.9", False), ("65", True)])
def test_a_terminal_shows_the_progress_and_then_clears_it(seconds: str, is_shown: bool) -> None:
    with at_terminal(80, "-c", PROGRAM, seconds) as (_, terminal):
        transcript = read_until(terminal, "Reading [days]: 12 rows  0:01:05") if is_shown else ""
        os.write(terminal, b"\n")
        transcript += read_until(terminal, "the end")
    assert ("[days]" in transcript) is is_shown
    assert STEERING.sub("", transcript.rpartition("\x1b[2K")[2]).split() == ["the", "end"]


# -- every command ------------------------------------------------------------------------------------------------


def make_value(parameter: click.Parameter, body: Path) -> str:
    """A value that a command accepts; nobody looks at it before the first request."""
    if isinstance(parameter.type, click.Choice):
        return str(parameter.type.choices[0])
    if parameter.name in ("setting", "settings"):
        return "budget=25.00"
    return str(body) if isinstance(parameter.type, click.Path) else "8d7a1f0e-6d7f-4b8e-9a55-0f6f8a4c1f11"


@pytest.mark.parametrize("name", sorted(ANYWHERE - {"mcp"}))
def test_every_request_is_made_while_progress_can_be_shown(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each command makes one request, because the answer is an error."""
    progress_texts = list[str]()

    class Recorded(Progress):
        def __init__(self, words: str, *more: Any) -> None:
            super().__init__(words, *more)
            progress_texts.append(words)

    monkeypatch.setattr(progress, "Progress", Recorded)
    body = tmp_path / "body.json"
    body.write_text(Path(BRIEF).read_text())
    arguments = name.split()
    for parameter in LEAVES[name].params:
        if isinstance(parameter, click.Argument) and (parameter.required or name == "connect"):
            arguments.append(make_value(parameter, body))
        elif parameter.required:
            arguments += [parameter.opts[0], make_value(parameter, body)]
    progress_at_requests = list[list[str]]()

    def respond(*_: object) -> Answer:
        progress_at_requests.append([*progress_texts])
        return None, None

    with serve_answers(respond) as place:
        ran = place.ads(*arguments)
    assert ran.code == 1, (arguments, ran.err)
    assert progress_at_requests and all(progress_at_requests), arguments
