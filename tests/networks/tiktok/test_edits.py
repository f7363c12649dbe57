"""The TikTok adapter: status changes, native writes and edits, in the flow of the entity."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from adsunify.adapter.account import Account
from adsunify.adapter.edits import Edit, Percentage
from adsunify.adapter.oauth import OAuthClient
from adsunify.errors import InvalidInput, ProviderNotFound
from adsunify.http.messages import build_request_url
from adsunify.networks.tiktok import plans
from adsunify.plans.records import Kind, Plan, add_operation_marks
from tests.networks.calls import run

from .calls import ACCOUNT, BASE, VIDEO, make_page

APP = OAuthClient("app-1", "app-secret")

# -- status, native, edits --------------------------------------------------------------------------------------------

GROUP = {
    "adgroup_id": "2",
    "campaign_id": "1",
    "adgroup_name": "Shoes",
    "operation_status": "DISABLE",
    "secondary_status": "ADGROUP_STATUS_DISABLE",
    "budget_mode": "BUDGET_MODE_DYNAMIC_DAILY_BUDGET",
    "budget": 100,
    "bid_type": "BID_TYPE_CUSTOM",
    "bid_price": 0.5,
    "billing_event": "CPC",
    "schedule_type": "SCHEDULE_START_END",
    "schedule_start_time": "2027-01-01 00:00:00",
    "schedule_end_time": "2027-02-01 00:00:00",
    "location_ids": ["2635167"],
    "age_groups": ["AGE_18_24", "AGE_25_34"],
    "campaign_automation_type": "MANUAL",
}
AD = {
    "ad_id": "3",
    "adgroup_id": "2",
    "campaign_id": "1",
    "ad_name": "Shoes",
    "ad_text": "Old",
    "landing_page_url": "https://a.example/",
    "call_to_action": "LEARN_MORE",
    "video_id": "v1",
    "image_ids": ["i1"],
    "identity_id": "6bd1-aa",
    "identity_type": "TT_USER",
    "ad_format": "SINGLE_VIDEO",
    "operation_status": "DISABLE",
    "create_time": "2026-01-01 00:00:00",
    "deeplink": "",
}
NOW = datetime(2026, 11, 20, tzinfo=UTC)


def test_the_flow_of_an_entity_is_asked_for() -> None:
    plan, requests = run(plans.plan_status(ACCOUNT, "adGroup", "2", "paused"), make_page(GROUP))
    assert build_request_url(requests[0]).endswith("filtering=%7B%22adgroup_ids%22%3A%5B%222%22%5D%7D")
    assert plan.steps[0].request.url == f"{BASE}/adgroup/status/update/"
    smart = GROUP | {"campaign_automation_type": "UPGRADED_SMART_PLUS"}
    plan, _ = run(plans.plan_status(ACCOUNT, "adGroup", "2", "paused"), make_page(smart))
    assert plan.steps[0].request.url == f"{BASE}/smart_plus/adgroup/status/update/"
    assert "allow_partial_success" not in plan.steps[0].request.body
    with pytest.raises(InvalidInput):
        run(plans.plan_delete(ACCOUNT, "adGroup", "2"), make_page(GROUP | {"campaign_automation_type": "SMART_PLUS"}))
    with pytest.raises(ProviderNotFound):
        run(plans.plan_delete(ACCOUNT, "campaign", "9"), make_page())


def test_an_ad_of_smart_plus_is_found_under_its_other_id() -> None:
    own = {"smart_plus_ad_id": "88", "ad_name": "Shoes", "operation_status": "ENABLE", "adgroup_id": "2"}
    plan, requests = run(plans.plan_delete(ACCOUNT, "ad", "88"), make_page(), make_page(own))
    assert [request.url.removeprefix(BASE) for request in requests] == ["/ad/get/", "/smart_plus/ad/get/"]
    assert plan.risk == "destructive" and plan.steps[0].action == "delete"
    assert plan.steps[0].request.body == {
        "advertiser_id": "7011112222",
        "smart_plus_ad_ids": ["88"],
        "operation_status": "DELETE",
    }


def test_native_creates_are_wrapped_and_paused() -> None:
    plan, _ = run(plans.plan_native_create(ACCOUNT, "ad", {"ad_name": "A"}, "2"))
    assert plan.steps[0].request.body == {
        "advertiser_id": "7011112222",
        "adgroup_id": "2",
        "creatives": [{"ad_name": "A", "operation_status": "DISABLE"}],
    }
    plan, _ = run(plans.plan_native_create(ACCOUNT, "campaign", {"operation_status": "ENABLE"}, None))
    assert plan.risk == "spend" and add_operation_marks(plan).steps[0].request.body["request_id"].isdigit()
    wrong: tuple[tuple[Kind, dict[str, Any], str | None], ...] = (
        ("campaign", {"request_id": "1"}, None),
        ("campaign", {}, "1"),
        ("adGroup", {"campaign_id": "1"}, "2"),
        ("adGroup", {}, None),
        ("ad", {"operation_status": "DELETE"}, "2"),
    )
    for kind, payload, parent in wrong:
        with pytest.raises(InvalidInput):
            run(plans.plan_native_create(ACCOUNT, kind, payload, parent))


def test_an_ad_is_patched_or_replaced_whole() -> None:
    plan, _ = run(plans.plan_update(ACCOUNT, "ad", "3", {"ad_text": "New"}, None), make_page(AD))
    assert plan.steps[0].request.body == {
        "advertiser_id": "7011112222",
        "adgroup_id": "2",
        "patch_update": True,
        "creatives": [{"ad_id": "3", "ad_text": "New"}],
    }
    plan, _ = run(plans.plan_update(ACCOUNT, "ad", "3", {"landing_page_url": "https://b.example/"}, "2"), make_page(AD))
    body = plan.steps[0].request.body
    assert "patch_update" not in body
    gone = ("adgroup_id", "campaign_id", "operation_status", "create_time", "deeplink")
    assert body["creatives"] == [
        {k: v for k, v in AD.items() if k not in gone} | {"landing_page_url": "https://b.example/"}
    ]
    with pytest.raises(InvalidInput, match="status"):
        run(plans.plan_update(ACCOUNT, "ad", "3", {"operation_status": "ENABLE"}, None))


def plan_edit(kind: Any, native: Any, *more: Any, account: Account = ACCOUNT, **edit: Any) -> Plan:
    plan, _ = run(
        plans.plan_edit(account, kind, "2" if kind == "adGroup" else "3", Edit(**edit), NOW), make_page(native), *more
    )
    assert isinstance(plan, Plan)
    return plan


def test_edits_send_what_changed() -> None:
    raise_ = {"budget": Percentage("increase", Decimal(50)), "bid": "0.75", "endAt": "2027-02-02T00:00:00+01:00"}
    plan = plan_edit("adGroup", GROUP, fields=raise_, targeting={"ageMin": 25, "ageMax": 65, "genders": ["female"]})
    assert plan.risk == "spend"
    assert plan.steps[0].request.body == {
        "advertiser_id": "7011112222",
        "adgroup_id": "2",
        "budget": Decimal(150),
        "bid_price": Decimal("0.75"),
        "bid_type": "BID_TYPE_CUSTOM",
        "schedule_end_time": "2027-02-01 23:00:00",
        "schedule_type": "SCHEDULE_START_END",
        "age_groups": ["AGE_25_34", "AGE_35_44", "AGE_45_54", "AGE_55_100"],
        "gender": "GENDER_FEMALE",
    }
    video = plan_edit("ad", AD, make_page(VIDEO), make_page({"id": "i2"}), creative={"existingId": "v2", "body": "New"})
    assert video.steps[0].request.body["patch_update"] is True
    assert video.steps[0].request.body["creatives"] == [
        {"ad_id": "3", "ad_text": "New", "video_id": "v2", "image_ids": ["i2"]}
    ]


@pytest.mark.parametrize(
    ("path", "kind", "edit"),
    [
        ("fields.budget", "adGroup", {"fields": {"budget": "19"}}),
        ("fields.bid", "adGroup", {"fields": {"bid": "100"}}),
        ("fields.endAt", "adGroup", {"fields": {"endAt": "2026-12-01T00:00:00Z"}}),
        ("fields.placements", "adGroup", {"fields": {"placements": "X"}}),
        ("targeting.ageMin", "adGroup", {"targeting": {"ageMin": 21}}),
        ("targeting.excludedLocations", "adGroup", {"targeting": {"excludedLocations": [{"id": "1"}]}}),
        ("targeting.locations.0.radiusKm", "adGroup", {"targeting": {"locations": [{"id": "1", "radiusKm": 3}]}}),
        ("targeting", "ad", {"targeting": {"ageMin": 18}}),
        ("creative", "adGroup", {"creative": {"body": "x"}}),
        ("creative.body", "ad", {"creative": {"body": "\U0001f45f"}}),
        ("creative.headline", "ad", {"creative": {"headline": "x"}}),
        ("fields.bid", "ad", {"fields": {"bid": "1"}}),
    ],
)
def test_edits_that_tiktok_would_not_take_are_refused(path: str, kind: str, edit: Any) -> None:
    with pytest.raises(InvalidInput) as problem:
        plan_edit(kind, GROUP if kind == "adGroup" else AD, **edit)
    assert {issue.path for issue in problem.value.issues} == {path}


def test_a_smart_plus_ad_group_keeps_the_rest_of_its_targeting() -> None:
    manual = GROUP | {"campaign_automation_type": "UPGRADED_SMART_PLUS"}
    own = GROUP | {"targeting_spec": {"location_ids": ["1"], "gender": "GENDER_MALE"}, "adgroup_id": "2"}
    plan = plan_edit("adGroup", manual, make_page(own), fields={"bid": "0.75"}, targeting={"locations": [{"id": "7"}]})
    assert plan.steps[0].request.url == f"{BASE}/smart_plus/adgroup/update/"
    assert plan.steps[0].request.body == {
        "advertiser_id": "7011112222",
        "adgroup_id": "2",
        "bid_price": Decimal("0.75"),
        "targeting_spec": {"location_ids": ["7"], "gender": "GENDER_MALE"},
    }
