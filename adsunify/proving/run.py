"""Runs a proof: opens the store, guards it, runs the checks, and cleans up in any case."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from adsunify.actor import Actor
from adsunify.adapter.account import Account
from adsunify.errors import AdsunifyError, InvalidInput
from adsunify.models.brief import CampaignBrief, read_brief
from adsunify.models.guardrail import NewGuardrail, RuleScope
from adsunify.service import guardrails
from adsunify.service.core import Service
from adsunify.service.network_session import NetworkSession, read_secrets
from adsunify.values.exact_json import Json, dumps

from . import cleanup, lifecycle, reads
from .briefs import adapt_brief
from .findings import ProofReport
from .guard import make_guard
from .proof import OPERATIONS_FILE, Proof, describe_problem
from .recording import CaseWriter, collect_texts, format_json
from .redaction import Redactor
from .transport import ProofTransport, list_credential_names
from .unverified import judge_unverified_facts

GUARDRAIL_NAME = "adsunify prove activates nothing"
LEFT_BEFORE = (
    "Not everything that an earlier proof created is deleted. Prove again later, or delete it yourself and remove "
    f"{OPERATIONS_FILE} from the folder."
)
REPORT_FILE = "report.json"
CASES_FOLDER = "cases"
MakeBrief = Callable[[Account], Mapping[str, Json]]


async def prove_network(
    service: Service,
    actor: Actor,
    account_id: str,
    folder: Path,
    *,
    make_brief: MakeBrief,
    is_own_brief: bool = False,
    show: Callable[[str], object] = lambda words: None,
) -> ProofReport:
    """Prove the adapter of an account's network, and write the report and the cases into a folder.

    Args:
        service: an open service; its transport is replaced.
        actor: an admin of the account's workspace, who prepares and executes.
        account_id: the id of the account in the store.
        folder: gets ``report.json`` and the folder ``cases``. Entities that an interrupted proof in this folder left
            are deleted first.
        make_brief: makes the brief of the campaign for the account.
        is_own_brief: whether the brief is used unchanged; otherwise ids in it are replaced by ids of the account's
            catalogs.
        show: called with a message for people before each part.

    Raises:
        NotFound: the actor has no such account.
        InvalidInput: the account is not active, or the folder has the leftovers of a proof of another account.
    """
    session = await NetworkSession.load(service, actor, account_id)
    session.require_active()
    network, account = session.adapter.network, session.native_account
    transport = ProofTransport(
        service.settings.sandbox_url,
        service.transport.egress,
        make_guard(session.adapter, account),
        list_credential_names(session.adapter),
    )
    service.transport = transport
    report = ProofReport(network.code, network.version, account_id)
    redactor, read = Redactor({*await read_secrets(session)}), partial(read_secrets, session)
    writer = CaseWriter(folder / CASES_FOLDER, account, redactor, read, service.now().date(), report)
    proof = Proof(service, actor, account_id, session, transport, report, writer, folder)
    earlier = proof.load_earlier_operations()
    async with _block_activations(proof):
        try:
            if earlier:
                show("Deleting what an earlier proof left")
                report.operations += earlier
                await cleanup.clean_up(proof)
                proof.created.clear()
            if report.leftovers:
                report.skip("create", LEFT_BEFORE)
            else:
                await _run_checks(proof, make_brief, is_own_brief, show)
        except AdsunifyError as problem:
            report.contradict("proof", "all checks", None, describe_problem(problem))
        except asyncio.CancelledError:
            report.contradict("proof", "all checks", None, "The proof was interrupted.")
            if (task := asyncio.current_task()) is not None:
                task.uncancel()
        finally:
            show("Deleting what was created")
            await _clean_up_to_the_end(proof)
            _finish(proof, folder)
    return report


async def _clean_up_to_the_end(proof: Proof) -> None:
    """Clean up to the end, also if the task is cancelled."""
    cleaning = asyncio.ensure_future(cleanup.clean_up(proof))
    while not cleaning.done():
        try:
            await asyncio.shield(cleaning)
        except asyncio.CancelledError:
            if (task := asyncio.current_task()) is None or cleaning.cancelled():
                raise
            task.uncancel()
    await cleaning


async def _run_checks(proof: Proof, make_brief: MakeBrief, is_own_brief: bool, show: Callable[[str], object]) -> None:
    show("Reading the account")
    await reads.check_account(proof)
    show("Reading its campaigns, ad groups and ads")
    await reads.check_lists(proof)
    show("Reading the catalogs")
    catalogs = await reads.check_catalogs(proof)
    show("Reading figures")
    await reads.check_insights(proof)
    brief = _read_brief(proof, make_brief, {} if is_own_brief else catalogs)
    if brief is None:
        return
    show("Creating a paused campaign")
    execution = await lifecycle.create_campaign(proof, brief[0], brief[1])
    plan = None if execution is None else execution.plan
    show("Reading and editing it")
    await lifecycle.edit_entities(proof)
    await lifecycle.check_unknown_entity(proof)
    await lifecycle.check_validation(proof, plan)
    show("Sending a request that must be refused")
    await lifecycle.check_refusals(proof, plan)
    if execution is not None and execution.status == "succeeded":
        show("Undoing the creation")
        await lifecycle.delete_by_undo(proof, execution)


def _read_brief(
    proof: Proof, make_brief: MakeBrief, catalogs: Mapping[str, list[str]]
) -> tuple[CampaignBrief, Mapping[str, Json]] | None:
    """Return the brief; None if it is refused, which is a finding that says what to pass."""
    members = adapt_brief(proof.network, make_brief(proof.account), catalogs)
    proof.cases.redactor.own_texts = collect_texts(members)
    try:
        return read_brief(dumps(members)), members
    except InvalidInput as problem:
        proof.report.skip("create", f"The brief is refused. Pass another with --brief. {describe_problem(problem)}")
        return None


@asynccontextmanager
async def _block_activations(proof: Proof) -> AsyncIterator[None]:
    """Keep a guardrail over the account that blocks activations as long as the proof runs.

    A guardrail of an earlier proof that was killed is deleted as well.
    """
    scope = RuleScope(account_ids=[proof.account_id])
    rule = NewGuardrail(name=GUARDRAIL_NAME, scope=scope, blocked_actions=["activate"])
    created = await guardrails.create_guardrail(proof.service, proof.actor, rule=rule)
    try:
        yield
    finally:
        for guardrail in await guardrails.list_guardrails(proof.service, proof.actor):
            if (guardrail["name"], guardrail["scope"]) == (created["name"], created["scope"]):
                await guardrails.delete_guardrail(proof.service, proof.actor, guardrail_id=guardrail["id"])


def _finish(proof: Proof, folder: Path) -> None:
    report = proof.report
    report.refusals += proof.transport.refusals
    report.unverified = judge_unverified_facts(report, proof.transport.headers)
    folder.mkdir(parents=True, exist_ok=True)
    redacted = proof.cases.redactor.redact(report.to_json(), hides_names=False)
    (folder / REPORT_FILE).write_text(format_json(redacted) + "\n")
