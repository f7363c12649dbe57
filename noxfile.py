"""What can be run: ``nox -l`` lists it. The default is ``tests``."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

import nox
from packaging.requirements import Requirement

nox.options.sessions = ["tests"]
nox.options.error_on_missing_interpreters = True
PYPROJECT = nox.project.load_toml("pyproject.toml")
TESTS_OF_DEPENDENCIES = (
    "tests/cli",
    "tests/client",
    "tests/golden",
    "tests/networks/test_cases.py",
    "tests/pages",
    "tests/server",
    "tests/system/conformance",
    "tests/testing",
    "tests/unit",
)
"""The tests of all that uses a dependency. The others run the same code again, or use no dependency."""
LONG_SUITES = (
    "tests/cli/test_alerts.py",
    "tests/cli/test_canaries.py",
    "tests/cli/test_changes.py",
    "tests/cli/test_commands.py",
    "tests/cli/test_connections.py",
    "tests/cli/test_daily.py",
    "tests/cli/test_desired.py",
    "tests/cli/test_extras.py",
    "tests/cli/test_figures.py",
    "tests/cli/test_insights.py",
    "tests/cli/test_launches.py",
    "tests/cli/test_newer_databases.py",
    "tests/cli/test_operating.py",
    "tests/cli/test_processes.py",
    "tests/cli/test_progress.py",
    "tests/cli/test_streams.py",
    "tests/cli/test_syncing.py",
    "tests/cli/test_upkeep.py",
    "tests/cli/test_webhooks.py",
    "tests/client/test_generated.py",
    "tests/client/test_running.py",
    "tests/deploy",
    "tests/docs",
    "tests/examples",
    "tests/networks/test_external.py",
    "tests/pages/test_briefs.py",
    "tests/pages/test_entities.py",
    "tests/pages/test_insights.py",
    "tests/pages/test_launches.py",
    "tests/server/test_access_lost.py",
    "tests/server/test_alert_kinds.py",
    "tests/server/test_backups.py",
    "tests/server/test_database_locks.py",
    "tests/server/test_egress.py",
    "tests/server/test_file_ownership.py",
    "tests/server/test_kept_figures.py",
    "tests/server/test_launches.py",
    "tests/server/test_listening.py",
    "tests/server/test_overview.py",
    "tests/server/test_partition.py",
    "tests/server/test_retention.py",
    "tests/server/test_sending.py",
    "tests/server/test_tokens.py",
    "tests/server/test_traces.py",
    "tests/system/agents",
    "tests/system/conformance",
    "tests/system/floods",
    "tests/system/regexes",
    "tests/system/upgrades",
    "tests/system/webhooks",
    "tests/testing",
    "tests/unit/http/test_transport.py",
    "tests/unit/store/test_drivers.py",
    "tests/unit/store/test_expanding.py",
    "tests/unit/store/test_migrations.py",
    "tests/unit/store/test_races.py",
    "tests/unit/store/test_retention.py",
    "tests/unit/store/test_upgrading.py",
)
"""What the session ``tests`` leaves to the session ``exhaustive``, whole: it starts many processes or waits."""


def install(session: nox.Session, *groups: str, options: Sequence[str] = ()) -> None:
    """The package with everything a user needs, and the named dependency groups. ``options``: those of pip."""
    session.install("-e", ".[all]", *nox.project.dependency_groups(PYPROJECT, *groups), *options)


@nox.session
def demo(session: nox.Session) -> None:
    """Every network through the whole workflow on the sandbox."""
    session.install("-e", ".[all]")
    session.run("adsunify", "demo", *session.posargs)


def run_suite(session: nox.Session, chosen: str, *arguments: str) -> None:
    """Run the tests whose markers match ``chosen``, on two cores. ``arguments``: paths and options of pytest."""
    # One file runs in one worker, and the files of a folder follow each other: their tests share servers.
    distributed = ("-n", "2", "--dist", "loadfile", "--no-loadscope-reorder")
    # The suite starts many short processes: each would compile every module again if none kept the bytecode.
    compiled = {"PYTHONDONTWRITEBYTECODE": ""}
    without = ("--ignore=tests/system/crash", "--ignore=tests/oracles", "--ignore=tests/typing")
    chosen_tests = ("-m", f"{chosen} and not specs", *(session.posargs or arguments))
    session.run("pytest", *distributed, *without, *chosen_tests, env=compiled)


@nox.session
def tests(session: nox.Session) -> None:
    """The test suite: SQLite files, a real PostgreSQL, real HTTP to the sandbox; a part of each long list."""
    install(session, "test")
    run_suite(session, "not exhaustive", *(f"--ignore={suite}" for suite in LONG_SUITES))


@nox.session
def exhaustive(session: nox.Session) -> None:
    """What ``tests`` leaves out: long suites, the rest of long lists, and the second engine of the longest tests."""
    install(session, "test", "receivers")
    run_suite(session, "exhaustive")
    if not session.posargs:
        run_suite(session, "not exhaustive", *LONG_SUITES)


@nox.session
def network(session: nox.Session) -> None:
    """Everything about one network: ``nox -s network -- CODE``; further arguments are pytest's."""
    codes = sorted(path.parent.name for path in Path("adsunify/networks").glob("*/__init__.py"))
    code, *arguments = session.posargs or [""]
    if code not in codes:
        similar = get_close_matches(code, codes, 1)
        hint = f"Did you mean {similar[0]}?" if similar else f"CODE is one of {', '.join(codes)}."
        session.error(f"Name one network: nox -s network -- CODE. {hint}")
    install(session, "test", "receivers", "types", "oracles")
    session.run("python", "-m", "adsunify.testing.contract", f"tests/networks/{code}")
    session.run("pytest", "-n", "2", "--network", code, "tests", "tests/system/crash", *arguments)


@nox.session
def lint(session: nox.Session) -> None:
    """ruff, and the floors: no upward import, no cycle."""
    install(session, "test", "lint")
    session.run("ruff", "format", "--check", ".")
    session.run("ruff", "check", ".")
    session.run("lint-imports")


@nox.session
def types(session: nox.Session) -> None:
    """mypy --strict over packages, benchmarks, examples and a client program; it finds broken adapters."""
    install(session, "test", "types")
    session.run("mypy")
    examples = ["examples/tests", *map(str, sorted(Path("examples").glob("*.py")))]
    session.run("mypy", "--exclude", "wrong_uses", "tests/typing", "tests/performance", *examples)
    session.run("mypy", "examples/adapter_package/src")
    session.run("pytest", "tests/typing")


@nox.session
def pyright(session: nox.Session) -> None:
    """pyright over the public client and a program that uses it, and the share of known types (needs npm)."""
    if shutil.which("npm") is None:
        session.error("npm is missing: pyright cannot be installed, so NOTHING was checked")
    install(session, "test", "pyright")
    session.run("pyright")
    session.run("python", "-m", "tests.typing")
    session.run("python", "-m", "tests.typing.completeness")


@nox.session
def oracles(session: nox.Session) -> None:
    """Payloads held against the networks' official SDKs and schemas (ADSUNIFY_SPECS names the folder of schemas)."""
    install(session, "test", "oracles")
    if not os.environ.get("ADSUNIFY_SPECS"):
        session.warn("ADSUNIFY_SPECS is not set: payloads are NOT held against the official schemas in this run.")
    session.run("pytest", "tests/oracles", *session.posargs)
    if not session.posargs:
        session.run("pytest", "tests/networks", "tests/sandbox", "-m", "specs")


@nox.session
def crash(session: nox.Session) -> None:
    """Processes killed at every persistence point, races, cuts, and hostile answers; SQLite and PostgreSQL."""
    install(session, "test")
    # most of it is waiting, for leases to pass and for answers that do not come: more workers than cores
    distributed = ("-n", "4", "--dist", "worksteal")
    session.run("pytest", "tests/system/crash", *distributed, "-o", "timeout=900", *session.posargs)


@nox.session
def webhooks(session: nox.Session) -> None:
    """1,000,000 changed deliveries; 4,000 events, their workers killed at every point; slow receivers; both engines."""
    install(session, "test")
    session.run("python", "-m", "tests.system.webhooks", *session.posargs)


@nox.session
def chaos(session: nox.Session) -> None:
    """Servers, workers and PostgreSQL killed under load, 30 minutes (``-- --minutes N``): nothing lost or doubled."""
    install(session, "test")
    session.run("python", "-m", "tests.system.chaos", *session.posargs)


@nox.session
def rotation(session: nox.Session) -> None:
    """The master key rotated over 10,000 secrets under 100 requests a second, killed on the way; both engines."""
    install(session, "test")
    session.run("python", "-m", "tests.unit.store.rotation", *session.posargs)


@nox.session
def floods(session: nox.Session) -> None:
    """10,000 bad tokens, 2 MB bodies, 10,000 registrations, 50 batches of 50: memory flat, good requests answered."""
    install(session, "test")
    session.run("pytest", "tests/system/floods", "-s", *session.posargs, env={"ADSUNIFY_FLOODS": "long"})


@nox.session
def regexes(session: nox.Session) -> None:
    """Every regular expression of the product on hostile texts that grow: none may be quadratic."""
    install(session, "test")
    session.run("python", "-m", "tests.system.regexes", *session.posargs)


@nox.session
def simulation(session: nox.Session) -> None:
    """1,000,000 seeded executions of the sans-I/O executor; a failing seed is printed and reproduces."""
    install(session)
    session.run("python", "-m", "tests.system.simulation", *(session.posargs or ["--executes", "1000000"]))


OLDER_COMMIT = "649b0ccf"
"""The last commit whose schema is that of version 0.1.0, migration 0019."""


@nox.session
def upgrades(session: nox.Session) -> None:
    """The last release and this version on one database under load: no failed request, no double write."""
    install(session, "test")
    folder = Path(session.virtualenv.location).resolve() / "older"  # not create_tmp(): it moves TMPDIR to a long path
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    kind = session.run("git", "cat-file", "-t", OLDER_COMMIT, external=True, silent=True, success_codes=[0, 128])
    if str(kind).strip() != "commit":
        session.error(
            f"The history has no commit {OLDER_COMMIT}, so the older version cannot be built and NOTHING was tried. "
            "A shallow clone gets it with `git fetch --unshallow`."
        )
    session.run("git", "archive", "--output", str(folder / "older.tar"), OLDER_COMMIT, external=True)
    session.run("python", "-m", "tarfile", "--extract", str(folder / "older.tar"), str(folder / "source"))
    session.run("python", "-m", "venv", str(folder / "environment"))
    python = str(folder / "environment" / "bin" / "python")
    session.run(python, "-m", "pip", "install", "--quiet", f"{folder / 'source'}[all]", external=True)
    session.run("python", "-m", "tests.system.upgrades", "--older", python, *session.posargs)


@nox.session
def launches(session: nox.Session) -> None:
    """600 cells on every network, and 200 processes killed while they prepare and execute launches; their time."""
    install(session, "test")
    scale = {"ADSUNIFY_LAUNCHES": "long"}
    paths = ("tests/system/launches", "tests/pages/test_launches.py")  # with the size of the pages of 600 cells
    session.run("pytest", *paths, "-s", "-o", "timeout=3600", *session.posargs, env=scale)


@nox.session
def outcomes(session: nox.Session) -> None:
    """Every step of every example brief loses its answer and is inspected; 10,000 changes are undone; both engines."""
    install(session, "test")
    scale = {"ADSUNIFY_OUTCOMES": "long"}
    session.run("pytest", "tests/system/outcomes", "-s", "-o", "timeout=1800", *session.posargs, env=scale)


@nox.session
def proving(session: nox.Session) -> None:
    """A proof of every network against its simulation, honest and with 25 seeded lies each; a part of `tests` too."""
    install(session, "test")
    scale = {"ADSUNIFY_PROVING": "long"}
    distributed = ("-n", "2", "--dist", "worksteal")
    session.run("pytest", "tests/system/proving", *distributed, "-o", "timeout=3600", *session.posargs, env=scale)


@nox.session
def guardrails(session: nox.Session) -> None:
    """10,000 executes race for windows, killed on the way; 1,000,000 simulated steps; hostile amounts; both engines."""
    install(session, "test")
    scale = {"ADSUNIFY_GUARDRAILS": "long"}
    session.run("pytest", "tests/guardrails", "-n", "2", "-o", "timeout=3600", *session.posargs, env=scale)


@nox.session
def insights(session: nox.Session) -> None:
    """10,000,000 report rows: memory, and speed beside json.loads; sums, 1,000 restatements, null; both engines."""
    install(session, "test")
    session.run("python", "-m", "tests.system.insights", *session.posargs)
    scale = {"ADSUNIFY_INSIGHTS": "long"}
    session.run("pytest", "tests/system/insights", "-s", "-o", "timeout=3600", env=scale)


@nox.session
def conformance(session: nox.Session) -> None:
    """The REST API before suites by others: Schemathesis, openapi-spec-validator, and Spectral and Redocly by npm."""
    if shutil.which("npm") is None:
        session.error("npm is missing: Spectral and Redocly cannot be had, so NOTHING was tried")
    install(session, "test", "conformance")
    tools = Path(session.create_tmp()).resolve()
    shutil.copy("tests/system/conformance/package.json", tools)
    quiet = ("--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error")
    session.run("npm", "install", "--prefix", str(tools), *quiet, external=True)
    command = ("python", "-m", "tests.system.conformance", "--tools", str(tools))
    if session.posargs:
        session.run(*command, *session.posargs)
        return
    session.run(*command, "--examples", "1000")
    session.run(*command, "--examples", "200", "--engine", "postgresql")


@nox.session
def mcp(session: nox.Session) -> None:
    """The agents' door before the official conformance suite, stable and newest, and the MCP Inspector (needs npm)."""
    if shutil.which("npm") is None:
        session.error("npm is missing: the official suite and the Inspector cannot be had, so NOTHING was tried")
    install(session, "test")
    tools = Path(session.create_tmp()).resolve()
    shutil.copy("tests/system/conformance/mcp/package.json", tools)
    quiet = ("--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error")
    session.run("npm", "install", "--prefix", str(tools), *quiet, external=True)
    session.run("python", "-m", "tests.system.conformance.mcp", str(tools))


@nox.session
@nox.parametrize("client", ["1.30.0", "2.3.0"])
def mcp_clients(session: nox.Session, client: str) -> None:
    """The whole flow over OAuth by the official Python clients, 1.x at each protocol version, and 2.x."""
    install(session, "test")
    session.install(f"mcp=={client}")
    session.run("python", "-m", "tests.system.conformance.mcp.clients")


@nox.session
def agents(session: nox.Session) -> None:
    """Careless agents, 10,000 calls on each engine, and 1,000 redemptions of a code; the seed is printed."""
    install(session, "test")
    scale = {"ADSUNIFY_TEST_CALLS": "10000", "ADSUNIFY_TEST_REDEMPTIONS": "1000"}
    session.run("pytest", "tests/system/agents", "-s", "-o", "timeout=900", *session.posargs, env=scale)


@nox.session
def bench(session: nox.Session) -> None:
    """Ratios against peers measured in the same run."""
    install(session, "test", "bench")
    session.run("python", "-m", "tests.performance", *session.posargs)


@nox.session
def tables(session: nox.Session) -> None:
    """Write the generated parts of the documents, the missing example briefs, and the records of new networks."""
    install(session, "test")
    session.run("python", "-m", "tests.docs.tables")
    session.run("python", "-m", "tests.golden", "--new-networks")


@nox.session
def sunsets(session: nox.Session) -> None:
    """Fail if a network ends the used version of its API within 90 days."""
    session.install("-e", ".")
    session.run("python", "-m", "tests.docs.sunsets")


@nox.session
def client(session: nox.Session) -> None:
    """Write the methods of the Python clients from the contract table."""
    install(session, "test", "lint")
    session.run("python", "-m", "tests.client.generate")


@nox.session
def docs(session: nox.Session) -> None:
    """The documentation, and words and methods looked up in its search; a warning is an error."""
    install(session, "docs")
    session.run("sphinx-build", "-W", "-b", "html", "docs", "docs/_build/html")
    session.run("python", "-m", "tests.docs.search", "docs/_build/html")


@nox.session
def build(session: nox.Session) -> None:
    """Wheel and sdist; the wheel alone in an empty environment, then with all extras and the example of an adapter."""
    session.install("build")
    out = Path(session.create_tmp()).resolve()
    session.run("python", "-m", "build", "--outdir", str(out))
    wheel = max(out.glob("*.whl"), key=lambda path: path.stat().st_mtime)
    script, example = Path("tests/client/alone.py").resolve(), Path("examples/adapter_package").resolve()
    session.chdir(out)
    session.run("python", "-m", "venv", "--clear", "alone")
    session.run("alone/bin/pip", "install", "--quiet", str(wheel), external=True)
    session.run("alone/bin/python", "-I", str(script), external=True)  # -I: no PYTHONPATH, so the wheel is imported
    session.install(f"{wheel}[all]", str(example))
    session.run("adsunify", "--version")
    session.run("adsunify", "networks", "northway", env={"ADSUNIFY_ADAPTERS": "northway"}, silent=True)


@nox.session(python="3.11")
def floors(session: nox.Session) -> None:
    """The tests of what uses a dependency, with the lowest versions that pyproject.toml allows."""
    project = PYPROJECT["project"]
    texts = [*project["dependencies"], *(text for texts in project["optional-dependencies"].values() for text in texts)]
    lowest = [
        f"{requirement.name}=={specifier.version}"
        for requirement in map(Requirement, texts)
        for specifier in requirement.specifier
        if specifier.operator == ">="
    ]
    # Not create_tmp(): it moves TMPDIR to a long path, and a Unix socket of PostgreSQL has at most 107 bytes.
    constraints = Path(session.virtualenv.location).resolve() / "floors.txt"
    constraints.write_text("\n".join(lowest))
    install(session, "test", "receivers", options=("-c", str(constraints)))
    run_suite(session, "not exhaustive", *TESTS_OF_DEPENDENCIES)


@nox.session
def lock(session: nox.Session) -> None:
    """Renew the lock files of the image: the newest versions that pyproject.toml allows, with their hashes."""
    session.install("uv")
    compile_lock = ("uv", "pip", "compile", "--quiet", "--upgrade", "--universal", "--python-version", "3.11")
    output_options = ("--generate-hashes", "--no-annotate", "--custom-compile-command", "nox -s lock", "--output-file")
    session.run(
        *compile_lock,
        "pyproject.toml",
        "--extra",
        "all",
        "--extra",
        "otel",
        *output_options,
        "deploy/image/requirements.txt",
    )
    backend = Path(session.create_tmp()) / "build-requirements.in"
    backend.write_text("\n".join(PYPROJECT["build-system"]["requires"]))
    session.run(*compile_lock, str(backend), *output_options, "deploy/image/build-requirements.txt")


@nox.session
def image(session: nox.Session) -> None:
    """The image's installation, and its migration, servers, worker and proxy with TLS; its files before linters."""
    install(session, "test", "image")
    session.run("python", "-m", "tests.deploy.image")
