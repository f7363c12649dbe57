"""Turns a brief into a plan: checks it against the network's tables, then runs the adapter's flow. Does no I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from .adapter.account import Account as NativeAccount
from .adapter.brief_checks import check_brief
from .adapter.flows import replay_flow
from .guardrails.exposure import compute_brief_exposure
from .guardrails.plans import attach_exposure
from .http.messages import Flow
from .models.brief import CampaignBrief
from .networks.registry import get_adapter
from .plans.records import Plan, add_operation_marks

__all__ = ["NativeAccount", "plan", "plan_create"]


def plan_create(account: NativeAccount, brief: CampaignBrief, now: datetime | None = None) -> Flow[Plan]:
    """Return a flow that plans the campaign of a brief. Every entity of the plan is created paused.

    Raises:
        InvalidInput: the network cannot carry out the brief. The error holds all issues; no request was yielded yet.
    """
    adapter = get_adapter(account.network)
    check_brief(adapter.network, account, brief, now)
    plan = yield from adapter.plans.plan_create(account, brief, now)
    return attach_exposure(plan, compute_brief_exposure(account, brief, now))


def plan(
    brief: CampaignBrief,
    account: NativeAccount,
    *,
    lookups: Sequence[Mapping[str, Any]] = (),
    now: datetime | None = None,
    operation: str = "",
) -> Plan:
    """Return the native plan of a brief.

    Args:
        brief: the campaign.
        account: the ad account in which the plan creates it.
        lookups: recorded answers, ``[{"request": {"method", "url"}, "response": {"status", "body"}}]``. Some networks
            need a read before they can be planned.
        now: the present; times of the brief are checked against it. None skips these checks.
        operation: an id of the caller's choice. It distinguishes this plan from an equal one on networks that execute
            equal requests only once.

    Raises:
        InvalidInput: the network cannot carry out the brief; the error holds all issues.
        LookupNeeded: the plan needs a read whose answer is not in ``lookups``.
    """
    return add_operation_marks(replay_flow(plan_create(account, brief, now), lookups), operation)
