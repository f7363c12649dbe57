"""Campaigns, ad squads, ads and creatives in responses, and their derived states."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from adsunify.sandbox.checks import boolean_text
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.snapchat import answers
from adsunify.sandbox.networks.snapchat.fields import ID_CHECK
from adsunify.sandbox.networks.snapchat.tables import ACCOUNTS, AD_TYPE_BY_CREATIVE_TYPE
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import StoredEntity, World

# path word -> name of one object in responses
KIND_BY_COLLECTION: Mapping[str, str] = {
    "campaigns": "campaign",
    "adsquads": "adsquad",
    "ads": "ad",
    "creatives": "creative",
}
PARENT_KINDS: Mapping[str, str] = {"adsquad": "campaign", "ad": "adsquad"}
PARENT_ID_MEMBERS: Mapping[str, str] = {
    "campaign": "ad_account_id",
    "adsquad": "campaign_id",
    "ad": "ad_squad_id",
    "creative": "ad_account_id",
}
_REVIEW_TIME = timedelta(seconds=60)  # our choice: undocumented
_REACH_TIME = timedelta(seconds=5)  # our choice: undocumented
_AUTHOR_MEMBERS = {"created_by_app_id": "sandbox", "created_by_user": "demo@tea.example"}


def get_entity(request: Request) -> Response:
    """GET /{kind}/{id}. A deleted object is returned only with `read_deleted_entities=true`."""
    query = request.parse_query({}, _read_checks(request.path_parameters["kind"]))
    kind = KIND_BY_COLLECTION[request.path_parameters["kind"]]
    if kind == "creative":
        creative = find_creative(request.world, request.path_parameters["id"])
        if creative is None:
            raise answers.not_found_error(request, "creative")
        answers.require_permitted_account(request, str(creative["ad_account_id"]))
        return answers.build_response(request, {"creatives": [{"sub_request_status": "success", "creative": creative}]})
    entity = request.world.find(kind, request.path_parameters["id"])
    if entity is None or ("_deleted" in entity.data and not query.get("read_deleted_entities")):
        raise answers.not_found_error(request, kind)
    answers.require_permitted_account(request, entity.account)
    members = render_entity(request.world, entity, placement=bool(query.get("return_placement_v2")))
    return answers.build_response(
        request, {request.path_parameters["kind"]: [{"sub_request_status": "success", kind: members}]}
    )


def list_entities(request: Request) -> Response:
    """GET of a list below an ad account, a campaign or an ad squad."""
    query = request.parse_query({}, {**answers.PAGING_CHECKS, **_read_checks(request.path_parameters["kind"])})
    word = request.path_parameters["kind"]
    kind, above, id_above = KIND_BY_COLLECTION[word], request.path_parameters["above"], request.path_parameters["id"]
    if above == "adaccounts":
        account_id = answers.require_permitted_account(request, id_above).id
        entities = request.world.list_entities(kind, account_id)
    else:
        parent = request.world.find(KIND_BY_COLLECTION[above], id_above)
        if parent is None:
            raise answers.not_found_error(request, KIND_BY_COLLECTION[above])
        answers.require_permitted_account(request, parent.account)
        entities = [
            entity
            for entity in request.world.list_entities(kind, parent.account)
            if _is_below(request.world, entity, parent)
        ]
    alive = [entity for entity in entities if "_deleted" not in entity.data or query.get("read_deleted_entities")]
    rows = [render_entity(request.world, entity, placement=bool(query.get("return_placement_v2"))) for entity in alive]
    return answers.build_page_response(request, word, kind, rows, query)


def _is_below(world: World, entity: StoredEntity, parent: StoredEntity) -> bool:
    if entity.parent == parent.id:
        return True
    kind = PARENT_KINDS.get(entity.kind)
    above = world.find(kind, str(entity.parent)) if kind is not None else None
    return above is not None and above.parent == parent.id


def _read_checks(word: str) -> dict[str, Any]:
    more = {"return_placement_v2": boolean_text} if word == "adsquads" else {}
    return {"read_deleted_entities": boolean_text, **more}


def render_entity(world: World, entity: StoredEntity, *, placement: bool = True) -> dict[str, Any]:
    """An object in a response. `placement_v2` only if requested."""
    data = {name: value for name, value in entity.data.items() if not name.startswith("_")}
    if not placement:
        data.pop("placement_v2", None)
    members = {
        "id": entity.id,
        "updated_at": answers.INSTANT.format(entity.updated_at),
        "created_at": answers.INSTANT.format(entity.created_at),
        **data,
    }
    if "_deleted" in entity.data:
        members["deleted"] = True
    if entity.kind == "creative":
        return {**members, "review_status": entity.data["_review"], "packaging_status": entity.data["_packaging"]}
    members |= {**_AUTHOR_MEMBERS, "creation_state": "PUBLISHED", "delivery_status": get_delivery_status(world, entity)}
    if entity.kind == "adsquad":
        computed = world.now - entity.updated_at >= _REACH_TIME
        members["targeting_reach_status"] = "VALID" if computed else "PENDING"
    if entity.kind == "ad":
        members |= {"render_type": "STATIC", "review_status": get_review_status(world, entity)}
        members["review_status_reasons"] = []
    return members


def get_review_status(world: World, ad: StoredEntity) -> str:
    """The review status of an ad. The review begins after creation."""
    if world.is_refused(ad):
        return "REJECTED"
    return "APPROVED" if world.now - ad.created_at >= _REVIEW_TIME else "PENDING"


def get_delivery_status(world: World, entity: StoredEntity) -> list[str]:
    """The reasons why an object cannot deliver, or VALID."""
    issues = _list_own_delivery_issues(world.now, entity)
    kind, parent, above = PARENT_KINDS.get(entity.kind), entity.parent, []
    while kind is not None:
        ancestor = world.find(kind, str(parent))
        assert ancestor is not None
        above.append(ancestor)
        kind, parent = PARENT_KINDS.get(kind), ancestor.parent
    if any("_deleted" in ancestor.data for ancestor in above):
        issues.append("INVALID_EFFECTIVE_DELETED")
    if any(ancestor.data["status"] != "ACTIVE" for ancestor in above):
        issues.append("INVALID_NOT_EFFECTIVE_ACTIVE")
    if entity.kind == "ad" and get_review_status(world, entity) == "PENDING":
        issues.append("INVALID_PENDING_REVIEW_STATUS")
    if entity.kind == "adsquad" and not any(
        ad.data["status"] == "ACTIVE" and "_deleted" not in ad.data
        for ad in world.list_entities("ad", entity.account, entity.id)
    ):
        issues.append("INVALID_AD_SQUAD_HAS_NO_ACTIVE_ADS")
    return issues or ["VALID"]


def _list_own_delivery_issues(now: datetime, entity: StoredEntity) -> list[str]:
    issues = [] if entity.data["status"] == "ACTIVE" else ["INVALID_NOT_ACTIVE"]
    if entity.data.get("start_time", "") > answers.INSTANT.format(now):
        issues.append("INVALID_START_TIME")
    if entity.data.get("end_time", "9") <= answers.INSTANT.format(now):
        issues.append("INVALID_END_TIME")
    return issues


def find_creative(world: World, native_id: str) -> dict[str, Any] | None:
    """A creative by its id. Any other well-formed id belongs to the first demo account (our choice).

    With `missing` in the id the creative does not exist, with `ineligible` it was rejected, with `processing` it is
    being packaged.
    """
    if (entity := world.find("creative", native_id)) is not None:
        return render_entity(world, entity)
    review_status, packaging = "APPROVED", "SUCCESS"
    try:
        ID_CHECK(native_id, "")
    except InvalidRequest as problem:
        if problem.code not in ("ineligible", "processing"):
            return None
        review_status = "REJECTED" if problem.code == "ineligible" else "APPROVED"
        packaging = "PENDING" if problem.code == "processing" else "SUCCESS"
    return {
        "id": native_id,
        "updated_at": "2026-01-02T10:00:00.000Z",
        "created_at": "2026-01-02T10:00:00.000Z",
        "ad_account_id": ACCOUNTS[0].id,
        "name": "Creative from elsewhere",
        "type": "WEB_VIEW",
        "headline": "Tea and more",
        "brand_name": "Demo Tea",
        "shareable": True,
        "review_status": review_status,
        "packaging_status": packaging,
    }


def get_ad_type(creative_type: str) -> str | None:
    """The ad type of a creative type; None for PREVIEW, which cannot be promoted."""
    return None if creative_type == "PREVIEW" else AD_TYPE_BY_CREATIVE_TYPE.get(creative_type, creative_type)
