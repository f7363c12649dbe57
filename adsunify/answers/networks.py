"""The capabilities of networks, as their tables declare them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from .shape import OPEN, Shape, Text


class Requirement(Shape):
    """One rule of a format for a member of the brief.

    If a member has several rows, the first one that matches the goal, the period and the account applies. ``reason``
    says to which accounts a row applies, or why values or the member are refused. A member without a row is refused.
    """

    path: str
    need: Annotated[Literal["required", "optional", "one", "any", "refused"] | str, OPEN]
    goals: list[str]
    periods: list[str]
    group: Text
    choices: list[str | bool]
    reason: Text
    accepts: Text


class Workflow(Shape):
    """One unified format of a network."""

    network: str
    format: str
    title: str
    goals: list[str]
    periods: list[str]
    inputs: list[Requirement]
    bid: dict[str, str]
    notes: list[str]


class Login(Shape):
    """How a network is connected."""

    kind: Annotated[Literal["oauth2", "oauth1", "credentials"] | str, OPEN]
    scopes: list[str]
    pkce: bool
    note: str


class AccountExtra(Shape):
    """A native property of an account that plans need."""

    name: str
    meaning: str
    choices: list[str]
    settable: bool


class Level(Shape):
    """One level of the native hierarchy: the meaning of its native states, and how a unified status is set."""

    kind: str
    native: str
    parent_kind: Text
    states: dict[str, str]
    settable: dict[str, str]
    filters: list[str]
    born: Text
    note: Text


class Setting(Shape):
    """One setting that can be edited."""

    level: str
    field: str
    unit: str
    choices: list[str]
    min: Text
    max: Text
    locked: Text
    note: Text


class CatalogKind(Shape):
    """One catalog. ``suffix``: its name is followed by ``:text``."""

    resource: str
    suffix: Annotated[Literal["none", "optional", "required"] | str, OPEN]
    note: Text


class Metric(Shape):
    """The native source of a normalized metric."""

    name: str
    native: str
    note: Text


class ReportLevel(Shape):
    """A level below the account whose daily figures the network reports.

    ``adds_up``: the figures of all entities of a day add up to the figures of the account, except for ``reach``.
    """

    level: str
    adds_up: bool
    note: Text


class Template(Shape):
    """A native payload to start from."""

    kind: str
    title: str
    payload: dict[str, Any]
    note: Text


class NetworkSummary(Shape):
    """One enabled network and how it is connected.

    ``sunset``: the day on which the network ends this version of its API. ``sunset_is_projected``: the network has not
    announced it. ``sunset_basis``: where the day comes from.
    """

    network: str
    title: str
    version: str
    sunset: Text
    sunset_is_projected: bool
    sunset_basis: Text
    login: Login
    formats: list[str]
    extras: list[AccountExtra]
    notes: list[str]


class NetworkDetail(NetworkSummary):
    """All declarations of a network's tables."""

    workflows: list[Workflow]
    levels: list[Level]
    settings: list[Setting]
    catalogs: list[CatalogKind]
    metrics: list[Metric]
    report_levels: list[ReportLevel]
    templates: list[Template]
    units: str
