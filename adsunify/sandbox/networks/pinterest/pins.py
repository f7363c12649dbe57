"""Boards and Pins: what a person publishes, ad or not.

Boards and Pins belong to people, not to ad accounts: the owner of `ad_account_id` acts where it is sent, else whoever
consented. A board or Pin that nothing here knows was made elsewhere, and exists.
"""

from collections.abc import Mapping
from typing import Any

from adsunify.sandbox.framework import Answer, Entity, Problem, Request, choice, foreign
from adsunify.sandbox.networks.pinterest.answers import DIGITS, PAGING, asked, bearer_scopes, page, several, truth
from adsunify.sandbox.networks.pinterest.fields import PIN
from adsunify.sandbox.networks.pinterest.login import acting
from adsunify.sandbox.networks.pinterest.tables import CREATIVE_TYPES

PRIVACIES = ("ALL", "PUBLIC", "PROTECTED", "SECRET", "PUBLIC_AND_SECRET")
_FOREIGN = foreign(r"\d+")
_ELSEWHERE = {"title": "A Pin from elsewhere", "creative_type": "REGULAR", "is_owner": True}


def list_boards(request: Request) -> Answer:
    """GET /boards; secret ones only with their own scope."""
    wanted = asked(request, **PAGING, ad_account_id=DIGITS, privacy=choice(*PRIVACIES))
    owner, privacy = acting(request, wanted)["username"], wanted.get("privacy", "ALL")
    shown = {"ALL": PRIVACIES, "PUBLIC_AND_SECRET": ("PUBLIC", "SECRET")}.get(privacy, (privacy,))
    boards = [_board(request, board) for board in request.world.entities("board", owner) if _open(request, board)]
    return page([board for board in boards if board["privacy"] in shown], wanted)


def get_board(request: Request) -> Answer:
    """GET /boards/{id}."""
    owner = acting(request, asked(request, ad_account_id=DIGITS))["username"]
    board = request.world.find("board", request.slots["id"], owner)
    if board is None or not _open(request, board):
        raise Problem("board", "", "no such board")
    return Answer(200, _board(request, board))


def list_board_pins(request: Request) -> Answer:
    """GET /boards/{id}/pins."""
    wanted = asked(
        request, **PAGING, ad_account_id=DIGITS, creative_types=several(choice(*CREATIVE_TYPES)), pin_metrics=truth
    )
    owner = acting(request, wanted)["username"]
    board = request.world.find("board", request.slots["id"], owner)
    if board is None or not _open(request, board):
        raise Problem("board", "", "no such board")
    return page(_pins(request, owner, wanted, board.id), wanted)


def list_pins(request: Request) -> Answer:
    """GET /pins: all of the acting person, without those on protected boards unless they are asked for."""
    wanted = asked(
        request, **PAGING, ad_account_id=DIGITS, creative_types=several(choice(*CREATIVE_TYPES)), pin_metrics=truth,
        include_protected_pins=truth, pin_filter=choice("exclude_native", "exclude_repins", "has_been_promoted"),
        pin_type=choice("PRIVATE"),
    )  # fmt: skip
    owner = acting(request, wanted)["username"]
    pins = _pins(request, owner, wanted)
    if not wanted.get("include_protected_pins", False):
        hidden = {board.id for board in request.world.entities("board", owner) if board.data["privacy"] != "PUBLIC"}
        pins = [pin for pin in pins if pin["board_id"] not in hidden]
    if wanted.get("pin_filter") == "has_been_promoted":
        pins = [pin for pin in pins if pin["has_been_promoted"]]
    return page(pins, wanted)


def get_pin(request: Request) -> Answer:
    """GET /pins/{id}."""
    acting(request, asked(request, ad_account_id=DIGITS, pin_metrics=truth))
    return Answer(200, _pin_view(request, request.slots["id"]))


def create_pin(request: Request) -> Answer:
    """POST /pins: published at once. The image is fetched meanwhile, and a 400 where that fails."""
    owner = acting(request, asked(request, ad_account_id=DIGITS))["username"]
    if "ad_account_id" in dict(request.pairs):
        _check_role(request)
    sent = request.json(PIN)
    board = exists(sent["board_id"], "board", "/board_id")
    known = request.world.find("board", board)
    if known is not None and (known.account != owner or not _open(request, known)):
        raise Problem("board", "/board_id", "no such board of the acting person")
    if sent.get("board_section_id") is not None:
        exists(sent["board_section_id"], "section", "/board_section_id")
    if "missing" in sent["media_source"].get("url", ""):
        raise Problem("value", "/media_source/url", "Sorry, we could not fetch the image")
    data = {name: value for name, value in sent.items() if name != "media_source"}
    made = request.world.create("pin", owner, {**data, "creative_type": "REGULAR", "is_owner": True})
    return Answer(201, _pin_view(request, made.id))


def delete_pin(request: Request) -> Answer:
    """DELETE /pins/{id}: no content."""
    owner = acting(request, asked(request, ad_account_id=DIGITS))["username"]
    pin = request.world.find("pin", request.slots["id"], owner)
    if pin is None or pin.data.get("deleted"):
        raise Problem("pin", "", "no such Pin of the acting person")
    request.world.put(pin, {**pin.data, "deleted": True})
    return Answer(204)


def known_type(request: Request, native_id: str) -> str | None:
    """The type of a Pin that can be promoted, where it is known here. Problem `pin` for a deleted one."""
    pin = request.world.find("pin", native_id)
    if pin is not None and pin.data.get("deleted"):
        raise Problem("pin", "/pin_id", "the Pin is deleted")
    return None if pin is None else pin.data["creative_type"]


def exists(native_id: str, what: str, where: str) -> str:
    """An id of something made elsewhere. Problem `what` (board, section, pin) where it is not found."""
    try:
        return str(_FOREIGN(native_id, where))
    except Problem as problem:
        if problem.code == "missing":
            raise Problem(what, where, problem.message) from problem
        raise


def _check_role(request: Request) -> None:
    account = request.account(dict(request.pairs)["ad_account_id"])
    assert account is not None  # `acting` has seen it
    if not {*account.extra["native"]["permissions"]} & {"OWNER", "ADMIN", "CAMPAIGN_MANAGER"}:
        raise Problem("role", "/ad_account_id", "no access")


def _open(request: Request, board: Entity) -> bool:
    return board.data["privacy"] != "SECRET" or "boards:read_secret" in bearer_scopes(request)


def _board(request: Request, board: Entity) -> dict[str, Any]:
    pins = _pins(request, board.account, {}, board.id)
    return {
        "id": board.id,
        **board.data,
        "owner": {"username": board.account},
        "pin_count": len(pins),
        "follower_count": 3,
        "collaborator_count": 0,
        "created_at": _instant(board),
        "board_pins_modified_at": _instant(board),
        "media": {"image_cover_url": None, "pin_thumbnail_urls": []},
    }


def _pins(request: Request, owner: str, wanted: Mapping[str, Any], board: str | None = None) -> list[dict[str, Any]]:
    pins = [
        _pin_view(request, pin.id)
        for pin in request.world.entities("pin", owner)
        if not pin.data.get("deleted") and board in (None, pin.data["board_id"]) and pin.data["is_owner"]
    ]
    kinds = wanted.get("creative_types", CREATIVE_TYPES)
    return [pin for pin in pins if (pin["creative_type"] or "REGULAR") in kinds]


def _pin_view(request: Request, native_id: str) -> dict[str, Any]:
    exists(native_id, "pin", "/pin_id")
    pin = request.world.find("pin", native_id)
    if pin is not None and pin.data.get("deleted"):
        raise Problem("pin", "", "the Pin is deleted")
    data: Mapping[str, Any] = _ELSEWHERE if pin is None else pin.data
    image = {"url": f"https://i.pinimg.example/{native_id}.jpg", "width": 1200, "height": 1800}
    return {
        "id": native_id,
        "created_at": "2026-01-01T00:00:00" if pin is None else _instant(pin),
        "title": data.get("title"),
        "description": data.get("description"),
        "link": data.get("link"),
        "alt_text": data.get("alt_text"),
        "dominant_color": data.get("dominant_color", "#6E7874"),
        "board_id": data.get("board_id"),
        "board_section_id": data.get("board_section_id"),
        "board_owner": {"username": "someone" if pin is None else pin.account},
        "creative_type": data["creative_type"],
        "is_owner": data["is_owner"],
        "is_standard": True,
        "has_been_promoted": any(ad.data["pin_id"] == native_id for ad in request.world.entities("ad")),
        "media": {"media_type": "image", "images": {"1200x": image}},
        "parent_pin_id": data.get("parent_pin_id"),
        "pin_metrics": None,
    }


def _instant(entity: Entity) -> str:
    return entity.created_at.strftime("%Y-%m-%dT%H:%M:%S")
