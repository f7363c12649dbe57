"""Opening a service from its settings: the one place that reads the environment's names."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote, urlsplit

from attrs import frozen

from adsunify.adapter.oauth import App
from adsunify.encryption import KeyRing, parse_ring, ring_file
from adsunify.errors import refused
from adsunify.execution.state import LEASE_MILLISECONDS, LONGEST_LEASE_MILLISECONDS
from adsunify.http.transport import HttpTransport
from adsunify.networks import ADAPTERS, adapter
from adsunify.store import Clock, Store, open_store

from .core import Service, Settings
from .limiting import Rates

DATABASE = "ADSUNIFY_DATABASE_URL"
SECRET_KEYS = "ADSUNIFY_SECRET_KEYS"
BASE_URL = "ADSUNIFY_BASE_URL"
SANDBOX_URL = "ADSUNIFY_SANDBOX_URL"
LEASE_SECONDS = "ADSUNIFY_LEASE_SECONDS"
READS = "ADSUNIFY_READS_PER_MINUTE"
WRITES = "ADSUNIFY_WRITES_PER_MINUTE"
FAILURES = "ADSUNIFY_BAD_TOKENS_PER_MINUTE"
REGISTRATIONS = "ADSUNIFY_REGISTRATIONS_PER_HOUR"
PROXIES = "ADSUNIFY_PROXIES"
SANDBOX_SECRET = "sandbox-secret"
FIRST_KEY = "`adsunify admin keys new` makes a first key."
DEFAULT_BASE_URL = "http://127.0.0.1:8080"


@frozen
class Opened:
    """An open service, and the file of keys that was made for it just now, if one was."""

    service: Service
    made_keys: Path | None


async def open_service(
    database: str,
    environment: Mapping[str, str],
    *,
    base_url: str = DEFAULT_BASE_URL,
    sandbox_url: str | None = None,
    clock: Clock | None = None,
    allow_unsafe_durability: bool = False,
    webhook_dev_targets: Collection[str] = (),
) -> Opened:
    """Open and migrate the store, find the keys and the applications, and get ready to talk to the networks.

    ``environment`` holds the variables above and ``ADSUNIFY_<NETWORK>_CLIENT_ID`` / ``_CLIENT_SECRET``. Raises
    InvalidInput for a setting that cannot be, StoreError where the database cannot be opened.
    """
    settings = Settings(
        base_url=_base(base_url),
        apps=applications(environment, sandbox_url is not None),
        lease=_lease(environment),
        sandbox_url=sandbox_url,
        webhook_dev_targets=frozenset(webhook_dev_targets),
        rates=_rates(environment),
        proxies=_number(environment, PROXIES, 0, 0, 10),
    )
    file = ring_path(database, environment)
    transport = HttpTransport(sandbox_url)
    store: Store | None = None
    try:
        store = await open_private(database, clock=clock, allow_unsafe_durability=allow_unsafe_durability)
        # a database that cannot be opened leaves no key file behind
        ring, made = ring_file(file) if file is not None else (parse_ring(environment[SECRET_KEYS]), False)
    except BaseException:
        if store is not None:
            await store.close()
        raise
    return Opened(Service(store, ring, transport, settings), file if made else None)


async def open_private(
    database: str,
    *,
    clock: Clock | None = None,
    allow_unsafe_durability: bool = False,
    allow_wrong_times: bool = False,
) -> Store:
    """Open and migrate the store, as :func:`open_store`; a new SQLite file is its owner's alone, as its keys are."""
    parts = urlsplit(database)
    if parts.scheme == "sqlite" and not parts.netloc and parts.path not in ("", "/", "/:memory:"):
        # SQLite would make it readable for all; where it cannot be made, opening it says why
        with suppress(OSError):
            os.close(os.open(unquote(parts.path[1:]), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    return await open_store(
        database,
        clock=clock,
        allow_unsafe_durability=allow_unsafe_durability,
        allow_wrong_times=allow_wrong_times,
    )


def key_ring(database: str, environment: Mapping[str, str]) -> KeyRing:
    """The ring that stands: of the environment, or of the file beside the database. Raises InvalidInput."""
    file = ring_path(database, environment)
    if file is None:
        return parse_ring(environment[SECRET_KEYS])
    if not file.exists():
        raise refused(SECRET_KEYS, "required", f"is needed: there is no key file {file}. {FIRST_KEY}")
    return ring_file(file)[0]


def applications(environment: Mapping[str, str], sandbox: bool) -> dict[str, App]:
    """The deployment's application at each network; on the sandbox, the one it knows."""
    apps = {code: App(f"sandbox-{code}", SANDBOX_SECRET) for code in ADAPTERS} if sandbox else {}
    for code in ADAPTERS:
        client_id = environment.get(f"ADSUNIFY_{code.upper()}_CLIENT_ID")
        client_secret = environment.get(f"ADSUNIFY_{code.upper()}_CLIENT_SECRET")
        if not (client_id or client_secret) or adapter(code).network.login.kind == "credentials":
            continue  # a network with credentials of its own is never connected through an application
        if client_id and client_secret:
            apps[code] = App(client_id, client_secret)
        else:
            name = f"ADSUNIFY_{code.upper()}_CLIENT_ID"
            raise refused(name, "incomplete", "and its _CLIENT_SECRET must be set together, or neither.")
    return apps


def ring_path(database: str, environment: Mapping[str, str]) -> Path | None:
    """The file of keys beside an SQLite file; None where the environment holds the ring (checked here)."""
    written = environment.get(SECRET_KEYS)
    if written:
        parse_ring(written)
        return None
    file = ring_beside(database)
    if file is None:
        raise refused(
            SECRET_KEYS,
            "required",
            f"is needed with PostgreSQL: the key ring that seals stored credentials. {FIRST_KEY}",
        )
    return file


def ring_beside(database: str) -> Path | None:
    """Where the file of keys stands, or would stand, beside an SQLite file; None with PostgreSQL."""
    parts = urlsplit(database)
    return None if parts.scheme in ("postgresql", "postgres") else Path(f"{unquote(parts.path[1:])}.keys")


def _base(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.path not in ("", "/") or parts.query:
        raise refused(BASE_URL, "malformed", "must be an http or https address without a path.")
    return f"{parts.scheme}://{parts.netloc}"


def _rates(environment: Mapping[str, str]) -> Rates:
    usual = Rates()
    names = {"reads": READS, "writes": WRITES, "failures": FAILURES, "registrations": REGISTRATIONS}
    return Rates(**{one: _number(environment, name, getattr(usual, one), 0, 1_000_000) for one, name in names.items()})


def _lease(environment: Mapping[str, str]) -> int:
    return _number(environment, LEASE_SECONDS, LEASE_MILLISECONDS // 1000, 1, LONGEST_LEASE_MILLISECONDS // 1000) * 1000


def _number(environment: Mapping[str, str], name: str, usual: int, least: int, most: int) -> int:
    written = environment.get(name)
    if not written:
        return usual
    if not re.fullmatch("[0-9]{1,9}", written) or not least <= int(written) <= most:
        raise refused(name, "out_of_range", f"must be a whole number from {least} to {most}.")
    return int(written)
