"""Opens a service or a store from settings: the one place that reads environment variables."""

from __future__ import annotations

import os
import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TypeVar
from urllib.parse import unquote, urlsplit

from attrs import frozen

from adsunify.adapter.oauth import OAuthClient
from adsunify.encryption import KeyRing, load_or_create_key_file, parse_key_ring
from adsunify.errors import invalid_input
from adsunify.execution.state import LEASE_MILLISECONDS, MAX_LEASE_MILLISECONDS
from adsunify.http.egress import read_egress
from adsunify.http.transport import HttpTransport
from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.service.core import Service, ServiceSettings
from adsunify.service.rate_limits import MAX_PROCESSES, RateLimits
from adsunify.store import DEFAULT_TIMEOUTS, Clock, DatabaseTimeouts, Store, open_store, read_upgrade_plan
from adsunify.store import UpgradePlan as UpgradePlan
from adsunify.store.retention import RULES, RetentionKind
from adsunify.store.urls import split_database_url
from adsunify.telemetry.settings import make_tracer, read_telemetry_settings

T = TypeVar("T")
StoreTask = Callable[[Store], Awaitable[T]]
"""Work on an open store, such as a use case of :mod:`adsunify.service.users`."""

SECRET_KEYS_VARIABLE = "ADSUNIFY_SECRET_KEYS"
BASE_URL_VARIABLE = "ADSUNIFY_BASE_URL"
SANDBOX_URL_VARIABLE = "ADSUNIFY_SANDBOX_URL"
LEASE_SECONDS_VARIABLE = "ADSUNIFY_LEASE_SECONDS"
READS_VARIABLE = "ADSUNIFY_READS_PER_MINUTE"
WRITES_VARIABLE = "ADSUNIFY_WRITES_PER_MINUTE"
BAD_TOKENS_VARIABLE = "ADSUNIFY_BAD_TOKENS_PER_MINUTE"
REGISTRATIONS_VARIABLE = "ADSUNIFY_REGISTRATIONS_PER_HOUR"
PROCESSES_VARIABLE = "ADSUNIFY_PROCESSES"
PROXIES_VARIABLE = "ADSUNIFY_PROXIES"
SYNC_HOURS_VARIABLE = "ADSUNIFY_INSIGHTS_SYNC_HOURS"
MAINTENANCE_HOURS_VARIABLE = "ADSUNIFY_MAINTENANCE_HOURS"
RETENTION_VARIABLE = "ADSUNIFY_INSIGHTS_RETENTION_DAYS"
TIMEOUT_VARIABLES = {
    "statement": "ADSUNIFY_STATEMENT_TIMEOUT_SECONDS",
    "lock": "ADSUNIFY_LOCK_TIMEOUT_SECONDS",
    "idle": "ADSUNIFY_IDLE_TRANSACTION_TIMEOUT_SECONDS",
}
"""Timeout of a PostgreSQL -> its environment variable. A read or a write ends after 25 seconds in any case."""
SANDBOX_SECRET = "sandbox-secret"
FIRST_KEY_HINT = "`adsunify admin keys new` creates a first key."
DEFAULT_BASE_URL = "http://127.0.0.1:8080"


@frozen
class OpenedService:
    """An open service. ``new_key_file``: the key file, where opening created it."""

    service: Service
    new_key_file: Path | None


async def open_service(
    database: str,
    environment: Mapping[str, str],
    *,
    base_url: str = DEFAULT_BASE_URL,
    sandbox_url: str | None = None,
    clock: Clock | None = None,
    allow_unsafe_durability: bool = False,
    webhook_dev_targets: Collection[str] = (),
) -> OpenedService:
    """Open and migrate the store, load the keys and the OAuth clients, and make the transport.

    ``environment`` holds the variables above and ``ADSUNIFY_<NETWORK>_CLIENT_ID`` / ``_CLIENT_SECRET``. Raises
    InvalidInput for an invalid setting, and StoreError where the database cannot be opened.
    """
    processes = _read_number(environment, PROCESSES_VARIABLE, 1, 1, MAX_PROCESSES)
    settings = ServiceSettings(
        base_url=_read_base_url(base_url),
        apps=read_oauth_clients(environment, sandbox_url is not None),
        lease=_read_lease(environment),
        sandbox_url=sandbox_url,
        webhook_dev_targets=frozenset(webhook_dev_targets),
        rate_limits=_read_rate_limits(environment, processes),
        processes=processes,
        proxies=_read_number(environment, PROXIES_VARIABLE, 0, 0, 10),
        insights_sync_hours=_read_number(environment, SYNC_HOURS_VARIABLE, 0, 0, 8_760),
        insights_retention_days=_read_number(environment, RETENTION_VARIABLE, 0, 0, 36_500),
        maintenance_hours=_read_number(environment, MAINTENANCE_HOURS_VARIABLE, 0, 0, 8_760),
        retention_days=read_retention_days(environment),
    )
    timeouts = read_database_timeouts(environment)
    file = find_ring_file(database, environment)
    egress, telemetry = read_egress(environment), read_telemetry_settings(environment)
    transport = HttpTransport(sandbox_url, egress=egress)
    store: Store | None = None
    try:
        store = await open_private_store(
            database, clock=clock, allow_unsafe_durability=allow_unsafe_durability, timeouts=timeouts
        )
        # after the database is open, so that a failure to open it creates no key file
        ring, is_new = (
            load_or_create_key_file(file)
            if file is not None
            else (parse_key_ring(environment[SECRET_KEYS_VARIABLE]), False)
        )
    except BaseException:
        if store is not None:
            await store.close()
        raise
    store.tracer = make_tracer(telemetry, egress)
    service = Service(store, ring, transport, settings, tracer=store.tracer)
    return OpenedService(service, file if is_new else None)


async def open_private_store(
    database: str,
    *,
    clock: Clock | None = None,
    allow_unsafe_durability: bool = False,
    allow_wrong_times: bool = False,
    run_contracting: bool = False,
    timeouts: DatabaseTimeouts = DEFAULT_TIMEOUTS,
) -> Store:
    """Open and migrate the store, as :func:`open_store`; only its owner can read a new SQLite file."""
    parts = split_database_url(database)
    if parts.scheme == "sqlite" and not parts.netloc and parts.path not in ("", "/", "/:memory:"):
        # SQLite would create a file that everybody can read; if creating it fails here, opening it raises the reason
        with suppress(OSError):
            os.close(os.open(unquote(parts.path[1:]), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    return await open_store(
        database,
        clock=clock,
        allow_unsafe_durability=allow_unsafe_durability,
        allow_wrong_times=allow_wrong_times,
        run_contracting=run_contracting,
        timeouts=timeouts,
    )


async def run_with_store(database: str, task: StoreTask[T], *, allow_wrong_times: bool = False) -> T:
    """Open and migrate the store, run the task on it, and close it. Raises StoreError, InvalidInput."""
    timeouts = read_database_timeouts(os.environ)
    store = await open_private_store(database, allow_wrong_times=allow_wrong_times, timeouts=timeouts)
    try:
        return await task(store)
    finally:
        await store.close()


async def upgrade_database(database: str, *, run_contracting: bool) -> None:
    """Bring a database to the schema of this version. Raises StoreError, InvalidInput."""
    store = await open_private_store(database, run_contracting=run_contracting)
    await store.close()


async def check_upgrade(database: str) -> UpgradePlan:
    """Return what :func:`upgrade_database` would do, and change nothing. Raises StoreError, InvalidInput."""
    return await read_upgrade_plan(database)


def load_key_ring(database: str, environment: Mapping[str, str]) -> KeyRing:
    """Load the key ring of the environment, or of the file beside the database. Raises InvalidInput."""
    file = find_ring_file(database, environment)
    if file is None:
        return parse_key_ring(environment[SECRET_KEYS_VARIABLE])
    if not file.exists():
        raise invalid_input(
            SECRET_KEYS_VARIABLE, "required", f"is required: there is no key file {file}. {FIRST_KEY_HINT}"
        )
    return load_or_create_key_file(file)[0]


def read_oauth_clients(environment: Mapping[str, str], sandbox: bool) -> dict[str, OAuthClient]:
    """Return the deployment's OAuth client at each network; with a sandbox, the client that it accepts."""
    apps = {code: OAuthClient(f"sandbox-{code}", SANDBOX_SECRET) for code in ADAPTER_PACKAGES} if sandbox else {}
    for code in ADAPTER_PACKAGES:
        client_id = environment.get(f"ADSUNIFY_{code.upper()}_CLIENT_ID")
        client_secret = environment.get(f"ADSUNIFY_{code.upper()}_CLIENT_SECRET")
        if not (client_id or client_secret) or get_adapter(code).network.login.kind == "credentials":
            continue  # this network is connected with credentials, never through an OAuth client
        if client_id and client_secret:
            apps[code] = OAuthClient(client_id, client_secret)
        else:
            name = f"ADSUNIFY_{code.upper()}_CLIENT_ID"
            raise invalid_input(name, "incomplete", "and its _CLIENT_SECRET must be set together, or neither.")
    return apps


def find_ring_file(database: str, environment: Mapping[str, str]) -> Path | None:
    """Return the path of the key file; None if the environment holds the ring. The ring is checked here."""
    ring = environment.get(SECRET_KEYS_VARIABLE)
    if ring:
        parse_key_ring(ring)
        return None
    file = ring_file_path(database)
    if file is None:
        raise invalid_input(
            SECRET_KEYS_VARIABLE,
            "required",
            f"is required with PostgreSQL: the key ring that encrypts stored credentials. {FIRST_KEY_HINT}",
        )
    return file


def ring_file_path(database: str) -> Path | None:
    """Return the path of the key file beside an SQLite file, which may not exist; None with PostgreSQL."""
    parts = split_database_url(database)
    return None if parts.scheme in ("postgresql", "postgres") else Path(f"{unquote(parts.path[1:])}.keys")


def _read_base_url(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.path not in ("", "/") or parts.query:
        raise invalid_input(BASE_URL_VARIABLE, "malformed", "must be an http or https address without a path.")
    return f"{parts.scheme}://{parts.netloc}"


def _read_rate_limits(environment: Mapping[str, str], processes: int) -> RateLimits:
    """Return the share of this process in the limits."""
    defaults = RateLimits()
    names = {
        "reads": READS_VARIABLE,
        "writes": WRITES_VARIABLE,
        "failures": BAD_TOKENS_VARIABLE,
        "registrations": REGISTRATIONS_VARIABLE,
    }
    limits = RateLimits(
        **{
            limit: _read_number(environment, name, getattr(defaults, limit), 0, 1_000_000)
            for limit, name in names.items()
        }
    )
    for limit, name in names.items():
        if 0 < getattr(limits, limit) < processes:
            message = f"must be at least {processes}, the number of processes that divide it, or 0 for no limit."
            raise invalid_input(name, "out_of_range", message)
    return limits.divide(processes)


def read_database_timeouts(environment: Mapping[str, str]) -> DatabaseTimeouts:
    """Return how long a PostgreSQL waits. Raises InvalidInput for an invalid setting."""
    defaults = DEFAULT_TIMEOUTS
    return DatabaseTimeouts(
        **{
            name: _read_number(environment, variable, getattr(defaults, name), 1, 25)
            for name, variable in TIMEOUT_VARIABLES.items()
        }
    )


def read_retention_days(environment: Mapping[str, str]) -> dict[RetentionKind, int]:
    """Return the retention of each kind in days; 0 is for ever. Raises InvalidInput for an invalid setting."""
    return {rule.kind: _read_number(environment, rule.variable, rule.days, 0, 36_500) for rule in RULES}


def _read_lease(environment: Mapping[str, str]) -> int:
    return (
        _read_number(environment, LEASE_SECONDS_VARIABLE, LEASE_MILLISECONDS // 1000, 1, MAX_LEASE_MILLISECONDS // 1000)
        * 1000
    )


def _read_number(environment: Mapping[str, str], name: str, default: int, minimum: int, maximum: int) -> int:
    text = environment.get(name)
    if not text:
        return default
    if not re.fullmatch("[0-9]{1,9}", text) or not minimum <= int(text) <= maximum:
        raise invalid_input(name, "out_of_range", f"must be a whole number from {minimum} to {maximum}.")
    return int(text)
