"""The workspace's API keys, and the actor behind a key."""

from __future__ import annotations

import hmac
import re
import secrets

from adsunify.actor import Actor, CredentialScope
from adsunify.contract.requests import KeyScope
from adsunify.errors import InvalidInput, Issue, NotFound, raise_if_issues
from adsunify.service.core import Service, format_optional_timestamp, format_timestamp
from adsunify.service.serializers import scope_to_json
from adsunify.service.tokens import hash_token, make_token
from adsunify.store import agents, connections, keys, people
from adsunify.store.keys import KeyRecord
from adsunify.values.dates import parse_instant
from adsunify.values.exact_json import Json

KEY_PATTERN = re.compile(r"adu_([A-Za-z0-9]{8})_([A-Za-z0-9_-]{43})")
AGENT_ROLE = "ads_mcp"
"""The role of every agent's access token, as docs/spec.md, "Authentication", names it."""
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


async def actor_from_key(service: Service, token: str) -> Actor | None:
    """Return the actor of an API key; None where the token is not a valid key."""
    match = KEY_PATTERN.fullmatch(token)
    if match is None:
        return None
    key = await service.store.run_query(keys.find_key(match[1]))
    now = service.store.clock.wall()
    expected = key.secret_hash if key is not None else hash_token("")
    matches = hmac.compare_digest(hash_token(token), expected)
    if key is None or not matches or not key.is_valid(now) or key.role is None:
        return None
    uses = service.key_usage.record_use(key.id, now)
    if uses is not None:
        await service.store.write(keys.save_last_used, uses)
    return Actor(
        key.workspace_id,
        key.user_id,
        key.id,
        key.role,
        key.can_write,
        "key",
        key.id,
        expires_at=key.expires_at,
        scope=key.scope,
    )


def make_api_key() -> tuple[str, str]:
    """Return the prefix of a new key and the whole secret, ``adu_<prefix>_<43 characters>``."""
    prefix = "".join(secrets.choice(ALPHABET) for _ in range(8))
    return prefix, f"adu_{prefix}_{make_token()}"


async def verify_credential(service: Service, actor: Actor) -> Json:
    """Describe the current credential: its workspace, its role, its scope, whether it may write, and its expiry.

    ``scope`` is null where the credential reaches all accounts of the workspace.
    ``role`` is ``ads_mcp`` for an agent's access token. Such a token also names its grant and its client;
    ``grantExpiresAt`` is the time at which the grant ends and no refresh is possible any more.
    """
    workspace = await service.store.read(people.get_workspace, actor.workspace_id)
    verified: dict[str, Json] = {
        "credential": actor.credential,
        "kind": actor.kind,
        "workspaceId": actor.workspace_id,
        "workspace": workspace.name,
        "userId": actor.user_id,
        "role": actor.role,
        "canWrite": actor.can_operate,
        "scope": scope_to_json(actor.scope),
        "expiresAt": format_optional_timestamp(actor.expires_at),
    }
    if actor.grant_id is None:
        return verified
    grant, client_name = await service.store.read(agents.get_grant_with_client, actor.grant_id)
    return verified | {
        "role": AGENT_ROLE,
        "grantId": grant.id,
        "clientId": grant.client_id,
        "clientName": client_name,
        "grantExpiresAt": format_timestamp(grant.expires_at),
    }


async def list_keys(service: Service, actor: Actor) -> list[Json]:
    """List the workspace's API keys, without their secrets.

    ``scope`` is null for a key that reaches all accounts. A key with a scope lists the keys within its scope only.
    """
    return [_key_to_json(key) for key in await service.store.read(keys.list_keys, actor)]


async def create_key(service: Service, actor: Actor, *, name: str, can_write: bool, expires_at: str | None) -> Json:
    """Create an API key. Only this response shows its secret.

    The key expires no later than the key that authorizes the call, and has the same scope.
    """
    return await _create_key(service, actor, name, can_write, expires_at, actor.scope)


async def create_scoped_key(
    service: Service, actor: Actor, *, name: str, can_write: bool, expires_at: str | None, scope: KeyScope
) -> Json:
    """Create an API key that reaches only some networks or accounts. Only this response shows its secret.

    The key gets 404 for everything outside its scope. A scope cannot be changed. The key expires no later than the key
    that authorizes the call, and its scope lies within that key's scope: a member that is left out is copied from it.
    Raises NotFound where the authorizing key does not reach one of the accounts.
    """
    bound = actor.scope or CredentialScope()
    raise_if_issues(
        Issue(f"scope.networks.{index}", "outside_scope", f"must be one of {', '.join(bound.networks)}.")
        for index, network in enumerate(scope.networks or ())
        if bound.networks is not None and network not in bound.networks
    )
    networks = bound.networks if scope.networks is None else tuple(scope.networks)
    account_ids = bound.account_ids if scope.account_ids is None else tuple(scope.account_ids)
    if scope.account_ids is not None:
        reached = {account.id: account for account in await service.store.read(connections.list_accounts, actor)}
        missing = [f"scope.accountIds.{index}" for index, id_ in enumerate(scope.account_ids) if id_ not in reached]
        if missing:
            raise NotFound(
                f"{', '.join(missing)}: this workspace has no such account, or this credential does not reach it."
            )
        raise_if_issues(
            Issue(f"scope.accountIds.{index}", "conflict", "is an account of a network that scope.networks lacks.")
            for index, id_ in enumerate(scope.account_ids)
            if networks is not None and reached[id_].network not in networks
        )
    return await _create_key(service, actor, name, can_write, expires_at, CredentialScope(networks, account_ids))


async def _create_key(
    service: Service,
    actor: Actor,
    name: str,
    can_write: bool,
    expires_at: str | None,
    scope: CredentialScope | None,
) -> Json:
    bound = actor.expires_at
    expiry = bound if expires_at is None else int(parse_instant(expires_at, "expiresAt").timestamp() * 1000)
    if expiry is not None and expiry <= service.store.clock.wall():
        raise InvalidInput([Issue("expiresAt", "past", "must lie in the future.")])
    if bound is not None and (expiry is None or expiry > bound):
        raise InvalidInput(
            [
                Issue(
                    "expiresAt",
                    "too_late",
                    f"cannot be later than the authorizing key's expiry, {format_timestamp(bound)}.",
                )
            ]
        )
    prefix, secret = make_api_key()
    key = await service.store.write(
        keys.create_key,
        actor.workspace_id,
        actor.user_id,
        name,
        prefix,
        hash_token(secret),
        can_write,
        expiry,
        service.store.clock,
        scope,
        actor,
    )
    return {**_key_to_json(key), "secret": secret}


async def revoke_key(service: Service, actor: Actor, *, key_id: str) -> Json:
    """Revoke a key that you own, at once. Every role may do this. Other keys are unaffected.

    A read-only key can revoke only itself, and a key with a scope only keys within its scope. Raises NotFound,
    Forbidden.
    """
    return _key_to_json(await service.store.write(keys.revoke_key, actor, key_id, service.store.clock))


def _key_to_json(key: KeyRecord) -> dict[str, Json]:
    return {
        "keyId": key.id,
        "name": key.name,
        "prefix": f"adu_{key.prefix}",
        "ownerId": key.user_id,
        "canWrite": key.can_write,
        "scope": scope_to_json(key.scope),
        "expiresAt": format_optional_timestamp(key.expires_at),
        "revokedAt": format_optional_timestamp(key.revoked_at),
        "lastUsedAt": format_optional_timestamp(key.last_used_at),
    }
