"""POST, PUT and DELETE.

The objects of one request succeed or fail alone: a failed one is an item with `sub_request_status` ERROR in a 200, and
nothing of it is applied. What is wrong with the shape of a body refuses the whole request with 400 (where the line lies
is chosen: the envelope, 400; anything about an object, its item). PUT replaces: what is left out is lost, and refused
where it is required or locked.
"""

import uuid
from collections.abc import Callable, Mapping
from typing import Any

from adsunify.sandbox.framework import Account, Answer, Entity, Problem, Request, anything, listing, record
from adsunify.sandbox.networks.snapchat import rules
from adsunify.sandbox.networks.snapchat.answers import (
    absent,
    answered,
    native_code,
    permitted,
    refused,
    sentence,
)
from adsunify.sandbox.networks.snapchat.entities import ABOVE, KINDS, PARENT_KEY, view
from adsunify.sandbox.networks.snapchat.fields import CREATE, DEPRECATED, DERIVED, READ_ONLY, REPLACE
from adsunify.sandbox.networks.snapchat.tables import BATCH

FAULTS = frozenset({"partial", "error_in_200"})


def create(request: Request) -> Answer:
    """POST of `{"campaigns": [...]}` and the like below the parent of all of them."""
    return _each(request, _create)


def replace(request: Request) -> Answer:
    """PUT of the whole objects."""
    return _each(request, _replace)


def delete(request: Request) -> Answer:
    """DELETE of one object. What is below it stays and says so in its `delivery_status` (chosen)."""
    request.query()
    word = request.slots["kind"]
    kind = KINDS[word]
    entity = request.world.find(kind, request.slots["id"])
    if entity is None or "_deleted" in entity.data:
        raise absent(request, kind)
    permitted(request, entity.account, writing=True)
    if request.told("error_in_200"):
        item = {"sub_request_status": "ERROR", "sub_request_error_reason": "Error code: E2002, message: told to fail"}
        return answered(request, {word: [item]}, "ERROR")
    request.world.put(entity, {**entity.data, "_deleted": True})
    return answered(request, {}, "SUCCESS")


def _each(request: Request, apply: Callable[[Request, str, Account, Any], Entity]) -> Answer:
    request.query()
    word = request.slots["kind"]
    kind, account = KINDS[word], _account(request)
    sent = request.json(record({word: listing(anything, 1, BATCH[word])}))[word]
    items: list[dict[str, Any]] = []
    for position, item in enumerate(sent):
        try:
            with request.world.savepoint():
                _fail_as_told(request, position == len(sent) - 1)
                entity = apply(request, kind, account, item)
        except Problem as problem:
            status, code = native_code(problem)
            if status == 400 and code == "E1001":
                code = "E2002"  # a member of the object, not of the envelope
            reason = f"Error code: {code}, message: {sentence(problem)}"
            items.append({"sub_request_status": "ERROR", "sub_request_error_reason": reason})
        else:
            items.append({"sub_request_status": "SUCCESS", kind: view(request.world, entity)})
    good = sum("sub_request_error_reason" not in item for item in items)
    return answered(request, {word: items}, "SUCCESS" if good == len(items) else "PARTIAL" if good else "ERROR")


def _account(request: Request) -> Account:
    """The ad account that the parent of the path is of. Problem `role`, or the refusal of a parent that is not."""
    above, native_id = request.slots["above"], request.slots["id"]
    if above == "adaccounts":
        return permitted(request, native_id, writing=True)
    parent = request.world.find(KINDS[above], native_id)
    if parent is None or "_deleted" in parent.data:
        raise absent(request, KINDS[above])
    return permitted(request, parent.account, writing=True)


def _fail_as_told(request: Request, last: bool) -> None:
    if request.told("error_in_200") or (last and request.told("partial")):
        raise refused("", "told to fail")
    if request.told("slow_media"):
        raise rules.media_pending()


def _create(request: Request, kind: str, account: Account, item: Any) -> Entity:
    _no(item, (*DEPRECATED, *DERIVED[kind], *READ_ONLY), "must not be sent")
    data = CREATE[kind](item, "")
    _below_path(request, kind, data)
    now = rules.now_of(request)
    if kind == "campaign":
        kept, parent = rules.campaign(data, None, account, now), None
    elif kind == "adsquad":
        above = _parent(request, kind, data)
        kept, parent = rules.ad_squad(data, None, above, now), above.id
    else:
        above = _parent(request, kind, data)
        rules.ad(request, data, above)
        rules.not_too_soon(request, data)
        if "child_ad_type" not in above.data:  # set by the first ad
            request.world.put(above, {**above.data, "child_ad_type": data["type"]}, logged=False)
        kept, parent = data, above.id
    native_id = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{kind}/{request.world.allocate()}"))
    return request.world.create(kind, account.id, kept, parent=parent, id=native_id)


def _replace(request: Request, kind: str, account: Account, item: Any) -> Entity:
    _no(item, (*DEPRECATED, *READ_ONLY), "is read-only")  # chosen: refused, not passed over
    data = REPLACE[kind](item, "")
    entity = request.world.find(kind, data.pop("id"), account.id)
    if entity is None or "_deleted" in entity.data:
        raise Problem("missing", "/id", f"no such {kind}")
    old = {name: value for name, value in entity.data.items() if not name.startswith("_")}
    hidden = {name: value for name, value in entity.data.items() if name.startswith("_")}
    _below_path(request, kind, data)
    now = rules.now_of(request)
    if kind == "campaign":
        data = rules.campaign(data, old, account, now)
    rules.locked(kind, old, data, now)
    if kind == "adsquad":
        if data["type"] == "SNAP_ADS" and old.get("child_ad_type") == "COLLECTION":
            raise Problem("collection", "", "COLLECTION ad squads cannot be edited")
        data = rules.ad_squad(data, old, _parent(request, kind, data), now)
    return request.world.put(entity, {**data, **hidden})


def _below_path(request: Request, kind: str, data: Mapping[str, Any]) -> None:
    """The parent that an object names is the one of the path."""
    if kind != "campaign" and data[PARENT_KEY[kind]] != request.slots["id"]:
        raise refused(f"/{PARENT_KEY[kind]}", "must be the parent of the path")


def _parent(request: Request, kind: str, data: Mapping[str, Any]) -> Entity:
    above = request.world.find(ABOVE[kind], data[PARENT_KEY[kind]])
    assert above is not None, "the parent of the path was found before"
    return above


def _no(item: Any, names: tuple[str, ...], why: str) -> None:
    for name in names:
        if isinstance(item, dict) and name in item:
            raise refused(f"/{name}", why)
