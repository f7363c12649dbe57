"""Records exceptions of any type. An exception of an adapter fails the case; the run goes on."""

from __future__ import annotations

from types import TracebackType
from typing import Self


class ExceptionRecorder:
    """A context manager that catches an ``Exception`` of the block and stores it in ``exception``."""

    exception: Exception | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        if isinstance(problem, Exception):
            self.exception = problem
        return self.exception is not None
