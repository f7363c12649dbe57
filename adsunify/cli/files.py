"""Files that commands read, and the briefs in them."""

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
    """A file's bytes; ``-`` is standard input."""
    return sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()


def load_brief(path: Path) -> CampaignBrief:
    """The brief in a file; what is wrong with the whole of it is told of the file."""
    try:
        return read_brief(read_file(path))
    except InvalidInput as problem:
        raise InvalidInput([issue._replace(path=issue.path or BRIEF) for issue in problem.issues]) from None


@contextmanager
def report_brief_errors() -> Iterator[None]:
    """What a request is refused for is told as it stands in the file: a request holds the brief as a member."""
    try:
        yield
    except InvalidInput as problem:
        raise InvalidInput(
            [
                issue._replace(path=BRIEF if issue.path == CAMPAIGN else issue.path.removeprefix(f"{CAMPAIGN}."))
                for issue in problem.issues
            ]
        ) from None
