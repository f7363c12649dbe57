"""``adsunify guardrails``, on a store and at a server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from adsunify.cli import output
from adsunify.cli.guardrails import guardrails_table, rule_lines, usage_parts

from .conftest import Place
from .running import BRIEF, ROOT

EXAMPLE = str(ROOT / "examples" / "guardrail.json")
NEVER = "00000000-0000-7000-8000-000000000000"
KEY = "sandbox-chatgpt-key"


@pytest.fixture
def rule(both: Place) -> Iterator[Any]:
    """The example, for the time of a test."""
    rule = both.ads("guardrails", "create", EXAMPLE, "--json").data
    yield rule
    both.ads("guardrails", "delete", rule["id"])


def test_a_rule_is_made_listed_changed_and_deleted(both: Place, rule: Any) -> None:
    assert rule["name"] == "Agents start small"
    assert both.ads("guardrails", "list", "--json").data == [rule]
    assert both.ads("guardrails", "show", rule["id"], "--json").data == rule
    change = json.dumps({"maxBid": None, "active": False}).encode()
    changed = both.ads("guardrails", "update", rule["id"], "-", "--json", stdin=change).data
    assert changed == rule | {"maxBid": None, "active": False, "version": 2}
    assert both.ads("guardrails", "delete", rule["id"], "--json").data == changed
    assert both.ads("guardrails", "list", "--json").data == []
    missing = both.ads("guardrails", "show", rule["id"])
    assert missing.code == 1 and "no such guardrail" in missing.err


def test_a_rule_is_shown_in_words(both: Place, rule: Any) -> None:
    description = both.ads("guardrails", "show", rule["id"]).out
    for words in (
        "Agents start small, active, version 1",
        "applies to       networks meta, google",
        "one operation    50.00 USD a day",
        "all together     200.00 USD a day and 5,000.00 USD in all in 24 hours",
        "approval above   25.00 USD a day",
        "growth in a day  50 %",
        "highest bid      2.50 USD",
        "blocked          delete",
        "on breach        freeze",
    ):
        assert words in description, words
    assert rule["id"] in both.ads("guardrails", "list").out
    used = both.ads("guardrails", "usage", rule["id"]).out
    assert "24 hours" in used and "daily    0 USD used, 200.00 left of 200.00" in used


def test_a_wrong_rule_is_refused_by_member(both: Place) -> None:
    for body, words in (
        (b'{"name": "x", "perOperation": {"daily": "5"}}', "perOperation.lifetime: is required; it may be null."),
        (b'{"name": "x"', "FILE: must be valid JSON"),
        (b"[]", "FILE: must be a JSON object."),
    ):
        ran = both.ads("guardrails", "create", "-", stdin=body)
        assert ran.code == 2 and words in ran.err


def test_a_refusal_says_what_would_fit(both: Place) -> None:
    (account,) = both.ads("connect", "chatgpt", "--json", ADSUNIFY_CHATGPT_API_KEY=KEY).data["accounts"]
    body = {"name": "Tiny", "currency": "USD", "perOperation": {"daily": None, "lifetime": "1"}}
    rule = both.ads("guardrails", "create", "-", "--json", stdin=json.dumps(body).encode()).data
    try:
        ran = both.ads("create", account, BRIEF)
        assert ran.code == 1 and 'The guardrail "Tiny" allows one operation 1.00 USD in all' in ran.err
    finally:
        both.ads("guardrails", "delete", rule["id"])


def test_nothing_is_frozen(both: Place) -> None:
    assert both.ads("guardrails", "freezes", "--json").data == []
    assert "credential" in both.ads("guardrails", "freezes").out
    ran = both.ads("guardrails", "lift", NEVER)
    assert ran.code == 1 and "not frozen" in ran.err


def test_a_rule_with_every_scope_fits_a_narrow_terminal() -> None:
    rule = {
        "id": NEVER,
        "version": 1,
        "name": "Wide",
        "scope": {"networks": ["meta"], "clients": [{"clientId": NEVER, "userId": NEVER}]},
        "currency": None,
        "perOperation": {"daily": None, "lifetime": None},
        "perWindow": None,
        "approvalAbove": {"daily": None, "lifetime": None},
        "maxIncreasePercent": None,
        "maxBid": None,
        "blockedActions": ["delete"],
        "onBreach": "refuse",
        "otherCurrencies": "refuse",
        "active": False,
    }
    assert f"applies to       networks meta; agents {NEVER} of {NEVER}" in list(rule_lines(rule))
    screen = output.make_console()
    assert list(guardrails_table([rule]).render(screen))
    assert list(usage_parts({"hours": None})) == ["This guardrail has no window."]
