"""The Google Ads Query Language, as far as the documentation uses it: parses a text into a Query."""

import re
from collections.abc import Callable
from typing import Any

from attrs import define, field, frozen

from adsunify.sandbox.parsing import InvalidRequest

_TOKEN_PATTERN = re.compile(
    r"""\s+ | (?P<string>'(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*") | (?P<number>-?[0-9]+(?:\.[0-9]+)?(?![\w.]))
    | (?P<word>[A-Za-z_][\w.]*) | (?P<symbol>!=|>=|<=|[=<>(),])""",
    re.VERBOSE | re.DOTALL,
)
_FIELD_PATTERN = r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+"


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


def parse_query(text: str) -> Query:
    """Parse a query. Raises InvalidRequest `queryError...` at `/query`."""
    return _Parser(_tokenize(text)).parse_query()


def compile_like(pattern: str) -> Callable[[str], bool]:
    """A test whether a text is LIKE the pattern: `%` any text, `_` one character, `[x]` that character itself.

    Upper and lower case are the same (the documentation does not say).
    """
    regex, place = "", 0
    while place < len(pattern):
        inside = re.match(r"\[(.)\]", pattern[place:], re.DOTALL)
        match pattern[place]:
            case "[" if inside:
                regex += re.escape(inside[1])
                place += 2
            case "[" | "]":
                raise query_error("INVALID_VALUE_WITH_LIKE_OPERATOR", f"unpaired bracket in {pattern!r}")
            case "%":
                regex += ".*"
            case "_":
                regex += "."
            case other:
                regex += re.escape(other)
        place += 1
    expression = re.compile(regex, re.IGNORECASE | re.DOTALL)
    return lambda text: expression.fullmatch(text) is not None


def query_error(code: str, message: str) -> InvalidRequest:
    """A `queryError`."""
    return InvalidRequest(f"queryError.{code}", "/query", f"Error in query: {message}.")


def _tokenize(text: str) -> list[tuple[str, str]]:
    """(kind, text) of every token."""
    tokens, place = [], 0
    while place < len(text):
        match = _TOKEN_PATTERN.match(text, place)
        if match is None:
            if text[place] in "'\"":
                raise query_error("STRING_NOT_TERMINATED", f"string at {place} does not end")
            raise query_error("BAD_SYMBOL", f"unexpected {text[place]!r} at {place}")
        if match.lastgroup is not None:
            tokens.append((match.lastgroup, match[0]))
        place = match.end()
    return tokens


@define
class _Parser:
    tokens: list[tuple[str, str]]
    position: int = field(default=0)

    def parse_query(self) -> Query:
        if not self.take_keyword("SELECT"):
            raise query_error("EXPECTED_SELECT", "a query begins with SELECT")
        select = self.parse_comma_list(self.parse_name)
        if not self.take_keyword("FROM"):
            raise query_error("EXPECTED_FROM" if self.is_at_end else "UNEXPECTED_INPUT", "FROM is expected")
        source = self.take("word")
        conditions, order, limit = [], [], None
        if self.take_keyword("WHERE"):
            conditions.append(self.parse_condition())
            while self.take_keyword("AND"):
                conditions.append(self.parse_condition())
        if self.take_keyword("ORDER"):
            if not self.take_keyword("BY"):
                raise query_error("EXPECTED_BY", "BY is expected after ORDER")
            order = self.parse_comma_list(self.parse_ordering)
        if self.take_keyword("LIMIT"):
            limit = self.parse_limit()
        if not self.is_at_end:
            raise query_error("UNEXPECTED_INPUT", f"unexpected {self.tokens[self.position][1]!r}")
        return Query(tuple(select), source, tuple(conditions), tuple(order), limit)

    @property
    def is_at_end(self) -> bool:
        return self.position == len(self.tokens)

    def take_keyword(self, word: str) -> bool:
        """Consume the next token if it is this keyword, and return whether it is."""
        fits = (
            not self.is_at_end
            and self.tokens[self.position][0] == "word"
            and self.tokens[self.position][1].upper() == word
        )
        self.position += fits
        return fits

    def take_symbol(self, symbol: str) -> bool:
        fits = not self.is_at_end and self.tokens[self.position] == ("symbol", symbol)
        self.position += fits
        return fits

    def take(self, kind: str, code: str = "UNEXPECTED_INPUT") -> str:
        if self.is_at_end:
            raise query_error("UNEXPECTED_END_OF_QUERY", f"a {kind} is expected at the end")
        token_kind, text = self.tokens[self.position]
        if token_kind != kind:
            raise query_error(code, f"a {kind} is expected instead of {text!r}")
        self.position += 1
        return text

    def parse_comma_list(self, item: Callable[[], Any]) -> list[Any]:
        items = [item()]
        while self.take_symbol(","):
            items.append(item())
        return items

    def parse_name(self) -> str:
        name = self.take("word", "BAD_FIELD_NAME")
        if not re.fullmatch(_FIELD_PATTERN, name):
            raise query_error("BAD_FIELD_NAME", f"{name!r} is no field name")
        return name

    def parse_ordering(self) -> tuple[str, bool]:
        name = self.parse_name()
        descending = self.take_keyword("DESC")
        if not descending:
            self.take_keyword("ASC")
        return name, descending

    def parse_limit(self) -> int:
        text = self.take("number", "BAD_LIMIT_VALUE")
        if not text.isdigit():
            raise query_error("BAD_LIMIT_VALUE", f"LIMIT takes a whole number, not {text}")
        if not int(text):
            raise query_error("LIMIT_VALUE_TOO_LOW", "LIMIT must be 1 or more")
        return int(text)

    def parse_condition(self) -> Condition:
        name = self.parse_name()
        negated = self.take_keyword("NOT")
        if self.take_keyword("IN"):
            if not self.take_symbol("("):
                raise query_error("EXPECTED_LIST", "IN takes a list in brackets")
            if self.take_symbol(")"):
                raise query_error("PROHIBITED_EMPTY_LIST_IN_CONDITION", "IN takes one value or more")
            values = self.parse_comma_list(self.parse_value)
            if not self.take_symbol(")"):
                raise query_error("UNEXPECTED_INPUT", "the list is not closed")
            return Condition(name, "NOT IN" if negated else "IN", tuple(values))
        if self.take_keyword("LIKE"):
            return Condition(name, "NOT LIKE" if negated else "LIKE", (self.parse_value(),))
        if self.take_keyword("BETWEEN") and not negated:
            low = self.parse_value()
            if not self.take_keyword("AND"):
                raise query_error("EXPECTED_AND", "BETWEEN takes two values")
            return Condition(name, "BETWEEN", (low, self.parse_value()))
        operator = self.take("symbol", "BAD_OPERATOR")
        if negated or operator not in ("=", "!=", ">", ">=", "<", "<="):
            raise query_error("BAD_OPERATOR", f"{operator!r} is no operator")
        return Condition(name, operator, (self.parse_value(),))

    def parse_value(self) -> Any:
        if self.is_at_end:
            raise query_error("UNEXPECTED_END_OF_QUERY", "a value is expected at the end")
        kind, text = self.tokens[self.position]
        self.position += 1
        match kind, text.upper():
            case "string", _:
                if re.search(r"\\[^'\"\\]", re.sub(r"\\\\", "", text)):
                    raise query_error("BAD_ESCAPE_SEQUENCE", "a backslash escapes a quote or a backslash")
                if "\n" in text:
                    raise query_error("PROHIBITED_NEWLINE_IN_STRING", "a string stands on one line")
                return re.sub(r"\\(.)", r"\1", text[1:-1])
            case "number", _ if "." not in text:
                return int(text)
            case "word", "TRUE" | "FALSE":
                return text.upper() == "TRUE"
        raise query_error("BAD_VALUE", f"{text!r} is no value (texts and enums stand in quotes)")
