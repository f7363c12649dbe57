"""The query language of Rest.li 2.0, read strictly.

`( ) , :` are structure while they stand literally; inside a value they must be percent-encoded. `List(a,b)` becomes a
list, `(name:value,...)` a dict, anything else text. What a generic encoder makes of it (`List%28`, or values encoded
twice) is text of another kind, and fails in the check of its parameter.
"""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from adsunify.sandbox.framework import Check, Problem, Request, record, text

_PLAIN = re.compile(r"(?:[A-Za-z0-9_.~-]|%[0-9A-Fa-f]{2})*")
_NAMES = text(pattern=r"[A-Za-z]+(,[A-Za-z]+)*")


def asked(request: Request, required: Mapping[str, Check] | None = None, /, **optional: Check) -> dict[str, Any]:
    """The checked query of a read, from the address or, where it is tunnelled, from the body."""
    checked: dict[str, Any] = record(required or {}, optional)(_parameters(query_of(request)), "")
    return checked


def finder(request: Request, name: str) -> bool:
    """Whether this finder is asked for."""
    return f"q={name}" in query_of(request).split("&")


def query_of(request: Request) -> str:
    """The query text as sent. Problem where a tunnelled read has a query in its address too."""
    if not tunnelled(request):
        return request.raw_query
    request.media("application/x-www-form-urlencoded")
    if request.raw_query:
        raise Problem("value", "", "a tunnelled query stands in the body alone")
    try:
        return request.body.decode("ascii")
    except UnicodeDecodeError as error:
        raise Problem("unreadable", "", "a query is percent-encoded ASCII") from error


def tunnelled(request: Request) -> bool:
    """Whether a POST stands for a GET whose address would be too long."""
    return request.method == "POST" and request.headers.get("X-HTTP-Method-Override") == "GET"


def _parameters(query: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for member in query.split("&") if query else ():
        name, equals, value = member.partition("=")
        if not equals or not re.fullmatch(r"[A-Za-z0-9_.]+", name):
            raise Problem("unreadable", f"/{name}", "a parameter is name=value")
        if name in found:
            raise Problem("duplicate", f"/{name}", f"{name!r} appears twice")
        if name == "fields":  # a projection: literal commas, no List
            found[name] = _NAMES(value, "/fields").split(",")
            continue
        found[name], end = _value(value, 0, f"/{name}")
        if end != len(value):
            raise Problem("unreadable", f"/{name}", f"{value[end]!r} must be percent-encoded inside a value")
    return found


def _value(written: str, at: int, where: str) -> tuple[Any, int]:
    if written.startswith("List(", at):
        return _members(written, at + 5, where, _value, [])
    if written.startswith("(", at):
        pairs, end = _members(written, at + 1, where, _pair, [])
        names = [name for name, _ in pairs]
        if len({*names}) != len(names):
            raise Problem("duplicate", where, "a member appears twice")
        return dict(pairs), end
    return _text(written, at, where)


def _members(written: str, at: int, where: str, one: Any, found: list[Any]) -> tuple[list[Any], int]:
    if written.startswith(")", at):
        return found, at + 1
    while True:
        member, at = one(written, at, where)
        found.append(member)
        if written.startswith(")", at):
            return found, at + 1
        if not written.startswith(",", at):
            raise Problem("unreadable", where, "a value ends with , or ) and has no other literal ( ) , :")
        at += 1


def _pair(written: str, at: int, where: str) -> tuple[tuple[str, Any], int]:
    name, at = _text(written, at, where)
    if not name or not written.startswith(":", at):
        raise Problem("unreadable", where, "a member of ( ) is name:value")
    value, at = _value(written, at + 1, f"{where}/{name}")
    return (name, value), at


def _text(written: str, at: int, where: str) -> tuple[str, int]:
    found = _PLAIN.match(written, at)
    assert found is not None
    try:
        return unquote(found[0], errors="strict"), found.end()
    except UnicodeDecodeError as error:
        raise Problem("unreadable", where, "a value is percent-encoded UTF-8") from error
