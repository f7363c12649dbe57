"""The runner itself: it passes what is right, and finds what is wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from adsunify.adapter import hierarchy
from adsunify.adapter.account import Account
from adsunify.adapter.hierarchy import EntityTree
from adsunify.http.messages import Request, Response
from adsunify.models.brief import read_brief
from adsunify.networks.registry import get_adapter
from adsunify.planning import plan as plan_brief
from adsunify.plans.records import Binding, Plan, make_plan
from adsunify.testing.contract import hostile_responses, plan_checks
from adsunify.testing.contract.__main__ import main
from adsunify.testing.contract.cases import Case, InvalidFile, Library, read_cases
from adsunify.testing.contract.checks import check_case
from adsunify.testing.contract.conversation import Conversation, UnexpectedRequest
from adsunify.testing.contract.kinds import KINDS
from adsunify.testing.contract.matching import (
    compare_bodies,
    compare_headers,
    compare_urls,
    compare_values,
    is_same_figure,
    normalize_field_path,
)
from adsunify.testing.contract.plans import find_step, make_plan_of_case
from adsunify.values.json_pointer import MISSING, get_value, set_value
from tests.networks.samples import list_example_briefs

GOOD = Path(__file__).parent / "examples" / "good"
READ = [case for case in read_cases(GOOD) if isinstance(case, Case)]
LIBRARY = Library.from_files(READ)


def get_example(name: str) -> Case:
    return next(case for case in READ if case.id == name)


def change_case(case: Case, place: str, value: Any) -> Case:
    """The case with another value at a pointer such as ``/expect/steps/0/method``."""
    whole = {name: deepcopy(getattr(case, name)) for name in ("input", "expect", "refuse", "exchange")}
    whole["exchange"] = list(whole["exchange"])
    assert get_value(whole, place, MISSING) is not MISSING or value is not MISSING
    set_value(whole, place, value)
    return evolve(case, **{**whole, "exchange": tuple(whole["exchange"])})


def find_failures(case: Case, *, strict: bool = False) -> str:
    return "\n".join(str(failure) for failure in check_case(case, LIBRARY, strict=strict).failures)


# -- what passes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", READ, ids=lambda case: case.id)
def test_a_right_case_passes(case: Case) -> None:
    assert find_failures(case, strict=True) == ""


def test_a_folder_is_run_and_counted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(GOOD)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"{len(READ)} passed, 0 failed"


def test_cases_need_no_inner_folders(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "amazon").mkdir()
    source = GOOD / "amazon" / "exemplary" / "create.json"
    (tmp_path / "amazon" / "create.json").write_bytes(source.read_bytes())
    assert main([str(tmp_path)]) == 0
    assert main([str(tmp_path / "amazon")]) == 0
    assert capsys.readouterr().out == "1 passed, 0 failed\n" * 2


# -- what fails ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "place", "value", "says"),
    [
        ("meta/exemplary/create", "/expect/steps/0/method", "PUT", "/steps/0/method"),
        (
            "meta/exemplary/create",
            "/expect/steps/0/url",
            "https://graph.facebook.com/v25.0/act_7007/campaigns",
            "v25.0",
        ),
        ("meta/exemplary/create", "/expect/steps/1/body/daily_budget", 1851, "1851, found 1850"),
        ("meta/exemplary/create", "/expect/steps/1/body/targeting/geo_locations/countries", ["NO", "SE"], "2 elements"),
        ("meta/exemplary/create", "/expect/steps/2/headers/Content-Type", "application/json", "/steps/2/headers"),
        ("meta/exemplary/create", "/expect/steps/1/bindings/0/step", "other", "/steps/1/bindings/0/step"),
        ("meta/exemplary/create", "/expect/steps/3/body/nothing", 1, "/steps/3/body/nothing"),
        ("meta/exemplary/create", "/expect/steps/4", {}, "/steps: expected 5 steps"),
        ("meta/exemplary/activate", "/expect/risk", "low", "/risk"),
        ("meta/exemplary/activate", "/input/elsewhere", {"id": "1"}, "elsewhere"),
        ("meta/exemplary/outcome", "/expect/outputs/id", "6102", "6102"),
        ("meta/exemplary/outcome", "/expect/outcome", "rejected", "/outcome"),
        ("meta/exemplary/outcome", "/exchange/0/request/method", "PUT", "/exchange/0/request/method"),
        ("meta/exemplary/outcome", "/exchange/0/request/body", {"name": "Coffee"}, "Coffee"),
        ("meta/exemplary/outcome", "/input/step/key", "elsewhere", "no step elsewhere"),
        ("meta/supplemental/outcome_throttled", "/expect/error/code", 18, "/error/code"),
        ("meta/supplemental/outcome_throttled", "/expect/retryAfterMs", 1, "/retryAfterMs"),
        ("meta/supplemental/refused", "/refuse/field", "creative.url", "/refuse/field"),
        ("meta/supplemental/refused", "/input/brief/creative/imageHash", "0f1e2d", "expected a refusal"),
        ("amazon/exemplary/create", "/expect/steps/0/body/campaigns/0/budget/budget", "35.5", '"35.5", found 35.5'),
        ("amazon/exemplary/outcome_keywords", "/expect/items/1/outcome", "applied", "/items/1/outcome"),
        ("amazon/exemplary/outcome_keywords", "/expect/items/1/error/code", "OTHER", "/items/1/error/code"),
        ("amazon/exemplary/outcome_keywords", "/exchange/0/request/body/keywords/1/matchType", "EXACT", "matchType"),
        ("amazon/exemplary/tree", "/expect/nodes/1/status", "paused", "/nodes/1/status"),
        ("amazon/exemplary/tree", "/exchange/1/request/body/nextToken", "m", "/exchange/1/request/body/nextToken"),
        ("amazon/exemplary/edit", "/expect/steps/0/changes/0/after", "23", "/changes/0/after"),
        ("amazon/exemplary/edit", "/input/edit/mode", "decrease", "/steps/0/body"),
        ("amazon/exemplary/sign", "/expect/headers/authorization", "Bearer y", "/headers/authorization"),
        ("amazon/exemplary/refresh", "/expect/expiresAt", "2026-11-01T01:00:01Z", "/expiresAt"),
        ("amazon/exemplary/refresh", "/expect/accessToken", "old", "/accessToken"),
        ("amazon/exemplary/insights", "/expect/rows/0/spend", "1.76", "/rows/0/spend"),
        ("amazon/exemplary/insights", "/expect/rows/0/conversions", 0, "/rows/0/conversions"),
        ("amazon/exemplary/insights", "/expect/coverage/complete", False, "/coverage/complete"),
        ("amazon/exemplary/insights", "/exchange/3", {"request": {}, "response": {"body": {}}}, "1 were not"),
    ],
)
def test_a_wrong_expectation_is_found_at_its_place(name: str, place: str, value: Any, says: str) -> None:
    assert says in find_failures(change_case(get_example(name), place, value), strict=True)


def test_every_kind_runs() -> None:
    assert find_failures(evolve(get_example("meta/exemplary/create"), kind="dance")).startswith("/: expected a case")
    assert {case.kind for case in READ} <= set(KINDS)


def test_the_reason_of_a_refusal_counts_in_the_strict_reading_only() -> None:
    case = change_case(get_example("meta/supplemental/refused"), "/refuse/reason", "wrong_colour")
    assert "wrong_colour" in find_failures(case, strict=True)
    report = check_case(case, LIBRARY)
    assert (report.failures, len(report.notes)) == ([], 1)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{", "JSON"),
        ("[]", "object"),
        ("{}", "kind"),
        ('{"kind": "tree", "input": {}}', "expect or refuse"),
        ('{"kind": "tree", "input": {}, "expect": {}, "refuse": {}}', "expect or refuse"),
        ('{"kind": "tree", "input": {}, "expect": {}, "exchange": [{}]}', "exchange"),
        ('{"kind": "tree", "input": [], "expect": {}}', "input"),
        ('{"kind": "tree", "account": {"network": "nowhere"}, "expect": {}}', "network"),
        ('{"kind": "tree", "account": {"extras": [1]}, "expect": {}}', "extras"),
        ('{"kind": "create", "input": {}, "refuse": {"field": "name"}}', "exemplary"),
        ('{"kind": "create", "input": {"brief": 1}, "expect": {}}', "brief"),
        ('{"kind": "create", "input": {}, "expect": {}}', "input.brief"),
        ('{"kind": "outcome", "input": {"step": {}}, "exchange": [{"response": {}}], "expect": {}}', "input.step"),
        ('{"kind": "outcome", "input": {}, "expect": {}}', "one exchange"),
        ('{"kind": "insights", "input": {"startDate": "soon"}, "expect": {}}', "soon"),
        (
            '{"kind": "tree", "account": {"currency": 5}, "expect": {}, "exchange": [{"request": 5, "response": {}}]}',
            "",
        ),
        ('{"kind": "tree", "expect": {}, "exchange": [{"response": {"status": "good"}}]}', ""),
        ('{"kind": "create", "input": {"brief": {}, "now": []}, "expect": {"steps": 5}}', ""),
        ('{"kind": "entity", "input": {"kind": 1, "entityId": []}, "expect": 5}', ""),
        ('{"kind": "edit", "input": {"kind": "ad", "entityId": "1", "edit": {"fields": 5}}, "expect": {}}', ""),
        ('{"kind": "sign", "input": {"request": {}, "credentials": 5}, "expect": {}}', ""),
        ("[" * 2000, ""),
        ('{"kind": "activate", "input": {"x": {"id": "1"}}, "expect": {}}', "x"),
    ],
)
def test_what_is_no_case_fails_and_crashes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, says: str
) -> None:
    folder = tmp_path / "meta" / "exemplary"
    folder.mkdir(parents=True)
    (folder / "odd.json").write_text(content)
    assert main([str(tmp_path)]) == 1
    *failures, last = capsys.readouterr().out.splitlines()
    assert last == "0 passed, 1 failed"
    assert says in failures[0]


def test_what_is_no_file_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "meta" / "folder.json").mkdir(parents=True)
    (tmp_path / "meta" / "bytes.json").write_bytes(b"\xff\xfe\x00")
    assert main([str(tmp_path)]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "0 passed, 2 failed"


def test_nothing_to_run_is_no_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 1
    printed = capsys.readouterr()
    assert printed.out == "0 passed, 0 failed\n"
    assert printed.err == f"{tmp_path} contains no case: no .json file is below it.\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: FOLDER"),
        (["nowhere"], "nowhere does not exist."),
        ([__file__], f"{__file__} is a file; name the folder that contains it."),
    ],
)
def test_wrong_arguments_run_nothing(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert capsys.readouterr().err.splitlines()[-1].endswith(f"error: {message}")


def test_a_failure_is_a_line_with_file_case_and_values(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = json.loads((GOOD / "amazon" / "exemplary" / "sign.json").read_text())
    whole["expect"]["headers"]["authorization"] = "Bearer y"
    folder = tmp_path / "amazon" / "supplemental"
    folder.mkdir(parents=True)
    (folder / "sign.json").write_text(json.dumps(whole))
    assert main([str(tmp_path)]) == 1
    place = f"amazon/supplemental/sign.json ({whole['case']}): /headers/authorization"
    failure = f'FAILED {place}: expected "Bearer y", found "Bearer Atza|x"'
    assert capsys.readouterr().out.splitlines() == [failure, "0 passed, 1 failed"]


def test_the_strict_option_compares_reasons(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = json.loads((GOOD / "meta" / "supplemental" / "refused.json").read_text())
    whole["refuse"]["reason"] = "wrong_colour"
    folder = tmp_path / "meta" / "supplemental"
    folder.mkdir(parents=True)
    (folder / "refused.json").write_text(json.dumps(whole))
    assert main([str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith("note meta/supplemental/refused.json")
    assert main([str(tmp_path), "--strict"]) == 1
    assert "/refuse/reason: expected wrong_colour" in capsys.readouterr().out


def test_the_runner_needs_no_package_of_the_tests() -> None:
    """Authors of adapters install adsunify alone."""
    blocked = ("tests", "pytest", "hypothesis", "jsonschema", "click", "rich", "aiohttp", "sqlalchemy")
    block = f"import sys; sys.modules.update(dict.fromkeys({blocked}));"
    run = f"from adsunify.testing.contract.__main__ import main; sys.exit(main([{str(GOOD / 'meta')!r}]))"
    done = subprocess.run([sys.executable, "-c", f"{block} {run}"], capture_output=True, text=True)
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["5 passed, 0 failed"]), done.stderr


def test_a_network_may_be_named_by_the_account(tmp_path: Path) -> None:
    whole = json.loads((GOOD / "amazon" / "exemplary" / "sign.json").read_text())
    whole["account"] = {"network": "amazon"}
    (tmp_path / "sign.json").write_text(json.dumps(whole))
    assert main([str(tmp_path)]) == 0
    del whole["account"]
    (tmp_path / "sign.json").write_text(json.dumps(whole))
    assert [type(case) for case in read_cases(tmp_path)] == [InvalidFile]


# -- how things are compared --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expected", "other", "equal"),
    [
        ({"a": 1}, {"a": 1, "b": 2}, True),
        ({"a": None}, {}, True),
        ({"a": None}, {"a": 0}, False),
        ([1], [1, 2], False),
        ("12.50", "12.5", True),
        ("12.50", "12.51", False),
        ("12", "012", False),
        (1, True, False),
        (1, "1", False),
        ({}, [], False),
        ([], {}, False),
    ],
)
def test_members_lists_and_amounts(expected: Any, other: Any, equal: bool) -> None:
    assert (list(compare_values(expected, other)) == []) is equal


def test_figures_and_their_texts_are_one() -> None:
    assert is_same_figure(3, "3")
    assert is_same_figure("1.50", "1.5")
    assert not is_same_figure(0, None)
    assert not is_same_figure("1", "2")


def test_addresses() -> None:
    url = "https://h.example/a%20b?x=1&y=%5B%22a%22%2C%20%22b%22%5D"
    assert list(compare_urls(url, "https://h.example/a b?y=%5B%22a%22%2C%22b%22%5D&x=1&access_token=t")) == []
    assert list(compare_urls(url, "https://h.example/a b?y=%5B%22a%22%5D&x=1"))
    assert list(compare_urls(url, "https://g.example/a b"))


def test_headers_and_forms() -> None:
    assert list(compare_headers({"ACCEPT": "a/b; charset=utf-8"}, {"accept": "A/b"})) == []
    assert list(compare_headers({"accept": "a/b"}, {}))
    assert list(compare_bodies({"a": "1", "b": "[1]"}, {"a": 1, "b": [1]}, "form_json")) == []
    assert list(compare_bodies({"a": "1"}, {"a": 1}, "json"))


def test_fields() -> None:
    assert normalize_field_path("campaign/creative/url") == normalize_field_path("creative.url") == "creative.url"
    assert normalize_field_path("account.extras.region") == "account.region"
    assert normalize_field_path("targeting.keywords[0].text") == "targeting.keywords.0.text"
    assert normalize_field_path("campaign") == "campaign"


# -- the unasked checks find what they look for ---------------------------------------------------------------------

NETWORK = get_adapter("meta").network


def plan_example() -> Plan:
    return make_plan_of_case(get_example("meta/exemplary/create"), LIBRARY)


def change_step(plan: Plan, key: str, **members: Any) -> Plan:
    steps = [evolve(step, **members) if step.key == key else step for step in plan.steps]
    return make_plan(plan.network, plan.action, plan.account, steps, plan.warnings, plan.risk)


def change_request(plan: Plan, key: str, **members: Any) -> Plan:
    return change_step(plan, key, request=evolve(plan.get_step(key).request, **members))


def change_body(plan: Plan, key: str, **members: Any) -> Plan:
    return change_request(plan, key, body={**plan.get_step(key).request.body, **members})


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda plan: change_body(plan, "campaign", status="ACTIVE"), "a paused state"),
        (lambda plan: change_request(plan, "ad", body={"name": "x"}), "/status = PAUSED"),
        (lambda plan: change_request(plan, "ad", url="http://graph.facebook.com/v26.0/x"), "https"),
        (lambda plan: change_request(plan, "ad", url="https://graph.facebook.com.evil.example/x"), "evil"),
        (lambda plan: change_request(plan, "ad", headers={"Authorization": "Bearer x"}), "Authorization"),
        (lambda plan: change_request(plan, "ad", query={"access_token": "x"}), "access_token"),
        (lambda plan: change_body(plan, "campaign", promoted={"client_secret": "x"}), "client_secret"),
        (lambda plan: change_request(plan, "ad", kind="read"), "a write"),
        (lambda plan: change_step(plan, "ad", bindings=(Binding("/body/x", "campaign", "name"),)), "campaign.name"),
    ],
)
def test_a_bad_plan_is_found(spoil: Callable[[Plan], Plan], says: str) -> None:
    plan = plan_example()
    assert list(plan_checks.check_plan(NETWORK, plan, must_be_paused=True)) == []
    messages = " ".join(str(failure) for failure in plan_checks.check_plan(NETWORK, spoil(plan), must_be_paused=True))
    assert says in messages


def test_a_batch_is_looked_through() -> None:
    network = get_adapter("amazon").network
    plan = make_plan_of_case(get_example("amazon/exemplary/create"), LIBRARY)
    assert list(plan_checks.check_plan(network, plan, must_be_paused=True)) == []
    keywords = deepcopy(plan.get_step("keywords").request.body)
    keywords["keywords"][1]["state"] = "ENABLED"
    failures = list(
        plan_checks.check_plan(network, change_request(plan, "keywords", body=keywords), must_be_paused=True)
    )
    assert [failure.place for failure in failures] == ["/steps/3/body/keywords/1/state"]


def test_a_batch_of_operations_is_looked_through() -> None:
    network = get_adapter("google").network
    plan = plan_brief(
        read_brief(list_example_briefs("google")[0].read_bytes()), Account("google", "1", "USD", "America/New_York")
    )
    assert list(plan_checks.check_plan(network, plan, must_be_paused=True)) == []
    (step,) = plan.steps
    for name in ("campaign", "adGroup", "adGroupCriterion", "adGroupAd"):
        whole = deepcopy(step.request.body)
        entity = next(
            operation[f"{name}Operation"]["create"]
            for operation in whole["mutateOperations"]
            if f"{name}Operation" in operation
        )
        for status in ("ENABLED", None):
            entity["status"] = status
            failures = list(
                plan_checks.check_plan(network, change_request(plan, step.key, body=whole), must_be_paused=True)
            )
            assert [f"/{name}Operation/create" in failure.place for failure in failures] == [True]


def test_an_activation_is_of_what_was_made_and_leaves_first() -> None:
    plan = make_plan_of_case(get_example("meta/exemplary/activate"), LIBRARY)
    outputs = {"a": {"id": "6101"}, "b": {"id": "6102"}, "c": {"id": "6104"}}
    assert list(plan_checks.check_activation(NETWORK, plan, outputs)) == []
    assert list(plan_checks.check_activation(NETWORK, plan, {"a": {"id": "6101"}}))
    turned = evolve(plan, steps=tuple(reversed(plan.steps)))
    assert list(plan_checks.check_activation(NETWORK, turned, outputs))


def test_a_write_that_takes_junk_for_success_is_found() -> None:
    step = evolve(plan_example().get_step("campaign"), outputs=(), can_be_empty=True)
    assert list(hostile_responses.check_hostile_write(NETWORK, plan_example().get_step("campaign"), "")) == []
    assert list(hostile_responses.check_hostile_write(NETWORK, step, "")) == []

    def trips(response: Response) -> None:
        raise ZeroDivisionError

    blind = evolve(NETWORK, parse_error=trips)
    assert any(
        "ZeroDivisionError" in str(failure) for failure in hostile_responses.check_hostile_write(blind, step, "")
    )


def test_mutations_reach_every_member() -> None:
    good = Response(200, {}, {"data": [{"id": "1"}], "next": None})
    mutations = list(hostile_responses.mutate_response(good))
    bodies = [response.body for _, response in mutations]
    assert {"data": [{}], "next": None} in bodies
    assert {"data": [{"id": "1"}]} in bodies
    assert {"data": [{"id": None}], "next": None} in bodies
    assert good.body == {"data": [{"id": "1"}], "next": None}
    assert {"unreadable", "empty", "json"} <= {response.state for _, response in mutations}


def test_a_reader_that_trips_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    network = get_adapter("amazon").network

    def tree(account: Account) -> Any:
        response = yield Request("POST", "https://advertising-api.amazon.com/sp/campaigns/list")
        return EntityTree((hierarchy.parse_entity(network.levels[0], response.body["campaigns"][0]),))

    monkeypatch.setattr(get_adapter("amazon").reads, "fetch_tree", tree)
    case = change_case(get_example("amazon/exemplary/tree"), "/exchange/0/request", {})
    failures = hostile_responses.check_case_with_hostile_responses(case, LIBRARY)
    assert any("KeyError" in str(failure) for failure in failures)


def test_a_reader_that_does_not_end_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def tree(account: Account) -> Any:
        while (yield Request("POST", "https://advertising-api.amazon.com/sp/campaigns/list")).body != {"campaigns": 1}:
            pass

    monkeypatch.setattr(get_adapter("amazon").reads, "fetch_tree", tree)
    case = change_case(get_example("amazon/exemplary/tree"), "/exchange/0/request", {})
    talk = hostile_responses.HostileConversation(
        Conversation("amazon", case.exchange), 0, Response(200, {}, {}), always=True
    )
    assert "3000 requests" in (hostile_responses.find_foreign_error(case, LIBRARY, talk) or "")


def test_the_order_of_reads_counts_in_the_strict_reading_only() -> None:
    case = get_example("amazon/exemplary/tree")
    turned = evolve(case, exchange=(*case.exchange[:2], *reversed(case.exchange[2:])))
    assert "/exchange/2" in find_failures(turned, strict=True)
    assert find_failures(turned) == ""


def test_an_answer_serves_twice_in_the_loose_reading_only() -> None:
    answer = {"request": {"method": "GET"}, "response": {"body": {"data": []}}}
    request = Request("GET", "https://graph.facebook.com/v26.0/act_1/ads")
    loose, strict = (Conversation("meta", [answer], strict=is_strict) for is_strict in (False, True))
    assert loose.answer(request) == loose.answer(request) == strict.answer(request)
    with pytest.raises(UnexpectedRequest):
        strict.answer(request)


def test_step_keys_and_orders_that_nothing_depends_on_are_loose() -> None:
    tree = get_example("amazon/exemplary/tree")
    turned = change_case(tree, "/expect/nodes", list(reversed(tree.expect["nodes"])))
    create_case = get_example("meta/exemplary/create")
    renamed = change_case(change_case(create_case, "/expect/steps/0/key", "c"), "/expect/steps/1/bindings/0/step", "c")
    for case in (turned, renamed):
        assert find_failures(case) == ""
        assert find_failures(case, strict=True)
    assert find_failures(change_case(renamed, "/expect/steps/1/bindings/0/step", "d"))
    assert find_failures(change_case(turned, "/expect/nodes/0/id", "99"))


@pytest.mark.parametrize("name", ["campaign", "Campaigns", "adGroup", "ad_set", "adsets", "ad"])
def test_a_step_may_be_called_by_its_level(name: str) -> None:
    step = find_step("meta", plan_example().steps, name)
    assert step is not None
    assert step.kind.lower()[:2] == name.lower()[:2]
    assert find_step("meta", plan_example().steps, "leaf") is None
