"""Dates and instants in text, and the days of a range."""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any

from attrs import frozen

from adsunify.sandbox.checks import Check, text
from adsunify.sandbox.parsing import InvalidRequest


@frozen
class InstantFormat:
    """How a network writes an instant in UTC.

    Attributes:
        pattern: a regular expression for the whole text that a caller may send. A text without an offset is UTC.
        decimals: the digits after the second in responses ("seconds", "milliseconds").
        suffix: follows the digits in responses.
        code: the code of the InvalidRequest.
        message: its message for a text that does not match.
        missing_message: its message for a date or time that does not exist.
    """

    pattern: str
    decimals: str
    suffix: str
    message: str
    missing_message: str
    code: str = "value"

    def check_datetime(self, value: Any, where: str) -> datetime:
        """Check the text of an instant, and return the instant with the offset of the text."""
        if not isinstance(value, str) or not re.fullmatch(self.pattern, value):
            raise InvalidRequest(self.code, where, self.message)
        try:
            instant = datetime.fromisoformat(value)
            instant.astimezone(UTC)
        except (ValueError, OverflowError) as error:
            raise InvalidRequest(self.code, where, self.missing_message) from error
        return instant if instant.tzinfo else instant.replace(tzinfo=UTC)

    def check(self, value: Any, where: str) -> str:
        """Check the text of an instant, and return it in the form in which the network stores and shows it."""
        return self.format(self.check_datetime(value, where))

    def format(self, instant: datetime) -> str:
        """Return the text of an aware datetime as the network writes it."""
        return instant.astimezone(UTC).replace(tzinfo=None).isoformat(timespec=self.decimals) + self.suffix


def date_check(message: str = "must be a date YYYY-MM-DD", pattern: str | None = None) -> Check:
    """Make a check of a text `YYYY-MM-DD` that matches `pattern`. The check returns the `date`, which must exist."""

    def check(value: Any, where: str) -> date:
        try:
            return date.fromisoformat(text(10, 10, pattern)(value, where))
        except ValueError as error:
            raise InvalidRequest("value", where, message, value) from error

    return check


def iterate_days(first: date, last: date) -> Iterator[date]:
    """Yield every day from `first` to `last`, both included; none if `last` is earlier."""
    for number in range((last - first).days + 1):
        yield first + timedelta(days=number)
