"""Google Ads: payloads and answers parse with the official protocol buffers; queries name fields that exist."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from adsunify.http.messages import build_request_url
from adsunify.networks.registry import get_adapter
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_value

from .sources import Exchange, Write, exchanges, get_name, plain, refusals, writes

pytest.importorskip("google.ads.googleads.v26", reason="the package google-ads is in the dependency group oracles")

from google.ads.googleads.v26.errors.types.errors import ErrorCode, GoogleAdsFailure
from google.ads.googleads.v26.services.types.geo_target_constant_service import (
    SuggestGeoTargetConstantsRequest,
    SuggestGeoTargetConstantsResponse,
)
from google.ads.googleads.v26.services.types.google_ads_service import (
    GoogleAdsRow,
    MutateGoogleAdsRequest,
    MutateGoogleAdsResponse,
    SearchGoogleAdsRequest,
    SearchGoogleAdsResponse,
)
from google.protobuf import json_format

NETWORKS = ("GoogleSearch", "SearchNetwork", "ContentNetwork", "PartnerSearchNetwork")
MUTATE, SEARCH, SUGGEST = "/googleAds:mutate", "/googleAds:search", "/geoTargetConstants:suggest"
PRESENT = {"explicitlyShared", "negative", *(f"target{network}" for network in NETWORKS)}
"""Flags whose false is written, since their absence means something else."""
CUSTOMER = re.compile(r"/customers/([0-9]+)/").search
FIELD = re.compile(r"\b[a-z_]+(?:\.[a-z_0-9]+)+\b")

WRITES, READS = writes("google"), exchanges("google")
FAILURES = [exchange for exchange in refusals("google") if get_value(exchange.response.body, "/error/details/0/errors")]


def parse_message(message: Any, value: Json, **more: Any) -> Any:
    """The protocol buffer; ParseError for an unknown name, a wrong enum, two members of a oneof."""
    return json_format.ParseDict({**plain(value), **more}, message.pb(message()))


def customer(url: str) -> str:
    match = CUSTOMER(url)
    assert match is not None, url
    return match.group(1)


def test_there_is_something_to_hold() -> None:
    assert WRITES
    assert READS


WRONG = (
    ("startDate", "2027-03-01"),  # gone since v23
    ("status", "ACTIVE"),
    ("targetSpend", {}),  # a second bidding strategy
    ("networkSettings", {"targetEverything": True}),
)


def wrong_campaign(name: str, value: Json) -> Json:
    return {"mutateOperations": [{"campaignOperation": {"create": {"manualCpc": {}, name: value}}}]}


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_what_is_wrong_does_not_parse(name: str, value: Json) -> None:
    with pytest.raises(json_format.ParseError):
        parse_message(MutateGoogleAdsRequest, wrong_campaign(name, value))


# -- writes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("write", WRITES, ids=get_name)
def test_a_mutate_parses_and_comes_back(write: Write) -> None:
    url = build_request_url(write.request)
    assert url.endswith(MUTATE)
    message = parse_message(MutateGoogleAdsRequest, write.body, customerId=customer(url))
    back = json_format.MessageToDict(message)
    del back["customerId"]
    assert back == drop_defaults(write.body)


def drop_defaults(value: Json) -> Json:
    """The value without what protocol buffers do not write: false, which is the default."""
    if isinstance(value, Mapping):
        return {name: drop_defaults(member) for name, member in value.items() if member is not False or name in PRESENT}
    return [drop_defaults(element) for element in value] if isinstance(value, list) else value


@pytest.mark.parametrize("write", WRITES, ids=get_name)
def test_names_stand_before_their_use_and_once(write: Write) -> None:
    """Temporary names: negative, unique over the whole request, defined by an earlier operation than their use."""
    defined: set[str] = set()
    for operation in write.body["mutateOperations"]:
        for place, text in texts(operation):
            if not re.search(r"/-[0-9]+$", text):
                continue
            if place.endswith("/create/resourceName"):
                number = text.rpartition("/")[2]
                assert number not in {other.rpartition("/")[2] for other in defined}
                defined.add(text)
            else:
                assert text in defined, place


def texts(value: Json, at: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield at, value
    elif isinstance(value, Mapping):
        for name, member in value.items():
            yield from texts(member, f"{at}/{name}")
    elif isinstance(value, list):
        for index, element in enumerate(value):
            yield from texts(element, f"{at}/{index}")


@pytest.mark.parametrize("write", WRITES, ids=get_name)
def test_masks_name_what_is_sent(write: Write) -> None:
    """A member that no mask names would be passed over; a masked one that is not sent is cleared."""
    message = parse_message(MutateGoogleAdsRequest, write.body, customerId="1")
    for operation, sent in zip(message.mutate_operations, write.body["mutateOperations"], strict=True):
        kind = operation.WhichOneof("operation")
        inner = getattr(operation, kind)
        if inner.WhichOneof("operation") != "update":
            continue
        paths = list(inner.update_mask.paths)
        assert paths
        for path in paths:
            assert resolves(inner.update.DESCRIPTOR, path.split(".")), path
        members = {name for name in next(iter(sent.values()))["update"] if name != "resourceName"}
        masked = {camel(path.split(".")[0]) for path in paths}
        assert members <= masked, (members, masked)


def camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def resolves(descriptor: Any, parts: list[str]) -> bool:
    """Whether a path of field names exists below a message; ``type`` is called ``type_`` there."""
    for index, part in enumerate(parts):
        field = descriptor.fields_by_name.get(part) or descriptor.fields_by_name.get(f"{part}_")
        if field is None:
            return False
        if index < len(parts) - 1:
            if field.message_type is None:
                return False
            descriptor = field.message_type
    return True


# -- reads --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("exchange", READS, ids=get_name)
def test_a_read_and_its_answer_parse(exchange: Exchange) -> None:
    url, body = build_request_url(exchange.request), exchange.body
    good = exchange.response.state == "json" and exchange.response.is_ok
    if url.endswith(SEARCH):
        parse_message(SearchGoogleAdsRequest, body, customerId=customer(url))
        if good:
            parse_message(SearchGoogleAdsResponse, exchange.response.body)
    elif url.endswith(SUGGEST):
        parse_message(SuggestGeoTargetConstantsRequest, body)
        if good:
            parse_message(SuggestGeoTargetConstantsResponse, exchange.response.body)
    elif url.endswith(MUTATE) and good:
        message = parse_message(MutateGoogleAdsResponse, exchange.response.body)
        assert len(message.mutate_operation_responses) == len(body["mutateOperations"])


QUERIES = {
    exchange.name: exchange.body["query"] for exchange in READS if build_request_url(exchange.request).endswith(SEARCH)
}


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_names_fields_that_exist(name: str) -> None:
    row = GoogleAdsRow.pb(GoogleAdsRow()).DESCRIPTOR
    query = re.sub(r"'(?:[^'\\]|\\.)*'", "''", QUERIES[name])
    fields = set(FIELD.findall(query))
    assert fields
    assert [field for field in fields if not resolves(row, field.split("."))] == []
    resource = re.search(r"\bFROM ([a-z_]+)", query)
    assert resource is not None
    assert resource.group(1) in row.fields_by_name


@pytest.mark.parametrize("exchange", FAILURES, ids=get_name)
def test_a_recorded_failure_parses(exchange: Exchange) -> None:
    """Strictly, but for the names of codes: cases may bring ones that are newer than the protocol buffers."""
    details = plain(get_value(exchange.response.body, "/error/details/0"))
    details.pop("@type", None)
    for error in details["errors"]:
        for category in error.pop("errorCode", {}):
            assert category in {camel(name) for name in ErrorCode.pb(ErrorCode()).DESCRIPTOR.fields_by_name}
    parse_message(GoogleAdsFailure, details)


def test_each_code_of_errors_exists() -> None:
    """The codes of the table, as the failure spells them: ``campaignError.DUPLICATE_CAMPAIGN_NAME``."""
    for rule in get_adapter("google").network.errors:
        for code in rule.codes:
            category, dot, name = code.partition(".")
            if dot and name:
                parse_message(GoogleAdsFailure, {"errors": [{"errorCode": {category: name}}]})


# -- the same names in the published data --------------------------------------------------------------------------


@pytest.mark.parametrize("write", WRITES, ids=get_name)
def test_names_and_enums_are_in_the_data(write: Write, spec: Callable[[str], Json]) -> None:
    data = spec("google/google-ads-v26.json")
    unknown = [wrong for operation in write.body["mutateOperations"] for wrong in wrongs(data, operation)]
    assert unknown == []


def wrongs(data: Json, value: Json, kind: str = "services.MutateOperation", at: str = "") -> Iterator[str]:
    """Names and enum values that a message of this kind does not have; messages that the data leaves out pass."""
    members = data["messages"].get(kind)
    if members is None or not isinstance(value, Mapping):
        return
    for name, member in value.items():
        if name not in members:
            yield f"{at}/{name}"
            continue
        sort, _, what = members[name]["type"].partition(" ")
        for inner in member if isinstance(member, list) else [member]:
            if sort == "enum" and what in data["enums"] and inner not in data["enums"][what]:
                yield f"{at}/{name}: {inner}"
            yield from wrongs(data, inner, members[name]["type"], f"{at}/{name}")


def test_what_is_wrong_is_not_in_the_data(spec: Callable[[str], Json]) -> None:
    data = spec("google/google-ads-v26.json")
    messages = [
        list(wrongs(data, wrong_campaign(name, value)["mutateOperations"][0]))
        for name, value in WRONG
        if name != "targetSpend"
    ]
    assert all(messages)


def test_countries_are_those_of_the_data(spec: Callable[[str], Json]) -> None:
    """A country's geo target is 2000 and its number."""
    geo_targets = {str(number) for number in spec("google/country-geo-targets.json")["countries"].values()}
    for write in WRITES:
        for _, text in texts(write.body):
            match = re.fullmatch(r"geoTargetConstants/(2[0-9]{3})", text)
            if match:
                assert match.group(1) in geo_targets
