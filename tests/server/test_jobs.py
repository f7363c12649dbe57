"""Jobs beside requests: one that a defect ends is logged, counted, and begins again."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from attrs import evolve

from adsunify import AsyncAds
from adsunify.cli.serve import _run_worker
from adsunify.client.local_backend import LocalBackend
from adsunify.service import jobs
from adsunify.service.alert_job import AlertJob
from adsunify.service.factory import BASE_URL_VARIABLE, open_service
from adsunify.service.jobs import keep_running
from adsunify.service.launches.job import LaunchJob
from adsunify.service.ledger.sealing import LedgerSealer
from adsunify.service.reporting.scheduled_sync import ScheduledSync
from adsunify.service.retention import MaintenanceJob
from adsunify.service.webhook_worker import WebhookWorker
from adsunify.store import deliveries
from adsunify_server.app import make_application
from tests.system.webhooks.receiving import run_receiver

from .served import RING, Served
from .test_logs import capture_log, parse_lines

pytestmark = pytest.mark.asyncio(loop_scope="module")
CLASSES: Mapping[str, Any] = {
    "webhooks": WebhookWorker,
    "ledger": LedgerSealer,
    "launches": LaunchJob,
    "figures": ScheduledSync,
    "alerts": AlertJob,
    "retention": MaintenanceJob,
}
SERVER_JOBS = ("webhooks", "ledger", "launches")


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "RESTART_SECONDS", 0)


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each job has begun. Each ends at once with a defect the first time."""
    counts: Counter[str] = Counter()

    def make_run(name: str) -> Any:
        async def run(job: Any) -> None:
            counts[name] += 1
            if counts[name] == 1:
                raise ArithmeticError("a defect")
            while not getattr(job, "is_stopping", False):
                await asyncio.sleep(0.01)

        return run

    for name, job in CLASSES.items():
        monkeypatch.setattr(job, "run", make_run(name))
    return counts


async def wait_for_starts(counts: Counter[str], names: tuple[str, ...]) -> None:
    async with asyncio.timeout(60):
        while any(counts[name] < 2 for name in names):
            await asyncio.sleep(0.01)


async def test_a_defect_ends_the_delivery_of_webhooks_for_a_moment_only(
    empty: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim, calls = deliveries.claim_deliveries, []

    def fail_once(*arguments: Any) -> Any:
        calls.append(arguments)
        if len(calls) == 1:
            raise ArithmeticError("a defect")
        return claim(*arguments)

    async with run_receiver() as receiver:
        empty.service.settings = evolve(empty.service.settings, webhook_dev_targets=frozenset({receiver.url}))
        webhook = await empty.admin.post("/webhooks", {"url": receiver.url}, 201)
        monkeypatch.setattr(deliveries, "claim_deliveries", fail_once)
        with capture_log(level=logging.ERROR) as stream:
            await empty.admin.post(f"/webhooks/{webhook['webhookId']}/test", {}, 202)
            await receiver.count(1)
        await empty.wait_for_deliveries()
        await empty.admin.delete(f"/webhooks/{webhook['webhookId']}")
    (line,) = parse_lines(stream)
    assert (line["message"], line["error"]) == ("The job webhooks has stopped", "ArithmeticError")
    assert empty.service.counters.job_failures == {"webhooks": 1}


async def test_every_job_of_a_server_begins_again(tmp_path: Path, starts: Counter[str]) -> None:
    service = (await open_service(f"sqlite:///{tmp_path / 'a.db'}", RING)).service
    runner = web.AppRunner(make_application(service))
    await runner.setup()
    await wait_for_starts(starts, SERVER_JOBS)
    await runner.cleanup()
    await service.close()
    assert starts == dict.fromkeys(SERVER_JOBS, 2) and service.counters.job_failures == dict.fromkeys(SERVER_JOBS, 1)


async def test_every_job_of_a_worker_begins_again(
    tmp_path: Path, starts: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in RING.items():
        monkeypatch.setenv(name, value)
    worker = asyncio.create_task(_run_worker(f"sqlite:///{tmp_path / 'a.db'}", (), None))
    await wait_for_starts(starts, tuple(CLASSES))
    os.kill(os.getpid(), signal.SIGTERM)
    await worker
    assert starts == dict.fromkeys(CLASSES, 2)


async def test_the_job_of_an_embedded_store_begins_again(tmp_path: Path, starts: Counter[str]) -> None:
    async with AsyncAds(f"sqlite:///{tmp_path / 'a.db'}", environment=RING) as client:
        assert isinstance(client.backend, LocalBackend)
        await wait_for_starts(starts, ("launches",))
    assert starts == {"launches": 2}


async def test_a_job_that_returns_or_is_cancelled_does_not_begin_again(empty: Served) -> None:
    ended: list[str] = []

    async def run() -> None:
        try:
            await asyncio.sleep(0 if not ended else 3600)
        finally:
            ended.append("ended")

    await keep_running(empty.service, "alerts", run)
    assert ended == ["ended"]
    task = asyncio.create_task(keep_running(empty.service, "alerts", run))
    await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.wait((task,))
    assert task.cancelled() and ended == ["ended", "ended"]
    assert "alerts" not in empty.service.counters.job_failures


async def test_a_process_that_ends_waits_for_no_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long pause ends with the process."""
    monkeypatch.setattr(jobs, "RESTART_SECONDS", 1_000_000)
    monkeypatch.setattr(jobs, "POLL_SECONDS", 0.01)
    service = (await open_service(f"sqlite:///{tmp_path / 'a.db'}", RING)).service

    async def run() -> None:
        raise ArithmeticError("a defect")

    task = asyncio.create_task(keep_running(service, "webhooks", run))
    async with asyncio.timeout(60):
        while not service.counters.job_failures:
            await asyncio.sleep(0.01)
        await service.close()
        await task


async def test_a_worker_knows_the_address_of_the_servers(
    tmp_path: Path, starts: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change set that it takes over may store the address at which a person approves."""
    urls: list[str] = []

    async def note_url(job: LaunchJob) -> None:
        urls.append(job.service.settings.base_url)

    monkeypatch.setattr(LaunchJob, "run", note_url)
    for name, value in (*RING.items(), (BASE_URL_VARIABLE, "https://ads.acme.example")):
        monkeypatch.setenv(name, value)
    worker = asyncio.create_task(_run_worker(f"sqlite:///{tmp_path / 'a.db'}", (), None))
    await wait_for_starts(starts, ("webhooks", "ledger"))
    os.kill(os.getpid(), signal.SIGTERM)
    await worker
    assert urls == ["https://ads.acme.example"]
