"""Creates, partial updates and deletes of campaign groups, campaigns and creatives.

A new id comes back in the header `x-restli-id` alone; bodies of successful writes are empty.
"""

from typing import Any
from urllib.parse import quote

from adsunify.sandbox.framework import Account, Answer, Entity, Problem, Request, World, record
from adsunify.sandbox.networks.linkedin.answers import account_of, answer, error_body, native, require_method
from adsunify.sandbox.networks.linkedin.fields import ACCOUNT, CREATE, NEEDED, PATCH, PREFIXES, digits_of
from adsunify.sandbox.networks.linkedin.restli import asked
from adsunify.sandbox.networks.linkedin.rules import check, status_name

KINDS = {"adCampaignGroups": "campaignGroup", "adCampaigns": "campaign", "creatives": "creative"}
_PARENTS = {"campaignGroup": None, "campaign": "campaignGroup", "creative": "campaign"}
FAULTS = frozenset({"partial"})
# what the network makes of what is left out
_BORN: dict[str, dict[str, Any]] = {
    "campaignGroup": {"backfilled": False, "test": False},
    "campaign": {
        "audienceExpansionEnabled": False,
        "creativeSelection": "OPTIMIZED",
        "test": False,
    },
    "creative": {},
}


def post_collection(request: Request) -> Answer:
    """POST of a collection: create one, or change several by `X-RestLi-Method: BATCH_PARTIAL_UPDATE`."""
    account, kind = account_of(request), KINDS[request.slots["entities"]]
    if request.headers.get("X-RestLi-Method") == "BATCH_PARTIAL_UPDATE":
        return _update_many(request, account, kind)
    require_method(request, "CREATE")
    asked(request)
    sent = request.json(CREATE[kind])
    data = _reviewed(request, {**_BORN[kind], **sent})
    check(request, kind, account, data, None)
    if "inlineContent" in data:
        data["content"] = {"reference": f"urn:li:share:{request.world.allocate()}"}
        del data["inlineContent"]
    parent = _PARENTS[kind]
    made = request.world.create(kind, account.id, data, parent=digits_of(data[parent]) if parent else None)
    if kind == "creative":
        _fix_format(request, made)
    # of a creative the id is its URN, and the header has it percent-encoded
    shown = quote(PREFIXES[kind] + made.id, safe="") if kind == "creative" else made.id
    # the path has the account's id too, so that whoever reads an id out of it gets the wrong one
    location = f"{request.path.removeprefix('/rest')}/{shown}"
    return answer(201, None, {"x-restli-id": shown, "Location": location})


def post_entity(request: Request) -> Answer:
    """POST of one entity: PARTIAL_UPDATE."""
    require_method(request, "PARTIAL_UPDATE", optional=False)
    asked(request)
    account, entity = _entity(request)
    _update(request, account, entity, request.json(PATCH[entity.kind]), "")
    return answer(204)


def delete_entity(request: Request) -> Answer:
    """DELETE of a draft."""
    require_method(request, "DELETE")
    asked(request)
    _, entity = _entity(request)
    if request.body:
        raise Problem("unknown", "", "a DELETE has no body")
    if entity.data.get("backfilled"):
        raise Problem("CANNOT_UPDATE_BACKFILLED_CAMPAIGN_GROUPS", "", "the default campaign group is not deleted")
    if entity.data[status_name(entity.kind)] != "DRAFT":
        raise Problem("DELETE_ALLOWED_ONLY_FOR_DRAFT_STATUS", "", "anything else is set to PENDING_DELETION")
    request.world.remove(entity)
    return answer(204)


def entity_of(request: Request, account: Account, kind: str, written: str) -> Entity:
    """The entity of a path: digits, or for creatives the percent-encoded URN. Problem."""
    if kind == "creative":
        if ":" in request.path:
            raise Problem("unreadable", "", "the URN in the path must be percent-encoded")
        if not written.startswith(PREFIXES[kind]):
            raise Problem("value", "", "the key of a creative is its URN", written)
        written = written.removeprefix(PREFIXES[kind])
    found = request.world.find(kind, written, account.id)
    if found is None:
        raise Problem("NOT_FOUND", "", f"{kind} {written} was not found")
    return found


def _entity(request: Request) -> tuple[Account, Entity]:
    account, kind = account_of(request), KINDS[request.slots["entities"]]
    return account, entity_of(request, account, kind, request.slots["entity"])


def _update_many(request: Request, account: Account, kind: str) -> Answer:
    wanted = asked(request, {"ids": lambda value, where: value if isinstance(value, list) else [value]})
    sent = request.json(record({"entities": record(optional=dict.fromkeys(wanted["ids"], PATCH[kind]))}))["entities"]
    results: dict[str, Any] = {}
    for position, (key, patch) in enumerate(sent.items(), 1):
        try:
            with request.world.savepoint():
                if request.told("partial") and position == len(sent):
                    raise Problem("CONFLICT", "", "somebody else is writing")
                _update(request, account, entity_of(request, account, kind, key), patch, f"/entities/{key}")
            results[key] = {"status": 204}
        except Problem as problem:
            status, code = native(problem)
            results[key] = {"status": status, "error": error_body(request, status, code, "", problem.message)}
    return answer(200, {"results": results, "errors": {}})


def _update(request: Request, account: Account, entity: Entity, sent: dict[str, Any], where: str) -> None:
    patch = sent["patch"]
    gone = patch.get("$delete", [])
    if not patch.get("$set") and not gone:
        raise Problem("required", f"{where}/patch/$set", "a patch changes something")
    for name in gone:
        if name in NEEDED[entity.kind]:
            raise Problem("MISSING_FIELD", f"{where}/patch/$delete", f"{name} is required")
        if name in patch.get("$set", {}):
            raise Problem("duplicate", f"{where}/patch/$delete", f"{name} is set too")
    data = {name: value for name, value in {**entity.data, **patch.get("$set", {})}.items() if name not in gone}
    check(request, entity.kind, account, data, entity)
    request.world.put(entity, _reviewed(request, data))


def _reviewed(request: Request, data: dict[str, Any]) -> dict[str, Any]:
    """A creative that becomes ACTIVE goes to review, once."""
    if data.get("intendedStatus") != "ACTIVE" or "_reviewed_from" in data:
        return data
    return {**data, "_reviewed_from": int(request.now.timestamp())}


def _fix_format(request: Request, creative: Entity) -> None:
    """The first creative gives its campaign a format where it had none."""
    campaign = request.world.find("campaign", str(creative.parent))
    assert campaign is not None
    if "format" not in campaign.data:
        request.world.put(campaign, {**campaign.data, "format": "STANDARD_UPDATE"}, logged=False)


def seed(world: World) -> None:
    """Every account has had its default group from the start; it can be neither edited nor deleted.

    The enterprise account, which creates none here, has one more group.
    """
    for account in world.accounts.values():
        group = {
            **_BORN["campaignGroup"],
            "account": ACCOUNT + account.id,
            "name": "Default Campaign Group",
            "status": "ACTIVE",
            "runSchedule": {"start": 1704067200000},
            "backfilled": True,
        }
        world.create("campaignGroup", account.id, group, id=f"60{account.id}")
        if account.extra["native"]["type"] == "ENTERPRISE":
            other = {**group, "name": "Contract of this year", "backfilled": False}
            world.create("campaignGroup", account.id, other, id=f"61{account.id}")
