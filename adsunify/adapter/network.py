"""The records of a network's tables.

A cell of a table is a constant, a pointer or a plain function. A capability that no table declares does not exist.
The ``tables.py`` of each adapter ends with ``NETWORK = Network(...)``, which holds all its tables, so that shared
functions take one argument.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Literal

from attrs import Factory, field, frozen

from adsunify.adapter.account import Account
from adsunify.adapter.formats import Format, Period
from adsunify.adapter.insights import MissingDayMeaning
from adsunify.adapter.metrics import History, Metric, ReportLevel
from adsunify.adapter.native_money import MoneyUnit
from adsunify.errors import invalid_input
from adsunify.http.messages import Request, Response
from adsunify.plans.records import Action, Kind, Step, StepAction
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_text, get_value
from adsunify.values.time_formats import ISO_TIME, TimeFormat

REMOVED_STATUSES = ("archived", "deleted")
"""The unified statuses of removed entities: deleted, or archived at a network that does not delete."""
Verdict = Literal["rejected", "throttled", "ambiguous"]
Blame = Literal["input", "token", "permission", "not_found", "limit", "network"]
VISIBILITY_SECONDS = 900
"""Unverified: no network documents after how many seconds its lists show a new entity."""
SettingUnit = Literal["text", "money", "instant", "day", "choice", "list", "number", "flag"]


def split_words(names: str) -> tuple[str, ...]:
    """Return the words of a text, for table cells that hold many names."""
    return tuple(names.split())


@frozen
class ErrorRule:
    """One row of ERRORS: the meaning of a native error for a write.

    A row has codes or a status. No row covers all other errors.

    Attributes:
        verdict: whether the write was surely not applied (``rejected``, ``throttled``) or may be (``ambiguous``).
        codes: codes as ``Network.parse_error`` returns them. ``"80000-80014"`` is a range of integers.
        status: an HTTP status, for errors without a code.
        actions: the row applies to these step actions only; empty: to all of them.
    """

    verdict: Verdict
    blame: Blame
    meaning: str
    codes: tuple[str, ...] = ()
    status: int | None = None
    actions: tuple[StepAction, ...] = ()


@frozen
class ParsedError:
    """The native error of a response: its codes (most specific first), its text, and the network's request id."""

    codes: tuple[str, ...] = ()
    message: str | None = None
    request_id: str | None = None


@frozen
class ItemResult:
    """The result of one item of a batch: its id or its error. ``position`` is its index in the array as sent."""

    position: int
    id: str | None = None
    error: ParsedError | None = None


# -- the native side ----------------------------------------------------------------------------------------------


NativeEntity = Mapping[str, Json]
"""A native entity as a response contains it."""


@frozen(eq=False, kw_only=True)
class PayloadRules:
    """The members that a native payload of a level may have.

    Attributes:
        create: the members that a create accepts; empty: the network decides.
        update: the members that an update accepts; empty: the network decides.
        read_only: members that only the network writes.
        fixed: members that no update changes.
        neutral: members that do not change how much may be spent, or whose effect the settings of the level compute;
            ``budget/pacing`` is the member ``pacing`` of the object ``budget``, and ``budget/type=DAILY`` is neutral
            with this value only. Every other member that no setting computes makes the exposure of a plan unknown.
        bidding: members that decide whether a bid limits what is paid, such as the bid strategy -> the values under
            which a bid of the entity, or of an entity below it, is a limit. A change to another value leaves no known
            limit. At Google each strategy is an object: a bid is a limit if that object has a bid.
        budget_names: members that name a budget object. The amount of a named budget is not computed.
        create_statuses: the native statuses that a create may name; empty: those of ``Level.writable_statuses``.
        update_statuses: the native statuses that an update may name; empty: those of ``Level.writable_statuses``.
    """

    create: Collection[str] = ()
    update: Collection[str] = ()
    read_only: Collection[str] = ()
    fixed: Collection[str] = ()
    neutral: Collection[str] = ()
    bidding: Mapping[str, tuple[str, ...]] = field(factory=dict)
    budget_names: Collection[str] = ()
    create_statuses: tuple[str, ...] = ()
    update_statuses: tuple[str, ...] = ()


@frozen(eq=False)
class Level:
    """One level of the native hierarchy.

    Attributes:
        kind: ``campaign``, ``adGroup`` or ``ad``. Levels that are only shown, such as keywords, have another kind.
        native: the network's name of the level.
        path: the part of a request's address that names the level.
        id: the pointer to the id in a native entity.
        status: the pointer to the native status, or a function that returns one word for several members (Outbrain has
            two flags).
        id_pattern: a regular expression that matches a whole id.
        listed_output: the output of a create step that holds the id which lists show.
        account: the pointer to the account in an entity, in the form of ``Account.native_id``, or a function that
            returns the account. It is empty if each request for an entity, or an entity above it, names the account.
        fields: the fields that a read requests.
        unified_statuses: native status -> ``active``, ``paused``, ``archived`` or ``deleted``.
        writable_statuses: ``active`` and ``paused`` -> the native status that a write sends.
        status_filters: the native statuses by which callers may filter a list.
        initial_status: the native status that a create sends; empty if entities cannot be created paused.
        status_members: native status -> the members that a write of this status sends, if these are not just the one
            member that ``status`` points to.
        deletion_statuses: native status -> the status that a deletion sets; "" stands for every other status. It is
            empty if a deletion is not a change of status.
        is_deleted: whether an entity is deleted, if its native status does not say so.
        accepted_actions: native status -> the only actions that the network accepts on an entity in this status;
            ``create`` is the creation of an entity below it. In all other statuses the network accepts all actions,
            but none on a deleted entity.
        payload: the members that a native payload may have.
        review_status: the pointer to the status of the network's review; empty if no read shows it.
        disapproved_statuses: the values of ``review_status`` with which the review has refused the entity.
        settings_context: ``targeting``, ``bidding`` and ``creative`` -> the members that the settings show there.
        created: the pointer to the instant of creation in a native entity, or a function that returns it; empty if
            reads do not show it. ``Network.time`` reads the value (ISO 8601 without one).
        has_unique_name: the network accepts a name once among the entities of the same parent.
        hidden_statuses: the native statuses of entities that a list without a status leaves out. The search for the
            entity of an ambiguous write lists each of them as well. So a list accepts them as a filter even if they are
            not in ``status_filters``.
        compared: exceptions for the comparison of a sent create with a read. ``/creative/creative_id=/creative/id``:
            the read shows the sent member at the second pointer. A pointer without ``=``: the read shows the member in
            another form, so it is not compared. All other members are compared at the same pointer.
        catalog: the catalog that lists the entities if they have no list. The id of a parent follows a colon.
        visibility_seconds: the seconds after its creation in which every entity appears in the lists.
        label: the name of the level in sentences.
    """

    kind: str
    native: str
    path: str
    id: str
    name: str
    status: str | Callable[[NativeEntity], Json]
    parent: str = ""
    parent_kind: str = ""
    id_pattern: str = r"[0-9]+"
    listed_output: str = "id"
    account: str | Callable[[Mapping[str, Json]], Json] = ""
    fields: tuple[str, ...] = ()
    unified_statuses: Mapping[str, str] = field(factory=dict)
    writable_statuses: Mapping[str, str] = field(factory=dict)
    status_filters: tuple[str, ...] = ()
    initial_status: str = ""
    status_members: Mapping[str, Mapping[str, Json]] = field(factory=dict)
    deletion_statuses: Mapping[str, str] = field(factory=dict)
    is_deleted: Callable[[NativeEntity], bool] | None = None
    accepted_actions: Mapping[str, tuple[Action, ...]] = field(factory=dict)
    payload: PayloadRules = PayloadRules()
    review_status: str = ""
    disapproved_statuses: tuple[str, ...] = ()
    settings_context: Mapping[str, tuple[str, ...]] = field(factory=dict)
    created: str | Callable[[NativeEntity], datetime | None] = ""
    has_unique_name: bool = False
    hidden_statuses: tuple[str, ...] = ()
    compared: tuple[str, ...] = ()
    catalog: str = ""
    visibility_seconds: int = VISIBILITY_SECONDS
    label: str = Factory(lambda level: level.native, takes_self=True)
    note: str = ""


@frozen(eq=False)
class Setting:
    """One editable field of a level.

    Attributes:
        field: the name of the field. It never contains a native unit.
        native: the pointer to the value in a native entity, or a function that returns the pointer if it depends on the
            entity (a daily or a lifetime budget).
        unit: the type of the value. ``Network.time`` reads and writes an ``instant``. A ``day`` is given as a date
            or an instant and stored as a whole day.
        list_choices: returns the accepted values for an entity, a subset of ``choices``.
        minimum: the smallest number, or amount in major units.
        maximum: the largest number, or amount in major units.
        can_clear: whether "" clears the field.
        cleared: the native value that clears the field. It is sent without a call of ``write``. If it is None,
            ``write`` returns the value; without ``write``, null is sent.
        is_zero_unset: a native amount of 0 means that there is no amount.
        native_names: further native names of the amount. If an edit uses one of them, the error names this field.
        lock: the reason why the field is always locked, or a function that returns the reason for an entity. Its second
            argument is the present in the account's time zone.
        read: returns the displayed value (money in major units, as text), if it is not just the value at ``native``.
        write: returns pointer -> native value for a new value (already in native units), if the change is not just
            ``{native: value}``.
        is_bulk_editable: False for an amount or a number that a bulk edit cannot change.
        find_error: returns what is wrong with a new value in native units; None if it is valid. It is not called for
            a value that clears the field.
        counted_period: replaces ``period`` in the computation of exposures. It returns None if the entity does not hold
            the budget itself.
    """

    level: Kind
    field: str
    native: str | Callable[[NativeEntity], str]
    unit: SettingUnit = "text"
    period: Period | Callable[[NativeEntity], Period | None] | None = None
    choices: tuple[str, ...] = ()
    list_choices: Callable[[NativeEntity], Iterable[str]] | None = None
    minimum: str | Callable[[NativeEntity, Account], str] = ""
    maximum: str = ""
    max_length: int = 0
    can_clear: bool = False
    cleared: Json = None
    is_zero_unset: bool = False
    native_names: tuple[str, ...] = ()
    lock: str | Callable[[NativeEntity, datetime | None], str | None] | None = None
    read: Callable[[NativeEntity, Account], Json] | None = None
    write: Callable[[Json, NativeEntity, Account], Mapping[str, Json]] | None = None
    is_bulk_editable: bool = True
    note: str = ""
    find_error: Callable[[Json], str | None] | None = None
    counted_period: Callable[[NativeEntity], Period | None] | None = None


@frozen(eq=False)
class EditMember:
    """What an edit of a level does with a member of ``targeting`` or ``creative``. A member without a row is refused.

    Items of a list are identified by their ids. An empty ``targeting.locations`` is refused, unless the row has
    ``can_clear``.

    Attributes:
        path: the path of the member, such as ``targeting.locations``; or ``targeting`` or ``creative`` in a row that
            refuses the whole part.
        field: the setting that changes the same value.
        parse_type: returns the type in an id, to compare it with the item's ``type``; None if the id has no type.
        radius_types: the types of items that accept ``radiusKm``.
        can_clear: the list may be empty, because another level holds the countries.
        reason: why the member or the part is refused; empty if it is accepted.
    """

    level: Kind
    path: str
    field: str = ""
    parse_type: Callable[[str], str | None] | None = None
    radius_types: tuple[str, ...] = ()
    can_clear: bool = False
    reason: str = ""


@frozen(eq=False)
class Catalog:
    """A read-only list that callers may read. A catalog of one page has neither ``next`` nor ``next_after``.

    Attributes:
        request: builds the native request of a page from account, suffix, cursor and limit.
        items: the pointer to the list in a response, or a function that returns the rows of a response.
        id: the pointer to the id in a row, or a function that returns it.
        name: the pointer to the name in a row, or a function that returns it.
        next: returns the next cursor of a response.
        suffix: whether text after a colon is ``none``, ``optional`` or ``required``.
        next_after: returns the next cursor from a request and its response, if the response alone does not contain it
            (an offset, a page number).
    """

    resource: str
    request: Callable[[Account, str, str | None, int], Request]
    items: str | Callable[[Response], Sequence[Mapping[str, Json]]]
    id: str | Callable[[Mapping[str, Json]], str]
    name: str | Callable[[Mapping[str, Json]], str]
    next: Callable[[Response], str | None] | None = None
    suffix: Literal["none", "optional", "required"] = "none"
    note: str = ""
    next_after: Callable[[Request, Response], str | None] | None = None


@frozen(eq=False)
class Template:
    """An example payload of a native create, in native names and units."""

    kind: Kind
    title: str
    payload: Mapping[str, Json]
    note: str = ""


@frozen(eq=False)
class Extra:
    """A native fact of an account that plans depend on.

    Attributes:
        name: the name, as in ``--account-extra``.
        native: where an account in a response has the value, or a function that returns it; empty if it is not read
            from there. A ``flag`` is a boolean there.
        is_settable: whether an admin may set it.
        label: the name on pages. Pages do not show an extra without a label.
        form: how pages format the value: ``text`` (unchanged), ``flag`` (``true`` or ``false``), ``words`` (a native
            constant, or a list of constants), ``native_amount`` (native units of the account's money), ``micros`` (a
            million make a major unit), ``seconds`` (since 1970), ``instant`` (ISO 8601).
        texts: value -> its text on pages, for values that ``form`` does not explain.
    """

    name: str
    meaning: str
    choices: tuple[str, ...] = ()
    is_settable: bool = False
    label: str = ""
    form: Literal["text", "flag", "words", "native_amount", "micros", "seconds", "instant"] = "text"
    texts: Mapping[str, str] = field(factory=dict)
    native: str | Callable[[Mapping[str, Json]], str | None] = ""


@frozen
class Credential:
    """A member of the credentials that a network issues: its name in snake case, and its label in a form.

    ``form`` is a line of ``text``, a ``hidden`` line, or a text of several ``lines``.
    """

    name: str
    label: str
    form: Literal["text", "hidden", "lines"] = "text"


@frozen(eq=False)
class Login:
    """How accounts are connected. ``Network.hosts`` contains the hosts of the consent page and the token endpoint.

    Attributes:
        refresh_before_seconds: a token that expires within so many seconds is refreshed before it is used.
        credentials: the sets of members that connect a network of the kind ``credentials``. A caller gives one of
            them, whole.
    """

    kind: Literal["oauth2", "oauth1", "credentials"]
    scopes: tuple[str, ...] = ()
    has_pkce: bool = False
    note: str = ""
    refresh_before_seconds: int = 5 * 60
    credentials: tuple[tuple[Credential, ...], ...] = ()


@frozen
class Sunset:
    """The day on which the network ends the version of its API that the adapter uses.

    Attributes:
        day: the day.
        basis: where the day comes from, as a sentence.
        is_projected: the network has not announced the day. It is projected from the lifetime of earlier versions or,
            without such versions, is a year after the documentation was read.
    """

    day: date
    basis: str
    is_projected: bool = False


def project_sunset(read_on: date) -> Sunset:
    """Project the sunset of an API whose network announces no end and whose versions have no known lifetime.

    Args:
        read_on: the day on which the documentation was read last.
    """
    basis = f"No end is announced. The documentation was read on {read_on} and is to be read again within a year."
    return Sunset(read_on.replace(year=read_on.year + 1), basis, is_projected=True)


@frozen(eq=False)
class Network:
    """All facts about one network that shared code needs, as data and plain functions.

    Attributes:
        hosts: the only hosts that get credentials.
        get_money_unit: returns the money unit of an account.
        parse_error: returns the native error of a response, even of an unreadable one; None without an error. It never
            raises.
        missing_day: the meaning of a day without a row in a report.
        time: how the network writes the instants of schedules; None if it stores whole days.
        history: how far back the network reports by days; None if it documents no limit.
        report_levels: the levels below the account whose daily figures the network reports.
        money_note: a sentence for people about the native money units.
        has_report_jobs: insights may be an asynchronous job, so a second read resumes the job of the first.
        geographies: pointers to the members of ``targeting.native`` that say where ads are shown. No value in them may
            be empty. The formats say whether the members may be missing.
        other_countries: codes that ``targeting.countries`` accepts in addition to those of ISO 3166-1.
        sunset: when the network ends this version of its API; None if the day is neither announced nor projected.
        parse_retry_delay: returns the seconds that the network asks to wait; None if it gives no time.
        parse_item_results: returns the result of each item of a batch; None if the response is not readable.
        beside: objects outside the hierarchy that steps write and a catalog lists, such as budgets. Each has a kind of
            its own.
        parse_sent_status: returns the kind and the native status of an entity that a step of a given kind sent, for
            networks whose requests do not have the status at the pointer ``Level.status``.
        has_whole_days: the network stores schedules as whole days of the account, so a start must be a midnight.
        other_names: further words by which agents find the network.
        example_account_id: a native account id of the right form, for plans that are not executed.
        brief_catalogs: member of a brief, such as ``platform.pageId`` -> the catalog that lists its ids.
        build_validation: converts the request of a write to one that only validates; None if the network has none.
    """

    code: str
    title: str
    version: str
    hosts: tuple[str, ...]
    login: Login
    get_money_unit: Callable[[Account], MoneyUnit]
    parse_error: Callable[[Response], ParsedError | None]
    levels: tuple[Level, ...]
    formats: tuple[Format, ...]
    settings: tuple[Setting, ...]
    catalogs: tuple[Catalog, ...]
    metrics: tuple[Metric, ...]
    errors: tuple[ErrorRule, ...]
    missing_day: MissingDayMeaning
    time: TimeFormat | None = None
    history: History | None = None
    report_levels: tuple[ReportLevel, ...] = ()
    edits: tuple[EditMember, ...] = ()
    money_note: str = ""
    has_report_jobs: bool = False
    geographies: tuple[str, ...] = ()
    other_countries: tuple[str, ...] = ()
    templates: tuple[Template, ...] = ()
    extras: tuple[Extra, ...] = ()
    sunset: Sunset | None = None
    parse_retry_delay: Callable[[Response], float | None] = lambda response: None
    parse_item_results: Callable[[Step, Request, Response], Sequence[ItemResult] | None] = (
        lambda step, request, response: None
    )
    parse_sent_status: Callable[[str, Json], tuple[str, str | None]] | None = None
    beside: tuple[Level, ...] = ()
    notes: tuple[str, ...] = ()
    has_whole_days: bool = False
    other_names: tuple[str, ...] = ()
    example_account_id: str = "1"
    brief_catalogs: Mapping[str, str] = field(factory=dict)
    build_validation: Callable[[Request], Request] | None = None


def get_level(network: Network, kind: str) -> Level:
    """Return the level of a kind. Raises InvalidInput if the network has no such level."""
    for level in network.levels:
        if level.kind == kind:
            return level
    kinds = ", ".join(level.kind for level in network.levels)
    raise invalid_input("kind", "level_not_supported", f"{network.title} has no {kind}; it has {kinds}.")


def list_locked_members(settings: Iterable[Setting], kind: Kind) -> tuple[str, ...]:
    """Return the native members of a level that are always locked, according to its settings."""
    locked = [setting.native for setting in settings if setting.level == kind and isinstance(setting.lock, str)]
    return tuple(native.removeprefix("/") for native in locked if isinstance(native, str))


def unify_status(level: Level, native_status: Json) -> str | None:
    """Return the unified status of a native status; None if the table does not contain it."""
    return level.unified_statuses.get(native_status) if isinstance(native_status, str) else None


def read_native_status(level: Level, entity: NativeEntity) -> str | None:
    """Return the native status of an entity; None if the entity has none."""
    status = get_text(entity, level.status) if isinstance(level.status, str) else level.status(entity)
    return status if isinstance(status, str) else None


def read_status(level: Level, entity: NativeEntity) -> str | None:
    """Return the unified status of an entity; None if the table does not contain its native status."""
    if level.is_deleted is not None and level.is_deleted(entity):
        return "deleted"
    return unify_status(level, read_native_status(level, entity))


def read_creation_time(network: Network, level: Level, entity: NativeEntity) -> datetime | None:
    """Return the instant at which the network created an entity; None if the read does not show it."""
    if callable(level.created):
        return level.created(entity)
    value = get_value(entity, level.created) if level.created else None
    return (network.time or ISO_TIME).parse(value)


def read_cell(entity: Mapping[str, Json], cell: str | Callable[[Mapping[str, Json]], Json]) -> Json:
    """Return the value in an entity that a cell, a pointer or a function, leads to."""
    return get_value(entity, cell) if isinstance(cell, str) else cell(entity)


def first_text(*pointers: str) -> Callable[[Mapping[str, Json]], str]:
    """Make a cell that returns the first text at several pointers; empty if no pointer leads to a text."""
    return lambda entity: next((text for pointer in pointers if (text := get_text(entity, pointer))), "")
