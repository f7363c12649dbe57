"""What a case's ``kind`` does: the adapter is called as the service calls it, and its result shown as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from urllib.parse import parse_qsl, urlsplit

from attrs import evolve, frozen

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

from .cases import Case, Library, NotACase, moment
from .plans import PLANNING, brief_of, need, planned_by, shown_plan
from .recorded import Conversation, Unexpected, request_differences, response_of
from .writes import as_sent, shown_outcome, step_of

DAY = datetime(2026, 11, 1, 12, tzinfo=UTC)
"""The present of a connecting case that does not say."""


@frozen
class Done:
    """What a case's call gave: ``value`` as JSON, its plan where it made one, the conversation it had."""

    value: Json
    plan: Plan | None = None
    codes: tuple[str, ...] = ()


def run(case: Case, library: Library, talk: Conversation | None = None) -> Done:
    """Run one case, ``talk`` being the network. Raises the tree of errors.py, NotACase, Unexpected."""
    if case.kind not in KINDS:
        raise NotACase(f"there is no kind {case.kind}; there are {', '.join(KINDS)}")
    return KINDS[case.kind](case, library, talk or Conversation(case.network, case.exchange))


# -- plans --------------------------------------------------------------------------------------------------------


def _plan(case: Case, library: Library, talk: Conversation) -> Done:
    plan = run_flow(planned_by(case, library), talk.answer)
    return Done(shown_plan(plan), plan)


def _create(case: Case, library: Library, talk: Conversation) -> Done:
    plan = run_flow(planned_by(case, library), talk.answer)
    warnings: list[str] = []
    if talk.left:  # what is recorded beyond the plan's own reads is the preflight's
        preflight = get_adapter(case.network).plans.preflight(case.account, brief_of(need(case, "brief")))
        issues, warnings = run_flow(preflight, talk.answer)
        if issues:
            raise InvalidInput(issues)
    return Done({**shown_plan(plan), "warnings": [*plan.warnings, *warnings]}, plan)


# -- outcomes -----------------------------------------------------------------------------------------------------


def _outcome(case: Case, library: Library, talk: Conversation) -> Done:
    if len(case.exchange) != 1:
        raise NotACase("an outcome case has one exchange")
    step, _ = step_of(case, library)
    recorded = case.exchange[0]
    request = as_sent(step, recorded.get("request") or {})
    wrong = next(request_differences(case.network, _comparable(step, recorded), request, "/exchange/0"), None)
    if wrong is not None:
        raise Unexpected(wrong)
    talk.served.append((request, 0))
    network = get_adapter(case.network).network
    response = response_of(recorded["response"], request)
    error = network.parse_error(response)
    outcome = classify_write(network, step, request, response)
    return Done(shown_outcome(outcome), codes=error.codes if error is not None else ())


def _comparable(step: Step, recorded: Mapping[str, Json]) -> Mapping[str, Json]:
    expected = dict(recorded.get("request") or {})
    if any(binding.to.startswith("/path/") or binding.to.startswith("/query/") for binding in step.bindings):
        expected.pop("url", None)  # the recorded address holds the ids that the binding brings
    return expected


# -- reads --------------------------------------------------------------------------------------------------------


def _accounts(case: Case, library: Library, talk: Conversation) -> Done:
    accounts = run_flow(get_adapter(case.network).reads.discover_accounts(), talk.answer)
    return Done(_shown_accounts(case.network, accounts))


def _shown_accounts(network: str, accounts: list[Json]) -> list[Json]:
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


def _tree(case: Case, library: Library, talk: Conversation) -> Done:
    adapter = get_adapter(case.network)
    tree = run_flow(adapter.reads.fetch_tree(case.account), talk.answer)
    levels = [
        {"kind": level.kind, "native": level.native, "parentKey": level.parent.removeprefix("/") or None}
        for level in adapter.network.levels
    ]
    nodes = [node.to_json() for node in tree.nodes]
    return Done({"network": case.network, "levels": levels, "nodes": nodes, "truncated": tree.is_truncated})


def _query(case: Case) -> ListQuery:
    members = case.input
    return ListQuery(
        int(members.get("limit") or 50),
        members.get("cursor"),
        members.get("parentId"),
        members.get("status"),
        members.get("search"),
    )


def _entities(case: Case, library: Library, talk: Conversation) -> Done:
    page = run_flow(
        get_adapter(case.network).reads.list_entities(case.account, need(case, "kind"), _query(case)), talk.answer
    )
    return Done(_paged([entity.to_json() for entity in page.entities], page.cursor))


def _catalog(case: Case, library: Library, talk: Conversation) -> Done:
    resource = str(need(case, "resource"))
    if resource.startswith("report:"):
        resumed = evolve(case, input={**case.input, "job": resource.removeprefix("report:")})
        return _insights(resumed, library, talk)
    page = run_flow(
        get_adapter(case.network).reads.fetch_catalog_page(case.account, resource, _query(case)), talk.answer
    )
    return Done(_paged([row.to_json() for row in page.rows], page.cursor))


def _paged(rows: list[Json], cursor: str | None) -> Json:
    return {"data": rows, "page": {"nextCursor": cursor}}


def _entity(case: Case, library: Library, talk: Conversation) -> Done:
    kind, entity_id = need(case, "kind"), str(need(case, "entityId"))
    entity = run_flow(get_adapter(case.network).reads.fetch_entity(case.account, kind, entity_id), talk.answer)
    return Done(entity.to_json())


def _settings(case: Case, library: Library, talk: Conversation) -> Done:
    adapter = get_adapter(case.network)
    kind, entity_id = need(case, "kind"), str(need(case, "entityId"))
    entity = run_flow(adapter.reads.fetch_editable_entity(case.account, kind, entity_id), talk.answer)
    now = moment(case.input.get("now"))
    return Done(build_settings(adapter.network, case.account, kind, entity_id, entity.native, now))


def _insights(case: Case, library: Library, talk: Conversation) -> Done:
    adapter, members = get_adapter(case.network), case.input
    end = date.fromisoformat(members["endDate"]) if members.get("endDate") else DAY.date()
    start = date.fromisoformat(members["startDate"]) if members.get("startDate") else end
    now = moment(members.get("now")) or datetime.combine(end + timedelta(days=1), time(12), UTC)
    if members.get("job") is None:
        require_history(adapter.network, case.account, start, now)
    insights = run_flow(adapter.reads.fetch_insights(case.account, start, end, members.get("job"), now), talk.answer)
    while insights.pending is not None and talk.left and len(talk.served) < 100:
        # what is recorded beyond the first call is the resumed one
        insights = run_flow(
            adapter.reads.fetch_insights(case.account, start, end, insights.pending.job, now), talk.answer
        )
    beside = {"currency": case.account.currency, "timezone": case.account.timezone}
    return Done({**beside, **insights.to_json()})


# -- connecting ---------------------------------------------------------------------------------------------------


def _first_request(case: Case) -> Mapping[str, Json]:
    """The parameters of the first recorded request: of its body, or of its address."""
    body = get_value(case.exchange, "/0/request/body")
    if isinstance(body, Mapping):
        return body
    return dict(parse_qsl(urlsplit(str(get_value(case.exchange, "/0/request/url", ""))).query))


def _app(case: Case) -> OAuthClient:
    """The app that the case names, or the one in its first request, or that of the sandbox."""
    members = case.input.get("app") or case.input
    first = _first_request(case)
    client_id = (
        members.get("clientId") or members.get("client_id") or first.get("client_id") or f"sandbox-{case.network}"
    )
    secret = (
        members.get("clientSecret") or members.get("client_secret") or first.get("client_secret") or "sandbox-secret"
    )
    return OAuthClient(str(client_id), str(secret))


def _credentials(value: Json) -> Credentials:
    if not isinstance(value, Mapping):
        raise NotACase("credentials is an object with accessToken")
    token = value.get("accessToken") or value.get("access_token") or ""
    expires = moment(value.get("expiresAt"))
    milliseconds = None if expires is None else int(expires.timestamp() * 1000)
    return Credentials(
        token, value.get("refreshToken") or value.get("refresh_token"), milliseconds, value.get("extras") or {}
    )


def _milliseconds(case: Case) -> int:
    now = moment(case.input.get("now")) or DAY
    return int(now.timestamp() * 1000)


def _connect(case: Case, library: Library, talk: Conversation) -> Done:
    members, adapter, first = case.input, get_adapter(case.network), _first_request(case)
    answer = members.get("answer") or {"code": members.get("code") or ""}
    redirect = members.get("redirectUri") or first.get("redirect_uri") or "https://ads.example/connect/callback"
    verifier = members.get("verifier") or members.get("codeVerifier") or first.get("code_verifier") or "verifier"
    flow = adapter.credential_flows.fetch_credentials(_app(case), redirect, answer, verifier, _milliseconds(case))
    credentials = run_flow(flow, talk.answer)
    value = credentials.to_json()
    if talk.left:
        value["accounts"] = _shown_accounts(case.network, run_flow(adapter.reads.discover_accounts(), talk.answer))
    return Done(value)


def _refresh(case: Case, library: Library, talk: Conversation) -> Done:
    flow = get_adapter(case.network).credential_flows.refresh_credentials(
        _app(case), _credentials(need(case, "credentials")), _milliseconds(case)
    )
    credentials = run_flow(flow, talk.answer)
    return Done(credentials.to_json())


def _sign(case: Case, library: Library, talk: Conversation) -> Done:
    members = need(case, "request")
    request = Request.from_json(
        {"method": "GET", "nature": "write", **members, "headers": members.get("headers") or {}}
    )
    if request.body is not None and request.encoding == "none":
        request = evolve(request, encoding="json")
    nonce = str(case.input.get("nonce") or "nonce")
    sign = get_adapter(case.network).credential_flows.sign_request
    signed = sign(request, _credentials(need(case, "credentials")), _app(case), _milliseconds(case), nonce)
    return Done({**signed.to_json(), "url": build_request_url(signed)})


KINDS: Mapping[str, Callable[[Case, Library, Conversation], Done]] = {
    **dict.fromkeys(PLANNING, _plan),
    "create": _create,
    "outcome": _outcome,
    "accounts": _accounts,
    "tree": _tree,
    "entities": _entities,
    "entity": _entity,
    "settings": _settings,
    "catalog": _catalog,
    "insights": _insights,
    "connect": _connect,
    "refresh": _refresh,
    "sign": _sign,
}
