"""The namespace ``accounts``. Written by ``nox -s client`` from the contract table."""

from __future__ import annotations

from adsunify.answers import Account, CatalogRow, Tree, WantedEntity
from adsunify.client.pages import AsyncPages
from adsunify.client.resource import AsyncResource
from adsunify.values.network_codes import NetworkCode


class AsyncAccountsResource(AsyncResource):
    """Ad accounts, their hierarchies and catalogs."""

    def list(self, *, network: NetworkCode | None = None) -> AsyncPages[Account]:
        """List the workspace's ad accounts, or those on one network.

        Access: Any valid credential of the workspace.

        Args:
            network: only accounts on this network.

        Returns:
            An iterator over all rows, of the class Account. An ad account of the workspace.

        Raises:
            InvalidInput: with all issues of the input.
        """
        return AsyncPages(self._client, Account, "get_accounts", {"network": network})

    async def get(self, account: Account | str) -> Account:
        """Return one ad account.

        Access: Any valid credential of the workspace.

        Args:
            account: the ad account, or its id.

        Returns:
            An ad account of the workspace.

        Raises:
            InvalidInput: with all issues of the input.
            NotFound: the workspace does not contain it.
        """
        return await self._client._request(Account, "get_account", {"accountId": account})

    async def tree(self, account: Account | str) -> Tree:
        """Read the native hierarchy as a flat list, parents first, with levels and parent keys.

        Access: Any valid credential of the workspace.

        Args:
            account: the ad account, or its id.

        Returns:
            The native hierarchy, flat, parents first.

        Raises:
            InvalidInput: with all issues of the input.
            NotFound: the workspace does not contain it.
            ProviderError: the network refuses, or gives no usable answer.
        """
        return await self._client._request(Tree, "get_account_tree", {"accountId": account})

    def catalog(
        self, account: Account | str, resource: str, *, search: str | None = None, limit: int = 50
    ) -> AsyncPages[CatalogRow]:
        """List a catalog of the network.

        ``report:<job>`` resumes a report and returns a response of insights.

        This method refuses ``report:<job>``: ``client.insights.daily`` reads reports.

        Access: Any valid credential of the workspace.

        Args:
            account: the ad account, or its id.
            resource: the name of the catalog, such as ``pages``; some take text after a colon.
            search: only rows with this text.
            limit: how many rows the server returns at once, 1 to 100.

        Returns:
            An iterator over all rows, of the class CatalogRow. One row of a catalog.

        Raises:
            InvalidInput: with all issues of the input.
            NotFound: the workspace does not contain it.
            ProviderError: the network refuses, or gives no usable answer.
        """
        return AsyncPages(
            self._client,
            CatalogRow,
            "get_account_catalog",
            {"accountId": account, "resource": resource, "search": search, "limit": limit},
        )

    def entities(self, account: Account | str) -> AsyncPages[WantedEntity]:
        """List all campaigns, ad groups and ads of an account with their fields and statuses, as a file names them.

        Deleted and archived entities are left out, and fields that are not set or that no edit changes.

        Access: Any valid credential of the workspace.

        Args:
            account: the ad account, or its id.

        Returns:
            An iterator over all rows, of the class WantedEntity. An entity as a file names it: its fields, by the names
            of the network's settings, are in ``model_extra``.

        Raises:
            InvalidInput: with all issues of the input.
            NotFound: the workspace does not contain it.
            ProviderError: the network refuses, or gives no usable answer.
        """
        return AsyncPages(self._client, WantedEntity, "get_account_entities", {"accountId": account})
