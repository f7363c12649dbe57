"""Creating, updating and switching. Everything is a POST that answers 200."""

from collections.abc import Mapping
from typing import Any

from adsunify.sandbox.framework import Account, Answer, Entity, Problem, Request
from adsunify.sandbox.networks.chatgpt import rules
from adsunify.sandbox.networks.chatgpt.answers import absent, account_of, answered, rule
from adsunify.sandbox.networks.chatgpt.entities import found, not_archived, view
from adsunify.sandbox.networks.chatgpt.fields import CREATE, IDEMPOTENCY_KEY, UPDATE, UPLOAD
from adsunify.sandbox.networks.chatgpt.tables import ABOVE, KINDS, PARENT_KEY, PREFIXES, SELF_SERVE_CAP

_STATUSES = {"activate": "active", "pause": "paused", "archive": "archived"}
# What a campaign is that is not told, and what every read answers.
_BORN: Mapping[str, Mapping[str, Any]] = {
    "campaign": {
        "description": None,
        "mode": None,
        "bidding_type": "impressions",
        "start_time": None,
        "end_time": None,
        "conversion_event_setting_ids": [],
        "product_feed_id": None,
        "landing_page_configuration": None,
    },
    "ad_group": {"description": None, "context_hints": [], "product_set": None, "landing_page_configuration": None},
    "ad": {"landing_page_configuration": None},
}


def upload(request: Request) -> Answer:
    """POST /upload of the address of an image. The other form of it, multipart, is not simulated."""
    request.query()
    _no_key(request)
    given = request.json(UPLOAD)
    made = request.world.create("file", account_of(request).id, given, id=_new_id(request, "file"))
    return answered(request, {"file_id": made.id})


def create(request: Request) -> Answer:
    """POST of a campaign, an ad group or an ad. The same Idempotency-Key with the same body has the first answer."""
    request.query()
    kind, account = KINDS[request.slots["kind"]], account_of(request)
    given = request.json()
    key = request.header("Idempotency-Key", IDEMPOTENCY_KEY) if "Idempotency-Key" in request.headers else None
    once = None if key is None else f"{account.id} {key}"
    if once is not None and (before := request.world.find("idempotency", once)) is not None:
        if before.data["path"] != request.path or before.data["given"] != given:
            raise Problem("conflict", "Idempotency-Key", "This key was used with another request.")
        return answered(request, before.data["answer"])
    made = _created(request, kind, account, CREATE[kind](given, ""), key=key is not None)
    answer = view(request.world, made)
    if once is not None:  # a refusal is not kept (chosen, unverified)
        kept = {"path": request.path, "given": given, "answer": answer}
        request.world.create("idempotency", account.id, kept, id=once, logged=False)
    return answered(request, answer)


def _created(request: Request, kind: str, account: Account, given: dict[str, Any], *, key: bool) -> Entity:
    world = request.world
    there = [one for one in world.entities(kind, account.id) if one.data["status"] != "archived"]
    if len(there) >= SELF_SERVE_CAP:
        raise rule("", f"The account has {SELF_SERVE_CAP} of these already.")
    data = {**_BORN[kind], **given}
    parent = None
    if kind in ABOVE:
        parent = data.pop(PARENT_KEY[kind])
        above = world.find(ABOVE[kind], parent, account.id)
        if above is None:
            raise absent(ABOVE[kind])
        if above.data["status"] == "archived":
            raise rule(f"/{PARENT_KEY[kind]}", f"The {ABOVE[kind]} is archived.")
    data = _kept(request, kind, account, data, None, parent, key=key)
    return world.create(kind, account.id, data, parent=parent, id=_new_id(request, kind))


def update(request: Request) -> Answer:
    """POST to one object: only what is sent changes; objects and arrays are replaced whole."""
    request.query()
    _no_key(request)
    entity, account = found(request), account_of(request)
    given = UPDATE[entity.kind](request.json(), "")
    not_archived(entity)
    if "budget" in given:
        rules.budget_change(request.world, entity, given["budget"])
    if given.get("targeting") is not None:
        given["targeting"] = _targeting(given["targeting"], entity.data.get("targeting"))
    data = {**entity.data, **given}
    data = _kept(request, entity.kind, account, data, entity.data, entity.parent, key=False)
    return answered(request, view(request.world, request.world.put(entity, data)))


def switch(request: Request) -> Answer:
    """POST to activate, pause or archive: without a body."""
    request.query()
    _no_key(request)
    if request.body:
        raise Problem("unknown", "", "this call has no body")
    entity = found(request)
    not_archived(entity)
    status = _STATUSES[request.slots["verb"]]
    return answered(request, view(request.world, request.world.put(entity, {**entity.data, "status": status})))


def _kept(
    request: Request, kind: str, account: Account, data: dict[str, Any], old: Mapping[str, Any] | None,
    parent: str | None, *, key: bool,
) -> dict[str, Any]:  # fmt: skip
    """An object as it is kept. Problem where it breaks a rule."""
    world = request.world
    if kind == "campaign":
        targeting = data.get("targeting")
        if targeting is None:  # all available locations
            data = {**data, "targeting": {}}
        elif "platforms" in targeting and targeting["platforms"] is None:
            data = {**data, "targeting": {name: one for name, one in targeting.items() if name != "platforms"}}
        rules.campaign(world, account, data, old)
    elif kind == "ad_group":
        bidding = {"strategy": "fixed_bid", **data["bidding_config"]}
        data = {**data, "bidding_config": bidding}
        above = world.find("campaign", str(parent))
        assert above is not None, "an ad group has a campaign"
        # the key is asked for where a strategy is chosen, and updates have none (chosen)
        same = old is not None and old["bidding_config"]["strategy"] == bidding["strategy"]
        rules.ad_group(account, data, above, key=key or same)
    else:
        rules.ad(data, old)
        if old is None or old["creative"] != data["creative"]:  # a new review
            data = {**data, "_submitted": int(world.now.timestamp())}
    return data


def _targeting(new: Mapping[str, Any], old: Mapping[str, Any] | None) -> dict[str, Any]:
    """An update of platforms alone keeps locations and audiences; any other one replaces all."""
    return {**(old or {}), **new} if {*new} == {"platforms"} else dict(new)


def _no_key(request: Request) -> None:
    """Only creates take an Idempotency-Key; elsewhere it is refused here (chosen)."""
    if "Idempotency-Key" in request.headers:
        raise Problem("header", "Idempotency-Key", "is not accepted here")


def _new_id(request: Request, kind: str) -> str:
    return f"{PREFIXES[kind]}{request.world.allocate()}"
