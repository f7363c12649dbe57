"""Finds the amounts of money in a prepared step, and converts them to major units for the reviewer."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from attrs import frozen

from adsunify.adapter.account import Account
from adsunify.adapter.edits import list_native_names
from adsunify.adapter.native_money import parse_native_amount
from adsunify.adapter.network import Network
from adsunify.errors import InvalidInput
from adsunify.networks.registry import get_adapter
from adsunify.values.exact_json import Json
from adsunify.values.money import from_units

MONEY_NAME_PATTERN = re.compile(r"budget|bid|cpa|cpc|cpm|amount|micro|goal_?value|unit_?cost|spend_?cap", re.IGNORECASE)
NON_MONEY_NAME_PATTERN = re.compile(
    r"Ids?$|_ids?$|(?i:type|strategy|mode|modifier|multiplier|percent|adjust|roas|degrees|is_)"
)
"""Match names of native members that hold money, and names that do not, where no setting of the network says it."""
NUMBER_PATTERN = re.compile(r"[0-9]+(\.[0-9]+)?")


@frozen
class SentAmount:
    """An amount that will be sent.

    ``pointer`` is the dotted path of its member. ``major_amount`` is in major units with the currency; None if unknown.
    """

    pointer: str
    native_value: str
    major_amount: str | None


def find_amounts(account: Mapping[str, Any], step: Mapping[str, Any]) -> list[SentAmount]:
    """Return the amounts in the query and the body of a step. ``account`` and ``step`` are as the API shows them."""
    network = get_adapter(account["network"]).network
    owner = Account(
        account["network"], account["nativeId"], account["currency"], account["timezone"], account["extras"]
    )
    try:
        unit = network.get_money_unit(owner)
    except InvalidInput:  # without the account's currency the amounts cannot be converted
        unit = None
    names = _list_amount_names(network)
    amounts = []
    for member, value in [
        *_find_native_amounts(dict(parse_qsl(urlsplit(step["path"]).query)), names),
        *_find_native_amounts(step["body"], names),
    ]:
        count = None if unit is None else parse_native_amount(unit, value)
        text = (
            None if unit is None or count is None else f"{from_units(count, unit.offset)} {account['currency'] or ''}"
        )
        amounts.append(SentAmount(member, str(value), text))
    return amounts


def _list_amount_names(network: Network) -> frozenset[str]:
    """Return the names of the native members that hold the amounts of the network's settings."""
    return frozenset().union(*(list_native_names(setting) for setting in network.settings if setting.unit == "money"))


def _is_amount_name(name: str, names: Collection[str]) -> bool:
    return name in names or bool(MONEY_NAME_PATTERN.search(name) and not NON_MONEY_NAME_PATTERN.search(name))


def _find_native_amounts(
    body: Json, names: Collection[str], path: str = "", last: str = ""
) -> Iterator[tuple[str, Json]]:
    """Yield the dotted path and the value of each amount in a native body.

    An amount is a number in a member that is one of ``names``, or whose name sounds like money: callers may send
    native members that no setting edits.
    """
    if isinstance(body, Mapping):
        for name, value in body.items():
            yield from _find_native_amounts(value, names, f"{path}.{name}" if path else str(name), str(name))
    elif isinstance(body, list):
        for index, value in enumerate(body):
            yield from _find_native_amounts(value, names, f"{path}.{index}", last)
    elif _is_amount_name(last, names) and NUMBER_PATTERN.fullmatch(str(body)):
        yield path, body
