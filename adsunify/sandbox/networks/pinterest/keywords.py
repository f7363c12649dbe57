"""Keywords of an ad group, and negative ones of a campaign or ad account."""

from collections.abc import Mapping
from typing import Any

from adsunify.sandbox.checks import array, boolean, choice, integer, nullable, record, text
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.pinterest import answers
from adsunify.sandbox.networks.pinterest.rules import FINAL_STATUSES
from adsunify.sandbox.networks.pinterest.tables import MATCH_TYPES
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import Account, StoredEntity

_BID_MEMBER = {"bid": nullable(integer(0))}  # deprecated: ignored, and null in answers
_CREATE_CHECK = record(
    {
        "parent_id": text(1, 20, r"((AG)|C)?\d+"),
        "keywords": array(record({"match_type": choice(*MATCH_TYPES), "value": text(1, 120)}, _BID_MEMBER), 1),
    }
)
_UPDATE_CHECK = record(
    {"keywords": array(record({"id": text(1, 20, r"\d+")}, {"archived": boolean, **_BID_MEMBER}), 1)}
)


def create_keywords(request: Request) -> Response:
    """POST /ad_accounts/{account}/keywords: a 200 with created and refused keywords in an unspecified order.

    Values become lower case (unverified, so the worse case), and the response is in alphabetical order.
    """
    request.parse_query()
    account = answers.require_account(request, writing=True)
    body = request.parse_json(_CREATE_CHECK)
    parent = _require_parent(request, account, body["parent_id"].lstrip("AGC"))
    keywords: list[dict[str, Any]] = []
    errors: list[dict[str, Any]] = []
    for position, keyword in enumerate(body["keywords"]):
        value = keyword["value"].lower()
        last = position == len(body["keywords"]) - 1
        if (message := _find_refusal_reason(request, account, parent, keyword["match_type"], value, last)) is not None:
            errors.append({"data": _render_keyword(None, keyword), "error_messages": [message]})
            continue
        kind, above = parent
        data = {"match_type": keyword["match_type"], "value": value, "archived": False, "parent_type": kind}
        keywords.append(_render_keyword(request.world.create("keyword", account.id, data, parent=above)))
    return Response(200, {"keywords": sorted(keywords, key=lambda row: str(row["value"])), "errors": errors})


def update_keywords(request: Request) -> Response:
    """PATCH /ad_accounts/{account}/keywords: archives keywords. Lists do not show archived keywords."""
    request.parse_query()
    account = answers.require_account(request, writing=True)
    keywords: list[dict[str, Any]] = []
    errors: list[dict[str, Any]] = []
    for change in request.parse_json(_UPDATE_CHECK)["keywords"]:
        keyword = request.world.find("keyword", change["id"], account.id)
        if keyword is None or request.get_fault("error_in_200"):
            errors.append({"data": {"id": change["id"], "type": "keyword"}, "error_messages": ["Keyword not found."]})
            continue
        archived = change.get("archived", keyword.data["archived"])
        keywords.append(_render_keyword(request.world.replace(keyword, {**keyword.data, "archived": archived})))
    return Response(200, {"keywords": keywords, "errors": errors})


def list_keywords(request: Request) -> Response:
    """GET /ad_accounts/{account}/keywords: without a filter only the keywords of the ad account itself."""
    account = answers.require_account(request)
    query = answers.parse_query(
        request,
        **answers.PAGING_CHECKS,
        campaign_id=answers.DIGITS_CHECK,
        ad_group_id=answers.DIGITS_CHECK,
        ad_group_ids=answers.repeated_values(answers.DIGITS_CHECK),
        match_types=answers.repeated_values(choice(*MATCH_TYPES), 5),
    )
    used = [name for name in ("campaign_id", "ad_group_id", "ad_group_ids") if name in query]
    if len(used) > 1:
        raise InvalidRequest("value", f"/{used[1]}", "provide only one of campaign_id, ad_group_id, ad_group_ids")
    parents = query[used[0]] if used else account.id
    rows = [
        _render_keyword(keyword)
        for keyword in request.world.list_entities("keyword", account.id)
        if keyword.parent in ([parents] if isinstance(parents, str) else parents)
        and not keyword.data["archived"]
        and keyword.data["match_type"] in query.get("match_types", MATCH_TYPES)
    ]
    return answers.build_page_response(rows, query)


def _require_parent(request: Request, account: Account, parent: str) -> tuple[str, str]:
    """Kind and id of the parent of keywords."""
    if parent == account.id:
        return "advertiser", parent
    for kind in ("ad_group", "campaign"):
        entity = request.world.find(kind, parent, account.id)
        if entity is not None and entity.data["status"] not in FINAL_STATUSES:
            return kind, parent
    raise answers.not_found_error("Keyword parent")


def _find_refusal_reason(
    request: Request, account: Account, parent: tuple[str, str], match: str, value: str, last: bool
) -> str | None:
    """The reason why a keyword is refused, or None."""
    if request.get_fault("error_in_200") or (last and request.get_fault("partial")):
        return "The keyword could not be saved."
    kind, above = parent
    if kind != "ad_group" and not match.endswith("_NEGATIVE"):
        return "Advertisers and Campaigns only accept excluded targeting attributes."
    for other in request.world.list_entities("keyword", account.id, above):
        if (other.data["match_type"], other.data["value"]) == (match, value) and not other.data["archived"]:
            return "The keyword exists already."
    return None


def _render_keyword(keyword: StoredEntity | None, content: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A keyword in a response. With `content` the keyword was refused and comes "with nulled properties"."""
    data: Mapping[str, Any] = (content or {}) if keyword is None else keyword.data
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
