"""Reports: synchronous, by day, week or month of Eastern time."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from adsunify.sandbox.checks import Check, boolean_text, choice, comma_separated, rule_error, text
from adsunify.sandbox.figures import sum_figures
from adsunify.sandbox.instants import iterate_days
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.outbrain import answers
from adsunify.sandbox.networks.outbrain.figures import NO_FIGURES, divide_campaign, find_daily_figures, render_metrics
from adsunify.sandbox.networks.outbrain.tables import (
    DEFAULT_REPORT_PAGE_SIZE,
    MAX_CONTENT_PAGE_SIZE,
    MAX_REPORT_PAGE_SIZE,
    MAX_REPORT_YEARS,
)
from adsunify.sandbox.parsing import InvalidRequest, split_words
from adsunify.sandbox.world import Account, StoredEntity, World

FiguresByDay = dict[date, Mapping[str, Decimal]]

_FLAG_CHECKS: Mapping[str, Check] = dict.fromkeys(
    split_words("conversionsByClickDate includeConversionDetails includeVideoStats includeViewedImpressions"),
    boolean_text,
)
_SELECTION_CHECKS: Mapping[str, Check] = {
    "campaignId": comma_separated(lambda value, where: text(1)(str(value).strip(), where)),
    "budgetId": text(),
    "includeArchivedCampaigns": boolean_text,
    "enabledCampaignsOnly": boolean_text,
}
_DAILY_CHECKS: Mapping[str, Check] = {
    **answers.PAGING.make_checks(MAX_REPORT_PAGE_SIZE),
    **_FLAG_CHECKS,
    "breakdown": choice("daily", "weekly", "monthly"),
}
_PERIODIC_CHECKS: Mapping[str, Check] = {
    **_DAILY_CHECKS,
    **_SELECTION_CHECKS,
    "sort": text(2, None, r"[+-](fromDate|impressions|clicks|spend)"),  # a request must send the plus as %2B
    "promotedLinkId": text(),
}
_CONTENT_CHECKS: Mapping[str, Check] = {
    **answers.PAGING.make_checks(MAX_CONTENT_PAGE_SIZE),
    **_FLAG_CHECKS,
    **_SELECTION_CHECKS,
}
_REQUIRED_CHECKS = {"from": answers.check_date, "to": answers.check_date}
# The first day of the period that contains a day, by breakdown.
_PERIOD_STARTS: Mapping[str, Callable[[date], date]] = {
    "daily": lambda on: on,
    "weekly": lambda on: on - timedelta(days=on.weekday()),
    "monthly": lambda on: on.replace(day=1),
}


def get_periodic_report(request: Request) -> Response:
    """GET /reports/marketers/{marketer}/periodic. `promotedLinkId` takes precedence over campaigns and budgets."""
    query = request.parse_query(_REQUIRED_CHECKS, _PERIODIC_CHECKS)
    account, days, world = _require_marketer(request), _parse_days(query), request.world
    if "promotedLinkId" in query:
        link = _require_entity(request, account, "promotedLink", query["promotedLinkId"])
        campaign = _require_entity(request, account, "campaign", str(link.parent))
        by_day = _map_link_figures(world, campaign, days).get(link.id, {})
    else:
        by_day = _map_campaign_figures(world, _select_campaigns(request, account, query), days)
    rows = _build_rows(account, query, days, by_day)
    sort = query.get("sort", "+fromDate")
    part = "metadata" if sort[1:] == "fromDate" else "metrics"
    rows.sort(key=lambda row: row[part][sort[1:]], reverse=sort[0] == "-")
    summary = _render_metrics(account, query, sum_figures(by_day.values(), NO_FIGURES))
    page = answers.PAGING.slice(rows, query, DEFAULT_REPORT_PAGE_SIZE)
    return answers.build_response(request, {"results": page, "totalResults": len(rows), "summary": summary})


def get_campaigns_report(request: Request) -> Response:
    """GET /reports/marketers/{marketer}/campaigns/periodic: the newest day first; a page has rows of each campaign."""
    query = request.parse_query(_REQUIRED_CHECKS, {**_DAILY_CHECKS, **_SELECTION_CHECKS})
    account, days = _require_marketer(request), _parse_days(query)
    by_id = {
        campaign.id: _map_campaign_figures(request.world, [campaign], days)
        for campaign in _select_campaigns(request, account, query)
    }
    results = _build_entity_results(account, query, days, by_id, "campaignId")
    return answers.build_response(request, {"campaignResults": results, "totalCampaigns": len(results)})


def get_links_report(request: Request) -> Response:
    """GET /reports/marketers/{marketer}/campaigns/{id}/periodicContent.

    The newest day is first. A page has rows of each link: the reference says that `limit` counts the rows of each
    campaign, but its example has a `totalResults` for each link.
    """
    query = request.parse_query(_REQUIRED_CHECKS, {**_DAILY_CHECKS, "enabledCampaignsOnly": boolean_text})
    account, days = _require_marketer(request), _parse_days(query)
    campaign = _require_entity(request, account, "campaign", request.path_parameters["id"])
    by_id = _map_link_figures(request.world, campaign, days)
    results = _build_entity_results(account, query, days, by_id, "promotedLinkId")
    return answers.build_response(request, {"promotedLinkResults": results, "totalPromotedLinks": len(results)})


def get_content_report(request: Request) -> Response:
    """GET /reports/marketers/{marketer}/promotedContent: one row per link for the range, also without delivery."""
    query = request.parse_query(_REQUIRED_CHECKS, _CONTENT_CHECKS)
    account, days, world = _require_marketer(request), _parse_days(query), request.world
    rows, sums = [], []
    for campaign in _select_campaigns(request, account, query):
        by_id = _map_link_figures(world, campaign, days)
        for link in world.list_entities("promotedLink", account.id, campaign.id):
            figures = sum_figures(by_id.get(link.id, {}).values(), NO_FIGURES)
            metadata = {
                "id": link.id,
                "title": link.data["text"],
                "campaignId": campaign.id,
                "campaignName": campaign.data["name"],
                "enabled": link.data["enabled"],
                "creativeFormat": campaign.data["creativeFormat"],
            }
            rows.append({"metadata": metadata, "metrics": _render_metrics(account, query, figures)})
            sums.append(figures)
    summary = _render_metrics(account, query, sum_figures(sums, NO_FIGURES))
    page = answers.PAGING.slice(rows, query, DEFAULT_REPORT_PAGE_SIZE)
    return answers.build_response(request, {"results": page, "totalResults": len(rows), "summary": summary})


def get_full_day(request: Request) -> Response:
    """GET /reports/fullDay: the last complete day, which is yesterday."""
    request.parse_query()
    yesterday = answers.get_eastern_date(request.now) - timedelta(days=1)
    return answers.build_response(
        request, {"fullDayDate": yesterday.isoformat(), "modificationTime": answers.format_instant(request.now)}
    )


def get_data_freshness(request: Request) -> Response:
    """GET /reports/dataFreshness (the shape is our choice): 20 minutes ago."""
    request.parse_query()
    return answers.build_response(
        request, {"lastUpdateTime": answers.format_instant(request.now - timedelta(minutes=20))}
    )


def _require_marketer(request: Request) -> Account:
    return answers.require_account_by_id(request, request.path_parameters["marketer"])


def _require_entity(request: Request, account: Account, kind: str, native_id: str) -> StoredEntity:
    """The marketer's campaign or link. Raises InvalidRequest `absent`, also if another marketer has it (our choice)."""
    entity = request.world.find(kind, native_id, account.id)
    if entity is None:
        raise InvalidRequest("absent", "", f"no such {kind} of this marketer")
    return entity


def _select_campaigns(request: Request, account: Account, query: Mapping[str, Any]) -> list[StoredEntity]:
    """The campaigns of a report.

    By default there are no archived ones, and no paused ones that the request does not name.
    """
    ids = dict.fromkeys(query.get("campaignId", ()))
    named = [_require_entity(request, account, "campaign", native_id) for native_id in ids]
    return [
        campaign
        for campaign in named or request.world.list_entities("campaign", account.id)
        if (named or campaign.data["enabled"] or not query.get("enabledCampaignsOnly", True))
        and (not campaign.data.get("archived") or query.get("includeArchivedCampaigns", False))
        and campaign.parent == query.get("budgetId", campaign.parent)
    ]


def _parse_days(query: Mapping[str, Any]) -> list[date]:
    first, last = date.fromisoformat(query["from"]), date.fromisoformat(query["to"])
    if last < first:
        raise rule_error("/to", "lies before from")
    if (last - first).days > MAX_REPORT_YEARS * 366:
        raise rule_error("/from", f"at most {MAX_REPORT_YEARS} years in one request")
    return list(iterate_days(first, last))


def _map_campaign_figures(world: World, campaigns: Sequence[StoredEntity], days: Sequence[date]) -> FiguresByDay:
    """The sums of the campaigns by day, only of days with data."""
    by_day: FiguresByDay = {}
    for on in days:
        for campaign in campaigns:
            figures = find_daily_figures(world, campaign, on)
            if figures is not None:
                by_day[on] = sum_figures([figures], by_day.get(on))
    return by_day


def _map_link_figures(world: World, campaign: StoredEntity, days: Sequence[date]) -> Mapping[str, FiguresByDay]:
    """The figures of the campaign's links by id and day."""
    links = world.list_entities("promotedLink", campaign.account, campaign.id)
    by_id: dict[str, FiguresByDay] = defaultdict(dict)
    for on in days:
        for native_id, figures in divide_campaign(world, campaign, links, on).items():
            by_id[native_id][on] = figures
    return by_id


def _build_rows(
    account: Account, query: Mapping[str, Any], days: Sequence[date], by_day: FiguresByDay
) -> list[dict[str, Any]]:
    """The rows of the days, weeks or months, oldest first. A period without data has no row."""
    periods: dict[date, list[date]] = defaultdict(list)
    for on in days:
        periods[_PERIOD_STARTS[query.get("breakdown", "daily")](on)].append(on)
    rows = []
    for period in periods.values():
        figures = sum_figures(by_day[on] for on in period if on in by_day)
        if figures:
            first, last = period[0].isoformat(), period[-1].isoformat()
            metadata = {"id": first, "fromDate": first, "toDate": last}
            rows.append({"metadata": metadata, "metrics": _render_metrics(account, query, figures)})
    return rows


def _build_entity_results(
    account: Account, query: Mapping[str, Any], days: Sequence[date], by_id: Mapping[str, FiguresByDay], name: str
) -> list[dict[str, Any]]:
    """The page of rows of each campaign or link; empty pages are left out."""
    results = []
    for native_id, by_day in by_id.items():
        rows = _build_rows(account, query, days, by_day)
        page = answers.PAGING.slice(rows[::-1], query, DEFAULT_REPORT_PAGE_SIZE)
        if page:
            results.append({name: native_id, "results": page, "totalResults": len(rows)})
    return results


def _render_metrics(account: Account, query: Mapping[str, Any], figures: Mapping[str, Decimal]) -> dict[str, Any]:
    return render_metrics(
        figures,
        account.currency,
        video=query.get("includeVideoStats", False),
        viewable=query.get("includeViewedImpressions", False),
    )
