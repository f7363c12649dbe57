"""API keys: bounded by the key that makes them, shown once, revoked by their owner alone, and at once."""

from __future__ import annotations

import hmac
import json
import re
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from adsunify.service import api_keys
from adsunify.store import schema

from .served import NEVER, Caller, Served

pytestmark = pytest.mark.asyncio(loop_scope="module")
DAY = 24 * 60 * 60 * 1000


def format_moment(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


async def create_expiring_key(server: Served, milliseconds: int = DAY) -> tuple[Caller, datetime]:
    """The admin with a key that ends, and when."""
    _, secret = await server.key("admin", expires_in=milliseconds)
    caller = server.caller(secret)
    return caller, datetime.fromisoformat((await caller.get("/auth/verify"))["expiresAt"])


async def test_verify_tells_the_credential(empty: Served) -> None:
    actor = empty.people["member"].actor
    key_id, secret = await empty.key("member", expires_in=DAY)
    verification = await empty.caller(secret).get("/auth/verify")
    expires_at = datetime.fromisoformat(verification.pop("expiresAt"))
    assert timedelta(hours=23) < expires_at - datetime.now(UTC) <= timedelta(days=1)
    assert verification == {
        "credential": key_id,
        "kind": "key",
        "workspaceId": actor.workspace_id,
        "workspace": "shop",
        "userId": actor.user_id,
        "role": "member",
        "canWrite": True,
        "scope": None,
    }
    assert (await empty.person("member", "read").get("/auth/verify"))["canWrite"] is False
    assert (await empty.person("viewer").get("/auth/verify"))["canWrite"] is False
    assert (await empty.admin.get("/auth/verify"))["expiresAt"] is None


async def test_a_key_is_shown_once_and_works(empty: Served) -> None:
    key = await empty.admin.post("/keys", {"name": "reporting"}, 201)
    secret = key.pop("secret")
    assert re.fullmatch("adu_[A-Za-z0-9]{8}_[A-Za-z0-9_-]{43}", secret)
    assert key["prefix"] == secret[:12]
    assert key["ownerId"] == empty.people["admin"].actor.user_id
    assert (key["name"], key["canWrite"], key["expiresAt"], key["revokedAt"]) == ("reporting", False, None, None)
    key_rows = await empty.admin.get("/keys")
    assert key in key_rows
    assert secret[13:] not in json.dumps(key_rows)
    assert (await empty.caller(secret).get("/auth/verify"))["credential"] == key["keyId"]


@pytest.mark.parametrize("name", [" ", "\u200b", "\u3164\t"])
async def test_a_name_that_nobody_can_see_is_refused(empty: Served, name: str) -> None:
    assert await empty.admin.read_issues("POST", "/keys", {"name": name}) == {("name", "blank")}


async def test_only_a_hash_of_the_secret_is_stored(empty: Served) -> None:
    secret = (await empty.admin.post("/keys", {"name": "hashed"}, 201))["secret"]
    rows = await empty.service.store.read(lambda connection: connection.execute(select(schema.api_keys)).all())
    assert secret[13:] not in str(rows)
    assert any(row.prefix == secret[4:12] and re.fullmatch("[0-9a-f]{64}", row.secret_hash) for row in rows)


async def test_a_write_key_writes(empty: Served) -> None:
    key = await empty.admin.post("/keys", {"name": "writer", "canWrite": True}, 201)
    assert key["canWrite"] is True
    await empty.caller(key["secret"]).post("/keys", {"name": "made by it"}, 201)


async def test_an_expiry_of_its_own(empty: Served) -> None:
    ends = datetime.now(UTC) + timedelta(days=3)
    expiry = ends.strftime("%Y-%m-%dT%H:%M:%S+00:00")
    key = await empty.admin.post("/keys", {"name": "three days", "expiresAt": expiry}, 201)
    assert key["expiresAt"] == format_moment(ends)


async def test_the_expiry_is_bounded_by_the_authorizing_key(empty: Served) -> None:
    caller, ends = await create_expiring_key(empty)
    before = await empty.rows()
    for later in (ends + timedelta(milliseconds=1), ends + timedelta(days=1)):
        body = {"name": "later", "expiresAt": later.isoformat()}
        assert await caller.read_issues("POST", "/keys", body) == {("expiresAt", "too_late")}
    assert await empty.rows() == before
    same = await caller.post("/keys", {"name": "same", "expiresAt": ends.isoformat()}, 201)
    left_out = await caller.post("/keys", {"name": "left out"}, 201)
    earlier = await caller.post("/keys", {"name": "earlier", "expiresAt": (ends - timedelta(hours=1)).isoformat()}, 201)
    assert {datetime.fromisoformat(key_row["expiresAt"]) for key_row in (same, left_out)} == {ends}
    assert datetime.fromisoformat(earlier["expiresAt"]) == ends - timedelta(hours=1)
    grandchild = empty.caller((await caller.post("/keys", {"name": "child", "canWrite": True}, 201))["secret"])
    assert datetime.fromisoformat((await grandchild.post("/keys", {"name": "g"}, 201))["expiresAt"]) == ends


async def test_an_expired_key_stops(empty: Served) -> None:
    caller, _ = await create_expiring_key(empty, 60_000)
    await caller.get("/keys")
    empty.hands.pass_(seconds=61)
    await caller.problem(401, "GET", "/keys")


async def test_a_revoked_key_stops_at_once_and_others_go_on(empty: Served) -> None:
    key = await empty.admin.post("/keys", {"name": "gone", "canWrite": True}, 201)
    child = await empty.caller(key["secret"]).post("/keys", {"name": "child"}, 201)
    revoked = await empty.admin.delete(f"/keys/{key['keyId']}")
    assert revoked["revokedAt"] is not None and "secret" not in revoked
    await empty.caller(key["secret"]).problem(401, "GET", "/keys")
    await empty.caller(child["secret"]).get("/keys")
    await empty.admin.get("/keys")
    assert await empty.admin.delete(f"/keys/{key['keyId']}") == revoked


async def test_a_key_revokes_itself(empty: Served) -> None:
    key = await empty.admin.post("/keys", {"name": "last act", "canWrite": True}, 201)
    caller = empty.caller(key["secret"])
    await caller.delete(f"/keys/{key['keyId']}")
    await caller.problem(401, "GET", "/auth/verify")


async def test_only_the_owner_revokes(empty: Served) -> None:
    await empty.add("second", "shop", "admin")
    key = await empty.admin.post("/keys", {"name": "mine"}, 201)
    problem = await empty.person("second").problem(403, "DELETE", f"/keys/{key['keyId']}")
    assert problem["code"] == "forbidden"
    await empty.person("stranger").problem(404, "DELETE", f"/keys/{key['keyId']}")
    await empty.admin.problem(404, "DELETE", f"/keys/{NEVER}")
    await empty.caller(key["secret"]).get("/keys")


@pytest.mark.parametrize("role", ["viewer", "member", "admin"])
async def test_an_owner_revokes_his_keys_whatever_his_role(empty: Served, role: str) -> None:
    mine = empty.person(role)
    other_id, other = await empty.key(role)
    read_id, read = await empty.key(role, can_write=False)
    for stranger in {"viewer", "member", "admin"} - {role}:
        assert (await empty.person(stranger).problem(403, "DELETE", f"/keys/{other_id}"))["code"] == "forbidden"
    problem = await empty.caller(read).problem(403, "DELETE", f"/keys/{other_id}")
    assert problem["code"] == "write_required"  # what reads only takes no other key away
    assert (await mine.delete(f"/keys/{other_id}"))["revokedAt"] is not None
    await empty.caller(other).problem(401, "GET", "/auth/verify")
    assert (await empty.caller(read).delete(f"/keys/{read_id}"))["revokedAt"] is not None
    await empty.caller(read).problem(401, "GET", "/auth/verify")


async def test_the_last_use_is_told(empty: Served) -> None:
    key = await empty.admin.post("/keys", {"name": "used"}, 201)
    assert key["lastUsedAt"] is None
    await empty.caller(key["secret"]).get("/keys")
    empty.hands.pass_(minutes=2)  # uses are written at most once a minute
    await empty.admin.get("/keys")
    last_uses = {row["keyId"]: row["lastUsedAt"] for row in await empty.admin.get("/keys")}
    assert last_uses[key["keyId"]] is not None


async def test_no_later_answer_shows_the_secret(empty: Served) -> None:
    key = await empty.admin.post("/keys", {"name": "once", "canWrite": True}, 201)
    caller = empty.caller(key["secret"])
    answers = [await caller.get(path) for path in ("/keys", "/auth/verify", "/operations", "/webhooks")]
    answers.append(await caller.delete(f"/keys/{key['keyId']}"))
    assert key["secret"][13:] not in json.dumps(answers)


async def test_a_secret_takes_the_same_comparison_whoever_it_is(empty: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """One comparison in constant time of two hashes, whether the key is known or not, and wherever they differ."""
    compared: list[tuple[int, int]] = []
    compare = hmac.compare_digest

    def record_comparison(first: str, other: str) -> bool:
        compared.append((len(first), len(other)))
        return compare(first, other)

    _, secret = await empty.key("admin")
    monkeypatch.setattr(api_keys.hmac, "compare_digest", record_comparison)
    for token in (secret, secret[:-1] + "~", secret[:13] + "A" * 43, "adu_nobody00_" + "A" * 43):
        compared.clear()
        actor = await api_keys.actor_from_key(empty.service, token.replace("~", "A" if secret[-1] != "A" else "B"))
        assert (actor is not None) is (token == secret)
        assert compared == [(64, 64)]
