"""Words and formats of the pages: states, problems, amounts, facts of accounts."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from adsunify.adapter.account import Account
from adsunify.adapter.native_money import parse_native_amount
from adsunify.adapter.network import Extra
from adsunify.errors import InvalidInput
from adsunify.launches.states import OPEN_STATUSES
from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.review.completion import get_operation_state
from adsunify.values.exact_json import Json
from adsunify.values.money import MICROS, from_units

from .numbers import format_money

INSTANT_PATTERN = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z")
NUMBER_PATTERN = re.compile(r"[0-9]+(\.[0-9]+)?")

ACTION_WORDS: Mapping[str, str] = {
    "create": "Create",
    "activate": "Activate",
    "status": "Pause",
    "update": "Change",
    "delete": "Delete",
    "edit": "Edit",
}
"""The word for what an operation does. A status operation with the risk ``spend`` activates."""
PLAN_HEADINGS: Mapping[str, str] = {
    "prepared": "What will be written",
    "running": "What is being written",
    "succeeded": "What was written",
    "unknown": "What was to be written",
    "stalled": "What was to be written",
    "cancelled": "What would have been written",
    "expired": "What would have been written",
}
"""The heading of a plan by the state of its operation.

The headings of cancelled and expired operations are for plans that were not written at all.
"""
SUBJECT_HEADINGS: Mapping[str, tuple[str, str, str]] = {
    "create": ("What will be created", "What was created", "What was to be created"),
    "start": ("What will start to run", "What was set to run", "What was to run"),
    "": ("What will be changed", "What was changed", "What was to be changed"),
}
"""The heading of an operation's subject: before the execution, after it, and if it was not executed."""
STEP_STATE_WORDS: Mapping[str, str] = {
    "applied": "written",
    "rejected": "refused",
    "throttled": "not yet written",
    "in_flight": "in flight",
    "ambiguous": "outcome unknown",
}
"""The words for a step's state. Other states are shown unchanged."""
ENDED_REASON_WORDS: Mapping[str, str] = {
    "key_revoked": "The API key that created it was revoked.",
    "key_expired": "The API key that created it has expired.",
    "grant_revoked": "The permission of the agent that created it was revoked.",
    "grant_expired": "The permission of the agent that created it has expired.",
    "membership_ended": "The person who created it has left the workspace.",
}
"""Why a webhook has ended, by ``endedReason``."""
PERIOD_WORDS: Mapping[str, str] = {"daily": "per day", "lifetime": "in total"}


CHANGE_SET_WORDS: Mapping[str, tuple[str, str]] = {
    "create": ("creates {count}, all paused", "was to create {count}, all paused"),
    "activate": ("activates {count}", "was to activate {count}"),
    "pause": ("pauses {count}", "was to pause {count}"),
    "undo": ("takes back what was written for {count}", "was to take back what was written for {count}"),
    "apply": ("makes the networks agree with a file: {operations}", "was to make the networks agree with a file"),
}
"""What a change set does, by its action: before it has ended, and after it."""


def describe_change_set(change_set: Mapping[str, Any]) -> str:
    """Say what a change set does, in a sentence."""
    number = len(change_set["operations"]) or change_set["members"]
    networks = len({operation["network"] for operation in change_set["operations"]})
    on = f" on {networks} networks" if networks > 1 else ""
    count = f"{number} campaign{'' if number == 1 else 's'}{on}"
    operations = f"{number} operation{'' if number == 1 else 's'}{on}"
    has_ended = change_set["status"] not in OPEN_STATUSES
    return f"This {CHANGE_SET_WORDS[change_set['action']][has_ended].format(count=count, operations=operations)}."


CREDENTIAL_WORDS: Mapping[str, str] = {"session": "in a browser", "local": "with the library or the command line"}


def describe_credential(identity: str, key_names: Mapping[str, str] = MappingProxyType({})) -> str:
    """Describe the credential that somebody used. ``key_names``: the names of API keys by id."""
    client, colon, _user = identity.rpartition(":")
    key = f'"{key_names[identity]}"' if identity in key_names else identity
    return CREDENTIAL_WORDS.get(identity) or (f"with agent {client}" if colon else f"with API key {key}")


def is_starting(operation: Mapping[str, Any]) -> bool:
    """Whether an operation activates something that may then spend money."""
    return operation["action"] in ("activate", "status") and operation["risk"] == "spend"


def describe_action(operation: Mapping[str, Any]) -> str:
    """Return what an operation does, in one word."""
    return ACTION_WORDS["activate" if is_starting(operation) else operation["action"]]


def plan_heading(state: str, outcome: str) -> str:
    """Return the heading of a plan; ``outcome``: whether anything of it was written."""
    return PLAN_HEADINGS["unknown" if state in ("expired", "cancelled") and outcome != "not_applied" else state]


def subject_heading(operation: Mapping[str, Any]) -> str:
    """Return the heading of an operation's subject."""
    kind = "create" if operation["action"] == "create" else "start" if is_starting(operation) else ""
    now = get_operation_state(operation)
    return SUBJECT_HEADINGS[kind][0 if now in ("prepared", "running") else 1 if now == "succeeded" else 2]


def network_message(problem: Mapping[str, Any]) -> str | None:
    """Return the network's own error message; None where the network did not answer."""
    native = problem.get("network") or {}
    has_answered = native.get("status") is not None or native.get("code") is not None
    return native.get("message") if has_answered else None


def problem_detail(problem: Mapping[str, Any]) -> str:
    """Return the detail of a problem without the network's name and message, which are shown separately."""
    text, own = format_instants(str(problem["detail"])), network_message(problem)
    before, separator, after = text.partition(f": {own}") if own else (text, "", "")
    if not separator:
        return text
    is_name = any(before == get_adapter(code).network.title for code in ADAPTER_PACKAGES)
    return f"{'' if is_name else before + '. '}{after.lstrip('. ')}".rstrip()


# -- money ----------------------------------------------------------------------------------------------------------


def format_amount(value: str, account: Mapping[str, Any]) -> str:
    """Format an amount in major units of an account, with the currency where it is known."""
    return f"{format_money(value, account['currency'])} {account['currency'] or ''}".rstrip()


def format_change(account: Mapping[str, Any], kind: str, change: Mapping[str, Any]) -> dict[str, Any]:
    """Format the values of a change: money and instants where the network's settings declare them."""
    settings = get_adapter(account["network"]).network.settings
    unit = next((row.unit for row in settings if (row.field, row.level) == (change["field"], kind)), None)
    return {**change, **{name: _format_value(change[name], account, unit) for name in ("before", "after")}}


def _format_value(value: Json, account: Mapping[str, Any], unit: str | None) -> Json:
    text = str(value)
    if unit == "money" and NUMBER_PATTERN.fullmatch(text):
        return format_amount(text, account)
    return format_moment(text) if unit in ("instant", "day") and value is not None else value


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
"""The formatter of an extra's value, by the extra's form."""


def list_account_facts(account: Mapping[str, Any]) -> list[tuple[str, str]]:
    """List the facts of an account as label and text; a value of an unexpected form is shown as it is."""
    declared = {extra.name: extra for extra in get_adapter(account["network"]).network.extras if extra.label}
    present = [(declared[name], value) for name, value in account["extras"].items() if name in declared and value]
    return [(extra.label, _format_extra(account, extra, value)) for extra, value in present]


def _format_extra(account: Mapping[str, Any], extra: Extra, value: str) -> str:
    try:
        return extra.texts.get(value) or FORMATTERS[extra.form](account, value)
    except (ValueError, InvalidInput):
        return value


def format_moment(value: str) -> str:
    """Format a day or an instant; other text is returned as it is."""
    try:
        at = datetime.fromisoformat(value)
    except ValueError:
        return value
    if len(value) == len("2030-01-15"):
        return f"{at:%-d %b %Y}"
    return f"{at.astimezone(UTC):%-d %b %Y, %H:%M} UTC" if at.tzinfo is not None else f"{at:%-d %b %Y, %H:%M}"


def format_instants(text: str) -> str:
    """Format the instants in a sentence."""
    return INSTANT_PATTERN.sub(lambda match: format_moment(match[0]), text)
