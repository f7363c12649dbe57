"""Shared shapes of TikTok's parameters."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from adsunify.sandbox.checks import Check, array, choice, integer_text, json_text, number, text, visible_text
from adsunify.sandbox.parsing import InvalidRequest

# Emoji of the pictograph, dingbat, arrow and flag blocks, the keycap and the joiner.
_EMOJI_PATTERN = re.compile("[\U0001f000-\U0001faff\u2600-\u27bf\u2b00-\u2bff\u20e3\ufe0f\u200d]")

ADVERTISER_CHECK: Check = text(pattern="[0-9]+")
ID_CHECK: Check = text(pattern="[0-9]+")
TEXT_CHECK: Check = text(0)
MONEY_CHECK: Check = number(Decimal(0))


def counted_text(most: int) -> Check:
    """Text of 1 to `most` units, without emoji: a CJK character is two units, a Latin one is one."""

    def check(value: Any, where: str) -> str:
        content = str(visible_text()(value, where))
        if sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in content) > most:
            raise InvalidRequest("value", where, f"must have at most {most} characters (a CJK character counts twice)")
        if _EMOJI_PATTERN.search(content):
            raise InvalidRequest("value", where, "must not contain emoji")
        return content

    return check


def check_url(value: Any, where: str) -> str:
    """An http(s) address."""
    return str(text(pattern=r"https?://[^\s/]+\S*")(value, where))


def check_request_number(value: Any, where: str) -> str:
    """`request_id`: a 64-bit integer as decimal text."""
    integer_text(-(2**63), 2**63 - 1)(value, where)
    return str(value)


def check_instant(value: Any, where: str) -> str:
    """`YYYY-MM-DD HH:MM:SS`, always UTC; answers the text."""
    try:
        parse_instant(text(19, 19)(value, where))
    except ValueError as error:
        raise InvalidRequest("value", where, "must be YYYY-MM-DD HH:MM:SS", value) from error
    return str(value)


def parse_instant(content: str) -> datetime:
    """Parse an instant. Raises ValueError."""
    return datetime.strptime(content, "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)


def format_instant(at: datetime) -> str:
    """An instant as TikTok writes it."""
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")


def field_names(names: Sequence[str]) -> Check:
    """The check of a query value: a JSON array of known names, each once."""

    def check(value: Any, where: str) -> list[str]:
        fields: list[str] = json_text(array(choice(*names), 1))(value, where)
        if len({*fields}) < len(fields):
            raise InvalidRequest("value", where, "names a field twice")
        return fields

    return check


def paging_checks(most: int) -> dict[str, Check]:
    """The parameters of a list in pages."""
    return {"page": integer_text(1), "page_size": integer_text(1, most)}


def paginate(rows: Sequence[Mapping[str, Any]], query: Mapping[str, Any], size: int = 10) -> dict[str, Any]:
    """One page: `list` and `page_info`."""
    number, size = query.get("page", 1), query.get("page_size", size)
    total = -(-len(rows) // size)
    info = {"page": number, "page_size": size, "total_number": len(rows), "total_page": total}
    return {"list": list(rows[(number - 1) * size : number * size]), "page_info": info}
