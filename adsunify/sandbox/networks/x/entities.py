"""Campaigns and line items: list, get, create, change, delete, one by one and in atomic batches."""

from collections.abc import Callable
from typing import Any

from adsunify.sandbox.framework import (
    Account,
    Answer,
    Check,
    Entity,
    Problem,
    Refusal,
    Request,
    anything,
    choice,
    listing,
    record,
    text,
)
from adsunify.sandbox.networks.x.answers import (
    VERSION,
    Data,
    account_of,
    answered,
    flag,
    given,
    native,
    new_id,
    shown_parameters,
)
from adsunify.sandbox.networks.x.fields import Resource, activity, alive
from adsunify.sandbox.networks.x.lists import listed
from adsunify.sandbox.networks.x.tables import HTTP

Handler = Callable[[Request], Answer]
BATCH = 40
_ID = text(pattern="[0-9a-z]+")


def listing_of(resource: Resource) -> Handler:
    """`GET accounts/:a/<resource>`. Drafts only with with_draft."""

    def handle(request: Request) -> Answer:
        drafts = dict(request.pairs).get("with_draft") == "true"
        rows = [
            resource.view(request, one)
            for one in request.world.entities(resource.kind, account_of(request).id)
            if drafts or one.data["entity_status"] != "DRAFT"
        ]
        return listed(request, rows, resource.filters, optional={"with_draft": flag}, search="name")

    return handle


def reading(resource: Resource) -> Handler:
    """`GET accounts/:a/<resource>/:id`; a deleted one only with with_deleted."""

    def handle(request: Request) -> Answer:
        asked = given(request, optional={"with_deleted": flag})
        account, entity_id = account_of(request), request.slots["id"]
        found = request.world.find(resource.kind, entity_id, account.id)
        if found is None or not asked.get("with_deleted"):
            found = alive(request.world, resource.kind, entity_id, account)
        return answered(request, resource.view(request, found))

    return handle


def creating(resource: Resource) -> Handler:
    """`POST accounts/:a/<resource>`."""

    def handle(request: Request) -> Answer:
        sent = given(request, resource.required, resource.optional)
        return answered(request, resource.view(request, _create(request, resource, account_of(request), sent)))

    return handle


def changing(resource: Resource) -> Handler:
    """`PUT accounts/:a/<resource>/:id`: what is not sent stays."""

    def handle(request: Request) -> Answer:
        account = account_of(request)
        before = alive(request.world, resource.kind, request.slots["id"], account)
        changed = _change(request, resource, account, before, given(request, optional=resource.changes))
        return answered(request, resource.view(request, changed))

    return handle


def deleting(resource: Resource) -> Handler:
    """`DELETE accounts/:a/<resource>/:id`: for good; children keep their own `deleted`."""

    def handle(request: Request) -> Answer:
        given(request)
        before = alive(request.world, resource.kind, request.slots["id"], account_of(request))
        return answered(request, resource.view(request, _delete(request, before)))

    return handle


def batching(resource: Resource) -> Handler:
    """`POST /12/batch/accounts/:a/<resource>`: up to 40 operations, all or none."""

    def apply(request: Request, operation: str, sent: Any) -> Data:
        account = account_of(request)
        if operation == "Create":
            required, optional = typed(resource.required), typed(resource.optional)
            made = _create(request, resource, account, record(required, optional)(sent, ""))
            return resource.view(request, made)
        optional = typed(resource.changes) if operation == "Update" else {}
        parts = record({resource.id_name: _ID}, optional)(sent, "")
        before = alive(request.world, resource.kind, parts.pop(resource.id_name), account)
        changed = _change(request, resource, account, before, parts) if operation == "Update" else None
        return resource.view(request, changed or _delete(request, before))

    return batch(BATCH, ("Create", "Update", "Delete"), apply)


def batch(most: int, operations: tuple[str, ...], apply: Callable[[Request, str, Any], Data]) -> Handler:
    """A JSON array of `{operation_type, params}`: faults of an item stand in `operation_errors`, at its index."""
    check = listing(record({"operation_type": choice(*operations), "params": anything}), 1)

    def handle(request: Request) -> Answer:
        request.query()
        items = request.json(check)
        if len(items) > most:
            raise Problem("REQUEST_TOO_COMPLEX", "", f"at most {most} operations", len(items))
        done: list[Data] = []
        errors: list[list[Data]] = []
        for item in items:
            try:
                done.append(apply(request, item["operation_type"], item["params"]))
                errors.append([])
            except Problem as problem:
                errors.append([native(problem)])
        if request.told("error_in_200"):  # nothing applied although the status is good
            locked = Problem("LOCK_ACQUISITION_TIMEOUT", "", "could not acquire the lock")
            raise Refusal(_batch_errors(request, 200, [*([] for _ in items[1:]), [native(locked)]]))
        if first := next((one[0] for one in errors if one), None):
            raise Refusal(_batch_errors(request, HTTP[first["code"]], errors))
        return answered(request, done, total_count=len(done))

    return handle


def _batch_errors(request: Request, status: int, errors: list[list[Data]]) -> Answer:
    shown = {"params": shown_parameters(request)}
    return Answer(status, {"data": [], "operation_errors": errors, "request": shown}, VERSION)


def typed(checks: Any) -> dict[str, Check]:
    """Checks of parameter texts for the members of a JSON object: numbers, booleans and lists stand there as such."""
    return {name: _untyped(check) for name, check in checks.items()}


def _untyped(check: Check) -> Check:
    def inner(value: Any, where: str) -> Any:
        match value:
            case bool():
                return check("true" if value else "false", where)
            case int():
                return check(str(value), where)
            case list():
                return check(",".join(map(str, value)), where)
            case None:
                return check("", where)
        return check(value, where)

    return inner


def _create(request: Request, resource: Resource, account: Account, sent: Data) -> Entity:
    data = resource.settle(request.world, account, {**sent, "deleted": False}, None)
    parent = sent.get(resource.parent) if resource.parent else None
    return request.world.create(
        resource.kind, account.id, activity(data, request.now), parent=parent, id=new_id(request.world)
    )


def _change(request: Request, resource: Resource, account: Account, before: Entity, sent: Data) -> Entity:
    data = resource.settle(request.world, account, {**before.data, **sent}, before)
    return request.world.put(before, activity(data, request.now))


def _delete(request: Request, before: Entity) -> Entity:
    return request.world.put(before, activity({**before.data, "deleted": True}, request.now))
