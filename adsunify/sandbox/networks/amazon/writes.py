"""Create, update and delete of the four resources: HTTP 207, item by item, batches are not atomic."""

from collections.abc import Callable, Mapping
from typing import Any

from adsunify.sandbox.framework import Answer, Entity, Problem, Request, listing, parse_json, record
from adsunify.sandbox.networks.amazon import rules
from adsunify.sandbox.networks.amazon.answers import ItemError, profile, today
from adsunify.sandbox.networks.amazon.entities import ANY_TEXT, ARCHIVED, CREATE, UPDATE, Data, Resource
from adsunify.sandbox.networks.amazon.rules import Item
from adsunify.sandbox.networks.amazon.tables import ITEMS

Handler = Callable[[Request], Answer]
FAULTS = frozenset({"partial", "error_in_200"})


def body_of(request: Request, media: str, check: Callable[[Any, str], Any]) -> Any:
    """The checked body of a call whose Content-Type and Accept are both the resource's vendor type."""
    request.media(media)
    request.accept(media)
    request.query()
    return check(parse_json(request.body), "")


def creating(resource: Resource) -> Handler:
    """`POST /sp/<collection>`."""
    body = record(required={resource.collection: listing(resource.shape(CREATE), 0, ITEMS)})

    def create(request: Request, item: Item, given: Data) -> Entity:
        _check(resource, item, given)
        for name, member in resource.members.items():
            if member.required and name not in given:
                raise rules.missing(f"{item.where}/{name}")
        parent = _parent(resource, item, given)
        data = {name: value for name, value in given.items() if value is not None}
        resource.settle(item, data)
        return request.world.create(resource.kind, item.account.id, data, parent=parent)

    def handle(request: Request) -> Answer:
        return _each(request, resource, body_of(request, resource.media, body)[resource.collection], create)

    return handle


def updating(resource: Resource) -> Handler:
    """`PUT /sp/<collection>`: the id and the changed members; what is not sent stays."""
    body = record(required={resource.collection: listing(resource.shape(UPDATE), 0, ITEMS)})

    def update(request: Request, item: Item, given: Data) -> Entity:
        if resource.id_name not in given:
            raise rules.missing(f"{item.where}/{resource.id_name}")
        before = _found(resource, item, given[resource.id_name], f"{item.where}/{resource.id_name}")
        changed = {name: value for name, value in given.items() if name != resource.id_name}
        item = Item(item.world, item.account, item.today, item.where, before)
        _check(resource, item, changed)
        data = {name: value for name, value in {**before.data, **changed}.items() if value is not None}
        resource.settle(item, data)
        return request.world.put(before, data)

    def handle(request: Request) -> Answer:
        return _each(request, resource, body_of(request, resource.media, body)[resource.collection], update)

    return handle


def deleting(resource: Resource) -> Handler:
    """`POST /sp/<collection>/delete`: archives, for good. Children keep their own state."""
    ids = record(required={"include": listing(ANY_TEXT, 0, ITEMS)})
    body = record(required={resource.id_filter: ids})

    def archive(request: Request, item: Item, entity_id: str) -> Entity:
        found = _found(resource, item, entity_id, item.where, parents=False)
        return request.world.put(found, {**found.data, "state": ARCHIVED})

    def handle(request: Request) -> Answer:
        given = body_of(request, resource.media, body)[resource.id_filter]["include"]
        return _each(request, resource, given, archive, f"/{resource.id_filter}/include")

    return handle


def _each(request: Request, resource: Resource, items: list[Any],
          apply: Callable[[Request, Item, Any], Entity], where: str | None = None) -> Answer:  # fmt: skip
    account, success, refused = profile(request), list[Data](), list[Data]()
    day, whole = today(request, account), _wants_whole(request)
    for index, given in enumerate(items):
        place = f"{where or f'/{resource.collection}'}/{index}"
        try:
            with request.world.savepoint():
                if request.told("error_in_200"):  # nothing is applied: every item is throttled
                    raise ItemError("throttledError", "THROTTLED", place, "Too many requests")
                made = apply(request, Item(request.world, account, day, place), given)
                if request.told("partial") and index == len(items) - 1:
                    raise ItemError("otherError", "OTHER_ERROR", place, "the last item was told to fail")
        except ItemError as error:
            refused.append({"index": index, "errors": [error.native()]})
            continue
        full = {resource.single: resource.view(made)} if whole else {}
        success.append({resource.id_name: made.id, "index": index, **full})
    body = {resource.collection: {"success": success, "error": refused}}
    return Answer(207, body, media_type=resource.media)


def _wants_whole(request: Request) -> bool:
    """`Prefer: return=representation`; RFC 7240's other value is the default."""
    wanted = request.headers.get("Prefer")
    if wanted not in (None, "return=representation", "return=minimal"):
        raise Problem("value", "Prefer", "must be return=representation", wanted)
    return wanted == "return=representation"


def _check(resource: Resource, item: Item, given: Mapping[str, Any]) -> None:
    for name, value in given.items():
        if value is not None:
            resource.members[name].rule(item, f"{item.where}/{name}", value)


def _parent(resource: Resource, item: Item, given: Mapping[str, Any]) -> str | None:
    """The nearest parent's id. Every parent named must exist, hang together, and not be archived."""
    above: str | None = None
    for name, kind in resource.parents:
        found = item.world.find(kind, given[name], item.account.id)
        place = f"{item.where}/{name}"
        if found is None or found.parent != above:
            raise ItemError("parentEntityError", "PARENT_ENTITY_NOT_FOUND", place, f"no such {kind}", given[name])
        if found.data["state"] == ARCHIVED:
            raise ItemError("parentEntityError", "PARENT_ENTITY_ARCHIVED", place, f"archived {kind}", given[name])
        above = found.id
    return above


def _found(resource: Resource, item: Item, entity_id: str, where: str, parents: bool = True) -> Entity:
    """The entity to change, which is not archived (nor, for an update, a parent of it)."""
    type_of = {"entityType": resource.entity_type}
    found = item.world.find(resource.kind, entity_id, item.account.id)
    if found is None:
        more = {**type_of, "entityId": entity_id}
        raise ItemError("entityNotFoundError", "ENTITY_NOT_FOUND", where, "no such entity", entity_id, more)
    if found.data["state"] == ARCHIVED:
        reason, message = "ARCHIVED_ENTITY_CANNOT_BE_MODIFIED", "the entity is archived"
        raise ItemError("entityStateError", reason, where, message, entity_id, type_of)
    for name, kind in resource.parents if parents else ():
        above = item.world.find(kind, found.data[name], item.account.id)
        if above is not None and above.data["state"] == ARCHIVED:
            reason, message = "PARENT_ARCHIVED_FORBIDS_UPDATES", f"its {kind} is archived"
            raise ItemError("entityStateError", reason, where, message, entity_id, type_of)
    return found
