"""Files that commands read, and the briefs in them."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from adsunify.brief import CampaignBrief, read_brief
from adsunify.errors import InvalidInput

BRIEF = "BRIEF"
brief_argument = click.argument("brief", type=click.Path(dir_okay=False, path_type=Path, exists=True, allow_dash=True))


def read_file(path: Path) -> bytes:
    """A file's bytes; ``-`` is standard input."""
    return sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()


def brief_in(path: Path) -> CampaignBrief:
    """The brief in a file; what is wrong with the whole of it is told of the file."""
    try:
        return read_brief(read_file(path))
    except InvalidInput as problem:
        raise InvalidInput([issue._replace(path=issue.path or BRIEF) for issue in problem.issues]) from None
