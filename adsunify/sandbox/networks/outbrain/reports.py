"""Reports: synchronous, by day, week or month of Eastern time."""

from collections.abc import Callable, Mapping
from datetime import date, timedelta
from typing import Any

from adsunify.sandbox.checks import Check, boolean_text, choice, rule_error, text
from adsunify.sandbox.figures import sum_figures
from adsunify.sandbox.instants import iterate_days
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.outbrain import answers
from adsunify.sandbox.networks.outbrain.figures import NO_FIGURES, find_daily_figures, render_metrics
from adsunify.sandbox.networks.outbrain.tables import DEFAULT_REPORT_PAGE_SIZE, MAX_REPORT_PAGE_SIZE, MAX_REPORT_YEARS
from adsunify.sandbox.parsing import split_words
from adsunify.sandbox.world import Account, StoredEntity

_SORT_CHECK = text(2, None, r"[+-](fromDate|impressions|clicks|spend)")  # a request must send the plus as %2B
_PARAMETER_CHECKS: Mapping[str, Check] = {
    **answers.PAGING.make_checks(MAX_REPORT_PAGE_SIZE),
    "breakdown": choice("daily", "weekly", "monthly"),
    "sort": _SORT_CHECK,
    "campaignId": text(),
    "budgetId": text(),
    **dict.fromkeys(
        split_words("""
            includeArchivedCampaigns enabledCampaignsOnly conversionsByClickDate includeConversionDetails
            includeVideoStats includeViewedImpressions
        """),
        boolean_text,
    ),
}
_REQUIRED_CHECKS = {"from": answers.check_date, "to": answers.check_date}
# The first day of the period that a day lies in.
_PERIOD_STARTS: Mapping[str, Callable[[date], date]] = {
    "daily": lambda on: on,
    "weekly": lambda on: on - timedelta(days=on.weekday()),
    "monthly": lambda on: on.replace(day=1),
}


def get_periodic_report(request: Request) -> Response:
    """GET /reports/marketers/{marketer}/periodic."""
    query = request.parse_query(_REQUIRED_CHECKS, _PARAMETER_CHECKS)
    account = answers.require_account_by_id(request, request.path_parameters["marketer"])
    campaigns = _select_campaigns(request, account, query)
    return answers.build_response(request, _build_results(request, account, campaigns, query))


def get_campaigns_report(request: Request) -> Response:
    """GET /reports/marketers/{marketer}/campaigns/periodic: the same for each campaign (known from clients only)."""
    query = request.parse_query(_REQUIRED_CHECKS, _PARAMETER_CHECKS)
    account = answers.require_account_by_id(request, request.path_parameters["marketer"])
    rows = []
    for campaign in _select_campaigns(request, account, query):
        results = _build_results(request, account, [campaign], query)
        rows.append({"campaignId": campaign.id, "results": results["results"], "totalResults": results["totalResults"]})
    return answers.build_response(request, {"campaignResults": rows, "totalCampaigns": len(rows)})


def get_full_day(request: Request) -> Response:
    """GET /reports/fullDay: yesterday."""
    request.parse_query()
    yesterday = answers.get_eastern_date(request.now) - timedelta(days=1)
    return answers.build_response(
        request, {"fullDayDate": yesterday.isoformat(), "modificationTime": answers.format_instant(request.now)}
    )


def get_data_freshness(request: Request) -> Response:
    """GET /reports/dataFreshness (the shape is chosen): 20 minutes ago."""
    request.parse_query()
    return answers.build_response(
        request, {"lastUpdateTime": answers.format_instant(request.now - timedelta(minutes=20))}
    )


def _select_campaigns(request: Request, account: Account, query: Mapping[str, Any]) -> list[StoredEntity]:
    """The campaigns of a report: by default neither paused nor archived ones."""
    return [
        campaign
        for campaign in request.world.list_entities("campaign", account.id)
        if (campaign.data["enabled"] or not query.get("enabledCampaignsOnly", True))
        and (not campaign.data.get("archived") or query.get("includeArchivedCampaigns", False))
        and campaign.id == query.get("campaignId", campaign.id)
        and campaign.parent == query.get("budgetId", campaign.parent)
    ]


def _build_results(
    request: Request, account: Account, campaigns: list[StoredEntity], query: Mapping[str, Any]
) -> dict[str, Any]:
    first, last = date.fromisoformat(query["from"]), date.fromisoformat(query["to"])
    if last < first:
        raise rule_error("/to", "lies before from")
    if (last - first).days > MAX_REPORT_YEARS * 366:
        raise rule_error("/from", f"at most {MAX_REPORT_YEARS} years in one request")
    start = _PERIOD_STARTS[query.get("breakdown", "daily")]
    shape = {
        "currency": account.currency,
        "video": query.get("includeVideoStats", False),
        "viewable": query.get("includeViewedImpressions", False),
    }
    periods: dict[date, list[date]] = {}
    for on in iterate_days(first, last):
        periods.setdefault(start(on), []).append(on)
    sums = {}
    for period, days in periods.items():
        some = [
            daily_figures
            for on in days
            for campaign in campaigns
            if (daily_figures := find_daily_figures(request.world, campaign, on))
        ]
        if some:  # a period without data has no row
            sums[period] = sum_figures(some)
    rows = [
        {
            "metadata": {"id": days[0].isoformat(), "fromDate": days[0].isoformat(), "toDate": days[-1].isoformat()},
            "metrics": render_metrics(sums[period], **shape),
        }
        for period, days in periods.items()
        if period in sums
    ]
    sort = query.get("sort", "+fromDate")
    part = "metadata" if sort[1:] == "fromDate" else "metrics"
    rows.sort(key=lambda row: row[part][sort[1:]], reverse=sort[0] == "-")
    return {
        "results": answers.PAGING.slice(rows, query, DEFAULT_REPORT_PAGE_SIZE),
        "totalResults": len(rows),
        "summary": render_metrics(sum_figures(sums.values(), NO_FIGURES), **shape),
    }
