"""The reference of the API, as a document for machines and as a page: every endpoint of the contract table, what it
takes and what it answers.
"""

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
from adsunify.contract.prose import describe
from adsunify.models.error_messages import FORMS
from adsunify.problem_details import CODES
from adsunify.service.dispatch import describe_endpoint
from adsunify.values.dates import INSTANT
from adsunify.values.exact_json import json_bytes
from adsunify.values.money import AMOUNT

from .examples import BODIES, ID, PATHS, QUERIES, sample
from .openapi import STATUS_WORDS, document
from .pages.rendering import rendered, spelled

FORMS_IN_WORDS: Mapping[str, str] = {
    **FORMS,
    AMOUNT: "a decimal number as text, such as 20.50",
    INSTANT: "an instant with its offset, such as 2030-03-01T08:00:00Z",
}
LONGEST_PATTERN = 60
"""A longer one tells a reader nothing; it stands in the document."""


@frozen
class Member:
    """A parameter, or a member of a body by its path; ``words`` say what it may be."""

    name: str
    place: str
    required: bool
    words: str


@frozen
class Shown:
    """An endpoint as the page shows it. ``asked`` is a command for a shell; ``answer`` an example of the envelope."""

    endpoint: Endpoint
    path: str
    words: Markup
    access: str
    members: tuple[Member, ...]
    asked: str
    answer: str


def add_routes(app: web.Application, base_url: str) -> None:
    """``/openapi.json`` and ``/docs``. Each is made when it is first asked for: most servers never are."""

    @cache
    def written() -> bytes:
        return json_bytes(document(base_url))

    @cache
    def page() -> web.Response:
        whole = document(base_url)
        sections: dict[str, list[Shown]] = {}
        for endpoint in ENDPOINTS:
            sections.setdefault(endpoint.section, []).append(_shown(endpoint, whole))
        return rendered(
            "reference.html",
            sections=sections,
            document=whole,
            prefix=PREFIX,
            statuses={status: STATUS_WORDS[status] for status in ERROR_STATUSES},
            codes=CODES,
        )

    async def for_machines(request: web.Request) -> web.Response:
        return web.Response(body=written(), content_type="application/json")

    async def for_readers(request: web.Request) -> web.Response:
        made = page()
        return web.Response(body=made.body, headers=made.headers)

    app.router.add_get("/openapi.json", for_machines)
    app.router.add_get("/docs", for_readers)


def _shown(endpoint: Endpoint, document: Mapping[str, Any]) -> Shown:
    path = PREFIX + endpoint.path
    operation, components = document["paths"][path][endpoint.method.lower()], document["components"]["schemas"]
    members = [
        Member(one["name"], one["in"], one["required"], _words(one["schema"])) for one in operation["parameters"]
    ]
    if endpoint.body is not None:
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        members += _members(schema, components, "")
    success = operation["responses"][str(endpoint.status)]["content"]["application/json"]["schema"]
    return Shown(
        endpoint,
        path,
        prose(describe_endpoint(endpoint)),
        endpoint.access_words,
        tuple(members),
        _command(endpoint, path, document["servers"][0]["url"]),
        spelled(sample(success, components)),
    )


def _members(schema: Mapping[str, Any], components: Mapping[str, Any], above: str) -> Iterator[Member]:
    """The members of a body, and theirs, by their paths; needed is what its object cannot be without."""
    schema = _resolved(schema, components)
    for option in schema.get("oneOf", ()):
        yield from _members(option, components, above)
    for name, member in schema.get("properties", {}).items():
        path, found = f"{above}{name}", _resolved(member, components)
        yield Member(path, "body", name in schema.get("required", ()), _words(found))
        yield from _members(found, components, f"{path}.")
        yield from _members(found.get("items", {}), components, f"{path}[].")


def _resolved(schema: Mapping[str, Any], components: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = components[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    return found


def _words(schema: Mapping[str, Any]) -> str:
    """What a value may be."""
    if "const" in schema:
        return spelled(schema["const"])
    said = "one of " + ", ".join(map(str, schema["enum"])) if "enum" in schema else _kind(schema)
    pattern = schema.get("pattern")
    if pattern is not None:
        said = FORMS_IN_WORDS.get(pattern) or (f"{said}, {pattern}" if len(pattern) <= LONGEST_PATTERN else said)
    for least, most, unit in (("minLength", "maxLength", "characters"), ("minItems", "maxItems", "items")):
        if most in schema:
            said += (
                f", {schema[least]} to {schema[most]} {unit}" if least in schema else f", at most {schema[most]} {unit}"
            )
    bounds = [words.format(schema[key]) for key, words in BOUNDS.items() if key in schema]
    usual = schema.get("default")
    return ", ".join([said, *bounds, *([f"{spelled(usual)} unless said"] if usual not in (None, {}) else [])])


BOUNDS: Mapping[str, str] = {"minimum": "from {}", "exclusiveMinimum": "greater than {}", "maximum": "at most {}"}


def _kind(schema: Mapping[str, Any]) -> str:
    options = schema.get("anyOf") or schema.get("oneOf") or ()
    if options:
        return " or ".join(dict.fromkeys(_words(one) for one in options))
    kind = schema.get("type", "object")
    if kind == "array":
        items = schema.get("items", {})
        return "array of objects" if "$ref" in items else f"array of: {_words(items)}"
    return str(schema.get("format", kind))


def _command(endpoint: Endpoint, path: str, base_url: str) -> str:
    for name in endpoint.parameters:
        path = path.replace("{" + name + "}", PATHS.get(name, ID))
    required = [] if endpoint.query is None else endpoint.query.model_json_schema().get("required", [])
    if required:
        path += f"?{urlencode({name: QUERIES[name] for name in required})}"
    words = [f"curl -X {endpoint.method} '{base_url}{path}'", "-H 'Authorization: Bearer TOKEN'"]
    if endpoint.idempotent:
        words.append("-H 'Idempotency-Key: a key of yours'")
    if endpoint.body is not None:
        words += ["-H 'Content-Type: application/json'", f"-d '{spelled(BODIES[endpoint.body])}'"]
    return " \\\n  ".join(words)


def prose(text: str) -> Markup:
    """A docstring for readers: paragraphs, and code between backquotes."""
    paragraphs = re.split(r"\n\s*\n", describe(text))
    marked = [re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(" ".join(one.split())))) for one in paragraphs]
    return Markup("".join(f"<p>{one}</p>" for one in marked))  # escaped above
