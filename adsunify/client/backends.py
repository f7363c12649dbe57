"""Backends of the client: they call endpoints of the contract on a local store or at a server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, Self

from adsunify.contract import ApiRequest, Endpoint
from adsunify.errors import explain_missing_packages, invalid_input
from adsunify.models.error_messages import is_web_address
from adsunify.values.exact_json import Json

from .options import read_options, refuse_options

SERVER_VARIABLE, TOKEN_VARIABLE = "ADSUNIFY_SERVER", "ADSUNIFY_TOKEN"
DATABASE_VARIABLE = "ADSUNIFY_DATABASE_URL"
ADDRESS_EXAMPLES = ", such as https://ads.acme.example for a server, or sqlite:///ads.db for a local store"


class Backend(Protocol):
    """Calls endpoints of the contract, in this process or at a server."""

    async def call(self, endpoint: Endpoint, request: ApiRequest) -> Mapping[str, Json]:
        """Call an endpoint and return the envelope of its response. Raises the errors of :mod:`adsunify.errors`."""
        ...

    def with_options(self, changes: Mapping[str, Any]) -> Self:
        """Return this backend with some :class:`~adsunify.client.options.CallOptions` changed. Raises InvalidInput."""
        ...

    async def close(self) -> None:
        """Let a write in flight finish, and close what was opened."""
        ...


async def open_backend(
    url: str,
    token: str | None,
    workspace: str | None,
    environment: Mapping[str, str],
    options: Mapping[str, Any] | None = None,
) -> Backend:
    """Return a backend for a server at an http(s) address, or for a database, which is opened.

    ``options`` are those of :class:`adsunify.client.options.RemoteOptions`. If they name no proxy or no certificates,
    the settings of :mod:`adsunify.http.egress` in ``environment`` apply. The proxy of the environment is not used for a
    server on this machine. Raises InvalidInput and StoreError, and MissingExtra for a database without the extra
    ``store``.
    """
    server_options = {} if options is None else options
    for name, value in (("server", url), ("token", token), ("workspace", workspace)):
        if not isinstance(value, str) and (value is not None or name == "server"):
            raise invalid_input(name, "type", f"must be text{ADDRESS_EXAMPLES if name == 'server' else ''}.")
    if is_web_address(url):
        if workspace is not None:
            raise invalid_input("workspace", "not_supported", "is only for a store; a server's token belongs to one.")
        # a client of a local store does not load the HTTP client
        from adsunify.http.egress import is_loopback_url, read_egress

        from .http_backend import make_http_backend

        egress = None if "http_client" in server_options else read_egress(environment)
        if egress is not None and is_loopback_url(url):
            egress = egress.without_proxy()
        return make_http_backend(url, token, read_options(server_options, egress))
    if token is not None:
        raise invalid_input(
            "token", "not_supported", "is only for a server, whose address begins with http:// or https://."
        )
    refuse_options(server_options)
    # a client of a server does not load the store and its libraries
    with explain_missing_packages():
        from .local_backend import open_local
    return await open_local(url, workspace, environment)


def read_target(environment: Mapping[str, str]) -> tuple[str, str | None]:
    """Return the address of a server and its token, or the address of a database and None; a server comes first.

    Raises InvalidInput that names the missing variable.
    """
    server, token, database = (environment.get(name) for name in (SERVER_VARIABLE, TOKEN_VARIABLE, DATABASE_VARIABLE))
    if server:
        if token:
            return server, token
        raise invalid_input(TOKEN_VARIABLE, "required", f"is not set. The server in {SERVER_VARIABLE} needs a token.")
    if database:
        return database, None
    ways = f"Set it and {TOKEN_VARIABLE} to use a server, or {DATABASE_VARIABLE} to use a database."
    raise invalid_input(SERVER_VARIABLE, "required", f"is not set. {ways}")
