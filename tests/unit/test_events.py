"""Notifications: the names, the default, and a body that carries identifiers only."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import get_args

import pytest

from adsunify.events import DEFAULT_EVENTS, EVENT_DESCRIPTIONS, TEST_EVENT, EventName, build_event_body

AT = datetime(2027, 3, 1, 8, microsecond=250_999, tzinfo=UTC)


def test_the_names_are_the_fifteen_of_the_contract():
    assert list(get_args(EventName)) == list(EVENT_DESCRIPTIONS)
    assert len(EVENT_DESCRIPTIONS) == 15


def test_the_default_subscription_is_the_five_operation_events():
    states = ("prepared", "running", "succeeded", "unknown", "cancelled")
    assert tuple(f"operation.{state}" for state in states) == DEFAULT_EVENTS


def test_body_has_the_documented_shape():
    data = {"accountId": "a", "network": "meta", "status": "paused", "kind": "ad", "entityId": "9", "before": "active"}
    assert build_event_body("e", "ad.status_changed", AT, "w", data) == {
        "id": "e",
        "type": "ad.status_changed",
        "createdAt": "2027-03-01T08:00:00.250Z",
        "apiVersion": "1.1.0",
        "workspaceId": "w",
        "data": {"operationId": None, **data},
    }


def test_a_test_notification_names_no_operation():
    body = build_event_body("e", TEST_EVENT, AT, "w", {})
    assert TEST_EVENT not in EVENT_DESCRIPTIONS
    assert body["data"] == {"operationId": None, "accountId": None, "network": None, "status": None}


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("operation.exploded", {}),
        ("operation.prepared", {"accessToken": "t"}),
        ("operation.prepared", {"entityId": "x" * 251}),
        ("operation.prepared", {"what": {"headline": "native"}}),
    ],
)
def test_what_does_not_belong_into_an_event_is_a_defect(name, data):
    with pytest.raises(ValueError, match="event"):
        build_event_body("e", name, AT, "w", data)
