"""POST and PATCH of campaigns, ad sets and ads. There is no DELETE."""

from typing import Any

from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.parsing import InvalidRequest
from adsunify_northway.simulated import rules, tables
from adsunify_northway.simulated.answers import build_response, check_writable, require_advertiser
from adsunify_northway.simulated.entities import find_entity, render_entity, require_entity
from adsunify_northway.simulated.fields import CREATE_CHECKS, UPDATE_CHECKS


def create_campaign(request: Request) -> Response:
    """POST /advertisers/{advertiser}/campaigns. The default of `state` is LIVE."""
    account = require_advertiser(request)
    check_writable(account)
    data = _parse_create(request, "campaign")
    rules.check_campaign(data)
    rules.check_start(data, {}, request.now)
    return _create(request, "campaign", account.id, None, data)


def create_ad_set(request: Request) -> Response:
    """POST /campaigns/{parent}/ad_sets."""
    parent = find_entity(request, "campaign", request.path_parameters["parent"])
    check_writable(request.world.accounts[parent.account])
    data = _parse_create(request, "ad_set")
    rules.check_ad_set(data, parent)
    return _create(request, "ad_set", parent.account, parent.id, data)


def create_ad(request: Request) -> Response:
    """POST /ad_sets/{parent}/ads."""
    parent = find_entity(request, "ad_set", request.path_parameters["parent"])
    check_writable(request.world.accounts[parent.account])
    return _create(request, "ad", parent.account, parent.id, _parse_create(request, "ad"))


def _parse_create(request: Request, kind: str) -> dict[str, Any]:
    request.parse_query()
    return {"state": "LIVE", **request.parse_json(CREATE_CHECKS[kind])}


def _create(request: Request, kind: str, account: str, parent: str | None, data: dict[str, Any]) -> Response:
    world = request.world
    native_id = f"{tables.ID_PREFIXES[kind]}_{world.allocate_id()}"
    return build_response(
        request, render_entity(world, world.create(kind, account, data, parent=parent, id=native_id)), 201
    )


def update_entity(request: Request) -> Response:
    """PATCH /{campaigns|ad_sets|ads}/{id}: replaces the named members whole, keeps the others."""
    request.parse_query()
    entity = require_entity(request)
    check_writable(request.world.accounts[entity.account])
    members: dict[str, Any] = request.parse_json(UPDATE_CHECKS[entity.kind])
    if not members:
        raise InvalidRequest("required", "", "names nothing to change")
    data = {**entity.data, **members}
    if entity.kind == "campaign":
        rules.check_campaign(data)
        rules.check_start(members, entity.data, request.now)
    elif entity.kind == "ad_set":
        rules.check_ad_set(data, find_entity(request, "campaign", str(entity.parent)))
    return build_response(request, render_entity(request.world, request.world.replace(entity, data)))
