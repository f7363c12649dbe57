"""Nodes and edges: fields, cursor paging, filters, effective status."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from adsunify.sandbox.checks import Check, any_value, array, boolean, choice, integer_text, json_text, record, text
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.meta import errors
from adsunify.sandbox.networks.meta.fields import FIELDS_BY_NODE
from adsunify.sandbox.networks.meta.writes import FINAL_STATUSES, KINDS
from adsunify.sandbox.paging import CursorFormat
from adsunify.sandbox.parsing import InvalidRequest, parse_json, split_words
from adsunify.sandbox.world import Account, StoredEntity

FieldTree = Mapping[str, "FieldTree | None"]  # by field: the requested fields of the object in it
# Amounts in minor units that responses have as strings of digits. bid_amount is an int, as in the published lists.
MONEY_FIELDS = frozenset(
    {
        *split_words("""
        daily_budget lifetime_budget spend_cap budget_remaining daily_min_spend_target daily_spend_cap
        lifetime_min_spend_target lifetime_spend_cap
    """)
    }
)
# Members that are nodes: only the id is shown unless the request names more fields.
NESTED_NODES = {
    "creative": "adcreative",
    "campaign": "campaign",
    "adset": "adset",
    "pixel": "pixel",
    "business": "business",
}
REVIEW_TIME = timedelta(seconds=60)  # how long a new or changed ad is in review (the time is our choice)
_CAMPAIGN_STATES = ("ACTIVE", "PAUSED", "DELETED", "ARCHIVED", "IN_PROCESS", "WITH_ISSUES")
_ADSET_STATES = (*_CAMPAIGN_STATES, "CAMPAIGN_PAUSED")
_AD_STATES = (*_ADSET_STATES, "ADSET_PAUSED", "DISAPPROVED", "PENDING_REVIEW", "PREAPPROVED", "PENDING_BILLING_INFO")
EFFECTIVE_STATUSES = {
    "campaign": _CAMPAIGN_STATES,
    "adset": _ADSET_STATES,
    "ad": _AD_STATES,
    "adcreative": ("ACTIVE", "DELETED"),
}
KIND_BY_EDGE = {"campaigns": "campaign", "adsets": "adset", "ads": "ad", "adcreatives": "adcreative"}
_TEST_BY_OPERATOR: Mapping[str, Callable[[Any, Any], bool]] = {
    "CONTAIN": lambda have, want: want.lower() in have.lower(),
    "NOT_CONTAIN": lambda have, want: want.lower() not in have.lower(),
    "EQUAL": lambda have, want: bool(have == want),
    "NOT_EQUAL": lambda have, want: bool(have != want),
    "IN": lambda have, want: have in want,
    "NOT_IN": lambda have, want: have not in want,
}
_FILTERABLE_FIELDS = ("id", "name", "status", "effective_status", "campaign_id", "adset_id", "objective")


def parse_fields(expression: str) -> FieldTree:
    """`id,name,creative{id,name}` as a tree; a name may appear once. Raises InvalidRequest."""
    members = re.sub(r"(\w+)(\{?)", lambda match: f'"{match[1]}":{match[2] or "null"}', expression)
    tree: FieldTree = parse_json(f"{{{members}}}", "/fields")
    return tree


def check_fields(node: str, fields: FieldTree) -> None:
    """Refuse a field that this kind of node does not have. Raises InvalidRequest."""
    called, native_fields = FIELDS_BY_NODE[node]
    for name, inner in fields.items():
        if name not in native_fields:
            message = f"Tried accessing nonexisting field ({name}) on node type ({called})"
            raise InvalidRequest("unknown", "/fields", message, name)
        if name in NESTED_NODES and inner is not None:
            check_fields(NESTED_NODES[name], inner)


def pick_fields(native: Mapping[str, Any], fields: FieldTree) -> dict[str, Any]:
    """The requested members that are not empty, and `id` if the object has one."""
    result = {"id": native["id"]} if "id" in native else {}
    for name, inner in fields.items():
        value = native.get(name)
        if isinstance(value, Mapping) and (inner is not None or name in NESTED_NODES):  # a nested node has only its id
            value = pick_fields(value, inner or {})
        if value is not None:
            result[name] = value
    return result


def parse_query(request: Request, optional: Mapping[str, Check]) -> dict[str, Any]:
    """The checked query of a read, without the credentials. `pretty`, `debug` and `date_format` are removed in v26."""
    content: dict[str, Any] = request.parse_query(optional={"fields": text(), **optional, **errors.CREDENTIAL_CHECKS})
    return {name: value for name, value in content.items() if name not in errors.CREDENTIAL_CHECKS}


PAGING_CHECKS: Mapping[str, Check] = {"limit": integer_text(1, 5000), "after": text(), "before": text()}
_CURSORS = CursorFormat("/after", '{"row":', "}", is_url_safe=True, is_padded=False, message="not valid JSON")


def build_page_response(
    request: Request, rows: Sequence[Mapping[str, Any]], query: Mapping[str, Any], limit: int = 25
) -> Response:
    """One page of rows. An empty page has no `paging`, the last one no `paging.next`."""
    start, limit = 0, query.get("limit", limit)
    if "after" in query:
        start = _CURSORS.decode_position(query["after"]) + 1
    elif "before" in query:
        start = max(_CURSORS.decode_position(query["before"]) - limit, 0)
    part = rows[start : start + limit]
    if not part:
        return errors.build_response(request, {"data": []})
    paging: dict[str, Any] = {
        "cursors": {"before": _CURSORS.encode(start), "after": _CURSORS.encode(start + len(part) - 1)}
    }
    if start + len(part) < len(rows):
        paging["next"] = f"https://graph.facebook.com{request.path}?after={paging['cursors']['after']}&limit={limit}"
    return errors.build_response(request, {"data": list(part), "paging": paging})


def render_rows(node: str, natives: Sequence[Mapping[str, Any]], query: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each native object reduced to the requested fields (default: only `id`)."""
    fields = parse_fields(query.get("fields", "id"))
    check_fields(node, fields)
    return [pick_fields(native, fields) for native in natives]


def get_user(request: Request) -> Response:
    """GET /me: the person who gave the consent."""
    query = parse_query(request, {})
    person = {"id": "100200300", "name": "Demo Person"}
    return errors.build_response(request, render_rows("user", [person], {"fields": "id,name", **query})[0])


def list_accounts(request: Request) -> Response:
    """GET /me/adaccounts."""
    query = parse_query(request, PAGING_CHECKS)
    natives = [render_account(account, request.now) for account in request.world.accounts.values()]
    return build_page_response(request, render_rows("account", natives, query), query)


def get_account(request: Request) -> Response:
    """GET /act_X."""
    native = render_account(errors.require_account_by_id(request, request.path_parameters["node"]), request.now)
    return errors.build_response(request, render_rows("account", [native], parse_query(request, {}))[0])


def find_entity_response(request: Request) -> Response | None:
    """GET /{id} of a campaign, ad set, ad or creative; None if the id is not one of these."""
    query, node = parse_query(request, {}), request.path_parameters["node"]
    for kind in KINDS:
        if (entity := request.world.find(kind, node)) is not None:
            return errors.build_response(request, render_rows(kind, [render_entity(request, entity)], query)[0])
    # An object with an unknown id was made elsewhere. If a creative has all requested fields, the object is a
    # creative (our choice). A campaign, ad set or ad made elsewhere does not exist.
    if node.isdigit() and FIELDS_BY_NODE["adcreative"][1] >= {*parse_fields(query.get("fields", "id"))}:
        return errors.build_response(request, render_rows("adcreative", [_make_external_creative(node)], query)[0])
    return None


def list_entities(request: Request) -> Response:
    """GET /act_X/{edge}, /{campaign_id}/{edge} and /{adset_id}/ads."""
    node, edge = request.path_parameters["node"], request.path_parameters["edge"]
    kind = KIND_BY_EDGE[edge]
    query = parse_query(
        request,
        {
            **PAGING_CHECKS,
            "effective_status": json_text(array(choice(*EFFECTIVE_STATUSES[kind]))),
            "filtering": json_text(array(_FILTER_CHECK)),
            "date_preset": text(),
            "time_range": json_text(any_value),
            "is_completed": json_text(boolean),
            "updated_since": integer_text(0),
        },
    )
    natives = [
        render_entity(request, entity) for entity in reversed(_list_entities_below(request, node, kind))
    ]  # newest first
    statuses, filters = query.get("effective_status"), query.get("filtering", [])
    state = "status" if kind == "adcreative" else "effective_status"
    if statuses is not None:
        natives = [native for native in natives if native[state] in statuses]
    elif not any(
        condition["field"] in ("status", "effective_status") for condition in filters
    ):  # left out unless requested
        natives = [native for native in natives if native[state] not in FINAL_STATUSES]
    for condition in filters:
        matches, name = _TEST_BY_OPERATOR[condition["operator"]], condition["field"].rpartition(".")[2]
        natives = [each for each in natives if name in each and matches(each[name], condition["value"])]
    return build_page_response(request, render_rows(kind, natives, query), query)


_FILTER_CHECK = record(
    required={
        "field": choice(
            *(f"{prefix}{name}" for name in _FILTERABLE_FIELDS for prefix in ("", "campaign.", "adset.", "ad."))
        ),
        "operator": choice(*_TEST_BY_OPERATOR),
        "value": any_value,
    }
)


def _list_entities_below(request: Request, node: str, kind: str) -> list[StoredEntity]:
    """The entities of a kind in an account, campaign or ad set."""
    world = request.world
    if node.startswith("act_"):
        return world.list_entities(kind, errors.require_account_by_id(request, node).id)
    if kind in ("adset", "ad") and world.find("campaign", node) is not None:
        return [entity for entity in world.list_entities(kind) if entity.data["campaign_id"] == node]
    if kind == "ad" and world.find("adset", node) is not None:
        return world.list_entities("ad", parent=node)
    raise errors.not_found_error(request, node)


def render_account(account: Account, now: datetime) -> dict[str, Any]:
    """All readable fields of an account."""
    offset = now.astimezone(account.zone).utcoffset() or timedelta()
    return {
        "id": account.id,
        "account_id": account.id.removeprefix("act_"),
        "name": account.name,
        "currency": account.currency,
        "timezone_name": account.timezone,
        "timezone_offset_hours_utc": Decimal(int(offset.total_seconds())) / 3600,
        **account.extra["native"],
    }


def render_entity(request: Request, entity: StoredEntity) -> dict[str, Any]:
    """All readable fields of a campaign, ad set, ad or creative."""
    account = errors.require_account_by_id(request, entity.account)
    zone = account.zone
    members: dict[str, Any] = {
        "id": entity.id,
        "account_id": account.id.removeprefix("act_"),
        "created_time": entity.created_at,
        "updated_time": entity.updated_at,
        **{name: value for name, value in entity.data.items() if not name.startswith("_")},
    }
    for name in ("daily_budget", "lifetime_budget"):
        if name in members:
            members["budget_remaining"] = members[name]  # the simulated campaigns never spend it
    if entity.kind == "adcreative":
        return {**members, **_derive_creative_members(members), "created_time": None, "updated_time": None}
    members |= {"configured_status": members["status"], "effective_status": get_effective_status(request, entity)}
    if entity.kind != "ad":
        members.setdefault("start_time", entity.created_at)
    for parent in ("campaign", "adset"):
        above = request.world.find(parent, members.get(f"{parent}_id", ""))
        if above is not None:
            members[parent] = render_entity(request, above)
    if entity.kind == "ad":
        node = members["creative"]["creative_id"]
        creative = request.world.find("adcreative", node)
        members["creative"] = render_entity(request, creative) if creative else _make_external_creative(node)
    return {name: _render_value(name, value, zone) for name, value in members.items()}


def get_effective_status(request: Request, entity: StoredEntity) -> str:
    """The state that follows from the entity and its ancestors."""
    above = [
        (parent, ancestor)
        for parent in ("campaign", "adset")
        if (ancestor := request.world.find(parent, entity.data.get(f"{parent}_id", ""))) is not None
    ]
    statuses = [str(entity.data["status"]), *(str(ancestor.data["status"]) for _, ancestor in above)]
    for final_status in FINAL_STATUSES:
        if final_status in statuses:
            return final_status
    if statuses[0] == "PAUSED":
        return "PAUSED"
    for parent, ancestor in above:
        if ancestor.data["status"] == "PAUSED":
            return f"{parent.upper()}_PAUSED"
    if entity.kind == "ad" and request.world.is_refused(entity):
        return "DISAPPROVED"
    if entity.kind == "ad" and request.now - entity.data["_review_from"] < REVIEW_TIME:
        return "PENDING_REVIEW"
    return statuses[0]


def format_local_instant(instant: datetime, zone: ZoneInfo) -> str:
    """An instant in the account's time zone, with its offset."""
    return instant.astimezone(zone).strftime("%Y-%m-%dT%H:%M:%S%z")


def _render_value(name: str, value: Any, zone: ZoneInfo) -> Any:
    if isinstance(value, datetime):
        return format_local_instant(value, zone)
    return str(value) if name in MONEY_FIELDS and isinstance(value, int) else value


def _derive_creative_members(creative: Mapping[str, Any]) -> dict[str, Any]:
    story = creative.get("object_story_spec", {})
    link_data = story.get("link_data", {})
    extras = {"object_type": "SHARE", "thumbnail_url": f"https://scontent.example/{creative['id']}.jpg"}
    members = {
        "title": link_data.get("name"),
        "body": link_data.get("message"),
        "image_hash": link_data.get("image_hash"),
        "call_to_action_type": link_data.get("call_to_action", {}).get("type"),
    }
    return {**extras, **{name: value for name, value in members.items() if value is not None}}


def _make_external_creative(node: str) -> dict[str, Any]:
    """A creative that was made elsewhere."""
    story = {
        "page_id": "9009",
        "link_data": {"link": "https://tea.example/", "message": "Fresh leaves.", "name": "Tea"},
    }
    creative = {"id": node, "name": f"Creative {node}", "status": "ACTIVE", "object_story_spec": story}
    return {**creative, **_derive_creative_members(creative)}
