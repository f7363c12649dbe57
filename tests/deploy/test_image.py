"""The Dockerfile and what it installs, against pyproject.toml and the code."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from adsunify.cli.commands import adsunify
from adsunify.cli.serve import SHUTDOWN_SECONDS
from adsunify.networks.registry import ADAPTER_PACKAGES
from tests.cli.running import first_line, process
from tests.docs.test_pages import parse_command

from .files import (
    DEPLOY,
    KUBERNETES,
    ROOT,
    get_health_command,
    get_image_command,
    get_instructions,
    list_deploy_files,
    load_compose,
    load_pyproject,
    load_yaml,
)

PROJECT = load_pyproject()["project"]
LOCKED = {
    canonicalize_name(name): (version, text.count("--hash=sha256:"))
    for path in ("requirements.txt", "build-requirements.txt")
    for name, version, text in re.findall(
        r"^(\S+)==(\S+)(.*?)(?=^\S|\Z)", (DEPLOY / "image" / path).read_text(), re.MULTILINE | re.DOTALL
    )
}
"""The version of each locked package, and the number of its hashes."""


def list_requirements(*extras: str) -> list[Requirement]:
    """What the package and these extras require of other packages."""
    texts = PROJECT["dependencies"] if not extras else []
    texts = [*texts, *(text for extra in extras for text in PROJECT["optional-dependencies"][extra])]
    every = list(map(Requirement, texts))
    inner = [
        requirement for own in every if own.name == "adsunify" for requirement in list_requirements(*sorted(own.extras))
    ]
    return [*(requirement for requirement in every if requirement.name != "adsunify"), *inner]


REQUIRED = [*list_requirements(), *list_requirements("all", "otel")]
BACKEND = [Requirement(text) for text in load_pyproject()["build-system"]["requires"]]


@pytest.mark.parametrize(
    "requirement", {str(required): required for required in [*REQUIRED, *BACKEND]}.values(), ids=str
)
def test_the_lock_satisfies_pyproject(requirement: Requirement) -> None:
    version, hashes = LOCKED[canonicalize_name(requirement.name)]
    assert hashes > 0
    assert requirement.specifier.contains(version), "renew the lock: nox -s lock"


def test_every_locked_package_has_hashes() -> None:
    assert len(LOCKED) > len(REQUIRED)
    assert [name for name, (_, hashes) in LOCKED.items() if not hashes] == []


def test_the_lock_names_no_host_and_nothing_but_packages() -> None:
    for path in (DEPLOY / "image").glob("*.txt"):
        assert "://" not in path.read_text() and "--index" not in path.read_text()


def test_the_program_is_understood() -> None:
    program, *arguments = get_image_command()
    assert program in PROJECT["scripts"]
    parse_command(adsunify, arguments)


def test_the_image_is_built_in_two_stages_and_its_user_is_not_root() -> None:
    bases = get_instructions("FROM")
    assert [base.split(" AS ")[0] for base in bases] == ["${PYTHON_IMAGE}"] * 2
    (base,) = get_instructions("ARG")
    version = re.search(r"python:(3\.\d+)-slim", base)
    assert version is not None and f"Programming Language :: Python :: {version[1]}" in PROJECT["classifiers"]
    assert re.fullmatch("[1-9][0-9]+:[1-9][0-9]+", get_instructions("USER")[-1])
    assert get_instructions("STOPSIGNAL") == ["SIGTERM"]


def test_every_file_that_is_copied_exists_and_reaches_the_builder() -> None:
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines()
    sources = [
        source for copied in get_instructions("COPY") if "--from" not in copied for source in copied.split()[:-1]
    ]
    for source in sources:
        assert (ROOT / source).exists(), source
        assert any(source == line[1:] or source.startswith(f"{line[1:]}/") for line in ignored if line[0] == "!")
    assert ignored[0] == "*"
    wheel = load_pyproject()["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert {*wheel["packages"], PROJECT["readme"], *PROJECT["license-files"]} <= set(sources)
    script, source, target = get_instructions("RUN")[0].split()
    assert os.access(ROOT / script, os.X_OK)
    assert (source, f"{target}/bin") == (get_instructions("WORKDIR")[0], get_instructions("ENV")[0].split(":")[0][5:])


def test_the_health_check_is_about_the_port_of_the_server() -> None:
    _, script, port, path = get_health_command()
    command = get_image_command()
    assert command[command.index("--port") + 1] == port
    assert port in get_instructions("EXPOSE")[0].split()
    assert path == "/healthz"
    assert any(copied.endswith(script) for copied in get_instructions("COPY"))


def check_health(port: int, path: str) -> int:
    """The exit code of the image's health check."""
    script = DEPLOY / "image" / "check_health.py"
    return subprocess.run([sys.executable, "-I", str(script), str(port), path], timeout=60).returncode


def test_the_health_check_sees_a_server_that_lives_and_one_that_does_not(tmp_path: os.PathLike[str]) -> None:
    database = f"sqlite:///{os.fspath(tmp_path)}/a.db"
    with process("serve", "--port", "0", "--json", ADSUNIFY_DATABASE_URL=database) as server:
        port = int(first_line(server)["baseUrl"].rsplit(":", 1)[1])
        assert [check_health(port, path) for path in ("/healthz", "/readyz", "/nothing")] == [0, 0, 1]
    assert check_health(port, "/healthz") == 1


def test_every_setting_is_one_of_the_code() -> None:
    sources = [path for folder in ("adsunify", "adsunify_server") for path in (ROOT / folder).rglob("*.py")]
    name = re.compile(r"ADSUNIFY_[A-Z_]*[A-Z]")
    known = {setting for path in sources for setting in name.findall(path.read_text())}
    known |= {f"ADSUNIFY_{code.upper()}_{part}" for code in ADAPTER_PACKAGES for part in ("CLIENT_ID", "CLIENT_SECRET")}
    paths = [*list_deploy_files(), ROOT / "docs" / "deploying.md"]
    settings = {setting: path.name for path in paths for setting in name.findall(path.read_text())}
    assert len(settings) >= 8
    assert {setting: path for setting, path in settings.items() if setting not in known} == {}


def test_every_file_names_the_version_of_the_package() -> None:
    names = {
        version for path in list_deploy_files() for version in re.findall(r"adsunify:(\d[\w.]*)", path.read_text())
    }
    names.add(load_yaml(KUBERNETES / "kustomization.yaml")["images"][0]["newTag"])
    assert names == {PROJECT["version"]}
    assert load_compose()["services"]["server-1"]["image"] == f"adsunify:{PROJECT['version']}"


def test_the_images_of_others_have_a_version() -> None:
    for service in load_compose()["services"].values():
        assert re.search(r":\d", service["image"]), service["image"]


def test_a_container_has_the_time_that_a_write_may_take() -> None:
    for service in load_compose()["services"].values():
        if service["image"].startswith("adsunify:"):
            assert int(service["stop_grace_period"].rstrip("s")) > SHUTDOWN_SECONDS


def test_the_dashboard_is_json_that_a_person_can_compare() -> None:
    text = (DEPLOY / "monitoring" / "dashboard.json").read_text()
    assert json.loads(text)["uid"] == "adsunify"
    assert max(map(len, text.splitlines())) < 400
