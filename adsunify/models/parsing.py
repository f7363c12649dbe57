"""Parses input of callers into a model, and reports all issues at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from types import SimpleNamespace
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from adsunify.errors import MAX_ISSUES, InvalidInput, invalid_input
from adsunify.models.base import ApiModel, CrossFieldModel, find_nul
from adsunify.models.error_messages import (
    Location,
    Violation,
    cut_lists,
    cut_to_schema,
    list_violations,
    make_repeated_violations,
    to_issue,
)
from adsunify.values.exact_json import RepeatedMembers, loads

MAX_VALUES = 50_000
"""The maximum number of JSON values of one input. A full edit body, with 3,500 items, has half as many."""
SMALL_INPUT_VALUES = 500
"""Lists of an input with more values are cut to their limits before the input is validated."""
MAX_DESCRIBED_ITEMS = 20
ModelT = TypeVar("ModelT", bound=ApiModel)


def parse_model(model: type[ModelT], data: bytes | str | Mapping[str, Any], prefix: str = "") -> ModelT:
    """Parse JSON text, or an object that was parsed already, into ``model``.

    Raises:
        InvalidInput: the input is refused; it holds all issues. Paths start with ``prefix`` (such as "campaign").
    """
    if isinstance(data, (bytes, str)) and (values := count_values(data)) > SMALL_INPUT_VALUES:
        return _parse_large(model, data, values, prefix)
    try:
        if isinstance(data, (bytes, str)):
            return model.model_validate_json(data)
        return model.model_validate(dict(data))
    except ValidationError as error:
        raw, repeated = _load_raw(data)
        raise _make_invalid_input(model, raw, [*list_violations(error, model), *repeated], 0, prefix) from None


def count_values(data: bytes | str) -> int:
    """Return an upper bound of the number of values in JSON text. Commas inside strings are counted as well."""
    text = data.encode(errors="surrogatepass") if isinstance(data, str) else data
    return text.count(b",") + text.count(b"[") + text.count(b"{") + 1


def _parse_large(model: type[ModelT], data: bytes | str, values: int, prefix: str) -> ModelT:
    """Parse as :func:`parse_model` does, in a time that does not grow with the number of errors."""
    if values > MAX_VALUES:
        raise invalid_input(prefix, "too_many", f"must hold at most {MAX_VALUES:,} values in all.")
    try:
        raw = loads(data)
    except RepeatedMembers as repeated:
        raise _make_invalid_input(model, None, make_repeated_violations(repeated.locations), 0, prefix) from None
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
    """Return only the errors of the first items of every list, if there are any.

    Describing all errors takes too long.
    """
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


# -- further violations of a refused input ------------------------------------------------------------------------


def _load_raw(data: bytes | str | Mapping[str, Any]) -> tuple[Any, list[Violation]]:
    """Return the parsed input (None if it cannot be parsed) and a violation for each repeated member."""
    try:
        return (loads(data) if isinstance(data, (bytes, str)) else dict(data)), []
    except RepeatedMembers as repeated:
        return None, make_repeated_violations(repeated.locations)
    except ValueError:
        return None, []


def _find_further_violations(
    model: type[BaseModel], raw: Any, wrong: set[Location], at: Location = ()
) -> Iterator[Violation]:
    """Yield the broken cross-field rules of a refused input. Pydantic does not check them if a member is refused."""
    if not at:
        yield from find_nul(raw)
    if issubclass(model, CrossFieldModel):
        for problem in model.check_rules(_collect_unchecked_members(model, raw, wrong, at)):
            yield problem._replace(location=at + problem.location)
    for name, part in _list_submodels(model).items():
        if isinstance(value := _get_member(raw, name), Mapping):
            yield from _find_further_violations(part, value, wrong, (*at, name))


def _collect_unchecked_members(model: type[BaseModel], raw: Any, wrong: set[Location], at: Location) -> SimpleNamespace:
    """Return the unchecked members under their Python names; missing members and members of a wrong type are None.

    If a model accepts extra members, ``model_extra`` holds them.
    """
    parts = _list_submodels(model)
    members: dict[str, Any] = {}
    for name, member in model.model_fields.items():
        alias = member.alias or name
        location = (*at, alias)
        value = None if location in wrong else _get_member(raw, alias)
        members[name] = _collect_unchecked_members(parts[alias], value, wrong, location) if alias in parts else value
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
