"""Reading cases: ``<network>/{exemplary,supplemental}/*.json``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from attrs import frozen

from adsunify.adapter.network import Account
from adsunify.errors import InvalidInput
from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.values.dates import parse_instant
from adsunify.values.exact_json import Json, loads
from tests.networks.samples import list_case_folders

REPOSITORY = Path(__file__).parent.parent.parent
NOT_CASES = {"briefs", "conversation"}
"""Folders beside the cases of a network that hold other JSON."""

_NAMES_OF_ID = ("nativeId", "native_id", "id", "accountId")


@frozen
class Case:
    """One case. ``exemplary``: documentation of a happy way, which is never refused."""

    path: Path
    network: str
    exemplary: bool
    name: str
    kind: str
    account: Account
    input: Mapping[str, Json]
    exchange: tuple[Mapping[str, Json], ...] = ()
    expect: Json = None
    refuse: Mapping[str, Json] | None = None

    @property
    def id(self) -> str:
        folder = self.path.parent.name
        return f"{self.network}/{folder + '/' if folder != self.network else ''}{self.path.stem}"


@frozen
class BadCase:
    """A file that is no case, and why."""

    path: Path
    reason: str

    @property
    def id(self) -> str:
        return "/".join(self.path.parts[-3:])


class NotACase(ValueError):
    """What is wrong with a file."""


def read_cases(folder: Path) -> Iterator[Case | BadCase]:
    """All files below a folder, in order of their paths."""
    for path in sorted(path for path in folder.rglob("*.json") if path.parent.name not in NOT_CASES):
        try:
            yield read_case(path)
        except (ValueError, InvalidInput, OSError, ImportError) as problem:
            yield BadCase(path, str(problem))


def read_case(path: Path) -> Case:
    """One case; raises ValueError where it lacks what every case has."""
    try:
        value = loads(path.read_bytes())
    except ValueError as problem:
        raise NotACase(f"not JSON: {problem}") from None
    if not isinstance(value, Mapping):
        raise NotACase("a case is a JSON object")
    for name, type_, required in (
        ("kind", str, True),
        ("input", Mapping, False),
        ("account", Mapping, False),
        ("exchange", list, False),
        ("refuse", Mapping, False),
    ):
        if (required or value.get(name) is not None) and not isinstance(value.get(name), type_):
            raise NotACase(f"{name} is missing or of the wrong type")
    if ("expect" in value) == ("refuse" in value):
        raise NotACase("a case has either expect or refuse")
    exchange = value.get("exchange") or []
    if not all(isinstance(entry, Mapping) and isinstance(entry.get("response"), Mapping) for entry in exchange):
        raise NotACase("exchange is a list of objects with request and response")
    account = value.get("account") or {}
    network = _network(path, value.get("network") or account.get("network"))
    exemplary = "exemplary" in path.parts
    if exemplary and "refuse" in value:
        raise NotACase("an exemplary case refuses nothing")
    return Case(
        path=path,
        network=network,
        exemplary=exemplary,
        name=str(value.get("case") or path.stem),
        kind=value["kind"],
        account=_account(network, account),
        input=value.get("input") or {},
        exchange=tuple(exchange),
        expect=value.get("expect"),
        refuse=value.get("refuse"),
    )


def _network(path: Path, code: Json) -> str:
    network = code or next((part for part in reversed(path.parts) if part in ADAPTER_PACKAGES), None)
    if network not in ADAPTER_PACKAGES:
        raise NotACase(f"its network is none of {', '.join(ADAPTER_PACKAGES)}; a folder or account.network names it")
    return str(network)


def _account(network: str, value: Mapping[str, Json]) -> Account:
    tables = get_adapter(network).network
    names = {extra.name for extra in tables.extras}
    extras = value.get("extras") or {}
    if not isinstance(extras, Mapping):
        raise NotACase("account.extras is an object")
    beside = {name: one for name, one in value.items() if name in names}
    native_id = next((value[name] for name in _NAMES_OF_ID if value.get(name)), tables.example_account_id)
    return Account(
        network,
        str(native_id),
        value.get("currency"),
        value.get("timezone"),
        {name: str(one) for name, one in {**extras, **beside}.items() if one is not None},
    )


def moment(value: Json) -> datetime | None:
    """An instant of a case: ISO 8601 text, or seconds or milliseconds since 1970; None where there is none."""
    if value is None:
        return None
    if isinstance(value, str) and not value.isdigit():
        return parse_instant(value, "now")
    number = int(value)
    return datetime.fromtimestamp(number / (1000 if number > 10**11 else 1), UTC)


@cache
def own_cases() -> tuple[Case, ...]:
    """The repository's own cases."""
    return tuple(case for folder in list_case_folders() for case in read_cases(folder) if isinstance(case, Case))


@frozen
class Library:
    """All cases that others may name: those of the folder that runs first, then the repository's own."""

    cases: Sequence[Case] = ()

    @classmethod
    def of(cls, cases: Sequence[Case | BadCase]) -> Library:
        return cls([case for case in cases if isinstance(case, Case)])

    def named(self, network: str, name: str) -> Case:
        """The case of this name, file name or stem; raises NotACase where there is none."""
        for case in self._all():
            if case.network == network and name in (case.name, case.path.name, case.path.stem):
                return case
        raise NotACase(f"there is no case {name} of {network}")

    def creating(self, network: str) -> Iterator[Case]:
        """The create cases of a network that are not refused, in order."""
        return (
            case for case in self._all() if case.network == network and case.kind == "create" and case.refuse is None
        )

    def _all(self) -> Iterator[Case]:
        yield from self.cases
        yield from own_cases()
