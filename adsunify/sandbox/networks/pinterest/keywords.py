"""Keywords of an ad group, and negative ones of a campaign or ad account."""

from collections.abc import Mapping
from typing import Any

from adsunify.sandbox.framework import (
    Account,
    Answer,
    Entity,
    Problem,
    Request,
    boolean,
    choice,
    integer,
    listing,
    nullable,
    record,
    text,
)
from adsunify.sandbox.networks.pinterest.answers import DIGITS, PAGING, absent, account_of, asked, page, several
from adsunify.sandbox.networks.pinterest.rules import GONE
from adsunify.sandbox.networks.pinterest.tables import MATCH_TYPES

_BID = {"bid": nullable(integer(0))}  # deprecated: ignored, and null in answers
_NEW = record(
    {
        "parent_id": text(1, 20, r"((AG)|C)?\d+"),
        "keywords": listing(record({"match_type": choice(*MATCH_TYPES), "value": text(1, 120)}, _BID), 1),
    }
)
_CHANGED = record(
    {"keywords": listing(record({"id": text(1, 20, r"\d+")}, {"archived": boolean, **_BID}), 1)}
)  # fmt: skip


def create(request: Request) -> Answer:
    """POST /ad_accounts/{account}/keywords: a 200 with those made and those refused, in no order to rely on.

    Values are folded to lower case (unverified, so the worse case), and the answer is in the order of the alphabet.
    """
    request.query()
    account = account_of(request, writing=True)
    sent = request.json(_NEW)
    parent = _parent(request, account, sent["parent_id"].lstrip("AGC"))
    made: list[dict[str, Any]] = []
    errors: list[dict[str, Any]] = []
    for position, keyword in enumerate(sent["keywords"]):
        value = keyword["value"].lower()
        last = position == len(sent["keywords"]) - 1
        if (message := _refused(request, account, parent, keyword["match_type"], value, last)) is not None:
            errors.append({"data": _view(None, keyword), "error_messages": [message]})
            continue
        kind, above = parent
        data = {"match_type": keyword["match_type"], "value": value, "archived": False, "parent_type": kind}
        made.append(_view(request.world.create("keyword", account.id, data, parent=above)))
    return Answer(200, {"keywords": sorted(made, key=lambda row: str(row["value"])), "errors": errors})


def update(request: Request) -> Answer:
    """PATCH of the same: archives keywords, which takes them off their lists."""
    request.query()
    account = account_of(request, writing=True)
    made: list[dict[str, Any]] = []
    errors: list[dict[str, Any]] = []
    for change in request.json(_CHANGED)["keywords"]:
        keyword = request.world.find("keyword", change["id"], account.id)
        if keyword is None or request.told("error_in_200"):
            errors.append({"data": {"id": change["id"], "type": "keyword"}, "error_messages": ["Keyword not found."]})
            continue
        archived = change.get("archived", keyword.data["archived"])
        made.append(_view(request.world.put(keyword, {**keyword.data, "archived": archived})))
    return Answer(200, {"keywords": made, "errors": errors})


def list_keywords(request: Request) -> Answer:
    """GET of the same; without a filter only those that hang on the ad account itself."""
    account = account_of(request)
    wanted = asked(
        request, **PAGING, campaign_id=DIGITS, ad_group_id=DIGITS, ad_group_ids=several(DIGITS),
        match_types=several(choice(*MATCH_TYPES), 5),
    )  # fmt: skip
    used = [name for name in ("campaign_id", "ad_group_id", "ad_group_ids") if name in wanted]
    if len(used) > 1:
        raise Problem("value", f"/{used[1]}", "provide only one of campaign_id, ad_group_id, ad_group_ids")
    parents = wanted[used[0]] if used else account.id
    rows = [
        _view(keyword)
        for keyword in request.world.entities("keyword", account.id)
        if keyword.parent in ([parents] if isinstance(parents, str) else parents)
        and not keyword.data["archived"]
        and keyword.data["match_type"] in wanted.get("match_types", MATCH_TYPES)
    ]
    return page(rows, wanted)


def _parent(request: Request, account: Account, parent: str) -> tuple[str, str]:
    """Kind and id of what the keywords are for."""
    if parent == account.id:
        return "advertiser", parent
    for kind in ("ad_group", "campaign"):
        entity = request.world.find(kind, parent, account.id)
        if entity is not None and entity.data["status"] not in GONE:
            return kind, parent
    raise absent("Keyword parent")


def _refused(
    request: Request, account: Account, parent: tuple[str, str], match: str, value: str, last: bool
) -> str | None:
    """Why a keyword is not taken."""
    if request.told("error_in_200") or (last and request.told("partial")):
        return "The keyword could not be saved."
    kind, above = parent
    if kind != "ad_group" and not match.endswith("_NEGATIVE"):
        return "Advertisers and Campaigns only accept excluded targeting attributes."
    for other in request.world.entities("keyword", account.id, above):
        if (other.data["match_type"], other.data["value"]) == (match, value) and not other.data["archived"]:
            return "The keyword exists already."
    return None


def _view(keyword: Entity | None, sent: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A keyword as it is answered; with `sent` one that was refused, "with nulled properties"."""
    data: Mapping[str, Any] = (sent or {}) if keyword is None else keyword.data
    return {
        "id": None if keyword is None else keyword.id,
        "archived": data.get("archived"),
        "bid": None,
        "match_type": data["match_type"],
        "value": data["value"],
        "parent_id": None if keyword is None else keyword.parent,
        "parent_type": data.get("parent_type"),
        "type": "keyword",
    }
