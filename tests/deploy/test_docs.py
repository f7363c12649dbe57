"""What docs/deploying.md tells a person to type, against the files and the commands."""

from __future__ import annotations

import re
import shlex

import pytest

from adsunify.cli.commands import adsunify
from tests.docs.test_pages import parse_command, read_blocks

from .files import ROOT, load_compose, load_manifests, load_pyproject

LINES = [
    line.strip().removeprefix("$ ")
    for block in read_blocks("docs/deploying.md", "console")
    for line in block.splitlines()
]
OURS = re.compile(r"docker compose run --rm \S+ (.+)|docker run --rm adsunify:\S+ (.+)|kubectl .* -- adsunify (.+)")
COMMANDS = [next(filter(None, match.groups())) for match in map(OURS.fullmatch, LINES) if match]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_in_a_container_is_understood(command: str) -> None:
    parse_command(adsunify, shlex.split(command))


def test_every_way_to_a_command_is_shown() -> None:
    assert [command.split(" -")[0] for command in COMMANDS] == [
        "admin keys new",
        "admin init",
        "db restored",
        "db upgrade",
        "admin init",
    ]


def test_every_service_and_object_that_is_named_exists() -> None:
    text = "\n".join(LINES)
    assert set(re.findall(r"docker compose (?:run --rm|exec -T) (\S+)", text)) <= set(load_compose()["services"])
    objects = {f"{manifest['kind'].lower()}/{manifest['metadata']['name']}" for manifest in load_manifests()}
    named = {f"{kind}/{name}" for kind, name in re.findall(r"\b(deployment|job)[/ ](adsunify-\S+)", text)}
    assert named == {"deployment/adsunify-server", "job/adsunify-migration"} <= objects
    assert set(re.findall(r"kubectl -n (\S+)", text)) == {load_manifests("Namespace")[0]["metadata"]["name"]}


def test_the_end_of_all_servers_and_workers_is_awaited_and_of_nothing_else() -> None:
    """The pods of a job stay after its end, so a wait for their deletion would fail."""
    (line,) = [line for line in LINES if "--for=delete" in line]
    words = shlex.split(line)
    selector = re.fullmatch(r"(\S+) in \((.+)\)", words[words.index("-l") + 1])
    assert selector is not None
    label, names = selector.groups()
    awaited = {
        manifest["kind"]
        for manifest in load_manifests("Deployment", "Job")
        if manifest["spec"]["template"]["metadata"]["labels"].get(label) in names.split(", ")
    }
    assert awaited == {"Deployment"} and len(names.split(", ")) == len(load_manifests("Deployment"))


def test_every_file_that_is_typed_exists_or_is_made() -> None:
    created_files = set()
    for words in map(shlex.split, LINES):
        paths = {path for word in words for path in re.findall(r"deploy/[\w./-]+", word)}
        if words[0] == "install":
            created_files.add(words[-1])
        assert all((ROOT / path).exists() for path in paths - created_files)
    ignored = (ROOT / ".gitignore").read_text().splitlines()
    assert created_files and created_files <= set(ignored)  # they hold secrets


def test_the_version_is_the_one_of_the_package() -> None:
    assert set(re.findall(r"adsunify:(\d\S*)", "\n".join(LINES))) == {load_pyproject()["project"]["version"]}
