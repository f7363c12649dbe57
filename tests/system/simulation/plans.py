"""A network that exists only here, and plans for it: every kind of step an adapter can make."""

from __future__ import annotations

from random import Random
from typing import Literal

from adsunify.adapter.native_money import MoneyUnit
from adsunify.adapter.network import ErrorRule, ItemResult, Login, Network, ParsedError
from adsunify.http.messages import Request, Response
from adsunify.plans.records import Binding, Expectation, ItemBatch, Output, Overlay, Plan, Step, make_plan
from adsunify.values.json_pointer import get_text, get_value, parse_id

HOST = "simulated.example"
ID_BASE = 7_000_000


def _error(response: Response) -> ParsedError | None:
    code = get_text(response.body, "/error/code")
    return None if code is None else ParsedError((code,), get_text(response.body, "/error/message"))


def _items(step: Step, request: Request, response: Response) -> list[ItemResult] | None:
    results = get_value(response.body, "/results")
    if not isinstance(results, list):
        return None
    return [
        ItemResult(row["position"], parse_id(row.get("id")), ParsedError((row["code"],)) if "code" in row else None)
        for row in results
    ]


NETWORK = Network(
    code="simulated",
    title="Simulated",
    version="1",
    hosts=(HOST,),
    login=Login("credentials"),
    get_money_unit=lambda account: MoneyUnit(100),
    parse_error=_error,
    parse_item_results=_items,
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
        kind="write",
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
            cast: Literal["integer", "text"] = (
                "integer" if where == "/body/parent" and random.random() < 0.3 else "text"
            )
            prefix = "" if cast == "integer" else random.choice(("", "urn:x:"))
            bindings = (Binding(where, random.choice(creates), "id", prefix, cast),)
        if kind == "create":
            promises = (Expectation("/body/ok", True),) if random.random() < 0.5 else ()
            outputs = (Output("id", ("/body/id",)),)
            steps.append(Step(key, "campaign", key, _write(key), "create", None, None, bindings, outputs, promises))
            creates.append(key)
        elif kind == "items":
            many = random.random() < 0.8
            sent = [{"item": index} for index in range(random.randint(1, 4) if many else 1)]
            body = {"step": key, "rows": sent}
            items = ItemBatch("/body/rows", "id", many=many)
            steps.append(Step(key, "ad", key, _write(key, body=body), "create", bindings=bindings, items=items))
            if not many:
                creates.append(key)
        elif kind == "overlay":
            reading = Request("GET", f"https://{HOST}/read/{key}")
            overlay = Overlay(reading, "/thing", "/body/thing", ("etag",), {"/name": "new"}, ("/old",))
            steps.append(Step(key, "ad", key, _write(key, "PUT"), "update", "77", overlay=overlay, can_be_empty=True))
        else:
            steps.append(Step(key, "ad", key, _write(key, "DELETE"), "delete", "78", can_be_empty=True))
    return make_plan("simulated", "create", "account", steps)
