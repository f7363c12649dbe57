"""``adsunify networks``: what every network can do."""

from __future__ import annotations

import click
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import Markdown, TableElement
from rich.table import Table

from adsunify.matrix import matrix
from adsunify.networks import ADAPTERS, adapter
from adsunify.service.networks import detail
from adsunify.wire import dumps

from . import showing
from .options import json_option


class Whole(TableElement):
    """A table whose cells are folded, never cut."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for made in super().__rich_console__(console, options):
            if isinstance(made, Table):
                for column in made.columns:
                    column.overflow = "fold"
            yield made


class Pages(Markdown):
    """Markdown with such tables."""

    elements = Markdown.elements | {"table_open": Whole}


@click.command()
@click.argument("network", required=False, type=click.Choice(list(ADAPTERS)))
@click.option("--markdown", is_flag=True, help="The support matrix as the documentation has it.")
@json_option
def networks(network: str | None, markdown: bool, as_json: bool) -> None:
    """What the networks can do: the support matrix, or as JSON everything that their tables declare."""
    if as_json:
        chosen = [network] if network is not None else list(ADAPTERS)
        click.echo(dumps({"networks": [detail(adapter(code).network) for code in chosen]}))
    elif markdown or network is None:
        text = matrix()
        click.echo(text, nl=False) if markdown else showing.console().print(Pages(text))
    else:
        showing.console().print_json(dumps(detail(adapter(network).network)))
