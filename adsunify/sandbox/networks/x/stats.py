"""Analytics: synchronous, by jobs with a gzip file on another host, active entities, reach."""

import gzip
import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any

from adsunify.sandbox.checks import Check, choice, text
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.x import answers
from adsunify.sandbox.networks.x.figures import (
    Figures,
    compute_metrics,
    divide_campaign,
    generate_daily_figures,
    has_run,
    list_local_days,
)
from adsunify.sandbox.networks.x.lists import build_page_response
from adsunify.sandbox.networks.x.tables import DOWNLOAD_HOST, MAX_FILTER_IDS, MAX_JOBS_IN_PROGRESS, METRICS
from adsunify.sandbox.parsing import InvalidRequest, serialize_json
from adsunify.sandbox.world import Account, StoredEntity

Children = Mapping[str, Sequence[StoredEntity]]
_MAX_ENTITY_IDS = 20
_KIND_BY_ENTITY: Mapping[str, str] = {
    "CAMPAIGN": "campaign",
    "LINE_ITEM": "line_item",
    "PROMOTED_TWEET": "promoted_tweet",
}
_ACCOUNT_WIDE_ENTITIES = ("ACCOUNT", "FUNDING_INSTRUMENT", "PROMOTED_ACCOUNT")
# entity=ACCOUNT has neither clicks, spend, video views nor conversions
_ACCOUNT_METRICS = ("impressions", "engagements", "retweets", "replies", "likes", "follows")
_ID_CHECK: Check = text(pattern="[0-9a-z]+")
_RANGE_CHECKS: dict[str, Check] = {"start_time": answers.check_instant, "end_time": answers.check_instant}
_STATS_CHECKS: dict[str, Check] = {
    "entity": choice(*_KIND_BY_ENTITY, *_ACCOUNT_WIDE_ENTITIES),
    "entity_ids": answers.comma_separated(_ID_CHECK, _MAX_ENTITY_IDS),
    **_RANGE_CHECKS,
    "granularity": choice("DAY", "HOUR", "TOTAL"),
    "placement": choice("ALL_ON_TWITTER", "SPOTLIGHT", "TREND"),
    "metric_groups": answers.comma_separated(choice(*METRICS), len(METRICS)),
}
_EXCLUSIVE_METRIC_GROUPS = ("WEB_CONVERSION", "MOBILE_CONVERSION", "LIFE_TIME_VALUE_MOBILE_CONVERSION")
_SEGMENT_CHECKS: dict[str, Check] = {
    "segmentation_type": text(pattern="[A-Z_]+"),
    "country": text(),
    "platform": text(),
}
_JOB_KIND = "stats_job"
_MAX_JOB_DAYS, _MAX_SEGMENTED_DAYS = 90, 45
_LINK_LIFETIME = timedelta(days=2)
_FIRST_JOB_ID = 1_490_000_000_000_000_000  # job ids are over 2^53, as JSON integers and as text


def get_stats(request: Request) -> Response:
    """`GET /12/stats/accounts/:a`: at most 7 days."""
    account, query = answers.require_account(request), answers.parse_parameters(request, _STATS_CHECKS)
    _check_request(request, account, query, 7)
    body = _build_report(request, account, query)
    return Response(200, body, answers.VERSION_HEADERS)


def create_job(request: Request) -> Response:
    """`POST /12/stats/jobs/accounts/:a`: at most 90 days, 45 with segments."""
    account, query = answers.require_account(request), answers.parse_parameters(request, _STATS_CHECKS, _SEGMENT_CHECKS)
    _check_request(request, account, query, _MAX_SEGMENTED_DAYS if "segmentation_type" in query else _MAX_JOB_DAYS)
    jobs = request.world.list_entities(_JOB_KIND)
    if sum(job.account == account.id and job.data["looks"] < 2 for job in jobs) >= MAX_JOBS_IN_PROGRESS:
        raise InvalidRequest("TOO_MANY_REQUESTS", "", f"at most {MAX_JOBS_IN_PROGRESS} jobs in progress")
    job_id = str(_FIRST_JOB_ID + 137 * len(jobs) + 1)
    job = request.world.create(_JOB_KIND, account.id, {"asked": query, "looks": 0}, id=job_id, logged=False)
    return answers.build_response(request, _render_job(job, "PROCESSING"))


def list_jobs(request: Request) -> Response:
    """`GET /12/stats/jobs/accounts/:a`: a job is done at the second poll. The cursor has no meaning."""
    world, account = request.world, answers.require_account(request)
    job_ids = dict(request.query_pairs).get("job_ids")
    rows = []
    for job in world.list_entities(_JOB_KIND, account.id):
        if job_ids is None or job.id in job_ids.split(","):
            looked = world.replace(job, {**job.data, "looks": job.data["looks"] + 1}, logged=False)
            rows.append(_render_job(looked, "PROCESSING" if looked.data["looks"] < 2 else "SUCCESS"))
    page = build_page_response(
        request, rows, {}, optional={"job_ids": answers.comma_separated(text(pattern="[0-9]+"), MAX_FILTER_IDS)}
    )
    # X may send a cursor although the response has all requested jobs
    return Response(200, {**page.body, "next_cursor": page.body["next_cursor"] or "c-2gkd4"}, answers.VERSION_HEADERS)


def download_report(request: Request) -> Response:
    """The file of a job on the download host: without credentials, and only until the link expires."""
    if "Authorization" in request.headers:
        return Response(400, b"<html><body>Bad Request</body></html>", media_type="text/html")
    job = next(
        (
            candidate
            for candidate in request.world.list_entities(_JOB_KIND)
            if _get_file_name(candidate) == request.path_parameters["file"]
        ),
        None,
    )
    if job is None or job.data["looks"] < 2 or request.now > job.created_at + _LINK_LIFETIME or request.raw_query:
        return Response(404, b"<html><body>Not Found</body></html>", media_type="text/html")
    account = request.find_account(job.account)
    assert account is not None  # jobs exist for accounts only
    content = gzip.compress(serialize_json(_build_report(request, account, job.data["asked"])).encode(), mtime=0)
    return Response(200, content, media_type="application/gzip")


def list_active_entities(request: Request) -> Response:
    """`GET /12/stats/accounts/:a/active_entities`: entities with activity within at most 90 days."""
    account = answers.require_account(request)
    ids = dict.fromkeys(
        ("campaign_ids", "funding_instrument_ids", "line_item_ids"), answers.comma_separated(_ID_CHECK, MAX_FILTER_IDS)
    )
    query = answers.parse_parameters(
        request, {"entity": choice(*_KIND_BY_ENTITY, "FUNDING_INSTRUMENT", "PROMOTED_ACCOUNT"), **_RANGE_CHECKS}, ids
    )
    filter_names = [name for name in ids if name in query]
    if len(filter_names) > 1:
        raise InvalidRequest("value", filter_names[1], "only one filter is allowed", ",".join(query[filter_names[1]]))
    start, end = _parse_time_range(query, _MAX_JOB_DAYS)
    zone = account.zone
    days = list_local_days(start, _get_utc_offset(request, account), max((end - start).days, 1) + 1)
    children = _list_children(request, account)
    rows = []
    for entity in request.world.list_entities(_KIND_BY_ENTITY.get(query["entity"], "none"), account.id):
        campaign = _require_campaign(request, entity)
        if not all(_matches_filter(entity, campaign, children, name, query[name]) for name in filter_names):
            continue
        active_days = [day for day in days if _list_figures(request, account, entity, campaign, children, day)]
        if active_days:
            first, last = (
                datetime(day.year, day.month, day.day, tzinfo=zone) for day in (active_days[0], active_days[-1])
            )
            rows.append(
                {
                    "entity_id": entity.id,
                    "activity_start_time": answers.format_instant(max(first, start)),
                    "activity_end_time": answers.format_instant(min(last + timedelta(days=1), end)),
                    "placements": ["ALL_ON_TWITTER"],
                }
            )
    return answers.build_response(request, rows)


def _matches_filter(
    entity: StoredEntity, campaign: StoredEntity, children: Children, name: str, ids: list[str]
) -> bool:
    """Whether the filter has the entity or an ancestor of it. A campaign matches its line items, too (our choice)."""
    if name == "funding_instrument_ids":
        return campaign.data["funding_instrument_id"] in ids
    if name == "campaign_ids":
        return campaign.id in ids
    of_campaign = [item.id for item in children.get(campaign.id, ())] if entity.kind == "campaign" else []
    return not {entity.id, entity.parent, *of_campaign}.isdisjoint(ids)


def get_reach(request: Request) -> Response:
    """`GET /12/stats/accounts/:a/reach/campaigns`: the reach of the whole period, which is not a sum of days."""
    account = answers.require_account(request)
    query = answers.parse_parameters(
        request, {"campaign_ids": answers.comma_separated(_ID_CHECK, _MAX_ENTITY_IDS), **_RANGE_CHECKS}
    )
    start, end = _parse_time_range(query, _MAX_JOB_DAYS)
    days = list_local_days(start, _get_utc_offset(request, account), (end - start).days)
    rows = []
    for campaign_id in query["campaign_ids"]:
        campaign = _require_entity(request, account, "campaign", campaign_id, "campaign_ids")
        impressions = sum(
            figures["impressions"] for figures in _list_campaign_figures(request, account, campaign, days)
        )
        rows.append({"id": campaign.id, "total_audience_reach": impressions * 6 // 10, "average_frequency": "1.67"})
    return answers.build_response(request, rows)


# -- ranges -------------------------------------------------------------------------------------------------------


def _parse_time_range(query: answers.Data, most_days: int) -> tuple[datetime, datetime]:
    start, end = answers.parse_instant(query["start_time"]), answers.parse_instant(query["end_time"])
    for name, instant in (("start_time", start), ("end_time", end)):
        if instant.minute or instant.second:
            raise InvalidRequest("value", name, "must be a whole hour", query[name])
    if end <= start:
        raise InvalidRequest("INVALID_TIME_WINDOW", "end_time", "must be after start_time", query["end_time"])
    if end - start > timedelta(days=most_days):
        raise InvalidRequest("INVALID_TIME_WINDOW", "end_time", f"at most {most_days} days", query["end_time"])
    return start, end


def _check_request(request: Request, account: Account, query: answers.Data, most_days: int) -> None:
    start, end = _parse_time_range(query, most_days)
    offset = _get_utc_offset(request, account)
    for name, instant in (("start_time", start), ("end_time", end)):
        local = instant + offset
        if query["granularity"] == "DAY" and local.hour:  # not midnight in today's UTC offset
            raise InvalidRequest("value", name, f"must be midnight in {account.timezone}", query[name])
    groups = query["metric_groups"]
    if len(groups) > 1 and (
        own := next((metric_group for metric_group in groups if metric_group in _EXCLUSIVE_METRIC_GROUPS), None)
    ):
        raise InvalidRequest("value", "metric_groups", f"{own} is asked for in a request of its own", ",".join(groups))
    for entity_id in query["entity_ids"]:
        if query["entity"] in _KIND_BY_ENTITY:
            _require_entity(request, account, _KIND_BY_ENTITY[query["entity"]], entity_id, "entity_ids")
        elif query["entity"] == "ACCOUNT" and entity_id != account.id:
            raise InvalidRequest("value", "entity_ids", "is not the account of the path", entity_id)


def _get_utc_offset(request: Request, account: Account) -> timedelta:
    """The account's UTC offset of today, which X applies to all days of a request."""
    offset = request.now.astimezone(account.zone).utcoffset()
    assert offset is not None  # an aware instant has an offset
    return offset


def _require_entity(request: Request, account: Account, kind: str, entity_id: str, where: str) -> StoredEntity:
    """The entity with this id. It may be deleted, because deleted entities have figures, too."""
    entity = request.world.find(kind, entity_id, account.id)
    if entity is None:
        raise InvalidRequest(f"{kind.upper()}_NOT_FOUND", where, f"no such {kind}", entity_id)
    return entity


# -- reports ------------------------------------------------------------------------------------------------------


def _build_report(request: Request, account: Account, query: answers.Data) -> answers.Data:
    start, end = answers.parse_instant(query["start_time"]), answers.parse_instant(query["end_time"])
    days = list_local_days(start, _get_utc_offset(request, account), max(-(-(end - start) // timedelta(days=1)), 1))
    hours = int((end - start) / timedelta(hours=1))
    length = {"DAY": len(days), "TOTAL": 1, "HOUR": hours}[query["granularity"]]
    children = _list_children(request, account)
    rows = []
    for entity_id in query["entity_ids"]:
        series = [_list_entity_figures(request, account, query, entity_id, children, day) for day in days]
        if query["granularity"] == "TOTAL":
            series = [[slot_figures for slot in series for slot_figures in slot]]
        elif query["granularity"] == "HOUR":  # the first hour has all figures of a day (our choice)
            series = [series[hour // 24] if hour % 24 == 0 else [] for hour in range(hours)]
        metrics = compute_metrics(query["metric_groups"], series)
        rows.append({"id": entity_id, "id_data": [{"segment": None, "metrics": metrics}]})
    return {
        "data_type": "stats",
        "time_series_length": length,
        "data": rows,
        "request": {"params": {"account_id": account.id, **query, "segmentation_type": None}},
    }


def _list_entity_figures(
    request: Request, account: Account, query: answers.Data, entity_id: str, children: Children, day: date
) -> list[Figures]:
    """The figures of an entity. Placements other than X itself do not serve these posts."""
    if query["placement"] != "ALL_ON_TWITTER":
        return []
    if query["entity"] in _KIND_BY_ENTITY:
        entity = request.world.find(_KIND_BY_ENTITY[query["entity"]], entity_id, account.id)
        assert entity is not None  # checked when the job was created
        return _list_figures(request, account, entity, _require_campaign(request, entity), children, day)
    every = [
        (campaign, figures)
        for campaign in request.world.list_entities("campaign", account.id)
        for figures in _list_campaign_figures(request, account, campaign, [day])
    ]
    match query["entity"]:
        case "ACCOUNT":
            return [{name: figures[name] for name in _ACCOUNT_METRICS} for _, figures in every]
        case "FUNDING_INSTRUMENT":
            return [figures for campaign, figures in every if campaign.data["funding_instrument_id"] == entity_id]
    return []  # there are no promoted accounts here


def _list_figures(
    request: Request, account: Account, entity: StoredEntity, campaign: StoredEntity, children: Children, day: date
) -> list[Figures]:
    """The figures of a campaign, a line item or a promoted post on a day; empty if it did not serve."""
    every = _list_campaign_figures(request, account, campaign, [day])
    if entity.kind == "campaign":
        return every
    items, today = children.get(campaign.id, ()), request.get_local_date(account)
    share = divide_campaign(items, children, day, account.zone, today).get(entity.id)
    return [] if share is None else [share.get_figures(campaign, whole) for whole in every]


def _list_children(request: Request, account: Account) -> Children:
    """The line items by the id of their campaign, and the promoted posts by the id of their line item."""
    children: dict[str, list[StoredEntity]] = defaultdict(list)
    for kind in ("line_item", "promoted_tweet"):
        for entity in request.world.list_entities(kind, account.id):
            children[str(entity.parent)].append(entity)
    return children


def _list_campaign_figures(
    request: Request, account: Account, campaign: StoredEntity, days: list[date]
) -> list[Figures]:
    zone, today = account.zone, request.get_local_date(account)
    delivering = filter(request.world.delivers, days)
    return [generate_daily_figures(campaign, day) for day in delivering if has_run(campaign, day, zone, today)]


def _require_campaign(request: Request, entity: StoredEntity) -> StoredEntity:
    """The campaign of an entity."""
    while entity.kind != "campaign":
        kind = "line_item" if entity.kind == "promoted_tweet" else "campaign"
        above = request.world.find(kind, entity.parent or "", entity.account)
        assert above is not None  # parents are never removed, only marked as deleted
        entity = above
    return entity


# -- jobs ---------------------------------------------------------------------------------------------------------


def _render_job(job: StoredEntity, status: str) -> answers.Data:
    query: Any = job.data["asked"]
    is_done = status == "SUCCESS"
    return {
        "id": int(job.id),
        "id_str": job.id,
        "account_id": job.account,
        "status": status,
        "url": f"https://{DOWNLOAD_HOST}/advertiser-api-async-analytics/{_get_file_name(job)}.json.gz"
        if is_done
        else None,
        "expires_at": answers.format_instant(job.created_at + _LINK_LIFETIME) if is_done else None,
        **{name: query.get(name) for name in (*_STATS_CHECKS, *_SEGMENT_CHECKS)},
        "created_at": answers.format_instant(job.created_at),
        "updated_at": answers.format_instant(job.updated_at),
    }


def _get_file_name(job: StoredEntity) -> str:
    return hashlib.sha256(f"{job.account} {job.id}".encode()).hexdigest()[:40]
