"""mypy compares the modules of an adapter with their Protocols: a broken adapter is an error in its ``__init__.py``."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from mypy import api

import adsunify.networks
from adsunify.adapter.oauth import AuthorizationCodeLogin
from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter

ROOT = Path(__file__).parents[2]
NETWORKS = Path(adsunify.networks.__file__).parent
MODEL = "reddit"
MODELS = {"no_revocation": "meta", "no_consent": "meta", "status_in_other_order": "tiktok"}
"""The adapter that a copy is made of, where it is not the model: one that writes out the function."""

BREAKS: Mapping[str, tuple[str, str, str, str]] = {
    "no_version": ("native", "VERSION = ", "API_VERSION = ", "VERSION"),
    "no_money_unit": ("native", "get_money_unit = ", "find_money_unit = ", "get_money_unit"),
    "error_of_text": ("native", "def parse_error(response: Response)", "def parse_error(response: str)", "parse_error"),
    "targeting_of_text": (
        *("targeting", "def find_native_targeting_error(targeting: Mapping[str, Json])"),
        *("def find_native_targeting_error(targeting: str)", "find_native_targeting_error"),
    ),
    "targeting_without_kind": (
        *("targeting", "def merge_targeting(kind: Kind, ", "def merge_targeting(", "merge_targeting"),
    ),
    "no_settings": ("settings", "SETTINGS", "FIELDS", "SETTINGS"),
    "conflicts_without_edit": ("settings", ", edit: Edit, now: ", ", now: ", "check_conflicts"),
    "no_templates": ("tables", "TEMPLATES", "EXAMPLES", "TEMPLATES"),
    "formats_as_list": ("tables", "^FORMATS = \\(", "FORMATS: list[Format] = list(", "FORMATS"),
    "no_revocation": ("reads", "def revoke_credentials(", "def forget_credentials(", "revoke_credentials"),
    "metrics_without_days": (
        *("reads", ", start: date, end: date\\) -> DatedValues", ") -> DatedValues", "parse_daily_metrics"),
    ),
    "no_consent": ("reads", "def build_authorization_url(", "def build_consent_url(", "build_authorization_url"),
    "no_deletion": ("plans", "def plan_delete(", "def plan_removal(", "plan_delete"),
    "status_in_other_order": (
        *("plans", "def plan_status(account: Account, kind: Kind, entity_id: str, status: str)"),
        *("def plan_status(account: Account, kind: Kind, status: str, entity_id: str)", "plan_status"),
    ),
    "plan_of_step": ("plans", "(def preflight\\([^)]*\\) -> Flow)\\[.*\\]:", "\\1[None]:", "preflight"),
}
"""Name of a copy of the model: its module, what is replaced there (an expression) by what, the member mypy names."""


def write_adapter(folder: Path, module: str, old: str, new: str) -> None:
    """Copy the model into ``folder``, and replace ``old`` in one of its modules."""
    model = MODELS.get(folder.name, MODEL)
    shutil.copytree(NETWORKS / model, folder, ignore=shutil.ignore_patterns("__pycache__"))
    path = folder / f"{module}.py"
    text, count = re.subn(old, new, path.read_text(), flags=re.MULTILINE)
    assert count, f"{model}/{module}.py has no {old}"
    path.write_text(text)


@pytest.fixture(scope="module")
def errors(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What mypy prints of the copies of the model; all are checked in one run."""
    folder = tmp_path_factory.mktemp("adapters")
    write_adapter(folder / "unchanged", "native", "^", "")
    for name, (module, old, new, _) in BREAKS.items():
        pattern = old if "\\" in old or "^" in old else re.escape(old)
        write_adapter(folder / name, module, pattern, new)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        patch.setenv("MYPYPATH", str(folder))
        output, problem, _ = api.run(["--strict", *(str(folder / name) for name in ("unchanged", *BREAKS))])
    assert problem == ""
    return output


def find_errors(errors: str, name: str) -> str:
    """The lines about the package's ``__init__.py``, where the adapter is made."""
    return "\n".join(line for line in errors.splitlines() if f"/{name}/__init__.py:" in line)


def test_an_adapter_without_a_fault_has_no_error(errors: str) -> None:
    assert "/unchanged/" not in errors


@pytest.mark.parametrize("name", BREAKS)
def test_a_broken_adapter_is_an_error(errors: str, name: str) -> None:
    message = find_errors(errors, name)
    assert "incompatible type Module" in message
    assert re.search(rf"\b{BREAKS[name][3]}\b", message)


@pytest.mark.parametrize("code", ADAPTER_PACKAGES)
def test_an_adapter_is_made_of_its_own_modules(code: str) -> None:
    adapter, package = get_adapter(code), ADAPTER_PACKAGES[code]
    for name in ("native", "settings", "tables", "reads", "plans"):
        assert getattr(adapter, name).__name__ == f"{package}.{name}"
    for name in ("native_targeting", "editable_targeting"):
        assert getattr(getattr(adapter, name), "__name__", f"{package}.targeting") == f"{package}.targeting"
    for name in ("authorization", "request_tokens", "credentials"):
        login = getattr(adapter, name)
        assert login is None or isinstance(login, AuthorizationCodeLogin) or login is adapter.reads
