"""Creates, updates and deletes."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from adsunify.sandbox.checks import Check, record
from adsunify.sandbox.network import AbortRequest, Request, Response
from adsunify.sandbox.networks.meta import errors, rules
from adsunify.sandbox.networks.meta.parameters import CREATE_CHECKS, UPDATE_CHECKS
from adsunify.sandbox.parsing import InvalidRequest, split_words
from adsunify.sandbox.world import Account, StoredEntity

KINDS = ("campaign", "adset", "ad", "adcreative")
CHILD_KINDS = {"campaign": "adset", "adset": "ad"}
FINAL_STATUSES = ("DELETED", "ARCHIVED")
# fixed after creation or publication. (buying_type, campaign_id and adset_id are not update parameters.)
IMMUTABLE_MEMBERS: Mapping[str, tuple[str, ...]] = {
    "campaign": ("objective",),
    "adset": split_words("""
        optimization_goal billing_event promoted_object destination_type frequency_control_specs
    """),
}
CREATIVE_SOURCES = split_words("""
    object_story_spec object_story_id asset_feed_spec source_instagram_media_id source_facebook_post_id object_id
    object_url link_og_id image_hash image_url product_set_id template_url
""")


def parse_form(request: Request, names: Mapping[str, Check], required: str = "") -> dict[str, Any]:
    """The checked parameters of a form body, without the credentials, which may be in the body or in the query."""
    request.parse_query(optional=errors.CREDENTIAL_CHECKS)
    must = {name: names[name] for name in required.split()}
    content: dict[str, Any] = request.parse_form(record(must, {**names, **errors.CREDENTIAL_CHECKS}))
    return {name: value for name, value in content.items() if name not in errors.CREDENTIAL_CHECKS}


def build_write_response(request: Request, members: Mapping[str, Any], body: Mapping[str, Any]) -> Response:
    """The response to a write; with `validate_only` nothing is stored."""
    if "validate_only" in members.get("execution_options", ()):
        raise AbortRequest(errors.build_response(request, {"success": True}))
    return errors.build_response(request, body)


def create_campaign(request: Request) -> Response:
    """POST /act_X/campaigns."""
    account, members = _parse_body(request, "campaign")
    data = {"status": "ACTIVE", "buying_type": "AUCTION", **_extract_members(members)}  # a status left out is ACTIVE
    rules.check_rules(rules.CAMPAIGN_RULES, rules.EntityChange(data, account, request.now, creating=True), members)
    entity = request.world.create("campaign", account.id, data)
    return build_write_response(request, members, {"id": entity.id})


def create_adset(request: Request) -> Response:
    """POST /act_X/adsets."""
    account, members = _parse_body(request, "adset")
    campaign = _require_parent(request, "campaign", members["campaign_id"], account)
    data = {"status": "ACTIVE", **_extract_members(members)}
    rules.check_rules(rules.ADSET_RULES, rules.EntityChange(data, account, request.now, True, campaign), members)
    entity = request.world.create("adset", account.id, data, parent=campaign.id)
    return build_write_response(request, members, {"id": entity.id})


def create_ad(request: Request) -> Response:
    """POST /act_X/ads."""
    account, members = _parse_body(request, "ad")
    adset = _require_parent(request, "adset", members["adset_id"], account)
    _require_parent(request, "campaign", adset.data["campaign_id"], account)
    _check_creative(request, members["creative"]["creative_id"], account.id)
    alive = [ad for ad in request.world.list_entities("ad", parent=adset.id) if ad.data["status"] not in FINAL_STATUSES]
    if len(alive) >= 50:
        raise InvalidRequest("too_many", "/adset_id", "an ad set holds at most 50 ads that are not archived")
    above = {"campaign_id": adset.data["campaign_id"], "_review_from": request.now}
    data = {"status": "ACTIVE", **above, **_extract_members(members)}
    entity = request.world.create("ad", account.id, data, parent=adset.id)
    return build_write_response(request, members, {"id": entity.id})


def create_adcreative(request: Request) -> Response:
    """POST /act_X/adcreatives."""
    account, members = _parse_body(request, "adcreative")
    if not any(name in members for name in CREATIVE_SOURCES):
        raise rules.missing_value_error("object_story_spec", "a creative needs content")
    link_data = members.get("object_story_spec", {}).get("link_data", {})
    target = link_data.get("call_to_action", {}).get("value", {}).get("link")
    if target is not None and target != link_data["link"]:
        raise rules.invalid_value_error(
            "object_story_spec", "the link of call_to_action must equal the link of link_data"
        )
    entity = request.world.create(
        "adcreative", account.id, {"name": "", "status": "ACTIVE", **_extract_members(members)}
    )
    return build_write_response(request, members, {"id": entity.id})


def update_entity(request: Request) -> Response:
    """POST /{id}: changes only the parameters that are sent."""
    entity = require_entity(request, request.path_parameters["node"])
    members = parse_form(request, UPDATE_CHECKS[entity.kind])
    old, new = entity.data, _extract_members(members)
    _check_changeable(entity, new)
    for name in IMMUTABLE_MEMBERS.get(entity.kind, ()):
        if name in new and new[name] != old.get(name):
            raise rules.invalid_value_error(name, "cannot be changed after creation")
    if new.get("account_id") not in (None, entity.account.removeprefix("act_")):
        raise rules.invalid_value_error("account_id", "cannot be changed")
    account = errors.require_account_by_id(request, entity.account)
    data = {**old, **{name: value for name, value in new.items() if name != "account_id"}}
    match entity.kind:
        case "campaign":
            _check_budget_kind(old, new)
            rules.check_rules(rules.CAMPAIGN_RULES, rules.EntityChange(data, account, request.now, creating=False), new)
        case "adset":
            data = _complete_adset_update(request, entity, data, members)
            rules.check_rules(
                rules.ADSET_RULES,
                rules.EntityChange(data, account, request.now, False, _require_campaign(request, entity)),
                members,
            )
        case "ad" if "creative" in new:
            _check_creative(request, new["creative"]["creative_id"], account.id)
            data["_review_from"] = request.now  # a new creative is reviewed
    if new.get("status") == "DELETED":
        _delete_entity(request, entity, data)
    else:
        request.world.replace(entity, data)
    return build_write_response(request, members, {"success": True})


def delete_entity(request: Request) -> Response:
    """DELETE /{id}: the status of the entity and its children becomes DELETED. This cannot be undone."""
    request.parse_query(optional=errors.CREDENTIAL_CHECKS)
    entity = require_entity(request, request.path_parameters["node"])
    _check_changeable(entity, {"status": "DELETED"})
    _delete_entity(request, entity, entity.data)
    return errors.build_response(request, {"success": True})


def require_entity(request: Request, node: str) -> StoredEntity:
    """The campaign, ad set, ad or creative with this id."""
    for kind in KINDS:
        if (entity := request.world.find(kind, node)) is not None:
            return entity
    raise errors.not_found_error(request, node)


def _parse_body(request: Request, kind: str) -> tuple[Account, dict[str, Any]]:
    account = errors.require_account_by_id(request, request.path_parameters["node"])
    required, names = CREATE_CHECKS[kind]
    return account, parse_form(request, names, required)


def _extract_members(members: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if name != "execution_options" and value is not None}


def _require_parent(request: Request, kind: str, node: str, account: Account) -> StoredEntity:
    parent = request.world.find(kind, node, account.id)
    if parent is None or parent.data["status"] == "DELETED":
        raise InvalidRequest("missing", f"/{kind}_id", f"{kind} {node} does not exist in this account")
    if parent.data["status"] == "ARCHIVED":
        raise rules.invalid_value_error(f"{kind}_id", f"{kind} {node} is archived")
    return parent


def _require_campaign(request: Request, adset: StoredEntity) -> StoredEntity:
    campaign = request.world.find("campaign", adset.data["campaign_id"])
    assert campaign is not None
    return campaign


def _check_creative(request: Request, node: str, account: str) -> None:
    """Check that a creative belongs to this account.

    A creative with an unknown id was made elsewhere and is accepted.
    """
    made_here = [entity for kind in KINDS if (entity := request.world.find(kind, node)) is not None]
    for entity in made_here:
        if entity.kind != "adcreative" or entity.account != account or entity.data["status"] == "DELETED":
            raise InvalidRequest("missing", "/creative", f"creative {node} does not exist in this account")


def _check_changeable(entity: StoredEntity, new: Mapping[str, Any]) -> None:
    status = entity.data["status"]
    if status == "DELETED" or (status == "ARCHIVED" and dict(new) != {"status": "DELETED"}):
        raise InvalidRequest("value", "/status", f"the {entity.kind} is {status.lower()} and cannot be changed")


def _check_budget_kind(old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    """Check that an update does not change the level or the kind of a budget."""
    for name in rules.BUDGET_MEMBERS:
        if name in new and name not in old:
            raise rules.invalid_value_error(
                name, "cannot be given here: the budget is of the other kind or on another level"
            )


def _complete_adset_update(
    request: Request, entity: StoredEntity, data: dict[str, Any], members: Mapping[str, Any]
) -> dict[str, Any]:
    old = entity.data
    _check_budget_kind(old, members)
    start = old.get("start_time", entity.created_at)
    if members.get("start_time", start) != start and start <= request.now:
        raise rules.invalid_value_error("start_time", "cannot be changed once the ad set has started")
    if "end_time" in members and members["end_time"] is None:  # 0: no end
        data.pop("end_time", None)
    strategy = members.get("bid_strategy")
    if strategy is not None and strategy != old.get(
        "bid_strategy"
    ):  # members that the new strategy does not use are removed
        for name in ("bid_amount", "bid_constraints"):
            if name not in members:
                data.pop(name, None)
    if any(members.get(name, old.get(name)) != old.get(name) for name in rules.BUDGET_MEMBERS):
        data["_budget_changes"] = _record_budget_change(request, old)
    return data


def _record_budget_change(request: Request, old: Mapping[str, Any]) -> list[Any]:
    """Return the budget changes of the last hour with this one. Raises InvalidRequest for a fifth."""
    recent = [at for at in old.get("_budget_changes", ()) if at > request.now - timedelta(hours=1)]
    if len(recent) >= 4:
        raise InvalidRequest("budget_changes", "/daily_budget", "at most 4 budget changes per ad set and hour")
    return [*recent, request.now]


def _delete_entity(request: Request, entity: StoredEntity, data: Mapping[str, Any]) -> None:
    if entity.kind == "adcreative" and any(
        ad.data["creative"]["creative_id"] == entity.id and ad.data["status"] != "DELETED"
        for ad in request.world.list_entities("ad", entity.account)
    ):
        raise InvalidRequest("value", "", "the creative is used by an ad")  # unverified rule
    request.world.replace(entity, {**data, "status": "DELETED"})
    for child in request.world.list_entities(CHILD_KINDS.get(entity.kind, ""), parent=entity.id):
        if child.data["status"] != "DELETED":
            _delete_entity(request, child, child.data)
