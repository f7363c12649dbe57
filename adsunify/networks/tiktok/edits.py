"""What an edit of a TikTok campaign, ad group or ad becomes natively, held against what the entity is now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from datetime import datetime
from decimal import Decimal

from adsunify.editing import Edit, edited
from adsunify.errors import InvalidInput, Issue
from adsunify.network import Account, is_number, words
from adsunify.reading import Entity
from adsunify.steps import Change, Kind
from adsunify.wire import Flow, Json, parts, put, read

from . import native as tiktok
from .lookups import suggested, usable
from .settings import period_of
from .tables import NETWORK, budget_issues, days_of
from .targeting import retargeted

Body = dict[str, Json]
CREATIVE = {"existingId": "existingId", "body": "body", "url": "url"}
"""Members of an edit's ``creative`` that are fields of an ad."""

# What the Smart+ endpoints let an update change; the manual ones take every field of SETTINGS.
SMART_NAMES: Mapping[Kind, frozenset[str]] = {
    "campaign": frozenset(words("campaign_name budget")),
    "adGroup": frozenset(
        words(
            "adgroup_name bid_price budget conversion_bid_price dayparting pacing schedule_end_time"
            " schedule_start_time schedule_type targeting_spec"
        )
    ),
    "ad": frozenset(words("ad_name ad_text_list call_to_action_list creative_list landing_page_url_list")),
}


def changed(
    account: Account, kind: Kind, found: Entity, flow: tiktok.Create, edit: Edit, now: datetime | None
) -> Flow[tuple[Body, tuple[Change, ...]]]:
    """The changed native members and each change in words. Raises InvalidInput with all issues."""
    issues: list[Issue] = []
    body: Body = {}
    changes: list[Change] = []
    for part in (_creative, _fields, _targeting):
        try:
            some, told = part(account, kind, found, flow, edit, now)
        except InvalidInput as problem:
            issues.extend(problem.issues)
            continue
        body |= some
        changes += told
    if not issues:
        issues += _conflicts(account, kind, {**found.native, **body}, body, now)
        issues += _beyond_smart(kind, flow, body)
    if not (body or issues):
        issues.append(Issue("fields", "required", "Name at least one thing to change."))
    if issues:
        raise InvalidInput(issues)
    if "video_id" in body:
        path = "creative.existingId" if "existingId" in edit.creative else "fields.existingId"
        yield from usable(account, body["video_id"], path)
        if "image_ids" not in body:  # the cover has to be of the video's own shape
            body["image_ids"] = [(yield from suggested(account, body["video_id"]))]
    return body, tuple(changes)


Part = tuple[Body, tuple[Change, ...]]


def _creative(
    account: Account, kind: Kind, found: Entity, flow: tiktok.Create, edit: Edit, now: datetime | None
) -> Part:
    """The cover; the other members of ``creative`` are fields of the ad."""
    if not edit.creative:
        return {}, ()
    if kind != "ad":
        raise InvalidInput((Issue("creative", "not_supported", "TikTok's ads have the creative; edit an ad."),))
    accepted = (*CREATIVE, "imageHash")
    issues = [
        Issue(f"creative.{name}", "not_supported", f"TikTok takes these: {', '.join(accepted)}.")
        for name in edit.creative
        if name not in accepted
    ]
    issues += [
        Issue(f"creative.{name}", "conflict", f"fields.{name} says it too.")
        for name in edit.creative
        if name in edit.fields
    ]
    if "imageHash" in edit.creative and flow == tiktok.SMART_PLUS:
        issues.append(Issue("creative.imageHash", "not_supported", "Change a Smart+ ad's creative_list natively."))
    if issues:
        raise InvalidInput(issues)
    if "imageHash" not in edit.creative:
        return {}, ()
    cover = [edit.creative["imageHash"]]
    return {"image_ids": cover}, (Change("creative.imageHash", found.native.get("image_ids"), cover),)


def _fields(account: Account, kind: Kind, found: Entity, flow: tiktok.Create, edit: Edit, now: datetime | None) -> Part:
    content = {CREATIVE[name]: value for name, value in edit.creative.items() if kind == "ad" and name in CREATIVE}
    try:
        done = edited(NETWORK, account, kind, found.native, Edit({**edit.fields, **content}), now)
    except InvalidInput as problem:
        raise InvalidInput([_said_as(issue, content) for issue in problem.issues]) from None
    whole = deepcopy(dict(found.native))
    for pointer, value in done.native.items():
        put(whole, pointer, value)
    members = {parts(pointer)[0] for pointer in done.native}
    return {name: whole[name] for name in sorted(members)}, done.changes


def _said_as(issue: Issue, content: Mapping[str, Json]) -> Issue:
    """The issue at the member of ``creative`` that the caller wrote."""
    name = issue.path.removeprefix("fields.")
    return Issue(f"creative.{name}", issue.code, issue.message) if name in content else issue


def _targeting(
    account: Account, kind: Kind, found: Entity, flow: tiktok.Create, edit: Edit, now: datetime | None
) -> Part:
    if not edit.targeting:
        return {}, ()
    if kind != "adGroup":
        message = "TikTok targets on ad groups; edit those of this campaign."
        raise InvalidInput((Issue("targeting", "not_supported", message),))
    spec = read(found.native, "/targeting_spec") if flow == tiktok.SMART_PLUS else found.native
    current = spec if isinstance(spec, Mapping) else {}
    members, changes = retargeted(current, edit.targeting)
    body = {"targeting_spec": {**current, **members}} if flow == tiktok.SMART_PLUS else members
    return body, tuple(changes)


def _beyond_smart(kind: Kind, flow: tiktok.Create, body: Body) -> Iterator[Issue]:
    if flow == tiktok.SMART_PLUS:
        if not {"bid_price", "conversion_bid_price"}.isdisjoint(body):
            body.pop("bid_type")  # a bid says it already
        for name in sorted(set(body) - SMART_NAMES[kind]):
            yield Issue("fields", "not_supported", f"A Smart+ {tiktok.CALLED[kind]} lets nobody change {name}.")


def _conflicts(
    account: Account, kind: Kind, after: Mapping[str, Json], body: Body, now: datetime | None
) -> Iterator[Issue]:
    """What the changed members contradict."""
    if kind == "ad":
        return
    start, end = (tiktok.moment(after.get(name)) for name in ("schedule_start_time", "schedule_end_time"))
    if "schedule_end_time" in body and end is not None and now is not None and end <= now:
        yield Issue("fields.endAt", "past", "The end lies in the past.")
    if "schedule_type" in body and start is not None and end is not None and end <= start:
        yield Issue("fields.endAt", "order", "The end has to come after the start.")
        return
    held = after.get("budget")
    budget = Decimal(held) if held is not None and is_number(held) else None
    if "budget" in body and budget is not None:
        days = 1 if start is None or end is None else days_of(start, end)
        yield from budget_issues(account, kind, "fields.budget", budget, period_of(after), days)
    for name in ("bid_price", "conversion_bid_price"):
        bid = body.get(name)
        if bid is not None and is_number(bid) and budget is not None and period_of(after) and bid >= budget:
            yield Issue("fields.bid", "too_large", "TikTok takes a bid below the budget only.")
    if body.get("bid_type") == tiktok.CUSTOM_BID and not any(
        after.get(n) for n in ("bid_price", "conversion_bid_price")
    ):
        yield Issue("fields.bid", "required", "This bid strategy needs a bid; change both together.")
    if body.get("pacing") == tiktok.FAST and after.get("bid_type") != tiktok.CUSTOM_BID:
        yield Issue("fields.pacing", "not_supported", f"{tiktok.FAST} needs the bid strategy {tiktok.CUSTOM_BID}.")
