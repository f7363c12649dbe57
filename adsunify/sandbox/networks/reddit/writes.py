"""POST and PATCH of campaigns, ad groups and ads. There is no DELETE, no PUT."""

from collections.abc import Mapping
from typing import Any

from adsunify.sandbox.checks import any_value, record
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.reddit import rules
from adsunify.sandbox.networks.reddit.answers import INSTANT, build_response, check_account_writable, require_account
from adsunify.sandbox.networks.reddit.entities import KIND_BY_COLLECTION, PARENT_KINDS, render_entity, require_entity
from adsunify.sandbox.networks.reddit.fields import CREATE_CHECKS, IMMUTABLE_MEMBERS, READ_ONLY, UPDATE_CHECKS
from adsunify.sandbox.networks.reddit.posts import require_post
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import Account, StoredEntity

_ENVELOPE_CHECK = record(required={"data": any_value})
_PARENT_ID_MEMBERS = {"ad_group": "campaign_id", "ad": "ad_group_id"}


def create_entity(request: Request) -> Response:
    """POST /ad_accounts/{account}/{campaigns|ad_groups|ads}. The default of `configured_status` is ACTIVE."""
    request.parse_query()
    account = require_account(request, writing=True)
    kind = KIND_BY_COLLECTION[request.path_parameters["kind"]]
    _reject_members(request, READ_ONLY[kind], "is read-only")
    data: dict[str, Any] = {"configured_status": "ACTIVE", **request.parse_json(CREATE_CHECKS[kind])["data"]}
    above = _require_parent(request, kind, data, account)
    _check_rules(request, kind, data, above, account)
    rules.check_start_time(data, {}, request.now)
    entity = request.world.create(kind, account.id, data, parent=above.id if above is not None else None)
    return build_response(render_entity(request.world, entity), 201)


def update_entity(request: Request) -> Response:
    """PATCH /campaigns/{id}, /ad_groups/{id}, /ads/{id}: replaces the named members whole, keeps the others."""
    request.parse_query()
    entity = require_entity(request)
    account = request.world.accounts[entity.account]
    check_account_writable(account)
    kind = entity.kind
    _reject_members(request, (*READ_ONLY[kind], *IMMUTABLE_MEMBERS[kind]), "cannot be changed")
    members: dict[str, Any] = request.parse_json(UPDATE_CHECKS[kind])["data"]
    if not members:
        raise InvalidRequest("required", "/data", "names nothing to change")
    rules.check_change(entity, members, request.now)
    if members.get("configured_status") not in ("ARCHIVED", "DELETED"):
        above = request.world.find(PARENT_KINDS[kind], str(entity.parent)) if kind in PARENT_KINDS else None
        _check_rules(request, kind, {**entity.data, **members}, above, account)
        rules.check_start_time(members, entity.data, request.now)
    if "post_id" in members:
        members["_posted_at"] = INSTANT.format(request.now)
    return build_response(render_entity(request.world, request.world.replace(entity, {**entity.data, **members})))


def _check_rules(
    request: Request, kind: str, data: Mapping[str, Any], above: StoredEntity | None, account: Account
) -> None:
    if kind == "campaign":
        rules.check_campaign(data)
    elif kind == "ad_group":
        assert above is not None, "an ad group has a campaign"
        rules.check_ad_group(data, above, account)
    else:
        if request.get_fault("slow_media"):
            raise InvalidRequest("processing", "/data/post_id", "the post is still being processed")
        rules.check_ad(data, require_post(data["post_id"], "/data/post_id"))


def _require_parent(request: Request, kind: str, data: Mapping[str, Any], account: Account) -> StoredEntity | None:
    """The parent that a body names.

    Raises InvalidRequest if it is deleted or not of this account (our choice: 400, not 404).
    """
    if kind not in PARENT_KINDS:
        return None
    name = _PARENT_ID_MEMBERS[kind]
    above = request.world.find(PARENT_KINDS[kind], data[name], account.id)
    if above is None:
        raise rules.rule_error(name, "does not exist in this ad account")
    if above.data["configured_status"] in ("ARCHIVED", "DELETED"):
        raise rules.rule_error(name, "is archived or deleted")
    return above


def _reject_members(request: Request, names: tuple[str, ...], reason: str) -> None:
    data = request.parse_json(_ENVELOPE_CHECK)["data"]
    for name in names:
        if isinstance(data, dict) and name in data:
            raise rules.rule_error(name, reason)
