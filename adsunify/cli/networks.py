"""``adsunify networks``: what every network can do."""

from __future__ import annotations

from collections.abc import Iterator

import click

from adsunify.networks import ADAPTERS, adapter
from adsunify.review.capabilities import Grid, matrix, sections
from adsunify.service.networks import detail
from adsunify.values.exact_json import dumps

from . import showing
from .options import json_option


@click.command()
@click.argument("network", required=False, type=click.Choice(list(ADAPTERS)))
@click.option("--markdown", is_flag=True, help="The support matrix as the documentation has it.")
@json_option
def networks(network: str | None, markdown: bool, as_json: bool) -> None:
    """What the networks can do: the support matrix, or as JSON everything that their tables declare."""
    if as_json:
        chosen = [network] if network is not None else list(ADAPTERS)
        click.echo(dumps({"networks": [detail(adapter(code).network) for code in chosen]}))
    elif markdown:
        click.echo(matrix(), nl=False)
    elif network is None:
        showing.show(showing.console(), _shown())
    else:
        showing.console().print_json(dumps(detail(adapter(network).network)))


def _shown() -> Iterator[str | showing.Rows]:
    """The support matrix for people."""
    for heading, under in sections():
        yield f"{heading.upper()}\n"
        for one in under:
            if isinstance(one, Grid):
                columns = [showing.Column(head, prose=True) for head in one.heads]
                yield showing.table(columns, one.rows)
            else:
                yield one.replace("\n", " ")
            yield ""
