"""Posts, the content of creatives: made elsewhere, so every well-formed one exists."""

from typing import Any

from adsunify.sandbox.framework import Answer, Problem, Request, choice, integer_text, listing
from adsunify.sandbox.networks.linkedin.answers import answer, elements, require_method
from adsunify.sandbox.networks.linkedin.fields import ACCOUNT, ORGANIZATION, POST, digits_of, urn
from adsunify.sandbox.networks.linkedin.restli import asked, finder
from adsunify.sandbox.networks.linkedin.tables import OWN_POSTS, PAGE, POSTS

_OFFSET = {"count": integer_text(1, 100), "start": integer_text(0)}
_KINDS = ("STANDARD", "VIDEO", "CAROUSEL")  # the other ad types of a direct sponsored post are not known here


def read_post(post: str) -> dict[str, Any]:
    """The native post, and under `format` the campaign format that it needs."""
    shown = {
        "id": post,
        "author": PAGE,
        "commentary": f"Post {digits_of(post)[-4:]}",
        "lifecycleState": "PUBLISHED",
        "visibility": "PUBLIC",
        "distribution": {"feedDistribution": "MAIN_FEED", "targetEntities": []},
        "isReshareDisabledByAuthor": False,
        **POSTS.get(post, {"content": {"media": {"id": "urn:li:image:C4D22AQG", "altText": ""}}}),
    }
    content = shown.get("content", {})
    video = content.get("media", {}).get("id", "").startswith("urn:li:video:")
    shown["format"] = "SINGLE_VIDEO" if video else "CAROUSEL" if "carousel" in content else "STANDARD_UPDATE"
    return shown


def get_post(request: Request) -> Answer:
    """GET /posts/{urn}."""
    asked(request)
    try:
        post = POST(request.slots["post"], "")
    except Problem as problem:
        raise Problem("NOT_FOUND", "", "there is no such post") from problem
    return answer(200, _native(read_post(post)))


def find_posts(request: Request) -> Answer:
    """GET /posts?q=author or q=dscAdAccount."""
    require_method(request, "FINDER", optional=False)
    if finder(request, "author"):
        wanted = asked(
            request, {"q": choice("author"), "author": ORGANIZATION}, **_OFFSET,
            sortBy=choice("LAST_MODIFIED", "CREATED"),
        )  # fmt: skip
        found = [post for post in map(read_post, OWN_POSTS) if post["author"] == wanted["author"]]
        return paged(wanted, [_native(post) for post in found])
    kinds = listing(choice(*_KINDS), 1)
    wanted = asked(
        request, {"q": choice("dscAdAccount"), "dscAdAccount": urn(ACCOUNT)}, dscAdTypes=kinds, **_OFFSET
    )  # fmt: skip
    if request.account(digits_of(wanted["dscAdAccount"])) is None:
        raise Problem("scope", "", "the ad account is not visible")
    account = {"dscAdAccount": wanted["dscAdAccount"], "dscStatus": "ACTIVE"}
    rows = [
        {
            **_native(read_post("urn:li:share:6850000000000000101")),
            "adContext": {**account, "dscAdType": "STANDARD", "dscName": "Webinar, picture"},
        },
        {
            **_native(read_post("urn:li:ugcPost:6850000000000000002")),
            "adContext": {**account, "dscAdType": "VIDEO", "dscName": "Webinar, film"},
        },
    ]
    kept = wanted.get("dscAdTypes", [*_KINDS])
    return paged(wanted, [row for row in rows if row["adContext"]["dscAdType"] in kept])


def get_video(request: Request) -> Answer:
    """GET /videos/{urn}."""
    asked(request)
    video = request.slots["video"]
    return answer(200, {"id": video, "owner": PAGE, "status": "PROCESSING" if "PROCESSING" in video else "AVAILABLE"})


def paged(wanted: dict[str, Any], rows: list[dict[str, Any]]) -> Answer:
    """A page by `start` and `count`, the older paging that has no tokens."""
    start, count = wanted.get("start", 0), wanted.get("count", 10)
    shown = rows[start : start + count]
    return elements(shown, paging={"start": start, "count": count, "total": len(rows), "links": []})


def _native(post: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in post.items() if name != "format"}
