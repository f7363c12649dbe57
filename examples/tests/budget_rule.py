"""A rule: where an account spent more than its limit yesterday, the budget of each active ad group is lowered.

``lower_budgets`` is called once a day. ``test_budget_rule.py`` tests it with the kit of adsunify.
"""

from collections.abc import Iterator
from datetime import date, timedelta
from decimal import Decimal

from adsunify import Account, Ads, OperationError
from adsunify.answers import Node


class UnknownOutcome(Exception):
    """The network may have lowered the budget of an ad group or not. The operation has to be inspected."""


def lower_budgets(client: Ads, account: Account, today: date, limit: Decimal, percent: int) -> list[str]:
    """Lower the budgets by ``percent``; returns the ids of the ad groups whose budget was lowered.

    An ad group that the network refuses is left as it is. Raises UnknownOutcome where it is not known whether a budget
    was lowered; the rule then changes nothing more.
    """
    yesterday = today - timedelta(days=1)
    spend = client.insights.daily(account, yesterday, yesterday).totals.spend
    if spend is None or spend <= limit:
        return []
    ad_groups = list(list_active_ad_groups(client, account))
    return [ad_group.id for ad_group in ad_groups if lower_budget(client, account, ad_group, percent, today)]


def list_active_ad_groups(client: Ads, account: Account) -> Iterator[Node]:
    """List the active ad groups."""
    for node in client.accounts.tree(account).nodes:
        if node.kind == "adGroup" and node.status == "active":
            yield node


def lower_budget(client: Ads, account: Account, ad_group: Node, percent: int, today: date) -> bool:
    """Lower the budget of an ad group; returns whether it was lowered.

    The idempotency key makes the rule safe to run again on the same day: it prepares the same operation, which is
    executed once.
    """
    [operation] = client.bulk.edit(
        account,
        kind="adGroup",
        entities=[ad_group],
        field="budget",
        mode="decrease",
        value=percent,
        idempotency_key=f"{today} {ad_group.id}",
    ).operations
    try:
        return client.operations.run(operation, confirmed=True).status == "succeeded"
    except OperationError as error:
        if error.outcome != "not_applied":
            raise UnknownOutcome(f"Ad group {ad_group.id}: inspect the operation at {operation.review_url}") from error
        return False
