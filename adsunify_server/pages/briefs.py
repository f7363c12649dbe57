"""The page on which a person writes a brief, or uploads one. :mod:`.brief_fields` has its fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aiohttp import web

from adsunify.errors import InvalidInput
from adsunify.models.documents import parse_document
from adsunify.networks.registry import get_adapter
from adsunify.problem_details import to_problem_details
from adsunify.values.exact_json import Json

from .brief_fields import build_brief, format_brief, list_fields, sort_issues
from .request import PageRequest, PageRouter

NOT_OF_BRIEF = ("csrf", "act")
"""Fields of the form that do not belong to the brief."""


def add_pages(router: PageRouter) -> None:
    """Add ``/accounts/<id>/create``."""
    router.add_get("/accounts/{accountId}/create", show_form)
    router.add_post("/accounts/{accountId}/create", prepare_brief)


async def show_form(visit: PageRequest) -> web.Response:
    """Show an empty form."""
    return await _form_page(visit, {})


async def prepare_brief(visit: PageRequest) -> web.Response:
    """Check the brief, or prepare its campaign and redirect to the review; the form shows each issue at its field.

    An uploaded brief fills in the form, and is checked.
    """
    account_id = visit.path_parameter("accountId")
    act, values = visit.form.get("act"), visit.form
    try:
        brief: dict[str, Json] = {"targeting": {}, "creative": {}}
        if act == "upload":
            brief |= parse_document(visit.files.get("file", b""))
            values = format_brief(brief)
        else:
            brief |= build_brief({path: text for path, text in visit.form.items() if path not in NOT_OF_BRIEF})
        body = {"accountId": account_id, "campaign": brief}
        if act != "prepare":
            return await _form_page(visit, values, valid=await visit.call_endpoint("post_validate_campaign", body))
        prepared = await visit.call_endpoint("post_create", body)
    except InvalidInput as problem:
        return await _form_page(visit, values, problem)
    return visit.redirect(f"/review/{prepared['id']}")


async def _form_page(
    visit: PageRequest, values: Mapping[str, str], problem: InvalidInput | None = None, valid: Any = None
) -> web.Response:
    account = await visit.call_endpoint("get_account", accountId=visit.path_parameter("accountId"))
    network = get_adapter(account["network"]).network
    fields = list(list_fields(network, visit.service.now(), account["timezone"]))
    raw_issues = () if problem is None else problem.issues
    issues = sort_issues((issue._replace(path=issue.path.removeprefix("campaign.")) for issue in raw_issues), fields)
    return visit.render_page(
        "brief.html",
        200 if problem is None else problem.status,
        account=account,
        network=network,
        fields=fields,
        values={"budget.currency": account["currency"] or "", **values},
        issues=issues,
        problem=None if problem is None or issues else to_problem_details(problem),
        valid=valid,
    )
