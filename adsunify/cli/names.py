"""Resolves what people type in place of an id: the beginning of the id, a native id, or ``meta:Name``.

The commands compare such texts with the lists of the API. A text that matches no object or several is refused, and the
error lists the candidates. A complete id is not looked up in a list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice

from adsunify.answers import Account, Connection, Node, Operation
from adsunify.client import Ads
from adsunify.errors import NotFound, invalid_input
from adsunify.plans.records import Kind
from adsunify.review.names import (
    BEGINNING,
    MAX_CANDIDATES,
    NameCandidate,
    choose_account,
    choose_candidate,
    describe_candidates,
    find_matches,
    find_similar_candidates,
    is_whole_id,
    make_account_candidate,
)

TIME_DIGITS = 12
"""The hexadecimal digits of a UUIDv7 that are its time in milliseconds (RFC 9562, section 5.7)."""
TIME_MARGIN = 600_000
"""The milliseconds by which the id of an operation may differ from the time of its preparation."""
LATEST_TIME = 253_402_300_000_000 - TIME_MARGIN
"""The latest time that is looked for, in milliseconds: the end of the year 9999."""


# -- accounts -----------------------------------------------------------------------------------------------------


def list_account_candidates(accounts: Iterable[Account]) -> list[NameCandidate]:
    """Return the accounts as candidates for a text."""
    return [
        make_account_candidate(account.account_id, account.network, account.native_id, account.name)
        for account in accounts
    ]


def find_account(client: Ads, text: str, path: str = "ACCOUNT") -> Account:
    """Return the account that a text names. Raises InvalidInput, and NotFound for an id that does not exist."""
    if is_whole_id(text):
        try:
            return client.accounts.get(text)
        except NotFound:
            _raise_if_operation(client, text, path)
            raise
    accounts = client.accounts.list().all()
    by_id = {account.account_id: account for account in accounts}
    candidates = list_account_candidates(accounts)
    return by_id[choose_account(path, text, candidates, lambda: _describe_operation(client, text)).id]


def choose_accounts(path: str, names: Iterable[str], accounts: Sequence[Account]) -> list[Account]:
    """Return the accounts that texts name, each once. Raises InvalidInput."""
    by_id = {account.account_id: account for account in accounts}
    candidates = list_account_candidates(accounts)
    return [by_id[id_] for id_ in dict.fromkeys(choose_account(path, name, candidates).id for name in names)]


def find_account_ids(client: Ads, names: Sequence[str], path: str) -> list[str]:
    """Return the ids of accounts that texts name. Whole ids are returned as they are. Raises InvalidInput."""
    if all(map(is_whole_id, names)):
        return list(names)
    return [account.account_id for account in choose_accounts(path, names, client.accounts.list().all())]


def _raise_if_operation(client: Ads, text: str, path: str) -> None:
    """Raise InvalidInput if the id belongs to an operation."""
    try:
        operation = client.operations.get(text)
    except NotFound:
        return
    raise invalid_input(path, "not_found", _explain_operation(operation))


def _explain_operation(operation: Operation) -> str:
    """Return the message for the id of an operation in place of an account."""
    return f"is an operation, not an account. Did you mean its account {operation.account_id}?"


def _describe_operation(client: Ads, text: str) -> str:
    """Return the message for a text that begins the id of an operation; empty for other texts."""
    matches = list_operations(client, text, 1) if len(text) >= TIME_DIGITS else []
    return f"It {_explain_operation(matches[0])}" if matches else ""


# -- operations ---------------------------------------------------------------------------------------------------


def find_operation(client: Ads, text: str, path: str = "OPERATION") -> Operation:
    """Return the operation that a text names. Raises InvalidInput, and NotFound for an id that does not exist."""
    if is_whole_id(text):
        try:
            return client.operations.get(text)
        except NotFound:
            _raise_if_account(client, text, path)
            raise
    matches = list_operations(client, text, MAX_CANDIDATES + 1)
    if len(matches) != 1:
        latest = matches or list(islice(client.operations.list(limit=MAX_CANDIDATES), MAX_CANDIDATES))
        if not matches:
            _raise_if_account(client, text, path)
        labels = [
            NameCandidate(operation.id, (), f"{operation.action} on {operation.network}, {operation.status}")
            for operation in latest
        ]
        # The search missed this operation, because the time in its id differs from the time of its preparation.
        other = choose_candidate(path, "operation", text, labels)
        raise invalid_input(path, "ambiguous", f"is too short here. Give the whole id: {other.id}.")
    return client.operations.get(matches[0].id)


def list_operations(client: Ads, text: str, limit: int) -> list[Operation]:
    """Return operations whose id begins with a text. An id begins with a time, which limits the search."""
    if BEGINNING.fullmatch(text) is None:
        return []
    digits = text.replace("-", "").lower()[:TIME_DIGITS]
    first, last = (min(int(digits.ljust(TIME_DIGITS, digit), 16), LATEST_TIME) for digit in "0f")
    rows = client.operations.list(
        limit=100, since=_to_instant(max(first - TIME_MARGIN, 0)), until=_to_instant(last + TIME_MARGIN)
    )
    return list(islice((row for row in rows if row.id.startswith(text.lower())), limit))


def _to_instant(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds // 1000, UTC)


def _raise_if_account(client: Ads, text: str, path: str) -> None:
    """Raise InvalidInput if a text names an account instead of an operation."""
    matches = find_matches(text, list_account_candidates(client.accounts.list()))
    if len(matches) == 1:
        account = matches[0]
        advice = f"`adsunify operations --account {account.id}` lists its operations."
        raise invalid_input(path, "not_found", f"names the account {account.label}, not an operation. {advice}")


# -- entities -----------------------------------------------------------------------------------------------------


def find_entities(client: Ads, account: Account, ids: Sequence[str], kind: Kind | None, path: str = "ENTITY") -> Kind:
    """Return the level of the entities with these native ids: ``kind``, or the level in the account's tree.

    Raises:
        InvalidInput: an id does not exist, exists on several levels, or the entities are of several levels. If a
            text is the name of an entity, the message gives the id of the entity.
    """
    if kind is not None:
        return kind
    tree = client.accounts.tree(account)
    kinds = {id_: [node.kind for node in tree.nodes if node.id == id_] for id_ in ids}
    for id_, own_kinds in kinds.items():
        if not own_kinds:
            raise invalid_input(path, "not_found", _describe_missing_entity(id_, tree.nodes, tree.truncated))
        if len(own_kinds) > 1:
            message = f"names entities of several levels ({', '.join(own_kinds)}); choose one with --kind."
            raise invalid_input(path, "ambiguous", message)
    levels = list(dict.fromkeys(own_kinds[0] for own_kinds in kinds.values()))
    if len(levels) > 1:
        message = f"names entities of several levels ({', '.join(levels)}); give those of one level at a time."
        raise invalid_input(path, "not_supported", message)
    level: Kind = next(known for known in KINDS.values() if known == levels[0])
    return level


KINDS: dict[str, Kind] = {"campaign": "campaign", "ad-group": "adGroup", "ad": "ad"}
"""The name of a level in the shell -> its name in the API."""


def _describe_missing_entity(text: str, nodes: Sequence[Node], is_truncated: bool) -> str:
    """Say which entity was probably meant: the one with this name, or with a similar name or id."""
    candidates = [
        NameCandidate(node.id, (node.name,) if node.name else (), f"{node.kind} {node.name}") for node in nodes
    ]
    named = [candidate for candidate in candidates if text in candidate.names]
    if named:
        return f"is a name; give the id: {describe_candidates(named)}."
    message = "names no entity that the tree of the account shows."
    similar = find_similar_candidates(text, candidates)
    if similar:
        return f"{message} Did you mean {describe_candidates(similar, ' or ')}?"
    if is_truncated:
        return f"{message} The account has more entities than were read; --kind looks the id up directly."
    return f"{message} `adsunify tree` lists them; with --kind, the id of one that it leaves out is accepted, too."


# -- others -------------------------------------------------------------------------------------------------------


def find_id(path: str, what: str, text: str, candidates: Iterable[NameCandidate]) -> str:
    """Return the id that a text names. The candidates of a whole id are not read. Raises InvalidInput."""
    return text if is_whole_id(text) else choose_candidate(path, what, text, list(candidates)).id


def list_connection_candidates(connections: Iterable[Connection]) -> Iterator[NameCandidate]:
    """Yield connections that are not disconnected as candidates. The name of a connection is its network."""
    for connection in connections:
        if connection.status != "disconnected":
            yield NameCandidate(connection.connection_id, (connection.network,), connection.network)
