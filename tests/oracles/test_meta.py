"""Meta: parameters, nested names, enums and read fields are those of the official SDK's tables."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from adsunify.adapter.account import Account
from adsunify.errors import InvalidInput
from adsunify.http.messages import build_request_url
from adsunify.networks.registry import get_adapter
from adsunify.values.exact_json import Json, loads

from .sources import Exchange, Write, exchanges, get_name, writes

pytest.importorskip("facebook_business", reason="the package facebook-business is in the dependency group oracles")

from facebook_business.adobjects.ad import Ad
from facebook_business.adobjects.adaccount import AdAccount
from facebook_business.adobjects.adset import AdSet
from facebook_business.adobjects.campaign import Campaign
from facebook_business.api import FacebookAdsApi, FacebookSession

API = FacebookAdsApi(FacebookSession(access_token="x"), api_version="v26.0")
ACCOUNT = AdAccount("act_1", api=API)
NODES = {"campaign": Campaign, "adGroup": AdSet, "ad": Ad}
CREATES = {
    "campaigns": ACCOUNT.create_campaign,
    "adsets": ACCOUNT.create_ad_set,
    "adcreatives": ACCOUNT.create_ad_creative,
    "ads": ACCOUNT.create_ad,
}
LOOSE = {
    "promoted_object": "AdPromotedObject",
    "targeting": "Targeting",
    "object_story_spec": "AdCreativeObjectStorySpec",
}
"""Parameters whose type the tables leave open."""

UNTABLED = {("AdCreative", "creative_id")}
"""Names that the reference has (an ad names its creative by ``creative_id``) and the tables of the SDK have not."""

WRITES, READS = writes("meta"), exchanges("meta")


def node(write: Write) -> Any:
    return NODES[write.step.kind]("1", api=API)


def native(write: Write) -> Any:
    """The SDK's own request of the same kind; nothing is sent."""
    last = urlsplit(build_request_url(write.request)).path.rpartition("/")[2]
    if write.request.method == "DELETE":
        return node(write).api_delete(pending=True)
    return CREATES[last](pending=True) if last in CREATES else node(write).api_update(pending=True)


def test_there_is_something_to_hold() -> None:
    assert WRITES
    assert READS


# -- writes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("write", WRITES, ids=get_name)
def test_a_write_goes_where_the_sdk_would_send_it(write: Write) -> None:
    request, address = native(write), urlsplit(build_request_url(write.request))
    assert write.request.method == request._method
    assert address.netloc == "graph.facebook.com"
    version, *path = address.path.strip("/").split("/")
    assert version == "v26.0"
    assert len(path) == len([part for part in request._path if part])
    assert path[1:] == [part for part in request._path[1:] if part]


@pytest.mark.parametrize("write", WRITES, ids=get_name)
def test_parameters_have_the_names_and_types_of_the_sdk(write: Write) -> None:
    checker = native(write)._param_checker
    for name, value in (write.body or {}).items():
        assert checker.is_valid_key(name), name
        # the checker takes no plain value for the Object of a map<string, Object>
        loose = isinstance(value, dict) and checker.get_type(name).startswith("map")
        assert loose or checker.is_valid_pair(name, value), (name, checker.get_type(name), value)
        kind = LOOSE.get(name) or checker.get_type(name)
        assert list(wrongs(kind, value, name)) == []


@cache
def fields(kind: str) -> Mapping[str, str] | None:
    """Field names and types of one of the SDK's objects, None where it has no such object."""
    object_class = _object(kind)
    return None if object_class is None else object_class._field_types


@cache
def _object(kind: str) -> Any:
    try:
        module = importlib.import_module(f"facebook_business.adobjects.{kind.lower()}")
    except ImportError:
        return None
    return getattr(module, kind, None)


def wrongs(kind: str, value: Json, at: str, owner: str = "") -> Iterator[str]:
    """Names that a nested object does not have, and values that an enum does not have."""
    inner = re.fullmatch(r"list<(.+)>", kind)
    if inner is not None:
        for index, element in enumerate(value if isinstance(value, list) else [value]):
            yield from wrongs(inner.group(1), element, f"{at}/{index}", owner)
        return
    enum = getattr(_object(owner), kind, None) if owner else None
    if enum is not None:
        if value not in {constant for name, constant in vars(enum).items() if not name.startswith("_")}:
            yield f"{at}: {value}"
        return
    members = fields(kind)
    if members is not None and isinstance(value, Mapping):
        for name, member in value.items():
            if name in members:
                yield from wrongs(members[name], member, f"{at}/{name}", kind)
            elif (kind, name) not in UNTABLED:
                yield f"{at}/{name}"


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("Targeting", {"geo_locations": {"country": ["NO"]}}),
        ("Targeting", {"device_platforms": ["watch"]}),
        ("AdPromotedObject", {"custom_event_type": "BUY"}),
        ("AdCreativeObjectStorySpec", {"link_data": {"call_to_action": {"type": "LEARN_ALL"}}}),
        ("list<TargetingGeoLocation>", [{"towns": []}]),
    ],
)
def test_what_is_wrong_is_found(kind: str, value: Json) -> None:
    assert len(list(wrongs(kind, value, ""))) == 1


@pytest.mark.parametrize("kind", ["campaign", "adGroup", "ad"])
def test_templates_and_statuses_are_of_the_sdk(kind: str) -> None:
    network = get_adapter("meta").network
    checker = NODES[kind]("1", api=API).api_update(pending=True)._param_checker
    level = next(level for level in network.levels if level.kind == kind)
    assert all(
        checker.is_valid_pair("status", native) for native in [*level.writable_statuses.values(), level.initial_status]
    )
    create = {"campaign": "campaigns", "adGroup": "adsets", "ad": "ads"}[kind]
    for template in network.templates:
        if template.kind == kind:
            create_checker = CREATES[create](pending=True)._param_checker
            assert all(
                create_checker.is_valid_key(name) and create_checker.is_valid_pair(name, value)
                for name, value in template.payload.items()
            )


# -- reads --------------------------------------------------------------------------------------------------------


@cache
def edges() -> Mapping[str, Any]:
    """The lists of an account: edge to the SDK's request."""
    requests: dict[str, Any] = {}
    for name in dir(ACCOUNT):
        if name.startswith("get_"):
            try:
                request = getattr(ACCOUNT, name)(pending=True)
            except Exception:  # noqa: BLE001 - local helpers of the SDK that are no requests at all
                continue
            if getattr(request, "_method", None) == "GET":
                requests.setdefault(request._path[1], request)
    return requests


def target(path: list[str], exchange: Exchange) -> str | None:
    """The object that a read answers with, by its address and what it answers."""
    if path[:2] == ["me", "adaccounts"]:
        return "AdAccount"
    if len(path) == 2 and path[1] in edges():
        return str(edges()[path[1]]._target_class.__name__)
    if len(path) == 1 and exchange.response.state == "json" and isinstance(exchange.response.body, Mapping):
        field_list = dict(parse_qsl(urlsplit(build_request_url(exchange.request)).query)).get("fields", "")
        for kind, word in (("AdReportRun", "async_status"), ("Campaign", "objective"), ("AdSet", "optimization_goal")):
            if word in field_list:
                return kind
        return "Ad" if "adset_id" in field_list else None
    return None


def split(field_list: str) -> list[str]:
    """The names of a ``fields`` parameter, what is asked of a nested object left out."""
    return [name for name in re.sub(r"\{[^{}]*\}", "", field_list).split(",") if name]


@pytest.mark.parametrize("exchange", READS, ids=get_name)
def test_read_fields_exist(exchange: Exchange) -> None:
    address = urlsplit(build_request_url(exchange.request))
    if address.netloc != "graph.facebook.com" or exchange.request.kind == "write":
        return
    _, *path = address.path.strip("/").split("/")
    query = dict(parse_qsl(address.query)) | (exchange.body if isinstance(exchange.body, dict) else {})
    kind = target(path, exchange)
    known = fields(kind) if kind is not None else None
    if known is not None:
        field_names = split(query.get("fields", ""))
        assert [name for name in field_names if name not in known] == []
    if len(path) == 2 and path[1] in edges():
        checker = edges()[path[1]]._param_checker
        paging = {"fields", "limit", "after", "filtering"}
        for name, value in query.items():
            if name not in paging:
                assert checker.is_valid_key(name), name
                assert checker.is_valid_pair(name, _decode_json(value)), (name, value)


def _decode_json(value: Json) -> Json:
    return loads(value) if isinstance(value, str) and value[:1] in "[{" else value


# -- the same names in the published data --------------------------------------------------------------------------

OPERATIONS = {"campaigns": "campaign", "adsets": "adset", "adcreatives": "adcreative", "ads": "ad"}
KINDS = {"campaign": "campaign", "adGroup": "adset", "ad": "ad", "creative": "adcreative"}


@pytest.mark.parametrize("write", WRITES, ids=get_name)
def test_parameters_are_in_the_data(write: Write, spec: Callable[[str], Json]) -> None:
    data = spec("meta/marketing-api-v26.json")["operations"]
    last = urlsplit(build_request_url(write.request)).path.rpartition("/")[2]
    verb = "delete" if write.request.method == "DELETE" else "create" if last in OPERATIONS else "update"
    operation = data[f"{OPERATIONS.get(last) or KINDS[write.step.kind]}.{verb}"]
    for name, value in (write.body or {}).items():
        assert name in operation["params"], name
        kind = re.sub(r"^list<(.+)>$", r"\1", operation["params"][name])
        if kind in operation["enums"]:
            values = value if isinstance(value, list) else [value]
            assert set(values) <= set(operation["enums"][kind]), (name, value)


def test_currencies_count_as_in_the_data(spec: Callable[[str], Json]) -> None:
    data = spec("meta/currency-offsets.json")
    offsets = {**data["documented"], **data["notSeenInTheDocumentedTable"]}
    unit = get_adapter("meta").network.get_money_unit
    assert {code: unit(Account("meta", "act_1", code)).offset for code in offsets} == {
        code: int(offset) for code, offset in offsets.items()
    }
    with pytest.raises(InvalidInput):
        unit(Account("meta", "act_1", "XAU"))
