"""Accounts, searches with cursors, and single entities."""

import base64
import binascii
from collections.abc import Callable, Mapping
from typing import Any

from adsunify.sandbox.framework import (
    Account,
    Answer,
    Check,
    Entity,
    Problem,
    Request,
    choice,
    integer_text,
    listing,
    record,
    text,
)
from adsunify.sandbox.networks.linkedin.answers import account_of, answer, elements, require_method
from adsunify.sandbox.networks.linkedin.fields import ACCOUNT, CAMPAIGN, CREATIVE, GROUP, ORGANIZATION, POST, digits_of
from adsunify.sandbox.networks.linkedin.fields import urn as of
from adsunify.sandbox.networks.linkedin.posts import paged
from adsunify.sandbox.networks.linkedin.restli import asked, finder
from adsunify.sandbox.networks.linkedin.rules import status_name
from adsunify.sandbox.networks.linkedin.tables import (
    ACCOUNT_STATUSES,
    CAMPAIGN_TYPES,
    DEAD,
    PAGE_SIZES,
    STATUSES,
)
from adsunify.sandbox.networks.linkedin.writes import KINDS, entity_of

REVIEW_SECONDS = 60  # so soon that a test can see its end
Row = dict[str, Any]


def _paging(kind: str) -> dict[str, Check]:
    return {
        "pageSize": integer_text(1, PAGE_SIZES[kind]),
        "pageToken": text(),
        "sortOrder": choice("ASCENDING", "DESCENDING"),
    }


def _values(item: Check) -> Check:
    return record({"values": listing(item, 1)})


def _id(prefix: str) -> Check:
    """A number or its URN: the documentation does not say which a search takes."""
    return text(pattern=rf"({prefix})?\d{{1,19}}")


_TRUTH = choice("true", "false")
_SEARCHES: Mapping[str, Mapping[str, Check]] = {
    "adAccount": {
        "status": _values(choice(*ACCOUNT_STATUSES)),
        "id": _values(_id(ACCOUNT)),
        "name": _values(text()),
        "reference": _values(ORGANIZATION),
        "type": _values(choice("BUSINESS", "ENTERPRISE")),
        "test": _TRUTH,
    },
    "campaignGroup": {
        "status": _values(choice(*STATUSES["campaignGroup"])),
        "id": _values(_id(GROUP)),
        "name": _values(text()),
        "test": _TRUTH,
    },
    "campaign": {
        "status": _values(choice(*STATUSES["campaign"])),
        "id": _values(_id(CAMPAIGN)),
        "name": _values(text()),
        "test": _TRUTH,
        "campaignGroup": _values(of(GROUP)),
        "associatedEntity": _values(ORGANIZATION),
        "type": _values(choice(*CAMPAIGN_TYPES)),
    },
}


def list_accounts(request: Request) -> Answer:
    """GET /adAccounts?q=search."""
    require_method(request, "FINDER")
    searched = record(optional=_SEARCHES["adAccount"])
    wanted = asked(request, {"q": choice("search")}, search=searched, **_paging("adAccount"))
    rows = [_account(account) for account in request.world.accounts.values()]
    return _page(wanted, [row for row in rows if _found(row, wanted.get("search", {}))], lambda row: row["id"])


def get_account(request: Request) -> Answer:
    """GET /adAccounts/{id}."""
    asked(request)
    return answer(200, _account(account_of(request)))


def list_roles(request: Request) -> Answer:
    """GET /adAccountUsers?q=authenticatedUser: the member's roles, paged by offset."""
    wanted = asked(
        request, {"q": choice("authenticatedUser")}, start=integer_text(0), count=integer_text(1, 1000)
    )  # fmt: skip
    rows = [
        {"account": f"{ACCOUNT}{account.id}", "role": account.extra["role"], "user": "urn:li:person:a1B2c3"}
        for account in request.world.accounts.values()
    ]
    return paged(wanted, rows)


def search(request: Request) -> Answer:
    """GET of groups and campaigns by q=search, of creatives by q=criteria."""
    account, kind = account_of(request), KINDS[request.slots["entities"]]
    if kind == "creative":
        wanted, kept = _criteria(request)
    else:
        require_method(request, "FINDER")
        searched: dict[str, Check] = {"search": record(optional=_SEARCHES[kind])}
        needed = {"q": choice("search"), **(searched if kind == "campaignGroup" else {})}
        wanted = asked(request, needed, **{**searched, **_paging(kind)} if kind == "campaign" else _paging(kind))
        kept = wanted.get("search", {})
    found = [entity for entity in request.world.entities(kind, account.id) if _kept(entity, kept)]
    return _page(wanted, [view(request, entity) for entity in found], lambda row: int(digits_of(str(row["id"]))))


def get_entity(request: Request) -> Answer:
    """GET of one group, campaign or creative."""
    asked(request)
    account, kind = account_of(request), KINDS[request.slots["entities"]]
    return answer(200, view(request, entity_of(request, account, kind, request.slots["entity"])))


def _criteria(request: Request) -> tuple[Row, Row]:
    """The finder of creatives; a search as for the others does not exist here."""
    if finder(request, "search"):
        raise Problem("NOT_FOUND", "", "creatives have no finder search")
    require_method(request, "FINDER", optional=False)
    filters: dict[str, Check] = {
        "campaigns": listing(of(CAMPAIGN), 1),
        "creatives": listing(of(CREATIVE), 1),
        "contentReferences": listing(POST, 1),
        "intendedStatuses": listing(choice(*STATUSES["creative"]), 1),
    }
    wanted = asked(request, {"q": choice("criteria")}, **filters, **_paging("creative"))
    names = {"campaigns": "campaign", "creatives": "id", "contentReferences": "content", "intendedStatuses": "status"}
    return wanted, {names[name]: {"values": wanted[name]} for name in filters if name in wanted}


def _kept(entity: Entity, filters: Row) -> bool:
    data = entity.data
    row = {
        **data,
        "id": entity.id,
        "status": data[status_name(entity.kind)],
        "content": data.get("content", {}).get("reference"),
        "test": data.get("test", False),
    }
    return _found(row, filters)


def _found(row: Row, filters: Row) -> bool:
    for name, wanted in filters.items():
        if name == "test":
            matches = row["test"] == (wanted == "true")
        elif name == "id":
            matches = str(row["id"]) in map(digits_of, wanted["values"])
        else:
            matches = row.get(name) in wanted["values"]
        if not matches:
            return False
    return True


def _page(wanted: Row, rows: list[Row], key: Callable[[Row], Any]) -> Answer:
    """A page in the order of the ids. The token names the last id, so what is created meanwhile shifts nothing."""
    backwards = wanted.get("sortOrder") == "DESCENDING"
    rows = sorted(rows, key=key, reverse=backwards)
    if "pageToken" in wanted:
        last = _read_token(wanted["pageToken"])
        rows = [row for row in rows if (key(row) < last if backwards else key(row) > last)]
    size = wanted.get("pageSize", 100)
    more = len(rows) > size
    # with the characters that have to be percent-encoded when it is sent back
    token = base64.b64encode(f"after:{key(rows[size - 1])}".encode()).decode() if more else None
    return elements(rows[:size], token)


def _read_token(token: str) -> int:
    try:
        word, _, last = base64.b64decode(token, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        word, last = "", ""
    if word != "after" or not last.isdigit():
        raise Problem("value", "/pageToken", "is not one of this list")
    return int(last)


def _account(account: Account) -> Row:
    native = account.extra["native"]
    return {
        "id": int(account.id),
        "name": account.name,
        "currency": account.currency,
        "status": native["status"],
        "servingStatuses": ["RUNNABLE" if native["status"] == "ACTIVE" else "STOPPED"],
        "type": native["type"],
        "reference": native["reference"],
        "test": native["test"],
        "notifiedOnCampaignOptimization": True,
        "version": {"versionTag": "3"},
    }


def view(request: Request, entity: Entity) -> Row:
    """An entity as it is shown, with what the network adds to it."""
    shown = {name: value for name, value in entity.data.items() if not name.startswith("_")}
    created, changed = (int(at.timestamp() * 1000) for at in (entity.created_at, entity.updated_at))
    if entity.kind == "creative":
        return {
            "id": CREATIVE + entity.id,
            "account": ACCOUNT + entity.account,
            **shown,
            **_review(request, entity),
            "createdAt": created,
            "lastModifiedAt": changed,
        }
    return {
        "id": int(entity.id),
        "account": ACCOUNT + entity.account,
        **shown,
        "servingStatuses": _serving(request, entity),
        "changeAuditStamps": {"created": {"time": created}, "lastModified": {"time": changed}},
        "version": {"versionTag": "1" if created == changed else "2"},
    }


def _review(request: Request, entity: Entity) -> Row:
    since = entity.data.get("_reviewed_from")
    campaign = request.world.find("campaign", str(entity.parent))
    assert campaign is not None
    holds = []
    review: Row = {}
    if since is not None:
        pending = int(request.now.timestamp()) < since + REVIEW_SECONDS
        review = {"review": {"status": "PENDING" if pending else "APPROVED"}}
        holds += ["UNDER_REVIEW"] if pending else []
    if entity.data["intendedStatus"] != "ACTIVE":
        holds.append("STOPPED")
    if _serving(request, campaign) != ["RUNNABLE"]:
        holds.append("CAMPAIGN_STOPPED")
    return {**review, "isServing": not holds, "servingHoldReasons": holds}


def _serving(request: Request, entity: Entity) -> list[str]:
    present = int(request.now.timestamp() * 1000)
    schedule, word = entity.data["runSchedule"], "CAMPAIGN_GROUP" if entity.kind == "campaignGroup" else "CAMPAIGN"
    holds = []
    if entity.data["status"] != "ACTIVE":
        holds.append("STOPPED")
    if schedule["start"] > present:
        holds.append(f"{word}_START_DATE_HOLD")
    if schedule.get("end", present + 1) <= present:
        holds.append(f"{word}_END_DATE_HOLD")
    if entity.kind == "campaign":
        group = request.world.find("campaignGroup", str(entity.parent))
        if group is None or group.data["status"] in (*DEAD, "PAUSED", "DRAFT", "ARCHIVED"):
            holds.append("CAMPAIGN_GROUP_STATUS_HOLD")
    return holds or ["RUNNABLE"]
