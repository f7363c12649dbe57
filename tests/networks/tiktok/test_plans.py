"""The TikTok adapter: plans as the API for Business documents them, look-ups, refusals, outcomes."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from attrs import evolve

from adsunify.adapter.account import Account
from adsunify.adapter.flows import run_flow
from adsunify.adapter.oauth import OAuthClient
from adsunify.errors import ProviderThrottled
from adsunify.execution.outcomes import Ambiguous, Applied, Rejected, Throttled, classify_write
from adsunify.http.messages import build_request_url
from adsunify.models.brief import read_brief
from adsunify.networks.tiktok import plans
from adsunify.networks.tiktok.tables import NETWORK
from adsunify.plans.binding import fill_bindings
from adsunify.plans.records import Plan
from adsunify.values.exact_json import dumps
from tests.networks.calls import run

from .calls import (
    ACCOUNT,
    BASE,
    SMART,
    USER,
    VIDEO,
    Responder,
    find_issues,
    make_brief,
    make_page,
    make_plan,
    make_response,
)

APP = OAuthClient("app-1", "app-secret")
OUTPUTS = {"cover": {"image_id": "img-9"}, "campaign": {"id": "17900001"}, "adGroup": {"id": "17900002"}}


def fill_bodies(plan: Plan) -> list[Any]:
    return [fill_bindings(step, OUTPUTS).body for step in plan.steps]


def hash_to_number(text: str) -> str:
    return str(int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1)


# -- create -----------------------------------------------------------------------------------------------------------


def test_the_manual_plan_is_what_the_documentation_shows() -> None:
    plan = make_plan(operation="op-1")
    assert [step.request.url for step in plan.steps] == [
        f"{BASE}/campaign/create/",
        f"{BASE}/adgroup/create/",
        f"{BASE}/ad/create/",
    ]
    assert fill_bodies(plan) == [
        {
            "advertiser_id": "7011112222",
            "request_id": hash_to_number("op-1:campaign"),
            "campaign_name": "Autumn shoes",
            "objective_type": "TRAFFIC",
            "budget_mode": "BUDGET_MODE_INFINITE",
            "budget_optimize_on": False,
            "operation_status": "DISABLE",
        },
        {
            "advertiser_id": "7011112222",
            "request_id": hash_to_number("op-1:adGroup"),
            "campaign_id": "17900001",
            "adgroup_name": "Autumn shoes",
            "promotion_type": "WEBSITE",
            "placement_type": "PLACEMENT_TYPE_NORMAL",
            "placements": ["PLACEMENT_TIKTOK"],
            "location_ids": ["2635167"],
            "budget_mode": "BUDGET_MODE_TOTAL",
            "budget": Decimal("640.5"),
            "schedule_type": "SCHEDULE_START_END",
            "schedule_start_time": "2026-12-01 08:00:00",
            "schedule_end_time": "2026-12-21 08:00:00",
            "optimization_goal": "CLICK",
            "billing_event": "CPC",
            "bid_type": "BID_TYPE_CUSTOM",
            "bid_price": Decimal("0.35"),
            "pacing": "PACING_MODE_SMOOTH",
            "operation_status": "DISABLE",
        },
        {
            "advertiser_id": "7011112222",
            "adgroup_id": "17900002",
            "creatives": [
                {
                    "ad_name": "Autumn shoes",
                    "ad_format": "SINGLE_VIDEO",
                    "identity_type": "TT_USER",
                    "identity_id": "6bd1-aa",
                    "video_id": "v10033g50000abc",
                    "image_ids": ["ad-site-i18n-sg/20261101abc"],
                    "ad_text": "New season, same street",
                    "call_to_action": "LEARN_MORE",
                    "landing_page_url": "https://shop.example/autumn",
                    "dark_post_status": "ON",
                    "operation_status": "DISABLE",
                }
            ],
        },
    ]
    assert '"budget":640.5,' in dumps(fill_bodies(plan)[1])


def test_the_smart_plus_plan_targets_by_hand_and_has_no_pacing() -> None:
    campaign, group, ad = fill_bodies(make_plan(SMART, operation="op-1"))
    assert [step.request.url.removeprefix(BASE) for step in make_plan(SMART).steps] == [
        "/smart_plus/campaign/create/",
        "/smart_plus/adgroup/create/",
        "/smart_plus/ad/create/",
    ]
    assert campaign == {
        "advertiser_id": "7011112222",
        "request_id": hash_to_number("op-1:campaign"),
        "campaign_name": "Autumn shoes",
        "objective_type": "TRAFFIC",
        "budget_optimize_on": False,
        "operation_status": "DISABLE",
    }
    assert group["targeting_optimization_mode"] == "MANUAL"
    assert group["targeting_spec"] == {"location_ids": ["2635167"]}
    assert group["request_id"] == hash_to_number("op-1:adGroup")
    assert "pacing" not in group and "location_ids" not in group
    assert ad == {
        "advertiser_id": "7011112222",
        "adgroup_id": "17900002",
        "ad_name": "Autumn shoes",
        "operation_status": "DISABLE",
        "creative_list": [
            {
                "creative_info": {
                    "ad_format": "SINGLE_VIDEO",
                    "video_info": {"video_id": "v10033g50000abc"},
                    "image_info": [{"web_uri": "ad-site-i18n-sg/20261101abc"}],
                    "identity_type": "TT_USER",
                    "identity_id": "6bd1-aa",
                }
            }
        ],
        "ad_text_list": [{"ad_text": "New season, same street"}],
        "call_to_action_list": [{"call_to_action": "LEARN_MORE"}],
        "landing_page_url_list": [{"landing_page_url": "https://shop.example/autumn"}],
        "ad_configuration": {"dark_post_status": "ON"},
    }


@pytest.mark.parametrize("flow", ["auto", "manual"])
@pytest.mark.parametrize(
    ("now", "warns"), [(datetime(2026, 12, 31, 23, 59, tzinfo=UTC), False), (datetime(2027, 1, 1, tzinfo=UTC), True)]
)
def test_creates_are_manual_at_every_date_with_a_warning_from_2027_on(now: datetime, warns: bool, flow: str) -> None:
    account = evolve(ACCOUNT, extras={"createFlow": flow})
    plan = run_flow(plans.plan_create(account, read_brief(make_brief()), now), Responder())
    assert plan.steps[0].request.url.startswith(f"{BASE}/campaign")
    assert any("createFlow: smart_plus" in warning for warning in plan.warnings) == warns


def test_smart_plus_by_hand_warns_that_traffic_is_not_listed() -> None:
    (warning,) = make_plan(SMART).warnings
    assert "does not list the objective TRAFFIC" in warning and "createFlow: manual" in warning


@pytest.mark.parametrize("account", [ACCOUNT, SMART])
def test_an_image_address_is_uploaded_first_and_becomes_the_cover(account: Account) -> None:
    responder = Responder()
    plan = make_plan(account, "op-1", responder, creative__imageUrl="https://shop.example/c.jpg")
    upload = plan.steps[0].request
    assert (upload.url, upload.encoding) == (f"{BASE}/file/image/ad/upload/", "multipart")
    assert upload.body == {
        "advertiser_id": "7011112222",
        "upload_type": "UPLOAD_BY_URL",
        "image_url": "https://shop.example/c.jpg",
        "file_name": "cover-" + hash_to_number("op-1:cover"),
    }
    assert "img-9" in dumps(fill_bodies(plan)[3])
    assert not any("suggestcover" in request.url for request in responder.requests)


def test_the_reads_come_in_their_order_and_change_nothing() -> None:
    responder = Responder()
    make_plan(responder=responder)
    assert [build_request_url(request).removeprefix(BASE).split("?")[0] for request in responder.requests] == [
        "/file/video/ad/info/",
        "/identity/get/",
        "/file/video/suggestcover/",
        "/tool/region/",
    ]
    assert {request.method for request in responder.requests} == {"GET"}
    assert responder.requests[-1].query == {
        "advertiser_id": "7011112222",
        "placements": '["PLACEMENT_TIKTOK"]',
        "objective_type": "TRAFFIC",
        "level_range": "TO_COUNTRY",
    }


def test_equal_briefs_of_two_operations_have_two_request_ids() -> None:
    plan, other = make_plan(operation="op-1"), make_plan(operation="op-2")
    assert plan.steps[0].request.body["request_id"] != other.steps[0].request.body["request_id"]
    assert make_plan(operation="op-1") == plan and plan.digest == other.digest


def test_an_identity_of_a_business_centre_brings_its_centre() -> None:
    mine = USER | {"identity_id": "6bd1-bc", "identity_type": "BC_AUTH_TT", "identity_authorized_bc_id": "7077770001"}
    responder = Responder(identity=make_page(USER, mine, name="identity_list"))
    identity: dict[str, Any] = {"platform__identityId": "6bd1-bc", "platform__identityType": "BC_AUTH_TT"}
    ad = fill_bodies(make_plan(responder=responder, **identity))[2]["creatives"][0]
    assert ad["identity_authorized_bc_id"] == "7077770001" and ad["dark_post_status"] == "ON"
    assert "identity_type" not in responder.requests[1].query
    centres = make_page({"bc_info": {"bc_id": "7077770001"}})
    silent = make_page({k: v for k, v in mine.items() if k != "identity_authorized_bc_id"}, name="identity_list")
    responder = Responder(identity=silent, bc=centres)
    assert (
        fill_bodies(make_plan(responder=responder, **identity))[2]["creatives"][0]["identity_authorized_bc_id"]
        == "7077770001"
    )
    assert responder.requests[3].query["identity_authorized_bc_id"] == "7077770001"


# -- refusals ---------------------------------------------------------------------------------------------------------


def test_a_video_that_is_still_processed_is_asked_for_later() -> None:
    with pytest.raises(ProviderThrottled) as problem:
        make_plan(responder=Responder(info=make_page(VIDEO | {"displayable": False})))
    assert (problem.value.code, problem.value.retry_after) == ("media_processing", 15.0)


@pytest.mark.parametrize(
    ("path", "answers"),
    [
        ("creative.existingId", {"info": make_page()}),
        ("creative.existingId", {"info": make_page(VIDEO | {"allowed_placements": ["PLACEMENT_PANGLE"]})}),
        ("platform.identityId", {"identity": make_page(name="identity_list")}),
        (
            "platform.identityId",
            {"identity": make_page(USER | {"available_status": "SCOPE_UNAVAILABLE"}, name="identity_list")},
        ),
        ("platform.identityId", {"identity": make_page(USER | {"can_push_video": False}, name="identity_list")}),
        ("platform.identityId", {"identity": make_page(USER | {"is_gpppa": True}, name="identity_list")}),
        ("creative.imageHash", {"suggestcover": make_page()}),
        ("targeting.countries.0", {"region": make_response({"region_info": []})}),
    ],
)
def test_what_a_look_up_does_not_find_is_refused(path: str, answers: Any) -> None:
    assert find_issues(responder=Responder(**answers)) == {path}


@pytest.mark.parametrize(
    ("path", "changes"),
    [
        ("budget.amount", {"budget__amount": "399.99"}),  # 20 days of 20
        ("budget.amount", {"budget__amount": "19.99", "budget__period": "daily"}),
        ("budget.amount", {"budget__amount": "10000000", "budget__period": "daily"}),
        ("budget.amount", {"budget__amount": "640.505"}),
        ("bid", {"bid": "640.50"}),
        ("creative.body", {"creative__body": "é" * 101}),
        ("creative.body", {"creative__body": "靴" * 51}),
        ("creative.body", {"creative__body": "shoes \U0001f45f"}),
        ("name", {"name": "shoes \U0001f45f"}),
        ("creative.headline", {"creative__headline": "Shoes"}),
        ("creative.imageUrl", {"creative__imageUrl": "https://a.example/c.jpg", "creative__imageHash": "i1"}),
        ("platform.identityType", {"platform__identityType": "AUTH_CODE"}),
        ("platform.specialAdCategories", {"platform__specialAdCategories": ["POLITICS"]}),
        ("schedule.startAt", {"schedule__startAt": "2028-01-02T00:00:00Z", "schedule__endAt": "2028-01-03T00:00:00Z"}),
        ("schedule.startAt", {"schedule__startAt": "2026-12-01T08:00:00.5Z"}),
        ("targeting.native", {"targeting": {"native": {"pixel_id": "1", "location_ids": ["1"]}}}),
        ("targeting.native", {"targeting": {"native": {"gender": "GENDER_MALE"}}}),
        ("targeting.locationIds.0", {"targeting": {"countries": ["GB"], "locationIds": ["2643743"]}}),
        ("targeting.locationIds.0", {"targeting": {"locationIds": ["999"]}}),
    ],
)
def test_what_tiktok_would_not_take_is_refused_at_its_member(path: str, changes: dict[str, Any]) -> None:
    assert find_issues(**changes) == {path}


def test_accounts_narrow_what_is_taken() -> None:
    custom = Account("tiktok", "7", "USD", "Europe/Oslo", {"canUseCustomIdentity": "false"})
    assert find_issues(custom, platform__identityType="CUSTOMIZED_USER") == {"platform.identityType"}
    native = {"native": {"location_ids": ["1"], "brand_safety_type": "NO_BRAND_SAFETY"}}
    assert find_issues(SMART, targeting=native) == {"targeting.native.brand_safety_type"}
    yen = Account("tiktok", "7", "JPY", "Asia/Tokyo")
    money = {"amount": "2000.5", "currency": "JPY", "period": "daily"}
    assert find_issues(yen, budget=money, bid=None) == {"budget.amount"}
    assert find_issues(yen, budget=money | {"amount": "1999"}, bid=None) == {"budget.amount"}
    late = datetime(2026, 12, 2, tzinfo=UTC)
    assert find_issues(now=late) == {"schedule.startAt"}


# -- outcomes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (40105, Rejected),
        (40002, Rejected),
        (40911, Rejected),
        (40100, Throttled),
        (40901, Throttled),
        (40202, Throttled),
        (60001, Throttled),
        (40050, Ambiguous),
        (50000, Ambiguous),
        (51305, Ambiguous),
        (70707, Ambiguous),
    ],
)
def test_errors_come_under_the_status_200(code: int, kind: type) -> None:
    step = make_plan().steps[0]
    assert isinstance(classify_write(NETWORK, step, step.request, make_response(code=code)), kind)


def test_waits_follow_the_codes() -> None:
    step = make_plan().steps[0]

    def get_wait(code: int, message: str = "") -> Any:
        outcome = classify_write(NETWORK, step, step.request, make_response(code=code, message=message))
        assert isinstance(outcome, Throttled)
        return outcome.retry_after

    assert [get_wait(40901), get_wait(40202), get_wait(60001), get_wait(40100)] == [15.0, 1.0, 60.0, 1.0]
    assert get_wait(40133, "Too many requests: QPM") == 300.0


def test_a_success_holds_code_0_and_the_id() -> None:
    ad = make_plan().steps[2]
    good = classify_write(NETWORK, ad, ad.request, make_response({"ad_ids": ["179"], "need_audit": True}))
    assert isinstance(good, Applied) and good.outputs == {"id": "179"}
    assert isinstance(classify_write(NETWORK, ad, ad.request, make_response({"ad_ids": []})), Ambiguous)
    assert isinstance(classify_write(NETWORK, ad, ad.request, make_response({"ad_ids": ["1"]}, status=502)), Ambiguous)


def test_a_change_of_status_is_judged_by_the_ids_that_come_back() -> None:
    outputs = {"campaign": {"id": "1"}, "adGroup": {"id": "2"}, "ad": {"id": "3"}}
    plan, _ = run(plans.plan_activate(ACCOUNT, make_plan(), outputs))
    assert plan.risk == "spend"
    assert [(step.key, step.request.body) for step in plan.steps] == [
        ("activate_ad", {"advertiser_id": "7011112222", "ad_ids": ["3"], "operation_status": "ENABLE"}),
        (
            "activate_adGroup",
            {
                "advertiser_id": "7011112222",
                "adgroup_ids": ["2"],
                "operation_status": "ENABLE",
                "allow_partial_success": False,
            },
        ),
        ("activate_campaign", {"advertiser_id": "7011112222", "campaign_ids": ["1"], "operation_status": "ENABLE"}),
    ]
    step = plan.steps[1]

    def classify_data(data: Any, code: int = 0) -> type:
        return type(classify_write(NETWORK, step, step.request, make_response(data, code)))

    assert classify_data({"adgroup_ids": ["2"], "status": "ENABLE"}) is Applied
    failed = [{"adgroup_id": "2", "error_message": "no"}]
    assert classify_data({"adgroup_ids": [], "error_list": failed}, 20001) is Rejected
    assert classify_data({"adgroup_ids": ["2"], "error_list": failed}) is Ambiguous
    assert classify_data({"adgroup_ids": ["9"]}) is Ambiguous
    smart, _ = run(plans.plan_activate(SMART, make_plan(SMART), outputs))
    assert smart.steps[0].request.url == f"{BASE}/smart_plus/ad/status/update/"
    assert smart.steps[0].request.body["smart_plus_ad_ids"] == ["3"]
