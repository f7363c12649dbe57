"""The namespace ``insights``. Written by ``nox -s client`` from the contract table."""

from __future__ import annotations

from datetime import date

from adsunify.answers import Account, Insights
from adsunify.client.resource import Resource


class InsightsResource(Resource):
    """Daily metrics."""

    def daily(self, account: Account | str, start_date: date, end_date: date) -> Insights:
        """Read normalized daily metrics in the account's currency and time zone.

        The range includes both dates and has at most 1100 days. Where ``pending`` is not None, the network is still
        preparing its report: call again with the same dates. Days that have not begun are listed as missing.

        With ``level``, there is a row for each day and entity of that level. Its rows come in pages, each as large as
        the network's own, and have no totals; ``entity_ids`` asks for up to 50 entities. ``GET /networks/{network}``
        lists the levels that a network reports.

        This method calls again until the report is ready, which may take minutes.

        Access: Any valid credential of the workspace.

        Args:
            account: the ad account, or its id.
            start_date: the first day, in the account's time zone.
            end_date: the last day, in the account's time zone.

        Returns:
            Normalized daily metrics.

        Raises:
            InvalidInput: with all issues of the input.
            NotFound: the workspace does not contain it.
            ProviderError: the network refuses, or gives no usable answer.
        """
        return self._client._read_report(
            "get_account_insights", {"accountId": account, "startDate": start_date, "endDate": end_date}
        )
