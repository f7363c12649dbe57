"""The page of the ledger: its rows, newest first, with filters. Only admins see it."""

from __future__ import annotations

from aiohttp import web

from adsunify.ledger import KIND_DESCRIPTIONS
from adsunify.service.sessions import list_members
from adsunify.values.exact_json import Json, dumps

from .request import PageRequest, PageRouter

FILTERS = ("kind", "network", "accountId", "actor", "since", "until")
"""The filters of the list, as its form names them."""
PAGE_SIZE = 50
MAX_EMPTY_PAGES = 20
"""How many pages without a row are passed over before the page is shown."""


def add_pages(router: PageRouter) -> None:
    """Add ``/ledger``."""
    router.add_get("/ledger", show_ledger)


async def show_ledger(visit: PageRequest) -> web.Response:
    """Show a page of the ledger, with filters and a link to older rows."""
    filters = {name: value for name in FILTERS if (value := visit.request.query.get(name))}
    midnights: dict[str, str] = {name: f"{filters[name]}T00:00:00Z" for name in ("since", "until") if name in filters}
    cursor = {"cursor": visit.request.query["cursor"]} if "cursor" in visit.request.query else {}
    query: dict[str, str] = {**filters, **midnights, "limit": str(PAGE_SIZE), **cursor}
    entries: list[Json] = []
    older: str | None = None
    async for page in visit.read_pages("get_ledger", MAX_EMPTY_PAGES, query=query):
        entries, older = page.data, page.next_cursor
        if entries:
            break
    accounts = await visit.call_endpoint("get_accounts")
    return visit.render_page(
        "ledger.html",
        entries=[(entry, _dump(entry["before"]), _dump(entry["after"])) for entry in entries],
        accounts=accounts,
        account_names={account["accountId"]: account["name"] or account["nativeId"] for account in accounts},
        networks=sorted({account["network"] for account in accounts}),
        emails={member["userId"]: member["email"] for member in await list_members(visit.service, visit.actor)},
        kinds=KIND_DESCRIPTIONS,
        filters=filters,
        is_first=not cursor,
        older=None if older is None else {**filters, "cursor": older},
    )


def _dump(state: Json) -> str | None:
    return None if state is None else dumps(state)
