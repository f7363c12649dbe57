"""The records of a network's tables about its reports: metrics, levels, and how far back they reach."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from attrs import frozen

from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import Columns

IdCell = str | Callable[[Mapping[str, Json]], str | None]
"""Where a row has the id of an entity: a pointer, or a function that returns the id as the hierarchy has it."""


@frozen(eq=False)
class Metric:
    """The source of one normalized figure.

    Attributes:
        native: the pointer to the value in a row of a report.
        unit: ``count``; ``whole`` (a count; a fraction counts as missing); ``decimal``; ``major``; ``micros``
            (1,000,000 per major unit); ``cents`` (100 per major unit); ``minor`` (the account's :class:`MoneyUnit`
            gives the number per major unit).
        read: returns the values of several rows, if a pointer alone does not lead to them.
        absent_value: the value if a row lacks the field: None, or 0 if the network documents that.
        absent_texts: texts which mean that the value is missing.
    """

    name: Literal["impressions", "clicks", "spend", "conversions", "conversionValue", "videoViews", "reach"]
    native: str
    unit: Literal["count", "whole", "decimal", "micros", "cents", "minor", "major"]
    read: Callable[[Columns], list[Json]] | None = None
    absent_value: int | None = None
    absent_texts: tuple[str, ...] = ()
    note: str = ""


@frozen(eq=False)
class ReportLevel:
    """A level whose daily figures the network reports.

    Attributes:
        kind: the level of the hierarchy, such as ``campaign``.
        native: the value that names the level in a request.
        id: where a row has the entity's id.
        name: the pointer to the entity's name; None if the report does not have it.
        parent_id: where a row has the id of the entity above it; None if the report does not have it.
        adds_up: the figures of all entities of a day add up to the figures of the account, except for ``reach``.
        metrics: the metrics of this level; None if the level has the metrics of the account.
        history: how far back the network reports this level; None if as far back as the account.
        note: a sentence for people about the figures of this level.
        source: the documentation of these facts.
    """

    kind: str
    native: str
    id: IdCell
    name: str | None = None
    parent_id: IdCell | None = None
    adds_up: bool = True
    metrics: tuple[Metric, ...] | None = None
    history: History | None = None
    note: str = ""
    source: str = ""


@frozen
class History:
    """How far back a network reports by days: a number of days or months before today.

    ``timezone`` is the time zone of "today" if it is not the account's.
    """

    days: int = 0
    months: int = 0
    timezone: str | None = None
