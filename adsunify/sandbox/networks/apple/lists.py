"""POST /{word}/query: filters, sorting, pages."""

from collections.abc import Mapping, Sequence
from typing import Any

from adsunify.sandbox.checks import Check, array, boolean, choice, integer, record, rule_error, text
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.apple.answers import INSTANT, build_response, paginate, require_account
from adsunify.sandbox.networks.apple.entities import KIND_BY_COLLECTION, render_entity
from adsunify.sandbox.networks.apple.fields import APP_ID_CHECK
from adsunify.sandbox.networks.apple.tables import DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE
from adsunify.sandbox.parsing import InvalidRequest

_EQUALITY_OPERATORS, _MEMBERSHIP_OPERATORS = ("EQUALS",), ("EQUALS", "IN")
_TEXT_OPERATORS = ("EQUALS", "IN", "LIKE", "STARTS_WITH", "ENDS_WITH")
_COMPARISON_OPERATORS = ("LESS_THAN", "GREATER_THAN")
_ID_CHECK = integer(1)
_TIME_FILTER: tuple[Check, tuple[str, ...]] = (
    INSTANT.check,
    (*_COMPARISON_OPERATORS, "LESS_THAN_OR_EQUAL", "GREATER_THAN_OR_EQUAL"),
)
Filters = Mapping[str, tuple[Check, tuple[str, ...]]]
# By path word: the fields, with the check of their values and their operators.
FILTERS_BY_COLLECTION: Mapping[str, Filters] = {
    "campaigns": {
        "id": (_ID_CHECK, _MEMBERSHIP_OPERATORS),
        "name": (text(), _TEXT_OPERATORS),
        **{
            name: (text(), _MEMBERSHIP_OPERATORS) for name in ("status", "systemStatus", "billingEvent", "paymentModel")
        },
        "promotedObjectType": (text(), ("EQUALS", "IN", "NOT_EQUALS", "NOT_IN")),
        "promotedObjectId": (APP_ID_CHECK, ("EQUALS", "IN", "NOT_EQUALS", "NOT_IN")),
        **dict.fromkeys(("startTime", "endTime", "creationTime", "modificationTime"), _TIME_FILTER),
        "deleted": (boolean, _MEMBERSHIP_OPERATORS),
    },
    "adgroups": {
        "id": (_ID_CHECK, _MEMBERSHIP_OPERATORS),
        "campaignId": (_ID_CHECK, _EQUALITY_OPERATORS),
        "name": (text(), ("EQUALS", "STARTS_WITH")),
        "status": (text(), _MEMBERSHIP_OPERATORS),
        "startTime": (INSTANT.check, _COMPARISON_OPERATORS),
        "endTime": (INSTANT.check, _COMPARISON_OPERATORS),
        "deleted": (boolean, _EQUALITY_OPERATORS),
    },
    "ads": {
        "id": (_ID_CHECK, _MEMBERSHIP_OPERATORS),
        **dict.fromkeys(("campaignId", "adGroupId", "creativeId"), (_ID_CHECK, _EQUALITY_OPERATORS)),
        "status": (text(), _MEMBERSHIP_OPERATORS),
        "deleted": (boolean, _EQUALITY_OPERATORS),
    },
    "keywords": {
        "id": (_ID_CHECK, _MEMBERSHIP_OPERATORS),
        "adGroupId": (_ID_CHECK, _MEMBERSHIP_OPERATORS),
        "campaignId": (_ID_CHECK, _EQUALITY_OPERATORS),
        "text": (text(), ("EQUALS", "STARTS_WITH")),
        "matchType": (text(), _MEMBERSHIP_OPERATORS),
        "status": (text(), _MEMBERSHIP_OPERATORS),
        "deleted": (boolean, _EQUALITY_OPERATORS),
    },
    "creatives": {
        "id": (_ID_CHECK, _MEMBERSHIP_OPERATORS),
        "name": (text(), _TEXT_OPERATORS),
        **dict.fromkeys(("creativeType", "systemStatus", "eligibility.status"), (text(), _MEMBERSHIP_OPERATORS)),
        "deleted": (boolean, _EQUALITY_OPERATORS),
    },
}
PAGINATION_CHECK = record(optional={"offset": integer(0), "pageSize": integer(1), "fetchTotalCount": boolean})
_FILTER_CHECK = record(
    required={"field": text(), "operator": text(), "value": lambda value, where: value},
    optional={"ignoreCase": boolean},
)
_BODY_CHECK = record(
    optional={
        "filters": array(_FILTER_CHECK),
        "sorting": array(record(required={"field": text(), "order": choice("ASC", "DESC")})),
        "pagination": PAGINATION_CHECK,
    }
)
_LIST_OPERATORS = ("IN", "NOT_IN")
_MAX_PARENTS = 1000


def query_entities(request: Request) -> Response:
    """POST /{word}/query."""
    request.parse_query()
    word, account = request.path_parameters["word"], require_account(request)
    query = request.parse_json(_BODY_CHECK)
    filters = check_filters(query.get("filters", []), FILTERS_BY_COLLECTION[word])
    if word == "keywords" and not any(condition["field"] in ("id", "adGroupId", "campaignId") for condition in filters):
        raise InvalidRequest("required", "/filters", "keywords need a filter of adGroupId, campaignId or id")
    if not any(condition["field"] == "deleted" for condition in filters):
        filters.append({"field": "deleted", "operator": "EQUALS", "value": False})
    rows = [
        render_entity(request.world, condition)
        for condition in request.world.list_entities(KIND_BY_COLLECTION[word], account.id)
    ]
    payment = {"paymentModel": account.extra["native"]["paymentModel"]} if word == "campaigns" else {}
    selected_rows = [
        row for row in rows if all(_matches_filter({**row, **payment}, condition) for condition in filters)
    ]
    return build_page_response(selected_rows, query)


def check_filters(filters: list[dict[str, Any]], fields: Filters) -> list[dict[str, Any]]:
    """The filters of a query. Raises InvalidRequest for a field, operator or value that is not in the table."""
    for position, condition in enumerate(filters):
        where = f"/filters/{position}"
        if condition["field"] not in fields:
            raise InvalidRequest("value", f"{where}/field", f"cannot be filtered: {condition['field']}")
        check, operators = fields[condition["field"]]
        if condition["operator"] not in operators:
            raise InvalidRequest("value", f"{where}/operator", f"must be one of {', '.join(operators)}")
        if condition["operator"] in _LIST_OPERATORS:
            array(check, 1, _MAX_PARENTS)(condition["value"], f"{where}/value")
        else:
            check(condition["value"], f"{where}/value")
    return filters


def build_page_response(
    selected_rows: Sequence[dict[str, Any]], query: Mapping[str, Any], name: str = "id"
) -> Response:
    """Return one page of a list, in the order of `sorting`. Without `sorting`, rows are in the order of creation."""
    for order in reversed(query.get("sorting", [])):
        if any(order["field"] not in row for row in selected_rows):
            raise rule_error("/sorting", f"cannot be sorted by {order['field']}")
        selected_rows = sorted(selected_rows, key=lambda row: row[order["field"]], reverse=order["order"] == "DESC")
    paging = query.get("pagination", {})
    size = min(paging.get("pageSize", DEFAULT_PAGE_SIZE), MAX_PAGE_SIZE)
    rows, pagination = paginate(
        selected_rows, paging.get("offset", 0), size, total=paging.get("fetchTotalCount", False)
    )
    return build_response({"result": rows, "pagination": pagination})


def _matches_filter(row: Mapping[str, Any], condition: Mapping[str, Any]) -> bool:
    value: Any = row
    for name in condition["field"].split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    expected, operator = condition["value"], str(condition["operator"])
    if value is None:
        return operator in ("NOT_EQUALS", "NOT_IN")
    if condition.get("ignoreCase") and isinstance(value, str):
        value = value.lower()
        expected = [str(item).lower() for item in expected] if isinstance(expected, list) else str(expected).lower()
    match operator:
        case "EQUALS" | "NOT_EQUALS":
            return bool(value == expected) == (operator == "EQUALS")
        case "IN" | "NOT_IN":
            return bool(value in expected) == (operator == "IN")
        case "LIKE":  # taken as "contains", without wildcards (our choice: Apple's documentation does not say)
            return bool(expected in value)
        case "STARTS_WITH":
            return bool(value.startswith(expected))
        case "ENDS_WITH":
            return bool(value.endswith(expected))
    below, same = operator.startswith("LESS"), operator.endswith("EQUAL")
    return (same and value == expected) or bool(value < expected if below else value > expected)
