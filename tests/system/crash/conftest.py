"""A stage for each test on each engine: a copy of one in which every simulated network was connected once."""

from __future__ import annotations

import asyncio
import base64
import itertools
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import pytest
from attrs import evolve

from adsunify.actor import Actor
from adsunify.cli.serve import running_server
from adsunify.networks.registry import ADAPTER_PACKAGES
from adsunify.sandbox.server import RunningSandbox, sandbox_thread
from adsunify.sandbox.world import Token
from adsunify.service.factory import SECRET_KEYS_VARIABLE
from adsunify.service.sandbox_workspace import create_sandbox_admin
from adsunify.testing.connecting import connect_sandbox_network
from tests.postgres import execute

from .stage import ENGINES, FORMATS, NOT_SHOWN, Log, Stage

ENVIRONMENT = {SECRET_KEYS_VARIABLE: f"crash:{base64.urlsafe_b64encode(bytes(range(32))).decode().rstrip('=')}"}
NETWORKS = [code for code in ADAPTER_PACKAGES if any(name.startswith(f"{code}-") for name in FORMATS)]
_numbers = itertools.count()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """These tests run when they are named, as ``nox -s crash`` does; not with all the others."""
    return None if any("crash" in argument for argument in config.args) else True


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """A run that could not show something says so aloud."""
    reasons = (str(report.longrepr[2]) for report in terminalreporter.getreports("skipped"))
    for reason in dict.fromkeys(reason for reason in reasons if NOT_SHOWN in reason):
        terminalreporter.write_line(reason.removeprefix("Skipped: "), red=True, bold=True)


@pytest.fixture(scope="session")
def sandbox() -> Iterator[RunningSandbox]:
    with sandbox_thread() as running:
        yield running


async def _connect_networks(database: str, sandbox_url: str) -> tuple[Actor, dict[str, Any]]:
    async with running_server(database, "127.0.0.1", 0, sandbox_url=sandbox_url) as server:
        actor, _ = await create_sandbox_admin(server.service)
        accounts = {network: await connect_sandbox_network(server.service, actor, network) for network in NETWORKS}
        while server.service.background_tasks:  # the accounts' trees are read once
            await asyncio.wait(server.service.background_tasks)
    return actor, accounts


Template = Callable[[str], Stage]
Issued = tuple[dict[str, Token], dict[str, Token]]
"""What a network holds valid, and what of it a template holds."""


@pytest.fixture(scope="session")
def issued_tokens() -> list[Issued]:
    """The tokens of every network, as they were when the templates were made."""
    return []


@pytest.fixture(scope="session")
def template(
    request: pytest.FixtureRequest,
    sandbox: RunningSandbox,
    tmp_path_factory: pytest.TempPathFactory,
    issued_tokens: list[Issued],
) -> Template:
    """The stage of an engine that is copied; made when it is first asked for."""

    @cache
    def make_stage(engine: str) -> Stage:
        if engine == "sqlite":
            database = f"sqlite:///{tmp_path_factory.mktemp('sqlite') / 'template.db'}"
        else:
            server: str = request.getfixturevalue("postgresql_server")
            asyncio.run(execute(server, "CREATE DATABASE template_crash"))
            database = server.format(name="template_crash")
        with pytest.MonkeyPatch.context() as patch:
            for name, value in ENVIRONMENT.items():
                patch.setenv(name, value)
            actor, accounts = asyncio.run(_connect_networks(database, sandbox.url))
        issued_tokens.extend((world.tokens, dict(world.tokens)) for world in sandbox.state.worlds.values())
        return Stage(database, ENVIRONMENT, sandbox.url, actor, accounts, Log(sandbox.state.writes))

    return make_stage


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def stage(
    template: Template, engine: str, request: pytest.FixtureRequest, tmp_path: Path, issued_tokens: list[Issued]
) -> Stage:
    """A database of the test's own, and networks as at the start."""
    template_stage = template(engine)
    httpx.post(f"{template_stage.sandbox_url}/_sandbox/reset", trust_env=False).raise_for_status()
    for valid, copied in issued_tokens:  # a test before may have rotated a refresh token that is copied again
        valid.update(copied)
    if engine == "sqlite":
        shutil.copyfile(template_stage.database.removeprefix("sqlite:///"), tmp_path / "crash.db")
        database = f"sqlite:///{tmp_path / 'crash.db'}"
    else:
        server: str = request.getfixturevalue("postgresql_server")
        name = f"crash_{next(_numbers)}"
        asyncio.run(execute(server, f"CREATE DATABASE {name} TEMPLATE template_crash"))
        database = server.format(name=name)
    return evolve(template_stage, database=database, log=Log(template_stage.log.rows))
