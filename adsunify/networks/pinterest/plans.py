"""Changes at Pinterest as plans: a POST of an array with one entity creates, paused; a PATCH of one changes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial

from adsunify.adapter.brief_checks import collect_minor_unit_warnings
from adsunify.adapter.edit_members import check_edit, merge_edit_parts
from adsunify.adapter.edits import Edit, apply_edit, assess_risk
from adsunify.adapter.flows import completed_flow, fetch_response
from adsunify.adapter.network import Account, Level, get_level, to_native_amount
from adsunify.errors import Issue, ProviderUnreadable, invalid_input, raise_if_issues
from adsunify.http.messages import Flow, Request
from adsunify.models.brief import CampaignBrief
from adsunify.plans.records import (
    Action,
    Binding,
    Change,
    ItemBatch,
    Kind,
    Output,
    Outputs,
    Plan,
    Risk,
    Step,
    StepAction,
    make_plan,
)
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_text, get_value

from . import native as pinterest
from .reads import fetch_editable_entity
from .settings import check_conflicts
from .tables import AD, AD_GROUP, CAMPAIGN, KEYWORD, NETWORK, OBJECTIVES
from .targeting import build_targeting, fetch_creative_type, merge_targeting

ID_OUTPUT = "id"
PIN_KEY, KEYWORDS_KEY = "pin", "keywords"
Body = dict[str, Json]
Changes = Sequence[Change]


# -- steps --------------------------------------------------------------------------------------------------------


def _build_create_step(
    account: Account, one: Level, does: str, entity: Body, *bindings: Binding, parent: str | None = None
) -> Step:
    """A step that makes one entity; its key is its kind."""
    request = pinterest.build_account_write_request(account, "POST", one.path, [entity])
    return Step(
        one.kind,
        one.kind,
        does,
        request,
        parent=parent,
        bindings=bindings,
        items=ItemBatch("/body", ID_OUTPUT, many=False),
    )


def _build_update_step(
    account: Account,
    one: Level,
    entity_id: str,
    does: str,
    changed: Body,
    *,
    key: str = "",
    parent: str | None = None,
    action: StepAction = "update",
    changes: Changes = (),
) -> Step:
    """A step that changes one entity; members that are not named stay as they are."""
    own = {"id": entity_id} | ({"ad_account_id": account.native_id} if one is CAMPAIGN else {})
    request = pinterest.build_account_write_request(account, "PATCH", one.path, [{**own, **changed}])
    items = ItemBatch("/body", ID_OUTPUT, sent="id", many=False)
    return Step(
        key or one.kind, one.kind, does, request, action, entity_id, parent, items=items, changes=tuple(changes)
    )


def _make_plan(
    account: Account, action: Action, *steps: Step, risk: Risk = "low", warnings: Sequence[str] = ()
) -> Plan:
    raise_if_issues(pinterest.check_account_writable(account))
    return make_plan(NETWORK.code, action, account.native_id, steps, warnings, risk)


# -- create -------------------------------------------------------------------------------------------------------


def _build_pin_step(account: Account, brief: CampaignBrief) -> Step:
    content = brief.creative
    said = {"title": content.headline, "description": content.body, "link": content.url}
    body: Body = {"board_id": brief.platform.board_id} | {name: value for name, value in said.items() if value}
    body["media_source"] = {"source_type": pinterest.IMAGE_URL, "url": content.image_url}
    url = f"{pinterest.API_URL}/pins"
    query = {"ad_account_id": account.native_id}  # whose owner acts
    request = Request("POST", url, {}, query, pinterest.HEADERS, body, encoding="json", kind="write")
    does = "Publish the pin on its board, at once; it is no ad and spends nothing."
    return Step(PIN_KEY, "creative", does, request, outputs=(Output(ID_OUTPUT, ("/body/id",)),))


def _build_campaign(account: Account, brief: CampaignBrief) -> Body:
    body: Body = {
        "ad_account_id": account.native_id,
        "name": brief.name,
        "objective_type": OBJECTIVES[brief.goal].objective,
        "status": pinterest.PAUSED,  # left out it would be active
        "is_campaign_budget_optimization": True,
        "is_flexible_daily_budgets": False,  # an average daily budget may overspend a day
        pinterest.SPEND_CAP_MEMBERS[brief.budget.period]: to_native_amount(
            NETWORK.get_money_unit(account), brief.budget.amount, "budget.amount"
        ),
        "start_time": pinterest.write_time(brief.schedule.start),
    }
    if brief.schedule.end is not None:
        body["end_time"] = pinterest.write_time(brief.schedule.end)
    return body


def _build_ad_group(account: Account, brief: CampaignBrief) -> Body:
    body: Body = {
        "name": brief.name,
        "status": pinterest.PAUSED,
        "billable_event": OBJECTIVES[brief.goal].billable_event,
        "bid_strategy_type": pinterest.AUTOMATIC_BID,
    }
    if brief.bid is not None:
        bid = to_native_amount(NETWORK.get_money_unit(account), brief.bid, "bid")
        body |= {"bid_strategy_type": pinterest.MAX_BID, "bid_in_micro_currency": bid}
    return body | {
        "budget_type": pinterest.CAMPAIGN_BUDGET_TYPE,
        "pacing_delivery_type": pinterest.STANDARD_PACING,
        "placement_group": pinterest.ALL_PLACEMENTS,
        "auto_targeting_enabled": False,  # left out it would widen interests and keywords
        "targeting_spec": build_targeting(brief),
    }


def _build_keywords_step(account: Account, brief: CampaignBrief) -> Step:
    found = [{"match_type": one.match.upper(), "value": one.text} for one in brief.targeting.keywords or ()]
    return Step(
        KEYWORDS_KEY,
        KEYWORD.kind,
        f"Give the ad group its {len(found)} keywords; they serve when it does.",
        pinterest.build_account_write_request(account, "POST", KEYWORD.path, {"keywords": found}),
        bindings=(Binding("/body/parent_id", AD_GROUP.kind, ID_OUTPUT),),
        items=ItemBatch("/body/keywords", ID_OUTPUT),
    )


def plan_create(account: Account, brief: CampaignBrief, now: datetime | None) -> Flow[Plan]:
    """Pin where it is new, campaign with the budget, ad group, keywords and ad; all but pin and keywords paused."""
    steps: list[Step] = []
    warnings: list[str] = []
    ad: Body = {"creative_type": pinterest.REGULAR, "name": brief.name, "status": pinterest.PAUSED}
    bindings = [Binding("/body/0/ad_group_id", AD_GROUP.kind, ID_OUTPUT)]
    if brief.creative.existing_id is not None:
        ad["pin_id"] = brief.creative.existing_id
        ad["creative_type"], warnings = yield from fetch_creative_type(NETWORK, account, brief.creative.existing_id)
    else:
        steps.append(_build_pin_step(account, brief))
        bindings.append(Binding("/body/0/pin_id", PIN_KEY, ID_OUTPUT))
        warnings.append("The pin shows on its board before activation; an ad-only board keeps it off the profile.")
        if brief.creative.url is not None:
            ad["destination_url"] = brief.creative.url
    does = f"Create the campaign with its {brief.budget.period} budget and schedule, paused."
    steps.append(_build_create_step(account, CAMPAIGN, does, _build_campaign(account, brief)))
    does = "Create the ad group with bid and targeting, paused."
    in_campaign = Binding("/body/0/campaign_id", CAMPAIGN.kind, ID_OUTPUT)
    steps.append(_build_create_step(account, AD_GROUP, does, _build_ad_group(account, brief), in_campaign))
    if brief.targeting.keywords:
        steps.append(_build_keywords_step(account, brief))
    steps.append(_build_create_step(account, AD, "Create the ad of the pin, paused.", ad, *bindings))
    if now is not None and brief.schedule.start <= now:
        warnings.append("The start lies in the past: once activated, the campaign runs at once, if Pinterest takes it.")
    return _make_plan(
        account, "create", *steps, warnings=(*warnings, *collect_minor_unit_warnings(NETWORK.title, account, brief))
    )


# -- activate and status ------------------------------------------------------------------------------------------


def _build_status_step(account: Account, kind: str, entity_id: str, status: str, key: str = "") -> Step:
    one = get_level(NETWORK, kind)
    if status not in one.writable_statuses:
        raise invalid_input(
            "status", "choice", f"Pinterest sets a {one.native} to {' or '.join(one.writable_statuses) or 'nothing'}."
        )
    does = f"Set the {one.native} {entity_id} to {status}."
    return _build_update_step(account, one, entity_id, does, {"status": one.writable_statuses[status]}, key=key)


def plan_activate(account: Account, source: Plan, outputs: Mapping[str, Outputs]) -> Flow[Plan]:
    """Ad, then ad group, then campaign, which alone starts to spend; pin and keywords have nothing to switch on."""
    made = [(kind, str(outputs[kind][ID_OUTPUT])) for kind in (AD.kind, AD_GROUP.kind, CAMPAIGN.kind)]
    steps = [_build_status_step(account, kind, entity_id, "active", f"activate_{kind}") for kind, entity_id in made]
    return (yield from completed_flow(_make_plan(account, "activate", *steps, risk="spend")))


def plan_status(account: Account, kind: Kind, entity_id: str, status: str) -> Flow[Plan]:
    """One entity set active or paused."""
    risk: Risk = "spend" if status == "active" else "low"
    step = _build_status_step(account, kind, entity_id, status)
    return (yield from completed_flow(_make_plan(account, "status", step, risk=risk)))


# -- native -------------------------------------------------------------------------------------------------------


def _ensure_same_id(payload: Mapping[str, Json], member: str, value: str, where: str) -> None:
    """Refuses a payload that names another id than the request does."""
    if member in payload and payload[member] != value:
        raise invalid_input(
            f"payload.{member}", "conflict", f"{member} is another one than {where} says; give only one."
        )


def _get_payload_status(payload: Mapping[str, Json], accepted: Sequence[str]) -> Json:
    status = payload.get("status")
    if "status" in payload and status not in accepted:
        raise invalid_input("payload.status", "choice", f"Pinterest takes these here: {', '.join(accepted)}.")
    return status


def plan_native_create(account: Account, kind: Kind, payload: Mapping[str, Json], parent_id: str | None) -> Flow[Plan]:
    """One entity in native units; paused unless the payload says otherwise."""
    one = get_level(NETWORK, kind)
    status = _get_payload_status(payload, pinterest.CREATE_STATUSES) or one.initial_status
    entity: Body = {**payload, "status": status}
    if not one.parent:
        if parent_id is not None:
            raise invalid_input("parentId", "not_supported", "A campaign of Pinterest has no parent.")
        _ensure_same_id(payload, "ad_account_id", account.native_id, "the account")
        entity["ad_account_id"] = account.native_id
    else:
        member = one.parent.removeprefix("/")
        if parent_id is None and not get_text(payload, one.parent):
            raise invalid_input(
                "parentId", "required", f"Name the {get_level(NETWORK, one.parent_kind).native} it belongs to."
            )
        if parent_id is not None:
            _ensure_same_id(payload, member, parent_id, "parentId")
            entity[member] = parent_id
        parent_id = get_text(entity, one.parent)
    active = status == pinterest.ACTIVE
    does = f"Create one {one.native} as given, {'active' if active else 'not serving'}."
    step = _build_create_step(account, one, does, entity, parent=parent_id)
    return (yield from completed_flow(_make_plan(account, "create", step, risk="spend" if active else "low")))


def plan_update(
    account: Account, kind: Kind, entity_id: str, payload: Mapping[str, Json], parent_id: str | None
) -> Flow[Plan]:
    """Changed members in native units. An amount may be a raise: what it was before is not read."""
    one = get_level(NETWORK, kind)
    _ensure_same_id(payload, "id", entity_id, "the path")
    if one is CAMPAIGN:
        _ensure_same_id(payload, "ad_account_id", account.native_id, "the account")
    if parent_id is not None:
        if not one.parent:
            raise invalid_input("parentId", "not_supported", "A campaign of Pinterest has no parent.")
        _ensure_same_id(payload, one.parent.removeprefix("/"), parent_id, "parentId")
    changed = {name: value for name, value in payload.items() if name not in ("id", "ad_account_id")}
    if not changed:
        raise invalid_input("payload", "nothing_to_do", "There is nothing to change.")
    if {"targeting_spec", "targeting_spec_operations"} <= set(changed):
        message = "Pinterest takes targeting_spec or targeting_spec_operations, not both."
        raise invalid_input("payload.targeting_spec_operations", "conflict", message)
    status = _get_payload_status(payload, pinterest.STATUSES)
    risk: Risk = "low"
    if status in (pinterest.ARCHIVED, pinterest.DELETED_DRAFT):
        risk = "destructive"
    elif status == pinterest.ACTIVE or not pinterest.MONEY_MEMBERS.isdisjoint(changed):
        risk = "spend"
    does = f"Change {', '.join(changed)} of the {one.native} {entity_id}."
    step = _build_update_step(account, one, entity_id, does, changed, parent=parent_id)
    return (yield from completed_flow(_make_plan(account, "update", step, risk=risk)))


def plan_delete(account: Account, kind: Kind, entity_id: str) -> Flow[Plan]:
    """Archives, for nothing can be deleted but drafts; what it is now tells which."""
    one = get_level(NETWORK, kind)
    current = yield from fetch_editable_entity(account, kind, entity_id)
    status = pinterest.DELETED_DRAFT if current.native_status == pinterest.DRAFT else pinterest.ARCHIVED
    does = f"Set the {one.native} {entity_id} to {status}, for good."
    changes = (Change("status", current.native_status, status),)
    step = _build_update_step(account, one, entity_id, does, {"status": status}, action="delete", changes=changes)
    warnings = ("Pinterest deletes by archiving: what is archived does not serve again. Pins stay on their boards.",)
    return _make_plan(account, "delete", step, risk="destructive", warnings=warnings)


# -- edit ---------------------------------------------------------------------------------------------------------

EditPart = tuple[Body, Changes]


def _edit_fields(
    account: Account, kind: Kind, entity: Mapping[str, Json], edit: Edit, now: datetime | None
) -> EditPart:
    done = apply_edit(NETWORK, account, kind, entity, edit, now)
    body = done.native_by_name
    raise_if_issues(check_conflicts(account, kind, entity, body, edit, now))
    return body, done.changes


def _edit_targeting(
    account: Account, kind: Kind, entity: Mapping[str, Json], edit: Edit, now: datetime | None
) -> EditPart:
    if not edit.targeting:
        return {}, ()
    if entity.get("status") == pinterest.ARCHIVED:
        raise invalid_input("targeting", "locked", "Pinterest: the ad group is archived.")
    current = get_value(entity, "/targeting_spec") or {}
    if not isinstance(current, Mapping):
        raise ProviderUnreadable("The ad group's targeting_spec is no object.")
    spec, changes = merge_targeting(kind, current, edit.targeting)
    return {"targeting_spec": spec}, changes


def plan_edit(account: Account, kind: Kind, entity_id: str, edit: Edit, now: datetime | None) -> Flow[Plan]:
    """Fields and targeting of one entity in one write, held against what it is now."""
    one = get_level(NETWORK, kind)
    check_edit(NETWORK, kind, edit)
    current = yield from fetch_editable_entity(account, kind, entity_id)
    parts = (_edit_fields, _edit_targeting)
    body, changes = merge_edit_parts(partial(part, account, kind, current.native, edit, now) for part in parts)
    does = f"Change {', '.join(change.field for change in changes)} of the {one.native} {entity_id}."
    uncapped = "bid_in_micro_currency" in body and body["bid_in_micro_currency"] is None
    risk: Risk = "spend" if uncapped else assess_risk(NETWORK, kind, changes)
    return _make_plan(
        account, "edit", _build_update_step(account, one, entity_id, does, body, changes=changes), risk=risk
    )


# -- preflight ----------------------------------------------------------------------------------------------------


def preflight(account: Account, brief: CampaignBrief) -> Flow[tuple[list[Issue], list[str]]]:
    """Whether ads are sold in the brief's countries."""
    if not brief.targeting.countries:
        return [], []
    response = yield from fetch_response(NETWORK, pinterest.build_countries_request())
    sold = {get_text(row, "/code") for row in pinterest.parse_rows(response)}
    issues = [
        Issue(f"targeting.countries.{index}", "not_supported", "Pinterest sells no ads in this country.")
        for index, country in enumerate(brief.targeting.countries)
        if country not in sold
    ]
    return issues, []
