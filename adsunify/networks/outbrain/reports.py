"""Figures of Outbrain below the marketer: one report about the campaigns, and one for each campaign about its links."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime

from attrs import evolve, frozen

from adsunify.adapter.account import Account
from adsunify.adapter.entity_reports import (
    EntityReportPage,
    ReportQuery,
    cover_report,
    fetch_part,
    parse_entity_rows,
    read_row_id,
)
from adsunify.adapter.flows import fetch_response
from adsunify.adapter.insights import NO_CAMPAIGNS_NOTE
from adsunify.adapter.reports import parse_date
from adsunify.errors import PermissionRefused, ProviderNotFound, invalid_input
from adsunify.http.messages import Flow, Request, Response
from adsunify.values.dates import split_date_range
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_objects, require_id, require_objects

from . import native as outbrain
from .reads import (
    ALL_CAMPAIGNS_QUERY,
    VIDEO_QUERY,
    build_days_query,
    fetch_campaign_ids,
    fetch_incomplete_day,
)
from .tables import AD, CAMPAIGN, METRICS, NETWORK

PART_DAYS = 90
"""The days of one part of a report. A page has these days of all campaigns, or of all links of one campaign."""
ENTRIES = {CAMPAIGN.kind: "campaignResults", AD.kind: "promotedLinkResults"}
"""The member with the entities of a response, by level. Each entity has its days in ``results``."""
ALL_CAMPAIGNS = ""


@frozen
class _Position:
    """The start of a page.

    Attributes:
        incomplete: the first day whose figures are not complete, as the first page read it.
        owners: the campaign whose links are read next and, for a query with ids, the campaigns after it.
        cursor: the cursor within the report of that campaign.
    """

    incomplete: date | None = None
    owners: tuple[str, ...] = ()
    cursor: str | None = None

    @classmethod
    def parse(cls, text: str | None) -> _Position:
        if text is None:
            return cls()
        match = _match_position(text)
        if match is None:
            raise invalid_input("cursor", "malformed", "must be the nextCursor of the same report, or left out.")
        return cls(parse_date(match[1]), tuple(match[2].split(",")), match[3] or None)

    def __str__(self) -> str:
        return f"{self.incomplete}.{','.join(self.owners)}.{self.cursor or ''}"


_match_position = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})\.([0-9A-Fa-f,]*)\.([0-9]*:[0-9]*|)").fullmatch


def fetch_report_page(
    account: Account, query: ReportQuery, cursor: str | None, job: str | None, now: datetime
) -> Flow[EntityReportPage]:
    """Read a page about all campaigns, or about the links of one; there are no report jobs.

    Days are in US Eastern time.
    """
    position = _Position.parse(cursor)
    owners = [ALL_CAMPAIGNS]
    if query.level.kind == AD.kind:
        owners = yield from _fetch_owners(account, query, position)
    native: list[Mapping[str, Json]] = []
    following = None
    if owners:
        parts = [
            _build_owner_request(account, query, owners[0], first, last)
            for first, last in split_date_range(query.start, query.end, PART_DAYS)
        ]
        response, following = yield from fetch_part(NETWORK, parts, position.cursor, _turn_page, _parse_next_cursor)
        native = _parse_entries(query, response)
    incomplete = position.incomplete or (yield from fetch_incomplete_day(now))
    notes = [metric.note for metric in METRICS if metric.note]
    if not owners and not query.entity_ids:
        notes.append(NO_CAMPAIGNS_NOTE)
    coverage = cover_report(NETWORK, query, outbrain.TIMEZONE, notes).mark_provisional(incomplete)
    days = [day for entry in native for day in _list_days(query, entry, owners[0])]
    rows = parse_entity_rows(query.level, METRICS, days, "/metadata/fromDate")
    remaining = owners[0 if following is not None else 1 :]
    if not remaining:
        return EntityReportPage(rows, coverage, native)
    campaigns = tuple(remaining if query.entity_ids else remaining[:1])
    return EntityReportPage(rows, coverage, native, str(_Position(incomplete, campaigns, following)))


def _fetch_owners(account: Account, query: ReportQuery, position: _Position) -> Flow[list[str]]:
    """Return the campaigns whose links are reported from a position on, in order of their ids."""
    if query.entity_ids and position.owners:
        return list(position.owners)
    ids: Sequence[str] = sorted((yield from fetch_campaign_ids(account, archived=True)))
    if query.entity_ids:
        owner_ids = yield from _fetch_campaigns_of(query.entity_ids)
        return [campaign for campaign in ids if campaign in owner_ids]
    current = position.owners[0] if position.owners else ""
    return [*position.owners[:1], *(campaign for campaign in ids if campaign > current)]


def _fetch_campaigns_of(link_ids: Sequence[str]) -> Flow[set[str]]:
    """Return the campaigns of promoted links. Links that the user cannot read are skipped."""
    campaigns = set()
    for link_id in link_ids:
        try:
            response = yield from fetch_response(NETWORK, outbrain.build_get_request("promotedLinks/{id}", id=link_id))
        except (PermissionRefused, ProviderNotFound):
            continue
        campaigns.add(require_id(response.body, "/campaignId", "promoted link"))
    return campaigns


def _build_owner_request(account: Account, query: ReportQuery, owner: str, first: date, last: date) -> Request:
    days = build_days_query(first, last)
    if owner != ALL_CAMPAIGNS:
        return outbrain.build_get_request(
            "reports/marketers/{marketer}/campaigns/{campaign}/periodicContent",
            {**days, **VIDEO_QUERY},
            marketer=account.native_id,
            campaign=owner,
        )
    # unverified: campaignId takes several ids. The page of the report says so; the common table of parameters says one.
    chosen = {"campaignId": ",".join(query.entity_ids)} if query.entity_ids else {}
    return outbrain.build_get_request(
        "reports/marketers/{marketer}/campaigns/periodic",
        {**days, **chosen, **ALL_CAMPAIGNS_QUERY, **VIDEO_QUERY},
        marketer=account.native_id,
    )


def _turn_page(request: Request, native_cursor: str) -> Request:
    return evolve(request, query={**request.query, "offset": native_cursor})


def _parse_next_cursor(request: Request, response: Response) -> str | None:
    """Return the offset of the next page; None at the end.

    The last page has the last day of each entity. If the limit counts the days of all entities together, a full page
    can lack whole entities.
    """
    # unverified: the limit of a report counts the days of each entity, not those of all entities of a campaign.
    offset, limit = int(request.query["offset"]), int(request.query["limit"])
    entries = [entry for member in ENTRIES.values() for entry in get_objects(response.body, f"/{member}")]
    counts = [len(get_objects(entry, "/results", "report")) for entry in entries]
    totals = [outbrain.parse_total(entry, "/totalResults") or 0 for entry in entries]
    lacks_days = any(offset + count < total for count, total in zip(counts, totals, strict=True))
    return str(offset + limit) if any(counts) and (lacks_days or sum(counts) == limit) else None


def _parse_entries(query: ReportQuery, response: Response) -> list[Mapping[str, Json]]:
    """Return the entities of a response, each with its days. Entities that the query does not name are left out."""
    entries = require_objects(response.body, f"/{ENTRIES[query.level.kind]}", "report")
    if not query.entity_ids:
        return entries
    return [entry for entry in entries if read_row_id(query.level, entry) in query.entity_ids]


def _list_days(query: ReportQuery, entry: Mapping[str, Json], owner: str) -> Iterator[Mapping[str, Json]]:
    """Yield the days of an entity, each with the entity's id and, for a link, the id of its campaign."""
    entity = {name: value for name, value in entry.items() if name != "results"}
    above = {} if owner == ALL_CAMPAIGNS else {"campaignId": owner}
    return ({**day, **entity, **above} for day in get_objects(entry, "/results", "report"))
