"""People are added by the command line: their secrets are shown once, and their other rows stay."""

from __future__ import annotations

import pytest
import pytest_asyncio

from adsunify.errors import InvalidInput
from adsunify.service.users import add_member, create_workspace, hash_password, is_password_correct
from adsunify.store import people

from .served import Served

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def read_password_hash(server: Served, user_id: object) -> str:
    password_hash = (await server.service.store.read(people.get_user, str(user_id))).password_hash
    assert password_hash is not None
    return password_hash


@pytest_asyncio.fixture(autouse=True, scope="module", loop_scope="module")
async def shops(empty: Served) -> None:
    for workspace in ("bakery", "butcher"):
        await create_workspace(empty.service.store, workspace, f"owner@{workspace}.example", None)


async def test_a_new_person(empty: Served) -> None:
    member = await add_member(empty.service.store, "bakery", "  Ann@Bakery.example ", "member", None)
    assert member["email"] == "ann@bakery.example"
    assert is_password_correct(member["password"], await read_password_hash(empty, member["userId"]))
    verified = await empty.caller(member["apiKey"]).get("/auth/verify")
    assert (verified["workspace"], verified["role"], verified["canWrite"]) == ("bakery", "member", True)


async def test_a_viewers_key_reads_only(empty: Served) -> None:
    member = await add_member(empty.service.store, "bakery", "vic@bakery.example", "viewer", None)
    (key,) = [key for key in await empty.caller(member["apiKey"]).get("/keys") if key["ownerId"] == member["userId"]]
    assert (key["name"], key["canWrite"]) == ("viewer", False)


async def test_who_has_a_password_keeps_it(empty: Served) -> None:
    """Adding someone to a second workspace does not lock him out of the first."""
    store = empty.service.store
    first = await add_member(store, "bakery", "bob@bakery.example", "member", "correct horse")
    assert first["password"] == "correct horse"
    second = await add_member(store, "butcher", "BOB@bakery.example", "admin", None)
    assert (second["userId"], second["password"]) == (first["userId"], None)
    assert is_password_correct("correct horse", await read_password_hash(empty, first["userId"]))
    third = await add_member(store, "butcher", "bob@bakery.example", "admin", "another horse")
    assert third["password"] == "another horse"
    assert is_password_correct("another horse", await read_password_hash(empty, first["userId"]))
    assert (await empty.caller(first["apiKey"]).get("/auth/verify"))["workspace"] == "bakery"
    assert (await empty.caller(second["apiKey"]).get("/auth/verify"))["workspace"] == "butcher"


@pytest.mark.parametrize(
    ("workspace", "email", "password", "path"),
    [
        ("bakery", "nobody", None, "email"),
        ("bakery", "x" * 250 + "@x.example", None, "email"),
        (" ", "a@x.example", None, "workspace"),
        ("bakery", "a@x.example", "short", "password"),
        ("baker", "a@x.example", None, "workspace"),
    ],
)
async def test_what_is_refused(empty: Served, workspace: str, email: str, password: str | None, path: str) -> None:
    before = await empty.rows()
    with pytest.raises(InvalidInput) as error:
        await add_member(empty.service.store, workspace, email, "member", password)
    assert [issue.path for issue in error.value.issues] == [path]
    assert await empty.rows() == before


async def test_a_workspace_is_founded_once(empty: Served) -> None:
    before = await empty.rows()
    for workspace in ("bakery", " bakery ", " "):
        with pytest.raises(InvalidInput) as error:
            await create_workspace(empty.service.store, workspace, "eve@x.example", None)
        assert [issue.path for issue in error.value.issues] == ["workspace"]
    assert await empty.rows() == before


async def test_passwords_are_argon2id(empty: Served) -> None:
    first, second = hash_password("correct horse"), hash_password("correct horse")
    assert first.startswith("$argon2id$") and first != second
    assert is_password_correct("correct horse", first) and not is_password_correct("correct horsE", first)
