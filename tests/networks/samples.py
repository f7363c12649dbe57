"""What the suites have to know of a network and cannot read off its adapter: facts of its documentation, and samples.

``tests/networks/<code>/samples.py`` holds them as ``SAMPLES``; :func:`get_samples` finds it. A fact without a default
here has to be given: a network that lacks one fails every suite with the name of the file and of the fact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from attrs import frozen

import tests.networks
from adsunify.testing.contract.cases import Case, read_cases

Ending = Literal["unknown", "rejected", "throttled", "not_sent", "token"]
QuietDay = Literal["zeros", "zero", "gap"]


@frozen(kw_only=True)
class Revocation:
    """The requests that give a connection back. ``path``: the end of their path."""

    method: str
    path: str
    requests: int = 1
    ends_tokens: bool = True


@frozen(kw_only=True)
class TokenRefusal:
    """How the network answers a token that it does not know. ``path``: /host/path; ``members``: of the body, dotted."""

    path: str
    members: Mapping[str, Any]
    method: str = "GET"
    status: int = 401
    challenge: str = ""


@frozen(kw_only=True)
class LocationType:
    """A location id of a level's targeting, its type, and a type that its id contradicts."""

    level: str
    location: str
    type: str
    wrong_type: str


@frozen(kw_only=True)
class Samples:
    """The facts of one network. Instants, amounts and texts are as callers write them."""

    # -- what the network offers (docs/spec.md, "Unified format support") --
    formats: frozenset[str]
    goals: frozenset[str]
    periods: frozenset[str]
    kinds: frozenset[str] = frozenset({"campaign", "adGroup", "ad"})
    takes_political_ads: bool = False
    """Whether it is declared true or false; others take false only."""
    requires_political_declaration: bool = False

    # -- accounts and briefs --
    timezone: str = "Etc/UTC"
    """The zone in which the example briefs begin at midnight, where the network keeps whole days."""
    brief_members: Mapping[str, Any] = {}
    """What a brief of the servers' tests needs otherwise than others do."""
    brief_values: Mapping[str, Any] = {}
    """Values in the form that the rows of ``GET /workflows`` ask for in words, by the member's path."""
    make_creative: Callable[[], Mapping[str, Any]] | None = None
    """The creative of each brief, where the network takes one creative only so often."""
    unsupported_goal: str = "app_installs"
    unsupported_platform_member: str = "boardId"
    row_conditions: Mapping[str, tuple[Mapping[str, str], Mapping[str, str]]] = {}
    """What the reason of a row says of accounts: extras for which the row counts, and for which it does not."""
    country_in_brief: str = ""
    """The form of a location id that means a country: ``{country}`` stands for its code, ``{lower}`` for its code in
    lower case, as in ``country:{country}``. "" if no location id means a country."""
    operation_mark: str | None = None
    """The member of bodies that follows from the operation's id; "" for a header, None for none."""

    # -- connecting --
    credentials: tuple[tuple[str, ...], ...] = ()
    """What a person gives to connect, each way of it; () where the network has a consent page."""
    wrong_credentials: Mapping[str, str] = {}
    """Of the right form and wrong; required where ``credentials`` are given."""
    consent_code: str = "code"
    """The parameter that proves a consent."""
    revocation: Revocation | None
    """None: the network has no request that ends a connection."""
    token_refusal: TokenRefusal
    refreshes_tokens: bool = True
    key_refusal_path: str = ""
    """The path that refuses a key, where a connection has no token that the network could forget."""
    first_read_path: str = ""
    """The path of the first request of the tree as faults name it, where it is not that of the request."""

    # -- amounts, days, targeting --
    native_amounts: Mapping[str, str]
    """The amounts of native payloads, and the field of an edit for each."""
    zero_amount: tuple[str, Mapping[str, Any], str] | None
    """A level, a payload whose amount is zero, and the amount's place; None where no adapter can tell."""
    takes_micros_of_every_currency: bool = False
    """Also of the yen: the network judges fractions itself."""
    fields_of_several_units: frozenset[str] = frozenset()
    """Fields whose unit depends on the entity."""
    bid_kind: str = "adGroup"
    """The kind of the entity that has the bid."""
    bid_strategy_without_limit: tuple[str, str] | None = None
    """The kind with the field ``bidStrategy``, and a value under which no bid is a limit; None without the field."""
    bid_removal: tuple[str, Mapping[str, Any]] | None = None
    """The kind and the payload of a native update after which no bid is a limit; None if the network has no bids."""
    targeting_change: tuple[str, Mapping[str, list[str]]] | None = None
    """A level, and a targeting that it takes."""
    targeting_places: tuple[str, ...] = ()
    """Where the body of an edit holds the whole targeting; () where it holds parts."""
    location_types: tuple[LocationType, ...] = ()
    country_level: str = ""
    """The level whose targeting names countries by ids, where they can be checked."""
    country_in_edit: str = ""
    """As ``country_in_brief``, in an edit of ``country_level``."""

    # -- entities and catalogs --
    missing_ids: Mapping[str, str] = {}
    """A well-formed id of nothing, by level; of others it is 999999999999999."""
    odd_ids: frozenset[tuple[str, str]] = frozenset()
    """Levels and what looks malformed elsewhere and may be an id here."""
    has_dense_ids: bool = False
    """Whether ids are counted up by one, so that a neighbour's exists."""
    parent_catalog: tuple[str, str] | None = None
    """The member of a native campaign that names something of the account, and the catalog in which it is found."""
    catalog_suffixes: Mapping[str, str] = {}
    """What is asked for after the colon of a catalog, where not every word will do."""
    restricted_catalogs: frozenset[str] = frozenset()
    """Catalogs that need a further consent."""

    # -- writes and reads --
    first_write_path: str
    """The path of the first write of a create, as faults name it."""
    creates_in_one_write: bool = False
    empty_answers: frozenset[str] = frozenset()
    """Actions whose good answer has no body: ``create``, ``activate``."""
    reads_before_changes: bool = False
    """Whether each entity is read before it is changed."""
    entity_reads: tuple[str, str] = ("GET", "/*")
    """The method and the path, as faults name them, of the requests that read entities."""
    unknown_error: Any
    """An error, given with status 200, that no table of the adapter has."""
    native_faults: Mapping[str, Ending] = {}
    """How an operation ends under the faults ``partial`` and ``error_in_200``, where the network has them."""
    add_next_page: Callable[[dict[str, Any], str], None]
    """Change the first answer of the tree so that it names another page, by this cursor."""
    counts_pages: bool = False
    """Whether the next page is counted by the client: no cursor can come twice."""
    quiet_days: QuietDay
    """A report of a day without delivery: a row of ``zeros``, no row (``zero``), or no row and no reason (``gap``)."""
    quiet_range: QuietDay | None = None
    """The same of a range without any delivery, where it differs."""


class MissingSamples(LookupError):
    """A network whose samples are missing or lack a fact."""


def list_case_folders() -> list[Path]:
    """The folders of cases of all networks, in alphabetical order of their codes in each place."""
    parents = (Path(place) for place in tests.networks.__path__)
    return [folder for parent in parents for folder in sorted(parent.iterdir()) if (folder / "exemplary").is_dir()]


def find_case_folder(code: str) -> Path:
    """Return the folder of a network's cases. Raises MissingSamples if it does not exist."""
    for folder in list_case_folders():
        if folder.name == code:
            return folder
    raise MissingSamples(f"tests/networks/{code}/exemplary is missing: each network has a folder of cases")


@cache
def list_own_cases() -> tuple[Case, ...]:
    """The cases of all networks."""
    return tuple(case for folder in list_case_folders() for case in read_cases(folder) if isinstance(case, Case))


@cache
def get_samples(code: str) -> Samples:
    """The samples of a network; MissingSamples names the file and what it lacks."""
    place = find_case_folder(code) / "samples.py"
    try:
        samples: Samples = import_module(f"tests.networks.{code}.samples").SAMPLES
    except (ModuleNotFoundError, AttributeError) as problem:
        raise MissingSamples(f"{place}: SAMPLES is missing ({problem})") from problem
    except TypeError as problem:  # attrs names the facts that the call leaves out
        raise MissingSamples(f"{place}: {problem}; tests/networks/samples.py says what each fact is") from problem
    return samples


BRIEFS = Path(__file__).parents[2] / "examples" / "briefs"


def list_example_briefs(code: str) -> list[Path]:
    """``<code>-<format>-<goal>-<period>.json`` in ``examples/briefs``, or in ``briefs`` of the folder of cases."""
    places = (BRIEFS, find_case_folder(code) / "briefs")
    return sorted(path for place in places for path in place.glob(f"{code}-*.json"))
