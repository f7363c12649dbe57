"""Videos, covers and images."""

import hashlib
from collections.abc import Mapping
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any

from adsunify.sandbox.checks import (
    Check,
    array,
    boolean,
    choice,
    external_id,
    integer,
    integer_text,
    json_text,
    record,
    text,
)
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.tiktok.answers import build_response, require_account_by_id
from adsunify.sandbox.networks.tiktok.shapes import (
    ADVERTISER_CHECK,
    TEXT_CHECK,
    check_url,
    format_instant,
    paginate,
    paging_checks,
)
from adsunify.sandbox.parsing import InvalidRequest

PORTRAIT = (720, 1280)
# The library of every account: id, file name, size. Any other video id is a portrait video uploaded elsewhere.
VIDEOS: Mapping[str, tuple[str, tuple[int, int]]] = {
    "v10033g50000abc": ("autumn.mp4", PORTRAIT),
    "v10033g50000wide": ("landscape.mp4", (1280, 720)),
    "v10033g50000processing": ("just uploaded.mp4", PORTRAIT),
}
IMAGES: Mapping[str, tuple[str, tuple[int, int]]] = {
    "ad-site-i18n-sg/20261101abc": ("cover.jpg", PORTRAIT),
    "ad-site-i18n-sg/20261101square": ("square.jpg", (1080, 1080)),
}
_INFO_CHECKS: Mapping[str, Check] = {"advertiser_id": ADVERTISER_CHECK, "video_ids": json_text(array(text(), 1, 60))}
_VIDEO_FILTER_CHECK = record(
    optional={"video_ids": array(text(), 1, 100), "displayable": boolean, "video_name": text()}
)
_IMAGE_FILTER_CHECK = record(
    optional={"image_ids": array(text(), 1, 100), "displayable": boolean, "width": integer(1), "height": integer(1)}
)
_UPLOAD_CHECK = record(
    {"advertiser_id": ADVERTISER_CHECK, "upload_type": choice("UPLOAD_BY_URL"), "image_url": text()},
    {"file_name": TEXT_CHECK},
)


def check_video(value: str, where: str) -> None:
    """Check a video of an ad. Errors: 40053 unknown, 40901 still transcoding, 40002 not eligible."""
    try:
        external_id()(value, where)
    except InvalidRequest as problem:
        if problem.code in ("missing", "value"):
            raise InvalidRequest("video", where, f"video {value} does not exist", value) from problem
        raise


def check_cover(request: Request, video_id: str, image_id: str, where: str) -> None:
    """Check that a known cover has the aspect ratio of the video. Raises InvalidRequest."""
    uploaded = request.world.find("image", image_id)
    image = IMAGES.get(image_id) if uploaded is None else ("", (uploaded.data["width"], uploaded.data["height"]))
    if image is None:
        return
    (wide, high), (video_wide, video_high) = image[1], VIDEOS.get(video_id, ("", PORTRAIT))[1]
    if wide * video_high != high * video_wide:
        raise InvalidRequest("value", where, "the aspect ratio of the cover must equal the video's", image_id)


def get_video_info(request: Request) -> Response:
    """GET /file/video/ad/info/: an unknown id is left out; a video that is still transcoding is not displayable."""
    query = request.parse_query(_INFO_CHECKS)
    require_account_by_id(request, query["advertiser_id"])
    video_ids = [
        video_id
        for video_id in query["video_ids"]
        if "missing" not in video_id.lower() and not set(video_id) & set(" \t\n")
    ]
    return build_response({"list": [_render_video(request, video_id) for video_id in dict.fromkeys(video_ids)]})


def search_videos(request: Request) -> Response:
    """GET /file/video/ad/search/."""
    query = request.parse_query(
        {"advertiser_id": ADVERTISER_CHECK}, {**paging_checks(1000), "filtering": json_text(_VIDEO_FILTER_CHECK)}
    )
    require_account_by_id(request, query["advertiser_id"])
    filters = query.get("filtering", {})
    rows = [
        row
        for row in (_render_video(request, video_id) for video_id in VIDEOS)
        if row["video_id"] in filters.get("video_ids", VIDEOS)
        and row["displayable"] == filters.get("displayable", row["displayable"])
        and filters.get("video_name", "") in row["file_name"]
    ]
    return build_response(paginate(rows, query, 20))


def suggest_covers(request: Request) -> Response:
    """GET /file/video/suggestcover/."""
    required = {"advertiser_id": ADVERTISER_CHECK, "video_id": text()}
    query = request.parse_query(required, {"poster_number": integer_text(1, 10)})
    require_account_by_id(request, query["advertiser_id"])
    check_video(query["video_id"], "/video_id")
    wide, high = VIDEOS.get(query["video_id"], ("", PORTRAIT))[1]
    covers = [
        f"ad-site-i18n-sg/{_make_digest(query['video_id'], number)}" for number in range(query.get("poster_number", 10))
    ]
    return build_response(
        {"list": [{"id": cover_id, "url": _build_link(cover_id), "width": wide, "height": high} for cover_id in covers]}
    )


def upload_image(request: Request) -> Response:
    """POST /file/image/ad/upload/: multipart, by address only (UPLOAD_BY_FILE, the default, is not simulated)."""
    request.parse_query()
    form = _UPLOAD_CHECK(_parse_multipart(request), "")
    account = require_account_by_id(request, form["advertiser_id"])
    try:
        check_url(form["image_url"], "/image_url")
    except InvalidRequest as problem:
        raise InvalidRequest("image_url", problem.where, "image URL is not available") from problem
    if "missing" in form["image_url"].lower():
        raise InvalidRequest("image_unreachable", "/image_url", "the image cannot be fetched")
    name = (form.get("file_name") or form["image_url"].rpartition("/")[2])[:100]  # longer ones are cut off
    if any(image.data["file_name"] == name for image in request.world.list_entities("image", account.id)):
        raise InvalidRequest("duplicate_name", "/file_name", f"material name {name} exists already")
    wide, high = (1080, 1080) if "square" in form["image_url"].lower() else PORTRAIT
    image_id = f"ad-site-i18n-sg/{_make_digest(name, account.id)}"
    data = _render_image(image_id, name, (wide, high), format_instant(request.now))
    request.world.create("image", account.id, data, id=image_id)
    return build_response(data)


def search_images(request: Request) -> Response:
    """GET /file/image/ad/search/."""
    query = request.parse_query(
        {"advertiser_id": ADVERTISER_CHECK}, {**paging_checks(1000), "filtering": json_text(_IMAGE_FILTER_CHECK)}
    )
    account = require_account_by_id(request, query["advertiser_id"])
    library = [_render_image(image_id, name, size, "2026-11-01 08:00:00") for image_id, (name, size) in IMAGES.items()]
    filters = dict(query.get("filtering", {}))
    ids = filters.pop("image_ids", None)
    rows = [
        row
        for row in [*(dict(image.data) for image in request.world.list_entities("image", account.id)), *library]
        if (ids is None or row["image_id"] in ids) and all(row[name] == value for name, value in filters.items())
    ]
    return build_response(paginate(rows, query, 20))


def _render_video(request: Request, video_id: str) -> dict[str, Any]:
    name, (wide, high) = VIDEOS.get(video_id, (f"{video_id}.mp4", PORTRAIT))
    ineligible = "ineligible" in video_id.lower()
    return {
        "video_id": video_id,
        "file_name": name,
        "displayable": "processing" not in video_id.lower(),
        "allowed_placements": ["PLACEMENT_PANGLE"] if ineligible else ["PLACEMENT_TIKTOK", "PLACEMENT_PANGLE"],
        "width": wide,
        "height": high,
        "duration": 15,
        "format": "mp4",
        "size": 4194304,
        "bit_rate": 2203312,
        "signature": _make_digest(video_id, 0),
        "material_id": str(int(_make_digest(video_id, 1)[:15], 16)),
        "allow_download": True,
        "video_cover_url": _build_link(video_id),
        "preview_url": _build_link(f"{video_id}.mp4"),
        "preview_url_expire_time": format_instant(request.now),
        "create_time": "2026-11-01 08:00:00",
        "modify_time": "2026-11-01 08:00:00",
    }


def _render_image(image_id: str, name: str, size: tuple[int, int], created: str) -> dict[str, Any]:
    return {
        "image_id": image_id,
        "file_name": name,
        "displayable": True,
        "width": size[0],
        "height": size[1],
        "format": "jpeg",
        "size": 81920,
        "signature": _make_digest(image_id, 0),
        "material_id": str(int(_make_digest(image_id, 1)[:15], 16)),
        "image_url": _build_link(image_id),
        "create_time": created,
        "modify_time": created,
    }


def _make_digest(name: str, number: object) -> str:
    return hashlib.md5(f"{name} {number}".encode(), usedforsecurity=False).hexdigest()


def _build_link(name: str) -> str:
    return f"https://p16-ad-sg.tiktokcdn.example/{name}?x-expires=3600"


def _parse_multipart(request: Request) -> dict[str, str]:
    """The text fields of a multipart/form-data body.

    Raises InvalidRequest `media_type`, `unreadable` or `duplicate`.
    """
    request.require_media_type("multipart/form-data")
    head = f"Content-Type: {request.headers['Content-Type']}\r\n\r\n".encode()
    message = BytesParser(policy=HTTP).parsebytes(head + request.body)
    if not message.is_multipart() or message.defects:
        raise InvalidRequest("unreadable", "", "not a multipart/form-data body")
    members: dict[str, str] = {}
    for part in message.iter_parts():
        name = part.get_param("name", header="content-disposition")
        content = part.get_payload(decode=True)
        if part.get_content_disposition() != "form-data" or not isinstance(name, str) or part.defects:
            raise InvalidRequest("unreadable", "", "every part is form-data with a name")
        if name in members:
            raise InvalidRequest("duplicate", f"/{name}", f"{name!r} appears twice")
        try:
            members[name] = content.decode() if isinstance(content, bytes) else ""
        except UnicodeDecodeError as error:
            raise InvalidRequest("unreadable", f"/{name}", "must be UTF-8 text") from error
    return members
