"""The edge: how models of the wire are read. How a refusal is said stands in :mod:`.refusals`.

Everything that comes in as JSON passes :func:`parse_model` (or ``model_validate`` of the model itself): names in
camelCase, unknown properties refused, no coercion, ``null`` is not "left out", no NUL in any text, exact numbers, and
all issues at once.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from decimal import Decimal
from itertools import islice
from types import NoneType, SimpleNamespace
from typing import Annotated, Any, Self, TypeVar
from unicodedata import category

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import InitErrorDetails, PydanticCustomError, core_schema

from adsunify.errors import MAX_ISSUES, MORE_ISSUES_CODE, InvalidInput, invalid_input
from adsunify.models.error_messages import (
    NUL_MESSAGE,
    Location,
    Violation,
    cut_lists,
    cut_to_schema,
    list_violations,
    to_issue,
)

MAX_DEPTH = 64
MAX_INTEGER_BITS = 1024
MAX_COMPARED_ITEMS = 500
MAX_VALUES = 50_000
"""How many values one input may hold as JSON: a full edit body, with 3,500 items, has half as many."""
SMALL_INPUT_VALUES = 500
"""An input with more values is cut to the limits of its lists before a member of them is looked at."""
MAX_DESCRIBED_ITEMS = 20
_PLAIN_INTEGER_LIMIT = 1 << 64
_PLAIN_TYPES = frozenset((str, bool, NoneType))
_ROUNDED_MARKER: dict[str, Any] = {"": "a number of a model was rounded"}
"""On the list of what JSON mode rounded: not one free-form object, the whole has to be read again."""

ItemT = TypeVar("ItemT")


# -- models -------------------------------------------------------------------------------------------------------


class _NotNull:
    """Lets a member be left out (its default is None) and refuses ``null``: only writing out knows None."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        nullable: Any = handler(source)
        return {**nullable["schema"], "serialization": core_schema.simple_ser_schema("any")}


Omittable = Annotated[ItemT | None, _NotNull()]
"""A member that may be left out."""


def _remove_null_defaults(schema: dict[str, Any]) -> None:
    for member in schema.get("properties", {}).values():
        default = member.get("default", ...)
        if default is None:
            del member["default"]
        elif isinstance(default, dict):
            member["default"] = {name: value for name, value in default.items() if value is not None}


class ApiModel(BaseModel):
    """An object of the wire: camelCase outside, snake_case inside, closed, strict and frozen."""

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        frozen=True,
        alias_generator=to_camel,
        serialize_by_alias=True,
        hide_input_in_errors=True,
        json_schema_extra=_remove_null_defaults,
    )

    @classmethod
    def model_validate_json(cls, json_data: str | bytes | bytearray, **settings: Any) -> Self:
        """As pydantic's, with exact numbers in free-form objects; it takes no settings, the model holds them."""
        if settings:
            raise TypeError(f"{cls.__name__} takes no settings: {', '.join(settings)}")
        return _parse_json(cls, json_data)

    @classmethod
    def model_validate(cls, obj: Any, **settings: Any) -> Self:
        """As pydantic's, with U+0000 refused; it takes no settings, the model holds them."""
        if settings:
            raise TypeError(f"{cls.__name__} takes no settings: {', '.join(settings)}")
        value: Self = cls.__pydantic_validator__.validate_python(obj)
        if "\\x00" in repr(obj):  # perhaps
            _raise_if_nul(value, obj)
        return value

    def to_json(self) -> dict[str, Any]:
        """The wire form for :func:`~adsunify.values.exact_json.dumps`, with defaults and without omitted members."""
        return self.model_dump(exclude_none=True)


class CrossFieldModel(ApiModel):
    """A wire model with rules that span its members."""

    @classmethod
    @abstractmethod
    def check_rules(cls, members: Any) -> list[Violation]:
        """The rules that ``members`` break: an instance, or unchecked values under the same names (or None)."""

    @model_validator(mode="after")
    def _enforce_rules(self) -> Self:
        if problems := self.check_rules(self):
            raise validation_error(self, problems)
        return self


def validation_error(refused: object, problems: Iterable[Violation]) -> ValidationError:
    """What a validator raises for rules of its own; of too many problems it says how many there are."""
    problems = list(problems)
    if len(problems) > MAX_ISSUES:
        omitted = len(problems) - MAX_ISSUES + 1
        problems[MAX_ISSUES - 1 :] = [Violation((), MORE_ISSUES_CODE, f"{omitted} more issues are not shown.")]
    return ValidationError.from_exception_data(
        type(refused).__name__,
        [
            InitErrorDetails(type=PydanticCustomError(code, message), loc=location, input=None)
            for location, code, message in problems
        ],
        hide_input=True,
    )


def find_duplicates(place: Location, values: Any) -> Iterator[Violation]:
    """Every value of a list, of the member at these names, that stands in it before; one too long is told as such."""
    many = values if isinstance(values, list | tuple) and len(values) <= MAX_COMPARED_ITEMS else ()
    with suppress(TypeError):  # what was refused may hold anything
        if len(set(many)) == len(many):
            return
    for index, value in enumerate(many):
        if value in many[:index]:
            yield Violation((*place, index), "duplicate", "stands in the list already.")


# -- texts --------------------------------------------------------------------------------------------------------

_FILLERS = frozenset("\u115f\u1160\u2800\u3164\uffa0\U0001d159")
"""Letters and symbols that show nothing: fillers of Hangul, an empty cell of Braille, a note without a head."""


def is_visible(text: str) -> bool:
    """Whether a text shows anything: a letter, digit, sign or symbol; blanks, controls and lone marks show nothing."""
    return any(category(character)[0] in "LNPS" and character not in _FILLERS for character in text)


def _require_visible(text: str) -> str:
    if not is_visible(text) and "\0" not in text:  # U+0000 is refused for itself
        raise PydanticCustomError("blank", "must have at least one visible character.")
    return text


VISIBLE = AfterValidator(_require_visible)
"""Refuses a text of blanks, control characters or characters without width."""


# -- numbers ------------------------------------------------------------------------------------------------------


def _parse_number(value: Any, info: ValidationInfo) -> Any:
    if isinstance(value, float) and info.mode == "json" and isinstance(info.context, list):
        info.context.append(_ROUNDED_MARKER)
    return Decimal(repr(value)) if isinstance(value, int | float) and not isinstance(value, bool) else value


def number_schema(**limits: int) -> WithJsonSchema:
    """The JSON schema of a :data:`Number` with limits, which pydantic does not put beside what reads it."""
    return WithJsonSchema({"type": "number", **limits})


Number = Annotated[Decimal, BeforeValidator(_parse_number), number_schema()]
"""A JSON number with the digits it was written with; text is no number."""
EntityId = Annotated[str, StringConstraints(min_length=1, max_length=250)]
"""An id as a network gives it."""


# -- free-form objects --------------------------------------------------------------------------------------------


def _copy_free_form(value: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
    """A copy. JSON mode has rounded fractions to floats: such objects are put on the list that is the context."""
    if info.mode == "json" and _is_plain(value):
        return value  # nobody else has it
    problems: list[Violation] = []
    copied: dict[str, Any] = _copy_json(value, (), problems)
    if problems:
        raise validation_error(value, problems)
    if info.mode == "json" and isinstance(info.context, list) and _has_float(value):
        info.context.append(copied)
    return copied


def _is_plain(value: dict[str, Any]) -> bool:
    """Whether it is made of texts, small integers, true, false and null alone, and is not nested deeply."""
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        deeper: list[Any] = []
        for part in level:
            kind = type(part)
            if kind is dict:
                deeper += part.values()
            elif kind is list:
                deeper += part
            elif kind not in _PLAIN_TYPES and not (kind is int and -_PLAIN_INTEGER_LIMIT < part < _PLAIN_INTEGER_LIMIT):
                return False
        if not deeper:
            return True
        level = deeper
    return False


def _has_float(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_float, value.values()))
    return any(map(_has_float, value)) if isinstance(value, list) else isinstance(value, float)


def _copy_json(value: Any, at: Location, problems: list[Violation]) -> Any:
    """A copy of JSON, with a Decimal of the same digits for each float; whatever is not JSON becomes a problem."""
    refusal = None
    if isinstance(value, str):
        refusal = _find_text_error(value)
    elif value is None or isinstance(value, bool):
        pass
    elif isinstance(value, int):
        if value.bit_length() > MAX_INTEGER_BITS:
            refusal = ("out_of_range", "must be a number of bearable length.")
    elif isinstance(value, float | Decimal):
        value = Decimal(repr(value)) if isinstance(value, float) else value
        if not _is_bearable(value):
            refusal = ("out_of_range", "must be a finite number of bearable length.")
    elif len(at) > MAX_DEPTH:
        refusal = ("too_deep", f"must be nested at most {MAX_DEPTH} deep.")
    elif isinstance(value, list | tuple):
        return [_copy_json(item, (*at, position), problems) for position, item in enumerate(value)]
    elif isinstance(value, dict):
        for name in value:
            if not isinstance(name, str) or _find_text_error(name):
                problems.append(Violation(at, "malformed", "must have member names that are valid Unicode text."))
                return None
        return {name: _copy_json(item, (*at, name), problems) for name, item in value.items()}
    else:
        refusal = ("wrong_type", "must be JSON: an object, list, string, number, true, false or null.")
    if refusal:
        problems.append(Violation(at, *refusal))
    return value


def _is_bearable(number: Decimal) -> bool:
    from adsunify.values.exact_json import MAX_NUMBER_CHARACTERS  # as in _loaded

    return number.is_finite() and abs(number.adjusted()) <= MAX_NUMBER_CHARACTERS


def _find_text_error(text: str) -> tuple[str, str] | None:
    if "\0" in text:
        return NUL_MESSAGE
    try:
        text.encode()
    except UnicodeEncodeError:
        return ("malformed", "must be valid Unicode text.")
    return None


FreeForm = Annotated[dict[str, Any], AfterValidator(_copy_free_form)]
"""An object of any JSON, copied; numbers with a fraction are Decimal."""
NonEmptyFreeForm = Annotated[dict[str, Any], Field(min_length=1), AfterValidator(_copy_free_form)]
"""A :data:`FreeForm` with at least one member."""


# -- reading ------------------------------------------------------------------------------------------------------


ModelT = TypeVar("ModelT", bound=ApiModel)
_BACKSLASH = ord("\\")


def parse_model(model: type[ModelT], data: bytes | str | Mapping[str, Any], prefix: str = "") -> ModelT:
    """Read JSON, or the object it stands for, into ``model``.

    Raises InvalidInput with every issue at once; paths start with ``prefix`` (such as "campaign").
    """
    if isinstance(data, (bytes, str)) and (values := count_values(data)) > SMALL_INPUT_VALUES:
        return _parse_large(model, data, values, prefix)
    try:
        if isinstance(data, (bytes, str)):
            return _parse_json(model, data)
        return model.model_validate(dict(data))
    except ValidationError as error:
        raw, repeated = _load_raw(data)
        raise _make_invalid_input(model, raw, [*list_violations(error, model), *repeated], 0, prefix) from None


def count_values(data: bytes | str) -> int:
    """At least as many values as JSON holds; a comma in a text counts, too."""
    marks: tuple[Any, ...] = (",", "[", "{") if isinstance(data, str) else (b",", b"[", b"{")
    return sum(data.count(mark) for mark in marks) + 1


def _parse_large(model: type[ModelT], data: bytes | str, values: int, prefix: str) -> ModelT:
    """As :func:`parse_model`, with an effort that does not grow with what is wrong."""
    if values > MAX_VALUES:
        raise invalid_input(prefix, "too_many", f"must hold at most {MAX_VALUES:,} values in all.")
    from adsunify.values.exact_json import RepeatedMembers  # as in _loaded

    try:
        raw = _load_json(data)
    except RepeatedMembers as repeated:
        raise _make_invalid_input(model, None, _make_repeated_violations(repeated.locations), 0, prefix) from None
    except ValueError as reason:
        raise invalid_input(prefix, "malformed_json", f"must be valid JSON: {reason}.") from None
    problems: list[Violation] = []
    omitted = cut_to_schema(model, raw, problems)
    try:
        value = model.model_validate(raw)
    except ValidationError as error:
        count = error.error_count()
        if count > MAX_ISSUES:
            error = _reduce_errors(model, raw, error)
        problems += list_violations(error, model)
        omitted += count - error.error_count()
    else:
        if not problems:
            return value
    raise _make_invalid_input(model, raw, problems, omitted, prefix)


def _reduce_errors(model: type[BaseModel], raw: Any, error: ValidationError) -> ValidationError:
    """The errors of the first items of every list, if there are any: to describe an error takes time."""
    cut_lists(raw, MAX_DESCRIBED_ITEMS)
    try:
        model.model_validate(raw)
    except ValidationError as fewer:
        return fewer
    return error


def _make_invalid_input(
    model: type[BaseModel], raw: Any, problems: list[Violation], omitted: int, prefix: str
) -> InvalidInput:
    """The error of an input: what is wrong with it, and what else is. ``omitted``: so many problems are left out.

    ``raw`` is None where the input could not be read.
    """
    violations = dict.fromkeys(problems)
    if raw is not None and len(violations) < MAX_ISSUES:
        wrong = {problem.location for problem in violations if problem.code == "wrong_type"}
        violations.update(dict.fromkeys(_find_further_violations(model, raw, wrong)))
    issues = [to_issue(problem, prefix) for problem in islice(violations, MAX_ISSUES)]
    return InvalidInput(issues, omitted=omitted + len(violations) - len(issues))


def _parse_json(model: type[ModelT], data: str | bytes | bytearray) -> ModelT:
    rounded: list[dict[str, Any]] = []
    value: ModelT = model.__pydantic_validator__.validate_json(data, context=rounded)
    exact = _load_exact(value, data)
    if _ROUNDED_MARKER in rounded:
        return model.model_validate(exact)
    if ("\\" if isinstance(data, str) else _BACKSLASH) in data:  # a byte is found faster
        _raise_if_nul(value, exact)
    if rounded:
        _restore_exact_numbers(value, exact, {id(part) for part in rounded})
    return value


def _load_exact(value: ApiModel, data: str | bytes | bytearray) -> Any:
    """The input with exact numbers. A member that an object names twice is refused; pydantic takes the last of them."""
    from adsunify.values.exact_json import RepeatedMembers  # as in _loaded

    try:
        return _load_json(data if isinstance(data, str) else bytes(data))
    except RepeatedMembers as repeated:
        raise validation_error(value, _make_repeated_violations(repeated.locations)) from None
    except ValueError as reason:
        raise validation_error(value, [Violation((), "malformed_json", f"must be valid JSON: {reason}.")]) from None


def _make_repeated_violations(locations: Iterable[Location]) -> list[Violation]:
    return [Violation(location, "repeated", "must be given once.") for location in locations]


def _raise_if_nul(value: ApiModel, raw: Any) -> None:
    if problems := list(_find_nul(raw)):
        raise validation_error(value, problems)


def _restore_exact_numbers(value: Any, exact: Any, rounded: set[int]) -> None:
    """Put the exact numbers into the free-form objects below ``value``."""
    if isinstance(value, dict):
        if id(value) in rounded:
            value.update(exact)
    elif isinstance(value, tuple | list):
        for part, its_exact in zip(value, exact, strict=True):
            _restore_exact_numbers(part, its_exact, rounded)
    elif members := getattr(type(value), "__pydantic_fields__", None):  # a model; isinstance would be slow
        for name, item in value.__dict__.items():
            if (alias := members[name].alias or name) in exact:
                _restore_exact_numbers(item, exact[alias], rounded)


def _find_nul(value: Any, at: Location = ()) -> Iterator[Violation]:
    """Every text below ``value`` that contains U+0000, which databases and networks do not take."""
    if isinstance(value, str):
        if "\0" in value:
            yield Violation(at, *NUL_MESSAGE)
    elif len(at) > MAX_DEPTH:
        return
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _find_nul(name, at)
            yield from _find_nul(item, (*at, name))
    elif isinstance(value, list | tuple):
        for position, item in enumerate(value):
            yield from _find_nul(item, (*at, position))


# -- what else is wrong with what was refused ---------------------------------------------------------------------


def _load_raw(data: bytes | str | Mapping[str, Any]) -> tuple[Any, list[Violation]]:
    """The input as it came, None where it cannot be read; and the members that it names twice."""
    from adsunify.values.exact_json import RepeatedMembers  # as in _loaded

    try:
        return (_load_json(data) if isinstance(data, (bytes, str)) else dict(data)), []
    except RepeatedMembers as repeated:
        return None, _make_repeated_violations(repeated.locations)
    except ValueError:
        return None, []


def _load_json(text: bytes | str) -> Any:
    from adsunify.values.exact_json import (
        loads,  # what comes with it is not needed to read most briefs, and takes longer to import
    )

    return loads(text)


def _find_further_violations(
    model: type[BaseModel], raw: Any, wrong: set[Location], at: Location = ()
) -> Iterator[Violation]:
    """What else is wrong with a refused input: pydantic stops at its members, the rules that span them go on."""
    if not at:
        yield from _find_nul(raw)
    if issubclass(model, CrossFieldModel):
        for problem in model.check_rules(_collect_unchecked_members(model, raw, wrong, at)):
            yield problem._replace(location=at + problem.location)
    for name, part in _list_submodels(model).items():
        yield from _find_further_violations(part, _get_member(raw, name), wrong, (*at, name))


def _collect_unchecked_members(model: type[BaseModel], raw: Any, wrong: set[Location], at: Location) -> SimpleNamespace:
    """The members as they came, under their names inside; what was left out or is of the wrong type is None."""
    parts = _list_submodels(model)
    members: dict[str, Any] = {}
    for name, member in model.model_fields.items():
        alias = member.alias or name
        there = (*at, alias)
        value = None if there in wrong else _get_member(raw, alias)
        members[name] = _collect_unchecked_members(parts[alias], value, wrong, there) if alias in parts else value
    return SimpleNamespace(**members)


def _list_submodels(model: type[BaseModel]) -> dict[str, type[BaseModel]]:
    """The members that are models themselves, by their names outside."""
    return {
        member.alias or name: member.annotation
        for name, member in model.model_fields.items()
        if isinstance(member.annotation, type) and issubclass(member.annotation, BaseModel)
    }


def _get_member(raw: Any, alias: str) -> Any:
    return raw.get(alias) if isinstance(raw, Mapping) else None
