"""Posts and the jobs that make them.

Any `t3_` post exists, and words in its id set its state: `missing` does not exist; `processing` is not completed;
`ineligible` cannot be promoted; `text`, `video` and `carousel` are types (default: IMAGE).
"""

from typing import Any

from adsunify.sandbox.checks import choice, text
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.reddit.answers import PAGING_CHECKS, build_page_response, build_response, not_found_error
from adsunify.sandbox.networks.reddit.fields import POST_ID_CHECK
from adsunify.sandbox.networks.reddit.tables import POST_TYPES
from adsunify.sandbox.parsing import InvalidRequest

_POST_CREATED_AT = "2026-01-02T10:00:00Z"
_POST_IDS = ("t3_abc123", "t3_text123", "t3_video123", "t3_carousel123")
_SOURCES = ("ALL", "ORGANIC", "PROMOTED")


def require_post(native_id: str, where: str = "") -> dict[str, Any]:
    """The post of this id. Raises InvalidRequest `missing`, `processing`, or `value` for a malformed id."""
    try:
        POST_ID_CHECK(native_id, where)
    except InvalidRequest as problem:
        if problem.code != "ineligible":
            raise
    kind = next((post_type for post_type in POST_TYPES if post_type.lower() in native_id.lower()), "IMAGE")
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
        "created_at": _POST_CREATED_AT,
    }


def get_post(request: Request) -> Response:
    """GET /posts/{post}, GET /structured_posts/{post}: only completed posts exist."""
    request.parse_query()
    try:
        return build_response(require_post(request.path_parameters["post"]))
    except InvalidRequest as problem:
        raise not_found_error("post") from problem


def list_posts(request: Request) -> Response:
    """GET /profiles/{profile}/posts, of one type if requested."""
    query = request.parse_query({"source": choice(*_SOURCES)}, {**PAGING_CHECKS, "type": choice(*POST_TYPES)})
    rows = [row for row in _list_profile_posts(request) if query.get("type") in (None, row["type"])]
    return build_page_response(request, rows, query)


def list_structured_posts(request: Request) -> Response:
    """GET /profiles/{profile}/structured_posts."""
    query = request.parse_query({}, PAGING_CHECKS)
    return build_page_response(request, _list_profile_posts(request), query)


def get_post_job(request: Request) -> Response:
    """GET /structured_posts/jobs/{job}: done, unless a word in the id or a requested fault sets another state."""
    request.parse_query()
    native_id = text()(request.path_parameters["job"], "")
    if "missing" in native_id:
        raise not_found_error("job")
    if request.get_fault("slow_media") or "processing" in native_id:
        return build_response({"id": native_id, "status": "PROCESSING", "post_id": None})
    if "ineligible" in native_id:
        return build_response({"id": native_id, "status": "CLIENT_ERROR", "post_id": None})
    return build_response({"id": native_id, "status": "SUCCESS", "post_id": _POST_IDS[0]})


def _list_profile_posts(request: Request) -> list[dict[str, Any]]:
    profile = request.path_parameters["profile"]
    if not profile.startswith("t2_") or "missing" in profile:
        raise not_found_error("profile")
    return [{**require_post(native_id), "profile_id": profile} for native_id in _POST_IDS]
