"""The progress of a command that takes longer than two seconds, on a terminal: what it does, and for how long."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Event, RLock, Thread

from attrs import Factory, define
from rich.cells import cell_len
from rich.console import Console, OverflowMethod
from rich.live import Live
from rich.text import Text

from .output import can_encode, escape_text, make_console, to_plain_text

DELAY_SECONDS = 2.0
REFRESH_SECONDS = 0.1
SPINNER, ASCII_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", "|/-\\"
FRAMES_PER_SECOND = 10
RESERVED_LINES = 3
"""The lines of the terminal that are not for subjects: the first line, the last line, and the cursor's line."""

Clock = Callable[[], float]
"""Returns the time in seconds; the difference of two times counts."""


@define
class ProgressLine:
    """A part of the work that is shown in a line, such as an account; ``steps`` is how many results it will have."""

    label: str
    clock: Clock
    steps: int = 1
    state: str = "waiting"
    results: list[str] = Factory(list)
    started_at: float | None = None
    ended_at: float | None = None

    def update(self, state: str) -> None:
        """Set what happens now. The first call starts the clock of the line."""
        self.started_at = self.clock() if self.started_at is None else self.started_at
        self.state = state

    def add_result(self, result: str) -> None:
        """Add a result. The last result stops the clock of the line."""
        self.update(self.state)
        self.results.append(result)
        if len(self.results) == self.steps:
            self.ended_at = self.clock()

    def describe_state(self) -> str:
        """Return what happens now, and the results so far: ``reading ad; 2 synced, 1 failed``."""
        counts = Counter(self.results)
        results = ", ".join(counts if self.steps == 1 else (f"{number} {result}" for result, number in counts.items()))
        return results if self.ended_at is not None else "; ".join(filter(None, (self.state, results)))

    def describe_time(self) -> str:
        """Return the elapsed time; empty before the start."""
        if self.started_at is None:
            return ""
        return format_elapsed((self.clock() if self.ended_at is None else self.ended_at) - self.started_at)


def format_elapsed(seconds: float) -> str:
    """Format a duration as hours, minutes and seconds: ``0:01:05``."""
    return str(timedelta(seconds=int(seconds)))


class Progress:
    """What a command does, for how long, and a line for each subject. :meth:`draw` shows it after the delay."""

    def __init__(self, words: str, screen: Console, clock: Clock) -> None:
        self._words, self._screen, self._clock = words, screen, clock
        self._started_at = clock()
        self._subjects: list[ProgressLine] = []
        self._lock = RLock()
        self._live: Live | None = None

    def describe(self, words: str) -> None:
        """Replace the words that say what the command does."""
        self._words = words

    def add_subject(self, label: str, steps: int = 1) -> ProgressLine:
        """Add a line for a part of the work, which will have ``steps`` results."""
        subject = ProgressLine(to_plain_text(label), self._clock, steps)
        self._subjects.append(subject)
        return subject

    def draw(self) -> None:
        """Show the progress, or show it anew. Before the delay has passed, nothing is shown."""
        with self._lock:
            if self._clock() - self._started_at < DELAY_SECONDS:
                return
            if self._live is None:
                self._live = Live(
                    console=self._screen,
                    auto_refresh=False,
                    transient=True,
                    redirect_stdout=False,
                    redirect_stderr=False,
                )
                self._live.start()
            self._live.update(self._make_text(), refresh=True)

    @contextmanager
    def hide_line(self) -> Iterator[None]:
        """Hide the progress while the block prints something."""
        with self._lock:
            if self._live is not None:
                self._live.stop()
                self._live = None
            yield

    def _make_text(self) -> Text:
        """Return the lines, none of them longer than the terminal is wide."""
        width = self._screen.width - 1
        overflow: OverflowMethod = "ellipsis" if can_encode(self._screen, "…") else "crop"
        lines = [Text(escape_text(self._screen, line)) for line in self._make_lines()]
        for line in lines:
            line.truncate(width, overflow=overflow)
        return Text("\n").join(lines)

    def _make_lines(self) -> Iterator[str]:
        elapsed = self._clock() - self._started_at
        frames = SPINNER if can_encode(self._screen, SPINNER) else ASCII_SPINNER
        frame = frames[int(elapsed * FRAMES_PER_SECOND) % len(frames)]
        running = [subject for subject in self._subjects if subject.ended_at is None]
        ended = [subject for subject in self._subjects if subject.ended_at is not None]
        count = f" ({len(ended)} of {len(self._subjects)} done)" if self._subjects else ""
        yield f"{frame} {self._words}{count}  {format_elapsed(elapsed)}"
        visible = [*running, *ended][: max(self._screen.height - RESERVED_LINES, 1)]
        label_width = max((cell_len(subject.label) for subject in visible), default=0)
        for subject in visible:
            padding = " " * (label_width - cell_len(subject.label))
            yield f"  {subject.describe_time():7}  {subject.label}{padding}  {subject.describe_state()}"
        if len(visible) < len(self._subjects):
            yield f"  and {len(self._subjects) - len(visible)} more"


@contextmanager
def show_progress(words: str, clock: Clock = time.monotonic) -> Iterator[Progress]:
    """Show what a command does on stderr, if that is a terminal and the block takes longer than two seconds.

    The text disappears at the end of the block. Inside the block, print only within :meth:`Progress.hide`.
    """
    screen = make_console(stderr=True)
    progress = Progress(words, screen, clock)
    ended = Event()
    ticker = Thread(target=_draw_until, args=(ended, progress), name="progress", daemon=True)
    is_shown = screen.is_terminal and not screen.is_dumb_terminal
    if is_shown:
        ticker.start()
    try:
        yield progress
    finally:
        ended.set()
        if is_shown:
            ticker.join()
            with progress.hide_line():
                pass


def _draw_until(ended: Event, progress: Progress) -> None:
    while not ended.wait(REFRESH_SECONDS):
        try:
            progress.draw()
        except OSError:  # the terminal was closed; the command goes on
            return
