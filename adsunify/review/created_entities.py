"""Reads the ids, names, budgets and times of the entities that an operation creates from its plan and its receipt.

It sends no request. The pointers of the SETTINGS tables also fit the bodies of create requests.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from attrs import frozen

from adsunify.adapter.account import Account
from adsunify.adapter.formats import Period
from adsunify.adapter.network import Level, NativeEntity, Network, Setting
from adsunify.adapter.settings import get_display_value
from adsunify.errors import InvalidInput
from adsunify.guardrails.payloads import list_status_fields
from adsunify.networks.registry import get_adapter
from adsunify.plans.records import ENTITY_KINDS, Kind
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import find_object, get_value


@frozen
class ReviewedEntity:
    """An entity that an operation creates or has created.

    ``ids`` is empty before it was created; the first id is the one that lists show. ``budget`` is an amount in major
    units. ``start`` and ``end`` are local days of the account, or instants.
    """

    kind: str
    name: str | None
    ids: tuple[str, ...] = ()
    budget: str | None = None
    period: Period | None = None
    start: str | None = None
    end: str | None = None


def find_created_entities(account: Mapping[str, Any], operation: Mapping[str, Any]) -> list[ReviewedEntity]:
    """Return the campaigns, ad groups and ads of an operation; both arguments are as the API shows them."""
    network, owner = get_adapter(account["network"]).network, _make_account(account)
    entities = [_make_created_entity(network, owner, *sent) for sent in _list_sent_entities(network, operation)]
    return sorted(entities, key=lambda created: ENTITY_KINDS.index(created.kind))


def read_sent_fields(
    account: Mapping[str, Any], operation: Mapping[str, Any]
) -> list[tuple[Kind, str | None, dict[str, Json]]]:
    """Return the fields that an operation sends for each campaign, ad group and ad that it creates.

    Each entry has the kind, the id as lists show it (None before the entity is created), and field -> value of the
    SETTINGS rows, as settings show them. Statuses are left out, and fields that are not sent or that no edit changes.
    """
    network, owner = get_adapter(account["network"]).network, _make_account(account)
    return [
        (kind, ids[0] if ids else None, _read_fields(network, owner, level, entity))
        for level, entity, ids in _list_sent_entities(network, operation)
        for kind in ENTITY_KINDS
        if kind == level.kind
    ]


def _make_account(account: Mapping[str, Any]) -> Account:
    return Account(account["network"], account["nativeId"], account["currency"], account["timezone"], account["extras"])


def _list_sent_entities(
    network: Network, operation: Mapping[str, Any]
) -> Iterator[tuple[Level, NativeEntity, tuple[str, ...]]]:
    """Yield the campaigns, ad groups and ads that an operation creates, as they are sent, with their ids."""
    steps = [step for step in operation["plan"].get("steps", ()) if step["action"] == "create"]
    beside = {
        step["kind"]: step["body"] for step in steps if step["kind"] == "budget"
    }  # Outbrain's budget is an entity
    for step in steps:
        for level, entity in _find_sent_entities(network, step):
            ids = _select_level_ids(level, _list_output_ids(operation, step["key"], level.listed_output))
            yield level, {**beside, **entity} if level.kind == "campaign" else entity, ids


def _read_fields(network: Network, account: Account, level: Level, entity: NativeEntity) -> dict[str, Json]:
    statuses = list_status_fields(level, network.settings)
    values = {
        setting.field: _read_setting(network, account, setting, entity)
        for setting in network.settings
        if setting.level == level.kind and not isinstance(setting.lock, str) and setting.field not in statuses
    }
    return {name: value for name, value in values.items() if value not in (None, "", [])}


def list_created_ids(operation: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the ids of the campaigns, ad groups and ads that an operation has created, in the order of its steps.

    ``operation`` is as the API shows it, with the steps of its plan. Each entry has ``kind``, ``entityId`` (as lists
    show it) and ``stepKey``. The ids are those of the receipt, and those that the plan carries.
    """
    if not operation["receipt"]["steps"] and "carried" not in operation["plan"]:
        return []
    network = get_adapter(operation["network"]).network
    return [
        {"kind": level.kind, "entityId": ids[0], "stepKey": step["key"]}
        for step in operation["plan"]["steps"]
        if step["action"] == "create"
        for level in _find_created_levels(network, step)
        if (ids := _select_level_ids(level, _list_output_ids(operation, step["key"], level.listed_output)))
    ]


def _find_created_levels(network: Network, step: Mapping[str, Any]) -> list[Level]:
    """Return the levels of the entities that a step creates."""
    levels = [level for level in network.levels if level.kind in ENTITY_KINDS]
    batch = _read_batch(step["body"])
    if batch is None:
        return [level for level in levels if level.kind == step["kind"]]
    return [level for level in levels if level.native in batch]


def _find_sent_entities(network: Network, step: Mapping[str, Any]) -> Iterator[tuple[Level, NativeEntity]]:
    """Yield the entities that a step creates, as they are sent."""
    body = step["body"]
    batch = _read_batch(body)
    for level in _find_created_levels(network, step):
        if batch is not None:
            yield level, batch
            continue
        sent = body if body is not None else dict(parse_qsl(urlsplit(step["path"]).query))
        named = find_object(sent, level.name) if level.name else None  # some networks wrap it in other objects
        yield level, {} if named is None else named


def _read_batch(body: Json) -> NativeEntity | None:
    """Return the entities of a request that creates several, by native name (Google); None for other requests."""
    if not isinstance(body, Mapping) or not isinstance(body.get("mutateOperations"), list):
        return None
    return {
        name.removesuffix("Operation"): operand["create"]
        for operation in body["mutateOperations"]
        for name, operand in operation.items()
        if "create" in operand
    }


def _list_output_ids(operation: Mapping[str, Any], key: str, first: str) -> list[str]:
    """Return the ids in the outputs of a step; those of the output ``first`` come first."""
    carried = operation["plan"].get("carried", {}).get(key, {}).get("outputs") or {}
    outputs = [
        *carried.items(),
        *(output for step in operation["receipt"]["steps"] if step["key"] == key for output in step["outputs"].items()),
    ]
    values = [value for _, value in sorted(outputs, key=lambda output: output[0] != first)]
    return [id_ for value in values for id_ in ([value] if isinstance(value, str) else value)]


def _select_level_ids(level: Level, outputs: Iterable[str]) -> tuple[str, ...]:
    """Select the ids of the level from the outputs of a step.

    Google's ids are paths. Their last segment is an id as well.
    """
    own = []
    for output in outputs:
        collection, _, last = output.rpartition("/")
        if not collection:
            own.append(output)
        elif collection.endswith(f"/{level.native}s"):
            own.extend((last, output))
    return tuple(dict.fromkeys(own))


def _make_created_entity(
    network: Network, account: Account, level: Level, entity: NativeEntity, ids: tuple[str, ...]
) -> ReviewedEntity:
    rows = {setting.field: setting for setting in network.settings if setting.level == level.kind}
    name = get_value(entity, level.name) if level.name else None
    budget = rows.get("budget")
    period = None if budget is None else budget.period(entity) if callable(budget.period) else budget.period
    amount = None if period is None else _format_setting(network, account, budget, entity)
    return ReviewedEntity(
        level.kind,
        name if isinstance(name, str) else None,
        ids,
        amount,
        None if amount is None else period,
        _format_setting(network, account, rows.get("startAt"), entity),
        _format_setting(network, account, rows.get("endAt"), entity),
    )


def _format_setting(network: Network, account: Account, setting: Setting | None, entity: NativeEntity) -> str | None:
    value = None if setting is None else _read_setting(network, account, setting, entity)
    return None if value is None or value == "" else str(value)


def _read_setting(network: Network, account: Account, setting: Setting, entity: NativeEntity) -> Json:
    try:
        return get_display_value(network, account, setting, entity)
    except InvalidInput:  # the account lacks the currency or the time zone
        return None
