"""The status that a receipt shows where a network says it by several members."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from adsunify.execution.state import Receipt
from adsunify.execution.status_updates import read_receipt_statuses
from adsunify.http.messages import Request
from adsunify.networks.registry import get_adapter
from adsunify.plans.records import Step, StepAction
from adsunify.values.exact_json import Json

OUTBRAIN = get_adapter("outbrain").network


@pytest.mark.parametrize(
    ("action", "sent", "response", "status"),
    [
        ("update", {"enabled": True}, {"id": "7"}, "active"),
        ("update", {"cpc": 1}, {"id": "7", "enabled": False}, "paused"),
        ("update", {"cpc": 1}, {"id": "7", "enabled": True, "archived": True}, "archived"),
        ("delete", {"archived": True}, {"id": "7", "enabled": True}, "archived"),
        ("update", {"cpc": 1}, {"id": "7"}, None),
    ],
)
def test_two_flags_are_one_status(
    action: StepAction, sent: Mapping[str, Json], response: Mapping[str, Json], status: str | None
) -> None:
    request = Request("PUT", "https://api.outbrain.com/campaigns/7", body=dict(sent), encoding="json", kind="write")
    step = Step("campaign", "campaign", "Change it.", request, action, "7")
    receipt = Receipt(0, "campaign", 1, "applied", response=dict(response))
    statuses = [observation.status for observation in read_receipt_statuses(OUTBRAIN, step, receipt)]
    assert statuses == ([] if status is None else [status])
