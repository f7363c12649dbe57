"""The namespace ``operations``. Written by ``nox -s client`` from the contract table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Literal

from adsunify.answers import Account, Batch, Inspection, Node, Operation, Settlement, ValidChange
from adsunify.client.batches import BatchRun
from adsunify.client.pages import Pages
from adsunify.client.resource import Resource, check_progress, get_pause
from adsunify.contract.requests import Status
from adsunify.errors import AdsunifyError
from adsunify.models.edit import EditBody
from adsunify.models.guardrail import GuardedAction
from adsunify.plans.records import Kind
from adsunify.values.exact_json import Json
from adsunify.values.network_codes import NetworkCode


class OperationsResource(Resource):
    """Prepared changes with their receipts."""

    def list(
        self,
        *,
        limit: int | None = None,
        status: Literal["prepared", "running", "succeeded", "unknown", "cancelled"] | None = None,
        account: Account | str | None = None,
        network: NetworkCode | None = None,
        action: GuardedAction | None = None,
        created_by: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Pages[Operation]:
        """List operations in your scope, newest first, without plan bodies.

        Without parameters it lists the latest 50.

        With any parameter it lists one page. A page may be short or empty; a ``next_cursor`` means that older
        operations may follow. ``created_by`` is a user's id or a credential. ``since`` is included, ``until`` is not.
        An ``account_id`` that the workspace does not have is 404.

        Access: Any valid credential of the workspace.

        Args:
            limit: how many rows the server returns at once, 1 to 100.
            status: only operations with this status.
            account: only operations of this account, or of its id.
            network: only operations on this network.
            action: only operations with this action.
            created_by: only operations that this user prepared, or this credential; an id.
            since: only operations that were prepared at this time or later; an instant with a time zone.
            until: only operations that were prepared before this time; an instant with a time zone.

        Returns:
            An iterator over all rows, of the class Operation. A prepared change with its receipt. ``executed_by`` is
            the last caller who executed it.

        Raises:
            InvalidInput: with all issues of the input.
        """
        return Pages(
            self._client,
            Operation,
            "get_operations",
            {
                "limit": limit,
                "status": status,
                "accountId": account,
                "network": network,
                "action": action,
                "createdBy": created_by,
                "since": since,
                "until": until,
            },
        )

    def get(self, operation: Operation | str) -> Operation:
        """Return one operation with its plan and saved receipt.

        Access: Any valid credential of the workspace.

        Args:
            operation: the operation, or its id.

        Returns:
            A prepared change with its receipt. ``executed_by`` is the last caller who executed it.

        Raises:
            InvalidInput: with all issues of the input.
            NotFound: the workspace does not contain it.
        """
        return self._client._request(Operation, "get_operation", {"operationId": operation})

    def execute(self, operation: Operation | str, *, confirmed: Literal[True], allow_stale: bool = False) -> Operation:
        """Write the prepared change.

        Executing a succeeded operation again returns its saved receipt.

        Where the response has ``next_action: execute``, call again after ``retry_after_ms``. A 400 says whether
        anything was written; ``outcome: unknown`` is never permission to repeat the change. Where the workspace or a
        guardrail requires approval, only a person who is signed in can execute the operation, at ``review_url``; other
        calls get 403 ``approval_required``. Guardrails are checked again: 403 ``guardrail_exceeded`` says what would
        fit. Where a value that the plan depends on has changed at the network, 400 ``plan_stale`` lists it.
        ``allow_stale`` compares nothing.

        Access: A write-enabled credential of a member or admin.

        Args:
            operation: the operation, or its id.
            confirmed: must be True: the plan was reviewed.
            allow_stale: True writes the plan whatever has changed at the network since it was made.

        Returns:
            A prepared change with its receipt. ``executed_by`` is the last caller who executed it.

        Raises:
            InvalidInput: with all issues of the input.
            Forbidden: the credential may not do this.
            NotFound: the workspace does not contain it.
            OperationError: the operation stops, or its state forbids this; ``outcome`` says what was written.
        """
        return self._client._request(
            Operation,
            "post_operation_execute",
            {"operationId": operation, "confirmed": confirmed, "allowStale": allow_stale},
        )

    def execute_many(
        self, operations: Sequence[Operation | str], *, confirmed: Literal[True], allow_stale: bool = False
    ) -> Batch:
        """Write several prepared changes at once.

        Each has its own result; a failure does not stop the others.

        ``allow_stale`` applies to all of them.

        Access: A write-enabled credential of a member or admin.

        Args:
            operations: 1 to 50 operations, or their ids.
            confirmed: must be True: the plan was reviewed.
            allow_stale: True writes the plan whatever has changed at the network since it was made.

        Returns:
            The results of the operations, in the order of the request.

        Raises:
            InvalidInput: with all issues of the input.
            Forbidden: the credential may not do this.
        """
        return self._client._request(
            Batch,
            "post_operations_execute",
            {"operationIds": operations, "confirmed": confirmed, "allowStale": allow_stale},
        )

    def inspect(self, operation: Operation | str) -> Inspection:
        """Read back what an operation wrote, and decide the steps whose outcome is not known.

        Nothing is written at the network, and no status changes. Each step in doubt gets a verdict with its evidence:
        ``applied``, ``not_applied`` or ``undecided``. The verdict that a create was not applied needs two inspections,
        the second about 15 minutes after the attempt. ``advice`` says what to do now. An entity that somebody else
        created exactly as planned, at the same time and with nothing below it, cannot be distinguished.

        Access: Any valid credential of the workspace.

        Args:
            operation: the operation, or its id.

        Returns:
            What the network shows of an operation. ``advice`` is one sentence that says what to do now.

        Raises:
            InvalidInput: with all issues of the input.
            NotFound: the workspace does not contain it.
            OperationError: the operation stops, or its state forbids this; ``outcome`` says what was written.
        """
        return self._client._request(Inspection, "post_operation_inspect", {"operationId": operation})

    def cancel(self, operation: Operation | str) -> Operation:
        """Cancel your prepared operation.

        Receipts of applied steps stay.

        Access: A write-enabled credential of a member or admin.

        Args:
            operation: the operation, or its id.

        Returns:
            A prepared change with its receipt. ``executed_by`` is the last caller who executed it.

        Raises:
            InvalidInput: with all issues of the input.
            Forbidden: the credential may not do this.
            NotFound: the workspace does not contain it.
            OperationError: the operation stops, or its state forbids this; ``outcome`` says what was written.
        """
        return self._client._request(Operation, "post_operation_cancel", {"operationId": operation})

    def undo(self, operation: Operation | str, *, idempotency_key: str | None = None) -> Operation:
        """Prepare an operation that reverts the applied steps of an operation.

        Nothing is written until it is executed.

        Edits and statuses go back to the values before. Created entities are deleted or archived, if they are still
        paused and have no children of others. Activated entities are paused, the campaign first. Where the network
        holds other values than the operation wrote, the answer is 409 ``moved``; if the operation cannot be undone, it
        is 422 ``not_reversible``.

        Access: A write-enabled credential of a member or admin.

        Args:
            operation: the operation, or its id.
            idempotency_key: 1 to 200 characters. The same key and request return the same operations, also expired
                ones.

        Returns:
            A prepared change with its receipt. ``executed_by`` is the last caller who executed it.

        Raises:
            InvalidInput: with all issues of the input.
            Forbidden: the credential may not do this.
            NotFound: the workspace does not contain it.
            Conflict: a value has changed since (ValuesMoved), the operation is undone already, a step is in doubt, or
                the idempotency key is bound to another request.
            ProviderError: the network refuses, or gives no usable answer.
            OperationError: the operation stops, or its state forbids this; ``outcome`` says what was written.
        """
        return self._client._request(Operation, "post_operation_undo", {"operationId": operation}, idempotency_key)

    def resume(self, operation: Operation | str, *, idempotency_key: str | None = None) -> Operation:
        """Prepare the remaining steps of an operation that stalled, expired or stopped, or whose outcome is unknown.

        The operation is inspected first. The new operation has the same steps, but applied steps are not sent again. It
        is reviewed and executed like every other. Where it is not known whether a step was done, 409
        ``outcome_undecided`` names it. An operation that is resumed already is 409 ``already_resumed``; where nothing
        is left, 422 ``nothing_to_resume``.

        Access: A write-enabled credential of a member or admin.

        Args:
            operation: the operation, or its id.
            idempotency_key: 1 to 200 characters. The same key and request return the same operations, also expired
                ones.

        Returns:
            A prepared change with its receipt. ``executed_by`` is the last caller who executed it.

        Raises:
            InvalidInput: with all issues of the input.
            Forbidden: the credential may not do this.
            NotFound: the workspace does not contain it.
            Conflict: a step is in doubt, another operation carries on with this one, or the idempotency key is bound to
                another request.
            OperationError: the operation stops, or its state forbids this; ``outcome`` says what was written.
        """
        return self._client._request(Operation, "post_operation_resume", {"operationId": operation}, idempotency_key)

    def settle(
        self,
        operation: Operation | str,
        *,
        step: str,
        verdict: Literal["applied", "not_applied"],
        entity: Node | str | None = None,
    ) -> Settlement:
        """Decide a step whose outcome is not known, after looking at the account.

        Only a person can.

        ``entity_id`` is the id of the created entity; it must be readable as an entity of the account. Nothing is sent
        to the network but reads. The decision is recorded with your name; resuming the operation uses it.

        Access: A write-enabled credential of a member or admin. Only a signed-in person.

        Args:
            operation: the operation, or its id.
            step: the key of the step.
            verdict: whether the step was done.
            entity: what the step created, or its id as the network gives it.

        Returns:
            What a person decided about a step in doubt. ``settled_by`` says who decided and when.

        Raises:
            InvalidInput: with all issues of the input.
            Forbidden: the credential may not do this.
            NotFound: the workspace does not contain it.
            Conflict: another operation carries on with this one.
            ProviderError: the network refuses, or gives no usable answer.
            OperationError: the operation stops, or its state forbids this; ``outcome`` says what was written.
        """
        return self._client._request(
            Settlement,
            "post_operation_settle",
            {"operationId": operation, "step": step, "verdict": verdict, "entityId": entity},
        )

    def validate(
        self,
        account: Account | str,
        *,
        action: Literal["create", "update", "delete", "status", "edit"],
        kind: Kind,
        entity: Node | str | None = None,
        parent: Node | str | None = None,
        payload: Mapping[str, Json] | None = None,
        status: Status | None = None,
        edit: EditBody | None = None,
    ) -> ValidChange:
        """Check a native change against the network's rules and return its plan.

        Nothing is stored or written.

        Access: Any valid credential of the workspace.

        Args:
            account: the ad account, or its id.
            action: what the change does.
            kind: the level of the entities.
            entity: the entity, or its id as the network gives it.
            parent: the entity above, or its id.
            payload: members with the network's own names and units, of a create or an update.
            status: ``active`` or ``paused``, where ``action`` is ``status``.
            edit: the edit, where ``action`` is ``edit``.

        Returns:
            A valid native change and its plan.

        Raises:
            InvalidInput: with all issues of the input.
            NotFound: the workspace does not contain it.
            ProviderError: the network refuses, or gives no usable answer.
        """
        return self._client._request(
            ValidChange,
            "post_account_validate",
            {
                "accountId": account,
                "action": action,
                "kind": kind,
                "entityId": entity,
                "parentId": parent,
                "payload": payload,
                "status": status,
                "edit": edit,
            },
        )

    def run(
        self,
        operation: Operation | str,
        *,
        confirmed: Literal[True],
        allow_stale: bool = False,
        progress: Callable[[Operation], None] | None = None,
    ) -> Operation:
        """Write the prepared change, and execute it again while ``next_action`` is ``execute``.

        It waits where the network asks to wait, and calls :meth:`execute` again while ``next_action`` is ``execute``.
        Nothing is written twice.

        Args:
            operation: the operation, or its id.
            confirmed: must be True: the plan was reviewed.
            allow_stale: True writes the plan whatever has changed at the network since it was made.
            progress: called with the operation before each wait.

        Returns:
            The operation with its receipt. Its status is ``succeeded``, or ``running`` where another process executes
            it.

        Raises:
            InvalidInput: with all issues of the input.
            OperationError: the operation stops, or its state forbids this; ``outcome`` says what was written.
                After ``unknown``, :meth:`inspect` and :meth:`resume` find out what was written and write the rest.
            Forbidden: the credential may not do this, or a person must approve (``approval_required``).
        """
        check_progress(progress)
        while True:
            current = self.execute(operation, confirmed=confirmed, allow_stale=allow_stale)
            if not current.can_continue:
                return current
            if progress is not None:
                progress(current)
            self._client._wait(get_pause(current))

    def run_many(
        self,
        operations: Sequence[Operation | str],
        *,
        confirmed: Literal[True],
        allow_stale: bool = False,
        progress: Callable[[Operation], None] | None = None,
    ) -> Batch:
        """Write several prepared changes, and continue each until it is finished or stopped, as :meth:`run` does.

        A failed operation does not stop the others, and it is not executed again. If a call to the server fails, all
        operations of that call have its error as their result. Nothing is written twice.

        Args:
            operations: any number of operations, or their ids.
            confirmed: must be True: the plan was reviewed.
            allow_stale: True writes the plan whatever has changed at the network since it was made.
            progress: called with each operation that is to be continued, before each wait.

        Returns:
            The last result of each operation, in the order of ``operations``: a BatchDone as :meth:`run` returns it, or
            a BatchFailed with an ``error``, whose ``outcome`` says what was written.

        Raises:
            InvalidInput: with all issues of the input.
            AdsunifyError: the first call failed, so that there is no result.
        """
        batch = BatchRun(operations, progress)
        pause: float | None = 0.0
        while pause is not None:
            for ids in batch.list_calls():
                try:
                    batch.add_results(self.execute_many(ids, confirmed=confirmed, allow_stale=allow_stale))
                except AdsunifyError as error:
                    batch.add_error(ids, error)
            pause = batch.report_progress()
            if pause is not None:
                self._client._wait(pause)
        return batch.make_batch()
