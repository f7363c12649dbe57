"""The namespace ``webhooks``. Written by ``nox -s client`` from the contract table."""

from __future__ import annotations

from collections.abc import Sequence

from adsunify.answers import Account, Attempt, CreatedWebhook, Delivery, Webhook
from adsunify.client.pages import AsyncPages
from adsunify.client.resource import AsyncResource
from adsunify.events import EventName


class AsyncWebhooksResource(AsyncResource):
    """Subscriptions to events, and their deliveries."""

    def list(self) -> AsyncPages[Webhook]:
        """List the subscriptions in your scope, without their signing secrets.

        A subscription has the status ``ended`` where its key or grant has ended or its owner has left the workspace;
        ``ended_reason`` says which.

        Access: Any valid credential of the workspace.

        Returns:
            An iterator over all rows, of the class Webhook. A subscription without its signing secret. Nothing is
            delivered to a ``paused`` or ``ended`` subscription.
        """
        return AsyncPages(self._client, Webhook, "get_webhooks", {})

    async def create(
        self, *, url: str, account: Account | str | None = None, events: Sequence[EventName] | None = None
    ) -> CreatedWebhook:
        """Subscribe an address to events of the workspace or of one account.

        Only this response shows the signing secret.

        The address must be https on port 443, and its host must have a public IPv4 address. Deliveries stop when the
        key that created the subscription expires or is revoked.

        Access: A write-enabled credential of a member or admin. Not with an agent's access token.

        Args:
            url: the https address that gets the events.
            account: only events of this ad account, or of its id; all accounts by default.
            events: the events to deliver; the five of operations by default.

        Returns:
            A new subscription. ``secret`` signs its deliveries and is shown only in this response.

        Raises:
            InvalidInput: with all issues of the input.
            Forbidden: the credential may not do this.
            NotFound: the workspace does not contain it.
        """
        return await self._client._request(
            CreatedWebhook, "post_webhooks", {"url": url, "accountId": account, "events": events}
        )

    async def update(
        self,
        webhook: Webhook | str,
        *,
        url: str | None = None,
        active: bool | None = None,
        events: Sequence[EventName] | None = None,
    ) -> Webhook:
        """Change a subscription for future events; queued events stay queued.

        A paused subscription gets no deliveries.

        Access: A write-enabled credential of a member or admin. Not with an agent's access token.

        Args:
            webhook: the subscription, or its id.
            url: the https address that gets the events.
            active: False pauses the deliveries.
            events: the events to deliver.

        Returns:
            A subscription without its signing secret. Nothing is delivered to a ``paused`` or ``ended`` subscription.

        Raises:
            InvalidInput: with all issues of the input.
            Forbidden: the credential may not do this.
            NotFound: the workspace does not contain it.
        """
        return await self._client._request(
            Webhook, "patch_webhook", {"webhookId": webhook, "url": url, "active": active, "events": events}
        )

    async def delete(self, webhook: Webhook | str) -> Webhook:
        """Remove a subscription and its queued deliveries.

        Access: A write-enabled credential of a member or admin. Not with an agent's access token.

        Args:
            webhook: the subscription, or its id.

        Returns:
            A subscription without its signing secret. Nothing is delivered to a ``paused`` or ``ended`` subscription.

        Raises:
            InvalidInput: with all issues of the input.
            Forbidden: the credential may not do this.
            NotFound: the workspace does not contain it.
        """
        return await self._client._request(Webhook, "delete_webhook", {"webhookId": webhook})

    async def test(self, webhook: Webhook | str) -> Delivery:
        """Queue a signed test notification, which belongs to no operation.

        Access: A write-enabled credential of a member or admin. Not with an agent's access token.

        Args:
            webhook: the subscription, or its id.

        Returns:
            The delivery of one event to one subscription.

        Raises:
            InvalidInput: with all issues of the input.
            Forbidden: the credential may not do this.
            NotFound: the workspace does not contain it.
            Conflict: the idempotency key is bound to another request.
        """
        return await self._client._request(Delivery, "post_webhook_test", {"webhookId": webhook})

    def deliveries(self, webhook: Webhook | str) -> AsyncPages[Delivery]:
        """List the latest 100 deliveries, newest first.

        Access: Any valid credential of the workspace.

        Args:
            webhook: the subscription, or its id.

        Returns:
            An iterator over all rows, of the class Delivery. The delivery of one event to one subscription.

        Raises:
            InvalidInput: with all issues of the input.
            NotFound: the workspace does not contain it.
        """
        return AsyncPages(self._client, Delivery, "get_webhook_deliveries", {"webhookId": webhook})

    def attempts(self, webhook: Webhook | str, delivery: Delivery | str) -> AsyncPages[Attempt]:
        """List the attempts of a delivery, oldest first.

        Access: Any valid credential of the workspace.

        Args:
            webhook: the subscription, or its id.
            delivery: the delivery, or its id.

        Returns:
            An iterator over all rows, of the class Attempt. One attempt: the status of the response, or the reason why
            there was none.

        Raises:
            InvalidInput: with all issues of the input.
            NotFound: the workspace does not contain it.
        """
        return AsyncPages(
            self._client, Attempt, "get_webhook_delivery_attempts", {"webhookId": webhook, "deliveryId": delivery}
        )

    async def redeliver(self, webhook: Webhook | str, delivery: Delivery | str) -> Delivery:
        """Queue a finished notification again with the same event id.

        The advertising operation is not repeated.

        Access: A write-enabled credential of a member or admin. Not with an agent's access token.

        Args:
            webhook: the subscription, or its id.
            delivery: the delivery, or its id.

        Returns:
            The delivery of one event to one subscription.

        Raises:
            InvalidInput: with all issues of the input.
            Forbidden: the credential may not do this.
            NotFound: the workspace does not contain it.
        """
        return await self._client._request(
            Delivery, "post_webhook_delivery_redeliver", {"webhookId": webhook, "deliveryId": delivery}
        )
