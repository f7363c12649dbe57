"""Catalogs: lists of native objects that a brief or an edit can name, such as pages, places or audiences."""

from __future__ import annotations

from attrs import frozen

from adsunify.adapter.account import Account
from adsunify.adapter.flows import fetch_response
from adsunify.adapter.hierarchy import ListQuery
from adsunify.adapter.network import Catalog, Network, read_cell
from adsunify.errors import ProviderUnreadable, invalid_input
from adsunify.http.messages import Flow, Response
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_objects, parse_id


@frozen
class CatalogRow:
    """One row of a catalog. ``native`` is the native object."""

    id: str
    name: str
    native: Json

    def to_json(self) -> dict[str, Json]:
        """Return the row as a response shows it."""
        return {"id": self.id, "name": self.name, "native": self.native}


@frozen
class CatalogPage:
    """One page of a catalog. ``cursor`` is the network's own; None at the end."""

    rows: tuple[CatalogRow, ...]
    cursor: str | None = None


# -- catalogs -----------------------------------------------------------------------------------------------------


def fetch_catalog_page(network: Network, account: Account, resource: str, query: ListQuery) -> Flow[CatalogPage]:
    """Fetch one page of a declared catalog.

    Args:
        network: the tables of the network.
        account: the ad account.
        resource: ``name`` or ``name:suffix``; ``_`` in the suffix means a space.
        query: the page. ``search`` replaces a missing suffix. For catalogs without suffix it filters the rows here.

    Raises:
        InvalidInput: ``catalog_not_supported`` or ``catalog_suffix``.
    """
    name, _, suffix = resource.partition(":")
    declared = next((catalog for catalog in network.catalogs if catalog.resource == name), None)
    if declared is None:
        names = ", ".join(catalog.resource for catalog in network.catalogs)
        raise invalid_input(
            "resource", "catalog_not_supported", f"{network.title} has no catalog {name}; it has {names}."
        )
    suffix_text, search = suffix.replace("_", " "), query.search or ""
    if declared.suffix != "none" and not suffix_text:
        suffix_text, search = search, ""
    if (declared.suffix == "required" and not suffix_text) or (declared.suffix == "none" and suffix):
        form = f"{name}:<text>" if declared.suffix == "required" else name
        raise invalid_input("resource", "catalog_suffix", f"Request this catalog as {form}.")
    request = declared.request(account, suffix_text, query.cursor, query.limit)
    response = yield from fetch_response(network, request)
    following = declared.next(response) if declared.next is not None else None
    if declared.next_after is not None:
        following = declared.next_after(request, response)
    rows = parse_catalog_rows(declared, response)
    return CatalogPage(tuple(row for row in rows if search.casefold() in row.name.casefold()), following)


def parse_catalog_rows(declared: Catalog, response: Response) -> tuple[CatalogRow, ...]:
    """Parse the rows of a catalog's response. Raises ProviderUnreadable for a row without an id."""
    rows: list[CatalogRow] = []
    native_rows = (
        declared.items(response) if callable(declared.items) else get_objects(response.body, declared.items, "catalog")
    )
    for native in native_rows:
        row_id = parse_id(read_cell(native, declared.id))
        if row_id is None:
            raise ProviderUnreadable(f"A row of the catalog {declared.resource} has no id.")
        name = read_cell(native, declared.name)
        rows.append(CatalogRow(row_id, name if isinstance(name, str) else row_id, native))
    return tuple(rows)
