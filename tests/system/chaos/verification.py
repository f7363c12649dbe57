"""What the networks have applied and what the receiver got, against what the database says."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

import asyncpg

from adsunify.sandbox.server import Sandbox

from .load import Callers, Refused
from .receiving import Receiver

STEPS = """
SELECT operations.network, steps.operation_id, steps.key, steps.state, steps.receipt IS NOT NULL AS has_receipt,
       (SELECT verdict FROM verdicts WHERE verdicts.operation_id = steps.operation_id AND verdicts.key = steps.key
         AND verdicts.attempt = steps.attempt ORDER BY verdicts.at DESC, verdicts.id DESC LIMIT 1) AS verdict
  FROM steps JOIN operations ON operations.id = steps.operation_id
"""
DELIVERIES = "SELECT webhook_id, event_id, status, attempts FROM deliveries"
EVENTS = "SELECT id, type FROM events WHERE created_at >= $1"
POLL_SECONDS = 2.0


async def read(url: str, statement: str, *values: Any) -> list[Mapping[str, Any]]:
    """The rows of a statement."""
    connection = await asyncpg.connect(url)
    try:
        return list(await connection.fetch(statement, *values))
    finally:
        await connection.close()


async def verify_writes(url: str, state: Sandbox) -> tuple[dict[str, Any], list[str]]:
    """Each native write was done once, and has a receipt, a verdict of an inspection, or an intent that is in doubt."""
    written = [
        (one.network, one.method, one.host, one.path, one.raw_query, one.body) for one in state.write_requests.values()
    ]
    doubles = [f"written {count} times: {write}" for write, count in Counter(written).items() if count > 1]
    rows = await read(url, STEPS)
    applied = Counter(row["network"] for row in rows if row["state"] == "applied" or row["verdict"] == "applied")
    doubtful = Counter(
        row["network"] for row in rows if row["state"] in ("in_flight", "ambiguous") and row["verdict"] is None
    )
    doubtful.update(row["network"] for row in rows if row["verdict"] == "undecided")
    missing = [
        f"{row['operation_id']} {row['key']}" for row in rows if row["state"] == "applied" and not row["has_receipt"]
    ]
    failures = [*doubles, *(f"applied without a receipt: {one}" for one in missing)]
    for network, count in Counter(write[0] for write in written).items():
        if not applied[network] <= count <= applied[network] + doubtful[network]:
            failures.append(
                f"{network} has applied {count} writes; {applied[network]} are on record, {doubtful[network]} in doubt"
            )
    counts = {
        "native writes": len(written),
        "on record": applied.total(),
        "by inspection": sum(row["verdict"] == "applied" and row["state"] != "applied" for row in rows),
        "in doubt": doubtful.total(),
        "steps": dict(Counter(row["state"] for row in rows)),
        "doubles": len(doubles),
    }
    return counts, failures


async def verify_receipts(callers: Callers) -> list[str]:
    """Every receipt that an answer has shown is still there, and every operation that an answer has named."""
    failures = []
    kept: dict[tuple[str, str], Any] = {}
    for operation_id in sorted(callers.prepared):
        try:
            shown = await callers.call("GET", f"operations/{operation_id}")
        except Refused as refused:
            failures.append(f"{operation_id} is lost: {refused}")
            continue
        for step in shown["receipt"]["steps"]:
            if step["state"] == "applied":
                kept[operation_id, step["key"]] = step["outputs"]
    for place, outputs in callers.shown.items():
        if kept.get(place) != outputs:
            failures.append(f"the receipt of {place} was {outputs} and is {kept.get(place)}")
    return failures


async def verify_deliveries(
    url: str, receiver: Receiver, hooks: Mapping[str, str], types: set[str], since: int, patience: float
) -> tuple[dict[str, Any], list[str]]:
    """Each event has a delivery to each webhook, and it arrived; pending ones are waited for.

    Args:
        url: the database.
        receiver: what got the deliveries.
        hooks: the path at the receiver, by the id of a webhook.
        types: the types of the events that the webhooks get.
        since: when the webhooks were complete, in milliseconds since 1970.
        patience: for how many seconds pending deliveries are waited for.
    """
    until = time.monotonic() + patience
    while True:
        rows = await read(url, DELIVERIES)
        pending = [row for row in rows if row["status"] not in ("succeeded", "failed")]
        if not pending or time.monotonic() > until:
            break
        await asyncio.sleep(POLL_SECONDS)
    events = [row["id"] for row in await read(url, EVENTS, since) if row["type"] in types]
    known = {(str(row["webhook_id"]), str(row["event_id"])): row["status"] for row in rows}
    failures = []
    for event in events:
        for hook, path in hooks.items():
            status = known.get((hook, event))
            if status is None:
                failures.append(f"event {event} has no delivery to {path}")
            elif status == "failed":
                failures.append(f"the delivery of event {event} to {path} has failed")
            elif status == "succeeded" and (path, event) not in receiver.accepted:
                failures.append(f"the delivery of event {event} to {path} never arrived")
    counts = {
        "events": len(events),
        "deliveries": len(rows),
        "statuses": dict(Counter(row["status"] for row in rows)),
        "arrivals": receiver.arrived.total(),
        "refused": receiver.refused,
        "more than one attempt": sum(row["attempts"] > 1 for row in rows),
        "still pending": len(pending),
    }
    return counts, failures


def print_summary(summary: Mapping[str, Any]) -> None:
    """Print a summary, one member a line."""
    for name, value in summary.items():
        print(f"{name}: {json.dumps(value)}", flush=True)
