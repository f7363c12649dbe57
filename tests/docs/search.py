"""Looks words up in the search of the built documentation, as its pages do: ``python -m tests.docs.search FOLDER``.

Prints what the search does not find, and exits with 1. The nox session ``docs`` runs it: it needs Sphinx.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sphinx.search.en import SearchEnglish

from adsunify.contract import ENDPOINTS
from adsunify.networks.registry import ADAPTER_PACKAGES

PAGE_BY_WORD: Mapping[str, str] = {
    "idempotency": "concepts",
    "webhooks": "webhooks",
    "run_many": "bulk",
    "from_environment": "client",
    "outcome_unknown": "errors",
    "ADSUNIFY_DATABASE_URL": "deploying",
    "faults": "testing",
} | {code: f"networks/{code}" for code in ADAPTER_PACKAGES}
"""A word that somebody may look for, and a page that the search must find."""
PREFIX_BY_RESOURCE = {row.resource: f"adsunify.client.resources.{row.resource}." for row in ENDPOINTS}


def load_index(folder: Path) -> dict[str, Any]:
    """Read the index that the search page loads."""
    text = (folder / "searchindex.js").read_text()
    index: dict[str, Any] = json.loads(text.removeprefix("Search.setIndex(").rstrip(";\n").removesuffix(")"))
    return index


def find_pages(index: Mapping[str, Any], word: str) -> set[str]:
    """Return the names of the pages that have the word in their text or in a title."""
    stem = SearchEnglish({}).stem(word.lower())
    pages_by_index = [index[name].get(stem, []) for name in ("terms", "titleterms")]
    numbers = [number for pages in pages_by_index for number in (pages if isinstance(pages, list) else [pages])]
    return {index["docnames"][number] for number in numbers}


def list_methods(index: Mapping[str, Any]) -> set[tuple[str, str]]:
    """Return the namespaces and names of the clients' methods that the search finds by their names."""
    return {
        (resource, name)
        for resource, start in PREFIX_BY_RESOURCE.items()
        for prefix, members in index["objects"].items()
        if prefix.startswith(start)
        for *_, name in members
    }


def find_missing(index: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence for each word and method that the search does not find."""
    for word, page in PAGE_BY_WORD.items():
        if page not in (actual := find_pages(index, word)):
            yield f"{word} does not find {page}; it finds {', '.join(sorted(actual)) or 'no page'}"
    for resource, name in sorted({(row.resource, row.method_name) for row in ENDPOINTS} - list_methods(index)):
        yield f"{name} does not find client.{resource}.{name}"
    if pages := find_pages(index, "nosuchword"):
        yield f"nosuchword finds {', '.join(sorted(pages))}: this program reads the index wrongly"


if __name__ == "__main__":
    missing = list(find_missing(load_index(Path(sys.argv[1]))))
    print("\n".join(missing) or f"the search finds {len(PAGE_BY_WORD)} words and {len(ENDPOINTS)} methods")
    sys.exit(1 if missing else 0)
