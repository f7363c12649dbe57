"""The brief: every length, pattern and default of the contract, and every refusal at once."""

from __future__ import annotations

import ast
import copy
import inspect
import json
from datetime import UTC, date, datetime
from decimal import Decimal
from importlib.resources import files
from textwrap import dedent
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from adsunify.errors import InvalidInput
from adsunify.models.brief import Budget, CampaignBrief, Creative, Schedule, Targeting, read_brief
from adsunify.models.parsing import parse_model
from adsunify.values import exact_json
from adsunify.values.countries import load_country_codes

START = "2027-03-01T08:00:00+01:00"
BRIEF: dict[str, Any] = {
    "name": "Autumn shoes",
    "goal": "traffic",
    "budget": {"amount": "50.25", "currency": "USD", "period": "daily"},
    "schedule": {"startAt": START},
    "targeting": {"countries": ["US", "CA"]},
    "creative": {"headline": "New shoes", "url": "https://shop.example.com/autumn?utm={{campaign.name}}"},
}
OBJECTS = ("", "budget", "schedule", "targeting", "targeting.keywords.0", "creative", "platform", "platform.locale")


def brief(path: str = "", value: Any = None) -> dict[str, Any]:
    """The brief with ``value`` at the dotted ``path``."""
    document = copy.deepcopy(BRIEF)
    if path:
        *way, last = path.split(".")
        there = document
        for name in way:
            there = there.setdefault(name, {})
        there[last] = value
    return document


def forms(value: dict[str, Any]) -> tuple[Any, ...]:
    """The same brief in the three forms in which it may come."""
    text = exact_json.dumps(value)
    return value, text, text.encode()


def issues(value: Any) -> list[tuple[str, str]]:
    with pytest.raises(InvalidInput) as refused:
        read_brief(value)
    assert all(issue.message[0].islower() and issue.message.endswith((".", "?")) for issue in refused.value.issues)
    return sorted((issue.path, issue.code) for issue in refused.value.issues)


def test_defaults():
    read = read_brief(BRIEF)
    assert read.platform.to_json() == {}
    assert read.bid is read.schedule.end_at is read.targeting.native is read.creative.body is None
    assert read_brief(brief("targeting.keywords", [{"text": "shoes"}])).targeting.keywords[0].match == "exact"


@pytest.mark.parametrize("path", ["goal", "budget", "budget.amount", "targeting.countries", "creative.url"])
def test_a_member_is_named_once(path: str):
    """The first value would be read by some, the last by others, and one of them is no budget that was reviewed."""
    name = path.rpartition(".")[2]
    text = exact_json.dumps(BRIEF).replace(f'"{name}":', f'"{name}":"1","{name}":', 1)
    for form in (text, text.encode()):
        assert issues(form) == [(path, "repeated")]
    with pytest.raises(ValidationError):
        CampaignBrief.model_validate_json(text)


def test_instants_are_kept_as_written_and_read_in_utc():
    schedule = read_brief(brief("schedule.endAt", "2027-04-01T00:00Z")).schedule
    assert (schedule.start_at, schedule.end_at) == (START, "2027-04-01T00:00Z")
    assert (schedule.start, schedule.end) == (datetime(2027, 3, 1, 7, tzinfo=UTC), datetime(2027, 4, 1, tzinfo=UTC))
    assert read_brief(BRIEF).schedule.end is None


def lengths(path: str, least: int, most: int, make: Any = lambda count: "é" * count) -> list[Any]:
    sizes = {least - 1: False, least: True, most: True, most + 1: False}
    return [pytest.param(path, make(size), good, id=f"{path}-{size}") for size, good in sizes.items() if size >= 0]


def repeat_item(least: int, most: int, path: str, item: Any) -> list[Any]:
    return lengths(path, least, most, lambda count: [item] * count)


IDENTIFIERS = ("pageId", "boardId", "identityId", "identityType", "fundingInstrumentId", "pixelId", "conversionEvent")
ROWS = [
    *lengths("name", 3, 100),
    *lengths("targeting.countries", 1, 50, lambda count: sorted(load_country_codes())[:count]),
    *lengths("targeting.locationIds", 1, 50, lambda count: [str(number) for number in range(count)]),
    *lengths("targeting.locationIds", 1, 250, lambda count: ["x" * count]),
    *repeat_item(0, 50, "targeting.keywords", {"text": "shoes", "match": "broad"}),
    *lengths("targeting.keywords", 1, 80, lambda count: [{"text": "x" * count, "match": "phrase"}]),
    *lengths("creative.headline", 1, 300),
    *lengths("creative.body", 1, 3000),
    *lengths("creative.imageHash", 1, 250),
    *repeat_item(3, 15, "creative.headlines", "headline"),
    *lengths("creative.headlines", 1, 30, lambda count: ["x" * count] * 3),
    *repeat_item(2, 4, "creative.descriptions", "description"),
    *lengths("creative.descriptions", 1, 90, lambda count: ["x" * count] * 2),
    *(row for name in (*IDENTIFIERS, "appId", "sku", "asin") for row in lengths(f"platform.{name}", 1, 250)),
    *lengths("platform.brandName", 1, 100),
    *repeat_item(0, 10, "platform.specialAdCategories", "HOUSING"),
    *lengths("platform.specialAdCategories", 1, 9999, lambda count: ["x" * count])[:2],
]


@pytest.mark.parametrize(("path", "value", "good"), ROWS)
def test_lengths(path, value, good):
    for form in forms(brief(path, value)):
        if good:
            read_brief(form)
        else:
            refusals = issues(form)
            assert {code for _, code in refusals} <= {"too_short", "too_long", "too_few", "too_many"}
            assert all(refused.startswith(path) for refused, _ in refusals)


def test_existing_creative_id_has_1_to_250_characters():
    for length, good in ((0, False), (1, True), (250, True), (251, False)):
        value = BRIEF | {"creative": {"existingId": "x" * length}}
        assert not good or read_brief(value)
        assert good or issues(value)[0][0] == "creative.existingId"


@pytest.mark.parametrize(
    ("path", "good", "bad"),
    [
        ("goal", ["traffic", "awareness", "conversions", "app_installs"], ["Traffic", "", "reach"]),
        ("budget.amount", ["1", "0.01", "007.50", "1.123456"], ["", "1.", ".5", "-1", "1e3", "١", "1\n", " 1", "1,5"]),
        ("budget.currency", ["USD", "XYZ"], ["usd", "US", "USDX", "US\n", "ÄÖÜ"]),
        ("budget.period", ["daily", "lifetime"], ["monthly"]),
        ("bid", ["0.000001"], ["", "+1", "0x1"]),
        ("schedule.startAt", ["2028-02-29T00:00:00Z", "2027-03-01T00:00:00.5-0330"], ["2027-03-01", "now", ""]),
        ("schedule.endAt", ["2027-03-01T08:00:01+01:00"], ["2027-04-01T00:00:00", "2027-04-01T24:00:00Z"]),
        (
            "targeting.countries",
            [["US"], ["ZW", "AX", "XK"]],
            [["us"], ["USA"], ["U"], ["US\n"], ["ÜS"]],
        ),
        ("targeting.keywords", [[{"text": "a", "match": "broad"}]], [[{"text": "a", "match": "BROAD"}], [{}]]),
        ("creative.url", ["http://a", "https://u:p@[::1]:80/x?y#z", "app+x://host"], ["shop.example.com", "https://"]),
        (
            "creative.url",
            ["https://example.com/%C3%BC"],
            ["https://a b", "https://:80", "https://a/ü", "//a", "mailto:a"],
        ),
        ("creative.imageUrl", ["https://a/b.jpg"], ["https://a\n", "https://a/\t", "https://a\\b", "", "https://@/"]),
        ("platform.euPoliticalAdvertising", [True, False], ["true", 1, 0]),
        (
            "platform.locale",
            [{"country": "DE", "language": "de"}],
            [{"country": "DE"}, {"country": "DE", "language": "DE"}],
        ),
    ],
)
def test_patterns_and_choices(path, good, bad):
    for value in good:
        for form in forms(brief(path, value)):
            read_brief(form)
    for value in bad:
        for form in forms(brief(path, value)):
            ((refused, _),) = issues(form)
            assert refused.startswith(path)


@pytest.mark.parametrize(
    ("path", "value", "code"),
    [
        ("budget.amount", "1.1234567", "over_precision"),
        ("budget.amount", "0", "out_of_range"),
        ("budget.amount", "00.000", "out_of_range"),
        ("bid", "0.0", "out_of_range"),
        ("schedule.startAt", "2027-02-30T00:00:00Z", "no_such_date"),
        ("schedule.endAt", "2027-03-01T07:00:00Z", "out_of_range"),
        ("name", "a\0bc", "malformed"),
        ("creative.body", "\0", "malformed"),
        ("targeting.native", {"a": {"b": ["\0"]}}, "malformed"),
    ],
)
def test_refusals_of_values(path, value, code):
    value = brief(path, value)
    if path == "targeting.native":
        del value["targeting"]["countries"]
        path = "targeting.native.a.b.0"
    for form in forms(value):
        assert issues(form) == [(path, code)]


REQUIRED = ("name", "goal", "budget", "schedule", "targeting", "creative")
REQUIRED_BELOW = ("budget.amount", "budget.currency", "budget.period", "schedule.startAt")


@pytest.mark.parametrize("path", REQUIRED + REQUIRED_BELOW)
def test_required_members(path):
    value = brief()
    *way, last = path.split(".")
    del (value[way[0]] if way else value)[last]
    for form in forms(value):
        assert issues(form) == [(path, "required")]


@pytest.mark.parametrize("path", OBJECTS)
def test_unknown_properties_are_refused_everywhere(path):
    value = brief("targeting.keywords", [{"text": "a"}])
    value["platform"] = {"locale": {"country": "DE", "language": "de"}}
    there: Any = value
    for name in path.replace("/", ".").split(".") if path else ():
        there = there[int(name) if name.isdigit() else name]
    there["extra"] = 1
    for form in forms(value):
        assert issues(form) == [(f"{path}.extra".strip("."), "unknown_property")]


def test_json_has_no_python_names() -> None:
    """Only a constructor takes them."""
    value = brief("schedule", {"start_at": "2030-03-01T08:00:00Z"})
    for form in forms(value):
        assert issues(form) == [("schedule.startAt", "required"), ("schedule.start_at", "unknown_property")]
    assert Schedule(start_at="2030-03-01T08:00:00Z").to_json() == {"startAt": "2030-03-01T08:00:00Z"}
    assert Targeting(countries=["US"]) == Targeting(countries=("US",))


BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        ("20.50", "20.50"),
        (Decimal("20.50"), "20.50"),
        (Decimal("1E+2"), "100"),
        (Decimal("0.000001"), "0.000001"),
        (Decimal("61.00") * Decimal("0.350000"), "21.350000"),
    ],
)
def test_a_constructor_takes_decimals_and_keeps_their_text(amount: str | Decimal, text: str) -> None:
    budget = Budget(amount=amount, currency="USD", period="daily")
    campaign_brief = CampaignBrief(**{**read_brief(brief()).__dict__, "budget": budget, "bid": amount})
    assert (campaign_brief.to_json()["budget"]["amount"], campaign_brief.to_json()["bid"]) == (text, text)


@pytest.mark.parametrize(
    ("instant", "text"),
    [
        ("2030-03-01T08:00:00.5+01:00", "2030-03-01T08:00:00.5+01:00"),
        (datetime(2030, 3, 1, 8, tzinfo=UTC), "2030-03-01T08:00:00Z"),
        (datetime(2030, 7, 1, 8, 0, 0, 500, BERLIN), "2030-07-01T08:00:00.000500+02:00"),
        (datetime(1880, 1, 1, tzinfo=BERLIN), "1879-12-31T23:06:32Z"),  # its offset has seconds
    ],
)
def test_a_constructor_takes_datetimes_and_keeps_their_text(instant: str | datetime, text: str) -> None:
    schedule = Schedule(start_at="2030-01-01T00:00:00Z", end_at=instant)
    assert schedule.to_json()["endAt"] == text
    assert Schedule(start_at=instant, end_at=None).to_json() == {"startAt": text}


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (20.5, "a Decimal. A float is not exact."),
        (20, 'text such as "12.50", or a Decimal.'),
        (None, "must be a string"),
        (Decimal("20.1234567"), "at most 6 fraction digits; nothing is rounded"),
        (Decimal("-1"), "digits with an optional fraction"),
        (Decimal("NaN"), "digits with an optional fraction"),
        (Decimal("1E+999999"), "digits with an optional fraction"),
        (Decimal("1E-999999"), "digits with an optional fraction"),
    ],
)
def test_a_constructor_refuses_other_amounts(value: Any, words: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        Budget(amount=value, currency="US", period="daily")
    amount, currency = refused.value.issues
    assert (amount.path, currency.path) == ("amount", "currency") and words in amount.message


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (datetime(2030, 3, 1, 8), "must have a time zone, such as datetime(2027, 3, 1, 8, tzinfo=UTC)"),
        (date(2030, 3, 1), "or a datetime with a time zone"),
        (1898582400, "or a datetime with a time zone"),
        (datetime(900, 3, 1, tzinfo=UTC), "in the years 1000 to 8999"),
    ],
)
@pytest.mark.parametrize("name", ["start_at", "startAt"])
def test_a_constructor_refuses_other_instants(name: str, value: Any, words: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        Schedule(**{name: value})
    (issue,) = refused.value.issues
    assert issue.path == name and words in issue.message


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("budget.amount", Decimal("20.50")),
        ("bid", Decimal("0.50")),
        ("schedule.startAt", datetime(2030, 3, 1, tzinfo=UTC)),
    ],
)
def test_json_and_mappings_hold_texts_alone(path: str, value: Any) -> None:
    assert issues(brief(path, value)) == [(path, "wrong_type")]


@pytest.mark.parametrize("model", [Budget, Schedule, CampaignBrief])
def test_type_checkers_see_the_members_of_the_model(model: type[Budget | Schedule | CampaignBrief]) -> None:
    """Their constructors are declared, since they take more than the members hold."""
    (declared,) = [
        node
        for node in ast.walk(ast.parse(dedent(inspect.getsource(model))))
        if isinstance(node, ast.FunctionDef) and node.name == "__init__"
    ]
    required = {
        argument.arg: default is None
        for argument, default in zip(declared.args.kwonlyargs, declared.args.kw_defaults, strict=True)
    }
    assert required == {name: field.is_required() for name, field in model.model_fields.items()}
    assert set(model.python_values) == {
        parameter.arg for parameter in declared.args.kwonlyargs if has_two_types(parameter)
    }


def has_two_types(argument: ast.arg) -> bool:
    assert argument.annotation is not None
    return ast.unparse(argument.annotation).removesuffix(" | None").startswith("str | ")


def members(schema: dict[str, Any], definitions: dict[str, Any], path: str = "") -> list[str]:
    paths = []
    for name, member in schema["properties"].items():
        there = f"{path}.{name}".strip(".")
        paths.append(there)
        if "$ref" in member:
            paths += members(definitions[member["$ref"].rpartition("/")[2]], definitions, there)
    return paths


SCHEMA = CampaignBrief.model_json_schema()
MEMBERS = members(SCHEMA, SCHEMA["$defs"])


def test_the_members_are_those_of_the_contract():
    assert len(MEMBERS) == 41
    assert "null" not in json.dumps(SCHEMA)


@pytest.mark.parametrize("path", MEMBERS)
def test_null_is_not_left_out(path):
    value = brief()
    if path.startswith("platform.locale."):
        value["platform"] = {"locale": {"country": "DE", "language": "de"}}
    *way, last = path.split(".")
    there: Any = value
    for name in way:
        there = there.setdefault(name, {})
    there[last] = None
    for form in forms(value):
        assert [where for where, _ in issues(form)] == [path]


@pytest.mark.parametrize(
    ("country", "code", "hint"),
    [
        ("UK", "unknown_country", "Did you mean GB?"),
        ("EL", "unknown_country", "Did you mean GR?"),
        ("uk", "malformed", "such as US."),
        ("XX", "unknown_country", "such as US."),
        ("ZZ", "unknown_country", "such as US."),
        ("EU", "unknown_country", "such as US."),
    ],
)
@pytest.mark.parametrize("path", ["targeting.countries", "platform.locale"])
def test_a_country_is_a_code_of_iso_3166(path, country, code, hint):
    value = [country] if path == "targeting.countries" else {"country": country, "language": "en"}
    where = "targeting.countries.0" if path == "targeting.countries" else "platform.locale.country"
    for form in forms(brief(path, value)):
        with pytest.raises(InvalidInput) as refused:
            read_brief(form)
        (issue,) = refused.value.issues
        assert (issue.path, issue.code) == (where, code) and issue.message.endswith(hint)


def test_every_country_of_the_standard_is_known():
    table = (files("tzdata") / "zoneinfo" / "iso3166.tab").read_text()
    assert (
        load_country_codes() == {line[:2] for line in table.splitlines() if line[0] != "#"}
        and len(load_country_codes()) == 249
    )
    assert (
        not {"UK", "EU", "XK", "XX", "ZZ"} & load_country_codes()
        and {"GB", "GR", "US", "AX", "TW"} <= load_country_codes()
    )


@pytest.mark.parametrize(
    "blank", ["   ", "\t\n ", "\u200b" * 3, "\u2060\ufeff\u00ad", "\u3164\u115f\u2800", "\u0301" * 3]
)
@pytest.mark.parametrize("path", ["name", "creative.headline", "creative.body", "platform.brandName"])
def test_a_text_shows_something(path, blank):
    for form in forms(brief(path, blank)):
        assert issues(form) == [(path, "blank")]
    assert read_brief(brief(path, f"{blank}é"))


@pytest.mark.parametrize(("member", "empty"), [("countries", []), ("locationIds", []), ("native", {})])
def test_an_explicit_empty_geography_is_refused(member, empty):
    for form in forms(brief("targeting", {member: empty})):
        assert issues(form) == [(f"targeting.{member}", "too_few")]


def test_native_targeting_replaces_the_shortcuts():
    native = {"geo_locations": {"cities": [{"key": "1"}]}}
    assert read_brief(BRIEF | {"targeting": {"native": native, "keywords": [{"text": "a"}]}}).targeting.native == native
    both = BRIEF | {"targeting": {"native": native, "countries": ["US"], "locationIds": ["1"]}}
    for form in forms(both):
        assert issues(form) == [("targeting.countries", "conflict"), ("targeting.locationIds", "conflict")]


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("headlines", ["a", "b", "c"]),
        ("descriptions", ["a", "b"]),
    ],
)
def test_existing_creative_excludes_what_it_brings_along(member, value):
    for form in forms(BRIEF | {"creative": {"existingId": "1", member: value}}):
        assert issues(form) == [(f"creative.{member}", "conflict")]
    assert len(Creative.model_fields) == 8


def test_all_issues_at_once():
    value = {
        "name": "a\0",
        "goal": "reach",
        "budget": {"amount": "0", "currency": "usd", "period": "daily", "x": 1},
        "bid": "1.1234567",
        "schedule": {"startAt": "2027-02-29T00:00:00Z", "endAt": 5},
        "targeting": {"countries": ["US", "us"], "native": {"a": "\0"}},
        "creative": {"existingId": "1", "headline": "", "url": "x"},
        "platform": [],
    }
    for form in forms(value):
        assert issues(form) == [
            ("bid", "over_precision"),
            ("budget.amount", "out_of_range"),
            ("budget.currency", "malformed"),
            ("budget.x", "unknown_property"),
            ("creative.headline", "too_short"),
            ("creative.url", "malformed"),
            ("goal", "not_a_choice"),
            ("name", "malformed"),
            ("name", "too_short"),
            ("platform", "wrong_type"),
            ("schedule.endAt", "wrong_type"),
            ("schedule.startAt", "no_such_date"),
            ("targeting.countries", "conflict"),
            ("targeting.countries.1", "malformed"),
            ("targeting.native.a", "malformed"),
        ]


@pytest.mark.parametrize(
    "data",
    [
        *(
            b"",
            b"{",
            b"[]",
            b"null",
            b"5",
            b'"a"',
            b"\xff\xfe",
            b"[" * 10**5,
            b'{"name":"\\ud800"}',
            '{"name":"\ud800ab"}',
        ),
        *({}, {1: 2}, {"name": "\ud800ab"}, {"targeting": {"native": {"a": "\ud800"}}}, {"targeting": object()}),
    ],
)
def test_nonsense_is_refused_with_the_one_error(data):
    assert issues(data)


NATIVE_NUMBERS = [
    ("0.1", Decimal("0.1")),
    ("0.12345678901234567890123", Decimal("0.12345678901234567890123")),
    ("1.10", Decimal("1.10")),
    ("1e-300", Decimal("1e-300")),
    ("12345678901234567890123", 12345678901234567890123),
    ("7", 7),
]


@pytest.mark.parametrize(("literal", "number"), NATIVE_NUMBERS)
def test_numbers_in_native_targeting_are_exact(literal, number):
    text = json.dumps(BRIEF | {"targeting": {"native": {"a": [{"b": "NUMBER"}], "c": None}}}).replace(
        '"NUMBER"', literal
    )
    for form in (text, text.encode()):
        read = read_brief(form)
        parsed_number = read.targeting.native["a"][0]["b"]
        assert (parsed_number, type(parsed_number)) == (number, type(number))
        assert exact_json.loads(exact_json.dumps(read.to_json())) == exact_json.loads(text) | {"platform": {}}
        assert CampaignBrief.model_validate_json(form) == read


def test_python_floats_become_decimals_of_the_same_digits():
    assert read_brief(BRIEF | {"targeting": {"native": {"a": 0.1}}}).targeting.native == {"a": Decimal("0.1")}


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), Decimal("NaN"), Decimal("1e999"), 10**400, {1, 2}, b"a", object(), {1: 2}, {"\0": 1}],
)
def test_native_targeting_is_json(value):
    refusals = issues(BRIEF | {"targeting": {"native": {"a": value}}})
    assert {path for path, _ in refusals} == {"targeting.native.a"}
    assert {code for _, code in refusals} <= {"out_of_range", "wrong_type", "malformed"}


@pytest.mark.parametrize("literal", ["NaN", "Infinity", "1e400", "1" * 500 + ".5"])
def test_native_targeting_refuses_what_is_no_number(literal):
    text = json.dumps(BRIEF | {"targeting": {"native": {"a": "NUMBER"}}}).replace('"NUMBER"', literal)
    assert issues(text)


def test_native_targeting_has_a_depth():
    deep: dict[str, Any] = {}
    for _ in range(100):
        deep = {"a": deep}
    for form in forms(BRIEF | {"targeting": {"native": deep}}):
        ((_, code),) = issues(form)
        assert code == "too_deep"


def test_the_brief_is_copied_and_does_not_change():
    given_ = BRIEF | {"targeting": {"native": {"a": {"b": [1]}}, "keywords": [{"text": "a"}]}}
    before = copy.deepcopy(given_)
    read = read_brief(given_)
    assert given_ == before
    given_["targeting"]["native"]["a"]["b"].append(2)
    given_["targeting"]["keywords"].clear()
    assert read.targeting.native == {"a": {"b": [1]}}
    assert len(read.targeting.keywords) == 1
    with pytest.raises(ValidationError):
        read.name = "other"
    with pytest.raises(ValidationError):
        read.budget.amount = "1000000"


def test_model_validation_has_the_same_rules():
    inherited = BRIEF | {"creative": {"existingId": "1", "descriptions": ["a", "b"]}}
    for value in (brief("bid", "0"), brief("name", "a\0bc"), inherited):
        with pytest.raises(ValidationError):
            CampaignBrief.model_validate(value)
        with pytest.raises(ValidationError):
            CampaignBrief.model_validate_json(json.dumps(value))
    with pytest.raises(TypeError, match="no settings"):
        CampaignBrief.model_validate_json(json.dumps(BRIEF), strict=False)


def test_messages_never_repeat_the_value():
    secret = "s3cr3t-s3cr3t"
    flat = dict.fromkeys(SCHEMA["properties"], secret)
    deep = {
        "name": "",
        "goal": secret,
        "budget": {"amount": secret, "currency": secret, "period": secret},
        "schedule": {"startAt": secret, "endAt": secret},
        "targeting": {
            "countries": [secret],
            "keywords": [{"text": "", "match": secret}],
            "native": {"a": secret + "\0"},
        },
        "creative": {"existingId": secret, "url": secret, "imageUrl": secret, "headlines": [secret * 9] * 3},
        "platform": {"euPoliticalAdvertising": secret, "locale": {"country": secret, "language": secret}},
    }
    for case in (flat, deep):
        for form in (*forms(case), json.dumps(case)[:-1]):
            with pytest.raises(InvalidInput) as refused:
                read_brief(form)
            assert secret not in str(refused.value)
            with pytest.raises(ValidationError) as invalid:
                CampaignBrief.model_validate_json(form) if isinstance(form, str) else CampaignBrief.model_validate(case)
            assert secret not in str(invalid.value)


def test_paths_show_a_bounded_part_of_unknown_names():
    ((path, _),) = issues(brief("x" * 10**5, 1))
    assert len(path) == 60


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.decimals(-1000, 1000, places=3), st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    max_leaves=8,
)


@settings(deadline=None)
@given(st.sampled_from(MEMBERS), JSON)
def test_any_json_anywhere_is_read_alike_in_all_forms(path, value):
    document = brief()
    if path.startswith("platform.locale."):
        document["platform"] = {"locale": {"country": "DE", "language": "de"}}
    *way, last = path.split(".")
    there: Any = document
    for name in way:
        there = there.setdefault(name, {})
    there[last] = value
    results = []
    for form in forms(document):
        try:
            results.append(read_brief(form).to_json())
        except InvalidInput as refused:
            results.append(sorted((issue.path, issue.code) for issue in refused.issues))
    assert results[0] == results[1] == results[2]


def test_a_deeply_nested_amount_is_refused() -> None:
    """pydantic does not parse so deep a list, so that the members are checked as they were given."""
    brief = {
        "name": "Chairs",
        "goal": "traffic",
        "budget": {"amount": "@", "currency": "USD", "period": "daily"},
        "schedule": {"startAt": "2030-01-15T09:00:00Z"},
        "targeting": {},
        "creative": {},
    }
    with pytest.raises(InvalidInput):
        parse_model(CampaignBrief, json.dumps(brief).replace('"@"', "[" * 250 + "]" * 250))
