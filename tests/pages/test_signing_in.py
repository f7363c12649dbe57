"""Signing in and out, sessions, and how often one may guess."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Literal

import pytest
from attrs import evolve
from sqlalchemy import select

from adsunify.errors import Conflict, Unauthenticated
from adsunify.service import sessions
from adsunify.service.sessions import SESSION_MILLISECONDS, SignInThrottle, TooManySignInTries
from adsunify.service.users import add_member, create_workspace, is_password_correct, reset_password
from adsunify.store import people
from adsunify.store.schema import sessions as sessions_table
from adsunify.store.sessions import end_all_sessions
from tests.server.served import Served, brief, connect

from .browsing import PASSWORD, browser, email

pytestmark = pytest.mark.asyncio(loop_scope="module")
COOKIE = "adsunify_session"


async def sign_in(server: Served, name: str) -> str:
    return await sessions.sign_in(server.service, SignInThrottle(), email(name), PASSWORD, "127.0.0.1")


async def test_in_and_out(site: Served) -> None:
    async with browser(site) as person:
        await person.open("/operations")
        assert person.path == "/sign-in"
        await person.send({"email": " Admin@Shop.example ", "password": PASSWORD})
        assert person.path == "/operations" and "admin of shop" in person.text
        token = person.http.cookies[COOKIE]
        await person.open("/sign-in")
        assert person.path == "/operations"
        await person.send(button="Sign out")
        assert person.path == "/sign-in" and COOKIE not in person.http.cookies
        person.http.cookies.set(COOKIE, token)  # kept by a thief
        await person.open("/operations")
        assert person.path == "/sign-in"


async def test_the_cookie(site: Served) -> None:
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        assert person.answer is not None
        (cookie,) = person.answer.history[0].headers.get_list("Set-Cookie")
    for part in (f"{COOKIE}=", "HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=2592000"):
        assert part in cookie
    assert "Secure" not in cookie and "Domain" not in cookie


async def test_the_cookie_on_https(site: Served) -> None:
    settings = site.service.settings
    site.service.settings = evolve(settings, base_url="https://ads.example")
    try:
        async with browser(site) as person:
            answer = await person.http.get(f"{site.base_url}/sign-in")
    finally:
        site.service.settings = settings
    (cookie,) = answer.headers.get_list("Set-Cookie")
    assert cookie.startswith("__Host-adsunify_visit=") and "Secure" in cookie and "Path=/" in cookie
    assert answer.headers["Strict-Transport-Security"]


async def test_only_hashes_are_kept(site: Served) -> None:
    token = await sign_in(site, "admin")
    assert len(token) == 43
    rows = await site.service.store.read(lambda connection: connection.execute(select(sessions_table)).all())
    assert rows and token not in str(rows)


async def test_a_session_lives_thirty_days(both: Served) -> None:
    token = await sign_in(both, "admin")
    both.hands.pass_(milliseconds=SESSION_MILLISECONDS - 10_000)
    assert await sessions.find_user_session(both.service, token) is not None
    both.hands.pass_(seconds=11)
    assert await sessions.find_user_session(both.service, token) is None
    await sign_in(both, "admin")  # forgets what is over
    rows = await both.service.store.read(lambda connection: connection.execute(select(sessions_table)).all())
    assert len(rows) == 1


async def test_what_a_person_may_do_is_as_it_is_now(both: Served) -> None:
    store, actor = both.service.store, both.people["member"].actor
    token = await sign_in(both, "member")
    await store.write(people.set_membership, actor.workspace_id, actor.user_id, "viewer", store.clock)
    session = await sessions.find_user_session(both.service, token)
    assert session is not None and not session.actor.can_operate
    await store.write(people.remove_membership, actor.workspace_id, actor.user_id, store.clock)
    async with browser(both) as person:
        person.http.cookies.set(COOKIE, token)
        await person.open("/operations", 403)
        assert "not a member of any workspace" in person.text
    await store.write(people.set_membership, actor.workspace_id, actor.user_id, "member", store.clock)


@pytest.mark.parametrize(
    ("address", "password"),
    [
        ("admin@shop.example", "wrong horse"),
        ("nobody@shop.example", PASSWORD),
        ("", ""),
        ("admin@shop.example", ""),
        ("admin@shop.example", "x" * 1001),
        ("x" * 255, PASSWORD),
    ],
)
async def test_what_does_not_sign_in(site: Served, address: str, password: str) -> None:
    """Every refusal has the same text."""
    async with browser(site) as person:
        await person.open("/sign-in")
        await person.send({"email": address, "password": password}, expected=401)
        assert "The e-mail address or the password is wrong." in person.text
        assert COOKIE not in person.http.cookies and (not password or password not in person.text)


async def test_an_unknown_address_costs_as_many_hashes(site: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """The time of a try is that of Argon2id, with the same parameters for each hash."""
    hashes: list[str] = []

    def count(password: str, password_hash: str) -> bool:
        hashes.append(password_hash)
        return is_password_correct(password, password_hash)

    monkeypatch.setattr(sessions, "is_password_correct", count)
    for address in (email("admin"), "nobody@shop.example", email("admin"), "somebody@shop.example"):
        with pytest.raises(Unauthenticated):
            await sessions.sign_in(site.service, SignInThrottle(), address, "wrong horse", "127.0.0.1")
    assert len(hashes) == 4
    assert len({password_hash.rsplit("$", 2)[0] for password_hash in hashes}) == 1, "the parameters differ"
    assert hashes[1] == hashes[3] != hashes[0], "an unknown address makes a hash of its own"


async def test_guessing_is_limited(site: Served) -> None:
    tries, now = SignInThrottle(), site.service.store.clock.now()
    for _ in range(sessions.MAX_TRIES_BY_EMAIL):
        tries.begin_try("a@x.example", "10.0.0.1", now)
    with pytest.raises(TooManySignInTries):
        tries.begin_try("a@x.example", "10.0.0.1", now)
    tries.begin_try("a@x.example", "10.0.0.2", now)
    tries.begin_try("b@x.example", "10.0.0.1", now)
    tries.begin_try("a@x.example", "10.0.0.1", now + sessions.TRY_MILLISECONDS)
    for number in range(sessions.MAX_TRIES_BY_ADDRESS):
        tries.begin_try(f"{number}@x.example", "10.0.0.3", now)
    with pytest.raises(TooManySignInTries):
        tries.begin_try("c@x.example", "10.0.0.3", now)


class Gate(asyncio.Semaphore):
    """The points at which an attempt waits while something else happens."""

    def __init__(self, happens: Callable[[], Awaitable[object]]) -> None:
        super().__init__()
        self.happens = happens

    async def acquire(self) -> Literal[True]:
        await self.happens()
        return await super().acquire()


async def test_a_session_that_ended_writes_nothing_more(site: Served) -> None:
    """The password is changed while the first step is on its way: the other steps are not sent."""
    account = site.accounts.get("meta") or await connect(site, "meta")
    prepared = await site.admin.post("/create", {"accountId": account, "campaign": brief("meta")}, 201)
    writes = site.networks.writes()
    await site.networks.fault("meta", "latency", path="/v26.0/act_1001/campaigns", value=1500)
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        await person.open(prepared["reviewUrl"])
        executing = asyncio.create_task(person.send({"confirmed": "true"}, action="/execute", expected=403))
        while site.networks.writes() == writes:
            await asyncio.sleep(0.01)
        await site.service.store.write(end_all_sessions, site.people["admin"].actor.user_id)
        await executing
    assert site.networks.writes() == writes + 1
    operation = await site.admin.get(f"/operations/{prepared['id']}")
    assert (operation["status"], operation["error"]["code"]) == ("prepared", "access_lost")
    assert [step["state"] for step in operation["receipt"]["steps"]] == ["applied"]


async def test_a_password_that_was_changed_meanwhile_opens_nothing(both: Served) -> None:
    """The sessions that a new password ends are all: none begins late with the old one."""
    store = both.service.store
    await add_member(store, "shop", "slow@shop.example", "member", "the old password")

    async def change_password() -> None:
        await reset_password(store, "shop", "slow@shop.example", "the new password")

    with pytest.raises(Conflict) as refused:
        await sessions.sign_in(
            both.service, SignInThrottle(Gate(change_password)), "slow@shop.example", "the old password", "::1"
        )
    assert refused.value.code == "password_changed"


async def test_who_was_right_begins_anew(site: Served) -> None:
    tries, now = SignInThrottle(), site.service.store.clock.now()
    for _ in range(30):
        tries.begin_try("a@x.example", "10.0.0.1", now)
        tries.forgive_tries("a@x.example", "10.0.0.1")


async def test_a_stranger_locks_nobody_out(site: Served) -> None:
    """However often others guess, from as many addresses as they like; who shares an address with them waits."""
    tries = SignInThrottle()
    for number in range(sessions.MAX_TRIES_BY_EMAIL + 5):
        for source in ("192.0.2.1", "192.0.2.2"):
            with pytest.raises((Unauthenticated, TooManySignInTries)):
                await sessions.sign_in(site.service, tries, email("viewer"), f"guess {number}", source)
    with pytest.raises(TooManySignInTries):
        await sessions.sign_in(site.service, tries, email("viewer"), PASSWORD, "192.0.2.1")
    assert await sessions.sign_in(site.service, tries, email("viewer"), PASSWORD, "198.51.100.7")


async def test_guesses_at_once_count_too(site: Served) -> None:
    """A burst is held back before the first of it was found wrong."""
    tries = SignInThrottle()
    tried = [
        sessions.sign_in(site.service, tries, email("viewer"), f"guess {number}", "127.0.0.1")
        for number in range(sessions.MAX_TRIES_BY_EMAIL + 20)
    ]
    ended = await asyncio.gather(*tried, return_exceptions=True)
    assert sum(isinstance(error, TooManySignInTries) for error in ended) == 20


async def test_too_many_tries_on_the_page(site: Served) -> None:
    async with browser(site) as person:
        for _ in range(sessions.MAX_TRIES_BY_EMAIL):
            await person.open("/sign-in")
            await person.send({"email": "guessed@shop.example", "password": "x"}, expected=401)
        await person.send({"email": "guessed@shop.example", "password": "x"}, expected=429)
        assert "Too many wrong passwords" in person.text
        assert person.answer is not None and 0 < int(person.answer.headers["Retry-After"]) <= 900
        await add_member(site.service.store, "shop", "guessed@shop.example", "viewer", PASSWORD)
        invitation = await sessions.create_invitation(
            site.service, site.people["stranger"].actor, "guessed@shop.example", "viewer"
        )
        await person.open(str(invitation["url"]))
        await person.send({"password": PASSWORD}, expected=429)
        assert 0 < int(person.answer.headers["Retry-After"]) <= 900


@pytest.mark.parametrize(
    ("following", "path"),
    [
        ("/keys", "/keys"),
        ("//evil.example/x", "/operations"),
        ("/\\evil.example", "/operations"),
        ("https://evil.example", "/operations"),
        ("/\t/evil.example", "/operations"),
        ("javascript:alert(1)", "/operations"),
        ("", "/operations"),
    ],
)
async def test_where_it_goes_on(site: Served, following: str, path: str) -> None:
    async with browser(site) as person:
        await person.open("/sign-in")
        assert person.answer is not None
        sent = {**person.page.forms[0].fields, "email": email("admin"), "password": PASSWORD, "next": following}
        answer = await person.http.post(f"{site.base_url}/sign-in", data=sent)
        assert str(answer.url) == f"{site.base_url}{path}"
        again = await person.http.get(f"{site.base_url}/sign-in", params={"next": following})
        assert str(again.url) == f"{site.base_url}{path}"


async def test_several_workspaces(site: Served) -> None:
    await create_workspace(site.service.store, "second shop", "owner@second.example", None)
    membership = await add_member(site.service.store, "second shop", email("admin"), "viewer", None)
    async with browser(site) as person:
        await person.sign_in(email("admin"))
        assert "admin of shop" in person.text or "viewer of second shop" in person.text
        await person.send({"workspaceId": membership["workspaceId"]}, action="/workspace")
        assert "viewer of second shop" in person.text
        await person.open("/keys")
        assert "viewer of second shop" in person.text
        form = person.page.form("/workspace")
        foreign = site.people["stranger"].actor.workspace_id
        answer = await person.http.post(
            f"{site.base_url}/workspace", data={"csrf": form.fields["csrf"], "workspaceId": foreign}
        )
        assert answer.status_code == 404
    store = site.service.store
    await store.write(people.remove_membership, membership["workspaceId"], membership["userId"], store.clock)


async def test_admin_init_makes_someone_who_signs_in(site: Served) -> None:
    admin = await create_workspace(site.service.store, "bakery", "ann@bakery.example", None)
    async with browser(site) as person:
        await person.sign_in("ann@bakery.example", admin["password"])
        assert "admin of bakery" in person.text
