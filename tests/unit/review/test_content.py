"""What a plan sends, in words."""

from __future__ import annotations

from typing import Any

from adsunify.review.content import describe_content


def plan(body: Any, action: str = "create") -> dict[str, Any]:
    return {"steps": [{"action": action, "kind": "adGroup", "body": body}]}


def test_native_members_are_in_words() -> None:
    body = {
        "targeting": {"geo_locations": {"countries": ["NO", "DE"]}, "ageMin": 18, "locales": ["de"], "flexible": False},
        "creative": {
            "headline": "Built for rain",
            "url": "https://shop.example/a",
            "imageUrl": "https://x.example/a.png",
        },
        "status": "PAUSED",
    }
    words = {
        subject: [(fact.member, fact.text) for fact in facts] for subject, facts in describe_content(plan(body)).items()
    }
    assert words == {
        "Audience": [
            ("countries", "Norway (NO)"),
            ("countries", "Germany (DE)"),
            ("age min", "18"),
            ("locales", "de"),
            ("flexible", "no"),
        ],
        "Texts": [("headline", "Built for rain")],
        "Link": [("url", "https://shop.example/a")],
        "Picture": [("image url", "a.png: https://x.example/a.png")],
    }


def test_changes_of_existing_entities_are_described_by_their_steps() -> None:
    assert describe_content(plan({"headline": "Built for rain"}, "update")) == {}
