"""The state of one simulated network: accounts, entities, consents and tokens, with undo."""

import copy
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from types import MappingProxyType
from typing import Any, Literal
from zoneinfo import ZoneInfo

from attrs import define, evolve, field, frozen

Clock = Callable[[], datetime]
CLIENT_SECRET = "sandbox-secret"


@frozen
class Account:
    """An ad account that exists from the start. `extra` holds native facts (region, manager, billable unit ...)."""

    id: str
    name: str
    currency: str
    timezone: str
    extra: Mapping[str, Any] = field(factory=dict)

    @property
    def zone(self) -> ZoneInfo:
        """The time zone of the account's days."""
        return ZoneInfo(self.timezone)


@frozen
class StoredEntity:
    """One native object; `data` is its native content and is replaced (`World.replace`), never changed in place."""

    kind: str
    id: str
    account: str
    parent: str | None
    data: Mapping[str, Any]
    created_at: datetime
    updated_at: datetime


EntityKey = tuple[str, str]  # kind and id
Lineage = tuple[StoredEntity, ...]  # an entity after its parents, the topmost first


@frozen
class AuthorizationCode:
    """An authorization code that was not redeemed yet."""

    client_id: str
    redirect_uri: str
    scopes: tuple[str, ...]
    challenge: str | None
    expires_at: datetime


@frozen
class Token:
    """An access or refresh token. All tokens of one consent have the same `grant`."""

    text: str
    use: Literal["access", "refresh"]
    grant: str
    scopes: tuple[str, ...]
    expires_at: datetime | None


@frozen
class JournalEntry:
    """One step of the journal: the entity before it (None if created) and after it (None if removed)."""

    before: StoredEntity | None
    after: StoredEntity | None
    logged: bool


@define
class World:
    """The state of one network.

    All changes go through `create`, `replace` and `remove`, which can be undone and are logged.
    """

    network: str
    accounts: Mapping[str, Account]
    clock: Clock
    first_id: int = 1
    _stored_entities: dict[tuple[str, str], StoredEntity] = field(factory=dict)
    _last_id: int = 0
    codes: dict[str, AuthorizationCode] = field(factory=dict)
    tokens: dict[str, Token] = field(factory=dict)
    journal: list[JournalEntry] = field(factory=list)
    quiet_days: frozenset[date] = frozenset()
    list_delay: timedelta = timedelta()
    """How long after its creation an entity shows in lists. Reads by id show it at once."""
    refused_ids: frozenset[str] = frozenset()

    @property
    def now(self) -> datetime:
        """The present time of the sandbox, an aware datetime in UTC."""
        return self.clock()

    def get_local_date(self, account: Account) -> date:
        """Return the sandbox's present date in the time zone of an account."""
        return self.now.astimezone(account.zone).date()

    @property
    def client_id(self) -> str:
        """The id of the only OAuth application that this network knows."""
        return f"sandbox-{self.network}"

    def delivers(self, day: date) -> bool:
        """Whether ads deliver on a day of a report. They do not on a quiet day (`POST /_sandbox/quiet`)."""
        return day not in self.quiet_days

    def is_refused(self, entity: StoredEntity) -> bool:
        """Whether the review refuses an entity (`POST /_sandbox/refuse`)."""
        return entity.id in self.refused_ids

    def allocate_id(self) -> str:
        """Return a new id of digits. All kinds of the network share one counter, so ids are unique across kinds."""
        self._last_id += 1
        return str(self.first_id + self._last_id - 1)

    def skip_ids(self, count: int) -> None:
        """Skip `count` ids."""
        self._last_id += count

    def create(
        self,
        kind: str,
        account: str,
        data: Mapping[str, Any],
        *,
        parent: str | None = None,
        id: str | None = None,  # noqa: A002 - the word every network uses
        logged: bool = True,
    ) -> StoredEntity:
        """Create an entity.

        Without `id` it gets a new id. `logged=False` keeps it out of the log of writes (report jobs).
        """
        entity = StoredEntity(kind, id or self.allocate_id(), account, parent, _freeze_data(data), self.now, self.now)
        if (kind, entity.id) in self._stored_entities:
            raise ValueError(f"{kind} {entity.id} exists already")
        self._record_change(None, entity, logged)
        return entity

    def replace(self, entity: StoredEntity, data: Mapping[str, Any], *, logged: bool = True) -> StoredEntity:
        """Replace the content of an entity: `world.replace(ad, {**ad.data, "status": "PAUSED"})`."""
        changed = evolve(entity, data=_freeze_data(data), updated_at=self.now)
        self._record_change(self._stored_entities[entity.kind, entity.id], changed, logged)
        return changed

    def remove(self, entity: StoredEntity, *, logged: bool = True) -> None:
        """Remove an entity. For networks that only mark deleted entities, `replace` its data instead."""
        self._record_change(self._stored_entities[entity.kind, entity.id], None, logged)

    def find(self, kind: str, id: str, account: str | None = None) -> StoredEntity | None:  # noqa: A002 - as above
        """Return the entity if it exists, and if it belongs to `account` where that is given; else None."""
        entity = self._stored_entities.get((kind, id))
        return entity if entity is not None and account in (None, entity.account) else None

    def list_entities(self, kind: str, account: str | None = None, parent: str | None = None) -> list[StoredEntity]:
        """Return all entities of a kind, oldest first, of one account and one parent where these are given.

        Entities that are younger than `list_delay` are left out.
        """
        latest_creation = self.now - self.list_delay
        return [
            entity
            for entity in self._stored_entities.values()
            if entity.kind == kind and account in (None, entity.account) and parent in (None, entity.parent)
            if entity.created_at <= latest_creation
        ]

    def list_lineages(self, account: str, kinds: Sequence[str]) -> list[Lineage]:
        """Return the entities of an account that figures are divided over, each after its parents.

        These are the entities of the lowest kind that the account has. `kinds` are the kinds of the levels, the
        highest first. An entity whose parent was removed is left out.
        """
        lineages: list[Lineage] = []
        lineage_by_id: dict[str | None, Lineage] = {None: ()}
        for kind in kinds:
            level: dict[str | None, Lineage] = {
                entity.id: (*lineage_by_id[entity.parent], entity)
                for entity in self.list_entities(kind, account)
                if entity.parent in lineage_by_id
            }
            if not level:
                break
            lineage_by_id, lineages = level, list(level.values())
        return lineages

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """Undo every change of the block if an exception leaves it, for example for a refused item of a batch."""
        mark = len(self.journal)
        try:
            yield
        except BaseException:
            while len(self.journal) > mark:
                change = self.journal.pop()
                self._replace_stored(change.after, change.before)
            raise

    def issue_token(
        self,
        use: Literal["access", "refresh"],
        grant: str,
        scopes: tuple[str, ...],
        seconds: int | None,
        prefix: str = "",
    ) -> Token:
        """Issue a token of a grant that is valid for `seconds` (None: until it is revoked)."""
        ends = None if seconds is None else self.now + timedelta(seconds=seconds)
        token = Token(prefix + secrets.token_urlsafe(24), use, grant, scopes, ends)
        self.tokens[token.text] = token
        return token

    def revoke_grant(self, grant: str) -> None:
        """Revoke every token of one consent."""
        self.tokens = {text: token for text, token in self.tokens.items() if token.grant != grant}

    def _record_change(self, before: StoredEntity | None, after: StoredEntity | None, logged: bool) -> None:
        self._replace_stored(before, after)
        self.journal.append(JournalEntry(before, after, logged))

    def _replace_stored(self, old: StoredEntity | None, new: StoredEntity | None) -> None:
        if new is not None:
            self._stored_entities[new.kind, new.id] = new
        elif old is not None:
            del self._stored_entities[old.kind, old.id]


def _freeze_data(data: Mapping[str, Any]) -> Mapping[str, Any]:
    return MappingProxyType(copy.deepcopy(dict(data)))
