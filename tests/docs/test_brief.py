"""The example on the page on the brief is a brief; `test_tables` holds its table."""

from __future__ import annotations

import json
import re
from pathlib import Path

from adsunify.models.brief import read_brief

PAGE = (Path(__file__).parents[2] / "docs" / "brief.md").read_text()


def test_the_example_is_a_brief() -> None:
    (example,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    assert read_brief(example).name == json.loads(example)["name"]
