"""The cells of a launch: one brief for each of its accounts.

docs/spec.md, "Launches", defines how the parts of a brief are merged and what may be left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from attrs import Factory, define, evolve, frozen

from adsunify.adapter.account import Account, require_currency
from adsunify.adapter.network import Network
from adsunify.errors import InvalidInput, Issue, invalid_input, raise_if_issues
from adsunify.launches.budgets import compute_common_unit, split_amount
from adsunify.launches.merging import merge_patch
from adsunify.launches.names import fill_template, find_country, make_country_issue
from adsunify.launches.omissions import find_omissions, remove_members
from adsunify.launches.urls import add_parameters, list_parameter_names
from adsunify.models.brief import CampaignBrief
from adsunify.models.error_messages import find_similar
from adsunify.models.launch import BudgetSplit, LaunchAccount, NewLaunch
from adsunify.models.parsing import parse_model
from adsunify.networks.registry import get_adapter
from adsunify.values.exact_json import Json

IDS_OF_ONE_NETWORK = (("creative", "existingId"), ("targeting", "locationIds"), ("targeting", "native"))
"""The members of the shared brief that are valid on one network only, and are never left out."""


@frozen
class Cell:
    """One account of a launch with its brief.

    Attributes:
        key: the name of the cell in the launch.
        brief: the merged brief as JSON, without the members that are left out; None if there are issues.
        left_out: the paths of the members of the shared brief that the network does not accept.
        issues: why the brief is refused. Paths are relative to the launch: ``accounts.0.campaign.budget.amount``.
    """

    key: str
    account_id: str
    network: str
    brief: Mapping[str, Json] | None
    left_out: tuple[str, ...] = ()
    issues: tuple[Issue, ...] = ()


@define
class _Draft:
    """A cell while its brief is made. ``own_parts`` are the parts for the network and for the account."""

    position: int
    target: LaunchAccount
    account: Account
    network: Network
    own_parts: tuple[Mapping[str, Json], Mapping[str, Json]]
    brief: dict[str, Any]
    left_out: tuple[str, ...] = ()
    issues: list[Issue] = Factory(list)

    @property
    def path(self) -> str:
        """The path of the brief in the launch."""
        return f"accounts.{self.position}.campaign"


def make_cells(launch: NewLaunch, accounts: Mapping[str, Account]) -> list[Cell]:
    """Make the cells of a launch, in the order of its accounts. The network's own rules are not checked yet.

    Args:
        launch: the launch.
        accounts: the accounts of the launch by their ids.

    Raises:
        InvalidInput: the launch as a whole is refused: it names a network without an account, shares ids among several
            networks, or has a budget that cannot be split. Issues of one cell are in :attr:`Cell.issues`.
    """
    drafts = [
        _merge_parts(launch, position, target, accounts[target.account_id])
        for position, target in enumerate(launch.accounts)
    ]
    raise_if_issues((*_check_networks(launch, drafts), *_check_shared_ids(launch, drafts)))
    _split_budgets(launch, drafts)
    for draft in drafts:
        draft.left_out = find_omissions(draft.network, draft.account, draft.brief, launch.campaign, draft.own_parts)
        draft.brief = remove_members(draft.brief, draft.left_out)
        _set_name(launch, draft)
        _add_url_parameters(launch, draft)
        draft.issues += _check_syntax(launch, draft)
    _check_unique_names(drafts)
    return [_finish_cell(draft) for draft in drafts]


def locate_issue(position: int, issue: Issue) -> Issue:
    """Return an issue of a cell's brief with the path that it has in the launch.

    ``position`` is the position of the cell's account. Issues of the account itself get the path of ``accountId``.
    """
    if issue.path.partition(".")[0] == "account":
        return issue._replace(path=f"accounts.{position}.accountId")
    return issue._replace(path=f"accounts.{position}.campaign.{issue.path}".removesuffix("."))


def _merge_parts(launch: NewLaunch, position: int, target: LaunchAccount, account: Account) -> _Draft:
    own_parts = ((launch.networks or {}).get(account.network, {}), target.campaign or {})
    brief = launch.campaign
    for part in own_parts:
        brief = merge_patch(brief, part)
    return _Draft(position, target, account, get_adapter(account.network).network, own_parts, brief)


def _check_networks(launch: NewLaunch, drafts: list[_Draft]) -> Iterator[Issue]:
    """Yield an issue for each part of a network on which the launch has no account."""
    codes = list(dict.fromkeys(draft.account.network for draft in drafts))
    for code in launch.networks or {}:
        if code not in codes:
            similar = find_similar(code, codes)
            hint = f"Did you mean {similar}?" if similar else f"Its accounts are on {', '.join(codes)}."
            yield Issue(f"networks.{code}", "choice", f"is no network of an account of this launch. {hint}")


def _check_shared_ids(launch: NewLaunch, drafts: list[_Draft]) -> Iterator[Issue]:
    """Yield an issue for each member of the shared brief that only one of several networks understands."""
    if len({draft.account.network for draft in drafts}) == 1:
        return
    for part, name in IDS_OF_ONE_NETWORK:
        members = launch.campaign.get(part)
        if isinstance(members, Mapping) and members.get(name) is not None:
            message = (
                f"means something on one network only, and the launch has several. Give it in networks.<code>.{part},"
                f" or in campaign.{part} of an account."
            )
            yield Issue(f"campaign.{part}.{name}", "conflict", message)


# -- budgets ------------------------------------------------------------------------------------------------------


def _split_budgets(launch: NewLaunch, drafts: list[_Draft]) -> None:
    """Replace each budget that is split by the share of its cell.

    Raises:
        InvalidInput: a budget cannot be split.
    """
    groups: dict[str, list[_Draft]] = {}
    for draft in drafts:
        budget = draft.brief.get("budget")
        if isinstance(budget, Mapping) and "split" in budget:
            groups.setdefault(_find_split_path(draft), []).append(draft)
    weighted: set[int] = set()
    for path, members in groups.items():
        if path.startswith("accounts."):
            message = "is for campaign and networks. Give amount, currency and period here, and null for split."
            members[0].issues.append(Issue(path, "not_supported", message))
            continue
        split = _read_split(members[0].brief["budget"]["split"], path)
        if split.by == "weights":
            weighted.update(draft.position for draft in members)
        for draft, share in zip(members, _compute_shares(split, members, path), strict=True):
            if len(draft.brief["budget"]) > 1:
                message = "must be either split alone, or amount, currency and period; null for split removes it."
                draft.issues.append(Issue(f"{draft.path}.budget", "conflict", message))
            budget = {"amount": share, "currency": split.currency, "period": split.period}
            draft.brief = draft.brief | {"budget": budget}
    for draft in drafts:
        if draft.target.weight is not None and draft.position not in weighted:
            message = "is used only where budget.split has by: weights. Leave it out."
            draft.issues.append(Issue(f"accounts.{draft.position}.weight", "conflict", message))


def _find_split_path(draft: _Draft) -> str:
    """Return the path of the split that the budget of a cell has. Cells with the same path share the amount."""
    of_network, of_account = (_has_split(part) for part in draft.own_parts)
    if of_account:
        return f"{draft.path}.budget.split"
    return f"networks.{draft.account.network}.budget.split" if of_network else "campaign.budget.split"


def _has_split(part: Mapping[str, Json]) -> bool:
    budget = part.get("budget")
    return isinstance(budget, Mapping) and budget.get("split") is not None


def _read_split(split: Json, path: str) -> BudgetSplit:
    if not isinstance(split, Mapping):
        raise invalid_input(path, "wrong_type", "must be an object with amount, currency, period and by.")
    return parse_model(BudgetSplit, split, path)


def _compute_shares(split: BudgetSplit, members: list[_Draft], path: str) -> list[str]:
    """Return the share of each cell, and report the cells whose account cannot have one.

    A refused cell has a share, too, so the shares of the others do not depend on it.

    Raises:
        InvalidInput: weights are missing, or the amount cannot be divided.
    """
    weights = [draft.target.weight if split.by == "weights" else 1 for draft in members]
    raise_if_issues(
        Issue(f"accounts.{draft.position}.weight", "required", f"is required, because {path}.by is weights.")
        for draft, weight in zip(members, weights, strict=True)
        if weight is None
    )
    units = []
    for draft in members:
        try:
            if require_currency(draft.account) == split.currency:
                units.append(draft.network.get_money_unit(draft.account))
                continue
            message = f"The account counts in {draft.account.currency}; no conversion is made."
            draft.issues.append(Issue(f"{draft.path}.budget.currency", "currency_mismatch", message))
        except InvalidInput as problem:
            draft.issues += (locate_issue(draft.position, issue) for issue in problem.issues)
    unit = compute_common_unit(units)
    return split_amount(split.amount, unit, [weight or 1 for weight in weights], f"{path}.amount")


# -- names and addresses ------------------------------------------------------------------------------------------


def _fill_values(launch: NewLaunch, draft: _Draft) -> dict[str, str]:
    """Return the values of the placeholders. A missing country is empty; the caller reports it."""
    return {
        "launch": launch.name,
        "network": draft.account.network,
        "account": draft.account.native_id,
        "country": find_country(draft.brief) or "",
        "key": draft.target.cell_key,
    }


def _set_name(launch: NewLaunch, draft: _Draft) -> None:
    """Name the campaign by the template, unless the network's or the account's part names it."""
    if launch.name_template is None or any(part.get("name") is not None for part in draft.own_parts):
        return
    values = _fill_values(launch, draft)
    if "{country}" in launch.name_template and not values["country"]:
        draft.issues.append(make_country_issue(draft.path, "nameTemplate"))
    draft.brief = draft.brief | {"name": fill_template(launch.name_template, values)}


def _add_url_parameters(launch: NewLaunch, draft: _Draft) -> None:
    """Add the parameters to ``creative.url``, if the brief has one."""
    creative = draft.brief.get("creative")
    if not launch.url_parameters or not isinstance(creative, Mapping) or not isinstance(creative.get("url"), str):
        return
    url = creative["url"]
    values = _fill_values(launch, draft)
    if not values["country"] and any("{country}" in template for template in launch.url_parameters.values()):
        draft.issues.append(make_country_issue(draft.path, "urlParameters"))
    present = list_parameter_names(url)
    for name in (name for name in launch.url_parameters if name in present):
        message = "is in creative.url of the cell already. Remove it from one of the two."
        draft.issues.append(Issue(f"urlParameters.{name}", "conflict", message))
    parameters = {name: fill_template(template, values) for name, template in launch.url_parameters.items()}
    draft.brief = draft.brief | {"creative": {**creative, "url": add_parameters(url, parameters)}}


def _check_unique_names(drafts: list[_Draft]) -> None:
    """Report each campaign whose name another cell of the same account has."""
    names: set[tuple[str, Json]] = set()
    for draft in drafts:
        name = draft.brief.get("name")
        if isinstance(name, str) and not draft.issues:
            if (draft.target.account_id, name) in names:
                message = "must differ from the names of the other campaigns of this account in the launch."
                draft.issues.append(Issue(f"{draft.path}.name", "duplicate", message))
            names.add((draft.target.account_id, name))


# -- the finished cell --------------------------------------------------------------------------------------------


def _check_syntax(launch: NewLaunch, draft: _Draft) -> Iterator[Issue]:
    """Yield the issues of the merged brief that do not depend on the network."""
    try:
        parse_model(CampaignBrief, draft.brief, draft.path)
    except InvalidInput as problem:
        for issue in problem.issues:
            is_made = issue.path == f"{draft.path}.name" and launch.name_template is not None
            yield issue._replace(message=f"{issue.message} nameTemplate makes this name.") if is_made else issue


def _finish_cell(draft: _Draft) -> Cell:
    cell = Cell(draft.target.cell_key, draft.target.account_id, draft.account.network, draft.brief, draft.left_out)
    return evolve(cell, brief=None, issues=tuple(draft.issues)) if draft.issues else cell
