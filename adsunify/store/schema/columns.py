"""The shared parts of all tables: the metadata, the types of columns, and functions that make columns."""

from __future__ import annotations

import zlib
from typing import Any

from sqlalchemy import BigInteger, Column, Dialect, ForeignKey, Integer, LargeBinary, MetaData, Text, TypeDecorator

from adsunify.actor import CredentialScope
from adsunify.values.exact_json import Json, dumps, loads

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)
WHERE = "where"
"""The key of an index's condition in ``info``.

An index takes a condition only as an argument of a dialect, which would import both dialects.
"""

COMPRESSION_LEVEL = 1
"""The fastest level. Slower levels save another 5 % at most."""


class ExactJson(TypeDecorator[Json]):
    """JSON as text with exact decimals. None is NULL."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Json, dialect: Dialect) -> str | None:
        """Serialize a value."""
        return None if value is None else dumps(value)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> Json:
        """Parse a stored value."""
        return None if value is None else loads(value)


class ScopeJson(ExactJson):
    """The scope of a credential as :class:`ExactJson`. NULL is everything; :func:`.scopes.is_in_scope` reads it."""

    cache_ok = True

    def process_bind_param(self, value: CredentialScope | None, dialect: Dialect) -> str | None:
        """Serialize a scope."""
        return super().process_bind_param(None if value is None else value.to_json(), dialect)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> CredentialScope | None:
        """Parse a stored scope."""
        return CredentialScope.from_json(super().process_result_value(value, dialect))


class CompressedText(TypeDecorator[str]):
    """Long text, compressed with zlib (RFC 1950). A plan shrinks to a third in 15 microseconds."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> bytes | None:
        """Compress a text."""
        return None if value is None else zlib.compress(value.encode("utf-8"), COMPRESSION_LEVEL)

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> str | None:
        """Decompress a stored text."""
        return None if value is None else decompress_text(value)


class MicroUnits(TypeDecorator[int]):
    """An amount of money in micro-units. The type distinguishes amounts from times, which are plain BIGINT."""

    impl = BigInteger
    cache_ok = True


class CountText(TypeDecorator[int]):
    """A count as text.

    A network may report a count that exceeds 64 bits. The type also distinguishes counts from times.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: int | None, dialect: Dialect) -> str | None:
        """Write a count."""
        return None if value is None else str(value)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> int | None:
        """Parse a stored count."""
        return None if value is None else int(value)


def decompress_text(value: bytes) -> str:
    """Decompress a text.

    Raises:
        ValueError: the bytes are not a compressed text.
    """
    try:
        return zlib.decompress(value).decode("utf-8")
    except (zlib.error, TypeError) as damaged:
        raise ValueError("the stored bytes are not a packed text") from damaged


def make_id_column() -> Column[str]:
    """Make the column of a primary key that is an id."""
    return Column("id", Text, primary_key=True)


def make_reference_column(name: str, target: str, nullable: bool = False) -> Column[str]:
    """Make a column that refers to the id of a table."""
    return Column(name, Text, ForeignKey(f"{target}.id"), nullable=nullable)


def make_time_column(name: str, nullable: bool = False) -> Column[int]:
    """Make a column of milliseconds since 1970 (UTC)."""
    return Column(name, BigInteger, nullable=nullable)


def make_amount_column(name: str, nullable: bool = False) -> Column[int]:
    """Make a column of micro-units of a currency."""
    return Column(name, MicroUnits, nullable=nullable)


def make_hour_column() -> Column[int]:
    """Make a column of whole hours since 1970 (UTC)."""
    return Column("hour", Integer, nullable=False)
