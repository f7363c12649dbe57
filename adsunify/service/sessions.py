"""People in browsers: signing in and out, sessions, invitations.

A session token is 256 random bits, and only its hash is kept. An unknown e-mail address costs as much time as a wrong
password, and tries are limited by where they come from, and from there for each e-mail address.
"""

from __future__ import annotations

import asyncio
from functools import cache

from attrs import define, field, frozen
from sqlalchemy import Connection

from adsunify.actor import Actor, Role
from adsunify.errors import Conflict, Forbidden, NotFound, RateLimited, Unauthenticated, invalid_input
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
"""Wrong passwords from one network address within :data:`TRY_MILLISECONDS`: for one e-mail address, and for all.

Tries from elsewhere do not count: a stranger cannot lock a person out.
"""
ROLES: tuple[Role, ...] = ("viewer", "member", "admin")
MAX_CONCURRENT_HASHES = 2
"""Argon2id takes 19 MiB and a core: so many at a time."""


class TooManySignInTries(RateLimited):
    """Too many wrong passwords; a while has to pass."""

    default_code = "too_many_tries"
    title = "Too many tries"

    def __init__(self, milliseconds: int) -> None:
        minutes = 1 + milliseconds // 60_000
        super().__init__(f"Too many tries. Sign in again in {minutes} min.", retry_after=milliseconds / 1000)


@define(eq=False)
class SignInThrottle:
    """Who tried how often of late, in this process; a try counts from its beginning until it proves right."""

    hash_slots: asyncio.Semaphore = field(factory=lambda: asyncio.Semaphore(MAX_CONCURRENT_HASHES))
    by_email: TokenBuckets = field(factory=lambda: TokenBuckets(MAX_TRIES_BY_EMAIL, TRY_MILLISECONDS))
    by_source: TokenBuckets = field(factory=lambda: TokenBuckets(MAX_TRIES_BY_ADDRESS, TRY_MILLISECONDS))

    def begin_try(self, email: str, source: str, now: int) -> None:
        """Begin a try; raises TooManySignInTries."""
        state = self.by_source.take(ip_bucket(source), now)
        if not isinstance(state, int):
            state = self.by_email.take(_email_bucket(email, source), now)
        if isinstance(state, int):
            raise TooManySignInTries(state)

    def forgive_tries(self, email: str, source: str) -> None:
        """The try was right: what went before it for this e-mail address, from there, is forgotten."""
        self.by_email.reset(_email_bucket(email, source))
        self.by_source.give_back(ip_bucket(source))


def _email_bucket(email: str, source: str) -> str:
    return f"{ip_bucket(source)} {email}"


@frozen
class UserSession:
    """A person with a session. ``membership``: the workspace he looks at; None: he belongs nowhere."""

    token_hash: str
    user_id: str
    email: str
    memberships: tuple[WorkspaceMembership, ...]
    membership: WorkspaceMembership | None

    @property
    def actor(self) -> Actor:
        """The person as a caller, with the authority of his role; raises Forbidden where he belongs nowhere."""
        if self.membership is None:
            raise Forbidden("You belong to no workspace. Ask an admin for an invitation.")
        home = self.membership
        return Actor(
            home.workspace_id, self.user_id, "session", home.role, True, "session", session_hash=self.token_hash
        )


# -- sessions -----------------------------------------------------------------------------------------------------


async def sign_in(service: Service, tries: SignInThrottle, email: str, password: str, source: str) -> str:
    """A new session's token. Raises Unauthenticated, TooManySignInTries, Conflict.

    ``source``: the network address of the browser.
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
    """The person who has this password; whoever is unknown costs the same time."""
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
    """The hash of a password that nobody has."""
    return hash_password(make_token())


async def find_user_session(service: Service, token: str) -> UserSession | None:
    """Who has this session; None where it is none, or over. What the person may do is as it is now."""
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
    """Look at another of the person's workspaces; raises NotFound."""
    if workspace_id not in [home.workspace_id for home in visitor.memberships]:
        raise NotFound("You belong to no such workspace.")
    await service.store.write(sessions.set_workspace, visitor.token_hash, workspace_id)


async def sign_out(service: Service, visitor: UserSession) -> None:
    """End the session at once."""
    await service.store.write(sessions.end_session, visitor.token_hash)


async def change_password(
    service: Service, tries: SignInThrottle, visitor: UserSession, password: str, new: str, source: str
) -> str:
    """Give the person another password, for the one he has. His sessions end; returns the token of a new one.

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
    people.set_password(connection, person.id, hash_)
    sessions.end_all_sessions(connection, person.id)
    sessions.create_session(connection, session_hash, person.id, home, SESSION_MILLISECONDS, clock)


def _check_password_length(field: str, password: str) -> None:
    if not MIN_PASSWORD_LENGTH <= len(password) <= MAX_PASSWORD_LENGTH:
        raise invalid_input(field, "length", f"has {MIN_PASSWORD_LENGTH} to {MAX_PASSWORD_LENGTH} characters.")


# -- invitations and members --------------------------------------------------------------------------------------


@frozen
class MemberInvitation:
    """What an invitation says; ``has_account``: the address belongs to someone who signs in with a password."""

    email: str
    role: Role
    workspace: str
    has_account: bool


async def list_members(service: Service, actor: Actor) -> list[Json]:
    """Who belongs to the workspace, by e-mail address."""
    return await service.store.read(_list_members, actor.workspace_id)


def _list_members(connection: Connection, workspace_id: str) -> list[Json]:
    members = [
        (people.get_user(connection, membership.user_id).email, membership.role)
        for membership in people.list_members(connection, workspace_id)
    ]
    return [{"email": email, "role": role} for email, role in sorted(members)]


async def change_member_role(service: Service, visitor: UserSession, email: str, role: str) -> None:
    """Make a member of the visitor's workspace something else. Raises Forbidden, NotFound, InvalidInput."""
    _require_admin(visitor.actor)
    await change_member(service.store, _workspace_name(visitor), email, _parse_role(role))


async def remove_from_workspace(service: Service, visitor: UserSession, email: str) -> None:
    """Take a member out of the visitor's workspace: his keys, grants and sessions there stop at once.

    Raises Forbidden, NotFound, InvalidInput for the last admin.
    """
    _require_admin(visitor.actor)
    await remove_member(service.store, _workspace_name(visitor), email)


def _require_admin(actor: Actor) -> None:
    if not actor.can_administer:
        raise Forbidden("Only an admin says who belongs to the workspace.", code="admin_required")


def _workspace_name(visitor: UserSession) -> str:
    assert visitor.membership is not None  # or he were no admin of it
    return visitor.membership.name


def _parse_role(role: str) -> Role:
    chosen = next((known_role for known_role in ROLES if known_role == role), None)
    if chosen is None:
        raise invalid_input("role", "not_a_choice", "must be viewer, member or admin.")
    return chosen


async def create_invitation(service: Service, actor: Actor, email: str, role: str) -> Json:
    """Make a single-use link into the actor's workspace, for an e-mail address and a role.

    Raises Forbidden where the actor is no admin, InvalidInput.
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
    """What an invitation says; looking at it does not use it up. Raises NotFound, Forbidden as
    :func:`accept_invitation`.
    """
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
        raise NotFound("This invitation was used already, is over, or never was one. Ask an admin for a new one.")
    maker = people.find_membership(connection, invitation.workspace_id, invitation.user_id)
    if maker is None or maker.role != "admin":
        raise Forbidden("Whoever invited you is no admin of the workspace any more.", code="admin_required")
    return invitation


async def accept_invitation(
    service: Service, tries: SignInThrottle, token: str, password: str, source: str, visitor: UserSession | None = None
) -> str:
    """Join the workspace, and use the invitation up; returns the token of a new session.

    Who has a password gives it, unless he is the ``visitor``; who has none sets one. Who belongs to the workspace
    already stays what he is. Raises NotFound, Forbidden, Unauthenticated, TooManySignInTries, InvalidInput.
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
    """``matched_hash``: the hash that the given password matched. ``new_hash``: the hash of a password to set."""
    invitation = _require_valid_invitation(connection, sessions.use_invitation(connection, token_hash, clock))
    person = people.ensure_user(connection, invitation.email, clock)
    if not is_visitor and not people.has_password(connection, person.id, matched_hash):
        raise Conflict("The password was changed at this moment; open the invitation again.", code="password_changed")
    if new_hash is not None:
        if sessions.list_memberships(connection, person.id):  # the link alone must not open what he has elsewhere
            raise Forbidden("This person belongs to a workspace and has no password yet; an admin sets one there.")
        people.set_password(connection, person.id, new_hash)
    if people.find_membership(connection, invitation.workspace_id, person.id) is None:
        people.set_membership(connection, invitation.workspace_id, person.id, invitation.role, clock)
    sessions.create_session(connection, session_hash, person.id, invitation.workspace_id, SESSION_MILLISECONDS, clock)
