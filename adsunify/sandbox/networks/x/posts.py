"""Posts, the users whose posts may be promoted, and promoted posts."""

import re
from collections.abc import Mapping

from adsunify.sandbox.checks import Check, choice, text
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.x import answers, tables
from adsunify.sandbox.networks.x.fields import require_live_entity
from adsunify.sandbox.networks.x.lists import build_page_response
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import StoredEntity

MAX_POSTS = 50
_CREATED_AT = "2019-03-01T00:00:00Z"
_PROMOTABLE_USERS: Mapping[str, str] = {tables.FULL_USER: "FULL", tables.REPOSTS_USER: "RETWEETS_ONLY"}


def find_post(post_id: str) -> tuple[str, str] | None:
    """Owner and text of a post. Any id of digits exists; by default it belongs to the account's full user."""
    if post_id in tables.POSTS:
        return tables.POSTS[post_id]
    return (
        (tables.FULL_USER, f"Post {post_id} https://shop.example/")
        if re.fullmatch("[1-9][0-9]{0,18}", post_id)
        else None
    )


def list_posts(request: Request) -> Response:
    """`GET accounts/:a/tweets`: those of the account's full user, or of `user_id`."""
    answers.require_account(request)
    parameters = dict(request.query_pairs)
    user = parameters.get("user_id", tables.FULL_USER)
    post_ids = parameters["tweet_ids"].split(",") if "tweet_ids" in parameters else list(tables.POSTS)
    # NULLCAST, the default timeline, is empty: every simulated post is published and organic
    visible = parameters.get("tweet_type") == "PUBLISHED" and parameters.get("timeline_type") in ("ALL", "ORGANIC")
    brief = parameters.get("trim_user") == "true"
    posts = [
        (post_id, owned)
        for post_id in post_ids
        if visible and (owned := find_post(post_id)) is not None and owned[0] == user
    ]
    rows = [_render_post(post_id, owner, words, brief) for post_id, (owner, words) in posts]
    optional: dict[str, Check] = {
        "include_mentions_and_replies": answers.check_flag,
        "name": text(1, 80),
        "timeline_type": choice("ALL", "NULLCAST", "ORGANIC"),
        "trim_user": answers.check_flag,
        "user_id": text(pattern="[0-9]+"),
        "tweet_ids": answers.comma_separated(text(), tables.MAX_FILTER_IDS),
    }
    return build_page_response(request, rows, {}, {"tweet_type": choice("DRAFT", "PUBLISHED", "SCHEDULED")}, optional)


def _render_post(post_id: str, owner: str, words: str, brief: bool) -> answers.Data:
    user: answers.Data = {"id": int(owner), "id_str": owner}
    return {
        "id": int(post_id),  # a JSON integer above 2^53: a client that reads it as a double gets another post
        "id_str": post_id,
        "tweet_id": post_id,
        "tweet_type": "PUBLISHED",
        "name": None,
        "full_text": words,
        "lang": "en",
        "nullcast": False,
        "scheduled_at": None,
        "user": user if brief else {**user, "name": "Demo Outdoor", "screen_name": "demo_outdoor"},
        "created_at": "Mon Jan 06 09:30:00 +0000 2025",
    }


def list_promotable_users(request: Request) -> Response:
    """`GET accounts/:a/promotable_users`."""
    rows = [
        {
            "id": f"pu{position}",
            "user_id": user,
            "promotable_user_type": type_,
            "created_at": _CREATED_AT,
            "updated_at": _CREATED_AT,
            "deleted": False,
        }
        for position, (user, type_) in enumerate(_PROMOTABLE_USERS.items(), 1)
    ]
    return build_page_response(request, rows, {"promotable_user_ids": "id"})


# -- promoted posts -----------------------------------------------------------------------------------------------


def promote_posts(request: Request) -> Response:
    """`POST accounts/:a/promoted_tweets`: `data` is an array; a promoted post is ACTIVE from the start."""
    account, world = answers.require_account(request), request.world
    parameters = answers.parse_parameters(
        request, {"line_item_id": text(pattern="[0-9a-z]+"), "tweet_ids": answers.comma_separated(text(), MAX_POSTS)}
    )
    item = require_live_entity(world, "line_item", parameters["line_item_id"], account)
    promoted = []
    for post_id in parameters["tweet_ids"]:
        _check_promotable(item, post_id)
        shown_id = tables.HIDDEN_REPOST if post_id == tables.REPOSTED_POST else post_id
        beside = world.list_entities("promoted_tweet", account.id, item.id)
        if any(tweet.data["tweet_id"] == shown_id and not tweet.data["deleted"] for tweet in beside):
            raise InvalidRequest("value", "tweet_ids", "the line item promotes this post already", post_id)
        data = {
            "line_item_id": item.id,
            "tweet_id": shown_id,
            "entity_status": "ACTIVE",
            "approval_status": "PENDING",
            "deleted": False,
        }
        promoted.append(
            world.create("promoted_tweet", account.id, data, parent=item.id, id=answers.allocate_native_id(world))
        )
    return answers.build_response(
        request, [render_promoted_post(tweet) for tweet in promoted], total_count=len(promoted)
    )


def _check_promotable(item: StoredEntity, post_id: str) -> None:
    word = re.search("ineligible|processing", post_id.lower())
    if find_post(post_id) is None and not word:
        raise InvalidRequest("TWEET_NOT_FOUND", "tweet_ids", "no such post", post_id)
    if word or (post_id == tables.POST_WITHOUT_LINK and item.data["objective"] == "WEBSITE_CLICKS"):
        raise InvalidRequest("INVALID_TWEET", "tweet_ids", "the post has neither a website card nor a link", post_id)


def list_promoted_posts(request: Request) -> Response:
    """`GET accounts/:a/promoted_tweets`. Posts under a deleted line item are hidden, although they are not deleted."""
    world, account = request.world, answers.require_account(request)
    hidden = dict(request.query_pairs).get("with_deleted") == "true"
    rows = []
    for tweet in world.list_entities("promoted_tweet", account.id):
        item = world.find("line_item", tweet.data["line_item_id"])
        if hidden or (item is not None and not item.data["deleted"]):
            rows.append(render_promoted_post(tweet))
    return build_page_response(request, rows, {"line_item_ids": "line_item_id", "promoted_tweet_ids": "id"})


def get_promoted_post(request: Request) -> Response:
    """`GET accounts/:a/promoted_tweets/:id`."""
    query = answers.parse_parameters(request, optional={"with_deleted": answers.check_flag})
    tweet = request.world.find("promoted_tweet", request.path_parameters["id"], answers.require_account(request).id)
    if tweet is None or not query.get("with_deleted"):
        tweet = require_live_entity(
            request.world, "promoted_tweet", request.path_parameters["id"], answers.require_account(request)
        )
    return answers.build_response(request, render_promoted_post(tweet))


def delete_promoted_post(request: Request) -> Response:
    """`DELETE accounts/:a/promoted_tweets/:id`: final."""
    answers.parse_parameters(request)
    tweet = require_live_entity(
        request.world, "promoted_tweet", request.path_parameters["id"], answers.require_account(request)
    )
    return answers.build_response(
        request, render_promoted_post(request.world.replace(tweet, {**tweet.data, "deleted": True}))
    )


def render_promoted_post(entity: StoredEntity) -> answers.Data:
    """A promoted post in a response."""
    names = ("line_item_id", "tweet_id", "entity_status", "approval_status", "deleted")
    return {"id": entity.id, **{name: entity.data[name] for name in names}, **answers.render_timestamps(entity)}
