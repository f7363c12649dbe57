"""The methods of an MCP server over a backend of the API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import evolve, field, frozen

from adsunify.client.backends import Backend
from adsunify.errors import AdsunifyError
from adsunify.values.exact_json import Json

from .method_results import SERVER_INFO, InputRequired
from .prompts import PROMPTS, Prompt, PromptArgument
from .protocol import MethodHandler
from .request_metadata import RequestMetadata, RpcError
from .request_states import RequestStates, identify_request
from .resources import RESOURCES, McpResource, find_resource
from .tools import TOOLS, Tool, ToolCall, call_tool
from .versions import INVALID_PARAMS, VERSIONS, negotiate_version

INSTRUCTIONS = (
    "One advertising API over many ad networks. Changes are prepared, reviewed, and only then executed: validate or "
    "search first, prepare with call_tool, prepare or set_status, show the plan to the person, then execute with "
    "confirmed true. Never repeat a change whose outcome is unknown. Where the workspace requires a person's "
    "approval, execute writes nothing: show the reviewUrl to the person, who executes there."
)
MAX_COMPLETIONS = 100
"""The most values in one response (MCP 2026-07-28, Completion, "Completion Results")."""


@frozen
class Features:
    """What a server offers. Lists have the order of these mappings, which is always the same.

    Attributes:
        capabilities: further capabilities that are declared.
    """

    tools: Mapping[str, Tool] = TOOLS
    prompts: Mapping[str, Prompt] = PROMPTS
    resources: Sequence[McpResource] = RESOURCES
    capabilities: Mapping[str, Json] = field(factory=dict)

    def list_capabilities(self, *, has_subscriptions: bool) -> dict[str, Json]:
        """Return the capabilities of a server with these features."""
        resources = {"subscribe": True} if has_subscriptions else {}
        return {"tools": {}, "prompts": {}, "resources": resources, "completions": {}, **self.capabilities}


PRODUCT = Features()


@frozen
class Methods:
    """The methods for one caller.

    Attributes:
        states: seals the state of results that require input; None if the backend cannot seal states.
    """

    backend: Backend
    features: Features
    states: RequestStates | None

    # -- the server -----------------------------------------------------------------------------------------------

    async def initialize(self, params: Mapping[str, Json], context: RequestMetadata) -> Mapping[str, Json]:
        """Answer the handshake of the revisions before 2026-07-28."""
        return {
            "protocolVersion": negotiate_version(params.get("protocolVersion")),
            "capabilities": self.features.list_capabilities(has_subscriptions=True),
            "serverInfo": SERVER_INFO,
            "instructions": INSTRUCTIONS,
        }

    async def discover(self, params: Mapping[str, Json], context: RequestMetadata) -> Mapping[str, Json]:
        """Tell what the server supports (MCP 2026-07-28, Discovery)."""
        return {
            "supportedVersions": list(VERSIONS),
            "capabilities": self.features.list_capabilities(has_subscriptions=False),
            "instructions": INSTRUCTIONS,
        }

    async def ping(self, params: Mapping[str, Json], context: RequestMetadata) -> Mapping[str, Json]:
        """Answer an empty result."""
        return {}

    # -- tools ----------------------------------------------------------------------------------------------------

    async def list_tools(self, params: Mapping[str, Json], context: RequestMetadata) -> Mapping[str, Json]:
        """List the tools."""
        return {"tools": [tool.listing for tool in self.features.tools.values()]}

    async def call_tool(self, params: Mapping[str, Json], context: RequestMetadata) -> Mapping[str, Json]:
        """Call a tool."""
        name, arguments = params.get("name"), params.get("arguments", {})
        if not isinstance(name, str) or name not in self.features.tools:
            raise RpcError(INVALID_PARAMS, f"Unknown tool; the tools are {', '.join(self.features.tools)}.")
        if not isinstance(arguments, Mapping):
            raise RpcError(INVALID_PARAMS, "arguments must be an object.")
        request = identify_request("tools/call", name, arguments)
        context = await self._read_inputs(params, context, request)
        result = await call_tool(self.features.tools[name], ToolCall(self.backend, context), arguments)
        return await self._seal(result, request) if isinstance(result, InputRequired) else result.to_json()

    # -- prompts --------------------------------------------------------------------------------------------------

    async def list_prompts(self, params: Mapping[str, Json], context: RequestMetadata) -> Mapping[str, Json]:
        """List the prompts."""
        return {"prompts": [prompt.to_json() for prompt in self.features.prompts.values()]}

    async def get_prompt(self, params: Mapping[str, Json], context: RequestMetadata) -> Mapping[str, Json]:
        """Return the messages of a prompt."""
        prompt = self._find_prompt(params.get("name"))
        arguments = params.get("arguments", {})
        if not isinstance(arguments, Mapping):
            raise RpcError(INVALID_PARAMS, "arguments must be an object.")
        request = identify_request("prompts/get", prompt.name, arguments)
        context = await self._read_inputs(params, context, request)
        messages = await prompt.write(prompt.check_arguments(arguments), context)
        if isinstance(messages, InputRequired):
            return await self._seal(messages, request)
        return {"description": prompt.description, "messages": list(messages)}

    def _find_prompt(self, name: Json) -> Prompt:
        prompt = self.features.prompts.get(name) if isinstance(name, str) else None
        if prompt is None:
            raise RpcError(INVALID_PARAMS, f"Unknown prompt; the prompts are {', '.join(self.features.prompts)}.")
        return prompt

    # -- resources ------------------------------------------------------------------------------------------------

    async def list_resources(self, params: Mapping[str, Json], context: RequestMetadata) -> Mapping[str, Json]:
        """List the resources without variables."""
        return {"resources": [resource.to_json() for resource in self.features.resources if not resource.is_template]}

    async def list_templates(self, params: Mapping[str, Json], context: RequestMetadata) -> Mapping[str, Json]:
        """List the templates of resources."""
        return {
            "resourceTemplates": [template.to_json() for template in self.features.resources if template.is_template]
        }

    async def read_resource(self, params: Mapping[str, Json], context: RequestMetadata) -> Mapping[str, Json]:
        """Return the contents of a resource."""
        resource, variables = self._find_resource(params)
        try:
            contents = await resource.read(self.backend, variables)
        except AdsunifyError as problem:
            raise RpcError(INVALID_PARAMS, problem.message, {"uri": params["uri"]}) from None
        return {"contents": [{"uri": params["uri"], **contents}]}

    async def subscribe(self, params: Mapping[str, Json], context: RequestMetadata) -> Mapping[str, Json]:
        """Accept or end a subscription to a resource, which does not change while the server runs."""
        self._find_resource(params)
        return {}

    def _find_resource(self, params: Mapping[str, Json]) -> tuple[McpResource, Mapping[str, str]]:
        uri = params.get("uri")
        resource_match = find_resource(self.features.resources, uri) if isinstance(uri, str) else None
        if resource_match is None:
            raise RpcError(INVALID_PARAMS, "Resource not found; resources/list has the resources.", {"uri": uri})
        return resource_match

    # -- completion -----------------------------------------------------------------------------------------------

    async def complete(self, params: Mapping[str, Json], context: RequestMetadata) -> Mapping[str, Json]:
        """Complete an argument of a prompt, or a variable of a template of resources."""
        reference, argument = params.get("ref"), params.get("argument")
        if not isinstance(reference, Mapping) or not isinstance(argument, Mapping):
            raise RpcError(INVALID_PARAMS, "ref and argument must be objects.")
        name, value = argument.get("name"), argument.get("value")
        if not isinstance(name, str) or not isinstance(value, str):
            raise RpcError(INVALID_PARAMS, "argument must have a name and a value, which are text.")
        choices = self._list_choices(reference)
        if name not in choices:
            raise RpcError(INVALID_PARAMS, f"Unknown argument; the arguments are {', '.join(choices)}.")
        matching = [choice for choice in choices[name] if choice.startswith(value)]
        values = matching[:MAX_COMPLETIONS]
        return {"completion": {"values": values, "total": len(matching), "hasMore": len(matching) > len(values)}}

    def _list_choices(self, reference: Mapping[str, Any]) -> Mapping[str, Sequence[str]]:
        """Return the choices of each argument of a prompt or a template."""
        if reference.get("type") == "ref/prompt":
            arguments: Sequence[PromptArgument] = self._find_prompt(reference.get("name")).arguments
            return {argument.name: argument.choices for argument in arguments}
        templates = (
            candidate
            for candidate in self.features.resources
            if candidate.is_template and candidate.uri == reference.get("uri")
        )
        template = next(templates, None)
        if reference.get("type") != "ref/resource" or template is None:
            raise RpcError(INVALID_PARAMS, "ref must be a ref/prompt or a ref/resource that is listed.")
        return template.choices

    # -- requests in several round trips --------------------------------------------------------------------------

    async def _read_inputs(self, params: Mapping[str, Json], context: RequestMetadata, request: str) -> RequestMetadata:
        """Read what the client sends with a request that it sends again (MCP 2026-07-28, "Basic Workflow")."""
        if not context.version.is_stateless:
            return context
        context = evolve(context, can_require_input=self.states is not None)
        responses, sealed = params.get("inputResponses", {}), params.get("requestState")
        if not isinstance(responses, Mapping) or not all(
            isinstance(response, Mapping) for response in responses.values()
        ):
            raise RpcError(INVALID_PARAMS, "inputResponses must be an object of objects.")
        if sealed is None:
            return evolve(context, input_responses=responses)
        if not isinstance(sealed, str) or self.states is None:
            raise RpcError(INVALID_PARAMS, "requestState must be the text that a result of this server had.")
        return evolve(context, input_responses=responses, state=await self.states.open(request, sealed))

    async def _seal(self, result: InputRequired, request: str) -> Mapping[str, Json]:
        answer: dict[str, Json] = {"resultType": "input_required", "inputRequests": dict(result.requests)}
        if result.state is not None and self.states is not None:
            answer["requestState"] = await self.states.seal(request, result.state)
        return answer


def make_methods(
    backend: Backend, features: Features = PRODUCT, states: RequestStates | None = None
) -> Mapping[str, MethodHandler]:
    """Return the methods for one caller, by name."""
    methods = Methods(backend, features, states)
    return {
        "server/discover": methods.discover,
        "initialize": methods.initialize,
        "ping": methods.ping,
        "tools/list": methods.list_tools,
        "tools/call": methods.call_tool,
        "prompts/list": methods.list_prompts,
        "prompts/get": methods.get_prompt,
        "resources/list": methods.list_resources,
        "resources/templates/list": methods.list_templates,
        "resources/read": methods.read_resource,
        "resources/subscribe": methods.subscribe,
        "resources/unsubscribe": methods.subscribe,
        "completion/complete": methods.complete,
    }
