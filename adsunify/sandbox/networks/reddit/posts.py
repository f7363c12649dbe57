"""Posts and the jobs that make them.

Any `t3_` post exists, and what its id says of it is so: `missing`, there is none; `processing`, it is not completed
yet; `ineligible`, it cannot be promoted; `text`, `video`, `carousel`, its type (IMAGE without one).
"""

from typing import Any

from adsunify.sandbox.framework import Answer, Problem, Request, choice, text
from adsunify.sandbox.networks.reddit.answers import PAGING, absent, answered, listed
from adsunify.sandbox.networks.reddit.fields import POST
from adsunify.sandbox.networks.reddit.tables import POST_TYPES

_MADE = "2026-01-02T10:00:00Z"
_SOME = ("t3_abc123", "t3_text123", "t3_video123", "t3_carousel123")
_SOURCES = ("ALL", "ORGANIC", "PROMOTED")


def post_of(native_id: str, where: str = "") -> dict[str, Any]:
    """The post of this id. Problem `missing`, `processing`, or `value` where it is no id of a post."""
    try:
        POST(native_id, where)
    except Problem as problem:
        if problem.code != "ineligible":
            raise
    kind = next((one for one in POST_TYPES if one.lower() in native_id.lower()), "IMAGE")
    content = {
        "media_url": "https://i.redd.it/tea.png",
        "destination_url": "https://shop.example/tea",
        "display_url": "shop.example",
        "call_to_action": "Shop Now",
        "caption": None,
    }
    return {
        "id": native_id,
        "type": kind,
        "headline": "Tea and more",
        "body": "All about tea" if kind == "TEXT" else None,
        "content": [] if kind == "TEXT" else [content, content] if kind == "CAROUSEL" else [content],
        "thumbnail_url": None if kind == "TEXT" else "https://i.redd.it/tea_small.png",
        "allow_comments": True,
        "post_url": f"https://www.reddit.com/comments/{native_id.removeprefix('t3_')}",
        "profile_id": "t2_demotea",
        "created_at": _MADE,
    }


def post(request: Request) -> Answer:
    """GET /posts/{post}, GET /structured_posts/{post}: only a completed one is there."""
    request.query()
    try:
        return answered(post_of(request.slots["post"]))
    except Problem as problem:
        raise absent("post") from problem


def posts(request: Request) -> Answer:
    """GET /profiles/{profile}/posts, of one type where it is asked for."""
    wanted = request.query({"source": choice(*_SOURCES)}, {**PAGING, "type": choice(*POST_TYPES)})
    rows = [row for row in _of_profile(request) if wanted.get("type") in (None, row["type"])]
    return listed(request, rows, wanted)


def structured_posts(request: Request) -> Answer:
    """GET /profiles/{profile}/structured_posts."""
    wanted = request.query({}, PAGING)
    return listed(request, _of_profile(request), wanted)


def job(request: Request) -> Answer:
    """GET /structured_posts/jobs/{job}: done, unless its id or a told fault says otherwise."""
    request.query()
    native_id = text()(request.slots["job"], "")
    if "missing" in native_id:
        raise absent("job")
    if request.told("slow_media") or "processing" in native_id:
        return answered({"id": native_id, "status": "PROCESSING", "post_id": None})
    if "ineligible" in native_id:
        return answered({"id": native_id, "status": "CLIENT_ERROR", "post_id": None})
    return answered({"id": native_id, "status": "SUCCESS", "post_id": _SOME[0]})


def _of_profile(request: Request) -> list[dict[str, Any]]:
    profile = request.slots["profile"]
    if not profile.startswith("t2_") or "missing" in profile:
        raise absent("profile")
    return [{**post_of(native_id), "profile_id": profile} for native_id in _SOME]
