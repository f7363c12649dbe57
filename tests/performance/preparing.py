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
from .measuring import Result, at_most, in_turns, judged, looped, profiled

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


def briefs() -> dict[str, dict[str, Any]]:
    """One brief for each network: of its examples, the one whose plan is the longest."""
    found: dict[str, dict[str, Any]] = {}
    longest: dict[str, int] = {}
    for network in sorted(ADAPTER_PACKAGES):
        for path in list_example_briefs(network):
            written = json.loads(path.read_text())
            try:
                length = len(plan(read_brief(written), account(network), now=NOW).canonical_bytes)
            except (LookupNeeded, InvalidInput):  # it needs answers, or more of the account: the cases have them
                continue
            if length > longest.get(network, 0):
                found[network], longest[network] = written, length
    return found


@frozen
class Planned:
    """A brief with the account it is for and the answers that its plan reads."""

    brief: Mapping[str, Any]
    account: Account
    lookups: Sequence[Mapping[str, Any]]
    now: datetime


def planned() -> dict[str, Planned]:
    """Of the exemplary cases of each network the one whose plan is the longest."""
    found: dict[str, Planned] = {}
    longest: dict[str, int] = {}
    for network in sorted(ADAPTER_PACKAGES):
        for path in sorted((find_case_folder(network) / "exemplary").glob("*.json")):
            case = json.loads(path.read_text())
            if case["kind"] != "create":
                continue
            said = case["account"]
            owner = Account(
                network, said["nativeId"], said.get("currency"), said.get("timezone"), said.get("extras", {})
            )
            now = datetime.fromisoformat(case["input"].get("now", "2026-01-01T00:00:00Z"))
            one = Planned(case["input"]["brief"], owner, _sent(network, case.get("exchange", ())), now)
            try:
                length = len(plan(read_brief(one.brief), owner, lookups=one.lookups, now=now).canonical_bytes)
            except (LookupNeeded, InvalidInput):  # a case of what is refused
                continue
            if length > longest.get(network, 0):
                found[network], longest[network] = one, length
    return found


def _sent(network: str, exchange: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """The exchange with its addresses as they are sent: the cases of TikTok show the JSON in them."""
    if network != "tiktok":
        return exchange
    found = []
    for one in exchange:
        url = urlsplit(one["request"]["url"])
        query = urlencode(parse_qsl(url.query, keep_blank_values=True), quote_via=quote)
        found.append({**one, "request": {**one["request"], "url": url._replace(query=query).geturl()}})
    return found


def account(network: str) -> Account:
    """An account that every adapter can plan for."""
    return Account(network, get_adapter(network).network.example_account_id, "USD", "America/New_York")


def prepare(one: Planned) -> Callable[[], tuple[str, str]]:
    """What the create call does before it stores: body to arguments and digest, checks, plan, its bytes and digest."""
    body = json.dumps({"accountId": ACCOUNT_ID, "campaign": one.brief}).encode()
    asked = ApiRequest({}, {}, body, "key")

    def work() -> tuple[str, str]:
        arguments, _ = parse_request(CREATE, asked)
        campaign: CampaignBrief = arguments["campaign"]
        made = replay_flow(plan_create(one.account, campaign, one.now), one.lookups)
        draft = OperationDraft(ACCOUNT_ID, made)
        return draft.plan_text, draft.plan.digest

    return work


def results(rounds: int) -> Iterator[Result]:
    yield from _read(rounds)
    yield from _prepared(rounds)
    yield _money(rounds)


def _read(rounds: int) -> Iterator[Result]:
    small = next(iter(briefs().values()))
    for size, brief in (("small", small), ("largest", LARGEST)):
        data = json.dumps(brief).encode()
        reading = partial(read_brief, data)
        samples = in_turns(rounds, {"ours": looped(reading), "core": looped(partial(floor.validate_json, data))})
        yield judged(
            f"brief from bytes, {size} ({len(data)} B)",
            "read_brief",
            "pydantic-core validate_json without our rules",
            samples["ours"],
            samples["core"],
            at_most(1.3),
            partial(profiled, reading, 3000),
        )


def _prepared(rounds: int) -> Iterator[Result]:
    chosen = planned()
    works = {network: prepare(one) for network, one in chosen.items()}
    measured: dict[str, Callable[[], float]] = {}
    for network, one in chosen.items():
        brief = dict(one.brief)
        data = json.dumps(brief).encode()
        measured[network] = looped(works[network])
        measured[f"floor {network}"] = looped(partial(floor.prepared, data, brief))
    samples = in_turns(rounds, measured)
    for network in chosen:
        yield judged(
            f"validate + check + plan + digest, {network}",
            "all that create does before it stores",
            "the floor: core validation, canonical JSON + SHA-256, five steps as dicts + canonical JSON + SHA-256",
            samples[network],
            samples[f"floor {network}"],
            at_most(PLAN_LIMITS.get(network, PLAN_LIMIT)),
            partial(profiled, works[network], 2000),
        )
    fastest, *_, slowest = sorted(chosen, key=lambda network: min(samples[network]))
    beside = in_turns(rounds, {one: looped(works[one]) for one in (slowest, fastest)})  # again, in the same moments
    yield judged(
        f"slowest network ({slowest}) against the fastest ({fastest})",
        "all that create does before it stores",
        "the same for the fastest network",
        beside[slowest],
        beside[fastest],
        at_most(2.0),
        partial(profiled, works[slowest], 2000),
    )


def _money(rounds: int) -> Result:
    samples = in_turns(
        rounds,
        {
            "ours": looped(lambda: to_units("1234.56", MICROS, "budget.amount")),
            "floor": looped(lambda: floor.micros("1234.56")),
        },
    )
    return judged(
        "money: decimal string to integer micros",
        "money.units",
        "str.partition and int, unchecked",
        samples["ours"],
        samples["floor"],
        at_most(1.5),
        lambda: profiled(lambda: to_units("1234.56", MICROS, "budget.amount"), 50_000),
    )
