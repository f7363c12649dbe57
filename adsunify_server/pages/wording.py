"""The words of the pages that depend on what is shown: states, problems, facts of accounts. Tables, in one place."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from attrs import frozen

from adsunify.adapter.network import Account, counted
from adsunify.errors import InvalidInput
from adsunify.networks import adapter
from adsunify.values.exact_json import Json
from adsunify.values.money import MICROS, major

from .figures import money

NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?")

ACTIONS: Mapping[str, str] = {
    "create": "Create",
    "activate": "Activate",
    "status": "Pause",
    "update": "Change",
    "delete": "Delete",
    "edit": "Edit",
}
"""What an operation does; a status that may spend activates."""
PLAN: Mapping[str, str] = {
    "prepared": "What will be written",
    "running": "What is being written",
    "succeeded": "What was written",
    "unknown": "What was to be written",
    "stalled": "What was to be written",
    "cancelled": "What would have been written",
    "expired": "What would have been written",
}
"""The heading of a plan, by the state of its operation; of one that is over, where nothing of it is written."""
ABOUT: Mapping[str, tuple[str, str, str]] = {
    "create": ("What will be made", "What was made", "What was to be made"),
    "start": ("What begins to run", "What was set to run", "What was to run"),
    "": ("What it concerns", "What it concerned", "What it was to concern"),
}
"""The heading of what an operation is about: before it, after it, and where it did not come to it."""
STATES: Mapping[str, str] = {
    "applied": "written",
    "rejected": "refused",
    "throttled": "not yet written",
    "in_flight": "on its way",
    "ambiguous": "not known",
}
"""What became of a step; other states say it themselves."""
ENDED: Mapping[str, str] = {
    "key_revoked": "The API key that made it was revoked.",
    "key_expired": "The API key that made it has expired.",
    "grant_revoked": "The agent that made it is not allowed any more.",
    "grant_expired": "What the agent that made it was allowed has expired.",
    "membership_ended": "The person who made it has left the workspace.",
}
"""Why a webhook has ended, by ``endedReason``."""
PERIODS: Mapping[str, str] = {"daily": "a day", "lifetime": "in all"}


CREDENTIALS: Mapping[str, str] = {"session": "in a browser", "local": "with the library or the command line"}


def credential(identity: str) -> str:
    """Through which credential somebody acted."""
    client, colon, _user = identity.partition(":")
    return CREDENTIALS.get(identity) or (f"through agent {client}" if colon else f"with API key {identity}")


def starts(operation: Mapping[str, Any]) -> bool:
    """Whether an operation sets something active that may then spend."""
    return operation["action"] in ("activate", "status") and operation["risk"] == "spend"


def does(operation: Mapping[str, Any]) -> str:
    """What an operation does, in a word."""
    return ACTIONS["activate" if starts(operation) else operation["action"]]


def state(operation: Mapping[str, Any]) -> str:
    """The status of an operation, or what stands in its way."""
    return "expired" if operation["expired"] else "stalled" if operation["stalled"] else str(operation["status"])


def plan_heading(state: str, outcome: str) -> str:
    """The heading of a plan; a plan of which something is written was not only meant to be."""
    return PLAN["unknown" if state in ("expired", "cancelled") and outcome != "not_applied" else state]


def about(operation: Mapping[str, Any]) -> str:
    """The heading of what an operation is about."""
    kind = "create" if operation["action"] == "create" else "start" if starts(operation) else ""
    now = state(operation)
    return ABOUT[kind][0 if now in ("prepared", "running") else 1 if now == "succeeded" else 2]


def said(problem: Mapping[str, Any]) -> str | None:
    """What the network itself said; nothing, where it did not answer."""
    native = problem.get("network") or {}
    answered = native.get("status") is not None or native.get("code") is not None
    return native.get("message") if answered else None


def detail(problem: Mapping[str, Any]) -> str:
    """What a problem says, without what the network said, which is told by itself."""
    text, own = str(problem["detail"]), said(problem)
    before, found, after = text.partition(f": {own}") if own else (text, "", "")
    return f"{before}. {after.lstrip('. ')}".rstrip() if found else text


# -- money ----------------------------------------------------------------------------------------------------------


def amount(value: str, account: Mapping[str, Any]) -> str:
    """An amount in major units of an account, with its currency where it is known."""
    return f"{money(value, account['currency'])} {account['currency'] or ''}".rstrip()


def change(account: Mapping[str, Any], kind: str, one: Mapping[str, Any]) -> dict[str, Any]:
    """A change in words, its values as money where the network's settings say that they are."""
    settings = adapter(account["network"]).network.settings
    priced = any((row.field, row.level, row.unit) == (one["field"], kind, "money") for row in settings)
    return {**one, **{name: _priced(one[name], account, priced) for name in ("before", "after")}}


def _priced(value: Json, account: Mapping[str, Any], priced: bool) -> Json:
    text = str(value)
    return amount(text, account) if priced and NUMBER.fullmatch(text) else value


# -- facts of accounts --------------------------------------------------------------------------------------------


@frozen
class Fact:
    """What an account's extra is called, and how its value is read."""

    label: str
    read: Callable[[Mapping[str, Any], str], str] = lambda account, value: value


def _native_money(account: Mapping[str, Any], value: str) -> str:
    owner = Account(
        account["network"], account["nativeId"], account["currency"], account["timezone"], account["extras"]
    )
    unit = adapter(owner.network).network.unit(owner)
    count = counted(unit, int(value) if unit.form == "integer" else value)
    return value if count is None else amount(major(count, unit.offset), account)


def _micros(account: Mapping[str, Any], value: str) -> str:
    return amount(major(int(value), MICROS), account)


def _flag(account: Mapping[str, Any], value: str) -> str:
    return {"true": "yes", "false": "no"}.get(value, value)


def _lower(account: Mapping[str, Any], value: str) -> str:
    return value.replace("_", " ").replace(",", ", ").lower()


def _second(account: Mapping[str, Any], value: str) -> str:
    return f"{datetime.fromtimestamp(int(value), UTC):%-d %b %Y}"


def _instant(account: Mapping[str, Any], value: str) -> str:
    return moment(value)


FACTS: Mapping[tuple[str, str], Fact] = {
    ("meta", "minDailyBudget"): Fact("Least daily budget", _native_money),
    ("meta", "defaultDsaBeneficiary"): Fact("Beneficiary of ads in the EU"),
    ("meta", "defaultDsaPayor"): Fact("Payor of ads in the EU"),
    ("google", "loginCustomerId"): Fact("Reached through the manager"),
    ("google", "billableUnitMicros"): Fact("Amounts are multiples of", _micros),
    ("google", "testAccount"): Fact("Test account, which never serves", _flag),
    ("tiktok", "createFlow"): Fact("Flow of new campaigns", _lower),
    ("tiktok", "canUseCustomIdentity"): Fact("New ads under a custom identity", _flag),
    ("tiktok", "adsOnlyMode"): Fact("Ads are dark posts only", _flag),
    ("tiktok", "ownerBcId"): Fact("Owned by the business centre"),
    ("snapchat", "organizationId"): Fact("Organization"),
    ("snapchat", "restrictedDeliverySignals"): Fact("Housing, credit and employment enabled", _flag),
    ("pinterest", "permissions"): Fact("Permissions here", _lower),
    ("pinterest", "country"): Fact("Country"),
    ("pinterest", "owner"): Fact("Owner"),
    ("pinterest", "createdTime"): Fact("Opened", _second),
    ("linkedin", "reference"): Fact("Organization"),
    ("linkedin", "type"): Fact("Kind of account", _lower),
    ("reddit", "businessId"): Fact("Business"),
    ("reddit", "type"): Fact("Kind of account", _lower),
    ("reddit", "suspensionReason"): Fact("Suspended because of", _lower),
    ("reddit", "attributionType"): Fact("Attributed to", _lower),
    ("reddit", "clickAttributionWindow"): Fact("A conversion counts after a click for a", _lower),
    ("reddit", "viewAttributionWindow"): Fact("A conversion counts after a view for a", _lower),
    ("amazon", "region"): Fact("Region"),
    ("amazon", "accountType"): Fact("Kind of account", _lower),
    ("amazon", "countryCode"): Fact("Marketplace"),
    ("x", "timezoneSwitchAt"): Fact("Time zone changed", _instant),
    ("apple", "orgId"): Fact("Organization"),
    ("apple", "paymentModel"): Fact(
        "Payment", lambda account, value: {"LOC": "line of credit", "PAYG": "as it is spent"}.get(value, value)
    ),
    ("apple", "productFeatures"): Fact("May advertise", _lower),
    ("apple", "contentProvider"): Fact("A provider of apps is delegated to it", _flag),
}
"""Meta's ``accountStatus`` is left out: it is the number of the status, which is shown in words."""


def facts(account: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The facts of an account that a person can read; one that is not as expected stands as it is."""
    found = []
    for name, value in account["extras"].items():
        fact = FACTS.get((account["network"], name))
        if fact is None or not value:
            continue
        try:
            found.append((fact.label, fact.read(account, value)))
        except (ValueError, InvalidInput):
            found.append((fact.label, value))
    return found


def moment(value: str) -> str:
    """A day or an instant for people; what is neither stands as it is."""
    try:
        at = datetime.fromisoformat(value)
    except ValueError:
        return value
    if len(value) == len("2030-01-15"):
        return f"{at:%-d %b %Y}"
    return f"{at.astimezone(UTC):%-d %b %Y, %H:%M} UTC" if at.tzinfo is not None else f"{at:%-d %b %Y, %H:%M}"
