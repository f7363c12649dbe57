"""Amazon Ads: payloads and answers validate against Amazon's OpenAPI descriptions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from decimal import Decimal
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import pytest

from adsunify.http.messages import build_request_url
from adsunify.networks.amazon.native import MARKETPLACES, REPORT_COLUMNS, REPORT_MEDIA_TYPE
from adsunify.values.exact_json import Json

from .schemas import exact, media, problems
from .sources import Exchange, Write, exchanges, get_name, writes

WRITES, READS = writes("amazon"), exchanges("amazon")
DESCRIPTIONS = (
    "sponsored-products-v3.openapi.json",
    "profiles-v2.openapi.json",
    "product-eligibility.openapi.json",
    "product-metadata.openapi.json",
)
LATER = {"SponsoredProductsUpdateAdGroup": ["adGroupId"]}
"""What later editions require: the edition of 2022 also marks name, state and defaultBid."""

OLDER = {"ProductInfoList": "ProductMetadataList"}
"""What older answers call a member."""


@pytest.fixture(scope="module")
def find_operation(spec: Callable[[str], Json]) -> Callable[[str, str], Mapping[str, Any] | None]:
    """The operation of a method and path, with the components it refers to."""
    documents = [_with_drift(spec(f"amazon/{name}")) for name in DESCRIPTIONS]

    @cache
    def find(method: str, path: str) -> Mapping[str, Any] | None:
        for document in documents:
            operation = document["paths"].get(path, {}).get(method.lower())
            if operation is not None:
                return {"operation": operation, "components": document["components"]}
        return None

    return find


def _with_drift(document: Json) -> Json:
    changed = _nullable(deepcopy(document))
    for name, required in LATER.items():
        if name in changed["components"]["schemas"]:
            changed["components"]["schemas"][name]["required"] = required
    return changed


def _nullable(value: Json) -> Json:
    """OpenAPI 3.0's ``nullable`` as a null type; without it, clearing a member would be no valid payload."""
    if isinstance(value, list):
        return [_nullable(element) for element in value]
    if not isinstance(value, dict):
        return value
    changed = {name: _nullable(member) for name, member in value.items()}
    if changed.pop("nullable", None) is True:
        if "type" in changed:
            changed["type"] = [changed["type"], "null"]
            if "enum" in changed:
                changed["enum"] = [*changed["enum"], None]
        else:
            return {"anyOf": [changed, {"type": "null"}]}
    return changed


# -- payloads -----------------------------------------------------------------------------------------------------

FindOperation = Callable[[str, str], Mapping[str, Any] | None]


def header(headers: Mapping[str, str], name: str) -> str | None:
    return next((value for other, value in headers.items() if other.lower() == name.lower()), None)


def payload_problems(
    find_operation: FindOperation, method: str, url: str, headers: Mapping[str, str], body: Json
) -> list[str]:
    description = find_operation(method, urlsplit(url).path)
    assert description is not None, f"{method} {url} is in no description"
    content = description["operation"].get("requestBody", {}).get("content")
    if content is None:
        return [] if body is None else ["the operation takes no body"]
    return problems(media(content, header(headers, "content-type")), description["components"], exact(body))


def test_there_is_something_to_hold() -> None:
    assert WRITES
    assert READS


@pytest.mark.parametrize("write", WRITES, ids=get_name)
def test_a_write_validates(write: Write, find_operation: FindOperation) -> None:
    request = write.request
    assert (
        payload_problems(find_operation, request.method, build_request_url(request), request.headers, request.body)
        == []
    )


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"state": "ACTIVE"}, "ACTIVE"),
        ({"budget": {"budget": "35.5", "budgetType": "DAILY"}}, "35.5"),
        ({"colour": "red"}, "colour"),
        ({"dynamicBidding": {"strategy": "LEGACY_FOR_SALES", "placements": []}}, "placements"),
        ({"name": None}, "None is not of type"),
    ],
)
def test_what_is_wrong_is_found(change: Mapping[str, Json], says: str, find_operation: FindOperation) -> None:
    write = next(write for write in WRITES if build_request_url(write.request).endswith("/sp/campaigns"))
    (campaign,) = write.request.body["campaigns"]
    body = {"campaigns": [{**campaign, **change}]}
    messages = payload_problems(
        find_operation, write.request.method, build_request_url(write.request), write.request.headers, body
    )
    assert any(says in problem for problem in messages)


@pytest.mark.parametrize("write", WRITES, ids=get_name)
def test_a_write_names_its_media_type_twice(write: Write, find_operation: FindOperation) -> None:
    """Content-Type and Accept are the resource's own; others are answered 415 and 406."""
    description = find_operation(write.request.method, urlsplit(build_request_url(write.request)).path)
    assert description is not None
    sent = set(description["operation"]["requestBody"]["content"])
    answered = {name for answer in description["operation"]["responses"].values() for name in answer.get("content", {})}
    assert header(write.request.headers, "content-type") in sent
    assert header(write.request.headers, "accept") in answered


@pytest.mark.parametrize("exchange", READS, ids=get_name)
def test_a_read_validates(exchange: Exchange, find_operation: FindOperation) -> None:
    request = exchange.request
    if (
        request.kind != "write"
        and find_operation(request.method, urlsplit(build_request_url(request)).path) is not None
    ):
        assert (
            payload_problems(find_operation, request.method, build_request_url(request), request.headers, request.body)
            == []
        )


@pytest.mark.parametrize("exchange", READS, ids=get_name)
def test_a_recorded_answer_validates(exchange: Exchange, find_operation: FindOperation) -> None:
    description = find_operation(exchange.request.method, urlsplit(build_request_url(exchange.request)).path)
    if description is None or exchange.response.state != "json" or not exchange.response.is_ok:
        return
    answers = description["operation"]["responses"]
    answer = answers.get(str(exchange.response.status))
    assert answer is not None, f"{exchange.response.status} is not one of {list(answers)}"
    schema, body = media(answer["content"], None), exact(exchange.response.body)
    for older, name in OLDER.items():
        if older in body:
            body[name] = body.pop(older)
    assert problems(schema, description["components"], body) == []


# -- reports and limits -------------------------------------------------------------------------------------------


def test_a_report_asks_for_columns_that_exist(spec: Callable[[str], Json]) -> None:
    data = spec("amazon/reporting-v3.columns.json")
    kind = data["reportTypes"]["spCampaigns"]
    known = {"date", *kind["baseColumns"], *kind["groupBy"]["campaign"]["additionalColumns"]}
    assert set(REPORT_COLUMNS) <= known
    assert data["createMediaType"] == REPORT_MEDIA_TYPE


def test_limits_are_those_of_the_data(spec: Callable[[str], Json]) -> None:
    data = spec("amazon/marketplace-limits.json")
    bids, budgets = (
        data["spBid"],
        {("AE" if code == "UAE" else code): bounds for code, bounds in data["spDailyBudget"].items()},
    )
    for code, market in MARKETPLACES.items():
        if code in bids and code != "EG":  # the documented maximum of EG looks like a misprint
            assert _pair(market.bid_limits) == (Decimal(bids[code]["min"]), Decimal(bids[code]["max"])), code
            assert bids[code]["currency"] == market.currency
        if code in budgets:
            assert _pair(market.budget_limits) == (Decimal(budgets[code]["min"]), Decimal(budgets[code]["max"])), code
    assert set(MARKETPLACES) <= set(bids) | set(budgets) | {"BE", "IE", "IN", "SA", "ZA"}


def _pair(limits: tuple[str, str]) -> tuple[Decimal, Decimal]:
    return Decimal(limits[0]), Decimal(limits[1])
