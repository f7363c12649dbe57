"""The namespace ``files``. Written by ``nox -s client`` from the contract table."""

from __future__ import annotations

from collections.abc import Mapping

from adsunify.answers import ChangeSet, Diff
from adsunify.client.resource import AsyncResource
from adsunify.values.exact_json import Json


class AsyncFilesResource(AsyncResource):
    """What is wanted, as a file, and how it differs from the networks."""

    async def diff(self, *, document: Mapping[str, Json], delete: bool = False) -> Diff:
        """Compare a document with the launched briefs and with the present values at the networks.

        Nothing is written.

        The answer lists what is to be created, changed (field: before, after) and paused. It also lists drift: fields
        that adsunify wrote and somebody changed outside adsunify (field: planned, found). ``is_empty`` says that
        nothing differs.

        Access: Any valid credential of the workspace.

        Args:
            document: what is wanted, as docs/campaigns_in_git.md describes it.
            delete: True deletes what the document does not name any more, instead of pausing it.

        Returns:
            How a file differs from what was launched and from what the networks hold.

        Raises:
            InvalidInput: with all issues of the input.
        """
        return await self._client._request(Diff, "post_diff", {"document": document, "delete": delete})

    async def apply(
        self,
        *,
        document: Mapping[str, Json],
        delete: bool = False,
        skip_invalid: bool = False,
        idempotency_key: str | None = None,
    ) -> ChangeSet:
        """Prepare one change set that makes the networks agree with a document.

        Nothing is written until it is executed.

        It creates the cells that are missing (paused), edits what differs, and pauses the entities that the document
        does not name any more; with ``delete`` it deletes them. A workspace has one open change set of a file at a time
        (409 ``run_open``). If nothing can be applied, the answer is 422 ``nothing_to_do``.

        Access: A write-enabled credential of a member or admin.

        Args:
            document: what is wanted, as docs/campaigns_in_git.md describes it.
            delete: True deletes what the document does not name any more, instead of pausing it.
            skip_invalid: True leaves out the changes that are refused.
            idempotency_key: 1 to 200 characters. The same key and request return the same operations, also expired
                ones.

        Returns:
            Operations that are reviewed and executed together.

        Raises:
            InvalidInput: with all issues of the input.
            Forbidden: the credential may not do this.
            Conflict: the idempotency key is bound to another request.
        """
        return await self._client._request(
            ChangeSet,
            "post_apply",
            {"document": document, "delete": delete, "skipInvalid": skip_invalid},
            idempotency_key,
        )
