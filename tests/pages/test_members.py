"""The people of a workspace: another role, out of it, another password."""

from __future__ import annotations

import pytest

from adsunify.errors import NotFound
from adsunify.service.sessions import SignInThrottle, accept_invitation, create_invitation
from adsunify.service.users import add_member, remove_member
from tests.server.served import Served

from .browsing import Browser, browser, email

pytestmark = pytest.mark.asyncio(loop_scope="module")
FIRST, SECOND = "a good password", "a better password"


async def add_person(site: Served, name: str, role: str = "member") -> tuple[str, str]:
    """A new member's e-mail address and key."""
    address = f"{name}@shop.example"
    membership = await add_member(site.service.store, "shop", address, role, FIRST)
    return address, str(membership["apiKey"])


async def change(person: Browser, address: str, action: str, expected: int = 200, **values: str) -> None:
    """Send one of the forms beside a member."""
    await person.open("/people")
    form = next(form for form in person.page.forms if form.action == action and form.fields.get("email") == address)
    sent = {**form.fields, **values}
    headers = {"Origin": person.base_url, "Sec-Fetch-Site": "same-origin"}
    person.show_answer(await person.http.post(person.base_url + action, data=sent, headers=headers), expected)


async def test_another_role(site: Served) -> None:
    address, _ = await add_person(site, "promoted", "viewer")
    async with browser(site) as admin, browser(site) as person:
        await person.sign_in(address, FIRST)
        assert "viewer of shop" in person.text
        await admin.sign_in(email("admin"))
        await change(admin, address, "/people/role", role="member")
        assert f"{address} member" in admin.text
        await person.open("/operations")
        assert "member of shop" in person.text
        await change(admin, address, "/people/role", 422, role="owner")
        assert "viewer, member or admin" in admin.text


async def test_removed(site: Served) -> None:
    address, key = await add_person(site, "removed")
    headers = {"Authorization": f"Bearer {key}"}
    async with browser(site) as admin, browser(site) as person:
        await person.sign_in(address, FIRST)
        assert (await person.http.get(f"{site.base_url}/api/v1/ads/accounts", headers=headers)).status_code == 200
        await admin.sign_in(email("admin"))
        await change(admin, address, "/people/remove", 422, confirmed="")
        await change(admin, address, "/people/remove")
        assert address not in admin.text
        assert (await person.http.get(f"{site.base_url}/api/v1/ads/accounts", headers=headers)).status_code == 401
        await person.open("/operations")
        assert person.path == "/sign-in"


async def test_an_invitation_does_not_bring_back_who_was_removed(both: Served) -> None:
    """He may have more than one: the form was sent twice, or another admin invited him, too."""
    address, service = "twice@shop.example", both.service
    first, second = [
        str((await create_invitation(service, both.people["admin"].actor, address, "admin"))["url"]) for _ in "12"
    ]
    await accept_invitation(service, SignInThrottle(), first.rpartition("/")[2], FIRST, "127.0.0.1")
    await remove_member(service.store, "shop", address)
    with pytest.raises(NotFound):
        await accept_invitation(service, SignInThrottle(), second.rpartition("/")[2], FIRST, "127.0.0.1")
    again = str((await create_invitation(service, both.people["admin"].actor, address, "viewer"))["url"])
    assert await accept_invitation(service, SignInThrottle(), again.rpartition("/")[2], FIRST, "127.0.0.1")


async def test_the_last_admin_stays(site: Served) -> None:
    async with browser(site) as admin:
        await admin.sign_in(email("admin"))
        await change(admin, email("admin"), "/people/remove", 422)
        assert "last admin" in admin.text
        await change(admin, email("admin"), "/people/role", 422, role="viewer")
        assert "last admin" in admin.text


@pytest.mark.parametrize("action", ["/people/role", "/people/remove"])
async def test_only_an_admin_says_who_belongs(site: Served, action: str) -> None:
    async with browser(site) as member:
        await member.sign_in(email("member"))
        await member.open("/people")
        assert [form.action for form in member.page.forms if form.action.startswith("/people")] == []
        token = member.page.form("/sign-out").fields["csrf"]
        sent = {"csrf": token, "email": email("admin"), "role": "viewer", "confirmed": "true"}
        answer = await member.http.post(site.base_url + action, data=sent)
        assert answer.status_code == 403 and "Only an admin" in answer.text


async def test_another_password(site: Served) -> None:
    address, _ = await add_person(site, "changing")
    async with browser(site) as here, browser(site) as elsewhere:
        await here.sign_in(address, FIRST)
        await elsewhere.sign_in(address, FIRST)
        await here.open("/people")
        await here.follow("Change your password")
        await here.send(
            {"password": "a wrong password", "new": SECOND}, action="", button="Change password", expected=401
        )
        await here.send({"password": FIRST, "new": "short"}, button="Change password", expected=422)
        assert "8 to 1000 characters" in here.text
        await here.send({"password": FIRST, "new": SECOND}, button="Change password")
        assert here.path == "/people" and "member of shop" in here.text
        await elsewhere.open("/operations")
        assert elsewhere.path == "/sign-in"
        await elsewhere.send({"email": address, "password": FIRST}, action="/sign-in", expected=401)
        await elsewhere.sign_in(address, SECOND)
