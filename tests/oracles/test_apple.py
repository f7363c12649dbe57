"""Apple Ads: addresses, members, enums, limits and the client secret are those of its published tables."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from urllib.parse import urlsplit

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from adsunify.adapter.account import Account
from adsunify.adapter.network import Template
from adsunify.http.messages import Request, build_request_url
from adsunify.networks.apple import native, reads, targeting
from adsunify.networks.apple.native import CLIENT_SECRET_LIFETIME, sign_client_secret
from adsunify.networks.registry import get_adapter
from adsunify.values.exact_json import Json, loads

from .sources import Exchange, Write, exchanges, get_name, writes
from .tables import choices, find_template, leaves, statuses, unknown_values

NETWORK = get_adapter("apple").network
WRITES, READS = writes("apple"), exchanges("apple")

OBJECTS = {"campaigns": "CampaignCreate", "adgroups": "AdGroupCreate", "ads": "AdCreate", "keywords": "KeywordCreate"}
ENUMS = {"matchType": "keywordMatchType", "bidStrategyType": "bidStrategyPairs"}
"""Members whose enum has another name; the others have their own."""

DIMENSIONS = {name: name for name in ("supplySource", "supplyPlacement", "deviceClass", "gender")}
BID_STRATEGY = {"bidStrategyType": "enum", "bidStrategyGoal": "goal", "bid": "Money"}
NAMED = {"invoiceDetail": ("orderNumber", "clientName", "buyerName", "buyerEmail", "billingContactEmail")}
"""What the documentation knows of an object that the table leaves open."""

BULK = {"bulk-create": "create", "bulk-update": "update", "bulk-delete": "delete"}
FORMS: Mapping[str, Callable[[Json], bool]] = {
    "string": lambda value: isinstance(value, str) and bool(value),
    "int64": lambda value: isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**63,
    "bool": lambda value: isinstance(value, bool),
    "utc-ms": lambda value: re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}", value) is not None,
    "object": lambda value: isinstance(value, Mapping),
}

Spec = Callable[[str], Json]


@pytest.fixture
def tables(spec: Spec) -> Json:
    return spec("apple/platform-v1-tables.json")


def enum(tables: Json, name: str) -> Collection[str]:
    values = tables["enums"][ENUMS.get(name, name)]
    return [value for part in values.values() for value in part] if name == "matchType" else values


def wrongs(tables: Json, kind: str, body: Mapping[str, Json], action: str = "create") -> Iterator[str]:
    """What the tables do not know of an object that is written."""
    table = tables["objects"][OBJECTS[kind]]
    fields = {**table["fields"], **({} if action == "create" else {"id": "int64"})}
    if action == "create":
        yield from (f"{name} is missing" for name in table["required"] if name not in body)
    if action == "delete":
        fields = {"id": "int64"}
    for name, value in body.items():
        if name not in fields:
            yield f"{name} stands in no table"
        elif action == "update" and "immutable" in str(fields[name]):
            yield f"{name} cannot be changed"
        else:
            yield from wrong_field(tables, name, fields[name], value)


def wrong_field(tables: Json, name: str, kind: Json, value: Json) -> Iterator[str]:
    if isinstance(kind, list):
        for element in value:
            yield from wrong_field(tables, name, kind[0], element)
    elif isinstance(kind, Mapping):
        for member, inner in value.items():
            if member in kind:
                yield from wrong_field(tables, f"{name}/{member}", kind[member], inner)
            else:
                yield f"{name}/{member} stands in no table"
    elif kind == "Money":
        yield from wrong_money(tables, name, value)
    elif kind == "BidStrategy":
        yield from wrong_bidding(tables, value)
    elif kind.endswith("TargetingData"):
        yield from wrong_targeting(tables, kind, value)
    elif kind.startswith("enum"):
        if value not in enum(tables, name):
            yield f"{name}: {value}"
    else:
        word, _, most = kind.split()[0].partition("<=")
        if not FORMS[word](value) or (most and len(value) > int(most)):
            yield f"{name} is no {kind}: {value}"
        if word == "object" and isinstance(value, Mapping):
            yield from (
                f"{name}/{inner_name} stands in no table"
                for inner_name in value
                if inner_name not in NAMED.get(name, ())
            )


def wrong_money(tables: Json, name: str, value: Json) -> Iterator[str]:
    if set(value) - set(tables["objects"]["Money"]["properties"]) or "amount" not in value:
        yield f"{name} is no amount"
    elif not isinstance(value["amount"], str) or not re.fullmatch(r"\d+(\.\d{1,2})?", value["amount"]):
        yield f"{name}/amount: {value['amount']}"
    if value.get("currency") not in (None, *enum(tables, "currency")):
        yield f"{name}/currency: {value['currency']}"


def wrong_bidding(tables: Json, value: Mapping[str, Json]) -> Iterator[str]:
    pairs = tables["enums"]["bidStrategyPairs"]
    yield from (f"bidStrategy/{name} stands in no table" for name in value if name not in BID_STRATEGY)
    if value.get("bidStrategyGoal") != pairs.get(value.get("bidStrategyType")):
        yield f"bidStrategy: {value.get('bidStrategyType')} with {value.get('bidStrategyGoal')}"
    if "bid" in value:
        yield from wrong_money(tables, "bidStrategy/bid", value["bid"])


def wrong_targeting(tables: Json, kind: str, value: Mapping[str, Json]) -> Iterator[str]:
    known = kind.partition("}")[0].removeprefix("{").split(",")
    for dimension, data in value.items():
        if dimension not in known:
            yield f"targeting/{dimension} stands in no table"
        for part, values in data.items():
            if part not in tables["objects"]["TargetingData"] or not all(isinstance(text, str) for text in values):
                yield f"targeting/{dimension}/{part} is no list of texts"
            if dimension in DIMENSIONS:
                yield from unknown_values(values, tables["enums"][dimension])


def endpoint(tables: Json, request: Request) -> str | None:
    path = urlsplit(build_request_url(request)).path.removeprefix("/v1")
    return find_template([template for method, template in tables["endpoints"] if method == request.method], path)


def problems(tables: Json, write: Write) -> list[str]:
    """What the tables do not know of a write."""
    template = endpoint(tables, write.request)
    if template is None:
        return [f"{write.request.method} {build_request_url(write.request)} stands in no table"]
    kind, *rest = template.removeprefix("/").split("/")
    bulk = BULK.get(rest[0]) if rest else None
    if bulk is not None:
        request = tables["objects"]["BulkRequest"]
        messages = [f"{name} stands in no table" for name in write.body if name not in request["fields"]]
        for item in write.body["items"]:
            messages += [
                f"items/{name} stands in no table" for name in item if name not in request["fields"]["items"][0]
            ]
            messages += wrongs(tables, kind, item["data"], bulk)
        return messages
    if write.request.method == "DELETE":
        return [] if write.body is None else ["it takes no body"]
    return list(wrongs(tables, kind, write.body, "create" if write.request.method == "POST" else "update"))


def test_there_is_something_to_hold(tables: Json) -> None:
    templates = {endpoint(tables, write.request) for write in WRITES}
    assert {"/campaigns", "/adgroups", "/ads", "/keywords/bulk-create", "/keywords/bulk-update"} <= templates
    assert READS


@pytest.mark.parametrize("write", WRITES, ids=get_name)
def test_a_write_is_in_the_tables(write: Write, tables: Json) -> None:
    assert build_request_url(write.request).startswith(tables["server"] + "/")
    assert problems(tables, write) == []


@pytest.mark.parametrize(
    ("path", "change", "says"),
    [
        ("/campaigns", {"status": "ACTIVE"}, "status: ACTIVE"),
        ("/campaigns", {"name": "x" * 201}, "name is no string<=200"),
        ("/campaigns", {"startTime": "2030-01-15T09:00:00Z"}, "startTime is no utc-ms"),
        ("/campaigns", {"colour": "red"}, "colour stands in no table"),
        ("/campaigns", {"dailyBudget": {"value": {"amount": 45}}}, "dailyBudget/value/amount: 45"),
        ("/campaigns", {"dailyBudget": {"amount": "45"}}, "dailyBudget/amount stands in no table"),
        ("/campaigns", {"targeting": {"supplySource": {"include": ["STORE"]}}}, "STORE"),
        ("/campaigns", {"bidStrategy": {"bidStrategyType": "MANUAL_CPT", "bidStrategyGoal": "INSTALL"}}, "INSTALL"),
        ("/adgroups", {"campaignId": "11"}, "campaignId is no int64"),
        ("/adgroups", {"targeting": {"town": {"include": ["1"]}}}, "targeting/town stands in no table"),
        ("/ads", {"creativeId": None}, "creativeId is no int64"),
    ],
)
def test_what_is_wrong_is_found(path: str, change: Mapping[str, Json], says: str, tables: Json) -> None:
    write = next(
        write for write in WRITES if write.request.method == "POST" and endpoint(tables, write.request) == path
    )
    messages = list(wrongs(tables, path.removeprefix("/"), {**write.body, **change}))
    assert any(says in problem for problem in messages)
    assert list(wrongs(tables, path.removeprefix("/"), {})) != []


def test_a_wrong_update_is_found(tables: Json) -> None:
    assert list(wrongs(tables, "ads", {"creativeId": 3}, "update")) == ["creativeId cannot be changed"]
    assert list(wrongs(tables, "keywords", {"id": 3, "status": "PAUSED"}, "delete")) == ["status stands in no table"]
    assert list(wrongs(tables, "keywords", {"id": 3, "matchType": "NARROW"}, "create"))[-1] == "matchType: NARROW"


@pytest.mark.parametrize("sample", [*WRITES, *READS], ids=get_name)
def test_the_account_is_named_where_it_has_to_be(sample: Write | Exchange, tables: Json) -> None:
    if urlsplit(build_request_url(sample.request)).netloc == native.TOKEN_HOST:
        return
    template = endpoint(tables, sample.request)
    assert template is not None, build_request_url(sample.request)
    without = f"{sample.request.method} {template}" in tables["headers"]["not_needed_for"]
    header = sample.request.headers.get("X-AP-Context")
    assert without or (header is not None and re.fullmatch(r"adAccountId=\d+", header) is not None)


@pytest.mark.parametrize("template", NETWORK.templates, ids=lambda template: template.kind)
def test_a_template_is_in_the_tables(template: Template, tables: Json) -> None:
    kind = {"campaign": "campaigns", "adGroup": "adgroups", "ad": "ads"}[template.kind]
    # the account is added
    assert set(wrongs(tables, kind, template.payload)) <= {"adAccountId is missing"}


# -- reads ---------------------------------------------------------------------------------------------------------


def query_wrongs(tables: Json, template: str, body: Mapping[str, Json]) -> list[str]:
    """What the tables do not take of a query or a report."""
    limits, enums = tables["limits"], tables["enums"]
    if not template.startswith("/reports/"):
        size = body["pagination"]["pageSize"]
        return [f"pageSize: {size}"] if size > limits["campaignsQueryPageSize"] else []
    known = {name.partition("{")[0] for name in tables["objects"]["AppsReportingRequest"]}
    wrong = [*unknown_values(body, known), *unknown_values(body["fields"], tables["objects"]["AppsMetrics"])]
    days = body["timeRange"]
    wrong += unknown_values(days, ("start", "end", "timeZone", "granularity"))
    wrong += unknown_values([days["timeZone"]], enums["reportTimeZone"])
    wrong += unknown_values([days[name] for name in ("granularity",) if name in days], enums["granularity"])
    size = body["pagination"]["pageSize"]
    return wrong + ([f"pageSize: {size}"] if size > limits["reportPageSizeMax"] else [])


QUERIES = [
    exchange
    for exchange in READS
    if exchange.request.method == "POST" and build_request_url(exchange.request).endswith("/query")
]


@pytest.mark.parametrize("exchange", QUERIES, ids=get_name)
def test_a_query_is_in_the_tables(exchange: Exchange, tables: Json) -> None:
    assert query_wrongs(tables, endpoint(tables, exchange.request) or "", exchange.body) == []


def test_a_wrong_query_is_found(tables: Json) -> None:
    query = {
        "timeRange": {"start": "2026-10-01", "end": "2026-10-02", "timeZone": "PST", "granularity": "DAY"},
        "fields": ["taps", "clicks"],
        "selector": {},
        "pagination": {"offset": 0, "pageSize": 5001},
    }
    messages = query_wrongs(tables, "/reports/apps/campaigns/query", query)
    assert messages == ["selector", "clicks", "PST", "DAY", "pageSize: 5001"]
    assert query_wrongs(tables, "/campaigns/query", {"pagination": {"pageSize": 1001}}) == ["pageSize: 1001"]
    assert any("/reports/" in (endpoint(tables, exchange.request) or "") for exchange in QUERIES)


SHOWN = {
    "status": "status",
    "displayStatus": "displayStatus",
    "promotedObjectType": "promotedObjectType",
    "billingEvent": "billingEvent",
    "pricingModel": "pricingModel",
    "creativeType": "creativeType",
    "destination/destinationType": "destinationType",
    "paymentModel": "paymentModel",
    "productFeatures/*": "productFeatures",
    "bidStrategy/bidStrategyType": "bidStrategyPairs",
    "targeting/supplySource/include/*": "supplySource",
    "targeting/supplyPlacement/include/*": "supplyPlacement",
}
SYSTEM = {"/creatives": "creativeSystemStatus", "/ad-accounts": "adAccountSystemStatus"}


@pytest.mark.parametrize("exchange", READS, ids=get_name)
def test_a_recorded_entity_is_in_the_tables(exchange: Exchange, tables: Json) -> None:
    body = exchange.response.body if exchange.response.state == "json" and exchange.response.is_ok else None
    result = body.get("result") if isinstance(body, Mapping) else None
    path = urlsplit(build_request_url(exchange.request)).path.removeprefix("/v1")
    system = next((table for start, table in SYSTEM.items() if path.startswith(start)), "systemStatus")
    for row in result if isinstance(result, list) else [result]:
        for place, value in leaves(row if isinstance(row, Mapping) else {}):
            table = {**SHOWN, "systemStatus": system}.get(place)
            if table is not None and value is not None:
                assert value in tables["enums"][table], place


# -- tables --------------------------------------------------------------------------------------------------------


def test_values_are_the_tables(tables: Json) -> None:
    enums = tables["enums"]
    for level in NETWORK.levels:
        assert statuses(NETWORK, level.kind) == set(enums["status"])
    assert dict(native.BID_STRATEGIES) == enums["bidStrategyPairs"]
    assert set(targeting.DEVICES) == set(enums["deviceClass"])
    assert set(targeting.GENDERS.values()) == set(enums["gender"])
    known = tables["objects"]["AdGroupCreate"]["fields"]["targeting"].partition("}")[0].removeprefix("{").split(",")
    assert set(targeting.DIMENSIONS) - set(known) == {targeting.COUNTRY_DIMENSION}  # the campaign's
    assert native.CREDIT_LINE in enums["paymentModel"]
    assert native.APP_STORE_FEATURE in enums["productFeatures"]
    assert {native.INVALID, native.PENDING} <= set(enums["creativeSystemStatus"])
    assert native.CUSTOM_PRODUCT_PAGE in enums["creativeType"]


def test_limits_are_the_tables(tables: Json) -> None:
    limits = tables["limits"]
    assert limits["campaignName"] == native.MAX_NAME_LENGTH
    assert limits["dailyReportStartWithinDays"] == reads.NETWORK.history.days
    assert limits["reportPageSizeMax"] >= native.REPORT_PAGE_SIZE
    assert limits["campaignsQueryPageSize"] >= native.PAGE_SIZE


def test_settings_choose_from_the_tables(tables: Json) -> None:
    for place, values in choices(NETWORK).items():
        assert unknown_values(values, enum(tables, place.rpartition("/")[2])) == [], place


def test_metrics_are_asked_for(tables: Json) -> None:
    assert unknown_values(reads.REPORT_FIELDS, tables["objects"]["AppsMetrics"]) == []
    assert {metric.native.split("/")[1] for metric in NETWORK.metrics} <= set(reads.REPORT_FIELDS)


def test_every_currency_has_a_unit(tables: Json) -> None:
    for code in tables["enums"]["currency"]:
        if code != "RMB":  # no code of ISO 4217
            assert NETWORK.get_money_unit(Account("apple", "7001", code)).offset in (1, 100)


def test_the_client_secret_is_as_the_table_says(tables: Json) -> None:
    token = tables["token"]
    expected = token["client_secret_jwt"]
    pem = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    parts = sign_client_secret("SEARCHADS.1", "SEARCHADS.2", "key", pem.decode(), 1_793_800_000_000).split(".")
    header, claims = (loads(base64.urlsafe_b64decode(part + "==")) for part in parts[:2])
    assert set(header) == set(expected["header"])
    assert header["alg"] == expected["alg"]
    assert set(claims) == set(expected["claims"])
    assert claims["aud"] == expected["aud"]
    assert 0 < claims["exp"] - claims["iat"] == CLIENT_SECRET_LIFETIME <= expected["max_lifetime_days"] * 24 * 60 * 60
    connecting = [exchange for exchange in READS if build_request_url(exchange.request) == token["url"]]
    assert connecting
    for exchange in connecting:
        assert {name: exchange.request.body[name] for name in ("grant_type", "scope")} == {
            name: token[name] for name in ("grant_type", "scope")
        }
