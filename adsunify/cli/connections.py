"""``adsunify connect``: through a network's consent page, or with credentials of its own.

A consent over a store of one's own comes back to this process: it listens on 127.0.0.1 while it waits, at a port of its
own (RFC 8252). Over a server it comes back there. Either way the link is asked for at the same door, and a new
connection is waited for there.
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
from adsunify.client import AsyncAds
from adsunify.client.backends import Backend
from adsunify.client.local_backend import LocalBackend
from adsunify.contract.requests import get_credential_sets, list_credential_networks
from adsunify.errors import InvalidInput, Issue, OperationError, invalid_input
from adsunify.service.factory import BASE_URL_VARIABLE
from adsunify.values.exact_json import Json, loads

from . import output
from .files import read_file
from .options import Target, data_option, prompt_secret, target_options
from .sockets import bind_socket
from .workflow import network_choice

if TYPE_CHECKING:
    from aiohttp import web
    from aiohttp.typedefs import Handler

WAIT_SECONDS = 10 * 60
"""A link lives so long; so does what follows it at the network."""
LOCAL_LOOK_SECONDS, REMOTE_LOOK_SECONDS = 0.2, 2.0
SHUTDOWN_SECONDS = 2.0
"""For the last page to reach the browser."""
UNKNOWN_STATE_STATUS = 404
"""What answers a consent that this process never began: it stops nothing."""


@click.command()
@click.argument("network", type=network_choice, metavar="NETWORK")
@click.option(
    "--port",
    default=0,
    type=click.IntRange(0, 65535),
    help="Where the consent comes back to on 127.0.0.1.  [default: any]",
)
@click.option("--browser/--no-browser", default=True, help="Open the consent page in a browser.  [default: open it]")
@click.option(
    "--credentials",
    type=click.Path(dir_okay=False, path_type=Path, exists=True, allow_dash=True),
    help='A JSON file with the network\'s own credentials ("-" reads stdin).',
)
@data_option
@target_options
def connect(where: Target, network: str, port: int, browser: bool, credentials: Path | None, as_json: bool) -> None:
    """Connect the ad accounts of a network.

    NETWORK is a code that `adsunify networks` prints.

    Networks with a consent page: a link is printed (and opened); allow it there within ten minutes. With a store of
    your own the network sends the browser back to http://127.0.0.1:PORT/connect/callback/NETWORK, so register that
    address with your application there, and name the port with --port.

    Other networks take credentials of their own: from --credentials, from the environment (such as
    ADSUNIFY_CHATGPT_API_KEY; with _FILE behind the name, from the file that it names), or asked for. Never from the
    command line, which other users of the machine can see.
    """
    if get_credential_sets(network):
        given = _read_credentials(network, credentials)
        with output.status_line(f"Connecting {network}"), where.make_client() as ads:
            made = ads.connect(network, **given)
        data, accounts = made.data, [one.data for one in made.accounts]
    elif credentials is not None:
        raise invalid_input(
            "--credentials",
            "not_supported",
            f"goes with {', '.join(list_credential_networks())}; {network} has a consent page.",
        )
    else:
        data, accounts = asyncio.run(_run_consent(where, network, port, browser))
    output.print_result(data, as_json, [f"{network}: {len(accounts)} connected", output.accounts_table(accounts)])


# -- credentials of its own ---------------------------------------------------------------------------------------


def _read_credentials(network: str, file: Path | None) -> dict[str, str]:
    """The members of one of the network's sets, from a file, the environment, or whoever sits there."""
    if file is not None:
        return _read_credentials_file(network, file)
    sets = get_credential_sets(network)
    found = {
        one.name: value
        for members in sets
        for one in members
        if (value := _read_variable(network, one.name)) is not None
    }
    whole = next((members for members in sets if all(one.name in found for one in members)), None)
    if whole is not None:
        return {one.name: found[one.name] for one in whole}
    if not sys.stdin.isatty():
        accepted = " or ".join(", ".join(_variable_name(network, one.name) for one in members) for members in sets)
        raise invalid_input(
            "credentials", "required", f"are needed: --credentials FILE, or {accepted} in the environment."
        )
    return {one.name: found.get(one.name) or _prompt_member(one) for one in _prompt_credential_set(sets)}


def _read_credentials_file(network: str, file: Path) -> dict[str, str]:
    try:
        members = loads(read_file(file))
    except ValueError:
        members = None
    known = {to_camel(one.name): one.name for members in get_credential_sets(network) for one in members}
    if not isinstance(members, Mapping) or not all(isinstance(value, str) for value in members.values()):
        raise invalid_input(
            "--credentials", "malformed_json", f"must be a JSON object of texts, with {', '.join(known)}."
        )
    unknown = [
        Issue(name, "unknown_property", f"is none of {', '.join(known)}.") for name in members if name not in known
    ]
    if unknown:
        raise InvalidInput(unknown)
    return {known[name]: str(value) for name, value in members.items()}


def _variable_name(network: str, name: str) -> str:
    return f"ADSUNIFY_{network.upper()}_{name.upper()}"


def _read_variable(network: str, name: str) -> str | None:
    variable = _variable_name(network, name)
    path = os.environ.get(f"{variable}_FILE")
    return os.environ.get(variable) or None if path is None else _read_text_file(f"{variable}_FILE", path)


def _read_text_file(where: str, path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except (OSError, UnicodeDecodeError):
        raise invalid_input(where, "unreadable", "names no file that can be read.") from None


def _prompt_credential_set(sets: Sequence[Sequence[Credential]]) -> Sequence[Credential]:
    """Which set to ask for."""
    if len(sets) == 1:
        return sets[0]
    by_name = {to_camel(members[0].name): members for members in sets}
    return by_name[click.prompt("Connect with", type=click.Choice([*by_name]), err=True)]


def _prompt_member(one: Credential) -> str:
    """A member, asked for; one of several lines as the path of a file."""
    name = to_camel(one.name)
    return (
        _read_text_file(name, click.prompt(f"File of the {name}", err=True))
        if one.form == "lines"
        else prompt_secret(name)
    )


# -- a consent page -----------------------------------------------------------------------------------------------


async def _run_consent(where: Target, network: str, port: int, browser: bool) -> tuple[Json, list[Json]]:
    """Have the network's consent given; returns the new connection and its accounts."""
    async with _consent_client(where, port) as (ads, refusal):
        before = {one["connectionId"] for one in await ads.connections()}
        link = (await ads.authorize(network))["url"]
        click.echo(f"Allow it at {network}, within ten minutes:\n{link}", err=True)
        if browser:
            _open_browser(link)
        look = REMOTE_LOOK_SECONDS if where.is_remote else LOCAL_LOOK_SECONDS
        with output.status_line("Waiting for the consent"):
            made = await _wait_for_connection(ads, network, before, refusal, look)
        every = await ads.accounts(network)
        return made, [one.data for one in every if one.id in made["accounts"]]


async def _wait_for_connection(
    ads: AsyncAds, network: str, before: set[str], refusal: asyncio.Event, look: float
) -> Json:
    """The connection that was not there before; OperationError where none comes."""
    ends = asyncio.get_running_loop().time() + WAIT_SECONDS
    while asyncio.get_running_loop().time() < ends:
        for one in await ads.connections():
            if one["network"] == network and one["connectionId"] not in before:
                return one
        if refusal.is_set():
            raise OperationError("The connection was not made; the page in the browser says why.", code="not_connected")
        await asyncio.sleep(look)
    raise OperationError("Nobody allowed it within ten minutes; nothing was connected.", code="not_connected")


@asynccontextmanager
async def _consent_client(where: Target, port: int) -> AsyncIterator[tuple[AsyncAds, asyncio.Event]]:
    """The client, ready for a consent to come back; the event says that one came back and failed."""
    refusal = asyncio.Event()
    if where.is_remote:
        async with AsyncAds(where.url, token=where.token) as ads:
            yield ads, refusal
        return
    with bind_socket("127.0.0.1", port) as listening:
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        environment = {**os.environ, BASE_URL_VARIABLE: address}
        async with (
            AsyncAds(where.url, workspace=where.workspace, environment=environment) as ads,
            _callback_server(ads.backend, listening, refusal),
        ):
            yield ads, refusal


@asynccontextmanager
async def _callback_server(door: Backend, listening: socket.socket, refusal: asyncio.Event) -> AsyncIterator[None]:
    """Serve the link and the network's answer to it, as a server does."""
    from aiohttp import web  # an extra that help and credentials do without

    from adsunify_server.connections import add_routes

    @web.middleware
    async def watch_refusals(request: web.Request, handler: Handler) -> web.StreamResponse:
        answer = await handler(request)
        if "network" in request.match_info and answer.status >= 400 and answer.status != UNKNOWN_STATE_STATUS:
            refusal.set()
        return answer

    if not isinstance(door, LocalBackend):
        raise TypeError("a consent comes back to a store of one's own")
    app = web.Application(middlewares=[watch_refusals])
    add_routes(app, door.service)
    runner = web.AppRunner(app, shutdown_timeout=SHUTDOWN_SECONDS, access_log=None)
    await runner.setup()
    try:
        await web.SockSite(runner, listening).start()
        yield
    finally:
        await runner.cleanup()


def _open_browser(link: str) -> None:
    """Open the link in a browser, which inherits none of our secrets."""
    ours = {name: value for name, value in os.environ.items() if name.startswith("ADSUNIFY_")}
    for name in ours:
        del os.environ[name]
    try:
        webbrowser.open(link)
    finally:
        os.environ.update(ours)
