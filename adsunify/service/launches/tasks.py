"""Tasks: the work of a member of a change set, as JSON, and how its plan is made.

A task has the member ``do``:

- ``create``: the ``brief``; the ``path`` of the account in the request, for issues; ``replaces``, the operation to
cancel, of which nothing is applied; ``replacesCell``, the cell of that operation, if it has one (id of the launch,
key);
- ``activate``, ``pause``, ``undo``, ``resume``: the ``operationId``;
- ``change``: the ``mutation`` (docs/spec.md, "Mutation"), and its ``path``.

The tasks of a file have its name as ``file``, and the ``cell`` that they create or change (launch, key) or null.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

from attrs import astuple, evolve, frozen

from adsunify.actor import Actor
from adsunify.adapter.edits import Edit
from adsunify.errors import AdsunifyError, Conflict, InvalidInput, Issue
from adsunify.execution.state import CreatedId
from adsunify.models.brief import read_brief
from adsunify.plans.records import ENTITY_KINDS, Plan
from adsunify.service import campaigns, entities, serializers
from adsunify.service.core import Service
from adsunify.service.entities import Mutation
from adsunify.service.network_session import NetworkSession
from adsunify.service.operations import read_operation
from adsunify.service.outcomes.resumption import plan_resumption
from adsunify.service.outcomes.undo import join_plans, plan_undo
from adsunify.service.preparation import with_warnings
from adsunify.store.chains import ChainEnd
from adsunify.store.change_set_runs import Replaced
from adsunify.store.operations import OperationDraft, dump_call_spend, load_call_spend
from adsunify.store.resumptions import FoundEntities
from adsunify.values.exact_json import Json

Task = Mapping[str, Json]
STRICT_TASKS = ("create", "change")
"""The tasks whose refusal makes a change set invalid. Other members are left out with the reason."""


@frozen
class PlannedTask:
    """The plan of a task, and the other members of its operation.

    ``call_spend``: the spend of the original call if an operation is resumed, else None. ``replaced``: the operation to
    replace.
    """

    plan: Plan
    unified: bool = False
    source_operation_id: str | None = None
    undoes: str | None = None
    resumes: ChainEnd | None = None
    found_entities: tuple[FoundEntities, ...] = ()
    call_spend: Json = None
    replaced: Replaced | None = None

    def make_draft(self, account_id: str, plan: Plan, launch_id: str | None) -> OperationDraft:
        """Return the operation to be prepared. ``plan``: the plan, with the warnings of guardrails."""
        return OperationDraft(
            account_id,
            plan,
            self.source_operation_id,
            self.unified,
            load_call_spend(self.call_spend),
            resumes=self.resumes,
            undoes=self.undoes,
            launch_id=launch_id,
        )

    def to_json(self) -> dict[str, Json]:
        """Return the stored form, without the plan itself."""
        end, replaced = self.resumes, self.replaced
        return {
            "planDigest": self.plan.digest,
            "unified": self.unified,
            "sourceOperationId": self.source_operation_id,
            "undoes": self.undoes,
            "resumes": None if end is None else list(astuple(end)),
            "found": [
                [
                    entities_of_step.operation_id,
                    entities_of_step.n,
                    entities_of_step.step_key,
                    [[created.kind, created.id] for created in entities_of_step.created],
                ]
                for entities_of_step in self.found_entities
            ],
            "callSpend": self.call_spend,
            "replaced": None if replaced is None else [replaced.operation_id, replaced.fence, replaced.cell],
        }

    @classmethod
    def from_json(cls, plan: str, value: Mapping[str, Json]) -> PlannedTask:
        """Read what :meth:`to_json` wrote. ``plan``: the text of the plan."""
        return cls(
            Plan.from_bytes(plan.encode("ascii"), value["planDigest"]),
            unified=value["unified"],
            source_operation_id=value["sourceOperationId"],
            undoes=value["undoes"],
            resumes=None if value["resumes"] is None else ChainEnd(*value["resumes"]),
            found_entities=tuple(
                FoundEntities(id_, n, key, [CreatedId(*created) for created in each])
                for id_, n, key, each in value["found"]
            ),
            call_spend=value["callSpend"],
            replaced=None if value["replaced"] is None else Replaced(*value["replaced"]),
        )


@frozen
class RefusedTask:
    """A task that cannot be planned, and why."""

    issues: tuple[Issue, ...]


async def plan_task(service: Service, actor: Actor, account_id: str, task: Task) -> PlannedTask | RefusedTask:
    """Plan a task with reads of the network.

    Raises:
        StoreError: the database failed.
        ProviderThrottled: the network asks to wait.
    """
    try:
        return await _PLANNERS[task["do"]](service, actor, account_id, task)
    except InvalidInput as problem:
        return RefusedTask(tuple(_locate_issue(task, issue) for issue in problem.issues))


def make_refusal(task: Task, problem: AdsunifyError) -> RefusedTask:
    """Make the refusal of a task from an error that has no issues."""
    return RefusedTask((Issue(task.get("path", ""), problem.code, problem.message),))


def _locate_issue(task: Task, issue: Issue) -> Issue:
    """Return an issue of a brief or a change with its path in the request.

    A file has its fields directly in the entity.
    """
    path: str = task.get("path", "")
    if not path:
        return issue
    if task["do"] == "change":
        issue = issue._replace(path=issue.path.removeprefix("fields."))
    if issue.path.partition(".")[0].startswith("account"):
        return issue._replace(path=f"{path}.accountId")
    return issue._replace(path=f"{path}.{issue.path}".rstrip("."))


async def _plan_create(service: Service, actor: Actor, account_id: str, task: Task) -> PlannedTask:
    session = await NetworkSession.load(service, actor, account_id)
    _, plan = await campaigns.plan_campaign(service, session, read_brief(task["brief"]))
    replaces = task.get("replaces")
    return PlannedTask(
        plan,
        unified=True,
        replaced=None if replaces is None else await _read_replaced(service, actor, replaces, task.get("replacesCell")),
    )


async def _read_replaced(service: Service, actor: Actor, operation_id: str, cell: tuple[str, str] | None) -> Replaced:
    """Return an operation that is to be replaced. Raises Conflict if a part of it is or may be applied."""
    record, attempts = await read_operation(service, actor, operation_id)
    if record.status not in ("prepared", "cancelled") or any(attempt.may_be_applied for attempt in attempts):
        raise Conflict("Its operation was executed in the meantime. Look at it first.", code="outcome_changed")
    return Replaced(record.id, record.fence, cell)


async def _plan_activation(service: Service, actor: Actor, account_id: str, task: Task) -> PlannedTask:
    plan, source_id = await campaigns.plan_activation(service, actor, account_id, task["operationId"])
    return PlannedTask(plan, source_operation_id=source_id)


async def _plan_pause(service: Service, actor: Actor, account_id: str, task: Task) -> PlannedTask:
    """Plan the pause of the entities that an operation created, the campaign first."""
    record, attempts = await read_operation(service, actor, task["operationId"])
    created = serializers.operation_to_json(service, record, attempts)["created"]
    session = await NetworkSession.load(service, actor, account_id)
    session.require_active()
    plans: list[Plan] = []
    warnings: list[str] = []
    for kind in ENTITY_KINDS:
        for entity_id in [entity["entityId"] for entity in created if entity["kind"] == kind]:
            try:
                mutation = Mutation("status", kind, entity_id, status="paused")
                plans.append(await entities.plan_mutation(service, session, mutation))
            except InvalidInput as problem:
                if not plans:
                    raise
                warnings.append(f"The {kind} {entity_id} is not paused itself. {problem.message}")
    if not plans:
        raise Conflict("Nothing that it created is known.", code="outcome_undecided")
    plan = plans[0] if len(plans) == 1 else join_plans("status", plans, ())
    return PlannedTask(with_warnings(plan, warnings))


async def _plan_undo(service: Service, actor: Actor, account_id: str, task: Task) -> PlannedTask:
    record, plan = await plan_undo(service, actor, task["operationId"])
    return PlannedTask(plan, undoes=record.id)


async def _plan_resumption(service: Service, actor: Actor, account_id: str, task: Task) -> PlannedTask:
    rest = await plan_resumption(service, actor, task["operationId"])
    return PlannedTask(
        rest.plan,
        unified=rest.record.unified,
        source_operation_id=rest.record.source_operation_id,
        resumes=rest.end,
        found_entities=rest.found_entities,
        call_spend=dump_call_spend(rest.record.call_spend),
    )


async def _plan_change(service: Service, actor: Actor, account_id: str, task: Task) -> PlannedTask:
    session = await NetworkSession.load(service, actor, account_id)
    return PlannedTask(await entities.plan_mutation(service, session, make_mutation(task["mutation"])))


def make_mutation(value: Mapping[str, Json]) -> Mutation:
    """Make a mutation of its JSON."""
    mutation = Mutation(value["action"], value["kind"], value.get("entityId", ""), status=value.get("status", ""))
    return evolve(
        mutation,
        parent_id=value.get("parentId"),
        payload=value.get("payload", {}),
        edit=Edit.from_json(value["edit"]) if "edit" in value else Edit(),
    )


_PLANNERS: Mapping[str, Callable[[Service, Actor, str, Task], Awaitable[PlannedTask]]] = {
    "create": _plan_create,
    "activate": _plan_activation,
    "pause": _plan_pause,
    "undo": _plan_undo,
    "resume": _plan_resumption,
    "change": _plan_change,
}


def describe_refusal(issues: Sequence[Mapping[str, Json]]) -> str:
    """Return the reason why a change set leaves a member out."""
    return " ".join(issue["message"] for issue in issues)
