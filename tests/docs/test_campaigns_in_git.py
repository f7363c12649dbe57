"""The example file and the hosted workflow of the page about campaigns in git: what its steps do at a server."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from adsunify.models.yaml_text import parse_yaml
from tests.cli.running import first_line, process

EXAMPLES = Path(__file__).parents[2] / "examples"
WORKFLOW: Any = parse_yaml((EXAMPLES / "campaigns_diff.yml").read_text())


def run_step(job: str, name: str, folder: Path, environment: Mapping[str, str]) -> str:
    """Run a step as the host does: its script in bash, which stops at a failure. Returns the outputs of the step."""
    (script,) = [step["run"] for step in WORKFLOW["jobs"][job]["steps"] if step.get("name") == name]
    outputs = folder / "outputs"
    outputs.write_text("")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ran = subprocess.run(
        ["bash", "-e", "-c", script],
        cwd=folder,
        env={**os.environ, **environment, "PATH": path, "GITHUB_OUTPUT": str(outputs)},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert ran.returncode == 0, ran.stderr
    return outputs.read_text()


def test_the_workflow_comments_the_difference_and_applies_it(tmp_path: Path) -> None:
    file, comment = tmp_path / "campaigns.yaml", tmp_path / "comment.md"
    shutil.copyfile(EXAMPLES / "campaigns.yaml", file)
    with process("serve", "--sandbox", "--port", "0", "--json", folder=tmp_path, log=tmp_path / "log") as server:
        ready = first_line(server)
        where = {"ADSUNIFY_SERVER": ready["baseUrl"], "ADSUNIFY_TOKEN": ready["apiKey"]}

        def compare() -> tuple[str, str]:
            outputs = run_step("diff", "Compare the file with the networks", tmp_path, where)
            return outputs, comment.read_text()

        outputs, text = compare()
        assert outputs == "" and "+ create  Spring / meta-us on meta\n" in text
        assert text.startswith("```\n") and text.endswith("\n```\n")
        run_step("apply", "Apply the file", tmp_path, where)
        assert "Nothing differs." in compare()[1]
        file.write_text(file.read_text().replace("goal: traffic", "goal: trafic"))
        outputs, text = compare()
        assert outputs == "refused=true\n" and "Did you mean traffic?" in text
