"""Base classes of the models that callers write, and the parser that reads them.

All JSON from callers passes :func:`parse_model` or ``model_validate`` of a model. Names are in camelCase. Unknown
properties, coercion, ``null`` and U+0000 are refused. Numbers stay exact. All issues are reported at once.
:mod:`adsunify.models.error_messages` writes the messages.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from itertools import islice
from types import NoneType, SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, TypeVar
from unicodedata import category

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    Strict,
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
"""The maximum number of JSON values of one input. A full edit body, with 3,500 items, has half as many."""
SMALL_INPUT_VALUES = 500
"""Lists of an input with more values are cut to their limits before the input is validated."""
MAX_DESCRIBED_ITEMS = 20
_PLAIN_INTEGER_LIMIT = 1 << 64
_PLAIN_TYPES = frozenset((str, bool, NoneType))
_ROUNDED_MARKER: dict[str, Any] = {"": "a number of a model was rounded"}
"""Entry in the list of rounded objects: a number of a model was rounded, so the whole input must be read again."""

ItemT = TypeVar("ItemT")


# -- models -------------------------------------------------------------------------------------------------------


class _NotNull:
    """Marks a member that may be left out (its default is None) but may not be ``null``."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        nullable: Any = handler(source)
        return {**nullable["schema"], "serialization": core_schema.simple_ser_schema("any")}


Omittable = Annotated[ItemT | None, _NotNull()]
"""A member that may be left out."""

if TYPE_CHECKING:
    Items = Sequence
else:

    class Items:
        """A list or a tuple of items in a constructor; a tuple in the model."""

        def __class_getitem__(cls, item: Any) -> Any:
            return Annotated[tuple[item, ...], Strict(False)]


def _remove_null_defaults(schema: dict[str, Any]) -> None:
    for member in schema.get("properties", {}).values():
        default = member.get("default", ...)
        if default is None:
            del member["default"]
        elif isinstance(default, dict):
            member["default"] = {name: value for name, value in default.items() if value is not None}


class ApiModel(BaseModel):
    """The base of all models: camelCase in JSON, snake_case in Python, no extra members, strict, frozen.

    A constructor takes the members by their Python names, and raises InvalidInput.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        strict=True,
        extra="forbid",
        frozen=True,
        alias_generator=to_camel,
        validate_by_alias=True,
        validate_by_name=True,
        serialize_by_alias=True,
        hide_input_in_errors=True,
        json_schema_extra=_remove_null_defaults,
    )

    if not TYPE_CHECKING:  # type checkers make the constructor from the members

        def __init__(self, /, **members: Any) -> None:
            try:
                self.__pydantic_validator__.validate_python(members, self_instance=self)
            except ValidationError as error:
                raise _make_invalid_input(type(self), None, [*list_violations(error, type(self))], 0, "") from None

        __init__.__pydantic_base_init__ = True  # pydantic need not call it for the models inside of a model

    @classmethod
    def model_validate_json(cls, json_data: str | bytes | bytearray, **settings: Any) -> Self:
        """Validate JSON as pydantic does, with exact numbers in free-form objects. It accepts no settings."""
        if settings:
            raise TypeError(f"{cls.__name__} takes no settings: {', '.join(settings)}")
        return _parse_json(cls, json_data)

    @classmethod
    def model_validate(cls, obj: Any, **settings: Any) -> Self:
        """Validate Python values as pydantic does, and refuse U+0000. It accepts no settings."""
        if settings:
            raise TypeError(f"{cls.__name__} takes no settings: {', '.join(settings)}")
        value: Self = cls.__pydantic_validator__.validate_python(obj, by_alias=True, by_name=False)
        if "\\x00" in repr(obj):  # the backslash may be part of the text
            _raise_if_nul(value, obj)
        return value

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form, with defaults and without omitted members; serialize it with ``exact_json.dumps``."""
        return self.model_dump(exclude_none=True)


class CrossFieldModel(ApiModel):
    """A model with rules that involve several of its members."""

    @classmethod
    @abstractmethod
    def check_rules(cls, members: Any) -> list[Violation]:
        """Return the rules that ``members`` breaks.

        ``members`` is an instance of the model, or an object that holds the unchecked values under the same names (None
        for those that are missing or of the wrong type).
        """

    @model_validator(mode="after")
    def _enforce_rules(self) -> Self:
        if problems := self.check_rules(self):
            raise validation_error(self, problems)
        return self


def validation_error(refused: object, problems: Iterable[Violation]) -> ValidationError:
    """Make the pydantic error of our own violations. If there are too many, the last one gives their number."""
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
    """Yield a violation for every value that occurs earlier in its list. ``place`` is the location of the list.

    Lists over the limit are not compared; their length is reported elsewhere.
    """
    many = values if isinstance(values, list | tuple) and len(values) <= MAX_COMPARED_ITEMS else ()
    with suppress(TypeError):  # a refused list may contain unhashable values
        if len(set(many)) == len(many):
            return
    for index, value in enumerate(many):
        if value in many[:index]:
            yield Violation((*place, index), "duplicate", "is in the list already.")


# -- texts --------------------------------------------------------------------------------------------------------

_FILLERS = frozenset("\u115f\u1160\u2800\u3164\uffa0\U0001d159")
"""Letters and symbols without a visible shape: Hangul fillers, the empty Braille cell, the null note head."""


def is_visible(text: str) -> bool:
    """Whether a text has a visible character: a letter, digit, punctuation mark or symbol."""
    return any(category(character)[0] in "LNPS" and character not in _FILLERS for character in text)


def _require_visible(text: str) -> str:
    if not is_visible(text) and "\0" not in text:  # U+0000 has a separate issue
        raise PydanticCustomError("blank", "must have at least one visible character.")
    return text


VISIBLE = AfterValidator(_require_visible)
"""Refuses a text without a visible character."""


# -- numbers ------------------------------------------------------------------------------------------------------


def _parse_number(value: Any, info: ValidationInfo) -> Any:
    if isinstance(value, float) and info.mode == "json" and isinstance(info.context, list):
        info.context.append(_ROUNDED_MARKER)
    return Decimal(repr(value)) if isinstance(value, int | float) and not isinstance(value, bool) else value


def number_schema(**limits: int) -> WithJsonSchema:
    """Return the JSON schema of a :data:`Number` with limits. Pydantic omits limits where a validator runs before."""
    return WithJsonSchema({"type": "number", **limits})


Number = Annotated[Decimal, BeforeValidator(_parse_number), number_schema()]
"""A JSON number with all its digits. Strings are refused."""
EntityId = Annotated[str, StringConstraints(min_length=1, max_length=250)]
"""A native id."""


# -- free-form objects --------------------------------------------------------------------------------------------


def _copy_free_form(value: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
    """Copy a free-form object. In JSON mode pydantic has rounded fractions to floats.

    Objects with floats are appended to ``info.context``, so that the caller can restore their numbers.
    """
    if info.mode == "json" and _is_plain(value):
        return value  # pydantic has made it, and nobody else has a reference
    problems: list[Violation] = []
    copied: dict[str, Any] = _copy_json(value, (), problems)
    if problems:
        raise validation_error(value, problems)
    if info.mode == "json" and isinstance(info.context, list) and _has_float(value):
        info.context.append(copied)
    return copied


def _is_plain(value: dict[str, Any]) -> bool:
    """Whether all values are texts, small integers, true, false or null, and the nesting is not too deep."""
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
    """Copy JSON, with a Decimal for each float. Values that are not JSON are appended to ``problems``."""
    refusal = None
    if isinstance(value, str):
        refusal = _find_text_error(value)
    elif value is None or isinstance(value, bool):
        pass
    elif isinstance(value, int):
        if value.bit_length() > MAX_INTEGER_BITS:
            refusal = ("out_of_range", f"must be an integer of at most {MAX_INTEGER_BITS} bits.")
    elif isinstance(value, float | Decimal):
        value = Decimal(repr(value)) if isinstance(value, float) else value
        if not _is_bearable(value):
            refusal = ("out_of_range", "must be a finite number of at most 400 digits.")
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
    from adsunify.values.exact_json import MAX_NUMBER_CHARACTERS  # imported late, as in _load_json

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
"""A JSON object with any members, copied; numbers with a fraction are Decimal."""
NonEmptyFreeForm = Annotated[dict[str, Any], Field(min_length=1), AfterValidator(_copy_free_form)]
"""A :data:`FreeForm` with at least one member."""


# -- reading ------------------------------------------------------------------------------------------------------


ModelT = TypeVar("ModelT", bound=ApiModel)
_BACKSLASH = ord("\\")


def parse_model(model: type[ModelT], data: bytes | str | Mapping[str, Any], prefix: str = "") -> ModelT:
    """Parse JSON text, or an object that was parsed already, into ``model``.

    Raises:
        InvalidInput: the input is refused; it holds all issues. Paths start with ``prefix`` (such as "campaign").
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
    """Return an upper bound of the number of values in JSON text. Commas inside strings are counted as well."""
    marks: tuple[Any, ...] = (",", "[", "{") if isinstance(data, str) else (b",", b"[", b"{")
    return sum(data.count(mark) for mark in marks) + 1


def _parse_large(model: type[ModelT], data: bytes | str, values: int, prefix: str) -> ModelT:
    """Parse as :func:`parse_model` does, in a time that does not grow with the number of errors."""
    if values > MAX_VALUES:
        raise invalid_input(prefix, "too_many", f"must hold at most {MAX_VALUES:,} values in all.")
    from adsunify.values.exact_json import RepeatedMembers  # imported late, as in _load_json

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
    """Return the errors of the first items of every list, if they have any. Describing all errors takes too long."""
    cut_lists(raw, MAX_DESCRIBED_ITEMS)
    try:
        model.model_validate(raw)
    except ValidationError as fewer:
        return fewer
    return error


def _make_invalid_input(
    model: type[BaseModel], raw: Any, problems: list[Violation], omitted: int, prefix: str
) -> InvalidInput:
    """Make the error of an input from ``problems`` and the further violations in ``raw``.

    ``omitted`` is the number of problems that the caller left out. ``raw`` is None if the input could not be parsed.
    """
    violations = dict.fromkeys(problems)
    if raw is not None and len(violations) < MAX_ISSUES:
        wrong = {problem.location for problem in violations if problem.code == "wrong_type"}
        violations.update(dict.fromkeys(_find_further_violations(model, raw, wrong)))
    issues = [to_issue(problem, prefix) for problem in islice(violations, MAX_ISSUES)]
    return InvalidInput(issues, omitted=omitted + len(violations) - len(issues))


def _parse_json(model: type[ModelT], data: str | bytes | bytearray) -> ModelT:
    rounded: list[dict[str, Any]] = []
    value: ModelT = model.__pydantic_validator__.validate_json(data, context=rounded, by_alias=True, by_name=False)
    exact = _load_exact(value, data)
    if _ROUNDED_MARKER in rounded:
        return model.model_validate(exact)
    if ("\\" if isinstance(data, str) else _BACKSLASH) in data:  # searching one byte is faster
        _raise_if_nul(value, exact)
    if rounded:
        _restore_exact_numbers(value, exact, {id(part) for part in rounded})
    return value


def _load_exact(value: ApiModel, data: str | bytes | bytearray) -> Any:
    """Parse the input with exact numbers. Repeated members are refused; pydantic would accept the last one."""
    from adsunify.values.exact_json import RepeatedMembers  # imported late, as in _load_json

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
    """Replace rounded numbers in the free-form objects below ``value`` by the exact ones."""
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
    """Yield a violation for every text that contains U+0000, which databases and networks refuse."""
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


# -- further violations of a refused input ------------------------------------------------------------------------


def _load_raw(data: bytes | str | Mapping[str, Any]) -> tuple[Any, list[Violation]]:
    """Return the parsed input (None if it cannot be parsed) and a violation for each repeated member."""
    from adsunify.values.exact_json import RepeatedMembers  # imported late, as in _load_json

    try:
        return (_load_json(data) if isinstance(data, (bytes, str)) else dict(data)), []
    except RepeatedMembers as repeated:
        return None, _make_repeated_violations(repeated.locations)
    except ValueError:
        return None, []


def _load_json(text: bytes | str) -> Any:
    from adsunify.values.exact_json import loads  # imported late: it is slow to import, and most briefs do not need it

    return loads(text)


def _find_further_violations(
    model: type[BaseModel], raw: Any, wrong: set[Location], at: Location = ()
) -> Iterator[Violation]:
    """Yield the broken cross-field rules of a refused input. Pydantic does not check them if a member is refused."""
    if not at:
        yield from _find_nul(raw)
    if issubclass(model, CrossFieldModel):
        for problem in model.check_rules(_collect_unchecked_members(model, raw, wrong, at)):
            yield problem._replace(location=at + problem.location)
    for name, part in _list_submodels(model).items():
        yield from _find_further_violations(part, _get_member(raw, name), wrong, (*at, name))


def _collect_unchecked_members(model: type[BaseModel], raw: Any, wrong: set[Location], at: Location) -> SimpleNamespace:
    """Return the unchecked members under their Python names; missing ones and those of a wrong type are None.

    Where a model takes members that it does not name, ``model_extra`` holds them.
    """
    parts = _list_submodels(model)
    members: dict[str, Any] = {}
    for name, member in model.model_fields.items():
        alias = member.alias or name
        there = (*at, alias)
        value = None if there in wrong else _get_member(raw, alias)
        members[name] = _collect_unchecked_members(parts[alias], value, wrong, there) if alias in parts else value
    if model.model_config.get("extra") == "allow" and isinstance(raw, Mapping):
        aliases = {member.alias or name for name, member in model.model_fields.items()}
        unnamed = {name: value for name, value in raw.items() if name not in aliases and (*at, name) not in wrong}
        members["model_extra"] = unnamed
    return SimpleNamespace(**members)


def _list_submodels(model: type[BaseModel]) -> dict[str, type[BaseModel]]:
    """Return the members that are models themselves, by their JSON names."""
    return {
        member.alias or name: member.annotation
        for name, member in model.model_fields.items()
        if isinstance(member.annotation, type) and issubclass(member.annotation, BaseModel)
    }


def _get_member(raw: Any, alias: str) -> Any:
    return raw.get(alias) if isinstance(raw, Mapping) else None
