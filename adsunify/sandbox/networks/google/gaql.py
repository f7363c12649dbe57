"""The Google Ads Query Language, as far as the documentation uses it: text into a Query, nothing about data."""

import re
from collections.abc import Callable
from typing import Any

from attrs import define, field, frozen

from adsunify.sandbox.framework import Problem

_TOKEN = re.compile(
    r"""\s+ | (?P<string>'(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*") | (?P<number>-?[0-9]+(?:\.[0-9]+)?(?![\w.]))
    | (?P<word>[A-Za-z_][\w.]*) | (?P<symbol>!=|>=|<=|[=<>(),])""",
    re.VERBOSE | re.DOTALL,
)
_FIELD = r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+"


@frozen
class Condition:
    """`field operator value, ...`: a value is a str, an int or a bool. BETWEEN has two, IN any number, others one."""

    field: str
    operator: str
    values: tuple[Any, ...]


@frozen
class Query:
    """A parsed query. `order` holds (field, descending)."""

    select: tuple[str, ...]
    source: str
    conditions: tuple[Condition, ...]
    order: tuple[tuple[str, bool], ...]
    limit: int | None


def parse(text: str) -> Query:
    """A query. Problem `queryError...`, at `/query`."""
    return _Reader(_tokens(text)).query()


def like(pattern: str) -> Callable[[str], bool]:
    """Whether a text is LIKE the pattern: `%` any text, `_` one character, `[x]` that character itself.

    Upper and lower case are the same (the documentation does not say).
    """
    built, place = "", 0
    while place < len(pattern):
        inside = re.match(r"\[(.)\]", pattern[place:], re.DOTALL)
        match pattern[place]:
            case "[" if inside:
                built += re.escape(inside[1])
                place += 2
            case "[" | "]":
                raise refused("INVALID_VALUE_WITH_LIKE_OPERATOR", f"unpaired bracket in {pattern!r}")
            case "%":
                built += ".*"
            case "_":
                built += "."
            case other:
                built += re.escape(other)
        place += 1
    expression = re.compile(built, re.IGNORECASE | re.DOTALL)
    return lambda text: expression.fullmatch(text) is not None


def refused(code: str, message: str) -> Problem:
    """A `queryError`."""
    return Problem(f"queryError.{code}", "/query", f"Error in query: {message}.")


def _tokens(text: str) -> list[tuple[str, str]]:
    """(kind, text) of every token."""
    tokens, place = [], 0
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            if text[place] in "'\"":
                raise refused("STRING_NOT_TERMINATED", f"string at {place} does not end")
            raise refused("BAD_SYMBOL", f"unexpected {text[place]!r} at {place}")
        if found.lastgroup is not None:
            tokens.append((found.lastgroup, found[0]))
        place = found.end()
    return tokens


@define
class _Reader:
    tokens: list[tuple[str, str]]
    at: int = field(default=0)

    def query(self) -> Query:
        if not self.keyword("SELECT"):
            raise refused("EXPECTED_SELECT", "a query begins with SELECT")
        select = self.separated(self.name)
        if not self.keyword("FROM"):
            raise refused("EXPECTED_FROM" if self.ended else "UNEXPECTED_INPUT", "FROM is expected")
        source = self.take("word")
        conditions, order, limit = [], [], None
        if self.keyword("WHERE"):
            conditions.append(self.condition())
            while self.keyword("AND"):
                conditions.append(self.condition())
        if self.keyword("ORDER"):
            if not self.keyword("BY"):
                raise refused("EXPECTED_BY", "BY is expected after ORDER")
            order = self.separated(self.ordering)
        if self.keyword("LIMIT"):
            limit = self.limit()
        if not self.ended:
            raise refused("UNEXPECTED_INPUT", f"unexpected {self.tokens[self.at][1]!r}")
        return Query(tuple(select), source, tuple(conditions), tuple(order), limit)

    @property
    def ended(self) -> bool:
        return self.at == len(self.tokens)

    def keyword(self, word: str) -> bool:
        """Whether the next token is this keyword; then it is taken."""
        fits = not self.ended and self.tokens[self.at][0] == "word" and self.tokens[self.at][1].upper() == word
        self.at += fits
        return fits

    def symbol(self, symbol: str) -> bool:
        fits = not self.ended and self.tokens[self.at] == ("symbol", symbol)
        self.at += fits
        return fits

    def take(self, kind: str, code: str = "UNEXPECTED_INPUT") -> str:
        if self.ended:
            raise refused("UNEXPECTED_END_OF_QUERY", f"a {kind} is expected at the end")
        found, text = self.tokens[self.at]
        if found != kind:
            raise refused(code, f"a {kind} is expected instead of {text!r}")
        self.at += 1
        return text

    def separated(self, item: Callable[[], Any]) -> list[Any]:
        items = [item()]
        while self.symbol(","):
            items.append(item())
        return items

    def name(self) -> str:
        name = self.take("word", "BAD_FIELD_NAME")
        if not re.fullmatch(_FIELD, name):
            raise refused("BAD_FIELD_NAME", f"{name!r} is no field name")
        return name

    def ordering(self) -> tuple[str, bool]:
        name = self.name()
        descending = self.keyword("DESC")
        if not descending:
            self.keyword("ASC")
        return name, descending

    def limit(self) -> int:
        text = self.take("number", "BAD_LIMIT_VALUE")
        if not text.isdigit():
            raise refused("BAD_LIMIT_VALUE", f"LIMIT takes a whole number, not {text}")
        if not int(text):
            raise refused("LIMIT_VALUE_TOO_LOW", "LIMIT must be 1 or more")
        return int(text)

    def condition(self) -> Condition:
        name = self.name()
        negated = self.keyword("NOT")
        if self.keyword("IN"):
            if not self.symbol("("):
                raise refused("EXPECTED_LIST", "IN takes a list in brackets")
            if self.symbol(")"):
                raise refused("PROHIBITED_EMPTY_LIST_IN_CONDITION", "IN takes one value or more")
            values = self.separated(self.value)
            if not self.symbol(")"):
                raise refused("UNEXPECTED_INPUT", "the list is not closed")
            return Condition(name, "NOT IN" if negated else "IN", tuple(values))
        if self.keyword("LIKE"):
            return Condition(name, "NOT LIKE" if negated else "LIKE", (self.value(),))
        if self.keyword("BETWEEN") and not negated:
            low = self.value()
            if not self.keyword("AND"):
                raise refused("EXPECTED_AND", "BETWEEN takes two values")
            return Condition(name, "BETWEEN", (low, self.value()))
        operator = self.take("symbol", "BAD_OPERATOR")
        if negated or operator not in ("=", "!=", ">", ">=", "<", "<="):
            raise refused("BAD_OPERATOR", f"{operator!r} is no operator")
        return Condition(name, operator, (self.value(),))

    def value(self) -> Any:
        if self.ended:
            raise refused("UNEXPECTED_END_OF_QUERY", "a value is expected at the end")
        kind, text = self.tokens[self.at]
        self.at += 1
        match kind, text.upper():
            case "string", _:
                if re.search(r"\\[^'\"\\]", re.sub(r"\\\\", "", text)):
                    raise refused("BAD_ESCAPE_SEQUENCE", "a backslash escapes a quote or a backslash")
                if "\n" in text:
                    raise refused("PROHIBITED_NEWLINE_IN_STRING", "a string stands on one line")
                return re.sub(r"\\(.)", r"\1", text[1:-1])
            case "number", _ if "." not in text:
                return int(text)
            case "word", "TRUE" | "FALSE":
                return text.upper() == "TRUE"
        raise refused("BAD_VALUE", f"{text!r} is no value (texts and enums stand in quotes)")
