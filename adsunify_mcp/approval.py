"""Approval by a person: the request needs input, which the person gives on the review page.

Source: MCP 2026-07-28, Multi Round-Trip Requests; Elicitation, "URL Mode Elicitation Requests". Clients of other
revisions, and clients that show no addresses, get the operation with ``approvalRequired`` instead.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from attrs import frozen

from adsunify.client.backends import Backend
from adsunify.contract import ENDPOINTS_BY_ID, ApiRequest, Endpoint
from adsunify.errors import AdsunifyError
from adsunify.values.exact_json import Json

from .method_results import InputRequired, ToolResult
from .request_metadata import RequestMetadata
from .results import APPROVAL_CODE, declined_result

REQUEST_KEY = "approval"
"""The key of the input that we require. The client answers under the same key."""
READERS: Mapping[str, str] = {"post_operation_execute": "get_operation", "post_change_set_execute": "get_change_set"}
"""An endpoint that executes -> the endpoint that reads what it executes."""
WAIT_SECONDS = 15.0
"""How long a request that is sent again waits for the person's decision, before it requires the input again."""
POLL_SECONDS = 1.0
WAITING_STATUSES = ("prepared", "running")
MESSAGE = (
    "A person must approve this change before anything is written. Sign in at adsunify, read the plan, and execute it "
    "on that page: {url}"
)


@frozen
class ApprovalSubject:
    """What an endpoint executes: ``endpoint`` reads it, and ``path`` names it."""

    endpoint: Endpoint
    path: Mapping[str, str]

    def to_state(self) -> dict[str, Json]:
        """Return the state of a request for its approval."""
        return {"endpoint": self.endpoint.operation_id, "path": dict(self.path)}

    async def read(self, backend: Backend) -> Mapping[str, Any]:
        """Read the operation or the change set as it is now."""
        data: Mapping[str, Any] = (await backend.call(self.endpoint, ApiRequest(self.path, {}, b"", None)))["data"]
        return data


async def call_with_approval(
    backend: Backend, context: RequestMetadata, endpoint: Endpoint, request: ApiRequest
) -> Mapping[str, Json] | ToolResult | InputRequired:
    """Call an endpoint. If a person must approve the change, return the input that the request needs.

    Raises:
        AdsunifyError: as the endpoint raises it, also if a person must approve and the client cannot show a page.
    """
    reader = READERS.get(endpoint.operation_id)
    if reader is None or not context.can_require_input or not context.can_open_url():
        return await backend.call(endpoint, request)
    subject = ApprovalSubject(ENDPOINTS_BY_ID[reader], request.path)
    if context.state == subject.to_state():
        answer = context.input_responses.get(REQUEST_KEY, {})
        if answer.get("action") in ("decline", "cancel"):
            return declined_result(await subject.read(backend))
        await _wait_for_decision(subject, backend)
    try:
        return await backend.call(endpoint, request)
    except AdsunifyError as problem:
        if problem.code != APPROVAL_CODE:
            raise
        url = (await subject.read(backend))["reviewUrl"]
        params = {"mode": "url", "url": url, "message": MESSAGE.format(url=url)}
        return InputRequired({REQUEST_KEY: {"method": "elicitation/create", "params": params}}, subject.to_state())


async def _wait_for_decision(subject: ApprovalSubject, backend: Backend) -> None:
    """Wait until the person has decided, or for :data:`WAIT_SECONDS`. Nothing is written."""
    loop = asyncio.get_running_loop()
    until = loop.time() + WAIT_SECONDS
    while (await subject.read(backend)).get("status") in WAITING_STATUSES and loop.time() < until:
        await asyncio.sleep(POLL_SECONDS)
