"""OpenAI: payloads, reads and answers validate against OpenAI's OpenAPI document, brought up to date."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from datetime import UTC, datetime
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from jsonschema import Draft202012Validator

from adsunify.http.messages import Request, build_request_url
from adsunify.networks.chatgpt import native, tables
from adsunify.networks.registry import get_adapter
from adsunify.values.exact_json import Json, loads

from .schemas import exact, media, problems
from .sources import Exchange, Write, exchanges, get_name, writes
from .tables import find_template, statuses, unknown_values

NETWORK = get_adapter("chatgpt").network
WRITES, READS = writes("chatgpt"), exchanges("chatgpt")
UNTABLED = {
    ("GET", "/conversions/pixels"): ("limit", "after"),
    ("GET", "/custom_audiences"): ("intended_use",),
}
"""What documentation pages have and the document has not: a list, and a filter."""

TEXT, NUMBER, OPEN = {"type": ["string", "null"]}, {"type": ["number", "null"]}, {}
LISTS = ("/campaigns", "/ad_groups", "/ads")

FindOperation = Callable[[str, str], Mapping[str, Any] | None]


def apply_delta(document: Json, delta: Json) -> Json:
    """The document of June with what the delta says; the delta wins."""
    changed = deepcopy(document)
    schemas = changed["components"]["schemas"]
    enums = delta["enums"]
    for name in ("CampaignBiddingTypeParam", "CampaignModeParam"):
        schemas[name]["enum"] = enums[name]
    for body in ("BiddingConfigParams", "BiddingConfigBody"):
        schemas[body]["required"] = delta["adGroup"]["biddingConfig"]["required"]
        schemas[body]["properties"]["strategy"] = {"enum": enums["BiddingStrategy"]}
    # by now it depends on the currency
    del schemas["BiddingConfigParams"]["properties"]["max_bid_micros"]["maximum"]
    platforms = {"type": "array", "minItems": 1, "items": {"enum": enums["PlatformTarget"]}}
    for body in ("TargetingParams", "TargetingBody"):
        included = {"type": "object", "properties": {"included": platforms}, "required": ["included"]}
        # what is excluded is in the newest schema, described nowhere
        schemas[body]["properties"] |= {"platforms": included, native.EXCLUDED_LOCATIONS: OPEN}
    for body in ("CreateCampaignBody", "UpdateCampaignBody"):
        schemas[body]["properties"] |= {"landing_page_configuration": {"type": "object"}, "product_feed_id": TEXT}
    conversions = schemas["PostConversionInsightsBody"]
    conversions["required"].remove("entity_ids")
    conversions["properties"] |= {"group_by_entity": {"type": "boolean"}, "time_granularity": {"enum": ["daily"]}}
    for item, names in (
        ("CampaignItemBody", delta["campaign"]["newResponseFields"]),
        ("AdGroupItemBody", delta["adGroup"]["newFields"]),
        ("AdItemBody", delta["ad"]["newResponseFields"]),
        ("AdAccountResource", delta["adAccount"]["newResponseFields"]),
        ("ConversionSummaryRowBody", delta["conversionInsightsRow"]["newFields"]),
        ("InsightItemBody", delta["insights"]["metricsAdded"]),
    ):
        schemas[item]["properties"] |= {name: OPEN for name in names if name not in schemas[item]["properties"]}
    schemas["CampaignItemBody"]["required"] += delta["campaign"]["requiredResponseFieldsAdded"]
    for path, operations in changed["paths"].items():
        if "get" in operations:
            added = ["include[]", "name"] if path in LISTS else ["include[]"] if path.startswith(LISTS) else []
            added += delta["insights"]["queryParametersAdded"] if path.endswith("/insights") else []
            operations["get"].setdefault("parameters", []).extend({"name": name, "in": "query"} for name in added)
    return changed


@pytest.fixture(scope="module")
def document(spec: Callable[[str], Json]) -> Json:
    return apply_delta(spec("chatgpt/openapi-2026-06.json"), spec("chatgpt/delta-2026-09.json"))


@pytest.fixture(scope="module")
def find_operation(document: Json) -> FindOperation:
    """The operation of a method and a path, with the components it refers to and its template."""

    @cache
    def find(method: str, path: str) -> Mapping[str, Any] | None:
        templates = [name for name, operations in document["paths"].items() if method.lower() in operations]
        template = find_template(templates, path)
        if template is None:
            return None
        operation = document["paths"][template][method.lower()]
        return {"operation": operation, "components": document["components"], "path": template}

    return find


def path_of(request: Request) -> str:
    url = build_request_url(request)
    assert url.startswith(native.API_URL), url
    return urlsplit(url).path.removeprefix(f"/{native.VERSION}")


def payload_problems(find_operation: FindOperation, method: str, path: str, body: Json) -> list[str]:
    description = find_operation(method, path)
    assert description is not None, f"{method} {path} is not in the document"
    content = description["operation"].get("requestBody", {}).get("content")
    if content is None:
        return [] if body is None else ["the operation takes no body"]
    return problems(media(content, "application/json"), description["components"], exact(body), Draft202012Validator)


def query_problems(find_operation: FindOperation, request: Request) -> list[str]:
    """Parameters that the operation does not have, or not with this value; arrays have names that end in ``[]``."""
    path = path_of(request)
    description = find_operation(request.method, path)
    extra = UNTABLED.get((request.method, path), ())
    parameters = description["operation"].get("parameters", []) if description is not None else []
    known = {parameter["name"]: parameter.get("schema", {}) for parameter in parameters if parameter["in"] == "query"}
    wrong = [
        f"{parameter['name']} is missing"
        for parameter in parameters
        if parameter.get("required") and parameter["in"] == "query"
    ]
    for name, value in parse_qsl(urlsplit(build_request_url(request)).query, keep_blank_values=True):
        wrong = [message for message in wrong if message != f"{name} is missing"]
        schema = known.get(name, known.get(name.removesuffix("[]")))
        if schema is None:
            wrong += [] if name in extra else [f"{name} is no parameter"]
            continue
        array = schema.get("type") == "array"
        if array != name.endswith("[]") and schema:
            wrong.append(f"{name} is {'an' if array else 'no'} array")
        value_schema = schema.get("items", {}) if array else schema
        sent = loads(value) if value_schema.get("type") == "integer" and value.isdigit() else value
        whole = {**value_schema, "components": description["components"] if description is not None else {}}
        wrong += [f"{name}: {error.message}" for error in Draft202012Validator(whole).iter_errors(sent)]
    return wrong


def test_there_is_something_to_hold() -> None:
    assert WRITES
    assert READS


# -- payloads ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("write", WRITES, ids=get_name)
def test_a_write_validates(write: Write, find_operation: FindOperation) -> None:
    assert payload_problems(find_operation, write.request.method, path_of(write.request), write.request.body) == []
    assert query_problems(find_operation, write.request) == []


@pytest.mark.parametrize(
    ("kind", "change", "says"),
    [
        ("campaign", {"bidding_type": "click"}, "bidding_type"),
        ("campaign", {"status": "archived"}, "archived"),
        ("campaign", {"colour": "red"}, "/colour"),
        ("campaign", {"targeting": {"platforms": {"included": ["watch"]}}}, "watch"),
        ("campaign", {"budget": {"lifetime_spend_limit_micros": 999_999}}, "999999"),
        ("adGroup", {"bidding_config": {"billing_event_type": "clicks"}}, "clicks"),
        ("adGroup", {"bidding_config": {"billing_event_type": "click", "strategy": "auto"}}, "auto"),
        ("ad", {"creative": {"type": "chat_card", "title": "Boots"}}, "body"),
        ("ad", {"creative": {"type": "chat_card", "title": "Boots", "body": "Dry.", "image_url": "u"}}, "/image_url"),
    ],
)
def test_what_is_wrong_is_found(
    kind: str, change: Mapping[str, Json], says: str, find_operation: FindOperation
) -> None:
    write = next(write for write in WRITES if write.step.kind == kind and path_of(write.request) in LISTS)
    messages = payload_problems(find_operation, "POST", path_of(write.request), {**write.request.body, **change})
    assert any(says in problem for problem in messages)


@pytest.mark.parametrize("write", WRITES, ids=get_name)
def test_keys_go_where_they_are_taken(write: Write, spec: Callable[[str], Json]) -> None:
    taken = spec("chatgpt/delta-2026-09.json")["idempotencyKeyOperations"]
    sent = write.request.headers.get(native.IDEMPOTENCY_KEY)
    assert (sent is not None) == (f"{write.request.method} {path_of(write.request)}" in taken)
    assert sent is None or 1 <= len(sent.strip()) <= 255
    assert "OpenAI-Ad-Account" not in write.request.headers  # for partner keys only


@pytest.mark.parametrize("template", NETWORK.templates, ids=lambda template: template.kind)
def test_a_template_validates(template: Any, find_operation: FindOperation) -> None:
    path = {"campaign": "/campaigns", "adGroup": "/ad_groups", "ad": "/ads"}[template.kind]
    parent = {"adGroup": {"campaign_id": "cmpn_9"}, "ad": {"ad_group_id": "adgrp_4"}}.get(template.kind, {})
    assert payload_problems(find_operation, "POST", path, {**parent, **template.payload}) == []


# -- reads ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("exchange", READS, ids=get_name)
def test_a_read_validates(exchange: Exchange, find_operation: FindOperation) -> None:
    if exchange.request.kind == "write":
        return  # what cases record of a write leaves out what is bound: the plan's own writes are held above
    path = path_of(exchange.request)
    if find_operation(exchange.request.method, path) is None:
        assert (exchange.request.method, path) in UNTABLED
    else:
        assert payload_problems(find_operation, exchange.request.method, path, exchange.request.body) == []
    assert query_problems(find_operation, exchange.request) == []


def test_a_wrong_query_is_found(find_operation: FindOperation) -> None:
    def list_query_problems(path: str, query: str) -> list[str]:
        return query_problems(find_operation, Request("GET", f"{native.API_URL}{path}", query_raw=query))

    assert list_query_problems("/campaigns", "limit=501")
    assert list_query_problems("/campaigns", "colour=red") == ["colour is no parameter"]
    assert list_query_problems("/ad_account/insights", "fields=spend") == ["fields is an array"]
    assert list_query_problems("/ad_account/insights", "aggregation_level=account")
    assert list_query_problems("/geo_lookup/search", "limit=5") == ["q is missing"]


@pytest.mark.parametrize("exchange", READS, ids=get_name)
def test_a_recorded_answer_validates(exchange: Exchange, find_operation: FindOperation) -> None:
    description = find_operation(exchange.request.method, path_of(exchange.request))
    if description is None or exchange.response.state != "json" or not exchange.response.is_ok:
        return
    answers = description["operation"]["responses"]
    assert str(exchange.response.status) in answers
    schema = media(answers[str(exchange.response.status)]["content"], None)
    assert problems(schema, description["components"], exact(exchange.response.body), Draft202012Validator) == []


def test_a_wrong_answer_is_found(find_operation: FindOperation) -> None:
    exchange = next(read for read in READS if read.name == "entities-campaigns-0")
    description = find_operation("GET", path_of(exchange.request))
    assert description is not None
    schema = media(description["operation"]["responses"]["200"]["content"], None)
    for change in ({"budget": {"lifetime_spend_limit_micros": "1"}}, {"colour": "red"}):
        campaign, *_ = exact(exchange.response.body)["data"]
        body = {**exact(exchange.response.body), "data": [{**campaign, **change}]}
        assert problems(schema, description["components"], body, Draft202012Validator)


# -- tables --------------------------------------------------------------------------------------------------------


def test_values_are_those_of_the_document(document: Json, spec: Callable[[str], Json]) -> None:
    schemas, enums = document["components"]["schemas"], spec("chatgpt/delta-2026-09.json")["enums"]
    assert set(native.PLATFORMS) == set(enums["PlatformTarget"])
    assert {native.FIXED_BID, *native.AUTOMATIC_STRATEGIES} == set(enums["BiddingStrategy"])
    assert {native.IMPRESSIONS, native.CLICKS, native.CONVERSIONS} == set(schemas["CampaignBiddingTypeParam"]["enum"])
    assert {native.IMPRESSION, native.CLICK} == set(schemas["BillingEventTypeParam"]["enum"])
    assert set(tables.CAMPAIGN.writable_statuses.values()) == set(schemas["ActivePausedStatusParam"]["enum"])
    assert native.CHAT_CARD in schemas["AdCreativeTypeParam"]["enum"]
    assert native.APPROVED in schemas["ReviewStatus"]["enum"]
    for kind in ("campaign", "adGroup", "ad"):
        assert statuses(NETWORK, kind) == set(schemas["ActivePausedArchivedStatusParam"]["enum"])


def test_members_are_those_of_the_document(document: Json) -> None:
    schemas = document["components"]["schemas"]
    assert set(native.BIDDING_MEMBERS) == set(schemas["BiddingConfigParams"]["properties"])
    assert set(native.CREATIVE_MEMBERS) == set(schemas["UpdateAdCreativeParams"]["properties"])
    assert set(native.TARGETING_MEMBERS) == set(schemas["TargetingParams"]["properties"])
    assert {native.LIFETIME_LIMIT_MEMBER, native.DAILY_LIMIT_MEMBER} == set(schemas["BudgetParams"]["properties"])


def test_limits_are_those_of_the_document(document: Json) -> None:
    schemas = document["components"]["schemas"]
    for body in ("CreateCampaignBody", "CreateAdGroupBody", "CreateAdBody"):
        name = schemas[body]["properties"]["name"]
        assert (name["minLength"], name["maxLength"]) == native.NAME_LENGTH_RANGE
    creative = schemas["CreateAdCreativeParams"]["properties"]
    assert (creative["title"]["minLength"], creative["title"]["maxLength"]) == native.TITLE_LENGTH_RANGE
    assert creative["body"]["maxLength"] == native.MAX_BODY_LENGTH
    assert creative["target_url"]["maxLength"] == native.MAX_URL_LENGTH
    start = schemas["CreateCampaignBody"]["properties"]["start_time"]
    assert native.TIME.years is not None
    years = tuple(datetime.fromtimestamp(int(start[name]), UTC) for name in ("minimum", "maximum"))
    assert years == tuple(datetime(year, 1, 1, tzinfo=UTC) for year in native.TIME.years)
    assert schemas["BudgetParams"]["properties"][native.LIFETIME_LIMIT_MEMBER]["minimum"] == native.MICROS
    pages = {
        "/campaigns": native.MAX_PAGE_SIZE,
        "/geo_lookup/search": native.MAX_GEO_PAGE_SIZE,
        "/ad_account/insights": native.REPORT_PAGE_SIZE,
    }
    for path, most in pages.items():
        limit = next(
            parameter for parameter in document["paths"][path]["get"]["parameters"] if parameter["name"] == "limit"
        )
        assert limit["schema"]["maximum"] == most


def test_metrics_are_in_the_rows(document: Json) -> None:
    schemas = document["components"]["schemas"]
    known = {*schemas["InsightItemBody"]["properties"], *schemas["ConversionSummaryRowBody"]["properties"]}
    assert unknown_values((metric.native.removeprefix("/") for metric in NETWORK.metrics), known) == []
