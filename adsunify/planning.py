"""Turns a brief into a plan: checks it against the network's tables, then runs the adapter's flow. Does no I/O."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from .adapter.account import Account as NativeAccount
from .adapter.brief_checks import check_brief
from .adapter.flows import replay_flow
from .errors import Issue, raise_if_issues
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
        InvalidInput: the network cannot carry out the brief, or an argument has a wrong type; the error holds all
            issues.
        LookupNeeded: the plan needs a read whose answer is not in ``lookups``.
    """
    raise_if_issues(_find_wrong_types(brief, account, lookups, now, operation))
    return add_operation_marks(replay_flow(plan_create(account, brief, now), lookups), operation)


def _find_wrong_types(
    brief: object, account: object, lookups: object, now: object, operation: object
) -> Iterator[Issue]:
    """Yield an issue for each argument of :func:`plan` that is not of its type."""
    if not isinstance(brief, CampaignBrief):
        help_text = "Make one of a JSON text or object with adsunify.read_brief."
        yield Issue("campaign", "type", f"must be of the class CampaignBrief. {help_text}")
    if isinstance(account, NativeAccount):
        yield from _find_wrong_members(account)
    else:
        yield Issue(
            "account", "type", "must be of the class NativeAccount, which has the id of the account at the network."
        )
    if isinstance(lookups, Sequence) and not isinstance(lookups, str | bytes):
        for index, lookup in enumerate(lookups):
            if not _is_recorded_answer(lookup):
                form = '{"request": {"method", "url"}, "response": {"status", "body"}}'
                yield Issue(f"lookups.{index}", "type", f"must be {form}.")
    else:
        yield Issue("lookups", "type", "must be a list of recorded answers.")
    if now is not None and not (isinstance(now, datetime) and now.tzinfo is not None):
        yield Issue("now", "type", "must be a datetime with a time zone.")
    if not isinstance(operation, str):
        yield Issue("operation", "type", "must be text.")


def _find_wrong_members(account: NativeAccount) -> Iterator[Issue]:
    for name in ("network", "native_id", "currency", "timezone"):
        value: object = getattr(account, name)
        if not isinstance(value, str) and (value is not None or name in ("network", "native_id")):
            yield Issue(f"account.{name}", "type", "must be text.")
    extras: object = account.extras
    if not isinstance(extras, Mapping):
        yield Issue("account.extras", "type", "must be a mapping of native facts by name.")


def _is_recorded_answer(lookup: object) -> bool:
    if not isinstance(lookup, Mapping):
        return False
    request, response = lookup.get("request"), lookup.get("response")
    return isinstance(request, Mapping) and isinstance(request.get("url"), str) and isinstance(response, Mapping)
