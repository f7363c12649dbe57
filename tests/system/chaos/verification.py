"""What the networks have applied and what the receiver got, against what the database says."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence, Set
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
DOUBTFUL_STATES = ("in_flight", "ambiguous")
DELIVERIES = "SELECT webhook_id, event_id, status, attempts FROM deliveries"
EVENTS = "SELECT id, type FROM events WHERE created_at >= $1"
UNANNOUNCED = """
SELECT id, status FROM (
  SELECT operations.id, operations.status,
         count(*) FILTER (WHERE events.type = 'operation.prepared') AS prepared,
         count(*) FILTER (WHERE events.type = 'operation.succeeded') AS succeeded
    FROM operations LEFT JOIN events ON events.operation_id = operations.id
   GROUP BY operations.id, operations.status
) AS announced
WHERE prepared <> 1 OR succeeded <> CASE status WHEN 'succeeded' THEN 1 ELSE 0 END
"""
POLL_SECONDS = 2.0


async def read(url: str, statement: str, *values: Any) -> list[Mapping[str, Any]]:
    """The rows of a statement."""
    connection = await asyncpg.connect(url)
    try:
        return list(await connection.fetch(statement, *values))
    finally:
        await connection.close()


async def verify_writes(url: str, state: Sandbox) -> tuple[dict[str, Any], list[str]]:
    """Hold the writes of the simulated networks against the rows of a database."""
    writes = [
        (request.network, request.method, request.host, request.path, request.raw_query, request.body)
        for request in state.write_requests.values()
    ]
    return compare_writes(writes, await read(url, STEPS))


def compare_writes(
    writes: Sequence[tuple[Any, ...]], rows: Sequence[Mapping[str, Any]]
) -> tuple[dict[str, Any], list[str]]:
    """Each native write was done once, and has a receipt, a verdict of an inspection, or an intent that is in doubt.

    Args:
        writes: the requests that the networks have applied, the network first. No two steps have the same request,
            because names are unique and later steps name the entities of earlier ones.
        rows: those of :data:`STEPS`.

    Returns:
        Counts, and what is wrong.
    """
    doubles = [f"written {count} times: {write}" for write, count in Counter(writes).items() if count > 1]
    applied, doubtful = Counter[str](), Counter[str]()
    failures = doubles.copy()
    for row in rows:
        if row["state"] == "applied" or row["verdict"] == "applied":
            applied[row["network"]] += 1
        elif row["state"] in DOUBTFUL_STATES and row["verdict"] != "not_applied":
            doubtful[row["network"]] += 1
        if row["state"] == "applied" and not row["has_receipt"]:
            failures.append(f"{row['operation_id']} {row['key']} is applied without a receipt")
    counts = Counter(write[0] for write in writes)
    for network in sorted(counts.keys() | applied.keys()):
        count, recorded, doubted = counts[network], applied[network], doubtful[network]
        if not recorded <= count <= recorded + doubted:
            failures.append(f"{network} has applied {count} writes; {recorded} are on record, {doubted} in doubt")
    summary = {
        "native writes": len(writes),
        "on record": applied.total(),
        "by inspection": sum(row["verdict"] == "applied" and row["state"] != "applied" for row in rows),
        "in doubt": doubtful.total(),
        "steps": dict(Counter(row["state"] for row in rows)),
        "doubles": len(doubles),
    }
    return summary, failures


async def verify_receipts(callers: Callers) -> list[str]:
    """Every receipt that an answer has shown is still there, and every operation that an answer has named."""
    failures = []
    outputs_by_step: dict[tuple[str, str], Any] = {}
    for operation_id in sorted(callers.prepared):
        try:
            operation = await callers.call("GET", f"operations/{operation_id}")
        except Refused as refused:
            failures.append(f"{operation_id} is lost: {refused}")
            continue
        for step in operation["receipt"]["steps"]:
            if step["state"] == "applied":
                outputs_by_step[operation_id, step["key"]] = step["outputs"]
    for place, outputs in callers.shown_outputs.items():
        if outputs_by_step.get(place) != outputs:
            failures.append(f"the receipt of {place} was {outputs} and is {outputs_by_step.get(place)}")
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
    known = {(str(row["webhook_id"]), str(row["event_id"])): str(row["status"]) for row in rows}
    failures = compare_deliveries(events, hooks, known, receiver.accepted)
    for row in await read(url, UNANNOUNCED):
        failures.append(f"{row['id']} is {row['status']} and was announced otherwise than once")
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


def compare_deliveries(
    events: Sequence[str],
    hooks: Mapping[str, str],
    known: Mapping[tuple[str, str], str],
    accepted: Set[tuple[str, str]],
) -> list[str]:
    """Name the deliveries that are lost. ``known``: the statuses, by webhook and event; ``accepted``: by path."""
    failures = []
    for event in events:
        for hook, path in hooks.items():
            status = known.get((hook, event))
            if status is None:
                failures.append(f"event {event} has no delivery to {path}")
            elif status == "failed":
                failures.append(f"the delivery of event {event} to {path} has failed")
            elif status == "succeeded" and (path, event) not in accepted:
                failures.append(f"the delivery of event {event} to {path} never arrived")
    return failures


def print_summary(summary: Mapping[str, Any]) -> None:
    """Print a summary, one member a line."""
    for name, value in summary.items():
        print(f"{name}: {json.dumps(value)}", flush=True)
