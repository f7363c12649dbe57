"""The values and shapes of hostile calls, by network where they are native."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from .holdings import MICROS

CLOCK = "2027-03-01T12:00:00Z"
START, END = "2027-03-02T08:00:00Z", "2027-03-12T08:00:00Z"
STARTS = {"google": "2027-03-02T05:00:00Z", "outbrain": "2027-03-02T05:00:00Z"}
BUDGETS = {"chatgpt": "320", "outbrain": "30", "tiktok": "25"}
"""The budgets of the two campaigns: 20 a day, but for the floors of these networks; that of ChatGPT is for its life."""
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
FIXED_MEMBERS: Mapping[str, Mapping[str, Any]] = {
    "amazon": {"budgetType": "DAILY"},
    "linkedin": {"currencyCode": "USD"},
    "apple": {"currency": "USD"},
}
"""What the networks require beside a nested amount."""
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
