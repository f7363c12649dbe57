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

from .sources import Exchange, Write, exchanges, named, plain, refusals, writes

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
FAILURES = [one for one in refusals("google") if get_value(one.response.body, "/error/details/0/errors")]


def parsed(message: Any, value: Json, **more: Any) -> Any:
    """The protocol buffer; ParseError for an unknown name, a wrong enum, two members of a oneof."""
    return json_format.ParseDict({**plain(value), **more}, message.pb(message()))


def customer(url: str) -> str:
    found = CUSTOMER(url)
    assert found is not None, url
    return found.group(1)


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
        parsed(MutateGoogleAdsRequest, wrong_campaign(name, value))


# -- writes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("one", WRITES, ids=named)
def test_a_mutate_parses_and_comes_back(one: Write) -> None:
    url = build_request_url(one.request)
    assert url.endswith(MUTATE)
    message = parsed(MutateGoogleAdsRequest, one.body, customerId=customer(url))
    back = json_format.MessageToDict(message)
    del back["customerId"]
    assert back == told(one.body)


def told(value: Json) -> Json:
    """The value without what protocol buffers do not write: false, which is the default."""
    if isinstance(value, Mapping):
        return {name: told(one) for name, one in value.items() if one is not False or name in PRESENT}
    return [told(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize("one", WRITES, ids=named)
def test_names_stand_before_their_use_and_once(one: Write) -> None:
    """Temporary names: negative, unique over the whole request, defined by an earlier operation than their use."""
    defined: set[str] = set()
    for operation in one.body["mutateOperations"]:
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
        for name, one in value.items():
            yield from texts(one, f"{at}/{name}")
    elif isinstance(value, list):
        for index, one in enumerate(value):
            yield from texts(one, f"{at}/{index}")


@pytest.mark.parametrize("one", WRITES, ids=named)
def test_masks_name_what_is_sent(one: Write) -> None:
    """A member that no mask names would be passed over; a masked one that is not sent is cleared."""
    message = parsed(MutateGoogleAdsRequest, one.body, customerId="1")
    for operation, sent in zip(message.mutate_operations, one.body["mutateOperations"], strict=True):
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


@pytest.mark.parametrize("one", READS, ids=named)
def test_a_read_and_its_answer_parse(one: Exchange) -> None:
    url, body = build_request_url(one.request), one.body
    good = one.response.state == "json" and one.response.is_ok
    if url.endswith(SEARCH):
        parsed(SearchGoogleAdsRequest, body, customerId=customer(url))
        if good:
            parsed(SearchGoogleAdsResponse, one.response.body)
    elif url.endswith(SUGGEST):
        parsed(SuggestGeoTargetConstantsRequest, body)
        if good:
            parsed(SuggestGeoTargetConstantsResponse, one.response.body)
    elif url.endswith(MUTATE) and good:
        message = parsed(MutateGoogleAdsResponse, one.response.body)
        assert len(message.mutate_operation_responses) == len(body["mutateOperations"])


QUERIES = {one.name: one.body["query"] for one in READS if build_request_url(one.request).endswith(SEARCH)}


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


@pytest.mark.parametrize("one", FAILURES, ids=named)
def test_a_recorded_failure_parses(one: Exchange) -> None:
    """Strictly, but for the names of codes: cases may bring ones that are newer than the protocol buffers."""
    details = plain(get_value(one.response.body, "/error/details/0"))
    details.pop("@type", None)
    for error in details["errors"]:
        for category in error.pop("errorCode", {}):
            assert category in {camel(name) for name in ErrorCode.pb(ErrorCode()).DESCRIPTOR.fields_by_name}
    parsed(GoogleAdsFailure, details)


def test_each_code_of_errors_exists() -> None:
    """The codes of the table, as the failure spells them: ``campaignError.DUPLICATE_CAMPAIGN_NAME``."""
    for rule in get_adapter("google").network.errors:
        for code in rule.codes:
            category, dot, name = code.partition(".")
            if dot and name:
                parsed(GoogleAdsFailure, {"errors": [{"errorCode": {category: name}}]})


# -- the same names in the published data --------------------------------------------------------------------------


@pytest.mark.parametrize("one", WRITES, ids=named)
def test_names_and_enums_are_in_the_data(one: Write, spec: Callable[[str], Json]) -> None:
    data = spec("google/google-ads-v26.json")
    unknown = [wrong for operation in one.body["mutateOperations"] for wrong in wrongs(data, operation)]
    assert unknown == []


def wrongs(data: Json, value: Json, kind: str = "services.MutateOperation", at: str = "") -> Iterator[str]:
    """Names and enum values that a message of this kind does not have; messages that the data leaves out pass."""
    members = data["messages"].get(kind)
    if members is None or not isinstance(value, Mapping):
        return
    for name, one in value.items():
        if name not in members:
            yield f"{at}/{name}"
            continue
        sort, _, what = members[name]["type"].partition(" ")
        for inner in one if isinstance(one, list) else [one]:
            if sort == "enum" and what in data["enums"] and inner not in data["enums"][what]:
                yield f"{at}/{name}: {inner}"
            yield from wrongs(data, inner, members[name]["type"], f"{at}/{name}")


def test_what_is_wrong_is_not_in_the_data(spec: Callable[[str], Json]) -> None:
    data = spec("google/google-ads-v26.json")
    found = [
        list(wrongs(data, wrong_campaign(name, value)["mutateOperations"][0]))
        for name, value in WRONG
        if name != "targetSpend"
    ]
    assert all(found)


def test_countries_are_those_of_the_data(spec: Callable[[str], Json]) -> None:
    """A country's geo target is 2000 and its number."""
    listed = {str(number) for number in spec("google/country-geo-targets.json")["countries"].values()}
    for one in WRITES:
        for _, text in texts(one.body):
            found = re.fullmatch(r"geoTargetConstants/(2[0-9]{3})", text)
            if found:
                assert found.group(1) in listed
