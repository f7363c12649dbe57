"""The address of a database. Errors never repeat the address, because it may contain a password."""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit

from adsunify.errors import InvalidInput, invalid_input


def split_database_url(url: str) -> SplitResult:
    """Split the address of a database into its parts. Raises InvalidInput if it is malformed."""
    try:
        return urlsplit(url)
    except ValueError:
        raise make_malformed_url_error() from None


def make_malformed_url_error() -> InvalidInput:
    """Make the error of an address of PostgreSQL that cannot be read."""
    return invalid_input(
        "database",
        "malformed",
        "The URL of the database cannot be read. It must be postgresql://user:password@host:port/name, and special "
        "characters of the user name and the password must be percent-encoded (%2F for /, %3F for ?, %23 for #, %40 "
        "for @).",
    )
