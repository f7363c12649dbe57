"""The namespace ``ads``. Written by ``nox -s client`` from the contract table."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from adsunify.answers import Account, Entity, Node, Operation, Settings
from adsunify.client.pages import Pages
from adsunify.client.resource import Resource
from adsunify.models.brief import Creative
from adsunify.models.edit import EditTargeting
from adsunify.values.exact_json import Json


class AdsResource(Resource):
    """Ads, as native resources."""

    def list(
        self,
        account: Account | str,
        *,
        limit: int = 50,
        parent: Node | str | None = None,
        status: str | None = None,
        search: str | None = None,
    ) -> Pages[Entity]:
        """List the network's entities of this level.

        A page may be short; a ``next_cursor`` means that more pages follow.

        ``status`` is a native status that the network declares for this level.

        Access: Any valid credential of the workspace.

        Args:
            account: the ad account, or its id.
            limit: how many rows the server returns at once, 1 to 100.
            parent: only entities below this one; the entity, or its id.
            status: only entities with this native status.
            search: only rows with this text.

        Returns:
            An iterator over all rows, of the class Entity. One native entity. ``status`` is the unified status; None if
            the native status has no unified meaning.

        Raises:
            InvalidInput: with all issues of the input.
            NotFound: the workspace does not contain it.
            ProviderError: the network refuses, or gives no usable answer.
        """
        return Pages(
            self._client,
            Entity,
            "get_account_ads",
            {"accountId": account, "limit": limit, "parentId": parent, "status": status, "search": search},
        )

    def create_native(
        self,
        account: Account | str,
        *,
        payload: Mapping[str, Json],
        parent: Node | str | None = None,
        idempotency_key: str | None = None,
    ) -> Operation:
        """Prepare a native creation.

        Without a status in the payload, the entity is created paused where possible.

        Access: A write-enabled credential of a member or admin.

        Args:
            account: the ad account, or its id.
            payload: members with the network's own names and units.
            parent: the entity above, or its id.
            idempotency_key: 1 to 200 characters. The same key and request return the same operations, also expired
                ones.

        Returns:
            A prepared change with its receipt. ``executed_by`` is the last caller who executed it.

        Raises:
            InvalidInput: with all issues of the input.
            Forbidden: the credential may not do this.
            NotFound: the workspace does not contain it.
            Conflict: the idempotency key is bound to another request.
            ProviderError: the network refuses, or gives no usable answer.
        """
        return self._client._request(
            Operation,
            "post_account_ads",
            {"accountId": account, "payload": payload, "parentId": parent},
            idempotency_key,
        )

    def get(self, account: Account | str, entity: Node | str) -> Entity:
        """Return one native entity as the network shows it.

        Access: Any valid credential of the workspace.

        Args:
            account: the ad account, or its id.
            entity: the entity, or its id as the network gives it.

        Returns:
            One native entity. ``status`` is the unified status; None if the native status has no unified meaning.

        Raises:
            InvalidInput: with all issues of the input.
            NotFound: the workspace does not contain it.
            ProviderError: the network refuses, or gives no usable answer.
        """
        return self._client._request(Entity, "get_account_ad", {"accountId": account, "entityId": entity})

    def update_native(
        self,
        account: Account | str,
        entity: Node | str,
        *,
        payload: Mapping[str, Json],
        parent: Node | str | None = None,
        idempotency_key: str | None = None,
    ) -> Operation:
        """Prepare a native update in the network's own names and units.

        Access: A write-enabled credential of a member or admin.

        Args:
            account: the ad account, or its id.
            entity: the entity, or its id as the network gives it.
            payload: members with the network's own names and units.
            parent: the entity above, or its id.
            idempotency_key: 1 to 200 characters. The same key and request return the same operations, also expired
                ones.

        Returns:
            A prepared change with its receipt. ``executed_by`` is the last caller who executed it.

        Raises:
            InvalidInput: with all issues of the input.
            Forbidden: the credential may not do this.
            NotFound: the workspace does not contain it.
            Conflict: the idempotency key is bound to another request.
            ProviderError: the network refuses, or gives no usable answer.
        """
        return self._client._request(
            Operation,
            "patch_account_ad",
            {"accountId": account, "entityId": entity, "payload": payload, "parentId": parent},
            idempotency_key,
        )

    def delete(self, account: Account | str, entity: Node | str, *, idempotency_key: str | None = None) -> Operation:
        """Prepare a native deletion, or the network's equivalent, such as archiving.

        Access: A write-enabled credential of a member or admin.

        Args:
            account: the ad account, or its id.
            entity: the entity, or its id as the network gives it.
            idempotency_key: 1 to 200 characters. The same key and request return the same operations, also expired
                ones.

        Returns:
            A prepared change with its receipt. ``executed_by`` is the last caller who executed it.

        Raises:
            InvalidInput: with all issues of the input.
            Forbidden: the credential may not do this.
            NotFound: the workspace does not contain it.
            Conflict: the idempotency key is bound to another request.
            ProviderError: the network refuses, or gives no usable answer.
        """
        return self._client._request(
            Operation, "delete_account_ad", {"accountId": account, "entityId": entity}, idempotency_key
        )

    def settings(self, account: Account | str, entity: Node | str) -> Settings:
        """List the fields that an edit can change, with current values and lock reasons.

        Call this before an edit.

        Access: Any valid credential of the workspace.

        Args:
            account: the ad account, or its id.
            entity: the entity, or its id as the network gives it.

        Returns:
            The editable fields of an entity, and its related native members.

        Raises:
            InvalidInput: with all issues of the input.
            NotFound: the workspace does not contain it.
            ProviderError: the network refuses, or gives no usable answer.
        """
        return self._client._request(Settings, "get_account_ad_settings", {"accountId": account, "entityId": entity})

    def edit(
        self,
        account: Account | str,
        entity: Node | str,
        *,
        fields: Mapping[str, str | int | Decimal] | None = None,
        targeting: EditTargeting | None = None,
        creative: Creative | None = None,
        idempotency_key: str | None = None,
    ) -> Operation:
        """Prepare an edit of unified fields, targeting or creative.

        Money is in the account's currency.

        Access: A write-enabled credential of a member or admin.

        Args:
            account: the ad account, or its id.
            entity: the entity, or its id as the network gives it.
            fields: settings by name, such as ``budget`` (in major units). The empty text clears a setting.
            targeting: the new targeting. A list replaces the present list.
            creative: the new content of the ad.
            idempotency_key: 1 to 200 characters. The same key and request return the same operations, also expired
                ones.

        Returns:
            A prepared change with its receipt. ``executed_by`` is the last caller who executed it.

        Raises:
            InvalidInput: with all issues of the input.
            Forbidden: the credential may not do this.
            NotFound: the workspace does not contain it.
            Conflict: the idempotency key is bound to another request.
            ProviderError: the network refuses, or gives no usable answer.
        """
        return self._client._request(
            Operation,
            "post_account_ad_edit",
            {"accountId": account, "entityId": entity, "fields": fields, "targeting": targeting, "creative": creative},
            idempotency_key,
        )
