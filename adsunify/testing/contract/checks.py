"""Compares a case with its adapter: the expected result, or the expected refusal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy

from attrs import Factory, define, evolve

from adsunify.errors import AdsunifyError, InvalidInput
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_value

from .cases import Case, InvalidCase, Library, parse_time
from .conversation import Conversation, UnexpectedRequest
from .exceptions import ExceptionRecorder
from .hostile_responses import check_case_with_hostile_responses
from .kinds import CaseResult, run_case
from .matching import (
    Difference,
    compare_bodies,
    compare_headers,
    compare_urls,
    compare_values,
    format_value,
    is_same_figure,
    make_difference,
    normalize_field_path,
    split_words,
)
from .plan_checks import check_result

METRICS = ("impressions", "clicks", "spend", "conversions", "conversionValue", "videoViews", "reach")
COMMENTS = frozenset({"case", "kind", "source", "note", "notes", "comment"})
"""Members of an expectation that are for people and are not compared."""


@define
class CaseReport:
    """The ``failures`` of a case, and ``notes``, which do not fail it."""

    failures: list[Difference] = Factory(list)
    notes: list[Difference] = Factory(list)


def check_case(case: Case, library: Library, *, strict: bool = False, try_hostile_responses: bool = True) -> CaseReport:
    """Compare a case with its adapter, and run the checks that every case must pass.

    Args:
        case: the case.
        library: the cases that it may name.
        strict: compare the reasons of refusals, require every response of the exchange in its order, and require
            exactly the expected lists and step keys. Otherwise a wrong reason or an unused response is a note, because
            an author who has seen only the contract cannot know it.
        try_hostile_responses: run the case with hostile responses as well, which takes longer.

    Returns:
        The report. An adapter that raises an unknown exception is a failure; this function does not raise it.
    """
    report = CaseReport()
    with ExceptionRecorder() as recorder:
        _run_and_compare(case, library, strict, report)
        if try_hostile_responses and not report.failures and case.refuse is None:
            report.failures += check_case_with_hostile_responses(case, library)
    if (problem := recorder.exception) is not None:
        report.failures.append(Difference("", "a result or a refusal", f"{type(problem).__name__}: {problem}"))
    return report


def _run_and_compare(case: Case, library: Library, strict: bool, report: CaseReport) -> None:
    before = deepcopy((case.input, case.account, case.exchange))
    try:
        conversation = Conversation(case.network, case.exchange, strict=strict)
        result = run_case(case, library, conversation)
    except UnexpectedRequest as problem:
        report.failures.append(problem.difference)
    except InvalidCase as problem:
        report.failures.append(Difference("", "a case", str(problem)))
    except AdsunifyError as problem:
        _compare_refusal(case, problem, report, strict)
    else:
        _compare_result(case, result, conversation, report, strict)
        report.failures += check_result(case, library, result)
    if (case.input, case.account, case.exchange) != before:
        report.failures.append(Difference("/input", "left as it was", "changed by the adapter"))


def _compare_refusal(case: Case, problem: AdsunifyError, report: CaseReport, strict: bool) -> None:
    issues = [(issue.path, issue.code, issue.message) for issue in getattr(problem, "issues", ())]
    text = "; ".join(f"{path}: {code}: {message}" for path, code, message in issues)
    text = text or f"{problem.code}: {problem.message}"
    if case.refuse is None:
        report.failures.append(Difference("", "a result", f"{type(problem).__name__}: {text}"))
        return
    field, reason = case.refuse.get("field"), case.refuse.get("reason")
    if field is not None:
        if not isinstance(problem, InvalidInput):
            expected = "no field: a refusal that is not of the input has only a reason"
            report.failures.append(Difference("/refuse/field", expected, f"{type(problem).__name__}: {text}"))
            return
        issues = [issue for issue in issues if _is_at_field(str(field), issue, strict)]
        if not issues:
            report.failures.append(Difference("/refuse/field", str(field), text))
            return
    if reason is not None and not _has_reason(str(reason), problem, issues):
        difference = Difference("/refuse/reason", str(reason), text)
        (report.failures if strict else report.notes).append(difference)


def _is_at_field(field: str, issue: tuple[str, str, str], strict: bool) -> bool:
    """Whether an issue is at the member; if not strict, also above or below it, or with its name in the message."""
    expected_path, path = normalize_field_path(field), normalize_field_path(issue[0])
    if expected_path == path:
        return True
    is_near = (
        path.startswith(f"{expected_path}.") or expected_path.startswith(f"{path}.")
        if path and expected_path
        else False
    )
    return not strict and (is_near or (bool(expected_path) and expected_path in issue[2]))


def _has_reason(reason: str, problem: AdsunifyError, issues: list[tuple[str, str, str]]) -> bool:
    """Whether the reason is a code of the refusal, or all its words are in a code and its message."""
    messages = [(code, message) for _, code, message in issues] or [(problem.code, problem.message)]
    return any(
        reason in (code, problem.code) or split_words(reason) <= split_words(f"{code} {message}")
        for code, message in messages
    )


def _compare_result(
    case: Case, result: CaseResult, conversation: Conversation, report: CaseReport, strict: bool
) -> None:
    if case.refuse is not None:
        expected = f"a refusal at {case.refuse.get('field')} ({case.refuse.get('reason')})"
        report.failures.append(Difference("/refuse", expected, format_value(result.value)))
        return
    if conversation.unused_positions:
        unused = Difference("/exchange", "every request to be made", f"{len(conversation.unused_positions)} were not")
        (report.failures if strict else report.notes).append(unused)
    if not strict:
        result = _arrange_result(case, result)
    report.failures += compare_expectation(case, result, strict)


# -- the loose reading --------------------------------------------------------------------------------------------

UNORDERED_LISTS: Mapping[str, tuple[str, ...]] = {"fields": ("field",), "nodes": ("kind", "id"), "bindings": ("to",)}
"""Lists of a result whose order has no meaning, and the members that identify their elements."""


def _arrange_result(case: Case, result: CaseResult) -> CaseResult:
    """The result with the order and the step keys of the expectation."""
    value, expect = deepcopy(result.value), case.expect
    if result.plan is not None and isinstance(expect, Mapping) and isinstance(expect.get("steps"), list):
        keys = {
            step["key"]: expected.get("key", step["key"])
            for expected, step in zip(expect["steps"], value["steps"], strict=False)
            if isinstance(expected, Mapping)
        }
        for expected, step in zip(expect["steps"], value["steps"], strict=False):
            step["key"] = keys[step["key"]]
            for binding in step["bindings"]:
                binding["step"] = keys.get(binding["step"], binding["step"])
            _arrange_lists(expected, step)
    data = _unwrap(expect)
    _arrange_lists({"nodes": data} if isinstance(data, list) and case.kind == "tree" else data, value)
    return evolve(result, value=value)


def _arrange_lists(expect: Json, value: Json) -> None:
    for name, members in UNORDERED_LISTS.items():
        if not (isinstance(expect, Mapping) and isinstance(value, dict) and isinstance(expect.get(name), list)):
            continue
        expected_keys = [[get_value(element, f"/{member}") for member in members] for element in expect[name]]
        rows = value.get(name) or []
        chosen = [row for key in expected_keys for row in rows if [row.get(member) for member in members] == key]
        if len(chosen) == len(expected_keys) and (name == "fields" or len(chosen) == len(rows)):
            value[name] = chosen


# -- expectations -------------------------------------------------------------------------------------------------


def compare_expectation(case: Case, result: CaseResult, strict: bool) -> Iterator[Difference]:
    """Yield each place where the result is not what the case expects; ``strict`` as for :func:`check_case`."""
    expect, value = case.expect, result.value
    if result.plan is not None:
        yield from _compare_plan(expect, value, result)
    elif case.kind == "outcome":
        yield from _compare_outcome(expect, result, strict)
    elif case.kind == "accounts":
        yield from compare_values(_unwrap(expect, "accounts"), value)
    elif case.kind in ("entities", "catalog") and isinstance(value, Mapping) and "page" in value:
        yield from _compare_page(expect, value)
    elif case.kind == "tree":
        is_whole = isinstance(_unwrap(expect), Mapping)
        yield from compare_values(_unwrap(expect), value if is_whole else value["nodes"])
    elif case.kind in ("insights", "catalog", "report"):
        yield from _compare_insights(_unwrap(expect), value)
    elif case.kind in ("connect", "refresh"):
        yield from _compare_credentials(expect, value)
    elif case.kind == "sign":
        expect = expect if "headers" in expect else {"headers": expect}
        yield from compare_headers(expect["headers"], value.get("headers", {}))
        if "url" in expect:
            yield from compare_urls(expect["url"], value["url"])
        yield from compare_values({name: expect[name] for name in ("query", "body") if name in expect}, value)
    else:
        yield from compare_values(_unwrap(expect), value)


def _unwrap(expect: Json, name: str = "data") -> Json:
    """The content of the envelope, if the case has one."""
    if isinstance(expect, Mapping):
        for member in (name, "data"):
            if member in expect and set(expect) <= {member, "page"}:
                return expect[member]
    return expect


def _leave_out(value: Mapping[str, Json], *names: str) -> dict[str, Json]:
    """The members of an expectation without some of them, and without comments."""
    return {name: member for name, member in value.items() if name not in names and name not in COMMENTS}


def _compare_plan(expect: Json, value: Json, result: CaseResult) -> Iterator[Difference]:
    expect = {"steps": expect} if isinstance(expect, list) else expect
    if not isinstance(expect, Mapping):
        yield Difference("", "an object with steps", format_value(expect))
        return
    yield from compare_values(_leave_out(expect, "steps"), value)
    steps = expect.get("steps")
    if steps is None:
        return
    if len(steps) != len(value["steps"]):
        requests = [f"{step['method']} {step['url']}" for step in value["steps"]]
        yield Difference("/steps", f"{len(steps)} steps", f"{len(requests)}: {format_value(requests)}")
        return
    assert result.plan is not None
    for index, (expected, printed, step) in enumerate(zip(steps, value["steps"], result.plan.steps, strict=True)):
        place = f"/steps/{index}"
        address = expected.get("url") or expected.get("path")
        if address:
            yield from compare_urls(address, printed["url"], f"{place}/url")
        if "body" in expected:
            yield from compare_bodies(expected["body"], printed["body"], step.request.encoding, f"{place}/body")
        yield from compare_headers(expected.get("headers") or {}, printed["headers"], f"{place}/headers")
        yield from compare_values(_leave_out(expected, "url", "path", "body", "headers"), printed, place)


def _compare_outcome(expect: Json, result: CaseResult, strict: bool) -> Iterator[Difference]:
    if isinstance(expect, str):
        expect = {"outcome": expect}
    value = result.value
    yield from compare_values(_leave_out(expect, "outputs", "error", "items"), value)
    yield from _compare_outputs_and_error(expect, value, result.codes, strict, "")
    expected_items = expect.get("items")
    if expected_items is None:
        return
    items = value.get("items", [])
    if len(expected_items) != len(items):
        yield Difference("/items", f"{len(expected_items)} items", format_value(items))
        return
    for index, (expected, item) in enumerate(zip(expected_items, items, strict=True)):
        yield from compare_values(_leave_out(expected, "outputs", "error"), item, f"/items/{index}")
        yield from _compare_outputs_and_error(expected, item, (), strict, f"/items/{index}")


def _compare_outputs_and_error(
    expect: Mapping[str, Json], value: Mapping[str, Json], codes: tuple[str, ...], strict: bool, place: str
) -> Iterator[Difference]:
    expected_outputs, outputs = expect.get("outputs"), value.get("outputs", {})
    if expected_outputs is not None:
        if not strict and len(expected_outputs) == len(outputs) == 1:  # the names of single outputs need not match
            expected_outputs, outputs = {"": next(iter(expected_outputs.values()))}, {"": next(iter(outputs.values()))}
        yield from compare_values(expected_outputs, outputs, f"{place}/outputs")
    error = expect.get("error")
    if error is None:
        return
    native = value.get("error") or {}
    if error.get("code") is not None:
        known = {str(code) for code in (*codes, native.get("code")) if code is not None}
        known |= {code.rpartition(".")[2] for code in known}
        if str(error["code"]) not in known:
            yield make_difference(f"{place}/error/code", error["code"], native.get("code"))
    message = error.get("message")
    if message is not None and message not in (native.get("message") or ""):
        yield make_difference(f"{place}/error/message", message, native.get("message"))
    others = {name: member for name, member in error.items() if name not in ("code", "message")}
    yield from compare_values(others, native, f"{place}/error")


def _compare_page(expect: Json, value: Mapping[str, Json]) -> Iterator[Difference]:
    rows = expect
    if isinstance(expect, Mapping):
        rows = next((expect[name] for name in ("data", "entities", "rows", "items") if name in expect), None)
        page = expect.get("page") or {name: expect[name] for name in ("nextCursor", "cursor") if name in expect}
        cursor = page.get("nextCursor", page.get("cursor"))
        if page and cursor != value["page"]["nextCursor"]:
            yield make_difference("/page/nextCursor", cursor, value["page"]["nextCursor"])
    if rows is not None:
        yield from compare_values(rows, value["data"], "/data")


def _compare_insights(expect: Json, value: Mapping[str, Json]) -> Iterator[Difference]:
    if isinstance(expect, list):
        expect = {"rows": expect}
    for name, expected_value in expect.items():
        if name == "rows" and isinstance(expected_value, list) and len(expected_value) == len(value["rows"]):
            for index, (expected, row) in enumerate(zip(expected_value, value["rows"], strict=True)):
                yield from _compare_figures(expected, row, f"/rows/{index}")
        elif name == "totals" and isinstance(expected_value, Mapping):
            yield from _compare_figures(expected_value, value["totals"], "/totals")
        else:
            yield from compare_values({name: expected_value}, value)


def _compare_figures(expect: Mapping[str, Json], value: Mapping[str, Json], place: str) -> Iterator[Difference]:
    for name, expected in expect.items():
        if name in METRICS:
            if not is_same_figure(expected, value.get(name)):
                yield make_difference(f"{place}/{name}", expected, value.get(name))
        else:
            yield from compare_values({name: expected}, value, place)


def _compare_credentials(expect: Json, value: Mapping[str, Json]) -> Iterator[Difference]:
    for name, expected in expect.items():
        if name == "expiresAt" and expected is not None:
            if parse_time(expected) != parse_time(value.get("expiresAt")):
                yield make_difference("/expiresAt", expected, value.get("expiresAt"))
        else:
            yield from compare_values({name: expected}, value)
