"""What an account contains: its campaigns, ad groups and ads with budget and spend, its tree, and its catalogs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import islice

import click

from adsunify.adapter.network import get_level
from adsunify.answers import Account, Entity
from adsunify.client import Ads
from adsunify.client.resources.ad_groups import AdGroupsResource
from adsunify.client.resources.ads import AdsResource
from adsunify.client.resources.campaigns import CampaignsResource
from adsunify.errors import InvalidInput, NotFound, invalid_input
from adsunify.networks.registry import get_adapter
from adsunify.plans.records import Kind
from adsunify.review.entity_budgets import find_budget
from adsunify.values.exact_json import Json

from . import output
from .completion import account_argument
from .figures import align_metric
from .names import find_account
from .options import Target, csv_option, data_option, target_options
from .suggestions import suggest

KEPT_DAYS = 7
"""How many days of spend a list shows, if a sync has stored them."""
MAX_PAGE_SIZE = 100
RESOURCES: Mapping[Kind, Callable[[Ads], CampaignsResource | AdGroupsResource | AdsResource]] = {
    "campaign": lambda client: client.campaigns,
    "adGroup": lambda client: client.ad_groups,
    "ad": lambda client: client.ads,
}
"""The level of a hierarchy -> its resource of a client."""


# -- the entities of a level --------------------------------------------------------------------------------------


def _make_list_command(name: str, kind: Kind, words: str) -> click.Command:
    """Make the command that lists the entities of a level."""

    @click.command(name, help=f"List the {words} of ACCOUNT, with their status, budget and spend.\n\n{LIST_HELP}")
    @account_argument
    @click.option("--status", metavar="STATUS", help="Only those with this status: active, paused, or a native one.")
    @click.option("--search", metavar="TEXT", help="Only those with this text in their name.")
    @click.option("--parent", metavar="ID", help="Only those below this entity.")
    @click.option("--days", type=click.IntRange(1, 90), help="Read the spend of so many days from the network.")
    @click.option(
        "--limit", type=click.IntRange(min=1), default=50, show_default=True, help="How many to list at most."
    )
    @csv_option
    @data_option
    @target_options
    def list_entities(
        target: Target,
        account: str,
        status: str | None,
        search: str | None,
        parent: str | None,
        days: int | None,
        limit: int,
        as_json: bool,
    ) -> None:
        with target.open_client(f"Reading the {words}") as client:
            owner = find_account(client, account)
            native, unified = _choose_status(owner.network, kind, status)
            rows = RESOURCES[kind](client).list(
                owner, limit=min(limit, MAX_PAGE_SIZE), parent=parent, status=native, search=search
            )
            entities = [*islice((row for row in rows if unified in (None, row.status)), limit + 1)]
            spend = None if as_json else _read_spend(client, owner, kind, days)
        first_entities = entities[:limit]
        parts = _list_parts(owner, first_entities, spend, has_more=len(entities) > limit)
        output.print_result([entity.to_dict() for entity in first_entities], as_json, parts)

    return list_entities


LIST_HELP = (
    "The spend is that of the last 7 days, if `adsunify insights sync` has kept them; with --days, it is read from the "
    "network. Budgets are in the account's currency."
)


def _choose_status(network: str, kind: Kind, status: str | None) -> tuple[str | None, str | None]:
    """Return a filter as a native and a unified status, at most one of them set. Raises InvalidInput.

    The network applies a native status; this command applies a unified one.
    """
    level = get_level(get_adapter(network).network, kind)
    if status is None or status in level.status_filters:
        return status, None
    unified = [*dict.fromkeys(level.unified_statuses.values())]
    if status.lower() in unified:
        return None, status.lower()
    accepted = [*dict.fromkeys((*unified, *level.status_filters))]
    by_name = {text.lower(): text for text in accepted}
    raise invalid_input("--status", "choice", f"must be one of {', '.join(accepted)}.{suggest(status, [*by_name])}")


def _read_spend(client: Ads, account: Account, kind: Kind, days: int | None) -> Mapping[str, Decimal | None] | None:
    """Return the spend of entities by id; None if ``days`` is None and no sync has stored the spend.

    Args:
        client: the open client.
        account: the account.
        kind: the level.
        days: how many days to read from the network; None reads what a sync has stored.
    """
    last = datetime.now(UTC).date() - timedelta(days=1)
    first = last - timedelta(days=(days or KEPT_DAYS) - 1)
    as_of = datetime.now(UTC) if days is None else None
    spend: defaultdict[str, Decimal | None] = defaultdict(Decimal)
    try:
        for row in client.insights.report(account, first, last, level=kind, as_of=as_of):
            before = spend[row.entity_id]
            spend[row.entity_id] = None if row.spend is None or before is None else before + row.spend
    except (InvalidInput, NotFound):  # the network does not report the level, or a day was never synced
        if days is not None:
            raise
        return None
    return spend


def _list_parts(
    account: Account, entities: Sequence[Entity], spend: Mapping[str, Decimal | None] | None, *, has_more: bool
) -> Iterator[str | output.TextTable]:
    budgets = [find_budget(account.to_dict(), entity.to_dict()) for entity in entities]
    currency = output.to_plain_text(account.currency)
    columns: dict[output.Column, Sequence[Json]] = {
        output.Column("id"): [entity.id for entity in entities],
        output.Column("name", prose=True, prose_width=24): [entity.name for entity in entities],
        output.Column("status"): [entity.status or entity.native_status for entity in entities],
        output.Column("native status", rank=4): [entity.native_status for entity in entities],
        output.Column(f"budget {currency}".strip(), rank=1, number=True): _align_amounts(
            [None if budget is None else Decimal(budget.amount) for budget in budgets], account.currency
        ),
        output.Column("period", rank=2): ["" if budget is None else budget.period for budget in budgets],
        output.Column(f"spend {currency}".strip(), rank=3, number=True): _align_amounts(
            [None if spend is None else spend.get(entity.id) for entity in entities], account.currency
        ),
        output.Column("parent", rank=5): [entity.parent_id for entity in entities],
    }
    yield output.make_table([*columns], zip(*columns.values(), strict=True), hides_empty=True)
    if has_more:
        yield "There are more; --limit lists more of them, and --search or --status selects some."


def _align_amounts(amounts: Sequence[Decimal | None], currency: str | None) -> list[str]:
    return align_metric("spend", amounts, [currency] * len(amounts))


campaigns = _make_list_command("campaigns", "campaign", "campaigns")
ad_groups = _make_list_command("ad-groups", "adGroup", "ad groups")
ads = _make_list_command("ads", "ad", "ads")


# -- the tree -----------------------------------------------------------------------------------------------------


TREE_COLUMNS = (
    output.Column("level"),
    output.Column("id"),
    output.Column("name", prose=True, prose_width=24),
    output.Column("status", rank=1),
    output.Column("parent", rank=2),
)


@click.command()
@account_argument
@csv_option
@data_option
@target_options
def tree(target: Target, account: str, as_json: bool) -> None:
    """Show the campaigns of ACCOUNT with their ad groups and ads."""
    with target.open_client("Reading the account") as client:
        tree = client.accounts.tree(find_account(client, account)).to_dict()
    output.print_result(tree, as_json, _tree_parts(tree))


def _tree_parts(tree: Mapping[str, Json]) -> Iterator[str | output.TextTable]:
    levels = [level["kind"] for level in tree["levels"]]
    below: defaultdict[tuple[str, Json], list[Mapping[str, Json]]] = defaultdict(list)
    for node in tree["nodes"]:
        depth = levels.index(node["kind"])
        below["" if depth == 0 else levels[depth - 1], None if depth == 0 else node["parentId"]].append(node)

    def list_below(kind: str, id_: Json) -> Iterator[Sequence[Json]]:
        for node in below[kind, id_]:
            indent = "  " * levels.index(node["kind"])
            status = node["status"] or node["nativeStatus"]
            yield f"{indent}{node['kind']}", node["id"], node["name"], status, node["parentId"]
            yield from list_below(node["kind"], node["id"])

    yield output.make_table(TREE_COLUMNS, list_below("", None))
    if tree["truncated"]:
        yield "The account has more entities than were read. `adsunify campaigns`, `ad-groups` and `ads` list all."


# -- catalogs -----------------------------------------------------------------------------------------------------


CATALOG_COLUMNS = (output.Column("id"), output.Column("name", prose=True))
RESOURCE_COLUMNS = (
    output.Column("catalog"),
    output.Column("takes :text", rank=1),
    output.Column("note", rank=2, prose=True),
)


@click.command()
@account_argument
@click.argument("resource", required=False)
@click.option("--search", metavar="TEXT", help="Only rows with this text.")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="How many to list at most.")
@csv_option
@data_option
@target_options
def catalog(target: Target, account: str, resource: str | None, search: str | None, limit: int, as_json: bool) -> None:
    """List a catalog of ACCOUNT's network: pages, audiences, interests and others.

    Without RESOURCE, the catalogs of the network are listed. Some take a text after a colon.
    """
    parts: Iterable[str | output.TextTable]
    with target.open_client("Reading the catalog") as client:
        owner = find_account(client, account)
        declared = get_adapter(owner.network).network.catalogs
        names = [kind.resource for kind in declared]
        if resource is None:
            data: Json = [
                {"resource": kind.resource, "suffix": kind.suffix, "note": kind.note or None} for kind in declared
            ]
            parts = [output.make_table(RESOURCE_COLUMNS, [tuple(row.values()) for row in data])]
        elif resource.partition(":")[0] not in names:
            hint = suggest(resource.partition(":")[0], names)
            message = f"must be a catalog of {owner.network}: {', '.join(names) or 'it has none'}.{hint}"
            raise invalid_input("RESOURCE", "choice", message)
        else:
            pages = client.accounts.catalog(owner, resource, search=search, limit=min(limit, MAX_PAGE_SIZE))
            data = [row.to_dict() for row in islice(pages, limit)]
            parts = [output.make_table(CATALOG_COLUMNS, [(row["id"], row["name"]) for row in data])]
    output.print_result(data, as_json, parts)
