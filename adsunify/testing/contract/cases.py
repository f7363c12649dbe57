"""Reads cases: ``<network>/{exemplary,supplemental}/*.json``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from attrs import frozen

from adsunify.adapter.account import Account
from adsunify.errors import InvalidInput
from adsunify.networks import ADAPTERS_VARIABLE
from adsunify.networks.registry import discover_packages, get_adapter
from adsunify.values.dates import parse_instant
from adsunify.values.exact_json import Json, loads

OTHER_FOLDERS = frozenset({"briefs", "conversation", "exposure"})
"""Folders beside the cases of a network that hold other JSON."""
_ACCOUNT_ID_MEMBERS = ("nativeId", "native_id", "id", "accountId")
_MEMBERS = (
    ("kind", str, "a text", True),
    ("input", Mapping, "an object", False),
    ("account", Mapping, "an object", False),
    ("exchange", list, "a list", False),
    ("refuse", Mapping, "an object", False),
)
"""Members of a case, their types, and whether they are required."""


@frozen
class Case:
    """One case. An exemplary case comes from a success in the network's documentation, so it must not be refused."""

    path: Path
    network: str
    is_exemplary: bool
    name: str
    kind: str
    account: Account
    input: Mapping[str, Json]
    exchange: tuple[Mapping[str, Json], ...] = ()
    expect: Json = None
    refuse: Mapping[str, Json] | None = None

    @property
    def id(self) -> str:
        """Network, folder and file name, such as ``meta/exemplary/create``."""
        folder = self.path.parent.name
        return f"{self.network}/{folder + '/' if folder != self.network else ''}{self.path.stem}"


@frozen
class InvalidFile:
    """A file that is not a case, and the reason."""

    path: Path
    reason: str

    @property
    def id(self) -> str:
        """The end of the path of the file."""
        return "/".join(self.path.parts[-3:])


class InvalidCase(ValueError):
    """A case lacks a required part, or a member of the case has the wrong form."""


def read_cases(folder: Path) -> Iterator[Case | InvalidFile]:
    """Read all JSON files below a folder, in order of their paths."""
    for path in sorted(path for path in folder.rglob("*.json") if path.parent.name not in OTHER_FOLDERS):
        try:
            yield read_case(path)
        except (ValueError, InvalidInput, OSError, ImportError) as problem:
            yield InvalidFile(path, str(problem))


def read_case(path: Path) -> Case:
    """Read one case.

    Raises:
        InvalidCase: the file is not JSON, or lacks a member that every case has.
        InvalidInput: the adapter of its network cannot be loaded.
        OSError: the file cannot be read.
    """
    try:
        value = loads(path.read_bytes())
    except ValueError as problem:
        raise InvalidCase(f"The file is not JSON: {problem}") from None
    if not isinstance(value, Mapping):
        raise InvalidCase("A case must be a JSON object.")
    for name, type_, form, is_required in _MEMBERS:
        if (is_required or value.get(name) is not None) and not isinstance(value.get(name), type_):
            raise InvalidCase(f"{name} is missing or has the wrong type: it must be {form}.")
    if ("expect" in value) == ("refuse" in value):
        raise InvalidCase("A case must have either expect or refuse.")
    exchange = value.get("exchange") or []
    if not all(isinstance(entry, Mapping) and isinstance(entry.get("response"), Mapping) for entry in exchange):
        raise InvalidCase("exchange must be a list of objects with request and response.")
    account = value.get("account") or {}
    network = _find_network(path, value.get("network") or account.get("network"))
    is_exemplary = "exemplary" in path.parts
    if is_exemplary and "refuse" in value:
        raise InvalidCase("A case in the folder exemplary must have expect; move a refusal to supplemental.")
    return Case(
        path=path,
        network=network,
        is_exemplary=is_exemplary,
        name=str(value.get("case") or path.stem),
        kind=value["kind"],
        account=_parse_account(network, account),
        input=value.get("input") or {},
        exchange=tuple(exchange),
        expect=value.get("expect"),
        refuse=value.get("refuse"),
    )


def _find_network(path: Path, code: Json) -> str:
    """The network that a case names, or its nearest folder."""
    networks = discover_packages()
    network = code or next((part for part in reversed(path.parts) if part in networks), None)
    if network not in networks:
        raise InvalidCase(
            f"Its network is unknown: name a folder above it, or its account.network, after one of "
            f"{', '.join(networks)}. {ADAPTERS_VARIABLE} adds the networks of other packages."
        )
    return str(network)


def _parse_account(network: str, value: Mapping[str, Json]) -> Account:
    tables = get_adapter(network).network
    names = {extra.name for extra in tables.extras}
    extras = value.get("extras") or {}
    if not isinstance(extras, Mapping):
        raise InvalidCase("account.extras must be an object.")
    beside = {name: member for name, member in value.items() if name in names}
    native_id = next((value[name] for name in _ACCOUNT_ID_MEMBERS if value.get(name)), tables.example_account_id)
    return Account(
        network,
        str(native_id),
        value.get("currency"),
        value.get("timezone"),
        {name: str(member) for name, member in {**extras, **beside}.items() if member is not None},
    )


def parse_time(value: Json) -> datetime | None:
    """Parse an instant of a case: ISO 8601 text, or seconds or milliseconds since 1970; None for null.

    Raises InvalidInput or ValueError for a text that is no instant.
    """
    if value is None:
        return None
    if isinstance(value, str) and not value.isdigit():
        return parse_instant(value, "now")
    number = int(value)
    return datetime.fromtimestamp(number / (1000 if number > 10**11 else 1), UTC)


@frozen
class Library:
    """The cases that other cases may name: all cases of the folder that runs."""

    cases: Sequence[Case] = ()

    @classmethod
    def from_files(cls, files: Iterable[Case | InvalidFile]) -> Library:
        """Make a library of what :func:`read_cases` yields."""
        return cls([file for file in files if isinstance(file, Case)])

    def find_case(self, network: str, name: str) -> Case:
        """Return the case of a network with this name, file name or stem. Raises InvalidCase if no case has it."""
        for case in self.cases:
            if case.network == network and name in (case.name, case.path.name, case.path.stem):
                return case
        raise InvalidCase(f"No case of {network} has the name {name}.")

    def list_create_cases(self, network: str) -> Iterator[Case]:
        """Yield the create cases of a network that are not refused, in order of their paths."""
        for case in self.cases:
            if case.network == network and case.kind == "create" and case.refuse is None:
                yield case
