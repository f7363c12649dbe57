"""X: addresses, parameters and enums are those of X's documentation; signatures those of oauthlib and X's own SDK."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as some

from adsunify.adapter.account import Account
from adsunify.adapter.network import get_level
from adsunify.adapter.oauth import Credentials, OAuthClient
from adsunify.http.messages import Request, build_request_url
from adsunify.networks.registry import get_adapter
from adsunify.networks.x import native, reads, targeting
from adsunify.networks.x.native import authorize_request
from adsunify.networks.x.reads import TOKEN_SECRET_EXTRA, fetch_credentials, fetch_request_token
from adsunify.values.exact_json import Json, loads
from adsunify.values.json_pointer import get_value

from .sources import Exchange, Write, exchanges, get_name, refusals, writes
from .tables import choices, find_template, statuses, unknown_values

pytest.importorskip("twitter_ads", reason="the package twitter-ads is in the dependency group oracles")

from oauthlib.oauth1 import Client as Signer

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # escapes and the clock of the package's own code
    from twitter_ads import enum as sdk_enum
    from twitter_ads.account import Account as SdkAccount
    from twitter_ads.campaign import Campaign, LineItem, TargetingCriteria
    from twitter_ads.client import Client
    from twitter_ads.creative import PromotedTweet
    from twitter_ads.http import Request as SdkRequest

NETWORK = get_adapter("x").network
WRITES, READS, FAILURES = writes("x"), exchanges("x"), refusals("x")
UNTABLED = ("/12/accounts/:account_id/custom_audiences",)
"""An address that the documentation has and the table has not."""

OMITTED = ("end_time",)
"""Required by the table, left out by the documentation's own example of the same version."""

TYPES: Mapping[str, Callable[[str], bool]] = {
    "int": lambda value: value.isdigit(),
    "long": lambda value: value.removeprefix("-").isdigit(),
    "boolean": lambda value: value in ("true", "false"),
}
APP, TOKEN, SECRET = OAuthClient("consumer", "consumer & secret"), "7588892-token", "token secret/+"

Endpoint = Mapping[str, Any]
FindEndpoint = Callable[[str, str], Endpoint | None]


@pytest.fixture(scope="module")
def find_endpoint(spec: Callable[[str], Json]) -> FindEndpoint:
    """The endpoint of a method and an address."""
    table = spec("x/endpoints-v12.json")
    enums = {
        parameter["name"]: parameter["enum"]
        for endpoint in table["endpoints"]
        if endpoint["path"].startswith("/12/stats/accounts/:account_id")
        for parameter in endpoint["parameters"]
        if "enum" in parameter
    }

    @cache
    def find(method: str, path: str) -> Endpoint | None:
        endpoints = {endpoint["path"]: endpoint for endpoint in table["endpoints"] if endpoint["method"] == method}
        template = find_template(endpoints, path)
        if template is None:
            return None
        # the asynchronous reports name no values: they are those of the synchronous ones
        shared = enums if template.startswith("/12/stats/") else {}
        parameters = [
            {**({"enum": shared[parameter["name"]]} if parameter["name"] in shared else {}), **parameter}
            for parameter in endpoints[template]["parameters"]
        ]
        return {**endpoints[template], "parameters": parameters}

    return find


def wrongs(endpoint: Endpoint, sent: Mapping[str, str]) -> Iterator[str]:
    """What the endpoint does not take of its parameters."""
    known = {parameter["name"]: parameter for parameter in endpoint["parameters"] if parameter["in"] != "path"}
    for name, parameter in known.items():
        if parameter["required"] and name not in sent and name not in OMITTED and endpoint["method"] != "DELETE":
            yield f"{name} is missing"
    for name, value in sent.items():
        parameter = known.get(name)
        if parameter is None:
            yield f"{name} is no parameter"
            continue
        if value == "" and endpoint["method"] == "PUT":
            continue  # an empty value clears
        if not TYPES.get(parameter.get("type", ""), lambda value: True)(value):
            yield f"{name} is no {parameter['type']}: {value}"
        elif (
            not parameter.get("minimum", 0)
            <= (int(value) if parameter.get("type") == "int" else 0)
            <= parameter.get("maximum", 10**9)
        ):
            yield f"{name} is out of bounds: {value}"
        for part in value.split(",") if "enum" in parameter else ():
            if part not in parameter["enum"]:
                yield f"{name} is not {part}"
        if len(value) > parameter.get("maxLength", len(value)) or value.count(",") >= parameter.get(
            "maxIds", len(value) + 1
        ):
            yield f"{name} is too long"


def operations(find_endpoint: FindEndpoint, path: str, endpoint: Endpoint, body: Json) -> Iterator[str]:
    """What a batch does not take: each creation has the parameters of the single call."""
    single = find_endpoint("POST", path.replace("/batch", ""))
    assert single is not None
    if not isinstance(body, list) or not 0 < len(body) <= endpoint["maxItems"]:
        yield f"a batch has 1 to {endpoint['maxItems']} operations"
        return
    for operation in body:
        if set(operation) != {parameter["name"] for parameter in endpoint["parameters"] if parameter["in"] == "body"}:
            yield f"an operation has no {', '.join(operation)}"
        yield from wrongs(
            {**endpoint, "parameters": [{**parameter, "required": False} for parameter in endpoint["parameters"]]},
            {"operation_type": operation["operation_type"]},
        )
        if operation["operation_type"] == "Create":
            yield from wrongs(single, operation["params"])
        elif set(operation["params"]) != {"targeting_criterion_id"}:
            yield f"{operation['operation_type']} takes the criterion's id"


def query(request: Request) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(build_request_url(request)).query, keep_blank_values=True))


def problems(find_endpoint: FindEndpoint, request: Request, body: Json) -> list[str]:
    path = urlsplit(build_request_url(request)).path
    endpoint = find_endpoint(request.method, path)
    assert endpoint is not None, f"{request.method} {path} is in no table"
    if "/batch/" in path:
        return [*operations(find_endpoint, path, endpoint, body), *(f"{name} in the query" for name in query(request))]
    return [*wrongs(endpoint, query(request)), *(["it takes no body"] if body is not None else [])]


def test_there_is_something_to_hold() -> None:
    assert WRITES
    assert READS
    assert FAILURES


# -- the documentation's tables ------------------------------------------------------------------------------------


@pytest.mark.parametrize("write", WRITES, ids=get_name)
def test_a_write_is_described(write: Write, find_endpoint: FindEndpoint) -> None:
    assert urlsplit(build_request_url(write.request)).netloc == native.HOST
    assert problems(find_endpoint, write.request, write.body) == []


@pytest.mark.parametrize("exchange", READS, ids=get_name)
def test_a_read_and_its_answer_are_described(exchange: Exchange, find_endpoint: FindEndpoint) -> None:
    address = urlsplit(build_request_url(exchange.request))
    # what cases record of a write leaves out what is bound: the plan's own writes are held above
    if address.netloc != native.HOST or exchange.request.kind == "write" or find_template(UNTABLED, address.path):
        return
    assert problems(find_endpoint, exchange.request, exchange.body) == []
    endpoint = find_endpoint(exchange.request.method, address.path)
    assert endpoint is not None
    known = endpoint.get("response", {}).get("fields", ())
    data = (
        get_value(exchange.response.body, "/data")
        if exchange.response.state == "json" and exchange.response.is_ok
        else None
    )
    if known and "/stats/" not in address.path:
        rows = data if isinstance(data, list) else [data]
        assert sorted({name for row in rows if isinstance(row, Mapping) for name in row} - set(known)) == []


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"entity_status": "ENABLED"}, "entity_status is not ENABLED"),
        ({"colour": "red"}, "colour is no parameter"),
        ({"name": "x" * 256}, "name is too long"),
        ({"daily_budget_amount_local_micro": "42.5"}, "is no long"),
        ({"standard_delivery": "yes"}, "is no boolean"),
        ({"funding_instrument_id": None}, "funding_instrument_id is missing"),
    ],
)
def test_what_is_wrong_is_found(change: Mapping[str, str | None], says: str, find_endpoint: FindEndpoint) -> None:
    write = next(write for write in WRITES if write.step.kind == "campaign" and write.request.method == "POST")
    changed = {name: value for name, value in {**query(write.request), **change}.items() if value is not None}
    messages = problems(find_endpoint, evolve(write.request, query=changed), None)
    assert any(says in problem for problem in messages)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"targeting_type": "COLOUR"}, "targeting_type is not COLOUR"),
        ({"operator_type": "LIKE"}, "operator_type is not LIKE"),
        ({"id": "7"}, "id is no parameter"),
    ],
)
def test_what_is_wrong_in_a_batch_is_found(change: Mapping[str, str], says: str, find_endpoint: FindEndpoint) -> None:
    write = next(write for write in WRITES if "/batch/" in build_request_url(write.request))
    first = write.body[0]
    messages = problems(find_endpoint, write.request, [{**first, "params": {**first["params"], **change}}])
    assert says in messages
    assert problems(find_endpoint, write.request, [{**first, "operation_type": "Upsert"}])
    assert problems(find_endpoint, write.request, [first] * 501)


def parameters(find_endpoint: FindEndpoint, method: str, path: str) -> dict[str, Any]:
    endpoint = find_endpoint(method, path)
    assert endpoint is not None
    return {parameter["name"]: parameter for parameter in endpoint["parameters"] if parameter["in"] == "query"}


LEVELS = {
    "campaign": "/12/accounts/abc/campaigns",
    "adGroup": "/12/accounts/abc/line_items",
    "ad": "/12/accounts/abc/promoted_tweets",
}


@pytest.mark.parametrize("kind", LEVELS)
def test_the_names_of_a_level_are_the_tables(kind: str, find_endpoint: FindEndpoint) -> None:
    create_parameters = parameters(find_endpoint, "POST", LEVELS[kind])
    assert set(get_level(NETWORK, kind).payload.create) == set(create_parameters)
    required = {name for name, parameter in create_parameters.items() if parameter["required"]} - set(OMITTED)
    assert set(native.REQUIRED_MEMBERS[kind]) == required
    if kind != "ad":
        assert set(get_level(NETWORK, kind).payload.update) == set(
            parameters(find_endpoint, "PUT", f"{LEVELS[kind]}/7")
        )
    for template in NETWORK.templates:
        if template.kind == kind:
            sent = {name: native.format_parameter(value, name) for name, value in template.payload.items()}
            endpoint = find_endpoint("POST", LEVELS[kind])
            assert endpoint is not None
            assert list(wrongs(endpoint, sent)) == []


def test_values_are_the_tables(spec: Callable[[str], Json], find_endpoint: FindEndpoint) -> None:
    data = spec("x/enums-errors-metrics.json")
    enums = data["enums"]
    assert statuses(NETWORK, "campaign") == statuses(NETWORK, "adGroup") == set(enums["entity_status"])
    assert set(native.BID_STRATEGIES) == set(enums["bid_strategy"])
    assert set(native.LOCATION_TYPES) == set(enums["location_type"])
    assert set(targeting.OPERATORS) == set(enums["operator_type"])
    assert set(targeting.AGE_BUCKETS) == set(enums["age_bucket"])
    assert set(targeting.GENDERS.values()) == set(enums["gender"])
    assert {name: enums["gender"][number] for name, number in targeting.GENDERS.items()} == {
        name: name for name in targeting.GENDERS
    }
    assert unknown_values(targeting.KEYWORD_TYPES.values(), enums["targeting_type"]) == []
    assert set(targeting.CRITERION_TYPES) == set(enums["targeting_type"])
    assert set(reads.PLACEMENTS) == set(enums["analytics_placement"])
    assert (
        unknown_values(
            {*native.OBJECTIVES_WITHOUT_MAX_BID, *native.CAPPED_OBJECTIVES, native.WEBSITE_CLICKS}, enums["objective"]
        )
        == []
    )


def test_settings_choose_from_the_tables(find_endpoint: FindEndpoint) -> None:
    for place, values in choices(NETWORK).items():
        kind, _, name = place.partition("/")
        known = parameters(find_endpoint, "PUT", f"{LEVELS[kind]}/7")[name]["enum"]
        assert set(values) == set(known), place


def test_currencies_count_as_in_the_table(spec: Callable[[str], Json]) -> None:
    data = dict(spec("x/enums-errors-metrics.json")["enums"]["currency_decimals"])
    usual = data.pop("default")
    digits_by_code = {code: int(digits) for digits, codes in data.items() for code in codes} | dict.fromkeys(
        ("USD", "EUR"), usual
    )
    unit = NETWORK.get_money_unit
    assert {code: unit(Account("x", "abc", code)).step for code in digits_by_code} == {
        code: 10 ** (6 - digits) for code, digits in digits_by_code.items()
    }


def test_metrics_are_in_a_group_that_is_asked_for(spec: Callable[[str], Json]) -> None:
    groups = spec("x/enums-errors-metrics.json")["metricGroups"]
    metrics = {metric for names in reads.METRIC_GROUPS for group in names.split(",") for metric in groups[group]}
    assert unknown_values((metric.native.split("/")[1] for metric in NETWORK.metrics), metrics) == []


def test_codes_of_errors_exist(spec: Callable[[str], Json]) -> None:
    rows = spec("x/enums-errors-metrics.json")["errorCodes"]
    known = {row["code"] for row in rows} | {native.OPERATION_ERROR}
    assert unknown_values((code for rule in NETWORK.errors for code in rule.codes), known) == []
    locked = {row["code"] for row in rows if row["http"] == 423}
    assert locked, "a status without a code has its row"


# -- the SDK's names -----------------------------------------------------------------------------------------------

ENTITIES = {"campaign": Campaign, "adGroup": LineItem, "targeting": TargetingCriteria, "ad": PromotedTweet}
NEWER = {
    "campaign": {"purchase_order_number"},
    "adGroup": {"daily_budget_amount_local_micro", "standard_delivery", "duration_in_days", "frequency_cap"},
    "targeting": set(),
    "ad": {"tweet_ids"},
}
"""Parameters of version 12 that the SDK, which is of version 11, has not as properties; it attaches ``tweet_ids``."""


def test_names_are_properties_of_the_sdk() -> None:
    for level in NETWORK.levels:
        kind, names = level.kind, level.payload.create
        writable = {name for name, how in ENTITIES[kind].PROPERTIES.items() if not how.get("readonly")}
        assert set(names) - writable <= NEWER[kind], kind
        assert NEWER[kind] <= set(names), kind


def values(enum: Any) -> set[str]:
    return {value for name, value in vars(enum).items() if not name.startswith("_")}


def test_values_are_of_the_sdk() -> None:
    newer = {"APP_PURCHASES", "SITE_VISITS"}  # goals of version 12
    assert set(native.STATUSES) == values(sdk_enum.ENTITY_STATUS)
    assert set(native.LINE_ITEM_GOALS) - newer == values(sdk_enum.GOAL)
    assert set(native.AUDIENCE_EXPANSIONS) == values(sdk_enum.LOOKALIKE_EXPANSION)
    assert set(targeting.AGE_BUCKETS) == values(sdk_enum.AGE_BUCKET)
    assert native.WEBSITE_CLICKS in values(sdk_enum.OBJECTIVE)
    assert native.PROMOTED_POSTS in values(sdk_enum.PRODUCT)
    assert native.ALL_PLACEMENTS in values(sdk_enum.PLACEMENT)
    assert {group for names in reads.METRIC_GROUPS for group in names.split(",")} <= values(sdk_enum.METRIC_GROUP)


# -- what the SDK sends --------------------------------------------------------------------------------------------


@contextmanager
def record_requests() -> Iterator[tuple[str, list[tuple[str, str, bytes, str]]]]:
    """A server on this machine that keeps what it is sent: method, target, body, Authorization."""
    requests: list[tuple[str, str, bytes, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            requests.append((self.command, self.path, body, self.headers["Authorization"]))
            reply = b'{"data": [{}]}' if "promoted_tweets" in self.path and self.command == "POST" else b'{"data": {}}'
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        do_GET = do_POST = do_PUT = do_DELETE = answer

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as the base class has it
            return

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", requests
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def sdk(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[SdkAccount, str, list[tuple[str, str, bytes, str]]]]:
    """An account of the SDK, whose requests come here."""
    with record_requests() as (url, requests):
        monkeypatch.setattr(SdkRequest, "_DEFAULT_DOMAIN", url)
        account = SdkAccount(Client(APP.client_id, APP.client_secret, TOKEN, SECRET))
        account._id = "abc12"
        yield account, url, requests


def send_by_sdk(account: SdkAccount, write: Write) -> None:
    """The SDK does what the write does."""
    sent, path = query(write.request), urlsplit(build_request_url(write.request)).path
    account._id = path.split("/accounts/")[1].split("/")[0]
    kind = ENTITIES[write.step.kind]
    if "/batch/" in path:
        entities = []
        for operation in write.body:
            entity = kind(account)
            for name, value in operation["params"].items():
                setattr(entity, name, value)
            entities.append(entity)
        kind.batch_save(account, entities)
    elif write.request.method == "POST":
        (kind.attach if kind is PromotedTweet else kind.create)(account, **sent)
    else:
        entity = kind(account)
        entity._id = path.rpartition("/")[2]
        for name, value in sent.items():
            setattr(entity, name, value)
        entity.save() if write.request.method == "PUT" else entity.delete()


def fields(header: str) -> dict[str, str]:
    """The parameters of an ``Authorization: OAuth`` header."""
    assert header.startswith("OAuth ")
    pairs = (part.strip().partition("=")[::2] for part in header.removeprefix("OAuth ").split(","))
    return {name: unquote(value.strip('"')) for name, value in pairs}


def is_sendable(write: Write) -> bool:
    """Whether the SDK can send it: what it has properties for, and no deletion in a batch."""
    known = {*ENTITIES[write.step.kind].PROPERTIES, "tweet_ids"} if write.step.kind in ENTITIES else set()
    operations = write.body or []
    return (
        bool(known)
        and all(value for value in query(write.request).values())
        and (write.request.method != "PUT" or set(query(write.request)) <= known)
        and all(operation["operation_type"] == "Create" for operation in operations)
    )


SENDABLE = tuple(write for write in WRITES if is_sendable(write))


def test_the_sdk_sends_most_of_them() -> None:
    assert {write.step.kind for write in SENDABLE} == set(ENTITIES)
    assert {write.request.method for write in SENDABLE} == {"POST", "PUT", "DELETE"}


@pytest.mark.filterwarnings("ignore")  # the package's own code
@pytest.mark.parametrize("write", SENDABLE, ids=get_name)
def test_a_write_is_sent_and_signed_as_by_the_sdk(
    write: Write, sdk: tuple[SdkAccount, str, list[tuple[str, str, bytes, str]]]
) -> None:
    account, url, requests = sdk
    send_by_sdk(account, write)
    method, target, body, header = requests[0]
    address = urlsplit(target)
    assert method == write.request.method
    assert address.path == urlsplit(build_request_url(write.request)).path.replace("/12/", "/11/", 1)
    sent = dict(parse_qsl(address.query))
    if method == "PUT":  # the SDK repeats the id of the path
        assert sent["id"] == address.path.rpartition("/")[2]
    assert {name: value for name, value in sent.items() if name != "id"} == query(write.request)
    if write.body is not None:
        assert loads(body) == write.body
    theirs = fields(header)
    moved = evolve(write.request, url=write.request.url.replace(f"https://{native.HOST}/12/", f"{url}/11/"), query=sent)
    ours = authorize_request(moved, APP, int(theirs["oauth_timestamp"]) * 1000, theirs["oauth_nonce"], TOKEN, SECRET)
    assert fields(ours.headers["Authorization"]) == theirs


# -- signatures ----------------------------------------------------------------------------------------------------


def by_oauthlib(request: Request, ours: Mapping[str, str], secret: str) -> dict[str, str]:
    """The header that oauthlib makes of the same request, app, token, nonce and time."""
    signer = Signer(
        APP.client_id,
        APP.client_secret,
        ours.get("oauth_token"),
        secret or None,
        ours.get("oauth_callback"),
        verifier=ours.get("oauth_verifier"),
        nonce=ours["oauth_nonce"],
        timestamp=ours["oauth_timestamp"],
    )
    body = request.body if request.encoding == "form" else None
    headers = {"Content-Type": "application/x-www-form-urlencoded"} if body is not None else {}
    _, signed, _ = signer.sign(build_request_url(request), request.method, body, headers)
    return fields(signed["Authorization"])


@pytest.mark.parametrize("sample", [*WRITES, *READS], ids=get_name)
def test_a_request_is_signed_as_by_oauthlib(sample: Write | Exchange) -> None:
    if not sample.request.is_signed:
        return  # the legs of the consent: see below
    host = urlsplit(build_request_url(sample.request)).netloc
    unsigned_request = evolve(sample.request, headers={})
    signed = get_adapter("x").credential_flows.sign_request(
        unsigned_request, Credentials(TOKEN, extras={TOKEN_SECRET_EXTRA: SECRET}), APP, 1_793_800_000_000, "n1"
    )
    if host == native.DOWNLOAD_HOST:
        assert "Authorization" not in signed.headers
        return
    ours = fields(signed.headers["Authorization"])
    assert ours == by_oauthlib(sample.request, ours, SECRET)


words = some.text(some.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=1, max_size=12)


@settings(deadline=None)
@given(some.dictionaries(words, words, max_size=5), words, words, words, some.booleans())
def test_any_request_is_signed_as_by_oauthlib(
    sent: dict[str, str], nonce: str, token: str, more: str, form: bool
) -> None:
    """Also what must be encoded, and what must be sorted after it was."""
    request = Request("POST", f"{native.API_URL}/accounts", query={} if form else sent)
    if form:
        request = evolve(request, body=sent, encoding="form")
    for named_more in ({"oauth_callback": more}, {"oauth_verifier": more}, {}):
        signed = authorize_request(request, APP, 1_793_800_000_000, nonce, token, more, **named_more)
        ours = fields(signed.headers["Authorization"])
        assert ours == by_oauthlib(request, ours, more)


def test_the_legs_of_the_consent_are_signed_as_by_oauthlib() -> None:
    callback = "https://ads.example/connect/callback/x"
    first = next(fetch_request_token(APP, callback, "state", 1_793_800_000_000))
    ours = fields(first.headers["Authorization"])
    assert ours["oauth_callback"] == callback
    assert "oauth_token" not in ours
    assert ours == by_oauthlib(first, ours, "")
    answer = {"oauth_token": "request-token", "oauth_verifier": "proof"}
    last = next(fetch_credentials(APP, callback, answer, "request secret", 1_793_800_000_000))
    ours = fields(last.headers["Authorization"])
    assert (ours["oauth_token"], ours["oauth_verifier"]) == ("request-token", "proof")
    assert ours == by_oauthlib(last, ours, "request secret")


def test_a_wrong_signature_is_found() -> None:
    write = WRITES[0]
    ours = fields(
        authorize_request(write.request, APP, 1_793_800_000_000, "n1", TOKEN, SECRET).headers["Authorization"]
    )
    for wrong in (
        by_oauthlib(write.request, ours, "another secret"),
        by_oauthlib(evolve(write.request, method="PUT"), ours, SECRET),
        by_oauthlib(evolve(write.request, query={**write.request.query, "name": "other"}), ours, SECRET),
    ):
        assert wrong != ours
