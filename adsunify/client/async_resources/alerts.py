"""The namespace ``alerts``. Written by ``nox -s client`` from the contract table."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from adsunify.answers import Alert
from adsunify.client.pages import AsyncPages
from adsunify.client.resource import AsyncResource
from adsunify.models.alert import AlertKind, AlertScope


class AsyncAlertsResource(AsyncResource):
    """What to tell about synced figures."""

    def list(self) -> AsyncPages[Alert]:
        """List the alerts of the workspace, oldest first, with the data that they could not evaluate.

        ``not_evaluated`` lists this data: accounts that were never synced, days without figures, entities whose
        activation is not known.

        Access: Any valid credential of the workspace. Not with an agent's access token.

        Returns:
            An iterator over all rows, of the class Alert. An alert. Members that its kind does not have are None.

        Raises:
            Forbidden: the credential may not do this.
        """
        return AsyncPages(self._client, Alert, "get_alerts", {})

    async def create(
        self,
        *,
        name: str,
        kind: AlertKind,
        scope: AlertScope | None = None,
        level: Literal["account", "campaign", "adGroup", "ad"] | None = None,
        amount: str | None = None,
        currency: str | None = None,
        days: int | None = None,
        hours: int | None = None,
        percent: Decimal | int | None = None,
        active: bool = True,
    ) -> Alert:
        """Create an alert.

        The worker evaluates it after each sync of the daily figures.

        A breach is reported once as the event ``rule.triggered`` with ``data.kind`` ``alert``. An alert changes nothing
        on a network.

        Access: A write-enabled credential of an admin. Not with an agent's access token.

        Args:
            name: what people call the alert.
            kind: what the alert tells.
            scope: the accounts and entities that the alert watches; all by default.
            level: what the alert is about; the default depends on the kind.
            amount: the most that an entity may spend, as a decimal string in major units; of ``spendAbove``.
            currency: the currency of the amount, such as ``EUR``; accounts in other currencies are not evaluated.
            days: the length of the window of ``spendAbove`` in days; 1 by default.
            hours: the hours after an activation without an impression; of ``noDeliveryFor``.
            percent: the most that may be spent of a budget's share for the elapsed time, in percent; of ``paceAbove``.
            active: False pauses the alert.

        Returns:
            An alert. Members that its kind does not have are None.

        Raises:
            InvalidInput: with all issues of the input.
            Forbidden: the credential may not do this.
        """
        return await self._client._request(
            Alert,
            "post_alerts",
            {
                "name": name,
                "kind": kind,
                "scope": scope,
                "level": level,
                "amount": amount,
                "currency": currency,
                "days": days,
                "hours": hours,
                "percent": percent,
                "active": active,
            },
        )

    async def update(
        self,
        alert: Alert | str,
        *,
        name: str | None = None,
        scope: AlertScope | None = None,
        level: Literal["account", "campaign", "adGroup", "ad"] | None = None,
        amount: str | None = None,
        currency: str | None = None,
        days: int | None = None,
        hours: int | None = None,
        percent: Decimal | int | None = None,
        active: bool | None = None,
    ) -> Alert:
        """Change an alert.

        Members that are given replace the present ones; ``active`` false pauses it.

        If more than ``name`` or ``active`` changes, its earlier breaches are forgotten and may be reported again.

        Access: A write-enabled credential of an admin. Not with an agent's access token.

        Args:
            alert: the alert, or its id.
            name: what people call the alert.
            scope: the accounts and entities that the alert watches; all by default.
            level: what the alert is about; the default depends on the kind.
            amount: the most that an entity may spend, as a decimal string in major units; of ``spendAbove``.
            currency: the currency of the amount, such as ``EUR``; accounts in other currencies are not evaluated.
            days: the length of the window of ``spendAbove`` in days; 1 by default.
            hours: the hours after an activation without an impression; of ``noDeliveryFor``.
            percent: the most that may be spent of a budget's share for the elapsed time, in percent; of ``paceAbove``.
            active: False pauses the alert.

        Returns:
            An alert. Members that its kind does not have are None.

        Raises:
            InvalidInput: with all issues of the input.
            Forbidden: the credential may not do this.
            NotFound: the workspace does not contain it.
        """
        return await self._client._request(
            Alert,
            "patch_alert",
            {
                "alertId": alert,
                "name": name,
                "scope": scope,
                "level": level,
                "amount": amount,
                "currency": currency,
                "days": days,
                "hours": hours,
                "percent": percent,
                "active": active,
            },
        )

    async def delete(self, alert: Alert | str) -> Alert:
        """Delete an alert.

        Its past events are not deleted.

        Access: A write-enabled credential of an admin. Not with an agent's access token.

        Args:
            alert: the alert, or its id.

        Returns:
            An alert. Members that its kind does not have are None.

        Raises:
            InvalidInput: with all issues of the input.
            Forbidden: the credential may not do this.
            NotFound: the workspace does not contain it.
        """
        return await self._client._request(Alert, "delete_alert", {"alertId": alert})
