"""Runs cases: each kind calls the adapter as the service does, and gives the result as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from urllib.parse import parse_qsl, urlsplit

from attrs import evolve, frozen

from adsunify.adapter.entity_reports import ReportQuery
from adsunify.adapter.flows import run_flow
from adsunify.adapter.hierarchy import ListQuery
from adsunify.adapter.oauth import Credentials, OAuthClient
from adsunify.adapter.reports import require_history
from adsunify.adapter.settings import build_settings
from adsunify.errors import InvalidInput
from adsunify.execution.outcomes import classify_write
from adsunify.http.messages import Request, build_request_url
from adsunify.networks.registry import get_adapter
from adsunify.plans.records import Plan, Step
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_value

from .cases import Case, InvalidCase, Library, parse_time
from .conversation import Conversation, UnexpectedRequest, compare_requests, make_response
from .plans import PLANNING, describe_plan, parse_brief, plan_case, require_member
from .writes import find_answered_step, make_sent_request, outcome_to_json

DEFAULT_NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
"""The present of a connecting case without ``now``."""


@frozen
class CaseResult:
    """The result of a case: ``value`` is JSON; ``codes`` are the codes of the network's error."""

    value: Json
    plan: Plan | None = None
    codes: tuple[str, ...] = ()


def run_case(case: Case, library: Library, conversation: Conversation | None = None) -> CaseResult:
    """Run one case.

    Args:
        case: the case.
        library: the cases that it may name.
        conversation: the network; None for the exchange of the case.

    Raises:
        InvalidCase: the kind is unknown, or the input lacks a member.
        UnexpectedRequest: the adapter made a request that the exchange does not have.
        AdsunifyError: the adapter refused the input or could not read a response.
    """
    if case.kind not in KINDS:
        raise InvalidCase(f"The kind {case.kind} is unknown; the kinds are {', '.join(KINDS)}.")
    return KINDS[case.kind](case, library, conversation or Conversation(case.network, case.exchange))


MAX_REPORT_READS = 100
"""The maximum number of calls of a report: its pages, and the polls of its job."""


# -- plans --------------------------------------------------------------------------------------------------------


def _run_plan(case: Case, library: Library, conversation: Conversation) -> CaseResult:
    plan = run_flow(plan_case(case, library), conversation.answer)
    return CaseResult(describe_plan(plan), plan)


def _run_create(case: Case, library: Library, conversation: Conversation) -> CaseResult:
    plan = run_flow(plan_case(case, library), conversation.answer)
    warnings: list[str] = []
    if conversation.unused_positions:  # the preflight makes the requests that the plan did not make
        preflight = get_adapter(case.network).plans.preflight(case.account, parse_brief(require_member(case, "brief")))
        issues, warnings = run_flow(preflight, conversation.answer)
        if issues:
            raise InvalidInput(issues)
    return CaseResult({**describe_plan(plan), "warnings": [*plan.warnings, *warnings]}, plan)


# -- outcomes -----------------------------------------------------------------------------------------------------


def _run_outcome(case: Case, library: Library, conversation: Conversation) -> CaseResult:
    if len(case.exchange) != 1:
        raise InvalidCase("An outcome case must have one exchange.")
    step, _ = find_answered_step(case, library)
    recorded = case.exchange[0]
    request = make_sent_request(step, recorded.get("request") or {})
    difference = next(
        compare_requests(case.network, _get_compared_members(step, recorded), request, "/exchange/0"), None
    )
    if difference is not None:
        raise UnexpectedRequest(difference)
    conversation.answered.append((request, 0))
    network = get_adapter(case.network).network
    response = make_response(recorded["response"], request)
    error = network.parse_error(response)
    outcome = classify_write(network, step, request, response)
    return CaseResult(outcome_to_json(outcome), codes=error.codes if error is not None else ())


def _get_compared_members(step: Step, recorded: Mapping[str, Json]) -> Mapping[str, Json]:
    expected = dict(recorded.get("request") or {})
    if any(binding.to.startswith("/path/") or binding.to.startswith("/query/") for binding in step.bindings):
        expected.pop("url", None)  # the recorded address has the ids that the bindings fill in
    return expected


# -- reads --------------------------------------------------------------------------------------------------------


def _run_accounts(case: Case, library: Library, conversation: Conversation) -> CaseResult:
    accounts = run_flow(get_adapter(case.network).reads.discover_accounts(), conversation.answer)
    return CaseResult(_accounts_to_json(case.network, accounts))


def _accounts_to_json(network: str, accounts: list[Json]) -> list[Json]:
    return [
        {
            "network": network,
            "nativeId": account.native_id,
            "id": account.native_id,
            "accountId": account.native_id,
            "name": account.name,
            "currency": account.currency,
            "timezone": account.timezone,
            "nativeStatus": account.native_status,
            "extras": dict(account.extras),
        }
        for account in accounts
    ]


def _run_tree(case: Case, library: Library, conversation: Conversation) -> CaseResult:
    adapter = get_adapter(case.network)
    tree = run_flow(adapter.reads.fetch_tree(case.account), conversation.answer)
    levels = [
        {"kind": level.kind, "native": level.native, "parentKey": level.parent.removeprefix("/") or None}
        for level in adapter.network.levels
    ]
    nodes = [node.to_json() for node in tree.nodes]
    return CaseResult({"network": case.network, "levels": levels, "nodes": nodes, "truncated": tree.is_truncated})


def _make_query(case: Case) -> ListQuery:
    members = case.input
    return ListQuery(
        int(members.get("limit") or 50),
        members.get("cursor"),
        members.get("parentId"),
        members.get("status"),
        members.get("search"),
    )


def _run_entities(case: Case, library: Library, conversation: Conversation) -> CaseResult:
    page = run_flow(
        get_adapter(case.network).reads.list_entities(case.account, require_member(case, "kind"), _make_query(case)),
        conversation.answer,
    )
    return CaseResult(_page_to_json([entity.to_json() for entity in page.entities], page.cursor))


def _run_catalog(case: Case, library: Library, conversation: Conversation) -> CaseResult:
    resource = str(require_member(case, "resource"))
    if resource.startswith("report:"):
        resumed = evolve(case, input={**case.input, "job": resource.removeprefix("report:")})
        return _run_insights(resumed, library, conversation)
    page = run_flow(
        get_adapter(case.network).reads.fetch_catalog_page(case.account, resource, _make_query(case)),
        conversation.answer,
    )
    return CaseResult(_page_to_json([row.to_json() for row in page.rows], page.cursor))


def _page_to_json(rows: list[Json], cursor: str | None) -> Json:
    return {"data": rows, "page": {"nextCursor": cursor}}


def _run_entity(case: Case, library: Library, conversation: Conversation) -> CaseResult:
    kind, entity_id = require_member(case, "kind"), str(require_member(case, "entityId"))
    entity = run_flow(get_adapter(case.network).reads.fetch_entity(case.account, kind, entity_id), conversation.answer)
    return CaseResult(entity.to_json())


def _run_settings(case: Case, library: Library, conversation: Conversation) -> CaseResult:
    adapter = get_adapter(case.network)
    kind, entity_id = require_member(case, "kind"), str(require_member(case, "entityId"))
    entity = run_flow(adapter.reads.fetch_editable_entity(case.account, kind, entity_id), conversation.answer)
    now = parse_time(case.input.get("now"))
    return CaseResult(build_settings(adapter.network, case.account, entity_id, entity, now))


def _run_insights(case: Case, library: Library, conversation: Conversation) -> CaseResult:
    adapter, members = get_adapter(case.network), case.input
    end = date.fromisoformat(members["endDate"]) if members.get("endDate") else DEFAULT_NOW.date()
    start = date.fromisoformat(members["startDate"]) if members.get("startDate") else end
    now = parse_time(members.get("now")) or datetime.combine(end + timedelta(days=1), time(12), UTC)
    if members.get("job") is None:
        require_history(adapter.network, case.account, start, now)
    insights = run_flow(
        adapter.reads.fetch_insights(case.account, start, end, members.get("job"), now), conversation.answer
    )
    while insights.pending is not None and conversation.unused_positions and len(conversation.answered) < 100:
        # the resumed call makes the requests that the first did not make
        insights = run_flow(
            adapter.reads.fetch_insights(case.account, start, end, insights.pending.job, now), conversation.answer
        )
    beside = {"currency": case.account.currency, "timezone": case.account.timezone}
    return CaseResult({**beside, **insights.to_json()})


def _run_report(case: Case, library: Library, conversation: Conversation) -> CaseResult:
    """Read all pages of a report of one level. If the network makes a job for the report, poll the job."""
    adapter, members = get_adapter(case.network), case.input
    level = next(level for level in adapter.network.report_levels if level.kind == require_member(case, "level"))
    if adapter.reports is None:
        raise LookupError(f"The adapter of {adapter.network.title} has no module reports.")
    start, end = (date.fromisoformat(str(require_member(case, name))) for name in ("startDate", "endDate"))
    now = parse_time(members.get("now")) or datetime.combine(end + timedelta(days=1), time(12), UTC)
    require_history(adapter.network, case.account, start, now, level)
    query = ReportQuery(level, start, end, tuple(sorted(members.get("entityIds", ()))))
    rows: list[Json] = []
    cursor = job = None
    for _ in range(MAX_REPORT_READS):
        page = run_flow(adapter.reports.fetch_report_page(case.account, query, cursor, job, now), conversation.answer)
        rows += [row.to_json() for row in page.rows]
        job, cursor = page.pending.job if page.pending is not None else job, page.cursor
        if cursor is None and (page.pending is None or not conversation.unused_positions):
            break
    coverage, pending = page.coverage.to_json(), None if page.pending is None else page.pending.to_json()
    return CaseResult({"rows": rows, "coverage": coverage, "pending": pending})


# -- connecting ---------------------------------------------------------------------------------------------------


def _get_first_parameters(case: Case) -> Mapping[str, Json]:
    """The parameters of the first recorded request: of its body, or of its address."""
    body = get_value(case.exchange, "/0/request/body")
    if isinstance(body, Mapping):
        return body
    return dict(parse_qsl(urlsplit(str(get_value(case.exchange, "/0/request/url", ""))).query))


def _find_app(case: Case) -> OAuthClient:
    """The app that the case names, or the app in the first request of the case, or the app of the sandbox."""
    members = case.input.get("app") or case.input
    first = _get_first_parameters(case)
    client_id = (
        members.get("clientId") or members.get("client_id") or first.get("client_id") or f"sandbox-{case.network}"
    )
    secret = (
        members.get("clientSecret") or members.get("client_secret") or first.get("client_secret") or "sandbox-secret"
    )
    return OAuthClient(str(client_id), str(secret))


def _parse_credentials(value: Json) -> Credentials:
    if not isinstance(value, Mapping):
        raise InvalidCase("credentials must be an object with accessToken.")
    token = value.get("accessToken") or value.get("access_token") or ""
    expires = parse_time(value.get("expiresAt"))
    milliseconds = None if expires is None else int(expires.timestamp() * 1000)
    return Credentials(
        token, value.get("refreshToken") or value.get("refresh_token"), milliseconds, value.get("extras") or {}
    )


def _get_now_ms(case: Case) -> int:
    now = parse_time(case.input.get("now")) or DEFAULT_NOW
    return int(now.timestamp() * 1000)


def _run_connect(case: Case, library: Library, conversation: Conversation) -> CaseResult:
    members, adapter, first = case.input, get_adapter(case.network), _get_first_parameters(case)
    answer = members.get("answer") or {"code": members.get("code") or ""}
    redirect = members.get("redirectUri") or first.get("redirect_uri") or "https://ads.example/connect/callback"
    verifier = members.get("verifier") or members.get("codeVerifier") or first.get("code_verifier") or "verifier"
    flow = adapter.credential_flows.fetch_credentials(_find_app(case), redirect, answer, verifier, _get_now_ms(case))
    credentials = run_flow(flow, conversation.answer)
    value = credentials.to_json()
    if conversation.unused_positions:
        value["accounts"] = _accounts_to_json(
            case.network, run_flow(adapter.reads.discover_accounts(), conversation.answer)
        )
    return CaseResult(value)


def _run_refresh(case: Case, library: Library, conversation: Conversation) -> CaseResult:
    flow = get_adapter(case.network).credential_flows.refresh_credentials(
        _find_app(case), _parse_credentials(require_member(case, "credentials")), _get_now_ms(case)
    )
    credentials = run_flow(flow, conversation.answer)
    return CaseResult(credentials.to_json())


def _run_sign(case: Case, library: Library, conversation: Conversation) -> CaseResult:
    members = require_member(case, "request")
    request = Request.from_json(
        {"method": "GET", "nature": "write", **members, "headers": members.get("headers") or {}}
    )
    if request.body is not None and request.encoding == "none":
        request = evolve(request, encoding="json")
    nonce = str(case.input.get("nonce") or "nonce")
    sign = get_adapter(case.network).credential_flows.sign_request
    signed = sign(
        request, _parse_credentials(require_member(case, "credentials")), _find_app(case), _get_now_ms(case), nonce
    )
    return CaseResult({**signed.to_json(), "url": build_request_url(signed)})


KINDS: Mapping[str, Callable[[Case, Library, Conversation], CaseResult]] = {
    **dict.fromkeys(PLANNING, _run_plan),
    "create": _run_create,
    "outcome": _run_outcome,
    "accounts": _run_accounts,
    "tree": _run_tree,
    "entities": _run_entities,
    "entity": _run_entity,
    "settings": _run_settings,
    "catalog": _run_catalog,
    "insights": _run_insights,
    "report": _run_report,
    "connect": _run_connect,
    "refresh": _run_refresh,
    "sign": _run_sign,
}
"""The kinds of cases, and the function that runs each."""
