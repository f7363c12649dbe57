"""Posts, the users whose posts may be promoted, and promoted posts."""

import re
from collections.abc import Mapping

from adsunify.sandbox.framework import Answer, Check, Entity, Problem, Request, choice, text
from adsunify.sandbox.networks.x.answers import Data, account_of, answered, flag, given, many, new_id, stamps
from adsunify.sandbox.networks.x.fields import alive
from adsunify.sandbox.networks.x.lists import listed
from adsunify.sandbox.networks.x.tables import (
    FULL_USER,
    HIDDEN_REPOST,
    IDS,
    POSTS,
    REPOSTED,
    REPOSTS_USER,
    WITHOUT_LINK,
)

MOST_POSTS = 50
_SINCE = "2019-03-01T00:00:00Z"
_USERS: Mapping[str, str] = {FULL_USER: "FULL", REPOSTS_USER: "RETWEETS_ONLY"}


def post(post_id: str) -> tuple[str, str] | None:
    """Owner and text of a post: any of digits is there, and is the full user's where the table says nothing else."""
    if post_id in POSTS:
        return POSTS[post_id]
    return (FULL_USER, f"Post {post_id} https://shop.example/") if re.fullmatch("[1-9][0-9]{0,18}", post_id) else None


def posts(request: Request) -> Answer:
    """`GET accounts/:a/tweets`: of the account's full user unless `user_id` names another."""
    account_of(request)
    parameters = dict(request.pairs)
    user = parameters.get("user_id", FULL_USER)
    wanted = parameters["tweet_ids"].split(",") if "tweet_ids" in parameters else list(POSTS)
    # every post here is published and organic: the default timeline, NULLCAST, shows none of them
    visible = parameters.get("tweet_type") == "PUBLISHED" and parameters.get("timeline_type") in ("ALL", "ORGANIC")
    brief = parameters.get("trim_user") == "true"
    found = [(one, owned) for one in wanted if visible and (owned := post(one)) is not None and owned[0] == user]
    rows = [_post_view(one, owner, words, brief) for one, (owner, words) in found]
    optional: dict[str, Check] = {
        "include_mentions_and_replies": flag,
        "name": text(1, 80),
        "timeline_type": choice("ALL", "NULLCAST", "ORGANIC"),
        "trim_user": flag,
        "user_id": text(pattern="[0-9]+"),
        "tweet_ids": many(text(), IDS),
    }
    return listed(request, rows, {}, {"tweet_type": choice("DRAFT", "PUBLISHED", "SCHEDULED")}, optional)


def _post_view(post_id: str, owner: str, words: str, brief: bool) -> Data:
    user: Data = {"id": int(owner), "id_str": owner}
    return {
        "id": int(post_id),  # a JSON integer over 2^53: whoever reads it as a double has another post
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


def users(request: Request) -> Answer:
    """`GET accounts/:a/promotable_users`."""
    rows = [
        {"id": f"pu{position}", "user_id": user, "promotable_user_type": type_, "created_at": _SINCE,
         "updated_at": _SINCE, "deleted": False}
        for position, (user, type_) in enumerate(_USERS.items(), 1)
    ]  # fmt: skip
    return listed(request, rows, {"promotable_user_ids": "id"})


# -- promoted posts -----------------------------------------------------------------------------------------------


def promote(request: Request) -> Answer:
    """`POST accounts/:a/promoted_tweets`: `data` is an array; a promoted post is ACTIVE from the start."""
    account, world = account_of(request), request.world
    sent = given(request, {"line_item_id": text(pattern="[0-9a-z]+"), "tweet_ids": many(text(), MOST_POSTS)})
    item = alive(world, "line_item", sent["line_item_id"], account)
    made = []
    for post_id in sent["tweet_ids"]:
        _promotable(item, post_id)
        shown = HIDDEN_REPOST if post_id == REPOSTED else post_id
        beside = world.entities("promoted_tweet", account.id, item.id)
        if any(one.data["tweet_id"] == shown and not one.data["deleted"] for one in beside):
            raise Problem("value", "tweet_ids", "the line item promotes this post already", post_id)
        data = {"line_item_id": item.id, "tweet_id": shown, "entity_status": "ACTIVE",
                "approval_status": "PENDING", "deleted": False}  # fmt: skip
        made.append(world.create("promoted_tweet", account.id, data, parent=item.id, id=new_id(world)))
    return answered(request, [promoted_view(one) for one in made], total_count=len(made))


def _promotable(item: Entity, post_id: str) -> None:
    word = re.search("ineligible|processing", post_id.lower())
    if post(post_id) is None and not word:
        raise Problem("TWEET_NOT_FOUND", "tweet_ids", "no such post", post_id)
    if word or (post_id == WITHOUT_LINK and item.data["objective"] == "WEBSITE_CLICKS"):
        raise Problem("INVALID_TWEET", "tweet_ids", "the post has neither a website card nor a link", post_id)


def promoted(request: Request) -> Answer:
    """`GET accounts/:a/promoted_tweets`. Posts under a deleted line item hide, though not deleted themselves."""
    world, account = request.world, account_of(request)
    hidden = dict(request.pairs).get("with_deleted") == "true"
    rows = []
    for one in world.entities("promoted_tweet", account.id):
        item = world.find("line_item", one.data["line_item_id"])
        if hidden or (item is not None and not item.data["deleted"]):
            rows.append(promoted_view(one))
    return listed(request, rows, {"line_item_ids": "line_item_id", "promoted_tweet_ids": "id"})


def one_promoted(request: Request) -> Answer:
    """`GET accounts/:a/promoted_tweets/:id`."""
    asked = given(request, optional={"with_deleted": flag})
    found = request.world.find("promoted_tweet", request.slots["id"], account_of(request).id)
    if found is None or not asked.get("with_deleted"):
        found = alive(request.world, "promoted_tweet", request.slots["id"], account_of(request))
    return answered(request, promoted_view(found))


def withdraw(request: Request) -> Answer:
    """`DELETE accounts/:a/promoted_tweets/:id`: for good."""
    given(request)
    found = alive(request.world, "promoted_tweet", request.slots["id"], account_of(request))
    return answered(request, promoted_view(request.world.put(found, {**found.data, "deleted": True})))


def promoted_view(entity: Entity) -> Data:
    """A promoted post as it is shown."""
    names = ("line_item_id", "tweet_id", "entity_status", "approval_status", "deleted")
    return {"id": entity.id, **{name: entity.data[name] for name in names}, **stamps(entity)}
