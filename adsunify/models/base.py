"""Base classes and types of the models that callers write.

Names are in camelCase. Unknown properties, coercion, ``null``, U+0000 and repeated members are refused. Numbers stay
exact. :mod:`adsunify.models.parsing` parses input into a model and reports all issues at once.
:mod:`adsunify.models.error_messages` writes the messages.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, TypeVar, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    Strict,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo
from pydantic_core import InitErrorDetails, PydanticCustomError, SchemaValidator, core_schema

from adsunify.errors import MAX_ISSUES, MORE_ISSUES_CODE, InvalidInput
from adsunify.models.error_messages import (
    NUL_MESSAGE,
    VISIBLE_REGEX,
    Location,
    Violation,
    list_violations,
    make_repeated_violations,
    to_issue,
)
from adsunify.values.exact_json import MAX_NUMBER_CHARACTERS, RepeatedMembers, is_unambiguous, loads

MAX_DEPTH = 64
MAX_INTEGER_BITS = 1024
MAX_COMPARED_ITEMS = 500
_PLAIN_INTEGER_LIMIT = 1 << 64
_PLAIN_TYPES = frozenset((str, bool, NoneType))

ItemT = TypeVar("ItemT")


# -- models -------------------------------------------------------------------------------------------------------


class _NotNull:
    """Marks a member that may be left out (its default is None) but may not be ``null``."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        nullable: Any = handler(source)
        return {**nullable["schema"], "serialization": core_schema.simple_ser_schema("any")}


Omittable = Annotated[ItemT | None, _NotNull()]
"""A member that may be left out."""


def is_nullable(field: FieldInfo) -> bool:
    """Whether a member of a model may be ``null``."""
    return NoneType in get_args(field.annotation) and not any(
        isinstance(constraint, _NotNull) for constraint in field.metadata
    )


if TYPE_CHECKING:
    Items = Sequence
else:

    class Items:
        """A list or a tuple of items in a constructor; a tuple in the model."""

        def __class_getitem__(cls, item: Any) -> Any:
            return Annotated[tuple[item, ...], Strict(False)]


def remove_null_defaults(schema: dict[str, Any]) -> None:
    """Remove the null defaults of members that may be left out."""
    for member in schema.get("properties", {}).values():
        default = member.get("default", ...)
        if default is None:
            del member["default"]
        elif isinstance(default, dict):
            member["default"] = {name: value for name, value in default.items() if value is not None}


PythonValues = Mapping[str, Callable[[Any], str]]
"""Member -> a function that converts a Python value to the member's text. It raises PydanticCustomError."""


class ApiModel(BaseModel):
    """The base of all models: camelCase in JSON, snake_case in Python, no extra members, strict, frozen.

    A constructor takes the members by their Python names, and raises InvalidInput. For the members in
    :attr:`python_values` it also takes a Python value, and None for a member that may be left out. JSON and mappings
    hold neither.
    """

    python_values: ClassVar[PythonValues] = {}

    model_config: ClassVar[ConfigDict] = ConfigDict(
        strict=True,
        extra="forbid",
        frozen=True,
        alias_generator=to_camel,
        validate_by_alias=True,
        validate_by_name=True,
        serialize_by_alias=True,
        hide_input_in_errors=True,
        json_schema_extra=remove_null_defaults,
    )

    if not TYPE_CHECKING:  # type checkers make the constructor from the members

        def __init__(self, /, **members: Any) -> None:
            refused = _convert_python_values(type(self), members)
            try:
                self.__pydantic_validator__.validate_python(members, self_instance=self)
            except ValidationError as error:
                problems = dict.fromkeys(
                    refused.get(violation.location, violation) for violation in list_violations(error, type(self))
                )
                raise InvalidInput([to_issue(problem, "") for problem in problems]) from None

        __init__.__pydantic_base_init__ = True  # pydantic does not call it for nested models

    @classmethod
    def model_validate_json(cls, json_data: str | bytes | bytearray, **settings: Any) -> Self:
        """Validate JSON as pydantic does, with exact numbers, and refuse U+0000 and repeated members.

        It accepts no settings.
        """
        if settings:
            raise TypeError(f"{cls.__name__} takes no settings: {', '.join(settings)}")
        rounded: list[bool] = []
        value: Self = cls.__pydantic_validator__.validate_json(json_data, context=rounded, by_alias=True, by_name=False)
        text = json_data.encode() if isinstance(json_data, str) else json_data
        if rounded or not is_unambiguous(text):
            return cls.model_validate(_load_exact(value, bytes(text)))
        return value

    @classmethod
    def model_validate(cls, obj: Any, **settings: Any) -> Self:
        """Validate Python values as pydantic does, and refuse U+0000. It accepts no settings."""
        if settings:
            raise TypeError(f"{cls.__name__} takes no settings: {', '.join(settings)}")
        value: Self = cls.__pydantic_validator__.validate_python(obj, by_alias=True, by_name=False)
        if "\\x00" in repr(obj) and (problems := list(find_nul(obj))):  # the backslash may belong to the text
            raise validation_error(value, problems)
        return value

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form, with defaults and without omitted members; serialize it with ``exact_json.dumps``."""
        return self.model_dump(exclude_none=True)

    def to_arguments(self) -> dict[str, Any]:
        """Return the members by their Python names; extra members have the names of the input."""
        return vars(self) | (self.model_extra or {})


def _convert_python_values(model: type[ApiModel], members: dict[str, Any]) -> dict[Location, Violation]:
    """Replace Python values in the arguments of a constructor by their texts, and leave out optional None values.

    A value without a text stays, so that pydantic refuses it, too. Returns the violations by their locations.
    """
    refused: dict[Location, Violation] = {}
    for name in [name for name, value in members.items() if value is None]:
        if name in model.model_fields and model.model_fields[name].default is None:
            del members[name]
    for name, write in model.python_values.items():
        for spelling in {name, to_camel(name)} & members.keys():
            if isinstance(members[spelling], str | None):
                continue
            try:
                members[spelling] = write(members[spelling])
            except PydanticCustomError as problem:
                refused[spelling,] = Violation((spelling,), problem.type, problem.message())
    return refused


class CrossFieldModel(ApiModel):
    """A model with rules that involve several of its members."""

    @classmethod
    @abstractmethod
    def check_rules(cls, members: Any) -> list[Violation]:
        """Return the rules that ``members`` breaks.

        ``members`` is an instance of the model, or an object that holds the unchecked values under the same names (None
        for missing values and values of the wrong type).
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
    try:
        if len(set(many)) == len(many):
            return
    except TypeError:  # a refused list may contain unhashable values
        pass
    for index, value in enumerate(many):
        if value in many[:index]:
            yield Violation((*place, index), "duplicate", "is in the list already.")


# -- texts --------------------------------------------------------------------------------------------------------

_VISIBLE_TEXT = SchemaValidator(core_schema.str_schema(pattern=VISIBLE_REGEX))


def is_visible(text: str) -> bool:
    """Whether a text has a visible character: a letter, digit, punctuation mark or symbol."""
    return _VISIBLE_TEXT.isinstance_python(text)


class _Visible:
    """Refuses a text without a visible character."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        text: Any = handler(source)
        return {**text, "pattern": VISIBLE_REGEX}

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        json_schema = handler(schema)
        del json_schema["pattern"]  # other languages have no such pattern
        return json_schema


VISIBLE = _Visible()
"""Refuses a text without a visible character."""


# -- numbers ------------------------------------------------------------------------------------------------------


def _parse_number(value: Any, info: ValidationInfo) -> Any:
    if isinstance(value, float):
        _report_rounding(info)
    return Decimal(repr(value)) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _report_rounding(info: ValidationInfo) -> None:
    """Signal ``model_validate_json`` that pydantic may have rounded a number of the JSON text."""
    if info.mode == "json" and isinstance(info.context, list):
        info.context.append(True)


def number_schema(**limits: int) -> WithJsonSchema:
    """Return the JSON schema of a :data:`Number` with limits. Pydantic omits limits where a validator runs before."""
    return WithJsonSchema({"type": "number", **limits})


Number = Annotated[Decimal, BeforeValidator(_parse_number), number_schema()]
"""A JSON number with all its digits. Strings are refused."""
EntityId = Annotated[str, StringConstraints(min_length=1, max_length=250)]
"""A native id."""


# -- free-form objects --------------------------------------------------------------------------------------------


def _copy_free_form(value: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
    """Copy a free-form object. In JSON mode pydantic has rounded fractions to floats."""
    if info.mode == "json" and _is_plain(value):
        return value  # pydantic made this object, and no other code has a reference to it
    _report_rounding(info)
    problems: list[Violation] = []
    copied: dict[str, Any] = _copy_json(value, (), problems)
    if problems:
        raise validation_error(value, problems)
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


# -- exact JSON ---------------------------------------------------------------------------------------------------


def _load_exact(value: ApiModel, text: bytes) -> Any:
    """Parse JSON with exact numbers, and refuse U+0000. ``value`` is the model in which an error is reported."""
    try:
        exact = loads(text)
    except RepeatedMembers as repeated:
        raise validation_error(value, make_repeated_violations(repeated.locations)) from None
    except ValueError as reason:
        raise validation_error(value, [Violation((), "malformed_json", f"must be valid JSON: {reason}.")]) from None
    if problems := list(find_nul(exact)):
        raise validation_error(value, problems)
    return exact


def find_nul(value: Any, at: Location = ()) -> Iterator[Violation]:
    """Yield a violation for every text that contains U+0000, which databases and networks refuse."""
    if isinstance(value, str):
        if "\0" in value:
            yield Violation(at, *NUL_MESSAGE)
    elif len(at) > MAX_DEPTH:
        return
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from find_nul(name, at)
            yield from find_nul(item, (*at, name))
    elif isinstance(value, list | tuple):
        for position, item in enumerate(value):
            yield from find_nul(item, (*at, position))
