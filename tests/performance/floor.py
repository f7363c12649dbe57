"""The floor under preparing a campaign: the least that Python needs to read a brief, digest it, and make a plan.

The models have the members, lengths and patterns of a brief and none of its other rules. The plan is five steps as
plain dictionaries, made straight from the members.
"""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

Country = Annotated[str, Field(pattern=r"^[A-Z]{2}$")]
Amount = Annotated[str, Field(pattern=r"^[0-9]{1,18}(\.[0-9]{1,6})?$")]
Identifier = Annotated[str, Field(min_length=1, max_length=250)]
Instant = Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{5,18}(Z|[+-][0-9:]{4,5})$")]
Uri = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9+.-]*://[!-~]+$")]


class Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel)


class Budget(Model):
    amount: Amount
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")]
    period: Literal["daily", "lifetime"]


class Schedule(Model):
    start_at: Instant
    end_at: Instant | None = None


class Keyword(Model):
    text: Annotated[str, Field(min_length=1, max_length=80)]
    match: Literal["exact", "phrase", "broad"] = "exact"


class Targeting(Model):
    countries: Annotated[tuple[Country, ...], Field(max_length=50)] | None = None
    location_ids: Annotated[tuple[Identifier, ...], Field(max_length=50)] | None = None
    keywords: Annotated[tuple[Keyword, ...], Field(max_length=50)] | None = None
    native: dict[str, Any] | None = None


class Creative(Model):
    existing_id: Identifier | None = None
    headline: Annotated[str, Field(min_length=1, max_length=300)] | None = None
    body: Annotated[str, Field(min_length=1, max_length=3000)] | None = None
    url: Uri | None = None
    image_url: Uri | None = None
    image_hash: Identifier | None = None
    headlines: (
        Annotated[tuple[Annotated[str, Field(min_length=1, max_length=30)], ...], Field(min_length=3, max_length=15)]
        | None
    ) = None
    descriptions: (
        Annotated[tuple[Annotated[str, Field(min_length=1, max_length=90)], ...], Field(min_length=2, max_length=4)]
        | None
    ) = None


class Locale(Model):
    country: Country
    language: Annotated[str, Field(pattern=r"^[a-z]{2}$")]


class Platform(Model):
    eu_political_advertising: bool | None = None
    page_id: Identifier | None = None
    board_id: Identifier | None = None
    identity_id: Identifier | None = None
    identity_type: Identifier | None = None
    funding_instrument_id: Identifier | None = None
    pixel_id: Identifier | None = None
    conversion_event: Identifier | None = None
    app_id: Identifier | None = None
    sku: Identifier | None = None
    asin: Identifier | None = None
    brand_name: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    locale: Locale | None = None
    special_ad_categories: Annotated[tuple[str, ...], Field(max_length=10)] | None = None


class Brief(Model):
    name: Annotated[str, Field(min_length=3, max_length=100)]
    goal: Literal["traffic", "awareness", "conversions", "app_installs"]
    budget: Budget
    bid: Amount | None = None
    schedule: Schedule
    targeting: Targeting
    creative: Creative
    platform: Platform = Platform()


class Campaign(Model):
    """The body of a validate request."""

    account_id: str
    campaign: Brief


validate_json = Brief.__pydantic_validator__.validate_json


def canonical_digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def micros(amount: str) -> int:
    """Money at its least: no check at all."""
    whole, _, fraction = amount.partition(".")
    return int(whole + (fraction + "000000")[:6])


def plan(brief: dict[str, Any]) -> dict[str, Any]:
    """A plan of five steps as plain dictionaries."""
    name, account, budget = brief["name"], "act_1", micros(brief["budget"]["amount"])
    url = "https://network.example/v1/accounts/{account}"
    outputs = [{"name": "id", "at": ["/body/id"]}]
    steps: list[dict[str, Any]] = [
        _step("campaign", url + "/campaigns", outputs, {"name": name, "objective": brief["goal"], "status": "PAUSED"}),
        _step(
            "adGroup",
            url + "/adGroups",
            outputs,
            {
                "name": name,
                "status": "PAUSED",
                "budget": {"amountMicros": budget, "period": brief["budget"]["period"]},
                "startTime": brief["schedule"]["startAt"],
                "targeting": dict(brief["targeting"]),
                "bidding": {"strategy": "LOWEST_COST", "amountMicros": None},
            },
        ),
        _step("keywords", url + "/keywords", outputs, {"keywords": brief["targeting"].get("keywords", [])}),
        _step("creative", url + "/creatives", outputs, {"name": name, "content": dict(brief["creative"])}),
        _step("ad", url + "/ads", outputs, {"name": name, "status": "PAUSED"}),
    ]
    for step, before in zip(steps[1:], steps, strict=False):
        step["bindings"] = [{"to": "/body/parentId", "step": before["key"], "output": "id"}]
    return {"network": "floor", "action": "create", "account": account, "version": 1, "steps": steps}


def _step(key: str, url: str, outputs: list[Any], body: dict[str, Any]) -> dict[str, Any]:
    return {
        "key": key,
        "kind": key,
        "action": "create",
        "does": f"Create the {key}, paused.",
        "request": {
            "method": "POST",
            "url": url,
            "path": {"account": "1"},
            "encoding": "json",
            "nature": "write",
            "body": body,
        },
        "outputs": outputs,
    }


def prepare(data: bytes, brief: dict[str, Any]) -> str:
    """All of it: the brief read by pydantic's core, canonical JSON and its digest, the plan and its digest."""
    validate_json(data)
    canonical_digest(brief)
    return canonical_digest(plan(brief))
