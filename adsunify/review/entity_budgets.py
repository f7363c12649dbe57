"""The budget of an entity that a network lists, in major units of the account's currency."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from attrs import frozen

from adsunify.adapter.account import Account
from adsunify.adapter.settings import get_display_value
from adsunify.errors import InvalidInput
from adsunify.networks.registry import get_adapter


@frozen
class EntityBudget:
    """A budget: a decimal text in major units, and ``daily`` or ``lifetime``."""

    amount: str
    period: str


def find_budget(account: Mapping[str, Any], entity: Mapping[str, Any]) -> EntityBudget | None:
    """Return the budget that an entity carries, read from its native members; None if it carries none.

    ``account`` and ``entity`` are as the API shows them. The list of some networks lacks the members of the budget.
    """
    network = get_adapter(account["network"]).network
    owner = Account(
        account["network"], account["nativeId"], account["currency"], account["timezone"], account["extras"]
    )
    for setting in network.settings:
        if (setting.level, setting.field) == (entity["kind"], "budget"):
            try:
                amount = get_display_value(network, owner, setting, entity["native"])
            except InvalidInput:  # the account lacks the currency
                return None
            period = setting.period(entity["native"]) if callable(setting.period) else setting.period
            is_unset = amount in (None, "") or (setting.is_zero_unset and Decimal(str(amount)) == 0)
            return None if is_unset or period is None else EntityBudget(str(amount), period)
    return None
