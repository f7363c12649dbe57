"""compose.yaml, env.example and the Caddyfile, against each other and the code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from adsunify.cli.commands import adsunify
from adsunify.http.transport import TIMEOUT_SECONDS
from adsunify.service.factory import open_service
from adsunify_server.app import MAX_BODY_BYTES
from adsunify_server.health import DATABASE_TIMEOUT_SECONDS
from adsunify_server.runner import IDLE_TIMEOUT_SECONDS
from tests.docs.test_pages import parse_command
from tests.server.served import RING

from .files import DEPLOY, get_health_command, get_image_command, load_compose, parse_env_file

COMPOSE = load_compose()
SERVICES: dict[str, Any] = COMPOSE["services"]
OURS = {name: service for name, service in SERVICES.items() if service["image"].startswith("adsunify:")}
SERVERS = [name for name, service in OURS.items() if "command" not in service]
CADDYFILE = (DEPLOY / "Caddyfile").read_text()
CADDY = dict(re.findall(r"^\t+(\w+) ([^{\n]+)$", CADDYFILE, re.MULTILINE))
EXAMPLE = parse_env_file(DEPLOY / "env.example")


def test_there_are_two_servers_a_worker_and_a_migration() -> None:
    assert len(SERVERS) == 2
    assert {name: service["command"][0] for name, service in OURS.items() if "command" in service} == {
        "migration": "db",
        "worker": "worker",
    }


@pytest.mark.parametrize("name", [name for name in OURS if name not in SERVERS])
def test_every_command_is_understood(name: str) -> None:
    parse_command(adsunify, OURS[name]["command"])


@pytest.mark.parametrize("name", SERVICES)
def test_every_container_can_do_no_more_than_it_needs(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert "user" not in service and "privileged" not in service
    assert ("cap_add" in service) == (name not in OURS)
    assert ("ports" in service) == (name == "proxy")


def test_only_processes_of_ours_reach_the_database() -> None:
    assert COMPOSE["networks"]["database"]["internal"] is True
    assert {name for name, service in SERVICES.items() if "database" in service["networks"]} == {*OURS, "database"}
    assert SERVICES["database"]["networks"] == ["database"]


def test_nothing_starts_before_the_migration() -> None:
    for name in (*SERVERS, "worker"):
        assert OURS[name]["depends_on"]["migration"] == {"condition": "service_completed_successfully"}
    assert set(OURS["migration"]["depends_on"]) == {"database"}
    assert OURS["migration"]["restart"] == "no"


def test_every_health_check_is_about_a_port_of_its_process() -> None:
    _, check, *_ = get_health_command()
    for name in SERVERS:
        assert "healthcheck" not in OURS[name]
    kind, program, script, port, path = OURS["worker"]["healthcheck"]["test"]
    assert (kind, program, script, path) == ("CMD", "python", check, "/metrics")
    assert OURS["worker"]["environment"]["ADSUNIFY_METRICS"].endswith(f":{port}")


def test_every_variable_is_in_the_example() -> None:
    text = (DEPLOY / "compose.yaml").read_text() + CADDYFILE
    assert set(re.findall(r"\$\{?\{?\$?([A-Z_]+)", text)) == {"POSTGRES_PASSWORD", "ADSUNIFY_BASE_URL"} <= set(EXAMPLE)
    assert all(service["env_file"] == ".env" for service in OURS.values())
    assert SERVICES["database"]["environment"]["POSTGRES_PASSWORD"].startswith("${POSTGRES_PASSWORD:?")


async def test_the_settings_are_accepted(tmp_path: Path) -> None:
    assert EXAMPLE["ADSUNIFY_SECRET_KEYS"] == ""
    settings = {**EXAMPLE, **OURS["server-1"]["environment"], **RING}
    url = settings["ADSUNIFY_BASE_URL"]
    service = (await open_service(f"sqlite:///{tmp_path / 'a.db'}", settings, base_url=url)).service
    try:
        assert service.settings.base_url == url and url.startswith("https://")
        assert service.settings.proxies == 1
        assert service.settings.insights_sync_hours == int(EXAMPLE["ADSUNIFY_INSIGHTS_SYNC_HOURS"])
    finally:
        await service.close()


def test_the_proxy_has_both_servers_and_leaves_them_their_time_and_room() -> None:
    command = get_image_command()
    port = command[command.index("--port") + 1]
    (upstreams,) = re.findall(r"reverse_proxy (.+) \{", CADDYFILE)
    assert upstreams.split() == [f"{name}:{port}" for name in SERVERS]
    assert set(SERVICES["proxy"]["depends_on"]) == set(SERVERS)
    assert CADDY["health_uri"] == "/readyz"
    assert int(CADDY["health_timeout"].rstrip("s")) > DATABASE_TIMEOUT_SECONDS
    assert int(CADDY["max_size"].removesuffix("MB")) * 1_000_000 > MAX_BODY_BYTES
    assert int(CADDY["response_header_timeout"].rstrip("s")) > 20 + TIMEOUT_SECONDS
    assert int(CADDY["keepalive"].rstrip("s")) < IDLE_TIMEOUT_SECONDS


def test_the_servers_share_the_limits() -> None:
    assert {OURS[name]["environment"]["ADSUNIFY_PROCESSES"] for name in SERVERS} == {str(len(SERVERS))}


def test_the_proxy_believes_no_header_of_a_caller() -> None:
    assert "trusted_proxies" not in CADDYFILE and "header_up" not in CADDYFILE
