"""The namespace ``bulk``. Written by ``nox -s client`` from the contract table."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Literal

from adsunify.answers import Account, Node, Prepared
from adsunify.client.resource import AsyncResource
from adsunify.contract.requests import Status
from adsunify.plans.records import Kind


class AsyncBulkResource(AsyncResource):
    """One change for several entities."""

    async def status(
        self,
        account: Account | str,
        *,
        kind: Kind,
        entities: Sequence[Node | str],
        status: Status,
        idempotency_key: str | None = None,
    ) -> Prepared:
        """Prepare one status for up to 50 entities of a kind.

        Each entity gets an operation with its own review.

        Access: A write-enabled credential of a member or admin.

        Args:
            account: the ad account, or its id.
            kind: the level of the entities.
            entities: 1 to 50 entities, or their ids as the network gives them.
            status: ``active`` or ``paused``.
            idempotency_key: 1 to 200 characters. The same key and request return the same operations, also expired
                ones.

        Returns:
            Several prepared operations.

        Raises:
            InvalidInput: with all issues of the input.
            Forbidden: the credential may not do this.
            NotFound: the workspace does not contain it.
            Conflict: the idempotency key is bound to another request.
            ProviderError: the network refuses, or gives no usable answer.
        """
        return await self._client._request(
            Prepared,
            "post_bulk_status",
            {"accountId": account, "kind": kind, "entityIds": entities, "status": status},
            idempotency_key,
        )

    async def edit(
        self,
        account: Account | str,
        *,
        kind: Kind,
        entities: Sequence[Node | str],
        field: str,
        mode: Literal["set", "increase", "decrease"],
        value: Decimal | int,
        idempotency_key: str | None = None,
    ) -> Prepared:
        """Prepare one money or number setting for up to 50 entities of a kind.

        Percentages are computed exactly.

        ``bid`` is the bid of each entity's own strategy. Money is rounded to the network's unit toward the lower spend.

        Access: A write-enabled credential of a member or admin.

        Args:
            account: the ad account, or its id.
            kind: the level of the entities.
            entities: 1 to 50 entities, or their ids as the network gives them.
            field: the name of the setting, such as ``budget``.
            mode: ``set``, or a change by ``value`` percent.
            value: an amount in major units of the account's currency, a number, or a percentage.
            idempotency_key: 1 to 200 characters. The same key and request return the same operations, also expired
                ones.

        Returns:
            Several prepared operations.

        Raises:
            InvalidInput: with all issues of the input.
            Forbidden: the credential may not do this.
            NotFound: the workspace does not contain it.
            Conflict: the idempotency key is bound to another request.
            ProviderError: the network refuses, or gives no usable answer.
        """
        return await self._client._request(
            Prepared,
            "post_bulk_edit",
            {"accountId": account, "kind": kind, "entityIds": entities, "field": field, "mode": mode, "value": value},
            idempotency_key,
        )
