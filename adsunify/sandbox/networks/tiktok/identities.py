"""Identities, business centers, and rules for the creatives of ads."""

from collections.abc import Mapping
from typing import Any

from adsunify.sandbox.checks import external_id, json_text, one_of, record, text
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.tiktok.accounts import BUSINESS_CENTER, TOKYO_ACCOUNT
from adsunify.sandbox.networks.tiktok.answers import build_response, require_account_by_id
from adsunify.sandbox.networks.tiktok.media import check_cover, check_video
from adsunify.sandbox.networks.tiktok.members import IDENTITY_TYPES
from adsunify.sandbox.networks.tiktok.shapes import ADVERTISER_CHECK, paginate, paging_checks
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import Account

Data = Mapping[str, Any]
TIKTOK_IDENTITY_TYPES = ("TT_USER", "BC_AUTH_TT")


def _make_tiktok_identity(
    identity: str, name: str, status: str = "AVAILABLE", push: bool = True, gpppa: bool = False
) -> dict[str, Any]:
    return {
        "identity_id": identity,
        "identity_type": "TT_USER",
        "display_name": name,
        "user_name": name.lower().replace(" ", "."),
        "profile_image": f"https://p16-ad-sg.tiktokcdn.example/{identity}.jpeg",
        "available_status": status,
        "can_push_video": push,
        "can_pull_video": True,
        "can_use_live_ads": False,
        "can_manage_message": False,
        "is_gpppa": gpppa,
    }


def _make_plain_identity(identity: str, kind: str, name: str) -> dict[str, Any]:
    image = f"https://p16-ad-sg.tiktokcdn.example/{identity}.jpeg"
    return {"identity_id": identity, "identity_type": kind, "display_name": name, "profile_image": image}


def _make_authorized_identity(identity: str, name: str) -> dict[str, Any]:
    authorization = {"identity_type": "BC_AUTH_TT", "identity_authorized_bc_id": BUSINESS_CENTER}
    return {**_make_tiktok_identity(identity, name), **authorization}


# Every account has these. An ad may also use any other identity: it was made elsewhere.
IDENTITIES: tuple[dict[str, Any], ...] = (
    _make_tiktok_identity("6bd1-aa", "Street Shoes"),
    _make_tiktok_identity("6bd1-private", "Private Shoes", status="IS_PRIVATE_ACCOUNT"),
    _make_tiktok_identity("6bd1-nopush", "Pull Only Shoes", push=False),
    _make_tiktok_identity("6bd1-gpppa", "Partner Shoes", gpppa=True),
    _make_plain_identity("7088880001", "CUSTOMIZED_USER", "Shoe Shop"),
    _make_plain_identity("7088880002", "AUTH_CODE", "Guest Creator"),
    _make_authorized_identity("6bd1-bc", "Agency Shoes"),
    _make_authorized_identity("6bd1-hidden", "Quiet Agency Shoes"),
)
_IDENTITIES_BY_ID = {row["identity_id"]: row for row in IDENTITIES}
_BUSINESS_CENTERS = (
    {"bc_id": "7077770000", "name": "Empty Center", "type": "NORMAL", "status": "ENABLE", "currency": "USD"},
    {"bc_id": BUSINESS_CENTER, "name": "Shoe Agency", "type": "AGENCY", "status": "ENABLE", "currency": "USD"},
)


def list_identities(request: Request) -> Response:
    """GET /identity/get/: BC_AUTH_TT requires the business center. Without a type the list has every type.

    For the account in Tokyo the list without a type is incomplete: one identity has no business center, and another
    identity is missing. Clients must query each center.
    """
    query = request.parse_query(
        {"advertiser_id": ADVERTISER_CHECK},
        {
            **paging_checks(100),
            "identity_type": one_of(IDENTITY_TYPES),
            "identity_authorized_bc_id": text(),
            "filtering": json_text(record(optional={"keyword": text()})),
        },
    )
    account = require_account_by_id(request, query["advertiser_id"])
    kind, center = query.get("identity_type"), query.get("identity_authorized_bc_id")
    if (kind == "BC_AUTH_TT") != (center is not None) and not (kind is None and center is not None):
        raise InvalidRequest("required", "/identity_authorized_bc_id", "goes with BC_AUTH_TT, and only with it")
    rows = [dict(row) for row in IDENTITIES if kind in (None, row["identity_type"])]
    if center is not None:
        rows = [row for row in rows if row.get("identity_authorized_bc_id") == center]
    elif account.id == TOKYO_ACCOUNT:
        rows = [row for row in rows if row["identity_id"] != "6bd1-hidden"]
        for row in rows:
            row.pop("identity_authorized_bc_id", None)
    keyword = query.get("filtering", {}).get("keyword", "").lower()
    page = paginate([row for row in rows if keyword in row["display_name"].lower()], query, 20)
    return build_response({"identity_list": page["list"], "page_info": page["page_info"]})


def list_business_centers(request: Request) -> Response:
    """GET /bc/get/."""
    query = request.parse_query(optional={**paging_checks(50), "bc_id": text()})
    rows = [
        {"bc_info": center, "user_role": "ADMIN"}
        for center in _BUSINESS_CENTERS
        if query.get("bc_id") in (None, center["bc_id"])
    ]
    return build_response(paginate(rows, query))


def check_identity(account: Account, creative: Data, where: str) -> None:
    """Check the identity of a creative: complete, usable, and of the named type. Raises InvalidRequest."""
    for name in ("identity_type", "identity_id"):
        if name not in creative:
            raise InvalidRequest("required", f"{where}/{name}", "is required")
    kind, identity = creative["identity_type"], creative["identity_id"]
    external_id()(identity, f"{where}/identity_id")
    if (kind == "BC_AUTH_TT") != ("identity_authorized_bc_id" in creative):
        raise InvalidRequest("required", f"{where}/identity_authorized_bc_id", "goes with BC_AUTH_TT, and only with it")
    if kind == "CUSTOMIZED_USER" and not account.extra["native"]["can_use_custom_identity"]:
        raise InvalidRequest("value", f"{where}/identity_type", "this account cannot use custom identities for new ads")
    identity_facts = _IDENTITIES_BY_ID.get(identity)
    if identity_facts is None:
        return
    if identity_facts["identity_type"] != kind:
        raise InvalidRequest(
            "value", f"{where}/identity_type", f"identity {identity} is of type {identity_facts['identity_type']}"
        )
    if identity_facts.get("identity_authorized_bc_id") != creative.get("identity_authorized_bc_id"):
        raise InvalidRequest(
            "value", f"{where}/identity_authorized_bc_id", "is not the center that authorized the identity"
        )
    if kind in TIKTOK_IDENTITY_TYPES and (
        identity_facts["available_status"] != "AVAILABLE"
        or not identity_facts["can_push_video"]
        or identity_facts["is_gpppa"]
    ):
        raise InvalidRequest(
            "forbidden", f"{where}/identity_id", f"identity {identity} cannot be used for pushed videos"
        )


def check_creative(request: Request, account: Account, creative: Data, where: str) -> None:
    """Check one whole creative of an ad. Only SINGLE_VIDEO has rules. Raises InvalidRequest."""
    for name in ("ad_name", "ad_format"):
        if name not in creative:
            raise InvalidRequest("required", f"{where}/{name}", "is required")
    check_identity(account, creative, where)
    _check_dark_post(account, creative, where)
    if "call_to_action" not in creative and "call_to_action_id" not in creative:
        raise InvalidRequest("required", f"{where}/call_to_action", "call_to_action or call_to_action_id is required")
    if "landing_page_url" not in creative:
        raise InvalidRequest("required", f"{where}/landing_page_url", "is required")
    if creative["ad_format"] != "SINGLE_VIDEO":
        return
    if creative["identity_type"] == "AUTH_CODE" and "tiktok_item_id" not in creative:
        raise InvalidRequest("required", f"{where}/tiktok_item_id", "is required with AUTH_CODE")
    if "tiktok_item_id" in creative:
        _check_post(creative, where)
        return
    for name in ("video_id", "image_ids", "ad_text"):
        if name not in creative:
            raise InvalidRequest("required", f"{where}/{name}", "is required for a video that is no TikTok post")
    check_video(creative["video_id"], f"{where}/video_id")
    if len(creative["image_ids"]) != 1:
        raise InvalidRequest("value", f"{where}/image_ids", "exactly one cover image is required")
    check_cover(request, creative["video_id"], creative["image_ids"][0], f"{where}/image_ids/0")


def _check_dark_post(account: Account, creative: Data, where: str) -> None:
    tiktok = creative["identity_type"] in TIKTOK_IDENTITY_TYPES
    if "dark_post_status" in creative and not tiktok:
        raise InvalidRequest("value", f"{where}/dark_post_status", "is for TT_USER and BC_AUTH_TT only")
    if tiktok and account.extra["native"]["ads_only_mode"] and creative.get("dark_post_status") != "ON":
        raise InvalidRequest("value", f"{where}/dark_post_status", "must be ON: the account is in ads only mode")


def _check_post(creative: Data, where: str) -> None:
    """Check an existing TikTok post ("Spark Ads pull"), which has its video and text."""
    if creative["identity_type"] == "CUSTOMIZED_USER":
        raise InvalidRequest("value", f"{where}/tiktok_item_id", "does not go with CUSTOMIZED_USER")
    for name in ("video_id", "image_ids"):
        if name in creative:
            raise InvalidRequest("value", f"{where}/{name}", "does not go with tiktok_item_id")
