"""Create, update and delete of the four resources: HTTP 207, item by item, batches are not atomic."""

from collections.abc import Callable, Mapping
from typing import Any

from adsunify.sandbox.checks import array, record
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.amazon import rules
from adsunify.sandbox.networks.amazon.answers import ItemError, require_account
from adsunify.sandbox.networks.amazon.entities import ANY_TEXT_CHECK, ARCHIVED, CREATE_CALL, UPDATE_CALL, Data, Resource
from adsunify.sandbox.networks.amazon.rules import WriteItem
from adsunify.sandbox.networks.amazon.tables import MAX_ITEMS
from adsunify.sandbox.parsing import InvalidRequest, parse_json
from adsunify.sandbox.world import StoredEntity

Handler = Callable[[Request], Response]
BATCH_FAULTS = frozenset({"partial", "error_in_200"})


def parse_body(request: Request, media: str, check: Callable[[Any, str], Any]) -> Any:
    """The checked body of a call whose Content-Type and Accept are both the resource's vendor type."""
    request.require_media_type(media)
    request.require_accept(media)
    request.parse_query()
    return check(parse_json(request.body), "")


def make_create_handler(resource: Resource) -> Handler:
    """`POST /sp/<collection>`."""
    body = record(required={resource.collection: array(resource.build_item_check(CREATE_CALL), 0, MAX_ITEMS)})

    def create(request: Request, item: WriteItem, members: Data) -> StoredEntity:
        _check_members(resource, item, members)
        for name, member in resource.members.items():
            if member.required and name not in members:
                raise rules.missing_value_error(f"{item.where}/{name}")
        parent = _require_parents(resource, item, members)
        data = {name: value for name, value in members.items() if value is not None}
        resource.settle_data(item, data)
        return request.world.create(resource.kind, item.account.id, data, parent=parent)

    def handle(request: Request) -> Response:
        return _apply_each(
            request, resource, parse_body(request, resource.media_type, body)[resource.collection], create
        )

    return handle


def make_update_handler(resource: Resource) -> Handler:
    """`PUT /sp/<collection>`: the id and the changed members; members that are not sent keep their values."""
    body = record(required={resource.collection: array(resource.build_item_check(UPDATE_CALL), 0, MAX_ITEMS)})

    def update(request: Request, item: WriteItem, members: Data) -> StoredEntity:
        if resource.id_name not in members:
            raise rules.missing_value_error(f"{item.where}/{resource.id_name}")
        before = _require_writable_entity(resource, item, members[resource.id_name], f"{item.where}/{resource.id_name}")
        changed = {name: value for name, value in members.items() if name != resource.id_name}
        item = WriteItem(item.world, item.account, item.today, item.where, before)
        _check_members(resource, item, changed)
        data = {name: value for name, value in {**before.data, **changed}.items() if value is not None}
        resource.settle_data(item, data)
        return request.world.replace(before, data)

    def handle(request: Request) -> Response:
        return _apply_each(
            request, resource, parse_body(request, resource.media_type, body)[resource.collection], update
        )

    return handle


def make_delete_handler(resource: Resource) -> Handler:
    """`POST /sp/<collection>/delete`: archives irrevocably. Children keep their state."""
    ids = record(required={"include": array(ANY_TEXT_CHECK, 0, MAX_ITEMS)})
    body = record(required={resource.id_filter: ids})

    def archive(request: Request, item: WriteItem, entity_id: str) -> StoredEntity:
        entity = _require_writable_entity(resource, item, entity_id, item.where, parents=False)
        return request.world.replace(entity, {**entity.data, "state": ARCHIVED})

    def handle(request: Request) -> Response:
        entity_ids = parse_body(request, resource.media_type, body)[resource.id_filter]["include"]
        return _apply_each(request, resource, entity_ids, archive, f"/{resource.id_filter}/include")

    return handle


def _apply_each(
    request: Request,
    resource: Resource,
    items: list[Any],
    apply: Callable[[Request, WriteItem, Any], StoredEntity],
    where: str | None = None,
) -> Response:
    account, success, refused = require_account(request), list[Data](), list[Data]()
    day, whole = request.get_local_date(account), _wants_representation(request)
    for index, content in enumerate(items):
        place = f"{where or f'/{resource.collection}'}/{index}"
        try:
            with request.world.savepoint():
                if request.get_fault("error_in_200"):  # nothing is applied: every item is throttled
                    raise ItemError("throttledError", "THROTTLED", place, "Too many requests")
                entity = apply(request, WriteItem(request.world, account, day, place), content)
                if request.get_fault("partial") and index == len(items) - 1:
                    raise ItemError("otherError", "OTHER_ERROR", place, "the last item fails by request")
        except ItemError as error:
            refused.append({"index": index, "errors": [error.render_error()]})
            continue
        full = {resource.singular: resource.render_entity(entity)} if whole else {}
        success.append({resource.id_name: entity.id, "index": index, **full})
    body = {resource.collection: {"success": success, "error": refused}}
    return Response(207, body, media_type=resource.media_type)


def _wants_representation(request: Request) -> bool:
    """Whether the request has `Prefer: return=representation`. The default is RFC 7240's other value."""
    preference = request.headers.get("Prefer")
    if preference not in (None, "return=representation", "return=minimal"):
        raise InvalidRequest("value", "Prefer", "must be return=representation", preference)
    return preference == "return=representation"


def _check_members(resource: Resource, item: WriteItem, members: Mapping[str, Any]) -> None:
    for name, value in members.items():
        if value is not None:
            resource.members[name].rule(item, f"{item.where}/{name}", value)


def _require_parents(resource: Resource, item: WriteItem, members: Mapping[str, Any]) -> str | None:
    """The nearest parent's id. Every named parent must exist, belong to the other parents, and not be archived."""
    above: str | None = None
    for name, kind in resource.parents:
        entity = item.world.find(kind, members[name], item.account.id)
        place = f"{item.where}/{name}"
        if entity is None or entity.parent != above:
            raise ItemError("parentEntityError", "PARENT_ENTITY_NOT_FOUND", place, f"no such {kind}", members[name])
        if entity.data["state"] == ARCHIVED:
            raise ItemError("parentEntityError", "PARENT_ENTITY_ARCHIVED", place, f"archived {kind}", members[name])
        above = entity.id
    return above


def _require_writable_entity(
    resource: Resource, item: WriteItem, entity_id: str, where: str, parents: bool = True
) -> StoredEntity:
    """The entity to change. Neither the entity nor, for an update, a parent of the entity may be archived."""
    type_of = {"entityType": resource.entity_type}
    entity = item.world.find(resource.kind, entity_id, item.account.id)
    if entity is None:
        error_members = {**type_of, "entityId": entity_id}
        raise ItemError("entityNotFoundError", "ENTITY_NOT_FOUND", where, "no such entity", entity_id, error_members)
    if entity.data["state"] == ARCHIVED:
        reason, message = "ARCHIVED_ENTITY_CANNOT_BE_MODIFIED", "the entity is archived"
        raise ItemError("entityStateError", reason, where, message, entity_id, type_of)
    for name, kind in resource.parents if parents else ():
        above = item.world.find(kind, entity.data[name], item.account.id)
        if above is not None and above.data["state"] == ARCHIVED:
            reason, message = "PARENT_ARCHIVED_FORBIDS_UPDATES", f"its {kind} is archived"
            raise ItemError("entityStateError", reason, where, message, entity_id, type_of)
    return entity
