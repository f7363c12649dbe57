"""The review of several operations that were prepared together: their changes, and one confirmation for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from aiohttp import web
from attrs import frozen

from adsunify.errors import invalid_input
from adsunify.review.completion import get_operation_state
from adsunify.review.exposure import describe_exposure
from adsunify.review.names import is_whole_id

from . import wording
from .operation_subject import OperationSubject, SubjectIndex
from .request import PageRequest, PageRouter

MAX_OPERATIONS = 50
"""The most operations that one request executes (docs/spec.md, "Limits")."""


@frozen
class BatchRow:
    """An operation of the page. ``error`` is why its execution was refused or stopped."""

    operation: Mapping[str, Any]
    account: Mapping[str, Any]
    subject: OperationSubject
    state: str
    exposure: str | None
    changes: Sequence[Mapping[str, Any]]
    error: str | None

    @property
    def is_open(self) -> bool:
        """Whether it can be executed."""
        return self.state == "prepared" and "resumedBy" not in self.operation


def add_pages(router: PageRouter) -> None:
    """Add ``/reviews`` and its form."""
    router.add_get("/reviews", show_batch)
    router.add_post("/reviews/execute", execute_batch)


def make_address(operation_ids: Sequence[str]) -> str:
    """Return the address of the review of operations."""
    return f"/reviews?operations={quote(','.join(operation_ids), safe=',')}"


async def show_batch(visit: PageRequest) -> web.Response:
    """Show the operations that ``?operations=<id>,<id>`` names."""
    return await _render_batch(visit, _read_ids(visit.request.query.get("operations", "")), {})


async def execute_batch(visit: PageRequest) -> web.Response:
    """Execute the operations of the page that can be executed; the page shows what became of each."""
    visit.require_confirmed()
    ids, open_ids = (_read_ids(visit.form.get(name, "")) for name in ("operations", "open"))
    results = (await visit.call_endpoint("post_operations_execute", {"operationIds": open_ids, "confirmed": True}))[
        "results"
    ]
    errors = {result["operationId"]: wording.problem_detail(result["error"]) for result in results if "error" in result}
    if errors:
        return await _render_batch(visit, ids, errors)
    return visit.redirect(make_address(ids))


def _read_ids(text: str) -> list[str]:
    """Return the ids of a list with commas. Raises InvalidInput."""
    ids = list(dict.fromkeys(filter(None, text.split(","))))
    if len(ids) > MAX_OPERATIONS or not all(map(is_whole_id, ids)):
        raise invalid_input("operations", "malformed", f"must be ids of at most {MAX_OPERATIONS} operations.")
    return ids


async def _render_batch(visit: PageRequest, ids: Sequence[str], errors: Mapping[str, str]) -> web.Response:
    index = await SubjectIndex.load(visit, ids)
    rows = [_describe_row(index, id_, errors.get(id_)) for id_ in ids]
    return visit.render_page(
        "batch.html", rows=rows, ids=ids, open_ids=[row.operation["id"] for row in rows if row.is_open]
    )


def _describe_row(index: SubjectIndex, id_: str, error: str | None) -> BatchRow:
    displayed = index.operations[id_]
    operation, state = displayed.data, get_operation_state(displayed.data)
    last_error = operation.get("error")
    return BatchRow(
        operation,
        displayed.account,
        index.describe_operation(id_),
        state,
        describe_exposure(operation["plan"]) if state == "prepared" else None,
        [
            wording.format_change(displayed.account, step["kind"], change)
            for step in operation["plan"]["steps"]
            for change in step["changes"]
        ],
        error or (None if last_error is None else last_error["message"]),
    )
