"""The rows of the contract table that exist for each level of a network's hierarchy."""

from __future__ import annotations

from collections.abc import Iterator

from adsunify import answers
from adsunify.models.edit import EditBody
from adsunify.plans.records import Kind

from . import requests
from .endpoint import Endpoint


def list_native_endpoints(kind: Kind, name: str, words: str) -> Iterator[Endpoint]:
    """Yield the endpoints of the native resource of a level (docs/spec.md, "Native campaign resource")."""
    section, resource, every = f"Native {words}s", name.replace("-", "_"), f"/accounts/{{accountId}}/{name}"
    entity_path = f"{every}/{{entityId}}"
    yield Endpoint(
        "GET",
        every,
        section,
        resource,
        "list",
        f"List native {words}s",
        list[answers.Entity],
        query=requests.EntitiesQuery,
        is_paged=True,
        kind=kind,
    )
    yield Endpoint(
        "POST",
        every,
        section,
        resource,
        "create_native",
        f"Prepare a native {words}",
        answers.Operation,
        access="write",
        body=requests.NativePayload,
        status=201,
        takes_idempotency_key=True,
        kind=kind,
    )
    yield Endpoint("GET", entity_path, section, resource, "get", f"One native {words}", answers.Entity, kind=kind)
    yield Endpoint(
        "PATCH",
        entity_path,
        section,
        resource,
        "update_native",
        f"Prepare a native update of one {words}",
        answers.Operation,
        access="write",
        body=requests.NativePayload,
        status=201,
        takes_idempotency_key=True,
        kind=kind,
    )
    yield Endpoint(
        "DELETE",
        entity_path,
        section,
        resource,
        "delete",
        f"Prepare the deletion of one {words}",
        answers.Operation,
        access="write",
        status=201,
        takes_idempotency_key=True,
        kind=kind,
    )
    yield Endpoint(
        "GET",
        f"{entity_path}/settings",
        section,
        resource,
        "settings",
        f"What may be edited on one {words}",
        answers.Settings,
        kind=kind,
    )
    yield Endpoint(
        "POST",
        f"{entity_path}/edit",
        section,
        resource,
        "edit",
        f"Prepare an edit of one {words}",
        answers.Operation,
        access="write",
        body=EditBody,
        status=201,
        takes_idempotency_key=True,
        kind=kind,
    )
