"""The namespace ``networks``. Written by ``nox -s client`` from the contract table."""

from __future__ import annotations

from adsunify.answers import NetworkDetail, NetworkSummary
from adsunify.client.pages import AsyncPages
from adsunify.client.resource import AsyncResource
from adsunify.values.network_codes import NetworkCode


class AsyncNetworksResource(AsyncResource):
    """What the networks can do."""

    def list(self) -> AsyncPages[NetworkSummary]:
        """List the enabled networks and how each is connected.

        Access: Any valid credential of the workspace.

        Returns:
            An iterator over all rows, of the class NetworkSummary. One enabled network and how it is connected.
        """
        return AsyncPages(self._client, NetworkSummary, "get_networks", {})

    async def get(self, network: NetworkCode) -> NetworkDetail:
        """Return everything that one network's tables declare.

        Access: Any valid credential of the workspace.

        Args:
            network: the network's code.

        Returns:
            All declarations of a network's tables.

        Raises:
            InvalidInput: with all issues of the input.
            NotFound: the workspace does not contain it.
        """
        return await self._client._request(NetworkDetail, "get_network", {"network": network})
