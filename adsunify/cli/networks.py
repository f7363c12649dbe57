"""``adsunify networks``: the capabilities of the networks."""

from __future__ import annotations

from collections.abc import Iterator

import click

from adsunify.errors import invalid_input
from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.review.capabilities import MatrixTable, build_sections, render_capability_matrix
from adsunify.service.networks import network_detail_to_json
from adsunify.values.exact_json import dumps

from . import output
from .options import csv_option, json_option
from .suggestions import Choice


@click.command()
@click.argument("network", required=False, type=Choice(list(ADAPTER_PACKAGES)))
@click.option("--markdown", is_flag=True, help="Print the support matrix as in the documentation.")
@csv_option
@json_option
def networks(network: str | None, markdown: bool, as_json: bool) -> None:
    """Show what the networks can do: the support matrix, or as JSON everything that their tables declare."""
    if as_json:
        chosen = [network] if network is not None else list(ADAPTER_PACKAGES)
        click.echo(dumps({"networks": [network_detail_to_json(get_adapter(code).network) for code in chosen]}))
    elif markdown:
        click.echo(render_capability_matrix(), nl=False)
    elif network is None:
        output.print_result(None, as_json, _matrix_parts())
    elif output.is_csv_wanted():
        raise invalid_input("--csv", "not_allowed", "is for the support matrix; leave NETWORK out.")
    else:
        output.make_console().print_json(dumps(network_detail_to_json(get_adapter(network).network)))


def _matrix_parts() -> Iterator[str | output.TextTable]:
    """The support matrix for people."""
    for heading, parts in build_sections():
        yield f"{heading.upper()}\n"
        for part in parts:
            if isinstance(part, MatrixTable):
                columns = [output.Column(head, prose=True) for head in part.headings]
                yield output.make_table(columns, part.rows)
            else:
                yield part.replace("\n", " ")
            yield ""
