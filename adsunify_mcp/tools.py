"""The seven tools that agents call, made from the contract table.

A tool refuses unknown arguments. Its result is the envelope of the REST response. An error is also a result
(``isError``) and says whether anything was written.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any

from attrs import field, frozen
from pydantic import Field

from adsunify.client.backends import Backend
from adsunify.contract import ENDPOINTS_BY_ID, ApiRequest, Endpoint
from adsunify.contract.messages import run_large_in_thread
from adsunify.contract.prose import convert_descriptions
from adsunify.contract.requests import ConfirmedTrue, NetworkCode, Status
from adsunify.errors import AdsunifyError, Forbidden, InvalidInput, Issue, invalid_input, raise_if_issues
from adsunify.models.base import ApiModel, EntityId, FreeForm, Omittable
from adsunify.models.brief import Uuid
from adsunify.models.edit import Mutation
from adsunify.models.launch import NewLaunch
from adsunify.models.parsing import parse_model
from adsunify.plans.records import Kind
from adsunify.values.exact_json import Json, dumps, dumps_bytes

from .approval import call_with_approval
from .execution_progress import report_execution
from .method_results import InputRequired, ToolResult
from .request_metadata import RequestMetadata
from .results import APPROVAL_CODE, approval_required_result, error_result, success_result
from .search import HIDDEN_OPERATIONS, MAX_RESULTS, operation_schemas, search_operations

IdempotencyKey = Omittable[
    Annotated[str, Field(min_length=1, max_length=200, description="Send the same key again when you retry.")]
]


class AccountArguments(ApiModel):
    """Arguments of ``account``: an account id, or a network for its accounts; without both, all accounts."""

    account_id: Omittable[Uuid] = None
    network: Omittable[NetworkCode] = None


class SearchArguments(ApiModel):
    """Arguments of ``search_tools``: the request in plain words."""

    query: Annotated[str, Field(min_length=1, max_length=300)]


class CallArguments(ApiModel):
    """Arguments of ``call_tool``: an operation of the contract and its arguments, as over REST.

    Values of ``query`` may be JSON; they are sent as text. The operation's model checks ``body``.
    """

    operation_id: Annotated[str, Field(description="As search_tools names it, such as post_create.")]
    path: Omittable[Annotated[dict[str, str], Field(max_length=10)]] = None
    query: Omittable[Annotated[dict[str, Any], Field(max_length=10)]] = None
    body: Omittable[FreeForm] = None
    idempotency_key: IdempotencyKey = None


class OperationArguments(ApiModel):
    """Arguments of ``operation``: the operation to read."""

    operation_id: Uuid


class ExecuteArguments(ApiModel):
    """Arguments of ``execute``: the operation to write. ``confirmed`` must be true."""

    operation_id: Uuid
    confirmed: ConfirmedTrue
    allow_stale: bool = False


class PrepareArguments(ApiModel):
    """Arguments of ``prepare``: one native change of one account, or a launch.

    ``POST /accounts/{accountId}/validate`` takes the same change, and ``POST /launches`` the same launch.
    """

    account_id: Omittable[Uuid] = None
    mutation: Omittable[Mutation] = None
    launch: Omittable[NewLaunch] = None
    idempotency_key: IdempotencyKey = None


class StatusArguments(ApiModel):
    """Arguments of ``set_status``: one status for 1 to 50 entities of a kind, by their native ids."""

    account_id: Uuid
    kind: Kind
    entity_ids: Annotated[list[EntityId], Field(min_length=1, max_length=50)]
    status: Status
    idempotency_key: IdempotencyKey = None


RunResult = Mapping[str, Json] | ToolResult | InputRequired
"""The envelope of a response, or a result of a tool."""


@frozen
class ToolCall:
    """A call of a tool: the backend of the caller, and the metadata of the request."""

    backend: Backend
    context: RequestMetadata

    async def call_endpoint(self, endpoint: Endpoint, request: ApiRequest) -> RunResult:
        """Call an endpoint of the contract. If a person must approve, the result requires this approval as input."""
        return await call_with_approval(self.backend, self.context, endpoint, request)


# -- calls --------------------------------------------------------------------------------------------------------


async def _run_account(call: ToolCall, arguments: AccountArguments) -> RunResult:
    if arguments.account_id is not None:
        return await _call_endpoint(call, "get_account", path={"accountId": arguments.account_id})
    return await _call_endpoint(
        call, "get_accounts", query={} if arguments.network is None else {"network": arguments.network}
    )


async def _run_search(call: ToolCall, arguments: SearchArguments) -> RunResult:
    return {"data": [operation_schemas()[name] for name in search_operations(arguments.query)[:MAX_RESULTS]]}


async def _run_call_tool(call: ToolCall, arguments: CallArguments) -> RunResult:
    endpoint = ENDPOINTS_BY_ID.get(arguments.operation_id)
    if endpoint is None:
        raise invalid_input("operationId", "choice", "Unknown operation; search_tools finds operations.")
    if endpoint.operation_id in HIDDEN_OPERATIONS:
        raise Forbidden("Only a person decides where events are sent, over REST.", code="not_for_agents")
    path, query = arguments.path or {}, arguments.query or {}
    unknown = [f"path.{name}" for name in path if name not in endpoint.parameters]
    unknown += ["body"] if arguments.body is not None and endpoint.body is None else []
    if unknown:
        raise InvalidInput(
            [Issue(name, "unknown_property", "is not a parameter of this operation.") for name in unknown]
        )
    query_texts = {name: value if isinstance(value, str) else dumps(value) for name, value in query.items()}
    body = b"" if arguments.body is None else dumps_bytes(arguments.body)
    return await call.call_endpoint(endpoint, ApiRequest(path, query_texts, body, arguments.idempotency_key))


async def _run_operation(call: ToolCall, arguments: OperationArguments) -> RunResult:
    return await _call_endpoint(call, "get_operation", path={"operationId": arguments.operation_id})


async def _run_execute(call: ToolCall, arguments: ExecuteArguments) -> RunResult:
    path = {"operationId": arguments.operation_id}
    body = {"confirmed": arguments.confirmed, "allowStale": arguments.allow_stale}
    execution = _call_endpoint(call, "post_operation_execute", path=path, body=body)
    return await report_execution(call.backend, call.context, path, execution)


async def _run_prepare(call: ToolCall, arguments: PrepareArguments) -> RunResult:
    account_id, mutation, key = arguments.account_id, arguments.mutation, arguments.idempotency_key
    if arguments.launch is not None:
        single_arguments = {"accountId": account_id, "mutation": mutation}
        message = "is not allowed with launch, whose accounts name theirs."
        raise_if_issues(
            Issue(name, "conflict", message) for name, value in single_arguments.items() if value is not None
        )
        return await _call_endpoint(call, "post_launches", body=arguments.launch.to_json(), key=key)
    if account_id is None or mutation is None:
        missing = {"accountId": account_id, "mutation": mutation}
        message = "is required, unless launch is given."
        raise InvalidInput([Issue(name, "required", message) for name, value in missing.items() if value is None])
    return await _prepare_mutation(call, account_id, mutation, key)


async def _prepare_mutation(call: ToolCall, account_id: str, mutation: Mutation, key: str | None) -> RunResult:
    if mutation.action == "status":
        return await _run_set_status(
            call,
            StatusArguments.model_validate(
                {
                    "accountId": account_id,
                    "kind": mutation.kind,
                    "entityIds": [mutation.entity_id],
                    "status": mutation.status,
                    **({} if key is None else {"idempotencyKey": key}),
                }
            ),
        )
    plural, singular = RESOURCE_NAMES[mutation.kind]
    name = {
        "create": f"post_account_{plural}",
        "update": f"patch_account_{singular}",
        "delete": f"delete_account_{singular}",
    }
    path = {"accountId": account_id}
    if mutation.entity_id is not None:
        path["entityId"] = mutation.entity_id
    body: Json = None
    if mutation.edit is not None:
        body = mutation.edit.to_json()
    elif mutation.payload is not None:
        body = {"payload": mutation.payload}
        body |= {} if mutation.parent_id is None else {"parentId": mutation.parent_id}
    operation_id = name.get(mutation.action, f"post_account_{singular}_edit")
    return await _call_endpoint(call, operation_id, path=path, body=body, key=key)


RESOURCE_NAMES: Mapping[str, tuple[str, str]] = {
    "campaign": ("campaigns", "campaign"),
    "adGroup": ("ad_groups", "ad_group"),
    "ad": ("ads", "ad"),
}


async def _run_set_status(call: ToolCall, arguments: StatusArguments) -> RunResult:
    body = {
        "accountId": arguments.account_id,
        "kind": arguments.kind,
        "entityIds": list(arguments.entity_ids),
        "status": arguments.status,
    }
    return await _call_endpoint(call, "post_bulk_status", body=body, key=arguments.idempotency_key)


async def _call_endpoint(
    call: ToolCall,
    operation_id: str,
    path: Mapping[str, str] | None = None,
    query: Mapping[str, str] | None = None,
    body: Json = None,
    key: str | None = None,
) -> RunResult:
    raw_body = b"" if body is None else dumps_bytes(body)
    endpoint: Endpoint = ENDPOINTS_BY_ID[operation_id]
    return await call.call_endpoint(endpoint, ApiRequest(path or {}, query or {}, raw_body, key))


# -- the table ----------------------------------------------------------------------------------------------------


@frozen(eq=False)
class Tool:
    """One tool.

    Attributes:
        run: takes a call and its parsed arguments; returns the envelope of a response, or a result.
        result_schema: the members of ``data`` that matter, for the output schema.
    """

    name: str
    description: str
    arguments: type[ApiModel]
    run: Callable[[ToolCall, Any], Awaitable[RunResult]]
    is_read_only: bool = True
    is_destructive: bool = False
    is_idempotent: bool = True
    result_schema: Mapping[str, Json] = field(factory=dict)
    listing: Mapping[str, Json] = field(init=False)
    """The tool as ``tools/list`` shows it."""

    @listing.default
    def _make_listing(self) -> Mapping[str, Json]:
        return {
            "name": self.name,
            "description": self.description,
            "inputSchema": _simplify_schema(self.arguments.model_json_schema()),
            "outputSchema": {
                "type": "object",
                "properties": {"data": self.result_schema, "page": {"type": "object"}, "error": {"type": "object"}},
            },
            "annotations": {
                "readOnlyHint": self.is_read_only,
                "destructiveHint": self.is_destructive,
                "idempotentHint": self.is_idempotent,
                "openWorldHint": True,
            },
        }


def _simplify_schema(schema: dict[str, Json]) -> dict[str, Json]:
    """Remove titles and the levels below the second; ``search_tools`` shows the whole schema."""
    definitions = schema.pop("$defs", {})

    def simplify(value: Json, depth: int) -> Json:
        if isinstance(value, dict):
            if "$ref" in value:
                name = value["$ref"].rpartition("/")[2]
                return simplify(definitions[name], depth + 1) if depth < 1 else {"type": "object"}
            return {
                key: simplify(member, depth)
                for key, member in value.items()
                if key != "title" or isinstance(member, dict)
            }
        return [simplify(member, depth) for member in value] if isinstance(value, list) else value

    light: dict[str, Json] = convert_descriptions(simplify(schema, 0))
    light.pop("description", None)
    return light


OBJECT_OR_ARRAY: Mapping[str, Json] = {"anyOf": [{"type": "object"}, {"type": "array"}]}
OPERATION_SCHEMA: Mapping[str, Json] = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "status": {"enum": ["prepared", "running", "succeeded", "unknown", "cancelled"]},
        "reviewUrl": {"type": "string"},
        "nextAction": {"const": "execute"},
        "retryAfterMs": {"type": "integer"},
    },
    "required": ["id", "status"],
}
PREPARED_SCHEMA: Mapping[str, Json] = {
    "type": "object",
    "properties": {"operations": {"type": "array", "items": {"type": "object"}}},
}

TOOLS: Mapping[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool(
            "account",
            "The ad accounts you can use, or one of them. Pass the accountId to every other tool; none is remembered.",
            AccountArguments,
            _run_account,
            result_schema=OBJECT_OR_ARRAY,
        ),
        Tool(
            "search_tools",
            "Find the API operations for a request in plain words, with their argument schemas, for call_tool.",
            SearchArguments,
            _run_search,
            result_schema={"type": "array", "items": {"type": "object"}},
        ),
        Tool(
            "call_tool",
            "Call one API operation by its operationId, with path, query and body as search_tools says. A change is "
            "only prepared: a person can review it, and execute writes it. Reuse idempotencyKey when retrying.",
            CallArguments,
            _run_call_tool,
            is_read_only=False,
            is_destructive=True,
            is_idempotent=False,
            result_schema=OBJECT_OR_ARRAY,
        ),
        Tool(
            "execute",
            "Write a prepared operation to the ad network; real money may be spent. Where the result has nextAction "
            "execute, wait retryAfterMs and call again with the same operationId. Outcome unknown: never repeat it. "
            "Where a person must approve, nothing is written: give the person the reviewUrl.",
            ExecuteArguments,
            _run_execute,
            is_read_only=False,
            is_destructive=True,
            result_schema=OPERATION_SCHEMA,
        ),
        Tool(
            "operation",
            "One operation: its plan and its receipt.",
            OperationArguments,
            _run_operation,
            result_schema=OPERATION_SCHEMA,
        ),
        Tool(
            "prepare",
            "Prepare one native change: create, update, delete, status or edit of a campaign, ad group or ad. Or a "
            "launch: one brief on many accounts. Nothing is written until execute. Search for edit to see what "
            "mutation.edit takes, and for launch to see what launch takes and how it is executed.",
            PrepareArguments,
            _run_prepare,
            is_read_only=False,
            is_idempotent=False,
            result_schema={"type": "object"},
        ),
        Tool(
            "set_status",
            "Prepare to activate or pause up to 50 campaigns, ad groups or ads. Nothing is written until execute.",
            StatusArguments,
            _run_set_status,
            is_read_only=False,
            is_idempotent=False,
            result_schema=PREPARED_SCHEMA,
        ),
    )
}


async def call_tool(tool: Tool, call: ToolCall, arguments: Mapping[str, Json]) -> ToolResult | InputRequired:
    """Call a tool and return its result; an error is a result as well. Raises RpcError."""
    try:
        raw = dumps_bytes(arguments)
        value = await tool.run(call, await run_large_in_thread(raw, parse_model, tool.arguments, raw))
        return value if isinstance(value, ToolResult | InputRequired) else success_result(value)
    except AdsunifyError as problem:
        is_waiting = problem.code == APPROVAL_CODE and problem.operation_data is not None
        return (approval_required_result if is_waiting else error_result)(problem)
