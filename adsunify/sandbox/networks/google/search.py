"""`googleAds:search` and `geoTargetConstants:suggest`."""

import hashlib
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from attrs import frozen

from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.google import catalogs, messages
from adsunify.sandbox.networks.google.connect import require_account
from adsunify.sandbox.networks.google.errors import build_response
from adsunify.sandbox.networks.google.gaql import Condition, Query, compile_like, parse_query, query_error
from adsunify.sandbox.networks.google.reports import Row
from adsunify.sandbox.networks.google.rows import ROWS_BY_SOURCE
from adsunify.sandbox.networks.google.tables import JOINED_RESOURCES, QUERY_FIELDS, SEARCH_MESSAGE, SUGGEST_MESSAGE
from adsunify.sandbox.paging import CursorFormat, paginate_from
from adsunify.sandbox.parsing import InvalidRequest

_EQUALITY_OPERATORS, _ORDER_OPERATORS, _LIKE_OPERATORS = (
    ("=", "!=", "IN", "NOT IN"),
    (">", ">=", "<", "<=", "BETWEEN"),
    ("LIKE", "NOT LIKE"),
)
_MAX_VALUES = 20_000  # of the operator IN
# kind -> operators, the type of a value, and the default of an absent value
_COMPARISON_BY_TYPE: Mapping[str, tuple[tuple[str, ...], type, Any]] = {
    "enum": (_EQUALITY_OPERATORS, str, messages.UNSET_ENUM_VALUES[0]),
    "text": ((*_EQUALITY_OPERATORS, *_ORDER_OPERATORS, *_LIKE_OPERATORS), str, ""),
    "boolean": (("=", "!="), bool, False),
    **dict.fromkeys(("integer", "money", "whole", "number"), ((*_EQUALITY_OPERATORS, *_ORDER_OPERATORS), int, 0)),
}
_TEST_BY_OPERATOR: Mapping[str, Callable[[Any, tuple[Any, ...]], bool]] = {
    "=": lambda value, operands: bool(value == operands[0]),
    "!=": lambda value, operands: bool(value != operands[0]),
    ">": lambda value, operands: bool(value > operands[0]),
    ">=": lambda value, operands: bool(value >= operands[0]),
    "<": lambda value, operands: bool(value < operands[0]),
    "<=": lambda value, operands: bool(value <= operands[0]),
    "BETWEEN": lambda value, operands: bool(operands[0] <= value <= operands[1]),
    "IN": lambda value, operands: value in operands,
    "NOT IN": lambda value, operands: value not in operands,
    "LIKE": lambda value, operands: compile_like(operands[0])(value),
    "NOT LIKE": lambda value, operands: not compile_like(operands[0])(value),
}


@frozen
class QueryField:
    """A field of a query: `campaign.network_settings.target_google_search`."""

    resource: str
    path: tuple[str, ...]
    kind: messages.FieldType

    def get_value(self, row: Row) -> Any:
        """The value of the field in a row, or None."""
        return messages.get_at_path(row.get(self.resource), self.path)

    @property
    def mask_path(self) -> str:
        """The path of the field in `fieldMask`."""
        return ".".join((messages.to_camel_case(self.resource), *self.path))


def make_search_handler(page_size: int) -> Callable[[Request], Response]:
    """The handler of searches with pages of `page_size` rows."""

    def handler(request: Request) -> Response:
        account = require_account(request)
        content = messages.parse_message(request, SEARCH_MESSAGE)
        if "pageSize" in content:
            raise InvalidRequest("requestError.PAGE_SIZE_NOT_SUPPORTED", "/pageSize", "The page size is fixed.")
        if not content.get("query"):
            raise InvalidRequest("requestError.REQUIRED_FIELD_MISSING", "/query", "A query is required.")
        query = parse_query(content["query"])
        if query.source not in ROWS_BY_SOURCE:
            raise query_error("BAD_RESOURCE_TYPE_IN_FROM_CLAUSE", f"{query.source!r} cannot stand after FROM")
        selected = [_require_query_field(query, name, "SELECT") for name in query.select]
        tests = [_compile_condition(query, condition) for condition in query.conditions]
        order = [(_require_sort_field(query, name), descending) for name, descending in query.order]
        rows = [
            row for row in ROWS_BY_SOURCE[query.source](request, account, query) if all(test(row) for test in tests)
        ]
        for name, descending in reversed(order):
            rows.sort(key=partial(_get_comparable_value, name), reverse=descending)
        rows = rows[: query.limit]
        mark = hashlib.sha256(f"{account.id} {content['query']}".encode()).hexdigest()[:16]
        cursors = CursorFormat(
            "/pageToken",
            f"{mark} ",
            is_url_safe=True,
            code="requestError.INVALID_PAGE_TOKEN",
            message="The page token is not of this query.",
        )
        page, token = paginate_from(rows, content.get("pageToken") or None, page_size, cursors)
        body: dict[str, Any] = {"fieldMask": ",".join(query_field.mask_path for query_field in selected)}
        if page:
            body["results"] = [_render_row(selected, row) for row in page]
        if token is not None:
            body["nextPageToken"] = token
        if messages.get_at_path(content, ("searchSettings", "returnTotalResultsCount")) and rows:
            body["totalResultsCount"] = str(len(rows))
        return build_response(body)

    return handler


def suggest_geo_targets(request: Request) -> Response:
    """Places by name, or by resource name."""
    body = messages.parse_message(request, SUGGEST_MESSAGE)
    names, targets = (
        messages.get_at_path(body, ("locationNames", "names")),
        messages.get_at_path(body, ("geoTargets", "geoTargetConstants")),
    )
    if not names and not targets:
        code = "geoTargetConstantSuggestionError.REQUEST_PARAMETERS_UNSET"
        raise InvalidRequest(code, "/locationNames/names", "Location names or geo targets are required.")
    if len(names or targets) > 25:
        raise InvalidRequest(
            "geoTargetConstantSuggestionError.LOCATION_NAME_LIMIT", "/locationNames/names", "25 at most."
        )
    country, places = body.get("countryCode"), [catalogs.find_geo_target(place_id) for place_id in catalogs.COUNTRIES]
    places += [catalogs.find_geo_target(place_id) for place_id in catalogs.LOCATIONS]
    if country is not None and country not in catalogs.COUNTRIES.values():
        raise InvalidRequest(
            "geoTargetConstantSuggestionError.INVALID_COUNTRY_CODE", "/countryCode", "No such country."
        )
    suggestions = []
    for term in names or targets:
        for place in places:
            if place is None or country not in (None, place["countryCode"]):
                continue
            fits = place["resourceName"] == term if targets else place["name"].lower().startswith(term.lower())
            if fits:
                kind = messages.FieldType("message", fields=QUERY_FIELDS["geo_target_constant"])
                suggestions.append(
                    {
                        "locale": body.get("locale", "en"),
                        "reach": "1000000",
                        "searchTerm": term,
                        "geoTargetConstant": messages.render_value(kind, place),
                    }
                )
    return build_response({"geoTargetConstantSuggestions": suggestions} if suggestions else {})


def _require_query_field(query: Query, name: str, clause: str) -> QueryField:
    """The field of a name, if this query may use it."""
    resource, *path = name.split(".")
    if resource not in QUERY_FIELDS:
        raise query_error("UNRECOGNIZED_FIELD", f"unrecognized field {name!r}")
    names = tuple(messages.to_camel_case(query_field) for query_field in path)
    query_field = messages.find_field(QUERY_FIELDS[resource], names)
    if query_field is None:
        raise query_error("UNRECOGNIZED_FIELD", f"unrecognized field {name!r}")
    if resource != query.source and resource not in JOINED_RESOURCES[query.source]:
        where = "SELECT_OR_WHERE" if resource in ("metrics", "segments") else clause
        kind = {"metrics": "METRIC", "segments": "SEGMENT"}.get(resource, "RESOURCE_TYPE")
        raise query_error(f"PROHIBITED_{kind}_IN_{where}_CLAUSE", f"{name!r} does not go with FROM {query.source}")
    if query_field.kind.name == "message":
        raise query_error(f"PROHIBITED_FIELD_IN_{clause}_CLAUSE", f"{name!r} holds fields: name one of them")
    return QueryField(resource, names, query_field.kind)


def _require_sort_field(query: Query, name: str) -> QueryField:
    query_field = _require_query_field(query, name, "WHERE")
    if query_field.resource in ("metrics", "segments") and name not in query.select:
        raise query_error("EXPECTED_REFERENCED_FIELD_IN_SELECT_CLAUSE", f"{name!r} must be selected")
    if query_field.kind.name not in _COMPARISON_BY_TYPE:
        raise query_error("PROHIBITED_FIELD_IN_ORDER_BY_CLAUSE", f"{name!r} cannot be ordered by")
    return query_field


def _compile_condition(query: Query, condition: Condition) -> Callable[[Row], bool]:
    """Return a test whether a row meets a condition."""
    query_field = _require_query_field(query, condition.field, "WHERE")
    if query_field.kind.name not in _COMPARISON_BY_TYPE:
        raise query_error("PROHIBITED_FIELD_IN_WHERE_CLAUSE", f"{condition.field!r} cannot be compared")
    operators, value_type, _ = _COMPARISON_BY_TYPE[query_field.kind.name]
    if condition.operator not in operators:
        raise query_error("OPERATOR_FIELD_MISMATCH", f"{condition.operator} does not go with {condition.field!r}")
    if len(condition.values) > _MAX_VALUES:
        raise query_error("FILTER_HAS_TOO_MANY_VALUES", f"a filter takes at most {_MAX_VALUES} values")
    for value in condition.values:
        if type(value) is not value_type:
            raise query_error("BAD_VALUE", f"{value!r} is no value for {condition.field!r}")
        if query_field.kind.name == "enum" and value not in (*query_field.kind.choices, *messages.UNSET_ENUM_VALUES):
            raise query_error("BAD_ENUM_CONSTANT", f"{value!r} is no value of {condition.field!r}")
        if condition.field == "segments.date" and not re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", str(value)):
            raise query_error("INVALID_DATE_FORMAT", f"{value!r} is no date (yyyy-MM-dd)")
        if condition.operator in _LIKE_OPERATORS:
            compile_like(str(value))
    test = _TEST_BY_OPERATOR[condition.operator]
    return lambda row: test(_get_comparable_value(query_field, row), condition.values)


def _get_comparable_value(query_field: QueryField, row: Row) -> Any:
    """The value to compare and to order by; an absent value is the default of its type."""
    value = query_field.get_value(row)
    return _COMPARISON_BY_TYPE[query_field.kind.name][2] if value is None else value


def _render_row(selected: list[QueryField], row: Row) -> dict[str, Any]:
    """The selected fields, nested by resource; default values are left out."""
    result: dict[str, Any] = {}
    for query_field in selected:
        at = result.setdefault(messages.to_camel_case(query_field.resource), {})
        if value := query_field.get_value(row):
            for name in query_field.path[:-1]:
                at = at.setdefault(name, {})
            at[query_field.path[-1]] = messages.render_value(query_field.kind, value)
    return result
