"""The words of the pages that depend on what is shown: states, problems, facts of accounts. Tables, in one place."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from adsunify.adapter.network import Account, Extra, parse_native_amount
from adsunify.errors import InvalidInput
from adsunify.networks import get_adapter
from adsunify.review.completion import get_operation_state
from adsunify.values.exact_json import Json
from adsunify.values.money import MICROS, from_units

from .numbers import format_money

NUMBER_PATTERN = re.compile(r"[0-9]+(\.[0-9]+)?")

ACTION_WORDS: Mapping[str, str] = {
    "create": "Create",
    "activate": "Activate",
    "status": "Pause",
    "update": "Change",
    "delete": "Delete",
    "edit": "Edit",
}
"""What an operation does; a status that may spend activates."""
PLAN_HEADINGS: Mapping[str, str] = {
    "prepared": "What will be written",
    "running": "What is being written",
    "succeeded": "What was written",
    "unknown": "What was to be written",
    "stalled": "What was to be written",
    "cancelled": "What would have been written",
    "expired": "What would have been written",
}
"""The heading of a plan, by the state of its operation; of one that is over, where nothing of it is written."""
SUBJECT_HEADINGS: Mapping[str, tuple[str, str, str]] = {
    "create": ("What will be made", "What was made", "What was to be made"),
    "start": ("What begins to run", "What was set to run", "What was to run"),
    "": ("What it concerns", "What it concerned", "What it was to concern"),
}
"""The heading of what an operation is about: before it, after it, and where it did not come to it."""
STEP_STATE_WORDS: Mapping[str, str] = {
    "applied": "written",
    "rejected": "refused",
    "throttled": "not yet written",
    "in_flight": "on its way",
    "ambiguous": "not known",
}
"""What became of a step; other states say it themselves."""
ENDED_REASON_WORDS: Mapping[str, str] = {
    "key_revoked": "The API key that made it was revoked.",
    "key_expired": "The API key that made it has expired.",
    "grant_revoked": "The agent that made it is not allowed any more.",
    "grant_expired": "What the agent that made it was allowed has expired.",
    "membership_ended": "The person who made it has left the workspace.",
}
"""Why a webhook has ended, by ``endedReason``."""
PERIOD_WORDS: Mapping[str, str] = {"daily": "a day", "lifetime": "in all"}


CREDENTIAL_WORDS: Mapping[str, str] = {"session": "in a browser", "local": "with the library or the command line"}


def describe_credential(identity: str) -> str:
    """Through which credential somebody acted."""
    client, colon, _user = identity.partition(":")
    return CREDENTIAL_WORDS.get(identity) or (f"through agent {client}" if colon else f"with API key {identity}")


def is_starting(operation: Mapping[str, Any]) -> bool:
    """Whether an operation sets something active that may then spend."""
    return operation["action"] in ("activate", "status") and operation["risk"] == "spend"


def describe_action(operation: Mapping[str, Any]) -> str:
    """What an operation does, in a word."""
    return ACTION_WORDS["activate" if is_starting(operation) else operation["action"]]


def plan_heading(state: str, outcome: str) -> str:
    """The heading of a plan; a plan of which something is written was not only meant to be."""
    return PLAN_HEADINGS["unknown" if state in ("expired", "cancelled") and outcome != "not_applied" else state]


def subject_heading(operation: Mapping[str, Any]) -> str:
    """The heading of what an operation is about."""
    kind = "create" if operation["action"] == "create" else "start" if is_starting(operation) else ""
    now = get_operation_state(operation)
    return SUBJECT_HEADINGS[kind][0 if now in ("prepared", "running") else 1 if now == "succeeded" else 2]


def network_message(problem: Mapping[str, Any]) -> str | None:
    """What the network itself said; nothing, where it did not answer."""
    native = problem.get("network") or {}
    answered = native.get("status") is not None or native.get("code") is not None
    return native.get("message") if answered else None


def problem_detail(problem: Mapping[str, Any]) -> str:
    """What a problem says, without what the network said, which is told by itself."""
    text, own = str(problem["detail"]), network_message(problem)
    before, found, after = text.partition(f": {own}") if own else (text, "", "")
    return f"{before}. {after.lstrip('. ')}".rstrip() if found else text


# -- money ----------------------------------------------------------------------------------------------------------


def format_amount(value: str, account: Mapping[str, Any]) -> str:
    """An amount in major units of an account, with its currency where it is known."""
    return f"{format_money(value, account['currency'])} {account['currency'] or ''}".rstrip()


def format_change(account: Mapping[str, Any], kind: str, one: Mapping[str, Any]) -> dict[str, Any]:
    """A change in words, its values as money where the network's settings say that they are."""
    settings = get_adapter(account["network"]).network.settings
    priced = any((row.field, row.level, row.unit) == (one["field"], kind, "money") for row in settings)
    return {**one, **{name: _format_priced(one[name], account, priced) for name in ("before", "after")}}


def _format_priced(value: Json, account: Mapping[str, Any], priced: bool) -> Json:
    text = str(value)
    return format_amount(text, account) if priced and NUMBER_PATTERN.fullmatch(text) else value


# -- facts of accounts --------------------------------------------------------------------------------------------


def _format_native_amount(account: Mapping[str, Any], value: str) -> str:
    owner = Account(
        account["network"], account["nativeId"], account["currency"], account["timezone"], account["extras"]
    )
    unit = get_adapter(owner.network).network.get_money_unit(owner)
    count = parse_native_amount(unit, int(value) if unit.form == "integer" else value)
    return value if count is None else format_amount(from_units(count, unit.offset), account)


def _format_micros(account: Mapping[str, Any], value: str) -> str:
    return format_amount(from_units(int(value), MICROS), account)


def _format_flag(account: Mapping[str, Any], value: str) -> str:
    return {"true": "yes", "false": "no"}.get(value, value)


def _format_words(account: Mapping[str, Any], value: str) -> str:
    return value.replace("_", " ").replace(",", ", ").lower()


def _format_seconds(account: Mapping[str, Any], value: str) -> str:
    return f"{datetime.fromtimestamp(int(value), UTC):%-d %b %Y}"


def _format_instant(account: Mapping[str, Any], value: str) -> str:
    return format_moment(value)


FORMATTERS: Mapping[str, Callable[[Mapping[str, Any], str], str]] = {
    "text": lambda account, value: value,
    "flag": _format_flag,
    "words": _format_words,
    "native_amount": _format_native_amount,
    "micros": _format_micros,
    "seconds": _format_seconds,
    "instant": _format_instant,
}
"""How the value of an account's extra reads, by its form."""


def list_account_facts(account: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The facts of an account that a person can read; one that is not as expected stands as it is."""
    declared = {extra.name: extra for extra in get_adapter(account["network"]).network.extras if extra.label}
    given = [(declared[name], value) for name, value in account["extras"].items() if name in declared and value]
    return [(extra.label, _format_extra(account, extra, value)) for extra, value in given]


def _format_extra(account: Mapping[str, Any], extra: Extra, value: str) -> str:
    try:
        return extra.texts.get(value) or FORMATTERS[extra.form](account, value)
    except (ValueError, InvalidInput):
        return value


def format_moment(value: str) -> str:
    """A day or an instant for people; what is neither stands as it is."""
    try:
        at = datetime.fromisoformat(value)
    except ValueError:
        return value
    if len(value) == len("2030-01-15"):
        return f"{at:%-d %b %Y}"
    return f"{at.astimezone(UTC):%-d %b %Y, %H:%M} UTC" if at.tzinfo is not None else f"{at:%-d %b %Y, %H:%M}"
