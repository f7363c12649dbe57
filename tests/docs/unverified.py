"""Lists the native facts that no source confirms, from the comments ``# unverified: ...`` of the adapters."""

from __future__ import annotations

from adsunify.proving.unverified import list_facts
from adsunify.review.capabilities import render_markdown_table

HEADING = "## Unverified facts"
TEXT = """\
No source of the network confirms these facts, which the adapters assume. If a network behaves in another way than
adsunify expects, look here first."""


def render_unverified_facts() -> str:
    """Render the section of ``docs/networks.md``."""
    table = "\n".join(render_markdown_table(("network", "module", "assumption"), list(list_facts())))
    return f"\n{HEADING}\n\n{TEXT}\n\n{table}\n"
