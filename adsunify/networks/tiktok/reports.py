"""Figures of TikTok below the account: the account's report with another data level."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from attrs import evolve, frozen

from adsunify.adapter.account import Account
from adsunify.adapter.entity_reports import EntityReportPage, ReportQuery, cover_report, fetch_part, parse_entity_rows
from adsunify.http.messages import Flow, Request, Response
from adsunify.values.exact_json import Json, dumps

from . import native as tiktok
from .reads import DAY_POINTER, build_report_requests, get_restated_day, parse_day
from .tables import METRICS, NETWORK


@frozen
class _Names:
    """The names of a level in requests. ``attributes``: the metrics that contain an entity's name and parent."""

    dimension: str
    attributes: tuple[str, ...]
    id_filter: str
    status_filter: str


NAMES = {
    "campaign": _Names("campaign_id", ("campaign_name",), "campaign_ids", "campaign_status"),
    "adGroup": _Names("adgroup_id", ("adgroup_name", "campaign_id"), "adgroup_ids", "adgroup_status"),
    "ad": _Names("ad_id_v2", ("ad_name", "adgroup_id"), "ad_ids_v2", "ad_status"),
}
ALL_STATUSES = "STATUS_ALL"  # API for Business: without this filter a report has no deleted entities

THROTTLE_HEADER = "x-tt-ads-throttle"
"""The header that marks a successful response with only the newest 20,000 ads of the account."""
TRUNCATED_NOTE = (
    "TikTok reports the newest 20,000 ads of this account only, so rows are missing. Ask for other ads by their ids."
)
_TRUNCATED = "truncated "
"""The prefix of the cursor after a page that lacks rows. It marks all later pages of the report as incomplete."""


def _build_parts(account: Account, query: ReportQuery) -> list[Request]:
    names = NAMES[query.level.kind]
    filters = [_build_filter(names.id_filter, query.entity_ids)] if query.entity_ids else []
    filters.append(_build_filter(names.status_filter, (ALL_STATUSES,)))
    return build_report_requests(
        *(account, query.start, query.end, query.level.native, names.dimension, names.attributes), filtering=filters
    )


def _build_filter(name: str, values: Iterable[str]) -> dict[str, Json]:
    """Build an entry of ``filtering``. Its value is JSON text inside JSON."""
    return {"field_name": name, "filter_type": "IN", "filter_value": dumps(list(values))}


def fetch_report_page(
    account: Account, query: ReportQuery, cursor: str | None, job: str | None, now: datetime
) -> Flow[EntityReportPage]:
    """Read a page of 30 days or less, with deleted entities; no report task is started."""
    is_truncated = cursor is not None and cursor.startswith(_TRUNCATED)
    if cursor is not None:
        cursor = cursor.removeprefix(_TRUNCATED)
    parts = _build_parts(account, query)
    response, following = yield from fetch_part(NETWORK, parts, cursor, _turn_page, _parse_next_cursor)
    is_truncated = is_truncated or THROTTLE_HEADER in response.headers
    native = tiktok.parse_rows(response)
    rows = parse_entity_rows(query.level, METRICS, native, DAY_POINTER, parse_day)
    coverage = cover_report(NETWORK, query, account.timezone, (TRUNCATED_NOTE,) if is_truncated else ())
    coverage = coverage.mark_provisional(get_restated_day(account, now))
    if is_truncated and following is not None:
        following = _TRUNCATED + following
    return EntityReportPage(rows, evolve(coverage, is_complete=not is_truncated), native, following)


def _turn_page(request: Request, native_cursor: str) -> Request:
    return evolve(request, query={**request.query, "page": native_cursor})


def _parse_next_cursor(request: Request, response: Response) -> str | None:
    page = tiktok.parse_next_page(response)
    return None if page is None else str(page)
