"""The evaluation of rules: which rules match an operation, and what they refuse, demand and count."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from adsunify.guardrails.evaluation import Caller, CallPart, Evaluation, Subject, evaluate_rules, sum_known_spend
from adsunify.guardrails.refusals import describe_approval, describe_breach, make_refusal, make_rule_breach
from adsunify.guardrails.rules import ClientIdentity, Guardrail, Limits, Scope, Window
from adsunify.plans.exposure import Amount, BudgetChange, Exposure, Spend

UNIT = 1_000_000
ACCOUNT, KEY, OTHER_KEY, USER, OTHER_USER = "account", "key", "other-key", "user", "other-user"


def rule(**members: Any) -> Guardrail:
    return Guardrail(**{"id": "r1", "workspace_id": "w", "version": 3, "name": "Small", "currency": "USD"} | members)


def make_exposure(daily: Amount = 0, lifetime: Amount = 0, **members: Any) -> Exposure:
    return Exposure(**{"currency": "USD", "exposure": Spend(daily, lifetime)} | members)


def subject(exposure: Exposure | None, **members: Any) -> Subject:
    currency = None if exposure is None else exposure.currency
    facts = {"account_id": ACCOUNT, "network": "meta", "currency": currency, "action": "edit"}
    return Subject(**facts | {"callers": (Caller(KEY, USER),), "exposure": exposure} | members)


def list_broken_members(evaluation: Evaluation) -> list[str]:
    return [breach.member for breach in evaluation.breaches]


def list_demands(evaluation: Evaluation) -> list[tuple[str, Any]]:
    return [(breach.member, breach.amount) for breach in evaluation.needs_person]


TEN = Limits(daily=10 * UNIT)
WINDOW = Window(24, Limits(daily=100 * UNIT, lifetime=1000 * UNIT))

# -- what a rule matches ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scope", "is_matched"),
    [
        (Scope(), True),
        (Scope(networks=("meta", "google")), True),
        (Scope(networks=("google",)), False),
        (Scope(account_ids=(ACCOUNT,)), True),
        (Scope(account_ids=("another",)), False),
        (Scope(networks=("meta",), account_ids=("another",)), False),
        (Scope(key_ids=(KEY,)), True),
        (Scope(key_ids=(OTHER_KEY,)), False),
        (Scope(user_ids=(USER,)), True),
        (Scope(user_ids=(OTHER_USER,)), False),
        (Scope(clients=(ClientIdentity("client", USER),)), False),
        (Scope(key_ids=(OTHER_KEY,), user_ids=(USER,)), True),
        (Scope(networks=("google",), key_ids=(KEY,)), False),
    ],
)
def test_a_rule_matches_account_network_and_one_credential(scope: Scope, is_matched: bool) -> None:
    evaluation = evaluate_rules([rule(scope=scope, per_operation=TEN)], subject(make_exposure(11 * UNIT)))
    assert list_broken_members(evaluation) == (["perOperation.daily"] if is_matched else [])


@pytest.mark.parametrize(
    "scope", [Scope(key_ids=(KEY,)), Scope(user_ids=(OTHER_USER,)), Scope(clients=(ClientIdentity("c", OTHER_USER),))]
)
def test_the_preparer_or_the_executor_is_matched(scope: Scope) -> None:
    """A rule cannot be escaped by executing with another credential, nor by preparing with another."""
    limits = [rule(scope=scope, per_operation=TEN)]
    agent = Caller(f"c:{OTHER_USER}", OTHER_USER)
    for callers in ((Caller(KEY, USER), agent), (agent, Caller(KEY, USER))):
        assert list_broken_members(evaluate_rules(limits, subject(make_exposure(11 * UNIT), callers=callers))) == [
            "perOperation.daily"
        ]


def test_a_rule_that_is_not_active_does_nothing() -> None:
    evaluation = evaluate_rules([rule(per_operation=TEN, is_active=False)], subject(make_exposure("unbounded")))
    assert evaluation == Evaluation()


def test_all_matching_rules_apply() -> None:
    rules = [rule(per_operation=TEN), rule(id="r2", per_operation=Limits(daily=5 * UNIT), per_window=WINDOW)]
    evaluation = evaluate_rules(rules, subject(make_exposure(7 * UNIT)))
    assert [(breach.rule.id, breach.limit) for breach in evaluation.breaches] == [("r2", 5 * UNIT)]
    assert [use.rule_id for use in evaluation.uses] == ["r2"]


# -- limits of one operation --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("exposure", "members"),
    [
        (make_exposure(10 * UNIT), []),
        (make_exposure(10 * UNIT + 1), ["perOperation.daily"]),
        (make_exposure(planned=Spend(10 * UNIT + 1, 0)), ["perOperation.daily"]),
        (make_exposure("unbounded"), ["perOperation.daily"]),
        (make_exposure(0, "unbounded"), []),
        (make_exposure(0), []),
    ],
)
def test_an_operation_is_limited_in_what_it_exposes_and_plans(exposure: Exposure, members: list[str]) -> None:
    evaluation = evaluate_rules([rule(per_operation=TEN)], subject(exposure))
    assert list_broken_members(evaluation) == members


def test_a_limit_of_zero_refuses_everything_but_nothing() -> None:
    zero = [rule(per_operation=Limits(0, 0))]
    assert list_broken_members(evaluate_rules(zero, subject(make_exposure(1, 1)))) == [
        "perOperation.daily",
        "perOperation.lifetime",
    ]
    assert evaluate_rules(zero, subject(make_exposure())).breaches == ()


def test_the_larger_of_exposure_and_plan_is_asked_for() -> None:
    exposure = make_exposure(20 * UNIT, planned=Spend(30 * UNIT, "unbounded"))
    evaluation = evaluate_rules([rule(per_operation=Limits(10 * UNIT, 50 * UNIT))], subject(exposure))
    assert [breach.amount for breach in evaluation.breaches] == [30 * UNIT, "unbounded"]


def test_the_operations_of_one_call_count_as_one() -> None:
    parts = [make_exposure(6 * UNIT), make_exposure(6 * UNIT, "unknown"), None]
    call = sum_known_spend(parts)
    assert call[0] == Spend(12 * UNIT, 0)
    part = CallPart(ACCOUNT, "meta", "USD", *call)
    evaluation = evaluate_rules([rule(per_operation=TEN)], subject(parts[0], call=[part]))
    assert [(breach.member, breach.amount) for breach in evaluation.breaches] == [("perOperation.daily", 12 * UNIT)]


@pytest.mark.parametrize(
    ("scope", "amount"),
    [
        ({}, 18 * UNIT),
        ({"networks": ("meta",)}, 12 * UNIT),
        ({"account_ids": (ACCOUNT, "third")}, 12 * UNIT),
        ({"account_ids": (ACCOUNT,)}, None),
    ],
)
def test_a_call_counts_in_the_accounts_that_a_rule_limits(scope: dict[str, Any], amount: int | None) -> None:
    """A call of several accounts, such as a launch. Amounts of another currency are not added."""
    places = [
        (ACCOUNT, "meta", "USD"),
        ("second", "meta", "USD"),
        ("third", "tiktok", "USD"),
        ("fourth", "meta", "EUR"),
    ]
    call = [CallPart(*place, Spend(), Spend(6 * UNIT, 0)) for place in places]
    evaluation = evaluate_rules(
        [rule(per_operation=TEN, scope=Scope(**scope), other_currencies="allow")],
        subject(make_exposure(planned=Spend(6 * UNIT, 0)), call=call),
    )
    assert [breach.amount for breach in evaluation.breaches] == ([] if amount is None else [amount])


@pytest.mark.parametrize(("bid", "members"), [(None, []), (2 * UNIT, []), (2 * UNIT + 1, ["maxBid"])])
def test_the_highest_bid_is_limited(bid: Amount | None, members: list[str]) -> None:
    evaluation = evaluate_rules([rule(max_bid=2 * UNIT)], subject(make_exposure(highest_bid=bid)))
    assert list_broken_members(evaluation) == members


def test_an_action_is_blocked_whatever_it_exposes() -> None:
    blocking = [rule(currency=None, blocked_actions=("delete", "edit"))]
    assert list_broken_members(evaluate_rules(blocking, subject(make_exposure()))) == ["blockedActions"]
    assert evaluate_rules(blocking, subject(make_exposure(), action="status")).breaches == ()


@pytest.mark.parametrize("action", ["activate", "status", "edit", "update", "create"])
def test_an_activation_is_blocked_whatever_its_action_is(action: Any) -> None:
    blocking = [rule(currency=None, blocked_actions=("activate",))]
    assert list_broken_members(evaluate_rules(blocking, subject(make_exposure(activates=True), action=action))) == [
        "blockedActions"
    ]
    is_blocked = action == "activate"
    assert bool(evaluate_rules(blocking, subject(make_exposure(), action=action)).breaches) == is_blocked


# -- a person -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "exposure",
    [make_exposure(11 * UNIT), make_exposure(planned=Spend(11 * UNIT, 0)), make_exposure("unbounded", "unbounded")],
)
def test_a_person_executes_what_is_above_an_amount(exposure: Exposure) -> None:
    evaluation = evaluate_rules([rule(approval_above=TEN)], subject(exposure))
    assert [member for member, _ in list_demands(evaluation)] == ["approvalAbove.daily"]
    assert not evaluation.breaches


@pytest.mark.parametrize("exposure", [None, make_exposure("unknown", 5), make_exposure(0, "unknown")])
@pytest.mark.parametrize(
    "members",
    [
        {"per_operation": Limits(lifetime=10)},
        {"per_window": WINDOW},
        {"approval_above": TEN},
        {"max_bid": UNIT},
    ],
)
def test_unknown_exposure_needs_a_person_where_a_rule_limits_money(
    exposure: Exposure | None, members: dict[str, Any]
) -> None:
    evaluation = evaluate_rules([rule(**members)], subject(exposure, currency="USD"))
    assert ("exposure", "unknown") in list_demands(evaluation)
    assert not evaluation.breaches
    assert all(use.is_unknown and use.daily == 0 for use in evaluation.uses)
    assert len(evaluation.uses) == ("per_window" in members)


def test_unknown_amounts_need_no_person_where_no_rule_limits_them() -> None:
    blocking = rule(currency=None, blocked_actions=("delete",))
    assert evaluate_rules([blocking], subject(None)) == Evaluation()
    planned_only = make_exposure(planned=Spend("unknown", "unknown"), highest_bid="unknown")
    assert not evaluate_rules([rule(per_window=WINDOW)], subject(planned_only)).needs_person
    assert list_demands(evaluate_rules([rule(per_operation=TEN)], subject(planned_only))) == [("exposure", "unknown")]
    assert list_demands(evaluate_rules([rule(max_bid=1)], subject(planned_only))) == [("maxBid", "unknown")]


# -- currencies ---------------------------------------------------------------------------------------------------


def test_an_account_in_another_currency_is_refused() -> None:
    evaluation = evaluate_rules([rule(per_operation=TEN)], subject(make_exposure(1, currency="JPY")))
    assert list_broken_members(evaluation) == ["currency"]
    assert make_refusal(evaluation.breaches).code == "guardrail_currency"


def test_an_account_in_another_currency_is_allowed_where_the_rule_says_so() -> None:
    allowing = rule(per_operation=TEN, per_window=WINDOW, other_currencies="allow")
    assert evaluate_rules([allowing], subject(make_exposure("unbounded", currency="JPY"))) == Evaluation()


def test_a_rule_with_amounts_in_the_currency_is_enough() -> None:
    rules = [rule(per_operation=TEN), rule(id="r2", currency="JPY", per_operation=TEN)]
    evaluation = evaluate_rules(rules, subject(make_exposure(11 * UNIT, currency="JPY")))
    assert [(breach.rule.id, breach.member) for breach in evaluation.breaches] == [("r2", "perOperation.daily")]


PER_KIND: dict[str, Any] = {
    "perOperation": {"per_operation": Limits(daily=10**12)},
    "perWindow": {"per_window": Window(24, Limits(daily=10**12))},
    "approvalAbove": {"approval_above": Limits(daily=10**12)},
    "maxBid": {"max_bid": 10**12},
}


@pytest.mark.parametrize("own", PER_KIND)
@pytest.mark.parametrize("foreign", PER_KIND)
def test_a_rule_in_another_currency_refuses_unless_one_in_the_currency_has_that_limit(foreign: str, own: str) -> None:
    rules = [rule(**PER_KIND[foreign]), rule(id="r2", currency="JPY", **PER_KIND[own])]
    evaluation = evaluate_rules(rules, subject(make_exposure(1, 1, currency="JPY", highest_bid=1)))
    assert [breach.rule.id for breach in evaluation.breaches] == ([] if foreign == own else ["r1"])
    both = [*rules, rule(id="r3", currency="JPY", **PER_KIND[foreign])]
    assert not evaluate_rules(both, subject(make_exposure(1, 1, currency="JPY", highest_bid=1))).breaches
    empty = rule(id="r3", currency="JPY", per_window=Window(24, Limits()))
    assert list_broken_members(
        evaluate_rules([rules[0], empty], subject(make_exposure(1, 1, currency="JPY", highest_bid=1)))
    ) == ["currency"]


def test_a_highest_bid_in_another_currency_refuses_only_bids() -> None:
    bid_rule = rule(**PER_KIND["maxBid"])
    assert list_broken_members(evaluate_rules([bid_rule], subject(make_exposure(1, 1, currency="JPY")))) == []
    assert list_broken_members(evaluate_rules([bid_rule], subject(make_exposure(currency="JPY", highest_bid=1)))) == [
        "currency"
    ]


def test_what_has_no_amount_is_not_refused_for_its_currency() -> None:
    assert (
        evaluate_rules([rule(per_operation=TEN)], subject(make_exposure(currency="JPY"), action="status"))
        == Evaluation()
    )


def test_an_account_without_a_known_currency_needs_a_person() -> None:
    unknown = Exposure(None, Spend("unknown", "unknown"))
    allowing = rule(per_operation=TEN, other_currencies="allow")
    assert list_demands(evaluate_rules([allowing], subject(unknown))) == [("exposure", "unknown")]
    assert list_broken_members(evaluate_rules([rule(per_operation=TEN)], subject(unknown))) == ["currency"]


# -- percentages --------------------------------------------------------------------------------------------------


def make_budget_raise(before: int | None, after: int | None) -> Exposure:
    return make_exposure(budgets=(BudgetChange("campaign", "c1", "budget", before, after),))


KEY_OF_BUDGET = ("campaign", "c1", "budget")


@pytest.mark.parametrize(
    ("before", "after", "lowest", "highest"),
    [
        (10, 15, None, None),
        (10, 16, None, 15),
        (15, 22, 10, 15),  # two edits of 50 % are 120 %
        (15, 15, 10, None),
        (15, 12, 10, None),  # a decrease is allowed, whatever the lowest value is
        (100, 80, 10, None),
        (10, None, None, None),
        (3, 5, None, 4),  # 4.5 is rounded down
    ],
)
def test_a_budget_grows_by_a_percentage_over_its_lowest_value(
    before: int, after: int | None, lowest: int | None, highest: int | None
) -> None:
    lowest_budgets = {} if lowest is None else {KEY_OF_BUDGET: lowest}
    limits = [rule(currency=None, max_increase_percent=Decimal(50))]
    evaluation = evaluate_rules(limits, subject(make_budget_raise(before, after), lowest=lowest_budgets))
    assert [breach.fits for breach in evaluation.breaches] == ([] if highest is None else [highest])
    assert not evaluation.needs_person


def test_a_percentage_is_exact() -> None:
    limits = [rule(currency=None, max_increase_percent=Decimal("33.333333333333333333"))]
    assert not evaluate_rules(limits, subject(make_budget_raise(3 * 10**18, 3 * 10**18 + 10**18 - 1))).breaches
    assert evaluate_rules(limits, subject(make_budget_raise(3 * 10**18, 3 * 10**18 + 10**18))).breaches


def test_a_budget_without_an_earlier_value_needs_a_person() -> None:
    limits = [rule(currency=None, max_increase_percent=Decimal(50))]
    assert list_demands(evaluate_rules(limits, subject(make_budget_raise(None, 5)))) == [
        ("maxIncreasePercent", "unknown")
    ]
    evaluation = evaluate_rules(limits, subject(make_budget_raise(None, 5), lowest={KEY_OF_BUDGET: 2}))
    assert list_broken_members(evaluation) == ["maxIncreasePercent"]  # it was removed, and set again
    assert list_demands(evaluate_rules(limits, subject(None))) == [("maxIncreasePercent", "unknown")]


def test_a_known_raise_is_refused_although_more_is_unknown() -> None:
    exposure = make_exposure("unknown", "unknown", budgets=(BudgetChange("campaign", "c1", "budget", 10, 16),))
    evaluation = evaluate_rules([rule(currency=None, max_increase_percent=Decimal(50))], subject(exposure))
    assert list_broken_members(evaluation) == ["maxIncreasePercent"]
    assert list_demands(evaluation) == [("maxIncreasePercent", "unknown")]


# -- windows ------------------------------------------------------------------------------------------------------


def test_a_window_looks_at_the_exposure_only() -> None:
    exposure = make_exposure(5, 70, planned=Spend(1000 * UNIT, "unbounded"))
    evaluation = evaluate_rules([rule(per_window=WINDOW)], subject(exposure))
    (use,) = evaluation.uses
    assert (use.rule_id, use.version, use.hours, use.limits) == ("r1", 3, 24, WINDOW.limits)
    assert (use.daily, use.lifetime, use.is_unknown) == (5, 70, False)
    assert not evaluation.breaches and not evaluation.unbounded
    assert not evaluate_rules([rule(per_window=WINDOW)], subject(make_exposure())).uses


def test_a_window_cannot_hold_an_unbounded_amount() -> None:
    evaluation = evaluate_rules([rule(per_window=WINDOW)], subject(make_exposure(5, "unbounded")))
    assert [(breach.member, breach.amount) for breach in evaluation.unbounded] == [("perWindow.lifetime", "unbounded")]
    daily_only = rule(per_window=Window(24, TEN))
    assert not evaluate_rules([daily_only], subject(make_exposure(5, "unbounded"))).unbounded


# -- properties ---------------------------------------------------------------------------------------------------

limit_amounts = st.none() | st.integers(0, 40)
amounts = st.integers(0, 40) | st.sampled_from(["unbounded", "unknown"])
spends = st.builds(Spend, amounts, amounts)
limits = st.builds(Limits, limit_amounts, limit_amounts)
rules_ = st.lists(
    st.builds(
        rule,
        id=st.sampled_from(["r1", "r2", "r3"]),
        currency=st.sampled_from(["USD", "EUR"]),
        per_operation=limits,
        approval_above=limits,
        per_window=st.none() | st.builds(Window, st.just(24), limits),
        max_bid=limit_amounts,
        other_currencies=st.sampled_from(["refuse", "allow"]),
    ),
    max_size=4,
)
exposures = st.none() | st.builds(
    Exposure, st.sampled_from(["USD", "EUR", None]), spends, spends, st.none() | st.sampled_from([3, "unknown"])
)


@given(rules_, exposures)
def test_a_further_rule_never_allows_more(many: list[Guardrail], exposure: Exposure | None) -> None:
    """Each rule in the account's currency only adds refusals. Other currencies are the exception by design."""
    ours = [guardrail for guardrail in many if exposure is None or guardrail.currency == exposure.currency]
    for count in range(len(ours)):
        fewer, more = (evaluate_rules(ours[:n], subject(exposure)) for n in (count, count + 1))
        assert set(fewer.breaches) - {breach for breach in fewer.breaches if breach.member == "currency"} <= set(
            more.breaches
        )
        assert set(fewer.needs_person) <= set(more.needs_person)


@given(rules_, exposures)
def test_what_passes_is_known_to_fit(many: list[Guardrail], exposure: Exposure | None) -> None:
    """Without a breach and a person, every amount is an amount within every limit of every rule in its currency."""
    evaluation = evaluate_rules(many, subject(exposure))
    if evaluation.breaches or evaluation.needs_person:
        assert [describe_breach(breach) for breach in evaluation.breaches] or [
            describe_approval(make_rule_breach(breach)) for breach in evaluation.needs_person
        ]
        return
    for guardrail in many:
        if exposure is None or guardrail.currency != exposure.currency:
            assert exposure is not None or not guardrail.has_amounts
            continue
        for limits_ in (guardrail.per_operation, guardrail.approval_above):
            for spend in (exposure.exposure, exposure.planned):
                for name in ("daily", "lifetime"):
                    limit, amount = getattr(limits_, name), getattr(spend, name)
                    assert limit is None or (isinstance(amount, int) and amount <= limit) or amount == "unknown"
        if guardrail.has_amounts:
            assert not exposure.exposure.is_unknown


@given(rules_, exposures)
def test_a_use_is_the_exposure(many: list[Guardrail], exposure: Exposure | None) -> None:
    for use in evaluate_rules(many, subject(exposure)).uses:
        spend = Spend("unknown", "unknown") if exposure is None else exposure.exposure
        for name in ("daily", "lifetime"):
            amount = getattr(spend, name)
            assert getattr(use, name) == (amount if isinstance(amount, int) else 0)
        assert use.is_unknown == spend.is_unknown


def test_sentences_group_the_digits_of_amounts_and_members_do_not() -> None:
    limits = rule(per_operation=Limits(1_250_000 * UNIT), approval_above=Limits(1_000 * UNIT), per_window=WINDOW)
    evaluation = evaluate_rules([limits], subject(make_exposure(2_000_000 * UNIT)))
    (breach,) = evaluation.breaches
    assert "1,250,000.00 USD a day; this one exposes or plans 2,000,000.00." in describe_breach(breach)
    (reason,) = map(make_rule_breach, evaluation.needs_person)
    assert (reason.limit, reason.asked) == ("1000.00", "2000000.00")
    assert "2,000,000.00 USD a day, which is above 1,000.00." in describe_approval(reason)
    room = evolve(breach, member="perWindow.daily", used=999_999 * UNIT)
    assert "of which 999,999.00 is used" in describe_breach(room)
