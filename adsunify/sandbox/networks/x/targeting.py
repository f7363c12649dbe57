"""Targeting criteria of line items: one by one, and in atomic batches of up to 500."""

from typing import Any

from adsunify.sandbox.framework import Account, Answer, Check, Entity, Problem, Request, choice, record, text
from adsunify.sandbox.networks.x.answers import Data, account_of, answered, flag, given, many, new_id, stamps
from adsunify.sandbox.networks.x.catalogs import name_of
from adsunify.sandbox.networks.x.entities import batch, typed
from adsunify.sandbox.networks.x.fields import alive
from adsunify.sandbox.networks.x.lists import listed
from adsunify.sandbox.networks.x.tables import IDS, MOST_CRITERIA, OPERATORS, TARGETING

KIND = "targeting_criterion"
BATCH = 500
_ID = text(pattern="[0-9a-z]+")
_MEMBERS: dict[str, Check] = {
    "line_item_id": _ID,
    "targeting_type": choice(*TARGETING),
    "targeting_value": text(),
}
_OPERATOR: dict[str, Check] = {"operator_type": choice(*OPERATORS)}


def create(request: Request) -> Answer:
    """`POST accounts/:a/targeting_criteria`: the operator is required here."""
    return answered(request, _view(_create(request, account_of(request), given(request, _MEMBERS | _OPERATOR))))


def criteria(request: Request) -> Answer:
    """`GET accounts/:a/targeting_criteria?line_item_ids=`."""
    rows = [_view(one) for one in request.world.entities(KIND, account_of(request).id)]
    filters = {"line_item_ids": "line_item_id", "targeting_criterion_ids": "id"}
    return listed(request, rows, filters, {"line_item_ids": many(_ID, IDS)}, {"lang": text()})


def one_criterion(request: Request) -> Answer:
    """`GET accounts/:a/targeting_criteria/:id`."""
    given(request, optional={"with_deleted": flag, "lang": text()})
    return answered(request, _view(alive(request.world, KIND, request.slots["id"], account_of(request))))


def delete(request: Request) -> Answer:
    """`DELETE accounts/:a/targeting_criteria/:id`."""
    given(request)
    found = alive(request.world, KIND, request.slots["id"], account_of(request))
    return answered(request, _view(_delete(request, found)))


def _apply(request: Request, operation: str, sent: Any) -> Data:
    account = account_of(request)
    if operation == "Create":
        return _view(_create(request, account, record(typed(_MEMBERS), _OPERATOR)(sent, "")))
    named = record({"targeting_criterion_id": _ID})(sent, "")["targeting_criterion_id"]
    return _view(_delete(request, alive(request.world, KIND, named, account)))


many_at_once = batch(BATCH, ("Create", "Delete"), _apply)
"""`POST /12/batch/accounts/:a/targeting_criteria`."""


def _create(request: Request, account: Account, sent: Data) -> Entity:
    world = request.world
    item = alive(world, "line_item", sent["line_item_id"], account)
    kind, value = sent["targeting_type"], sent["targeting_value"]
    text(1, 500, TARGETING[kind])(value, "targeting_value")
    beside = [
        one.data["targeting_type"] for one in world.entities(KIND, account.id, item.id) if not one.data["deleted"]
    ]
    for kinds, most in MOST_CRITERIA:
        if kind in kinds and sum(one in kinds for one in beside) >= most:
            raise Problem(
                "REQUEST_TOO_COMPLEX", "targeting_type", f"at most {most} of {', '.join(sorted(kinds))}", kind
            )
    data = {"operator_type": "EQ", **sent, "deleted": False}
    return world.create(KIND, account.id, data, parent=item.id, id=new_id(world))


def _delete(request: Request, found: Entity) -> Entity:
    return request.world.put(found, {**found.data, "deleted": True})


def _view(entity: Entity) -> Data:
    data = entity.data
    return {
        "id": entity.id,
        **{name: data[name] for name in (*_MEMBERS, "operator_type", "deleted")},
        "name": name_of(data["targeting_type"], data["targeting_value"]),
        **stamps(entity),
    }
