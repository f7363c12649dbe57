"""Cells of CSV files that spreadsheets open: a text is never a formula."""

from __future__ import annotations

import re

_begins_a_formula = re.compile(r"[=@\t\r]|[+-].", re.DOTALL).match
_is_number = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?( %)?", re.ASCII).fullmatch


def to_csv_cell(cell: object) -> object:
    """Return a cell of CSV. A text that a spreadsheet would run as a formula gets an apostrophe before it.

    Such a text begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return, and is neither a number nor a lone
    sign. Names of campaigns come from the networks, where anybody with access to an account can write them.
    """
    if isinstance(cell, str) and _begins_a_formula(cell) and not _is_number(cell):
        return f"'{cell}"
    return cell
