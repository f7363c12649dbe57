"""The adapters read alike: the same files, the same sections and names inside, in the same order."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path

import attrs
import pytest

from adsunify.adapter import protocols
from adsunify.adapter.entity_reports import EntityReports
from adsunify.adapter.protocols import Adapter
from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from tests.networks.samples import find_case_folder

MOST_LINES = 550

SECTIONS: Mapping[str, Sequence[str]] = {
    "native": ("money and time", "requests", "signing", "answers"),
    "targeting": ("what a brief says", "what is looked up", "what an edit says"),
    "settings": ("locks", "values", "the table", "what the changes contradict"),
    "tables": ("levels", "formats", "catalogs", "templates, metrics, errors"),
    "reads": ("connecting", "accounts", "the hierarchy", "insights", "catalogs"),
    "reports": (),
    "plans": ("steps", "create", "activate and status", "native", "edit", "preflight"),
}
"""The files of an adapter, each standing on those before it, and their sections."""
ABSENT = {"signing", "what is looked up", "what an edit says", "connecting"}
"""Sections that a network may do without."""

TEXTS = ("sample_brief.json", "guide.md")
"""The files of an adapter that are no modules."""
CASE_FILES = (
    *("exemplary", "supplemental", "conversation", "samples.py", "reporting.py", "spend.py", "holdings.py"),
    *("exposure/cases.json", "exposure/native_updates.json", "exposure/budgets.json"),
)
"""What the folder of a network's cases holds."""
TABLES = ("LEVELS", "FORMATS", "CATALOGS", "TEMPLATES", "METRICS", "ERRORS", "NETWORK")
PLANS = (
    *("plan_create", "plan_activate", "plan_status", "plan_native_create", "plan_update", "plan_delete"),
    *("plan_edit", "preflight"),
)
READS = (
    *("discover_accounts", "fetch_tree", "list_entities", "fetch_entity", "fetch_editable_entity"),
    *("parse_daily_metrics", "fetch_insights", "fetch_catalog_page"),
)
STEP_BUILDERS: Mapping[str, Sequence[str]] = {
    "_build_create_step": ("account", "level", "does", "members", "bindings"),
    "_build_update_step": ("account", "level", "entity_id", "does", "members"),
    "_build_status_step": ("account", "level", "entity_id", "status"),
}
"""The functions of ``plans.py`` that ``adapter/lifecycle.py`` calls, and their parameters."""
PROTOCOLS: Mapping[str, type] = {
    "native": protocols.Native,
    "settings": protocols.Settings,
    "tables": protocols.Tables,
    "reads": protocols.Reads,
    "reports": EntityReports,
    "plans": protocols.Plans,
    "native_targeting": protocols.NativeTargeting,
    "editable_targeting": protocols.EditableTargeting,
    "authorization": protocols.AuthorizationFlows,
    "request_tokens": protocols.RequestTokenFlows,
    "credentials": protocols.CredentialFlows,
}
"""The Protocol of each module of an ``Adapter``."""
LOGINS = {
    "authorization": ("build_authorization_url",),
    "request_tokens": ("fetch_request_token",),
    "credentials": (),
}
"""By which function a connection begins, by the member of ``Adapter`` that holds the login."""
CREDENTIALS = ("fetch_credentials", "refresh_credentials", "revoke_credentials")


def find_folder(code: str) -> Path:
    """The folder of an adapter."""
    (place,) = import_module(ADAPTER_PACKAGES[code]).__path__
    return Path(place)


def list_files(code: str) -> list[str]:
    """The files of an adapter, in their order. One without figures below the account has no ``reports.py``."""
    return [name for name in SECTIONS if name != "reports" or get_adapter(code).reports is not None]


def list_definitions(path: Path) -> Iterator[str]:
    """What a module defines, from top to bottom."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name))


def check_order(path: Path, expected: Sequence[str]) -> None:
    assert [name for name in list_definitions(path) if name in expected] == list(expected), path


def list_sections(path: Path) -> list[str]:
    return re.findall(r"^# -- (.*?) -+$", path.read_text(), re.MULTILINE)


@pytest.mark.parametrize("code", ADAPTER_PACKAGES)
def test_an_adapter_has_these_files_and_none_is_long(code: str) -> None:
    files = {path.name: path for path in find_folder(code).rglob("*.py")}
    assert set(files) == {"__init__.py", *(f"{name}.py" for name in list_files(code))}
    assert ("reports.py" in files) == bool(get_adapter(code).network.report_levels)
    lengths = {name: len(path.read_text().splitlines()) for name, path in files.items()}
    assert {name: length for name, length in lengths.items() if length > MOST_LINES} == {}


@pytest.mark.parametrize("code", ADAPTER_PACKAGES)
def test_a_network_has_the_files_that_the_suites_read(code: str) -> None:
    places = [find_folder(code) / name for name in TEXTS] + [find_case_folder(code) / name for name in CASE_FILES]
    missing = [str(path) for path in places if not path.exists()]
    assert not missing, f'{missing}: see "How to add a network" in CONTRIBUTING.md'


@pytest.mark.parametrize("code", ADAPTER_PACKAGES)
@pytest.mark.parametrize("name", SECTIONS)
def test_the_sections_of_a_file_are_called_alike_and_stand_in_one_order(code: str, name: str) -> None:
    titles = list_sections(find_folder(code) / f"{name}.py") if name in list_files(code) else []
    assert titles == [title for title in SECTIONS[name] if title in titles or title not in ABSENT]


@pytest.mark.parametrize("code", ADAPTER_PACKAGES)
def test_the_functions_and_tables_of_an_adapter_stand_in_one_order(code: str) -> None:
    folder = find_folder(code)
    check_order(folder / "native.py", ("get_money_unit", "parse_error"))
    check_order(folder / "settings.py", ("SETTINGS", "check_conflicts"))
    check_order(folder / "tables.py", TABLES)
    assert list(list_definitions(folder / "tables.py"))[-1] == "NETWORK"
    check_order(folder / "plans.py", PLANS)
    adapter = get_adapter(code)
    own = [names for member, names in LOGINS.items() if getattr(adapter, member) is adapter.reads]
    login = (*own[0], *CREDENTIALS) if own else ()
    check_order(folder / "reads.py", (*login, *READS, *(("sign_request",) if own else ())))


@pytest.mark.parametrize("code", ADAPTER_PACKAGES)
def test_an_adapter_has_the_login_that_its_table_names(code: str) -> None:
    adapter = get_adapter(code)
    members = {"oauth2": "authorization", "oauth1": "request_tokens", "credentials": "credentials"}
    assert [name for name in LOGINS if getattr(adapter, name) is not None] == [members[adapter.network.login.kind]]


@pytest.mark.parametrize("code", ADAPTER_PACKAGES)
def test_the_parameters_of_a_function_have_the_names_of_its_protocol(code: str) -> None:
    """mypy compares kinds and types of parameters, and not their names."""
    adapter = get_adapter(code)
    for member in attrs.fields(Adapter):
        module = getattr(adapter, member.name)
        for name, function in inspect.getmembers(PROTOCOLS[member.name], inspect.isfunction):
            if module is not None and not name.startswith("_"):
                _, *parameters = inspect.signature(function).parameters
                assert list(inspect.signature(getattr(module, name)).parameters) == parameters, (
                    f"{module.__name__}.{name}"
                )


@pytest.mark.parametrize("code", ADAPTER_PACKAGES)
def test_the_builders_of_steps_have_the_same_parameters(code: str) -> None:
    plans = get_adapter(code).plans
    for name, parameters in STEP_BUILDERS.items():
        if (builder := getattr(plans, name, None)) is not None:
            assert tuple(inspect.signature(builder).parameters) == parameters, f"{code}: {name}"


def list_signatures(code: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The functions of an adapter's modules, with the names of their parameters."""
    for name in list_files(code):
        for node in ast.parse((find_folder(code) / f"{name}.py").read_text()).body:
            if isinstance(node, ast.FunctionDef):
                parameters = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
                yield node.name, tuple(parameter.arg for parameter in parameters)


@pytest.mark.parametrize("code", ADAPTER_PACKAGES)
def test_functions_of_one_name_have_the_same_parameters_in_every_adapter(code: str) -> None:
    """A helper with other parameters does something else, so it gets another name."""
    signatures = {(name, parameters) for other in ADAPTER_PACKAGES for name, parameters in list_signatures(other)}
    own = set(list_signatures(code))
    names = {name for name, _ in own}
    others = {signature for signature in signatures if signature[0] in names} - own
    assert not others, f"{find_folder(code)}: other adapters have these parameters: {sorted(others)}"


@pytest.mark.parametrize("code", ADAPTER_PACKAGES)
def test_a_file_imports_only_from_those_before_it(code: str) -> None:
    files = list_files(code)
    for place, name in enumerate(files):
        for node in ast.parse((find_folder(code) / f"{name}.py").read_text()).body:
            if isinstance(node, ast.ImportFrom) and node.level:
                modules = [node.module] if node.module else [alias.name for alias in node.names]
                assert set(modules) <= set(files[:place]), f"{name}.py imports {modules}"
