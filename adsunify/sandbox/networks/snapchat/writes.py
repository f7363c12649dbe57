"""POST, PUT and DELETE.

The objects of one request succeed or fail alone: a failed one is an item with `sub_request_status` ERROR in a 200, and
is not applied. A wrong shape of the body refuses the whole request with 400 (our choice: errors of the envelope are
400, errors of an object are in its item). PUT replaces the object: a member that is left out is removed; the object is
refused if the member is required or fixed.
"""

import uuid
from collections.abc import Callable, Mapping
from typing import Any

from adsunify.sandbox.checks import any_value, array, record, rule_error
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.snapchat import answers, entities, fields, rules
from adsunify.sandbox.networks.snapchat.tables import MAX_BATCH_SIZES
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import Account, StoredEntity

BATCH_FAULTS = frozenset({"partial", "error_in_200"})


def create_entities(request: Request) -> Response:
    """POST of `{"campaigns": [...]}` and the like below the parent of all of them."""
    return _apply_each(request, _create_entity)


def replace_entities(request: Request) -> Response:
    """PUT of the whole objects."""
    return _apply_each(request, _replace_entity)


def delete_entity(request: Request) -> Response:
    """DELETE of one object. Objects below it stay, and their `delivery_status` changes (our choice)."""
    request.parse_query()
    word = request.path_parameters["kind"]
    kind = entities.KIND_BY_COLLECTION[word]
    entity = request.world.find(kind, request.path_parameters["id"])
    if entity is None or "_deleted" in entity.data:
        raise answers.not_found_error(request, kind)
    answers.require_permitted_account(request, entity.account, writing=True)
    if request.get_fault("error_in_200"):
        reason = "Error code: E2002, message: this write fails by request"
        item = {"sub_request_status": "ERROR", "sub_request_error_reason": reason}
        return answers.build_response(request, {word: [item]}, "ERROR")
    request.world.replace(entity, {**entity.data, "_deleted": True})
    return answers.build_response(request, {}, "SUCCESS")


def _apply_each(request: Request, apply: Callable[[Request, str, Account, Any], StoredEntity]) -> Response:
    request.parse_query()
    word = request.path_parameters["kind"]
    kind, account = entities.KIND_BY_COLLECTION[word], _require_account(request)
    batch = request.parse_json(record({word: array(any_value, 1, MAX_BATCH_SIZES[word])}))[word]
    items: list[dict[str, Any]] = []
    for position, item in enumerate(batch):
        try:
            with request.world.savepoint():
                _raise_fault(request, position == len(batch) - 1)
                entity = apply(request, kind, account, item)
        except InvalidRequest as problem:
            status, code = answers.map_error(problem)
            if status == 400 and code == "E1001":
                code = "E2002"  # the wrong member is in the object, not in the envelope
            reason = f"Error code: {code}, message: {problem.format_sentence()}"
            items.append({"sub_request_status": "ERROR", "sub_request_error_reason": reason})
        else:
            items.append({"sub_request_status": "SUCCESS", kind: entities.render_entity(request.world, entity)})
    good = sum("sub_request_error_reason" not in item for item in items)
    return answers.build_response(
        request, {word: items}, "SUCCESS" if good == len(items) else "PARTIAL" if good else "ERROR"
    )


def _require_account(request: Request) -> Account:
    """The ad account of the parent in the path. Raises InvalidRequest `role`, or AbortRequest for an unknown parent."""
    above, native_id = request.path_parameters["above"], request.path_parameters["id"]
    if above == "adaccounts":
        return answers.require_permitted_account(request, native_id, writing=True)
    parent = request.world.find(entities.KIND_BY_COLLECTION[above], native_id)
    if parent is None or "_deleted" in parent.data:
        raise answers.not_found_error(request, entities.KIND_BY_COLLECTION[above])
    return answers.require_permitted_account(request, parent.account, writing=True)


def _raise_fault(request: Request, last: bool) -> None:
    if request.get_fault("error_in_200") or (last and request.get_fault("partial")):
        raise rule_error("", "this write fails by request")
    if request.get_fault("slow_media"):
        raise rules.media_pending_error()


def _create_entity(request: Request, kind: str, account: Account, item: Any) -> StoredEntity:
    _reject_members(
        item, (*fields.DEPRECATED_MEMBERS, *fields.DERIVED_MEMBERS[kind], *fields.READ_ONLY_MEMBERS), "must not be sent"
    )
    data = fields.CREATE_CHECKS[kind](item, "")
    _check_parent_in_path(request, kind, data)
    now = rules.format_now(request)
    if kind == "campaign":
        members, parent = rules.check_campaign(data, None, account, now), None
    elif kind == "adsquad":
        above = _require_parent(request, kind, data)
        members, parent = rules.check_ad_squad(data, None, above, now), above.id
    else:
        above = _require_parent(request, kind, data)
        rules.check_ad(request, data, above)
        rules.check_creative_reuse(request, data)
        if "child_ad_type" not in above.data:  # the first ad sets it
            request.world.replace(above, {**above.data, "child_ad_type": data["type"]}, logged=False)
        members, parent = data, above.id
    native_id = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{kind}/{request.world.allocate_id()}"))
    return request.world.create(kind, account.id, members, parent=parent, id=native_id)


def _replace_entity(request: Request, kind: str, account: Account, item: Any) -> StoredEntity:
    _reject_members(
        item, (*fields.DEPRECATED_MEMBERS, *fields.READ_ONLY_MEMBERS), "is read-only"
    )  # our choice: refused, not ignored
    data = fields.REPLACE_CHECKS[kind](item, "")
    entity = request.world.find(kind, data.pop("id"), account.id)
    if entity is None or "_deleted" in entity.data:
        raise InvalidRequest("missing", "/id", f"no such {kind}")
    old = {name: value for name, value in entity.data.items() if not name.startswith("_")}
    hidden = {name: value for name, value in entity.data.items() if name.startswith("_")}
    _check_parent_in_path(request, kind, data)
    now = rules.format_now(request)
    if kind == "campaign":
        data = rules.check_campaign(data, old, account, now)
    rules.check_immutable(kind, old, data, now)
    if kind == "adsquad":
        if data["type"] == "SNAP_ADS" and old.get("child_ad_type") == "COLLECTION":
            raise InvalidRequest("collection", "", "COLLECTION ad squads cannot be edited")
        data = rules.check_ad_squad(data, old, _require_parent(request, kind, data), now)
    return request.world.replace(entity, {**data, **hidden})


def _check_parent_in_path(request: Request, kind: str, data: Mapping[str, Any]) -> None:
    """Check that an object names the parent of the path."""
    if kind != "campaign" and data[entities.PARENT_ID_MEMBERS[kind]] != request.path_parameters["id"]:
        raise rule_error(f"/{entities.PARENT_ID_MEMBERS[kind]}", "must be the parent of the path")


def _require_parent(request: Request, kind: str, data: Mapping[str, Any]) -> StoredEntity:
    above = request.world.find(entities.PARENT_KINDS[kind], data[entities.PARENT_ID_MEMBERS[kind]])
    assert above is not None, "the parent of the path was found before"
    return above


def _reject_members(item: Any, names: tuple[str, ...], reason: str) -> None:
    for name in names:
        if isinstance(item, dict) and name in item:
            raise rule_error(f"/{name}", reason)
