"""The Outbrain adapter: edits over two objects, whole targetings, locks, and what the settings show."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest

from adsunify.adapter.edits import Edit, Percentage
from adsunify.adapter.hierarchy import parse_entity
from adsunify.adapter.network import get_level
from adsunify.adapter.settings import build_settings
from adsunify.errors import InvalidInput, ProviderUnreadable
from adsunify.http.messages import Response, build_request_url
from adsunify.networks.outbrain import plans
from adsunify.networks.outbrain.tables import NETWORK
from adsunify.plans.records import Plan
from tests.networks.calls import make_response, run

from .calls import ACCOUNT, API, BUDGET, CAMPAIGN, CURRENCIES, LINK, NOW, PLACE, make_budget, make_campaign, make_link

OTHER = "f" * 32


def plan_edit(
    edit: Edit,
    *,
    campaign_: Any = None,
    budget_: Any = None,
    currencies: Response | None = CURRENCIES,
    now: datetime = NOW,
) -> Plan:
    answers = [make_response(campaign_ or make_campaign()), make_response(budget_ or make_budget())]
    if currencies is not None and {"bid", "budget", "budgetType"} & set(edit.fields):
        answers.append(currencies)
    plan, requests = run(plans.plan_edit(ACCOUNT, "campaign", CAMPAIGN, edit, now), *answers)
    assert requests[0].query["extraFields"].startswith("Locations,")
    assert len(requests) == len(answers)
    assert isinstance(plan, Plan)
    return plan


def plan_field_edit(**fields: Any) -> Plan:
    return plan_edit(Edit(fields))


def find_edit_issues(edit: Edit, **options: Any) -> set[str]:
    with pytest.raises(InvalidInput) as refusal:
        plan_edit(edit, **options)
    return {issue.path for issue in refusal.value.issues}


# -- a campaign and its budget ----------------------------------------------------------------------------------------


def test_the_budget_comes_first_with_all_of_its_members() -> None:
    plan = plan_field_edit(name="New", budget="70", endAt="2027-05-31", bid="0.50")
    first, second = plan.steps
    assert build_request_url(first.request) == f"{API}/budgets/{BUDGET}"
    assert first.request.body == {"amount": Decimal(70), "endDate": "2027-05-31", "runForever": False}
    assert [(change.field, change.before, change.after) for change in first.changes] == [
        ("budget", "60.5", "70"),
        ("endAt", None, "2027-05-31"),
    ]
    assert build_request_url(second.request) == f"{API}/campaigns/{CAMPAIGN}"
    assert second.request.body == {"name": "New", "cpc": Decimal("0.5")}
    assert plan.risk == "spend"


def test_an_end_is_taken_away_by_its_flag() -> None:
    budget = make_budget(endDate="2027-05-31", runForever=False)
    plan = plan_edit(Edit({"endAt": ""}), budget_=budget)
    assert plan.steps[0].request.body == {"runForever": True}
    assert plan.risk == "spend"


def test_an_instant_means_its_eastern_day() -> None:
    plan = plan_field_edit(startAt="2027-05-09T04:00:00Z", endAt="2027-06-01T04:00:00Z")
    assert plan.steps[0].request.body == {"startDate": "2027-05-09", "endDate": "2027-05-31", "runForever": False}
    assert any("Eastern" in warning for warning in plan.warnings)


def test_a_percentage_is_cut_to_cents() -> None:
    plan = plan_field_edit(bid=Percentage("increase", Decimal(10)))
    assert plan.steps[0].request.body == {"cpc": Decimal("0.46")}


def test_a_shared_budget_is_locked() -> None:
    fields = {"budget": "70", "pacing": "AUTOMATIC", "startAt": "2027-05-10", "endAt": "2027-05-31"}
    assert find_edit_issues(Edit(fields), budget_=make_budget(shared=True)) == {f"fields.{name}" for name in fields}


def test_a_start_that_has_passed_is_locked() -> None:
    budget = make_budget(startDate="2027-05-01")
    assert find_edit_issues(Edit({"startAt": "2027-05-10"}), budget_=budget) == {"fields.startAt"}


@pytest.mark.parametrize(
    ("fields", "budget", "paths"),
    [
        ({"budget": "24.99"}, {}, {"fields.budget"}),
        ({"budget": "70.001"}, {}, {"fields.budget"}),
        ({"budget": "901"}, {"maximumAmount": 900}, {"fields.budget"}),
        ({"budgetType": "MONTHLY"}, {}, {"fields.budgetType"}),
        ({"budgetType": "CAMPAIGN"}, {}, {"fields.endAt"}),
        ({"pacing": "AUTOMATIC"}, {}, {"fields.pacing"}),
        ({"dailyTarget": "30"}, {}, {"fields.dailyTarget"}),
        ({"pacing": "DAILY_TARGET"}, {"type": "MONTHLY", "amount": 800}, {"fields.dailyTarget"}),
        ({"startAt": "2027-04-30"}, {}, {"fields.startAt"}),
        ({"endAt": "2027-04-30"}, {}, {"fields.endAt"}),
        ({"endAt": "2027-05-02"}, {}, {"fields.endAt"}),
        ({"bid": "0.02"}, {}, {"fields.bid"}),
        ({"bid": "5.01"}, {}, {"fields.bid"}),
        ({"ages": "1"}, {}, {"fields.ages"}),
        ({"name": "x" * 101}, {}, {"fields.name"}),
        ({"browsers": "Netscape"}, {}, {"fields.browsers"}),
    ],
)
def test_edits_that_are_refused(fields: dict[str, Any], budget: dict[str, Any], paths: set[str]) -> None:
    assert find_edit_issues(Edit(fields), budget_=make_budget(**budget)) >= paths


def test_without_the_currencies_the_campaign_tells_the_least_bid() -> None:
    silent = make_response({"errorMessage": "no"}, 500)
    assert plan_edit(Edit({"bid": "9"}), currencies=silent).steps
    assert find_edit_issues(Edit({"bid": "0.02"}), currencies=silent) == {"fields.bid"}


def test_another_kind_of_budget_is_spending() -> None:
    plan = plan_edit(Edit({"budgetType": "DAILY"}), budget_=make_budget(type="MONTHLY", amount=800, pacing="AUTOMATIC"))
    assert plan.steps[0].request.body == {"type": "DAILY", "pacing": "SPEND_ASAP"}
    assert plan.risk == "spend"


def test_an_objective_brings_its_optimization() -> None:
    assert plan_field_edit(objective="Awareness").steps[0].request.body == {
        "objective": "Awareness",
        "campaignOptimization": {"optimizationType": "TRAFFIC"},
    }
    assert plan_field_edit(objective="Conversions").steps[0].request.body["campaignOptimization"] == {
        "optimizationType": "CPC"
    }


def test_a_suffix_is_cleared_by_a_word() -> None:
    campaign = make_campaign(suffixTrackingCode="utm_source=outbrain")
    plan = plan_edit(Edit({"trackingSuffix": ""}), campaign_=campaign)
    assert plan.steps[0].request.body == {"suffixTrackingCode": "EMPTY_SUFFIX"}
    assert plan_field_edit(trackingPrefix="p").steps[0].request.body == {"prefixTrackingCode": {"prefix": "p"}}


# -- targeting --------------------------------------------------------------------------------------------------------


def test_a_targeting_is_sent_whole() -> None:
    targeting = {"languages": [{"id": "en", "name": "English"}], "interests": [{"id": "i1", "name": "Tea"}]}
    plan = plan_edit(Edit(targeting=targeting))
    assert plan.steps[0].request.body == {
        "targeting": {
            "platform": ["DESKTOP"],
            "locations": [PLACE],
            "language": "en",
            "interests": {"op": "Or", "ids": ["i1"]},
        }
    }
    assert [change.field for change in plan.steps[0].changes] == ["languages", "interests"]


@pytest.mark.parametrize(
    "edit",
    [Edit({"locations": OTHER}), Edit(targeting={"locations": [{"id": OTHER, "name": "Sweden"}]})],
)
def test_new_places_come_with_their_version(edit: Edit) -> None:
    plan = plan_edit(edit)
    assert plan.steps[0].request.body["targeting"] == {
        "platform": ["DESKTOP"],
        "locations": [OTHER],
        "locationsVersion": "V2",
    }
    assert plan.steps[0].changes[0].before == [PLACE]


@pytest.mark.parametrize(
    "targeting",
    [
        {"ageMin": 20},
        {"genders": ["male"]},
        {"excludedInterests": []},
        {"placements": []},
        {"languages": [{"id": "en", "name": "x"}, {"id": "de", "name": "y"}]},
        {"devices": [{"id": "TV", "name": "x"}]},
        {"locations": [{"id": PLACE, "name": "x", "radiusKm": 3}]},
    ],
)
def test_targetings_that_are_refused(targeting: dict[str, Any]) -> None:
    (path,) = find_edit_issues(Edit(targeting=targeting))
    assert path.startswith(f"targeting.{next(iter(targeting))}")


@pytest.mark.parametrize(
    ("name", "rows"),
    [("excludedLocations", [{"id": OTHER}]), ("browsers", ["CHROME"]), ("operatingSystems", ["ANDROID"])],
)
def test_an_empty_text_clears_a_list(name: str, rows: list[Any]) -> None:
    targeting = make_campaign()["targeting"] | {name: rows}
    plan = plan_edit(Edit({name: ""}), campaign_=make_campaign(targeting=targeting))
    assert plan.steps[0].request.body["targeting"][name] == []
    assert plan.steps[0].changes[0].after == []


@pytest.mark.parametrize("edit", [Edit({"locations": ""}), Edit(targeting={"locations": []})])
def test_the_places_of_a_campaign_are_not_cleared(edit: Edit) -> None:
    """Outbrain would serve everywhere."""
    (path,) = find_edit_issues(edit)
    assert path.endswith(".locations")


def test_what_has_to_be_said_is_not_cleared() -> None:
    fields = {"platforms": "", "languages": "", "interests": ""}
    assert find_edit_issues(Edit(fields)) == {f"fields.{name}" for name in fields}
    assert find_edit_issues(Edit(targeting={"interests": [], "devices": []})) == {
        "targeting.interests",
        "targeting.devices",
    }


def test_a_targeting_that_cannot_be_read_is_not_replaced() -> None:
    with pytest.raises(ProviderUnreadable):
        plan_edit(Edit({"locations": OTHER}), campaign_=make_campaign(targeting=None))


# -- a link -----------------------------------------------------------------------------------------------------------


def plan_link_edit(edit: Edit, **members: Any) -> Plan:
    plan, _ = run(
        plans.plan_edit(ACCOUNT, "ad", LINK, edit, NOW),
        make_response(make_link(**members)),
        make_response(make_campaign()),
    )
    assert isinstance(plan, Plan)
    return plan


def test_content_goes_to_the_campaigns_links() -> None:
    plan = plan_link_edit(
        Edit({"brandName": "Shop"}, creative={"headline": "New", "imageUrl": "https://a.example/b.jpg"})
    )
    (step,) = plan.steps
    assert (step.request.method, build_request_url(step.request)) == (
        "PUT",
        f"{API}/campaigns/{CAMPAIGN}/promotedLinks/",
    )
    assert step.request.body == [
        {"id": LINK, "title": "New", "sectionName": "Shop", "imageMetadata": {"url": "https://a.example/b.jpg"}}
    ]
    assert step.changes[0].before == "Ten ways to sleep better"


def test_a_status_goes_to_the_link() -> None:
    plan = plan_link_edit(Edit({"status": "active"}))
    assert (build_request_url(plan.steps[0].request), plan.steps[0].request.body) == (
        f"{API}/promotedLinks/{LINK}",
        {"enabled": True},
    )
    assert (plan.steps[0].can_be_empty, plan.risk) == (True, "spend")


@pytest.mark.parametrize(
    ("edit", "path"),
    [
        (Edit({"url": "https://b.example"}), "fields.url"),
        (Edit({"bid": "1"}), "fields.bid"),
        (Edit(creative={"url": "https://b.example"}), "creative.url"),
        (Edit({"headline": "a"}, creative={"headline": "b"}), "creative.headline"),
        (Edit(targeting={"locations": []}), "targeting"),
    ],
)
def test_edits_of_links_that_are_refused(edit: Edit, path: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        plan_link_edit(edit)
    assert [issue.path for issue in refusal.value.issues] == [path]


def test_only_pending_links_have_content_to_edit() -> None:
    approved = {"approvalStatus": {"status": "Approved", "isEditable": False}}
    with pytest.raises(InvalidInput, match="locked"):
        plan_link_edit(Edit({"headline": "New"}), **approved)
    assert plan_link_edit(Edit({"status": "paused"}), enabled=True, **approved).steps


def test_a_refusal_names_the_member_that_was_sent() -> None:
    approved = {"approvalStatus": {"status": "Approved", "isEditable": False}}
    with pytest.raises(InvalidInput) as refusal:
        plan_link_edit(
            Edit({"brandName": "Shop"}, creative={"body": "New", "imageUrl": "https://a.example/b.jpg"}), **approved
        )
    assert {issue.path for issue in refusal.value.issues} == {"fields.brandName", "creative.body", "creative.imageUrl"}


# -- settings ---------------------------------------------------------------------------------------------------------


def test_settings_show_both_objects() -> None:
    native = make_campaign(budget=make_budget(shared=True))
    entity = parse_entity(get_level(NETWORK, "campaign"), native)
    fields = {field["field"]: field for field in build_settings(NETWORK, ACCOUNT, CAMPAIGN, entity, NOW)["fields"]}
    assert (fields["budget"]["value"], fields["budget"]["period"]) == ("60.5", "daily")
    assert fields["budget"]["locked"] == "its budget is used by other campaigns"
    assert fields["locations"]["value"] == [PLACE]
    assert fields["bid"] == {"field": "bid", "value": "0.42", "unit": "USD", "locked": None}
