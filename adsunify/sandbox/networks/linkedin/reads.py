"""Accounts, searches with cursors, and single entities."""

from collections.abc import Callable, Mapping
from typing import Any

from adsunify.sandbox.checks import Check, array, choice, integer_text, record, text
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.linkedin import answers, fields, tables
from adsunify.sandbox.networks.linkedin.fields import urn as of
from adsunify.sandbox.networks.linkedin.posts import build_offset_page
from adsunify.sandbox.networks.linkedin.restli import is_finder, parse_query
from adsunify.sandbox.networks.linkedin.rules import get_status_member
from adsunify.sandbox.networks.linkedin.writes import KIND_BY_COLLECTION, require_entity
from adsunify.sandbox.paging import CursorFormat
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import Account, StoredEntity

REVIEW_SECONDS = 60  # short enough for a test to wait for the end of a review
Row = dict[str, Any]


def _paging_checks(kind: str) -> dict[str, Check]:
    return {
        "pageSize": integer_text(1, tables.PAGE_SIZES[kind]),
        "pageToken": text(),
        "sortOrder": choice("ASCENDING", "DESCENDING"),
    }


def _values_check(item: Check) -> Check:
    return record({"values": array(item, 1)})


def _id_check(prefix: str) -> Check:
    """A number or its URN: the documentation does not say which a search takes."""
    return text(pattern=rf"({prefix})?\d{{1,19}}")


# Base64 with "+", "/" and "=": characters that must be percent-encoded when the token is sent back.
_CURSORS = CursorFormat("/pageToken", "after:")
_BOOLEAN_TEXT_CHECK = choice("true", "false")
_SEARCH_CHECKS: Mapping[str, Mapping[str, Check]] = {
    "adAccount": {
        "status": _values_check(choice(*tables.ACCOUNT_STATUSES)),
        "id": _values_check(_id_check(fields.ACCOUNT_PREFIX)),
        "name": _values_check(text()),
        "reference": _values_check(fields.ORGANIZATION_CHECK),
        "type": _values_check(choice("BUSINESS", "ENTERPRISE")),
        "test": _BOOLEAN_TEXT_CHECK,
    },
    "campaignGroup": {
        "status": _values_check(choice(*tables.STATUSES["campaignGroup"])),
        "id": _values_check(_id_check(fields.GROUP_PREFIX)),
        "name": _values_check(text()),
        "test": _BOOLEAN_TEXT_CHECK,
    },
    "campaign": {
        "status": _values_check(choice(*tables.STATUSES["campaign"])),
        "id": _values_check(_id_check(fields.CAMPAIGN_PREFIX)),
        "name": _values_check(text()),
        "test": _BOOLEAN_TEXT_CHECK,
        "campaignGroup": _values_check(of(fields.GROUP_PREFIX)),
        "associatedEntity": _values_check(fields.ORGANIZATION_CHECK),
        "type": _values_check(choice(*tables.CAMPAIGN_TYPES)),
    },
}


def list_accounts(request: Request) -> Response:
    """GET /adAccounts?q=search."""
    answers.require_method(request, "FINDER")
    searched = record(optional=_SEARCH_CHECKS["adAccount"])
    query = parse_query(request, {"q": choice("search")}, search=searched, **_paging_checks("adAccount"))
    rows = [_render_account(account) for account in request.world.accounts.values()]
    return _build_page_response(
        query, [row for row in rows if _matches_search(row, query.get("search", {}))], lambda row: row["id"]
    )


def get_account(request: Request) -> Response:
    """GET /adAccounts/{id}."""
    parse_query(request)
    return answers.build_response(200, _render_account(answers.require_account(request)))


def list_roles(request: Request) -> Response:
    """GET /adAccountUsers?q=authenticatedUser: the member's roles, paged by offset."""
    query = parse_query(request, {"q": choice("authenticatedUser")}, **tables.PAGING.make_checks(1000))
    rows = [
        {
            "account": f"{fields.ACCOUNT_PREFIX}{account.id}",
            "role": account.extra["role"],
            "user": "urn:li:person:a1B2c3",
        }
        for account in request.world.accounts.values()
    ]
    return build_offset_page(query, rows)


def search_entities(request: Request) -> Response:
    """GET of groups and campaigns by q=search, of creatives by q=criteria."""
    account, kind = answers.require_account(request), KIND_BY_COLLECTION[request.path_parameters["entities"]]
    if kind == "creative":
        query, criteria = _parse_criteria_query(request)
    else:
        answers.require_method(request, "FINDER")
        searched: dict[str, Check] = {"search": record(optional=_SEARCH_CHECKS[kind])}
        required = {"q": choice("search"), **(searched if kind == "campaignGroup" else {})}
        query = parse_query(
            request, required, **{**searched, **_paging_checks(kind)} if kind == "campaign" else _paging_checks(kind)
        )
        criteria = query.get("search", {})
    entities = [
        entity for entity in request.world.list_entities(kind, account.id) if _matches_criteria(entity, criteria)
    ]
    return _build_page_response(
        query,
        [render_entity(request, entity) for entity in entities],
        lambda row: int(fields.get_urn_number(str(row["id"]))),
    )


def get_entity(request: Request) -> Response:
    """GET of one group, campaign or creative."""
    parse_query(request)
    account, kind = answers.require_account(request), KIND_BY_COLLECTION[request.path_parameters["entities"]]
    return answers.build_response(
        200, render_entity(request, require_entity(request, account, kind, request.path_parameters["entity"]))
    )


def _parse_criteria_query(request: Request) -> tuple[Row, Row]:
    """The finder of creatives, which have no q=search."""
    if is_finder(request, "search"):
        raise InvalidRequest("NOT_FOUND", "", "creatives have no finder search")
    answers.require_method(request, "FINDER", optional=False)
    filters: dict[str, Check] = {
        "campaigns": array(of(fields.CAMPAIGN_PREFIX), 1),
        "creatives": array(of(fields.CREATIVE_PREFIX), 1),
        "contentReferences": array(fields.POST_ID_CHECK, 1),
        "intendedStatuses": array(choice(*tables.STATUSES["creative"]), 1),
    }
    query = parse_query(request, {"q": choice("criteria")}, **filters, **_paging_checks("creative"))
    names = {"campaigns": "campaign", "creatives": "id", "contentReferences": "content", "intendedStatuses": "status"}
    return query, {names[name]: {"values": query[name]} for name in filters if name in query}


def _matches_criteria(entity: StoredEntity, filters: Row) -> bool:
    data = entity.data
    row = {
        **data,
        "id": entity.id,
        "status": data[get_status_member(entity.kind)],
        "content": data.get("content", {}).get("reference"),
        "test": data.get("test", False),
    }
    return _matches_search(row, filters)


def _matches_search(row: Row, filters: Row) -> bool:
    for name, condition in filters.items():
        if name == "test":
            matches = row["test"] == (condition == "true")
        elif name == "id":
            matches = str(row["id"]) in map(fields.get_urn_number, condition["values"])
        else:
            matches = row.get(name) in condition["values"]
        if not matches:
            return False
    return True


def _build_page_response(query: Row, rows: list[Row], key: Callable[[Row], Any]) -> Response:
    """A page in the order of the ids.

    The token names the last id, so entities created between two requests do not shift the pages.
    """
    backwards = query.get("sortOrder") == "DESCENDING"
    rows = sorted(rows, key=key, reverse=backwards)
    if "pageToken" in query:
        last = _CURSORS.decode_position(query["pageToken"])
        rows = [row for row in rows if (key(row) < last if backwards else key(row) > last)]
    size = query.get("pageSize", 100)
    return answers.build_list_response(rows[:size], _CURSORS.encode(key(rows[size - 1])) if len(rows) > size else None)


def _render_account(account: Account) -> Row:
    native = account.extra["native"]
    return {
        "id": int(account.id),
        "name": account.name,
        "currency": account.currency,
        "status": native["status"],
        "servingStatuses": ["RUNNABLE" if native["status"] == "ACTIVE" else "STOPPED"],
        "type": native["type"],
        "reference": native["reference"],
        "test": native["test"],
        "notifiedOnCampaignOptimization": True,
        "version": {"versionTag": "3"},
    }


def render_entity(request: Request, entity: StoredEntity) -> Row:
    """An entity in a response, with the members that the network adds."""
    members = {name: value for name, value in entity.data.items() if not name.startswith("_")}
    created, changed = (int(at.timestamp() * 1000) for at in (entity.created_at, entity.updated_at))
    if entity.kind == "creative":
        return {
            "id": fields.CREATIVE_PREFIX + entity.id,
            "account": fields.ACCOUNT_PREFIX + entity.account,
            **members,
            **_render_review(request, entity),
            "createdAt": created,
            "lastModifiedAt": changed,
        }
    return {
        "id": int(entity.id),
        "account": fields.ACCOUNT_PREFIX + entity.account,
        **members,
        "servingStatuses": _list_serving_statuses(request, entity),
        "changeAuditStamps": {"created": {"time": created}, "lastModified": {"time": changed}},
        "version": {"versionTag": "1" if created == changed else "2"},
    }


def _render_review(request: Request, entity: StoredEntity) -> Row:
    since = entity.data.get("_reviewed_from")
    campaign = request.world.find("campaign", str(entity.parent))
    assert campaign is not None
    holds = []
    review: Row = {}
    if since is not None:
        pending = int(request.now.timestamp()) < since + REVIEW_SECONDS
        outcome = "REJECTED" if request.world.is_refused(entity) else "APPROVED"
        review = {"review": {"status": "PENDING" if pending else outcome}}
        holds += ["UNDER_REVIEW"] if pending else []
    if entity.data["intendedStatus"] != "ACTIVE":
        holds.append("STOPPED")
    if _list_serving_statuses(request, campaign) != ["RUNNABLE"]:
        holds.append("CAMPAIGN_STOPPED")
    return {**review, "isServing": not holds, "servingHoldReasons": holds}


def _list_serving_statuses(request: Request, entity: StoredEntity) -> list[str]:
    present = int(request.now.timestamp() * 1000)
    schedule, word = entity.data["runSchedule"], "CAMPAIGN_GROUP" if entity.kind == "campaignGroup" else "CAMPAIGN"
    holds = []
    if entity.data["status"] != "ACTIVE":
        holds.append("STOPPED")
    if schedule["start"] > present:
        holds.append(f"{word}_START_DATE_HOLD")
    if schedule.get("end", present + 1) <= present:
        holds.append(f"{word}_END_DATE_HOLD")
    if entity.kind == "campaign":
        group = request.world.find("campaignGroup", str(entity.parent))
        if group is None or group.data["status"] in (*tables.FINAL_STATUSES, "PAUSED", "DRAFT", "ARCHIVED"):
            holds.append("CAMPAIGN_GROUP_STATUS_HOLD")
    return holds or ["RUNNABLE"]
