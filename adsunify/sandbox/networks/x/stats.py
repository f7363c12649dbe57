"""Analytics: synchronous, by jobs with a gzip file on a foreign host, active entities, reach."""

import gzip
import hashlib
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from adsunify.sandbox.framework import (
    Account,
    Answer,
    Check,
    Entity,
    Problem,
    Request,
    choice,
    text,
    write_json,
)
from adsunify.sandbox.networks.x.answers import (
    VERSION,
    Data,
    account_of,
    answered,
    given,
    many,
    moment,
    read_moment,
    written,
)
from adsunify.sandbox.networks.x.figures import Figures, figures, metrics, midnights, ran
from adsunify.sandbox.networks.x.lists import listed
from adsunify.sandbox.networks.x.tables import DOWNLOAD_HOST, IDS, JOBS_IN_PROGRESS, METRICS

_ENTITY_IDS = 20
_KINDS: Mapping[str, str] = {"CAMPAIGN": "campaign", "LINE_ITEM": "line_item", "PROMOTED_TWEET": "promoted_tweet"}
_WHOLE = ("ACCOUNT", "FUNDING_INSTRUMENT", "PROMOTED_ACCOUNT")
_ID: Check = text(pattern="[0-9a-z]+")
_RANGE: dict[str, Check] = {"start_time": moment, "end_time": moment}
_ASKED: dict[str, Check] = {
    "entity": choice(*_KINDS, *_WHOLE),
    "entity_ids": many(_ID, _ENTITY_IDS),
    **_RANGE,
    "granularity": choice("DAY", "HOUR", "TOTAL"),
    "placement": choice("ALL_ON_TWITTER", "SPOTLIGHT", "TREND"),
    "metric_groups": many(choice(*METRICS), len(METRICS)),
}
_ALONE = ("WEB_CONVERSION", "MOBILE_CONVERSION", "LIFE_TIME_VALUE_MOBILE_CONVERSION")
_SEGMENTS: dict[str, Check] = {
    "segmentation_type": text(pattern="[A-Z_]+"), "country": text(), "platform": text(),
}  # fmt: skip
_JOB = "stats_job"
_JOB_DAYS, _SEGMENTED_DAYS = 90, 45
_LINK_LIFE = timedelta(days=2)
_FIRST_JOB = 1_490_000_000_000_000_000  # job ids are over 2^53, as JSON integers and as text


def stats(request: Request) -> Answer:
    """`GET /12/stats/accounts/:a`: at most 7 days."""
    account, asked = account_of(request), given(request, _ASKED)
    _check(request, account, asked, 7)
    body = _report(request, account, asked)
    return Answer(200, body, VERSION)


def create_job(request: Request) -> Answer:
    """`POST /12/stats/jobs/accounts/:a`: at most 90 days, 45 with segments."""
    account, asked = account_of(request), given(request, _ASKED, _SEGMENTS)
    _check(request, account, asked, _SEGMENTED_DAYS if "segmentation_type" in asked else _JOB_DAYS)
    jobs = request.world.entities(_JOB)
    if sum(job.account == account.id and job.data["looks"] < 2 for job in jobs) >= JOBS_IN_PROGRESS:
        raise Problem("TOO_MANY_REQUESTS", "", f"at most {JOBS_IN_PROGRESS} jobs in progress")
    job_id = str(_FIRST_JOB + 137 * len(jobs) + 1)
    job = request.world.create(_JOB, account.id, {"asked": asked, "looks": 0}, id=job_id, logged=False)
    return answered(request, _job_view(job, "PROCESSING"))


def jobs(request: Request) -> Answer:
    """`GET /12/stats/jobs/accounts/:a`: the second look at a job finds it done. A cursor says nothing here."""
    world, account = request.world, account_of(request)
    wanted = dict(request.pairs).get("job_ids")
    rows = []
    for job in world.entities(_JOB, account.id):
        if wanted is None or job.id in wanted.split(","):
            looked = world.put(job, {**job.data, "looks": job.data["looks"] + 1}, logged=False)
            rows.append(_job_view(looked, "PROCESSING" if looked.data["looks"] < 2 else "SUCCESS"))
    page = listed(request, rows, {}, optional={"job_ids": many(text(pattern="[0-9]+"), IDS)})
    # may be set although all asked jobs are there
    return Answer(200, {**page.body, "next_cursor": page.body["next_cursor"] or "c-2gkd4"}, VERSION)


def download(request: Request) -> Answer:
    """The file of a job, on the foreign host: no credentials there, and only while the link lives."""
    if "Authorization" in request.headers:
        return Answer(400, b"<html><body>Bad Request</body></html>", media_type="text/html")
    job = next((one for one in request.world.entities(_JOB) if _file(one) == request.slots["file"]), None)
    if job is None or job.data["looks"] < 2 or request.now > job.created_at + _LINK_LIFE or request.raw_query:
        return Answer(404, b"<html><body>Not Found</body></html>", media_type="text/html")
    account = request.account(job.account)
    assert account is not None  # jobs are made for accounts only
    content = gzip.compress(write_json(_report(request, account, job.data["asked"])).encode(), mtime=0)
    return Answer(200, content, media_type="application/gzip")


def active(request: Request) -> Answer:
    """`GET /12/stats/accounts/:a/active_entities`: what had activity, within at most 90 days."""
    account = account_of(request)
    ids = dict.fromkeys(("campaign_ids", "funding_instrument_ids", "line_item_ids"), many(_ID, IDS))
    asked = given(request, {"entity": choice(*_KINDS, "FUNDING_INSTRUMENT", "PROMOTED_ACCOUNT"), **_RANGE}, ids)
    start, end = _hours(asked, _JOB_DAYS)
    zone = ZoneInfo(account.timezone)
    days = midnights(start, _offset(request, account), max((end - start).days, 1) + 1)
    rows = []
    for one in request.world.entities(_KINDS.get(asked["entity"], "none"), account.id):
        campaign = _campaign(request, one)
        if not {one.id, campaign.id} & set(asked.get("campaign_ids", [campaign.id])):
            continue
        today = _today(request, account)
        active_days = [day for day in days if request.world.delivers(day) and ran(campaign, day, zone, today)]
        if active_days:
            first, last = (
                datetime(day.year, day.month, day.day, tzinfo=zone) for day in (active_days[0], active_days[-1])
            )
            rows.append({"entity_id": one.id, "activity_start_time": written(max(first, start)),
                         "activity_end_time": written(min(last + timedelta(days=1), end)),
                         "placements": ["ALL_ON_TWITTER"]})  # fmt: skip
    return answered(request, rows)


def reach(request: Request) -> Answer:
    """`GET /12/stats/accounts/:a/reach/campaigns`: of the whole period, not additive."""
    account = account_of(request)
    asked = given(request, {"campaign_ids": many(_ID, _ENTITY_IDS), **_RANGE})
    start, end = _hours(asked, _JOB_DAYS)
    days = midnights(start, _offset(request, account), (end - start).days)
    rows = []
    for campaign_id in asked["campaign_ids"]:
        campaign = _found(request, account, "campaign", campaign_id, "campaign_ids")
        seen = sum(one["impressions"] for one in _of(request, account, campaign, days))
        rows.append({"id": campaign.id, "total_audience_reach": seen * 6 // 10, "average_frequency": "1.67"})
    return answered(request, rows)


# -- ranges -------------------------------------------------------------------------------------------------------


def _hours(asked: Data, most_days: int) -> tuple[datetime, datetime]:
    start, end = read_moment(asked["start_time"]), read_moment(asked["end_time"])
    for name, instant in (("start_time", start), ("end_time", end)):
        if instant.minute or instant.second:
            raise Problem("value", name, "must be a whole hour", asked[name])
    if end <= start:
        raise Problem("INVALID_TIME_WINDOW", "end_time", "must be after start_time", asked["end_time"])
    if end - start > timedelta(days=most_days):
        raise Problem("INVALID_TIME_WINDOW", "end_time", f"at most {most_days} days", asked["end_time"])
    return start, end


def _check(request: Request, account: Account, asked: Data, most_days: int) -> None:
    start, end = _hours(asked, most_days)
    offset = _offset(request, account)
    for name, instant in (("start_time", start), ("end_time", end)):
        local = instant + offset
        if asked["granularity"] == "DAY" and local.hour:  # with today's offset, whatever the day's own was
            raise Problem("value", name, f"must be midnight in {account.timezone}", asked[name])
    groups = asked["metric_groups"]
    if len(groups) > 1 and (own := next((one for one in groups if one in _ALONE), None)):
        raise Problem("value", "metric_groups", f"{own} is asked for in a request of its own", ",".join(groups))
    for entity_id in asked["entity_ids"]:
        if asked["entity"] in _KINDS:
            _found(request, account, _KINDS[asked["entity"]], entity_id, "entity_ids")


def _offset(request: Request, account: Account) -> timedelta:
    """The account's distance from UTC today, which X applies to all days of a request."""
    offset = request.now.astimezone(ZoneInfo(account.timezone)).utcoffset()
    assert offset is not None  # an aware instant
    return offset


def _today(request: Request, account: Account) -> date:
    return request.now.astimezone(ZoneInfo(account.timezone)).date()


def _found(request: Request, account: Account, kind: str, entity_id: str, where: str) -> Entity:
    """Deleted ones have figures, too."""
    found = request.world.find(kind, entity_id, account.id)
    if found is None:
        raise Problem(f"{kind.upper()}_NOT_FOUND", where, f"no such {kind}", entity_id)
    return found


# -- reports ------------------------------------------------------------------------------------------------------


def _report(request: Request, account: Account, asked: Data) -> Data:
    start, end = read_moment(asked["start_time"]), read_moment(asked["end_time"])
    days = midnights(start, _offset(request, account), max(-(-(end - start) // timedelta(days=1)), 1))
    hours = int((end - start) / timedelta(hours=1))
    length = {"DAY": len(days), "TOTAL": 1, "HOUR": hours}[asked["granularity"]]
    rows = []
    for entity_id in asked["entity_ids"]:
        series = [_figures(request, account, asked, entity_id, day) for day in days]
        if asked["granularity"] == "TOTAL":
            series = [[one for slot in series for one in slot]]
        elif asked["granularity"] == "HOUR":  # all of a day stands in its first hour (our choice)
            series = [series[hour // 24] if hour % 24 == 0 else [] for hour in range(hours)]
        shown = metrics(asked["metric_groups"], series)
        rows.append({"id": entity_id, "id_data": [{"segment": None, "metrics": shown}]})
    return {
        "data_type": "stats",
        "time_series_length": length,
        "data": rows,
        "request": {"params": {"account_id": account.id, **asked, "segmentation_type": None}},
    }


def _figures(request: Request, account: Account, asked: Data, entity_id: str, day: date) -> list[Figures]:
    """The figures of all that an entity stands for. Other placements than X itself serve none of these posts."""
    if asked["placement"] != "ALL_ON_TWITTER":
        return []
    kind = _KINDS.get(asked["entity"])
    if kind is None:
        every = request.world.entities("campaign", account.id)
        return [one for campaign in every for one in _of(request, account, campaign, [day])]
    found = request.world.find(kind, entity_id, account.id)
    assert found is not None  # checked when it was asked for
    return _of(request, account, _campaign(request, found), [day])


def _of(request: Request, account: Account, campaign: Entity, days: list[date]) -> list[Figures]:
    zone, today = ZoneInfo(account.timezone), _today(request, account)
    delivering = filter(request.world.delivers, days)
    return [figures(campaign, day) for day in delivering if ran(campaign, day, zone, today)]


def _campaign(request: Request, entity: Entity) -> Entity:
    """The campaign an entity hangs under; each has one line item and post that matter here."""
    while entity.kind != "campaign":
        kind = "line_item" if entity.kind == "promoted_tweet" else "campaign"
        above = request.world.find(kind, entity.parent or "", entity.account)
        assert above is not None  # parents are only ever marked as deleted
        entity = above
    return entity


# -- jobs ---------------------------------------------------------------------------------------------------------


def _job_view(job: Entity, status: str) -> Data:
    asked: Any = job.data["asked"]
    done = status == "SUCCESS"
    return {
        "id": int(job.id),
        "id_str": job.id,
        "account_id": job.account,
        "status": status,
        "url": f"https://{DOWNLOAD_HOST}/advertiser-api-async-analytics/{_file(job)}.json.gz" if done else None,
        "expires_at": written(job.created_at + _LINK_LIFE) if done else None,
        **{name: asked.get(name) for name in (*_ASKED, *_SEGMENTS)},
        "created_at": written(job.created_at),
        "updated_at": written(job.updated_at),
    }


def _file(job: Entity) -> str:
    return hashlib.sha256(f"{job.account} {job.id}".encode()).hexdigest()[:40]
