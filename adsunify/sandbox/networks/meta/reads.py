"""Nodes and edges: fields, cursor paging, filters, effective status."""

import base64
import binascii
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from adsunify.sandbox.framework import (
    Account,
    Answer,
    Check,
    Entity,
    Problem,
    Request,
    anything,
    boolean,
    choice,
    integer,
    integer_text,
    json_text,
    listing,
    parse_json,
    record,
    text,
    write_json,
)
from adsunify.sandbox.networks.meta.errors import CREDENTIALS, absent, account_of, answer
from adsunify.sandbox.networks.meta.fields import NODES
from adsunify.sandbox.networks.meta.writes import GONE, KINDS

Fields = Mapping[str, "Fields | None"]  # a name, and what was asked of the object behind it
# Minor units that are read as strings of digits; bid_amount is an int in the published lists, and stays one.
MONEY = frozenset({
    "daily_budget", "lifetime_budget", "spend_cap", "budget_remaining", "daily_min_spend_target", "daily_spend_cap",
    "lifetime_min_spend_target", "lifetime_spend_cap",
})  # fmt: skip
# Members that are nodes of their own: only the id is shown unless more is asked for.
NESTED = {"creative": "adcreative", "campaign": "campaign", "adset": "adset", "pixel": "pixel", "business": "business"}
REVIEW = timedelta(seconds=60)  # how long a new or changed ad is in review (the time is chosen)
_CAMPAIGN_STATES = ("ACTIVE", "PAUSED", "DELETED", "ARCHIVED", "IN_PROCESS", "WITH_ISSUES")
_ADSET_STATES = (*_CAMPAIGN_STATES, "CAMPAIGN_PAUSED")
_AD_STATES = (
    *_ADSET_STATES, "ADSET_PAUSED", "DISAPPROVED", "PENDING_REVIEW", "PREAPPROVED", "PENDING_BILLING_INFO"
)  # fmt: skip
EFFECTIVE = {
    "campaign": _CAMPAIGN_STATES,
    "adset": _ADSET_STATES,
    "ad": _AD_STATES,
    "adcreative": ("ACTIVE", "DELETED"),
}
EDGES = {"campaigns": "campaign", "adsets": "adset", "ads": "ad", "adcreatives": "adcreative"}
_FILTERS: Mapping[str, Callable[[Any, Any], bool]] = {
    "CONTAIN": lambda have, want: want.lower() in have.lower(),
    "NOT_CONTAIN": lambda have, want: want.lower() not in have.lower(),
    "EQUAL": lambda have, want: bool(have == want),
    "NOT_EQUAL": lambda have, want: bool(have != want),
    "IN": lambda have, want: have in want,
    "NOT_IN": lambda have, want: have not in want,
}
_FILTERED = ("id", "name", "status", "effective_status", "campaign_id", "adset_id", "objective")


def read_fields(expression: str) -> Fields:
    """`id,name,creative{id,name}` as a tree; a name may stand there once. Raises Problem."""
    members = re.sub(r"(\w+)(\{?)", lambda found: f'"{found[1]}":{found[2] or "null"}', expression)
    tree: Fields = parse_json(f"{{{members}}}", "/fields")
    return tree


def check_fields(node: str, fields: Fields) -> None:
    """Refuse a field that this kind of node does not have. Raises Problem."""
    called, known = NODES[node]
    for name, inner in fields.items():
        if name not in known:
            message = f"Tried accessing nonexisting field ({name}) on node type ({called})"
            raise Problem("unknown", "/fields", message, name)
        if name in NESTED and inner is not None:
            check_fields(NESTED[name], inner)


def picked(native: Mapping[str, Any], fields: Fields) -> dict[str, Any]:
    """The asked members that are not empty (empty ones are left out), and `id` where there is one."""
    result = {"id": native["id"]} if "id" in native else {}
    for name, inner in fields.items():
        value = native.get(name)
        if isinstance(value, Mapping) and (inner is not None or name in NESTED):  # another node: only its id
            value = picked(value, inner or {})
        if value is not None:
            result[name] = value
    return result


def asked(request: Request, optional: Mapping[str, Check]) -> dict[str, Any]:
    """The checked query of a read, without the credentials. `pretty`, `debug`, `date_format` are gone."""
    content: dict[str, Any] = request.query(optional={"fields": text(), **optional, **CREDENTIALS})
    return {name: value for name, value in content.items() if name not in CREDENTIALS}


PAGED: Mapping[str, Check] = {"limit": integer_text(1, 5000), "after": text(), "before": text()}


def page(request: Request, rows: Sequence[Mapping[str, Any]], given: Mapping[str, Any], limit: int = 25) -> Answer:
    """One page of rows. An empty page has no `paging`, the last one no `paging.next`."""
    start, limit = 0, given.get("limit", limit)
    if "after" in given:
        start = _position(given["after"]) + 1
    elif "before" in given:
        start = max(_position(given["before"]) - limit, 0)
    part = rows[start : start + limit]
    if not part:
        return answer(request, {"data": []})
    paging: dict[str, Any] = {"cursors": {"before": _cursor(start), "after": _cursor(start + len(part) - 1)}}
    if start + len(part) < len(rows):
        paging["next"] = f"https://graph.facebook.com{request.path}?after={paging['cursors']['after']}&limit={limit}"
    return answer(request, {"data": list(part), "paging": paging})


def rows_of(node: str, natives: Sequence[Mapping[str, Any]], given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each native object reduced to the asked fields (none asked: only `id`)."""
    fields = read_fields(given.get("fields", "id"))
    check_fields(node, fields)
    return [picked(native, fields) for native in natives]


def get_me(request: Request) -> Answer:
    """GET /me: the person who gave the consent."""
    given = asked(request, {})
    person = {"id": "100200300", "name": "Demo Person"}
    return answer(request, rows_of("user", [person], {"fields": "id,name", **given})[0])


def list_accounts(request: Request) -> Answer:
    """GET /me/adaccounts."""
    given = asked(request, PAGED)
    natives = [native_account(account, request.now) for account in request.world.accounts.values()]
    return page(request, rows_of("account", natives, given), given)


def get_account(request: Request) -> Answer:
    """GET /act_X."""
    native = native_account(account_of(request, request.slots["node"]), request.now)
    return answer(request, rows_of("account", [native], asked(request, {}))[0])


def get_entity(request: Request) -> Answer | None:
    """GET /{id} of a campaign, ad set, ad or creative; None where the id is none of these."""
    given, node = asked(request, {}), request.slots["node"]
    for kind in KINDS:
        if (entity := request.world.find(kind, node)) is not None:
            return answer(request, rows_of(kind, [native(request, entity)], given)[0])
    # An id that nothing has here was made elsewhere, and exists. What it is of, only the fields tell: where a creative
    # has all of them, it is one (chosen); a campaign, ad set or ad made elsewhere does not exist.
    if node.isdigit() and NODES["adcreative"][1] >= {*read_fields(given.get("fields", "id"))}:
        return answer(request, rows_of("adcreative", [_foreign_creative(node)], given)[0])
    return None


def list_entities(request: Request) -> Answer:
    """GET /act_X/{edge}, /{campaign_id}/{edge} and /{adset_id}/ads."""
    node, edge = request.slots["node"], request.slots["edge"]
    kind = EDGES[edge]
    given = asked(
        request,
        {
            **PAGED,
            "effective_status": json_text(listing(choice(*EFFECTIVE[kind]))),
            "filtering": json_text(listing(_FILTER)),
            "date_preset": text(),
            "time_range": json_text(anything),
            "is_completed": json_text(boolean),
            "updated_since": integer_text(0),
        },
    )
    natives = [native(request, entity) for entity in reversed(_below(request, node, kind))]  # newest first
    wanted, filters = given.get("effective_status"), given.get("filtering", [])
    state = "status" if kind == "adcreative" else "effective_status"
    if wanted is not None:
        natives = [one for one in natives if one[state] in wanted]
    elif not any(one["field"] in ("status", "effective_status") for one in filters):  # left out unless asked for
        natives = [one for one in natives if one[state] not in GONE]
    for one in filters:
        matches, name = _FILTERS[one["operator"]], one["field"].rpartition(".")[2]
        natives = [each for each in natives if name in each and matches(each[name], one["value"])]
    return page(request, rows_of(kind, natives, given), given)


_FILTER = record(
    required={
        "field": choice(*(f"{prefix}{name}" for name in _FILTERED for prefix in ("", "campaign.", "adset.", "ad."))),
        "operator": choice(*_FILTERS),
        "value": anything,
    }
)


def _below(request: Request, node: str, kind: str) -> list[Entity]:
    """The entities of a kind in an account, campaign or ad set."""
    world = request.world
    if node.startswith("act_"):
        return world.entities(kind, account_of(request, node).id)
    if kind in ("adset", "ad") and world.find("campaign", node) is not None:
        return [entity for entity in world.entities(kind) if entity.data["campaign_id"] == node]
    if kind == "ad" and world.find("adset", node) is not None:
        return world.entities("ad", parent=node)
    raise absent(request, node)


def native_account(account: Account, now: datetime) -> dict[str, Any]:
    """All that can be read of an account."""
    offset = now.astimezone(ZoneInfo(account.timezone)).utcoffset() or timedelta()
    return {
        "id": account.id,
        "account_id": account.id.removeprefix("act_"),
        "name": account.name,
        "currency": account.currency,
        "timezone_name": account.timezone,
        "timezone_offset_hours_utc": Decimal(int(offset.total_seconds())) / 3600,
        **account.extra["native"],
    }


def native(request: Request, entity: Entity) -> dict[str, Any]:
    """All that can be read of a campaign, ad set, ad or creative."""
    account = account_of(request, entity.account)
    zone = ZoneInfo(account.timezone)
    shown: dict[str, Any] = {
        "id": entity.id,
        "account_id": account.id.removeprefix("act_"),
        "created_time": entity.created_at,
        "updated_time": entity.updated_at,
        **{name: value for name, value in entity.data.items() if not name.startswith("_")},
    }
    for name in ("daily_budget", "lifetime_budget"):
        if name in shown:
            shown["budget_remaining"] = shown[name]  # nothing is ever spent of it here
    if entity.kind == "adcreative":
        return {**shown, **_creative_extras(shown), "created_time": None, "updated_time": None}
    shown |= {"configured_status": shown["status"], "effective_status": effective_status(request, entity)}
    if entity.kind != "ad":
        shown.setdefault("start_time", entity.created_at)
    for parent in ("campaign", "adset"):
        above = request.world.find(parent, shown.get(f"{parent}_id", ""))
        if above is not None:
            shown[parent] = native(request, above)
    if entity.kind == "ad":
        node = shown["creative"]["creative_id"]
        creative = request.world.find("adcreative", node)
        shown["creative"] = native(request, creative) if creative else _foreign_creative(node)
    return {name: _shown(name, value, zone) for name, value in shown.items()}


def effective_status(request: Request, entity: Entity) -> str:
    """The state that follows from the entity and those above it."""
    above = [
        (parent, found)
        for parent in ("campaign", "adset")
        if (found := request.world.find(parent, entity.data.get(f"{parent}_id", ""))) is not None
    ]
    statuses = [str(entity.data["status"]), *(str(found.data["status"]) for _, found in above)]
    for gone in GONE:
        if gone in statuses:
            return gone
    if statuses[0] == "PAUSED":
        return "PAUSED"
    for parent, found in above:
        if found.data["status"] == "PAUSED":
            return f"{parent.upper()}_PAUSED"
    if entity.kind == "ad" and request.now - entity.data["_review_from"] < REVIEW:
        return "PENDING_REVIEW"
    return statuses[0]


def local(instant: datetime, zone: ZoneInfo) -> str:
    """In the account's zone with offset."""
    return instant.astimezone(zone).strftime("%Y-%m-%dT%H:%M:%S%z")


def _shown(name: str, value: Any, zone: ZoneInfo) -> Any:
    if isinstance(value, datetime):
        return local(value, zone)
    return str(value) if name in MONEY and isinstance(value, int) else value


def _creative_extras(shown: Mapping[str, Any]) -> dict[str, Any]:
    story = shown.get("object_story_spec", {})
    link_data = story.get("link_data", {})
    extras = {"object_type": "SHARE", "thumbnail_url": f"https://scontent.example/{shown['id']}.jpg"}
    seen = {
        "title": link_data.get("name"),
        "body": link_data.get("message"),
        "image_hash": link_data.get("image_hash"),
        "call_to_action_type": link_data.get("call_to_action", {}).get("type"),
    }
    return {**extras, **{name: value for name, value in seen.items() if value is not None}}


def _foreign_creative(node: str) -> dict[str, Any]:
    """A creative that was made elsewhere."""
    story = {
        "page_id": "9009",
        "link_data": {"link": "https://tea.example/", "message": "Fresh leaves.", "name": "Tea"},
    }
    made = {"id": node, "name": f"Creative {node}", "status": "ACTIVE", "object_story_spec": story}
    return {**made, **_creative_extras(made)}


def _cursor(position: int) -> str:
    return base64.urlsafe_b64encode(write_json({"row": position}).encode()).decode().rstrip("=")


def _position(cursor: str) -> int:
    try:
        decoded = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
    except (binascii.Error, UnicodeDecodeError, ValueError):
        decoded = ""
    return int(json_text(record({"row": integer(0)}))(decoded, "/after")["row"])
