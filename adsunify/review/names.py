"""Names that people give for the ids of accounts and others: the beginning of an id, a native id, or ``meta:Name``.

A name that matches nothing or several candidates is refused, and the message lists the candidates.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from attrs import frozen

from adsunify.errors import invalid_input
from adsunify.models.error_messages import UUID_REGEX, find_similar
from adsunify.networks.registry import discover_packages
from adsunify.values.exact_json import Json

MAX_CANDIDATES = 8
"""The most candidates that a message lists."""
CONTROL_CHARACTERS = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Characters that change how the rest of a line is shown."""
BEGINNING = re.compile(r"[0-9a-fA-F]{1,8}[0-9a-fA-F-]{0,28}")


@frozen
class NameCandidate:
    """An object that a name may mean.

    Attributes:
        id: the id that the API takes.
        names: other names that mean it.
        label: what people call it.
    """

    id: str
    names: tuple[str, ...] = ()
    label: str = ""

    def describe(self) -> str:
        """Return the label with the id."""
        label = CONTROL_CHARACTERS.sub("\ufffd", self.label)
        return f"{label} ({self.id})" if label else self.id


def is_whole_id(text: str) -> bool:
    """Whether a text is a UUID."""
    return re.search(UUID_REGEX, text) is not None


def find_matches(text: str, candidates: Iterable[NameCandidate]) -> list[NameCandidate]:
    """Return the candidates that a text names, or whose id begins with it."""
    beginning = text.lower() if BEGINNING.fullmatch(text) else None
    return [
        candidate
        for candidate in candidates
        if text in (candidate.id, *candidate.names)
        or (beginning is not None and candidate.id.lower().startswith(beginning))
    ]


def choose_candidate(
    path: str, what: str, text: str, candidates: Sequence[NameCandidate], hint: str = ""
) -> NameCandidate:
    """Return the one candidate that a text names.

    Args:
        path: the argument or option that has the text.
        what: the kind of the candidates, such as ``account``.
        text: the name.
        candidates: everything that could be meant.
        hint: a sentence that says what the text names instead.

    Raises:
        InvalidInput: the text names none of them, or several. The message lists candidates.
    """
    matches = find_matches(text, candidates)
    if len(matches) == 1:
        return matches[0]
    if matches:
        message = f"names several {what}s: {describe_candidates(matches)}."
        raise invalid_input(path, "ambiguous", f"{message} Give more of the id.")
    message = f"names no {what}."
    similar = find_similar_candidates(text, candidates)
    if hint:
        message += f" {hint}"
    elif similar:
        message += f" Did you mean {describe_candidates(similar, ' or ')}?"
    elif candidates:
        message += f" The {what}s are {describe_candidates(candidates)}."
    else:
        message += f" There are no {what}s."
    raise invalid_input(path, "not_found", message)


def find_similar_candidates(text: str, candidates: Sequence[NameCandidate]) -> list[NameCandidate]:
    """Return the candidates with the name that most resembles a text, with or without their network, in any case."""
    by_name: defaultdict[str, list[NameCandidate]] = defaultdict(list)
    for candidate in candidates:
        names = {candidate.id, candidate.label, *candidate.names}
        for name in names | {name.partition(":")[2] for name in names}:
            by_name[name.casefold()].append(candidate)
    folded = text.casefold()
    similar = folded if folded in by_name else find_similar(folded, filter(None, by_name))
    return [] if similar is None else by_name[similar]


def describe_candidates(candidates: Sequence[NameCandidate], separator: str = ", ") -> str:
    """Describe the first :data:`MAX_CANDIDATES` candidates, and say how many more there are."""
    described = [candidate.describe() for candidate in candidates[:MAX_CANDIDATES]]
    remaining = len(candidates) - len(described)
    return separator.join(described) + (f" and {remaining} more" if remaining else "")


# -- accounts -----------------------------------------------------------------------------------------------------


def make_account_candidate(account_id: str, network: str, native_id: str, name: str | None) -> NameCandidate:
    """Return the names of an account: its native id, and with the network before a colon also its name."""
    label = f"{network}:{name or native_id}"
    return NameCandidate(account_id, (native_id, f"{network}:{native_id}", label), label)


def choose_account(
    path: str, text: str, candidates: Sequence[NameCandidate], describe_other: Callable[[], str] = str
) -> NameCandidate:
    """Return the account that a text names; ``describe_other`` describes what else the text names.

    Raises InvalidInput.
    """
    hint = ""
    if not find_matches(text, candidates):
        network, colon, _ = text.partition(":")
        of_network = [candidate for candidate in candidates if candidate.label.startswith(f"{network}:")]
        if text in discover_packages():
            hint = f"It is a network. Its accounts: {describe_candidates(of_network) or 'none'}."
        else:
            hint = describe_other()
        if colon and of_network:
            candidates = of_network
    return choose_candidate(path, "account", text, candidates, hint)


def choose_row(name: str, rows: Iterable[Mapping[str, Any]], path: str = "ACCOUNT") -> str:
    """Return the id of the account that a text names among JSON rows; a whole id is returned unchanged.

    Raises InvalidInput.
    """
    candidates = [
        make_account_candidate(row["accountId"], row["network"], row["nativeId"], row["name"]) for row in rows
    ]
    return name if is_whole_id(name) else choose_account(path, name, candidates).id


def resolve_launch_accounts(
    body: Mapping[str, Json], candidates: Callable[[], Sequence[NameCandidate]]
) -> dict[str, Json]:
    """Return a launch with the ids of the accounts that its document names. Raises InvalidInput.

    ``candidates`` is called only if an account is not named by its whole id.
    """
    rows = body.get("accounts")
    rows = rows if isinstance(rows, list) else []
    names = {
        position: row["accountId"]
        for position, row in enumerate(rows)
        if isinstance(row, dict) and isinstance(row.get("accountId"), str) and not is_whole_id(row["accountId"])
    }
    if not names:
        return dict(body)
    known = candidates()
    ids = {
        position: choose_account(f"accounts.{position}.accountId", name, known).id for position, name in names.items()
    }
    accounts = [{**row, "accountId": ids[at]} if at in ids else row for at, row in enumerate(rows)]
    return {**body, "accounts": accounts}
