"""What a create operation makes, for whoever decides about it later: names, budgets and times, from its own plan.

The network is not asked. A created body holds the members that the SETTINGS tables point at, so they read it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from attrs import frozen

from adsunify.adapter.network import Account, Entity, Level, Network, Period, Setting
from adsunify.adapter.settings import shown
from adsunify.errors import InvalidInput
from adsunify.networks import adapter
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import read

KINDS = ("campaign", "adGroup", "ad")


@frozen
class Made:
    """An entity that a create operation makes, or made: then it has ``ids``, the first of which it is known by.

    ``budget``: an amount in major units. ``start``, ``end``: days of the account, or instants.
    """

    kind: str
    name: str | None
    ids: tuple[str, ...] = ()
    budget: str | None = None
    period: Period | None = None
    start: str | None = None
    end: str | None = None


def made(account: Mapping[str, Any], operation: Mapping[str, Any]) -> list[Made]:
    """The campaigns, ad groups and ads that an operation creates; account and operation as the answers show them."""
    network = adapter(account["network"]).network
    owner = Account(
        account["network"], account["nativeId"], account["currency"], account["timezone"], account["extras"]
    )
    steps = [step for step in operation["plan"].get("steps", ()) if step["action"] == "create"]
    beside = {step["kind"]: step["body"] for step in steps if step["kind"] == "budget"}  # Outbrain's, made by itself
    found = []
    for step in steps:
        for level, entity in _entities(network, step):
            ids = _ids(level, _outputs(operation, step["key"]))
            found.append(
                _made(network, owner, level, {**beside, **entity} if level.kind == "campaign" else entity, ids)
            )
    return sorted(found, key=lambda one: KINDS.index(one.kind))


def _entities(network: Network, step: Mapping[str, Any]) -> Iterator[tuple[Level, Entity]]:
    """The entities that a step creates, as they were sent."""
    body = step["body"]
    levels = [level for level in network.levels if level.kind in KINDS]
    if isinstance(body, Mapping) and isinstance(body.get("mutateOperations"), list):  # Google's: many in one
        sent = {
            name.removesuffix("Operation"): one["create"]
            for operation in body["mutateOperations"]
            for name, one in operation.items()
            if "create" in one
        }
        yield from ((level, sent) for level in levels if level.native in sent)
        return
    for level in levels:
        if level.kind == step["kind"]:
            yield level, _innermost(level, body if body is not None else dict(parse_qsl(urlsplit(step["path"]).query)))


def _innermost(level: Level, body: Json) -> Entity:
    """The object of a body that has a name: some networks wrap it."""
    waiting = deque([body])
    while waiting and level.name:
        one = waiting.popleft()
        if isinstance(one, Mapping):
            if isinstance(read(one, level.name), str):
                return one
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)
    return {}


def _outputs(operation: Mapping[str, Any], key: str) -> list[str]:
    values = [
        value for step in operation["receipt"]["steps"] if step["key"] == key for value in step["outputs"].values()
    ]
    return [one for value in values for one in ([value] if isinstance(value, str) else value)]


def _ids(level: Level, outputs: Iterable[str]) -> tuple[str, ...]:
    """The level's ids among those that a step brought: Google's are paths, of which the last part serves as id too."""
    own = []
    for one in outputs:
        collection, _, last = one.rpartition("/")
        if not collection:
            own.append(one)
        elif collection.endswith(f"/{level.native}s"):
            own.extend((last, one))
    return tuple(dict.fromkeys(own))


def _made(network: Network, account: Account, level: Level, entity: Entity, ids: tuple[str, ...]) -> Made:
    rows = {setting.field: setting for setting in network.settings if setting.level == level.kind}
    name = read(entity, level.name) if level.name else None
    budget = rows.get("budget")
    period = None if budget is None else budget.period(entity) if callable(budget.period) else budget.period
    amount = None if period is None else _value(network, account, budget, entity)
    return Made(
        level.kind,
        name if isinstance(name, str) else None,
        ids,
        amount,
        None if amount is None else period,
        _value(network, account, rows.get("startAt"), entity),
        _value(network, account, rows.get("endAt"), entity),
    )


def _value(network: Network, account: Account, setting: Setting | None, entity: Entity) -> str | None:
    if setting is None:
        return None
    try:
        value = shown(network, account, setting, entity)
    except InvalidInput:  # money without a currency, a day without a time zone
        return None
    return None if value is None or value == "" else str(value)
