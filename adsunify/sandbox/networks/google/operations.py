"""`googleAds:mutate` and the mutates of single resources."""

import re
from collections.abc import Mapping
from typing import Any

from attrs import define, field

from adsunify.sandbox.framework import Account, Answer, Entity, Problem, Refusal, Request, World
from adsunify.sandbox.networks.google import catalogs
from adsunify.sandbox.networks.google.connect import customer
from adsunify.sandbox.networks.google.errors import answer, described, native, partial_failure
from adsunify.sandbox.networks.google.messages import Fields, defaulted, found, laid, leaves, received
from adsunify.sandbox.networks.google.rules import RULES, Change
from adsunify.sandbox.networks.google.tables import (
    BIDDING,
    BY_KIND,
    BY_NAME,
    LARGEST_AMOUNT,
    MOST_OPERATIONS,
    MUTATE,
    MUTATE_ONE,
    RESOURCES,
    Resource,
)

FAULTS = frozenset({"partial", "error_in_200"})
_PATH = r"[a-z][A-Za-z0-9]*(\.[a-z][A-Za-z0-9]*)*"
_NAME = r"customers/([0-9]+)/([A-Za-z]+)/([^/]+)"


def mutate(request: Request) -> Answer:
    """Operations of any kinds, in order, all or none."""
    account = _served(request)
    given = received(request, MUTATE)
    work: list[tuple[Resource, Any, str]] = []
    for position, one in enumerate(given.get("mutateOperations", [])):
        name, operation = next(iter(one.items()), ("", {}))
        where = f"/mutateOperations/{position}"
        if not name:
            raise Problem("requestError.OPERATION_REQUIRED", where, "The operation is empty.")
        work.append((BY_NAME[name.removesuffix("Operation")], operation, f"{where}/{name}"))
    results, failed = _performed(request, account, given, work, "/mutateOperations")
    responses = [
        {} if name is None else {f"{resource.name}Result": {"resourceName": name}}
        for (resource, _, _), name in zip(work, results, strict=True)
    ]
    return answer({**failed, "mutateOperationResponses": responses})


def mutate_one(request: Request) -> Answer:
    """Operations of one kind (the documented alternative)."""
    account = _served(request)
    collection = request.slots["collection"]
    resource = next(one for one in RESOURCES if one.collection == collection)
    given = received(request, MUTATE_ONE[collection])
    operations = given.get("operations", [])
    work = [(resource, one, f"/operations/{position}") for position, one in enumerate(operations)]
    results, failed = _performed(request, account, given, work, "/operations")
    return answer({**failed, "results": [{} if name is None else {"resourceName": name} for name in results]})


def resource_name(entity: Entity) -> str:
    """`customers/{c}/{collection}/{id}`."""
    return f"customers/{entity.account}/{BY_KIND[entity.kind].collection}/{entity.id}"


def add_campaign(world: World, account: str, data: Mapping[str, Any]) -> Entity:
    """Keep a campaign, with the conversion goals that every campaign has, all biddable."""
    made = world.create("campaign", account, data)
    for category, origin in catalogs.GOALS:
        goal = {"campaign": resource_name(made), "category": category, "origin": origin, "biddable": True}
        goal_id = f"{made.id}~{category}~{origin}"
        world.create("conversionGoal", account, goal, parent=made.id, id=goal_id, logged=False)
    return made


def _served(request: Request) -> Account:
    account = customer(request)
    if account.extra["clients"]:
        raise Problem("requestError.CANNOT_BE_EXECUTED_BY_MANAGER_ACCOUNT", "", "A manager account has no campaigns.")
    return account


def _performed(
    request: Request, account: Account, given: Mapping[str, Any], work: list[tuple[Resource, Any, str]], where: str
) -> tuple[list[str | None], dict[str, Any]]:
    """The resource name of every operation, None where it failed alone, and `partialFailureError` where one did."""
    if not work:
        raise Problem("requestError.REQUIRED_FIELD_MISSING", where, "Operations are required.")
    if len(work) > MOST_OPERATIONS:
        raise Problem("requestError.TOO_MANY_MUTATE_OPERATIONS", where, f"At most {MOST_OPERATIONS} operations.")
    batch, results, errors = _Batch(request, account), list[str | None](), list[dict[str, Any]]()
    told, all_fail = request.told("partial") is not None, request.told("error_in_200") is not None
    for position, (resource, operation, at) in enumerate(work):
        try:
            with request.world.savepoint():
                if all_fail or (told and position == len(work) - 1):
                    raise Problem("databaseError.CONCURRENT_MODIFICATION", at, "Told to fail.")
                results.append(batch.perform(resource, operation, at))
        except Problem as problem:
            if native(problem) is None or not (given.get("partialFailure") or told or all_fail):
                raise
            results.append(None)
            errors.append(described(problem))
    failed = {"partialFailureError": partial_failure(errors)} if errors else {}
    if given.get("validateOnly"):
        raise Refusal(answer(failed))
    return results, failed


@define
class _Batch:
    """One request: the temporary names it has defined so far, and what it has touched."""

    request: Request
    account: Account
    defined: dict[str, Entity] = field(factory=dict)
    numbers: set[str] = field(factory=set)
    touched: set[str] = field(factory=set)

    def perform(self, resource: Resource, operation: Mapping[str, Any], where: str) -> str:
        """Do one operation; answers the resource name."""
        match operation:
            case {"create": data}:
                if "updateMask" in operation:
                    raise Problem("fieldMaskError.FIELD_MASK_NOT_ALLOWED", f"{where}/updateMask", "create has no mask.")
                return self.create(resource, data, f"{where}/create")
            case {"update": data}:
                return self.update(resource, data, operation.get("updateMask", ""), where)
            case {"remove": name}:
                return self.remove(resource, name, f"{where}/remove")
        raise Problem("requestError.OPERATION_REQUIRED", where, "create, update or remove is required.")

    def create(self, resource: Resource, given: Mapping[str, Any], where: str) -> str:
        data, world = dict(given), self.request.world
        temporary = self.temporary(resource, data.pop("resourceName", None), f"{where}/resourceName")
        data = defaulted(resource.fields, data)
        for at in sorted(_missing(resource.fields, data, where)):
            raise Problem("fieldError.REQUIRED", at, "The required field was not present.")
        for one, value, at in leaves(resource.fields, data, where):
            if one.write == "never" and value is not None:
                raise Problem("fieldError.VALUE_MUST_BE_UNSET", at, "The field is output only.")
        self.money(resource.fields, data, where)
        if data.get("status") == "REMOVED":
            code = "operationAccessDeniedError.CREATE_AS_REMOVED_NOT_PERMITTED"
            raise Problem(code, f"{where}/status", "Nothing is created as removed.")
        parent = None
        if resource.parent is not None:
            member, kind = resource.parent
            parent = self.reference(data[member], kind, f"{where}/{member}")
            data[member] = resource_name(parent)
        self.budget(resource, data, where)
        change = Change(self.request, self.account, where, data, None, None, parent)
        RULES[resource.name](change)
        if resource.kind == "campaign":
            made = add_campaign(world, self.account.id, data)
        else:
            own = change.id or world.allocate()
            if parent is not None and resource.nested and change.id is None:
                own = f"{parent.id}~{own}"
            held = None if parent is None else parent.id
            made = world.create(resource.kind, self.account.id, data, parent=held, id=own)
        if temporary is not None:
            self.defined[temporary] = made
        return resource_name(made)

    def update(self, resource: Resource, given: Mapping[str, Any], mask: str, where: str) -> str:
        if not mask:
            raise Problem("fieldMaskError.FIELD_MASK_MISSING", f"{where}/updateMask", "An update needs a mask.")
        paths = [_path(resource.fields, path, f"{where}/updateMask") for path in mask.split(",")]
        where = f"{where}/update"
        if "resourceName" not in given:
            raise Problem("requestError.RESOURCE_NAME_MISSING", f"{where}/resourceName", "The name is required.")
        entity = self.touch(resource, given["resourceName"], f"{where}/resourceName")
        before = entity.data["ad"] if resource.name == "ad" else entity.data
        data = dict(before)
        for path in paths:
            data = laid(resource.fields, data, given, path)
        for one, value, at in leaves(resource.fields, data, where):
            if (
                one.required
                and value is None
                and (at.rpartition("/")[2] in before or at.count("/") > where.count("/") + 1)
            ):
                raise Problem("fieldError.FIELD_CANNOT_BE_CLEARED", at, "The field is required.")
        self.money(resource.fields, data, where)
        if data.get("status") == "REMOVED" and resource.kind != "budget":
            raise Problem("fieldError.INVALID_VALUE", f"{where}/status", "REMOVED is set by a remove operation.")
        self.budget(resource, data, where)
        parent = None
        if resource.parent is not None and entity.parent is not None:
            parent = self.request.world.find(resource.parent[1], entity.parent)
        change = Change(self.request, self.account, where, data, before, entity, parent)
        RULES[resource.name](change)
        self.request.world.put(entity, {**entity.data, "ad": data} if resource.name == "ad" else data)
        return str(given["resourceName"])

    def remove(self, resource: Resource, name: str, where: str) -> str:
        entity, world = self.touch(resource, name, where), self.request.world
        if resource.kind == "criterion":  # gone altogether: the queries of the documentation do not ask for its status
            world.remove(entity)
            return name
        users = [one for one in world.entities("campaign", self.account.id) if one.data["status"] != "REMOVED"]
        if resource.kind == "budget" and any(one.data["campaignBudget"] == name for one in users):
            raise Problem("campaignBudgetError.CAMPAIGN_BUDGET_IN_USE", where, "A campaign uses the budget.")
        world.put(entity, {**entity.data, "status": "REMOVED"})
        if resource.kind == "campaign":  # a budget that is not shared follows its campaign
            budget = world.find("budget", entity.data["campaignBudget"].rpartition("/")[2])
            if budget is not None and not budget.data["explicitlyShared"]:
                world.put(budget, {**budget.data, "status": "REMOVED"})
        return name

    def temporary(self, resource: Resource, name: Any, where: str) -> str | None:
        """The temporary name that a create gives itself: negative, and unique over the request, across kinds."""
        if name is None:
            return None
        number = self.parsed(name, resource.collection, where)
        if not resource.temporary or not re.fullmatch("-[1-9][0-9]*", number):
            raise Problem("requestError.BAD_RESOURCE_ID", where, "A create takes a temporary, negative id.", name)
        if number in self.numbers:
            raise Problem("mutateError.ID_EXISTS_IN_MULTIPLE_MUTATES", where, "The temporary id is used twice.", name)
        self.numbers.add(number)
        return str(name)

    def reference(self, name: Any, kind: str, where: str) -> Entity:
        """What a name in a content stands for: made earlier in this request, or kept and not removed."""
        number = self.parsed(name, BY_KIND[kind].collection, where)
        entity = self.defined.get(name) or self.request.world.find(kind, number, self.account.id)
        if entity is None:
            raise Problem("mutateError.RESOURCE_NOT_FOUND", where, "The resource does not exist (yet).", name)
        if entity.data["status"] == "REMOVED" and kind != "budget":
            raise _removed(where, name)
        return entity

    def touch(self, resource: Resource, name: Any, where: str) -> Entity:
        """The kept entity that an update or remove names; only once in a request."""
        number = self.parsed(name, resource.collection, where)
        if name in self.touched:
            raise Problem("mutateError.ID_EXISTS_IN_MULTIPLE_MUTATES", where, "The resource stands here twice.", name)
        self.touched.add(name)
        entity = self.request.world.find(resource.kind, number, self.account.id)
        if resource.name == "ad":
            ads = self.request.world.entities("ad", self.account.id)
            entity = next((one for one in ads if one.id.partition("~")[2] == number), None)
        if entity is None:
            raise Problem("mutateError.RESOURCE_NOT_FOUND", where, "The resource does not exist.", name)
        if entity.data.get("status") == "REMOVED":
            raise _removed(where, name)
        return entity

    def parsed(self, name: Any, collection: str, where: str) -> str:
        """The id in a resource name of this customer."""
        parts = re.fullmatch(_NAME, name)
        if parts is None or parts[2] != collection:
            raise Problem("requestError.RESOURCE_NAME_MALFORMED", where, f"customers/.../{collection}/...", name)
        if parts[1] != self.account.id:
            raise Problem("mutateError.RESOURCE_NOT_FOUND", where, "The resource is of another customer.", name)
        return parts[3]

    def budget(self, resource: Resource, data: dict[str, Any], where: str) -> None:
        """A campaign's budget by its lasting name."""
        if resource.kind == "campaign":
            found = self.reference(data["campaignBudget"], "budget", f"{where}/campaignBudget")
            data["campaignBudget"] = resource_name(found)

    def money(self, fields: Fields, data: Mapping[str, Any], where: str) -> None:
        """Bids: above 0, and multiples of the currency's billable unit."""
        unit = catalogs.unit(self.account)
        for one, value, at in leaves(fields, data, where):
            if one.kind.name != "money" or value is None:
                continue
            if value <= 0:
                raise Problem("rangeError.TOO_LOW", at, "The amount must be above 0.", value)
            if value % unit:
                code = "currencyError.VALUE_NOT_MULTIPLE_OF_BILLABLE_UNIT"
                raise Problem(code, at, f"The amount must be a multiple of {unit} micros.", value)
            if value > LARGEST_AMOUNT:
                raise Problem("adGroupError.BID_TOO_BIG", at, "The amount is too big.", value)


def _path(fields: Fields, path: str, where: str) -> list[str]:
    """One path of an update mask, in JSON names."""
    if not re.fullmatch(_PATH, path):
        raise Problem("value", where, "updateMask is a comma list of lowerCamelCase paths", path)
    names = path.split(".")
    steps = [found(fields, names[: length + 1]) for length in range(len(names))]
    for one in steps:
        if one is None:
            raise Problem("fieldMaskError.FIELD_NOT_FOUND", where, f"There is no field {path!r}.", path)
        if one.write != "always":
            raise Problem("fieldError.IMMUTABLE_FIELD", where, f"The field {path!r} cannot be changed.", path)
    last = steps[-1]
    if last is not None and last.kind.name == "message" and last.oneof != BIDDING:
        raise Problem("fieldMaskError.FIELD_HAS_SUBFIELDS", where, f"The mask must name fields inside {path!r}.", path)
    return names


def _missing(fields: Fields, data: Mapping[str, Any], where: str) -> set[str]:
    """The places of required fields that are absent."""
    return {at for one, value, at in leaves(fields, data, where) if one.required and value is None}


def _removed(where: str, name: Any) -> Problem:
    code = "operationAccessDeniedError.OPERATION_NOT_PERMITTED_FOR_REMOVED_RESOURCE"
    return Problem(code, where, "The resource is removed.", name)
