"""POST /{word}/query: filters, sorting, pages."""

from collections.abc import Mapping, Sequence
from typing import Any

from adsunify.sandbox.framework import Answer, Check, Problem, Request, boolean, choice, integer, listing, record, text
from adsunify.sandbox.networks.apple.answers import account_of, answered, instant, paged, refused
from adsunify.sandbox.networks.apple.entities import KINDS, view
from adsunify.sandbox.networks.apple.fields import APP_ID
from adsunify.sandbox.networks.apple.tables import LONGEST_PAGE, USUAL_PAGE

_ONE, _SOME = ("EQUALS",), ("EQUALS", "IN")
_TEXTS = ("EQUALS", "IN", "LIKE", "STARTS_WITH", "ENDS_WITH")
_COMPARED = ("LESS_THAN", "GREATER_THAN")
_ID = integer(1)
_TIME: tuple[Check, tuple[str, ...]] = (instant, (*_COMPARED, "LESS_THAN_OR_EQUAL", "GREATER_THAN_OR_EQUAL"))
Filters = Mapping[str, tuple[Check, tuple[str, ...]]]
# Word of the path: fields with the check of their values and their operators.
FILTERS: Mapping[str, Filters] = {
    "campaigns": {
        "id": (_ID, _SOME),
        "name": (text(), _TEXTS),
        **{name: (text(), _SOME) for name in ("status", "systemStatus", "billingEvent", "paymentModel")},
        "promotedObjectType": (text(), ("EQUALS", "IN", "NOT_EQUALS", "NOT_IN")),
        "promotedObjectId": (APP_ID, ("EQUALS", "IN", "NOT_EQUALS", "NOT_IN")),
        **dict.fromkeys(("startTime", "endTime", "creationTime", "modificationTime"), _TIME),
        "deleted": (boolean, _SOME),
    },
    "adgroups": {
        "id": (_ID, _SOME),
        "campaignId": (_ID, _ONE),
        "name": (text(), ("EQUALS", "STARTS_WITH")),
        "status": (text(), _SOME),
        "startTime": (instant, _COMPARED),
        "endTime": (instant, _COMPARED),
        "deleted": (boolean, _ONE),
    },
    "ads": {
        "id": (_ID, _SOME),
        **dict.fromkeys(("campaignId", "adGroupId", "creativeId"), (_ID, _ONE)),
        "status": (text(), _SOME),
        "deleted": (boolean, _ONE),
    },
    "keywords": {
        "id": (_ID, _SOME),
        "adGroupId": (_ID, _SOME),
        "campaignId": (_ID, _ONE),
        "text": (text(), ("EQUALS", "STARTS_WITH")),
        "matchType": (text(), _SOME),
        "status": (text(), _SOME),
        "deleted": (boolean, _ONE),
    },
    "creatives": {
        "id": (_ID, _SOME),
        "name": (text(), _TEXTS),
        **dict.fromkeys(("creativeType", "systemStatus", "eligibility.status"), (text(), _SOME)),
        "deleted": (boolean, _ONE),
    },
}
PAGINATION = record(optional={"offset": integer(0), "pageSize": integer(1), "fetchTotalCount": boolean})
_FILTER = record(
    required={"field": text(), "operator": text(), "value": lambda value, where: value},
    optional={"ignoreCase": boolean},
)
_BODY = record(
    optional={
        "filters": listing(_FILTER),
        "sorting": listing(record(required={"field": text(), "order": choice("ASC", "DESC")})),
        "pagination": PAGINATION,
    }
)
_LISTS = ("IN", "NOT_IN")
_MOST_PARENTS = 1000


def query(request: Request) -> Answer:
    """POST /{word}/query."""
    request.query()
    word, account = request.slots["word"], account_of(request)
    asked = request.json(_BODY)
    filters = checked(asked.get("filters", []), FILTERS[word])
    if word == "keywords" and not any(one["field"] in ("id", "adGroupId", "campaignId") for one in filters):
        raise Problem("required", "/filters", "keywords need a filter of adGroupId, campaignId or id")
    if not any(one["field"] == "deleted" for one in filters):
        filters.append({"field": "deleted", "operator": "EQUALS", "value": False})
    rows = [view(request.world, one) for one in request.world.entities(KINDS[word], account.id)]
    payment = {"paymentModel": account.extra["native"]["paymentModel"]} if word == "campaigns" else {}
    found = [row for row in rows if all(_fits({**row, **payment}, one) for one in filters)]
    return page(found, asked)


def checked(filters: list[dict[str, Any]], known: Filters) -> list[dict[str, Any]]:
    """The filters of a query. Problem where a field, an operator or a value is not of the table."""
    for position, one in enumerate(filters):
        where = f"/filters/{position}"
        if one["field"] not in known:
            raise Problem("value", f"{where}/field", f"cannot be filtered: {one['field']}")
        check, operators = known[one["field"]]
        if one["operator"] not in operators:
            raise Problem("value", f"{where}/operator", f"must be one of {', '.join(operators)}")
        if one["operator"] in _LISTS:
            listing(check, 1, _MOST_PARENTS)(one["value"], f"{where}/value")
        else:
            check(one["value"], f"{where}/value")
    return filters


def page(found: Sequence[dict[str, Any]], asked: Mapping[str, Any], name: str = "id") -> Answer:
    """One page of a list, in the order of `sorting`, else of creation."""
    for one in reversed(asked.get("sorting", [])):
        if any(one["field"] not in row for row in found):
            raise refused("/sorting", f"cannot be sorted by {one['field']}")
        found = sorted(found, key=lambda row: row[one["field"]], reverse=one["order"] == "DESC")
    wanted = asked.get("pagination", {})
    size = min(wanted.get("pageSize", USUAL_PAGE), LONGEST_PAGE)
    rows, pagination = paged(found, wanted.get("offset", 0), size, total=wanted.get("fetchTotalCount", False))
    return answered({"result": rows, "pagination": pagination})


def _fits(row: Mapping[str, Any], one: Mapping[str, Any]) -> bool:
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
