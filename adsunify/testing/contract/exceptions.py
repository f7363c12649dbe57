"""Records exceptions of any type: an adapter that raises one is a failure of its case, not of the run."""

from __future__ import annotations

from types import TracebackType
from typing import Self


class ExceptionRecorder:
    """A context that ends when its block raises an ``Exception``, and keeps it in ``exception``."""

    exception: Exception | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        if isinstance(problem, Exception):
            self.exception = problem
        return self.exception is not None
