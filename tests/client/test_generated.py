"""The clients' methods are those of the contract table: one for each row, with its words, types and answer."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any, get_args, get_origin, get_type_hints

import pytest
from pydantic.alias_generators import to_camel

from adsunify import Ads, AsyncAds, AsyncPages, Pages
from adsunify.contract import ENDPOINTS, Endpoint
from adsunify.service.dispatch import describe_endpoint

from .generate import to_python_words, write_files
from .generate.parameters import CURSOR, NAMES, OMITTED_MEMBERS

CLIENTS = (Ads, AsyncAds)
BESIDE_THE_TABLE = {
    *(("insights", "report"), ("operations", "run"), ("operations", "run_many")),
    *(("launches", "wait"), ("change_sets", "wait")),
}
"""Methods that are written by hand."""


def test_the_files_are_as_they_would_be_written() -> None:
    stale = [path.name for path, text in write_files().items() if not path.exists() or path.read_text() != text]
    assert not stale, "run nox -s client"


def list_methods(kind: type) -> Iterator[tuple[str, str, Any]]:
    """The namespaces of a client with their methods."""
    client = kind("sqlite:///never.db")
    for resource, namespace in vars(client).items():
        if not resource.startswith("_"):
            for name, method in inspect.getmembers(type(namespace), inspect.isfunction):
                if not name.startswith("_"):
                    yield resource, name, method


@pytest.mark.parametrize("kind", CLIENTS)
def test_each_row_has_one_method(kind: type) -> None:
    methods = [(resource, name) for resource, name, _ in list_methods(kind)]
    assert len(methods) == len(set(methods))
    assert set(methods) - BESIDE_THE_TABLE == {(row.resource, row.method_name) for row in ENDPOINTS}
    assert len(ENDPOINTS) == len({(row.resource, row.method_name) for row in ENDPOINTS})


ROWS: Mapping[tuple[str, str], Endpoint] = {(row.resource, row.method_name): row for row in ENDPOINTS}


@pytest.mark.parametrize("kind", CLIENTS)
def test_methods_say_what_the_contract_says(kind: type) -> None:
    """Each sentence of the use case is in the docstring, and so is who may call it."""
    for resource, name, method in list_methods(kind):
        if row := ROWS.get((resource, name)):
            docstring = " ".join((inspect.getdoc(method) or "").split())
            described = to_python_words(" ".join(describe_endpoint(row).partition("Raises")[0].split()))
            for sentence in (*described.split(". "), row.access_description):
                assert sentence.strip() in docstring, (resource, name, sentence)


@pytest.mark.parametrize("kind", CLIENTS)
def test_methods_return_the_models_of_the_contract(kind: type) -> None:
    for resource, name, method in list_methods(kind):
        if row := ROWS.get((resource, name)):
            answer = get_type_hints(method)["return"]
            is_list = get_origin(answer) in (Pages, AsyncPages)
            expected = get_args(row.answer_type)[0] if get_args(row.answer_type) else row.answer_type
            model = get_args(answer)[0] if is_list else answer
            assert expected in (model, list[model]), (resource, name)
            assert inspect.iscoroutinefunction(method) == (kind is AsyncAds and not is_list)


@pytest.mark.parametrize("kind", CLIENTS)
def test_methods_take_the_members_of_the_contract(kind: type) -> None:
    """All of them, those required without a default, and no other; each has a type that is not ``Any``."""
    names = {parameter: wire for wire, (parameter, _) in NAMES.items()}
    for resource, name, method in list_methods(kind):
        if not (row := ROWS.get((resource, name))):
            continue
        fields = {
            to_camel(field): model.model_fields[field].is_required()
            for model in (row.query, row.body)
            if model is not None
            for field in model.model_fields
            if field not in OMITTED_MEMBERS.get(row.operation_id, (CURSOR,))
        }
        expected = dict.fromkeys(row.parameters, True) | fields
        parameters = [
            argument
            for argument in inspect.signature(method).parameters.values()
            if argument.name not in ("self", "credentials")
        ]
        assert ("idempotency_key" in [argument.name for argument in parameters]) == row.takes_idempotency_key
        taken = {
            names.get(argument.name, to_camel(argument.name)): argument.default is argument.empty
            for argument in parameters
            if argument.name != "idempotency_key"
        }
        assert taken == expected, (resource, name)
        assert Any not in get_type_hints(method).values()


def test_both_clients_have_the_same_methods() -> None:
    def describe(kind: type) -> dict[tuple[str, str], tuple[str, str | None]]:
        return {
            (resource, name): (
                str(inspect.signature(method)).replace("AsyncPages", "Pages").replace("AsyncReport", "Report"),
                inspect.getdoc(method),
            )
            for resource, name, method in list_methods(kind)
        }

    assert describe(Ads) == describe(AsyncAds)
