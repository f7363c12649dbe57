"""Campaigns, ad groups and ads in responses, and their derived states."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from adsunify.sandbox.checks import Check
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.reddit import answers
from adsunify.sandbox.networks.reddit.fields import ID_CHECK
from adsunify.sandbox.networks.reddit.tables import EFFECTIVE_STATUSES, MAX_IDS, STATUSES
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import StoredEntity, World

# path word -> kind
KIND_BY_COLLECTION: Mapping[str, str] = {"campaigns": "campaign", "ad_groups": "ad_group", "ads": "ad"}
PARENT_KINDS: Mapping[str, str] = {"ad_group": "campaign", "ad": "ad_group"}
_REVIEW_TIME = timedelta(seconds=60)  # our choice: undocumented


def comma_separated_values(item: Callable[[str], bool], noun: str) -> Check:
    """Comma-separated values, up to 200."""

    def check(value: Any, where: str) -> list[str]:
        parts = str(value).split(",")
        if len(parts) > MAX_IDS or not all(map(item, parts)):
            raise InvalidRequest("value", where, f"must be up to {MAX_IDS} {noun}, separated by commas", value)
        return parts

    return check


def _is_id(value: str) -> bool:
    return value.isascii() and value.isdigit()


_IDS_CHECK = comma_separated_values(_is_id, "ids")
FILTER_CHECKS: Mapping[str, Mapping[str, Check]] = {
    "campaign": {"id": _IDS_CHECK},
    "ad_group": {"campaign_id": _IDS_CHECK, "id": _IDS_CHECK},
    "ad": {
        "ad_group_id": _IDS_CHECK,
        "campaign_id": _IDS_CHECK,
        "id": _IDS_CHECK,
        "configured_status": comma_separated_values(STATUSES.__contains__, "statuses"),
        "effective_status": comma_separated_values(EFFECTIVE_STATUSES.__contains__, "statuses"),
    },
}


def list_entities(request: Request) -> Response:
    """GET /ad_accounts/{account}/{campaigns|ad_groups|ads}: oldest first, with every status."""
    kind = KIND_BY_COLLECTION[request.path_parameters["kind"]]
    account = answers.require_account(request)
    query = request.parse_query({}, {**answers.PAGING_CHECKS, **FILTER_CHECKS[kind]})
    rows = [render_entity(request.world, entity) for entity in request.world.list_entities(kind, account.id)]
    chosen = {name: query[name] for name in FILTER_CHECKS[kind] if name in query}
    return answers.build_page_response(
        request, [row for row in rows if all(row[name] in some for name, some in chosen.items())], query
    )


def get_entity(request: Request) -> Response:
    """GET /campaigns/{id}, /ad_groups/{id}, /ads/{id}."""
    request.parse_query()
    return answers.build_response(render_entity(request.world, require_entity(request)))


def require_entity(request: Request) -> StoredEntity:
    """The object of the path. Raises InvalidRequest `absent`."""
    kind = KIND_BY_COLLECTION[request.path_parameters["kind"]]
    entity = (
        request.world.find(kind, ID_CHECK(request.path_parameters["id"], ""))
        if _is_id(request.path_parameters["id"])
        else None
    )
    if entity is None:
        raise answers.not_found_error(kind.replace("_", " "))
    return entity


def get_ancestry(world: World, entity: StoredEntity) -> list[StoredEntity]:
    """The object and its ancestors, the object first."""
    every = [entity]
    while (kind := PARENT_KINDS.get(every[-1].kind)) is not None:
        above = world.find(kind, str(every[-1].parent))
        assert above is not None, "a parent is never removed"
        every.append(above)
    return every


def render_entity(world: World, entity: StoredEntity) -> dict[str, Any]:
    """An object in a response."""
    _, *above = get_ancestry(world, entity)
    members: dict[str, Any] = {"id": entity.id, "ad_account_id": entity.account}
    if entity.kind == "campaign":
        members |= {"special_ad_categories": ["NONE"]}
    if entity.kind == "ad_group":
        members |= {
            "campaign_objective_type": above[-1].data["objective"],
            "is_campaign_budget_optimization": bool(above[-1].data.get("is_campaign_budget_optimization")),
        }
    if entity.kind == "ad":
        members |= {"campaign_id": above[-1].id, "rejection_reason": None}
    return {
        **members,
        **{name: value for name, value in entity.data.items() if not name.startswith("_")},
        "effective_status": get_effective_status(world, entity),
        "delivery_status": [],
        "created_at": answers.INSTANT.format(entity.created_at),
        "modified_at": answers.INSTANT.format(entity.updated_at),
    }


def get_effective_status(world: World, entity: StoredEntity) -> str:
    """The first reason why an object does not deliver, or ACTIVE. The order of the reasons is our choice."""
    every = get_ancestry(world, entity)
    for member in every:
        status = member.data["configured_status"]
        if status in ("DELETED", "ARCHIVED"):
            return str(status)
        if status == "PAUSED":
            return "PAUSED" if member is entity else f"{member.kind.upper()}_PAUSED"
    if every[-1].data.get("funding_instrument_id") is None:
        return "PENDING_BILLING_INFO"
    ends = [
        answers.INSTANT.check_datetime(member.data["end_time"], "")
        for member in every
        if member.data.get("end_time") is not None
    ]
    if ends and min(ends) <= world.now:
        return "COMPLETED"
    if world.is_refused(entity):
        return "REJECTED"
    if entity.kind == "ad" and world.now - _get_post_time(entity) < _REVIEW_TIME:
        return "PENDING_APPROVAL"
    return "ACTIVE"


def _get_post_time(ad: StoredEntity) -> datetime:
    """The time at which the ad got its post, which starts a review."""
    return answers.INSTANT.check_datetime(ad.data["_posted_at"], "") if "_posted_at" in ad.data else ad.created_at
