"""Several server processes on one database: together they admit no more than the limits."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from adsunify.service.sessions import MAX_TRIES_BY_EMAIL, TRY_MILLISECONDS

from .conftest import Place
from .running import first_line, process

LIMIT = 21
ROUNDS = 40


@pytest.fixture
def shop(place: Callable[[str], Place], tmp_path: Path) -> tuple[Place, str]:
    """A store with a workspace, and the key of its admin."""
    store = place(tmp_path.name)
    workspace = store.ads("admin", "init", "--workspace", "shop", "--email", "ada@shop.example", "--json").data
    return store, workspace["apiKey"]


def refill(limit: int, window: float, began: float) -> float:
    """How many tokens a bucket of ``limit`` has been filled with since then."""
    return limit * (time.monotonic() - began) / window


def test_two_processes_admit_one_limit(shop: tuple[Place, str]) -> None:
    store, key = shop
    options = ("serve", "--port", "0", "--json", "--processes", "2", "--reads-per-minute", str(LIMIT))
    with process(*options, **store.environment) as first, process(*options, **store.environment) as second:
        began, addresses = time.monotonic(), [first_line(server)["baseUrl"] for server in (first, second)]
        answers = [
            httpx.get(f"{address}/api/v1/ads/keys", headers={"Authorization": f"Bearer {key}"}, trust_env=False)
            for _ in range(ROUNDS)
            for address in addresses
        ]
        admitted = sum(answer.status_code == 200 for answer in answers)
        assert {answer.status_code for answer in answers} == {200, 429}
        assert LIMIT - 1 <= admitted <= LIMIT + refill(LIMIT, 60, began)
        assert {answer.headers["RateLimit-Limit"] for answer in answers} == {str(LIMIT // 2)}

        began, tried = time.monotonic(), 0
        for _ in range(MAX_TRIES_BY_EMAIL):
            for address in addresses:
                page = httpx.get(f"{address}/sign-in", trust_env=False)
                form = {"email": "ada@shop.example", "password": "a wrong one", "csrf": read_csrf(page.text)}
                same = {"Origin": address, "Sec-Fetch-Site": "same-origin"}
                answer = httpx.post(
                    f"{address}/sign-in", data=form, headers=same, cookies=dict(page.cookies), trust_env=False
                )
                tried += answer.status_code == 401
        assert (
            MAX_TRIES_BY_EMAIL
            <= tried
            <= MAX_TRIES_BY_EMAIL + refill(MAX_TRIES_BY_EMAIL, TRY_MILLISECONDS / 1000, began)
        )


def read_csrf(page: str) -> str:
    return page.partition('name="csrf" value="')[2].partition('"')[0]


def test_a_limit_that_cannot_be_divided_is_refused(shop: tuple[Place, str]) -> None:
    store, _ = shop
    ran = store.ads("serve", "--port", "0", "--processes", "5", "--reads-per-minute", "4")
    assert ran.code and "ADSUNIFY_READS_PER_MINUTE" in ran.err and "at least 5" in ran.err
    assert store.ads("serve", "--processes", "11").code
