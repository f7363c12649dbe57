"""One case against its adapter: what it expects, or what it refuses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy

from attrs import Factory, define, evolve

from adsunify.errors import AdsunifyError, InvalidInput
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_value

from . import around, hostile
from .cases import Case, Library, NotACase, moment
from .kinds import Done, run
from .matching import (
    Difference,
    body_differences,
    differ,
    differences,
    field_path,
    header_differences,
    same_figure,
    shown,
    url_differences,
    words_of,
)
from .recorded import Conversation, Unexpected

METRICS = ("impressions", "clicks", "spend", "conversions", "conversionValue", "videoViews", "reach")
BESIDE = frozenset({"case", "kind", "source", "note", "notes", "comment"})


@define
class Report:
    """What became of a case: ``failures``, and ``notes``, which fail nothing."""

    failures: list[Difference] = Factory(list)
    notes: list[Difference] = Factory(list)


def check(case: Case, library: Library, *, strict: bool = False, hostile_answers: bool = True) -> Report:
    """Hold a case against its adapter, with the unasked checks around it.

    ``strict``: the reason of a refusal counts, the whole exchange is used in its order, and lists and step keys are
    exactly the expected ones. The loose reading is for cases of people who know the contract only: there a reason or an
    unused answer is a note. ``hostile_answers``: broken answers are tried around the case, which takes long.
    """
    report = Report()
    try:
        _check(case, library, strict, report)
        if hostile_answers and not report.failures and case.refuse is None:
            report.failures += hostile.differences_of(case, library)
    except Exception as problem:  # noqa: BLE001 - a case of the wrong form or a defect: told, never a crash of the run
        report.failures.append(Difference("", "a result or a refusal", f"{type(problem).__name__}: {problem}"))
    return report


def _check(case: Case, library: Library, strict: bool, report: Report) -> None:
    before = deepcopy((case.input, case.account, case.exchange))
    try:
        talk = Conversation(case.network, case.exchange, strict=strict)
        done = run(case, library, talk)
    except Unexpected as problem:
        report.failures.append(problem.difference)
    except NotACase as problem:
        report.failures.append(Difference("", "a case", str(problem)))
    except AdsunifyError as problem:
        _refused(case, problem, report, strict)
    else:
        _expected(case, done, talk, report, strict)
        report.failures += around.differences_of(case, library, done)
    if (case.input, case.account, case.exchange) != before:
        report.failures.append(Difference("/input", "left as it was", "changed by the adapter"))


def _refused(case: Case, problem: AdsunifyError, report: Report, strict: bool) -> None:
    issues = [(issue.path, issue.code, issue.message) for issue in getattr(problem, "issues", ())]
    said = "; ".join(f"{path}: {code}: {message}" for path, code, message in issues) or problem.message
    if case.refuse is None:
        report.failures.append(Difference("", "a result", f"{type(problem).__name__}: {said}"))
        return
    field, reason = case.refuse.get("field"), case.refuse.get("reason")
    if field is not None:
        if not isinstance(problem, InvalidInput):
            report.failures.append(Difference("/refuse/field", str(field), f"{type(problem).__name__}: {said}"))
            return
        issues = [issue for issue in issues if _at(str(field), issue, strict)]
        if not issues:
            report.failures.append(Difference("/refuse/field", str(field), said))
            return
    if reason is not None and not _because(str(reason), problem, issues):
        wrong = Difference("/refuse/reason", str(reason), said)
        (report.failures if strict else report.notes).append(wrong)


def _at(field: str, issue: tuple[str, str, str], strict: bool) -> bool:
    """Whether an issue is at the member; in the loose reading also above or below it, or naming it in its sentence."""
    wanted, path = field_path(field), field_path(issue[0])
    if wanted == path:
        return True
    near = path.startswith(f"{wanted}.") or wanted.startswith(f"{path}.") if path and wanted else False
    return not strict and (near or (bool(wanted) and wanted in issue[2]))


def _because(reason: str, problem: AdsunifyError, issues: list[tuple[str, str, str]]) -> bool:
    """Whether the reason is a code, or its words stand in the code and sentence."""
    said = [(code, message) for _, code, message in issues] or [(problem.code, problem.message)]
    return any(
        reason in (code, problem.code) or words_of(reason) <= words_of(f"{code} {message}") for code, message in said
    )


# -- expectations -------------------------------------------------------------------------------------------------


def _expected(case: Case, done: Done, talk: Conversation, report: Report, strict: bool) -> None:
    if case.refuse is not None:
        wanted = f"a refusal at {case.refuse.get('field')} ({case.refuse.get('reason')})"
        report.failures.append(Difference("/refuse", wanted, shown(done.value)))
        return
    if talk.left:
        unused = Difference("/exchange", "every request to be made", f"{len(talk.left)} were not")
        (report.failures if strict else report.notes).append(unused)
    if not strict:
        done = _arranged(case, done)
    report.failures += list(expectations(case, done, strict))


KEYS: Mapping[str, tuple[str, ...]] = {"fields": ("field",), "nodes": ("kind", "id"), "bindings": ("to",)}
"""Lists of a result whose order nothing depends on, and the members that tell their elements apart."""


def _arranged(case: Case, done: Done) -> Done:
    """The result in the order, and with the step keys, of the expectation: for cases of people who know neither."""
    value, expect = deepcopy(done.value), case.expect
    if done.plan is not None and isinstance(expect, Mapping) and isinstance(expect.get("steps"), list):
        named = {
            other["key"]: one.get("key", other["key"])
            for one, other in zip(expect["steps"], value["steps"], strict=False)
            if isinstance(one, Mapping)
        }
        for one, other in zip(expect["steps"], value["steps"], strict=False):
            other["key"] = named[other["key"]]
            for binding in other["bindings"]:
                binding["step"] = named.get(binding["step"], binding["step"])
            _in_order(one, other)
    _in_order(_unwrapped(expect), value)
    if isinstance(_unwrapped(expect), list) and case.kind == "tree":
        _in_order({"nodes": _unwrapped(expect)}, value)
    return evolve(done, value=value)


def _in_order(expect: Json, value: Json) -> None:
    for name, members in KEYS.items():
        if not (isinstance(expect, Mapping) and isinstance(value, dict) and isinstance(expect.get(name), list)):
            continue
        wanted = [[get_value(one, f"/{member}") for member in members] for one in expect[name]]
        rows = value.get(name) or []
        chosen = [row for key in wanted for row in rows if [row.get(member) for member in members] == key]
        if len(chosen) == len(wanted) and (name == "fields" or len(chosen) == len(rows)):
            value[name] = chosen


def expectations(case: Case, done: Done, strict: bool) -> Iterator[Difference]:
    """Where the result is not what the case expects."""
    expect = case.expect
    if done.plan is not None:
        yield from _plan_differences(expect, done.value, done)
    elif case.kind == "outcome":
        yield from _outcome_differences(expect, done, strict)
    elif case.kind == "accounts":
        yield from differences(_unwrapped(expect, "accounts"), done.value)
    elif case.kind in ("entities", "catalog") and isinstance(done.value, Mapping) and "page" in done.value:
        yield from _page_differences(expect, done.value)
    elif case.kind == "tree":
        found = done.value if isinstance(_unwrapped(expect), Mapping) else done.value["nodes"]
        yield from differences(_unwrapped(expect), found)
    elif case.kind in ("insights", "catalog"):
        yield from _insights_differences(_unwrapped(expect), done.value)
    elif case.kind in ("connect", "refresh"):
        yield from _token_differences(expect, done.value)
    elif case.kind == "sign":
        expect = expect if "headers" in expect else {"headers": expect}
        yield from header_differences(expect["headers"], done.value.get("headers", {}))
        if "url" in expect:
            yield from url_differences(expect["url"], done.value["url"])
        yield from differences({name: one for name, one in expect.items() if name in ("query", "body")}, done.value)
    else:
        yield from differences(_unwrapped(expect), done.value)


def _unwrapped(expect: Json, name: str = "data") -> Json:
    """What stands in the envelope, where the case has it."""
    if isinstance(expect, Mapping):
        for member in (name, "data"):
            if member in expect and set(expect) <= {member, "page"}:
                return expect[member]
    return expect


def _plan_differences(expect: Json, found: Json, done: Done) -> Iterator[Difference]:
    expect = {"steps": expect} if isinstance(expect, list) else expect
    if not isinstance(expect, Mapping):
        yield Difference("", "an object with steps", shown(expect))
        return
    beside = {name: one for name, one in expect.items() if name not in ("steps", *BESIDE)}
    yield from differences(beside, found)
    steps = expect.get("steps")
    if steps is None:
        return
    if len(steps) != len(found["steps"]):
        does = [f"{one['method']} {one['url']}" for one in found["steps"]]
        yield Difference("/steps", f"{len(steps)} steps", f"{len(does)}: {shown(does)}")
        return
    assert done.plan is not None
    for index, (one, other, step) in enumerate(zip(steps, found["steps"], done.plan.steps, strict=True)):
        at = f"/steps/{index}"
        address = one.get("url") or one.get("path")
        if address:
            yield from url_differences(address, other["url"], f"{at}/url")
        if "body" in one:
            yield from body_differences(one["body"], other["body"], step.request.encoding, f"{at}/body")
        yield from header_differences(one.get("headers") or {}, other["headers"], f"{at}/headers")
        rest = {name: value for name, value in one.items() if name not in ("url", "path", "body", "headers", *BESIDE)}
        yield from differences(rest, other, at)


def _outcome_differences(expect: Json, done: Done, strict: bool) -> Iterator[Difference]:
    if isinstance(expect, str):
        expect = {"outcome": expect}
    found = done.value
    yield from differences(
        {name: one for name, one in expect.items() if name not in ("outputs", "error", "items", *BESIDE)}, found
    )
    yield from _result_differences(expect, found, done.codes, strict, "")
    items = expect.get("items")
    if items is None:
        return
    others = found.get("items", [])
    if len(items) != len(others):
        yield Difference("/items", f"{len(items)} items", shown(others))
        return
    for index, (one, other) in enumerate(zip(items, others, strict=True)):
        rest = {name: value for name, value in one.items() if name not in ("outputs", "error", *BESIDE)}
        yield from differences(rest, other, f"/items/{index}")
        yield from _result_differences(one, other, (), strict, f"/items/{index}")


def _result_differences(
    expect: Mapping[str, Json], found: Mapping[str, Json], codes: tuple[str, ...], strict: bool, at: str
) -> Iterator[Difference]:
    outputs, others = expect.get("outputs"), found.get("outputs", {})
    if outputs is not None:
        if not strict and len(outputs) == len(others) == 1:  # one output each: its name says nothing more
            outputs, others = {"": next(iter(outputs.values()))}, {"": next(iter(others.values()))}
        yield from differences(outputs, others, f"{at}/outputs")
    error = expect.get("error")
    if error is None:
        return
    native = found.get("error") or {}
    if error.get("code") is not None:
        known = {str(code) for code in (*codes, native.get("code")) if code is not None}
        known |= {code.rpartition(".")[2] for code in known}
        if str(error["code"]) not in known:
            yield Difference(f"{at}/error/code", shown(error["code"]), shown(native.get("code")))
    message = error.get("message")
    if message is not None and message not in (native.get("message") or ""):
        yield differ(f"{at}/error/message", message, native.get("message"))
    yield from differences(
        {name: one for name, one in error.items() if name not in ("code", "message")}, native, f"{at}/error"
    )


def _page_differences(expect: Json, found: Mapping[str, Json]) -> Iterator[Difference]:
    rows = expect
    if isinstance(expect, Mapping):
        rows = next((expect[name] for name in ("data", "entities", "rows", "items") if name in expect), None)
        page = expect.get("page") or {name: expect[name] for name in ("nextCursor", "cursor") if name in expect}
        cursor = page.get("nextCursor", page.get("cursor"))
        if page and cursor != found["page"]["nextCursor"]:
            yield differ("/page/nextCursor", cursor, found["page"]["nextCursor"])
    if rows is not None:
        yield from differences(rows, found["data"], "/data")


def _insights_differences(expect: Json, found: Mapping[str, Json]) -> Iterator[Difference]:
    if isinstance(expect, list):
        expect = {"rows": expect}
    for name, value in expect.items():
        if name == "rows" and isinstance(value, list) and len(value) == len(found["rows"]):
            for index, (one, other) in enumerate(zip(value, found["rows"], strict=True)):
                yield from _figure_differences(one, other, f"/rows/{index}")
        elif name == "totals" and isinstance(value, Mapping):
            yield from _figure_differences(value, found["totals"], "/totals")
        else:
            yield from differences({name: value}, found)


def _figure_differences(expect: Mapping[str, Json], found: Mapping[str, Json], at: str) -> Iterator[Difference]:
    for name, value in expect.items():
        if name in METRICS:
            if not same_figure(value, found.get(name)):
                yield differ(f"{at}/{name}", value, found.get(name))
        else:
            yield from differences({name: value}, found, at)


def _token_differences(expect: Json, found: Mapping[str, Json]) -> Iterator[Difference]:
    for name, value in expect.items():
        if name == "expiresAt" and value is not None:
            if moment(value) != moment(found.get("expiresAt")):
                yield differ("/expiresAt", value, found.get("expiresAt"))
        else:
            yield from differences({name: value}, found)
