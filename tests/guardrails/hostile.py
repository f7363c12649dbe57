"""Hostile calls, by a seeded generator: prepares and executes that try to raise spending beyond a rule.

A round begins with the same two campaigns, one paused and one active, and one rule. Its calls are prepared, and
executed at once, later or never, by an API key. A bypass is an operation after which the simulated network holds more
than the rule allows, whatever the API answered (``holdings.py``).
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from attrs import define, field, frozen

from adsunify.contract import ENDPOINTS, ApiRequest, Endpoint
from adsunify.contract.endpoint import PREFIX
from adsunify.errors import AdsunifyError
from adsunify.service.authentication import authenticate
from adsunify.service.dispatch import call_endpoint
from tests.server.served import Served, brief

from .acting import PATHS, Stage, set_clock
from .holdings import MICROS, NOTHING, Amounts, Holdings, count_raises, get_highest, read_holdings

CLOCK = "2027-03-01T12:00:00Z"
START, END = "2027-03-02T08:00:00Z", "2027-03-12T08:00:00Z"
STARTS = {"google": "2027-03-02T05:00:00Z", "outbrain": "2027-03-02T05:00:00Z"}
BUDGETS = {"chatgpt": "320", "outbrain": "30", "tiktok": "25"}
"""The budgets of the two campaigns: 20 a day, but for the floors of these networks; that of ChatGPT is for its life."""
Send = Callable[[str, str, bytes], Awaitable[tuple[int, Any]]]
"""Sends a method, a path below the prefix and a body; returns the status and the JSON of the answer."""
RAW = "@raw@"
"""Stands in a body for a JSON literal that no Python value is written as."""


def send_over_http(server: Served) -> Send:
    """Send with the admin's key over HTTP."""

    async def send(method: str, path: str, body: bytes) -> tuple[int, Any]:
        answer = await server.admin.send(method, path, content=body if body else None)
        return answer.status_code, answer.json()

    return send


async def send_to_service(server: Served) -> Send:
    """Send with the admin's key to the use cases, from the bytes of the body on as the server does."""
    actor = await authenticate(server.service, f"Bearer {server.people['admin'].tokens['write']}")
    rows: list[tuple[re.Pattern[str], Endpoint]] = [
        (re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", endpoint.path.removeprefix(PREFIX))), endpoint)
        for endpoint in ENDPOINTS
    ]

    async def send(method: str, path: str, body: bytes) -> tuple[int, Any]:
        slots, endpoint = next(
            (match.groupdict(), row)
            for pattern, row in rows
            if row.method == method and (match := pattern.fullmatch(path)) is not None
        )
        try:
            answer = await call_endpoint(server.service, actor, endpoint, ApiRequest(slots, {}, body))
        except AdsunifyError as problem:
            return problem.status, {"code": problem.code}
        return answer.status, json.loads(json.dumps(answer.to_envelope(), default=str))

    return send


# -- rules --------------------------------------------------------------------------------------------------------


@frozen
class Rule:
    """A rule, and what it allows: of one operation, of all together, and for one budget of its first amount."""

    body: Mapping[str, Any]
    per_operation: tuple[Decimal, Decimal] | None = None
    per_window: tuple[Decimal, Decimal] | None = None
    factor: Decimal | None = None


def make_rules(network: str, account: str) -> list[Rule]:
    """Return rules under which the campaign of a round can just be activated, once."""
    amount = Decimal(BUDGETS.get(network, "20"))
    days = 1 if network == "chatgpt" else 10
    limits = {"daily": str(amount * 5 / 4), "lifetime": str(amount * days * 5 / 4)}
    allowed = (amount * MICROS * 5 / 4, amount * days * MICROS * 5 / 4)
    common = {"name": "Hostile", "currency": "USD", "scope": {"accountIds": [account]}}
    return [
        Rule({**common, "perOperation": limits}, per_operation=allowed),
        Rule({**common, "perWindow": {"hours": 24, **limits}}, per_window=allowed),
        Rule({**common, "approvalAbove": limits}, per_operation=allowed),
        Rule({**common, "maxIncreasePercent": 50}, factor=Decimal("1.5")),
        Rule(
            {**common, "perOperation": limits, "perWindow": {"hours": 24, **limits}, "maxIncreasePercent": 50},
            allowed,
            allowed,
            Decimal("1.5"),
        ),
    ]


# -- rounds -------------------------------------------------------------------------------------------------------


@define
class Call:
    """A prepared operation: the number of the call that prepared it, perhaps with others, and what was held then."""

    number: int
    operation: Mapping[str, Any]
    words: str
    holdings: Holdings


@define
class Tally:
    """What came of the calls: how many by outcome, and the bypasses in words."""

    counts: Counter[str] = field(factory=Counter)
    bypasses: list[str] = field(factory=list)
    understated: list[str] = field(factory=list)
    """Operations after which the network holds more than their plans show."""


@define
class Attack:
    """The rounds against one network."""

    stage: Stage
    send: Send
    random: random.Random
    tally: Tally = field(factory=Tally)
    native_account: str = ""
    _stored: dict[Any, Any] = field(factory=dict)

    async def set_up(self) -> None:
        """Make the two campaigns."""
        set_clock(self.stage.server, CLOCK)
        period = "lifetime" if self.stage.network == "chatgpt" else "daily"
        amount = BUDGETS.get(self.stage.network, "20")
        brief = {
            "budget": {"amount": amount, "currency": "USD", "period": period},
            "schedule": {"startAt": STARTS.get(self.stage.network, START), "endAt": END},
        }
        for name in ("paused", "active"):
            await self.stage.perform({"create": brief, "as": name})
        await self.stage.perform({"activate": "active"})
        shown = await self.stage.server.admin.get(f"/accounts/{self.stage.account}")
        self.native_account = shown["nativeId"]
        self._stored = dict(self._world._stored_entities)

    @property
    def _world(self) -> Any:
        return self.stage.server.networks.state.worlds[self.stage.network]

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
            status, answer = await self.send(method, path, body)
            self.tally.counts["calls"] += 1
            self.tally.counts[f"prepare {status}"] += 1
            words = f"{method} {path} {body.decode()}"
            if status == 201:
                made = answer["data"]
                operations = made.get("operations", [made])
                pending += [Call(number, operation, words, watch.before) for operation in operations]
            while pending and self.random.random() < 0.6:
                await self.execute(pending.pop(self.random.randrange(len(pending))), watch)
        if rule_id is not None:
            await self.stage.server.admin.delete(f"/guardrails/{rule_id}")

    async def execute(self, call: Call, watch: Watch) -> None:
        """Execute an operation, and compare."""
        body = b'{"confirmed":true%s}' % (b',"allowStale":true' if self.random.random() < 0.2 else b"")
        status, _ = await self.send("POST", f"/operations/{call.operation['id']}/execute", body)
        is_fresh = call.holdings is watch.before
        self.tally.counts[f"execute {status}"] += 1
        found = watch.compare(self.read(), call)
        self.tally.counts["raises"] += watch.has_raised
        self.tally.bypasses += [f"{self.stage.network}: {fault}: {call.words}"[:600] for fault in found]
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
        made = self.stage.entities[self.random.choice(("paused", "active"))]
        kind = self.random.choices(list(made), [6, 3, 1][: len(made)])[0]
        if self.random.random() < 0.5:
            kind = get_budget_kind(self.stage.network)
        return kind, made[kind]

    def entity_path(self, kind: str, entity_id: str) -> str:
        """Return the path of an entity."""
        return f"/accounts/{self.stage.account}/{PATHS[kind]}/{entity_id}"

    def pick_amount(self, unit: int = 1) -> str:
        """Return a JSON literal: an amount near a limit in ``unit`` of a major unit, or what may pass for one."""
        amount = Decimal(BUDGETS.get(self.stage.network, "20")) * self.random.choice(FACTORS) * unit
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
        return "POST", f"{self.entity_path(kind, entity_id)}/edit", {"fields": fields}, self.pick_amount()

    def make_end(self) -> Made:
        """An edit of the end."""
        kind, entity_id = self.pick_entity()
        return (
            "POST",
            f"{self.entity_path(kind, entity_id)}/edit",
            {"fields": {"endAt": RAW}},
            json.dumps(self.random.choice(ENDS)),
        )

    def make_bulk(self) -> Made:
        """A bulk edit of one or both campaigns; percentages are split into several."""
        kind = get_budget_kind(self.stage.network)
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
                get_budget_kind(self.stage.network),
                self.stage.entities[self.random.choice(("paused", "active"))][get_budget_kind(self.stage.network)],
            )
        payload: dict[str, Any] = {}
        member, unit = self.random.choice(NATIVE_BUDGETS[self.stage.network])
        chosen = self.random.random()
        if chosen < 0.8:
            self._put_amount(payload, member)
        if chosen > 0.7:
            payload |= self.random.choice(NATIVE_STATUSES[self.stage.network])
        if chosen > 0.6:
            payload |= self.random.choice(NATIVE_ENDS[self.stage.network])
        if self.random.random() < 0.1:
            payload = self.random.choice(({"data": payload}, {"update": payload}, {"payload": payload}, {"0": payload}))
        literal = self.pick_amount(unit if self.random.random() < 0.8 else self.random.choice((1, 100, MICROS)))
        if self.random.random() < 0.5:
            return "PATCH", self.entity_path(kind, entity_id), {"payload": payload}, literal
        body: dict[str, Any] = {"payload": self.stage.fill_template(kind, payload)}
        if kind != "campaign":
            body["parentId"] = self.stage.entities["active"]["campaign"]
            for parent in ("campaign_id", "campaignGroup", "campaignId"):
                body["payload"].pop(parent, None)
        return "POST", f"/accounts/{self.stage.account}/{PATHS[kind]}", body, literal

    def _put_amount(self, payload: dict[str, Any], path: str) -> None:
        *parents, last = path.split(".")
        for name in parents:
            payload = payload.setdefault(name, {})
        payload[self.random.choice(SPELLINGS)(last) if self.random.random() < 0.15 else last] = RAW
        payload |= FIXED_MEMBERS.get(last, {})


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
FACTORS = tuple(
    map(Decimal, ("0.5", "1.01", "1.2", "1.25", "1.26", "1.5", "1.51", "2", "2.25", "2.26", "3", "10", "100000"))
)
LITERALS = (
    *("NaN", "Infinity", "-Infinity", '"NaN"', '"nan"', '"Infinity"', '"-inf"', "1e400", '"1e400"', "1e-400"),
    *("-5", '"-5"', "0", '"0"', '"0.0"', "-0.0", "null", '""', "true", "[]", "{}", "[1000]", '{"amount": "1000"}'),
    *('"1e3"', "1e3", "1E+4", '"1E+4"', "2.5e1", '"2.5e1"', "1000.0", "25.000", '"25.0000000001"', '"0x3e8"'),
    *(
        '" 1000"',
        '"1000 "',
        '"+1000"',
        '"1_000"',
        '"1,000"',
        '"1.000,00"',
        '"1000 USD"',
        '"$1000"',
        '"\\u0661\\u0660\\u0660\\u0660"',
    ),
    *('"\\uff11\\uff10\\uff10\\uff10"', "9" * 19, "9" * 400, f'"{"9" * 30}"', f'"{"9" * 400}"', "9223372036854775807"),
    *("9223372036854775808", '"18446744073709551616"', "-9223372036854775808", "4294967296", "1e15", "1e22"),
)
MONEY_FIELDS = ("budget", "dailyBudget", "lifetimeBudget", "spendCap", "dailyCap", "Budget", "budget ", "dailyTarget")
ENDS = (
    *("", "2099-01-01T00:00:00Z", "2099-01-01", "2027-03-13T08:00:00Z", "2027-03-13", "9999-12-31T23:59:59Z", "never"),
    *("2027-03-11T08:00:00Z", "2027-02-30T00:00:00Z", "2027-03-20T08:00:00+14:00", "-1", "0", "null"),
)


def _to_snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])([A-Z])", r"_\1", name).lower()


SPELLINGS: Sequence[Callable[[str], str]] = (
    str.upper,
    str.lower,
    str.title,
    _to_snake,
    lambda name: f"{name} ",
    lambda name: f" {name}",
    lambda name: f"{name}[]",
    lambda name: f"{name}.value",
    lambda name: name.replace("_", "-"),
    lambda name: name.replace("a", "\u0430"),
    lambda name: "".join(word.title() for word in name.split("_")),
)
FIXED_MEMBERS: Mapping[str, Mapping[str, Any]] = {"amount": {"currency": "USD", "currencyCode": "USD"}}
NATIVE_BUDGETS: Mapping[str, Sequence[tuple[str, int]]] = {
    "meta": (("daily_budget", 100), ("lifetime_budget", 100), ("spend_cap", 100), ("daily_spend_cap", 100)),
    "google": (("campaignBudget.amountMicros", MICROS), ("campaignBudget", 1), ("amountMicros", MICROS)),
    "tiktok": (("budget", 1), ("scheduled_budget", 1), ("adgroup_budget", 1)),
    "snapchat": (
        ("daily_budget_micro", MICROS),
        ("lifetime_budget_micro", MICROS),
        ("lifetime_spend_cap_micro", MICROS),
    ),
    "pinterest": (("daily_spend_cap", MICROS), ("lifetime_spend_cap", MICROS), ("budget_in_micro_currency", MICROS)),
    "linkedin": (("dailyBudget.amount", 1), ("totalBudget.amount", 1)),
    "reddit": (("goal_value", MICROS), ("spend_cap", MICROS)),
    "amazon": (("budget.budget", 1), ("budget", 1)),
    "x": (
        ("daily_budget_amount_local_micro", MICROS),
        ("total_budget_amount_local_micro", MICROS),
    ),
    "chatgpt": (("budget.lifetime_spend_limit_micros", MICROS), ("budget.daily_spend_limit_micros", MICROS)),
    "apple": (("dailyBudget.value.amount", 1), ("dailyBudget.amount", 1), ("budget.value.amount", 1)),
    "outbrain": (("budget.amount", 1), ("amount", 1), ("budgetId", 1)),
}
"""The members of native payloads that hold budgets, with how many of their units make a major one."""
NATIVE_STATUSES: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "meta": ({"status": "ACTIVE"}, {"effective_status": "ACTIVE"}, {"configured_status": "ACTIVE"}),
    "google": ({"status": "ENABLED"}, {"status": 2}),
    "tiktok": ({"operation_status": "ENABLE"},),
    "snapchat": ({"status": "ACTIVE"},),
    "pinterest": ({"status": "ACTIVE"},),
    "linkedin": ({"status": "ACTIVE"},),
    "reddit": ({"configured_status": "ACTIVE"},),
    "amazon": ({"state": "ENABLED"},),
    "x": ({"entity_status": "ACTIVE"},),
    "chatgpt": ({"status": "active"},),
    "apple": ({"status": "ENABLED"},),
    "outbrain": ({"enabled": True}, {"enabled": "true"}),
}
NATIVE_ENDS: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "meta": ({"end_time": "2099-01-01T00:00:00+0000"}, {"end_time": 0}, {"end_time": None}),
    "google": ({"endDateTime": "2036-12-30 23:59:59"}, {"endDateTime": None}, {"endDateTime": ""}),
    "tiktok": (
        {"schedule_type": "SCHEDULE_START_END", "schedule_end_time": "2037-01-01 00:00:00"},
        {"schedule_type": "SCHEDULE_FROM_NOW"},
    ),
    "snapchat": ({"end_time": "2099-01-01T00:00:00.000Z"}, {"end_time": None}),
    "pinterest": ({"end_time": -1}, {"end_time": 4070908800}, {"end_time": None}),
    "linkedin": (
        {"runSchedule": {"start": 1803974400000}},
        {"runSchedule": {"start": 1803974400000, "end": 4070908800000}},
    ),
    "reddit": ({"end_time": None}, {"end_time": "2099-01-01T00:00:00Z"}),
    "amazon": ({"endDate": None}, {"endDate": "2099-01-01"}),
    "x": ({"end_time": ""}, {"end_time": "2099-01-01T00:00:00Z"}),
    "chatgpt": ({"end_time": None}, {"end_time": 4070908800}),
    "apple": ({"endTime": "2099-01-01T00:00:00.000"}, {"endTime": None}),
    "outbrain": ({"endDate": "2099-01-01"}, {"runForever": True}),
}


def get_budget_kind(network: str) -> str:
    """Return the kind that holds the budget of a campaign from a brief."""
    return "adGroup" if network in ("meta", "tiktok", "snapchat", "linkedin", "reddit") else "campaign"


# -- comparing ----------------------------------------------------------------------------------------------------


@define
class Watch:
    """Compares what the network holds after each operation with what a rule allows.

    A decrease gives nothing back, and takes nothing away from what was prepared before it: an operation is compared
    with the higher of what was held when it was prepared and before it was executed, a window with its beginning.
    """

    limits: Rule
    before: Holdings
    first: Holdings = field(init=False)
    rise: tuple[Amounts, Amounts] = (NOTHING, NOTHING)
    """By how much the last operation raised what the network holds, and what can be spent of it."""
    used_by_call: dict[int, list[Decimal]] = field(factory=dict)
    lowest: dict[tuple[str, str], Decimal] = field(factory=dict)

    @first.default
    def _begin(self) -> Holdings:
        return self.before

    @property
    def has_raised(self) -> bool:
        """Whether the last operation raised anything."""
        return any(amount > 0 for amounts in self.rise for amount in amounts)

    def compare(self, after: Holdings, call: Call) -> list[str]:
        """Return in words what the rule forbids and the last operation did."""
        found = []
        of_call = self.used_by_call.setdefault(call.number, [Decimal(0), Decimal(0)])
        held = count_raises(get_highest(call.holdings.held, self.before.held), after.held)
        live = count_raises(get_highest(call.holdings.live, self.before.live), after.live)
        in_window = count_raises(self.first.live, after.live)
        self.rise = held, live
        for position, name in enumerate(("daily", "lifetime")):
            of_call[position] += max(held[position], live[position])
            allowed, window = self.limits.per_operation, self.limits.per_window
            if allowed is not None and self.has_raised and of_call[position] > allowed[position]:
                found.append(f"{name} of one call rose by {of_call[position] / MICROS}")
            if window is not None and live[position] and in_window[position] > window[position]:
                found.append(f"{name} of all operations rose by {in_window[position] / MICROS}")
        for key, amount in after.budgets.items():
            if self.limits.factor is not None and (former := self.before.budgets.get(key)) is not None:
                lowest = self.lowest[key] = min(self.lowest.get(key, amount), former, amount)
                if amount > former and amount > lowest * self.limits.factor:
                    found.append(f"a budget rose from {lowest / MICROS} to {amount / MICROS}")
        self.before = after
        return found

    def list_understated(self, plan: Mapping[str, Any]) -> list[str]:
        """Return in words which amounts of a plan are less than what its operation did.

        What can be spent is the exposure; what is set up is the exposure or what is planned.
        """
        found = []
        for position, name in enumerate(("daily", "lifetime")):
            exposure, planned = _read_shown(plan["exposure"][name]), _read_shown(plan["planned"][name])
            held, live = self.rise[0][position], self.rise[1][position]
            if live > exposure or held > max(exposure, planned):
                rose = f"live {live / MICROS}, held {held / MICROS}"
                found.append(f"{name} rose ({rose}), exposure {exposure / MICROS}, planned {planned / MICROS}")
        return found


def _read_shown(amount: str) -> Decimal:
    """Return an amount of a plan in micro-units. An unknown one covers everything: only a person executes it."""
    return Decimal("Infinity") if amount in ("unknown", "unbounded") else Decimal(amount) * MICROS
