"""Lists the native facts that no source confirms, from the comments ``# unverified: ...`` of the adapters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from io import StringIO
from itertools import takewhile
from pathlib import Path
from tokenize import COMMENT, generate_tokens

from adsunify.networks.registry import find_built_in_packages
from adsunify.review.capabilities import render_markdown_table

MARK = "# unverified: "
HEADING = "## Unverified facts"
TEXT = """\
No source of the network confirms these facts, which the adapters assume. If a network behaves in another way than
adsunify expects, look here first."""
_match_constant = re.compile(r"_?[A-Z][A-Z0-9_, ]* = .+").fullmatch


def render_unverified_facts() -> str:
    """Render the section of ``docs/networks.md``."""
    table = "\n".join(render_markdown_table(("network", "module", "assumption"), list(list_facts())))
    return f"\n{HEADING}\n\n{TEXT}\n\n{table}\n"


def list_facts() -> Iterator[tuple[str, str, str]]:
    """Yield the network, the module and the text of each unverified fact."""
    for code, package in find_built_in_packages().items():
        (folder,) = import_module(package).__path__
        for path in sorted(Path(folder).glob("*.py")):
            for fact in parse_facts(path.read_text(), f"{code}/{path.name}"):
                yield code, path.stem, fact


def parse_facts(source: str, name: str) -> Iterator[str]:
    """Yield the unverified facts of the module ``name``. Raises ValueError for a comment that marks one otherwise."""
    lines = source.splitlines()
    for token in generate_tokens(StringIO(source).readline):
        if token.type != COMMENT or "unverified" not in token.string.lower():
            continue
        if not token.string.startswith(MARK):
            raise ValueError(f"{name}, line {token.start[0]}: a comment about an unverified fact begins with {MARK!r}")
        number, column = token.start
        code, fact = lines[number - 1][:column].strip(), token.string.removeprefix(MARK)
        if not code:
            more = takewhile(lambda line: line.lstrip().startswith("#"), lines[number:])
            fact = " ".join([fact, *(line.strip(" #") for line in more)])
        yield f"`{code}`: {fact}" if _match_constant(code) else fact.removesuffix(".")
