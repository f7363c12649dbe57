"""The query language of Rest.li 2.0, read strictly.

`( ) , :` are structure; inside a value they must be percent-encoded. `List(a,b)` becomes a list, `(name:value,...)` a
dict, anything else text. The output of a generic encoder (`List%28`, or values encoded twice) is plain text and fails
in the check of its parameter.
"""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from adsunify.sandbox.checks import Check, record, text
from adsunify.sandbox.network import Request
from adsunify.sandbox.parsing import InvalidRequest

_PLAIN_TEXT_PATTERN = re.compile(r"(?:[A-Za-z0-9_.~-]|%[0-9A-Fa-f]{2})*")
_NAMES_CHECK = text(pattern=r"[A-Za-z]+(,[A-Za-z]+)*")


def parse_query(request: Request, required: Mapping[str, Check] | None = None, /, **optional: Check) -> dict[str, Any]:
    """The checked query of a read, from the URL or, for a tunnelled read, from the body."""
    checked: dict[str, Any] = record(required or {}, optional)(_parse_parameters(get_query_text(request)), "")
    return checked


def is_finder(request: Request, name: str) -> bool:
    """Whether the request uses this finder."""
    return f"q={name}" in get_query_text(request).split("&")


def get_query_text(request: Request) -> str:
    """The query text as sent. Raises InvalidRequest if a tunnelled read has a query in its URL, too."""
    if not is_tunnelled(request):
        return request.raw_query
    request.require_media_type("application/x-www-form-urlencoded")
    if request.raw_query:
        raise InvalidRequest("value", "", "a tunnelled query stands in the body alone")
    try:
        return request.body.decode("ascii")
    except UnicodeDecodeError as error:
        raise InvalidRequest("unreadable", "", "a query is percent-encoded ASCII") from error


def is_tunnelled(request: Request) -> bool:
    """Whether a POST is a GET whose URL would be too long."""
    return request.method == "POST" and request.headers.get("X-HTTP-Method-Override") == "GET"


def _parse_parameters(query: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for member in query.split("&") if query else ():
        name, equals, value = member.partition("=")
        if not equals or not re.fullmatch(r"[A-Za-z0-9_.]+", name):
            raise InvalidRequest("unreadable", f"/{name}", "a parameter is name=value")
        if name in values:
            raise InvalidRequest("duplicate", f"/{name}", f"{name!r} appears twice")
        if name == "fields":  # a projection: literal commas, no List
            values[name] = _NAMES_CHECK(value, "/fields").split(",")
            continue
        values[name], end = _parse_value(value, 0, f"/{name}")
        if end != len(value):
            raise InvalidRequest("unreadable", f"/{name}", f"{value[end]!r} must be percent-encoded inside a value")
    return values


def _parse_value(encoded: str, at: int, where: str) -> tuple[Any, int]:
    if encoded.startswith("List(", at):
        return _parse_members(encoded, at + 5, where, _parse_value, [])
    if encoded.startswith("(", at):
        pairs, end = _parse_members(encoded, at + 1, where, _parse_pair, [])
        names = [name for name, _ in pairs]
        if len({*names}) != len(names):
            raise InvalidRequest("duplicate", where, "a member appears twice")
        return dict(pairs), end
    return _parse_text(encoded, at, where)


def _parse_members(encoded: str, at: int, where: str, parse_member: Any, members: list[Any]) -> tuple[list[Any], int]:
    if encoded.startswith(")", at):
        return members, at + 1
    while True:
        member, at = parse_member(encoded, at, where)
        members.append(member)
        if encoded.startswith(")", at):
            return members, at + 1
        if not encoded.startswith(",", at):
            raise InvalidRequest("unreadable", where, "a value ends with , or ) and has no other literal ( ) , :")
        at += 1


def _parse_pair(encoded: str, at: int, where: str) -> tuple[tuple[str, Any], int]:
    name, at = _parse_text(encoded, at, where)
    if not name or not encoded.startswith(":", at):
        raise InvalidRequest("unreadable", where, "a member of ( ) is name:value")
    value, at = _parse_value(encoded, at + 1, f"{where}/{name}")
    return (name, value), at


def _parse_text(encoded: str, at: int, where: str) -> tuple[str, int]:
    match = _PLAIN_TEXT_PATTERN.match(encoded, at)
    assert match is not None
    try:
        return unquote(match[0], errors="strict"), match.end()
    except UnicodeDecodeError as error:
        raise InvalidRequest("unreadable", where, "a value is percent-encoded UTF-8") from error
