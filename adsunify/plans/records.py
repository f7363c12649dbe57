"""A plan is immutable data: what will be sent to a network, step by step, and how its answers are read.

A :class:`Step` is a finished native :class:`~adsunify.http.messages.Request` and what ties it to its neighbours.
Bindings are kept beside the body, never inside it, so nothing that a caller wrote can become a reference. Bodies are
decoded values; a member that a binding fills is absent until then. Plans are digested over canonical JSON, stored, and
never edited. The digest covers the places of marks, not their values, so a preview and the prepared plan have the same
digest.

Pointers of bindings go into the request (``/body/adGroups/0/campaignId``, ``/path/id``, ``/query/id``); pointers of
outputs and promises go into the answer (``/body/id``, ``/headers/x-restli-id``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Literal, get_args

from attrs import evolve, field, frozen

from adsunify.errors import InvalidInput, Issue
from adsunify.http.messages import Request
from adsunify.plans.marks import IdempotencyMark, add_marks, remove_marks
from adsunify.values.exact_json import Json, dumps_canonical, loads

PLAN_VERSION = 1

Kind = Literal["campaign", "adGroup", "ad"]
ENTITY_KINDS: tuple[Kind, ...] = get_args(Kind)
"""The kinds of entities, parents first."""
Action = Literal["create", "activate", "status", "update", "delete", "edit"]
StepAction = Literal["create", "update", "delete"]
Risk = Literal["low", "spend", "destructive"]
Outputs = Mapping[str, str | Sequence[str]]
"""What a step brought: output name to id, or to ids in item order."""


@frozen
class Binding:
    """Puts an earlier step's output at one place of the request; ``cast`` "integer" for ids sent as JSON numbers."""

    to: str
    step: str
    output: str
    prefix: str = ""
    cast: Literal["text", "integer"] = "text"


@frozen
class Output:
    """Where the answer holds a new id: the first pointer of ``at`` that finds one; ``separator`` keeps the last
    segment.

    With a ``*`` in the pointer the output is the list of all ids found. ``is_text_only``: an id that is no JSON string
    is no id (Meta and Reddit document strings; anything else is a malformed answer). ``is_percent_encoded``: the id may
    stand there percent-encoded (Rest.li headers). ``prefix`` is put before what was kept.
    """

    name: str
    at: tuple[str, ...]
    separator: str = ""
    is_text_only: bool = False
    is_percent_encoded: bool = False
    prefix: str = ""


@frozen
class Expectation:
    """What else must be true of a good answer; ``is_case_insensitive``: a word in capitals or small letters alike
    (Snapchat).
    """

    at: str
    equals: Json
    is_case_insensitive: bool = False


@frozen
class ItemBatch:
    """One request carries several entities, each with its own outcome, read by ``Network.items``.

    ``at``: where the sent array is; ``sent``: the member of a sent item that the answered id must equal, if any;
    ``output``: the output that holds the ids in item order. ``many`` false: exactly one item, and the output is its id.
    """

    at: str
    output: str
    sent: str = ""
    many: bool = True


@frozen
class Overlay:
    """An update that replaces the whole object.

    ``read_request`` it, take ``at`` of the answer, ``drop`` members, lay ``changes`` (pointer to value) over it,
    ``remove`` pointers, and put the result ``into`` the request.
    """

    read_request: Request
    at: str
    into: str
    drop: tuple[str, ...] = ()
    changes: Mapping[str, Json] = field(factory=dict)
    remove: tuple[str, ...] = ()


@frozen
class Change:
    """One change in words for the reviewer: the field, its value before, its value after.

    ``exact``: what a percentage came to before it was cut to the network's unit.
    """

    field: str
    before: Json
    after: Json
    exact: str | None = None


@frozen
class Step:
    """One native write. ``kind`` is the entity kind it touches; ``entity`` its native id where it exists already."""

    key: str
    kind: str
    description: str
    request: Request
    action: StepAction = "create"
    entity: str | None = None
    parent: str | None = None
    bindings: tuple[Binding, ...] = ()
    outputs: tuple[Output, ...] = ()
    expectations: tuple[Expectation, ...] = ()
    items: ItemBatch | None = None
    overlay: Overlay | None = None
    can_be_empty: bool = False
    changes: tuple[Change, ...] = ()
    marks: tuple[IdempotencyMark, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """As JSON, defaults and the values of marks left out."""
        request = self.request
        if self.marks:
            unmarked = remove_marks({"body": request.body, "headers": request.headers}, self.marks)
            request = evolve(request, body=unmarked["body"], headers=unmarked["headers"])
        value: dict[str, Json] = {
            "key": self.key,
            "kind": self.kind,
            "does": self.description,
            "request": request.to_json(),
            "action": self.action,
        }
        if self.entity is not None:
            value["entity"] = self.entity
        if self.parent is not None:
            value["parent"] = self.parent
        if self.bindings:
            value["bindings"] = [_binding_to_json(binding) for binding in self.bindings]
        if self.outputs:
            value["outputs"] = [_output_to_json(output) for output in self.outputs]
        if self.expectations:
            value["promises"] = [_expectation_to_json(promise) for promise in self.expectations]
        if self.items is not None:
            value["items"] = _batch_to_json(self.items)
        if self.overlay is not None:
            value["overlay"] = _overlay_to_json(self.overlay)
        if self.can_be_empty:
            value["emptyOk"] = True
        if self.changes:
            value["changes"] = [change_to_json(change) for change in self.changes]
        if self.marks:
            value["marks"] = [{"to": mark.to, "form": mark.form, "prefix": mark.prefix} for mark in self.marks]
        return value

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> Step:
        overlay = value.get("overlay")
        items = value.get("items")
        return cls(
            key=value["key"],
            kind=value["kind"],
            description=value["does"],
            request=Request.from_json(value["request"]),
            action=value["action"],
            entity=value.get("entity"),
            parent=value.get("parent"),
            bindings=tuple(Binding(**binding) for binding in value.get("bindings", ())),
            outputs=tuple(
                Output(
                    output["name"],
                    tuple(output["at"]),
                    output.get("after", ""),
                    output.get("textOnly", False),
                    output.get("decoded", False),
                    output.get("prefix", ""),
                )
                for output in value.get("outputs", ())
            ),
            expectations=tuple(
                Expectation(promise["at"], promise["equals"], promise.get("anyCase", False))
                for promise in value.get("promises", ())
            ),
            items=None if items is None else ItemBatch(**items),
            overlay=None
            if overlay is None
            else Overlay(
                Request.from_json(overlay["read"]),
                overlay["at"],
                overlay["into"],
                tuple(overlay.get("drop", ())),
                overlay.get("changes", {}),
                tuple(overlay.get("remove", ())),
            ),
            can_be_empty=value.get("emptyOk", False),
            changes=tuple(Change(**change) for change in value.get("changes", ())),
            marks=tuple(IdempotencyMark(**mark) for mark in value.get("marks", ())),
        )


def _binding_to_json(binding: Binding) -> dict[str, Json]:
    value: dict[str, Json] = {"to": binding.to, "step": binding.step, "output": binding.output}
    if binding.prefix:
        value["prefix"] = binding.prefix
    if binding.cast != "text":
        value["cast"] = binding.cast
    return value


def _output_to_json(output: Output) -> dict[str, Json]:
    value: dict[str, Json] = {"name": output.name, "at": list(output.at)}
    if output.separator:
        value["after"] = output.separator
    if output.is_text_only:
        value["textOnly"] = True
    if output.is_percent_encoded:
        value["decoded"] = True
    if output.prefix:
        value["prefix"] = output.prefix
    return value


def _expectation_to_json(promise: Expectation) -> dict[str, Json]:
    value: dict[str, Json] = {"at": promise.at, "equals": promise.equals}
    return value | {"anyCase": True} if promise.is_case_insensitive else value


def _batch_to_json(items: ItemBatch) -> dict[str, Json]:
    value: dict[str, Json] = {"at": items.at, "output": items.output}
    if items.sent:
        value["sent"] = items.sent
    if not items.many:
        value["many"] = False
    return value


def _overlay_to_json(overlay: Overlay) -> dict[str, Json]:
    value: dict[str, Json] = {"read": overlay.read_request.to_json(), "at": overlay.at, "into": overlay.into}
    if overlay.drop:
        value["drop"] = list(overlay.drop)
    if overlay.changes:
        value["changes"] = dict(overlay.changes)
    if overlay.remove:
        value["remove"] = list(overlay.remove)
    return value


def change_to_json(change: Change) -> dict[str, Json]:
    """A change as JSON."""
    value: dict[str, Json] = {"field": change.field, "before": change.before, "after": change.after}
    return value if change.exact is None else value | {"exact": change.exact}


@frozen
class Plan:
    """What one operation will do: at least one step. Build it with :func:`make_plan`, which checks it.

    A plan is never changed, so its JSON and bytes are written once, when they are asked for.
    """

    network: str
    action: Action
    account: str
    steps: tuple[Step, ...]
    warnings: tuple[str, ...] = ()
    risk: Risk = "low"
    version: int = PLAN_VERSION

    @cached_property
    def canonical_bytes(self) -> bytes:
        """The canonical bytes, which are what is kept and digested."""
        return encode_plan(self)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of :attr:`stored`."""
        return _compute_digest(self.canonical_bytes)

    @cached_property
    def as_json(self) -> Mapping[str, Json]:
        """As JSON, defaults left out; the digest is not part of it. It is shared: nobody changes it."""
        value: dict[str, Json] = {
            "network": self.network,
            "action": self.action,
            "account": self.account,
            "version": self.version,
            "steps": [step.to_json() for step in self.steps],
        }
        if self.warnings:
            value["warnings"] = list(self.warnings)
        if self.risk != "low":
            value["risk"] = self.risk
        return value

    @classmethod
    def from_bytes(cls, stored: bytes, digest: str) -> Plan:
        """Read a stored plan; bytes that do not have this digest are refused (ValueError)."""
        value = load_plan_json(stored, digest)
        return cls(
            network=value["network"],
            action=value["action"],
            account=value["account"],
            steps=tuple(Step.from_json(step) for step in value["steps"]),
            warnings=tuple(value.get("warnings", ())),
            risk=value.get("risk", "low"),
            version=value["version"],
        )

    def get_step(self, key: str) -> Step:
        """The step with this key."""
        return next(step for step in self.steps if step.key == key)


def load_plan_json(stored: bytes, digest: str) -> dict[str, Json]:
    """A stored plan as JSON, for who only shows it; bytes that do not have this digest are refused (ValueError)."""
    if _compute_digest(stored) != digest:
        raise ValueError("a stored plan does not match its digest")
    value: dict[str, Json] = loads(stored)
    return value


def encode_plan(plan: Plan) -> bytes:
    """The canonical bytes of a plan, written anew; ``plan.canonical_bytes`` holds them."""
    return dumps_canonical(plan.as_json)


def make_plan(
    network: str, action: Action, account: str, steps: Sequence[Step], warnings: Sequence[str] = (), risk: Risk = "low"
) -> Plan:
    """A plan has at least one step; keys are unique; bindings point to earlier steps.

    The places of its marks are empty until it is an operation's (see :func:`add_operation_marks`).
    """
    seen: set[str] = set()
    for step in steps:
        if step.key in seen or not seen.issuperset([binding.step for binding in step.bindings]):
            raise ValueError(f"step {step.key} repeats a key or is bound to a step that does not come before it")
        seen.add(step.key)
    if not seen:
        raise InvalidInput((Issue("", "nothing_to_do", "There is nothing to change: the plan would have no step."),))
    return Plan(network, action, account, tuple(steps), tuple(warnings), risk)


def add_operation_marks(plan: Plan, operation_id: str = "") -> Plan:
    """The plan with the marks of this operation; its digest and stored bytes stay the same.

    Without an operation the marks follow from what the plan does.
    """
    if not any(step.marks for step in plan.steps):
        return plan
    id_ = operation_id or plan.digest
    steps = tuple([_mark_step(step, id_) if step.marks else step for step in plan.steps])
    return Plan(plan.network, plan.action, plan.account, steps, plan.warnings, plan.risk, plan.version)


def build_marked_body(step: Mapping[str, Json], operation_id: str) -> Json:
    """The body of a stored step (its JSON) with the marks of this operation."""
    marks = [IdempotencyMark(**mark) for mark in step.get("marks", ())]
    return add_marks({"body": step["request"].get("body")}, marks, operation_id, step["key"])["body"]


def _mark_step(step: Step, operation_id: str) -> Step:
    s, request = step, step.request
    target = add_marks({"body": request.body, "headers": request.headers}, step.marks, operation_id, step.key)
    marked = Request(
        *(request.method, request.url, request.path, request.query, target["headers"], target["body"]),
        *(request.encoding, request.kind, request.query_raw, request.response_format, request.is_signed),
    )
    return Step(  # three times as fast as evolve
        *(s.key, s.kind, s.description, marked, s.action, s.entity, s.parent, s.bindings, s.outputs),
        *(s.expectations, s.items, s.overlay, s.can_be_empty, s.changes, s.marks),
    )


def _compute_digest(stored: bytes) -> str:
    return hashlib.sha256(stored).hexdigest()
