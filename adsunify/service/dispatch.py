"""Runs the use case of an endpoint: the one way from every door (REST, agents' tools, library) into the service."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from adsunify.actor import Actor
from adsunify.contract import Answer, Call, Endpoint
from adsunify.contract.access import permit
from adsunify.contract.messages import read_apart, read_call
from adsunify.errors import InvalidInput, Issue
from adsunify.models.base import FEW_VALUES, count_values

from . import access, accounts, agents, bulk, campaigns, connections, entities, networks, operations, webhooks
from .core import Idempotency, Result, Service

UseCase = Callable[..., Awaitable[Any]]
"""Takes the service, the actor, and as keyword arguments (snake case) the path parameters and the members of query and
body; also ``kind`` where the endpoint has one, and ``idempotency`` where the endpoint takes an idempotency key.
"""


def _native_use_cases(singular: str, plural: str) -> Mapping[str, UseCase]:
    """The use cases of the native resource of one level."""
    return {
        f"get_account_{plural}": entities.list_,
        f"post_account_{plural}": entities.create,
        f"get_account_{singular}": entities.get,
        f"patch_account_{singular}": entities.update,
        f"delete_account_{singular}": entities.delete,
        f"get_account_{singular}_settings": entities.settings,
        f"post_account_{singular}_edit": entities.edit,
    }


USE_CASES: Mapping[str, UseCase] = {
    "get_auth_verify": access.verify,
    "get_keys": access.list_keys,
    "post_keys": access.create_key,
    "delete_key": access.revoke_key,
    "get_connected_agents": agents.list_,
    "delete_connected_agent": agents.revoke,
    "get_connections": connections.list_,
    "post_connections_authorize": connections.authorize,
    "post_connections_credentials": connections.connect,
    "delete_connection": connections.disconnect,
    "get_networks": networks.list_networks,
    "get_network": networks.get_network,
    "get_accounts": accounts.list_,
    "get_account": accounts.get,
    "get_account_tree": accounts.tree,
    "get_account_insights": accounts.insights,
    "get_account_catalog": accounts.catalog,
    "get_workflows": networks.list_workflows,
    "post_validate_campaign": campaigns.validate,
    "post_create": campaigns.create,
    "post_activate": campaigns.activate,
    "get_operations": operations.latest,
    "get_operation": operations.get,
    "post_operation_execute": operations.execute,
    "post_operations_execute": operations.execute_many,
    "post_operation_cancel": operations.cancel,
    "post_account_validate": entities.validate,
    "post_bulk_status": bulk.status,
    "post_bulk_edit": bulk.edit,
    **_native_use_cases("campaign", "campaigns"),
    **_native_use_cases("ad_group", "ad_groups"),
    **_native_use_cases("ad", "ads"),
    "get_webhooks": webhooks.list_,
    "post_webhooks": webhooks.create,
    "patch_webhook": webhooks.change,
    "delete_webhook": webhooks.remove,
    "post_webhook_test": webhooks.test,
    "get_webhook_deliveries": webhooks.deliveries,
    "get_webhook_delivery_attempts": webhooks.attempts,
    "post_webhook_delivery_redeliver": webhooks.redeliver,
}
"""The use case of each endpoint, by its operation id."""

EXTRA_VALIDATIONS: Mapping[str, Callable[..., Awaitable[Sequence[Issue]]]] = {
    "post_validate_campaign": campaigns.beside,
    "post_create": campaigns.beside,
}
"""Finds more issues in a body that was refused, from the service, the actor, the body as it came and its issues."""


async def call(service: Service, actor: Actor, endpoint: Endpoint, asked: Call) -> Answer:
    """Check access and input, run the use case, and wrap what it returns.

    Raises Forbidden, InvalidInput with all issues, and whatever the use case raises. A refused call stores nothing.
    """
    permit(actor, endpoint)
    try:
        arguments, digest = await read_apart(asked.body, read_call, endpoint, asked)
    except InvalidInput as problem:
        find_more = EXTRA_VALIDATIONS.get(endpoint.operation_id)
        if find_more is None or count_values(asked.body) > FEW_VALUES:  # no brief is as large
            raise
        more = await find_more(service, actor, asked.body, problem.issues)
        raise InvalidInput([*problem.issues, *more], code=problem.code) from None
    if endpoint.idempotent:
        key = asked.idempotency_key
        arguments["idempotency"] = None if key is None else Idempotency(key, digest)
    found = await USE_CASES[endpoint.operation_id](service, actor, **arguments)
    result = found if isinstance(found, Result) else Result(found)
    pages = endpoint.pages and isinstance(result.data, list)
    return Answer(endpoint.status, result.data, pages, result.next_cursor, result.replayed)


def describe_endpoint(endpoint: Endpoint) -> str:
    """What the endpoint does: the docstring of its use case."""
    return USE_CASES[endpoint.operation_id].__doc__ or endpoint.summary
