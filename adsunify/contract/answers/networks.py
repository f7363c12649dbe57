"""What networks can do, as their tables declare it."""

from __future__ import annotations

from typing import Any, Literal

from .shape import Shape, Text


class Requirement(Shape):
    """One row of what a format does with a member of the brief.

    Of several rows of a member, the first counts that fits the goal, the period and the account; ``reason`` says which
    accounts a row is for, or why values or the member are refused. A member without a row is refused.
    """

    path: str
    need: Literal["required", "optional", "one", "any", "refused"]
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

    kind: Literal["oauth2", "oauth1", "credentials"]
    scopes: list[str]
    pkce: bool
    note: str


class AccountExtra(Shape):
    """A native fact of an account that plans depend on."""

    name: str
    meaning: str
    choices: list[str]
    settable: bool


class Level(Shape):
    """One level of the native hierarchy: native states and what they mean, and how a unified status is set."""

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
    """One allow-listed catalog; ``suffix``: whether it is asked for with ``:text``."""

    resource: str
    suffix: Literal["none", "optional", "required"]
    note: Text


class Metric(Shape):
    """Where a normalized metric comes from."""

    name: str
    native: str
    note: Text


class Template(Shape):
    """A native payload to start from."""

    kind: str
    title: str
    payload: dict[str, Any]
    note: Text


class NetworkSummary(Shape):
    """One enabled network and how it is connected."""

    network: str
    title: str
    version: str
    sunset: Text
    login: Login
    formats: list[str]
    extras: list[AccountExtra]
    notes: list[str]


class NetworkDetail(NetworkSummary):
    """Everything the tables declare of a network."""

    workflows: list[Workflow]
    levels: list[Level]
    settings: list[Setting]
    catalogs: list[CatalogKind]
    metrics: list[Metric]
    templates: list[Template]
    units: str
