"""Pages of ad accounts: the list, and an account with its hierarchy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aiohttp import web

from adsunify.errors import AdsunifyError
from adsunify.problem_details import to_problem_details

from .entities import KINDS
from .request import PageRequest, PageRouter


def add_pages(router: PageRouter) -> None:
    """Add ``/accounts`` and ``/accounts/<id>``."""
    router.add_get("/accounts", show_accounts)
    router.add_get("/accounts/{accountId}", show_account)


async def show_accounts(visit: PageRequest) -> web.Response:
    """Show every ad account of the workspace."""
    return visit.render_page("accounts.html", accounts=await visit.call_endpoint("get_accounts"))


async def show_account(visit: PageRequest) -> web.Response:
    """Show an account with its hierarchy, or the error of the network."""
    id_ = visit.path_parameter("accountId")
    account = await visit.call_endpoint("get_account", accountId=id_)
    tree, problem = None, None
    try:
        tree = await visit.call_endpoint("get_account_tree", accountId=id_)
    except AdsunifyError as error:
        problem = to_problem_details(error)
    nodes = [] if tree is None else _nest_nodes(tree["nodes"])
    paths = {kind: word for word, kind in KINDS.items()}
    return visit.render_page(
        "account.html", account=account, tree=tree, nodes=nodes, words_in_paths=paths, problem=problem
    )


def _nest_nodes(nodes: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Turn the flat hierarchy into branches: each node with its ``children``."""
    branches = {(node["kind"], node["id"]): {**node, "children": []} for node in nodes}
    by_id = {id_: node for (_, id_), node in branches.items()}
    roots: list[dict[str, Any]] = []
    for node in branches.values():
        parent = by_id.get(node["parentId"]) if node["parentId"] is not None else None
        (roots if parent is None or parent is node else parent["children"]).append(node)
    return roots
