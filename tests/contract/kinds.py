"""What a case's ``kind`` does: the adapter is called as the service calls it, and its result shown as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from urllib.parse import parse_qsl, urlsplit

from attrs import evolve, frozen

from adsunify.brief import CampaignBrief, read_brief
from adsunify.cli.plan import plan_json
from adsunify.connecting import App, Credentials
from adsunify.editing import Edit, Percentage, settings
from adsunify.errors import InvalidInput
from adsunify.networks import adapter
from adsunify.outcomes import Ambiguous, Applied, Outcome, Rejected, Throttled, outcome
from adsunify.planning import plan_create
from adsunify.reading import Query, drive
from adsunify.steps import Outputs, Plan, Step
from adsunify.wire import Flow, Json, Request, dumps, filled, put, read

from .cases import BRIEFS, Case, Library, NotACase, moment
from .recorded import Conversation, Unexpected, headers_of, request_differences, response_of

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


def _need(case: Case, name: str) -> Json:
    if case.input.get(name) is None:
        raise NotACase(f"input.{name} is missing")
    return case.input[name]


# -- plans --------------------------------------------------------------------------------------------------------


def planned_by(case: Case, library: Library) -> Flow[Plan]:
    """The flow to the plan of a case of any planning kind."""
    plans, given = adapter(case.network).plans, case.input
    if case.kind == "create":
        return plan_create(case.account, _brief(_need(case, "brief")), moment(given.get("now")))
    if case.kind == "activate":
        return plans.plan_activate(case.account, *_source(case, library))
    if case.kind == "native_create":
        parent = given.get("parentId")
        return plans.plan_native_create(case.account, _need(case, "kind"), _need(case, "payload"), parent)
    kind, entity_id = _need(case, "kind"), str(_need(case, "entityId"))
    if case.kind == "status":
        return plans.plan_status(case.account, kind, entity_id, _need(case, "status"))
    if case.kind == "update":
        return plans.plan_update(case.account, kind, entity_id, _need(case, "payload"), given.get("parentId"))
    if case.kind == "delete":
        return plans.plan_delete(case.account, kind, entity_id)
    edit = _edit(given.get("edit", given))
    return plans.plan_edit(case.account, kind, entity_id, edit, moment(given.get("now")))


def _plan(case: Case, library: Library, talk: Conversation) -> Done:
    made = drive(planned_by(case, library), talk.answer)
    return Done(shown_plan(made), made)


def _create(case: Case, library: Library, talk: Conversation) -> Done:
    made = drive(planned_by(case, library), talk.answer)
    warnings: list[str] = []
    if talk.left:  # what is recorded beyond the plan's own reads is the preflight's
        preflight = adapter(case.network).plans.preflight(case.account, _brief(_need(case, "brief")))
        issues, warnings = drive(preflight, talk.answer)
        if issues:
            raise InvalidInput(issues)
    return Done({**shown_plan(made), "warnings": [*made.warnings, *warnings]}, made)


def shown_plan(plan: Plan) -> dict[str, Json]:
    """A plan as ``plan --json`` prints it; each step also says its action, its headers are the ones sent."""
    whole = plan_json(plan)
    steps = [
        {**shown, "action": step.action, "entity": step.entity, "headers": headers_of(step.request)}
        for shown, step in zip(whole["steps"], plan.steps, strict=True)
    ]
    return {**whole, "action": plan.action, "steps": steps}


def _brief(value: Json) -> CampaignBrief:
    if not isinstance(value, Mapping):
        raise NotACase("input.brief is an object")
    return read_brief(dumps(value))


def _edit(value: Json) -> Edit:
    if "field" in value:  # a bulk edit
        mode = value.get("mode", "set")
        amount = value["value"] if mode == "set" else {"mode": mode, "value": value["value"]}
        value = {"fields": {value["field"]: amount}}
    fields = {
        name: Percentage(one["mode"], Decimal(one["value"])) if isinstance(one, Mapping) else one
        for name, one in value.get("fields", {}).items()
    }
    return Edit(fields, value.get("targeting") or {}, value.get("creative") or {})


# -- the source of an activation ----------------------------------------------------------------------------------

_ABOUT = ("case", "source", "brief", "outputs", "now")


def _source(case: Case, library: Library) -> tuple[Plan, Mapping[str, Outputs]]:
    given = case.input
    outputs = given.get("outputs") or {name: one for name, one in given.items() if name not in _ABOUT}
    if not isinstance(outputs, Mapping) or not outputs:
        raise NotACase("input holds the outputs of the source operation per step key")
    named = given.get("case") or given.get("source")
    if isinstance(given.get("brief"), Mapping):
        plan = drive(plan_create(case.account, _brief(given["brief"])), Conversation(case.network, ()).answer)
    elif isinstance(named, str):
        plan = created(library.named(case.network, named), library)
    else:
        plan = _fitting(case, library, set(outputs))
    return plan, {key: _named_outputs(plan, key, value) for key, value in outputs.items()}


def created(case: Case, library: Library) -> Plan:
    """The plan of another case."""
    return drive(planned_by(case, library), Conversation(case.network, case.exchange).answer)


def _fitting(case: Case, library: Library, keys: set[str]) -> Plan:
    """The first create plan of the network that has these step keys: of a case, else of an example brief."""
    for one in library.creating(case.network):
        plan = created(one, library)
        if {step.key for step in plan.steps} >= keys:
            return plan
    for path in sorted(BRIEFS.glob(f"{case.network}-*.json")):
        brief = read_brief(path.read_bytes())
        account = evolve(case.account, currency=brief.budget.currency, timezone="Etc/UTC")
        plan = drive(plan_create(account, brief), Conversation(case.network, ()).answer)
        if {step.key for step in plan.steps} >= keys:
            return plan
    raise NotACase(f"no create plan of {case.network} has the steps {', '.join(sorted(keys))}")


def _named_outputs(plan: Plan, key: str, value: Json) -> Outputs:
    if isinstance(value, Mapping):
        return {name: one if isinstance(one, str) else [str(id_) for id_ in one] for name, one in value.items()}
    step = next((step for step in plan.steps if step.key == key), None)
    names = output_names(step) if step is not None else []
    if len(names) != 1:
        raise NotACase(f"the outputs of {key} are an object: {', '.join(names)}")
    return {names[0]: value if isinstance(value, str) else [str(id_) for id_ in value]}


def output_names(step: Step) -> list[str]:
    """What a step brings, by name."""
    return [output.name for output in step.outputs] + ([step.items.output] if step.items is not None else [])


# -- the outcome of a write ---------------------------------------------------------------------------------------


def step_of(case: Case, library: Library) -> tuple[Step, Case | None]:
    """The step of an outcome case, and the case that it was taken from."""
    given = _need(case, "step")
    if isinstance(given, Mapping) and "case" in given:
        other = library.named(str(given.get("network") or case.network), str(given["case"]))
        steps = created(other, library).steps
        key = given.get("key")
        found = next((step for step in steps if step.key == key), None)
        if found is None and key is None and len(steps) == 1:
            found = steps[0]
        if found is None:
            raise NotACase(f"{other.name} has no step {key}; it has {', '.join(step.key for step in steps)}")
        return found, other
    if not isinstance(given, Mapping) or not ("method" in given or "request" in given):
        raise NotACase("input.step is a step as plan --json prints it, or names a case and a key")
    return _written_step(given), None


def _written_step(given: Mapping[str, Json]) -> Step:
    """A step from what ``plan --json`` prints of it; what that leaves out follows from the rest."""
    request = given.get("request") or {
        "method": given["method"],
        "url": given.get("url", ""),
        "headers": given.get("headers") or {},
        "body": given.get("body"),
        "encoding": "none" if given.get("body") is None else "json",
        "nature": "write",
    }
    outputs = [
        {
            "name": one["name"],
            "at": [one["at"]] if isinstance(one["at"], str) else one["at"],
            "after": one.get("after", ""),
        }
        for one in given.get("outputs") or ()
    ]
    action = given.get("action") or _action(str(request["method"]), bool(outputs), given.get("items") or {})
    known = {
        name: given[name]
        for name in ("bindings", "promises", "items", "overlay", "emptyOk", "changes")
        if given.get(name)
    }
    whole = {"key": "step", "kind": "campaign", "does": "", **given, "request": request, "action": action}
    return Step.from_json(
        {name: whole[name] for name in ("key", "kind", "does", "request", "action")} | known | {"outputs": outputs}
    )


def _action(method: str, brings: bool, items: Mapping[str, Json]) -> str:
    if method == "DELETE" or (items.get("at") or "").endswith("/include"):
        return "delete"
    return "create" if method == "POST" and (brings or (items and not items.get("sent"))) else "update"


def _outcome(case: Case, library: Library, talk: Conversation) -> Done:
    if len(case.exchange) != 1:
        raise NotACase("an outcome case has one exchange")
    step, _ = step_of(case, library)
    recorded = case.exchange[0]
    request = as_sent(step, recorded.get("request") or {})
    wrong = next(request_differences(case.network, _comparable(step, recorded), request, "/exchange/0"), None)
    if wrong is not None:
        raise Unexpected(wrong)
    talk.asked.append(request)
    network = adapter(case.network).network
    response = response_of(recorded["response"], request)
    found = network.error(response)
    said = outcome(network, step, request, response)
    return Done(shown_outcome(said), codes=found.codes if found is not None else ())


def _comparable(step: Step, recorded: Mapping[str, Json]) -> Mapping[str, Json]:
    expected = dict(recorded.get("request") or {})
    if any(binding.to.startswith("/path/") or binding.to.startswith("/query/") for binding in step.bindings):
        expected.pop("url", None)  # the recorded address holds the ids that the binding brings
    return expected


def as_sent(step: Step, recorded: Mapping[str, Json]) -> Request:
    """The step's request with the ids that the recorded one has in place of its bindings; items as recorded."""
    request, body = step.request, recorded.get("body")
    if body is None:
        return request
    if step.items is not None:
        sent, planned = (read({"body": one}, step.items.at) for one in (body, request.body))
        if isinstance(sent, list) and isinstance(planned, list) and len(sent) != len(planned):
            return evolve(request, body=body)  # a part of the items is sent again
    target = {"body": _copied(request.body)}
    for binding in step.bindings:
        value = read({"body": body}, binding.to) if binding.to.startswith("/body/") else None
        if value is not None:
            put(target, binding.to, value)
    return evolve(request, body=target["body"])


def _copied(value: Json) -> Json:
    if isinstance(value, Mapping):
        return {name: _copied(one) for name, one in value.items()}
    return [_copied(one) for one in value] if isinstance(value, list | tuple) else value


_CALLED = {Applied: "applied", Rejected: "rejected", Throttled: "throttled", Ambiguous: "ambiguous"}


def shown_outcome(said: Outcome) -> dict[str, Json]:
    """An outcome as a case expects it."""
    value: dict[str, Json] = {"outcome": _CALLED[type(said)]}
    if not isinstance(said, Ambiguous):
        value["outputs"] = {name: one if isinstance(one, str) else list(one) for name, one in said.outputs.items()}
    if isinstance(said, Rejected):
        value["blame"] = said.blame
    if not isinstance(said, Applied):
        value["error"] = said.error.to_json()
    if isinstance(said, Ambiguous):
        value["reason"] = said.reason
    if isinstance(said, Throttled):
        value["retryAfterMs"] = None if said.retry_after is None else int(Decimal(str(said.retry_after)) * 1000)
    if said.items:
        value["items"] = [
            {
                "index": item.index,
                "outcome": item.state,
                "id": item.id,
                "outputs": {} if item.id is None else {"id": item.id},
                "error": None if item.error is None else item.error.to_json(),
            }
            for item in said.items
        ]
    return value


# -- reads --------------------------------------------------------------------------------------------------------


def _accounts(case: Case, library: Library, talk: Conversation) -> Done:
    found = drive(adapter(case.network).reads.accounts(), talk.answer)
    return Done(_shown_accounts(case.network, found))


def _shown_accounts(network: str, found: list[Json]) -> list[Json]:
    return [
        {
            "network": network,
            "nativeId": one.native_id,
            "id": one.native_id,
            "accountId": one.native_id,
            "name": one.name,
            "currency": one.currency,
            "timezone": one.timezone,
            "nativeStatus": one.native_status,
            "extras": dict(one.extras),
        }
        for one in found
    ]


def _tree(case: Case, library: Library, talk: Conversation) -> Done:
    one = adapter(case.network)
    found = drive(one.reads.tree(case.account), talk.answer)
    levels = [
        {"kind": level.kind, "native": level.native, "parentKey": level.parent.removeprefix("/") or None}
        for level in one.network.levels
    ]
    nodes = [node.to_json() for node in found.nodes]
    return Done({"network": case.network, "levels": levels, "nodes": nodes, "truncated": found.truncated})


def _query(case: Case) -> Query:
    given = case.input
    return Query(
        int(given.get("limit") or 50),
        given.get("cursor"),
        given.get("parentId"),
        given.get("status"),
        given.get("search"),
    )


def _entities(case: Case, library: Library, talk: Conversation) -> Done:
    found = drive(adapter(case.network).reads.entities(case.account, _need(case, "kind"), _query(case)), talk.answer)
    return Done(_paged([one.to_json() for one in found.entities], found.cursor))


def _catalog(case: Case, library: Library, talk: Conversation) -> Done:
    resource = str(_need(case, "resource"))
    if resource.startswith("report:"):
        resumed = evolve(case, input={**case.input, "job": resource.removeprefix("report:")})
        return _insights(resumed, library, talk)
    found = drive(adapter(case.network).reads.catalog(case.account, resource, _query(case)), talk.answer)
    return Done(_paged([row.to_json() for row in found.rows], found.cursor))


def _paged(rows: list[Json], cursor: str | None) -> Json:
    return {"data": rows, "page": {"nextCursor": cursor}}


def _entity(case: Case, library: Library, talk: Conversation) -> Done:
    kind, entity_id = _need(case, "kind"), str(_need(case, "entityId"))
    found = drive(adapter(case.network).reads.entity(case.account, kind, entity_id), talk.answer)
    return Done(found.to_json())


def _settings(case: Case, library: Library, talk: Conversation) -> Done:
    one = adapter(case.network)
    kind, entity_id = _need(case, "kind"), str(_need(case, "entityId"))
    found = drive(one.reads.editable(case.account, kind, entity_id), talk.answer)
    now = moment(case.input.get("now"))
    return Done(settings(one.network, case.account, kind, entity_id, found.native, now))


def _insights(case: Case, library: Library, talk: Conversation) -> Done:
    one, given = adapter(case.network), case.input
    end = date.fromisoformat(given["endDate"]) if given.get("endDate") else DAY.date()
    start = date.fromisoformat(given["startDate"]) if given.get("startDate") else end
    now = moment(given.get("now")) or datetime.combine(end + timedelta(days=1), time(12), UTC)
    found = drive(one.reads.insights(case.account, start, end, given.get("job"), now), talk.answer)
    while found.pending is not None and talk.left and len(talk.asked) < 100:
        # what is recorded beyond the first call is the resumed one
        found = drive(one.reads.insights(case.account, start, end, found.pending.job, now), talk.answer)
    beside = {"currency": case.account.currency, "timezone": case.account.timezone}
    return Done({**beside, **found.to_json()})


# -- connecting ---------------------------------------------------------------------------------------------------


def _first_request(case: Case) -> Mapping[str, Json]:
    """The parameters of the first recorded request: of its body, or of its address."""
    body = read(case.exchange, "/0/request/body")
    if isinstance(body, Mapping):
        return body
    return dict(parse_qsl(urlsplit(str(read(case.exchange, "/0/request/url", ""))).query))


def _app(case: Case) -> App:
    """The app that the case names, or the one in its first request, or that of the sandbox."""
    given = case.input.get("app") or case.input
    first = _first_request(case)
    client_id = given.get("clientId") or given.get("client_id") or first.get("client_id") or f"sandbox-{case.network}"
    secret = given.get("clientSecret") or given.get("client_secret") or first.get("client_secret") or "sandbox-secret"
    return App(str(client_id), str(secret))


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
    given, reads, first = case.input, adapter(case.network).reads, _first_request(case)
    answer = given.get("answer") or {"code": given.get("code") or ""}
    redirect = given.get("redirectUri") or first.get("redirect_uri") or "https://ads.example/connect/callback"
    verifier = given.get("verifier") or given.get("codeVerifier") or first.get("code_verifier") or "verifier"
    found = drive(reads.exchange(_app(case), redirect, answer, verifier, _milliseconds(case)), talk.answer)
    value = found.to_json()
    if talk.left:
        value["accounts"] = _shown_accounts(case.network, drive(reads.accounts(), talk.answer))
    return Done(value)


def _refresh(case: Case, library: Library, talk: Conversation) -> Done:
    flow = adapter(case.network).reads.refresh(
        _app(case), _credentials(_need(case, "credentials")), _milliseconds(case)
    )
    found = drive(flow, talk.answer)
    return Done(found.to_json())


def _sign(case: Case, library: Library, talk: Conversation) -> Done:
    written = _need(case, "request")
    request = Request.from_json(
        {"method": "GET", "nature": "write", **written, "headers": written.get("headers") or {}}
    )
    if request.body is not None and request.encoding == "none":
        request = evolve(request, encoding="json")
    nonce = str(case.input.get("nonce") or "nonce")
    sign = adapter(case.network).reads.sign
    made = sign(request, _credentials(_need(case, "credentials")), _app(case), _milliseconds(case), nonce)
    return Done({**made.to_json(), "url": filled(made)})


KINDS: Mapping[str, Callable[[Case, Library, Conversation], Done]] = {
    "create": _create,
    "activate": _plan,
    "status": _plan,
    "update": _plan,
    "delete": _plan,
    "edit": _plan,
    "native_create": _plan,
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
PLANNING = frozenset(kind for kind, function in KINDS.items() if function in (_plan, _create))
