"""``adsunify connect`` and ``disconnect``: a network is connected through its consent page, or with credentials.

With a local store, the callback of the consent page comes to this process, which listens on 127.0.0.1 while it waits
(RFC 8252). With a server, the callback goes to the server. In both cases the command requests the link from the backend
and then waits for the new connection.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import webbrowser
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click
from pydantic.alias_generators import to_camel

from adsunify.adapter.network import Credential
from adsunify.answers import Account, Connection
from adsunify.cli.suggestions import Choice
from adsunify.client import AsyncAds
from adsunify.client.backends import Backend
from adsunify.client.local_backend import LocalBackend
from adsunify.contract.requests import get_credential_sets, list_credential_networks
from adsunify.errors import InvalidInput, Issue, OperationError, invalid_input
from adsunify.service.factory import BASE_URL_VARIABLE
from adsunify.values.exact_json import Json, loads
from adsunify.values.network_codes import ExternalNetwork

from . import output
from .files import read_file
from .names import find_id, list_connection_candidates
from .options import Target, csv_option, data_option, prompt_secret, target_options
from .progress import show_progress
from .sockets import bind_socket
from .workflow import network_choice

if TYPE_CHECKING:
    from aiohttp import web
    from aiohttp.typedefs import Handler

WAIT_SECONDS = 10 * 60
"""How long the command waits, which is the lifetime of a link."""
LOCAL_POLL_SECONDS, REMOTE_POLL_SECONDS = 0.2, 2.0
SHUTDOWN_SECONDS = 2.0
"""How long the callback server stays up for the last page to reach the browser."""
UNKNOWN_STATE_STATUS = 404
"""The status of a callback for a consent that this process did not start. The command keeps waiting after it."""


@click.command()
@click.argument("network", type=network_choice, metavar="NETWORK")
@click.option(
    "--port",
    default=0,
    type=click.IntRange(0, 65535),
    help="The port of the callback on 127.0.0.1.  [default: any]",
)
@click.option("--browser/--no-browser", default=True, help="Open the consent page in a browser.  [default: open it]")
@click.option(
    "--credentials",
    type=click.Path(dir_okay=False, path_type=Path, exists=True, allow_dash=True),
    help='A JSON file with the credentials ("-" reads stdin).',
)
@data_option
@target_options
def connect(target: Target, network: str, port: int, browser: bool, credentials: Path | None, as_json: bool) -> None:
    """Connect the ad accounts of a network.

    NETWORK is a code that `adsunify networks` prints.

    For a network with a consent page, the command prints a link and opens it; give your consent there within ten
    minutes. With a local store the network sends the browser back to http://127.0.0.1:PORT/connect/callback/NETWORK:
    register that address with your application at the network, and pass the port with --port.

    Other networks take credentials: from --credentials, from the environment (such as ADSUNIFY_CHATGPT_API_KEY, or
    ADSUNIFY_CHATGPT_API_KEY_FILE for a file), or from a prompt. They are never arguments, since other users of the
    machine can see the command line.
    """
    if get_credential_sets(network):
        members = _read_credentials(network, credentials)
        with show_progress(f"Connecting {network}"), target.make_client() as client:
            connection = client.connections.create(ExternalNetwork(network), **members)
            network_accounts = client.accounts.list(network=ExternalNetwork(network)).all()
    elif credentials is not None:
        raise invalid_input(
            "--credentials",
            "not_supported",
            f"is only for {', '.join(list_credential_networks())}; {network} has a consent page.",
        )
    else:
        connection, network_accounts = asyncio.run(_run_consent(target, network, port, browser))
    data = connection.to_dict()
    accounts = [account.to_dict() for account in network_accounts if account.account_id in connection.accounts]
    output.print_result(data, as_json, [f"{network}: {len(accounts)} connected", output.accounts_table(accounts)])


@click.command()
@click.argument("connection", required=False)
@click.option("--confirmed", is_flag=True, help="Do not ask for confirmation.")
@csv_option
@data_option
@target_options
def disconnect(target: Target, connection: str | None, confirmed: bool, as_json: bool) -> None:
    """Disconnect a network: revoke and delete its saved credentials.

    CONNECTION is an id, or the network if it has one connection; without it, the connections are listed. Accounts stay
    in lists as disconnected, and running campaigns go on unchanged.
    """
    with target.make_client() as client:
        with show_progress("Reading the connections"):
            connections = client.connections.list().all()
        if connection is None:
            rows = [row.to_dict() for row in connections]
        else:
            id_ = find_id("CONNECTION", "connection", connection, list_connection_candidates(connections))
            if not confirmed:
                _ask_to_disconnect(next((row for row in connections if row.connection_id == id_), None))
            with show_progress("Disconnecting"):
                rows = [client.connections.disconnect(id_).to_dict()]
    output.print_result(rows if connection is None else rows[0], as_json, [connections_table(rows)])


def _ask_to_disconnect(connection: Connection | None) -> None:
    """Ask for confirmation. Raises InvalidInput without a terminal."""
    if not sys.stdin.isatty():
        raise invalid_input("--confirmed", "required", "is required without a terminal.")
    words = "it" if connection is None else f"{connection.network} with {len(connection.accounts)} accounts"
    click.confirm(f"Disconnect {words}?", abort=True, err=True)


CONNECTION_COLUMNS = (
    output.Column("connection", shortens=True),
    output.Column("network"),
    output.Column("status"),
    output.Column("accounts", number=True, rank=1),
    output.Column("expires", rank=2),
)


def connections_table(connections: Sequence[Mapping[str, Json]]) -> output.TextTable:
    """Make a table of connections."""
    rows = [
        (
            connection["connectionId"],
            connection["network"],
            connection["status"],
            len(connection["accounts"]),
            connection["expiresAt"],
        )
        for connection in connections
    ]
    return output.make_table(CONNECTION_COLUMNS, rows)


# -- credentials --------------------------------------------------------------------------------------------------


def _read_credentials(network: str, file: Path | None) -> dict[str, str]:
    """Read the members of one of the network's sets from a file, the environment, or a prompt."""
    if file is not None:
        return _read_credentials_file(network, file)
    sets = get_credential_sets(network)
    values = {
        credential.name: value
        for members in sets
        for credential in members
        if (value := _read_variable(network, credential.name)) is not None
    }
    complete = next((members for members in sets if all(member.name in values for member in members)), None)
    if complete is not None:
        return {credential.name: values[credential.name] for credential in complete}
    if not sys.stdin.isatty():
        accepted = " or ".join(
            ", ".join(_variable_name(network, member.name) for member in members) for members in sets
        )
        raise invalid_input("credentials", "required", f"are required: pass --credentials FILE, or set {accepted}.")
    return {
        credential.name: values.get(credential.name) or _prompt_member(credential)
        for credential in _prompt_credential_set(sets)
    }


def _read_credentials_file(network: str, file: Path) -> dict[str, str]:
    try:
        members = loads(read_file(file))
    except ValueError:
        members = None
    names = {to_camel(member.name): member.name for members in get_credential_sets(network) for member in members}
    if not isinstance(members, Mapping) or not all(isinstance(value, str) for value in members.values()):
        raise invalid_input(
            "--credentials", "malformed_json", f"must be a JSON object with text values for {', '.join(names)}."
        )
    unknown = [
        Issue(name, "unknown_property", f"must be one of {', '.join(names)}.") for name in members if name not in names
    ]
    if unknown:
        raise InvalidInput(unknown)
    return {names[name]: str(value) for name, value in members.items()}


def _variable_name(network: str, name: str) -> str:
    return f"ADSUNIFY_{network.upper()}_{name.upper()}"


def _read_variable(network: str, name: str) -> str | None:
    variable = _variable_name(network, name)
    path = os.environ.get(f"{variable}_FILE")
    return os.environ.get(variable) or None if path is None else _read_text_file(f"{variable}_FILE", path)


def _read_text_file(member: str, path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except (OSError, UnicodeDecodeError):
        raise invalid_input(member, "unreadable", "must name a readable text file.") from None


def _prompt_credential_set(sets: Sequence[Sequence[Credential]]) -> Sequence[Credential]:
    """Let the person choose a set of credentials."""
    if len(sets) == 1:
        return sets[0]
    by_name = {to_camel(members[0].name): members for members in sets}
    return by_name[click.prompt("Connect with", type=Choice([*by_name]), err=True)]


def _prompt_member(credential: Credential) -> str:
    """Prompt for a member of the credentials, or for the path of a file if the member has several lines."""
    name = to_camel(credential.name)
    return (
        _read_text_file(name, click.prompt(f"File of the {name}", err=True))
        if credential.form == "lines"
        else prompt_secret(name)
    )


# -- a consent page -----------------------------------------------------------------------------------------------


async def _run_consent(target: Target, network: str, port: int, browser: bool) -> tuple[Connection, list[Account]]:
    """Wait for the network's consent; returns the new connection, and the accounts on the network."""
    async with _consent_client(target, port) as (client, refusal):
        with show_progress(f"Preparing the consent at {network}"):
            before = {connection.connection_id async for connection in client.connections.list()}
            link = (await client.connections.authorize(ExternalNetwork(network))).url
        click.echo(f"Give your consent at {network} within ten minutes:\n{link}", err=True)
        if browser:
            _open_browser(link)
        pause_seconds = REMOTE_POLL_SECONDS if target.is_remote else LOCAL_POLL_SECONDS
        with show_progress("Waiting for the consent"):
            connection = await _wait_for_connection(client, network, before, refusal, pause_seconds)
            return connection, await client.accounts.list(network=ExternalNetwork(network)).all()


async def _wait_for_connection(
    client: AsyncAds, network: str, before: set[str], refusal: asyncio.Event, pause_seconds: float
) -> Connection:
    """Wait for a new connection. Raises OperationError where the consent fails or times out."""
    ends = asyncio.get_running_loop().time() + WAIT_SECONDS
    while asyncio.get_running_loop().time() < ends:
        async for connection in client.connections.list():
            if connection.network == network and connection.connection_id not in before:
                return connection
        if refusal.is_set():
            raise OperationError(
                "The network was not connected; the page in the browser says why.", code="not_connected"
            )
        await asyncio.sleep(pause_seconds)
    raise OperationError("There was no consent within ten minutes; nothing was connected.", code="not_connected")


@asynccontextmanager
async def _consent_client(target: Target, port: int) -> AsyncIterator[tuple[AsyncAds, asyncio.Event]]:
    """The open client, and an event that is set when a callback fails."""
    refusal = asyncio.Event()
    if target.is_remote:
        async with AsyncAds(target.url, token=target.token) as client:
            yield client, refusal
        return
    with bind_socket("127.0.0.1", port) as listening:
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        environment = {**os.environ, BASE_URL_VARIABLE: address}
        async with (
            AsyncAds(target.url, workspace=target.workspace, environment=environment) as client,
            _callback_server(client.backend, listening, refusal),
        ):
            yield client, refusal


@asynccontextmanager
async def _callback_server(backend: Backend, listening: socket.socket, refusal: asyncio.Event) -> AsyncIterator[None]:
    """Serve the consent link and the callback, as a server does."""
    from aiohttp import web  # imported late: help and credentials work without this extra

    from adsunify_server.connections import add_routes

    @web.middleware
    async def watch_refusals(request: web.Request, handler: Handler) -> web.StreamResponse:
        answer = await handler(request)
        if "network" in request.match_info and answer.status >= 400 and answer.status != UNKNOWN_STATE_STATUS:
            refusal.set()
        return answer

    if not isinstance(backend, LocalBackend):
        raise TypeError("only a local store has a callback server")
    app = web.Application(middlewares=[watch_refusals])
    add_routes(app, backend.service)
    runner = web.AppRunner(app, shutdown_timeout=SHUTDOWN_SECONDS, access_log=None)
    await runner.setup()
    try:
        await web.SockSite(runner, listening).start()
        yield
    finally:
        await runner.cleanup()


def _open_browser(link: str) -> None:
    """Open the link in a browser, without our variables in its environment."""
    ours = {name: value for name, value in os.environ.items() if name.startswith("ADSUNIFY_")}
    for name in ours:
        del os.environ[name]
    try:
        webbrowser.open(link)
    finally:
        os.environ.update(ours)
