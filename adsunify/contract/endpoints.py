"""The contract table: SPEC.md "Endpoints", row by row."""

from __future__ import annotations

from collections.abc import Iterator

from adsunify.change import EditBody, Mutation
from adsunify.service import access, accounts, bulk, campaigns, connections, entities, networks, operations
from adsunify.steps import Kind

from . import answers, requests
from .endpoint import Endpoint


def _native(kind: Kind, name: str, words: str) -> Iterator[Endpoint]:
    """The native resource of a level (SPEC.md "Native campaign resource"; ad groups and ads likewise)."""
    section, every = f"Native {words}s", f"/accounts/{{accountId}}/{name}"
    one = f"{every}/{{entityId}}"
    yield Endpoint(
        "GET",
        every,
        section,
        f"List native {words}s",
        entities.list_,
        list[answers.Entity],
        query=requests.EntitiesQuery,
        pages=True,
        kind=kind,
    )
    yield Endpoint(
        "POST",
        every,
        section,
        f"Prepare a native {words}",
        entities.create,
        answers.Operation,
        access="write",
        body=requests.NativePayload,
        status=201,
        idempotent=True,
        kind=kind,
    )
    yield Endpoint("GET", one, section, f"One native {words}", entities.get, answers.Entity, kind=kind)
    yield Endpoint(
        "PATCH",
        one,
        section,
        f"Prepare a native update of one {words}",
        entities.update,
        answers.Operation,
        access="write",
        body=requests.NativePayload,
        status=201,
        idempotent=True,
        kind=kind,
    )
    yield Endpoint(
        "DELETE",
        one,
        section,
        f"Prepare the deletion of one {words}",
        entities.delete,
        answers.Operation,
        access="write",
        status=201,
        idempotent=True,
        kind=kind,
    )
    yield Endpoint(
        "GET",
        f"{one}/settings",
        section,
        f"What may be edited on one {words}",
        entities.settings,
        answers.Settings,
        kind=kind,
    )
    yield Endpoint(
        "POST",
        f"{one}/edit",
        section,
        f"Prepare an edit of one {words}",
        entities.edit,
        answers.Operation,
        access="write",
        body=EditBody,
        status=201,
        idempotent=True,
        kind=kind,
    )


ENDPOINTS: tuple[Endpoint, ...] = (
    # -- Access, keys ----------------------------------------------------------------------------------------------
    Endpoint("GET", "/auth/verify", "Access", "Current credential", access.verify, answers.Verified),
    Endpoint("GET", "/keys", "Access", "List API keys", access.list_keys, list[answers.Key]),
    Endpoint(
        "POST",
        "/keys",
        "Access",
        "Create an API key",
        access.create_key,
        answers.CreatedKey,
        access="admin",
        body=requests.NewKey,
        status=201,
    ),
    Endpoint("DELETE", "/keys/{keyId}", "Access", "Revoke an API key", access.revoke_key, answers.Key, access="admin"),
    # -- Connections, networks, accounts ---------------------------------------------------------------------------
    Endpoint("GET", "/connections", "Connections", "List connections", connections.list_, list[answers.Connection]),
    Endpoint(
        "POST",
        "/connections/authorize",
        "Connections",
        "Make a hosted consent link",
        connections.authorize,
        answers.Consent,
        access="admin",
        body=requests.Authorize,
        status=201,
    ),
    Endpoint(
        "POST",
        "/connections/credentials",
        "Connections",
        "Connect with a network's own credentials",
        connections.connect,
        answers.Connection,
        access="admin",
        body=requests.NewConnection,
        status=201,
    ),
    Endpoint(
        "DELETE",
        "/connections/{connectionId}",
        "Connections",
        "Disconnect",
        connections.disconnect,
        answers.Connection,
        access="admin",
    ),
    Endpoint("GET", "/networks", "Networks", "List networks", networks.list_networks, list[answers.NetworkSummary]),
    Endpoint("GET", "/networks/{network}", "Networks", "One network", networks.get_network, answers.NetworkDetail),
    Endpoint(
        "GET",
        "/accounts",
        "Accounts",
        "List ad accounts",
        accounts.list_,
        list[answers.Account],
        query=requests.AccountsQuery,
    ),
    Endpoint("GET", "/accounts/{accountId}", "Accounts", "One ad account", accounts.get, answers.Account),
    Endpoint("GET", "/accounts/{accountId}/tree", "Accounts", "Native hierarchy", accounts.tree, answers.Tree),
    Endpoint(
        "GET",
        "/accounts/{accountId}/insights",
        "Accounts",
        "Normalized daily metrics",
        accounts.insights,
        answers.Insights,
        query=requests.InsightsQuery,
    ),
    Endpoint(
        "GET",
        "/accounts/{accountId}/catalogs/{resource}",
        "Accounts",
        "A catalog, or a report resumed",
        accounts.catalog,
        list[answers.CatalogRow] | answers.Insights,
        query=requests.CatalogQuery,
        pages=True,
    ),
    # -- Unified campaign workflow ---------------------------------------------------------------------------------
    Endpoint("GET", "/workflows", "Workflow", "Unified formats", networks.list_workflows, list[answers.Workflow]),
    Endpoint(
        "POST",
        "/validate-campaign",
        "Workflow",
        "Validate a brief",
        campaigns.validate,
        answers.Validated,
        body=requests.Campaign,
    ),
    Endpoint(
        "POST",
        "/create",
        "Workflow",
        "Prepare a campaign",
        campaigns.create,
        answers.Operation,
        access="write",
        body=requests.Campaign,
        status=201,
        idempotent=True,
    ),
    Endpoint(
        "POST",
        "/activate",
        "Workflow",
        "Prepare an activation",
        campaigns.activate,
        answers.Operation,
        access="write",
        body=requests.Activate,
        status=201,
        idempotent=True,
    ),
    # -- Operations ------------------------------------------------------------------------------------------------
    Endpoint("GET", "/operations", "Operations", "Latest operations", operations.latest, list[answers.Operation]),
    Endpoint("GET", "/operations/{operationId}", "Operations", "One operation", operations.get, answers.Operation),
    Endpoint(
        "POST",
        "/operations/{operationId}/execute",
        "Operations",
        "Execute a prepared operation",
        operations.execute,
        answers.Operation,
        access="write",
        body=requests.Confirm,
    ),
    Endpoint(
        "POST",
        "/operations/execute",
        "Operations",
        "Execute several prepared operations",
        operations.execute_many,
        answers.Batch,
        access="write",
        body=requests.ConfirmMany,
    ),
    Endpoint(
        "POST",
        "/operations/{operationId}/cancel",
        "Operations",
        "Cancel a prepared operation",
        operations.cancel,
        answers.Operation,
        access="write",
        body=requests.Nothing,
    ),
    Endpoint(
        "POST",
        "/accounts/{accountId}/validate",
        "Operations",
        "Validate a native change",
        entities.validate,
        answers.ValidChange,
        body=Mutation,
    ),
    # -- Bulk controls ---------------------------------------------------------------------------------------------
    Endpoint(
        "POST",
        "/bulk-status",
        "Bulk",
        "Prepare a status for several entities",
        bulk.status,
        answers.Prepared,
        access="write",
        body=requests.BulkStatus,
        status=201,
        idempotent=True,
    ),
    Endpoint(
        "POST",
        "/bulk-edit",
        "Bulk",
        "Prepare one setting for several entities",
        bulk.edit,
        answers.Prepared,
        access="write",
        body=requests.BulkEdit,
        status=201,
        idempotent=True,
    ),
    # -- Native resources ------------------------------------------------------------------------------------------
    *_native("campaign", "campaigns", "campaign"),
    *_native("adGroup", "ad-groups", "ad group"),
    *_native("ad", "ads", "ad"),
)
"""Every endpoint. Adding one is a row here and a function in the service."""
