"""The Amazon Ads adapter: plans as the network documents them, answers read item by item."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from attrs import evolve

from adsunify.adapter.account import Account
from adsunify.adapter.brief_checks import check_brief
from adsunify.adapter.edits import Edit, Percentage
from adsunify.adapter.flows import run_flow
from adsunify.adapter.hierarchy import ListQuery
from adsunify.errors import InvalidInput, ProviderNotFound
from adsunify.execution.outcomes import Ambiguous, Applied, Rejected, Throttled, classify_write
from adsunify.http.messages import Request, Response, build_request_url
from adsunify.models.brief import read_brief
from adsunify.networks.amazon import plans, reads
from adsunify.networks.amazon.tables import NETWORK
from adsunify.plans.binding import fill_bindings
from adsunify.plans.records import Outputs, Plan, Step
from adsunify.values.exact_json import dumps
from tests.networks.calls import make_responder, refuse_request

from .calls import BRIEF, CAMPAIGN, HOST, NOW, PLAIN, SELLER, VENDOR, make_brief, make_plan


def find_issues(value: Mapping[str, Any], account: Account = SELLER, now: datetime | None = None) -> set[str]:
    with pytest.raises(InvalidInput) as refusal:
        check_brief(NETWORK, account, read_brief(value), now)
    return {issue.path for issue in refusal.value.issues}


# -- create -------------------------------------------------------------------------------------------------------


def test_the_plan_is_what_the_documentation_shows() -> None:
    plan = make_plan()
    assert [step.key for step in plan.steps] == ["campaign", "adGroup", "ad", "keywords"]
    requests = [fill_bindings(step, {"campaign": {"id": "11"}, "adGroup": {"id": "22"}}) for step in plan.steps]
    assert [build_request_url(request) for request in requests] == [
        f"{HOST}/sp/campaigns",
        f"{HOST}/sp/adGroups",
        f"{HOST}/sp/productAds",
        f"{HOST}/sp/keywords",
    ]
    campaign = {
        "name": "Autumn launch",
        "targetingType": "MANUAL",
        "state": "PAUSED",
        "budget": {"budgetType": "DAILY", "budget": Decimal("35.5")},
        "startDate": "2026-12-01",
        "endDate": "2026-12-20",
        "dynamicBidding": {"strategy": "LEGACY_FOR_SALES", "placementBidding": []},
    }
    common = {"campaignId": "11", "state": "PAUSED"}
    keyword = {**common, "adGroupId": "22", "bid": Decimal("0.75")}
    assert [request.body for request in requests] == [
        {"campaigns": [campaign]},
        {"adGroups": [{**common, "name": "Autumn launch", "defaultBid": Decimal("0.75")}]},
        {"productAds": [{**common, "adGroupId": "22", "sku": "SELLER-SKU-1"}]},
        {
            "keywords": [
                {**keyword, "keywordText": "camping stove", "matchType": "EXACT"},
                {**keyword, "keywordText": "gas stove", "matchType": "BROAD"},
            ]
        },
    ]
    media = ["spCampaign", "spAdGroup", "spProductAd", "spKeyword"]
    assert [request.headers for request in requests] == [
        {
            "Content-Type": f"application/vnd.{name}.v3+json",
            "Accept": f"application/vnd.{name}.v3+json",
            "Amazon-Advertising-API-Scope": "1234",
        }
        for name in media
    ]
    assert {request.kind for request in requests} == {"write"}
    assert '"budget":35.5' in dumps(requests[0].body)
    assert "2026-12-01" in plan.warnings[0]
    assert "2026-12-20" in plan.warnings[0]


def test_a_bound_member_stands_beside_the_body() -> None:
    step = make_plan().get_step("keywords")
    assert all("campaignId" not in keyword for keyword in step.request.body["keywords"])
    assert [binding.to for binding in step.bindings][-1] == "/body/keywords/1/adGroupId"


def test_a_vendor_advertises_by_asin() -> None:
    plan = make_plan(VENDOR, platform={"asin": "B000000001"})
    assert plan.get_step("ad").request.body["productAds"][0] == {"state": "PAUSED", "asin": "B000000001"}


def test_yen_have_no_fraction() -> None:
    yen = Account("amazon", "1", "JPY", "America/Los_Angeles")
    money = {"amount": "3500", "currency": "JPY", "period": "daily"}
    plan = make_plan(yen, budget=money, bid="75")
    assert (
        dumps(plan.get_step("campaign").request.body["campaigns"][0]["budget"])
        == '{"budgetType":"DAILY","budget":3500}'
    )
    assert find_issues(make_brief(budget=money | {"amount": "3500.5"}, bid="75"), yen) == {"budget.amount"}


@pytest.mark.parametrize(
    ("account", "host"),
    [
        (Account("amazon", "1", "EUR", "Europe/Paris"), "advertising-api-eu.amazon.com"),
        (Account("amazon", "1", "JPY", "America/Los_Angeles"), "advertising-api-fe.amazon.com"),
        (Account("amazon", "1", "USD", "America/Los_Angeles", {"countryCode": "SG"}), "advertising-api-fe.amazon.com"),
        (Account("amazon", "1", "USD", "America/Los_Angeles", {"region": "EU"}), "advertising-api-eu.amazon.com"),
    ],
)
def test_the_host_follows_from_the_account(account: Account, host: str) -> None:
    flow = reads.list_entities(account, "campaign", ListQuery())
    request = next(flow)
    assert isinstance(request, Request) and request.url == f"https://{host}/sp/campaigns/list"


def test_an_account_in_no_region_is_refused() -> None:
    with pytest.raises(InvalidInput, match="region"):
        next(reads.list_entities(Account("amazon", "1", "CHF"), "campaign", ListQuery()))


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"bid": None}, "bid"),
        ({"targeting": {}}, "targeting.keywords"),
        ({"platform": {}}, "platform.sku"),
        ({"platform": {"asin": "B000000001"}}, "platform.asin"),
        ({"goal": "traffic"}, "goal"),
        ({"budget__period": "lifetime"}, "budget.period"),
        ({"targeting__countries": ["US"]}, "targeting.countries"),
        ({"targeting__locationIds": ["1"]}, "targeting.locationIds"),
        ({"targeting__native": {"a": 1}}, "targeting.native"),
        ({"creative__headline": "Hot"}, "creative.headline"),
        ({"creative__existingId": "1"}, "creative.existingId"),
        ({"platform__pageId": "1"}, "platform.pageId"),
        ({"platform__euPoliticalAdvertising": True}, "platform.euPoliticalAdvertising"),
        ({"budget__amount": "35.505"}, "budget.amount"),
        ({"budget__amount": "0.99", "bid": "0.5"}, "budget.amount"),
        ({"budget__amount": "1000001"}, "budget.amount"),
        ({"bid": "0.01"}, "bid"),
        ({"bid": "40"}, "bid"),
        ({"name": " Autumn"}, "name"),
        ({"targeting__keywords": [{"text": "a"}, {"text": "a"}]}, "targeting.keywords"),
        ({"targeting__keywords": [{"text": "a b c d e f g h i j k"}]}, "targeting.keywords"),
        ({"targeting__keywords": [{"text": "-stove"}]}, "targeting.keywords"),
        ({"targeting__keywords": [{"text": "stove+ gas"}]}, "targeting.keywords"),
        ({"targeting__keywords": [{"text": "stove."}]}, "targeting.keywords"),
        ({"targeting__keywords": [{"text": '"stove'}]}, "targeting.keywords"),
        ({"targeting__keywords": [{"text": " stove"}]}, "targeting.keywords"),
    ],
)
def test_what_the_network_would_not_take_is_refused(changes: Mapping[str, Any], path: str) -> None:
    assert path in find_issues(make_brief(**changes))


def test_words_of_every_form_are_taken() -> None:
    words = ["wi-fi 2.4 ghz", '"camping stove" set', "a+b", "a b c d e f g h i j"]
    keywords = [{"text": text} for text in words] + [{"text": words[0], "match": "phrase"}]
    plan = make_plan(targeting={"keywords": keywords})
    assert len(plan.get_step("keywords").request.body["keywords"]) == 5


def test_a_profile_of_unknown_kind_takes_either_product_but_one() -> None:
    assert make_plan(PLAIN).steps
    assert make_plan(PLAIN, platform={"asin": "B000000001"}).steps
    assert find_issues(make_brief(platform={"sku": "a", "asin": "B000000001"}), PLAIN) == {"platform.asin"}
    assert find_issues(make_brief(platform={}), PLAIN) == {"platform.sku"}


def test_marketplace_limits_count_only_where_the_marketplace_is_known() -> None:
    assert make_plan(PLAIN, bid="0.01").steps
    assert find_issues(make_brief(bid="40"), PLAIN) == {"bid"}


def test_a_start_before_the_profiles_today_is_refused() -> None:
    # 2026-12-01 09:00 UTC is still 1 December in Los Angeles, where 2 December begins at 08:00 UTC.
    assert not _is_start_refused(datetime(2026, 12, 2, 7, 59, tzinfo=UTC))
    assert _is_start_refused(datetime(2026, 12, 2, 8, tzinfo=UTC))
    assert make_plan().steps


def _is_start_refused(now: datetime) -> bool:
    try:
        check_brief(NETWORK, SELLER, read_brief(BRIEF), now)
    except InvalidInput as refusal:
        assert {issue.path for issue in refusal.issues} == {"schedule.startAt"}
        return True
    return False


def test_an_end_inside_a_day_serves_through_it_and_none_is_left_out() -> None:
    campaign = make_plan(schedule__endAt="2026-12-21T08:00:01Z").get_step("campaign").request.body["campaigns"][0]
    assert campaign["endDate"] == "2026-12-21"
    assert "endDate" not in make_plan(schedule__endAt=None).get_step("campaign").request.body["campaigns"][0]


def test_a_zone_that_is_not_known_is_refused() -> None:
    assert find_issues(BRIEF, evolve(SELLER, timezone=None)) == {"account.timezone"}


# -- outcomes -----------------------------------------------------------------------------------------------------


def fill_step(key: str) -> tuple[Step, Request]:
    step = make_plan().get_step(key)
    return step, fill_bindings(step, {"campaign": {"id": "11"}, "adGroup": {"id": "22"}})


def classify_response(key: str, body: Any, status: int = 207) -> Any:
    step, request = fill_step(key)
    response = Response.from_bytes(status, {}, dumps(body).encode())
    return classify_write(NETWORK, step, request, response)


BROKEN = "internalServerError"


def make_item_error(index: int, kind: str, reason: str = "TOO_LOW") -> dict[str, Any]:
    value = {"reason": reason, "message": "No.", "cause": {"location": "$.keywords[0].bid"}}
    return {"index": index, "errors": [{"errorType": kind, "errorValue": {kind: value}}]}


def test_ids_are_taken_by_index_and_may_be_integers() -> None:
    body = {"success": [{"index": 1, "keywordId": 9007199254740993}, {"index": 0, "keywordId": "7"}], "error": []}
    assert classify_response("keywords", {"keywords": body}).outputs == {"id": ["7", "9007199254740993"]}
    assert classify_response("campaign", {"campaigns": {"success": [{"index": 0, "campaignId": "5"}]}}) == Applied(
        {"id": "5"}, classify_response("campaign", {"campaigns": {"success": [{"index": 0, "campaignId": "5"}]}}).items
    )


def test_partial_success_is_rejected_with_the_applied_ids() -> None:
    outcome = classify_response(
        "keywords",
        {
            "keywords": {
                "success": [{"index": 0, "keywordId": "7"}],
                "error": [make_item_error(1, "duplicateValueError")],
            }
        },
    )
    assert isinstance(outcome, Rejected)
    assert [(item.state, item.id) for item in outcome.items] == [("applied", "7"), ("rejected", None)]
    assert outcome.error.code == "TOO_LOW"
    assert outcome.error.message == "No. (at $.keywords[0].bid)"


@pytest.mark.parametrize(
    ("errors", "kind"),
    [
        (make_item_error(0, "rangeError"), Rejected),
        (make_item_error(0, "parentEntityError", "PARENT_ENTITY_NOT_FOUND"), Rejected),
        (make_item_error(0, "aTypeOfTomorrow"), Rejected),
        (make_item_error(0, "throttledError", "THROTTLED"), Throttled),
        (make_item_error(0, BROKEN, "INTERNAL_ERROR"), Ambiguous),
        ({"index": 0, "errors": []}, Ambiguous),
        ({"index": 0}, Ambiguous),
        ({"errors": make_item_error(0, "rangeError")["errors"]}, Ambiguous),
        ({"index": 4, "errors": make_item_error(0, "rangeError")["errors"]}, Ambiguous),
        (
            {
                "index": 0,
                "errors": make_item_error(0, "rangeError")["errors"]
                + make_item_error(0, "internalServerError")["errors"],
            },
            Ambiguous,
        ),
    ],
)
def test_what_an_item_in_error_means(errors: Mapping[str, Any], kind: type) -> None:
    assert isinstance(classify_response("campaign", {"campaigns": {"success": [], "error": [errors]}}), kind)


@pytest.mark.parametrize(
    "body",
    [
        {"campaigns": {"success": [{"index": 0}]}},
        {"campaigns": {"success": []}},
        {"campaigns": {}},
        {"campaigns": {"success": {"index": 0}}},
        {"campaigns": {"success": [7]}},
        {},
        [],
        {"code": "INVALID_ARGUMENT", "message": "a refusal inside a success"},
        {
            "campaigns": {
                "success": [{"index": 0, "campaignId": "5"}],
                "error": [make_item_error(0, "rangeError")],
            }
        },
    ],
)
def test_an_answer_that_leaves_it_open_is_ambiguous(body: Any) -> None:
    assert isinstance(classify_response("campaign", body), Ambiguous)


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, {"code": "INVALID_ARGUMENT", "message": "No."}, Rejected),
        (403, {"code": "ACCESS_DENIED", "message": "No."}, Rejected),
        (401, {"code": "UNAUTHORIZED", "message": "No."}, Rejected),
        (415, {"code": "UNSUPPORTED_MEDIA_TYPE", "message": "No."}, Rejected),
        (422, {"code": "422", "details": "No."}, Rejected),
        (429, {"code": "THROTTLED", "message": "Later."}, Throttled),
        (500, {"code": "INTERNAL_ERROR", "message": "No."}, Ambiguous),
        (502, {}, Ambiguous),
    ],
)
def test_what_a_refused_request_means(status: int, body: Any, kind: type) -> None:
    assert isinstance(classify_response("campaign", body, status), kind)


def test_a_deletion_has_to_answer_the_id_that_was_sent() -> None:
    step = run_flow(plans.plan_delete(SELLER, "ad", "5"), refuse_request).steps[0]
    assert step.request.body == {"adIdFilter": {"include": ["5"]}}
    assert build_request_url(step.request) == f"{HOST}/sp/productAds/delete"
    for answered_id, kind in (("5", Applied), (5, Applied), ("6", Ambiguous)):
        response = Response(207, {}, {"productAds": {"success": [{"index": 0, "adId": answered_id}], "error": []}})
        assert isinstance(classify_write(NETWORK, step, step.request, response), kind)


# -- activation, status, native, edits ----------------------------------------------------------------------------


def test_activation_enables_leaves_first() -> None:
    outputs: dict[str, Outputs] = {
        "campaign": {"id": "1"},
        "adGroup": {"id": "2"},
        "ad": {"id": "3"},
        "keywords": {"id": ["4", "5"]},
    }
    plan = run_flow(plans.plan_activate(SELLER, make_plan(), outputs), refuse_request)
    assert plan.risk == "spend"
    assert [(step.key, step.request.method, step.request.body) for step in plan.steps] == [
        (
            "activate_keywords",
            "PUT",
            {"keywords": [{"keywordId": "4", "state": "ENABLED"}, {"keywordId": "5", "state": "ENABLED"}]},
        ),
        ("activate_ad", "PUT", {"productAds": [{"adId": "3", "state": "ENABLED"}]}),
        ("activate_adGroup", "PUT", {"adGroups": [{"adGroupId": "2", "state": "ENABLED"}]}),
        ("activate_campaign", "PUT", {"campaigns": [{"campaignId": "1", "state": "ENABLED"}]}),
    ]
    step = plan.get_step("activate_campaign")
    other = Response(207, {}, {"campaigns": {"success": [{"index": 0, "campaignId": "9"}]}})
    assert isinstance(classify_write(NETWORK, step, step.request, other), Ambiguous)


def test_status() -> None:
    paused = run_flow(plans.plan_status(SELLER, "adGroup", "2", "paused"), refuse_request)
    assert paused.risk == "low"
    assert paused.steps[0].request.body == {"adGroups": [{"adGroupId": "2", "state": "PAUSED"}]}
    assert run_flow(plans.plan_status(SELLER, "ad", "3", "active"), refuse_request).risk == "spend"


def test_native_create_is_paused_unless_told_otherwise() -> None:
    plan = run_flow(plans.plan_native_create(SELLER, "adGroup", {"name": "n", "defaultBid": 1}, "11"), refuse_request)
    assert plan.steps[0].request.body == {
        "adGroups": [{"name": "n", "defaultBid": 1, "state": "PAUSED", "campaignId": "11"}]
    }
    assert plan.risk == "low"
    assert (
        run_flow(plans.plan_native_create(SELLER, "campaign", {"state": "ENABLED"}, None), refuse_request).risk
        == "spend"
    )
    for payload, parent in (({"campaignId": "12"}, "11"), ({"state": "ARCHIVED"}, "11"), ({}, None)):
        with pytest.raises(InvalidInput):
            run_flow(plans.plan_native_create(SELLER, "adGroup", payload, parent), refuse_request)
    with pytest.raises(InvalidInput):
        run_flow(plans.plan_native_create(SELLER, "campaign", {}, "11"), refuse_request)


def test_a_product_ad_learns_its_campaign_from_its_ad_group() -> None:
    requests: list[Request] = []
    ad_groups = {"adGroups": [{"adGroupId": "22", "campaignId": "11", "name": "n", "state": "PAUSED"}]}
    answer = make_responder({f"POST {HOST}/sp/adGroups/list": ad_groups}, requests)
    plan = run_flow(plans.plan_native_create(SELLER, "ad", {"sku": "a"}, "22"), answer)
    assert plan.steps[0].request.body == {
        "productAds": [{"sku": "a", "state": "PAUSED", "adGroupId": "22", "campaignId": "11"}]
    }
    assert requests[0].body["adGroupIdFilter"] == {"include": ["22"]}
    assert requests[0].body["stateFilter"] == {"include": ["ENABLED", "PAUSED", "ARCHIVED"]}
    second_plan = run_flow(
        plans.plan_native_create(SELLER, "ad", {"sku": "a", "campaignId": "7"}, "22"), refuse_request
    )
    assert second_plan.steps[0].request.body["productAds"][0]["campaignId"] == "7"
    with pytest.raises(ProviderNotFound):
        run_flow(
            plans.plan_native_create(SELLER, "ad", {"sku": "a"}, "22"),
            make_responder({f"POST {HOST}/sp/adGroups/list": {"adGroups": []}}),
        )


def test_native_update_adds_the_id() -> None:
    plan = run_flow(plans.plan_update(SELLER, "campaign", "11", {"name": "n"}, None), refuse_request)
    assert plan.steps[0].request.body == {"campaigns": [{"campaignId": "11", "name": "n"}]}
    assert plan.risk == "low"
    assert (
        run_flow(plans.plan_update(SELLER, "adGroup", "2", {"state": "ENABLED"}, None), refuse_request).risk == "spend"
    )
    for payload in ({}, {"campaignId": "12", "name": "n"}, {"state": "ARCHIVED"}):
        with pytest.raises(InvalidInput):
            run_flow(plans.plan_update(SELLER, "campaign", "11", payload, None), refuse_request)


def plan_edit(
    fields: Mapping[str, Any],
    kind: Any = "campaign",
    now: datetime | None = NOW,
    account: Account = SELLER,
    **native: Any,
) -> Plan:
    entities = {"campaigns": [CAMPAIGN | native]}
    if kind == "adGroup":
        entities = {
            "adGroups": [{"adGroupId": "11", "campaignId": "1", "name": "g", "state": "PAUSED", "defaultBid": 1}]
        }
    if kind == "ad":
        entities = {"productAds": [{"adId": "11", "campaignId": "1", "adGroupId": "2", "sku": "a", "state": "PAUSED"}]}
    (name,) = entities
    answer = make_responder({f"POST {HOST}/sp/{name}/list": entities})
    return run_flow(plans.plan_edit(account, kind, "11", Edit(fields), NOW), answer)


def test_an_edit_sends_the_changed_members_only() -> None:
    plan = plan_edit({"name": "New", "budget": "25.50", "endAt": "2027-01-01T08:00:00Z"})
    assert plan.steps[0].request.body == {
        "campaigns": [
            {
                "campaignId": "11",
                "name": "New",
                "budget": {"budgetType": "DAILY", "budget": Decimal("25.5")},
                "endDate": "2026-12-31",
            }
        ]
    }
    assert [(change.field, change.before, change.after) for change in plan.steps[0].changes] == [
        ("name", "Old", "New"),
        ("budget", "20", "25.5"),
        ("endAt", None, "2026-12-31"),
    ]
    assert plan.risk == "spend"
    assert plan_edit({"budget": Percentage("decrease", Decimal("33.3"))}).steps[0].request.body["campaigns"][0][
        "budget"
    ] == {
        "budgetType": "DAILY",
        "budget": Decimal("13.34"),
    }


def test_bidding_is_merged() -> None:
    plan = plan_edit({"PLACEMENT_PRODUCT_PAGE": 25, "bidStrategy": "MANUAL"})
    assert plan.steps[0].request.body["campaigns"][0]["dynamicBidding"] == {
        "strategy": "MANUAL",
        "placementBidding": [
            {"placement": "PLACEMENT_TOP", "percentage": 10},
            {"placement": "PLACEMENT_PRODUCT_PAGE", "percentage": 25},
        ],
    }
    bidding = plan_edit({"PLACEMENT_TOP": ""}).steps[0].request.body["campaigns"][0]["dynamicBidding"]
    assert bidding == {"strategy": "LEGACY_FOR_SALES", "placementBidding": []}


def test_dates_may_be_bare_and_are_cleared_by_nothing() -> None:
    plan = plan_edit({"startAt": "2026-12-05", "endAt": ""}, endDate="2026-12-31")
    assert plan.steps[0].request.body["campaigns"][0] == {
        "campaignId": "11",
        "startDate": "2026-12-05",
        "endDate": None,
    }


@pytest.mark.parametrize(
    ("fields", "native", "path"),
    [
        ({"startAt": "2026-12-05"}, {"startDate": "2026-11-20"}, "fields.startAt"),
        ({"startAt": "2026-11-19"}, {}, "fields.startAt"),
        ({"endAt": "2026-11-30"}, {}, "fields.endAt"),
        ({"startAt": "2026-12-05"}, {"endDate": "2026-12-04"}, "fields.startAt"),
        ({"name": "New"}, {"state": "ARCHIVED"}, "fields.name"),
        ({"targetingType": "AUTO"}, {}, "fields.targetingType"),
        ({"bid": "2"}, {}, "fields.bid"),
        ({"budget": "0.5"}, {}, "fields.budget"),
        ({"budget": "20.005"}, {}, "fields.budget"),
        ({"PLACEMENT_TOP": 901}, {}, "fields.PLACEMENT_TOP"),
        ({"PLACEMENT_TOP": Decimal("1.5")}, {}, "fields.PLACEMENT_TOP"),
        ({"bidStrategy": "HIGHEST"}, {}, "fields.bidStrategy"),
    ],
)
def test_edits_that_the_network_would_not_take(fields: Any, native: Any, path: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        plan_edit(fields, **native)
    assert [issue.path for issue in refusal.value.issues] == [path]


def test_a_vendors_name_is_shorter() -> None:
    assert plan_edit({"name": "n" * 128}).steps
    with pytest.raises(InvalidInput):
        plan_edit({"name": "n" * 117}, account=VENDOR)


def test_a_bid_is_the_ad_groups_and_ads_have_none() -> None:
    plan = plan_edit({"bid": Percentage("increase", Decimal(10))}, "adGroup")
    assert plan.steps[0].request.body == {"adGroups": [{"adGroupId": "11", "defaultBid": Decimal("1.1")}]}
    assert "keep" in plan.warnings[0]
    for fields in ({"bid": "2"}, {"sku": "b"}):
        with pytest.raises(InvalidInput):
            plan_edit(fields, "ad")
    with pytest.raises(InvalidInput, match="targeting"):
        run_flow(
            plans.plan_edit(SELLER, "campaign", "11", Edit(targeting={"genders": ["female"]}), NOW), refuse_request
        )
    with pytest.raises(InvalidInput, match="creative"):
        run_flow(plans.plan_edit(SELLER, "ad", "11", Edit(creative={"headline": "x"}), NOW), refuse_request)
    with pytest.raises(InvalidInput):
        plan_edit({})
