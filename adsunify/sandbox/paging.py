"""Pages of lists by opaque cursors, by the last row, or by offsets, and the address of the next page."""

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import urlencode

from attrs import frozen

from adsunify.sandbox.checks import Check, integer_text
from adsunify.sandbox.network import Request
from adsunify.sandbox.parsing import InvalidRequest

_Row = TypeVar("_Row")
_NamedRow = TypeVar("_NamedRow", bound=Mapping[str, Any])


@frozen
class CursorFormat:
    """An opaque cursor: base64 of `prefix`, a value and `suffix`.

    The value is the id of the last row of a page, or the position of the first row of the next one (from 0).
    `where` names the parameter; `code` and `message` are those of the InvalidRequest for a cursor of another list.
    """

    where: str
    prefix: str
    suffix: str = ""
    is_url_safe: bool = False
    is_padded: bool = True
    code: str = "value"
    message: str = "is not one of this list"

    def encode(self, value: object) -> str:
        """Return the cursor of an id or a position."""
        content = f"{self.prefix}{value}{self.suffix}".encode()
        encoded = (base64.urlsafe_b64encode if self.is_url_safe else base64.b64encode)(content).decode()
        return encoded if self.is_padded else encoded.rstrip("=")

    def decode(self, cursor: str) -> str:
        """Return the value of a cursor. Raises InvalidRequest."""
        padded = cursor if self.is_padded else cursor + "=" * (-len(cursor) % 4)
        try:
            content = base64.b64decode(padded, b"-_" if self.is_url_safe else None, validate=True).decode()
        except (binascii.Error, ValueError) as error:
            raise self.error(cursor) from error
        if not content.startswith(self.prefix) or not content.endswith(self.suffix):
            raise self.error(cursor)
        return content.removeprefix(self.prefix).removesuffix(self.suffix)

    def decode_position(self, cursor: str) -> int:
        """Return the number in a cursor. Raises InvalidRequest."""
        value = self.decode(cursor)
        if not (value.isascii() and value.isdigit() and len(value) <= 19):
            raise self.error(cursor)
        return int(value)

    def error(self, cursor: str) -> InvalidRequest:
        """Make the error for a cursor of another list."""
        return InvalidRequest(self.code, self.where, self.message, cursor)


def paginate_after(
    rows: Sequence[_NamedRow], cursor: str | None, size: int, cursors: CursorFormat
) -> tuple[Sequence[_NamedRow], str | None]:
    """Return the page after the row whose `id` the cursor has, and the next cursor (None on the last page).

    Rows that are created between two requests do not shift the pages. Raises InvalidRequest.
    """
    start = 0
    if cursor:
        start = find_position(rows, cursors.decode(cursor), cursors.error(cursor)) + 1
    page = rows[start : start + size]
    return page, cursors.encode(page[-1]["id"]) if start + size < len(rows) else None


def paginate_from(
    rows: Sequence[_Row], cursor: str | None, size: int, cursors: CursorFormat
) -> tuple[Sequence[_Row], str | None]:
    """Return the page that begins at the cursor's position, and the next cursor (None on the last page)."""
    start = 0 if cursor is None else cursors.decode_position(cursor)
    return rows[start : start + size], cursors.encode(start + size) if start + size < len(rows) else None


def find_position(rows: Sequence[Mapping[str, Any]], native_id: str, error: InvalidRequest) -> int:
    """Return the position of the row with this `id`. Raises `error` if no row has it."""
    for position, row in enumerate(rows):
        if row["id"] == native_id:
            return position
    raise error


def build_next_url(request: Request, host: str, parameter: str, cursor: str) -> str:
    """Return the address of this request with another cursor."""
    query = [(name, value) for name, value in request.query_pairs if name != parameter]
    return f"https://{host}{request.path}?{urlencode([*query, (parameter, cursor)])}"


@frozen
class OffsetPaging:
    """Pages by two native parameters: the first row (from 0) and the number of rows."""

    start: str
    size: str

    def make_checks(self, most: int) -> dict[str, Check]:
        """Return the checks of both query parameters. A page has 1 to `most` rows."""
        return {self.start: integer_text(0), self.size: integer_text(1, most)}

    def get_bounds(self, parameters: Mapping[str, Any], default: int) -> tuple[int, int]:
        """Return the first row and the number of rows, which is `default` if the request has none."""
        return parameters.get(self.start, 0), parameters.get(self.size, default)

    def slice(self, rows: Sequence[_Row], parameters: Mapping[str, Any], default: int) -> list[_Row]:
        """Return the rows of the page."""
        start, size = self.get_bounds(parameters, default)
        return list(rows[start : start + size])
