"""TikTok: requests are those of the official SDK; enums, schemas, codes and currencies are the published ones."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import jsonschema
import pytest

from adsunify.adapter.account import Account
from adsunify.adapter.error_rules import match_error_rule
from adsunify.adapter.network import ParsedError
from adsunify.adapter.oauth import Credentials, OAuthClient
from adsunify.http.messages import Request, build_request_url
from adsunify.networks.registry import get_adapter
from adsunify.networks.tiktok.native import get_budget_limits
from adsunify.values.exact_json import Json, loads

from .sources import Exchange, Write, exchanges, get_name, plain, writes

pytest.importorskip(
    "business_api_client", reason="the package tiktok-business-api-sdk-official is in the dependency group oracles"
)

import business_api_client as sdk

NETWORK = get_adapter("tiktok").network
WRITES, READS = writes("tiktok"), exchanges("tiktok")
BASE = "/open_api/v1.3"
HEAD = re.compile(r"'(/open_api/v1\.3/[a-z0-9_/]+/)', '(GET|POST)'")
PARAMETER = re.compile(r":param (\S+) (\w+):")
UNLISTED = ("/tool/bid/", "/file/video/suggestcover/", "/file/image/ad/search/", "/report/task/download/")
"""Addresses that the documentation has and the SDK has not."""


# -- the SDK's own requests ---------------------------------------------------------------------------------------


class Capture(sdk.ApiClient):
    """The SDK's client without its threads; it says what it would send."""

    def __init__(self) -> None:
        self.configuration = sdk.Configuration()

    def __del__(self) -> None:
        pass  # nothing to close

    def call_api(self, path: str, method: str, path_params: Any, query: Any, headers: Any, **more: Any) -> Any:
        body = self.sanitize_for_serialization(more.get("body"))
        form = dict(more.get("post_params") or ())
        return {"path": path, "method": method, "query": dict(query), "headers": headers, "body": body, "form": form}


@cache
def operations() -> Mapping[tuple[str, str], Callable[..., Any]]:
    """The SDK's functions by method and path."""
    functions: dict[tuple[str, str], Callable[..., Any]] = {}
    client = Capture()
    for name in dir(sdk):
        if not name.endswith("Api"):
            continue
        api = getattr(sdk, name)(client)
        for member, function in inspect.getmembers(api, inspect.ismethod):
            if member.endswith("_with_http_info"):
                head = HEAD.search(inspect.getsource(function))
                if head is not None:
                    functions[(head[2], head[1])] = function
    return functions


def parameters(function: Callable[..., Any]) -> Mapping[str, str]:
    """Names and types of what a function of the SDK takes."""
    return {name: kind for kind, name in PARAMETER.findall(function.__doc__ or "") if name != "async_req"}


def build_value(kind: str, value: Json, at: str) -> Any:
    """A value of one of the SDK's types. TypeError or ValueError for what its models do not take."""
    match = re.fullmatch(r"list\[(.+)\]", kind)
    if match is not None:
        assert isinstance(value, list), (at, kind, value)
        return [build_value(match[1], element, f"{at}/{index}") for index, element in enumerate(value)]
    model = getattr(sdk, kind, None)
    if model is not None and hasattr(model, "swagger_types"):
        assert isinstance(value, Mapping), (at, kind, value)
        unknown = set(value) - set(model.swagger_types)
        assert not unknown, (at, unknown)
        return model(
            **{name: build_value(model.swagger_types[name], member, f"{at}/{name}") for name, member in value.items()}
        )
    accepted_types = {"str": (str,), "bool": (bool,), "float": (int, float), "int": (int,)}.get(kind)
    if accepted_types is not None:
        assert isinstance(value, accepted_types) and (kind == "bool" or not isinstance(value, bool)), (at, kind, value)
    return value


def path_of(request: Request) -> str:
    return urlsplit(build_request_url(request)).path


def query_of(request: Request) -> Mapping[str, str]:
    return dict(parse_qsl(urlsplit(build_request_url(request)).query))


def read_text(kind: str, value: str) -> Json:
    """A value of a query as the SDK's function takes it."""
    return value if kind == "str" else loads(value)


def native(request: Request, body: Json) -> Any:
    """What the SDK would send with the same input, None where it has no such function."""
    request = get_adapter("tiktok").credential_flows.sign_request(
        request, Credentials("T"), OAuthClient("app", "secret"), 0, "nonce"
    )
    function = operations().get((request.method, path_of(request)))
    if function is None:
        return None
    known = parameters(function)
    assert request.headers.get("Access-Token") == "T" or "access_token" not in known
    arguments: dict[str, Any] = {"access_token": "T"} if "access_token" in known else {}
    arguments |= {
        name: build_value(known[name], plain(read_text(known[name], value)), name)
        for name, value in query_of(request).items()
    }
    if body is not None and "body" in known:
        arguments["body"] = build_value(known["body"], body, "body")
    elif isinstance(body, Mapping):  # a form
        arguments |= {name: build_value(known[name], value, name) for name, value in body.items()}
    return function(**arguments)


def body_of(write: Write) -> Json:
    """The body of a step with the members that an operation fills in."""
    if not isinstance(write.body, Mapping):
        return write.body
    return {**write.body, **{mark.to.rpartition("/")[2]: f"{mark.prefix}1" for mark in write.step.marks}}


def within(value: Json, whole: Json) -> bool:
    """Whether everything of a value stands in the SDK's own, which also holds the defaults of its models."""
    if isinstance(value, Mapping):
        return isinstance(whole, Mapping) and all(
            name in whole and within(member, whole[name]) for name, member in value.items()
        )
    if isinstance(value, list):
        return isinstance(whole, list) and len(value) == len(whole) and all(map(within, value, whole))
    return type(value) is type(whole) and value == whole


def is_in_sdk(path: str) -> bool:
    """Whether the SDK ought to know the address."""
    return path.startswith(BASE) and not path.removeprefix(BASE).startswith(UNLISTED)


def test_there_is_something_to_hold() -> None:
    assert len(operations()) > 200
    assert {path_of(write.request).removeprefix(BASE) for write in WRITES} >= {
        f"{flow}/{level}/{verb}/"
        for flow in ("", "/smart_plus")
        for level in ("campaign", "adgroup", "ad")
        for verb in ("create", "status/update")
    }
    assert READS


@pytest.mark.parametrize("write", WRITES, ids=get_name)
def test_a_write_is_the_one_that_the_sdk_would_send(write: Write) -> None:
    sdk_request = native(write.request, body_of(write))
    assert sdk_request is not None, path_of(write.request)
    assert urlsplit(build_request_url(write.request)).netloc == NETWORK.hosts[0]
    form = write.request.encoding == "multipart"
    assert within(body_of(write), sdk_request["form" if form else "body"])
    assert sdk_request["headers"]["Content-Type"] == ("multipart/form-data" if form else "application/json")


@pytest.mark.parametrize("exchange", READS, ids=get_name)
def test_a_read_is_the_one_that_the_sdk_would_send(exchange: Exchange) -> None:
    if exchange.request.kind == "write":
        return  # an outcome: its step is among the writes
    sdk_request = native(exchange.request, exchange.body)
    assert sdk_request is not None or not is_in_sdk(path_of(exchange.request)), path_of(exchange.request)


def test_a_wrong_member_is_found() -> None:
    write = next(
        write
        for write in WRITES
        if write.step.key == "ad" and isinstance(write.body, dict) and "creatives" in write.body
    )
    creative = write.body["creatives"][0]
    for wrong in ({"landing_url": "x"}, {"image_ids": "x"}, {"ad_text": 1}):
        with pytest.raises(AssertionError):
            native(write.request, {**write.body, "creatives": [{**creative, **wrong}]})
    with pytest.raises(ValueError, match="adgroup_id"):
        native(write.request, {name: value for name, value in write.body.items() if name != "adgroup_id"})


# -- published enums and schemas ----------------------------------------------------------------------------------

SINGULAR = {"pacing": "pacing_mode", "placements": "placement", "network_types": "network_type"}
"""Members whose enum has another name."""
LATER = (("/smart_plus/campaign/create/", "objective_type", "TRAFFIC"),)
"""What the description of February 2026 has not yet: Upgraded Smart+ replaces manual creation, traffic included."""


@pytest.mark.parametrize("write", WRITES, ids=get_name)
def test_enums_are_published_ones(write: Write, spec: Callable[[str], Json]) -> None:
    enums = spec("tiktok/enums.json")
    for name, value in members(body_of(write)):
        known = enums.get(SINGULAR.get(name, name))
        if isinstance(known, list):
            assert value in known, (name, value)


def members(value: Json, name: str = "") -> Iterator[tuple[str, Json]]:
    """Every text with the name of the member that it stands in, also in lists."""
    if isinstance(value, Mapping):
        for own, member in value.items():
            yield from members(member, own)
    elif isinstance(value, list):
        for element in value:
            yield from members(element, name)
    elif isinstance(value, str):
        yield name, value


@pytest.fixture(scope="module")
def schemas(spec: Callable[[str], Json]) -> Mapping[str, Any]:
    paths = deepcopy(spec("tiktok/openapi-trimmed.json")["paths"])
    for path, name, value in LATER:
        schema = paths[path]["post"]["requestBody"]["content"]["application/json"]["schema"]
        schema["properties"][name]["enum"].append(value)
    return dict(paths)


@pytest.mark.parametrize("write", WRITES, ids=get_name)
def test_bodies_are_as_described(write: Write, schemas: Mapping[str, Any]) -> None:
    described = schemas.get(path_of(write.request).removeprefix(BASE))
    if described is not None:
        validate_body(body_of(write), described["post"])


@pytest.mark.parametrize("exchange", READS, ids=get_name)
def test_queries_are_as_described(exchange: Exchange, schemas: Mapping[str, Any]) -> None:
    described = schemas.get(path_of(exchange.request).removeprefix(BASE))
    if described is None or exchange.request.kind == "write":
        return
    operation = described[exchange.request.method.lower()]
    if exchange.body is not None:
        validate_body(exchange.body, operation)
    known = {parameter["name"]: parameter for parameter in operation["parameters"] if parameter["in"] == "query"}
    query = query_of(exchange.request)
    assert {name for name, parameter in known.items() if parameter.get("required")} <= set(query)
    for name, value in query.items():
        schema = known[name].get("schema") or known[name]["content"]["application/json"]["schema"]
        jsonschema.validate(
            plain(read_text("str" if schema["type"] == "string" else "json", value)), close_objects(schema)
        )


def validate_body(body: Json, operation: Mapping[str, Any]) -> None:
    jsonschema.validate(body, close_objects(operation["requestBody"]["content"]["application/json"]["schema"]))


def close_objects(schema: Json) -> Any:
    """The schema with objects that take nothing beyond their members."""
    if isinstance(schema, list):
        return [close_objects(element) for element in schema]
    if not isinstance(schema, Mapping):
        return schema
    closed_schema = {name: close_objects(member) for name, member in schema.items()}
    return (
        {**closed_schema, "additionalProperties": False}
        if isinstance(schema.get("properties"), Mapping)
        else closed_schema
    )


# -- tables -------------------------------------------------------------------------------------------------------

VERDICTS = {
    "auth": {("rejected", "token")},
    "permission": {("rejected", "permission")},
    "rate_limit": {("throttled", "limit")},
    "processing": {("throttled", "network")},
    "conflict": {("throttled", "network")},
    "maintenance": {("throttled", "network")},
    "not_found": {("rejected", "not_found")},
    "validation": {("rejected", "input"), ("rejected", "limit")},
    "duplicate": {("ambiguous", "input")},
    "server": {("ambiguous", "network")},
}


def test_codes_mean_what_the_table_says(spec: Callable[[str], Json]) -> None:
    rows = spec("tiktok/error-codes.json")
    assert len(rows) > 60
    for row in rows:
        if row["class"] == "partial":
            continue  # each id says for itself
        rule = match_error_rule(NETWORK, ParsedError((str(row["code"]),)), 200, None)
        assert rule is not None, row
        assert (rule.verdict, rule.blame) in VERDICTS[row["class"]], row


def test_currencies_count_as_in_the_table(spec: Callable[[str], Json]) -> None:
    table = spec("tiktok/currencies.json")["currencies"]
    for code, row in table.items():
        account = Account("tiktok", "1", code)
        assert NETWORK.get_money_unit(account).offset == 10 ** int(row["fractionDigits"]), code
        for kind, name in (("adGroup", "adGroupDailyMin"), ("campaign", "campaignDailyMin")):
            assert get_budget_limits(account, kind, 1) == (row[name], row["dailyMaxExclusive"]), code
