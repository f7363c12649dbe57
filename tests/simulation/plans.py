"""A network that exists only here, and plans for it: every kind of step an adapter can make."""

from __future__ import annotations

from random import Random

from adsunify.adapter.network import ErrorRule, Found, ItemAnswer, Login, Network, Unit
from adsunify.http.messages import Request, Response
from adsunify.plans.records import Binding, Items, Output, Overlay, Plan, Promise, Step, planned
from adsunify.values.json_pointer import identifier, read, text

HOST = "simulated.example"
ID_BASE = 7_000_000


def _error(response: Response) -> Found | None:
    code = text(response.body, "/error/code")
    return None if code is None else Found((code,), text(response.body, "/error/message"))


def _items(step: Step, request: Request, response: Response) -> list[ItemAnswer] | None:
    results = read(response.body, "/results")
    if not isinstance(results, list):
        return None
    return [
        ItemAnswer(row["position"], identifier(row.get("id")), Found((row["code"],)) if "code" in row else None)
        for row in results
    ]


NETWORK = Network(
    code="simulated",
    title="Simulated",
    version="1",
    hosts=(HOST,),
    login=Login("credentials"),
    unit=lambda account: Unit(100),
    error=_error,
    items=_items,
    levels=(),
    formats=(),
    settings=(),
    catalogs=(),
    metrics=(),
    missing_day="zero",
    errors=(
        ErrorRule("rejected", "input", "refused", ("bad",)),
        ErrorRule("rejected", "limit", "refused", ("full",)),
        ErrorRule("throttled", "limit", "later", ("slow",)),
        ErrorRule("ambiguous", "network", "nobody knows", ("fog",)),
    ),
)


def _write(key: str, method: str = "POST", **more: object) -> Request:
    path = {"key": key} if "{parent}" not in str(more.get("url")) else {}
    return Request(
        method=method,
        url=str(more.get("url", f"https://{HOST}/write/{{key}}")),
        path=path,
        body=more.get("body", {"step": key}),
        encoding="json",
        nature="write",
    )


def plan(random: Random) -> Plan:
    """One to four steps: single creates, batches, overlaid updates, deletes; bound to any earlier create."""
    steps: list[Step] = []
    creates: list[str] = []
    for n in range(random.choice((1, 1, 2, 2, 3, 4))):
        key = f"s{n}"
        kind = random.choice(("create", "create", "items", "items", "overlay", "delete"))
        bindings: tuple[Binding, ...] = ()
        if creates and kind in ("create", "items") and random.random() < 0.8:
            where = random.choice(("/body/parent", "/query/parent"))
            cast = "integer" if where == "/body/parent" and random.random() < 0.3 else "text"
            prefix = "" if cast == "integer" else random.choice(("", "urn:x:"))
            bindings = (Binding(where, random.choice(creates), "id", prefix, cast),)  # type: ignore[arg-type] # chosen
        if kind == "create":
            promises = (Promise("/body/ok", True),) if random.random() < 0.5 else ()
            outputs = (Output("id", ("/body/id",)),)
            steps.append(Step(key, "campaign", key, _write(key), "create", None, None, bindings, outputs, promises))
            creates.append(key)
        elif kind == "items":
            many = random.random() < 0.8
            sent = [{"item": index} for index in range(random.randint(1, 4) if many else 1)]
            body = {"step": key, "rows": sent}
            items = Items("/body/rows", "id", many=many)
            steps.append(Step(key, "ad", key, _write(key, body=body), "create", bindings=bindings, items=items))
            if not many:
                creates.append(key)
        elif kind == "overlay":
            reading = Request("GET", f"https://{HOST}/read/{key}")
            overlay = Overlay(reading, "/thing", "/body/thing", ("etag",), {"/name": "new"}, ("/old",))
            steps.append(Step(key, "ad", key, _write(key, "PUT"), "update", "77", overlay=overlay, empty_ok=True))
        else:
            steps.append(Step(key, "ad", key, _write(key, "DELETE"), "delete", "78", empty_ok=True))
    return planned("simulated", "create", "account", steps)
