"""The namespace ``connections``. Written by ``nox -s client`` from the contract table."""

from __future__ import annotations

from adsunify.answers import Connection, Consent
from adsunify.client.pages import AsyncPages
from adsunify.client.resource import AsyncResource
from adsunify.values.network_codes import NetworkCode


class AsyncConnectionsResource(AsyncResource):
    """Connections to networks."""

    def list(self) -> AsyncPages[Connection]:
        """List the workspace's connections, without their credentials.

        Access: Any valid credential of the workspace.

        Returns:
            An iterator over all rows, of the class Connection. A connection to a network, without its credentials.
        """
        return AsyncPages(self._client, Connection, "get_connections", {})

    async def authorize(self, network: NetworkCode) -> Consent:
        """Create a link at which a person connects the network's accounts.

        It works once, for ten minutes.

        Access: A write-enabled credential of an admin.

        Args:
            network: the network's code.

        Returns:
            A single-use hosted consent link.

        Raises:
            InvalidInput: with all issues of the input.
            Forbidden: the credential may not do this.
        """
        return await self._client._request(Consent, "post_connections_authorize", {"network": network})

    async def create(self, network: NetworkCode, **credentials: str) -> Connection:
        """Connect a network with the credentials that it issues.

        A password is exchanged once and not stored.

        Access: A write-enabled credential of an admin.

        Args:
            network: the network's code.
            credentials: what the network issued, such as ``api_key``; docs/connecting.md lists them.

        Returns:
            A connection to a network, without its credentials.

        Raises:
            InvalidInput: with all issues of the input.
            Forbidden: the credential may not do this.
            TokenRefused: the network refuses the credentials.
        """
        return await self._client._request(
            Connection, "post_connections_credentials", {"network": network, **credentials}
        )

    async def disconnect(self, connection: Connection | str) -> Connection:
        """Revoke and delete the saved credentials.

        Accounts stay as ``disconnected``; running campaigns are unchanged.

        Access: A write-enabled credential of an admin.

        Args:
            connection: the connection, or its id.

        Returns:
            A connection to a network, without its credentials.

        Raises:
            InvalidInput: with all issues of the input.
            Forbidden: the credential may not do this.
            NotFound: the workspace does not contain it.
        """
        return await self._client._request(Connection, "delete_connection", {"connectionId": connection})
