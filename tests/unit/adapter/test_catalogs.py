"""Catalogs: where the next page begins is in the answer, or follows from the request that it answers."""

from __future__ import annotations

import pytest
from attrs import evolve

from adsunify.adapter.account import Account
from adsunify.adapter.catalogs import fetch_catalog_page
from adsunify.adapter.flows import run_flow
from adsunify.adapter.hierarchy import ListQuery
from adsunify.adapter.network import Catalog
from adsunify.http.messages import Request, Response
from adsunify.networks.registry import get_adapter

ROWS = [{"id": str(number), "name": f"page {number}"} for number in range(5)]


def build_request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    return Request("GET", f"https://{NETWORK.hosts[0]}/pages", query={"offset": cursor or "0", "limit": str(limit)})


def answer(request: Request) -> Response:
    """The rows of a page, and no word of where the next one begins."""
    start, count = (int(str(request.query[name])) for name in ("offset", "limit"))
    return Response(200, {}, {"rows": ROWS[start : start + count]})


def find_offset(request: Request, response: Response) -> str | None:
    start, count = (int(str(request.query[name])) for name in ("offset", "limit"))
    return str(start + count) if len(response.body["rows"]) == count else None


NETWORK = evolve(
    get_adapter("meta").network,
    catalogs=(Catalog("pages", build_request, "/rows", "/id", "/name", next_after=find_offset),),
)


@pytest.mark.parametrize(("limit", "pages"), [(2, [2, 2, 1]), (3, [3, 2]), (5, [5, 0])])
def test_the_next_cursor_may_follow_from_the_request(limit: int, pages: list[int]) -> None:
    cursor, counts = None, []
    while True:
        flow = fetch_catalog_page(NETWORK, Account("meta", "act_1"), "pages", ListQuery(limit=limit, cursor=cursor))
        page = run_flow(flow, answer)
        counts.append(len(page.rows))
        if (cursor := page.cursor) is None:
            break
    assert counts == pages
