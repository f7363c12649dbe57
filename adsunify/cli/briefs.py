"""The briefs of the demo: one small campaign for each network, in a brief's own words."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from adsunify.values.dates import get_midnight, get_timezone

SHARED_MEMBERS: Mapping[str, Any] = {
    "name": "Garden chairs",
    "goal": "traffic",
    "targeting": {},
    "creative": {},
    "platform": {},
}

NETWORK_MEMBERS: Mapping[str, Mapping[str, Any]] = {
    "meta": {
        "targeting": {"countries": ["US"]},
        "creative": {
            "headline": "Built for rain",
            "body": "Folding chairs that stay outside.",
            "url": "https://shop.example/chairs",
            "imageHash": "0f1e2d3c4b5a69788796a5b4c3d2e1f0",
        },
        "platform": {"pageId": "9009"},
    },
    "google": {
        "bid": "0.85",
        "targeting": {"countries": ["US"], "keywords": [{"text": "folding garden chair", "match": "phrase"}]},
        "creative": {
            "url": "https://shop.example/chairs",
            "headlines": ["Folding garden chairs", "Built for rain", "Free delivery"],
            "descriptions": ["Light, strong and easy to store.", "Order today, sit down on Friday."],
        },
        "platform": {"euPoliticalAdvertising": False},
    },
    "tiktok": {
        "targeting": {"countries": ["US"]},
        "creative": {
            "existingId": "v10033g50000abc",
            "body": "Folding chairs that stay outside.",
            "url": "https://shop.example/chairs",
        },
        "platform": {"identityId": "6bd1-aa", "identityType": "TT_USER"},
    },
    "snapchat": {
        "goal": "awareness",
        "bid": "4.25",
        "targeting": {"countries": ["US"]},
        "creative": {"existingId": "6f1c2a90-3b7d-4c58-9e21-7d40b8a5f613"},
    },
    "pinterest": {
        "bid": "0.85",
        "targeting": {"countries": ["US"], "keywords": [{"text": "folding garden chair", "match": "phrase"}]},
        "creative": {
            "headline": "Built for rain",
            "body": "Folding chairs that stay outside.",
            "url": "https://shop.example/chairs",
            "imageUrl": "https://cdn.example/chairs.jpg",
        },
        "platform": {"boardId": "730146114520000001"},
    },
    "linkedin": {
        "bid": "4.50",
        "targeting": {
            "native": {
                "include": {"and": [{"or": {"urn:li:adTargetingFacet:locations": ["urn:li:geo:103644278"]}}]},
            },
        },
        "creative": {"existingId": "urn:li:share:6850000000000000001"},
        "platform": {"pageId": "7700123", "locale": {"country": "US", "language": "en"}},
    },
    "reddit": {
        "bid": "4.00",
        "targeting": {"native": {"geolocations": ["US"], "communities": ["homeimprovement"]}},
        "creative": {"existingId": "t3_abc123"},
        "platform": {"fundingInstrumentId": "4711", "pixelId": "a2_pixel0001"},
    },
    "amazon": {
        "goal": "conversions",
        "bid": "0.75",
        "targeting": {"keywords": [{"text": "camping stove"}, {"text": "gas stove", "match": "broad"}]},
        "platform": {"sku": "STOVE-1"},
    },
    "x": {
        "bid": "0.85",
        "targeting": {"countries": ["US"], "keywords": [{"text": "folding garden chair", "match": "phrase"}]},
        "creative": {"existingId": "1166476031668015104"},
        "platform": {"fundingInstrumentId": "k9x2"},
    },
    "chatgpt": {
        "bid": "0.85",
        "targeting": {"native": {"locations": {"countries": ["US"]}}},
        "creative": {
            "headline": "Built for rain",
            "body": "Folding chairs that stay outside.",
            "url": "https://shop.example/chairs",
            "imageUrl": "https://cdn.example/chairs.jpg",
        },
    },
    "apple": {
        "goal": "app_installs",
        "bid": "1.35",
        "targeting": {
            "countries": ["US"],
            "keywords": [{"text": "garden planner"}, {"text": "garden", "match": "broad"}],
        },
        "creative": {"existingId": "880101"},
        "platform": {"appId": "1440000001"},
    },
    "outbrain": {
        "bid": "0.42",
        "targeting": {"countries": ["US"]},
        "creative": {
            "headline": "Built for rain",
            "body": "Folding chairs that stay outside.",
            "url": "https://shop.example/chairs",
            "imageUrl": "https://cdn.example/chairs.jpg",
        },
        "platform": {"brandName": "Example Shop"},
    },
}
"""What each network needs beside the shared part."""

LIFETIME_BUDGET_NETWORKS = {"chatgpt"}
"""Networks that take no budget of a day."""


WHOLE_DAY_NETWORKS = {"google", "amazon", "outbrain"}
"""Networks that keep whole days of the account's time zone: they take a midnight as the start."""


def make_brief(network: str, currency: str, timezone: str, now: datetime) -> dict[str, Any]:
    """The network's brief: 30 a day, from tomorrow, for a month."""
    amount, period = ("900", "lifetime") if network in LIFETIME_BUDGET_NETWORKS else ("30", "daily")
    tomorrow = (now + timedelta(days=1)).replace(microsecond=0)
    start = tomorrow
    if network in WHOLE_DAY_NETWORKS:
        start = get_midnight(tomorrow.astimezone(get_timezone(timezone)).date(), timezone)
    return {
        **SHARED_MEMBERS,
        "budget": {"amount": amount, "currency": currency, "period": period},
        "schedule": {
            "startAt": start.isoformat().replace("+00:00", "Z"),
            "endAt": (tomorrow + timedelta(days=30)).isoformat().replace("+00:00", "Z"),
        },
        **NETWORK_MEMBERS[network],
    }
