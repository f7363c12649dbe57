"""POST, PUT and DELETE of one object, and the bulk calls of keywords."""

from collections.abc import Callable
from typing import Any

from adsunify.sandbox.framework import (
    Account,
    Answer,
    Entity,
    Problem,
    Request,
    World,
    anything,
    boolean,
    integer,
    listing,
    record,
)
from adsunify.sandbox.networks.apple import rules
from adsunify.sandbox.networks.apple.answers import account_of, answered, native_error, refused, written
from adsunify.sandbox.networks.apple.entities import ABOVE, BELOW, KINDS, alive, view
from adsunify.sandbox.networks.apple.fields import CREATE, LOCKED, UPDATE
from adsunify.sandbox.networks.apple.tables import MOST_BULK_ITEMS

BULK_FAULTS = frozenset({"partial", "error_in_200"})
_ID = integer(1)
_ITEM = record(required={"data": anything}, optional={"correlationId": integer(0)})
_BULK = record(required={"items": listing(_ITEM, 1)}, optional={"allowPartialSuccess": boolean})


def create(request: Request) -> Answer:
    """POST /{word}."""
    request.query()
    entity = _create(request.world, account_of(request), KINDS[request.slots["word"]], request.json())
    return answered({"result": view(request.world, entity)})


def update(request: Request) -> Answer:
    """PUT /{word}/{id}: what is absent stays, and an object or array that is given replaces the whole of it.

    Whether the siblings in a nested object survive is unverified: here they do not.
    """
    request.query()
    account, kind = account_of(request), KINDS[request.slots["word"]]
    entity = _update(request.world, account, kind, request.slots["id"], request.json())
    return answered({"result": view(request.world, entity)})


def delete(request: Request) -> Answer:
    """DELETE /{word}/{id}: marked as deleted, with all that is below. No body comes back."""
    request.query()
    account, kind = account_of(request), KINDS[request.slots["word"]]
    _delete(request.world, alive(request.world, account, kind, request.slots["id"]))
    return answered(None, 204)


def bulk(request: Request) -> Answer:
    """POST /keywords/bulk-create, -update, -delete: items in the order of the request, each with its outcome."""
    request.query()
    account, action = account_of(request), request.slots["action"]
    given = request.json(_BULK)
    items, partial = given["items"], given.get("allowPartialSuccess", False)
    if request.told("error_in_200") or len(items) > MOST_BULK_ITEMS:  # in front of the items: none is processed
        return answered({"error": native_error(refused("/items", f"at most {MOST_BULK_ITEMS} items"))})
    numbers = [item.get("correlationId", position) for position, item in enumerate(items)]
    if len(set(numbers)) < len(numbers):
        raise refused("/items", "every correlationId stands once")
    rows: list[dict[str, Any]] = []
    try:
        with request.world.savepoint():
            for position, (item, number) in enumerate(zip(items, numbers, strict=True)):
                row: dict[str, Any] = {"correlationId": number, "operation": action.upper()}
                try:
                    with request.world.savepoint():
                        if request.told("partial") and position == len(items) - 1:
                            raise refused("", "told to fail")
                        result = _BULK_ACTIONS[action](request.world, account, item["data"])
                except Problem as problem:
                    rows.append({**row, "success": False, "error": native_error(problem)})
                else:
                    rows.append({**row, "success": True, "result": result})
            if not partial and not all(row["success"] for row in rows):
                raise _BatchRejected
    except _BatchRejected:
        other = {"code": "BATCH_REJECTED", "message": "another item was refused", "details": []}
        rows = [row if not row["success"] else {**row, "success": False, "result": None, "error": other}
                for row in rows]  # fmt: skip
    return answered({"result": rows})


class _BatchRejected(Exception):
    """One item was refused, and none is applied."""


def _create(world: World, account: Account, kind: str, sent: Any) -> Entity:
    data = CREATE[kind](sent, "")
    parent = None
    if kind == "campaign":
        data = rules.campaign(data, None, world, account)
    elif kind == "creative":
        data = {"creativeSpec": {}, **data, "systemStatus": "PENDING"}
    else:
        above_kind, name = ABOVE[kind]
        found = world.find(above_kind, str(data[name]), account.id)
        if found is None or "_deleted" in found.data:
            raise refused(f"/{name}", f"no such {above_kind}")
        parent = found.id
        data = _ruled(world, account, kind, data, None, found)
    return world.create(kind, account.id, data, parent=parent)


def _ruled(
    world: World, account: Account, kind: str, data: dict[str, Any], old: Entity | None, above: Entity
) -> dict[str, Any]:
    if kind == "adGroup":
        return rules.ad_group(data, old.data if old else None, world, account, above)
    check = rules.ad if kind == "ad" else rules.keyword
    return check(data, world, account, above, old.id if old else None)


def _update(world: World, account: Account, kind: str, native_id: object, sent: Any) -> Entity:
    entity = alive(world, account, kind, native_id)
    for name in LOCKED[kind]:
        if isinstance(sent, dict) and name in sent:
            raise Problem("immutable", f"/{name}", "is set at creation")
    given = UPDATE[kind](sent, "")
    if not given:
        raise refused("", "nothing is given to change")  # chosen
    data = {**entity.data, **given}
    if kind == "campaign":
        data = rules.campaign(data, entity.data, world, account)
    elif kind in ABOVE:
        above = world.find(ABOVE[kind][0], str(entity.parent))
        assert above is not None
        data = _ruled(world, account, kind, data, entity, above)
    return world.put(entity, data)


def _delete(world: World, entity: Entity) -> Entity:
    for kind in BELOW.get(entity.kind, ()):
        for one in world.entities(kind, entity.account, entity.id):
            if "_deleted" not in one.data:
                _delete(world, one)
    return world.put(entity, {**entity.data, "_deleted": written(world.now)})


def _bulk_create(world: World, account: Account, sent: Any) -> dict[str, Any]:
    return view(world, _create(world, account, "keyword", sent))


def _bulk_update(world: World, account: Account, sent: Any) -> dict[str, Any]:
    native_id = record(required={"id": _ID}, optional=dict.fromkeys(sent, anything))(sent, "")["id"]
    change = {name: value for name, value in sent.items() if name != "id"}
    return view(world, _update(world, account, "keyword", native_id, change))


def _bulk_delete(world: World, account: Account, sent: Any) -> dict[str, Any]:
    native_id = record(required={"id": _ID})(sent, "")["id"]
    return view(world, _delete(world, alive(world, account, "keyword", native_id)))


_BULK_ACTIONS: dict[str, Callable[[World, Account, Any], dict[str, Any]]] = {
    "create": _bulk_create,
    "update": _bulk_update,
    "delete": _bulk_delete,
}
