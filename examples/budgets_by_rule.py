"""Lower the budgets of accounts whose clicks cost too much.

The rule reads seven days of each account in one currency. Where a click costs more than the target, it lowers the
budget of each active campaign and ad group by a percentage, which is computed exactly and rounded to the network's unit
toward the lower spend.

Needs: connected accounts; a write-enabled credential.
Prints: the cost of a click in each account, and each budget before and after. Without ``--execute`` nothing is written.
With it, a second run on the same day finds the operations of the first one: no budget is lowered twice.
"""

import argparse
from collections.abc import Iterator
from datetime import date, timedelta
from decimal import Decimal

from adsunify import Account, Ads, Conflict, Operation, OperationError, ProviderError
from adsunify.answers import Node

BULK_LIMIT = 50
"""How many entities one bulk edit takes."""


def get_cost_per_click(client: Ads, account: Account, until: date) -> Decimal | None:
    """Return what a click cost in the seven days until ``until``; None without clicks or figures."""
    totals = client.insights.daily(account, until - timedelta(days=6), until).totals
    return None if not totals.clicks or totals.spend is None else round(totals.spend / totals.clicks, 4)


def has_budget(client: Ads, account: Account, node: Node) -> bool:
    """Tell whether an entity has a budget that can be edited. Networks keep it at different levels."""
    resource = client.campaigns if node.kind == "campaign" else client.ad_groups
    fields = resource.settings(account, node).fields
    return any(field.field == "budget" and field.value is not None and field.locked is None for field in fields)


def prepare_lower_budgets(client: Ads, account: Account, percent: int, key: str | None) -> Iterator[Operation]:
    """Prepare the edits of an account. Raises Conflict where ``key`` was used for other entities before."""
    active = [node for node in client.accounts.tree(account).nodes if node.status == "active"]
    for kind in ("campaign", "adGroup"):
        nodes = [node for node in active if node.kind == kind and has_budget(client, account, node)]
        for start in range(0, len(nodes), BULK_LIMIT):
            yield from client.bulk.edit(
                account,
                kind=kind,
                entities=nodes[start : start + BULK_LIMIT],
                field="budget",
                mode="decrease",
                value=percent,
                idempotency_key=key and f"{key} {kind} {start}",
            ).operations


def main(client: Ads, target: Decimal, currency: str, percent: int, until: date, *, execute: bool = False) -> int:
    """Apply the rule to all active accounts in ``currency``. Returns the number of failures."""
    failures = 0
    for account in client.accounts.list():
        if account.currency != currency or account.status != "active":
            continue
        key = f"cost per click {until} {account.account_id}" if execute else None
        try:
            cost = get_cost_per_click(client, account, until)
            print(f"{account.network} {account.native_id}: cost of a click {cost or 'unknown'}, target {target}")
            operations = list(prepare_lower_budgets(client, account, percent, key)) if (cost or 0) > target else []
        except (Conflict, ProviderError) as error:
            failures, operations = failures + 1, []
            print(f"{account.network} {account.native_id}: {error} Nothing is written.")
        for operation in operations:
            for change in (change for step in operation.plan.steps for change in step.changes):
                print(f"  {operation.id}: {change.field} {change.before} -> {change.after}")
            try:
                if execute:
                    print(f"  {client.operations.run(operation, confirmed=True).status}")
            except OperationError as error:
                failures += 1
                print(f"  {error} Outcome: {error.outcome}. {operation.review_url}")
    return failures


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", type=Decimal, help="the highest cost of a click, such as 0.45")
    parser.add_argument("--currency", default="USD", help="only accounts in this currency")
    parser.add_argument("--percent", type=int, default=20, help="by how much budgets are lowered")
    parser.add_argument("--until", type=date.fromisoformat, default=date.today() - timedelta(days=1))
    parser.add_argument("--execute", action="store_true", help="write the new budgets")
    options = parser.parse_args()
    with Ads.from_environment() as ads:
        failures = main(ads, options.target, options.currency, options.percent, options.until, execute=options.execute)
    raise SystemExit(failures > 0)
