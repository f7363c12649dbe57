"""Consent while guardrails have frozen a client of the same person.

A freeze applies to a client and its user. An agent that registers again is a new client without a freeze. So while a
person has a frozen client in a workspace, only a person with the role admin allows another client there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import frozen
from sqlalchemy import Connection

from adsunify.errors import Forbidden
from adsunify.service.core import Service
from adsunify.store import agents, guardrails, people
from adsunify.store.agents import ClientRecord
from adsunify.store.people import MembershipRecord


@frozen
class ConsentNotice:
    """A notice to a person before a consent in one workspace.

    Attributes:
        clients: the names of the person's frozen clients.
        admins: the e-mail addresses of the workspace's admins, who can lift the freezes.
        is_refused: whether the consent is refused, because the person is not an admin.
    """

    clients: tuple[str, ...]
    admins: tuple[str, ...]
    is_refused: bool

    @property
    def sentence(self) -> str:
        """The notice in words."""
        names = " and ".join(f'"{name}"' for name in self.clients)
        start = f"A guardrail has frozen an application that acts for you: {names}."
        if self.is_refused:
            return (
                f"{start} Until the freeze is lifted, only an admin can allow another application. Ask an admin to "
                f"lift the freeze: {', '.join(self.admins)}."
            )
        return (
            f"{start} The freeze does not bind the application that asks now. If both are the same agent, it can "
            "prepare and execute again after your consent."
        )


async def read_consent_notices(
    service: Service, client_id: str, user_id: str, workspace_ids: Iterable[str]
) -> Mapping[str, ConsentNotice]:
    """Return the notices about a consent for a client, by workspace; workspaces without a notice are left out."""
    return await service.store.read(_read_consent_notices, client_id, user_id, tuple(workspace_ids))


def _read_consent_notices(
    connection: Connection, client_id: str, user_id: str, workspace_ids: Iterable[str]
) -> Mapping[str, ConsentNotice]:
    members = (people.find_membership(connection, workspace_id, user_id) for workspace_id in workspace_ids)
    notices = {
        member.workspace_id: _find_notice(connection, client_id, member) for member in members if member is not None
    }
    return {workspace_id: notice for workspace_id, notice in notices.items() if notice is not None}


def require_consent_allowed(connection: Connection, client_id: str, member: MembershipRecord) -> None:
    """Raise Forbidden ``admin_required`` if only an admin can allow the client, and the member is not one."""
    notice = _find_notice(connection, client_id, member)
    if notice is not None and notice.is_refused:
        raise Forbidden(notice.sentence, code="admin_required")


def _find_notice(connection: Connection, client_id: str, member: MembershipRecord) -> ConsentNotice | None:
    """Return the notice about a consent; None if no other client of the member is frozen.

    A client that is frozen itself needs no notice: its freeze stays after the consent.
    """
    clients = _list_frozen_clients(connection, member)
    if not clients or any(client.id == client_id for client in clients):
        return None
    admins = [
        people.get_user(connection, colleague.user_id).email
        for colleague in people.list_members(connection, member.workspace_id)
        if colleague.role == "admin"
    ]
    return ConsentNotice(tuple(client.name for client in clients), tuple(sorted(admins)), member.role != "admin")


def _list_frozen_clients(connection: Connection, member: MembershipRecord) -> list[ClientRecord]:
    """Return the frozen clients of a member. Retention does not delete a frozen client or its grant."""
    credentials = (freeze.credential for freeze in guardrails.list_frozen(connection, member.workspace_id))
    parts = (credential.rpartition(":") for credential in credentials)
    clients = (
        agents.find_client(connection, client_id) for client_id, _, user_id in parts if user_id == member.user_id
    )
    return [client for client in clients if client is not None]
