"""Finds the amounts of money in a prepared step, and converts them to major units for the reviewer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from attrs import frozen

from adsunify.adapter.native_money import parse_native_amount
from adsunify.adapter.network import Account
from adsunify.errors import InvalidInput
from adsunify.networks.registry import get_adapter
from adsunify.values.exact_json import Json
from adsunify.values.money import from_units

MONEY_NAME_PATTERN = re.compile(r"budget|bid|cpa|cpc|cpm|amount|micro|goal_?value|unit_?cost|spend_?cap", re.IGNORECASE)
NON_MONEY_NAME_PATTERN = re.compile(r"Ids?$|_ids?$|(?i:type|strategy|mode|multiplier|percent|adjust|roas|is_)")
"""Matches the names of native members that hold money, and those that do not."""
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
    amounts = []
    for member, value in [
        *_find_native_amounts(dict(parse_qsl(urlsplit(step["path"]).query))),
        *_find_native_amounts(step["body"]),
    ]:
        count = None if unit is None else parse_native_amount(unit, value)
        text = (
            None if unit is None or count is None else f"{from_units(count, unit.offset)} {account['currency'] or ''}"
        )
        amounts.append(SentAmount(member, str(value), text))
    return amounts


def _find_native_amounts(body: Json, path: str = "", last: str = "") -> Iterator[tuple[str, Json]]:
    """Yield the dotted path and the value of each amount in a native body."""
    if isinstance(body, Mapping):
        for name, value in body.items():
            yield from _find_native_amounts(value, f"{path}.{name}" if path else str(name), str(name))
    elif isinstance(body, list):
        for index, value in enumerate(body):
            yield from _find_native_amounts(value, f"{path}.{index}", last)
    elif (
        MONEY_NAME_PATTERN.search(last)
        and not NON_MONEY_NAME_PATTERN.search(last)
        and NUMBER_PATTERN.fullmatch(str(body))
    ):
        yield path, body
