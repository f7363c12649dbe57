"""The contract as a whole: the table, the routes, and the OpenAPI document say the same."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from adsunify.contract import ENDPOINTS
from adsunify.contract.endpoint import make_operation_id
from adsunify.errors import AdsunifyError, MissingExtra, OperationError
from adsunify.networks.registry import ADAPTER_PACKAGES
from adsunify.problem_details import PROBLEM_CODES
from adsunify.service.dispatch import EXTRA_VALIDATIONS, USE_CASES
from adsunify.values.exact_json import dumps
from adsunify_mcp import search
from adsunify_mcp.tools import TOOLS
from adsunify_server.openapi import make_document

from .served import PREFIX, Served

pytestmark = pytest.mark.asyncio(loop_scope="module")

FROZEN = {
    "get_auth_verify": "GET /auth/verify",
    "get_keys": "GET /keys",
    "post_keys": "POST /keys",
    "post_keys_scoped": "POST /keys/scoped",
    "delete_key": "DELETE /keys/{keyId}",
    "get_connected_agents": "GET /connected-agents",
    "delete_connected_agent": "DELETE /connected-agents/{grantId}",
    "get_connections": "GET /connections",
    "post_connections_authorize": "POST /connections/authorize",
    "post_connections_credentials": "POST /connections/credentials",
    "delete_connection": "DELETE /connections/{connectionId}",
    "get_networks": "GET /networks",
    "get_network": "GET /networks/{network}",
    "get_accounts": "GET /accounts",
    "get_account": "GET /accounts/{accountId}",
    "get_account_tree": "GET /accounts/{accountId}/tree",
    "get_account_insights": "GET /accounts/{accountId}/insights",
    "get_insights": "GET /insights",
    "get_account_catalog": "GET /accounts/{accountId}/catalogs/{resource}",
    "get_workflows": "GET /workflows",
    "post_validate_campaign": "POST /validate-campaign",
    "post_create": "POST /create",
    "post_activate": "POST /activate",
    "get_operations": "GET /operations",
    "get_operation": "GET /operations/{operationId}",
    "post_operation_execute": "POST /operations/{operationId}/execute",
    "post_operations_execute": "POST /operations/execute",
    "post_operation_inspect": "POST /operations/{operationId}/inspect",
    "post_operation_cancel": "POST /operations/{operationId}/cancel",
    "post_operation_undo": "POST /operations/{operationId}/undo",
    "post_operation_resume": "POST /operations/{operationId}/resume",
    "post_operation_settle": "POST /operations/{operationId}/settle",
    "get_account_entities": "GET /accounts/{accountId}/entities",
    "post_diff": "POST /diff",
    "post_apply": "POST /apply",
    "post_account_validate": "POST /accounts/{accountId}/validate",
    "post_bulk_status": "POST /bulk-status",
    "post_bulk_edit": "POST /bulk-edit",
    "get_account_campaigns": "GET /accounts/{accountId}/campaigns",
    "post_account_campaigns": "POST /accounts/{accountId}/campaigns",
    "get_account_campaign": "GET /accounts/{accountId}/campaigns/{entityId}",
    "patch_account_campaign": "PATCH /accounts/{accountId}/campaigns/{entityId}",
    "delete_account_campaign": "DELETE /accounts/{accountId}/campaigns/{entityId}",
    "get_account_campaign_settings": "GET /accounts/{accountId}/campaigns/{entityId}/settings",
    "post_account_campaign_edit": "POST /accounts/{accountId}/campaigns/{entityId}/edit",
    "get_account_ad_groups": "GET /accounts/{accountId}/ad-groups",
    "post_account_ad_groups": "POST /accounts/{accountId}/ad-groups",
    "get_account_ad_group": "GET /accounts/{accountId}/ad-groups/{entityId}",
    "patch_account_ad_group": "PATCH /accounts/{accountId}/ad-groups/{entityId}",
    "delete_account_ad_group": "DELETE /accounts/{accountId}/ad-groups/{entityId}",
    "get_account_ad_group_settings": "GET /accounts/{accountId}/ad-groups/{entityId}/settings",
    "post_account_ad_group_edit": "POST /accounts/{accountId}/ad-groups/{entityId}/edit",
    "get_account_ads": "GET /accounts/{accountId}/ads",
    "post_account_ads": "POST /accounts/{accountId}/ads",
    "get_account_ad": "GET /accounts/{accountId}/ads/{entityId}",
    "patch_account_ad": "PATCH /accounts/{accountId}/ads/{entityId}",
    "delete_account_ad": "DELETE /accounts/{accountId}/ads/{entityId}",
    "get_account_ad_settings": "GET /accounts/{accountId}/ads/{entityId}/settings",
    "post_account_ad_edit": "POST /accounts/{accountId}/ads/{entityId}/edit",
    "get_guardrails": "GET /guardrails",
    "post_guardrails": "POST /guardrails",
    "get_guardrails_freezes": "GET /guardrails/freezes",
    "delete_guardrails_freeze": "DELETE /guardrails/freezes/{credential}",
    "get_guardrail": "GET /guardrails/{guardrailId}",
    "patch_guardrail": "PATCH /guardrails/{guardrailId}",
    "delete_guardrail": "DELETE /guardrails/{guardrailId}",
    "get_guardrail_usage": "GET /guardrails/{guardrailId}/usage",
    "get_alerts": "GET /alerts",
    "post_alerts": "POST /alerts",
    "patch_alert": "PATCH /alerts/{alertId}",
    "delete_alert": "DELETE /alerts/{alertId}",
    "get_ledger": "GET /ledger",
    "get_launches": "GET /launches",
    "post_launches": "POST /launches",
    "get_launch": "GET /launches/{launchId}",
    "post_launch_activate": "POST /launches/{launchId}/activate",
    "post_launch_pause": "POST /launches/{launchId}/pause",
    "post_launch_undo": "POST /launches/{launchId}/undo",
    "post_launch_prepare": "POST /launches/{launchId}/prepare",
    "post_launch_execute": "POST /launches/{launchId}/execute",
    "post_launch_cancel": "POST /launches/{launchId}/cancel",
    "get_change_set": "GET /change-sets/{changeSetId}",
    "post_change_set_execute": "POST /change-sets/{changeSetId}/execute",
    "post_change_set_cancel": "POST /change-sets/{changeSetId}/cancel",
    "get_webhooks": "GET /webhooks",
    "post_webhooks": "POST /webhooks",
    "patch_webhook": "PATCH /webhooks/{webhookId}",
    "delete_webhook": "DELETE /webhooks/{webhookId}",
    "post_webhook_test": "POST /webhooks/{webhookId}/test",
    "get_webhook_deliveries": "GET /webhooks/{webhookId}/deliveries",
    "get_webhook_delivery_attempts": "GET /webhooks/{webhookId}/deliveries/{deliveryId}/attempts",
    "post_webhook_delivery_redeliver": "POST /webhooks/{webhookId}/deliveries/{deliveryId}/redeliver",
}
"""operationIds are what people script against: they never change."""

PREPARES = (
    "post_operation_(undo|resume)|post_apply|post_launch(es|_(activate|pause|undo|prepare))|post_bulk_.*|post_account_.*_edit|post_account_(campaigns|ad_groups|ads)"
    "|(patch|delete)_account_.*"
)
STATUSES = {
    **dict.fromkeys(FROZEN, "200"),
    **dict.fromkeys(("post_keys", "post_connections_authorize", "post_create", "post_activate"), "201"),
    **dict.fromkeys(("post_keys_scoped", "post_connections_credentials"), "201"),
    "post_webhooks": "201",
    "post_apply": "201",
    "post_guardrails": "201",
    "post_alerts": "201",
    **dict.fromkeys(("post_webhook_test", "post_webhook_delivery_redeliver"), "202"),
    **dict.fromkeys(("post_launch_execute", "post_change_set_execute"), "202"),
    **{name: "201" for name in FROZEN if re.fullmatch(PREPARES, name)},
}
REFUSALS = {"400", "401", "403", "404", "405", "406", "409", "413", "415", "422", "429", "500", "503"}
WORDS = {
    *("$ref", "$defs", "title", "description", "default", "const", "enum", "format", "writeOnly", "type", "pattern"),
    *("anyOf", "oneOf", "properties", "required", "additionalProperties", "propertyNames", "items"),
    *(
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
        "uniqueItems",
    ),
}
"""The words of JSON Schema that the document uses."""
TAKES_KEY = {
    *(
        "post_create",
        "post_activate",
        *(name for name in FROZEN if re.fullmatch(PREPARES, name)),
    ),
    *("post_operation_execute", "post_operations_execute", "post_operation_cancel"),  # these and the next ignore it
    *("post_validate_campaign", "post_account_validate", "post_operation_inspect"),
    *("post_launch_execute", "post_launch_cancel", "post_change_set_execute", "post_change_set_cancel"),
}


async def test_every_endpoint_has_a_use_case_and_no_other_is_there() -> None:
    ids = {endpoint.operation_id for endpoint in ENDPOINTS}
    assert USE_CASES.keys() == ids
    assert EXTRA_VALIDATIONS.keys() <= ids


def list_operations(whole: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The document's operations by their ids, each with its method and path."""
    return {
        definition["operationId"]: definition | {"method": method.upper(), "path": path}
        for path, methods in whole["paths"].items()
        for method, definition in methods.items()
    }


async def test_operation_ids_are_frozen() -> None:
    table = {endpoint.operation_id: f"{endpoint.method} {endpoint.path}" for endpoint in ENDPOINTS}
    assert len(table) == len(ENDPOINTS)
    assert table == FROZEN


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("POST", "/accounts/{accountId}/campaigns/{entityId}/edit", "post_account_campaign_edit"),
        ("PATCH", "/accounts/{accountId}/ad-groups/{entityId}", "patch_account_ad_group"),
        (
            "GET",
            "/webhooks/{webhookId}/deliveries/{deliveryId}/attempts",
            "get_webhook_delivery_attempts",
        ),
        ("DELETE", "/connected-agents/{grantId}", "delete_connected_agent"),
    ],
)
async def test_operation_ids_of_what_comes_later(method: str, path: str, expected: str) -> None:
    assert make_operation_id(method, path) == expected


async def test_the_document_is_openapi_3_1_0(empty: Served) -> None:
    answer = await empty.http.get("/openapi.json")
    assert answer.headers["Content-Type"] == "application/json"
    assert re.fullmatch("[0-9a-f]{32}", answer.headers["X-Request-Id"])
    whole = answer.json()
    OpenAPIV31SpecValidator(whole).validate()
    assert whole["openapi"] == "3.1.0"
    assert whole["info"]["version"] == "1.1.0"
    assert whole["servers"] == [{"url": empty.base_url}]
    assert whole == make_document(empty.base_url)


async def test_document_and_table_say_the_same(empty: Served) -> None:
    definitions = list_operations(empty.schemas.document)
    assert {
        name: f"{definition['method']} {definition['path'].removeprefix(PREFIX)}"
        for name, definition in definitions.items()
    } == FROZEN
    assert all(definition["path"].startswith(f"{PREFIX}/") for definition in definitions.values())
    for name, definition in definitions.items():
        assert set(definition["responses"]) == REFUSALS | {STATUSES[name]}, name
        header = [parameter["name"] for parameter in definition["parameters"] if parameter["in"] == "header"]
        assert header == (["Idempotency-Key"] if name in TAKES_KEY else []), name
        assert definition["summary"] and definition["description"] and definition["tags"]


async def test_formats_are_named(empty: Served) -> None:
    """An instant is a date-time and an address a uri, wherever it stands; a network is one of twelve."""
    unnamed = []
    for name, schema in empty.schemas.document["components"]["schemas"].items():
        for member, property_schema in schema.get("properties", {}).items():
            expected_format = (
                "date-time" if re.fullmatch(r"at|\w+At", member) else "uri" if member.lower().endswith("url") else None
            )
            options = property_schema.get("anyOf", [property_schema])
            if expected_format is not None and not any(option.get("format") == expected_format for option in options):
                unnamed.append(f"{name}.{member}")
    assert unnamed == []
    (network,) = list_operations(empty.schemas.document)["get_network"]["parameters"]
    assert network["schema"] == {"type": "string", "enum": list(ADAPTER_PACKAGES)}


async def test_descriptions_are_no_docstrings(empty: Served) -> None:
    """Those of the OpenAPI document, of the page made from it, and of what agents read."""

    def list_descriptions(part: Any) -> Iterator[str]:
        if isinstance(part, dict):
            yield from (text for name, text in part.items() if name == "description" and isinstance(text, str))
            part = list(part.values())
        for entry in part if isinstance(part, list) else ():
            yield from list_descriptions(entry)

    descriptions = [*list_descriptions(empty.schemas.document)]
    assert len(descriptions) > 200 and all(descriptions)
    agent_descriptions = [
        *list_descriptions(json.loads(dumps(search.operation_schemas()))),
        *list_descriptions([tool.listing for tool in TOOLS.values()]),
    ]
    assert len(agent_descriptions) > 100
    page = (await empty.http.get("/docs")).text
    marks = r"``|:\w+:`|\n {2,}\S|\bRaises [A-Z]"
    assert [text for text in (*descriptions, *agent_descriptions) if re.search(marks, text)] == []
    assert re.findall(r"``|:\w+:`|\bRaises [A-Z]\w+", page) == []


async def test_schemas_say_limits_in_the_words_of_json_schema(empty: Served) -> None:
    """A word that JSON Schema does not know says nothing to anybody."""
    schemas = [*empty.schemas.document["components"]["schemas"].values()]
    for definition in list_operations(empty.schemas.document).values():
        schemas += [parameter["schema"] for parameter in definition["parameters"]]
    for schema in schemas:
        for below in _below(schema):
            assert set(below) <= WORDS, below
    (limit,) = [
        parameter["schema"]
        for parameter in list_operations(empty.schemas.document)["get_account_ads"]["parameters"]
        if parameter["name"] == "limit"
    ]
    assert limit == {"type": "integer", "minimum": 1, "maximum": 100, "default": 50}


def _below(schema: Any) -> Iterator[dict[str, Any]]:
    """This schema and all that it is made of."""
    if not isinstance(schema, dict):
        return
    yield schema
    for name in ("properties", "$defs"):
        for subschema in schema.get(name, {}).values():
            yield from _below(subschema)
    for name in ("items", "additionalProperties", "propertyNames"):
        yield from _below(schema.get(name))
    for name in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for subschema in schema.get(name, ()):
            yield from _below(subschema)


async def test_every_call_needs_the_bearer_token(empty: Served) -> None:
    whole = empty.schemas.document
    assert whole["security"] == [{"advertisingToken": []}]
    assert whole["components"]["securitySchemes"]["advertisingToken"]["scheme"] == "bearer"
    assert not any("security" in definition for definition in list_operations(whole).values())


async def test_routes_and_table_are_the_same(empty: Served) -> None:
    """Every documented method answers (401 without a token), every other one is 405 and says what is allowed."""
    methods: dict[str, set[str]] = {}
    for endpoint in ENDPOINTS:
        methods.setdefault(re.sub(r"\{\w+\}", "x", endpoint.path), set()).add(endpoint.method)
    nobody = empty.caller(None)
    for path, allowed in methods.items():
        for method in ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
            answer = await nobody.send(method, path)
            if method in allowed:
                assert answer.status_code == 401, (method, path)  # HEAD, too: tests/server/test_bodies.py
            else:  # also at /operations/execute and the like, which are no ids
                assert answer.status_code == 405, (method, path)
                assert set(answer.headers["Allow"].split(",")) == allowed | ({"HEAD"} if "GET" in allowed else set())
                assert answer.json()["code"] == "method_not_allowed"


async def test_what_is_not_there(empty: Served) -> None:
    for path in ("/nothing", "/keys/", "/accounts/x/y/z", ""):
        problem = await empty.admin.problem(404, "GET", path)
        assert problem["code"] == "not_found"
    outside = await empty.http.get("/api/v2/ads/keys")
    assert outside.status_code == 404
    assert outside.headers["Content-Type"].startswith("application/problem+json")
    assert (await empty.http.get("/healthz")).json() == {"status": "ok"}


@pytest.mark.parametrize("path", ["/openapi.json", "/healthz", "/nothing", "/connect/nothing", "/connect/callback/x"])
async def test_every_answer_has_an_id(empty: Served, path: str) -> None:
    first, second = await empty.http.get(path), await empty.http.get(path)
    assert re.fullmatch("[0-9a-f]{32}", first.headers["X-Request-Id"])
    assert first.headers["X-Request-Id"] != second.headers["X-Request-Id"]


LIBRARY_ERRORS = (OperationError, MissingExtra)
"""Errors without a row: the code of the first depends on the operation, and the API never answers the second."""


async def test_the_codes_of_problems_are_documented(empty: Served) -> None:
    """Every answer of these tests is held against the table; here, that the document tells all of it."""
    description = empty.schemas.document["components"]["schemas"]["Problem"]["properties"]["code"]["description"]
    assert all(f"`{code}` ({status})" in description for code, (status, _) in PROBLEM_CODES.items())
    assert {str(status) for status, _ in PROBLEM_CODES.values()} <= REFUSALS
    defaults = {kind.default_code: kind.status for kind in _kinds(AdsunifyError) if kind not in LIBRARY_ERRORS}
    assert {code: PROBLEM_CODES[code][0] for code in defaults} == defaults


def _kinds(kind: type[AdsunifyError]) -> set[type[AdsunifyError]]:
    ours = [
        subclass
        for subclass in kind.__subclasses__()
        if subclass.__module__ in ("adsunify.errors", "adsunify.http.transport")
    ]
    return {kind}.union(*map(_kinds, ours))


async def test_object_schemas_are_closed(empty: Served) -> None:
    """What is not documented is neither taken nor answered, except for the fields of an entity, which networks name."""
    for name, schema in empty.schemas.document["components"]["schemas"].items():
        if schema.get("type") == "object":
            assert schema["additionalProperties"] is (name == "WantedEntity"), name


async def test_an_answer_that_is_not_documented_is_found(empty: Served) -> None:
    """The tests' own check of answers can fail."""
    answer = await empty.admin.send("GET", "/auth/verify")
    body = answer.json()
    for changed in (
        {"data": body["data"] | {"extra": 1}},
        {"data": {name: value for name, value in body["data"].items() if name != "role"}},
        {"data": body["data"] | {"role": "owner"}},
        {**body, "page": None},
    ):
        with pytest.raises(Exception, match=r"valid|required|unexpected|one of"):
            empty.schemas.check(
                "GET", "/auth/verify", httpx.Response(200, json=changed, headers=_select_headers(answer))
            )


def _select_headers(answer: httpx.Response) -> dict[str, str]:
    return {name: answer.headers[name] for name in ("X-Request-Id", "Cache-Control", "Content-Type")}
