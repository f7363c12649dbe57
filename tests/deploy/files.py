"""The files of ``deploy``, read."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
KUBERNETES = DEPLOY / "kubernetes"
MONITORING = DEPLOY / "monitoring"
TEMPLATES = {"Deployment", "Job"}
"""The kinds of Kubernetes that have a template of pods."""


def load_pyproject() -> Any:
    """Everything that pyproject.toml says."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def load_yaml(path: Path) -> Any:
    """The one document of a file."""
    return yaml.safe_load(path.read_text())


def load_compose() -> Any:
    """compose.yaml, with its anchors and merges resolved."""
    return load_yaml(DEPLOY / "compose.yaml")


def load_dashboard() -> Any:
    """The dashboard of Grafana."""
    return json.loads((MONITORING / "dashboard.json").read_text())


def load_alerts() -> list[Any]:
    """The rules of Prometheus."""
    return [rule for group in load_yaml(MONITORING / "alerts.yaml")["groups"] for rule in group["rules"]]


def list_manifests() -> list[Path]:
    """The files that the kustomization applies, in its order."""
    return [KUBERNETES / name for name in load_yaml(KUBERNETES / "kustomization.yaml")["resources"]]


def load_manifests(*kinds: str) -> list[Any]:
    """The objects of these kinds; all of them without an argument."""
    objects = [manifest for path in list_manifests() for manifest in yaml.safe_load_all(path.read_text())]
    return [manifest for manifest in objects if not kinds or manifest["kind"] in kinds]


def get_container(workload: Any) -> Any:
    """The one container of a Deployment or a Job."""
    (container,) = workload["spec"]["template"]["spec"]["containers"]
    return container


def parse_dockerfile() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile with their arguments, in order."""
    lines = [line for line in (DEPLOY / "Dockerfile").read_text().splitlines() if not line.startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in joined.splitlines()) if word]


def get_instructions(word: str) -> list[str]:
    """The arguments of each instruction of a word."""
    return [rest for instruction, rest in parse_dockerfile() if instruction == word]


def get_image_command() -> list[str]:
    """What the image runs without arguments: the program and its arguments."""
    return [*json.loads(get_instructions("ENTRYPOINT")[0]), *json.loads(get_instructions("CMD")[0])]


def get_health_command() -> list[str]:
    """The image's health check: the program and its arguments."""
    command: list[str] = json.loads(get_instructions("HEALTHCHECK")[0].partition("CMD ")[2])
    return command


def parse_env_file(path: Path) -> dict[str, str]:
    """The variables of a file of settings."""
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    return dict(line.split("=", 1) for line in lines)


def list_deploy_files() -> Iterator[Path]:
    """Every file that a person may change or read."""
    return (path for path in sorted(DEPLOY.rglob("*")) if path.is_file() and path.suffix not in (".pyc", ".txt"))
