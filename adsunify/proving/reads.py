"""The checks that only read: the account, its lists and catalogs, and a report of three days."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta

from attrs import evolve

from adsunify.adapter.hierarchy import ListQuery, ParsedEntity
from adsunify.adapter.network import Level
from adsunify.errors import ProviderError
from adsunify.plans.records import Kind
from adsunify.values.exact_json import Json

from .proof import READ_ERRORS, Proof, ProofEntity, describe_problem

SMALL_PAGE = 2
SMALL_PAGES = 3
LARGE_PAGE = 100
LARGE_PAGES = 20
CATALOG_ROWS = 10
REPORT_TRIES = 60
REPORT_PAUSE_SECONDS = 1.0
"""How often a pending report is checked, and the seconds between the checks."""


async def check_account(proof: Proof) -> None:
    """Read the accounts of the login again, and compare the one of the proof with the store."""
    accounts = await proof.read("account", "accounts", {}, proof.adapter.reads.discover_accounts())
    if accounts is None:
        return
    ids = [account.native_id for account in accounts]
    own_account = next((account for account in accounts if account.native_id == proof.account.native_id), None)
    proof.report.compare("account.id", 1, ids.count(proof.account.native_id), "How often the login lists the account.")
    if own_account is not None:
        proof.report.compare("account.currency", proof.account.currency, own_account.currency)
        proof.report.compare("account.timezone", proof.account.timezone, own_account.timezone)


async def check_lists(proof: Proof) -> None:
    """Read the first pages of each level and the hierarchy: no entity twice, and only known statuses."""
    for kind, level in proof.list_levels():
        if not level.catalog:
            await _check_list(proof, kind, level)
    tree = await proof.read("tree", "tree", {}, proof.adapter.reads.fetch_tree(proof.account))
    if tree is not None:
        ids = [(node.kind, node.id) for node in tree.nodes]
        proof.report.compare("tree.unique", len(ids), len(set(ids)), "An entity is in the hierarchy twice.")
        kinds: dict[str, Kind] = {kind: kind for kind, _ in proof.list_levels()}
        proof.note_existing(ProofEntity(kinds[kind], id_) for kind, id_ in ids if kind in kinds)


async def _check_list(proof: Proof, kind: Kind, level: Level) -> None:
    """Compare small pages of a list with a large one."""
    reads, fact = proof.adapter.reads, f"{kind}.list"
    flow = reads.list_entities(proof.account, kind, ListQuery(LARGE_PAGE))
    first = await proof.read(fact, "entities", {"kind": kind, "limit": LARGE_PAGE}, flow)
    if first is None:
        return
    large = [entity.id for entity in first.entities]
    proof.note_existing(ProofEntity(kind, id_) for id_ in large)
    proof.report.compare(f"{fact}.unique", len(large), len(set(large)), "A page has an entity twice.")
    _check_statuses(proof, kind, level, first.entities)
    try:
        if first.cursor is not None:
            further = await list_ids(proof, kind, ListQuery(LARGE_PAGE, cursor=first.cursor), LARGE_PAGES)
            proof.note_existing(ProofEntity(kind, id_) for id_ in further)
        small = await list_ids(proof, kind, ListQuery(SMALL_PAGE), SMALL_PAGES)
    except READ_ERRORS as problem:
        proof.report.contradict(f"{fact}.pages", "pages that follow each other", None, describe_problem(problem))
        return
    expected = large[: len(small)] if first.cursor is None or len(small) <= len(large) else small
    proof.report.compare(f"{fact}.pages", expected, small, "Small pages differ from a large one.")


async def list_ids(proof: Proof, kind: Kind, query: ListQuery, pages: int) -> list[str]:
    """Return the ids of the first pages of a list. Raises the errors of reads."""
    ids: list[str] = []
    for _ in range(pages):
        page = await proof.session.run_flow(proof.adapter.reads.list_entities(proof.account, kind, query))
        ids += [entity.id for entity in page.entities]
        if page.cursor is None:
            break
        query = evolve(query, cursor=page.cursor)
    return ids


def _check_statuses(proof: Proof, kind: Kind, level: Level, entities: Sequence[ParsedEntity]) -> None:
    unknown = sorted({str(entity.native_status) for entity in entities if entity.status is None})
    known: Json = sorted(level.unified_statuses)
    if unknown:
        proof.report.contradict(f"{kind}.statuses", known, unknown, "The table does not have these native statuses.")
    elif entities:
        proof.report.confirm(f"{kind}.statuses", sorted({str(entity.native_status) for entity in entities}))
    else:
        proof.report.skip(f"{kind}.statuses", f"The account has no {level.label}.")


async def check_catalogs(proof: Proof) -> dict[str, list[str]]:
    """Read the first page of each catalog that needs no text; returns the ids of its rows by its name."""
    ids: dict[str, list[str]] = {}
    for catalog in proof.network.catalogs:
        fact = f"catalog.{catalog.resource}"
        if catalog.suffix == "required":
            proof.report.skip(fact, f"It needs a text: adsunify catalog ACCOUNT {catalog.resource}:TEXT reads it.")
            continue
        flow = proof.adapter.reads.fetch_catalog_page(proof.account, catalog.resource, ListQuery(CATALOG_ROWS))
        page = await proof.read(fact, "catalog", {"resource": catalog.resource, "limit": CATALOG_ROWS}, flow)
        if page is not None:
            ids[catalog.resource] = [row.id for row in page.rows]
            _check_rows(proof, fact, ids[catalog.resource])
    return ids


def _check_rows(proof: Proof, fact: str, ids: Sequence[str]) -> None:
    proof.report.compare(f"{fact}.unique", len(ids), len(set(ids)), "A row is there twice.")
    if ids:
        proof.report.confirm(f"{fact}.rows", len(ids))
    else:
        proof.report.skip(f"{fact}.rows", "The catalog has no row for this account.")


async def check_insights(proof: Proof) -> None:
    """Read the daily figures of the account for three days that have ended."""
    now = proof.now()
    start, end = now.date() - timedelta(days=4), now.date() - timedelta(days=2)
    members = {"startDate": str(start), "endDate": str(end), "now": now.isoformat()}
    job: str | None = None
    with proof.transport.tape.record() as exchanges:
        for _ in range(REPORT_TRIES):
            flow = proof.adapter.reads.fetch_insights(proof.account, start, end, job, now)
            try:
                insights = await proof.session.run_flow(flow)
            except ProviderError as problem:
                proof.report.contradict("insights", "a report that the adapter reads", None, problem.message)
                return
            if insights.pending is None:
                break
            job = insights.pending.job
            await asyncio.sleep(REPORT_PAUSE_SECONDS if proof.service.settings.sandbox_url is None else 0)
        else:
            proof.report.skip("insights", "The network did not finish the report in time.")
            return
    rows = insights.to_json()["rows"]
    days = [row["date"] for row in rows]
    inside = all(str(start) <= day <= str(end) for day in days) and len(days) == len(set(days))
    if inside:
        proof.report.confirm("insights", len(rows))
    else:
        proof.report.contradict("insights", f"each day from {start} to {end} once", days)
    await proof.cases.add("insights", "insights", members, exchanges)
