"""Creates and updates of both flows."""

from collections.abc import Mapping
from typing import Any

from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.tiktok import members, rules, smart_plus
from adsunify.sandbox.networks.tiktok.answers import build_response, require_account_by_id
from adsunify.sandbox.networks.tiktok.entities import get_automation_type, get_id_name, require_entity
from adsunify.sandbox.networks.tiktok.identities import check_creative
from adsunify.sandbox.networks.tiktok.reads import render_entity
from adsunify.sandbox.networks.tiktok.shapes import format_instant
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import Account, StoredEntity

Data = dict[str, Any]
_CREATE_CHECKS = {False: members.CREATE_CHECKS, True: smart_plus.CREATE_CHECKS}
_UPDATE_CHECKS = {False: members.UPDATE_CHECKS, True: smart_plus.UPDATE_CHECKS}
_ADDRESSING_MEMBERS = ("advertiser_id", "campaign_id", "adgroup_id", "ad_id", "smart_plus_ad_id", "request_id")


def create_campaign(request: Request, *, smart: bool) -> Response:
    """POST /campaign/create/ and /smart_plus/campaign/create/.

    Defaults: enabled, and for Smart+ with CBO (our choice).
    """
    account, members = _parse_body(request, "campaign", _CREATE_CHECKS[smart])
    _reserve_request_id(request, account, members)
    data = {
        "operation_status": "ENABLE",
        "budget_optimize_on": smart,
        "budget_mode": rules.INFINITE_BUDGET,
        **_extract_members(members),
    }
    rules.check_campaign(account, data)
    campaign = request.world.create(
        "campaign", account.id, {**data, "campaign_automation_type": get_automation_type(smart)}
    )
    return build_response(render_entity(request, campaign, smart))


def create_ad_group(request: Request, *, smart: bool) -> Response:
    """POST /adgroup/create/ and /smart_plus/adgroup/create/."""
    account, members = _parse_body(request, "adgroup", _CREATE_CHECKS[smart])
    campaign = require_entity(request, account, "campaign", members["campaign_id"], smart, "/campaign_id")
    _reserve_request_id(request, account, members)
    defaults = {"operation_status": "ENABLE", "bid_type": rules.NO_BID, "placement_type": "PLACEMENT_TYPE_AUTOMATIC"}
    if smart:
        defaults["targeting_optimization_mode"] = "AUTOMATIC"
    data = {**defaults, **_extract_members(members)}
    rules.check_ad_group(_make_change(request, account, campaign, data, smart))
    data["campaign_automation_type"] = get_automation_type(smart)
    group = request.world.create("adgroup", account.id, data, parent=campaign.id)
    return build_response(render_entity(request, group, smart))


def create_ads(request: Request) -> Response:
    """POST /ad/create/: all creatives or none (our choice)."""
    account, body = _parse_body(request, "ad", members.CREATE_CHECKS)
    group = require_entity(request, account, "adgroup", body["adgroup_id"], False, "/adgroup_id")
    _check_transcoded(request, "/creatives/0/video_id")
    ads = []
    for position, creative in enumerate(body["creatives"]):
        check_creative(request, account, creative, f"/creatives/{position}")
        data = {
            "operation_status": "ENABLE",
            **creative,
            **_start_review(request),
            "campaign_automation_type": get_automation_type(False),
        }
        ads.append(request.world.create("ad", account.id, data, parent=group.id))
    creatives = [render_entity(request, ad, False) for ad in ads]
    return build_response({"ad_ids": [ad.id for ad in ads], "creatives": creatives, "need_audit": True})


def create_smart_ad(request: Request) -> Response:
    """POST /smart_plus/ad/create/. The manual lists show it under another ad id."""
    account, members = _parse_body(request, "ad", smart_plus.CREATE_CHECKS)
    group = require_entity(request, account, "adgroup", members["adgroup_id"], True, "/adgroup_id")
    _check_transcoded(request, "/creative_list/0/creative_info/video_info/video_id")
    data = {
        "operation_status": "ENABLE",
        **_extract_members(members),
        **_start_review(request),
        "campaign_automation_type": get_automation_type(True),
    }
    _check_smart_ad(request, account, data)
    ad = request.world.create("ad", account.id, data, parent=group.id)
    ad = request.world.replace(ad, {**ad.data, "_ad_id": request.world.allocate_id()})
    return build_response(render_entity(request, ad, True))


def update_campaign(request: Request, *, smart: bool) -> Response:
    """POST /campaign/update/ and /smart_plus/campaign/update/."""
    account, entity, members = _parse_update(request, "campaign", smart)
    if "budget" in members and entity.data["budget_mode"] == rules.INFINITE_BUDGET:
        raise rules.invalid_value_error("budget", "the campaign holds no budget")
    if members.get("special_industries"):
        raise rules.invalid_value_error("special_industries", "may only be cleared")
    data = {**entity.data, **members}
    rules.check_campaign(account, data)
    return build_response(render_entity(request, request.world.replace(entity, data), smart))


def update_ad_group(request: Request, *, smart: bool) -> Response:
    """POST /adgroup/update/ and /smart_plus/adgroup/update/: absent members keep their values."""
    account, entity, members = _parse_update(request, "adgroup", smart)
    for name in ("schedule_start_time", "schedule_end_time"):
        if name in members and "schedule_type" not in members:
            raise InvalidRequest("required", "/schedule_type", f"goes with {name}")
    campaign = request.world.find("campaign", entity.parent or "")
    assert campaign is not None
    if campaign.data["budget_optimize_on"]:
        for name in ("budget", "bid_type", "bid_price", "conversion_bid_price"):
            if name in members:
                raise rules.invalid_value_error(name, "is locked: the campaign holds the budget (budget_optimize_on)")
    data = {**entity.data, **members}
    if members.get("bid_type") == rules.NO_BID:  # the old bid is removed
        for name in ("bid_price", "conversion_bid_price"):
            if name not in members:
                data.pop(name, None)
    if members.get("schedule_type") == "SCHEDULE_FROM_NOW" and "schedule_end_time" not in members:
        data.pop("schedule_end_time", None)
    rules.check_ad_group(_make_change(request, account, campaign, data, smart, entity.data))
    return build_response(render_entity(request, request.world.replace(entity, data), smart))


def update_ads(request: Request) -> Response:
    """POST /ad/update/: changes some members with `patch_update`, or replaces the whole creative without it."""
    account, body = _parse_body(request, "ad", members.UPDATE_CHECKS)
    group = require_entity(request, account, "adgroup", body["adgroup_id"], False, "/adgroup_id")
    patch, changed = body.get("patch_update", False), []
    for position, creative in enumerate(body["creatives"]):
        where = f"/creatives/{position}"
        entity = require_entity(request, account, "ad", creative["ad_id"], False, f"{where}/ad_id")
        if entity.parent != group.id:
            raise InvalidRequest("value", f"{where}/ad_id", f"ad {entity.id} is not in ad group {group.id}")
        new = _extract_members(creative)
        refused = [name for name in new if patch and name not in members.PATCHABLE_MEMBERS]
        if refused:
            raise InvalidRequest("unknown", f"{where}/{refused[0]}", "cannot be changed with patch_update")
        stored_members = entity.data if patch else {name: entity.data[name] for name in _PERMANENT_MEMBERS}
        data = {**stored_members, **new, **_start_review(request)}
        if new.get("identity_type", "BC_AUTH_TT") != "BC_AUTH_TT" and "identity_authorized_bc_id" not in new:
            data.pop("identity_authorized_bc_id", None)
        check_creative(request, account, data, where)
        changed.append(request.world.replace(entity, data))
    creatives = [render_entity(request, ad, False) for ad in changed]
    return build_response({"ad_ids": [ad.id for ad in changed], "creatives": creatives, "need_audit": True})


def update_smart_ad(request: Request) -> Response:
    """POST /smart_plus/ad/update/: absent members keep their values (our choice); each list is replaced whole."""
    account, entity, members = _parse_update(request, "ad", smart=True)
    data = {**entity.data, **members, **_start_review(request)}
    _check_smart_ad(request, account, data)
    return build_response(render_entity(request, request.world.replace(entity, data), True))


_PERMANENT_MEMBERS = ("operation_status", "campaign_automation_type")


def _parse_body(request: Request, kind: str, tables: Mapping[str, Any]) -> tuple[Account, Data]:
    request.parse_query()
    body: Data = request.parse_json(tables[kind])
    return require_account_by_id(request, body["advertiser_id"]), body


def _parse_update(request: Request, kind: str, smart: bool) -> tuple[Account, StoredEntity, Data]:
    account, body = _parse_body(request, kind, _UPDATE_CHECKS[smart])
    name = get_id_name(kind, smart)
    return account, require_entity(request, account, kind, body[name], smart, f"/{name}"), _extract_members(body)


def _extract_members(members: Mapping[str, Any]) -> Data:
    return {name: value for name, value in members.items() if name not in _ADDRESSING_MEMBERS}


def _reserve_request_id(request: Request, account: Account, members: Mapping[str, Any]) -> None:
    """Refuse a request_id that has succeeded for this advertiser.

    After a refused create the request_id can be used again.
    """
    if "request_id" not in members:
        return
    key = f"{account.id}:{int(members['request_id'])}"
    if request.world.find("request", key) is not None:
        raise InvalidRequest("duplicate_request", "/request_id", "duplicated request")
    request.world.create("request", account.id, {}, id=key, logged=False)


def _make_change(
    request: Request,
    account: Account,
    campaign: StoredEntity,
    data: Data,
    smart: bool,
    before: Mapping[str, Any] | None = None,
) -> rules.AdGroupChange:
    def spec(whole: Mapping[str, Any]) -> Mapping[str, Any]:
        return whole["targeting_spec"] if smart else whole

    place = "targeting_spec/" if smart else ""
    old = None if before is None else spec(before)
    return rules.AdGroupChange(account, request.now, data, spec(data), place, campaign.data, before, old)


def _start_review(request: Request) -> Data:
    return {"_review_from": format_instant(request.now)}


def _check_transcoded(request: Request, where: str) -> None:
    """Perform the fault slow_media. TikTok's error names no time to wait."""
    if request.get_fault("slow_media"):
        raise InvalidRequest("processing", where, "the video is being transcoded")


def _check_smart_ad(request: Request, account: Account, data: Data) -> None:
    """Check each creative, in the shape of the manual flow."""
    if "creative_list" not in data:
        raise InvalidRequest("required", "/creative_list", "is required")
    texts, links = data.get("ad_text_list"), data.get("landing_page_url_list")
    actions, configuration = data.get("call_to_action_list"), data.get("ad_configuration", {})
    for position, item in enumerate(data["creative_list"]):
        where, info = f"/creative_list/{position}/creative_info", item["creative_info"]
        creative = {
            **{name: value for name, value in info.items() if not name.endswith("_info")},
            "ad_name": data["ad_name"],
            **({"ad_text": texts[0]["ad_text"]} if texts else {}),
            **({"landing_page_url": links[0]["landing_page_url"]} if links else {}),
            **({"call_to_action": actions[0]["call_to_action"]} if actions else {}),
            **{
                name: configuration[name] for name in ("dark_post_status", "call_to_action_id") if name in configuration
            },
            **({"video_id": info["video_info"]["video_id"]} if "video_info" in info else {}),
            **({"image_ids": [image["web_uri"] for image in info["image_info"]]} if "image_info" in info else {}),
        }
        check_creative(request, account, creative, where)
