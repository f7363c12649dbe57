"""Lists: id filters, search, order, deleted ones, and pages with opaque cursors."""

import base64
import binascii
from collections.abc import Mapping, Sequence

from adsunify.sandbox.framework import Answer, Check, Problem, Request, integer_text, text
from adsunify.sandbox.networks.x.answers import NOTHING, Data, answered, flag, given, many
from adsunify.sandbox.networks.x.tables import IDS

PAGE, DEFAULT_PAGE = 1000, 200
_ID = text()


def listed(
    request: Request,
    rows: Sequence[Data],
    filters: Mapping[str, str],
    required: Mapping[str, Check] = NOTHING,
    optional: Mapping[str, Check] = NOTHING,
    search: str | None = None,
    page: int = PAGE,
) -> Answer:
    """One page of the rows. `filters`: parameter -> member it selects by; `search`: the member that `q` looks into."""
    known: dict[str, Check] = {
        "count": integer_text(1, page),
        "cursor": text(),
        "sort_by": text(pattern=r"(created_at|updated_at|deleted|name)(-(asc|desc))?"),
        "with_deleted": flag,
        "with_total_count": flag,
        **dict.fromkeys(filters, many(_ID, IDS)),
        **({} if search is None else {"q": text(1, 255)}),
        **optional,
    }
    asked = given(request, required, {name: check for name, check in known.items() if name not in required})
    if asked.get("with_total_count") and "cursor" in asked:
        raise Problem("EXCLUSIVE_PARAMETERS", "cursor", "with_total_count and cursor exclude each other")
    found = [row for row in rows if asked.get("with_deleted") or not row.get("deleted")]
    for name, member in filters.items():
        if name in asked:
            found = [row for row in found if row[member] in asked[name]]
    if search is not None and "q" in asked:
        found = [row for row in found if asked["q"].casefold() in str(row[search] or "").casefold()]
    if "sort_by" in asked:
        member, _, direction = asked["sort_by"].partition("-")
        found = sorted(found, key=lambda row: str(row.get(member)), reverse=direction == "desc")
    start, size = _place(asked.get("cursor")), asked.get("count", min(DEFAULT_PAGE, page))
    more = len(found) > start + size
    beside = {"total_count": len(found)} if asked.get("with_total_count") else {}
    return answered(request, found[start : start + size], next_cursor=_cursor(start + size) if more else None, **beside)


def _cursor(place: int) -> str:
    return base64.urlsafe_b64encode(f"from {place}".encode()).rstrip(b"=").decode()


def _place(cursor: str | None) -> int:
    if cursor is None:
        return 0
    try:
        word, place = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode().split(" ")
        if word == "from" and place.isdigit():
            return int(place)
    except (binascii.Error, ValueError):
        pass
    raise Problem("value", "cursor", "is none of ours", cursor)
