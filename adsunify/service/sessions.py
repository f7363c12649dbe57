"""People in browsers: signing in and out, sessions, invitations.

A session token is 256 random bits; only its hash is stored. An unknown e-mail address takes as much time as a wrong
password. Attempts are limited per IP address, and per e-mail address from one IP address.
"""

from __future__ import annotations

import asyncio
from functools import cache

from attrs import define, field, frozen
from sqlalchemy import Connection

from adsunify.actor import Actor, Role
from adsunify.errors import Conflict, Forbidden, NotFound, RateLimited, Unauthenticated, invalid_input
from adsunify.ledger import NamedAuthor
from adsunify.service.core import Service, format_timestamp
from adsunify.service.rate_limits import TokenBuckets, ip_bucket
from adsunify.service.tokens import hash_token, make_token
from adsunify.service.users import MIN_PASSWORD_LENGTH, hash_password, is_password_correct
from adsunify.service.users import change_role as change_member
from adsunify.service.users import remove_member as remove_member
from adsunify.store import people, sessions
from adsunify.store.clock import Clock
from adsunify.store.people import UserRecord
from adsunify.store.sessions import InvitationRecord, WorkspaceMembership
from adsunify.values.exact_json import Json

SESSION_MILLISECONDS = 30 * 24 * 60 * 60 * 1000
INVITATION_MILLISECONDS = 7 * 24 * 60 * 60 * 1000
MAX_PASSWORD_LENGTH, MAX_EMAIL_LENGTH = 1000, 254
TRY_MILLISECONDS = 15 * 60 * 1000
MAX_TRIES_BY_EMAIL, MAX_TRIES_BY_ADDRESS = 10, 100
"""The number of wrong passwords from one IP address within :data:`TRY_MILLISECONDS`.

The first number is for one e-mail address, the second for all. Attempts from other IP addresses do not count, so that a
stranger cannot lock a person out.
"""
ROLES: tuple[Role, ...] = ("viewer", "member", "admin")
MAX_CONCURRENT_HASHES = 2
"""How many password hashes are computed at the same time. Each needs 19 MiB and one core."""


class TooManySignInTries(RateLimited):
    """Too many wrong passwords; the person has to wait."""

    default_code = "too_many_tries"
    title = "Too many tries"

    def __init__(self, milliseconds: int) -> None:
        minutes = 1 + milliseconds // 60_000
        super().__init__(f"Too many wrong passwords. Sign in again in {minutes} min.", retry_after=milliseconds / 1000)


@define(eq=False)
class SignInThrottle:
    """Recent sign-in attempts in this process. An attempt counts from its start. A right password removes it.

    ``processes``: how many server processes share the limits.
    """

    hash_slots: asyncio.Semaphore = field(factory=lambda: asyncio.Semaphore(MAX_CONCURRENT_HASHES))
    processes: int = 1
    by_email: TokenBuckets = field(init=False)
    by_source: TokenBuckets = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.by_email = TokenBuckets(MAX_TRIES_BY_EMAIL // self.processes, TRY_MILLISECONDS)
        self.by_source = TokenBuckets(MAX_TRIES_BY_ADDRESS // self.processes, TRY_MILLISECONDS)

    def begin_try(self, email: str, source: str, now: int) -> None:
        """Count an attempt. Raises TooManySignInTries."""
        state = self.by_source.take(ip_bucket(source), now)
        if not isinstance(state, int):
            state = self.by_email.take(_email_bucket(email, source), now)
        if isinstance(state, int):
            raise TooManySignInTries(state)

    def forgive_tries(self, email: str, source: str) -> None:
        """Forget the attempts of an e-mail address from this IP address after a right password."""
        self.by_email.reset(_email_bucket(email, source))
        self.by_source.give_back(ip_bucket(source))


def _email_bucket(email: str, source: str) -> str:
    return f"{ip_bucket(source)} {email}"


@frozen
class UserSession:
    """A person with a session.

    ``membership`` is the membership of the chosen workspace; None if the person has no workspace.
    """

    token_hash: str
    user_id: str
    email: str
    memberships: tuple[WorkspaceMembership, ...]
    membership: WorkspaceMembership | None

    @property
    def actor(self) -> Actor:
        """The person as an actor, with the authority of the role. Raises Forbidden where there is no workspace."""
        if self.membership is None:
            raise Forbidden("You are not a member of any workspace. Ask an admin for an invitation.")
        return self.make_actor(self.membership)

    def make_actor(self, home: WorkspaceMembership) -> Actor:
        """Return the person as an actor in one of the person's workspaces."""
        return Actor(
            home.workspace_id, self.user_id, "session", home.role, True, "session", session_hash=self.token_hash
        )


# -- sessions -----------------------------------------------------------------------------------------------------


async def sign_in(service: Service, tries: SignInThrottle, email: str, password: str, source: str) -> str:
    """Begin a session and return its token. Raises Unauthenticated, TooManySignInTries, Conflict.

    ``source``: the IP address of the browser.
    """
    person = await _authenticate_user(service, tries, email, password, source)
    token = make_token()
    await service.store.write(_create_session, person, hash_token(token), service.store.clock)
    return token


def _create_session(connection: Connection, person: UserRecord, session_hash: str, clock: Clock) -> None:
    if not people.has_password(connection, person.id, person.password_hash):
        raise Conflict("The password was changed at this moment; sign in with the new one.", code="password_changed")
    sessions.create_session(connection, session_hash, person.id, None, SESSION_MILLISECONDS, clock)


async def _authenticate_user(
    service: Service, tries: SignInThrottle, email: str, password: str, source: str
) -> UserRecord:
    """Return the user with this password. An unknown e-mail address takes the same time."""
    name = email.strip().lower()
    refusal = Unauthenticated("The e-mail address or the password is wrong.")
    if len(name) > MAX_EMAIL_LENGTH or len(password) > MAX_PASSWORD_LENGTH:
        raise refusal
    tries.begin_try(name, source, service.store.clock.wall())
    person = await service.store.read(people.find_user_by_email, name)
    password_hash = None if person is None else person.password_hash
    async with tries.hash_slots:
        matches = await asyncio.to_thread(_is_password_correct, password, password_hash)
    if person is None or password_hash is None or not matches:
        raise refusal
    tries.forgive_tries(name, source)
    return person


def _is_password_correct(password: str, password_hash: str | None) -> bool:
    return is_password_correct(password, _unmatched_hash() if password_hash is None else password_hash)


@cache
def _unmatched_hash() -> str:
    """Return the hash of a random password."""
    return hash_password(make_token())


async def find_user_session(service: Service, token: str) -> UserSession | None:
    """Return the session of a token, with the person's current roles; None where it is unknown or expired."""
    record = await service.store.read(sessions.find_session, hash_token(token), service.store.clock)
    if record is None:
        return None
    chosen = [home for home in record.memberships if home.workspace_id == record.workspace_id]
    return UserSession(
        record.token_hash,
        record.user_id,
        record.email,
        record.memberships,
        next(iter([*chosen, *record.memberships]), None),
    )


async def switch_workspace(service: Service, visitor: UserSession, workspace_id: str) -> None:
    """Switch to another of the person's workspaces. Raises NotFound."""
    if workspace_id not in [home.workspace_id for home in visitor.memberships]:
        raise NotFound("You are not a member of this workspace.")
    await service.store.write(sessions.set_workspace, visitor.token_hash, workspace_id)


async def sign_out(service: Service, visitor: UserSession) -> None:
    """End the session at once."""
    await service.store.write(sessions.end_session, visitor.token_hash)


async def change_password(
    service: Service, tries: SignInThrottle, visitor: UserSession, password: str, new: str, source: str
) -> str:
    """Replace the person's password. All sessions of the person end; returns the token of a new session.

    Raises Unauthenticated, TooManySignInTries, InvalidInput, Conflict.
    """
    _check_password_length("new", new)
    person = await _authenticate_user(service, tries, visitor.email, password, source)
    async with tries.hash_slots:
        hash_ = await asyncio.to_thread(hash_password, new)
    token = make_token()
    home = None if visitor.membership is None else visitor.membership.workspace_id
    await service.store.write(_replace_password, person, hash_, hash_token(token), home, service.store.clock)
    return token


def _replace_password(
    connection: Connection, person: UserRecord, hash_: str, session_hash: str, home: str | None, clock: Clock
) -> None:
    if not people.has_password(connection, person.id, person.password_hash):
        raise Conflict("The password was changed at this moment; sign in with the new one.", code="password_changed")
    people.set_password(connection, person.id, hash_, clock, NamedAuthor(person.id, "session"))
    sessions.end_all_sessions(connection, person.id)
    sessions.create_session(connection, session_hash, person.id, home, SESSION_MILLISECONDS, clock)


def _check_password_length(field: str, password: str) -> None:
    if not MIN_PASSWORD_LENGTH <= len(password) <= MAX_PASSWORD_LENGTH:
        raise invalid_input(field, "length", f"must have {MIN_PASSWORD_LENGTH} to {MAX_PASSWORD_LENGTH} characters.")


# -- invitations and members --------------------------------------------------------------------------------------


@frozen
class MemberInvitation:
    """An invitation. ``has_account``: whether the e-mail address belongs to a person with a password."""

    email: str
    role: Role
    workspace: str
    has_account: bool


async def list_members(service: Service, actor: Actor) -> list[Json]:
    """List the members of the workspace by e-mail address."""
    return await service.store.read(_list_members, actor.workspace_id)


def _list_members(connection: Connection, workspace_id: str) -> list[Json]:
    members = [
        (people.get_user(connection, membership.user_id).email, membership.role, membership.user_id)
        for membership in people.list_members(connection, workspace_id)
    ]
    return [{"email": email, "role": role, "userId": user_id} for email, role, user_id in sorted(members)]


async def change_member_role(service: Service, visitor: UserSession, email: str, role: str) -> None:
    """Change a member's role in the visitor's workspace. Raises Forbidden, NotFound, InvalidInput."""
    _require_admin(visitor.actor)
    await change_member(service.store, _workspace_name(visitor), email, _parse_role(role), visitor.actor)


async def remove_from_workspace(service: Service, visitor: UserSession, email: str) -> None:
    """Remove a member from the visitor's workspace; the member's keys, grants and sessions there end at once.

    Raises Forbidden, NotFound, InvalidInput for the last admin.
    """
    _require_admin(visitor.actor)
    await remove_member(service.store, _workspace_name(visitor), email, visitor.actor)


def _require_admin(actor: Actor) -> None:
    if not actor.can_administer:
        raise Forbidden("Only an admin can invite, change or remove members.", code="admin_required")


def _workspace_name(visitor: UserSession) -> str:
    assert visitor.membership is not None  # an admin has a workspace
    return visitor.membership.name


def _parse_role(role: str) -> Role:
    chosen = next((known_role for known_role in ROLES if known_role == role), None)
    if chosen is None:
        raise invalid_input("role", "not_a_choice", "must be viewer, member or admin.")
    return chosen


async def create_invitation(service: Service, actor: Actor, email: str, role: str) -> Json:
    """Create a single-use link into the actor's workspace, for an e-mail address and a role.

    Raises Forbidden where the actor is not an admin, InvalidInput.
    """
    _require_admin(actor)
    address = email.strip().lower()
    local, at, domain = address.rpartition("@")
    if not (local and at and domain) or len(address) > MAX_EMAIL_LENGTH or not address.isprintable() or " " in address:
        raise invalid_input("email", "malformed", "must be an e-mail address.")
    checked_role = _parse_role(role)
    token = make_token()
    invitation = await service.store.write(
        sessions.create_invitation,
        hash_token(token),
        actor.workspace_id,
        actor.user_id,
        address,
        checked_role,
        INVITATION_MILLISECONDS,
        service.store.clock,
    )
    return {
        "url": f"{service.settings.base_url}/invitation/{token}",
        "expiresAt": format_timestamp(invitation.expires_at),
    }


async def read_invitation(service: Service, token: str) -> MemberInvitation:
    """Return an invitation without using it up. Raises NotFound and Forbidden as :func:`accept_invitation`."""
    return await service.store.read(_read_invitation, token, service.store.clock)


def _read_invitation(connection: Connection, token: str, clock: Clock) -> MemberInvitation:
    invitation = _require_valid_invitation(connection, sessions.find_invitation(connection, hash_token(token), clock))
    person = people.find_user_by_email(connection, invitation.email)
    home = people.get_workspace(connection, invitation.workspace_id)
    return MemberInvitation(
        invitation.email, invitation.role, home.name, person is not None and person.password_hash is not None
    )


def _require_valid_invitation(connection: Connection, invitation: InvitationRecord | None) -> InvitationRecord:
    if invitation is None:
        raise NotFound("This invitation was already used, has expired, or is not valid. Ask an admin for a new one.")
    maker = people.find_membership(connection, invitation.workspace_id, invitation.user_id)
    if maker is None or maker.role != "admin":
        raise Forbidden("The person who invited you is no longer an admin of the workspace.", code="admin_required")
    return invitation


async def accept_invitation(
    service: Service, tries: SignInThrottle, token: str, password: str, source: str, visitor: UserSession | None = None
) -> str:
    """Join the workspace and use the invitation up. Returns the token of a new session.

    ``password`` is the person's password. A person without one sets it here. It is not needed if ``visitor`` is the
    invited person. A person who is already a member keeps the current role. Raises NotFound, Forbidden,
    Unauthenticated, TooManySignInTries, InvalidInput.
    """
    invitation = await read_invitation(service, token)
    matched_hash: str | None = None
    new_hash: str | None = None
    is_visitor = visitor is not None and visitor.email == invitation.email
    if not is_visitor:
        if invitation.has_account:
            matched_hash = (await _authenticate_user(service, tries, invitation.email, password, source)).password_hash
        else:
            _check_password_length("password", password)
            async with tries.hash_slots:
                new_hash = await asyncio.to_thread(hash_password, password)
    session = make_token()
    await service.store.write(
        _join_workspace, hash_token(token), hash_token(session), matched_hash, new_hash, is_visitor, service.store.clock
    )
    return session


def _join_workspace(
    connection: Connection,
    token_hash: str,
    session_hash: str,
    matched_hash: str | None,
    new_hash: str | None,
    is_visitor: bool,
    clock: Clock,
) -> None:
    """Join the workspace of an invitation.

    ``matched_hash`` is the hash that the given password matched. ``new_hash`` is the hash of a password to set.
    """
    invitation = _require_valid_invitation(connection, sessions.use_invitation(connection, token_hash, clock))
    person = people.ensure_user(connection, invitation.email, clock)
    by = NamedAuthor(person.id, "session")
    if not is_visitor and not people.has_password(connection, person.id, matched_hash):
        raise Conflict("The password was changed at this moment; open the invitation again.", code="password_changed")
    if new_hash is not None:
        if sessions.list_memberships(
            connection, person.id
        ):  # the link alone must not open the person's other workspaces
            raise Forbidden(
                "This person is a member of another workspace and has no password yet. An admin there sets one."
            )
        people.set_password(connection, person.id, new_hash, clock, by)
    if people.find_membership(connection, invitation.workspace_id, person.id) is None:
        people.set_membership(connection, invitation.workspace_id, person.id, invitation.role, clock, by)
    sessions.create_session(connection, session_hash, person.id, invitation.workspace_id, SESSION_MILLISECONDS, clock)
