"""POST, PUT and DELETE of one object, and the bulk calls of keywords."""

from collections.abc import Callable
from typing import Any

from adsunify.sandbox.checks import any_value, array, boolean, integer, record, rule_error
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.apple import entities, rules
from adsunify.sandbox.networks.apple.answers import INSTANT, build_response, render_error, require_account
from adsunify.sandbox.networks.apple.fields import CREATE_CHECKS, IMMUTABLE_MEMBERS, UPDATE_CHECKS
from adsunify.sandbox.networks.apple.tables import MAX_BULK_ITEMS
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import Account, StoredEntity, World

BULK_FAULTS = frozenset({"partial", "error_in_200"})
_ID_CHECK = integer(1)
_BULK_ITEM_CHECK = record(required={"data": any_value}, optional={"correlationId": integer(0)})
_BULK_CHECK = record(required={"items": array(_BULK_ITEM_CHECK, 1)}, optional={"allowPartialSuccess": boolean})


def create_entity(request: Request) -> Response:
    """POST /{word}."""
    request.parse_query()
    entity = _create_entity(
        request.world,
        require_account(request),
        entities.KIND_BY_COLLECTION[request.path_parameters["word"]],
        request.parse_json(),
    )
    return build_response({"result": entities.render_entity(request.world, entity)})


def update_entity(request: Request) -> Response:
    """PUT /{word}/{id}: absent members keep their values, and an object or array replaces the whole member.

    Whether the other members of a nested object survive is unverified: in this simulation they do not.
    """
    request.parse_query()
    account, kind = require_account(request), entities.KIND_BY_COLLECTION[request.path_parameters["word"]]
    entity = _update_entity(request.world, account, kind, request.path_parameters["id"], request.parse_json())
    return build_response({"result": entities.render_entity(request.world, entity)})


def delete_entity(request: Request) -> Response:
    """DELETE /{word}/{id}: marks the object and all objects below it as deleted. The response has no body."""
    request.parse_query()
    account, kind = require_account(request), entities.KIND_BY_COLLECTION[request.path_parameters["word"]]
    _delete_entity(
        request.world, entities.require_live_entity(request.world, account, kind, request.path_parameters["id"])
    )
    return build_response(None, 204)


def apply_bulk_action(request: Request) -> Response:
    """POST /keywords/bulk-create, -update, -delete: one result per item, in the order of the request."""
    request.parse_query()
    account, action = require_account(request), request.path_parameters["action"]
    body = request.parse_json(_BULK_CHECK)
    items, partial = body["items"], body.get("allowPartialSuccess", False)
    if request.get_fault("error_in_200") or len(items) > MAX_BULK_ITEMS:  # the whole request is refused
        return build_response({"error": render_error(rule_error("/items", f"at most {MAX_BULK_ITEMS} items"))})
    numbers = [item.get("correlationId", position) for position, item in enumerate(items)]
    if len(set(numbers)) < len(numbers):
        raise rule_error("/items", "every correlationId stands once")
    rows: list[dict[str, Any]] = []
    try:
        with request.world.savepoint():
            for position, (item, number) in enumerate(zip(items, numbers, strict=True)):
                row: dict[str, Any] = {"correlationId": number, "operation": action.upper()}
                try:
                    with request.world.savepoint():
                        if request.get_fault("partial") and position == len(items) - 1:
                            raise rule_error("", "this write fails by request")
                        result = _BULK_ACTIONS[action](request.world, account, item["data"])
                except InvalidRequest as problem:
                    rows.append({**row, "success": False, "error": render_error(problem)})
                else:
                    rows.append({**row, "success": True, "result": result})
            if not partial and not all(row["success"] for row in rows):
                raise _BatchRejected
    except _BatchRejected:
        other = {"code": "BATCH_REJECTED", "message": "another item was refused", "details": []}
        rows = [
            row if not row["success"] else {**row, "success": False, "result": None, "error": other} for row in rows
        ]
    return build_response({"result": rows})


class _BatchRejected(Exception):
    """One item was refused, so no item is applied."""


def _create_entity(world: World, account: Account, kind: str, content: Any) -> StoredEntity:
    data = CREATE_CHECKS[kind](content, "")
    parent = None
    if kind == "campaign":
        data = rules.check_campaign(data, None, world, account)
    elif kind == "creative":
        data = {"creativeSpec": {}, **data, "systemStatus": "PENDING"}
    else:
        above_kind, name = entities.PARENT_KINDS[kind]
        above = world.find(above_kind, str(data[name]), account.id)
        if above is None or "_deleted" in above.data:
            raise rule_error(f"/{name}", f"no such {above_kind}")
        parent = above.id
        data = _apply_rules(world, account, kind, data, None, above)
    return world.create(kind, account.id, data, parent=parent)


def _apply_rules(
    world: World, account: Account, kind: str, data: dict[str, Any], old: StoredEntity | None, above: StoredEntity
) -> dict[str, Any]:
    if kind == "adGroup":
        return rules.check_ad_group(data, old.data if old else None, world, account, above)
    check = rules.check_ad if kind == "ad" else rules.check_keyword
    return check(data, world, account, above, old.id if old else None)


def _update_entity(world: World, account: Account, kind: str, native_id: object, content: Any) -> StoredEntity:
    entity = entities.require_live_entity(world, account, kind, native_id)
    for name in IMMUTABLE_MEMBERS[kind]:
        if isinstance(content, dict) and name in content:
            raise InvalidRequest("immutable", f"/{name}", "is set at creation")
    members = UPDATE_CHECKS[kind](content, "")
    if not members:
        raise rule_error("", "nothing is given to change")  # our choice: undocumented
    data = {**entity.data, **members}
    if kind == "campaign":
        data = rules.check_campaign(data, entity.data, world, account)
    elif kind in entities.PARENT_KINDS:
        above = world.find(entities.PARENT_KINDS[kind][0], str(entity.parent))
        assert above is not None
        data = _apply_rules(world, account, kind, data, entity, above)
    return world.replace(entity, data)


def _delete_entity(world: World, entity: StoredEntity) -> StoredEntity:
    for kind in entities.CHILD_KINDS.get(entity.kind, ()):
        for child in world.list_entities(kind, entity.account, entity.id):
            if "_deleted" not in child.data:
                _delete_entity(world, child)
    return world.replace(entity, {**entity.data, "_deleted": INSTANT.format(world.now)})


def _create_bulk_item(world: World, account: Account, content: Any) -> dict[str, Any]:
    return entities.render_entity(world, _create_entity(world, account, "keyword", content))


def _update_bulk_item(world: World, account: Account, content: Any) -> dict[str, Any]:
    native_id = record(required={"id": _ID_CHECK}, optional=dict.fromkeys(content, any_value))(content, "")["id"]
    change = {name: value for name, value in content.items() if name != "id"}
    return entities.render_entity(world, _update_entity(world, account, "keyword", native_id, change))


def _delete_bulk_item(world: World, account: Account, content: Any) -> dict[str, Any]:
    native_id = record(required={"id": _ID_CHECK})(content, "")["id"]
    return entities.render_entity(
        world, _delete_entity(world, entities.require_live_entity(world, account, "keyword", native_id))
    )


_BULK_ACTIONS: dict[str, Callable[[World, Account, Any], dict[str, Any]]] = {
    "create": _create_bulk_item,
    "update": _update_bulk_item,
    "delete": _delete_bulk_item,
}
