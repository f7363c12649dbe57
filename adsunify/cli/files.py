"""Files that commands read, and briefs in files."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from adsunify.errors import InvalidInput
from adsunify.models.brief import CampaignBrief, read_brief

BRIEF, CAMPAIGN = "BRIEF", "campaign"
brief_argument = click.argument("brief", type=click.Path(dir_okay=False, path_type=Path, exists=True, allow_dash=True))


def read_file(path: Path) -> bytes:
    """Read a file; ``-`` is standard input."""
    return sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()


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
