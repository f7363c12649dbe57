"""The namespace ``change_sets``. Written by ``nox -s client`` from the contract table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from adsunify.answers import ChangeSet
from adsunify.client.resource import WORKING_STATUSES, PollBackoff, Resource, check_progress


class ChangeSetsResource(Resource):
    """Operations that are reviewed and executed together."""

    def get(self, change_set: ChangeSet | str) -> ChangeSet:
        """Return a change set with the state of each of its operations.

        Access: Any valid credential of the workspace.

        Args:
            change_set: the change set, or its id.

        Returns:
            Operations that are reviewed and executed together.

        Raises:
            InvalidInput: with all issues of the input.
            NotFound: the workspace does not contain it.
        """
        return self._client._request(ChangeSet, "get_change_set", {"changeSetId": change_set})

    def execute(self, change_set: ChangeSet | str, *, confirmed: Literal[True], digest: str) -> ChangeSet:
        """Execute all operations of a change set in the background.

        ``digest`` is the digest of the reviewed change set. Call again, or read the change set, to follow the
        execution. Each write checks the credential of this call again. Where the workspace requires approval, only a
        signed-in person can execute it. Another digest is 409 ``digest_changed``, and nothing is written.

        Access: A write-enabled credential of a member or admin.

        Args:
            change_set: the change set, or its id.
            confirmed: must be True: the plan was reviewed.
            digest: the digest of the change set as it was reviewed.

        Returns:
            Operations that are reviewed and executed together.

        Raises:
            InvalidInput: with all issues of the input.
            Forbidden: the credential may not do this.
            NotFound: the workspace does not contain it.
            OperationError: the operation stops, or its state forbids this; ``outcome`` says what was written.
        """
        return self._client._request(
            ChangeSet, "post_change_set_execute", {"changeSetId": change_set, "confirmed": confirmed, "digest": digest}
        )

    def cancel(self, change_set: ChangeSet | str) -> ChangeSet:
        """Cancel an open change set and its prepared operations.

        Applied changes stay; a write in flight is finished.

        Access: A write-enabled credential of a member or admin.

        Args:
            change_set: the change set, or its id.

        Returns:
            Operations that are reviewed and executed together.

        Raises:
            InvalidInput: with all issues of the input.
            Forbidden: the credential may not do this.
            NotFound: the workspace does not contain it.
            OperationError: the operation stops, or its state forbids this; ``outcome`` says what was written.
        """
        return self._client._request(ChangeSet, "post_change_set_cancel", {"changeSetId": change_set})

    def wait(self, change_set: ChangeSet | str, *, progress: Callable[[ChangeSet], None] | None = None) -> ChangeSet:
        """Wait until it is prepared, or until its execution has ended.

        Both happen in the background, in the server or in this process. Nothing is written again.

        Args:
            change_set: the change set, or its id.
            progress: called with its present state before each wait.

        Returns:
            Its last state. The status is neither ``preparing`` nor ``running``.

        Raises:
            InvalidInput: with all issues of the input.
            NotFound: the workspace does not contain it.
        """
        check_progress(progress)
        backoff = PollBackoff()
        while True:
            current = self.get(change_set)
            if current.status not in WORKING_STATUSES:
                return current
            if progress is not None:
                progress(current)
            backoff.wait()
