"""Targeting criteria of line items: one by one, and in atomic batches of up to 500."""

from typing import Any

from adsunify.sandbox.checks import Check, choice, record, text
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.x import answers
from adsunify.sandbox.networks.x.catalogs import get_targeting_name
from adsunify.sandbox.networks.x.entities import json_checks, make_batch_operation_handler
from adsunify.sandbox.networks.x.fields import require_live_entity
from adsunify.sandbox.networks.x.lists import build_page_response
from adsunify.sandbox.networks.x.tables import MAX_CRITERIA, MAX_FILTER_IDS, OPERATORS, TARGETING_VALUE_PATTERNS
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import Account, StoredEntity

CRITERION_KIND = "targeting_criterion"
MAX_BATCH_SIZE = 500
_ID_CHECK = text(pattern="[0-9a-z]+")
_CRITERION_MEMBERS: dict[str, Check] = {
    "line_item_id": _ID_CHECK,
    "targeting_type": choice(*TARGETING_VALUE_PATTERNS),
    "targeting_value": text(),
}
_OPERATOR_CHECK: dict[str, Check] = {"operator_type": choice(*OPERATORS)}


def create_criterion(request: Request) -> Response:
    """`POST accounts/:a/targeting_criteria`: the operator is required here."""
    return answers.build_response(
        request,
        _render_criterion(
            _create_criterion(
                request,
                answers.require_account(request),
                answers.parse_parameters(request, _CRITERION_MEMBERS | _OPERATOR_CHECK),
            )
        ),
    )


def list_criteria(request: Request) -> Response:
    """`GET accounts/:a/targeting_criteria?line_item_ids=`."""
    rows = [
        _render_criterion(criterion)
        for criterion in request.world.list_entities(CRITERION_KIND, answers.require_account(request).id)
    ]
    filters = {"line_item_ids": "line_item_id", "targeting_criterion_ids": "id"}
    return build_page_response(
        request, rows, filters, {"line_item_ids": answers.comma_separated(_ID_CHECK, MAX_FILTER_IDS)}, {"lang": text()}
    )


def get_criterion(request: Request) -> Response:
    """`GET accounts/:a/targeting_criteria/:id`."""
    answers.parse_parameters(request, optional={"with_deleted": answers.check_flag, "lang": text()})
    return answers.build_response(
        request,
        _render_criterion(
            require_live_entity(
                request.world, CRITERION_KIND, request.path_parameters["id"], answers.require_account(request)
            )
        ),
    )


def delete_criterion(request: Request) -> Response:
    """`DELETE accounts/:a/targeting_criteria/:id`."""
    answers.parse_parameters(request)
    criterion = require_live_entity(
        request.world, CRITERION_KIND, request.path_parameters["id"], answers.require_account(request)
    )
    return answers.build_response(request, _render_criterion(_delete_criterion(request, criterion)))


def _apply_operation(request: Request, operation: str, content: Any) -> answers.Data:
    account = answers.require_account(request)
    if operation == "Create":
        return _render_criterion(
            _create_criterion(request, account, record(json_checks(_CRITERION_MEMBERS), _OPERATOR_CHECK)(content, ""))
        )
    criterion_id = record({"targeting_criterion_id": _ID_CHECK})(content, "")["targeting_criterion_id"]
    return _render_criterion(
        _delete_criterion(request, require_live_entity(request.world, CRITERION_KIND, criterion_id, account))
    )


apply_batch = make_batch_operation_handler(MAX_BATCH_SIZE, ("Create", "Delete"), _apply_operation)
"""`POST /12/batch/accounts/:a/targeting_criteria`."""


def _create_criterion(request: Request, account: Account, members: answers.Data) -> StoredEntity:
    world = request.world
    item = require_live_entity(world, "line_item", members["line_item_id"], account)
    kind, value = members["targeting_type"], members["targeting_value"]
    text(1, 500, TARGETING_VALUE_PATTERNS[kind])(value, "targeting_value")
    beside = [
        criterion.data["targeting_type"]
        for criterion in world.list_entities(CRITERION_KIND, account.id, item.id)
        if not criterion.data["deleted"]
    ]
    for kinds, most in MAX_CRITERIA:
        if kind in kinds and sum(criterion in kinds for criterion in beside) >= most:
            raise InvalidRequest(
                "REQUEST_TOO_COMPLEX", "targeting_type", f"at most {most} of {', '.join(sorted(kinds))}", kind
            )
    data = {"operator_type": "EQ", **members, "deleted": False}
    return world.create(CRITERION_KIND, account.id, data, parent=item.id, id=answers.allocate_native_id(world))


def _delete_criterion(request: Request, criterion: StoredEntity) -> StoredEntity:
    return request.world.replace(criterion, {**criterion.data, "deleted": True})


def _render_criterion(entity: StoredEntity) -> answers.Data:
    data = entity.data
    return {
        "id": entity.id,
        **{name: data[name] for name in (*_CRITERION_MEMBERS, "operator_type", "deleted")},
        "name": get_targeting_name(data["targeting_type"], data["targeting_value"]),
        **answers.render_timestamps(entity),
    }
