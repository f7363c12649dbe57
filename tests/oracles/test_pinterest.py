"""Pinterest: requests, payloads and answers validate against its OpenAPI description (5.23.0)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import jsonschema
import pytest

from adsunify.adapter.metrics import ReportLevel
from adsunify.adapter.network import get_level
from adsunify.http.messages import build_request_url
from adsunify.networks.pinterest.native import CURRENCIES, PROMOTABLE_PIN_TYPES, STATUSES
from adsunify.networks.pinterest.reads import REPORT_COLUMNS
from adsunify.networks.pinterest.reports import ENTITY_COLUMNS, ID_PARAMETERS
from adsunify.networks.pinterest.tables import NETWORK, REPORT_LEVELS
from adsunify.networks.pinterest.targeting import AGE_CHOICES, LIST_CHOICES, TARGETING_MEMBERS
from adsunify.values.exact_json import Json

from .sources import Exchange, Write, exchanges, get_name, plain, writes

HOST = "https://api.pinterest.com/v5"
WRITES = writes("pinterest")
READS = [exchange for exchange in exchanges("pinterest") if build_request_url(exchange.request).startswith(HOST)]
"""A report's file lies on another host."""

Members = Mapping[str, Mapping[str, Json]]

NEWER: Members = {
    "OauthAccessTokenRequestCode": {"continuous_refresh": {"type": "string", "enum": ["true", "false"]}},
    "AdAccount": {"time_zone": {"type": "string", "nullable": True}},
    "TargetingSpec": {
        name: {"type": "array", "items": {"type": "string"}} for name in ("GEO_EXCLUDE", "LOCATION_EXCLUDE")
    },
}
"""Members that came after 5.23.0; those of payloads stand in the package's models of 5.28.0."""


@pytest.fixture(scope="module")
def document(spec: Callable[[str], Json]) -> Json:
    description = deepcopy(spec("pinterest/openapi-5.23.0-ads-subset.json"))
    for name, members in NEWER.items():
        description["components"]["schemas"][name]["properties"].update(members)
    return _nullable(description)


def _nullable(value: Json) -> Json:
    """OpenAPI 3.0's ``nullable`` as another type that the value may be of."""
    if isinstance(value, list):
        return [_nullable(element) for element in value]
    if not isinstance(value, dict):
        return value
    changed = {name: _nullable(member) for name, member in value.items()}
    if changed.pop("nullable", None) is True:
        return {"anyOf": [changed, {"type": "null"}]}
    return changed


def resolve_reference(document: Json, value: Json) -> Json:
    """What a reference stands for."""
    while "$ref" in value:
        target = document
        for part in value["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        value = target
    return value


def operation(document: Json, method: str, url: str) -> tuple[str, Mapping[str, Json]]:
    """The path and the description of what a request asks for; a fixed path goes before one with a slot."""
    path = urlsplit(url.removeprefix(HOST)).path
    for template in sorted(document["paths"], key=lambda template: template.count("{")):
        if re.fullmatch(re.sub(r"{\w+}", "[^/]+", template), path):
            description = document["paths"][template].get(method.lower())
            if description is not None:
                return template, description
    raise AssertionError(f"{method} {path} is not in the description")


# -- values against schemas ---------------------------------------------------------------------------------------


def problems(document: Json, schema: Json, value: Json) -> list[str]:
    """What is wrong with a value: by the schema, and members that no schema names."""
    schema = _choose_schema(document, schema, value)
    whole = {"allOf": [schema], "components": document["components"]}
    messages = [
        f"{'/'.join(map(str, error.absolute_path))}: {error.message}"[:300]
        for error in jsonschema.Draft4Validator(whole).iter_errors(value)
    ]
    return messages + [f"{place} is not in the schema" for place in unknown(document, schema, value)]


def _choose_schema(document: Json, schema: Json, value: Json) -> Json:
    """The schema that one member of the value decides on, such as the grant of a token."""
    target = resolve_reference(document, schema)
    if "discriminator" not in target or not isinstance(value, Mapping):
        return schema
    mapping = target["discriminator"]["mapping"]
    return {"$ref": mapping[value[target["discriminator"]["propertyName"]]]}


def unknown(document: Json, schema: Json, value: Json, at: str = "") -> Iterator[str]:
    """Members that the schema has no name for: the description does not close its objects."""
    shapes = list(_shapes(document, schema))
    if isinstance(value, list):
        items = [shape["items"] for shape in shapes if "items" in shape]
        for index, element in enumerate(value if items else ()):
            yield from unknown(document, {"allOf": items}, element, f"{at}/{index}")
    if not isinstance(value, Mapping):
        return
    members: dict[str, list[Json]] = {}
    for shape in shapes:
        for name, inner in shape.get("properties", {}).items():
            members.setdefault(name, []).append(inner)
    if not members or any("additionalProperties" in shape for shape in shapes):
        return
    for name, member in value.items():
        if name not in members:
            yield f"{at}/{name}"
        else:
            yield from unknown(document, {"allOf": members[name]}, member, f"{at}/{name}")


def _shapes(document: Json, schema: Json) -> Iterator[Mapping[str, Json]]:
    """The schema and all that it is put together from."""
    schema = resolve_reference(document, schema)
    yield schema
    for word in ("allOf", "anyOf", "oneOf"):
        for part in schema.get(word, ()):
            yield from _shapes(document, part)


# -- requests -----------------------------------------------------------------------------------------------------


def request_problems(document: Json, method: str, url: str, body: Json) -> list[str]:
    """What is wrong with a request: its query, and its body."""
    template, description = operation(document, method, url)
    described = [
        resolve_reference(document, parameter)
        for parameter in (*description.get("parameters", ()), *document["paths"][template].get("parameters", ()))
    ]
    messages = list(
        _query_problems(document, [parameter for parameter in described if parameter["in"] == "query"], url)
    )
    content = resolve_reference(document, description.get("requestBody", {})).get("content")
    if content is None:
        return messages if body is None else [*messages, "the operation takes no body"]
    (schema,) = (media_type["schema"] for media_type in content.values())
    return messages + problems(document, schema, body)


PLAIN: Mapping[str, Callable[[str], Json]] = {"integer": int, "boolean": lambda value: value == "true"}
"""How the texts of a query are read."""


def _query_problems(document: Json, described: list[Json], url: str) -> Iterator[str]:
    known = {parameter["name"]: parameter for parameter in described}
    values_by_name: dict[str, list[str]] = {}
    for name, value in parse_qsl(urlsplit(url).query, keep_blank_values=True):
        values_by_name.setdefault(name, []).append(value)
    yield from (f"{name} is no parameter" for name in values_by_name if name not in known)
    yield from (
        f"{name} is required"
        for name, parameter in known.items()
        if parameter.get("required") and name not in values_by_name
    )
    for name in values_by_name.keys() & known.keys():
        parameter = known[name]
        schema = resolve_reference(document, parameter["schema"])
        kind = schema.get("type")
        values: Json = values_by_name[name]
        if kind == "array":
            values = values if parameter.get("explode", True) else values[0].split(",")
        elif len(values) > 1:
            yield f"{name} stands there twice"
            continue
        else:
            values = PLAIN[kind](values[0]) if kind in PLAIN else values[0]
        yield from (f"{name}{message}" for message in problems(document, schema, values))


def test_there_is_something_to_hold() -> None:
    assert WRITES
    assert READS


@pytest.mark.parametrize("write", WRITES, ids=get_name)
def test_a_write_validates(write: Write, document: Json) -> None:
    assert request_problems(document, write.request.method, build_request_url(write.request), write.body) == []


@pytest.mark.parametrize("exchange", [exchange for exchange in READS if exchange.request.kind != "write"], ids=get_name)
def test_a_read_validates(exchange: Exchange, document: Json) -> None:
    assert request_problems(document, exchange.request.method, build_request_url(exchange.request), exchange.body) == []


@pytest.mark.parametrize("exchange", READS, ids=get_name)
def test_a_recorded_answer_validates(exchange: Exchange, document: Json) -> None:
    _, description = operation(document, exchange.request.method, build_request_url(exchange.request))
    if exchange.response.is_ok:
        (schema,) = (
            kind["schema"] for kind in description["responses"][str(exchange.response.status)]["content"].values()
        )
        assert problems(document, schema, plain(exchange.response.body)) == []


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"status": "ENABLED"}, "ENABLED"),
        ({"daily_spend_cap": "25.00"}, "25.00"),
        ({"colour": "red"}, "colour"),
        ({"objective_type": "TRAFFIC"}, "TRAFFIC"),
        ({"name": None}, "None"),
        ({"ad_account_id": "act-1"}, "act-1"),
    ],
)
def test_what_is_wrong_is_found(change: Mapping[str, Json], says: str, document: Json) -> None:
    write = next(write for write in WRITES if write.name.endswith("traffic-daily-campaign"))
    body = [{**write.body[0], **change}]
    assert any(
        says in message for message in request_problems(document, "POST", build_request_url(write.request), body)
    )


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("page_size=251", "251"),
        ("entity_statuses=RUNNING", "RUNNING"),
        ("limit=5", "limit"),
        ("page_size=1&page_size=2", "twice"),
    ],
)
def test_what_is_wrong_in_a_query_is_found(query: str, says: str, document: Json) -> None:
    url = f"{HOST}/ad_accounts/1/campaigns?{query}"
    assert any(says in message for message in request_problems(document, "GET", url, None))


# -- tables -------------------------------------------------------------------------------------------------------


def values(document: Json, name: str) -> set[str]:
    """The values of an enumeration."""
    (enumeration,) = {
        tuple(shape["enum"]) for shape in _shapes(document, document["components"]["schemas"][name]) if "enum" in shape
    }
    return set(enumeration)


def test_the_columns_exist(document: Json) -> None:
    at_once = resolve_reference(document, document["components"]["parameters"]["query_columns"])["schema"]["items"]
    columns = {*REPORT_COLUMNS, *(column for columns in ENTITY_COLUMNS.values() for column in columns)}
    assert columns <= set(resolve_reference(document, at_once)["enum"])
    assert columns <= values(document, "ReportingColumnAsync")


@pytest.mark.parametrize("level", REPORT_LEVELS, ids=lambda level: str(level.kind))
def test_the_levels_of_reports_exist(level: ReportLevel, document: Json) -> None:
    path = get_level(NETWORK, level.kind).path
    url = f"{HOST}/ad_accounts/1/{path}/analytics?{ID_PARAMETERS[level.kind]}=6&columns=SPEND_IN_MICRO_DOLLAR"
    days = "&start_date=2026-11-01&end_date=2026-11-03&granularity=DAY"
    assert request_problems(document, "GET", url + days, None) == []
    assert level.native in values(document, "MetricsReportingLevel")


def test_the_targeting_has_these_members(document: Json) -> None:
    described: dict[str, Any] = document["components"]["schemas"]["TargetingSpec"]["properties"]
    assert set(TARGETING_MEMBERS) == set(described)
    for name in TARGETING_MEMBERS:
        kinds = {shape["type"] for shape in _shapes(document, described[name]) if "type" in shape} - {"null"}
        assert kinds == ({"string"} if name in AGE_CHOICES else {"array"})
    assert set(LIST_CHOICES["AGE_BUCKET"]) == values(document, "TargetingSpecAgeBucket")


def test_the_statuses_are_those_of_the_filter(document: Json) -> None:
    schema = document["components"]["parameters"]["query_entity_statuses"]["schema"]
    assert set(STATUSES) == set(schema["items"]["enum"])


def test_currencies_and_kinds_of_pins_exist(document: Json) -> None:
    assert set(CURRENCIES) == values(document, "Currency") - {"UNK"}
    assert set(PROMOTABLE_PIN_TYPES) <= values(document, "CreativeType")
