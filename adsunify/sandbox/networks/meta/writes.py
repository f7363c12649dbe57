"""Creates, updates and deletes."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from adsunify.sandbox.framework import Account, Answer, Check, Entity, Problem, Refusal, Request, record
from adsunify.sandbox.networks.meta.errors import CREDENTIALS, absent, account_of, answer
from adsunify.sandbox.networks.meta.parameters import CREATE, UPDATE
from adsunify.sandbox.networks.meta.rules import ADSET, BUDGETS, CAMPAIGN, Change, check, needed, wrong

KINDS = ("campaign", "adset", "ad", "adcreative")
CHILDREN = {"campaign": "adset", "adset": "ad"}
GONE = ("DELETED", "ARCHIVED")
# fixed after creation or publication. (buying_type, campaign_id and adset_id are no update parameters.)
FIXED: Mapping[str, tuple[str, ...]] = {
    "campaign": ("objective",),
    "adset": (
        "optimization_goal", "billing_event", "promoted_object", "destination_type", "frequency_control_specs",
    ),
}  # fmt: skip
CREATIVE_SOURCES = (
    "object_story_spec", "object_story_id", "asset_feed_spec", "source_instagram_media_id", "source_facebook_post_id",
    "object_id", "object_url", "link_og_id", "image_hash", "image_url", "product_set_id", "template_url",
)  # fmt: skip


def given(request: Request, names: Mapping[str, Check], required: str = "") -> dict[str, Any]:
    """The checked parameters of a form body, without the credentials that may stand among them or in the query."""
    request.query(optional=CREDENTIALS)
    must = {name: names[name] for name in required.split()}
    content: dict[str, Any] = request.form(record(must, {**names, **CREDENTIALS}))
    return {name: value for name, value in content.items() if name not in CREDENTIALS}


def finished(request: Request, sent: Mapping[str, Any], body: Mapping[str, Any]) -> Answer:
    """The answer of a write; with `validate_only` nothing is kept."""
    if "validate_only" in sent.get("execution_options", ()):
        raise Refusal(answer(request, {"success": True}))
    return answer(request, body)


def create_campaign(request: Request) -> Answer:
    """POST /act_X/campaigns."""
    account, sent = _sent(request, "campaign")
    data = {"status": "ACTIVE", "buying_type": "AUCTION", **_kept(sent)}  # a status left out is ACTIVE
    check(CAMPAIGN, Change(data, account, request.now, creating=True), sent)
    made = request.world.create("campaign", account.id, data)
    return finished(request, sent, {"id": made.id})


def create_adset(request: Request) -> Answer:
    """POST /act_X/adsets."""
    account, sent = _sent(request, "adset")
    campaign = _parent(request, "campaign", sent["campaign_id"], account)
    data = {"status": "ACTIVE", **_kept(sent)}
    check(ADSET, Change(data, account, request.now, True, campaign), sent)
    made = request.world.create("adset", account.id, data, parent=campaign.id)
    return finished(request, sent, {"id": made.id})


def create_ad(request: Request) -> Answer:
    """POST /act_X/ads."""
    account, sent = _sent(request, "ad")
    adset = _parent(request, "adset", sent["adset_id"], account)
    _parent(request, "campaign", adset.data["campaign_id"], account)
    _creative(request, sent["creative"]["creative_id"], account.id)
    alive = [ad for ad in request.world.entities("ad", parent=adset.id) if ad.data["status"] not in GONE]
    if len(alive) >= 50:
        raise Problem("too_many", "/adset_id", "an ad set holds at most 50 ads that are not archived")
    above = {"campaign_id": adset.data["campaign_id"], "_review_from": request.now}
    data = {"status": "ACTIVE", **above, **_kept(sent)}
    made = request.world.create("ad", account.id, data, parent=adset.id)
    return finished(request, sent, {"id": made.id})


def create_adcreative(request: Request) -> Answer:
    """POST /act_X/adcreatives."""
    account, sent = _sent(request, "adcreative")
    if not any(name in sent for name in CREATIVE_SOURCES):
        raise needed("object_story_spec", "a creative needs content")
    link_data = sent.get("object_story_spec", {}).get("link_data", {})
    target = link_data.get("call_to_action", {}).get("value", {}).get("link")
    if target is not None and target != link_data["link"]:
        raise wrong("object_story_spec", "the link of call_to_action must equal the link of link_data")
    made = request.world.create("adcreative", account.id, {"name": "", "status": "ACTIVE", **_kept(sent)})
    return finished(request, sent, {"id": made.id})


def update(request: Request) -> Answer:
    """POST /{id}: only what is given changes."""
    entity = found(request, request.slots["node"])
    sent = given(request, UPDATE[entity.kind])
    old, new = entity.data, _kept(sent)
    _alive(entity, new)
    for name in FIXED.get(entity.kind, ()):
        if name in new and new[name] != old.get(name):
            raise wrong(name, "cannot be changed after creation")
    if new.get("account_id") not in (None, entity.account.removeprefix("act_")):
        raise wrong("account_id", "cannot be changed")
    account = account_of(request, entity.account)
    data = {**old, **{name: value for name, value in new.items() if name != "account_id"}}
    match entity.kind:
        case "campaign":
            _one_budget(old, new)
            check(CAMPAIGN, Change(data, account, request.now, creating=False), new)
        case "adset":
            data = _updated_adset(request, entity, data, sent)
            check(ADSET, Change(data, account, request.now, False, _up(request, entity)), sent)
        case "ad" if "creative" in new:
            _creative(request, new["creative"]["creative_id"], account.id)
            data["_review_from"] = request.now  # a swap triggers review
    if new.get("status") == "DELETED":
        _delete(request, entity, data)
    else:
        request.world.put(entity, data)
    return finished(request, sent, {"success": True})


def delete(request: Request) -> Answer:
    """DELETE /{id}: the status becomes DELETED, that of the children too; not undoable."""
    request.query(optional=CREDENTIALS)
    entity = found(request, request.slots["node"])
    _alive(entity, {"status": "DELETED"})
    _delete(request, entity, entity.data)
    return answer(request, {"success": True})


def found(request: Request, node: str) -> Entity:
    """The campaign, ad set, ad or creative of this id."""
    for kind in KINDS:
        if (entity := request.world.find(kind, node)) is not None:
            return entity
    raise absent(request, node)


def _sent(request: Request, kind: str) -> tuple[Account, dict[str, Any]]:
    account = account_of(request, request.slots["node"])
    required, names = CREATE[kind]
    return account, given(request, names, required)


def _kept(sent: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in sent.items() if name != "execution_options" and value is not None}


def _parent(request: Request, kind: str, node: str, account: Account) -> Entity:
    parent = request.world.find(kind, node, account.id)
    if parent is None or parent.data["status"] == "DELETED":
        raise Problem("missing", f"/{kind}_id", f"{kind} {node} does not exist in this account")
    if parent.data["status"] == "ARCHIVED":
        raise wrong(f"{kind}_id", f"{kind} {node} is archived")
    return parent


def _up(request: Request, adset: Entity) -> Entity:
    campaign = request.world.find("campaign", adset.data["campaign_id"])
    assert campaign is not None
    return campaign


def _creative(request: Request, node: str, account: str) -> None:
    """One of this account's; an id that nothing has here was made elsewhere, and exists."""
    made_here = [entity for kind in KINDS if (entity := request.world.find(kind, node)) is not None]
    for entity in made_here:
        if entity.kind != "adcreative" or entity.account != account or entity.data["status"] == "DELETED":
            raise Problem("missing", "/creative", f"creative {node} does not exist in this account")


def _alive(entity: Entity, new: Mapping[str, Any]) -> None:
    status = entity.data["status"]
    if status == "DELETED" or (status == "ARCHIVED" and dict(new) != {"status": "DELETED"}):
        raise Problem("value", "/status", f"the {entity.kind} is {status.lower()} and cannot be changed")


def _one_budget(old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    """The budget stays where it is and of its kind."""
    for name in BUDGETS:
        if name in new and name not in old:
            raise wrong(name, "cannot be given here: the budget is of the other kind or on another level")


def _updated_adset(request: Request, entity: Entity, data: dict[str, Any], sent: Mapping[str, Any]) -> dict[str, Any]:
    old = entity.data
    _one_budget(old, sent)
    start = old.get("start_time", entity.created_at)
    if sent.get("start_time", start) != start and start <= request.now:
        raise wrong("start_time", "cannot be changed once the ad set has started")
    if "end_time" in sent and sent["end_time"] is None:  # 0: no end
        data.pop("end_time", None)
    strategy = sent.get("bid_strategy")
    if strategy is not None and strategy != old.get("bid_strategy"):  # what the new strategy has no use for goes
        for name in ("bid_amount", "bid_constraints"):
            if name not in sent:
                data.pop(name, None)
    if any(sent.get(name, old.get(name)) != old.get(name) for name in BUDGETS):
        data["_budget_changes"] = _budget_changes(request, old)
    return data


def _budget_changes(request: Request, old: Mapping[str, Any]) -> list[Any]:
    """When the budget was changed within the last hour; at most 4 times."""
    recent = [at for at in old.get("_budget_changes", ()) if at > request.now - timedelta(hours=1)]
    if len(recent) >= 4:
        raise Problem("budget_changes", "/daily_budget", "at most 4 budget changes per ad set and hour")
    return [*recent, request.now]


def _delete(request: Request, entity: Entity, data: Mapping[str, Any]) -> None:
    if entity.kind == "adcreative" and any(
        ad.data["creative"]["creative_id"] == entity.id and ad.data["status"] != "DELETED"
        for ad in request.world.entities("ad", entity.account)
    ):
        raise Problem("value", "", "the creative is used by an ad")  # (unverified)
    request.world.put(entity, {**data, "status": "DELETED"})
    for child in request.world.entities(CHILDREN.get(entity.kind, ""), parent=entity.id):
        if child.data["status"] != "DELETED":
            _delete(request, child, child.data)
