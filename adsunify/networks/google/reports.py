"""Figures of Google Ads below the account: one query for each level."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from attrs import evolve

from adsunify.adapter.account import Account
from adsunify.adapter.entity_reports import (
    EntityReportPage,
    ReportQuery,
    cover_report,
    fetch_part,
    parse_entity_rows,
    read_row_id,
)
from adsunify.adapter.network import split_words
from adsunify.adapter.settings import to_account_time
from adsunify.http.messages import Flow, Request, Response
from adsunify.values.json_pointer import get_objects

from . import native as google
from .reads import FIGURE_FIELDS, build_days_condition, list_page_metrics
from .tables import NETWORK

ENTITY_FIELDS = {
    "campaign": split_words("campaign.id campaign.name"),
    "adGroup": split_words("ad_group.id ad_group.name campaign.id"),
    "ad": split_words("ad_group_ad.ad.id ad_group.id"),
}
"""The fields that name the entity and its parents, by level."""


def _build_id_conditions(query: ReportQuery) -> Iterator[str]:
    """Yield the conditions that select the rows of the query's entities. For ads they may select further rows.

    An ad's id is ``<ad group>~<ad>``, and each part has its own condition.
    """
    for number, field in enumerate(_ID_FIELDS[query.level.kind] if query.entity_ids else ()):
        ids = dict.fromkeys(entity_id.split("~")[number] for entity_id in query.entity_ids)
        yield f"{field} IN ({', '.join(ids)})"


_ID_FIELDS = {"campaign": ("campaign.id",), "adGroup": ("ad_group.id",), "ad": ("ad_group.id", "ad_group_ad.ad.id")}


def fetch_report_page(
    account: Account, query: ReportQuery, cursor: str | None, job: str | None, now: datetime
) -> Flow[EntityReportPage]:
    """Read a page of a query over the level's entities, removed entities included; there are no report jobs."""
    conditions = (build_days_condition(query.start, query.end), *_build_id_conditions(query))
    fields = ("segments.date", *ENTITY_FIELDS[query.level.kind], *FIGURE_FIELDS)
    search = google.build_gaql(fields, query.level.native, *conditions, order="segments.date")
    part = google.build_search_request(account, search)
    response, following = yield from fetch_part(NETWORK, [part], cursor, _turn_page, _parse_next_cursor)
    native = get_objects(response.body, "/results")
    if query.entity_ids:
        native = [row for row in native if read_row_id(query.level, row) in query.entity_ids]
    rows = parse_entity_rows(query.level, list_page_metrics(response.body), native, "/segments/date")
    today = (to_account_time(account, now) or now).date()
    coverage = cover_report(NETWORK, query, account.timezone)
    coverage = coverage.mark_provisional(today - timedelta(days=google.RESTATED_DAYS))
    return EntityReportPage(rows, coverage, native, following)


def _turn_page(request: Request, native_cursor: str) -> Request:
    return evolve(request, body={**request.body, "pageToken": native_cursor})


def _parse_next_cursor(request: Request, response: Response) -> str | None:
    return google.parse_next_cursor(response)
