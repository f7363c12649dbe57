"""Help a person to clear up operations whose outcome is unknown, or that stopped in the middle of a write.

Nobody knows whether the last write of such an operation was done, so adsunify never sends it again, and neither does
this script: it only reads. For each doubtful step it compares the plan with the account, as the network shows it now.

Needs: a connected account. It looks at the latest 50 operations, or at those that are named.
Prints: for each operation the steps that were applied, what the account shows for the doubtful one, and what to do.
The exit code is 1 if there is such an operation. What is not in the account yet may still appear: wait some minutes and
run the script again before you prepare anything anew.
"""

import argparse
import json
import re
from collections.abc import Iterator, Sequence
from datetime import datetime

from adsunify import Ads, Operation
from adsunify.answers import Node, PlanStep

MATCH = "Is this new since {at}? Then the write was done: prepare only what is missing. If not, or in doubt: {look}"
LOOK = "look at the account on the network's own pages before you prepare anything. Never repeat the operation."


def is_doubtful(operation: Operation) -> bool:
    """Tell whether the outcome of a write of the operation is unknown."""
    return operation.status == "unknown" or operation.stalled


def describe_step(step: PlanStep, at: datetime | None, nodes: Sequence[Node]) -> Iterator[str]:
    """Describe what the account shows for a doubtful step, which began at ``at``, and what to do."""
    request = json.dumps([step.path, step.body], default=str)
    if step.action == "create":
        matches = [node for node in nodes if node.name is not None and json.dumps(node.name) in request]
    else:
        matches = [node for node in nodes if re.search(rf"\b{re.escape(node.id)}\b", request)]
    for node in matches:
        yield f"The account shows {node.kind} {node.id}: {node.name}, {node.status or node.native_status}."
    for change in step.changes:
        yield f"Planned: {change.field} {change.before} -> {change.after}."
    if step.action == "create" and matches:
        yield MATCH.format(at=at, look=LOOK)
    elif step.action == "create":
        yield f"The account shows nothing new with a name of this step: {LOOK}"
    else:
        yield f"If it shows what was planned, the write was done. In doubt: {LOOK}"


def main(client: Ads, operation_ids: Sequence[str]) -> int:
    """Describe the doubtful operations. Returns how many there are."""
    names = list(operation_ids) or [row.id for row in client.operations.list() if is_doubtful(row)]
    operations = [operation for operation in map(client.operations.get, names) if is_doubtful(operation)]
    for operation in operations:
        receipts = {receipt.key: receipt for receipt in operation.receipt.steps}  # the last attempt of each step
        tree = client.accounts.tree(operation.account_id)
        created = {entity.entity_id for entity in operation.created}
        nodes = [node for node in tree.nodes if node.id not in created]
        print(f"{operation.network} {operation.action} {operation.id}: {operation.review_url}")
        for step in operation.plan.steps:
            receipt = receipts.get(step.key)
            print(f"  {'planned' if receipt is None else receipt.state}: {step.does}")
            if receipt is not None and receipt.state in ("ambiguous", "in_flight"):
                print("    " + "\n    ".join(describe_step(step, receipt.intent_at, nodes)))
        if tree.truncated:
            print("  The account has more entities than the tree shows.")
    return len(operations)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("operation", nargs="*", help="the ids of operations; without any, the latest are looked at")
    given = parser.parse_args()
    with Ads.from_environment() as ads:
        raise SystemExit(main(ads, given.operation) > 0)
