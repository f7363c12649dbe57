"""Request models that hold briefs and free-form objects read with the same rules."""

from __future__ import annotations

from contextlib import suppress
from datetime import date
from decimal import Decimal
from itertools import product
from typing import Annotated
from uuid import UUID

import pytest
from pydantic import Field
from pydantic.alias_generators import to_camel

from adsunify.contract import ENDPOINTS, Endpoint
from adsunify.errors import InvalidInput
from adsunify.models.base import ApiModel, FreeForm, Omittable
from adsunify.models.brief import CampaignBrief
from adsunify.models.edit import EditBody
from adsunify.models.parsing import parse_model

ACCOUNT = "01934f5c-7c0e-7000-8000-000000000001"


class Place(ApiModel):
    """An element of a list with a free-form member."""

    radius_km: Omittable[Annotated[Decimal, Field(gt=0, le=1000, strict=False)]] = None
    meta: Omittable[FreeForm] = None


class Request(ApiModel):
    """What a server may take."""

    account_id: Annotated[UUID, Field(strict=False)]
    campaign: Omittable[CampaignBrief] = None
    payload: Omittable[FreeForm] = None
    places: Omittable[list[Place]] = None


class Nested(ApiModel):
    """A brief that is required."""

    account_id: Annotated[UUID, Field(strict=False)]
    campaign: CampaignBrief


class Days(ApiModel):
    """A query: text that is read."""

    start: Annotated[date, Field(strict=False)]
    limit: Annotated[int, Field(strict=False, ge=1, le=100)] = 50


def issues(model, data, prefix=""):
    with pytest.raises(InvalidInput) as refused:
        parse_model(model, data, prefix)
    return sorted((issue.path, issue.code) for issue in refused.value.issues)


def test_a_brief_inside_is_refused_with_all_its_issues():
    data = b"""{"accountId": "x", "campaign": {"name": "ab", "goal": "traffic", "schedule": {"startAt": "now"},
        "budget": {"amount": "0", "currency": "USD", "period": "daily"},
        "targeting": {"native": {}, "countries": []}, "creative": {"existingId": "1", "url": "\\u0000"}}}"""
    assert issues(Nested, data) == [
        ("accountId", "malformed"),
        ("campaign.budget.amount", "out_of_range"),
        ("campaign.creative.url", "malformed"),
        ("campaign.creative.url", "malformed"),
        ("campaign.name", "too_short"),
        ("campaign.schedule.startAt", "malformed"),
        ("campaign.targeting.countries", "conflict"),
        ("campaign.targeting.countries", "too_few"),
        ("campaign.targeting.native", "too_few"),
    ]


def test_numbers_of_every_free_form_object_are_exact():
    literal = "0.1234567890123456789012345"
    data = '{"accountId": "ID", "payload": {"a": NUMBER}, "places": [{}, {"meta": {"b": [NUMBER]}}]}'
    data = data.replace("ID", ACCOUNT).replace("NUMBER", literal)
    request = parse_model(Request, data)
    assert request.account_id == UUID(ACCOUNT)
    assert request.payload == {"a": Decimal(literal)}
    assert request.places[1].meta == {"b": [Decimal(literal)]}


def test_escaped_text_that_only_looks_like_nul_is_text():
    data = rf'{{"accountId": "{ACCOUNT}", "payload": {{"a": "\\u0000", "b": "\\x00", "c": "\u00e9\n"}}}}'
    expected = {"a": "\\u0000", "b": "\\x00", "c": "é\n"}
    assert parse_model(Request, data).payload == parse_model(Request, data.encode()).payload == expected
    assert parse_model(Days, {"start": "2027-03-01"}).limit == 50
    assert parse_model(Place, {"meta": expected}).meta == expected


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        (r'"a": 1, "a": 2', [("meta.a", "repeated")]),
        (r'"a": {"b": "x:y", "c": [{"d": 1, "d": 1}]}', [("meta.a.c.0.d", "repeated")]),
        (r'"a": 1, "\u0061": 2', [("meta.a", "repeated")]),
        (r'"a": 1, "a": 2, "b": "\u003a"', [("meta.a", "repeated")]),
        (r'"a": 1, "a": 2, "b": "\u003A"', [("meta.a", "repeated")]),
        (r'"a": 0.5, "a": 2, "b": 18446744073709551617', [("meta.a", "repeated")]),
        (r'"a": "\u0000"', [("meta.a", "malformed")]),
        (r'"\u0000": 1', [("meta", "malformed")]),
    ],
)
@pytest.mark.parametrize("encoded", [True, False])
def test_what_a_parser_would_hide_is_refused(members, expected, encoded):
    text = f'{{"meta": {{{members}}}}}'
    assert issues(Place, text.encode() if encoded else text) == expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"start": "2027-02-30"}, [("query.start", "malformed")]),
        ({"start": "soon", "limit": "x"}, [("query.limit", "wrong_type"), ("query.start", "malformed")]),
        ({"start": "2027-03-01", "limit": "0"}, [("query.limit", "out_of_range")]),
        ({"start": "2027-03-01", "limit": "101"}, [("query.limit", "out_of_range")]),
        ({"limit": "1"}, [("query.start", "required")]),
    ],
)
def test_paths_begin_with_the_prefix(data, expected):
    assert issues(Days, data, "query") == expected


def test_all_issues_are_told_with_what_is_accepted():
    with pytest.raises(InvalidInput) as refused:
        parse_model(Request, b'{"accountId": 5, "places": [{"radiusKm": 0}, 7], "x": 1}', "body")
    assert [(issue.path, issue.code, issue.message) for issue in refused.value.issues] == [
        ("body.accountId", "malformed", "must be a UUID."),
        ("body.places.0.radiusKm", "out_of_range", "must be greater than 0."),
        ("body.places.1", "wrong_type", "must be an object."),
        ("body.x", "unknown_property", ("is not a property of this object, which takes "
         "accountId, campaign, payload, places.")),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "issue"),
    [
        (
            {"naem": "x", "gaol": "traffic"},
            [
                (
                    "naem",
                    (
                        "is not a property of this object, which takes name, goal, budget, bid, schedule, targeting, "
                        "creative, platform. Did you mean name?"
                    ),
                ),
                ("gaol", "is not a property of this object; leave it out. Did you mean goal?"),
            ],
        ),
        (
            {"targeting": {"country": ["US"]}},
            [
                (
                    "targeting.country",
                    (
                        "is not a property of this object, which takes countries, locationIds, keywords, native. "
                        "Did you mean countries?"
                    ),
                )
            ],
        ),
        (
            {"targeting": {"keywords": [{"text": "tea", "kind": "exact"}]}},
            [("targeting.keywords.0.kind", "is not a property of this object, which takes text, match.")],
        ),
        ({"budget": None}, [("budget", "must be an object.")]),
        ({"budget": ...}, [("budget", "is required: an object with amount, currency, period.")]),
        ({"goal": ...}, [("goal", "is required: traffic, awareness, conversions, app_installs.")]),
        ({"name": ...}, [("name", "is required.")]),
        (
            {"bid": 1},
            [("bid", 'must be a string: digits with an optional fraction of 1 to 6 digits, such as "12.50".')],
        ),
        (
            {"bid": "1,50"},
            [("bid", 'must be a decimal string: digits with an optional fraction of 1 to 6 digits, such as "12.50".')],
        ),
        ({"name": 1}, [("name", "must be a string.")]),
    ],
)
def test_a_refusal_says_what_would_be_accepted(change, issue):
    brief = {
        "name": "Tea", "goal": "traffic", "budget": {"amount": "1", "currency": "USD", "period": "daily"},
        "schedule": {"startAt": "2030-01-01T00:00:00Z"}, "targeting": {}, "creative": {}, **change,
    }  # fmt: skip
    with pytest.raises(InvalidInput) as refused:
        parse_model(CampaignBrief, {name: value for name, value in brief.items() if value is not ...})
    assert [(actual.path, actual.message) for actual in refused.value.issues] == issue


@pytest.mark.parametrize("beside", ['{"id": "1", "name": "a", "radiusKm": 6.5}', '{"id": "1", "name": "a"}'])
@pytest.mark.parametrize(("literal", "taken"), [("59.0", True), ("5.9e1", True), ("59.5", False), ("1e9", False)])
def test_a_whole_number_is_an_integer_however_it_is_written(beside, literal, taken):
    """Also where a number beside it has to be read anew for its digits."""
    body = f'{{"targeting": {{"ageMax": {literal}, "locations": [{beside}]}}, "fields": {{"name": "x"}}}}'
    if taken:
        assert parse_model(EditBody, body).targeting.age_max == 59
    else:
        with pytest.raises(InvalidInput) as refused:
            parse_model(EditBody, body)
        assert {issue.path for issue in refused.value.issues} == {"targeting.ageMax"}


@pytest.mark.parametrize(
    "endpoint", [endpoint for endpoint in ENDPOINTS if endpoint.body], ids=lambda endpoint: endpoint.operation_id
)
def test_no_rule_trips_over_what_a_member_may_not_be(endpoint: Endpoint) -> None:
    """The rules between members also see members that were refused, such as a list in place of a word."""
    assert endpoint.body is not None
    for name, value in product(endpoint.body.model_fields, ([], {}, [[]], [{}], {"a": []}, 1, True, "x")):
        with suppress(InvalidInput):
            parse_model(endpoint.body, {to_camel(name): value})
