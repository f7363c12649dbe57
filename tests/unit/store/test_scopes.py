"""What a credential with a scope reaches: accounts, connections, operations, subscriptions, and the claim."""

from __future__ import annotations

import pytest
from attrs import evolve

from adsunify.actor import Actor, CredentialScope
from adsunify.errors import Forbidden, NotFound
from adsunify.execution.state import StateCommit
from adsunify.store import agents, cancellation, connections, keys, new_id, operations, schema, webhooks
from adsunify.store.connections import AccountRecord, DiscoveredAccountRow
from adsunify.store.operations import OperationDraft

from .world import World, connect, make_intent, make_receipt, plan_of

META, GOOGLE = ("meta",), ("google",)
INSIDE = [
    None,
    CredentialScope(networks=META),
    CredentialScope(networks=("google", "meta")),
    CredentialScope(account_ids=("own", "other")),
    CredentialScope(networks=META, account_ids=("own",)),
]
"""Scopes that have the account ``own`` at meta; a test replaces the names by ids."""
OUTSIDE = [
    CredentialScope(networks=GOOGLE),
    CredentialScope(networks=("met", "metas")),
    CredentialScope(networks=()),
    CredentialScope(account_ids=("other",)),
    CredentialScope(account_ids=()),
    CredentialScope(networks=GOOGLE, account_ids=("own",)),
    CredentialScope(networks=META, account_ids=("other",)),
]
SCOPES = [(scope, True) for scope in INSIDE] + [(scope, False) for scope in OUTSIDE]
by_scope = pytest.mark.parametrize(("named", "is_inside"), SCOPES)


def of_account(named: CredentialScope | None, account: AccountRecord) -> CredentialScope | None:
    """The scope with the id of the account for ``own``, and with an id that differs in its last digit for ``other``."""
    if named is None or named.account_ids is None:
        return named
    ids = {"own": account.id, "other": account.id[:-1] + ("0" if account.id[-1] != "0" else "1")}
    return evolve(named, account_ids=tuple(ids[name] for name in named.account_ids))


async def make_actor(world: World, kind: str, scope: CredentialScope | None) -> Actor:
    """The admin with a key or with an agent's grant."""
    admin, clock = world.admin, world.clock
    if kind == "key":
        key_row = (admin.workspace_id, admin.user_id, "key", "abcdefgh", "00", True, None, clock, scope)
        key = await world.store.write(keys.create_key, *key_row)
        return evolve(admin, kind="key", key_id=key.id, credential=key.id, scope=key.scope)
    await world.store.write(agents.register_client, "client", "Agent", ["https://agent.example/"], 1000, clock)
    grant_row = (admin.workspace_id, admin.user_id, "client", True, "resource", 10**9, clock, scope)
    grant = await world.store.write(agents.create_grant, *grant_row)
    return evolve(admin, kind="agent", grant_id=grant.id, credential=f"client:{admin.user_id}", scope=grant.scope)


@pytest.mark.parametrize("kind", ["key", "agent"])
@by_scope
async def test_the_claim_reads_the_stored_scope(
    world: World, kind: str, named: CredentialScope | None, is_inside: bool
) -> None:
    """Also for an actor that was made without the scope; reads decide alike."""
    actor = await make_actor(world, kind, of_account(named, world.account))
    operation = await world.prepare(evolve(actor, scope=None))
    records = await world.store.read(operations.list_operations, actor, world.clock)
    assert [record.id for record in records] == ([operation] if is_inside else [])
    assert actor.can_reach(world.account.id, "meta") is is_inside
    claimed = await world.claim(operation, evolve(actor, scope=None))
    assert claimed.refusal == (None if is_inside else "access")
    assert len(await world.attempts(operation)) == is_inside
    if is_inside:
        assert (await world.get(operation, actor)).status == "running"
        return
    assert await world.events(operation) == ["prepared"]
    with pytest.raises(NotFound):
        await world.get(operation, actor)
    with pytest.raises(NotFound):
        await world.store.write(cancellation.cancel_operation, actor, operation, world.clock)


async def test_the_scope_is_read_before_each_step(world: World) -> None:
    actor = await make_actor(world, "key", CredentialScope(networks=META))
    operation = await world.prepare(actor)
    claimed = await world.claim(operation, actor)
    narrow = schema.api_keys.update().values(scope=CredentialScope(networks=GOOGLE))
    await world.store.write(lambda connection: connection.execute(narrow))
    change = StateCommit(operation, claimed.fence, receipt=make_receipt(0), intent=make_intent(1))
    assert (await world.advance(change, evolve(actor, scope=None))).refusal == "access"
    assert [(attempt.n, attempt.state) for attempt in await world.attempts(operation)] == [(0, "applied")]


async def test_a_list_is_filled_with_what_is_inside(world: World) -> None:
    """Operations outside do not count for the limit of a list."""
    google = await connect(world.store, world.admin, DiscoveredAccountRow("1"), network="google")
    inside = [await world.prepare() for _ in range(3)]
    drafts = [OperationDraft(google.id, evolve(plan_of("a"), network="google"))] * 5
    await world.store.write(operations.prepare_operations, world.admin, drafts, world.clock)
    for scope in (CredentialScope(networks=META), CredentialScope(account_ids=(world.account.id,))):
        actor = evolve(world.admin, scope=scope)
        records = await world.store.read(operations.list_operations, actor, world.clock, 2)
        assert [record.id for record in records] == inside[:0:-1]


@by_scope
async def test_accounts_and_their_connection(world: World, named: CredentialScope | None, is_inside: bool) -> None:
    account = world.account
    actor = evolve(world.admin, scope=of_account(named, account))
    assert [row.id for row in await world.store.read(connections.list_accounts, actor)] == [account.id] * is_inside
    assert await world.store.read(connections.list_accounts, actor, "google") == []
    connection_rows = await world.store.read(connections.list_connections, actor)
    is_whole_network = actor.can_connect("meta")
    assert [record.id for record, _ in connection_rows] == [account.connection_id] * (is_inside or is_whole_network)
    for read, id_ in ((connections.get_account, account.id), (connections.get_connection, account.connection_id)):
        if is_inside:
            assert (await world.store.read(read, actor, id_)).id == id_
        else:
            with pytest.raises(NotFound):
                await world.store.read(read, actor, id_)


async def test_a_connection_is_disconnected_only_as_a_whole(world: World) -> None:
    rows = DiscoveredAccountRow("act_1"), DiscoveredAccountRow("act_2")
    mine = await connect(world.store, world.admin, *rows)
    actor = evolve(world.admin, scope=CredentialScope(account_ids=(mine.id,)))
    ((record, accounts),) = await world.store.read(connections.list_connections, actor)
    assert (record.id, [member.id for member in accounts]) == (mine.connection_id, [mine.id])
    with pytest.raises(Forbidden) as refusal:
        await world.store.write(connections.disconnect, actor, mine.connection_id, world.clock)
    assert refusal.value.code == "outside_scope"
    whole = evolve(world.admin, scope=CredentialScope(networks=META))
    gone = await world.store.write(connections.disconnect, whole, mine.connection_id, world.clock)
    assert gone.status == "disconnected"


@by_scope
async def test_a_subscription_gets_what_its_key_reaches(
    world: World, named: CredentialScope | None, is_inside: bool
) -> None:
    actor = await make_actor(world, "key", of_account(named, world.account))
    other = evolve(world.admin, scope=actor.scope, credential="another key")
    hook, whole = new_id(world.clock.now()), new_id(world.clock.now())
    for id_, maker in ((hook, actor), (whole, world.admin)):
        webhook_row = (maker, id_, "https://hooks.example/", None, ["operation.prepared"], world.clock)
        await world.store.write(webhooks.create_webhook, *webhook_row)
    await world.prepare()
    queued = await world.store.read(
        lambda connection: connection.execute(schema.deliveries.select().order_by(schema.deliveries.c.id)).all()
    )
    assert {row.webhook_id for row in queued} == ({hook, whole} if is_inside else {whole})
    hook_ids = [webhook.id for webhook in await world.store.read(webhooks.list_webhooks, actor)]
    assert hook_ids == ([hook, whole] if actor.scope is None else [hook])
    assert len(await world.store.read(webhooks.list_webhooks, other)) == (2 if actor.scope is None else 0)
    with pytest.raises(NotFound) if actor.scope is not None else pytest.MonkeyPatch.context():
        await world.store.read(webhooks.get_webhook, other, hook)


async def test_a_subscription_of_an_agent_ends_with_a_narrower_grant(world: World) -> None:
    """Old agents have subscriptions. A new consent with a scope must not leave them the events of all accounts."""
    agent = await make_actor(world, "agent", None)
    id_ = new_id(world.clock.now())
    webhook_row = (agent, id_, "https://hooks.example/", None, ["operation.prepared"], world.clock)
    await world.store.write(webhooks.create_webhook, *webhook_row)
    ended = (world.admin.workspace_id, world.clock)
    assert await world.store.read(webhooks.list_ended_reasons, *ended) == {}
    grant_row = (world.admin.workspace_id, world.admin.user_id, "client", True, "resource", 10**9, world.clock)
    await world.store.write(agents.create_grant, *grant_row, CredentialScope(networks=GOOGLE))
    assert await world.store.read(webhooks.list_ended_reasons, *ended) == {id_: "grant_revoked"}


async def test_credentials_beyond_a_scope_are_neither_shown_nor_revoked(world: World) -> None:
    admin = world.admin
    scopes = [None, CredentialScope(networks=META), CredentialScope(networks=META, account_ids=("a",))]
    key_ids = []
    for number, scope in enumerate(scopes):
        row = (admin.workspace_id, admin.user_id, "key", f"abcdefg{number}", "00", True, None, world.clock, scope)
        key_ids.append((await world.store.write(keys.create_key, *row)).id)
    grant = await make_actor(world, "agent", None)
    for scope, count in zip(scopes, (3, 2, 1), strict=True):
        actor = evolve(admin, kind="key", key_id="x", scope=scope)
        assert [key.id for key in await world.store.read(keys.list_keys, actor)] == key_ids[3 - count :]
        assert len(await world.store.read(agents.list_grants, actor, world.clock)) == (scope is None)
        for key_id in key_ids[: 3 - count]:
            with pytest.raises(NotFound):
                await world.store.write(keys.revoke_key, actor, key_id, world.clock)
        if scope is not None:
            with pytest.raises(NotFound):
                await world.store.write(agents.revoke_grant, actor, grant.grant_id, world.clock)


@pytest.mark.parametrize(
    ("outer", "inner", "has"),
    [
        (CredentialScope(networks=META), CredentialScope(networks=META), True),
        (CredentialScope(networks=META), CredentialScope(networks=META, account_ids=("a",)), True),
        (CredentialScope(networks=META), CredentialScope(networks=("meta", "google")), False),
        (CredentialScope(networks=META), CredentialScope(account_ids=("a",)), False),
        (CredentialScope(account_ids=("a", "b")), CredentialScope(account_ids=("b",)), True),
        (CredentialScope(account_ids=("a",)), CredentialScope(networks=META), False),
        (CredentialScope(networks=META), None, False),
        (CredentialScope(), None, False),
        (CredentialScope(networks=()), CredentialScope(networks=META), False),
    ],
)
def test_a_scope_within_another(outer: CredentialScope, inner: CredentialScope | None, has: bool) -> None:
    assert outer.has_scope(inner) is has
    assert CredentialScope.from_json(outer.to_json()) == outer
