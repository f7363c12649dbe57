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
# Word of the path: fields with the check of their values and their operators.
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
    asked = request.parse_json(_BODY_CHECK)
    filters = check_filters(asked.get("filters", []), FILTERS_BY_COLLECTION[word])
    if word == "keywords" and not any(one["field"] in ("id", "adGroupId", "campaignId") for one in filters):
        raise InvalidRequest("required", "/filters", "keywords need a filter of adGroupId, campaignId or id")
    if not any(one["field"] == "deleted" for one in filters):
        filters.append({"field": "deleted", "operator": "EQUALS", "value": False})
    rows = [
        render_entity(request.world, one) for one in request.world.list_entities(KIND_BY_COLLECTION[word], account.id)
    ]
    payment = {"paymentModel": account.extra["native"]["paymentModel"]} if word == "campaigns" else {}
    found = [row for row in rows if all(_matches_filter({**row, **payment}, one) for one in filters)]
    return build_page_response(found, asked)


def check_filters(filters: list[dict[str, Any]], known: Filters) -> list[dict[str, Any]]:
    """The filters of a query. Problem where a field, an operator or a value is not of the table."""
    for position, one in enumerate(filters):
        where = f"/filters/{position}"
        if one["field"] not in known:
            raise InvalidRequest("value", f"{where}/field", f"cannot be filtered: {one['field']}")
        check, operators = known[one["field"]]
        if one["operator"] not in operators:
            raise InvalidRequest("value", f"{where}/operator", f"must be one of {', '.join(operators)}")
        if one["operator"] in _LIST_OPERATORS:
            array(check, 1, _MAX_PARENTS)(one["value"], f"{where}/value")
        else:
            check(one["value"], f"{where}/value")
    return filters


def build_page_response(found: Sequence[dict[str, Any]], asked: Mapping[str, Any], name: str = "id") -> Response:
    """One page of a list, in the order of `sorting`, else of creation."""
    for one in reversed(asked.get("sorting", [])):
        if any(one["field"] not in row for row in found):
            raise rule_error("/sorting", f"cannot be sorted by {one['field']}")
        found = sorted(found, key=lambda row: row[one["field"]], reverse=one["order"] == "DESC")
    wanted = asked.get("pagination", {})
    size = min(wanted.get("pageSize", DEFAULT_PAGE_SIZE), MAX_PAGE_SIZE)
    rows, pagination = paginate(found, wanted.get("offset", 0), size, total=wanted.get("fetchTotalCount", False))
    return build_response({"result": rows, "pagination": pagination})


def _matches_filter(row: Mapping[str, Any], one: Mapping[str, Any]) -> bool:
    found: Any = row
    for name in one["field"].split("."):
        found = found.get(name) if isinstance(found, Mapping) else None
    wanted, operator = one["value"], str(one["operator"])
    if found is None:
        return operator in ("NOT_EQUALS", "NOT_IN")
    if one.get("ignoreCase") and isinstance(found, str):
        found = found.lower()
        wanted = [str(item).lower() for item in wanted] if isinstance(wanted, list) else str(wanted).lower()
    match operator:
        case "EQUALS" | "NOT_EQUALS":
            return bool(found == wanted) == (operator == "EQUALS")
        case "IN" | "NOT_IN":
            return bool(found in wanted) == (operator == "IN")
        case "LIKE":  # taken as "contains", without wildcards (chosen: Apple Ads Platform API does not tell)
            return bool(wanted in found)
        case "STARTS_WITH":
            return bool(found.startswith(wanted))
        case "ENDS_WITH":
            return bool(found.endswith(wanted))
    below, same = operator.startswith("LESS"), operator.endswith("EQUAL")
    return (same and found == wanted) or bool(found < wanted if below else found > wanted)
