"""The namespace ``agents``. Written by ``nox -s client`` from the contract table."""

from __future__ import annotations

from adsunify.answers import ConnectedAgent
from adsunify.client.pages import AsyncPages
from adsunify.client.resource import AsyncResource


class AsyncAgentsResource(AsyncResource):
    """Permissions that the user gave to agents over OAuth."""

    def list(self) -> AsyncPages[ConnectedAgent]:
        """List your OAuth grants for agents in the current workspace.

        ``scope`` is None for an agent that reaches all accounts. A credential with a scope lists only the grants within
        its scope.

        Access: Any valid credential of the workspace.

        Returns:
            An iterator over all rows, of the class ConnectedAgent. The permission that you gave an agent in this
            workspace.
        """
        return AsyncPages(self._client, ConnectedAgent, "get_connected_agents", {})

    async def revoke(self, agent: ConnectedAgent | str) -> ConnectedAgent:
        """Revoke one of your grants at once, with its refresh tokens.

        A read-only agent revokes only its own grant; a read-only key revokes none. A credential with a scope revokes
        only grants within its scope.

        Access: Any valid credential of the workspace.

        Args:
            agent: the grant of the agent, or its id.

        Returns:
            The permission that you gave an agent in this workspace.

        Raises:
            InvalidInput: with all issues of the input.
            NotFound: the workspace does not contain it.
        """
        return await self._client._request(ConnectedAgent, "delete_connected_agent", {"grantId": agent})
