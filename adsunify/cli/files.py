"""Files that commands read: briefs, and documents in JSON or YAML."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from adsunify.errors import InvalidInput
from adsunify.models.brief import CampaignBrief, read_brief
from adsunify.models.documents import parse_document
from adsunify.values.exact_json import Json

from .options import BRIEF

CAMPAIGN = "campaign"
"""The member of a request that holds the brief."""


def read_file(path: Path) -> bytes:
    """Read a file; ``-`` is standard input."""
    return sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()


def load_document(path: Path) -> dict[str, Json]:
    """Read the object in a file of JSON or YAML. Raises InvalidInput with the path ``FILE`` for the whole file."""
    return parse_document(read_file(path))


def load_brief(path: Path) -> CampaignBrief:
    """Read the brief in a file. Raises InvalidInput; issues of the whole brief have the path ``BRIEF``."""
    try:
        return read_brief(read_file(path))
    except InvalidInput as problem:
        raise InvalidInput([issue._replace(path=issue.path or BRIEF) for issue in problem.issues]) from None


@contextmanager
def report_brief_errors() -> Iterator[None]:
    """Replace the paths of issues in the request by their paths in the brief's file."""
    try:
        yield
    except InvalidInput as problem:
        raise InvalidInput(
            [
                issue._replace(path=BRIEF if issue.path == CAMPAIGN else issue.path.removeprefix(f"{CAMPAIGN}."))
                for issue in problem.issues
            ]
        ) from None
