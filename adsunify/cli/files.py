"""Files that commands read: briefs, and documents in JSON or YAML."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from adsunify.errors import InvalidInput, invalid_input
from adsunify.models.brief import CampaignBrief, read_brief
from adsunify.values.exact_json import Json, loads

from .options import BRIEF, FILE

CAMPAIGN = "campaign"
"""The member of a request that has a brief."""


def read_file(path: Path) -> bytes:
    """Read a file; ``-`` is standard input."""
    return sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()


def load_document(path: Path) -> dict[str, Json]:
    """Read the object in a file of JSON or YAML. Raises InvalidInput; issues of the whole file have the path ``FILE``.

    Text that begins with a brace is JSON. In YAML, amounts may be written without quotes.
    """
    content = read_file(path)
    try:
        text = content.decode("utf-8-sig")
        is_json = text.lstrip().startswith("{")
        if is_json:
            document = loads(text)
        else:
            from .yaml_text import parse_yaml  # imported late: most commands read no YAML

            document = parse_yaml(text)
    except UnicodeDecodeError:
        raise invalid_input(FILE, "malformed", "must be UTF-8 text.") from None
    except ValueError as reason:
        raise invalid_input(FILE, "malformed_json", f"must be valid JSON: {reason}.") from None
    if not isinstance(document, dict):
        raise invalid_input(FILE, "wrong_type", "must be an object in JSON or YAML.")
    return document


def load_brief(path: Path) -> CampaignBrief:
    """Read the brief in a file. Raises InvalidInput; issues of the whole brief have the path ``BRIEF``."""
    try:
        return read_brief(read_file(path))
    except InvalidInput as problem:
        raise InvalidInput([issue._replace(path=issue.path or BRIEF) for issue in problem.issues]) from None


@contextmanager
def report_brief_errors() -> Iterator[None]:
    """Give issues of a request with a brief their paths in the brief's file."""
    try:
        yield
    except InvalidInput as problem:
        raise InvalidInput(
            [
                issue._replace(path=BRIEF if issue.path == CAMPAIGN else issue.path.removeprefix(f"{CAMPAIGN}."))
                for issue in problem.issues
            ]
        ) from None
