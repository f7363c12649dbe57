"""Campaigns as a file: ``adsunify diff``, ``adsunify apply`` and ``adsunify import``."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path

import click

from adsunify.answers import ChangeSet
from adsunify.client import Ads
from adsunify.errors import InvalidInput
from adsunify.models.error_messages import FILE
from adsunify.review.names import is_whole_id
from adsunify.values.exact_json import Json, dumps

from . import output
from .change_sets import Tracker, change_set_parts, confirm_change_set, exit_unless_succeeded, report_stop
from .completion import account_argument
from .files import load_document
from .names import choose_accounts, find_account
from .options import Target, data_option, document_argument, idempotency_option, target_options
from .progress import show_progress

DOCUMENT = "document"
"""The member of a request that holds the document."""
DIFFERENCE_EXIT_CODE = 3
MAX_VALUE_WIDTH = 30
"""The maximum width of a value in a difference. Longer values are cut; --json shows them."""
LABEL_WIDTH = 14
delete_option = click.option(
    "--delete", is_flag=True, help="Delete what the file does not name any more, instead of pausing it."
)


@click.command()
@document_argument
@delete_option
@click.option("--exit-code", is_flag=True, help="Exit with 3 if something differs.")
@data_option
@target_options
@click.pass_context
def diff(ctx: click.Context, target: Target, file: Path, delete: bool, exit_code: bool, as_json: bool) -> None:
    """Compare FILE with the networks.

    FILE describes the desired state as YAML or JSON ("-" reads stdin). It names accounts as the other commands do. The
    command lists what is to be created, changed and paused, and what somebody has changed outside. Nothing is written.
    """
    document = load_document(file)
    with target.open_client("Reading the networks") as client, report_file_errors():
        difference = client.files.diff(document=fill_account_ids(client, document), delete=delete).to_dict()
    output.print_result(difference, as_json, diff_lines(difference))
    if exit_code and not difference["isEmpty"]:
        ctx.exit(DIFFERENCE_EXIT_CODE)


@click.command()
@document_argument
@click.option("--confirmed", is_flag=True, help="Write it without asking; you have read the diff.")
@delete_option
@click.option("--skip-invalid", is_flag=True, help="Leave out the changes that are refused.")
@idempotency_option
@data_option
@target_options
@click.pass_context
def apply(
    ctx: click.Context,
    target: Target,
    file: Path,
    confirmed: bool,
    delete: bool,
    skip_invalid: bool,
    idempotency_key: str | None,
    as_json: bool,
) -> None:
    """Make the networks agree with FILE.

    The command shows the differences and prepares one change set of them. It writes with --confirmed, or after a person
    on a terminal agrees. Otherwise the change set waits 30 minutes for its review page, or for `adsunify
    change-set execute`. What the file does not name any more is paused. Applying again does nothing. Exit code 1: a
    network refused something, or an outcome is unknown. 2: changes are invalid, and nothing was prepared.
    """
    document = load_document(file)
    with target.make_client() as client, report_file_errors():
        with show_progress("Reading the networks"):
            document = fill_account_ids(client, document)
            difference = client.files.diff(document=document, delete=delete).to_dict()
        if difference["isEmpty"]:
            output.print_result(difference, as_json, diff_lines(difference))
            return
        if not as_json or _can_ask(confirmed):
            output.print_parts(output.make_console(stderr=as_json), diff_lines(difference))
        with show_progress("Preparing the changes") as progress:
            change_set = client.files.apply(
                document=document, delete=delete, skip_invalid=skip_invalid, idempotency_key=idempotency_key
            )
            prepared = client.change_sets.wait(change_set, progress=Tracker(progress).show_change_set)
        done = _execute_if_confirmed(client, prepared, confirmed)
    output.print_result(done.to_dict(), as_json, ["", *change_set_parts(done.to_dict())])
    if done.status == "invalid":
        report_stop(done)
        output.print_message("Nothing was prepared. Correct the file, or leave these changes out with --skip-invalid.")
        ctx.exit(2)
    if done.status == "prepared" and done.error is None:
        output.print_message(f"Nothing is written yet. Review and execute it: {done.review_url}")
    elif done.status != "cancelled":
        exit_unless_succeeded(ctx, done)


def _can_ask(confirmed: bool) -> bool:
    """Whether a person on a terminal is asked."""
    return not confirmed and sys.stdin.isatty()


def _execute_if_confirmed(client: Ads, prepared: ChangeSet, confirmed: bool) -> ChangeSet:
    """Execute a prepared change set if a person agrees; cancel it if a person on a terminal declines."""
    if prepared.status != "prepared" or prepared.digest is None or not (confirmed or _can_ask(confirmed)):
        return prepared
    if not confirmed and not confirm_change_set(prepared, change_set_parts(prepared.to_dict())):
        return client.change_sets.cancel(prepared)
    with show_progress("Executing the changes") as progress:
        client.change_sets.execute(prepared, confirmed=True, digest=prepared.digest)
        return client.change_sets.wait(prepared, progress=Tracker(progress).show_change_set)


@click.command("import")
@account_argument
@data_option
@target_options
def import_(target: Target, account: str, as_json: bool) -> None:
    """Print the entities of ACCOUNT as a file.

    The file has every campaign, ad group and ad that is not deleted, with the fields that an edit can change.
    `adsunify diff` finds no difference in it.
    """
    with target.open_client("Reading the account") as client:
        entities = [entity.to_dict() for entity in client.accounts.entities(find_account(client, account))]
    if as_json:
        click.echo(dumps({"entities": entities}))
        return
    from adsunify.models.yaml_text import format_yaml  # imported late: most commands write no YAML

    click.echo(format_yaml({"entities": entities}), nl=False)


@contextmanager
def report_file_errors() -> Iterator[None]:
    """Replace the paths of issues in the request by their paths in the file."""
    try:
        yield
    except InvalidInput as problem:
        paths = [issue.path.removeprefix(DOCUMENT).lstrip(".") or FILE for issue in problem.issues]
        raise InvalidInput(
            [issue._replace(path=path) for issue, path in zip(problem.issues, paths, strict=True)]
        ) from None


def fill_account_ids(client: Ads, document: Mapping[str, Json]) -> Json:
    """Return the document with the names of accounts replaced by their ids. Raises InvalidInput."""
    filled = deepcopy(dict(document))
    rows = [(f"entities.{index}", row) for index, row in enumerate(_list_rows(filled.get("entities")))]
    launches = filled.get("launches")
    for name, launch in launches.items() if isinstance(launches, dict) else ():
        members = launch.get("accounts") if isinstance(launch, dict) else None
        rows += [(f"launches.{name}.accounts.{index}", row) for index, row in enumerate(_list_rows(members))]
    named = [
        (f"{path}.accountId", row)
        for path, row in rows
        if isinstance(row, dict) and isinstance(row.get("accountId"), str) and not is_whole_id(row["accountId"])
    ]
    accounts = client.accounts.list().all() if named else []
    for path, row in named:
        (account,) = choose_accounts(path, [row["accountId"]], accounts)
        row["accountId"] = account.account_id
    return filled


def _list_rows(value: Json) -> Sequence[Json]:
    return value if isinstance(value, list) else ()


# -- what is printed ----------------------------------------------------------------------------------------------


def diff_lines(difference: Mapping[str, Json]) -> Iterator[str]:
    """Yield a diff as lines: + to create, ~ to change, - to pause or delete, ! changed outside."""
    for cell in difference["create"]:
        yield f"+ create  {output.to_plain_text(cell['launch'])} / {cell['key']} on {cell['network']}"
        if cell["blocked"] is not None:
            yield f"          {output.to_plain_text(cell['blocked'])}"
    for entity in difference["pause"]:
        yield f"- {entity['action']:7} {_describe_entity(entity)}"
    drifted = {_get_place(entity): entity for entity in difference["drifted"]}
    for entity in difference["change"]:
        yield f"~ change  {_describe_entity(entity)}"
        yield from _change_lines(entity["fields"])
        yield from _drift_lines(drifted.pop(_get_place(entity), {}).get("fields", ()))
    for entity in drifted.values():
        yield f"! drift   {_describe_entity(entity)}"
        yield from _drift_lines(entity["fields"])
    for cell in difference["notCompared"]:
        if cell["changed"]:
            yield f"? changed {output.to_plain_text(cell['launch'])} / {cell['key']}, and not applied:"
            yield f"    {', '.join(cell['changed'])}"
    members = sorted({member for cell in difference["notCompared"] for member in cell["members"]})
    if members:
        yield f"Not compared, because no read shows them: {', '.join(members)}."
    if difference["isEmpty"]:
        yield "Nothing differs."
        return
    counts = (("create", "to create"), ("change", "to change"), ("pause", "to pause or delete"), ("drifted", "drifted"))
    yield ", ".join(f"{len(difference[name])} {words}" for name, words in counts) + "."


def _get_place(entity: Mapping[str, Json]) -> tuple[Json, ...]:
    return entity["accountId"], entity["kind"], entity["entityId"]


def _describe_entity(entity: Mapping[str, Json]) -> str:
    name = "" if entity["name"] is None else f"  {output.to_plain_text(entity['name'])}"
    return f"{entity['network']} {entity['kind']} {output.to_plain_text(entity['entityId'])}{name}"


def _change_lines(fields: Iterable[Mapping[str, Json]]) -> Iterator[str]:
    for row in fields:
        yield f"    {row['field']:{LABEL_WIDTH}} {_format_value(row['before'])} -> {_format_value(row['after'])}"
        if row["locked"] is not None:
            yield f"    {'':{LABEL_WIDTH}} locked: {output.to_plain_text(row['locked'])}"


def _drift_lines(fields: Iterable[Mapping[str, Json]]) -> Iterator[str]:
    for row in fields:
        if row["field"] == "entity":
            yield f"  ! {'':{LABEL_WIDTH}} The account does not have it any more."
            continue
        planned, current = _format_value(row["planned"]), _format_value(row["found"])
        yield f"  ! {row['field']:{LABEL_WIDTH}} {planned} was written; changed outside to {current}"


def _format_value(value: Json) -> str:
    text = "not set" if value is None else output.to_plain_text(value if isinstance(value, str) else dumps(value))
    return text if len(text) <= MAX_VALUE_WIDTH else f"{text[: MAX_VALUE_WIDTH - 3]}..."
