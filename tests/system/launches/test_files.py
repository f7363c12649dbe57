"""Campaigns as a file on every network: applied, imported, and changed outside.

``nox -s launches`` applies all example briefs, imports 100 generated accounts and makes 1,000 changes outside.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from adsunify import Ads
from adsunify.adapter.network import Network
from adsunify.answers import Account
from adsunify.errors import InvalidInput, OperationError, ProviderError
from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.service.desired.reading import list_document_settings
from adsunify.testing import sandbox
from adsunify.values.comparison import to_comparable
from adsunify.values.network_codes import ExternalNetwork
from tests.outcomes.changes import KINDS, Changer, Kind, get_resource
from tests.outcomes.matrix import get_network, list_briefs, load_brief

IS_LONG = os.environ.get("ADSUNIFY_LAUNCHES") == "long"
SEED = int(os.environ.get("ADSUNIFY_LAUNCHES_SEED", "17"))
ACCOUNTS = 9 if IS_LONG else 1
CHANGES = 84 if IS_LONG else 1
BRIEFS = 3 if IS_LONG else 1
"""How many accounts are imported, how many changes somebody makes outside, and how many campaigns there are, on each
network.
"""
IMPORTED = list(ADAPTER_PACKAGES) if IS_LONG else ["google", "outbrain"]
APPLIED = list_briefs(True) if IS_LONG else list_briefs(False)[::3]
"""The networks whose generated accounts are imported, and the briefs that are applied. tests/server/test_desired.py
imports and applies one of every network.
"""
networks = pytest.mark.parametrize("network", list(ADAPTER_PACKAGES))


def make_document(ads_account: dict[str, Account], paths: Sequence[Any]) -> dict[str, Any]:
    """A document with a launch for each example brief."""
    launches = {}
    for path in paths:
        account = ads_account[get_network(path)]
        brief = json.loads(load_brief(path, account).model_dump_json(exclude_none=True))
        launches[path.stem] = {"campaign": brief, "accounts": [{"accountId": account.account_id, "key": "one"}]}
    return {"launches": launches}


def apply(ads: Ads, document: dict[str, Any]) -> None:
    prepared = ads.change_sets.wait(ads.files.apply(document=document))
    assert prepared.status == "prepared" and prepared.digest is not None, prepared
    ads.change_sets.execute(prepared, confirmed=True, digest=prepared.digest)
    done = ads.change_sets.wait(prepared)
    assert {operation.state for operation in done.operations} == {"succeeded"}, done


def test_what_is_applied_has_no_difference() -> None:
    """Example briefs in one file: the second apply writes nothing."""
    codes = list(dict.fromkeys(map(get_network, APPLIED)))
    with sandbox(*codes) as simulated, simulated.client() as ads:
        document = make_document({code: simulated.account(code) for code in codes}, APPLIED)
        assert len(ads.files.diff(document=document).create) == len(APPLIED)
        apply(ads, document)
        write_count = len(simulated.writes())
        difference = ads.files.diff(document=document)
        assert difference.is_empty, difference
        with pytest.raises(InvalidInput, match="nothing to apply"):
            ads.files.apply(document=document)
        assert len(simulated.writes()) == write_count
    print(f"{len(APPLIED)} combinations applied, and no difference")


@pytest.mark.parametrize("network", IMPORTED)
def test_an_imported_account_has_no_difference(network: str) -> None:
    code = ExternalNetwork(network)
    for seed in range(SEED, SEED + ACCOUNTS):
        with sandbox(code) as simulated, simulated.client() as ads:
            changer = Changer(simulated, ads, code, Random(seed))
            paths = [path for path in list_briefs(True) if get_network(path) == code]
            changer.create_entities(changer.random.choices(paths, k=BRIEFS))
            for _ in range(8 if IS_LONG else 3):
                change_somehow(ads, changer)
            account = simulated.account(code)
            entities = [entity.to_dict() for entity in ads.accounts.entities(account)]
            assert {kind for kind in KINDS if changer.entities.get(kind)} <= {entity["kind"] for entity in entities}
            difference = ads.files.diff(document={"entities": entities})
            assert difference.is_empty, (network, seed, difference)


def change_somehow(ads: Ads, changer: Changer) -> None:
    try:
        for operation in changer._prepare(changer.random.choice(["edit", "status", "bulk edit"])):
            ads.operations.run(operation, confirmed=True)
    except (InvalidInput, OperationError, ProviderError):
        return  # the network does not take it


@networks
def test_drift_names_exactly_what_somebody_changed(network: str) -> None:
    """We write some fields, somebody else writes some: drift is what is not any more as we wrote it."""
    code, tables = ExternalNetwork(network), get_adapter(network).network
    done = found_drift = tries = 0
    with sandbox(code) as simulated, simulated.client() as ads, simulated.client() as others:
        random = Random(SEED)
        ours, theirs = Changer(simulated, ads, code, random), Changer(simulated, others, code, random)
        ours.create_entities([path for path in list_briefs(True) if get_network(path) == code][:BRIEFS])
        theirs.entities = ours.entities
        account = simulated.account(code)
        while done < CHANGES:
            tries += 1
            assert tries < 30 * (done + 2), f"{network} takes hardly any change"
            kind: Kind = random.choice([kind for kind, ids in ours.entities.items() if ids])
            entity_id = random.choice(ours.entities[kind])
            names = write_fields(ours, tables, kind, entity_id)
            before = read_fields(ads, account, kind, entity_id)
            expected_fields = {name: before[name] for name in names if before[name] not in (None, "", [])}
            if not expected_fields:
                continue
            document = {
                "entities": [{"accountId": account.account_id, "kind": kind, "id": entity_id, **expected_fields}]
            }
            assert ads.files.diff(document=document).is_empty
            if not write_fields(theirs, tables, kind, entity_id, names):
                continue
            after = read_fields(ads, account, kind, entity_id)
            changed = {name for name in expected_fields if to_comparable(before[name]) != to_comparable(after[name])}
            difference = ads.files.diff(document=document)
            assert {row.field for entity in difference.drifted for row in entity.fields} == changed, (
                before,
                after,
                difference,
            )
            assert {row.field for entity in difference.change for row in entity.fields} == changed, (
                before,
                after,
                difference,
            )
            done += 1
            found_drift += bool(changed)
    print(f"{network}, seed {SEED}: {done} changes outside, {found_drift} of them of a field in the file")
    assert found_drift >= done / 2


def write_fields(changer: Changer, tables: Network, kind: Kind, entity_id: str, only: Sequence[str] = ()) -> list[str]:
    """Edit some fields of an entity; the fields of the plan that was written, none if the network refused it."""
    names = [setting.field for setting in list_document_settings(tables, kind)]
    try:
        operation = changer._prepare_edit(kind, entity_id, only or names)
        done = changer.ads.operations.run(operation, confirmed=True)
    except (InvalidInput, OperationError, ProviderError):
        return []
    changed = {change.field for step in done.plan.steps or () for change in step.changes}
    return [name for name in names if name in changed]


def read_fields(ads: Ads, account: Account, kind: Kind, entity_id: str) -> dict[str, Any]:
    return {row.field: row.value for row in get_resource(ads, kind).settings(account, entity_id).fields}
