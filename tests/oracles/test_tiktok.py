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

from .sources import Exchange, Write, exchanges, named, plain, writes

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
    found: dict[tuple[str, str], Callable[..., Any]] = {}
    client = Capture()
    for name in dir(sdk):
        if not name.endswith("Api"):
            continue
        api = getattr(sdk, name)(client)
        for member, function in inspect.getmembers(api, inspect.ismethod):
            if member.endswith("_with_http_info"):
                head = HEAD.search(inspect.getsource(function))
                if head is not None:
                    found[(head[2], head[1])] = function
    return found


def parameters(function: Callable[..., Any]) -> Mapping[str, str]:
    """Names and types of what a function of the SDK takes."""
    return {name: kind for kind, name in PARAMETER.findall(function.__doc__ or "") if name != "async_req"}


def built(kind: str, value: Json, at: str) -> Any:
    """A value of one of the SDK's types. TypeError or ValueError for what its models do not take."""
    listed = re.fullmatch(r"list\[(.+)\]", kind)
    if listed is not None:
        assert isinstance(value, list), (at, kind, value)
        return [built(listed[1], one, f"{at}/{index}") for index, one in enumerate(value)]
    model = getattr(sdk, kind, None)
    if model is not None and hasattr(model, "swagger_types"):
        assert isinstance(value, Mapping), (at, kind, value)
        unknown = set(value) - set(model.swagger_types)
        assert not unknown, (at, unknown)
        return model(**{name: built(model.swagger_types[name], one, f"{at}/{name}") for name, one in value.items()})
    wanted = {"str": (str,), "bool": (bool,), "float": (int, float), "int": (int,)}.get(kind)
    if wanted is not None:
        assert isinstance(value, wanted) and (kind == "bool" or not isinstance(value, bool)), (at, kind, value)
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
    given: dict[str, Any] = {"access_token": "T"} if "access_token" in known else {}
    given |= {
        name: built(known[name], plain(read_text(known[name], value)), name)
        for name, value in query_of(request).items()
    }
    if body is not None and "body" in known:
        given["body"] = built(known["body"], body, "body")
    elif isinstance(body, Mapping):  # a form
        given |= {name: built(known[name], value, name) for name, value in body.items()}
    return function(**given)


def body_of(one: Write) -> Json:
    """The body of a step with the members that an operation fills in."""
    if not isinstance(one.body, Mapping):
        return one.body
    return {**one.body, **{mark.to.rpartition("/")[2]: f"{mark.prefix}1" for mark in one.step.marks}}


def within(value: Json, whole: Json) -> bool:
    """Whether everything of a value stands in the SDK's own, which also holds the defaults of its models."""
    if isinstance(value, Mapping):
        return isinstance(whole, Mapping) and all(
            name in whole and within(one, whole[name]) for name, one in value.items()
        )
    if isinstance(value, list):
        return isinstance(whole, list) and len(value) == len(whole) and all(map(within, value, whole))
    return type(value) is type(whole) and value == whole


def listed(path: str) -> bool:
    """Whether the SDK ought to know the address."""
    return path.startswith(BASE) and not path.removeprefix(BASE).startswith(UNLISTED)


def test_there_is_something_to_hold() -> None:
    assert len(operations()) > 200
    assert {path_of(one.request).removeprefix(BASE) for one in WRITES} >= {
        f"{flow}/{level}/{verb}/"
        for flow in ("", "/smart_plus")
        for level in ("campaign", "adgroup", "ad")
        for verb in ("create", "status/update")
    }
    assert READS


@pytest.mark.parametrize("one", WRITES, ids=named)
def test_a_write_is_the_one_that_the_sdk_would_send(one: Write) -> None:
    made = native(one.request, body_of(one))
    assert made is not None, path_of(one.request)
    assert urlsplit(build_request_url(one.request)).netloc == NETWORK.hosts[0]
    form = one.request.encoding == "multipart"
    assert within(body_of(one), made["form" if form else "body"])
    assert made["headers"]["Content-Type"] == ("multipart/form-data" if form else "application/json")


@pytest.mark.parametrize("one", READS, ids=named)
def test_a_read_is_the_one_that_the_sdk_would_send(one: Exchange) -> None:
    if one.request.kind == "write":
        return  # an outcome: its step is among the writes
    made = native(one.request, one.body)
    assert made is not None or not listed(path_of(one.request)), path_of(one.request)


def test_a_wrong_member_is_found() -> None:
    one = next(one for one in WRITES if one.step.key == "ad" and isinstance(one.body, dict) and "creatives" in one.body)
    creative = one.body["creatives"][0]
    for wrong in ({"landing_url": "x"}, {"image_ids": "x"}, {"ad_text": 1}):
        with pytest.raises(AssertionError):
            native(one.request, {**one.body, "creatives": [{**creative, **wrong}]})
    with pytest.raises(ValueError, match="adgroup_id"):
        native(one.request, {name: value for name, value in one.body.items() if name != "adgroup_id"})


# -- published enums and schemas ----------------------------------------------------------------------------------

SINGULAR = {"pacing": "pacing_mode", "placements": "placement", "network_types": "network_type"}
"""Members whose enum has another name."""
LATER = (("/smart_plus/campaign/create/", "objective_type", "TRAFFIC"),)
"""What the description of February 2026 has not yet: Upgraded Smart+ replaces manual creation, traffic included."""


@pytest.mark.parametrize("one", WRITES, ids=named)
def test_enums_are_published_ones(one: Write, spec: Callable[[str], Json]) -> None:
    enums = spec("tiktok/enums.json")
    for name, value in members(body_of(one)):
        known = enums.get(SINGULAR.get(name, name))
        if isinstance(known, list):
            assert value in known, (name, value)


def members(value: Json, name: str = "") -> Iterator[tuple[str, Json]]:
    """Every text with the name of the member that it stands in, also in lists."""
    if isinstance(value, Mapping):
        for own, one in value.items():
            yield from members(one, own)
    elif isinstance(value, list):
        for one in value:
            yield from members(one, name)
    elif isinstance(value, str):
        yield name, value


@pytest.fixture(scope="module")
def schemas(spec: Callable[[str], Json]) -> Mapping[str, Any]:
    paths = deepcopy(spec("tiktok/openapi-trimmed.json")["paths"])
    for path, name, value in LATER:
        schema = paths[path]["post"]["requestBody"]["content"]["application/json"]["schema"]
        schema["properties"][name]["enum"].append(value)
    return dict(paths)


@pytest.mark.parametrize("one", WRITES, ids=named)
def test_bodies_are_as_described(one: Write, schemas: Mapping[str, Any]) -> None:
    described = schemas.get(path_of(one.request).removeprefix(BASE))
    if described is not None:
        held(body_of(one), described["post"])


@pytest.mark.parametrize("one", READS, ids=named)
def test_queries_are_as_described(one: Exchange, schemas: Mapping[str, Any]) -> None:
    described = schemas.get(path_of(one.request).removeprefix(BASE))
    if described is None or one.request.kind == "write":
        return
    operation = described[one.request.method.lower()]
    if one.body is not None:
        held(one.body, operation)
    known = {found["name"]: found for found in operation["parameters"] if found["in"] == "query"}
    given = query_of(one.request)
    assert {name for name, found in known.items() if found.get("required")} <= set(given)
    for name, value in given.items():
        schema = known[name].get("schema") or known[name]["content"]["application/json"]["schema"]
        jsonschema.validate(plain(read_text("str" if schema["type"] == "string" else "json", value)), closed(schema))


def held(body: Json, operation: Mapping[str, Any]) -> None:
    jsonschema.validate(body, closed(operation["requestBody"]["content"]["application/json"]["schema"]))


def closed(schema: Json) -> Any:
    """The schema with objects that take nothing beyond their members."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    made = {name: closed(one) for name, one in schema.items()}
    return {**made, "additionalProperties": False} if isinstance(schema.get("properties"), Mapping) else made


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
