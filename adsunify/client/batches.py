"""The operations of ``operations.run_many`` with their latest results, for both clients."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from adsunify.answers import Batch, BatchDone, BatchFailed, Operation
from adsunify.errors import AdsunifyError
from adsunify.problem_details import to_problem_details

from .inputs import read_ids
from .resource import check_progress, get_pause

MAX_OPERATIONS = 50
"""The maximum number of operations of one call."""


class BatchRun:
    """Continues operations until each is finished or stopped.

    A client executes each list of :meth:`list_calls`, adds the results or the error, and waits the seconds that
    :meth:`report_progress` returns.
    """

    def __init__(
        self, operations: Sequence[Operation | str], progress: Callable[[Operation], None] | None = None
    ) -> None:
        check_progress(progress)
        self._ids = read_ids("operationIds", operations)
        self._results: dict[str, BatchDone | BatchFailed] = {}
        self._progress = progress

    def list_calls(self) -> Iterator[list[str]]:
        """Yield the ids of the unfinished operations, in one list for each call."""
        ids = [id_ for id_ in self._ids if id_ not in self._results or self._find_unfinished(id_)]
        for first in range(0, len(ids), MAX_OPERATIONS):
            yield ids[first : first + MAX_OPERATIONS]

    def add_results(self, batch: Batch) -> None:
        """Store the results of a call."""
        self._results |= {result.operation_id: result for result in batch.results}

    def add_error(self, ids: Sequence[str], error: AdsunifyError) -> None:
        """Make the error of a call the result of its operations. Without an earlier result the error is raised."""
        if not self._results:
            raise error
        problem = to_problem_details(error)
        self._results |= {id_: BatchFailed.model_validate({"operationId": id_, "error": problem}) for id_ in ids}

    def report_progress(self) -> float | None:
        """Call ``progress`` with each operation to be continued. Returns the seconds to wait, None at the end."""
        unfinished = [operation for id_ in self._ids if (operation := self._find_unfinished(id_))]
        if self._progress is not None:
            for operation in unfinished:
                self._progress(operation)
        return min(map(get_pause, unfinished), default=None)

    def make_batch(self) -> Batch:
        """Return the last result of each operation, in the order of the operations."""
        return Batch.model_validate({"results": [self._results[id_].to_dict() for id_ in self._ids]})

    def _find_unfinished(self, operation_id: str) -> Operation | None:
        result = self._results[operation_id]
        return result.operation if isinstance(result, BatchDone) and result.operation.can_continue else None
