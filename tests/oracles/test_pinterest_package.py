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

from .sources import Exchange, Write, exchanges, named, writes

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
    return {"ad_account_id": found[0]} if (found := ACCOUNT.search(url)) else {}


def last(url: str) -> str:
    """The last word of an address, or the last two where they name a resource of the package."""
    *_, above, word = urlsplit(url).path.split("/")
    return f"{above}/{word}" if f"{above}/{word}" in READS else word


LISTS = [one for one in EXCHANGES if one.request.method == "GET" and last(build_request_url(one.request)) in READS]
REPORTS = [
    one for one in EXCHANGES if one.request.method == "POST" and last(build_request_url(one.request)) == "reports"
]


def table(method: str) -> Mapping[str, tuple[str, str, str]]:
    return CREATES if method == "POST" else UPDATES


def native(api: str, name: str, **arguments: Json) -> tuple[str, str, Json]:
    """Method, address and body as the package would send them; nothing is sent."""
    prepare = getattr(getattr(pinterestsdk, api)(), f"_{name}_serialize")
    absent = dict.fromkeys(inspect.signature(prepare).parameters)
    found = prepare(**{**absent, **arguments, "_host_index": 0})
    return found[0], found[1], found[3]


def test_there_is_something_to_hold() -> None:
    assert WRITES
    assert LISTS
    assert REPORTS


@pytest.mark.parametrize("one", WRITES, ids=named)
def test_a_write_goes_where_the_package_would_send_it(one: Write) -> None:
    method, url = one.request.method, build_request_url(one.request)
    api, name, _ = table(method)[last(url)]
    prepare = getattr(getattr(pinterestsdk, api), f"_{name}_serialize")
    (body,) = (part for part in inspect.signature(prepare).parameters if part not in PLAIN)
    assert native(api, name, **account(url), **{body: one.body}) == (method, url, one.body)


@pytest.mark.parametrize("one", [*WRITES, *REPORTS], ids=named)
def test_a_payload_is_one_of_the_model(one: Write | Exchange) -> None:
    model = getattr(pinterestsdk, table(one.request.method)[last(build_request_url(one.request))][2])
    for entity in one.body if isinstance(one.body, list) else [one.body]:
        assert list(lost(model, entity)) == []


def lost(model: type[BaseModel], value: Mapping[str, Json], at: str = "") -> Iterator[str]:
    """Members that the model does not have, or does not take as they are. Raises ValidationError for a wrong value."""
    made = model.model_validate(value)
    names = {field.alias or name: name for name, field in model.model_fields.items()}
    for name, written in value.items():
        if name not in names:
            yield f"{at}/{name}"
            continue
        if name in OPEN or written is None:
            continue
        yield from _differs(getattr(made, names[name]), written, f"{at}/{name}")


def _differs(held: Any, written: Json, at: str) -> Iterator[str]:
    if isinstance(held, BaseModel):
        yield from lost(type(held), written, at)
    elif isinstance(held, list) and isinstance(written, list):
        if len(held) != len(written):
            yield at
        for index, (one, other) in enumerate(zip(held, written, strict=False)):
            yield from _differs(one, other, f"{at}/{index}")
    elif held != written:
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
    one = next(write for write in WRITES if write.name.endswith("traffic-daily-campaign"))
    with pytest.raises(ValidationError):
        list(lost(pinterestsdk.CampaignCreateRequest, {**one.body[0], **change}))


def test_an_unknown_member_is_found() -> None:
    one = next(write for write in WRITES if write.name.endswith("traffic-daily-adGroup"))
    entity = {**one.body[0], "colour": "red", "targeting_spec": {"LOCATION": ["US"], "PLACE": ["US"]}}
    assert list(lost(pinterestsdk.AdGroupCreateRequest, entity)) == ["/targeting_spec/PLACE", "/colour"]


@pytest.mark.parametrize("one", LISTS, ids=named)
def test_a_list_is_asked_for_as_the_package_does(one: Exchange) -> None:
    url = build_request_url(one.request)
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
