"""Examples for the reference: requests by hand, and answers made from their schemas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adsunify.contract import requests
from adsunify.models.alert import AlertChange, NewAlert
from adsunify.models.base import ApiModel
from adsunify.models.edit import EditBody, Mutation
from adsunify.models.guardrail import GuardrailChange, NewGuardrail
from adsunify.models.launch import NewLaunch
from adsunify.values.exact_json import Json

EXAMPLE_ID = "0198c0de-0000-7000-8000-000000000001"
PATH_EXAMPLES: Mapping[str, str] = {"network": "meta", "entityId": "120210000000000001", "resource": "audiences"}
"""Path parameter -> example. All others have :data:`EXAMPLE_ID`."""
QUERY_EXAMPLES: Mapping[str, str] = {"startDate": "2026-01-01", "endDate": "2026-01-31"}
"""Required query parameter -> example."""
_DOCUMENT: Mapping[str, Json] = {
    "document": {
        "entities": [
            {
                "accountId": EXAMPLE_ID,
                "kind": "campaign",
                "id": "120210000000000001",
                "name": "Garden chairs",
                "status": "paused",
            }
        ]
    }
}
_BULK_MEMBERS: Mapping[str, Json] = {"accountId": EXAMPLE_ID, "kind": "campaign", "entityIds": ["120210000000000001"]}

BODY_EXAMPLES: Mapping[type[ApiModel], Json] = {
    requests.NewKey: {"name": "reporting", "canWrite": False, "expiresAt": "2030-01-01T00:00:00Z"},
    requests.NewScopedKey: {"name": "shop", "canWrite": True, "scope": {"accountIds": [EXAMPLE_ID]}},
    requests.Authorize: {"network": "meta"},
    requests.NewConnection: {"network": "outbrain", "username": "media@shop.example", "password": "their password"},
    requests.Campaign: {
        "accountId": EXAMPLE_ID,
        "campaign": {
            "name": "Garden chairs",
            "goal": "traffic",
            "budget": {"amount": "20.50", "currency": "USD", "period": "daily"},
            "schedule": {"startAt": "2030-03-01T08:00:00Z"},
            "targeting": {"countries": ["US"]},
            "creative": {
                "headline": "Built for rain",
                "body": "Folding chairs that stay outside.",
                "url": "https://shop.example/chairs",
                "imageUrl": "https://shop.example/chairs.jpg",
            },
            "platform": {"pageId": "9009"},
        },
    },
    requests.DesiredDocument: _DOCUMENT,
    requests.ApplyDocument: _DOCUMENT,
    requests.Activate: {"accountId": EXAMPLE_ID, "sourceOperationId": EXAMPLE_ID},
    requests.Confirm: {"confirmed": True},
    requests.ConfirmMany: {"operationIds": [EXAMPLE_ID], "confirmed": True},
    requests.ConfirmDigest: {"confirmed": True, "digest": "0" * 64},
    requests.PrepareAgain: {"skipInvalid": True},
    NewLaunch: {
        "name": "Spring sale",
        "campaign": {
            "name": "Garden chairs",
            "goal": "traffic",
            "budget": {"amount": "20.50", "currency": "USD", "period": "daily"},
            "schedule": {"startAt": "2030-03-01T08:00:00Z"},
            "targeting": {"countries": ["US"]},
            "creative": {
                "headline": "Built for rain",
                "body": "Folding chairs that stay outside.",
                "url": "https://shop.example/chairs",
                "imageUrl": "https://shop.example/chairs.jpg",
            },
            "platform": {"pageId": "9009", "boardId": "730146114520000001"},
        },
        "accounts": [
            {"accountId": EXAMPLE_ID, "key": "meta"},
            {"accountId": "0198c0de-0000-7000-8000-000000000002", "key": "pinterest"},
        ],
        "urlParameters": {"utm_source": "{network}"},
    },
    requests.Settle: {"step": "campaign", "verdict": "applied", "entityId": "120210000000000001"},
    requests.Nothing: {},
    Mutation: {"action": "status", "kind": "campaign", "entityId": "120210000000000001", "status": "paused"},
    requests.BulkStatus: {**_BULK_MEMBERS, "status": "paused"},
    requests.BulkEdit: {**_BULK_MEMBERS, "field": "budget", "mode": "increase", "value": 10},
    requests.NativePayload: {"payload": {"name": "Garden chairs", "objective": "OUTCOME_TRAFFIC"}},
    EditBody: {"fields": {"name": "Garden chairs, spring", "budget": "25.00"}},
    NewGuardrail: {
        "name": "Agents start small",
        "scope": {"networks": ["meta"]},
        "currency": "USD",
        "perOperation": {"daily": "50.00", "lifetime": None},
        "perWindow": {"hours": 24, "daily": "200.00", "lifetime": None},
        "approvalAbove": {"daily": "25.00", "lifetime": None},
        "maxIncreasePercent": 50,
    },
    GuardrailChange: {"active": False},
    NewAlert: {
        "name": "Meta spends too much",
        "kind": "spendAbove",
        "scope": {"networks": ["meta"]},
        "level": "campaign",
        "amount": "200.00",
        "currency": "USD",
        "days": 1,
    },
    AlertChange: {"active": False},
    requests.NewWebhook: {"url": "https://hooks.shop.example/ads", "events": ["operation.succeeded"]},
    requests.WebhookChange: {"active": False},
}
"""A valid body for each model of the contract."""


def make_example(schema: Mapping[str, Any], components: Mapping[str, Any], name: str = "") -> Json:
    """Make a value that a response schema allows. ``name`` is the member whose value it is."""
    if "$ref" in schema:
        return make_example(components[schema["$ref"].rpartition("/")[2]], components, name)
    for key in ("const", "default"):
        if schema.get(key) is not None:
            return schema[key]
    if "enum" in schema:
        return schema["enum"][0]
    options = schema.get("anyOf") or schema.get("oneOf")
    if options:
        return make_example(
            next((option for option in options if option.get("type") != "null"), options[0]), components, name
        )
    kind = schema.get("type", "object")
    return _make_example_of_type(kind if isinstance(kind, str) else kind[0], schema, components, name)


def _make_example_of_type(kind: str, schema: Mapping[str, Any], components: Mapping[str, Any], name: str) -> Json:
    if kind == "object":
        members = schema.get("properties", {})
        return {member: make_example(member_schema, components, member) for member, member_schema in members.items()}
    if kind == "array":
        items = schema.get("items", {})
        return [make_example(items, components, name)] if items else []
    if kind in ("integer", "number"):
        return schema.get("minimum", 1)
    if kind == "boolean":
        return False
    return None if kind == "null" else _make_text_example(schema, name)


def _make_text_example(schema: Mapping[str, Any], name: str) -> str:
    if schema.get("format") == "uuid" or name.endswith("Id"):
        return EXAMPLE_ID
    if schema.get("format") == "date-time":
        return "2030-01-15T09:00:00.000Z"
    if name.lower().endswith("date"):
        return "2030-01-15"
    return "https://shop.example/" if schema.get("format") == "uri" else "..."
