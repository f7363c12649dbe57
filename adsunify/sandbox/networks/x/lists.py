"""Lists: id filters, search, order, deleted ones, and pages with opaque cursors."""

from collections.abc import Mapping, Sequence

from adsunify.sandbox.checks import Check, integer_text, text
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.x import answers
from adsunify.sandbox.networks.x.tables import MAX_FILTER_IDS
from adsunify.sandbox.paging import CursorFormat, paginate_from
from adsunify.sandbox.parsing import InvalidRequest

MAX_PAGE_SIZE, DEFAULT_PAGE_SIZE = 1000, 200
_ID_CHECK = text()
_CURSORS = CursorFormat("cursor", "from ", is_url_safe=True, is_padded=False, message="is not a cursor of this list")


def build_page_response(
    request: Request,
    rows: Sequence[answers.Data],
    filters: Mapping[str, str],
    required: Mapping[str, Check] = answers.NO_CHECKS,
    optional: Mapping[str, Check] = answers.NO_CHECKS,
    search: str | None = None,
    page: int = MAX_PAGE_SIZE,
) -> Response:
    """One page of the rows. `filters`: parameter -> member it selects by; `search`: the member that `q` searches."""
    checks: dict[str, Check] = {
        "count": integer_text(1, page),
        "cursor": text(),
        "sort_by": text(pattern=r"(created_at|updated_at|deleted|name)(-(asc|desc))?"),
        "with_deleted": answers.check_flag,
        "with_total_count": answers.check_flag,
        **dict.fromkeys(filters, answers.comma_separated(_ID_CHECK, MAX_FILTER_IDS)),
        **({} if search is None else {"q": text(1, 255)}),
        **optional,
    }
    query = answers.parse_parameters(
        request, required, {name: check for name, check in checks.items() if name not in required}
    )
    if query.get("with_total_count") and "cursor" in query:
        raise InvalidRequest("EXCLUSIVE_PARAMETERS", "cursor", "with_total_count and cursor exclude each other")
    selected_rows = [row for row in rows if query.get("with_deleted") or not row.get("deleted")]
    for name, member in filters.items():
        if name in query:
            selected_rows = [row for row in selected_rows if row[member] in query[name]]
    if search is not None and "q" in query:
        selected_rows = [row for row in selected_rows if query["q"].casefold() in str(row[search] or "").casefold()]
    if "sort_by" in query:
        member, _, direction = query["sort_by"].partition("-")
        selected_rows = sorted(selected_rows, key=lambda row: str(row.get(member)), reverse=direction == "desc")
    size = query.get("count", min(DEFAULT_PAGE_SIZE, page))
    part, next_cursor = paginate_from(selected_rows, query.get("cursor"), size, _CURSORS)
    beside = {"total_count": len(selected_rows)} if query.get("with_total_count") else {}
    return answers.build_response(request, part, next_cursor=next_cursor, **beside)
