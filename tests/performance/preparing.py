"""Section 1: a brief read, checked, planned and digested on one core, against the floor under it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from attrs import frozen

from adsunify.adapter.account import Account
from adsunify.adapter.flows import replay_flow
from adsunify.contract import ENDPOINTS, ApiRequest
from adsunify.contract.messages import parse_request
from adsunify.errors import InvalidInput, LookupNeeded
from adsunify.models.brief import CampaignBrief, read_brief
from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.planning import plan, plan_create
from adsunify.store.operations import OperationDraft
from adsunify.values.countries import load_country_codes
from adsunify.values.money import MICROS, to_units
from tests.networks.samples import find_case_folder, list_example_briefs

from . import floor
from .measuring import Result, at_most, judge_costs, make_loop, profile_work, take_turns

SECTION = 1
PLAN_LIMIT = 3.0
PLAN_LIMITS = {"tiktok": 4.0}
"""The goal of a network whose plans read more looked-up answers than the others' do."""
NOW = datetime(2029, 1, 1, tzinfo=UTC)
ACCOUNT_ID = "0192f0c8-7b1e-7c3a-8000-0123456789ab"
CREATE = next(endpoint for endpoint in ENDPOINTS if endpoint.operation_id == "post_create")

LARGEST: Mapping[str, Any] = {
    "name": "Everything that a brief can hold",
    "goal": "traffic",
    "budget": {"amount": "1234567.89", "currency": "USD", "period": "lifetime"},
    "bid": "0.75",
    "schedule": {"startAt": "2030-01-15T09:00:00Z", "endAt": "2030-02-15T08:00:00+01:00"},
    "targeting": {
        "countries": sorted(load_country_codes())[:50],
        "locationIds": [f"city:24185{number:02d}" for number in range(50)],
        "keywords": [{"text": f"folding garden chair {number}", "match": "phrase"} for number in range(50)],
    },
    "creative": {
        "url": "https://shop.example/garden/chairs?utm_source=ads",
        "headlines": [f"Folding garden chairs no. {number}" for number in range(15)],
        "descriptions": [f"Light, strong and easy to store. Number {number}." for number in range(4)],
    },
    "platform": {"euPoliticalAdvertising": False, "pageId": "900900900"},
}
"""Every list as long as it may be."""


def load_briefs() -> dict[str, dict[str, Any]]:
    """One brief for each network: of its examples, the one whose plan is the longest."""
    chosen: dict[str, dict[str, Any]] = {}
    longest: dict[str, int] = {}
    for network in sorted(ADAPTER_PACKAGES):
        for path in list_example_briefs(network):
            brief = json.loads(path.read_text())
            try:
                length = len(plan(read_brief(brief), make_account(network), now=NOW).canonical_bytes)
            except (LookupNeeded, InvalidInput):  # it needs answers, or more of the account: the cases have them
                continue
            if length > longest.get(network, 0):
                chosen[network], longest[network] = brief, length
    return chosen


@frozen
class PlannedBrief:
    """A brief with the account it is for and the answers that its plan reads."""

    brief: Mapping[str, Any]
    account: Account
    lookups: Sequence[Mapping[str, Any]]
    now: datetime


def load_planned_briefs() -> dict[str, PlannedBrief]:
    """Of the exemplary cases of each network the one whose plan is the longest."""
    chosen: dict[str, PlannedBrief] = {}
    longest: dict[str, int] = {}
    for network in sorted(ADAPTER_PACKAGES):
        for path in sorted((find_case_folder(network) / "exemplary").glob("*.json")):
            case = json.loads(path.read_text())
            if case["kind"] != "create":
                continue
            case_account = case["account"]
            owner = Account(
                network,
                case_account["nativeId"],
                case_account.get("currency"),
                case_account.get("timezone"),
                case_account.get("extras", {}),
            )
            now = datetime.fromisoformat(case["input"].get("now", "2026-01-01T00:00:00Z"))
            planned_brief = PlannedBrief(
                case["input"]["brief"], owner, _encode_addresses(network, case.get("exchange", ())), now
            )
            try:
                length = len(
                    plan(read_brief(planned_brief.brief), owner, lookups=planned_brief.lookups, now=now).canonical_bytes
                )
            except (LookupNeeded, InvalidInput):  # a case of what is refused
                continue
            if length > longest.get(network, 0):
                chosen[network], longest[network] = planned_brief, length
    return chosen


def _encode_addresses(network: str, exchange: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """The exchange with its addresses as they are sent: the cases of TikTok show the JSON in them."""
    if network != "tiktok":
        return exchange
    sent = []
    for call in exchange:
        url = urlsplit(call["request"]["url"])
        query = urlencode(parse_qsl(url.query, keep_blank_values=True), quote_via=quote)
        sent.append({**call, "request": {**call["request"], "url": url._replace(query=query).geturl()}})
    return sent


def make_account(network: str) -> Account:
    """An account that every adapter can plan for."""
    return Account(network, get_adapter(network).network.example_account_id, "USD", "America/New_York")


def prepare_call(planned_brief: PlannedBrief) -> Callable[[], tuple[str, str]]:
    """What the create call does before it stores: body to arguments and digest, checks, plan, its bytes and digest."""
    body = json.dumps({"accountId": ACCOUNT_ID, "campaign": planned_brief.brief}).encode()
    request = ApiRequest({}, {}, body, "key")

    def work() -> tuple[str, str]:
        arguments, _ = parse_request(CREATE, request)
        campaign: CampaignBrief = arguments["campaign"]
        created_plan = replay_flow(
            plan_create(planned_brief.account, campaign, planned_brief.now), planned_brief.lookups
        )
        draft = OperationDraft(ACCOUNT_ID, created_plan)
        return draft.plan_text, draft.plan.digest

    return work


def results(rounds: int) -> Iterator[Result]:
    yield from _measure_reading(rounds)
    yield from _measure_preparation(rounds)
    yield _measure_money(rounds)


def _measure_reading(rounds: int) -> Iterator[Result]:
    small = next(iter(load_briefs().values()))
    for size, brief in (("small", small), ("largest", LARGEST)):
        data = json.dumps(brief).encode()
        reading = partial(read_brief, data)
        samples = take_turns(
            rounds, {"ours": make_loop(reading), "core": make_loop(partial(floor.validate_json, data))}
        )
        yield judge_costs(
            f"brief from bytes, {size} ({len(data)} B)",
            "read_brief",
            "pydantic-core validate_json without our rules",
            samples["ours"],
            samples["core"],
            at_most(1.3),
            partial(profile_work, reading, 3000),
        )


def _measure_preparation(rounds: int) -> Iterator[Result]:
    chosen = load_planned_briefs()
    works = {network: prepare_call(planned_brief) for network, planned_brief in chosen.items()}
    measured: dict[str, Callable[[], float]] = {}
    for network, planned_brief in chosen.items():
        brief = dict(planned_brief.brief)
        data = json.dumps(brief).encode()
        measured[network] = make_loop(works[network])
        measured[f"floor {network}"] = make_loop(partial(floor.prepare, data, brief))
    samples = take_turns(rounds, measured)
    for network in chosen:
        yield judge_costs(
            f"validate + check + plan + digest, {network}",
            "all that create does before it stores",
            "the floor: core validation, canonical JSON + SHA-256, five steps as dicts + canonical JSON + SHA-256",
            samples[network],
            samples[f"floor {network}"],
            at_most(PLAN_LIMITS.get(network, PLAN_LIMIT)),
            partial(profile_work, works[network], 2000),
        )
    fastest, *_, slowest = sorted(chosen, key=lambda network: min(samples[network]))
    beside = take_turns(
        rounds, {code: make_loop(works[code]) for code in (slowest, fastest)}
    )  # again, in the same moments
    yield judge_costs(
        f"slowest network ({slowest}) against the fastest ({fastest})",
        "all that create does before it stores",
        "the same for the fastest network",
        beside[slowest],
        beside[fastest],
        at_most(2.0),
        partial(profile_work, works[slowest], 2000),
    )


def _measure_money(rounds: int) -> Result:
    samples = take_turns(
        rounds,
        {
            "ours": make_loop(lambda: to_units("1234.56", MICROS, "budget.amount")),
            "floor": make_loop(lambda: floor.micros("1234.56")),
        },
    )
    return judge_costs(
        "money: decimal string to integer micros",
        "money.units",
        "str.partition and int, unchecked",
        samples["ours"],
        samples["floor"],
        at_most(1.5),
        lambda: profile_work(lambda: to_units("1234.56", MICROS, "budget.amount"), 50_000),
    )
