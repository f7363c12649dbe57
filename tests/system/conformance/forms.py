"""What a member of a request may be, in the words of the contract: the last good and the first bad values of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from attrs import field, frozen


@frozen
class Form:
    """``good``: values that are accepted. ``bad``: values that are not, each with the rest of the issue's path."""

    good: tuple[Any, ...]
    bad: tuple[tuple[Any, str], ...]


def text(least: int | None = None, most: int | None = None, sample: str = "x") -> Form:
    """A string with a length; ``sample``: a character of it."""
    good = [sample * (least or 1), *([] if most is None else [sample * most])]
    bad: list[Any] = [] if least is None else [sample * (least - 1)]
    return Form(
        tuple(good), (*((value, "") for value in [*bad, *([] if most is None else [sample * (most + 1)])]), *_NO_TEXT)
    )


_NO_TEXT = ((None, ""), (1, ""), (["x"], ""), ("a\0b", ""))


def choice(*words: str) -> Form:
    """One of these words."""
    return Form(words, tuple((value, "") for value in ("", "anything", words[0].swapcase(), f" {words[0]}", None, 1)))


UUID = "0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b"
uuid = Form(
    (UUID, UUID.upper()),
    tuple((value, "") for value in ("", "x", UUID[:-1], UUID + "0", UUID.replace("-", ""), f"{{{UUID}}}", None, 1)),
)
flag = Form((True, False), tuple((value, "") for value in ("true", 1, 0, None)))
must_be_true = Form((True,), tuple((value, "") for value in (False, "true", 1, None)))
instant = Form(
    ("2030-01-15T09:00:00Z", "2030-01-15T09:00:00+05:30", "2030-01-15T09:00:00.123456-08:00", "2032-02-29T00:00:00Z"),
    tuple(
        (value, "")
        for value in (
            "2030-01-15",
            "2030-01-15T09:00:00",
            "2030-02-30T09:00:00Z",
            "2031-02-29T00:00:00Z",
            "now",
            1,
            None,
        )
    ),
)
day = Form(
    ("2026-01-01",), tuple((value, "") for value in ("2026-1-1", "2026-02-30", "20260101", "2026-01-01T00:00:00Z", ""))
)
amount = Form(
    ("1", "20.5", "0.000001", "123456.123456"),
    tuple((value, "") for value in ("0", "0.00", "0.0000001", "1.", ".5", "-1", "1e3", "1,5", "", " 1", 20, None)),
)
country = Form(("US",), tuple((value, "") for value in ("us", "U", "USA", "U1", "", None, 1)))
currency = Form(("USD",), tuple((value, "") for value in ("usd", "US", "USDX", "", None, 1)))
language = Form(("en",), tuple((value, "") for value in ("EN", "e", "eng", "", None, 1)))
uri = Form(
    ("https://shop.example/chairs?a=b", "https://shop.example"),
    tuple((value, "") for value in ("chairs", "//shop.example", "https://", "https://shop example/", "", None, 1)),
)
_OBJECTS = ({"a": None}, {"a": [1, 0.5, None, {"b": True}]})
free = Form(({}, *_OBJECTS), tuple((value, "") for value in (None, [], "x", 1)))
not_empty = Form(_OBJECTS, tuple((value, "") for value in (None, [], "x", 1, {})))


def integer(least: int, most: int) -> Form:
    return Form(
        (least, most, float(least)),
        tuple((value, "") for value in (least - 1, most + 1, least + 0.5, str(least), True, None)),
    )


def number(above: int, most: int) -> Form:
    """Greater than ``above``, at most ``most``."""
    bad = (above, -1, most + 1, Decimal(f"{most}.5"), str(most), True, None)
    return Form((0.000001, most), tuple((value, "") for value in bad))


def page(least: int, most: int) -> Form:
    """A whole number in a query."""
    bad = (str(least - 1), str(most + 1), "-1", "1.5", "x", "", f" {least}", f"{most}.0")
    return Form((str(least), str(most)), tuple((value, "") for value in bad))


def many(each: Form, least: int | None, most: int, differing: str | Sequence[str] | None = None) -> Form:
    """A list; ``differing``: how its items are made where they must differ, or what they are."""

    def items(count: int) -> list[Any]:
        if differing is not None and not isinstance(differing, str):
            return list(differing[:count])
        return [each.good[0] if differing is None else differing.format(number) for number in range(count)]

    good = [items(most), items(least or 0), *([value] * max(least or 0, 1) for value in each.good)]
    bad: list[tuple[Any, str]] = [(items(most + 1), ""), (None, ""), ("x", ""), ({}, "")]
    if least:
        bad.append((items(least - 1), ""))
    bad += [([*items(max(least or 0, 1)), value], f"/{max(least or 0, 1)}{rest}") for value, rest in each.bad]
    return Form(tuple(good), tuple(bad))


@frozen
class Member:
    """A member of an object."""

    form: Form
    required: bool = False
    default: Any = None


@frozen
class Fields:
    """An object that refuses unknown properties; ``example``: one that is accepted."""

    members: Mapping[str, Member]
    example: Mapping[str, Any] = field(factory=dict)

    def form(self) -> Form:
        """This object as a form: each edge of each member, all that is required, nothing unknown."""
        example = dict(self.example)
        good = [example, *(_with(example, name, edge) for name, edge in self.edges())]
        bad: list[tuple[Any, str]] = [(_with(example, "unknown", 1), ".unknown"), (None, ""), ([], ""), ("x", "")]
        for name, member in self.members.items():
            bad += [(_with(example, name, edge), f".{name}{rest}") for edge, rest in member.form.bad]
            if member.required:
                bad.append(({key: value for key, value in example.items() if key != name}, f".{name}"))
        return Form(tuple(good), tuple(bad))

    def edges(self) -> Iterator[tuple[str, Any]]:
        for name, member in self.members.items():
            yield from ((name, edge) for edge in member.form.good)


def _with(example: Mapping[str, Any], name: str, value: Any) -> dict[str, Any]:
    return {**example, name: value}
