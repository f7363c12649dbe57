"""Plans: immutable data that define the writes to a network, step by step, and how the responses are read.

A :class:`Step` holds one native :class:`~adsunify.http.messages.Request` and its links to other steps. Bindings are
stored beside the body and never inside it, so text from a caller cannot become a reference. A member that a binding
fills is absent from the body until the step is sent. The digest of a plan is computed over its canonical JSON; a stored
plan never changes. The digest covers the places of marks and not their values, so the digest of a preview equals the
digest of the prepared plan.

Pointers of bindings lead into the request (``/body/adGroups/0/campaignId``, ``/path/id``, ``/query/id``). Pointers of
outputs and expectations lead into the response (``/body/id``, ``/headers/x-restli-id``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Literal, get_args

from attrs import evolve, field, frozen

from adsunify.errors import InvalidInput, Issue
from adsunify.http.messages import Request
from adsunify.plans.exposure import Exposure
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
"""The ids that a step created: output name -> id, or ids in item order."""


def to_kind(kind: str) -> Kind:
    """Return the kind of an entity that is a campaign, an ad group or an ad."""
    if kind == "campaign":
        return "campaign"
    return "adGroup" if kind == "adGroup" else "ad"


@frozen
class Binding:
    """Puts an output of an earlier step into the request, at the pointer ``to``.

    ``prefix`` is put before the id. ``cast`` is "integer" if the network expects the id as a JSON number.
    """

    to: str
    step: str
    output: str
    prefix: str = ""
    cast: Literal["text", "integer"] = "text"


@frozen
class Output:
    """The place of a new id in the response.

    Attributes:
        name: the name of the output.
        at: pointers into the response; the first one that leads to an id counts. With a ``*`` in the pointer the output
            is the list of all ids.
        separator: only the part of the id after its last separator is kept.
        is_text_only: only JSON strings are ids. Meta and Reddit document strings.
        is_percent_encoded: the id may be percent-encoded (Rest.li headers).
        prefix: put before the id.
    """

    name: str
    at: tuple[str, ...]
    separator: str = ""
    is_text_only: bool = False
    is_percent_encoded: bool = False
    prefix: str = ""


@frozen
class Expectation:
    """A value that a successful response must have at the pointer ``at``.

    ``is_case_insensitive``: the case of the text is ignored (Snapchat).
    """

    at: str
    equals: Json
    is_case_insensitive: bool = False


@frozen
class ItemBatch:
    """One request carries several entities. ``Network.parse_item_results`` reads an outcome for each of them.

    Attributes:
        at: the pointer to the array in the request.
        output: the output that holds the ids in item order.
        sent: the member of a sent item that must equal the id in the response; empty if no member must.
        many: False if the array has exactly one item; the output is then its id.
    """

    at: str
    output: str
    sent: str = ""
    many: bool = True


@frozen
class Overlay:
    """An update for networks that replace the whole object: read it, change it, send all of it.

    Attributes:
        read_request: reads the present object.
        at: the pointer to the object in the response.
        into: the pointer in the update request at which the changed object is put.
        drop: top-level members of the object that are not sent.
        changes: pointer -> new value.
        remove: pointers of members that are removed.
    """

    read_request: Request
    at: str
    into: str
    drop: tuple[str, ...] = ()
    changes: Mapping[str, Json] = field(factory=dict)
    remove: tuple[str, ...] = ()


@frozen
class Change:
    """A change as a reviewer sees it: the field, its value before and its value after.

    ``exact`` is the result of a percentage change before it was rounded to the network's unit.
    """

    field: str
    before: Json
    after: Json
    exact: str | None = None


@frozen
class Step:
    """One native write.

    ``kind`` is the kind of the entity that it writes. ``entity`` is the native id of an entity that exists already.
    """

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
        """Return the stored form, without defaults and without the values of marks."""
        request = self.request
        parts = {"body": request.body, "headers": request.headers}
        if (unmarked := remove_marks(parts, self.marks)) is not parts:
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
        """Read what :meth:`to_json` wrote."""
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


@frozen
class Carried:
    """The parts of a step that earlier operations of a chain have applied, so that they are not sent again.

    Attributes:
        outputs: the outputs of the step; None if only some of its items were applied.
        items: the ids of applied items, by position in the planned array.
    """

    outputs: Outputs | None
    items: Mapping[int, str] = field(factory=dict)

    def to_json(self) -> dict[str, Json]:
        """Return the stored form."""
        outputs = (
            None
            if self.outputs is None
            else {name: value if isinstance(value, str) else list(value) for name, value in self.outputs.items()}
        )
        return {"outputs": outputs, "items": [{"index": index, "id": id_} for index, id_ in self.items.items()]}

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> Carried:
        """Read what :meth:`to_json` wrote."""
        return cls(value["outputs"], {item["index"]: item["id"] for item in value["items"]})


def change_to_json(change: Change) -> dict[str, Json]:
    """Return the stored form of a change."""
    value: dict[str, Json] = {"field": change.field, "before": change.before, "after": change.after}
    return value if change.exact is None else value | {"exact": change.exact}


@frozen
class Plan:
    """The steps of one operation. Build a plan with :func:`make_plan`, which checks it.

    A plan never changes, so its JSON and bytes are computed once, at their first use. ``exposure`` is None until it is
    computed, and in plans that were stored before plans had it. ``edit`` is the edit from which the plan was made, as
    JSON, if the plan must be made again before it is executed; None for other plans. ``carried`` has, by step key, the
    parts that earlier operations of the chain have applied.
    """

    network: str
    action: Action
    account: str
    steps: tuple[Step, ...]
    warnings: tuple[str, ...] = ()
    risk: Risk = "low"
    exposure: Exposure | None = None
    version: int = PLAN_VERSION
    edit: Mapping[str, Json] | None = None
    carried: Mapping[str, Carried] = field(factory=dict)

    @cached_property
    def canonical_bytes(self) -> bytes:
        """The canonical bytes, which are stored and digested."""
        return encode_plan(self)

    @cached_property
    def digest(self) -> str:
        """The hexadecimal SHA-256 of :attr:`canonical_bytes`."""
        return _compute_digest(self.canonical_bytes)

    @cached_property
    def as_json(self) -> Mapping[str, Json]:
        """The plan as JSON, without defaults and digest. Callers must not change it."""
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
        if self.exposure is not None:
            value["exposure"] = self.exposure.to_json()
        if self.edit is not None:
            value["edit"] = self.edit
        if self.carried:
            value["carried"] = {key: step.to_json() for key, step in self.carried.items()}
        return value

    @classmethod
    def from_bytes(cls, stored: bytes, digest: str) -> Plan:
        """Read a stored plan.

        Raises:
            ValueError: the bytes do not have this digest.
        """
        return cls.from_json(load_plan_json(stored, digest))

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> Plan:
        """Read the form of :attr:`as_json`."""
        return cls(
            network=value["network"],
            action=value["action"],
            account=value["account"],
            steps=tuple(Step.from_json(step) for step in value["steps"]),
            warnings=tuple(value.get("warnings", ())),
            risk=value.get("risk", "low"),
            exposure=None if "exposure" not in value else Exposure.from_json(value["exposure"]),
            version=value["version"],
            edit=value.get("edit"),
            carried={key: Carried.from_json(step) for key, step in value.get("carried", {}).items()},
        )

    def with_unchecked_guards(self) -> Plan:
        """Return the plan for a call without comparison of the guarded values: dependent amounts are unknown."""
        return self if self.exposure is None else evolve(self, exposure=self.exposure.without_guards())

    def get_step(self, key: str) -> Step:
        """Return the step with this key."""
        return next(step for step in self.steps if step.key == key)


def load_plan_json(stored: bytes, digest: str) -> dict[str, Json]:
    """Read a stored plan as JSON, which is enough to show it.

    Raises:
        ValueError: the bytes do not have this digest.
    """
    if _compute_digest(stored) != digest:
        raise ValueError("a stored plan does not match its digest")
    value: dict[str, Json] = loads(stored)
    return value


def encode_plan(plan: Plan) -> bytes:
    """Serialize a plan to its canonical bytes. ``plan.canonical_bytes`` caches the result."""
    return dumps_canonical(plan.as_json)


def make_plan(
    network: str, action: Action, account: str, steps: Sequence[Step], warnings: Sequence[str] = (), risk: Risk = "low"
) -> Plan:
    """Make a plan from its steps, and check them. Its marks have no values yet; see :func:`add_operation_marks`.

    Raises:
        InvalidInput: ``nothing_to_do``; there are no steps.
        ValueError: two steps have the same key, or a binding does not point to an earlier step.
    """
    earlier_keys: set[str] = set()
    for step in steps:
        if step.key in earlier_keys or not earlier_keys.issuperset([binding.step for binding in step.bindings]):
            raise ValueError(f"step {step.key} repeats a key or is bound to a step that does not come before it")
        earlier_keys.add(step.key)
    if not earlier_keys:
        raise InvalidInput((Issue("", "nothing_to_do", "There is nothing to change: the plan would have no step."),))
    return Plan(network, action, account, tuple(steps), tuple(warnings), risk)


def add_operation_marks(plan: Plan, operation_id: str = "") -> Plan:
    """Return the plan with the mark values of this operation. Its digest and stored bytes stay the same.

    An operation that resumes another one has the mark values of the first operation of its chain. If ``operation_id``
    is empty the values are derived from the digest of the plan.
    """
    if not any(step.marks for step in plan.steps):
        return plan
    id_ = operation_id or plan.digest
    steps = tuple([_mark_step(step, id_) if step.marks else step for step in plan.steps])
    return evolve(plan, steps=steps)


def build_marked_body(step: Mapping[str, Json], operation_id: str) -> Json:
    """Return the body of a stored step (as JSON) with the mark values of this operation."""
    marks = [IdempotencyMark(**mark) for mark in step.get("marks", ())]
    return add_marks({"body": step["request"].get("body")}, marks, operation_id, step["key"])["body"]


def _mark_step(step: Step, operation_id: str) -> Step:
    s, request = step, step.request
    target = add_marks({"body": request.body, "headers": request.headers}, step.marks, operation_id, step.key)
    marked = Request(
        *(request.method, request.url, request.path, request.query, target["headers"], target["body"]),
        *(request.encoding, request.kind, request.query_raw, request.response_format, request.is_signed),
    )
    return Step(  # takes a third of the time of evolve
        *(s.key, s.kind, s.description, marked, s.action, s.entity, s.parent, s.bindings, s.outputs),
        *(s.expectations, s.items, s.overlay, s.can_be_empty, s.changes, s.marks),
    )


def _compute_digest(stored: bytes) -> str:
    return hashlib.sha256(stored).hexdigest()
