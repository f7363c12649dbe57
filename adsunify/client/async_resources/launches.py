"""The namespace ``launches``. Written by ``nox -s client`` from the contract table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from adsunify.answers import ChangeSet, Launch
from adsunify.client.pages import AsyncPages
from adsunify.client.resource import WORKING_STATUSES, AsyncResource, PollBackoff, check_progress
from adsunify.models.brief import CampaignBrief
from adsunify.models.launch import LaunchAccount
from adsunify.values.exact_json import Json


class AsyncLaunchesResource(AsyncResource):
    """One brief on many accounts and networks, reviewed and executed together."""

    def list(self, *, limit: int = 50) -> AsyncPages[Launch]:
        """List launches in your scope, newest first, without their cells.

        A page may be short.

        Access: Any valid credential of the workspace.

        Args:
            limit: how many rows the server returns at once, 1 to 100.

        Returns:
            An iterator over all rows, of the class Launch. One brief for many accounts. Its status is the status of its
            latest change set, the last of ``change_sets``.

        Raises:
            InvalidInput: with all issues of the input.
        """
        return AsyncPages(self._client, Launch, "get_launches", {"limit": limit})

    async def create(
        self,
        *,
        name: str,
        campaign: CampaignBrief | Mapping[str, Json],
        accounts: Sequence[LaunchAccount],
        networks: Mapping[str, Mapping[str, Json]] | None = None,
        name_template: str | None = None,
        url_parameters: Mapping[str, str] | None = None,
        skip_invalid: bool = False,
        idempotency_key: str | None = None,
    ) -> Launch:
        """Prepare one brief for many accounts and networks.

        Nothing is written until the launch is executed.

        The cells are planned in the background: read the launch until its status is no longer ``preparing``. If a cell
        is invalid, nothing is prepared, unless ``skip_invalid`` is true.

        Access: A write-enabled credential of a member or admin.

        Args:
            name: what people call the launch.
            campaign: the shared brief, or a part of one. Amounts are in major units.
            accounts: 1 to 600 accounts, each with a key, a weight and a part of the brief of its own.
            networks: parts of the brief by network; they are laid over the shared brief.
            name_template: the name of each campaign, of ``{launch}``, ``{network}``, ``{account}`` and ``{country}``.
            url_parameters: query parameters of ``creative.url``, such as ``utm_source`` with ``{network}``.
            skip_invalid: True prepares the other cells if some are invalid.
            idempotency_key: 1 to 200 characters. The same key and request return the same operations, also expired
                ones.

        Returns:
            One brief for many accounts. Its status is the status of its latest change set, the last of ``change_sets``.

        Raises:
            InvalidInput: with all issues of the input.
            Forbidden: the credential may not do this.
            Conflict: the idempotency key is bound to another request.
        """
        return await self._client._request(
            Launch,
            "post_launches",
            {
                "name": name,
                "campaign": campaign,
                "accounts": accounts,
                "networks": networks,
                "nameTemplate": name_template,
                "urlParameters": url_parameters,
                "skipInvalid": skip_invalid,
            },
            idempotency_key,
        )

    async def get(self, launch: Launch | str) -> Launch:
        """Return a launch with its cells and its change sets.

        Each cell is in exactly one state.

        Access: Any valid credential of the workspace.

        Args:
            launch: the launch, or its id.

        Returns:
            One brief for many accounts. Its status is the status of its latest change set, the last of ``change_sets``.

        Raises:
            InvalidInput: with all issues of the input.
            NotFound: the workspace does not contain it.
        """
        return await self._client._request(Launch, "get_launch", {"launchId": launch})

    async def activate(self, launch: Launch | str, *, idempotency_key: str | None = None) -> ChangeSet:
        """Prepare the activation of the cells that succeeded.

        The other cells are ``excluded``.

        Access: A write-enabled credential of a member or admin.

        Args:
            launch: the launch, or its id.
            idempotency_key: 1 to 200 characters. The same key and request return the same operations, also expired
                ones.

        Returns:
            Operations that are reviewed and executed together.

        Raises:
            InvalidInput: with all issues of the input.
            Forbidden: the credential may not do this.
            NotFound: the workspace does not contain it.
            Conflict: the idempotency key is bound to another request.
        """
        return await self._client._request(ChangeSet, "post_launch_activate", {"launchId": launch}, idempotency_key)

    async def pause(self, launch: Launch | str, *, idempotency_key: str | None = None) -> ChangeSet:
        """Prepare the pause of everything that the cells created, the campaigns first.

        Access: A write-enabled credential of a member or admin.

        Args:
            launch: the launch, or its id.
            idempotency_key: 1 to 200 characters. The same key and request return the same operations, also expired
                ones.

        Returns:
            Operations that are reviewed and executed together.

        Raises:
            InvalidInput: with all issues of the input.
            Forbidden: the credential may not do this.
            NotFound: the workspace does not contain it.
            Conflict: the idempotency key is bound to another request.
        """
        return await self._client._request(ChangeSet, "post_launch_pause", {"launchId": launch}, idempotency_key)

    async def undo(self, launch: Launch | str, *, idempotency_key: str | None = None) -> ChangeSet:
        """Prepare the undo of everything that the cells created, if it is still paused.

        Access: A write-enabled credential of a member or admin.

        Args:
            launch: the launch, or its id.
            idempotency_key: 1 to 200 characters. The same key and request return the same operations, also expired
                ones.

        Returns:
            Operations that are reviewed and executed together.

        Raises:
            InvalidInput: with all issues of the input.
            Forbidden: the credential may not do this.
            NotFound: the workspace does not contain it.
            Conflict: the idempotency key is bound to another request.
            OperationError: the operation stops, or its state forbids this; ``outcome`` says what was written.
        """
        return await self._client._request(ChangeSet, "post_launch_undo", {"launchId": launch}, idempotency_key)

    async def prepare(
        self, launch: Launch | str, *, skip_invalid: bool = False, idempotency_key: str | None = None
    ) -> ChangeSet:
        """Prepare the cells of a launch again that are expired, or that surely wrote nothing.

        Partly applied cells are resumed. Cells whose outcome is not known are inspected first, and left out if it stays
        unknown. The new change set has a digest of its own.

        Access: A write-enabled credential of a member or admin.

        Args:
            launch: the launch, or its id.
            skip_invalid: True prepares the other cells if some are invalid.
            idempotency_key: 1 to 200 characters. The same key and request return the same operations, also expired
                ones.

        Returns:
            Operations that are reviewed and executed together.

        Raises:
            InvalidInput: with all issues of the input.
            Forbidden: the credential may not do this.
            NotFound: the workspace does not contain it.
            Conflict: the idempotency key is bound to another request.
        """
        return await self._client._request(
            ChangeSet, "post_launch_prepare", {"launchId": launch, "skipInvalid": skip_invalid}, idempotency_key
        )

    async def execute(self, launch: Launch | str, *, confirmed: Literal[True], digest: str) -> ChangeSet:
        """Execute the latest change set of a launch, as ``POST /change-sets/{change_set_id}/execute``.

        Access: A write-enabled credential of a member or admin.

        Args:
            launch: the launch, or its id.
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
        return await self._client._request(
            ChangeSet, "post_launch_execute", {"launchId": launch, "confirmed": confirmed, "digest": digest}
        )

    async def cancel(self, launch: Launch | str) -> ChangeSet:
        """Cancel the open change set of a launch, as ``POST /change-sets/{change_set_id}/cancel``.

        Access: A write-enabled credential of a member or admin.

        Args:
            launch: the launch, or its id.

        Returns:
            Operations that are reviewed and executed together.

        Raises:
            InvalidInput: with all issues of the input.
            Forbidden: the credential may not do this.
            NotFound: the workspace does not contain it.
            OperationError: the operation stops, or its state forbids this; ``outcome`` says what was written.
        """
        return await self._client._request(ChangeSet, "post_launch_cancel", {"launchId": launch})

    async def wait(self, launch: Launch | str, *, progress: Callable[[Launch], None] | None = None) -> Launch:
        """Wait until it is prepared, or until its execution has ended.

        Both happen in the background, in the server or in this process. Nothing is written again.

        Args:
            launch: the launch, or its id.
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
            current = await self.get(launch)
            if current.status not in WORKING_STATUSES:
                return current
            if progress is not None:
                progress(current)
            await backoff.wait_async()
