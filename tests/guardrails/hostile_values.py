"""The values and shapes of hostile calls. The native ones stand in ``tests/networks/<code>/holdings.py``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from attrs import field, frozen

from tests.networks.modules import load_network_module

from .holdings import get_levels

CLOCK = "2027-03-01T12:00:00Z"
START, END = "2027-03-02T08:00:00Z", "2027-03-12T08:00:00Z"
RAW = "@raw@"
"""Stands in a body for a JSON literal that no Python value is written as."""
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
    *('1, "daily_budget": 99999999', '1, "budget": 99999999', '1, "endAt": ""', "[" * 200 + "]" * 200),
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


@frozen(kw_only=True)
class HostileValues:
    """The native members and values with which hostile calls try to raise the budgets of a network.

    Attributes:
        budgets: the members of native payloads that hold budgets (dotted), with how many of their units make a major
            one.
        ends: members that move or remove the end of a schedule.
        kind: the kind that holds the budget of a campaign from a brief.
        fixed_members: what the network requires beside a nested amount.
        amount: the budget of the two campaigns in US dollars. 20, or the least that the network accepts.
        period: the period of this budget.
        start: the start of the two campaigns. A network that keeps whole days needs a midnight of the account.
    """

    budgets: Sequence[tuple[str, int]]
    ends: Sequence[Mapping[str, Any]]
    kind: str = "campaign"
    fixed_members: Mapping[str, Any] = field(factory=dict)
    amount: str = "20"
    period: str = "daily"
    start: str = START


def get_hostile_values(network: str) -> HostileValues:
    """Return ``HOSTILE_VALUES`` of ``tests/networks/<code>/holdings.py``."""
    values: HostileValues = load_network_module(network, "holdings", "HOSTILE_VALUES").HOSTILE_VALUES
    return values


def list_native_statuses(network: str) -> Sequence[Mapping[str, Any]]:
    """List members that activate a campaign, three times as often as members that only look like them."""
    name, value = get_levels(network)[0].status
    lookalikes = ({"effective_status": value}, {"configured_status": value}, {name: str(value).lower()}, {name: 2})
    return (*[{name: value}] * 3 * len(lookalikes), *lookalikes)
