"""Recover operations whose outcome is unknown, or whose process ended in the middle of a write.

Nobody knows whether the network did the last write of these operations, so adsunify never sends it again. An inspection
looks for the write at the network. Once every step is decided, the rest is prepared as a new operation, which has the
same steps and sends only those that are not written.

Needs: a connected account, and a write-enabled credential. It recovers all of these operations, or the named ones.
Prints: what the inspection found, and what is left to be written. Without ``--execute`` nothing is written.
The exit code is 1 while something is left to be done. That an entity was not created is decided by two inspections, the
second about 15 minutes after the write, so run the script again. ``adsunify undo`` takes an operation back instead.
"""

import argparse
from collections.abc import Iterator, Sequence

from adsunify import Ads, AdsunifyError, InvalidInput, Operation

SETTLE = "Or look at the account and decide it, at {url} or with adsunify settle {id} {step} applied (or not_applied)."


def list_doubtful(client: Ads) -> Iterator[Operation]:
    """List the operations with an unknown outcome, and those whose process ended during a write."""
    yield from client.operations.list(status="unknown")
    yield from (operation for operation in client.operations.list(status="running") if operation.stalled)


def find_last(client: Ads, operation_id: str) -> Operation:
    """Follow ``resumed_by`` to the last operation, because a resumed operation keeps its status."""
    operation = client.operations.get(operation_id)
    while operation.resumed_by is not None:
        operation = client.operations.get(operation.resumed_by)
    return operation


def prepare_rest(client: Ads, operation: Operation) -> Operation | None:
    """Inspect an operation and prepare its rest; None where it is not known yet whether a step was done."""
    inspection = client.operations.inspect(operation)
    for step in inspection.steps:
        print(f"  {step.verdict or step.state}: {step.description} {step.reason or ''}".rstrip())
    if inspection.is_decided:
        return client.operations.resume(operation)
    print(f"  {inspection.advice}")
    for step in inspection.steps:
        if step.verdict == "undecided":
            print(f"  {SETTLE.format(url=operation.review_url, id=operation.id, step=step.key)}")
    return None


def recover(client: Ads, operation: Operation, *, execute: bool) -> bool:
    """Prepare the rest of an operation, and write it if ``execute`` is True. Returns whether nothing is left."""
    is_rest = operation.resumes is not None and operation.status == "prepared" and not operation.expired
    try:
        rest = operation if is_rest else prepare_rest(client, operation)
        if rest is None:
            return False
        written_keys = {key for key, carried in rest.plan.carried.items() if carried.outputs is not None}
        print(f"  The rest is {rest.id}: {rest.review_url}")
        print(*(f"  to be written: {step.does}" for step in rest.plan.steps if step.key not in written_keys), sep="\n")
        if execute:
            rest = client.operations.run(rest, confirmed=True)
            print(f"  {rest.status}")
        return rest.status == "succeeded"
    except AdsunifyError as error:
        print(f"  {error}")
        return isinstance(error, InvalidInput) and error.code == "nothing_to_resume"


def main(client: Ads, operation_ids: Sequence[str], *, execute: bool = False) -> int:
    """Recover operations. Returns the number of those that are not written completely."""
    ids = operation_ids or [operation.id for operation in list_doubtful(client)]
    operations = {last.id: last for last in (find_last(client, id_) for id_ in ids)}
    failures = 0
    for operation in operations.values():
        if operation.status != "succeeded":
            print(f"{operation.network} {operation.action} {operation.id}: {operation.status}")
            failures += not recover(client, operation, execute=execute)
    return failures


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("operation", nargs="*", help="the ids of operations; all doubtful ones by default")
    parser.add_argument("--execute", action="store_true", help="write the rest")
    options = parser.parse_args()
    with Ads.from_environment() as ads:
        raise SystemExit(main(ads, options.operation, execute=options.execute) > 0)
