"""Identities, business centers, and what the creative of an ad must be."""

from collections.abc import Mapping
from typing import Any

from adsunify.sandbox.framework import Account, Answer, Problem, Request, foreign, json_text, record, text
from adsunify.sandbox.networks.tiktok.accounts import BUSINESS_CENTER, TOKYO
from adsunify.sandbox.networks.tiktok.answers import account_of, answer
from adsunify.sandbox.networks.tiktok.media import check_cover, check_video
from adsunify.sandbox.networks.tiktok.members import IDENTITIES
from adsunify.sandbox.networks.tiktok.shapes import ADVERTISER, one_of, page, paged

Data = Mapping[str, Any]
TIKTOK_ACCOUNTS = ("TT_USER", "BC_AUTH_TT")


def _tiktok(
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


def _plain(identity: str, kind: str, name: str) -> dict[str, Any]:
    image = f"https://p16-ad-sg.tiktokcdn.example/{identity}.jpeg"
    return {"identity_id": identity, "identity_type": kind, "display_name": name, "profile_image": image}


def _authorized(identity: str, name: str) -> dict[str, Any]:
    more = {"identity_type": "BC_AUTH_TT", "identity_authorized_bc_id": BUSINESS_CENTER}
    return {**_tiktok(identity, name), **more}


# Every account has the same. An identity that is not listed here, an ad may still name: it was made elsewhere.
LISTED: tuple[dict[str, Any], ...] = (
    _tiktok("6bd1-aa", "Street Shoes"),
    _tiktok("6bd1-private", "Private Shoes", status="IS_PRIVATE_ACCOUNT"),
    _tiktok("6bd1-nopush", "Pull Only Shoes", push=False),
    _tiktok("6bd1-gpppa", "Partner Shoes", gpppa=True),
    _plain("7088880001", "CUSTOMIZED_USER", "Shoe Shop"),
    _plain("7088880002", "AUTH_CODE", "Guest Creator"),
    _authorized("6bd1-bc", "Agency Shoes"),
    _authorized("6bd1-hidden", "Quiet Agency Shoes"),
)
_BY_ID = {row["identity_id"]: row for row in LISTED}
_CENTERS = (
    {"bc_id": "7077770000", "name": "Empty Center", "type": "NORMAL", "status": "ENABLE", "currency": "USD"},
    {"bc_id": BUSINESS_CENTER, "name": "Shoe Agency", "type": "AGENCY", "status": "ENABLE", "currency": "USD"},
)


def list_identities(request: Request) -> Answer:
    """GET /identity/get/: with BC_AUTH_TT the business center must be named; without a type all types come.

    Of the account in Tokyo the list of all types tells no business center: one identity comes without it, another not
    at all, so that the centers have to be asked one by one.
    """
    given = request.query(
        {"advertiser_id": ADVERTISER},
        {
            **paged(100),
            "identity_type": one_of(IDENTITIES),
            "identity_authorized_bc_id": text(),
            "filtering": json_text(record(optional={"keyword": text()})),
        },
    )
    account = account_of(request, given["advertiser_id"])
    kind, center = given.get("identity_type"), given.get("identity_authorized_bc_id")
    if (kind == "BC_AUTH_TT") != (center is not None) and not (kind is None and center is not None):
        raise Problem("required", "/identity_authorized_bc_id", "goes with BC_AUTH_TT, and only with it")
    rows = [dict(row) for row in LISTED if kind in (None, row["identity_type"])]
    if center is not None:
        rows = [row for row in rows if row.get("identity_authorized_bc_id") == center]
    elif account.id == TOKYO:
        rows = [row for row in rows if row["identity_id"] != "6bd1-hidden"]
        for row in rows:
            row.pop("identity_authorized_bc_id", None)
    keyword = given.get("filtering", {}).get("keyword", "").lower()
    found = page([row for row in rows if keyword in row["display_name"].lower()], given, 20)
    return answer({"identity_list": found["list"], "page_info": found["page_info"]})


def list_centers(request: Request) -> Answer:
    """GET /bc/get/."""
    given = request.query(optional={**paged(50), "bc_id": text()})
    rows = [{"bc_info": one, "user_role": "ADMIN"} for one in _CENTERS if given.get("bc_id") in (None, one["bc_id"])]
    return answer(page(rows, given))


def check_identity(account: Account, creative: Data, where: str) -> None:
    """The identity of a creative: whole, usable, and of the type it is said to be. Problem."""
    for name in ("identity_type", "identity_id"):
        if name not in creative:
            raise Problem("required", f"{where}/{name}", "is required")
    kind, identity = creative["identity_type"], creative["identity_id"]
    foreign()(identity, f"{where}/identity_id")
    if (kind == "BC_AUTH_TT") != ("identity_authorized_bc_id" in creative):
        raise Problem("required", f"{where}/identity_authorized_bc_id", "goes with BC_AUTH_TT, and only with it")
    if kind == "CUSTOMIZED_USER" and not account.extra["native"]["can_use_custom_identity"]:
        raise Problem("value", f"{where}/identity_type", "this account cannot use custom identities for new ads")
    known = _BY_ID.get(identity)
    if known is None:
        return
    if known["identity_type"] != kind:
        raise Problem("value", f"{where}/identity_type", f"identity {identity} is of type {known['identity_type']}")
    if known.get("identity_authorized_bc_id") != creative.get("identity_authorized_bc_id"):
        raise Problem("value", f"{where}/identity_authorized_bc_id", "is not the center that authorized the identity")
    if kind in TIKTOK_ACCOUNTS and (
        known["available_status"] != "AVAILABLE" or not known["can_push_video"] or known["is_gpppa"]
    ):
        raise Problem("forbidden", f"{where}/identity_id", f"identity {identity} cannot be used for pushed videos")


def check_creative(request: Request, account: Account, creative: Data, where: str) -> None:
    """One creative as an ad would hold it, whole. Only SINGLE_VIDEO is held to rules of its own. Problem."""
    for name in ("ad_name", "ad_format"):
        if name not in creative:
            raise Problem("required", f"{where}/{name}", "is required")
    check_identity(account, creative, where)
    _check_dark_post(account, creative, where)
    if "call_to_action" not in creative and "call_to_action_id" not in creative:
        raise Problem("required", f"{where}/call_to_action", "call_to_action or call_to_action_id is required")
    if "landing_page_url" not in creative:
        raise Problem("required", f"{where}/landing_page_url", "is required")
    if creative["ad_format"] != "SINGLE_VIDEO":
        return
    if creative["identity_type"] == "AUTH_CODE" and "tiktok_item_id" not in creative:
        raise Problem("required", f"{where}/tiktok_item_id", "is required with AUTH_CODE")
    if "tiktok_item_id" in creative:
        _check_post(creative, where)
        return
    for name in ("video_id", "image_ids", "ad_text"):
        if name not in creative:
            raise Problem("required", f"{where}/{name}", "is required for a video that is no TikTok post")
    check_video(creative["video_id"], f"{where}/video_id")
    if len(creative["image_ids"]) != 1:
        raise Problem("value", f"{where}/image_ids", "exactly one cover image is required")
    check_cover(request, creative["video_id"], creative["image_ids"][0], f"{where}/image_ids/0")


def _check_dark_post(account: Account, creative: Data, where: str) -> None:
    tiktok = creative["identity_type"] in TIKTOK_ACCOUNTS
    if "dark_post_status" in creative and not tiktok:
        raise Problem("value", f"{where}/dark_post_status", "is for TT_USER and BC_AUTH_TT only")
    if tiktok and account.extra["native"]["ads_only_mode"] and creative.get("dark_post_status") != "ON":
        raise Problem("value", f"{where}/dark_post_status", "must be ON: the account is in ads only mode")


def _check_post(creative: Data, where: str) -> None:
    """An existing TikTok post ("Spark Ads pull"): the post has video and text already."""
    if creative["identity_type"] == "CUSTOMIZED_USER":
        raise Problem("value", f"{where}/tiktok_item_id", "does not go with CUSTOMIZED_USER")
    for name in ("video_id", "image_ids"):
        if name in creative:
            raise Problem("value", f"{where}/{name}", "does not go with tiktok_item_id")
