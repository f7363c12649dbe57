"""Posts, the content of creatives. They are made elsewhere, so every well-formed URN exists."""

from typing import Any

from adsunify.sandbox.checks import array, choice, integer_text
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.linkedin import fields
from adsunify.sandbox.networks.linkedin.answers import build_list_response, build_response, require_method
from adsunify.sandbox.networks.linkedin.restli import is_finder, parse_query
from adsunify.sandbox.networks.linkedin.tables import ORGANIZATION_PAGE, OWN_POSTS, PAGING, POSTS
from adsunify.sandbox.parsing import InvalidRequest

_OFFSET_CHECKS = {"count": integer_text(1, 100), "start": integer_text(0)}
_AD_TYPES = ("STANDARD", "VIDEO", "CAROUSEL")  # the other ad types of a direct sponsored post are not simulated


def make_post(post: str) -> dict[str, Any]:
    """The native post, and under `format` the campaign format that it needs."""
    members = {
        "id": post,
        "author": ORGANIZATION_PAGE,
        "commentary": f"Post {fields.get_urn_number(post)[-4:]}",
        "lifecycleState": "PUBLISHED",
        "visibility": "PUBLIC",
        "distribution": {"feedDistribution": "MAIN_FEED", "targetEntities": []},
        "isReshareDisabledByAuthor": False,
        **POSTS.get(post, {"content": {"media": {"id": "urn:li:image:C4D22AQG", "altText": ""}}}),
    }
    content = members.get("content", {})
    video = content.get("media", {}).get("id", "").startswith("urn:li:video:")
    members["format"] = "SINGLE_VIDEO" if video else "CAROUSEL" if "carousel" in content else "STANDARD_UPDATE"
    return members


def get_post(request: Request) -> Response:
    """GET /posts/{urn}."""
    parse_query(request)
    try:
        post = fields.POST_ID_CHECK(request.path_parameters["post"], "")
    except InvalidRequest as problem:
        raise InvalidRequest("NOT_FOUND", "", "there is no such post") from problem
    return build_response(200, _render_post(make_post(post)))


def find_posts(request: Request) -> Response:
    """GET /posts?q=author or q=dscAdAccount."""
    require_method(request, "FINDER", optional=False)
    if is_finder(request, "author"):
        query = parse_query(
            request,
            {"q": choice("author"), "author": fields.ORGANIZATION_CHECK},
            **_OFFSET_CHECKS,
            sortBy=choice("LAST_MODIFIED", "CREATED"),
        )
        posts = [post for post in map(make_post, OWN_POSTS) if post["author"] == query["author"]]
        return build_offset_page(query, [_render_post(post) for post in posts])
    kinds = array(choice(*_AD_TYPES), 1)
    query = parse_query(
        request,
        {"q": choice("dscAdAccount"), "dscAdAccount": fields.urn(fields.ACCOUNT_PREFIX)},
        dscAdTypes=kinds,
        **_OFFSET_CHECKS,
    )
    if request.find_account(fields.get_urn_number(query["dscAdAccount"])) is None:
        raise InvalidRequest("scope", "", "the ad account is not visible")
    account = {"dscAdAccount": query["dscAdAccount"], "dscStatus": "ACTIVE"}
    rows = [
        {
            **_render_post(make_post("urn:li:share:6850000000000000101")),
            "adContext": {**account, "dscAdType": "STANDARD", "dscName": "Webinar, picture"},
        },
        {
            **_render_post(make_post("urn:li:ugcPost:6850000000000000002")),
            "adContext": {**account, "dscAdType": "VIDEO", "dscName": "Webinar, film"},
        },
    ]
    ad_types = query.get("dscAdTypes", [*_AD_TYPES])
    return build_offset_page(query, [row for row in rows if row["adContext"]["dscAdType"] in ad_types])


def get_video(request: Request) -> Response:
    """GET /videos/{urn}."""
    parse_query(request)
    video = request.path_parameters["video"]
    return build_response(
        200, {"id": video, "owner": ORGANIZATION_PAGE, "status": "PROCESSING" if "PROCESSING" in video else "AVAILABLE"}
    )


def build_offset_page(query: dict[str, Any], rows: list[dict[str, Any]]) -> Response:
    """A page by `start` and `count`, the older paging that has no tokens."""
    start, count = PAGING.get_bounds(query, 10)
    return build_list_response(
        rows[start : start + count], paging={"start": start, "count": count, "total": len(rows), "links": []}
    )


def _render_post(post: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in post.items() if name != "format"}
