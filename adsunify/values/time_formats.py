"""The formats in which networks write instants, as :class:`TimeFormat`, and the formats that several networks share."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from attrs import frozen

from adsunify.errors import InvalidInput, invalid_input
from adsunify.values.dates import FractionDigits, format_utc, is_finer, parse_instant
from adsunify.values.exact_json import Json

_PRECISION_NAMES: dict[FractionDigits, str] = {0: "whole seconds", 3: "whole milliseconds"}


@frozen(eq=False)
class TimeFormat:
    """The format in which a network writes instants.

    Attributes:
        parse: reads a native value as an instant in UTC; None if it is not an instant.
        format: returns the native value of an instant.
        digits: the number of fraction digits of a second that the network stores.
        years: the first year that the network accepts, and the year at whose beginning its range ends.
        shows_milliseconds: the text for people has milliseconds even if they are 0.
    """

    parse: Callable[[Json], datetime | None]
    format: Callable[[datetime], Json]
    digits: FractionDigits = 0
    years: tuple[int, int] | None = None
    shows_milliseconds: bool = False

    def parse_text(self, text: str, path: str, network: str) -> datetime:
        """Parse the ISO 8601 text of a caller.

        Raises:
            InvalidInput: as :func:`~adsunify.values.dates.parse_instant`, or as :meth:`check_moment`.
        """
        moment = parse_instant(text, path)
        self.check_moment(moment, text, path, network)
        return moment

    def check_moment(self, moment: datetime, text: str, path: str, network: str) -> None:
        """Check that the network stores an instant exactly. ``text`` is the ISO 8601 text of the instant.

        Raises:
            InvalidInput: ``over_precision`` if the text has more digits than the network stores; ``out_of_range`` if
                the instant is outside of ``years``.
        """
        if is_finer(text, self.digits):
            message = f"{network} counts {_PRECISION_NAMES[self.digits]}; nothing is rounded."
            raise invalid_input(path, "over_precision", message)
        if self.years is not None:
            first, end = (datetime(year, 1, 1, tzinfo=UTC) for year in self.years)
            if not first <= moment <= end:
                message = f"{network} takes instants of the years {self.years[0]} to {self.years[1] - 1}."
                raise invalid_input(path, "out_of_range", message)

    def format_for_people(self, value: Json) -> str | None:
        """Return a native value as ISO 8601 text in UTC; None if it is not an instant."""
        moment = self.parse(value)
        if moment is None:
            return None
        if self.shows_milliseconds or moment.microsecond:
            return moment.astimezone(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"
        return format_utc(moment)


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def parse_iso_time(value: Json) -> datetime | None:
    """Parse an ISO 8601 text with ``Z`` or an offset; None for any other value."""
    try:
        return parse_instant(value) if isinstance(value, str) else None
    except InvalidInput:
        return None


def _make_unix_format(unit: timedelta, digits: FractionDigits) -> TimeFormat:
    def parse(value: Json) -> datetime | None:
        if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
            return None
        try:
            return _EPOCH + value * unit
        except OverflowError:
            return None

    return TimeFormat(parse, lambda moment: (moment - _EPOCH) // unit, digits)


ISO_TIME = TimeFormat(parse_iso_time, format_utc)
"""ISO 8601 in UTC and whole seconds: 2027-03-01T08:00:00Z."""
UNIX_SECONDS = _make_unix_format(timedelta(seconds=1), 0)
"""Seconds since 1970, as an integer greater than 0."""
UNIX_MILLISECONDS = _make_unix_format(timedelta(milliseconds=1), 3)
"""Milliseconds since 1970, as an integer greater than 0."""
