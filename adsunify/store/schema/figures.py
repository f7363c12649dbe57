"""The tables of stored daily figures."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Boolean, Column, Index, Integer, PrimaryKeyConstraint, Table, Text

from adsunify.store.schema.columns import CountText, ExactJson, make_reference_column, make_time_column, metadata


def _figure_columns() -> tuple[Column[Any], ...]:
    """Make the columns of the entity and the figures of a row. NULL: the network does not report the figure.

    Names are JSON, because they may have characters that a database does not store as text.
    """
    return (
        Column("entity_name", ExactJson),
        Column("parent_id", ExactJson),
        Column("impressions", CountText),
        Column("clicks", CountText),
        Column("spend", Text),
        Column("conversions", Text),
        Column("conversion_value", Text),
        Column("video_views", CountText),
        Column("reach", CountText),
    )


figure_reads = Table(
    "figure_reads",
    metadata,
    make_reference_column("account_id", "accounts"),
    Column("level", Text, nullable=False),
    Column("number", Integer, nullable=False),
    Column("start_date", Text, nullable=False),
    Column("end_date", Text, nullable=False),
    Column("provisional_from", Text),
    Column("missing", ExactJson, nullable=False),
    Column("notes", ExactJson, nullable=False),
    make_time_column("started_at"),
    make_time_column("read_at"),
    make_time_column("known_from"),
    PrimaryKeyConstraint("account_id", "level", "number"),
)

figures = Table(
    "figures",
    metadata,
    make_reference_column("account_id", "accounts"),
    Column("level", Text, nullable=False),
    Column("date", Text, nullable=False),
    Column("entity_id", Text, nullable=False),
    Column("number", Integer, nullable=False),
    Column("present", Boolean, nullable=False),
    *_figure_columns(),
    PrimaryKeyConstraint("account_id", "level", "date", "entity_id", "number"),
)

staged_figures = Table(
    "staged_figures",
    metadata,
    Column("read_id", Text, nullable=False),
    Column("date", Text, nullable=False),
    Column("entity_id", Text, nullable=False),
    make_time_column("started_at"),
    *_figure_columns(),
    PrimaryKeyConstraint("read_id", "date", "entity_id"),
    Index(None, "started_at"),
)
