"""Options of servers and workers: logs, metrics, limits."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from adsunify.cli.sockets import bind_socket
from adsunify.cli.suggestions import Choice
from adsunify.errors import invalid_input
from adsunify.service.core import Service
from adsunify.service.factory import (
    BAD_TOKENS_VARIABLE,
    PROCESSES_VARIABLE,
    PROXIES_VARIABLE,
    READS_VARIABLE,
    REGISTRATIONS_VARIABLE,
    WRITES_VARIABLE,
)
from adsunify.service.rate_limits import MAX_PROCESSES, RateLimits
from adsunify_server.logs import LEVELS

if TYPE_CHECKING:
    from adsunify_server.metrics import RequestMetrics

Command = TypeVar("Command", bound=Callable[..., Any])
DEFAULT_RATE_LIMITS = RateLimits()
LIMIT_OPTIONS: Mapping[str, tuple[str, int, str]] = {
    "reads-per-minute": (
        READS_VARIABLE,
        DEFAULT_RATE_LIMITS.reads,
        "Reads per minute of one credential; 0 means no limit.",
    ),
    "writes-per-minute": (
        WRITES_VARIABLE,
        DEFAULT_RATE_LIMITS.writes,
        "Calls per minute that prepare, execute or change something; 0 means no limit.",
    ),
    "bad-tokens-per-minute": (
        BAD_TOKENS_VARIABLE,
        DEFAULT_RATE_LIMITS.failures,
        "Bad bearer tokens per minute from one IP address; 0 means no limit.",
    ),
    "registrations-per-hour": (
        REGISTRATIONS_VARIABLE,
        DEFAULT_RATE_LIMITS.registrations,
        "OAuth clients per hour that one IP address may register; 0 means no limit.",
    ),
    "processes": (
        PROCESSES_VARIABLE,
        1,
        "The server processes on this database; each admits its share of the limits.",
    ),
    "proxies": (
        PROXIES_VARIABLE,
        0,
        "Your proxies in front of the server: how many entries of X-Forwarded-For to trust.",
    ),
}
"""Option -> its environment variable, default and help."""
RANGES = {PROCESSES_VARIABLE: click.IntRange(1, MAX_PROCESSES), PROXIES_VARIABLE: click.IntRange(0, 10)}
"""Environment variable -> the range of its option, if it differs from the range of limits."""


def limit_options(command: Command) -> Command:
    """Add the options of :data:`LIMIT_OPTIONS` to a command."""
    for name, (variable, default, help_text) in reversed(tuple(LIMIT_OPTIONS.items())):
        kind = RANGES.get(variable, click.IntRange(0, 1_000_000))
        command = click.option(
            f"--{name}",
            envvar=variable,
            default=default,
            show_default=True,
            show_envvar=True,
            type=kind,
            help=help_text,
        )(command)
    return command


def limits_to_environment(limits: Mapping[str, int]) -> dict[str, str]:
    """Return the values of the limit options as environment variables."""
    return {variable: str(limits[name.replace("-", "_")]) for name, (variable, _, _) in LIMIT_OPTIONS.items()}


def monitoring_options(command: Command) -> Command:
    """Add ``--log-level``, ``--log-format`` and ``--metrics`` to a command."""
    for option in (
        click.option(
            "--metrics",
            "metrics_at",
            envvar="ADSUNIFY_METRICS",
            show_envvar=True,
            metavar="[HOST:]PORT",
            show_default="nowhere",
            help="Serve Prometheus metrics at /metrics on this port; without a host, only to this machine.",
        ),
        click.option(
            "--log-format",
            type=Choice(["text", "json"]),
            default="text",
            show_default=True,
            help="The format of log lines on stderr.",
        ),
        click.option(
            "--log-level",
            type=Choice(LEVELS),
            default="info",
            show_default=True,
            help="The lowest level that is logged.",
        ),
    ):
        command = option(command)
    return command


@asynccontextmanager
async def metrics_export(service: Service, requests: RequestMetrics | None) -> AsyncIterator[None]:
    """Send metrics to the collector of the environment while the block runs, if there is one."""
    from adsunify_server.metrics_export import exported_metrics  # part of an extra, which help does not need

    async with exported_metrics(service, requests, os.environ):
        yield


@asynccontextmanager
async def metrics_endpoint(
    service: Service, requests: RequestMetrics | None, target: str | None
) -> AsyncIterator[str | None]:
    """Serve ``/metrics`` at ``[HOST:]PORT``, and yield its address; None without ``where``."""
    if not target:
        yield None
        return
    from aiohttp import web  # part of an extra, which help does not need

    from adsunify_server.metrics import make_metrics_application

    host, _, port = target.rpartition(":")
    host = host.strip("[]") or "127.0.0.1"
    if not port.isdecimal() or int(port) > 65535:
        raise invalid_input(
            "--metrics", "malformed", "must be a port such as 9464, or an address with a port such as 0.0.0.0:9464."
        )
    listener = bind_socket(host, int(port), "--metrics")
    runner = web.AppRunner(make_metrics_application(service, requests), access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        await web.SockSite(runner, listener).start()
        yield f"http://{host}:{listener.getsockname()[1]}/metrics"
    finally:
        await runner.cleanup()
