"""The tables of every network against the contract, and against themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adsunify.adapter.account import Account
from adsunify.adapter.brief_checks import check_brief
from adsunify.adapter.error_rules import match_error_rule
from adsunify.adapter.flows import run_flow
from adsunify.adapter.native_money import parse_native_amount, to_native_amount
from adsunify.adapter.network import ErrorRule, Network, ParsedError
from adsunify.errors import InvalidInput, LookupNeeded
from adsunify.http.messages import Response
from adsunify.models.brief import CampaignBrief, read_brief
from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.planning import plan
from adsunify.plans.records import StepAction
from adsunify.testing.contract.cases import Library
from adsunify.testing.contract.conversation import Conversation
from adsunify.testing.contract.plans import plan_case
from adsunify.values.exact_json import loads
from adsunify.values.money import from_units, to_units
from tests.networks.samples import get_samples, list_example_briefs, list_own_cases

UNIFIED = {"active", "paused", "archived", "deleted"}
CURRENCIES = ("USD", "EUR", "JPY", "KWD", "HUF")


@pytest.fixture(params=list(ADAPTER_PACKAGES))
def network(request: pytest.FixtureRequest) -> Network:
    return get_adapter(request.param).network


def find_repeated(names: Iterable[object]) -> list[object]:
    return [name for name, count in Counter(names).items() if count > 1]


# -- what is offered ----------------------------------------------------------------------------------------------


def test_formats_goals_and_periods_are_those_of_the_contract(network: Network) -> None:
    samples = get_samples(network.code)
    assert {offered_format.code for offered_format in network.formats} == samples.formats
    for offered_format in network.formats:
        assert offered_format.title[0].isupper()
        assert (set(offered_format.goals), set(offered_format.periods)) == (samples.goals, samples.periods)
        assert set(offered_format.bid_meanings) <= samples.goals


def test_names_are_unique(network: Network) -> None:
    assert find_repeated(level.kind for level in network.levels) == []
    assert find_repeated(offered_format.code for offered_format in network.formats) == []
    assert find_repeated((setting.level, setting.field) for setting in network.settings) == []
    assert find_repeated(catalog.resource for catalog in network.catalogs) == []
    assert find_repeated(metric.name for metric in network.metrics) == []
    assert find_repeated(extra.name for extra in network.extras) == []
    assert find_repeated(network.hosts) == []


def make_account(network: Network, brief: CampaignBrief) -> Account:
    """An account that the network's example briefs are written for."""
    timezone = get_samples(network.code).timezone
    return Account(network.code, network.example_account_id, brief.budget.currency, timezone)


def test_each_cell_has_an_example_brief_that_plans(network: Network) -> None:
    """``<network>-<format>-<goal>-<period>.json``, and no other file of the network."""
    cells = {
        f"{network.code}-{offered_format.code}-{goal}-{period}"
        for offered_format in network.formats
        for goal in offered_format.goals
        for period in offered_format.periods
    }
    files = {path.stem: path for path in list_example_briefs(network.code)}
    assert set(files) == cells, "`nox -s tables` writes those that are missing"
    for name, path in files.items():
        brief = read_brief(path.read_bytes())
        assert name.endswith(f"-{brief.goal}-{brief.budget.period}")
        account = make_account(network, brief)
        try:
            assert plan(brief, account).steps
        except LookupNeeded:  # past all that the tables refuse; the network is asked first
            continue


def test_the_scheme_of_an_address_is_taken_in_any_case(network: Network) -> None:
    """RFC 3986, section 3.1."""
    for path in list_example_briefs(network.code):
        brief = read_brief(path.read_text().replace('"https://', '"HTTPS://'))
        account = make_account(network, brief)
        assert check_brief(network, account, brief)


# -- levels and settings ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [code for code in ADAPTER_PACKAGES if get_samples(code).country_in_brief])
def test_a_location_of_a_brief_that_names_no_country_is_refused(code: str) -> None:
    network = get_adapter(code).network
    brief = read_brief(list_example_briefs(code)[0].read_text())
    account = Account(code, "1234567890", brief.budget.currency, "Etc/UTC")
    for country, refused in (("CA", False), ("ZZ", True)):
        location = get_samples(code).country_in_brief.format(country=country, lower=country.lower())
        placed = brief.targeting.model_copy(update={"countries": None, "location_ids": [location]})
        try:
            check_brief(network, account, brief.model_copy(update={"targeting": placed}))
        except InvalidInput as problem:
            assert refused and [issue.path for issue in problem.issues] == ["targeting.locationIds.0"]
        else:
            assert not refused


def test_what_is_active_from_its_creation_is_warned_of(network: Network) -> None:
    levels = {level.kind for level in network.levels if not level.initial_status and level.kind != "keyword"}
    for case in list_own_cases():
        if not levels or case.network != network.code or case.kind != "create" or case.refuse is not None:
            continue
        created_plan = run_flow(plan_case(case, Library()), Conversation(case.network, case.exchange).answer)
        if levels & {step.kind for step in created_plan.steps if step.action == "create"}:
            assert any("active" in warning.lower() for warning in created_plan.warnings), case.id


def test_states_are_closed(network: Network) -> None:
    for level in network.levels:
        assert set(level.unified_statuses.values()) <= UNIFIED, level.kind
        assert set(level.writable_statuses) <= {"active", "paused"}, level.kind
        for unified, native in level.writable_statuses.items():
            assert level.unified_statuses.get(native) == unified, level.kind
        if level.initial_status:
            assert level.unified_statuses.get(level.initial_status) == "paused", level.kind
        else:
            assert level.note, f"{level.kind}: what cannot be created paused says why"


def test_levels_stand_under_each_other(network: Network) -> None:
    kinds: list[str] = []
    for level in network.levels:
        assert (level.parent_kind in kinds) == bool(level.parent), level.kind
        kinds.append(level.kind)
    assert kinds[0] == "campaign"


def test_settings_are_of_levels_that_exist_and_locked_ones_say_why(network: Network) -> None:
    kinds = {level.kind for level in network.levels}
    for setting in network.settings:
        assert setting.level in kinds
        assert setting.lock != ""
        assert bool(setting.choices) or setting.unit != "choice", (setting.level, setting.field)
        if isinstance(setting.minimum, str) and setting.minimum and setting.maximum:
            assert Decimal(setting.minimum) <= Decimal(setting.maximum)


def test_hosts_are_plain(network: Network) -> None:
    assert all(host == host.lower() and "/" not in host and ":" not in host for host in network.hosts)


# -- errors -------------------------------------------------------------------------------------------------------


def list_matching_errors(rule: ErrorRule) -> Iterator[tuple[ParsedError | None, int, StepAction]]:
    """Errors that the row is about: its codes (both ends of a range) under a plausible status."""
    actions: Sequence[StepAction] = rule.actions or ("create",)
    for action in actions:
        if not rule.codes:
            assert rule.status is not None, "a row needs codes or a status"
            yield None, rule.status, action
        for code in rule.codes:
            low, dash, high = code.partition("-")
            ends = [low, high] if dash and low.isdigit() and high.isdigit() else [code]
            for end in ends:
                yield ParsedError((end,)), rule.status or 400, action


def test_each_row_of_errors_is_reached(network: Network) -> None:
    """No row stands in the shadow of one before it."""
    for rule in network.errors:
        for error, status, action in list_matching_errors(rule):
            assert match_error_rule(network, error, status, action) is rule, (rule, error)


def test_each_row_of_errors_says_what_it_is(network: Network) -> None:
    assert find_repeated(rule.meaning for rule in network.errors if not rule.actions) == []
    assert all(rule.meaning for rule in network.errors)


@pytest.mark.parametrize("body", ["", "<html>", "{}", "[]", "null", "1", '"x"', '{"error": 1}', '{"error": []}'])
def test_finding_an_error_never_raises(network: Network, body: str) -> None:
    for status in (200, 207, 301, 400, 401, 403, 404, 429, 500, 503):
        response = Response.from_bytes(status, {}, body.encode())
        network.parse_error(response)
        network.parse_retry_delay(response)


# -- money --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", ADAPTER_PACKAGES)
@given(
    currency=st.sampled_from(CURRENCIES),
    amount=st.integers(0, 10**15).map(lambda micros: from_units(micros, 1_000_000)),
)
def test_an_amount_is_held_exactly_or_refused(code: str, currency: str, amount: str) -> None:
    network = get_adapter(code).network
    try:
        unit = network.get_money_unit(Account(code, "1", currency, "Etc/UTC"))
    except InvalidInput:
        return
    try:
        native = to_native_amount(unit, amount)
    except InvalidInput:
        assert to_units(amount, 1_000_000, "amount") % (unit.step * 1_000_000 // unit.offset)
        return
    count = parse_native_amount(unit, loads(str(native)) if unit.form == "major" else native)
    assert count is not None
    assert from_units(count, unit.offset) == amount
