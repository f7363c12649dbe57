"""The API reference: the OpenAPI document, and a page with every endpoint of the contract table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any
from urllib.parse import urlencode

from aiohttp import web
from attrs import frozen
from markupsafe import Markup, escape

from adsunify.contract import ENDPOINTS, Endpoint
from adsunify.contract.endpoint import ERROR_STATUSES, PREFIX
from adsunify.contract.prose import docstring_to_markdown
from adsunify.models.error_messages import FORM_BY_PATTERN
from adsunify.problem_details import PROBLEM_CODES
from adsunify.service.dispatch import describe_endpoint
from adsunify.values.dates import INSTANT_REGEX
from adsunify.values.exact_json import dumps_bytes
from adsunify.values.money import AMOUNT_REGEX

from .examples import BODY_EXAMPLES, EXAMPLE_ID, PATH_EXAMPLES, QUERY_EXAMPLES, make_example
from .openapi import STATUS_WORDS, make_document
from .pages.rendering import format_value, render_page

PATTERN_DESCRIPTIONS: Mapping[str, str] = {
    **FORM_BY_PATTERN,
    AMOUNT_REGEX: "a decimal number as text, such as 20.50",
    INSTANT_REGEX: "an instant with its offset, such as 2030-03-01T08:00:00Z",
}
MAX_PATTERN_LENGTH = 60
"""The page leaves longer patterns out; the OpenAPI document has them."""


@frozen
class ReferenceMember:
    """A parameter, or a member of a body by its path. ``words``: the values that it accepts."""

    name: str
    place: str
    required: bool
    words: str


@frozen
class ReferenceEndpoint:
    """An endpoint as the page shows it. ``command``: a curl command; ``answer``: an example of the envelope."""

    endpoint: Endpoint
    path: str
    words: Markup
    access: str
    members: tuple[ReferenceMember, ...]
    command: str
    answer: str


def add_routes(app: web.Application, base_url: str) -> None:
    """Add ``/openapi.json`` and ``/docs``. Each is built at the first request for it."""

    @cache
    def openapi_bytes() -> bytes:
        return dumps_bytes(make_document(base_url))

    @cache
    def reference_page() -> web.Response:
        whole = make_document(base_url)
        sections: dict[str, list[ReferenceEndpoint]] = {}
        for endpoint in ENDPOINTS:
            sections.setdefault(endpoint.section, []).append(_make_reference_endpoint(endpoint, whole))
        return render_page(
            "reference.html",
            sections=sections,
            document=whole,
            prefix=PREFIX,
            statuses={status: STATUS_WORDS[status] for status in ERROR_STATUSES},
            codes=PROBLEM_CODES,
        )

    async def get_openapi(request: web.Request) -> web.Response:
        return web.Response(body=openapi_bytes(), content_type="application/json")

    async def get_docs(request: web.Request) -> web.Response:
        page = reference_page()
        return web.Response(body=page.body, headers=page.headers)

    app.router.add_get("/openapi.json", get_openapi)
    app.router.add_get("/docs", get_docs)


def _make_reference_endpoint(endpoint: Endpoint, document: Mapping[str, Any]) -> ReferenceEndpoint:
    path = PREFIX + endpoint.path
    operation, components = document["paths"][path][endpoint.method.lower()], document["components"]["schemas"]
    members = [
        ReferenceMember(
            parameter["name"], parameter["in"], parameter["required"], _describe_schema(parameter["schema"])
        )
        for parameter in operation["parameters"]
    ]
    if endpoint.body is not None:
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        members += _list_members(schema, components, "")
    success = operation["responses"][str(endpoint.status)]["content"]["application/json"]["schema"]
    return ReferenceEndpoint(
        endpoint,
        path,
        docstring_to_html(describe_endpoint(endpoint)),
        endpoint.access_description,
        tuple(members),
        _curl_command(endpoint, path, document["servers"][0]["url"]),
        format_value(make_example(success, components)),
    )


def _list_members(schema: Mapping[str, Any], components: Mapping[str, Any], prefix: str) -> Iterator[ReferenceMember]:
    """List the members of a body and of its objects, by path."""
    schema = _resolve_reference(schema, components)
    for option in schema.get("oneOf", ()):
        yield from _list_members(option, components, prefix)
    for name, member in schema.get("properties", {}).items():
        path, member_schema = f"{prefix}{name}", _resolve_reference(member, components)
        yield ReferenceMember(path, "body", name in schema.get("required", ()), _describe_schema(member_schema))
        yield from _list_members(member_schema, components, f"{path}.")
        yield from _list_members(member_schema.get("items", {}), components, f"{path}[].")


def _resolve_reference(schema: Mapping[str, Any], components: Mapping[str, Any]) -> Mapping[str, Any]:
    resolved: Mapping[str, Any] = components[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    return resolved


def _describe_schema(schema: Mapping[str, Any]) -> str:
    """Describe the values that a schema accepts."""
    if "const" in schema:
        return format_value(schema["const"])
    description = "one of " + ", ".join(map(str, schema["enum"])) if "enum" in schema else _describe_type(schema)
    pattern = schema.get("pattern")
    if pattern is not None:
        description = PATTERN_DESCRIPTIONS.get(pattern) or (
            f"{description}, {pattern}" if len(pattern) <= MAX_PATTERN_LENGTH else description
        )
    for minimum, maximum, unit in (("minLength", "maxLength", "characters"), ("minItems", "maxItems", "items")):
        if maximum in schema:
            description += (
                f", {schema[minimum]} to {schema[maximum]} {unit}"
                if minimum in schema
                else f", at most {schema[maximum]} {unit}"
            )
    bounds = [words.format(schema[key]) for key, words in BOUND_WORDS.items() if key in schema]
    default = schema.get("default")
    return ", ".join(
        [description, *bounds, *([f"{format_value(default)} by default"] if default not in (None, {}) else [])]
    )


BOUND_WORDS: Mapping[str, str] = {"minimum": "from {}", "exclusiveMinimum": "greater than {}", "maximum": "at most {}"}


def _describe_type(schema: Mapping[str, Any]) -> str:
    options = schema.get("anyOf") or schema.get("oneOf") or ()
    if options:
        return " or ".join(dict.fromkeys(_describe_schema(option) for option in options))
    kind = schema.get("type", "object")
    if kind == "array":
        items = schema.get("items", {})
        return "array of objects" if "$ref" in items else f"array of: {_describe_schema(items)}"
    return str(schema.get("format", kind))


def _curl_command(endpoint: Endpoint, path: str, base_url: str) -> str:
    for name in endpoint.parameters:
        path = path.replace("{" + name + "}", PATH_EXAMPLES.get(name, EXAMPLE_ID))
    required = [] if endpoint.query is None else endpoint.query.model_json_schema().get("required", [])
    if required:
        path += f"?{urlencode({name: QUERY_EXAMPLES[name] for name in required})}"
    words = [f"curl -X {endpoint.method} '{base_url}{path}'", "-H 'Authorization: Bearer TOKEN'"]
    if endpoint.takes_idempotency_key:
        words.append("-H 'Idempotency-Key: a key of yours'")
    if endpoint.body is not None:
        words += ["-H 'Content-Type: application/json'", f"-d '{format_value(BODY_EXAMPLES[endpoint.body])}'"]
    return " \\\n  ".join(words)


def docstring_to_html(text: str) -> Markup:
    """Convert a docstring to HTML: paragraphs, and code between backquotes."""
    paragraphs = re.split(r"\n\s*\n", docstring_to_markdown(text))
    marked = [
        re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(" ".join(paragraph.split())))) for paragraph in paragraphs
    ]
    return Markup("".join(f"<p>{paragraph}</p>" for paragraph in marked))  # escaped above
