"""Campaigns and line items: list, get, create, change, delete, one by one and in atomic batches."""

from collections.abc import Callable
from typing import Any

from adsunify.sandbox.checks import Check, any_value, array, choice, record, text
from adsunify.sandbox.network import AbortRequest, Request, Response
from adsunify.sandbox.networks.x import answers
from adsunify.sandbox.networks.x.fields import Resource, record_activity, require_live_entity
from adsunify.sandbox.networks.x.lists import build_page_response
from adsunify.sandbox.networks.x.tables import STATUS_BY_CODE
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import Account, StoredEntity

Handler = Callable[[Request], Response]
MAX_BATCH_SIZE = 40
_ID_CHECK = text(pattern="[0-9a-z]+")


def make_list_handler(resource: Resource) -> Handler:
    """`GET accounts/:a/<resource>`. Drafts are included only with with_draft."""

    def handle(request: Request) -> Response:
        drafts = dict(request.query_pairs).get("with_draft") == "true"
        rows = [
            resource.render_entity(request, entity)
            for entity in request.world.list_entities(resource.kind, answers.require_account(request).id)
            if drafts or entity.data["entity_status"] != "DRAFT"
        ]
        return build_page_response(
            request, rows, resource.filters, optional={"with_draft": answers.check_flag}, search="name"
        )

    return handle


def make_get_handler(resource: Resource) -> Handler:
    """`GET accounts/:a/<resource>/:id`; a deleted entity only with with_deleted."""

    def handle(request: Request) -> Response:
        query = answers.parse_parameters(request, optional={"with_deleted": answers.check_flag})
        account, entity_id = answers.require_account(request), request.path_parameters["id"]
        entity = request.world.find(resource.kind, entity_id, account.id)
        if entity is None or not query.get("with_deleted"):
            entity = require_live_entity(request.world, resource.kind, entity_id, account)
        return answers.build_response(request, resource.render_entity(request, entity))

    return handle


def make_create_handler(resource: Resource) -> Handler:
    """`POST accounts/:a/<resource>`."""

    def handle(request: Request) -> Response:
        parameters = answers.parse_parameters(request, resource.required, resource.optional)
        return answers.build_response(
            request,
            resource.render_entity(
                request, _create_entity(request, resource, answers.require_account(request), parameters)
            ),
        )

    return handle


def make_update_handler(resource: Resource) -> Handler:
    """`PUT accounts/:a/<resource>/:id`: members that are not sent keep their values."""

    def handle(request: Request) -> Response:
        account = answers.require_account(request)
        before = require_live_entity(request.world, resource.kind, request.path_parameters["id"], account)
        changed = _update_entity(
            request, resource, account, before, answers.parse_parameters(request, optional=resource.update_checks)
        )
        return answers.build_response(request, resource.render_entity(request, changed))

    return handle


def make_delete_handler(resource: Resource) -> Handler:
    """`DELETE accounts/:a/<resource>/:id`: final; children keep their `deleted`."""

    def handle(request: Request) -> Response:
        answers.parse_parameters(request)
        before = require_live_entity(
            request.world, resource.kind, request.path_parameters["id"], answers.require_account(request)
        )
        return answers.build_response(request, resource.render_entity(request, _delete_entity(request, before)))

    return handle


def make_batch_handler(resource: Resource) -> Handler:
    """`POST /12/batch/accounts/:a/<resource>`: up to 40 operations, all or none."""

    def apply(request: Request, operation: str, content: Any) -> answers.Data:
        account = answers.require_account(request)
        if operation == "Create":
            required, optional = json_checks(resource.required), json_checks(resource.optional)
            entity = _create_entity(request, resource, account, record(required, optional)(content, ""))
            return resource.render_entity(request, entity)
        optional = json_checks(resource.update_checks) if operation == "Update" else {}
        parts = record({resource.id_name: _ID_CHECK}, optional)(content, "")
        before = require_live_entity(request.world, resource.kind, parts.pop(resource.id_name), account)
        changed = _update_entity(request, resource, account, before, parts) if operation == "Update" else None
        return resource.render_entity(request, changed or _delete_entity(request, before))

    return make_batch_operation_handler(MAX_BATCH_SIZE, ("Create", "Update", "Delete"), apply)


def make_batch_operation_handler(
    most: int, operations: tuple[str, ...], apply: Callable[[Request, str, Any], answers.Data]
) -> Handler:
    """Handle a JSON array of `{operation_type, params}`.

    `operation_errors` has the errors at the index of their item.
    """
    check = array(record({"operation_type": choice(*operations), "params": any_value}), 1)

    def handle(request: Request) -> Response:
        request.parse_query()
        items = request.parse_json(check)
        if len(items) > most:
            raise InvalidRequest("REQUEST_TOO_COMPLEX", "", f"at most {most} operations", len(items))
        results: list[answers.Data] = []
        errors: list[list[answers.Data]] = []
        for item in items:
            try:
                results.append(apply(request, item["operation_type"], item["params"]))
                errors.append([])
            except InvalidRequest as problem:
                errors.append([answers.render_error(problem)])
        if request.get_fault("error_in_200"):  # the status is 200, but nothing is applied
            locked = InvalidRequest("LOCK_ACQUISITION_TIMEOUT", "", "could not acquire the lock")
            raise AbortRequest(
                _build_batch_errors(request, 200, [*([] for _ in items[1:]), [answers.render_error(locked)]])
            )
        if first := next((item_errors[0] for item_errors in errors if item_errors), None):
            raise AbortRequest(_build_batch_errors(request, STATUS_BY_CODE[first["code"]], errors))
        return answers.build_response(request, results, total_count=len(results))

    return handle


def _build_batch_errors(request: Request, status: int, errors: list[list[answers.Data]]) -> Response:
    echo = {"params": answers.echo_parameters(request)}
    return Response(status, {"data": [], "operation_errors": errors, "request": echo}, answers.VERSION_HEADERS)


def json_checks(checks: Any) -> dict[str, Check]:
    """Checks of parameter texts for the members of a JSON object: JSON has numbers, booleans and lists, not texts."""
    return {name: _accept_json_value(check) for name, check in checks.items()}


def _accept_json_value(check: Check) -> Check:
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


def _create_entity(request: Request, resource: Resource, account: Account, members: answers.Data) -> StoredEntity:
    data = resource.settle_data(request.world, account, {**members, "deleted": False}, None)
    parent = members.get(resource.parent) if resource.parent else None
    return request.world.create(
        resource.kind,
        account.id,
        record_activity(data, request.now),
        parent=parent,
        id=answers.allocate_native_id(request.world),
    )


def _update_entity(
    request: Request, resource: Resource, account: Account, before: StoredEntity, members: answers.Data
) -> StoredEntity:
    data = resource.settle_data(request.world, account, {**before.data, **members}, before)
    return request.world.replace(before, record_activity(data, request.now))


def _delete_entity(request: Request, before: StoredEntity) -> StoredEntity:
    return request.world.replace(before, record_activity({**before.data, "deleted": True}, request.now))
