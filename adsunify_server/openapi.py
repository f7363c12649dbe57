"""The OpenAPI 3.1.0 document, made from the contract table."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import models_json_schema

from adsunify.contract import ENDPOINTS, Endpoint
from adsunify.contract.answers import Problem
from adsunify.contract.endpoint import ERROR_STATUSES, PATH_FORMS, PREFIX
from adsunify.contract.prose import describe_all
from adsunify.contract.requests import NetworkCode
from adsunify.errors import InvalidInput
from adsunify.models.base import WireModel, read
from adsunify.problem_details import CODES
from adsunify.service.dispatch import describe_endpoint

from .examples import BODIES, ID, PATHS, QUERIES

API_VERSION = "1.1.0"
REFERENCE = "#/components/schemas/{model}"
STATUS_WORDS: Mapping[int, str] = {
    200: "Success.",
    201: "Created or prepared.",
    202: "Queued.",
    400: "Provider or operation error; inspect the error and the operation receipt before retrying.",
    401: "Missing, invalid, expired or revoked bearer token.",
    403: "Workspace or token permissions do not permit the action.",
    404: "Account, entity or endpoint not found.",
    405: "The address does not take this method.",
    406: "The Accept header excludes JSON.",
    409: "Idempotency key already used with a different account or payload.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    422: "Invalid input or unsupported native capability.",
    429: "Too many requests; see Retry-After.",
    500: "Internal error.",
    503: "Temporarily unavailable.",
}
LIMIT_HEADERS = ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset")
HEADER_WORDS: Mapping[str, str] = {
    "X-Request-Id": "The id of this request.",
    "Retry-After": "Seconds until a request is taken again.",
    "RateLimit-Limit": "Reads, or writes, that this credential may make in a minute, and at once; absent: no limit.",
    "RateLimit-Remaining": "How many of them are left now.",
    "RateLimit-Reset": "Seconds until all are there again; in a 429, until there is one.",
}


def document(base_url: str) -> dict[str, Any]:
    """The whole document for a server at ``base_url``."""
    bodies = dict.fromkeys(endpoint.body for endpoint in ENDPOINTS if endpoint.body is not None)
    models: list[tuple[type[BaseModel], Literal["validation", "serialization"]]] = [(Problem, "serialization")]
    models += [(body, "validation") for body in bodies]
    _, schemas = models_json_schema(models, ref_template=REFERENCE)
    components = dict(schemas.get("$defs", {}))
    components["Problem"]["properties"]["code"]["description"] = _codes()
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in ENDPOINTS:
        paths.setdefault(PREFIX + endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint, components)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "adsunify",
            "version": API_VERSION,
            "summary": "One advertising API over 12 ad networks.",
            "description": "Writes are prepared, reviewed, and only then executed.",
            "contact": {"name": "The maintainers of adsunify"},
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": base_url}],
        "tags": [{"name": section, "description": section} for section in dict.fromkeys(e.section for e in ENDPOINTS)],
        "security": [{"advertisingToken": []}],
        "paths": describe_all(paths),
        "components": {
            "schemas": describe_all(components),
            "securitySchemes": {
                "advertisingToken": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A workspace API key or an OAuth access token.",
                }
            },
            "responses": {f"Error{status}": _error(status) for status in ERROR_STATUSES},
        },
    }


def _codes() -> str:
    rows = [f"- `{code}` ({status}): {meaning}" for code, (status, meaning) in CODES.items()]
    return "\n".join(["Stable, for machines; others may be added.", "", *rows])


def _operation(endpoint: Endpoint, components: dict[str, Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": endpoint.operation_id,
        "summary": endpoint.summary,
        "description": f"{inspect.cleandoc(describe_endpoint(endpoint))}\n\n{endpoint.access_words}",
        "tags": [endpoint.section],
        "parameters": [*_path_parameters(endpoint), *_query_parameters(endpoint), *_header_parameters(endpoint)],
        "responses": {
            str(endpoint.status): _success(endpoint, components),
            **{str(status): {"$ref": f"#/components/responses/Error{status}"} for status in ERROR_STATUSES},
        },
    }
    if endpoint.body is not None:
        schema = {"$ref": REFERENCE.format(model=endpoint.body.__name__)}
        content = {"application/json": {"schema": schema, "example": BODIES[endpoint.body]}}
        operation["requestBody"] = {"required": not _may_be_left_out(endpoint.body), "content": content}
    return operation


def _may_be_left_out(body: type[WireModel]) -> bool:
    """No body is the empty object, which some take."""
    try:
        read(body, {})
    except InvalidInput:
        return False
    return True


def _path_parameters(endpoint: Endpoint) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "in": "path",
            "required": True,
            "example": PATHS.get(name, ID),
            "schema": _path_schema(name),
        }
        for name in endpoint.parameters
    ]


def _path_schema(name: str) -> dict[str, Any]:
    if name == "network":
        return {"type": "string", "enum": list(get_args(NetworkCode))}
    if name in PATH_FORMS:
        return {"type": "string", "pattern": PATH_FORMS[name].pattern}
    return {"type": "string", "format": "uuid"}


def _query_parameters(endpoint: Endpoint) -> list[dict[str, Any]]:
    if endpoint.query is None:
        return []
    schema = endpoint.query.model_json_schema()
    required = schema.get("required", [])
    return [
        {"name": name, "in": "query", "required": name in required, "schema": _without_null(member)}
        | ({"example": QUERIES[name]} if name in required else {})
        for name, member in schema["properties"].items()
    ]


def _without_null(member: Mapping[str, Any]) -> dict[str, Any]:
    """A query parameter is absent or a value; there is no null in a query."""
    kept = {key: value for key, value in member.items() if key not in ("anyOf", "title", "default")}
    if "default" in member and member["default"] is not None:
        kept["default"] = member["default"]
    for option in member.get("anyOf", ()):
        if option.get("type") != "null":
            kept |= option
    return kept


def _header_parameters(endpoint: Endpoint) -> list[dict[str, Any]]:
    if endpoint.idempotent:
        text = "Reuses the same prepared operation for the same canonical request; a changed one is 409."
    elif endpoint.ignores_key:
        text = "Accepted and ignored: this request is idempotent by itself."
    else:
        return []
    schema = {"type": "string", "minLength": 1, "maxLength": 200, "pattern": r"^[^\x00-\x1f\x7f-\x9f]*$"}
    return [{"name": "Idempotency-Key", "in": "header", "required": False, "description": text, "schema": schema}]


def _success(endpoint: Endpoint, components: dict[str, Any]) -> dict[str, Any]:
    schema = TypeAdapter(endpoint.answer).json_schema(ref_template=REFERENCE, mode="serialization")
    components.update(schema.pop("$defs", {}))
    name = re.sub(r"\W", "", getattr(endpoint.answer, "__name__", ""))
    if "title" in schema and schema.get("type") == "object":
        components[name] = schema
        schema = {"$ref": REFERENCE.format(model=name)}
    envelope: dict[str, Any] = {
        "type": "object",
        "properties": {"data": schema},
        "required": ["data"],
        "additionalProperties": False,
    }
    if endpoint.pages:
        cursor = {
            "type": "object",
            "properties": {"nextCursor": {"type": ["string", "null"]}},
            "required": ["nextCursor"],
            "additionalProperties": False,
        }
        envelope["properties"]["page"] = cursor
        if get_origin(endpoint.answer) is list:  # a resumed report has no pages
            envelope["required"].append("page")
    headers = {**_headers("X-Request-Id"), **_headers(*LIMIT_HEADERS)}
    if endpoint.idempotent:
        headers["Idempotency-Replayed"] = {"description": "The key was bound before.", "schema": {"type": "string"}}
    return {
        "description": STATUS_WORDS[endpoint.status],
        "headers": headers,
        "content": {"application/json": {"schema": envelope}},
    }


def _headers(*names: str) -> dict[str, Any]:
    return {
        name: {
            "description": HEADER_WORDS[name],
            "schema": {"type": "string" if name == "X-Request-Id" else "integer"},
        }
        for name in names
    }


def _error(status: int) -> dict[str, Any]:
    schema = {"$ref": REFERENCE.format(model="Problem")}
    more = ("Retry-After", *LIMIT_HEADERS) if status == 429 else ()
    return {
        "description": STATUS_WORDS[status],
        "headers": _headers("X-Request-Id", *more),
        "content": {"application/problem+json": {"schema": schema}},
    }
