"""One conversation: a service on a SQLite file, a fixed clock, and every native request recorded or replayed."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from pydantic.alias_generators import to_camel

from adsunify.actor import Actor
from adsunify.models.brief import read_brief
from adsunify.networks.registry import get_adapter
from adsunify.networks.samples import make_brief
from adsunify.sandbox import sandbox
from adsunify.service import accounts, campaigns, connections, operations
from adsunify.service.core import Service
from adsunify.service.factory import open_service
from adsunify.service.reporting.accounts import read_account_insights
from adsunify.store import Clock, people
from adsunify.testing.connecting import get_sandbox_credentials, submit_consent_page
from tests.networks.samples import find_case_folder, get_samples

from .recorded import Cassette, record_exchanges, replay_exchanges

VERIFIER = "a-fixed-verifier-for-recorded-conversations"
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
DAYS = date(2026, 11, 1), date(2026, 11, 10)
RECORDINGS = os.environ.get("ADSUNIFY_CASSETTES")
"""A folder of recordings of one's own, with a folder for each network."""
RECORDING = os.environ.get("ADSUNIFY_RECORD") == "1"


def find_recordings(network: str) -> Path:
    """The folder of a network's recorded conversation."""
    folder = Path(RECORDINGS, network) if RECORDINGS else find_case_folder(network) / "conversation"
    if RECORDING:
        folder.mkdir(parents=True, exist_ok=True)
    return folder


@asynccontextmanager
async def open_conversation(network: str, folder: Path) -> AsyncIterator[tuple[Service, Actor, str, Cassette]]:
    """A service that records or replays, an admin, the code that his consent brought, and the cassette."""
    clock = Clock(wall=lambda: int(NOW.timestamp() * 1000), monotonic=lambda: 0)
    environment = {
        "ADSUNIFY_LEASE_SECONDS": "30",
        f"ADSUNIFY_{network.upper()}_CLIENT_ID": os.environ.get(
            f"ADSUNIFY_{network.upper()}_CLIENT_ID", f"sandbox-{network}"
        ),
        f"ADSUNIFY_{network.upper()}_CLIENT_SECRET": os.environ.get(
            f"ADSUNIFY_{network.upper()}_CLIENT_SECRET", "sandbox-secret"
        ),
    }
    code = os.environ.get(f"ADSUNIFY_{network.upper()}_CODE")
    simulated = RECORDING and code is None
    async with _open_cassette(network, simulated) as cassette:
        opened_service = await open_service(
            f"sqlite:///{folder / 'c.db'}", environment, sandbox_url=cassette.url, clock=clock
        )
        service = opened_service.service
        try:
            home = await service.store.write(people.ensure_workspace, "w", clock)
            person = await service.store.write(people.ensure_user, "a@x.example", clock)
            await service.store.write(people.set_membership, home.id, person.id, "admin", clock)
            actor = Actor(home.id, person.id, "local", "admin", True, "local")
            if simulated and not _has_credentials_login(network):
                code = await _get_consent_code(service, network)
                cassette.exchanges.clear()  # the consent page is a person's
            yield service, actor, code or "filtered", cassette
        finally:
            await service.close()


async def _get_consent_code(service: Service, network: str) -> str:
    """The code that the simulated network's consent page gives, before the cassette runs."""
    redirect, adapter, secret = connections.consent_redirect_uri(service, network), get_adapter(network), ""
    if adapter.request_tokens is not None:
        reads = adapter.request_tokens
        flow = reads.fetch_request_token(service.get_oauth_client(network), redirect, "s", service.store.clock.now())
        token = await connections._run_network_flow(service, network, flow)
        page, secret = token.url, token.secret
    else:
        assert adapter.authorization is not None
        page = adapter.authorization.build_authorization_url(service.get_oauth_client(network), redirect, "s", VERIFIER)
    answer = await submit_consent_page(service.settings.browser_url(page))
    if _has_request_tokens(network):
        return " ".join([answer["oauth_token"], answer["oauth_verifier"], secret])
    return answer[get_samples(network).consent_code]


def _has_request_tokens(network: str) -> bool:
    return get_adapter(network).network.login.kind == "oauth1"


def _has_credentials_login(network: str) -> bool:
    return get_adapter(network).network.login.kind == "credentials"


def _get_consent_answer(network: str, code: str) -> tuple[dict[str, str], str]:
    """What came back from the consent, and the verifier; an OAuth 1.0a code is token, its verifier, its secret.

    Without a consent page: what a person gives, as JSON; the simulated network's own where the code is none.
    """
    if _has_credentials_login(network):
        own = {to_camel(name): value for name, value in get_sandbox_credentials(network).items()}
        return json.loads(code) if code.startswith("{") else own, ""
    if not _has_request_tokens(network):
        return {get_samples(network).consent_code: code, "state": "s"}, VERIFIER
    token, proof, secret = code.split(" ") if " " in code else (code, code, code)
    return {"oauth_token": token, "oauth_verifier": proof, "state": "s"}, secret


@asynccontextmanager
async def _open_cassette(network: str, simulated: bool) -> AsyncIterator[Cassette]:
    """The recorded conversation, replayed; while recording, a new one, which is saved where nothing fails."""
    path = find_recordings(network) / "exchanges.json"
    if not RECORDING:
        async with replay_exchanges(path) as cassette:
            yield cassette
        return
    async with sandbox(clock=lambda: NOW) as running, record_exchanges(running.url if simulated else None) as cassette:
        yield cassette
        cassette.save(path)


async def run_conversation(service: Service, actor: Actor, network: str, code: str) -> Any:
    """The whole conversation; returns what came of it, without ids of ours."""
    adapter, app = get_adapter(network), service.get_oauth_client(network)
    redirect = connections.consent_redirect_uri(service, network)
    answer, verifier = _get_consent_answer(network, code)
    credentials = await connections._run_network_flow(  # the exchange alone: the consent page is a person's
        service,
        network,
        adapter.credential_flows.fetch_credentials(app, redirect, answer, verifier, service.store.clock.now()),
    )
    discovered = await connections._run_network_flow(service, network, adapter.reads.discover_accounts(), credentials)
    await connections.save_connection(service, actor, network, credentials, discovered)
    while service.background_tasks:
        await asyncio.wait(service.background_tasks)  # awaiting a task that is done would never yield
    rows = await accounts.list_accounts(service, actor, network=network)
    account = next((row for row in rows if row["currency"] == "USD"), rows[0])
    brief = read_brief(make_brief(network, account["currency"], account["timezone"], NOW))
    prepared = (
        await campaigns.prepare_campaign(
            service, actor, account_id=account["accountId"], campaign=brief, idempotency=None
        )
    ).data
    created = await operations.execute_operation(service, actor, operation_id=prepared["id"], confirmed=True)
    live = (
        await campaigns.prepare_activation(
            service, actor, account_id=account["accountId"], source_operation_id=prepared["id"], idempotency=None
        )
    ).data
    activated = await operations.execute_operation(service, actor, operation_id=live["id"], confirmed=True)
    while True:
        start, end = DAYS
        insights = await read_account_insights(
            service, actor, account_id=account["accountId"], start_date=start, end_date=end
        )
        if insights["pending"] is None:
            break
    return {
        "accounts": [(row["nativeId"], row["currency"], row["timezone"]) for row in rows],
        "created": (created["status"], [step["outputs"] for step in created["receipt"]["steps"]]),
        "activated": activated["status"],
        "rows": insights["rows"],
        "totals": insights["totals"],
    }


def load_expected_result(network: str, result: Any) -> Any:
    """What the conversation came to when it was recorded; a recording keeps it."""
    path = find_recordings(network) / "result.json"
    plain = json.loads(json.dumps(result))
    if RECORDING:
        path.write_text(json.dumps(plain, indent=1) + "\n")
    return json.loads(path.read_text())
