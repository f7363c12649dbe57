"""An account, a brief, and answers of LinkedIn, for the tests of its adapter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from adsunify.adapter.account import Account
from adsunify.http.messages import Request, Response, build_request_url
from adsunify.models.brief import read_brief
from adsunify.planning import plan
from adsunify.plans.records import Plan
from tests.briefs import change_brief
from tests.networks.calls import round_trip_json

ACCOUNT = Account("linkedin", "518121035", "USD", "UTC")
NOW = datetime(2026, 10, 20, 12, tzinfo=UTC)
HOST = "https://api.linkedin.com/rest"
HEADERS = {"LinkedIn-Version": "202609", "X-Restli-Protocol-Version": "2.0.0"}
POST = "urn:li:share:6850000000000000001"
POST_URL = f"{HOST}/posts/urn%3Ali%3Ashare%3A6850000000000000001"
CRITERIA: dict[str, Any] = {
    "include": {
        "and": [
            {"or": {"urn:li:adTargetingFacet:locations": ["urn:li:geo:103644278"]}},
            {"or": {"urn:li:adTargetingFacet:interfaceLocales": ["urn:li:locale:en_US"]}},
        ]
    }
}
BRIEF: dict[str, Any] = {
    "name": "Autumn webinar",
    "goal": "traffic",
    "budget": {"amount": "40", "currency": "USD", "period": "daily"},
    "bid": "4.50",
    "schedule": {"startAt": "2026-11-01T08:00:00Z", "endAt": "2026-11-15T08:00:00Z"},
    "targeting": {"native": CRITERIA},
    "creative": {"existingId": POST},
    "platform": {
        "pageId": "7700123",
        "locale": {"country": "US", "language": "en"},
        "euPoliticalAdvertising": False,
    },
}
CAMPAIGN: dict[str, Any] = {
    "id": 880011,
    "account": "urn:li:sponsoredAccount:518121035",
    "campaignGroup": "urn:li:sponsoredCampaignGroup:7021",
    "name": "Autumn webinar",
    "status": "PAUSED",
    "objectiveType": "WEBSITE_VISIT",
    "optimizationTargetType": "NONE",
    "costType": "CPC",
    "unitCost": {"amount": "4.50", "currencyCode": "USD"},
    "dailyBudget": {"amount": "40.000000000000000782", "currencyCode": "USD"},
    "runSchedule": {"start": 1793520000000, "end": 1794729600000},
    "targetingCriteria": CRITERIA,
}
GROUP: dict[str, Any] = {
    "id": 7021,
    "name": "Autumn webinar",
    "status": "ACTIVE",
    "runSchedule": {"start": 1793520000000},
}


def make_brief(**changes: Any) -> dict[str, Any]:
    return change_brief(BRIEF, changes)


def make_plan(post: Any = None, account: Account = ACCOUNT, **changes: Any) -> Plan:
    """The plan of the brief; ``post``: what the look-up of the post answers."""
    lookups = [] if post is None else [{"request": {"url": POST_URL}, "response": {"status": 200, "body": post}}]
    return plan(read_brief(make_brief(**changes)), account, lookups=lookups)


def make_responder(answers: Mapping[str, Any], requests: list[Request] | None = None) -> Callable[[Request], Response]:
    """A function that answers by address: a Response as it is, anything else as the body of a 200."""

    def answer(request: Request) -> Response:
        if requests is not None:
            requests.append(request)
        response = answers[build_request_url(request)]
        return response if isinstance(response, Response) else Response(200, {}, round_trip_json(response))

    return answer
