"""`googleAds:mutate` and the mutates of single resources."""

import re
from collections.abc import Mapping
from typing import Any

from attrs import define, field

from adsunify.sandbox.network import AbortRequest, Request, Response
from adsunify.sandbox.networks.google import catalogs, messages, tables
from adsunify.sandbox.networks.google.connect import require_account
from adsunify.sandbox.networks.google.errors import build_partial_failure, build_response, map_error, render_error
from adsunify.sandbox.networks.google.rules import RULES, ResourceChange
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import Account, StoredEntity, World

BATCH_FAULTS = frozenset({"partial", "error_in_200"})
_PATH_PATTERN = r"[a-z][A-Za-z0-9]*(\.[a-z][A-Za-z0-9]*)*"
_RESOURCE_NAME_PATTERN = r"customers/([0-9]+)/([A-Za-z]+)/([^/]+)"


def mutate_resources(request: Request) -> Response:
    """Operations of several kinds, in order, all or none."""
    account = _require_serving_account(request)
    body = messages.parse_message(request, tables.MUTATE_MESSAGE)
    work: list[tuple[tables.MutableResource, Any, str]] = []
    for position, entry in enumerate(body.get("mutateOperations", [])):
        name, operation = next(iter(entry.items()), ("", {}))
        where = f"/mutateOperations/{position}"
        if not name:
            raise InvalidRequest("requestError.OPERATION_REQUIRED", where, "The operation is empty.")
        work.append((tables.RESOURCE_BY_NAME[name.removesuffix("Operation")], operation, f"{where}/{name}"))
    results, failed = _apply_operations(request, account, body, work, "/mutateOperations")
    responses = [
        {} if name is None else {f"{resource.name}Result": {"resourceName": name}}
        for (resource, _, _), name in zip(work, results, strict=True)
    ]
    return build_response({**failed, "mutateOperationResponses": responses})


def mutate_resource(request: Request) -> Response:
    """Operations of one kind (the documented alternative)."""
    account = _require_serving_account(request)
    collection = request.path_parameters["collection"]
    resource = next(resource for resource in tables.RESOURCES if resource.collection == collection)
    body = messages.parse_message(request, tables.MUTATE_MESSAGE_BY_COLLECTION[collection])
    operations = body.get("operations", [])
    work = [(resource, operation, f"/operations/{position}") for position, operation in enumerate(operations)]
    results, failed = _apply_operations(request, account, body, work, "/operations")
    return build_response({**failed, "results": [{} if name is None else {"resourceName": name} for name in results]})


def build_resource_name(entity: StoredEntity) -> str:
    """`customers/{c}/{collection}/{id}`."""
    return f"customers/{entity.account}/{tables.RESOURCE_BY_KIND[entity.kind].collection}/{entity.id}"


def add_campaign(world: World, account: str, data: Mapping[str, Any]) -> StoredEntity:
    """Create a campaign with the conversion goals of every campaign, all biddable."""
    campaign = world.create("campaign", account, data)
    for category, origin in catalogs.CONVERSION_GOALS:
        goal = {"campaign": build_resource_name(campaign), "category": category, "origin": origin, "biddable": True}
        goal_id = f"{campaign.id}~{category}~{origin}"
        world.create("conversionGoal", account, goal, parent=campaign.id, id=goal_id, logged=False)
    return campaign


def _require_serving_account(request: Request) -> Account:
    account = require_account(request)
    if account.extra["clients"]:
        raise InvalidRequest(
            "requestError.CANNOT_BE_EXECUTED_BY_MANAGER_ACCOUNT", "", "A manager account has no campaigns."
        )
    return account


def _apply_operations(
    request: Request,
    account: Account,
    body: Mapping[str, Any],
    work: list[tuple[tables.MutableResource, Any, str]],
    where: str,
) -> tuple[list[str | None], dict[str, Any]]:
    """The resource name of every operation.

    The name of an operation that failed alone is None; then there is also a `partialFailureError`.
    """
    if not work:
        raise InvalidRequest("requestError.REQUIRED_FIELD_MISSING", where, "Operations are required.")
    if len(work) > tables.MAX_OPERATIONS:
        raise InvalidRequest(
            "requestError.TOO_MANY_MUTATE_OPERATIONS", where, f"At most {tables.MAX_OPERATIONS} operations."
        )
    batch, results, errors = _MutateBatch(request, account), list[str | None](), list[dict[str, Any]]()
    is_partial, all_fail = request.get_fault("partial") is not None, request.get_fault("error_in_200") is not None
    for position, (resource, operation, at) in enumerate(work):
        try:
            with request.world.savepoint():
                if all_fail or (is_partial and position == len(work) - 1):
                    raise InvalidRequest("databaseError.CONCURRENT_MODIFICATION", at, "This write fails by request.")
                results.append(batch.apply_operation(resource, operation, at))
        except InvalidRequest as problem:
            if map_error(problem) is None or not (body.get("partialFailure") or is_partial or all_fail):
                raise
            results.append(None)
            errors.append(render_error(problem))
    failed = {"partialFailureError": build_partial_failure(errors)} if errors else {}
    if body.get("validateOnly"):
        raise AbortRequest(build_response(failed))
    return results, failed


@define
class _MutateBatch:
    """One request: the temporary names it has defined so far, and the entities it has changed."""

    request: Request
    account: Account
    entities_by_name: dict[str, StoredEntity] = field(factory=dict)
    temporary_numbers: set[str] = field(factory=set)
    touched_names: set[str] = field(factory=set)

    def apply_operation(self, resource: tables.MutableResource, operation: Mapping[str, Any], where: str) -> str:
        """Perform one operation and return the resource name."""
        match operation:
            case {"create": data}:
                if "updateMask" in operation:
                    raise InvalidRequest(
                        "fieldMaskError.FIELD_MASK_NOT_ALLOWED", f"{where}/updateMask", "create has no mask."
                    )
                return self.create_resource(resource, data, f"{where}/create")
            case {"update": data}:
                return self.update_resource(resource, data, operation.get("updateMask", ""), where)
            case {"remove": name}:
                return self.remove_resource(resource, name, f"{where}/remove")
        raise InvalidRequest("requestError.OPERATION_REQUIRED", where, "create, update or remove is required.")

    def create_resource(self, resource: tables.MutableResource, members: Mapping[str, Any], where: str) -> str:
        data, world = dict(members), self.request.world
        temporary = self.parse_temporary_name(resource, data.pop("resourceName", None), f"{where}/resourceName")
        data = messages.fill_defaults(resource.fields, data)
        for at in sorted(_find_missing_fields(resource.fields, data, where)):
            raise InvalidRequest("fieldError.REQUIRED", at, "The required field was not present.")
        for native_field, value, at in messages.iterate_fields(resource.fields, data, where):
            if native_field.write == "never" and value is not None:
                raise InvalidRequest("fieldError.VALUE_MUST_BE_UNSET", at, "The field is output only.")
        self.check_money(resource.fields, data, where)
        if data.get("status") == "REMOVED":
            code = "operationAccessDeniedError.CREATE_AS_REMOVED_NOT_PERMITTED"
            raise InvalidRequest(code, f"{where}/status", "Nothing is created as removed.")
        parent = None
        if resource.parent is not None:
            member, kind = resource.parent
            parent = self.require_reference(data[member], kind, f"{where}/{member}")
            data[member] = build_resource_name(parent)
        self.resolve_budget(resource, data, where)
        change = ResourceChange(self.request, self.account, where, data, None, None, parent)
        RULES[resource.name](change)
        if resource.kind == "campaign":
            entity = add_campaign(world, self.account.id, data)
        else:
            own = change.id or world.allocate_id()
            if parent is not None and resource.nested and change.id is None:
                own = f"{parent.id}~{own}"
            parent_id = None if parent is None else parent.id
            entity = world.create(resource.kind, self.account.id, data, parent=parent_id, id=own)
        if temporary is not None:
            self.entities_by_name[temporary] = entity
        return build_resource_name(entity)

    def update_resource(
        self, resource: tables.MutableResource, members: Mapping[str, Any], mask: str, where: str
    ) -> str:
        if not mask:
            raise InvalidRequest("fieldMaskError.FIELD_MASK_MISSING", f"{where}/updateMask", "An update needs a mask.")
        paths = [_parse_mask_path(resource.fields, path, f"{where}/updateMask") for path in mask.split(",")]
        where = f"{where}/update"
        if "resourceName" not in members:
            raise InvalidRequest("requestError.RESOURCE_NAME_MISSING", f"{where}/resourceName", "The name is required.")
        entity = self.require_writable(resource, members["resourceName"], f"{where}/resourceName")
        before = entity.data["ad"] if resource.name == "ad" else entity.data
        data = dict(before)
        for path in paths:
            data = messages.apply_masked_field(resource.fields, data, members, path)
        for native_field, value, at in messages.iterate_fields(resource.fields, data, where):
            if (
                native_field.required
                and value is None
                and (at.rpartition("/")[2] in before or at.count("/") > where.count("/") + 1)
            ):
                raise InvalidRequest("fieldError.FIELD_CANNOT_BE_CLEARED", at, "The field is required.")
        self.check_money(resource.fields, data, where)
        if data.get("status") == "REMOVED" and resource.kind != "budget":
            raise InvalidRequest("fieldError.INVALID_VALUE", f"{where}/status", "REMOVED is set by a remove operation.")
        self.resolve_budget(resource, data, where)
        parent = None
        if resource.parent is not None and entity.parent is not None:
            parent = self.request.world.find(resource.parent[1], entity.parent)
        change = ResourceChange(self.request, self.account, where, data, before, entity, parent)
        RULES[resource.name](change)
        self.request.world.replace(entity, {**entity.data, "ad": data} if resource.name == "ad" else data)
        return str(members["resourceName"])

    def remove_resource(self, resource: tables.MutableResource, name: str, where: str) -> str:
        entity, world = self.require_writable(resource, name, where), self.request.world
        if resource.kind == "criterion":  # no status marks it as removed: the documented queries do not select one
            world.remove(entity)
            return name
        users = [
            campaign
            for campaign in world.list_entities("campaign", self.account.id)
            if campaign.data["status"] != "REMOVED"
        ]
        if resource.kind == "budget" and any(campaign.data["campaignBudget"] == name for campaign in users):
            raise InvalidRequest("campaignBudgetError.CAMPAIGN_BUDGET_IN_USE", where, "A campaign uses the budget.")
        world.replace(entity, {**entity.data, "status": "REMOVED"})
        if resource.kind == "campaign":  # a budget that is not shared is removed with its campaign
            budget = world.find("budget", entity.data["campaignBudget"].rpartition("/")[2])
            if budget is not None and not budget.data["explicitlyShared"]:
                world.replace(budget, {**budget.data, "status": "REMOVED"})
        return name

    def parse_temporary_name(self, resource: tables.MutableResource, name: Any, where: str) -> str | None:
        """The temporary name of a created entity: a negative id, unique in the request across kinds."""
        if name is None:
            return None
        number = self.parse_resource_id(name, resource.collection, where)
        if not resource.temporary or not re.fullmatch("-[1-9][0-9]*", number):
            raise InvalidRequest(
                "requestError.BAD_RESOURCE_ID", where, "A create takes a temporary, negative id.", name
            )
        if number in self.temporary_numbers:
            raise InvalidRequest(
                "mutateError.ID_EXISTS_IN_MULTIPLE_MUTATES", where, "The temporary id is used twice.", name
            )
        self.temporary_numbers.add(number)
        return str(name)

    def require_reference(self, name: Any, kind: str, where: str) -> StoredEntity:
        """The entity of a resource name: created earlier in this request, or stored and not removed."""
        number = self.parse_resource_id(name, tables.RESOURCE_BY_KIND[kind].collection, where)
        entity = self.entities_by_name.get(name) or self.request.world.find(kind, number, self.account.id)
        if entity is None:
            raise InvalidRequest("mutateError.RESOURCE_NOT_FOUND", where, "The resource does not exist (yet).", name)
        if entity.data["status"] == "REMOVED" and kind != "budget":
            raise _removed_error(where, name)
        return entity

    def require_writable(self, resource: tables.MutableResource, name: Any, where: str) -> StoredEntity:
        """The stored entity that an update or remove names. A request may name an entity only once."""
        number = self.parse_resource_id(name, resource.collection, where)
        if name in self.touched_names:
            raise InvalidRequest(
                "mutateError.ID_EXISTS_IN_MULTIPLE_MUTATES", where, "The resource stands here twice.", name
            )
        self.touched_names.add(name)
        entity = self.request.world.find(resource.kind, number, self.account.id)
        if resource.name == "ad":
            ads = self.request.world.list_entities("ad", self.account.id)
            entity = next((ad for ad in ads if ad.id.partition("~")[2] == number), None)
        if entity is None:
            raise InvalidRequest("mutateError.RESOURCE_NOT_FOUND", where, "The resource does not exist.", name)
        if entity.data.get("status") == "REMOVED":
            raise _removed_error(where, name)
        return entity

    def parse_resource_id(self, name: Any, collection: str, where: str) -> str:
        """The id in a resource name of this customer."""
        parts = re.fullmatch(_RESOURCE_NAME_PATTERN, name)
        if parts is None or parts[2] != collection:
            raise InvalidRequest("requestError.RESOURCE_NAME_MALFORMED", where, f"customers/.../{collection}/...", name)
        if parts[1] != self.account.id:
            raise InvalidRequest("mutateError.RESOURCE_NOT_FOUND", where, "The resource is of another customer.", name)
        return parts[3]

    def resolve_budget(self, resource: tables.MutableResource, data: dict[str, Any], where: str) -> None:
        """Replace the temporary name of a campaign's budget."""
        if resource.kind == "campaign":
            budget = self.require_reference(data["campaignBudget"], "budget", f"{where}/campaignBudget")
            data["campaignBudget"] = build_resource_name(budget)

    def check_money(self, fields: messages.MessageFields, data: Mapping[str, Any], where: str) -> None:
        """Check bids: above 0, and multiples of the currency's billable unit."""
        unit = catalogs.get_billable_unit(self.account)
        for native_field, value, at in messages.iterate_fields(fields, data, where):
            if native_field.kind.name != "money" or value is None:
                continue
            if value <= 0:
                raise InvalidRequest("rangeError.TOO_LOW", at, "The amount must be above 0.", value)
            if value % unit:
                code = "currencyError.VALUE_NOT_MULTIPLE_OF_BILLABLE_UNIT"
                raise InvalidRequest(code, at, f"The amount must be a multiple of {unit} micros.", value)
            if value > tables.MAX_AMOUNT_MICROS:
                raise InvalidRequest("adGroupError.BID_TOO_BIG", at, "The amount is too big.", value)


def _parse_mask_path(fields: messages.MessageFields, path: str, where: str) -> list[str]:
    """One path of an update mask, in JSON names."""
    if not re.fullmatch(_PATH_PATTERN, path):
        raise InvalidRequest("value", where, "updateMask is a comma list of lowerCamelCase paths", path)
    names = path.split(".")
    steps = [messages.find_field(fields, names[: length + 1]) for length in range(len(names))]
    for step in steps:
        if step is None:
            raise InvalidRequest("fieldMaskError.FIELD_NOT_FOUND", where, f"There is no field {path!r}.", path)
        if step.write != "always":
            raise InvalidRequest("fieldError.IMMUTABLE_FIELD", where, f"The field {path!r} cannot be changed.", path)
    last = steps[-1]
    if last is not None and last.kind.name == "message" and last.oneof != tables.BIDDING_ONEOF:
        raise InvalidRequest(
            "fieldMaskError.FIELD_HAS_SUBFIELDS", where, f"The mask must name fields inside {path!r}.", path
        )
    return names


def _find_missing_fields(fields: messages.MessageFields, data: Mapping[str, Any], where: str) -> set[str]:
    """The places of required fields that are absent."""
    return {
        at
        for native_field, value, at in messages.iterate_fields(fields, data, where)
        if native_field.required and value is None
    }


def _removed_error(where: str, name: Any) -> InvalidRequest:
    code = "operationAccessDeniedError.OPERATION_NOT_PERMITTED_FOR_REMOVED_RESOURCE"
    return InvalidRequest(code, where, "The resource is removed.", name)
