"""What the tests of the Google Ads adapter share: a brief, rows as Google answers them, and a driver."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

import pytest

from adsunify.adapter.account import Account
from adsunify.adapter.brief_checks import check_brief
from adsunify.adapter.edits import Edit
from adsunify.adapter.flows import run_flow
from adsunify.adapter.oauth import OAuthClient
from adsunify.errors import InvalidInput
from adsunify.http.messages import Flow, Request, Response, build_request_url
from adsunify.models.brief import read_brief
from adsunify.networks.google import plans
from adsunify.networks.google.tables import NETWORK
from adsunify.planning import plan
from adsunify.plans.records import Plan
from adsunify.values.exact_json import dumps, loads
from tests.briefs import change_brief

Result = TypeVar("Result")
EXTRAS = {"loginCustomerId": "9990002222", "billableUnitMicros": "10000"}
ACCOUNT = Account("google", "5550001111", "USD", "America/New_York", EXTRAS)
ROOT = "customers/5550001111"
SEARCH = f"https://googleads.googleapis.com/v26/{ROOT}/googleAds:search"
MUTATE = f"https://googleads.googleapis.com/v26/{ROOT}/googleAds:mutate"
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
APP = OAuthClient("app-1", "app-secret")
BRIEF: dict[str, Any] = {
    "name": "Garden chairs autumn",
    "goal": "traffic",
    "budget": {"amount": "12.34", "currency": "USD", "period": "daily"},
    "bid": "0.85",
    "schedule": {"startAt": "2027-03-01T00:00:00-05:00", "endAt": "2027-04-01T00:00:00-04:00"},
    "targeting": {"countries": ["NO"], "keywords": [{"text": "folding garden chair", "match": "phrase"}]},
    "creative": {
        "url": "https://shop.example/chairs",
        "headlines": ["Folding Garden Chairs", "Built For Rain", "Free Delivery"],
        "descriptions": ["Light, strong and easy to store.", "Order today, sit down on Friday."],
    },
    "platform": {"euPoliticalAdvertising": False},
}
RESOURCE_NAMES = [
    f"{ROOT}/campaignBudgets/77001",
    f"{ROOT}/campaigns/88001",
    f"{ROOT}/campaignCriteria/88001~2578",
    f"{ROOT}/adGroups/99001",
    f"{ROOT}/adGroupCriteria/99001~41001",
    f"{ROOT}/adGroupAds/99001~61001",
]
CAMPAIGN: dict[str, Any] = {
    "campaign": {
        "resourceName": f"{ROOT}/campaigns/88001",
        "id": "88001",
        "name": "Garden chairs autumn",
        "status": "PAUSED",
        "biddingStrategyType": "MANUAL_CPC",
        "campaignBudget": f"{ROOT}/campaignBudgets/77001",
        "startDateTime": "2027-03-01 00:00:00",
        "endDateTime": "2027-03-31 23:59:59",
        "containsEuPoliticalAdvertising": "DOES_NOT_CONTAIN_EU_POLITICAL_ADVERTISING",
    },
    "campaignBudget": {"resourceName": f"{ROOT}/campaignBudgets/77001", "amountMicros": "12340000"},
}
AD: dict[str, Any] = {
    "adGroupAd": {
        "resourceName": f"{ROOT}/adGroupAds/99001~61001",
        "status": "ENABLED",
        "ad": {
            "id": "61001",
            "type": "RESPONSIVE_SEARCH_AD",
            "finalUrls": ["https://shop.example/chairs"],
            "responsiveSearchAd": {
                "headlines": [{"text": "One", "pinnedField": "HEADLINE_1"}, {"text": "Two"}, {"text": "Three"}],
                "descriptions": [{"text": "First"}, {"text": "Second"}],
            },
        },
    }
}


def make_brief(**changes: Any) -> dict[str, Any]:
    return change_brief(BRIEF, changes)


def make_plan(account: Account = ACCOUNT, now: datetime | None = NOW, **changes: Any) -> Plan:
    return plan(read_brief(make_brief(**changes)), account, now=now)


def find_issues(account: Account = ACCOUNT, now: datetime | None = NOW, **changes: Any) -> set[str]:
    with pytest.raises(InvalidInput) as refusal:
        check_brief(NETWORK, account, read_brief(make_brief(**changes)), now)
    return {issue.path for issue in refusal.value.issues}


def get_operations(plan: Plan) -> list[dict[str, Any]]:
    """The operations of a plan's only step."""
    (step,) = plan.steps
    assert build_request_url(step.request) == MUTATE
    assert (step.request.kind, step.request.headers) == ("write", {"login-customer-id": "9990002222"})
    operations: list[dict[str, Any]] = step.request.body["mutateOperations"]
    return operations


def list_contents(plan: Plan, kind: str, resource: str = "create") -> Any:
    """The content of the plan's operations of one kind."""
    return [
        operation[f"{kind}Operation"][resource] for operation in get_operations(plan) if f"{kind}Operation" in operation
    ]


def run(flow: Flow[Result], *answers: Any) -> tuple[Result, list[Request]]:
    """A flow run with these answers, in order: bodies, or whole responses. All of them have to be asked for."""
    remaining, requests = list(answers), []

    def answer(request: Request) -> Response:
        requests.append(request)
        assert remaining, f"{request.method} {build_request_url(request)} {dumps(request.body)} was not expected"
        response = remaining.pop(0)
        return response if isinstance(response, Response) else Response(200, {}, loads(dumps(response)))

    result = run_flow(flow, answer)
    assert not remaining
    return result, requests


def make_rows(*rows: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {"results": list(rows), "fieldMask": "campaign.id"} | more


def read_queries(requests: Sequence[Request]) -> list[str]:
    assert all(
        (build_request_url(request), request.method, request.kind) == (SEARCH, "POST", "read") for request in requests
    )
    return [request.body["query"] for request in requests]


def make_error_response(status: int, *errors: Mapping[str, Any], **more: Any) -> Response:
    """An answer with a GoogleAdsFailure."""
    failure = {"@type": "x.googleapis.com/GoogleAdsFailure", "errors": list(errors), "requestId": "kT3x"}
    return Response(status, {}, {"error": {"code": status, "message": "Invalid.", "details": [failure]} | more})


def plan_edit(
    kind: Any,
    entity_id: str,
    native: Mapping[str, Any],
    *answers: Mapping[str, Any],
    now: datetime | None = NOW,
    **edit: Any,
) -> Plan:
    """The plan of an edit; ``answers``: those after the first."""
    plan, _ = run(plans.plan_edit(ACCOUNT, kind, entity_id, Edit(**edit), now), make_rows(native), *answers)
    return plan


def plan_campaign_edit(
    native: Mapping[str, Any] = CAMPAIGN,
    criteria: Sequence[Mapping[str, Any]] = (),
    goals: Sequence[Mapping[str, Any]] = (),
    now: datetime | None = NOW,
    **edit: Any,
) -> Plan:
    """The plan of a campaign's edit."""
    criterion_rows = make_rows(*({"campaignCriterion": criterion} for criterion in criteria))
    aims = make_rows(*({"campaignConversionGoal": goal} for goal in goals))
    return plan_edit("campaign", "88001", native, make_rows(native), criterion_rows, aims, now=now, **edit)


def find_flow_issues(flow: Callable[[], object]) -> list[tuple[str, str]]:
    """The paths and codes of a refusal."""
    with pytest.raises(InvalidInput) as refusal:
        flow()
    return [(issue.path, issue.code) for issue in refusal.value.issues]
