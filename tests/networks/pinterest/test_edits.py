"""The Pinterest adapter: edits of fields and targeting, compared with the values that the entity has."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest

from adsunify.adapter.edits import Edit, Percentage
from adsunify.errors import InvalidInput
from adsunify.networks.pinterest import plans
from tests.networks.calls import make_response, run

from .calls import ACCOUNT, NOW

CAMPAIGN: Mapping[str, Any] = {
    "id": "5",
    "name": "C",
    "status": "PAUSED",
    "daily_spend_cap": 25000000,
    "lifetime_spend_cap": 0,
    "start_time": 1793520000,
    "end_time": 1794729600,
}
GROUP: Mapping[str, Any] = {
    "id": "6",
    "campaign_id": "5",
    "name": "G",
    "status": "ACTIVE",
    "budget_type": "CBO_ADGROUP",
    "billable_event": "CLICKTHROUGH",
    "bid_strategy_type": "MAX_BID",
    "bid_in_micro_currency": 850000,
    "targeting_spec": {"LOCATION": ["US"], "AGE_BUCKET": ["18-24"], "GENDER": None, "INTEREST": ["9"]},
}
AD: Mapping[str, Any] = {"id": "7", "ad_group_id": "6", "name": "A", "status": "PAUSED", "pin_id": "8"}


def describe_edit(kind: Any, entity: Mapping[str, Any], edit: Edit) -> Any:
    plan, requests = run(plans.plan_edit(ACCOUNT, kind, entity["id"], edit, NOW), make_response(entity))
    assert [request.method for request in requests] == ["GET"]
    (step,) = plan.steps
    return step.request.body[0], plan.risk, [(change.field, change.before, change.after) for change in step.changes]


def test_a_budget_is_raised() -> None:
    own = {"id": "5", "ad_account_id": "549755885175"}
    assert describe_edit("campaign", CAMPAIGN, Edit({"budget": "30"})) == (
        own | {"daily_spend_cap": 30000000},
        "spend",
        [("budget", "25", "30")],
    )
    body, risk, _ = describe_edit("campaign", CAMPAIGN, Edit({"budget": Percentage("decrease", Decimal(10))}))
    assert (body, risk) == (own | {"daily_spend_cap": 22500000}, "low")
    lifetime = {**CAMPAIGN, "daily_spend_cap": None, "lifetime_spend_cap": 90000000}
    assert describe_edit("campaign", lifetime, Edit({"budget": 80}))[0] == own | {"lifetime_spend_cap": 80000000}


def test_an_end_is_cleared_and_an_order_line() -> None:
    ordered = {**CAMPAIGN, "order_line_id": "44", "tracking_urls": {"click": ["https://t.example"]}}
    body, _, changes = describe_edit("campaign", ordered, Edit({"endAt": "", "orderLineId": "", "trackingUrls": ""}))
    assert (body["end_time"], body["order_line_id"], body["tracking_urls"]) == (-1, "0", {})
    assert [(field, after) for field, _, after in changes] == [
        ("endAt", None),
        ("trackingUrls", None),
        ("orderLineId", None),
    ]


def test_a_strategy_and_its_bid() -> None:
    body, risk, _ = describe_edit("adGroup", GROUP, Edit({"bidStrategy": "AUTOMATIC_BID"}))
    assert body == {"id": "6", "bid_strategy_type": "AUTOMATIC_BID", "bid_in_micro_currency": None}
    assert risk == "spend"  # the limit goes
    automatic = {**GROUP, "bid_strategy_type": "AUTOMATIC_BID", "bid_in_micro_currency": None}
    body, _, _ = describe_edit("adGroup", automatic, Edit({"bid": "0.5", "bidStrategy": "MAX_BID"}))
    assert body == {"id": "6", "bid_strategy_type": "MAX_BID", "bid_in_micro_currency": 500000}


def test_targeting_is_laid_over_what_is_there() -> None:
    targeting = {
        "locations": [{"id": "US-CA", "name": "California"}, {"id": "501", "name": "New York"}],
        "excludedLocations": [{"id": "GB", "name": "United Kingdom"}],
        "languages": [{"id": "en", "name": "English"}],
        "genders": ["female"],
        "ageMin": 25,
        "ageMax": 65,
    }
    body, _, _ = describe_edit("adGroup", GROUP, Edit(targeting=targeting))
    assert body["targeting_spec"] == {
        "LOCATION": ["501"],
        "GEO": ["US-CA"],
        "LOCATION_EXCLUDE": ["GB"],
        "LOCALE": ["en"],
        "GENDER": ["female"],
        "MINIMUM_AGE": "25",
        "MAXIMUM_AGE": "65+",
        "INTEREST": ["9"],
    }
    body, _, changes = describe_edit("adGroup", GROUP, Edit(targeting={"interests": []}))
    assert body["targeting_spec"] == {"LOCATION": ["US"], "AGE_BUCKET": ["18-24"]}
    assert changes == [("interests", {"INTEREST": ["9"]}, None)]


def test_an_ad_is_renamed_and_led_elsewhere() -> None:
    fields = {"name": "B", "url": "https://shop.example/b", "clickTrackingUrl": "https://t.example"}
    body, _, _ = describe_edit("ad", AD, Edit(fields))
    assert body == {
        "id": "7",
        "name": "B",
        "destination_url": "https://shop.example/b",
        "click_tracking_url": "https://t.example",
    }


STARTED = {**CAMPAIGN, "start_time": 1600000000}
LIFETIME = {**CAMPAIGN, "daily_spend_cap": 0, "lifetime_spend_cap": 90000000}
AUTOMATIC = {**GROUP, "bid_strategy_type": "AUTOMATIC_BID", "bid_in_micro_currency": None}
ODD_AGES = {**GROUP, "targeting_spec": {"LOCATION": ["US"], "MINIMUM_AGE": "18", "MAXIMUM_AGE": ["34"]}}


@pytest.mark.parametrize(
    ("kind", "entity", "edit", "paths"),
    [
        ("campaign", LIFETIME, Edit({"endAt": ""}), ["fields.endAt"]),
        ("campaign", CAMPAIGN, Edit({"endAt": "2026-10-01T00:00:00Z"}), ["fields.endAt"]),
        ("campaign", CAMPAIGN, Edit({"endAt": "2026-10-25T00:00:00Z"}), ["fields.endAt"]),
        ("campaign", CAMPAIGN, Edit({"startAt": "2026-12-01T00:00:00Z"}), ["fields.startAt"]),
        ("campaign", CAMPAIGN, Edit({"startAt": "2026-11-02T00:00:00.5Z"}), ["fields.startAt"]),
        (
            "campaign",
            {**CAMPAIGN, "start_time": 1600000000},
            Edit({"startAt": "2026-11-02T00:00:00Z"}),
            ["fields.startAt"],
        ),
        ("campaign", {**CAMPAIGN, "daily_spend_cap": None}, Edit({"budget": "5"}), ["fields.budget"]),
        ("campaign", CAMPAIGN, Edit({"bid": "5"}), ["fields.bid"]),
        ("campaign", CAMPAIGN, Edit({"name": "x" * 256}), ["fields.name"]),
        ("campaign", CAMPAIGN, Edit({"trackingUrls": '{"click": "https://t.example"}'}), ["fields.trackingUrls"]),
        ("campaign", CAMPAIGN, Edit({"trackingUrls": '{"open": []}'}), ["fields.trackingUrls"]),
        ("campaign", CAMPAIGN, Edit({"orderLineId": "AB"}), ["fields.orderLineId"]),
        ("campaign", {**CAMPAIGN, "status": "ARCHIVED"}, Edit({"name": "x"}), ["fields.name"]),
        ("campaign", CAMPAIGN, Edit({"objective_type": "SALES"}), ["fields.objective_type"]),
        ("campaign", CAMPAIGN, Edit(targeting={"ageMin": 20}), ["targeting"]),
        ("campaign", CAMPAIGN, Edit(), ["fields"]),
        ("adGroup", GROUP, Edit({"budget": "5", "endAt": "2027-01-01T00:00:00Z"}), ["fields.budget", "fields.endAt"]),
        ("adGroup", GROUP, Edit({"frequencyCap": 3}), ["fields.frequencyCap"]),
        ("adGroup", AUTOMATIC, Edit({"bid": "1"}), ["fields.bid"]),
        ("adGroup", AUTOMATIC, Edit({"bidStrategy": "MAX_BID"}), ["fields.bid"]),
        ("adGroup", GROUP, Edit({"bidStrategy": "TARGET_AVG"}), ["fields.bidStrategy"]),
        ("adGroup", GROUP, Edit(targeting={"ageMin": 20}), ["targeting.ageMax"]),
        ("adGroup", ODD_AGES, Edit(targeting={"ageMin": 20}), ["targeting.ageMax"]),
        ("adGroup", GROUP, Edit(targeting={"ageMin": 17, "ageMax": 30}), ["targeting.ageMin"]),
        ("adGroup", GROUP, Edit(targeting={"ageMin": 40, "ageMax": 30}), ["targeting.ageMin"]),
        ("adGroup", GROUP, Edit(targeting={"locations": []}), ["targeting.locations"]),
        ("adGroup", GROUP, Edit(targeting={"excludedInterests": []}), ["targeting.excludedInterests"]),
        (
            *("adGroup", GROUP, Edit(targeting={"locations": [{"id": "US", "name": "US", "radiusKm": 5}]})),
            ["targeting.locations.0.radiusKm"],
        ),
        ("adGroup", {**GROUP, "status": "ARCHIVED"}, Edit(targeting={"genders": ["male"]}), ["targeting"]),
        ("ad", AD, Edit({"url": "shop.example"}), ["fields.url"]),
        ("ad", AD, Edit({"pin_id": "9"}), ["fields.pin_id"]),
        ("ad", AD, Edit(creative={"headline": "New"}), ["creative"]),
    ],
)
def test_edits_that_are_refused(kind: Any, entity: Mapping[str, Any], edit: Edit, paths: list[str]) -> None:
    with pytest.raises(InvalidInput) as refusal:
        describe_edit(kind, entity, edit)
    assert [issue.path for issue in refusal.value.issues] == paths
