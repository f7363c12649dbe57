"""The namespace ``insights``. Written by ``nox -s client`` from the contract table."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import Literal

from adsunify.answers import Account, Insights, InsightsOverview, Node
from adsunify.client.reports import Report
from adsunify.client.resource import Resource
from adsunify.contract.requests import ReportedLevel
from adsunify.values.network_codes import NetworkCode


class InsightsResource(Resource):
    """Daily metrics."""

    def daily(
        self, account: Account | str, start_date: date, end_date: date, *, as_of: datetime | None = None
    ) -> Insights:
        """Read normalized daily metrics in the account's currency and time zone.

        The range includes both dates and has at most 1100 days. Where ``pending`` is not None, the network is still
        preparing its report: call again with the same dates. Days that have not begun are listed as missing.

        With ``level``, there is a row for each day and entity of that level. Its rows come in pages, each as large as
        the network's own, and have no totals; ``entity_ids`` asks for up to 50 entities. ``GET /networks/{network}``
        lists the levels that a network reports.

        With ``as_of``, the answer has the figures that a sync had stored at that time, without native rows: 404 if one
        of the days was not synced before. Without it, the figures are read from the network.

        This method calls again until the report is ready, which may take minutes. :meth:`report` reads a level.

        Access: Any valid credential of the workspace.

        Args:
            account: the ad account, or its id.
            start_date: the first day, in the account's time zone.
            end_date: the last day, in the account's time zone.
            as_of: answer what a sync had kept at this time, instead of asking the network; an instant with a time zone.

        Returns:
            Normalized daily metrics.

        Raises:
            InvalidInput: with all issues of the input.
            NotFound: the workspace does not contain it.
            ProviderError: the network refuses, or gives no usable answer.
        """
        return (
            self._client._read_report(
                Insights,
                "get_account_insights",
                {"accountId": account, "startDate": start_date, "endDate": end_date, "asOf": as_of},
            )
        ).report

    def overview(
        self,
        start_date: date,
        end_date: date,
        *,
        account_ids: Sequence[str] | None = None,
        network: NetworkCode | None = None,
        level: Literal["account", "campaign", "adGroup", "ad"] | None = None,
        as_of: datetime | None = None,
    ) -> InsightsOverview:
        """Read normalized daily metrics of many accounts, each in its own currency and time zone.

        Without ``account_ids`` and ``network``, these are all connected accounts that the credential reaches, at most
        200. The state of an account is ``complete`` (the network has answered), ``pending`` (its report is not ready:
        call again) or ``failed`` (with the error). ``totals`` has one entry for each currency and adds up the days with
        figures; amounts of two currencies are never added, and neither are conversions of two networks, which count
        them in different ways. From ``provisional_from`` on figures may change; a day that has not ended in the
        account's time zone is provisional.

        With ``level``, ``rows`` is the first page of the account's report, which has no totals. ``next_cursor`` leads
        to the next page in ``GET /accounts/{account_id}/insights``.

        With ``as_of``, the answer has the figures that syncs had stored at that time. An account is ``failed`` if one
        of its days was not synced before.

        Access: Any valid credential of the workspace.

        Args:
            start_date: the first day, in the account's time zone.
            end_date: the last day, in the account's time zone.
            account_ids: the ids of the accounts; all connected ones by default.
            network: only accounts on this network.
            level: what the rows are about: ``account`` by default.
            as_of: answer what a sync had kept at this time, instead of asking the network; an instant with a time zone.

        Returns:
            Normalized daily metrics of many accounts.

        Raises:
            InvalidInput: with all issues of the input.
        """
        return self._client._request(
            InsightsOverview,
            "get_insights",
            {
                "startDate": start_date,
                "endDate": end_date,
                "accountIds": account_ids,
                "network": network,
                "level": level,
                "asOf": as_of,
            },
        )

    def report(
        self,
        account: Account | str,
        start_date: date,
        end_date: date,
        *,
        level: ReportedLevel,
        entity_ids: Sequence[Node | str] | None = None,
        as_of: datetime | None = None,
    ) -> Report:
        """Read daily figures of the entities of a level: a row for each day and entity.

        The report is read page by page while its rows are iterated over. It waits until the network has prepared the
        report, which may take minutes. ``client.networks.get`` lists the levels that a network reports.

        Access: Any valid credential of the workspace.

        Args:
            account: the ad account, or its id.
            start_date: the first day, in the account's time zone.
            end_date: the last day, in the account's time zone. The range has at most 1100 days.
            level: what the rows are about. Each network reports ``account``.
            entity_ids: 1 to 50 entities of the level, or their ids as the network gives them; all by default.
            as_of: answer what a sync had kept at this time, instead of asking the network; an instant with a time zone.

        Returns:
            A report that sends its first request when its first page is read.

        Raises:
            InvalidInput: an argument has a wrong type. The errors of :meth:`daily` are raised while pages are read.
        """
        arguments = {"accountId": account, "startDate": start_date, "endDate": end_date}
        return Report(self._client, {**arguments, "level": level, "entityIds": entity_ids, "asOf": as_of})
