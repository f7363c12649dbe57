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

from .sources import Exchange, Write, exchanges, named, writes

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


def node(one: Write) -> Any:
    return NODES[one.step.kind]("1", api=API)


def native(one: Write) -> Any:
    """The SDK's own request of the same kind; nothing is sent."""
    last = urlsplit(build_request_url(one.request)).path.rpartition("/")[2]
    if one.request.method == "DELETE":
        return node(one).api_delete(pending=True)
    return CREATES[last](pending=True) if last in CREATES else node(one).api_update(pending=True)


def test_there_is_something_to_hold() -> None:
    assert WRITES
    assert READS


# -- writes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("one", WRITES, ids=named)
def test_a_write_goes_where_the_sdk_would_send_it(one: Write) -> None:
    request, address = native(one), urlsplit(build_request_url(one.request))
    assert one.request.method == request._method
    assert address.netloc == "graph.facebook.com"
    version, *path = address.path.strip("/").split("/")
    assert version == "v26.0"
    assert len(path) == len([part for part in request._path if part])
    assert path[1:] == [part for part in request._path[1:] if part]


@pytest.mark.parametrize("one", WRITES, ids=named)
def test_parameters_have_the_names_and_types_of_the_sdk(one: Write) -> None:
    checker = native(one)._param_checker
    for name, value in (one.body or {}).items():
        assert checker.is_valid_key(name), name
        # the checker takes no plain value for the Object of a map<string, Object>
        loose = isinstance(value, dict) and checker.get_type(name).startswith("map")
        assert loose or checker.is_valid_pair(name, value), (name, checker.get_type(name), value)
        kind = LOOSE.get(name) or checker.get_type(name)
        assert list(wrongs(kind, value, name)) == []


@cache
def fields(kind: str) -> Mapping[str, str] | None:
    """Field names and types of one of the SDK's objects, None where it has no such object."""
    found = _object(kind)
    return None if found is None else found._field_types


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
        for index, one in enumerate(value if isinstance(value, list) else [value]):
            yield from wrongs(inner.group(1), one, f"{at}/{index}", owner)
        return
    enum = getattr(_object(owner), kind, None) if owner else None
    if enum is not None:
        if value not in {one for name, one in vars(enum).items() if not name.startswith("_")}:
            yield f"{at}: {value}"
        return
    members = fields(kind)
    if members is not None and isinstance(value, Mapping):
        for name, one in value.items():
            if name in members:
                yield from wrongs(members[name], one, f"{at}/{name}", kind)
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
    one = next(level for level in network.levels if level.kind == kind)
    assert all(
        checker.is_valid_pair("status", native) for native in [*one.writable_statuses.values(), one.initial_status]
    )
    create = {"campaign": "campaigns", "adGroup": "adsets", "ad": "ads"}[kind]
    for template in network.templates:
        if template.kind == kind:
            made = CREATES[create](pending=True)._param_checker
            assert all(
                made.is_valid_key(name) and made.is_valid_pair(name, one) for name, one in template.payload.items()
            )


# -- reads --------------------------------------------------------------------------------------------------------


@cache
def edges() -> Mapping[str, Any]:
    """The lists of an account: edge to the SDK's request."""
    found: dict[str, Any] = {}
    for name in dir(ACCOUNT):
        if name.startswith("get_"):
            try:
                request = getattr(ACCOUNT, name)(pending=True)
            except Exception:  # noqa: BLE001 - local helpers of the SDK that are no requests at all
                continue
            if getattr(request, "_method", None) == "GET":
                found.setdefault(request._path[1], request)
    return found


def target(path: list[str], one: Exchange) -> str | None:
    """The object that a read answers with, by its address and what it answers."""
    if path[:2] == ["me", "adaccounts"]:
        return "AdAccount"
    if len(path) == 2 and path[1] in edges():
        return str(edges()[path[1]]._target_class.__name__)
    if len(path) == 1 and one.response.state == "json" and isinstance(one.response.body, Mapping):
        asked = dict(parse_qsl(urlsplit(build_request_url(one.request)).query)).get("fields", "")
        for kind, word in (("AdReportRun", "async_status"), ("Campaign", "objective"), ("AdSet", "optimization_goal")):
            if word in asked:
                return kind
        return "Ad" if "adset_id" in asked else None
    return None


def split(listed: str) -> list[str]:
    """The names of a ``fields`` parameter, what is asked of a nested object left out."""
    return [name for name in re.sub(r"\{[^{}]*\}", "", listed).split(",") if name]


@pytest.mark.parametrize("one", READS, ids=named)
def test_read_fields_exist(one: Exchange) -> None:
    address = urlsplit(build_request_url(one.request))
    if address.netloc != "graph.facebook.com" or one.request.kind == "write":
        return
    _, *path = address.path.strip("/").split("/")
    query = dict(parse_qsl(address.query)) | (one.body if isinstance(one.body, dict) else {})
    kind = target(path, one)
    known = fields(kind) if kind is not None else None
    if known is not None:
        asked = split(query.get("fields", ""))
        assert [name for name in asked if name not in known] == []
    if len(path) == 2 and path[1] in edges():
        checker = edges()[path[1]]._param_checker
        paging = {"fields", "limit", "after", "filtering"}
        for name, value in query.items():
            if name not in paging:
                assert checker.is_valid_key(name), name
                assert checker.is_valid_pair(name, _decoded(value)), (name, value)


def _decoded(value: Json) -> Json:
    return loads(value) if isinstance(value, str) and value[:1] in "[{" else value


# -- the same names in the published data --------------------------------------------------------------------------

OPERATIONS = {"campaigns": "campaign", "adsets": "adset", "adcreatives": "adcreative", "ads": "ad"}
KINDS = {"campaign": "campaign", "adGroup": "adset", "ad": "ad", "creative": "adcreative"}


@pytest.mark.parametrize("one", WRITES, ids=named)
def test_parameters_are_in_the_data(one: Write, spec: Callable[[str], Json]) -> None:
    data = spec("meta/marketing-api-v26.json")["operations"]
    last = urlsplit(build_request_url(one.request)).path.rpartition("/")[2]
    verb = "delete" if one.request.method == "DELETE" else "create" if last in OPERATIONS else "update"
    operation = data[f"{OPERATIONS.get(last) or KINDS[one.step.kind]}.{verb}"]
    for name, value in (one.body or {}).items():
        assert name in operation["params"], name
        kind = re.sub(r"^list<(.+)>$", r"\1", operation["params"][name])
        if kind in operation["enums"]:
            values = value if isinstance(value, list) else [value]
            assert set(values) <= set(operation["enums"][kind]), (name, value)


def test_currencies_count_as_in_the_data(spec: Callable[[str], Json]) -> None:
    data = spec("meta/currency-offsets.json")
    listed = {**data["documented"], **data["notSeenInTheDocumentedTable"]}
    unit = get_adapter("meta").network.get_money_unit
    assert {code: unit(Account("meta", "act_1", code)).offset for code in listed} == {
        code: int(offset) for code, offset in listed.items()
    }
    with pytest.raises(InvalidInput):
        unit(Account("meta", "act_1", "XAU"))
