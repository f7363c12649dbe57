"""Runs the use case of an endpoint. REST, pages, agents' tools and the library all call the service through it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from attrs import evolve

from adsunify.actor import Actor
from adsunify.contract import ApiRequest, ApiResponse, Endpoint
from adsunify.contract.access import authorize
from adsunify.contract.messages import parse_request, run_large_in_thread
from adsunify.errors import Forbidden, InvalidInput, Issue, NotFound
from adsunify.models.parsing import SMALL_INPUT_VALUES, count_values
from adsunify.review.completion import attach_operation

from . import (
    accounts,
    alerts,
    api_keys,
    bulk,
    campaigns,
    connections,
    entities,
    guardrails,
    networks,
    oauth_server,
    operation_lists,
    operations,
    webhooks,
)
from .core import Idempotency, Service, UseCaseResult
from .desired.applying import apply_document
from .desired.differences import diff_document
from .desired.reading import list_account_entities
from .launches import use_cases as launches
from .ledger.listing import list_entries
from .outcomes import undo
from .outcomes.inspection import inspect_operation
from .outcomes.resumption import resume_operation
from .outcomes.settlement import settle_step
from .reporting.accounts import read_account_insights
from .reporting.overview import read_overview
from .rule_checks import raise_if_credential_is_frozen

UseCase = Callable[..., Awaitable[Any]]
"""Takes the service, the actor and keyword arguments (snake case): path parameters and members of query and body.

It also takes ``kind`` if the endpoint has one, and ``idempotency`` if the endpoint takes an idempotency key.
"""


def _native_use_cases(singular: str, plural: str) -> Mapping[str, UseCase]:
    """Return the use cases of the native resource of one level."""
    return {
        f"get_account_{plural}": entities.list_entities,
        f"post_account_{plural}": entities.prepare_create,
        f"get_account_{singular}": entities.get_entity,
        f"patch_account_{singular}": entities.prepare_update,
        f"delete_account_{singular}": entities.prepare_delete,
        f"get_account_{singular}_settings": entities.read_entity_settings,
        f"post_account_{singular}_edit": entities.prepare_edit,
    }


USE_CASES: Mapping[str, UseCase] = {
    "get_auth_verify": api_keys.verify_credential,
    "get_keys": api_keys.list_keys,
    "post_keys": api_keys.create_key,
    "post_keys_scoped": api_keys.create_scoped_key,
    "delete_key": api_keys.revoke_key,
    "get_connected_agents": oauth_server.list_grants,
    "delete_connected_agent": oauth_server.revoke_grant,
    "get_connections": connections.list_connections,
    "post_connections_authorize": connections.create_consent_link,
    "post_connections_credentials": connections.connect_with_credentials,
    "delete_connection": connections.disconnect_network,
    "get_networks": networks.list_networks,
    "get_network": networks.get_network,
    "get_accounts": accounts.list_accounts,
    "get_account": accounts.get_account,
    "get_account_tree": accounts.read_account_tree,
    "get_account_insights": read_account_insights,
    "get_insights": read_overview,
    "get_account_catalog": accounts.read_account_catalog,
    "get_account_entities": list_account_entities,
    "post_diff": diff_document,
    "post_apply": apply_document,
    "get_workflows": networks.list_workflows,
    "post_validate_campaign": campaigns.validate_campaign,
    "post_create": campaigns.prepare_campaign,
    "post_activate": campaigns.prepare_activation,
    "get_operations": operation_lists.list_operations,
    "get_operation": operations.get_operation,
    "post_operation_execute": operations.execute_operation,
    "post_operations_execute": operations.execute_operations,
    "post_operation_inspect": inspect_operation,
    "post_operation_cancel": operations.cancel_operation,
    "post_operation_undo": undo.undo_operation,
    "post_operation_resume": resume_operation,
    "post_operation_settle": settle_step,
    "get_launches": launches.list_launches,
    "post_launches": launches.create_launch,
    "get_launch": launches.get_launch,
    "post_launch_activate": launches.activate_launch,
    "post_launch_pause": launches.pause_launch,
    "post_launch_undo": launches.undo_launch,
    "post_launch_prepare": launches.prepare_again,
    "post_launch_execute": launches.execute_launch,
    "post_launch_cancel": launches.cancel_launch,
    "get_change_set": launches.get_change_set,
    "post_change_set_execute": launches.execute_change_set,
    "post_change_set_cancel": launches.cancel_change_set,
    "post_account_validate": entities.validate_mutation,
    "post_bulk_status": bulk.bulk_status,
    "post_bulk_edit": bulk.bulk_edit,
    **_native_use_cases("campaign", "campaigns"),
    **_native_use_cases("ad_group", "ad_groups"),
    **_native_use_cases("ad", "ads"),
    "get_guardrails": guardrails.list_guardrails,
    "post_guardrails": guardrails.create_guardrail,
    "get_guardrails_freezes": guardrails.list_freezes,
    "delete_guardrails_freeze": guardrails.lift_freeze,
    "get_guardrail": guardrails.get_guardrail,
    "patch_guardrail": guardrails.update_guardrail,
    "delete_guardrail": guardrails.delete_guardrail,
    "get_guardrail_usage": guardrails.read_usage,
    "get_alerts": alerts.list_alerts,
    "post_alerts": alerts.create_alert,
    "patch_alert": alerts.update_alert,
    "delete_alert": alerts.delete_alert,
    "get_ledger": list_entries,
    "get_webhooks": webhooks.list_webhooks,
    "post_webhooks": webhooks.create_webhook,
    "patch_webhook": webhooks.update_webhook,
    "delete_webhook": webhooks.remove_webhook,
    "post_webhook_test": webhooks.queue_test_event,
    "get_webhook_deliveries": webhooks.list_deliveries,
    "get_webhook_delivery_attempts": webhooks.list_attempts,
    "post_webhook_delivery_redeliver": webhooks.redeliver_event,
}
"""The use case of each endpoint, by its operation id."""

EXTRA_VALIDATIONS: Mapping[str, Callable[..., Awaitable[Sequence[Issue]]]] = {
    "post_validate_campaign": campaigns.find_brief_issues,
    "post_create": campaigns.find_brief_issues,
}
"""Functions that find more issues in a refused body, from the service, the actor, the raw body and its issues."""


async def call_endpoint(service: Service, actor: Actor, endpoint: Endpoint, request: ApiRequest) -> ApiResponse:
    """Check access and input, run the use case, and wrap what it returns.

    Raises Forbidden, InvalidInput with all issues, and the errors of the use case. A refused call stores nothing.
    """
    authorize(actor, endpoint)
    actor = await _restrict_frozen_actor(service, actor, endpoint, request)
    try:
        arguments, digest = await run_large_in_thread(request.body, parse_request, endpoint, request)
    except InvalidInput as problem:
        find_more = EXTRA_VALIDATIONS.get(endpoint.operation_id)
        if find_more is None or count_values(request.body) > SMALL_INPUT_VALUES:  # larger than any brief
            raise
        further_issues = await find_more(service, actor, request.body, problem.issues)
        raise InvalidInput([*problem.issues, *further_issues], code=problem.code) from None
    if endpoint.takes_idempotency_key:
        key = request.idempotency_key
        arguments["idempotency"] = None if key is None else Idempotency(key, digest)
    returned = await USE_CASES[endpoint.operation_id](service, actor, **arguments)
    result = returned if isinstance(returned, UseCaseResult) else UseCaseResult(returned)
    pages = endpoint.is_paged and (isinstance(result.data, list) if result.is_page is None else result.is_page)
    return ApiResponse(endpoint.status, result.data, pages, result.next_cursor, result.replayed)


async def _restrict_frozen_actor(service: Service, actor: Actor, endpoint: Endpoint, request: ApiRequest) -> Actor:
    """Return the actor with the authority that remains if a guardrail has frozen its credential: reading.

    Raises Forbidden ``credential_frozen`` where the endpoint needs more. The refusal of an execution shows the
    operation, because earlier calls may have written a part of it.
    """
    if endpoint.method == "GET" or endpoint.allows_frozen:
        return actor
    try:
        await raise_if_credential_is_frozen(service, actor)
    except Forbidden as refusal:
        if endpoint.access not in ("write", "admin"):
            return evolve(actor, can_write=False)
        if "operationId" in endpoint.parameters:
            with suppress(InvalidInput, NotFound):
                arguments, _ = await run_large_in_thread(request.body, parse_request, endpoint, request)
                operation = await operations.get_operation(service, actor, operation_id=arguments["operation_id"])
                attach_operation(refusal, operation, advise=False)
        raise
    return actor


def describe_endpoint(endpoint: Endpoint) -> str:
    """Return the description of an endpoint: the docstring of its use case."""
    return USE_CASES[endpoint.operation_id].__doc__ or endpoint.summary
