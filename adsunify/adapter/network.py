"""What an adapter is made of: the records that its tables hold.

A table cell is a constant, a pointer or a plain function. A capability that no table declares does not exist.
Each network's ``tables.py`` ends with ``NETWORK = Network(...)``, which holds all of its tables, so that shared
functions take one argument.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Literal

from attrs import Factory, field, frozen

from adsunify.adapter.insights import MissingDayMeaning
from adsunify.adapter.native_money import MoneyUnit
from adsunify.errors import Issue, invalid_input
from adsunify.http.messages import Request, Response
from adsunify.plans.records import Kind, Step, StepAction
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import Columns, get_text, get_value
from adsunify.values.time_formats import TimeFormat

if TYPE_CHECKING:
    from adsunify.models.brief import CampaignBrief

Goal = Literal["traffic", "awareness", "conversions", "app_installs"]
Period = Literal["daily", "lifetime"]
Verdict = Literal["rejected", "throttled", "ambiguous"]
Blame = Literal["input", "token", "permission", "not_found", "limit", "network"]
SettingUnit = Literal["text", "money", "instant", "day", "choice", "list", "number", "flag"]


@frozen
class Account:
    """An ad account as an adapter needs it. ``currency`` may be unknown; ``extras`` are the network's own facts."""

    network: str
    native_id: str
    currency: str | None = None
    timezone: str | None = None
    extras: Mapping[str, str] = field(factory=dict)


def split_words(names: str) -> tuple[str, ...]:
    """A table cell of many names, written as one text."""
    return tuple(names.split())


def require_currency(account: Account) -> str:
    """The account's currency; InvalidInput ``account_currency_unknown`` where it is not known yet."""
    if account.currency is None:
        raise invalid_input(
            "account.currency",
            "account_currency_unknown",
            "The account's currency is not known yet, so nothing that names money can be planned.",
        )
    return account.currency


def require_timezone(account: Account) -> str:
    """The account's time zone; InvalidInput ``account_timezone_unknown`` where it is not known yet."""
    if account.timezone is None:
        raise invalid_input(
            "account.timezone",
            "account_timezone_unknown",
            "The account's time zone is not known yet, so no day of the account can be determined.",
        )
    return account.timezone


# -- errors -------------------------------------------------------------------------------------------------------


@frozen
class ErrorRule:
    """One row of ERRORS: what a native code (or an exact HTTP status without a code) says about a write.

    ``codes`` are strings as ``Network.error`` finds them; ``"80000-80014"`` is a range of integers. ``actions``: the
    row counts only for these step actions. A row needs codes or a status; there is no catch-all row.
    """

    verdict: Verdict
    blame: Blame
    meaning: str
    codes: tuple[str, ...] = ()
    status: int | None = None
    actions: tuple[StepAction, ...] = ()


@frozen
class ParsedError:
    """The native error in an answer: its codes, most specific first, its text, and the network's request id."""

    codes: tuple[str, ...] = ()
    message: str | None = None
    request_id: str | None = None


@frozen
class ItemResult:
    """What a batch answer says of one sent item (``position`` in the array as sent): its id, or its error."""

    position: int
    id: str | None = None
    error: ParsedError | None = None


# -- formats ------------------------------------------------------------------------------------------------------


@frozen(eq=False)
class Input:
    """What a format does with one member of the brief. Rows are ordered; the first applicable row of a path wins.

    ``requirement``: ``required``; ``optional``; ``one`` (exactly one member of ``group``); ``any`` (at least one of
    it); ``refused`` (with the reason). A member without a row is refused. ``find_error`` returns what is wrong with a
    value, or None. ``choices``: the only values that are taken; a ``reason`` beside them says why the others are
    refused. ``is_exempt``: the row does not apply to accounts for which it is true; its ``reason`` names those it
    applies to.
    """

    path: str
    requirement: Literal["required", "optional", "one", "any", "refused"]
    goals: tuple[Goal, ...] = ()
    periods: tuple[Period, ...] = ()
    group: str = ""
    choices: tuple[str | bool, ...] = ()
    find_error: Callable[[Json], str | None] | None = None
    reason: str = ""
    accepted_form: str = ""
    is_exempt: Callable[[Account], bool] | None = None


FormatRule = Callable[[Account, "CampaignBrief", datetime | None], Iterable[Issue]]
"""A check that spans several members. ``now`` None: nothing is held against the present."""


@frozen(eq=False)
class Format:
    """One unified format: ``is_match`` says whether a brief (its members by path) is one; two matches are a defect."""

    code: str
    title: str
    goals: tuple[Goal, ...]
    periods: tuple[Period, ...]
    inputs: tuple[Input, ...]
    bid_meanings: Mapping[Goal, str]
    is_match: Callable[[Mapping[str, Json]], bool] = lambda members: True
    rules: tuple[FormatRule, ...] = ()
    notes: tuple[str, ...] = ()


# -- the native side ----------------------------------------------------------------------------------------------


NativeEntity = Mapping[str, Json]
"""A native entity as it was read."""


@frozen(eq=False, kw_only=True)
class PayloadRules:
    """Which members a native payload of a level may carry.

    ``create`` and ``update``: the members that a create and an update take; empty: the network judges them.
    ``read_only``: members that only the network writes. ``fixed``: members that no update changes. ``money``: members
    that decide what may be spent. ``create_statuses`` and ``update_statuses``: the native statuses that a payload may
    name; empty: those of ``Level.writable_statuses``.
    """

    create: Collection[str] = ()
    update: Collection[str] = ()
    read_only: Collection[str] = ()
    fixed: Collection[str] = ()
    money: Collection[str] = ()
    create_statuses: tuple[str, ...] = ()
    update_statuses: tuple[str, ...] = ()


@frozen(eq=False)
class Level:
    """One level of the native hierarchy.

    ``label``: the level in a sentence, where ``native`` is not the word for it. ``parent`` points at the parent's id in
    a native entity, ``id`` at its own; ``fields`` are read. A level that is only shown (keywords) has ``kind`` outside
    campaign, adGroup, ad. ``settings_context``: which members its settings show beside the fields, under ``targeting``,
    ``bidding``, ``creative``. ``id_pattern``: what an id looks like, whole. ``account``: where an entity says whose it
    is, in the words of ``Account.native_id``; left out where each request for one names the account, or what lies above
    it says so. ``payload``: what a native payload may carry.

    ``status`` points at the native status, or reads it as one word from several members (Outbrain: two flags).
    ``unified_statuses`` maps a native status to the unified one (``active``, ``paused``, ``archived``, ``deleted``);
    ``writable_statuses`` maps ``active`` / ``paused`` to the native status; ``initial_status``: the native status a
    create sends. ``status_members``: the members that a write of a native status sends, where they are not the member
    of ``status`` with that word. ``deletion_statuses``: the native status that a deletion sets, by the native status
    before it, "" for every other one; empty where a deletion is no change of status. ``status_filters``: native
    statuses a list takes.
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
    account: str | Callable[[Mapping[str, Json]], Json] = ""
    fields: tuple[str, ...] = ()
    unified_statuses: Mapping[str, str] = field(factory=dict)
    writable_statuses: Mapping[str, str] = field(factory=dict)
    status_filters: tuple[str, ...] = ()
    initial_status: str = ""
    status_members: Mapping[str, Mapping[str, Json]] = field(factory=dict)
    deletion_statuses: Mapping[str, str] = field(factory=dict)
    payload: PayloadRules = PayloadRules()
    settings_context: Mapping[str, tuple[str, ...]] = field(factory=dict)
    label: str = Factory(lambda level: level.native, takes_self=True)
    note: str = ""


@frozen(eq=False)
class Setting:
    """One editable field of a level.

    ``native`` points into the native entity; a function where the place depends on the entity (daily or lifetime
    budget). ``period``: the period of a budget. ``read`` gives the value shown (money in major units, as text) where
    the pointer alone does not; ``write`` gives pointer to native value for a new value (already converted to native
    units) where ``{native: value}`` is not it. ``cleared``: the native value that clears the field, sent without
    ``write``; None: ``write`` decides, or null is sent. ``lock``: a reason (always locked), or a function that gives
    one for an entity; its ``now`` is in the account's time zone. Unit ``instant``: shown and written by
    ``Network.time``; unit ``day``: a date or an instant, kept as a whole day. ``is_zero_unset``: natively, an amount of
    0 says that there is none. ``list_choices``: which of the choices an entity takes. ``native_names``: native names of
    an amount that ``native`` does not show; the refusal of such a name in an edit names the field to use. The field
    itself never carries a native unit. ``is_bulk_editable``: false for an amount or a number that only an edit of one
    entity changes.
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


@frozen(eq=False)
class EditMember:
    """What an edit of a level does with a member of ``targeting`` or ``creative``; without a row it is refused.

    ``path``: ``targeting.locations``; a row with a ``reason`` refuses its member, or the whole part where the path is
    ``targeting`` or ``creative``. ``field``: the setting that the member is as well. Of the items of a list the id
    counts; ``parse_type`` says which type an id is of, so that an item's ``type`` can be held against it (None: the id
    does not say), and ``radius_types`` which types take an item's ``radiusKm``. An empty ``targeting.locations`` is
    refused, unless the row has ``can_clear``: then another level holds the countries.
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
    """An allow-listed read-only list. ``suffix``: ``none``, ``optional`` or ``required`` (text after the colon).

    ``request`` builds the native request of one page from (account, suffix text, cursor, limit); ``items`` points at
    the list in the answer, or is a function that makes rows of what is no list of objects; ``id`` and ``name`` point
    into a row; ``next`` finds the next cursor in an answer, ``next_after`` in a request and its answer, where the
    answer alone does not say (an offset, a page number). A catalog of one page has neither.
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
class Metric:
    """One normalized figure: ``native`` points into a report row.

    ``unit``: ``count``, ``whole`` (a count that is left out where it is a fraction), ``decimal``, ``micros`` (a million
    to a major unit), ``cents`` (a hundred) or ``major``. ``read`` gives the values of some rows where the pointer alone
    does not. ``absent_value``: the value of a row that leaves the field out (None, or 0 where that is documented);
    ``absent_texts``: texts that leave it out.
    """

    name: Literal["impressions", "clicks", "spend", "conversions", "conversionValue", "videoViews", "reach"]
    native: str
    unit: Literal["count", "whole", "decimal", "micros", "cents", "major"]
    read: Callable[[Columns], list[Json]] | None = None
    absent_value: int | None = None
    absent_texts: tuple[str, ...] = ()
    note: str = ""


@frozen
class History:
    """How far back a network reports by days: so many days, or months, before today.

    ``timezone``: the zone of that today, where it is not the account's.
    """

    days: int = 0
    months: int = 0
    timezone: str | None = None


@frozen(eq=False)
class Template:
    """An example payload of the native create endpoints, in native names and units."""

    kind: Kind
    title: str
    payload: Mapping[str, Json]
    note: str = ""


@frozen(eq=False)
class Extra:
    """An account extra: ``name`` as in ``--account-extra``, what it is, whether an admin may set it.

    Pages show ``label`` beside the value, and no extra without a label. ``form`` is how a value reads: ``text`` as it
    is, ``flag`` (``true``, ``false``), ``words`` (a native constant or a list of some), ``native_amount`` (native units
    of the account's money), ``micros`` (a million to a major unit), ``seconds`` since 1970, ``instant`` (ISO 8601).
    ``texts`` has words for values that the form does not explain.
    """

    name: str
    meaning: str
    choices: tuple[str, ...] = ()
    is_settable: bool = True
    label: str = ""
    form: Literal["text", "flag", "words", "native_amount", "micros", "seconds", "instant"] = "text"
    texts: Mapping[str, str] = field(factory=dict)


@frozen
class Credential:
    """A member of a network's own credentials: its name in snake case, and the label of its field in a form.

    ``form``: a line of text, a line that is hidden while it is typed, or a text of several ``lines``.
    """

    name: str
    label: str
    form: Literal["text", "hidden", "lines"] = "text"


@frozen(eq=False)
class Login:
    """How accounts are connected. ``hosts`` of the consent page and the token endpoint stand in ``Network.hosts``.

    ``credentials``: the sets of members that connect a network of the kind ``credentials``; one of them is given whole.

    ``refresh_before_seconds``: seconds before its end at which a token that is used is renewed.
    """

    kind: Literal["oauth2", "oauth1", "credentials"]
    scopes: tuple[str, ...] = ()
    has_pkce: bool = False
    note: str = ""
    refresh_before_seconds: int = 5 * 60
    credentials: tuple[tuple[Credential, ...], ...] = ()


@frozen(eq=False)
class Network:
    """Everything the core needs to know of one network, as data and plain functions.

    ``hosts``: the only hosts that ever receive credentials. ``unit(account)``: the money unit. ``error(response)``: the
    native error in an answer (any answer, unreadable ones too; never raises), None where there is none.
    ``time``: how it writes the instants of schedules; None where it keeps whole days.
    ``wait(response)``: seconds the network asks to wait. ``items(step, request, response)``: what a batch answer says
    of each sent item, None where it cannot be read. ``money_note``: a sentence on native money units for people.
    ``missing_day``: what a day is that an answered report has no row of. ``history``: how far back the network reports
    by days, None where it documents no end.
    ``geographies``: pointers to the members of ``targeting.native`` that say where is served: nothing in them may be
    empty. Whether they may be left out is a matter of the formats.
    ``other_countries``: codes that it takes in ``targeting.countries`` beside those of ISO 3166-1.
    ``has_report_jobs``: insights may be an asynchronous job, so that a second read has to resume the first one's.
    ``has_whole_days``: a schedule is kept as whole days of the account's time zone, so that it starts at a midnight.
    ``other_names``: further words by which people search for the network. ``example_account_id``: a native account id
    of the right form, for plans that are only looked at.
    ``status_sent(kind, sent)``: the kind and the native status in what a step of that kind sent of one entity, where it
    does not stand there under the level's own name.
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
    edits: tuple[EditMember, ...] = ()
    money_note: str = ""
    has_report_jobs: bool = False
    geographies: tuple[str, ...] = ()
    other_countries: tuple[str, ...] = ()
    templates: tuple[Template, ...] = ()
    extras: tuple[Extra, ...] = ()
    sunset: date | None = None
    parse_retry_delay: Callable[[Response], float | None] = lambda response: None
    parse_item_results: Callable[[Step, Request, Response], Sequence[ItemResult] | None] = (
        lambda step, request, response: None
    )
    parse_sent_status: Callable[[str, Json], tuple[str, str | None]] | None = None
    notes: tuple[str, ...] = ()
    has_whole_days: bool = False
    other_names: tuple[str, ...] = ()
    example_account_id: str = "1"


def get_level(network: Network, kind: str) -> Level:
    """The level of a kind; InvalidInput where the network has none."""
    for one in network.levels:
        if one.kind == kind:
            return one
    kinds = ", ".join(one.kind for one in network.levels)
    raise invalid_input("kind", "level_not_supported", f"{network.title} has no {kind}; it has {kinds}.")


def list_locked_members(settings: Iterable[Setting], kind: Kind) -> tuple[str, ...]:
    """The native members of a level's settings that are always locked."""
    locked = [setting.native for setting in settings if setting.level == kind and isinstance(setting.lock, str)]
    return tuple(native.removeprefix("/") for native in locked if isinstance(native, str))


def unify_status(one: Level, native_status: Json) -> str | None:
    """The unified status of a native one; None where the table does not know it."""
    return one.unified_statuses.get(native_status) if isinstance(native_status, str) else None


def read_native_status(level: Level, entity: NativeEntity) -> str | None:
    """The native status of an entity; None where it does not say one."""
    status = get_text(entity, level.status) if isinstance(level.status, str) else level.status(entity)
    return status if isinstance(status, str) else None


def read_cell(entity: Mapping[str, Json], cell: str | Callable[[Mapping[str, Json]], Json]) -> Json:
    """What a cell that is a pointer or a function says of an entity."""
    return get_value(entity, cell) if isinstance(cell, str) else cell(entity)
