"""The page on which a person makes a launch: in a form, or as a file in JSON or YAML."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from aiohttp import web

from adsunify.contract import ENDPOINTS_BY_ID
from adsunify.contract.access import authorize
from adsunify.errors import AdsunifyError, InvalidInput, NotFound, invalid_input
from adsunify.launches.cells import Cell, locate_issue
from adsunify.models.documents import parse_document
from adsunify.models.launch import NewLaunch
from adsunify.models.parsing import parse_model
from adsunify.models.yaml_text import format_yaml
from adsunify.networks.registry import get_adapter
from adsunify.networks.samples import make_brief
from adsunify.problem_details import to_problem_details
from adsunify.review.names import make_account_candidate, resolve_launch_accounts
from adsunify.service.launches.use_cases import make_launch_cells
from adsunify.values.exact_json import Json
from adsunify_server.pages.request import PageRequest

from .form import NAME_TEMPLATE, SPLITS, build_document, list_launch_fields, place_issues

MAX_SAMPLE_ACCOUNTS = 5
"""The most accounts of the sample launch; each is on another network."""


async def show_new(visit: PageRequest) -> web.Response:
    """Show the ways to make a launch. ``?sample=1`` on simulated networks fills in a launch that works."""
    accounts = await _list_accounts(visit)
    text = ""
    if visit.request.query.get("sample") and visit.is_sandbox:
        text = format_yaml(_make_sample(visit, accounts))
    return await _render_file_page(visit, accounts, text)


async def submit_new(visit: PageRequest) -> web.Response:
    """Check a launch, show it as a form or as a file, or prepare it and redirect to its page."""
    authorize(visit.actor, ENDPOINTS_BY_ID["post_launches"])
    accounts = await _list_accounts(visit)
    if visit.form.get("by") == "file":
        return await _submit_file(visit, accounts)
    return await _submit_form(visit, accounts)


async def _list_accounts(visit: PageRequest) -> list[Mapping[str, Any]]:
    accounts = await visit.call_endpoint("get_accounts")
    return [account for account in accounts if account["status"] != "disconnected"]


async def _prepare(visit: PageRequest, document: Mapping[str, Json]) -> web.Response:
    launch = await visit.call_endpoint("post_launches", dict(document))
    return visit.redirect(visit.add_following(f"/launches/{launch['launchId']}"))


# -- checking -----------------------------------------------------------------------------------------------------


async def _check(visit: PageRequest, document: Mapping[str, Json]) -> list[Cell]:
    """Return the cells of a launch. Raises InvalidInput with all issues.

    The networks' own rules are checked with the first valid cell of each network, which may send look-ups.
    """
    launch = parse_model(NewLaunch, document)
    cells = await make_launch_cells(visit.service, visit.actor, launch=launch)
    issues = [issue for cell in cells for issue in cell.issues]
    firsts: dict[str, tuple[int, Cell]] = {}
    for position, cell in enumerate(cells):
        if cell.brief is not None:
            firsts.setdefault(cell.network, (position, cell))
    refusals = await asyncio.gather(*(_validate(visit, position, cell) for position, cell in firsts.values()))
    issues += [issue for refusal in refusals for issue in refusal]
    if issues:
        raise InvalidInput(issues)
    return cells


async def _validate(visit: PageRequest, position: int, cell: Cell) -> list[Any]:
    try:
        await visit.call_endpoint("post_validate_campaign", {"accountId": cell.account_id, "campaign": cell.brief})
    except InvalidInput as problem:
        return [
            locate_issue(position, issue._replace(path=issue.path.removeprefix("campaign.")))
            for issue in problem.issues
        ]
    return []


def _summarize(cells: Sequence[Cell]) -> list[tuple[str, int, list[str]]]:
    """List the networks of valid cells: the code, how many cells, and what is left out of the shared brief."""
    by_network: dict[str, list[Cell]] = {}
    for cell in cells:
        by_network.setdefault(cell.network, []).append(cell)
    return [
        (code, len(group), list(dict.fromkeys(path for cell in group for path in cell.left_out)))
        for code, group in by_network.items()
    ]


# -- as a file ----------------------------------------------------------------------------------------------------


async def _submit_file(visit: PageRequest, accounts: Sequence[Mapping[str, Any]]) -> web.Response:
    content = visit.files.get("file", b"") or visit.form.get("document", "").encode("utf-8")
    text = content.decode("utf-8", "replace")
    try:
        if not text.strip():
            raise invalid_input("FILE", "required", "must be chosen or pasted.")
        document = resolve_launch_accounts(
            parse_document(content),
            lambda: [
                make_account_candidate(account["accountId"], account["network"], account["nativeId"], account["name"])
                for account in accounts
            ],
        )
        if visit.form.get("act") == "prepare" and not visit.files.get("file"):
            return await _prepare(visit, document)
        cells = await _check(visit, document)
    except (InvalidInput, NotFound) as problem:
        return await _render_file_page(visit, accounts, text, problem)
    return await _render_file_page(visit, accounts, text, valid=_summarize(cells))


async def _render_file_page(
    visit: PageRequest,
    accounts: Sequence[Mapping[str, Any]],
    text: str,
    problem: AdsunifyError | None = None,
    valid: object = None,
) -> web.Response:
    return visit.render_page(
        "launch-new.html",
        200 if problem is None else problem.status,
        accounts=accounts,
        has_sample=visit.is_sandbox and not text,
        document=text,
        valid=valid,
        problem=None if problem is None else to_problem_details(problem),
    )


def _make_sample(visit: PageRequest, accounts: Sequence[Mapping[str, Any]]) -> dict[str, Json]:
    """Make a launch on the first account of each of some networks, with the briefs of the networks' samples."""
    chosen: dict[str, Mapping[str, Any]] = {}
    for account in accounts:
        if account["currency"] and account["timezone"]:
            chosen.setdefault(account["network"], account)
    networks: dict[str, Json] = {}
    rows: list[Json] = []
    for code, account in [*chosen.items()][:MAX_SAMPLE_ACCOUNTS]:
        brief = make_brief(code, account["currency"], account["timezone"], visit.service.now())
        budget = brief.pop("budget")
        networks[code] = {name: value for name, value in brief.items() if name != "name" and value}
        rows.append({"accountId": account["accountId"], "key": code, "campaign": {"budget": budget}})
    return {
        "name": "Garden chairs",
        "nameTemplate": "{launch}, {network}",
        "campaign": {"targeting": {}, "creative": {}},
        "networks": networks,
        "accounts": rows,
    }


# -- in a form ----------------------------------------------------------------------------------------------------


async def _submit_form(visit: PageRequest, accounts: Sequence[Mapping[str, Any]]) -> web.Response:
    ticked = set(visit.list_ticked("account"))
    chosen = [account for account in accounts if account["accountId"] in ticked]
    if not chosen:
        problem = invalid_input("", "required", "Tick at least one account.")
        return await _render_file_page(visit, accounts, "", problem)
    document, act = build_document(visit.form, chosen), visit.form.get("act")
    if act == "file":
        return await _render_file_page(visit, accounts, format_yaml(document))
    try:
        if act == "prepare":
            return await _prepare(visit, document)
        valid = _summarize(await _check(visit, document)) if act == "check" else None
    except InvalidInput as problem:
        return await _render_form(visit, accounts, chosen, problem)
    return await _render_form(visit, accounts, chosen, valid=valid)


async def _render_form(
    visit: PageRequest,
    accounts: Sequence[Mapping[str, Any]],
    chosen: Sequence[Mapping[str, Any]],
    problem: InvalidInput | None = None,
    valid: object = None,
) -> web.Response:
    networks = [get_adapter(code).network for code in dict.fromkeys(account["network"] for account in chosen)]
    titles = {network.code: network.title for network in networks}
    fields = list_launch_fields(networks, visit.service.now())
    currencies = {account["currency"] for account in chosen}
    defaults = {"nameTemplate": NAME_TEMPLATE}
    if len(currencies) == 1:
        defaults["campaign.budget.currency"] = currencies.pop() or ""
    return visit.render_page(
        "launch-form.html",
        200 if problem is None else problem.status,
        accounts=accounts,
        chosen=chosen,
        titles=titles,
        fields=fields,
        splits=SPLITS,
        values={**defaults, **visit.form},
        issues={} if problem is None else place_issues(problem.issues, fields, chosen, titles),
        valid=valid,
    )
