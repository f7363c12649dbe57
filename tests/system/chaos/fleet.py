"""The processes of a run: who is running, who is killed, and how much memory each of them holds."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

import psutil
from attrs import define, field, frozen

from tests.system.upgrades.servers import Place

SAMPLE_SECONDS = 2.0
FEWEST_SAMPLES = 16
"""A process with fewer samples did not live long enough to compare two quarters of its life."""
MORE_BYTES, MORE_FILES = 64 * 1024 * 1024, 40
"""How much more a process may hold in the last quarter of its life than in the second one."""
RETRY_SECONDS = 0.5
ENDED_JOB = " has stopped"
"""How the line of a log ends that names a background job which an error has ended."""


@frozen
class Sample:
    """What a process holds at a moment: bytes of memory, and open file descriptors."""

    resident: int
    files: int


@define
class Life:
    """One process of a member, from its start to its end."""

    member: str
    samples: list[Sample] = field(factory=list)

    def compare(self) -> tuple[Sample, Sample] | None:
        """The medians of the second and of the last quarter of the life; None for a short life."""
        quarter = len(self.samples) // 4
        if len(self.samples) < FEWEST_SAMPLES:
            return None
        second, last = self.samples[quarter : 2 * quarter], self.samples[-quarter:]
        return _take_median(second), _take_median(last)

    @property
    def is_growing(self) -> bool:
        """Whether the process holds much more in the last quarter of its life than in the second one."""
        compared = self.compare()
        if compared is None:
            return False
        second, last = compared
        return last.resident > second.resident + MORE_BYTES or last.files > second.files + MORE_FILES


def _take_median(samples: list[Sample]) -> Sample:
    return Sample(int(median(sample.resident for sample in samples)), int(median(sample.files for sample in samples)))


@define
class Member:
    """A server or a worker that is started again whenever it ends. ``arguments``: of its command.

    ``early_ends``: how often it ended before it was ready, as a server does whose database does not answer.
    ``faults``: how often it ended otherwise, without a signal.
    """

    name: str
    place: Place
    arguments: tuple[str, ...]
    says_ready: bool
    lives: list[Life] = field(factory=list)
    ready: Mapping[str, Any] = field(factory=dict)
    process: Process | None = None
    early_ends: int = 0
    faults: list[str] = field(factory=list)
    _is_signalled: bool = False

    def keep_port(self) -> None:
        """Let all later processes of a server listen where the first one does."""
        port = self.ready["baseUrl"].rpartition(":")[2]
        self.arguments = (self.arguments[0], "--port", port, *self.arguments[3:])

    @property
    def log(self) -> Path:
        """The file that gets what the processes write to stderr. Nobody reads a pipe during a run."""
        return self.place.folder / f"{self.name.replace(' ', '-')}.log"

    def list_ended_jobs(self) -> list[str]:
        """The lines of the log that name a background job which a defect has ended."""
        lines = self.log.read_text(errors="replace").splitlines()
        return [f"{self.name}: {line}" for line in lines if line.endswith(ENDED_JOB)]

    async def start(self) -> None:
        """Start a process, again and again until one is ready."""
        while not await self._try_to_start():
            self.early_ends += 1
            await asyncio.sleep(RETRY_SECONDS)

    async def _try_to_start(self) -> bool:
        with self.log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "adsunify", *self.arguments, "--database", self.place.database),
                env=dict(self.place.environment),
                cwd=self.place.folder,
                stdin=DEVNULL,
                stdout=PIPE if self.says_ready else DEVNULL,
                stderr=log,
            )
        self._is_signalled = False  # only now: until then ``process`` is the one that a signal has ended
        if self.says_ready:
            assert self.process.stdout is not None
            line = await self.process.stdout.readline()
            if not line:
                await self.process.wait()
                return False
            self.ready = {**self.ready, **json.loads(line)}
        self.lives.append(Life(self.name))
        return True

    async def stop(self, number: signal.Signals) -> int:
        """Send a signal, and wait for the end. Returns the exit code."""
        assert self.process is not None
        self._is_signalled = True
        if self.process.returncode is None:
            self.process.send_signal(number)
        return await self.process.wait()

    async def sample(self) -> None:
        """Note what the process holds. A process that has ended without a signal is noted, and started again."""
        process = self.process
        if process is None or self._is_signalled:
            return
        if process.returncode is not None:
            if self.says_ready or self.lives[-1].samples:
                self.faults.append(f"{self.name} ended with {process.returncode} without a signal")
            else:
                self.early_ends += 1
            await self.start()
            return
        try:
            looked = psutil.Process(process.pid)
            self.lives[-1].samples.append(Sample(looked.memory_info().rss, looked.num_fds()))
        except psutil.NoSuchProcess:
            return  # it ends right now


def make_servers(place: Place, names: tuple[str, ...], options: tuple[str, ...]) -> list[Member]:
    """Servers that are not started yet."""
    arguments = ("serve", "--port", "0", "--json", "--processes", str(len(names)), *options)
    return [Member(name, place, arguments, True) for name in names]


def make_workers(place: Place, names: tuple[str, ...], options: tuple[str, ...]) -> list[Member]:
    """Workers that are not started yet."""
    return [Member(name, place, ("worker", *options), False) for name in names]


def describe_growth(members: list[Member]) -> tuple[list[dict[str, Any]], list[str]]:
    """The longest life of each member, and the lives that hold more and more."""
    figures, failures = [], []
    for member in members:
        failures += [f"{member.name} holds more and more: {life.compare()}" for life in member.lives if life.is_growing]
        longest = max(member.lives, key=lambda life: len(life.samples))
        pair = longest.compare()
        if pair is None:
            continue
        second, last = pair
        figures.append(
            {
                "member": member.name,
                "seconds": int(len(longest.samples) * SAMPLE_SECONDS),
                "KiB": [second.resident // 1024, last.resident // 1024],
                "files": [second.files, last.files],
            }
        )
    return figures, failures
