"""Invitations: single-use links into a workspace, for an address and a role."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import select

from adsunify.errors import AdsunifyError, NotFound, Unauthenticated
from adsunify.service import sessions
from adsunify.service.sessions import INVITATION_MILLISECONDS, SignInThrottle
from adsunify.service.users import create_workspace, is_password_correct
from adsunify.store import people
from adsunify.store.schema import invitations
from tests.server.served import Served

from .browsing import PASSWORD, browser, email

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def create_link(server: Served, address: str, role: str = "member", name: str = "admin") -> str:
    """The token of a new invitation."""
    invitation = await sessions.create_invitation(server.service, server.people[name].actor, address, role)
    return str(invitation["url"]).rpartition("/")[2]


async def get_role(server: Served, address: str) -> str | None:
    """What someone is in ``shop``."""
    person = await server.service.store.read(people.find_user_by_email, address)
    if person is None:
        return None
    home = server.people["admin"].actor.workspace_id
    member = await server.service.store.read(people.find_membership, home, person.id)
    return None if member is None else member.role


async def test_someone_new_joins(site: Served) -> None:
    async with browser(site) as admin, browser(site) as person:
        await admin.sign_in(email("admin"))
        await admin.open("/people")
        await admin.send({"email": " New@Shop.example ", "role": "viewer"}, action="/people", expected=201)
        address = next(word for word in admin.text.split() if "/invitation/" in word)
        await person.open(address)
        await person.open(address)  # looking at it does not use it up
        assert "new@shop.example is invited to the workspace shop as viewer" in person.text
        await person.send({"password": "short"}, expected=422)
        assert "8 to 1000 characters" in person.text
        await person.send({"password": "a good password"})
        assert person.path == "/operations" and "viewer of shop" in person.text
        await person.open(address, 404)
        assert "already used" in person.text
        await person.send(button="Sign out")
        await person.sign_in("new@shop.example", "a good password")
        await admin.open("/people")
        assert "new@shop.example viewer" in admin.text
    rows = await site.service.store.read(lambda connection: connection.execute(select(invitations)).all())
    assert address.rpartition("/")[2] not in str(rows)


async def test_who_has_a_password_gives_it(site: Served) -> None:
    """The link alone does not open what someone has elsewhere, nor change his password."""
    token = await create_link(site, email("stranger", "other"))
    async with browser(site) as person:
        await person.open(f"/invitation/{token}")
        assert "Your password" in person.text and "Choose" not in person.text
        await person.send({"password": "a new password"}, expected=401)
        assert await get_role(site, email("stranger", "other")) is None
        await person.send({"password": PASSWORD})
        assert "member of shop" in person.text and person.page.form("/workspace")
    await site.service.store.write(
        people.remove_membership,
        site.people["admin"].actor.workspace_id,
        site.people["stranger"].actor.user_id,
        site.service.store.clock,
    )


async def test_who_is_signed_in_joins_at_once(site: Served) -> None:
    token = await create_link(site, email("stranger", "other"), "viewer")
    async with browser(site) as person, browser(site) as another:
        await another.sign_in(email("member"))
        await another.open(f"/invitation/{token}")
        assert "Your password" in another.text  # it is not for him
        await person.sign_in(email("stranger", "other"))
        await person.open(f"/invitation/{token}")
        assert "password" not in person.text
        await person.send(button="Join")
        assert "viewer of shop" in person.text
    await site.service.store.write(
        people.remove_membership,
        site.people["admin"].actor.workspace_id,
        site.people["stranger"].actor.user_id,
        site.service.store.clock,
    )


async def test_a_member_stays_what_he_is(site: Served) -> None:
    token = await create_link(site, email("admin"), "viewer")
    await sessions.accept_invitation(site.service, SignInThrottle(), token, PASSWORD, "127.0.0.1")
    assert await get_role(site, email("admin")) == "admin"


async def test_only_an_admin_invites(site: Served) -> None:
    for name in ("member", "viewer"):
        async with browser(site) as person:
            await person.sign_in(email(name))
            await person.open("/people")
            assert not [form for form in person.page.forms if form.action == "/people"]
            csrf = person.page.form("/sign-out").fields["csrf"]
            sent = {"csrf": csrf, "email": "x@x.example", "role": "admin"}
            answer = await person.http.post(f"{site.base_url}/people", data=sent)
            assert answer.status_code == 403 and "/invitation/" not in answer.text


async def test_what_cannot_be_invited(site: Served) -> None:
    async with browser(site) as admin:
        await admin.sign_in(email("admin"))
        await admin.open("/people")
        for address in ("nobody", "@x", "x@", "a b@x.example", "x" * 250 + "@x.example", ""):
            await admin.send({"email": address}, action="/people", expected=422)
            assert "must be an e-mail address." in admin.text
        sent = {**admin.page.form("/people").fields, "email": "x@x.example", "role": "owner"}
        assert (await admin.http.post(admin.at, data=sent)).status_code == 422


async def test_its_maker_must_be_an_admin_still(both: Served) -> None:
    store, actor = both.service.store, both.people["member"].actor
    await store.write(people.set_membership, actor.workspace_id, actor.user_id, "admin", store.clock)
    both.people["deputy"] = type(both.people["member"])(
        type(actor)(actor.workspace_id, actor.user_id, "session", "admin", True, "session")
    )
    token = await create_link(both, "friend@x.example", name="deputy")
    await store.write(people.set_membership, actor.workspace_id, actor.user_id, "member", store.clock)
    async with browser(both) as person:
        await person.open(f"/invitation/{token}", 403)
    with pytest.raises(AdsunifyError, match="no longer an admin"):
        await sessions.accept_invitation(both.service, SignInThrottle(), token, "a good password", "127.0.0.1")
    assert await get_role(both, "friend@x.example") is None


async def test_a_person_without_password_elsewhere_is_not_taken_over(both: Served) -> None:
    store = both.service.store
    home = await store.write(people.ensure_workspace, "bank", store.clock)
    person = await store.write(people.ensure_user, "cy@bank.example", store.clock)
    await store.write(people.set_membership, home.id, person.id, "admin", store.clock)
    token = await create_link(both, "cy@bank.example")
    with pytest.raises(AdsunifyError, match="has no password yet"):
        await sessions.accept_invitation(both.service, SignInThrottle(), token, "a good password", "127.0.0.1")
    assert (await store.read(people.get_user, person.id)).password_hash is None


async def test_of_all_who_use_it_one_joins(both: Served) -> None:
    """One that reads the invitation while another joins may be told that the password is wrong: it is that one's."""
    token = await create_link(both, "crowd@x.example")
    words = [f"password {number}" for number in range(8)]
    tried = [sessions.accept_invitation(both.service, SignInThrottle(), token, word, "127.0.0.1") for word in words]
    ended = await asyncio.gather(*tried, return_exceptions=True)
    (winner,) = [number for number, session in enumerate(ended) if isinstance(session, str)]
    assert [error for error in ended if not isinstance(error, str | NotFound | Unauthenticated)] == []
    person = await both.service.store.read(people.find_user_by_email, "crowd@x.example")
    assert person is not None and person.password_hash is not None
    assert is_password_correct(words[winner], person.password_hash)


async def test_it_lives_seven_days(both: Served) -> None:
    first, second = await create_link(both, "late@x.example"), await create_link(both, "later@x.example")
    both.hands.pass_(milliseconds=INVITATION_MILLISECONDS - 10_000)
    await sessions.accept_invitation(both.service, SignInThrottle(), first, "a good password", "127.0.0.1")
    both.hands.ahead += timedelta(seconds=11)
    with pytest.raises(NotFound):
        await sessions.accept_invitation(both.service, SignInThrottle(), second, "a good password", "127.0.0.1")


@pytest.mark.parametrize("token", ["x", "A" * 43, "%00", "<script>"])
async def test_what_is_no_invitation(site: Served, token: str) -> None:
    async with browser(site) as person:
        await person.open(f"/invitation/{token}", 404)


async def test_people_of_another_workspace_are_not_shown(site: Served) -> None:
    await create_workspace(site.service.store, "bakery", "ann@bakery.example", None)
    async with browser(site) as person:
        await person.sign_in(email("viewer"))
        await person.open("/people")
        assert "admin@shop.example" in person.text and "bakery" not in person.text and "other" not in person.text
