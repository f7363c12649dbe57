"""Campaigns, ad groups and ads as the network answers them, and what it makes of their state."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from adsunify.sandbox.framework import Answer, Check, Entity, Problem, Request, World
from adsunify.sandbox.networks.reddit.answers import PAGING, absent, account_of, answered, listed, moment, written
from adsunify.sandbox.networks.reddit.fields import ID
from adsunify.sandbox.networks.reddit.tables import EFFECTIVE_STATUSES, MOST_IDS, STATUSES

# path word -> kind
KINDS: Mapping[str, str] = {"campaigns": "campaign", "ad_groups": "ad_group", "ads": "ad"}
ABOVE: Mapping[str, str] = {"ad_group": "campaign", "ad": "ad_group"}
_REVIEW = timedelta(seconds=60)  # chosen


def several(item: Callable[[str], bool], what: str) -> Check:
    """Comma-separated values, up to 200."""

    def check(value: Any, where: str) -> list[str]:
        found = str(value).split(",")
        if len(found) > MOST_IDS or not all(map(item, found)):
            raise Problem("value", where, f"must be up to {MOST_IDS} {what}, separated by commas", value)
        return found

    return check


def _is_id(value: str) -> bool:
    return value.isascii() and value.isdigit()


_IDS = several(_is_id, "ids")
FILTERS: Mapping[str, Mapping[str, Check]] = {
    "campaign": {"id": _IDS},
    "ad_group": {"campaign_id": _IDS, "id": _IDS},
    "ad": {
        "ad_group_id": _IDS,
        "campaign_id": _IDS,
        "id": _IDS,
        "configured_status": several(STATUSES.__contains__, "statuses"),
        "effective_status": several(EFFECTIVE_STATUSES.__contains__, "statuses"),
    },
}


def list_all(request: Request) -> Answer:
    """GET /ad_accounts/{account}/{campaigns|ad_groups|ads}: oldest first; whatever its status, it is there."""
    kind = KINDS[request.slots["kind"]]
    account = account_of(request)
    wanted = request.query({}, {**PAGING, **FILTERS[kind]})
    rows = [view(request.world, entity) for entity in request.world.entities(kind, account.id)]
    chosen = {name: wanted[name] for name in FILTERS[kind] if name in wanted}
    return listed(request, [row for row in rows if all(row[name] in some for name, some in chosen.items())], wanted)


def show(request: Request) -> Answer:
    """GET /campaigns/{id}, /ad_groups/{id}, /ads/{id}."""
    request.query()
    return answered(view(request.world, found(request)))


def found(request: Request) -> Entity:
    """The object of the path. Problem `absent`."""
    kind = KINDS[request.slots["kind"]]
    entity = request.world.find(kind, ID(request.slots["id"], "")) if _is_id(request.slots["id"]) else None
    if entity is None:
        raise absent(kind.replace("_", " "))
    return entity


def line(world: World, entity: Entity) -> list[Entity]:
    """The object and everything above it, from below."""
    every = [entity]
    while (kind := ABOVE.get(every[-1].kind)) is not None:
        above = world.find(kind, str(every[-1].parent))
        assert above is not None, "a parent is never removed"
        every.append(above)
    return every


def view(world: World, entity: Entity) -> dict[str, Any]:
    """An object as it is answered."""
    _, *above = line(world, entity)
    shown: dict[str, Any] = {"id": entity.id, "ad_account_id": entity.account}
    if entity.kind == "campaign":
        shown |= {"special_ad_categories": ["NONE"]}
    if entity.kind == "ad_group":
        shown |= {
            "campaign_objective_type": above[-1].data["objective"],
            "is_campaign_budget_optimization": bool(above[-1].data.get("is_campaign_budget_optimization")),
        }
    if entity.kind == "ad":
        shown |= {"campaign_id": above[-1].id, "rejection_reason": None}
    return {
        **shown,
        **{name: value for name, value in entity.data.items() if not name.startswith("_")},
        "effective_status": effective_status(world, entity),
        "delivery_status": [],
        "created_at": written(entity.created_at),
        "modified_at": written(entity.updated_at),
    }


def effective_status(world: World, entity: Entity) -> str:
    """The first reason why an object does not deliver, or ACTIVE. The order of the reasons is chosen."""
    every = line(world, entity)
    for one in every:
        status = one.data["configured_status"]
        if status in ("DELETED", "ARCHIVED"):
            return str(status)
        if status == "PAUSED":
            return "PAUSED" if one is entity else f"{one.kind.upper()}_PAUSED"
    if every[-1].data.get("funding_instrument_id") is None:
        return "PENDING_BILLING_INFO"
    ends = [moment(one.data["end_time"], "") for one in every if one.data.get("end_time") is not None]
    if ends and min(ends) <= world.now:
        return "COMPLETED"
    if entity.kind == "ad" and world.now - _posted(entity) < _REVIEW:
        return "PENDING_APPROVAL"
    return "ACTIVE"


def _posted(ad: Entity) -> datetime:
    """When the ad got its post: then its review begins, and begins again."""
    return moment(ad.data["_posted_at"], "") if "_posted_at" in ad.data else ad.created_at
