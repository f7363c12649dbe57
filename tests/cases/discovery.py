"""Briefs written from the rows of ``GET /workflows`` alone: what a caller can know who has read nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

from attrs import frozen

from adsunify.adapter.account import Account
from adsunify.adapter.brief_checks import collect_given_members, select_format
from adsunify.errors import InvalidInput, LookupNeeded
from adsunify.models.brief import read_brief
from adsunify.networks.registry import get_adapter
from adsunify.planning import plan
from adsunify.values.exact_json import Json, dumps
from tests.networks.samples import get_samples

GOALS = ("traffic", "awareness", "conversions", "app_installs")
PERIODS = ("daily", "lifetime")

SAMPLES: Mapping[str, Json] = {
    "bid": "0.75",
    "schedule.endAt": "2030-02-15T09:00:00Z",
    "targeting.countries": ["US"],
    "targeting.locationIds": ["1014221"],
    "targeting.keywords": [{"text": "camping stove"}],
    "targeting.native": {"unknown_dimension": ["1"]},
    "creative.existingId": "120000000000001",
    "creative.headline": "Light and warm",
    "creative.body": "A stove for every trail.",
    "creative.url": "https://shop.example/stove",
    "creative.imageUrl": "https://shop.example/stove.png",
    "creative.imageHash": "0f1e2d3c4b5a",
    "creative.headlines": ["Camping Stoves", "Light And Warm", "Free Delivery"],
    "creative.descriptions": ["A stove for every trail.", "Order today, cook on Friday."],
    "platform.euPoliticalAdvertising": False,
    "platform.pageId": "120000000000002",
    "platform.boardId": "120000000000003",
    "platform.identityId": "120000000000004",
    "platform.identityType": "CUSTOMIZED_USER",
    "platform.fundingInstrumentId": "120000000000005",
    "platform.pixelId": "120000000000006",
    "platform.conversionEvent": "PURCHASE",
    "platform.appId": "120000000000007",
    "platform.sku": "STOVE-1",
    "platform.asin": "B000000001",
    "platform.brandName": "Stove Ltd",
    "platform.locale": {"country": "US", "language": "en"},
    "platform.specialAdCategories": ["NONE"],
}
"""A plain value for each optional member of a brief; a row's choices come before it."""


@frozen
class Cell:
    """One format for one goal and period, as its rows describe it."""

    network: str
    format: str
    goal: str
    period: str
    rows: Mapping[str, Mapping[str, Json]]

    @property
    def id(self) -> str:
        return f"{self.network}-{self.format}-{self.goal}-{self.period}"

    def list_needed_members(self) -> list[str]:
        """The members that the rows ask for: required ones, and the first of each group."""
        paths, groups = [], set()
        for path, row in self.rows.items():
            if row["need"] == "required":
                paths.append(path)
            elif row["need"] in ("one", "any") and row.get("group") not in groups:
                groups.add(row.get("group"))
                paths.append(path)
        return paths

    def get_group(self, path: str) -> set[str]:
        """The members that may stand for this one."""
        name = self.rows[path].get("group")
        return {path} if name is None else {other for other, row in self.rows.items() if row.get("group") == name}

    def takes(self, path: str) -> bool:
        return path in self.rows and self.rows[path]["need"] != "refused"


def list_cells(workflow: Mapping[str, Any]) -> Iterator[Cell]:
    """The cells of one row of ``GET /workflows``. The first row that counts for a path wins."""
    for goal in workflow["goals"]:
        for period in workflow["periods"]:
            rows: dict[str, Mapping[str, Json]] = {}
            for row in workflow["inputs"]:
                if (not row["goals"] or goal in row["goals"]) and (not row["periods"] or period in row["periods"]):
                    rows.setdefault(row["path"], row)
            yield Cell(workflow["network"], workflow["format"], goal, period, rows)


def get_sample(cell: Cell, path: str) -> Json:
    """A value for a member."""
    value = get_samples(cell.network).brief_values.get(path, SAMPLES[path])
    choices = cell.rows.get(path, {}).get("choices") or ()
    if not choices:
        return deepcopy(value)
    return [choices[0]] if isinstance(value, list) else choices[0]


def make_minimal_brief(cell: Cell, currency: str, *, more: tuple[str, ...] = ()) -> dict[str, Any]:
    """The least brief that the rows of a cell allow, with further members."""
    value: dict[str, Any] = {
        "name": "Camping stoves",
        "goal": cell.goal,
        "budget": {"amount": "35.50", "currency": currency, "period": cell.period},
        "schedule": {"startAt": get_samples(cell.network).brief_values.get("schedule.startAt", "2030-01-15T05:00:00Z")},
        "targeting": {},
        "creative": {},
    }
    for path in [*cell.list_needed_members(), *more]:
        set_member(value, path, get_sample(cell, path))
    return value


def set_member(value: dict[str, Any], path: str, new: Json) -> None:
    """Set a member of a brief by its dotted path."""
    *way, last = path.split(".")
    for part in way:
        value = value.setdefault(part, {})
    value[last] = new


def remove_member(value: dict[str, Any], path: str) -> dict[str, Any]:
    """The brief without a member."""
    changed = deepcopy(value)
    *way, last = path.split(".")
    holder = changed
    for part in way:
        holder = holder[part]
    del holder[last]
    return changed


def is_same_format(cell: Cell, value: Mapping[str, Any]) -> bool:
    """Whether the tables still take a brief for the cell's format (or it is refused before any table is asked)."""
    try:
        members = collect_given_members(read_brief(dumps(value)))
    except InvalidInput:
        return True
    return select_format(get_adapter(cell.network).network, members).code == cell.format


def find_refusals(value: Mapping[str, Any], account: Account) -> set[str]:
    """The members at which the brief is refused; empty where it plans, or would once the network has been asked."""
    try:
        plan(read_brief(dumps(value)), account)
    except LookupNeeded:
        return set()
    except InvalidInput as problem:
        return {issue.path for issue in problem.issues}
    return set()
