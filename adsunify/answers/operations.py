"""Prepared changes, their plans and receipts, and errors."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, GetCoreSchemaHandler
from pydantic_core import core_schema

from adsunify.errors import NotFound

from .shape import OPEN, Instant, Milliseconds, Shape, Text, Url, Uuid

OperationStatus = Annotated[Literal["prepared", "running", "succeeded", "unknown", "cancelled"] | str, OPEN]
Outcome = Annotated[Literal["not_applied", "partly_applied", "applied", "unknown"] | str, OPEN]
Risk = Annotated[Literal["low", "spend", "destructive"] | str, OPEN]
StepState = Annotated[Literal["planned", "in_flight", "applied", "rejected", "throttled", "ambiguous"] | str, OPEN]


class ChangeInWords(Shape):
    """One change of a step. ``exact`` is the result of a percentage before it was rounded to the network's unit."""

    field: str
    before: Any
    after: Any
    exact: str = ""


class FilledIn(Shape):
    """A member of a step's request that is filled with an output of an earlier step when the request is sent.

    ``to`` is a JSON pointer into the request: below ``/body``, or ``/path/<slot>`` and ``/query/<name>`` of the URL.
    ``prefix`` is put before the output.
    """

    to: str
    step: str
    output: str
    prefix: str


class PlanStep(Shape):
    """One native write. ``bindings`` are the members that are filled from earlier steps when it is sent."""

    key: str
    kind: str
    action: Annotated[Literal["create", "update", "delete"] | str, OPEN]
    does: str
    method: str
    path: str
    body: Any
    bindings: list[FilledIn]
    changes: list[ChangeInWords]


class Spend(Shape):
    """What may be spent on one day and in total, in major units: an amount, ``unbounded`` or ``unknown``."""

    currency: Text
    daily: str
    lifetime: str


class CarriedItem(Shape):
    """An item of a step that an earlier operation has written; ``index`` is its position in the request."""

    index: int
    id: str


class Carried(Shape):
    """What earlier operations have written of a step, so that it is not sent again.

    ``outputs`` is null if only some of its items are written.
    """

    outputs: dict[str, str | list[str]] | None
    items: list[CarriedItem]


class PlanView(Shape):
    """The immutable plan.

    ``exposure`` is what can be spent once the plan is executed and could not be spent before. ``planned`` are the
    budgets that it sets up, even if everything stays paused. Lists of operations leave both out; both are null in plans
    that were prepared before plans had them. ``carried`` has, by step key, what the operations that this one resumes
    have written. After ``bodyRemovedAt`` the bodies, queries and bindings of the steps are gone: retention has removed
    them. The digest is still the digest of the complete plan.
    """

    version: int
    digest: str
    exposure: Spend | None = None
    planned: Spend | None = None
    steps: list[PlanStep] = Field([])
    carried: dict[str, Carried] = Field({})
    body_removed_at: Instant | None = None


class NativeError(Shape):
    """The network's own error."""

    code: Text
    message: Text
    request_id: Text
    status: int | None


class ItemReceipt(Shape):
    """The outcome of one item."""

    index: int
    state: StepState
    id: Text
    error: NativeError | None


class ActedBy(Shape):
    """Who executed or cancelled an operation, with which credential, and when."""

    user_id: Uuid
    credential: str
    at: Instant


class StepReceipt(Shape):
    """The outcome of one attempt at a step. ``executedBy`` is null for attempts of version 0.1.0."""

    key: str
    attempt: int
    state: StepState
    executed_by: ActedBy | None
    intent_at: Instant | None
    receipt_at: Instant | None
    http_status: int | None
    request_id: Text
    outputs: dict[str, str | list[str]]
    items: list[ItemReceipt]
    response: Any
    error: NativeError | None


class Receipt(Shape):
    """The saved receipt of an operation. After ``responsesRemovedAt`` its raw responses are gone, by retention."""

    steps: list[StepReceipt]
    responses_removed_at: Instant | None = None


class Stopped(Shape):
    """Why the last execution stopped. ``step`` is the key of the step at which it stopped.

    ``outcome`` describes the whole operation as it is now. ``appliedSteps`` lists the steps that were applied,
    completely or in part.
    """

    code: str
    message: str
    outcome: Outcome
    applied_steps: list[str]
    step: Text = None
    network: NativeError | None = None


class CreatedBy(Shape):
    """Who prepared the operation, and with which credential."""

    user_id: Uuid
    credential: str


class CreatedEntity(Shape):
    """A campaign, ad group or ad that the operation created. ``stepKey`` is the key of the step that created it."""

    kind: Annotated[Literal["campaign", "adGroup", "ad"] | str, OPEN]
    entity_id: str
    step_key: str


class CreatedEntities(tuple[CreatedEntity, ...]):
    """What an operation created, in the order of its steps."""

    __slots__ = ()

    @property
    def campaign_id(self) -> str:
        """The id of the campaign, as lists show it. Raises NotFound where the operation has created none."""
        return self._get_id("campaign")

    @property
    def ad_group_id(self) -> str:
        """The id of the first ad group, as lists show it. Raises NotFound where the operation has created none."""
        return self._get_id("adGroup")

    @property
    def ad_ids(self) -> list[str]:
        """The ids of the ads, as lists show them."""
        return self._list_ids("ad")

    def _list_ids(self, kind: str) -> list[str]:
        return [entity.entity_id for entity in self if entity.kind == kind]

    def _get_id(self, kind: str) -> str:
        ids = self._list_ids(kind)
        if not ids:
            raise NotFound(
                f"The operation has created no entity of the kind {kind}. Lists of operations do not show what was "
                "created: read the operation with operations.get."
            )
        return ids[0]

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_after_validator_function(cls, handler.generate_schema(list[CreatedEntity]))


class Operation(Shape):
    """A prepared change with its receipt. ``executedBy`` is the last caller who executed it.

    ``resumes`` is the operation that this one continues; ``resumedBy`` is the operation that continues this one.
    ``launchId`` is the launch that it belongs to. ``restoredAt`` is when the database was restored from a backup: what
    happened to the operation after the backup is not known, so nothing more is written with it.
    ``created`` lists the campaigns, ad groups and ads that its steps have created. Lists of operations leave it out.
    """

    id: Uuid
    status: OperationStatus
    action: Annotated[Literal["create", "activate", "status", "update", "delete", "edit"] | str, OPEN]
    network: str
    account_id: Uuid
    created_by: CreatedBy
    created_at: Instant
    expires_at: Instant
    expired: bool
    stalled: bool
    next_action: Annotated[Literal["execute"] | str, OPEN] | None = None
    retry_after_ms: Milliseconds | None = None
    review_url: Url
    source_operation_id: Uuid | None = None
    restored_at: Instant | None = None
    undoes: Uuid | None = None
    undone_by: Uuid | None = None
    launch_id: Uuid | None = None
    resumes: Uuid | None = None
    resumed_by: Uuid | None = None
    executed_by: ActedBy | None = None
    cancelled_by: ActedBy | None = None
    risk: Risk
    warnings: list[str]
    plan: PlanView
    receipt: Receipt
    created: CreatedEntities = Field(default_factory=CreatedEntities)
    error: Stopped | None = None

    @property
    def can_continue(self) -> bool:
        """Whether the next step is to execute the operation again, after ``retry_after_ms``."""
        return self.status == "prepared" and self.next_action == "execute"


class Settlement(Shape):
    """What a person decided about a step in doubt. ``settledBy`` says who decided and when."""

    operation_id: Uuid
    step: str
    verdict: Annotated[Literal["applied", "not_applied"] | str, OPEN]
    entity_id: Text
    reason: str
    settled_by: ActedBy


class Validated(Shape):
    """A valid brief and its plan."""

    valid: Literal[True]
    network: str
    format: str
    plan: PlanView
    risk: Risk
    warnings: list[str]


class ValidChange(Shape):
    """A valid native change and its plan."""

    valid: Literal[True]
    network: str
    action: Annotated[Literal["create", "status", "update", "delete", "edit"] | str, OPEN]
    plan: PlanView
    risk: Risk
    warnings: list[str]


class Prepared(Shape):
    """Several prepared operations."""

    operations: list[Operation]


class ProblemIssue(Shape):
    """One error in the input. A path joins members and list positions by dots: targeting.keywords.0.text."""

    path: str
    code: str
    message: str


class BrokenGuardrail(Shape):
    """A guardrail that refuses a plan, with its member such as ``perOperation.daily``. Amounts are in major units.

    ``limit`` is the amount of the member; ``used`` is what its window counts already; ``asked`` is the amount
    that the plan exposes or plans, ``unbounded`` or ``unknown``; ``fits`` is the highest amount that the guardrail
    allows. They are null where they do not apply.
    """

    guardrail_id: Uuid
    rule: str
    member: str
    currency: Text
    limit: Text
    used: Text
    asked: Text
    fits: Text


class StaleMember(Shape):
    """A value at the network that differs from the value that the plan assumed.

    ``member`` is a field such as ``budget``, or ``entity`` if the entity is gone. Otherwise it is a JSON pointer into
    the native write, which would now set another value. ``currency`` is the currency of an amount in major units, and
    null for other values.
    """

    kind: str
    entity_id: str
    member: str
    planned: Any
    found: Any
    currency: Text


class Failure(Shape):
    """An error. ``outcome`` says whether native writes were applied. ``guardrails`` are the rules that refuse it.

    ``differences`` are the values that changed since the plan was made. If there is an ``operationId``, ``outcome``
    describes the whole operation, and ``appliedSteps`` lists the steps that were applied, completely or in part.
    Otherwise ``outcome`` describes the call alone.
    """

    type: str
    title: str
    status: int
    detail: str
    code: str
    outcome: Outcome
    issues: list[ProblemIssue] = Field([])
    guardrails: list[BrokenGuardrail] = Field([])
    differences: list[StaleMember] = Field([])
    operation_id: Uuid | None = None
    operation: Operation | None = None
    applied_steps: list[str] = Field([])
    network: NativeError | None = None
    retry_after_ms: Milliseconds | None = None


class Problem(Failure):
    """RFC 9457 problem details."""

    request_id: str


class BatchDone(Shape):
    """An operation of a batch after the call."""

    operation_id: Uuid
    status: OperationStatus
    operation: Operation


class BatchFailed(Shape):
    """An operation of a batch whose execution failed."""

    operation_id: Uuid
    error: Failure


class Batch(Shape):
    """The results of the operations, in the order of the request."""

    results: list[BatchDone | BatchFailed]


class ComparedMember(Shape):
    """A member that was sent, compared with what the network shows now.

    ``member`` is a JSON pointer in native names, or the field of an edit. ``reason`` says why a member is
    ``unreadable``.
    """

    member: str
    result: Annotated[Literal["same", "different", "unreadable"] | str, OPEN]
    planned: Any
    found: Any
    reason: Text


class EvidenceRead(Shape):
    """One read of the network: what was read, when, and what it contained, in words."""

    read: str
    at: Instant
    found: str


class InspectedStep(Shape):
    """One step. ``state`` is what the receipts say. ``verdict`` and ``reason`` are null unless it is in doubt.

    ``members`` are the compared members of an applied step. ``settledBy`` is the person who decided the step, if any.
    """

    key: str
    kind: str
    action: Annotated[Literal["create", "update", "delete"] | str, OPEN]
    description: str
    state: Annotated[Literal["applied", "in_doubt", "not_applied", "planned"] | str, OPEN]
    entity_id: Text
    verdict: Annotated[Literal["applied", "not_applied", "undecided"] | str, OPEN] | None
    reason: Text
    members: list[ComparedMember]
    evidence: list[EvidenceRead]
    settled_by: ActedBy | None


class Inspection(Shape):
    """What the network shows of an operation. ``advice`` is one sentence that says what to do now."""

    operation_id: Uuid
    status: OperationStatus
    inspected_at: Instant
    steps: list[InspectedStep]
    is_decided: bool
    advice: str
