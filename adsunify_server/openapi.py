"""The OpenAPI 3.1.0 document, made from the contract table."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import Any, Literal, get_origin

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import models_json_schema

from adsunify.answers import Problem
from adsunify.contract import ENDPOINTS, Endpoint
from adsunify.contract.endpoint import ERROR_STATUSES, PATH_PATTERNS, PREFIX
from adsunify.contract.prose import convert_descriptions
from adsunify.errors import InvalidInput
from adsunify.models.base import ApiModel
from adsunify.models.parsing import parse_model
from adsunify.networks.registry import ADAPTER_PACKAGES
from adsunify.problem_details import PROBLEM_CODES
from adsunify.service.dispatch import describe_endpoint

from .examples import BODY_EXAMPLES, EXAMPLE_ID, PATH_EXAMPLES, QUERY_EXAMPLES

API_VERSION = "1.1.0"
SCHEMA_REFERENCE = "#/components/schemas/{model}"
STATUS_WORDS: Mapping[int, str] = {
    200: "Success.",
    201: "Created or prepared.",
    202: "Queued.",
    400: "Provider or operation error; inspect the error and the operation receipt before retrying.",
    401: "Missing, invalid, expired or revoked bearer token.",
    403: "Workspace or token permissions do not permit the action.",
    404: "Account, entity or endpoint not found.",
    405: "The endpoint does not accept this method.",
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
    "Retry-After": "Seconds until the next request is accepted.",
    "RateLimit-Limit": "Reads or writes per minute that this credential may make; absent where there is no limit.",
    "RateLimit-Remaining": "How many of them are left.",
    "RateLimit-Reset": "Seconds until the whole limit is available again; in a 429, until one request is.",
}


def make_document(base_url: str) -> dict[str, Any]:
    """Build the OpenAPI document of a server at ``base_url``."""
    bodies = dict.fromkeys(endpoint.body for endpoint in ENDPOINTS if endpoint.body is not None)
    models: list[tuple[type[BaseModel], Literal["validation", "serialization"]]] = [(Problem, "serialization")]
    models += [(body, "validation") for body in bodies]
    _, schemas = models_json_schema(models, ref_template=SCHEMA_REFERENCE)
    components = dict(schemas.get("$defs", {}))
    components["Problem"]["properties"]["code"]["description"] = _describe_codes()
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in ENDPOINTS:
        paths.setdefault(PREFIX + endpoint.path, {})[endpoint.method.lower()] = _make_operation(endpoint, components)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "adsunify",
            "version": API_VERSION,
            "summary": "One advertising API over many ad networks.",
            "description": "Writes are prepared, reviewed, and only then executed.",
            "contact": {"name": "The maintainers of adsunify"},
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": base_url}],
        "tags": [{"name": section, "description": section} for section in dict.fromkeys(e.section for e in ENDPOINTS)],
        "security": [{"advertisingToken": []}],
        "paths": convert_descriptions(paths),
        "components": {
            "schemas": convert_descriptions(components),
            "securitySchemes": {
                "advertisingToken": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A workspace API key or an OAuth access token.",
                }
            },
            "responses": {f"Error{status}": _make_error_response(status) for status in ERROR_STATUSES},
        },
    }


def _describe_codes() -> str:
    rows = [f"- `{code}` ({status}): {meaning}" for code, (status, meaning) in PROBLEM_CODES.items()]
    return "\n".join(["Stable and machine-readable. New codes may be added.", "", *rows])


def _make_operation(endpoint: Endpoint, components: dict[str, Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": endpoint.operation_id,
        "summary": endpoint.summary,
        "description": f"{inspect.cleandoc(describe_endpoint(endpoint))}\n\n{endpoint.access_description}",
        "tags": [endpoint.section],
        "parameters": [
            *_make_path_parameters(endpoint),
            *_make_query_parameters(endpoint),
            *_make_header_parameters(endpoint),
        ],
        "responses": {
            str(endpoint.status): _make_success_response(endpoint, components),
            **{str(status): {"$ref": f"#/components/responses/Error{status}"} for status in ERROR_STATUSES},
        },
    }
    if endpoint.body is not None:
        schema = {"$ref": SCHEMA_REFERENCE.format(model=endpoint.body.__name__)}
        content = {"application/json": {"schema": schema, "example": BODY_EXAMPLES[endpoint.body]}}
        operation["requestBody"] = {"required": not _is_body_optional(endpoint.body), "content": content}
    return operation


def _is_body_optional(body: type[ApiModel]) -> bool:
    """Whether an empty object is a valid body. A missing body counts as an empty object."""
    try:
        parse_model(body, {})
    except InvalidInput:
        return False
    return True


def _make_path_parameters(endpoint: Endpoint) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "in": "path",
            "required": True,
            "example": PATH_EXAMPLES.get(name, EXAMPLE_ID),
            "schema": _make_path_schema(name),
        }
        for name in endpoint.parameters
    ]


def _make_path_schema(name: str) -> dict[str, Any]:
    if name == "network":
        return {"type": "string", "enum": [*ADAPTER_PACKAGES]}
    if name in PATH_PATTERNS:
        return {"type": "string", "pattern": PATH_PATTERNS[name].pattern}
    return {"type": "string", "format": "uuid"}


def _make_query_parameters(endpoint: Endpoint) -> list[dict[str, Any]]:
    if endpoint.query is None:
        return []
    schema = endpoint.query.model_json_schema()
    required = schema.get("required", [])
    return [
        {"name": name, "in": "query", "required": name in required, "schema": _remove_null(member)}
        | ({"example": QUERY_EXAMPLES[name]} if name in required else {})
        for name, member in schema["properties"].items()
    ]


def _remove_null(member: Mapping[str, Any]) -> dict[str, Any]:
    """Remove null from a schema: a query parameter is absent or has a value."""
    schema = {key: value for key, value in member.items() if key not in ("anyOf", "title", "default")}
    if "default" in member and member["default"] is not None:
        schema["default"] = member["default"]
    for option in member.get("anyOf", ()):
        if option.get("type") != "null":
            schema |= option
    return schema


def _make_header_parameters(endpoint: Endpoint) -> list[dict[str, Any]]:
    if endpoint.takes_idempotency_key:
        text = "The same key and request return the same prepared operation; another request with it is refused (409)."
    elif endpoint.ignores_idempotency_key:
        text = "Accepted and ignored: this request is idempotent by itself."
    else:
        return []
    schema = {"type": "string", "minLength": 1, "maxLength": 200, "pattern": r"^[^\x00-\x1f\x7f-\x9f]*$"}
    return [{"name": "Idempotency-Key", "in": "header", "required": False, "description": text, "schema": schema}]


def _make_success_response(endpoint: Endpoint, components: dict[str, Any]) -> dict[str, Any]:
    schema = TypeAdapter(endpoint.answer_type).json_schema(ref_template=SCHEMA_REFERENCE, mode="serialization")
    components.update(schema.pop("$defs", {}))
    name = re.sub(r"\W", "", getattr(endpoint.answer_type, "__name__", ""))
    if "title" in schema and schema.get("type") == "object":
        components[name] = schema
        schema = {"$ref": SCHEMA_REFERENCE.format(model=name)}
    envelope: dict[str, Any] = {
        "type": "object",
        "properties": {"data": schema},
        "required": ["data"],
        "additionalProperties": False,
    }
    if endpoint.is_paged:
        cursor = {
            "type": "object",
            "properties": {"nextCursor": {"type": ["string", "null"]}},
            "required": ["nextCursor"],
            "additionalProperties": False,
        }
        envelope["properties"]["page"] = cursor
        if get_origin(endpoint.answer_type) is list and not endpoint.is_page_optional:  # resumed reports lack it
            envelope["required"].append("page")
    headers = {**_make_headers("X-Request-Id"), **_make_headers(*LIMIT_HEADERS)}
    if endpoint.takes_idempotency_key:
        headers["Idempotency-Replayed"] = {
            "description": "true where an earlier request used the key: the operation is the earlier one.",
            "schema": {"type": "string"},
        }
    return {
        "description": STATUS_WORDS[endpoint.status],
        "headers": headers,
        "content": {"application/json": {"schema": envelope}},
    }


def _make_headers(*names: str) -> dict[str, Any]:
    return {
        name: {
            "description": HEADER_WORDS[name],
            "schema": {"type": "string" if name == "X-Request-Id" else "integer"},
        }
        for name in names
    }


def _make_error_response(status: int) -> dict[str, Any]:
    schema = {"$ref": SCHEMA_REFERENCE.format(model="Problem")}
    more = ("Retry-After", *LIMIT_HEADERS) if status == 429 else ()
    return {
        "description": STATUS_WORDS[status],
        "headers": _make_headers("X-Request-Id", *more),
        "content": {"application/problem+json": {"schema": schema}},
    }
