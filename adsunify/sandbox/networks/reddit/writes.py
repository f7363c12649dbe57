"""POST and PATCH of campaigns, ad groups and ads. There is no DELETE, no PUT."""

from collections.abc import Mapping
from typing import Any

from adsunify.sandbox.framework import Account, Answer, Entity, Problem, Request, anything, record
from adsunify.sandbox.networks.reddit import rules
from adsunify.sandbox.networks.reddit.answers import account_of, answered, open_for_writes, written
from adsunify.sandbox.networks.reddit.entities import ABOVE, KINDS, found, view
from adsunify.sandbox.networks.reddit.fields import CHANGE, CREATE, LOCKED, READ_ONLY
from adsunify.sandbox.networks.reddit.posts import post_of

_ENVELOPE = record(required={"data": anything})
_PARENT_KEY = {"ad_group": "campaign_id", "ad": "ad_group_id"}


def create(request: Request) -> Answer:
    """POST /ad_accounts/{account}/{campaigns|ad_groups|ads}. What is left out of `configured_status` is ACTIVE."""
    request.query()
    account = account_of(request, writing=True)
    kind = KINDS[request.slots["kind"]]
    _no(request, READ_ONLY[kind], "is read-only")
    data: dict[str, Any] = {"configured_status": "ACTIVE", **request.json(CREATE[kind])["data"]}
    above = _above(request, kind, data, account)
    _check(request, kind, data, above, account)
    rules.not_past(data, {}, request.now)
    made = request.world.create(kind, account.id, data, parent=above.id if above is not None else None)
    return answered(view(request.world, made), 201)


def change(request: Request) -> Answer:
    """PATCH /campaigns/{id}, /ad_groups/{id}, /ads/{id}: what is named is replaced as a whole, the rest stays."""
    request.query()
    entity = found(request)
    account = request.world.accounts[entity.account]
    open_for_writes(account)
    kind = entity.kind
    _no(request, (*READ_ONLY[kind], *LOCKED[kind]), "cannot be changed")
    wanted: dict[str, Any] = request.json(CHANGE[kind])["data"]
    if not wanted:
        raise Problem("required", "/data", "names nothing to change")
    rules.change(entity, wanted, request.now)
    if wanted.get("configured_status") not in ("ARCHIVED", "DELETED"):
        above = request.world.find(ABOVE[kind], str(entity.parent)) if kind in ABOVE else None
        _check(request, kind, {**entity.data, **wanted}, above, account)
        rules.not_past(wanted, entity.data, request.now)
    if "post_id" in wanted:
        wanted["_posted_at"] = written(request.now)
    return answered(view(request.world, request.world.put(entity, {**entity.data, **wanted})))


def _check(
    request: Request, kind: str, data: Mapping[str, Any], above: Entity | None, account: Account
) -> None:  # fmt: skip
    if kind == "campaign":
        rules.campaign(data)
    elif kind == "ad_group":
        assert above is not None, "an ad group has a campaign"
        rules.ad_group(data, above, account)
    else:
        if request.told("slow_media"):
            raise Problem("processing", "/data/post_id", "the post is still being processed")
        rules.ad(data, post_of(data["post_id"], "/data/post_id"))


def _above(request: Request, kind: str, data: Mapping[str, Any], account: Account) -> Entity | None:
    """The parent that a body names. Problem where it is none of this account, or gone (chosen: 400, not 404)."""
    if kind not in ABOVE:
        return None
    name = _PARENT_KEY[kind]
    above = request.world.find(ABOVE[kind], data[name], account.id)
    if above is None:
        raise rules.refused(name, "does not exist in this ad account")
    if above.data["configured_status"] in ("ARCHIVED", "DELETED"):
        raise rules.refused(name, "is archived or deleted")
    return above


def _no(request: Request, names: tuple[str, ...], why: str) -> None:
    data = request.json(_ENVELOPE)["data"]
    for name in names:
        if isinstance(data, dict) and name in data:
            raise rules.refused(name, why)
