"""Creates, partial updates and deletes of campaign groups, campaigns and creatives.

Only the header `x-restli-id` has a new id; bodies of successful writes are empty.
"""

from typing import Any
from urllib.parse import quote

from adsunify.sandbox.checks import record
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.linkedin import answers, fields
from adsunify.sandbox.networks.linkedin.restli import parse_query
from adsunify.sandbox.networks.linkedin.rules import check_entity, get_status_member
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import Account, StoredEntity, World

KIND_BY_COLLECTION = {"adCampaignGroups": "campaignGroup", "adCampaigns": "campaign", "creatives": "creative"}
_PARENT_KINDS = {"campaignGroup": None, "campaign": "campaignGroup", "creative": "campaign"}
BATCH_FAULTS = frozenset({"partial"})
# values of members that a create leaves out
_CREATION_DEFAULTS: dict[str, dict[str, Any]] = {
    "campaignGroup": {"backfilled": False, "test": False},
    "campaign": {"audienceExpansionEnabled": False, "creativeSelection": "OPTIMIZED", "test": False},
    "creative": {},
}


def create_or_update_entities(request: Request) -> Response:
    """POST of a collection: creates one, or changes several by `X-RestLi-Method: BATCH_PARTIAL_UPDATE`."""
    account, kind = answers.require_account(request), KIND_BY_COLLECTION[request.path_parameters["entities"]]
    if request.headers.get("X-RestLi-Method") == "BATCH_PARTIAL_UPDATE":
        return _update_entities(request, account, kind)
    answers.require_method(request, "CREATE")
    parse_query(request)
    body = request.parse_json(fields.CREATE_CHECKS[kind])
    data = _start_review(request, {**_CREATION_DEFAULTS[kind], **body})
    check_entity(request, kind, account, data, None)
    if "inlineContent" in data:
        data["content"] = {"reference": f"urn:li:share:{request.world.allocate_id()}"}
        del data["inlineContent"]
    parent = _PARENT_KINDS[kind]
    entity = request.world.create(
        kind, account.id, data, parent=fields.get_urn_number(data[parent]) if parent else None
    )
    if kind == "creative":
        _set_campaign_format(request, entity)
    # the id of a creative is its URN, percent-encoded in the header
    native_id = quote(fields.URN_PREFIXES[kind] + entity.id, safe="") if kind == "creative" else entity.id
    # the path has the account's id, too, so a client that reads the id from the path gets the wrong one
    location = f"{request.path.removeprefix('/rest')}/{native_id}"
    return answers.build_response(201, None, {"x-restli-id": native_id, "Location": location})


def update_entity(request: Request) -> Response:
    """POST of one entity: PARTIAL_UPDATE."""
    answers.require_method(request, "PARTIAL_UPDATE", optional=False)
    parse_query(request)
    account, entity = _require_entity(request)
    _update_entity(request, account, entity, request.parse_json(fields.PATCH_CHECKS[entity.kind]), "")
    return answers.build_response(204)


def delete_entity(request: Request) -> Response:
    """DELETE of a draft."""
    answers.require_method(request, "DELETE")
    parse_query(request)
    _, entity = _require_entity(request)
    if request.body:
        raise InvalidRequest("unknown", "", "a DELETE has no body")
    if entity.data.get("backfilled"):
        raise InvalidRequest(
            "CANNOT_UPDATE_BACKFILLED_CAMPAIGN_GROUPS", "", "the default campaign group is not deleted"
        )
    if entity.data[get_status_member(entity.kind)] != "DRAFT":
        raise InvalidRequest("DELETE_ALLOWED_ONLY_FOR_DRAFT_STATUS", "", "anything else is set to PENDING_DELETION")
    request.world.remove(entity)
    return answers.build_response(204)


def require_entity(request: Request, account: Account, kind: str, native_id: str) -> StoredEntity:
    """The entity of a path: digits, or for creatives the percent-encoded URN. Raises InvalidRequest."""
    if kind == "creative":
        if ":" in request.path:
            raise InvalidRequest("unreadable", "", "the URN in the path must be percent-encoded")
        if not native_id.startswith(fields.URN_PREFIXES[kind]):
            raise InvalidRequest("value", "", "the key of a creative is its URN", native_id)
        native_id = native_id.removeprefix(fields.URN_PREFIXES[kind])
    entity = request.world.find(kind, native_id, account.id)
    if entity is None:
        raise InvalidRequest("NOT_FOUND", "", f"{kind} {native_id} was not found")
    return entity


def _require_entity(request: Request) -> tuple[Account, StoredEntity]:
    account, kind = answers.require_account(request), KIND_BY_COLLECTION[request.path_parameters["entities"]]
    return account, require_entity(request, account, kind, request.path_parameters["entity"])


def _update_entities(request: Request, account: Account, kind: str) -> Response:
    query = parse_query(request, {"ids": lambda value, where: value if isinstance(value, list) else [value]})
    body = request.parse_json(
        record({"entities": record(optional=dict.fromkeys(query["ids"], fields.PATCH_CHECKS[kind]))})
    )["entities"]
    results: dict[str, Any] = {}
    for position, (key, patch) in enumerate(body.items(), 1):
        try:
            with request.world.savepoint():
                if request.get_fault("partial") and position == len(body):
                    raise InvalidRequest("CONFLICT", "", "somebody else is writing")
                _update_entity(request, account, require_entity(request, account, kind, key), patch, f"/entities/{key}")
            results[key] = {"status": 204}
        except InvalidRequest as problem:
            status, code = answers.map_error(problem)
            results[key] = {
                "status": status,
                "error": answers.build_error_body(request, status, code, "", problem.message),
            }
    return answers.build_response(200, {"results": results, "errors": {}})


def _update_entity(
    request: Request, account: Account, entity: StoredEntity, content: dict[str, Any], where: str
) -> None:
    patch = content["patch"]
    deleted = patch.get("$delete", [])
    if not patch.get("$set") and not deleted:
        raise InvalidRequest("required", f"{where}/patch/$set", "a patch changes something")
    for name in deleted:
        if name in fields.REQUIRED_MEMBERS[entity.kind]:
            raise InvalidRequest("MISSING_FIELD", f"{where}/patch/$delete", f"{name} is required")
        if name in patch.get("$set", {}):
            raise InvalidRequest("duplicate", f"{where}/patch/$delete", f"{name} is set too")
    data = {name: value for name, value in {**entity.data, **patch.get("$set", {})}.items() if name not in deleted}
    check_entity(request, entity.kind, account, data, entity)
    request.world.replace(entity, _start_review(request, data))


def _start_review(request: Request, data: dict[str, Any]) -> dict[str, Any]:
    """Start the review of a creative that becomes ACTIVE for the first time."""
    if data.get("intendedStatus") != "ACTIVE" or "_reviewed_from" in data:
        return data
    return {**data, "_reviewed_from": int(request.now.timestamp())}


def _set_campaign_format(request: Request, creative: StoredEntity) -> None:
    """The first creative sets the format of a campaign without one."""
    campaign = request.world.find("campaign", str(creative.parent))
    assert campaign is not None
    if "format" not in campaign.data:
        request.world.replace(campaign, {**campaign.data, "format": "STANDARD_UPDATE"}, logged=False)


def seed_world(world: World) -> None:
    """Every account has a default group that cannot be edited or deleted.

    The enterprise account cannot create groups, so it has a second group.
    """
    for account in world.accounts.values():
        group = {
            **_CREATION_DEFAULTS["campaignGroup"],
            "account": fields.ACCOUNT_PREFIX + account.id,
            "name": "Default Campaign Group",
            "status": "ACTIVE",
            "runSchedule": {"start": 1704067200000},
            "backfilled": True,
        }
        world.create("campaignGroup", account.id, group, id=f"60{account.id}")
        if account.extra["native"]["type"] == "ENTERPRISE":
            other = {**group, "name": "Contract of this year", "backfilled": False}
            world.create("campaignGroup", account.id, other, id=f"61{account.id}")
