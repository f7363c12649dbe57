"""The tools, prompts and resources that the suite calls by name: it tries what our endpoint carries for any feature."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

from attrs import field, frozen

from adsunify.client.backends import Backend
from adsunify.errors import AdsunifyError
from adsunify.models.base import ApiModel
from adsunify.values.exact_json import Json, dumps
from adsunify_mcp.method_results import InputRequired, ToolResult
from adsunify_mcp.prompts import PROMPTS, Messages, Prompt, PromptArgument, make_text_message
from adsunify_mcp.protocol import MethodHandler
from adsunify_mcp.request_metadata import RequestMetadata, RpcError
from adsunify_mcp.resources import RESOURCES, McpResource
from adsunify_mcp.server import Features
from adsunify_mcp.tools import TOOLS, RunResult, Tool, ToolCall
from adsunify_mcp.versions import INVALID_PARAMS, MISSING_CAPABILITY

LOG_LEVEL_KEY = "io.modelcontextprotocol/logLevel"
LOG_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="
IMAGE: Mapping[str, Json] = {"type": "image", "data": PIXEL, "mimeType": "image/png"}


class Nothing(ApiModel):
    """No arguments."""


def text(words: str) -> dict[str, Json]:
    return {"type": "text", "text": words}


def embed_text(uri: str, words: str, mime_type: str = "text/plain") -> dict[str, Json]:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime_type, "text": words}}


# -- tools whose result is one thing -----------------------------------------------------------------------------------


def make_showing_tool(*content: Mapping[str, Json]) -> Callable[[ToolCall, Nothing], Awaitable[RunResult]]:
    """A tool that answers with these content blocks."""

    async def run(call: ToolCall, arguments: Nothing) -> RunResult:
        return ToolResult(content)

    return run


async def fail(call: ToolCall, arguments: Nothing) -> RunResult:
    raise AdsunifyError("This tool intentionally returns an error for testing")


async def need_sampling(call: ToolCall, arguments: Nothing) -> RunResult:
    if "sampling" not in call.context.capabilities:
        raise RpcError(MISSING_CAPABILITY, "This tool needs sampling.", {"requiredCapabilities": {"sampling": {}}})
    return ToolResult([text("Sampling is declared.")])


# -- tools that send notifications on the stream of their request ------------------------------------------------------


@frozen
class Logging:
    """The level that a client chose. The suite is one client; the product has no logging."""

    level: list[str] = field(factory=lambda: ["info"])

    async def set_level(self, params: Mapping[str, Json], context: RequestMetadata) -> Mapping[str, Json]:
        if params.get("level") not in LOG_LEVELS:
            raise RpcError(INVALID_PARAMS, f"level must be one of {', '.join(LOG_LEVELS)}.")
        self.level[:] = [params["level"]]
        return {}

    async def log(self, call: ToolCall, arguments: Nothing) -> RunResult:
        context = call.context
        level = context.metadata.get(LOG_LEVEL_KEY) if context.version.is_stateless else self.level[0]
        if level in LOG_LEVELS[:2] and context.notify is not None:
            for words in ("Tool execution started", "Tool processing data", "Tool execution completed"):
                await context.notify("notifications/message", {"level": "info", "logger": "suite", "data": words})
        return ToolResult([text("Logged.")])


async def progress(call: ToolCall, arguments: Nothing) -> RunResult:
    for percent in (0, 50, 100):
        await call.context.report_progress(percent, 100, f"{percent} of 100")
    return ToolResult([text("Progress was reported.")])


# -- tools that need input ---------------------------------------------------------------------------------------------


def ask(question: str, **properties: str) -> dict[str, Json]:
    schema = {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in properties.items()},
        "required": list(properties),
    }
    return {"method": "elicitation/create", "params": {"message": question, "requestedSchema": schema}}


def sample(words: str) -> dict[str, Json]:
    message = {"role": "user", "content": text(words)}
    return {"method": "sampling/createMessage", "params": {"messages": [message], "maxTokens": 100}}


ROOTS: Mapping[str, Json] = {"method": "roots/list", "params": {}}
CAPABILITIES = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}


def make_needing_tool(
    *rounds: Mapping[str, Json], keeps_state: bool
) -> Callable[[ToolCall, Nothing], Awaitable[RunResult]]:
    """A tool that needs the input of each round; its state is the number of the round."""

    async def run(call: ToolCall, arguments: Nothing) -> RunResult:
        context = call.context
        if not context.can_require_input:
            raise AdsunifyError("This revision has no results that require input.")
        current = 0 if context.state is None else context.state["round"]
        if (context.state is not None or not keeps_state) and all(
            key in context.input_responses for key in rounds[current]
        ):
            current += 1
        if current == len(rounds):
            return ToolResult([text(f"state-ok: {dumps(context.input_responses)}")])
        allowed = {
            key: input_request
            for key, input_request in rounds[current].items()
            if CAPABILITIES[input_request["method"]] in context.capabilities
        }
        return InputRequired(allowed, {"round": current} if keeps_state else None)

    return run


# -- the schema that must come through unchanged -----------------------------------------------------------------------


@frozen
class Verbatim(Tool):
    """A tool whose schema is shown as the suite wrote it."""

    listing: Mapping[str, Json] = field(init=False)

    @listing.default
    def _show_verbatim(self) -> Mapping[str, Json]:
        return {**self._make_listing(), "inputSchema": SCHEMA}


SCHEMA: Json = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}

LOGGING = Logging()
SIMPLE = make_showing_tool(text("This is a simple text response for testing."))
RUNS: Mapping[str, Callable[[ToolCall, Nothing], Awaitable[RunResult]]] = {
    "test_simple_text": SIMPLE,
    "test_image_content": make_showing_tool(IMAGE),
    "test_audio_content": make_showing_tool({"type": "audio", "data": SILENCE, "mimeType": "audio/wav"}),
    "test_embedded_resource": make_showing_tool(
        embed_text("test://embedded-resource", "This is an embedded resource content.")
    ),
    "test_multiple_content_types": make_showing_tool(
        text("Multiple content types test:"),
        IMAGE,
        embed_text("test://mixed-content-resource", '{"test":"data","value":123}', "application/json"),
    ),
    "test_error_handling": fail,
    "test_missing_capability": need_sampling,
    "test_tool_with_logging": LOGGING.log,
    "test_logging_tool": LOGGING.log,
    "test_tool_with_progress": progress,
    "test_streaming_elicitation": make_needing_tool(
        {"name": ask("What is your name?", name="string")}, keeps_state=False
    ),
    "test_input_required_result_elicitation": make_needing_tool(
        {"user_name": ask("What is your name?", name="string")}, keeps_state=False
    ),
    "test_input_required_result_sampling": make_needing_tool(
        {"capital_question": sample("What is the capital of France?")}, keeps_state=False
    ),
    "test_input_required_result_list_roots": make_needing_tool({"client_roots": ROOTS}, keeps_state=False),
    "test_input_required_result_request_state": make_needing_tool(
        {"confirm": ask("Please confirm", ok="boolean")}, keeps_state=True
    ),
    "test_input_required_result_multiple_inputs": make_needing_tool(
        {
            "user_name": ask("What is your name?", name="string"),
            "greeting": sample("Generate a greeting"),
            "client_roots": ROOTS,
        },
        keeps_state=True,
    ),
    "test_input_required_result_multi_round": make_needing_tool(
        {"step1": ask("Step 1: What is your name?", name="string")},
        {"step2": ask("Step 2: What is your favorite color?", color="string")},
        keeps_state=True,
    ),
    "test_input_required_result_tampered_state": make_needing_tool(
        {"confirm": ask("Please confirm", ok="boolean")}, keeps_state=True
    ),
    "test_input_required_result_capabilities": make_needing_tool(
        {"elicit_input": ask("Elicitation input", value="string"), "sample_input": sample("Sample request")},
        keeps_state=True,
    ),
}
SUITE_TOOLS: Mapping[str, Tool] = {
    **{name: Tool(name, "The suite calls it.", Nothing, run) for name, run in RUNS.items()},
    "json_schema_2020_12_tool": Verbatim("json_schema_2020_12_tool", "Has a rich schema.", Nothing, SIMPLE),
}

# -- prompts and resources ---------------------------------------------------------------------------------------------


def user(content: Mapping[str, Json]) -> dict[str, Json]:
    return {"role": "user", "content": content}


async def write_simple(arguments: Mapping[str, str], context: RequestMetadata) -> Messages:
    return [make_text_message("This is a simple prompt for testing.")]


async def write_arguments(arguments: Mapping[str, str], context: RequestMetadata) -> Messages:
    return [make_text_message("Prompt with arguments: arg1='{arg1}', arg2='{arg2}'".format(**arguments))]


async def write_resource(arguments: Mapping[str, str], context: RequestMetadata) -> Messages:
    resource = embed_text(arguments["resourceUri"], "Embedded resource content for testing.")
    return [user(resource), make_text_message("Please process the embedded resource above.")]


async def write_image(arguments: Mapping[str, str], context: RequestMetadata) -> Messages:
    return [user(IMAGE), make_text_message("Please analyze the image above.")]


async def write_with_input(arguments: Mapping[str, str], context: RequestMetadata) -> Messages | InputRequired:
    if "user_context" not in context.input_responses:
        return InputRequired({"user_context": ask("What context should the prompt use?", context="string")})
    return [make_text_message(dumps(context.input_responses["user_context"]))]


def name_arguments(*names: str) -> Sequence[PromptArgument]:
    return [PromptArgument(name, "The suite gives it.", is_required=True, choices=("test", "paris")) for name in names]


SUITE_PROMPTS = (
    Prompt("test_simple_prompt", "A simple prompt.", write_simple),
    Prompt("test_prompt_with_arguments", "A prompt with arguments.", write_arguments, name_arguments("arg1", "arg2")),
    Prompt("test_prompt_with_embedded_resource", "Embeds a resource.", write_resource, name_arguments("resourceUri")),
    Prompt("test_prompt_with_image", "Shows an image.", write_image),
    Prompt("test_input_required_result_prompt", "Needs input.", write_with_input),
)


async def read_text(backend: Backend, variables: Mapping[str, str]) -> Mapping[str, Json]:
    return {"mimeType": "text/plain", "text": "This is the content of the static text resource."}


async def read_binary(backend: Backend, variables: Mapping[str, str]) -> Mapping[str, Json]:
    return {"mimeType": "image/png", "blob": PIXEL}


async def read_template(backend: Backend, variables: Mapping[str, str]) -> Mapping[str, Json]:
    id_ = variables["id"]
    return {
        "mimeType": "application/json",
        "text": dumps({"id": id_, "templateTest": True, "data": f"Data for ID: {id_}"}),
    }


SUITE_RESOURCES = (
    McpResource("test://static-text", "static-text", "A text.", read_text, "text/plain"),
    McpResource("test://static-binary", "static-binary", "An image.", read_binary, "image/png"),
    McpResource("test://watched-resource", "watched-resource", "It never changes.", read_text, "text/plain"),
    McpResource("test://template/{id}/data", "template", "Has a variable.", read_template),
)

FEATURES = Features(
    {**TOOLS, **SUITE_TOOLS},
    {**PROMPTS, **{prompt.name: prompt for prompt in SUITE_PROMPTS}},
    (*RESOURCES, *SUITE_RESOURCES),
    {"logging": {}},
)
SUITE_METHODS: Mapping[str, MethodHandler] = {"logging/setLevel": LOGGING.set_level}
