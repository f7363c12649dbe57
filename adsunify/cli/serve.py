"""``adsunify serve``, ``worker`` and ``sandbox``: the server, the webhook worker, and the simulated networks."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import click
from attrs import field, frozen

from adsunify.actor import Actor
from adsunify.errors import invalid_input
from adsunify.models.error_messages import WEB_PREFIXES, is_web_address
from adsunify.networks.registry import ADAPTER_PACKAGES
from adsunify.service import api_keys
from adsunify.service.alert_job import AlertJob
from adsunify.service.core import Service
from adsunify.service.counters import JobName
from adsunify.service.factory import BASE_URL_VARIABLE, DEFAULT_BASE_URL, SANDBOX_URL_VARIABLE, open_service
from adsunify.service.jobs import keep_running
from adsunify.service.launches.job import LaunchJob
from adsunify.service.ledger.sealing import LedgerSealer
from adsunify.service.reporting.scheduled_sync import ScheduledSync
from adsunify.service.retention import MaintenanceJob
from adsunify.service.sandbox_workspace import (
    SANDBOX_EMAIL,
    SANDBOX_WORKSPACE,
    create_sandbox_admin,
    reset_sandbox_password,
)
from adsunify.service.webhook_worker import WebhookWorker
from adsunify.testing.connecting import connect_sandbox_network
from adsunify.values.exact_json import Json, dumps
from adsunify_server import logs

from . import output
from .options import database_option, json_option
from .server_options import limit_options, limits_to_environment, metrics_endpoint, metrics_export, monitoring_options
from .sockets import bind_socket

if TYPE_CHECKING:
    from adsunify_server.metrics import RequestMetrics

ACCOUNT_MEMBERS = ("accountId", "network", "nativeId", "name", "currency", "timezone", "status")
"""The members of a connected account that are printed."""
SHUTDOWN_SECONDS = 75.0
"""How long a native write in flight may take to finish at a shutdown."""


@frozen
class RunningServer:
    """A running server. ``shutdown_callbacks``: called after the server has stopped answering."""

    service: Service
    base_url: str
    new_key_file: str | None
    request_metrics: RequestMetrics
    shutdown_callbacks: list[Callable[[], Awaitable[object]]] = field(factory=list)


@asynccontextmanager
async def running_server(
    database: str,
    host: str,
    port: int,
    *,
    environment: Mapping[str, str] = os.environ,
    base_url: str | None = None,
    sandbox_url: str | None = None,
    allow_unsafe_durability: bool = False,
    webhook_dev_targets: Collection[str] = (),
) -> AsyncIterator[RunningServer]:
    """Run a server; at the end, writes in flight finish and unfinished operations are handed back."""
    from aiohttp import web  # imported late: help works without this extra

    from adsunify_server.app import make_application
    from adsunify_server.metrics import REQUESTS
    from adsunify_server.runner import ServerRunner

    listening = bind_socket(host, port)
    try:
        opened = await open_service(
            database,
            environment,
            base_url=base_url or f"http://{host}:{listening.getsockname()[1]}",
            sandbox_url=sandbox_url,
            allow_unsafe_durability=allow_unsafe_durability,
            webhook_dev_targets=webhook_dev_targets,
        )
    except BaseException:
        listening.close()
        raise
    app = make_application(opened.service)
    runner = ServerRunner(app, SHUTDOWN_SECONDS)
    new_key_file = None if opened.new_key_file is None else str(opened.new_key_file)
    server = RunningServer(opened.service, opened.service.settings.base_url, new_key_file, app[REQUESTS])
    try:
        await runner.setup()
        await web.SockSite(runner, listening).start()
        yield server
    finally:
        opened.service.is_stopping = True
        await runner.cleanup()
        for callback in server.shutdown_callbacks:
            await callback()
        await opened.service.close()


@asynccontextmanager
async def simulated_networks(start: bool) -> AsyncIterator[str | None]:
    """Yield the address of the simulated networks, which the environment names or this starts; None without them."""
    running = os.environ.get(SANDBOX_URL_VARIABLE)
    if running or not start:
        yield running or None
        return
    from adsunify.sandbox import get_fresh_id_offset, sandbox  # only a sandbox needs it

    async with sandbox(ids_from=get_fresh_id_offset()) as own:
        yield own.url


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", default=8080, show_default=True, type=click.IntRange(0, 65535), help="0 takes a free one.")
@database_option
@click.option(
    "--base-url",
    envvar=BASE_URL_VARIABLE,
    show_envvar=True,
    show_default="http://HOST:PORT",
    help="The address at which people and networks reach the server.",
)
@click.option(
    "--sandbox",
    is_flag=True,
    help=f"Simulate the networks, connect an account on each, and create a key of the workspace {SANDBOX_WORKSPACE}. "
    "The key ends with the run; with --json, for programs, it does not.",
)
@click.option(
    "--allow-unsafe-durability", is_flag=True, help="Accept a PostgreSQL that may lose commits in a power failure."
)
@click.option(
    "--webhook-dev-target",
    "targets",
    multiple=True,
    metavar="URL",
    help="Allow this http or private address as a webhook destination (repeatable; never in production).",
)
@limit_options
@monitoring_options
@json_option
def serve(
    host: str,
    port: int,
    database: str,
    base_url: str | None,
    sandbox: bool,
    allow_unsafe_durability: bool,
    targets: tuple[str, ...],
    as_json: bool,
    log_level: str,
    log_format: logs.LogFormat,
    metrics_at: str | None,
    **limits: int,
) -> None:
    """Run the server until SIGINT or SIGTERM; a native write in flight finishes first."""
    logs.configure_logging(log_level, log_format)
    _check_targets(targets)
    for target in targets:
        click.echo(
            f"WARNING: webhooks may be sent to {target}, which is not checked. Never use this in production.", err=True
        )
    server = partial(
        running_server,
        database,
        host,
        port,
        environment={**os.environ, **limits_to_environment(limits)},
        base_url=base_url,
        allow_unsafe_durability=allow_unsafe_durability,
        webhook_dev_targets=targets,
    )
    asyncio.run(_run_until_signal(server, sandbox, as_json, metrics_at))


def _check_targets(targets: Collection[str]) -> None:
    """Raise InvalidInput for targets that are not addresses, because they would never match."""
    if not all(is_web_address(target) for target in targets):
        raise invalid_input("--webhook-dev-target", "malformed", f"must begin with {' or '.join(WEB_PREFIXES)}.")


async def _run_until_signal(
    open_server: Callable[..., AbstractAsyncContextManager[RunningServer]],
    sandbox: bool,
    as_json: bool,
    metrics_at: str | None,
) -> None:
    stop_event = make_stop_event()
    async with (
        simulated_networks(sandbox) as sandbox_url,
        open_server(sandbox_url=sandbox_url) as server,
        metrics_endpoint(server.service, server.request_metrics, metrics_at) as metrics_url,
    ):
        export = AsyncExitStack()
        await export.enter_async_context(metrics_export(server.service, server.request_metrics))
        # The export ends after the server has stopped answering: the last metrics include the last requests, and a
        # collector that hangs cannot keep the server answering.
        server.shutdown_callbacks.append(export.aclose)
        if metrics_url is not None:
            click.echo(f"Metrics at {metrics_url}", err=True)
        if server.new_key_file is not None:
            click.echo(
                f"Created a key ring: {server.new_key_file} (keep it; connections do not work without it)", err=True
            )
        actor: Actor | None = None
        secret: str | None = None
        password: str | None = None
        accounts: list[Json] = []
        if sandbox:
            actor, secret = await create_sandbox_admin(server.service)
            # A restarted sandbox rejects the tokens that the previous one issued, so every start connects again.
            # The accounts keep their ids.
            accounts = [await connect_sandbox_network(server.service, actor, network) for network in ADAPTER_PACKAGES]
            if not as_json:  # with --json nobody sees a password, so the present one stays valid
                password = await reset_sandbox_password(server.service)
                server.shutdown_callbacks.append(
                    partial(api_keys.revoke_key, server.service, actor, key_id=str(actor.key_id))
                )
        ready = {
            "baseUrl": server.base_url,
            "apiKey": secret,
            "workspaceId": None if actor is None else actor.workspace_id,
            "sandboxUrl": sandbox_url,
            "accounts": [{name: account[name] for name in ACCOUNT_MEMBERS} for account in accounts],
        }
        if as_json:
            click.echo(dumps(ready))
        else:
            _print_ready(ready, password)
        await stop_event.wait()


def make_stop_event() -> asyncio.Event:
    """Make an event that SIGINT and SIGTERM set."""
    stop_event = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop_event.set)
    return stop_event


@click.command()
@database_option
@click.option("--webhook-dev-target", "targets", multiple=True, metavar="URL", help="As with serve.")
@monitoring_options
def worker(
    database: str, targets: tuple[str, ...], log_level: str, log_format: logs.LogFormat, metrics_at: str | None
) -> None:
    """Deliver webhooks and seal the ledger until SIGINT or SIGTERM, in addition to servers.

    Any number of workers may run.

    With ADSUNIFY_INSIGHTS_SYNC_HOURS, the worker also reads daily metrics of all accounts and stores them.
    It evaluates alerts on what was read.

    It continues launches that a stopped process left unfinished.

    With ADSUNIFY_MAINTENANCE_HOURS, it also does what `adsunify maintain` does.
    """
    logs.configure_logging(log_level, log_format)
    _check_targets(targets)
    asyncio.run(_run_worker(database, targets, metrics_at))


async def _run_worker(database: str, targets: tuple[str, ...], metrics_at: str | None) -> None:
    stop_event = make_stop_event()
    sandbox_url = os.environ.get(SANDBOX_URL_VARIABLE) or None
    base_url = os.environ.get(BASE_URL_VARIABLE) or DEFAULT_BASE_URL
    opened = await open_service(
        database, os.environ, base_url=base_url, sandbox_url=sandbox_url, webhook_dev_targets=targets
    )
    service = opened.service
    webhook_worker = WebhookWorker(service)
    try:
        async with (
            metrics_endpoint(service, None, metrics_at) as metrics_url,
            metrics_export(service, None),
        ):
            if metrics_url is not None:
                click.echo(f"Metrics at {metrics_url}", err=True)
            delivering = asyncio.create_task(keep_running(service, "webhooks", webhook_worker.run))
            background: dict[JobName, Callable[[], Coroutine[Any, Any, None]]] = {
                "figures": ScheduledSync(service).run,
                "ledger": LedgerSealer(service).run,
                "alerts": AlertJob(service).run,
                "launches": LaunchJob(service).run,
                "retention": MaintenanceJob(service).run,
            }
            for name, run in background.items():
                service.run_in_background(keep_running(service, name, run))
            click.echo("Delivering webhooks.")
            await stop_event.wait()
            service.is_stopping = True  # set here, before the last metrics are sent; closing the service is too late
            webhook_worker.stop()
            await delivering
    finally:
        await service.close()


def _print_ready(ready: Mapping[str, Any], password: str | None) -> None:
    click.echo(f"adsunify answers at {ready['baseUrl']}")
    if password is not None:
        click.echo(
            f"Sign in at {ready['baseUrl']}/sign-in to the workspace {SANDBOX_WORKSPACE}: "
            f"{SANDBOX_EMAIL}, password {password}"
        )
        click.echo("  (each start makes another password)")
        click.echo(f"API key, for this run only: {ready['apiKey']}")
        click.echo(f"Simulated networks: {ready['sandboxUrl']}")
        output.print_parts(output.make_console(), [output.accounts_table(ready["accounts"])])


@click.command()
@click.option("--port", default=0, type=click.IntRange(0, 65535), help="The port on 127.0.0.1 (default: a free one).")
@json_option
def sandbox(port: int, as_json: bool) -> None:
    """Run the simulated networks alone until SIGINT or SIGTERM."""
    from adsunify.sandbox import run_sandbox

    bind_socket("127.0.0.1", port).close()  # raises InvalidInput where the port is taken
    run_sandbox(port, lambda url: click.echo(dumps({"sandboxUrl": url}) if as_json else url))
