"""Repeats a call to a server where a repetition cannot do anything twice.

Reads and validations are repeated after a failure that may pass. Prepares are repeated with the same idempotency key,
so that the server returns the same operation. Every other request, above all an execute, is repeated only if it
certainly did nothing: no connection was made, or the server refused it because of its rate limit. docs/spec.md says why
("States"): a transport error is not permission to repeat a write.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt
from tenacity.stop import stop_before_delay
from tenacity.wait import wait_random_exponential

from adsunify.contract import Endpoint
from adsunify.errors import AdsunifyError

T = TypeVar("T")
log = logging.getLogger("adsunify")


class AttemptFailed(Exception):
    """An attempt without a result.

    Attributes:
        error: what the caller of the client gets if the call is not repeated.
        is_transient: another attempt may succeed.
        is_undone: this attempt certainly did nothing.
        retry_after: seconds that the server or a proxy asks to wait; None if it gave no time.
    """

    def __init__(
        self,
        error: AdsunifyError,
        *,
        is_transient: bool = False,
        is_undone: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(str(error))
        self.error = error
        self.is_transient = is_transient
        self.is_undone = is_undone
        self.retry_after = retry_after


def is_read(endpoint: Endpoint) -> bool:
    """Whether the endpoint only reads: each GET, and the validations."""
    return endpoint.method == "GET" or (endpoint.access == "read" and endpoint.ignores_idempotency_key)


async def repeat_attempts(
    endpoint: Endpoint,
    send: Callable[[int], Awaitable[T]],
    *,
    max_retries: int,
    deadline_seconds: float,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> T:
    """Call ``send`` with the number of the attempt (from 1) until it succeeds or must not be repeated.

    Raises the error of the last attempt. Its outcome is ``unknown`` if an earlier attempt may have done the work.

    Args:
        endpoint: decides what may be repeated.
        send: sends the request once. It raises AttemptFailed.
        max_retries: the maximum number of repetitions.
        deadline_seconds: the time, in seconds from now, after which no attempt begins.
        sleep: waits between the attempts.
    """
    is_repeatable = is_read(endpoint) or endpoint.takes_idempotency_key
    is_in_doubt = False
    number = 0

    async def send_next() -> T:
        nonlocal is_in_doubt, number
        number += 1
        try:
            return await send(number)
        except AttemptFailed as failure:
            if is_in_doubt and failure.error.operation_data is None:
                failure.error.outcome = "unknown"
            is_in_doubt = is_in_doubt or not (failure.is_undone or is_read(endpoint))
            raise

    def can_repeat(failure: BaseException) -> bool:
        return isinstance(failure, AttemptFailed) and failure.is_transient and (is_repeatable or failure.is_undone)

    def log_wait(state: RetryCallState) -> None:
        log.debug("%s: attempt %d follows in %.2f s", endpoint.operation_id, number + 1, state.upcoming_sleep)

    repeating = AsyncRetrying(
        stop=stop_after_attempt(max_retries + 1) | stop_before_delay(deadline_seconds),
        wait=_get_pause,
        retry=retry_if_exception(can_repeat),
        sleep=sleep,
        before_sleep=log_wait,
        reraise=True,
    )
    try:
        result: T = await repeating(send_next)
    except AttemptFailed as failure:
        raise failure.error from failure.__cause__
    return result


_jitter = wait_random_exponential(multiplier=0.5, max=8.0)


def _get_pause(state: RetryCallState) -> float:
    """Seconds until the next attempt: what the server asks for, and a random time that grows with the attempts."""
    failure = None if state.outcome is None else state.outcome.exception()
    retry_after = failure.retry_after if isinstance(failure, AttemptFailed) else None
    return (retry_after or 0.0) + _jitter(state)
