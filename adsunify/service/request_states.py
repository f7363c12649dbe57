"""The state of an agent's request that needs a person's input, which the agent carries and sends back once.

MCP 2026-07-28, Multi Round-Trip Requests, "Basic Workflow": the client is not trusted with the state. So it is
encrypted with the key ring, names the credential and the request, ends after 10 minutes, and is accepted once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adsunify.actor import Actor
from adsunify.encryption import SecretContext, decrypt, encrypt
from adsunify.errors import InvalidInput, VaultError, invalid_input
from adsunify.service.core import Service
from adsunify.service.tokens import hash_token, make_token
from adsunify.store import consents
from adsunify.values.exact_json import Json, dumps, loads

STATE_MILLISECONDS = 10 * 60 * 1000
MAX_STATE_LENGTH = 4_000


async def seal_request_state(service: Service, actor: Actor, request: str, state: Mapping[str, Json]) -> str:
    """Return the state as text that only this credential can use, once and for the same request.

    Args:
        service: the service.
        actor: the actor that sent the request.
        request: the identity of the request.
        state: the data that the server needs when the request is sent again.
    """
    clock = service.store.clock
    token = make_token()
    payload = {
        "principal": _name_principal(actor),
        "request": request,
        "expiresAt": clock.wall() + STATE_MILLISECONDS,
        "state": state,
    }
    await service.store.write(
        consents.create_token,
        "request",
        hash_token(token),
        actor.workspace_id,
        actor.user_id,
        "",
        {},
        STATE_MILLISECONDS,
        clock,
    )
    return f"{token}.{encrypt(service.ring, _get_context(token), dumps(payload))}"


async def open_request_state(service: Service, actor: Actor, request: str, sealed: str) -> Mapping[str, Any]:
    """Return the state of a sealed text, and mark it as used.

    Raises:
        InvalidInput: the text was altered, has ended, was used before, or belongs to another credential or request.
    """
    token, _, ciphertext = sealed.partition(".")
    try:
        payload = (
            loads(decrypt(service.ring, _get_context(token), ciphertext)) if len(sealed) <= MAX_STATE_LENGTH else None
        )
    except VaultError:
        payload = None
    if payload is None:
        raise _refuse("altered", "was not made by this server, or was altered.")
    if payload["principal"] != _name_principal(actor):
        raise _refuse("other_principal", "belongs to another credential.")
    if payload["request"] != request:
        raise _refuse("other_request", "belongs to another request. Send the original method, name and arguments.")
    if payload["expiresAt"] <= service.store.clock.wall():
        raise _refuse("expired", "has ended after 10 minutes. Send the request again without it.")
    if await service.store.write(consents.use_token, "request", hash_token(token), service.store.clock) is None:
        raise _refuse("used", "was used before. Send the request again without it.")
    state: Mapping[str, Any] = payload["state"]
    return state


def _name_principal(actor: Actor) -> list[str]:
    return [actor.workspace_id, actor.user_id, actor.credential]


def _get_context(token: str) -> SecretContext:
    return SecretContext("consents", token, "", "request_state")


def _refuse(code: str, message: str) -> InvalidInput:
    return invalid_input("requestState", code, f"{message} Nothing was done.")
