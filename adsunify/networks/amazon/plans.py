"""Changes at Amazon Ads as plans. Every write sends an array and is judged item by item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from functools import cache

from adsunify.adapter.edit_members import check_edit
from adsunify.adapter.edits import Edit, edited, risk_of
from adsunify.adapter.flows import ask, settled
from adsunify.adapter.network import Account, Level, level, native_amount, timezone_of
from adsunify.adapter.settings import local_time
from adsunify.errors import Issue, refuse, refused
from adsunify.http.messages import Flow, Request
from adsunify.models.brief import CampaignBrief
from adsunify.plans.records import Binding, Change, Items, Kind, Outputs, Plan, Risk, Step, planned
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import put, rows, text

from . import reads
from .native import (
    DOWN_ONLY,
    ELIGIBLE_WITH_WARNING,
    ENABLED,
    INELIGIBLE,
    MANUAL_TARGETING,
    PAUSED,
    SCOPE_HEADER,
    collection,
    daily_budget,
    host,
    id_filter,
    identity,
    media_type,
    serving_days,
)
from .settings import conflicts
from .tables import AD, AD_GROUP, CAMPAIGN, KEYWORD, LIVE, NETWORK
from .targeting import eligibility, found_products, products_of_sku

ID = "id"
"""The output of every step: the id of what was written, or the ids in the order sent."""


# -- steps --------------------------------------------------------------------------------------------------------


def _request(account: Account, one: Level, method: str, path: str, body: Json) -> Request:
    headers = {"Content-Type": media_type(one), "Accept": media_type(one), SCOPE_HEADER: account.native_id}
    return Request(method, host(account) + path, headers=headers, body=body, encoding="json", nature="write")


def _create(
    account: Account,
    one: Level,
    entities: Sequence[Mapping[str, Json]],
    *,
    key: str,
    does: str,
    bindings: Sequence[Binding] = (),
    many: bool = False,
    parent: str | None = None,
) -> Step:
    name = collection(one)
    return Step(
        key,
        one.kind,
        does,
        _request(account, one, "POST", one.path, {name: [dict(entity) for entity in entities]}),
        parent=parent,
        bindings=tuple(bindings),
        items=Items(f"/body/{name}", ID, many=many),
    )


def _update(
    account: Account,
    one: Level,
    ids: Sequence[str],
    changed: Mapping[str, Json],
    *,
    key: str,
    does: str,
    many: bool = False,
    changes: Sequence[Change] = (),
    parent: str | None = None,
) -> Step:
    name = collection(one)
    return Step(
        key,
        one.kind,
        does,
        _request(account, one, "PUT", one.path, {name: [{identity(one): id_, **changed} for id_ in ids]}),
        action="update",
        entity=None if many else ids[0],
        parent=parent,
        items=Items(f"/body/{name}", ID, sent=identity(one), many=many),
        changes=tuple(changes),
    )


# -- create -------------------------------------------------------------------------------------------------------


def _campaign(account: Account, brief: CampaignBrief, first: date, last: date | None) -> dict[str, Json]:
    return {
        "name": brief.name,
        "targetingType": MANUAL_TARGETING,
        "state": PAUSED,
        "budget": daily_budget(native_amount(NETWORK.unit(account), brief.budget.amount, "budget.amount")),
        "startDate": first.isoformat(),
        **({"endDate": last.isoformat()} if last is not None else {}),
        "dynamicBidding": {"strategy": DOWN_ONLY, "placementBidding": []},
    }


def _keywords(brief: CampaignBrief, bid: Json) -> list[dict[str, Json]]:
    return [
        {"state": PAUSED, "keywordText": keyword.text, "matchType": keyword.match.upper(), "bid": bid}
        for keyword in brief.targeting.keywords or ()
    ]


@cache
def _under(one: Level, *parents: Level, count: int = 1) -> tuple[Binding, ...]:
    """Bindings that put the ids of the steps before into every entity of a step."""
    entities = f"/body/{collection(one)}"
    return tuple(
        Binding(f"{entities}/{position}/{identity(parent)}", parent.kind, ID)
        for position in range(count)
        for parent in parents
    )


def _days_warning(account: Account, first: date, last: date | None) -> str:
    end = f"to 24:00 of {last}" if last is not None else "without an end"
    return f"Amazon Ads keeps whole days: it serves from 00:00 of {first} {end}, {timezone_of(account)} time."


def plan_create(account: Account, brief: CampaignBrief, now: datetime | None) -> Flow[Plan]:
    """Campaign, ad group, product ad and keywords, all paused."""
    first, last = serving_days(account, brief)
    bid = native_amount(NETWORK.unit(account), brief.bid or "", "bid")
    sku, asin = brief.platform.sku, brief.platform.asin
    keywords = _keywords(brief, bid)
    group = {"name": brief.name, "state": PAUSED, "defaultBid": bid}
    product = {"sku": sku} if sku is not None else {"asin": asin}
    steps = (
        _create(
            account,
            CAMPAIGN,
            [_campaign(account, brief, first, last)],
            key=CAMPAIGN.kind,
            does=f"Create the paused campaign {brief.name} with its daily budget.",
        ),
        _create(
            account,
            AD_GROUP,
            [group],
            key=AD_GROUP.kind,
            does="Create its paused ad group with the default bid.",
            bindings=_under(AD_GROUP, CAMPAIGN),
        ),
        _create(
            account,
            AD,
            [{"state": PAUSED, **product}],
            key=AD.kind,
            does=f"Create the paused ad for {sku or asin}.",
            bindings=_under(AD, CAMPAIGN, AD_GROUP),
        ),
        _create(
            account,
            KEYWORD,
            keywords,
            key="keywords",
            does=f"Create {len(keywords)} paused keywords.",
            bindings=_under(KEYWORD, CAMPAIGN, AD_GROUP, count=len(keywords)),
            many=True,
        ),
    )
    warnings = (_days_warning(account, first, last),)
    return (yield from settled(planned(NETWORK.code, "create", account.native_id, steps, warnings)))


# -- activate and status ------------------------------------------------------------------------------------------

# Leaves first, so that nothing serves before all of it is ready: step key of the create, level.
_ACTIVATION = (("keywords", KEYWORD), ("ad", AD), ("adGroup", AD_GROUP), ("campaign", CAMPAIGN))


def plan_activate(account: Account, source: Plan, outputs: Mapping[str, Outputs]) -> Flow[Plan]:
    """Switches on exactly what the source operation made."""
    steps = []
    for key, one in _ACTIVATION:
        made = outputs[key][ID]
        ids = [made] if isinstance(made, str) else list(made)
        many = not isinstance(made, str)
        does = f"Enable the {len(ids)} keywords." if many else f"Enable the {one.native} {ids[0]}."
        state = {"state": one.settable["active"]}
        steps.append(_update(account, one, ids, state, key=f"activate_{key}", does=does, many=many))
    return (yield from settled(planned(NETWORK.code, "activate", account.native_id, steps, risk="spend")))


def plan_status(account: Account, kind: Kind, entity_id: str, status: str) -> Flow[Plan]:
    """Sets one entity ``active`` or ``paused``."""
    one = level(NETWORK, kind)
    if status not in one.settable:
        raise refused("status", "choice", f"Amazon Ads sets a {kind} to {' or '.join(one.settable)}.")
    state = {"state": one.settable[status]}
    step = _update(account, one, [entity_id], state, key=kind, does=f"Set the {one.native} {entity_id} to {status}.")
    risk: Risk = "spend" if status == "active" else "low"
    return (yield from settled(planned(NETWORK.code, "status", account.native_id, [step], risk=risk)))


# -- native -------------------------------------------------------------------------------------------------------

_MONEY = ("budget", "defaultBid", "bid")


def _owned(payload: Mapping[str, Json], member: str, value: str, path: str) -> None:
    """Refuses a payload that names another id than the request does."""
    if member in payload and str(payload[member]) != value:
        raise refused(f"payload.{member}", "conflict", f"{member} is another one than {path} says; give only one.")


def _checked_state(payload: Mapping[str, Json]) -> Json:
    state = payload.get("state")
    if "state" in payload and state not in LIVE:
        raise refused(
            "payload.state", "choice", f"Amazon Ads takes the states {', '.join(LIVE)}; to archive, delete it."
        )
    return state


def plan_native_create(account: Account, kind: Kind, payload: Mapping[str, Json], parent_id: str | None) -> Flow[Plan]:
    """One entity in native units; paused unless the payload says otherwise."""
    one = level(NETWORK, kind)
    state = _checked_state(payload)
    entity = {**payload, "state": state or one.born}
    if not one.parent:
        if parent_id is not None:
            raise refused("parentId", "not_supported", "A campaign of Amazon Ads has no parent.")
    else:
        member = one.parent.removeprefix("/")
        parent_id = parent_id if parent_id is not None else text(payload, one.parent)
        if parent_id is None:
            raise refused("parentId", "required", f"An Amazon Ads {one.native} needs its {one.parent_kind}'s id.")
        _owned(payload, member, parent_id, "parentId")
        entity[member] = parent_id
        if one is AD and identity(CAMPAIGN) not in entity:
            group = yield from reads.entity(account, AD_GROUP.kind, parent_id)
            entity[identity(CAMPAIGN)] = group.parent_id
    does = f"Create one {one.native} as given, {'serving at once' if state == ENABLED else 'paused'}."
    step = _create(account, one, [entity], key=kind, does=does, parent=parent_id)
    return planned(NETWORK.code, "create", account.native_id, [step], risk="spend" if state == ENABLED else "low")


def plan_update(
    account: Account, kind: Kind, entity_id: str, payload: Mapping[str, Json], parent_id: str | None
) -> Flow[Plan]:
    """Changed members in native units. An amount may be a raise: what it was before is not read."""
    one = level(NETWORK, kind)
    _owned(payload, identity(one), entity_id, "the path")
    if parent_id is not None:
        _owned(payload, one.parent.removeprefix("/"), parent_id, "parentId")
    changed = {name: value for name, value in payload.items() if name != identity(one)}
    if not changed:
        raise refused("payload", "nothing_to_do", "There is nothing to change.")
    risky = _checked_state(payload) == ENABLED or any(member in payload for member in _MONEY)
    does = f"Change {', '.join(changed)} of the {one.native} {entity_id}."
    step = _update(account, one, [entity_id], changed, key=kind, does=does, parent=parent_id)
    risk: Risk = "spend" if risky else "low"
    return (yield from settled(planned(NETWORK.code, "update", account.native_id, [step], risk=risk)))


def plan_delete(account: Account, kind: Kind, entity_id: str) -> Flow[Plan]:
    """Archives, which is final."""
    one = level(NETWORK, kind)
    name = id_filter(one)
    step = Step(
        kind,
        kind,
        f"Archive the {one.native} {entity_id} for good.",
        _request(account, one, "POST", f"{one.path}/delete", {name: {"include": [entity_id]}}),
        action="delete",
        entity=entity_id,
        items=Items(f"/body/{name}/include", ID, sent=identity(one), many=False),
    )
    warnings = ("Archiving is final: it cannot be undone, and what is archived cannot be changed any more.",)
    return (
        yield from settled(planned(NETWORK.code, "delete", account.native_id, [step], warnings, risk="destructive"))
    )


# -- edit ---------------------------------------------------------------------------------------------------------


def plan_edit(account: Account, kind: Kind, entity_id: str, edit: Edit, now: datetime | None) -> Flow[Plan]:
    """Fields of the unified vocabulary, laid beside what stands there now."""
    one = level(NETWORK, kind)
    check_edit(NETWORK, kind, edit)
    entity = yield from reads.editable(account, kind, entity_id)
    change = edited(NETWORK, account, kind, entity.native, edit, now)
    changed: dict[str, Json] = {}
    for pointer, value in change.native.items():
        put(changed, pointer, value)
    refuse(conflicts(account, kind, entity.native, changed, local_time(account, now)))
    warnings = []
    if {"startDate", "endDate"} & set(changed):
        days = ", ".join(f"{name} {changed[name] or 'none'}" for name in ("startDate", "endDate") if name in changed)
        warnings.append(f"Amazon Ads keeps whole days in the profile's time zone: {days}.")
    if "defaultBid" in changed:
        warnings.append("Keywords that have a bid of their own keep it.")
    names = ", ".join(one_.field for one_ in change.changes)
    steps = [
        _update(
            account,
            one,
            [entity_id],
            changed,
            key=kind,
            does=f"Change {names} of the {one.native} {entity_id}.",
            changes=change.changes,
        )
    ]
    risk = risk_of(NETWORK, kind, change.changes)
    return planned(NETWORK.code, "edit", account.native_id, steps, warnings, risk)


# -- preflight ----------------------------------------------------------------------------------------------------


def preflight(account: Account, brief: CampaignBrief) -> Flow[tuple[list[Issue], list[str]]]:
    """Whether the listing exists and may be advertised."""
    sku, asin = brief.platform.sku, brief.platform.asin
    path = "platform.sku" if sku is not None else "platform.asin"
    product: dict[str, Json] = {"asin": asin}
    if sku is not None:  # eligibility is asked for by ASIN; a sku alone is not enough
        found = found_products((yield from ask(NETWORK, products_of_sku(account, sku))))
        asin = text(found[0], "/asin") if found else None
        if asin is None:
            return [Issue(path, "not_found", "Amazon Ads: the seller has no listing with this sku.")], []
        product = {"asin": asin, "sku": sku}
    response = yield from ask(NETWORK, eligibility(account, product))
    for answer in rows(response.body, "/productResponseList"):
        status = text(answer, "/overallStatus")
        said = "; ".join(
            text(reason, "/message") or text(reason, "/name") or "" for reason in rows(answer, "/eligibilityStatusList")
        )
        if status == INELIGIBLE:
            return [Issue(path, "ineligible", f"Amazon Ads: the listing may not be advertised: {said or status}.")], []
        if status == ELIGIBLE_WITH_WARNING:
            return [], [f"Amazon Ads: the listing may be advertised, but may not be shown: {said or status}."]
    return [], []
