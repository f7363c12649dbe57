"""Hostile calls, by a seeded generator: prepares and executes that try to raise spending beyond a rule.

A round begins with the same two campaigns, one paused and one active, and one rule. Its calls are prepared, and
executed at once, later or never, by an API key. A bypass is an operation after which the simulated network holds more
than the rule allows, whatever the API answered (``holdings.py``).
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

from attrs import define, field

from tests.server.served import brief

from .acting import PATHS, Stage, set_clock
from .holdings import MICROS, Holdings, read_holdings
from .hostile_values import (
    CLOCK,
    END,
    ENDS,
    FACTORS,
    LITERALS,
    MONEY_FIELDS,
    RAW,
    SPELLINGS,
    HostileValues,
    get_hostile_values,
    list_native_statuses,
)
from .sending import Send, send_over_http, send_to_service
from .watching import Call, Rule, Watch


@define
class Tally:
    """What came of the calls: how many by outcome, and the bypasses in words."""

    counts: Counter[str] = field(factory=Counter)
    bypasses: list[str] = field(factory=list)
    understated: list[str] = field(factory=list)
    """Operations after which the network holds more than their plans show."""


@define
class Attack:
    """The rounds against one network. One key prepares; it or another executes."""

    stage: Stage
    random: random.Random
    key_id: str
    prepare: Send
    executors: Sequence[Send]
    tally: Tally = field(factory=Tally)
    native_account: str = ""
    _stored: dict[Any, Any] = field(factory=dict)

    @classmethod
    async def begin(cls, stage: Stage, seed: str, *, over_http: bool) -> Attack:
        """Make two keys, and the two campaigns of each round."""
        server = stage.server
        keys = [await server.key("admin") for _ in range(2)]
        sends = [
            send_over_http(server, token) if over_http else await send_to_service(server, token) for _, token in keys
        ]
        attack = cls(stage, random.Random(seed), keys[0][0], sends[0], sends)
        await attack._make_campaigns()
        return attack

    async def _make_campaigns(self) -> None:
        set_clock(self.stage.server, CLOCK)
        brief = {
            "budget": {"amount": self._values.amount, "currency": "USD", "period": self._values.period},
            "schedule": {"startAt": self._values.start, "endAt": END},
        }
        for name in ("paused", "active"):
            await self.stage.perform({"create": brief, "as": name})
        await self.stage.perform({"activate": "active"})
        account = await self.stage.server.admin.get(f"/accounts/{self.stage.account}")
        self.native_account = account["nativeId"]
        self._stored = dict(self._world._stored_entities)

    @property
    def _world(self) -> Any:
        return self.stage.server.networks.state.worlds[self.stage.network]

    @property
    def _values(self) -> HostileValues:
        return get_hostile_values(self.stage.network)

    def read(self) -> Holdings:
        """Read what the account holds."""
        return read_holdings(self.stage.network, self._world, self.native_account)

    async def run_round(self, rule: Rule | None, limits: Rule, calls: int) -> None:
        """Send calls under a rule (None: under none), and compare with the limits what the network holds."""
        self._world._stored_entities.clear()
        self._world._stored_entities.update(self._stored)
        rule_id = None if rule is None else (await self.stage.server.admin.post("/guardrails", rule.body, 201))["id"]
        watch = Watch(limits, self.read())
        pending: list[Call] = []
        for number in range(calls):
            method, path, body = self.make_call()
            status, answer = await self.prepare(method, path, body)
            self.tally.counts["calls"] += 1
            self.tally.counts[f"prepare {status}"] += 1
            words = f"{method} {path} {body.decode()}"
            if status == 201:
                prepared = answer["data"]
                operations = prepared.get("operations", [prepared])
                pending += [Call(number, operation, words, watch.before) for operation in operations]
            while pending and self.random.random() < 0.6:
                await self.execute(pending.pop(self.random.randrange(len(pending))), watch)
        if rule_id is not None:
            await self.stage.server.admin.delete(f"/guardrails/{rule_id}")

    async def execute(self, call: Call, watch: Watch) -> None:
        """Execute an operation, and compare."""
        body = b'{"confirmed":true%s}' % (b',"allowStale":true' if self.random.random() < 0.2 else b"")
        send = self.random.choice(self.executors)
        status, _ = await send("POST", f"/operations/{call.operation['id']}/execute", body)
        is_fresh = call.holdings is watch.before
        self.tally.counts[f"execute {status}"] += 1
        faults = watch.compare(self.read(), call)
        self.tally.counts["raises"] += watch.has_raised
        self.tally.bypasses += [f"{self.stage.network}: {fault}: {call.words}"[:600] for fault in faults]
        if is_fresh:
            understated = watch.list_understated(call.operation["plan"])
            self.tally.understated += [f"{self.stage.network}: {fault}: {call.words}"[:600] for fault in understated]

    # -- calls ----------------------------------------------------------------------------------------------------

    def make_call(self) -> tuple[str, str, bytes]:
        """Return method, path and body of one hostile prepare."""
        make = self.random.choices(*zip(*FAMILIES, strict=True))[0]
        method, path, body, literal = make(self)
        return method, path, json.dumps(body).replace(json.dumps(RAW), literal).encode() if body is not None else b""

    def pick_entity(self) -> tuple[str, str]:
        """Return the kind and the id of an entity of a campaign, mostly of one that may hold a budget."""
        ids = self.stage.entities[self.random.choice(("paused", "active"))]
        kind = self.random.choices(list(ids), [6, 3, 1][: len(ids)])[0]
        if self.random.random() < 0.5:
            kind = self._values.kind
        return kind, ids[kind]

    def build_entity_path(self, kind: str, entity_id: str) -> str:
        """Return the path of an entity."""
        return f"/accounts/{self.stage.account}/{PATHS[kind]}/{entity_id}"

    def pick_amount(self, unit: int = 1) -> str:
        """Return a JSON literal: an amount near a limit in ``unit`` of a major unit, or what may pass for one."""
        amount = Decimal(self._values.amount) * self.random.choice(FACTORS) * unit
        plain = format(amount.quantize(Decimal(1)) if unit > 1 else amount.normalize(), "f")
        chosen = self.random.random()
        if chosen < 0.35:
            return plain
        if chosen < 0.6:
            return json.dumps(plain)
        return self.random.choice(LITERALS)

    def make_edit(self) -> Made:
        """An edit of one or two money fields."""
        kind, entity_id = self.pick_entity()
        fields = {self.random.choice(MONEY_FIELDS): RAW}
        if self.random.random() < 0.2:
            fields[self.random.choice(MONEY_FIELDS)] = self.random.choice(("25", "1000000", "0.01"))
        if self.random.random() < 0.15:
            fields["endAt"] = self.random.choice(ENDS)
        if self.random.random() < 0.1:
            fields |= self.random.choice(({"status": "ACTIVE"}, {"status": "ENABLED"}, {"entity_status": "ACTIVE"}))
        return "POST", f"{self.build_entity_path(kind, entity_id)}/edit", {"fields": fields}, self.pick_amount()

    def make_end(self) -> Made:
        """An edit of the end."""
        kind, entity_id = self.pick_entity()
        return (
            "POST",
            f"{self.build_entity_path(kind, entity_id)}/edit",
            {"fields": {"endAt": RAW}},
            json.dumps(self.random.choice(ENDS)),
        )

    def make_bulk(self) -> Made:
        """A bulk edit of one or both campaigns; percentages are split into several."""
        kind = self._values.kind
        names = self.random.choice((["paused"], ["active"], ["paused", "active"], ["active", "active"]))
        body = {
            "accountId": self.stage.account,
            "kind": kind,
            "entityIds": [self.stage.entities[name][kind] for name in names],
            "field": self.random.choice(("budget", "budget", "budget", *MONEY_FIELDS)),
            "mode": self.random.choice(("set", "increase", "increase", "decrease")),
            "value": RAW,
        }
        literal = self.random.choice(("50", "50", "10", "24.9", "100", "1e3", "0.1", "99999999"))
        return "POST", "/bulk-edit", body, literal if self.random.random() < 0.6 else self.pick_amount()

    def make_status(self) -> Made:
        """A status of an entity."""
        kind, entity_id = self.pick_entity()
        status = self.random.choices(("active", "paused"), (5, 1))[0]
        body = {"accountId": self.stage.account, "kind": kind, "entityIds": [entity_id], "status": status}
        return "POST", "/bulk-status", body, ""

    def make_activation(self) -> Made:
        """An activation of what a create has made."""
        name = self.random.choice(("paused", "active"))
        body = {"accountId": self.stage.account, "sourceOperationId": self.stage.operations[name]}
        return "POST", "/activate", body, ""

    def make_brief(self) -> Made:
        """A create from a brief."""
        campaign = brief(self.stage.network)
        campaign["budget"] = {"amount": RAW, "currency": "USD", "period": campaign["budget"]["period"]}
        if self.random.random() < 0.2:
            campaign["budget"]["period"] = self.random.choice(("daily", "lifetime", "DAILY", "monthly", None))
        if self.random.random() < 0.3:
            campaign["schedule"].pop("endAt", None)
        return "POST", "/create", {"accountId": self.stage.account, "campaign": campaign}, self.pick_amount()

    def make_native(self) -> Made:
        """A native create or update with an amount, a status or an end, perhaps in another spelling or shape."""
        kind, entity_id = self.pick_entity()
        if self.random.random() < 0.6:
            kind, entity_id = (
                self._values.kind,
                self.stage.entities[self.random.choice(("paused", "active"))][self._values.kind],
            )
        payload: dict[str, Any] = {}
        member, unit = self.random.choice(self._values.budgets)
        chosen = self.random.random()
        if chosen < 0.8:
            self._put_amount(payload, member)
        if chosen > 0.7:
            payload |= self.random.choice(list_native_statuses(self.stage.network))
        if chosen > 0.6:
            payload |= self.random.choice(self._values.ends)
        if self.random.random() < 0.1:
            payload = self.random.choice(({"data": payload}, {"update": payload}, {"payload": payload}, {"0": payload}))
        literal = self.pick_amount(unit if self.random.random() < 0.8 else self.random.choice((1, 100, MICROS)))
        if self.random.random() < 0.5:
            return "PATCH", self.build_entity_path(kind, entity_id), {"payload": payload}, literal
        body: dict[str, Any] = {"payload": self.stage.fill_template(kind, payload)}
        if kind != "campaign":
            ids = self.stage.entities["active"]
            body["parentId"] = ids.get("adGroup", ids["campaign"]) if kind == "ad" else ids["campaign"]
            for parent in ("campaign_id", "campaignGroup", "campaignId"):
                body["payload"].pop(parent, None)
        return "POST", f"/accounts/{self.stage.account}/{PATHS[kind]}", body, literal

    def _put_amount(self, payload: dict[str, Any], path: str) -> None:
        *parents, last = path.split(".")
        for name in parents:
            payload = payload.setdefault(name, {})
        payload[self.random.choice(SPELLINGS)(last) if self.random.random() < 0.15 else last] = RAW
        if parents:
            payload |= self._values.fixed_members


Made = tuple[str, str, Any, str]
"""Method, path, body, and the JSON literal that replaces :data:`RAW` in it."""
FAMILIES: Sequence[tuple[Callable[[Attack], Made], int]] = (
    (Attack.make_edit, 6),
    (Attack.make_end, 2),
    (Attack.make_bulk, 4),
    (Attack.make_status, 3),
    (Attack.make_activation, 2),
    (Attack.make_brief, 1),
    (Attack.make_native, 6),
)
