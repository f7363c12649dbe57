"""What is refused at the edge: every limit with its last good and first bad value, and nothing stored by a refusal."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest

from adsunify import InvalidInput, NativeAccount, plan, read_brief
from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.values import countries

from .served import NEVER, PREFIX, Served, brief

pytestmark = pytest.mark.asyncio(loop_scope="module")

SECRET = "s3cr3t-value"
MANY_COUNTRIES = sorted(countries.load_country_codes())[:51]
DAYS = {"startDate": "2026-01-01", "endDate": "2026-01-02"}


def make_bulk_body(**changes: Any) -> dict[str, Any]:
    return {"accountId": NEVER, "kind": "campaign", "entityIds": ["1"], "status": "paused"} | changes


def make_brief_body(**changes: Any) -> dict[str, Any]:
    return {"accountId": NEVER, "campaign": brief("meta", **changes)}


REFUSED: list[tuple[str, str, Any, set[tuple[str, str]]]] = [
    # keys
    ("POST", "/keys", {}, {("name", "required")}),
    ("POST", "/keys", {"name": ""}, {("name", "too_short")}),
    ("POST", "/keys", {"name": "x" * 81}, {("name", "too_long")}),
    ("POST", "/keys", {"name": None}, {("name", "wrong_type")}),
    ("POST", "/keys", {"name": "a\0b"}, {("name", "malformed")}),
    ("POST", "/keys", {"name": "x", "canWrite": "true"}, {("canWrite", "wrong_type")}),
    ("POST", "/keys", {"name": "x", "canWrite": 1}, {("canWrite", "wrong_type")}),
    ("POST", "/keys", {"name": "x", "expiresAt": "2030-01-01"}, {("expiresAt", "malformed")}),
    ("POST", "/keys", {"name": "x", "expiresAt": "2030-02-30T00:00:00Z"}, {("expiresAt", "no_such_date")}),
    ("POST", "/keys", {"name": "x", "expiresAt": "2030-01-01T00:00:00"}, {("expiresAt", "malformed")}),
    ("POST", "/keys", {"name": "x", "expiresAt": "2020-01-01T00:00:00Z"}, {("expiresAt", "past")}),
    (
        "POST",
        "/keys",
        {"secret": SECRET, "scope": "x"},
        {("name", "required"), ("secret", "unknown_property"), ("scope", "unknown_property")},
    ),
    ("POST", "/keys", [], {("", "wrong_type")}),
    ("POST", "/keys", None, {("name", "required")}),
    # connections
    ("POST", "/connections/authorize", {}, {("network", "required")}),
    ("POST", "/connections/authorize", {"network": "chatgpt"}, {("network", "not_a_choice")}),
    ("POST", "/connections/authorize", {"network": "META"}, {("network", "not_a_choice")}),
    ("POST", "/connections/credentials", {}, {("network", "required")}),
    ("POST", "/connections/credentials", {"network": "meta", "apiKey": SECRET}, {("network", "not_a_choice")}),
    ("POST", "/connections/credentials", {"network": ["chatgpt"], "apiKey": SECRET}, {("network", "not_a_choice")}),
    ("POST", "/connections/credentials", {"network": "chatgpt"}, {("apiKey", "required")}),
    (
        "POST",
        "/connections/credentials",
        {"network": "outbrain", "username": "u", "password": 5},
        {("password", "wrong_type"), ("password", "required")},
    ),
    ("POST", "/connections/credentials", {"network": "chatgpt", "apiKey": ""}, {("apiKey", "too_short")}),
    ("POST", "/connections/credentials", {"network": "outbrain", "username": "u"}, {("password", "required")}),
    (
        "POST",
        "/connections/credentials",
        {"network": "outbrain", "apiKey": SECRET, "username": "u"},
        {("username", "unknown_property")},
    ),
    (
        "POST",
        "/connections/credentials",
        {"network": "apple", "clientId": "c", "teamId": "t", "password": SECRET, "more": SECRET},
        {
            ("keyId", "required"),
            ("privateKey", "required"),
            ("password", "unknown_property"),
            ("more", "unknown_property"),
        },
    ),
    # campaigns
    ("POST", "/validate-campaign", {}, {("accountId", "required"), ("campaign", "required")}),
    ("POST", "/create", {"accountId": "1", "campaign": []}, {("accountId", "malformed"), ("campaign", "wrong_type")}),
    ("POST", "/create", make_brief_body(name="ab"), {("campaign.name", "too_short")}),
    ("POST", "/create", make_brief_body(name="x" * 101), {("campaign.name", "too_long")}),
    ("POST", "/create", make_brief_body(goal="sales"), {("campaign.goal", "not_a_choice")}),
    ("POST", "/create", make_brief_body(extra=SECRET), {("campaign.extra", "unknown_property")}),
    ("POST", "/create", make_brief_body(budget__amount="0"), {("campaign.budget.amount", "out_of_range")}),
    ("POST", "/create", make_brief_body(budget__amount="1.0000001"), {("campaign.budget.amount", "over_precision")}),
    ("POST", "/create", make_brief_body(budget__amount=20), {("campaign.budget.amount", "wrong_type")}),
    ("POST", "/create", make_brief_body(budget__currency="usd"), {("campaign.budget.currency", "malformed")}),
    ("POST", "/create", make_brief_body(budget__period="weekly"), {("campaign.budget.period", "not_a_choice")}),
    ("POST", "/create", make_brief_body(schedule__startAt="2030-01-15"), {("campaign.schedule.startAt", "malformed")}),
    (
        "POST",
        "/create",
        make_brief_body(targeting__countries=MANY_COUNTRIES),
        {("campaign.targeting.countries", "too_many")},
    ),
    (
        "POST",
        "/create",
        make_brief_body(targeting__countries=["us"]),
        {("campaign.targeting.countries.0", "malformed")},
    ),
    (
        "POST",
        "/create",
        make_brief_body(targeting__keywords=[{"text": "a"}, {"text": ""}, {"text": "x" * 81, "match": "near"}]),
        {
            ("campaign.targeting.keywords.1.text", "too_short"),
            ("campaign.targeting.keywords.2.text", "too_long"),
            ("campaign.targeting.keywords.2.match", "not_a_choice"),
        },
    ),
    ("POST", "/create", make_brief_body(targeting__locationIds=["x" * 251]), {
        ("campaign.targeting.locationIds.0", "too_long")
    }),
    ("POST", "/create", make_brief_body(creative__headline="x" * 301), {("campaign.creative.headline", "too_long")}),
    ("POST", "/create", make_brief_body(creative__body="x" * 3001), {("campaign.creative.body", "too_long")}),
    ("POST", "/create", make_brief_body(creative__headlines=["a", "b"]), {("campaign.creative.headlines", "too_few")}),
    ("POST", "/create", make_brief_body(creative__headlines=["x" * 31] * 3 + ["y"]), {
        ("campaign.creative.headlines.0", "too_long"),
        ("campaign.creative.headlines.1", "too_long"),
        ("campaign.creative.headlines.2", "too_long"),
    }),
    ("POST", "/create", make_brief_body(creative__descriptions=["a"]), {("campaign.creative.descriptions", "too_few")}),
    ("POST", "/create", make_brief_body(creative__url="chairs"), {("campaign.creative.url", "malformed")}),
    ("POST", "/create", make_brief_body(platform__specialAdCategories=["x"] * 11), {
        ("campaign.platform.specialAdCategories", "too_many")
    }),
    ("POST", "/activate", {}, {("accountId", "required"), ("sourceOperationId", "required")}),
    ("POST", "/activate", {"accountId": NEVER, "sourceOperationId": f"{{{NEVER}}}"}, {
        ("sourceOperationId", "malformed")
    }),
    # operations
    ("POST", f"/operations/{NEVER}/execute", {}, {("confirmed", "required")}),
    ("POST", f"/operations/{NEVER}/execute", {"confirmed": False}, {("confirmed", "not_a_choice")}),
    ("POST", f"/operations/{NEVER}/execute", {"confirmed": 1}, {("confirmed", "wrong_type")}),
    ("POST", f"/operations/{NEVER}/execute", {"confirmed": "true"}, {("confirmed", "wrong_type")}),
    ("POST", f"/operations/{NEVER}/execute", {"confirmed": None}, {("confirmed", "wrong_type")}),
    ("POST", f"/operations/{NEVER}/execute", {"confirmed": True, "force": True}, {("force", "unknown_property")}),
    ("POST", f"/operations/{NEVER}/cancel", {"reason": SECRET}, {("reason", "unknown_property")}),
    ("POST", "/operations/execute", {}, {("operationIds", "required"), ("confirmed", "required")}),
    ("POST", "/operations/execute", {"operationIds": [], "confirmed": True}, {("operationIds", "too_few")}),
    ("POST", "/operations/execute", {"operationIds": [NEVER] * 51, "confirmed": True}, {("operationIds", "too_many")}),
    ("POST", "/operations/execute", {"operationIds": [NEVER, "x"], "confirmed": True}, {
        ("operationIds.1", "malformed")
    }),
    ("POST", "/operations/execute", {"operationIds": [NEVER, NEVER], "confirmed": True}, {
        ("operationIds.1", "duplicate")
    }),
    # bulk status
    ("POST", "/bulk-status", {}, {
        ("accountId", "required"), ("kind", "required"), ("entityIds", "required"), ("status", "required")
    }),
    ("POST", "/bulk-status", make_bulk_body(kind="keyword"), {("kind", "not_a_choice")}),
    ("POST", "/bulk-status", make_bulk_body(status="deleted"), {("status", "not_a_choice")}),
    ("POST", "/bulk-status", make_bulk_body(entityIds=[]), {("entityIds", "too_few")}),
    ("POST", "/bulk-status", make_bulk_body(entityIds=[str(n) for n in range(51)]), {("entityIds", "too_many")}),
    ("POST", "/bulk-status", make_bulk_body(entityIds=["1", ""]), {("entityIds.1", "too_short")}),
    ("POST", "/bulk-status", make_bulk_body(entityIds=["x" * 251]), {("entityIds.0", "too_long")}),
    ("POST", "/bulk-status", make_bulk_body(entityIds=["1", 2]), {("entityIds.1", "wrong_type")}),
    ("POST", "/bulk-status", make_bulk_body(entityIds=["1", "2", "1", "1"]), {
        ("entityIds.2", "duplicate"), ("entityIds.3", "duplicate")
    }),
]  # fmt: skip


@pytest.mark.parametrize(("method", "path", "body", "issues"), REFUSED)
async def test_bodies(empty: Served, method: str, path: str, body: Any, issues: set[tuple[str, str]]) -> None:
    before = await empty.rows()
    problem = await empty.admin.problem(422, method, path, body)
    assert {(issue["path"], issue["code"]) for issue in problem["issues"]} == issues
    assert len(problem["issues"]) == len(issues)
    assert (problem["code"], problem["outcome"]) == ("invalid_input", "not_applied")
    assert SECRET not in json.dumps(problem)
    assert await empty.rows() == before


ACCEPTED: list[tuple[str, Any]] = [
    ("/create", make_brief_body(name="abc")),
    ("/create", make_brief_body(name="x" * 100, budget__amount="0.000001", budget__currency="XXX")),
    (
        "/create",
        make_brief_body(targeting__countries=MANY_COUNTRIES[:50], targeting__keywords=[{"text": "x" * 80}] * 50),
    ),
    ("/create", make_brief_body(creative__headline="x" * 300, creative__body="x" * 3000)),
    ("/create", make_brief_body(creative__headlines=["x" * 30] * 15, creative__descriptions=["x" * 90] * 4)),
    (
        "/create",
        make_brief_body(platform__specialAdCategories=["x"] * 10, schedule__startAt="2030-01-15T09:00:00.5+14:00"),
    ),
    ("/validate-campaign", make_brief_body()),
    ("/bulk-status", make_bulk_body(entityIds=[str(n) for n in range(50)])),
    ("/bulk-status", make_bulk_body(kind="adGroup", entityIds=["x" * 250], status="active")),
    ("/bulk-status", make_bulk_body(kind="ad", entityIds=["é \n/"])),
]


@pytest.mark.parametrize(("path", "body"), ACCEPTED)
async def test_the_last_good_values(empty: Served, path: str, body: Any) -> None:
    """They pass the edge: what is refused then is that there is no such account."""
    assert (await empty.admin.problem(404, "POST", path, body))["code"] == "not_found"


@pytest.mark.parametrize("network", list(ADAPTER_PACKAGES))
@pytest.mark.parametrize("member", ["url", "imageUrl"])
@pytest.mark.parametrize("scheme", ["https", "z"])
async def test_addresses_that_parsers_refuse(network: str, member: str, scheme: str) -> None:
    """The document allows them: planned or refused they are, and no defect."""
    campaign_brief = read_brief(brief(network, **{f"creative__{member}": f"{scheme}://[5aADe5EddB]"}))
    with suppress(InvalidInput):
        plan(campaign_brief, NativeAccount(network, "1", "USD", "UTC"))


@pytest.mark.parametrize("name", ["x", "x" * 80, "ключ 🗝"])
async def test_names_of_keys(empty: Served, name: str) -> None:
    assert (await empty.admin.post("/keys", {"name": name}, 201))["name"] == name


QUERIES: list[tuple[str, Any, set[tuple[str, str]]]] = [
    ("/keys", {"limit": "1"}, {("limit", "unknown_property")}),
    ("/operations", {"cursor": SECRET, "limit": "0"}, {("limit", "out_of_range")}),
    ("/accounts", {"network": "myspace"}, {("network", "not_a_choice")}),
    ("/accounts", {"network": ""}, {("network", "not_a_choice")}),
    ("/accounts", {"Network": "meta"}, {("Network", "unknown_property")}),
    ("/accounts", [("network", "meta"), ("network", "google")], {("network", "repeated")}),
    (f"/accounts/{NEVER}/insights", {}, {("startDate", "required"), ("endDate", "required")}),
    (f"/accounts/{NEVER}/insights", DAYS | {"startDate": "2026-02-30"}, {("startDate", "malformed")}),
    (f"/accounts/{NEVER}/insights", DAYS | {"startDate": "86400"}, {("startDate", "malformed")}),
    (f"/accounts/{NEVER}/insights", DAYS | {"endDate": "2026-01-02T00:00:00"}, {("endDate", "malformed")}),
    (f"/accounts/{NEVER}/insights", DAYS | {"endDate": "20260102"}, {("endDate", "malformed")}),
    (f"/accounts/{NEVER}/insights", DAYS | {"granularity": "hour"}, {("granularity", "unknown_property")}),
    (f"/accounts/{NEVER}/catalogs/geo", {"limit": "0"}, {("limit", "out_of_range")}),
    (f"/accounts/{NEVER}/catalogs/geo", {"limit": "101"}, {("limit", "out_of_range")}),
    (f"/accounts/{NEVER}/catalogs/geo", {"limit": "5.0"}, {("limit", "wrong_type")}),
    (f"/accounts/{NEVER}/catalogs/geo", {"limit": "1_0"}, {("limit", "wrong_type")}),
    (f"/accounts/{NEVER}/catalogs/geo", {"limit": " 5"}, {("limit", "wrong_type")}),
    (f"/accounts/{NEVER}/catalogs/geo", {"limit": "٣"}, {("limit", "wrong_type")}),
    (f"/accounts/{NEVER}/catalogs/geo", {"search": ""}, {("search", "too_short")}),
    (f"/accounts/{NEVER}/catalogs/geo", {"search": "x" * 201}, {("search", "too_long")}),
    (f"/accounts/{NEVER}/catalogs/geo", {"search": "a\0"}, {("search", "malformed")}),
]


@pytest.mark.parametrize(("path", "query", "issues"), QUERIES)
async def test_queries(empty: Served, path: str, query: Any, issues: set[tuple[str, str]]) -> None:
    problem = await empty.admin.problem(422, "GET", path, query=query)
    assert {(issue["path"], issue["code"]) for issue in problem["issues"]} == issues
    assert SECRET not in json.dumps(problem)


@pytest.mark.parametrize(
    ("method", "path", "name"),
    [
        ("GET", "/accounts/{}", "accountId"),
        ("GET", "/accounts/{}/tree", "accountId"),
        ("GET", "/operations/{}", "operationId"),
        ("POST", "/operations/{}/cancel", "operationId"),
        ("DELETE", "/keys/{}", "keyId"),
        ("DELETE", "/connections/{}", "connectionId"),
    ],
)
@pytest.mark.parametrize(
    "id_", ["x", NEVER[:-1], NEVER.replace("-", ""), NEVER + "0", "%7B" + NEVER[1:-1] + "%7D", NEVER[:-1] + "%00"]
)
async def test_malformed_ids_in_the_path(empty: Served, method: str, path: str, name: str, id_: str) -> None:
    assert await empty.admin.read_issues(method, path.format(id_)) == {(name, "malformed")}


async def test_ids_are_the_same_in_either_case(empty: Served) -> None:
    key = await empty.admin.post("/keys", {"name": "x"}, 201)
    assert (await empty.admin.delete(f"/keys/{key['keyId'].upper()}"))["keyId"] == key["keyId"]


@pytest.mark.parametrize(
    ("path", "issues"),
    [
        ("/networks/myspace", {("network", "choice")}),
        ("/networks/Meta", {("network", "malformed")}),
        ("/networks/nobody", {("network", "choice")}),
        (f"/accounts/{NEVER}/catalogs/geo%20x", {("resource", "malformed")}),
        (f"/accounts/{NEVER}/catalogs/geo:", {("resource", "malformed")}),
        (f"/accounts/{NEVER}/catalogs/geo:a:b", {("resource", "malformed")}),
    ],
)
async def test_other_path_parameters(empty: Served, path: str, issues: set[tuple[str, str]]) -> None:
    assert await empty.admin.read_issues("GET", path) == issues


async def test_all_that_is_wrong_is_said_at_once(empty: Served) -> None:
    issues = await empty.admin.read_issues(
        "POST",
        "/operations/x/execute",
        {"confirmed": 0, "a": 1},
        query={"dry": "1"},
        headers={"Idempotency-Key": "k" * 201},
    )
    assert issues == {
        ("operationId", "malformed"),
        ("Idempotency-Key", "length"),
        ("dry", "unknown_property"),
        ("confirmed", "wrong_type"),
        ("a", "unknown_property"),
    }


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b'{"name": }',
        b"name",
        b'{"name": "x"} x',
        b"\xff\xfe",
        b'\xef\xbb\xbf{"name": "x"}',
        b'{"name": "\xff"}',
        b'{"name": "\\ud800"}',
        b"[" * 5000,
    ],
)
async def test_malformed_json(empty: Served, content: bytes) -> None:
    assert await empty.admin.read_issues("POST", "/keys", content=content) == {("", "malformed_json")}


@pytest.mark.parametrize("account_id", ["\ud800", "\x00", "x", "ä"])
@pytest.mark.parametrize("path", ["/create", "/validate-campaign"])
async def test_an_account_id_that_is_none_in_a_refused_brief(both: Served, path: str, account_id: str) -> None:
    """What else the network would say is looked for in the body as it came."""
    content = json.dumps({"accountId": account_id, "campaign": {"name": 1}})
    issues = await both.admin.read_issues("POST", path, content=content.encode())
    assert issues & {("", "malformed_json"), ("accountId", "malformed")}


@pytest.mark.parametrize(
    ("path", "content", "expected"),
    [
        (f"/operations/{NEVER}/execute", '{"confirmed": false, "confirmed": true}', {"confirmed"}),
        (f"/operations/{NEVER}/execute", '{"confirmed": true, "confirmed": true}', {"confirmed"}),
        (f"/operations/{NEVER}/execute", '{"confirmed": false, "confirm\\u0065d": true}', {"confirmed"}),
        (f"/operations/{NEVER}/cancel", '{"x": 1, "x": 1}', {"x"}),
        ("/keys", '{"name": "x", "canWrite": false, "canWrite": true}', {"canWrite"}),
        (
            f"/accounts/{NEVER}/campaigns",
            '{"payload": {"list": [{}, {"budget": 1, "budget": 9000.5}], "a": 1, "a": 2}}',
            {"payload.a", "payload.list.1.budget"},
        ),
    ],
)
async def test_a_member_is_named_once(empty: Served, path: str, content: str, expected: set[str]) -> None:
    """Readers disagree about which one counts: the first, the last, or both."""
    before = await empty.rows()
    issues = await empty.admin.read_issues("POST", path, content=content.encode())
    assert {(name.replace("/", "."), code) for name, code in issues} >= {(name, "repeated") for name in expected}
    assert await empty.rows() == before


async def test_a_brief_that_names_a_member_twice(both: Served) -> None:
    whole = json.dumps({"accountId": both.accounts["meta"], "campaign": brief("meta")})
    for path in ("/create", "/validate-campaign"):
        for member, twice in (
            ("amount", "campaign.budget.amount"),
            ("campaign", "campaign"),
            ("goal", "campaign.goal"),
        ):
            content = whole.replace(f'"{member}": ', f'"{member}": "1", "{member}": ', 1)
            assert await both.admin.read_issues("POST", path, content=content.encode()) == {(twice, "repeated")}
    both_wrong = whole.replace('"goal": "', '"goal": "x", "goal": "x').encode()
    assert await both.admin.read_issues("POST", "/create", content=both_wrong) == {
        ("campaign.goal", "repeated"),
        ("campaign.goal", "not_a_choice"),
    }


@pytest.mark.parametrize("content", [b"null", b"[]", b'"x"', b"1", b"true"])
async def test_json_that_is_no_object(empty: Served, content: bytes) -> None:
    assert await empty.admin.read_issues("POST", "/keys", content=content) == {("", "wrong_type")}


# -- how much is said -----------------------------------------------------------------------------------------------

BRIEF = {
    "name": "A campaign",
    "goal": "traffic",
    "budget": {"amount": "10", "currency": "USD", "period": "daily"},
    "schedule": {"startAt": "2030-01-01T00:00:00Z"},
    "targeting": {},
    "creative": {},
}
LISTS = ("locations", "excludedLocations", "languages", "interests", "excludedInterests", "devices", "placements")
WRONG_ITEM = {"id": 1, "name": 2, "type": 3, "radiusKm": "x"}


def make_targeting_call(**targeting: Any) -> tuple[str, str, Any]:
    body = {"accountId": NEVER, "campaign": {**BRIEF, "targeting": targeting}}
    return "POST", "/validate-campaign", body


def make_payload_call(value: Any) -> tuple[str, str, Any]:
    return "POST", f"/accounts/{NEVER}/campaigns", {"payload": {"a": value}}


TOO_MUCH: dict[str, tuple[tuple[str, str, Any], set[str]]] = {
    "a list": (
        make_targeting_call(countries=[1] * 40_000),
        {"campaign.targeting.countries", "campaign.targeting.countries.49"},
    ),
    "objects": (
        make_targeting_call(keywords=[{}] * 20_000),
        {"campaign.targeting.keywords", "campaign.targeting.keywords.49.text"},
    ),
    "a longer list": (make_targeting_call(countries=[1] * 300_000), {"too_many"}),
    "native": (make_targeting_call(native={"a": ["\0"] * 40_000}), {"39901 more issues are not shown."}),
    "unknown members": (
        make_targeting_call(**{str(number): 1 for number in range(40_000)}),
        {"39901 more issues are not shown."},
    ),
    "events": (("POST", "/webhooks", {"url": "https://x.example", "events": ["x"] * 40_000}), {"events", "events.14"}),
    "ids": (("POST", "/operations/execute", {"operationIds": ["x"] * 40_000}), {"operationIds"}),
    "items": (
        ("POST", f"/accounts/{NEVER}/campaigns/1/edit", {"targeting": dict.fromkeys(LISTS, [WRONG_ITEM] * 500)}),
        {"13901 more issues are not shown."},
    ),
    "fields": (
        ("POST", f"/accounts/{NEVER}/campaigns/1/edit", {"fields": {str(number): {} for number in range(20_000)}}),
        {"fields"},
    ),
    "values": (make_payload_call([[0] * 10] * 30_000), {"too_many"}),
    "large numbers": (make_payload_call([10**310] * 2_000), {"1901 more issues are not shown."}),
    "U+0000": (make_payload_call(["\0"] * 2_000), {"1901 more issues are not shown."}),
}


@pytest.mark.parametrize(("refused_call", "expected"), TOO_MUCH.values(), ids=TOO_MUCH)
async def test_at_most_a_hundred_issues_are_said(
    empty: Served, refused_call: tuple[str, str, Any], expected: set[str]
) -> None:
    """However much is wrong: lists are cut at their limit, and the last issue says how many more there are."""
    problem = await empty.admin.problem(422, *refused_call)
    assert len(problem["issues"]) <= 100 and len(json.dumps(problem)) < 100_000
    assert expected <= {word for issue in problem["issues"] for word in issue.values()}


async def test_a_full_edit_is_read_whole(empty: Served) -> None:
    """All that the contract allows is within the bounds; the account is not found then."""
    item = {"id": "x" * 10, "name": "y", "type": "z", "radiusKm": 1.5, "meta": {"a": [1.5, 2]}}
    targeting = {name: [{**item, "id": f"{name}{number}"} for number in range(500)] for name in LISTS}
    body = {"fields": {"name": "n"}, "targeting": {**targeting, "ageMin": 18}}
    await empty.admin.problem(404, "POST", f"/accounts/{NEVER}/campaigns/1/edit", body)


# -- HTTP ---------------------------------------------------------------------------------------------------------


async def test_a_body_is_at_most_a_mebibyte(empty: Served) -> None:
    problem = await empty.admin.problem(413, "POST", "/keys", content=b" " * (1024 * 1024) + b"{}")
    assert (problem["code"], problem["outcome"]) == ("body_too_large", "not_applied")
    largest = b'{"name": "x"}'.ljust(1024 * 1024)
    assert (await empty.admin.send("POST", "/keys", content=largest)).status_code == 201


@pytest.mark.parametrize("media_type", ["text/plain", "application/x-www-form-urlencoded", "application/xml", ""])
async def test_a_body_is_json(empty: Served, media_type: str) -> None:
    problem = await empty.admin.problem(
        415, "POST", "/keys", content=b'{"name": "x"}', headers={"Content-Type": media_type}
    )
    assert (problem["code"], problem["outcome"]) == ("unsupported_media_type", "not_applied")


async def test_a_body_may_say_its_charset(empty: Served) -> None:
    headers = {"Content-Type": "application/json; charset=utf-8"}
    assert (await empty.admin.send("POST", "/keys", content=b'{"name": "x"}', headers=headers)).status_code == 201


@pytest.mark.parametrize(
    ("accept", "status"),
    [
        ("application/json", 200),
        ("*/*", 200),
        ("application/*;q=0.5", 200),
        ("text/html, application/json;q=0.9", 200),
        ("", 200),
        ("text/html", 406),
        ("application/xml, text/*", 406),
    ],
)
async def test_what_the_caller_accepts(empty: Served, accept: str, status: int) -> None:
    answer = await empty.admin.send("GET", "/auth/verify", headers={"Accept": accept})
    assert answer.status_code == status
    if status == 406:
        assert answer.json()["code"] == "not_acceptable"


async def test_a_header_that_stands_once(empty: Served) -> None:
    """Proxies and servers disagree about which of two counts, so neither does."""
    good = f"Bearer {empty.people['admin'].tokens['write']}"
    once = [("Authorization", good), ("Content-Type", "application/json")]
    before = await empty.rows()
    for name, values in (
        ("Authorization", (good, good)),
        ("Authorization", (good, "Bearer x")),
        ("authorization", ("Basic x", good)),
        ("Content-Type", ("application/json", "text/plain")),
        ("Origin", (empty.base_url, "https://evil.example")),
        ("MCP-Protocol-Version", ("2025-11-25", "2025-03-26")),
    ):
        headers = [(known, value) for known, value in once if known.lower() != name.lower()]
        headers += [(name, value) for value in values]
        for path in (f"{PREFIX}/keys", "/api/mcp", "/oauth/register", "/sign-in"):
            answer = await empty.http.post(path, content=b'{"name": "x"}', headers=headers)
            problem = answer.json()
            assert (answer.status_code, problem["code"]) == (400, "malformed_request"), (name, path, answer.text)
            assert problem["outcome"] == "not_applied"
    for read in (f"{PREFIX}/auth/verify", "/keys"):
        answer = await empty.http.get(read, headers=[("Authorization", good), ("Authorization", good)])
        assert answer.status_code == 400 and "Authorization must be given once" in answer.text
    assert await empty.rows() == before


async def test_a_defect_is_a_problem_without_its_reason(empty: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unforeseen error has the outcome unknown, and its reason stays in the log."""

    async def fail_with_secret(*_: object, **__: object) -> None:
        raise ZeroDivisionError(SECRET)

    monkeypatch.setattr(type(empty.service.store), "read", fail_with_secret)
    problem = await empty.admin.problem(500, "GET", "/keys")
    assert (problem["code"], problem["outcome"]) == ("internal_error", "unknown")
    assert SECRET not in json.dumps(problem)


# -- an empty geography -----------------------------------------------------------------------------------------------

_LINKEDIN_PLACES = "urn:li:adTargetingFacet:locations"
EMPTY_PLACES: list[tuple[str, dict[str, Any], str]] = [
    ("apple", {"countryOrRegion": {"include": []}}, "countryOrRegion.include"),
    ("apple", {"countryOrRegion": {"include": ["US"]}, "adminArea": {"include": []}}, "adminArea.include"),
    ("apple", {"countryOrRegion": {"include": ["US"]}, "locality": {"include": []}}, "locality.include"),
    ("chatgpt", {"locations": {}}, "locations"),
    ("chatgpt", {"locations": {"countries": []}}, "locations.countries"),
    ("chatgpt", {"locations": {"countries": ["US"], "include": []}}, "locations.include"),
    ("google", {"campaignCriteria": [{"location": {}}]}, "campaignCriteria.0.location"),
    (
        "google",
        {"campaignCriteria": [{"location": {"geoTargetConstant": ""}}]},
        "campaignCriteria.0.location.geoTargetConstant",
    ),
    ("linkedin", {"include": {"and": [{"or": {_LINKEDIN_PLACES: []}}]}}, f"include.and.0.or.{_LINKEDIN_PLACES}"),
    ("meta", {"geo_locations": {}}, "geo_locations"),
    ("meta", {"geo_locations": {"countries": []}}, "geo_locations.countries"),
    ("meta", {"geo_locations": {}, "custom_audiences": [{"id": "1"}]}, "geo_locations"),
    ("outbrain", {"platform": ["DESKTOP"], "locations": []}, "locations"),
    ("pinterest", {"LOCATION": []}, "LOCATION"),
    ("pinterest", {"LOCATION": [""]}, "LOCATION.0"),
    ("pinterest", {"LOCATION": ["US"], "GEO": []}, "GEO"),
    ("reddit", {"geolocations": []}, "geolocations"),
    ("reddit", {"geolocations": None, "communities": ["homeimprovement"]}, "geolocations"),
    ("snapchat", {"geos": []}, "geos"),
    ("snapchat", {"geos": [{"country_code": ""}]}, "geos.0.country_code"),
    ("snapchat", {"geos": [{"country_code": "us", "region_id": []}]}, "geos.0.region_id"),
    ("tiktok", {"location_ids": []}, "location_ids"),
    ("tiktok", {"location_ids": ["6252001"], "zipcode_ids": []}, "zipcode_ids"),
    ("x", {"criteria": []}, "criteria"),
]


_EMPTY_NATIVE: list[tuple[str, dict[str, Any], str]] = [
    (code, {}, "")
    for code in ADAPTER_PACKAGES
    if any(
        row.path == "targeting.native" and row.requirement != "refused"
        for form in get_adapter(code).network.formats
        for row in form.inputs
    )
]


@pytest.mark.parametrize(("network", "native", "path"), EMPTY_PLACES + _EMPTY_NATIVE)
async def test_an_empty_native_geography_is_refused(
    server: Served, network: str, native: dict[str, Any], path: str
) -> None:
    """Natively it means the whole world, or a refusal after the campaign has been made."""
    changes = {"targeting__countries": None, "targeting__native": native}
    body = {"accountId": server.accounts[network], "campaign": brief(network, **changes)}
    request_count = len(server.networks.requests)
    for door in ("/validate-campaign", "/create"):
        (issue,) = (await server.admin.problem(422, "POST", door, body))["issues"]
        assert issue["path"] == f"campaign.targeting.native.{path}".rstrip(".")
        assert issue["code"] == "too_few"
    assert len(server.networks.requests) == request_count
