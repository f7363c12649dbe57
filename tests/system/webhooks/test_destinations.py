"""Where the server never calls: refused when a subscription is made, and again whenever it is connected to."""

from __future__ import annotations

import asyncio
import ipaddress
import random
import socket
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import httpcore
import pytest

from adsunify.errors import InvalidInput
from adsunify.http.safe_fetch import FetchError, fetch_url, is_public_ipv4, resolve_host
from adsunify.service import webhooks
from tests.unit.http.test_safe_fetch import RANGES

from .hostile import IPV6, PUBLIC, RESERVED, TRICKS
from .world import World

HOOK = "https://hooks.example.com/ads"
GOOD = "93.184.216.34"
NOT_PUBLIC = (*(address for range_ in RESERVED.values() for address in range_), *IPV6)


@pytest.fixture(params=["sqlite"])
def engine(request: pytest.FixtureRequest) -> str:
    """The rules know no database."""
    return str(request.param)


class Names:
    """A resolver whose answers a test sets; ``asked``: how often it was asked."""

    def __init__(self, *addresses: str) -> None:
        self.addresses: Sequence[str] = addresses
        self.asked = 0

    async def __call__(self, host: str) -> Sequence[str]:
        self.asked += 1
        return self.addresses


class Door:
    """Every connection that is opened passes here. Nothing leaves this machine: what would go to loopback, whatever the
    port, reaches the canary, and everything else is unreachable."""

    def __init__(self, canary: int) -> None:
        self.canary, self.visits = canary, 0
        self.addresses: list[str] = []

    def patch(self, patch: pytest.MonkeyPatch) -> None:
        connect = httpcore.AnyIOBackend.connect_tcp

        async def connect_tcp(sockets: httpcore.AnyIOBackend, host: str, port: int, *more: Any) -> Any:
            self.addresses.append(host)
            if not ipaddress.ip_address(host).is_loopback:
                raise httpcore.ConnectError("nothing leaves this machine")
            return await connect(sockets, "127.0.0.1", self.canary, *more)

        patch.setattr(httpcore.AnyIOBackend, "connect_tcp", connect_tcp)


@asynccontextmanager
async def guard_connections(patch: pytest.MonkeyPatch) -> AsyncIterator[Door]:
    def count_visit(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        door.visits += 1
        writer.close()

    listener = await asyncio.start_server(count_visit, "127.0.0.1", 0)
    door = Door(listener.sockets[0].getsockname()[1])
    door.patch(patch)
    async with listener:
        yield door


@pytest.fixture
async def door(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Door]:
    async with guard_connections(monkeypatch) as guarded_door:
        yield guarded_door


async def subscribe(shop: World, url: str) -> Any:
    return await webhooks.create_webhook(shop.service, shop.actor, url=url, account_id=None, events=None)


def test_there_are_enough_of_them() -> None:
    assert len(set(TRICKS)) == len(TRICKS) >= 260


async def test_a_trick_is_refused_at_registration_and_at_connect(shop: World, door: Door) -> None:
    shop.service.resolve_host = names = Names(GOOD)
    good = await subscribe(shop, HOOK)
    lookup_count = names.asked
    for url in TRICKS:
        with pytest.raises(InvalidInput) as refused:
            await subscribe(shop, url)
        assert [(issue.path, issue.code) for issue in refused.value.issues] == [("url", "destination_refused")], url
        with pytest.raises(InvalidInput):
            await webhooks.update_webhook(
                shop.service, shop.actor, webhook_id=good["webhookId"], url=url, active=None, events=None
            )
        with pytest.raises(FetchError) as failed:
            await fetch_url(url, method="POST", content=b"{}", resolving=names)
        assert failed.value.reason == "refused", url
    assert (names.asked, door.addresses) == (lookup_count, [])
    left: list[Any] = await webhooks.list_webhooks(shop.service, shop.actor)
    assert [webhook["url"] for webhook in left] == [HOOK]


@pytest.mark.parametrize("others", [(), (GOOD,)], ids=["alone", "among public ones"])
async def test_a_name_of_what_is_not_public(shop: World, door: Door, others: tuple[str, ...]) -> None:
    """At registration, and at connect where the name led elsewhere before: one such address refuses the answer."""
    names = Names(GOOD)
    shop.service.resolve_host = names
    webhook_id = (await subscribe(shop, HOOK))["webhookId"]
    for address in NOT_PUBLIC:
        for answer in ((address, *others), (*others, address)):
            names.addresses = answer
            with pytest.raises(InvalidInput) as refused:
                await subscribe(shop, HOOK)
            assert refused.value.issues[0].code == "destination_refused", answer
            with pytest.raises(FetchError) as failed:
                await fetch_url(HOOK, method="POST", content=b"{}", resolving=names)
            assert failed.value.reason == "refused", answer
    async with shop.run_worker():
        names.addresses = ("127.0.0.1", *others)
        await webhooks.queue_test_event(shop.service, shop.actor, webhook_id=webhook_id)
        delivery = await shop.wait_for_delivery(webhook_id, "pending", attempts=1)
    (attempt,) = await shop.attempts(webhook_id, delivery["deliveryId"])
    assert attempt["statusCode"] is None and "not public" in attempt["error"]
    assert (door.addresses, door.visits) == ([], 0)


async def test_what_is_public_passes(shop: World, door: Door) -> None:
    for address in PUBLIC:
        shop.service.resolve_host = Names(address)
        await subscribe(shop, HOOK)
        with pytest.raises(FetchError) as failed:
            await fetch_url(HOOK, resolving=shop.service.resolve_host)
        assert failed.value.reason == "unreachable"
    assert door.addresses == list(PUBLIC)


def test_a_hundred_thousand_addresses_against_an_independent_table() -> None:
    draw = random.Random(time.time_ns())
    edges = [edge + step for low, high in RANGES for edge, step in ((low, -1), (low, 0), (high, 0), (high, 1))]
    numbers = [edge for edge in edges if 0 <= edge < 2**32] + [draw.getrandbits(32) for _ in range(100_000)]
    for number in numbers:
        reserved = any(low <= number <= high for low, high in RANGES)
        assert is_public_ipv4(str(ipaddress.IPv4Address(number))) is not reserved, ipaddress.IPv4Address(number)


# -- rebinding ----------------------------------------------------------------------------------------------------


def _answers(draw: random.Random) -> list[list[str]]:
    """What a hostile name answers, one time after the other."""
    good, bad = draw.choice(PUBLIC), draw.choice(NOT_PUBLIC)
    match draw.randrange(5):
        case 0:
            return [[good], [bad]]
        case 1:
            mixed = [good, bad, *draw.sample(PUBLIC, 2)]
            draw.shuffle(mixed)
            return [mixed, mixed]
        case 2:
            return [[bad], [good]]
        case 3:
            return [[good], [good, bad], [bad]]
        case _:
            return [[draw.choice((good, bad)) for _ in range(draw.randint(1, 4))] for _ in range(3)]


async def test_ten_thousand_rebinding_answers_reach_nobody(door: Door) -> None:
    """The address that is checked is the one that is connected to, and no answer is asked for twice."""
    draw = random.Random(time.time_ns())
    answer_count = 0
    while answer_count < 10_000:
        for answer in _answers(draw):
            answer_count += 1
            names = Names(*answer)
            before = len(door.addresses)
            with pytest.raises(FetchError) as failed:
                await fetch_url(HOOK, method="POST", content=b"{}", resolving=names)
            clean = all(address in PUBLIC for address in answer)
            assert failed.value.reason == ("unreachable" if clean else "refused"), answer
            assert names.asked == 1
            assert door.addresses[before:] == ([answer[0]] if clean else [])
    assert door.visits == 0


async def test_the_canary_sings(door: Door) -> None:
    """It would be heard: an address that is exempt from the rules reaches it."""
    url = "http://127.0.0.1:9/"
    with pytest.raises(FetchError) as failed:
        await fetch_url(url, exempt=[url])
    assert failed.value.reason == "lost"
    assert (door.addresses, door.visits) == (["127.0.0.1"], 1)


async def test_where_another_name_leads_counts(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    """An alias (CNAME) of something inside: the system's resolver tells the last addresses, and those are checked."""

    def getaddrinfo(host: str, port: int, **more: Any) -> list[Any]:
        assert (host, port, more["family"].name) == ("hooks.example.com", 443, "AF_INET")
        return [(2, 1, 6, "inside.example.com", ("10.0.0.7", port)), (2, 1, 6, "", (GOOD, port))]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    assert await resolve_host("hooks.example.com") == ["10.0.0.7", GOOD]
    with pytest.raises(FetchError) as failed:
        await fetch_url(HOOK)
    assert (failed.value.reason, door.addresses) == ("refused", [])
