"""From a brief to a plan: the check against the tables, then the adapter's flow. Pure: no store, no network access."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from .adapter.brief_checks import check_brief
from .adapter.flows import replay_flow
from .adapter.network import Account
from .http.messages import Flow
from .models.brief import CampaignBrief
from .networks import get_adapter
from .plans.records import Plan, add_operation_marks


def plan_create(account: Account, brief: CampaignBrief, now: datetime | None = None) -> Flow[Plan]:
    """A flow to the plan that creates what the brief says, everything paused.

    Raises InvalidInput with all issues before anything is read.
    """
    adapter = get_adapter(account.network)
    check_brief(adapter.network, account, brief, now)
    return (yield from adapter.plans.plan_create(account, brief, now))


def plan(
    brief: CampaignBrief,
    account: Account,
    *,
    lookups: Sequence[Mapping[str, Any]] = (),
    now: datetime | None = None,
    operation: str = "",
) -> Plan:
    """The exact native plan of a brief.

    ``lookups``: recorded answers, ``[{"request": {"method", "url"}, "response": {"status", "body"}}]``, for networks
    that need a read first. ``now`` None: nothing is held against the present. ``operation``: an id of one's own that
    tells this plan from an equal one, for networks that refuse to do the same twice. Raises InvalidInput with all
    issues, and LookupNeeded where a needed answer is not among ``lookups``.
    """
    return add_operation_marks(replay_flow(plan_create(account, brief, now), lookups), operation)
