"""Pages of campaigns, ad groups and ads: searched, filtered, paused, activated, and edited.

Each change is prepared as an operation, and the person is led to its review.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import timedelta
from decimal import Decimal
from functools import partial
from typing import Any
from urllib.parse import quote

from aiohttp import web
from attrs import frozen

from adsunify.adapter.network import Level, get_level
from adsunify.errors import AdsunifyError, InvalidInput, NotFound, ProviderError, invalid_input
from adsunify.networks.registry import get_adapter
from adsunify.plans.records import Kind
from adsunify.problem_details import to_problem_details
from adsunify.review.entity_budgets import find_budget
from adsunify.values.exact_json import Json, dumps

from . import wording
from .batches import make_address
from .request import PageRequest, PageRouter

KINDS: Mapping[str, Kind] = {"campaigns": "campaign", "ad-groups": "adGroup", "ads": "ad"}
"""The word in the path of a page -> the level that it shows."""
FILTERS = ("search", "status", "parent")
PAGE_SIZE = 50
MAX_EMPTY_PAGES = 10
"""How many pages without a matching row are read before the page is shown."""
SPEND_DAYS = 7
"""How many days of spend the list shows, if a sync has stored them."""
UNIFIED_FIELDS = (
    *("name", "budget", "startAt", "endAt", "bid", "bidStrategy", "targetCpa", "targetRoas", "spendCap"),
    *("frequencyCap", "conversionGoals", "url", "brandName"),
)
"""The fields of all networks (docs/spec.md, "Edit body"). The page folds away the others."""
NEXT_STATUS: Mapping[str, str] = {"active": "paused", "paused": "active"}
STATUS_ACTS: Mapping[str, str] = {"active": "Activate", "paused": "Pause"}
"""A status -> the verb that sets it."""


@frozen
class EntityField:
    """A field of an entity on its page. ``text`` is its value in the form; ``note`` describes the accepted form."""

    name: str
    text: str
    note: str
    choices: tuple[str, ...]
    locked: str | None


def add_pages(router: PageRouter) -> None:
    """Add ``/accounts/<id>/campaigns``, ``ad-groups`` and ``ads``, and the pages of entities below them."""
    for word, kind in KINDS.items():
        path = f"/accounts/{{accountId}}/{word}"
        router.add_get(path, partial(show_entities, word=word, kind=kind))
        router.add_post(path, partial(set_statuses, word=word, kind=kind))
        router.add_get(f"{path}/{{entityId}}", partial(show_entity, word=word, kind=kind))
        router.add_post(f"{path}/{{entityId}}", partial(edit_entity, word=word, kind=kind))


# -- the entities of a level --------------------------------------------------------------------------------------


async def show_entities(visit: PageRequest, word: str, kind: Kind) -> web.Response:
    """Show a page of entities with their status, budget and spend."""
    return await _render_entities(visit, word, kind)


async def set_statuses(visit: PageRequest, word: str, kind: Kind) -> web.Response:
    """Prepare a new status for one entity or for the ticked entities, and redirect to the review.

    The button ``only`` names an entity and its new status as ``<status>:<id>``.
    """
    account_id = visit.path_parameter("accountId")
    status, _, only = visit.form.get("only", "").partition(":")
    entity_ids = [only] if only else visit.list_ticked("entity")
    status = status or visit.form.get("status", "")
    try:
        if not entity_ids:
            raise invalid_input("", "required", "Tick the rows that you want to change.")
        body = {"accountId": account_id, "kind": kind, "entityIds": list(entity_ids), "status": status}
        prepared = (await visit.call_endpoint("post_bulk_status", body))["operations"]
    except (InvalidInput, NotFound, ProviderError) as problem:
        return await _render_entities(visit, word, kind, problem)
    ids = [operation["id"] for operation in prepared]
    return visit.redirect(f"/review/{ids[0]}" if len(ids) == 1 else make_address(ids))


async def _render_entities(
    visit: PageRequest, word: str, kind: Kind, problem: AdsunifyError | None = None
) -> web.Response:
    account = await visit.call_endpoint("get_account", accountId=visit.path_parameter("accountId"))
    level = get_level(get_adapter(account["network"]).network, kind)
    filters = {name: value for name in FILTERS if (value := visit.request.query.get(name, "").strip())}
    rows: Sequence[Mapping[str, Any]] = ()
    cursor: str | None = None
    try:
        rows, cursor = await _read_rows(visit, word, level, filters)
    except AdsunifyError as error:
        problem = problem or error
    spend = await _read_spend(visit, account, kind) if rows else None
    return visit.render_page(
        "entities.html",
        200 if problem is None else problem.status,
        account=account,
        word=word,
        levels=_list_levels(account["network"]),
        level=level,
        child=_find_child(account["network"], kind),
        rows=[_describe_row(account, row, spend) for row in rows],
        has_spend=spend is not None,
        next_status=NEXT_STATUS,
        acts=STATUS_ACTS,
        filters=filters,
        statuses=_list_statuses(level),
        ticked=set(visit.list_ticked("entity")),
        is_first="cursor" not in visit.request.query,
        following=None if cursor is None else {**filters, "cursor": cursor},
        days=SPEND_DAYS,
        problem=None if problem is None else to_problem_details(problem),
    )


async def _read_rows(
    visit: PageRequest, word: str, level: Level, filters: Mapping[str, str]
) -> tuple[list[Mapping[str, Any]], str | None]:
    """Read entities until some match, and return them with the cursor of the next page."""
    query = {"limit": str(PAGE_SIZE)}
    query |= {name: filters[key] for key, name in (("search", "search"), ("parent", "parentId")) if key in filters}
    status = filters.get("status", "")
    is_native = status in level.status_filters
    if is_native:
        query["status"] = status
    if "cursor" in visit.request.query:
        query["cursor"] = visit.request.query["cursor"]
    endpoint = f"get_account_{word.replace('-', '_')}"
    rows: list[Mapping[str, Any]] = []
    cursor: str | None = None
    async for page in visit.read_pages(
        endpoint, MAX_EMPTY_PAGES, query=query, accountId=visit.path_parameter("accountId")
    ):
        rows = [row for row in page.data if not status or is_native or row["status"] == status]
        cursor = page.next_cursor
        if rows:
            break
    return rows, cursor


async def _read_spend(
    visit: PageRequest, account: Mapping[str, Any], kind: Kind
) -> Mapping[str, Decimal | None] | None:
    """Return the synced spend of entities by id; None if no sync has stored all of these days."""
    now = visit.service.now()
    last = now.date() - timedelta(days=1)
    query = {
        "startDate": (last - timedelta(days=SPEND_DAYS - 1)).isoformat(),
        "endDate": last.isoformat(),
        "level": kind,
        "asOf": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    spend: defaultdict[str, Decimal | None] = defaultdict(Decimal)
    try:
        async for page in visit.read_pages(
            "get_account_insights", MAX_EMPTY_PAGES, query=query, accountId=account["accountId"]
        ):
            for row in page.data["rows"]:
                before, day = spend[row["entityId"]], row["spend"]
                spend[row["entityId"]] = None if day is None or before is None else before + Decimal(day)
    except (InvalidInput, NotFound):  # the network does not report the level, or no sync has stored the days
        return None
    return spend


def _describe_row(
    account: Mapping[str, Any], row: Mapping[str, Any], spend: Mapping[str, Decimal | None] | None
) -> dict[str, Any]:
    budget = find_budget(account, row)
    spent = None if spend is None else spend.get(row["id"])
    return {
        **row,
        "budget": ""
        if budget is None
        else f"{wording.format_amount(budget.amount, account)} {wording.PERIOD_WORDS.get(budget.period, '')}".rstrip(),
        "spend": "" if spent is None else wording.format_amount(str(spent), account),
    }


def _list_levels(network: str) -> list[tuple[str, str, str]]:
    """List the levels of a network: the word in the path, the unified name, and the network's own name."""
    native = {level.kind: level.native for level in get_adapter(network).network.levels}
    names = {"campaigns": "Campaigns", "ad-groups": "Ad groups", "ads": "Ads"}
    return [(word, names[word], native[kind]) for word, kind in KINDS.items() if kind in native]


def _find_child(network: str, kind: Kind) -> str | None:
    """Return the word in the path of the level below, if the network has this level."""
    children = {level.parent_kind: level.kind for level in get_adapter(network).network.levels}
    return next((word for word, kind_of_word in KINDS.items() if kind_of_word == children.get(kind)), None)


def _list_statuses(level: Level) -> list[tuple[str, str]]:
    """List the statuses of the filter: the unified statuses, then the statuses of the network."""
    unified = [(status, status) for status in dict.fromkeys(level.unified_statuses.values())]
    known = {status for status, _ in unified}
    return [
        *unified,
        *(
            (native_status, f"{native_status.lower().replace('_', ' ')}")
            for native_status in level.status_filters
            if native_status not in known
        ),
    ]


# -- one entity ---------------------------------------------------------------------------------------------------


async def show_entity(visit: PageRequest, word: str, kind: Kind) -> web.Response:
    """Show an entity, and the form that edits it."""
    return await _render_entity(visit, word, kind)


async def edit_entity(visit: PageRequest, word: str, kind: Kind) -> web.Response:
    """Prepare an edit of the fields that the person has changed, and redirect to its review."""
    ids = {name: visit.path_parameter(name) for name in ("accountId", "entityId")}
    fields: dict[str, Json] = {
        name.removeprefix("field."): value.strip()
        for name, value in visit.form.items()
        if name.startswith("field.") and value.strip() != visit.form.get(name.replace("field.", "was.", 1), "").strip()
    }
    try:
        if not fields:
            raise invalid_input("", "required", "Change a field first. Nothing was prepared.")
        endpoint = f"post_account_{word.replace('-', '_').removesuffix('s')}_edit"
        prepared = await visit.call_endpoint(endpoint, {"fields": fields}, **ids)
    except (InvalidInput, ProviderError) as problem:
        return await _render_entity(visit, word, kind, problem)
    return visit.redirect(f"/review/{prepared['id']}")


async def _render_entity(
    visit: PageRequest, word: str, kind: Kind, problem: AdsunifyError | None = None
) -> web.Response:
    ids = {name: visit.path_parameter(name) for name in ("accountId", "entityId")}
    account = await visit.call_endpoint("get_account", accountId=ids["accountId"])
    endpoint = f"get_account_{word.replace('-', '_').removesuffix('s')}"
    entity = await visit.call_endpoint(endpoint, **ids)
    settings = await visit.call_endpoint(f"{endpoint}_settings", **ids)
    fields = [_describe_field(account, row) for row in settings["fields"] if row["field"] not in ("status",)]
    issues = {issue.path: issue.message for issue in problem.issues} if isinstance(problem, InvalidInput) else {}
    editable_paths = {f"fields.{field.name}" for field in fields if field.locked is None}
    parent = get_level(get_adapter(account["network"]).network, kind).parent_kind
    return visit.render_page(
        "entity.html",
        200 if problem is None else problem.status,
        account=account,
        word=word,
        kind=kind,
        entity=_describe_row(account, entity, None),
        parent_word=next((level_word for level_word, kind_of_word in KINDS.items() if kind_of_word == parent), None),
        child=_find_child(account["network"], kind),
        children={"parent": ids["entityId"]},
        path=f"/accounts/{ids['accountId']}/{word}/{quote(ids['entityId'], safe='')}",
        next_status=NEXT_STATUS.get(entity["status"] or ""),
        acts=STATUS_ACTS,
        main=[field for field in fields if field.locked is None and field.name in UNIFIED_FIELDS],
        more=[field for field in fields if field.locked is None and field.name not in UNIFIED_FIELDS],
        locked=[field for field in fields if field.locked is not None],
        typed=visit.form,
        issues=issues,
        problem=None if problem is None or (issues and set(issues) <= editable_paths) else to_problem_details(problem),
    )


def _describe_field(account: Mapping[str, Any], row: Mapping[str, Any]) -> EntityField:
    value, unit = row["value"], row["unit"]
    is_money = unit is not None and unit == account["currency"]
    limits = [f"{words} {row[name]}" for name, words in (("min", "at least"), ("max", "at most")) if row.get(name)]
    notes = {
        "day": "a day, such as 2030-01-15",
        "instant": "such as 2030-01-15T08:00:00Z",
        "list": "with commas",
    }
    period = wording.PERIOD_WORDS.get(row.get("period") or "", "")
    note = ", ".join(filter(None, (f"{unit} {period}".strip() if is_money else notes.get(unit or "", ""), *limits)))
    choices = ("true", "false") if unit == "flag" else tuple(row.get("choices") or ())
    return EntityField(row["field"], _format_field(value), note, choices, row["locked"])


def _format_field(value: Json) -> str:
    """Format the value of a field as an edit takes it."""
    if isinstance(value, list):
        return ", ".join(_format_field(element) for element in value)
    return "" if value is None else value if isinstance(value, str) else dumps(value)
