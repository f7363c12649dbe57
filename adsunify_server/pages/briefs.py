"""The page on which a person writes a brief. The network's tables name its fields, their choices and their help."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from aiohttp import web
from attrs import frozen

from adsunify.adapter.network import Network
from adsunify.errors import InvalidInput
from adsunify.networks.registry import get_adapter
from adsunify.problem_details import to_problem_details
from adsunify.values.exact_json import Json, loads

from .request import PageRequest, PageRouter

LIST_MEMBERS = (
    *("targeting.countries", "targeting.locationIds", "creative.headlines", "creative.descriptions"),
    "platform.specialAdCategories",
)
"""Members that are lists of texts: the form has one text in a line."""
KEYWORDS, MATCHES = "targeting.keywords", ("exact", "phrase", "broad")
JSON_MEMBERS = ("targeting.native", "platform.locale")
"""Members that are objects: the form has them as JSON."""
FLAGS: Mapping[str, Json] = {"true": True, "false": False}
LONG_MEMBERS = (*LIST_MEMBERS, KEYWORDS, *JSON_MEMBERS, "creative.body")


@frozen
class BriefField:
    """A field of the form: the path of its member, its choices (empty: free text), its help, and its form."""

    path: str
    choices: tuple[str, ...] = ()
    hint: str = ""
    is_required: bool = False

    @property
    def is_long(self) -> bool:
        """Whether the field has several lines."""
        return self.path in LONG_MEMBERS


def add_pages(router: PageRouter) -> None:
    """Add ``/accounts/<id>/create``."""
    router.add_get("/accounts/{accountId}/create", show_form)
    router.add_post("/accounts/{accountId}/create", prepare_brief)


async def show_form(visit: PageRequest) -> web.Response:
    """Show an empty form."""
    return await _form_page(visit, {})


async def prepare_brief(visit: PageRequest) -> web.Response:
    """Check the brief, or prepare its campaign and redirect to the review; the form shows each issue at its field."""
    account_id = visit.path_parameter("accountId")
    try:
        body = {"accountId": account_id, "campaign": _build_brief(visit.form)}
        if visit.form.get("act") == "check":
            return await _form_page(visit, visit.form, valid=await visit.call_endpoint("post_validate_campaign", body))
        prepared = await visit.call_endpoint("post_create", body)
    except InvalidInput as problem:
        return await _form_page(visit, visit.form, problem)
    return visit.redirect(f"/review/{prepared['id']}")


async def _form_page(
    visit: PageRequest, values: Mapping[str, str], problem: InvalidInput | None = None, valid: Any = None
) -> web.Response:
    account = await visit.call_endpoint("get_account", accountId=visit.path_parameter("accountId"))
    network = get_adapter(account["network"]).network
    fields = list(_list_fields(network))
    issues: dict[str, list[str]] = {}
    for issue in () if problem is None else problem.issues:
        path = issue.path.removeprefix("campaign.")
        owner = next((field.path for field in fields if f"{path}.".startswith(f"{field.path}.")), "")
        issues.setdefault(owner, []).append(issue.message if owner else f"{issue.path} {issue.message}".strip())
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


def _list_fields(network: Network) -> Iterator[BriefField]:
    """Yield the members that a brief of this network may have, as its tables declare them."""
    formats = network.formats
    goals = tuple(dict.fromkeys(goal for one in formats for goal in one.goals))
    periods = tuple(dict.fromkeys(period for one in formats for period in one.periods))
    yield BriefField("name", hint="3 to 100 characters", is_required=True)
    yield BriefField("goal", goals, is_required=True)
    yield BriefField("budget.amount", is_required=True)
    yield BriefField("budget.currency", is_required=True)
    yield BriefField("budget.period", periods, is_required=True)
    yield BriefField("schedule.startAt", hint="such as 2030-01-15T08:00:00Z", is_required=True)
    rows = [row for one in formats for row in one.inputs if row.requirement != "refused"]
    for path in dict.fromkeys(row.path for row in rows):
        choices = tuple(
            dict.fromkeys(
                choice if isinstance(choice, str) else str(choice).lower()
                for row in rows
                if row.path == path
                for choice in row.choices
            )
        )
        hints = dict.fromkeys(row.accepted_form for row in rows if row.path == path and row.accepted_form)
        form = "one in a line" if path in LIST_MEMBERS else "JSON" if path in JSON_MEMBERS else ""
        form = "one in a line, such as: garden chair | phrase" if path == KEYWORDS else form
        required = [row.requirement == "required" for one in formats for row in one.inputs if row.path == path]
        is_required = len(required) >= len(formats) and all(required)
        yield BriefField(
            path, () if path in LONG_MEMBERS else choices, "; ".join(filter(None, (form, *hints))), is_required
        )


def _build_brief(form: Mapping[str, str]) -> dict[str, Json]:
    """Build the brief of the fields with a value. Fields that are not of a brief are left out."""
    brief: dict[str, Any] = {"targeting": {}, "creative": {}}
    for path, text in form.items():
        part, _, member = path.partition(".")
        if not text.strip() or path in ("csrf", "act"):
            continue
        if member:
            brief.setdefault(part, {})[member] = _parse_value(path, text.strip())
        else:
            brief[part] = text.strip()
    return brief


def _parse_value(path: str, text: str) -> Json:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if path in LIST_MEMBERS:
        return lines
    if path == KEYWORDS:
        return [_parse_keyword(line) for line in lines]
    if path in JSON_MEMBERS:
        try:
            return loads(text)
        except ValueError:
            return text  # the model refuses it at its path
    return FLAGS.get(text, text) if path == "platform.euPoliticalAdvertising" else text


def _parse_keyword(line: str) -> dict[str, Json]:
    text, bar, match = line.rpartition("|")
    return {"text": text.strip(), "match": match.strip()} if bar and match.strip() in MATCHES else {"text": line}
