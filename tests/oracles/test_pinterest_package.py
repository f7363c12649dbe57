"""Pinterest: payloads are those of the models of pinterestsdk (5.28.0), which sends them to the same place."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from adsunify.http.messages import build_request_url
from adsunify.values.exact_json import Json

from .sources import Exchange, Write, exchanges, get_name, writes

pytest.importorskip("pinterestsdk", reason="the package pinterestsdk is in the dependency group oracles")

import pinterestsdk
from pydantic import BaseModel, ValidationError

ACCOUNT = re.compile(r"(?<=/ad_accounts/)[0-9]+|(?<=ad_account_id=)[0-9]+")

CREATES = {
    "campaigns": ("CampaignsApi", "campaigns_create", "CampaignCreateRequest"),
    "ad_groups": ("AdGroupsApi", "ad_groups_create", "AdGroupCreateRequest"),
    "ads": ("AdsApi", "ads_create", "AdCreateRequest"),
    "keywords": ("KeywordsApi", "keywords_create", "KeywordsRequest"),
    "pins": ("PinsApi", "pins_create", "PinCreate"),
    "reports": ("AdAccountsApi", "analytics_create_report", "AdsAnalyticsCreateAsyncRequest"),
}
UPDATES = {
    "campaigns": ("CampaignsApi", "campaigns_update", "CampaignUpdateRequest"),
    "ad_groups": ("AdGroupsApi", "ad_groups_update", "AdGroupUpdateRequest"),
    "ads": ("AdsApi", "ads_update", "AdUpdateRequest"),
}
"""The last part of a path: the package's class, its method, and the model of one object."""

READS = {
    "ad_accounts": ("AdAccountsApi", "ad_accounts_list"),
    "campaigns": ("CampaignsApi", "campaigns_list"),
    "ad_groups": ("AdGroupsApi", "ad_groups_list"),
    "ads": ("AdsApi", "ads_list"),
    "keywords": ("KeywordsApi", "keywords_get"),
    "analytics": ("AdAccountsApi", "ad_account_analytics"),
    "campaigns/analytics": ("CampaignsApi", "campaigns_analytics"),
    "ad_groups/analytics": ("AdGroupsApi", "ad_groups_analytics"),
    "ads/analytics": ("AdsApi", "ads_analytics"),
    "reports": ("AdAccountsApi", "analytics_get_report"),
    "audiences": ("AudiencesApi", "audiences_list"),
    "conversion_tags": ("ConversionTagsApi", "conversion_tags_list"),
    "boards": ("BoardsApi", "boards_list"),
    "ad_account_countries": ("ResourcesApi", "ad_account_countries_get"),
}
"""Lists; objects that are read alone are held against the description."""

PLAIN = {"self", "ad_account_id", "_request_auth", "_content_type", "_headers", "_host_index"}
"""Arguments beside the body."""

ENUMS: Mapping[str, Any] = {
    "granularity": pinterestsdk.Granularity,
    "reporting_timezone": pinterestsdk.ReportingTimeZone,
    "privacy": pinterestsdk.BoardPrivacyFilter,
}

OPEN = {"media_source", "tracking_urls", "optimization_goal_metadata"}
"""Members whose models the package leaves empty, or that are open objects."""

WRITES, EXCHANGES = writes("pinterest"), exchanges("pinterest")


def account(url: str) -> dict[str, Json]:
    """The account that an address names, as an argument."""
    return {"ad_account_id": match[0]} if (match := ACCOUNT.search(url)) else {}


def last(url: str) -> str:
    """The last word of an address, or the last two where they name a resource of the package."""
    *_, above, word = urlsplit(url).path.split("/")
    return f"{above}/{word}" if f"{above}/{word}" in READS else word


LISTS = [
    exchange
    for exchange in EXCHANGES
    if exchange.request.method == "GET" and last(build_request_url(exchange.request)) in READS
]
REPORTS = [
    exchange
    for exchange in EXCHANGES
    if exchange.request.method == "POST" and last(build_request_url(exchange.request)) == "reports"
]


def table(method: str) -> Mapping[str, tuple[str, str, str]]:
    return CREATES if method == "POST" else UPDATES


def native(api: str, name: str, **arguments: Json) -> tuple[str, str, Json]:
    """Method, address and body as the package would send them; nothing is sent."""
    prepare = getattr(getattr(pinterestsdk, api)(), f"_{name}_serialize")
    absent = dict.fromkeys(inspect.signature(prepare).parameters)
    request_parts = prepare(**{**absent, **arguments, "_host_index": 0})
    return request_parts[0], request_parts[1], request_parts[3]


def test_there_is_something_to_hold() -> None:
    assert WRITES
    assert LISTS
    assert REPORTS


@pytest.mark.parametrize("write", WRITES, ids=get_name)
def test_a_write_goes_where_the_package_would_send_it(write: Write) -> None:
    method, url = write.request.method, build_request_url(write.request)
    api, name, _ = table(method)[last(url)]
    prepare = getattr(getattr(pinterestsdk, api), f"_{name}_serialize")
    (body,) = (part for part in inspect.signature(prepare).parameters if part not in PLAIN)
    assert native(api, name, **account(url), **{body: write.body}) == (method, url, write.body)


@pytest.mark.parametrize("sample", [*WRITES, *REPORTS], ids=get_name)
def test_a_payload_is_one_of_the_model(sample: Write | Exchange) -> None:
    model = getattr(pinterestsdk, table(sample.request.method)[last(build_request_url(sample.request))][2])
    for entity in sample.body if isinstance(sample.body, list) else [sample.body]:
        assert list(list_lost_members(model, entity)) == []


def list_lost_members(model: type[BaseModel], value: Mapping[str, Json], at: str = "") -> Iterator[str]:
    """Members that the model does not have, or does not take as they are. Raises ValidationError for a wrong value."""
    entity = model.model_validate(value)
    names = {field.alias or name: name for name, field in model.model_fields.items()}
    for name, member in value.items():
        if name not in names:
            yield f"{at}/{name}"
            continue
        if name in OPEN or member is None:
            continue
        yield from _differs(getattr(entity, names[name]), member, f"{at}/{name}")


def _differs(model_value: Any, payload_value: Json, at: str) -> Iterator[str]:
    if isinstance(model_value, BaseModel):
        yield from list_lost_members(type(model_value), payload_value, at)
    elif isinstance(model_value, list) and isinstance(payload_value, list):
        if len(model_value) != len(payload_value):
            yield at
        for index, (inner, other) in enumerate(zip(model_value, payload_value, strict=False)):
            yield from _differs(inner, other, f"{at}/{index}")
    elif model_value != payload_value:
        yield at


@pytest.mark.parametrize(
    "change",
    [
        {"status": "ENABLED"},
        {"daily_spend_cap": "25.00"},
        {"objective_type": "TRAFFIC"},
        {"name": None},
        {"start_time": 1.5},
    ],
)
def test_a_wrong_value_is_found(change: Mapping[str, Json]) -> None:
    write = next(write for write in WRITES if write.name.endswith("traffic-daily-campaign"))
    with pytest.raises(ValidationError):
        list(list_lost_members(pinterestsdk.CampaignCreateRequest, {**write.body[0], **change}))


def test_an_unknown_member_is_found() -> None:
    write = next(write for write in WRITES if write.name.endswith("traffic-daily-adGroup"))
    entity = {**write.body[0], "colour": "red", "targeting_spec": {"LOCATION": ["US"], "PLACE": ["US"]}}
    assert list(list_lost_members(pinterestsdk.AdGroupCreateRequest, entity)) == ["/targeting_spec/PLACE", "/colour"]


@pytest.mark.parametrize("exchange", LISTS, ids=get_name)
def test_a_list_is_asked_for_as_the_package_does(exchange: Exchange) -> None:
    url = build_request_url(exchange.request)
    api, name = READS[last(url)]
    query: dict[str, Json] = account(url)
    for member, value in parse_qsl(urlsplit(url).query):
        if member in ENUMS:
            query[member] = ENUMS[member](value)
        elif member.endswith(("_ids", "_statuses")):
            query.setdefault(member, []).append(value)
        else:
            query[member] = value.split(",") if member == "columns" else value
    method, address, body = native(api, name, **query)
    assert (method, body) == ("GET", None)
    assert urlsplit(address).path == urlsplit(url).path
    assert sorted(parse_qsl(urlsplit(address).query)) == sorted(parse_qsl(urlsplit(url).query))
