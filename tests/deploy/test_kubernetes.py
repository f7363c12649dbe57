"""The manifests for Kubernetes, against each other and the code."""

from __future__ import annotations

from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import pytest

from adsunify.cli.commands import adsunify
from adsunify.cli.serve import SHUTDOWN_SECONDS
from adsunify.service.factory import open_service
from adsunify_server.health import DATABASE_TIMEOUT_SECONDS
from tests.docs.test_pages import parse_command
from tests.server.served import RING

from .files import (
    KUBERNETES,
    get_container,
    get_image_command,
    get_instructions,
    list_manifests,
    load_manifests,
    load_yaml,
    parse_env_file,
)

WORKLOADS = {
    workload["metadata"]["labels"]["app.kubernetes.io/component"]: workload
    for workload in load_manifests("Deployment", "Job")
}
PODS = {name: workload["spec"]["template"] for name, workload in WORKLOADS.items()}
(SETTINGS,) = load_manifests("ConfigMap")
(SERVICE,) = load_manifests("Service")
DNS, POSTGRESQL, HTTPS, HTTP, METRICS = 53, 5432, 443, 8080, 9464


def is_selected(selector: Any, labels: Any) -> bool:
    """Whether a selector of labels selects these labels."""
    required = selector.get("matchLabels", {}).items() <= labels.items()
    return required and all(
        labels.get(expression["key"]) in expression["values"] for expression in selector.get("matchExpressions", [])
    )


def list_selected(selector: Any) -> list[str]:
    """The workloads whose pods a selector selects."""
    return [name for name, pod in PODS.items() if is_selected(selector, pod["metadata"]["labels"])]


def test_every_manifest_is_applied() -> None:
    files = {path for path in KUBERNETES.glob("*.yaml") if path.name != "kustomization.yaml"}
    assert set(list_manifests()) == files


def test_there_are_servers_a_worker_and_a_migration() -> None:
    assert {name: (workload["kind"], workload["spec"].get("replicas")) for name, workload in WORKLOADS.items()} == {
        "migration": ("Job", None),
        "server": ("Deployment", 2),
        "worker": ("Deployment", 1),
    }


@pytest.mark.parametrize("name", WORKLOADS)
def test_every_pod_can_do_no_more_than_it_needs(name: str) -> None:
    pod, container = PODS[name]["spec"], get_container(WORKLOADS[name])
    user, group = map(int, get_instructions("USER")[-1].split(":"))
    assert pod["securityContext"] == {
        "runAsNonRoot": True,
        "runAsUser": user,
        "runAsGroup": group,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert pod["automountServiceAccountToken"] is False
    assert {"memory"} == set(container["resources"]["limits"]) < set(container["resources"]["requests"])
    assert [mount["mountPath"] for mount in container["volumeMounts"]] == ["/tmp"]


@pytest.mark.parametrize("name", WORKLOADS)
def test_every_process_has_the_settings_and_no_others(name: str) -> None:
    pod, container = PODS[name]["spec"], get_container(WORKLOADS[name])
    assert pod["enableServiceLinks"] is False  # else ADSUNIFY_PORT is the address of the service
    assert container["envFrom"] == [{"configMapRef": {"name": "adsunify"}}, {"secretRef": {"name": "adsunify"}}]
    assert container["image"] == load_yaml(KUBERNETES / "kustomization.yaml")["images"][0]["name"]
    assert "command" not in container


@pytest.mark.parametrize("name", ["migration", "worker"])
def test_every_command_is_understood(name: str) -> None:
    parse_command(adsunify, get_container(WORKLOADS[name])["args"])


def test_the_server_has_the_command_and_the_ports_of_the_image() -> None:
    container = get_container(WORKLOADS["server"])
    command = get_image_command()
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert "args" not in container
    assert ports == {"http": int(command[command.index("--port") + 1]), "metrics": METRICS}
    assert set(map(str, ports.values())) == set(get_instructions("EXPOSE")[0].split())
    assert SETTINGS["data"]["ADSUNIFY_METRICS"] == f"0.0.0.0:{METRICS}"


@pytest.mark.parametrize("name", ["server", "worker"])
def test_probes_are_about_a_port_of_the_pod(name: str) -> None:
    container = get_container(WORKLOADS[name])
    ports = {port["name"] for port in container["ports"]}
    for kind in ("startupProbe", "livenessProbe", "readinessProbe"):
        (way,) = (container[kind][way] for way in ("httpGet", "tcpSocket") if way in container[kind])
        assert way["port"] in ports
    paths = {"server": ("/healthz", "/readyz"), "worker": (None, "/metrics")}
    probes = container["livenessProbe"].get("httpGet", {}), container["readinessProbe"]["httpGet"]
    assert tuple(probe.get("path") for probe in probes) == paths[name]
    assert container["readinessProbe"]["timeoutSeconds"] > DATABASE_TIMEOUT_SECONDS


@pytest.mark.parametrize("name", ["server", "worker"])
def test_a_pod_has_the_time_that_a_write_may_take(name: str) -> None:
    before = get_container(WORKLOADS[name]).get("lifecycle", {}).get("preStop", {"exec": {"command": ["sleep", "0"]}})
    assert PODS[name]["spec"]["terminationGracePeriodSeconds"] > SHUTDOWN_SECONDS + int(before["exec"]["command"][1])


def test_the_servers_of_an_upgrade_share_the_limits() -> None:
    server = WORKLOADS["server"]["spec"]
    most = server["replicas"] + server["strategy"]["rollingUpdate"]["maxSurge"]
    assert int(SETTINGS["data"]["ADSUNIFY_PROCESSES"]) == most


def test_the_selectors_select_their_pods() -> None:
    for name in ("server", "worker"):
        assert list_selected(WORKLOADS[name]["spec"]["selector"]) == [name]
    assert list_selected({"matchLabels": SERVICE["spec"]["selector"]}) == ["server"]
    (budget,) = load_manifests("PodDisruptionBudget")
    assert list_selected(budget["spec"]["selector"]) == ["server"]
    assert budget["spec"]["maxUnavailable"] < WORKLOADS["server"]["spec"]["replicas"]


def test_the_ingress_leads_to_the_servers_by_tls() -> None:
    (ingress,) = load_manifests("Ingress")
    (rule,), (tls,) = ingress["spec"]["rules"], ingress["spec"]["tls"]
    (path,) = rule["http"]["paths"]
    backend = path["backend"]["service"]
    assert backend == {"name": SERVICE["metadata"]["name"], "port": {"name": SERVICE["spec"]["ports"][0]["name"]}}
    assert SERVICE["spec"]["ports"][0]["targetPort"] == "http"
    assert tls["hosts"] == [rule["host"]]
    assert SETTINGS["data"]["ADSUNIFY_BASE_URL"] == f"https://{rule['host']}"


async def test_the_settings_are_accepted(tmp_path: Path) -> None:
    secret = parse_env_file(KUBERNETES / "secret.env.example")
    assert {"ADSUNIFY_DATABASE_URL", "ADSUNIFY_SECRET_KEYS"} <= set(secret)
    assert not set(secret) & set(SETTINGS["data"])
    url = SETTINGS["data"]["ADSUNIFY_BASE_URL"]
    settings = {**secret, **SETTINGS["data"], **RING}
    service = (await open_service(f"sqlite:///{tmp_path / 'a.db'}", settings, base_url=url)).service
    try:
        assert (service.settings.base_url, service.settings.proxies) == (url, 1)
    finally:
        await service.close()


def list_open_ports(name: str, direction: str, peers: str) -> set[int]:
    """The ports of a workload that the policies open in a direction."""
    return {
        port["port"]
        for policy in load_manifests("NetworkPolicy")
        if name in list_selected(policy["spec"]["podSelector"])
        for rule in policy["spec"].get(direction, [])
        for port in rule["ports"]
        if rule[peers]
    }


@pytest.mark.parametrize(
    ("name", "incoming", "outgoing"),
    [
        ("migration", set(), {DNS, POSTGRESQL}),
        ("server", {HTTP, METRICS}, {DNS, POSTGRESQL, HTTPS}),
        ("worker", {METRICS}, {DNS, POSTGRESQL, HTTPS}),
    ],
)
def test_the_network_is_open_where_it_is_needed(name: str, incoming: set[int], outgoing: set[int]) -> None:
    assert list_open_ports(name, "ingress", "from") == incoming
    assert list_open_ports(name, "egress", "to") == outgoing


def test_everything_else_is_closed() -> None:
    policies = [manifest["spec"] for manifest in load_manifests("NetworkPolicy")]
    (deny,) = [rule for rule in policies if rule["podSelector"] == {}]
    assert deny == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    for policy in policies:
        if policy != deny:  # a type without a rule would close, and a rule without its type would be ignored
            assert [kind for kind in ("Ingress", "Egress") if kind.lower() in policy] == policy["policyTypes"]


def test_no_private_address_is_a_public_one() -> None:
    blocks = [
        peer["ipBlock"]
        for policy in load_manifests("NetworkPolicy")
        for rule in policy["spec"].get("egress", [])
        for peer in rule["to"]
        if "ipBlock" in peer
    ]
    (block,) = blocks
    assert block["cidr"] == "0.0.0.0/0"
    assert not any(IPv4Network(network).is_global for network in block["except"])
    for private in ("10.1.2.3/32", "172.20.0.1/32", "192.168.1.1/32", "169.254.169.254/32", "127.0.0.1/32"):
        assert any(IPv4Network(private).subnet_of(IPv4Network(network)) for network in block["except"])
