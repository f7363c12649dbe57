"""People in browsers: signing in and out, sessions, invitations.

A session token is 256 random bits, and only its hash is kept. An unknown e-mail address costs as much time as a wrong
password, and tries are limited by where they come from, and from there for each e-mail address.
"""

from __future__ import annotations

import asyncio
import secrets
from functools import cache

from attrs import define, field, frozen
from sqlalchemy import Connection

from adsunify.actor import Actor, Role
from adsunify.errors import Conflict, Forbidden, NotFound, RateLimited, Unauthenticated, refused
from adsunify.store import people, sessions
from adsunify.store.clock import Clock
from adsunify.store.people import UserRecord
from adsunify.store.sessions import Home, InvitationRecord
from adsunify.values.exact_json import Json

from .access import hashed
from .core import Service, moment
from .limiting import Buckets, network
from .people import SHORTEST_PASSWORD, hash_password, password_matches
from .people import change_role as change_member
from .people import remove as remove_member

SESSION_MILLISECONDS = 30 * 24 * 60 * 60 * 1000
INVITATION_MILLISECONDS = 7 * 24 * 60 * 60 * 1000
LONGEST_PASSWORD, LONGEST_EMAIL = 1000, 254
TRY_MILLISECONDS = 15 * 60 * 1000
TRIES_BY_EMAIL, TRIES_BY_SOURCE = 10, 100
"""Wrong passwords from one network address within :data:`TRY_MILLISECONDS`: for one e-mail address, and for all.

Tries from elsewhere do not count: a stranger cannot lock a person out.
"""
ROLES: tuple[Role, ...] = ("viewer", "member", "admin")
AT_ONCE = 2
"""Argon2id takes 19 MiB and a core: so many at a time."""


class TooManyTries(RateLimited):
    """Too many wrong passwords; a while has to pass."""

    default_code = "too_many_tries"
    title = "Too many tries"

    def __init__(self, milliseconds: int) -> None:
        minutes = 1 + milliseconds // 60_000
        super().__init__(f"Too many tries. Sign in again in {minutes} min.", retry_after=milliseconds / 1000)


@define(eq=False)
class Tries:
    """Who tried how often of late, in this process; a try counts from its beginning until it proves right."""

    gate: asyncio.Semaphore = field(factory=lambda: asyncio.Semaphore(AT_ONCE))
    by_email: Buckets = field(factory=lambda: Buckets(TRIES_BY_EMAIL, TRY_MILLISECONDS))
    by_source: Buckets = field(factory=lambda: Buckets(TRIES_BY_SOURCE, TRY_MILLISECONDS))

    def take(self, email: str, source: str, now: int) -> None:
        """Begin a try; raises TooManyTries."""
        taken = self.by_source.take(network(source), now)
        if not isinstance(taken, int):
            taken = self.by_email.take(_both(email, source), now)
        if isinstance(taken, int):
            raise TooManyTries(taken)

    def right(self, email: str, source: str) -> None:
        """The try was right: what went before it for this e-mail address, from there, is forgotten."""
        self.by_email.fill(_both(email, source))
        self.by_source.give_back(network(source))


def _both(email: str, source: str) -> str:
    return f"{network(source)} {email}"


@frozen
class Visitor:
    """A person with a session. ``home``: the workspace he looks at; None: he belongs nowhere."""

    token_hash: str
    user_id: str
    email: str
    homes: tuple[Home, ...]
    home: Home | None

    @property
    def actor(self) -> Actor:
        """The person as a caller, with the authority of his role; raises Forbidden where he belongs nowhere."""
        if self.home is None:
            raise Forbidden("You belong to no workspace. Ask an admin for an invitation.")
        home = self.home
        return Actor(
            home.workspace_id, self.user_id, "session", home.role, True, "session", session_hash=self.token_hash
        )


# -- sessions -----------------------------------------------------------------------------------------------------


async def sign_in(service: Service, tries: Tries, email: str, password: str, source: str) -> str:
    """A new session's token. Raises Unauthenticated, TooManyTries, Conflict.

    ``source``: the network address of the browser.
    """
    person = await _known(service, tries, email, password, source)
    token = secrets.token_urlsafe(32)
    await service.store.write(_begin, person, hashed(token), service.store.clock)
    return token


def _begin(connection: Connection, person: UserRecord, session_hash: str, clock: Clock) -> None:
    if not people.has_password(connection, person.id, person.password_hash):
        raise Conflict("The password was changed at this moment; sign in with the new one.", code="password_changed")
    sessions.create(connection, session_hash, person.id, None, SESSION_MILLISECONDS, clock)


async def _known(service: Service, tries: Tries, email: str, password: str, source: str) -> UserRecord:
    """The person who has this password; whoever is unknown costs the same time."""
    name = email.strip().lower()
    wrong = Unauthenticated("The e-mail address or the password is wrong.")
    if len(name) > LONGEST_EMAIL or len(password) > LONGEST_PASSWORD:
        raise wrong
    tries.take(name, source, service.store.clock.wall())
    person = await service.store.read(people.user_with_email, name)
    kept = None if person is None else person.password_hash
    async with tries.gate:
        matches = await asyncio.to_thread(_matches, password, kept)
    if person is None or kept is None or not matches:
        raise wrong
    tries.right(name, source)
    return person


def _matches(password: str, kept: str | None) -> bool:
    return password_matches(password, _nobodys() if kept is None else kept)


@cache
def _nobodys() -> str:
    """The hash of a password that nobody has."""
    return hash_password(secrets.token_urlsafe(32))


async def visitor(service: Service, token: str) -> Visitor | None:
    """Who has this session; None where it is none, or over. What the person may do is as it is now."""
    found = await service.store.read(sessions.find, hashed(token), service.store.clock)
    if found is None:
        return None
    chosen = [home for home in found.homes if home.workspace_id == found.workspace_id]
    return Visitor(found.token_hash, found.user_id, found.email, found.homes, next(iter([*chosen, *found.homes]), None))


async def choose(service: Service, visitor: Visitor, workspace_id: str) -> None:
    """Look at another of the person's workspaces; raises NotFound."""
    if workspace_id not in [home.workspace_id for home in visitor.homes]:
        raise NotFound("You belong to no such workspace.")
    await service.store.write(sessions.choose, visitor.token_hash, workspace_id)


async def sign_out(service: Service, visitor: Visitor) -> None:
    """End the session at once."""
    await service.store.write(sessions.end, visitor.token_hash)


async def change_password(
    service: Service, tries: Tries, visitor: Visitor, password: str, new: str, source: str
) -> str:
    """Give the person another password, for the one he has. His sessions end; returns the token of a new one.

    Raises Unauthenticated, TooManyTries, InvalidInput, Conflict.
    """
    _long_enough("new", new)
    person = await _known(service, tries, visitor.email, password, source)
    async with tries.gate:
        hash_ = await asyncio.to_thread(hash_password, new)
    token = secrets.token_urlsafe(32)
    home = None if visitor.home is None else visitor.home.workspace_id
    await service.store.write(_replace, person, hash_, hashed(token), home, service.store.clock)
    return token


def _replace(
    connection: Connection, person: UserRecord, hash_: str, session_hash: str, home: str | None, clock: Clock
) -> None:
    if not people.has_password(connection, person.id, person.password_hash):
        raise Conflict("The password was changed at this moment; sign in with the new one.", code="password_changed")
    people.set_password(connection, person.id, hash_)
    sessions.end_all(connection, person.id)
    sessions.create(connection, session_hash, person.id, home, SESSION_MILLISECONDS, clock)


def _long_enough(field: str, password: str) -> None:
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        raise refused(field, "length", f"has {SHORTEST_PASSWORD} to {LONGEST_PASSWORD} characters.")


# -- invitations and members --------------------------------------------------------------------------------------


@frozen
class Invitation:
    """What an invitation says; ``known``: the address belongs to someone who signs in with a password."""

    email: str
    role: Role
    workspace: str
    known: bool


async def members(service: Service, actor: Actor) -> list[Json]:
    """Who belongs to the workspace, by e-mail address."""
    return await service.store.read(_members, actor.workspace_id)


def _members(connection: Connection, workspace_id: str) -> list[Json]:
    found = [(people.user(connection, one.user_id).email, one.role) for one in people.members(connection, workspace_id)]
    return [{"email": email, "role": role} for email, role in sorted(found)]


async def change_role(service: Service, visitor: Visitor, email: str, role: str) -> None:
    """Make a member of the visitor's workspace something else. Raises Forbidden, NotFound, InvalidInput."""
    _must_administer(visitor.actor)
    await change_member(service.store, _named(visitor), email, _role(role))


async def remove(service: Service, visitor: Visitor, email: str) -> None:
    """Take a member out of the visitor's workspace: his keys, grants and sessions there stop at once.

    Raises Forbidden, NotFound, InvalidInput for the last admin.
    """
    _must_administer(visitor.actor)
    await remove_member(service.store, _named(visitor), email)


def _must_administer(actor: Actor) -> None:
    if not actor.administers:
        raise Forbidden("Only an admin says who belongs to the workspace.", code="admin_required")


def _named(visitor: Visitor) -> str:
    assert visitor.home is not None  # or he were no admin of it
    return visitor.home.name


def _role(role: str) -> Role:
    chosen = next((one for one in ROLES if one == role), None)
    if chosen is None:
        raise refused("role", "not_a_choice", "must be viewer, member or admin.")
    return chosen


async def invite(service: Service, actor: Actor, email: str, role: str) -> Json:
    """Make a single-use link into the actor's workspace, for an e-mail address and a role.

    Raises Forbidden where the actor is no admin, InvalidInput.
    """
    _must_administer(actor)
    address = email.strip().lower()
    local, at, domain = address.rpartition("@")
    if not (local and at and domain) or len(address) > LONGEST_EMAIL or not address.isprintable() or " " in address:
        raise refused("email", "malformed", "must be an e-mail address.")
    chosen = _role(role)
    token = secrets.token_urlsafe(32)
    kept = await service.store.write(
        sessions.invite,
        hashed(token),
        actor.workspace_id,
        actor.user_id,
        address,
        chosen,
        INVITATION_MILLISECONDS,
        service.store.clock,
    )
    return {"url": f"{service.settings.base_url}/invitation/{token}", "expiresAt": moment(kept.expires_at)}


async def invitation(service: Service, token: str) -> Invitation:
    """What an invitation says; looking at it does not use it up. Raises NotFound, Forbidden as :func:`accept`."""
    return await service.store.read(_invitation, token, service.store.clock)


def _invitation(connection: Connection, token: str, clock: Clock) -> Invitation:
    kept = _standing(connection, sessions.invitation(connection, hashed(token), clock))
    person = people.user_with_email(connection, kept.email)
    home = people.workspace(connection, kept.workspace_id)
    return Invitation(kept.email, kept.role, home.name, person is not None and person.password_hash is not None)


def _standing(connection: Connection, kept: InvitationRecord | None) -> InvitationRecord:
    if kept is None:
        raise NotFound("This invitation was used already, is over, or never was one. Ask an admin for a new one.")
    maker = people.membership(connection, kept.workspace_id, kept.user_id)
    if maker is None or maker.role != "admin":
        raise Forbidden("Whoever invited you is no admin of the workspace any more.", code="admin_required")
    return kept


async def accept(
    service: Service, tries: Tries, token: str, password: str, source: str, visitor: Visitor | None = None
) -> str:
    """Join the workspace, and use the invitation up; returns the token of a new session.

    Who has a password gives it, unless he is the ``visitor``; who has none sets one. Who belongs to the workspace
    already stays what he is. Raises NotFound, Forbidden, Unauthenticated, TooManyTries, InvalidInput.
    """
    asked = await invitation(service, token)
    kept: str | None = None
    new: str | None = None
    visiting = visitor is not None and visitor.email == asked.email
    if not visiting:
        if asked.known:
            kept = (await _known(service, tries, asked.email, password, source)).password_hash
        else:
            _long_enough("password", password)
            async with tries.gate:
                new = await asyncio.to_thread(hash_password, password)
    session = secrets.token_urlsafe(32)
    await service.store.write(_join, hashed(token), hashed(session), kept, new, visiting, service.store.clock)
    return session


def _join(
    connection: Connection,
    token_hash: str,
    session_hash: str,
    kept: str | None,
    new: str | None,
    visiting: bool,
    clock: Clock,
) -> None:
    """``kept``: the hash that the given password matched; ``new``: that of a password to be set."""
    asked = _standing(connection, sessions.use_invitation(connection, token_hash, clock))
    person = people.ensure_user(connection, asked.email, clock)
    if not visiting and not people.has_password(connection, person.id, kept):
        raise Conflict("The password was changed at this moment; open the invitation again.", code="password_changed")
    if new is not None:
        if sessions.homes(connection, person.id):  # the link alone must not open what he has elsewhere
            raise Forbidden("This person belongs to a workspace and has no password yet; an admin sets one there.")
        people.set_password(connection, person.id, new)
    if people.membership(connection, asked.workspace_id, person.id) is None:
        people.set_membership(connection, asked.workspace_id, person.id, asked.role, clock)
    sessions.create(connection, session_hash, person.id, asked.workspace_id, SESSION_MILLISECONDS, clock)
