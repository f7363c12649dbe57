"""`googleAds:search` and `geoTargetConstants:suggest`."""

import base64
import binascii
import hashlib
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from attrs import frozen

from adsunify.sandbox.framework import Answer, Problem, Request
from adsunify.sandbox.networks.google import catalogs
from adsunify.sandbox.networks.google.connect import customer
from adsunify.sandbox.networks.google.errors import answer
from adsunify.sandbox.networks.google.gaql import Condition, Query, like, parse, refused
from adsunify.sandbox.networks.google.messages import UNSET, Kind, camel, found, received, shown, valued
from adsunify.sandbox.networks.google.rows import SOURCES, Row
from adsunify.sandbox.networks.google.tables import JOINED, QUERIED, SEARCH, SUGGEST

_EQUAL, _ORDERED, _LIKE = ("=", "!=", "IN", "NOT IN"), (">", ">=", "<", "<=", "BETWEEN"), ("LIKE", "NOT LIKE")
# kind -> operators, the type of a value, and what stands for an absent one
_TYPES: Mapping[str, tuple[tuple[str, ...], type, Any]] = {
    "enum": (_EQUAL, str, UNSET[0]),
    "text": ((*_EQUAL, *_ORDERED, *_LIKE), str, ""),
    "boolean": (("=", "!="), bool, False),
    **dict.fromkeys(("integer", "money", "whole", "number"), ((*_EQUAL, *_ORDERED), int, 0)),
}
_TESTS: Mapping[str, Callable[[Any, tuple[Any, ...]], bool]] = {
    "=": lambda value, given: bool(value == given[0]),
    "!=": lambda value, given: bool(value != given[0]),
    ">": lambda value, given: bool(value > given[0]),
    ">=": lambda value, given: bool(value >= given[0]),
    "<": lambda value, given: bool(value < given[0]),
    "<=": lambda value, given: bool(value <= given[0]),
    "BETWEEN": lambda value, given: bool(given[0] <= value <= given[1]),
    "IN": lambda value, given: value in given,
    "NOT IN": lambda value, given: value not in given,
    "LIKE": lambda value, given: like(given[0])(value),
    "NOT LIKE": lambda value, given: not like(given[0])(value),
}


@frozen
class Named:
    """A field of a query: `campaign.network_settings.target_google_search`."""

    resource: str
    path: tuple[str, ...]
    kind: Kind

    def of(self, row: Row) -> Any:
        """Its value in a row, or None."""
        return valued(row.get(self.resource), self.path)

    @property
    def mask(self) -> str:
        """Its path in `fieldMask`."""
        return ".".join((camel(self.resource), *self.path))


def search(page_size: int) -> Callable[[Request], Answer]:
    """The handler, with pages of so many rows."""

    def handler(request: Request) -> Answer:
        account = customer(request)
        given = received(request, SEARCH)
        if "pageSize" in given:
            raise Problem("requestError.PAGE_SIZE_NOT_SUPPORTED", "/pageSize", "The page size is fixed.")
        if not given.get("query"):
            raise Problem("requestError.REQUIRED_FIELD_MISSING", "/query", "A query is required.")
        query = parse(given["query"])
        if query.source not in SOURCES:
            raise refused("BAD_RESOURCE_TYPE_IN_FROM_CLAUSE", f"{query.source!r} cannot stand after FROM")
        selected = [_named(query, name, "SELECT") for name in query.select]
        tests = [_test(query, one) for one in query.conditions]
        order = [(_ordered(query, name), descending) for name, descending in query.order]
        rows = [row for row in SOURCES[query.source](request, account, query) if all(test(row) for test in tests)]
        for name, descending in reversed(order):
            rows.sort(key=partial(_value, name), reverse=descending)
        rows = rows[: query.limit]
        mark = hashlib.sha256(f"{account.id} {given['query']}".encode()).hexdigest()[:16]
        start = _start(given["pageToken"], mark, len(rows)) if given.get("pageToken") else 0
        body: dict[str, Any] = {"fieldMask": ",".join(one.mask for one in selected)}
        if page := [_row(selected, row) for row in rows[start : start + page_size]]:
            body["results"] = page
        if start + page_size < len(rows):
            body["nextPageToken"] = base64.urlsafe_b64encode(f"{mark} {start + page_size}".encode()).decode()
        if valued(given, ("searchSettings", "returnTotalResultsCount")) and rows:
            body["totalResultsCount"] = str(len(rows))
        return answer(body)

    return handler


def suggest(request: Request) -> Answer:
    """Places by name, or by resource name."""
    given = received(request, SUGGEST)
    names, targets = valued(given, ("locationNames", "names")), valued(given, ("geoTargets", "geoTargetConstants"))
    if not names and not targets:
        code = "geoTargetConstantSuggestionError.REQUEST_PARAMETERS_UNSET"
        raise Problem(code, "/locationNames/names", "Location names or geo targets are required.")
    if len(names or targets) > 25:
        raise Problem("geoTargetConstantSuggestionError.LOCATION_NAME_LIMIT", "/locationNames/names", "25 at most.")
    country, places = given.get("countryCode"), [catalogs.geo_target(one) for one in catalogs.COUNTRIES]
    places += [catalogs.geo_target(one) for one in catalogs.PLACES]
    if country is not None and country not in catalogs.COUNTRIES.values():
        raise Problem("geoTargetConstantSuggestionError.INVALID_COUNTRY_CODE", "/countryCode", "No such country.")
    suggestions = []
    for term in names or targets:
        for place in places:
            if place is None or country not in (None, place["countryCode"]):
                continue
            fits = place["resourceName"] == term if targets else place["name"].lower().startswith(term.lower())
            if fits:
                kind = Kind("message", fields=QUERIED["geo_target_constant"])
                suggestions.append({"locale": given.get("locale", "en"), "reach": "1000000", "searchTerm": term,
                                    "geoTargetConstant": shown(kind, place)})  # fmt: skip
    return answer({"geoTargetConstantSuggestions": suggestions} if suggestions else {})


def _named(query: Query, name: str, clause: str) -> Named:
    """The field of a name, if it may stand in this query."""
    resource, *path = name.split(".")
    if resource not in QUERIED:
        raise refused("UNRECOGNIZED_FIELD", f"unrecognized field {name!r}")
    names = tuple(camel(one) for one in path)
    one = found(QUERIED[resource], names)
    if one is None:
        raise refused("UNRECOGNIZED_FIELD", f"unrecognized field {name!r}")
    if resource != query.source and resource not in JOINED[query.source]:
        where = "SELECT_OR_WHERE" if resource in ("metrics", "segments") else clause
        kind = {"metrics": "METRIC", "segments": "SEGMENT"}.get(resource, "RESOURCE_TYPE")
        raise refused(f"PROHIBITED_{kind}_IN_{where}_CLAUSE", f"{name!r} does not go with FROM {query.source}")
    if one.kind.name == "message":
        raise refused(f"PROHIBITED_FIELD_IN_{clause}_CLAUSE", f"{name!r} holds fields: name one of them")
    return Named(resource, names, one.kind)


def _ordered(query: Query, name: str) -> Named:
    named = _named(query, name, "WHERE")
    if named.resource in ("metrics", "segments") and name not in query.select:
        raise refused("EXPECTED_REFERENCED_FIELD_IN_SELECT_CLAUSE", f"{name!r} must be selected")
    if named.kind.name not in _TYPES:
        raise refused("PROHIBITED_FIELD_IN_ORDER_BY_CLAUSE", f"{name!r} cannot be ordered by")
    return named


def _test(query: Query, condition: Condition) -> Callable[[Row], bool]:
    """Whether a row meets a condition."""
    named = _named(query, condition.field, "WHERE")
    if named.kind.name not in _TYPES:
        raise refused("PROHIBITED_FIELD_IN_WHERE_CLAUSE", f"{condition.field!r} cannot be compared")
    operators, held, _ = _TYPES[named.kind.name]
    if condition.operator not in operators:
        raise refused("OPERATOR_FIELD_MISMATCH", f"{condition.operator} does not go with {condition.field!r}")
    for value in condition.values:
        if type(value) is not held:
            raise refused("BAD_VALUE", f"{value!r} is no value for {condition.field!r}")
        if named.kind.name == "enum" and value not in (*named.kind.choices, *UNSET):
            raise refused("BAD_ENUM_CONSTANT", f"{value!r} is no value of {condition.field!r}")
        if condition.field == "segments.date" and not re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", str(value)):
            raise refused("INVALID_DATE_FORMAT", f"{value!r} is no date (yyyy-MM-dd)")
        if condition.operator in _LIKE:
            like(str(value))
    test = _TESTS[condition.operator]
    return lambda row: test(_value(named, row), condition.values)


def _value(named: Named, row: Row) -> Any:
    """The value to compare and to order by; an absent one is the default of its type."""
    value = named.of(row)
    return _TYPES[named.kind.name][2] if value is None else value


def _row(selected: list[Named], row: Row) -> dict[str, Any]:
    """The selected fields, nested by resource; default values are left out."""
    result: dict[str, Any] = {}
    for one in selected:
        at = result.setdefault(camel(one.resource), {})
        if value := one.of(row):
            for name in one.path[:-1]:
                at = at.setdefault(name, {})
            at[one.path[-1]] = shown(one.kind, value)
    return result


def _start(token: str, mark: str, rows: int) -> int:
    """Where a page token of this very query goes on."""
    try:
        held, _, start = base64.b64decode(token, altchars=b"-_", validate=True).decode().partition(" ")
        if held == mark and 0 < int(start) < rows:
            return int(start)
    except (binascii.Error, ValueError):
        pass
    raise Problem("requestError.INVALID_PAGE_TOKEN", "/pageToken", "The page token is not of this query.")
