"""Creating, updating and switching. Everything is a POST that answers 200."""

from collections.abc import Mapping
from typing import Any

from adsunify.sandbox.checks import rule_error
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.chatgpt import rules, tables
from adsunify.sandbox.networks.chatgpt.answers import build_response, not_found_error, require_account
from adsunify.sandbox.networks.chatgpt.entities import check_not_archived, render_entity, require_entity
from adsunify.sandbox.networks.chatgpt.fields import CREATE_CHECKS, IDEMPOTENCY_KEY_CHECK, UPDATE_CHECKS, UPLOAD_CHECK
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import Account, StoredEntity

_STATUS_BY_ACTION = {"activate": "active", "pause": "paused", "archive": "archived"}
# The members of a new campaign that the request leaves out.
_CREATION_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "campaign": {
        "description": None,
        "mode": None,
        "bidding_type": "impressions",
        "start_time": None,
        "end_time": None,
        "conversion_event_setting_ids": [],
        "product_feed_id": None,
        "landing_page_configuration": None,
    },
    "ad_group": {"description": None, "context_hints": [], "product_set": None, "landing_page_configuration": None},
    "ad": {"landing_page_configuration": None},
}


def upload_image(request: Request) -> Response:
    """POST /upload of the address of an image. The multipart form is not simulated."""
    request.parse_query()
    _refuse_idempotency_key(request)
    body = request.parse_json(UPLOAD_CHECK)
    file = request.world.create("file", require_account(request).id, body, id=_allocate_native_id(request, "file"))
    return build_response(request, {"file_id": file.id})


def create_entity(request: Request) -> Response:
    """POST of a campaign, an ad group or an ad.

    The same Idempotency-Key with the same body gets the first response again.
    """
    request.parse_query()
    kind, account = tables.KIND_BY_COLLECTION[request.path_parameters["kind"]], require_account(request)
    body = request.parse_json()
    key = (
        request.require_header("Idempotency-Key", IDEMPOTENCY_KEY_CHECK)
        if "Idempotency-Key" in request.headers
        else None
    )
    once = None if key is None else f"{account.id} {key}"
    if once is not None and (before := request.world.find("idempotency", once)) is not None:
        if before.data["path"] != request.path or before.data["given"] != body:
            raise InvalidRequest("conflict", "Idempotency-Key", "This key was used with another request.")
        return build_response(request, before.data["answer"])
    entity = _create_entity(request, kind, account, CREATE_CHECKS[kind](body, ""), key=key is not None)
    answer = render_entity(request.world, entity)
    if once is not None:  # a refusal is not stored (our choice, unverified)
        memory = {"path": request.path, "given": body, "answer": answer}
        request.world.create("idempotency", account.id, memory, id=once, logged=False)
    return build_response(request, answer)


def _create_entity(
    request: Request, kind: str, account: Account, members: dict[str, Any], *, key: bool
) -> StoredEntity:
    world = request.world
    existing = [entity for entity in world.list_entities(kind, account.id) if entity.data["status"] != "archived"]
    if len(existing) >= tables.MAX_OBJECTS_PER_KIND:
        raise rule_error("", f"The account has {tables.MAX_OBJECTS_PER_KIND} of these already.")
    data = {**_CREATION_DEFAULTS[kind], **members}
    parent = None
    if kind in tables.PARENT_KINDS:
        parent = data.pop(tables.PARENT_ID_MEMBERS[kind])
        above = world.find(tables.PARENT_KINDS[kind], parent, account.id)
        if above is None:
            raise not_found_error(tables.PARENT_KINDS[kind])
        if above.data["status"] == "archived":
            raise rule_error(f"/{tables.PARENT_ID_MEMBERS[kind]}", f"The {tables.PARENT_KINDS[kind]} is archived.")
    data = _complete_entity(request, kind, account, data, None, parent, key=key)
    return world.create(kind, account.id, data, parent=parent, id=_allocate_native_id(request, kind))


def update_entity(request: Request) -> Response:
    """POST to one object: members that are not sent keep their values; objects and arrays are replaced whole."""
    request.parse_query()
    _refuse_idempotency_key(request)
    entity, account = require_entity(request), require_account(request)
    members = UPDATE_CHECKS[entity.kind](request.parse_json(), "")
    check_not_archived(entity)
    if "budget" in members:
        rules.check_budget_change(request.world, entity, members["budget"])
    if members.get("targeting") is not None:
        members["targeting"] = _merge_targeting(members["targeting"], entity.data.get("targeting"))
    data = {**entity.data, **members}
    data = _complete_entity(request, entity.kind, account, data, entity.data, entity.parent, key=False)
    return build_response(request, render_entity(request.world, request.world.replace(entity, data)))


def set_status(request: Request) -> Response:
    """POST to activate, pause or archive: without a body."""
    request.parse_query()
    _refuse_idempotency_key(request)
    if request.body:
        raise InvalidRequest("unknown", "", "this call has no body")
    entity = require_entity(request)
    check_not_archived(entity)
    status = _STATUS_BY_ACTION[request.path_parameters["verb"]]
    return build_response(
        request, render_entity(request.world, request.world.replace(entity, {**entity.data, "status": status}))
    )


def _complete_entity(
    request: Request,
    kind: str,
    account: Account,
    data: dict[str, Any],
    old: Mapping[str, Any] | None,
    parent: str | None,
    *,
    key: bool,
) -> dict[str, Any]:
    """An object as the network stores it. Raises InvalidRequest."""
    world = request.world
    if kind == "campaign":
        targeting = data.get("targeting")
        if targeting is None:  # empty targeting means all available locations
            data = {**data, "targeting": {}}
        elif "platforms" in targeting and targeting["platforms"] is None:
            data = {**data, "targeting": {name: value for name, value in targeting.items() if name != "platforms"}}
        rules.check_campaign(world, account, data, old)
    elif kind == "ad_group":
        bidding = {"strategy": "fixed_bid", **data["bidding_config"]}
        data = {**data, "bidding_config": bidding}
        above = world.find("campaign", str(parent))
        assert above is not None, "an ad group has a campaign"
        # a new strategy requires an Idempotency-Key; an update has no key, so it must keep the strategy (our choice)
        same = old is not None and old["bidding_config"]["strategy"] == bidding["strategy"]
        rules.check_ad_group(account, data, above, key=key or same)
    else:
        rules.check_ad(data, old)
        if old is None or old["creative"] != data["creative"]:  # a new review
            data = {**data, "_submitted": int(world.now.timestamp())}
    return data


def _merge_targeting(new: Mapping[str, Any], old: Mapping[str, Any] | None) -> dict[str, Any]:
    """Merge the targeting of an update.

    If the update has only platforms, locations and audiences stay. Any other update replaces the whole targeting.
    """
    return {**(old or {}), **new} if {*new} == {"platforms"} else dict(new)


def _refuse_idempotency_key(request: Request) -> None:
    """Only creates take an Idempotency-Key; other calls refuse it (our choice)."""
    if "Idempotency-Key" in request.headers:
        raise InvalidRequest("header", "Idempotency-Key", "is not accepted here")


def _allocate_native_id(request: Request, kind: str) -> str:
    return f"{tables.ID_PREFIXES[kind]}{request.world.allocate_id()}"
