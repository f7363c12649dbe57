"""What answers look like: the source of the response schemas. Answers are built as plain data and checked by tests."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

Text = str | None
Uuid = str
Milliseconds = int
Role = Literal["viewer", "member", "admin"]
OperationStatus = Literal["prepared", "running", "succeeded", "unknown", "cancelled"]
Outcome = Literal["not_applied", "applied", "unknown"]
StepState = Literal["planned", "in_flight", "applied", "rejected", "throttled", "ambiguous"]


class Shape(BaseModel):
    """The base of every answer shape; members that are left out when they say nothing have a default."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", populate_by_name=False)


class Verified(Shape):
    """The credential of this request."""

    credential: str
    kind: Literal["key", "agent", "session", "local"]
    workspace_id: Uuid
    workspace: str
    user_id: Uuid
    role: Role
    can_write: bool
    expires_at: Text


class Key(Shape):
    """An API key without its secret."""

    key_id: Uuid
    name: str
    prefix: str
    owner_id: Uuid
    can_write: bool
    expires_at: Text
    revoked_at: Text
    last_used_at: Text


class CreatedKey(Key):
    """A new API key; ``secret`` is shown this once."""

    secret: str


class ConnectedAgent(Shape):
    """What you allow an agent in this workspace."""

    grant_id: Uuid
    client_id: Uuid
    client_name: str
    can_write: bool
    created_at: str
    expires_at: str
    revoked_at: Text


class Connection(Shape):
    """A connection to a network, without its credentials."""

    connection_id: Uuid
    network: str
    status: Literal["active", "needs_reauth", "disconnected"]
    accounts: list[Uuid]
    expires_at: Text
    created_at: str


class Consent(Shape):
    """A single-use hosted consent link."""

    url: str
    expires_at: str


class Account(Shape):
    """An ad account of the workspace."""

    account_id: Uuid
    network: str
    native_id: str
    name: Text
    currency: Text
    timezone: Text
    status: Literal["active", "needs_reauth", "disconnected"]
    native_status: Text
    connection_id: Text
    extras: dict[str, str]


class Requirement(Shape):
    """One row of what a format does with a member of the brief."""

    path: str
    need: Literal["required", "optional", "one", "any", "refused"]
    goals: list[str]
    periods: list[str]
    group: Text
    choices: list[str]
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


class Node(Shape):
    """One entity of the native hierarchy."""

    kind: str
    id: str
    parent_id: Text
    name: Text
    status: Text
    native_status: Text
    native: dict[str, Any]


class Entity(Node):
    """One native entity: ``status`` is the unified one, null where the native one has no such meaning."""


class EditableField(Shape):
    """One field that an edit may change; ``locked``: why not now."""

    field: str
    value: Any
    unit: Text
    period: Literal["daily", "lifetime"] | None = None
    choices: list[str] = []
    min: Text = None
    max: Text = None
    locked: Text


class Settings(Shape):
    """What may be edited on an entity, and what surrounds it, in the network's own words."""

    entity_id: str
    kind: str
    fields: list[EditableField]
    targeting: dict[str, Any]
    bidding: dict[str, Any]
    creative: dict[str, Any]
    notes: list[str]


class TreeLevel(Shape):
    """One level of the native hierarchy and its parent key."""

    kind: str
    native: str
    parent_key: Text


class Tree(Shape):
    """The native hierarchy, flat, parents first."""

    account_id: Uuid
    network: str
    levels: list[TreeLevel]
    nodes: list[Node]
    truncated: bool
    read_at: str


class Day(Shape):
    """One day's normalized figures; amounts are exact decimal strings in major units."""

    date: str
    impressions: int | None
    clicks: int | None
    spend: Text
    conversions: Text
    conversion_value: Text
    video_views: int | None
    reach: int | None


class Figures(Shape):
    """Totals over the rows; null where any part is missing."""

    impressions: int | None
    clicks: int | None
    spend: Text
    conversions: Text
    conversion_value: Text
    video_views: int | None
    reach: int | None


class Range(Shape):
    """Days, both included."""

    start_date: str
    end_date: str


class Coverage(Range):
    """What the rows cover."""

    timezone: Text
    complete: bool
    provisional_from: Text
    missing: list[Range]
    notes: list[str]


class Pending(Shape):
    """A report the network is still making; ask again with the same dates, or resume ``report:<job>``."""

    job: str
    status: str
    retry_after_ms: Milliseconds | None


class Insights(Shape):
    """Normalized daily metrics."""

    account_id: Uuid
    currency: Text
    timezone: Text
    rows: list[Day]
    totals: Figures
    native_rows: list[Any]
    coverage: Coverage
    pending: Pending | None


class CatalogRow(Shape):
    """One row of a catalog."""

    id: str
    name: str
    native: Any


class ChangeInWords(Shape):
    """One change of a step."""

    field: str
    before: Any
    after: Any


class PlanStep(Shape):
    """One native write as it will be sent."""

    key: str
    kind: str
    action: Literal["create", "update", "delete"]
    does: str
    method: str
    path: str
    body: Any
    changes: list[ChangeInWords]


class PlanView(Shape):
    """The immutable plan."""

    version: int
    digest: str
    steps: list[PlanStep] = []


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


class StepReceipt(Shape):
    """What became of one attempt of a step."""

    key: str
    attempt: int
    state: StepState
    intent_at: Text
    receipt_at: Text
    http_status: int | None
    request_id: Text
    outputs: dict[str, str | list[str]]
    items: list[ItemReceipt]
    response: Any
    error: NativeError | None


class Receipt(Shape):
    """The saved receipt of an operation."""

    steps: list[StepReceipt]


class Stopped(Shape):
    """Why the last execution stopped; ``step`` is the step's key."""

    code: str
    message: str
    outcome: Outcome = "not_applied"
    step: Text = None
    network: NativeError | None = None


class CreatedBy(Shape):
    """Who prepared the operation, and with what."""

    user_id: Uuid
    credential: str


class Operation(Shape):
    """A prepared change with its saved receipt."""

    id: Uuid
    status: OperationStatus
    action: Literal["create", "activate", "status", "update", "delete", "edit"]
    network: str
    account_id: Uuid
    created_by: CreatedBy
    created_at: str
    expires_at: str
    expired: bool
    stalled: bool
    next_action: Literal["execute"] | None = None
    retry_after_ms: Milliseconds | None = None
    review_url: str
    source_operation_id: Uuid | None = None
    risk: Literal["low", "spend", "destructive"]
    warnings: list[str]
    plan: PlanView
    receipt: Receipt
    error: Stopped | None = None


class Validated(Shape):
    """A valid brief and the plan it would become."""

    valid: Literal[True]
    network: str
    format: str
    plan: PlanView
    risk: Literal["low", "spend", "destructive"]
    warnings: list[str]


class ValidChange(Shape):
    """A valid native change and the plan it would become."""

    valid: Literal[True]
    network: str
    action: Literal["create", "status", "update", "delete", "edit"]
    plan: PlanView
    risk: Literal["low", "spend", "destructive"]
    warnings: list[str]


class Prepared(Shape):
    """Several prepared operations."""

    operations: list[Operation]


class Webhook(Shape):
    """A subscription, without its signing secret."""

    webhook_id: Uuid
    url: str
    account_id: Uuid | None
    events: list[str]
    active: bool
    created_by: CreatedBy
    created_at: str


class CreatedWebhook(Webhook):
    """A new subscription; ``secret`` signs its deliveries and is shown this once."""

    secret: str


class Delivery(Shape):
    """One event on its way to one subscription."""

    delivery_id: Uuid
    event_id: Uuid
    type: str
    status: Literal["pending", "delivering", "succeeded", "failed"]
    attempts: int
    next_attempt_at: Text


class Attempt(Shape):
    """One attempt: the status answered, or why there was no answer."""

    number: int
    at: str
    duration_ms: Milliseconds | None
    status_code: int | None
    error: Text


class ProblemIssue(Shape):
    """One thing wrong with the input: members by dots, list positions by a slash."""

    path: str
    code: str
    message: str


class Failure(Shape):
    """What went wrong; ``outcome`` says whether a native write was applied."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    outcome: Outcome
    issues: list[ProblemIssue] = []
    operation_id: Uuid | None = None
    operation: Operation | None = None
    network: NativeError | None = None
    retry_after_ms: Milliseconds | None = None


class Problem(Failure):
    """RFC 9457 problem details."""

    request_id: str


class BatchDone(Shape):
    """An operation of a batch as it stands after the call."""

    operation_id: Uuid
    status: OperationStatus
    operation: Operation


class BatchFailed(Shape):
    """An operation of a batch whose execution failed."""

    operation_id: Uuid
    error: Failure


class Batch(Shape):
    """Per-operation results, in the order asked for."""

    results: list[BatchDone | BatchFailed]
