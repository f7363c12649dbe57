"""Videos, covers and images."""

import hashlib
from collections.abc import Mapping
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any

from adsunify.sandbox.framework import (
    Answer,
    Check,
    Problem,
    Request,
    boolean,
    choice,
    foreign,
    integer,
    integer_text,
    json_text,
    listing,
    record,
    text,
)
from adsunify.sandbox.networks.tiktok.answers import account_of, answer
from adsunify.sandbox.networks.tiktok.shapes import ADVERTISER, TEXT, page, paged, web_address, written

PORTRAIT = (720, 1280)
# The library of every account: id, file name, size. Any other video id was uploaded elsewhere and is a portrait one.
VIDEOS: Mapping[str, tuple[str, tuple[int, int]]] = {
    "v10033g50000abc": ("autumn.mp4", PORTRAIT),
    "v10033g50000wide": ("landscape.mp4", (1280, 720)),
    "v10033g50000processing": ("just uploaded.mp4", PORTRAIT),
}
IMAGES: Mapping[str, tuple[str, tuple[int, int]]] = {
    "ad-site-i18n-sg/20261101abc": ("cover.jpg", PORTRAIT),
    "ad-site-i18n-sg/20261101square": ("square.jpg", (1080, 1080)),
}
_INFO: Mapping[str, Check] = {"advertiser_id": ADVERTISER, "video_ids": json_text(listing(text(), 1, 60))}
_VIDEO_FILTER = record(optional={"video_ids": listing(text(), 1, 100), "displayable": boolean, "video_name": text()})
_IMAGE_FILTER = record(
    optional={
        "image_ids": listing(text(), 1, 100),
        "displayable": boolean,
        "width": integer(1),
        "height": integer(1),
    }
)
_UPLOAD = record(
    {"advertiser_id": ADVERTISER, "upload_type": choice("UPLOAD_BY_URL"), "image_url": text()},
    {"file_name": TEXT},
)


def check_video(value: str, where: str) -> None:
    """A video that an ad may use. Problem: 40053 unknown, 40901 still transcoding, 40002 not eligible."""
    try:
        foreign()(value, where)
    except Problem as problem:
        if problem.code in ("missing", "value"):
            raise Problem("video", where, f"video {value} does not exist", value) from problem
        raise


def check_cover(request: Request, video_id: str, image_id: str, where: str) -> None:
    """The aspect ratio of the cover is that of the video, where the image is known here. Problem."""
    uploaded = request.world.find("image", image_id)
    known = IMAGES.get(image_id) if uploaded is None else ("", (uploaded.data["width"], uploaded.data["height"]))
    if known is None:
        return
    (wide, high), (video_wide, video_high) = known[1], VIDEOS.get(video_id, ("", PORTRAIT))[1]
    if wide * video_high != high * video_wide:
        raise Problem("value", where, "the aspect ratio of the cover must equal the video's", image_id)


def video_info(request: Request) -> Answer:
    """GET /file/video/ad/info/: an unknown id is silently absent; one that is transcoded still is not displayable."""
    given = request.query(_INFO)
    account_of(request, given["advertiser_id"])
    found = [one for one in given["video_ids"] if "missing" not in one.lower() and not set(one) & set(" \t\n")]
    return answer({"list": [_video(request, one) for one in dict.fromkeys(found)]})


def search_videos(request: Request) -> Answer:
    """GET /file/video/ad/search/."""
    given = request.query({"advertiser_id": ADVERTISER}, {**paged(1000), "filtering": json_text(_VIDEO_FILTER)})
    account_of(request, given["advertiser_id"])
    wanted = given.get("filtering", {})
    rows = [
        row
        for row in (_video(request, one) for one in VIDEOS)
        if row["video_id"] in wanted.get("video_ids", VIDEOS)
        and row["displayable"] == wanted.get("displayable", row["displayable"])
        and wanted.get("video_name", "") in row["file_name"]
    ]
    return answer(page(rows, given, 20))


def suggest_covers(request: Request) -> Answer:
    """GET /file/video/suggestcover/."""
    asked = {"advertiser_id": ADVERTISER, "video_id": text()}
    given = request.query(asked, {"poster_number": integer_text(1, 10)})
    account_of(request, given["advertiser_id"])
    check_video(given["video_id"], "/video_id")
    wide, high = VIDEOS.get(given["video_id"], ("", PORTRAIT))[1]
    covers = [
        f"ad-site-i18n-sg/{_digest(given['video_id'], number)}" for number in range(given.get("poster_number", 10))
    ]
    return answer({"list": [{"id": one, "url": _link(one), "width": wide, "height": high} for one in covers]})


def upload_image(request: Request) -> Answer:
    """POST /file/image/ad/upload/: multipart, by address only (UPLOAD_BY_FILE, the default, is not simulated)."""
    request.query()
    given = _UPLOAD(_multipart(request), "")
    account = account_of(request, given["advertiser_id"])
    try:
        web_address(given["image_url"], "/image_url")
    except Problem as problem:
        raise Problem("image_url", problem.where, "image URL is not available") from problem
    if "missing" in given["image_url"].lower():
        raise Problem("image_unreachable", "/image_url", "the image cannot be fetched")
    name = (given.get("file_name") or given["image_url"].rpartition("/")[2])[:100]  # longer ones are cut off
    if any(image.data["file_name"] == name for image in request.world.entities("image", account.id)):
        raise Problem("duplicate_name", "/file_name", f"material name {name} exists already")
    wide, high = (1080, 1080) if "square" in given["image_url"].lower() else PORTRAIT
    image_id = f"ad-site-i18n-sg/{_digest(name, account.id)}"
    data = _image(image_id, name, (wide, high), written(request.now))
    request.world.create("image", account.id, data, id=image_id)
    return answer(data)


def search_images(request: Request) -> Answer:
    """GET /file/image/ad/search/."""
    given = request.query({"advertiser_id": ADVERTISER}, {**paged(1000), "filtering": json_text(_IMAGE_FILTER)})
    account = account_of(request, given["advertiser_id"])
    library = [_image(one, name, size, "2026-11-01 08:00:00") for one, (name, size) in IMAGES.items()]
    wanted = dict(given.get("filtering", {}))
    ids = wanted.pop("image_ids", None)
    rows = [
        row
        for row in [*(dict(image.data) for image in request.world.entities("image", account.id)), *library]
        if (ids is None or row["image_id"] in ids) and all(row[name] == value for name, value in wanted.items())
    ]
    return answer(page(rows, given, 20))


def _video(request: Request, video_id: str) -> dict[str, Any]:
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
        "signature": _digest(video_id, 0),
        "material_id": str(int(_digest(video_id, 1)[:15], 16)),
        "allow_download": True,
        "video_cover_url": _link(video_id),
        "preview_url": _link(f"{video_id}.mp4"),
        "preview_url_expire_time": written(request.now),
        "create_time": "2026-11-01 08:00:00",
        "modify_time": "2026-11-01 08:00:00",
    }


def _image(image_id: str, name: str, size: tuple[int, int], created: str) -> dict[str, Any]:
    return {
        "image_id": image_id,
        "file_name": name,
        "displayable": True,
        "width": size[0],
        "height": size[1],
        "format": "jpeg",
        "size": 81920,
        "signature": _digest(image_id, 0),
        "material_id": str(int(_digest(image_id, 1)[:15], 16)),
        "image_url": _link(image_id),
        "create_time": created,
        "modify_time": created,
    }


def _digest(name: str, number: object) -> str:
    return hashlib.md5(f"{name} {number}".encode(), usedforsecurity=False).hexdigest()


def _link(name: str) -> str:
    return f"https://p16-ad-sg.tiktokcdn.example/{name}?x-expires=3600"


def _multipart(request: Request) -> dict[str, str]:
    """The text fields of a multipart/form-data body. Problem `media_type`, `unreadable` or `duplicate`."""
    request.media("multipart/form-data")
    head = f"Content-Type: {request.headers['Content-Type']}\r\n\r\n".encode()
    message = BytesParser(policy=HTTP).parsebytes(head + request.body)
    if not message.is_multipart() or message.defects:
        raise Problem("unreadable", "", "not a multipart/form-data body")
    found: dict[str, str] = {}
    for part in message.iter_parts():
        name = part.get_param("name", header="content-disposition")
        content = part.get_payload(decode=True)
        if part.get_content_disposition() != "form-data" or not isinstance(name, str) or part.defects:
            raise Problem("unreadable", "", "every part is form-data with a name")
        if name in found:
            raise Problem("duplicate", f"/{name}", f"{name!r} appears twice")
        try:
            found[name] = content.decode() if isinstance(content, bytes) else ""
        except UnicodeDecodeError as error:
            raise Problem("unreadable", f"/{name}", "must be UTF-8 text") from error
    return found
