"""Changes of existing entities: pause, unpause, edit and delete. Each prepares operations; nothing is written yet."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, Literal

import click

from adsunify.answers import Account, Operation
from adsunify.client import Ads
from adsunify.contract.requests import Status
from adsunify.errors import invalid_input
from adsunify.plans.records import Kind
from adsunify.values.exact_json import Json

from . import output
from .completion import account_argument
from .entities import RESOURCES
from .names import KINDS, find_account, find_entities
from .options import Target, data_option, idempotency_option, target_options
from .suggestions import Choice

SETTING = re.compile(r"([^=+\-]+)(=|\+=|-=)(.*)", re.DOTALL)
SETTING_EXAMPLES = "must be written FIELD=VALUE, such as budget=25.00"
MODES: Mapping[str, Literal["set", "increase", "decrease"]] = {"=": "set", "+=": "increase", "-=": "decrease"}
entities_argument = click.argument("entities", nargs=-1, required=True, metavar="ENTITY...")


def change_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that all commands of changes have."""
    for option in (
        target_options,
        data_option,
        idempotency_option,
        click.option(
            "--kind",
            type=Choice([*KINDS]),
            help="The level of the entities.  [default: looked up in the account's tree]",
        ),
    ):
        command = option(command)
    return command


def _prepare_status(
    target: Target, account: str, entities: Sequence[str], kind: str | None, key: str | None, status: Status
) -> tuple[Account, list[Operation]]:
    with target.open_client("Preparing the change") as client:
        owner, level = _find_subject(client, account, entities, kind)
        prepared = client.bulk.status(owner, kind=level, entities=entities, status=status, idempotency_key=key)
    return owner, prepared.operations


def _find_subject(client: Ads, account: str, entities: Sequence[str], kind: str | None) -> tuple[Account, Kind]:
    owner = find_account(client, account)
    return owner, find_entities(client, owner, entities, None if kind is None else KINDS[kind])


@click.command()
@account_argument
@entities_argument
@change_options
def pause(
    target: Target, account: str, entities: Sequence[str], kind: str | None, idempotency_key: str | None, as_json: bool
) -> None:
    """Prepare to pause entities of ACCOUNT; nothing is written yet.

    ENTITY is the id of a campaign, an ad group or an ad, as `adsunify campaigns` and `adsunify tree` show it. Each
    entity gets an operation. Read the plans, then run `adsunify execute` with them.
    """
    owner, operations = _prepare_status(target, account, entities, kind, idempotency_key, "paused")
    _print_many(owner, operations, as_json)


@click.command()
@account_argument
@entities_argument
@change_options
def unpause(
    target: Target, account: str, entities: Sequence[str], kind: str | None, idempotency_key: str | None, as_json: bool
) -> None:
    """Prepare to activate entities of ACCOUNT; nothing is written yet.

    ENTITY is the id of a campaign, an ad group or an ad. Each entity gets an operation. Executing it can spend money.
    """
    owner, operations = _prepare_status(target, account, entities, kind, idempotency_key, "active")
    _print_many(owner, operations, as_json)


@click.command()
@account_argument
@click.argument("entity")
@click.argument("settings", nargs=-1, required=True, metavar="FIELD=VALUE...")
@change_options
def edit(
    target: Target,
    account: str,
    entity: str,
    settings: Sequence[str],
    kind: str | None,
    idempotency_key: str | None,
    as_json: bool,
) -> None:
    """Prepare an edit of an entity of ACCOUNT; nothing is written yet.

    FIELD is a setting of the entity, such as budget, bid or name; `adsunify networks NETWORK` lists them. Amounts are
    in the account's currency. An empty VALUE clears the field, where that is possible.
    """
    fields = dict(_parse_setting(setting, ["="])[::2] for setting in settings)
    with target.open_client("Preparing the edit") as client:
        owner, level = _find_subject(client, account, [entity], kind)
        resource = RESOURCES[level](client)
        operation = resource.edit(owner, entity, fields=fields, idempotency_key=idempotency_key)
    _print_one(owner, operation, as_json)


@click.command("bulk-edit")
@account_argument
@entities_argument
@click.argument("setting", metavar="FIELD=VALUE")
@change_options
def bulk_edit(
    target: Target,
    account: str,
    entities: Sequence[str],
    setting: str,
    kind: str | None,
    idempotency_key: str | None,
    as_json: bool,
) -> None:
    """Prepare one amount or number for several entities of ACCOUNT; nothing is written yet.

    FIELD=VALUE sets the value, such as budget=25.00. FIELD+=10% increases it, and FIELD-=10% decreases it. Each entity
    gets an operation. Read the plans, then run `adsunify execute` with them.
    """
    field, sign, value = _parse_setting(setting, list(MODES))
    mode, number = MODES[sign], _parse_number(value, is_percent=sign != "=")
    with target.open_client("Preparing the edits") as client:
        owner, level = _find_subject(client, account, entities, kind)
        prepared = client.bulk.edit(
            owner,
            kind=level,
            entities=entities,
            field=field,
            mode=mode,
            value=number,
            idempotency_key=idempotency_key,
        )
    _print_many(owner, prepared.operations, as_json)


@click.command()
@account_argument
@click.argument("entity")
@change_options
def delete(
    target: Target, account: str, entity: str, kind: str | None, idempotency_key: str | None, as_json: bool
) -> None:
    """Prepare the deletion of an entity of ACCOUNT; nothing is written yet.

    Some networks archive it instead. What was deleted cannot be restored.
    """
    with target.open_client("Preparing the deletion") as client:
        owner, level = _find_subject(client, account, [entity], kind)
        operation = RESOURCES[level](client).delete(owner, entity, idempotency_key=idempotency_key)
    _print_one(owner, operation, as_json)


def _parse_setting(text: str, signs: Sequence[str]) -> tuple[str, str, str]:
    """Return field, sign and value of an assignment. Raises InvalidInput."""
    match = SETTING.fullmatch(text)
    if match is None or match[2] not in signs:
        more = "." if len(signs) == 1 else ", or as a percentage: budget+=10%, budget-=10%."
        raise invalid_input("FIELD=VALUE", "malformed", SETTING_EXAMPLES + more)
    return match[1].strip(), match[2], match[3]


def _parse_number(text: str, *, is_percent: bool) -> Decimal:
    """Return the number of a bulk edit. Raises InvalidInput."""
    digits = text.removesuffix("%") if is_percent else text
    try:
        if is_percent is not text.endswith("%"):
            raise InvalidOperation
        return Decimal(digits)
    except InvalidOperation:
        message = "must be a percentage with +=, such as budget+=10%, and a number with =, such as budget=25.00."
        raise invalid_input("FIELD=VALUE", "malformed", message) from None


# -- what is printed ----------------------------------------------------------------------------------------------


def _print_one(account: Account, operation: Operation, as_json: bool) -> None:
    output.print_result(operation.to_dict(), as_json, _operation_parts(account, [operation]))


def _print_many(account: Account, operations: Sequence[Operation], as_json: bool) -> None:
    data: Json = {"operations": [operation.to_dict() for operation in operations]}
    output.print_result(data, as_json, _operation_parts(account, operations))


def _operation_parts(account: Account, operations: Sequence[Operation]) -> Iterator[str | output.TextTable]:
    """Yield each plan, and the command that executes them."""
    for operation in operations:
        yield from output.operation_parts(operation.to_dict(), account.to_dict())
        yield ""
    yield f"To execute: adsunify execute {' '.join(operation.id for operation in operations)}"
