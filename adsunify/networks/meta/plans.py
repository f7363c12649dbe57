"""Changes of Meta as plans: a POST under the account creates, paused; a POST to an id changes what it names."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from datetime import datetime
from functools import partial

from adsunify.adapter.edit_members import check_edit, merge_edit_parts
from adsunify.adapter.edits import Edit, apply_edit, assess_risk, require_change
from adsunify.adapter.flows import completed_flow, fetch_or_none
from adsunify.adapter.network import Account, get_level, to_native_amount
from adsunify.errors import Issue, ProviderUnreadable, invalid_input, raise_if_issues
from adsunify.http.messages import Flow, Request
from adsunify.models.brief import CampaignBrief
from adsunify.plans.records import (
    Action,
    Binding,
    Change,
    Expectation,
    Kind,
    Output,
    Outputs,
    Plan,
    Risk,
    Step,
    make_plan,
)
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_text, require_value

from . import native as meta
from .reads import fetch_editable_entity
from .settings import check_conflicts
from .tables import NETWORK, OBJECTIVES
from .targeting import build_targeting, get_targeted_countries, has_special_category, is_in_europe, merge_targeting

ID_OUTPUT = "id"
CREATED_OUTPUTS = (Output(ID_OUTPUT, ("/body/id",), is_text_only=True),)
KIND_NAMES = {"campaign": "campaign", "adGroup": "ad set", "creative": "creative", "ad": "ad"}
EDGE_PATHS = {one.kind: one.path for one in NETWORK.levels} | {"creative": "adcreatives"}
Body = dict[str, Json]
Changes = Sequence[Change]


# -- steps --------------------------------------------------------------------------------------------------------


def _build_create_step(account: Account, kind: str, does: str, body: Body, *bindings: Binding) -> Step:
    """A step that makes one entity under the account; its key is its kind."""
    url, path = f"{meta.API_URL}/{{account}}/{EDGE_PATHS[kind]}", {"account": account.native_id}
    request = Request("POST", url, path, body=body, encoding="form_json", kind="write")
    return Step(kind, kind, does, request, bindings=bindings, outputs=CREATED_OUTPUTS)


def _build_update_step(
    kind: str, entity_id: str, does: str, body: Body, *, key: str = "", parent: str | None = None, changes: Changes = ()
) -> Step:
    """A step that changes one entity."""
    url, path = f"{meta.API_URL}/{{id}}", {"id": entity_id}
    request = Request("POST", url, path, body=body, encoding="form_json", kind="write")
    done = (Expectation("/body/success", True),)
    return Step(
        key or kind, kind, does, request, "update", entity_id, parent, expectations=done, changes=tuple(changes)
    )


def _make_plan(
    account: Account, action: Action, *steps: Step, risk: Risk = "low", warnings: Sequence[str] = ()
) -> Plan:
    return make_plan(NETWORK.code, action, account.native_id, steps, warnings, risk)


# -- create -------------------------------------------------------------------------------------------------------


def _build_campaign(brief: CampaignBrief, targeting: Body) -> Body:
    body: Body = {
        "name": brief.name,
        "objective": OBJECTIVES[brief.goal].objective,
        "status": meta.PAUSED,
        "buying_type": meta.AUCTION,
        "special_ad_categories": list(brief.platform.special_ad_categories or ()),
    }
    if has_special_category(brief):
        body["special_ad_category_country"] = list(get_targeted_countries(targeting))
    # Marketing API since v24.0: required where the campaign has no budget of its own.
    return body | {"is_adset_budget_sharing_enabled": False}


def _build_ad_set(account: Account, brief: CampaignBrief, targeting: Body, europe: bool | None) -> Body:
    aim, unit = OBJECTIVES[brief.goal], meta.get_money_unit(account)
    body: Body = {
        "name": brief.name,
        "status": meta.PAUSED,
        "optimization_goal": aim.optimization_goal,
        "billing_event": aim.billing_event if brief.bid is None else aim.with_bid,
    }
    if aim.destination_type is not None:
        body["destination_type"] = aim.destination_type
    if aim.promoted_object is not None:
        body["promoted_object"] = aim.promoted_object(brief)
    body["bid_strategy"] = meta.UNCAPPED if brief.bid is None else meta.BID_CAP
    if brief.bid is not None:
        body["bid_amount"] = to_native_amount(unit, brief.bid, "bid")
    body[f"{brief.budget.period}_budget"] = to_native_amount(unit, brief.budget.amount, "budget.amount")
    body["start_time"] = meta.write_time(brief.schedule.start)
    if brief.schedule.end is not None:
        body["end_time"] = meta.write_time(brief.schedule.end)
    body["targeting"] = targeting
    if europe is not False:
        known = {name: account.extras.get(extra) for extra, name in meta.DSA_MEMBERS.items()}
        body |= {name: value for name, value in known.items() if value}
    return body


def _build_creative(brief: CampaignBrief) -> Body:
    content = brief.creative
    image = {"picture": content.image_url} if content.image_url is not None else {"image_hash": content.image_hash}
    link_data: Body = {"link": content.url, "message": content.body, "name": content.headline, **image}
    # Marketing API: the button's link equals the ad's.
    link_data["call_to_action"] = {"type": meta.CALL_TO_ACTION, "value": {"link": content.url}}
    story = {"page_id": brief.platform.page_id, "link_data": link_data}
    return {"name": brief.name, "object_story_spec": story}


def _collect_warnings(account: Account, brief: CampaignBrief, europe: bool | None, now: datetime | None) -> list[str]:
    assumed = meta.get_money_unit(account).assumption
    warnings = [assumed] if assumed else []
    if now is not None and brief.schedule.start <= now:
        warnings.append("The start lies in the past: once activated, the ads run at once.")
    unread = [extra for extra in meta.DSA_MEMBERS if extra not in account.extras]
    if europe and unread:
        warnings.append(f"Ads in the EU name who benefits and who pays; {' and '.join(unread)} were never read.")
    return warnings


def plan_create(account: Account, brief: CampaignBrief, now: datetime | None) -> Flow[Plan]:
    """Campaign, ad set with the budget, creative where it is new, and ad; all paused."""
    targeting = build_targeting(brief)
    europe = is_in_europe(targeting)
    campaign = _build_create_step(
        account, "campaign", "Create the campaign, paused.", _build_campaign(brief, targeting)
    )
    in_campaign = Binding("/body/campaign_id", campaign.key, ID_OUTPUT)
    does = "Create the ad set with budget, schedule and targeting, paused."
    ad_set = _build_create_step(account, "adGroup", does, _build_ad_set(account, brief, targeting, europe), in_campaign)
    body: Body = {"name": brief.name, "creative": {}, "status": meta.PAUSED}
    steps, bindings = [campaign, ad_set], [Binding("/body/adset_id", ad_set.key, ID_OUTPUT)]
    if brief.creative.existing_id is not None:
        body["creative"] = {"creative_id": brief.creative.existing_id}
    else:
        creative = _build_create_step(
            account, "creative", "Create the creative; it does not serve by itself.", _build_creative(brief)
        )
        steps.append(creative)
        bindings.append(Binding("/body/creative/creative_id", creative.key, ID_OUTPUT))
    steps.append(_build_create_step(account, "ad", "Create the ad, paused.", body, *bindings))
    return (
        yield from completed_flow(
            _make_plan(account, "create", *steps, warnings=_collect_warnings(account, brief, europe, now))
        )
    )


# -- activate and status ------------------------------------------------------------------------------------------


def _build_status_step(kind: str, entity_id: str, status: str, key: str = "") -> Step:
    one = get_level(NETWORK, kind)
    if status not in one.writable_statuses:
        raise invalid_input("status", "choice", f"Meta sets these: {', '.join(one.writable_statuses)}.")
    does = f"Set the {KIND_NAMES[kind]} {entity_id} to {status}."
    return _build_update_step(kind, entity_id, does, {"status": one.writable_statuses[status]}, key=key)


def plan_activate(account: Account, source: Plan, outputs: Mapping[str, Outputs]) -> Flow[Plan]:
    """Ad, then ad set, then campaign: what holds the budget comes when all below it is ready."""
    made = [(kind, str(outputs[kind][ID_OUTPUT])) for kind in ("ad", "adGroup", "campaign")]
    steps = [_build_status_step(kind, entity_id, "active", f"activate_{kind}") for kind, entity_id in made]
    return (yield from completed_flow(_make_plan(account, "activate", *steps, risk="spend")))


def plan_status(account: Account, kind: Kind, entity_id: str, status: str) -> Flow[Plan]:
    """One entity set active or paused."""
    risk: Risk = "spend" if status == "active" else "low"
    return (
        yield from completed_flow(_make_plan(account, "status", _build_status_step(kind, entity_id, status), risk=risk))
    )


# -- native -------------------------------------------------------------------------------------------------------


def _check_payload(
    kind: Kind, payload: Mapping[str, Json], names: Container[str], statuses: Sequence[str]
) -> list[Issue]:
    """What a native payload may not carry. Meta would pass over a name that it does not know."""
    message = f"Meta takes no such parameter for a {KIND_NAMES[kind]} here."
    issues = [Issue(f"payload.{name[:60]}", "not_supported", message) for name in payload if name not in names]
    if "status" in payload and payload["status"] not in statuses:
        issues.append(Issue("payload.status", "choice", f"Meta takes these: {', '.join(statuses)}."))
    return issues


def _build_parent_member(kind: Kind, payload: Mapping[str, Json], parent_id: str | None) -> Body:
    """The parameter that names the parent, from the payload or from ``parent_id``."""
    one = get_level(NETWORK, kind)
    name = one.parent.removeprefix("/")
    if not name:
        if parent_id is not None:
            raise invalid_input("parentId", "not_supported", f"A {KIND_NAMES[kind]} of Meta has no parent.")
        return {}
    said = get_text(payload, one.parent)
    if said is None and parent_id is None:
        raise invalid_input("parentId", "required", f"Name the {KIND_NAMES[one.parent_kind]} that it belongs to.")
    if None not in (said, parent_id) and said != parent_id:
        raise invalid_input("parentId", "conflict", f"payload.{name} names another {KIND_NAMES[one.parent_kind]}.")
    return {name: parent_id if said is None else payload[name]}


def plan_native_create(account: Account, kind: Kind, payload: Mapping[str, Json], parent_id: str | None) -> Flow[Plan]:
    """One entity from native parameters; paused where they do not say."""
    one = get_level(NETWORK, kind)
    raise_if_issues(_check_payload(kind, payload, meta.CREATE_MEMBERS[kind], meta.CREATE_STATUSES))
    body = {"status": one.initial_status, **payload, **_build_parent_member(kind, payload, parent_id)}
    active = body["status"] == meta.ACTIVE
    does = f"Create the {KIND_NAMES[kind]} from native parameters, {'active' if active else 'paused'}."
    step = _build_create_step(account, kind, does, body)
    return (yield from completed_flow(_make_plan(account, "create", step, risk="spend" if active else "low")))


def plan_update(
    account: Account, kind: Kind, entity_id: str, payload: Mapping[str, Json], parent_id: str | None
) -> Flow[Plan]:
    """Native parameters of one entity changed; others stay as they are."""
    one = get_level(NETWORK, kind)
    issues = _check_payload(kind, payload, meta.UPDATE_MEMBERS[kind], tuple(one.unified_statuses))
    if parent_id is not None and not one.parent:
        issues.append(Issue("parentId", "not_supported", f"A {KIND_NAMES[kind]} of Meta has no parent."))
    if not payload:
        issues.append(Issue("payload", "required", "Name at least one parameter to change."))
    raise_if_issues(issues)
    risk: Risk = "low"
    if payload.get("status") in (meta.ARCHIVED, meta.DELETED):
        risk = "destructive"
    elif payload.get("status") == meta.ACTIVE or not meta.MONEY_MEMBERS.isdisjoint(payload):
        risk = "spend"
    does = f"Change {', '.join(payload)} of the {KIND_NAMES[kind]} {entity_id}."
    step = _build_update_step(kind, entity_id, does, dict(payload), parent=parent_id)
    return (yield from completed_flow(_make_plan(account, "update", step, risk=risk)))


def plan_delete(account: Account, kind: Kind, entity_id: str) -> Flow[Plan]:
    """One entity deleted, with all below it."""
    get_level(NETWORK, kind)
    does = f"Delete the {KIND_NAMES[kind]} {entity_id} and all below it; this cannot be undone."
    request = Request("DELETE", f"{meta.API_URL}/{{id}}", {"id": entity_id}, kind="write")
    done = (Expectation("/body/success", True),)
    step = Step(kind, kind, does, request, "delete", entity_id, expectations=done)
    return (yield from completed_flow(_make_plan(account, "delete", step, risk="destructive")))


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
    current = require_value(entity, "/targeting", "ad set")
    if not isinstance(current, Mapping):
        raise ProviderUnreadable("The ad set's targeting is no object.")
    targeting, changes = merge_targeting(kind, current, edit.targeting)
    return {"targeting": targeting}, changes


def _edit_creative(
    account: Account, kind: Kind, entity: Mapping[str, Json], edit: Edit, now: datetime | None
) -> EditPart:
    if not edit.creative:
        return {}, ()
    creative = edit.creative["existingId"]
    change = Change("creative.existingId", get_text(entity, "/creative/id"), creative)
    return {"creative": {"creative_id": creative}}, (require_change(change, "creative.existingId"),)


def plan_edit(account: Account, kind: Kind, entity_id: str, edit: Edit, now: datetime | None) -> Flow[Plan]:
    """Fields, targeting and creative of one entity in one write, held against what it is now."""
    check_edit(NETWORK, kind, edit)
    current = yield from fetch_editable_entity(account, kind, entity_id)
    parts = (_edit_fields, _edit_targeting, _edit_creative)
    body, changes = merge_edit_parts(partial(part, account, kind, current.native, edit, now) for part in parts)
    does = f"Change {', '.join(change.field for change in changes)} of the {KIND_NAMES[kind]} {entity_id}."
    warnings = ("The ad goes to review again with its new creative.",) if "creative" in body else ()
    step = _build_update_step(kind, entity_id, does, body, changes=changes)
    return _make_plan(account, "edit", step, risk=assess_risk(NETWORK, kind, changes), warnings=warnings)


# -- preflight ----------------------------------------------------------------------------------------------------


def preflight(account: Account, brief: CampaignBrief) -> Flow[tuple[list[Issue], list[str]]]:
    """Whether an existing creative is there."""
    creative = brief.creative.existing_id
    if creative is None:
        return [], []
    found = yield from fetch_or_none(NETWORK, meta.build_node_request(creative, "id,name,status"))
    if found is not None and get_text(found.body, "/status") != meta.DELETED:
        return [], []
    return [Issue("creative.existingId", "not_found", "Meta has no such creative, or does not show it.")], []
