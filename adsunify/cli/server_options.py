"""Options that whoever runs a server or a worker sets: log lines, metrics, limits."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from adsunify.cli.sockets import bind_socket
from adsunify.errors import invalid_input
from adsunify.service.core import Service
from adsunify.service.factory import (
    BAD_TOKENS_VARIABLE,
    PROXIES_VARIABLE,
    READS_VARIABLE,
    REGISTRATIONS_VARIABLE,
    WRITES_VARIABLE,
)
from adsunify.service.rate_limits import RateLimits
from adsunify_server.logs import LEVELS

if TYPE_CHECKING:
    from adsunify_server.metrics import RequestMetrics

Command = TypeVar("Command", bound=Callable[..., Any])
DEFAULT_RATE_LIMITS = RateLimits()
LIMIT_OPTIONS: Mapping[str, tuple[str, int, str]] = {
    "reads-per-minute": (
        READS_VARIABLE,
        DEFAULT_RATE_LIMITS.reads,
        "Reads that one credential may make in a minute; 0 is no limit.",
    ),
    "writes-per-minute": (
        WRITES_VARIABLE,
        DEFAULT_RATE_LIMITS.writes,
        "The same for everything that prepares, executes or changes.",
    ),
    "bad-tokens-per-minute": (
        BAD_TOKENS_VARIABLE,
        DEFAULT_RATE_LIMITS.failures,
        "Bad bearer tokens that one network address may send.",
    ),
    "registrations-per-hour": (
        REGISTRATIONS_VARIABLE,
        DEFAULT_RATE_LIMITS.registrations,
        "OAuth clients that one address may register.",
    ),
    "proxies": (PROXIES_VARIABLE, 0, "Proxies of yours before the server: so much of X-Forwarded-For is believed."),
}
"""Option: the variable it stands for, its default, what it means."""


def limit_options(command: Command) -> Command:
    """The options of :data:`LIMIT_OPTIONS`."""
    for name, (variable, default, help_text) in reversed(tuple(LIMIT_OPTIONS.items())):
        maximum = 10 if variable == PROXIES_VARIABLE else 1_000_000
        kind = click.IntRange(0, maximum)
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
    """What was given as variables."""
    return {variable: str(limits[name.replace("-", "_")]) for name, (variable, _, _) in LIMIT_OPTIONS.items()}


def monitoring_options(command: Command) -> Command:
    """``--log-level``, ``--log-format``, ``--metrics``."""
    for option in (
        click.option(
            "--metrics",
            "metrics_at",
            envvar="ADSUNIFY_METRICS",
            show_envvar=True,
            metavar="[HOST:]PORT",
            show_default="nowhere",
            help="Answer Prometheus at /metrics there; without a host, to this machine alone.",
        ),
        click.option(
            "--log-format", type=click.Choice(["text", "json"]), default="text", show_default=True, help="On stderr."
        ),
        click.option("--log-level", type=click.Choice(LEVELS), default="info", show_default=True),
    ):
        command = option(command)
    return command


@asynccontextmanager
async def metrics_endpoint(
    service: Service, requests: RequestMetrics | None, where: str | None
) -> AsyncIterator[str | None]:
    """Answer ``/metrics`` at ``[HOST:]PORT``, if that is wanted; the address it is answered at."""
    if not where:
        yield None
        return
    from aiohttp import web  # an extra that help does without

    from adsunify_server.metrics import make_metrics_application

    host, _, port = where.rpartition(":")
    host = host.strip("[]") or "127.0.0.1"
    if not port.isdecimal() or int(port) > 65535:
        raise invalid_input("--metrics", "malformed", "must be a port, or an address and a port: 9464, 0.0.0.0:9464.")
    listener = bind_socket(host, int(port), "--metrics")
    runner = web.AppRunner(make_metrics_application(service, requests), access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        await web.SockSite(runner, listener).start()
        yield f"http://{host}:{listener.getsockname()[1]}/metrics"
    finally:
        await runner.cleanup()
