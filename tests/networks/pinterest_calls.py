"""What the tests of the Pinterest adapter share: a brief, answers as Pinterest gives them, and a driver."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from adsunify.brief import read_brief
from adsunify.checks import check
from adsunify.connecting import App
from adsunify.errors import InvalidInput
from adsunify.network import Account
from adsunify.networks.pinterest.tables import NETWORK
from adsunify.planning import plan
from adsunify.reading import drive
from adsunify.steps import Outputs, Plan
from adsunify.wire import Flow, Request, Response

API = "https://api.pinterest.com/v5"
ACCOUNT = Account("pinterest", "549755885175", "USD", "UTC")
BELOW = f"{API}/ad_accounts/549755885175"
NOW = datetime(2026, 10, 20, 12, tzinfo=UTC)
APP = App("1234", "app-secret")
PIN_ID = "394205773611545468"
OUTPUTS: Mapping[str, Outputs] = {
    "pin": {"id": PIN_ID},
    "campaign": {"id": "626735565838"},
    "adGroup": {"id": "2680060704746"},
    "keywords": {"id": ["1", "2"]},
    "ad": {"id": "687195134316"},
}
BRIEF: Mapping[str, Any] = {
    "name": "Autumn kit",
    "goal": "traffic",
    "budget": {"amount": "25.00", "currency": "USD", "period": "daily"},
    "bid": "0.85",
    "schedule": {"startAt": "2026-11-01T08:00:00Z", "endAt": "2026-11-15T09:00:00+01:00"},
    "targeting": {"countries": ["US", "CA"], "keywords": [{"text": "camping kit", "match": "phrase"}]},
    "creative": {
        "headline": "Autumn kit",
        "body": "Everything for a weekend.",
        "url": "https://shop.example/kit",
        "imageUrl": "https://cdn.example/kit.jpg",
    },
    "platform": {"boardId": "730146114520000001"},
}
EXISTING: Mapping[str, Any] = {"creative": {"existingId": PIN_ID}, "platform": {}}


def brief(**changes: Any) -> dict[str, Any]:
    """The brief with members replaced (``targeting__countries=[...]`` a nested one); None leaves one out."""
    value: dict[str, Any] = json.loads(json.dumps(BRIEF))
    for path, new in changes.items():
        *way, last = path.split("__")
        holder = value
        for part in way:
            holder = holder[part]
        if new is None:
            del holder[last]
        else:
            holder[last] = new
    return value


def created(
    *, account: Account = ACCOUNT, now: datetime | None = None, lookups: Sequence[Any] = (), **changes: Any
) -> Plan:
    return plan(read_brief(brief(**changes)), account, now=now, lookups=lookups)


def issues_of(*, account: Account = ACCOUNT, now: datetime | None = None, **changes: Any) -> set[str]:
    with pytest.raises(InvalidInput) as refusal:
        check(NETWORK, account, read_brief(brief(**changes)), now)
    return {issue.path for issue in refusal.value.issues}


def said(body: Any, status: int = 200, **headers: str) -> Response:
    """An answer, its bytes read as every answer's."""
    lower = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response.of(status, lower, body if isinstance(body, bytes) else json.dumps(body).encode())


def failing(code: int, status: int = 400) -> Response:
    return said({"code": code, "message": "No."}, status)


def listed(*items: Any, bookmark: str | None = None) -> Response:
    return said({"items": items, "bookmark": bookmark})


def run(flow: Flow[Any], *answers: Response) -> tuple[Any, list[Request]]:
    """The flow's result from these answers in order, and what it asked for."""
    asked: list[Request] = []
    left = list(answers)

    def answer(request: Request) -> Response:
        asked.append(request)
        return left.pop(0)

    result = drive(flow, answer)
    assert not left
    return result, asked
