"""The OAuth 2.1 authorization server for agents: registration, consent, codes, tokens, grants.

A client registers itself, or its id is the address of a document that describes it
(:mod:`adsunify.service.client_documents`).

Sources: RFC 6749, 7009 (revocation), 7591 (registration), 7636 (PKCE), 8252 (loopback), 8414 and 9728 (metadata), 8707
(resource), 9207 (issuer), 9700 (best practice). Clients are public; tokens are opaque, and only their hashes are kept.
"""

from __future__ import annotations

import hmac
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit
from uuid import uuid4

from attrs import field, frozen
from sqlalchemy import Connection

from adsunify.actor import Actor, CredentialScope, make_agent_credential
from adsunify.adapter.oauth import make_code_challenge
from adsunify.encryption import KeyRing, derive_secrets
from adsunify.errors import Forbidden, NotFound
from adsunify.service.client_documents import is_document_url, read_client_document
from adsunify.service.client_metadata import OAuthError, is_loopback, is_registered_redirect, read_client_metadata
from adsunify.service.core import Service, format_timestamp
from adsunify.service.frozen_clients import require_consent_allowed
from adsunify.service.serializers import scope_to_json
from adsunify.service.tokens import hash_token, make_token
from adsunify.store import agents, connections, people
from adsunify.store.agents import ClientRecord, GrantRecord, TokenRecord
from adsunify.store.clock import Clock
from adsunify.values.exact_json import Json

READ_SCOPE, WRITE_SCOPE = "ads:read", "ads:write"
RESOURCE_PATH = "/api/mcp"
ACCESS_PREFIX, REFRESH_PREFIX = "ada_", "adr_"
CODE_MILLISECONDS = 60 * 1000
GRACE_MILLISECONDS = 30 * 1000
"""Within this time after its first use, a refresh token returns the same new tokens again."""
ACCESS_MILLISECONDS = 60 * 60 * 1000
GRANT_MILLISECONDS = 90 * 24 * 60 * 60 * 1000
UNUSED_CLIENT_MILLISECONDS = 7 * 24 * 60 * 60 * 1000
"""A client without a grant is deleted after this time, since anybody can register clients."""
CHALLENGE_PATTERN = re.compile(r"[A-Za-z0-9_-]{43}")
"""SHA-256 in base64url."""


@frozen
class TokenPair:
    """An access token and a refresh token. ``issued_at``: milliseconds."""

    access_token: str = field(repr=False)
    refresh_token: str = field(repr=False)
    grant: GrantRecord
    issued_at: int


@frozen
class AuthorizationRequest:
    """A valid request for consent. ``wants_write``: whether the client requests write access as well."""

    client: ClientRecord
    redirect_uri: str
    code_challenge: str
    state: str | None
    wants_write: bool
    resource: str

    @property
    def client_host(self) -> str | None:
        """The host that publishes the client's document; None for a client that registered itself."""
        return urlsplit(self.client.id).hostname if is_document_url(self.client.id) else None

    @property
    def is_answered_on_loopback(self) -> bool:
        """Whether the answer goes to a program on the person's computer, which cannot be recognised."""
        return is_loopback(self.redirect_uri)


# -- metadata -----------------------------------------------------------------------------------------------------


def token_resource(service: Service) -> str:
    """Return the resource that tokens are issued for."""
    return service.settings.base_url + RESOURCE_PATH


def protected_resource_metadata(service: Service) -> dict[str, Json]:
    """Return the metadata of RFC 9728: where an MCP client gets its tokens."""
    return {
        "resource": token_resource(service),
        "authorization_servers": [service.settings.base_url],
        "scopes_supported": [READ_SCOPE, WRITE_SCOPE],
        "bearer_methods_supported": ["header"],
        "resource_name": "adsunify",
    }


def authorization_server_metadata(service: Service) -> dict[str, Json]:
    """Return the metadata of RFC 8414: the capabilities of the authorization server."""
    base = service.settings.base_url
    return {
        "issuer": base,
        "authorization_endpoint": f"{base}/oauth/authorize",
        "token_endpoint": f"{base}/oauth/token",
        "registration_endpoint": f"{base}/oauth/register",
        "revocation_endpoint": f"{base}/oauth/revoke",
        "scopes_supported": [READ_SCOPE, WRITE_SCOPE],
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
        "client_id_metadata_document_supported": True,
    }


# -- registration -------------------------------------------------------------------------------------------------


async def register_client(service: Service, metadata: Mapping[str, Json]) -> dict[str, Json]:
    """Register a public client (RFC 7591). Unknown metadata is ignored, as the RFC says. Raises OAuthError."""
    name, redirects = read_client_metadata({"client_name": "An agent", **metadata})
    client = await service.store.write(
        agents.register_client, str(uuid4()), name, redirects, UNUSED_CLIENT_MILLISECONDS, service.store.clock
    )
    return {
        "client_id": client.id,
        "client_id_issued_at": client.created_at // 1000,
        "client_name": client.name,
        "redirect_uris": list(client.redirect_uris),
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "scope": f"{READ_SCOPE} {WRITE_SCOPE}",
    }


# -- consent ------------------------------------------------------------------------------------------------------


async def read_authorization_request(
    service: Service, query: Mapping[str, str], address: str = ""
) -> AuthorizationRequest:
    """Read a request for consent. ``address``: the IP address of the person's browser.

    Raises NotFound for a client or redirect address that is not registered, and for a client whose document cannot be
    used; then there is no redirect. Raises OAuthError for other errors, which the client learns from
    :func:`refusal_url`. Raises RateLimited.
    """
    client_id, redirect = query.get("client_id", ""), query.get("redirect_uri", "")
    if is_document_url(client_id):
        client: ClientRecord | None = await read_client_document(service, client_id, address)
    else:
        client = await service.store.read(agents.find_client, client_id)
    if client is None or not is_registered_redirect(client.redirect_uris, redirect):
        raise NotFound("This application or its redirect address is not registered here.")
    if query.get("response_type") != "code":
        raise OAuthError("unsupported_response_type", "response_type must be code.")
    if query.get("code_challenge_method") != "S256" or not CHALLENGE_PATTERN.fullmatch(query.get("code_challenge", "")):
        raise OAuthError("invalid_request", "PKCE is required: code_challenge with code_challenge_method S256.")
    scopes = set(query.get("scope", READ_SCOPE).split())
    if scopes - {READ_SCOPE, WRITE_SCOPE}:
        raise OAuthError("invalid_scope", f"scope may hold {READ_SCOPE} and {WRITE_SCOPE}.")
    if query.get("resource", token_resource(service)) != token_resource(service):
        raise OAuthError("invalid_target", f"Tokens are for {token_resource(service)}.")
    return AuthorizationRequest(
        client, redirect, query["code_challenge"], query.get("state"), WRITE_SCOPE in scopes, token_resource(service)
    )


async def grant_consent(
    service: Service,
    request: AuthorizationRequest,
    user_id: str,
    workspace_id: str,
    *,
    write: bool,
    account_ids: Sequence[str] | None = None,
) -> str:
    """Save the person's consent for a workspace; returns the client's address with the code.

    ``account_ids``: the only accounts that the agent reaches; None means all accounts, also those connected later.

    Raises Forbidden where the person is not a member, is a viewer and allows writing, or has another client that is
    frozen and is not an admin; NotFound for an account of another workspace.
    """
    code = make_token()
    await service.store.write(
        _grant_consent,
        request,
        user_id,
        workspace_id,
        write and request.wants_write,
        None if account_ids is None else CredentialScope(account_ids=tuple(account_ids)),
        hash_token(code),
        service.store.clock,
    )
    return _redirect_url(service, request.redirect_uri, request.state, code=code)


def _grant_consent(
    connection: Connection,
    request: AuthorizationRequest,
    user_id: str,
    workspace_id: str,
    write: bool,
    scope: CredentialScope | None,
    code_hash: str,
    clock: Clock,
) -> None:
    member = people.find_membership(connection, workspace_id, user_id)
    if member is None:
        raise Forbidden("You do not belong to this workspace.")
    if write and member.role == "viewer":
        raise Forbidden("A viewer cannot allow writing.", code="write_required")
    require_consent_allowed(connection, request.client.id, member)
    person = Actor(workspace_id, user_id, "session", member.role, True, "session")
    for account_id in (scope and scope.account_ids) or ():
        connections.get_account(connection, person, account_id)
    if is_document_url(request.client.id):
        agents.save_document_client(connection, request.client)
    grant = agents.create_grant(
        connection, workspace_id, user_id, request.client.id, write, request.resource, GRANT_MILLISECONDS, clock, scope
    )
    agents.save_token(
        connection, grant.id, "code", code_hash, CODE_MILLISECONDS, clock, request.redirect_uri, request.code_challenge
    )


def refusal_url(service: Service, query: Mapping[str, str], problem: OAuthError) -> str:
    """Return the client's address with an error. The caller has checked that the redirect address is registered."""
    return _redirect_url(
        service, query["redirect_uri"], query.get("state"), error=problem.error, error_description=problem.message
    )


def _redirect_url(service: Service, redirect: str, state: str | None, **answer: str) -> str:
    parts = urlsplit(redirect)
    members = [*parse_qsl(parts.query, keep_blank_values=True), *answer.items(), ("iss", service.settings.base_url)]
    if state is not None:
        members.append(("state", state))
    return urlunsplit(parts._replace(query=urlencode(members)))


# -- tokens -------------------------------------------------------------------------------------------------------


async def issue_tokens(service: Service, form: Mapping[str, str]) -> dict[str, Json]:
    """Exchange a code or a refresh token for new tokens. Raises OAuthError."""
    kind = _required_parameter(form, "grant_type")
    if kind == "authorization_code":
        return await _redeem_token(service, form, _required_parameter(form, "code"), "code")
    if kind == "refresh_token":
        return await _redeem_token(service, form, _required_parameter(form, "refresh_token"), "refresh")
    raise OAuthError("unsupported_grant_type", "grant_type must be authorization_code or refresh_token.")


def _required_parameter(form: Mapping[str, str], name: str) -> str:
    value = form.get(name)
    if not value:
        raise OAuthError("invalid_request", f"{name} is required.")
    return value


async def _redeem_token(
    service: Service, form: Mapping[str, str], token: str, kind: Literal["code", "refresh"]
) -> dict[str, Json]:
    if form.get("resource", token_resource(service)) != token_resource(service):
        raise OAuthError("invalid_target", f"Tokens are for {token_resource(service)}.")
    pair = await service.store.write(_exchange_token, service.ring, dict(form), token, kind, service.store.clock)
    if pair is None:  # only after the commit, because the transaction ends the grant of a code that was used twice
        raise OAuthError("invalid_grant", "The code or refresh token is not valid for this client, or no longer.")
    return {
        "access_token": pair.access_token,
        "token_type": "Bearer",
        "expires_in": math.ceil((pair.issued_at + ACCESS_MILLISECONDS - service.store.clock.wall()) / 1000),
        "refresh_token": pair.refresh_token,
        "scope": f"{READ_SCOPE} {WRITE_SCOPE}" if pair.grant.can_write else READ_SCOPE,
    }


def _exchange_token(
    connection: Connection,
    ring: KeyRing,
    form: Mapping[str, str],
    token: str,
    kind: Literal["code", "refresh"],
    clock: Clock,
) -> TokenPair | None:
    """Return new tokens for a code or refresh token; None if it is not valid. A second use ends the grant.

    A client that refreshes twice at the same time gets the same pair twice. Within 30 s after its first use, and while
    the new refresh token is unused, a refresh token returns the same pair again. The store does not hold this pair: it
    is derived from the token and the encryption key. This helps a thief no more than using the token first, because the
    next refresh, by the thief or by the client, is then a second use.
    """
    record = agents.find_token(hash_token(token)).run(connection)
    if record is None or record.kind != kind or form.get("client_id") != record.grant.client_id:
        return None
    now = clock.wall()
    if agents.use_token(connection, hash_token(token), now):
        if not record.is_valid(now) or not _is_possession_proven(record, form):  # the record as it was before this use
            return None
        pair = next(_derive_token_pairs(ring, token, record.grant, now))
        agents.save_token(
            connection, record.grant.id, "access", hash_token(pair.access_token), ACCESS_MILLISECONDS, clock
        )
        agents.save_token(
            connection, record.grant.id, "refresh", hash_token(pair.refresh_token), GRANT_MILLISECONDS, clock
        )
        return pair
    used = agents.find_token(hash_token(token)).run(connection)  # the record with the time of the first use
    if (
        kind == "refresh"
        and used is not None
        and used.used_at is not None
        and abs(now - used.used_at) <= GRACE_MILLISECONDS
    ):
        for pair in _derive_token_pairs(ring, token, used.grant, used.used_at):
            successor = agents.find_token(hash_token(pair.refresh_token)).run(connection)
            if used.is_unexpired(now) and successor is not None and successor.is_valid(now):
                return pair
    agents.end_grant_of_token(connection, hash_token(token), clock)
    return None


def _derive_token_pairs(ring: KeyRing, token: str, grant: GrantRecord, at: int) -> Iterator[TokenPair]:
    """Yield the tokens that replace a code or refresh token used at ``at``, one pair for each key of the ring."""
    accesses, refreshes = (derive_secrets(ring, kind, token, grant.id, str(at)) for kind in ("access", "refresh"))
    for access, refresh in zip(accesses, refreshes, strict=True):
        yield TokenPair(ACCESS_PREFIX + access, REFRESH_PREFIX + refresh, grant, at)


def _is_possession_proven(record: TokenRecord, form: Mapping[str, str]) -> bool:
    """Whether a code is sent with the redirect address and the code verifier of its authorization request."""
    if record.kind != "code":
        return True
    verifier = form.get("code_verifier", "")
    if not 43 <= len(verifier) <= 128 or not verifier.isascii():
        return False
    return form.get("redirect_uri") == record.redirect_uri and hmac.compare_digest(
        make_code_challenge(verifier), record.challenge or ""
    )


async def revoke_token(service: Service, form: Mapping[str, str]) -> None:
    """End the grant of a token (RFC 7009). An unknown token is not an error; a missing one raises OAuthError."""
    await service.store.write(
        agents.end_grant_of_token, hash_token(_required_parameter(form, "token")), service.store.clock
    )


async def actor_from_token(service: Service, token: str) -> Actor | None:
    """Return the actor of an access token; None where it is not valid or was issued for another resource."""
    record = await service.store.run_query(agents.find_token(hash_token(token)))
    if (
        record is None
        or record.kind != "access"
        or not record.is_valid(service.store.clock.wall())
        or record.role is None
    ):
        return None
    grant = record.grant
    if grant.resource != token_resource(service):
        return None
    credential = make_agent_credential(grant.client_id, grant.user_id)
    return Actor(
        grant.workspace_id,
        grant.user_id,
        credential,
        record.role,
        grant.can_write,
        "agent",
        grant_id=grant.id,
        expires_at=min(record.expires_at, grant.expires_at),
        scope=grant.scope,
    )


# -- grants of a person ------------------------------------------------------------------------------------------


async def list_grants(service: Service, actor: Actor) -> list[Json]:
    """List your OAuth grants for agents in the current workspace.

    ``scope`` is null for an agent that reaches all accounts. A credential with a scope lists only the grants within its
    scope.
    """
    grants = await service.store.read(agents.list_grants, actor, service.store.clock)
    return [_grant_to_json(grant, name) for grant, name in grants]


async def revoke_grant(service: Service, actor: Actor, *, grant_id: str) -> Json:
    """Revoke one of your grants at once, with its refresh tokens.

    A read-only agent revokes only its own grant; a read-only key revokes none. A credential with a scope revokes only
    grants within its scope.
    """
    grant = await service.store.write(agents.revoke_grant, actor, grant_id, service.store.clock)
    client = await service.store.read(agents.find_client, grant.client_id)
    return _grant_to_json(grant, "" if client is None else client.name)


def _grant_to_json(grant: GrantRecord, name: str) -> dict[str, Json]:
    return {
        "grantId": grant.id,
        "clientId": grant.client_id,
        "clientName": name,
        "canWrite": grant.can_write,
        "scope": scope_to_json(grant.scope),
        "createdAt": format_timestamp(grant.created_at),
        "expiresAt": format_timestamp(grant.expires_at),
        "revokedAt": None if grant.revoked_at is None else format_timestamp(grant.revoked_at),
    }
