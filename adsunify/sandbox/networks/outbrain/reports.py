"""Reports: synchronous, by day, week or month of Eastern time."""

from collections.abc import Callable, Mapping
from datetime import date, timedelta
from typing import Any

from adsunify.sandbox.framework import Account, Answer, Check, Entity, Request, choice, text
from adsunify.sandbox.networks.outbrain.answers import (
    answered,
    day,
    marketer,
    page,
    paging,
    refused,
    today,
    truth,
    written,
)
from adsunify.sandbox.networks.outbrain.figures import metrics, of_day, total
from adsunify.sandbox.networks.outbrain.tables import MOST_REPORT_PAGE, REPORT_PAGE, REPORT_YEARS

_SORT = text(2, None, r"[+-](fromDate|impressions|clicks|spend)")  # the plus has to be sent as %2B
_PARAMETERS: Mapping[str, Check] = {
    **paging(MOST_REPORT_PAGE),
    "breakdown": choice("daily", "weekly", "monthly"),
    "sort": _SORT,
    "campaignId": text(),
    "budgetId": text(),
    **dict.fromkeys(
        ("includeArchivedCampaigns", "enabledCampaignsOnly", "conversionsByClickDate", "includeConversionDetails",
         "includeVideoStats", "includeViewedImpressions"),
        truth,
    ),
}  # fmt: skip
_REQUIRED = {"from": day, "to": day}
# The first day of the period that a day lies in.
_STARTS: Mapping[str, Callable[[date], date]] = {
    "daily": lambda on: on,
    "weekly": lambda on: on - timedelta(days=on.weekday()),
    "monthly": lambda on: on.replace(day=1),
}


def periodic(request: Request) -> Answer:
    """GET /reports/marketers/{marketer}/periodic."""
    wanted = request.query(_REQUIRED, _PARAMETERS)
    account = marketer(request, request.slots["marketer"])
    campaigns = _campaigns(request, account, wanted)
    return answered(request, _results(request, account, campaigns, wanted))


def of_campaigns(request: Request) -> Answer:
    """GET /reports/marketers/{marketer}/campaigns/periodic: the same for each campaign (evidence of clients alone)."""
    wanted = request.query(_REQUIRED, _PARAMETERS)
    account = marketer(request, request.slots["marketer"])
    rows = []
    for campaign in _campaigns(request, account, wanted):
        shown = _results(request, account, [campaign], wanted)
        rows.append({"campaignId": campaign.id, "results": shown["results"], "totalResults": shown["totalResults"]})
    return answered(request, {"campaignResults": rows, "totalCampaigns": len(rows)})


def full_day(request: Request) -> Answer:
    """GET /reports/fullDay: yesterday."""
    request.query()
    yesterday = today(request.now) - timedelta(days=1)
    return answered(request, {"fullDayDate": yesterday.isoformat(), "modificationTime": written(request.now)})


def data_freshness(request: Request) -> Answer:
    """GET /reports/dataFreshness (the shape is chosen): 20 minutes ago."""
    request.query()
    return answered(request, {"lastUpdateTime": written(request.now - timedelta(minutes=20))})


def _campaigns(request: Request, account: Account, wanted: Mapping[str, Any]) -> list[Entity]:
    """The campaigns that count: by default neither the paused nor the archived ones."""
    return [
        one
        for one in request.world.entities("campaign", account.id)
        if (one.data["enabled"] or not wanted.get("enabledCampaignsOnly", True))
        and (not one.data.get("archived") or wanted.get("includeArchivedCampaigns", False))
        and one.id == wanted.get("campaignId", one.id)
        and one.parent == wanted.get("budgetId", one.parent)
    ]


def _results(request: Request, account: Account, campaigns: list[Entity], wanted: Mapping[str, Any]) -> dict[str, Any]:
    first, last = date.fromisoformat(wanted["from"]), date.fromisoformat(wanted["to"])
    if last < first:
        raise refused("/to", "lies before from")
    if (last - first).days > REPORT_YEARS * 366:
        raise refused("/from", f"at most {REPORT_YEARS} years in one request")
    start = _STARTS[wanted.get("breakdown", "daily")]
    shape = {"currency": account.currency, "video": wanted.get("includeVideoStats", False),
             "viewable": wanted.get("includeViewedImpressions", False)}  # fmt: skip
    periods: dict[date, list[date]] = {}
    for on in (first + timedelta(days=offset) for offset in range((last - first).days + 1)):
        periods.setdefault(start(on), []).append(on)
    sums = {}
    for period, days in periods.items():
        some = [one for on in days for campaign in campaigns if (one := of_day(request.world, campaign, on))]
        if some:  # a period without data has no row
            sums[period] = total(some)
    rows = [
        {
            "metadata": {"id": days[0].isoformat(), "fromDate": days[0].isoformat(), "toDate": days[-1].isoformat()},
            "metrics": metrics(sums[period], **shape),
        }
        for period, days in periods.items()
        if period in sums
    ]
    sort = wanted.get("sort", "+fromDate")
    part = "metadata" if sort[1:] == "fromDate" else "metrics"
    rows.sort(key=lambda row: row[part][sort[1:]], reverse=sort[0] == "-")
    return {
        "results": page(rows, wanted, REPORT_PAGE),
        "totalResults": len(rows),
        "summary": metrics(total(sums.values()), **shape),
    }
