"""Sends calls with a key, over HTTP or to the service without it."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from typing import Any

from adsunify.contract import ENDPOINTS, ApiRequest, Endpoint
from adsunify.contract.endpoint import PREFIX
from adsunify.errors import AdsunifyError
from adsunify.service.authentication import authenticate
from adsunify.service.dispatch import call_endpoint
from tests.server.served import Served

Send = Callable[[str, str, bytes], Awaitable[tuple[int, Any]]]
"""Sends a method, a path below the prefix and a body; returns the status and the JSON of the answer."""


def send_over_http(server: Served, token: str) -> Send:
    """Send with a key over HTTP."""
    caller = server.caller(token)

    async def send(method: str, path: str, body: bytes) -> tuple[int, Any]:
        answer = await caller.send(method, path, content=body if body else None)
        return answer.status_code, answer.json()

    return send


async def send_to_service(server: Served, token: str) -> Send:
    """Send with a key to the use cases, from the bytes of the body on as the server does."""
    actor = await authenticate(server.service, f"Bearer {token}")
    rows: list[tuple[re.Pattern[str], Endpoint]] = [
        (re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", endpoint.path.removeprefix(PREFIX))), endpoint)
        for endpoint in ENDPOINTS
    ]

    async def send(method: str, path: str, body: bytes) -> tuple[int, Any]:
        slots, endpoint = next(
            (match.groupdict(), row)
            for pattern, row in rows
            if row.method == method and (match := pattern.fullmatch(path)) is not None
        )
        try:
            answer = await call_endpoint(server.service, actor, endpoint, ApiRequest(slots, {}, body))
        except AdsunifyError as problem:
            return problem.status, {"code": problem.code}
        return answer.status, json.loads(json.dumps(answer.to_envelope(), default=str))

    return send
