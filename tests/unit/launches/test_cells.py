"""The cells of a launch: merging, what is left out, names, addresses, and the issues with their paths."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adsunify.adapter.brief_checks import check_brief
from adsunify.errors import InvalidInput, Issue
from adsunify.execution.state import IllegalTransition, OperationStatus
from adsunify.launches.cells import locate_issue
from adsunify.launches.digests import compute_change_set_digest
from adsunify.launches.merging import merge_patch
from adsunify.launches.states import (
    CHANGE_SET_TRANSITIONS,
    OPEN_STATUSES,
    CellState,
    ChangeSetStatus,
    apply_change_set_trigger,
    get_cell_state,
)
from adsunify.launches.urls import add_parameters, list_parameter_names
from adsunify.models.brief import read_brief
from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from tests.briefs import change_brief
from tests.networks.samples import list_example_briefs

from .launches import BRIEF, cells_of, issues_of, make_account, make_launch, refusals_of

CODES = list(ADAPTER_PACKAGES)
EXAMPLES = [path for code in CODES for path in list_example_briefs(code)]
ALL_CREATIVE: dict[str, Any] = {
    "headline": "Spring tea",
    "body": "Fresh leaves.",
    "url": "https://tea.example/",
    "imageUrl": "https://tea.example/spring.jpg",
    "headlines": ["Spring tea", "Fresh leaves", "Free delivery"],
    "descriptions": ["Picked this spring.", "Order today."],
}
ALL_PLATFORM: dict[str, Any] = {
    "euPoliticalAdvertising": False,
    "pageId": "900900900",
    "boardId": "730146114520000001",
    "identityId": "6bd1-aa",
    "identityType": "TT_USER",
    "fundingInstrumentId": "4711",
    "pixelId": "700700700",
    "conversionEvent": "PURCHASE",
    "appId": "1440000001",
    "sku": "SELLER-SKU-1",
    "asin": "B00EXAMPLE",
    "brandName": "Example Shop",
    "locale": {"country": "US", "language": "en"},
}
VALUES = {"creative": ALL_CREATIVE, "platform": ALL_PLATFORM}
MEMBERS = [(part, name) for part, values in VALUES.items() for name in values]
REMOVED: dict[str, dict[str, Any]] = {
    "meta-existing_creative": {
        "creative": dict.fromkeys(("headline", "body", "url", "imageUrl")),
        "platform": {"pageId": None},
    },
    "pinterest-existing_pin": {
        "creative": dict.fromkeys(("headline", "body", "url", "imageUrl")),
        "platform": {"boardId": None},
    },
    "outbrain-crawled_link": {"creative": dict.fromkeys(("headline", "imageUrl"))},
    "amazon-product_ads": {"platform": {"asin": None}},
}
"""What the part of a network removes, because another of its formats takes it, or another account."""


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_one_brief_with_the_members_of_all_networks_fits_each_of_them(path: Path) -> None:
    """For each combination of network, format, goal and period. The network's part gives the ids of the network."""
    example = json.loads(path.read_text())
    code, form = path.stem.split("-")[:2]
    shared = {**example, **VALUES}
    part = merge_patch(REMOVED.get(f"{code}-{form}", {}), {name: example.get(name, {}) for name in VALUES})
    [cell] = cells_of([code], shared, networks={code: part})
    assert cell.issues == () and cell.brief is not None
    network = get_adapter(code).network
    assert check_brief(network, make_account(code), read_brief(cell.brief)).code == form
    assert all(name.partition(".")[0] in ("creative", "platform") for name in cell.left_out)


@given(
    code=st.sampled_from(CODES),
    shared=st.sets(st.sampled_from(MEMBERS)),
    of_network=st.sets(st.sampled_from(MEMBERS)),
    of_account=st.sets(st.sampled_from(MEMBERS)),
    removed=st.sets(st.sampled_from(MEMBERS)),
    goal=st.sampled_from(("traffic", "awareness", "conversions", "app_installs")),
    targeting=st.sampled_from(({"countries": ["NO"]}, {"keywords": [{"text": "tea", "match": "exact"}]})),
)
def test_nothing_is_widened(
    code: str,
    shared: set[tuple[str, str]],
    of_network: set[tuple[str, str]],
    of_account: set[tuple[str, str]],
    removed: set[tuple[str, str]],
    goal: str,
    targeting: dict[str, Any],
) -> None:
    """The brief is what was written but for ``left_out``, which names no member of a network's or account's part."""

    def part(names: set[tuple[str, str]], gone: set[tuple[str, str]] = frozenset()) -> dict[str, Any]:
        return {
            section: {
                name: None if (section, name) in gone else VALUES[section][name]
                for of, name in sorted(names | gone)
                if of == section
            }
            for section in VALUES
        }

    campaign = BRIEF | {"goal": goal, "targeting": targeting} | part(shared)
    [cell] = cells_of([code], campaign, {0: {"campaign": part(of_account)}}, networks={code: part(of_network, removed)})
    assert cell.brief is not None
    expected = merge_patch(merge_patch(campaign, part(of_network, removed)), part(of_account))
    left_out = {tuple(path.split(".")) for path in cell.left_out}
    assert left_out <= shared - (of_network - removed) - of_account - removed
    for section in VALUES:
        expected[section] = {
            name: value for name, value in expected[section].items() if (section, name) not in left_out
        }
    assert cell.brief == expected
    rows = [row for form in get_adapter(code).network.formats for row in form.inputs if row.requirement != "refused"]
    unconditional = {row.path for row in rows if not row.goals and not row.periods and row.is_exempt is None}
    assert not unconditional & set(cell.left_out)


@pytest.mark.parametrize(
    ("path", "value", "code"),
    [
        ("platform__euPoliticalAdvertising", True, "meta"),
        ("platform__specialAdCategories", ["HOUSING"], "pinterest"),
        ("bid", "1", "amazon"),
        ("targeting__keywords", [{"text": "tea"}], "meta"),
    ],
)
def test_declarations_targeting_and_bids_are_never_left_out(path: str, value: Any, code: str) -> None:
    campaign = change_brief(BRIEF, {path: value})
    [cell] = cells_of([code], campaign)
    assert cell.brief is not None
    holder: Any = cell.brief
    for name in path.split("__"):
        holder = holder[name]
    assert holder == value
    if code != "amazon":
        with pytest.raises(InvalidInput) as refusal:
            check_brief(get_adapter(code).network, make_account(code), read_brief(cell.brief))
        assert path.replace("__", ".") in {issue.path for issue in refusal.value.issues}


def test_an_unknown_member_is_refused_and_not_left_out() -> None:
    [cell] = cells_of(["google"], change_brief(BRIEF, {"platform__pagId": "5"}))
    assert issues_of(cell) == {"accounts.0.campaign.platform.pagId": "unknown_property"}
    assert "Did you mean pageId?" in cell.issues[0].message


def test_the_preview_names_what_is_left_out() -> None:
    meta, pinterest = cells_of(["meta", "pinterest"])
    assert (meta.left_out, pinterest.left_out) == (("platform.boardId",), ("platform.pageId",))


def test_the_account_lies_over_the_network_and_the_network_over_the_brief() -> None:
    cells = cells_of(
        ["meta", "meta", "pinterest"],
        parts={1: {"campaign": {"name": "Mine", "bid": None}}},
        networks={"meta": {"name": "Ours", "bid": "1", "targeting": {"countries": ["NO", "SE"]}}},
    )
    briefs = [cell.brief or {} for cell in cells]
    assert [(brief["name"], brief.get("bid"), brief["targeting"]["countries"]) for brief in briefs] == [
        ("Ours", "1", ["NO", "SE"]),
        ("Mine", None, ["NO", "SE"]),
        ("Tea spring", None, ["US"]),
    ]


def test_issues_have_the_path_of_the_account() -> None:
    cells = cells_of(["meta", "meta"], parts={1: {"campaign": {"budget": {"amount": "x"}, "goal": "trafic"}}})
    assert issues_of(cells[0]) == {}
    assert issues_of(cells[1]) == {
        "accounts.1.campaign.budget.amount": "malformed",
        "accounts.1.campaign.goal": "not_a_choice",
    }
    assert cells[1].brief is None
    assert locate_issue(3, Issue("", "a", "b")).path == "accounts.3.campaign"
    assert locate_issue(3, Issue("account.currency", "a", "b")).path == "accounts.3.accountId"


@pytest.mark.parametrize(
    "member", [("creative", "existingId", "5"), ("targeting", "locationIds", ["5"]), ("targeting", "native", {"a": 1})]
)
def test_ids_of_one_network_are_not_shared_among_several(member: tuple[str, str, Any]) -> None:
    part, name, value = member
    campaign = change_brief(BRIEF, {f"{part}__{name}": value})
    assert refusals_of(["meta", "pinterest"], campaign) == {f"campaign.{part}.{name}": "conflict"}
    assert len(cells_of(["meta", "meta"], campaign)) == 2


def test_a_part_of_a_network_without_an_account_is_refused() -> None:
    assert refusals_of(["meta"], networks={"mta": {}}) == {"networks.mta": "choice"}


# -- names and addresses ------------------------------------------------------------------------------------------


def test_a_template_names_the_campaigns() -> None:
    cells = cells_of(
        ["meta", "google", "google"],
        parts={2: {"campaign": {"name": "By hand"}}},
        nameTemplate="{launch} {network} {account} {country}",
    )
    ids = [get_adapter(code).network.example_account_id for code in ("meta", "google")]
    names = [(cell.brief or {})["name"] for cell in cells]
    assert names == [f"Spring meta {ids[0]} US", f"Spring google {ids[1]} US", "By hand"]


def test_a_country_in_a_template_needs_exactly_one() -> None:
    campaign = change_brief(BRIEF, {"targeting__countries": ["US", "CA"]})
    for members in ({"nameTemplate": "Tea {country}"}, {"urlParameters": {"c": "{country}"}}):
        [cell] = cells_of(["meta"], campaign, **members)
        assert issues_of(cell) == {"accounts.0.campaign.targeting.countries": "required"}


def test_names_are_checked_for_length() -> None:
    [cell] = cells_of(["meta"], nameTemplate="Tea " * 24 + "{network} {account}")
    assert issues_of(cell) == {"accounts.0.campaign.name": "too_long"}
    assert "nameTemplate" in cell.issues[0].message


@given(st.lists(st.sampled_from(("Tea spring", "Tea summer", "Tea autumn")), min_size=1, max_size=6))
def test_names_of_an_account_are_unique(names: list[str]) -> None:
    parts = {
        number: {
            "accountId": make_launch(["meta"]).accounts[0].account_id,
            "key": str(number),
            "campaign": {"name": name},
        }
        for number, name in enumerate(names)
    }
    cells = cells_of(["meta"] * len(names), parts=parts)
    accepted = [cell.brief["name"] for cell in cells if cell.brief is not None]
    assert sorted(accepted) == sorted(set(names))
    assert all(
        issues_of(cell) == {f"accounts.{position}.campaign.name": "duplicate"}
        for position, cell in enumerate(cells)
        if cell.brief is None
    )


ADDRESSES = st.sampled_from(
    (
        "https://a.example",
        "https://a.example/p",
        "https://a.example/?x=1",
        "https://a.example/p?x={lpurl}&",
        "https://a.example?",
    )
)
NAMES = st.text(min_size=1, max_size=8).filter(lambda text: text != "x" and text.isprintable())


@given(ADDRESSES, st.sampled_from(("", "#part", "#a?b=c")), st.dictionaries(NAMES, NAMES, min_size=1, max_size=4))
def test_parameters_survive_the_parsing_of_the_address(address: str, fragment: str, parameters: dict[str, str]) -> None:
    new_address = add_parameters(address + fragment, parameters)
    before, after = urlsplit(address + fragment), urlsplit(new_address)
    assert (after.scheme, after.netloc, after.path, after.fragment) == (
        (before.scheme, before.netloc, before.path, before.fragment)
    )
    assert parse_qsl(after.query) == [*parse_qsl(before.query), *parameters.items()]
    assert list_parameter_names(new_address) == {name for name, _ in parse_qsl(after.query)}
    [cell] = cells_of(["meta"], change_brief(BRIEF, {"creative__url": new_address}))
    assert cell.issues == ()


def test_parameters_are_added_to_the_address_of_each_cell() -> None:
    cells = cells_of(
        ["meta", "pinterest", "linkedin"],
        parts={0: {"key": "a.1"}},
        urlParameters={"utm_source": "{network}", "utm_campaign": "{launch} & more", "k": "{key}"},
        name="Tea, spring",
    )
    urls = [(cell.brief or {})["creative"].get("url") for cell in cells]
    assert urls[0] == "https://tea.example/?utm_source=meta&utm_campaign=Tea%2C%20spring%20%26%20more&k=a.1"
    assert "utm_source=pinterest" in urls[1] and urls[2] is None
    assert "creative.url" in cells[2].left_out


def test_a_parameter_that_the_address_has_is_refused() -> None:
    campaign = change_brief(BRIEF, {"creative__url": "https://tea.example/?utm%5Fsource=x"})
    [cell] = cells_of(["meta"], campaign, urlParameters={"utm_source": "{network}", "other": "1"})
    assert issues_of(cell) == {"urlParameters.utm_source": "conflict"}


@pytest.mark.parametrize(
    ("members", "path", "hint"),
    [
        ({"nameTemplate": "Tea {netwrok}"}, "nameTemplate", "Did you mean {network}?"),
        ({"nameTemplate": "Tea {key}"}, "nameTemplate", "{launch}, {network}, {account}, {country}"),
        ({"nameTemplate": "Tea {network"}, "nameTemplate", "no braces"),
        ({"urlParameters": {"u": "{Network}"}}, "urlParameters.u", "Did you mean {network}?"),
        ({"urlParameters": {"u": "{{campaign}}"}}, "urlParameters.u", "{key}"),
        ({"urlParameters": {}}, "urlParameters", "1 or more"),
        ({"name": "ab"}, "name", "3 or more"),
        ({"accounts": []}, "accounts", "1 or more"),
    ],
)
def test_a_launch_of_another_form_is_refused(members: dict[str, Any], path: str, hint: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        make_launch(["meta"], **members)
    [issue] = refusal.value.issues
    assert issue.path == path and hint in issue.message


def test_cells_have_different_keys() -> None:
    first = make_launch(["meta"]).accounts[0].account_id
    for parts, path in (
        ({1: {"accountId": first.upper()}}, "accounts.1.key"),
        ({0: {"key": "a"}, 1: {"key": "a"}}, "accounts.1.key"),
        ({1: {"key": first}}, "accounts.1.key"),
        ({0: {"key": "a b"}}, "accounts.0.key"),
        ({0: {"weight": 0}}, "accounts.0.weight"),
    ):
        with pytest.raises(InvalidInput) as refusal:
            make_launch(["meta", "meta"], parts=parts)
        assert [issue.path for issue in refusal.value.issues] == [path]


def test_the_parts_of_a_launch_keep_their_nulls() -> None:
    launch = make_launch(
        ["meta"], parts={0: {"campaign": {"bid": None}}}, networks={"meta": {"platform": {"sku": None}}}
    )
    value = launch.to_json()
    assert value["accounts"][0]["campaign"] == {"bid": None} and value["networks"] == {
        "meta": {"platform": {"sku": None}}
    }


# -- digests and states -------------------------------------------------------------------------------------------


def test_the_digest_changes_with_each_member_and_not_with_the_order() -> None:
    members = [("a", "1", "x"), ("b", "2", "y")]
    digest = compute_change_set_digest(members)
    assert digest == compute_change_set_digest(reversed(members)) and len(digest) == 64
    others = [members[:1], [("a", "1", "x"), ("b", "2", "z")], [("a", "2", "x"), ("b", "1", "y")]]
    assert len({digest, *map(compute_change_set_digest, others)}) == 4


def test_the_states_of_change_sets_are_one_table() -> None:
    assert set(CHANGE_SET_TRANSITIONS.values()) == set(get_args(ChangeSetStatus))
    for status in get_args(ChangeSetStatus):
        leaves = any(before == status for before, _ in CHANGE_SET_TRANSITIONS)
        assert leaves == (status in OPEN_STATUSES)
    assert apply_change_set_trigger("prepared", "execute") == "running"
    with pytest.raises(IllegalTransition):
        apply_change_set_trigger("cancelled", "execute")


@pytest.mark.parametrize("status", get_args(OperationStatus))
def test_each_operation_gives_its_cell_exactly_one_state(status: OperationStatus) -> None:
    states = {
        get_cell_state(status, refused=refused, expired=expired, stalled=stalled)
        for refused in (False, True)
        for expired in (False, True)
        for stalled in (False, True)
    }
    assert states <= set(get_args(CellState))
    assert states == {"prepared": {"prepared", "refused", "expired"}, "running": {"running", "unknown"}}.get(
        status, {status}
    )
