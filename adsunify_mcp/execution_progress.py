"""Reports how far an execution is, for clients that ask for progress.

Source: MCP 2026-07-28 and 2025-11-25, Progress.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

from adsunify.client.backends import Backend
from adsunify.contract import ENDPOINTS_BY_ID, ApiRequest
from adsunify.errors import AdsunifyError

from .request_metadata import RequestMetadata

T = TypeVar("T")
POLL_SECONDS = 1.0


async def report_execution(
    backend: Backend, context: RequestMetadata, path: Mapping[str, str], execution: Coroutine[Any, Any, T]
) -> T:
    """Run an execution, and report the steps that are written while it runs.

    The operation is only read. The first report is sent at once, and further ones when more steps are written.

    Args:
        backend: reads the operation.
        context: sends the reports; without a progress token none is sent.
        path: the path parameters of the operation.
        execution: the execution, which runs to its end even if the operation cannot be read.
    """
    if not context.wants_progress():
        return await execution
    task = asyncio.create_task(execution)
    reported = -1
    try:
        while True:
            reported = await _report_written_steps(backend, context, path, reported)
            if task.done():
                return task.result()
            await asyncio.wait((task,), timeout=POLL_SECONDS)
    finally:
        if not task.done():
            task.cancel()


async def _report_written_steps(
    backend: Backend, context: RequestMetadata, path: Mapping[str, str], reported: int
) -> int:
    """Report the number of written steps if it is larger than ``reported``; return the number that is reported."""
    try:
        envelope = await backend.call(ENDPOINTS_BY_ID["get_operation"], ApiRequest(path, {}, b"", None))
    except AdsunifyError:  # the execution raises its own error
        return reported
    operation = envelope["data"]
    applied_count = len([step for step in operation["receipt"]["steps"] if step["state"] == "applied"])
    total = len(operation["plan"]["steps"])
    if applied_count > reported:
        await context.report_progress(applied_count, total, f"{applied_count} of {total} steps are written.")
    return max(applied_count, reported)
