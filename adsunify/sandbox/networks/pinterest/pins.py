"""Boards and Pins: the publications of a person.

Boards and Pins belong to people, not to ad accounts: the acting user is the owner of `ad_account_id` if that is sent,
or the person who consented. An unknown board or Pin was made elsewhere, and exists.
"""

from collections.abc import Mapping
from typing import Any

from adsunify.sandbox.checks import boolean_text, choice, external_id
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.pinterest import answers
from adsunify.sandbox.networks.pinterest.fields import PIN_CHECK
from adsunify.sandbox.networks.pinterest.login import get_acting_user
from adsunify.sandbox.networks.pinterest.tables import CREATIVE_TYPES
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import StoredEntity

PRIVACIES = ("ALL", "PUBLIC", "PROTECTED", "SECRET", "PUBLIC_AND_SECRET")
_EXTERNAL_ID = external_id(r"\d+")
_EXTERNAL_PIN = {"title": "A Pin from elsewhere", "creative_type": "REGULAR", "is_owner": True}


def list_boards(request: Request) -> Response:
    """GET /boards; secret ones only with a separate scope."""
    query = answers.parse_query(
        request, **answers.PAGING_CHECKS, ad_account_id=answers.DIGITS_CHECK, privacy=choice(*PRIVACIES)
    )
    owner, privacy = get_acting_user(request, query)["username"], query.get("privacy", "ALL")
    privacies = {"ALL": PRIVACIES, "PUBLIC_AND_SECRET": ("PUBLIC", "SECRET")}.get(privacy, (privacy,))
    boards = [
        _render_board(request, board)
        for board in request.world.list_entities("board", owner)
        if _is_visible(request, board)
    ]
    return answers.build_page_response([board for board in boards if board["privacy"] in privacies], query)


def get_board(request: Request) -> Response:
    """GET /boards/{id}."""
    owner = get_acting_user(request, answers.parse_query(request, ad_account_id=answers.DIGITS_CHECK))["username"]
    board = request.world.find("board", request.path_parameters["id"], owner)
    if board is None or not _is_visible(request, board):
        raise InvalidRequest("board", "", "no such board")
    return Response(200, _render_board(request, board))


def list_board_pins(request: Request) -> Response:
    """GET /boards/{id}/pins."""
    query = answers.parse_query(
        request,
        **answers.PAGING_CHECKS,
        ad_account_id=answers.DIGITS_CHECK,
        creative_types=answers.repeated_values(choice(*CREATIVE_TYPES)),
        pin_metrics=boolean_text,
    )
    owner = get_acting_user(request, query)["username"]
    board = request.world.find("board", request.path_parameters["id"], owner)
    if board is None or not _is_visible(request, board):
        raise InvalidRequest("board", "", "no such board")
    return answers.build_page_response(_list_pins(request, owner, query, board.id), query)


def list_pins(request: Request) -> Response:
    """GET /pins: all Pins of the acting user, those on protected boards only if requested."""
    query = answers.parse_query(
        request,
        **answers.PAGING_CHECKS,
        ad_account_id=answers.DIGITS_CHECK,
        creative_types=answers.repeated_values(choice(*CREATIVE_TYPES)),
        pin_metrics=boolean_text,
        include_protected_pins=boolean_text,
        pin_filter=choice("exclude_native", "exclude_repins", "has_been_promoted"),
        pin_type=choice("PRIVATE"),
    )
    owner = get_acting_user(request, query)["username"]
    pins = _list_pins(request, owner, query)
    if not query.get("include_protected_pins", False):
        hidden = {
            board.id for board in request.world.list_entities("board", owner) if board.data["privacy"] != "PUBLIC"
        }
        pins = [pin for pin in pins if pin["board_id"] not in hidden]
    if query.get("pin_filter") == "has_been_promoted":
        pins = [pin for pin in pins if pin["has_been_promoted"]]
    return answers.build_page_response(pins, query)


def get_pin(request: Request) -> Response:
    """GET /pins/{id}."""
    get_acting_user(request, answers.parse_query(request, ad_account_id=answers.DIGITS_CHECK, pin_metrics=boolean_text))
    return Response(200, _render_pin(request, request.path_parameters["id"]))


def create_pin(request: Request) -> Response:
    """POST /pins: published at once.

    The network fetches the image during the call; if that fails, the response is a 400.
    """
    owner = get_acting_user(request, answers.parse_query(request, ad_account_id=answers.DIGITS_CHECK))["username"]
    if "ad_account_id" in dict(request.query_pairs):
        _check_role(request)
    body = request.parse_json(PIN_CHECK)
    board = check_exists(body["board_id"], "board", "/board_id")
    board_entity = request.world.find("board", board)
    if board_entity is not None and (board_entity.account != owner or not _is_visible(request, board_entity)):
        raise InvalidRequest("board", "/board_id", "no such board of the acting person")
    if body.get("board_section_id") is not None:
        check_exists(body["board_section_id"], "section", "/board_section_id")
    if "missing" in body["media_source"].get("url", ""):
        raise InvalidRequest("value", "/media_source/url", "Sorry, we could not fetch the image")
    data = {name: value for name, value in body.items() if name != "media_source"}
    pin = request.world.create("pin", owner, {**data, "creative_type": "REGULAR", "is_owner": True})
    return Response(201, _render_pin(request, pin.id))


def delete_pin(request: Request) -> Response:
    """DELETE /pins/{id}: no content."""
    owner = get_acting_user(request, answers.parse_query(request, ad_account_id=answers.DIGITS_CHECK))["username"]
    pin = request.world.find("pin", request.path_parameters["id"], owner)
    if pin is None or pin.data.get("deleted"):
        raise InvalidRequest("pin", "", "no such Pin of the acting person")
    request.world.replace(pin, {**pin.data, "deleted": True})
    return Response(204)


def find_pin_type(request: Request, native_id: str) -> str | None:
    """The type of a Pin that can be promoted, or None if unknown. Raises InvalidRequest `pin` for a deleted one."""
    pin = request.world.find("pin", native_id)
    if pin is not None and pin.data.get("deleted"):
        raise InvalidRequest("pin", "/pin_id", "the Pin is deleted")
    return None if pin is None else pin.data["creative_type"]


def check_exists(native_id: str, code: str, where: str) -> str:
    """An id of an object made elsewhere. Raises InvalidRequest `code` (board, section, pin) if it is not found."""
    try:
        return str(_EXTERNAL_ID(native_id, where))
    except InvalidRequest as problem:
        if problem.code == "missing":
            raise InvalidRequest(code, where, problem.message) from problem
        raise


def _check_role(request: Request) -> None:
    account = request.find_account(dict(request.query_pairs)["ad_account_id"])
    assert account is not None  # get_acting_user has checked it
    if not {*account.extra["native"]["permissions"]} & {"OWNER", "ADMIN", "CAMPAIGN_MANAGER"}:
        raise InvalidRequest("role", "/ad_account_id", "no access")


def _is_visible(request: Request, board: StoredEntity) -> bool:
    return board.data["privacy"] != "SECRET" or "boards:read_secret" in answers.get_bearer_scopes(request)


def _render_board(request: Request, board: StoredEntity) -> dict[str, Any]:
    pins = _list_pins(request, board.account, {}, board.id)
    return {
        "id": board.id,
        **board.data,
        "owner": {"username": board.account},
        "pin_count": len(pins),
        "follower_count": 3,
        "collaborator_count": 0,
        "created_at": _format_instant(board),
        "board_pins_modified_at": _format_instant(board),
        "media": {"image_cover_url": None, "pin_thumbnail_urls": []},
    }


def _list_pins(
    request: Request, owner: str, query: Mapping[str, Any], board: str | None = None
) -> list[dict[str, Any]]:
    pins = [
        _render_pin(request, pin.id)
        for pin in request.world.list_entities("pin", owner)
        if not pin.data.get("deleted") and board in (None, pin.data["board_id"]) and pin.data["is_owner"]
    ]
    kinds = query.get("creative_types", CREATIVE_TYPES)
    return [pin for pin in pins if (pin["creative_type"] or "REGULAR") in kinds]


def _render_pin(request: Request, native_id: str) -> dict[str, Any]:
    check_exists(native_id, "pin", "/pin_id")
    pin = request.world.find("pin", native_id)
    if pin is not None and pin.data.get("deleted"):
        raise InvalidRequest("pin", "", "the Pin is deleted")
    data: Mapping[str, Any] = _EXTERNAL_PIN if pin is None else pin.data
    image = {"url": f"https://i.pinimg.example/{native_id}.jpg", "width": 1200, "height": 1800}
    return {
        "id": native_id,
        "created_at": "2026-01-01T00:00:00" if pin is None else _format_instant(pin),
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
        "has_been_promoted": any(ad.data["pin_id"] == native_id for ad in request.world.list_entities("ad")),
        "media": {"media_type": "image", "images": {"1200x": image}},
        "parent_pin_id": data.get("parent_pin_id"),
        "pin_metrics": None,
    }


def _format_instant(entity: StoredEntity) -> str:
    return entity.created_at.strftime("%Y-%m-%dT%H:%M:%S")
