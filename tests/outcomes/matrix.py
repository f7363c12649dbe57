"""Loses the answer of each step of an operation, and compares what an inspection says with what was written."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from attrs import frozen

from adsunify import Ads, CampaignBrief, read_brief
from adsunify.answers import Account, InspectedStep, Operation
from adsunify.errors import AdsunifyError, InvalidInput, OperationError
from adsunify.networks.registry import ADAPTER_PACKAGES
from adsunify.plans.records import Kind
from adsunify.testing import SimulatedNetworks
from adsunify.values.network_codes import ExternalNetwork
from tests.networks.samples import get_samples, list_example_briefs

FAULTS: Mapping[str, Mapping[str, Any]] = {
    "before": {"fault": "reset_before"},
    "after": {"fault": "reset_after"},
    "truncated": {"fault": "truncate"},
    "status 503": {"status": 503},
}
"""How the answer of a write is lost; the second and the third write it."""
WAIT_SECONDS = 901
KINDS: tuple[Kind, ...] = ("campaign", "adGroup", "ad")
ACTIONS = ("status", "edit", "delete")
LIKENESSES = ("differs", "differs below", "older", "claimed")
"""How another campaign resembles the planned one.

It has another name, or another budget, which many networks have at the ad group; it is older, or a receipt names it.
"""
UNSENT_FAULTS = ("before", "status 503")
"""The faults with which the network has not seen the write."""
METHODS: tuple[Literal["POST", "PUT", "PATCH", "DELETE"], ...] = ("POST", "PUT", "PATCH", "DELETE")
NUMBERS = itertools.count(1)


@frozen
class Cell:
    """One lost answer: the step, what an inspection decided at once and later, and whether it was written."""

    network: str
    step: str
    fault: str
    is_written: bool
    first: InspectedStep
    second: InspectedStep

    @property
    def is_wrong(self) -> bool:
        right_verdict = "applied" if self.is_written else "not_applied"
        return any(inspected.verdict not in (right_verdict, "undecided") for inspected in (self.first, self.second))

    @property
    def is_decided(self) -> bool:
        return self.second.verdict != "undecided"

    def __str__(self) -> str:
        findings = "; ".join(read.found for read in self.second.evidence)
        return f"{self.network} {self.step} {self.fault}: {self.second.verdict}: {self.second.reason} ({findings})"


def load_brief(path: Path, account: Account) -> CampaignBrief:
    """The brief of an example for this account."""
    brief = json.loads(path.read_text())
    brief["name"] = f"{brief['name'][:60]} {next(NUMBERS)}"
    brief["budget"]["currency"] = account.currency
    if (make_creative := get_samples(account.network).make_creative) is not None:
        brief["creative"] |= make_creative()
    return read_brief(json.dumps(brief))


def list_briefs(is_whole: bool) -> list[Path]:
    """The example briefs: one of each network, or all."""
    paths_by_network = {code: list_example_briefs(code) for code in sorted(ADAPTER_PACKAGES)}
    return [path for paths in paths_by_network.values() for path in (paths if is_whole else paths[:1])]


def get_network(path: Path) -> ExternalNetwork:
    """The network of an example brief."""
    return ExternalNetwork(path.stem.split("-")[0])


def lose_answer(networks: SimulatedNetworks, ads: Ads, operation: Operation, position: int, fault: str) -> Operation:
    """Execute an operation whose write number ``position`` meets a fault."""
    step = operation.plan.steps[position]
    path = re.sub(r"\{\w+\}", "*", urlsplit(step.path).path)
    method = next(known for known in METHODS if known == step.method)
    networks.fail(ExternalNetwork(operation.network), method, path, **FAULTS[fault])
    with_error = None
    try:
        ads.operations.execute(operation, confirmed=True)
    except AdsunifyError as problem:
        with_error = problem
    assert not networks.unused_faults(), networks.describe_unused_faults()
    assert with_error is not None and with_error.code == "outcome_unknown", (operation.network, step.key, fault)
    return ads.operations.get(operation.id)


def advance_to(networks: SimulatedNetworks, ads: Ads, operation: Operation, step: str, seconds: int) -> InspectedStep:
    """Move the clock, and return what an inspection says of a step then."""
    networks.clock.advance(seconds=seconds)
    return next(inspected for inspected in ads.operations.inspect(operation.id).steps if inspected.key == step)


def inspect_cell(networks: SimulatedNetworks, ads: Ads, operation: Operation, position: int, fault: str) -> Cell:
    """Lose the answer of a step, and inspect it at once and after the lists show everything.

    An inspection writes nothing.
    """
    network, step = ExternalNetwork(operation.network), operation.plan.steps[position].key
    before = len(networks.writes(network))
    lose_answer(networks, ads, operation, position, fault)
    write_count = len(networks.writes(network))
    first = advance_to(networks, ads, operation, step, 0)
    second = advance_to(networks, ads, operation, step, WAIT_SECONDS)
    assert len(networks.writes(network)) == write_count
    return Cell(network, step, fault, write_count - before > position, first, second)


def iterate_creations(networks: SimulatedNetworks, ads: Ads, path: Path, delay: int = 0) -> Iterator[Cell]:
    """Lose the answer of each step of a brief's campaign, in each way; lists show it after ``delay`` seconds."""
    account = networks.account(get_network(path))
    count = len(ads.campaigns.create(account, load_brief(path, account)).plan.steps)
    for position in range(count):
        for fault in FAULTS:
            operation = ads.campaigns.create(account, load_brief(path, account))
            networks.delay_lists(get_network(path), delay)
            yield inspect_cell(networks, ads, operation, position, fault)
            networks.delay_lists(get_network(path), 0)


def iterate_changes(networks: SimulatedNetworks, ads: Ads, path: Path) -> Iterator[Cell]:
    """Lose the answer of a status, an edit and a deletion of each level. Some of these answers have no body to cut."""
    account = networks.account(get_network(path))
    creation = ads.operations.run(ads.campaigns.create(account, load_brief(path, account)), confirmed=True)
    kinds = [kind for kind in KINDS if kind in {created.kind for created in creation.created}]
    for kind, action, fault in itertools.product(kinds, ACTIONS, ("before", "after", "status 503")):
        creation = ads.operations.run(ads.campaigns.create(account, load_brief(path, account)), confirmed=True)
        entity = next(created.entity_id for created in creation.created if created.kind == kind)
        try:
            operation = prepare_change(ads, account, kind, entity, action)
        except InvalidInput:
            continue  # the network has no such change
        yield inspect_cell(networks, ads, operation, 0, fault)


def iterate_likenesses(networks: SimulatedNetworks, ads: Ads, path: Path, likeness: str) -> Iterator[Cell]:
    """Lose the answer of each step of a brief's campaign beside a campaign that resembles it.

    Networks with unique names refuse the second of two with the same name, so its later steps are not executed. There a
    campaign that differs below is made after the operation was prepared, whose write does not reach the network.
    """
    account = networks.account(get_network(path))
    first, second = (ads.campaigns.create(account, brief) for brief in [load_brief(path, account)] * 2)
    ads.operations.run(first, confirmed=True)
    try:
        ads.operations.run(second, confirmed=True)
        positions, faults = range(len(second.plan.steps)), tuple(FAULTS)
    except OperationError:
        positions, faults = range(1), UNSENT_FAULTS if likeness == "differs below" else tuple(FAULTS)
    for position, fault in itertools.product(positions, faults):
        brief = load_brief(path, account)
        early = ads.campaigns.create(account, brief) if likeness == "differs below" else None
        with networks.client() as stranger:  # its receipts are in another database
            maker = ads if likeness == "claimed" else stranger
            other = make_likeness(brief, likeness)
            maker.operations.run(maker.campaigns.create(account, other), confirmed=True)
        if likeness == "older":
            networks.clock.advance(seconds=300)
        try:
            operation = early or ads.campaigns.create(account, brief)
        except InvalidInput as refusal:
            assert [issue.path for issue in refusal.issues] == ["campaign.name"]
            continue
        yield inspect_cell(networks, ads, operation, position, fault)


def make_likeness(brief: CampaignBrief, likeness: str) -> CampaignBrief:
    """Return the brief of a campaign that resembles that of another brief."""
    if likeness == "differs":
        return brief.model_copy(update={"name": f"{brief.name} copy"})
    if likeness == "differs below":
        budget = brief.budget.model_copy(update={"amount": str(2 * Decimal(brief.budget.amount))})
        return brief.model_copy(update={"budget": budget})
    return brief


def prepare_change(ads: Ads, account: Account, kind: Kind, entity: str, action: str) -> Operation:
    """Prepare a change of an entity."""
    resource = {"campaign": ads.campaigns, "adGroup": ads.ad_groups, "ad": ads.ads}[kind]
    if action == "status":
        now = resource.get(account, entity).status
        status: Literal["active", "paused"] = "paused" if now == "active" else "active"
        return ads.bulk.status(account, kind=kind, entities=[entity], status=status).operations[0]
    if action == "edit":
        return resource.edit(account, entity, fields={"name": f"Another name {next(NUMBERS)}"})
    return resource.delete(account, entity)
